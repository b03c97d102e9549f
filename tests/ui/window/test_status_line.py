"""The right of the foot: wake-ups and events, and what takes their place for some seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.clocks.sources.wake_errors import WakeErrorSummary
from inspector.events import EventLog
from inspector.events.history import LogHistory
from inspector.events.log import BYTES_PER_EVENT
from inspector.sessions import captured
from inspector.sessions.session import SessionPhase, SessionStatus
from inspector.vocabulary import MARK
from tests.sessions.test_captured import table
from tests.ui.shell import SMALL_GAME
from tests.ui.used_window import Lend
from tests.ui.world import PlayedSession
from ui.session.bridge import SessionBridge
from ui.why.panel import WhyPanel
from ui.window import status_line
from ui.window.status_line import StatusLine


class Stand:
    """The right of a foot on a session that a test plays."""

    def __init__(self, qtbot: QtBot) -> None:
        self.bridge = SessionBridge()
        self.session = PlayedSession()
        self.line = StatusLine(self.bridge)
        self.note = self.line.log_note
        qtbot.addWidget(self.line)
        self.bridge.set_session(self.session)
        self.line.show()

    def look(self) -> None:
        self.bridge.refresh_now()
        self.note.refresh()


@pytest.fixture
def stand(qtbot: QtBot) -> Iterator[Stand]:
    stand = Stand(qtbot)
    yield stand
    stand.bridge.close()


def test_that_the_delay_of_wake_ups_is_said_before_the_events(stand: Stand) -> None:
    stand.session.wake_errors = WakeErrorSummary(10, 5, 750_000, 900_000, 2_000_000)
    stand.session.status = SessionStatus(SessionPhase.RUNNING, "Played is running.")
    stand.look()

    assert stand.note.text() == f"Wake-up 750 µs  ·  {len(stand.session.log)} events"
    assert "Played is running." in stand.note.toolTip()
    assert "max 2.00 ms" in stand.note.toolTip()
    assert "in memory only" in stand.note.toolTip()


def test_that_a_notice_takes_its_place(stand: Stand) -> None:
    stand.line.show_text("Recording to a.tlrec")
    assert stand.note.isHidden()
    assert stand.line.message == "Recording to a.tlrec"

    stand.line.clear()
    assert not stand.note.isHidden()


def test_that_a_failure_gives_its_place_back_and_can_be_read_again_until_it_is_dismissed(
    stand: Stand,
) -> None:
    done: list[str] = []
    stand.line.show_lasting("Not saved: a.tlrec", ("Open it", lambda: done.append("open")))
    assert stand.line.again_button.isHidden()
    stand.line.show_text("No frame began before this instant.")
    assert stand.line.message == "No frame began before this instant."
    assert stand.line.buttons[0].isHidden()

    stand.line._over.timeout.emit()
    assert stand.line.message == ""
    assert not stand.note.isHidden()
    assert stand.line.again_button.toolTip() == "Not saved: a.tlrec"

    stand.line.again_button.click()
    assert stand.line.message == "Not saved: a.tlrec"
    stand.line.buttons[0].click()
    assert done == ["open"]

    stand.line.close_button.click()
    assert stand.line.message == ""
    assert stand.line.close_button.isHidden()
    assert stand.line.again_button.isHidden()


def test_that_a_failure_that_came_during_a_long_step_is_said_after_it(stand: Stand) -> None:
    stand.session.status = SessionStatus(SessionPhase.REWINDING, "Rewinding.")
    stand.look()
    stand.line.show_lasting("Not saved: a.tlrec")
    assert stand.line.message == "Rewinding."

    stand.session.status = SessionStatus(SessionPhase.RUNNING, "Played is running.")
    stand.look()
    assert stand.line.message == "Not saved: a.tlrec"

    stand.line._over.timeout.emit()
    stand.session.status = SessionStatus(SessionPhase.REWINDING, "Rewinding.")
    stand.look()
    stand.session.status = SessionStatus(SessionPhase.RUNNING, "Played is running.")
    stand.look()
    assert stand.line.message == ""


def test_that_the_count_of_events_is_no_wider_than_it_needs(lend: Lend) -> None:
    shell = lend(None)
    shell.window.open_path(SMALL_GAME)
    shell.advance(1)
    shell.window.notice.log_note.refresh()

    note = shell.window.notice.log_note
    assert note.text().endswith(" events")
    assert note.width() == note.sizeHint().width()


def test_that_what_lasts_has_the_room_of_the_tabs(lend: Lend) -> None:
    shell = lend()
    text = f"Not saved: /{'long/' * 20}a.tlrec"

    shell.window.notice.show_lasting(text)
    QApplication.processEvents()

    label = shell.window.notice.label
    assert label.width() >= label.fontMetrics().horizontalAdvance(text)


def test_that_lost_events_are_counted(stand: Stand) -> None:
    stand.session.log = EventLog(budget_bytes=10 * BYTES_PER_EVENT)
    for number in range(40):
        stand.session.log.append((number, MARK, 0, 0, 0))
    stand.session.log.settle()
    stand.session.history = LogHistory(stand.session.log)
    stand.look()

    kept = len(stand.session.log)
    assert stand.note.text() == f"{kept} events, {40 - kept} dropped"
    assert "older events were dropped" in stand.note.toolTip()


def test_that_of_a_long_file_all_events_are_counted(
    lend: Lend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(captured, "NEWEST", 100)
    shell = lend(None)

    shell.window.open_path(table(tmp_path))

    session = shell.bridge.session
    assert session is not None
    assert session.log.first > 0
    note = shell.window.notice.log_note
    told = f"{session.history.end:,} events"
    assert note.text() == f"Capture, read only  ·  {told}"
    assert f"{told} in the file.\nClick to see the events." in note.toolTip()
    details = shell.window.panels.panel("details")
    assert isinstance(details, WhyPanel)
    details.grid.link_activated.emit("DO:whole")
    assert f"Events\t{session.history.end:,}, all in the file" in details.text()


def test_that_without_a_scene_it_says_so(stand: Stand) -> None:
    stand.bridge.set_session(None)

    assert stand.note.text() == "No scene is open"
    assert not stand.note.isEnabled()


def test_that_a_scene_that_loads_is_said_as_long_as_it_does(stand: Stand, tmp_path: Path) -> None:
    stand.bridge.set_session(None)
    told: list[str] = []
    stand.bridge.loading_changed.connect(lambda _path: told.append(stand.line.message))
    path = tmp_path / "slow.py"
    path.write_text("raise RuntimeError", "utf-8")

    stand.bridge.open_scene(path)

    assert told == ["Loading slow.py …", ""]


def test_that_a_text_that_is_not_wider_has_no_room_measured(
    lend: Lend, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = lend()
    note = shell.window.notice.log_note
    told: list[str] = []
    monkeypatch.setattr(status_line, "_log_texts", lambda _session: (told[-1], ""))
    for text in ("8,888 events", "1,111 events", "9,999 events", "11,111 events"):
        told.append(text)
        note.refresh()
        assert note.text().endswith(text)
        assert note.width() >= note.sizeHint().width()
    measured: list[str] = []
    monkeypatch.setattr(status_line, "set_growing_text", lambda _note, text: measured.append(text))

    told.append("22,222 events")
    note.refresh()

    assert note.text().endswith("22,222 events")
    assert not measured
