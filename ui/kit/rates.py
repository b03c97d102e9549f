"""The usual rates, and how a rate is written."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from inspector.vocabulary import RATE_DENOMINATOR, typed_rate

#: The rates that are one click away, and what their buttons and menus say.
RATE_PRESETS: Final[Mapping[Fraction, str]] = {
    Fraction(1, 4): "¼",
    Fraction(1, 2): "½",
    Fraction(1): "1",
    Fraction(2): "2",
    Fraction(4): "4",
}

#: The rates that the keys for slower and faster go through.
USUAL_RATES: Final = tuple(Fraction(text) for text in ("1/10", "1/4", "1/2", "1", "2", "4", "10"))


def rate_to_text(rate: Fraction) -> str:
    return typed_rate(round(rate * RATE_DENOMINATOR))


def next_usual_rate(rate: Fraction, *, is_faster: bool) -> Fraction:
    """Return the usual rate above or below ``rate``; the last one if there is none."""
    if is_faster:
        return next((usual for usual in USUAL_RATES if usual > rate), max(rate, USUAL_RATES[-1]))
    return next((usual for usual in reversed(USUAL_RATES) if usual < rate), USUAL_RATES[0])
