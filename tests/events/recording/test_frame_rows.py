"""The rows of frames in a recording, and the chunks beside them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from inspector.events.blocks.packed_columns import Block, unpack
from inspector.events.recording.layout import FRAME_COLUMNS, SCHEMA
from inspector.events.recording.writing.frame_rows import FrameRows, WrittenFrames
from inspector.events.timeline import Timeline
from inspector.vocabulary import (
    CLOCK_ADDED,
    FRAME_BEGAN,
    FRAME_ENDED,
    LOOP_FOUND,
    LOOP_FRAME_BEGAN,
    LOOP_FRAME_ENDED,
    MARK,
    LoopKind,
    RawEvent,
)
from tests.events.event_blocks import block_of

COLUMNS = len(FRAME_COLUMNS)


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        yield connection


def frames_from(first: int, count: int) -> Block:
    """Return frames of which some columns are zero."""
    numbers = np.arange(first, first + count)
    return np.array([numbers * (row % 3 != 1) + row * (row % 3 == 0) for row in range(COLUMNS)])


def rows(connection: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    return connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()  # noqa: S608


@pytest.mark.parametrize("count", [0, 1, 33, 66])
@pytest.mark.parametrize("clock", [0, 7])
def test_that_any_number_of_frames_are_rows_and_a_chunk(
    connection: sqlite3.Connection, count: int, clock: int
) -> None:
    written = FrameRows(connection, clock)
    for block in (frames_from(5, count), frames_from(5 + count, 2)):
        written.add(block)

    whole = [tuple(row) for row in frames_from(5, count + 2).T.tolist()]
    of_clock = (clock,) * (clock > 0)
    assert rows(connection, "loop_frames" if clock else "frames") == [
        (*of_clock, *row) for row in whole
    ]
    assert rows(connection, "frames" if clock else "loop_frames") == []
    chunks = rows(connection, "loop_frame_chunks" if clock else "frame_chunks")
    sizes = [(5, count), (5 + count, 2)][count == 0 :]
    assert [chunk[:-2] for chunk in chunks] == [(*of_clock, *size) for size in sizes]
    assert all(chunk[-2] == crc32(chunk[-1]) for chunk in chunks)
    found = [unpack(chunk[-1], COLUMNS, chunk[-3]).T.tolist() for chunk in chunks]
    assert [tuple(row) for chunk in found for row in chunk] == whole


def session(*, has_loops: bool) -> list[RawEvent]:
    """Return three frames, and two of a loop between them."""
    loop: list[RawEvent] = [
        (2, LOOP_FOUND, 2, 0, LoopKind.DRAWS_FRAMES),
        (3, LOOP_FOUND, 3, 0, LoopKind.DRAWS_FRAMES),
        (3, LOOP_FRAME_BEGAN, 3, 0, 4),
        (4, LOOP_FRAME_ENDED, 3, 6, 7),
        (4, LOOP_FRAME_BEGAN, 3, 0, 5),
        (8, LOOP_FRAME_ENDED, 3, 8, 9),
        (9, LOOP_FRAME_BEGAN, 3, 0, 6),
    ]
    frames: list[RawEvent] = [
        (0, CLOCK_ADDED, 2, 0, 0),
        *[(at_ns, FRAME_BEGAN, 1, 0, at_ns) for at_ns in (1,)],
        (5, FRAME_ENDED, 1, 1, 11),
        (6, FRAME_BEGAN, 1, 1, 12),
        (7, FRAME_ENDED, 1, 2, 13),
        (7, FRAME_BEGAN, 1, 2, 14),
        (9, FRAME_ENDED, 1, 3, 15),
        (10, MARK, 0, 0, 0),
    ]
    return sorted([*frames, *loop * has_loops], key=lambda event: event[0])


@pytest.mark.parametrize("has_loops", [False, True])
def test_that_frames_are_written_once_however_the_events_are_divided(
    connection: sqlite3.Connection, *, has_loops: bool
) -> None:
    events = session(has_loops=has_loops)
    found: set[str] = set()
    for place in range(0, len(events) + 1, 2):
        for table in ("frames", "frame_chunks", "loop_frames", "loop_frame_chunks"):
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names
        written, timeline = WrittenFrames(connection), Timeline([""])
        written.begin(timeline, 100)
        for start, end in ((0, place), (place, len(events))):
            if start < end:
                written.add(block_of(events[start:end]), 100 + start)
        # As after a gap in which nothing was lost
        timeline.apply_all(events)
        written.begin(timeline, 100 + len(events))

        assert (written.end, written.ends_of_loops) == (3, {3: 2, 2: 0} if has_loops else {})
        found.add(repr([rows(connection, table) for table in ("frames", "loop_frames")]))

    assert len(found) == 1
    cursors = [100 + n for n, event in enumerate(events, 1) if event[1] == FRAME_ENDED]
    told = [row[:6] for row in rows(connection, "frames")]
    ends = [(1, 1, 1, 11), (6, 2, 12, 13), (7, 3, 14, 15)]
    assert told == [
        (n, cursor, *end) for n, (cursor, end) in enumerate(zip(cursors, ends, strict=True))
    ]
    cursors = [100 + n for n, event in enumerate(events, 1) if event[1] == LOOP_FRAME_ENDED]
    ends = [(3, 6, 4, 7), (4, 8, 5, 9)][: len(cursors)]
    told = [row[:7] for row in rows(connection, "loop_frames")]
    expected = enumerate(zip(cursors, ends, strict=True))
    assert told == [(3, n, cursor, *end) for n, (cursor, end) in expected]


def test_that_a_recording_that_begins_later_has_the_frames_before(
    connection: sqlite3.Connection,
) -> None:
    events = session(has_loops=True)
    timeline = Timeline([""])
    timeline.apply_all(events)

    written = WrittenFrames(connection)
    written.begin(timeline, 99)
    written.begin(timeline, 99)

    assert [row[:3] for row in rows(connection, "frames")] == [(0, 99, 1), (1, 99, 6), (2, 99, 7)]
    assert [row[:4] for row in rows(connection, "loop_frames")] == [(3, 0, 99, 3), (3, 1, 99, 4)]
    # The frames that had begun go on.
    written.add(block_of([(12, LOOP_FRAME_ENDED, 3, 1, 2), (13, FRAME_ENDED, 1, 3, 4)]), 99)
    assert rows(connection, "loop_frames")[-1][:7] == (3, 2, 100, 9, 1, 6, 2)
    assert rows(connection, "frames")[-1][:3] == (3, 101, 7)
