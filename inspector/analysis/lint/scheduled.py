"""Surveys frame timers, ticker timers and their ancestors, event by event."""

from __future__ import annotations

from typing import Final

from inspector.analysis.frame_events import FrameEventReader
from inspector.analysis.lint.surveyed import Survey, SurveyedMember, TimerGroup
from inspector.events.member_names import MemberNames
from inspector.events.members import FRAME_TIMERS, MemberState
from inspector.events.timeline import Timeline
from inspector.vocabulary import NEVER, RATE_DENOMINATOR, Field

#: Consecutive calls without a pause that make one measurement of the pace.
RUN: Final = 8
#: The most measurements to keep for a timer.
_MOST_RUNS: Final = 64
#: Fields that are copied, and the attributes they go to.
_KEPT_FIELDS: Final = {Field.OWNER.value: "owner_id", Field.CALLS_LEFT.value: "calls_left"}
#: Fields that change the pace. Others change in every frame, or do not affect it.
_PACE_FIELDS: Final = frozenset({Field.PAUSED, Field.RATE})


class ScheduledCalls:
    """Handles the events about calls in frames, and the ends of frames."""

    def __init__(
        self, survey: Survey, before: Timeline, clocks: Timeline, frames: FrameEventReader
    ) -> None:
        self._survey = survey
        self._members = survey.members
        self._clocks = clocks
        self._frames = frames
        self._in_frame: dict[int, int] = {}
        self._last_call = (0, 0)
        self._names = MemberNames(survey.history.strings)
        self._of_clock: dict[int, list[int]] = {}
        for member in before.members.by_id.values():
            self._add_known(member)

    def remove_with_clocks(self) -> None:
        for clock_id in [each for each in self._of_clock if each not in self._clocks.clocks]:
            for number in self._of_clock.pop(clock_id):
                self._remove(number)

    def _add_known(self, member: MemberState) -> None:
        fields = member.fields
        call = SurveyedMember(member.id, member.clock_id, -1, 0, known=self._names.learn(member))
        call.interval_ns = fields.get(Field.INTERVAL, 0)
        call.calls_left = fields.get(Field.CALLS_LEFT, -1)
        call.rate = member.rate_n
        call.owner_id = fields.get(Field.OWNER, 0)
        call.calls = member.calls
        self._members[member.id] = call
        self._origin(call)

    def _on_member_added(self, at_ns: int, number: int, parent: int, name: int) -> None:
        known = self._names.add(number, parent, name)
        if known is not None:
            cursor = self._frames.cursor
            self._members[number] = SurveyedMember(number, 0, at_ns, cursor, known=known)

    def _on_member_origin(self, _at_ns: int, number: int, clock_id: int, kind: int) -> None:
        known = self._names.place(number, clock_id, kind)
        if known is not None and number in self._members:
            self._origin(self._members[number])

    def _on_member_moved(self, _at_ns: int, number: int, parent: int, _b: int) -> None:
        self._names.move(number, parent)

    def _origin(self, call: SurveyedMember) -> None:
        call.clock_id = call.known.clock_id
        self._of_clock.setdefault(call.clock_id, []).append(call.number)
        if call.kind in FRAME_TIMERS:
            call.scheduler_id = self._survey.scheduler_of(call)
            self._count(call, 1)

    def _count(self, call: SurveyedMember, more: int) -> None:
        key = call.caller, call.name, 0
        group = self._survey.groups.setdefault(key, TimerGroup(call))
        group.added += more
        group.pending += more

    def _rename(self, call: SurveyedMember, name: int) -> None:
        is_counted = call.kind in FRAME_TIMERS and not call.ended
        if is_counted:
            self._count(call, -1)
        self._names.rename(call.number, name)
        if is_counted:
            self._count(call, 1)

    def _on_member_removed(self, at_ns: int, number: int, _a: int, _b: int) -> None:
        self._remove(number, (self._frames.cursor, at_ns))

    def _remove(self, subject: int, where: tuple[int, int] | None = None) -> None:
        for call in self._branch(subject):
            call.ended_at = where
            if call.ended:
                continue
            call.ended = True
            group = self._survey.groups.get((call.caller, call.name, 0))
            if call.kind in FRAME_TIMERS and group is not None:
                group.cleared += 1
                group.pending -= 1
        # Later changes of its parent do not affect it.
        self._names.detach(subject)

    def _branch(self, subject: int) -> list[SurveyedMember]:
        calls = (self._members.get(number) for number in self._names.branch(subject))
        return [call for call in calls if call is not None]

    def _on_member_set(  # noqa: C901 - one case per field
        self, at_ns: int, subject: int, name: int, value: int
    ) -> None:
        call = self._members.get(subject)
        if call is None:
            return
        if name == Field.NAME:
            self._rename(call, value)
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
                call.missed_at = self._frames.cursor, at_ns
            call.missed = value

    def _on_call_ended(self, at_ns: int, subject: int, _began_ns: int, _took_ns: int) -> None:
        call = self._members.get(subject)
        if call is None or call.kind not in FRAME_TIMERS:
            return
        call.calls += 1
        self._last_call = call.last_cursor, call.last_ns = self._frames.cursor, at_ns
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

    def _scheduler_ns(self, call: SurveyedMember, at_ns: int) -> int:
        """Return an instant in the time of a timer's scheduler, up to a constant."""
        if call.clock_id not in self._clocks.clocks:
            return at_ns
        scheduler = self._members.get(call.scheduler_id)
        rate = RATE_DENOMINATOR if scheduler is None else scheduler.rate
        return self._clocks.local_ns(call.clock_id, at_ns) * rate // RATE_DENOMINATOR

    def forget_frame(self) -> None:
        self._in_frame = {}

    def end_frame(self, frame: int) -> None:
        calls, self._in_frame = self._in_frame, {}
        if calls:
            cursor, at_ns = self._last_call
            self._survey.note_load(calls, self._members, frame, at_ns, cursor, NEVER)
