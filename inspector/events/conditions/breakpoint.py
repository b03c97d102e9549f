"""Breakpoints as values: a condition on one event, and what to do when it holds.

Every kind of breakpoint is written in the language of
:mod:`inspector.events.conditions.conditions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, TypeVar

from msgspec import Struct

from inspector.errors import CommandError
from inspector.events.conditions.conditions import (
    Condition,
    ConditionError,
    parsed_condition,
    quoted,
)
from inspector.timebase import NS_PER_SECOND, format_duration, parse_duration_ns

_ChoiceT = TypeVar("_ChoiceT", bound=Enum)
_PlainT = TypeVar("_PlainT", str, int, bool)

#: To save more than this, make a recording.
MAX_SAVED_NS: Final = 24 * 3_600 * NS_PER_SECOND
DEFAULT_SAVED_NS: Final = 10 * NS_PER_SECOND


class BreakpointError(CommandError):
    """A breakpoint is invalid; the message says why."""


class BreakKind(Enum):
    TIMER_FIRES = "timer fires"
    LATENESS_ABOVE = "lateness above"
    FRAME_ABOVE = "frame time above"
    TURN_ABOVE = "turn or frame longer than"
    DELTA_ABOVE = "delta above"
    CLOCK_PAUSED = "clock paused"
    RATE_CHANGED = "rate changed"
    STATE_ENTERED = "state entered"
    CALLBACK_RAISED = "callback raised"
    CONDITION = "condition"

    @property
    def needs_limit(self) -> bool:
        return self in {
            BreakKind.LATENESS_ABOVE,
            BreakKind.FRAME_ABOVE,
            BreakKind.TURN_ABOVE,
            BreakKind.DELTA_ABOVE,
        }

    @property
    def needs_reason(self) -> bool:
        """Whether the event alone does not show which condition was met."""
        return self.needs_limit or self is BreakKind.CONDITION


#: By kind: the condition, the field that names its subject, and the condition in words.
_LOOKS: Final = {
    BreakKind.TIMER_FIRES: (
        # Timers of schedulers and tickers have a different kind of event.
        '(kind == "timer_fired" or kind == "call_ended" and timer contains "")',
        "timer",
        "{subject} fires",
    ),
    BreakKind.LATENESS_ABOVE: (
        "lateness > {limit}", "timer", "{subject} fires more than {limit} late",
    ),
    BreakKind.FRAME_ABOVE: ("interval > {limit}", "", "a frame time exceeds {limit}"),
    BreakKind.TURN_ABOVE: ("turn > {limit}", "", "a turn or frame takes longer than {limit}"),
    BreakKind.DELTA_ABOVE: ("delta > {limit}", "", "a delta exceeds {limit}"),
    BreakKind.CLOCK_PAUSED: ('kind == "clock_paused"', "clock", "{subject} is paused"),
    BreakKind.RATE_CHANGED: ('kind == "clock_rate"', "clock", "the rate of {name} changes"),
    BreakKind.STATE_ENTERED: ('kind == "state_entered"', "state", "{subject} is entered"),
    BreakKind.CALLBACK_RAISED: ('kind == "callback_failed"', "", "a callback raises"),
}  # fmt: skip


class BreakAction(Enum):
    HOLD = "hold the scene"
    PAUSE_ROOT = "pause the root clock"
    PAUSE_BRANCH = "pause the branch"
    MARK = "mark the instant"
    SAVE = "save the last seconds"
    START_RECORDING = "start recording"
    STOP_RECORDING = "stop recording"


class Breakpoint(Struct, frozen=True):
    """A condition on events, and the action of a hit."""

    kind: BreakKind
    subject: str = ""  # Name of the timer, the clock or the state; empty for any
    limit_ns: int = 0
    condition: str = ""  # The whole condition, for BreakKind.CONDITION
    action: BreakAction = BreakAction.HOLD
    from_hit: int = 1  # The first hit with an action, counted from 1
    is_once: bool = False  # Whether the action turns it off
    is_enabled: bool = True
    saved_ns: int = DEFAULT_SAVED_NS  # How much of the past BreakAction.SAVE keeps

    def __post_init__(self) -> None:
        if isinstance(self.from_hit, bool) or not isinstance(self.from_hit, int):
            raise BreakpointError(f"Hits are counted in whole numbers, not {self.from_hit!r}.")
        if self.from_hit < 1:
            raise BreakpointError(f"The first hit is number 1, not {self.from_hit}.")
        if self.kind.needs_limit and self.limit_ns < 0:
            limit = format_duration(self.limit_ns)
            raise BreakpointError(f"A limit is 0 or more, not {limit}.")
        if not 0 < self.saved_ns <= MAX_SAVED_NS:
            saved = format_duration(self.saved_ns)
            raise BreakpointError(
                f"The time to save must be above 0 and at most a day, not {saved}."
            )
        try:
            self.parsed()
        except ConditionError as error:
            raise BreakpointError(str(error)) from error

    @property
    def condition_text(self) -> str:
        if self.kind is BreakKind.CONDITION:
            return self.condition
        condition, field, _ = _LOOKS[self.kind]
        text = condition.format(limit=f"{self.limit_ns} ns")
        return f"{text} and {field} == {quoted(self.subject)}" if field and self.subject else text

    def parsed(self) -> Condition:
        return parsed_condition(self.condition_text)

    @property
    def text(self) -> str:
        if self.kind is BreakKind.CONDITION:
            return self.condition
        _, field, words = _LOOKS[self.kind]
        name = f"“{self.subject}”" if self.subject else f"a {field}"
        subject = f"{field} {name}" if self.subject else name
        return words.format(name=name, subject=subject, limit=format_duration(self.limit_ns))

    def as_values(self) -> dict[str, str | int | bool]:
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
    # A bool is an int, but not accepted as a number.
    if type(value) is not kind:
        words = {str: "a text", int: "a whole number", bool: "true or false"}
        raise BreakpointError(f"“{name}” of a breakpoint is {words[kind]}, not {value!r}.")
    return value


def _duration_ns(values: Mapping[object, object], name: str, default: str) -> int:
    return parse_duration_ns(_checked(str, values, name, default))
