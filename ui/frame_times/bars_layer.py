"""The frames themselves: bars, values of what goes on beyond the plot, budget lines."""

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPainterPath, QPen, QPixmap, QTransform

from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.formats.arrangement.fills import AnyFill
from inspector.formats.arrangement.frame_bars import (
    NO_SPIKES,
    BarScale,
    Spikes,
    frame_bars,
    newest_frame_bars,
    stacked_bars,
)
from inspector.formats.arrangement.frame_labels import (
    Label,
    apart_from,
    below_values,
    budget_labels,
    names_width,
    spike_labels,
)
from inspector.formats.arrangement.frame_series import FrameBar, FrameSeries, Window
from inspector.formats.drawing.display_list import HALO_SHARE
from inspector.vocabulary import Measure, Share

from ..kit.theme import ColorRole, Theme
from ..plotting.bulk_paint import fill_rects
from ..plotting.column_picture import ColumnPicture
from ..plotting.sheet_painter import color_of, kept_texts

#: Height of the band at the top with the values of bars that go on beyond the plot.
LABEL_BAND: Final = 24
_DASH: Final = 6
_LABEL_PAD: Final = 2
_BEFORE_LABEL: Final = 8
#: Largest share of the plot's width.
_WIDEST_NAMES: Final = 0.2
#: Values that are kept as pictures; drawing one anew takes ten times as long.
_MOST_DRAWN: Final = 64
#: Wider bars over twice the budget are tinted, so that a stall does not flood the window.
_WIDE: Final = 40


class BarsLayer:
    """Bars of all frames in view, kept in a picture of whole pixels.

    Coordinates are those of the plot.
    """

    def __init__(self, theme: Theme) -> None:
        self.series: FrameSeries | None = None  # The frames; None draws the empty plot
        self.measure: Measure = "interval"  # Which of their times is shown
        self.is_stacked = False  # Show the phases instead of the severity
        self.budgets_ns: tuple[int, ...] = ()  # Budget lines; bars are coloured by the first
        self.picture = ColumnPicture(self._draw_columns)
        self.area = QRectF()  # Where the frames are in the plot
        self.width = self.height = 1  # The same in pixels of the screen, from 1
        self.span = (0.0, 1.0)  # The positions on the axis at its edges
        self.top_ns = 1  # The duration at its upper edge
        self.ratio = 1.0  # Pixels of the screen for each of the plot
        self.line = -1.0  # Where the line of the instant shown is
        self._theme = theme
        self._spikes_shown: Spikes | None = None
        self._spike_labels: list[Label] = []
        self._names: list[Label] = []
        # Budget lines from the top, in pixels of the screen
        self._lines: list[int] = []
        # The values of spikes that cover no name of a budget
        self._values_beside: list[Label] = []
        self._laid_out_for: Hashable = None
        self._beside: tuple[int, float] | None = None
        self._drawn_labels: dict[Hashable, QPixmap] = {}
        self._colors: dict[AnyFill, QColor] = {}
        self.use_font(QFont())

    def place(self, area: QRectF, ratio: float) -> None:
        """Set the area of the frames in the plot, and how many screen pixels are one of it."""
        self.area, self.ratio = area, ratio
        self.width = max(1, round(area.width() * ratio))
        self.height = round(area.height() * ratio)
        self._laid_out_for = None

    def bring_up_to_date(self) -> tuple[QRectF, bool]:
        """Draw what is new; returns which part of the plot changed, and whether values changed."""
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
        spikes = self.picture.spikes
        return part.intersected(self.area), spikes is not self._spikes_shown or len(
            spikes.places
        ) > 0

    def use_font(self, font: QFont) -> None:
        """Write in a font, in the colours of the theme as it is now."""
        self.font = font
        self._texts = kept_texts(font)
        self._behind = QColor(self._theme.color(ColorRole.BG))
        self._behind.setAlphaF(0.55)
        self._dashes = QPixmap()
        self._drawn_labels.clear()
        self._laid_out_for = self._spikes_shown = None
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

    def highest(self, start: int, stop: int) -> int:
        """Return the upper edge of the highest of some bars, in whole pixels of the plot."""
        series = self.series
        if series is None or self.is_stacked or start >= stop:
            return 0
        longest_ns = series.longest_ns(self.measure, start, stop)
        return max(math.floor(self.area.height() * (1 - longest_ns / max(self.top_ns, 1))) - 1, 0)

    def paint(self, painter: QPainter, exposed: Iterable[QRect]) -> None:
        """Paint what is exposed, in some rectangles."""
        self.bring_up_to_date()
        ratio, pixmap, width, height = self.ratio, self.picture.pixmap, self.width, self.height
        painter.save()
        origin = painter.worldTransform().map(self.area.topLeft())
        painter.setWorldTransform(
            QTransform(
                *(1 / ratio, 0, 0, 1 / ratio),
                *(round(origin.x() * ratio) / ratio, round(origin.y() * ratio) / ratio),
            )
        )
        for each in exposed:
            x, y, wide, high = cast("tuple[int, int, int, int]", each.getRect())
            begin = x - self.area.left()
            left, right = max(int(begin * ratio), 0), min(math.ceil((begin + wide) * ratio), width)
            # Clipped to one rectangle at a time, so that Qt copies rows; for several together, its
            # threads would blend spans.
            painter.setClipRect(left, int(y * ratio), right - left, math.ceil(high * ratio) + 1)
            if pixmap is not None and self.series is not None:
                pixmap.draw_columns(painter, left, right)
            else:
                painter.fillRect(0, 0, width, height, self._theme.color(ColorRole.BG))
        painter.setClipRect(0, 0, width, height)
        self._lay_out()
        self._draw_budgets(painter)
        painter.restore()
        self._paint_labels(painter, self._values_beside)

    def paint_names(self, painter: QPainter) -> None:
        """Paint the rates of the budgets, above all else in the plot."""
        self._paint_labels(painter, self._names)

    def _paint_labels(self, painter: QPainter, labels: Iterable[Label]) -> None:
        ratio, above = self.ratio, self.area.top()
        for label in labels:
            # Placed on whole pixels of the screen.
            left = round((label.left - _LABEL_PAD) * ratio) / ratio
            top = round((above + label.top) * ratio) / ratio
            painter.drawPixmap(QPointF(left, top), self._drawn(label))

    def _window(self) -> Window | None:
        low, high = self.span
        if self.height < 1 or self.top_ns <= 0 or high <= low:
            return None
        return Window(low, high, self.width, self.height)

    def _draw_columns(
        self,
        painter: QPainter,
        series: FrameSeries,
        window: Window,
        pixels: range,
        newest: Sequence[FrameBar] | None,
    ) -> Spikes:
        background = self._theme.color(ColorRole.BG)
        painter.fillRect(pixels.start, 0, len(pixels), window.height, background)
        if newest is not None and not newest:
            return NO_SPIKES
        budget_ns = self.budgets_ns[0] if self.budgets_ns else self.top_ns
        scale = BarScale(window.height, self.top_ns, budget_ns, round(_WIDE * self.ratio))
        if newest is not None and not self.is_stacked:
            bars = newest_frame_bars(series, self.measure, newest, scale)
        else:
            columns = series.columns(window, pixels.start, pixels.stop)
            if not len(columns):
                return NO_SPIKES
            make = stacked_bars if self.is_stacked else frame_bars
            bars = make(series, self.measure, columns, scale)
        for fill, rects in bars.layers:
            fill_rects(painter, rects, self._color(fill))
        return bars.spikes

    def _draw_budgets(self, painter: QPainter) -> None:
        width, thickness = self.width, max(1, round(self.ratio))
        for number, y in enumerate(self._lines):
            if y < 0:
                continue
            if number == 0:
                painter.fillRect(0, y, width, thickness, self._theme.color(ColorRole.TEXT))
                continue
            painter.drawPixmap(0, y, self._dashed_line(width, thickness))

    def _dashed_line(self, width: int, thickness: int) -> QPixmap:
        if self._dashes.size() != QSize(width, thickness):
            self._dashes = QPixmap(width, thickness)
            # Something light is between the dashes, so that the line is also seen over the bars.
            self._dashes.fill(self._behind)
            dash, color = _DASH * thickness, self._theme.color(ColorRole.MUTED)
            with QPainter(self._dashes) as painter:
                for left in range(0, width, 2 * dash):
                    painter.fillRect(left, 0, dash, thickness, color)
        return self._dashes

    def _lay_out(self) -> None:
        """Place the lines of budgets, and the values beside the largest spikes if they fit."""
        spikes, series = self.picture.spikes, self.series
        laid_out_for = self.budgets_ns, self.top_ns, series is None
        is_as_before = laid_out_for == self._laid_out_for
        # New bars beside a spike, or the line that moves on, may take the room of its value.
        beside = (series.end, self.line) if series is not None and len(spikes.places) else None
        if is_as_before and spikes is self._spikes_shown and beside == self._beside:
            return
        line = self._texts.metrics.height()
        if not is_as_before:
            self._laid_out_for = laid_out_for
            self._place_budgets(line)
        self._spike_labels = self._values(spikes)
        self._spikes_shown, self._beside = spikes, beside
        shown = self._spike_labels if series is not None else []
        self._values_beside = apart_from(shown, self._names, line)

    def _place_budgets(self, line: float) -> None:
        area, ratio, high = self.area, self.ratio, self.area.height()
        self._lines = [
            round(high * ratio * (1 - each / self.top_ns)) - 1 for each in self.budgets_ns
        ]
        width_of = self._texts.width_of
        self._names = list(
            budget_labels(self.budgets_ns, self.top_ns, area.right(), high, float(line), width_of)
        )

    def _values(self, spikes: Spikes) -> list[Label]:
        """Return the values to write beside the largest spikes where they cover nothing."""
        series, area, texts, line = self.series, self.area, self._texts, self.line
        if series is None:
            return []
        left, width = area.left(), area.width()
        window = Window(*self.span, max(round(width), 1))
        reached_ns = below_values(self.top_ns, area.height(), texts.metrics.height())

        def is_free(begin: float, end: float) -> bool:
            # The line of the instant shown crosses it, or will when the spike is the newest frame.
            is_crossed = begin - _BEFORE_LABEL <= line <= end + _LABEL_PAD
            return not is_crossed and not series.reaches(
                reached_ns, window, begin - left, end - left
            )

        return spike_labels(spikes, left, width, self.ratio, texts.width_of, is_free)

    def names_share(self) -> float:
        """Return which share of the width the names of budgets take, 0 without any."""
        names = names_width(self.budgets_ns, self._texts.width_of)
        return min(names / self.area.width(), _WIDEST_NAMES)

    def _drawn(self, label: Label) -> QPixmap:
        key = label.text, label.width, label.is_strong, self.ratio
        drawn = self._drawn_labels.get(key)
        if drawn is None:
            metrics = self._texts.metrics
            width, line = label.width + 2 * _LABEL_PAD, metrics.height()
            drawn = QPixmap(math.ceil(width * self.ratio), math.ceil(line * self.ratio))
            drawn.setDevicePixelRatio(self.ratio)
            drawn.fill(Qt.GlobalColor.transparent)
            at = QPointF((width - self._texts.width_of(label.text)) / 2, metrics.ascent())
            letters = QPainterPath()
            letters.addText(at, self.font, label.text)
            with QPainter(drawn) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                # With a rim, no line of a budget strikes the text through, and bars stay in sight.
                rim = QPen(self._theme.color(ColorRole.BG), HALO_SHARE * metrics.ascent())
                rim.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
                painter.strokePath(letters, rim)
                painter.setFont(self.font)
                role = ColorRole.TEXT if label.is_strong else ColorRole.MUTED
                painter.setPen(self._theme.color(role))
                painter.drawText(at, label.text)
            if len(self._drawn_labels) > _MOST_DRAWN:
                self._drawn_labels.clear()
            self._drawn_labels[key] = drawn
        return drawn

    def _color(self, fill: AnyFill) -> QColor:
        color = self._colors.get(fill)
        if color is None:
            color = self._colors[fill] = color_of(fill, self._theme)
        return color
