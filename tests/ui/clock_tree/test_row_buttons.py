"""The buttons over the row of the clock tree under the pointer."""

from __future__ import annotations

from fractions import Fraction

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.command import Capability
from tests.ui.clock_tree.test_clock_tree import Stand
from ui.clock_tree.row_buttons import RowButtons
from ui.clock_tree.rows import ClockColumn


@pytest.fixture
def stand(qtbot: QtBot) -> Stand:
    return Stand(qtbot)


def pointed_at(qtbot: QtBot, stand: Stand, clock_id: int) -> RowButtons:
    """Move the pointer over the row of a clock."""
    place = stand.cell_center(clock_id, ClockColumn.NAME)
    qtbot.mouseMove(stand.view.viewport(), place + QPoint(1, 0))
    qtbot.mouseMove(stand.view.viewport(), place)
    return stand.panel.row_buttons


def press(qtbot: QtBot, stand: Stand, text: str) -> None:
    (button,) = (each for each in stand.panel.row_buttons.shown() if each.text == text)
    place = button.rect.center()
    qtbot.mouseClick(stand.view.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_that_only_the_row_under_the_pointer_has_buttons(qtbot: QtBot, stand: Stand) -> None:
    assert stand.panel.row_buttons.shown() == []

    buttons = pointed_at(qtbot, stand, stand.enemies.id).shown()

    row = stand.view.visualRect(stand.panel.model.index_of(stand.enemies.id))
    assert [each.text for each in buttons] == ["❚❚", "¼", "1×"]
    assert all(row.top() <= each.rect.top() < row.bottom() for each in buttons)
    assert buttons[-1].rect.right() < stand.view.viewport().width()
    assert [each.is_on for each in buttons] == [False, False, True]


def test_that_they_ask_for_a_pause_and_for_rates(qtbot: QtBot, stand: Stand) -> None:
    pointed_at(qtbot, stand, stand.enemies.id)

    press(qtbot, stand, "❚❚")
    press(qtbot, stand, "¼")
    press(qtbot, stand, "1×")

    number = stand.enemies.id
    assert stand.session.submitted == [
        PauseClock(number),
        SetRate(number, Fraction(1, 4)),
        SetRate(number, Fraction(1)),
    ]


def test_that_a_paused_clock_is_resumed(qtbot: QtBot, stand: Stand) -> None:
    stand.enemies.pause(cause=1)
    stand.refresh()
    pointed_at(qtbot, stand, stand.enemies.id)

    press(qtbot, stand, "▶")

    assert stand.session.submitted == [ResumeClock(stand.enemies.id)]


def test_that_their_tips_name_the_keys(qtbot: QtBot, stand: Stand) -> None:
    pause, quarter, _ = pointed_at(qtbot, stand, stand.enemies.id).shown()

    assert pause.tip == "Pause “enemies” (P)"
    assert quarter.tip == "Run “enemies” at rate 1/4 (R for any rate)"


def test_that_what_the_clock_does_not_allow_does_nothing_and_says_why(
    qtbot: QtBot, stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    def why_not(capability: Capability, _clock_id: int = 0) -> str:
        return "it is the program’s" if capability is Capability.RATE else ""

    monkeypatch.setattr(stand.session, "why_not", why_not)
    buttons = pointed_at(qtbot, stand, stand.enemies.id)

    press(qtbot, stand, "¼")

    assert stand.session.submitted == []
    assert [buttons.reason(each) for each in buttons.shown()] == [
        "",
        "it is the program’s",
        "it is the program’s",
    ]


def test_that_they_are_painted_and_gone_with_the_pointer(qtbot: QtBot, stand: Stand) -> None:
    before = stand.view.viewport().grab().toImage()
    buttons = pointed_at(qtbot, stand, stand.enemies.id)
    rect = buttons.shown()[0].rect
    with_buttons = stand.view.viewport().grab().toImage()
    assert with_buttons.copy(rect) != before.copy(rect)

    qtbot.mouseMove(stand.view.viewport(), QPoint(5, stand.view.viewport().height() - 2))

    assert buttons.shown() == []
    assert stand.view.viewport().grab().toImage().copy(rect) == before.copy(rect)


def test_that_they_follow_what_becomes_of_the_clock(qtbot: QtBot, stand: Stand) -> None:
    rect = pointed_at(qtbot, stand, stand.enemies.id).shown()[1].rect
    before = stand.view.viewport().grab().toImage().copy(rect)

    stand.enemies.rate = Fraction(1, 4)
    stand.refresh()

    assert [each.is_on for each in stand.panel.row_buttons.shown()] == [False, True, False]
    assert stand.view.viewport().grab().toImage().copy(rect) != before


@pytest.mark.parametrize("width", [160, 240, 330, 400])
def test_that_names_and_rates_are_never_covered(qtbot: QtBot, stand: Stand, width: int) -> None:
    stand.panel.resize(width, 400)
    QApplication.processEvents()

    shown = pointed_at(qtbot, stand, stand.enemies.id).shown()

    rate = stand.view.visualRect(stand.panel.model.index_of(stand.enemies.id, ClockColumn.RATE))
    assert all(each.rect.left() > rate.right() for each in shown)
    assert len(shown) == 3 or width < 330
