"""The loops of the programs: which of them run frames, and which one is shown.

One log has all events, and its frame events are those of the first loop. While another loop is
chosen, a second log has the same events, with the frame events of that loop.
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
    __slots__ = ("ended", "id", "is_in_frame", "program")
    program: int  # That runs it, or now continues it
    is_in_frame: bool  # From its first frame on, by which it is found

    def __init__(self, number: int) -> None:
        # The number of its clock, or of the clock of the loop that it continues
        self.id = number
        self.ended = 0  # How many frames have ended


class Loops:
    def __init__(self) -> None:
        # first: The loop whose frame events the log has; 0 until the first frame
        # wanted: A loop that still runs after the shown one has ended, 0 for none
        self.first = self.shown = self.wanted = 0
        # Returns, for a loop that was found, the number of its name and its kind
        self.describe: Callable[[int], tuple[int, LoopKind]] = _undescribed
        # By kind: takes a frame event and returns the event for the log, an empty tuple for none,
        # or None for the first frame of a loop, which found() has to take
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
        self._ended_programs: set[int] = set()
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
        """If the shown loop is of this program, which has ended, let another take its place."""
        self._ended_programs.add(program)
        shown = self._by_clock.get(self.shown)
        self._is_over = self._is_over or (shown is not None and shown.program == program)

    def found(self, event: RawEvent) -> tuple[int, ...]:
        """Take the first frame of a new loop; returns the events for the log.

        If the shown loop has ended, the new one continues its frames, as when a page is reloaded.
        """
        at_ns, _, clock_id, index, delta_ns = event
        follows = self._by_clock.get(self.shown) if self._is_over else None
        loop = self._by_clock[clock_id] = follows or _Loop(clock_id)
        self._program_of[clock_id] = loop.program = program_of_clock(clock_id)
        self.first = self.first or clock_id
        if follows or not self.shown:
            self.choose(loop.id)
            # Its end may be noted before its frames are read.
            self._is_over = loop.program in self._ended_programs
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
    """A copy of a log, with the frame events of another loop."""

    def __init__(self, log: EventLog, first: int, shown: int) -> None:
        self._first, self._shown = first, shown
        base = log.base.copy()
        base.choose_frames(shown)
        numbers = _exchanged(log.numbers(log.first, log.end), first, shown)
        self.log = log.exchanged(numbers, base)  # The events
        self.history = LogHistory(self.log)  # The past

    def append(self, numbers: list[int]) -> Numbers:
        """Add new events, five numbers each; returns them as the first log needs them."""
        self.log.append(numbers)  # type: ignore[arg-type] # five an event
        return _exchanged(numbers, self._shown, self._first)


def _exchanged(numbers: Numbers, shown: int, chosen: int) -> array[int]:
    # Through an array, as NumPy takes three times as long to read a list.
    found = array("q", numbers)
    exchange(np.frombuffer(found, np.int64).reshape(-1, _WIDTH).T, shown, chosen)
    return found
