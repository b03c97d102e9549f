"""How many callbacks have failed, in the status bar; nothing while none has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QToolButton, QWidget

from inspector.vocabulary import what_was_raised

from ..theme import ColorRole

if TYPE_CHECKING:
    from ..session_bridge import SessionBridge
    from ..theme import Theme


class FailureNote(QToolButton):
    """Counts the failures of the session; a click is for showing them."""

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._theme = theme
        self._count = 0
        self.setAutoRaise(True)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()
        bridge.refreshed.connect(self.refresh)
        bridge.session_changed.connect(self.refresh)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    @Slot(object)
    def refresh(self, _news: object = None) -> None:
        """Show how many there are now, and the newest of them in the tooltip."""
        failures = self._bridge.timeline.failures
        count = len(failures)
        if count == self._count:
            return
        self._count = count
        self.setVisible(bool(count))
        if not count:
            return
        text = "1 callback failed" if count == 1 else f"{count:,} callbacks failed"
        self.setText(text)
        self.setAccessibleName(text)
        newest = failures[-1]
        last_line = what_was_raised(newest.traceback)
        self.setToolTip(f"The newest: “{newest.label}” failed: {last_line}\nClick to see events.")

    @Slot()
    def _apply_theme(self) -> None:
        self.setIcon(self._theme.icon("failure"))
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.ButtonText, self._theme.color(ColorRole.BAD))
        self.setPalette(palette)
