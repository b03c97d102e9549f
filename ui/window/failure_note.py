"""How many callbacks have failed, or that the scene has, in the status bar; else nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QToolButton, QWidget

from inspector.display_text import as_plain
from inspector.vocabulary import what_was_raised

from ..kit.theme import ColorRole

if TYPE_CHECKING:
    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge


class FailureNote(QToolButton):
    """Counts the failures of the session; a click is for showing them."""

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._theme = theme
        self._shown = (0, False)
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
        shown = count, bool(self._bridge.timeline.clocks)
        if shown == self._shown:
            return
        self._shown = shown
        self.setVisible(bool(count))
        if not count:
            return
        newest = failures[-1]
        raised = what_was_raised(newest.traceback)
        if not self._bridge.timeline.clocks:
            # A scene that could not be built has left no clock, and nothing was called on one.
            text = "the scene could not be built"
            told = f"“{newest.label}” could not be built: {raised}"
        else:
            text = "1 callback failed" if count == 1 else f"{count:,} callbacks failed"
            told = f"The newest: “{newest.label}” failed: {raised}"
        self.setText(text)
        self.setAccessibleName(text)
        self.setToolTip(as_plain(f"{told}\nClick to see events."))

    @Slot()
    def _apply_theme(self) -> None:
        self.setIcon(self._theme.icon("failure"))
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.ButtonText, self._theme.color(ColorRole.BAD))
        self.setPalette(palette)
