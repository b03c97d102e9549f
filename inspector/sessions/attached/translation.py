"""Converts the events of a program to the numbers, texts and instants of the session.

The unit of a number in the schema says how to convert it: the numbers of clocks, timers and tasks
are shifted by program, texts are looked up in a table, and instants are shifted by the offset of
the clocks. Events with impossible numbers are refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from inspector.clocks.rate import MAX_RATE
from inspector.display_text import foreign_line
from inspector.events.schema import ADDED, NUMBERS, PHASE_ENDS, SCHEMA, EventGroup, Unit
from inspector.sessions.attached.session_numbers import ABOVE_PROGRAM, NUMBER_BITS, ROOT_ID
from inspector.timebase import MAX_NS
from inspector.vocabulary import CLOCK_ANCHORED, NEVER, RATE_DENOMINATOR, EventKind

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Rows of an instant, a kind and three numbers: int64, shape (events, 5).
Rows: TypeAlias = "NDArray[np.int64]"

#: Most texts and characters of a program, so that it cannot fill the memory.
_MOST_TEXTS: Final = 1_000_000
_MOST_CHARACTERS: Final = 64_000_000
_TOO_MANY: Final = "(too many texts)"

_GROUPS_OF_SESSIONS: Final = {
    EventGroup.COMMANDS,
    EventGroup.BREAKPOINTS,
    EventGroup.READINGS,
    EventGroup.MEMBERS,
    EventGroup.CALLS,
    EventGroup.STATES,
}
#: The kinds that programs may report; only the session makes the others.
KINDS: Final = {
    int(kind): row
    for kind, row in SCHEMA.items()
    if row.group not in _GROUPS_OF_SESSIONS
    and (row.subject is not Unit.LOOP or kind is EventKind.LOOP_ASKED)
    and kind not in {EventKind.SCENE, EventKind.FRAME_SHARES}
}
_OF_LINES: Final = {Unit.TRACEBACK, Unit.JSON}
_SPAN: Final = (0, MAX_NS)
_INSTANT: Final = (-MAX_NS, MAX_NS)
_CLOCKS: Final = {Unit.CLOCK, Unit.CLOCK_OR_NONE, Unit.DIRECTOR, Unit.LOOP, Unit.SAMPLED_CLOCK}
_OTHERS: Final = {Unit.TIMER, Unit.TIMER_OR_NONE, Unit.TASK}
_CAUSES: Final = {Unit.CAUSE: 0, Unit.CAUSE_PLUS_ONE: 1}
#: The least and the greatest value by unit; ``_SPAN`` for units that are not listed.
_RANGES: Final = {
    Unit.LOCAL_INSTANT: _INSTANT,
    Unit.LATENESS: _INSTANT,
    Unit.ORDER: _INSTANT,
    Unit.CALLS: (-1, MAX_NS),
    Unit.RATE: (0, MAX_RATE * RATE_DENOMINATOR),
    **{unit: (min(numbers), max(numbers)) for unit, numbers in NUMBERS.items()},
}


class Translation:
    def __init__(self, index: int, shift_ns: int, intern: Callable[[str], int]) -> None:
        self.index = index
        self.shift_ns = shift_ns  # Added to its instants
        self.last_ns = 0
        self.above = ROOT_ID  # The session's clock directly above the program's own clock
        self.name = ""  # The name of its own clock; empty for the name that the program sends
        self.unusable: Counter[int] = Counter()  # How many events were refused, by kind
        self._intern = intern
        self._base = index << NUMBER_BITS
        self._text_count = 1
        # The numbers of each text reduced to one line, and of the whole text.
        self._texts = np.zeros((2, self._text_count), np.int64)
        self._characters = 0
        self._top_clocks: set[int] = set()

    def clock_id(self, number: int) -> int:
        return number + self._base + ROOT_ID

    @property
    def family_id(self) -> int:
        """The session's number of the clock above the program and its children."""
        return self.clock_id(ABOVE_PROGRAM)

    @property
    def top_clock_id(self) -> int:
        """The session's number of the program's own clock, 0 before it is known."""
        return self.clock_id(min(self._top_clocks)) if self._top_clocks else 0

    def add_texts(self, first: int, texts: Sequence[str]) -> bool:
        """Add texts numbered from ``first``; returns whether the numbers are possible."""
        end = first + len(texts)
        if not 0 < first <= self._text_count or end > _MOST_TEXTS:
            return False
        if end > (size := self._texts.shape[1]):
            self._texts = np.pad(self._texts, ((0, 0), (0, max(end - size, size))))
        for number, text in enumerate(texts, first):
            self._characters += len(text)
            kept = text if self._characters <= _MOST_CHARACTERS else _TOO_MANY
            self._texts[:, number] = self._intern(foreign_line(kept)), self._intern(kept)
        self._text_count = max(self._text_count, end)
        return True

    def rows(self, payload: bytes, now_ns: int, last_command: int) -> Rows:
        """Return a batch of events converted to the session, without impossible ones.

        Instants are at most ``now_ns``, and causes are commands up to ``last_command``.
        """
        sent = np.frombuffer(payload, "<i8").reshape(-1, 5)
        rows = sent.astype(np.int64)
        is_good = (sent[:, 0] > _INSTANT[0]) & (sent[:, 0] < _INSTANT[1])
        # np.unique would import numpy.ma, which takes 12 ms.
        for kind in set(sent[:, 1].tolist()):
            mine = sent[:, 1] == kind
            row = KINDS.get(kind)
            if row is None:
                is_good &= ~mine
                continue
            for place, unit in enumerate((row.subject, row.a, row.b), 2):
                values, fits = self._value(unit, sent[mine, place], last_command)
                rows[mine, place] = values
                is_good[mine] &= fits
            if kind in PHASE_ENDS:
                # The event does not name a loop, which is found by its program instead.
                rows[mine, 3] = self.index
        self._shift_top_clocks(sent, rows, is_good)
        if not is_good.all():
            self.unusable.update(sent[~is_good, 1].tolist())
            rows, sent = rows[is_good], sent[is_good]
        if len(rows):
            instants = np.minimum(rows[:, 0] + self.shift_ns, now_ns)
            instants[0] = max(instants[0], self.last_ns)
            rows[:, 0] = np.maximum.accumulate(instants)
            self.last_ns = int(rows[-1, 0])
        return rows

    def _value(
        self, unit: Unit, values: NDArray[np.int64], last_command: int
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return numbers of a unit converted to the session, and which of them are possible."""
        if unit.is_text:
            fits = (values >= 0) & (values < self._text_count)
            return self._texts[int(unit in _OF_LINES), np.where(fits, values, 0)], fits
        if unit in _CLOCKS or unit in _OTHERS:
            fits = (values >= 0) & (values < ABOVE_PROGRAM)
            shift = self._base + (ROOT_ID if unit in _CLOCKS else 0)
            return np.where(fits & (values > 0), values + shift, 0), fits
        if unit in _CAUSES:
            fits = (values >= 0) & (values <= last_command + _CAUSES[unit])
            # Any other cause is no command of this session, and so the program itself.
            return np.where(fits, values, _CAUSES[unit]), np.ones_like(fits)
        if unit is Unit.NOTHING:
            return np.zeros_like(values), np.ones(len(values), np.bool_)
        low, high = _RANGES.get(unit, _SPAN)
        fits = (values >= low) & (values <= high)
        if unit is Unit.LOCAL_DUE:
            fits = (np.abs(values) <= MAX_NS) | (values == NEVER)
        return values, fits

    def _shift_top_clocks(self, sent: Rows, rows: Rows, is_good: NDArray[np.bool_]) -> None:
        """Put the clocks that have no parent in their program below a clock of the session.

        They are anchored in their program's time, so the anchors are shifted, too.
        """
        added = is_good & (sent[:, 1] == ADDED[Unit.CLOCK]) & (sent[:, 3] == 0)
        rows[added, 3] = self.above
        if self.name:
            rows[added, 4] = self._intern(self.name)
        self._top_clocks.update(sent[added, 2].tolist())
        anchored = is_good & (sent[:, 1] == CLOCK_ANCHORED)
        if anchored.any():
            tops = np.isin(sent[:, 2], np.fromiter(self._top_clocks, np.int64))
            rows[anchored & tops, 3] += self.shift_ns
