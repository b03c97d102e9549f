"""Tables as Qt models: a subclass says what its rows are, columns say the rest."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, cast

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont
from typing_extensions import override

from inspector.display_text import one_line

from ..guards import guarded
from ..theme import ColorRole, Theme
from . import roles
from .cell_painting import EMPTY, Cell
from .columns import ColumnEnum, RowT, apart_columns

if TYPE_CHECKING:
    _Index = QModelIndex | QPersistentModelIndex

#: Combined once, as combining flags takes longer than the rest of a cell.
_USUAL_FLAGS: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


@guarded
class TableModel(QAbstractTableModel, Generic[RowT]):
    """A table with columns; what a cell says is worked out when it is asked for."""

    columns: Sequence[ColumnEnum]
    is_sortable = False  # Whether a click on a title sorts
    sorted_by = -1  # The column that decides the order at first, -1 for none

    def __init__(self, columns: type[ColumnEnum], theme: Theme) -> None:
        super().__init__()
        self.columns = self._shown = tuple(columns)
        self.theme = theme
        self._colors: dict[ColorRole, QColor] = {}
        self._parts: list[tuple[Any, ...]] = []
        self._apart = apart_columns(self.columns)
        self._no_cells = (EMPTY,) * len(self.columns)
        self._bold = QFont()
        self._bold.setBold(True)
        theme.changed.connect(self.forget_colors)

    def set_order(self, order: Sequence[ColumnEnum]) -> None:
        """Keep columns off numbers in this order, from the left."""
        self._shown = tuple(order)
        self._apart = apart_columns(order)
        self._parts.clear()

    @abstractmethod
    def row_at(self, key: int) -> RowT | None:
        """Return what a row shows, ``None`` when there is nothing in it any more."""

    def color_of(self, row: RowT, column: ColumnEnum) -> ColorRole | None:
        color = column.spec.color
        return None if color is None else color(row)

    def is_bold(self, row: RowT, column: ColumnEnum) -> bool:  # noqa: ARG002 - usually not
        return False

    def row_cells(self, key: int) -> Sequence[Cell]:
        row = self.row_at(key)
        if row is None:
            return self._no_cells
        found = list(self._no_cells)
        # Only the columns that are shown are put into words.
        for column, cell in zip(self._shown, self.cells(row, self._shown), strict=True):
            found[column] = cell
        return found

    def cells(self, row: RowT, columns: Sequence[ColumnEnum]) -> list[Cell]:
        if not self._parts:
            # Collected once: for every cell it would take about as long as its text.
            self._parts = [
                (spec.text, spec.alignment, spec.mark, spec.tick, each in self._apart)
                for each, spec in ((each, each.spec) for each in self.columns)
            ]
        parts, gap, found = self._parts, roles.gap(), []
        is_plain = type(self).is_bold is TableModel.is_bold
        for column in columns:
            text, alignment, mark, tick, is_apart = parts[column]
            meaning = self.color_of(row, column)
            found.append(
                Cell(
                    one_line(text(row)),
                    alignment,
                    None if meaning is None else self.color(meaning),
                    not is_plain and self.is_bold(row, column),
                    mark(row) if mark is not None else gap if is_apart else None,
                    tick=None if tick is None else tick(row),
                )
            )
        return found

    def color(self, meaning: ColorRole | None) -> QColor | None:
        if meaning is None:
            return None
        color = self._colors.get(meaning)
        if color is None:
            color = self._colors[meaning] = self.theme.color(meaning)
        return color

    def forget_colors(self) -> None:
        self._colors.clear()

    def row_text(self, key: int) -> str:
        row = self.row_at(key)
        if row is None:
            return ""
        return "\t".join(each.spec.text(row) for each in self.columns if each.spec.is_copied)

    def cell_data(self, key: int, column: ColumnEnum, role: int) -> object:  # noqa: PLR0911
        spec = column.spec
        if role == roles.ALIGNMENT:
            return spec.alignment
        row = self.row_at(key)
        if row is None:
            return None
        match role:
            case roles.DISPLAY:
                return one_line(spec.text(row))
            case roles.EDIT:
                return spec.text(row)
            case roles.TOOL_TIP:
                return None if spec.detail is None else spec.detail(row)
            case roles.ACCESSIBLE_TEXT:
                return f"{spec.title}: {spec.text(row)}"
        (cell,) = self.cells(row, (column,))
        states = Qt.CheckState
        ticked = {None: None, True: states.Checked, False: states.Unchecked}
        looks = {
            roles.FOREGROUND: cell.color,
            roles.FONT: self._bold if cell.is_bold else None,
            roles.DECORATION: cell.mark,
            roles.CHECK_STATE: ticked[cell.tick],
        }
        return looks.get(role)

    @override
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = roles.DISPLAY
    ) -> object:
        if orientation is Qt.Orientation.Vertical or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        spec = column.spec
        match role:
            case roles.DISPLAY:
                return spec.title
            case roles.TOOL_TIP:
                # The title may be shortened in the header; the tool tip has it in full.
                return f"{spec.title}\n{spec.tip}" if spec.short_title else spec.tip or None
            case roles.ALIGNMENT:
                return roles.RIGHT if spec.is_number else roles.LEFT
            case roles.DECORATION if column in self._apart:
                return roles.gap()
        return None

    @override
    def columnCount(self, parent: _Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.columns)

    @override
    def flags(self, index: _Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        spec = self.columns[index.column()].spec
        if spec.is_editable:
            return _USUAL_FLAGS | Qt.ItemFlag.ItemIsEditable
        return _USUAL_FLAGS | Qt.ItemFlag.ItemIsUserCheckable if spec.tick else _USUAL_FLAGS

    @override
    def data(self, index: _Index, role: int = roles.DISPLAY) -> object:
        if role == roles.BACKGROUND or not index.isValid():
            return None
        return self.cell_data(index.row(), self.columns[index.column()], role)


def raw_value(column: ColumnEnum, row: object) -> Any:  # noqa: ANN401 - of whatever type it is
    return (column.spec.raw or column.spec.text)(row)


@guarded
class ListTableModel(TableModel[RowT]):
    """A table whose rows are a list: filtered by words, and sorted if that is wanted."""

    def __init__(
        self,
        columns: type[ColumnEnum],
        theme: Theme,
        key_of: Callable[[RowT], Hashable] = lambda row: cast("Hashable", row),
        *,
        is_sortable: bool = False,
    ) -> None:
        """Begin without rows; a key stays the same while its row says something else."""
        super().__init__(columns, theme)
        self.key_of, self.is_sortable = key_of, is_sortable
        self.rows: list[RowT] = []  # What is shown, from the top
        self._all: list[RowT] = []
        self._searched = [column for column in self.columns if column.spec.is_searched]
        self._words: tuple[str, ...] = ()
        self._sorted_by: ColumnEnum | None = None
        self._is_descending = False

    @property
    def hidden_count(self) -> int:
        return len(self._all) - len(self.rows)

    @override
    def rowCount(self, parent: _Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.rows)

    @override
    def row_at(self, key: int) -> RowT | None:
        return self.rows[key] if 0 <= key < len(self.rows) else None

    def row_of(self, key: Hashable) -> int | None:
        key_of = self.key_of
        return next((at for at, each in enumerate(self.rows) if key_of(each) == key), None)

    def set_rows(self, rows: Iterable[RowT]) -> None:
        """Show other rows; rows that are kept stay marked if they were."""
        self._all = list(rows)
        self._filter_rows()

    def add_rows(self, rows: Sequence[RowT]) -> int:
        """Add rows at the end; return how many of them are shown."""
        self._all += rows
        passing = [each for each in rows if self._passes(each)]
        if passing:
            self._insert(len(self.rows), [*self.rows, *passing])
            if self._sorted_by is not None:
                self._reorder(self._in_order(self.rows))
        return len(passing)

    def change_row(self, place: int, row: RowT) -> None:
        """Replace a row by its number among all rows, with those that are hidden."""
        former, self._all[place] = self._all[place], row
        for at, each in enumerate(self.rows):
            if each is former:
                self.rows[at] = row
                self._emit_changed(at, at)

    def set_filter(self, text: str) -> None:
        """Show only rows that have every word of a text, in any case of letters."""
        words = tuple(text.casefold().split())
        if words != self._words:
            self._words = words
            self._filter_rows()

    def _passes(self, row: RowT) -> bool:
        if not self._words:
            return True
        line = "\n".join(column.spec.text(row) for column in self._searched).casefold()
        return all(word in line for word in self._words)

    @override
    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by the values of a column; by none, the rows are in their own order."""
        if self.is_sortable:
            self._sorted_by = self.columns[column] if 0 <= column < len(self.columns) else None
            self._is_descending = order == Qt.SortOrder.DescendingOrder
            self._filter_rows()

    def _in_order(self, rows: list[RowT]) -> list[RowT]:
        column = self._sorted_by
        if column is None:
            return rows

        def rank(row: RowT) -> tuple[bool, object]:
            value = raw_value(column, row)
            return value is not None, value.casefold() if isinstance(value, str) else value

        return sorted(rows, key=rank, reverse=self._is_descending)

    def _filter_rows(self) -> None:
        """Show the rows that pass the filter, by as small a change as possible."""
        rows = self._in_order([each for each in self._all if self._passes(each)])
        former, key_of = self.rows, self.key_of
        if rows == former:
            self.rows = rows
            return
        if not former:
            self._insert(0, rows)
            return
        before, after = list(map(key_of, former)), list(map(key_of, rows))
        added = len(after) - len(before)
        if before == after:
            changed = [at for at, row in enumerate(rows) if row != former[at]]
            self.rows = rows
            if changed:
                self._emit_changed(changed[0], changed[-1])
        elif added > 0 and after[added:] == before:
            self._insert(0, rows)
        elif added > 0 and after[: len(before)] == before:
            self._insert(len(before), rows)
        elif not added and len(known := set(after)) == len(after) and known == set(before):
            self._reorder(rows)
        else:
            self.beginResetModel()
            self.rows = rows
            self.endResetModel()

    def _insert(self, at: int, rows: list[RowT]) -> None:
        self.beginInsertRows(QModelIndex(), at, at + len(rows) - len(self.rows) - 1)
        self.rows = rows
        self.endInsertRows()

    def _reorder(self, rows: list[RowT]) -> None:
        self.layoutAboutToBeChanged.emit()
        key_of, former = self.key_of, self.rows
        places = {key_of(row): at for at, row in enumerate(rows)}
        before = self.persistentIndexList()
        after = [self.index(places[key_of(former[each.row()])], each.column()) for each in before]
        self.rows = rows
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def _emit_changed(self, first: int, last: int) -> None:
        self.dataChanged.emit(self.index(first, 0), self.index(last, len(self.columns) - 1))
