"""Timers that were set one after another, found in packed events as columns.

A scene may set a million timers before its first frame. Each is three events, and folding them one
by one takes ten times as long as adding whole columns.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final, TypeAlias

from msgspec import Struct

from inspector.vocabulary import TIMER_ADDED, TIMER_ARMED, TIMER_ORIGIN, Numbers, RawEvent

#: Numbers per event.
WIDTH: Final = 5
_KINDS: Final = array("q", (TIMER_ADDED, TIMER_ORIGIN, TIMER_ARMED))
#: Fewer timers are not worth a search.
_FEWEST: Final = 64

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
    begin, end = _stretch(block)
    if begin:
        yield events_of(block[:begin])
    if isinstance(block, array) and begin < end:
        columns = [block[begin + place : end : 3 * WIDTH] for place in range(3 * WIDTH)]
        number, clock, label = columns[2:5]
        events, at_ns = block[begin:end], columns[0]
        if number == columns[7] == columns[12]:
            yield NewTimers(events, at_ns, number, clock, label, *columns[8:10], *columns[13:])
        else:
            yield events_of(events)
    if end < len(block):
        yield events_of(block[end:])


def events_of(numbers: Numbers) -> Iterator[RawEvent]:
    """Yield events of which the numbers follow one another."""
    each = iter(numbers)
    return zip(each, each, each, each, each, strict=True)


def _stretch(block: Numbers) -> tuple[int, int]:
    """Return at which numbers many new timers begin and end; 0 and 0 without them."""
    if len(block) < 3 * WIDTH * _FEWEST or not isinstance(block, array):
        return 0, 0
    kinds = block[1::WIDTH]
    if kinds.count(TIMER_ADDED) < _FEWEST:
        return 0, 0
    begin = kinds.index(TIMER_ADDED)
    kinds = kinds[begin:]
    expected = (_KINDS * (len(kinds) // len(_KINDS) + 1))[: len(kinds)]
    alike = len(kinds)
    if kinds != expected:
        pairs = enumerate(zip(kinds, expected, strict=True))
        alike = next(place for place, (kind, wanted) in pairs if kind != wanted)
    timers = alike // len(_KINDS)
    if timers < _FEWEST:
        return 0, 0
    return WIDTH * begin, WIDTH * (begin + len(_KINDS) * timers)
