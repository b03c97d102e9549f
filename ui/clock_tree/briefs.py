"""Shorter forms of what the clock tree says, for columns without room for all of it."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from .rows import ClockColumn

#: Rates from this one on are shortened to whole numbers, smaller ones to three digits.
_WHOLE_FROM = 100
#: A duration has more digits than these only when rounding has added one.
_MOST_DIGITS = 3


@lru_cache(maxsize=4_096)
def brief_text(column: int, text: str) -> str:
    """Return a shorter form of what a cell says; the same text when there is none.

    Args:
        column: The :class:`ClockColumn` of the cell.
        text: All that it says, not empty.
    """
    match column:
        case ClockColumn.RATE | ClockColumn.EFFECTIVE_RATE:
            brief = _brief_rate(text)
        case ClockColumn.LOCAL_TIME:
            # ``00:04.250``, and after hours ``1:02:03.250``.
            is_long = text.count(":") > 1
            brief = text.partition(".")[0] if is_long else text.removeprefix("0")
        case ClockColumn.NEXT_DUE:
            brief = _brief_wait(text)
        case _:
            return text
    return brief if len(brief) < len(text) else text


def _brief_rate(text: str) -> str:
    rate = float(Fraction(text.removeprefix("≈").replace(",", "")))
    return f"≈{rate:,.0f}" if rate >= _WHOLE_FROM else f"≈{rate:.3g}"


def _brief_wait(text: str) -> str:
    """Shorten how long it is until something is due: ``100.0 ms``, ``02:00.000``, words."""
    if ":" in text:
        return text.partition(".")[0]
    number, _, unit = text.partition(" ")
    whole, _, decimals = number.partition(".")
    if decimals and len(whole) >= _MOST_DIGITS:
        return f"{whole} {unit}"
    # Of calls in every frame the next frame has one.
    return text.removeprefix("every ")
