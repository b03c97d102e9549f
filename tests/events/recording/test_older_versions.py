"""Recordings that older versions wrote open, and tell the same."""

from __future__ import annotations

import gzip
import hashlib
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

from inspector.commands.clocks import PauseClock, SetRate
from inspector.commands.command import command_in
from inspector.commands.scene import AddMark
from inspector.commands.transport import Run
from inspector.events.log import EventLog
from inspector.events.recording import (
    Annotation,
    annotate,
    annotations_of,
    open_recording,
    save_last,
)
from inspector.events.timeline import Timeline
from tests.events.recording.recorded_worlds import described, folded

#: 1.5 seconds of the first built-in scene, in 5 chunks with 4 keyframes.
_WRITTEN_BY_VERSION_1 = Path(__file__).with_name("version_1.tlrec.gz")
_WRITTEN_BY_VERSION_2 = Path(__file__).with_name("version_2.tlrec.gz")
_EVENTS = "57c399fa2fec1dcd146d7b7cda44b9b953ab52a2fd00af06fea725ef1f50107c"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.tlrec"
    path.write_bytes(gzip.decompress(_WRITTEN_BY_VERSION_1.read_bytes()))
    return path


def test_that_a_recording_of_version_1_tells_what_was_recorded(old: Path) -> None:
    before = old.read_bytes()
    past = open_recording(old)
    events = past.events(0, past.end)

    assert (past.title, past.meta["schema_version"], past.notes) == ("an old one", 1, ())
    assert (past.first, past.end, past.last_ns) == (0, 1_221, 1_500_000_000)
    assert hashlib.sha256(repr(events).encode()).hexdigest() == _EVENTS
    log = EventLog.holding(past.strings, events, 0, Timeline(past.strings))
    for cursor in range(0, past.end + 1, 111):
        assert described(past.state_before(cursor)) == described(folded(log, cursor))
    assert [each.name or each.text for each in past.annotations] == ["boss fight", "slow here"]
    past.close()
    assert old.read_bytes() == before
    assert [each.name for each in old.parent.iterdir()] == ["old.tlrec"]


def test_that_frames_of_version_2_have_no_shares(tmp_path: Path) -> None:
    path = tmp_path / "old.tlrec"
    path.write_bytes(gzip.decompress(_WRITTEN_BY_VERSION_2.read_bytes()))
    past = open_recording(path)
    log = EventLog.holding(past.strings, past.events(0, past.end), 0, Timeline(past.strings))

    frames = past.state_before(past.end).frames
    assert (past.meta["schema_version"], past.notes, len(frames)) == (2, (), 36)
    for cursor in range(0, past.end + 1, 111):
        assert described(past.state_before(cursor)) == described(folded(log, cursor))
    assert frames.frame(5).unknown_ns == frames.frame(5).interval_ns
    past.close()


def test_that_the_commands_in_a_recording_of_version_1_are_known(old: Path) -> None:
    # Keyframes of that version tell their words only.
    commands = open_recording(old).state_before(1_221).commands

    found = [command_in(each.form) for each in commands]
    assert [type(each) for each in found[:4]] == [Run, PauseClock, SetRate, AddMark]
    assert found[7:] == [SetRate(1, Fraction(1, 2)), AddMark("turn 2")]


def test_that_a_recording_of_version_1_may_be_annotated(old: Path) -> None:
    annotate(old, Annotation("bookmark", 10**9, name="here"))
    assert [each.name for each in annotations_of(old)] == ["boss fight", "", "here"]
    assert open_recording(old).notes == ()


def test_that_the_last_seconds_of_a_recording_of_version_1_can_be_saved(old: Path) -> None:
    new = old.with_name("new.tlrec")
    past = open_recording(old)
    count = save_last(past, new, 0.5)
    saved = open_recording(new)

    assert saved.events(saved.first, saved.end) == past.events(past.end - count, past.end)
    assert described(saved.state_before(saved.end)) == described(past.state_before(past.end))
    connection = sqlite3.connect(new)
    assert connection.execute("PRAGMA user_version").fetchone() == (4,)
    connection.close()
