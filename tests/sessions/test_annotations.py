"""Bookmarks, notes and ranges of a session, live and in files."""

from __future__ import annotations

import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from inspector.commands.recording import SaveLast, StartRecording
from inspector.commands.scene import Reload, RewindTo
from inspector.commands.transport import StepFrames
from inspector.events.annotations import Annotation, AnnotationError
from inspector.events.log import EventLog
from inspector.events.recording import (
    RecordingError,
    RecordingInfo,
    annotate,
    annotations_of,
    open_recording,
)
from inspector.events.recording.writing.file import RecordingFile
from inspector.sessions.annotations import Annotations
from inspector.sessions.hosted import HostedSession
from inspector.sessions.recorded import RecordedSession
from inspector.testing import held_session, scene_file
from inspector.timebase import NS_PER_MS, NS_PER_SECOND

SCENE = """
    def build(stage):
        stage.root.set_interval(0.05, lambda: None, name="tick")
"""
DAY = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def bookmark(at_ms: int, name: str = "here") -> Annotation:
    return Annotation("bookmark", at_ms * NS_PER_MS, name=name)


def named(at_ms: int, end_ms: int, name: str = "fight") -> Annotation:
    return Annotation("range", at_ms * NS_PER_MS, end_ms * NS_PER_MS, name)


def names(found: Annotations | list[Annotation]) -> list[str]:
    return [each.name for each in found]


@pytest.fixture
def session(tmp_path: Path) -> HostedSession:
    return held_session(scene_file(tmp_path, SCENE))


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "a.tlrec"
    session = held_session(scene_file(tmp_path, SCENE))
    session.submit(StartRecording(str(path)))
    session.submit(StepFrames(60))
    session.close()
    return path


# ---------------------------------------------------------------- the list


def test_that_they_come_in_the_order_of_their_instants() -> None:
    found = Annotations(now=lambda: DAY)
    found.add(bookmark(30, "c"))
    found.add(bookmark(10, "a"))
    found.add(named(10, 40, "b"))

    assert names(found) == ["a", "b", "c"]
    assert [each.id for each in found] == [2, 3, 1]
    assert {each.created for each in found} == {"2026-01-02T03:04:05+00:00"}
    assert names(found.within(20 * NS_PER_MS, 25 * NS_PER_MS)) == ["b"]
    assert names(found.within(41 * NS_PER_MS)) == []
    # What touches the span is in it.
    assert names(found.within(40 * NS_PER_MS, 50 * NS_PER_MS)) == ["b"]
    assert names(found.within(0, 10 * NS_PER_MS)) == ["a", "b"]
    assert names(found.within(0, 10 * NS_PER_MS - 1)) == []


def test_that_a_change_keeps_number_and_date() -> None:
    found = Annotations(now=lambda: DAY)
    number = found.add(bookmark(30)).id
    version = found.version

    changed = found.change(Annotation("bookmark", 7, name=" there ", id=number))

    assert (changed.id, changed.name, changed.created[:10]) == (number, "there", "2026-01-02")
    assert (list(found), found.version) == ([changed], version + 1)
    found.change(changed)
    assert found.version == version + 1


def test_that_every_change_can_be_undone_in_turn() -> None:
    found = Annotations()
    added = found.add(bookmark(30))
    found.change(Annotation("bookmark", 7, name="there", id=added.id))
    found.remove(added.id)

    said = [found.undo() for _ in range(3)]

    assert said == ["“there” was restored.", "“here” was restored.", "“here” was removed again."]
    assert (list(found), found.can_undo) == ([], False)
    with pytest.raises(AnnotationError, match="to undo"):
        found.undo()
    # A number is never given out twice.
    assert found.add(bookmark(1)).id == added.id + 1


def test_that_what_was_removed_at_once_comes_back_at_once() -> None:
    found = Annotations()
    numbers = [found.add(bookmark(at, f"b{at}")).id for at in (10, 20, 30)]
    with pytest.raises(AnnotationError, match="Annotation 9 no longer exists"):
        found.remove(numbers[0], 9)
    assert len(found) == 3

    found.remove(*numbers[:2])
    assert names(found) == ["b30"]
    assert found.undo() == "2 annotations were restored."
    assert names(found) == ["b10", "b20", "b30"]


def test_that_what_is_not_there_can_be_neither_changed_nor_removed() -> None:
    found = Annotations()
    for act in (
        lambda: found.remove(4),
        lambda: found.change(Annotation("bookmark", 1, name="a", id=4)),
    ):
        with pytest.raises(AnnotationError, match="Annotation 4 no longer exists"):
            act()


def test_that_what_is_refused_where_it_is_kept_does_not_count() -> None:
    def refuse(_changes: object) -> list[int]:
        message = "the disk is full"
        raise RecordingError(message)

    found = Annotations([Annotation("bookmark", 1, name="a", id=1)], refuse)
    for act in (lambda: found.add(bookmark(1)), lambda: found.remove(1)):
        with pytest.raises(RecordingError, match="full"):
            act()
    assert (names(found), found.version, found.can_undo) == (["a"], 0, False)


def test_that_there_is_a_limit_to_how_many() -> None:
    many = (Annotation("bookmark", n, name="x", id=n) for n in range(10_000))
    with pytest.raises(AnnotationError, match=r"10,000 annotations already\. Remove some first"):
        Annotations(many).add(bookmark(1))

    found = Annotations()
    assert found.add(bookmark(1)).id == 1
    for at_ms in range(200):
        found.add(bookmark(at_ms))
    for _ in range(200):
        assert found.can_undo
        found.undo()
    assert (found.can_undo, len(found)) == (False, 1)


# ---------------------------------------------------------------- a running scene


def test_that_a_recording_has_what_was_left_before_it_began_and_while_it_ran(
    session: HostedSession, tmp_path: Path
) -> None:
    path = tmp_path / "a.tlrec"
    session.submit(StepFrames(30))
    before = session.annotations.add(bookmark(100, "before"))
    session.submit(StartRecording(str(path)))
    session.submit(StepFrames(30))
    during = session.annotations.add(named(600, 900, "during"))
    gone = session.annotations.add(bookmark(700, "gone"))
    session.annotations.remove(gone.id)
    before = session.annotations.change(Annotation("note", 5, name="earlier", id=before.id))
    session.close()

    assert annotations_of(path) == [before, during]
    reopened = RecordedSession(path)
    assert list(reopened.annotations) == [before, during]
    assert reopened.notes == ()


def test_that_they_change_nothing_of_what_the_scene_does(
    session: HostedSession, tmp_path: Path
) -> None:
    other = held_session(scene_file(tmp_path, SCENE))
    for each in (session, other):
        each.submit(StepFrames(10))
    session.annotations.add(bookmark(100))
    session.submit(StepFrames(10))
    other.submit(StepFrames(10))

    kinds = [[event[:3] for event in each.log.read(0).events] for each in (session, other)]
    assert kinds[0] == kinds[1]


def test_that_going_back_in_time_keeps_them(session: HostedSession, tmp_path: Path) -> None:
    session.submit(StartRecording(str(tmp_path / "a.tlrec")))
    session.submit(StepFrames(60))
    kept = [session.annotations.add(bookmark(100)), session.annotations.add(named(200, 900))]
    session.submit(RewindTo(500 * NS_PER_MS))
    session.refresh()
    assert session.session_ns <= 500 * NS_PER_MS
    session.submit(StepFrames(5))
    session.refresh()
    kept.append(session.annotations.add(bookmark(550, "after")))
    session.close()

    assert list(session.annotations) == [kept[0], kept[1], kept[2]]
    assert annotations_of(tmp_path / "a.tlrec") == kept[:2]
    assert annotations_of(tmp_path / "a 2.tlrec") == kept


def test_that_another_life_of_the_scene_begins_without_them(
    session: HostedSession, tmp_path: Path
) -> None:
    session.submit(StartRecording(str(tmp_path / "a.tlrec")))
    session.submit(StepFrames(5))
    added = session.annotations.add(bookmark(10))
    session.submit(Reload())
    session.refresh()
    session.submit(StepFrames(5))
    session.refresh()
    session.close()

    assert (len(session.annotations), session.annotations.can_undo) == (0, False)
    assert annotations_of(tmp_path / "a.tlrec") == [added]
    assert annotations_of(tmp_path / "a 2.tlrec") == []


def test_that_saving_the_last_seconds_takes_along_what_is_in_them(
    session: HostedSession, tmp_path: Path
) -> None:
    path = tmp_path / "last.tlrec"
    session.submit(StepFrames(120))
    for each in (bookmark(100, "too early"), named(200, 900, "over"), named(500, 1_500, "into")):
        session.annotations.add(each)
    session.annotations.add(bookmark(1_900, "inside"))
    session.submit(SaveLast(str(path), NS_PER_SECOND))
    session.close()

    assert names(annotations_of(path)) == ["into", "inside"]


def test_that_they_survive_the_death_of_the_program(tmp_path: Path) -> None:
    scene = scene_file(tmp_path, SCENE)
    path = tmp_path / "a.tlrec"
    program = f"""
import os, signal, time
from pathlib import Path
from inspector.commands.recording import StartRecording
from inspector.commands.transport import StepFrames
from inspector.testing import held_session
from inspector.events.annotations import Annotation
from inspector.events.recording import RecordingError, annotations_of
def is_kept():
    try:
        return bool(annotations_of(Path({str(path)!r})))
    except RecordingError:
        return False  # it has only just started
session = held_session(Path({str(scene)!r}))
session.submit(StartRecording({str(path)!r}))
session.submit(StepFrames(60))
session.annotations.add(Annotation("bookmark", 5, name="evidence"))
while not Path({str(path)!r} + "-wal").is_file() or not is_kept():
    time.sleep(0.01)
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", program], check=False, timeout=60)

    assert ended.returncode == -signal.SIGKILL
    session = RecordedSession(path)
    assert names(session.annotations) == ["evidence"]
    assert "was not closed" in session.notes[0]
    # And it can still be annotated.
    session.annotations.add(bookmark(10, "later"))
    session.close()
    assert names(annotations_of(path)) == ["evidence", "later"]
    assert open_recording(path).end == session.history.end


def test_that_a_file_that_another_program_records_is_left_to_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.events.recording.annotations._PATIENCE_S", 0.0)
    scene = scene_file(tmp_path, SCENE)
    path = tmp_path / "a.tlrec"
    program = f"""
from pathlib import Path
from inspector.commands.recording import StartRecording
from inspector.commands.transport import StepFrames
from inspector.testing import held_session
from inspector.events.annotations import Annotation
session = held_session(Path({str(scene)!r}))
session.submit(StartRecording({str(path)!r}))
session.submit(StepFrames(5))
while not session.recorder._writer.committed:
    pass
print("recording", flush=True)
input()
session.annotations.add(Annotation("bookmark", 5, name="there"))
session.close()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "recording\n"
        with pytest.raises(RecordingError, match="another program is writing it"):
            annotate(path, bookmark(10, "here"))
        other.communicate("go on\n", timeout=60)
    annotate(path, bookmark(10, "here"))

    assert names(annotations_of(path)) == ["there", "here"]
    assert RecordedSession(path).notes == ()


# ---------------------------------------------------------------- a file


def dense(path: Path) -> list[tuple[object, ...]]:
    """Return everything in a file but annotations."""
    connection = sqlite3.connect(path)
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master")]
    rows: list[tuple[object, ...]] = []
    for table in tables:
        if table != "annotations" and not table.startswith("sqlite"):
            rows += connection.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608
    connection.close()
    return rows


def test_that_an_edited_file_has_the_same_events_to_the_byte(recording: Path) -> None:
    before, digest = dense(recording), hashlib.sha256(recording.read_bytes()).digest()
    session = RecordedSession(recording)
    session.refresh()
    session.close()
    assert hashlib.sha256(recording.read_bytes()).digest() == digest

    session = RecordedSession(recording)
    session.annotations.add(bookmark(100))
    number = session.annotations.add(named(100, 200, "x" * 200)).id
    for length in (10_000, 1, 9_000):
        session.annotations.change(Annotation("note", 7, text="y" * length, id=number))
    session.annotations.remove(number)
    state = session.history.state_at(500 * NS_PER_MS)

    assert dense(recording) == before
    assert state.frames.end == 29
    assert [each.name for each in recording.parent.iterdir() if each.stem == "a"] == ["a.tlrec"]


def test_that_a_window_and_a_shell_do_not_overwrite_one_another(recording: Path) -> None:
    session = RecordedSession(recording)
    session.annotations.add(bookmark(100, "window 1"))
    annotate(recording, bookmark(200, "shell"))
    second = session.annotations.add(bookmark(300, "window 2"))
    session.annotations.change(structs.replace(second, name="window 3"))

    assert names(annotations_of(recording)) == ["window 1", "shell", "window 3"]
    session.annotations.remove(second.id)
    session.annotations.undo()
    assert names(annotations_of(recording)) == ["window 1", "shell", "window 3"]


def test_that_what_comes_back_does_not_take_the_place_of_what_a_shell_has_added(
    recording: Path,
) -> None:
    session = RecordedSession(recording)
    removed = session.annotations.add(bookmark(100, "window"))
    session.annotations.remove(removed.id)
    annotate(recording, bookmark(200, "shell"))
    session.annotations.undo()

    assert names(annotations_of(recording)) == ["window", "shell"]
    session.close()


def _read_only(path: Path) -> None:
    path.chmod(0o444)


def _cut_off(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 4_096)


def _gone(path: Path) -> None:
    path.unlink()


def _locked(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    return connection


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (_read_only, "cannot be annotated: it is read-only. Make it writable, or annotate a copy"),
        (_cut_off, "it is truncated, and writing could damage the rest"),
        (_gone, "There is no file"),
        (_locked, "another program is writing it"),
    ],
)
def test_that_a_file_that_cannot_be_written_says_so_and_stays_as_it_is(
    recording: Path,
    spoil: Callable[[Path], object],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("inspector.events.recording.annotations._PATIENCE_S", 0.0)
    session = RecordedSession(recording)
    held = spoil(recording)
    before = recording.read_bytes() if recording.is_file() else b""

    with pytest.raises(RecordingError, match=sentence):
        session.annotations.add(bookmark(100))

    assert len(session.annotations) == 0
    assert (recording.read_bytes() if recording.is_file() else b"") == before
    if isinstance(held, sqlite3.Connection):
        held.close()


def test_that_odd_rows_in_a_file_do_not_keep_it_from_opening(recording: Path) -> None:
    connection = sqlite3.connect(recording)
    text = "INSERT INTO annotations (kind, at_ns, end_ns, name, created) VALUES (?,?,?,?,'')"
    connection.executemany(
        text,
        [
            ("bookmark", "soon", None, "a"),
            ("range", 5, 1, "b"),
            ("bookmark", 5, None, 7),
            ("bookmark", 6, None, "x" * 100_000),
            ("bookmark", 7, None, b"bytes"),
            ("bookmark", 8, None, "whole"),
        ],
    )
    connection.commit()
    connection.close()

    found = list(RecordedSession(recording).annotations)

    assert [each.at_ns for each in found] == [5, 6, 8]
    assert found[2].name == "whole"


@given(st.lists(st.tuples(st.sampled_from("acru"), st.integers(0, 5), st.text(max_size=8))))
def test_that_whatever_is_done_the_file_says_the_same(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, str]]
) -> None:
    path = tmp_path_factory.mktemp("steps") / "a.tlrec"
    RecordingFile(path, RecordingInfo(), EventLog().base.copy(), 0).finish()
    session = RecordedSession(path)
    found = session.annotations
    model: list[dict[int, Annotation]] = [{}]
    for what, place, words in steps:
        number = list(model[-1])[place % len(model[-1])] if model[-1] else 0
        now = dict(model[-1])
        try:
            match what:
                case "a":
                    added = found.add(named(place, place + 1, words))
                    now[added.id] = added
                case "c" if number:
                    now[number] = found.change(structs.replace(now[number], name=words))
                case "r" if number:
                    found.remove(number)
                    del now[number]
                case "u" if len(model) > 1:
                    found.undo()
                    model.pop()
                    continue
        except AnnotationError:
            continue
        if now != model[-1]:
            model.append(now)

    expected = sorted(model[-1].values(), key=lambda each: (each.at_ns, each.id))
    assert list(found) == expected
    assert annotations_of(path) == expected
    session.close()


def test_that_any_changes_and_their_undoing_leave_what_a_list_of_states_says() -> None:  # noqa: C901, PLR0915 - a model
    dice = Random(7)
    kept: list[tuple[object, ...]] = []
    numbers = iter(range(100, 10_000))

    def keep(changes: Sequence[object]) -> list[int]:
        kept.append(tuple(changes))
        # A file gives new ones numbers of its own.
        return [next(numbers) if isinstance(each, Annotation) else 0 for each in changes]

    annotations = Annotations(now=lambda: DAY)
    model: dict[int, tuple[int, str]] = {}
    states: list[dict[int, tuple[int, str]]] = []
    version = annotations.version
    for step in range(600):
        annotations.keep = keep if step > 300 else None
        before, chosen = dict(model), dice.sample(sorted(model), min(2, len(model)))
        at_ms, name = dice.randrange(20), f"name {step}"
        kept.clear()
        match dice.choice(["add", "change", "remove", "undo", "same"]):
            case "add":
                added = annotations.add(bookmark(at_ms, name))
                assert (added.created, added.id in model) == ("2026-01-02T03:04:05+00:00", False)
                assert len(kept) == (step > 300)
                model[added.id] = (at_ms, name)
                states.append(before)
            case "change" if chosen:
                changed = annotations.change(structs.replace(bookmark(at_ms, name), id=chosen[0]))
                assert changed.created == "2026-01-02T03:04:05+00:00"
                model[chosen[0]] = (at_ms, name)
                states.append(before)
            case "remove" if chosen and step % 3 == 0:
                removed = annotations.remove(*chosen, chosen[0])
                assert [each.id for each in removed] == chosen
                assert kept in ([], [tuple(chosen)])
                for number in chosen:
                    del model[number]
                states.append(before)
            case "undo" if states:
                told = annotations.undo()
                model = states.pop()
                lost, back = before.keys() - model.keys(), model.items() - before.items()
                if lost:
                    assert told == f"“{before[min(lost)][1]}” was removed again."
                elif len(back) == 1:
                    ((_, (_, title)),) = back
                    assert told == f"“{title}” was restored."
                else:
                    assert told == f"{len(back)} annotations were restored."
            case "same" if chosen:
                annotations.change(next(each for each in annotations if each.id == chosen[0]))
                assert kept == []
        del states[:-200]
        assert (annotations.version == version) is (model == before)
        version = annotations.version
        in_order = sorted((at_ms, number) for number, (at_ms, _) in model.items())
        assert [(each.at_ns // NS_PER_MS, each.id) for each in annotations] == in_order
        assert (len(annotations), annotations.can_undo) == (len(model), bool(states))
        assert {each.id: each.name for each in annotations} == {
            number: name for number, (_, name) in model.items()
        }
    annotations.clear()
    assert (len(annotations), annotations.can_undo) == (0, False)
    assert annotations.version > version
    version = annotations.version
    annotations.clear()
    assert annotations.version == version
    annotations.keep = None
    # Numbers are not given twice.
    assert annotations.add(bookmark(1)).id > max(n for state in states for n in state)


def test_that_what_overlaps_a_span_is_found_at_its_edges() -> None:
    annotations = Annotations([structs.replace(named(10, 20), id=4), bookmark(5)])
    assert annotations.add(bookmark(30)).id == 5
    ms = NS_PER_MS
    assert [
        len(annotations.within(*span))
        for span in (
            (5 * ms, 5 * ms),
            (6 * ms, 9 * ms),
            (20 * ms, 25 * ms),
            (20 * ms + 1, 25 * ms),
            (1 * ms, 10 * ms),
            (21 * ms,),
            (0,),
        )
    ] == [1, 0, 1, 0, 2, 1, 3]
