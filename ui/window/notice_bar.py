"""A line across the window for what must not be missed, until it is put away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QIcon, QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

if TYPE_CHECKING:
    from collections.abc import Callable


class NoticeBar(QWidget):
    """Shows the latest notice with what can be done about it; hidden without one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice_bar")
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.ToolTipBase)
        self._icon = QLabel()
        self.label = QLabel()
        self.label.setWordWrap(True)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setForegroundRole(QPalette.ColorRole.ToolTipText)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        # As wide as there is room for: a path in it, which cannot be broken, would widen the
        # window beyond the screen.
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.label.setSizePolicy(policy)
        self.action_button = QPushButton()
        self.close_button = QPushButton("Dismiss")
        self.close_button.setAccessibleName("Dismiss the notice")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 4, 8, 4)
        layout.addWidget(self._icon)
        layout.addWidget(self.label, 1)
        layout.addWidget(self.action_button)
        layout.addWidget(self.close_button)
        self._action: Callable[[], object] | None = None
        self.action_button.clicked.connect(self._act)
        self.close_button.clicked.connect(self.dismiss)
        self.hide()

    def set_icon(self, icon: QIcon) -> None:
        """Show an icon in front of the text."""
        self._icon.setPixmap(icon.pixmap(18, 18))

    def show_notice(
        self, text: str, action: str = "", callback: Callable[[], object] | None = None
    ) -> None:
        """Show a notice in place of the former one.

        Args:
            text: A sentence or two.
            action: What the button beside it says; no button when empty.
            callback: What the button does.
        """
        self.label.setText(text)
        self.label.setAccessibleName(text)
        self.action_button.setText(action)
        self.action_button.setAccessibleName(action)
        self.action_button.setVisible(bool(action))
        self._action = callback
        self.show()

    @Slot()
    def dismiss(self) -> None:
        """Put the notice away."""
        self._action = None
        self.hide()

    def withdraw(self, text: str) -> None:
        """Put a notice away that holds no more; another one stays."""
        if self.label.text() == text:
            self.dismiss()

    @Slot()
    def _act(self) -> None:
        if self._action is not None:
            self._action()
