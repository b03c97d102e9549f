"""The next calls at present rates: exact, as timers count ticks and never add up deltas.

A prediction holds until a rate, a pause, a parent or the timer itself changes. A late host
calls a timer for the instant at which it was due, so lateness only matters to policies that
count from the call. :mod:`inspector.analysis.predict.scores` tells which predictions came
true, and what changed in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import islice, takewhile

from msgspec import Struct

from inspector.calls.call import CallId
from inspector.calls.dues import DueTimes, session_instant
from inspector.clocks.rate import local_ns
from inspector.events.members import FRAME_TIMERS, TIMED_CALLS
from inspector.events.states import ClockState
from inspector.events.timeline import Timeline
from inspector.vocabulary import NEVER, RATE_DENOMINATOR, Field, TimerKind


class Prediction(Struct, frozen=True):
    call: CallId
    at_ns: int  # Session instant of the call, or from which it waits for a frame
    number: int  # Number of the call, counted from 1 after the prediction was made
    due_ns: int  # Its due instant, in the time of its clock or scheduler
    cursor: int  # End of the log when the prediction was made
    path: tuple[int, ...]  # Its clock and that one's ancestors, the root last
    first_due_ns: int = NEVER  # Its due instant when the prediction was made, in the same time
    # The call itself and its ancestors; empty for a timer of a clock.
    members: tuple[int, ...] = ()
    # The scheduler that makes the call in its first update at or after at_ns; 0 for a clock.
    scheduler_id: int = 0


def next_calls(timeline: Timeline, call_id: CallId, most: int) -> list[Prediction]:
    """Return the next calls of anything that is scheduled, at present rates.

    For a scheduler, ticker or loop only the next call is predicted, and none for what is called in
    every frame.
    """
    if not call_id.is_member:
        return upcoming(timeline, NEVER - 1, [call_id.number], most)
    members = timeline.members
    member = members.by_id.get(call_id.number)
    at_ns = None if member is None else DueTimes(timeline).session_due_ns(member)
    if member is None or at_ns is None or at_ns == NEVER or member.kind not in TIMED_CALLS:
        return []
    scheduler = members.scheduler_of(member.id) if member.kind in FRAME_TIMERS else None
    due_ns, clock_id = member.fields.get(Field.DUE, NEVER), member.clock_id or timeline.root_id
    return [
        Prediction(
            *(call_id, max(at_ns, timeline.newest_ns), 1, due_ns, timeline.events_folded),
            path=tuple(clock.id for clock in timeline.path(clock_id)) if clock_id else (),
            first_due_ns=due_ns,
            members=tuple(each.id for each in members.path(member.id)),
            scheduler_id=0 if scheduler is None else scheduler.id,
        )
    ]


def next_fires(timeline: Timeline, timer_id: int, until_ns: int, most: int = 100) -> list[int]:
    """Return the session instants at which a timer fires next, at present rates."""
    steady = _steady_firings(timeline, timer_id, until_ns)
    if steady is not None:
        return list(steady[:most])
    instants = (at_ns for at_ns, _ in _firings(timeline, timer_id))
    return list(islice(takewhile(lambda at_ns: at_ns <= until_ns, instants), most))


def upcoming(
    timeline: Timeline, until_ns: int, timer_ids: Iterable[int] | None = None, most: int = 10_000
) -> list[Prediction]:
    """Return the next calls of timers, by default of all, the earliest first."""
    timeline.resolve_dues()
    table = timeline.timers
    wanted = table.ids() if timer_ids is None else (each for each in timer_ids if each in table)
    coming = (each for each in wanted if table.session_due[table.index(each)] <= until_ns)
    ranked = merge(*(_ranked(timeline, timer_id) for timer_id in coming))
    calls = takewhile(lambda call: call[0] <= until_ns, ranked)
    return [prediction for _, _, prediction in islice(calls, most)]


def _ranked(timeline: Timeline, timer_id: int) -> Iterator[tuple[int, int, Prediction]]:
    """Yield the calls of a timer, each with its sort key."""
    order = timeline.timers.order[timeline.timers.index(timer_id)]
    return ((call.at_ns, order, call) for call in _calls(timeline, timer_id))


def waiting(timeline: Timeline, clock_id: int, label_sid: int, most: int) -> list[int]:
    """Return the pending timers of a clock with a name, the earliest due first."""
    return timeline.timers.named(timeline.timers_version, clock_id, label_sid, most)


def _calls(timeline: Timeline, timer_id: int) -> Iterator[Prediction]:
    """Yield the future calls of a timer, without end if it repeats."""
    table = timeline.timers
    first_due_ns = table.due[table.index(timer_id)]
    numbers = tuple(clock.id for clock in timeline.path(table.clock[table.index(timer_id)]))
    for number, (at_ns, due_ns) in enumerate(_firings(timeline, timer_id), 1):
        yield Prediction(
            CallId(timer_id), at_ns, number, due_ns, timeline.events_folded, numbers, first_due_ns
        )


def _firings(timeline: Timeline, timer_id: int) -> Iterator[tuple[int, int]]:
    """Yield the session instants of the calls of a timer, each with its due instant."""
    table = timeline.timers
    row = table.index(timer_id)
    due_ns, interval_ns, kind = table.due[row], table.interval[row], table.kind[row]
    path = timeline.path(table.clock[row])
    # A timer due before the newest event fires with the next wake-up. A timer that became due
    # since then is called for its own instant, however much time has passed.
    reached_ns = timeline.newest_ns
    while True:
        at_ns = session_instant(due_ns, path)
        if at_ns == NEVER:
            return
        at_ns = reached_ns = max(at_ns, reached_ns)
        yield at_ns, due_ns
        if not interval_ns:
            return
        due_ns = _next_due(due_ns, interval_ns, kind, max(at_ns, timeline.at_ns), path)


def _steady_firings(timeline: Timeline, timer_id: int, until_ns: int) -> range | None:
    """Return the calls of a timer if they are at equal distances, else ``None``.

    That is so for most timers: intervals that are not late, on a clock at the rate of the session.
    """
    table = timeline.timers
    row = table.index(timer_id)
    interval_ns = table.interval[row]
    path = timeline.path(table.clock[row])
    if not interval_ns or any(clock.n != RATE_DENOMINATOR for clock in path):
        return None
    at_ns = session_instant(table.due[row], path)
    if at_ns < max(timeline.newest_ns, timeline.at_ns) or until_ns >= NEVER:
        return None
    return range(at_ns, until_ns + 1, interval_ns)


def _next_due(due_ns: int, interval_ns: int, kind: int, at_ns: int, path: list[ClockState]) -> int:
    """Return the next due instant; on a fast clock even a punctual call is a little late."""
    if kind not in {TimerKind.INTERVAL_DELAY, TimerKind.INTERVAL_SKIP}:
        return due_ns + interval_ns
    now_ns = at_ns
    for clock in reversed(path):
        now_ns = local_ns(now_ns, clock.n, clock.off)
    late_ns = now_ns - due_ns
    if kind == TimerKind.INTERVAL_DELAY:
        return due_ns + interval_ns + max(late_ns, 0)
    return due_ns + interval_ns * (1 + max(late_ns, 0) // interval_ns)
