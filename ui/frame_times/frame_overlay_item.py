"""What lies over the frames: selection, hover line, chosen range, readout, signs of events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen, QTransform
from PySide6.QtWidgets import (
    QGraphicsItem,
    QGraphicsObject,
    QGraphicsWidget,
    QStyleOptionGraphicsItem,
    QWidget,
)
from typing_extensions import override

from inspector.analysis.interval_shares import named_shares, shares_text
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.events.frame_history import Frame, FrameHistory
from inspector.formats.drawing.pixel_rects import PixelRects, row_rects
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import Measure, Phase

from ..kit.guards import guarded
from ..kit.theme import ColorRole, Theme
from ..plotting.axis_range import AxisRange
from ..plotting.bulk_paint import (
    BAR,
    BOLT,
    CROSS,
    DIAMOND,
    DOWN_TRIANGLE,
    FLAG,
    TARGET,
    Glyph,
    fill_rects,
    glyph_rects,
)
from ..plotting.frame_bars import budget_text
from ..plotting.frame_series import FrameSeries, Window
from ..plotting.shared_view import SharedView
from .frame_axis import MARK_BAND, FrameArea
from .timeline_marks import MarkGroup, MarkKind, TimelineMarks

if TYPE_CHECKING:
    from .frame_bars_item import FrameBarsItem

_GLYPHS: Final[dict[MarkKind, tuple[Glyph, ColorRole]]] = {
    MarkKind.FAILURE: (CROSS, ColorRole.RED),
    MarkKind.DELTA_CUT: (BOLT, ColorRole.ORANGE),
    MarkKind.HIT: (TARGET, ColorRole.TICK),
    MarkKind.BOOKMARK: (FLAG, ColorRole.BLUE),
    MarkKind.MARK: (DIAMOND, ColorRole.BLUE),
    MarkKind.COMMAND: (DOWN_TRIANGLE, ColorRole.TICK),
    MarkKind.HELD: (BAR, ColorRole.HATCH),
}
_PAD: Final = 6
#: Height of the bar of a named range, at the foot of the band of signs.
_RANGE_BAR: Final = 3
_MOST_LISTED: Final = 8
_AWAY: Final = 14
#: What a frame took, and what it should, is said however low the plot is.
_LEAST_LINES: Final = 3
#: Half the width of the grips at the ends of the playhead.
_GRIP: Final = 5.0
#: Height of the heads of frames that another panel marks, and the opacity of what is below.
_HEAD: Final = 5
_SHADE: Final = 0.3
#: Opacity of the background over what comes after the playhead.
_VEIL: Final = 0.5
#: A selected frame narrower than this is shown as a line.
_NARROW: Final = 3
#: Pixels to either side of the pointer; of the frames there the longest is meant.
_REACH: Final = 8
#: Fewer frames than this are wide enough to be hit exactly.
_NARROW_FRAMES: Final = 3
Lines = tuple[tuple[str, str], ...]


class Readout(Struct, frozen=True):
    """What is said of the frame under the pointer.

    Attributes:
        frame: The frame.
        lines: Label and value of each line; the first label is the heading.
        pointer_x: Where the pointer is, in pixels of the view.
    """

    frame: int
    lines: tuple[tuple[str, str], ...]
    pointer_x: float


@guarded
class FrameOverlayItem(QGraphicsObject):
    """Painted over the bars, so that pointing at them does not compute them again.

    Its coordinates are the pixels of the area; the band of signs is above zero.

    Attributes:
        hover: Where the hover line is on the axis, ``None`` for nowhere.
        playhead: Where the playhead is on the axis, ``None`` for nowhere.
        selected: Where the selected frame begins and ends on the axis.
        series: The frames, for what is marked.
        marked: Numbers of the frames that another panel marks, ``None`` for none.
        chosen: The chosen range on the axis.
        chosen_text: What is said of the chosen range.
        readout: What is said of the frame under the pointer.
        groups: Signs of events.
        ranges: Named ranges: left and right edge in pixels, and number.
        empty_text: Said in the middle when there is nothing to draw.
    """

    def __init__(self, parent: QGraphicsWidget, area: FrameArea, theme: Theme) -> None:
        super().__init__(parent)
        self.hover: float | None = None
        self.playhead: float | None = None
        self.selected: tuple[float, float] | None = None
        self.series: FrameSeries | None = None
        self.marked: NDArray[np.int64] | None = None
        self.chosen: tuple[float, float] | None = None
        self.chosen_text = ""
        self.readout: Readout | None = None
        self.groups: list[MarkGroup] = []
        self.ranges: list[tuple[float, float, int]] = []
        self.empty_text = ""
        self._area = area
        self._theme = theme
        self.setZValue(10)
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        area.geometryChanged.connect(self._follow_size)

    def show_selected(self, series: FrameSeries | None, frame: int | None) -> None:
        former, self.selected = self.selected, None
        if series is not None and frame is not None and series.first <= frame < series.end:
            self.selected = (series.start_of(frame), series.start_of(frame + 1))
        if self.selected != former:
            self.update()

    def show_playhead(self, place: float | None) -> None:
        if place != self.playhead:
            self.playhead = place
            self.update()

    def show_hover(self, place: float | None) -> None:
        if place != self.hover:
            self.hover = place
            self.update()

    def show_chosen(self, view: SharedView) -> None:
        former = self.chosen, self.chosen_text
        self.chosen, self.chosen_text = view.chosen_edges, ""
        if view.chosen_frames is not None and view.series is not None:
            self.chosen_text = chosen_text(view.series.history, *view.chosen_frames)
        if (self.chosen, self.chosen_text) != former:
            self.update()

    def show_marked(self, series: FrameSeries | None, frames: NDArray[np.int64] | None) -> None:
        self.series, self.marked = series, frames
        self.update()

    def show_marks(
        self, marks: TimelineMarks | None, series: FrameSeries | None, view: AxisRange, width: int
    ) -> None:
        """Show signs of events and named ranges in a view ``width`` pixels wide."""
        groups: list[MarkGroup] = []
        ranges: list[tuple[float, float, int]] = []
        if marks is not None and series is not None and width >= 1:
            groups = marks.groups(series, view.low, view.high, width)
            ranges = marks.ranges(series, view.low, view.high, width)
        if (groups, ranges) != (self.groups, self.ranges):
            self.groups, self.ranges = groups, ranges
            self._area.expose(self.boundingRect())

    def mark_text_at(self, x: float, marks: TimelineMarks) -> str:
        group = self.group_at(x)
        if group is not None:
            return marks.text_of(group)
        numbers = [number for left, right, number in self.ranges if left <= x <= right]
        return "\n".join(map(marks.range_text, numbers[:_MOST_LISTED]))

    def group_at(self, x: float) -> MarkGroup | None:
        nearest = min(self.groups, key=lambda group: abs(group.x - x), default=None)
        return nearest if nearest is not None and abs(nearest.x - x) <= _PAD else None

    @override
    def boundingRect(self) -> QRectF:
        return self._area.with_signs()

    @override
    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,
        widget: QWidget | None = None,
    ) -> None:
        self.paint_part(painter, option.exposedRect)

    def paint_part(self, painter: QPainter, exposed: QRectF) -> None:
        """Paint what is exposed; the painter's origin is that of the area."""
        if exposed.top() < 0:
            for left, right, _ in self.ranges:
                bar = QRectF(left, -_RANGE_BAR - 1, max(right - left, 1.0), _RANGE_BAR)
                painter.fillRect(bar, self._theme.color(ColorRole.BLUE))
            self._draw_groups(painter)
        rect = QRectF(self._area.rect())
        low, high = self._area.span
        scale = rect.width() / (high - low)
        painter.setFont(self.font_of_plot())
        if self.empty_text:
            painter.setPen(self._theme.color(ColorRole.MUTED))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(rect, int(flags), self.empty_text)
            return
        self._draw_holds(painter, rect)
        if self.marked is not None and self.series is not None:
            window = Window(low, high, max(int(rect.width()), 1), int(rect.height()))
            rects = _marked_rects(self.series, self.marked, window)
            _paint_marked(painter, rects, self._theme)
        if self.chosen is not None:
            self._draw_chosen(painter, rect, self.chosen, low, scale)
        if self.selected is not None:
            self._draw_selected(painter, rect, self.selected, low, scale)
        if self.hover is not None and low <= self.hover <= high:
            painter.setPen(_line(self._theme.color(ColorRole.TEXT)))
            x = round((self.hover - low) * scale) + 0.5
            painter.drawLine(QPointF(x, 0), QPointF(x, rect.height()))
        if self.playhead is not None and self.playhead <= high:
            self._draw_playhead(painter, rect, round((self.playhead - low) * scale))
        if self.readout is not None:
            self._draw_readout(painter, rect, self.readout)

    def font_of_plot(self) -> QFont:
        return self._area.font()

    def _draw_groups(self, painter: QPainter) -> None:
        if not self.groups:
            return
        ratio = self._area.pixel_ratio()
        scale = max(1, round(ratio))
        origin = painter.worldTransform().map(QPointF(0, -MARK_BAND))
        painter.save()
        painter.setWorldTransform(
            QTransform(1 / ratio, 0, 0, 1 / ratio, round(origin.x()), round(origin.y()))
        )
        for kind, (glyph, role) in _GLYPHS.items():
            places = [group.x for group in self.groups if group.kind is kind]
            if places:
                middles = np.rint(np.array(places) * ratio).astype(np.int64)
                rects = glyph_rects(middles, scale, glyph, scale)
                fill_rects(painter, rects, self._theme.color(role))
        painter.restore()

    def _draw_holds(self, painter: QPainter, rect: QRectF) -> None:
        """Draw a dotted line where session time stood still, whatever sign is above it."""
        places = [group.x for group in self.groups if group.has_hold]
        if not places:
            return
        pen = _line(self._theme.color(ColorRole.HATCH))
        pen.setDashPattern([2, 3])
        painter.setPen(pen)
        for x in places:
            painter.drawLine(QPointF(x + 0.5, 0), QPointF(x + 0.5, rect.height()))

    def _draw_chosen(
        self,
        painter: QPainter,
        rect: QRectF,
        chosen: tuple[float, float],
        low: float,
        scale: float,
    ) -> None:
        left = min(max((chosen[0] - low) * scale, -2.0), rect.width() + 2)
        right = min(max((chosen[1] - low) * scale, -2.0), rect.width() + 2)
        shade = QColor(self._theme.color(ColorRole.BLUEBG))
        shade.setAlphaF(0.28)
        painter.fillRect(QRectF(left, 0, right - left, rect.height()), shade)
        painter.setPen(_line(self._theme.color(ColorRole.BLUE)))
        for x in (round(left) + 0.5, round(right) - 0.5):
            painter.drawLine(QPointF(x, 0), QPointF(x, rect.height()))
        if self.chosen_text and right > left:
            metrics = painter.fontMetrics()
            width = metrics.horizontalAdvance(self.chosen_text) + 2 * _PAD
            x = min(max((left + right - width) / 2, 0.0), max(0.0, rect.width() - width))
            box = QRectF(x, rect.height() - metrics.height() - 6, width, metrics.height() + 2)
            self._draw_box(painter, box)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), self.chosen_text)

    def _draw_selected(
        self,
        painter: QPainter,
        rect: QRectF,
        selected: tuple[float, float],
        low: float,
        scale: float,
    ) -> None:
        left, right = ((place - low) * scale for place in selected)
        if right < 0 or left > rect.width():
            return
        if right - left < _NARROW:
            left = right = (left + right) / 2
        frame = QRectF(round(left) - 1.5, 0.5, round(right) - round(left) + 2, rect.height() - 1)
        painter.setPen(_line(self._theme.color(ColorRole.BLUE)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(frame)
        # A foot and a head that stay visible where the frame itself is a pixel wide.
        middle = (left + right) / 2
        color = self._theme.color(ColorRole.BLUE)
        painter.fillRect(QRectF(round(middle) - 4, rect.height() - 4, 8, 4), color)
        painter.fillRect(QRectF(round(middle) - 4, 0, 8, 3), color)

    def _draw_playhead(self, painter: QPainter, rect: QRectF, x: int) -> None:
        # What comes after the instant that is looked at is covered.
        veil = QColor(self._theme.color(ColorRole.BG))
        veil.setAlphaF(_VEIL)
        left = max(x + 1, 0)
        painter.fillRect(QRectF(left, 0, rect.width() - left, rect.height()), veil)
        if x < 0:
            return
        color = self._theme.color(ColorRole.BLUE)
        painter.fillRect(QRectF(x - 1, 0, 2, rect.height()), color)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        for edge, inwards in ((0.0, 1), (rect.height(), -1)):
            grip = (QPointF(x - _GRIP, edge), QPointF(x + _GRIP, edge))
            painter.drawPolygon((*grip, QPointF(x, edge + inwards * _GRIP * 1.4)))
        painter.restore()

    def _draw_readout(self, painter: QPainter, rect: QRectF, readout: Readout) -> None:
        metrics = painter.fontMetrics()
        line = metrics.height() + 1
        # In a low plot the last lines are left out; the details have all of them.
        lines = readout.lines[: max(int((rect.height() - 2 * _PAD - 2) // line), _LEAST_LINES)]
        labels = max(metrics.horizontalAdvance(label) for label, _ in lines[1:])
        values = max(metrics.horizontalAdvance(value) for _, value in lines[1:])
        heading = metrics.horizontalAdvance("   ".join(lines[0]))
        width = max(labels + values + 14, heading) + 2 * _PAD
        height = line * len(lines) + 2 * _PAD - 2
        left = readout.pointer_x + _AWAY
        if left + width > rect.width():
            left = readout.pointer_x - _AWAY - width
        box = QRectF(max(left, 0.0), 4, width, height)
        self._draw_box(painter, box)
        inner = box.adjusted(_PAD, _PAD - 1, -_PAD, 0)
        row = QRectF(inner.left(), inner.top(), inner.width(), line)
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        leading = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for number, (label, value) in enumerate(lines):
            is_heading = number == 0
            role = ColorRole.TEXT if is_heading else ColorRole.MUTED
            painter.setPen(self._theme.color(role))
            painter.drawText(row, leading, label)
            painter.setPen(self._theme.color(ColorRole.TEXT))
            painter.drawText(row, right, value)
            row.translate(0, line)

    def _draw_box(self, painter: QPainter, box: QRectF) -> None:
        painter.setBrush(self._theme.color(ColorRole.PANEL))
        painter.setPen(_line(self._theme.color(ColorRole.MUTED)))
        crisp = QRectF(round(box.x()) + 0.5, round(box.y()) + 0.5, box.width(), box.height())
        painter.drawRect(crisp)
        painter.setPen(self._theme.color(ColorRole.TEXT))

    def _follow_size(self) -> None:
        self.prepareGeometryChange()
        self.setPos(self._area.pos())


def _line(color: QColor) -> QPen:
    pen = QPen(color, 1)
    pen.setCosmetic(True)
    return pen


class FramePointer:
    """Reads the slowest of the frames under the pointer, and has it shown.

    Attributes:
        place: Where the pointer is in the plot, ``None`` when it is elsewhere.
        unknown: Which of the frames' times are not known.
    """

    def __init__(self, bars: FrameBarsItem, overlay: FrameOverlayItem) -> None:
        self._bars = bars
        self._overlay = overlay
        self.place: QPointF | None = None
        self.unknown: frozenset[str] = frozenset()

    @property
    def frame(self) -> int | None:
        readout = self._overlay.readout
        return None if readout is None else readout.frame

    def point_at(
        self, place: QPointF | None, area: QRectF, series: FrameSeries | None
    ) -> float | None:
        """Read the frame at a place, until the pointer is elsewhere.

        Args:
            place: Where the pointer is in the plot.
            area: Where the frames are in the plot.

        Returns:
            The middle of the frame on the axis, ``None`` without one.
        """
        self.place = place
        readout, middle = self._read(place, area, series) or (None, None)
        if readout != self._overlay.readout:
            self._overlay.readout = readout
            self._overlay.update()
        return middle

    def _read(
        self, place: QPointF | None, area: QRectF, series: FrameSeries | None
    ) -> tuple[Readout, float] | None:
        """Return what is read at a place, and the middle of the frame on the axis."""
        if series is None or place is None or not area.left() <= place.x() <= area.right():
            return None
        bars, x = self._bars, place.x() - area.left()
        frames = bars.frames_at(x)
        if frames is None:
            return None
        frame = series.slowest_within(bars.measure, *frames)
        nearest = self._longest_near(x, series)
        # Among frames within their budget the one that is pointed at is meant.
        limit_ns = FrameBudget(bars.budgets_ns[0]).longest_ns if bars.budgets_ns else 0
        here_ns, longest_ns = (series.value_ns(bars.measure, each) for each in (frame, nearest))
        if longest_ns > max(here_ns, limit_ns):
            frame, frames = nearest, (nearest, nearest + 1)
        shared_by = frames[1] - frames[0]
        lines = frame_readout(
            *(series.history.frame(frame), bars.measure, shared_by, bars.budgets_ns, self.unknown)
        )
        middle = (series.start_of(frame) + series.start_of(frame + 1)) / 2
        return Readout(frame, lines, x), middle

    def _longest_near(self, x: float, series: FrameSeries) -> int:
        """Return the longest of the frames near a pixel, where they are too narrow to be hit."""
        bars = self._bars
        near = [found for step in (-_REACH, 0, _REACH) if (found := bars.frames_at(x + step))]
        begin, end = min(each[0] for each in near), max(each[1] for each in near)
        if end - begin <= _NARROW_FRAMES:
            exact = bars.frames_at(x)
            assert exact is not None, "there is a frame at the pixel"
            begin, end = exact
        return series.slowest_within(bars.measure, begin, end)


def frame_readout(
    frame: Frame,
    measure: Measure,
    shared_by: int,
    budgets_ns: tuple[int, ...],
    unknown: frozenset[str] = frozenset(),
) -> Lines:
    """Return label and value of each line; the first line is the heading.

    Args:
        measure: Which of its times the plot shows; that comes first.
        shared_by: How many frames share its column of pixels.
        budgets_ns: Budgets; the time is compared with the first.
        unknown: Which of its times are not known.
    """
    times_ns = {"interval": frame.interval_ns, "busy": frame.busy_ns, "delta": frame.delta_ns}
    lines = [(f"Frame {frame.index:,}", format_instant(frame.at_ns))]
    if shared_by > 1:
        lines.append((f"slowest of {shared_by:,} frames here", ""))
    lines.append((measure, format_duration(times_ns.pop(measure))))
    if budgets_ns:
        shown_ns = {"interval": frame.interval_ns, "busy": frame.busy_ns, "delta": frame.delta_ns}
        budget = FrameBudget(budgets_ns[0])
        over = ", over" if shown_ns[measure] > budget.longest_ns else ""
        share = f"{100 * shown_ns[measure] / budget.budget_ns:.0f} %{over}"
        lines.append((f"of {budget_text(budget.budget_ns)}", share))
    if shares := shares_text(named_shares(frame.shares, frame.interval_ns), most=3):
        # Below each other: in one line they would cover the plot.
        first, *others = shares.split(", ")
        lines += [("before it", first), *(("", other) for other in others)]
    lines += [
        (name, format_duration(time_ns))
        for name, time_ns in times_ns.items()
        if name not in unknown
    ]
    if frame.cut_ns:
        lines.append(("cut from delta", format_duration(frame.cut_ns)))
    lines += [
        (f"· {phase.text}", format_duration(frame.phases[phase]))
        for phase in Phase
        if frame.phases[phase]
    ]
    return tuple(lines)


def chosen_text(history: FrameHistory, start: int, stop: int) -> str:
    """Return how many frames a range has and how much session time passes in it."""
    first = history.at_ns[start - history.first]
    last = history.at_ns[stop - 1 - history.first]
    frames = "1 frame" if stop - start == 1 else f"{stop - start:,} frames"
    if stop - start == 1:
        return f"{frames} · {format_instant(first)}"
    return f"{frames} · {format_duration(last - first)}"


def _marked_rects(series: FrameSeries, marked: NDArray[np.int64], window: Window) -> PixelRects:
    """Return the columns that have a frame of ``marked`` (ascending), a pixel wide at least."""
    columns = series.columns(window)
    if not len(columns):
        return np.zeros((0, 4), dtype=np.int32)
    has_any = np.diff(np.searchsorted(marked, columns.edges)) > 0
    lefts, rights = columns.lefts[has_any], columns.rights[has_any]
    return row_rects(lefts, 0, np.maximum(rights, lefts + 1), window.height)


def _paint_marked(painter: QPainter, rects: PixelRects, theme: Theme) -> None:
    """Shade columns, with a head that stands out where they are a pixel wide."""
    color = QColor(theme.color(ColorRole.BLUE))
    heads = rects.copy()
    heads[:, 3] = _HEAD - 1
    fill_rects(painter, heads, color)
    color.setAlphaF(_SHADE)
    fill_rects(painter, rects, color)
