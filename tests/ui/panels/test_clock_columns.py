"""The columns of the clock tree share the room: names, times, rates and states in view."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from inspector.frames.scheduler import Scheduler
from tests.ui.world import PlayedSession
from ui.models.clock_tree_columns import ClockColumn
from ui.models.member_cells import node_of
from ui.panels.clock_delegates import ClockNameDelegate, is_spanned
from ui.panels.clock_tree import ClockTreePanel
from ui.session_bridge import Selection, SessionBridge
from ui.theme import Theme


class Boss:
    """A target with a long name."""

    name = "a boss with quite a long name indeed"

    def update(self, delta: float) -> None:
        """Be called in every frame."""


class Stand:
    """The panel over two clocks and a scheduler."""

    def __init__(self, qtbot: QtBot) -> None:
        self.session = PlayedSession()
        self.game = self.session.root.child("game")
        self.scheduler = Scheduler(self.game, name="fights")
        self.boss = Boss()
        self.scheduler.schedule_update(self.boss, 0)
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        self.panel = ClockTreePanel(self.bridge, Theme("light"))
        qtbot.addWidget(self.panel)
        self.view = self.panel.view
        self.resize(394)
        with qtbot.waitExposed(self.panel):
            self.panel.show()

    def resize(self, width: int) -> None:
        self.panel.resize(width, 400)
        QApplication.processEvents()

    def width(self, column: ClockColumn) -> int:
        return self.view.columnWidth(column)

    def end_of_state(self) -> int:
        return self.view.columnViewportPosition(ClockColumn.STATE) + self.width(ClockColumn.STATE)

    def number(self, name: str) -> int:
        members = self.session.timeline.members.by_id.values()
        return next(member.id for member in members if member.name == name)


@pytest.fixture
def stand(qtbot: QtBot) -> Stand:
    return Stand(qtbot)


@pytest.mark.parametrize("width", [370, 394, 430, 500])
def test_that_the_state_ends_at_the_border_of_the_panel(stand: Stand, width: int) -> None:
    stand.resize(width)

    assert stand.end_of_state() == stand.view.viewport().width()
    assert stand.width(ClockColumn.STATE) >= 90


def test_that_a_wide_panel_shows_the_other_columns_too(stand: Stand) -> None:
    stand.resize(1100)

    widths = [stand.width(column) for column in ClockColumn]
    assert stand.end_of_state() < stand.view.viewport().width()
    assert sum(widths) <= stand.view.viewport().width()


def test_that_names_give_way_before_states_do(stand: Stand) -> None:
    stand.game.child("a clock with quite a long name as well")
    stand.bridge.refresh_now()
    stand.panel.refresh()
    stand.resize(900)
    roomy = stand.width(ClockColumn.NAME)

    stand.resize(400)

    assert 100 <= stand.width(ClockColumn.NAME) < roomy
    assert stand.end_of_state() == stand.view.viewport().width()


def test_that_a_name_without_room_keeps_its_beginning_and_its_end(stand: Stand) -> None:
    name = "a clock with quite a long name as well"
    clock = stand.game.child(name)
    stand.bridge.refresh_now()
    stand.panel.refresh()
    index = stand.panel.model.index_of(clock.id)
    delegate = stand.view.itemDelegateForColumn(ClockColumn.NAME)
    assert isinstance(delegate, ClockNameDelegate)
    option = QStyleOptionViewItem()

    delegate.initStyleOption(option, index)

    assert option.textElideMode == Qt.TextElideMode.ElideMiddle
    assert f"root / game / {name}" in index.data(Qt.ItemDataRole.ToolTipRole)


def test_that_a_dragged_column_stays_as_it_is(stand: Stand) -> None:
    header = stand.view.header()
    header.resizeSection(ClockColumn.NAME, 77)
    header.resizeSection(ClockColumn.RATE, 99)

    stand.resize(600)
    stand.panel.columns.fit()

    assert stand.width(ClockColumn.NAME) == 77
    assert stand.width(ClockColumn.RATE) == 99
    header.resizeSection(ClockColumn.STATE, 123)
    stand.resize(450)
    assert stand.width(ClockColumn.STATE) == 123


def test_that_names_of_members_reach_over_cells_that_are_empty(stand: Stand) -> None:
    model, view = stand.panel.model, stand.view
    model.reveal(stand.number("Boss.update"))
    target = model.index_of(node_of(stand.number(Boss.name)))

    assert is_spanned(view, target)
    assert not is_spanned(view, model.index_of(node_of(stand.number("fights"))))
    assert not is_spanned(view, model.index_of(stand.game.id))
    view.header().moveSection(ClockColumn.LOCAL_TIME, ClockColumn.STATE)
    assert not is_spanned(view, target)


def test_that_a_spanned_name_is_painted_over_the_empty_cells(stand: Stand) -> None:
    model, view = stand.panel.model, stand.view
    stand.bridge.select(Selection.member(stand.number("Boss.update")))
    target = model.index_of(node_of(stand.number(Boss.name)))
    QApplication.processEvents()

    def colors(column: ClockColumn) -> int:
        beside = view.visualRect(target.siblingAtColumn(column))
        image = view.viewport().grab(beside).toImage()
        rows, columns = range(2, image.height() - 2), range(2, image.width() - 2)
        return len({image.pixel(x, y) for x in columns for y in rows})

    spanned = colors(ClockColumn.LOCAL_TIME)
    view.header().moveSection(ClockColumn.LOCAL_TIME, ClockColumn.STATE)
    QApplication.processEvents()

    assert spanned > 3
    assert colors(ClockColumn.LOCAL_TIME) == 1
