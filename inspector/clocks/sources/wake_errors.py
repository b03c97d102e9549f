"""How punctually a real time source wakes whoever is attached to it."""

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
    """Takes the error of every wake-up; remembers the newest 1 024.

    An error is the source's instant at the wake-up, less the instant asked for or the
    instant of asking, whichever is later: being asked for an instant that has passed
    already is not the source's fault.

    Adding is a bare list append, because anything more would be half of what a source
    adds to a wake-up after a sleep, when nothing is in the processor's caches (measured:
    12 of 25 µs). :meth:`settle` keeps memory bounded; call it now and then.

    Attributes:
        add: Takes the error of one wake-up.
    """

    def __init__(self) -> None:
        """Begin with nothing measured."""
        self._waiting: list[int] = []
        self._newest: list[int] = []
        self._count = 0
        self._max_ns = 0
        self._summary: WakeErrorSummary | None = None
        self.add = self._waiting.append

    def settle(self) -> None:
        """Keep no more than 1 024 errors, if there are twice as many."""
        if len(self._waiting) >= KEPT_WAKES:
            self._take_waiting()

    def clear(self) -> None:
        """Begin again with nothing measured."""
        self._waiting.clear()
        self._newest.clear()
        self._count = self._max_ns = 0
        self._summary = None

    def summary(self) -> WakeErrorSummary | None:
        """Return what was measured so far, ``None`` if nothing was.

        Percentiles are nearest-rank (Hyndman & Fan 1996, type 1): each is an error that
        did occur.
        """
        if self._waiting:
            self._take_waiting()
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

    def _take_waiting(self) -> None:
        waiting = self._waiting
        self._count += len(waiting)
        self._max_ns = max(self._max_ns, *waiting)
        self._newest = (self._newest + waiting)[-KEPT_WAKES:]
        self._summary = None
        # In place: ``add`` is bound to this very list.
        waiting.clear()


def _nearest_rank(ordered: list[int], percent: int) -> int:
    """Return the smallest entry that ``percent`` of all entries do not exceed."""
    return ordered[-(-len(ordered) * percent // 100) - 1]
