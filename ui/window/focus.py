"""Moves the keyboard between panels."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractScrollArea, QWidget


def enter(widget: QWidget | None) -> None:
    """Give the keyboard to the first child of ``widget`` that shows data, else to any."""
    if widget is None:
        return
    children = [
        child
        for child in widget.findChildren(QWidget)
        if child.focusPolicy() & Qt.FocusPolicy.TabFocus and child.isVisible()
    ]
    for child in children:
        if isinstance(child, QAbstractScrollArea):
            child.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return
    if children:
        children[0].setFocus(Qt.FocusReason.ShortcutFocusReason)
