"""Reads the pictures of a recording, block by block."""

from __future__ import annotations

import zlib
from bisect import bisect_right

import numpy as np

from inspector.events.blocks.packed_columns import unpack
from inspector.events.recording.pictures import BLOCK_BYTES, BLOCK_PICTURES, MOST_BYTES, TABLE
from inspector.events.recording.reading.opening import OpenFile


class RecordedBlocks:
    def __init__(self, file: OpenFile) -> None:
        self._file = file
        self._firsts: list[int] = []
        self._block: tuple[int, list[tuple[int, bytes]]] | None = None
        self.bytes = self.count = 0  # Size in the file; number of pictures
        # Older files have no such table.
        tables = file.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
        if (TABLE,) not in set(tables):
            return
        columns = "first_frame, count, length(data) + length(places)"
        text = f"SELECT {columns} FROM {TABLE} ORDER BY first_frame"  # noqa: S608
        for row in file.rows(text):
            first, count, size = row
            if all(type(each) is int for each in row) and 0 < count <= BLOCK_PICTURES:
                self._firsts.append(first)
                self.count += count
                self.bytes += size
            else:
                file.note_damage(TABLE, f"there is no block of {count!r} pictures")

    @property
    def frames(self) -> tuple[int, int]:
        """The first and the last frame with a picture; (0, -1) without one."""
        if not self._firsts:
            return 0, -1
        try:
            last = self._read(self._firsts[-1])[-1][0]
        except ValueError:
            last = self._firsts[-1]
        return self._firsts[0], last

    def at(self, frame: int) -> tuple[int, bytes] | None:
        """Return the picture of a frame, or the last one before it; a ``ValueError`` for damage."""
        place = bisect_right(self._firsts, frame) - 1
        if place < 0:
            return None
        block = self._read(self._firsts[place])
        return block[max(bisect_right(block, frame, key=lambda each: each[0]) - 1, 0)]

    def _read(self, first: int) -> list[tuple[int, bytes]]:
        if self._block is None or self._block[0] != first:
            self._block = first, self._unpacked(first)
        return self._block[1]

    def _unpacked(self, first: int) -> list[tuple[int, bytes]]:
        text = f"SELECT count, crc, places, data FROM {TABLE} WHERE first_frame = ?"  # noqa: S608
        try:
            count, crc, places, data = self._file.value(text, first)
            return _checked_block(first, count, crc, places, data)
        except (ValueError, TypeError, IndexError, OverflowError, zlib.error) as error:
            self._file.note_damage(TABLE, f"those from frame {first:,} on: {error}")
            raise ValueError(str(error)) from error


def _checked_block(
    first: int, count: int, crc: int, places: bytes, data: bytes
) -> list[tuple[int, bytes]]:
    if zlib.crc32(data, zlib.crc32(places)) != crc:
        raise ValueError("their checksum is wrong")
    frames, sizes = unpack(places, 2, count)
    most = BLOCK_BYTES + MOST_BYTES
    raw = zlib.decompressobj().decompress(data, most)
    ends = np.cumsum(sizes)
    is_apart = sizes.min() >= 0 and sizes.max() <= most and ends[-1] == len(raw)
    if frames[0] != first or (np.diff(frames) <= 0).any() or not is_apart:
        raise ValueError("they do not follow one another")
    slices = zip(frames.tolist(), sizes.tolist(), ends.tolist(), strict=True)
    return [(frame, raw[end - size : end]) for frame, size, end in slices]
