"""The transitions of a state machine as a table, including refused ones."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from typing_extensions import override

from inspector.events.history import History
from inspector.events.members import StateHistory
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import TRANSITION_REFUSED

from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.theme import ColorRole, Theme

#: Limit of rows; older ones are dropped.
MAX_ROWS: Final = 5_000


class TransitionRow(Struct, frozen=True):
    """A transition, made or refused."""

    at_ns: int
    source: str  # The previous state; empty for the first
    name: str  # The transition; empty for the first state
    target: str  # The new state; empty if the transition was refused
    lasted_ns: int | None = None  # Duration of the previous state, None for the first
    reason: str = ""  # Reason of a refusal

    @property
    def is_refused(self) -> bool:
        return not self.target


class Refusals:
    """The refused transitions by machine, read from a log by cursor."""

    def __init__(self) -> None:
        self._cursor = 0
        self._found: dict[int, list[tuple[int, int, int]]] = {}

    def read(self, history: History) -> None:
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
    """Return the transitions of a machine, newest first, up to the limit."""
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
    # At the same instant the order is kept: entered before refused.
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


_column = Column[TransitionRow]


def _reason(row: TransitionRow) -> str | None:
    return row.reason or None


class TransitionColumn(ColumnEnum):
    """The columns."""

    # fmt: off
    WHEN = _column(
        "Session (m:s)", lambda row: format_instant(row.at_ns),
        "Session time at which it happened", _reason, raw=lambda row: row.at_ns,
        sample="0:00:00.000", is_number=True)
    SOURCE = _column(
        "From", lambda row: row.source, "The previous state", _reason, sample="game over")
    LASTED = _column(
        "For", lambda row: "" if row.lasted_ns is None else format_duration(row.lasted_ns),
        "Time spent in the previous state", _reason, sample="00.0 ms", is_number=True)
    BY = _column(
        "By", lambda row: row.name, "The requested transition", _reason, sample="continue")
    TARGET = _column(
        "To", lambda row: f"✖ refused: {row.reason}" if row.is_refused else row.target,
        "The new state, or why the transition was refused", _reason)
    # fmt: on


class MachineTransitionsModel(ListTableModel[TransitionRow]):
    """The transitions of a machine, newest first, at most 5 000 rows."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(TransitionColumn, theme)

    @override
    def color_of(self, row: TransitionRow, column: ColumnEnum) -> ColorRole | None:
        return ColorRole.RED if row.is_refused else None
