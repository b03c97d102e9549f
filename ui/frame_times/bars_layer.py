"""The frames themselves: bars, values of what goes on beyond the plot, budget lines."""

from collections.abc import Hashable
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QTransform

from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.formats.arrangement.fills import AnyFill
from inspector.formats.arrangement.frame_bars import (
    BarScale,
    Spikes,
    frame_bars,
    rate_text,
    stacked_bars,
)
from inspector.formats.arrangement.frame_series import FrameSeries, Window
from inspector.formats.drawing.pixel_rects import PixelRects
from inspector.timebase import format_duration
from inspector.vocabulary import Measure, Share

from ..kit.theme import ColorRole, Theme
from ..plotting.bulk_paint import fill_rects
from ..plotting.column_picture import ColumnPicture
from ..plotting.sheet_painter import color_of

_LABELLED_SPIKES: Final = 8
_LABEL_TOP: Final = 2
_LABEL_GAP: Final = 8
#: Down to here there are values of bars that go on beyond the plot.
LABEL_BAND: Final = 24
_DASH: Final = 6
#: Wider bars over twice the budget are tinted, so that a stall does not flood the window.
_WIDE: Final = 40
#: Room around the name of a budget, above its line at the right.
_NAME_PAD: Final = 5


class _SpikeLabel(Struct, frozen=True):
    box: QRectF
    text: str


class BarsLayer:
    """Bars of all frames in view, kept in a picture of whole pixels.

    Coordinates are those of the plot.

    Attributes:
        series: The frames; ``None`` draws the empty plot.
        measure: Which of their times is shown.
        is_stacked: Show the phases instead of the pace.
        budgets_ns: Budget lines; bars are coloured by the first.
        picture: What was drawn so far.
        area: Where the frames are in the plot.
        span: The positions on the axis at its edges.
        top_ns: The duration at its upper edge.
        ratio: Pixels of the screen for each of the plot.
        font: The font of names and values.
    """

    def __init__(self, theme: Theme) -> None:
        self.series: FrameSeries | None = None
        self.measure: Measure = "interval"
        self.is_stacked = False
        self.budgets_ns: tuple[int, ...] = ()
        self.picture = ColumnPicture(self._draw_columns)
        self.area = QRectF()
        self.span = (0.0, 1.0)
        self.top_ns = 1
        self.ratio = 1.0
        self.font = QFont()
        self._theme = theme
        self._spikes_shown: Spikes | None = None
        self._spike_labels: list[_SpikeLabel] = []
        self._dash = 0
        self._dash_rects: PixelRects = np.zeros((0, 4), dtype=np.int32)
        self._colors: dict[AnyFill, QColor] = {}

    def bring_up_to_date(self) -> tuple[QRectF, bool]:
        """Draw what is new; returns which part of the plot changed, and whether values did."""
        window = self._window()
        if self.series is None or window is None:
            return self.area, True
        look: Hashable = (
            *(id(self.series), self.series.x_axis, self.is_stacked),
            *(self.top_ns, self.budgets_ns[:1]),
        )
        start, stop = self.picture.bring_up_to_date(self.series, self.measure, window, look)
        if stop <= start:
            return QRectF(), False
        left, right = start / self.ratio - 1, stop / self.ratio + 1
        part = QRectF(self.area.left() + left, self.area.top(), right - left, self.area.height())
        return part.intersected(self.area), self.picture.spikes is not self._spikes_shown

    def forget_colors(self) -> None:
        self._colors.clear()
        self.picture.forget()

    def frames_at(self, x: float) -> tuple[int, int] | None:
        """Return the range of frames that share the column at a pixel, ``None`` without one."""
        window = self._window()
        if self.series is None or window is None:
            return None
        pixel = int((x - self.area.left()) * self.ratio)
        return self.series.frames_at_pixel(pixel, window)

    def long_frames(self, *, is_twice: bool) -> NDArray[np.int64]:
        """Return the frames over the first budget, or over twice; not by the inspector alone."""
        series, budget = self.series, FrameBudget(self.budgets_ns[0])
        if series is None:
            return np.zeros(0, dtype=np.int64)
        times_ns = series.times_ns(self.measure, series.first, series.end)
        limit_ns = budget.longest_missing_one_ns if is_twice else budget.longest_ns
        found = np.flatnonzero(times_ns > limit_ns) + series.first
        if self.measure != "interval":
            return found
        shares_ns = series.values_of(Share.INSPECTOR, found)
        return found[~budget.is_over_because_of(times_ns[found - series.first], shares_ns)]

    def pixels_per_view(self) -> int:
        return max(1, round(self.area.width() * self.ratio))

    def paint(self, painter: QPainter, exposed: QRectF) -> None:
        """Paint a part of the area."""
        self.bring_up_to_date()
        ratio, pixmap = self.ratio, self.picture.pixmap
        painter.save()
        painter.setClipRect(exposed)
        origin = painter.worldTransform().map(self.area.topLeft())
        painter.setWorldTransform(
            QTransform(
                *(1 / ratio, 0, 0, 1 / ratio),
                *(round(origin.x() * ratio) / ratio, round(origin.y() * ratio) / ratio),
            )
        )
        if pixmap is not None and self.series is not None:
            left = int((exposed.left() - self.area.left()) * ratio)
            width = int((exposed.right() - self.area.left()) * ratio) + 1 - left
            painter.drawPixmap(left, 0, pixmap, left, 0, width, pixmap.height())
        else:
            painter.fillRect(
                *(0, 0, self.pixels_per_view(), round(self.area.height() * ratio)),
                self._theme.color(ColorRole.BG),
            )
        self._draw_budgets(painter)
        painter.restore()
        painter.setFont(self.font)
        self._lay_out_spikes(painter)
        self._draw_spike_labels(painter, exposed)
        self._name_budgets(painter, exposed)

    # -------------------------------------------------------------- the picture

    def _window(self) -> Window | None:
        width, height = self.pixels_per_view(), round(self.area.height() * self.ratio)
        low, high = self.span
        if height < 1 or self.top_ns <= 0 or high <= low:
            return None
        return Window(low, high, width, height)

    def _draw_columns(
        self, painter: QPainter, series: FrameSeries, window: Window, start: int, stop: int
    ) -> Spikes:
        background = self._theme.color(ColorRole.BG)
        painter.fillRect(start, 0, stop - start, window.height, background)
        columns = series.columns(window, start, stop)
        if not len(columns):
            return Spikes(columns.lefts, columns.lefts)
        budget_ns = self.budgets_ns[0] if self.budgets_ns else self.top_ns
        scale = BarScale(window.height, self.top_ns, budget_ns, round(_WIDE * self.ratio))
        make = stacked_bars if self.is_stacked else frame_bars
        bars = make(series, self.measure, columns, scale)
        for fill, rects in bars.layers:
            fill_rects(painter, rects, self._color(fill))
        return bars.spikes

    # -------------------------------------------------------------- over the picture

    def _draw_budgets(self, painter: QPainter) -> None:
        """Draw a line for each budget: solid for the one that colours the bars."""
        width, height = self.pixels_per_view(), self.area.height() * self.ratio
        behind = QColor(self._theme.color(ColorRole.BG))
        behind.setAlphaF(0.55)
        thickness = max(1, round(self.ratio))
        for number, budget_ns in enumerate(self.budgets_ns):
            y = round(height * (1 - budget_ns / self.top_ns)) - 1
            if y < 0:
                continue
            if number == 0:
                painter.fillRect(0, y, width, thickness, self._theme.color(ColorRole.TEXT))
                continue
            # Between the dashes something light, to be seen over the bars too.
            painter.fillRect(0, y, width, thickness, behind)
            dashes = self._dashes(width, thickness)
            dashes[:, 1], dashes[:, 3] = y, y + thickness - 1
            fill_rects(painter, dashes, self._theme.color(ColorRole.MUTED))

    def _dashes(self, width: int, thickness: int) -> PixelRects:
        dash = _DASH * thickness
        if len(self._dash_rects) != -(-width // (2 * dash)) or self._dash != dash:
            self._dash = dash
            lefts = np.arange(0, width, 2 * dash, dtype=np.int32)
            self._dash_rects = np.empty((len(lefts), 4), dtype=np.int32)
            self._dash_rects[:, 0], self._dash_rects[:, 2] = lefts, lefts + dash - 1
        return self._dash_rects

    def _lay_out_spikes(self, painter: QPainter) -> None:
        """Choose where values are written: beside the largest spikes, as many as have room."""
        spikes = self.picture.spikes
        if spikes is self._spikes_shown:
            return
        self._spikes_shown = spikes
        self._spike_labels = []
        metrics = painter.fontMetrics()
        order = (-spikes.times_ns).argsort(kind="stable")[: 4 * _LABELLED_SPIKES]
        taken: list[tuple[float, float]] = []
        for place in order.tolist():
            text = format_duration(int(spikes.times_ns[place]))
            width = metrics.horizontalAdvance(text) + 4
            middle = self.area.left() + float(spikes.places[place]) / self.ratio
            is_right = middle + 5 + width < self.area.right()
            left = middle + 5 if is_right else middle - 5 - width
            if any(left - _LABEL_GAP < high and left + width > low for low, high in taken):
                continue
            taken.append((left - _LABEL_GAP, left + width + _LABEL_GAP))
            box = QRectF(left, self.area.top() + _LABEL_TOP, width, metrics.height())
            self._spike_labels.append(_SpikeLabel(box, text))
            if len(taken) == _LABELLED_SPIKES:
                break

    def _draw_spike_labels(self, painter: QPainter, exposed: QRectF) -> None:
        if self.series is None or not self._spike_labels:
            return
        # Opaque, or the line of a budget would strike the text through.
        behind = self._theme.color(ColorRole.BG)
        painter.setPen(self._theme.color(ColorRole.TEXT))
        for label in self._spike_labels:
            if label.box.intersects(exposed):
                painter.fillRect(label.box, behind)
                painter.drawText(label.box, int(Qt.AlignmentFlag.AlignCenter), label.text)

    def _name_budgets(self, painter: QPainter, exposed: QRectF) -> None:
        """Write the rate of each budget above its line, the most important where two are close."""
        metrics = painter.fontMetrics()
        line, right = metrics.height(), self.area.right() - _NAME_PAD
        taken: list[float] = []
        patch = QColor(self._theme.color(ColorRole.BG))
        patch.setAlphaF(0.75)
        for number, budget_ns in enumerate(self.budgets_ns):
            y = self.area.top() + self.area.height() * (1 - budget_ns / self.top_ns)
            name = f"{rate_text(budget_ns)} fps"
            if y < self.area.top():
                if number:
                    continue
                name, y = f"↑ {name}", self.area.top() + line
            elif y < self.area.top() + line:
                y += line
            if any(abs(y - other) < line for other in taken):
                continue
            taken.append(y)
            width = metrics.horizontalAdvance(name)
            box = QRectF(right - width, y - line - 1, width, line)
            if not box.intersects(exposed):
                continue
            painter.fillRect(box.adjusted(-3, 0, 3, 0), patch)
            painter.setPen(self._theme.color(ColorRole.MUTED if number else ColorRole.TEXT))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), name)

    # -------------------------------------------------------------- inside

    def _color(self, fill: AnyFill) -> QColor:
        color = self._colors.get(fill)
        if color is None:
            color = self._colors[fill] = color_of(fill, self._theme)
        return color
