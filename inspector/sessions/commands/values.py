"""Whether a command's values are of the kind that it takes, before anybody looks at them.

Commands come from the window, from scripts and from files, so anything may be in them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Final, get_args

from inspector.clocks.failures import FailurePolicy
from inspector.sessions.breakpoints.breakpoints import Breakpoint
from inspector.sessions.commands.commands import Command

_COMMANDS: Final = get_args(Command)

#: Fractions with longer numerators or denominators than this are no rates.
_MOST_BITS: Final = 256
_MOST_CHARACTERS: Final = 60
_MOST_TEXT: Final = 10_000


@dataclass(frozen=True, slots=True)
class BadCommand:
    """A command of a recording that was refused for its values.

    Attributes:
        text: What was asked for, in words.
        problem: Why it was refused.
    """

    text: str
    problem: str


def value_problem(command: object) -> str:
    """Return a sentence on the first value that cannot be used, empty when all can be."""
    if isinstance(command, BadCommand):
        return command.problem
    if not isinstance(command, _COMMANDS):
        return f"There is no such command: {shown(command)}."
    for field in fields(command):
        what, is_usable = _KINDS[field.name]
        value = getattr(command, field.name)
        if not is_usable(value):
            return f"“{field.name.replace('_', ' ')}” must be {what}, not {shown(value)}."
    return ""


def plain_text(command: object) -> str:
    """Return a command whose values cannot be used in words that always can be found."""
    if isinstance(command, BadCommand):
        return command.text
    name = "".join(f" {c.lower()}" if c.isupper() else c for c in type(command).__name__).strip()
    if not isinstance(command, _COMMANDS):
        return f"unknown command ({name})"
    values = ", ".join(shown(getattr(command, field.name)) for field in fields(command))
    return f"{name} {values}".strip()


def shown(value: object) -> str:
    """Return a value for a message, cut to a length, whatever it thinks of being shown."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - it may be anybody's object, or a number too long to write
        digits = sys.get_int_max_str_digits()
        is_number = isinstance(value, int | Fraction)
        text = f"a number of more than {digits:,} digits" if is_number else type(value).__name__
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"


def _is_whole(value: object) -> bool:
    # True is a whole number as well, but not meant as one.
    return type(value) is int and -(2**63) <= value < 2**63


def _is_number(value: object) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, Fraction):
        bits = max(value.numerator.bit_length(), value.denominator.bit_length())
        return bits <= _MOST_BITS
    if isinstance(value, int):
        return value.bit_length() <= _MOST_BITS
    return isinstance(value, float) and math.isfinite(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _MOST_TEXT


_WHOLE: Final = ("a whole number", _is_whole)
_NUMBER: Final = ("a usable number", _is_number)
_TEXT: Final = (f"a text of at most {_MOST_TEXT:,} characters", _is_text)

_KINDS: Final[dict[str, tuple[str, Callable[[object], bool]]]] = {
    "count": _WHOLE,
    "frames": _WHOLE,
    "duration_ns": _WHOLE,
    "at_ns": _WHOLE,
    "clock_id": _WHOLE,
    "timer_id": _WHOLE,
    "member_id": _WHOLE,
    "min_priority": _WHOLE,
    "number": _WHOLE,
    "rate": _NUMBER,
    "frames_per_second": _NUMBER,
    "text": _TEXT,
    "name": _TEXT,
    "path": _TEXT,
    "policy": ("a failure policy", lambda value: isinstance(value, FailurePolicy)),
    "is_kept": ("true or false", lambda value: isinstance(value, bool)),
    "breakpoint": ("a breakpoint", lambda value: isinstance(value, Breakpoint)),
}
