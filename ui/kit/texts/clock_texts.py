"""Sentences and sums about clocks, from a timeline."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from inspector.events.timeline import Timeline
from inspector.vocabulary import NEVER

#: With numbers below this, arrays are indexed by the clock's number itself.
_MOST_PLACES: Final = 1 << 20


def path_text(timeline: Timeline, clock_id: int) -> str:
    return " / ".join(clock.name for clock in reversed(timeline.path(clock_id)))


class ClockPlaces:
    """Where clocks are in an array; the numbers of several programs are far apart."""

    def __init__(self, numbers: Collection[int]) -> None:
        """Take the numbers of the clocks; 0, for none, has a place too."""
        highest = max(numbers, default=0)
        self._numbers: NDArray[np.int64] | None = None
        self.count = highest + 1
        if highest >= _MOST_PLACES:
            self._numbers = np.array(sorted({0, *numbers}), np.int64)
            self.count = len(self._numbers)

    def of(self, numbers: ArrayLike) -> NDArray[np.int64]:
        found = np.asarray(numbers, np.int64)
        return found if self._numbers is None else np.searchsorted(self._numbers, found)


def next_dues(timeline: Timeline) -> dict[int, int]:
    """Return by clock number the session time at which its next timer fires, or NEVER."""
    timeline.resolve_dues()
    numbers, places = list(timeline.clocks), ClockPlaces(timeline.clocks)
    earliest = np.full(places.count, NEVER, np.int64)
    owners = places.of(timeline.timers.numpy("clock"))
    np.minimum.at(earliest, owners, timeline.timers.numpy("session_due"))
    return dict(zip(numbers, earliest[places.of(numbers)].tolist(), strict=True))


def rate_algebra(timeline: Timeline, clock_id: int) -> str:
    """Return how the effective rate comes about: ``1/2 × 1/4 = 1/8``."""
    factors = []
    for clock in reversed(timeline.path(clock_id)):
        text = str(clock.rate)
        factors.append(f"{text} (paused: 0)" if clock.paused else text)
    return f"{' × '.join(factors)} = {timeline.effective_rate(clock_id)}"
