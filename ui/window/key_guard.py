"""Keeps single keys from becoming shortcuts where the widget in use needs them itself.

And the other way round: the key of an action that is not possible now does nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
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

from ..kit.guards import guarded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..actions.actions import DescribedAction

#: What a widget does with keys that are shortcuts elsewhere. Fields see to letters
#: and digits themselves.
_OWN_KEYS: Final = (
    (QAbstractButton, frozenset({Qt.Key.Key_Space})),
    (QComboBox, frozenset({Qt.Key.Key_Space, Qt.Key.Key_Home, Qt.Key.Key_End})),
    (QAbstractSlider, frozenset({Qt.Key.Key_Home, Qt.Key.Key_End})),
    (QAbstractScrollArea, frozenset({Qt.Key.Key_Home, Qt.Key.Key_End})),
)
_TYPED: Final = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier


@guarded
class KeyGuard(QObject):
    """Watches windows for keys that are about to become shortcuts.

    Qt asks the widget in use first, and then its parents up to the window, which is
    where this listens.

    Signals:
        refused: The key of an action was pressed that is not possible now: its name and why.
    """

    refused = Signal(str)

    def __init__(self, actions: Iterable[DescribedAction], parent: QObject) -> None:
        """Guard the keys of actions."""
        super().__init__(parent)
        self._by_keys = {
            keys.toString(): action for action in actions for keys in action.shortcuts()
        }

    def watch(self, window: QWidget) -> None:
        """Guard the keys of a window, also of a floating dock."""
        window.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Accept what the widget in use wants for itself, so that it gets the key."""
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        widget = QApplication.focusWidget()
        if is_own_key(widget, event):
            event.accept()
            return True
        action = self._by_keys.get(QKeySequence(event.keyCombination()).toString())
        if action is not None and not action.isEnabled() and action.reason:
            # Qt passes over the keys of what is disabled without a word.
            self.refused.emit(f"{action.description.plain_title}: {action.reason}")
            if widget is not None and widget is not watched:
                _PressKeeper(widget)
        return False


@guarded
class _PressKeeper(QObject):
    """Keeps one key press from a widget: a list would search for a row by its letter."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        widget.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the press that follows, and go; go without it if another key comes first."""
        if event.type() not in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress):
            return False
        watched.removeEventFilter(self)
        self.deleteLater()
        return event.type() == QEvent.Type.KeyPress


def is_own_key(widget: QWidget | None, event: QKeyEvent) -> bool:
    """Return whether a key press belongs to the widget that has the keyboard."""
    if widget is None or event.modifiers() & ~_TYPED:
        return False
    if isinstance(widget, QLineEdit):
        return not widget.isReadOnly() and bool(event.text().strip() or event.text() == " ")
    key = Qt.Key(event.key())
    return any(isinstance(widget, kind) and key in keys for kind, keys in _OWN_KEYS)
