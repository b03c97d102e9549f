"""What is said of a file when it is opened, and how it is copied while it may change."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from inspector.errors import RecordingError
from inspector.events.log import EventLog
from inspector.events.recording import open_recording
from inspector.events.recording.reading import opening, private_copy
from inspector.events.recording.reading.opening import OpenFile
from inspector.foreign.files import SQLITE_MAGIC
from inspector.timebase import NS_PER_SECOND
from tests.events.recording.recorded_worlds import record

NOW_NS = 1_000 * NS_PER_SECOND


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return record(EventLog(), tmp_path / "a.tlrec")


def described_as(path: Path, **values: object) -> tuple[str, ...]:
    """Return what is said of a recording whose description is changed."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM meta WHERE name = 'ended_because'")
        for name, value in values.items():
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))
    with closing(OpenFile(path)) as file:
        return file.notes


def test_that_how_a_recording_ended_is_said(path: Path) -> None:
    came = "came faster than could be written."
    assert described_as(path) == ()
    assert described_as(path, lost_events=1) == (f"1 event is missing: it {came}",)
    assert described_as(path, lost_events=2_000) == (f"2,000 events are missing: they {came}",)
    for odd in (0, -1, "5", None):
        assert described_as(path, lost_events=odd) == ()
    assert described_as(path, ended_because="the disk\nwas full") == (
        "The recording ended early: the disk⏎was full. All that was committed before is there.",
    )
    (long,) = described_as(path, ended_because="x" * 201)
    assert long.count("x") == 200
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM meta WHERE name = 'ended_at'")
    (note,) = described_as(path)
    assert note.startswith("The recording was not closed: its program crashed or is still running.")
    assert note.endswith(" Up to a second is missing at the end.")


def test_that_a_file_that_is_cut_off_says_how_much_is_left(path: Path) -> None:
    size = path.stat().st_size
    os.truncate(path, size - 1)

    said = f"The file is truncated: {size - 1:,} of {size:,} bytes remain. What could be read is"
    assert open_recording(path).notes[-1] == f"{said} shown."


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (b"", "is empty: nothing was recorded before it ended"),
        (b"S", "is truncated to 1 byte: nothing in it can be read"),
        (SQLITE_MAGIC.ljust(99, b"\0"), "is truncated to 99 bytes: nothing in it can be read"),
        (SQLITE_MAGIC.ljust(100, b"\0"), "is an SQLite file, but not a recording"),
        (b"SQLite format 4", "is not a recording of the inspector"),
    ],
    ids=["empty", "a byte", "cut off", "another database", "another format"],
)
def test_that_a_file_is_known_by_its_head(tmp_path: Path, head: bytes, said: str) -> None:
    path = tmp_path / "a.tlrec"
    path.write_bytes(head)

    with pytest.raises(RecordingError, match=said):
        OpenFile(path)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.EIO, "Input/output error"), "cannot be read: Input/output error."),
        (OSError("odd"), "cannot be read: odd."),
    ],
)
def test_that_a_file_that_cannot_be_read_says_why(
    path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, said: str
) -> None:
    def fail(_path: Path) -> None:
        raise error

    monkeypatch.setattr(opening, "open_binary", fail)

    with pytest.raises(RecordingError, match=said):
        OpenFile(path)


@pytest.mark.parametrize(
    ("error", "said"),
    [(OSError(errno.ENOSPC, "No space left"), "No space left"), (sqlite3.Error("odd"), "odd")],
)
def test_that_a_file_that_cannot_be_copied_says_why(
    path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(opening, "copy_database", fail)

    with closing(OpenFile(path)) as file, pytest.raises(RecordingError) as caught:
        file._private_copy()

    assert str(caught.value) == f"{path} cannot be opened: its copy could not be made ({said})."


def test_that_a_version_that_is_newer_by_one_is_refused(path: Path) -> None:
    for name in ("schema_version", "vocabulary_version"):
        with closing(OpenFile(path)) as file:
            version = file.meta[name]
        with pytest.raises(RecordingError, match="newer inspector"):
            described_as(path, **{name: version + 1})
        described_as(path, **{name: version})
    with pytest.raises(RecordingError, match="nothing in it can be read"):
        described_as(path, schema_version="four")


def test_that_damage_is_said_once_for_a_table_and_events_come_first(path: Path) -> None:
    with closing(OpenFile(path)) as file:
        assert not file.is_damaged()
        file.note("A note.")
        file.note_damage("frame_chunks", "x" * 200)
        file.note_damage("odd", "y" * 201)
        file.note_damage("chunks", "first\nline", 5 * NS_PER_SECOND)
        file.note_damage("chunks", "again")

        assert file.notes == (
            "The file is damaged from 0:05.000 on: not all of its events can be read (first⏎line).",
            f"The file is damaged: not all of its frames can be read ({'x' * 200}).",
            f"The file is damaged: not all of its “odd” can be read ({'y' * 200} …).",
            "A note.",
        )
        assert file.is_damaged()
        assert file.is_damaged("strings", "odd")
        assert not file.is_damaged("strings")


def test_that_a_value_that_is_not_there_is_an_error(path: Path) -> None:
    with closing(OpenFile(path)) as file:
        assert file.value("SELECT 7") == 7
        assert file.value("SELECT 7, 8") == (7, 8)
        with pytest.raises(ValueError, match="it does not exist"):
            file.value("SELECT text FROM strings WHERE number = ?", 99)
        with pytest.raises(ValueError, match="no such table"):
            file.value("SELECT text FROM nowhere")
        assert list(file.rows("SELECT text FROM nowhere WHERE number = 1")) == []
        assert "not all of its “nowhere” can be read" in file.notes[0]


def test_that_a_query_takes_so_many_steps_and_each_query_anew() -> None:
    patience = opening._Patience(10_000)
    for _ in range(2):
        patience.begin()
        # 200, and one for each 2,000 bytes
        assert [patience.is_over() for _ in range(206)] == [False] * 205 + [True]


# ------------------------------------------------------------------ copies


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is done to copy a file: "copy", "sqlite" or the seconds of a wait."""
    done: list[str] = []

    def copy_by_sqlite(_path: Path, _copy: Path) -> None:
        done.append("sqlite")

    monkeypatch.setattr(private_copy, "_copy_by_sqlite", copy_by_sqlite)
    monkeypatch.setattr(private_copy, "time_ns", lambda: NOW_NS)
    monkeypatch.setattr(private_copy, "sleep", lambda seconds: done.append(f"{seconds:g} s"))
    return done


def copying(
    path: Path, monkeypatch: pytest.MonkeyPatch, done: list[str], *steps: Callable[[], object]
) -> None:
    """Copy a file, on which something is done during each copy, the last of them ever again."""
    left = list(steps)

    def copy_file(_source: Path, target: Path) -> None:
        done.append("copy")
        target.touch()
        (left.pop(0) if len(left) > 1 else left[0])()

    monkeypatch.setattr(private_copy, "_copy_file", copy_file)
    private_copy.copy_database(path, path.with_name("copy"))


def changes_at(path: Path, at_ns: int) -> None:
    os.utime(path, ns=(at_ns, at_ns))


@pytest.mark.parametrize("changed_ns", [NOW_NS - 20_000_000, NOW_NS + 20_000_000, 0])
def test_that_a_file_that_has_not_changed_of_late_is_copied_once(
    path: Path, monkeypatch: pytest.MonkeyPatch, copied: list[str], changed_ns: int
) -> None:
    changes_at(path, changed_ns)

    copying(path, monkeypatch, copied, lambda: None)

    assert copied == ["copy"]


def test_that_a_file_that_has_just_changed_is_copied_again_in_a_moment(
    path: Path, monkeypatch: pytest.MonkeyPatch, copied: list[str]
) -> None:
    changes_at(path, NOW_NS - 19_999_999)

    copying(path, monkeypatch, copied, lambda: changes_at(path, 0), lambda: None)

    assert copied == ["copy", "0.02 s", "copy"]


def test_that_a_file_that_changes_all_the_time_is_copied_by_sqlite(
    path: Path, monkeypatch: pytest.MonkeyPatch, copied: list[str]
) -> None:
    changes_at(path, 0)
    times = iter(range(1, 100))

    copying(path, monkeypatch, copied, lambda: changes_at(path, next(times) * NS_PER_SECOND))

    assert copied == [*["copy"] * 5, "sqlite"]


def test_that_a_file_beside_it_that_is_begun_anew_counts_as_a_change(
    path: Path, monkeypatch: pytest.MonkeyPatch, copied: list[str]
) -> None:
    changes_at(path, 0)
    wal = path.with_name(f"{path.name}-wal")
    wal.write_bytes(bytes(40))

    # Of the second file that is copied each time; what is behind its head is new commits.
    copying(
        *(path, monkeypatch, copied),
        *(lambda: None, lambda: wal.write_bytes(bytes([*[0] * 31, 1, *bytes(8)]))),
        *(lambda: None, lambda: wal.write_bytes(bytes([*[0] * 31, 1, 9, *bytes(70)]))),
    )

    assert copied == ["copy"] * 4

    # Of a former attempt nothing is left.
    wal_copy = path.with_name("copy-wal")
    assert wal_copy.exists()
    copied.clear()

    def moved() -> None:
        wal.unlink()
        changes_at(path, NS_PER_SECOND)

    copying(path, monkeypatch, copied, lambda: None, moved, lambda: None)

    assert copied == ["copy"] * 3
    assert not wal_copy.exists()


def test_that_a_file_that_goes_while_it_is_copied_is_tried_again_if_it_was_beside(
    path: Path, monkeypatch: pytest.MonkeyPatch, copied: list[str]
) -> None:
    changes_at(path, 0)

    def gone() -> None:
        raise FileNotFoundError

    copying(path, monkeypatch, copied, gone, lambda: None)
    assert copied == ["copy", "copy"]

    def removed() -> None:
        path.unlink()
        gone()

    with pytest.raises(FileNotFoundError):
        copying(path, monkeypatch, copied, removed)
    assert copied == ["copy"] * 3
