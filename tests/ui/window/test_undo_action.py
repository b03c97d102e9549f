"""The action that undoes the last intervention: when it is possible, and what it says."""

from __future__ import annotations

from fractions import Fraction

from inspector.commands.clocks import PauseClock, SetRate
from inspector.commands.scene import AddMark
from tests.ui.used_window import Lend


def test_that_it_says_what_it_undoes_and_goes_back_one_change_at_a_time(lend: Lend) -> None:
    shell = lend()
    action = shell.window.actions_by_id["undo"]
    game = shell.clock_id("game")
    shell.advance(0.1)
    assert not action.isEnabled()
    assert action.reason == "there is no intervention to undo"
    assert action.text() == "&Undo last intervention"

    shell.bridge.submit(SetRate(game, Fraction(1, 2)))
    shell.bridge.submit(PauseClock(game))
    shell.bridge.submit(AddMark("x"))
    shell.advance(0.1)
    assert action.text() == "&Undo: pause game"

    shell.trigger("undo")
    shell.advance(0.1)
    assert not shell.bridge.timeline.clocks[game].paused
    assert action.text() == "&Undo: set the rate of game to 0.5"
    redo = shell.window.actions_by_id["redo"]
    assert redo.isEnabled()
    assert redo.text() == "Redo: pause game"

    shell.trigger("undo")
    shell.advance(0.1)
    assert shell.bridge.timeline.clocks[game].rate == 1
    assert not action.isEnabled()
    assert action.text() == "&Undo last intervention"


def test_that_another_life_of_the_scene_has_nothing_to_undo(lend: Lend) -> None:
    shell = lend()
    shell.bridge.submit(PauseClock(shell.clock_id("game")))
    shell.advance(0.1)
    assert shell.window.actions_by_id["undo"].isEnabled()

    shell.trigger("reload")
    shell.advance(0.1)

    assert not shell.window.actions_by_id["undo"].isEnabled()
