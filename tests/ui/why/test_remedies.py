"""The buttons of what is selected: what ends its pauses, what leads to its next call."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.command import Capability
from inspector.commands.members import ResumeMember
from inspector.commands.scene import AddMark
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.testing import pass_seconds, scene_file, virtual_session
from inspector.tokens import COLORS
from tests.ui.world import PlayedSession, Thing
from ui.kit.style import FlatStyle
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SessionBridge
from ui.why.panel import WhyPanel

SCENE = """
    def build(stage):
        game = stage.root.child("game")
        enemies = game.child("enemies")
        enemies.set_timeout(10, lambda: None, name="boss")
"""
GAME, ENEMIES = 2, 3
BOSS = Selection.timer(1)


def shown_buttons(panel: WhyPanel) -> list[QToolButton]:
    return [each for each in panel.remedies.buttons if each.isVisible()]


class Stand:
    """The panel over a hosted scene."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.session = virtual_session(scene_file(folder, SCENE))
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        self.panel = WhyPanel(self.bridge, Theme("light"))
        qtbot.addWidget(self.panel)
        self.panel.resize(360, 500)
        with qtbot.waitExposed(self.panel):
            self.panel.show()

    def run(self, seconds: float = 0.1) -> None:
        pass_seconds(self.session, seconds)
        self.look()

    def look(self) -> None:
        self.bridge.refresh_now()
        self.panel.refresh()

    @property
    def texts(self) -> list[str]:
        return [each.text() for each in shown_buttons(self.panel)]

    def click(self, text: str) -> None:
        (button,) = (each for each in shown_buttons(self.panel) if each.text() == text)
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)


@pytest.fixture
def stand(qtbot: QtBot, tmp_path: Path) -> Stand:
    stand = Stand(qtbot, tmp_path)
    stand.run(1)
    return stand


@pytest.fixture
def waiting(stand: Stand) -> Stand:
    """Return the panel with a timer selected whose clock you have paused."""
    stand.bridge.select(BOSS)
    stand.session.submit(PauseClock(ENEMIES))
    stand.run()
    return stand


def test_that_nothing_is_offered_for_a_clock_that_runs(stand: Stand) -> None:
    stand.bridge.select(Selection.clock(GAME))

    assert stand.texts == []
    assert stand.panel.remedies.isHidden()


def test_that_time_is_stepped_to_the_call_of_a_timer(stand: Stand) -> None:
    stand.bridge.select(BOSS)
    assert stand.texts == ["Step to it", "Stop there"]

    stand.click("Step to it")
    stand.run(20)

    assert stand.session.timeline.at_ns == 10_000_000_000
    assert 1 not in stand.session.timeline.timers


def test_that_a_scene_stops_when_a_timer_fires_until_that_is_taken_back(stand: Stand) -> None:
    stand.bridge.select(BOSS)

    stand.click("Stop there")
    stand.run()

    assert stand.session.breakpoints is not None
    (placed,) = stand.session.breakpoints.items()
    assert placed[1] == Breakpoint(BreakKind.TIMER_FIRES, "boss")
    assert stand.texts == ["Step to it", "Do not stop there"]
    stand.click("Do not stop there")
    stand.run()
    assert not stand.session.breakpoints.items()
    assert stand.texts == ["Step to it", "Stop there"]


@pytest.mark.parametrize("selection", [BOSS, Selection.clock(ENEMIES)])
def test_that_a_pause_that_the_selection_waits_for_can_be_ended(
    stand: Stand, selection: Selection
) -> None:
    stand.session.submit(PauseClock(GAME))
    stand.run()
    stand.bridge.select(selection)
    assert stand.texts == ["Resume game"]

    stand.click("Resume game")
    stand.run()

    assert stand.bridge.timeline.commands[-1].text == "resume “game”"
    assert "Resume game" not in stand.texts


def test_that_a_rate_of_0_is_undone_but_not_resumed(stand: Stand) -> None:
    stand.bridge.select(BOSS)
    stand.session.submit(SetRate(ENEMIES, Fraction(0)))
    stand.run()

    assert stand.texts == ["Undo"]
    stand.click("Undo")
    stand.run()
    assert (
        stand.bridge.timeline.commands[-1].text == "undo command 1: set the rate of “enemies” to 0"
    )


def test_that_each_of_several_pauses_can_be_ended_the_nearest_first(waiting: Stand) -> None:
    waiting.session.submit(PauseClock(GAME))
    waiting.run()

    assert waiting.texts == ["Resume enemies", "Resume game"]


def test_that_a_second_click_asks_for_nothing_before_there_is_an_answer(
    waiting: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    answer = waiting.session.submit
    monkeypatch.setattr(waiting.session, "submit", asked.append)

    for _ in range(2):
        waiting.click("Resume enemies")
    assert asked == [ResumeClock(ENEMIES)]

    answer(AddMark("x"))
    waiting.run()
    waiting.click("Resume enemies")
    assert asked[1:] == [ResumeClock(ENEMIES)]


def test_that_looking_back_offers_the_ways_from_there_whatever_is_selected(
    waiting: Stand,
) -> None:
    waiting.bridge.set_playhead(1_050_000_000)
    waiting.panel.refresh()
    assert waiting.texts == ["Rewind to here", "Back to the present"]
    assert waiting.panel.about.said.startswith("Looking back · Timer · ")

    waiting.bridge.go_live()
    waiting.panel.refresh()
    assert waiting.texts == ["Resume enemies"]


def test_that_the_keyboard_ends_a_pause_and_stays_in_the_panel(waiting: Stand) -> None:
    waiting.bridge.select(Selection.clock(ENEMIES))
    waiting.panel.activateWindow()
    assert QTest.qWaitForWindowActive(waiting.panel)
    waiting.panel.setFocus()
    for _ in range(40):
        focus = QApplication.focusWidget() or waiting.panel
        if focus is waiting.panel.remedies.buttons[0]:
            break
        QTest.keyClick(focus, Qt.Key.Key_Tab)
    assert focus is waiting.panel.remedies.buttons[0]

    QTest.keyClick(focus, Qt.Key.Key_Space)
    waiting.run()

    assert not waiting.bridge.timeline.clocks[ENEMIES].paused
    after = QApplication.focusWidget()
    assert after is not None
    assert after is not focus
    assert waiting.panel.isAncestorOf(after)


def test_that_screen_readers_are_told_what_is_undone(stand: Stand) -> None:
    stand.bridge.select(BOSS)
    stand.session.submit(SetRate(ENEMIES, Fraction(0)))
    stand.run()

    (undo,) = shown_buttons(stand.panel)

    assert undo.accessibleName() == "Undo: set the rate of enemies to 0 (Ctrl+Z)"


@pytest.mark.parametrize(("width", "rows"), [(300, 2), (500, 1)])
def test_that_no_button_is_cut_with_large_letters_or_little_room(
    waiting: Stand, width: int, rows: int
) -> None:
    waiting.session.submit(PauseClock(GAME))
    waiting.run()
    font = QFont(waiting.panel.font())
    font.setPointSizeF(1.5 * font.pointSizeF())

    waiting.panel.setFont(font)
    waiting.panel.resize(width, 500)
    QApplication.processEvents()

    bar, buttons = waiting.panel.remedies, shown_buttons(waiting.panel)
    assert len({button.y() for button in buttons}) == rows
    assert all(button.width() >= button.sizeHint().width() for button in buttons)
    assert all(bar.rect().contains(button.geometry()) for button in buttons)
    assert waiting.panel.rect().contains(bar.geometry())


class Played:
    """The panel over a session that answers as a test wants."""

    def __init__(self, qtbot: QtBot) -> None:
        self.session = PlayedSession()
        self.game = self.session.root.child("R&D")
        self.bridge = SessionBridge()
        self.bridge.set_session(self.session)
        self.panel = WhyPanel(self.bridge, Theme("light"))
        qtbot.addWidget(self.panel)
        with qtbot.waitExposed(self.panel):
            self.panel.show()

    def look(self) -> None:
        self.session.run_to_ms(10)
        self.bridge.refresh_now()
        self.panel.refresh()


@pytest.fixture
def played(qtbot: QtBot) -> Played:
    return Played(qtbot)


def test_that_a_pause_by_the_program_can_be_ended_too(played: Played) -> None:
    played.game.pause()
    played.bridge.select(Selection.clock(played.game.id))
    played.look()

    (button,) = shown_buttons(played.panel)
    assert button.text() == "Resume R&&D"
    assert button.accessibleName() == "Resume R&D"


def test_that_a_session_without_that_capability_says_why(played: Played) -> None:
    played.session.capabilities = frozenset(Capability) - {Capability.PAUSE}
    played.game.pause()
    played.bridge.select(Selection.clock(played.game.id))
    played.look()

    (button,) = shown_buttons(played.panel)
    assert not button.isEnabled()
    assert button.accessibleDescription() == "Unavailable: not possible in this session."
    assert "Unavailable: not possible in this session." in button.toolTip()


def test_that_nothing_is_offered_in_a_recording(played: Played) -> None:
    played.session.is_recorded = True
    played.game.pause()
    played.bridge.select(Selection.clock(played.game.id))
    played.look()

    assert played.panel.remedies.isHidden()


def test_that_the_pause_of_a_target_can_be_ended(played: Played) -> None:
    hero = Thing("hero")
    scheduler = Scheduler(played.game, name="fights")
    scheduler.schedule(hero.tick, 1)
    scheduler.pause_target(hero)
    played.look()
    members = played.session.timeline.members.by_id.values()
    target = next(each for each in members if each.name == "hero")
    played.bridge.select(Selection.member(target.children[0]))
    played.look()

    (button,) = shown_buttons(played.panel)
    assert button.text() == "Resume target hero"
    button.click()
    assert played.session.submitted == [ResumeMember(target.id)]


def test_that_nothing_is_worked_out_again_while_nothing_changes(
    waiting: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[object] = []
    monkeypatch.setattr(type(waiting.panel.remedies), "_refresh_remedies", shown.append)

    for _ in range(3):
        waiting.run()

    assert shown == []


def test_that_a_look_back_says_when_and_leads_back_to_the_present(stand: Stand) -> None:
    stand.run(2)
    stand.bridge.set_playhead(500_000_000)
    stand.look()
    assert stand.panel.text().split("\n")[:2] == ["Looking back", "0:00.500"]
    assert "The scene runs on. What you see is the state at this instant." in stand.panel.text()
    assert stand.texts == ["Rewind to here", "Back to the present"]

    stand.click("Back to the present")
    stand.look()

    assert stand.bridge.playhead_ns is None
    assert stand.texts == []
    assert "Looking back" not in stand.panel.text()


def test_that_a_scene_is_rewound_to_where_you_look(stand: Stand) -> None:
    stand.run(2)
    stand.bridge.set_playhead(500_000_000)
    stand.look()

    stand.click("Rewind to here")
    pass_seconds(stand.session, 0.05)
    stand.look()

    assert stand.session.timeline.at_ns < 1_000_000_000


def test_that_the_first_button_is_outlined(waiting: Stand) -> None:
    QApplication.setStyle(FlatStyle(Theme("light")))
    first, second = waiting.panel.remedies.buttons

    def edge_of(button: QToolButton) -> str:
        return button.grab().toImage().pixelColor(button.width() // 2, 0).name()

    assert edge_of(first) == COLORS["light"]["edge"]
    assert edge_of(second) != COLORS["light"]["edge"]
    assert first.font().weight() > second.font().weight()
