"""The filter line: applies when typing settles, at once on Enter, clears on Escape."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from ui.kit.filter_line import FilterLine
from ui.kit.theme import Theme


@pytest.fixture
def line(qtbot: QtBot) -> FilterLine:
    line = FilterLine("Filter things")
    qtbot.addWidget(line)
    return line


def test_that_typing_is_applied_once_it_settles(line: FilterLine, qtbot: QtBot) -> None:
    changes: list[str] = []
    line.filter_changed.connect(changes.append)

    with qtbot.waitSignal(line.filter_changed):
        qtbot.keyClicks(line, " ab ")

    assert changes == ["ab"]
    assert line.filter_text == "ab"


def test_that_enter_applies_at_once(line: FilterLine, qtbot: QtBot) -> None:
    qtbot.keyClicks(line, "ab")

    qtbot.keyClick(line, Qt.Key.Key_Return)

    assert line.filter_text == "ab"


def test_that_escape_clears_at_once(line: FilterLine, qtbot: QtBot) -> None:
    qtbot.keyClicks(line, "ab")
    line.apply_now()

    qtbot.keyClick(line, Qt.Key.Key_Escape)

    assert (line.text(), line.filter_text) == ("", "")


def test_that_down_goes_to_the_list(line: FilterLine, qtbot: QtBot) -> None:
    with qtbot.waitSignal(line.left_downwards):
        qtbot.keyClick(line, Qt.Key.Key_Down)


def test_that_blanks_alone_change_nothing(line: FilterLine, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(line.filter_changed):
        qtbot.keyClicks(line, "  ")
        line.apply_now()


def test_that_what_clears_the_line_is_as_large_as_the_text(
    qtbot: QtBot, qapp: QApplication
) -> None:
    found: list[int] = []
    for scale in (1, 2):
        font = qapp.font()
        font.setPixelSize(13 * scale)
        qapp.setFont(font)
        line = FilterLine("Filter things")
        qtbot.addWidget(line)
        line.set_icons(Theme("light"))
        line.resize(300, 28 * scale)
        line.setText("a")
        image = line.grab().toImage()
        right = range(300 - 40 * scale, 300 - 4)
        rows = range(4, image.height() - 4)
        ground = image.pixel(150, 14)
        found.append(sum(any(image.pixel(x, y) != ground for x in right) for y in rows))

    assert found[1] >= 1.7 * found[0] > 0
