"""The table of clocks: which rows it has, folding, selection, filter and commands."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.command import Capability
from inspector.commands.members import PauseMember
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.frames.state_machine import Edge, StateMachine
from tests.fuzz import rounds
from tests.ui.world import PlayedSession, Thing
from ui.clock_tree.panel import ClockColumn, ClockTreePanel, node_of
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SessionBridge

if TYPE_CHECKING:
    from pytestqt.modeltest import ModelTester
    from pytestqt.qtbot import QtBot

    from inspector.clocks import Clock


class Stand:
    """The panel over a few clocks."""

    def __init__(self, qtbot: QtBot) -> None:
        self.session = PlayedSession()
        self.game = self.session.root.child("game")
        self.enemies = self.game.child("enemies")
        self.player = self.game.child("player")
        self.ship = Thing("ship")
        self.scheduler: Scheduler | None = None
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        self.panel = ClockTreePanel(self.bridge, Theme("light"))
        qtbot.addWidget(self.panel)
        self.panel.resize(900, 400)
        with qtbot.waitExposed(self.panel):
            self.panel.show()
        self.view, self.model = self.panel.view, self.panel.model

    def refresh(self) -> None:
        self.bridge.refresh_now()
        self.panel.refresh()

    @property
    def outline(self) -> list[str]:
        return ["  " * row.depth + ClockColumn.NAME.spec.text(row) for row in self.model.rows]

    def choose(self, node: int) -> None:
        row = self.model.row_of(node)
        assert row is not None
        self.view.setCurrentIndex(self.model.index(row, 0))

    def node(self, name: str) -> int:
        members = self.bridge.timeline.members.by_id.values()
        return node_of(next(member.id for member in members if member.name == name))

    def turn(self, node: int) -> None:
        self.panel.activate(self.model.index(self.row(node), 0))

    def row(self, node: int) -> int:
        row = self.model.row_of(node)
        assert row is not None
        return row

    @property
    def marked(self) -> int:
        row = self.model.row_at(self.view.currentIndex().row())
        return 0 if row is None else row.node

    def menu(self, node: int) -> QMenu:
        return self.panel.make_menu(self.row(node))


def texts(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if action.text()]


def trigger(menu: QMenu, text: str) -> None:
    next(action for action in menu.actions() if action.text() == text).trigger()


@pytest.fixture
def stand(qtbot: QtBot) -> Stand:
    return Stand(qtbot)


@pytest.fixture
def fights(stand: Stand) -> Stand:
    """With a scheduler of two targets and a machine on a clock."""
    stand.scheduler = scheduler = Scheduler(stand.game, name="fights")
    scheduler.schedule_update(stand.ship, 5)
    scheduler.schedule(Thing("star").tick, 0.5, name="twinkle")
    StateMachine("menu", {"start": Edge("menu", "on")}, clock=stand.game, name="flow")
    stand.refresh()
    return stand


# ------------------------------------------------------------------ which rows there are


def test_that_members_hang_under_their_clock_and_open_when_asked(fights: Stand) -> None:
    assert fights.outline == [
        "root",
        "  game",
        "    enemies",
        "    player",
        "    fights",
        "    flow",
    ]

    fights.turn(fights.node("fights"))

    assert fights.outline[4:7] == ["    fights", "      ship", "      star"]


def test_that_members_and_clocks_that_go_leave_the_table(fights: Stand) -> None:
    fights.turn(fights.node("fights"))
    fights.enemies.remove()
    assert fights.scheduler is not None
    fights.scheduler.unschedule_target(fights.ship)

    fights.refresh()

    assert fights.outline == [
        "root",
        "  game",
        "    player",
        "    fights",
        "      star",
        "    flow",
    ]


def test_that_what_has_gone_since_the_last_refresh_says_nothing(stand: Stand) -> None:
    row = stand.row(stand.enemies.id)
    stand.enemies.remove()
    stand.bridge.refresh_now()

    assert stand.panel.make_menu(row).isEmpty()
    assert [cell.text for cell in stand.model.row_cells(row)] == [""] * len(ClockColumn)


@pytest.mark.parametrize("seed", rounds(4))
def test_that_any_sequence_of_changes_ends_in_the_true_tree(
    stand: Stand, qtmodeltester: ModelTester, seed: int
) -> None:
    rng, root = random.Random(seed), stand.session.root
    qtmodeltester.check(stand.model)
    for _ in range(40):
        for _ in range(rng.randint(1, 6)):
            clocks = list(root.walk())
            clock = rng.choice(clocks)
            match rng.randint(0, 3):
                case 0 | 1:
                    clock.child(rng.choice("abc"))
                case 2 if clock is not root:
                    clock.remove()
                case 3 if clock is not root:
                    goal = rng.choice(clocks)
                    if goal not in list(clock.walk()):
                        clock.move_to(goal)
        stand.panel.filter_rows(rng.choice(["", "a", "b"]))
        stand.refresh()

        stand.panel.filter_rows("")

        assert stand.outline == true_outline(root)


def true_outline(clock: Clock, depth: int = 0) -> list[str]:
    lines = ["  " * depth + clock.name]
    for child in clock.children:
        lines += true_outline(child, depth + 1)
    return lines


def test_that_the_filter_shows_matches_below_their_ancestors(fights: Stand, qtbot: QtBot) -> None:
    line = fights.panel.filter_line
    qtbot.keyClicks(line, "twin")

    with qtbot.waitSignal(line.filter_changed):
        qtbot.keyClick(line, Qt.Key.Key_Return)

    assert [text.strip() for text in fights.outline] == [
        "root",
        "game",
        "fights",
        "star",
        "twinkle",
    ]
    assert fights.panel.count_label.text().startswith("1 of ")


def test_that_nothing_is_shown_without_a_session(stand: Stand) -> None:
    stand.bridge.set_session(None)

    assert stand.model.rowCount() == 0
    assert stand.panel.notice.text().startswith("No clocks: ")


# ------------------------------------------------------------------ folding


def test_that_a_click_on_the_sign_folds_and_one_on_the_name_selects(
    stand: Stand, qtbot: QtBot
) -> None:
    view, row = stand.view, stand.row(stand.game.id)
    name = view.visualRect(stand.model.index(row, ClockColumn.NAME))
    sign = view.cells.before(view.cells_of(row)[ClockColumn.NAME])
    place = QPoint(name.left() + sign - 8, name.center().y())

    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    folded = stand.outline
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place + QPoint(20, 0))

    assert folded == stand.outline == ["root", "  game"]
    assert stand.bridge.selection == Selection.clock(stand.game.id)


def test_that_left_folds_and_right_unfolds(stand: Stand, qtbot: QtBot) -> None:
    stand.choose(stand.game.id)

    qtbot.keyClick(stand.view, Qt.Key.Key_Left)
    folded = stand.outline
    qtbot.keyClick(stand.view, Qt.Key.Key_Left)
    qtbot.keyClick(stand.view, Qt.Key.Key_Right)

    assert folded == ["root", "  game"]
    assert stand.outline == ["root", "  game", "    enemies", "    player"]


def test_that_selection_and_folding_survive_a_filter_and_a_reload(stand: Stand) -> None:
    stand.bridge.select(Selection.clock(stand.game.id))
    stand.turn(stand.game.id)

    stand.panel.filter_rows("player")
    stand.panel.filter_rows("")
    stand.bridge.session_changed.emit(stand.session)

    assert stand.outline == ["root", "  game"]
    assert stand.marked == stand.game.id


# ------------------------------------------------------------------ selection


def test_that_a_selection_made_elsewhere_is_marked(stand: Stand) -> None:
    stand.bridge.select(Selection.clock(stand.player.id))

    assert stand.marked == stand.player.id


def test_that_a_selected_timer_marks_its_clock(stand: Stand) -> None:
    timer = stand.player.set_timeout(1, print)
    stand.refresh()

    stand.bridge.select(Selection.timer(timer.id))

    assert stand.marked == stand.player.id
    assert stand.bridge.selection == Selection.timer(timer.id)


def test_that_a_selected_member_is_unfolded_and_marked(fights: Stand) -> None:
    star = fights.node("star")

    fights.bridge.select(Selection.member(star - node_of(0)))

    assert fights.marked == star


def test_that_removing_the_marked_clock_marks_none(stand: Stand, qtbot: QtBot) -> None:
    stand.bridge.select(Selection.clock(stand.enemies.id))
    stand.enemies.remove()

    with qtbot.assertNotEmitted(stand.bridge.selection_changed):
        stand.refresh()

    assert stand.marked == 0


def test_that_taking_the_keyboard_does_not_change_what_is_selected(stand: Stand) -> None:
    stand.bridge.select(Selection.frame(0))

    stand.view.setFocus(Qt.FocusReason.ShortcutFocusReason)

    assert stand.view.hasFocus()
    assert stand.bridge.selection == Selection.frame(0)
    assert stand.marked == 0


# ------------------------------------------------------------------ commands


def test_that_enter_pauses_and_resumes_what_is_marked(fights: Stand, qtbot: QtBot) -> None:
    fights.choose(fights.enemies.id)

    qtbot.keyClick(fights.view, Qt.Key.Key_Return)
    fights.enemies.pause(cause=1)
    fights.refresh()
    qtbot.keyClick(fights.view, Qt.Key.Key_Return)
    fights.turn(fights.node("fights"))
    fights.choose(fights.node("star"))
    qtbot.keyClick(fights.view, Qt.Key.Key_Return)

    assert fights.session.submitted == [
        PauseClock(fights.enemies.id),
        ResumeClock(fights.enemies.id),
        PauseMember(fights.node("star") - node_of(0)),
    ]


def test_that_f2_asks_for_a_rate(stand: Stand, qtbot: QtBot) -> None:
    stand.choose(stand.enemies.id)

    with qtbot.waitSignal(stand.bridge.action_wanted) as wanted:
        qtbot.keyClick(stand.view, Qt.Key.Key_F2)

    assert (wanted.args, stand.bridge.selection) == (
        ["set-rate"],
        Selection.clock(stand.enemies.id),
    )


def test_that_the_menu_pauses_scales_copies_and_folds(stand: Stand) -> None:
    menu = stand.menu(stand.enemies.id)

    assert texts(menu) == [
        "Pause enemies",
        "Pause sibling player",
        "Rate (now ×1)",
        "Copy row",
        "Copy table",
        "Copy path",
    ]
    trigger(menu, "Pause sibling player")
    rates = next(action.menu() for action in menu.actions() if action.text().startswith("Rate"))
    assert isinstance(rates, QMenu)
    assert texts(rates) == ["¼", "½", "1", "2", "4", "Other …"]
    trigger(rates, "¼")
    trigger(menu, "Copy path")
    assert stand.session.submitted == [
        PauseClock(stand.player.id),
        SetRate(stand.enemies.id, Fraction(1, 4)),
    ]
    assert QGuiApplication.clipboard().text() == "root / game / enemies"
    trigger(stand.menu(stand.game.id), "Collapse")
    assert stand.outline == ["root", "  game"]
    assert texts(stand.menu(stand.game.id))[-1] == "Expand"


def test_that_what_a_session_cannot_do_is_not_offered(stand: Stand) -> None:
    stand.session.capabilities = frozenset({Capability.STEP})
    stand.bridge.refresh_now()

    assert not stand.menu(stand.enemies.id).actions()[0].isEnabled()


def test_that_the_copy_key_copies_the_whole_row(stand: Stand, qtbot: QtBot) -> None:
    stand.bridge.select(Selection.clock(stand.enemies.id))

    qtbot.keySequence(stand.view, "Ctrl+C")

    assert QGuiApplication.clipboard().text() == "enemies\t00:00.000\t1\trunning\t1\t\t"
