"""The transport bar shows what the session says, and asks for what the user wants."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import SetRate
from inspector.sessions.session import SessionPhase, SessionStatus
from tests.ui.world import PlayedSession
from ui.actions.actions import ActionSet
from ui.kit.theme import ColorRole, Theme
from ui.session.bridge import SessionBridge
from ui.transport.frame_rate import (
    frame_rate_to_text,
    measured_frame_rate,
    parse_frame_rate,
)
from ui.transport.transport_bar import HeldButton, TransportBar
from ui.window.handlers.action_list import ACTIONS


class Bar:
    """A transport bar on a session that a test plays."""

    def __init__(self, qtbot: QtBot) -> None:
        self.owner = QObject()
        self.theme = Theme("light")
        self.bridge = SessionBridge()
        self.session = PlayedSession()
        self.actions = ActionSet(self.owner, ACTIONS)
        self.bar = TransportBar(self.actions, self.theme)
        self.actions.set_icons(self.theme)
        qtbot.addWidget(self.bar)
        self.bar.connect_bridge(self.bridge)
        self.bridge.set_session(self.session)
        self.bar.show()

    def look(self) -> None:
        self.bridge.refresh_now()
        self.bar.refresh_numbers()


@pytest.fixture
def played(qtbot: QtBot) -> Iterator[Bar]:
    bar = Bar(qtbot)
    yield bar
    bar.bridge.close()


def test_that_without_a_session_nothing_can_be_changed(played: Bar) -> None:
    played.bridge.set_session(None)

    assert not played.bar.rates.isEnabled()
    assert played.bar.time_button.isHidden()
    assert played.bar.record_button.isHidden()


def test_that_time_and_rates_are_those_of_the_session(played: Bar) -> None:
    played.session.root.rate = Fraction(1, 4)
    played.session.frame_rate = Fraction(60_000, 1_001)
    played.session.run_to_ms(1_500)
    played.look()

    assert played.bar.time_button.text() == "00:01.500"
    assert played.bar.rates.rate == Fraction(1, 4)
    assert [rate for rate, each in played.bar.rates.buttons.items() if each.isChecked()] == [
        Fraction(1, 4)
    ]


def test_that_the_measured_frame_rate_is_shown_while_it_runs(played: Bar) -> None:
    played.session.status = SessionStatus(SessionPhase.RUNNING, "Played is running.")
    for _ in range(70):
        played.session.run_frame()
    played.look()

    assert played.bar.fps_button.text() == "60 fps"
    assert "Target 60 fps" in played.bar.fps_button.toolTip()


def test_that_a_rate_is_one_click_away_and_shown_once_it_is_granted(
    qtbot: QtBot, played: Bar
) -> None:
    quarter, normal = (played.bar.rates.buttons[Fraction(each)] for each in ("1/4", "1"))
    played.look()

    qtbot.mouseClick(quarter, Qt.MouseButton.LeftButton)
    assert played.session.submitted == [SetRate(played.session.root.id, Fraction(1, 4))]
    assert (quarter.isChecked(), normal.isChecked()) == (False, True)

    played.session.root.rate = Fraction(1, 4)
    played.session.run_to_ms(10)
    played.look()
    assert (quarter.isChecked(), normal.isChecked()) == (True, False)


def press(played: Bar, qtbot: QtBot, rate: str) -> None:
    qtbot.mouseClick(played.bar.rates.buttons[Fraction(rate)], Qt.MouseButton.LeftButton)


def test_that_another_rate_stands_in_the_nearest_cell(qtbot: QtBot, played: Bar) -> None:
    played.session.root.rate = Fraction(1, 3)
    played.session.run_to_ms(10)
    played.look()

    cells = {str(rate): each for rate, each in played.bar.rates.buttons.items()}
    assert [each.text() for each in cells.values()] == ["1/3", "½", "1", "2", "4"]
    assert [rate for rate, each in cells.items() if each.isChecked()] == ["1/4"]
    assert cells["1/4"].font().bold()
    with qtbot.waitSignal(played.bar.rates.other_rate_wanted):
        press(played, qtbot, "1/4")
    press(played, qtbot, "2")
    assert played.session.submitted == [SetRate(played.session.root.id, Fraction(2))]


def test_that_a_double_click_on_a_cell_asks_for_any_rate(qtbot: QtBot, played: Bar) -> None:
    with qtbot.waitSignal(played.bar.rates.other_rate_wanted):
        qtbot.mouseDClick(played.bar.rates.buttons[Fraction(1)], Qt.MouseButton.LeftButton)

    assert played.session.submitted == []


@pytest.mark.parametrize("pixels", [13, 20, 26])
def test_that_the_row_never_wraps_and_loses_words_first(played: Bar, pixels: int) -> None:
    bar, scale = played.bar, pixels / 13
    font = bar.font()
    font.setPixelSize(pixels)
    bar.setFont(font)
    icons = Qt.ToolButtonStyle.ToolButtonIconOnly

    shown = {}
    for width in (720, 960, 1100, 1280):
        bar.resize(ceil(width * scale), bar.height())
        QApplication.processEvents()
        assert bar.height() == round(40 * scale)
        layout = bar.layout()
        assert layout is not None
        assert layout.minimumSize().width() <= bar.width()
        has_words = bar.record_button.toolButtonStyle() is not icons
        shown[width] = has_words, bar.find_button.width() > 100 * scale

    assert shown == {
        720: (False, False),
        960: (True, False),
        1100: (True, True),
        1280: (True, True),
    }


def test_that_nothing_moves_when_a_button_says_something_else(played: Bar) -> None:
    bar = played.bar
    bar.resize(1280, bar.height())
    QApplication.processEvents()
    run = played.actions["run-or-hold"]
    run.set_text("&Run")
    QApplication.processEvents()
    before = bar.time_button.geometry(), bar.rates.geometry(), bar.record_button.geometry()

    run.set_text("&Hold")
    played.actions["record"].setIconText("00:12.4")
    QApplication.processEvents()

    after = bar.time_button.geometry(), bar.rates.geometry(), bar.record_button.geometry()
    assert after == before


def step_button(played: Bar) -> HeldButton:
    found = (
        each
        for each in played.bar.findChildren(HeldButton)
        if each.defaultAction() is played.actions["step"]
    )
    return next(found)


def test_that_the_tool_tip_of_a_step_says_in_lines_what_more_it_does(played: Bar) -> None:
    button = step_button(played)
    button.show()
    QApplication.sendEvent(button, QHelpEvent(QEvent.Type.ToolTip, QPoint(5, 5), QPoint(5, 5)))
    assert QToolTip.text().splitlines()[-1].startswith("Step n frames (Shift+.)")
    assert "<" not in QToolTip.text()


def test_that_a_right_click_or_a_long_press_is_no_step(qtbot: QtBot, played: Bar) -> None:
    played.actions["step"].setEnabled(True)
    button = step_button(played)
    done: list[str] = []
    played.actions["step"].triggered.connect(lambda: done.append("step"))
    button.held.connect(lambda: done.append("held"))

    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, QPoint(5, 5), QPoint(5, 5))
    QApplication.sendEvent(button, event)
    assert done == ["held"]

    qtbot.mousePress(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: done == ["held", "held"])
    qtbot.mouseRelease(button, Qt.MouseButton.LeftButton)
    assert done == ["held", "held"]

    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert done == ["held", "held", "step"]


def test_that_it_is_said_beside_the_time_that_it_stands_still(played: Bar) -> None:
    played.look()
    assert played.bar.fps_button.text() == "held"

    played.session.run_to_ms(1_500)
    played.bridge.refresh_now()
    played.bridge.set_playhead(1_000_000_000)
    played.bar.refresh_numbers()
    assert played.bar.time_button.text() == "00:01.000"
    assert played.bar.time_button.role is ColorRole.BLUE
    assert played.bar.fps_button.text() == "looking back"


def test_that_of_a_file_there_is_no_rate_and_no_recording(played: Bar) -> None:
    session = PlayedSession()
    session.is_recorded = True

    played.bridge.set_session(session)

    assert played.bar.rates.isHidden()
    assert played.bar.record_button.isHidden()
    played.bridge.set_session(PlayedSession())
    assert not played.bar.rates.isHidden()


@pytest.mark.parametrize(
    ("length_ns", "pixels", "text"),
    [
        (2_345_678, 1600, "00:00.002345"),
        (99_999_999, 1600, "00:00.099999"),
        (100_000_000, 1600, "00:00.100"),
        (2_345_678, 300, "00:00.002"),
    ],
)
def test_that_instants_of_a_short_file_have_microseconds_where_there_is_room(
    played: Bar, length_ns: int, pixels: int, text: str
) -> None:
    session = PlayedSession()
    session.is_recorded = True
    session.run_to_ms(length_ns / 1e6)
    played.bar.setFixedWidth(pixels)

    played.bridge.set_session(session)
    played.look()
    played.bridge.set_playhead(length_ns)
    played.bar.refresh_numbers()

    assert played.bar.time_button.text() == text
    assert played.bar.fps_button.text() == f"of {text}"


@pytest.mark.parametrize(
    "text", ["0", "-60", "1e9", "sixty", "1/0", "nan", "1e999999999", "9" * 5_000]
)
def test_that_no_frame_rate_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(ValueError, match="frame rate"):
        parse_frame_rate(text)


@pytest.mark.parametrize(
    ("text", "rate"),
    [("60", 60), ("60 fps", 60), ("144Hz", 144), ("60000/1001", Fraction(60_000, 1_001))],
)
def test_that_frame_rates_are_read_as_people_write_them(text: str, rate: Fraction) -> None:
    assert parse_frame_rate(text) == rate
    assert parse_frame_rate(frame_rate_to_text(Fraction(rate))) == rate


def test_that_the_measured_rate_is_of_source_time() -> None:
    session = PlayedSession()
    assert measured_frame_rate(session.timeline) is None

    for _ in range(10):
        session.run_frame()
    session.fold()

    assert measured_frame_rate(session.timeline) == pytest.approx(60, abs=0.01)
