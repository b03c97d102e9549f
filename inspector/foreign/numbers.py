"""Numbers in texts from users and files: the only place where a text becomes a number.

Exact, and bounded: ``Fraction("1e999999999")`` would compute a billion digits.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Final

MOST_CHARACTERS: Final = 100
#: The largest decimal exponent; it includes every ``float``.
LARGEST_EXPONENT: Final = 400
#: The most digits that always fit into 64 bits.
_MOST_DIGITS: Final = 18
#: Longest excerpt of an invalid value.
_MOST_SHOWN: Final = 40

_EXPONENT: Final = re.compile(r"e([-+]?\d+)\s*$", re.IGNORECASE)


def number_in(text: str) -> Fraction:
    """Parse a number: ``1.5``, ``-3``, ``1/60``, ``1e-3`` or ``1_000``.

    Raises:
        ValueError: It is not a number, or beyond the limits; see :func:`refusal`.
    """
    if _limit_of(text):
        raise ValueError(refusal("a number", text, "write 1.5, 1/60 or 1e-3"))
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(refusal("a number", text, "write 1.5, 1/60 or 1e-3")) from None


def count_in(text: str) -> int | None:
    """Parse a whole number, 0 or more; ``None`` if it is not one or has more than 18 digits."""
    is_count = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
    return int(text) if is_count else None


def refusal(what: str, value: object, hint: str) -> str:
    """Return why ``what``, such as "a rate", was refused; the hint unless a limit is exceeded."""
    limit = _limit_of(value) if isinstance(value, str) else ""
    return f"not {what}: {shown(value)} ({limit or hint})"


def shown(value: object) -> str:
    """Return a value for a message, however large it is."""
    if isinstance(value, str):
        # Escaped as Python does, so that invisible characters show, in the quotes of all messages.
        start = repr(value[:_MOST_SHOWN])[1:-1]
        is_cut = len(value) > _MOST_SHOWN
        return f"“{start}…” ({len(value):,} characters)" if is_cut else f"“{start}”"
    if isinstance(value, bytes) and len(value) > _MOST_SHOWN:
        return f"{value[:_MOST_SHOWN]!r}… ({len(value):,} characters)"
    try:
        text = str(value) if isinstance(value, Fraction | Decimal) else repr(value)
    except ValueError:
        # Python converts no number of more than 4,300 digits.
        return "a number of thousands of digits"
    return text if len(text) <= 2 * _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def rounded(number: Fraction | float) -> str:
    """Return a number with ten digits for a message, however large it is."""
    try:
        return f"{float(number):.10g}"
    except OverflowError:
        return "a number of hundreds of digits"


def _limit_of(text: str) -> str:
    """Return the limit that a text exceeds, or an empty text."""
    if len(text) > MOST_CHARACTERS:
        return f"a number has at most {MOST_CHARACTERS} characters"
    exponent = _EXPONENT.search(text)
    if exponent and abs(int(exponent[1])) > LARGEST_EXPONENT:
        return f"an exponent lies between −{LARGEST_EXPONENT} and {LARGEST_EXPONENT}"
    return ""
