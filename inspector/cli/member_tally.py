"""Counts of the calls of schedulers, components, tickers and machines in a session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from inspector.events.member_names import MEMBER_NAMING_KINDS, KnownMember, MemberNames
from inspector.events.members import MemberState
from inspector.events.timeline import Timeline
from inspector.timebase import format_instant
from inspector.vocabulary import (
    CALL_ENDED,
    MEMBER_ORIGIN,
    MEMBER_REMOVED,
    MEMBER_SET,
    RATE_DENOMINATOR,
    Field,
    MemberKind,
    RawEvent,
    rate_text,
)

#: Frame systems: what calls others, or contains them.
_SYSTEMS = frozenset(
    {
        MemberKind.SCHEDULER,
        MemberKind.COMPONENT_DIRECTOR,
        MemberKind.TICKER,
        MemberKind.CHILD_CLOCK,
        MemberKind.MACHINE,
    }
)
#: What is called. A phase only sums up its components.
_CALLED = frozenset(
    {
        MemberKind.UPDATE,
        MemberKind.FRAME_TIMER,
        MemberKind.TICKER_TIMER,
        MemberKind.COMPONENT,
        MemberKind.FRAME_CALLBACK,
        MemberKind.LOOP,
        MemberKind.TIMEOUT,
        MemberKind.HOOK,
    }
)


@dataclass(frozen=True, slots=True)
class CallCount:
    """The calls of one name and kind, of one frame system or on one clock.

    Attributes:
        label: Name of the calls.
        kind: Their kind, in words.
        owner: The scheduler, component director, ticker or machine that makes them, or their
            clock.
        interval_ns: Their shortest interval, 0 for every frame or none.
        longest_interval_ns: Their longest interval.
        members: Number of members with these calls.
        calls: Number of calls.
        took_ns: Measured duration of all calls together.
        longest_ns: Duration of the longest.
    """

    label: str
    kind: str
    owner: str
    interval_ns: int
    longest_interval_ns: int
    members: int
    calls: int
    took_ns: int
    longest_ns: int


@dataclass(frozen=True, slots=True)
class SystemLine:
    """A scheduler, component director, ticker or machine at the end.

    Attributes:
        depth: Number of systems above it.
        name: Display name.
        kind: Its kind, in words.
        clock: The clock it hangs under.
        rate: Its own time scale; empty without one.
        members: Number of calls in it, or of nodes and components.
        calls: Number of calls it has made.
        state: Its state, why it stands still, or its rules.
    """

    depth: int
    name: str
    kind: str
    clock: str
    rate: str
    members: int
    calls: int
    state: str


@dataclass(slots=True)
class _Calls:
    owner_id: int
    clock_id: int
    label: str
    kind: MemberKind
    members: int = 0
    interval_ns: int = 0
    longest_interval_ns: int = 0
    calls: int = 0
    took_ns: int = 0
    longest_ns: int = 0


class MemberTally:
    """Counts calls of members, event by event."""

    def __init__(self, strings: list[str], before: Iterable[MemberState] = ()) -> None:
        """Begin with those who are there.

        Args:
            strings: The string table of the log.
            before: The members before the first event.
        """
        self._names = MemberNames(strings)
        self._groups: dict[tuple[int, int, str, MemberKind], _Calls] = {}
        self._group_of: dict[int, _Calls] = {}
        self._owner_names: dict[int, KnownMember] = {}
        for member in before:
            self._names.learn(member)
            self._join(member.id)
            if (group := self._group_of.get(member.id)) is not None:
                group.calls += member.calls
                self._take_interval(group, member.fields.get(Field.INTERVAL, 0))

    def count(self, event: RawEvent) -> None:
        """Count one event."""
        _, kind, subject, a, b = event
        if kind == CALL_ENDED:
            if (called := self._group_of.get(subject)) is not None:
                called.calls += 1
                called.took_ns += b
                called.longest_ns = max(called.longest_ns, b)
        elif kind in MEMBER_NAMING_KINDS:
            self._names.note(event)
            if kind == MEMBER_ORIGIN:
                self._join(subject)
            elif kind == MEMBER_SET and a == Field.INTERVAL and subject in self._group_of:
                self._take_interval(self._group_of[subject], b)
        elif kind == MEMBER_REMOVED:
            for gone in self._names.forget(subject):
                self._group_of.pop(gone, None)

    def counts(self, timeline: Timeline) -> tuple[CallCount, ...]:
        """Return the calls, by total duration.

        Args:
            timeline: The state at the end.
        """
        members = timeline.members
        return tuple(
            CallCount(
                label=group.label,
                kind=group.kind.text,
                owner=self._owner_name(group, timeline),
                interval_ns=group.interval_ns,
                longest_interval_ns=group.longest_interval_ns,
                members=group.members,
                calls=group.calls,
                took_ns=group.took_ns,
                longest_ns=group.longest_ns,
            )
            for group in sorted(self._groups.values(), key=lambda group: -group.took_ns)
            if not (
                group.kind is MemberKind.FRAME_CALLBACK
                and group.label in members.run(group.clock_id)
            )
        )

    def systems(self, timeline: Timeline) -> tuple[SystemLine, ...]:
        """Return the schedulers, directors, tickers and machines, by clocks."""
        if timeline.root_id is None:
            return ()
        called: dict[int, int] = {}
        for group in self._groups.values():
            called[group.owner_id] = called.get(group.owner_id, 0) + group.calls
        members = timeline.members
        return tuple(
            _system_line(timeline, member, called.get(member.id, 0))
            for clock_id in timeline.branch(timeline.root_id)
            for number in members.under_clock(clock_id)
            for member in members.branch(number)
            if member.kind in _SYSTEMS
        )

    def _owner_name(self, group: _Calls, timeline: Timeline) -> str:
        if group.owner_id:
            return self._owner_names[group.owner_id].name
        clock = timeline.clocks.get(group.clock_id)
        return "" if clock is None else clock.name

    def _join(self, number: int) -> None:
        """Add a new member to the group of its name."""
        known = self._names.get(number)
        if known is None or known.kind is None:
            return
        if known.kind in _SYSTEMS:
            self._owner_names[number] = known
        if known.kind not in _CALLED:
            return
        owner_id = self._owner_of(known)
        key = owner_id, 0 if owner_id else known.clock_id, known.name, known.kind
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Calls(*key)
        group.members += 1
        self._group_of[number] = group

    def _owner_of(self, known: KnownMember) -> int:
        number = known.parent_id
        while number and (above := self._names.get(number)) is not None:
            if above.kind in _SYSTEMS:
                return number
            number = above.parent_id
        return 0

    @staticmethod
    def _take_interval(group: _Calls, interval_ns: int) -> None:
        if interval_ns > 0:
            shortest_ns = group.interval_ns or interval_ns
            group.interval_ns = min(shortest_ns, interval_ns)
            group.longest_interval_ns = max(group.longest_interval_ns, interval_ns)


def _system_line(timeline: Timeline, member: MemberState, calls: int) -> SystemLine:
    members = timeline.members
    path = members.path(member.id)
    counted = _CALLED | {MemberKind.NODE, MemberKind.EDGE}
    rate = member.fields.get(Field.RATE)
    return SystemLine(
        depth=sum(above.kind in _SYSTEMS for above in path[1:]),
        name=member.name or member.kind.text,
        kind=member.kind.text,
        clock=timeline.clocks[member.clock_id].name,
        rate="" if rate is None else rate_text(rate),
        members=sum(below.kind in counted for below in members.branch(member.id)),
        calls=calls,
        state=_state(timeline, member),
    )


def _state(timeline: Timeline, member: MemberState) -> str:
    members = timeline.members
    if member.kind is MemberKind.MACHINE:
        made = max(0, len(members.histories.get(member.id, ())) - 1)
        transitions = "1 transition" if made == 1 else f"{made:,} transitions"
        return f"in “{members.field_text(member.id, Field.STATE)}”, {transitions}"
    above = members.pausing(member.id)
    if above is not None:
        return f"paused since {format_instant(above.paused_since_ns)}"
    if member.fields.get(Field.RATE, RATE_DENOMINATOR) == 0:
        return "time scale 0"
    reasons = timeline.pause_reasons(member.clock_id)
    if reasons:
        return f"stopped with “{reasons[0].clock_name}”"
    return members.field_text(member.id, Field.RULES) or "running"
