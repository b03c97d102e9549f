"""The table of bookmarks, notes and named ranges; names and texts are edited in place."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QBrush, QColor
from typing_extensions import override

from inspector.timebase import format_duration, format_instant

from ..kit.guards import guarded
from ..kit.table import roles
from ..kit.table.header_row import HeaderRow, alignments
from ..kit.table.roles import Role
from ..kit.table.titled_table import ListTableModel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from inspector.events.annotations import Annotation


class AnnotationColumn(IntEnum):
    """The columns of the table."""

    KIND = 0
    AT = 1
    UNTIL = 2
    NAME = 3
    TEXT = 4
    CREATED = 5


_HEADERS: Final = {
    AnnotationColumn.KIND: ("Kind", ""),
    AnnotationColumn.AT: (
        "At (m:s)",
        "Session time, in minutes and seconds; for a range, where it begins",
    ),
    AnnotationColumn.UNTIL: ("Until", "Session time at which a range ends"),
    AnnotationColumn.NAME: ("Name", "F2 or a second click edits it"),
    AnnotationColumn.TEXT: ("Text", "F2 or a second click edits it"),
    AnnotationColumn.CREATED: ("Added", "Wall-clock time when it was added"),
}
#: Where a line of a text ends, in its cell.
_NEW_LINE: Final = "⏎"
_EDITABLE: Final = (AnnotationColumn.NAME, AnnotationColumn.TEXT)
_NUMBERS: Final = (AnnotationColumn.AT, AnnotationColumn.UNTIL)
_ALIGNED: Final = alignments(AnnotationColumn, _NUMBERS)
_HEADER: Final = HeaderRow(_HEADERS, _ALIGNED, apart=[AnnotationColumn.NAME])


@guarded
class AnnotationModel(ListTableModel["Annotation"]):
    """Annotations, the earliest first.

    An edited cell becomes a request to change; the table shows what comes of it.
    """

    def __init__(self, change: Callable[[Annotation], bool]) -> None:
        """Begin without rows.

        Args:
            change: Puts one in the place of that with its number, if that is possible.
        """
        super().__init__(_HEADER)
        self._change = change
        self._all: Sequence[Annotation] = ()
        self._words: tuple[str, ...] = ()
        self._muted_color = QColor()

    # ---------------------------------------------------------------- what is shown

    def show_items(self, items: Sequence[Annotation]) -> None:
        """Show others; rows of those that stay are kept, with what is marked in them."""
        self._all = items
        wanted = [each for each in items if self._matches(each)]
        if [each.id for each in wanted] == [each.id for each in self._rows]:
            for row, each in enumerate(wanted):
                if each != self._rows[row]:
                    self._rows[row] = each
                    self.dataChanged.emit(self.index(row, 0), self.index(row, self._last))
            return
        self.beginResetModel()
        self._rows = wanted
        self.endResetModel()

    def set_filter(self, text: str) -> None:
        """Show only rows that have every word of a text, in any case of letters."""
        self._words = tuple(text.casefold().split())
        self.show_items(self._all)

    def set_muted_color(self, color: QColor) -> None:
        """Choose the colour of what explains."""
        self._muted_color = color

    def annotation(self, row: int) -> Annotation:
        """Return what a row shows."""
        return self._rows[row]

    def row_of(self, number: int) -> int | None:
        """Return the row of an annotation, ``None`` while it is not shown."""
        return next((row for row, each in enumerate(self._rows) if each.id == number), None)

    @property
    def hidden_count(self) -> int:
        """How many the filter keeps back."""
        return len(self._all) - len(self._rows)

    def row_text(self, row: int) -> str:
        """Return all cells of a row, separated by tabulators."""
        return "\t".join(_cell_text(self._rows[row], column) for column in AnnotationColumn)

    # ---------------------------------------------------------------- for Qt

    @override
    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        flags = super().flags(index)
        if index.isValid() and index.column() in _EDITABLE:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    @override
    def data(  # noqa: PLR0911 - one answer per role
        self, index: QModelIndex | QPersistentModelIndex, role: int = roles.DISPLAY
    ) -> object:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        annotation, column = self._rows[index.row()], AnnotationColumn(index.column())
        match role:
            case roles.DISPLAY:
                return _cell_text(annotation, column)
            case roles.EDIT:
                return _cell_text(annotation, column)
            case roles.TOOL_TIP:
                return _tip(annotation, column)
            case roles.FOREGROUND if column is AnnotationColumn.CREATED:
                return QBrush(self._muted_color)
            case roles.ALIGNMENT:
                return _ALIGNED[column]
            case roles.DECORATION if column is AnnotationColumn.NAME:
                return roles.gap()
            case Role.RAW:
                return annotation
            case Role.ID:
                return annotation.id
        return None

    @override
    def setData(
        self,
        index: QModelIndex | QPersistentModelIndex,
        value: object,
        role: int = roles.EDIT,
    ) -> bool:
        if role != roles.EDIT or not index.isValid() or index.column() not in _EDITABLE:
            return False
        annotation, column = self._rows[index.row()], AnnotationColumn(index.column())
        typed = str(value)
        if typed.strip() == str(self.data(index, roles.EDIT)):
            return False
        if column is AnnotationColumn.NAME:
            return self._change(replace(annotation, name=typed))
        lines = (line.strip() for line in typed.split(_NEW_LINE))
        return self._change(replace(annotation, text="\n".join(lines)))

    # ---------------------------------------------------------------- internals

    @property
    def _last(self) -> int:
        return len(AnnotationColumn) - 1

    def _matches(self, annotation: Annotation) -> bool:
        line = f"{annotation.kind}\n{annotation.name}\n{annotation.text}".casefold()
        return all(word in line for word in self._words)


def _cell_text(annotation: Annotation, column: AnnotationColumn) -> str:
    match column:
        case AnnotationColumn.KIND:
            return annotation.kind
        case AnnotationColumn.AT:
            return format_instant(annotation.at_ns)
        case AnnotationColumn.UNTIL:
            return "" if annotation.end_ns is None else format_instant(annotation.end_ns)
        case AnnotationColumn.NAME:
            return " ".join(annotation.name.split())
        case AnnotationColumn.TEXT:
            lines = (" ".join(line.split()) for line in annotation.text.splitlines())
            return f" {_NEW_LINE} ".join(lines)
        case AnnotationColumn.CREATED:
            return made_text(annotation.created)


def _tip(annotation: Annotation, column: AnnotationColumn) -> str | None:
    if column in _EDITABLE:
        return "\n".join(filter(None, (annotation.name, annotation.text)))
    if column in _NUMBERS and annotation.end_ns is not None:
        return f"{format_duration(annotation.end_ns - annotation.at_ns)} long"
    if column is AnnotationColumn.CREATED:
        return annotation.created
    return None


def made_text(created: str) -> str:
    """Return when something was made on the local wall clock, as it is written if unclear."""
    try:
        when = datetime.fromisoformat(created)
    except ValueError:
        return created
    return f"{when.astimezone():%Y-%m-%d %H:%M}"
