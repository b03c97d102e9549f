"""A table view over calls that are places in an order: the mark moves with its call."""

from __future__ import annotations

from collections.abc import MutableMapping

from PySide6.QtCore import QModelIndex, Qt, Signal, Slot

from ..kit.table.table_view import RowPointing, TableView
from .model import QueueModel


class QueueView(TableView):
    """Shows a :class:`QueueModel`.

    A row of the table is a place in the order; which call is marked is kept by its
    key and found again after every refresh.

    Signals:
        chosen: The user has marked a row; the key of its call.
        pointed: Another call is under the pointer; its key, 0 for none.
    """

    chosen = Signal(object)  # int
    pointed = Signal(object)  # int

    def __init__(self, model: QueueModel, name: str, choices: MutableMapping[str, str]) -> None:
        super().__init__(model, name, choices)
        self.calls = model
        self._marked_id = self._pointed_id = 0  # Keys of calls.
        RowPointing(self).pointed.connect(self._tell_pointed)
        # The model sorts when the view hears of it, which is after this connection was made.
        order_changed = self.horizontalHeader().sortIndicatorChanged
        order_changed.connect(self.take_order, Qt.ConnectionType.QueuedConnection)
        self.selectionModel().currentRowChanged.connect(self._choose_row)

    @property
    def marked_id(self) -> int:
        """The call that is marked wherever it is, 0 for none."""
        return self._marked_id

    def refresh(self) -> None:
        """Show what is new: only cells that say something else are painted."""
        with self.arranging():
            self.calls.refresh()
        self.take_order()

    def mark(self, key: int) -> None:
        if key != self._marked_id:
            self._marked_id = key
            row = self._follow_marked()
            if row is not None:
                self.scrollTo(self.calls.index(row, 0))

    def point_at(self, key: int) -> None:
        self._pointed_id = key
        self.show_pointed(self.calls.row_of(key) if key else None)

    @Slot(QModelIndex)
    def _tell_pointed(self, index: QModelIndex) -> None:
        self.pointed.emit((self.calls.id_at(index.row()) if index.isValid() else None) or 0)

    @Slot()
    def take_order(self) -> None:
        """Show the rows again, after the model has taken another order."""
        self.show_changes()
        self._follow_marked()
        if self._pointed_id:
            self.point_at(self._pointed_id)

    def _follow_marked(self) -> int | None:
        """Mark the row in which the marked call is now; the view does not scroll."""
        row = self.calls.row_of(self._marked_id) if self._marked_id else None
        current = self.currentIndex()
        if row == (current.row() if current.isValid() else None):
            return row
        with self.arranging():
            if row is None:
                self.selectionModel().clear()
            else:
                column = current.column() if current.isValid() else 0
                self.setCurrentIndex(self.calls.index(row, column))
        return row

    @Slot(QModelIndex, QModelIndex)
    def _choose_row(self, current: QModelIndex, _previous: QModelIndex) -> None:
        number = self.calls.id_at(current.row())
        if not self.is_arranging and number is not None:
            self._marked_id = number
            self.chosen.emit(number)
