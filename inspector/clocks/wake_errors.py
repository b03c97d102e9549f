"""How punctually a real time source wakes whoever is attached to it."""

from array import array
from dataclasses import dataclass
from typing import Final

#: How many of the newest wake-ups the median and the percentile are taken from.
KEPT_WAKES: Final = 1_024


@dataclass(frozen=True, slots=True)
class WakeErrorSummary:
    """How much later than asked for wake-ups came, in nanoseconds.

    Attributes:
        count: How many wake-ups were measured.
        last_ns: The latest one.
        median_ns: Half of the newest 1 024 were not later than this.
        p99_ns: 99 % of the newest 1 024 were not later than this.
        max_ns: None of all was later than this.
    """

    count: int
    last_ns: int
    median_ns: int
    p99_ns: int
    max_ns: int


class WakeErrors:
    """Takes the error of every wake-up; keeps the newest 1 024, which are 8 kB.

    An error is the source's instant at the wake-up, less the instant asked for or the
    instant of asking, whichever is later: being asked for an instant that has passed
    already is not the source's fault.
    """

    def __init__(self) -> None:
        """Begin with nothing measured."""
        self._newest = array("q", bytes(8 * KEPT_WAKES))
        self._count = 0
        self._last_ns = 0
        self._max_ns = 0
        self._summary: WakeErrorSummary | None = None

    def add(self, late_ns: int) -> None:
        """Take the error of one wake-up."""
        self._newest[self._count % KEPT_WAKES] = late_ns
        self._count += 1
        self._last_ns = late_ns
        self._max_ns = max(self._max_ns, late_ns)
        self._summary = None

    def clear(self) -> None:
        """Begin again with nothing measured."""
        self._count = self._last_ns = self._max_ns = 0
        self._summary = None

    def summary(self) -> WakeErrorSummary | None:
        """Return what was measured so far, ``None`` if nothing was.

        Percentiles are nearest-rank (Hyndman & Fan 1996, type 1): each is an error that
        did occur.
        """
        if self._summary is None and self._count:
            newest = sorted(self._newest[: min(self._count, KEPT_WAKES)])
            self._summary = WakeErrorSummary(
                count=self._count,
                last_ns=self._last_ns,
                median_ns=_nearest_rank(newest, 50),
                p99_ns=_nearest_rank(newest, 99),
                max_ns=self._max_ns,
            )
        return self._summary


def _nearest_rank(ordered: list[int], percent: int) -> int:
    """Return the smallest entry that ``percent`` of all entries do not exceed."""
    return ordered[-(-len(ordered) * percent // 100) - 1]
