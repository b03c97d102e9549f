"""The frames of a session as they are drawn, and how the view of them is moved."""

from collections.abc import Iterable
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.events.timeline import Timeline
from inspector.formats.arrangement.frame_bars import scale_ticks
from inspector.formats.arrangement.frame_series import FrameSeries, XAxis
from inspector.timebase import NS_PER_SECOND, format_duration
from inspector.tokens import size_by_height, size_by_width
from inspector.vocabulary import Measure, Phase

from ..kit.fonts import small_font, text_scale
from ..kit.guards import guarded
from ..kit.theme import ColorRole, Theme
from ..plotting.shared_view import SharedView
from .bars_layer import LABEL_BAND, BarsLayer
from .duration_scale import DEFAULT_BUDGET_NS, DurationScale
from .overlay_layer import FramePointer, Lasting, OverlayLayer, Readout

RUNNING_TEXT: Final = "No frame has run yet."
EMPTY_TEXT: Final = f"{RUNNING_TEXT} Space runs the scene."
NONE_IN_FILE_TEXT: Final = "This {} holds no frames."
NONE_SEEN_TEXT: Final = "No frames have been seen in this program."
NO_SCENE_TEXT: Final = "No scene is open."
_RECENT_FRAMES: Final = 600
#: Width in pixels of the durations alone.
_SCALE_WIDTH: Final = 64
#: Room to the right of the labels of durations, and beside changed columns for the line at present.
_LABEL_PAD: Final = 7
_LINE_ROOM: Final = 4


@guarded
class PlottedFrames(QWidget):
    """Draws the frames of a timeline; what people do with it is in :class:`.FramePlot`."""

    #: The frame under the pointer.
    frame_hovered = Signal(object)  # int | None
    #: A frame was clicked.
    frame_clicked = Signal(int)
    #: New frames are in view or beyond it.
    frames_added = Signal()
    #: The playhead was put somewhere: an instant of session time in nanoseconds.
    playhead_moved = Signal(object)  # int
    #: The right button asks for a menu at a place of the screen.
    menu_requested = Signal(object)  # QPoint

    def __init__(
        self, theme: Theme, parent: QWidget | None = None, view: SharedView | None = None
    ) -> None:
        """Show the frames of a view, by default of one that is not shared."""
        super().__init__(parent)
        # Which part of them is in view, and what is marked; shared with other plots
        self.view = view or SharedView(self)
        self._theme = theme
        self._empty_text = NO_SCENE_TEXT
        self._shown_axis = XAxis.FRAME
        self._shown_end = self._present_ns = 0
        # Since the last move: the upper edge of all bars, and where the line at the present was
        self._highest = self._line_at = 0
        self._is_settled = False
        self._scale = DurationScale()
        self._selected_frame: int | None = None
        self._bars = BarsLayer(theme)
        self._overlay = OverlayLayer(theme, self.view)
        self._pointer = FramePointer(self._bars, self._overlay)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Frames")
        # It paints all of its area, so that Qt need not paint what is below.
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._fit()
        self.set_measure("interval")
        self.set_budgets_ns((DEFAULT_BUDGET_NS,))
        self.apply_theme()
        view = self.view
        view.margins_changed.connect(self._align)
        view.timeline_changed.connect(self._on_timeline_changed)
        view.moved.connect(self._follow_view)
        view.hover_moved.connect(self._repaint)
        view.playhead_shown.connect(self._repaint)
        view.range_chosen.connect(self._on_chosen_changed)
        self._on_timeline_changed(goes_on=False)
        self._follow_view()

    # -------------------------------------------------------------- what is drawn

    @property
    def measure(self) -> Measure:
        return self._bars.measure

    @property
    def series(self) -> FrameSeries | None:
        return self.view.series

    @property
    def budgets_ns(self) -> tuple[int, ...]:
        """The budget lines; bars are coloured by the first."""
        return self._bars.budgets_ns

    @property
    def top_ns(self) -> int:
        return self._scale.top_ns

    def set_timeline(self, timeline: Timeline | None, empty_text: str = EMPTY_TEXT) -> None:
        """Show the frames of another timeline, ``None`` for no scene; without any, a text."""
        self._empty_text = empty_text
        self.view.set_timeline(timeline)

    def set_empty_text(self, text: str) -> None:
        if text != self._empty_text:
            self._empty_text = text
            self.refresh(is_forced=True)

    @Slot(bool)
    def _on_timeline_changed(self, goes_on: bool) -> None:  # noqa: FBT001 - a slot
        self._bars.series = self.series
        if not goes_on:
            self._overlay.readout = self._selected_frame = None
            self._overlay.series = self._overlay.marked = None
            self._scale.forget()
        self.refresh(is_forced=True)

    def leave_out(self, unknown: frozenset[str]) -> None:
        """Say nothing of some of the frames' times where they are read, as they are not known."""
        self._pointer.unknown = unknown

    def set_holds(self, holds: list[int]) -> None:
        left = int(self.area().left())
        placed = [x + left for x in holds]
        if placed != self._overlay.holds:
            self._overlay.holds = placed
            self.update()

    def set_measure(self, measure: Measure) -> None:
        self._bars.measure = measure
        self.view.set_measure(measure)
        self._scale.forget()
        self.refresh(is_forced=True)

    def set_stacked(self, is_stacked: bool) -> None:  # noqa: FBT001 - follows a toggle
        self._bars.is_stacked = is_stacked
        self.refresh(is_forced=True)

    def set_budgets_ns(self, budgets_ns: tuple[int, ...]) -> None:
        self._bars.budgets_ns = budgets_ns
        self._leave_room()
        self._scale.forget()
        self.refresh(is_forced=True)

    def start_scale_at(self, budgets: int) -> None:
        """Let the scale of durations reach up to at least this many budgets."""
        if budgets != self._scale.least:
            self._scale.least = budgets
            self.choose_scale()

    def apply_theme(self) -> None:
        self._bars.use_font(small_font(self))
        self._leave_room()
        self.update()

    def refresh(self, *, is_forced: bool = False) -> None:
        """Draw what is new; if nothing is, draw only if ``is_forced``."""
        self._is_settled = False
        self.view.read_new_frames()
        self._overlay.lasting = self._lasting()
        view = self.view
        end = 0 if view.series is None else view.series.end
        has_news, self._shown_end = end != self._shown_end, end
        if is_forced or (has_news and not self._is_settled):
            self._settle(is_forced=is_forced)
        elif view.present_ns != self._present_ns and not self._is_settled:
            # The view stays, but the line at the present moves on.
            self.update(self._bars.area.toAlignedRect())
        self._present_ns = view.present_ns
        if has_news or is_forced:
            self.frames_added.emit()

    def _lasting(self) -> Lasting | None:
        """Return the frame of a program that has not ended, once it is over twice its budget."""
        timeline = self.view.timeline
        if timeline is None or not timeline.is_running or not timeline.is_of_programs:
            return None
        if self.view.x_axis is not XAxis.TIME:
            return None
        since_ns = timeline.lasts_since_ns
        if since_ns is None or timeline.frames_of not in timeline.clocks:
            return None
        took_ns = timeline.at_ns - since_ns
        if took_ns <= FrameBudget(self._budget_ns).longest_missing_one_ns or any(
            clock.n == 0 for clock in timeline.path(timeline.frames_of)
        ):
            # A loop that stands still or has ended is not at work on a frame.
            return None
        low, high = since_ns / NS_PER_SECOND, timeline.at_ns / NS_PER_SECOND
        text = f"{format_duration(took_ns)} so far"
        return Lasting(low, high, took_ns, self.top_ns, self._budget_ns, text)

    def used_phases(self) -> tuple[Phase, ...]:
        """Return the phases in which recent frames spent time; all before there are any."""
        series = self.series
        if series is None or series.first == series.end:
            return tuple(Phase)
        recent = max(series.first, series.end - _RECENT_FRAMES), series.end
        used = tuple(phase for phase in Phase if series.history.numpy(phase, *recent).any())
        return used or tuple(Phase)

    def set_marked(self, frames: NDArray[np.int64] | None) -> None:
        self._overlay.series, self._overlay.marked = self.series, frames
        self.update()

    def select_frame(self, frame: int | None) -> None:
        self._selected_frame = frame
        self._overlay.set_selected(self.series, frame)
        self.update()

    def readout(self) -> Readout | None:
        return self._overlay.readout

    # -------------------------------------------------------------- pointing

    @property
    def header_width(self) -> int:
        unit = text_scale(self)
        if not self.view.has_headers:
            return round(_SCALE_WIDTH * unit)
        usual = size_by_width("lane_headers", self.window().width() / unit)
        return self.view.left or round(usual * unit)

    def area(self) -> QRectF:
        return QRectF(self._bars.area)

    def x_at(self, place: QPointF) -> float:
        area = self.area()
        share = (place.x() - area.left()) / max(area.width(), 1.0)
        shown = self.view.range
        return shown.low + min(max(share, 0.0), 1.0) * shown.span

    def point_at(self, place: QPointF | None) -> None:
        """Read the frame at a place of this widget, until the pointer is elsewhere."""
        was_away, former = self._pointer.place is None, self._pointer.frame
        read = self._overlay.readout
        middle = self._pointer.point_at(place, self.area(), self.series)
        if place is not None or not was_away:
            self.view.point_at(middle)
        if self._overlay.readout != read:
            self.update()
        if self._pointer.frame != former:
            self.frame_hovered.emit(self._pointer.frame)

    def scale_durations(self, factor: float) -> None:
        self._scale.multiply(factor)
        self._settle(is_forced=False)

    def choose_scale(self) -> None:
        self._scale.forget()
        self._settle(is_forced=False)

    def go_to(self, frame: int) -> None:
        series = self.series
        if series is None or not series.first <= frame < series.end:
            return
        start, stop = self.view.visible_frames()
        if start <= frame < stop:
            # In a following view, new frames would push it out of sight.
            self.view.set_following(False)
        else:
            self.view.slide_to(series.start_of(frame))
        self.frame_clicked.emit(frame)

    def go_to_long(self, step: int, *, is_twice: bool = False) -> None:
        """Go to the next (``step`` 1) or the previous (-1) frame over budget, or over twice.

        From the selected frame on, else from the edge of the view; beyond the last comes the first.
        """
        series = self.series
        if series is None or not self.budgets_ns:
            return
        found = self._bars.long_frames(is_twice=is_twice)
        if not len(found):
            return
        start, stop = self.view.visible_frames()
        origin = self._selected_frame
        if origin is None:
            origin = start - 1 if step > 0 else stop
        if step > 0:
            place = int(np.searchsorted(found, origin, side="right")) % len(found)
        else:
            place = int(np.searchsorted(found, origin)) - 1
        self.go_to(int(found[place]))

    def click_neighbour(self, step: int) -> None:
        """Click the frame ``step`` frames behind the selected one, or the newest in view."""
        series = self.series
        if series is None or series.first == series.end:
            return
        frame = self.view.visible_frames()[1] - 1
        if self._selected_frame is not None:
            frame = min(max(self._selected_frame + step, series.first), series.end - 1)
        self.go_to(frame)

    @override
    def minimumSizeHint(self) -> QSize:
        unit = text_scale(self)
        least = size_by_height("least_frames", self.window().height() / unit)
        return QSize(120, round(least * unit))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
        self._settle(is_forced=False)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        exposed, area = event.rect(), self._bars.area
        # By a context manager: a painter that outlives its event crashes Qt.
        with QPainter(self) as painter:
            if self.devicePixelRatioF() != self._bars.ratio:
                self._fit()
            painter.setFont(self._bars.font)
            if exposed.left() < area.left():
                self._paint_scale(painter)
            if area.intersects(exposed):
                # The stubs do not say that a region can be iterated.
                self._bars.paint(painter, cast("Iterable[QRect]", event.region()))
                self._overlay.paint(painter, area)
                # Last, over the veil: names belong to the axis, not to the time that is veiled.
                self._bars.paint_names(painter)

    def _paint_scale(self, painter: QPainter) -> None:
        area, theme = self._bars.area, self._theme
        painter.fillRect(QRectF(0, 0, area.left(), self.height()), theme.color(ColorRole.PANEL))
        painter.fillRect(QRectF(area.left() - 1, 0, 1, self.height()), theme.color(ColorRole.LINE))
        painter.setPen(theme.color(ColorRole.MUTED))
        ticks = scale_ticks(self.top_ns, self._budget_ns, area.height())
        line = QFontMetricsF(self._bars.font).height()
        above = 0.0
        for tick in reversed(ticks.ticks[1:]):
            y = area.height() * (1 - tick.value_ns / self.top_ns)
            is_last = tick is ticks.ticks[-1]
            top = min(max(y - line / 2, 4.0), area.height() - line)
            if top < above:
                # This label has no room below the last one.
                continue
            above = top + line
            text = f"{tick.label} {ticks.unit}" if is_last else tick.label
            box = QRectF(0, top, area.left() - _LABEL_PAD, line)
            painter.drawText(
                *(box, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), text)
            )

    # -------------------------------------------------------------- inside

    @property
    def _budget_ns(self) -> int:
        return self.budgets_ns[0] if self.budgets_ns else DEFAULT_BUDGET_NS

    def _fit(self) -> None:
        left = min(self.header_width, max(self.width() - 1, 0))
        self.view.plots_left = left
        width, height = max(self.width() - left, 1), max(self.height(), 1)
        # Where frames are: the left edge, how wide and how high
        self._place = left, width, height
        self._bars.place(QRectF(left, 0, width, height), self.devicePixelRatioF())
        self.view.set_pixels(self._bars.width)
        self._leave_room()

    def _leave_room(self) -> None:
        self.view.leave_room_for_names(self._bars.names_share())

    @Slot()
    def _align(self) -> None:
        if self.isHidden():
            # Only the lanes are shown.
            self.view.plots_left = 0
            return
        self._fit()
        self._settle(is_forced=False)
        self.update()

    @Slot()
    def _follow_view(self) -> None:
        if self.view.x_axis is not self._shown_axis:
            self._shown_axis = self.view.x_axis
            self._bars.picture.forget()
        self._settle(is_forced=False)

    @Slot()
    def _repaint(self) -> None:
        self.update()

    @Slot(object)
    def _on_chosen_changed(self, _frames: tuple[int, int] | None) -> None:
        self._overlay.refresh_chosen()
        self.update()

    def _line(self) -> int:
        """Return the pixel of the line at the present."""
        (left, width, _), shown, present = self._place, self.view.range, self.view.present
        place = shown.low if present is None else present
        return round(left + (place - shown.low) * width / (shown.high - shown.low))

    def _settle(self, *, is_forced: bool = True) -> None:
        self._is_settled = True
        shown, series, bars = self.view.range, self.series, self._bars
        said = self._overlay.empty_text
        if series is None:
            self._overlay.empty_text = NO_SCENE_TEXT
            frames = 0, 0
        else:
            self._overlay.empty_text = self._empty_text if series.first == series.end else ""
            frames = series.frames_within(shown.low, shown.high)
            self._scale.settle(series, self.measure, frames, self._budget_ns)
        is_other_scale = bars.top_ns != self._scale.top_ns
        is_moved = is_forced or is_other_scale or bars.span != (shown.low, shown.high)
        bars.span, bars.top_ns = (shown.low, shown.high), self._scale.top_ns
        if is_forced:
            bars.picture.forget()
        if is_forced or (is_moved and self._selected_frame is not None):
            self._overlay.set_selected(series, self._selected_frame)
        if is_forced:
            self._overlay.refresh_chosen()
        has_scale = is_forced or is_other_scale or self._overlay.empty_text != said
        self._update_changed(bars.highest(*frames), is_moved=is_moved, has_scale=has_scale)
        if self._pointer.place is not None:
            self.point_at(self._pointer.place)

    def _update_changed(self, highest: int, *, is_moved: bool, has_scale: bool) -> None:
        (begin, width, height), line, former = self._place, self._line(), self._line_at
        self._bars.line = line if self.view.present is not None else -1.0
        top, left = min(highest, self._highest), min(line, former) - _LINE_ROOM
        right = max(line, former) + _LINE_ROOM
        self._highest, self._line_at = (highest, line) if is_moved else (top, self._line_at)
        if has_scale:
            self.update()
        elif self.view.playhead_ns is not None or (is_moved and self._overlay.has_any):
            self.update(begin, 0, width, height)
        elif is_moved:
            # Above the highest bar nothing changes but the line at the present.
            self.update(begin, top, width, height - top)
            if line != former:
                self.update(left, 0, right - left, height)
        else:
            changed, has_values = self._bars.bring_up_to_date()
            if not changed.isEmpty():
                part = changed.adjusted(-_LINE_ROOM, 0, _LINE_ROOM, 0)
                self.update(part.intersected(self._bars.area).toAlignedRect())
            if has_values:
                self.update(begin, 0, width, LABEL_BAND)
