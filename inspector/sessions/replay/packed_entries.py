"""Entries of the journal in little memory: a day of readings takes some 20 MB.

The newest entries are kept as they come. As soon as there are enough of them they become a
block: differences from entry to entry, whose bytes are put in order by their place, so that
the many equal ones compress. What is read back is exactly what was put in.
"""

from __future__ import annotations

import zlib
from array import array
from typing import Final

#: Entries of a block; packing one takes less than a millisecond.
BLOCK: Final = 1_024
_COLUMNS: Final = 3
#: Blocks that stay unpacked after they were read: whoever follows a script reads at two places.
_KEPT: Final = 4
_LEVEL: Final = 6


class PackedEntries:
    """Triples of whole numbers below 2⁶³, in the order in which they were added."""

    __slots__ = ("_blocks", "_packed_bytes", "_tail", "_unpacked")

    def __init__(self) -> None:
        """Begin with none."""
        self._blocks: list[bytes] = []
        self._tail = array("q")
        self._packed_bytes = 0
        self._unpacked: dict[int, array[int]] = {}

    def __len__(self) -> int:
        """Return how many entries there are."""
        return len(self._blocks) * BLOCK + len(self._tail) // _COLUMNS

    @property
    def size_bytes(self) -> int:
        """How much memory they take, without what is kept unpacked for reading."""
        return self._packed_bytes + len(self._tail) * self._tail.itemsize

    def append(self, entry: tuple[int, int, int]) -> None:
        """Add an entry.

        Raises:
            OverflowError: A number of it is too large.
        """
        self._tail.extend(entry)
        if len(self._tail) >= BLOCK * _COLUMNS:
            block = _packed(self._tail)
            self._blocks.append(block)
            self._packed_bytes += len(block)
            self._tail = array("q")

    def clear(self) -> None:
        """Forget all."""
        self._blocks.clear()
        self._unpacked.clear()
        self._tail = array("q")
        self._packed_bytes = 0

    def __getitem__(self, index: int) -> tuple[int, int, int]:
        """Return an entry by its number, counted from 0."""
        block, place = divmod(index, BLOCK)
        numbers = self._tail if block >= len(self._blocks) else self._of_block(block)
        place *= _COLUMNS
        return numbers[place], numbers[place + 1], numbers[place + 2]

    def _of_block(self, block: int) -> array[int]:
        found = self._unpacked.get(block)
        if found is None:
            while len(self._unpacked) >= _KEPT:
                del self._unpacked[next(iter(self._unpacked))]
            found = self._unpacked[block] = _unpacked(self._blocks[block])
        return found


def _packed(numbers: array[int]) -> bytes:
    import numpy as np  # noqa: PLC0415 - a scene is begun before numpy is wanted

    columns = np.frombuffer(numbers, dtype=np.int64).reshape(-1, _COLUMNS).T
    steps = np.diff(columns, axis=1, prepend=0)
    # What wakes a scene comes about as far apart as its frames are.
    usual = np.sort(steps, axis=1)[:, steps.shape[1] // 2]
    steps -= usual[:, np.newaxis]
    folded = (steps << 1) ^ (steps >> 63)
    planes = np.ascontiguousarray(folded, dtype=np.int64).view(np.uint8).reshape(_COLUMNS, -1, 8)
    return usual.tobytes() + zlib.compress(planes.transpose(0, 2, 1).tobytes(), _LEVEL)


def _unpacked(block: bytes) -> array[int]:
    import numpy as np  # noqa: PLC0415

    head = 8 * _COLUMNS
    usual = np.frombuffer(block[:head], dtype=np.int64)
    digits = np.frombuffer(zlib.decompress(block[head:]), dtype=np.uint8)
    planes = digits.reshape(_COLUMNS, 8, -1).transpose(0, 2, 1)
    folded = np.ascontiguousarray(planes).view(np.uint64).reshape(_COLUMNS, -1)
    steps = (folded >> np.uint64(1)).astype(np.int64) ^ -(folded & np.uint64(1)).astype(np.int64)
    columns = np.cumsum(steps + usual[:, np.newaxis], axis=1, dtype=np.int64)
    numbers = array("q")
    numbers.frombytes(np.ascontiguousarray(columns.T).tobytes())
    return numbers
