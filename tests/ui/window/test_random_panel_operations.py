"""Any sequence of operations leaves every panel showing what the timeline says."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from inspector.clocks import Clock
from inspector.engines.egret.ticker import Ticker
from inspector.events.schema import EventGroup
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.frames.state_machine import Edge, StateMachine
from inspector.vocabulary import MARK
from tests.fuzz import rounds
from tests.ui.events.kinds import choose_kinds
from tests.ui.world import PlayedSession, Thing
from ui.clock_tree.panel import ClockTreePanel, is_member, node_of
from ui.events.panel import EventListPanel
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SessionBridge
from ui.timer_queue.columns import CallColumn
from ui.timer_queue.panel import TimerQueuePanel
from ui.why.panel import WhyPanel


class Desk:
    """All four panels over one session, and dice."""

    def __init__(self, qtbot: QtBot, seed: int) -> None:
        self.dice = random.Random(seed)
        self.session = PlayedSession()
        self.schedulers: list[Scheduler] = []
        self.things: list[Thing] = []
        self.others: list[object] = []
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        theme = Theme("light")
        self.clocks = ClockTreePanel(self.bridge, theme)
        self.queue = TimerQueuePanel(self.bridge, theme)
        self.details = WhyPanel(self.bridge, theme)
        self.events = EventListPanel(self.bridge, theme)
        self.panels: tuple[QWidget, ...] = (self.clocks, self.queue, self.details, self.events)
        for panel in self.panels:
            qtbot.addWidget(panel)
            panel.resize(700, 300)
            panel.show()

    def any_clock(self) -> Clock:
        return self.dice.choice(list(self.session.root.walk()))

    def change_the_scene(self) -> None:  # noqa: C901 - one case an operation
        """Do something that a program or a command does."""
        dice, session, clock = self.dice, self.session, self.any_clock()
        match dice.randrange(10):
            case 0 | 1:
                clock.child(dice.choice(("game", "enemies", "ui")), rate=dice.choice((0, 1, "1/3")))
            case 2:
                for _ in range(dice.randrange(20)):
                    clock.set_timeout(dice.random() * 3, print)
            case 3:
                clock.set_interval(0.05 + dice.random(), session.run_frame, name="tick")
            case 4:
                clock.pause(cause=dice.randrange(2))
            case 5:
                clock.resume()
            case 6:
                clock.rate = dice.choice((0, "1/2", 3))
            case 7 if clock is not session.root and dice.random() < 0.3:
                clock.remove()
            case 8 if clock is not session.root:
                goal = self.any_clock()
                if goal not in list(clock.walk()):
                    clock.move_to(goal)
            case 9 if clock.pending_count:
                clock.clear(dice.choice(clock.pending()))
            case _:
                session.log.append((session.tree.now_ns, MARK, clock.id, 0, 0))

    def change_members(self) -> None:
        """Do something with schedulers, a ticker or a machine, as a program does."""
        dice = self.dice
        if not self.schedulers or dice.random() < 0.1:
            self._add_members()
        scheduler = dice.choice(self.schedulers)
        if not self.things or dice.random() < 0.3:
            self.things.append(Thing(dice.choice(("boss", "ship", "a & b", ""))))
        thing = dice.choice(self.things)
        match dice.randrange(9):
            case 0:
                scheduler.schedule_update(thing, dice.randrange(-2, 3))
            case 1:
                interval = dice.choice((0, 0.1, 0.7))
                repeat = dice.choice((None, 1))
                scheduler.schedule(thing.tick, interval, target=thing, repeat=repeat)
            case 2:
                scheduler.pause_target(thing)
            case 3:
                scheduler.resume_target(thing)
            case 4:
                scheduler.unschedule_target(thing)
            case 5:
                scheduler.time_scale = dice.choice((0, 0.5, 1))
            case 6 if scheduler.clock is not None and scheduler.clock.is_removed:
                self.schedulers.remove(scheduler)
            case _:
                scheduler.run_frame()

    def _add_members(self) -> None:
        clock = self.any_clock()
        self.schedulers.append(Scheduler(clock, name="fights"))
        machine = StateMachine("a", {"go": Edge("a", "b"), "back": Edge("b", "a")}, clock=clock)
        ticker = Ticker(clock=clock, name="display")
        ticker.set_interval(lambda: None, 100)
        self.others += [machine, ticker]

    def any_member(self) -> int:
        return self.dice.choice([*self.session.timeline.members.by_id, 999])

    def use_the_window(self) -> None:  # noqa: C901 - one case an operation
        """Do something that a user does."""
        dice, timeline = self.dice, self.session.timeline
        match dice.randrange(12):
            case 0:
                self.bridge.select(Selection.clock(dice.choice([*timeline.clocks, 999])))
            case 1:
                self.bridge.select(Selection.timer(dice.choice([*timeline.timers.ids(), 999])))
            case 2:
                self.bridge.select(Selection.frame(dice.randrange(-1, self.session.frames_run + 2)))
            case 3:
                line = dice.choice((self.clocks, self.queue, self.events)).filter_line
                line.setText(dice.choice(("", "", "e", "game", "tick 0", "nothing")))
                line.apply_now()
            case 4:
                order = dice.choice(list(Qt.SortOrder))
                self.queue.view.sortByColumn(dice.randrange(-1, len(CallColumn)), order)
            case 5:
                self.queue.branch_button.click()
            case 6:
                button = dice.choice((self.events.subject_button, self.events.follow_button))
                button.click()
            case 7:
                choose_kinds(self.events, frozenset(dice.sample(list(EventGroup), 3)))
            case 8 | 9:
                self.bridge.select(Selection.member(self.any_member()))
            case 10:
                dice.choice(list(self.queue.group_buttons.values())).click()
            case _:
                nodes = [self.any_clock().id, node_of(self.any_member())]
                row = self.clocks.model.row_of(dice.choice(nodes))
                if row is not None:
                    self.clocks.activate(self.clocks.model.index(row, 0))

    def refresh(self) -> None:
        self.bridge.refresh_now()
        for panel in (self.clocks, self.queue, self.details, self.events):
            panel.refresh()
        QCoreApplication.processEvents()


@pytest.mark.parametrize("seed", rounds(2))
def test_that_panels_keep_up_with_anything(qtbot: QtBot, seed: int) -> None:
    desk = Desk(qtbot, seed)
    session, timeline = desk.session, desk.session.timeline
    for _ in range(150):
        for _ in range(desk.dice.randrange(4)):
            desk.dice.choice((desk.change_the_scene, desk.change_members))()
        session.tree.run_to(session.tree.now_ns + desk.dice.randrange(200_000_000))
        desk.use_the_window()
        desk.refresh()
        if not desk.clocks.filter_line.filter_text:
            rows = desk.clocks.model.rows
            shown = [row for row in rows if not is_member(row.node)]
            if all(row.is_open is not False for row in shown):
                assert [row.node for row in shown] == timeline.branch(1)
        counts = desk.queue.model.counts
        assert counts.total == desk.queue.queue.total()
        assert counts.passing == desk.queue.model.rowCount()
        numbers = [*timeline.members.by_id, 999]
        for make_menu, ids in (
            (desk.clocks.make_menu, [-1, *range(len(desk.clocks.model.rows) + 1)]),
            (desk.queue.make_call_menu, [0, *timeline.timers.ids(), *(-each for each in numbers)]),
        ):
            make_menu(desk.dice.choice(ids)).deleteLater()
