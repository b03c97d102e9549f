"""The fields that conditions can ask for: what an event says, by name.

A field that an event does not have is ``None``, and no comparison with it is true.
So ``lateness > 5ms`` is about firing timers only.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias

from inspector.events.member_names import MEMBER_NAMING_KINDS, MemberNames
from inspector.events.members import CLOCK_CALLS
from inspector.events.schema import ABOUT_CLOCKS, ABOUT_MEMBERS, ABOUT_TIMERS
from inspector.vocabulary import (
    NEVER,
    RATE_DENOMINATOR,
    EventKind,
    Field,
    MemberKind,
    Phase,
    TimerKind,
    what_was_raised,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from inspector.events.member_names import KnownMember
    from inspector.events.timeline import Timeline
    from inspector.vocabulary import RawEvent

#: A duration or instant in nanoseconds, another number, a text; or not there.
Value: TypeAlias = int | Fraction | str | None

#: Timers that are members: those of schedulers and tickers, loops, those of child clocks.
MEMBER_TIMERS: Final = CLOCK_CALLS | {MemberKind.FRAME_TIMER, MemberKind.TICKER_TIMER}


class FieldType(Enum):
    """What kind of value a field has."""

    DURATION = "duration"
    NUMBER = "number"
    TEXT = "text"


@dataclass(slots=True)
class KnownTimer:
    """What is remembered of a timer while it is pending.

    Attributes:
        label: Its name, or that of its callback.
        clock_id: The clock it waits on.
        fired: How often it has fired, the present firing included.
    """

    label: str
    clock_id: int
    fired: int = 0


class EventReader:
    """Goes through events in order and knows what their numbers stand for.

    Attributes:
        strings: The string table of the log.
        event: The present event.
        frame: Index of the frame that is under way or comes next.
    """

    def __init__(self, strings: Sequence[str], timeline: Timeline | None = None) -> None:
        """Begin with what a timeline knows, or with nothing.

        Args:
            strings: The string table of the log.
            timeline: The state before the first event.
        """
        self.strings = strings
        self.event: RawEvent = (0, 0, 0, 0, 0)
        self.frame = self._next_frame = 0
        self.clocks: dict[int, str] = {}
        self.timers: dict[int, KnownTimer] = {}
        self._members = MemberNames(strings)
        self._calls: dict[int, int] = {}
        self._gone_timer: tuple[int, KnownTimer] | None = None
        self._gone_members: list[int] = []
        if timeline is not None:
            self._learn(timeline)

    def _learn(self, timeline: Timeline) -> None:
        self.frame = self._next_frame = timeline.frames.end
        self.clocks = {clock.id: clock.name for clock in timeline.clocks.values()}
        for row in map(timeline.timers.row, timeline.timers.id):
            self.timers[row.id] = KnownTimer(row.label, row.clock_id, row.fired)
        for member in timeline.members.by_id.values():
            self._members.learn(member)
            self._calls[member.id] = member.calls

    def take(self, event: RawEvent) -> None:  # noqa: C901 - one case per kind
        """Make this the present event."""
        self.event = event
        self.frame = self._next_frame
        _, kind, subject, a, b = event
        if kind == EventKind.TIMER_FIRED:
            timer = self.timers.get(subject)
            if timer is not None:
                timer.fired += 1
                if b == NEVER:
                    self._forget_timer(subject)
        elif kind == EventKind.CALL_ENDED and subject in self._calls:
            self._calls[subject] += 1
        elif kind == EventKind.TIMER_ADDED:
            self.timers[subject] = KnownTimer(self.strings[b], a)
        elif kind == EventKind.TIMER_CLEARED:
            self._forget_timer(subject)
        elif kind == EventKind.FRAME_BEGAN:
            self.frame = self._next_frame = a
        elif kind == EventKind.FRAME_ENDED:
            # Timers that fire after a frame are charged to the next one.
            self._next_frame = self.frame + 1
            if self._gone_members:
                self._forget_members()
        elif kind == EventKind.CLOCK_ADDED:
            self.clocks[subject] = self.strings[b]
        elif kind in ABOUT_MEMBERS:
            self._take_member(event)

    def _take_member(self, event: RawEvent) -> None:
        _, kind, subject, _, _ = event
        if kind in MEMBER_NAMING_KINDS:
            self._members.note(event)
            if kind == EventKind.MEMBER_ADDED:
                self._calls[subject] = 0
        elif kind == EventKind.MEMBER_REMOVED:
            # The call in which it goes is still to end.
            self._gone_members.append(subject)

    def _forget_members(self) -> None:
        """Forget who has gone: with the frame every call in it is over."""
        for gone in self._gone_members:
            for number in self._members.forget(gone):
                self._calls.pop(number, None)
        self._gone_members.clear()

    def _forget_timer(self, number: int) -> None:
        timer = self.timers.pop(number, None)
        self._gone_timer = None if timer is None else (number, timer)

    # ----------------------------------------------------------------- subjects

    @property
    def timer(self) -> KnownTimer | None:
        """The timer that the present event is about, also when it is gone with it."""
        _, kind, subject, _, _ = self.event
        is_failure = kind == EventKind.CALLBACK_FAILED and subject
        if kind not in ABOUT_TIMERS and not is_failure:
            return None
        if self._gone_timer is not None and self._gone_timer[0] == subject:
            return self._gone_timer[1]
        return self.timers.get(subject)

    @property
    def member(self) -> KnownMember | None:
        """The member that the present event is about, also in the frame in which it goes."""
        _, kind, subject, _, _ = self.event
        return self._members.get(subject) if kind in ABOUT_MEMBERS else None

    @property
    def calls(self) -> int | None:
        """How often the member has been called whose call is over with the present event."""
        _, kind, subject, _, _ = self.event
        return self._calls.get(subject) if kind == EventKind.CALL_ENDED else None

    @property
    def clock_id(self) -> int:
        """The clock of the current event or of its subject; otherwise 0."""
        _, kind, subject, _, _ = self.event
        if kind in ABOUT_CLOCKS or kind == EventKind.MARK:
            return subject
        if (timer := self.timer) is not None:
            return timer.clock_id
        member = self.member
        return 0 if member is None else member.clock_id

    def naming(self, what: str, number: int) -> str:
        """Return what something is called; see :data:`~inspector.events.sentences.Naming`."""
        if what == "clock":
            name = self.clocks.get(number)
            return "" if name is None else f"clock “{name}”"
        if what == "timer":
            timer = self.timer if number == self.event[2] else self.timers.get(number)
            return "" if timer is None else f"timer “{timer.label}”"
        member = self._members.get(number)
        return "" if member is None else f"“{member.name}”"

    def text(self, number: int) -> str:
        """Return a text of the string table."""
        return self.strings[number]


@dataclass(frozen=True, slots=True)
class EventField:
    """A field of conditions.

    Attributes:
        name: How it is written.
        type: What kind of value it has.
        summary: A description for users.
        read: Takes it from the present event.
        choices: Every text that it can be, if those are known.
    """

    name: str
    type: FieldType
    summary: str
    read: Callable[[EventReader], Value]
    choices: frozenset[str] = frozenset()


def _of(kind: EventKind, place: int) -> Callable[[EventReader], Value]:
    """Return a reader of one of the numbers of a kind of event."""

    def read(reader: EventReader) -> Value:
        event = reader.event
        return event[place] if event[1] == kind else None

    return read


def _text_of(*places: tuple[EventKind, int]) -> Callable[[EventReader], Value]:
    """Return a reader of a text that several kinds of events carry."""
    by_kind = dict(places)

    def read(reader: EventReader) -> Value:
        place = by_kind.get(EventKind(reader.event[1])) if reader.event[1] in by_kind else None
        return None if place is None else reader.text(reader.event[place])

    return read


def _kind(reader: EventReader) -> Value:
    try:
        return EventKind(reader.event[1]).name.lower()
    except ValueError:
        return None


def _clock(reader: EventReader) -> Value:
    return reader.clocks.get(reader.clock_id)


def _timer(reader: EventReader) -> Value:
    if reader.timer is not None:
        return reader.timer.label
    member = reader.member
    return member.name if member is not None and member.kind in MEMBER_TIMERS else None


def _fired(reader: EventReader) -> Value:
    is_firing = reader.event[1] == EventKind.TIMER_FIRED
    return reader.timer.fired if is_firing and reader.timer is not None else None


def _member(reader: EventReader) -> Value:
    return None if reader.member is None else reader.member.name


def _calls(reader: EventReader) -> Value:
    return reader.calls


def _machine(reader: EventReader) -> Value:
    member = reader.member
    return member.name if member is not None and member.kind is MemberKind.MACHINE else None


def _rate(reader: EventReader) -> Value:
    _, kind, _, a, b = reader.event
    if kind == EventKind.CLOCK_RATE:
        return Fraction(a, RATE_DENOMINATOR)
    if kind == EventKind.MEMBER_SET and a == Field.RATE:
        return Fraction(b, RATE_DENOMINATOR)
    return None


def _phase(reader: EventReader) -> Value:
    _, kind, subject, _, _ = reader.event
    return Phase(subject).text if kind == EventKind.PHASE_ENDED else None


def _took(reader: EventReader) -> Value:
    _, kind, _, _, b = reader.event
    return b if kind in {EventKind.PHASE_ENDED, EventKind.CALL_ENDED} else None


def _timer_kind(reader: EventReader) -> Value:
    _, kind, _, _, b = reader.event
    return TimerKind(b).text if kind == EventKind.TIMER_ORIGIN else None


def _error(reader: EventReader) -> Value:
    _, kind, _, _, b = reader.event
    if kind != EventKind.CALLBACK_FAILED:
        return None
    return what_was_raised(reader.text(b))


_D, _N, _T = FieldType.DURATION, FieldType.NUMBER, FieldType.TEXT

#: Every field, in the order in which help shows them.
EVENT_FIELDS: Final = (
    EventField(
        "kind",
        _T,
        "what happened, such as timer_fired",
        _kind,
        frozenset(kind.name.lower() for kind in EventKind),
    ),
    EventField("at", _D, "session time of the event", lambda reader: reader.event[0]),
    EventField("frame", _N, "the frame it belongs to", lambda reader: reader.frame),
    EventField("clock", _T, "name of the clock, also of a timer's clock", _clock),
    EventField("timer", _T, "name of the timer, a scheduler's or ticker's too", _timer),
    EventField("lateness", _D, "how late a timer fired", _of(EventKind.TIMER_FIRED, 3)),
    EventField("fired", _N, "firings of the timer so far", _fired),
    EventField("missed", _N, "skipped ticks", _of(EventKind.TICKS_MISSED, 3)),
    EventField("delta", _D, "delta of the frame that begins", _of(EventKind.FRAME_BEGAN, 4)),
    EventField("interval", _D, "time from frame to frame", _of(EventKind.FRAME_ENDED, 3)),
    EventField(
        "busy", _D, "measured duration of the callbacks of a frame", _of(EventKind.FRAME_ENDED, 4)
    ),
    EventField("cut", _D, "time cut from a delta", _of(EventKind.DELTA_CUT, 3)),
    EventField(
        "phase", _T, "phase of the frame that ended", _phase, frozenset(p.text for p in Phase)
    ),
    EventField("took", _D, "measured duration of a phase or a call", _took),
    EventField("rate", _N, "the new rate of a clock or time scale", _rate),
    EventField("member", _T, "name of a target, a call, a component", _member),
    EventField("calls", _N, "number of calls", _calls),
    EventField("machine", _T, "name of the state machine", _machine),
    EventField("state", _T, "the state that is entered", _text_of((EventKind.STATE_ENTERED, 3))),
    EventField(
        "transition",
        _T,
        "the transition that is made or refused",
        _text_of((EventKind.STATE_ENTERED, 4), (EventKind.TRANSITION_REFUSED, 3)),
    ),
    EventField(
        "policy",
        _T,
        "kind of a timer that is set",
        _timer_kind,
        frozenset(kind.text for kind in TimerKind),
    ),
    EventField("error", _T, "the exception, with the first line of its message", _error),
    EventField(
        "text",
        _T,
        "text of a mark or a command",
        _text_of((EventKind.MARK, 3), (EventKind.COMMAND, 3)),
    ),
)

FIELDS_BY_NAME: Final = {field.name: field for field in EVENT_FIELDS}
