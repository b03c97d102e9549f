"""Recording while a session runs: off its thread, losing nothing in silence."""

from __future__ import annotations

import errno
import sqlite3
import threading
from functools import cache
from itertools import product
from pathlib import Path
from queue import Queue
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.events.annotations import AnnotationError
from inspector.events.log import BYTES_PER_EVENT, EventLog
from inspector.events.recording import (
    Annotation,
    RecordingError,
    RecordingInfo,
    RecordingWriter,
    annotate,
    annotations_of,
    open_recording,
    remove,
    save_last,
)
from inspector.events.recording.layout import CHUNK_EVENTS
from inspector.events.recording.writing import writer
from inspector.timebase import NS_PER_SECOND
from inspector.vocabulary import (
    CLOCK_ADDED,
    COMMAND,
    COMMAND_CONTEXT,
    COMMAND_FORM,
    MARK,
    NEVER,
    EventKind,
)
from tests.events.recording.recorded_worlds import (
    described,
    folded,
    record,
    scene_log,
    wait_for_commit,
)


def query(path: Path, text: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(text).fetchall()
    finally:
        connection.close()


def test_that_what_comes_while_it_records_is_there(tmp_path: Path) -> None:
    whole, log = scene_log("1", 3), EventLog()
    recorder = RecordingWriter(
        tmp_path / "a.tlrec", log, RecordingInfo(title="game", scene_path="/x.py")
    )
    recorder.start()
    for text in whole.strings:
        log.intern(text)
    for start in range(0, whole.end, 50):
        for event in whole.slice(start, start + 50):
            log.append(event)
        recorder.pump(at_once=start % 3 == 0)
        log.settle()
    recorder.stop()
    past = open_recording(tmp_path / "a.tlrec")

    assert (recorder.problem, recorder.lost, recorder.events) == ("", 0, whole.end)
    assert (past.title, past.scene_path, past.notes) == ("game", "/x.py", ())
    assert past.events(0, past.end) == whole.slice(0, whole.end)
    assert described(past.state_before(past.end)) == described(folded(whole, whole.end))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tlrec"]


def test_that_queued_events_are_committed_without_another_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "COMMIT_NS", 1_000_000)
    log = EventLog()
    recorder = RecordingWriter(tmp_path / "a.tlrec", log)
    recorder.start()
    for number in range(1, 4):
        log.append((number, MARK, 0, 0, 0))
        recorder.pump()
        wait_for_commit(recorder)
        assert not recorder.problem
        assert open_recording(tmp_path / "a.tlrec").end == number
    recorder.stop()


def test_that_little_waits_until_it_is_due_without_keeping_the_processor_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: Queue[float] = Queue()

    class Told(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.put(timeout or 0)
            return super().wait(timeout)

    monkeypatch.setattr(writer, "COMMIT_NS", 3_600 * NS_PER_SECOND)
    log = EventLog()
    recorder = RecordingWriter(tmp_path / "a.tlrec", log)
    recorder._has_enough = Told()
    log.append((1, MARK, 0, 0, 0))
    recorder.start()
    wait_for_commit(recorder)
    assert not recorder.problem
    log.append((2, MARK, 0, 0, 0))

    recorder.pump()

    while (wait_s := waits.get(timeout=10)) == 0:
        pass
    assert 3_000 < wait_s <= 3_600
    recorder.stop()
    assert open_recording(tmp_path / "a.tlrec").end == 2


def test_that_much_and_what_is_to_be_there_at_once_do_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "ENOUGH", 3)
    monkeypatch.setattr(writer, "Thread", lambda **_: SimpleNamespace(start=lambda: None))
    for count, at_once, is_enough in ((1, True, True), (2, False, False), (3, False, True)):
        log = EventLog()
        recorder = RecordingWriter(tmp_path / f"{count}.tlrec", log)
        recorder.start()
        for number in range(count):
            log.append((number, MARK, 0, 0, 0))

        recorder.pump(at_once=at_once)

        assert recorder._has_enough.is_set() == is_enough


def test_that_what_is_in_the_log_already_is_committed_without_a_call(tmp_path: Path) -> None:
    log = EventLog()
    log.append((1, MARK, 0, 0, 0))
    recorder = RecordingWriter(tmp_path / "a.tlrec", log)

    recorder.start()

    wait_for_commit(recorder)
    assert not recorder.problem
    assert open_recording(tmp_path / "a.tlrec").end == 1
    recorder.stop()


def test_that_what_comes_in_little_fills_chunks(tmp_path: Path) -> None:
    log = EventLog()
    recorder = RecordingWriter(tmp_path / "a.tlrec", log)
    recorder.start()
    for number in range(3 * CHUNK_EVENTS):
        log.append((number, MARK, 0, 0, 0))
        if number % 7 == 0:
            recorder.pump()
    recorder.stop()

    (count,) = query(tmp_path / "a.tlrec", "SELECT count(*) FROM chunks")[0]
    assert count <= 6


def test_that_little_and_much_stay_in_their_order(tmp_path: Path) -> None:
    log = EventLog()
    recorder = RecordingWriter(tmp_path / "a.tlrec", log)
    recorder.start()
    for number in range(5 * CHUNK_EVENTS):
        log.append((number, MARK, 0, 0, -number))
        # Now and then so much has come that the log has packed it.
        if number % 20_000 < 9_000 and number % 13 == 0:
            recorder.pump()
        if number % 100 == 0:
            log.settle()
    recorder.stop()

    past = open_recording(tmp_path / "a.tlrec")
    assert past.events(0, past.end) == log.slice(0, log.end)


@pytest.mark.parametrize("torn", [2, 3])
def test_that_a_recording_does_not_begin_in_the_midst_of_a_command(
    tmp_path: Path, torn: int
) -> None:
    log = EventLog(14 * BYTES_PER_EVENT)
    log.append((0, CLOCK_ADDED, 1, 0, log.intern("root")))
    log.append((5, COMMAND, 1, log.intern("pause"), 0))
    log.append((5, COMMAND_CONTEXT, 1, 1234, log.intern("me")))
    log.append((5, COMMAND_FORM, 1, log.intern("{}"), 0))
    for number in range(10):
        log.append((10 + number, MARK, 1, 0, 0))
    whole = folded(log, log.end).commands
    path = tmp_path / "a.tlrec"
    recorder = RecordingWriter(path, log, start=(folded(log, torn), torn))
    recorder.start()
    recorder.stop()

    past = open_recording(path)
    assert past.first == 4
    assert past.state_before(past.end).commands == whole
    assert query(path, 'SELECT clock, host_ms, "by" FROM commands') == [(1, 1234, "me")]


def test_that_a_gap_does_not_end_in_the_midst_of_a_command(tmp_path: Path) -> None:
    log = EventLog(4 * BYTES_PER_EVENT)
    log.append((0, CLOCK_ADDED, 1, 0, log.intern("root")))
    recorder = RecordingWriter(tmp_path / "a.tlrec", log)
    recorder.start()
    log.append((5, COMMAND, 1, log.intern("pause"), 0))
    log.append((5, COMMAND_CONTEXT, 1, 1234, log.intern("me")))
    for number in range(2):
        log.append((10 + number, MARK, 1, 0, 0))
    log.settle()
    assert log.first == 2
    recorder.stop()

    past = open_recording(tmp_path / "a.tlrec")
    assert recorder.lost == 2
    assert [event[1] for event in past.events(0, past.end)] == [CLOCK_ADDED, MARK, MARK]
    assert past.state_before(past.end).commands == folded(log, log.end).commands
    assert past.state_before(past.end).commands[0].by == "me"


def test_that_what_fell_off_the_log_is_counted_and_the_states_behind_are_right(
    tmp_path: Path,
) -> None:
    whole = scene_log("1", 3)
    log = EventLog(400 * BYTES_PER_EVENT)
    for text in whole.strings:
        log.intern(text)
    recorder = RecordingWriter(tmp_path / "a.tlrec", log)
    recorder.start()
    for cursor, event in enumerate(whole.slice(0, whole.end)):
        log.append(event)
        if cursor in {300, 350}:
            recorder.pump(at_once=True)
        log.settle()
    recorder.stop()
    past = open_recording(tmp_path / "a.tlrec")

    assert recorder.lost == log.first - 351 > 0
    assert past.first == 0
    (missing,) = [note for note in past.notes if "missing" in note]
    assert f"{recorder.lost:,} events are missing" in missing
    assert past.events(0, past.end) == whole.slice(0, 351) + whole.slice(log.first, log.end)
    for cursor in (200, 351, log.first, log.first + 30, log.end):
        assert described(past.state_before(cursor)) == described(folded(whole, cursor))
    frames = folded(whole, log.end).frames
    rows = dict(query(tmp_path / "a.tlrec", "SELECT frame, at_ns FROM frames"))
    assert rows == {number: frames.at_ns[number] for number in rows}
    assert max(rows) == frames.end - 1
    told = dict(query(tmp_path / "a.tlrec", "SELECT timer, added_ns FROM timers"))
    added = [e for e in whole.slice(0, 351) if e[1] == EventKind.TIMER_ADDED]
    assert {timer: told[timer] for _, _, timer, *_ in added} == {e[2]: e[0] for e in added}
    in_the_gap = past.state_before(log.first - 1)
    assert described(in_the_gap) == described(folded(whole, 351))


@pytest.mark.parametrize(("written", "taken"), [(0, 11), (11, 12)])
def test_that_a_slow_disk_does_not_make_memory_grow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int, taken: int
) -> None:
    monkeypatch.setattr(writer, "MOST_WAITING", 10)
    log = EventLog()
    recorder = RecordingWriter(tmp_path / "a.tlrec", log)
    recorder._handed, recorder._written = 11, written
    recorder.start()
    log.append((1, MARK, 0, 0, 0))
    recorder.pump(at_once=True)
    assert recorder.events == taken
    recorder.stop()


def test_that_pictures_that_wait_for_a_slow_disk_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_PICTURES_WAITING", 10)
    recorder = RecordingWriter(tmp_path / "a.tlrec", EventLog())
    is_slow = True
    monkeypatch.setattr(RecordingWriter, "is_recording", property(lambda _recorder: is_slow))

    for frame in (1, 2, 3, 3, 4):
        recorder.add_picture(frame, b"sixten")

    # Up to the limit, and the one that reaches beyond; a frame that is drawn again counts once.
    assert (recorder._pictures_waiting, recorder.lost_pictures) == (12, 2)
    recorder._pictures_taken = 6
    recorder.add_picture(5, b"sixten")
    assert (recorder._pictures_waiting, recorder.lost_pictures) == (18, 2)
    is_slow = False
    recorder.add_picture(6, b"sixten")
    assert (recorder._pictures_waiting, recorder.lost_pictures) == (18, 2)


@pytest.mark.parametrize(
    ("error", "before", "after"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device"),
            "The disk is full: a.tlrec could not be begun. Free some space and record again.",
            "The disk is full: a.tlrec ends here. Free some space and record again.",
        ),
        (
            sqlite3.OperationalError("database or disk is full"),
            "The disk is full: a.tlrec could not be begun. Free some space and record again.",
            "The disk is full: a.tlrec ends here. Free some space and record again.",
        ),
        (
            OSError(errno.EACCES, "Permission denied"),
            "a.tlrec cannot be written (Permission denied).",
            "a.tlrec can no longer be written (Permission denied); it ends here.",
        ),
        (
            sqlite3.OperationalError("disk I/O error"),
            "a.tlrec cannot be written (disk I/O error).",
            "a.tlrec can no longer be written (disk I/O error); it ends here.",
        ),
        (RecordingError("It was moved."), "It was moved.", "It was moved."),
    ],
)
def test_that_what_is_wrong_with_the_disk_is_said_before_and_after_the_beginning(
    tmp_path: Path, error: Exception, before: str, after: str
) -> None:
    path = tmp_path / "a.tlrec"

    assert writer.disk_problem(path, error) == before
    path.touch()
    assert writer.disk_problem(path, error) == after


def test_that_a_file_that_exists_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.tlrec"
    path.write_text("mine")
    with pytest.raises(RecordingError, match=r"a\.tlrec exists\. Choose another name\."):
        RecordingWriter(path, EventLog()).start()
    with pytest.raises(RecordingError, match="exists"):
        save_last(EventLog(), path, 1)
    assert path.read_text() == "mine"


def test_that_a_place_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    recorder = RecordingWriter(tmp_path / "no" / "a.tlrec", EventLog())
    with pytest.raises(RecordingError, match="cannot be written: No such file or directory"):
        recorder.start()
    recorder.pump()
    recorder.stop()
    assert not recorder.is_recording


def test_that_the_last_seconds_can_be_saved(tmp_path: Path) -> None:
    log = scene_log("1", 4)
    last_ns = log.slice(log.end - 1, log.end)[0][0]
    count = save_last(log, tmp_path / "a.tlrec", 1.5)
    past = open_recording(tmp_path / "a.tlrec")

    assert past.first == log.cursor_at(last_ns - 1_500_000_000)
    assert past.end == log.end
    assert count == past.end - past.first
    for cursor in (past.first, past.first + 100, past.end):
        assert described(past.state_before(cursor)) == described(folded(log, cursor))
    assert save_last(past, tmp_path / "b.tlrec", 100) == count
    with pytest.raises(ValueError, match="above 0"):
        save_last(log, tmp_path / "c.tlrec", 0)


def test_that_annotations_are_kept_in_the_file(tmp_path: Path) -> None:
    path = record(scene_log("4", 1), tmp_path / "a.tlrec")
    note = annotate(path, Annotation("note", 20, text="slow here"))
    annotate(path, Annotation("bookmark", 10, name="start"))
    named = annotate(path, Annotation("range", 5, 30, name="boss fight"))
    annotate(path, Annotation("note", 25, text="slow there", id=note))

    found = [(each.kind, each.at_ns, each.end_ns) for each in annotations_of(path)]
    assert found == [("range", 5, 30), ("bookmark", 10, None), ("note", 25, None)]
    assert open_recording(path).annotations[2].text == "slow there"
    assert remove(path, named)
    assert not remove(path, named)
    assert len(open_recording(path).annotations) == 2
    assert [each.name for each in tmp_path.iterdir()] == ["a.tlrec"]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (("photo", 1), "“photo” is not one of"),
        (("range", 1), "A range has an end"),
        (("note", 1, 2), "A range has an end"),
        (("range", 2, 1), "ends after it begins"),
    ],
)
def test_that_an_annotation_that_makes_no_sense_is_refused(
    values: tuple[Any, ...], sentence: str
) -> None:
    with pytest.raises(AnnotationError, match=sentence):
        Annotation(*values)


def test_that_annotating_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    for text in ("", "hello, this is no database, however long it may be" * 30):
        path = tmp_path / "a.txt"
        path.write_text(text)
        with pytest.raises(RecordingError, match="annotated"):
            annotate(path, Annotation("note", 1))
        assert path.read_text() == text
    with pytest.raises(RecordingError, match="There is no file"):
        annotate(tmp_path / "b.tlrec", Annotation("note", 1))


def test_that_the_tables_read_well_in_any_shell(tmp_path: Path) -> None:
    log = scene_log("1", 4)
    path = record(log, tmp_path / "a.tlrec", portion=333)
    timeline = folded(log, log.end)
    frames = timeline.frames

    rows = query(path, "SELECT frame, at_ns, interval_ns, busy_ns, update_ns FROM frames")
    assert [row[1] for row in rows] == list(frames.at_ns)
    assert [row[4] for row in rows] == list(frames.phases[3])
    clocks = query(path, "SELECT clock, name, parent FROM clocks WHERE removed_ns IS NULL")
    assert {(c.id, c.name, c.parent_id) for c in timeline.clocks.values()} == set(clocks)
    pending = query(path, "SELECT timer, label, fired, due_ns FROM timers WHERE gone_ns IS NULL")
    table = timeline.timers
    expected = {(r.id, r.label, r.fired, r.due_ns) for r in map(table.row, table.ids())}
    assert set(pending) == expected
    commands = query(path, "SELECT number, text, refusal, host_ms FROM commands")
    assert commands == [(c.number, c.text, c.refusal, c.host_ms) for c in timeline.commands]
    assert query(path, "SELECT text FROM marks") == [(m.text,) for m in timeline.marks]
    assert query(path, "SELECT count(*) FROM pauses WHERE to_ns IS NULL") == [
        (sum(clock.paused for clock in timeline.clocks.values()),)
    ]
    names = "SELECT value FROM meta WHERE name = 'schema_version'"
    assert query(path, names) == [(4,)]


def test_that_timers_of_before_a_recording_are_in_its_table(tmp_path: Path) -> None:
    whole = scene_log("1", 2)
    start = whole.end // 2
    before = folded(whole, start)
    rest = EventLog.holding(whole.strings, whole.slice(start, whole.end), start, before)

    path = record(rest, tmp_path / "a.tlrec")

    told = query(path, "SELECT timer, label, added_ns FROM timers ORDER BY timer")
    table = before.timers
    assert told == sorted((row.id, row.label, None) for row in map(table.row, table.ids()))


def timers_told(log: EventLog) -> dict[int, list[Any]]:
    """Return due time, interval, firings, lateness and end of each timer, event by event."""
    rows: dict[int, list[Any]] = {}
    for at_ns, kind, subject, a, b in log.slice(0, log.end):
        match kind:
            case EventKind.TIMER_ADDED:
                rows[subject] = [None, 0, 0, 0, None, None]
            case EventKind.TIMER_ARMED:
                rows[subject][:2] = a, b
            case EventKind.TIMER_FIRED:
                rows[subject][2:4] = rows[subject][2] + 1, a
                if b == NEVER:
                    rows[subject][4:] = at_ns, "fired"
                else:
                    rows[subject][0] = b
            case EventKind.TIMER_CLEARED:
                rows[subject][4:] = at_ns, "cleared"
            case _:
                pass
    return rows


@cache
def log_of_timers(scene: str) -> EventLog:
    # The second scene has thousands.
    return scene_log(scene, 2)


@pytest.mark.parametrize(
    ("scene", "portion"),
    [*product(("1", "5"), (1, 37, 500, 10**6)), ("2", 37), ("2", 10**6)],
)
def test_that_the_table_of_timers_tells_what_became_of_each(
    tmp_path: Path, scene: str, portion: int
) -> None:
    log = log_of_timers(scene)
    path = record(log, tmp_path / "a.tlrec", portion=portion)

    columns = "due_ns, interval_ns, fired, lateness_ns, gone_ns, gone_by"
    rows = {timer: row for timer, *row in query(path, f"SELECT timer, {columns} FROM timers")}  # noqa: S608
    told = timers_told(log)
    waiting = folded(log, log.end).timers
    for timer, row in rows.items():
        if row[5] == "clock removed":
            assert timer not in waiting
            row[4:] = None, None
    assert rows == told
