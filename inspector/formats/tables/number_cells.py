"""Rows of whole numbers as text, thousands at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from msgspec import Struct

if TYPE_CHECKING:
    from numpy.typing import NDArray


class TextCells(Struct, frozen=True, eq=False):
    characters: NDArray[np.uint8]  # The characters of a cell in each row, padded
    lengths: NDArray[np.int64]  # The length of each cell


#: A text for all rows, texts, or numbers with how many of their digits are decimals.
Cells: TypeAlias = "bytes | TextCells | tuple[NDArray[np.int64], int]"

_BLOCK: Final = 20_000
_POWERS: Final = 10 ** np.arange(19, dtype=np.int64)
_ZERO, _POINT = b"0."


def number_rows(columns: Sequence[Cells], count: int) -> Iterator[tuple[slice, bytes]]:
    """Yield rows of cells between commas, with CRLF behind each, and which rows they are.

    Numbers are at least 0; a ``ValueError`` otherwise.
    """
    for start in range(0, count, _BLOCK):
        rows = slice(start, min(start + _BLOCK, count))
        yield rows, _block(columns, rows)


def _block(columns: Sequence[Cells], rows: slice) -> bytes:
    count = rows.stop - rows.start
    parts: list[NDArray[np.uint8]] = []
    kept: list[NDArray[np.bool_]] = []
    known: dict[int, NDArray[np.uint8]] = {}
    for number, column in enumerate(columns):
        end = b"," if number < len(columns) - 1 else b"\r\n"
        if isinstance(column, bytes):
            parts.append(_repeated(column + end, count))
            kept.append(np.ones(parts[-1].shape, dtype=np.bool_))
            continue
        if isinstance(column, TextCells):
            written = column.characters[rows]
            parts += [written, _repeated(end, count)]
            kept += [
                np.arange(written.shape[1]) < column.lengths[rows, None],
                np.ones((count, len(end)), dtype=np.bool_),
            ]
            continue
        values, decimals = column[0][rows], column[1]
        digits = known.get(id(column[0]))
        if digits is None or digits.shape[1] <= decimals:
            digits = known[id(column[0])] = _digits(values, decimals + 1)
        width = digits.shape[1]
        least = _POWERS[width - 1 :: -1] if width else _POWERS[:0]
        is_kept = values[:, None] >= least
        is_kept[:, width - decimals - 1 :] = True
        whole = width - decimals
        parts.append(digits[:, :whole])
        kept.append(is_kept[:, :whole])
        if decimals:
            parts += [_repeated(b".", count), digits[:, whole:]]
            kept += [np.ones((count, 1), dtype=np.bool_), is_kept[:, whole:]]
        parts.append(_repeated(end, count))
        kept.append(np.ones((count, len(end)), dtype=np.bool_))
    return np.hstack(parts)[np.hstack(kept)].tobytes()


def _repeated(text: bytes, count: int) -> NDArray[np.uint8]:
    return np.broadcast_to(np.frombuffer(text, dtype=np.uint8), (count, len(text)))


def _digits(values: NDArray[np.int64], least: int) -> NDArray[np.uint8]:
    """Return the digits of numbers, a row each, with zeros in front."""
    if len(values) and values.min() < 0:
        raise ValueError(f"numbers in cells are at least 0, not {values.min()}")
    largest = int(values.max(initial=0))
    width = max(least, len(str(largest)))
    found = np.empty((len(values), width), dtype=np.uint8)
    rest = values.astype(np.uint64)
    for place in range(width - 1, -1, -1):
        above = rest // np.uint64(10)
        found[:, place] = rest - above * np.uint64(10) + np.uint64(_ZERO)
        rest = above
    return found
