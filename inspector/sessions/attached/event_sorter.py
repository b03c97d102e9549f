"""The events of all programs and of the session itself, sorted into one log.

Programs send events some milliseconds after they happened. So events wait until no earlier ones are
expected, and are then sorted by their instants. Only events that fit the state enter the log, which
can therefore be read, recorded and folded like that of a scene.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from itertools import chain
from operator import length_hint
from typing import Final

import numpy as np

from inspector.events.log import EventLog
from inspector.events.schema import ABOUT_CLOCKS, ADDED, SCHEMA, Unit
from inspector.events.timeline import MISFIT, Timeline
from inspector.sessions.attached.loops import Loops, OtherLog
from inspector.sessions.attached.session_numbers import (
    is_above_programs,
    program_of,
    program_of_clock,
)
from inspector.sessions.attached.translation import Rows
from inspector.vocabulary import (
    CLOCK_ANCHORED,
    CLOCK_REMOVED,
    CLOCK_RESUMED,
    TASK_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_ORIGIN,
    Numbers,
    RawEvent,
)

#: Kinds of rows that are no events: where a keyframe of a program begins, and is complete.
KEYFRAME_BEGUN: Final = -1
KEYFRAME_COMPLETE: Final = -2

#: More than this are refused, so that no program fills the memory.
MOST_TIMERS: Final = 2_000_000
MOST_CLOCKS: Final = 10_000
MOST_TASKS: Final = 500_000

_WIDTH: Final = 5


class EventSorter:
    def __init__(self, log: EventLog, timeline: Timeline) -> None:
        self.at_ns = 0  # Session time up to which events are in the log, unless they come late
        self.newest_ns = 0  # Session time of the newest event in the log
        # log: the log of all events, in which the frame events are those of the first loop
        # timeline: the shown log, which is log or other, folded to its end
        self.log, self.timeline = log, timeline
        self.loops = Loops()
        # The log with the frame events of another loop, if one was chosen
        self.other: OtherLog | None = None
        self.misfits: Counter[int] = Counter()  # How many events did not fit the state, by kind
        # How many events came too late to be sorted in, and were moved to a later instant
        self.late = 0
        self.late_ns = 0  # The most by which one was moved
        # The programs whose clocks changed in a late event: only a keyframe tells their state
        self.resyncs: set[int] = set()
        self._waiting: dict[int, deque[Rows]] = {}
        self._special = np.array([KEYFRAME_BEGUN, KEYFRAME_COMPLETE, *self.loops.takers])
        self._keyframes: dict[int, _Keyframe] = {}
        self._being_described: set[int] = set()

    @property
    def shown_log(self) -> EventLog:
        return self.log if self.other is None else self.other.log

    def add(self, *events: tuple[int, int, int, int, int]) -> None:
        self.add_rows(-1, np.array(events, np.int64))

    def add_rows(self, program: int, rows: Rows) -> None:
        if len(rows):
            self._waiting.setdefault(program, deque()).append(rows)

    def add_keyframe(self, program: int, kind: int, at_ns: int) -> None:
        """Note where a keyframe of a program begins or is complete."""
        self.add_rows(program, np.array([(at_ns, kind, program, 0, 0)], np.int64))

    def release(self, until_ns: int) -> int:
        """Add all events up to an instant to the log; returns their number."""
        found = list(chain.from_iterable(self._ready(queue, until_ns) for queue in self._queues()))
        count = 0
        if found:
            rows = np.concatenate(found)
            if len(found) > 1:
                rows = rows[np.argsort(rows[:, 0], kind="stable")]
            self._correct_instants(rows)
            count = self._enter(rows)
        self.at_ns = max(self.at_ns, until_ns)
        return count

    def _queues(self) -> list[deque[Rows]]:
        # The session's own events come first: at one instant, a command precedes its effects.
        return [self._waiting[program] for program in sorted(self._waiting)]

    @staticmethod
    def _ready(queue: deque[Rows], until_ns: int) -> list[Rows]:
        found = []
        while queue and queue[0][0, 0] <= until_ns:
            rows = queue.popleft()
            end = int(np.searchsorted(rows[:, 0], until_ns, side="right"))
            found.append(rows[:end])
            if end < len(rows):
                queue.appendleft(rows[end:])
        return found

    def _correct_instants(self, rows: Rows) -> None:
        """Move late events to the instant of the newest one in the log."""
        last_ns = self.newest_ns
        self.newest_ns = max(last_ns, int(rows[-1, 0]))
        late = rows[:, 0] < last_ns
        if not late.any():
            return
        late &= rows[:, 1] > 0
        self.late += int(np.count_nonzero(late))
        self.late_ns = max(self.late_ns, last_ns - int(rows[:, 0].min()))
        for kind, clock_id in rows[late, 1:3].tolist():
            if kind in ABOUT_CLOCKS:
                self.resyncs.add(program_of_clock(clock_id))
        np.maximum(rows[:, 0], last_ns, out=rows[:, 0])

    def _enter(self, rows: Rows) -> int:
        rows = self._without_too_many(rows)
        # A flat list, as many tuples would make the garbage collector visit all objects.
        numbers: list[int] = rows.ravel().tolist()
        if not self._keyframes and not np.isin(rows[:, 1], self._special).any():
            return self._fold(numbers)
        loops, keyframes = self.loops, self._keyframes
        takers = loops.takers
        plain: list[int] = []
        count = 0
        for event in _events(iter(numbers)):
            at_ns, kind, subject, a, b = event
            if kind in takers:
                taken = takers[kind](at_ns, subject, a, b)
                if taken is None:
                    # At a loop's first frame, found() describes the loop by the state of its clock.
                    count += self._fold(plain)
                    plain = list(loops.found(event))
                else:
                    plain += taken
            elif kind < 0 or keyframes:
                # What these events do depends on the state before them.
                count += self._fold(plain)
                plain = []
                count += self._fold_in_keyframe(event)
            else:
                plain += event
        return count + self._fold(plain)

    def _without_too_many(self, rows: Rows) -> Rows:
        timeline = self.timeline
        for kind, count, most in (
            (ADDED[Unit.TIMER], len(timeline.timers), MOST_TIMERS),
            (ADDED[Unit.CLOCK], len(timeline.clocks), MOST_CLOCKS),
            (TASK_ADDED, len(timeline.tasks.by_id), MOST_TASKS),
        ):
            if count >= most:
                surplus = rows[:, 1] == kind
                self.misfits[kind] += int(np.count_nonzero(surplus))
                rows = rows[~surplus]
        return rows

    def _fold(self, numbers: list[int]) -> int:
        """Fold events, five numbers each, and add them to the log; returns how many fitted.

        Those that do not fit the state are counted and left out.
        """
        if not numbers:
            return 0
        timeline, misfits = self.timeline, []
        rest = iter(numbers)
        while True:
            try:
                timeline.apply_all(_events(rest))
                break
            except MISFIT:
                place = len(numbers) - length_hint(rest) - _WIDTH
                misfits.append(place)
                if not self._is_being_described(*numbers[place + 1 : place + 3]):
                    self.misfits[numbers[place + 1]] += 1
        for place in reversed(misfits):
            del numbers[place : place + _WIDTH]
        told: Numbers = numbers
        if self.other is not None:
            told = self.other.append(numbers)
        self.log.append(told)  # type: ignore[arg-type] # five an event
        return len(numbers) // _WIDTH

    def choose(self, loop: int) -> None:
        """Show the frames of another loop, including past ones.

        This replaces the shown log and the timeline.
        """
        loops = self.loops
        loops.choose(loop)
        self.timeline = self.timeline.copy()
        self.timeline.choose_frames(loop)
        self.other = None if loop == loops.first else OtherLog(self.log, loops.first, loop)

    def _is_being_described(self, kind: int, subject: int) -> bool:
        """Whether an event may not fit because its program is just describing its state."""
        program = program_of_clock(subject) if kind in ABOUT_CLOCKS else program_of(subject)
        return program in self._being_described

    def _fold_in_keyframe(self, event: RawEvent) -> int:
        at_ns, kind, subject, _a, _b = event
        if kind == KEYFRAME_BEGUN:
            self._being_described.add(subject)
            # The first keyframe of a program has nothing to be compared with.
            if any(program_of_clock(each) == subject for each in self.timeline.clocks):
                self._keyframes[subject] = _Keyframe(self)
            return 0
        if kind == KEYFRAME_COMPLETE:
            keyframe = self._keyframes.pop(subject, None)
            count = 0 if keyframe is None else self._fold(keyframe.gone(subject, at_ns))
            self._being_described.discard(subject)
            return count
        is_clock = kind in ABOUT_CLOCKS
        program = program_of_clock(subject) if is_clock else program_of(subject)
        keyframe = self._keyframes.get(program)
        return self._fold(list(event) if keyframe is None else keyframe.news(event))

    def end_program(self, program: int) -> None:
        """Forget the unfinished keyframe of a program that has ended."""
        self._keyframes.pop(program, None)
        self._being_described.discard(program)
        self.loops.end_program(program)


class _Keyframe:
    """Compares a program's description of its state with the state known here."""

    def __init__(self, sorter: EventSorter) -> None:
        # Not the timeline itself: choosing another loop replaces it.
        self._sorter = sorter
        self._described: dict[int, set[int]] = {kind: set() for kind in _ADDING}
        self._new: set[tuple[int, int]] = set()

    def news(self, row: RawEvent) -> list[int]:
        """Return what is new in an event of the description, as events of five numbers each."""
        timeline, (at_ns, kind, subject, a, b) = self._sorter.timeline, row
        is_known = (
            subject in timeline.clocks if kind in ABOUT_CLOCKS else subject in timeline.timers
        )
        if kind in _ADDING:
            self._described[kind].add(subject)
            if is_known:
                return []
            self._new.add((kind, subject))
            return [*row]
        if not is_known or (_ADDED_BY.get(kind), subject) in self._new:
            return [*row]
        if kind == CLOCK_ANCHORED:
            # If it is still paused, a later event of the description says so.
            is_paused = timeline.clocks[subject].paused
            return [at_ns, CLOCK_RESUMED, subject, 0, 0, *row] if is_paused else [*row]
        if kind in {TIMER_ORIGIN, TIMER_ARMED}:
            table, i = timeline.timers, timeline.timers.index(subject)
            now = (table.due[i], table.interval[i])
            if kind == TIMER_ORIGIN:
                now = (table.site[i], table.kind[i])
            return [] if now == (a, b) else [*row]
        return [*row]

    def gone(self, program: int, at_ns: int) -> list[int]:
        timeline = self._sorter.timeline
        clocks = {
            number
            for number in timeline.clocks.keys() - self._described[ADDED[Unit.CLOCK]]
            if program_of_clock(number) == program and not is_above_programs(number)
        }
        timers = [
            number
            for number in timeline.timers.ids()
            if program_of(number) == program and number not in self._described[ADDED[Unit.TIMER]]
        ]
        # Removing a clock also removes all clocks below it.
        top_clocks = [n for n in clocks if timeline.clocks[n].parent_id not in clocks]
        return [
            each
            for kind, numbers in ((TIMER_CLEARED, timers), (CLOCK_REMOVED, top_clocks))
            for number in sorted(numbers)
            for each in (at_ns, kind, number, 0, 0)
        ]


def _events(each: Iterator[int]) -> Iterator[RawEvent]:
    return zip(each, each, each, each, each, strict=True)


_ADDING: Final = (ADDED[Unit.CLOCK], ADDED[Unit.TIMER])
_ADDED_BY: Final = {
    int(row.kind): ADDED[row.subject] for row in SCHEMA.values() if row.subject in ADDED
}
