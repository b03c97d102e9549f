"""The picture of the frames themselves: grid, bars, spikes above the plot, budget lines."""

from collections.abc import Hashable
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QTransform
from PySide6.QtWidgets import QGraphicsItem, QGraphicsObject, QStyleOptionGraphicsItem, QWidget
from typing_extensions import override

from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.formats.drawing.pixel_rects import PixelRects
from inspector.timebase import NS_PER_MS, format_duration
from inspector.vocabulary import Measure, Share

from ..kit.guards import guarded
from ..kit.theme import ColorRole, Theme
from ..plotting.bulk_paint import UP_TRIANGLE, fill_rects, glyph_rects, thinned
from ..plotting.column_picture import ColumnPicture, Spikes
from ..plotting.fills import AnyFill, color_of
from ..plotting.frame_bars import BarScale, frame_bars, stacked_bars
from ..plotting.frame_series import FrameSeries, Window
from .frame_axis import DurationAxis, FrameArea

_LABELLED_SPIKES: Final = 8
_LABEL_TOP: Final = 7
_LABEL_GAP: Final = 8
_LABEL_BAND: Final = 28
_SPIKE_SPACING: Final = 8
_DASH: Final = 6
#: Wider bars over twice the budget are tinted, so that a stall does not flood the window.
_WIDE: Final = 40


class _SpikeLabel(Struct, frozen=True):
    box: QRectF
    text: str


@guarded
class FrameBarsItem(QGraphicsObject):
    """Bars of all frames in view, kept in a picture of whole pixels.

    It is a child of the area that it fills, so its coordinates are pixels; what is in
    view is asked of the area.

    Attributes:
        series: The frames; ``None`` draws the empty plot.
        measure: Which of their times is shown.
        is_stacked: Show the phases instead of the pace.
        budgets_ns: Budget lines; bars are coloured by the first.
        picture: What was drawn so far.
    """

    def __init__(self, area: FrameArea, axis: DurationAxis, theme: Theme) -> None:
        super().__init__(area)
        self.series: FrameSeries | None = None
        self.measure: Measure = "interval"
        self.is_stacked = False
        self.budgets_ns: tuple[int, ...] = ()
        self.picture = ColumnPicture(self._draw_columns)
        self._area = area
        self._axis = axis
        self._theme = theme
        self._spikes_shown: Spikes | None = None
        self._spike_rects: PixelRects = np.zeros((0, 4), dtype=np.int32)
        self._spike_labels: list[_SpikeLabel] = []
        self._dash = 0
        self._dash_rects: PixelRects = np.zeros((0, 4), dtype=np.int32)
        self._colors: dict[AnyFill, QColor] = {}
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        area.geometryChanged.connect(self._follow_size)

    def refresh(self) -> None:
        """Draw what is new, and have only that painted."""
        changed = self._bring_up_to_date()
        if changed is None:
            self.update()
        elif changed[1] > changed[0]:
            ratio = self._area.pixel_ratio()
            left, right = changed[0] / ratio - 1, changed[1] / ratio + 1
            self._area.expose(QRectF(left, 0, right - left, self._area.size().height()))
            if self.picture.spikes is not self._spikes_shown:
                self._area.expose(QRectF(0, 0, self._area.size().width(), _LABEL_BAND))

    def forget_colors(self) -> None:
        self._colors.clear()
        self.picture.forget()
        self.update()

    def frames_at(self, x: float) -> tuple[int, int] | None:
        """Return the range of frames that share the column at a pixel, ``None`` without one."""
        window = self._window()
        if self.series is None or window is None:
            return None
        return self.series.frames_at_pixel(int(x * self._area.pixel_ratio()), window)

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
        return max(1, round(self._area.size().width() * self._area.pixel_ratio()))

    @override
    def boundingRect(self) -> QRectF:
        return QRectF(self._area.rect())

    @override
    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,
        widget: QWidget | None = None,
    ) -> None:
        exposed = option.exposedRect.intersected(self.boundingRect())
        if not exposed.isEmpty():
            self.paint_part(painter, exposed)

    def paint_part(self, painter: QPainter, exposed: QRectF) -> None:
        """Paint a part of the picture; the painter's origin is that of the area."""
        rect = self.boundingRect()
        self._bring_up_to_date()
        ratio = self._area.pixel_ratio()
        pixmap = self.picture.pixmap
        painter.save()
        painter.setClipRect(exposed)
        origin = painter.worldTransform().map(QPointF(0, 0))
        painter.setWorldTransform(
            QTransform(
                *(1 / ratio, 0, 0, 1 / ratio),
                *(round(origin.x() * ratio) / ratio, round(origin.y() * ratio) / ratio),
            )
        )
        if pixmap is not None and self.series is not None:
            left = int(exposed.left() * ratio)
            width = int(exposed.right() * ratio) + 1 - left
            painter.drawPixmap(left, 0, pixmap, left, 0, width, pixmap.height())
            self._lay_out_spikes(painter, ratio)
            fill_rects(painter, self._spike_rects, self._theme.color(ColorRole.TEXT))
        else:
            self._draw_grid(painter, 0, round(rect.width() * ratio), rect.height() * ratio)
        self._draw_budgets(painter, rect, ratio)
        painter.restore()
        self._draw_spike_labels(painter, exposed)

    # -------------------------------------------------------------- the picture

    def _window(self) -> Window | None:
        area = self._area
        ratio, size = area.pixel_ratio(), area.size()
        width, height = max(1, round(size.width() * ratio)), round(size.height() * ratio)
        low, high = area.span
        if height < 1 or area.top_ms <= 0 or high <= low:
            return None
        return Window(low, high, width, height)

    def _bring_up_to_date(self) -> tuple[int, int] | None:
        """Return which columns of pixels changed, ``None`` if that is not known."""
        window = self._window()
        if self.series is None or window is None:
            return None
        look: Hashable = (
            id(self.series),
            self.series.x_axis,
            self.is_stacked,
            self._top_ns(),
            self.budgets_ns[:1],
        )
        return self.picture.bring_up_to_date(self.series, self.measure, window, look)

    def _draw_columns(
        self, painter: QPainter, series: FrameSeries, window: Window, start: int, stop: int
    ) -> Spikes:
        background = self._theme.color(ColorRole.BG)
        painter.fillRect(start, 0, stop - start, window.height, background)
        self._draw_grid(painter, start, stop, window.height)
        columns = series.columns(window, start, stop)
        if not len(columns):
            return Spikes(columns.lefts, columns.lefts)
        top_ns = self._top_ns()
        budget_ns = self.budgets_ns[0] if self.budgets_ns else top_ns
        scale = BarScale(window.height, top_ns, budget_ns, round(_WIDE * self._area.pixel_ratio()))
        make = stacked_bars if self.is_stacked else frame_bars
        bars = make(series, self.measure, columns, scale)
        for fill, rects in bars.layers:
            fill_rects(painter, rects, self._color(fill))
        return bars.spikes

    def _draw_grid(self, painter: QPainter, start: int, stop: int, height: float) -> None:
        color = self._theme.color(ColorRole.LINE)
        for tick in self._axis.ticks().ticks:
            y = self._y(tick.value_ns, height)
            painter.fillRect(start, y, stop - start, 1, color)

    # -------------------------------------------------------------- over the picture

    def _draw_budgets(self, painter: QPainter, rect: QRectF, ratio: float) -> None:
        """Draw a line for each budget: solid for the one that colours the bars."""
        width = round(rect.width() * ratio)
        behind = QColor(self._theme.color(ColorRole.BG))
        behind.setAlphaF(0.55)
        thickness = max(1, round(ratio))
        for number, budget_ns in enumerate(self.budgets_ns):
            y = self._y(budget_ns, rect.height() * ratio)
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

    def _lay_out_spikes(self, painter: QPainter, ratio: float) -> None:
        """Choose where values are written: beside the largest spikes, as many as have room."""
        spikes = self.picture.spikes
        if spikes is self._spikes_shown:
            return
        self._spikes_shown = spikes
        scale = max(1, round(ratio))
        places = thinned(spikes.places, _SPIKE_SPACING * scale)
        self._spike_rects = glyph_rects(places, scale, UP_TRIANGLE, scale)
        self._spike_labels = []
        painter.setFont(self._axis.font())
        metrics = painter.fontMetrics()
        right_edge = self.boundingRect().width()
        order = (-spikes.times_ns).argsort(kind="stable")[: 4 * _LABELLED_SPIKES]
        taken: list[tuple[float, float]] = []
        for place in order.tolist():
            text = format_duration(int(spikes.times_ns[place]))
            width = metrics.horizontalAdvance(text) + 4
            middle = float(spikes.places[place]) / ratio
            left = middle + 5 if middle + 5 + width < right_edge else middle - 5 - width
            if any(left - _LABEL_GAP < high and left + width > low for low, high in taken):
                continue
            taken.append((left - _LABEL_GAP, left + width + _LABEL_GAP))
            box = QRectF(left, _LABEL_TOP, width, metrics.height())
            self._spike_labels.append(_SpikeLabel(box, text))
            if len(taken) == _LABELLED_SPIKES:
                break

    def _draw_spike_labels(self, painter: QPainter, exposed: QRectF) -> None:
        if self.series is None or not self._spike_labels:
            return
        painter.setFont(self._axis.font())
        # Opaque, or the line of a budget would strike the text through.
        behind = self._theme.color(ColorRole.BG)
        painter.setPen(self._theme.color(ColorRole.TEXT))
        for label in self._spike_labels:
            if label.box.intersects(exposed):
                painter.fillRect(label.box, behind)
                painter.drawText(label.box, int(Qt.AlignmentFlag.AlignCenter), label.text)

    # -------------------------------------------------------------- inside

    def _top_ns(self) -> int:
        return round(self._area.top_ms * NS_PER_MS)

    def _y(self, time_ns: float, height: float) -> int:
        return round(height * (1 - time_ns / self._top_ns())) - 1

    def _color(self, fill: AnyFill) -> QColor:
        color = self._colors.get(fill)
        if color is None:
            color = self._colors[fill] = color_of(fill, self._theme)
        return color

    def _follow_size(self) -> None:
        self.prepareGeometryChange()
        self.update()
