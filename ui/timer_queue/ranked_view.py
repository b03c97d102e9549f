"""A table view over rows that are places in an order: the mark moves with its subject."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal, Slot
from typing_extensions import override

from ..kit.guards import guarded
from ..kit.table.painted_views import PaintedTable
from ..kit.table.table_view import Arranging, RowMenus, without_choosing
from ..kit.table.tables import set_up_table, size_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtGui import QFocusEvent
    from PySide6.QtWidgets import QWidget

    from .ranked_table import RankedTableModel


@guarded
class RankedView(Arranging, PaintedTable):
    """Shows a :class:`RankedTableModel`.

    A row of the table is a place in the order; which subject is marked is kept by its
    number and found again after every refresh.

    Signals:
        chosen: The user has marked a row; the number of its subject.
        menu_requested: A menu is wanted: number of the subject, and where on the screen.
    """

    chosen = Signal(int)
    menu_requested = Signal(int, QPoint)

    def __init__(
        self,
        model: RankedTableModel,
        name: str,
        samples: Mapping[int, str],
        parent: QWidget | None = None,
    ) -> None:
        """Show a model.

        Args:
            model: What is shown.
            name: What a screen reader calls the table.
            samples: By column, the widest text that is not cut off.
            parent: Owner in the sense of Qt.
        """
        super().__init__(parent)
        self._ranked = model
        self._marked_id = 0
        self.setAccessibleName(name)
        self.setModel(model)
        set_up_table(self)
        self.horizontalHeader().setSortIndicatorClearable(True)
        size_columns(self, samples)
        self.horizontalHeader().setStretchLastSection(True)
        # The model sorts when the view hears of it, which is after this connection was made.
        order_changed = self.horizontalHeader().sortIndicatorChanged
        order_changed.connect(self.take_order, Qt.ConnectionType.QueuedConnection)
        RowMenus(self).requested.connect(self._request_menu)
        self.selectionModel().currentRowChanged.connect(self._choose_row)

    # ------------------------------------------------------------------ following

    @property
    def marked_id(self) -> int:
        """The subject that is marked wherever it is, 0 for none."""
        return self._marked_id

    def refresh(self) -> None:
        """Show what is new: only cells that say something else are painted."""
        with self.arranging():
            self._ranked.refresh()
        self.show_changes()
        self._follow_marked()

    def mark(self, subject_id: int) -> None:
        """Mark a subject and bring it into view; 0 marks none."""
        if subject_id != self._marked_id:
            self._marked_id = subject_id
            row = self._follow_marked()
            if row is not None:
                self.scrollTo(self._ranked.index(row, 0))

    @Slot()
    def take_order(self) -> None:
        """Show the rows again, after the model has taken another order."""
        self.show_changes()
        self._follow_marked()

    def _follow_marked(self) -> int | None:
        """Mark the row in which the marked subject is now; the view does not scroll."""
        row = self._ranked.row_of(self._marked_id) if self._marked_id else None
        current = self.currentIndex()
        if row == (current.row() if current.isValid() else None):
            return row
        with self.arranging():
            if row is None:
                self.selectionModel().clear()
            else:
                column = current.column() if current.isValid() else 0
                self.setCurrentIndex(self._ranked.index(row, column))
        return row

    # ------------------------------------------------------------------ acting

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        with without_choosing(self):
            super().focusInEvent(event)

    @Slot(QModelIndex, QModelIndex)
    def _choose_row(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if self.is_arranging or not current.isValid():
            return
        subject_id = self._ranked.id_at(current.row())
        if subject_id is not None:
            self._marked_id = subject_id
            self.chosen.emit(subject_id)

    @Slot(QModelIndex, QPoint)
    def _request_menu(self, index: QModelIndex, place: QPoint) -> None:
        subject_id = self._ranked.id_at(index.row()) if index.isValid() else None
        if subject_id is not None:
            self.menu_requested.emit(subject_id, place)
