"""The frame-time plot: every frame of a session, to look at, zoom into and point at."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from ..kit.guards import guarded
from ..kit.keys import is_plain
from ..kit.theme import Theme
from ..plotting.gestures import Drag, handle_key, handle_wheel, selects, zoom_factor
from ..plotting.shared_view import SharedView
from .plotted_frames import PlottedFrames

#: Frames shown on either side of one that is zoomed in on.
_BESIDE: Final = 10


@guarded
class FramePlot(PlottedFrames):
    """Lets people move along the frames of a timeline.

    The wheel zooms at the pointer, dragging moves, Ctrl or Shift and dragging selects a range;
    keys are those of :mod:`.gestures`, and Left and Right go from frame to frame. A double click
    on a bar zooms in on it, above it shows everything. Over the left
    axis the wheel scales the durations; a double click there lets the plot choose the scale
    again. Alt and a click puts the playhead on a frame, Alt and dragging moves it.
    """

    def __init__(
        self, theme: Theme, parent: QWidget | None = None, view: SharedView | None = None
    ) -> None:
        super().__init__(theme, parent, view)
        self._drag = Drag()
        self._choice_from: float | None = None

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom or move; over the left axis scale the durations."""
        if event.position().x() < self.area().left():
            event.accept()
            self.scale_durations(zoom_factor(event))
        else:
            handle_wheel(event, self.view, self.x_at(event.position()))

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a click or a drag, with Ctrl or Shift a selection; with Alt look back."""
        event.accept()
        is_left = event.button() is Qt.MouseButton.LeftButton
        if is_left and event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self.point_at(None)
            self.view.is_scrubbing = True
            self._put_playhead(event.position())
            return
        self._drag.press(event.position())
        is_choice = is_left and selects(event)
        self._choice_from = self.x_at(event.position()) if is_choice else None

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        event.accept()
        place = event.position()
        if self.view.is_scrubbing:
            self._put_playhead(place)
            return
        if self._drag.pressed is None or not event.buttons():
            self.point_at(place)
            return
        moved = self._drag.move(place)
        if moved is None:
            return
        # Nothing is read off while dragging.
        self.point_at(None)
        if self._choice_from is None:
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self.view.pan(-moved.x() / max(self.area().width(), 1.0))
        else:
            self.view.choose_between(self._choice_from, self.x_at(place))

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a drag, or click: the left button a frame, the right one a menu."""
        event.accept()
        if self.view.is_scrubbing:
            self.view.is_scrubbing = event.button() is not Qt.MouseButton.LeftButton
            return
        was_click = self._drag.release()
        self._choice_from = None
        self.unsetCursor()
        if not was_click:
            return
        if event.button() is Qt.MouseButton.RightButton:
            self.menu_requested.emit(event.globalPosition().toPoint())
        elif event.button() is Qt.MouseButton.LeftButton:
            self.point_at(event.position())
            readout = self.readout()
            if readout is not None:
                self.frame_clicked.emit(readout.frame)
            else:
                self.view.choose_frames(None)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Zoom in on a bar, or show everything; over the left axis, choose the scale."""
        event.accept()
        place = event.position()
        if place.x() < self.area().left():
            self.choose_scale()
        elif (frame := self._bar_at(place)) is not None:
            self._zoom_in_on(frame)
        else:
            self.view.fit()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.accept()
        if handle_key(event, self.view):
            return
        match event.key() if is_plain(event) else None:
            case Qt.Key.Key_Left:
                self.click_neighbour(-1)
            case Qt.Key.Key_Right:
                self.click_neighbour(1)
            case Qt.Key.Key_Escape if self.view.chosen_ns is not None:
                self.view.choose_frames(None)
            case _:
                event.ignore()

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self.point_at(None)
        super().leaveEvent(event)

    def _bar_at(self, place: QPointF) -> int | None:
        """Return the frame whose bar is at a place, ``None`` above the bars and beside them."""
        self.point_at(place)
        readout, series, area = self.readout(), self.series, self.area()
        if readout is None or series is None:
            return None
        share = series.value_ns(self.measure, readout.frame) / max(self.top_ns, 1)
        return readout.frame if place.y() >= area.bottom() - share * area.height() else None

    def _zoom_in_on(self, frame: int) -> None:
        """Show a frame with some on either side, unless no more than those are in view already."""
        assert self.series is not None, "it has the frame"
        first, last = self.view.visible_frames()
        start = max(frame - _BESIDE, self.series.first)
        stop = min(frame + _BESIDE + 1, self.series.end)
        if last - first > stop - start:
            self.view.set_frame_span(start, stop)

    def _put_playhead(self, place: QPointF) -> None:
        at_ns = self.view.frame_ns_of(self.x_at(place))
        if at_ns is not None:
            self.playhead_moved.emit(at_ns)
