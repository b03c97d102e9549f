"""The frames of a recording: found in blocks of events, and written as rows and chunks."""

from __future__ import annotations

import sqlite3
from typing import Final
from zlib import crc32

import numpy as np

from inspector.events.blocks.ended_frames import FrameCollector
from inspector.events.blocks.packed_columns import Block, kind_table, of_kinds, pack
from inspector.events.frame_history import FrameHistory
from inspector.events.loop_frames import exchange
from inspector.events.recording.layout import FRAME_COLUMNS
from inspector.events.recording.writing.tables import INSERT
from inspector.events.recording.writing.timer_rows import AT_ONCE
from inspector.events.schema import ABOUT_LOOPS
from inspector.events.timeline import Timeline

_of_loops = kind_table(ABOUT_LOOPS)
_ADD_FRAMES: Final = "INSERT OR REPLACE INTO frames VALUES {}"
_FRAME_ROW: Final = f"({','.join('?' * len(FRAME_COLUMNS))})"
_ADD_OF_LOOP: Final = INSERT.format("loop_frames", ",".join("?" * (1 + len(FRAME_COLUMNS))))


class FrameRows:
    def __init__(self, connection: sqlite3.Connection, clock_id: int) -> None:
        self._connection = connection
        self._clock_id = clock_id
        self._stored = 0

    def add_history(self, frames: FrameHistory, cursor: int) -> None:
        """Add the frames that ended before a cursor and are not in the file yet."""
        start = max(frames.first, self._stored)
        if frames.end > start:
            columns = [frames.at_ns, frames.interval_ns, frames.delta_ns, frames.busy_ns]
            columns += [frames.cut_ns, *frames.phases, *frames.shares]
            numbers = np.arange(start, frames.end)
            new = [column[start - frames.first :] for column in columns]
            self.add(np.array([numbers, np.full(len(numbers), cursor), *new], np.int64))

    def add(self, frames: Block) -> None:
        if not frames.shape[1]:
            return
        first, last = int(frames[0, 0]), int(frames[0, -1])
        data = pack(frames)
        values = (first, frames.shape[1], crc32(data), data)
        if self._clock_id:
            rows = frames.T.tolist()
            self._connection.executemany(_ADD_OF_LOOP, [(self._clock_id, *row) for row in rows])
            text = "INSERT OR REPLACE INTO loop_frame_chunks VALUES (?,?,?,?,?)"
            self._connection.execute(text, (self._clock_id, *values))
        else:
            self._connection.execute(_ADD_FRAMES.format(_FRAME_ROW), frames[:, 0].tolist())
            if last > first:
                self._add_following(frames[1:, 1:])
            text = "INSERT OR REPLACE INTO frame_chunks VALUES (?,?,?,?)"
            self._connection.execute(text, values)
        self._stored = last + 1

    def _add_following(self, columns: Block) -> None:
        """Append frames and let SQLite number them, which is faster."""
        # Columns of zeros are literals, which is faster than passing them.
        used = np.flatnonzero(columns.any(axis=1))
        marks = ["0"] * len(columns)
        for number in used.tolist():
            marks[number] = "?"
        one, rows = f"(NULL,{','.join(marks)})", columns[used].T
        whole = len(rows) - len(rows) % AT_ONCE
        many = rows[:whole].reshape(-1, AT_ONCE * len(used)).tolist()
        self._connection.executemany(_ADD_FRAMES.format(",".join([one] * AT_ONCE)), many)
        self._connection.executemany(_ADD_FRAMES.format(one), rows[whole:].tolist())


class WrittenFrames:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._rows: dict[int, FrameRows] = {}
        self._collectors: dict[int, FrameCollector] = {}

    def begin(self, timeline: Timeline, cursor: int) -> None:
        """Start from a state: that at the beginning, or after a gap."""
        self._collectors.clear()
        found = {0: (timeline.frames, timeline.open_frame)}
        for clock_id, loop in timeline.loops.items():
            found[clock_id] = (loop.frames, loop.open_frame)
        for clock_id, (frames, open_frame) in found.items():
            self._collectors[clock_id] = FrameCollector(frames.end, open_frame)
            self._rows_of(clock_id).add_history(frames, cursor)

    def add(self, block: Block, first_cursor: int) -> None:
        self._rows_of(0).add(self._collectors[0].fold(block, first_cursor))
        places = np.flatnonzero(of_kinds(block, _of_loops))
        if not places.size:
            return
        subjects = block[2, places]
        for clock_id in np.unique(subjects).tolist():
            own = places[subjects == clock_id]
            events = block[:, own]
            exchange(events, 0, clock_id)
            if clock_id not in self._collectors:
                self._collectors[clock_id] = FrameCollector(0, Timeline([]).open_frame)
            found = self._collectors[clock_id].fold(events, first_cursor, own)
            self._rows_of(clock_id).add(found)

    def _rows_of(self, clock_id: int) -> FrameRows:
        if clock_id not in self._rows:
            self._rows[clock_id] = FrameRows(self._connection, clock_id)
        return self._rows[clock_id]

    @property
    def end(self) -> int:
        return self._collectors[0].end

    @property
    def ends_of_loops(self) -> dict[int, int]:
        return {clock_id: each.end for clock_id, each in self._collectors.items() if clock_id}
