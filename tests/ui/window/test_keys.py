"""Keys as they are pressed: shortcuts work, but not while something else needs the key."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTableView, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from inspector.sessions.session import SessionPhase
from tests.ui.shell import Shell, open_shell
from tests.ui.used_window import Lend
from ui.kit.filter_line import FilterLine
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SessionBridge
from ui.window.application import make_application
from ui.window.contents import WindowContents
from ui.window.main_window import MainWindow
from ui.window.settings import SettingsFile

Key = Qt.Key
SHIFT = Qt.KeyboardModifier.ShiftModifier
CTRL = Qt.KeyboardModifier.ControlModifier
NONE = Qt.KeyboardModifier.NoModifier


@pytest.fixture
def shell(lend: Lend, qtbot: QtBot) -> Shell:
    return with_keyboard(lend(), qtbot)


@pytest.fixture
def new_shell(qtbot: QtBot, tmp_path: Path) -> Shell:
    """A window in which nothing was typed, as lists search for what is typed in a short time."""
    return with_keyboard(open_shell(qtbot, tmp_path), qtbot)


def with_keyboard(shell: Shell, qtbot: QtBot) -> Shell:
    shell.activate()
    with qtbot.waitActive(shell.window):
        shell.window.setFocus()
    return shell


def press(shell: Shell, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
    """Press a key where the keyboard is, and have the window look."""
    QTest.keyClick(QApplication.focusWidget() or shell.window, key, modifiers)
    shell.advance(1 / 30)


def triggered(shell: Shell) -> list[str]:
    """Return the list that names of actions are added to as they are done."""
    done: list[str] = []
    for action_id, action in shell.window.actions_by_id.by_id.items():

        def note(_checked: object = None, name: str = action_id) -> None:
            done.append(name)

        action.triggered.connect(note)
    return done


KEYS = (
    (Key.Key_Space, NONE, "run-or-hold"),
    (Key.Key_Period, NONE, "step"),
    (Key.Key_F10, NONE, "step"),
    (Key.Key_Period, SHIFT, "step-n"),
    (Key.Key_N, NONE, "next-timer"),
    (Key.Key_Comma, NONE, "step-back"),
    (Key.Key_Left, Qt.KeyboardModifier.AltModifier, "look-frame-back"),
    (Key.Key_Minus, NONE, "slower"),
    (Key.Key_Plus, NONE, "faster"),
    (Key.Key_Equal, NONE, "faster"),
    (Key.Key_0, NONE, "normal-rate"),
    (Key.Key_F, NONE, "fit"),
    (Key.Key_Home, NONE, "fit"),
    (Key.Key_End, NONE, "follow"),
    (Key.Key_L, NONE, "follow"),
    (Key.Key_Slash, NONE, "find"),
    (Key.Key_F, CTRL, "find"),
)


def test_that_a_key_does_its_action_once(shell: Shell) -> None:
    shell.advance(0.1)
    done = triggered(shell)

    for key, modifiers, action_id in KEYS:
        done.clear()
        press(shell, key, modifiers)

        assert done == [action_id]
        # As it was: the present, and the keyboard in no field.
        shell.trigger("follow")
        shell.window.setFocus()


def test_that_space_runs_and_holds(shell: Shell) -> None:
    phases = []
    for _ in range(2):
        press(shell, Key.Key_Space)
        phases.append(shell.bridge.status.phase)

    assert phases == [SessionPhase.HELD, SessionPhase.RUNNING]


@pytest.mark.parametrize("bar", ["notice", "first run"])
def test_that_space_holds_after_a_bar_was_dismissed(qtbot: QtBot, shell: Shell, bar: str) -> None:
    shell.window.notice.show_lasting("Written")
    buttons = {
        "notice": shell.window.notice.close_button,
        "first run": shell.contents.first_run.close_button,
    }
    buttons[bar].setFocus()
    assert buttons[bar].hasFocus()

    qtbot.mouseClick(buttons[bar], Qt.MouseButton.LeftButton)
    press(shell, Key.Key_Space)

    assert not buttons[bar].isVisible()
    assert shell.bridge.status.phase is SessionPhase.HELD


def clock_panel(shell: Shell) -> QWidget:
    shell.window.panels.open_panel("clock_tree")
    QApplication.processEvents()
    return shell.window.panels.panel("clock_tree")


def clock_view(shell: Shell) -> QTableView:
    return clock_panel(shell).findChildren(QTableView)[0]


def fields(shell: Shell) -> list[QWidget]:
    shell.window.panels.open_panel("event_list")
    QApplication.processEvents()
    return [
        *clock_panel(shell).findChildren(FilterLine),
        *shell.window.panels.panel("event_list").findChildren(FilterLine),
    ]


def test_that_single_keys_do_nothing_else_while_typing(shell: Shell) -> None:
    done = triggered(shell)

    for field in fields(shell):
        field.setFocus()
        for key in (
            Key.Key_Space,
            Key.Key_Period,
            Key.Key_Comma,
            Key.Key_N,
            Key.Key_Minus,
            Key.Key_0,
            Key.Key_M,
            Key.Key_P,
        ):
            press(shell, key)
            assert done == [], key


def test_that_ctrl_keys_work_while_typing(shell: Shell) -> None:
    done = triggered(shell)
    fields(shell)[0].setFocus()

    press(shell, Key.Key_F, CTRL)

    assert done == ["find"]


def test_that_the_middle_has_the_keyboard_once_the_window_is_laid_out(
    qtbot: QtBot, tmp_path: Path
) -> None:
    make_application()
    settings_file = SettingsFile(tmp_path / "settings.json")
    window = MainWindow(Theme(), settings_file, settings_file.load())
    qtbot.addWidget(window)
    window.show()
    WindowContents(window, SessionBridge())
    line = window.findChild(FilterLine)
    assert line is not None

    # As Qt does when a window is activated before its panels have their places.
    line.setFocus()
    QApplication.processEvents()

    assert window.middle.isAncestorOf(window.focusWidget())


def test_that_space_presses_the_button_that_has_the_keyboard(shell: Shell) -> None:
    action = shell.window.actions_by_id["step"]
    buttons = shell.window.transport.findChildren(QToolButton)
    button = next(each for each in buttons if each.defaultAction() is action)
    done = triggered(shell)
    button.setFocus()

    press(shell, Key.Key_Space)

    assert done == ["step"]


def test_that_home_and_end_belong_to_a_list_that_has_the_keyboard(shell: Shell) -> None:
    view = clock_view(shell)
    done = triggered(shell)
    view.setFocus()
    press(shell, Key.Key_Home)

    press(shell, Key.Key_End)

    assert done == []
    assert view.currentIndex().column() == view.model().columnCount() - 1


def test_that_letters_are_shortcuts_in_a_list(shell: Shell) -> None:
    done = triggered(shell)
    clock_view(shell).setFocus()

    press(shell, Key.Key_N)

    assert done == ["next-timer"]


def test_that_a_key_whose_action_is_not_possible_says_why(shell: Shell) -> None:
    press(shell, Key.Key_P)

    said = shell.window.notice.message
    assert said.startswith("✖ Pause or resume branch: no clock is selected; click one")


def test_that_a_refused_key_does_not_search_a_list(shell: Shell) -> None:
    """Or the next press of the key would be about the row that was found."""
    view = clock_view(shell)
    view.setFocus()

    press(shell, Key.Key_R)  # Set rate … of the selected clock, of which there is none

    assert not view.currentIndex().isValid()
    assert shell.bridge.selection == Selection()
    assert (
        shell.window.notice.message
        == "✖ Set rate …: no clock is selected; click one, or one of its timers."
    )


def test_that_letters_search_a_list_again_after_a_refused_key(new_shell: Shell) -> None:
    view = clock_view(new_shell)
    view.setFocus()
    press(new_shell, Key.Key_R)

    press(new_shell, Key.Key_U)

    assert view.currentIndex().data() == "ui"


def test_that_a_key_refused_in_one_list_is_not_kept_from_another(new_shell: Shell) -> None:
    view = clock_view(new_shell)
    view.setFocus()
    override = QKeyEvent(QEvent.Type.ShortcutOverride, Key.Key_R, NONE, "r")
    QApplication.sendEvent(view, override)  # and no press follows

    press(new_shell, Key.Key_U)

    assert view.currentIndex().data() == "ui"


def test_that_typing_says_nothing_of_actions(shell: Shell) -> None:
    line = clock_panel(shell).findChild(FilterLine)
    assert line is not None
    line.setFocus()

    press(shell, Key.Key_P)

    assert shell.window.notice.message == ""


def test_that_the_key_of_the_table_of_clocks_says_once_where_they_are(shell: Shell) -> None:
    line = shell.window.notice
    action = shell.window.actions_by_id["lane-headers"]
    assert action.shortcut().toString() == "Ctrl+1"

    action.trigger()

    assert shell.window.panels.panel_in_use() == "timeline"
    assert line.message == "Clocks are the headers of the lanes. Their table is under More."
    line.clear()
    action.trigger()
    assert line.message == ""
