"""What is exported of a session says truly when, by which time and by whom it was made."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector import __version__
from inspector.analysis.statistics.frame_budget import ASKED_FRAME, DEFAULT_BUDGETS_MS, FrameBudget
from inspector.clocks.sources.manual_source import ManualTimeSource
from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.clocks.sources.time_source import TimeSource
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.events.log import EventLog
from inspector.events.timeline import Timeline
from inspector.sessions.frame_files import read_frame_file
from inspector.sessions.hosted import HostedSession
from inspector.sessions.provenance import provenance_of
from inspector.sessions.recorded import RecordedSession
from inspector.sessions.scene import find_scene
from inspector.testing import pass_seconds, virtual_session
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    FRAME_BEGAN,
    FRAME_ENDED,
    LOOP_ASKED,
    LOOP_FOUND,
    RATE_DENOMINATOR,
    LoopKind,
)

FRAME_NS = 20_000_000
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


def test_that_frames_of_an_attached_loop_are_compared_with_what_it_asks_for_or_does() -> None:
    log = EventLog()
    name, times_ns = log.intern("game"), range(0, 40 * FRAME_NS, FRAME_NS)
    found = [
        (0, CLOCK_ADDED, 1, 0, name),
        (0, CLOCK_ANCHORED, 1, 0, RATE_DENOMINATOR),
        (0, LOOP_FOUND, 1, LoopKind.DRAWS_FRAMES, 0),
    ]
    for at_ns in times_ns:
        found += [(at_ns, FRAME_BEGAN, 1, 0, FRAME_NS), (at_ns, FRAME_ENDED, 1, FRAME_NS, 1)]
    asks = [(40 * FRAME_NS, LOOP_ASKED, 1, 33_333_333, 0)]
    about = []
    for events in (found[:9], found, found + asks):
        timeline = Timeline(log.strings)
        timeline.apply_all(events)
        session: Any = SimpleNamespace(
            history=None, timeline=timeline, title="game", waits=False, frame_rate=Fraction(60)
        )
        about.append(provenance_of(session))
    few, usual, asked = about

    assert (few.has_budget, few.target_text, few.budgets_ms) == (False, "", DEFAULT_BUDGETS_MS)
    assert (usual.frame_rate, usual.target_text) == (None, "usual frame 20.0 ms")
    assert usual.budgets_ms == (20.0, *DEFAULT_BUDGETS_MS)
    assert (asked.frame_rate, asked.target_text) == (Fraction(30), "asks for 30 fps")
    assert asked.budgets_ms[0] == 1000 / 30
    told = asked.compared_with((1000 / 30, 12.5))
    assert told == (FrameBudget(33_333_333, origin=ASKED_FRAME), FrameBudget(12_500_000))
