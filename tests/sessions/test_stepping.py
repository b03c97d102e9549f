"""Steps of many frames in slices: the same as at one go, and they can be broken off."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from inspector.commands.clocks import SetRate
from inspector.commands.command import Command
from inspector.commands.recording import StartRecording, StopRecording
from inspector.commands.scene import Reload, RewindTo, StepBack
from inspector.commands.transport import Hold, Run, StepBy, StepFrames, StepTo
from inspector.events.log import BYTES_PER_EVENT
from inspector.events.recording import open_recording
from inspector.sessions.hosted import HostedSession
from inspector.sessions.replay.replay import LogEvents, RunEvents, first_difference
from inspector.sessions.scene import find_scene
from inspector.sessions.session import SessionPhase
from inspector.testing import held_session

MS = 1_000_000


@pytest.fixture
def session() -> HostedSession:
    """A held scene whose steps make a pause after each frame."""
    session = held_session(find_scene("1"))
    session.slice_ns = 0
    return session


def happened(session: HostedSession) -> RunEvents:
    """Return all that has happened, for comparing."""
    return RunEvents(LogEvents(session.log), session.log.strings, session.log.first)


def answers(session: HostedSession) -> list[tuple[str, str]]:
    """Return each command, and why it was refused."""
    session.refresh()
    return [(command.text, command.refusal) for command in session.timeline.commands]


@pytest.mark.parametrize("command", [StepFrames(50), StepBy(777 * MS), StepTo(500 * MS)])
def test_that_a_step_in_slices_does_what_it_does_at_one_go(
    session: HostedSession, command: StepFrames | StepBy | StepTo
) -> None:
    at_one_go = held_session(find_scene("1"))
    at_one_go.submit(command)

    session.submit(command)
    turns = 0
    while session.status.phase is SessionPhase.STEPPING:
        session.refresh()
        turns += 1

    assert turns > 25
    assert first_difference(happened(at_one_go), happened(session)) is None
    assert session.log.end == at_one_go.log.end
    assert session.session_ns == at_one_go.session_ns
    session.close()
    at_one_go.close()


def test_that_it_is_said_how_far_a_step_has_come(session: HostedSession) -> None:
    session.submit(StepFrames(50))
    session.refresh()

    assert session.status.phase is SessionPhase.STEPPING
    assert session.status.message == "Stepping: 2 frames have run, it is 0:00.033."
    assert not session.is_running
    session.close()


def test_that_other_commands_wait_for_the_end_of_a_step(session: HostedSession) -> None:
    session.submit(StepFrames(3))
    session.submit(SetRate(1, Fraction(1, 2)))
    assert [text for text, _ in answers(session)] == ["step 3 frames"]

    while session.status.phase is SessionPhase.STEPPING:
        session.refresh()
    session.refresh()

    assert session.frames_run == 3
    assert len(answers(session)) == 2
    session.close()


def test_that_holding_ends_a_step_where_it_has_come(session: HostedSession) -> None:
    session.submit(StepFrames(50))
    session.refresh()
    session.submit(Hold())
    session.refresh()

    assert session.status.phase is SessionPhase.HELD
    assert session.frames_run == 2
    assert answers(session) == [("step 50 frames", ""), ("hold", "")]
    session.close()


@pytest.mark.parametrize("command", [Reload(), StepBack(1), RewindTo(0)])
def test_that_what_replaces_the_scene_ends_a_step(session: HostedSession, command: Command) -> None:
    session.submit(StepFrames(50))
    session.refresh()
    session.submit(command)
    session.refresh()

    assert session.status.phase is not SessionPhase.STEPPING
    session.close()


def test_that_a_step_that_was_broken_off_can_be_gone_back_behind(session: HostedSession) -> None:
    session.submit(StepFrames(50))
    session.refresh()
    session.break_off()
    session.submit(StepBy(100 * MS))
    for _ in range(3):
        session.refresh()
    session.break_off()
    session.slice_ns = None
    session.submit(StepFrames(10))
    frames = session.frames_run

    session.submit(StepBack(5))

    assert session.frames_run == frames - 5
    assert [refusal for _, refusal in answers(session)] == [""] * 4
    session.submit(Run())
    assert session.is_running
    session.close()


def test_that_a_recording_has_what_falls_off_the_log_in_a_long_step(
    session: HostedSession, tmp_path: Path
) -> None:
    path = tmp_path / "a.tlrec"
    session.submit(StartRecording(str(path)))
    session.log.budget_bytes = BYTES_PER_EVENT * 20

    session.submit(StepFrames(60))
    for _ in range(30):
        # All but the recorder: a slice begins before a refresh comes to that.
        session._run.step_on(0)
    assert session.log.first > 0
    session.break_off()
    session.submit(StopRecording())

    past = open_recording(path)
    assert past.notes == ()
    assert past.state_before(past.end).frames.end == 31
    session.close()


def test_that_closing_ends_a_step(session: HostedSession) -> None:
    session.submit(StepFrames(50))

    session.close()

    assert session.frames_run < 50
    assert session.status.phase is SessionPhase.EMPTY
