"""A panel that is a table: above it a filter, buttons and how many rows there are."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from ..filter_line import FilterLine
from ..guards import guarded
from ..labels import ElidedLabel, WrappedLabel
from ..layouts import bar, fill
from ..theme import Theme
from .models import ListTableModel
from .table_view import ENTER, TableView

if TYPE_CHECKING:
    from ..layouts import Part


#: The count has at most this part of the width: a quarter.
_COUNT_PART: Final = 4


@guarded
class TablePanel(QWidget):
    """Filters a table, counts its rows, and says why there are none."""

    def __init__(
        self, view: TableView, theme: Theme, parent: QWidget | None, *, filter_hint: str
    ) -> None:
        """Put a table into a panel; ``filter_hint`` is what the empty filter says."""
        super().__init__(parent)
        self._theme = theme
        self.view = view
        self.notice = view.notice
        self.filter_line = FilterLine(filter_hint)
        # In "2 of 3 shown", both numbers or the first
        self.count_label = ElidedLabel(", ", " (?!of)(?<!of )")
        view.make_menu = self.make_menu
        view.doubleClicked.connect(self.activate)
        for key in ENTER:
            view.on(key, self._activate_current)
        self.filter_line.filter_changed.connect(self._apply_filter)
        self.filter_line.left_downwards.connect(view.setFocus)
        theme.changed.connect(self._apply_theme)

    def lay_out(self, *tools: Part) -> None:
        """Put ``tools`` between the filter and the count.

        The filter gets twice as much of the room as a tool that stretches by 1.
        """
        top = bar((self.filter_line, 2), *tools, self.count_label)
        # What of the current row may have no room in its cells
        self.detail = WrappedLabel()
        self.detail.setContentsMargins(6, 0, 6, 2)
        self.view.selectionModel().currentRowChanged.connect(self._on_current_row_changed)
        fill(self, top, (self.view, 1), self.detail)
        self._apply_theme()

    def make_menu(self, row: int) -> QMenu:
        return self.view.copy_menu(row)

    def activate(self, index: QModelIndex) -> None:
        """Do what a double click or Enter on a cell stands for."""

    def count_text(self) -> str:
        model = self.view.model()
        rows, hidden = model.rowCount(), getattr(model, "hidden_count", 0)
        return f"{rows:,} of {rows + hidden:,} shown" if hidden else f"{rows:,} shown"

    @abstractmethod
    def why_empty(self) -> str:
        """Return why there is no row."""

    def filter_rows(self, text: str) -> None:
        model = self.view.model()
        assert isinstance(model, ListTableModel), "others say what a filter is for them"
        model.set_filter(text)

    def detail_of(self, row: int) -> str:  # noqa: ARG002 - for the panels that have one
        """Return what is said of a row below the table, or nothing."""
        return ""

    @Slot(QModelIndex)
    def _on_current_row_changed(self, index: QModelIndex) -> None:
        self.detail.set_text(self.detail_of(index.row()) if index.isValid() else "")

    @Slot()
    def _activate_current(self) -> None:
        index = self.view.currentIndex()
        if index.isValid():
            self.activate(index)

    @Slot(str)
    def _apply_filter(self, text: str) -> None:
        self.filter_rows(text)
        self.update_counts()

    def update_counts(self) -> None:
        label, text = self.count_label, self.count_text()
        if text != label.text():
            label.set_text(text)
            self._fit_count()
        self.notice.set_text("" if self.view.model().rowCount() else self.why_empty())

    def _fit_count(self) -> None:
        """Give the count the room it needs, but never so much that the panel gets wider.

        Its size is fixed, so that another text causes no new layout; and it does not shrink with
        the text, which would move its neighbours.
        """
        label = self.count_label
        needed = label.sizeHint()
        wanted = max(needed.width(), label.minimumWidth())
        label.setFixedSize(min(wanted, self.width() // _COUNT_PART), needed.height())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_count()

    @Slot()
    def _apply_theme(self) -> None:
        self.filter_line.set_icons(self._theme)
