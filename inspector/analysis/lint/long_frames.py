"""Frames over budget: how long they took, and what they delayed.

While a callback runs, no timer fires and no frame begins. Calls of schedulers, components and
frame callbacks are measured; of the timers of a frame, only the total.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from msgspec import Struct, field

from inspector.analysis.explain.suspects import innermost_call
from inspector.analysis.frame_events import FrameEvents, MeasuredCall
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.vocabulary import NEVER, Phase, Share

_ONE: Final = Fraction(1)


class LongFrame(Struct):
    index: int
    at_ns: int
    cursor: int
    took_ns: int  # Time in its timers or in its other callbacks, whichever is longer
    phase: Phase | None = Phase.UPDATE  # The longest phase, None in a loop that has none
    call: int | None = None  # The call that took most of that time, None if none was measured
    # The timers that may have taken the time; empty if other callbacks did.
    fired: tuple[int, ...] = ()
    late: dict[int, int] = field(default_factory=dict)  # The timers it delayed, with their lateness
    is_frame_late: bool = False  # Whether it delayed a frame by more than the budget allows


class OverFrame(Struct, frozen=True):
    took_ns: int
    work_ns: int  # Time in callbacks since the frame before began
    index: int
    at_ns: int
    cursor: int
    # Shares of its time by code; empty if they were not measured.
    shares: tuple[int, ...]


class LongFrames:
    """Handles frames one by one, and keeps those over budget."""

    def __init__(self, budget: FrameBudget) -> None:
        self.budget = budget
        self._longest_ns, self._tolerance_ns = budget.longest_ns, budget.tolerance_ns
        self.frames = 0  # How many frames were compared with the budget
        # Frames over budget, except those that only the inspector made too long
        self.over: list[OverFrame] = []
        self.by_inspector = 0  # How many frames only the inspector made too long
        self.long: list[LongFrame] = []  # Frames whose callbacks alone are over budget
        self._before: FrameEvents | None = None
        self._former: LongFrame | None = None

    def forget_before(self) -> None:
        """Forget the frame before, because events after it are missing."""
        self._before = self._former = None

    def add(self, frame: FrameEvents, rate: Fraction = _ONE) -> None:
        """Add a frame that has ended; ``rate`` is how fast the time of its loop passes."""
        longest_ns = self._longest_ns
        took_ns = frame.busy_ns if self.budget.by_busy else frame.interval_ns
        if rate is not _ONE and not self.budget.by_busy:
            took_ns = int(took_ns * rate)
        is_over = took_ns > longest_ns
        # The first frame may have waited for the scene to be built.
        if self._before is not None:
            self.frames += 1
            if is_over:
                # Callbacks between the two beginnings. Timers of the frame before count if
                # they were called by the wake-up that ran that frame.
                work_ns = max(self._before.busy_ns, self._before.own_ns + frame.timers_ns)
                self._note_over(frame, took_ns, work_ns)
        self._before = frame
        former, self._former = self._former, None
        if former is not None:
            former.is_frame_late |= is_over
            self._make_late(former, frame, 0)
        if frame.busy_ns > longest_ns:
            timers_ns, own_ns = frame.timers_ns, frame.own_ns
            long = LongFrame(frame.index, frame.end_ns, frame.end, max(own_ns, timers_ns))
            if timers_ns > own_ns:
                self._blame_timers(long, frame, is_over=is_over, is_first=former is None)
            else:
                long.call = _longest_call(frame.own_calls, long.took_ns)
                long.phase = frame.longest_phase if frame.phases else None
                if former is None:
                    # Timers that fired in the same turn, except those that were late before it.
                    self._note_late(long, frame.fired_within, frame.busy_ns)
            self.long.append(long)
            self._former = long

    def _note_over(self, frame: FrameEvents, took_ns: int, work_ns: int) -> None:
        shares = () if self.budget.by_busy else frame.shares
        if shares and self.budget.is_over_because_of(took_ns, shares[Share.INSPECTOR]):
            self.by_inspector += 1
            return
        at = frame.index, frame.end_ns, frame.end
        self.over.append(OverFrame(took_ns, work_ns, *at, shares))

    def _blame_timers(
        self, long: LongFrame, frame: FrameEvents, *, is_over: bool, is_first: bool
    ) -> None:
        """Note which timers may have taken the time.

        If the frame before was not long, these timers also delayed everything that is late.
        """
        fired = frame.fired
        calls = frame.calls.get(Phase.TIMERS, [])
        long.phase, long.call = Phase.TIMERS, _longest_call(calls, long.took_ns)
        # Only timers before the first very late one can have delayed it.
        is_late = (place for place, (_, late_ns) in enumerate(fired) if 2 * late_ns > long.took_ns)
        before = next(filter(None, is_late), len(fired)) if is_first else len(fired)
        long.fired = tuple(number for number, _ in fired[:before])
        if is_first:
            self._make_late(long, frame, before)
            long.is_frame_late = is_over

    def _make_late(self, long: LongFrame, frame: FrameEvents, place: int) -> None:
        self._note_late(long, frame.fired[place:] + frame.fired_within)

    def _note_late(
        self, long: LongFrame, fired: list[tuple[int, int]], most_ns: int = NEVER
    ) -> None:
        for number, late_ns in fired:
            if self._tolerance_ns < late_ns <= most_ns:
                long.late[number] = max(late_ns, long.late.get(number, 0))


def _longest_call(calls: list[MeasuredCall], took_ns: int) -> int | None:
    inner = innermost_call(calls)
    longest_ns = max((call[1] for call in calls), default=0)
    return None if inner is None or 2 * longest_ns < took_ns else inner[2]
