"""Explanations of calls that were late, early, repeated or not made at all.

An explanation is a headline and a chain of sentences, each with the instant and the event
that prove it.
"""

from __future__ import annotations

from typing import Final

from inspector.analysis.evidence import Explanation, Reason, missing_text
from inspector.analysis.explain.blocker_reasons import (
    blocker_reason,
    held_reason,
    is_held,
    ranked_blockers,
    rate_reasons,
    slowness,
    stands_still,
    what_would_help,
)
from inspector.analysis.explain.call_past import CallPast
from inspector.analysis.explain.gone import explain_gone
from inspector.analysis.explain.last_call import (
    member_past,
    state_reasons,
    timer_origin,
    timer_past,
)
from inspector.analysis.explain.lateness import overdue_reasons
from inspector.calls.blockers import Blocker, BlockerKind
from inspector.calls.call import CALLED, Call, CallId, call_of
from inspector.display_text import counted
from inspector.events.history import History
from inspector.events.timeline import Timeline
from inspector.timebase import format_duration, format_instant, format_local_time
from inspector.vocabulary import RATE_DENOMINATOR, Field, MemberKind, rate_text

#: Texts for calls that nothing stops, and for calls that are due.
FIRES_IN: Final = "Fires in {left}, at {at}, if rates stay as they are."
NOT_REACHED: Final = "Its due instant cannot be reached."
OVERDUE: Final = "It is due and fires with the next wake-up."
CALL_OVERDUE: Final = "It is due and is called with the next wake-up."
_WITH_CALLS: Final = CALLED | {MemberKind.PHASE}


def explain(
    history: History,
    call_id: CallId,
    at_ns: int,
    *,
    timeline: Timeline | None = None,
    past: CallPast | None = None,
) -> Explanation:
    """Explain why something is not called at an instant, or why it was called when it was.

    For a target, scheduler or component: what blocks everything below it. Events after the instant
    are ignored. The state at the instant may be given, and a past of the call gathered earlier, to
    which newer events are added.
    """
    if timeline is None:
        timeline = history.state_at(at_ns)
        cursor = history.cursor_at(at_ns)
    else:
        cursor = min(timeline.events_folded, history.end)
    if past is None:
        past = CallPast(call_id)
    past.read(history, cursor)
    call = call_of(timeline, call_id)
    if call is None:
        found = explain_gone(history, timeline, past, cursor)
    else:
        found = _Present(history, timeline, past, call).explanation()
    if missing := missing_text(history, timeline.at_ns):
        return Explanation(found.subject, missing, ())
    return found


def why_blocked(history: History, timeline: Timeline, call: Call, cursor: int, ago: str) -> str:
    """Return the headline of a blocked call; ``ago`` is in words how long it has been paused."""
    blockers = ranked_blockers(call)
    reason = blocker_reason(history, timeline, call, blockers[0], cursor)
    return _blocked_text(timeline, call, blockers, reason, ago)


def interval_text(timeline: Timeline, call: Call) -> str:
    """Return a sentence about a call that does not wait for an instant."""
    rules = timeline.members.field_text(call.id.number, Field.RULES)
    counted = f", counted by “{rules}”" if rules else ""
    return f"Its interval is {format_duration(call.interval_ns)}{counted}."


def _is_called(call: Call) -> bool:
    return not call.id.is_member or call.kind in _WITH_CALLS


def _blocked_text(
    timeline: Timeline, call: Call, blockers: list[Blocker], reason: Reason, ago: str = ""
) -> str:
    """Name a pause of the call or of an ancestor before its clocks."""
    first = blockers[0]
    if first.kind is BlockerKind.LIFE_CYCLE:
        return reason.text
    if not first.clock_id:
        what = "It is not called" if _is_called(call) else "None of its calls run"
        return f"{what}: {reason.text[:1].lower()}{reason.text[1:]}"
    if first.kind is BlockerKind.DETACHED:
        return f"Nothing more is known of it: {first.text}."
    more = [each.name for each in blockers[1:] if each.clock_id]
    return stands_still(timeline, first, first.name, more, ago)


class _Present:
    def __init__(self, history: History, timeline: Timeline, past: CallPast, call: Call) -> None:
        self.history = history
        self.timeline = timeline
        self.past = past
        self.call = call
        self.blockers = ranked_blockers(call)
        self.is_paused = any(each.kind is BlockerKind.PAUSED for each in call.blockers)
        self.is_stopped = any(each.clock_id for each in call.blockers)
        self.fires = "is called" if call.id.is_member else "fires"

    def explanation(self) -> Explanation:
        history, timeline, past, call = self.history, self.timeline, self.past, self.call
        blocked = [
            blocker_reason(history, timeline, call, blocker, past.cursor)
            for blocker in self.blockers
        ]
        waiting = self._waiting()
        if not call.id.is_member:
            earlier = timer_past(history, timeline, past, call.calls)
            earlier += timer_origin(history, timeline, past, call, is_open=True)
        elif _is_called(call):
            earlier = member_past(history, timeline, past)
        else:
            earlier = state_reasons(history, timeline, call.id.number)
        if self.is_stopped:
            # Reasons why it is stopped are newest first, those of a delay oldest first.
            helps = Reason(what_would_help(timeline, call, self.fires), timeline.at_ns)
            reasons = [*blocked, helps, *waiting, *reversed(earlier)]
        else:
            reasons = [*blocked, *earlier, *waiting]
            if call.left_ns is not None:
                told = {reason.cursor for reason in earlier if reason.cursor is not None}
                rates = rate_reasons(timeline, past, call.clock_id)
                reasons += [each for each in rates if each.cursor not in told]
            held = held_reason(timeline, past)
            reasons += [] if held is None else [held]
        headline = self._headline(blocked, waiting)
        is_delayed = not blocked and any(each.clock_id and each.cursor for each in reasons)
        return Explanation.of_call(call, headline, reasons, is_delayed=is_delayed)

    def _headline(self, blocked: list[Reason], waiting: list[Reason]) -> str:
        call, timeline = self.call, self.timeline
        if blocked:
            return _blocked_text(timeline, call, self.blockers, blocked[0])
        if call.id.is_member and call.kind is MemberKind.EDGE:
            return self._edge()
        if call.waits_on_clock and call.left_ns is not None and call.left_ns > 0:
            if call.session_due_ns is None:
                return NOT_REACHED
            left = format_duration(call.session_due_ns - timeline.at_ns)
            text = FIRES_IN.format(left=left, at=format_instant(call.session_due_ns))
            if call.id.is_member:
                text = text.replace("Fires", "Is called")
            held = "; the session is held" if is_held(timeline, self.past) else ""
            return f"{text.removesuffix('.')}{held}."
        if waiting:
            return waiting[0].text
        what = "Only the held session keeps" if is_held(timeline, self.past) else "Nothing keeps"
        return f"{what} it waiting."

    def _edge(self) -> str:
        members, number = self.timeline.members, self.call.id.number
        source = members.field_text(number, Field.SOURCE)
        if members.by_id[number].parent_id not in members.by_id:
            return "Its machine no longer exists."
        state = members.field_text(members.by_id[number].parent_id, Field.STATE)
        if source in {"", "*", state}:
            return f"It is possible: the machine is in “{state}”, which it leaves."
        return f"It is not possible: it leaves “{source}”, and the machine is in “{state}”."

    def _waiting(self) -> list[Reason]:
        call, at_ns = self.call, self.timeline.at_ns
        if call.is_per_frame:
            return [] if self.is_paused else [Reason("It is called in every frame.", at_ns)]
        reasons = self._due()
        if not call.id.is_member:
            return reasons
        members = self.timeline.members
        scheduler = members.scheduler_of(call.id.number)
        rate_n = RATE_DENOMINATOR
        if scheduler is not None:
            rate_n = scheduler.rate_n
        if scheduler is not None and rate_n not in {0, RATE_DENOMINATOR}:
            text = f"The time scale of “{scheduler.name}” is {rate_text(rate_n)}."
            reasons.append(Reason(text, at_ns, member_id=scheduler.id))
        left = call.calls_left or 0
        if left > 0:
            are = counted(left, "call is", "calls are")
            reasons.append(Reason(f"{are} left.", at_ns))
        if call.missed:
            have = counted(call.missed, "call has", "calls have")
            text = f"{have} been skipped so far."
            reasons.append(Reason(text, at_ns))
        return reasons

    def _overdue(self) -> list[Reason]:
        if any(each.kind is BlockerKind.DETACHED for each in self.call.blockers):
            # Its program has ended, or is no longer seen.
            return []
        call, timeline = self.call, self.timeline
        if not self.is_stopped and not call.id.is_member and call.session_due_ns is not None:
            number, due_ns = call.id.number, call.session_due_ns
            if reasons := overdue_reasons(self.history, timeline, number, due_ns):
                return reasons
        text = CALL_OVERDUE if call.id.is_member else OVERDUE
        if self.is_stopped:
            text = text.replace("with the next wake-up", "once its clock runs")
        return [Reason(text, timeline.at_ns)]

    def _due(self) -> list[Reason]:
        call, timeline = self.call, self.timeline
        at_ns, members = timeline.at_ns, timeline.members
        if call.left_ns is None:
            if not call.interval_ns:
                return []
            return [Reason(interval_text(timeline, call), at_ns)]
        left = format_duration(max(0, call.left_ns))
        if call.due_ns is None:
            return [Reason(f"{left} of its time remained when it was paused.", at_ns)]
        if call.left_ns <= 0 and call.waits_on_clock:
            return self._overdue()
        due = f"It is due at {format_local_time(call.due_ns)} in the time of"
        if not call.waits_on_clock:
            scheduler = members.scheduler_of(call.id.number)
            assert scheduler is not None, "its time is known"
            now = format_local_time(scheduler.fields[Field.TIME])
            text = (
                f"{due} “{scheduler.name}”, which is at {now}; {left} remain. It is called in the "
                "first frame that reaches it."
            )
            return [Reason(text, at_ns, member_id=scheduler.id, is_number=True)]
        clock = timeline.clocks[call.clock_id]
        now = format_local_time(timeline.local_ns(clock.id))
        text = f"{due} “{clock.name}”, which is at {now}; {left} remain."
        reasons = [Reason(text, at_ns, clock_id=clock.id, is_number=True)]
        due_ns = call.session_due_ns
        if not self.is_stopped and due_ns is not None and timeline.effective_rate(clock.id) != 1:
            reasons.append(Reason(slowness(timeline, clock.id, due_ns - at_ns), at_ns))
        return reasons
