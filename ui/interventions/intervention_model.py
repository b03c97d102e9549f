"""The table of interventions: commands and breakpoint hits, a row for each, only appended to."""

from __future__ import annotations

from datetime import datetime
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex
from PySide6.QtGui import QBrush, QColor
from typing_extensions import override

from inspector.analysis.intervention_list import Intervention, InterventionList
from inspector.display_text import one_line
from inspector.timebase import format_instant

from ..kit.guards import guarded
from ..kit.table import roles
from ..kit.table.header_row import HeaderRow, alignments
from ..kit.table.roles import Role
from ..kit.table.titled_table import ListTableModel
from ..session.selection import Selection

if TYPE_CHECKING:
    from inspector.commands.undoing import Undoing
    from inspector.events.timeline import Timeline

_MS_PER_SECOND: Final = 1_000


class InterventionColumn(IntEnum):
    """The columns of the table."""

    NUMBER = 0
    AT = 1
    LOCAL = 2
    HOST = 3
    WHAT = 4
    BY = 5
    RESULT = 6
    UNDO = 7


_HEADERS: Final = {
    InterventionColumn.NUMBER: (
        "No.",
        "Number of the command, or b and the number of the breakpoint",
    ),
    InterventionColumn.AT: ("Session (m:s)", "Session time, in minutes and seconds"),
    InterventionColumn.LOCAL: (
        "Local time",
        "Local time of the affected clock, or of the root clock",
    ),
    InterventionColumn.HOST: ("Host time", "Wall-clock time of this computer"),
    InterventionColumn.WHAT: ("What", ""),
    InterventionColumn.BY: ("By", "Who requested it"),
    InterventionColumn.RESULT: (
        "Result",
        "Carried out, refused, or undone since",
    ),
    InterventionColumn.UNDO: ("Undo", ""),
}
_NUMBERS: Final = (InterventionColumn.NUMBER, InterventionColumn.AT, InterventionColumn.HOST)
#: Left-aligned columns to the right of numbers.
_BEHIND_NUMBERS: Final = (InterventionColumn.LOCAL, InterventionColumn.WHAT)
_ALIGNED: Final = alignments(InterventionColumn, _NUMBERS)
_HEADER: Final = HeaderRow(_HEADERS, _ALIGNED, apart=_BEHIND_NUMBERS)


@guarded
class InterventionModel(ListTableModel[int]):
    """Commands and breakpoint hits in the order in which they happened.

    A row is the place of one among all of them. Rows that were shown stay where they
    are: a refresh costs what is new.
    """

    def __init__(self) -> None:
        """Begin without rows."""
        super().__init__(_HEADER)
        self._list: InterventionList | None = None
        self._undoing: Undoing | None = None
        self._row_of: dict[int, int] = {}
        self._words: tuple[str, ...] = ()
        self._refused_color = QColor()
        self._link_color = QColor()
        self._muted_color = QColor()

    # ---------------------------------------------------------------- what is shown

    def set_session(self, timeline: Timeline | None, undoing: Undoing | None) -> None:
        """Show another session's interventions.

        Args:
            timeline: Where they are told, ``None`` for none.
            undoing: What can be undone, ``None`` where nothing can.
        """
        self.beginResetModel()
        self._list = None if timeline is None else InterventionList(timeline)
        self._undoing = undoing
        if self._list is not None:
            self._list.take_new()
        self._show_matching()
        self.endResetModel()

    def set_filter(self, text: str) -> None:
        """Show only rows that have every word of a text, in any case of letters."""
        self.beginResetModel()
        self._words = tuple(text.casefold().split())
        self._show_matching()
        self.endResetModel()

    def set_colors(self, refused: QColor, link: QColor, muted: QColor) -> None:
        """Choose the colours of what was refused, can be undone, and was undone."""
        self._refused_color, self._link_color, self._muted_color = refused, link, muted

    def refresh(self) -> int:
        """Take over what is new; return how many rows were added."""
        if self._list is None:
            return 0
        entries = self._list.entries
        first = len(entries)
        changed = self._list.take_new()
        added = [i for i in range(first, len(entries)) if self._matches(entries[i])]
        if added:
            start = len(self._rows)
            self.beginInsertRows(QModelIndex(), start, start + len(added) - 1)
            self._row_of.update((place, row) for row, place in enumerate(added, start))
            self._rows += added
            self.endInsertRows()
        for place in changed:
            row = self._row_of.get(place)
            if row is not None:
                last = self.columnCount() - 1
                self.dataChanged.emit(self.index(row, 0), self.index(row, last))
        return len(added)

    def entry(self, row: int) -> Intervention:
        """Return what a row shows."""
        assert self._list is not None, "without a session there are no rows"
        return self._list.entries[self._rows[row]]

    def can_undo(self, row: int) -> bool:
        """Return whether what a row shows can be undone now."""
        entry = self.entry(row)
        undoing = self._undoing
        return not entry.is_hit and undoing is not None and undoing.of(entry.number) is not None

    @property
    def hidden_count(self) -> int:
        """How many the filter keeps back."""
        return 0 if self._list is None else len(self._list.entries) - len(self._rows)

    def row_text(self, row: int) -> str:
        """Return all cells of a row, separated by tabulators."""
        entry = self.entry(row)
        columns = (each for each in InterventionColumn if each is not InterventionColumn.UNDO)
        return "\t".join(self._text(entry, each) for each in columns)

    # ---------------------------------------------------------------- for Qt

    @override
    def data(  # noqa: PLR0911 - one answer per role
        self, index: QModelIndex | QPersistentModelIndex, role: int = roles.DISPLAY
    ) -> object:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row, column = index.row(), InterventionColumn(index.column())
        entry = self.entry(row)
        match role:
            case roles.DISPLAY:
                if column is InterventionColumn.UNDO:
                    return "Undo" if self.can_undo(row) else ""
                return one_line(self._text(entry, column))
            case roles.TOOL_TIP:
                return self._tip(row, entry, column)
            case roles.FOREGROUND:
                return self._brush(row, entry, column)
            case roles.ALIGNMENT:
                return _ALIGNED[column]
            case roles.DECORATION if column in _BEHIND_NUMBERS:
                return roles.gap()
            case Role.RAW:
                return entry
            case Role.SELECTION:
                return selection_of(entry)
            case _:
                return None

    # ---------------------------------------------------------------- internals

    def _show_matching(self) -> None:
        entries = [] if self._list is None else self._list.entries
        self._rows = [place for place, entry in enumerate(entries) if self._matches(entry)]
        self._row_of = {place: row for row, place in enumerate(self._rows)}

    def _matches(self, entry: Intervention) -> bool:
        if not self._words:
            return True
        cells = (entry.label, entry.clock_name, entry.text, entry.by, entry.outcome)
        line = "\n".join(cells).casefold()
        return all(word in line for word in self._words)

    @staticmethod
    def _text(entry: Intervention, column: InterventionColumn) -> str:  # noqa: PLR0911
        match column:
            case InterventionColumn.NUMBER:
                return entry.label
            case InterventionColumn.AT:
                return format_instant(entry.at_ns)
            case InterventionColumn.LOCAL:
                if entry.local_ns is None:
                    return ""
                return f"{format_instant(entry.local_ns)} {entry.clock_name}".rstrip()
            case InterventionColumn.HOST:
                return host_time_text(entry.host_ms)
            case InterventionColumn.WHAT:
                return entry.text
            case InterventionColumn.BY:
                return entry.by
            case InterventionColumn.RESULT:
                return entry.outcome
            case _:
                return ""

    def _tip(  # noqa: PLR0911 - one tip per column
        self, row: int, entry: Intervention, column: InterventionColumn
    ) -> str | None:
        match column:
            case InterventionColumn.HOST if entry.host_ms:
                return host_time_text(entry.host_ms, is_full=True)
            case InterventionColumn.HOST | InterventionColumn.LOCAL if not entry.host_ms:
                return "Unknown"
            case InterventionColumn.WHAT | InterventionColumn.RESULT:
                return f"{entry.text}\n{entry.outcome}"
            case InterventionColumn.AT:
                return f"Frame {entry.frame:,}"
            case InterventionColumn.UNDO if self.can_undo(row):
                return f"Undo: {entry.text}"
            case InterventionColumn.UNDO:
                return "It cannot be undone"
            case _:
                return None

    def _brush(self, row: int, entry: Intervention, column: InterventionColumn) -> QBrush | None:
        if column is InterventionColumn.RESULT and entry.refusal:
            return QBrush(self._refused_color)
        if column is InterventionColumn.UNDO and self.can_undo(row):
            return QBrush(self._link_color)
        return QBrush(self._muted_color) if entry.undone_by else None


def selection_of(entry: Intervention) -> Selection:
    """Return what an intervention is about: the clock it names, else the frame it came before."""
    if entry.clock_id and not entry.is_hit:
        return Selection.clock(entry.clock_id)
    return Selection.frame(entry.frame)


@lru_cache(maxsize=4_096)
def host_time_text(host_ms: int, *, is_full: bool = False) -> str:
    """Return the host's own time on the local wall clock, empty if it is not known.

    Args:
        host_ms: Milliseconds since 1970.
        is_full: With the date and the zone.
    """
    if not host_ms:
        return ""
    try:
        when = datetime.fromtimestamp(host_ms // _MS_PER_SECOND).astimezone()
    except (OverflowError, OSError, ValueError):
        return ""
    text = f"{when:%H:%M:%S}.{host_ms % _MS_PER_SECOND:03d}"
    return f"{when:%A, %Y-%m-%d} {text} {when:%Z}".rstrip() if is_full else text
