"""Whatever happens to the file: what was committed opens, or one sentence says why not."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sqlite3
import subprocess
from contextlib import closing
from itertools import count
from pathlib import Path
from zlib import crc32

import pytest

from inspector.events.blocks.packed_columns import pack, unpack
from inspector.events.log import EventLog
from inspector.events.recording import (
    Annotation,
    RecordingError,
    RecordingWriter,
    annotate,
    as_far_as_it_goes,
    open_recording,
)
from inspector.events.recording.layout import FRAME_COLUMNS
from inspector.events.recording.reading import recording as recording_module
from inspector.events.recording.writing import file as file_module
from inspector.timebase import MAX_NS, format_instant
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_MOVED,
    MARK,
    MEMBER_ADDED,
    MEMBER_ORIGIN,
    PHASE_ENDED,
    RATE_DENOMINATOR,
    STATE_ENTERED,
    TIMER_FIRED,
    MemberKind,
    RawEvent,
)
from tests.events.event_blocks import block_of
from tests.events.recording.recorded_worlds import (
    described,
    folded,
    record,
    scene_log,
    wait_for_commit,
)
from tests.forked.python import COMMAND_LINE, python_with
from tests.fuzz import rounds

_ROOT = Path(__file__).parents[3]

#: Records the marks 0, 1, 2 … and prints how many are surely on the disk.
_CHILD = """
import sys, time
from itertools import count
from pathlib import Path
from inspector.events.log import EventLog
from inspector.events.recording import RecordingWriter
from inspector.events.recording.writing import writer
from inspector.vocabulary import MARK
writer.COMMIT_NS = 20_000_000
log = EventLog()
recorder = RecordingWriter(Path(sys.argv[1]), log)
recorder.start()
told = 0
for number in count():
    log.append((number * 1000, MARK, 0, log.intern(f"mark {number}"), number))
    if number % 20 == 0:
        recorder.pump()
        log.settle()
        time.sleep(0.0001)
    if recorder.committed > told:
        told = recorder.committed
        print(told, flush=True)
"""


@pytest.fixture(scope="module")
def log() -> EventLog:
    return scene_log("1", 2)


@pytest.fixture(scope="module")
def whole(log: EventLog, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a recording with a few keyframes."""
    before = file_module.KEYFRAME_EVERY
    file_module.KEYFRAME_EVERY = 1_000  # type: ignore[misc]
    try:
        path = record(log, tmp_path_factory.mktemp("whole") / "a.tlrec", portion=400)
    finally:
        file_module.KEYFRAME_EVERY = before  # type: ignore[misc]
    return path.read_bytes()


def digests(folder: Path) -> dict[str, str]:
    return {
        each.name: hashlib.sha256(each.read_bytes()).hexdigest()
        for each in folder.iterdir()
        if each.is_file()
    }


def opened_marks(path: Path) -> list[RawEvent] | str:
    """Return the events of a recording, or why it is refused; the folder stays as it is."""
    before = digests(path.parent)
    try:
        past = open_recording(path)
    except RecordingError as error:
        refusal = str(error)
    else:
        refusal = ""
    if refusal:
        assert refusal.endswith(".")
        assert "\n" not in refusal
        result: list[RawEvent] | str = refusal
    else:
        result = past.events(past.first, past.end)
        assert past.state_before(past.end).at_ns <= past.last_ns
        past.state_at(past.last_ns // 2)
        assert past.annotations == []
        past.close()
    assert digests(path.parent) == before
    return result


def test_that_a_killed_program_leaves_what_was_committed(tmp_path: Path) -> None:
    chance = random.Random(5)
    for turn in rounds(2):
        path = tmp_path / f"{turn}" / "a.tlrec"
        path.parent.mkdir()
        arguments = [*python_with(COMMAND_LINE), "-c", _CHILD, str(path)]
        child = subprocess.Popen(arguments, cwd=_ROOT, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        told = [int(child.stdout.readline()) for _ in range(chance.randrange(1, 4))]
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(chance.uniform(0.0, 0.03))
        child.send_signal(signal.SIGKILL)
        child.communicate()
        found = opened_marks(path)
        assert isinstance(found, list)
        assert len(found) >= told[-1]
        assert [event[4] for event in found] == list(range(len(found)))
        past = open_recording(path)
        assert any("not closed" in note for note in past.notes)
        assert [past.strings[event[3]] for event in found] == [
            f"mark {number}" for number in range(len(found))
        ]
        assert len(past.state_before(past.end).marks) == len(found)


@pytest.mark.parametrize("limit", [0, 1_000, 20_000, 150_000, 400_000])
def test_that_a_full_disk_ends_the_recording_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    resource = pytest.importorskip("resource")
    # Space is reserved for a few pages only, so that most recordings begin.
    monkeypatch.setattr(file_module, "_SPARE_BYTES", 10_000)
    path = tmp_path / "a.tlrec"
    log = EventLog()
    recorder = RecordingWriter(path, log)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        recorder.start()
        for number in count():
            log.append((number * 1000, MARK, 0, log.intern(f"mark {number}"), number))
            if number % 1_000 == 999:
                recorder.pump(at_once=True)
                wait_for_commit(recorder)
            if recorder.problem:
                break
        recorder.stop()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "a.tlrec" in recorder.problem
    assert recorder.problem.endswith(".")

    found = opened_marks(path) if path.exists() else []
    assert isinstance(found, list)
    assert [event[4] for event in found] == list(range(recorder.committed))


def test_that_a_file_cut_anywhere_opens_as_far_as_it_goes(
    tmp_path: Path, whole: bytes, log: EventLog
) -> None:
    chance = random.Random(11)
    everything = log.slice(0, log.end)
    path = tmp_path / "a.tlrec"
    places = [*range(0, 120, 7), *range(4_000, len(whole), 4_096), len(whole) - 1]
    places += [chance.randrange(len(whole)) for _ in range(40)]
    opened = 0
    for place in places:
        path.write_bytes(whole[:place])
        found = opened_marks(path)
        if isinstance(found, list):
            assert is_part(found, everything)
            opened += 1
            past = open_recording(path)
            assert any("truncated" in note for note in past.notes)
    assert opened > len(places) // 3


def is_part(found: list[RawEvent], everything: list[RawEvent]) -> bool:
    """Return whether events come from everything, in its order."""
    rest = iter(everything)
    return all(event in rest for event in found)


def test_that_damaged_bytes_are_noticed(tmp_path: Path, whole: bytes, log: EventLog) -> None:
    chance = random.Random(12)
    everything = log.slice(0, log.end)
    path = tmp_path / "a.tlrec"
    opened = 0
    for _ in rounds(150):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 8, 300])):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data)
        found = opened_marks(path)
        if isinstance(found, list):
            opened += 1
            assert is_part(found, everything) or open_recording(path).notes
    assert opened > len(rounds(150)) / 3


@pytest.fixture
def recorded(tmp_path: Path, log: EventLog, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recording in chunks of 400 events, with the whole state every 800."""
    monkeypatch.setattr(file_module, "KEYFRAME_EVERY", 800)
    monkeypatch.setattr(file_module, "KEYFRAME_AT_MOST", 800)
    return record(log, tmp_path / "a.tlrec", portion=400)


def test_that_states_around_a_damaged_chunk_are_right(recorded: Path, log: EventLog) -> None:
    with closing(sqlite3.connect(recorded)) as connection, connection:
        connection.execute("UPDATE chunks SET data = zeroblob(90) WHERE first_cursor = 1200")
    past = open_recording(recorded)

    assert [note for note in past.notes if "events from 1,200 on are damaged" in note]
    assert past.missing == 400
    assert past.events(1_100, 1_700) == log.slice(1_100, 1_200) + log.slice(1_600, 1_700)
    assert described(past.state_before(1_500)) == described(folded(log, 1_200))
    assert described(past.state_before(1_650)) == described(folded(log, 1_650))


@pytest.mark.parametrize(("most", "missing"), [(500, 0), (499, 500)])
def test_that_a_chunk_has_as_many_events_as_it_may_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, missing: int
) -> None:
    path = record(scene_log("1", 1), tmp_path / "a.tlrec", portion=500)
    monkeypatch.setattr(recording_module, "CHUNK_EVENTS", most)

    assert open_recording(path).missing == missing


def test_that_the_state_after_a_damaged_end_is_that_of_the_last_keyframe(
    tmp_path: Path, log: EventLog
) -> None:
    path = record(log, tmp_path / "a.tlrec", portion=400)
    with closing(sqlite3.connect(path)) as connection, connection:
        last = "(SELECT max(first_cursor) FROM chunks)"
        connection.execute(f"UPDATE chunks SET crc = 0 WHERE first_cursor = {last}")  # noqa: S608
    past = open_recording(path)

    whole = folded(log, log.end)
    assert past.is_partial
    assert past.last_ns == whole.at_ns
    assert described(past.state_at(past.last_ns)) == described(whole)


@pytest.mark.parametrize(("is_partial", "raised"), [(True, RecordingError), (False, IndexError)])
def test_that_only_of_a_damaged_recording_failures_are_taken_for_its_damage(
    tmp_path: Path, log: EventLog, raised: type[Exception], *, is_partial: bool
) -> None:
    path = record(log, tmp_path / "a.tlrec", portion=400)
    if is_partial:
        delete_row(path, "frame_chunks", "first_frame", 0.5)
    past = open_recording(path)
    past.state_before(past.end)

    with pytest.raises(raised), as_far_as_it_goes(past):
        raise IndexError


@pytest.mark.parametrize(
    ("share", "where"),
    [(0, "at the beginning"), (0.5, "from frame {first:,} on"), (1, "at the end")],
)
def test_that_frames_that_are_missing_are_said(
    tmp_path: Path, log: EventLog, share: float, where: str
) -> None:
    path = record(log, tmp_path / "a.tlrec", portion=400)
    first, count = delete_row(path, "frame_chunks", "first_frame", share)
    past = open_recording(path)

    past.state_before(past.end)

    assert past.is_partial
    are = "1 frame is" if count == 1 else f"{count:,} frames are"
    assert past.notes == (f"{are} missing {where.format(first=first)}.",)


def test_that_a_single_frame_that_is_missing_is_said(tmp_path: Path) -> None:
    path = record(scene_log("1", 1), tmp_path / "a.tlrec", portion=4)
    first, count = delete_row(path, "frame_chunks", "first_frame", 0.5)
    past = open_recording(path)

    past.state_before(past.end)

    (note,) = past.notes
    assert count == 1
    assert note == f"1 frame is missing from frame {first} on."


@pytest.mark.parametrize("share", [0, 0.5])
def test_that_from_where_on_frames_are_damaged_is_said_if_some_are_before(
    tmp_path: Path, log: EventLog, share: float
) -> None:
    path = record(log, tmp_path / "a.tlrec", portion=400)
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = connection.execute("SELECT first_frame FROM frame_chunks ORDER BY 1").fetchall()
        (first,) = rows[int(share * (len(rows) - 1))]
        connection.execute("UPDATE frame_chunks SET crc = crc + 1 WHERE first_frame = ?", (first,))
    past = open_recording(path)

    past.state_before(past.end)

    before_ns = folded(log, log.end).frames.at_ns[first - 1] if first else None
    where = "" if before_ns is None else f" from {format_instant(before_ns)} on"
    assert past.notes[0] == (
        f"The file is damaged{where}: not all of its frames can be read"
        f" (the frames from {first:,} on are damaged)."
    )


@pytest.mark.parametrize(
    ("share", "where"),
    [
        (0, "at the beginning"),
        (0.5, "in between"),
        (1, "at the end"),
    ],
)
def test_that_events_that_are_missing_are_said(
    tmp_path: Path, log: EventLog, share: float, where: str
) -> None:
    path = record(log, tmp_path / "a.tlrec", portion=400)
    _, count = delete_row(path, "chunks", "first_cursor", share)
    past = open_recording(path)

    assert past.is_partial
    assert f"{count:,} events are missing {where}." in past.notes
    assert past.missing == count


@pytest.mark.parametrize("is_there", [False, True])
def test_that_up_to_where_no_event_is_missing_is_known(
    tmp_path: Path, log: EventLog, *, is_there: bool
) -> None:
    path = record(log, tmp_path / "a.tlrec", portion=400)
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = connection.execute("SELECT first_cursor, count FROM chunks").fetchall()
        first, count = rows[len(rows) // 2]
        change = "UPDATE chunks SET crc = crc + 1" if is_there else "DELETE FROM chunks"
        connection.execute(f"{change} WHERE first_cursor = ?", (first,))
    past, behind = open_recording(path), first + count

    wanted = [(0, past.end), (5, 9), (9, 5), (0, first), (first - 1, past.end), (first, past.end)]
    assert [past.whole_until(*each) for each in wanted] == [first, 9, 9, first, first, first]
    wanted = [(first + 1, first + 9), (behind - 1, past.end), (behind, past.end), (behind, behind)]
    assert [past.whole_until(*each) for each in wanted] == [first + 1, behind - 1, past.end, behind]
    assert past.whole_until(behind + 1, behind + 2) == behind + 2


def delete_row(path: Path, table: str, key: str, share: float) -> tuple[int, int]:
    """Delete a row by its place in a table, from 0 to 1; return the row's first and count."""
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = connection.execute(f"SELECT {key}, count FROM {table} ORDER BY {key}").fetchall()  # noqa: S608
        first, count = rows[int(share * (len(rows) - 1))]
        connection.execute(f"DELETE FROM {table} WHERE {key} = ?", (first,))  # noqa: S608
    return first, count


@pytest.mark.parametrize("far_ns", [MAX_NS - MAX_NS // 4, -(2**63)])
def test_that_frames_of_times_whose_sums_would_overflow_are_damaged(
    tmp_path: Path, log: EventLog, far_ns: int
) -> None:
    path = record(log, tmp_path / "a.tlrec", portion=400)
    with closing(sqlite3.connect(path)) as connection, connection:
        query = "SELECT count, data FROM frame_chunks WHERE first_frame = 0"
        count, data = connection.execute(query).fetchone()
        block = unpack(data, len(FRAME_COLUMNS), count)
        block[-1, 0] = far_ns
        data = pack(block)
        update = "UPDATE frame_chunks SET data = ?, crc = ? WHERE first_frame = 0"
        connection.execute(update, (data, crc32(data)))
    past = open_recording(path)

    past.state_before(past.end)

    assert any("the frames from 0 on have impossible times" in note for note in past.notes)


@pytest.mark.parametrize("damaged", [1_600, 800])
def test_that_a_damaged_keyframe_takes_nothing_from_the_states_behind_it(
    recorded: Path, log: EventLog, damaged: int
) -> None:
    with closing(sqlite3.connect(recorded)) as connection, connection:
        values = (damaged, damaged + 400)
        hit = connection.execute("UPDATE keyframes SET crc = 0 WHERE cursor IN (?, ?)", values)
        assert hit.rowcount
    past = open_recording(recorded)

    assert [note for note in past.notes if "states" in note]
    for cursor in range(400, log.end, 333):
        assert described(past.state_before(cursor)) == described(folded(log, cursor))


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[Path, EventLog]:
    """Return a recording of marks and of the states of a machine, with some keyframes."""
    monkeypatch.setattr(file_module, "KEYFRAME_EVERY", 100)
    log = EventLog()
    log.append((0, CLOCK_ADDED, 1, 0, log.intern("root")))
    log.append((0, CLOCK_ANCHORED, 1, 0, RATE_DENOMINATOR))
    log.append((0, MEMBER_ADDED, 1, 0, log.intern("machine")))
    log.append((0, MEMBER_ORIGIN, 1, 1, MemberKind.MACHINE))
    for at_ns in range(300):
        log.append((at_ns, MARK, 0, log.intern(f"mark {at_ns}"), 0))
        log.append((at_ns, STATE_ENTERED, 1, log.intern(f"state {at_ns % 7}"), 0))
    return record(log, tmp_path / "a.tlrec", portion=50), log


def test_that_what_damaged_keyframes_added_is_known_behind_the_next(
    marked: tuple[Path, EventLog],
) -> None:
    path, log = marked
    with closing(sqlite3.connect(path)) as connection, connection:
        hit = connection.execute("UPDATE keyframes SET crc = 0 WHERE cursor BETWEEN 150 AND 350")
        assert hit.rowcount > 1
        whole = connection.execute("SELECT cursor FROM keyframes WHERE crc != 0").fetchall()
    past = open_recording(path)

    for cursor in range(50, log.end, 37):
        assert described(past.state_before(cursor)) == described(folded(log, cursor))

    # All other keyframes are as good as before.
    assert past._keyframes == sorted(cursor for (cursor,) in whole)


@pytest.mark.parametrize("column", ["first_ns", "last_ns"])
def test_that_wrong_instants_in_the_index_are_corrected_and_said(
    marked: tuple[Path, EventLog], column: str
) -> None:
    path, log = marked
    with closing(sqlite3.connect(path)) as connection, connection:
        text = f"UPDATE chunks SET {column} = {column} + 1 WHERE first_cursor > 100"  # noqa: S608
        assert connection.execute(text).rowcount > 1
    past = open_recording(path)

    assert past.events(past.first, past.end) == log.slice(0, log.end)

    assert [note for note in past.notes if "the index has wrong instants" in note]


def test_that_states_show_nothing_of_the_future_where_events_are_missing_too(
    recorded: Path, log: EventLog
) -> None:
    with closing(sqlite3.connect(recorded)) as connection, connection:
        connection.execute("UPDATE keyframes SET crc = 0 WHERE cursor BETWEEN 700 AND 1700")
        connection.execute("UPDATE chunks SET crc = 0 WHERE first_cursor BETWEEN 900 AND 1300")
    past = open_recording(recorded)

    for cursor in range(1_800, log.end, 333):
        known, whole = past.state_before(cursor), folded(log, cursor)
        assert all(mark in whole.marks for mark in known.marks)
        assert all(command in whole.commands for command in known.commands)
        assert described(known)["clocks"] == described(whole)["clocks"]


def test_that_what_another_program_still_records_can_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "a.tlrec"
    log = EventLog()
    recorder = RecordingWriter(path, log)
    log.append((1, MARK, 0, log.intern("here"), 0))
    recorder.start()
    wait_for_commit(recorder)
    past = open_recording(path)
    recorder.stop()

    assert past.events(0, 1) == [(1, MARK, 0, 1, 0)]
    assert past.strings == ["", "here"]


def _other_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (a)")
    connection.commit()
    connection.close()


def _newer(path: Path) -> None:
    record(EventLog(), path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 7")
    connection.close()


def _newer_vocabulary(path: Path) -> None:
    record(EventLog(), path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE meta SET value = 99 WHERE name = 'vocabulary_version'")


def _unreadable(path: Path) -> None:
    record(EventLog(), path)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: path.write_text("hello"), "is not a recording"),
        (lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99)), "is not a recording"),
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.write_bytes(b"SQLite form"), "is truncated to 11 bytes"),
        (_other_database, "is an SQLite file, but not a recording"),
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: path.unlink(missing_ok=True), "There is no file"),
        (_newer, r"newer inspector \(version 7 of the file\)"),
        (_newer_vocabulary, r"newer inspector \(version 4\.99 of the file\)"),
        (_unreadable, "cannot be read: Permission denied"),
    ],
)
def test_that_what_is_no_recording_is_refused_in_a_sentence(
    tmp_path: Path, make: object, sentence: str
) -> None:
    path = tmp_path / "a.tlrec"
    assert callable(make)
    make(path)
    with pytest.raises(RecordingError, match=sentence) as caught:
        open_recording(path)
    assert str(path) in str(caught.value)
    assert [each.name for each in tmp_path.iterdir()] in ([], ["a.tlrec"])


def test_that_a_recording_of_an_older_version_is_brought_up_to_date(
    tmp_path: Path, log: EventLog
) -> None:
    path = tmp_path / "a.tlrec"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA application_id = 0x544C4952")
        connection.execute("CREATE TABLE meta (name TEXT PRIMARY KEY, value)")
        connection.execute("CREATE TABLE strings (number INTEGER PRIMARY KEY, text TEXT)")
        connection.execute(
            "CREATE TABLE chunks (first_cursor INTEGER PRIMARY KEY, count INTEGER, "
            "first_ns INTEGER, last_ns INTEGER, data BLOB)"
        )
        connection.execute("INSERT INTO meta VALUES ('title', 'an old one')")
        connection.executemany("INSERT INTO strings VALUES (?, ?)", enumerate(log.strings))
        for start in range(0, log.end, 500):
            events = log.slice(start, start + 500)
            data = b"".join(n.to_bytes(8, "little", signed=True) for e in events for n in e)
            values = (start, len(events), events[0][0], events[-1][0], data)
            connection.execute("INSERT INTO chunks VALUES (?, ?, ?, ?, ?)", values)
    before = digests(tmp_path)
    past = open_recording(path)

    assert past.title == "an old one"
    assert past.events(0, past.end) == log.slice(0, log.end)
    assert described(past.state_before(900)) == described(folded(log, 900))
    assert past.notes == ()
    past.close()
    assert digests(tmp_path) == before


def test_that_the_first_sentence_says_what_is_damaged_and_from_where_on(
    tmp_path: Path, log: EventLog
) -> None:
    path = record(log, tmp_path / "a.tlrec", portion=400)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM meta WHERE name = 'ended_at'")
        connection.execute("UPDATE chunks SET data = zeroblob(90) WHERE first_cursor >= 1200")
    known_ns = log.slice(1_199, 1_200)[0][0]

    past = open_recording(path)

    assert past.is_partial
    assert past.notes[0] == (
        f"The file is damaged from {format_instant(known_ns)} on: not all of its events can be "
        "read (the events from 1,200 on are damaged)."
    )


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("CREATE VIEW more AS SELECT 1", "a view"),
        ("CREATE TRIGGER t AFTER INSERT ON annotations BEGIN SELECT 1; END", "a trigger"),
        ("CREATE TABLE t (a, b AS (a + 1))", "a computed table"),
        ("CREATE VIRTUAL TABLE t USING fts5(a)", "a computed table"),
        ("CREATE TABLE t (a CHECK (length(printf('%.*c', 2e9, 'x')) > a))", "a computed table"),
        (f"CREATE TABLE t (a DEFAULT '{'x' * 5_000}')", "a computed table"),
    ],
)
def test_that_a_file_with_more_than_tables_is_refused(
    tmp_path: Path, statement: str, what: str
) -> None:
    path = record(EventLog(), tmp_path / "a.tlrec")
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.close()

    with pytest.raises(RecordingError, match=f"it has {what}"):
        open_recording(path)
    with pytest.raises(RecordingError, match=f"it has {what}"):
        annotate(path, Annotation("note", 1, text="here"))


def put_events(path: Path, events: list[RawEvent]) -> None:
    """Replace all events of a recording."""
    block = block_of(events)
    data = pack(block)
    values = (0, len(events), int(block[0, 0]), int(block[0, -1]), crc32(data), data)
    with closing(sqlite3.connect(path)) as connection, connection:
        for table in ("chunks", "keyframes"):
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names
        connection.execute("INSERT INTO chunks VALUES (?,?,?,?,?,?)", values)


def test_that_a_text_that_is_not_there_reads_as_a_question_mark(tmp_path: Path) -> None:
    log = EventLog()
    log.append((0, MARK, 0, log.intern("here"), 0))
    path = record(log, tmp_path / "a.tlrec")
    put_events(path, [(1, MARK, 0, 1, 0), (2, MARK, 0, 77, 0), (3, MARK, 0, -1, 0)])

    past = open_recording(path)

    assert [mark.text for mark in past.state_before(past.end).marks] == ["here", "?", "?"]
    assert past.notes[0].endswith("(2 events make no sense from event 0 on).")


def test_that_from_where_on_events_do_not_fit_is_said(tmp_path: Path) -> None:
    log = EventLog()
    log.append((0, MARK, 0, log.intern("root"), 0))
    path = record(log, tmp_path / "a.tlrec")
    put_events(
        path,
        [(1_000_000_000, CLOCK_ADDED, 1, 0, 1), (2_000_000_000, TIMER_FIRED, 9, 0, 5)],
    )

    past = open_recording(path)
    # What did not fit before is counted already.
    state = past.state_before(0)
    state.misfits = 7
    past.go_on(state, 0, past.end)

    assert past.notes[0] == (
        "The file is damaged from 0:01.000 on: not all of its events can be read"
        " (1 event does not fit what was before, from event 0 on)."
    )


def test_that_events_that_do_not_fit_together_change_nothing(tmp_path: Path) -> None:
    log = EventLog()
    log.append((0, MARK, 0, log.intern("root"), 0))
    path = record(log, tmp_path / "a.tlrec")
    put_events(
        path,
        [
            (0, CLOCK_ADDED, 1, 0, 1),
            (0, CLOCK_ADDED, 2, 1, 1),
            (1, CLOCK_MOVED, 1, 2, 0),  # under itself
            (2, CLOCK_ADDED, 2, 1, 1),  # there already
            (3, TIMER_FIRED, 9, 0, 5),  # not there
            (4, PHASE_ENDED, 99, 0, 5),  # no phase
            (5, MARK, 1, 1, 0),
        ],
    )

    past = open_recording(path)
    state = past.state_before(past.end)

    assert [clock.id for clock in state.path(2)] == [2, 1]
    assert state.branch(1) == [1, 2]
    assert [mark.at_ns for mark in state.marks] == [5]
    assert past.is_partial
