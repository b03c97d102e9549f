"""The axes of the frame-time plot, the area between them, and the scale of durations."""

import math
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import (
    QGraphicsItem,
    QGraphicsView,
    QGraphicsWidget,
    QSizePolicy,
    QStyleOptionGraphicsItem,
    QWidget,
)
from typing_extensions import override

from inspector.formats.drawing.ticks import Ticks, duration_ticks
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import Measure

from ..kit.guards import guarded
from ..kit.theme import ColorRole, Theme
from ..plotting.frame_bars import rate_text, top_of_scale_ns
from ..plotting.frame_series import FrameSeries, XAxis
from ..plotting.lane_view import axis_ticks

LEFT_WIDTH: Final = 62
BOTTOM_HEIGHT: Final = 34
#: Height of the signs of events above the area.
MARK_BAND: Final = 12
#: The same with the gap below them.
SIGNS_HEIGHT: Final = MARK_BAND + 2
_RIGHT_WIDTH: Final = 24
_RIGHT_GAP: Final = 5
_TICK: Final = 4
_GAP: Final = 3
_BETWEEN_LABELS_X: Final = 90
_BETWEEN_LABELS_Y: Final = 34
#: Of 60 frames per second.
DEFAULT_BUDGET_NS: Final = 16_666_667
_SMALLEST_TOP_NS: Final = 1_000
_LARGEST_TOP_NS: Final = 10**12
#: One over the share of the frames in view that must be new for another scale.
_NEWS: Final = 128


class _Axis(QGraphicsWidget):
    """Draws a part of a range along one side of the area.

    Attributes:
        range: The values at its ends.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.range = (0.0, 1.0)
        self._theme = theme
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)

    def set_range(self, low: float, high: float) -> None:
        self.range = (low, high)
        self.update()

    def set_width(self, width: float) -> None:
        self.setMinimumWidth(width)
        self.setMaximumWidth(width)

    def set_height(self, height: float) -> None:
        self.setMinimumHeight(height)
        self.setMaximumHeight(height)


@guarded
class DurationAxis(_Axis):
    """The vertical axis: durations in the unit that fits, from zero."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._name = ""
        self._ticks = Ticks((), "")
        self._ticks_of = (-1.0, -1)
        self.set_width(LEFT_WIDTH)

    def set_name(self, name: str) -> None:
        self._name = name
        self.update()

    def ticks(self) -> Ticks:
        """Return the ticks for the present range; places are nanoseconds."""
        top_ns = self.range[1] * NS_PER_MS
        look = top_ns, max(2, int(self.size().height() / _BETWEEN_LABELS_Y))
        if look != self._ticks_of:
            self._ticks_of, self._ticks = look, duration_ticks(*look)
        return self._ticks

    @override
    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,
        widget: QWidget | None = None,
    ) -> None:
        height, right = self.size().height(), self.size().width()
        top = self.range[1] or 1.0
        painter.setFont(self.font())
        metrics = painter.fontMetrics()
        painter.setPen(_thin(self._theme, ColorRole.MUTED))
        painter.drawLine(QPointF(right - 0.5, 0), QPointF(right - 0.5, height))
        ticks = self.ticks()
        half = metrics.height() / 2
        # Above the names of lanes, other things are beside the labels.
        is_wide = right > LEFT_WIDTH
        # A plot that scrolls exposes the edge beside it, too, but not the labels.
        has_labels = option.exposedRect.left() < right - _TICK - _GAP
        for tick in ticks.ticks:
            y = round(height * (1 - tick.value_ns / NS_PER_MS / top)) - 0.5
            painter.drawLine(QPointF(right - _TICK, y), QPointF(right, y))
            if not has_labels:
                continue
            shown = min(max(y, half), height - half)
            box = QRectF(0, shown - half, right - _TICK - _GAP, 2 * half)
            is_named = is_wide and tick is ticks.ticks[-1]
            painter.drawText(
                *(box, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)),
                f"{tick.label} {ticks.unit}" if is_named else tick.label,
            )
        if not has_labels or is_wide:
            return
        painter.setPen(self._theme.color(ColorRole.TEXT))
        painter.rotate(-90)
        box = QRectF(-height, right - LEFT_WIDTH + 1, height, metrics.height())
        text = f"{self._name} ({ticks.unit})"
        if metrics.horizontalAdvance(text) > height:
            text = ticks.unit
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)


@guarded
class SpanAxis(_Axis):
    """The horizontal axis: frame numbers or session time."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._x_axis = XAxis.FRAME
        self._time_name = "session time"
        self.set_height(BOTTOM_HEIGHT)

    def set_x_axis(self, x_axis: XAxis) -> None:
        self._x_axis = x_axis
        self.update()

    def set_time_name(self, name: str) -> None:
        self._time_name = name
        self.update()

    @override
    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,
        widget: QWidget | None = None,
    ) -> None:
        low, high = self.range
        width = self.size().width()
        painter.setFont(self.font())
        line = painter.fontMetrics().height()
        painter.setPen(_thin(self._theme, ColorRole.MUTED))
        painter.drawLine(QPointF(0, 0.5), QPointF(width, 0.5))
        count = max(2, int(width / _BETWEEN_LABELS_X))
        places, unit = axis_ticks(self._x_axis, low, high, count)
        name = unit if self._x_axis is XAxis.FRAME else f"{self._time_name} ({unit})"
        for place, label in places:
            x = round((place - low) / (high - low) * width) + 0.5
            if not 0 <= x <= width + 1:
                continue
            painter.drawLine(QPointF(x, 0), QPointF(x, _TICK))
            half = painter.fontMetrics().horizontalAdvance(label) / 2 + 1
            # At the edges a label moves in; cut off, it would be another number.
            middle = min(max(x, half), width - half)
            box = QRectF(middle - half, _TICK, 2 * half, line)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), label)
        painter.setPen(self._theme.color(ColorRole.TEXT))
        box = QRectF(0, _TICK + line - 2, width, line)
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), name)


def _thin(theme: Theme, role: ColorRole) -> QPen:
    pen = QPen(theme.color(role))
    pen.setWidth(1)
    pen.setCosmetic(True)
    return pen


@guarded
class BudgetAxis(_Axis):
    """The names of the budget lines, at the right where they cover nothing."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._budgets_ns: tuple[int, ...] = ()
        self.set_budgets_ns(())

    def set_budgets_ns(self, budgets_ns: tuple[int, ...]) -> None:
        """Name other budgets; the first is the one that colours the bars."""
        self._budgets_ns = budgets_ns
        metrics = QFontMetricsF(self.font())
        names = [f"↑ {rate_text(budget_ns)} fps" for budget_ns in budgets_ns]
        widest = max((metrics.horizontalAdvance(name) for name in names), default=0.0)
        self.set_width(math.ceil(max(_RIGHT_WIDTH, widest + 8)))
        self.update()

    @override
    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,
        widget: QWidget | None = None,
    ) -> None:
        if option.exposedRect.right() < _RIGHT_GAP:
            return
        painter.setFont(self.font())
        line = painter.fontMetrics().height()
        height, top_ns = self.size().height(), (self.range[1] or 1.0) * NS_PER_MS
        lowest = height + line / 2
        # From below, the most important first where two are too close for both names.
        order = sorted(enumerate(self._budgets_ns), key=lambda pair: pair[1])
        for number, budget_ns in order:
            y = height * (1 - budget_ns / top_ns)
            name = f"{rate_text(budget_ns)} fps"
            if y < 0:
                if number:
                    continue
                name, y = f"↑ {name}", line / 2
            middle = min(y, lowest - line)
            if middle < 0:
                continue
            lowest = middle
            role = ColorRole.MUTED if number else ColorRole.TEXT
            painter.setPen(self._theme.color(role))
            box = QRectF(_RIGHT_GAP, middle - line / 2, self.size().width() - _RIGHT_GAP, line)
            flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(box, int(flags), name)


class FrameArea(QGraphicsWidget):
    """Clips what it holds, and knows which frames and durations it shows.

    What it holds is drawn in pixels, so nothing is transformed.

    Attributes:
        span: Left and right edge, in frames or seconds.
        top_ms: The duration at the upper edge, in milliseconds.
    """

    def __init__(self) -> None:
        super().__init__()
        self.span = (0.0, 1.0)
        self.top_ms = 1.0
        self._view: QGraphicsView | None = None
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemClipsChildrenToShape)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def with_signs(self) -> QRectF:
        """Return the area in its own coordinates, with the band of signs above it."""
        return QRectF(self.rect()).adjusted(0, -SIGNS_HEIGHT, 0, 0)

    def expose(self, part: QRectF) -> None:
        """Have a part painted again, and nothing beside the area and its band of signs.

        An item of a scene would have the edges of its neighbours painted, too.
        """
        shown = part.intersected(self.with_signs())
        if not shown.isEmpty():
            view = self._shown_in()
            if view is not None:
                view.viewport().update(self.mapRectToScene(shown).toAlignedRect())

    def pixel_ratio(self) -> float:
        """Return how many pixels of the screen there are in one of the area."""
        view = self._shown_in()
        return 1.0 if view is None else view.devicePixelRatioF()

    def _shown_in(self) -> QGraphicsView | None:
        """Return the one view that shows it, once there is one; a list of views takes longer."""
        if self._view is None:
            self._view = next(iter(self.scene().views()), None)
        return self._view


class DurationScale:
    """The duration at the upper edge of a plot.

    Attributes:
        top_ns: That duration.
    """

    def __init__(self) -> None:
        self.top_ns = round(1.5 * DEFAULT_BUDGET_NS)
        self._is_own = False
        self._chosen_for: tuple[int, int] | None = None

    def forget(self) -> None:
        """Choose a scale for the next frames, whatever it was."""
        self._is_own = False
        self._chosen_for = None

    def multiply(self, factor: float) -> None:
        """Show ``factor`` times as much from now on, whatever frames come."""
        self._is_own = True
        self.top_ns = min(max(round(self.top_ns * factor), _SMALLEST_TOP_NS), _LARGEST_TOP_NS)

    def settle(
        self, series: FrameSeries, measure: Measure, frames: tuple[int, int], budget_ns: int
    ) -> None:
        """Choose a scale again when a notable part of the frames in view is new."""
        start, stop = frames
        former = self._chosen_for
        if self._is_own:
            return
        if former is not None:
            news = abs(start - former[0]) + abs(stop - former[1])
            if news <= (stop - start) // _NEWS:
                return
        self._chosen_for = frames
        sample_ns = series.sample_ns(measure, start, stop)
        former_ns = self.top_ns if former is not None else 0
        self.top_ns = top_of_scale_ns(sample_ns, budget_ns, former_ns)
