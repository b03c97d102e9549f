"""How the commands read their arguments, as ``argparse`` wants it: a text in, a value out.

What makes no sense raises ``argparse.ArgumentTypeError`` with a sentence; it ends up
behind the name of the argument.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from fractions import Fraction

from inspector.clocks.failures import FailurePolicy
from inspector.timebase import MAX_NS, NS_PER_SECOND, parse_duration_ns


def count(text: str) -> int:
    """Return a whole number above 0; 1,000 and 1_000 may be written."""
    try:
        count = int(text.replace("_", "").replace(",", ""))
    except ValueError:
        count = 0
    if count < 1:
        message = f"not a whole number above 0: {text!r}"
        raise ArgumentTypeError(message)
    return count


def duration_ns(text: str) -> int:
    """Return a duration above 0: 10, 1.5, 90s, “3 min”, 1:00:00."""
    try:
        duration_ns = parse_duration_ns(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
    if duration_ns <= 0:
        message = f"a duration must be above 0: {text!r}"
        raise ArgumentTypeError(message)
    return duration_ns


def step_ns(text: str) -> Fraction:
    """Return a step exactly: sixty steps of 1/60 are one second."""
    try:
        step_ns = Fraction(text.strip()) * NS_PER_SECOND
    except (ValueError, ZeroDivisionError):
        step_ns = Fraction(duration_ns(text))
    if step_ns < 1:
        message = f"a step must be at least a nanosecond: {text!r}"
        raise ArgumentTypeError(message)
    if step_ns >= MAX_NS:
        message = f"a step must be shorter than 146 years: {text!r}"
        raise ArgumentTypeError(message)
    return step_ns


def rate(text: str) -> Fraction:
    """Return the rate of a clock: 0.25, 1/3, 2x, 50%."""
    from inspector.clocks.rate import D, rate_numerator  # noqa: PLC0415 - seldom needed

    try:
        return Fraction(rate_numerator(text), D)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def failure_policy(text: str) -> FailurePolicy:
    """Return what happens after a callback raised: continue, pause-branch or stop."""
    wanted = text.lower().replace("-", " ").replace("_", " ")
    for policy in FailurePolicy:
        if policy.value == wanted:
            return policy
    message = f"no such policy: {text!r} (there are continue, pause-branch and stop)"
    raise ArgumentTypeError(message)


def milliseconds(text: str) -> float:
    """Return a number of milliseconds above 0."""
    try:
        milliseconds = float(text.removesuffix("ms"))
    except ValueError:
        milliseconds = 0.0
    if not 0 < milliseconds < float("inf"):
        message = f"not a number of milliseconds: {text!r}"
        raise ArgumentTypeError(message)
    return milliseconds


def size(text: str) -> tuple[float, float]:
    """Return a width and a height: 720x405."""
    try:
        width, height = (float(part) for part in text.lower().replace("×", "x").split("x"))
    except ValueError:
        message = f"not a size: {text!r} (write 720x405)"
        raise ArgumentTypeError(message) from None
    return width, height
