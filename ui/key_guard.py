"""Keeps single keys from becoming shortcuts where the widget in use needs them itself."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSlider,
    QApplication,
    QComboBox,
    QLineEdit,
    QWidget,
)
from typing_extensions import override

#: What a widget does with keys that are shortcuts elsewhere. Fields see to letters
#: and digits themselves.
_OWN_KEYS: Final = (
    (QAbstractButton, frozenset({Qt.Key.Key_Space})),
    (QComboBox, frozenset({Qt.Key.Key_Space, Qt.Key.Key_Home, Qt.Key.Key_End})),
    (QAbstractSlider, frozenset({Qt.Key.Key_Home, Qt.Key.Key_End})),
    (QAbstractScrollArea, frozenset({Qt.Key.Key_Home, Qt.Key.Key_End})),
)
_TYPED: Final = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier


class KeyGuard(QObject):
    """Watches windows for keys that are about to become shortcuts.

    Qt asks the widget in use first, and then its parents up to the window, which is
    where this listens.
    """

    def watch(self, window: QWidget) -> None:
        """Guard the keys of a window, also of a floating dock."""
        window.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Accept what the widget in use wants for itself, so that it gets the key."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and is_own_key(QApplication.focusWidget(), event)
        ):
            event.accept()
            return True
        return False


def is_own_key(widget: QWidget | None, event: QKeyEvent) -> bool:
    """Return whether a key press belongs to the widget that has the keyboard."""
    if widget is None or event.modifiers() & ~_TYPED:
        return False
    if isinstance(widget, QLineEdit):
        return not widget.isReadOnly() and bool(event.text().strip() or event.text() == " ")
    key = Qt.Key(event.key())
    return any(isinstance(widget, kind) and key in keys for kind, keys in _OWN_KEYS)
