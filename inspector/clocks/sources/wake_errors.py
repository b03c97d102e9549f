"""Wake-up delays of a real time source."""

from dataclasses import dataclass
from typing import Final

#: The median and the percentile are of this many newest wake-ups.
KEPT_WAKES: Final = 1_024


@dataclass(frozen=True, slots=True)
class WakeErrorSummary:
    """Wake-up delays in nanoseconds: how much later than requested the source woke.

    Attributes:
        count: Number of measured wake-ups.
        last_ns: Delay of the latest.
        median_ns: Median of the newest 1 024.
        p99_ns: 99th percentile of the newest 1 024.
        max_ns: Maximum of all.
    """

    count: int
    last_ns: int
    median_ns: int
    p99_ns: int
    max_ns: int


class WakeErrors:
    """Collects the delay of every wake-up; keeps the newest 1 024.

    A delay counts from the requested instant or the instant of the request, whichever is
    later: a request for a past instant is not the source's fault.

    Adding is a bare list append, because anything more would double what a source adds to a
    wake-up after a sleep, with cold caches (measured: 12 of 25 µs). :meth:`settle` bounds the
    memory; call it now and then.

    Attributes:
        add: Takes the delay of one wake-up.
    """

    def __init__(self) -> None:
        self._waiting: list[int] = []
        self._newest: list[int] = []
        self._count = self._max_ns = 0
        self._summary: WakeErrorSummary | None = None
        self.add = self._waiting.append

    def settle(self) -> None:
        """Drop all but the newest 1 024 delays when twice as many have come."""
        if len(self._waiting) >= KEPT_WAKES:
            self._add_waiting()

    def clear(self) -> None:
        """Start the measurement again."""
        self._waiting.clear()
        self._newest.clear()
        self._count = self._max_ns = 0
        self._summary = None

    def summary(self) -> WakeErrorSummary | None:
        """Return the delays so far, ``None`` without any.

        Percentiles are nearest-rank (Hyndman & Fan 1996, type 1), so each is a measured delay.
        """
        if self._waiting:
            self._add_waiting()
        if self._summary is None and self._count:
            ordered = sorted(self._newest)
            self._summary = WakeErrorSummary(
                count=self._count,
                last_ns=self._newest[-1],
                median_ns=_nearest_rank(ordered, 50),
                p99_ns=_nearest_rank(ordered, 99),
                max_ns=self._max_ns,
            )
        return self._summary

    def _add_waiting(self) -> None:
        waiting = self._waiting
        self._count += len(waiting)
        self._max_ns = max(self._max_ns, *waiting)
        self._newest = (self._newest + waiting)[-KEPT_WAKES:]
        self._summary = None
        # Cleared in place, because ``add`` is bound to this list.
        waiting.clear()


def _nearest_rank(ordered: list[int], percent: int) -> int:
    """Return the smallest entry that at least ``percent`` of all entries do not exceed."""
    return ordered[-(-len(ordered) * percent // 100) - 1]
