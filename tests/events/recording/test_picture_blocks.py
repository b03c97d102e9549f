"""Pictures in blocks: which are kept, which are left out, and what is read back."""

from __future__ import annotations

import random
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from typing import Any, cast

import numpy as np
import pytest

from inspector.events.blocks.packed_columns import pack
from inspector.events.recording import pictures
from inspector.events.recording.layout import SCHEMA
from inspector.events.recording.pictures import PictureBlocks, bytes_a_frame
from inspector.events.recording.reading.opening import OpenFile
from inspector.events.recording.reading.pictures import RecordedBlocks


class Tables:
    """Stands in for the file of a recording."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:")
        self.connection.executescript(SCHEMA)
        self.damage: list[str] = []

    def rows(self, text: str) -> Iterator[tuple[Any, ...]]:
        return self.connection.execute(text)

    def value(self, text: str, first: int) -> tuple[Any, ...]:
        return cast("tuple[Any, ...]", self.connection.execute(text, (first,)).fetchone())

    def note_damage(self, table: str, error: object) -> None:
        self.damage.append(f"{table}: {error}")

    def read(self) -> RecordedBlocks:
        return RecordedBlocks(cast("OpenFile", self))

    def counts(self) -> list[tuple[int, int]]:
        text = "SELECT first_frame, count FROM pictures ORDER BY first_frame"
        return list(self.connection.execute(text))

    def put(self, frames: list[int], texts: list[bytes], count: int | None = None) -> None:
        """Put a block of pictures, whatever its numbers."""
        data = zlib.compress(b"".join(texts))
        places = pack(np.array([frames, [len(text) for text in texts]], np.int64))
        crc = zlib.crc32(data, zlib.crc32(places))
        values = (frames[0], len(frames) if count is None else count, crc, places, data)
        self.connection.execute("INSERT INTO pictures VALUES (?,?,?,?,?)", values)


@pytest.fixture
def tables() -> Iterator[Tables]:
    tables = Tables()
    with closing(tables.connection):
        yield tables


def test_that_a_block_ends_with_its_last_picture_or_byte(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "BLOCK_PICTURES", 3)
    monkeypatch.setattr(pictures, "BLOCK_BYTES", 100)
    blocks = PictureBlocks(tables.connection)
    # By number; by size, of which a picture that is replaced has no part; what is left
    for frame, size in ((0, 1), (1, 1), (2, 1), (3, 80), (3, 30), (4, 70), (5, 30), (6, 69)):
        blocks.add(frame, bytes([frame]) * size)
    assert tables.counts() == [(0, 3), (3, 2)]
    blocks.flush()
    blocks.flush()

    assert tables.counts() == [(0, 3), (3, 2), (5, 2)]
    read = tables.read()
    assert (read.count, read.bytes, read.frames) == (7, blocks.bytes, (0, 6))
    found = [read.at(frame) for frame in (-1, 0, 2, 3, 5, 6, 99)]
    assert [each and (each[0], len(each[1]), each[1][0]) for each in found] == [
        None,
        *[(0, 1, 0), (2, 1, 2), (3, 30, 3), (5, 30, 5), (6, 69, 6), (6, 69, 6)],
    ]
    assert tables.damage == []


def test_that_only_pictures_that_take_too_much_are_thinned_out_and_not_forever(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "BLOCK_PICTURES", 2)
    monkeypatch.setattr(pictures, "_FEWEST", 4)
    monkeypatch.setattr(zlib, "compress", lambda data, _level: data)
    monkeypatch.setattr(pictures, "BYTES_A_FRAME", 30)
    blocks, frame = PictureBlocks(tables.connection), 0
    gaps = []
    # At the limit all are kept, beyond it every second, then every fourth, but no fewer. Twice as
    # many are kept where they take less than a third of it.
    for size in (30, 31, 60, 61, 200, 40, 39, 20, 19, 1, 1):
        first, written = frame, len(tables.counts())
        while len(tables.counts()) == written:
            blocks.add(frame, bytes(size))
            frame += 1
        gaps.append(frame - 1 - first)
        # The next one that is kept follows after as many as the one before it.
        frame = blocks._kept + blocks._every

    assert gaps == [1, 1, 2, 2, 4, 4, 4, 2, 2, 1, 1]
    assert blocks.frames == blocks._kept + 1


def test_that_what_pictures_will_take_is_told_by_the_last_of_them() -> None:
    chance = random.Random(1)
    block = [b"small"] * pictures.BLOCK_PICTURES

    assert bytes_a_frame([chance.randbytes(9_000), *block]) == bytes_a_frame(block) < 1
    assert bytes_a_frame([chance.randbytes(9_000)]) == pictures.BYTES_A_FRAME
    assert 1_000 < bytes_a_frame([chance.randbytes(1_000), chance.randbytes(1_010)]) < 1_020
    assert bytes_a_frame([]) == len(zlib.compress(b""))


def test_that_a_block_of_more_pictures_than_are_written_is_damage(tables: Tables) -> None:
    most = pictures.BLOCK_PICTURES
    tables.put(list(range(100, 100 + most)), [b"a"] * most)
    tables.put([300], [b"b"], count=0)
    tables.put([400], [b"c"], count=most + 1)

    read = tables.read()

    assert (read.count, read.frames) == (most, (100, 100 + most - 1))
    assert tables.damage == [
        "pictures: there is no block of 0 pictures",
        f"pictures: there is no block of {most + 1} pictures",
    ]
    assert read.at(99) is None


def test_that_a_recording_without_pictures_has_none(tables: Tables) -> None:
    assert (tables.read().frames, tables.read().count, tables.read().bytes) == ((0, -1), 0, 0)
    tables.connection.execute("DROP TABLE pictures")

    read = tables.read()

    assert (read.frames, read.count, read.bytes, read.at(5)) == ((0, -1), 0, 0, None)


def test_that_a_damaged_last_block_has_the_frame_with_which_it_begins(tables: Tables) -> None:
    tables.put([5, 6], [b"one", b"two"])
    tables.put([1_007, 1_007], [b"one", b"two"])

    read = tables.read()

    assert read.frames == (5, 1_007)
    assert read.at(6) == (6, b"two")
    with pytest.raises(ValueError, match="they do not follow one another"):
        read.at(1_008)
    said = "pictures: those from frame 1,007 on: they do not follow one another"
    assert set(tables.damage) == {said}


def test_that_a_block_is_read_from_the_file_once_while_it_is_asked_for(tables: Tables) -> None:
    tables.put([5, 6], [b"one", b"two"])
    tables.put([8], [b"three"])
    read = tables.read()
    assert [read.at(5), read.at(8)] == [(5, b"one"), (8, b"three")]

    tables.connection.execute("UPDATE pictures SET crc = 0")

    assert read.at(9) == (8, b"three")
    with pytest.raises(ValueError, match="their checksum is wrong"):
        read.at(5)


def test_that_a_picture_may_be_empty_and_as_large_as_it_may_be(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.events.recording.reading.pictures.BLOCK_BYTES", 4)
    monkeypatch.setattr("inspector.events.recording.reading.pictures.MOST_BYTES", 5)
    tables.put([1, 2], [b"", b"x" * 9])
    tables.put([3], [b"x" * 10])

    read = tables.read()

    assert [read.at(1), read.at(2)] == [(1, b""), (2, b"x" * 9)]
    with pytest.raises(ValueError, match="they do not follow one another"):
        read.at(3)
