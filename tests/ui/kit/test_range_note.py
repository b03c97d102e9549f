"""Notes beside fields of numbers: what they say, and how long they lie over the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton, QSpinBox, QVBoxLayout, QWidget

from ui.kit.range_note import RangeNote

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


class Stand:
    """A field into which a letter was typed, beside a button."""

    def __init__(self, qtbot: QtBot) -> None:
        self.qtbot = qtbot
        self.window = QWidget()
        self.box, self.button = QSpinBox(), QPushButton()
        self.note = RangeNote(self.box).note
        layout = QVBoxLayout(self.window)
        layout.addWidget(self.box)
        layout.addWidget(self.button)
        qtbot.addWidget(self.window)
        with qtbot.waitActive(self.window):
            self.window.show()
            self.window.activateWindow()
        self.type_letter()

    def type_letter(self) -> None:
        self.box.setFocus()
        self.qtbot.keyClicks(self.box, "x")
        QApplication.processEvents()
        assert self.note.isVisible()


@pytest.fixture
def stand(qtbot: QtBot) -> Stand:
    return Stand(qtbot)


def test_that_a_note_goes_by_itself(stand: Stand) -> None:
    assert stand.note.timer.isActive()

    stand.note.timer.timeout.emit()

    assert not stand.note.isVisible()


def test_that_a_note_goes_with_the_next_click(stand: Stand) -> None:
    stand.qtbot.mouseClick(stand.button, Qt.MouseButton.LeftButton)

    assert not stand.note.isVisible()
    assert not stand.note.timer.isActive()


def test_that_a_click_on_a_note_takes_it_away(stand: Stand) -> None:
    stand.qtbot.mouseClick(stand.note, Qt.MouseButton.LeftButton)

    assert not stand.note.isVisible()


def test_that_a_note_goes_with_what_is_typed_next(stand: Stand) -> None:
    stand.qtbot.keyClicks(stand.box, "7")

    assert not stand.note.isVisible()


def test_that_another_note_is_shown_for_its_whole_time(stand: Stand) -> None:
    stand.note.timer.timeout.emit()

    stand.type_letter()

    assert stand.note.timer.isActive()


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
