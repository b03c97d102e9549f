"""The frames of every loop of the programs: those of one are in the log, the others wait here.

A log has one row of frames. When those of another loop are chosen, a log with the same past and
the other frames takes its place.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

import numpy as np

from inspector.events.frame_history import FrameHistory
from inspector.events.log import EventLog
from inspector.events.schema import EventGroup, kinds_with
from inspector.events.timeline import Timeline
from inspector.sessions.attached.numbers import program_of_clock
from inspector.vocabulary import DELTA_CUT, FRAME_BEGAN, FRAME_ENDED, PHASE_ENDED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from inspector.sessions.attached.translation import Rows
    from inspector.vocabulary import RawEvent

_WIDTH: Final = 5
#: Numbers that may wait in all loops together: two million events, 80 MB.
_MOST_WAITING: Final = 2_000_000 * _WIDTH
_FRAMES: Final = kinds_with(group=EventGroup.FRAMES)


class _Loop:
    """The frames of a loop.

    Attributes:
        past: The frames that are no longer events.
        waiting: The events of the others, five numbers each, unless they are in the log.
        ended: How many frames have ended.
        is_in_frame: Whether one has begun.
    """

    __slots__ = ("ended", "is_in_frame", "past", "waiting")

    def __init__(self) -> None:
        self.past = Timeline([])
        self.waiting = array("q")
        self.ended = 0
        self.is_in_frame = False

    def drop_half(self) -> None:
        """Forget the older half of the frames that wait, and those before."""
        rows = _rows(self.waiting)
        ends = np.flatnonzero(rows[:, 1] == FRAME_ENDED)
        end = int(ends[len(ends) // 2]) + 1 if len(ends) else len(rows)
        frames = FrameHistory()
        frames.first = self.past.frames.end + int(np.count_nonzero(ends < end))
        self.past.frames = frames
        del self.waiting[: end * _WIDTH]


class Loops:
    """Tells the loops apart, and exchanges the one whose frames are in the log.

    Attributes:
        shown: The clock whose frames are in the log; 0 until the first frame.
        wanted: The loop that goes on while nothing is shown, 0 for none: for :meth:`exchanged`.
        takers: Takes an event of a frame, by its kind; yields what goes into the log.
    """

    def __init__(self) -> None:
        self.shown = self.wanted = 0
        self.takers: dict[int, Callable[[list[int]], Iterator[list[int]]]] = {
            FRAME_BEGAN: self._began,
            PHASE_ENDED: self._phase_ended,
            DELTA_CUT: self._cut,
            FRAME_ENDED: self._ended,
        }
        self._loops: dict[int, _Loop] = {}
        self._latest: dict[int, int] = {}
        self._waiting = 0
        self._is_over = False

    def are_shown(self, clock_id: int) -> bool:
        """Return whether the frames of a clock's loop are in the log."""
        return self._loops.get(clock_id) is self._loops.get(self.shown)

    def ended(self, clock_id: int) -> int:
        """Return how many frames a clock's loop has run."""
        loop = self._loops.get(clock_id)
        return 0 if loop is None else loop.ended

    def _began(self, row: list[int]) -> Iterator[list[int]]:
        clock_id = row[2]
        self._latest[program_of_clock(clock_id)] = clock_id
        loop = self._loops.get(clock_id)
        if loop is None:
            # After the end of the loop that is shown, a new one continues its frames, as when a
            # page is loaded again.
            follows = self._loops.get(self.shown) if self._is_over else None
            loop = self._loops[clock_id] = follows or _Loop()
            if follows or not self.shown:
                self.shown, self._is_over = clock_id, False
        elif self._is_over and clock_id != self.shown:
            self.wanted = clock_id
        loop.is_in_frame = True
        row[3] = loop.ended
        return self._taken(clock_id, loop, row)

    def _phase_ended(self, row: list[int]) -> Iterator[list[int]]:
        clock_id = self._latest.get(row[3], 0)
        loop = self._loops.get(clock_id)
        if loop is None or not loop.is_in_frame:
            return iter(())
        row[3] = loop.ended
        return self._taken(clock_id, loop, row)

    def _cut(self, row: list[int]) -> Iterator[list[int]]:
        loop = self._loops.get(row[2])
        return iter(()) if loop is None or not loop.is_in_frame else self._taken(row[2], loop, row)

    def _ended(self, row: list[int]) -> Iterator[list[int]]:
        loop = self._loops.get(row[2])
        if loop is None or not loop.is_in_frame:
            return iter(())
        loop.is_in_frame = False
        loop.ended += 1
        return self._taken(row[2], loop, row)

    def _taken(self, clock_id: int, loop: _Loop, row: list[int]) -> Iterator[list[int]]:
        if clock_id == self.shown:
            yield row
            return
        loop.waiting.extend(row)
        self._waiting += _WIDTH
        if self._waiting > _MOST_WAITING:
            longest = max(self._loops.values(), key=lambda each: len(each.waiting))
            self._waiting -= len(longest.waiting)
            longest.drop_half()
            self._waiting += len(longest.waiting)

    def end_program(self, program: int) -> None:
        """Let the next loop be shown if that of a program is, which has ended."""
        self._is_over = self._is_over or program_of_clock(self.shown) == program

    def exchanged(self, clock_id: int, log: EventLog) -> EventLog:
        """Return the log with the frames of another loop, which are shown from now on."""
        rows = _rows(log.numbers(log.first, log.end))
        is_frame = np.isin(rows[:, 1], list(_FRAMES))
        former, chosen = self._loops[self.shown], self._loops[clock_id]
        former.past = Timeline([])
        former.past.take_frames(log.base)
        former.waiting = array("q", rows[is_frame].tobytes())
        others, waiting = rows[~is_frame], _rows(chosen.waiting)
        # Before the oldest event that is kept, only the state is known.
        start = int(np.searchsorted(waiting[:, 0], rows[0, 0])) if log.first and len(rows) else 0
        chosen.past.apply_all(_events(waiting[:start]))
        base = log.base.copy()
        base.take_frames(chosen.past)
        merged = np.concatenate([others, waiting[start:]])
        merged = merged[np.argsort(merged[:, 0], kind="stable")]
        self._waiting += len(former.waiting) - len(chosen.waiting)
        chosen.waiting = array("q")
        self.shown, self.wanted, self._is_over = clock_id, 0, False
        return log.exchanged(merged.reshape(-1).tolist(), base)


def _rows(numbers: array[int] | list[int]) -> Rows:
    return np.array(numbers, np.int64).reshape(-1, _WIDTH)


def _events(rows: Rows) -> Iterator[RawEvent]:
    return map(tuple, rows.tolist())
