"""The clock tree panel: editing by commands, selection, filter, menu, what is painted."""

from __future__ import annotations

from fractions import Fraction

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.command import Capability
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.vocabulary import MemberKind
from tests.ui.world import PlayedSession
from ui.clock_tree.panel import ClockTreePanel
from ui.clock_tree.rows import ClockColumn, node_of
from ui.kit.theme import ColorRole, Theme
from ui.session.bridge import Selection, SessionBridge


class Stand:
    """The panel over a small tree."""

    def __init__(self, qtbot: QtBot) -> None:
        self.session = PlayedSession()
        self.game = self.session.root.child("game")
        self.enemies = self.game.child("enemies")
        self.player = self.game.child("player")
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        self.panel = ClockTreePanel(self.bridge, Theme("light"))
        qtbot.addWidget(self.panel)
        self.panel.resize(900, 400)
        with qtbot.waitExposed(self.panel):
            self.panel.show()
        self.view = self.panel.view

    def refresh(self) -> None:
        self.bridge.refresh_now()
        self.panel.refresh()

    def cell_center(self, clock_id: int, column: ClockColumn) -> QPoint:
        return self.view.visualRect(self.panel.model.index_of(clock_id, column)).center()

    def glyph_center(self, clock_id: int) -> QPoint:
        """Return where the sign of a clock is painted."""
        return self.view.sign_rect(clock_id).center()

    def menu_texts(self, menu: QMenu) -> list[str]:
        return [action.text() for action in menu.actions() if action.text()]

    def trigger(self, menu: QMenu, text: str) -> None:
        for action in menu.actions():
            if action.text() == text:
                action.trigger()
                return
        message = f"no {text!r} among {self.menu_texts(menu)}"
        raise AssertionError(message)


@pytest.fixture
def stand(qtbot: QtBot) -> Stand:
    return Stand(qtbot)


def test_that_a_click_on_the_sign_asks_to_pause_and_shows_it_when_it_happened(
    stand: Stand, qtbot: QtBot
) -> None:
    where = stand.glyph_center(stand.enemies.id)

    qtbot.mouseClick(stand.view.viewport(), Qt.MouseButton.LeftButton, pos=where)
    before = stand.panel.model.index_of(stand.enemies.id, ClockColumn.STATE).data()
    stand.enemies.pause(cause=1)
    stand.refresh()
    after = stand.panel.model.index_of(stand.enemies.id, ClockColumn.STATE).data()

    assert stand.session.submitted == [PauseClock(stand.enemies.id)]
    assert (before, after) == ("running", "paused by you since 00:00.000")


def test_that_a_pause_has_the_same_colour_as_on_the_timeline(stand: Stand) -> None:
    stand.enemies.pause(cause=1)
    stand.refresh()
    sign = stand.view.sign_rect(stand.enemies.id)

    picture = stand.view.viewport().grab(sign).toImage()

    colors = {
        picture.pixelColor(x, y).name()
        for x in range(picture.width())
        for y in range(picture.height())
    }
    theme = Theme("light")
    assert theme.color(ColorRole.HATCH).name() in colors
    assert theme.color(ColorRole.ORANGE).name() not in colors


def test_that_a_click_on_the_name_only_selects(stand: Stand, qtbot: QtBot) -> None:
    rect = stand.view.visualRect(stand.panel.model.index_of(stand.enemies.id))
    where = stand.glyph_center(stand.enemies.id) + QPoint(40, 0)
    assert rect.contains(where)

    with qtbot.waitSignal(stand.bridge.selection_changed) as selected:
        qtbot.mouseClick(stand.view.viewport(), Qt.MouseButton.LeftButton, pos=where)

    assert selected.args == [Selection.clock(stand.enemies.id)]
    assert stand.session.submitted == []


def _open_editor(stand: Stand, qtbot: QtBot, clock_id: int) -> QLineEdit:
    stand.view.setCurrentIndex(stand.panel.model.index_of(clock_id))
    qtbot.keyClick(stand.view, Qt.Key.Key_F2)
    editor = stand.view.viewport().findChild(QLineEdit)
    assert isinstance(editor, QLineEdit)
    return editor


def test_that_a_rate_can_be_typed_in_place(stand: Stand, qtbot: QtBot) -> None:
    editor = _open_editor(stand, qtbot, stand.enemies.id)

    editor.clear()
    qtbot.keyClicks(editor, "1/3")
    with qtbot.waitSignal(stand.panel.model.command_requested):
        qtbot.keyClick(editor, Qt.Key.Key_Return)

    assert stand.session.submitted == [SetRate(stand.enemies.id, Fraction(1, 3))]
    assert stand.panel.model.index_of(stand.enemies.id, ClockColumn.RATE).data() == "1"
    assert stand.panel.refusal_label.isHidden()


def test_that_bad_input_keeps_the_rate_and_says_why(stand: Stand, qtbot: QtBot) -> None:
    editor = _open_editor(stand, qtbot, stand.enemies.id)

    editor.clear()
    qtbot.keyClicks(editor, "quick")
    with qtbot.waitSignal(stand.panel.model.edit_refused):
        qtbot.keyClick(editor, Qt.Key.Key_Return)

    assert stand.session.submitted == []
    assert stand.panel.refusal_label.isVisible()
    assert stand.panel.refusal_label.text() == (
        "✖ Not a rate: “quick” (write 1, 0.25, 1/3, 25% or 2x)"
    )


@pytest.fixture
def refused(stand: Stand, qtbot: QtBot) -> Stand:
    """The panel after a rate that is none."""
    editor = _open_editor(stand, qtbot, stand.enemies.id)
    editor.clear()
    qtbot.keyClicks(editor, "abc")
    with qtbot.waitSignal(stand.panel.model.edit_refused):
        qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert stand.panel.refusal_label.isVisible()
    return stand


def test_that_a_refusal_goes_with_the_next_command_from_anywhere(refused: Stand) -> None:
    refused.bridge.submit(PauseClock(refused.game.id))

    assert refused.panel.refusal_label.isHidden()


def test_that_a_refusal_goes_when_something_else_is_selected(refused: Stand) -> None:
    refused.bridge.select(Selection.frame(0))

    assert refused.panel.refusal_label.isHidden()


def test_that_a_refusal_goes_on_escape(refused: Stand, qtbot: QtBot) -> None:
    qtbot.keyClick(refused.view, Qt.Key.Key_Escape)

    assert refused.panel.refusal_label.isHidden()


def test_that_a_refusal_stays_until_then(refused: Stand) -> None:
    refused.session.tree.run_to(50_000_000)
    refused.refresh()

    assert refused.panel.refusal_label.isVisible()


def test_that_typing_survives_a_refresh(stand: Stand, qtbot: QtBot) -> None:
    editor = _open_editor(stand, qtbot, stand.enemies.id)
    editor.clear()
    qtbot.keyClicks(editor, "0.")
    stand.session.tree.run_to(50_000_000)
    stand.game.child("late")

    stand.refresh()
    qtbot.keyClicks(editor, "5")
    with qtbot.waitSignal(stand.panel.model.command_requested):
        qtbot.keyClick(editor, Qt.Key.Key_Return)

    assert stand.session.submitted == [SetRate(stand.enemies.id, Fraction(1, 2))]


def test_that_enter_pauses_and_resumes_the_marked_clock(stand: Stand, qtbot: QtBot) -> None:
    stand.view.setCurrentIndex(stand.panel.model.index_of(stand.enemies.id))

    qtbot.keyClick(stand.view, Qt.Key.Key_Return)
    stand.enemies.pause(cause=1)
    stand.refresh()
    qtbot.keyClick(stand.view, Qt.Key.Key_Return)

    assert stand.session.submitted == [
        PauseClock(stand.enemies.id),
        ResumeClock(stand.enemies.id),
    ]


def test_that_the_menu_pauses_scales_and_folds(stand: Stand) -> None:
    menu = stand.panel.make_menu(stand.enemies.id)

    assert stand.menu_texts(menu) == [
        "Pause “enemies”",
        "Pause sibling “player”",
        "Rate (now 1)",
        "Copy row",
        "Copy path",
        "Expand branch",
        "Collapse branch",
        "Expand all",
        "Collapse all",
        "Columns",
    ]
    stand.trigger(menu, "Pause sibling “player”")
    rates = next(action.menu() for action in menu.actions() if action.text().startswith("Rate"))
    assert isinstance(rates, QMenu)
    assert stand.menu_texts(rates) == ["¼", "½", "1×", "2", "4", "Other …"]
    stand.trigger(rates, "¼")
    stand.trigger(menu, "Copy path")
    assert stand.session.submitted == [
        PauseClock(stand.player.id),
        SetRate(stand.enemies.id, Fraction(1, 4)),
    ]
    assert QGuiApplication.clipboard().text() == "root / game / enemies"


def test_that_only_a_branch_with_something_below_it_can_be_folded(stand: Stand) -> None:
    menus = [stand.panel.make_menu(clock.id) for clock in (stand.session.root, stand.player)]

    for text in ("Expand branch", "Collapse branch"):
        folds = [action for menu in menus for action in menu.actions() if action.text() == text]
        assert [action.isEnabled() for action in folds] == [True, False]


def test_that_what_a_session_cannot_do_is_not_offered(stand: Stand) -> None:
    stand.session.capabilities = frozenset({Capability.STEP})
    stand.bridge.refresh_now()

    menu = stand.panel.make_menu(stand.enemies.id)

    assert not menu.actions()[0].isEnabled()


def test_that_a_selection_made_elsewhere_is_marked(stand: Stand) -> None:
    stand.bridge.select(Selection.clock(stand.player.id))

    assert stand.panel.current_clock_id() == stand.player.id


def test_that_a_selected_timer_marks_its_clock(stand: Stand) -> None:
    timer = stand.player.set_timeout(1, print)
    stand.refresh()

    stand.bridge.select(Selection.timer(timer.id))

    assert stand.panel.current_clock_id() == stand.player.id
    assert stand.bridge.selection == Selection.timer(timer.id)


def test_that_selection_and_folding_survive_a_reset(stand: Stand) -> None:
    stand.bridge.select(Selection.clock(stand.player.id))
    stand.panel.make_menu(stand.game.id)
    stand.view.collapse(stand.panel.model.index_of(stand.game.id))
    stand.bridge.select(Selection.clock(stand.game.id))
    other = stand.session.root.child("other")

    stand.panel.model.set_filter("other")
    stand.refresh()
    stand.panel.model.set_filter("")
    for number in range(100):
        other.child(f"c {number}").child("twig")
    stand.refresh()

    assert stand.panel.current_clock_id() == stand.game.id
    assert not stand.view.isExpanded(stand.panel.model.index_of(stand.game.id))
    assert stand.view.isExpanded(stand.panel.model.index_of(other.id))


def test_that_removing_the_marked_clock_marks_none(stand: Stand, qtbot: QtBot) -> None:
    stand.bridge.select(Selection.clock(stand.enemies.id))
    stand.enemies.remove()

    with qtbot.assertNotEmitted(stand.bridge.selection_changed):
        stand.refresh()

    assert stand.panel.current_clock_id() == 0


def test_that_folding_survives_a_reload(stand: Stand) -> None:
    stand.view.collapse(stand.panel.model.index_of(stand.game.id))

    stand.bridge.session_changed.emit(stand.session)

    assert not stand.view.isExpanded(stand.panel.model.index_of(stand.game.id))


def test_that_a_new_branch_is_unfolded(stand: Stand) -> None:
    boss = stand.enemies.child("boss")
    stand.refresh()

    assert stand.view.isExpanded(stand.panel.model.index_of(stand.enemies.id))
    assert stand.view.visualRect(stand.panel.model.index_of(boss.id)).isValid()


def test_that_the_filter_shows_matches_below_their_ancestors(stand: Stand, qtbot: QtBot) -> None:
    line = stand.panel.filter_line
    qtbot.keyClicks(line, "enem")

    with qtbot.waitSignal(line.filter_changed):
        qtbot.keyClick(line, Qt.Key.Key_Return)

    assert stand.panel.model.shown_branch(0) == [1, stand.game.id, stand.enemies.id]
    assert stand.panel.count_label.text() == "1 of 4 clocks"


def test_that_nothing_is_shown_without_a_session(stand: Stand) -> None:
    stand.bridge.set_session(None)

    assert stand.panel.model.rowCount() == 0
    assert stand.panel.make_menu(0).actions()


def test_that_the_copy_key_copies_the_whole_row(stand: Stand, qtbot: QtBot) -> None:
    stand.bridge.select(Selection.clock(stand.enemies.id))

    qtbot.keySequence(stand.view, "Ctrl+C")

    assert QGuiApplication.clipboard().text() == "enemies\t00:00.000\t1\trunning\t1\t\t"


def test_that_taking_the_keyboard_does_not_change_what_is_selected(stand: Stand) -> None:
    stand.bridge.select(Selection.frame(0))

    stand.view.setFocus(Qt.FocusReason.ShortcutFocusReason)

    assert stand.view.hasFocus()
    assert stand.bridge.selection == Selection.frame(0)
    assert not stand.view.currentIndex().isValid()


def test_that_a_state_says_as_much_as_there_is_room_for(stand: Stand) -> None:
    stand.game.pause(cause=1)
    stand.refresh()

    texts = []
    for width in (80, 120, 600):
        stand.view.setColumnWidth(ClockColumn.STATE, width)
        texts.append(stand.view.shown_text(stand.enemies.id, ClockColumn.STATE))

    assert texts == [
        "“game”",
        "“game” paused",
        "stopped by “game” (paused by you since 00:00.000)",
    ]


def test_that_a_row_that_has_gone_offers_what_is_for_the_tree(stand: Stand) -> None:
    scheduler = Scheduler(stand.game, name="fights")
    scheduler.schedule_update(stand, 0, callback=print)
    stand.refresh()
    members = stand.bridge.timeline.members
    owner, target = (
        next(each.id for each in members.by_id.values() if each.kind is kind)
        for kind in (MemberKind.SCHEDULER, MemberKind.TARGET)
    )
    stand.view.expand(stand.panel.model.index_of(node_of(owner)))
    stand.refresh()
    gone = [stand.enemies.id, node_of(target)]
    assert all(stand.panel.model.index_of(node).isValid() for node in gone)

    stand.enemies.remove()
    scheduler.unschedule_target(stand)
    stand.bridge.refresh_now()

    for node in gone:
        menu = stand.panel.make_menu(node)
        assert stand.menu_texts(menu) == stand.menu_texts(stand.panel.make_menu(0))
