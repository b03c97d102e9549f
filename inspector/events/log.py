"""The event log: a bounded ring of events, read by cursor."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final

from msgspec import Struct

from inspector.events.new_timers import WIDTH, events_of
from inspector.events.timeline import Timeline
from inspector.vocabulary import Numbers, RawEvent

#: Memory of an event in a block: five numbers of 64 bits.
BYTES_PER_EVENT: Final = 40

_BLOCK: Final = 4_096
_BLOCK_NUMBERS: Final = _BLOCK * WIDTH

#: Events dropped at a time.
_PORTION: Final = 64 * _BLOCK

#: Up to this many events read are cached for the next reader.
_MOST_KEPT: Final = 4_096

#: Enough for 800 000 events.
DEFAULT_BUDGET_BYTES: Final = 32 * 1024 * 1024


class LogBatch(Struct, frozen=True):
    """New events for a reader."""

    events: list[RawEvent]  # The events, oldest first
    cursor: int  # Where to continue reading
    lost: int  # Number of events dropped before they could be read


_CONTROLS = {
    code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"
}
#: Directional controls, which turn what a terminal or table has behind the text, too.
_CONTROLS |= {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}


class EventLog:
    """Keeps the newest events within a budget of bytes.

    Cursors count events from the start of the session. Dropped events are first folded into
    :attr:`base`, so the state at any instant still kept stays exact. :meth:`settle` keeps the
    budget; the session calls it after every wake-up. One thread writes and reads.

    The numbers of the newest events are in one list, one event after another: an event makes no
    object, so appending takes half the time of keeping tuples and never triggers the garbage
    collector in the user's program. When there are two blocks of them, :meth:`settle` packs the
    older one, which then takes a quarter of the memory and is invisible to the garbage collector.
    Readers get tuples, made on request. The list, at most 1.2 MB between two short wake-ups, does
    not count towards the budget.

    Attributes:
        append: Takes one event; the ``extend`` of a list, for speed.
        strings: The string table; number 0 is the empty text.
        budget_bytes: Memory limit of the kept events.
        before_drop: Called before events are dropped, for a reader that must not miss any;
            ``None`` without such a reader.
    """

    def __init__(self, budget_bytes: int = DEFAULT_BUDGET_BYTES) -> None:
        """Start empty.

        Args:
            budget_bytes: Memory limit of the kept events, at least one block.

        Raises:
            ValueError: The budget is not above 0.
        """
        if budget_bytes <= 0:
            raise ValueError(f"a log needs a budget above 0 bytes: {budget_bytes}")
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
        """Return a log with given events, such as those of a recording.

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

    def exchanged(self, numbers: Numbers, base: Timeline) -> EventLog:
        """Return a log with the same texts and budget but other events, five numbers each."""
        log = EventLog(self.budget_bytes)
        log.strings, log._numbers = self.strings, self._numbers
        log._open.extend(numbers)
        log._first, log._base = self._first, base
        log._pack()
        return log

    def __len__(self) -> int:
        return len(self._blocks) * _BLOCK + len(self._open) // WIDTH

    @property
    def first(self) -> int:
        """Cursor of the oldest event kept: the number of dropped events."""
        return self._first

    @property
    def end(self) -> int:
        """Cursor after the newest event: the number of events so far."""
        return self._first + len(self._blocks) * _BLOCK + len(self._open) // WIDTH

    @property
    def kept_bytes(self) -> int:
        """Memory that the kept events take, at 40 bytes each."""
        return len(self) * BYTES_PER_EVENT

    @property
    def base(self) -> Timeline:
        """The state before the oldest kept event."""
        if self._base is None:
            self._base = Timeline(self.strings)
        return self._base

    def intern(self, text: str) -> int:
        """Return the number of ``text`` in the string table, adding it if new.

        Characters that cannot be stored or shown are replaced by Python's escape sequences.

        Raises:
            TypeError: It is not a text.
        """
        number = self._numbers.get(text)
        if number is None:
            if not isinstance(text, str):
                message = f"a name must be a text: {text!r}"  # type: ignore[unreachable]
                raise TypeError(message)
            number = self._numbers[text] = len(self.strings)
            self.strings.append(readable(text))
        return number

    def read(self, cursor: int = 0) -> LogBatch:
        """Return everything since ``cursor``; dropped events are counted."""
        start, end = max(cursor, self._first), self.end
        return LogBatch(self.slice(start, end), end, start - cursor)

    def slice(self, start: int, end: int) -> list[RawEvent]:
        """Return the events between two cursors, without dropped ones."""
        start, end = max(start, self._first), min(end, self.end)
        if start >= end:
            return []
        known = self._last_read
        if known[0] == start and known[1] == end:
            # All readers of a session read the same events after a wake-up.
            return known[2].copy()
        events = list(events_of(self.numbers(start, end)))
        if end - start <= _MOST_KEPT:
            self._last_read = (start, end, events.copy())
        return events

    def blocks(self, start: int, end: int) -> Iterator[Numbers]:
        """Yield the same as :meth:`numbers`, packed, in blocks of limited size."""
        # Otherwise each reader of many events would pack them again.
        self._pack()
        for begin in range(max(start, self._first), min(end, self.end), _BLOCK):
            yield packed(self.numbers(begin, min(begin + _BLOCK, end)))

    def numbers(self, start: int, end: int) -> Numbers:
        """Return the same as :meth:`slice` as five numbers per event, much faster; read-only."""
        pieces = self.pieces(start, end)
        if len(pieces) == 1:
            return pieces[0]
        found: Numbers = array("q")
        for piece in pieces:
            found = joined(found, packed(piece))
        return found

    def pieces(self, start: int, end: int) -> list[Numbers]:
        """Return the same as :meth:`numbers`, block by block."""
        blocks = self._blocks
        packed_events = len(blocks) * _BLOCK
        start, end = max(0, start - self._first), max(0, end - self._first)
        if packed_events <= start < end:
            # The fast path for the newest events, which are read after every wake-up.
            return [self._open[WIDTH * (start - packed_events) : WIDTH * (end - packed_events)]]
        found: list[Numbers] = []
        for number in range(start // _BLOCK, min(-(-end // _BLOCK), len(blocks))):
            begin = number * _BLOCK
            low, high = max(start - begin, 0), min(end - begin, _BLOCK)
            block, is_whole = blocks[number], high - low == _BLOCK
            # A complete block never changes, so it need not be copied.
            found.append(block if is_whole else block[WIDTH * low : WIDTH * high])
        if end > packed_events:
            low = max(0, start - packed_events)
            found.append(self._open[WIDTH * low : WIDTH * (end - packed_events)])
        return found

    def cursor_at(self, at_ns: int) -> int:
        """Return the cursor after the last kept event at or before an instant."""
        return self._first + bisect_right(range(len(self)), at_ns, key=self._at_ns)

    def _at_ns(self, place: int) -> int:
        number, inside = divmod(place, _BLOCK)
        if number < len(self._blocks):
            return self._blocks[number][WIDTH * inside]
        return self._open[WIDTH * (place - len(self._blocks) * _BLOCK)]

    def settle(self) -> None:
        """Pack full blocks of the list, and drop the oldest events beyond the budget.

        Drops a whole block at a time, or an eighth of a smaller budget, so that this is mostly
        just two tests.
        """
        if len(self._open) >= 2 * _BLOCK_NUMBERS:
            self._pack()
        most = max(1, self.budget_bytes // BYTES_PER_EVENT)
        surplus = len(self) - most
        if surplus > 0:
            self._drop(surplus, most)

    def _drop(self, surplus: int, most: int) -> None:
        """Fold the oldest events into the base and drop them."""
        if self.before_drop is not None:
            self.before_drop()
        # In portions, as Python copies what is deleted from the front of a list.
        while surplus > _PORTION:
            self._drop_oldest(_PORTION, 0)
            surplus -= _PORTION
        self._drop_oldest(surplus, max(1, most // 8))

    def _drop_oldest(self, surplus: int, spare: int) -> None:
        blocks = min(-(-surplus // _BLOCK), len(self._blocks))
        dropped = blocks * _BLOCK
        if dropped < surplus:
            dropped = surplus + spare
        self.base.apply_blocks(self.blocks(self._first, self._first + dropped))
        del self._blocks[:blocks]
        # In place, because ``append`` is bound to this list.
        del self._open[: WIDTH * (dropped - blocks * _BLOCK)]
        self._first += dropped

    def _pack(self) -> None:
        numbers = self._open
        while (count := len(numbers) // _BLOCK_NUMBERS) > 1:
            # In portions, so that the list shrinks as blocks are added: the events of a million
            # timers take 300 MB in it.
            stop = min(count - 1, _PORTION // _BLOCK) * _BLOCK_NUMBERS
            for start in range(0, stop, _BLOCK_NUMBERS):
                self._blocks.append(packed(numbers[start : start + _BLOCK_NUMBERS]))
            # In place, because ``append`` is bound to this list.
            del numbers[:stop]


def packed(numbers: Numbers) -> Numbers:
    """Return numbers as an array, or unchanged if one needs more than 64 bits."""
    if isinstance(numbers, array):
        return numbers
    found = array("q")
    try:
        found.fromlist(numbers)
    except OverflowError:
        return numbers
    return found


def joined(first: Numbers, second: Numbers) -> Numbers:
    """Return both as one; may extend ``first`` in place."""
    if isinstance(first, array) and isinstance(second, array):
        first.extend(second)
        return first
    return [*first, *second]


def readable(text: str) -> str:
    """Return a text as a log stores it."""
    # A lone surrogate, as in undecodable file names, cannot be stored in a file, and control
    # and directional characters would be interpreted by a terminal.
    return text.encode("utf-8", "backslashreplace").decode("utf-8").translate(_CONTROLS)
