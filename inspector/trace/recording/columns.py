"""Columns of whole numbers as bytes: how the dense parts of a recording are stored.

Little-endian throughout. First comes a head of 16 bytes for each column: its least value
(int64) and how many bytes each entry takes (uint64: 0, 1, 2, 4 or 8). Then the columns
follow, one behind another: each entry is its value minus the least, unsigned. A column
whose values are all the same takes no bytes at all.
"""

from __future__ import annotations

from array import array
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from inspector.trace.log import packed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.trace.log import Numbers
    from inspector.vocabulary import RawEvent

#: Columns of int64 in the rows of an array: for events instant, kind, subject, a and b.
Block: TypeAlias = NDArray[np.int64]

EVENT_COLUMNS: Final = 5
_HEAD: Final = np.dtype([("least", "<i8"), ("width", "<u8")])
_WIDTHS: Final = (1, 2, 4, 8)
#: More entries at once were never written.
_MOST: Final = 2**24
_LOW: Final = -(2**63)
_HIGH: Final = 2**63 - 1


#: Kinds of events are small numbers, so that a table says which of them matter.
KINDS: Final = 256


def kind_table(kinds: Sequence[int]) -> NDArray[np.bool_]:
    """Return a table that says of each kind of events whether it is one of these."""
    table = np.zeros(KINDS, bool)
    table[list(kinds)] = True
    return table


def of_kinds(block: Block, table: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which events are of the kinds in a table."""
    found: NDArray[np.bool_] = np.take(table, block[1], mode="clip")
    return found


def block_of(events: Sequence[RawEvent]) -> Block:
    """Return events as columns; what exceeds 64 bits is cut to what they can hold."""
    block = np.empty((EVENT_COLUMNS, len(events)), np.int64)
    fill_block(block, list(chain.from_iterable(events)))
    return block


def fill_block(block: Block, numbers: Numbers) -> None:
    """Put the numbers of events, one event behind another, into columns as long as they are."""
    found = packed(numbers)
    if not isinstance(found, array):
        found = array("q", [min(max(value, _LOW), _HIGH) for value in found])
    block[:] = np.frombuffer(found, np.int64).reshape(-1, EVENT_COLUMNS).T


def events_of(block: Block) -> list[RawEvent]:
    """Return columns as events."""
    return cast("list[RawEvent]", list(zip(*block.tolist(), strict=True)))


def pack(block: Block) -> bytes:
    """Return the bytes of columns with at least one entry."""
    head = np.zeros(len(block), _HEAD)
    parts = [b""]
    lows, highs = block.min(axis=1).tolist(), block.max(axis=1).tolist()
    for number, (column, least, most) in enumerate(zip(block, lows, highs, strict=True)):
        width = _width(most - least)
        head[number] = (least, width)
        if width:
            # Differences beyond 63 bits wrap round, and back when they are read.
            entries = column - np.int64(least) if least else column
            parts.append(entries.astype(f"<u{width}").tobytes())
    parts[0] = head.tobytes()
    return b"".join(parts)


def unpack(data: bytes, columns: int, count: int, out: Block | None = None) -> Block:
    """Return the columns in the bytes of :func:`pack`.

    Args:
        data: The bytes.
        columns: How many columns there are.
        count: How many entries each has.
        out: Where to put them, instead of a new array.

    Raises:
        ValueError: There are too few bytes, or too many, or they make no sense.
    """
    if not 0 <= count <= _MOST:
        message = f"no number of entries: {count}"
        raise ValueError(message)
    head = np.frombuffer(data, _HEAD, columns)
    place = columns * _HEAD.itemsize
    block = np.empty((columns, count), np.int64) if out is None else out
    for number, (least, width) in enumerate(head.tolist()):
        if width not in (0, *_WIDTHS):
            message = f"no width of a column: {width}"
            raise ValueError(message)
        if width:
            # Sums beyond 63 bits wrap round, as their differences did.
            entries = np.frombuffer(
                data, "<i8" if width == _WIDTHS[-1] else f"<u{width}", count, place
            )
            np.add(entries, np.int64(least), out=block[number], casting="unsafe", dtype=np.int64)
        else:
            block[number] = least
        place += width * count
    if place != len(data):
        message = f"{len(data)} bytes where {place} belong"
        raise ValueError(message)
    return block


def _width(span: int) -> int:
    if not span:
        return 0
    return next(width for width in _WIDTHS if span < 1 << 8 * width)
