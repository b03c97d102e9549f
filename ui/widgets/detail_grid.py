"""Rows of keys and values that are changed in place while their shape stays the same."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontMetrics,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QPalette,
)
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLabel,
    QMenu,
    QPlainTextEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from .detail_labels import LinkedLabel, ValueLabel, breakable

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_CODE_LINES = 14


class ShareBar(QWidget):
    """A horizontal bar, filled in proportion."""

    def __init__(self) -> None:
        super().__init__()
        self._share = 0.0
        self._color = QColor(Qt.GlobalColor.gray)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_share(self, share: float, color: QColor) -> None:
        """Fill ``share`` (0 to 1) of the bar with ``color``."""
        if (share, color) != (self._share, self._color):
            self._share, self._color = share, color
            self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(60, 7)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        background = self.palette().color(QPalette.ColorRole.WindowText)
        background.setAlpha(28)
        painter.fillRect(self.rect(), background)
        painter.fillRect(QRectF(0, 0, self.width() * self._share, self.height()), self._color)


class DetailGrid(QWidget):
    """Headings, keys with values, sentences, bars and code below each other.

    Signals:
        link_activated: The address of a link that was clicked.
        copy_all_requested: The context menu asked for a copy of everything.
    """

    link_activated = Signal(str)
    copy_all_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(8, 6, 8, 8)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)
        self._row_count = 0
        self._link_color = QColor(Qt.GlobalColor.blue)
        self._key_color = QColor(Qt.GlobalColor.gray)

    def set_colors(self, link: QColor, key: QColor) -> None:
        """Use these colours for links and for keys in what is added from now on."""
        self._link_color, self._key_color = link, key

    def clear(self) -> None:
        """Remove all rows."""
        while self._grid.count():
            item = self._grid.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self._grid.setRowStretch(self._row_count, 0)
        self._row_count = 0

    def finish(self) -> None:
        """Keep the rows together at the top."""
        self._grid.setRowStretch(self._row_count, 1)

    def add_heading(self, text: str) -> QLabel:
        """Add a heading across both columns."""
        label = QLabel(breakable(text))
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        font = QFont(label.font())
        font.setBold(True)
        label.setFont(font)
        label.setContentsMargins(0, 6 if self._row_count else 0, 0, 1)
        self._span(label)
        return label

    def add_sentence(self, text: str) -> ValueLabel:
        """Add text across both columns."""
        label = self._value_label(text)
        self._span(label)
        return label

    def add_value(self, key: str, text: str) -> ValueLabel:
        """Add a key with a value that can be copied."""
        label = self._value_label(text)
        self._keyed(key, label)
        return label

    def add_linked_value(self, key: str, pieces: Sequence[tuple[str, str]]) -> LinkedLabel:
        """Add a key with a value some pieces of which have an address."""
        label = self._linked(pieces)
        self._keyed(key, label)
        return label

    def add_linked_sentence(self, pieces: Sequence[tuple[str, str]]) -> LinkedLabel:
        """Add text across both columns some pieces of which have an address."""
        label = self._linked(pieces)
        self._span(label)
        return label

    def _linked(self, pieces: Sequence[tuple[str, str]]) -> LinkedLabel:
        label = LinkedLabel()
        self._offer_copies(label)
        label.linkActivated.connect(self.link_activated)
        self.show_pieces(label, pieces)
        return label

    def show_pieces(self, label: LinkedLabel, pieces: Sequence[tuple[str, str]]) -> None:
        """Change the pieces of a value with links."""
        label.show_pieces(pieces, self._link_color)

    def add_share(
        self, key: str, text: str, share: float, color: QColor
    ) -> tuple[ValueLabel, ShareBar]:
        """Add a key with a value above a bar."""
        cell = QWidget()
        column = QVBoxLayout(cell)
        column.setContentsMargins(0, 0, 0, 2)
        column.setSpacing(1)
        label, bar = self._value_label(text), ShareBar()
        bar.show_share(share, color)
        column.addWidget(label)
        column.addWidget(bar)
        self._keyed(key, cell)
        return label, bar

    def add_code(self, text: str) -> QPlainTextEdit:
        """Add lines in a fixed-width font, to be read and copied."""
        box = QPlainTextEdit()
        box.setReadOnly(True)
        box.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        box.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        box.setFrameShape(QFrame.Shape.StyledPanel)
        box.setTabChangesFocus(True)
        box.setAccessibleName("Traceback")
        self.show_code(box, text)
        self._span(box)
        return box

    def show_code(self, box: QPlainTextEdit, text: str) -> None:
        """Change the lines of a box and fit it to them; beyond 14 it scrolls."""
        if text == box.toPlainText():
            return
        box.setPlainText(text)
        lines = min(text.count("\n") + 1, _MOST_CODE_LINES)
        line_height = QFontMetrics(box.font()).lineSpacing()
        scroll_bar = box.horizontalScrollBar().sizeHint().height()
        box.setFixedHeight(lines * line_height + scroll_bar + 14)
        # What went wrong is in the last line.
        box.verticalScrollBar().setValue(box.verticalScrollBar().maximum())

    def _keyed(self, key: str, widget: QWidget) -> None:
        self._grid.addWidget(self._key_label(key), self._row_count, 0)
        self._grid.addWidget(widget, self._row_count, 1)
        self._row_count += 1

    def _span(self, widget: QWidget) -> None:
        self._grid.addWidget(widget, self._row_count, 0, 1, 2)
        self._row_count += 1

    def _key_label(self, key: str) -> QLabel:
        label = QLabel(key)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        palette = label.palette()
        palette.setColor(QPalette.ColorRole.WindowText, self._key_color)
        label.setPalette(palette)
        return label

    def _value_label(self, text: str) -> ValueLabel:
        label = ValueLabel(text)
        self._offer_copies(label)
        return label

    def _offer_copies(self, label: ValueLabel) -> None:
        label.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        label.customContextMenuRequested.connect(self._open_menu)

    @Slot(QPoint)
    def _open_menu(self, position: QPoint) -> None:
        label = self.sender()
        if not isinstance(label, ValueLabel):
            return
        menu = QMenu(label)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Copy", partial(QGuiApplication.clipboard().setText, label.text_to_copy()))
        menu.addAction("Copy all", self.copy_all_requested.emit)
        menu.popup(label.mapToGlobal(position))
