"""The card for newcomers: for built-in scenes, ticks off what was tried, dismissed for good."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import PauseClock, SetRate
from inspector.commands.transport import Hold, StepToNextTimer
from inspector.sessions.scene import built_in_scenes, find_scene
from tests.ui.shell import Shell, open_shell


@pytest.fixture
def shell(qtbot: QtBot, tmp_path: Path) -> Shell:
    return open_shell(qtbot, tmp_path, find_scene("small_game"))


def ticked(shell: Shell) -> set[str]:
    shell.advance(1 / 60)
    return {
        name for name, label in shell.contents.card.tasks.items() if label.text().startswith("☑")
    }


def test_that_a_built_in_scene_says_what_it_shows_and_what_to_try(
    qtbot: QtBot, shell: Shell
) -> None:
    card = shell.contents.card

    assert card.isVisible()
    assert card.title.text() == "A small game that plays itself"
    assert card.text.text().startswith("Five branches (game, enemies, particles, ui, audio)")
    qtbot.waitUntil(lambda: card.text.text().endswith("now and then."))
    qtbot.waitUntil(lambda: card.text.height() >= card.text.heightForWidth(card.text.width()))
    assert ticked(shell) == set()


def test_that_it_goes_through_what_there_is_to_try_in_this_scene(
    qtbot: QtBot, shell: Shell
) -> None:
    card, scene = shell.contents.card, find_scene("small_game")
    (tries,) = (each.tries for each in built_in_scenes() if each.path == scene)
    assert card.next_button.text() == "What to try"

    seen = []
    for _ in tries:
        assert card.next_button.text() in {"What to try", "Next"}
        qtbot.mouseClick(card.next_button, Qt.MouseButton.LeftButton)
        seen.append(card.text.text())
    assert seen == [f"Try {place} of {len(tries)}: {each}" for place, each in enumerate(tries, 1)]

    assert card.next_button.text() == "What it shows"
    qtbot.mouseClick(card.next_button, Qt.MouseButton.LeftButton)
    assert card.text.text().startswith("Five branches")


def test_that_every_scene_but_the_smallest_has_something_to_try() -> None:
    assert [each.path.stem for each in built_in_scenes() if not each.tries] == ["04_minimal"]


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


def test_that_only_a_slower_branch_is_ticked_off_as_slowed(shell: Shell) -> None:
    root = shell.bridge.timeline.clocks[shell.clock_id("enemies")].parent_id
    while above := shell.bridge.timeline.clocks[root].parent_id:
        root = above

    shell.bridge.submit(SetRate(root, Fraction(1, 4)))
    shell.bridge.submit(SetRate(shell.clock_id("enemies"), Fraction(4)))
    assert ticked(shell) == set()

    shell.bridge.submit(SetRate(shell.clock_id("enemies"), Fraction(0)))
    assert ticked(shell) == set()

    shell.bridge.submit(SetRate(shell.clock_id("enemies"), Fraction(1, 2)))
    assert ticked(shell) == {"slow"}
    assert shell.contents.card.tasks["slow"].text() == "☑ Slow it down (R)"


@pytest.mark.parametrize("export", ["export", "export-timeline", "export-scene"])
def test_that_any_export_is_ticked_off(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, export: str
) -> None:
    monkeypatch.setattr(QDialog, "open", lambda _dialog: None)
    monkeypatch.setattr(QDialog, "exec", lambda _dialog: 0)
    shell.advance(1)

    shell.trigger(export)

    assert ticked(shell) == {"export"}


def test_that_names_in_the_texts_of_scenes_have_the_quotes_of_the_window() -> None:
    texts = [text for each in built_in_scenes() for text in (each.summary, *each.tries)]
    assert [text for text in texts if '"' in text] == []


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


def test_that_a_long_text_leaves_room_for_the_plots(qtbot: QtBot, shell: Shell) -> None:
    card = shell.contents.card
    font = card.text.font()
    font.setPointSizeF(2 * font.pointSizeF())
    card.text.setFont(font)

    shell.window.resize(1_000, 400)

    qtbot.waitUntil(card.text.isHidden)
    assert not any(label.isVisible() for label in card.tasks.values())
    assert card.title.toolTip().endswith("now and then.")

    qtbot.mouseClick(card.next_button, Qt.MouseButton.LeftButton)

    # As many lines as it may have, however few.
    qtbot.waitUntil(lambda: card.text.height() <= 2 * card.text.fontMetrics().lineSpacing())
    assert card.text.text().startswith("Try 1 of ")
    assert card.text.text().endswith(" …")
    assert card.text.toolTip() in card.title.toolTip()
