"""The loops of the programs: which of them run frames, and those of which are shown.

Everything is in one log, in which the events of frames are those of the first loop. While another
is chosen, a second log has the same events with the frames of that one.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from inspector.events.history import LogHistory
from inspector.events.log import EventLog
from inspector.events.loop_frames import exchange, of_other_loop
from inspector.sessions.attached.session_numbers import program_of_clock
from inspector.vocabulary import (
    DELTA_CUT,
    FRAME_BEGAN,
    FRAME_ENDED,
    LOOP_ASKED,
    LOOP_DELTA_CUT,
    LOOP_FOUND,
    LOOP_FRAME_BEGAN,
    LOOP_FRAME_ENDED,
    PHASE_ENDED,
    LoopKind,
    Numbers,
    RawEvent,
)

if TYPE_CHECKING:
    _Event = tuple[int, ...]

_WIDTH: Final = 5


class _Loop:
    __slots__ = ("ended", "id", "is_in_frame")

    def __init__(self, number: int) -> None:
        # Its number: that of its clock, or of the clock of a loop that it continues
        self.id = number
        self.ended = 0  # How many frames have ended
        self.is_in_frame = False


class Loops:
    def __init__(self) -> None:
        # first: The loop whose frames are those of the log; 0 until the first frame
        # wanted: The loop that goes on while nothing is shown, 0 for none
        self.first = self.shown = self.wanted = 0
        # Returns the number of the name of a loop that is found, and its kind
        self.describe: Callable[[int], tuple[int, LoopKind]] = _undescribed
        # Takes an event of a frame, by its kind; returns the event that goes into the log, if any,
        # or None where found has to take the first frame of a loop
        self.takers: dict[int, Callable[[int, int, int, int], _Event | None]] = {
            FRAME_BEGAN: self._began,
            PHASE_ENDED: self._phase_ended,
            DELTA_CUT: self._cut,
            FRAME_ENDED: self._ended,
            LOOP_ASKED: self._asked,
        }
        self._by_clock: dict[int, _Loop] = {}
        self._program_of: dict[int, int] = {}
        self._latest: dict[int, _Loop] = {}
        self._is_over = False

    def loop_of(self, clock_id: int) -> int:
        """Return the loop of a clock, 0 if it has run no frame."""
        loop = self._by_clock.get(clock_id)
        return 0 if loop is None else loop.id

    def ended(self, clock_id: int) -> int:
        loop = self._by_clock.get(clock_id)
        return 0 if loop is None else loop.ended

    def choose(self, loop: int) -> None:
        self.shown, self.wanted, self._is_over = loop, 0, False

    def end_program(self, program: int) -> None:
        """Let the next loop be shown if that of a program is, which has ended."""
        self._is_over = self._is_over or program_of_clock(self.shown) == program

    def found(self, event: RawEvent) -> tuple[int, ...]:
        """Take the first frame of a loop that begins; returns what goes into the log.

        After the end of the loop that is shown, a new one continues its frames, as when a page is
        loaded again.
        """
        at_ns, _, clock_id, index, delta_ns = event
        follows = self._by_clock.get(self.shown) if self._is_over else None
        loop = self._by_clock[clock_id] = follows or _Loop(clock_id)
        self._program_of[clock_id] = program_of_clock(clock_id)
        self.first = self.first or clock_id
        if follows or not self.shown:
            self.choose(loop.id)
        began = self._began(at_ns, clock_id, index, delta_ns) or ()
        if follows:
            return began
        name, kind = self.describe(clock_id)
        return (at_ns, LOOP_FOUND, clock_id, name, int(kind), *began)

    def _began(self, at_ns: int, clock_id: int, _index: int, delta_ns: int) -> _Event | None:
        loop = self._by_clock.get(clock_id)
        if loop is None:
            return None
        self._latest[self._program_of[clock_id]] = loop
        loop.is_in_frame = True
        if self._is_over and loop.id != self.shown:
            self.wanted = clock_id
        kind = FRAME_BEGAN if loop.id == self.shown else LOOP_FRAME_BEGAN
        return (at_ns, kind, loop.id, loop.ended, delta_ns)

    def _phase_ended(self, at_ns: int, phase: int, program: int, took_ns: int) -> _Event:
        loop = self._latest.get(program)
        if loop is None or not loop.is_in_frame:
            return ()
        event = (at_ns, PHASE_ENDED, phase, loop.ended, took_ns)
        return event if loop.id == self.shown else of_other_loop(event, loop.id)

    def _cut(self, at_ns: int, clock_id: int, cut_ns: int, _b: int) -> _Event:
        loop = self._by_clock.get(clock_id)
        if loop is None or not loop.is_in_frame:
            return ()
        kind = DELTA_CUT if loop.id == self.shown else LOOP_DELTA_CUT
        return (at_ns, kind, loop.id, cut_ns, 0)

    def _ended(self, at_ns: int, clock_id: int, since_ns: int, busy_ns: int) -> _Event:
        loop = self._by_clock.get(clock_id)
        if loop is None or not loop.is_in_frame:
            return ()
        loop.is_in_frame = False
        loop.ended += 1
        kind = FRAME_ENDED if loop.id == self.shown else LOOP_FRAME_ENDED
        return (at_ns, kind, loop.id, since_ns, busy_ns)

    def _asked(self, at_ns: int, clock_id: int, asked_ns: int, _b: int) -> _Event:
        loop = self._by_clock.get(clock_id)
        return () if loop is None else (at_ns, LOOP_ASKED, loop.id, asked_ns, 0)


def _undescribed(_clock_id: int) -> tuple[int, LoopKind]:
    return 0, LoopKind.DRAWS_FRAMES


class OtherLog:
    """The events of a log with the frames of another loop."""

    def __init__(self, log: EventLog, first: int, shown: int) -> None:
        self._first, self._shown = first, shown
        base = log.base.copy()
        base.choose_frames(shown)
        numbers = _exchanged(log.numbers(log.first, log.end), first, shown)
        self.log = log.exchanged(numbers, base)  # The events
        self.history = LogHistory(self.log)  # The past

    def append(self, numbers: list[int]) -> Numbers:
        """Take new events, five numbers each; returns them with the frames of the first loop."""
        self.log.append(numbers)  # type: ignore[arg-type] # five an event
        return _exchanged(numbers, self._shown, self._first)


def _exchanged(numbers: Numbers, shown: int, chosen: int) -> array[int]:
    # NumPy takes three times as long for the numbers of a list.
    found = array("q", numbers)
    exchange(np.frombuffer(found, np.int64).reshape(-1, _WIDTH).T, shown, chosen)
    return found
