"""A line to type a filter into, with how much it lets through."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction, QIcon, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLineEdit, QToolButton
from typing_extensions import override

from .guards import guarded
from .icons import ICON_SIZE, icon_size
from .theme import Theme
from .throttled_refresh import single_shot

#: Long enough for two quick keys to make one change, short enough to feel immediate.
_SETTLE_MS = 120
#: Pixels beside the icon.
_PAD = 6


@guarded
class FilterLine(QLineEdit):
    """Says what to filter for once typing settles; Escape clears it, Enter applies at once."""

    filter_changed = Signal(str)  # The new text, without blanks around it
    left_downwards = Signal()  # The Down key was pressed, the list below wants the focus

    def __init__(self, placeholder: str) -> None:
        super().__init__()
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self.setClearButtonEnabled(True)
        cast("QToolButton", self.findChild(QToolButton)).setAccessibleName("Clear")
        self.icon = self._clear_icon = QIcon()
        self.filter_text = ""
        self._settle = single_shot(self, self.apply_now, _SETTLE_MS)
        self.textChanged.connect(self._restart_settling)
        self.returnPressed.connect(self.apply_now)

    def set_icons(self, theme: Theme) -> None:
        """Show icons before and behind the text, as large as it: those of actions never grow."""
        self.icon, self._clear_icon = theme.icon("find"), theme.icon("close")
        # The button stays, and what is painted here shows through.
        cast("QAction", self.findChild(QAction, "_q_qlineeditclearaction")).setIcon(QIcon())
        side = icon_size()
        self.setTextMargins(side + _PAD, 0, side - ICON_SIZE, 0)
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        side = icon_size()
        if self.icon.isNull():
            return
        top = (self.height() - side) // 2
        with QPainter(self) as painter:
            self.icon.paint(painter, _PAD, top, side, side)
            if self.text():
                self._clear_icon.paint(painter, self.width() - _PAD - side, top, side, side)

    @Slot(str)
    def set_filter(self, text: str) -> None:
        self.setText(text)
        self.apply_now()

    @Slot()
    def apply_now(self) -> None:
        self._settle.stop()
        text = self.text().strip()
        if text != self.filter_text:
            self.filter_text = text
            self.filter_changed.emit(text)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
            self.apply_now()
            return
        if event.key() == Qt.Key.Key_Down:
            self.left_downwards.emit()
            return
        super().keyPressEvent(event)

    @Slot()
    def _restart_settling(self) -> None:
        if self.text():
            self._settle.start()
        else:
            self.apply_now()
