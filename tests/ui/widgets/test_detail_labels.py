"""Values of the details: broken where they must be, copied as they are, with links for keys."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from ui.widgets.detail_grid import DetailGrid

LONG = "RuntimeError: " + "x" * 300
BLUE = QColor("blue")


def lines_at(label: QLabel, width: int) -> int:
    """Return how many lines a label needs in a panel of a width in pixels."""
    return label.heightForWidth(width) // label.fontMetrics().lineSpacing()


@pytest.fixture
def grid(qtbot: QtBot) -> DetailGrid:
    grid = DetailGrid()
    qtbot.addWidget(grid)
    grid.resize(300, 400)
    grid.show()
    grid.activateWindow()
    return grid


def test_that_a_long_word_is_broken_instead_of_cut_off(grid: DetailGrid) -> None:
    labels = [
        grid.add_sentence(LONG),
        grid.add_value("Error", LONG),
        grid.add_heading(LONG),
        grid.add_linked_sentence([("here", "FRAME:1"), (LONG, "")]),
    ]

    widest = labels[0].fontMetrics().horizontalAdvance("x" * 300)
    assert [lines_at(label, 200) >= widest // 200 for label in labels] == [True] * 4


def test_that_a_long_word_that_comes_later_is_broken_too(grid: DetailGrid) -> None:
    label = grid.add_value("Error", "none")

    label.show_text(LONG)

    assert lines_at(label, 200) > 5


@pytest.mark.parametrize("text", ["all in short words", "(1,234,567,890\N{NO-BREAK SPACE}ns)"])
def test_that_short_words_stay_whole(grid: DetailGrid, text: str) -> None:
    assert grid.add_value("Text", text).text() == text


def test_that_a_path_is_broken_where_names_and_their_parts_end(grid: DetailGrid) -> None:
    label = grid.add_value("Source", "/home/some-body/scenes/boss_fight.py:12")

    parts = label.text().split("\N{ZERO WIDTH SPACE}")

    assert parts == ["/", "home/", "some-", "body/", "scenes/", "boss_", "fight.", "py:", "12"]


def test_that_what_is_copied_is_what_was_said(grid: DetailGrid) -> None:
    label = grid.add_value("Error", LONG)
    label.setSelection(0, len(label.text()))

    QTest.keySequence(label, QKeySequence(QKeySequence.StandardKey.Copy))

    assert QGuiApplication.clipboard().text() == LONG
    assert label.text_to_copy() == LONG


def test_that_all_of_a_text_with_links_can_be_copied(grid: DetailGrid) -> None:
    label = grid.add_linked_value("Clock", [("root", "CLOCK:1"), (" / " + LONG, "")])

    assert label.text_to_copy() == "root / " + LONG


def test_that_tab_goes_through_all_links_and_on(qtbot: QtBot) -> None:
    window, grid = QWidget(), DetailGrid()
    qtbot.addWidget(window)
    before, after = QPushButton("Before"), QPushButton("After")
    layout = QVBoxLayout(window)
    for widget in (before, grid, after):
        layout.addWidget(widget)
    pieces = [("😀 first", "CLOCK:1"), ("  and  ", ""), ("y" * 40, "CLOCK:2")]
    label = grid.add_linked_value("Clocks", pieces)
    QWidget.setTabOrder(before, label)
    QWidget.setTabOrder(label, after)
    window.show()
    window.activateWindow()
    with qtbot.waitActive(window):
        before.setFocus()
    seen = []

    for turn in range(3):
        QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Tab)
        label.show_pieces([*pieces, (f" {turn}", "")], BLUE)
        seen.append(label.selectedText().replace("\N{ZERO WIDTH SPACE}", ""))

    assert seen == ["😀 first", "y" * 40, ""]
    assert after.hasFocus()
    QTest.keyClick(after, Qt.Key.Key_Backtab)
    assert label.text_to_copy() == "y" * 40
