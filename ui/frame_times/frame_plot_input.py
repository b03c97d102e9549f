"""What mouse and keyboard do in the frame-time plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent

if TYPE_CHECKING:
    from .frame_plot import FramePlot

_DRAG_FROM: Final = 4
_WHEEL_STEP: Final = 1.25
_WHEEL_NOTCH: Final = 120
_FASTER: Final = 3
_KEY_ZOOM: Final = 1.5
_KEY_PAN: Final = 0.15


class FramePlotInput:
    """Turns input events into what the plot can do."""

    def __init__(self, plot: FramePlot) -> None:
        """Act on a plot."""
        self._plot = plot
        self._pressed_at: QPointF | None = None
        self._dragged_to: QPointF | None = None
        self._choice_from: float | None = None
        self._is_scrubbing = False

    @property
    def is_scrubbing(self) -> bool:
        """Whether the playhead is being dragged."""
        return self._is_scrubbing

    def turn(self, event: QWheelEvent) -> None:
        """Zoom at the pointer, with Shift faster; over the left axis scale the durations."""
        event.accept()
        plot, place = self._plot, event.position()
        steps = event.angleDelta().y() / _WHEEL_NOTCH
        sideways = event.angleDelta().x() / _WHEEL_NOTCH
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            steps *= _FASTER
        if steps and place.x() < plot.area().left():
            plot.scale_durations(_WHEEL_STEP**-steps)
        elif steps:
            plot.zoom(_WHEEL_STEP**-steps, plot.x_at(place))
        elif sideways:
            plot.pan(-sideways * _KEY_PAN / 2)

    def press(self, event: QMouseEvent) -> None:
        """Begin a click, a drag, with Ctrl the choice of a range; on the lower axis scrub."""
        event.accept()
        if event.button() is Qt.MouseButton.LeftButton and self._is_on_axis(event.position()):
            self._is_scrubbing = True
            self._put_playhead(event.position())
            return
        self._pressed_at = event.position()
        self._dragged_to = None
        is_left = event.button() is Qt.MouseButton.LeftButton
        is_choice = is_left and event.modifiers() & Qt.KeyboardModifier.ControlModifier
        self._choice_from = self._plot.x_at(event.position()) if is_choice else None

    def move(self, event: QMouseEvent) -> None:
        """Drag what was pressed, or read the frame under the pointer."""
        event.accept()
        place = event.position()
        if self._is_scrubbing:
            self._put_playhead(place)
            return
        if self._pressed_at is None or not event.buttons():
            self._show_what_a_drag_does(place)
            self._plot.point_at(place)
            return
        if self._dragged_to is None:
            away = place - self._pressed_at
            if max(abs(away.x()), abs(away.y())) < _DRAG_FROM:
                return
            self._dragged_to = self._pressed_at
        if self._choice_from is None:
            self._plot.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
            moved = place.x() - self._dragged_to.x()
            self._plot.pan(-moved / max(self._plot.area().width(), 1.0))
        else:
            self._choose_up_to(self._plot.x_at(place), self._choice_from)
        self._dragged_to = place

    def release(self, event: QMouseEvent) -> None:
        """End a drag, or click: the left button a frame, the right one a menu."""
        event.accept()
        if self._is_scrubbing:
            self._is_scrubbing = event.button() is not Qt.MouseButton.LeftButton
            return
        was_click = self._pressed_at is not None and self._dragged_to is None
        self._pressed_at = self._dragged_to = self._choice_from = None
        plot = self._plot
        plot.viewport().unsetCursor()
        if not was_click:
            return
        if event.button() is Qt.MouseButton.RightButton:
            plot.menu_requested.emit(event.globalPosition().toPoint())
        elif event.button() is Qt.MouseButton.LeftButton:
            plot.point_at(event.position())
            readout = plot.readout()
            if event.modifiers() & Qt.KeyboardModifier.AltModifier:
                self._put_playhead(event.position())
            elif readout is not None:
                plot.frame_clicked.emit(readout.frame)
            else:
                plot.choose_frames(None)

    def double_click(self, event: QMouseEvent) -> None:
        """Show everything; over the left axis let the plot choose its scale."""
        event.accept()
        if event.position().x() < self._plot.area().left():
            self._plot.choose_scale()
        else:
            self._plot.fit()

    def key(self, event: QKeyEvent) -> None:  # noqa: C901, PLR0912 - one line a key
        """Move by keys."""
        plot = self._plot
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            event.ignore()
            return
        event.accept()
        match event.key():
            case Qt.Key.Key_W:
                plot.zoom(1 / _KEY_ZOOM)
            case Qt.Key.Key_S:
                plot.zoom(_KEY_ZOOM)
            case Qt.Key.Key_A:
                plot.pan(-_KEY_PAN)
            case Qt.Key.Key_D:
                plot.pan(_KEY_PAN)
            case Qt.Key.Key_F:
                plot.fit_chosen()
            case Qt.Key.Key_Home:
                plot.fit()
            case Qt.Key.Key_End | Qt.Key.Key_L:
                plot.set_following(True)
                plot.live_requested.emit()
            case Qt.Key.Key_Left:
                plot.click_neighbour(-1)
            case Qt.Key.Key_Right:
                plot.click_neighbour(1)
            case Qt.Key.Key_Escape if plot.chosen_frames() is not None:
                plot.choose_frames(None)
            case Qt.Key.Key_Escape if plot.playhead_ns is not None:
                plot.live_requested.emit()
            case _:
                event.ignore()

    def _is_on_axis(self, place: QPointF) -> bool:
        """Return whether a place is on the axis below the frames."""
        area = self._plot.area()
        return place.y() > area.bottom() and area.left() <= place.x() <= area.right()

    def _put_playhead(self, place: QPointF) -> None:
        readout = None if self._is_scrubbing else self._plot.readout()
        series = self._plot.series
        if readout is not None and series is not None:
            self._plot.playhead_moved.emit(series.history.frame(readout.frame).at_ns)
            return
        at_ns = self._plot.ns_at(place)
        if at_ns is not None:
            self._plot.playhead_moved.emit(at_ns)

    def _show_what_a_drag_does(self, place: QPointF) -> None:
        viewport = self._plot.viewport()
        if self._is_on_axis(place):
            viewport.setCursor(Qt.CursorShape.SplitHCursor)
        elif viewport.cursor().shape() is Qt.CursorShape.SplitHCursor:
            viewport.unsetCursor()

    def _choose_up_to(self, x: float, start_x: float) -> None:
        series = self._plot.series
        if series is None:
            return
        low, high = sorted((start_x, x))
        start, stop = series.frames_within(low, high)
        self._plot.choose_frames((start, stop) if stop > start else None)
