"""The right of the foot: what a pause or a rate has done."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.command import Command
from inspector.commands.scene import AddMark
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.events.states import CommandRecord
from inspector.sessions.replay.journal import AppliedCommand, CommandPlace, command_form
from tests.ui.shell import Shell
from tests.ui.used_window import Lend
from ui.session.bridge import Selection
from ui.why.panel import WhyPanel
from ui.window.status_line import effect_text


@pytest.fixture
def shell(lend: Lend, tmp_path: Path) -> Shell:
    scene = tmp_path / "scene.py"
    scene.write_text(
        """
def build(stage):
    game = stage.root.child("game")
    enemies = game.child("enemies")
    game.set_interval(9, print)
    for _ in range(20):
        enemies.set_interval(9, print)
    stage.root.child("ui").set_timeout(99, print)
""",
        encoding="utf-8",
    )
    shell = lend(scene)
    shell.advance(1 / 60)
    return shell


def said(shell: Shell) -> str:
    shell.advance(1 / 60)
    shell.bridge.refresh_now()
    line = shell.window.notice
    shown = [each.text() for each in (line.buttons[0], line.keys) if each.isVisible()]
    undo = f" · {' '.join(shown)}" if shown else ""
    return f"{line.label.text()}{undo}"


def test_that_a_pause_says_how_many_timers_wait(shell: Shell) -> None:
    shell.bridge.submit(PauseClock(shell.clock_id("game")))
    assert said(shell) == "game paused · 21 timers wait · Undo Ctrl+Z"

    shell.bridge.submit(PauseClock(shell.clock_id("ui")))
    assert said(shell) == "ui paused · 1 timer waits · Undo Ctrl+Z"


def test_that_it_counts_again_when_fewer_timers_wait(lend: Lend, qtbot: QtBot) -> None:
    scene = """
def build(stage):
    enemies = stage.root.child("enemies")
    bats = [enemies.set_interval(9, print) for _ in range(7)]
    stage.root.set_timeout(0.5, lambda: enemies.clear(bats[0]))
"""
    shell = lend(scene)
    shell.advance(1 / 60)
    shell.bridge.submit(PauseClock(shell.clock_id("enemies")))
    assert said(shell) == "enemies paused · 7 timers wait · Undo Ctrl+Z"

    shell.advance(1)

    qtbot.waitUntil(lambda: said(shell) == "enemies paused · 6 timers wait · Undo Ctrl+Z")


def test_that_a_branch_without_timers_has_none_that_wait(lend: Lend) -> None:
    scene = 'def build(stage):\n    stage.root.child("still")\n'
    shell = lend(scene)
    shell.bridge.submit(PauseClock(shell.clock_id("still")))

    assert said(shell) == "still paused · Undo Ctrl+Z"


def test_that_the_end_of_a_pause_says_what_goes_on(shell: Shell) -> None:
    for name in ("game", "enemies"):
        shell.bridge.submit(PauseClock(shell.clock_id(name)))
    shell.bridge.submit(ResumeClock(shell.clock_id("enemies")))
    assert said(shell) == "enemies resumed · 20 timers still wait · Undo Ctrl+Z"

    shell.bridge.submit(ResumeClock(shell.clock_id("game")))
    assert said(shell) == "game resumed · 21 timers go on · Undo Ctrl+Z"


def test_that_a_rate_says_what_it_is_for(shell: Shell) -> None:
    shell.bridge.submit(SetRate(shell.clock_id("enemies"), Fraction(1, 4)))

    assert said(shell) == "enemies ×¼ · 20 timers below it · Undo Ctrl+Z"


def test_that_it_says_what_was_asked_for_before_a_program_reports_it(shell: Shell) -> None:
    timeline, game = shell.bridge.timeline, shell.clock_id("game")

    def said_of(command: Command) -> str:
        form = command_form(AppliedCommand(command, CommandPlace.AT_ONCE, "", 0))
        return effect_text(timeline, CommandRecord(0, 1, "", "", game, form=form))

    assert said_of(SetRate(game, Fraction(1, 2))) == "game ×½ · 21 timers below it"
    assert said_of(PauseClock(game)) == "game paused · 21 timers wait"
    clock = timeline.clocks[game]
    clock.paused, clock.n = True, 0
    assert said_of(ResumeClock(game)) == "game resumed · 21 timers go on"
    clock.paused = False
    # Its rate is 0.
    assert said_of(ResumeClock(game)) == "game resumed · 21 timers still wait"


def test_that_a_breakpoint_says_when_it_stops(shell: Shell) -> None:
    shell.bridge.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "boss")))

    assert said(shell) == "Breakpoint added: timer boss fires · Undo Ctrl+Z"


def test_that_other_commands_say_nothing(shell: Shell) -> None:
    shell.bridge.submit(AddMark("here"))

    assert said(shell) == ""


def test_that_what_it_has_done_is_undone_by_a_click(shell: Shell) -> None:
    game = shell.clock_id("game")
    shell.bridge.submit(PauseClock(game))
    said(shell)
    assert shell.bridge.timeline.clocks[game].paused

    shell.window.notice.buttons[0].click()

    assert said(shell) == "Undone: pause game · Redo Ctrl+Shift+Z"
    assert not shell.bridge.timeline.clocks[game].paused

    shell.window.notice.buttons[0].click()

    assert said(shell) == "Redone: pause game · Undo Ctrl+Z"
    assert shell.bridge.timeline.clocks[game].paused


def test_that_an_undo_after_a_step_back_says_what_it_undid(shell: Shell) -> None:
    game = shell.clock_id("game")
    shell.bridge.submit(SetRate(game, Fraction(1, 2)))
    shell.advance(0.1)
    shell.trigger("step-back")
    shell.advance(0.1)

    shell.trigger("undo")

    assert said(shell) == "Undone: set the rate of game to 0.5 · Redo Ctrl+Shift+Z"
    assert shell.bridge.timeline.clocks[game].rate == 1
    shell.trigger("redo")
    assert said(shell) == "Redone: set the rate of game to 0.5 · Undo Ctrl+Z"
    assert shell.bridge.timeline.clocks[game].rate == Fraction(1, 2)


def test_that_a_rate_that_the_scene_sets_back_is_said_where_one_looks(
    lend: Lend, tmp_path: Path
) -> None:
    scene = tmp_path / "scene.py"
    scene.write_text(
        "def build(stage):\n"
        "    game = stage.root.child('game')\n"
        "    stage.root.child('ui').set_timeout(2, game.set_rate, 1)\n",
        encoding="utf-8",
    )
    shell = lend(scene)
    game = shell.clock_id("game")
    shell.advance(1 / 60)
    shell.bridge.submit(SetRate(game, Fraction(1, 4)))
    assert said(shell).startswith("game ×¼")

    shell.advance(2)

    assert said(shell) == "The scene set game back to ×1 at 0:02.000; you had set ×¼"
    shell.bridge.select(Selection.clock(game))
    details = shell.window.panels.panel("details")
    assert isinstance(details, WhyPanel)
    assert "Set by\tthe scene at 0:02.000; you had set ×¼" in details.text()

    shell.bridge.submit(SetRate(game, Fraction(1, 2)))
    assert said(shell).startswith("game ×½")
    details.refresh()
    assert "the scene at" not in details.text()
