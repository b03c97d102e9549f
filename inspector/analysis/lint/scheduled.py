"""What happens to frame timers and ticker timers, and to what they hang under, event by event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from inspector.analysis.lint.seen import Place, SeenMember, Survey
from inspector.events.member_names import MemberNames
from inspector.vocabulary import (
    CALL_ENDED,
    FRAME_BEGAN,
    FRAME_ENDED,
    MEMBER_ADDED,
    MEMBER_MOVED,
    MEMBER_ORIGIN,
    MEMBER_REMOVED,
    MEMBER_SET,
    NEVER,
    RATE_DENOMINATOR,
    Field,
    MemberKind,
)

if TYPE_CHECKING:
    from inspector.events.members import MemberState
    from inspector.events.timeline import Timeline
    from inspector.vocabulary import RawEvent

#: What is called by an interval.
TIMERS: Final = frozenset({MemberKind.FRAME_TIMER, MemberKind.TICKER_TIMER})
#: So many calls without a pause between them are one measurement of the pace.
RUN: Final = 8
#: So many measurements of each timer are kept.
_MOST_RUNS: Final = 64
#: Fields that are just remembered, and as what.
_KEPT_FIELDS: Final = {Field.OWNER.value: "owner_id", Field.CALLS_LEFT.value: "calls_left"}
#: Other fields come with every frame, or say nothing about the pace.
_PACE_FIELDS: Final = frozenset({Field.PAUSED, Field.RATE})


class ScheduledCalls:
    """Takes the events about what is called in frames."""

    def __init__(self, seen: Survey, before: Timeline, clocks: Timeline) -> None:
        """Begin with what was there.

        Args:
            seen: Gets what is seen.
            before: The state before the first event.
            clocks: The clocks as of the event that is taken; updated by the caller.
        """
        self._seen = seen
        self._members = seen.members
        self._clocks = clocks
        self._frame = 0
        self._in_frame: dict[int, int] = {}
        self._last_call = (0, 0)
        self._names = MemberNames(seen.history.strings)
        self._of_clock: dict[int, list[int]] = {}
        for member in before.members.by_id.values():
            self._take_known(member)

    def take(self, cursor: int, event: RawEvent) -> None:
        """Take one event about members or frames."""
        at_ns, kind, subject, a, _ = event
        if kind == CALL_ENDED:
            self._called(cursor, at_ns, subject)
        elif kind == MEMBER_SET:
            self._set(cursor, event)
        elif kind == FRAME_BEGAN:
            self._frame = a
        elif kind == FRAME_ENDED:
            self._end_frame()
        elif kind == MEMBER_ADDED:
            self._add(cursor, event)
        elif kind == MEMBER_ORIGIN:
            if self._names.note(event) is not None and subject in self._members:
                self._origin(self._members[subject])
        elif kind == MEMBER_MOVED:
            self._names.note(event)
        elif kind == MEMBER_REMOVED:
            self._remove(subject, (cursor, at_ns))

    def clock_removed(self) -> None:
        """Take it that clocks are gone, and what was on them."""
        for clock_id in [each for each in self._of_clock if each not in self._clocks.clocks]:
            for number in self._of_clock.pop(clock_id):
                self._remove(number)

    # -------------------------------------------------------------- structure

    def _take_known(self, member: MemberState) -> None:
        fields = member.fields
        call = SeenMember(member.id, member.clock_id, -1, 0, known=self._names.learn(member))
        call.interval_ns = fields.get(Field.INTERVAL, 0)
        call.calls_left = fields.get(Field.CALLS_LEFT, -1)
        call.rate = fields.get(Field.RATE, RATE_DENOMINATOR)
        call.owner_id = fields.get(Field.OWNER, 0)
        call.calls = member.calls
        self._members[member.id] = call
        self._origin(call)

    def _add(self, cursor: int, event: RawEvent) -> None:
        at_ns, _, number, _, _ = event
        known = self._names.note(event)
        if known is not None:
            self._members[number] = SeenMember(number, 0, at_ns, cursor, known=known)

    def _origin(self, call: SeenMember) -> None:
        call.clock_id = call.known.clock_id
        self._of_clock.setdefault(call.clock_id, []).append(call.number)
        if call.kind in TIMERS:
            call.scheduler_id = self._seen.scheduler_of(call)
            self._count(call, 1)

    def _count(self, call: SeenMember, more: int) -> None:
        """Count a timer among those of its name, or no longer."""
        key = call.caller, call.name, 0
        place = self._seen.places.setdefault(key, Place(call))
        place.added += more
        place.pending += more

    def _rename(self, call: SeenMember, event: RawEvent) -> None:
        """Count a timer among those of its new name."""
        is_counted = call.kind in TIMERS and not call.ended
        if is_counted:
            self._count(call, -1)
        self._names.note(event)
        if is_counted:
            self._count(call, 1)

    def _remove(self, subject: int, where: tuple[int, int] | None = None) -> None:
        for call in self._branch(subject):
            call.ended_at = where
            if call.ended:
                continue
            call.ended = True
            place = self._seen.places.get((call.caller, call.name, 0))
            if call.kind in TIMERS and place is not None:
                place.cleared += 1
                place.pending -= 1
        # What comes to its parent from now on is nothing to it.
        self._names.take_out(subject)

    def _branch(self, subject: int) -> list[SeenMember]:
        calls = (self._members.get(number) for number in self._names.branch(subject))
        return [call for call in calls if call is not None]

    # ------------------------------------------------------------------ calls

    def _set(self, cursor: int, event: RawEvent) -> None:  # noqa: C901 - one case per field
        at_ns, _, subject, name, value = event
        call = self._members.get(subject)
        if call is None:
            return
        if name == Field.NAME:
            self._rename(call, event)
        elif name in _PACE_FIELDS:
            if name == Field.RATE:
                call.rate = value
            for below in self._branch(subject):
                below.end_run()
        elif name == Field.INTERVAL:
            if value != call.interval_ns:
                call.end_run()
                call.runs.clear()
                call.frames.clear()
            call.interval_ns = value
        elif name in _KEPT_FIELDS:
            setattr(call, _KEPT_FIELDS[name], value)
        elif name == Field.MISSED:
            if value > call.missed:
                call.missed_at = cursor, at_ns
            call.missed = value

    def _called(self, cursor: int, at_ns: int, subject: int) -> None:
        call = self._members.get(subject)
        if call is None or call.kind not in TIMERS:
            return
        call.calls += 1
        call.last_ns, call.last_cursor = at_ns, cursor
        self._last_call = cursor, at_ns
        self._in_frame[subject] = self._in_frame.get(subject, 0) + 1
        if not call.interval_ns:
            return
        if call.run_began_ns < 0:
            call.run_began_ns, call.run_calls = self._scheduler_ns(call, at_ns), 0
            return
        call.run_calls += 1
        if call.run_calls >= RUN:
            now_ns = self._scheduler_ns(call, at_ns)
            if len(call.runs) < _MOST_RUNS:
                call.runs.append((now_ns - call.run_began_ns) / RUN)
            call.run_began_ns, call.run_calls = now_ns, 0

    def _scheduler_ns(self, call: SeenMember, at_ns: int) -> int:
        """Return an instant in the time of a timer's scheduler, but for a constant."""
        if call.clock_id not in self._clocks.clocks:
            return at_ns
        scheduler = self._members.get(call.scheduler_id)
        rate = RATE_DENOMINATOR if scheduler is None else scheduler.rate
        return self._clocks.local_ns(call.clock_id, at_ns) * rate // RATE_DENOMINATOR

    def _end_frame(self) -> None:
        calls, self._in_frame = self._in_frame, {}
        if calls:
            cursor, at_ns = self._last_call
            self._seen.note_load(calls, self._members, self._frame, at_ns, cursor, NEVER)
