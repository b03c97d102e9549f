"""Why a clock stands still or is slow, with the events that made it so."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from inspector.analysis.evidence import (
    Reason,
    by_whom,
    find_event,
    frame_at,
    listed,
    pauser,
    ratio_text,
)
from inspector.clocks.rate import D
from inspector.timebase import format_duration
from inspector.vocabulary import CLOCK_ANCHORED, CLOCK_PAUSED, CLOCK_RATE, Mode, rate_text

if TYPE_CHECKING:
    from inspector.analysis.explain.timer_story import TimerStory
    from inspector.events.history import History
    from inspector.events.states import ClockState, PauseReason
    from inspector.events.timeline import Timeline


def standing_reasons(history: History, timeline: Timeline, clock_id: int) -> list[Reason]:
    """Return every clock that makes one stand still, the nearest first; none if it runs."""
    return [
        _standing(history, timeline, reason, clock_id)
        for reason in timeline.pause_reasons(clock_id)
    ]


def _standing(history: History, timeline: Timeline, reason: PauseReason, clock_id: int) -> Reason:
    at_ns, number = reason.since_ns, reason.clock_id
    name = f"“{reason.clock_name}”"
    if number != clock_id:
        name += ", above its clock,"
    frame = frame_at(timeline, at_ns)
    if reason.is_rate_zero:
        cursor = find_event(history, at_ns, CLOCK_RATE, number)
        made = find_event(history, at_ns, CLOCK_ANCHORED, number)
        if cursor is not None:
            who = by_whom(timeline, reason.cause)
            text = f"{name} has had rate 0 since frame {frame:,}, set {who}."
        elif made is not None:
            cursor = made
            text = f"{name} has had rate 0 since it was made."
        else:
            cursor = find_event(history, at_ns, CLOCK_PAUSED, number)
            text = f"{name} has rate 0, and was also paused in frame {frame:,}."
    else:
        cursor = find_event(history, at_ns, CLOCK_PAUSED, number)
        who = pauser(history, timeline, cursor, reason.cause)
        text = f"{name} has been paused since frame {frame:,}, {who}."
    return Reason(text, at_ns, cursor, clock_id=number, frame=frame)


def what_would_help(timeline: Timeline, clock_id: int, left_ns: int, verb: str = "fires") -> str:
    """Return in a sentence what has to change before something is called.

    Args:
        timeline: The state.
        clock_id: A clock that stands still.
        left_ns: Local time that is left, then.
        verb: What it does then.
    """
    reasons = timeline.pause_reasons(clock_id)
    frozen = [f"“{reason.clock_name}”" for reason in reasons if reason.is_rate_zero]
    paused = [f"“{reason.clock_name}”" for reason in reasons if not reason.is_rate_zero]
    bare = verb.removesuffix("s")
    if frozen:
        gets = "gets" if len(frozen) == 1 else "get"
        return f"It cannot {bare} before {listed(frozen, len(frozen))} {gets} a rate above 0."
    rate = Fraction(1)
    for clock in timeline.path(clock_id):
        rate *= clock.rate
    if not rate:
        return f"It cannot {bare}: a paused clock above it also has rate 0."
    after_ns = -(-max(left_ns, 0) * rate.denominator // rate.numerator)
    be = "is" if len(paused) == 1 else "are"
    names = listed(paused, len(paused))
    return f"It {verb} {format_duration(after_ns)} after {names} {be} resumed."


def rate_reasons(timeline: Timeline, story: TimerStory, clock_id: int) -> list[Reason]:
    """Return every clock on the way to the root that does not run at rate 1."""
    return [
        _rated(timeline, story, clock) for clock in timeline.path(clock_id) if clock.n not in {0, D}
    ]


def _rated(timeline: Timeline, story: TimerStory, clock: ClockState) -> Reason:
    text = f"“{clock.name}” runs at rate {rate_text(clock.n)}"
    change = story.rates.get(clock.id)
    if change is not None:
        frame = frame_at(timeline, change.at_ns)
        text = f"{text} since frame {frame:,}, set {by_whom(timeline, change.b)}."
        return Reason(text, change.at_ns, change.cursor, clock_id=clock.id, frame=frame)
    since = " since it was made" if story.first == 0 else ""
    return Reason(f"{text}{since}.", clock.created_ns, None, clock_id=clock.id)


def slowness(timeline: Timeline, clock_id: int, took_ns: int) -> str:
    """Return in a sentence how long local time takes in session time."""
    effective = ratio_text(timeline.effective_rate(clock_id))
    took = format_duration(took_ns)
    return f"At an effective rate of {effective} that takes {took} of session time."


def held_reason(timeline: Timeline, story: TimerStory) -> Reason | None:
    """Return that the session is held, and since when; ``None`` if it runs."""
    if timeline.is_running:
        return None
    text = "The session is held: it fires after that much session time."
    held = story.transport
    if held is None or held.a != Mode.HELD:
        return Reason(text, timeline.at_ns)
    return Reason(text, held.at_ns, held.cursor)
