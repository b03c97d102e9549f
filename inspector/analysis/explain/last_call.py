"""The last call of a timer or member, and what happened while it waited."""

from __future__ import annotations

from typing import Final

from inspector.analysis.clock_changes import ClockChange
from inspector.analysis.evidence import (
    Reason,
    find_event,
    frame_at,
    last_event,
    subject_of,
    text_of,
    times,
    when,
)
from inspector.analysis.explain.call_past import CallPast, Stretch
from inspector.analysis.explain.lateness import lateness_reasons, repetition_reasons, ties_before
from inspector.calls.call import Call, short_site
from inspector.events.history import History
from inspector.events.schema import ADDED, CALLS, Unit
from inspector.events.timeline import Timeline
from inspector.timebase import NS_PER_MS, format_duration, late_text
from inspector.vocabulary import (
    RATE_DENOMINATOR,
    STATE_ENTERED,
    MemberKind,
    rate_chip,
    what_was_raised,
)

#: Smaller differences between session and local time may be due to rounding.
_SAME_NS: Final = NS_PER_MS
#: The most pauses, rates and moves of its clocks to list.
_MOST_STRETCHES: Final = 6


def member_past(history: History, timeline: Timeline, past: CallPast) -> list[Reason]:
    """Return how often a member was called, and its last call."""
    member = timeline.members.by_id[past.id.number]
    if not member.calls:
        text = "It has not been called since it was added."
        cursor = find_event(history, member.added_ns, {ADDED[Unit.MEMBER]}, member.id)
        return [Reason(text, member.added_ns, cursor)]
    text = f"It was called {times(member.calls)}"
    last = last_event(history, past.cursor, CALLS, member.id)
    if last is None:
        return [Reason(f"{text}.", timeline.at_ns)]
    cursor, (at_ns, *_) = last
    frame = frame_at(timeline, at_ns)
    text += f", the last time {when(frame, at_ns)}; that took {format_duration(member.took_ns)}."
    return [Reason(text, at_ns, cursor, frame=frame)]


def state_reasons(history: History, timeline: Timeline, number: int) -> list[Reason]:
    """Return the state of a machine, or of a transition's machine, with the instant it began."""
    member = timeline.members.by_id[number]
    is_edge = member.kind is MemberKind.EDGE
    machine_id = member.parent_id if is_edge else number
    entered = timeline.members.histories.get(machine_id)
    if entered is None or not len(entered):
        return []
    at_ns, strings = entered.at_ns[-1], history.strings
    text = f"{'The machine' if is_edge else 'It'} is in the state “{strings[entered.state[-1]]}”"
    if entered.transition[-1]:
        text += f", by “{strings[entered.transition[-1]]}”"
    cursor = find_event(history, at_ns, {STATE_ENTERED}, machine_id)
    frame = frame_at(timeline, at_ns)
    return [Reason(f"{text}.", at_ns, cursor, frame=frame, member_id=machine_id)]


def timer_past(history: History, timeline: Timeline, past: CallPast, fired: int) -> list[Reason]:
    """Return how often a timer fired, how its last call went, and what failed."""
    reasons: list[Reason] = []
    last = past.last
    if last is not None:
        late = lateness_reasons(history, timeline, past, last)
        on_time = "" if late else f", {late_text(last.late_ns)}"
        frame = frame_at(timeline, last.at_ns)
        count = times(fired) if fired else "never"
        text = f"It has fired {count}, the last time {when(frame, last.at_ns)}{on_time}."
        reasons.append(Reason(text, last.at_ns, last.cursor, frame=frame))
        reasons += late
        reasons += repetition_reasons(history, past, past.cursor)
        if not late:
            reasons += ties_before(history, timeline, past)
    elif fired:
        text = f"It has fired {times(fired)}, before the oldest event in the log."
        reasons.append(Reason(text, history.first_ns))
    if past.missed is not None:
        policy = "its policy" if past.kind is None else f"its kind “{past.kind.text}”"
        count = (
            "1 late tick was"
            if past.ticks_missed == 1
            else (f"{past.ticks_missed:,} late ticks were")
        )
        text = f"{count} skipped, as {policy} requires; {past.missed.a:,} the last time."
        reasons.append(Reason(text, past.missed.at_ns, past.missed.cursor))
    return reasons + failure_reasons(history, past)


def failure_reasons(history: History, past: CallPast) -> list[Reason]:
    failed = past.failed
    if failed is None:
        return []
    error = what_was_raised(text_of(history, failed.b))
    again = f" {times(past.failures)}, the last time" if past.failures > 1 else ""
    return [Reason(f"Its callback raised{again}: {error}", failed.at_ns, failed.cursor)]


def timer_origin(
    history: History, timeline: Timeline, past: CallPast, call: Call, *, is_open: bool
) -> list[Reason]:
    """Return where a timer was set, and what happened to its clocks while it waited."""
    added, armed, last = past.added, past.armed, past.last
    if is_open and last is not None:
        local_ns = last.due_ns
        if local_ns is not None and not timeline.scene_path:
            # An event of a scene has the instant at which the timer was due, one of an attached
            # program that of the call.
            local_ns += last.late_ns
        elif last.late_ns < 0 or last.next_ns == last.due_ns:
            # It was called before it was due, so the state then tells its local time.
            then = history.state_at(last.at_ns)
            there = call.clock_id in then.clocks
            local_ns = then.local_ns(call.clock_id) if there else None
        return _wait(timeline, past, call, last.cursor, last.at_ns, local_ns)
    if added is None or armed is None:
        return []
    reasons: list[Reason] = []
    begun_ns = past.begun_ns(history, call.clock_id)
    site = text_of(history, past.origin.a) if past.origin is not None else ""
    text = f"It was set at {short_site(site)}" if site else "It was set"
    if begun_ns is not None:
        delay_ns, clock = armed.a - begun_ns, timeline.clocks[call.clock_id]
        text += f", for {format_duration(delay_ns)} of “{clock.name}”"
        if call.interval_ns and delay_ns != call.interval_ns and not past.fired:
            text += f", not for its interval of {format_duration(call.interval_ns)}"
        reasons += _wait(timeline, past, call, added.cursor, added.at_ns, begun_ns)
    frame = frame_at(timeline, added.at_ns)
    return [Reason(f"{text}.", added.at_ns, added.cursor, frame=frame), *reasons]


def _wait(  # noqa: PLR0913, PLR0917 - the beginning of the wait, in three units
    timeline: Timeline,
    past: CallPast,
    call: Call,
    cursor: int,
    since_ns: int,
    local_since_ns: int | None,
) -> list[Reason]:
    """Return why less or more time passed on its clock than in the session, if so."""
    if local_since_ns is None:
        return []
    clock = timeline.clocks[call.clock_id]
    passed_ns = timeline.at_ns - since_ns
    local_ns = timeline.local_ns(clock.id) - local_since_ns
    if abs(passed_ns - local_ns) < _SAME_NS:
        return []
    is_first = past.added is not None and cursor == past.added.cursor
    began = "it was set" if is_first else "its last call"
    text = (
        f"Since {began}, {format_duration(passed_ns)} of session time has passed, and "
        f"{format_duration(local_ns)} on “{clock.name}”."
    )
    here = Reason(text, timeline.at_ns, clock_id=clock.id)
    return [*_stretches(timeline, past, call, since_ns), here]


def _stretches(timeline: Timeline, past: CallPast, call: Call, since_ns: int) -> list[Reason]:
    """Return the pauses, rates and moves with most effect, in order of time; count the others."""
    at_ns, count = timeline.at_ns, 0
    ranked: list[tuple[tuple[int, bool, int], Stretch, str]] = []
    for clock in timeline.path(call.clock_id):
        current_ns = clock.paused_since_ns if clock.n == 0 else None
        mine = [
            (each, effect_ns)
            for each in past.stretches.get(clock.id, ())
            if each.change.at_ns <= at_ns
            and ((effect_ns := each.effect_ns(since_ns, at_ns)) or each.change.at_ns >= since_ns)
            and (each.change.at_ns >= since_ns or each.end_ns is not None)
        ]
        # The numbers of stretches also count those that were not kept.
        count += mine[-1][0].number - mine[0][0].number + 1 if mine else 0
        for each, effect_ns in mine:
            if each.change.kind != "move" and each.change.at_ns == current_ns:
                # The stretch that stops the clock at present is listed as a separate reason.
                count -= 1
                continue
            rank = effect_ns, each.change.kind == "move", each.change.cursor
            ranked.append((rank, each, clock.name))
    listed = sorted(ranked, reverse=True, key=lambda each: each[0])[:_MOST_STRETCHES]
    listed.sort(key=lambda each: each[1].change.cursor)
    alike: dict[tuple[object, ...], list[Stretch]] = {}
    for _, each, name in listed:
        change, lasted_ns = each.change, _lasted_ns(timeline, each)
        # Stretches of a different order of magnitude are listed separately, so that a long pause
        # is not hidden among short ones.
        magnitude = -1 if lasted_ns is None else len(str(lasted_ns))
        who = subject_of(timeline, change.cause or 0)
        key = name, change.kind, change.speed_n, who, magnitude
        alike.setdefault(key, []).append(each)
    reasons = [_alike(timeline, each) for each in alike.values()]
    reasons += _overlap([each for _, each, _ in listed], since_ns, at_ns)
    more = count - len(listed)
    if more:
        what = "was 1 more change" if more == 1 else f"were {more:,} more changes"
        reasons.append(Reason(f"There {what} of these clocks, none of greater effect.", at_ns))
    return reasons


def _overlap(stretches: list[Stretch], since_ns: int, at_ns: int) -> list[Reason]:
    """Return how much time stretches cover together, if some of them overlap."""
    spans = sorted(
        (max(each.change.at_ns, since_ns), at_ns if each.end_ns is None else each.end_ns)
        for each in stretches
    )
    covered_ns = lasted_ns = 0
    reached_ns = since_ns
    for begin_ns, end_ns in spans:
        lasted_ns += max(0, end_ns - begin_ns)
        covered_ns += max(0, end_ns - max(begin_ns, reached_ns))
        reached_ns = max(reached_ns, end_ns)
    if lasted_ns - covered_ns < _SAME_NS:
        return []
    return [Reason(f"Overlaps counted once: {format_duration(covered_ns)}.", at_ns)]


def _lasted_ns(timeline: Timeline, stretch: Stretch) -> int | None:
    """Return how long a stretch was; ``None`` while it lasts, and for moves, which end at once."""
    begin_ns, end_ns = stretch.change.at_ns, stretch.end_ns
    is_over = end_ns is not None and begin_ns < end_ns <= timeline.at_ns
    return end_ns - begin_ns if is_over and end_ns is not None else None


def _alike(timeline: Timeline, stretches: list[Stretch]) -> Reason:
    """Return changes of one kind, of the same clock and by the same origin, as a sentence."""
    first, name = stretches[0], timeline.clocks[stretches[0].change.clock_id].name
    change = first.change
    text = f"{subject_of(timeline, change.cause or 0)} {_done(change, name)}"
    lasted = [ns for each in stretches if (ns := _lasted_ns(timeline, each)) is not None]
    if lasted:
        # A comma keeps a rate and a count from being read as one number.
        comma = "," if change.kind == "rate" else ""
        if len(lasted) == 1:
            text += f" for {format_duration(lasted[0])}"
        elif len(set(lasted)) == 1:
            text += f"{comma} {times(len(lasted))}, for {format_duration(lasted[0])} each time"
        else:
            text += f"{comma} {times(len(lasted))}, for {format_duration(sum(lasted))} in all"
    again = tuple(each.change.at_ns for each in stretches[1:])
    frame = frame_at(timeline, change.at_ns)
    return Reason(f"{text}.", change.at_ns, change.cursor, change.clock_id, frame, again_ns=again)


def _done(change: ClockChange, name: str) -> str:
    if change.kind != "rate":
        return f"{change.text} “{name}”"
    verb = "slowed" if change.speed_n < RATE_DENOMINATOR else "sped up"
    return f"{verb} “{name}” to {rate_chip(change.speed_n)}"
