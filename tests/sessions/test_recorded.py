"""A recording instead of a session: it looks as the scene did when it ended."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.clocks import ClockTree
from inspector.commands.transport import Run
from inspector.events.log import EventLog
from inspector.events.recording import Annotation, RecordingError, RecordingInfo
from inspector.events.recording.writing.file import RecordingFile
from inspector.sessions import recorded
from inspector.sessions.recorded import RecordedSession
from inspector.sessions.session import Session, SessionPhase
from inspector.vocabulary import FRAME_BEGAN, FRAME_ENDED, LOOP_FOUND
from tests.events.recording.recorded_worlds import described, folded, record, scene_log


@pytest.fixture(scope="module")
def log() -> EventLog:
    return scene_log("1", 3)


@pytest.fixture
def path(log: EventLog, tmp_path: Path) -> Path:
    return record(log, tmp_path / "a.tlrec", portion=600)


def test_that_a_recording_is_a_session(path: Path, log: EventLog) -> None:
    session: Session = RecordedSession(path)

    assert session.refresh() == log.end
    assert session.refresh() == 0
    assert session.log.read(0).events == log.slice(0, log.end)
    assert session.log.intern("") == 0
    assert described(session.timeline) == described(folded(log, log.end))
    assert described(session.history.state_before(700)) == described(folded(log, 700))
    assert session.capabilities == frozenset()
    assert (session.is_recorded, session.recorder, session.notes) == (True, None, ())
    assert (session.breakpoints, session.undoing, session.wake_errors) == (None, None, None)
    assert (session.title, session.source_label) == ("test", str(path))
    assert session.frame_rate == 60
    session.submit(Run())
    held = session.status
    session.close()
    session.close()
    assert (held.phase, session.status.phase) == (SessionPhase.HELD, SessionPhase.EMPTY)
    assert held.message.startswith("Recording of test: ")


def test_that_only_the_newest_events_of_a_long_one_are_in_the_log(
    path: Path, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded, "NEWEST", 100)
    session = RecordedSession(path)

    assert (session.log.first, session.log.end) == (log.end - 100, log.end)
    assert session.log.read(0).lost == log.end - 100
    assert described(session.log.base) == described(folded(log, log.end - 100))
    assert session.history.events(5, 9) == log.slice(5, 9)


def test_that_the_log_begins_behind_what_is_missing(path: Path, log: EventLog) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE chunks SET crc = 5 WHERE first_cursor = 1200")
    session = RecordedSession(path)

    assert session.log.first == 1_800
    assert session.log.read(1_800).events == log.slice(1_800, log.end)
    assert "damaged" in session.status.message
    assert session.notes


def test_that_notes_are_left_in_the_file(path: Path) -> None:
    session = RecordedSession(path)
    added = session.annotations.add(Annotation("bookmark", 50, name="here"))
    assert list(RecordedSession(path).annotations) == [added]
    session.annotations.remove(added.id)
    assert list(RecordedSession(path).annotations) == []


def test_that_the_frame_rate_is_the_recorded_one(tmp_path: Path) -> None:
    for rate, expected in (("24000/1001", Fraction(24_000, 1_001)), ("often", 60), ("-3", 60)):
        log = EventLog()
        path = tmp_path / f"{expected.numerator}{len(rate)}.tlrec"
        RecordingFile(path, RecordingInfo(frame_rate=rate), log.base.copy(), 0).finish()
        assert RecordedSession(path).frame_rate == expected


def test_that_the_loop_whose_frames_are_shown_is_chosen(tmp_path: Path) -> None:
    log = EventLog()
    tree = ClockTree(log)
    game, sound, mute = (tree.root.child(name).id for name in ("game", "sound", "mute"))
    for clock_id, name in ((game, "game"), (sound, "sound")):
        log.append((0, LOOP_FOUND, clock_id, log.intern(name), 0))
    log.append((1, FRAME_BEGAN, game, 0, 1))
    log.append((9, FRAME_ENDED, game, 5, 2))
    session = RecordedSession(record(log, tmp_path / "a.tlrec"))
    loops = [(game, "game", 1), (sound, "sound", 0)]
    assert [(each.clock_id, each.name, each.frames) for each in session.loops] == loops
    assert (session.frames_of, len(session.timeline.frames), session.refresh()) == (
        game,
        1,
        log.end,
    )

    assert session.choose_loop(mute) == "No frames of “mute” have been recorded."
    assert session.choose_loop(99) == "No frames of this clock have been recorded."
    assert (session.choose_loop(game), session.refresh()) == ("", 0)
    assert session.choose_loop(sound) == ""

    assert (session.frames_of, len(session.timeline.frames)) == (sound, 0)
    assert [(each.clock_id, each.name, each.frames) for each in session.loops] == loops
    assert (session.driven_clock(mute), session.driven_clock(0)) == (mute, tree.root.id)
    assert session.refresh() == session.log.end
    session.close()
    assert session.choose_loop(game) == ""
    assert session.frames_of == sound


def test_that_a_picture_that_cannot_be_read_is_said_and_the_next_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []

    def unpack(packed: object) -> object:
        asked.append(packed)
        if packed == "bad":
            raise ValueError("cut")
        return f"picture {packed}"

    kept = {4: (3, "three"), 3: (3, "three"), 5: (5, "bad"), 6: None}
    monkeypatch.setattr(recorded, "unpacked", unpack)
    recording: Any = SimpleNamespace(
        pictures=SimpleNamespace(at=kept.get, count=2, frames=(3, 5), bytes=60_000),
        meta={"frame_rate": "30"},
    )
    pictures: Any = recorded.RecordedPictures(recording)
    assert (pictures.is_watched, pictures.failure) == (False, "")

    assert [pictures.at(frame) for frame in (4, 3, 6)] == ["picture three", "picture three", None]
    assert (asked, pictures.failure) == (["three"], "")
    assert pictures.newest is None
    assert pictures.failure == "The file is damaged: this picture cannot be read (cut)."
    assert pictures.at(3) == "picture three"
    assert (asked[1:], pictures.failure) == (["bad", "three"], "")
    assert pictures.is_described
    assert pictures.brief == "2, 36.0 MB a minute"
    recording.pictures.count = 0
    assert (pictures.is_described, pictures.brief) == (False, "")


def test_that_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tlrec").write_text("hello")
    with pytest.raises(RecordingError, match="is not a recording"):
        RecordedSession(tmp_path / "a.tlrec")
