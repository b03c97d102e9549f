"""Counts of actual and expected firings of every timer in a session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from inspector.cli.member_tally import MemberTally
from inspector.events.log import EventLog
from inspector.events.schema import ABOUT_CLOCKS, ABOUT_MEMBERS
from inspector.events.timeline import Timeline
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_REMOVED,
    NEVER,
    TICKS_MISSED,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
    RawEvent,
    TimerKind,
)


@dataclass(frozen=True, slots=True)
class TimerCount:
    """The firings of the timers of one name on one clock.

    Attributes:
        clock: Name of the clock.
        label: Name of the timers.
        kind: Kind of the timers.
        interval_ns: Shortest interval of the timers, 0 for one-shots.
        longest_interval_ns: Longest interval.
        delay_ns: Shortest local time from setting a timer to its first due instant; ``None``
            if that was not seen.
        longest_delay_ns: Longest.
        timers: Number of timers.
        fired: Number of firings.
        expected: Expected firings, by the clock's local time and the instant of setting;
            ``None`` for one-shots, which have no schedule.
        left_out: Ticks skipped by a policy for missed ticks.
        forced: Number of firings by hand.
        late: Number of late firings.
        max_lateness_ns: Maximum lateness.
    """

    clock: str
    label: str
    kind: TimerKind
    interval_ns: int
    longest_interval_ns: int
    delay_ns: int | None
    longest_delay_ns: int | None
    timers: int
    fired: int
    expected: int | None
    left_out: int
    forced: int
    late: int
    max_lateness_ns: int

    @property
    def is_exact(self) -> bool:
        """Whether every expected tick came or was skipped by policy."""
        done = self.fired - self.forced + self.left_out
        return self.expected is None or done == self.expected


@dataclass(slots=True)
class _Range:
    least: int | None = None
    most: int | None = None

    def take(self, value: int) -> None:
        if self.least is None or self.most is None:
            self.least = self.most = value
        elif value < self.least:
            self.least = value
        elif value > self.most:
            self.most = value


@dataclass(slots=True)
class _Group:
    clock_id: int
    label: int
    kind: int = 0
    intervals_ns: _Range = field(default_factory=_Range)
    delays_ns: _Range = field(default_factory=_Range)
    timers: int = 0
    fired: int = 0
    left_out: int = 0
    forced: int = 0
    late: int = 0
    max_lateness_ns: int = 0
    # Expected firings of timers that are gone; pending ones are added last.
    expected_of_gone: int = 0


@dataclass(slots=True)
class _Waiting:
    group: _Group
    interval_ns: int = 0
    first_due_ns: int = 0
    due_ns: int = 0
    fired: int = 0
    left_out: int = 0


class TimerTally:
    """Counts timer events from a log in batches, before any are dropped.

    Earlier events are known from the log's base, except for the number and lateness of firings of
    timers that are gone.

    Attributes:
        lost: Events dropped from the log before they could be counted.
        members: Counts of schedulers, components, tickers and machines.
    """

    def __init__(self, log: EventLog) -> None:
        """Start with the log's base.

        Args:
            log: The log; it calls this tally before it drops events.
        """
        self.lost = 0
        self._log = log
        self._cursor = log.first
        self._clock_names: dict[int, int] = {}
        self._clock_children: dict[int, list[int]] = {}
        self._groups: dict[tuple[int, int], _Group] = {}
        self._waiting: dict[int, _Waiting] = {}
        # Has the clocks, for local times; names are not needed.
        self._clocks = Timeline([""])
        self._asked, self._answer_ns = (0, 0), 0
        base = log.base.members.by_id.values() if log.first else ()
        self.members = MemberTally(log.strings, base)
        if log.first:
            self._begin_with(log.base)
        log.before_drop = self.update

    def update(self) -> None:
        """Count the new events in the log."""
        batch = self._log.read(self._cursor)
        self._cursor = batch.cursor
        self.lost += batch.lost
        self._count(batch.events)

    @property
    def fired(self) -> int:
        """Number of firings of all timers."""
        return sum(group.fired for group in self._groups.values())

    def fired_by_clock(self) -> dict[int, int]:
        """Return the number of firings by clock."""
        counts: dict[int, int] = {}
        for group in self._groups.values():
            counts[group.clock_id] = counts.get(group.clock_id, 0) + group.fired
        return counts

    def counts(self, timeline: Timeline, *, is_complete: bool = True) -> list[TimerCount]:
        """Return all counts as of the timeline's present, in the order of clocks.

        Args:
            timeline: The state at the end.
            is_complete: Whether everything due up to the end was called. If not, and on a clock
                paused at that instant, what is due then may wait.
        """
        expected = {id(group): group.expected_of_gone for group in self._groups.values()}
        # Computed once per clock, of which there are fewer than timers.
        clocks = {
            clock_id: (
                timeline.local_ns(clock_id),
                not is_complete or timeline.effective_rate(clock_id) == 0,
            )
            for clock_id in timeline.clocks
        }
        for timer in self._waiting.values():
            group = timer.group
            if timer.interval_ns and group.clock_id in clocks:
                local_ns, may_wait = clocks[group.clock_id]
                passed_ns = local_ns - timer.first_due_ns
                if passed_ns < 0:
                    continue
                ticks, since_tick_ns = divmod(passed_ns, timer.interval_ns)
                if since_tick_ns or not may_wait or timer.fired + timer.left_out > ticks:
                    ticks += 1
                expected[id(group)] += ticks
        strings = self._log.strings
        return [
            TimerCount(
                clock=strings[self._clock_names[group.clock_id]],
                label=strings[group.label],
                kind=TimerKind(group.kind),
                interval_ns=group.intervals_ns.least or 0,
                longest_interval_ns=group.intervals_ns.most or 0,
                delay_ns=group.delays_ns.least,
                longest_delay_ns=group.delays_ns.most,
                timers=group.timers,
                fired=group.fired,
                expected=expected[id(group)] if group.intervals_ns.most else None,
                left_out=group.left_out,
                forced=group.forced,
                late=group.late,
                max_lateness_ns=group.max_lateness_ns,
            )
            for group in self._groups.values()
        ]

    def _begin_with(self, base: Timeline) -> None:
        """Take over the clocks and timers before the oldest event kept."""
        for clock in base.clocks.values():
            self._clock_names[clock.id] = self._log.intern(clock.name)
            self._clock_children.setdefault(clock.parent_id, []).append(clock.id)
            self._clocks.clocks[clock.id] = clock.copy()
        self._clocks.root_id = base.root_id
        table = base.timers
        columns = (table.id, table.clock, table.label, table.kind, table.due, table.interval)
        for timer_id, clock_id, label, kind, due_ns, interval_ns, fired in zip(
            *columns, table.fired, strict=True
        ):
            timer = self._add(timer_id, clock_id, label)
            group = timer.group
            # A timer that was just being set is not armed yet; the next events arm it.
            group.kind = kind or group.kind
            if due_ns != NEVER:
                group.intervals_ns.take(interval_ns)
            group.fired += fired
            timer.due_ns, timer.interval_ns, timer.fired = due_ns, interval_ns, fired
            timer.first_due_ns = due_ns - fired * interval_ns

    def _add(self, timer_id: int, clock_id: int, label: int) -> _Waiting:
        group = self._groups.get((clock_id, label))
        if group is None:
            group = self._groups[clock_id, label] = _Group(clock_id, label)
        group.timers += 1
        timer = self._waiting[timer_id] = _Waiting(group)
        return timer

    def _count(self, events: Iterable[RawEvent]) -> None:  # noqa: C901 - one branch per kind
        waiting = self._waiting
        count_member = self.members.count
        for event in events:
            at_ns, kind, subject, a, b = event
            if kind in ABOUT_MEMBERS:
                count_member(event)
            elif kind in ABOUT_CLOCKS:
                self._count_clock(at_ns, kind, subject, a, b)
            elif kind == TIMER_FIRED:
                timer = waiting.get(subject)
                if timer is not None:
                    self._count_fired(timer, subject, a, b)
            elif kind == TIMER_ADDED:
                self._add(subject, a, b)
            elif kind == TIMER_ORIGIN and subject in waiting:
                waiting[subject].group.kind = b
            elif kind == TIMER_ARMED and subject in waiting:
                timer = waiting[subject]
                timer.first_due_ns = timer.due_ns = a
                timer.interval_ns = b
                timer.group.intervals_ns.take(b)
                timer.group.delays_ns.take(a - self._local_ns(timer.group.clock_id, at_ns))
            elif kind == TICKS_MISSED and subject in waiting:
                timer = waiting[subject]
                timer.left_out += a
                timer.group.left_out += a
            elif kind == TIMER_CLEARED:
                self._forget(subject)

    def _local_ns(self, clock_id: int, at_ns: int) -> int:
        """Return a clock's local time; timers are often set by the thousand at one instant."""
        if self._asked != (clock_id, at_ns):
            self._asked = clock_id, at_ns
            self._answer_ns = self._clocks.local_ns(clock_id, at_ns)
        return self._answer_ns

    def _count_clock(self, at_ns: int, kind: int, subject: int, a: int, b: int) -> None:
        if kind == CLOCK_ADDED:
            self._clock_names[subject] = b
            self._clock_children.setdefault(a, []).append(subject)
            b = 0
        elif kind == CLOCK_REMOVED:
            self._forget_clock(subject)
        self._clocks.apply_all([(at_ns, kind, subject, a, b)])
        self._asked = 0, 0

    def _count_fired(self, timer: _Waiting, timer_id: int, late_ns: int, next_ns: int) -> None:
        group = timer.group
        group.fired += 1
        if next_ns == timer.due_ns:
            group.forced += 1
        else:
            timer.fired += 1
            timer.due_ns = next_ns
        if late_ns > 0:
            group.late += 1
            group.max_lateness_ns = max(group.max_lateness_ns, late_ns)
        if next_ns == NEVER:
            del self._waiting[timer_id]

    def _forget(self, timer_id: int) -> None:
        timer = self._waiting.pop(timer_id, None)
        if timer is not None:
            timer.group.expected_of_gone += timer.fired + timer.left_out

    def _forget_clock(self, clock_id: int) -> None:
        gone = {clock_id}
        line = [clock_id]
        while line:
            below = self._clock_children.get(line.pop(), [])
            gone.update(below)
            line.extend(below)
        for timer_id in [
            number for number, timer in self._waiting.items() if timer.group.clock_id in gone
        ]:
            self._forget(timer_id)
