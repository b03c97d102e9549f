"""Instants, durations and their text: the only place where units are converted.

Inside the inspector every time is an ``int`` of nanoseconds (``_ns`` in the name). Seconds as
``float`` or ``Fraction`` enter through :func:`seconds_to_ns` and leave through
:func:`ns_to_seconds`.
"""

import re
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Real
from typing import Final

from inspector.foreign.numbers import LARGEST_EXPONENT, number_in, refusal, shown

NS_PER_US: Final = 1_000
NS_PER_MS: Final = 1_000_000
NS_PER_SECOND: Final = 1_000_000_000

#: Longer times (about 146 years) are taken for mistakes.
MAX_NS_BITS: Final = 62
MAX_NS: Final = 2**MAX_NS_BITS

_UNITS_NS: Final = {
    "ns": 1,
    "us": NS_PER_US,
    "µs": NS_PER_US,
    "ms": NS_PER_MS,
    "s": NS_PER_SECOND,
    "sec": NS_PER_SECOND,
    "min": 60 * NS_PER_SECOND,
    "h": 3_600 * NS_PER_SECOND,
}
_WITH_UNIT: Final = re.compile(
    r"(?P<number>[-+]?[\d./]+(?:e[-+]?\d+)?)\s*(?P<unit>[a-zµ]*)", re.IGNORECASE
)
_DURATIONS: Final = "write 1.5, 1/60, 250ms, 3 min or 02:10.5"
#: Longest text of a duration.
_MOST_CHARACTERS: Final = 120
_SIXTY: Final = 60
_SEXAGESIMAL: Final = re.compile(r"(?:(\d+):)?(\d{1,3}):(\d{1,2}(?:\.\d*)?)")


def seconds_to_ns(seconds: float | Fraction | Decimal) -> int:
    """Return ``seconds`` as whole nanoseconds, rounded to the nearest.

    Args:
        seconds: Any real number; all but ``float`` are converted exactly.

    Raises:
        ValueError: ``seconds`` is not a number, infinite, or beyond 146 years.
    """
    try:
        # Most callers pass a float, and testing for other types takes as long as the conversion.
        number = seconds if type(seconds) is float else plain_number(seconds)
        ns = round(number * NS_PER_SECOND)
    except (ValueError, OverflowError, TypeError):
        message = f"not a usable number of seconds: {shown(seconds)}{_as_seconds(seconds)}"
        raise ValueError(message) from None
    if not -MAX_NS < ns < MAX_NS:
        raise ValueError(f"too many seconds (the limit is about 146 years): {shown(seconds)}")
    return ns


def _as_seconds(given: object) -> str:
    """Return what to write instead of a duration with a unit, or nothing."""
    try:
        ns = parse_duration_ns(given) if isinstance(given, str) else None
    except ValueError:
        return ""
    return "" if ns is None else f"; write {ns / NS_PER_SECOND:g}"


def plain_number(value: object) -> float | Fraction:
    """Return a real number as a type of Python's own.

    Numbers of other libraries overflow (numpy's) or cannot be mixed with others.

    Raises:
        TypeError: It is not a real number, or a ``bool``.
        ValueError: It is a ``Decimal`` that is not a number.
        OverflowError: It is a ``Decimal`` that is infinite or absurd.
    """
    match value:
        case float() | Fraction():
            return value
        case int():
            if value is True or value is False:
                # Although bool is a subtype of int: a condition instead of a number is a mistake.
                raise TypeError(f"not a number: {value}")
            return value
        case Decimal():
            if value and value.is_finite() and abs(value.adjusted()) > LARGEST_EXPONENT:
                raise OverflowError(f"too large: {shown(value)}")
            return Fraction(value)
        case Integral():
            return int(value)
        case Real():
            return float(value)
    raise TypeError(f"not a number: {shown(value)}")


def checked_ns(ns: int) -> int:
    """Return ``ns`` if it is a whole number of nanoseconds within 146 years.

    Raises:
        ValueError: ``ns`` is not an ``int``, or beyond 146 years.
    """
    if ns.__class__ is not int or not -MAX_NS < ns < MAX_NS:
        raise ValueError(f"not a whole number of nanoseconds within 146 years: {shown(ns)}")
    return ns


def ns_to_seconds(ns: int) -> float:
    """Return ``ns`` in seconds, correctly rounded to the nearest ``float``."""
    return ns / NS_PER_SECOND


def parse_duration_ns(text: str) -> int:
    """Parse a duration.

    Such as ``1.5`` (seconds), ``1/60``, ``250ms``, ``3 min``, ``02:10.5`` or ``1:02:03``.

    Raises:
        ValueError: The text is not a duration; the message shows examples.
    """
    stripped = text.strip()
    if len(stripped) > _MOST_CHARACTERS:
        raise ValueError(refusal("a duration", stripped, _DURATIONS))
    if match := _SEXAGESIMAL.fullmatch(stripped):
        hours, minutes, seconds = match.groups()
        if float(seconds) >= _SIXTY or (hours and int(minutes) >= _SIXTY):
            raise ValueError(f"not a duration: {shown(text)} (minutes and seconds go up to 59)")
        whole = int(hours or 0) * 3_600 + int(minutes) * 60
        return seconds_to_ns(whole + Fraction(seconds.rstrip(".")))
    if match := _WITH_UNIT.fullmatch(stripped):
        unit_ns = _UNITS_NS.get(match["unit"].lower() or "s")
        try:
            number = number_in(match["number"])
        except ValueError:
            raise ValueError(refusal("a duration", match["number"], _DURATIONS)) from None
        if unit_ns is not None:
            return seconds_to_ns(number * unit_ns / NS_PER_SECOND)
    raise ValueError(refusal("a duration", text, _DURATIONS))


def format_duration(ns: int) -> str:
    """Return a duration as text: three or four digits and a suitable unit."""
    size = abs(ns)
    if size < NS_PER_US:
        return f"{ns} ns"
    # A value that would round to 1000 of a unit is written as 1.00 of the next unit.
    if size < NS_PER_MS - NS_PER_US // 2:
        return f"{ns / NS_PER_US:.{decimals_for(size / NS_PER_US)}f} µs"
    if size < NS_PER_SECOND - NS_PER_MS // 2:
        return f"{ns / NS_PER_MS:.{decimals_for(size / NS_PER_MS)}f} ms"
    if size < 120 * NS_PER_SECOND:
        return f"{ns / NS_PER_SECOND:.{decimals_for(size / NS_PER_SECOND)}f} s"
    return format_instant(ns)


def brief_duration(ns: int) -> str:
    """Return a duration that was chosen, not measured: without zeros at the end of its number."""
    number, space, unit = format_duration(ns).partition(" ")
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number}{space}{unit}"


def late_text(late_ns: int) -> str:
    """Return how far from its due instant something was: ``2.00 ms late``, ``… early``."""
    if not late_ns:
        return "on time"
    return f"{format_duration(abs(late_ns))} {'late' if late_ns > 0 else 'early'}"


def format_instant(ns: int, decimals: int = 3) -> str:
    """Return an instant of a session as ``m:ss.mmm`` or ``h:mm:ss.mmm``, rounded down."""
    text = format_local_time(ns, decimals)
    sign, digits = text[: text.startswith("-")], text.removeprefix("-")
    return sign + digits.removeprefix("0")


def format_local_time(ns: int, decimals: int = 3) -> str:
    """Return what a clock shows, as ``mm:ss.mmm`` or ``h:mm:ss.mmm``, rounded down."""
    sign = "-" if ns < 0 else ""
    unit = 10 ** (9 - decimals)
    units = abs(ns) // unit if ns >= 0 else -(ns // unit)
    seconds, fraction = divmod(units, 10**decimals)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    tail = f".{fraction:0{decimals}d}" if decimals else ""
    if hours:
        return f"{sign}{hours}:{minutes:02d}:{seconds:02d}{tail}"
    return f"{sign}{minutes:02d}:{seconds:02d}{tail}"


def decimals_for(size: float) -> int:
    """Return how many decimals a size is written with: three significant digits, or all whole."""
    # A value that rounding would give one more digit is written with one decimal less.
    return (size < 9.995) + (size < 99.95)  # noqa: PLR2004 - half a unit of the last decimal
