"""Columns of whole numbers and texts, encoded for the interactive page."""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

_SEVEN_BITS: Final = 127
_MOST_BYTES: Final = 10


class PageData(Struct):
    about: dict[str, Any]  # Texts and short lists, as JSON has them
    # Columns of whole numbers; ``about`` refers to each by its place.
    columns: list[NDArray[np.int64]] = field(default_factory=list)

    def column(self, values: Iterable[int]) -> int:
        known = values if isinstance(values, np.ndarray | array) else array("q", values)
        self.columns.append(np.array(known, dtype=np.int64))
        return len(self.columns) - 1

    def packed(self) -> bytes:
        """Return a raw deflate stream: a length, the texts as JSON, and the columns.

        Columns are encoded as differences, in zigzag encoding, as varints of seven bits a byte.
        """
        columns = [_varints(each) for each in self.columns]
        sizes = [
            [len(values), len(each)] for values, each in zip(self.columns, columns, strict=True)
        ]
        about = {**self.about, "columns": sizes}
        text = json.dumps(about, ensure_ascii=True, separators=(",", ":")).encode()
        stream = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
        parts = [stream.compress(len(text).to_bytes(4, "little") + text)]
        parts += [stream.compress(each) for each in columns]
        return b"".join([*parts, stream.flush()])


def _varints(values: NDArray[np.int64]) -> bytes:
    differences = np.diff(values, prepend=0)
    zigzag = ((differences << 1) ^ (differences >> 63)).view(np.uint64)
    shifts = np.arange(_MOST_BYTES, dtype=np.uint64) * np.uint64(7)
    groups = zigzag[:, None] >> shifts
    is_used = groups > 0
    is_used[:, 0] = True
    has_more = np.zeros_like(is_used)
    has_more[:, :-1] = is_used[:, 1:]
    numbers = (groups & np.uint64(_SEVEN_BITS)).astype(np.uint8) | (has_more.astype(np.uint8) << 7)
    used: bytes = numbers[is_used].tobytes()
    return used
