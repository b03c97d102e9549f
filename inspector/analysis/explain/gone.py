"""The end of a call: used up, cleared, or removed with its clock or an ancestor."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from inspector.analysis.evidence import (
    Explanation,
    Reason,
    by_whom,
    command_behind,
    frame_at,
    text_of,
)
from inspector.analysis.explain.call_past import CallPast, PastCall
from inspector.analysis.explain.last_call import failure_reasons, timer_origin, timer_past
from inspector.analysis.explain.lateness import LATE_NS, lateness_reasons, ties_before
from inspector.calls.call import Call, call_of, clock_of, short_site
from inspector.commands.members import UnscheduleMember
from inspector.events.history import History
from inspector.events.member_names import MEMBER_NAMING_KINDS, MemberNames
from inspector.events.schema import ADDED, CALLS, Unit
from inspector.events.timeline import Timeline
from inspector.timebase import format_instant, late_text
from inspector.vocabulary import MEMBER_REMOVED, NEVER, Field

#: The most events after the removal of a frame timer in which its last call ends.
_CALL_AHEAD: Final = 2_000


class _End(Struct, frozen=True):
    cursor: int
    at_ns: int  # Session instant
    headline: str  # A short sentence
    text: str  # A full sentence, with the instant
    frame: int | None  # Index of the frame, None in a program without frames

    @property
    def reason(self) -> Reason:
        return Reason(self.text, self.at_ns, self.cursor, frame=self.frame)


def explain_gone(history: History, timeline: Timeline, past: CallPast, cursor: int) -> Explanation:
    """Explain how a call ended that is not in the state at a cursor."""
    return _Gone(history, timeline, past, cursor).explanation()


class _Gone:
    def __init__(self, history: History, timeline: Timeline, past: CallPast, cursor: int) -> None:
        self.history = history
        self.timeline = timeline
        self.past = past
        self.cursor = cursor
        self.what = "member" if past.id.is_member else "timer"

    def explanation(self) -> Explanation:
        subject = f"{self.what.capitalize()} {self.past.id.number}"
        if clock_of(self.timeline, self.past.id):
            text = "It waits on a clock that no longer exists."
            return Explanation(subject, text, (Reason(text, self.timeline.at_ns),))
        is_member = self.past.id.is_member
        end = self._member_end() if is_member else self._timer_end()
        if end is None:
            reason = self._unknown()
            if reason.cursor is not None:
                subject = self._later_title(reason.cursor) or subject
            return Explanation(subject, reason.text, (reason,))
        before = self.history.state_before(end.cursor)
        call = call_of(before, self.past.id)
        if call is None:
            return Explanation(subject, end.headline, (end.reason,))
        reasons = [end.reason, *([] if is_member else self._timer_reasons(before, call, end))]
        return Explanation.of_call(call, end.headline, reasons)

    def _ended(self, cursor: int, at_ns: int, headline: str, text: str) -> _End:
        frame = frame_at(self.timeline, at_ns)
        in_frame = "" if frame is None else f" (frame {frame:,})"
        text = f"{text}, at {format_instant(at_ns)}{in_frame}."
        return _End(cursor, at_ns, headline, text, frame)

    def _timer_end(self) -> _End | None:
        last, cleared = self.past.last, self.past.cleared
        if cleared is not None:
            site = text_of(self.history, cleared.a)
            who = f"at {short_site(site)}" if site else by_whom(self.timeline, cleared.b)
            return self._ended(
                cleared.cursor, cleared.at_ns, "It was cleared.", f"It was cleared {who}"
            )
        if last is None or last.next_ns != NEVER:
            return self._removed_with_clock("It was removed with its branch.")
        late = f", {late_text(last.late_ns)}," if last.late_ns >= LATE_NS else ""
        frame = frame_at(self.timeline, last.at_ns)
        in_frame = "" if frame is None else f", in frame {frame:,}"
        text = f"It fired at {format_instant(last.at_ns)}{in_frame}: a timeout fires only once."
        headline = f"It has fired{late} and is no longer pending."
        return _End(last.cursor, last.at_ns, headline, text, frame)

    def _timer_reasons(self, before: Timeline, call: Call, end: _End) -> list[Reason]:
        history, timeline, past = self.history, self.timeline, self.past
        last = past.last
        if last is not None and last.cursor == end.cursor:
            reasons = self._last_call(before, call, last) + self._set_again(call)
        else:
            reasons = timer_past(history, timeline, past, call.calls)
        before.set_present(end.at_ns)
        return reasons + timer_origin(history, before, past, call, is_open=False)

    def _last_call(self, before: Timeline, call: Call, last: PastCall) -> list[Reason]:
        history, timeline, past = self.history, self.timeline, self.past
        local_ns = before.local_ns(call.clock_id, last.at_ns)
        if call.due_ns is not None and call.due_ns > local_ns and last.late_ns >= 0:
            # Its clock was stopped, so no lateness could be measured.
            last = PastCall(last.cursor, last.at_ns, local_ns - call.due_ns, NEVER, last.due_ns)
        reasons = lateness_reasons(history, timeline, past, last)
        if not reasons:
            text = f"It was called {late_text(last.late_ns)}."
            reasons = [Reason(text, last.at_ns, last.cursor)]
        return [*reasons, *ties_before(history, timeline, past), *failure_reasons(history, past)]

    def _set_again(self, call: Call) -> list[Reason]:
        """Name the only pending timer with the same name and clock, which continues a chain."""
        table = self.timeline.timers
        rows = (table.row(other_id) for other_id in table.ids())
        wanted = (call.clock_id, call.name)
        alike = [row.id for row in rows if (row.clock_id, row.label) == wanted]
        if len(alike) != 1:
            return []
        text = f"Another timer of the same name is pending: {alike[0]}."
        return [Reason(text, self.timeline.at_ns, timer_id=alike[0])]

    def _member_end(self) -> _End | None:
        history, number = self.history, self.past.id.number
        base = history.state_before(history.first).members
        names = MemberNames(history.strings, base.by_id.values())
        for place, event in zip(*history.numbered(history.first, self.cursor), strict=True):
            if event[1] in MEMBER_NAMING_KINDS:
                names.note(event)
            elif event[1] == MEMBER_REMOVED and event[2] in _at_and_above(names, number):
                return self._removed(place, event[0], event[2])
        if names.get(number) is None:
            return None
        return self._removed_with_clock("It was removed with its clock.")

    def _removed(self, cursor: int, at_ns: int, removed_id: int) -> _End:
        """Return the end of a member whose own removal, or an ancestor's, is in the log."""
        history, number = self.history, self.past.id.number
        asked = command_behind(history, cursor, UnscheduleMember)
        who = "by the program" if asked is None else f"by {asked[1]}"
        above = history.state_before(cursor).members.by_id.get(removed_id)
        if removed_id != number:
            name = f"“{above.name}”" if above is not None else f"member {removed_id}"
            text = f"{name}, which it belonged to, was removed {who}"
            return self._ended(cursor, at_ns, f"It was removed with {name}.", text)
        # A frame timer is removed during its last call.
        is_last = above is not None and above.fields.get(Field.CALLS_LEFT) == 1
        if is_last and any(
            event[1] in CALLS and event[2] == number and event[0] == at_ns
            for event in history.events(cursor, cursor + _CALL_AHEAD)
        ):
            text = "It made its last call and was removed"
            return self._ended(cursor, at_ns, "It has no calls left.", text)
        return self._ended(cursor, at_ns, f"It was removed {who}.", f"It was removed {who}")

    def _removed_with_clock(self, headline: str) -> _End | None:
        history, past = self.history, self.past
        removals = sorted(
            (moment.cursor, moment.at_ns, clock_id)
            for clock_id, moment in past.removals.items()
            if past.last_cursor < moment.cursor < self.cursor
        )
        low, high = 0, len(removals)
        # The call exists before exactly one of the removals, and not after it.
        while low < high:
            middle = (low + high) // 2
            if call_of(history.state_before(removals[middle][0] + 1), past.id) is not None:
                low = middle + 1
            else:
                high = middle
        if low == len(removals):
            return None
        place, at_ns, clock_id = removals[low]
        before = history.state_before(place)
        call = call_of(before, past.id)
        if call is None or clock_id not in before.clocks:
            return None
        above = ", above its clock," if call.clock_id != clock_id else ""
        name = before.clocks[clock_id].name
        text = f"It no longer exists because “{name}”{above} was removed by the program"
        return self._ended(place, at_ns, headline, text)

    def _unknown(self) -> Reason:
        history, past, timeline = self.history, self.past, self.timeline
        added = ADDED[Unit.MEMBER if past.id.is_member else Unit.TIMER]
        for place, event in zip(*history.numbered(self.cursor, history.end), strict=True):
            if event[1] == added and event[2] == past.id.number:
                text = (
                    f"At {format_instant(timeline.at_ns)} this {self.what} does not exist yet: it "
                    f"is set at {format_instant(event[0])}."
                )
                return Reason(text, event[0], place)
        if max(history.first, past.first) > 0:
            text = (
                f"No {self.what} of this number is known: the events before "
                f"{format_instant(history.first_ns)} are no longer in the log."
            )
            return Reason(text, history.first_ns)
        return Reason(f"This session never had a {self.what} of this number.", timeline.at_ns)

    def _later_title(self, place: int) -> str:
        """Return the title of a call once it is added; empty if it is unknown even then."""
        # The kind of a member is in the event after that of its addition.
        call = call_of(self.history.state_before(place + 2), self.past.id)
        return "" if call is None else call.title


def _at_and_above(members: MemberNames, number: int) -> set[int]:
    found: set[int] = set()
    while (known := members.get(number)) is not None and number not in found:
        found.add(number)
        number = known.parent_id
    return found
