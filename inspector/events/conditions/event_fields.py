"""The fields that conditions can ask for: what an event says, by name.

A field that an event does not have is ``None``, and no comparison with it is true.
So ``lateness > 5ms`` is about firing timers only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from fractions import Fraction
from typing import Final, TypeAlias

from msgspec import Struct

from inspector.events.handlers import handlers_of
from inspector.events.member_names import MEMBER_NAMING_KINDS, KnownMember, MemberNames
from inspector.events.members import TIMED_CALLS
from inspector.events.schema import (
    ABOUT_MEMBERS,
    CALLS,
    FIRINGS,
    FRAME_ENDS,
    LOOP_ENDS,
    MAY_BE_ABOUT_CLOCKS,
    MAY_BE_ABOUT_TIMERS,
    SCHEMA,
    Unit,
)
from inspector.events.timeline import Timeline
from inspector.vocabulary import (
    NEVER,
    RATE_DENOMINATOR,
    SAMPLED,
    SAW_BETWEEN_TURNS,
    SAW_END,
    EventKind,
    Field,
    MemberKind,
    Phase,
    RawEvent,
    SampleForm,
    TimerKind,
    what_was_raised,
)

#: A duration or instant in nanoseconds, another number or a text; ``None`` if absent.
Value: TypeAlias = int | Fraction | str | None


class FieldType(Enum):
    DURATION = "duration"
    NUMBER = "number"
    TEXT = "text"


class KnownTimer(Struct):
    label: str
    clock_id: int
    fired: int = 0  # How often it has fired, the present firing included


class EventReader:
    """Reads events in order and resolves the numbers in them."""

    def __init__(self, strings: Sequence[str], timeline: Timeline | None = None) -> None:
        self.strings = strings
        self.event: RawEvent = (0, 0, 0, 0, 0)
        self.frame = self._next_frame = 0  # Index of the running or next frame
        self.clocks: dict[int, str] = {}
        self.timers: dict[int, KnownTimer] = {}
        self._members = MemberNames(strings)
        self._calls: dict[int, int] = {}
        self._loops: set[int] = set()
        self._turns: dict[int, int] = {}
        self._gone_timer: tuple[int, KnownTimer] | None = None
        self._gone_members: list[int] = []
        self._steps = handlers_of(self)
        if timeline is not None:
            self._learn(timeline)

    def _learn(self, timeline: Timeline) -> None:
        self.frame = self._next_frame = timeline.frames.end
        self.clocks = {clock.id: clock.name for clock in timeline.clocks.values()}
        for row in map(timeline.timers.row, timeline.timers.id):
            self.timers[row.id] = KnownTimer(row.label, row.clock_id, row.fired)
        self._loops = set(timeline.loops)
        for member in timeline.members.by_id.values():
            self._members.learn(member)
            self._calls[member.id] = member.calls

    def fold(self, event: RawEvent) -> None:
        self.event = event
        self.frame = self._next_frame
        at_ns, kind, subject, a, b = event
        step = self._steps.get(kind)
        if step is not None:
            step(at_ns, subject, a, b)
        elif kind in MEMBER_NAMING_KINDS:
            self._members.note(event)

    def _on_clock_added(self, _at_ns: int, clock_id: int, _parent: int, name: int) -> None:
        self.clocks[clock_id] = self.strings[name]

    def _on_timer_added(self, _at_ns: int, timer_id: int, clock_id: int, name: int) -> None:
        self.timers[timer_id] = KnownTimer(self.strings[name], clock_id)

    def _on_timer_fired(self, _at_ns: int, timer_id: int, _late_ns: int, next_ns: int) -> None:
        timer = self.timers.get(timer_id)
        if timer is not None:
            timer.fired += 1
            if next_ns == NEVER:
                self._forget_timer(timer_id)

    def _on_timer_cleared(self, _at_ns: int, timer_id: int, _site: int, _cause: int) -> None:
        self._forget_timer(timer_id)

    def _on_frame_began(self, _at_ns: int, _director: int, index: int, _delta_ns: int) -> None:
        self.frame = self._next_frame = index

    def _on_frame_ended(self, _at_ns: int, _director: int, _since_ns: int, _busy_ns: int) -> None:
        # Timers that fire after a frame are charged to the next one.
        self._next_frame = self.frame + 1
        if self._gone_members:
            self._forget_members()

    def _on_loop_found(self, _at_ns: int, clock_id: int, _name: int, _kind: int) -> None:
        self._loops.add(clock_id)

    def _on_sampled(self, at_ns: int, clock_id: int, covers_ns: int, form: int) -> None:
        seen = SampleForm.of(form)
        if not seen.number and not seen.flags & (SAW_END | SAW_BETWEEN_TURNS):
            self._turns[clock_id] = at_ns - covers_ns

    def _on_call_ended(self, _at_ns: int, number: int, _began_ns: int, _took_ns: int) -> None:
        if self._members.get(number) is not None:
            self._calls[number] = self._calls.get(number, 0) + 1

    def _on_member_removed(self, _at_ns: int, number: int, _a: int, _b: int) -> None:
        # Its removal may happen inside its own call, whose end still has to find it.
        self._gone_members.append(number)

    def _forget_members(self) -> None:
        """Forget the removed members: every call of a frame has ended when the frame has."""
        for gone in self._gone_members:
            for number in self._members.forget(gone):
                self._calls.pop(number, None)
        self._gone_members.clear()

    def _forget_timer(self, number: int) -> None:
        timer = self.timers.pop(number, None)
        self._gone_timer = None if timer is None else (number, timer)

    @property
    def timer(self) -> KnownTimer | None:
        """The timer that the present event is about, even if the event removes it."""
        _, kind, subject, _, _ = self.event
        if kind not in MAY_BE_ABOUT_TIMERS:
            return None
        if self._gone_timer is not None and self._gone_timer[0] == subject:
            return self._gone_timer[1]
        return self.timers.get(subject)

    @property
    def member(self) -> KnownMember | None:
        """The member that the present event is about, even in the frame that removes it."""
        _, kind, subject, _, _ = self.event
        return self._members.get(subject) if kind in ABOUT_MEMBERS else None

    @property
    def calls(self) -> int | None:
        """Number of calls so far of the member whose call ends with the present event."""
        _, kind, subject, _, _ = self.event
        return self._calls.get(subject) if kind in CALLS else None

    @property
    def turn_ns(self) -> int | None:
        """How long the turn or frame took that ends with the present event.

        A loop that reports no turns is known only by turns long enough to be sampled.
        """
        at_ns, kind, subject, _, b = self.event
        if kind in FRAME_ENDS or kind in LOOP_ENDS:
            return b
        if kind != SAMPLED or subject in self._loops or not SampleForm.of(b).flags & SAW_END:
            return None
        began_ns = self._turns.get(subject)
        return None if began_ns is None else at_ns - began_ns

    @property
    def clock_id(self) -> int:
        """The clock of the current event or of its subject; otherwise 0."""
        _, kind, subject, _, _ = self.event
        if kind in MAY_BE_ABOUT_CLOCKS:
            return subject
        if (timer := self.timer) is not None:
            return timer.clock_id
        member = self.member
        return 0 if member is None else member.clock_id

    def naming(self, what: str, number: int) -> str:
        if what == "clock":
            name = self.clocks.get(number)
            return "" if name is None else f"clock “{name}”"
        if what == "timer":
            timer = self.timer if number == self.event[2] else self.timers.get(number)
            return "" if timer is None else f"timer “{timer.label}”"
        member = self._members.get(number)
        return "" if member is None else f"“{member.name}”"

    def text(self, number: int) -> str:
        return self.strings[number]


class EventField(Struct, frozen=True):
    name: str
    type: FieldType
    summary: str  # A description for users
    read: Callable[[EventReader], Value]  # Returns its value in the present event
    choices: frozenset[str] = frozenset()  # All possible texts, if they are known


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
    return member.name if member is not None and member.kind in TIMED_CALLS else None


def _fired(reader: EventReader) -> Value:
    is_firing = reader.event[1] in FIRINGS
    return reader.timer.fired if is_firing and reader.timer is not None else None


def _member(reader: EventReader) -> Value:
    return None if reader.member is None else reader.member.name


def _machine(reader: EventReader) -> Value:
    member = reader.member
    return member.name if member is not None and member.kind is MemberKind.MACHINE else None


def _field_rate(reader: EventReader, number: int) -> Value:
    return Fraction(number, RATE_DENOMINATOR) if reader.event[3] == Field.RATE else None


#: By unit: what conditions compare instead of the number in the event.
_WORDS: Final[dict[Unit, Callable[[EventReader, int], Value]]] = {
    Unit.RATE: lambda _reader, number: Fraction(number, RATE_DENOMINATOR),
    Unit.FIELD_VALUE: _field_rate,
    Unit.PHASE: lambda _reader, number: Phase(number).text,
    Unit.TIMER_KIND: lambda _reader, number: TimerKind(number).text,
    Unit.TEXT: lambda reader, number: reader.text(number),
    Unit.TRACEBACK: lambda reader, number: what_was_raised(reader.text(number)),
}


def _said(name: str, of_type: FieldType, summary: str, choices: Iterable[str] = ()) -> EventField:
    """Return a field that rows of the schema name in :attr:`EventRow.asked`."""
    places = {
        int(row.kind): (place, _WORDS.get(row.unit(place)))
        for row in SCHEMA.values()
        if (place := row.places_asked.get(name))
    }

    def read(reader: EventReader) -> Value:
        found = places.get(reader.event[1])
        if found is None:
            return None
        place, words = found
        number = reader.event[place]
        return number if words is None else words(reader, number)

    return EventField(name, of_type, summary, read, frozenset(choices))


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
    _said("lateness", _D, "how late a timer fired"),
    EventField("fired", _N, "firings of the timer so far", _fired),
    _said("missed", _N, "skipped ticks"),
    _said("delta", _D, "delta of the frame that begins"),
    _said("interval", _D, "time from frame to frame"),
    _said("busy", _D, "measured duration of the callbacks of a frame"),
    EventField("turn", _D, "measured duration of a turn or frame", lambda reader: reader.turn_ns),
    _said("cut", _D, "time cut from a delta"),
    _said("phase", _T, "phase of the frame that ended", (phase.text for phase in Phase)),
    _said("took", _D, "measured duration of a phase or a call"),
    _said("rate", _N, "the new rate of a clock or time scale"),
    EventField("member", _T, "name of a target, a call, a component", _member),
    EventField("calls", _N, "number of calls", lambda reader: reader.calls),
    EventField("machine", _T, "name of the state machine", _machine),
    _said("state", _T, "the state that is entered"),
    _said("transition", _T, "the transition that is made or refused"),
    _said("policy", _T, "kind of a timer that is set", (kind.text for kind in TimerKind)),
    _said("error", _T, "the exception, with the first line of its message"),
    _said("text", _T, "text of a mark or a command"),
)

FIELDS_BY_NAME: Final = {field.name: field for field in EVENT_FIELDS}
