"""The frames of a recording, read from its file as they are asked for."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from typing import Final
from zlib import crc32

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.display_text import counted
from inspector.events.blocks.packed_columns import Block, unpack
from inspector.events.recording.layout import FRAME_COLUMNS, frame_columns_in
from inspector.events.recording.reading.opening import DAMAGE, OpenFile
from inspector.timebase import MAX_NS

#: Rows of a block of frames: numbers, cursors, and then the columns of a frame history.
_CURSOR, _AT = 1, 2
#: A longer gap between frames is taken for damage.
_MOST_MISSING: Final = 1_000_000


class _Chunk(Struct, frozen=True):
    key: int  # Number of the first frame in its row of the file, -1 for frames that are missing
    rows: int  # Number of frames in that row
    skipped: int  # How many of these are in the previous chunk too
    last_cursor: int  # Cursor of the end of its last frame


class StoredFrames:
    """The columns of a frame history in a file, each read when it is first used.

    The constructor checks every frame, but keeps only where chunks are and when frames begin.
    """

    def __init__(self, file: OpenFile, schema_version: int, clock_id: int | None) -> None:
        """Check the frames of a loop by its clock; ``None`` for the loop shown while recording."""
        self._file = file
        self._table, self._which = "frame_chunks", ""
        if clock_id is not None:
            self._table, self._which = "loop_frame_chunks", f" AND clock = {clock_id:d}"
        self._stored = frame_columns_in(schema_version)
        self._chunks: list[_Chunk] = []
        # Place of the first frame of each chunk, and the place after the last frame.
        self._places = [0]
        self.first = 0
        self.missing = 0  # Number of missing frames; frames of no duration take their places
        self._columns: dict[int, array[int]] = {}
        self._kept: dict[int, bytes] = {}
        begins = array("q")
        for instants in self._checked_instants():
            begins.frombytes(instants.tobytes())
        self._columns[0] = begins

    @property
    def is_read(self) -> frozenset[int]:
        return frozenset(self._columns)

    def __len__(self) -> int:
        return len(FRAME_COLUMNS) - _AT

    @property
    def count(self) -> int:
        return self._places[-1]

    def __getitem__(self, number: int) -> array[int]:
        found = self._columns.get(number)
        if found is None:
            found = array("q")
            found.frombytes(self.part(number, 0, self.count).tobytes())
            self._columns[number] = found
        return found

    def __iter__(self) -> Iterator[array[int]]:
        return (self[number] for number in range(len(self)))

    def part(self, number: int, low: int, high: int) -> NDArray[np.int64]:
        if number in self._columns:
            return np.frombuffer(self._columns[number], np.int64)[low:high]
        found = np.zeros(max(high - low, 0), np.int64)
        if number + _AT >= self._stored:
            return found
        at = low
        for place in range(max(bisect_right(self._places, low) - 1, 0), len(self._chunks)):
            chunk, begin = self._chunks[place], self._places[place]
            end = min(self._places[place + 1], high)
            if end <= at:
                break
            if chunk.key >= 0:
                column = self._read(chunk, number + _AT)[chunk.skipped :]
                found[at - low : end - low] = column[at - begin : end - begin]
            at = end
        return found

    def count_until(self, cursor: int) -> int:
        place = bisect_right(self._chunks, cursor, key=lambda chunk: chunk.last_cursor)
        if place == len(self._chunks):
            return self.count
        chunk, begin = self._chunks[place], self._places[place]
        cursors = self._read(chunk, _CURSOR)[chunk.skipped :]
        return begin + int(np.searchsorted(cursors, cursor, side="right"))

    def _read(self, chunk: _Chunk, row: int) -> NDArray[np.int64]:
        try:
            block = unpack(self._data(chunk.key), self._stored, chunk.rows, only=row)
        except DAMAGE as error:
            # The chunk was sound when the file was opened, so the disk is failing.
            self._file.note_damage(self._table, error)
            return np.zeros(chunk.rows, np.int64)
        column: NDArray[np.int64] = block[0]
        return column

    def _data(self, key: int) -> bytes:
        kept = self._kept.get(key)
        if kept is None:
            where = f"{self._table} WHERE first_frame = ?{self._which}"
            kept = self._file.value(f"SELECT data FROM {where}", key)  # noqa: S608 - our own names
        return kept

    def keep(self) -> None:
        """Read all bytes into memory, before the file is closed."""
        for chunk in self._chunks:
            if chunk.key >= 0:
                with suppress(*DAMAGE):
                    self._kept[chunk.key] = self._data(chunk.key)

    def _checked_instants(self) -> Iterator[NDArray[np.int64]]:
        """Yield when readable frames begin; those in gaps begin with the frame before the gap."""
        last = last_cursor = last_ns = -1
        where = f"{self._table} WHERE first_frame IS NOT NULL{self._which} ORDER BY first_frame"
        text = f"SELECT first_frame, count, crc, data FROM {where}"  # noqa: S608 - our own names
        for first, count, crc, data in self._file.rows(text):
            try:
                block = _checked(first, count, crc, data, self._stored)
                missing = first - last - 1 if self._chunks else 0
                if missing > _MOST_MISSING:
                    raise ValueError(f"the frames from {last + 1:,} to {first - 1:,} are missing")
            except DAMAGE as error:
                at_ns = last_ns if self._chunks else None
                self._file.note_damage(self._table, error, at_ns)
                continue
            skipped = min(max(-missing, 0), count)
            if skipped == count:
                continue
            if missing > 0:
                self._add(_Chunk(-1, missing, 0, last_cursor))
                self._file.note(f"{_are_missing(missing)} from frame {last + 1:,} on.")
                self.missing += missing
                yield np.full(missing, last_ns)
            if not self._chunks:
                self.first = int(first)
                self._note_missing(self.first - self._said("first_frame", self.first), "beginning")
            last, last_cursor, last_ns = (int(row[-1]) for row in block[: _AT + 1])
            self._add(_Chunk(int(first), int(count), skipped, last_cursor))
            yield block[_AT, skipped:]
        end = self.first + self.count
        self._note_missing(self._said("end_frame", end) - end, "end")

    def _said(self, name: str, otherwise: int) -> int:
        """Return a number that the file has of the frames; other loops have none."""
        said = None if self._which else self._file.meta.get(name)
        return said if isinstance(said, int) else otherwise

    def _note_missing(self, count: int, where: str) -> None:
        if count > 0:
            self._file.note(f"{_are_missing(count)} at the {where}.")
            self.missing += count

    def _add(self, chunk: _Chunk) -> None:
        self._chunks.append(chunk)
        self._places.append(self._places[-1] + chunk.rows - chunk.skipped)


def _are_missing(count: int) -> str:
    return counted(count, "frame is missing", "frames are missing")


def _checked(first: int, count: int, crc: int, data: bytes, columns: int) -> Block:
    if crc32(data) != crc:
        raise ValueError(f"the frames from {first:,} on are damaged")
    # Frame numbers differ, so each takes at least a byte.
    if count > len(data):
        raise ValueError(f"{count:,} frames in {len(data):,} bytes")
    block = unpack(data, columns, count)
    numbers, cursors = block[0], block[_CURSOR]
    is_in_order = (numbers == np.arange(first, first + count)).all()
    if first < 0 or not is_in_order or (cursors[1:] < cursors[:-1]).any():
        raise ValueError(f"the frames from {first:,} on do not follow one another")
    if (np.abs(block[_AT:] >> 1) > MAX_NS >> 2).any():
        raise ValueError(f"the frames from {first:,} on have impossible times")
    return block
