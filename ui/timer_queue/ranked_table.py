"""A Qt table whose rows are places in an order: any number of them, the visible ones cost."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex
from typing_extensions import override

from ..kit.guards import guarded
from ..kit.table import roles
from ..kit.table.titled_table import TitledTableModel
from .timer_order import WindowedOrder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..kit.table.cells import Cell
    from ..kit.table.header_row import HeaderRow


@guarded
class RankedTableModel(TitledTableModel):
    """Subjects in an order that changes all the time; a row is a place, not a subject.

    A refresh therefore makes no signals but for rows that come or go at the end:
    whoever shows the model looks at the rows in view again. Selection is kept by the
    subject's number, see :meth:`row_of`.
    """

    def __init__(self, header: HeaderRow) -> None:
        """Begin without rows.

        Args:
            header: The titles, one for each column.
        """
        super().__init__(header)
        self._order = WindowedOrder()
        self._row_count = 0

    @abstractmethod
    def refresh(self) -> None:
        """Take what is new in the timeline."""

    @abstractmethod
    def row_cells(self, key: int) -> Sequence[Cell]:
        """Return what is painted of a row as of the last refresh, by its number."""

    @abstractmethod
    def _take_order(self) -> None:
        """Give :attr:`_order` the present subjects and what they are ordered by."""

    def row_of(self, subject_id: int) -> int | None:
        """Return where a subject is shown, ``None`` when it is not."""
        return self._order.row_of(subject_id)

    def id_at(self, row: int) -> int | None:
        """Return the subject in a row, ``None`` when there is no such row."""
        return self._order.id_at(row) if 0 <= row < len(self._order) else None

    def row_text(self, row: int) -> str:
        """Return all cells of a row as they are, separated by tabulators."""
        columns: Iterable[int] = range(self.columnCount())
        return "\t".join(str(self.index(row, each).data(roles.EDIT) or "") for each in columns)

    @override
    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else self._row_count

    def _take_everything(self) -> None:
        """Take the order anew and tell of rows that came or went at the end."""
        before = self._row_count
        self._take_order()
        after = len(self._order)
        if after > before:
            self.beginInsertRows(QModelIndex(), before, after - 1)
            self._row_count = after
            self.endInsertRows()
        elif after < before:
            self.beginRemoveRows(QModelIndex(), after, before - 1)
            self._row_count = after
            self.endRemoveRows()
