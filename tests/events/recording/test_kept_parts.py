"""What a recording keeps in memory, and what it reads and folds again."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from inspector.events.blocks.packed_columns import pack
from inspector.events.log import EventLog
from inspector.events.recording import Recording, open_recording
from inspector.events.recording.reading import recording as module
from inspector.events.recording.reading.opening import OpenFile
from inspector.events.recording.writing import file as writing
from inspector.timebase import MAX_NS
from inspector.vocabulary import CLOCK_ADDED, COMMAND, COMMAND_FORM, MARK, TIMER_ADDED
from tests.events.event_blocks import block_of
from tests.events.recording.recorded_worlds import record

EVENTS, PORTION = 60, 10


def log_of_marks(timers: int = 0) -> EventLog:
    log = EventLog()
    log.append((0, CLOCK_ADDED, 1, 0, log.intern("root")))
    for number in range(1, EVENTS):
        if number <= timers:
            log.append((number, TIMER_ADDED, number, 1, 0))
        else:
            log.append((number, MARK, 0, log.intern(f"mark {number}"), 0))
    return log


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return record(log_of_marks(), tmp_path / "a.tlrec", portion=PORTION)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The cursors of chunks that are read from files, one after another."""
    found: list[int] = []
    value = OpenFile.value

    def seen(file: OpenFile, text: str, *values: Any) -> Any:  # noqa: ANN401 - whatever is there
        if "FROM chunks" in text:
            found.append(values[0])
        return value(file, text, *values)

    monkeypatch.setattr(OpenFile, "value", seen)
    return found


def test_that_the_chunks_used_last_are_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch, read: list[int]
) -> None:
    monkeypatch.setattr(module, "_KEPT_CHUNKS", 2)
    monkeypatch.setattr(module, "_LOOKED_THROUGH_BYTES", 0)
    past = open_recording(path)
    read.clear()

    # Parts of chunks, as a whole one that is asked for once is not kept.
    for start in (1, 11, 2, 21, 3, 12, 3, 4):
        past.events(start, start + 1)

    assert read == [0, 10, 20, 10]
    read.clear()
    past.events(30, 40)
    past.events(30, 40)
    assert read == [30, 30]


@pytest.mark.parametrize(("most", "is_read"), [(-1, False), (0, True)])
def test_that_small_recordings_are_looked_through_when_they_are_opened(
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    read: list[int],
    most: int,
    *,
    is_read: bool,
) -> None:
    monkeypatch.setattr(module, "_LOOKED_THROUGH_BYTES", path.stat().st_size + most)
    open_recording(path)

    assert read == [*range(0, EVENTS, PORTION)][0 if is_read else -1 :]


def folds(past: Recording, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    fold = past._fold

    def seen(timeline: Any, start: int, end: int, frames: int) -> int:  # noqa: ANN401
        found.append((start, end))
        return fold(timeline, start, end, frames)

    monkeypatch.setattr(past, "_fold", seen)
    return found


def test_that_the_states_used_last_are_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT_STATES", 2)
    past = open_recording(path)
    found = folds(past, monkeypatch)

    for cursor in (20, 30, 25, 30, 40, 32, 20):
        assert past.state_before(cursor).marks[-1].text == f"mark {cursor - 1}"

    # The nearest one that is kept before a cursor, or the beginning
    assert found == [(0, 20), (20, 30), (20, 25), (25, 30), (30, 40), (30, 32), (0, 20)]


@pytest.mark.parametrize(("most", "kept"), [(10, 2), (9, 1), (4, 1)])
def test_that_fewer_states_of_many_timers_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, kept: int
) -> None:
    past = open_recording(record(log_of_marks(timers=5), tmp_path / "a.tlrec"))
    monkeypatch.setattr(module, "_KEPT_TIMERS", most)

    for cursor in (20, 30, 40):
        past.state_before(cursor)

    assert list(past._states) == [20, 30, 40][-kept:]


def test_that_far_states_are_kept_halfway(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FAR", 10)
    past = open_recording(path)
    found = folds(past, monkeypatch)

    assert past.state_before(45).marks[-1].text == "mark 44"

    assert found == [(0, 22), (22, 33), (33, 39), (39, 45)][: len(found)]
    assert found[-1] == (found[-2][1], 45)
    assert 45 - found[-1][0] <= 10
    assert set(past._states) == {end for _, end in found}


def test_that_no_state_is_kept_halfway_where_events_are_missing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FAR", 10)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE chunks SET crc = 0 WHERE first_cursor = 20")
    past = open_recording(path)
    found = folds(past, monkeypatch)

    assert past.state_before(45).marks[-1].text == "mark 19"

    assert found == [(0, 45)]
    assert set(past._states) == {20}


def test_that_states_are_begun_at_the_nearest_whole_keyframe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "KEYFRAME_EVERY", 20)
    monkeypatch.setattr(writing, "KEYFRAME_AT_MOST", 20)
    past = open_recording(record(log_of_marks(), tmp_path / "a.tlrec", portion=PORTION))
    assert past._keyframes == [0, 20, 40, 60]

    found = [(cursor, past.known_before(cursor)[0]) for cursor in (-5, 0, 19, 20, 39, 40, 99)]

    assert found == [(-5, 0), (0, 0), (19, 0), (20, 20), (39, 20), (40, 40), (99, 60)]
    past.state_before(25)
    assert [past.known_before(cursor)[0] for cursor in (24, 25, 39, 40)] == [20, 25, 25, 40]


@pytest.mark.parametrize("gone", [[40], [20, 40], [0, 20, 40]])
def test_that_a_keyframe_that_cannot_be_read_back_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: list[int]
) -> None:
    monkeypatch.setattr(writing, "KEYFRAME_EVERY", 20)
    monkeypatch.setattr(writing, "KEYFRAME_AT_MOST", 20)
    path = record(log_of_marks(), tmp_path / "a.tlrec", portion=PORTION)
    with closing(sqlite3.connect(path)) as connection, connection:
        # More timers than bytes; which is found when the state is asked for
        text = "UPDATE keyframes SET timer_count = 2 WHERE cursor = ?"
        connection.executemany(text, [(cursor,) for cursor in gone])
    past = open_recording(path)
    assert not past.notes

    assert past.state_before(45).marks[-1].text == "mark 44"

    assert past._keyframes == [cursor for cursor in (0, 20, 40, 60) if cursor not in gone]
    assert past.notes == (
        "The file is damaged: not all of its states can be read (2 timers in 0 bytes).",
    )


def test_that_texts_that_are_missing_are_question_marks(path: Path) -> None:
    for rows, texts in (
        ([(1, "one"), (3, "three")], ["", "one", "?", "three"]),
        ([(0, "none"), (1, "one")], ["", "one"]),
        ([], [""]),
        # Five numbers for two texts, but no six
        ([(1, "one"), (4, "four")], ["", "one", "?", "?", "four"]),
        ([(1, "one"), (5, "five")], ["", "one"]),
        ([(1, "one"), (-1, "less")], ["", "one"]),
    ):
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DELETE FROM strings")
            connection.executemany("INSERT INTO strings VALUES (?, ?)", rows)

        # The marks of events that have none are behind them.
        assert open_recording(path).strings == [*texts, *["?"] * (len(texts) < EVENTS)]


def test_that_texts_are_no_longer_than_the_file(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM strings")
        connection.execute("INSERT INTO strings VALUES (1, ?), (2, 'x'), (3, 'y')", ("x" * 9,))
    file = OpenFile(path)
    said = "(they are longer than the file)"
    for size, count in ((11, 3), (10, 2), (8, 0)):
        file.size, file._damage = size, {}
        assert Recording(file).strings[1:4] == ["x" * 9, "x", "y"][:count] + ["?"] * (count < 3)
        assert any(said in note for note in file.notes) == (size < 11)


@pytest.mark.parametrize(
    ("value", "number"),
    [(0, 0), (7, 7), (MAX_NS - 1, MAX_NS - 1), (MAX_NS, 0), (-1, 0), ("7", 0), (7.0, 0), (None, 0)],
)
def test_that_numbers_that_cannot_be_are_zero(value: object, number: int) -> None:
    assert module._whole(value) == number


def test_that_titles_are_cut_and_named_after_the_file_without_one(path: Path) -> None:
    def told(title: object) -> tuple[str, str]:
        with closing(sqlite3.connect(path)) as connection, connection:
            text = "UPDATE meta SET value = ? WHERE name IN ('title', 'scene_path')"
            connection.execute(text, (title,))
        past = open_recording(path)
        return past.title, past.scene_path

    assert told("x" * 4_096 + "y") == ("x" * 4_096,) * 2
    assert told("") == told(7) == told(None) == ("a", "")


def test_that_a_gap_that_was_known_while_recording_is_no_damage(path: Path) -> None:
    def notes(lost: int, end: int, *, ended: bool = True) -> list[str]:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DELETE FROM chunks WHERE first_cursor IN (0, 30)")
            values = [("lost_events", lost), ("end_cursor", end), ("first_cursor", 0)]
            connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)
            if not ended:
                connection.execute("DELETE FROM meta WHERE name = 'ended_at'")
        return [note for note in open_recording(path).notes if "missing" in note]

    known = "20 events are missing: they came faster than could be written."
    places = ["10 events are missing at the beginning.", "10 events are missing in between."]
    assert notes(20, EVENTS) == [known]
    assert notes(0, EVENTS) == places
    assert notes(0, EVENTS + 1) == [*places, "1 event is missing at the end."]
    # Where a program died, it has not said where the end is.
    assert notes(0, EVENTS + 1, ended=False)[1:] == places
    assert open_recording(path).missing == 20


def test_that_the_form_of_a_command_is_found_among_its_events(tmp_path: Path) -> None:
    log = EventLog()
    for number in (1, 2):
        log.append((number, COMMAND, number, log.intern(f"do {number}"), 0))
        log.append((number, MARK, 0, 0, 0))
        log.append((number, COMMAND_FORM, number, log.intern(f"form {number}"), 0))
    past = open_recording(record(log, tmp_path / "a.tlrec"))

    assert [past._form_of(number) for number in (1, 2, 3)] == ["form 1", "form 2", ""]
    past._asked = {1: past.end, 2: -1, 3: 0, 4: 3}
    assert [past._form_of(number) for number in (1, 2, 3, 4)] == [""] * 4


@pytest.mark.parametrize(("cursor", "is_damage"), [(69, False), (70, True), (59, True)])
def test_that_events_far_behind_the_others_are_out_of_place(
    path: Path, monkeypatch: pytest.MonkeyPatch, cursor: int, *, is_damage: bool
) -> None:
    monkeypatch.setattr(module, "_MOST_MISSING_EVENTS", 10)
    with closing(sqlite3.connect(path)) as connection, connection:
        text = "INSERT INTO chunks SELECT ?, count, first_ns, last_ns, crc, data FROM chunks"
        connection.execute(f"{text} WHERE first_cursor = 50", (cursor,))

    past = open_recording(path)

    assert past.end == (EVENTS if is_damage else cursor + PORTION)
    said = f"(the events from {cursor} on are out of place)"
    assert any(said in note for note in past.notes) == is_damage


def test_that_events_that_make_no_sense_are_mended_whenever_they_are_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_KEPT_CHUNKS", 1)
    events = open_recording(path).events(10, 20)
    block = block_of([(*events[0][:3], 9_999, 0), *events[1:]])
    data = pack(block)
    with closing(sqlite3.connect(path)) as connection, connection:
        text = "UPDATE chunks SET data = ?, crc = ? WHERE first_cursor = 10"
        connection.execute(text, (data, crc32(data)))

    past = open_recording(path)

    found = [past.events(start, start + 1)[0][3] for start in (10, 20, 10, 30, 10)]
    unknown = len(past.strings) - 1
    assert past.strings[unknown] == "?"
    assert found == [unknown, 21, unknown, 31, unknown]
    (note,) = past.notes
    assert note.startswith(
        "The file is damaged from 0:00.000 on: not all of its events can be read"
    )
    assert "(1 event makes no sense from event 10 on)" in note


def test_that_a_recording_is_closed_with_its_file(path: Path) -> None:
    past = open_recording(path)
    state = past.state_before(20)
    past._chunks.clear()

    past.close()

    assert past.events(0, EVENTS) == []
    assert past.is_partial
    assert len(state.marks) == 19
