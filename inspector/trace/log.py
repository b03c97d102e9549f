"""The event log: a bounded ring of events, read by cursor."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

from inspector.trace.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.vocabulary import RawEvent

#: Numbers in one event.
_WIDTH: Final = 5

#: What one event takes in memory: five places in a list, which keeps an eighth in reserve,
#: and three integers of its own (measured with ``sys.getsizeof`` on CPython 3.11).
BYTES_PER_EVENT: Final = 144

#: So many events that were read are kept as they were given, for the next who asks.
_MOST_KEPT: Final = 4_096

DEFAULT_BUDGET_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LogBatch:
    """What a reader had not seen yet.

    Attributes:
        events: The events, oldest first.
        cursor: Where to read on.
        lost: How many events fell off before they could be read.
    """

    events: list[RawEvent]
    cursor: int
    lost: int


class EventLog:
    """Keeps the newest events within a budget of bytes.

    Cursors count events since the session began. What falls off the end is first
    folded into :attr:`base`, so the state at any instant still kept stays exact.
    :meth:`settle` keeps the budget and is called by the session after every wake-up.
    One thread writes and reads.

    The numbers of all events lie in one list, one event behind the other: no object is
    made for an event that stays. So appending takes half the time of keeping tuples, the
    budget holds a third more, and recording never makes the garbage collector run in the
    user's program. Readers get tuples, made when they ask.

    Attributes:
        append: Takes one event. It is the ``extend`` of a list, for speed.
        strings: The string table; number 0 is the empty text.
        budget_bytes: What the kept events may take together.
    """

    def __init__(self, budget_bytes: int = DEFAULT_BUDGET_BYTES) -> None:
        """Begin empty.

        Args:
            budget_bytes: What the kept events may take together, at least one block.

        Raises:
            ValueError: The budget is not above 0.
        """
        if budget_bytes <= 0:
            message = f"a log needs a budget above 0 bytes: {budget_bytes}"
            raise ValueError(message)
        self.budget_bytes = budget_bytes
        self.strings = [""]
        self._numbers = {"": 0}
        self._flat: list[int] = []
        self._first = 0
        self._base: Timeline | None = None
        self._last_read: tuple[int, int, list[RawEvent]] = (0, 0, [])
        self.append: Callable[[RawEvent], None] = self._flat.extend

    @classmethod
    def holding(
        cls, strings: list[str], events: list[RawEvent], first: int, base: Timeline
    ) -> EventLog:
        """Return a log that has kept just these events, as of a recording.

        Args:
            strings: The string table.
            events: The newest events.
            first: Cursor of the first of them.
            base: The state before it.
        """
        log = cls(max(1, len(events)) * BYTES_PER_EVENT)
        log.strings = strings
        log._numbers = {text: number for number, text in enumerate(strings)}
        log._flat.extend(chain.from_iterable(events))
        log._first, log._base = first, base
        return log

    def __len__(self) -> int:
        """Return how many events are kept."""
        return len(self._flat) // _WIDTH

    @property
    def first(self) -> int:
        """Cursor of the oldest event that is kept: how many have fallen off."""
        return self._first

    @property
    def end(self) -> int:
        """Cursor behind the newest event: how many there were in all."""
        return self._first + len(self)

    @property
    def kept_bytes(self) -> int:
        """What the kept events take, estimated at 144 bytes each."""
        return len(self) * BYTES_PER_EVENT

    @property
    def base(self) -> Timeline:
        """The state before the oldest kept event."""
        if self._base is None:
            self._base = Timeline(self.strings)
        return self._base

    def intern(self, text: str) -> int:
        """Return the number of ``text`` in the string table, adding it if new."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.strings)
            self.strings.append(text)
        return number

    def read(self, cursor: int = 0) -> LogBatch:
        """Return everything since ``cursor``; what fell off is counted, not silent."""
        start, end = max(cursor, self._first), self.end
        return LogBatch(self.slice(start, end), end, start - cursor)

    def slice(self, start: int, end: int) -> list[RawEvent]:
        """Return the events from one cursor up to another; what fell off is left out."""
        start, end = max(start, self._first), min(end, self.end)
        if start >= end:
            return []
        known = self._last_read
        if known[0] == start and known[1] == end:
            # Everybody who follows a session reads the same events after a wake-up.
            return known[2].copy()
        numbers = iter(self.numbers(start, end))
        events = list(zip(numbers, numbers, numbers, numbers, numbers, strict=True))
        if end - start <= _MOST_KEPT:
            self._last_read = (start, end, events.copy())
        return events

    def numbers(self, start: int, end: int) -> list[int]:
        """Return the same as :meth:`slice`, five numbers for each event; ten times as fast."""
        first = self._first
        return self._flat[_WIDTH * max(0, start - first) : _WIDTH * max(0, end - first)]

    def cursor_at(self, at_ns: int) -> int:
        """Return the cursor behind the last kept event at or before an instant."""
        flat = self._flat
        return self._first + bisect_right(range(len(self)), at_ns, key=lambda i: flat[_WIDTH * i])

    def settle(self) -> None:
        """Let the oldest events fall off if they are over the budget.

        An eighth of the budget goes at once, so that this is rarely more than a test.
        """
        most = max(1, self.budget_bytes // BYTES_PER_EVENT)
        surplus = len(self) - most
        if surplus <= 0:
            return
        surplus += max(1, most // 8)
        self.base.apply_all(self.slice(self._first, self._first + surplus))
        # In place: ``append`` is bound to this very list.
        del self._flat[: _WIDTH * surplus]
        self._first += surplus
