"""The kinds of values of commands: validation, and their form in a journal.

The type of a field decides the kind of its value.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final, get_type_hints

from msgspec import Struct

from inspector.clocks.failures import FailurePolicy
from inspector.clocks.rate import rate_numerator
from inspector.foreign.numbers import number_in
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import rate_text

#: Longest numerator or denominator, in bits: two of these with their signs take as many
#: characters as are read back from a journal.
_MOST_BITS: Final = 160
_MOST_CHARACTERS: Final = 60
_MOST_TEXT: Final = 10_000


def _as_it_is(value: Any) -> Any:  # noqa: ANN401 - any value
    return value


class ValueKind(Struct, frozen=True):
    """One kind of value."""

    text: str  # The requirement in words
    is_usable: Callable[[object], bool]  # Tells whether a value is usable
    written: Callable[[Any], object] = _as_it_is  # Converts a usable value to a plain one, for JSON
    read: Callable[[Any], object] = _as_it_is  # Converts it back; raises if it is not such a value


def _is_whole(value: object) -> bool:
    # A bool is an int, but not accepted as a number.
    return type(value) is int and -(2**63) <= value < 2**63


def _is_number(value: object) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, float) and math.isfinite(value):
        value = Fraction(value)
    if isinstance(value, Fraction):
        bits = max(value.numerator.bit_length(), value.denominator.bit_length())
        return bits <= _MOST_BITS
    return isinstance(value, int) and value.bit_length() <= _MOST_BITS


def _as_number_text(value: Fraction | float) -> str | int:
    return value if isinstance(value, int) else str(Fraction(value))


def _read_number(value: object) -> Fraction | int:
    return value if type(value) is int else number_in(str(value))


#: The kinds of values by type of the field; another file may add its own.
VALUE_KINDS: Final[dict[type, ValueKind]] = {
    int: ValueKind("a whole number", _is_whole),
    bool: ValueKind("true or false", lambda value: isinstance(value, bool)),
    str: ValueKind(
        f"a text of at most {_MOST_TEXT:,} characters",
        lambda value: isinstance(value, str) and len(value) <= _MOST_TEXT,
    ),
    Fraction: ValueKind("a usable number", _is_number, _as_number_text, _read_number),
    FailurePolicy: ValueKind(
        "a failure policy",
        lambda value: isinstance(value, FailurePolicy),
        lambda value: value.value,
        FailurePolicy,
    ),
}


_KINDS_OF: Final[dict[type, dict[str, ValueKind]]] = {}


def value_kinds(command: type[Any]) -> dict[str, ValueKind]:
    kinds = _KINDS_OF.get(command)
    if kinds is None:
        types = get_type_hints(command)
        kinds = {name: VALUE_KINDS[types[name]] for name in command.__struct_fields__}
        _KINDS_OF[command] = kinds
    return kinds


def _rate_text(rate: Fraction) -> str:
    try:
        return rate_text(rate_numerator(rate))
    except ValueError:
        return str(rate)


#: Formats of some fields in the words of a command; all other values appear unchanged.
_FORMATS: Final[dict[str, Callable[[Any], str]]] = {
    "at_ns": format_instant,
    "duration_ns": format_duration,
    "frames_per_second": lambda rate: f"{float(rate):.10g}",
    "path": lambda path: path or "a new file",
    "rate": _rate_text,
}


def said_values(command: object) -> dict[str, Any]:
    """Return a command's values as they appear in its words, by field name."""
    values = {name: getattr(command, name) for name in value_kinds(type(command))}
    return {name: _FORMATS[name](v) if name in _FORMATS else v for name, v in values.items()}


def shown(value: object) -> str:
    """Return a value for a message, shortened; even if its ``repr`` raises."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - any object, or a number with too many digits
        digits = sys.get_int_max_str_digits()
        is_number = isinstance(value, int | Fraction)
        text = f"a number of more than {digits:,} digits" if is_number else type(value).__name__
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
