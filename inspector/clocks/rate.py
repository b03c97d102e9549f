"""Exact rates: how local time follows from the parent's time, and how typed rates are read.

A clock's local time is ``(parent * n + off) // D`` in integers, with one fixed
denominator ``D``. A change of rate at parent instant ``P`` is
``off += P * (n_old - n_new)``: nothing is rounded, so local time never jumps and
no error builds up however often the rate changes. Pause is ``n = 0``.

Frame rates are exact numbers too.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from inspector.foreign.numbers import number_in, refusal, rounded, shown
from inspector.timebase import plain_number
from inspector.vocabulary import RATE_DENOMINATOR

D = RATE_DENOMINATOR

#: Higher rates are taken for mistakes.
MAX_RATE = 1_000_000

DEFAULT_FRAME_RATE: Final = Fraction(60)
SLOWEST_FRAME_RATE: Final = Fraction(1, 60)
FASTEST_FRAME_RATE: Final = Fraction(10_000)

_FRACTION_SIGNS: Final = {"¼": "1/4", "½": "1/2", "¾": "3/4"}


def rate_numerator(rate: float | Fraction | str) -> int:
    """Return ``rate`` over the fixed denominator, rounded to nearest.

    Args:
        rate: Local seconds per parent second, 0 or more; also as text: ``"1/3"``,
            ``"0.25"``, ``"25%"``, ``"2x"`` or ``"×¼"``.

    Raises:
        ValueError: The rate is negative, infinite, not a number, above a million,
            or so small that it would round to a standstill.
    """
    try:
        exact = _parse(rate) if isinstance(rate, str) else Fraction(plain_number(rate))
    except (ValueError, OverflowError, TypeError):
        hint = "write 1, 0.25, 1/3, 25% or 2x"
        raise ValueError(refusal("a rate", rate, hint)) from None
    if exact < 0:
        text = f"−{rounded(-exact)}×"
        raise ValueError(f"a rate cannot be negative, time does not run backwards: {text}")
    if exact > MAX_RATE:
        raise ValueError(f"a rate above {MAX_RATE:,} is not supported: {shown(rate)}")
    numerator = round(exact * D)
    if numerator == 0 and exact != 0:
        raise ValueError(f"too slow: the slowest rate is 1/{D}: {shown(rate)}")
    return numerator


def parse_rate(text: str) -> Fraction:
    """Return the rate that a person wrote, rounded to what clocks can keep, or a ``ValueError``."""
    return Fraction(rate_numerator(text), D)


def _parse(text: str) -> Fraction:
    stripped = text.strip().lower().replace("×", "x")
    if stripped.endswith("%"):
        return number_in(stripped[:-1].strip()) / 100
    # As people write it, "2x", or as it is shown, "×2"
    factor = stripped[1:] if stripped.startswith("x") else stripped.removesuffix("x")
    return number_in(_FRACTION_SIGNS.get(factor.strip(), factor.strip()))


def checked_frame_rate(frames_per_second: float | Fraction) -> Fraction:
    """Return a frame rate exactly; a ``ValueError`` unless it is from 1/60 to 10 000."""
    try:
        rate = Fraction(frames_per_second)
    except (ValueError, OverflowError, TypeError):
        raise ValueError(f"not a frame rate: {shown(frames_per_second)}") from None
    if not SLOWEST_FRAME_RATE <= rate <= FASTEST_FRAME_RATE:
        raise ValueError(f"a frame rate lies between 1/60 and 10,000, not {rounded(rate)}")
    return rate


def product_of_rates(numerators: Iterable[int]) -> Fraction:
    """Return the product of rates over the fixed denominator; most are 1."""
    product, count = 1, 0
    for n in numerators:
        if n != D:
            product *= n
            count += 1
    return Fraction(product, D**count)


def local_ns(parent_ns: int, n: int, off: int) -> int:
    """Return the local time at a parent instant."""
    return (parent_ns * n + off) // D


def parent_ns(due_ns: int, n: int, off: int) -> int:
    """Return the first parent instant at which local time has reached ``due_ns``.

    The exact adjoint of :func:`local_ns`: never early and no later than necessary. ``n``
    must not be 0.
    """
    return -((off - due_ns * D) // n)


def reanchored(off: int, at_parent_ns: int, n_old: int, n_new: int) -> int:
    """Return the offset that keeps local time when the rate changes."""
    return off + at_parent_ns * (n_old - n_new)


def moved(off: int, n: int, old_parent_ns: int, new_parent_ns: int) -> int:
    """Return the offset that keeps local time when the parent changes."""
    return off + (old_parent_ns - new_parent_ns) * n
