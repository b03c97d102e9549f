"""A card with a small table that lies over everything and takes neither keys nor clicks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QVBoxLayout, QWidget

from inspector.display_text import one_line

from ..kit.labels import plain_label

_MOST_WIDTH: Final = 420
_MOST_NAME: Final = 170
_GAP: Final = 4


class PreviewCard(QFrame):
    """Says in a sentence and a table what something would do, beside what is pointed at.

    It never takes the focus, so what is typed and highlighted below it goes on.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        """Make an empty card, hidden."""
        super().__init__(parent, Qt.WindowType.ToolTip | Qt.WindowType.FramelessWindowHint)
        self.setObjectName("preview_card")
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameStyle(QFrame.Shape.Box | QFrame.Shadow.Plain)
        self.setBackgroundRole(QPalette.ColorRole.ToolTipBase)
        self.setForegroundRole(QPalette.ColorRole.ToolTipText)
        self.setAutoFillBackground(True)
        self._sentence = self._label("")
        self._sentence.setWordWrap(True)
        self._rest = self._label("")
        self._cells: list[list[QLabel]] = []
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 6, 8, 6)
        layout.setSpacing(6)
        layout.addWidget(self._sentence)
        layout.addLayout(self._grid)
        layout.addWidget(self._rest)

    def show_table(self, sentence: str, rows: Sequence[Sequence[str]], rest: str) -> None:
        """Show a sentence, rows of texts with the titles first, and the rest of them in words."""
        self._sentence.setText(sentence)
        self._rest.setText(rest)
        self._rest.setVisible(bool(rest))
        while len(self._cells) < len(rows):
            self._add_row(len(rows[0]))
        for place, cells in enumerate(self._cells):
            texts = rows[place] if place < len(rows) else ()
            for column, cell in enumerate(cells):
                text = one_line(texts[column]) if column < len(texts) else ""
                if column == 0:
                    metrics = cell.fontMetrics()
                    text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, _MOST_NAME)
                cell.setText(text)
                cell.setVisible(bool(texts))
        self.setAccessibleName(sentence)
        self._fit()

    def text(self) -> str:
        """Return everything on the card, cells separated by tabulators."""
        shown = [[cell.text() for cell in cells] for cells in self._cells if cells[0].text()]
        lines = [self._sentence.text(), *("\t".join(cells) for cells in shown)]
        return "\n".join([*lines, self._rest.text()] if self._rest.text() else lines)

    def place(self, anchor: QRect, *, is_beside: bool) -> None:
        """Lie right of what is pointed at, or below it; on the other side if there is no room.

        Args:
            anchor: What is pointed at, in pixels of the whole desktop.
            is_beside: Right or left of it, instead of below or above.
        """
        screen = self.screen().availableGeometry()
        size = self.size()
        if is_beside:
            x = anchor.right() + _GAP
            if x + size.width() > screen.right():
                x = anchor.left() - _GAP - size.width()
            y = anchor.top()
        else:
            x = anchor.left()
            y = anchor.bottom() + _GAP
            if y + size.height() > screen.bottom():
                y = anchor.top() - _GAP - size.height()
        x = max(screen.left(), min(x, screen.right() - size.width()))
        y = max(screen.top(), min(y, screen.bottom() - size.height()))
        self.move(QPoint(x, y))

    def _fit(self) -> None:
        layout = self.layout()
        assert layout is not None
        self._sentence.setMinimumWidth(0)
        margins = layout.contentsMargins()
        frame = margins.left() + margins.right() + 2 * self.frameWidth()
        one_line = self._sentence.fontMetrics().horizontalAdvance(self._sentence.text()) + 4
        table = self._grid.sizeHint().width()
        inner = min(max(table, min(one_line, _MOST_WIDTH)), 2 * _MOST_WIDTH)
        self._sentence.setFixedWidth(inner)
        layout.activate()
        self.resize(inner + frame, max(layout.heightForWidth(inner + frame), 1))

    def _add_row(self, columns: int) -> None:
        place = len(self._cells)
        cells = []
        for column in range(columns):
            cell = self._label("")
            # Instants are compared digit by digit.
            side = Qt.AlignmentFlag.AlignRight if column in (1, 2) else Qt.AlignmentFlag.AlignLeft
            cell.setAlignment(side | Qt.AlignmentFlag.AlignVCenter)
            if place == 0:
                font = QFont(cell.font())
                font.setBold(True)
                cell.setFont(font)
            self._grid.addWidget(cell, place, column)
            cells.append(cell)
        self._cells.append(cells)

    def _label(self, text: str) -> QLabel:
        label = plain_label(text, self)
        label.setForegroundRole(QPalette.ColorRole.ToolTipText)
        return label
