"""What undoing does next."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from inspector.commands.clocks import PauseClock, SetRate
from inspector.commands.scene import AddMark, Undo
from inspector.display_text import without_quotes
from inspector.sessions.hosted import HostedSession
from inspector.testing import held_session, scene_file
from ui.selected.undo_steps import UndoSteps

SCENE = """
    def build(stage):
        stage.root.child("game")
"""
GAME = 2


@pytest.fixture
def session(tmp_path: Path) -> HostedSession:
    return held_session(scene_file(tmp_path, SCENE))


def test_that_undoing_again_and_again_goes_back_one_change_at_a_time(
    session: HostedSession,
) -> None:
    steps = UndoSteps()
    session.submit(SetRate(GAME, Fraction(2)))
    session.submit(PauseClock(GAME))
    session.submit(AddMark("x"))
    found = []
    for _ in range(3):
        session.refresh()
        step, _ = steps.find(session, session.timeline)
        found.append(None if step is None else step.number)
        if step is not None:
            session.submit(Undo(step.number))

    assert found == [2, 1, None]
    clock = session.timeline.clocks[GAME]
    assert (clock.paused, clock.rate) == (False, Fraction(1))


def test_that_what_was_undone_is_redone_in_the_same_steps(session: HostedSession) -> None:
    steps = UndoSteps()

    def take(which: int) -> str:
        session.refresh()
        step = steps.find(session, session.timeline)[which]
        if step is None:
            return ""
        session.submit(Undo(step.number))
        return step.text

    session.submit(SetRate(GAME, Fraction(2)))
    session.submit(PauseClock(GAME))
    rate, pause = "set the rate of game to 2", "pause game"
    undo, redo = 0, 1

    assert take(redo) == ""
    assert [take(undo) for _ in range(3)] == [pause, rate, ""]
    assert [take(redo) for _ in range(3)] == [rate, pause, ""]
    clock = session.timeline.clocks[GAME]
    assert (clock.paused, clock.rate) == (True, Fraction(2))
    assert [take(undo), take(redo), take(undo), take(undo)] == [pause, pause, pause, rate]
    session.submit(SetRate(GAME, Fraction(1, 2)))
    assert take(redo) == ""
    assert take(undo) == "set the rate of game to 0.5"
    texts = [without_quotes(each.text) for each in session.timeline.commands[2:5]]
    assert texts == [
        f"undo command 2: {pause}",
        f"undo command 1: {rate}",
        f"redo command 1: {rate}",
    ]


def test_that_without_a_session_nothing_is_found(session: HostedSession) -> None:
    assert UndoSteps().find(None, session.timeline) == (None, None)
