"""Interventions: where they came from, when, and how to undo them."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from inspector.clocks import FailurePolicy
from inspector.commands.breakpoints import AddBreakpoint, RemoveBreakpoint
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.command import Command, command_in
from inspector.commands.scene import AddMark, Reload, SetFailurePolicy, SetFrameRate, Undo
from inspector.commands.timers import ClearTimer
from inspector.commands.transport import StepBy
from inspector.events.conditions.breakpoint import BreakAction, BreakKind, Breakpoint
from inspector.sessions.hosted import HostedSession
from inspector.sessions.replay.journal import AppliedCommand, CommandPlace, command_form
from inspector.testing import held_session, pass_seconds, scene_file, virtual_session

SCENE = """
    def build(stage):
        game = stage.root.child("game", rate=0.5)
        game.set_interval(0.5, lambda: None, name="boss")
"""
GAME = 2


@pytest.fixture
def session(tmp_path: Path) -> HostedSession:
    return held_session(scene_file(tmp_path, SCENE))


def state(session: HostedSession) -> object:
    session.refresh()
    game = session.timeline.clocks[GAME]
    breakpoints = [(found, hits) for _, found, hits in session.breakpoints.items()]
    return game.paused, game.rate, session.frame_rate, session.failure_policy, breakpoints


@pytest.mark.parametrize(
    "command",
    [
        PauseClock(GAME),
        SetRate(GAME, Fraction(3)),
        SetFrameRate(Fraction(30)),
        SetFailurePolicy(FailurePolicy.STOP),
        AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES)),
    ],
)
def test_that_undoing_puts_back_what_was_and_undoing_that_does_it_again(
    session: HostedSession, command: Command
) -> None:
    before = state(session)
    session.submit(command)
    after = state(session)

    session.submit(Undo(1))
    assert after != before
    assert state(session) == before

    session.submit(Undo(2))
    assert state(session) == after


def test_that_a_removed_breakpoint_comes_back(session: HostedSession) -> None:
    session.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "boss")))
    session.submit(RemoveBreakpoint(1))
    session.submit(Undo(2))

    assert [found.subject for _, found, _ in session.breakpoints.items()] == ["boss"]


def test_that_undoing_is_said_in_words(session: HostedSession) -> None:
    session.submit(PauseClock(GAME))
    session.submit(Undo(1))
    session.refresh()
    assert session.timeline.commands[-1].text == "undo command 1: pause “game”"


@pytest.mark.parametrize(
    "command",
    [
        AddMark("x"),
        StepBy(1_000_000),
        ClearTimer(1),
        ResumeClock(GAME),
        SetRate(GAME, Fraction(1, 2)),
    ],
)
def test_that_what_passed_or_changed_nothing_cannot_be_undone(
    session: HostedSession, command: Command
) -> None:
    session.submit(command)
    assert session.undoing.newest == 0

    session.submit(Undo(1))

    session.refresh()
    assert "cannot be undone" in session.timeline.commands[-1].refusal


def test_that_undoing_once_is_enough(session: HostedSession) -> None:
    session.submit(PauseClock(GAME))
    session.submit(Undo(1))
    session.submit(Undo(1))

    session.refresh()
    assert "cannot be undone" in session.timeline.commands[-1].refusal


def test_that_another_life_of_the_scene_has_nothing_to_undo(session: HostedSession) -> None:
    session.submit(PauseClock(GAME))
    session.submit(Reload())
    assert session.undoing.newest == 0


def test_that_an_intervention_knows_its_clock_its_times_and_who(session: HostedSession) -> None:
    session.submit(StepBy(1_000_000_000))
    session.submit(PauseClock(GAME))

    session.refresh()
    record = session.timeline.commands[-1]

    assert (record.clock_id, record.at_ns, record.local_ns) == (GAME, 10**9, 5 * 10**8)
    assert record.host_ms > 1_700_000_000_000
    assert record.by == ""


def test_that_a_pause_by_a_breakpoint_says_so_and_can_be_undone(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, SCENE))
    pause = Breakpoint(BreakKind.TIMER_FIRES, "boss", action=BreakAction.PAUSE_BRANCH)
    session.submit(AddBreakpoint(pause))
    pass_seconds(session, 2)
    session.refresh()

    record = session.timeline.commands[-1]
    assert (record.text, record.by) == ("pause “game”", "breakpoint 1")
    assert session.timeline.clocks[GAME].pause_cause == record.number

    session.submit(Undo(record.number))
    pass_seconds(session, 0.1)
    session.refresh()
    assert not session.timeline.clocks[GAME].paused


def test_that_breakpoints_of_the_layout_are_no_interventions_and_not_undone(
    session: HostedSession,
) -> None:
    session.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES), is_kept=True))
    session.refresh()

    (record,) = session.timeline.commands
    assert record.by == "the layout"
    assert session.undoing.of(record.number) is None
    assert len(session.breakpoints) == 1


def test_that_a_form_of_an_older_version_is_understood() -> None:
    form = command_form(
        AppliedCommand(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES)), CommandPlace.AT_ONCE)
    )
    values = json.loads(form)
    del values["is_kept"]

    assert command_in(json.dumps(values)) == AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES))
