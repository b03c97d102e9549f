"""Maximum and sum of any stretch of a long column, without reading all of it.

A pyramid keeps, for every 16 values of a column, their maximum and sum, then the same
for every 16 of those, and so on. A picture that is 1 000 pixels wide then asks for
1 000 stretches of a million values and gets the exact answer of each from a few
thousand numbers. Nothing is left out: values at the edges of a stretch that do not
fill a group of 16 are read from the column itself, and so is its tail, which is where
the newest value is.
"""

from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

#: Values per entry of the lowest level, and entries per entry of the level above:
#: about a seventh of the column's own memory (8 would take 0.29, 32 would take 0.06 but
#: read more at the edges).
BUCKET: Final = 16

NsColumn = NDArray[np.int64]

_LOWEST: Final = np.iinfo(np.int64).min
_GROWTH: Final = 1.25
#: A level is read directly when it has at most this many entries per stretch, as the highest has,
#: which has fewer than :data:`BUCKET`.
_DIRECT: Final = 96

_MAX, _SUM = range(2)
_OPERATIONS: Final = (np.maximum, np.add)
_ROWS: Final = len(_OPERATIONS)
_NEUTRAL: Final = (_LOWEST, 0)


class Stretches(Struct, frozen=True, eq=False):
    """What is in each of some stretches of a column, one array entry per stretch."""

    maxima: NsColumn  # Highest value; the lowest int64 where the stretch is empty
    sums: NsColumn  # Sum of the values
    counts: NsColumn  # How many values there are


class Pyramid:
    """Maxima and sums over a column that is only ever appended to.

    The column itself is not kept here; queries take it as an argument. It may have
    lost values at its front: ``first`` is the index of the oldest value that it
    still has.
    """

    def __init__(self) -> None:
        self._levels: list[_Level] = []
        self._waiting = np.empty(0, dtype=np.int64)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def nbytes(self) -> int:
        return sum(level.nbytes for level in self._levels)

    def extend(self, values: NsColumn) -> None:
        """Add the next values of the column."""
        self._length += len(values)
        waiting = np.concatenate((self._waiting, values)) if len(self._waiting) else values
        full = len(waiting) // BUCKET * BUCKET
        if full:
            block = waiting[:full]
            self._append(0, _grouped(block, block))
        self._waiting = waiting[full:].copy()

    def stretches(self, column: NsColumn, edges: NsColumn, *, first: int = 0) -> Stretches:
        """Return what is in each stretch from one edge up to, not including, the next.

        Args:
            column: The column, from value ``first`` to the last that was appended.
            edges: Ascending indices within the column, one more than stretches.
            first: Index of the first value of ``column``.
        """
        lows, highs = edges[:-1], edges[1:]
        found = self._reduced(column, lows, highs, first)
        return Stretches(found[_MAX], found[_SUM], highs - lows)

    def index_of_maximum(self, column: NsColumn, start: int, stop: int, *, first: int = 0) -> int:
        """Return the index of the first highest value from ``start`` to ``stop - 1``."""
        if not first <= start < stop <= self._length:
            message = f"no values from {start} to {stop - 1} in {first} to {self._length - 1}"
            raise ValueError(message)
        return self._place_of_maximum(column, start, stop, -1, first)

    def indices_of_maxima(self, column: NsColumn, edges: NsColumn, *, first: int = 0) -> NsColumn:
        """Return the index of the first highest value of each stretch; -1 for an empty one."""
        lows, highs = edges[:-1], edges[1:]
        return self._places_of_maxima(column, lows, highs, -1, first)

    def _append(self, number: int, entries: NsColumn) -> None:
        if number == len(self._levels):
            self._levels.append(_Level())
        level = self._levels[number]
        complete = level.append(entries)
        if complete.shape[1]:
            self._append(number + 1, _grouped(*complete))

    def _values(self, column: NsColumn, level: int) -> NsColumn:
        """Return the rows of a level; the column itself stands for level -1."""
        if level < 0:
            return np.broadcast_to(column, (_ROWS, len(column)))
        return self._levels[level].entries

    def _reduced(self, column: NsColumn, lows: NsColumn, highs: NsColumn, first: int) -> NsColumn:
        """Return maxima and sums of any stretches that do not overlap."""
        results = np.repeat(_NEUTRAL_COLUMN, len(lows), axis=1)
        level = -1
        offset = first
        while True:
            values = self._values(column, level)
            chosen = np.flatnonzero(lows < highs)
            if not len(chosen):
                return results
            if _is_direct(lows, highs):
                low, high = lows[chosen] - offset, highs[chosen] - offset
                _combine(results, chosen, _reduced_directly(values, low, high))
                return results
            inner_lows, inner_highs = _inner(lows, highs)
            for a, b in _outer(lows, highs, inner_lows, inner_highs):
                chosen = np.flatnonzero(a < b)
                found = _reduced_rows(values, a[chosen] - offset, b[chosen] - offset)
                _combine(results, chosen, found)
            lows, highs = inner_lows, inner_highs
            level += 1
            offset = 0

    def _place_of_maximum(
        self, column: NsColumn, start: int, stop: int, level: int, first: int
    ) -> int:
        """Return where in a level the first highest entry of a range is."""
        offset = first if level < 0 else 0
        values = column if level < 0 else self._levels[level].entries[_MAX]
        inner_start, inner_stop = -(-start // BUCKET), stop // BUCKET
        if inner_stop - inner_start <= 1:
            return start + int(values[start - offset : stop - offset].argmax())
        above = self._place_of_maximum(column, inner_start, inner_stop, level + 1, first)
        ranges = (
            (start, inner_start * BUCKET),
            (above * BUCKET, (above + 1) * BUCKET),
            (inner_stop * BUCKET, stop),
        )
        places = [a + int(values[a - offset : b - offset].argmax()) for a, b in ranges if a < b]
        # Of equal ones, the first.
        return max(places, key=lambda place: values[place - offset])

    def _places_of_maxima(
        self, column: NsColumn, lows: NsColumn, highs: NsColumn, level: int, first: int
    ) -> NsColumn:
        offset = first if level < 0 else 0
        values = column if level < 0 else self._levels[level].entries[_MAX]
        if _is_direct(lows, highs):
            return _places_directly(values, lows, highs, offset)
        inner_lows, inner_highs = _inner(lows, highs)
        above = self._places_of_maxima(column, inner_lows, inner_highs, level + 1, first)
        before, behind = _outer(lows, highs, inner_lows, inner_highs)
        within = (above * BUCKET, np.where(above < 0, above * BUCKET, (above + 1) * BUCKET))
        best = np.full(len(lows), -1, dtype=np.int64)
        highest = np.full(len(lows), _LOWEST, dtype=np.int64)
        for a, b in (before, within, behind):
            places, maxima = _places_in_rows(values, a - offset, b - offset)
            # Of equal maxima, the earlier piece counts; an empty piece never does.
            is_better = (a < b) & ((maxima > highest) | (best < 0))
            best[is_better] = places[is_better] + offset
            highest[is_better] = maxima[is_better]
        return best


class _Level:
    """Maximum and sum of each group, as two rows."""

    def __init__(self) -> None:
        self._rows = np.empty((_ROWS, 0), dtype=np.int64)
        self._count = 0

    @property
    def entries(self) -> NsColumn:
        return self._rows[:, : self._count]

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes

    def append(self, entries: NsColumn) -> NsColumn:
        """Add entries; return the entries of all groups of 16 that are now complete."""
        before = self._count // BUCKET * BUCKET
        needed = self._count + entries.shape[1]
        if needed > self._rows.shape[1]:
            larger = np.empty((_ROWS, int(needed * _GROWTH)), dtype=np.int64)
            larger[:, : self._count] = self.entries
            self._rows = larger
        self._rows[:, self._count : needed] = entries
        self._count = needed
        return self._rows[:, before : needed // BUCKET * BUCKET]


def _grouped(maxima: NsColumn, sums: NsColumn) -> NsColumn:
    """Return maximum and sum of every 16 entries."""
    grouped = np.empty((_ROWS, len(sums) // BUCKET), dtype=np.int64)
    for row, (operation, values) in enumerate(zip(_OPERATIONS, (maxima, sums), strict=True)):
        halves = values.reshape(-1, BUCKET)
        width = BUCKET
        # Halving takes four steps, whether one group is complete or a million.
        while width > 1:
            width //= 2
            halves = operation(halves[:, :width], halves[:, width : 2 * width])
        grouped[row] = halves[:, 0]
    return grouped


def _is_direct(lows: NsColumn, highs: NsColumn) -> bool:
    return int(highs[-1] - lows[0]) <= _DIRECT * len(lows)


def _inner(lows: NsColumn, highs: NsColumn) -> tuple[NsColumn, NsColumn]:
    """Return which whole groups of the level above lie within each stretch."""
    inner_lows = -(-lows // BUCKET)
    return inner_lows, np.maximum(highs // BUCKET, inner_lows)


def _outer(
    lows: NsColumn, highs: NsColumn, inner_lows: NsColumn, inner_highs: NsColumn
) -> tuple[tuple[NsColumn, NsColumn], tuple[NsColumn, NsColumn]]:
    """Return the parts of each stretch before and after its whole groups, up to 15 values each."""
    before_end = np.minimum(inner_lows * BUCKET, highs)
    behind_start = np.maximum(np.minimum(inner_highs * BUCKET, highs), before_end)
    return (lows, before_end), (behind_start, highs)


def _combine(results: NsColumn, places: NDArray[np.intp], found: NsColumn) -> None:
    for row, operation in enumerate(_OPERATIONS):
        results[row, places] = operation(results[row, places], found[row])


def _reduced_directly(values: NsColumn, lows: NsColumn, highs: NsColumn) -> NsColumn:
    """Return maxima and sums of stretches, none of them empty, in ascending order."""
    # Every other range that reduceat sees is the gap between two stretches. It wants
    # no index at the end, so the values end where the last stretch does.
    edges = np.column_stack((lows, highs)).ravel()[:-1]
    found = np.empty((_ROWS, len(lows)), dtype=np.int64)
    for row, operation in enumerate(_OPERATIONS):
        found[row] = operation.reduceat(values[row, : highs[-1]], edges)[::2]
    return found


def _row_indices(
    values_count: int, lows: NsColumn, highs: NsColumn
) -> tuple[NsColumn, NDArray[np.bool_]]:
    """Return the indices of up to 16 values per stretch, and which of them are in it."""
    indices: NsColumn = lows[:, np.newaxis] + _OFFSETS
    is_within = indices < highs[:, np.newaxis]
    indices.clip(0, values_count - 1, out=indices)
    return indices, is_within


def _reduced_rows(values: NsColumn, lows: NsColumn, highs: NsColumn) -> NsColumn:
    """Return maxima and sums of stretches of at most 15 values."""
    indices, is_within = _row_indices(values.shape[1], lows, highs)
    is_same = values.strides[0] == 0
    taken = values[0].take(indices) if is_same else None
    found = np.empty((_ROWS, len(lows)), dtype=np.int64)
    for row, (operation, neutral) in enumerate(zip(_OPERATIONS, _NEUTRAL, strict=True)):
        picked = taken if taken is not None else values[row].take(indices)
        found[row] = operation.reduce(np.where(is_within, picked, neutral), axis=1)
    return found


def _places_in_rows(values: NsColumn, lows: NsColumn, highs: NsColumn) -> tuple[NsColumn, NsColumn]:
    """Return place and value of the first maximum of stretches of at most 16 values."""
    indices, is_within = _row_indices(len(values), lows, highs)
    picked = np.where(is_within, values.take(indices), _LOWEST)
    columns = picked.argmax(axis=1)
    return lows + columns, picked[np.arange(len(lows)), columns]


def _places_directly(values: NsColumn, lows: NsColumn, highs: NsColumn, offset: int) -> NsColumn:
    """Return the index of the first maximum of each stretch, reading all of them."""
    places = np.full(len(lows), -1, dtype=np.int64)
    chosen = np.flatnonzero(lows < highs)
    if not len(chosen):
        return places
    low, high = lows[chosen], highs[chosen]
    edges = np.column_stack((low, high)).ravel()[:-1] - offset
    maxima = np.maximum.reduceat(values[: high[-1] - offset], edges)[::2]
    sizes = high - low
    ends = np.cumsum(sizes)
    owner = np.repeat(np.arange(len(low)), sizes)
    indices = np.arange(ends[-1]) - np.repeat(ends - sizes, sizes) + low[owner]
    hits = np.flatnonzero(values[indices - offset] == maxima[owner])
    owners = owner[hits]
    is_first = np.ones(len(hits), dtype=bool)
    is_first[1:] = owners[1:] != owners[:-1]
    places[chosen] = indices[hits[is_first]]
    return places


_OFFSETS: Final = np.arange(BUCKET)
_NEUTRAL_COLUMN: Final = np.array(_NEUTRAL, dtype=np.int64)[:, np.newaxis]
