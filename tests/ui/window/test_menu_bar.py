"""The menu bar: where it is, and which keys show it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMainWindow, QToolButton
from pytestqt.qtbot import QtBot

from tests.ui.shell import Shell
from ui.actions.menus import MenuId
from ui.window.menu_bar import TopMenuBar

ALT = Qt.KeyboardModifier.AltModifier
_ORIGIN = QPoint(0, 0)


@pytest.fixture
def active(shell: Shell) -> Shell:
    shell.activate()
    return shell


def press_alt(shell: Shell) -> None:
    QTest.keyPress(shell.window, Qt.Key.Key_Alt, ALT)
    QTest.keyRelease(shell.window, Qt.Key.Key_Alt)


def test_that_alt_shows_the_menu_bar_until_escape(active: Shell, qtbot: QtBot) -> None:
    bar, top = active.window.menu_bar, active.window.transport.mapTo(active.window, _ORIGIN)
    assert not bar.isVisible()

    press_alt(active)
    assert bar.isVisible()
    assert bar.menus[MenuId.SCENE].isVisible()
    assert active.window.transport.mapTo(active.window, _ORIGIN) == top

    qtbot.keyClick(bar.menus[MenuId.SCENE], Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not bar.isVisible())


def test_that_alt_with_another_key_shows_no_menu_bar(active: Shell) -> None:
    QTest.keyPress(active.window, Qt.Key.Key_Alt, ALT)
    QTest.keyClick(active.window, Qt.Key.Key_Left, ALT)
    QTest.keyRelease(active.window, Qt.Key.Key_Alt)

    assert not active.window.menu_bar.isVisible()


def test_that_alt_with_a_click_shows_no_menu_bar(active: Shell) -> None:
    QTest.keyPress(active.window, Qt.Key.Key_Alt, ALT)
    plot = active.window.frame_times.plot
    QTest.mouseClick(plot, Qt.MouseButton.LeftButton, ALT, plot.rect().center())
    QTest.keyRelease(active.window, Qt.Key.Key_Alt)

    assert not active.window.menu_bar.isVisible()


def test_that_alt_with_the_letter_of_a_menu_opens_it(active: Shell, qtbot: QtBot) -> None:
    bar = active.window.menu_bar

    QTest.keyClick(active.window, Qt.Key.Key_T, ALT)

    assert bar.menus[MenuId.TIME].isVisible()
    bar.menus[MenuId.TIME].close()
    bar.clearFocus()
    qtbot.waitUntil(lambda: not bar.isVisible())


def test_that_a_menu_bar_that_is_kept_has_a_place_of_its_own(shell: Shell) -> None:
    window = shell.window

    shell.trigger("menu-bar")
    QApplication.processEvents()

    assert window.menu_bar.isVisible()
    assert window.transport.mapTo(window, _ORIGIN).y() >= window.menu_bar.height()
    assert window.settings.menu_bar
    assert window.actions_by_id["menu-bar"].isChecked()
    shell.trigger("menu-bar")
    assert not window.menu_bar.isVisible()


def test_that_a_kept_menu_bar_shows_its_titles_from_the_start_and_in_large_text(
    qtbot: QtBot,
) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    bar = TopMenuBar(window, is_kept=True)
    window.resize(640, 300)
    window.show()
    assert not any(each.isVisible() for each in bar.findChildren(QToolButton))

    font = bar.font()
    font.setPointSize(26)
    bar.setFont(font)
    assert bar.height() == bar.sizeHint().height() == window.contentsMargins().top()


def test_that_the_menu_button_opens_the_menus_of_the_bar(shell: Shell) -> None:
    tops = shell.window.transport.menus.actions()

    assert [each.menu() for each in tops] == list(shell.window.menu_bar.menus.values())
