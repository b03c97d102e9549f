"""Controlling time from the window: run, step, rate, pause, clear, and what is refused."""

from __future__ import annotations

from fractions import Fraction

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from inspector.commands.breakpoints import AddBreakpoint
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.sessions.session import SessionPhase
from tests.ui.used_window import Lend
from ui.breakpoints.panel import BreakpointsPanel
from ui.kit.prompts import Prompt
from ui.session.bridge import Selection


def test_that_the_run_button_shows_the_session_and_not_the_click(lend: Lend) -> None:
    shell = lend()
    action = shell.window.actions_by_id["run-or-hold"]
    assert action.text() == "&Hold"

    action.trigger()
    after_click = action.text()
    shell.advance(0.1)

    assert after_click == "&Hold"
    assert action.text() == "&Run"
    # It would look pressed in one of its states, where its word says all.
    assert not action.isCheckable()


def test_that_a_step_holds_a_running_scene_first(lend: Lend) -> None:
    shell = lend()
    shell.advance(0.5)
    frames = shell.bridge.timeline.frames.end

    shell.trigger("step")
    shell.advance(1 / 60)

    assert shell.bridge.status.phase is SessionPhase.HELD
    assert shell.bridge.timeline.frames.end <= frames + 2


def test_that_the_long_step_runs_as_many_frames_as_were_asked_for(lend: Lend) -> None:
    shell = lend()
    shell.trigger("run-or-hold")
    shell.advance(0.1)
    frames = shell.bridge.timeline.frames.end

    shell.trigger("step-n-exact")
    prompt = shell.window.findChildren(Prompt)[-1]
    for refused in ("0", "-3", "many", "1,000,001"):
        prompt.line.setText(refused)
        prompt.accept_answer()
        assert "from 1 to 1,000,000" in prompt.problem.text()
    prompt.line.setText("7")
    prompt.accept_answer()
    shell.bridge.refresh_now()

    assert shell.bridge.timeline.frames.end == frames + 7
    assert shell.window.actions_by_id["step-n"].text() == "Step &7 frames"
    shell.trigger("step-n")
    assert shell.bridge.timeline.frames.end == frames + 14


def test_that_a_refusal_is_said_in_the_status_bar(lend: Lend) -> None:
    shell = lend("def build(stage):\n    pass\n")
    shell.trigger("run-or-hold")
    shell.advance(0.1)

    shell.trigger("next-timer")

    assert shell.window.notice.message == (
        "✖ Cannot step to the next timer. No timer is pending, so there is none to step to."
    )


def test_that_keys_change_the_rate_of_the_root(lend: Lend) -> None:
    shell = lend()

    def rate() -> Fraction:
        shell.advance(0.05)
        return shell.bridge.timeline.clocks[shell.clock_id("root")].rate

    shell.trigger("slower")
    assert rate() == Fraction(1, 2)
    shell.trigger("slower")
    assert rate() == Fraction(1, 4)
    shell.trigger("normal-rate")
    assert rate() == 1
    shell.trigger("faster")
    assert rate() == 2


def test_that_everything_is_the_root_and_keys_are_about_what_is_selected(lend: Lend) -> None:
    shell = lend()
    rates = shell.window.transport.rates
    shell.bridge.select(Selection.clock(shell.clock_id("enemies")))

    def rate_of(name: str) -> Fraction:
        shell.advance(0.05)
        shell.window.transport.refresh_numbers()
        return shell.bridge.timeline.clocks[shell.clock_id(name)].rate

    rates.buttons[Fraction(1, 4)].click()
    assert (rate_of("enemies"), rate_of("root")) == (Fraction(1), Fraction(1, 4))
    assert rates.buttons[Fraction(1, 4)].isChecked()
    shell.trigger("slower")
    assert (rate_of("enemies"), rate_of("root")) == (Fraction(1, 2), Fraction(1, 4))

    shell.trigger("rate-of-everything")
    prompt = shell.window.findChildren(Prompt)[-1]
    prompt.line.setText("2/5")
    prompt.accept_answer()
    assert (rate_of("enemies"), rate_of("root")) == (Fraction(1, 2), Fraction(2, 5))
    assert rates.buttons[Fraction(1, 2)].text() == "0.4"


def test_that_p_pauses_the_selected_branch_and_nothing_else(lend: Lend) -> None:
    shell = lend()
    shell.bridge.select(Selection.clock(shell.clock_id("enemies")))

    shell.trigger("pause-branch")
    shell.advance(0.1)

    clocks = shell.bridge.timeline.clocks
    assert clocks[shell.clock_id("enemies")].paused
    assert not clocks[shell.clock_id("ui")].paused
    action = shell.window.actions_by_id["pause-branch"]
    assert action.isChecked()
    assert action.text() == "Resume enemies"


def test_that_a_selected_timer_can_be_cleared_until_it_is_gone(lend: Lend) -> None:
    shell = lend()
    timers = shell.bridge.timeline.timers
    timer_id = next(i for i in timers.ids() if timers.row(i).label == "end")
    shell.bridge.select(Selection.timer(timer_id))

    shell.trigger("clear-timer")
    shell.advance(0.1)

    assert timer_id not in shell.bridge.timeline.timers
    assert not shell.window.actions_by_id["clear-timer"].isEnabled()


def test_that_delete_in_the_list_of_breakpoints_leaves_the_selected_timer(
    lend: Lend, qtbot: QtBot
) -> None:
    shell = lend()
    shell.bridge.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "attack")))
    shell.advance(0.1)
    shell.trigger("panel-breakpoints")
    panel = shell.window.panels.panel("breakpoints")
    assert isinstance(panel, BreakpointsPanel)
    panel.refresh()
    panel.view.selectRow(0)
    panel.view.setFocus()
    shell.activate()
    shell.bridge.select(Selection.timer(1))
    qtbot.waitUntil(panel.view.hasFocus)

    qtbot.keyClick(panel.view, Qt.Key.Key_Delete)
    shell.advance(0.1)

    assert 1 in shell.bridge.timeline.timers
    assert shell.bridge.session is not None
    assert shell.bridge.session.breakpoints is not None
    assert not list(shell.bridge.session.breakpoints.items())


def test_that_a_frame_rate_is_asked_for(lend: Lend) -> None:
    shell = lend()
    shell.trigger("frame-rate-exact")
    prompt = shell.window.findChildren(Prompt)[-1]

    prompt.line.setText("sixty")
    prompt.accept_answer()
    assert "frame rate" in prompt.problem.text()

    prompt.line.setText("59.94")
    prompt.accept_answer()
    shell.advance(0.1)
    assert shell.bridge.session is not None
    assert shell.bridge.session.frame_rate == Fraction("59.94")
