"""What the values of commands may be, and how they are written in a journal.

The type of a field says which of these kinds its values are of.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Final, get_type_hints

from inspector.clocks.failures import FailurePolicy
from inspector.clocks.rate import rate_numerator
from inspector.foreign.numbers import number_in
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import rate_text

#: Fractions with longer numerators or denominators than this are no rates.
_MOST_BITS: Final = 256
_MOST_CHARACTERS: Final = 60
_MOST_TEXT: Final = 10_000


def _as_it_is(value: Any) -> Any:  # noqa: ANN401 - whatever it is
    return value


@dataclass(frozen=True, slots=True)
class ValueKind:
    """One kind of value.

    Attributes:
        text: What it must be, in words.
        is_usable: Whether a value can be used.
        written: Returns a usable value as a plain one, for JSON.
        read: Returns the value that was written; raises what says that it is none.
    """

    text: str
    is_usable: Callable[[object], bool]
    written: Callable[[Any], object] = _as_it_is
    read: Callable[[Any], object] = _as_it_is


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


def _as_number_text(value: Fraction | float) -> str | int:
    return value if isinstance(value, int) else str(Fraction(value))


#: The kinds of values, by the type of the field; a file that declares another adds it.
VALUE_KINDS: Final[dict[type, ValueKind]] = {
    int: ValueKind("a whole number", _is_whole),
    bool: ValueKind("true or false", lambda value: isinstance(value, bool)),
    str: ValueKind(
        f"a text of at most {_MOST_TEXT:,} characters",
        lambda value: isinstance(value, str) and len(value) <= _MOST_TEXT,
    ),
    Fraction: ValueKind("a usable number", _is_number, _as_number_text, number_in),
    FailurePolicy: ValueKind(
        "a failure policy",
        lambda value: isinstance(value, FailurePolicy),
        lambda value: value.value,
        FailurePolicy,
    ),
}


_KINDS_OF: Final[dict[type, dict[str, ValueKind]]] = {}


def value_kinds(command: type[Any]) -> dict[str, ValueKind]:
    """Return the kinds of a command's values, by the names of its fields."""
    kinds = _KINDS_OF.get(command)
    if kinds is None:
        types = get_type_hints(command)
        kinds = {each.name: VALUE_KINDS[types[each.name]] for each in fields(command)}
        _KINDS_OF[command] = kinds
    return kinds


def _rate_text(rate: Fraction) -> str:
    try:
        return rate_text(rate_numerator(rate))
    except ValueError:
        return str(rate)


#: How the values of some fields are said; all others are said as they are.
_SAID: Final[dict[str, Callable[[Any], str]]] = {
    "at_ns": format_instant,
    "duration_ns": format_duration,
    "frames_per_second": lambda rate: f"{float(rate):.10g}",
    "path": lambda path: path or "a new file",
    "rate": _rate_text,
}


def said_values(command: object) -> dict[str, Any]:
    """Return a command's values as its words have them, by the names of its fields."""
    values = {name: getattr(command, name) for name in value_kinds(type(command))}
    return {name: _SAID[name](v) if name in _SAID else v for name, v in values.items()}


def shown(value: object) -> str:
    """Return a value for a message, cut to a length, whatever it thinks of being shown."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - it may be anybody's object, or a number too long to write
        digits = sys.get_int_max_str_digits()
        is_number = isinstance(value, int | Fraction)
        text = f"a number of more than {digits:,} digits" if is_number else type(value).__name__
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
