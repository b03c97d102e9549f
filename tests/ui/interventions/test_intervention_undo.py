"""What undoing does next, and what that is called."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from inspector.commands.clocks import PauseClock, SetRate
from inspector.commands.scene import AddMark, Undo
from inspector.events.states import CommandRecord
from inspector.sessions.hosted import HostedSession
from inspector.testing import held_session, scene_file
from ui.interventions.intervention_undo import LastUndoable, undo_text

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
    finder = LastUndoable()
    session.submit(SetRate(GAME, Fraction(2)))
    session.submit(PauseClock(GAME))
    session.submit(AddMark("x"))
    found = []
    for _ in range(3):
        session.refresh()
        record = finder.find(session, session.timeline)
        found.append(None if record is None else record.number)
        if record is not None:
            session.submit(Undo(record.number))

    assert found == [2, 1, None]
    clock = session.timeline.clocks[GAME]
    assert (clock.paused, clock.rate) == (False, Fraction(1))


def test_that_without_a_session_nothing_is_found(session: HostedSession) -> None:
    assert LastUndoable().find(None, session.timeline) is None


def test_that_a_long_text_is_shortened_and_ampersands_stay() -> None:
    assert undo_text(None) == ""
    assert undo_text(CommandRecord(0, 1, "pause “a&b”", "")) == "&Undo: pause “a&&b”"
    text = undo_text(CommandRecord(0, 1, "pause “" + "x" * 90 + "”", ""))
    assert len(text) <= 60
    assert text.endswith("…")
