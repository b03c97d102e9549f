"""What happened, in words: one sentence for every event."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import (
    NEVER,
    EventKind,
    Field,
    Life,
    MemberKind,
    Mode,
    Phase,
    Reading,
    TimerKind,
    rate_text,
    what_was_raised,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.vocabulary import RawEvent

#: Returns what the ``clock``, ``timer``, ``member`` or ``machine`` of a number is called,
#: with what it is; nothing if that is not known.
Naming: TypeAlias = Callable[[str, int], str]


def describe(event: RawEvent, strings: Sequence[str], naming: Naming | None = None) -> str:
    """Return one sentence that says what happened, without its instant.

    An event that makes no sense, as it may come from a damaged file, is shown with its
    numbers.

    Args:
        event: The event.
        strings: The string table of the log.
        naming: Says what things are called; by number (``clock 3``) where it is left out or
            does not know.
    """
    try:
        return _sentence(event, strings, _Names(naming))
    except (ValueError, IndexError):
        _, kind, subject, a, b = event
        return f"unknown event {kind} ({subject}, {a}, {b})"


class _Names:
    """What things are called; or their number, and the name that the event gives them."""

    __slots__ = ("_naming",)

    def __init__(self, naming: Naming | None) -> None:
        self._naming = naming

    def clock(self, number: int, name: str | None = None) -> str:
        return self._words("clock", number, name)

    def timer(self, number: int, name: str | None = None) -> str:
        return self._words("timer", number, name)

    def member(self, number: int, name: str | None = None) -> str:
        return self._words("member", number, name)

    def machine(self, number: int) -> str:
        return self._words("machine", number, None)

    def _words(self, what: str, number: int, name: str | None) -> str:
        known = "" if self._naming is None else self._naming(what, number)
        return known or (f"{what} {number}" if name is None else f"{what} {number} “{name}”")


def _sentence(  # noqa: C901, PLR0911, PLR0912
    event: RawEvent, strings: Sequence[str], the: _Names
) -> str:
    """Do what :func:`describe` does for an event that makes sense."""
    _, kind, subject, a, b = event
    match kind:
        case EventKind.CLOCK_ADDED:
            above = f" under {the.clock(a)}" if a else ""
            return f"{the.clock(subject, strings[b])} added{above}"
        case EventKind.CLOCK_ANCHORED:
            return f"{the.clock(subject)} starts at {format_instant(a)} with rate {rate_text(b)}"
        case EventKind.CLOCK_RATE:
            return f"{the.clock(subject)} now runs at rate {rate_text(a)}{_by(b)}"
        case EventKind.CLOCK_PAUSED:
            return f"{the.clock(subject)} paused{_by(a)}"
        case EventKind.CLOCK_RESUMED:
            return f"{the.clock(subject)} resumed{_by(a)}"
        case EventKind.CLOCK_MOVED:
            return f"{the.clock(subject)} moved under {the.clock(a)}"
        case EventKind.CLOCK_REMOVED:
            return f"{the.clock(subject)} removed with everything below it"
        case EventKind.TIMER_ADDED:
            return f"{the.timer(subject, strings[b])} scheduled on {the.clock(a)}"
        case EventKind.TIMER_ORIGIN:
            site = strings[a]
            return f"{the.timer(subject)} is a {TimerKind(b).text}" + (
                f", set at {site}" if site else ""
            )
        case EventKind.TIMER_ARMED:
            repeat = f", then every {format_duration(b)}" if b else ""
            return f"{the.timer(subject)} is due at local {format_instant(a)}{repeat}"
        case EventKind.TIMER_FIRED:
            late = f" {format_duration(a)} late" if a else ""
            again = "" if b == NEVER else f"; due again at local {format_instant(b)}"
            return f"{the.timer(subject)} fired{late}{again}"
        case EventKind.TIMER_CLEARED:
            site = f" at {strings[a]}" if a else ""
            return f"{the.timer(subject)} cleared{site}{_by(b)}"
        case EventKind.TICKS_MISSED:
            return f"{the.timer(subject)} left out {a} missed tick{'s' if a != 1 else ''}"
        case EventKind.FRAME_BEGAN:
            return f"frame {a} began, delta {format_duration(b)}"
        case EventKind.PHASE_ENDED:
            return f"frame {a}: {Phase(subject).text} took {format_duration(b)}"
        case EventKind.FRAME_ENDED:
            return f"frame ended: {format_duration(a)} since the last, {format_duration(b)} busy"
        case EventKind.DELTA_CUT:
            return f"{format_duration(a)} cut from the delta (longer than max_delta)"
        case EventKind.CALLBACK_FAILED:
            return f"“{strings[a]}” failed: {what_was_raised(strings[b])}"
        case EventKind.MARK:
            return f"mark: {strings[a]}"
        case EventKind.COMMAND:
            refusal = f" - refused: {strings[b]}" if b else ""
            return f"command {subject}: {strings[a]}{refusal}"
        case EventKind.TRANSPORT:
            return "running" if subject == Mode.RUNNING else "held"
        case EventKind.SCENE:
            return f"scene loaded: {strings[a]}" + (f" (reload {subject})" if subject else "")
        case EventKind.COMMAND_CONTEXT:
            about = f" about {the.clock(subject)}" if subject else ""
            return f"asked for by {strings[b] or 'the user'}{about}"
        case EventKind.BREAKPOINT_HIT:
            return f"breakpoint {subject} hit in frame {b}: {strings[a]}"
        case EventKind.READING:
            reading = Reading(subject)
            if reading >= Reading.SYNCED:
                return reading.text
            value = format_duration(a) if reading is Reading.PERIOD else format_instant(a)
            return f"{reading.text} {value}"
        case EventKind.COMMAND_FORM:
            return f"how command {subject} reads" if subject else "how the scene began"
        case EventKind.MEMBER_ADDED:
            above = f" under {the.member(a)}" if a else ""
            return f"{the.member(subject, strings[b])} added{above}"
        case EventKind.MEMBER_ORIGIN:
            return f"{the.member(subject)} is a {MemberKind(b).text} on {the.clock(a)}"
        case EventKind.MEMBER_SET:
            return f"{the.member(subject)}: {_field_text(Field(a), b, strings, the)}"
        case EventKind.MEMBER_MOVED:
            return f"{the.member(subject)} moved under {the.member(a)}"
        case EventKind.MEMBER_REMOVED:
            return f"{the.member(subject)} removed with everything below it"
        case EventKind.CALL_ENDED:
            return f"{the.member(subject)} was called, took {format_duration(b)}"
        case EventKind.STATE_ENTERED:
            return f"{the.machine(subject)} entered “{strings[a]}” by “{strings[b]}”"
        case EventKind.TRANSITION_REFUSED:
            return f"{the.machine(subject)} did not make “{strings[a]}”: {strings[b]}"
        case _:
            return f"unknown event {kind} ({subject}, {a}, {b})"


def _field_text(  # noqa: C901, PLR0911
    field: Field, value: int, strings: Sequence[str], the: _Names
) -> str:
    """Return what a field was set to, in words."""
    if field.is_text:
        return f"{field.text} “{strings[value]}”"
    match field:
        case Field.PAUSED:
            return f"paused{_by(value - 1)}" if value else "not paused"
        case Field.INTERVAL:
            return f"every {format_duration(value)}" if value else "every frame"
        case Field.DUE if value == NEVER:
            return "due at no instant"
        case Field.DUE | Field.TIME:
            return f"{field.text} {format_instant(value)}"
        case Field.REMAINING:
            return f"{format_duration(value)} left to wait"
        case Field.OWNER:
            return f"belongs to {the.member(value)}"
        case Field.CALLS_LEFT if value < 0:
            return "calls without end"
        case Field.RATE:
            return f"time scale {rate_text(value)}"
        case Field.LIFE:
            return Life(value).text
        case Field.PHASE:
            return f"called in {Phase(value).text}"
        case _:
            return f"{field.text} {value}"


def _by(cause: int) -> str:
    return f" by command {cause}" if cause else ""
