"""Loops and open-flash's clocks in a session: seen, explained, controlled, recorded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.analysis.explain.explain import explain
from inspector.analysis.lanes.lanes import LaneKind, LaneStore
from inspector.calls.call import CallId
from inspector.cli.main import main
from inspector.commands.command import Command
from inspector.commands.members import PauseMember, ResumeMember, UnscheduleMember
from inspector.commands.transport import StepFrames
from inspector.events.members import MemberState
from inspector.events.recording import open_recording
from inspector.sessions.hosted import HostedSession
from inspector.testing import held_session, scene_file
from inspector.vocabulary import EventKind, Field

SCENE = """
    from inspector import start_loop
    from inspector.frames.loop import OPEN_FLASH, start_loop_by
    from inspector.engines.open_flash import OpenFlashClock

    def build(stage):
        game = stage.root.child("game")
        start_loop(game, 60, lambda: None, name="physics")
        player = OpenFlashClock(game, name="player")
        player.set_timeout_ns(2_000_000_000, lambda: None, name="hint")
        start_loop_by(player, 25, lambda: None, OPEN_FLASH, name="movie")
"""


@pytest.fixture
def session(tmp_path: Path) -> Iterator[HostedSession]:
    session = held_session(scene_file(tmp_path, SCENE))
    yield session
    session.close()


def called(session: HostedSession, name: str) -> MemberState:
    (found,) = [each for each in session.timeline.members.by_id.values() if each.name == name]
    return found


def do(session: HostedSession, *commands: Command) -> None:
    for command in commands:
        session.submit(command)
        session.refresh()
        assert session.timeline.commands[-1].refusal == ""


def explained(session: HostedSession, name: str) -> str:
    answer = explain(
        session.history, CallId(called(session, name).id, is_member=True), session.timeline.at_ns
    )
    return "\n".join([answer.headline, *(reason.text for reason in answer.reasons)])


def test_that_loops_and_child_clocks_are_members_and_no_timers(session: HostedSession) -> None:
    do(session, StepFrames(60))

    assert len(session.timeline.timers) == 0
    assert called(session, "physics").calls == 60
    assert called(session, "movie").calls == 25
    store = LaneStore()
    store.read(session.history, session.timeline)
    labels = [lane.label for lane in store.lanes.values() if lane.kind is LaneKind.CALL]
    assert labels == ["physics", "player: hint", "player: movie"]


def test_that_a_paused_child_clock_is_explained(session: HostedSession) -> None:
    do(session, StepFrames(60), PauseMember(called(session, "player").id), StepFrames(30))

    text = explained(session, "hint")
    assert "Its child clock “player” has been paused since frame 59, by command" in text
    assert "of its time remained when it was paused." in text
    assert called(session, "movie").calls == 25

    do(session, ResumeMember(called(session, "player").id), StepFrames(60))

    assert called(session, "movie").calls == 50


def test_that_a_loop_says_what_it_waits_for(session: HostedSession) -> None:
    do(session, StepFrames(30))

    text = explained(session, "movie")

    assert "It is due at 00:00.520 in the time of “game”, which is at 00:00.500" in text
    assert "It was called 12 times" in text


def test_that_a_loop_can_be_unscheduled(session: HostedSession) -> None:
    do(session, StepFrames(1), UnscheduleMember(called(session, "physics").id), StepFrames(10))

    names = [each.name for each in session.timeline.members.by_id.values()]
    assert "physics" not in names


def test_that_a_recording_holds_them(tmp_path: Path) -> None:
    path, recording = scene_file(tmp_path, SCENE), tmp_path / "run.tlrec"

    assert main(["run", str(path), "--seconds", "1", "--record", str(recording)]) == 0

    past = open_recording(recording)
    members = past.state_before(past.end).members
    fields = {each.name: each.fields for each in members.by_id.values()}
    assert fields["physics"][Field.INTERVAL] == 16_666_667
    kinds = {each[1] for each in past.events(0, past.end)}
    past.close()
    assert EventKind.TIMER_ADDED not in kinds
    assert main(["replay", str(recording), "--verify"]) == 0
