"""The frame-time plot: every frame of a session, to look at, zoom into and point at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent
from typing_extensions import override

from ..kit.guards import guarded
from .plotted_frames import PlottedFrames

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from ..kit.theme import Theme

_DRAG_FROM: Final = 4
_WHEEL_STEP: Final = 1.25
_WHEEL_NOTCH: Final = 120
_FASTER: Final = 3
_KEY_ZOOM: Final = 1.5
_KEY_PAN: Final = 0.15


@guarded
class FramePlot(PlottedFrames):
    """Lets people move along the frames of a timeline.

    The wheel zooms at the pointer, dragging moves, Ctrl and dragging chooses a range;
    W and S zoom, A and D move, F fits the chosen range and then everything, Home fits
    everything, End follows the newest frame. Over the left axis the wheel scales
    the durations; a double click there lets the plot choose the scale again. Dragging
    along the lower axis moves the playhead, Alt and a click puts it on a frame.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Show the empty plot."""
        super().__init__(theme, parent)
        self._pressed_at: QPointF | None = None
        self._dragged_to: QPointF | None = None
        self._choice_from: float | None = None

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer, with Shift faster; over the left axis scale the durations."""
        event.accept()
        place = event.position()
        steps = event.angleDelta().y() / _WHEEL_NOTCH
        sideways = event.angleDelta().x() / _WHEEL_NOTCH
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            steps *= _FASTER
        if steps and place.x() < self.area().left():
            self.scale_durations(_WHEEL_STEP**-steps)
        elif steps:
            self.zoom(_WHEEL_STEP**-steps, self.x_at(place))
        elif sideways:
            self.pan(-sideways * _KEY_PAN / 2)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a click, a drag, with Ctrl the choice of a range; on the lower axis scrub."""
        event.accept()
        if event.button() is Qt.MouseButton.LeftButton and self._is_on_axis(event.position()):
            self.is_scrubbing = True
            self._put_playhead(event.position())
            return
        self._pressed_at = event.position()
        self._dragged_to = None
        is_left = event.button() is Qt.MouseButton.LeftButton
        is_choice = is_left and event.modifiers() & Qt.KeyboardModifier.ControlModifier
        self._choice_from = self.x_at(event.position()) if is_choice else None

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag what was pressed, or read the frame under the pointer."""
        event.accept()
        place = event.position()
        if self.is_scrubbing:
            self._put_playhead(place)
            return
        if self._pressed_at is None or not event.buttons():
            self._show_what_a_drag_does(place)
            self.point_at(place)
            return
        if self._dragged_to is None:
            away = place - self._pressed_at
            if max(abs(away.x()), abs(away.y())) < _DRAG_FROM:
                return
            self._dragged_to = self._pressed_at
        if self._choice_from is None:
            self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
            moved = place.x() - self._dragged_to.x()
            self.pan(-moved / max(self.area().width(), 1.0))
        else:
            self._choose_up_to(self.x_at(place), self._choice_from)
        self._dragged_to = place

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a drag, or click: the left button a frame, the right one a menu."""
        event.accept()
        if self.is_scrubbing:
            self.is_scrubbing = event.button() is not Qt.MouseButton.LeftButton
            return
        was_click = self._pressed_at is not None and self._dragged_to is None
        self._pressed_at = self._dragged_to = self._choice_from = None
        self.viewport().unsetCursor()
        if not was_click:
            return
        if event.button() is Qt.MouseButton.RightButton:
            self.menu_requested.emit(event.globalPosition().toPoint())
        elif event.button() is Qt.MouseButton.LeftButton:
            self.point_at(event.position())
            readout = self.readout()
            if event.modifiers() & Qt.KeyboardModifier.AltModifier:
                self._put_playhead(event.position())
            elif readout is not None:
                self.frame_clicked.emit(readout.frame)
            else:
                self.choose_frames(None)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show everything; over the left axis let the plot choose its scale."""
        event.accept()
        if event.position().x() < self.area().left():
            self.choose_scale()
        else:
            self.fit()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: C901, PLR0912 - one line a key
        """Move by keys."""
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            event.ignore()
            return
        event.accept()
        match event.key():
            case Qt.Key.Key_W:
                self.zoom(1 / _KEY_ZOOM)
            case Qt.Key.Key_S:
                self.zoom(_KEY_ZOOM)
            case Qt.Key.Key_A:
                self.pan(-_KEY_PAN)
            case Qt.Key.Key_D:
                self.pan(_KEY_PAN)
            case Qt.Key.Key_F:
                self.fit_chosen()
            case Qt.Key.Key_Home:
                self.fit()
            case Qt.Key.Key_End | Qt.Key.Key_L:
                self.set_following(True)
                self.live_requested.emit()
            case Qt.Key.Key_Left:
                self.click_neighbour(-1)
            case Qt.Key.Key_Right:
                self.click_neighbour(1)
            case Qt.Key.Key_Escape if self.chosen_frames() is not None:
                self.choose_frames(None)
            case Qt.Key.Key_Escape if self.playhead_ns is not None:
                self.live_requested.emit()
            case _:
                event.ignore()

    @override
    def leaveEvent(self, event: QEvent) -> None:
        self.point_at(None)
        super().leaveEvent(event)

    def _is_on_axis(self, place: QPointF) -> bool:
        """Return whether a place is on the axis below the frames."""
        area = self.area()
        return place.y() > area.bottom() and area.left() <= place.x() <= area.right()

    def _put_playhead(self, place: QPointF) -> None:
        readout = None if self.is_scrubbing else self.readout()
        series = self.series
        if readout is not None and series is not None:
            self.playhead_moved.emit(series.history.frame(readout.frame).at_ns)
            return
        at_ns = self.ns_at(place)
        if at_ns is not None:
            self.playhead_moved.emit(at_ns)

    def _show_what_a_drag_does(self, place: QPointF) -> None:
        viewport = self.viewport()
        if self._is_on_axis(place):
            viewport.setCursor(Qt.CursorShape.SplitHCursor)
        elif viewport.cursor().shape() is Qt.CursorShape.SplitHCursor:
            viewport.unsetCursor()

    def _choose_up_to(self, x: float, start_x: float) -> None:
        series = self.series
        if series is None:
            return
        low, high = sorted((start_x, x))
        start, stop = series.frames_within(low, high)
        self.choose_frames((start, stop) if stop > start else None)
