"""What mouse and keyboard do on the lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent

if TYPE_CHECKING:
    from .lane_canvas import LaneCanvas

_DRAG_FROM: Final = 4
_WHEEL_STEP: Final = 1.25
_NOTCH: Final = 120
_FASTER: Final = 3
_KEY_ZOOM: Final = 1.5
_KEY_PAN: Final = 0.15
_GRIP: Final = 3

#: Keys that mean something here and something else in the window.
OWN_KEYS: Final = frozenset(
    {
        Qt.Key.Key_W,
        Qt.Key.Key_S,
        Qt.Key.Key_A,
        Qt.Key.Key_D,
        Qt.Key.Key_F,
        Qt.Key.Key_C,
        Qt.Key.Key_T,
        Qt.Key.Key_Home,
        Qt.Key.Key_End,
        Qt.Key.Key_L,
        Qt.Key.Key_Left,
        Qt.Key.Key_Right,
        Qt.Key.Key_Up,
        Qt.Key.Key_Down,
        Qt.Key.Key_PageUp,
        Qt.Key.Key_PageDown,
        Qt.Key.Key_BracketLeft,
        Qt.Key.Key_BracketRight,
        Qt.Key.Key_Return,
        Qt.Key.Key_Enter,
    }
)


class LaneInput:
    """Turns input events into what the canvas can do."""

    def __init__(self, canvas: LaneCanvas) -> None:
        """Act on a canvas."""
        self._canvas = canvas
        self._pressed: QPointF | None = None
        self._dragged: QPointF | None = None
        self._measure_from: float | None = None
        self._is_resizing = False
        self._is_scrubbing = False

    def turn(self, event: QWheelEvent) -> None:
        """Zoom at the pointer, with Ctrl faster; over the names, or with Alt, scroll the rows."""
        event.accept()
        canvas, place = self._canvas, event.position()
        delta = event.angleDelta()
        modifiers = event.modifiers()
        is_sideways = bool(delta.x()) and not delta.y()
        if is_sideways and not modifiers & Qt.KeyboardModifier.AltModifier:
            canvas.pan(-delta.x() / _NOTCH * _KEY_PAN / 2)
        elif place.x() < canvas.header_width or modifiers & Qt.KeyboardModifier.AltModifier:
            bar = canvas.verticalScrollBar()
            bar.setValue(bar.value() - (delta.y() or delta.x()) // 2)
        elif modifiers & Qt.KeyboardModifier.ShiftModifier:
            canvas.pan(-delta.y() / _NOTCH * _KEY_PAN)
        else:
            fast = _FASTER if modifiers & Qt.KeyboardModifier.ControlModifier else 1
            canvas.zoom(_WHEEL_STEP ** (-delta.y() / _NOTCH * fast), canvas.at_x(place.x()))

    def press(self, event: QMouseEvent) -> None:
        """Begin a click, a drag, with Shift a measurement; on the ruler or with Alt scrub."""
        event.accept()
        canvas, place = self._canvas, event.position()
        self._pressed, self._dragged = place, None
        self._is_resizing = self._is_on_grip(place)
        is_left = event.button() is Qt.MouseButton.LeftButton
        has_alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        if is_left and not self._is_resizing and (self._is_on_ruler(place) or has_alt):
            self._is_scrubbing = True
            self._put_playhead(place)
            return
        has_shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        is_measure = is_left and has_shift and place.x() >= canvas.header_width
        self._measure_from = canvas.at_x(place.x()) if is_measure else None

    def move(self, event: QMouseEvent) -> None:
        """Drag what was pressed, or read what is under the pointer."""
        event.accept()
        canvas, place = self._canvas, event.position()
        if self._is_scrubbing:
            self._put_playhead(place)
            return
        if self._pressed is None or not event.buttons():
            is_sideways = self._is_on_grip(place) or self._is_on_ruler(place)
            canvas.show_cursor(Qt.CursorShape.SplitHCursor if is_sideways else None)
            canvas.point_at(place)
            return
        if self._dragged is None:
            away = place - self._pressed
            if max(abs(away.x()), abs(away.y())) < _DRAG_FROM:
                return
            self._dragged = self._pressed
        if self._is_resizing:
            canvas.set_header_width(int(place.x()))
        elif self._measure_from is not None:
            canvas.measure(self._measure_from, canvas.at_x(place.x()))
        elif self._pressed.x() >= canvas.header_width:
            canvas.show_cursor(Qt.CursorShape.ClosedHandCursor)
            moved = place - self._dragged
            canvas.pan(-moved.x() / max(canvas.lane_width, 1))
            bar = canvas.verticalScrollBar()
            bar.setValue(bar.value() - round(moved.y()))
        self._dragged = place

    def release(self, event: QMouseEvent) -> None:
        """End a drag, or click: the left button what is there, the right one a menu."""
        event.accept()
        if self._is_scrubbing:
            self._is_scrubbing = event.button() is not Qt.MouseButton.LeftButton
            self._pressed = None
            return
        was_click = self._pressed is not None and self._dragged is None
        self._pressed = self._dragged = self._measure_from = None
        canvas = self._canvas
        canvas.show_cursor(None)
        if not was_click:
            return
        if event.button() is Qt.MouseButton.RightButton:
            canvas.walk.ask_for_menu(event.position(), event.globalPosition().toPoint())
        elif event.button() is Qt.MouseButton.LeftButton:
            canvas.walk.click(event.position())

    def double_click(self, event: QMouseEvent) -> None:
        """Fold a clock over the names, go to a bookmark; else show everything."""
        event.accept()
        canvas = self._canvas
        if event.position().x() < canvas.header_width:
            canvas.walk.toggle_folded()
        elif not canvas.walk.go_to_bookmark(event.position()):
            canvas.fit()

    def key(self, event: QKeyEvent) -> bool:  # noqa: C901, PLR0912 - one line a key
        """Act on a key; returns whether it means anything here."""
        canvas = self._canvas
        has_shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        others = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
        if event.modifiers() & ~others:
            return False
        match event.key():
            case Qt.Key.Key_W:
                canvas.zoom(1 / _KEY_ZOOM)
            case Qt.Key.Key_S:
                canvas.zoom(_KEY_ZOOM)
            case Qt.Key.Key_A:
                canvas.pan(-_KEY_PAN)
            case Qt.Key.Key_D:
                canvas.pan(_KEY_PAN)
            case Qt.Key.Key_F if not has_shift:
                canvas.fit_measured()
            case Qt.Key.Key_Home:
                canvas.fit()
            case Qt.Key.Key_End | Qt.Key.Key_L:
                canvas.set_following(True)
                canvas.live_requested.emit()
            case Qt.Key.Key_C:
                canvas.walk.toggle_folded()
            case Qt.Key.Key_T:
                canvas.walk.toggle_pinned()
            case Qt.Key.Key_Left | Qt.Key.Key_BracketLeft:
                canvas.walk.jump(-1)
            case Qt.Key.Key_Right | Qt.Key.Key_BracketRight:
                canvas.walk.jump(1)
            case Qt.Key.Key_Up:
                canvas.walk.choose_neighbour(-1)
            case Qt.Key.Key_Down:
                canvas.walk.choose_neighbour(1)
            case Qt.Key.Key_PageUp:
                canvas.walk.choose_neighbour(-8)
            case Qt.Key.Key_PageDown:
                canvas.walk.choose_neighbour(8)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                canvas.walk.select_chosen()
            case Qt.Key.Key_Escape if canvas.measured is not None:
                canvas.measure(None, None)
            case _:
                return False
        return True

    def _is_on_ruler(self, place: QPointF) -> bool:
        return place.y() < self._canvas.ruler_height and place.x() > self._canvas.header_width

    def _put_playhead(self, place: QPointF) -> None:
        self._canvas.playhead_moved.emit(max(0, int(self._canvas.at_x(place.x()))))

    def _is_on_grip(self, place: QPointF) -> bool:
        return abs(place.x() - self._canvas.header_width) <= _GRIP
