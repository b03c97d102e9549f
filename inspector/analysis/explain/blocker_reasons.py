"""Reasons for calls that are blocked or slowed, with the events that caused them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from inspector.analysis.clock_changes import change_at
from inspector.analysis.evidence import (
    Reason,
    by_whom,
    failure_before,
    find_event,
    frame_at,
    last_event,
    since_when,
    subject_of,
    when,
    who,
)
from inspector.analysis.explain.call_past import CallPast
from inspector.calls.blockers import Blocker, BlockerKind
from inspector.calls.call import Call
from inspector.clocks.rate import D
from inspector.display_text import listed
from inspector.events.history import History
from inspector.events.schema import ABOUT_FIELDS, Unit, kinds_with
from inspector.events.states import ClockState
from inspector.events.timeline import Timeline
from inspector.extensions import registry_of
from inspector.timebase import NS_PER_MS, format_duration
from inspector.vocabulary import Field, LifeCycle, Mode, rate_chip, ratio_text

#: Kinds of events with the first rate of a clock.
_BEGINNINGS: Final = kinds_with(b=Unit.RATE)
_CLOCKS: Final = frozenset({BlockerKind.CLOCK_PAUSED, BlockerKind.CLOCK_RATE, BlockerKind.DETACHED})

_LIFE_TEXTS: Final = {
    LifeCycle.NEW: "It is new: its node was never active.",
    LifeCycle.DISABLED: "It is disabled, or its node is not active.",
    LifeCycle.ENABLED: "It is enabled and starts in the next frame.",
    LifeCycle.DESTROYING: "It will be destroyed at the end of the frame.",
}


def ranked_blockers(call: Call) -> list[Blocker]:
    """Return what blocks a call, in the order in which a headline names it: life cycles last."""
    return sorted(call.blockers, key=lambda blocker: blocker.kind is BlockerKind.LIFE_CYCLE)


def blocker_reason(
    history: History, timeline: Timeline, call: Call, blocker: Blocker, cursor: int
) -> Reason:
    match blocker.kind:
        case BlockerKind.PAUSED:
            return _pause(history, timeline, blocker)
        case BlockerKind.TIME_SCALE:
            text = f"The time scale of “{blocker.name}” is 0."
            return _field_reason(history, timeline, blocker, text, Field.RATE, cursor)
        case BlockerKind.LIFE_CYCLE:
            text = _life_text(timeline, call, blocker)
            return _field_reason(history, timeline, blocker, text, Field.LIFE, cursor)
        case BlockerKind.CLOCK_PAUSED | BlockerKind.CLOCK_RATE:
            return _stopped_clock(history, timeline, blocker)
        case BlockerKind.DETACHED:
            return _detached(history, timeline, blocker)


def _pause(history: History, timeline: Timeline, blocker: Blocker) -> Reason:
    at_ns = blocker.since_ns or 0
    cursor = find_event(history, at_ns, ABOUT_FIELDS, blocker.member_id, Field.PAUSED)
    frame = frame_at(timeline, at_ns)
    kind = timeline.members.by_id[blocker.member_id].kind.text
    its = "It" if blocker.is_own else f"Its {kind} “{blocker.name}”"
    since = since_when(frame, at_ns)
    text = f"{its} has been paused since {since}, {by_whom(timeline, blocker.cause)}."
    return Reason(text, at_ns, cursor, frame=frame, member_id=blocker.member_id)


def _field_reason(  # noqa: PLR0913, PLR0917 - the text, and where to search for its event
    history: History, timeline: Timeline, blocker: Blocker, text: str, field: Field, cursor: int
) -> Reason:
    found = last_event(history, cursor, ABOUT_FIELDS, blocker.member_id, field)
    place, at_ns = (None, timeline.at_ns) if found is None else (found[0], found[1][0])
    return Reason(text, at_ns, place, member_id=blocker.member_id)


def _life_text(timeline: Timeline, call: Call, blocker: Blocker) -> str:
    known = blocker.life in set(LifeCycle)
    text = _LIFE_TEXTS[LifeCycle(blocker.life)] if known else f"Its state is {blocker.life}."
    if blocker.life == LifeCycle.ENABLED and call.scheduler_id:
        rules = timeline.members.field_text(call.scheduler_id, Field.RULES)
        for dialect in registry_of("component_dialects"):
            if dialect.title == rules and dialect.waiting_rule:
                text = f"{text[:-1]}: {rules} {dialect.waiting_rule}."
    if blocker.is_own:
        return text
    return f"“{blocker.name}” above it: {text[:1].lower()}{text[1:]}"


def _stopped_clock(history: History, timeline: Timeline, blocker: Blocker) -> Reason:
    at_ns, number = blocker.since_ns or 0, blocker.clock_id
    name = f"“{blocker.name}”"
    if not blocker.is_own:
        name += ", above its clock,"
    frame = frame_at(timeline, at_ns)
    subject = subject_of(timeline, blocker.cause)
    if blocker.kind is BlockerKind.CLOCK_PAUSED:
        cursor = change_at(history, at_ns, number, "pause")
        failed = "" if blocker.cause else failure_before(history, cursor)
        text = (
            f"{name} was paused right after “{failed}” failed."
            if failed
            else f"{subject} paused {name.removesuffix(',')}."
        )
    elif (cursor := change_at(history, at_ns, number, "rate")) is not None:
        text = f"{subject} set the rate of {name} to 0."
    elif (cursor := find_event(history, at_ns, _BEGINNINGS, number)) is not None:
        text = f"{name} has had rate 0 since it was created."
    else:
        cursor = change_at(history, at_ns, number, "pause")
        text = f"{name} has rate 0, and was also paused {when(frame, at_ns)}."
    return Reason(text, at_ns, cursor, clock_id=number, frame=frame)


def _detached(history: History, timeline: Timeline, blocker: Blocker) -> Reason:
    at_ns, number = blocker.since_ns or 0, blocker.clock_id
    mark = timeline.detachment(timeline.clocks[number])
    text = f"{blocker.text}." if mark is None else mark.text
    cursor = change_at(history, at_ns, number, "pause")
    return Reason(text, at_ns, cursor, clock_id=number, frame=frame_at(timeline, at_ns))


def stands_still(
    timeline: Timeline, blocker: Blocker, name: str, more: Sequence[str] = (), ago: str = ""
) -> str:
    """Return a sentence that the time of ``name`` stands still, with the clock that stops it.

    ``more`` are the names of further clocks above it that are stopped, and ``ago`` is how long it
    has been stopped, by default up to the timeline's present.
    """
    match blocker.kind:
        case BlockerKind.DETACHED:
            what = f"{name} is no longer attached"
        case BlockerKind.CLOCK_RATE:
            what = f"{name} has rate 0"
        case _:
            since_ns = timeline.at_ns - (blocker.since_ns or 0)
            ago = ago or (format_duration(since_ns) if since_ns >= NS_PER_MS else "")
            when = f"{ago} ago" if ago else "just now"
            what = f"{who(timeline, blocker.cause)} paused {name} {when}"
    are = "stands" if len(more) == 1 else "stand"
    above = f"; {listed(list(more))} above it {are} still, too" if more else ""
    return f"Its time stands still: {what}{above}."


def what_would_help(timeline: Timeline, call: Call, fires: str) -> str:
    """Return a sentence on what has to change before a call on a stopped clock ``fires``."""
    clocks = [blocker for blocker in call.blockers if blocker.kind in _CLOCKS]
    frozen = [f"“{each.name}”" for each in clocks if each.kind is BlockerKind.CLOCK_RATE]
    paused = [f"“{each.name}”" for each in clocks if each.kind is BlockerKind.CLOCK_PAUSED]
    fire = "fire" if fires == "fires" else "be called"
    if any(each.kind is BlockerKind.DETACHED for each in clocks):
        return "What it has done since then is unknown."
    if frozen:
        gets = "gets" if len(frozen) == 1 else "get"
        return f"It cannot {fire} before {listed(frozen, len(frozen))} {gets} a rate above 0."
    names, are = listed(paused, len(paused)), "is" if len(paused) == 1 else "are"
    if not call.waits_on_clock or call.left_ns is None or len(clocks) < len(call.blockers):
        return f"Its time does not pass until {names} {are} resumed."
    rate = Fraction(1)
    for clock in timeline.path(call.clock_id):
        rate *= clock.rate
    if not rate:
        return f"It cannot {fire}: a paused clock above it also has rate 0."
    after_ns = -(-max(call.left_ns, 0) * rate.denominator // rate.numerator)
    return f"It {fires} {format_duration(after_ns)} after {names} {are} resumed."


def rate_reasons(timeline: Timeline, past: CallPast, clock_id: int) -> list[Reason]:
    """Return a reason for every clock up to the root that does not run at rate 1."""
    return [
        _rated(timeline, past, clock) for clock in timeline.path(clock_id) if clock.n not in {0, D}
    ]


def _rated(timeline: Timeline, past: CallPast, clock: ClockState) -> Reason:
    text = f"“{clock.name}” runs at {rate_chip(clock.n)}"
    change = past.rates.get(clock.id)
    if change is not None:
        frame = frame_at(timeline, change.at_ns)
        since = since_when(frame, change.at_ns)
        text = f"{text} since {since}, set {by_whom(timeline, change.cause or 0)}."
        return Reason(text, change.at_ns, change.cursor, clock_id=clock.id, frame=frame)
    since = " since it was created" if past.first == 0 else ""
    return Reason(f"{text}{since}.", clock.created_ns, None, clock_id=clock.id)


def slowness(timeline: Timeline, clock_id: int, took_ns: int) -> str:
    """Return a sentence on how much session time a wait in local time takes."""
    effective = ratio_text(timeline.effective_rate(clock_id))
    took = format_duration(took_ns)
    return f"At an effective rate of {effective} that takes {took} of session time."


def is_held(timeline: Timeline, past: CallPast) -> bool:
    """Return whether the session is held; a program counts as running before any event on it."""
    held = past.transport
    was_held = bool(timeline.scene_path) or (held is not None and held.a == Mode.HELD)
    return was_held and not timeline.is_running


def held_reason(timeline: Timeline, past: CallPast) -> Reason | None:
    if not is_held(timeline, past):
        return None
    text = "The session is held: nothing is called until it is run or stepped."
    held = past.transport
    if held is None or held.a != Mode.HELD:
        return Reason(text, timeline.at_ns)
    return Reason(text, held.at_ns, held.cursor)
