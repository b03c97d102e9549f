"""What became of something that is no longer scheduled: used up, cleared, removed with another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from inspector.analysis.evidence import (
    Explanation,
    Reason,
    asked_for_by,
    by_whom,
    frame_at,
    short_site,
    text_of,
)
from inspector.analysis.explain.lateness import LATE_NS, lateness_reasons, ties_before
from inspector.analysis.explain.past import failure_reasons, slightly, timer_origin, timer_past
from inspector.analysis.explain.story import CallStory, Firing, Moment
from inspector.calls.call import Call, call_of, clock_of
from inspector.commands.members import UnscheduleMember
from inspector.events.member_names import MEMBER_NAMING_KINDS, MemberNames
from inspector.timebase import format_instant
from inspector.vocabulary import (
    CALL_ENDED,
    MEMBER_ADDED,
    MEMBER_REMOVED,
    NEVER,
    TIMER_ADDED,
    Field,
)

if TYPE_CHECKING:
    from inspector.events.history import History
    from inspector.events.timeline import Timeline

#: After its removal the last call of a frame timer ends within so many events.
_CALL_AHEAD: Final = 2_000


@dataclass(frozen=True, slots=True)
class _End:
    """How something ended.

    Attributes:
        cursor: Where its event is.
        at_ns: Session instant.
        headline: What happened.
        text: The same at length, up to the instant.
        frame: Index of the frame.
    """

    cursor: int
    at_ns: int
    headline: str
    text: str
    frame: int

    @property
    def reason(self) -> Reason:
        """The end as a reason."""
        return Reason(self.text, self.at_ns, self.cursor, frame=self.frame)


def explain_gone(
    history: History, timeline: Timeline, story: CallStory, cursor: int
) -> Explanation:
    """Say what became of what is not there.

    Args:
        history: The past.
        timeline: The state.
        story: What is known of it, up to the state.
        cursor: Where the state is in the log.
    """
    if clock_of(timeline, story.id):
        text = "It waits on a clock that is no longer there."
        return Explanation(_subject(story), text, (Reason(text, timeline.at_ns),))
    end = (_member_end if story.id.is_member else _timer_end)(history, timeline, story, cursor)
    if end is None:
        return _unknown(history, timeline, story, cursor)
    before = history.state_before(end.cursor)
    call = call_of(before, story.id)
    if call is None:
        return Explanation(_subject(story), end.headline, (end.reason,))
    reasons = [end.reason]
    if not story.id.is_member:
        reasons += _timer_reasons(history, timeline, story, before, call, end)
    kind = call.kind.text if story.id.is_member else "timer"
    subject = f"{kind[:1].upper()}{kind[1:]} “{call.name}” ({story.id.number})"
    return Explanation(subject, end.headline, tuple(reasons))


def _subject(story: CallStory) -> str:
    return f"{'Member' if story.id.is_member else 'Timer'} {story.id.number}"


# ------------------------------------------------------------------ timers of clocks


def _timer_end(history: History, timeline: Timeline, story: CallStory, cursor: int) -> _End | None:
    last, cleared = story.last, story.cleared
    if cleared is not None:
        site = text_of(history, cleared.a)
        who = f"at {short_site(site)}" if site else by_whom(timeline, cleared.b)
        return _ended(timeline, cleared, "It was cleared.", f"It was cleared {who}")
    if last is not None and last.next_ns == NEVER:
        late = slightly(last) + "," if last.late_ns >= LATE_NS else ""
        frame = frame_at(timeline, last.at_ns)
        text = (
            f"It fired at {format_instant(last.at_ns)}, in frame {frame:,}: a timeout fires only "
            "once."
        )
        headline = f"It has fired{late} and is no longer pending."
        return _End(last.cursor, last.at_ns, headline, text, frame)
    return _removed_with_clock(history, timeline, story, cursor, "It was removed with its branch.")


def _ended(timeline: Timeline, moment: Moment, headline: str, text: str) -> _End:
    frame = frame_at(timeline, moment.at_ns)
    text = f"{text}, at {format_instant(moment.at_ns)} (frame {frame:,})."
    return _End(moment.cursor, moment.at_ns, headline, text, frame)


def _timer_reasons(  # noqa: PLR0913, PLR0917 - what was known right before its end
    history: History,
    timeline: Timeline,
    story: CallStory,
    before: Timeline,
    call: Call,
    end: _End,
) -> list[Reason]:
    last = story.last
    if last is not None and last.cursor == end.cursor:
        reasons = _last_call(history, timeline, story, before, call, last)
        reasons += _set_again(timeline, call)
    else:
        reasons = timer_past(history, timeline, story, call.calls)
    before.set_present(end.at_ns)
    return reasons + timer_origin(history, before, story, call, is_open=False)


def _last_call(  # noqa: PLR0913, PLR0917 - likewise
    history: History,
    timeline: Timeline,
    story: CallStory,
    before: Timeline,
    call: Call,
    last: Firing,
) -> list[Reason]:
    """Return why a one-shot was called when it was."""
    local_ns = before.local_ns(call.clock_id, last.at_ns)
    if call.due_ns is not None and call.due_ns > local_ns and last.late_ns >= 0:
        # Its clock was stopped, so that no lateness could be measured.
        last = Firing(last.cursor, last.at_ns, -1, NEVER, last.due_ns)
    reasons = lateness_reasons(history, timeline, story, last)
    if not reasons:
        late = slightly(last) if last.late_ns else " on time"
        reasons = [Reason(f"It was called{late.removeprefix(',')}.", last.at_ns, last.cursor)]
    return [*reasons, *ties_before(history, timeline, story), *failure_reasons(history, story)]


def _set_again(timeline: Timeline, call: Call) -> list[Reason]:
    """Return that one other timer of its name and place waits: the next in a chain."""
    table = timeline.timers
    rows = (table.row(other_id) for other_id in table.ids())
    wanted = (call.clock_id, call.name, call.call_site)
    alike = [row.id for row in rows if (row.clock_id, row.label, row.call_site) == wanted]
    if len(alike) != 1:
        return []
    text = f"Another timer of the same name, set at the same place, is pending: {alike[0]}."
    return [Reason(text, timeline.at_ns)]


# ------------------------------------------------------------------ other calls


def _member_end(history: History, timeline: Timeline, story: CallStory, cursor: int) -> _End | None:
    number = story.id.number
    members = MemberNames(
        history.strings, history.state_before(history.first).members.by_id.values()
    )
    for place, event in enumerate(history.events(history.first, cursor), history.first):
        if event[1] in MEMBER_NAMING_KINDS:
            members.note(event)
        elif event[1] == MEMBER_REMOVED and event[2] in _at_and_above(members, number):
            moment = Moment(place, event[0], 0, 0)
            return _removed(history, timeline, number, moment, event[2])
    if members.get(number) is None:
        return None
    return _removed_with_clock(history, timeline, story, cursor, "It was removed with its clock.")


def _removed(
    history: History, timeline: Timeline, number: int, moment: Moment, removed_id: int
) -> _End:
    """Return the end of a member by its own removal or that of one above it."""
    members = history.state_before(moment.cursor).members.by_id
    asked = asked_for_by(history, moment.cursor, UnscheduleMember)
    who = "by the program" if asked is None else f"by {asked[1]}"
    above = members.get(removed_id)
    if removed_id != number:
        name = f"“{above.name}”" if above is not None else f"member {removed_id}"
        text = f"{name}, which it belonged to, was removed {who}"
        return _ended(timeline, moment, f"It was removed with {name}.", text)
    # A frame timer whose calls are used up is taken out in the last of them.
    is_last = above is not None and above.fields.get(Field.CALLS_LEFT) == 1
    if is_last and any(
        event[1] == CALL_ENDED and event[2] == number and event[0] == moment.at_ns
        for event in history.events(moment.cursor, moment.cursor + _CALL_AHEAD)
    ):
        text = "It made its last call and was removed"
        return _ended(timeline, moment, "It has no calls left.", text)
    return _ended(timeline, moment, f"It was removed {who}.", f"It was removed {who}")


def _at_and_above(members: MemberNames, number: int) -> set[int]:
    """Return a member and what it hangs under."""
    found: set[int] = set()
    while (known := members.get(number)) is not None and number not in found:
        found.add(number)
        number = known.parent_id
    return found


# ------------------------------------------------------------------ all


def _removed_with_clock(
    history: History, timeline: Timeline, story: CallStory, cursor: int, headline: str
) -> _End | None:
    """Return the removal of a clock that took a call along."""
    known = story.last_cursor
    removals = sorted(
        (moment.cursor, moment.at_ns, clock_id)
        for clock_id, moment in story.removals.items()
        if known < moment.cursor < cursor
    )
    low, high = 0, len(removals)
    # It was there up to one of them and never again after it.
    while low < high:
        middle = (low + high) // 2
        if call_of(history.state_before(removals[middle][0] + 1), story.id) is not None:
            low = middle + 1
        else:
            high = middle
    if low == len(removals):
        return None
    place, at_ns, clock_id = removals[low]
    before = history.state_before(place)
    call = call_of(before, story.id)
    if call is None or clock_id not in before.clocks:
        return None
    above = ", above its clock," if call.clock_id != clock_id else ""
    name = before.clocks[clock_id].name
    text = f"It no longer exists because “{name}”{above} was removed by the program"
    return _ended(timeline, Moment(place, at_ns, 0, 0), headline, text)


def _unknown(history: History, timeline: Timeline, story: CallStory, cursor: int) -> Explanation:
    what = "member" if story.id.is_member else "timer"
    later = _set_later(history, story, cursor)
    if later is not None:
        place, at_ns = later
        text = (
            f"At {format_instant(timeline.at_ns)} this {what} does not exist yet: it is set at "
            f"{format_instant(at_ns)}."
        )
        reason = Reason(text, at_ns, place)
    elif max(history.first, story.first) > 0:
        text = (
            f"No {what} of this number is known: the events before "
            f"{format_instant(history.first_ns)} are no longer in the log."
        )
        reason = Reason(text, history.first_ns)
    else:
        text = f"This session never had a {what} of this number."
        reason = Reason(text, timeline.at_ns)
    return Explanation(_subject(story), text, (reason,))


def _set_later(history: History, story: CallStory, cursor: int) -> tuple[int, int] | None:
    """Return where and when something is scheduled that is not there yet."""
    added = MEMBER_ADDED if story.id.is_member else TIMER_ADDED
    for place, event in enumerate(history.events(cursor, history.end), cursor):
        if event[1] == added and event[2] == story.id.number:
            return place, event[0]
    return None
