"""What all tables of the window have in common: how they look, select and leave the focus."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A column of a model: an ``IntEnum``.
ColumnT = TypeVar("ColumnT", bound=int)

#: Pixels of a row above and below its text, together.
_ROW_PADDING = 6

#: Pixels of a cell beside its text.
_CELL_PADDING = 14


def set_up_table(view: QTableView, *, selects_many: bool = False, has_menu: bool = False) -> None:
    """Make whole rows selectable, all of one height, without a grid; Tab leaves the table.

    Args:
        view: The table; what its cells let a user edit is set by its owner.
        selects_many: Whether several rows can be selected at once.
        has_menu: Whether it asks its owner for a context menu.
    """
    modes = QAbstractItemView.SelectionMode
    view.setWordWrap(False)
    view.setShowGrid(False)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(modes.ExtendedSelection if selects_many else modes.SingleSelection)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setTabKeyNavigation(False)
    if has_menu:
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
    # Rows are placed by reckoning only while all have the same, fixed height.
    rows = view.verticalHeader()
    rows.setVisible(False)
    rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    rows.setMinimumSectionSize(8)
    rows.setDefaultSectionSize(view.fontMetrics().height() + _ROW_PADDING)
    view.horizontalHeader().setHighlightSections(False)


class TickDelegate(QStyledItemDelegate):
    """Outlines ticks in a table as those of check boxes are, so that they can be seen."""

    @override
    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        ticks = QApplication.palette("QCheckBox")  # type: ignore[call-overload]
        option.palette.setColor(QPalette.ColorRole.Window, ticks.color(QPalette.ColorRole.Window))


def sort_by_click(view: QTableView) -> None:
    """Sort by the header that is clicked; a third click brings back the model's own order."""
    header = view.horizontalHeader()
    header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    header.setSortIndicatorClearable(True)
    view.setSortingEnabled(True)


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
