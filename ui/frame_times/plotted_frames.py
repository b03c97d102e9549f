"""The frames of a session as they are drawn, and how the view of them is moved."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QFont,
    QHelpEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget
from typing_extensions import override

from inspector.display_text import as_plain
from inspector.events.annotations import Annotation
from inspector.events.timeline import Timeline
from inspector.formats.frame_times import Measure
from inspector.timebase import NS_PER_SECOND
from inspector.vocabulary import Phase

from ..kit.guards import guarded
from ..kit.theme import ColorRole, Theme
from ..plotting.frame_series import FrameSeries, XAxis
from ..plotting.frame_view import FrameView, ViewMode
from .frame_axis import DEFAULT_BUDGET_NS, DurationScale
from .frame_canvas import FrameCanvas
from .frame_overlay_item import MARK_BAND, FramePointer, Readout
from .timeline_marks import TimelineMarks

EMPTY_TEXT: Final = "No frames yet – press Space to run"
NONE_RECORDED_TEXT: Final = "This recording holds no frames"
NO_SCENE_TEXT: Final = "No scene is open."
MEASURE_NAMES: Final[dict[Measure, str]] = {
    "interval": "frame interval",
    "busy": "busy time",
    "delta": "frame delta",
}

_RECENT_FRAMES: Final = 600
_LEAST_HEIGHT: Final = 90
_LEAST_POINTS: Final = 7.0
_SMALLER: Final = 0.9
#: A playhead that leaves the view by less than this share of it takes the view along.
_NEAR_EDGE: Final = 0.1


@guarded
class PlottedFrames(pg.GraphicsView):
    """Draws the frames of a timeline; what people do with it is in :class:`.FramePlot`.

    Attributes:
        series: The frames, ``None`` without a timeline.
        view: Which part of them is in view.
        is_scrubbing: Whether the playhead is being dragged.
    """

    _is_made = False

    #: The frame under the pointer.
    frame_hovered = Signal(object)  # int | None
    #: A frame was clicked.
    frame_clicked = Signal(int)
    #: Another part is in view, or something else of it is shown.
    view_changed = Signal()
    #: New frames are in view or beyond it; a view that follows has moved with them.
    frames_added = Signal()
    #: A range of frames was chosen or given up.
    range_chosen = Signal(object)  # tuple[int, int] | None
    #: The view began or ceased to follow the newest frame.
    following_changed = Signal(bool)
    #: The playhead was put somewhere: an instant of session time in nanoseconds.
    playhead_moved = Signal(object)  # int
    #: The newest frame is to be followed, and the present shown.
    live_requested = Signal()
    #: The right button asks for a menu at a place of the screen.
    menu_requested = Signal(object)  # QPoint

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Show the empty plot."""
        super().__init__(parent, background=None)
        self.series: FrameSeries | None = None
        self.view = FrameView()
        self.is_scrubbing = False
        self._theme = theme
        self._marks: TimelineMarks | None = None
        self._empty_text = EMPTY_TEXT
        self._x_axis = XAxis.FRAME
        self._scale = DurationScale()
        self._selected_frame: int | None = None
        self._playhead_ns: int | None = None
        self._chosen: tuple[int, int] | None = None
        self._canvas = FrameCanvas(theme)
        self._bars, self._overlay = self._canvas.bars, self._canvas.overlay
        self._pointer = FramePointer(self._bars, self._overlay)
        self.setCentralItem(self._canvas.widget)
        self._is_made = True
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(_LEAST_HEIGHT)
        self.setAccessibleName("Frame times")
        # All of it is painted, so nothing below it needs to be.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.set_measure("interval")
        self.set_budgets_ns((DEFAULT_BUDGET_NS,))
        self.apply_theme()

    # -------------------------------------------------------------- what is drawn

    @property
    def measure(self) -> Measure:
        """Which of the frames' times is shown."""
        return self._bars.measure

    @property
    def x_axis(self) -> XAxis:
        """What the horizontal axis counts."""
        return self._x_axis

    @property
    def is_following(self) -> bool:
        """Whether the newest frame is kept in view at the present span."""
        return self.view.mode is ViewMode.FOLLOW

    @property
    def budgets_ns(self) -> tuple[int, ...]:
        """The budget lines; bars are coloured by the first."""
        return self._bars.budgets_ns

    @property
    def top_ns(self) -> int:
        """The frame time at the upper edge."""
        return self._scale.top_ns

    def set_timeline(self, timeline: Timeline | None, *, is_recorded: bool = False) -> None:
        """Show another timeline's frames, from its newest.

        One of the same frames and more, or less after a rewind, is shown at the same place.

        Args:
            timeline: The timeline, ``None`` for no scene.
            is_recorded: Whether it is as long as it is, so that no frame can come.
        """
        self._empty_text = NONE_RECORDED_TEXT if is_recorded else EMPTY_TEXT
        former = self.series
        self.series = None if timeline is None else FrameSeries(timeline.frames, self._x_axis)
        self._marks = None if timeline is None else TimelineMarks(timeline)
        self._bars.series = self.series
        is_same = former is not None and self.series is not None and self.series.shares(former)
        if is_same and self.series is not None and self._chosen is not None:
            start, stop = (min(edge, self.series.end) for edge in self._chosen)
            self.choose_frames((start, stop) if stop > start else None)
        if not is_same:
            self._overlay.hover = self._overlay.readout = None
            self._overlay.show_marked(None, None)
            self._selected_frame = self._playhead_ns = None
            self.choose_frames(None)
            self._scale.forget()
            self.view = FrameView()
            self.view.start_following(self._x_axis)
            if former is not None:
                self.following_changed.emit(True)
        self.refresh(is_forced=True)

    def name_time(self, name: str) -> None:
        """Say what time along the horizontal axis is called."""
        self._canvas.name_time(name)

    def show_annotations(self, annotations: Sequence[Annotation]) -> None:
        """Show bookmarks, notes and named ranges above the frames, the earliest first."""
        if self._marks is not None:
            self._marks.show_annotations(annotations)
            self._place_marks()

    def set_measure(self, measure: Measure) -> None:
        """Show another of the frames' times."""
        self._bars.measure = measure
        self._canvas.name_durations(MEASURE_NAMES[measure])
        self._scale.forget()
        self.refresh(is_forced=True)

    def set_stacked(self, is_stacked: bool) -> None:  # noqa: FBT001 - follows a toggle
        """Show the phases of frames, or how they compare with the budget."""
        self._bars.is_stacked = is_stacked
        self.refresh(is_forced=True)

    def set_budgets_ns(self, budgets_ns: tuple[int, ...]) -> None:
        """Draw budget lines; bars are coloured by the first."""
        self._canvas.name_budgets(budgets_ns)
        self._scale.forget()
        self.refresh(is_forced=True)

    def set_x_axis(self, x_axis: XAxis) -> None:
        """Count frames or session time along the horizontal axis, with the same frames in view."""
        if x_axis is self._x_axis:
            return
        start, stop = self.visible_frames()
        self._x_axis = x_axis
        self._canvas.name_span(x_axis)
        mode = self.view.mode
        self.view = FrameView()
        self.view.start_following(x_axis)
        if self.series is not None:
            self.series.x_axis = x_axis
            if stop > start:
                low, high = self.series.start_of(start), self.series.start_of(stop)
                if mode is ViewMode.FOLLOW:
                    self.view.start_following(x_axis, max(high - low, self.view.span / 20))
                else:
                    self.view.show(low, high, self.series)
                    self.view.mode = mode
        self.refresh(is_forced=True)

    def apply_theme(self) -> None:
        """Take colours and font anew."""
        self.setBackground(self._theme.color(ColorRole.BACKGROUND))
        font = QFont(self.font())
        font.setPointSizeF(max(_LEAST_POINTS, font.pointSizeF() * _SMALLER))
        self._canvas.apply_theme(font)

    def refresh(self, *, is_forced: bool = False) -> None:
        """Take in what is new and draw it; without anything new nothing is drawn.

        Args:
            is_forced: Draw anyway, because something else has changed.
        """
        series = self.series
        added = series.take_new_frames() if series is not None else 0
        marks = self._marks.take_new() if self._marks is not None else 0
        if is_forced:
            self._settle(is_forced=True)
            self.view_changed.emit()
        elif added:
            self._settle(is_forced=False)
            self.frames_added.emit()
        elif marks:
            self._place_marks()

    def used_phases(self) -> tuple[Phase, ...]:
        """Return the phases in which recent frames spent time; all before there are any."""
        series = self.series
        if series is None or series.first == series.end:
            return tuple(Phase)
        recent = max(series.first, series.end - _RECENT_FRAMES), series.end
        used = tuple(phase for phase in Phase if series.history.numpy(phase, *recent).any())
        return used or tuple(Phase)

    # -------------------------------------------------------------- moving about

    def fit(self) -> None:
        """Show everything, also what is still to come."""
        self._move(lambda: setattr(self.view, "mode", ViewMode.FIT))

    def fit_chosen(self) -> None:
        """Show the chosen range; everything if there is none or it is in view already."""
        if self._chosen is None or self.visible_frames() == self._chosen:
            self.fit()
        else:
            self.show_frames(*self._chosen)

    def show_span(self, low: float, high: float) -> None:
        """Show a part of the axis; stops following."""
        series = self.series
        if series is not None:
            self._move(lambda: self.view.show(low, high, series))

    def show_frames(self, start: int, stop: int) -> None:
        """Show the frames ``start`` to ``stop - 1``; stops following."""
        series = self.series
        if series is not None and stop > start:
            low, high = series.start_of(start), series.start_of(stop)
            self._move(lambda: self.view.show(low, high, series))

    def set_following(self, is_following: bool) -> None:  # noqa: FBT001 - follows a toggle
        """Keep the newest frame in view from now on, or stay here."""
        if is_following == self.is_following:
            return
        if not is_following:
            self._move(lambda: setattr(self.view, "mode", ViewMode.FREE))
            return
        first, last = self.series.bounds() if self.series is not None else (0.0, 0.0)
        usual = FrameView()
        usual.start_following(self._x_axis)
        # Where little is in view, that much goes on; "everything" is not followed.
        is_part = self.view.mode is ViewMode.FREE and self.view.span < 0.9 * (last - first)
        span = self.view.span if is_part else usual.span
        self._move(lambda: self.view.start_following(self._x_axis, span))

    def zoom(self, factor: float, about: float | None = None) -> None:
        """Show ``factor`` times as much, keeping a place of the axis (the middle) where it is."""
        series = self.series
        if series is not None:
            place = (self.view.low + self.view.high) / 2 if about is None else about
            self._move(lambda: self.view.zoom(factor, place, series))

    def pan(self, share: float) -> None:
        """Move by a share of what is in view; stops following."""
        series = self.series
        if series is not None:
            self._move(lambda: self.view.pan(share * self.view.span, series))

    # -------------------------------------------------------------- frames in view

    def visible_frames(self) -> tuple[int, int]:
        """Return the first frame in view and the one behind the last."""
        if self.series is None:
            return 0, 0
        # A frame that only touches the edge is not in view.
        tiny = 1e-9 * max(1.0, abs(self.view.high))
        return self.series.frames_within(self.view.low + tiny, self.view.high - tiny)

    def chosen_frames(self) -> tuple[int, int] | None:
        """Return the chosen range of frames, ``None`` without one."""
        return self._chosen

    def choose_frames(self, frames: tuple[int, int] | None) -> None:
        """Choose a range of frames, or none."""
        if frames != self._chosen:
            self._chosen = frames
            self._overlay.show_chosen(self.series, frames)
            self.range_chosen.emit(frames)

    def show_marked(self, frames: NDArray[np.int64] | None) -> None:
        """Show the frames that another panel marks, by their ascending numbers, or none."""
        self._overlay.show_marked(self.series, frames)

    def select_frame(self, frame: int | None) -> None:
        """Show which frame is selected."""
        self._selected_frame = frame
        self._overlay.show_selected(self.series, frame)

    def show_hover_ns(self, at_ns: int | None) -> None:
        """Show the instant that is pointed at elsewhere."""
        series = self.series
        if self._overlay.readout is not None and at_ns is not None:
            return
        self._overlay.hover = None if at_ns is None or series is None else series.x_of_ns(at_ns)
        self._overlay.update()

    @property
    def playhead_ns(self) -> int | None:
        """Where the playhead is drawn, ``None`` for nowhere."""
        return self._playhead_ns

    def show_playhead_ns(self, at_ns: int | None) -> None:
        """Draw the playhead at an instant, and have it in view; ``None`` for nowhere."""
        self._playhead_ns = at_ns
        self._overlay.show_playhead(self.series, at_ns)
        x, view = self._overlay.playhead, self.view
        if x is None or self.is_scrubbing or view.low <= x <= view.high:
            return
        # From outside into the middle; from the edge on only as far as is needed.
        edge = view.low if x < view.low else view.high
        is_near = abs(x - edge) < _NEAR_EDGE * view.span
        wanted = x - edge if is_near else x - (view.low + view.high) / 2
        self.pan(wanted / view.span)

    def ns_at(self, place: QPointF) -> int | None:
        """Return the instant at a place of this widget: of the frame there if frames count."""
        series = self.series
        if series is None or series.first == series.end:
            return None
        x = self.x_at(place)
        if self._x_axis is XAxis.TIME:
            return max(0, round(x * NS_PER_SECOND))
        frame = min(max(round(x), series.first), series.end - 1)
        return series.history.frame(frame).at_ns

    def readout(self) -> Readout | None:
        """Return what is said of the frame under the pointer."""
        return self._overlay.readout

    def pixel_of_frame(self, frame: int) -> QPointF:
        """Return the middle of a frame's foot in the coordinates of this widget."""
        assert self.series is not None, "without frames no frame has a place"
        start, end = self.series.start_of(frame), self.series.start_of(frame + 1)
        share = ((start + end) / 2 - self.view.low) / self.view.span
        area = self.area()
        return QPointF(area.x() + share * area.width(), area.bottom() - 2)

    # -------------------------------------------------------------- pointing

    def area(self) -> QRectF:
        """Return where the frames are, in the coordinates of this widget."""
        return self._canvas.area()

    def x_at(self, place: QPointF) -> float:
        """Return the place on the axis at a place of this widget, the nearest in view."""
        area = self.area()
        share = (place.x() - area.left()) / max(area.width(), 1.0)
        return self.view.low + min(max(share, 0.0), 1.0) * self.view.span

    def point_at(self, place: QPointF | None) -> None:
        """Read the frame at a place of this widget, until the pointer is elsewhere."""
        if self._pointer.point_at(place, self.area(), self.series):
            self.frame_hovered.emit(self._pointer.frame)

    def mark_text_at(self, place: QPointF) -> str:
        """Return what the sign above the plot at a place says, empty if there is none."""
        area = self.area()
        if self._marks is None or not area.top() - MARK_BAND - 2 <= place.y() < area.top() + 2:
            return ""
        return self._overlay.mark_text_at(place.x() - area.left(), self._marks)

    def scale_durations(self, factor: float) -> None:
        """Show ``factor`` times as much of the durations, whatever frames come."""
        self._scale.multiply(factor)
        self._settle(is_forced=False)

    def choose_scale(self) -> None:
        """Let the plot choose how much of the durations it shows."""
        self._scale.forget()
        self._settle(is_forced=False)

    def click_neighbour(self, step: int) -> None:
        """Click the frame ``step`` frames behind the selected one, or the newest in view."""
        series = self.series
        if series is None or series.first == series.end:
            return
        start, stop = self.visible_frames()
        frame = stop - 1
        if self._selected_frame is not None:
            frame = min(max(self._selected_frame + step, series.first), series.end - 1)
        if not start <= frame < stop:
            self.pan((series.start_of(frame) - self.view.low) / self.view.span - 0.5)
        self.frame_clicked.emit(frame)

    @override
    def close(self) -> bool:
        # The base class would take its scene and its viewport apart, and crash on the
        # next event for the viewport.
        return QWidget.close(self)

    @override
    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        # The base class resizes itself while it is being made.
        if self._is_made:
            self._settle(is_forced=False)

    @override
    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            said = self.mark_text_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), as_plain(said), self)
            return True
        return bool(super().viewportEvent(event))

    # -------------------------------------------------------------- inside

    def _settle(self, *, is_forced: bool = True) -> None:
        """Bring the picture in line with the view, the frames and the scale."""
        view, series = self.view, self.series
        budget_ns = self.budgets_ns[0] if self.budgets_ns else DEFAULT_BUDGET_NS
        if series is not None:
            view.settle(series, self._bars.pixels_per_view())
            self._scale.settle(series, self.measure, self.visible_frames(), budget_ns)
        is_moved = self._canvas.show_range(view.low, view.high, self._scale.top_ns)
        if series is None:
            self._overlay.empty_text = NO_SCENE_TEXT
        else:
            self._overlay.empty_text = self._empty_text if series.first == series.end else ""
        if is_forced:
            self._bars.picture.forget()
        self._bars.refresh()
        self._place_marks()
        if is_moved or is_forced:
            self._overlay.show_selected(series, self._selected_frame)
            self._overlay.show_chosen(series, self._chosen)
            self._overlay.show_playhead(series, self._playhead_ns)
        if self._pointer.place is not None:
            self.point_at(self._pointer.place)

    def _move(self, change: Callable[[], None]) -> None:
        was_following = self.is_following
        change()
        self._settle(is_forced=False)
        self.view_changed.emit()
        if self.is_following != was_following:
            self.following_changed.emit(self.is_following)

    def _place_marks(self) -> None:
        self._overlay.show_marks(self._marks, self.series, self.view, int(self.area().width()))
