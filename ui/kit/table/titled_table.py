"""What the tables of the window share as Qt models: titles over their columns, and rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from typing_extensions import override

from ..guards import guarded
from . import roles

if TYPE_CHECKING:
    from .header_row import HeaderRow


@guarded
class TitledTableModel(QAbstractTableModel):
    """A table with titles over its columns; what its rows are is up to who derives from it."""

    def __init__(self, header: HeaderRow) -> None:
        """Take the titles, one for each column."""
        super().__init__()
        self._header = header
        self._column_count = len(header)

    @override
    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else self._column_count

    @override
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = roles.DISPLAY
    ) -> object:
        return self._header.data(section, orientation, role)
