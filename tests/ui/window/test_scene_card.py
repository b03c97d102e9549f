"""The card for newcomers: for built-in scenes, ticks off what was tried, dismissed for good."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import PauseClock, SetRate
from inspector.commands.transport import Hold, StepToNextTimer
from inspector.sessions.scene import find_scene
from tests.ui.shell import Shell, open_shell


@pytest.fixture
def shell(qtbot: QtBot, tmp_path: Path) -> Shell:
    return open_shell(qtbot, tmp_path, find_scene("small_game"))


def ticked(shell: Shell) -> set[str]:
    shell.advance(1 / 60)
    return {
        name for name, label in shell.contents.card.tasks.items() if label.text().startswith("☑")
    }


def test_that_a_built_in_scene_says_what_it_shows_and_what_to_try(shell: Shell) -> None:
    card = shell.contents.card

    assert card.isVisible()
    assert card.title.text().startswith("A small game that plays itself. Five branches")
    assert ticked(shell) == set()


def test_that_what_was_tried_is_ticked_off(shell: Shell) -> None:
    shell.bridge.submit(PauseClock(shell.clock_id("enemies")))
    assert ticked(shell) == {"pause"}
    shell.bridge.submit(SetRate(shell.clock_id("enemies"), Fraction(1, 4)))
    assert ticked(shell) == {"pause", "slow"}
    shell.bridge.submit(Hold())
    shell.bridge.submit(StepToNextTimer())
    shell.advance(1 / 60)
    assert ticked(shell) == {"pause", "slow", "step"}
    shell.contents.card.take_export()
    assert ticked(shell) == {"pause", "slow", "step", "export"}


def test_that_other_scenes_have_no_card(qtbot: QtBot, tmp_path: Path) -> None:
    assert not open_shell(qtbot, tmp_path).contents.card.isVisible()


def test_that_a_card_that_was_dismissed_does_not_come_back(
    qtbot: QtBot, tmp_path: Path, shell: Shell
) -> None:
    qtbot.mouseClick(shell.contents.card.close_button, Qt.MouseButton.LeftButton)
    assert not shell.contents.card.isVisible()
    shell.window.close()

    again = open_shell(qtbot, tmp_path, find_scene("small_game"))

    assert not again.contents.card.isVisible()
