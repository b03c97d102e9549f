"""Calls of members in the timer queue panel: groups, what is marked, the menu."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.calls.call import Call, CallId, call_of
from inspector.commands.clocks import PauseClock
from inspector.commands.members import (
    PauseFromPriority,
    PauseMember,
    ResumeMember,
    UnscheduleMember,
)
from inspector.events.timeline import Timeline
from inspector.frames.director import Director
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.vocabulary import CALL_ENDED, MEMBER_SET, Field, MemberKind, Phase
from tests.ui.members_world import MembersSession
from tests.ui.world import PlayedSession, Thing
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SessionBridge
from ui.timer_queue import call_queue
from ui.timer_queue.call_queue import CallGroup
from ui.timer_queue.columns import MEMBER_COLUMNS, TIMER_COLUMNS, CallColumn
from ui.timer_queue.panel import HIDDEN_GROUPS, TimerQueuePanel


class Stand:
    """The panel over a scheduler with three calls and two timers of clocks."""

    def __init__(self, qtbot: QtBot, panel_choices: dict[str, str] | None = None) -> None:
        self.session = PlayedSession()
        self.game = self.session.root.child("game")
        self.menu = self.session.root.child("menu")
        self.timer = self.game.set_timeout(5, print, name="level ends")
        self.session.root.set_timeout(6, print, name="autosave")
        self.scheduler = Scheduler(self.game, name="fights")
        self.ship, self.boss = Thing("ship"), Thing("boss")
        self.scheduler.schedule(self.boss.tick, 0.5, name="shoot")
        self.scheduler.schedule_update(self.ship, 5)
        self.scheduler.schedule_update(self.boss, -1)
        self.bridge = SessionBridge()
        self.bridge.panel_choices = dict(panel_choices or {})
        self.bridge.set_session(self.session)
        self.panel = TimerQueuePanel(self.bridge, Theme("light"))
        qtbot.addWidget(self.panel)
        self.panel.resize(1400, 300)
        with qtbot.waitExposed(self.panel):
            self.panel.show()
        self.view = self.panel.table

    def refresh(self) -> None:
        self.bridge.refresh_now()
        self.panel.refresh()

    def who(self) -> list[str]:
        model = self.panel.model
        return [
            f"{model.index(row, CallColumn.TARGET).data()} "
            f"{model.index(row, CallColumn.KIND).data()}"
            for row in range(model.rowCount())
        ]

    def number(self, who: str) -> int:
        key = self.panel.model.id_at(self.who().index(who))
        assert key is not None
        return CallId.of_key(key).number

    def member(self, name: str) -> int:
        members = self.session.timeline.members.by_id.values()
        return next(member.id for member in members if member.name == name)

    def marked(self) -> str | None:
        index = self.view.currentIndex()
        return self.who()[index.row()] if index.isValid() else None

    def cell(self, who: str, column: CallColumn) -> QPoint:
        """Return where a cell is in the viewport."""
        index = self.panel.model.index(self.who().index(who), column)
        return self.view.visualRect(index).center()


@pytest.fixture
def stand(qtbot: QtBot) -> Stand:
    stand = Stand(qtbot)
    stand.panel.group_buttons[CallGroup.CLOCK_TIMERS].click()
    stand.view.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
    return stand


def _trigger(stand: Stand, who: str, text: str) -> None:
    menu = stand.panel.make_call_menu(-stand.number(who))
    next(action for action in menu.actions() if action.text() == text).trigger()


def test_that_the_buttons_say_how_many_calls_each_group_has(qtbot: QtBot) -> None:
    stand = Stand(qtbot)

    texts = [button.text() for button in stand.panel.group_buttons.values()]
    assert texts == ["Timers 2", "Frame timers 1", "Every frame 2"]
    assert stand.panel.count_label.text() == "5 calls"
    kinds = [each.split(" ", 1)[1] for each in stand.who()]
    assert kinds == ["frame timer", "timeout", "timeout", "update", "update"]


def test_that_hidden_groups_are_remembered(qtbot: QtBot) -> None:
    first = Stand(qtbot)
    first.panel.group_buttons[CallGroup.CLOCK_TIMERS].click()
    first.panel.group_buttons[CallGroup.FRAME_TIMERS].click()

    again = Stand(qtbot, first.bridge.panel_choices)

    assert again.who() == ["boss update", "ship update"]
    assert again.panel.count_label.text() == "2 of 5 calls"
    everything = Stand(qtbot, {HIDDEN_GROUPS: "nonsense"})
    assert everything.panel.queue.groups == frozenset(CallGroup)


def test_that_columns_without_meaning_for_any_call_that_is_shown_are_left_out(
    qtbot: QtBot,
) -> None:
    stand = Stand(qtbot)
    stand.panel.resize(3_000, 300)
    buttons, header = stand.panel.group_buttons, stand.view.horizontalHeader()

    def hidden() -> set[CallColumn]:
        return {column for column in CallColumn if header.isSectionHidden(column)}

    assert hidden() == set()
    buttons[CallGroup.CLOCK_TIMERS].click()
    assert hidden() == {CallColumn.LATENESS, CallColumn.CALL_SITE}
    buttons[CallGroup.FRAME_TIMERS].click()
    assert hidden() == TIMER_COLUMNS | {CallColumn.LEFT}
    buttons[CallGroup.CLOCK_TIMERS].click()
    buttons[CallGroup.EVERY_FRAME].click()
    of_some = {CallColumn.TARGET, CallColumn.SCHEDULER, CallColumn.PRIORITY, CallColumn.LEFT}
    assert hidden() == MEMBER_COLUMNS | of_some


def test_that_frame_callbacks_leave_out_what_none_of_them_has(qtbot: QtBot) -> None:
    stand = Stand(qtbot)
    stand.panel.resize(3_000, 300)
    for group in (CallGroup.CLOCK_TIMERS, CallGroup.FRAME_TIMERS):
        stand.panel.group_buttons[group].click()
    with_updates = stand.view.horizontalHeader().isSectionHidden(CallColumn.TARGET)
    for thing in (stand.ship, stand.boss):
        stand.scheduler.unschedule_update(thing)
    Director(stand.session.root).on(Phase.UPDATE, print, name="move")

    stand.refresh()

    header = stand.view.horizontalHeader()
    assert not with_updates
    assert header.isSectionHidden(CallColumn.TARGET)
    assert header.isSectionHidden(CallColumn.PRIORITY)
    assert not header.isSectionHidden(CallColumn.TOOK)


@pytest.mark.parametrize("width", [600, 967, 1_200, 1_930])
def test_that_the_columns_share_the_width_of_the_panel(qtbot: QtBot, width: int) -> None:
    stand = Stand(qtbot)

    stand.panel.resize(width, 300)

    assert stand.view.horizontalScrollBar().maximum() == 0
    assert stand.view.horizontalHeader().length() == stand.view.viewport().width()
    assert not stand.view.isColumnHidden(CallColumn.REMAINING)


def test_that_a_long_name_is_shown_whole_before_other_columns(qtbot: QtBot) -> None:
    stand = Stand(qtbot)
    stand.panel.resize(800, 300)
    name = "the boss empties its magazine"
    stand.session.root.set_timeout(1, print, name=name)

    stand.refresh()

    text = stand.view.fontMetrics().horizontalAdvance(name)
    assert stand.view.columnWidth(CallColumn.NAME) > text
    assert stand.view.horizontalScrollBar().maximum() == 0


def test_that_a_column_without_room_can_be_asked_for(qtbot: QtBot) -> None:
    stand = Stand(qtbot)
    stand.panel.resize(700, 300)
    assert stand.view.isColumnHidden(CallColumn.CALL_SITE)

    stand.view.choices.show_column(CallColumn.CALL_SITE, True)
    stand.panel.resize(720, 300)

    assert not stand.view.isColumnHidden(CallColumn.CALL_SITE)


def test_that_a_group_that_was_hidden_catches_up_when_it_is_shown(stand: Stand) -> None:
    stand.panel.group_buttons[CallGroup.EVERY_FRAME].click()
    stand.scheduler.schedule_update(Thing("star"), 1)
    stand.refresh()

    assert stand.panel.group_buttons[CallGroup.EVERY_FRAME].text() == "Every frame 3"
    stand.panel.group_buttons[CallGroup.EVERY_FRAME].click()
    assert stand.who()[1] == "star update"


def test_that_a_click_selects_a_call(stand: Stand, qtbot: QtBot) -> None:
    where = stand.cell("ship update", CallColumn.NAME)

    with qtbot.waitSignal(stand.bridge.selection_changed) as selected:
        qtbot.mouseClick(stand.view.viewport(), Qt.MouseButton.LeftButton, pos=where)

    assert selected.args == [Selection.member(stand.number("ship update"))]


def test_that_the_marked_call_stays_marked_when_rows_move(stand: Stand, qtbot: QtBot) -> None:
    stand.bridge.select(Selection.member(stand.number("boss update")))
    with qtbot.assertNotEmitted(stand.bridge.selection_changed):
        before = stand.view.currentIndex().row()
        stand.scheduler.schedule_update(stand.boss, 7)
        stand.refresh()

    assert (before, stand.view.currentIndex().row()) == (0, 1)
    assert stand.marked() == "boss update"


def test_that_a_selected_timer_or_clock_marks_no_call(stand: Stand) -> None:
    stand.bridge.select(Selection.member(stand.number("boss update")))

    stand.bridge.select(Selection.timer(stand.timer.id))

    assert stand.marked() is None
    stand.panel.group_buttons[CallGroup.CLOCK_TIMERS].click()
    assert stand.marked() == " timeout"


def test_that_the_filter_holds_for_calls_of_all_groups(stand: Stand) -> None:
    stand.panel.filter_line.setText("boss")
    stand.panel.filter_line.apply_now()

    assert stand.who() == ["boss update", "boss frame timer"]
    assert stand.panel.count_label.text() == "2 of 5 calls"
    stand.panel.filter_line.setText("game")
    stand.panel.filter_line.apply_now()
    stand.panel.group_buttons[CallGroup.CLOCK_TIMERS].click()
    assert stand.panel.count_label.text() == "4 of 5 calls"


@pytest.mark.parametrize(
    ("filter_text", "branch", "reason"),
    [
        ("nothing like it", "", "The filter hides 5 calls."),
        ("", "menu", "No calls in branch “menu”; 5 elsewhere."),
        ("", "game", ""),
    ],
)
def test_that_an_empty_table_says_why(
    stand: Stand, filter_text: str, branch: str, reason: str
) -> None:
    if branch:
        clock = stand.menu if branch == "menu" else stand.game
        stand.bridge.select(Selection.clock(clock.id))
        stand.panel.branch_button.click()

    stand.panel.filter_line.setText(filter_text)
    stand.panel.filter_line.apply_now()

    assert stand.panel.notice.text() == reason
    assert stand.panel.notice.isVisible() is bool(reason)


def test_that_a_session_without_calls_says_so(stand: Stand) -> None:
    stand.bridge.set_session(PlayedSession())

    assert stand.panel.notice.text() == "No call is scheduled."
    stand.bridge.set_session(None)
    assert stand.panel.notice.text() == "No calls: no scene is loaded."
    assert stand.panel.group_buttons[CallGroup.EVERY_FRAME].text() == "Every frame 0"


def test_that_a_table_whose_groups_are_hidden_says_so(stand: Stand) -> None:
    for group in (CallGroup.FRAME_TIMERS, CallGroup.EVERY_FRAME):
        stand.panel.group_buttons[group].click()

    assert stand.panel.notice.text() == "No calls of the kinds that are shown; 5 of other kinds."


def test_that_the_menu_acts_on_the_call_its_target_and_its_clock(stand: Stand) -> None:
    call, target = stand.number("boss frame timer"), stand.member("boss")

    _trigger(stand, "boss frame timer", "Pause frame timer shoot")
    _trigger(stand, "boss frame timer", "Pause its target boss")
    _trigger(stand, "boss frame timer", "Unschedule frame timer shoot")
    _trigger(stand, "ship update", "Pause priority 5 and above")
    _trigger(stand, "boss frame timer", "Pause its clock game")

    assert stand.session.submitted == [
        PauseMember(call),
        PauseMember(target),
        UnscheduleMember(call),
        PauseFromPriority(stand.member("fights"), 5),
        PauseClock(stand.game.id),
    ]


def test_that_the_menu_shows_what_is_above_the_call(stand: Stand) -> None:
    _trigger(stand, "boss update", "Show its target")
    selected = [stand.bridge.selection]
    _trigger(stand, "boss update", "Show its scheduler")
    selected.append(stand.bridge.selection)
    _trigger(stand, "boss update", "Show its clock")
    selected.append(stand.bridge.selection)
    _trigger(stand, "boss frame timer", "Copy row")

    assert selected == [
        Selection.member(stand.member("boss")),
        Selection.member(stand.member("fights")),
        Selection.clock(stand.game.id),
    ]
    assert QGuiApplication.clipboard().text().startswith("shoot\tboss\tgame\tframe timer\t")


def test_that_the_menu_of_a_call_that_is_gone_is_empty(stand: Stand) -> None:
    number = stand.number("boss update")

    stand.scheduler.unschedule_target(stand.boss)
    stand.refresh()

    assert stand.panel.make_call_menu(-number).actions() == []


def test_that_enter_pauses_and_resumes_and_delete_takes_back(stand: Stand, qtbot: QtBot) -> None:
    call = stand.number("boss frame timer")
    stand.bridge.select(Selection.member(call))

    qtbot.keyClick(stand.view, Qt.Key.Key_Return)
    stand.scheduler.pause_target(stand.boss)
    target = stand.member("boss")
    stand.refresh()
    qtbot.keyClick(stand.view, Qt.Key.Key_Delete)
    qtbot.keySequence(stand.view, "Ctrl+C")

    assert stand.session.submitted == [PauseMember(call), UnscheduleMember(call)]
    assert "waits: boss" in QGuiApplication.clipboard().text()
    menu = stand.panel.make_call_menu(-call)
    texts = {action.text(): action for action in menu.actions()}
    texts["Resume its target boss"].trigger()
    assert stand.session.submitted[-1] == ResumeMember(target)


def test_that_keys_do_nothing_where_no_call_is_marked(stand: Stand, qtbot: QtBot) -> None:
    stand.bridge.select(Selection.member(stand.member("fights")))

    for key in (Qt.Key.Key_Return, Qt.Key.Key_Delete):
        qtbot.keyClick(stand.view, key)

    assert stand.session.submitted == []


@pytest.mark.parametrize(
    ("column", "name"),
    [(CallColumn.TARGET, "boss"), (CallColumn.SCHEDULER, "fights"), (CallColumn.CLOCK, "")],
)
def test_that_a_double_click_on_a_name_goes_there(
    stand: Stand, qtbot: QtBot, column: CallColumn, name: str
) -> None:
    where = stand.cell("boss update", column)

    qtbot.mouseClick(stand.view.viewport(), Qt.MouseButton.LeftButton, pos=where)
    qtbot.mouseDClick(stand.view.viewport(), Qt.MouseButton.LeftButton, pos=where)

    wanted = Selection.member(stand.member(name)) if name else Selection.clock(stand.game.id)
    assert stand.bridge.selection == wanted


def _crowd(qtbot: QtBot, calls: int) -> tuple[MembersSession, TimerQueuePanel]:
    """Return a session with many calls, and the panel that shows them."""
    session, bridge = MembersSession(), SessionBridge()
    scheduler = session.member(1, "fights", MemberKind.SCHEDULER)
    for number in range(2, calls + 2):
        session.member(number, f"call {number}", MemberKind.UPDATE, scheduler)
        session.log.append((0, MEMBER_SET, number, Field.PRIORITY, number))
    bridge.set_session(session)
    panel = TimerQueuePanel(bridge, Theme("light"))
    bridge.setParent(panel)
    qtbot.addWidget(panel)
    panel.resize(900, 300)
    panel.show()
    QApplication.processEvents()
    return session, panel


@pytest.mark.parametrize("calls", [60, 3_000])
def test_that_only_rows_in_view_are_put_into_words(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    session, panel = _crowd(qtbot, calls)
    made: set[int] = set()

    def counting(timeline: Timeline, call_id: CallId) -> Call | None:
        made.add(call_id.number)
        return call_of(timeline, call_id)

    monkeypatch.setattr(call_queue, "call_of", counting)
    for _ in range(5):
        session.log.append((0, CALL_ENDED, 2, 0, 1_000))
        session.fold()
        panel.refresh()
        QApplication.processEvents()

    assert 0 < len(made) < 30


def test_that_the_third_click_on_a_header_brings_back_the_order_of_the_calls(
    stand: Stand, qtbot: QtBot
) -> None:
    header = stand.view.horizontalHeader()
    where = header.viewport().rect().center()
    where.setX(header.sectionViewportPosition(CallColumn.TARGET) + 20)
    orders = []

    for _ in range(3):
        qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=where)
        orders.append(stand.who()[0])

    assert orders == ["boss update", "ship update", "boss update"]
    assert stand.panel.model.sort_column is None
