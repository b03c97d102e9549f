"""The timers in a block of events, as columns."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from inspector.events.blocks.packed_columns import Block, grouped
from inspector.vocabulary import (
    NEVER,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
)

#: Instead of the index of an event.
NO_EVENT: Final = -1


class TimerEvents:
    def __init__(self, events: Block) -> None:
        self.events = events
        # timers: the timers; other columns have an event's index for each timer, or NO_EVENT
        # group: the timer of each event, by its index
        self.timers, self.group = grouped(events[2])
        _, kind, _, a, b = events
        is_added, is_origin = kind == TIMER_ADDED, kind == TIMER_ORIGIN
        self.is_new = is_added | is_origin  # Which events introduce a timer
        # is_armed: which events arm a timer
        # is_fired: which events are firings
        self.is_fired, self.is_armed = kind == TIMER_FIRED, kind == TIMER_ARMED
        is_last = self.is_fired & (b == NEVER)
        self.is_end = is_last | (kind == TIMER_CLEARED)  # Which events end a timer
        self.sets_due = self.is_armed | (self.is_fired & ~is_last)
        self.dues = np.where(self.is_armed, a, b)  # The due time in each event
        self.added, self.origin = self._last(is_added), self._last(is_origin)
        self.armed, self.fired = self._last(self.is_armed), self._last(self.is_fired)
        # ended: index of the event that clears a timer, or of its last firing
        self.due, self.ended = self._last(self.sets_due), self._last(self.is_end)
        self.fires = np.bincount(self.group[self.is_fired], minlength=len(self.timers))

    def _last(self, is_found: NDArray[np.bool_]) -> NDArray[np.intp]:
        places = np.flatnonzero(is_found)
        last = np.full(len(self.timers), NO_EVENT)
        # NumPy assigns in order, so the last assignment to an index wins.
        last[self.group[places]] = places
        return last
