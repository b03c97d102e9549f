"""What lies beside a file belongs to it, and may move while it is copied."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.events.log import EventLog
from inspector.events.recording import (
    RecordingError,
    RecordingInfo,
    RecordingWriter,
    open_recording,
)
from inspector.events.recording.reading import private_copy
from inspector.events.recording.writing import file as file_module
from inspector.events.recording.writing.file import RecordingFile
from inspector.events.timeline import Timeline
from inspector.vocabulary import MARK, RawEvent
from tests.events.recording.recorded_worlds import wait_for_commit
from tests.forked.python import COMMAND_LINE, python_with

_ROOT = Path(__file__).parents[3]

#: Writes marks for as long as somebody asks for more, a commit at a time; a path begins a file.
_CHILD = """
import sys
from pathlib import Path
from inspector.events.recording import RecordingInfo
from inspector.events.recording.writing import file as writing
from inspector.events.timeline import Timeline
from inspector.vocabulary import MARK
# Pages move to the file after a few commits, not hundreds.
writing._CHECKPOINT_PAGES = 8
for line in map(str.strip, sys.stdin):
    if not line.isdigit():
        file = writing.RecordingFile(Path(line), RecordingInfo(), Timeline([""]), 0)
        file.add_strings([""])
        number = 0
        continue
    for _ in range(int(line)):
        events = [(n, MARK, n * 7919 % 2**40, 0, n * 31) for n in range(number, number + 400)]
        file.add(events)
        file.commit()
        number += 400
    print(number, flush=True)
"""


class OtherProgram:
    """A program that records a given amount."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [*python_with(COMMAND_LINE), "-c", _CHILD],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def begin(self, path: Path) -> None:
        """Let it begin another recording."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{path}\n")

    def record(self, commits: int) -> int:
        """Let it record; returns how many events it has committed in all."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{commits}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def end(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def other_program() -> Iterator[OtherProgram]:
    program = OtherProgram()
    yield program
    program.end()


def events_in(path: Path) -> list[RawEvent]:
    """Return the events of a recording of which nothing may be missing."""
    past = open_recording(path)
    assert [note for note in past.notes if "not closed" not in note] == []
    found = past.events(past.first, past.end)
    assert [event[0] for event in found] == list(range(len(found)))
    return found


@pytest.mark.parametrize("suffix", ["", "-wal"])
@pytest.mark.parametrize("times", [1, 100])
def test_that_a_copy_made_while_another_program_records_is_whole(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    other_program: OtherProgram,
    suffix: str,
    times: int,
) -> None:
    path = tmp_path / "a.tlrec"
    other_program.begin(path)
    committed = other_program.record(15)
    # Nothing has changed for long when it is copied first.
    os.utime(path, (0, 0))
    copied = 0

    def slowly(source: Path, target: Path) -> None:
        nonlocal copied
        shutil.copyfile(source, target)
        if source.name.endswith(f"tlrec{suffix}") and copied < times:
            copied += 1
            other_program.record(6)

    monkeypatch.setattr(private_copy, "_copy_file", slowly)
    found = events_in(path)

    assert copied
    assert len(found) >= committed


def test_that_what_this_process_records_is_read_without_loosening_its_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.tlrec"
    file = RecordingFile(path, RecordingInfo(), Timeline([""]), 0)
    file.add_strings([""])
    file.add([(n, MARK, 0, 0, 0) for n in range(3_000)])
    file.commit()

    def refuse(*_values: object) -> None:
        pytest.fail("a file that is opened and closed loses its locks")

    with monkeypatch.context() as patched:
        patched.setattr(private_copy, "_copy_file", refuse)
        patched.setattr(Path, "open", refuse)
        found = events_in(path)
    other = [sys.executable, "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).close()"]
    subprocess.run([*other, str(path)], check=True)
    file.add([(n, MARK, 0, 0, 0) for n in range(3_000, 3_100)])
    file.finish()

    assert len(found) == 3_000
    assert len(events_in(path)) == 3_100
    assert [each.name for each in tmp_path.iterdir()] == ["a.tlrec"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no such name")
@pytest.mark.parametrize("is_finished", [True, False])
def test_that_a_recording_whose_path_is_no_utf_8_is_read(
    tmp_path: Path, *, is_finished: bool
) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    file = RecordingFile(folder / os.fsdecode(b"\xe9.tlrec"), RecordingInfo(), Timeline([""]), 0)
    file.add_strings([""])
    file.add([(n, MARK, 0, 0, 0) for n in range(3_000)])
    file.commit()
    if is_finished:
        file.finish()

    found = events_in(file.path)
    if not is_finished:
        file.finish()

    assert len(found) == 3_000


def test_that_another_kind_of_database_is_known_by_what_lies_beside_it(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "open.db")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE mine (a)")
    connection.execute("INSERT INTO mine VALUES (1)")
    connection.commit()
    path = as_a_crash_leaves_it(tmp_path / "open.db")
    before = {each.name: each.read_bytes() for each in path.parent.iterdir()}
    connection.close()

    with pytest.raises(RecordingError, match="is an SQLite file, but not a recording"):
        open_recording(path)
    assert {each.name: each.read_bytes() for each in path.parent.iterdir()} == before


def test_that_a_newer_version_is_known_by_what_lies_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_module, "SCHEMA_VERSION", 7)
    file = RecordingFile(tmp_path / "open.tlrec", RecordingInfo(), Timeline([""]), 0)
    file.commit()
    path = as_a_crash_leaves_it(file.path)
    file.finish()

    with pytest.raises(RecordingError, match=r"newer inspector \(version 7 of the file\)"):
        open_recording(path)


def as_a_crash_leaves_it(path: Path) -> Path:
    """Copy a database that is written, with what lies beside it; returns the copy."""
    folder = path.parent / "left"
    folder.mkdir()
    for suffix in ("", "-wal", "-shm"):
        shutil.copyfile(f"{path}{suffix}", folder / f"{path.name}{suffix}")
    return folder / path.name


def test_that_a_recording_is_ended_while_somebody_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "a.tlrec"
    log = EventLog()
    log.append((1, MARK, 0, log.intern("here"), 0))
    recorder = RecordingWriter(path, log)
    recorder.start()
    wait_for_commit(recorder)
    reader = sqlite3.connect(path)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM chunks").fetchone() == (1,)
    recorder.stop()

    assert recorder.problem == ""
    past = open_recording(path)
    assert (past.end, past.notes) == (1, ())
    reader.close()


def test_that_a_recording_of_which_nothing_is_written_yet_is_not_called_damaged(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.tlrec"
    file = RecordingFile(path, RecordingInfo(), Timeline([""]), 1)
    with pytest.raises(RecordingError, match="has only just started"):
        open_recording(path)
    file.commit()
    open_recording(path).close()
    file.finish()
