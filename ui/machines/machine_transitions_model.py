"""The transitions of a state machine as a Qt table, those that were refused included."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex
from typing_extensions import override

from inspector.display_text import one_line
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import TRANSITION_REFUSED

from ..kit.guards import guarded
from ..kit.table import roles
from ..kit.table.header_row import HeaderRow, alignments
from ..kit.table.roles import Role
from ..kit.table.titled_table import ListTableModel
from ..kit.theme import ColorRole, Theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.events.history import History
    from inspector.events.members import StateHistory

#: Rows kept; older ones leave at the end.
MAX_ROWS: Final = 5_000


class TransitionColumn(IntEnum):
    """The columns."""

    WHEN = 0
    SOURCE = 1
    LASTED = 2
    BY = 3
    TARGET = 4


_HEADERS: Final = {
    TransitionColumn.WHEN: ("Session (m:s)", "Session time at which it happened"),
    TransitionColumn.SOURCE: ("From", "The previous state"),
    TransitionColumn.LASTED: ("For", "Time spent in the previous state"),
    TransitionColumn.BY: ("By", "The requested transition"),
    TransitionColumn.TARGET: ("To", "The new state, or why the transition was refused"),
}
_NUMBERS: Final = frozenset({TransitionColumn.WHEN, TransitionColumn.LASTED})
#: Columns that are kept off the numbers to their left.
_BEHIND_NUMBERS: Final = frozenset({TransitionColumn.SOURCE, TransitionColumn.BY})
_ALIGNED: Final = alignments(TransitionColumn, _NUMBERS)
_HEADER: Final = HeaderRow(_HEADERS, _ALIGNED, apart=_BEHIND_NUMBERS)


@dataclass(frozen=True, slots=True)
class TransitionRow:
    """Something that happened to a machine.

    Attributes:
        at_ns: Session time.
        source: The state it was in; empty for the first one.
        name: The transition; empty for the first state.
        target: The state that was entered; empty when the transition was refused.
        lasted_ns: How long it had been in the state it was in, ``None`` for the first one.
        reason: Why the transition was not made.
    """

    at_ns: int
    source: str
    name: str
    target: str
    lasted_ns: int | None = None
    reason: str = ""

    @property
    def is_refused(self) -> bool:
        """Whether the transition was not made."""
        return not self.target


class Refusals:
    """The transitions that were refused, by machine, read from a log by cursor."""

    def __init__(self) -> None:
        """Begin with none."""
        self._cursor = 0
        self._found: dict[int, list[tuple[int, int, int]]] = {}

    def read(self, history: History) -> None:
        """Take in what is new."""
        start = max(self._cursor, history.first)
        end = history.end
        for at_ns, kind, subject, a, b in history.events(start, end):
            if kind == TRANSITION_REFUSED:
                self._found.setdefault(subject, []).append((at_ns, a, b))
        self._cursor = end

    def of(self, machine_id: int) -> list[tuple[int, int, int]]:
        """Return instant, transition (sid) and reason (sid) of each refusal of a machine."""
        return self._found.get(machine_id, [])


def rows_of(
    history: StateHistory | None, refusals: Sequence[tuple[int, int, int]], strings: Sequence[str]
) -> list[TransitionRow]:
    """Return what happened to a machine, the newest first, as many rows as are kept."""
    rows: list[TransitionRow] = []
    if history is not None:
        count = len(history)
        for place in range(max(count - MAX_ROWS, 0), count):
            at_ns = history.at_ns[place]
            rows.append(
                TransitionRow(
                    at_ns,
                    strings[history.state[place - 1]] if place else "",
                    strings[history.transition[place]],
                    strings[history.state[place]],
                    at_ns - history.at_ns[place - 1] if place else None,
                )
            )
    rows += [_refusal(history, refusal, strings) for refusal in refusals[-MAX_ROWS:]]
    # What happened at the same instant stays in its order: entered before refused.
    rows.sort(key=lambda row: row.at_ns)
    return rows[: -MAX_ROWS - 1 : -1]


def _refusal(
    history: StateHistory | None, refusal: tuple[int, int, int], strings: Sequence[str]
) -> TransitionRow:
    at_ns, name, reason = refusal
    place = -1 if history is None else bisect_right(history.at_ns, at_ns) - 1
    if history is None or place < 0:
        return TransitionRow(at_ns, "", strings[name], "", None, strings[reason])
    source, lasted_ns = strings[history.state[place]], at_ns - history.at_ns[place]
    return TransitionRow(at_ns, source, strings[name], "", lasted_ns, strings[reason])


@guarded
class MachineTransitionsModel(ListTableModel[TransitionRow]):
    """What happened to one machine, the newest first, at most 5 000 rows."""

    def __init__(self, theme: Theme) -> None:
        """Begin without rows."""
        super().__init__(_HEADER)
        self._theme = theme

    @property
    def rows(self) -> Sequence[TransitionRow]:
        """The rows."""
        return self._rows

    def show_rows(self, rows: list[TransitionRow]) -> None:
        """Show other rows; those that are the same stay where they are."""
        if rows == self._rows:
            return
        added = len(rows) - len(self._rows)
        if self._rows and added > 0 and rows[added:] == self._rows:
            self.beginInsertRows(QModelIndex(), 0, added - 1)
            self._rows = rows
            self.endInsertRows()
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    @override
    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = roles.DISPLAY) -> object:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row, column = self._rows[index.row()], TransitionColumn(index.column())
        answer: object = None
        match role:
            case roles.DISPLAY:
                answer = one_line(_text(row, column))
            case Role.RAW:
                answer = row.at_ns
            case roles.ALIGNMENT:
                answer = _ALIGNED[column]
            case roles.DECORATION if column in _BEHIND_NUMBERS:
                answer = roles.gap()
            case roles.FOREGROUND if row.is_refused:
                answer = self._theme.color(ColorRole.BAD)
            case roles.TOOL_TIP if row.reason:
                answer = row.reason
        return answer


def _text(row: TransitionRow, column: TransitionColumn) -> str:
    lasted = "" if row.lasted_ns is None else format_duration(row.lasted_ns)
    texts = {
        TransitionColumn.WHEN: format_instant(row.at_ns),
        TransitionColumn.SOURCE: row.source,
        TransitionColumn.BY: row.name,
        TransitionColumn.LASTED: lasted,
        TransitionColumn.TARGET: f"✖ {row.reason}" if row.is_refused else row.target,
    }
    return texts[column]
