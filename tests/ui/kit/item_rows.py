"""A table of items that says its rows as the models of the window do."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QBrush, QFont, QIcon, QPixmap, QStandardItemModel

from ui.kit.table import roles
from ui.kit.table.cell_painting import Cell


class ItemRows(QStandardItemModel):
    """Items, each painted as Qt would paint it."""

    def __init__(self, rows: int, columns: int) -> None:
        super().__init__(rows, columns)
        self._marks: dict[int, QIcon | QPixmap] = {}

    def row_cells(self, key: int) -> list[Cell]:
        """Return what is painted of a row."""
        return [self._cell(self.index(key, column)) for column in range(self.columnCount())]

    def _cell(self, index: QModelIndex) -> Cell:
        text, font, color = map(index.data, (roles.DISPLAY, roles.FONT, roles.FOREGROUND))
        alignment, tick = index.data(roles.ALIGNMENT), index.data(roles.CHECK_STATE)
        mark = index.data(roles.DECORATION)
        if isinstance(mark, QIcon | QPixmap):
            # Qt hands out another object each time, which would count as another mark.
            mark = self._marks.setdefault(mark.cacheKey(), mark)
        cell = Cell(
            "" if text is None else str(text),
            color=color.color() if isinstance(color, QBrush) else color,
            is_bold=isinstance(font, QFont) and font.bold(),
            mark=mark,
            tick=None if tick is None else Qt.CheckState(tick) is Qt.CheckState.Checked,
        )
        return cell if alignment is None else cell._replace(alignment=Qt.AlignmentFlag(alignment))
