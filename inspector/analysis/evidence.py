"""Explanations: sentences, each with the event that proves it."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Final

from inspector.calls.call import Call
from inspector.commands.command import Command, command_in
from inspector.events.history import History
from inspector.events.schema import ADDED, COMMAND_FORMS, COMMANDS, FAILURES, FRAME_STARTS, Unit
from inspector.events.timeline import Timeline
from inspector.timebase import format_instant
from inspector.vocabulary import RawEvent

#: Events searched on either side of an instant.
NEARBY: Final = 20_000
#: Events searched backwards for a name that the state no longer has.
_NAMES_BACK: Final = 200_000
#: The most events between a command and its effect.
_COMMAND_BACK: Final = 6


@dataclass(frozen=True, slots=True)
class Reason:
    text: str
    at_ns: int
    cursor: int | None = None  # Its event in the log; None when it follows from the state
    clock_id: int = 0
    frame: int | None = None  # Index of the frame it is about, None for none
    member_id: int = 0
    timer_id: int = 0  # Another timer that it refers to
    again_ns: tuple[int, ...] = ()  # Later instants at which the same happened
    is_number: bool = False  # Whether it only repeats in words the numbers shown for the call
    helps_against: str = ""  # If the text is advice: the function that kept the loop, “crunch()”


@dataclass(frozen=True, slots=True)
class Explanation:
    subject: str
    headline: str  # The answer in one sentence
    # The evidence. Reasons why the call is stopped are newest first, those of a delay oldest first.
    reasons: tuple[Reason, ...]
    is_delayed: bool = False  # Whether it fires later than if its time passed like session time
    kind: str = ""  # What kind of call it is or was, empty if unknown
    name: str = ""
    clock_id: int = 0

    def lines(self) -> list[str]:
        """Return the explanation as text, each reason with its instant and event."""
        lines = [f"{self.subject}: {self.headline}"]
        for reason in self.reasons:
            if reason.cursor is None and reason.text == self.headline:
                continue
            event = "" if reason.cursor is None else f"event {reason.cursor:,}"
            frame = "" if reason.frame is None else f"frame {reason.frame:,}"
            if frame in reason.text or frame.capitalize() in reason.text:
                frame = ""
            found = ", ".join(filter(None, (event, frame)))
            proof = f"  [{found}]" if event else ""
            helps = "What helps: " if reason.helps_against else ""
            lines.append(f"  {format_instant(reason.at_ns)}  {helps}{reason.text}{proof}")
        return lines

    @classmethod
    def of_call(
        cls, call: Call, headline: str, reasons: Iterable[Reason], *, is_delayed: bool = False
    ) -> Explanation:
        kind = call.kind.text if call.id.is_member else "timer"
        known = kind, call.name, call.clock_id
        return cls(call.title, headline, tuple(reasons), is_delayed, *known)


def missing_text(history: History, at_ns: int) -> str:
    """Return a sentence if the state at an instant is unknown; empty if it is known."""
    span = history.unknown_around(at_ns)
    if span is None:
        return ""
    since, until = map(format_instant, span)
    return (
        f"Some events between {since} and {until} are missing, so the state at "
        f"{format_instant(at_ns)} is unknown."
    )


def text_of(history: History, sid: int) -> str:
    """Return a text by its number; ``?`` if it is missing in a damaged file."""
    return history.strings[sid] if 0 <= sid < len(history.strings) else "?"


def frame_at(timeline: Timeline, at_ns: int) -> int | None:
    """Return the frame that an instant belongs to; ``None`` in a program without frames.

    It may be the next frame, which has not begun; see :meth:`.FrameHistory.frame_at`.
    """
    frames = timeline.frames
    if not frames.end and not timeline.scene_path:
        return None
    return frames.frame_at(at_ns)


def since_when(frame: int | None, at_ns: int) -> str:
    """Return an instant in words, as its frame if it has one: ``frame 12``, ``00:01.250``."""
    return format_instant(at_ns) if frame is None else f"frame {frame:,}"


def when(frame: int | None, at_ns: int) -> str:
    """Return when, by the frame if there is one: ``in frame 12``, ``at 00:01.250``."""
    return f"{'at' if frame is None else 'in'} {since_when(frame, at_ns)}"


def frame_after(history: History, cursor: int, end: int) -> int | None:
    for event in history.events(cursor, min(end, cursor + NEARBY)):
        if event[1] in FRAME_STARTS:
            return event[3]
    return None


def find_event(
    history: History, at_ns: int, kinds: Container[int], subject: int, a: int | None = None
) -> int | None:
    first = history.cursor_at(at_ns - 1)
    found = last_event(history, history.cursor_at(at_ns), kinds, subject, a, first=first)
    return None if found is None else found[0]


def last_event(  # noqa: PLR0913 - what to search for, and where
    history: History,
    cursor: int,
    kinds: Container[int],
    subject: int,
    a: int | None = None,
    *,
    first: int = 0,
) -> tuple[int, RawEvent] | None:
    """Return the last event of some kinds about a subject, unless it is too far before a cursor."""
    first = max(first, history.first, cursor - _NAMES_BACK)
    while cursor > first:
        start = max(first, cursor - NEARBY)
        cursors, events = history.numbered(start, cursor)
        for place, event in zip(reversed(cursors), reversed(events), strict=True):
            if event[2] == subject and event[1] in kinds and a in {None, event[3]}:
                return place, event
        cursor = start
    return None


def event_at(history: History, cursor: int) -> RawEvent | None:
    found = history.events(cursor, cursor + 1)
    return found[0] if found else None


def by_whom(timeline: Timeline, cause: int) -> str:
    """Return ``by the program``, or ``by command 3 (pause “game”)`` for its number."""
    if not cause:
        return f"by {who(timeline, cause)}"
    record = next((each for each in reversed(timeline.commands) if each.number == cause), None)
    if record is None:
        return f"by command {cause}"
    asked = f", requested by {record.by}" if record.by else ""
    return f"by command {cause} ({record.text}){asked}"


def who(timeline: Timeline, cause: int) -> str:
    """Return who made a change: the program, you, or another origin of commands."""
    if not cause:
        return "the program"
    record = next((each for each in reversed(timeline.commands) if each.number == cause), None)
    return f"command {cause}" if record is None else record.by or "you"


def subject_of(timeline: Timeline, cause: int) -> str:
    """Return who made a change, as the beginning of a sentence."""
    name = who(timeline, cause)
    return name[:1].upper() + name[1:]


def command_behind(
    history: History, cursor: int, command: type[Command], until: Container[int] = ()
) -> tuple[int, str] | None:
    """Return the cursor and the text of the command of a kind that caused an event, if any.

    The search ends at events of the kinds in ``until``, which never lie between a command and its
    effect.
    """
    form = ""
    for place in range(cursor - 1, cursor - 1 - _COMMAND_BACK, -1):
        event = event_at(history, place)
        if event is None or event[1] in until:
            break
        if event[1] in COMMAND_FORMS:
            form = text_of(history, event[3])
        elif event[1] in COMMANDS:
            if event[4] or not isinstance(command_in(form), command):
                break
            return place, f"command {event[2]} ({text_of(history, event[3])})"
    return None


def failure_before(history: History, cursor: int | None) -> str:
    """Return the name of the callback that failed right before an event; empty for none."""
    before = event_at(history, cursor - 1) if cursor else None
    return "" if before is None or before[1] not in FAILURES else text_of(history, before[3])


def timer_label(history: History, timeline: Timeline, timer_id: int, cursor: int) -> str:
    if timer_id in timeline.timers:
        return f"“{timeline.timers.row(timer_id).label}”"
    found = last_event(history, cursor, {ADDED[Unit.TIMER]}, timer_id)
    return f"timer {timer_id}" if found is None else f"“{text_of(history, found[1][4])}”"


def times(count: int) -> str:
    """Return ``once``, ``twice``, ``3 times``."""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")
