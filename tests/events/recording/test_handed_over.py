"""What the thread of a session hands over, and what the thread that writes makes of it."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from inspector.errors import RecordingWriteError
from inspector.events.annotations import Annotation
from inspector.events.log import BYTES_PER_EVENT, EventLog
from inspector.events.recording import open_recording
from inspector.events.recording.live_files import is_written_here
from inspector.events.recording.writing import writer as module
from inspector.events.recording.writing.file import RecordingFile
from inspector.events.recording.writing.writer import (
    RecordingWriter,
    _Portion,
    begin_behind_command,
    disk_problem,
    save_last,
)
from inspector.events.timeline import Timeline
from inspector.timebase import NS_PER_SECOND
from inspector.vocabulary import CLOCK_ADDED, COMMAND_CONTEXT, COMMAND_FORM, MARK, RawEvent

NOW_NS = 50 * NS_PER_SECOND
COLUMNS = 5


class File:
    """Stands in for the file of a recording; keeps what it is asked to do."""

    def __init__(self) -> None:
        self.done: list[Any] = []
        self.pictures = SimpleNamespace(bytes=7, frames=8, add=self._note("picture"))
        for name in ("add_strings", "add_numbers", "skip_to", "annotate", "commit"):
            setattr(self, name, self._note(name))

    def _note(self, name: str) -> Callable[..., None]:
        return lambda *values: self.done.append((name, *values))

    def taken(self) -> list[Any]:
        done, self.done = self.done, []
        return done


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start no thread, and let no time pass."""
    thread = SimpleNamespace(start=lambda: None, join=lambda: None, is_alive=lambda: False)
    monkeypatch.setattr(module, "Thread", lambda **_: thread)
    monkeypatch.setattr(module, "monotonic_ns", lambda: NOW_NS)


def started(tmp_path: Path, log: EventLog | None = None) -> RecordingWriter:
    recorder = RecordingWriter(tmp_path / "a.tlrec", EventLog() if log is None else log)
    recorder.start()
    recorder._due_ns = NOW_NS + 1
    return recorder


def written(recorder: RecordingWriter) -> list[Any]:
    file = File()
    recorder._write_waiting(cast("RecordingFile", file))
    return [each for each in file.taken() if each != ("add_numbers", [])]


def mark(number: int) -> list[int]:
    return [number, MARK, 0, 0, number]


def test_that_texts_and_events_are_handed_over_once(tmp_path: Path) -> None:
    log = EventLog()
    log.append((1, CLOCK_ADDED, 1, 0, log.intern("root")))
    recorder = started(tmp_path, log)
    assert written(recorder) == [
        ("add_strings", ["", "root"]),
        ("add_numbers", [1, CLOCK_ADDED, 1, 0, 1]),
    ]
    log.append((2, MARK, 0, log.intern("here"), 0))
    log.append((3, MARK, 0, 2, 0))

    for _ in range(2):
        recorder.pump()

    assert (recorder.events, recorder._handed) == (3, 3)
    assert recorder._has_some.is_set()
    numbers = [2, MARK, 0, 2, 0, 3, MARK, 0, 2, 0]
    assert written(recorder) == [("add_strings", ["here"]), ("add_numbers", numbers)]
    assert recorder._written == 3


def test_that_little_is_gathered_and_much_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_GATHERED_NUMBERS", 2 * COLUMNS)
    recorder = started(tmp_path)
    much = array("q", mark(9) * 2)
    state, note = Timeline([""]), Annotation("note", 1)
    recorder._portions.extend(
        [
            _Portion([mark(1)], [], None),
            _Portion([mark(2), mark(3)], ["one"], None),
            _Portion([much, mark(4)], [], None),
            _Portion([mark(5)], ["two"], (state, 44), [note]),
            _Portion([], [], None, [3]),
        ]
    )
    recorder._pictures.extend([(5, b"five"), (6, b"six")])

    assert written(recorder) == [
        ("add_strings", ["one"]),
        ("add_numbers", mark(1) + mark(2)),
        ("add_numbers", mark(3)),
        ("add_numbers", much),
        ("add_strings", ["two"]),
        # What came before a gap stands before it.
        ("add_numbers", mark(4)),
        ("skip_to", state, 44),
        ("annotate", [note]),
        ("annotate", [3]),
        ("add_numbers", mark(5)),
        ("picture", 5, b"five"),
        ("picture", 6, b"six"),
    ]
    assert (recorder._written, recorder._pictures_taken) == (7, 7)
    assert not recorder._portions


@pytest.mark.parametrize(
    ("written", "due_ns", "commits"),
    [(14, NOW_NS + 1, False), (15, NOW_NS + 1, True), (5, NOW_NS, True)],
)
def test_that_much_or_what_is_due_is_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int, due_ns: int, *, commits: bool
) -> None:
    monkeypatch.setattr(module, "_COMMITTED_AT_ONCE", 12)
    recorder, file = started(tmp_path), File()
    recorder._written, recorder._due_ns, recorder.committed = written, due_ns, 5

    recorder._add(cast("RecordingFile", file), mark(1) * 2)

    assert [each[0] for each in file.taken()] == ["add_numbers", *["commit"] * commits]
    assert recorder.committed == (written + 2 if commits else 5)
    assert recorder._due_ns == (NOW_NS + module.COMMIT_NS if commits else due_ns)
    assert (recorder.picture_bytes, recorder.picture_frames) == ((7, 8) if commits else (0, 0))


def test_that_a_patient_caller_waits_until_the_disk_has_caught_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENT_WAITING", 10)
    monkeypatch.setattr(module, "_PICTURES_WAITING", 21)
    log = EventLog()
    recorder = started(tmp_path, log)
    waits = 0

    def sleep(_seconds: float) -> None:
        nonlocal waits
        waits += 1
        if recorder._written < 2:
            assert not recorder._has_enough.is_set()
            recorder._written += 1
        else:
            # A thread that waits for more than pictures is woken.
            assert recorder._has_enough.is_set()
            recorder._pictures_taken += 1

    monkeypatch.setattr(module, "sleep", sleep)
    for handed, pictures, is_patient, expected in (
        (12, 0, False, 0),
        (12, 0, True, 2),
        (12, 12, True, 2),
        (12, 10, True, 0),
    ):
        waits = 0
        recorder._handed, recorder._pictures_waiting = handed, pictures
        log.append((1, MARK, 0, 0, 0))
        recorder.pump(is_patient=is_patient)
        assert waits == expected
        recorder._has_enough.clear()


@pytest.mark.parametrize(
    ("waiting", "is_last", "taken"), [(10, False, True), (11, False, False), (11, True, True)]
)
def test_that_what_is_too_much_waits_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waiting: int, *, is_last: bool, taken: bool
) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 10)
    log = EventLog()
    recorder = started(tmp_path, log)
    recorder._handed, recorder._written = 5 + waiting, 5
    log.append((1, MARK, 0, 0, 0))

    recorder.pump(is_last=is_last)

    assert bool(recorder._portions) == taken


def test_that_what_fell_off_the_log_is_a_gap_with_the_state_behind_it(tmp_path: Path) -> None:
    log = EventLog(4 * BYTES_PER_EVENT)
    recorder = started(tmp_path, log)
    log.append((0, MARK, 0, 0, 0))
    recorder.pump()
    written(recorder)
    for number in range(1, 8):
        log.append((number, MARK, 0, 0, number))
    log.settle()
    first = log.first
    assert first > 0

    recorder.pump()

    ((name, state, cursor), added) = written(recorder)
    assert (name, cursor) == ("skip_to", first)
    assert (recorder.lost, recorder.events) == (first - 1, 1 + 8 - first)
    assert state.events_folded == first
    assert state is not log.base
    assert added == ("add_numbers", [*chain.from_iterable(map(mark, range(first, 8)))])
    log.append((9, MARK, 0, 0, 0))
    recorder.pump()
    assert [each[0] for each in written(recorder)] == ["add_numbers"]


def test_that_annotations_are_written_at_once_if_there_are_any(tmp_path: Path) -> None:
    recorder = started(tmp_path)

    recorder.annotate([])
    assert (recorder._is_hurried, bool(recorder._portions)) == (False, False)
    recorder.annotate([4])

    assert recorder._is_hurried
    assert recorder._has_some.is_set()
    assert recorder._has_enough.is_set()
    assert written(recorder) == [("annotate", [4])]


def test_that_a_recording_is_finished_once_and_takes_nothing_more(tmp_path: Path) -> None:
    log = EventLog()
    recorder = RecordingWriter(tmp_path / "a.tlrec", log)
    recorder.stop()
    recorder.pump()
    recorder.add_picture(1, b"one")
    assert (recorder.is_recording, recorder.is_writing, recorder._is_stopped) == (False,) * 3
    recorder.start()
    assert recorder.is_recording
    recorder.add_picture(0, b"first")
    assert recorder._has_some.is_set()
    recorder._has_some.clear()
    log.append((1, MARK, 0, 0, 0))

    recorder.finish()
    log.append((2, MARK, 0, 0, 0))
    for late in (recorder.finish, recorder.stop, recorder.pump):
        late()
    recorder.annotate([4])
    recorder.add_picture(1, b"one")

    assert (recorder.is_recording, recorder.events, recorder._is_hurried) == (False, 1, True)
    # A thread that waits for more is woken in any case.
    idle = RecordingWriter(tmp_path / "idle.tlrec", EventLog())
    idle.start()
    idle.finish()
    assert (idle._has_some.is_set(), idle._has_enough.is_set()) == (True, True)
    assert recorder._has_some.is_set()
    assert recorder._has_enough.is_set()
    recorder._due_ns = NOW_NS + 1
    assert written(recorder)[-2:] == [
        ("add_numbers", [1, MARK, 0, 0, 0]),
        ("picture", 0, b"first"),
    ]


@pytest.mark.parametrize(
    "error", [sqlite3.OperationalError("odd"), OSError("odd"), KeyError("odd")]
)
def test_that_an_error_ends_a_recording_with_a_sentence_and_leaves_nothing_that_is_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_values: object, **_more: object) -> None:
        raise error

    for content in (b"", b"begun"):
        recorder = started(tmp_path)
        assert recorder.path.is_file()
        recorder.path.write_bytes(content)
        monkeypatch.setattr(module, "RecordingFile", fail)

        recorder._write_all()

        assert recorder.path.exists() == bool(content)
        assert not recorder.is_recording
        if isinstance(error, KeyError):
            said = "a.tlrec could not be recorded any further: KeyError('odd')."
        else:
            said = disk_problem(recorder.path, error)
        assert recorder.problem == said
        recorder.path.unlink(missing_ok=True)


def test_that_what_is_little_is_committed_when_it_is_due_or_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder, file, now_ns = started(tmp_path), File(), NOW_NS
    monkeypatch.setattr(module, "monotonic_ns", lambda: now_ns)
    monkeypatch.setattr(module, "COMMIT_NS", NS_PER_SECOND)

    class Signal:
        def __init__(self, name: str, steps: list[Callable[[], object]]) -> None:
            self.name, self.steps = name, steps

        def wait(self, timeout_s: float | None = None) -> None:
            file.done.append((self.name, timeout_s))
            self.steps.pop(0)()

        def clear(self) -> None:
            file.done.append((self.name, "clear"))

        def set(self) -> None:
            pass

    def after(seconds: float, *numbers: int) -> Callable[[], object]:
        """Let time pass, and something come."""

        def step() -> None:
            nonlocal now_ns
            now_ns += round(seconds * NS_PER_SECOND)
            recorder._portions.extend(_Portion([mark(number)], [], None) for number in numbers)

        return step

    def hurry() -> None:
        recorder._is_hurried = True

    def stop() -> None:
        recorder._is_stopped = True

    some = [after(0, 1), after(5, 2), after(5, 4), after(5, 5)]
    enough = [after(0), after(0.25, 3), after(0.75), hurry, stop]
    recorder._has_some = cast("Any", Signal("some", some))
    recorder._has_enough = cast("Any", Signal("enough", enough))

    recorder._write_portions(cast("RecordingFile", file))

    assert [each for each in file.taken() if each != ("add_numbers", [])] == [
        # The first does not wait.
        *[("some", None), ("enough", 0), ("enough", "clear"), ("some", "clear")],
        *[("add_numbers", mark(1)), ("commit",), ("commit",)],
        *[("some", None), ("enough", 1), ("enough", "clear"), ("add_numbers", mark(2) + mark(3))],
        *[("enough", 0.75), ("enough", "clear"), ("some", "clear"), ("commit",), ("commit",)],
        *[("some", None), ("enough", 1), ("enough", "clear"), ("some", "clear")],
        *[("add_numbers", mark(4)), ("commit",)],
        *[("some", None), ("enough", 1), ("enough", "clear"), ("some", "clear")],
        *[("add_numbers", mark(5)), ("commit",)],
    ]
    assert (some, enough, recorder._is_hurried) == ([], [], False)


def test_that_each_detail_of_a_command_is_folded_once_before_a_recording_begins() -> None:
    events = [(5, kind, 0, 0, 0) for kind in (COMMAND_CONTEXT, COMMAND_FORM, MARK, COMMAND_FORM)]
    folded: list[RawEvent] = []
    timeline = cast("Timeline", SimpleNamespace(apply_all=folded.extend))

    ends = [begin_behind_command(lambda a, b: events[a:b], timeline, each) for each in range(5)]

    assert ends == [2, 2, 2, 4, 4]
    assert folded == [events[0], events[1], events[1], events[3]]


def test_that_last_seconds_that_cannot_be_saved_say_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_values: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(RecordingFile, "add", fail)
    log = EventLog()
    log.append((5, MARK, 0, 0, 0))
    path = tmp_path / "a.tlrec"

    with pytest.raises(RecordingWriteError, match=r"The disk is full: a\.tlrec ends here\."):
        save_last(log, path, 1)

    assert not is_written_here(path)


@pytest.mark.parametrize(("seconds", "first"), [(2.0, 0), (1.5, 2), (1.0, 3), (0.25, 3), (9.0, 0)])
def test_that_the_last_seconds_begin_behind_all_that_happened_at_their_first_instant(
    tmp_path: Path, seconds: float, first: int
) -> None:
    log = EventLog()
    for at_ns in (0, NS_PER_SECOND // 2, NS_PER_SECOND, 2 * NS_PER_SECOND):
        log.append((at_ns, MARK, 0, 0, 0))

    count = save_last(log, tmp_path / "a.tlrec", seconds)

    past = open_recording(tmp_path / "a.tlrec")
    assert (past.first, past.end, count) == (first, 4, 4 - first)
    assert len(past.state_before(4).marks) == 4
