"""Frames over budget: how long they took, and what they delayed.

While a callback runs, no timer fires and no frame begins. Calls of schedulers, components and
frame callbacks are measured; of the timers of a frame, only the total.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from inspector.analysis.explain.suspects import MeasuredCall, innermost_call
from inspector.vocabulary import (
    CALL_ENDED,
    FRAME_BEGAN,
    FRAME_ENDED,
    PHASE_ENDED,
    TIMER_FIRED,
    Phase,
)

if TYPE_CHECKING:
    from inspector.analysis.statistics.frame_budget import FrameBudget
    from inspector.vocabulary import RawEvent

#: The kinds of events for :meth:`LongFrames.take`.
ABOUT_LONG_FRAMES: Final = frozenset(
    {CALL_ENDED, FRAME_BEGAN, FRAME_ENDED, PHASE_ENDED, TIMER_FIRED}
)


@dataclass(slots=True)
class LongFrame:
    """A frame whose callbacks took longer than its budget.

    Attributes:
        index: The frame.
        at_ns: Session instant of its end.
        cursor: Its end in the log.
        took_ns: Time in its timers or in its other callbacks, whichever is longer.
        phase: The longest phase.
        call: The call that took most of that time, ``None`` if none was measured.
        fired: The timers that may have taken the time; empty if other callbacks did.
        late: The timers it delayed, with their lateness.
        is_frame_late: Whether it delayed a frame by more than the budget allows.
    """

    index: int
    at_ns: int
    cursor: int
    took_ns: int
    phase: Phase = Phase.UPDATE
    call: int | None = None
    fired: tuple[int, ...] = ()
    late: dict[int, int] = field(default_factory=dict)
    is_frame_late: bool = False


class LongFrames:
    """Takes events one by one, and keeps the frames over budget.

    Attributes:
        budget: The frame budget.
        frames: How many frames were compared with it.
        over: Frames over budget: frame time, time in callbacks, index, instant and cursor of
            the end.
        long: Frames whose callbacks alone are over budget.
    """

    def __init__(self, budget: FrameBudget) -> None:
        """Begin with nothing seen."""
        self.budget = budget
        self._longest_ns, self._tolerance_ns = budget.longest_ns, budget.tolerance_ns
        self.frames = 0
        self.over: list[tuple[int, int, int, int, int]] = []
        self.long: list[LongFrame] = []
        self._former: LongFrame | None = None
        self._fired: list[int] = []
        # The place of each late timer in ``_fired``, and its lateness.
        self._late: list[tuple[int, int]] = []
        self._group = self._fired, self._late
        self._calls: list[MeasuredCall] = []
        self._timer_calls = self._calls
        self._phases: dict[int, int] = {}
        self._index = 0
        self._before: tuple[int, int] | None = None

    def take(self, cursor: int, event: RawEvent) -> None:
        """Take one event about timers, calls or frames."""
        _, kind, subject, a, b = event
        if kind == TIMER_FIRED:
            if a > self._tolerance_ns:
                self._late.append((len(self._fired), a))
            self._fired.append(subject)
        elif kind == CALL_ENDED:
            self._calls.append((a, b, subject))
        elif kind == PHASE_ENDED:
            self._phases[subject] = self._phases.get(subject, 0) + b
        elif kind == FRAME_BEGAN:
            self._index = a
            self._group, self._fired, self._late = (self._fired, self._late), [], []
            self._timer_calls, self._calls = self._calls, []
            self._phases = {}
        elif kind == FRAME_ENDED:
            self._end(cursor, event)
            self._calls = []

    def _end(self, cursor: int, event: RawEvent) -> None:
        at_ns, _, _, interval_ns, busy_ns = event
        longest_ns = self._longest_ns
        is_over = interval_ns > longest_ns
        timers_ns = self._phases.pop(Phase.TIMERS, 0)
        own_ns = busy_ns - timers_ns
        # The first frame may have waited for the scene to be built.
        if self._before is not None:
            self.frames += 1
            if is_over:
                # Callbacks between the two beginnings. Timers of the frame before count if
                # they were called by the wake-up that ran that frame.
                before_busy_ns, before_own_ns = self._before
                work_ns = max(before_busy_ns, before_own_ns + timers_ns)
                self.over.append((interval_ns, work_ns, self._index, at_ns, cursor))
        self._before = busy_ns, own_ns
        former, self._former = self._former, None
        if former is not None:
            former.is_frame_late |= is_over
            self._make_late(former, 0)
        if busy_ns > longest_ns:
            long = LongFrame(self._index, at_ns, cursor, max(own_ns, timers_ns))
            if timers_ns > own_ns:
                self._blame_timers(long, is_over=is_over, is_first=former is None)
            else:
                long.call = _longest_call(self._calls, long.took_ns)
                phases = self._phases
                long.phase = Phase(max(phases, key=phases.__getitem__, default=Phase.UPDATE))
            self.long.append(long)
            self._former = long

    def _blame_timers(self, long: LongFrame, *, is_over: bool, is_first: bool) -> None:
        """Note which timers may have taken the time.

        Args:
            long: Their frame.
            is_over: Whether its frame time is over budget.
            is_first: Whether the frame before was not long, so that the timers delayed
                whatever is late.
        """
        fired, late = self._group
        long.phase, long.call = Phase.TIMERS, _longest_call(self._timer_calls, long.took_ns)
        # The first timer that is very late was called after the timer that delayed it.
        behind = (place for place, late_ns in late if place and 2 * late_ns > long.took_ns)
        before = next(behind, len(fired)) if is_first else len(fired)
        long.fired = tuple(fired[:before])
        if is_first:
            self._make_late(long, before)
            long.is_frame_late = is_over

    def _make_late(self, long: LongFrame, place: int) -> None:
        fired, late = self._group
        for at, late_ns in late:
            if at >= place:
                long.late[fired[at]] = max(late_ns, long.late.get(fired[at], 0))


def _longest_call(calls: list[MeasuredCall], took_ns: int) -> int | None:
    """Return the number of the call that took most of a time, ``None`` for none."""
    inner = innermost_call(calls)
    longest_ns = max((call[1] for call in calls), default=0)
    return None if inner is None or 2 * longest_ns < took_ns else inner[2]
