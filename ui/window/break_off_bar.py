"""A bar across the window while code of the user's does not return."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIcon, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMainWindow, QPushButton, QSizePolicy


class BreakOffBar(QFrame):
    """Lies over the top of the window's middle, so that nothing below it is laid out anew.

    Signals:
        break_off_requested: Somebody does not want to wait.
    """

    break_off_requested = Signal()

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self.setObjectName("break_off_bar")
        self.setAutoFillBackground(True)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setBackgroundRole(QPalette.ColorRole.ToolTipBase)
        self._window = window
        self._icon = QLabel()
        self.label = QLabel()
        self.label.setWordWrap(True)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setForegroundRole(QPalette.ColorRole.ToolTipText)
        self.label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.button = QPushButton("Break off (Esc)")
        self.button.setToolTip("End this code as if it had failed, and hold the scene")
        # A key that was meant for something else must not press it.
        self.button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.button.clicked.connect(self.break_off_requested)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 4, 8, 4)
        layout.addWidget(self._icon)
        layout.addWidget(self.label, 1)
        layout.addWidget(self.button)
        self.hide()

    def set_icon(self, icon: QIcon) -> None:
        """Show an icon in front of the text."""
        self._icon.setPixmap(icon.pixmap(18, 18))

    def tell(self, text: str) -> None:
        """Say what is going on, in place of what was said."""
        if text != self.label.text():
            self.label.setText(text)
            self.setAccessibleName(text)
        middle = self._window.centralWidget()
        top = 0 if middle is None else middle.geometry().top()
        width = self._window.width()
        self.setGeometry(0, top, width, max(self.sizeHint().height(), self.heightForWidth(width)))
        self.show()
        self.raise_()
