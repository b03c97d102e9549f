"""The state bar: what the session does, what has stopped it, and what can be done about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.clocks.sources.wake_errors import WakeErrorSummary
from inspector.commands.breakpoints import AddBreakpoint
from inspector.events import EventLog
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.events.history import LogHistory
from inspector.events.log import BYTES_PER_EVENT
from inspector.sessions import captured
from inspector.sessions.session import SessionPhase, SessionStatus
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import MARK
from tests.sessions.test_captured import table
from tests.ui.looking_back import hold
from tests.ui.shell import Shell, open_shell
from tests.ui.world import PlayedSession
from ui.actions.actions import ActionSet
from ui.kit.theme import Theme
from ui.session.bridge import Selection, SessionBridge
from ui.transport.state_bar import StateBar
from ui.why.panel import WhyPanel
from ui.window.handlers.action_list import ACTIONS


class Stand:
    """A state bar on a session that a test plays."""

    def __init__(self, qtbot: QtBot) -> None:
        self.owner = QObject()
        self.bridge = SessionBridge()
        self.session = PlayedSession()
        actions = ActionSet(self.owner, ACTIONS)
        self.bar = StateBar(self.bridge, actions, lambda _text: 0, Theme("light"))
        qtbot.addWidget(self.bar)
        self.bridge.set_session(self.session)
        self.bar.show()

    def look(self) -> None:
        self.bridge.refresh_now()
        self.bar.show_state()


@pytest.fixture
def stand(qtbot: QtBot) -> Iterator[Stand]:
    stand = Stand(qtbot)
    yield stand
    stand.bridge.close()


@pytest.fixture
def shell(qtbot: QtBot, tmp_path: Path) -> Shell:
    return open_shell(qtbot, tmp_path)


def test_that_the_state_is_said_in_words(stand: Stand) -> None:
    stand.session.wake_errors = WakeErrorSummary(10, 5, 750_000, 900_000, 2_000_000)
    stand.session.status = SessionStatus(SessionPhase.RUNNING, "Played is running.")
    for _ in range(70):
        stand.session.run_frame()
    stand.look()

    assert stand.bar.label.text() == "▶ Running"
    assert stand.bar.note.text() == "wake-up delay 750 µs"
    assert "Played is running." in stand.bar.note.toolTip()
    assert "max 2.00 ms" in stand.bar.note.toolTip()


def test_that_the_log_counts_what_it_keeps_and_promises_no_file(stand: Stand) -> None:
    stand.look()

    assert stand.bar.log_button.text() == f"{len(stand.session.log)} events"
    assert "in memory only" in stand.bar.log_button.toolTip()


def test_that_lost_events_are_counted(stand: Stand) -> None:
    stand.session.log = EventLog(budget_bytes=10 * BYTES_PER_EVENT)
    for number in range(40):
        stand.session.log.append((number, MARK, 0, 0, 0))
    stand.session.log.settle()
    stand.session.history = LogHistory(stand.session.log)
    stand.look()

    kept = len(stand.session.log)
    assert stand.bar.log_button.text() == f"{kept} events, {40 - kept} dropped"
    assert "older events were dropped" in stand.bar.log_button.toolTip()


def test_that_of_a_long_file_all_events_are_counted(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(captured, "NEWEST", 100)
    shell = open_shell(qtbot, tmp_path, None)

    shell.window.open_path(table(tmp_path))

    session = shell.bridge.session
    assert session is not None
    assert session.log.first > 0
    button = shell.window.state_bar.log_button
    told = f"{session.history.end:,} events"
    assert button.text() == told
    assert button.toolTip() == f"{told} in the file.\nClick to see the events."
    details = shell.window.panels.panel("details")
    assert isinstance(details, WhyPanel)
    details.grid.link_activated.emit("DO:whole")
    assert f"Events\t{session.history.end:,}, all in the file" in details.text()


def test_that_without_a_scene_it_says_so(stand: Stand) -> None:
    stand.bridge.set_session(None)

    assert stand.bar.label.text() == "No scene is open"
    assert not stand.bar.log_button.isVisible()


def test_that_a_scene_that_loads_is_said_as_long_as_it_does(stand: Stand, tmp_path: Path) -> None:
    stand.bridge.set_session(None)
    told: list[str] = []
    stand.bridge.loading_changed.connect(lambda _path: told.append(stand.bar.label.text()))
    path = tmp_path / "slow.py"
    path.write_text("raise RuntimeError", "utf-8")

    stand.bridge.open_scene(path)

    assert told == ["… Loading slow.py", "No scene is open"]


def test_that_a_held_scene_is_said_with_where_and_how_to_run_it(shell: Shell) -> None:
    bar = shell.window.state_bar
    shell.advance(0.5)
    height = bar.height()
    assert not bar.run_button.isVisible()

    hold(shell)
    assert bar.label.text().startswith("❚❚ Held at 00:00.5")
    assert ", frame " in bar.label.text()
    assert bar.height() == height

    bar.run_button.click()
    shell.bridge.refresh_now()
    assert shell.bridge.status.phase is SessionPhase.RUNNING
    assert bar.label.text() == "▶ Running"


def stopped_by(shell: Shell, breakpoint_: Breakpoint) -> StateBar:
    shell.bridge.submit(AddBreakpoint(breakpoint_))
    for _ in range(6):
        shell.advance(0.1)
    assert shell.bridge.status.breakpoint == 1
    return shell.window.state_bar


def test_that_a_frame_that_was_too_long_is_said_with_its_numbers_and_selected(
    shell: Shell,
) -> None:
    bar = stopped_by(shell, Breakpoint(BreakKind.FRAME_ABOVE, limit_ns=10 * NS_PER_MS))

    frame = shell.bridge.timeline.hits[-1].frame
    assert bar.label.text() == f"Stopped: frame {frame} took 16.7 ms, over 10.0 ms"
    assert shell.bridge.selection == Selection.frame(frame)
    for button in (bar.run_button, bar.frame_button, bar.disable_button):
        assert button.isVisible()


def test_that_another_hit_is_said_in_words(shell: Shell) -> None:
    bar = stopped_by(shell, Breakpoint(BreakKind.TIMER_FIRES, "attack"))

    hit = shell.bridge.timeline.hits[-1]
    assert bar.label.text() == f"Stopped in frame {hit.frame}: {hit.text}"


def test_that_the_frame_is_selected_once_and_again_on_request(shell: Shell) -> None:
    bar = stopped_by(shell, Breakpoint(BreakKind.TIMER_FIRES, "attack"))
    frame = Selection.frame(shell.bridge.timeline.hits[-1].frame)
    clock = Selection.clock(shell.clock_id("game"))
    shell.bridge.select(clock)
    shell.bridge.refresh_now()
    QApplication.processEvents()
    assert shell.bridge.selection == clock

    bar.frame_button.click()

    assert shell.bridge.selection == frame


def test_that_its_breakpoint_is_disabled_and_the_scene_runs_on(shell: Shell) -> None:
    bar = stopped_by(shell, Breakpoint(BreakKind.TIMER_FIRES, "attack"))

    bar.disable_button.click()
    bar.run_button.click()
    for _ in range(12):
        shell.advance(0.1)

    session = shell.bridge.session
    assert session is not None
    assert session.breakpoints is not None
    ((_, found, hits),) = session.breakpoints.items()
    assert (found.is_enabled, hits) == (False, 1)
    assert bar.label.text() == "▶ Running"
