"""Exact fields: who has the keyboard after Enter, and how long a refusal lies over the window."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QLineEdit,
    QSpinBox,
    QTableView,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector.sessions.session import SessionPhase
from tests.ui.shell import open_shell
from ui.kit.exact_entry import ExactEntry, RangeNote

Key = Qt.Key


class Stand:
    """A field among other widgets, in a window that is active."""

    def __init__(self, qtbot: QtBot, window: QWidget) -> None:
        self.qtbot = qtbot
        self.window = window
        self.entry = ExactEntry("Number", Fraction, str)
        self.entry.show_value(Fraction(1))
        self.second = ExactEntry("Another", Fraction, str)
        self.view = QTableView()
        self.line = QLineEdit()
        layout = QVBoxLayout(window)
        for widget in (self.entry, self.second, self.view, self.line):
            layout.addWidget(widget)
        qtbot.addWidget(window)
        with qtbot.waitActive(window):
            window.show()
            window.activateWindow()

    def enter_from(self, widget: QWidget) -> None:
        widget.setFocus()
        self.entry.setFocus(Qt.FocusReason.TabFocusReason)

    def type_text(self, text: str, key: Qt.Key = Key.Key_Return) -> None:
        self.entry.selectAll()
        self.qtbot.keyClicks(self.entry, text)
        self.qtbot.keyClick(self.entry, key)

    def refuse_while_leaving(self) -> None:
        self.enter_from(self.view)
        self.entry.selectAll()
        self.qtbot.keyClicks(self.entry, "fast")
        self.qtbot.mouseClick(self.view.viewport(), Qt.MouseButton.LeftButton)
        assert QApplication.focusWidget() is not self.entry


@pytest.fixture
def stand(qtbot: QtBot) -> Iterator[Stand]:
    stand = Stand(qtbot, QWidget())
    yield stand
    stand.window.close()


@pytest.mark.parametrize("text", ["2", ""], ids=["a number", "nothing"])
def test_that_enter_gives_the_keyboard_back_to_where_it_was(stand: Stand, text: str) -> None:
    stand.enter_from(stand.view)

    stand.type_text(text)

    assert QApplication.focusWidget() is stand.view


def test_that_a_refused_number_keeps_the_keyboard(stand: Stand) -> None:
    stand.enter_from(stand.view)

    stand.type_text("fast")

    assert QApplication.focusWidget() is stand.entry
    assert stand.entry.note.isVisible()


def test_that_escape_with_nothing_typed_gives_the_keyboard_back(stand: Stand) -> None:
    stand.enter_from(stand.view)

    stand.qtbot.keyClick(stand.entry, Key.Key_Escape)

    assert QApplication.focusWidget() is stand.view


@pytest.mark.parametrize("name", ["line", "second"])
def test_that_the_keyboard_does_not_go_back_into_a_field(stand: Stand, name: str) -> None:
    stand.enter_from(getattr(stand, name))

    stand.type_text("2")

    assert QApplication.focusWidget() is None


def test_that_no_widget_gets_the_focus_if_none_had_it(stand: Stand) -> None:
    stand.entry.setFocus()
    stand.entry.clearFocus()
    stand.entry.setFocus()

    stand.type_text("2")

    assert QApplication.focusWidget() is None


def test_that_what_is_hidden_meanwhile_does_not_get_the_keyboard(stand: Stand) -> None:
    stand.enter_from(stand.view)
    stand.view.hide()

    stand.type_text("2")

    assert QApplication.focusWidget() is None


def test_that_what_is_gone_meanwhile_does_not_get_the_keyboard(stand: Stand) -> None:
    stand.enter_from(stand.view)
    stand.view.deleteLater()
    QApplication.sendPostedEvents(stand.view)
    stand.qtbot.waitUntil(lambda: stand.window.findChild(QTableView) is None)

    stand.type_text("2")

    assert QApplication.focusWidget() is None


def test_that_in_a_dialog_the_field_keeps_the_keyboard(qtbot: QtBot) -> None:
    stand = Stand(qtbot, QDialog())
    stand.enter_from(stand.view)

    stand.type_text("2")

    assert QApplication.focusWidget() is stand.entry


def test_that_the_keyboard_goes_back_after_the_window_was_behind_another(stand: Stand) -> None:
    stand.enter_from(stand.view)
    other = QWidget()
    stand.qtbot.addWidget(other)
    with stand.qtbot.waitActive(other):
        other.show()
        other.activateWindow()
    with stand.qtbot.waitActive(stand.window):
        stand.window.activateWindow()
    other.close()

    stand.type_text("2")

    assert QApplication.focusWidget() is stand.view


def test_that_enter_gives_single_keys_back_to_the_window(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.activate()
    with qtbot.waitActive(shell.window):
        shell.window.setFocus()
    entry = ExactEntry("Rate", Fraction, str, shell.window)
    entry.show_value(Fraction(1))
    entry.show()
    shell.window.panels.open_panel("clock_tree")
    QApplication.processEvents()
    view = shell.window.panels["clock_tree"].findChild(QTableView)
    assert isinstance(view, QTableView)
    view.setFocus()
    entry.setFocus()
    entry.selectAll()
    qtbot.keyClicks(entry, "2")
    qtbot.keyClick(entry, Key.Key_Return)

    assert QApplication.focusWidget() is view
    qtbot.keyClick(view, Key.Key_Space)
    shell.advance(1)
    assert shell.bridge.status.phase is SessionPhase.HELD


def test_that_a_refusal_is_seen_after_the_field_was_left(stand: Stand) -> None:
    stand.refuse_while_leaving()

    QApplication.processEvents()

    assert stand.entry.note.isVisible()


def test_that_a_refusal_goes_by_itself(stand: Stand) -> None:
    stand.refuse_while_leaving()
    assert stand.entry.note.timer.isActive()

    stand.entry.note.timer.timeout.emit()

    assert not stand.entry.note.isVisible()


def test_that_a_refusal_goes_with_the_next_click(stand: Stand) -> None:
    stand.refuse_while_leaving()
    QApplication.processEvents()

    stand.qtbot.mouseClick(stand.view.viewport(), Qt.MouseButton.LeftButton)

    assert not stand.entry.note.isVisible()
    assert not stand.entry.note.timer.isActive()


def test_that_a_click_on_a_refusal_takes_it_away(stand: Stand) -> None:
    stand.refuse_while_leaving()
    QApplication.processEvents()

    stand.qtbot.mouseClick(stand.entry.note, Qt.MouseButton.LeftButton)

    assert not stand.entry.note.isVisible()


def test_that_a_click_into_the_field_keeps_the_refusal(stand: Stand) -> None:
    stand.enter_from(stand.view)
    stand.type_text("fast")
    QApplication.processEvents()

    stand.qtbot.mouseClick(stand.entry, Qt.MouseButton.LeftButton)

    assert stand.entry.note.isVisible()


def test_that_another_refusal_is_shown_for_its_whole_time(stand: Stand) -> None:
    stand.enter_from(stand.view)
    stand.type_text("fast")
    stand.entry.note.timer.timeout.emit()

    stand.type_text("slow")

    assert stand.entry.note.isVisible()
    assert stand.entry.note.timer.isActive()


def test_that_a_number_that_is_taken_back_is_said_to_be_refused(qtbot: QtBot) -> None:
    box = QSpinBox()
    box.setRange(1, 1_000_000)
    box.setValue(10)
    box.setKeyboardTracking(False)
    qtbot.addWidget(box)
    note = RangeNote(box).note
    box.show()
    box.setFocus()

    for text, said in (("0", True), ("7", False)):
        box.selectAll()
        qtbot.keyClicks(box, text)
        assert not note.isVisibleTo(box)
        qtbot.keyClick(box, Qt.Key.Key_Return)
        assert note.isVisibleTo(box) is said

    assert note.text() == "✖ Only numbers from 1 to 1,000,000. Still 10."
    assert box.value() == 7
