"""What a pause or a rate would do is shown while it is only highlighted or typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from inspector.commands.transport import StepBy
from inspector.testing import held_session, scene_file
from ui.clock_tree.panel import ClockTreePanel
from ui.kit.prompts import Prompt
from ui.kit.theme import Theme
from ui.selected.menus import ask_for_rate
from ui.selected.preview import PreviewCard, Previewer, typed_rate_command
from ui.session.bridge import SessionBridge

SCENE = """
    def build(stage):
        game = stage.root.child("game")
        for number in range(12):
            game.set_timeout(1 + number, lambda: None, name=f"wave {number}")
"""
PAUSING = "Pausing game: 12 timers would wait until that is undone."


class Stand:
    """The clock tree over a held scene."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.session = held_session(scene_file(folder, SCENE))
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        self.panel = ClockTreePanel(self.bridge, Theme("light"))
        qtbot.addWidget(self.panel)
        self.panel.resize(600, 300)
        with qtbot.waitExposed(self.panel):
            self.panel.show()
        self.previewer: Previewer = self.panel.previewer

    def menu(self) -> QMenu:
        menu = self.panel.make_menu(self.panel.model.row_of(2) or 0)
        menu.popup(self.panel.mapToGlobal(self.panel.rect().center()))
        return menu

    def action(self, menu: QMenu, text: str) -> QAction:
        return next(action for action in menu.actions() if action.text().startswith(text))


@pytest.fixture
def stand(qtbot: QtBot, tmp_path: Path) -> Stand:
    return Stand(qtbot, tmp_path)


def test_that_highlighting_a_pause_shows_what_it_would_do(stand: Stand, qtbot: QtBot) -> None:
    menu = stand.menu()

    qtbot.keyClick(menu, Qt.Key.Key_Down)

    card = stand.previewer.card
    qtbot.waitUntil(card.isVisible)
    lines = card.text().split("\n")
    assert lines[0] == PAUSING
    assert lines[1:3] == [
        "Timer\tFires at\tWould fire at\t",
        "wave 0\t0:01.000\tnever\twaits",
    ]
    assert lines[-1] == "and 4 more"
    assert not stand.session.timeline.clocks[2].paused
    menu.close()


def test_that_the_card_goes_with_the_highlight_and_with_the_menu(
    stand: Stand, qtbot: QtBot
) -> None:
    menu = stand.menu()
    card = stand.previewer.card
    stand.action(menu, "Pause").hover()
    qtbot.waitUntil(card.isVisible)

    stand.action(menu, "Copy row").hover()
    assert not card.isVisible()

    stand.action(menu, "Pause").hover()
    qtbot.waitUntil(card.isVisible)
    menu.close()
    assert not card.isVisible()


def test_that_a_rate_of_the_menu_is_previewed(stand: Stand, qtbot: QtBot) -> None:
    menu = stand.menu()
    rates = stand.action(menu, "Rate").menu()
    assert isinstance(rates, QMenu)

    stand.action(rates, "½").hover()

    card = stand.previewer.card
    qtbot.waitUntil(card.isVisible)
    assert card.text().startswith(
        "Setting the rate of game to 0.5: 12 timers would fire 1.00 s to 12.0 s later."
    )
    menu.close()


def test_that_a_rate_is_previewed_while_it_is_typed_and_not_applied(
    stand: Stand, qtbot: QtBot
) -> None:
    ask_for_rate(stand.bridge, stand.session.timeline.clocks[2], Theme("light"), stand.panel)
    prompt = stand.panel.findChild(Prompt)
    assert prompt is not None
    editor, (card,) = prompt.line, prompt.findChildren(PreviewCard)

    prompt.move(0, 0)

    qtbot.keyClicks(editor, "2")

    qtbot.waitUntil(card.isVisible)
    assert "to 2: 12 timers would fire 500 ms to 6.00 s earlier." in card.text()
    assert not card.geometry().intersects(prompt.geometry())
    assert stand.session.timeline.clocks[2].rate == 1

    qtbot.keyClicks(editor, "x?")
    assert not card.isVisible()

    editor.selectAll()
    qtbot.keyClicks(editor, "3")
    qtbot.waitUntil(card.isVisible)
    qtbot.keyClick(prompt, Qt.Key.Key_Escape)
    assert not card.isVisible()
    assert stand.session.timeline.clocks[2].rate == 1


def test_that_the_card_says_what_holds_now_and_goes_with_the_session(
    stand: Stand, qtbot: QtBot
) -> None:
    menu = stand.menu()
    stand.action(menu, "Pause").hover()
    card = stand.previewer.card
    qtbot.waitUntil(card.isVisible)

    stand.session.submit(StepBy(2_500_000_000))
    stand.bridge.refresh_now()
    stand.previewer.refresh()
    assert card.text().startswith("Pausing game: 10 timers would wait")

    stand.bridge.close()
    assert not card.isVisible()
    menu.close()


@pytest.mark.parametrize("text", ["", "x", "-1", "1/0", "nan"])
def test_that_what_is_no_rate_is_not_previewed(text: str) -> None:
    assert typed_rate_command(1, text) is None
