"""Breakpoints: what to look out for in the events, and what to do when it happens.

Every kind of breakpoint is a condition on one event, written in the language of
:mod:`inspector.analysis.conditions.conditions`. They are looked at once after each frame, in the
order of the events, so that a hit belongs to the very frame that has caused it: its own
callbacks, or the timers that were due before it.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeVar

from inspector.errors import CommandError
from inspector.timebase import NS_PER_SECOND, format_duration, parse_duration_ns

if TYPE_CHECKING:
    from inspector.analysis.conditions.conditions import Condition
    from inspector.analysis.conditions.event_fields import EventReader
    from inspector.events.log import EventLog
    from inspector.events.timeline import Timeline
    from inspector.vocabulary import RawEvent

_ChoiceT = TypeVar("_ChoiceT", bound=Enum)
_PlainT = TypeVar("_PlainT", str, int, bool)

#: Longer pasts than this are a recording's business.
MAX_SAVED_NS: Final = 24 * 3_600 * NS_PER_SECOND
DEFAULT_SAVED_NS: Final = 10 * NS_PER_SECOND
MAX_BREAKPOINTS: Final = 200


class BreakpointError(CommandError):
    """A breakpoint makes no sense; the message says why."""


class BreakKind(Enum):
    """What a breakpoint looks out for."""

    TIMER_FIRES = "timer fires"
    LATENESS_ABOVE = "lateness above"
    FRAME_ABOVE = "frame time above"
    DELTA_ABOVE = "delta above"
    CLOCK_PAUSED = "clock paused"
    RATE_CHANGED = "rate changed"
    STATE_ENTERED = "state entered"
    CALLBACK_RAISED = "callback raised"
    CONDITION = "condition"

    @property
    def needs_limit(self) -> bool:
        """Whether it compares with a duration."""
        return self in {BreakKind.LATENESS_ABOVE, BreakKind.FRAME_ABOVE, BreakKind.DELTA_ABOVE}

    @property
    def needs_reason(self) -> bool:
        """Whether what happened does not tell by itself what was looked out for."""
        return self.needs_limit or self is BreakKind.CONDITION


class BreakAction(Enum):
    """What a hit does."""

    HOLD = "hold the scene"
    PAUSE_ROOT = "pause the root clock"
    PAUSE_BRANCH = "pause the branch"
    MARK = "mark the instant"
    SAVE = "save the last seconds"
    START_RECORDING = "start recording"
    STOP_RECORDING = "stop recording"


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """What to look out for, and what to do then.

    Attributes:
        kind: What it looks out for.
        subject: Name of the timer, the clock or the state; empty for any.
        limit_ns: What the duration must be above, for the kinds that compare.
        condition: The whole condition, for :attr:`BreakKind.CONDITION`.
        action: What a hit does.
        from_hit: The first hit that does something, counted from 1.
        is_once: Whether it is off after it has done something.
        is_enabled: Whether it looks out at all.
        saved_ns: How much of the past :attr:`BreakAction.SAVE` keeps.
    """

    kind: BreakKind
    subject: str = ""
    limit_ns: int = 0
    condition: str = ""
    action: BreakAction = BreakAction.HOLD
    from_hit: int = 1
    is_once: bool = False
    is_enabled: bool = True
    saved_ns: int = DEFAULT_SAVED_NS

    def __post_init__(self) -> None:
        """Check everything.

        Raises:
            BreakpointError: It makes no sense.
        """
        from inspector.analysis.conditions.conditions import ConditionError  # noqa: PLC0415 - only where there are breakpoints

        if isinstance(self.from_hit, bool) or not isinstance(self.from_hit, int):
            raise BreakpointError(f"Hits are counted in whole numbers, not {self.from_hit!r}.")
        if self.from_hit < 1:
            raise BreakpointError(f"The first hit is number 1, not {self.from_hit}.")
        if self.kind.needs_limit and self.limit_ns < 0:
            limit = format_duration(self.limit_ns)
            raise BreakpointError(f"A limit is 0 or more, not {limit}.")
        if not 0 < self.saved_ns <= MAX_SAVED_NS:
            saved = format_duration(self.saved_ns)
            raise BreakpointError(f"Save between nothing and a day of the past, not {saved}.")
        try:
            self.parsed()
        except ConditionError as error:
            raise BreakpointError(str(error)) from error

    @property
    def condition_text(self) -> str:  # noqa: PLR0911 - one per kind
        """What it looks out for, in the language of conditions."""
        limit = f"{self.limit_ns} ns"
        match self.kind:
            case BreakKind.TIMER_FIRES:
                # A call of a scheduler's or ticker's timer is an event of another kind.
                fired = '(kind == "timer_fired" or kind == "call_ended" and timer contains "")'
                return self._about("timer", fired)
            case BreakKind.LATENESS_ABOVE:
                return self._about("timer", f"lateness > {limit}")
            case BreakKind.FRAME_ABOVE:
                return f"interval > {limit}"
            case BreakKind.DELTA_ABOVE:
                return f"delta > {limit}"
            case BreakKind.CLOCK_PAUSED:
                return self._about("clock", 'kind == "clock_paused"')
            case BreakKind.RATE_CHANGED:
                return self._about("clock", 'kind == "clock_rate"')
            case BreakKind.STATE_ENTERED:
                return self._about("state", 'kind == "state_entered"')
            case BreakKind.CALLBACK_RAISED:
                return 'kind == "callback_failed"'
            case BreakKind.CONDITION:
                return self.condition

    def _about(self, field: str, condition: str) -> str:
        from inspector.analysis.conditions.conditions import quoted  # noqa: PLC0415 - only where there are breakpoints

        return f"{condition} and {field} == {quoted(self.subject)}" if self.subject else condition

    def parsed(self) -> Condition:
        """Return the condition, ready to be asked.

        Raises:
            ConditionError: It makes no sense; the message says where and why.
        """
        from inspector.analysis.conditions.conditions import parsed_condition  # noqa: PLC0415 - only where there are breakpoints

        return parsed_condition(self.condition_text)

    @property
    def text(self) -> str:  # noqa: PLR0911 - one per kind
        """What it looks out for, in words."""
        about = f" “{self.subject}”" if self.subject else ""
        limit = format_duration(self.limit_ns)
        match self.kind:
            case BreakKind.TIMER_FIRES:
                return f"timer{about} fires" if about else "a timer fires"
            case BreakKind.LATENESS_ABOVE:
                who = f"timer{about}" if about else "a timer"
                return f"{who} fires more than {limit} late"
            case BreakKind.FRAME_ABOVE:
                return f"a frame time exceeds {limit}"
            case BreakKind.DELTA_ABOVE:
                return f"a delta exceeds {limit}"
            case BreakKind.CLOCK_PAUSED:
                return f"clock{about} is paused" if about else "a clock is paused"
            case BreakKind.RATE_CHANGED:
                return f"the rate of{about or ' a clock'} changes"
            case BreakKind.STATE_ENTERED:
                return f"state{about} is entered" if about else "a state is entered"
            case BreakKind.CALLBACK_RAISED:
                return "a callback raises"
            case BreakKind.CONDITION:
                return self.condition

    # ------------------------------------------------------------- as plain values

    def as_values(self) -> dict[str, str | int | bool]:
        """Return it as plain values, for a file."""
        values: dict[str, str | int | bool] = {"kind": self.kind.value}
        if self.subject:
            values["subject"] = self.subject
        if self.kind.needs_limit:
            values["limit"] = f"{self.limit_ns} ns"
        if self.kind is BreakKind.CONDITION:
            values["condition"] = self.condition
        values["action"] = self.action.value
        if self.action is BreakAction.SAVE:
            values["save"] = f"{self.saved_ns} ns"
        values |= {"from_hit": self.from_hit, "once": self.is_once, "enabled": self.is_enabled}
        return values

    @classmethod
    def from_values(cls, values: object) -> Breakpoint:
        """Return the breakpoint that :meth:`as_values` gave.

        Raises:
            BreakpointError: It is not one; the message says what is wrong.
        """
        if not isinstance(values, Mapping):
            raise BreakpointError(f"A breakpoint is a set of named values, not {values!r}.")
        known = {"kind", "subject", "limit", "condition", "action", "save"}
        known |= {"from_hit", "once", "enabled"}
        if strange := sorted(map(str, values.keys() - known)):
            raise BreakpointError(f"A breakpoint has no “{strange[0]}”.")
        try:
            return cls(
                kind=_choice(BreakKind, values.get("kind")),
                subject=_checked(str, values, "subject", ""),
                limit_ns=_duration_ns(values, "limit", "0 ns"),
                condition=_checked(str, values, "condition", ""),
                action=_choice(BreakAction, values.get("action", BreakAction.HOLD.value)),
                from_hit=_checked(int, values, "from_hit", 1),
                is_once=_checked(bool, values, "once", False),
                is_enabled=_checked(bool, values, "enabled", True),
                saved_ns=_duration_ns(values, "save", f"{DEFAULT_SAVED_NS} ns"),
            )
        except ValueError as error:
            raise BreakpointError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from error


def _choice(kind: type[_ChoiceT], value: object) -> _ChoiceT:
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(str(choice.value) for choice in kind)
        raise BreakpointError(f"Not one of {known}: {value!r}.") from None


def _checked(
    kind: type[_PlainT], values: Mapping[object, object], name: str, default: _PlainT
) -> _PlainT:
    value = values.get(name, default)
    # True is a whole number as well, but not meant as one.
    if type(value) is not kind:
        words = {str: "a text", int: "a whole number", bool: "true or false"}
        raise BreakpointError(f"“{name}” of a breakpoint is {words[kind]}, not {value!r}.")
    return value


def _duration_ns(values: Mapping[object, object], name: str, default: str) -> int:
    return parse_duration_ns(_checked(str, values, name, default))


@dataclass(frozen=True, slots=True)
class BreakpointHit:
    """A breakpoint that was hit.

    Attributes:
        number: Number of the breakpoint.
        action: What is to be done.
        at_ns: Session time of the event.
        cursor: Where the event is in the log.
        frame: The frame it belongs to.
        clock_id: The clock it is about, 0 for none.
        text: What was looked out for and what happened, in words.
    """

    number: int
    action: BreakAction
    at_ns: int
    cursor: int
    frame: int
    clock_id: int
    text: str


class Breakpoints:
    """The breakpoints of a session, their hit counts, and who looks out for them.

    Without an enabled breakpoint, looking costs one test; with some, the events since
    the last look are gone through once.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._by_number: dict[int, Breakpoint] = {}
        self._hits: dict[int, int] = {}
        self._since: dict[int, int] = {}
        self._last_number = 0
        self._conditions: list[tuple[int, Condition]] = []
        self._log: EventLog | None = None
        self._reader: EventReader | None = None
        self._cursor = 0
        self._version = 0

    @classmethod
    def holding(cls, breakpoints: Mapping[int, Breakpoint], next_number: int) -> Breakpoints:
        """Return a set with these breakpoints by number, not hit yet.

        Args:
            breakpoints: What it holds.
            next_number: The number that the next one will have.
        """
        made = cls()
        made._by_number = dict(breakpoints)
        made._hits = dict.fromkeys(breakpoints, 0)
        made._last_number = next_number - 1
        made._changed()
        return made

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._by_number)

    @property
    def version(self) -> int:
        """Raised with every change, hits included."""
        return self._version

    @property
    def is_looking(self) -> bool:
        """Whether there is anything to look out for."""
        return bool(self._conditions)

    @property
    def next_number(self) -> int:
        """The number that the next one will have."""
        return self._last_number + 1

    def items(self) -> list[tuple[int, Breakpoint, int]]:
        """Return number, breakpoint and hits of each, in the order in which they came."""
        return [(number, found, self._hits[number]) for number, found in self._by_number.items()]

    def get(self, number: int) -> Breakpoint | None:
        """Return a breakpoint by its number, ``None`` if it is gone."""
        return self._by_number.get(number)

    def hits(self, number: int) -> int:
        """Return how often a breakpoint was hit; 0 if it is gone."""
        return self._hits.get(number, 0)

    def add(self, breakpoint_: Breakpoint) -> int:
        """Look out for one more, from the next event on; returns its number.

        Raises:
            BreakpointError: There are too many already.
        """
        self.check_room()
        self._last_number += 1
        self._by_number[self._last_number] = breakpoint_
        self._hits[self._last_number] = 0
        self._look_from_now_on(self._last_number)
        return self._last_number

    def check_room(self) -> None:
        """Refuse one more when there are too many.

        Raises:
            BreakpointError: There are too many already.
        """
        if len(self) >= MAX_BREAKPOINTS:
            raise BreakpointError(f"There are {len(self)} breakpoints; remove some first.")

    def replace(self, number: int, breakpoint_: Breakpoint) -> bool:
        """Change a breakpoint, keeping its hits, and have it look from the next event on.

        Returns:
            Whether there is such a one.
        """
        if number not in self._by_number:
            return False
        self._by_number[number] = breakpoint_
        self._look_from_now_on(number)
        return True

    def remove(self, number: int) -> bool:
        """Forget a breakpoint; returns whether there was such a one."""
        if self._by_number.pop(number, None) is None:
            return False
        del self._hits[number]
        self._since.pop(number, None)
        self._changed()
        return True

    def _look_from_now_on(self, number: int) -> None:
        """Note that what happened up to now is nothing to a breakpoint."""
        self._since[number] = 0 if self._log is None else self._log.end
        self._changed()

    def _changed(self) -> None:
        self._version += 1
        self._conditions = [
            (number, found.parsed())
            for number, found in self._by_number.items()
            if found.is_enabled
        ]
        if not self._conditions:
            self._reader = None

    def watch(self, log: EventLog, timeline: Timeline) -> None:
        """Look at a log from its present end on.

        Args:
            log: What to look at.
            timeline: The log folded up to its end, for the names of what there is.
        """
        self._log = log
        self._since.clear()
        self._cursor = log.end
        from inspector.analysis.conditions.event_fields import EventReader  # noqa: PLC0415 - only where there are breakpoints

        self._reader = EventReader(log.strings, timeline)

    @property
    def is_watching(self) -> bool:
        """Whether it was told since when to look; not before :meth:`watch`."""
        return self._reader is not None

    def look(self, besides: Container[int] = ()) -> list[BreakpointHit]:
        """Go through the events since the last look and return the hits that count.

        Args:
            besides: Numbers of breakpoints that do not look this time.
        """
        if not self._conditions or self._log is None or self._reader is None:
            return []
        batch = self._log.read(self._cursor)
        cursor = batch.cursor - len(batch.events)
        found: list[BreakpointHit] = []
        reader = self._reader
        conditions = [each for each in self._conditions if each[0] not in besides]
        for event in batch.events:
            reader.take(event)
            for number, condition in conditions:
                if condition.holds(reader):
                    self._hit(number, event, cursor, found)
            cursor += 1
        self._cursor = batch.cursor
        if any(not self._by_number[hit.number].is_enabled for hit in found):
            self._changed()
        return found

    def _hit(self, number: int, event: RawEvent, cursor: int, found: list[BreakpointHit]) -> None:
        reader, breakpoint_ = self._reader, self._by_number[number]
        assert reader is not None
        if not breakpoint_.is_enabled or cursor < self._since.get(number, 0):
            return
        self._hits[number] += 1
        self._version += 1
        if self._hits[number] < breakpoint_.from_hit:
            return
        if breakpoint_.is_once:
            self._by_number[number] = replace(breakpoint_, is_enabled=False)
        from inspector.events.sentences import describe  # noqa: PLC0415 - only where there are hits

        happened = describe(event, reader.strings, reader.naming)
        found.append(
            BreakpointHit(
                number,
                breakpoint_.action,
                event[0],
                cursor,
                reader.frame,
                reader.clock_id,
                f"{breakpoint_.text}: {happened}" if breakpoint_.kind.needs_reason else happened,
            )
        )
