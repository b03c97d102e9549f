"""The timer queue panel over timers of clocks: what is marked, branch, menu, why it is empty."""

from __future__ import annotations

import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import PauseClock, ResumeClock
from inspector.commands.timers import ClearTimer, FireTimer
from inspector.sessions.scene import SceneFile, built_in_scenes
from tests.ui.world import PlayedSession
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SessionBridge
from ui.timer_queue.columns import CallColumn
from ui.timer_queue.panel import TimerQueuePanel


class Stand:
    """The panel over a few timers."""

    def __init__(self, qtbot: QtBot) -> None:
        self.session = PlayedSession()
        self.game = self.session.root.child("game")
        self.enemies = self.game.child("enemies")
        self.first = self.game.set_timeout(1, print, name="first")
        self.second = self.enemies.set_interval(2, print, name="second")
        self.third = self.session.root.set_timeout(3, print, name="third")
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        self.panel = TimerQueuePanel(self.bridge, Theme("light"))
        qtbot.addWidget(self.panel)
        self.panel.resize(1200, 300)
        with qtbot.waitExposed(self.panel):
            self.panel.show()
        self.view = self.panel.view

    def run_to_ms(self, milliseconds: int) -> None:
        self.session.tree.run_to(milliseconds * 1_000_000)
        self.bridge.refresh_now()
        self.panel.refresh()

    def names(self) -> list[str]:
        model = self.panel.model
        return [model.index(row, CallColumn.NAME).data() for row in range(model.rowCount())]

    def marked(self) -> str | None:
        index = self.view.currentIndex()
        name = index.siblingAtColumn(CallColumn.NAME).data()
        return name if isinstance(name, str) else None


@pytest.fixture
def stand(qtbot: QtBot) -> Stand:
    return Stand(qtbot)


def _trigger(stand: Stand, timer_id: int, text: str) -> None:
    menu = stand.panel.make_call_menu(timer_id)
    next(action for action in menu.actions() if action.text() == text).trigger()


def test_that_a_click_selects_a_timer(stand: Stand, qtbot: QtBot) -> None:
    where = stand.view.visualRect(stand.panel.model.index(1, CallColumn.NAME)).center()

    with qtbot.waitSignal(stand.bridge.selection_changed) as selected:
        qtbot.mouseClick(stand.view.viewport(), Qt.MouseButton.LeftButton, pos=where)

    assert selected.args == [Selection.timer(stand.second.id)]


def test_that_a_call_that_goes_on_says_no_state(stand: Stand) -> None:
    stand.run_to_ms(100)
    states = [stand.panel.model.index(row, CallColumn.STATE).data() for row in range(3)]

    assert states == ["", "", ""]


def test_that_a_narrow_table_says_when_how_often_and_how_late(stand: Stand) -> None:
    stand.panel.resize(640, 300)
    QApplication.processEvents()

    titles = [column.spec.title for column in stand.view.choices.order]
    assert titles == [
        "Call", "Clock", "Due in", "Due at (m:s)", "Every", "Calls (×)", "Last late by",
    ]  # fmt: skip


def test_that_a_due_instant_in_the_afternoon_has_room(stand: Stand) -> None:
    width_of = stand.view.fontMetrics().horizontalAdvance

    assert width_of(CallColumn.DUE_LOCAL.spec.sample) >= width_of("24:00:00.000")


def test_that_the_marked_timer_stays_marked_when_rows_move(stand: Stand, qtbot: QtBot) -> None:
    stand.bridge.select(Selection.timer(stand.third.id))
    with qtbot.assertNotEmitted(stand.bridge.selection_changed):
        before = stand.view.currentIndex().row()
        stand.run_to_ms(2_500)
        after = stand.view.currentIndex().row()

    assert (before, after) == (2, 0)
    assert stand.marked() == "third"


def test_that_nothing_is_marked_once_the_timer_is_gone(stand: Stand) -> None:
    stand.bridge.select(Selection.timer(stand.first.id))

    stand.run_to_ms(1_500)

    assert not stand.view.currentIndex().isValid()
    assert stand.bridge.selection == Selection.timer(stand.first.id)


def test_that_only_the_selected_branch_can_be_shown(stand: Stand) -> None:
    stand.bridge.select(Selection.clock(stand.enemies.id))
    everything = stand.names()

    stand.panel.branch_button.click()
    branch = stand.names()
    stand.bridge.select(Selection.clock(stand.game.id))

    assert everything == ["first", "second", "third"]
    assert branch == ["second"]
    assert stand.names() == ["first", "second"]
    assert stand.panel.branch_button.text() == "Only game"
    assert stand.panel.count_label.text() == "2 of 3 timers"


def test_that_selecting_a_timer_does_not_change_the_branch(stand: Stand) -> None:
    stand.bridge.select(Selection.clock(stand.game.id))
    stand.panel.branch_button.click()

    stand.bridge.select(Selection.timer(stand.second.id))

    assert stand.names() == ["first", "second"]


def test_that_the_menu_acts_on_the_timer(stand: Stand) -> None:
    _trigger(stand, stand.second.id, "Fire now")
    _trigger(stand, stand.second.id, "Clear")
    _trigger(stand, stand.second.id, "Pause its clock enemies")
    _trigger(stand, stand.second.id, "Show its clock")
    _trigger(stand, stand.second.id, "Copy row")

    assert stand.session.submitted == [
        FireTimer(stand.second.id),
        ClearTimer(stand.second.id),
        PauseClock(stand.enemies.id),
    ]
    assert stand.bridge.selection == Selection.clock(stand.enemies.id)
    assert QGuiApplication.clipboard().text().startswith("second\t\tenemies\tinterval\t00:02.000\t")


def test_that_the_menu_offers_to_resume_what_a_timer_waits_for(stand: Stand) -> None:
    stand.game.pause(cause=1)
    stand.run_to_ms(500)

    _trigger(stand, stand.second.id, "Resume game, which it waits for")

    assert stand.session.submitted == [ResumeClock(stand.game.id)]


def test_that_the_menu_of_a_gone_timer_is_empty(stand: Stand) -> None:
    stand.run_to_ms(1_500)

    assert stand.panel.make_call_menu(stand.first.id).actions() == []


@pytest.mark.parametrize(
    ("filter_text", "has_branch", "reason"),
    [
        ("nothing like it", False, "The filter hides 3 calls."),
        ("nothing like it", True, "The filter hides 1 call."),
        ("", False, ""),
    ],
)
def test_that_an_empty_table_says_why(
    stand: Stand, filter_text: str, has_branch: bool, reason: str
) -> None:
    stand.bridge.select(Selection.clock(stand.enemies.id))
    stand.panel.branch_button.setChecked(has_branch)

    stand.panel.filter_line.setText(filter_text)
    stand.panel.filter_line.apply_now()

    assert stand.panel.notice.text() == reason
    assert stand.panel.notice.isVisible() is bool(reason)


def test_that_a_session_without_timers_says_so(stand: Stand) -> None:
    for timer in (stand.first, stand.second, stand.third):
        timer.clock.clear(timer)

    stand.run_to_ms(1)

    assert stand.panel.notice.text() == "No call is scheduled."


def test_that_a_branch_without_timers_says_so(stand: Stand) -> None:
    stand.enemies.clear(stand.second)
    stand.run_to_ms(1)
    stand.bridge.select(Selection.clock(stand.enemies.id))

    stand.panel.branch_button.click()

    assert stand.panel.notice.text() == "No calls in branch “enemies”; 2 elsewhere."


def test_that_waiting_timers_are_counted(stand: Stand) -> None:
    stand.session.root.pause()

    stand.run_to_ms(100)

    assert stand.panel.count_label.text() == "3 timers"
    assert stand.panel.waiting_button.text() == "Waiting 3"


def test_that_one_timer_is_not_called_timers(stand: Stand) -> None:
    stand.game.clear(stand.first)
    stand.enemies.clear(stand.second)

    stand.run_to_ms(100)

    assert stand.panel.count_label.text() == "1 timer"


def test_that_what_waits_keeps_its_place_and_says_for_what(stand: Stand) -> None:
    before = stand.names()
    stand.enemies.pause()

    stand.run_to_ms(100)

    model = stand.panel.model
    assert stand.names() == before
    row = before.index("second")
    assert model.index(row, CallColumn.REMAINING).data() == "waits: enemies"
    assert stand.panel.waiting_button.text() == "Waiting 1"


def test_that_only_what_waits_is_shown_until_the_chip_is_clicked_again(stand: Stand) -> None:
    before = stand.names()
    stand.panel.waiting_button.click()
    assert stand.panel.notice.text() == "Nothing waits for a pause to end."
    stand.enemies.pause()

    stand.run_to_ms(100)

    assert stand.names() == ["second"]
    assert stand.panel.count_label.text() == "1 of 3 timers"
    stand.panel.waiting_button.click()
    assert stand.names() == before


def test_that_a_group_of_which_there_is_none_has_no_chip(stand: Stand) -> None:
    stand.run_to_ms(100)

    chips = [each.text() for each in stand.panel.group_buttons.values() if each.isVisible()]
    assert chips == ["Timers 3", "Every frame 0"]


def test_that_a_waiting_timer_is_cleared(stand: Stand, qtbot: QtBot) -> None:
    stand.enemies.pause()
    stand.run_to_ms(100)

    stand.view.setCurrentIndex(stand.panel.model.index(stand.names().index("second"), 0))

    assert stand.bridge.selection == Selection.timer(stand.second.id)
    qtbot.keyClick(stand.view, Qt.Key.Key_Delete)
    assert stand.session.submitted[-1] == ClearTimer(stand.second.id)


def test_that_a_filter_holds_for_what_waits(stand: Stand) -> None:
    stand.game.pause()
    stand.run_to_ms(100)

    stand.panel.filter_line.setText("second")
    stand.panel.filter_line.apply_now()

    assert stand.names() == ["second"]
    assert stand.panel.waiting_button.text() == "Waiting 1"


def test_that_a_click_on_a_header_sorts_and_the_third_brings_back_what_fires_next(
    stand: Stand, qtbot: QtBot
) -> None:
    header = stand.view.horizontalHeader()
    where = header.viewport().rect().center()
    where.setX(header.sectionViewportPosition(CallColumn.NAME) + 20)
    orders = []

    for _ in range(3):
        qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=where)
        orders.append(stand.names()[0])

    assert orders == ["first", "third", "first"]
    assert stand.panel.model.sort_column is None


def test_that_the_delete_key_clears_the_marked_timer(stand: Stand, qtbot: QtBot) -> None:
    stand.bridge.select(Selection.timer(stand.second.id))

    qtbot.keyClick(stand.view, Qt.Key.Key_Delete)

    assert stand.session.submitted == [ClearTimer(stand.second.id)]


def test_that_another_session_is_shown_when_it_comes(stand: Stand) -> None:
    other = PlayedSession()
    other.root.set_timeout(1, print, name="other")

    stand.bridge.set_session(other)

    assert stand.names() == ["other"]
    stand.bridge.set_session(None)
    assert stand.panel.notice.text() == "No calls: no scene is loaded."


def test_that_the_copy_key_copies_the_whole_row(stand: Stand, qtbot: QtBot) -> None:
    stand.bridge.select(Selection.timer(stand.second.id))

    qtbot.keySequence(stand.view, "Ctrl+C")

    assert QGuiApplication.clipboard().text().startswith("second\t\tenemies\tinterval\t")


def test_that_taking_the_keyboard_does_not_change_what_is_selected(stand: Stand) -> None:
    stand.bridge.select(Selection.clock(stand.game.id))

    stand.view.setFocus(Qt.FocusReason.ShortcutFocusReason)

    assert stand.view.hasFocus()
    assert stand.bridge.selection == Selection.clock(stand.game.id)
    assert stand.marked() is None


def test_that_the_panel_can_be_taken_apart_while_it_is_shown(
    qtbot: QtBot, capsys: pytest.CaptureFixture[str]
) -> None:
    session, bridge = PlayedSession(), SessionBridge()
    session.root.set_timeout(1, print, name="first")
    bridge.set_session(session)
    panel = TimerQueuePanel(bridge, Theme("light"))
    panel.show()
    qtbot.waitUntil(panel.table.isVisible)

    with qtbot.captureExceptions() as raised:
        shiboken6.delete(panel)

    assert raised == []
    assert "already deleted" not in capsys.readouterr().err


def test_that_a_timer_of_a_held_session_is_said_to_be_held(stand: Stand) -> None:
    stand.bridge.timeline.is_running = False
    stand.run_to_ms(10)

    model = stand.panel.model
    states = {model.index(row, CallColumn.STATE).data() for row in range(model.rowCount())}
    assert states == {"held"}


@pytest.mark.parametrize("scene", built_in_scenes(), ids=lambda scene: scene.path.stem)
def test_that_where_a_timer_was_set_has_room_for_file_and_line(
    stand: Stand, scene: SceneFile
) -> None:
    view, least = stand.panel.view, CallColumn.CALL_SITE.spec.least

    assert view.width_for(least) >= view.width_for(f"{scene.path.name}:99")
