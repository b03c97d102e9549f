"""Frames in chunks that overlap, are missing or damaged, read as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import cast
from zlib import crc32

import numpy as np
import pytest

from inspector.events.blocks.packed_columns import Block, pack, unpack
from inspector.events.recording.layout import FRAME_COLUMNS, SCHEMA_VERSION
from inspector.events.recording.reading import frames as frames_module
from inspector.events.recording.reading.frames import StoredFrames
from inspector.events.recording.reading.opening import OpenFile
from inspector.timebase import MAX_NS
from inspector.vocabulary import Share
from tests.fuzz import rounds

HISTORY = len(FRAME_COLUMNS) - 2


def frames_from(first: int, count: int) -> Block:
    """Return frames of which each number tells which it is; the cursors have gaps."""
    numbers = np.arange(first, first + count)
    rows = [numbers, 3 * numbers + 2, *(1_000 * (row + 1) + numbers for row in range(HISTORY))]
    return np.array(rows, np.int64)


class Tables:
    """Stands in for the file of a recording."""

    def __init__(self, *blocks: Block, **meta: object) -> None:
        self.blocks = {int(block[0, 0]): pack(block) for block in blocks}
        self.counts = {int(block[0, 0]): block.shape[1] for block in blocks}
        self.meta = meta
        self.notes: list[str] = []
        self.damage: list[tuple[str, str, int | None]] = []
        self.asked: list[str] = []
        self.damaged: set[int] = set()

    def rows(self, text: str) -> Iterator[tuple[int, int, int, bytes]]:
        self.asked.append(text)
        for first in sorted(self.blocks):
            data = self.blocks[first]
            yield first, self.counts[first], crc32(data) + (first in self.damaged), data

    def value(self, text: str, first: int) -> bytes:
        self.asked.append(text)
        if first not in self.blocks:
            raise ValueError("it does not exist")
        return self.blocks[first]

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)

    def note_damage(self, table: str, error: object, at_ns: int | None = None) -> None:
        self.damage.append((table, str(error), at_ns))

    def read(self, version: int = SCHEMA_VERSION, clock_id: int | None = None) -> StoredFrames:
        return StoredFrames(cast("OpenFile", self), version, clock_id)


@pytest.mark.parametrize("seed", rounds(12))
def test_that_each_frame_is_read_once_and_those_that_are_missing_take_no_time(seed: int) -> None:
    chance = Random(seed)
    first = at = chance.choice([0, 7])
    blocks: list[Block] = []
    there: set[int] = set()
    for _ in range(chance.randrange(1, 6)):
        # Next to the one before, over it, within it, or behind a gap
        at = max(first, at + chance.choice([0, 0, -3, -9, 1, 4]))
        count = chance.randrange(1, 8)
        if at not in {int(block[0, 0]) for block in blocks}:
            blocks.append(frames_from(at, count))
            there |= {*range(at, at + count)}
        at = max(there) + 1
    file = Tables(*blocks)

    stored = file.read()

    first, end = min(there), max(there) + 1
    missing = [each not in there for each in range(first, end)]
    assert (stored.first, stored.count, stored.missing) == (first, end - first, sum(missing))
    assert (len(stored), set(stored.is_read), file.damage) == (HISTORY, {0}, [])
    whole = frames_from(first, end - first)
    # Those that are missing are at the instant of the one before, and take no time.
    for place in np.flatnonzero(missing):
        whole[1:3, place] = whole[1:3, place - 1]
        whole[3:, place] = 0
    for number in chance.sample(range(HISTORY), HISTORY):
        expected = whole[2 + number].tolist()
        for _ in range(6):
            low, high = (chance.randrange(end - first + 1) for _ in range(2))
            assert stored.part(number, low, high).tolist() == expected[low:high]
        assert stored[number].tolist() == expected
        assert stored[number] is stored[number]
    for cursor in range(3 * end + 9):
        assert stored.count_until(cursor) == int((whole[1] <= cursor).sum())
    assert [len(column) for column in stored] == [stored.count] * HISTORY


def test_that_frames_that_are_missing_are_counted_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames_module, "_MOST_MISSING", 3)
    file = Tables(frames_from(5, 2), frames_from(10, 1), first_frame=4, end_frame=13)

    stored = file.read()

    assert file.notes == [
        "1 frame is missing at the beginning.",
        "3 frames are missing from frame 7 on.",
        "2 frames are missing at the end.",
    ]
    assert (stored.missing, stored.first, stored.count, file.damage) == (6, 5, 6, [])
    # Any more are damage to what is behind them.
    file = Tables(frames_from(5, 2), frames_from(11, 1), first_frame=5, end_frame=7)
    assert (file.read().count, file.notes) == (2, [])
    said = "the frames from 7 to 10 are missing"
    assert file.damage == [("frame_chunks", said, int(frames_from(6, 1)[2, 0]))]
    # A file says how many there are of the loop shown only.
    file = Tables(frames_from(5, 2), first_frame=0, end_frame=99)
    assert (file.read(clock_id=3).missing, file.notes) == (0, [])
    assert "loop_frame_chunks" in file.asked[0]
    assert "clock = 3" in file.asked[0]


def test_that_damaged_frames_are_missing_from_where_the_ones_before_end() -> None:
    file = Tables(*(frames_from(first, 2) for first in (5, 7, 9)))
    file.damaged = {5, 9}

    assert (file.read().first, file.read().count) == (7, 2)
    known_ns = int(frames_from(8, 1)[2, 0])
    assert file.damage[:2] == [
        ("frame_chunks", "the frames from 5 on are damaged", None),
        ("frame_chunks", "the frames from 9 on are damaged", known_ns),
    ]


def changed(row: int, place: int, value: int) -> Block:
    block = frames_from(4, 3)
    block[row, place] = value
    return block


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (changed(0, 1, 6), "do not follow one another"),
        (changed(1, 2, 16), "do not follow one another"),
        (frames_from(-1, 2), "do not follow one another"),
        (changed(2, 0, MAX_NS // 2 + 2), "have impossible times"),
        (changed(-1, 2, -MAX_NS // 2 - 2), "have impossible times"),
    ],
)
def test_that_frames_that_cannot_be_are_damage(block: Block, said: str) -> None:
    file = Tables(block)

    assert (file.read().count, file.read().first) == (0, 0)
    ((table, error, at_ns), _) = file.damage
    assert (table, at_ns) == ("frame_chunks", None)
    assert error == f"the frames from {int(block[0, 0])} on {said}"


def test_that_frames_may_end_with_the_same_event_and_take_any_possible_time() -> None:
    half = MAX_NS // 2
    for block in (changed(1, 2, 17), changed(2, 0, half), changed(5, 0, -half)):
        file = Tables(block)
        assert (file.read().count, file.damage) == (3, [])


def test_that_more_frames_than_bytes_are_damage() -> None:
    block = np.zeros((len(FRAME_COLUMNS), 1), np.int64)
    size = len(pack(block))
    file = Tables(block)
    for count in (size, size + 1):
        file.counts[0] = count
        file.read()

    assert file.damage[0][1] == "the frames from 0 on do not follow one another"
    assert file.damage[1][1] == f"{size + 1} frames in {size} bytes"


def test_that_frames_of_older_versions_have_no_shares() -> None:
    without = frames_from(0, 3)[: -len(Share)]
    file = Tables(without)

    assert Tables(frames_from(0, 3)).read(version=3).part(HISTORY - 1, 0, 1).tolist() != [0]
    stored = file.read(version=2)

    assert (stored.count, file.damage) == (3, [])
    last = HISTORY - len(Share)
    assert stored.part(last - 1, 0, 3).tolist() == without[-1].tolist()
    assert stored.part(last, 0, 3).tolist() == [0, 0, 0]


def test_that_frames_are_there_after_the_file_is_closed_or_fails() -> None:
    file = Tables(frames_from(0, 3), frames_from(4, 2))
    kept, lost = file.read(), file.read()
    kept.keep()
    file.blocks.clear()

    assert kept.part(1, 0, 6).tolist() == [2_000, 2_001, 2_002, 0, 2_004, 2_005]
    assert file.damage == []
    assert lost.part(1, 0, 6).tolist() == [0] * 6
    assert {(table, error) for table, error, _ in file.damage} == {
        ("frame_chunks", "it does not exist")
    }
    lost.keep()
    assert lost.count_until(2) == 3


def test_that_no_more_is_read_than_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    file = Tables(*(frames_from(first, 10) for first in range(0, 50, 10)))
    stored = file.read()
    wanted: list[int | None] = []

    def seen(data: bytes, columns: int, count: int, only: int | None = None) -> Block:
        wanted.append(only)
        return unpack(data, columns, count, only=only)

    monkeypatch.setattr(frames_module, "unpack", seen)
    for low, high, chunks in ((10, 20, 1), (9, 20, 2), (10, 21, 2), (15, 15, 0), (0, 50, 5)):
        file.asked.clear()
        stored.part(4, low, high)
        assert len(file.asked) == chunks

    assert set(wanted) == {6}
    # Where frames begin is known.
    file.asked.clear()
    assert stored.part(0, 7, 9).tolist() == [1_007, 1_008]
    assert file.asked == []
