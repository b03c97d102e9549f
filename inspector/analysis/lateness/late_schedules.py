"""Jobs that set their next call late: each call is on time, but the distances grow.

A task continues in the turn after the one in which its timer fires, in which other tasks may run
before it. So a job is only known to have worked itself if no other was called in the same turn.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from statistics import median
from typing import Final

from msgspec import Struct, structs

from inspector.analysis.lateness.attribution import Cause, Lateness, LatenessShare
from inspector.events.handlers import handlers_of
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import NEVER, RawEvent

#: A job has a schedule if it has at least this many calls, nearly all set with the same delay,
_LEAST_CALLS: Final = 5
_SAME_DELAY: Final = 0.05
_SAME_NS: Final = 2 * NS_PER_MS
#: and if hardly any of the gaps before these is this many times the usual gap.
_SIMILAR: Final = 3
_ODD_ONE_IN: Final = 10


class LateSetting(Struct, frozen=True):
    timer_id: int  # Its timer
    clock_id: int  # The clock of the timer
    label: str
    site: str  # Where it was set
    cursor: int  # The event by which it was set
    lateness: Lateness  # How long after the call before it the call was set
    is_regular: bool  # Whether its job follows a schedule
    is_alone: bool  # Whether no other job was called in the same turn
    # The session instants of the call before it and of its own setting, if it was set in the same
    # turn, so that samples tell what the time was spent on.
    turn: tuple[int, int] | None


class _Set(Struct):
    timer_id: int
    clock_id: int
    added_ns: int
    cursor: int
    label: int
    site: int = 0


class _Link(Struct):
    """A call of a job, and the setting of the next."""

    fired_ns: int
    delay_ns: int
    is_same_turn: bool
    is_alone: bool  # Whether no other job was called in the same turn
    following: _Set


class _Job(Struct):
    """Timers of one name and call site, of which one is set after another."""

    pending: int = 0  # How many of its timers wait
    # The latest call: its instant, its delay, and turns and waiting time of its loop until then.
    fired: tuple[int, int, int, int] | None = None
    # How many jobs its loop had called by then, 0 if another had been called in the same turn.
    called: int = 0
    links: list[_Link] = []  # Its calls after which the next one was set


class LateSchedules:
    """Follows the timers of jobs, event by event."""

    def __init__(self, strings: Sequence[str]) -> None:
        self._cursor = 0  # Of the next event, set before the event is handled
        #: Names of clocks, with the clocks above them.
        self.clocks: dict[int, tuple[str, int]] = {}
        self._strings = strings
        self._timers: dict[int, _Set] = {}
        self._jobs: defaultdict[tuple[int, int, int], _Job] = defaultdict(_Job)
        self._turns: Counter[int] = Counter()
        #: By loop: when its latest turn ended, and how long it has waited between turns in all.
        self._ended_ns: dict[int, int] = {}
        self._waited_ns: Counter[int] = Counter()
        #: By loop: how many jobs it has called, and in which turn those that have not set their
        #: next call, in the order of their calls.
        self._called: Counter[int] = Counter()
        self._awake: defaultdict[int, dict[tuple[int, int, int], int]] = defaultdict(dict)
        self._steps = handlers_of(self)

    def fold(self, cursors: Iterable[int], events: Sequence[RawEvent]) -> None:
        """Read events that follow those before, with their cursors."""
        for cursor, (at_ns, kind, subject, a, b) in zip(cursors, events, strict=True):
            step = self._steps.get(kind)
            if step is not None:
                self._cursor = cursor
                step(at_ns, subject, a, b)

    def _on_clock_added(self, _at_ns: int, clock_id: int, above: int, name: int) -> None:
        self.clocks[clock_id] = self._strings[name], above

    def _on_timer_added(self, at_ns: int, timer_id: int, clock_id: int, label: int) -> None:
        self._timers[timer_id] = _Set(timer_id, clock_id, at_ns, self._cursor, label)

    def _on_timer_origin(self, _at_ns: int, timer_id: int, site: int, _kind: int) -> None:
        timer = self._timers.get(timer_id)
        if timer is None or timer.site:
            return
        timer.site = site
        job = self._job(timer)
        job.pending += 1
        self._link(job, timer)

    def _on_timer_armed(self, at_ns: int, timer_id: int, _due_ns: int, _period_ns: int) -> None:
        timer = self._timers.get(timer_id)
        if timer is None or timer.added_ns == at_ns:
            return
        # A timer that the program arms again counts as a new timer of the job.
        again = structs.replace(timer, added_ns=at_ns, cursor=self._cursor)
        self._timers[timer_id] = again
        self._link(self._job(again), again)

    def _link(self, job: _Job, timer: _Set) -> None:
        """Link a timer to the latest call of its job, if no other timer of the job is pending."""
        if job.pending == 1 and job.fired is not None and timer.site:
            fired_ns, delay_ns, turn, waited_ns = job.fired
            waited_ns = self._waited_ns[timer.clock_id] - waited_ns
            # A task continues in the turn after the one in which its timer fires.
            is_same = self._turns[timer.clock_id] - turn <= 1
            is_same &= waited_ns * 2 < timer.added_ns - fired_ns
            is_alone = job.called == self._called[timer.clock_id]
            job.links.append(_Link(fired_ns, delay_ns, is_same, is_alone, timer))
        job.fired = None
        self._awake[timer.clock_id].pop((timer.clock_id, timer.label, timer.site), None)

    def _on_timer_fired(self, at_ns: int, timer_id: int, late_ns: int, next_ns: int) -> None:
        timer = self._ended(timer_id) if next_ns == NEVER else self._timers.get(timer_id)
        if timer is not None:
            delay_ns = at_ns - late_ns - timer.added_ns
            loop = timer.clock_id
            key = loop, timer.label, timer.site
            job, awake, turn = self._jobs[key], self._awake[loop], self._turns[loop]
            job.fired = at_ns, delay_ns, turn, self._waited_ns[loop]
            awake.pop(key, None)
            for gone in list(takewhile(lambda each: awake[each] < turn - 1, awake)):
                del awake[gone]
            self._called[loop] += 1
            job.called = 0 if awake else self._called[loop]
            awake[key] = turn

    def _on_timer_cleared(self, _at_ns: int, timer_id: int, _site: int, _cause: int) -> None:
        self._ended(timer_id)

    def _on_frame_began(self, at_ns: int, clock_id: int, _index: int, _delta: int) -> None:
        self._waited_ns[clock_id] += at_ns - self._ended_ns.pop(clock_id, at_ns)

    _on_loop_frame_began = _on_frame_began

    def _on_frame_ended(self, at_ns: int, clock_id: int, _since: int, _busy: int) -> None:
        self._turns[clock_id] += 1
        self._ended_ns[clock_id] = at_ns

    _on_loop_frame_ended = _on_frame_ended

    def _job(self, timer: _Set) -> _Job:
        return self._jobs[timer.clock_id, timer.label, timer.site]

    def _ended(self, timer_id: int) -> _Set | None:
        timer = self._timers.pop(timer_id, None)
        if timer is not None and timer.site:
            self._job(timer).pending -= 1
        return timer

    def found(self, over_ns: int) -> Iterator[LateSetting]:
        """Yield the calls that jobs have set late by more than a duration.

        Irregular jobs only count where others were called meanwhile.
        """
        for (clock_id, label, site), job in self._jobs.items():
            if not self._turns[clock_id]:
                continue
            is_regular = _is_regular(job.links, over_ns)
            for link in job.links:
                begin_ns = link.fired_ns + link.delay_ns
                late_ns = link.following.added_ns - link.fired_ns
                is_shared = link.is_same_turn and not link.is_alone
                if late_ns <= over_ns or not (is_regular or is_shared):
                    continue
                cause = Cause.DRIFT if link.is_same_turn else Cause.AWAITING
                shares = (LatenessShare(cause, None, late_ns, 0),)
                lateness = Lateness(begin_ns, begin_ns + late_ns, shares, (), 0, 0)
                texts = self._strings[label], self._strings[site]
                following = link.following
                where = following.timer_id, clock_id, *texts, following.cursor
                turn = (link.fired_ns, following.added_ns) if link.is_same_turn else None
                yield LateSetting(*where, lateness, is_regular, link.is_alone, turn)


def _is_regular(links: Sequence[_Link], over_ns: int) -> bool:
    """Return whether calls follow a schedule with growing distances."""
    if len(links) < _LEAST_CALLS:
        return False
    delays = sorted(link.delay_ns for link in links)
    gaps = sorted(link.following.added_ns - link.fired_ns for link in links)
    # One in ten may be unusual: any machine hiccups now and then.
    odd = len(links) // _ODD_ONE_IN
    spread_ns = delays[-1 - odd] - delays[odd]
    usual_ns = median(gaps)
    delay_ns = median(delays)
    is_same = spread_ns <= max(_SAME_NS, _SAME_DELAY * delay_ns)
    # A job that works for longer than its delay has no schedule.
    is_schedule = over_ns < usual_ns <= delay_ns and gaps[-1 - odd] <= _SIMILAR * usual_ns
    return is_same and is_schedule
