"""Why a timer has not fired, and why it fired late, early, twice or not at all.

An explanation is a headline and a chain of sentences. Each says something that the events
of the session bear out, with the instant and the event, so that it can be looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from inspector.analysis.evidence import (
    Explanation,
    Reason,
    by_whom,
    frame_at,
    short_site,
    text_of,
    times,
)
from inspector.analysis.explain.lateness import (
    LATE_NS,
    lateness_reasons,
    repetition_reasons,
    ties_before,
)
from inspector.analysis.explain.standing import (
    held_reason,
    rate_reasons,
    slowness,
    standing_reasons,
    what_would_help,
)
from inspector.analysis.explain.timer_story import Firing, Moment, TimerStory
from inspector.timebase import NS_PER_MS, format_duration, format_instant
from inspector.vocabulary import (
    CLOCK_PAUSED,
    CLOCK_RATE,
    NEVER,
    TIMER_ADDED,
    rate_text,
    what_was_raised,
)

if TYPE_CHECKING:
    from inspector.events.history import History
    from inspector.events.timeline import Timeline
    from inspector.events.timer_table import TimerRow

#: Session and local time differ by less where only rounding is between them.
_SAME_NS: Final = NS_PER_MS
#: So many changes of its clocks are told of a timer that is gone.
_MOST_CHANGES: Final = 6


def explain_timer(
    history: History,
    timer_id: int,
    at_ns: int,
    *,
    timeline: Timeline | None = None,
    story: TimerStory | None = None,
) -> Explanation:
    """Say why a timer has not fired at an instant, or why it fired when it did.

    Args:
        history: The past of the session.
        timer_id: Number of the timer, pending or not.
        at_ns: Session instant from which to look; what came later is not told.
        timeline: The state at that instant, if the caller has it.
        story: What was gathered about this timer before; it is read on. Only for looks
            that go forward in time.
    """
    if timeline is None:
        timeline = history.state_at(at_ns)
        cursor = history.cursor_at(at_ns)
    else:
        cursor = min(timeline.events_folded, history.end)
    if story is None:
        story = TimerStory(timer_id)
    story.read(history, cursor)
    if timer_id in timeline.timers:
        return _Pending(history, timeline, story).explanation()
    return _Gone(history, timeline, story, cursor).explanation()


class _Pending:
    """Explains a timer that waits."""

    def __init__(self, history: History, timeline: Timeline, story: TimerStory) -> None:
        self.history = history
        self.timeline = timeline
        self.story = story
        self.timer = timeline.timers.row(story.timer_id)
        self.clock = timeline.clocks[self.timer.clock_id]
        self.left_ns = self.timer.due_ns - timeline.local_ns(self.clock.id)
        self.due_ns = timeline.session_due_ns(story.timer_id)

    def explanation(self) -> Explanation:
        history, timeline, story = self.history, self.timeline, self.story
        standing = standing_reasons(history, timeline, self.clock.id)
        reasons = [*self._remaining(bool(standing)), *standing]
        if standing:
            help_ = what_would_help(timeline, self.clock.id, self.left_ns)
            reasons.append(Reason(help_, timeline.at_ns))
        else:
            reasons += rate_reasons(timeline, story, self.clock.id)
        held = held_reason(timeline, story)
        if held is not None and not standing:
            reasons.append(held)
        reasons += _past(history, timeline, story, self.timer.fired)
        reasons += _life(history, timeline, story, self.timer, is_open=True)
        subject = f"Timer “{self.timer.label}” ({story.timer_id})"
        return Explanation(subject, self._headline(standing), tuple(reasons))

    def _headline(self, standing: list[Reason]) -> str:
        again = " again" if self.timer.fired else ""
        if standing:
            reasons = self.timeline.pause_reasons(self.clock.id)
            nearest = reasons[0]
            stopped = "has rate 0" if nearest.is_rate_zero else "is paused"
            others = f", and {len(reasons) - 1} above it" if len(reasons) > 1 else ""
            return f"It does not fire{again} because “{nearest.clock_name}” {stopped}{others}."
        if self.left_ns <= 0:
            return "It is due and fires with the next wake-up."
        if self.due_ns is None:
            return "Its due instant cannot be reached."
        in_ns = self.due_ns - self.timeline.at_ns
        held = "; the session is held" if not self.timeline.is_running else ""
        return (
            f"It is not due{again} yet: it fires in {format_duration(in_ns)}, at "
            f"{format_instant(self.due_ns)}, at present rates{held}."
        )

    def _remaining(self, is_standing: bool) -> list[Reason]:  # noqa: FBT001 - read right here
        timeline, clock = self.timeline, self.clock
        at_ns = timeline.at_ns
        if self.left_ns <= 0:
            return [Reason("It is due and fires with the next wake-up.", at_ns)]
        local = format_instant(timeline.local_ns(clock.id))
        left = format_duration(self.left_ns)
        reasons = [
            Reason(
                f"“{clock.name}” is at {local}; {left} of its time remain.",
                at_ns,
                clock_id=clock.id,
            )
        ]
        if not is_standing and self.due_ns is not None and timeline.effective_rate(clock.id) != 1:
            reasons.append(Reason(slowness(timeline, clock.id, self.due_ns - at_ns), at_ns))
        return reasons


class _Gone:
    """Explains a timer that is not pending."""

    def __init__(
        self, history: History, timeline: Timeline, story: TimerStory, cursor: int
    ) -> None:
        self.history = history
        self.timeline = timeline
        self.story = story
        self.cursor = cursor

    def explanation(self) -> Explanation:
        story = self.story
        if not story.is_known:
            return self._unknown()
        if story.cleared is not None:
            return self._ended(
                story.cleared.cursor, "It was cleared.", self._cleared(story.cleared)
            )
        last = story.last
        if last is not None and last.next_ns == NEVER:
            late = _slightly(last) + "," if last.late_ns >= LATE_NS else ""
            return self._ended(
                last.cursor, f"It has fired{late} and is no longer pending.", [self._used_up(last)]
            )
        removal = self._removal()
        if removal is not None:
            reasons = [self._removed(removal)]
            return self._ended(removal.cursor, "It was removed with its branch.", reasons)
        return self._unknown()

    def _ended(self, cursor: int, headline: str, reasons: list[Reason]) -> Explanation:
        """Return an explanation with what was known of the timer right before its end."""
        history, story = self.history, self.story
        before = history.state_before(cursor)
        if story.timer_id not in before.timers:
            return Explanation(f"Timer {story.timer_id}", headline, tuple(reasons))
        timer = before.timers.row(story.timer_id)
        last = story.last
        if last is not None and last.cursor == cursor:
            reasons += self._last_call(before, timer, last)
            reasons += self._set_again(timer)
        else:
            reasons += _past(history, self.timeline, story, timer.fired)
        before.set_present(reasons[0].at_ns)
        reasons += _life(history, before, story, timer, is_open=False)
        subject = f"Timer “{timer.label}” ({story.timer_id})"
        return Explanation(subject, headline, tuple(reasons))

    def _last_call(self, before: Timeline, timer: TimerRow, last: Firing) -> list[Reason]:
        """Return why a one-shot was called when it was."""
        local_ns = before.local_ns(timer.clock_id, last.at_ns)
        if timer.due_ns > local_ns and last.late_ns >= 0:
            # Its clock stood still, so that no lateness could be told.
            last = Firing(last.cursor, last.at_ns, -1, NEVER, last.due_ns)
        reasons = lateness_reasons(self.history, self.timeline, self.story, last)
        if not reasons:
            late = _slightly(last) if last.late_ns else " on time"
            reasons = [Reason(f"It was called{late.removeprefix(',')}.", last.at_ns, last.cursor)]
        reasons += ties_before(self.history, self.timeline, self.story)
        return reasons + _failure(self.history, self.story)

    def _set_again(self, timer: TimerRow) -> list[Reason]:
        """Return that one other timer of its name and place waits: the next in a chain."""
        table = self.timeline.timers
        rows = (table.row(other_id) for other_id in table.ids())
        wanted = (timer.clock_id, timer.label, timer.call_site)
        alike = [row.id for row in rows if (row.clock_id, row.label, row.call_site) == wanted]
        if len(alike) != 1:
            return []
        text = f"Another timer of the same name, set at the same place, is pending: {alike[0]}."
        return [Reason(text, self.timeline.at_ns)]

    def _used_up(self, last: Firing) -> Reason:
        frame = frame_at(self.timeline, last.at_ns)
        text = (
            f"It fired at {format_instant(last.at_ns)}, in frame {frame:,}: a timeout fires only "
            "once."
        )
        return Reason(text, last.at_ns, last.cursor, frame=frame)

    def _cleared(self, cleared: Moment) -> list[Reason]:
        frame = frame_at(self.timeline, cleared.at_ns)
        site = text_of(self.history, cleared.a)
        who = f"at {short_site(site)}" if site else by_whom(self.timeline, cleared.b)
        text = f"It was cleared {who}, at {format_instant(cleared.at_ns)} (frame {frame:,})."
        return [Reason(text, cleared.at_ns, cleared.cursor, frame=frame)]

    def _removed(self, removal: Moment) -> Reason:
        state = self.history.state_before(removal.cursor)
        frame = frame_at(self.timeline, removal.at_ns)
        # The moment's second value is free: here it is the clock.
        name = state.clocks[removal.b].name
        timer = state.timers.row(self.story.timer_id)
        above = ", above its clock," if timer.clock_id != removal.b else ""
        text = (
            f"It no longer exists because “{name}”{above} was removed by the program, at "
            f"{format_instant(removal.at_ns)} (frame {frame:,})."
        )
        return Reason(text, removal.at_ns, removal.cursor, frame=frame)

    def _removal(self) -> Moment | None:
        """Return the removal of a branch that took the timer along."""
        story = self.story
        known = max(
            (moment.cursor for moment in (story.added, story.last, story.armed) if moment),
            default=0,
        )
        removals = sorted(
            (moment.cursor, moment.at_ns, clock_id)
            for clock_id, moment in story.removals.items()
            if moment.cursor > known
        )
        low, high = 0, len(removals)
        # It was there up to one of them and never again after it.
        while low < high:
            middle = (low + high) // 2
            state = self.history.state_before(removals[middle][0] + 1)
            if story.timer_id in state.timers:
                low = middle + 1
            else:
                high = middle
        if low == len(removals):
            return None
        cursor, at_ns, clock_id = removals[low]
        return Moment(cursor, at_ns, 0, clock_id)

    def _unknown(self) -> Explanation:
        history, story, timeline = self.history, self.story, self.timeline
        subject = f"Timer {story.timer_id}"
        later = self._set_later()
        if later is not None:
            cursor, at_ns = later
            text = (
                f"At {format_instant(timeline.at_ns)} this timer does not exist yet: it is set at "
                f"{format_instant(at_ns)}."
            )
            return Explanation(subject, text, (Reason(text, at_ns, cursor),))
        if max(history.first, story.first) > 0:
            text = (
                "No timer of this number is known: the events before "
                f"{format_instant(history.first_ns)} are no longer in the log."
            )
            return Explanation(subject, text, (Reason(text, history.first_ns),))
        text = "This session never had a timer of this number."
        return Explanation(subject, text, (Reason(text, timeline.at_ns),))

    def _set_later(self) -> tuple[int, int] | None:
        for cursor, event in enumerate(
            self.history.events(self.cursor, self.history.end), self.cursor
        ):
            if event[1] == TIMER_ADDED and event[2] == self.story.timer_id:
                return cursor, event[0]
        return None


def _past(history: History, timeline: Timeline, story: TimerStory, fired: int) -> list[Reason]:
    """Return how the last call of a timer went, if there was one."""
    reasons: list[Reason] = []
    last = story.last
    if last is not None:
        late = lateness_reasons(history, timeline, story, last)
        on_time = "" if late else ", on time" if not last.late_ns else _slightly(last)
        frame = frame_at(timeline, last.at_ns)
        count = times(fired) if fired else "never"
        text = f"It has fired {count}, the last time in frame {frame:,}{on_time}."
        reasons.append(Reason(text, last.at_ns, last.cursor, frame=frame))
        reasons += late
        reasons += repetition_reasons(history, story, story.cursor)
        if not late:
            reasons += ties_before(history, timeline, story)
    elif fired:
        text = f"It has fired {times(fired)}, before the oldest event in the log."
        reasons.append(Reason(text, history.first_ns))
    if story.missed is not None:
        policy = "its policy" if story.kind is None else f"its kind “{story.kind.text}”"
        count = (
            "1 late tick was"
            if story.ticks_missed == 1
            else (f"{story.ticks_missed:,} late ticks were")
        )
        text = f"{count} skipped, as {policy} requires; {story.missed.a:,} the last time."
        reasons.append(Reason(text, story.missed.at_ns, story.missed.cursor))
    return reasons + _failure(history, story)


def _slightly(last: Firing) -> str:
    return f", {format_duration(last.late_ns)} late"


def _failure(history: History, story: TimerStory) -> list[Reason]:
    failed = story.failed
    if failed is None:
        return []
    error = what_was_raised(text_of(history, failed.b))
    again = f" {times(story.failures)}, the last time" if story.failures > 1 else ""
    return [Reason(f"Its callback raised{again}: {error}", failed.at_ns, failed.cursor)]


def _life(
    history: History, timeline: Timeline, story: TimerStory, timer: TimerRow, *, is_open: bool
) -> list[Reason]:
    """Return where a timer comes from, and what happened to its clocks while it waited."""
    added, armed, last = story.added, story.armed, story.last
    if is_open and last is not None:
        local_ns = last.due_ns
        if last.late_ns < 0 or last.next_ns == last.due_ns:
            # Called by hand, it was not due yet: what time it was on its clock is known there.
            then = history.state_at(last.at_ns)
            there = timer.clock_id in then.clocks
            local_ns = then.local_ns(timer.clock_id) if there else None
        return _wait(timeline, story, timer, last.cursor, last.at_ns, local_ns)
    if added is None or armed is None:
        return []
    reasons: list[Reason] = []
    begun_ns = story.begun_ns(history, timer.clock_id)
    if begun_ns is not None:
        delay_ns = armed.a - begun_ns
        if timer.interval_ns and delay_ns != timer.interval_ns and not story.fired:
            text = (
                f"Its first call was scheduled {format_duration(delay_ns)} after it was set, not "
                f"after its interval of {format_duration(timer.interval_ns)}."
            )
            reasons.append(Reason(text, armed.at_ns, armed.cursor))
        reasons += _wait(timeline, story, timer, added.cursor, added.at_ns, begun_ns)
    site = text_of(history, story.origin.a) if story.origin is not None else ""
    where = f" at {short_site(site)}" if site else ""
    frame = frame_at(timeline, added.at_ns)
    reasons.append(Reason(f"It was set{where}.", added.at_ns, added.cursor, frame=frame))
    return reasons


def _wait(  # noqa: PLR0913, PLR0917 - where the wait began, in three ways
    timeline: Timeline,
    story: TimerStory,
    timer: TimerRow,
    cursor: int,
    since_ns: int,
    local_since_ns: int | None,
) -> list[Reason]:
    """Return that less or more time passed on its clock than in the session, and why."""
    if local_since_ns is None:
        return []
    clock = timeline.clocks[timer.clock_id]
    passed_ns = timeline.at_ns - since_ns
    local_ns = timeline.local_ns(clock.id) - local_since_ns
    if abs(passed_ns - local_ns) < _SAME_NS:
        return []
    began = "it was set" if story.added is not None and cursor == story.added.cursor else "then"
    text = (
        f"Since {began}, {format_duration(passed_ns)} of session time has passed, and "
        f"{format_duration(local_ns)} on “{clock.name}”."
    )
    here = Reason(text, since_ns, cursor, clock_id=clock.id)
    return [here, *_changes(timeline, story, timer, since_ns)]


def _changes(timeline: Timeline, story: TimerStory, timer: TimerRow, since_ns: int) -> list[Reason]:
    """Return what was done to the clocks of a timer while it waited."""
    found: list[Reason] = []
    for clock in timeline.path(timer.clock_id):
        standing_ns = clock.paused_since_ns if clock.paused else None
        for kind, moment in story.changes.get(clock.id, ()):
            is_present = kind == CLOCK_PAUSED and moment.at_ns == standing_ns
            if is_present or not since_ns <= moment.at_ns <= timeline.at_ns:
                continue
            what, cause = _change_text(kind, moment)
            frame = frame_at(timeline, moment.at_ns)
            text = f"Meanwhile “{clock.name}” was {what}, {by_whom(timeline, cause)}."
            found.append(Reason(text, moment.at_ns, moment.cursor, clock.id, frame))
    return sorted(found, key=lambda reason: reason.at_ns)[-_MOST_CHANGES:]


def _change_text(kind: int, moment: Moment) -> tuple[str, int]:
    """Return what was done to a clock, and the cause."""
    if kind == CLOCK_PAUSED:
        return "paused", moment.a
    if kind == CLOCK_RATE:
        return f"set to rate {rate_text(moment.a)}", moment.b
    return "moved", 0
