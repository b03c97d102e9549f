"""The line of notices across the window, and the count of failures in the foot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QIcon, QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QWidget

from inspector.display_text import as_plain, counted
from inspector.vocabulary import what_was_raised

from ..kit.keys import hide_with_keyboard
from ..kit.labels import announce, plain_label

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge


class NoticeBar(QWidget):
    """Shows the latest notice with what can be done about it; hidden without one."""

    keyboard_left = Signal()  # It was put away while one of its buttons had the keyboard

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice_bar")
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.ToolTipBase)
        self._icon = QLabel()
        self.label = plain_label(wraps=True)
        self.label.setForegroundRole(QPalette.ColorRole.ToolTipText)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        # As wide as there is room for: a path in it, which cannot be broken, would widen the
        # window beyond the screen.
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.label.setSizePolicy(policy)
        self.action_button = QPushButton()
        self.other_button = QPushButton()
        self.close_button = QPushButton("Dismiss")
        self.close_button.setAccessibleName("Dismiss the notice")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 4, 8, 4)
        layout.addWidget(self._icon)
        layout.addWidget(self.label, 1)
        layout.addWidget(self.action_button)
        layout.addWidget(self.other_button)
        layout.addWidget(self.close_button)
        self._action: Callable[[], object] | None = None
        self._other: Callable[[], object] | None = None
        self.action_button.clicked.connect(self._act)
        self.other_button.clicked.connect(self._act_otherwise)
        self.close_button.clicked.connect(self.dismiss)
        self.hide()

    def set_icon(self, icon: QIcon) -> None:
        self._icon.setPixmap(icon.pixmap(18, 18))

    def show_notice(
        self,
        text: str,
        action: str = "",
        callback: Callable[[], object] | None = None,
        other: tuple[str, Callable[[], object]] | None = None,
    ) -> None:
        """Show a notice in place of the former one.

        Args:
            text: A sentence or two.
            action: What the button beside it says; no button when empty.
            callback: What the button does.
            other: What another button says and does.
        """
        self.label.setText(text)
        self.label.setAccessibleName(text)
        self.action_button.setText(action)
        self.action_button.setAccessibleName(action)
        self.action_button.setVisible(bool(action))
        self._action = callback
        title, self._other = other or ("", None)
        self.other_button.setText(title)
        self.other_button.setAccessibleName(title)
        self.other_button.setVisible(bool(title))
        self.show()
        announce(self, text)

    @Slot()
    def dismiss(self) -> None:
        self._action = self._other = None
        if hide_with_keyboard(self):
            self.keyboard_left.emit()

    @Slot()
    def _act(self) -> None:
        if self._action is not None:
            self._action()

    @Slot()
    def _act_otherwise(self) -> None:
        if self._other is not None:
            self._other()


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
            text = counted(count, "failure")
            told = f"The newest: “{newest.label}” failed: {raised}"
        self.setText(text)
        self.setAccessibleName(text)
        self.setToolTip(as_plain(f"{told}\nClick to see events."))

    @Slot()
    def _apply_theme(self) -> None:
        self.setIcon(self._theme.icon("failure"))
