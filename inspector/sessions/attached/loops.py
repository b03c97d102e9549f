"""The loops of the programs: which of them run frames, and those of which are shown.

Everything is in one log, in which the events of frames are those of the first loop. While another
is chosen, a second log has the same events with the frames of that one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from inspector import __version__
from inspector.events.history import LogHistory
from inspector.events.loop_frames import exchange, of_other_loop
from inspector.events.recording import About
from inspector.sessions.attached.numbers import program_of_clock
from inspector.sessions.sources.time_sources import ATTACHED, ATTACHED_LOOP
from inspector.vocabulary import (
    DELTA_CUT,
    FRAME_BEGAN,
    FRAME_ENDED,
    LOOP_FOUND,
    PHASE_ENDED,
    LoopKind,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from fractions import Fraction

    from inspector.events.log import EventLog
    from inspector.sessions.attached.intake import Intake
    from inspector.sessions.attached.session import AttachedSession

_WIDTH: Final = 5


class _Loop:
    """A loop.

    Attributes:
        id: Its number: that of its clock, or of the clock of a loop that it continues.
        ended: How many frames have ended.
        is_in_frame: Whether one has begun.
    """

    __slots__ = ("ended", "id", "is_in_frame")

    def __init__(self, number: int) -> None:
        self.id = number
        self.ended = 0
        self.is_in_frame = False


class Loops:
    """Tells the loops apart.

    Attributes:
        first: The loop whose frames are those of the log; 0 until the first frame.
        shown: The loop whose frames are shown.
        wanted: The loop that goes on while nothing is shown, 0 for none.
        describe: Returns the number of the name of a loop that is found, and its kind.
        takers: Takes an event of a frame, by its kind; yields what goes into the log.
    """

    def __init__(self) -> None:
        self.first = self.shown = self.wanted = 0
        self.describe: Callable[[int], tuple[int, LoopKind]] = _undescribed
        self.takers: dict[int, Callable[[list[int]], Iterator[list[int]]]] = {
            FRAME_BEGAN: self._began,
            PHASE_ENDED: self._phase_ended,
            DELTA_CUT: self._cut,
            FRAME_ENDED: self._ended,
        }
        self._loops: dict[int, _Loop] = {}
        self._latest: dict[int, int] = {}
        self._is_over = False

    def loop_of(self, clock_id: int) -> int:
        """Return the loop of a clock, 0 if it has run no frame."""
        loop = self._loops.get(clock_id)
        return 0 if loop is None else loop.id

    def ended(self, clock_id: int) -> int:
        """Return how many frames a clock's loop has run."""
        loop = self._loops.get(clock_id)
        return 0 if loop is None else loop.ended

    def finds_one(self, row: list[int]) -> bool:
        """Return whether an event is the first of a loop."""
        return row[1] == FRAME_BEGAN and row[2] not in self._loops

    def show(self, loop: int) -> None:
        """Note that the frames of a loop are shown."""
        self.shown, self.wanted, self._is_over = loop, 0, False

    def end_program(self, program: int) -> None:
        """Let the next loop be shown if that of a program is, which has ended."""
        self._is_over = self._is_over or program_of_clock(self.shown) == program

    def _began(self, row: list[int]) -> Iterator[list[int]]:
        clock_id = row[2]
        self._latest[program_of_clock(clock_id)] = clock_id
        loop = self._loops.get(clock_id)
        if loop is None:
            # After the end of the loop that is shown, a new one continues its frames, as when a
            # page is loaded again.
            follows = self._loops.get(self.shown) if self._is_over else None
            loop = self._loops[clock_id] = follows or _Loop(clock_id)
            if follows is None:
                name, kind = self.describe(clock_id)
                yield [row[0], LOOP_FOUND, clock_id, name, int(kind)]
            self.first = self.first or clock_id
            if follows or not self.shown:
                self.show(loop.id)
        elif self._is_over and loop.id != self.shown:
            self.wanted = clock_id
        loop.is_in_frame = True
        row[2], row[3] = loop.id, loop.ended
        yield self._in_log(loop, row)

    def _phase_ended(self, row: list[int]) -> Iterator[list[int]]:
        loop = self._loops.get(self._latest.get(row[3], 0))
        if loop is not None and loop.is_in_frame:
            row[3] = loop.ended
            yield self._in_log(loop, row)

    def _cut(self, row: list[int]) -> Iterator[list[int]]:
        loop = self._loops.get(row[2])
        if loop is not None and loop.is_in_frame:
            row[2] = loop.id
            yield self._in_log(loop, row)

    def _ended(self, row: list[int]) -> Iterator[list[int]]:
        loop = self._loops.get(row[2])
        if loop is not None and loop.is_in_frame:
            loop.is_in_frame = False
            loop.ended += 1
            row[2] = loop.id
            yield self._in_log(loop, row)

    def _in_log(self, loop: _Loop, row: list[int]) -> list[int]:
        if loop.id == self.first:
            return row
        return of_other_loop(row, loop.id)


def _undescribed(_clock_id: int) -> tuple[int, LoopKind]:
    return 0, LoopKind.DRAWS_FRAMES


class ShownLog:
    """The events of a log with the frames of another loop.

    Attributes:
        log: The events.
        timeline: The log folded to its end.
        history: The past.
    """

    def __init__(self, log: EventLog, shown: int, chosen: int) -> None:
        """Exchange the frames in what the log has.

        Args:
            log: The log.
            shown: The loop whose frames are in it.
            chosen: The other loop.
        """
        self._loops = shown, chosen
        base = log.base.copy()
        base.choose_frames(chosen)
        numbers = self._exchanged(np.array(log.numbers(log.first, log.end), np.int64))
        self.log = log.exchanged(numbers, base)
        self.history = LogHistory(self.log)
        self.timeline = self.history.state_before(self.log.end)

    def take(self, numbers: list[int]) -> None:
        """Take what has come into the log: five numbers an event."""
        exchanged = self._exchanged(np.array(numbers, np.int64))
        each = iter(exchanged)
        self.timeline.apply_all(zip(each, each, each, each, each, strict=True))
        self.log.append(exchanged)  # type: ignore[arg-type] # five an event

    def _exchanged(self, numbers: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[int]:
        exchange(numbers.reshape(-1, _WIDTH).T, *self._loops)
        return numbers.tolist()


class WholeSession:
    """What recordings are made of: the frames of every loop, whichever is shown.

    Attributes:
        annotations: The bookmarks, notes and named ranges of the session.
        log: The events, with the frames of the first loop.
        history: The past of that log.
        generation: 0: programs do not begin again.
        can_wait: False: other processes do not wait for the disk.
    """

    generation: Final = 0
    can_wait: Final = False

    def __init__(self, session: AttachedSession, intake: Intake, history: LogHistory) -> None:
        self._session, self._timeline = session, intake.timeline
        self.annotations, self.log, self.history = session.annotations, intake.log, history

    @property
    def frame_rate(self) -> Fraction:
        """Target frames per second."""
        return self._session.frame_rate

    @property
    def frames_run(self) -> int:
        """How many frames of the first loop have ended."""
        return self._timeline.frames.end

    @property
    def present_ns(self) -> int:
        """Session time now."""
        return self._session.present_ns

    @property
    def about(self) -> About:
        """The description for a file."""
        loop = self._timeline.loops.get(self._timeline.frames_of)
        waits = loop is not None and loop.kind is LoopKind.WAITS_FOR_EVENTS
        return About(
            title=self._session.title,
            tool_version=__version__,
            frame_rate=str(self.frame_rate),
            source=(ATTACHED_LOOP if waits else ATTACHED).name,
        )

    @property
    def file_stem(self) -> str:
        """Its name in the names of files."""
        return self._session.file_stem
