"""Many timers that were set one after another, as columns that are found in packed events.

A scene may set a million timers before its first frame. Each is three events, and folding them one
by one takes ten times as long as adding whole columns.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from inspector.vocabulary import TIMER_ADDED, TIMER_ARMED, TIMER_ORIGIN, Numbers, RawEvent

#: Numbers per event.
WIDTH: Final = 5
#: Fewer timers are not worth a search.
_FEWEST: Final = 32
_NEW: Final = array("q", (TIMER_ADDED, TIMER_ORIGIN, TIMER_ARMED))
#: The kinds of the events of many new timers, by the lowest byte of each kind.
_LOWEST: Final = slice(0 if sys.byteorder == "little" else 7, None, 8)
_MANY_NEW: Final = re.compile(b"(?:%s){%d,}" % (re.escape(_NEW.tobytes()[_LOWEST]), _FEWEST))

Column: TypeAlias = "array[int]"


class NewTimers(Struct, frozen=True):
    """Columns with a row for each timer, in the order in which they were set."""

    events: Column  # The events that set them, five numbers each
    at_ns: Column
    id: Column
    clock: Column
    label: Column
    site: Column
    kind: Column
    due: Column
    interval: Column

    def __len__(self) -> int:
        return len(self.id)

    def per_clock(self) -> Mapping[int, int]:
        """Return the number of timers of each clock."""
        first, count = self.clock[0], len(self)
        is_one = self.clock == array("q", (first,)) * count
        return {first: count} if is_one else Counter(self.clock)


def new_timers_apart(block: Numbers) -> Iterator[NewTimers | Iterator[RawEvent]]:
    """Yield the events of a block in their order, a run of many new timers as one item."""
    done = 0
    for begin, end in _stretches(block):
        assert isinstance(block, array), "no others have any"
        columns = [block[begin + place : end : 3 * WIDTH] for place in range(3 * WIDTH)]
        number, clock, label = columns[2:5]
        if number == columns[7] == columns[12]:
            yield events_of(block[done:begin])
            times, rest = columns[0], (*columns[8:10], *columns[13:])
            yield NewTimers(block[begin:end], times, number, clock, label, *rest)
            done = end
    if done < len(block):
        yield events_of(block[done:] if done else block)


def events_of(numbers: Numbers) -> Iterator[RawEvent]:
    """Yield events from their numbers, five each."""
    each = iter(numbers)
    return zip(each, each, each, each, each, strict=True)


def _stretches(block: Numbers) -> Iterator[tuple[int, int]]:
    """Yield the indexes at which runs of many new timers begin and end."""
    if not isinstance(block, array) or len(block) < 3 * WIDTH * _FEWEST:
        return
    kinds = block[1::WIDTH].tobytes()
    for found in _MANY_NEW.finditer(kinds[_LOWEST]):
        begin, end = found.span()
        # A damaged file or a newer program may have kinds that do not fit into the lowest byte.
        if kinds[8 * begin : 8 * end] == _NEW.tobytes() * ((end - begin) // 3):
            yield WIDTH * begin, WIDTH * end
