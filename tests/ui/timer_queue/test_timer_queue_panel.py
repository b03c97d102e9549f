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
    assert stand.panel.branch_button.text() == "Only branch “game”"
    assert stand.panel.count_label.text() == "2 of 3 calls"


def test_that_selecting_a_timer_does_not_change_the_branch(stand: Stand) -> None:
    stand.bridge.select(Selection.clock(stand.game.id))
    stand.panel.branch_button.click()

    stand.bridge.select(Selection.timer(stand.second.id))

    assert stand.names() == ["first", "second"]


def test_that_the_menu_acts_on_the_timer(stand: Stand) -> None:
    _trigger(stand, stand.second.id, "Fire now")
    _trigger(stand, stand.second.id, "Clear")
    _trigger(stand, stand.second.id, "Pause its clock “enemies”")
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

    _trigger(stand, stand.second.id, "Resume “game”, which it waits for")

    assert stand.session.submitted == [ResumeClock(stand.game.id)]


def test_that_the_menu_of_a_gone_timer_is_empty(stand: Stand) -> None:
    stand.run_to_ms(1_500)

    assert stand.panel.make_call_menu(stand.first.id).actions() == []


@pytest.mark.parametrize(
    ("filter_text", "has_branch", "reason"),
    [
        ("nothing like it", False, "The filter hides all 3 calls."),
        ("nothing like it", True, "The filter hides the only call."),
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

    assert stand.panel.count_label.text() == "3 calls, 3 stopped"


def test_that_one_call_is_not_called_calls(stand: Stand) -> None:
    stand.game.clear(stand.first)
    stand.enemies.clear(stand.second)

    stand.run_to_ms(100)

    assert stand.panel.count_label.text() == "1 call"


def _waiting(stand: Stand) -> list[str]:
    model = stand.panel.waiting.model
    return [model.index(row, CallColumn.NAME).data() for row in range(model.rowCount())]


def test_that_waiting_timers_stand_above_with_what_stops_them(stand: Stand) -> None:
    section = stand.panel.waiting
    assert section.isHidden()
    stand.enemies.pause()

    stand.run_to_ms(100)

    assert section.isVisible()
    assert section.view.isVisible()
    assert section.button.text() == "Waiting 1: “enemies” is paused"
    assert _waiting(stand) == ["second"]
    assert stand.names() == ["first", "third"]
    assert stand.panel.count_label.text() == "3 calls, 1 stopped"

    stand.enemies.resume()
    stand.run_to_ms(200)

    assert section.isHidden()
    assert stand.names() == ["first", "second", "third"]


def test_that_every_stopped_clock_is_named_the_one_with_most_timers_first(stand: Stand) -> None:
    stand.enemies.set_rate(0)
    stand.enemies.set_timeout(5, print)
    ui = stand.session.root.child("ui & more")
    ui.set_timeout(1, print)
    ui.pause()

    stand.run_to_ms(100)

    assert stand.panel.waiting.button.text() == (
        "Waiting 3: “enemies” has rate 0 (2), “ui && more” is paused (1)"
    )
    assert stand.panel.waiting.button.toolTip().startswith(
        "Waiting 3: “enemies” has rate 0 (2), “ui & more” is paused (1)\n"
    )


def test_that_the_reasons_why_calls_wait_are_whole_where_columns_can_go(
    qtbot: QtBot, stand: Stand
) -> None:
    stand.panel.resize(860, 400)
    waiting, columns = stand.panel.waiting, stand.view
    stand.run_to_ms(50)
    before = columns.columnWidth(CallColumn.REMAINING)
    stand.enemies.pause()

    stand.run_to_ms(100)

    def painted() -> str:
        key = waiting.view.rows_in_view()[0][0].key
        return waiting.view.shown_text(key, CallColumn.REMAINING)

    qtbot.waitUntil(lambda: painted() == "“enemies” is paused")
    (cells, *_rest) = (cells for _place, cells in waiting.view.rows_in_view())
    assert cells[CallColumn.STATE].shorter == ("paused",)

    stand.enemies.resume()
    stand.run_to_ms(200)

    assert columns.columnWidth(CallColumn.REMAINING) == before


def test_that_long_reasons_why_calls_wait_are_whole_in_a_wide_panel(
    qtbot: QtBot, stand: Stand
) -> None:
    stand.panel.resize(1_900, 400)
    waiting = stand.panel.waiting
    name = "the second screen on the left"
    screen = stand.session.root.child(name)
    screen.set_timeout(5, print)
    screen.pause()

    stand.run_to_ms(100)

    def painted() -> str:
        key = waiting.view.rows_in_view()[0][0].key
        return waiting.view.shown_text(key, CallColumn.REMAINING)

    qtbot.waitUntil(lambda: painted() == f"“{name}” is paused")


def test_that_a_folded_section_stays_folded_and_still_counts(stand: Stand) -> None:
    stand.game.pause()
    stand.run_to_ms(100)

    stand.panel.waiting.button.click()

    assert not stand.panel.waiting.view.isVisible()
    assert stand.panel.waiting.button.isVisible()
    again = TimerQueuePanel(stand.bridge, Theme("light"))
    assert not again.waiting.button.isChecked()


def test_that_waiting_timers_leave_room_for_those_that_fire_in_a_low_panel(stand: Stand) -> None:
    for number in range(20):
        stand.enemies.set_timeout(number + 5, print)
    stand.enemies.pause()
    stand.run_to_ms(100)
    section = stand.panel.waiting.view

    stand.panel.resize(1200, 600)
    QApplication.processEvents()
    row = section.verticalHeader().defaultSectionSize()
    titles = section.horizontalHeader()
    above = titles.height() if titles.isVisible() else 0
    assert section.height() == above + 6 * row + 2 * section.frameWidth()

    stand.panel.resize(1200, 220)
    QApplication.processEvents()
    assert section.height() >= row
    assert stand.view.viewport().height() >= 2 * row


def test_that_columns_of_waiting_timers_have_titles_where_there_is_room(stand: Stand) -> None:
    stand.enemies.pause()
    titles = stand.panel.waiting.view.horizontalHeader()
    shown = []
    for height in (160, 500):
        stand.panel.resize(900, height)
        QApplication.processEvents()
        stand.run_to_ms(height)
        shown.append(titles.isVisible())

    assert shown == [False, True]


def test_that_nothing_but_waiting_timers_is_no_empty_table(stand: Stand) -> None:
    stand.session.root.pause()

    stand.run_to_ms(100)

    assert stand.panel.notice.text() == "No call is due: all of them wait."


def test_that_a_waiting_timer_is_selected_marked_and_cleared(stand: Stand, qtbot: QtBot) -> None:
    stand.enemies.pause()
    stand.run_to_ms(100)
    view = stand.panel.waiting.view

    view.setCurrentIndex(stand.panel.waiting.model.index(0, 0))

    assert stand.bridge.selection == Selection.timer(stand.second.id)
    assert not stand.view.currentIndex().isValid()
    qtbot.keyClick(view, Qt.Key.Key_Delete)
    assert stand.session.submitted[-1] == ClearTimer(stand.second.id)


def test_that_a_filter_and_a_branch_hold_for_waiting_timers(stand: Stand) -> None:
    stand.game.pause()
    stand.run_to_ms(100)

    stand.panel.filter_line.setText("second")
    stand.panel.filter_line.apply_now()

    assert _waiting(stand) == ["second"]
    assert stand.panel.count_label.text() == "1 of 3 calls, 1 stopped"


def test_that_the_columns_are_those_of_the_table_below(stand: Stand) -> None:
    stand.game.pause()
    stand.run_to_ms(100)
    below, above = stand.view.horizontalHeader(), stand.panel.waiting.view.horizontalHeader()

    below.resizeSection(CallColumn.NAME, 211)
    below.moveSection(2, 0)
    stand.view.choices.show_column(CallColumn.INTERVAL, False)

    for column in CallColumn:
        assert above.isSectionHidden(column) == below.isSectionHidden(column)
        assert above.sectionPosition(column) == below.sectionPosition(column)
        assert above.sectionSize(column) == below.sectionSize(column)


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
