"""What is exported of a session says truly when, by which time and by whom it was made."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from inspector import __version__
from inspector.clocks.sources.manual_source import ManualTimeSource
from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.clocks.sources.time_source import TimeSource
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.sessions.frame_files import read_frame_file
from inspector.sessions.hosted import HostedSession
from inspector.sessions.provenance import provenance_of
from inspector.sessions.recorded import RecordedSession
from inspector.sessions.scene import find_scene
from inspector.testing import pass_seconds, virtual_session

STARTED = "2026-05-04T03:02:01.000+00:00"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recording of a second of a scene, as if it were made earlier by another version."""
    path = tmp_path / "a.tlrec"
    session = virtual_session(find_scene("1"))
    session.recorder.start(path)
    pass_seconds(session, 1)
    session.close()
    say(path, "started_at", STARTED)
    say(path, "tool_version", "0.0.1")
    say(path, "frame_rate", "50")
    return path


def say(path: Path, name: str, value: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE meta SET value = ? WHERE name = ?", (value, name))


def test_that_an_opened_recording_tells_of_the_run_that_was_recorded(recording: Path) -> None:
    session = RecordedSession(recording)

    provenance = provenance_of(session)

    session.close()
    assert provenance.created == datetime.fromisoformat(STARTED)
    assert provenance.source == "virtual time"
    assert provenance.version == "0.0.1"
    assert provenance.frame_rate == 50
    assert provenance.scene == session.title


def test_that_a_recording_says_the_same_opened_as_read_without_a_window(recording: Path) -> None:
    session = RecordedSession(recording)

    provenance = provenance_of(session)

    session.close()
    assert provenance == read_frame_file(recording).provenance


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (VirtualTimeSource(), "virtual time"),
        (ManualTimeSource(), "virtual time"),
        (SystemTimeSource(), "real time"),
    ],
    ids=["virtual", "manual", "system"],
)
def test_that_a_run_that_goes_on_tells_of_its_time_source_and_of_now(
    source: TimeSource, text: str
) -> None:
    session = HostedSession(find_scene("1"), source, autorun=False)
    before = datetime.now(UTC)

    provenance = provenance_of(session)

    session.close()
    assert provenance.source == text
    assert provenance.created is not None
    assert before <= provenance.created <= datetime.now(UTC)
    assert provenance.version == __version__
    assert provenance.frame_rate == session.frame_rate


@pytest.mark.parametrize(
    ("name", "text"),
    [("qt", "real time"), ("asyncio", "real time"), ("metronome", "metronome"), ("", "")],
)
def test_that_a_recording_names_a_time_source_that_only_its_file_knows(
    recording: Path, name: str, text: str
) -> None:
    say(recording, "source", name)

    assert read_frame_file(recording).provenance.source == text


@pytest.mark.parametrize("rate", ["x", "1/0", "", "0", "-60", "1e4000"])
def test_that_a_damaged_frame_rate_is_not_said(recording: Path, rate: str) -> None:
    say(recording, "frame_rate", rate)
    session = RecordedSession(recording)

    provenance = provenance_of(session)

    session.close()
    assert provenance.frame_rate is None


def test_that_a_recording_without_its_start_has_no_date(recording: Path) -> None:
    say(recording, "started_at", "yesterday")

    assert read_frame_file(recording).provenance.created is None
