"""The pictures of a recording, compressed in blocks of frames.

A block holds consecutive packed pictures as one zlib stream. What does not change from one picture
to the next takes next to no space, and reading a picture unpacks only its block.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Sequence
from typing import Final

import numpy as np

from inspector.events.blocks.packed_columns import pack
from inspector.timebase import MAX_NS

TABLE: Final = "pictures"
#: Most pictures and bytes in a block, before it is compressed.
BLOCK_PICTURES: Final = 64
BLOCK_BYTES: Final = 2 << 20
#: A picture with more bytes is left out.
MOST_BYTES: Final = 4 << 20
#: Compressed bytes per frame on average, about 16 MB a minute at 60 frames a second. Beyond it,
#: every second picture is left out, then three of four, and so on.
BYTES_A_FRAME: Final = 4_600
_FEWEST: Final = 64
#: Compressed bytes of pictures in a file; when there are more, no further ones are added.
FILE_BYTES: Final = 1 << 30
_LEVEL: Final = 6
_SECONDS_A_MINUTE: Final = 60
_KILOBYTES_BELOW: Final = 950


def bytes_a_frame(packed: Sequence[bytes]) -> float:
    """Return the bytes per frame that pictures of consecutive frames would take in a recording."""
    kept = packed[-BLOCK_PICTURES:]
    size = len(zlib.compress(b"".join(kept), _LEVEL)) / max(len(kept), 1)
    return min(size, BYTES_A_FRAME)


def cost_text(size: float, frames: float, frame_rate: float) -> str:
    """Return the space that pictures take, such as ``1.7 MB a minute``."""
    kilobytes = size / max(frames, 1) * frame_rate * _SECONDS_A_MINUTE / 1_000
    if kilobytes < _KILOBYTES_BELOW:
        return f"{kilobytes:.0f} kB a minute"
    return f"{kilobytes / 1_000:.1f} MB a minute"


class PictureBlocks:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._waiting: list[tuple[int, bytes]] = []
        self._size = 0
        self._every = 1
        self._first: int | None = None
        self._kept = -MAX_NS
        self.bytes = self.frames = 0  # Compressed size; number of frames that the pictures span

    def add(self, frame: int, packed: bytes) -> None:
        """Add the picture of a frame, or replace it; frames come in order."""
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
