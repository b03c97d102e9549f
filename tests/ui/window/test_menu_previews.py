"""The menus of the menu bar show what a command would do while it is highlighted."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QMenu, QToolTip
from pytestqt.qtbot import QtBot

from tests.ui.shell import Shell
from tests.ui.used_window import Lend
from ui.selected.preview import Previewer
from ui.session.bridge import Selection

SCENE = """
def build(stage):
    game = stage.root.child("game")
    for number in range(3):
        game.set_timeout(10 + number, lambda: None, name=f"wave {number}")
"""


@pytest.fixture
def shell(lend: Lend) -> Shell:
    shell = lend(SCENE)
    shell.advance(0.1)
    shell.trigger("run-or-hold")
    shell.advance(0.1)
    return shell


def _menu(shell: Shell, title: str) -> QMenu:
    bar = shell.window.menu_bar
    menu = next(each.menu() for each in bar.actions() if each.text().replace("&", "") == title)
    assert isinstance(menu, QMenu)
    menu.popup(bar.mapToGlobal(bar.rect().bottomLeft()))
    return menu


def _previewer(shell: Shell) -> Previewer:
    return shell.contents.window_actions.previews.previewer


def test_that_highlighting_the_pause_of_the_menu_bar_shows_what_it_would_do(
    shell: Shell, qtbot: QtBot
) -> None:
    shell.bridge.select(Selection.clock(2))
    menu = _menu(shell, "Branch")

    shell.window.actions_by_id["pause-branch"].hover()

    card = _previewer(shell).card
    qtbot.waitUntil(card.isVisible)
    assert card.text().startswith("Pausing game: 3 timers would wait")
    assert not shell.bridge.timeline.clocks[2].paused
    menu.close()
    assert not card.isVisible()


def test_that_the_menu_previews_what_is_selected_when_it_opens(shell: Shell, qtbot: QtBot) -> None:
    shell.bridge.select(Selection.clock(2))
    _menu(shell, "Branch").close()
    shell.bridge.select(Selection.clock(1))
    menu = _menu(shell, "Branch")

    shell.window.actions_by_id["pause-branch"].hover()

    card = _previewer(shell).card
    qtbot.waitUntil(card.isVisible)
    assert card.text().startswith("Pausing root")
    menu.close()


def test_that_the_rate_of_the_root_is_previewed_in_the_menu_of_time(
    shell: Shell, qtbot: QtBot
) -> None:
    menu = _menu(shell, "Time")

    shell.window.actions_by_id["slower"].hover()

    card = _previewer(shell).card
    qtbot.waitUntil(card.isVisible)
    assert "3 timers would fire" in card.text()
    menu.close()


def test_that_an_action_that_is_not_possible_shows_no_card(shell: Shell) -> None:
    shell.bridge.select(Selection.nothing())
    menu = _menu(shell, "Branch")

    shell.window.actions_by_id["pause-branch"].hover()
    _previewer(shell).refresh()

    assert not _previewer(shell).card.isVisible()
    menu.close()


def test_that_no_tooltip_lies_over_the_card(shell: Shell, qtbot: QtBot) -> None:
    shell.bridge.select(Selection.clock(2))
    menu = _menu(shell, "Branch")
    action = shell.window.actions_by_id["pause-branch"]
    place = menu.actionGeometry(action).center()
    action.hover()
    qtbot.waitUntil(_previewer(shell).card.isVisible)

    asked = QHelpEvent(QEvent.Type.ToolTip, place, menu.mapToGlobal(place))
    QApplication.sendEvent(menu, asked)

    assert not QToolTip.isVisible()
    menu.close()
