"""What all tables of the window have in common: how they look, select and leave the focus."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A column of a model: an ``IntEnum``.
ColumnT = TypeVar("ColumnT", bound=int)

#: Pixels of a row above and below its text, together.
_ROW_PADDING = 6

#: Pixels of a cell beside its text.
_CELL_PADDING = 14


def set_up_table(view: QTableView, *, selects_many: bool = False) -> None:
    """Make whole rows selectable, all of one height, without a grid; Tab leaves the table.

    Args:
        view: The table; what its cells let a user edit is set by its owner.
        selects_many: Whether several rows can be selected at once.
    """
    modes = QAbstractItemView.SelectionMode
    view.setWordWrap(False)
    view.setShowGrid(False)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(modes.ExtendedSelection if selects_many else modes.SingleSelection)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setTabKeyNavigation(False)
    # Rows are placed by reckoning only while all have the same, fixed height.
    rows = view.verticalHeader()
    rows.setVisible(False)
    rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    rows.setMinimumSectionSize(8)
    rows.setDefaultSectionSize(view.fontMetrics().height() + _ROW_PADDING)
    view.horizontalHeader().setHighlightSections(False)


def size_columns(view: QTableView, samples: Mapping[ColumnT, str]) -> None:
    """Make columns wide enough for their titles and for a text.

    Args:
        view: The table, with its model; after :func:`sort_by_click` if that is called.
        samples: By column, the widest text that is not to be cut off.
    """
    model, metrics = view.model(), view.fontMetrics()
    mark = " ▾ " if view.horizontalHeader().isSortIndicatorClearable() else ""
    for column, sample in samples.items():
        title = str(model.headerData(column, Qt.Orientation.Horizontal)) + mark
        widest = max(metrics.horizontalAdvance(sample), metrics.horizontalAdvance(title))
        view.setColumnWidth(column, widest + _CELL_PADDING)
