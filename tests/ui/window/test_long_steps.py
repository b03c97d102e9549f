"""Steps of many frames in the window: it stays alive, tells how far they are, and ends them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from inspector.commands.transport import StepFrames
from inspector.sessions.hosted import HostedSession
from inspector.sessions.session import SessionPhase
from tests.ui.shell import Shell
from tests.ui.used_window import Lend


@pytest.fixture(params=["held before", "held for it"])
def stepping(lend: Lend, request: pytest.FixtureRequest) -> Shell:
    """A window whose scene makes a step of many frames, one at each refresh."""
    shell = lend()
    session = shell.bridge.session
    assert isinstance(session, HostedSession)
    session.slice_ns = 0
    shell.trigger("run-or-hold")
    is_held_before = request.param == "held before"
    if is_held_before:
        # It waits for the end of a wake-up.
        shell.advance(1 / 60)
    shell.bridge.submit(StepFrames(100_000))
    if not is_held_before:
        shell.advance(1 / 60)
    shell.bridge.refresh_now()
    return shell


def frames_run(shell: Shell) -> int:
    """Return how many frames of the scene have run."""
    session = shell.bridge.session
    assert isinstance(session, HostedSession)
    return session.frames_run


def test_that_it_is_said_how_far_a_long_step_is(stepping: Shell) -> None:
    assert stepping.bridge.status.phase is SessionPhase.STEPPING
    done = frames_run(stepping) - 1
    said = stepping.window.notice.message
    assert said.startswith(f"Stepping: {done} frames have run")
    stepping.bridge.refresh_now()
    said = stepping.window.notice.message
    assert said.startswith(f"Stepping: {done + 1} frames have run")


def test_that_the_key_that_holds_ends_a_long_step(stepping: Shell) -> None:
    done = frames_run(stepping)

    stepping.trigger("run-or-hold")
    stepping.bridge.refresh_now()

    assert stepping.bridge.status.phase is SessionPhase.HELD
    assert frames_run(stepping) == done
    assert stepping.window.notice.message == ""


def test_that_a_button_ends_a_long_step(stepping: Shell, qtbot: QtBot) -> None:
    button = stepping.window.notice.cancel_button
    assert button.isVisible()
    done = frames_run(stepping)

    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    stepping.bridge.refresh_now()

    assert stepping.bridge.status.phase is SessionPhase.HELD
    assert frames_run(stepping) == done
