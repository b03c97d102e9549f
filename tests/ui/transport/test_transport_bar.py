"""The transport bar shows what the session says, and asks for what the user wants."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import SetRate
from inspector.sessions.session import SessionPhase, SessionStatus
from tests.ui.world import PlayedSession
from ui.actions.actions import ActionSet
from ui.kit.theme import Theme
from ui.session.bridge import SessionBridge
from ui.transport.frame_rate import (
    FrameRatePrompt,
    frame_rate_to_text,
    measured_frame_rate,
    parse_frame_rate,
)
from ui.transport.transport_bar import TransportBar
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
        self.bar.show_numbers()


@pytest.fixture
def played(qtbot: QtBot) -> Iterator[Bar]:
    bar = Bar(qtbot)
    yield bar
    bar.bridge.close()


def test_that_without_a_session_nothing_can_be_changed(played: Bar) -> None:
    played.bridge.set_session(None)

    assert not played.bar.rates.isEnabled()
    assert not played.bar.fps_button.isEnabled()
    assert played.bar.time_label.text() == "--:--.---"


def test_that_time_and_rates_are_those_of_the_session(played: Bar) -> None:
    played.session.root.rate = Fraction(1, 4)
    played.session.frame_rate = Fraction(60_000, 1_001)
    played.session.run_to_ms(1_500)
    played.look()

    assert played.bar.time_label.text() == "00:01.500"
    assert played.bar.rates.rate == Fraction(1, 4)
    assert [rate for rate, each in played.bar.rates.buttons.items() if each.isChecked()] == [
        Fraction(1, 4)
    ]


def test_that_the_measured_frame_rate_is_shown_while_it_runs(played: Bar) -> None:
    played.session.status = SessionStatus(SessionPhase.RUNNING, "Played is running.")
    for _ in range(70):
        played.session.run_frame()
    played.look()

    assert played.bar.fps_button.text() == "60.0 fps"
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


def test_that_names_go_first_where_there_is_no_room(played: Bar) -> None:
    bar = played.bar
    icons = Qt.ToolButtonStyle.ToolButtonIconOnly

    bar.resize(1280, 34)
    QApplication.processEvents()
    assert bar.record_button.toolButtonStyle() is not icons
    assert bar.sizeHint().width() <= 1280

    bar.resize(800, 34)
    QApplication.processEvents()
    assert bar.record_button.toolButtonStyle() is icons
    assert bar.rates.entry.isVisible()

    bar.resize(500, 34)
    QApplication.processEvents()
    assert not bar.rates.entry.isVisible()


def test_that_a_name_of_two_words_is_read_before_its_rates(played: Bar) -> None:
    label = played.bar.rates.label

    played.bar.rates.show_clock("240 Hz screen")

    assert label.fontMetrics().horizontalAdvance("240 Hz screen") <= label.width()


def test_that_buttons_of_rates_stay_together_in_a_wide_window(played: Bar) -> None:
    played.bar.resize(2_500, played.bar.height())
    QTest.qWait(0)

    buttons = list(played.bar.rates.buttons.values())

    assert buttons[-1].geometry().right() - buttons[0].x() < 2 * sum(
        button.width() for button in buttons
    )


def test_that_nothing_moves_when_a_button_says_something_else(played: Bar) -> None:
    bar = played.bar
    bar.resize(1280, 34)
    QApplication.processEvents()
    run = played.actions["run-or-hold"]
    run.show_text("&Run")
    QApplication.processEvents()
    before = bar.time_label.geometry(), bar.rates.geometry()

    run.show_text("&Hold")
    played.actions["record"].setIconText("Recording")
    QApplication.processEvents()

    assert (bar.time_label.geometry(), bar.rates.geometry()) == before


def test_that_a_rate_is_asked_for_and_not_shown_before_it_is_granted(
    qtbot: QtBot, played: Bar
) -> None:
    entry = played.bar.rates.entry
    entry.setFocus()
    entry.selectAll()
    qtbot.keyClicks(entry, "1/3")
    qtbot.keyClick(entry, Qt.Key.Key_Return)
    played.look()

    assert played.session.submitted == [SetRate(played.session.root.id, Fraction(1, 3))]
    assert entry.text() == "1"


def test_that_a_frame_rate_is_asked_for(qtbot: QtBot) -> None:
    given: list[Fraction] = []
    prompt = FrameRatePrompt(Fraction(60), Theme("light"))
    qtbot.addWidget(prompt)
    prompt.frame_rate_given.connect(given.append)

    prompt.line.setText("sixty")
    prompt.take_answer()
    assert "frame rate" in prompt.problem.text()

    prompt.line.setText("59.94")
    prompt.take_answer()
    assert given == [Fraction("59.94")]


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
