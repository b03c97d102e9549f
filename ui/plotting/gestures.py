"""The keys, the wheel and the drags that move along an axis, the same for every plot."""

from __future__ import annotations

from typing import Final, Protocol

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent

from ..kit.keys import is_plain, own_keys

#: Keys with another meaning in the window.
MOVING_KEYS: Final = own_keys("W S A D F Home End L")
#: How many times as much the keys show where they go to no other row or frame.
ZOOMS: Final = {Qt.Key.Key_Up: 1 / 1.5, Qt.Key.Key_Down: 1.5}
_WHEEL_STEP: Final = 1.25
_NOTCH: Final = 120
_FASTER: Final = 3
_KEY_ZOOM: Final = 1.5
_KEY_PAN: Final = 0.15
_DRAG_FROM: Final = 4


class Movable(Protocol):
    """What is moved along an axis."""

    def zoom(self, factor: float, about: float | None = None) -> None:
        """Show ``factor`` times as much, around a place (by default the middle)."""

    def pan(self, share: float) -> None:
        """Move by a share of what is visible."""

    def fit(self) -> None:
        """Show everything."""

    def fit_chosen(self) -> None:
        """Show the selected range; everything if there is none or it is already visible."""

    def go_live(self) -> None:
        """Show the newest, and follow it."""


def handle_key(event: QKeyEvent, moved: Movable) -> bool:
    """Zoom with W and S, move with A and D, fit with F and Home, follow with End and L."""
    if not is_plain(event):
        return False
    match event.key():
        case Qt.Key.Key_W:
            moved.zoom(1 / _KEY_ZOOM)
        case Qt.Key.Key_S:
            moved.zoom(_KEY_ZOOM)
        case Qt.Key.Key_A:
            moved.pan(-_KEY_PAN)
        case Qt.Key.Key_D:
            moved.pan(_KEY_PAN)
        case Qt.Key.Key_F:
            moved.fit_chosen()
        case Qt.Key.Key_Home:
            moved.fit()
        case Qt.Key.Key_End | Qt.Key.Key_L:
            moved.go_live()
        case _:
            return False
    return True


def handle_wheel(event: QWheelEvent, moved: Movable, about: float) -> None:
    """Zoom around a place, with Ctrl faster; sideways or with Shift move."""
    event.accept()
    delta, modifiers = event.angleDelta(), event.modifiers()
    if delta.x() and not delta.y():
        moved.pan(-delta.x() / _NOTCH * _KEY_PAN / 2)
    elif modifiers & Qt.KeyboardModifier.ShiftModifier:
        moved.pan(-delta.y() / _NOTCH * _KEY_PAN)
    elif delta.y():
        moved.zoom(zoom_factor(event), about)


def zoom_factor(event: QWheelEvent) -> float:
    """Return how many times as much to show after a turn of the wheel."""
    is_fast = event.modifiers() & Qt.KeyboardModifier.ControlModifier
    return float(_WHEEL_STEP ** (-event.angleDelta().y() / _NOTCH * (_FASTER if is_fast else 1)))


def selects(event: QMouseEvent) -> bool:
    """Return whether a drag selects a range instead of moving: with Shift or Ctrl."""
    modifiers = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier
    return bool(event.modifiers() & modifiers)


class Drag:
    """Tells a drag from a click."""

    def __init__(self) -> None:
        self.pressed: QPointF | None = None  # Where the button was pressed, None when it is up
        self.is_moving = False  # Whether the pointer has gone far enough to be a drag
        self._last: QPointF | None = None

    def press(self, place: QPointF) -> None:
        self.pressed = self._last = place
        self.is_moving = False

    def move(self, place: QPointF) -> QPointF | None:
        """Return how far a drag has gone since the last move; ``None`` if it is none (yet)."""
        if self.pressed is None or self._last is None:
            return None
        if not self.is_moving:
            away = place - self.pressed
            if max(abs(away.x()), abs(away.y())) < _DRAG_FROM:
                return None
            self.is_moving = True
        moved = place - self._last
        self._last = place
        return moved

    def release(self) -> bool:
        """End it; returns whether it was a click."""
        was_click = self.pressed is not None and not self.is_moving
        self.pressed = self._last = None
        self.is_moving = False
        return was_click
