"""What stopped the session: said in one sentence in Why, with what can be done about it."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from inspector.clocks.failures import FailurePolicy
from inspector.commands.breakpoints import AddBreakpoint
from inspector.display_text import without_quotes
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.sessions.session import SessionPhase, SessionStatus
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import BREAKPOINT_HIT
from tests.ui.looking_back import settle
from tests.ui.members_world import MembersSession
from tests.ui.shell import Shell
from tests.ui.used_window import Lend
from ui.session.bridge import Selection, SessionBridge
from ui.session.stops import StopNotices
from ui.why.panel import StopNote

RAISING = """
def build(stage):
    stage.root.set_timeout(0.1, lambda: {}["level"], name="load level")
"""


@pytest.fixture
def shell(lend: Lend) -> Shell:
    return lend()


def note_of(shell: Shell) -> StopNote:
    (note,) = shell.window.panels.panel("details").findChildren(StopNote)
    return note


def stopped_by(shell: Shell, breakpoint_: Breakpoint) -> StopNote:
    shell.bridge.submit(AddBreakpoint(breakpoint_))
    for _ in range(6):
        shell.advance(0.1)
    assert shell.bridge.status.breakpoint == 1
    return note_of(shell)


def test_that_a_frame_that_was_too_long_is_said_with_its_numbers_and_selected(
    shell: Shell,
) -> None:
    assert not note_of(shell).isVisible()

    note = stopped_by(shell, Breakpoint(BreakKind.FRAME_ABOVE, limit_ns=10 * NS_PER_MS))

    frame = shell.bridge.timeline.hits[-1].frame
    assert note.label.text() == f"Stopped: frame {frame} took 16.7 ms, over 10.0 ms."
    assert shell.bridge.selection == Selection.frame(frame)
    assert note.frame_button.isVisible()
    assert note.disable_button.isVisible()
    assert not note.events_button.isVisible()


def test_that_another_hit_is_said_in_words_until_you_look_back(shell: Shell) -> None:
    note = stopped_by(shell, Breakpoint(BreakKind.TIMER_FIRES, "attack"))
    hit = shell.bridge.timeline.hits[-1]
    assert note.label.text() == f"Stopped in frame {hit.frame}: {without_quotes(hit.text)}."

    shell.bridge.set_playhead(100 * NS_PER_MS)
    settle()
    assert not note.isVisible()
    shell.bridge.go_live()
    settle()
    assert note.isVisible()


def test_that_the_frame_is_selected_once_and_again_on_request(shell: Shell) -> None:
    note = stopped_by(shell, Breakpoint(BreakKind.TIMER_FIRES, "attack"))
    frame = Selection.frame(shell.bridge.timeline.hits[-1].frame)
    clock = Selection.clock(shell.clock_id("game"))
    shell.bridge.select(clock)
    shell.bridge.refresh_now()
    QApplication.processEvents()
    assert shell.bridge.selection == clock

    note.frame_button.click()

    assert shell.bridge.selection == frame


def test_that_its_breakpoint_is_disabled_and_the_scene_runs_on(shell: Shell) -> None:
    note = stopped_by(shell, Breakpoint(BreakKind.TIMER_FIRES, "attack"))

    note.disable_button.click()
    shell.trigger("run-or-hold")
    for _ in range(12):
        shell.advance(0.1)

    session = shell.bridge.session
    assert session is not None
    assert session.breakpoints is not None
    ((_, found, hits),) = session.breakpoints.items()
    assert (found.is_enabled, hits) == (False, 1)
    assert not note.isVisible()
    assert shell.bridge.status.phase is SessionPhase.RUNNING


def test_that_a_callback_that_stopped_the_scene_is_named(lend: Lend) -> None:
    shell = lend(RAISING)
    shell.trigger(f"failure-{FailurePolicy.STOP.value}")
    shell.advance(0.5)

    note = note_of(shell)
    assert "load level failed: KeyError" in note.label.text()
    assert not note.frame_button.isVisible()
    note.events_button.click()
    assert shell.window.panels.is_open("event_list")


def test_that_a_hit_that_comes_after_the_hold_is_said_when_it_comes(bridge: SessionBridge) -> None:
    session = MembersSession()
    bridge.set_session(session)
    stops = StopNotices.of(bridge)
    session.status = SessionStatus(SessionPhase.HELD, "“server” is held.", breakpoint=3)
    bridge.refresh_now()
    assert stops.sentence == ""

    text = session.log.intern("a turn or frame takes longer than 100 ms: it took 300 ms")
    session.log.append((session.tree.now_ns, BREAKPOINT_HIT, 3, text, 0))
    bridge.refresh_now()

    assert stops.sentence == ("Stopped: a turn or frame takes longer than 100 ms: it took 300 ms.")
