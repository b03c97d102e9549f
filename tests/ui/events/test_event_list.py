"""The event list panel: following, kinds, selecting subjects, why it is empty."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractSlider, QApplication
from pytestqt.qtbot import QtBot

from inspector.events.schema import EventGroup
from inspector.vocabulary import MARK
from tests.ui.events.kinds import choose_kinds
from tests.ui.world import PlayedSession
from ui.events.event_list_model import EventColumn
from ui.events.panel import EventListPanel
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SessionBridge


class Stand:
    """The panel over a log of marks."""

    def __init__(self, qtbot: QtBot) -> None:
        self.session = PlayedSession()
        self.enemies = self.session.root.child("enemies")
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        self.panel = EventListPanel(self.bridge, Theme("light"))
        qtbot.addWidget(self.panel)
        self.panel.resize(900, 250)
        with qtbot.waitExposed(self.panel):
            self.panel.show()
        self.view = self.panel.table

    def mark(self, count: int) -> None:
        log = self.session.log
        for number in range(count):
            at_ns = self.session.tree.now_ns
            log.append((at_ns, MARK, 0, log.intern(f"mark {number}"), 0))
        self.bridge.refresh_now()
        self.panel.refresh()

    def is_at_end(self) -> bool:
        bar = self.view.verticalScrollBar()
        return bar.value() == bar.maximum()


@pytest.fixture
def stand(qtbot: QtBot) -> Stand:
    return Stand(qtbot)


def test_that_the_newest_event_stays_in_view(stand: Stand) -> None:
    stand.mark(100)

    assert stand.view.verticalScrollBar().maximum() > 0
    assert stand.is_at_end()


def test_that_scrolling_up_stops_the_list_and_scrolling_down_lets_it_go_on(stand: Stand) -> None:
    stand.mark(100)
    bar = stand.view.verticalScrollBar()

    bar.triggerAction(QAbstractSlider.SliderAction.SliderPageStepSub)
    rows = stand.panel.model.rowCount()
    stand.mark(7)

    assert not stand.panel.follow_button.isChecked()
    assert stand.panel.model.rowCount() == rows
    assert "7 newer" in stand.panel.count_label.text()
    bar.triggerAction(QAbstractSlider.SliderAction.SliderToMaximum)
    stand.mark(1)
    assert stand.panel.model.rowCount() == rows + 8
    assert stand.is_at_end()


def test_that_entering_the_list_by_keyboard_does_not_stop_it(stand: Stand) -> None:
    stand.mark(100)

    stand.view.setFocus(Qt.FocusReason.ShortcutFocusReason)
    stand.mark(3)

    assert stand.view.hasFocus()
    assert stand.panel.follow_button.isChecked()
    assert stand.is_at_end()


def test_that_a_filter_does_not_stop_the_list(stand: Stand) -> None:
    stand.mark(100)
    stand.view.setFocus(Qt.FocusReason.ShortcutFocusReason)
    stand.mark(50)

    stand.panel.filter_rows("mark")
    stand.panel.update_counts()
    rows, hidden = stand.panel.model.rowCount(), stand.panel.model.hidden_count
    assert hidden
    assert stand.panel.count_label.text() == f"{rows:,} of {rows + hidden:,} shown"

    assert stand.panel.follow_button.isChecked()
    assert stand.is_at_end()


def test_that_calls_are_hidden_until_they_are_chosen(stand: Stand) -> None:
    actions = {action.text(): action for action in stand.panel._kinds_menu.actions()}

    assert {text for text, action in actions.items() if not action.isChecked()} == {
        "Timers",
        "Firings",
        "Calls",
        "Frames",
        "Readings",
        "Samples",
        "Tasks",
    }
    assert all(action.toolTip() for action in actions.values())


def test_that_choosing_a_row_keeps_it_in_place(stand: Stand, qtbot: QtBot) -> None:
    stand.mark(100)
    where = stand.view.visualRect(stand.panel.model.index(stand.panel.model.rowCount() - 3, 2))

    qtbot.mouseClick(stand.view.viewport(), Qt.MouseButton.LeftButton, pos=where.center())
    stand.mark(5)

    assert not stand.panel.follow_button.isChecked()
    assert stand.view.visualRect(stand.view.currentIndex().siblingAtColumn(2)) == where


def test_that_kinds_can_be_chosen(stand: Stand) -> None:
    stand.session.run_frame()
    stand.mark(1)

    choose_kinds(stand.panel, frozenset({EventGroup.FRAMES}))

    kinds = [stand.panel.model.index(row, EventColumn.GROUP).data() for row in range(4)]
    assert kinds == ["▭ frame"] * 4


def test_that_a_double_click_selects_what_it_happened_to(stand: Stand, qtbot: QtBot) -> None:
    stand.enemies.pause()
    stand.mark(0)
    row = stand.panel.model.rowCount() - 1
    where = stand.view.visualRect(stand.panel.model.index(row, EventColumn.WHAT)).center()

    qtbot.mouseClick(stand.view.viewport(), Qt.MouseButton.LeftButton, pos=where)
    qtbot.mouseDClick(stand.view.viewport(), Qt.MouseButton.LeftButton, pos=where)

    assert stand.bridge.selection == Selection.clock(stand.enemies.id)


def test_that_a_menu_acts_on_its_event_although_rows_have_changed_since(stand: Stand) -> None:
    stand.mark(3)
    stand.enemies.pause()
    stand.mark(0)
    stand.bridge.set_playhead(0)
    model = stand.panel.model
    at_ns = model.rows[-1].event[0]
    menu = stand.panel.make_menu(model.rowCount() - 1)

    stand.panel.filter_line.setText("nothing like it")
    stand.panel.filter_line.apply_now()
    next(each for each in menu.actions() if each.text() == "Select the subject").trigger()

    assert model.rowCount() == 0
    assert stand.bridge.selection == Selection.clock(stand.enemies.id)
    assert stand.bridge.playhead_ns == at_ns


def test_that_a_double_click_goes_to_an_event_that_its_selection_hides(stand: Stand) -> None:
    stand.enemies.pause()
    stand.mark(0)
    stand.bridge.set_playhead(0)
    model = stand.panel.model
    at_ns = model.rows[-1].event[0]
    stand.bridge.selection_changed.connect(lambda: model.set_filter("nothing like it"))

    stand.panel.activate(model.index(model.rowCount() - 1, 0))

    assert stand.bridge.playhead_ns == at_ns


def test_that_only_what_is_selected_can_be_shown(stand: Stand) -> None:
    stand.enemies.pause()
    stand.mark(3)

    stand.bridge.select(Selection.clock(stand.enemies.id))
    stand.panel.subject_button.click()

    model = stand.panel.model
    assert [model.rows[row].sentence for row in range(model.rowCount())][
        -1
    ] == "clock enemies paused"
    assert all("enemies" in model.rows[row].sentence for row in range(model.rowCount()))


def test_that_an_empty_list_says_what_hides_the_events(stand: Stand) -> None:
    stand.mark(3)

    stand.panel.filter_line.setText("nothing like it")
    stand.panel.filter_line.apply_now()

    assert stand.panel.notice.isVisible()
    assert "hidden by the filter and the selected kinds" in stand.panel.notice.text()


def test_that_marked_rows_are_copied(stand: Stand, qtbot: QtBot) -> None:
    stand.mark(2)
    stand.view.selectRow(stand.panel.model.rowCount() - 1)

    qtbot.keySequence(stand.view, "Ctrl+C")

    assert QGuiApplication.clipboard().text() == "0:00.000\t⚑ mark\tmark: mark 1"


def test_that_nothing_is_shown_without_a_session(stand: Stand) -> None:
    stand.bridge.set_session(None)

    assert stand.panel.notice.text() == "No events: no scene is loaded."


def line_at(stand: Stand) -> list[int]:
    """Return the heights at which the line of the playhead is drawn."""
    image = stand.view.viewport().grab().toImage()
    color = stand.view.playhead_color.rgb()
    return [y for y in range(image.height()) if image.pixel(image.width() - 2, y) == color]


def test_that_a_line_shows_where_the_playhead_is(stand: Stand) -> None:
    for milliseconds in range(10, 110, 10):
        stand.session.run_to_ms(milliseconds)
        stand.mark(1)
    model = stand.panel.model
    assert line_at(stand) == []

    stand.bridge.set_playhead(50_000_000)
    QApplication.processEvents()

    row = stand.view.playhead_row
    assert row is not None
    assert model.rows[row - 1].event[0] <= 50_000_000 < model.rows[row].event[0]
    y = stand.view.rowViewportPosition(row)
    assert line_at(stand) == [y - 1, y]
    assert not stand.panel.follow_button.isChecked()

    stand.bridge.set_playhead(100_000_000)
    QApplication.processEvents()
    assert stand.view.playhead_row == model.rowCount()
    assert line_at(stand)

    stand.bridge.go_live()
    assert line_at(stand) == []
    assert stand.panel.follow_button.isChecked()


def test_that_the_instant_of_an_event_can_be_looked_at(stand: Stand) -> None:
    stand.session.run_to_ms(40)
    stand.mark(1)
    stand.session.run_to_ms(90)
    stand.mark(1)
    model = stand.panel.model
    menu = stand.panel.make_menu(model.rowCount() - 2)

    next(each for each in menu.actions() if each.text() == "Look at this instant").trigger()

    assert stand.bridge.playhead_ns == 40_000_000


def test_that_the_kinds_that_were_chosen_are_chosen_again(qtbot: QtBot, stand: Stand) -> None:
    stand.mark(3)
    choose_kinds(stand.panel, frozenset({EventGroup.FRAMES, EventGroup.CLOCKS}))

    again = EventListPanel(stand.bridge, Theme("light"))
    qtbot.addWidget(again)
    again.show()
    again.refresh()
    assert again.model.rowCount() == stand.panel.model.rowCount() > 0
    assert again.model.rowCount() < 5

    stand.bridge.panel_choices["event_kinds"] = "of another, version,clocks"
    qtbot.addWidget(EventListPanel(stand.bridge, Theme("light")))
