"""Counts of the calls in a session, and of the expected firings of timers."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from msgspec import Struct, field

from inspector.calls.call import CALLED, SCHEDULERS
from inspector.display_text import counted
from inspector.events.handlers import handlers_of, merged
from inspector.events.log import EventLog
from inspector.events.member_names import KnownMember, MemberNames
from inspector.events.members import MemberState
from inspector.events.new_timers import NewTimers, events_of, new_timers_apart
from inspector.events.schema import ABOUT_CLOCKS
from inspector.events.states import SeenClocks
from inspector.events.timeline import Timeline
from inspector.events.timer_table import RowByNumber
from inspector.timebase import format_instant
from inspector.vocabulary import (
    NEVER,
    Field,
    MemberKind,
    RawEvent,
    TimerKind,
    typed_rate,
)

#: Timers of one name with more periods than these are counted together.
_MOST_PERIODS: Final = 8
#: A wait may be the first of a period if it differs from it by at most this share.
_ALIKE: Final = 0.05
#: Only this many of the last one-shots are searched for the first wait of a repeating timer.
_MOST_FIRSTS: Final = 1_000


#: Most call sites that are kept for the timers of one name.
_MOST_SITES: Final = 8

#: The delay of a timer whose setting was not seen.
_NOT_SEEN: Final = -1


class TimerCount(Struct, frozen=True):
    """The firings of the timers of one name and period on one clock.

    Timers of one name are counted together if they have more than :data:`_MOST_PERIODS` periods,
    or if they are one-shots and repeating timers of a single period.
    """

    clock: str
    label: str
    kind: TimerKind
    interval_ns: int
    longest_interval_ns: int
    # Shortest local time from setting a timer to its first due instant; None if no setting was
    # seen.
    delay_ns: int | None
    longest_delay_ns: int | None
    timers: int
    fired: int
    # Expected firings, by the clock's local time and the instant of setting; None for one-shots,
    # which have no schedule.
    expected: int | None
    left_out: int  # Ticks skipped by a policy for missed ticks
    forced: int
    late: int
    max_lateness_ns: int
    set_at: tuple[str, ...]  # Call sites that set them, at most the first _MOST_SITES

    @property
    def is_exact(self) -> bool:
        """Whether every expected tick came or was skipped by policy."""
        done = self.fired - self.forced + self.left_out
        return self.expected is None or done == self.expected


class CallCount(Struct, frozen=True):
    """The calls of one name and kind, of one frame system or on one clock."""

    label: str
    kind: str
    # The scheduler, component director, ticker or machine that makes them, or their clock.
    owner: str
    interval_ns: int  # Their shortest interval; 0 without one, such as for every frame
    longest_interval_ns: int
    members: int
    calls: int
    took_ns: int
    longest_ns: int


class SystemLine(Struct, frozen=True):
    """A scheduler, component director, ticker or machine at the end."""

    depth: int  # Number of systems above it
    name: str
    kind: str
    clock: str
    rate: str  # Its own time scale; empty without one
    members: int  # Number of calls in it, or of nodes and components
    calls: int
    state: str  # Its state, why it does not run, or its rules


class _Range(Struct):
    least: int | None = None
    most: int | None = None

    def add(self, value: int) -> None:
        if self.least is None or self.most is None:
            self.least = self.most = value
        elif value < self.least:
            self.least = value
        elif value > self.most:
            self.most = value

    def include(self, other: _Range) -> None:
        if other.least is not None and other.most is not None:
            self.add(other.least)
            self.add(other.most)


class _Group(Struct):
    clock_id: int
    size: int = 0
    calls: int = 0
    intervals_ns: _Range = field(default_factory=_Range)


class _Timers(_Group):
    label: int = 0
    kind: int = 0
    # Call sites as indices of strings, in the order in which they were first seen
    sites: dict[int, None] = field(default_factory=dict)
    delays_ns: _Range = field(default_factory=_Range)
    # Delay and lateness of the last one-shots that fired. Each may turn out to be the first wait
    # of a repeating timer, so their delays are added to ``delays_ns`` only at the end.
    firsts: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=_MOST_FIRSTS))
    left_out: int = 0
    forced: int = 0
    late: int = 0
    max_lateness_ns: int = 0
    # Expected firings of timers that are gone; those of pending timers are added for a report.
    expected_of_gone: int = 0

    def merge(self, other: _Timers) -> None:
        """Add the counts of another group, except delays and expected firings."""
        self.size += other.size
        self.calls += other.calls
        self.left_out += other.left_out
        self.forced += other.forced
        self.late += other.late
        self.max_lateness_ns = max(self.max_lateness_ns, other.max_lateness_ns)
        self.kind = self.kind or other.kind
        self.sites.update(other.sites)
        self.intervals_ns.include(other.intervals_ns)

    def add_site(self, site: int) -> None:
        if site and len(self.sites) < _MOST_SITES:
            self.sites[site] = None

    def add_delay(self, delay_ns: int) -> None:
        if delay_ns != _NOT_SEEN:
            self.delays_ns.add(delay_ns)

    def lend_first(self, interval_ns: int, to: _Timers) -> None:
        """Move the one-shot that was the first wait of a repeating timer to its period's group."""
        for first in self.firsts:
            delay_ns, late_ns = first
            if abs(delay_ns - interval_ns) <= _ALIKE * interval_ns:
                self.firsts.remove(first)
                late = int(late_ns > 0)
                self.size, self.calls, self.late = self.size - 1, self.calls - 1, self.late - late
                self.expected_of_gone -= 1
                moved = _Timers(self.clock_id, 1, 1, late=late, max_lateness_ns=late_ns)
                to.merge(moved)
                to.add_delay(delay_ns)
                to.expected_of_gone += 1
                return


class _Members(_Group):
    scheduler_id: int = 0
    name: str = ""
    kind: MemberKind = MemberKind.UPDATE
    took_ns: int = 0
    longest_ns: int = 0


class _Waiting(Struct):
    group: _Timers
    kind: int = 0
    site: int = 0
    delay_ns: int = _NOT_SEEN
    interval_ns: int = 0
    first_due_ns: int = 0
    due_ns: int = 0
    fired: int = 0
    left_out: int = 0

    def expect_from(self, due_ns: int) -> None:
        """Count the ticks so far as expected, and expect further ones from a local instant on."""
        self.group.expected_of_gone += self.fired + self.left_out
        self.fired = self.left_out = 0
        self.first_due_ns = self.due_ns = due_ns


class _Untouched:
    """One-shot timers that were set in batches and have had no event since, as columns."""

    def __init__(self) -> None:
        self.row = RowByNumber()
        self._groups: list[_Timers] = []
        self._group: array[int] = array("i")  # Index in ``_groups``
        self._id: array[int] = array("q")
        self._delay_ns: array[int] = array("q")
        self._due_ns: array[int] = array("q")

    def add(self, new: NewTimers, group: _Timers, local_ns: int) -> bool:
        """Add the timers of a group, unless one of them exists."""
        before = len(self._id)
        if not self.row.add_all(new.id, array("i", range(before, before + len(new)))):
            return False
        if not self._groups or self._groups[-1] is not group:
            self._groups.append(group)
        self._group.extend(array("i", (len(self._groups) - 1,)) * len(new))
        self._id.extend(new.id)
        self._due_ns.extend(new.due)
        delays_ns = [due_ns - local_ns for due_ns in new.due]
        self._delay_ns.extend(max(each, _NOT_SEEN) for each in delays_ns)
        group.size += len(new)
        for site in dict.fromkeys(new.site):
            group.add_site(site)
        return True

    def pop(self, timer_id: int) -> _Waiting:
        """Remove and return a timer that has an event."""
        row = self.row.pop(timer_id)
        due_ns, group = self._due_ns[row], self._groups[self._group[row]]
        delay_ns = self._delay_ns[row]
        if not self.row.count:
            self._groups.clear()
            for column in (self._group, self._id, self._delay_ns, self._due_ns):
                del column[:]
        site = next(iter(group.sites), 0) if len(group.sites) == 1 else 0
        return _Waiting(group, 0, site, delay_ns, first_due_ns=due_ns, due_ns=due_ns)

    def each(self) -> Iterator[tuple[int, _Timers, int]]:
        """Yield the number, group and delay of each timer."""
        for timer_id, group, delay_ns in zip(self._id, self._group, self._delay_ns, strict=True):
            if timer_id in self.row:
                yield timer_id, self._groups[group], delay_ns


class CallTally:
    """Counts calls from a log in batches, before any events are dropped.

    Earlier events are known from the log's base, except for the number and lateness of firings of
    timers that are gone.
    """

    def __init__(self, log: EventLog) -> None:
        self.lost = 0  # Events dropped from the log before they could be counted
        self._log = log
        self._cursor = log.first
        self._seen = SeenClocks(log.strings, log.base.clocks.values())
        # By clock, label and interval; 0 for one-shots.
        self._timers: dict[tuple[int, int, int], _Timers] = {}
        self._waiting: dict[int, _Waiting] = {}
        self._untouched = _Untouched()
        self._members: dict[tuple[int, int, str, MemberKind], _Members] = {}
        self._of_member: dict[int, _Members] = {}
        self._names = MemberNames(log.strings)
        self._schedulers: dict[int, KnownMember] = {}
        self._clocks = log.base.only_clocks()
        self._asked, self._answer_ns = (0, 0, 0), 0
        self._steps = merged(
            handlers_of(self), handlers_of(self._seen), self._clocks.steps(ABOUT_CLOCKS)
        )
        if log.first:
            self._begin_with(log.base)
        log.before_drop = self.update

    def update(self) -> None:
        log = self._log
        start, self._cursor = self._cursor, log.end
        self.lost += max(0, log.first - start)
        for block in log.blocks(start, self._cursor):
            for part in new_timers_apart(block):
                if not isinstance(part, NewTimers):
                    self._count(part)
                elif not self._add_timers(part):
                    self._count(events_of(part.events))

    @property
    def fired(self) -> int:
        return sum(group.calls for group in self._timers.values())

    def fired_by_clock(self) -> dict[int, int]:
        counts: dict[int, int] = {}
        for group in self._timers.values():
            counts[group.clock_id] = counts.get(group.clock_id, 0) + group.calls
        return counts

    # ------------------------------------------------------------------ what it came to

    def timers(self, timeline: Timeline, *, is_complete: bool = True) -> list[TimerCount]:
        """Return the counts of timers as of the timeline's present, in the order of clocks.

        Args:
            is_complete: Whether everything due up to the end was called. If not, or on a clock
                that stands still at the end, a tick due at that very instant is expected only if
                it has come.
        """
        expected = {id(group): group.expected_of_gone for group in self._timers.values()}
        # Computed once per clock, as there are far fewer clocks than timers.
        clocks = {
            clock_id: (
                timeline.local_ns(clock_id),
                not is_complete or timeline.effective_rate(clock_id) == 0,
            )
            for clock_id in {group.clock_id for group in self._timers.values()}
            if clock_id in timeline.clocks
        }
        delays = {
            id(group): _Range(group.delays_ns.least, group.delays_ns.most)
            for group in self._timers.values()
        }
        once = [(group, first[0]) for group in self._timers.values() for first in group.firsts]
        once += [(each.group, each.delay_ns) for each in self._waiting.values()]
        untouched = ((group, delay_ns) for _, group, delay_ns in self._untouched.each())
        for group, delay_ns in chain(once, untouched):
            if delay_ns != _NOT_SEEN:
                delays[id(group)].add(delay_ns)
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
        strings, names = self._log.strings, self._seen.names_apart
        found = []
        for group in self._shown_timers(expected, delays):
            delay = delays[id(group)]
            count = TimerCount(
                clock=names[group.clock_id],
                label=strings[group.label],
                kind=TimerKind(group.kind),
                interval_ns=group.intervals_ns.least or 0,
                longest_interval_ns=group.intervals_ns.most or 0,
                delay_ns=delay.least,
                longest_delay_ns=delay.most,
                timers=group.size,
                fired=group.calls,
                expected=expected[id(group)] if group.intervals_ns.most else None,
                left_out=group.left_out,
                forced=group.forced,
                late=group.late,
                max_lateness_ns=group.max_lateness_ns,
                set_at=tuple(strings[site] for site in group.sites),
            )
            found.append(count)
        return found

    def _shown_timers(
        self, expected: dict[int, int], delays: dict[int, _Range]
    ) -> Iterator[_Timers]:
        """Yield one group per row; adds those that are merged to ``expected`` and ``delays``."""
        by_name: dict[tuple[int, int], list[_Timers]] = {}
        for (clock_id, label, _), group in self._timers.items():
            if group.size:
                by_name.setdefault((clock_id, label), []).append(group)
        for (clock_id, label), groups in by_name.items():
            periods = sum(group.intervals_ns.most is not None for group in groups)
            if len(groups) == 1 or 1 < periods <= _MOST_PERIODS:
                yield from groups
                continue
            together = _Timers(clock_id, label=label)
            for group in groups:
                together.merge(group)
            expected[id(together)] = sum(expected[id(group)] for group in groups)
            delays[id(together)] = delay = _Range()
            for group in groups:
                delay.include(delays[id(group)])
            yield together

    def calls(self, timeline: Timeline) -> tuple[CallCount, ...]:
        return tuple(
            CallCount(
                label=group.name,
                kind=group.kind.text,
                owner=self._owner_name(group, timeline),
                interval_ns=group.intervals_ns.least or 0,
                longest_interval_ns=group.intervals_ns.most or 0,
                members=group.size,
                calls=group.calls,
                took_ns=group.took_ns,
                longest_ns=group.longest_ns,
            )
            for group in sorted(self._members.values(), key=lambda group: -group.took_ns)
            if group.kind is not MemberKind.FRAME_CALLBACK
            or group.name not in timeline.members.run(group.clock_id)
        )

    def systems(self, timeline: Timeline) -> tuple[SystemLine, ...]:
        if timeline.root_id is None:
            return ()
        called: dict[int, int] = {}
        for group in self._members.values():
            called[group.scheduler_id] = called.get(group.scheduler_id, 0) + group.calls
        members = timeline.members
        return tuple(
            _system_line(timeline, member, called.get(member.id, 0))
            for clock_id in timeline.branch(timeline.root_id)
            for number in members.under_clock(clock_id)
            for member in members.branch(number)
            if member.kind in SCHEDULERS
        )

    def _owner_name(self, group: _Members, timeline: Timeline) -> str:
        if group.scheduler_id:
            return self._schedulers[group.scheduler_id].name
        clock = timeline.clocks.get(group.clock_id)
        return "" if clock is None else clock.name

    # ------------------------------------------------------------------ counting

    def _begin_with(self, base: Timeline) -> None:
        table = base.timers
        columns = (table.id, table.clock, table.label, table.site, table.kind, table.due)
        for timer_id, clock_id, label, site, kind, due_ns, interval_ns, fired in zip(
            *columns, table.interval, table.fired, strict=True
        ):
            timer = self._add_timer(timer_id, clock_id, label)
            timer.site = site
            timer.group.add_site(site)
            # A timer that was just being set is not armed yet; the next events arm it.
            timer.kind = kind
            if due_ns != NEVER:
                self._find_period(timer, interval_ns)
            timer.group.calls += fired
            timer.due_ns, timer.interval_ns, timer.fired = due_ns, interval_ns, fired
            timer.first_due_ns = due_ns - fired * interval_ns
        for member in base.members.by_id.values():
            self._names.learn(member)
            group_of_member = self._add_member(member.id)
            if group_of_member is not None:
                group_of_member.calls += member.calls
                _add_interval(group_of_member, member.fields.get(Field.INTERVAL, 0))

    def _add_timers(self, new: NewTimers) -> bool:
        """Add one-shots of one name that were set on one clock at one instant.

        Returns whether they were; if not, nothing changes.
        """
        if any(new.interval) or any(new.kind):
            return False
        for column in (new.at_ns, new.clock, new.label):
            if column.count(column[0]) < len(column):
                return False
        group = self._timers_of(new.clock[0], new.label[0], 0)
        return self._untouched.add(new, group, self._local_ns(new.clock[0], new.at_ns[0]))

    def _waiting_timer(self, timer_id: int) -> _Waiting | None:
        timer = self._waiting.get(timer_id)
        if timer is None and timer_id in self._untouched.row:
            timer = self._waiting[timer_id] = self._untouched.pop(timer_id)
        return timer

    def _add_timer(self, timer_id: int, clock_id: int, label: int) -> _Waiting:
        group = self._timers_of(clock_id, label, 0)
        group.size += 1
        timer = self._waiting[timer_id] = _Waiting(group)
        return timer

    def _timers_of(self, clock_id: int, label: int, interval_ns: int) -> _Timers:
        group = self._timers.get((clock_id, label, interval_ns))
        if group is None:
            group = self._timers[clock_id, label, interval_ns] = _Timers(clock_id, label=label)
        return group

    def _find_period(self, timer: _Waiting, interval_ns: int) -> None:
        """Set the interval of a timer, and count it with the timers of that period from now on."""
        if interval_ns and interval_ns != timer.interval_ns:
            before = timer.group
            timer.group = group = self._timers_of(before.clock_id, before.label, interval_ns)
            group.size += 1
            group.add_site(timer.site)
            group.intervals_ns.add(interval_ns)
            if not timer.interval_ns:
                before.size -= 1
                before.lend_first(interval_ns, group)
        timer.interval_ns = interval_ns
        timer.group.kind = timer.kind or timer.group.kind

    def _add_member(self, number: int) -> _Members | None:
        """Add a new member to the group of its name; ``None`` if it is not called."""
        known = self._names.get(number)
        if known is None or known.kind is None:
            return None
        if known.kind in SCHEDULERS:
            self._schedulers[number] = known
        if known.kind not in CALLED:
            return None
        scheduler_id = known.parent_id
        while scheduler_id:
            above = self._names.get(scheduler_id)
            if above is None or above.kind in SCHEDULERS:
                break
            scheduler_id = above.parent_id
        if scheduler_id not in self._schedulers:
            scheduler_id = 0
        clock_id = 0 if scheduler_id else known.clock_id
        key = scheduler_id, clock_id, known.name, known.kind
        group = self._members.get(key)
        if group is None:
            group = _Members(clock_id, scheduler_id=scheduler_id, name=known.name, kind=known.kind)
            self._members[key] = group
        group.size += 1
        self._of_member[number] = group
        return group

    def _count(self, events: Iterable[RawEvent]) -> None:
        steps = self._steps
        for at_ns, kind, subject, a, b in events:
            for step in steps.get(kind, ()):
                step(at_ns, subject, a, b)

    def _on_timer_added(self, _at_ns: int, timer_id: int, clock_id: int, label: int) -> None:
        self._add_timer(timer_id, clock_id, label)

    def _on_timer_origin(self, _at_ns: int, timer_id: int, site: int, kind: int) -> None:
        if (timer := self._waiting_timer(timer_id)) is not None:
            timer.kind, timer.site = kind, site
            timer.group.add_site(site)

    def _on_timer_armed(self, at_ns: int, timer_id: int, due_ns: int, interval_ns: int) -> None:
        if (timer := self._waiting_timer(timer_id)) is not None:
            done = timer.fired + timer.left_out
            delay_ns = due_ns - self._local_ns(timer.group.clock_id, at_ns)
            timer.expect_from(due_ns)
            self._find_period(timer, interval_ns)
            # Below 0, it was overdue when its program was attached, so its delay is unknown.
            if done == 0 and delay_ns >= 0:
                timer.delay_ns = delay_ns
                if interval_ns:
                    timer.group.delays_ns.add(delay_ns)

    def _on_ticks_missed(self, _at_ns: int, timer_id: int, ticks: int, _kind: int) -> None:
        if (timer := self._waiting_timer(timer_id)) is not None:
            timer.left_out += ticks
            timer.group.left_out += ticks

    def _on_timer_cleared(self, _at_ns: int, timer_id: int, _site: int, _cause: int) -> None:
        self._forget(timer_id)

    def _on_call_ended(self, _at_ns: int, number: int, _began_ns: int, took_ns: int) -> None:
        if (called := self._of_member.get(number)) is not None:
            called.calls += 1
            called.took_ns += took_ns
            called.longest_ns = max(called.longest_ns, took_ns)

    def _on_member_added(self, _at_ns: int, number: int, parent: int, name: int) -> None:
        self._names.add(number, parent, name)

    def _on_member_origin(self, _at_ns: int, number: int, clock_id: int, kind: int) -> None:
        self._names.place(number, clock_id, kind)
        self._add_member(number)

    def _on_member_set(self, _at_ns: int, number: int, field: int, value: int) -> None:
        if field == Field.NAME:
            self._names.rename(number, value)
        elif field == Field.INTERVAL and number in self._of_member:
            _add_interval(self._of_member[number], value)

    def _on_member_moved(self, _at_ns: int, number: int, parent: int, _b: int) -> None:
        self._names.move(number, parent)

    def _on_member_removed(self, _at_ns: int, number: int, _a: int, _b: int) -> None:
        for gone in self._names.forget(number):
            self._of_member.pop(gone, None)

    def _local_ns(self, clock_id: int, at_ns: int) -> int:
        """Return a clock's local time.

        The last answer is kept, as timers are often set by the thousand at one instant.
        """
        asked = clock_id, at_ns, self._clocks.mapping_version
        if self._asked != asked:
            self._asked = asked
            self._answer_ns = self._clocks.local_ns(clock_id, at_ns)
        return self._answer_ns

    def _on_clock_removed(self, _at_ns: int, clock_id: int, _a: int, _b: int) -> None:
        gone = set(self._clocks.branch(clock_id))
        waiting = ((number, each.group) for number, each in self._waiting.items())
        untouched = ((number, group) for number, group, _ in self._untouched.each())
        timers = chain(waiting, untouched)
        for timer_id in [number for number, group in timers if group.clock_id in gone]:
            self._forget(timer_id)

    def _on_timer_fired(self, _at_ns: int, timer_id: int, late_ns: int, next_ns: int) -> None:
        timer = self._waiting_timer(timer_id)
        if timer is None:
            return
        group = timer.group
        group.calls += 1
        if next_ns == timer.due_ns:
            group.forced += 1
        else:
            timer.fired += 1
            after_ns = next_ns - timer.due_ns
            is_from_call = group.kind == TimerKind.INTERVAL_DELAY
            if after_ns < timer.interval_ns or (is_from_call and after_ns > timer.interval_ns):
                # Each interval of this kind begins with the call before, however late that was;
                # that of a coarse timer of Qt if it was early.
                timer.expect_from(next_ns)
            timer.due_ns = next_ns
        if late_ns > 0:
            group.late += 1
            group.max_lateness_ns = max(group.max_lateness_ns, late_ns)
        if next_ns == NEVER:
            if not timer.interval_ns:
                if len(group.firsts) == _MOST_FIRSTS:
                    group.add_delay(group.firsts[0][0])
                group.firsts.append((timer.delay_ns, late_ns))
            # Even if it repeats: a timer of an attached program shows that only by its second call.
            self._forget(timer_id)

    def _forget(self, timer_id: int) -> None:
        timer = self._waiting_timer(timer_id)
        if timer is not None:
            del self._waiting[timer_id]
            timer.group.expected_of_gone += timer.fired + timer.left_out
            if not timer.interval_ns and not timer.fired:
                timer.group.add_delay(timer.delay_ns)


def _add_interval(group: _Members, interval_ns: int) -> None:
    if interval_ns > 0:
        group.intervals_ns.add(interval_ns)


def _system_line(timeline: Timeline, member: MemberState, calls: int) -> SystemLine:
    members = timeline.members
    counted = CALLED | {MemberKind.NODE, MemberKind.EDGE}
    rate, clock = member.fields.get(Field.RATE), timeline.clocks.get(member.clock_id)
    return SystemLine(
        depth=sum(above.kind in SCHEDULERS for above in members.path(member.id)[1:]),
        name=member.name or member.kind.text,
        kind=member.kind.text,
        clock="" if clock is None else clock.name,
        rate="" if rate is None else typed_rate(rate),
        members=sum(below.kind in counted for below in members.branch(member.id)),
        calls=calls,
        state=_state(timeline, member),
    )


def _state(timeline: Timeline, member: MemberState) -> str:
    members = timeline.members
    if member.kind is MemberKind.MACHINE:
        made = max(0, len(members.histories.get(member.id, ())) - 1)
        transitions = counted(made, "transition")
        return f"in “{members.field_text(member.id, Field.STATE)}”, {transitions}"
    above = members.pausing(member.id)
    if above is not None:
        return f"paused since {format_instant(above.paused_since_ns)}"
    if member.rate_n == 0:
        return "time scale 0"
    reasons = timeline.pause_reasons(member.clock_id)
    if reasons:
        return f"stopped with “{reasons[0].clock_name}”"
    return members.field_text(member.id, Field.RULES) or "running"
