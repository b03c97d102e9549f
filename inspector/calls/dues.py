"""Due instants of calls in session time, now and after a change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from typing import Final

from msgspec import Struct

from inspector.clocks.rate import parent_ns
from inspector.events.members import CLOCK_CALLS, TIMED_CALLS, WITH_TIME, MemberState
from inspector.events.states import ClockState
from inspector.events.timeline import Timeline
from inspector.vocabulary import NEVER, RATE_DENOMINATOR, Field, MemberKind

#: While one of these is paused, a call keeps its remaining time instead of its due instant.
_KEEPS_REMAINDER: Final = TIMED_CALLS | {MemberKind.TARGET, MemberKind.CHILD_CLOCK}


def session_instant(due_ns: int, path: Iterable[ClockState]) -> int:
    """Return when a path's first clock reaches a local time; ``NEVER`` if it is stopped."""
    for clock in path:
        if clock.n == 0:
            return NEVER
        due_ns = parent_ns(due_ns, clock.n, clock.off)
    return min(due_ns, NEVER)


class _SchedulerTime(Struct, frozen=True):
    time_ns: int  # That time; a scheduler's is that of its last frame
    scale: tuple[int, int]  # Its time scale, as numerator and denominator
    clocks: Sequence[ClockState]  # The clock it runs on and its ancestors
    frame_local_ns: int  # Local time of that clock at the last frame
    local_ns: int  # Local time of that clock now


class SchedulerChange(Struct, frozen=True):
    paused: Collection[int] = ()  # Targets, calls, tickers … that would also be paused
    resumed: Collection[int] = ()  # Targets, calls, tickers … whose own pause would end
    scale: Fraction | None = None  # New time scale of the scheduler, None for the present one


#: A change that changes nothing.
UNCHANGED: Final = SchedulerChange()


class DueTimes:
    """Session instants at which the scheduled calls of a timeline are due, at present rates.

    Frame timers wait in the time of their scheduler, which passes in frames: they are called
    in the first frame at or after the instant returned here.
    """

    def __init__(
        self,
        timeline: Timeline,
        change: SchedulerChange = UNCHANGED,
        clocks: Timeline | None = None,
    ) -> None:
        """Answer for a timeline and a change of engine or clocks, until it folds more events."""
        self._timeline = timeline
        self._change = change
        self._clocks = timeline if clocks is None else clocks
        self._times: dict[tuple[int, int], _SchedulerTime | None] = {}
        self._aboves: dict[tuple[int, int], tuple[bool, bool, _SchedulerTime | None]] = {}

    def session_due_ns(self, call: MemberState) -> int | None:
        """Return when a call is due: ``NEVER`` while blocked, ``None`` without known instant."""
        fields = call.fields
        if fields.get(Field.DUE, NEVER) == NEVER and Field.REMAINING not in fields:
            return None
        # Shared by all calls of a target, because there may be thousands of them.
        key = call.parent_id, call.clock_id if call.kind in CLOCK_CALLS else 0
        above = self._aboves.get(key)
        if above is None:
            path = self._timeline.members.path(call.id)
            above = self._aboves[key] = (*self._pauses(path[1:]), self._time_of(path))
        is_stopped, keeps_remainder, time = above
        if time is None:
            return None
        if fields.get(Field.PAUSED) or call.id in self._change.paused:
            is_own, keeps_own = self._pauses([call])
            is_stopped |= is_own
            keeps_remainder |= keeps_own
        numerator, denominator = time.scale
        if is_stopped or numerator <= 0:
            return NEVER
        if keeps_remainder and Field.REMAINING in fields:
            left_ns = fields[Field.REMAINING]
        else:
            left_ns = fields.get(Field.DUE, NEVER) - time.time_ns
        since_ns = time.local_ns if keeps_remainder else time.frame_local_ns
        wait_ns = -(-left_ns * denominator // numerator)
        return session_instant(since_ns + wait_ns, time.clocks)

    def _pauses(self, path: Sequence[MemberState]) -> tuple[bool, bool]:
        """Return whether a member of a path would be paused, and whether a pause would end.

        Only pauses that keep the remaining time count for the second.
        """
        change, keeps_remainder = self._change, False
        for each in path:
            if each.id in change.paused or (each.is_paused and each.id not in change.resumed):
                return True, False
            keeps_remainder |= each.is_paused and each.kind in _KEEPS_REMAINDER
        return False, keeps_remainder

    def left_ns(self, call: MemberState) -> int | None:
        """Return the time until a call in the time of its scheduler or clock, 0 when overdue.

        While it is paused, what was left when the pause began; ``None`` if it waits for no
        instant.
        """
        fields = call.fields
        members = self._timeline.members
        if Field.REMAINING in fields and members.pausing(call.id) is not None:
            return fields[Field.REMAINING]
        due_ns = fields.get(Field.DUE, NEVER)
        if call.kind not in TIMED_CALLS or due_ns == NEVER:
            return None
        time = self._time_of(members.path(call.id))
        return None if time is None else max(0, due_ns - time.time_ns)

    def _time_of(self, path: Sequence[MemberState]) -> _SchedulerTime | None:
        call, timeline = path[0], self._timeline
        if call.kind in CLOCK_CALLS:
            key = 0, call.clock_id
        else:
            scheduler = next((each for each in path if each.kind in WITH_TIME), None)
            if scheduler is None or Field.TIME not in scheduler.fields:
                return None
            # Calls run on the clock of their scheduler or ticker.
            key = scheduler.id, scheduler.clock_id or timeline.root_id or 0
        if key not in self._times:
            self._times[key] = self._look_up(*key)
        return self._times[key]

    def _look_up(self, scheduler_id: int, clock_id: int) -> _SchedulerTime | None:
        timeline = self._timeline
        if clock_id not in timeline.clocks:
            return None
        clocks, local_ns = self._clocks.path(clock_id), timeline.local_ns(clock_id)
        if not scheduler_id:
            return _SchedulerTime(local_ns, (1, 1), clocks, local_ns, local_ns)
        scheduler = timeline.members.by_id[scheduler_id]
        last_ns = scheduler.timed_ns
        if not last_ns:  # Unknown in older recordings: that of the last frame, as for most.
            frames, added_ns = timeline.frames, scheduler.added_ns
            last_ns = frames.at_ns[-1] if frames.end > frames.first else added_ns
            last_ns = min(max(last_ns, added_ns), timeline.at_ns)
        scale = self._change.scale
        if scale is None:
            rate_n = scheduler.rate_n
            scale = Fraction(rate_n, RATE_DENOMINATOR)
        return _SchedulerTime(
            scheduler.fields[Field.TIME],
            scale.as_integer_ratio(),
            clocks,
            timeline.local_ns(clock_id, last_ns),
            local_ns,
        )
