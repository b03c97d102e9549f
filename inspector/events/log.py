"""The event log: a bounded ring of events, read by cursor."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias

from inspector.events.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.vocabulary import RawEvent

#: Numbers in one event.
_WIDTH: Final = 5

#: What one event takes in memory once it lies in a block: five numbers of 64 bits.
BYTES_PER_EVENT: Final = 40

#: Events in a block.
_BLOCK: Final = 4_096
_BLOCK_NUMBERS: Final = _BLOCK * _WIDTH

#: Five for each event: an array where all have 64 bits.
Numbers: TypeAlias = "array[int] | list[int]"

#: So many events that were read are kept as they were given, for the next who asks.
_MOST_KEPT: Final = 4_096

#: For 800 000 events.
DEFAULT_BUDGET_BYTES: Final = 32 * 1024 * 1024


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


_CONTROLS = {
    code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"
}


class EventLog:
    """Keeps the newest events within a budget of bytes.

    Cursors count events since the session began. What falls off the end is first
    folded into :attr:`base`, so the state at any instant still kept stays exact.
    :meth:`settle` keeps the budget and is called by the session after every wake-up.
    One thread writes and reads.

    The numbers of the newest events lie in one list, one event behind the other: no object
    is made for an event that stays, so appending takes half the time of keeping tuples and
    never makes the garbage collector run in the user's program. When there are two blocks
    of them, :meth:`settle` packs the older one, which then takes a quarter of the memory
    and is nothing that the garbage collector would go through. Readers get tuples, made
    when they ask. The list, at most 1.2 MB between two wake-ups that do little, is not
    counted against the budget.

    Attributes:
        append: Takes one event. It is the ``extend`` of a list, for speed.
        strings: The string table; number 0 is the empty text.
        budget_bytes: What the kept events may take together.
        before_drop: Called before events fall off, for a reader that must not miss any;
            ``None`` where there is no such reader.
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
        self._blocks: list[Numbers] = []
        self._open: list[int] = []
        self._first = 0
        self._base: Timeline | None = None
        self.before_drop: Callable[[], None] | None = None
        self._last_read: tuple[int, int, list[RawEvent]] = (0, 0, [])
        self.append: Callable[[RawEvent], None] = self._open.extend

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
        log._open.extend(chain.from_iterable(events))
        log._first, log._base = first, base
        log._pack()
        return log

    def __len__(self) -> int:
        """Return how many events are kept."""
        return len(self._blocks) * _BLOCK + len(self._open) // _WIDTH

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
        """What the kept events take, 40 bytes each."""
        return len(self) * BYTES_PER_EVENT

    @property
    def base(self) -> Timeline:
        """The state before the oldest kept event."""
        if self._base is None:
            self._base = Timeline(self.strings)
        return self._base

    def intern(self, text: str) -> int:
        """Return the number of ``text`` in the string table, adding it if new.

        Characters that cannot be stored or shown are kept as what Python shows for them.

        Raises:
            TypeError: It is not a text.
        """
        number = self._numbers.get(text)
        if number is None:
            if not isinstance(text, str):
                message = f"a name has to be a text: {text!r}"  # type: ignore[unreachable]
                raise TypeError(message)
            number = self._numbers[text] = len(self.strings)
            self.strings.append(readable(text))
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

    def numbers(self, start: int, end: int) -> Numbers:
        """Return the same as :meth:`slice`, five numbers for each event, much faster.

        They are not to be changed.
        """
        pieces = self.pieces(start, end)
        if len(pieces) == 1:
            return pieces[0]
        found: Numbers = array("q")
        for piece in pieces:
            found = joined(found, packed(piece))
        return found

    def pieces(self, start: int, end: int) -> list[Numbers]:
        """Return the same as :meth:`numbers` in pieces, as they lie there."""
        blocks = self._blocks
        packed_events = len(blocks) * _BLOCK
        start, end = max(0, start - self._first), max(0, end - self._first)
        if packed_events <= start < end:
            # The newest, which somebody asks for after every wake-up.
            return [self._open[_WIDTH * (start - packed_events) : _WIDTH * (end - packed_events)]]
        found: list[Numbers] = []
        for number in range(start // _BLOCK, min(-(-end // _BLOCK), len(blocks))):
            begin = number * _BLOCK
            low, high = max(start - begin, 0), min(end - begin, _BLOCK)
            block, is_whole = blocks[number], high - low == _BLOCK
            # A whole one is never changed, so it need not be copied.
            found.append(block if is_whole else block[_WIDTH * low : _WIDTH * high])
        if end > packed_events:
            low = max(0, start - packed_events)
            found.append(self._open[_WIDTH * low : _WIDTH * (end - packed_events)])
        return found

    def cursor_at(self, at_ns: int) -> int:
        """Return the cursor behind the last kept event at or before an instant."""
        return self._first + bisect_right(range(len(self)), at_ns, key=self._at_ns)

    def _at_ns(self, place: int) -> int:
        """Return when an event was, by its place among those that are kept."""
        number, inside = divmod(place, _BLOCK)
        if number < len(self._blocks):
            return self._blocks[number][_WIDTH * inside]
        return self._open[_WIDTH * (place - len(self._blocks) * _BLOCK)]

    def settle(self) -> None:
        """Pack what lies in the list, and let the oldest fall off if they are over the budget.

        A block goes at once, of a smaller budget an eighth, so that this is rarely more
        than two tests.
        """
        if len(self._open) >= 2 * _BLOCK_NUMBERS:
            self._pack()
        most = max(1, self.budget_bytes // BYTES_PER_EVENT)
        surplus = len(self) - most
        if surplus > 0:
            self._drop(surplus, most)

    def _drop(self, surplus: int, most: int) -> None:
        """Fold the oldest events into the base and forget them."""
        if self.before_drop is not None:
            self.before_drop()
        blocks = min(-(-surplus // _BLOCK), len(self._blocks))
        dropped = blocks * _BLOCK
        if dropped < surplus:
            dropped += min(surplus - dropped + max(1, most // 8), len(self._open) // _WIDTH)
        self.base.apply_all(self.slice(self._first, self._first + dropped))
        del self._blocks[:blocks]
        # In place: ``append`` is bound to this very list.
        del self._open[: _WIDTH * (dropped - blocks * _BLOCK)]
        self._first += dropped

    def _pack(self) -> None:
        """Pack all blocks but the newest."""
        numbers = self._open
        stop = (len(numbers) // _BLOCK_NUMBERS - 1) * _BLOCK_NUMBERS
        for start in range(0, stop, _BLOCK_NUMBERS):
            self._blocks.append(packed(numbers[start : start + _BLOCK_NUMBERS]))
        # In place: ``append`` is bound to this very list.
        del numbers[: max(stop, 0)]


def packed(numbers: Numbers) -> Numbers:
    """Return numbers as an array, or as they are if one needs more than 64 bits."""
    if isinstance(numbers, array):
        return numbers
    try:
        return array("q", numbers)
    except OverflowError:
        return numbers


def joined(first: Numbers, second: Numbers) -> Numbers:
    """Return numbers with others behind them; the first may be changed by that."""
    if isinstance(first, array) and isinstance(second, array):
        first.extend(second)
        return first
    return [*first, *second]


def readable(text: str) -> str:
    """Return a text as a log holds it."""
    # Half a surrogate pair, as in the name of a file that is no text, is no character that
    # a file can hold; and control characters would be carried out by a terminal.
    return text.encode("utf-8", "backslashreplace").decode("utf-8").translate(_CONTROLS)
