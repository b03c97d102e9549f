"""What a slow disk, a strange text and a killed annotation leave behind."""

from __future__ import annotations

import gc
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from inspector.events.log import EventLog
from inspector.events.recording import RecordingError, RecordingWriter, open_recording
from inspector.events.recording.annotations import Annotation, annotate
from inspector.events.recording.writing import writer
from inspector.vocabulary import MARK
from tests.events.recording.recorded_worlds import record, wait_for_commit


def marks(count: int) -> EventLog:
    log = EventLog()
    for number in range(count):
        log.append((number, MARK, 0, log.intern(f"m{number}"), 0))
    return log


def test_that_stopping_hands_over_whatever_still_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "MOST_WAITING", -1)
    log = marks(100)
    recorder = RecordingWriter(tmp_path / "a.tlrec", log)
    recorder.start()
    for number in range(100, 200):
        log.append((number, MARK, 0, 0, 0))

    recorder.stop()

    assert recorder.problem == ""
    assert open_recording(tmp_path / "a.tlrec").end == 200


def test_that_a_recording_that_is_forgotten_leaves_no_copy_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = record(marks(3), tmp_path / "a.tlrec")
    path.with_name("a.tlrec-journal").write_bytes(b"left over")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))

    past = open_recording(path)
    assert list(temporary.iterdir())
    assert past.end == 3
    del past
    gc.collect()

    assert not list(temporary.iterdir())


def test_that_half_a_character_ends_no_recording(tmp_path: Path) -> None:
    log = EventLog()
    log.append((1, MARK, 0, log.intern("bad \udc80 text"), 0))
    log.append((2, MARK, 0, log.intern("nul \0 text"), 0))
    recorder = RecordingWriter(tmp_path / "a.tlrec", log)
    recorder.start()
    recorder.stop()

    past = open_recording(tmp_path / "a.tlrec")

    assert recorder.problem == ""
    assert past.strings[1:] == [r"bad \udc80 text", r"nul \x00 text"]


def test_that_a_change_that_was_killed_half_done_is_taken_back(tmp_path: Path) -> None:
    path = record(marks(5_000), tmp_path / "a.tlrec")
    for number in range(3):
        annotate(path, Annotation("note", number, text="x" * 3_000))
    half_done = f"""
import os, signal, sqlite3
c = sqlite3.connect({str(path)!r}, isolation_level=None)
c.execute("PRAGMA cache_size = 1")
c.execute("BEGIN IMMEDIATE")
c.execute("UPDATE annotations SET text = 'torn' || text")
c.execute("UPDATE strings SET text = 'torn'")
os.kill(os.getpid(), signal.SIGKILL)
"""  # noqa: S608 - the text of a program
    subprocess.run([sys.executable, "-c", half_done], check=False)
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}

    past = open_recording(path)

    assert past.notes == ()
    assert past.strings[5] == "m4"
    assert {each.text[:1] for each in past.annotations} == {"x"}
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before


def unfinished(folder: Path) -> Path:
    """Return a recording as a crash leaves it: what was committed last lies beside it."""
    folder.mkdir()
    running = folder / "running.tlrec"
    log = marks(50)
    recorder = RecordingWriter(running, log)
    recorder.start()
    wait_for_commit(recorder)
    path = folder / "a.tlrec"
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{running}{suffix}", f"{path}{suffix}")
    recorder.stop()
    return path


def test_that_a_link_shows_all_that_the_file_itself_shows(tmp_path: Path) -> None:
    path = unfinished(tmp_path / "there")
    link = tmp_path / "link.tlrec"
    link.symlink_to(path)

    past = open_recording(link)

    assert past.end == 50
    assert past.path == link
    assert [note for note in past.notes if "to a second is missing" in note]


def test_that_a_link_is_annotated_where_it_leads(tmp_path: Path) -> None:
    path = unfinished(tmp_path / "there")
    link = tmp_path / "link.tlrec"
    link.symlink_to(path)

    annotate(link, Annotation("note", 5, text="through the link"))

    past = open_recording(path)
    assert past.end == 50
    assert [each.text for each in past.annotations] == ["through the link"]


def test_that_a_file_says_when_what_lay_beside_it_may_be_missing(tmp_path: Path) -> None:
    path = unfinished(tmp_path / "there")
    # As if some of it had been moved into the file already.
    whole = record(marks(20), tmp_path / "whole.tlrec")
    connection = sqlite3.connect(whole)
    with connection:
        connection.execute("DELETE FROM meta WHERE name = 'ended_at'")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    path.with_name("a.tlrec-wal").unlink()
    shutil.copyfile(whole, path)

    past = open_recording(path)

    assert past.end == 20
    (note,) = past.notes
    assert note.endswith(
        "a.tlrec-wal is not beside it, and more may be in it. Copy both into one folder."
    )


def test_that_a_file_that_has_nothing_without_what_lay_beside_it_says_so(tmp_path: Path) -> None:
    path = unfinished(tmp_path / "there")
    path.with_name("a.tlrec-wal").unlink()

    with pytest.raises(RecordingError, match=r"copied without a\.tlrec-wal beside it"):
        open_recording(path)
