"""The file of a recording while it is written: its chunks, keyframes, texts and description."""

from __future__ import annotations

import errno
import os
import sqlite3
from array import array
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import pytest

from inspector.errors import RecordingWriteError
from inspector.events.recording import RecordingInfo, open_recording
from inspector.events.recording.live_files import is_written_here
from inspector.events.recording.writing import file as module
from inspector.events.recording.writing.file import RecordingFile
from inspector.events.timeline import Timeline
from inspector.vocabulary import COMMAND, COMMAND_CONTEXT, COMMAND_FORM, MARK, RawEvent

ABOUT = RecordingInfo("/scene.py", "abc", "a title", "1.2", "60", "virtual")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordingFile]:
    """A recording of small chunks, and with a keyframe after six events."""
    monkeypatch.setattr(module, "CHUNK_EVENTS", 2)
    monkeypatch.setattr(module, "ADDED_AT_ONCE", 4)
    monkeypatch.setattr(module, "_FOLDED_AT_ONCE", 10)
    monkeypatch.setattr(module, "KEYFRAME_EVERY", 6)
    monkeypatch.setattr(module, "KEYFRAME_AT_MOST", 6)
    file = RecordingFile(tmp_path / "a.tlrec", ABOUT, Timeline([""]), 0)
    file.add_strings([""])
    yield file
    with suppress(sqlite3.ProgrammingError):
        file.abandon("")


def rows(path: Path, text: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(text).fetchall()


def chunks(path: Path) -> list[tuple[int, int]]:
    return rows(path, "SELECT first_cursor, count FROM chunks ORDER BY first_cursor")


def keyframes(path: Path) -> list[int]:
    return [cursor for (cursor,) in rows(path, "SELECT cursor FROM keyframes ORDER BY cursor")]


def meta(path: Path) -> dict[str, Any]:
    return dict(rows(path, "SELECT name, value FROM meta"))


def marks(start: int, end: int) -> list[RawEvent]:
    return [(10 * number, MARK, 0, 0, number) for number in range(start, end)]


def test_that_events_fill_chunks_however_they_come(file: RecordingFile) -> None:
    packed = array("q", chain.from_iterable(marks(3, 12)))
    file.add(marks(0, 3))
    file.add_numbers(packed)
    file.add([])
    file.add(marks(12, 13))
    file.commit()
    file.commit()
    file.add(marks(13, 14))
    file.finish()

    assert chunks(file.path) == [*((start, 2) for start in range(0, 12, 2)), (12, 1), (13, 1)]
    instants = rows(file.path, "SELECT first_ns, last_ns FROM chunks ORDER BY first_cursor")
    assert instants == [
        *((10 * start, 10 * start + 10) for start in range(0, 12, 2)),
        (120, 120),
        (130, 130),
    ]
    past = open_recording(file.path)
    assert past.events(0, 99) == marks(0, 14)
    assert [mark.at_ns for mark in past.state_before(14).marks] == list(range(0, 140, 10))


def test_that_keyframes_follow_so_many_events_and_the_end(file: RecordingFile) -> None:
    for start, end in ((0, 4), (4, 5), (5, 6), (6, 10), (10, 12), (12, 17)):
        file.add(marks(start, end))
        file.commit()

    assert keyframes(file.path) == [0, 6, 12]
    file.finish()
    assert keyframes(file.path) == [0, 6, 12, 17]
    assert rows(file.path, "SELECT at_ns FROM keyframes") == [(0,), (50,), (110,), (160,)]


def test_that_no_keyframe_comes_between_a_command_and_its_details(file: RecordingFile) -> None:
    file.add([*marks(0, 5), (50, COMMAND, 1, 0, 0)])
    file.commit()
    file.add([(50, COMMAND_CONTEXT, 0, 9, 0)])
    file.commit()
    assert keyframes(file.path) == [0]
    file.add([(50, COMMAND_FORM, 1, 0, 0)])
    file.commit()
    assert keyframes(file.path) == [0, 8]
    file.add([(60, COMMAND, 2, 0, 0)])
    file.finish()

    # What follows the last one may be in another recording.
    assert keyframes(file.path) == [0, 8]
    assert len(open_recording(file.path).state_before(9).commands) == 2


def test_that_a_recording_without_more_events_keeps_its_last_keyframe(file: RecordingFile) -> None:
    file.add(marks(0, 6))
    file.commit()
    before = rows(file.path, "SELECT * FROM keyframes")

    file.finish()

    assert rows(file.path, "SELECT * FROM keyframes") == before
    assert len(before) == 2


def test_that_large_states_are_kept_more_seldom_up_to_a_limit(
    file: RecordingFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEYFRAME_AT_MOST", 20)

    every = {}
    for stored in (0, 48, 56, 63, 64, 160, 161, 999):
        file._keyframe_bytes = stored
        every[stored] = file._keyframe_every

    assert every == {0: 6, 48: 6, 56: 7, 63: 7, 64: 8, 160: 20, 161: 20, 999: 20}


def test_that_a_recording_is_described(file: RecordingFile) -> None:
    begun = meta(file.path)
    file.add(marks(0, 3))
    file.finish()
    ended = meta(file.path)

    assert begun["started_at"].endswith("+00:00")
    told = {
        "scene_path": "/scene.py",
        "scene_digest": "abc",
        "title": "a title",
        "tool_version": "1.2",
        "frame_rate": "60",
        "source": "virtual",
        "first_cursor": 0,
        "first_frame": 0,
        "first_ns": 0,
    }
    assert told.items() <= begun.items()
    assert ended.keys() - begun.keys() == {"ended_at", "end_cursor", "end_frame"}
    assert (ended["end_cursor"], ended["end_frame"]) == (3, 0)
    assert [each.name for each in file.path.parent.iterdir()] == ["a.tlrec"]
    assert not is_written_here(file.path)


def test_that_a_recording_that_cannot_be_begun_is_not_left_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_version: str) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(module, "version_values", fail)

    with pytest.raises(sqlite3.OperationalError):
        RecordingFile(tmp_path / "b.tlrec", ABOUT, Timeline([""]), 0)

    assert not is_written_here(tmp_path / "b.tlrec")


def test_that_a_recording_that_begins_later_says_where_and_is_one_with_its_texts(
    tmp_path: Path,
) -> None:
    timeline = Timeline([""])
    timeline.apply_all(marks(0, 7))
    path = tmp_path / "b.tlrec"
    file = RecordingFile(path, RecordingInfo(), timeline, 7)
    assert meta(path) == {}
    file.add_strings([""])
    file.commit()

    told = meta(path)
    assert (told["first_cursor"], told["first_ns"]) == (7, 60)
    assert is_written_here(path)
    file.finish()


def test_that_gaps_are_counted_together(file: RecordingFile) -> None:
    file.add_strings(["x\udc80"])
    file.add(marks(0, 1))
    for first, lost in ((4, 3), (9, 4)):
        state = Timeline([""])
        state.apply_all(marks(0, first))
        assert file.skip_to(state, first) == lost
        file.add(marks(first, first + 1))
    file.finish()

    assert meta(file.path)["lost_events"] == 7
    assert chunks(file.path) == [(0, 1), (4, 1), (9, 1)]
    assert keyframes(file.path) == [0, 4, 9, 10]
    assert rows(file.path, "SELECT * FROM strings") == [(0, ""), (1, r"x\udc80")]
    assert len(open_recording(file.path).state_before(10).marks) == 10


def test_that_texts_are_stored_once_with_the_next_commit(file: RecordingFile) -> None:
    for texts in (["one"], [], ["two"]):
        file.add_strings(texts)
        file.commit()

    assert rows(file.path, "SELECT * FROM strings") == [(0, ""), (1, "one"), (2, "two")]


@pytest.mark.parametrize("is_replaced", [False, True])
def test_that_a_file_that_is_moved_while_it_is_written_is_whole_where_it_went(
    file: RecordingFile, tmp_path: Path, *, is_replaced: bool
) -> None:
    file.add(marks(0, 3))
    moved = file.path.rename(tmp_path / "moved.tlrec")
    if is_replaced:
        file.path.write_bytes(b"other")

    with pytest.raises(RecordingWriteError, match="was moved, removed or replaced"):
        file.commit()

    assert open_recording(moved).end == 3
    assert not is_written_here(moved)
    assert {each.name for each in tmp_path.iterdir()} >= {"moved.tlrec"}
    if not is_replaced:
        assert [each.name for each in tmp_path.iterdir()] == ["moved.tlrec"]


def test_that_a_recording_that_is_given_up_says_why_and_has_what_was_committed(
    file: RecordingFile,
) -> None:
    file.add(marks(0, 3))
    file.commit()
    file.add(marks(3, 9))

    file.abandon("the disk was full")
    file.abandon("again")

    past = open_recording(file.path)
    assert past.end == 3
    assert past.notes[-1].startswith("The recording ended early: the disk was full.")
    assert file._spare.closed
    assert not is_written_here(file.path)
    assert [each.name for each in file.path.parent.iterdir()] == ["a.tlrec"]


def test_that_room_is_reserved_on_the_disk_or_nothing_is_left_open(
    file: RecordingFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert os.fstat(file._spare.fileno()).st_size == module._SPARE_BYTES
    made: list[IO[bytes]] = []

    def full(_number: int, _start: int, _size: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def temporary_file(*, dir: Path) -> IO[bytes]:  # noqa: A002 - as there
        made.append(TemporaryFile(dir=dir))  # noqa: SIM115 - closed by what is tested
        return made[-1]

    monkeypatch.setattr(module, "TemporaryFile", temporary_file)
    monkeypatch.setattr(os, "posix_fallocate", full)

    with pytest.raises(OSError, match="No space left"):
        module._spare_space(tmp_path)
    assert made[0].closed
