"""Whatever people do on lanes, in whatever order, nothing breaks and the panels stay painted."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from PySide6.QtCore import QCoreApplication, QPointF, Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from inspector.analysis.lanes.lanes import LaneKind
from inspector.clocks import Clock
from inspector.events.log import BYTES_PER_EVENT
from inspector.vocabulary import MARK, MemberKind
from tests.fuzz import rounds
from tests.ui.members_world import MS, MembersSession
from ui.frame_spans.panel import FrameSpansPanel
from ui.kit.theme import Theme
from ui.machines.panel import StateMachinesPanel
from ui.session.bridge import Selection, SessionBridge
from ui.timeline.panel import TimelinePanel

KEYS = [Qt.Key(ord(letter)) for letter in "WSADFCT[]"] + [
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
    Qt.Key.Key_Return,
    Qt.Key.Key_Escape,
]


def _nothing() -> None: ...


class Player:
    """Does random things to a session and to the panels that show it."""

    def __init__(self, qtbot: QtBot, bridge: SessionBridge, seed: int) -> None:
        self.qtbot, self.bridge = qtbot, bridge
        self.chance = random.Random(seed)
        theme = Theme("light")
        self.timeline = TimelinePanel(bridge, theme)
        self.machines = StateMachinesPanel(bridge, theme)
        self.frame = FrameSpansPanel(bridge, theme)
        self.panels: tuple[QWidget, ...] = (self.timeline, self.machines, self.frame)
        for panel in self.panels:
            qtbot.addWidget(panel)
            panel.resize(700, 300)
            panel.show()
        self.new_session()
        self.steps: list[Callable[[], None]] = [
            self.let_frames_pass,
            self.let_frames_pass,
            self.change_a_clock,
            self.set_a_timer,
            self.enter_a_state,
            self.leave_a_mark,
            self.select_something,
            self.press_a_key,
            self.press_a_key,
            self.click_somewhere,
            self.point_somewhere,
            self.zoom_and_measure,
            self.choose_rows,
            self.move_the_playhead,
            self.let_events_fall_off,
            self.resize,
        ]

    def new_session(self) -> None:
        self.session = session = MembersSession()
        self.clocks: list[Clock] = [session.root]
        session.machine(1, "hero", "idle", {"walk": ("idle", "walking"), "reset": ("*", "idle")})
        session.member(2, "boss", MemberKind.UPDATE)
        self.bridge.set_session(session)

    def step(self) -> None:
        if self.chance.random() < 0.02:
            self.new_session()
        self.chance.choice(self.steps)()
        if self.chance.random() < 0.5:
            self.bridge.refresh_now()
            for panel in (self.timeline, self.machines, self.frame):
                panel.refresh()

    def let_frames_pass(self) -> None:
        session = self.session
        for _ in range(self.chance.choice((1, 5, 40))):
            session.run_to_ms(session.tree.now_ns / MS + 16)
            session.frame_of((2, self.chance.randrange(MS), self.chance.randrange(2 * MS)))

    def change_a_clock(self) -> None:
        clock = self.chance.choice(self.clocks)
        match self.chance.randrange(6):
            case 0:
                clock.pause()
            case 1:
                clock.resume()
            case 2:
                clock.rate = self.chance.choice((0, 0.25, 1, 3))
            case 3 if len(self.clocks) < 12:
                self.clocks.append(clock.child(f"clock {len(self.clocks)}"))
            case 4 if clock is not self.session.root:
                clock.remove()
                self.clocks = [each for each in self.clocks if not each.is_removed]
            case _:
                pass

    def set_a_timer(self) -> None:
        clock, name = self.chance.choice(self.clocks), self.chance.choice(("a", "b", "c"))
        if self.chance.random() < 0.5:
            clock.set_timeout(self.chance.random() / 10, _nothing, name=name)
        else:
            clock.set_interval(self.chance.choice((0.003, 0.1)), _nothing, name=name)

    def enter_a_state(self) -> None:
        if self.chance.random() < 0.3:
            self.session.refuse(1, "walk", "no")
        else:
            self.session.enter(1, self.chance.choice(("idle", "walking", "hurt")), "walk")

    def leave_a_mark(self) -> None:
        log = self.session.log
        log.append((self.session.tree.now_ns, MARK, 0, log.intern("mark"), 0))

    def select_something(self) -> None:
        number = self.chance.randrange(6)
        kinds = (Selection.clock, Selection.timer, Selection.frame, Selection.member)
        self.bridge.select(self.chance.choice(kinds)(number))

    def press_a_key(self) -> None:
        target = self.chance.choice((self.timeline.canvas, self.machines.diagram, self.frame.flame))
        self.qtbot.keyClick(target, self.chance.choice(KEYS))

    def click_somewhere(self) -> None:
        canvas = self.timeline.canvas
        canvas.gestures.click(self.place_in(canvas))
        if self.chance.random() < 0.3:
            self.qtbot.mouseClick(
                self.frame.flame,
                Qt.MouseButton.LeftButton,
                pos=self.place_in(self.frame.flame).toPoint(),
            )

    def point_somewhere(self) -> None:
        canvas = self.timeline.canvas
        canvas.point_at(self.place_in(canvas) if self.chance.random() < 0.8 else None)

    def zoom_and_measure(self) -> None:
        canvas = self.timeline.canvas
        canvas.view.zoom(self.chance.choice((0.01, 0.5, 2, 100)))
        if self.chance.random() < 0.5:
            canvas.view.choose_ns(
                self.chance.uniform(-1, 3) * 1e9, self.chance.uniform(-1, 3) * 1e9
            )

    def choose_rows(self) -> None:
        canvas = self.timeline.canvas
        match self.chance.randrange(4):
            case 0:
                canvas.choose_words(self.chance.choice(("", "", "a", "clock", "nothing")))
            case 1:
                kind = self.chance.choice(list(LaneKind))
                canvas.choose_kind(kind, is_shown=self.chance.random() < 0.7)
            case 2:
                canvas.gestures.fold_all(is_folded=self.chance.random() < 0.3)
            case _:
                known = [number for number, _ in self.timeline.choices.clocks] or [0]
                self.timeline.choose_ruler(self.chance.choice(known))

    def move_the_playhead(self) -> None:
        at_ns = self.chance.randrange(self.session.tree.now_ns + 2)
        self.bridge.set_playhead(at_ns if self.chance.random() < 0.6 else None)
        QCoreApplication.processEvents()

    def let_events_fall_off(self) -> None:
        self.session.fold()
        self.session.log.budget_bytes = BYTES_PER_EVENT * self.chance.choice((50, 400, 4_000))
        self.session.log.settle()

    def resize(self) -> None:
        panel = self.chance.choice(self.panels)
        panel.resize(self.chance.choice((200, 500, 1_000)), self.chance.choice((120, 300, 600)))

    def place_in(self, widget: QWidget) -> QPointF:
        x = self.chance.uniform(0, widget.width())
        return QPointF(x, self.chance.uniform(0, widget.height()))


@pytest.mark.parametrize("seed", rounds(6))
def test_that_nothing_breaks_whatever_is_done(
    qtbot: QtBot, bridge: SessionBridge, seed: int
) -> None:
    player = Player(qtbot, bridge, seed)
    for number in range(150):
        player.step()
        if number % 10 == 0:
            for panel in player.panels:
                assert not panel.grab().isNull()
