"""Each way in which a recording can come to harm, tried at many places."""

from __future__ import annotations

import errno
import os
import random
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.events.log import EventLog
from inspector.events.recording import (
    Recording,
    RecordingError,
    RecordingWriter,
    annotations_of,
    open_recording,
)
from inspector.events.recording.layout import APPLICATION_ID
from inspector.events.recording.writing import file as file_module
from inspector.events.recording.writing.file import RecordingFile, RecordingInfo
from inspector.events.timeline import Timeline
from inspector.sessions.frame_files import read_frame_file
from inspector.vocabulary import MARK, Numbers
from tests.events.recording.recorded_worlds import record, scene_log, wait_for_commit
from tests.forked.python import COMMAND_LINE, python_with
from tests.fuzz import rounds

_ROOT = Path(__file__).parents[3]
PLACES = len(rounds(20))
_slow = settings(
    max_examples=PLACES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

_forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

#: For each path and number: records marks there in a process of its own, which dies at that line
#: of the recording package, of those that it comes to; prints the path and what was committed.
_DIE_AT_LINES = """
import os, signal, sys, threading, time
from pathlib import Path
from inspector.events.log import EventLog
from inspector.events.recording import RecordingWriter
from inspector.events.recording.writing import file, writer
from inspector.vocabulary import MARK
writer.COMMIT_NS = 0
file.KEYFRAME_EVERY = file.KEYFRAME_AT_MOST = 300
def trace(frame, event, _argument):
    global left
    if "recording" not in frame.f_code.co_filename:
        return None
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    return trace
def record(path):
    threading.settrace(trace)
    log = EventLog()
    recorder = RecordingWriter(path, log)
    recorder.start()
    for number in range(2_000):
        log.append((number, MARK, 0, log.intern(f"mark {number}"), number))
        if number % 100 == 99:
            recorder.pump(at_once=True)
            while recorder.committed <= number:
                time.sleep(0.001)
            print(path, recorder.committed, flush=True)
    recorder.stop()
for path, left in zip(map(Path, sys.argv[1::2]), map(int, sys.argv[2::2])):
    child = os.fork()
    if not child:
        record(path)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL), status
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, EventLog]:
    """Return the bytes of a recording with a few keyframes, and what is in it."""
    log = scene_log("1", 2)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(file_module, "KEYFRAME_EVERY", 1_000)
        path = record(log, tmp_path_factory.mktemp("whole") / "a.tlrec", portion=400)
    return path.read_bytes(), log


def opened(path: Path) -> Recording | None:
    """Return a recording, or ``None`` if it is refused in a sentence."""
    try:
        return open_recording(path)
    except RecordingError as error:
        refusal = str(error)
    assert refusal.endswith(".")
    assert "\n" not in refusal
    return None


def look_through(path: Path, log: EventLog) -> bool:
    """Ask a recording everything; returns whether it opens. It must not be changed."""
    before = path.read_bytes()
    past = opened(path)
    if past is None:
        return False
    found = past.events(past.first, past.end)
    rest = iter(log.slice(0, log.end))
    assert past.notes or all(event in rest for event in found)
    for cursor in (past.first, (past.first + past.end) // 2, past.end):
        past.state_before(cursor)
    past.state_at(past.cursor_at(past.last_ns // 3))
    assert all(note.endswith(".") for note in past.notes)
    _ = (past.title, past.scene_path, past.annotations, annotations_of(path))
    past.close()
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    return True


@_slow
@given(data=st.data())
def test_that_a_file_cut_at_any_byte_opens_or_is_refused(
    tmp_path: Path, whole: tuple[bytes, EventLog], data: st.DataObject
) -> None:
    content, log = whole
    place = data.draw(st.integers(0, len(content) - 1))
    path = tmp_path / "a.tlrec"
    path.write_bytes(content[:place])
    if look_through(path, log):
        assert any("truncated" in note for note in open_recording(path).notes)


@_slow
@given(data=st.data())
def test_that_a_file_with_any_bits_turned_opens_or_is_refused(
    tmp_path: Path, whole: tuple[bytes, EventLog], data: st.DataObject
) -> None:
    content, log = whole
    bits = data.draw(st.sets(st.integers(0, 8 * len(content) - 1), min_size=1, max_size=30))
    turned = bytearray(content)
    for bit in bits:
        turned[bit // 8] ^= 1 << bit % 8
    path = tmp_path / "a.tlrec"
    path.write_bytes(turned)
    look_through(path, log)


@_slow
@given(data=st.data())
def test_that_any_page_overwritten_opens_or_is_refused(
    tmp_path: Path, whole: tuple[bytes, EventLog], data: st.DataObject
) -> None:
    content, log = whole
    page = int.from_bytes(content[16:18], "big")
    pages = st.integers(0, len(content) // page - 1)
    target, source = data.draw(pages), data.draw(st.none() | pages)
    torn = bytearray(content)
    new = bytes(page) if source is None else content[source * page : (source + 1) * page]
    torn[target * page : (target + 1) * page] = new
    path = tmp_path / "a.tlrec"
    path.write_bytes(torn)
    look_through(path, log)


@_forks
def test_that_a_program_killed_at_any_line_leaves_what_was_committed(tmp_path: Path) -> None:
    chance = random.Random(21)
    paths = [tmp_path / f"{turn}" / "a.tlrec" for turn in range(max(6, PLACES // 5))]
    arguments = [*python_with(COMMAND_LINE), "-c", _DIE_AT_LINES]
    for path in paths:
        path.parent.mkdir()
        arguments += [str(path), str(chance.randrange(100, 25_000))]
    done = subprocess.run(arguments, cwd=_ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    reached = set()
    for path in paths:
        rows = [line.rpartition(" ") for line in done.stdout.splitlines()]
        told = [int(count) for name, _, count in rows if name == str(path)]
        if not path.exists():
            assert not told
            continue
        before = {each.name: each.read_bytes() for each in path.parent.iterdir()}
        past = opened(path)
        if past is None:
            assert not told
        else:
            count = past.end
            assert count >= max(told, default=0)
            assert [event[4] for event in past.events(0, count)] == list(range(count))
            assert len(past.state_before(count).marks) == count
            past.close()
            reached.add(count)
        assert {each.name: each.read_bytes() for each in path.parent.iterdir()} == before
    assert len(reached) > 2


@pytest.mark.parametrize("pages", [25, 40, 80])
def test_that_a_disk_that_fills_up_ends_the_recording_with_what_was_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pages: int
) -> None:
    real = file_module.RecordingFile.add_numbers
    committed = 0

    def add_little(file: RecordingFile, numbers: Numbers) -> None:
        file._connection.execute(f"PRAGMA max_page_count = {pages}")
        real(file, numbers)

    monkeypatch.setattr(file_module.RecordingFile, "add_numbers", add_little)
    log = EventLog()
    recorder = RecordingWriter(tmp_path / "a.tlrec", log)
    recorder.start()
    for number in range(100_000):
        log.append((number * 977, MARK, 0, log.intern(f"mark {number}"), number * 31))
        if number % 1_000 == 0:
            recorder.pump(at_once=True)
            wait_for_commit(recorder)
            committed = recorder.committed
        if recorder.problem:
            break
    recorder.stop()

    assert recorder.problem.startswith("The disk is full: a.tlrec ends here.")
    assert [path.name for path in tmp_path.iterdir()] == ["a.tlrec"]
    past = open_recording(tmp_path / "a.tlrec")
    assert past.end == committed
    assert past.events(0, past.end) == log.slice(0, past.end)
    assert past.notes == (
        "The recording ended early: the disk was full. All that was committed before is there.",
    )


def test_that_a_disk_without_room_for_a_recording_is_left_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(file_module, "_spare_space", refuse)
    recorder = RecordingWriter(tmp_path / "a.tlrec", EventLog())
    recorder.start()
    recorder.stop()

    assert recorder.problem.startswith("The disk is full: a.tlrec could not be begun.")
    assert not list(tmp_path.iterdir())


def test_that_a_file_cut_short_before_its_first_commit_is_said_to_be_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: list[bytes] = []
    path = tmp_path / "a.tlrec"

    class Watched(sqlite3.Connection):
        def execute(self, *given: Any) -> sqlite3.Cursor:  # noqa: ANN401
            files.append(path.read_bytes())
            return super().execute(*given)

    real = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *given, **more: real(*given, **more, factory=Watched)
    )
    RecordingFile(path, RecordingInfo(), Timeline([]), 0).finish()
    monkeypatch.undo()

    states = list(dict.fromkeys(files))
    assert len(states) > 2
    for number, state in enumerate(states[:-1]):
        cut = tmp_path / f"{number}.tlrec"
        cut.write_bytes(state)
        with pytest.raises(RecordingError, match="is empty"):
            open_recording(cut)


def test_that_a_file_whose_first_commit_was_cut_off_is_empty(tmp_path: Path) -> None:
    cut = tmp_path / "cut.tlrec"
    with closing(sqlite3.connect(tmp_path / "a.tlrec", isolation_level=None)) as connection:
        # What does not fit into the cache is written before the commit, beside its journal.
        connection.executescript(
            f"PRAGMA cache_size = 1; BEGIN; PRAGMA application_id = {APPLICATION_ID};"
            "CREATE TABLE meta (name, value);"
        )
        connection.executemany("INSERT INTO meta VALUES (?, ?)", [("name", "x" * 900)] * 900)
        for suffix in ("", "-journal"):
            shutil.copy(tmp_path / f"a.tlrec{suffix}", f"{cut}{suffix}")
        connection.execute("ROLLBACK")
    with cut.open("r+b") as file:
        # The beginning of its first page, which SQLite keeps until the commit.
        file.write(b"SQLite format 3\0".ljust(68, b"\0") + APPLICATION_ID.to_bytes(4))

    with pytest.raises(RecordingError, match="is empty: nothing was recorded"):
        open_recording(cut)


def test_that_frame_times_of_a_recording_without_a_byte_are_missed_as_such(tmp_path: Path) -> None:
    (tmp_path / "a.tlrec").touch()

    with pytest.raises(RecordingError, match="is empty: nothing was recorded"):
        read_frame_file(tmp_path / "a.tlrec")


@pytest.mark.parametrize("harm", ["removed", "moved", "replaced"])
def test_that_a_file_that_is_taken_away_while_it_is_written_is_told(
    tmp_path: Path, harm: str
) -> None:
    path, elsewhere = tmp_path / "a.tlrec", tmp_path / "b.tlrec"
    log = EventLog()
    recorder = RecordingWriter(path, log)
    recorder.start()
    log.append((1, MARK, 0, log.intern("here"), 0))
    recorder.pump(at_once=True)
    wait_for_commit(recorder)
    match harm:
        case "removed":
            path.unlink()
        case "moved":
            path.rename(elsewhere)
        case _:
            (tmp_path / "new").write_text("mine")
            (tmp_path / "new").replace(path)
    log.append((2, MARK, 0, log.intern("there"), 0))
    recorder.stop()

    assert str(path) in recorder.problem
    assert "moved, removed or replaced" in recorder.problem
    if harm == "replaced":
        assert path.read_text() == "mine"
    if harm == "moved":
        # What was committed goes with the file; the rest only if it came quickly enough.
        assert open_recording(elsewhere).events(0, 1) == log.slice(0, 1)


@_forks
def test_that_a_recording_in_a_read_only_folder_can_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "a.tlrec"
    # What lets the super-user write everywhere is given up.
    opens = """
import ctypes
from inspector.events.recording import Annotation, RecordingError, annotate, open_recording
if sys.platform == "linux":
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)
for each in path.parent.iterdir():
    each.chmod(0o400)
path.parent.chmod(0o500)
print(open_recording(path).end)
try:
    annotate(path, Annotation("note", 1))
except RecordingError as error:
    print(error)
"""
    program = _DIE_AT_LINES + opens
    arguments = [*python_with(COMMAND_LINE), "-c", program, str(path), "9000"]
    try:
        done = subprocess.run(arguments, cwd=_ROOT, capture_output=True, text=True, check=True)
    finally:
        tmp_path.chmod(0o700)
    *told, count, said = done.stdout.splitlines()
    assert told
    assert int(count) > 0
    assert "cannot be annotated" in said


def test_that_a_recording_that_is_no_recording_inside_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tlrec"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA application_id = 0x544C4952")
    connection.execute("PRAGMA user_version = 1")
    connection.execute("CREATE TABLE chunks (a)")
    connection.commit()
    connection.close()
    with pytest.raises(RecordingError, match="nothing in it can be read"):
        open_recording(path)
