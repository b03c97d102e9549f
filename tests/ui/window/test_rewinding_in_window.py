"""Going back in time in the window: how far it is, what it refuses, and how it is cancelled."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import PauseClock
from inspector.commands.scene import StepBack
from inspector.commands.transport import Run
from inspector.sessions.hosted import HostedSession
from inspector.sessions.session import SessionPhase
from inspector.timebase import NS_PER_MS
from tests.ui.frame_times.pixels import pixel_of_frame
from tests.ui.looking_back import hold, settle
from tests.ui.shell import Shell, open_shell
from ui.session.bridge import Selection


def rewinding(shell: Shell) -> HostedSession:
    """Return the session of a window that goes back in time, a little at each refresh."""
    session = shell.bridge.session
    assert isinstance(session, HostedSession)
    session.slice_ns = 0
    shell.bridge.set_playhead(500 * NS_PER_MS)
    settle()
    shell.bridge.submit(StepBack(10))
    shell.bridge.refresh_now()
    if session.rewinding is None:
        # It waits for the end of a wake-up.
        shell.advance(1 / 60)
    shell.bridge.refresh_now()
    return session


def phase_of(shell: Shell) -> SessionPhase:
    return shell.bridge.status.phase


def test_that_the_foot_tells_how_far_a_rewind_is(shell: Shell) -> None:
    session, line = rewinding(shell), shell.window.notice

    assert phase_of(shell) is SessionPhase.REWINDING
    assert line.message.startswith("Going back to frame ")
    assert line.cancel_button.isVisible()
    shell.bridge.go_live()
    settle()
    assert line.cancel_button.isVisible()

    while session.rewinding is not None:
        shell.bridge.refresh_now()
    settle()
    assert shell.bridge.status.phase is SessionPhase.HELD
    assert line.message == ""
    assert line.cancel_button.isHidden()
    assert not line.log_note.isHidden()


@pytest.mark.parametrize("by_key", [True, False])
def test_that_a_rewind_is_cancelled_in_the_foot(shell: Shell, by_key: bool) -> None:
    session, line = rewinding(shell), shell.window.notice
    log, playhead_ns = session.log, shell.bridge.playhead_ns

    if by_key:
        QTest.keyClick(shell.window.frame_times.plot, Qt.Key.Key_Escape)
    else:
        line.cancel_button.click()
    shell.bridge.refresh_now()
    settle()

    assert shell.bridge.status.phase is SessionPhase.HELD
    assert session.log is log
    assert shell.bridge.playhead_ns == playhead_ns


def test_that_a_scene_is_taken_back_by_a_frame(shell: Shell) -> None:
    bridge = shell.bridge
    hold(shell)
    frames = bridge.timeline.frames.end
    attack = next(iter(bridge.timeline.timers.ids()))
    bridge.select(Selection.timer(attack))

    shell.trigger("step-back")

    assert bridge.timeline.frames.end == frames - 1
    assert bridge.status.phase is SessionPhase.HELD
    assert bridge.selection == Selection.timer(attack)
    assert shell.window.frame_times.plot.view.visible_frames()[1] == frames - 1


@pytest.mark.parametrize("axis", ["frame", "time"])
def test_that_a_scene_goes_on_differently_from_the_playhead(shell: Shell, axis: str) -> None:
    from inspector.formats.arrangement.frame_series import XAxis  # noqa: PLC0415

    bridge, plot = shell.bridge, shell.window.frame_times.plot
    hold(shell)
    plot.refresh()
    plot.view.set_x_axis(XAxis(axis))
    plot.view.set_frame_span(0, 60)
    plot.view.choose_frames((10, 50))
    bridge.set_playhead(500 * NS_PER_MS)
    settle()

    shell.trigger("rewind")
    settle()

    assert bridge.playhead_ns is None
    assert bridge.timeline.at_ns <= 500 * NS_PER_MS
    end = bridge.timeline.frames.end
    assert plot.view.chosen_frames == (10, end)
    assert plot.view.visible_frames()[0] == 0
    assert plot.view.playhead_ns is None
    plot.grab()

    bridge.submit(PauseClock(shell.clock_id("game")))
    bridge.submit(Run())
    shell.pass_frames(30)
    assert bridge.timeline.frames.end == end + 30
    assert bridge.timeline.clocks[shell.clock_id("game")].paused
    plot.point_at(pixel_of_frame(plot, end - 1))
    plot.grab()


def test_that_a_scene_that_does_something_else_is_told_with_both_sides(
    qtbot: QtBot, tmp_path: Path
) -> None:
    shell = open_shell(
        qtbot,
        tmp_path,
        """
import time
def build(stage):
    stage.root.set_interval(0.1, lambda: stage.mark(str(time.perf_counter_ns())), name="dice")
""",
    )
    shell.pass_frames(30)
    hold(shell)

    shell.trigger("step-back")

    notice = shell.window.notice
    assert notice.isVisible()
    assert "in “dice”: expected “mark: " in notice.label.text()
    assert "found “mark: " in notice.label.text()


def test_that_refusals_from_before_are_not_told_again_after_a_rewind(shell: Shell) -> None:
    told: list[str] = []
    shell.contents.states.command_refused.connect(lambda record: told.append(record.text))
    hold(shell)
    shell.bridge.submit(PauseClock(99))
    shell.bridge.refresh_now()
    assert len(told) == 1

    shell.trigger("step-back")

    assert len(told) == 1


def test_that_why_rewinding_is_not_possible_is_said(shell: Shell) -> None:
    assert shell.window.actions_by_id["rewind"].reason == "the present is already shown"
    shell.bridge.set_playhead(5)
    settle()
    assert shell.window.actions_by_id["rewind"].reason == ""
