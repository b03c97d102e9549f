"""The frames of a session as they are drawn, and how the view of them is moved."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal, Slot
from PySide6.QtGui import (
    QFont,
    QHelpEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsScene,
    QGraphicsView,
    QSizePolicy,
    QToolTip,
    QWidget,
)
from typing_extensions import override

from inspector.display_text import as_plain
from inspector.events.annotations import Annotation
from inspector.events.timeline import Timeline
from inspector.vocabulary import Measure, Phase

from ..kit.guards import guarded
from ..kit.theme import ColorRole, Theme
from ..plotting.frame_series import FrameSeries, XAxis
from ..plotting.shared_view import SharedView
from .frame_axis import DEFAULT_BUDGET_NS, LEFT_WIDTH, SIGNS_HEIGHT, DurationScale
from .frame_canvas import FrameCanvas
from .frame_overlay_item import FramePointer, Readout
from .timeline_marks import TimelineMarks

EMPTY_TEXT: Final = "No frame has run yet. Space runs the scene."
NONE_IN_FILE_TEXT: Final = "This {} holds no frames"
NONE_SEEN_TEXT: Final = "No frames have been seen in this program"
NO_SCENE_TEXT: Final = "No scene is open."
MEASURE_NAMES: Final[dict[Measure, str]] = {
    "interval": "frame interval",
    "busy": "busy time",
    "delta": "frame delta",
}

#: Room for the headers where no lanes say how much there is.
USUAL_HEADER: Final = 248
_RECENT_FRAMES: Final = 600
_LEAST_HEIGHT: Final = 60
_LEAST_POINTS: Final = 7.0
_SMALLER: Final = 0.9


@guarded
class PlottedFrames(QGraphicsView):
    """Draws the frames of a timeline; what people do with it is in :class:`.FramePlot`.

    Attributes:
        view: Which part of them is in view, and what is marked; shared with other plots.
    """

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
        self.view = view or SharedView(self)
        self._theme = theme
        self._marks: TimelineMarks | None = None
        self._empty_text = NO_SCENE_TEXT
        self._shown_axis = XAxis.FRAME
        self._shown_end = 0
        self._is_settled = False
        self._scale = DurationScale()
        self._selected_frame: int | None = None
        self._canvas = FrameCanvas(theme)
        self._bars, self._overlay = self._canvas.bars, self._canvas.overlay
        self._pointer = FramePointer(self._bars, self._overlay)
        scene = QGraphicsScene(self)
        scene.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)
        scene.addItem(self._canvas.widget)
        self.setScene(scene)
        # Files that are dropped here are meant for the window.
        self.setAcceptDrops(False)
        self.viewport().setAcceptDrops(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(_LEAST_HEIGHT)
        self.setAccessibleName("Frame times")
        # All of it is painted, so nothing below it needs to be.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._fill()
        self.set_measure("interval")
        self.set_budgets_ns((DEFAULT_BUDGET_NS,))
        self.apply_theme()
        self.view.margins_changed.connect(self._align)
        self.view.timeline_changed.connect(self._take_timeline)
        self.view.moved.connect(self._follow_view)
        self.view.hover_moved.connect(self._show_hover)
        self.view.playhead_shown.connect(self._show_playhead)
        self.view.range_chosen.connect(self._show_chosen)
        self._take_timeline(goes_on=False)
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
        """Show another timeline's frames.

        Args:
            timeline: The timeline, ``None`` for no scene.
            empty_text: What to say while it has none.
        """
        self._empty_text = empty_text
        self.view.show_timeline(timeline)

    @Slot(bool)
    def _take_timeline(self, goes_on: bool) -> None:  # noqa: FBT001 - a slot
        timeline = self.view.timeline
        self._marks = None if timeline is None else TimelineMarks(timeline)
        self._bars.series = self.series
        if not goes_on:
            self._overlay.readout = self._selected_frame = None
            self._overlay.show_marked(None, None)
            self._scale.forget()
        self.refresh(is_forced=True)

    def name_time(self, name: str) -> None:
        self._canvas.name_time(name)

    def leave_out(self, unknown: frozenset[str]) -> None:
        """Say nothing of some of the frames' times where they are read, as they are not known."""
        self._pointer.unknown = unknown

    def show_annotations(self, annotations: Sequence[Annotation]) -> None:
        """Show bookmarks, notes and named ranges above the frames, the earliest first."""
        if self._marks is not None:
            self._marks.show_annotations(annotations)
            self._place_marks()

    def set_measure(self, measure: Measure) -> None:
        self._bars.measure = measure
        self.view.show_measure(measure)
        self._canvas.name_durations(MEASURE_NAMES[measure])
        self._scale.forget()
        self.refresh(is_forced=True)

    def set_stacked(self, is_stacked: bool) -> None:  # noqa: FBT001 - follows a toggle
        self._bars.is_stacked = is_stacked
        self.refresh(is_forced=True)

    def set_budgets_ns(self, budgets_ns: tuple[int, ...]) -> None:
        self._canvas.name_budgets(budgets_ns)
        self.view.leave_room(right=self._canvas.right_width)
        self._scale.forget()
        self.refresh(is_forced=True)

    def apply_theme(self) -> None:
        self.setBackgroundBrush(self._theme.color(ColorRole.BG))
        font = QFont(self.font())
        font.setPointSizeF(max(_LEAST_POINTS, font.pointSizeF() * _SMALLER))
        self._canvas.apply_theme(font)

    def refresh(self, *, is_forced: bool = False) -> None:
        """Take in what is new and draw it; without anything new nothing is drawn.

        Args:
            is_forced: Draw anyway, because something else has changed.
        """
        self.view.set_pixels(self._bars.pixels_per_view())
        # Another width has brought everything in line, but with the frames of before.
        self._is_settled = False
        self.view.take_news()
        marks = self._marks.take_new() if self._marks is not None else 0
        end = 0 if self.series is None else self.series.end
        has_news, self._shown_end = end != self._shown_end, end
        if is_forced or (has_news and not self._is_settled):
            self._settle(is_forced=is_forced)
        elif marks:
            self._place_marks()
        if has_news or is_forced:
            self.frames_added.emit()

    def used_phases(self) -> tuple[Phase, ...]:
        """Return the phases in which recent frames spent time; all before there are any."""
        series = self.series
        if series is None or series.first == series.end:
            return tuple(Phase)
        recent = max(series.first, series.end - _RECENT_FRAMES), series.end
        used = tuple(phase for phase in Phase if series.history.numpy(phase, *recent).any())
        return used or tuple(Phase)

    def show_marked(self, frames: NDArray[np.int64] | None) -> None:
        """Show the frames that another panel marks, by their ascending numbers, or none."""
        self._overlay.show_marked(self.series, frames)

    def select_frame(self, frame: int | None) -> None:
        self._selected_frame = frame
        self._overlay.show_selected(self.series, frame)

    def readout(self) -> Readout | None:
        return self._overlay.readout

    def pixel_of_frame(self, frame: int) -> QPointF:
        """Return the middle of a frame's foot in the coordinates of this widget."""
        assert self.series is not None, "without frames no frame has a place"
        start, end = self.series.start_of(frame), self.series.start_of(frame + 1)
        shown = self.view.range
        share = ((start + end) / 2 - shown.low) / shown.span
        area = self.area()
        return QPointF(area.x() + share * area.width(), area.bottom() - 2)

    # -------------------------------------------------------------- pointing

    @property
    def header_width(self) -> int:
        """How much room there is at the left of the frames."""
        return (self.view.left or USUAL_HEADER) if self.view.has_headers else LEFT_WIDTH

    def area(self) -> QRectF:
        """Return where the frames are, in the coordinates of this widget."""
        return self._canvas.area()

    def x_at(self, place: QPointF) -> float:
        """Return the place on the axis at a place of this widget, the nearest in view."""
        area = self.area()
        share = (place.x() - area.left()) / max(area.width(), 1.0)
        shown = self.view.range
        return shown.low + min(max(share, 0.0), 1.0) * shown.span

    def point_at(self, place: QPointF | None) -> None:
        """Read the frame at a place of this widget, until the pointer is elsewhere."""
        was_away, former = self._pointer.place is None, self._pointer.frame
        middle = self._pointer.point_at(place, self.area(), self.series)
        if place is not None or not was_away:
            self.view.point_at(middle)
        if self._pointer.frame != former:
            self.frame_hovered.emit(self._pointer.frame)

    def mark_text_at(self, place: QPointF) -> str:
        area = self.area()
        if self._marks is None or not area.top() - SIGNS_HEIGHT <= place.y() < area.top() + 2:
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

    def go_to(self, frame: int) -> None:
        """Select a frame, and have it in view."""
        series = self.series
        if series is None or not series.first <= frame < series.end:
            return
        start, stop = self.view.visible_frames()
        if not start <= frame < stop:
            shown = self.view.range
            self.view.pan((series.start_of(frame) - shown.low) / shown.span - 0.5)
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
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fill()
        self.view.set_pixels(self._bars.pixels_per_view())
        self._settle(is_forced=False)

    @override
    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            said = self.mark_text_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), as_plain(said), self)
            return True
        return bool(super().viewportEvent(event))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        # A painter that outlives its event takes Qt down with it.
        with QPainter(self.viewport()) as painter:
            is_done = self._canvas.paint_frames(painter, QRectF(event.rect()))
        if not is_done:
            super().paintEvent(event)

    # -------------------------------------------------------------- inside

    def _fill(self) -> None:
        room = QRectF(self.rect())
        self.setSceneRect(room)
        self._canvas.widget.setGeometry(room)

    @Slot()
    def _align(self) -> None:
        has_lanes = self.view.has_lanes
        self._canvas.align(self.header_width, has_axis=not has_lanes)
        # At once: what is placed by pixels would be placed as before, and stay so while held.
        self._canvas.widget.layout().activate()
        self._settle(is_forced=False)

    @Slot()
    def _follow_view(self) -> None:
        if self.view.x_axis is not self._shown_axis:
            self._shown_axis = self.view.x_axis
            self._canvas.name_span(self._shown_axis)
            self._bars.picture.forget()
        self._settle(is_forced=False)

    @Slot()
    def _show_hover(self) -> None:
        self._overlay.show_hover(self.view.hover)

    @Slot()
    def _show_playhead(self) -> None:
        self._overlay.show_playhead(self.view.playhead)

    @Slot(object)
    def _show_chosen(self, _frames: tuple[int, int] | None) -> None:
        self._overlay.show_chosen(self.view)

    def _settle(self, *, is_forced: bool = True) -> None:
        """Bring the picture in line with the view, the frames and the scale."""
        self._is_settled = True
        shown, series = self.view.range, self.series
        budget_ns = self.budgets_ns[0] if self.budgets_ns else DEFAULT_BUDGET_NS
        if series is not None:
            frames = self.view.visible_frames()
            self._scale.settle(series, self.measure, frames, budget_ns)
        is_moved = self._canvas.show_range(shown.low, shown.high, self._scale.top_ns)
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
            self._overlay.show_chosen(self.view)
            self._overlay.show_playhead(self.view.playhead)
        if self._pointer.place is not None:
            self.point_at(self._pointer.place)

    def _place_marks(self) -> None:
        width = int(self.area().width())
        self._overlay.show_marks(self._marks, self.series, self.view.range, width)
