"""The layer over the frames: selection, hover line, chosen range, playhead, readout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from inspector.analysis.interval_shares import named_shares, shares_text
from inspector.analysis.statistics.frame_budget import FrameBudget, budget_text
from inspector.display_text import counted
from inspector.events.frame_history import Frame, FrameHistory
from inspector.formats.arrangement.frame_bars import BarScale, lasting_bar
from inspector.formats.arrangement.frame_series import FrameSeries, Window
from inspector.formats.drawing.pixel_rects import PixelRects, pixel_rects
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import Measure, Phase, Share

from ..kit.theme import ColorRole, Theme
from ..plotting.bulk_paint import fill_rects
from ..plotting.readout import Line, paint_box, paint_playhead, paint_readout
from ..plotting.shared_view import SharedView
from ..plotting.sheet_painter import color_of

if TYPE_CHECKING:
    from .bars_layer import BarsLayer

_PAD: Final = 6
#: Height of the heads of frames that another panel marks, and the opacity of the shade below.
_HEAD: Final = 5
_SHADE: Final = 0.3
#: A selected frame narrower than this is shown as a line.
_NARROW: Final = 3
#: How far below the top of a frame that goes on its duration is written.
_TEXT_BELOW: Final = 12
#: The longest frame within this many pixels to either side of the pointer is read.
_REACH: Final = 8
#: Up to this many frames within reach are wide enough to be hit exactly.
_NARROW_FRAMES: Final = 3


class Readout(Struct, frozen=True):
    frame: int
    lines: tuple[Line, ...]  # Label and value of each line; the first label is the heading
    pointer: QPointF  # Where the pointer is in the plot


class Lasting(NamedTuple):
    """A frame that has not ended, although it is over twice its budget."""

    low: float  # Where it began on the axis
    high: float  # The present
    time_ns: int
    top_ns: int  # The duration at the upper edge of the plot
    budget_ns: int
    text: str  # How long it has taken so far


class OverlayLayer:
    """Painted over the bars, so that pointing at them does not compute them again."""

    def __init__(self, theme: Theme, view: SharedView) -> None:
        # Where the selected frame begins and ends on the axis
        self.selected: tuple[float, float] | None = None
        self.lasting: Lasting | None = None
        self.series: FrameSeries | None = None
        # Numbers of the frames that another panel marks, None for none
        self.marked: NDArray[np.int64] | None = None
        self.chosen_text = ""
        self.readout: Readout | None = None
        # Where session time stood still for a while, in pixels of the plot
        self.holds: list[int] = []
        self.empty_text = ""
        self._theme = theme
        self._view = view

    @property
    def has_any(self) -> bool:
        """Whether there is more than the line at the present."""
        view = self._view
        # Cheap tests first, as this is called in every refresh.
        if self.holds or self.empty_text or self.lasting is not None or self.marked is not None:
            return True
        is_bare = self.selected is None and self.readout is None
        return not is_bare or view.hover is not None or view.chosen_ns is not None

    def set_selected(self, series: FrameSeries | None, frame: int | None) -> None:
        self.selected = None
        if series is not None and frame is not None and series.first <= frame < series.end:
            self.selected = (series.start_of(frame), series.start_of(frame + 1))

    def refresh_chosen(self) -> None:
        frames, series = self._view.chosen_frames, self._view.series
        self.chosen_text = ""
        if frames is not None and series is not None:
            self.chosen_text = chosen_text(series.history, *frames)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        view = self._view
        painter.save()
        painter.setClipRect(area)
        low, left, wide = view.range.low, area.left(), area.width()
        scale = wide / view.range.span

        def x_of(place: float) -> float:
            return min(max(left + (place - low) * scale, left - 2.0), left + wide + 2.0)

        if self.empty_text:
            paint_playhead(painter, self._theme, area, view, x_of)
            painter.restore()
            flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
            # Cover the lines of budgets and of the instant shown, so that none crosses the text.
            place = painter.boundingRect(area, flags, self.empty_text)
            painter.fillRect(place.adjusted(-_PAD, 0, _PAD, 0), self._theme.color(ColorRole.BG))
            painter.setPen(self._theme.color(ColorRole.MUTED))
            painter.drawText(area, flags, self.empty_text)
            return
        self._draw_holds(painter, area)
        if self.lasting is not None:
            begin, end = round(x_of(self.lasting.low)), round(x_of(self.lasting.high))
            self._draw_lasting(painter, area, begin, max(end, begin + 1), self.lasting)
        if self.marked is not None and self.series is not None:
            self._draw_marked(painter, area, self.series, self.marked)
        if view.chosen_edges is not None:
            self._draw_chosen(painter, area, *map(x_of, view.chosen_edges))
        if self.selected is not None:
            self._draw_selected(painter, area, *map(x_of, self.selected))
        if view.hover is not None:
            painter.setPen(QPen(self._theme.color(ColorRole.TEXT), 1))
            x = round(x_of(view.hover)) + 0.5
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        paint_playhead(painter, self._theme, area, view, x_of)
        if self.readout is not None:
            paint_readout(painter, self.readout.lines, self.readout.pointer, area, self._theme)
        painter.restore()

    def _draw_holds(self, painter: QPainter, area: QRectF) -> None:
        if not self.holds:
            return
        pen = QPen(self._theme.color(ColorRole.HATCH), 1)
        pen.setDashPattern([2, 3])
        painter.setPen(pen)
        for x in self.holds:
            painter.drawLine(QPointF(x + 0.5, area.top()), QPointF(x + 0.5, area.bottom()))

    def _draw_lasting(
        self, painter: QPainter, area: QRectF, left: int, right: int, lasting: Lasting
    ) -> None:
        scale = BarScale(round(area.height()), lasting.top_ns, lasting.budget_ns)
        painter.save()
        painter.translate(0, area.top())
        # Drawn over the last frame, which is as wide as the one before it.
        for fill, rects in lasting_bar(left, right, lasting.time_ns, scale).layers:
            fill_rects(painter, rects, color_of(fill, self._theme))
        painter.restore()
        if painter.fontMetrics().horizontalAdvance(lasting.text) + 2 * _PAD <= right - left:
            painter.setPen(self._theme.color(ColorRole.TEXT))
            share = min(lasting.time_ns / lasting.top_ns, 1)
            top = area.top() + (1 - share) * area.height() + _TEXT_BELOW
            box = QRectF(left, top, right - left, area.height())
            flags = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop
            painter.drawText(box, int(flags), lasting.text)

    def _draw_marked(
        self, painter: QPainter, area: QRectF, series: FrameSeries, marked: NDArray[np.int64]
    ) -> None:
        """Shade frames, with a head that stands out where they are a pixel wide."""
        shown = self._view.range
        window = Window(shown.low, shown.high, max(int(area.width()), 1), int(area.height()))
        rects = _marked_rects(series, marked, window)
        rects[:, [0, 2]] += int(area.left())
        color = QColor(self._theme.color(ColorRole.BLUE))
        heads = rects.copy()
        heads[:, 3] = _HEAD - 1
        fill_rects(painter, heads, color)
        color.setAlphaF(_SHADE)
        fill_rects(painter, rects, color)

    def _draw_chosen(self, painter: QPainter, area: QRectF, left: float, right: float) -> None:
        shade = QColor(self._theme.color(ColorRole.BLUEBG))
        shade.setAlphaF(0.28)
        painter.fillRect(QRectF(left, area.top(), right - left, area.height()), shade)
        painter.setPen(QPen(self._theme.color(ColorRole.BLUE), 1))
        for x in (round(left) + 0.5, round(right) - 0.5):
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        if self.chosen_text and right > left:
            metrics = painter.fontMetrics()
            width = metrics.horizontalAdvance(self.chosen_text) + 2 * _PAD
            x = max(min((left + right - width) / 2, area.right() - width), area.left())
            box = QRectF(x, area.bottom() - metrics.height() - 6, width, metrics.height() + 2)
            paint_box(painter, box, self._theme)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), self.chosen_text)

    def _draw_selected(self, painter: QPainter, area: QRectF, left: float, right: float) -> None:
        if right < area.left() or left > area.right():
            return
        if right - left < _NARROW:
            left = right = (left + right) / 2
        color = self._theme.color(ColorRole.BLUE)
        painter.setPen(QPen(color, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        wide = round(right) - round(left) + 2
        painter.drawRect(QRectF(round(left) - 1.5, area.top() + 0.5, wide, area.height() - 1))
        # A foot and a head are visible even where the frame itself is a pixel wide.
        middle = round((left + right) / 2)
        painter.fillRect(QRectF(middle - 4, area.bottom() - 4, 8, 4), color)
        painter.fillRect(QRectF(middle - 4, area.top(), 8, 3), color)


class FramePointer:
    """Reads the slowest of the frames under the pointer, and shows it in the overlay."""

    def __init__(self, bars: BarsLayer, overlay: OverlayLayer) -> None:
        self._bars = bars
        self._overlay = overlay
        # Where the pointer is in the plot, None when it is elsewhere
        self.place: QPointF | None = None
        self.unknown: frozenset[str] = frozenset()  # Which of the frames' times are not known

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
        self._overlay.readout = readout
        return middle

    def _read(
        self, place: QPointF | None, area: QRectF, series: FrameSeries | None
    ) -> tuple[Readout, float] | None:
        """Return the readout at a place, and the middle of its frame on the axis."""
        if series is None or place is None or not area.left() <= place.x() <= area.right():
            return None
        bars, x = self._bars, place.x()
        frames = bars.frames_at(x)
        if frames is None:
            return None
        frame = series.slowest_within(bars.measure, *frames)
        nearest = self._longest_near(x, series)
        # If all frames near it are within their budget, the pointer means the one it is on.
        limit_ns = FrameBudget(bars.budgets_ns[0]).longest_ns if bars.budgets_ns else 0
        here_ns, longest_ns = (series.value_ns(bars.measure, each) for each in (frame, nearest))
        if longest_ns > max(here_ns, limit_ns):
            frame, frames = nearest, (nearest, nearest + 1)
        shared_by = frames[1] - frames[0]
        lines = frame_readout(
            *(series.history.frame(frame), bars.measure, shared_by, bars.budgets_ns, self.unknown)
        )
        middle = (series.start_of(frame) + series.start_of(frame + 1)) / 2
        return Readout(frame, lines, place), middle

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
) -> tuple[Line, ...]:
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
        if measure == "interval" and budget.is_over_because_of(
            frame.interval_ns, frame.shares[Share.INSPECTOR]
        ):
            over = ", by the inspector"
        share = f"{100 * shown_ns[measure] / budget.budget_ns:.0f} %{over}"
        lines.append((f"of {budget_text(budget.budget_ns)}", share))
    if shares := shares_text(named_shares(frame.shares, frame.interval_ns), most=3):
        # One below the other: in one line they would cover the plot.
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
    frames = counted(stop - start, "frame")
    if stop - start == 1:
        return f"{frames} · {format_instant(history.began_ns(start))}"
    lasted_ns = history.began_ns(stop - 1) - history.before_ns(start)
    return f"{frames} · {format_duration(lasted_ns)}"


def _marked_rects(series: FrameSeries, marked: NDArray[np.int64], window: Window) -> PixelRects:
    """Return the columns of the frames in ``marked`` (ascending), each at least a pixel wide."""
    columns = series.columns(window)
    if not len(columns):
        return np.zeros((0, 4), dtype=np.int32)
    has_any = np.diff(np.searchsorted(marked, columns.edges)) > 0
    lefts, rights = columns.lefts[has_any], columns.rights[has_any]
    return pixel_rects(lefts, 0, np.maximum(rights, lefts + 1), window.height)
