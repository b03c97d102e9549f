"""Sentences and sums about clocks, from a timeline."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from inspector.vocabulary import NEVER

if TYPE_CHECKING:
    from inspector.events.timeline import Timeline


_MOST_PLACES: Final = 1 << 20


def fraction_text(rate: Fraction) -> str:
    """Return a rate as people write it: ``0.25`` when that is exact, else ``1/3``."""
    decimal = f"{float(rate):.4f}".rstrip("0").rstrip(".")
    if Fraction(decimal) == rate:
        return decimal
    text = str(rate)
    return text if len(text) <= len("1000/1001") else f"≈{float(rate):.6g}"


def path_text(timeline: Timeline, clock_id: int) -> str:
    """Return the names of the clocks from the root down to one."""
    return " / ".join(clock.name for clock in reversed(timeline.path(clock_id)))


def next_dues(timeline: Timeline) -> dict[int, int]:
    """Return by clock number the session time at which its next timer fires, or NEVER."""
    timeline.resolve_dues()
    numbers, owners = sorted(timeline.clocks), timeline.timers.numpy("clock")
    places = numbers
    if numbers and numbers[-1] > _MOST_PLACES:
        # The numbers of several programs are far apart.
        owners, places = np.searchsorted(numbers, owners), list(range(len(numbers)))
    earliest = np.full(places[-1] + 1 if places else 0, NEVER, np.int64)
    np.minimum.at(earliest, owners, timeline.timers.numpy("session_due"))
    return dict(zip(numbers, earliest[places].tolist(), strict=True))


def rate_algebra(timeline: Timeline, clock_id: int) -> str:
    """Return how the effective rate comes about: ``1/2 × 1/4 = 1/8``."""
    factors = []
    for clock in reversed(timeline.path(clock_id)):
        text = str(clock.rate)
        factors.append(f"{text} (paused: 0)" if clock.paused else text)
    return f"{' × '.join(factors)} = {timeline.effective_rate(clock_id)}"
