"""The exact distribution of frame times, to which new ones can be added at little cost."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: A run of sorted values is merged into another that is less than this many times as long, so a
#: million values are in about ten runs.
_GROWTH: Final = 4


class Distribution:
    """Whole numbers, such as frame times in nanoseconds, by size.

    They are kept in sorted runs, each several times longer than the next (a log-structured merge
    tree, O'Neil et al. 1996): adding one takes logarithmic time on average, and every count and
    every rank is exact.
    """

    def __init__(self, values: ArrayLike = ()) -> None:
        self._runs: list[NDArray[np.int64]] = []
        self._length = 0
        self.extend(values)

    def __len__(self) -> int:
        return self._length

    def extend(self, values: ArrayLike) -> None:
        run = np.array(values, dtype=np.int64)
        self._length += len(run)
        while self._runs and len(self._runs[-1]) < _GROWTH * len(run):
            run = np.concatenate((self._runs.pop(), run))
        if len(run):
            run.sort()
            self._runs.append(run)

    def counts_below(self, limits: ArrayLike) -> NDArray[np.int64]:
        limits = np.asarray(limits, dtype=np.int64)
        found = np.zeros(len(limits), dtype=np.int64)
        for run in self._runs:
            found += np.searchsorted(run, limits, side="left")
        return found

    def histogram(self, edges: ArrayLike) -> NDArray[np.int64]:
        """Return how many values lie from each of some ascending edges up to the next."""
        return np.diff(self.counts_below(edges))

    def of_ranks(self, ranks: ArrayLike) -> NDArray[np.int64]:
        """Return the values of some ranks, 0 for the smallest; the ranks are within the length."""
        ranks = np.asarray(ranks, dtype=np.int64)
        if len(self._runs) == 1:
            return self._runs[0].take(ranks)
        low = np.full(len(ranks), min(int(run[0]) for run in self._runs))
        high = np.full(len(ranks), max(int(run[-1]) for run in self._runs))
        # Bisection: the largest value such that no more values than the rank are smaller.
        while (low < high).any():
            middle = low + (high - low + 1) // 2
            is_low = self.counts_below(middle) <= ranks
            low = np.where(is_low, middle, low)
            high = np.where(is_low, high, middle - 1)
        return low

    def percentiles(self, percents: ArrayLike) -> NDArray[np.int64]:
        """Return the values that these percentages do not exceed (nearest rank, type 1)."""
        shares = np.asarray(percents, dtype=np.float64) / 100
        ranks = np.ceil(shares * self._length - 1e-9).astype(np.int64) - 1
        return self.of_ranks(np.maximum(ranks, 0))

    def quantiles_8(self, shares: ArrayLike) -> NDArray[np.float64]:
        """Return quantiles that are interpolated, as :func:`.frame_series.quantile_8` does."""
        wanted = np.asarray(shares, dtype=np.float64)
        places = np.maximum((self._length + 1 / 3) * wanted + 1 / 3 - 1, 0)
        lower = np.floor(places).astype(np.int64)
        both = self.of_ranks(np.concatenate((lower, np.minimum(lower + 1, self._length - 1))))
        below, above = np.split(both.astype(np.float64), 2)
        found: NDArray[np.float64] = below + (places - lower) * (above - below)
        return found
