"""Why a call of a scheduler, a component or a ticker is not made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from inspector.analysis.evidence import (
    Explanation,
    Reason,
    asked_for_by,
    by_whom,
    find_event,
    frame_at,
    last_event,
    listed,
    times,
)
from inspector.analysis.explain.standing import held_reason, standing_reasons
from inspector.analysis.explain.timer_story import TimerStory
from inspector.events.member_names import MEMBER_NAMING_KINDS, MemberNames
from inspector.events.members import CLOCK_CALLS
from inspector.frames.creator.versions import COMPONENT_DIALECTS, Newcomers
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import (
    CALL_ENDED,
    CLOCK_REMOVED,
    MEMBER_ADDED,
    MEMBER_REMOVED,
    MEMBER_SET,
    NEVER,
    RATE_DENOMINATOR,
    STATE_ENTERED,
    Field,
    Life,
    MemberKind,
    rate_text,
)

if TYPE_CHECKING:
    from inspector.events.history import History
    from inspector.events.members import MemberState
    from inspector.events.timeline import Timeline

_HOMES: Final = (MemberKind.SCHEDULER, MemberKind.TICKER, MemberKind.COMPONENT_DIRECTOR)
_CALLED: Final = (
    MemberKind.UPDATE,
    MemberKind.FRAME_TIMER,
    MemberKind.PHASE,
    MemberKind.COMPONENT,
    MemberKind.TICKER_TIMER,
    MemberKind.FRAME_CALLBACK,
    MemberKind.LOOP,
    MemberKind.TIMEOUT,
    MemberKind.HOOK,
)
_LIVING: Final = (MemberKind.COMPONENT, MemberKind.NODE)
#: After its removal the last call of a member ends within so many events.
_CALL_AHEAD: Final = 2_000

#: The versions of Creator in which nothing starts in the frame in which it became enabled.
_STARTING_AT_THE_BEGINNING: Final = frozenset(
    dialect.title for dialect in COMPONENT_DIALECTS if dialect.newcomers is Newcomers.NEXT_FRAME
)

_LIFE_TEXTS: Final = {
    Life.NEW: "It is new: its node was never active.",
    Life.DISABLED: "It is disabled, or its node is not active.",
    Life.ENABLED: "It is enabled and starts in the next frame.",
    Life.DESTROYING: "It will be destroyed at the end of the frame.",
}


def explain_member(
    history: History, member_id: int, at_ns: int, *, timeline: Timeline | None = None
) -> Explanation:
    """Say why a member is not called at an instant: a frame timer, an update, a component.

    Args:
        history: The past of the session.
        member_id: Number of the member, still there or not.
        at_ns: Session instant from which to look; what came later is not told.
        timeline: The state at that instant, if the caller has it.
    """
    if timeline is None:
        timeline = history.state_at(at_ns)
        cursor = history.cursor_at(at_ns)
    else:
        cursor = min(timeline.events_folded, history.end)
    if member_id in timeline.members.by_id:
        return _There(history, timeline, member_id, cursor).explanation()
    return _explain_gone(history, timeline, member_id, cursor)


class _There:
    """Explains a member that is there."""

    def __init__(self, history: History, timeline: Timeline, member_id: int, cursor: int) -> None:
        self.history = history
        self.timeline = timeline
        self.cursor = cursor
        members = timeline.members
        self.member = members.by_id[member_id]
        self.path = members.path(member_id)
        self.home = next((each for each in self.path if each.kind in _HOMES), None)

    def explanation(self) -> Explanation:
        timeline, member = self.timeline, self.member
        stopped = [*self._pauses(), *self._scales()]
        standing = (
            standing_reasons(self.history, timeline, member.clock_id)
            if timeline.stopping_clocks(member)
            else []
        )
        life = self._life()
        waiting = self._waiting()
        reasons = [*stopped, *standing]
        if standing:
            names = [f"“{each.clock_name}”" for each in timeline.pause_reasons(member.clock_id)]
            text = f"Its time does not pass until {listed(names, len(names))} runs again."
            reasons.append(Reason(text, timeline.at_ns))
        reasons += [*life, *waiting]
        story = TimerStory(0)
        story.read(self.history, self.cursor)
        held = held_reason(timeline, story)
        if held is not None:
            text = "The session is held: no frame runs until it is run or stepped."
            reasons.append(Reason(text, held.at_ns, held.cursor))
        reasons += self._calls()
        headline = self._headline(stopped, standing, life, waiting)
        return Explanation(_name(member), headline, tuple(reasons))

    def _headline(  # noqa: PLR0911 - one case a line
        self,
        stopped: list[Reason],
        standing: list[Reason],
        life: list[Reason],
        waiting: list[Reason],
    ) -> str:
        is_called = self.member.kind in _CALLED
        if stopped:
            first = f"{stopped[0].text[:1].lower()}{stopped[0].text[1:]}"
            return f"It is not called: {first}" if is_called else f"None of its calls run: {first}"
        if standing:
            name = self.timeline.clocks[standing[0].clock_id].name
            return f"Its time does not pass: “{name}” is stopped."
        if life:
            return life[0].text
        if self.member.kind is MemberKind.EDGE:
            return self._edge()
        if waiting:
            return waiting[0].text
        if not self.timeline.is_running:
            return "Only the held session keeps it waiting."
        return "Nothing keeps it waiting."

    def _edge(self) -> str:
        """Return whether the machine is where a transition leads away from."""
        members = self.timeline.members
        source = members.field_text(self.member.id, Field.SOURCE)
        state = members.field_text(self.member.parent_id, Field.STATE)
        if source in {"", "*", state}:
            return f"It is possible: the machine is in “{state}”, which it leaves."
        return f"It is not possible: it leaves “{source}”, and the machine is in “{state}”."

    def _pauses(self) -> list[Reason]:
        reasons = []
        for member in self.path:
            if not member.is_paused:
                continue
            at_ns = member.paused_since_ns
            cursor = find_event(self.history, at_ns, MEMBER_SET, member.id, Field.PAUSED)
            frame = frame_at(self.timeline, at_ns)
            who = by_whom(self.timeline, member.pause_cause)
            its = "It" if member is self.member else f"Its {member.kind.text} “{member.name}”"
            text = f"{its} has been paused since frame {frame:,}, {who}."
            reasons.append(Reason(text, at_ns, cursor, frame=frame, member_id=member.id))
        return reasons

    def _scales(self) -> list[Reason]:
        """Return whose time scale is 0."""
        reasons = []
        for member in self.path:
            if member.kind is MemberKind.SCHEDULER and member.fields.get(Field.RATE) == 0:
                found = last_event(self.history, self.cursor, MEMBER_SET, member.id, Field.RATE)
                at_ns = self.timeline.at_ns if found is None else found[1][0]
                cursor = None if found is None else found[0]
                text = f"The time scale of “{member.name}” is 0."
                reasons.append(Reason(text, at_ns, cursor, member_id=member.id))
        return reasons

    def _life(self) -> list[Reason]:
        reasons = []
        for member in self.path:
            life = member.fields.get(Field.LIFE)
            if member.kind not in _LIVING or life is None or life not in _LIFE_TEXTS:
                continue
            found = last_event(self.history, self.cursor, MEMBER_SET, member.id, Field.LIFE)
            at_ns = self.timeline.at_ns if found is None else found[1][0]
            text = self._life_text(Life(life))
            if member is not self.member:
                text = f"“{member.name}” above it: {text[:1].lower()}{text[1:]}"
            cursor = None if found is None else found[0]
            reasons.append(Reason(text, at_ns, cursor, member_id=member.id))
        return reasons

    def _life_text(self, life: Life) -> str:
        rules = (
            "" if self.home is None else self.timeline.members.field_text(self.home.id, Field.RULES)
        )
        if life is Life.ENABLED and rules in _STARTING_AT_THE_BEGINNING:
            return f"{_LIFE_TEXTS[life][:-1]}: {rules} starts components only when a frame begins."
        return _LIFE_TEXTS[life]

    def _waiting(self) -> list[Reason]:
        """Return what it waits for in the time of its scheduler or ticker."""
        member, home, at_ns = self.member, self.home, self.timeline.at_ns
        fields = member.fields
        reasons = []
        interval_ns = fields.get(Field.INTERVAL)
        due_ns = fields.get(Field.DUE, NEVER)
        is_stopped = any(each.is_paused for each in self.path)
        if member.kind is MemberKind.UPDATE or (interval_ns == 0 and due_ns == NEVER):
            if is_stopped:
                return []
            reasons.append(Reason("It is called in every frame.", at_ns))
        elif is_stopped and Field.REMAINING in fields:
            left = format_duration(fields[Field.REMAINING])
            reasons.append(Reason(f"{left} of its time remained when it was paused.", at_ns))
        elif due_ns != NEVER and member.kind in CLOCK_CALLS:
            reasons.append(self._clock_wait(due_ns))
        elif due_ns != NEVER and home is not None and Field.TIME in home.fields:
            time_ns = home.fields[Field.TIME]
            left = format_duration(max(0, due_ns - time_ns))
            text = (
                f"It is due at {format_instant(due_ns)} in the time of “{home.name}”, which is at "
                f"{format_instant(time_ns)}; {left} remain. It is called in the first frame that "
                "reaches it."
            )
            reasons.append(Reason(text, at_ns, member_id=home.id))
        elif interval_ns:
            rules = self.timeline.members.field_text(self.member.id, Field.RULES)
            counted = f", counted by “{rules}”" if rules else ""
            text = f"Its interval is {format_duration(interval_ns)}{counted}."
            reasons.append(Reason(text, at_ns))
        rate_n = RATE_DENOMINATOR if home is None else home.fields.get(Field.RATE, RATE_DENOMINATOR)
        if home is not None and rate_n not in {0, RATE_DENOMINATOR}:
            text = f"The time scale of “{home.name}” is {rate_text(rate_n)}."
            reasons.append(Reason(text, at_ns, member_id=home.id))
        left_calls = fields.get(Field.CALLS_LEFT, -1)
        if left_calls > 0:
            text = "1 call is left." if left_calls == 1 else f"{left_calls:,} calls are left."
            reasons.append(Reason(text, at_ns))
        missed = fields.get(Field.MISSED, 0)
        if missed:
            text = f"{missed:,} of its calls have been skipped so far."
            reasons.append(Reason(text, at_ns))
        return reasons

    def _clock_wait(self, due_ns: int) -> Reason:
        """Return what a loop or a timeout waits for in the time of its clock."""
        timeline, clock_id = self.timeline, self.member.clock_id
        if clock_id not in timeline.clocks:
            return Reason("Its clock was removed.", timeline.at_ns)
        local_ns = timeline.local_ns(clock_id)
        text = (
            f"It is due at {format_instant(due_ns)} in the time of "
            f"“{timeline.clocks[clock_id].name}”, which is at {format_instant(local_ns)}; "
            f"{format_duration(max(0, due_ns - local_ns))} remain."
        )
        return Reason(text, timeline.at_ns, clock_id=clock_id)

    def _calls(self) -> list[Reason]:
        member = self.member
        if member.kind not in _CALLED:
            return self._state()
        if not member.calls:
            text = "It has not been called since it was added."
            cursor = find_event(self.history, member.added_ns, MEMBER_ADDED, member.id)
            return [Reason(text, member.added_ns, cursor)]
        found = last_event(self.history, self.cursor, CALL_ENDED, member.id)
        text = f"It was called {times(member.calls)}"
        if found is None:
            return [Reason(f"{text}.", self.timeline.at_ns)]
        cursor, event = found
        frame = frame_at(self.timeline, event[0])
        text += f", the last time in frame {frame:,}; that took {format_duration(member.took_ns)}."
        return [Reason(text, event[0], cursor, frame=frame)]

    def _state(self) -> list[Reason]:
        """Return since when a machine, or that of a transition, has been in its state."""
        is_edge = self.member.kind is MemberKind.EDGE
        machine_id = self.member.parent_id if is_edge else self.member.id
        entered = self.timeline.members.histories.get(machine_id)
        if entered is None or not len(entered):
            return []
        at_ns, strings = entered.at_ns[-1], self.history.strings
        who = "The machine" if is_edge else "It"
        text = f"{who} is in the state “{strings[entered.state[-1]]}”"
        if entered.transition[-1]:
            text += f", by “{strings[entered.transition[-1]]}”"
        cursor = find_event(self.history, at_ns, STATE_ENTERED, machine_id)
        frame = frame_at(self.timeline, at_ns)
        return [Reason(f"{text}.", at_ns, cursor, frame=frame, member_id=machine_id)]


def _name(member: MemberState) -> str:
    kind = member.kind.text
    return f"{kind[:1].upper()}{kind[1:]} “{member.name}” ({member.id})"


# ------------------------------------------------------------------ those that are gone


def _explain_gone(history: History, timeline: Timeline, member_id: int, cursor: int) -> Explanation:
    """Say what became of a member that is not there."""
    subject = f"Member {member_id}"
    found = _removal(history, member_id, cursor)
    if found is None:
        if history.first > 0:
            text = "No member of this number is known; its events may no longer be in the log."
            return Explanation(subject, text, (Reason(text, history.first_ns),))
        text = "This session never had a member of this number."
        return Explanation(subject, text, (Reason(text, timeline.at_ns),))
    removed_id, place, at_ns = found
    before = history.state_before(place)
    member = before.members.by_id.get(member_id)
    if member is not None:
        subject = _name(member)
    frame = frame_at(timeline, at_ns)
    at = f"at {format_instant(at_ns)} (frame {frame:,})"
    who = _remover(history, place)
    if (
        removed_id == member_id
        and member is not None
        and _has_made_last_call(history, member, place)
    ):
        headline = "It has no calls left."
        text = f"It made its last call and was removed, {at}."
    elif removed_id == member_id:
        headline = f"It was removed {who}."
        text = f"It was removed {who}, {at}."
    elif removed_id:
        above = before.members.by_id.get(removed_id)
        name = f"“{above.name}”" if above is not None else f"member {removed_id}"
        headline = f"It was removed with {name}."
        text = f"{name}, which it belonged to, was removed {who}, {at}."
    else:
        headline = "It was removed with its clock."
        text = f"Its clock was removed, {at}."
    return Explanation(subject, headline, (Reason(text, at_ns, place, frame=frame),))


def _removal(history: History, member_id: int, cursor: int) -> tuple[int, int, int] | None:
    """Return who was removed when a member went (0 for its clock), and where that is."""
    base = history.state_before(history.first).members
    members = MemberNames(history.strings, base.by_id.values())
    clocks: list[tuple[int, int, int]] = []
    for place, event in enumerate(history.events(history.first, cursor), history.first):
        at_ns, kind, subject, _, _ = event
        if kind in MEMBER_NAMING_KINDS:
            members.note(event)
        elif kind == CLOCK_REMOVED:
            clocks.append((0, place, at_ns))
        elif kind == MEMBER_REMOVED and subject in _above(members, member_id):
            return subject, place, at_ns
    is_known = members.get(member_id) is not None
    return _clock_removal(history, member_id, clocks) if is_known else None


def _above(members: MemberNames, number: int) -> set[int]:
    """Return a member and what it hangs under."""
    found: set[int] = set()
    while (known := members.get(number)) is not None and number not in found:
        found.add(number)
        number = known.parent_id
    return found


def _clock_removal(
    history: History, member_id: int, removals: list[tuple[int, int, int]]
) -> tuple[int, int, int] | None:
    """Return the removal of a clock that took a member along."""
    for removal in removals:
        place = removal[1]
        was_there = member_id in history.state_before(place).members.by_id
        if was_there and member_id not in history.state_before(place + 1).members.by_id:
            return removal
    return None


def _remover(history: History, place: int) -> str:
    asked = asked_for_by(history, place, "UnscheduleMember")
    return "by the program" if asked is None else f"by {asked[1]}"


def _has_made_last_call(history: History, member: MemberState, place: int) -> bool:
    """Whether a member was taken out because its calls were used up."""
    if member.fields.get(Field.CALLS_LEFT) != 1:
        return False
    at_ns = history.events(place, place + 1)[0][0]
    return any(
        event[1] == CALL_ENDED and event[2] == member.id and event[0] == at_ns
        for event in history.events(place, place + _CALL_AHEAD)
    )
