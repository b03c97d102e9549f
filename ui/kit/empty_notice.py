"""A sentence in the middle of a view that has nothing to show, saying why."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QAbstractScrollArea, QLabel
from typing_extensions import override

from .guards import guarded


@guarded
class EmptyNotice(QLabel):
    """Lies over the viewport of a view; hidden while there is no text."""

    def __init__(self, view: QAbstractScrollArea) -> None:
        super().__init__(view.viewport())
        self._viewport = view.viewport()
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setMargin(16)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._viewport.installEventFilter(self)
        self.hide()

    def show_text(self, text: str) -> None:
        """Show ``text``, or nothing when it is empty."""
        if text != self.text():
            self.setText(text)
        if self.isHidden() == bool(text):
            self.setGeometry(self._viewport.rect())
            self.setVisible(bool(text))

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay as large as the viewport."""
        if watched is self._viewport and event.type() == QEvent.Type.Resize:
            self.setGeometry(self._viewport.rect())
        return False
