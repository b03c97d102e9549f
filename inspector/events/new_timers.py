"""Timers that were set one after another, found in packed events as columns.

A scene may set a million timers before its first frame. Each is three events, and folding them one
by one takes ten times as long as adding whole columns.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from typing import Final, TypeAlias

from msgspec import Struct

from inspector.vocabulary import TIMER_ADDED, TIMER_ARMED, TIMER_ORIGIN, Numbers, RawEvent

#: Numbers per event.
WIDTH: Final = 5
#: Fewer timers are not worth a search.
_FEWEST: Final = 32
#: The kinds of the events of many.
_MANY_NEW: Final = re.compile(
    b"(?:%s){%d,}" % (re.escape(bytes((TIMER_ADDED, TIMER_ORIGIN, TIMER_ARMED))), _FEWEST)
)

Column: TypeAlias = "array[int]"


class NewTimers(Struct, frozen=True):
    """Columns with a row for each timer, in the order in which they were set."""

    events: Column  # The same as events, five numbers each
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


def new_timers_apart(block: Numbers) -> Iterator[NewTimers | Iterator[RawEvent]]:
    """Yield the events of a block in their order, many new timers as one."""
    done = 0
    for begin, end in _stretches(block):
        assert isinstance(block, array), "no others have any"
        columns = [block[begin + place : end : 3 * WIDTH] for place in range(3 * WIDTH)]
        number, clock, label = columns[2:5]
        if number == columns[7] == columns[12]:
            if done < begin:
                yield events_of(block[done:begin])
            times, rest = columns[0], (*columns[8:10], *columns[13:])
            yield NewTimers(block[begin:end], times, number, clock, label, *rest)
            done = end
    if done < len(block):
        yield events_of(block[done:] if done else block)


def events_of(numbers: Numbers) -> Iterator[RawEvent]:
    """Yield events of which the numbers follow one another."""
    each = iter(numbers)
    return zip(each, each, each, each, each, strict=True)


def _stretches(block: Numbers) -> Iterator[tuple[int, int]]:
    """Yield at which numbers many new timers begin and end."""
    if not isinstance(block, array) or len(block) < 3 * WIDTH * _FEWEST:
        return
    kinds = block[1::WIDTH]
    if kinds.count(TIMER_ADDED) < _FEWEST:
        return
    try:
        texts = bytes(kinds.tolist())
    except ValueError:
        # Of a damaged file, or of a newer program.
        return
    for found in _MANY_NEW.finditer(texts):
        yield WIDTH * found.start(), WIDTH * found.end()
