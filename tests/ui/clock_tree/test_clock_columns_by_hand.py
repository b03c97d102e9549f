"""Columns of the clock tree that the user dragged or hid stay as they are."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from typing_extensions import override

from tests.ui.clock_tree.clock_columns_stand import LARGE, Stand
from tests.ui.shell import open_shell
from ui.clock_tree.panel import ClockTreePanel
from ui.clock_tree.rows import ClockColumn


@pytest.fixture
def stand(qtbot: QtBot) -> Stand:
    return Stand(qtbot)


def test_that_a_dragged_column_stays_as_it_is(stand: Stand) -> None:
    stand.header.resizeSection(ClockColumn.NAME, 77)
    stand.header.resizeSection(ClockColumn.RATE, 99)

    stand.resize(600)
    stand.panel.columns.fit()

    assert stand.width(ClockColumn.NAME) == 77
    assert stand.width(ClockColumn.RATE) == 99
    stand.header.resizeSection(ClockColumn.STATE, 123)
    stand.resize(450)
    assert stand.width(ClockColumn.STATE) == 123


def test_that_the_others_follow_when_a_dragged_column_is_let_go(stand: Stand, qtbot: QtBot) -> None:
    stand.header.resizeSection(ClockColumn.NEXT_DUE, 90)
    assert stand.end() > stand.view.viewport().width()

    qtbot.mouseRelease(stand.header.viewport(), Qt.MouseButton.LeftButton)
    QApplication.processEvents()

    assert stand.width(ClockColumn.NEXT_DUE) == 90
    assert stand.end() == stand.view.viewport().width()


def test_that_nothing_moves_while_a_column_is_dragged(stand: Stand, qtbot: QtBot) -> None:
    before = stand.width(ClockColumn.RATE)
    titles, edge = stand.header.viewport(), stand.header.sectionViewportPosition(3) - 1
    at = QPoint(edge, stand.header.height() // 2)
    qtbot.mousePress(titles, Qt.MouseButton.LeftButton, pos=at)
    qtbot.mouseMove(titles, at + QPoint(8, 0))
    dragged = stand.widths()
    assert dragged[ClockColumn.RATE] == before + 8

    stand.game.child("a name")
    stand.game.set_rate(Fraction(100, 101))
    stand.refresh()
    assert stand.widths() == dragged
    qtbot.mouseRelease(titles, Qt.MouseButton.LeftButton, pos=at + QPoint(8, 0))
    QApplication.processEvents()

    assert stand.width(ClockColumn.RATE) == dragged[ClockColumn.RATE]
    assert stand.end() == stand.view.viewport().width()


def test_that_the_menu_of_the_titles_does_not_hold_columns(stand: Stand, qtbot: QtBot) -> None:
    qtbot.mousePress(stand.header.viewport(), Qt.MouseButton.RightButton)

    stand.game.set_rate(Fraction(123_456))
    stand.refresh()
    is_readable = stand.is_readable(stand.game.id, ClockColumn.RATE)
    qtbot.mouseRelease(stand.header.viewport(), Qt.MouseButton.RightButton)

    assert is_readable


def test_that_a_double_click_on_its_edge_fits_a_dragged_column_again(stand: Stand) -> None:
    before = stand.widths()
    stand.header.resizeSection(ClockColumn.RATE, 99)
    stand.header.resizeSection(ClockColumn.NAME, 90)

    stand.header.sectionHandleDoubleClicked.emit(ClockColumn.RATE)
    assert stand.width(ClockColumn.RATE) == before[ClockColumn.RATE]
    assert stand.width(ClockColumn.NAME) == 90
    stand.header.sectionHandleDoubleClicked.emit(ClockColumn.NAME)

    assert stand.widths() == before


def test_that_the_menu_hides_a_column_and_the_others_share_its_room(stand: Stand) -> None:
    menu = stand.panel.columns.make_menu(stand.panel)
    action = next(each for each in menu.actions() if each.text() == "Timers")
    assert action.isChecked()

    action.trigger()

    assert stand.view.isColumnHidden(ClockColumn.PENDING)
    assert stand.end() == stand.view.viewport().width()
    stand.resize(LARGE)
    assert stand.view.isColumnHidden(ClockColumn.PENDING)


def test_that_the_menu_of_the_rows_leads_to_that_of_the_columns(stand: Stand) -> None:
    menu = stand.panel.make_menu(stand.game.id)

    last = menu.actions()[-1]

    assert last.text() == "Columns"
    assert last.menu() is not None


def test_that_a_hidden_column_is_fitted_when_it_comes_back(stand: Stand) -> None:
    before = stand.widths()
    stand.panel.columns.show_column(ClockColumn.PENDING, False)

    stand.panel.columns.show_column(ClockColumn.PENDING, True)

    assert stand.widths() == before


def test_that_names_cannot_be_hidden(stand: Stand) -> None:
    texts = [action.text() for action in stand.panel.columns.make_menu(stand.panel).actions()]

    assert "Clock" not in texts
    assert texts[-1] == "Fit columns"


def test_that_columns_can_be_fitted_again_after_they_were_dragged(stand: Stand) -> None:
    before = stand.widths()
    stand.header.resizeSection(ClockColumn.NAME, 77)
    stand.header.resizeSection(ClockColumn.STATE, 177)

    stand.panel.columns.fit_columns()

    assert stand.widths() == before


def test_that_dragged_and_hidden_columns_are_as_they_were_at_the_next_start(
    stand: Stand, qtbot: QtBot
) -> None:
    stand.header.resizeSection(ClockColumn.RATE, 99)
    stand.panel.columns.show_column(ClockColumn.PENDING, False)

    choices = stand.bridge.panel_choices
    second = Stand(qtbot, dict(choices))
    second.resize(LARGE)

    assert choices == {"clock_columns": "rate=99 pending=hidden"}
    assert second.width(ClockColumn.RATE) == 99
    assert second.view.isColumnHidden(ClockColumn.PENDING)


def test_that_columns_can_be_as_they_were_at_first(stand: Stand) -> None:
    stand.resize(LARGE)
    stand.panel.columns.fit_columns()
    before = stand.widths()
    stand.header.resizeSection(ClockColumn.RATE, 99)
    stand.panel.columns.show_column(ClockColumn.PENDING, False)

    stand.panel.columns.reset()

    assert stand.widths() == before
    assert not stand.view.isColumnHidden(ClockColumn.PENDING)
    assert stand.bridge.panel_choices == {}


def test_that_resetting_the_layout_resets_the_columns_too(qtbot: QtBot, tmp_path: Path) -> None:
    shell = open_shell(qtbot, tmp_path)
    shell.window.resize(1280, 720)
    panel = shell.window.panels.panel("clock_tree")
    assert isinstance(panel, ClockTreePanel)
    panel.columns.show_column(ClockColumn.STATE, False)

    shell.trigger("reset-view")
    shell.window.panels.open_panel("clock_tree")
    QApplication.processEvents()

    assert not panel.view.isColumnHidden(ClockColumn.STATE)
    assert shell.bridge.panel_choices == {}


def test_that_nothing_is_kept_of_untouched_columns(stand: Stand) -> None:
    stand.resize(LARGE)
    stand.header.resizeSection(ClockColumn.RATE, 99)

    stand.panel.columns.fit_columns()

    assert stand.bridge.panel_choices == {}


@pytest.mark.parametrize(
    "kept", ["nonsense", "rate=x", "nothing=5 =7", "name=hidden", "rate=0", "rate=99999999999"]
)
def test_that_what_cannot_be_kept_of_columns_is_passed_over(qtbot: QtBot, kept: str) -> None:
    stand = Stand(qtbot, {"clock_columns": kept})

    assert min(stand.widths()) > 0
    assert stand.end() == stand.view.viewport().width()


class Resizes(QObject):
    """Counts how often what it watches gets another size, and ends what never would."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.Resize
        return self.count > 100


def test_that_scroll_bars_do_not_come_and_go_for_ever(stand: Stand) -> None:
    for number in range(4):
        stand.game.child(f"c {number}")
    stand.refresh()
    # Names of a width of their own have nothing to spare for other columns.
    stand.header.resizeSection(ClockColumn.NAME, 60)
    resizes = Resizes()
    stand.view.viewport().installEventFilter(resizes)

    # In some of these a vertical scroll bar is needed only beside a horizontal one.
    for width, height in product(range(140, 180), range(190, 222, 4)):
        resizes.count = 0
        stand.panel.resize(width, height)
        QApplication.processEvents()
        assert resizes.count < 10, (width, height)
