"""The queue as a Qt table: any number of calls, of which the visible ones cost."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from typing_extensions import override

from ..kit.guards import guarded
from ..kit.table.columns import ColumnEnum
from ..kit.table.models import TableModel
from ..kit.theme import ColorRole, Theme
from .call_queue import CallQueue, QueueCounts
from .columns import CallColumn, QueueRow
from .windowed_order import WindowedOrder

#: Rows remembered between two refreshes; only scrolling can ask for more.
_MOST_ROWS: Final = 5_000


@guarded
class QueueModel(TableModel[QueueRow]):
    """Calls in an order that changes all the time; a row is a place, not a call.

    A refresh therefore makes no signals but for rows that come or go at the end:
    a view of the model looks at the rows in view again. Selection is kept by the
    call's key, see :meth:`row_of`.
    """

    is_sortable = True
    sorted_by = int(CallColumn.REMAINING)

    def __init__(self, queue: CallQueue, theme: Theme) -> None:
        super().__init__(CallColumn, theme)
        self.queue = queue
        # The column that decides the order, None for the order of the calls
        self.sort_column: ColumnEnum | None = CallColumn.REMAINING
        self.counts = QueueCounts()  # How many calls there are, as of the last refresh
        self._is_descending = False
        self._order = WindowedOrder()
        self._row_count = 0
        self._versions: Hashable = None
        self._at_ns = -1
        # As of the last refresh, so that whatever makes the view paint shows one instant.
        self._rows: dict[int, QueueRow | None] = {}
        self.reload_rows()

    def reload_rows(self) -> None:
        self.beginResetModel()
        self._read_order()
        self._row_count = len(self._order)
        self.endResetModel()

    def refresh(self) -> None:
        timeline = self.queue.timeline
        if timeline is None:
            return
        if timeline.at_ns != self._at_ns:
            self._at_ns = timeline.at_ns
            self._rows.clear()
        if self.queue.versions != self._versions:
            self._order_again()

    def row_of(self, key: int) -> int | None:
        return self._order.row_of(key)

    def id_at(self, row: int) -> int | None:
        return self._order.id_at(row) if 0 <= row < len(self._order) else None

    @override
    def row_at(self, key: int) -> QueueRow | None:
        number = self.id_at(key)
        if number is None:
            return None
        if number not in self._rows:
            if len(self._rows) > _MOST_ROWS:
                self._rows.clear()
            # None if the call has gone since the last refresh; the next one removes its row.
            self._rows[number] = self.queue.row(number)
        return self._rows[number]

    @override
    def color_of(self, row: QueueRow, column: ColumnEnum) -> ColorRole | None:
        return ColorRole.MUTED if row.waits else None

    @override
    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else self._row_count

    @override
    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        is_column = 0 <= column < len(self.columns)
        self.sort_column = self.columns[column] if is_column else None
        self._is_descending = is_column and order == Qt.SortOrder.DescendingOrder
        self._order_again()

    def _order_again(self) -> None:
        """Take the present order, and signal rows that came or went at the end."""
        before = self._row_count
        self._read_order()
        after = len(self._order)
        if after > before:
            self.beginInsertRows(QModelIndex(), before, after - 1)
            self._row_count = after
            self.endInsertRows()
        elif after < before:
            self.beginRemoveRows(QModelIndex(), after, before - 1)
            self._row_count = after
            self.endRemoveRows()

    def _read_order(self) -> None:
        self._rows.clear()
        self._versions = self.queue.versions
        self.counts = self.queue.fill(
            self._order, self.sort_column, is_descending=self._is_descending
        )
