"""The log of a test, at its virtual times."""

from __future__ import annotations

from array import array
from typing import Final

from inspector.probe.kinds import (
    CLOCK_ANCHORED,
    CLOCK_PAUSED,
    CLOCK_RATE,
    CLOCK_RESUMED,
    COLLECTED,
    FRAME_BEGAN,
    FRAME_ENDED,
    OTHER_THREAD,
    PROCESS_STOPPED,
    RATE_DENOMINATOR,
    SAMPLE_TIMES,
    SAMPLED,
    TIMER_ADDED,
    TIMER_FIRED,
)
from inspector.probe.program import Program

_Event = tuple[int, int, int, int, int]

#: Changes of the program's own clock make virtual time, so they are not recorded.
_OF_VIRTUAL_TIME: Final = {CLOCK_PAUSED, CLOCK_RESUMED, CLOCK_RATE}
#: What the machine did takes no time while virtual time is held, and is then not recorded.
_OF_THE_MACHINE: Final = {COLLECTED, PROCESS_STOPPED}
#: Events with durations in the machine's time, which are converted to virtual time.
_MEASURED: Final = {SAMPLE_TIMES, SAMPLED, OTHER_THREAD, *_OF_THE_MACHINE}


class Log:
    """The events of a test."""

    def __init__(self, program: Program, most_events: int) -> None:
        # The first events, five numbers each. Instants are local times of the program's own clock,
        # so that this clock runs at the rate of the recording's time.
        self.events = array("q")
        # Number of the timer, local time of the program and lateness of each firing
        self.firings: list[tuple[int, int, int]] = []
        # The number of the text of each timer's name, by number of the timer
        self.names: dict[int, int] = {}
        self.missed = 0  # How many later events were left out
        self._room = most_events
        self._lock = program.clocks.lock
        self._clock = program.own_clock
        self._frames: dict[int, tuple[int, int]] = {}

    def emit(self, event: _Event) -> None:
        _, kind, number, first, second = event
        if kind == TIMER_FIRED:
            self.firings.append((number, self._clock.local_ns(), first))
        elif kind == TIMER_ADDED:
            self.names[number] = second
        if self._room:
            self._room -= 1
            with self._lock:
                found = self._in_virtual_time(event)
                if found is not None:
                    self.events.extend(found)
        else:
            self.missed += 1

    def extend(self, events: tuple[_Event, ...]) -> None:
        for event in events:
            self.emit(event)

    def _in_virtual_time(self, event: _Event) -> _Event | None:
        at_ns, kind, number, a, b = event
        clock = self._clock
        local_ns = clock.local_at(at_ns)
        if number == clock.number:
            if kind in _OF_VIRTUAL_TIME:
                return None
            if kind == CLOCK_ANCHORED:
                a = 0
        if kind == FRAME_BEGAN:
            before_ns, _ = self._frames.get(number, (local_ns, 0))
            self._frames[number] = local_ns, local_ns - before_ns
        elif kind == FRAME_ENDED and number in self._frames:
            began_ns, a = self._frames[number]
            b = local_ns - began_ns
        elif kind in _MEASURED and not clock.is_paused:
            a = a * clock.rate_n // RATE_DENOMINATOR
            if kind == SAMPLE_TIMES:
                b = b * clock.rate_n // RATE_DENOMINATOR
        elif kind in _OF_THE_MACHINE:
            return None
        return local_ns, kind, number, a, b
