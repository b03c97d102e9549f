"""When timers fire next, at present rates: exact, because a timer counts, never adds up.

A prediction holds for as long as no rate, pause or parent changes, nor the timer itself. A
host that is late calls a timer for the instant at which it was due, so that makes no
difference, except to policies that count from the call. Afterwards it can be said which came
true, and what came between: :mod:`inspector.analysis.predict.scores`.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import merge
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from inspector.calls.dues import session_instant
from inspector.clocks.rate import local_ns
from inspector.vocabulary import NEVER, TimerKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from inspector.events.states import ClockState
    from inspector.events.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Prediction:
    """One call of a timer that is to come.

    Attributes:
        timer_id: The timer.
        at_ns: Session instant at which it is called.
        number: Which call it is, counted from 1 after the prediction was made.
        due_ns: When it is due then, in local time of its clock.
        cursor: Where the log was when this was predicted.
        path: The timer's clock and those above it, the root last.
        first_due_ns: When the timer was due when this was predicted, in local time.
    """

    timer_id: int
    at_ns: int
    number: int
    due_ns: int
    cursor: int
    path: tuple[int, ...]
    first_due_ns: int = NEVER


def next_fires(timeline: Timeline, timer_id: int, until_ns: int, most: int = 100) -> list[int]:
    """Return the session instants at which a timer fires next, at present rates.

    Args:
        timeline: The state from which on.
        timer_id: A pending timer.
        until_ns: Session instant behind which nothing is predicted.
        most: So many at most.

    Raises:
        KeyError: The timer is not pending.
    """
    calls = takewhile(lambda call: call.at_ns <= until_ns, _calls(timeline, timer_id))
    return [call.at_ns for call in islice(calls, most)]


def upcoming(
    timeline: Timeline,
    until_ns: int,
    timer_ids: Iterable[int] | None = None,
    most: int = 10_000,
) -> list[Prediction]:
    """Return the next calls of many timers at present rates, the earliest first.

    Args:
        timeline: The state from which on.
        until_ns: Session instant behind which nothing is predicted.
        timer_ids: The timers that matter, all if left out; those not pending are left out.
        most: So many calls at most, over all timers.
    """
    timeline.resolve_dues()
    table = timeline.timers
    wanted = table.ids() if timer_ids is None else (each for each in timer_ids if each in table)
    coming = (each for each in wanted if table.session_due[table.index(each)] <= until_ns)
    ranked = merge(*(_ranked(timeline, timer_id) for timer_id in coming))
    calls = takewhile(lambda call: call[0] <= until_ns, ranked)
    return [prediction for _, _, prediction in islice(calls, most)]


def _ranked(timeline: Timeline, timer_id: int) -> Iterator[tuple[int, int, Prediction]]:
    """Go through the calls of a timer with what decides which of several comes first."""
    order = timeline.timers.order[timeline.timers.index(timer_id)]
    return ((call.at_ns, order, call) for call in _calls(timeline, timer_id))


def waiting(timeline: Timeline, clock_id: int, label_sid: int, most: int) -> list[int]:
    """Return timers of a clock that have one name and wait, the earliest due first.

    Args:
        timeline: The state, present or past.
        clock_id: Their clock.
        label_sid: Their name, as a number of the string table.
        most: So many at most.
    """
    import numpy as np  # noqa: PLC0415 - predicting one timer needs none

    table = timeline.timers
    if not len(table):
        return []
    is_meant = (table.numpy("clock") == clock_id) & (table.numpy("label") == label_sid)
    places = np.flatnonzero(is_meant)
    by_due = places[np.argsort(table.numpy("due")[places], kind="stable")]
    return [int(number) for number in table.numpy("id")[by_due[:most]]]


def _calls(timeline: Timeline, timer_id: int) -> Iterator[Prediction]:
    """Go through the calls of a timer to come, without an end if it repeats.

    Raises:
        KeyError: The timer is not pending.
    """
    table = timeline.timers
    row = table.index(timer_id)
    due_ns, interval_ns, kind = table.due[row], table.interval[row], table.kind[row]
    path = timeline.path(table.clock[row])
    # What was due before something that has happened is called with the next wake-up. What is
    # due since then is called for its own instant, however far time has passed by now.
    reached_ns = timeline.newest_ns
    numbers = tuple(clock.id for clock in path)
    number, first_due_ns = 0, due_ns
    while True:
        at_ns = session_instant(due_ns, path)
        if at_ns == NEVER:
            return
        at_ns = reached_ns = max(at_ns, reached_ns)
        number += 1
        yield Prediction(
            timer_id, at_ns, number, due_ns, timeline.events_folded, numbers, first_due_ns
        )
        if not interval_ns:
            return
        due_ns = _next_due(due_ns, interval_ns, kind, max(at_ns, timeline.at_ns), path)


def _next_due(due_ns: int, interval_ns: int, kind: int, at_ns: int, path: list[ClockState]) -> int:
    """Return when it is due again, by its policy; a fast clock is a little late on time."""
    if kind not in {TimerKind.INTERVAL_DELAY, TimerKind.INTERVAL_SKIP}:
        return due_ns + interval_ns
    now_ns = at_ns
    for clock in reversed(path):
        now_ns = local_ns(now_ns, clock.n, clock.off)
    late_ns = now_ns - due_ns
    if kind == TimerKind.INTERVAL_DELAY:
        return due_ns + interval_ns + max(late_ns, 0)
    return due_ns + interval_ns * (1 + max(late_ns, 0) // interval_ns)
