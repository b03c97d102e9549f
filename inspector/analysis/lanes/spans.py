"""The slices of a thread on a lane: millions of stretches of time, which are not copied."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias, cast, overload

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from typing_extensions import override

#: Whole numbers in as few bytes as they need.
NarrowColumn: TypeAlias = "NDArray[np.signedinteger[Any]]"

#: Spans that are processed at once, and spans for which one earliest beginning is kept.
_AT_ONCE: Final = 1 << 18
_TOGETHER: Final = 1 << 8
_NOTHING: Final = np.zeros(0, dtype=np.int64)


class SpanColumns(Struct, frozen=True, eq=False):
    """Stretches of time on all tracks, in the order of their ends."""

    start_ns: NDArray[np.int64]
    took_ns: NarrowColumn
    track: NarrowColumn  # The track of each
    subject: NarrowColumn  # The subject of each: a member


class Spans(Sequence[int]):
    """The spans of one track, as a sequence of the instants at which they end."""

    def __init__(self, clock_id: int, columns: SpanColumns, track: int) -> None:
        """Refer to the spans of a track; their places are found when first needed."""
        self.clock_id = clock_id
        self._columns = columns
        self._track = track

    @cached_property
    def _places(self) -> NDArray[np.uint32]:
        return np.flatnonzero(self._columns.track == self._track).astype(np.uint32)

    @cached_property
    def _earliest(self) -> NDArray[np.int64]:
        """For each :data:`_TOGETHER` spans, the earliest beginning of these and all later ones."""
        found = [
            self._columns.start_ns[self._places[start : start + _TOGETHER]].min()
            for start in range(0, len(self), _TOGETHER)
        ]
        return np.minimum.accumulate(np.array(found, dtype=np.int64)[::-1])[::-1]

    @override
    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    @override
    def __getitem__(self, index: int | slice) -> int | list[int]:
        """Return when spans end."""
        places = self._places[index]
        ends = self._columns.start_ns[places] + self._columns.took_ns[places]
        return cast("int | list[int]", ends.tolist())

    def of(self, indices: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        places = self._places[indices]
        took_ns = self._columns.took_ns[places].astype(np.int64)
        return self._columns.start_ns[places] + took_ns, took_ns

    def subjects(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._columns.subject[self._places[indices]].astype(np.int64)

    def within(self, low_ns: float, high_ns: float) -> tuple[int, int]:
        """Return the range of indices of spans that end from ``low_ns`` to before ``high_ns``."""
        return bisect_left(self, low_ns), bisect_left(self, high_ns)

    def before(self, edges_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        low = np.zeros(len(edges_ns), dtype=np.int64)
        high = np.full(len(edges_ns), len(self), dtype=np.int64)
        # Bisection for all edges at once; searchsorted would need a column of all ends.
        for _ in range(len(self).bit_length()):
            middle = (low + high) >> 1
            ends, _took_ns = self.of(np.minimum(middle, len(self) - 1))
            is_before = (middle < high) & (ends < edges_ns)
            low, high = np.where(is_before, middle + 1, low), np.where(is_before, high, middle)
        return low

    def overlapping(
        self, low_ns: float, high_ns: float, most: int | None = None
    ) -> tuple[NDArray[np.int64], int]:
        """Return the spans that overlap a stretch.

        Args:
            most: Return only this many, the longest; ``None`` for all.

        Returns:
            Their indices, in order unless some are left out, and how many spans overlap it in all.
        """
        first = bisect_left(self, low_ns)
        last = min(int(np.searchsorted(self._earliest, high_ns)) * _TOGETHER, len(self))
        count, kept, durations = 0, _NOTHING, _NOTHING
        for start in range(first, last, _AT_ONCE):
            indices = np.arange(start, min(start + _AT_ONCE, last))
            ends, took_ns = self.of(indices)
            is_there = ends - took_ns < high_ns
            count += int(np.count_nonzero(is_there))
            kept = np.concatenate((kept, indices[is_there]))
            durations = np.concatenate((durations, took_ns[is_there]))
            if most is not None and len(kept) > most:
                longest = np.argpartition(-durations, most)[:most]
                kept, durations = kept[longest], durations[longest]
        return kept, count


def depths_of(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many slices each slice is nested in."""
    depths = np.zeros(len(starts), dtype=np.int64)
    around: list[int] = []
    for place in np.lexsort((-ends, starts)).tolist():
        end = int(ends[place])
        while around and around[-1] < end:
            around.pop()
        depths[place] = len(around)
        around.append(end)
    return depths
