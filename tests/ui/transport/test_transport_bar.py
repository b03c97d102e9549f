"""The transport bar shows what the session says, and asks for what the user wants."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest
from PySide6.QtCore import QObject, Qt
from pytestqt.qtbot import QtBot

from inspector.clocks.sources.wake_errors import WakeErrorSummary
from inspector.commands.clocks import SetRate
from inspector.commands.scene import SetFrameRate
from inspector.events import EventLog
from inspector.events.log import BYTES_PER_EVENT
from inspector.sessions.session import SessionPhase, SessionStatus
from inspector.vocabulary import MARK
from tests.ui.world import PlayedSession
from ui.actions.actions import ActionSet
from ui.kit.theme import Theme
from ui.session.bridge import SessionBridge
from ui.transport.transport_bar import (
    TransportBar,
    frame_rate_to_text,
    measured_frame_rate,
    parse_frame_rate,
)
from ui.window.handlers.action_list import ACTIONS


class Bar:
    """A transport bar on a session that a test plays."""

    def __init__(self, qtbot: QtBot) -> None:
        self.owner = QObject()
        self.theme = Theme("light")
        self.bridge = SessionBridge()
        self.session = PlayedSession()
        self.bar = TransportBar(ActionSet(self.owner, ACTIONS), self.theme)
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

    assert not played.bar.rate_slider.isEnabled()
    assert not played.bar.frame_rate_entry.isEnabled()
    assert played.bar.status_label.text() == "No scene is open."


def test_that_time_and_rates_are_those_of_the_session(played: Bar) -> None:
    played.session.root.rate = Fraction(1, 4)
    played.session.frame_rate = Fraction(60_000, 1_001)
    played.session.run_to_ms(1_500)
    played.look()

    assert played.bar.time_label.text() == "00:01.500"
    assert played.bar.rate_slider.rate == Fraction(1, 4)
    assert played.bar.frame_rate_entry.text() == "60000/1001"


def test_that_the_state_is_said_in_words(played: Bar) -> None:
    played.session.wake_errors = WakeErrorSummary(10, 5, 750_000, 900_000, 2_000_000)
    played.session.status = SessionStatus(SessionPhase.RUNNING, "Played is running.")
    for _ in range(70):
        played.session.run_frame()
    played.look()

    assert played.bar.status_label.text() == "▶ Running  ·  60.0 fps  ·  wake-up delay 750 µs"
    assert "Played is running." in played.bar.status_label.toolTip()
    assert "max 2.00 ms" in played.bar.status_label.toolTip()


def test_that_the_log_counts_what_it_keeps_and_promises_no_file(played: Bar) -> None:
    played.look()

    assert played.bar.log_button.text() == f"{len(played.session.log)} events"
    assert "in memory only" in played.bar.log_button.toolTip()


def test_that_lost_events_are_counted(played: Bar) -> None:
    played.session.log = EventLog(budget_bytes=10 * BYTES_PER_EVENT)
    for number in range(40):
        played.session.log.append((number, MARK, 0, 0, 0))
    played.session.log.settle()
    played.bar.show_numbers()

    kept = len(played.session.log)
    assert played.bar.log_button.text() == f"{kept} events, {40 - kept} dropped"
    assert "older events were dropped" in played.bar.log_button.toolTip()


def test_that_a_rate_is_asked_for_and_not_shown_before_it_is_granted(
    qtbot: QtBot, played: Bar
) -> None:
    entry = played.bar.rate_slider.entry
    entry.setFocus()
    entry.selectAll()
    qtbot.keyClicks(entry, "1/3")
    qtbot.keyClick(entry, Qt.Key.Key_Return)
    played.look()

    assert played.session.submitted == [SetRate(played.session.root.id, Fraction(1, 3))]
    assert entry.text() == "1"


def test_that_a_frame_rate_is_asked_for(qtbot: QtBot, played: Bar) -> None:
    entry = played.bar.frame_rate_entry
    entry.setFocus()
    entry.selectAll()
    qtbot.keyClicks(entry, "59.94")
    qtbot.keyClick(entry, Qt.Key.Key_Return)

    assert played.session.submitted == [SetFrameRate(Fraction("59.94"))]


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
