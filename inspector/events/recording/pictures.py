"""The pictures of a recording: packed by who draws them, here compressed in blocks of frames.

A block holds consecutive pictures as one zlib stream. What does not change from one picture to
the next takes next to nothing in it, and any picture is found by unpacking its block alone.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

import numpy as np

from inspector.events.recording.columns import pack, unpack
from inspector.timebase import MAX_NS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from inspector.events.recording.reading.opening import OpenFile

TABLE: Final = "pictures"
#: Most pictures and bytes in a block, before it is compressed.
BLOCK_PICTURES: Final = 64
BLOCK_BYTES: Final = 2 * 1024 * 1024
#: A larger picture is left out.
MOST_BYTES: Final = 4 * 1024 * 1024
#: Compressed bytes per frame on average, about 16 MB a minute at 60 frames a second. Beyond it,
#: every second picture is left out, then three of four, and so on.
BYTES_A_FRAME: Final = 4_600
_FEWEST: Final = 64
#: Compressed bytes in a file, beyond which it takes no more pictures.
FILE_BYTES: Final = 1024 * 1024 * 1024
_LEVEL: Final = 6
_SECONDS_A_MINUTE: Final = 60
_KILOBYTES_BELOW: Final = 950


def bytes_a_frame(packed: Sequence[bytes]) -> float:
    """Return what pictures of consecutive frames would take in a recording, per frame."""
    kept = packed[-BLOCK_PICTURES:]
    size = len(zlib.compress(b"".join(kept), _LEVEL)) / max(len(kept), 1)
    return min(size, BYTES_A_FRAME)


def cost_text(size: float, frames: float, frame_rate: float) -> str:
    """Return what pictures take, as ``1.7 MB a minute``.

    Args:
        size: Their bytes.
        frames: From how many frames they are.
        frame_rate: Frames per second.
    """
    kilobytes = size / max(frames, 1) * frame_rate * _SECONDS_A_MINUTE / 1_000
    if kilobytes < _KILOBYTES_BELOW:
        return f"{kilobytes:.0f} kB a minute"
    return f"{kilobytes / 1_000:.1f} MB a minute"


class PictureBlocks:
    """Writes pictures to a recording; for the writing thread.

    Attributes:
        bytes: Compressed bytes so far.
        frames: From how many frames they are.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._waiting: list[tuple[int, bytes]] = []
        self._size = 0
        self._every = 1
        self._first: int | None = None
        self._kept = -MAX_NS
        self.bytes = self.frames = 0

    def add(self, frame: int, packed: bytes) -> None:
        """Add the picture of a frame, or replace it; frames come in order.

        Raises:
            sqlite3.Error: The file cannot be written.
        """
        waiting = self._waiting
        if waiting and waiting[-1][0] == frame:
            self._size -= len(waiting.pop()[1])
        elif self._kept < frame < self._kept + self._every:
            return
        if len(packed) > MOST_BYTES or self.bytes > FILE_BYTES:
            return
        if self._first is None:
            self._first = frame
        self._kept = frame
        waiting.append((frame, packed))
        self._size += len(packed)
        if len(waiting) == BLOCK_PICTURES or self._size >= BLOCK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what waits.

        Raises:
            sqlite3.Error: The file cannot be written.
        """
        waiting, self._waiting, self._size = self._waiting, [], 0
        if not waiting:
            return
        data = zlib.compress(b"".join(packed for _, packed in waiting), _LEVEL)
        places = pack(np.array([(frame, len(packed)) for frame, packed in waiting], np.int64).T)
        values = (waiting[0][0], len(waiting), zlib.crc32(data, zlib.crc32(places)), places, data)
        self._connection.execute(f"INSERT OR REPLACE INTO {TABLE} VALUES (?,?,?,?,?)", values)  # noqa: S608
        self.bytes += len(data) + len(places)
        self.frames = self._kept - (self._first or 0) + 1
        a_frame = len(data) / (len(waiting) * self._every)
        if a_frame > BYTES_A_FRAME:
            self._every = min(2 * self._every, _FEWEST)
        elif 3 * a_frame < BYTES_A_FRAME and self._every > 1:
            self._every //= 2


class RecordedBlocks:
    """Reads the pictures of a recording.

    Attributes:
        bytes: What they take in the file.
        count: How many there are.
    """

    def __init__(self, file: OpenFile) -> None:
        self._file = file
        self._firsts: list[int] = []
        self._block: tuple[int, list[tuple[int, bytes]]] | None = None
        self.bytes = self.count = 0
        # Older files have no such table.
        tables = file.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
        if (TABLE,) not in set(tables):
            return
        text = f"SELECT first_frame, count, length(data) FROM {TABLE} ORDER BY first_frame"  # noqa: S608
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
        """Return the picture of a frame, or else the last one before it, with its frame.

        Raises:
            ValueError: It is damaged.
        """
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
    """Return the frames and the pictures of a block.

    Raises:
        ValueError, TypeError, IndexError, OverflowError, zlib.error: It is damaged.
    """
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
