"""Columns of whole numbers as bytes: the storage of the dense parts of a recording.

Little-endian throughout. Each column has a head of 16 bytes: its minimum (int64), the bytes per
entry (uint8: 0, 1, 2, 4 or 8), whether its entries are steps (uint8: 0 or 1), two zero bytes, and
the number of odd entries (uint32). The columns follow one after another: each entry is the value
minus the minimum, unsigned. A column of equal values takes no bytes.

If few values need more bytes than the others, their entries are odd: after the column come their
indexes (uint32) and then the entries themselves (int64); the bytes in their places have no
meaning. If no value is below the previous one, as with instants, entries may be steps: the first
is 0, every other is the value minus the previous one. Version 1 had neither.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from inspector.events.log import packed
from inspector.vocabulary import Numbers, RawEvent

#: Columns of int64 in the rows of an array: for events instant, kind, subject, a and b.
Block: TypeAlias = NDArray[np.int64]

EVENT_COLUMNS: Final = 5
_HEAD: Final = np.dtype(
    [("least", "<i8"), ("width", "u1"), ("is_steps", "u1"), ("zeros", "<u2"), ("odd", "<u4")]
)
#: Bytes of an odd entry: its index and its value.
_ODD_BYTES: Final = 12
_WIDTHS: Final = (1, 2, 4, 8)
_ALL_WIDTHS: Final = (0, *_WIDTHS)
_NARROWER: Final = (4, 2, 1, 0)
#: No block that was written has more entries.
_MOST: Final = 2**24
_LOW: Final = -(2**63)
_HIGH: Final = 2**63 - 1


#: Kinds of events are smaller than this, so a lookup table can select them.
KINDS: Final = 256


def kind_table(kinds: Iterable[int]) -> NDArray[np.bool_]:
    table = np.zeros(KINDS, bool)
    table[list(kinds)] = True
    return table


def of_kinds(block: Block, table: NDArray[np.bool_]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.take(table, block[1], mode="clip")
    return found


def fill_block(block: Block, numbers: Numbers, first: int) -> None:
    count = block.shape[1]
    place = EVENT_COLUMNS * first
    if isinstance(numbers, array):
        found = np.frombuffer(numbers, np.int64, EVENT_COLUMNS * count, 8 * place)
    else:
        some = packed(numbers[place : place + EVENT_COLUMNS * count])
        if not isinstance(some, array):
            some = array("q", [min(max(value, _LOW), _HIGH) for value in some])
        found = np.frombuffer(some, np.int64)
    block[:] = found.reshape(count, EVENT_COLUMNS).T


def events_of(block: Block) -> list[RawEvent]:
    return cast("list[RawEvent]", list(zip(*block.tolist(), strict=True)))


def pack(block: Block) -> bytes:
    head = np.zeros(len(block), _HEAD)
    parts: list[bytes | memoryview] = [b""]
    lows, highs = block.min(axis=1).tolist(), block.max(axis=1).tolist()
    for number, (column, least, most) in enumerate(zip(block, lows, highs, strict=True)):
        width = _width(most - least)
        head[number] = (least, width, 0, 0, 0)
        if not width:
            continue
        # Differences beyond 63 bits wrap round, and back when they are read.
        entries = column - np.int64(least) if least else column
        if width == _WIDTHS[-1]:
            head[number] = (least, *_add_wide(parts, entries))
        else:
            parts.append(entries.astype(f"<u{width}").data)
    parts[0] = head.tobytes()
    return b"".join(parts)


def _add_wide(
    parts: list[bytes | memoryview], entries: NDArray[np.int64]
) -> tuple[int, bool, int, int]:
    """Add a column of 8-byte entries in its smallest form; returns the rest of its head."""
    # Reading adds the steps to the minimum, so the first value has to be the minimum.
    is_steps = not entries[0] and bool((steps := np.diff(entries, prepend=0)).min() >= 0)
    if is_steps:
        entries = steps
    width, is_odd, odd = _WIDTHS[-1], None, 0
    size = width * len(entries)
    for narrower in _NARROWER:
        exceeds = entries.view(np.uint64) >= np.uint64(1 << 8 * narrower)
        found = int(np.count_nonzero(exceeds))
        if (needed := narrower * len(entries) + _ODD_BYTES * found) >= size:
            break
        width, is_odd, odd, size = narrower, exceeds, found, needed
    if width:
        parts.append(entries.astype(f"<u{width}").data)
    if is_odd is not None:
        places = np.flatnonzero(is_odd)
        parts += [places.astype("<u4").data, entries[places].astype("<i8").data]
    return width, is_steps, 0, odd


def unpack(
    data: bytes, columns: int, count: int, out: Block | None = None, only: int | None = None
) -> Block:
    """Return the columns in the bytes of :func:`pack`.

    Args:
        out: The array to fill, instead of a new one.
        only: The one column to return; by default all.

    Raises:
        ValueError, IndexError: The bytes are too few, too many or invalid.
    """
    if not 0 <= count <= _MOST:
        raise ValueError(f"invalid number of entries: {count}")
    head = np.frombuffer(data, _HEAD, columns)
    place = columns * _HEAD.itemsize
    rows = columns if only is None else 1
    block = np.empty((rows, count), np.int64) if out is None else out
    for number, (least, width, is_steps, _, odd) in enumerate(head.tolist()):
        if width not in _ALL_WIDTHS or odd > count:
            raise ValueError(f"invalid column: {width} bytes, {odd} odd entries")
        if only not in {None, number}:
            place += width * count + _ODD_BYTES * odd
            continue
        column = block[number if only is None else 0]
        if width:
            column[:] = np.frombuffer(data, f"<u{width}", count, place)
        else:
            column[:] = 0
        place += width * count
        if odd:
            places = np.frombuffer(data, "<u4", odd, place).astype(np.intp)
            column[places] = np.frombuffer(data, "<i8", odd, place + 4 * odd)
            place += _ODD_BYTES * odd
        # Sums beyond 63 bits wrap round, as the differences did.
        if is_steps:
            np.add.accumulate(column, out=column)
        if least:
            np.add(column, np.int64(least), out=column)
    if place != len(data):
        raise ValueError(f"{len(data)} bytes instead of {place}")
    return block


def _width(span: int) -> int:
    if not span:
        return 0
    return next(width for width in _WIDTHS if span < 1 << 8 * width)


#: Numbers are dense if their range is at most this many times their count.
_DENSE: Final = 8
#: Up to this many groups fit into 16 bits, which sort several times faster.
_QUICKLY_SORTED: Final = 1 << 16


def grouped(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Return the different numbers in order, and for each number its index among them."""
    if not len(numbers):
        return np.empty(0, np.int64), np.empty(0, np.intp)
    least = int(numbers.min())
    span = int(numbers.max()) - least + 1
    if span > _DENSE * len(numbers):
        different, group = np.unique(numbers, return_inverse=True)
        return different, group
    place = numbers - least
    is_there = np.zeros(span, bool)
    is_there[place] = True
    return np.flatnonzero(is_there) + least, (np.cumsum(is_there) - 1)[place]


def group_by_group(group: NDArray[np.intp], groups: int) -> NDArray[np.intp]:
    """Return the indexes of numbers, group after group, in their order within each."""
    keys = group.astype(np.uint16) if groups <= _QUICKLY_SORTED else group
    return np.argsort(keys, kind="stable")


def last_of_each(numbers: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the last index of each different number, and how often it occurs."""
    different, group = grouped(numbers)
    last = np.empty(len(different), np.intp)
    # NumPy assigns in order, so the last assignment to an index wins.
    last[group] = np.arange(len(group))
    return last, np.bincount(group, minlength=len(different))
