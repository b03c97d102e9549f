"""The order of many rows by a number, of which only the visible ones are sorted."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from inspector.vocabulary import NEVER

#: Keys after every number: of calls without end, without such a value, and of waiting ones.
ENDLESS: Final = NEVER - 3
NO_VALUE: Final = NEVER - 2
WAITING: Final = NEVER - 1
#: Rows sorted beyond those asked for, so that scrolling a little needs no sorting.
_MARGIN = 64
#: Packed keys must stay below the sign bit, with one to spare.
_PACKED_BITS = 62


class WindowedOrder:
    """Rows in ascending order of a key, ties by a second key, sorted where looked at.

    Taking 100 000 new keys costs a copy; the rows of one screen then cost a
    partition (about a tenth of a full sort) whatever the number of rows.
    """

    def __init__(self) -> None:
        self._ids = np.empty(0, np.int64)
        self._keys = self._ids
        self._ties: NDArray[np.int64] | None = None
        self._window_start = 0
        self._window = self._ids

    def __len__(self) -> int:
        return self._ids.size

    def set_rows(
        self, ids: NDArray[np.int64], keys: NDArray[np.int64], ties: NDArray[np.int64]
    ) -> None:
        """Replace all rows.

        Args:
            ids: Number of the subject of each row, int64, shape (rows,); kept, not copied.
            keys: What the rows are ordered by, in the same places.
            ties: What decides between equal keys.
        """
        self._ids = ids
        self._keys, self._ties = _packed(keys, ties)
        self._window_start = 0
        self._window = ids[:0]

    def id_at(self, row: int) -> int:
        """Return the subject in ``row``, sorting its surroundings; raises IndexError beyond all."""
        place = row - self._window_start
        if not 0 <= place < self._window.size:
            if not 0 <= row < self._ids.size:
                raise IndexError(f"no row {row} among {self._ids.size}")
            self.sort_rows(row, row + 1)
            place = row - self._window_start
        return int(self._window[place])

    def row_of(self, subject_id: int) -> int | None:
        places = np.flatnonzero(self._ids == subject_id)
        if not places.size:
            return None
        place = places[0]
        key = self._keys[place]
        row = int(np.count_nonzero(self._keys < key))
        if self._ties is not None:
            row += int(np.count_nonzero((self._keys == key) & (self._ties < self._ties[place])))
        return row

    def sort_rows(self, start: int, stop: int) -> None:
        """Find out which subjects are in the rows ``start`` to ``stop`` and a little around."""
        keys, rows = self._keys, self._ids.size
        low = start - _MARGIN if start > 2 * _MARGIN else 0
        high = min(stop + _MARGIN, rows) - 1
        bounds = np.partition(keys, (low, high) if low else high)
        is_member = keys <= bounds[high]
        if low:
            is_member &= keys >= bounds[low]
            self._window_start = int(np.count_nonzero(keys < bounds[low]))
        else:
            self._window_start = 0
        members = np.flatnonzero(is_member)
        if self._ties is None:
            members = members[np.argsort(keys[members])]
        else:
            members = members[np.lexsort((self._ties[members], keys[members]))]
        self._window = self._ids[members]


def _packed(
    keys: NDArray[np.int64], ties: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Return keys and ties as one number each if they fit, so that no two are equal."""
    if not keys.size:
        return keys, None
    low, high = int(keys.min()), int(keys.max())
    first, last = int(ties.min()), int(ties.max())
    bits = (last - first).bit_length()
    if (high - low).bit_length() + bits > _PACKED_BITS:
        return keys, ties
    return ((keys - low) << bits) | (ties - first), None


def compact(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return keys with those behind every number next to the largest, so that they can be packed.

    Args:
        keys: int64; changed in place.
    """
    behind = keys >= ENDLESS
    if behind.any() and not behind.all():
        keys[behind] -= ENDLESS - 1 - int(keys[~behind].max())
    return keys
