"""Keys that mean something in one widget, whatever they do in the window."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget


def own_keys(names: str) -> frozenset[Qt.Key]:
    """Return keys by their names, such as ``W Home``."""
    return frozenset(Qt.Key[f"Key_{name}"] for name in names.split())


def hide_with_keyboard(widget: QWidget) -> bool:
    """Hide a widget, and return whether it had the keyboard, which Qt then gives to another."""
    focus = QApplication.focusWidget()
    had_keyboard = focus is not None and widget.isAncestorOf(focus)
    widget.hide()
    return had_keyboard


def is_plain(event: QKeyEvent) -> bool:
    """Whether a key is pressed alone, or on the keypad."""
    return not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier


def keeps_key(event: QEvent, keys: Collection[Qt.Key]) -> bool:
    """Give one of ``keys`` to the widget instead of to a shortcut; returns whether it did."""
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    if event.key() not in keys or not is_plain(event):
        return False
    event.accept()
    return True
