"""Fewer points for long lines, without losing a maximum or a minimum."""

import numpy as np
from numpy.typing import NDArray

NsColumn = NDArray[np.int64]


def columns_of(at_ns: NsColumn, low_ns: int, high_ns: int, count: int) -> NDArray[np.int64]:
    """Return the column of each instant, of ``count`` equal ones from ``low_ns`` to ``high_ns``."""
    if high_ns <= low_ns:
        return np.zeros(len(at_ns), dtype=np.int64)
    places = (at_ns - low_ns).astype(np.float64) * (count / (high_ns - low_ns))
    return np.clip(places.astype(np.int64), 0, count - 1)


def kept_extremes(values: NsColumn, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indexes of the lowest and highest value of every column, ascending.

    Every kept value is one of the given ones: nothing is averaged.

    Args:
        values: Any values.
        columns: The column of each value, never descending.
    """
    lowest = kept_maxima(-values, columns)
    return np.union1d(lowest, kept_maxima(values, columns))


def kept_maxima(values: NsColumn, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the index of the first highest value of every column, ascending."""
    if not len(values):
        return np.zeros(0, dtype=np.int64)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(columns)) + 1))
    sizes = np.diff(np.append(starts, len(values)))
    highest = np.repeat(np.maximum.reduceat(values, starts), sizes)
    hits = np.flatnonzero(values == highest)
    _columns, first = np.unique(columns[hits], return_index=True)
    return hits[first]
