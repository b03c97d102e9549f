"""Attached programs in the window: opening, what is possible, the end."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NoReturn

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from inspector.analysis.lanes.lanes import LaneKind
from inspector.commands.transport import Hold
from inspector.errors import AttachError
from inspector.sessions.attached.doors.launch import Launch
from inspector.sessions.attached.session import AttachedSession
from inspector.sessions.recorded import RecordedSession
from inspector.sessions.session import SessionPhase
from inspector.timebase import format_instant
from inspector.vocabulary import FRAME_BEGAN, FRAME_ENDED, LOOP_ASKED
from tests.sessions.attached.fake_probe import FakeDoor, FakeProbe, hello
from tests.ui.shell import SCENE, Shell
from tests.ui.used_window import Lend
from ui.clock_tree.panel import ClockTreePanel
from ui.frame_spans.panel import FrameSpansPanel
from ui.frame_times.loop_choice import LoopChoice
from ui.frame_times.panel import FrameTimesPanel
from ui.kit.texts.run_states import run_state_of
from ui.kit.theme import ColorRole
from ui.scene.panel import ScenePanel
from ui.scene.program_card import ProgramCard
from ui.session.bridge import Selection
from ui.timeline.panel import TimelinePanel
from ui.timer_queue.panel import TimerQueuePanel
from ui.why.panel import WhyPanel
from ui.why.session_rows import _timer_rows, limit_rows
from ui.window.dialogs.open_program import OpenProgramDialog

SERVER, LOOP = 2, 3
WHY = "The loop has no clock that could be replaced."


class ClosedDoor:
    """A door that does not open."""

    title = "init"

    def open(self, _acceptor: object) -> NoReturn:
        message = "init (1) cannot be attached late: it is not a Python program."
        raise AttachError(message)


class ProgramInWindow:
    """A window that is attached to a program played by the test."""

    def __init__(self, qtbot: QtBot, lend: Lend) -> None:
        self.qtbot = qtbot
        self.door = FakeDoor()
        self.shell = lend(None)
        self.shell.bridge.open_door(self.door)
        session = self.shell.bridge.session
        assert isinstance(session, AttachedSession)
        self.session = session
        self.probe = FakeProbe(session.acceptor, time.monotonic_ns, hello(session.acceptor.token))
        self.until(lambda: session.programs)
        self.probe.keyframe((1, "beat", 60_000_000_000))
        self.probe.clock(2, "loop", parent=1)
        self.probe.tell(
            "Program.changed",
            clocks=[
                {"clock": 1, "capabilities": {}},
                {"clock": 2, "capabilities": {"rate": WHY, "clear_timer": WHY}},
            ],
        )
        self.until(lambda: LOOP in session.timeline.clocks and session.is_running)

    def until(self, is_true: Callable[[], object]) -> None:
        def turn() -> bool:
            if self.probe.socket.fileno() >= 0:
                self.probe.pump()
            return bool(is_true())

        self.qtbot.waitUntil(turn, timeout=10_000)

    def action(self, action_id: str) -> tuple[bool, str]:
        action = self.shell.window.actions_by_id[action_id]
        return action.isEnabled(), action.toolTip()


@pytest.fixture
def attached(qtbot: QtBot, lend: Lend) -> Iterator[ProgramInWindow]:
    found = ProgramInWindow(qtbot, lend)
    yield found
    found.shell.bridge.close()
    found.probe.close()


def test_that_the_window_names_the_program_and_what_its_probe_costs(
    attached: ProgramInWindow,
) -> None:
    attached.probe.tell(
        "Program.cost", cpu_ns=10_000_000, interval_ns=1_000_000_000, events=7, dropped=0
    )
    note = attached.shell.window.notice.log_note
    attached.until(lambda: "server, probe 1.0 %" in note.text())
    assert attached.shell.window.windowTitle().startswith("server (attached)")


def test_that_the_window_says_which_program_does_not_answer(attached: ProgramInWindow) -> None:
    note = attached.shell.window.notice.log_note
    acceptor = attached.session.acceptor
    second = FakeProbe(acceptor, time.monotonic_ns, hello(acceptor.token, pid=5, name="stopped"))

    def says_so() -> bool:
        attached.probe.tell("Link.ping", n=1)
        return "stopped does not answer" in note.toolTip()

    attached.until(says_so)
    second.close()


def test_that_the_window_says_that_its_program_has_gone(attached: ProgramInWindow) -> None:
    attached.door.opened.brings_more = True
    stops = attached.shell.contents.stops
    attached.probe.tell("Link.bye", reason="the main loop has ended")
    attached.probe.close()
    gone = "server is no longer attached: the main loop has ended."
    attached.until(lambda: gone in stops.sentence)


def test_that_what_a_clock_does_not_allow_is_greyed_out_with_its_reason(
    attached: ProgramInWindow,
) -> None:
    bridge = attached.shell.bridge
    rates = attached.shell.window.transport.rates
    assert attached.action("step-back")[0] is False
    assert "an attached program cannot be rewound" in attached.action("step-back")[1]
    bridge.select(Selection.clock(SERVER))
    assert attached.action("set-rate")[0]
    assert attached.action("faster")[0]
    assert rates.isEnabled()
    bridge.select(Selection.clock(LOOP))
    assert rates.isEnabled()
    enabled, tip = attached.action("set-rate")
    assert not enabled
    assert WHY.removesuffix(".") in tip
    assert not attached.action("faster")[0]
    assert attached.action("pause-branch")[0]
    bridge.select(Selection.clock(1))
    assert "real time" in attached.action("pause-branch")[1]


def test_that_a_header_mutes_what_its_clock_does_not_allow_and_says_why(
    attached: ProgramInWindow,
) -> None:
    (panel,) = attached.shell.window.findChildren(TimelinePanel)
    attached.until(lambda: len(panel.canvas.rows.rows) > 2)
    rows = {row.clock_id: row for row in panel.canvas.rows.rows if row.kind is LaneKind.CLOCK}

    def tip(clock_id: int, part: str) -> str:
        row = rows[clock_id]
        place = getattr(panel.canvas.header_places(row), part).center()
        QToolTip.hideText()
        help_event = QHelpEvent(QEvent.Type.ToolTip, place, place)
        QApplication.sendEvent(panel.canvas.viewport(), help_event)
        return QToolTip.text()

    assert panel.canvas.header_state(rows[1]).is_fixed
    assert "real time" in tip(1, "pause")
    assert not panel.canvas.header_state(rows[LOOP]).is_fixed
    assert tip(LOOP, "pause") == "Pause loop (P)"
    assert tip(LOOP, "rate").endswith(f"Unavailable: {WHY}")


def test_that_keys_hold_the_program_and_change_the_rate_of_the_selected_clock(
    attached: ProgramInWindow,
) -> None:
    shell, session = attached.shell, attached.session
    shell.trigger("run-or-hold")
    attached.until(lambda: shell.bridge.status.phase is SessionPhase.HELD)
    assert attached.probe.asked[-1][0] == "Clock.pause"
    shell.trigger("slower")
    attached.until(lambda: attached.probe.asked[-1][0] == "Clock.rate")
    assert attached.probe.asked[-1][1]["clock"] == 1
    attached.until(lambda: session.timeline.clocks[SERVER].rate < 1)


def test_that_the_details_tell_of_the_program_and_its_limits(attached: ProgramInWindow) -> None:
    shell = attached.shell
    panel = shell.window.panels.panel("details")
    shell.bridge.select(Selection.clock(LOOP))
    rows = [(row.key, row.text) for row in panel.current_rows()]  # type: ignore[attr-defined]
    assert ("Change rates", f"not possible: {WHY.removesuffix('.')}") in rows
    assert ("Connection", "Unix socket") in rows


def test_that_a_look_back_says_that_the_program_runs_on(attached: ProgramInWindow) -> None:
    bridge, panel = attached.shell.bridge, attached.shell.window.findChild(WhyPanel)
    assert panel is not None
    bridge.set_playhead(0)
    attached.until(lambda: "The program runs on." in panel.text())


def test_that_turns_of_a_loop_that_waits_are_plotted_by_their_work(
    attached: ProgramInWindow,
) -> None:
    panel = attached.shell.window.frame_times
    assert panel.measure == "interval"
    now_ns = time.monotonic_ns()
    attached.probe.tell("Program.changed", clocks=[{"clock": 1, "adapter": "asyncio"}])
    attached.probe.events(
        (now_ns, FRAME_BEGAN, 1, 0, 0), (now_ns, FRAME_ENDED, 1, 100_000_000, 2_000_000)
    )
    attached.until(lambda: panel.measure == "busy")


def _begin_a_turn(attached: ProgramInWindow) -> int:
    """Let a turn be over, and another begin; return its instant when it lasts too long."""
    plot, now_ns = attached.shell.window.frame_times.plot, time.monotonic_ns()
    attached.probe.events(
        (now_ns - 1_000_000, FRAME_BEGAN, 1, 0, 0),
        (now_ns, FRAME_ENDED, 1, 16_000_000, 1_000_000),
        (now_ns, FRAME_BEGAN, 1, 0, 0),
    )
    attached.until(lambda: plot._overlay.lasting is not None)
    return now_ns


def test_that_a_turn_that_lasts_is_drawn_before_it_has_ended(attached: ProgramInWindow) -> None:
    plot = attached.shell.window.frame_times.plot

    now_ns = _begin_a_turn(attached)

    lasting = plot._overlay.lasting
    assert lasting is not None
    assert lasting.high - lasting.low > 2 / 60
    assert lasting.text.endswith(" ms so far")
    attached.until(lambda: (now := plot._overlay.lasting) is not None and now.time_ns > plot.top_ns)
    edge = plot.area().left() + round(
        plot.area().width() * (lasting.low - plot.view.range.low) / plot.view.range.span
    )
    image = plot.grab().toImage()
    assert image.pixelColor(int(edge), image.height() // 2) == plot._theme.color(ColorRole.RED)
    ended_ns = time.monotonic_ns()
    attached.probe.events((ended_ns, FRAME_ENDED, 1, ended_ns - now_ns, ended_ns - now_ns))
    attached.until(lambda: plot._overlay.lasting is None)


def test_that_a_turn_does_not_last_while_its_loop_is_held(attached: ProgramInWindow) -> None:
    plot, shell = attached.shell.window.frame_times.plot, attached.shell
    _begin_a_turn(attached)

    shell.trigger("run-or-hold")

    attached.until(lambda: shell.bridge.status.phase is SessionPhase.HELD)
    attached.until(lambda: plot._overlay.lasting is None)


def test_that_a_hidden_window_takes_what_programs_send(attached: ProgramInWindow) -> None:
    attached.shell.window.hide()
    attached.probe.timer(9, "late", 90_000_000_000)
    attached.until(lambda: 9 in attached.session.timeline.timers)


def test_that_the_end_of_a_program_is_a_notice_and_the_timeline_stays(
    attached: ProgramInWindow,
) -> None:
    attached.door.opened.exit_code = 3
    attached.probe.close()
    attached.until(lambda: attached.shell.bridge.status.phase is SessionPhase.ENDED)
    text = attached.shell.window.notice.label.text()
    assert text == "“server” is no longer attached: it has ended with exit code 3."
    attached.shell.bridge.refresh_now()
    actions = attached.shell.window.actions_by_id
    assert actions["save-last"].isEnabled()
    assert actions["record"].reason == (
        "the program has ended; what is in the log can be saved instead"
    )
    timeline = attached.shell.bridge.timeline
    assert len(timeline.timers) == 1
    since = format_instant(timeline.marks[-1].at_ns)
    assert run_state_of(timeline, SERVER).text == f"no longer attached since {since}"
    assert "no longer attached" in attached.action("run-or-hold")[1]
    (runs, *_) = _timer_rows(attached.session, attached.session.status, timeline)
    assert runs.text.startswith("It has ended. 1 timer is pending, ")
    card = attached.shell.window.findChild(ProgramCard)
    assert card is not None
    assert card.state == "no longer attached"
    # That it allows nothing any more need not be said of each thing.
    said = [row.text for row in limit_rows(attached.session, SERVER)]
    assert "What the program does not allow" not in said


def test_that_a_program_that_cannot_be_attached_is_not_said_to_connect_or_to_be_held(
    qtbot: QtBot, lend: Lend
) -> None:
    shell = lend(None)
    shell.bridge.open_door(ClosedDoor())
    session = shell.bridge.session
    assert isinstance(session, AttachedSession)
    qtbot.waitUntil(lambda: session.status.phase is SessionPhase.FAILED)
    qtbot.waitUntil(lambda: not session.expects_news)

    (row,) = _timer_rows(session, session.status, session.timeline)
    card = shell.window.findChild(ProgramCard)
    assert card is not None
    assert (row.text, card.state) == ("It is not attached.", "not attached")
    shell.bridge.close()


def test_that_detaching_lets_the_program_go_on(attached: ProgramInWindow) -> None:
    shell = attached.shell
    shell.bridge.submit(Hold())
    attached.until(lambda: not attached.session.is_running)
    shell.trigger("detach")
    attached.until(lambda: shell.bridge.status.phase is SessionPhase.ENDED)
    assert shell.bridge.status.message == "Detached from “server”; what was held goes on."
    assert not attached.action("detach")[0]


def test_that_opening_something_else_says_that_the_program_runs_on(
    attached: ProgramInWindow, tmp_path: Path
) -> None:
    scene = tmp_path / "scene.py"
    scene.write_text(SCENE, encoding="utf-8")
    attached.shell.window.open_path(scene)
    attached.shell.bridge.refresh_now()
    assert attached.shell.window.notice.message == "server runs on without the inspector."


def test_that_what_has_ended_is_not_said_to_run_on(
    attached: ProgramInWindow, tmp_path: Path
) -> None:
    attached.shell.trigger("detach")
    attached.until(lambda: attached.shell.bridge.status.phase is SessionPhase.ENDED)
    scene = tmp_path / "scene.py"
    scene.write_text(SCENE, encoding="utf-8")
    attached.shell.window.open_path(scene)
    attached.shell.bridge.refresh_now()
    assert "runs on" not in attached.shell.window.notice.message


def test_that_ending_ends_what_was_opened_here(attached: ProgramInWindow) -> None:
    attached.shell.trigger("end-program")
    attached.until(lambda: attached.door.opened.is_ended)

    note = "Asked to end (SIGTERM): server (4711). What still runs in 9 s is killed."
    attached.door.opened.note = note
    attached.until(lambda: attached.shell.window.notice.label.text() == note)


def test_that_a_program_that_was_opened_is_remembered(
    qtbot: QtBot, lend: Lend, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = lend(None)
    doors: list[object] = []
    monkeypatch.setattr(shell.bridge, "open_door", doors.append)
    shell.window.actions_by_id["open-program"].trigger()
    dialog = shell.window.findChild(OpenProgramDialog)
    assert dialog is not None
    dialog.line.setText("python -m http.server 0")
    dialog.interpreter.setText(sys.executable)
    dialog.hold.setChecked(True)
    dialog.accept_answer()
    assert doors == [
        Launch((sys.executable, "-m", "http.server", "0"), None, hold=True, grant="full")
    ]
    shell.window.close()
    (kept,) = shell.settings_file.load().recent_programs
    assert kept["command"] == "python -m http.server 0"
    second = OpenProgramDialog([kept], shell.window.theme)
    qtbot.addWidget(second)
    assert second.typed == dialog.typed


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("", "", ""), "Type the command line"),
        (("python 'game.py", "", ""), "quotation mark is never closed"),
        (("no-such-program --fast", "", ""), "There is no program “no-such-program”"),
        (("python -m x", "/no/such/folder", ""), "There is no folder"),
        (("python -m x", "", "/no/such/python"), "does not exist"),
        (("ls", "", "python3"), "starts by itself"),
        ((f"{shlex.quote(sys.executable)} -I -m x", "", ""), "does not load the probe"),
    ],
)
def test_that_wrong_input_is_explained_in_the_dialog(
    qtbot: QtBot, shell: Shell, typed: tuple[str, str, str], said: str
) -> None:
    dialog = OpenProgramDialog([], shell.window.theme)
    qtbot.addWidget(dialog)
    dialog.show()
    for field, text in zip((dialog.line, dialog.folder, dialog.interpreter), typed, strict=True):
        field.setText(text)
    qtbot.mouseClick(
        dialog.buttons.button(dialog.buttons.StandardButton.Open), Qt.MouseButton.LeftButton
    )
    assert said in dialog.problem.text()
    assert dialog.isVisible()


def test_that_clocks_of_every_program_are_in_the_tree(attached: ProgramInWindow) -> None:
    session = attached.session
    attached.shell.window.panels.open_panel("clock_tree")
    panel = attached.shell.window.panels.panel("clock_tree")
    assert isinstance(panel, ClockTreePanel)
    model = panel.model
    greeting = hello(session.acceptor.token, pid=5, parent_pid=4_711, name="child")
    child = FakeProbe(session.acceptor, time.monotonic_ns, greeting)
    attached.until(lambda: len(session.programs) == 2)
    child.keyframe()
    attached.until(lambda: len(session.own_clocks()) == 2)
    attached.until(lambda: model.rowCount() == 5)
    clocks = session.timeline.clocks
    assert [clocks[row.node].name for row in model.rows] == [
        "session",
        "server with children",
        "server",
        "loop",
        "server",
    ]

    # Above a program and its children, a pause is that of them all.
    family = clocks[1].children[0]
    attached.shell.bridge.select(Selection.clock(family))
    pause = attached.shell.window.actions_by_id["pause-branch"]

    def paused() -> set[bool]:
        child.pump()
        return {clocks[each].paused for each in clocks[family].children}

    pause.trigger()
    attached.until(lambda: paused() == {True})
    attached.until(lambda: pause.text() == "Resume server with children")
    pause.trigger()
    attached.until(lambda: paused() == {False})
    child.close()


def _has_rows(queue: TimerQueuePanel, count: int) -> bool:
    return queue.model.rowCount() == count


def test_that_queue_lanes_and_details_know_the_clocks_of_several_programs(
    attached: ProgramInWindow,
) -> None:
    session, window = attached.session, attached.shell.window
    other = FakeProbe(session.acceptor, time.monotonic_ns, hello(session.acceptor.token, pid=5))
    attached.until(lambda: len(session.programs) == 2)
    other.keyframe((1, "pulse", 60_000_000_000))
    attached.until(lambda: len(session.timeline.timers) == 2)
    window.panels.open_panel("timer_queue")
    queue, details = window.panels.panel("timer_queue"), window.findChild(WhyPanel)
    assert isinstance(queue, TimerQueuePanel)
    assert details is not None
    attached.shell.bridge.select(Selection.clock(1))
    assert ("Next to fire", "2 pending") in [
        (row.text, row.exact) for row in details.current_rows()
    ]
    lanes = window.findChild(TimelinePanel)
    assert lanes is not None
    attached.until(lambda: {"pulse", "beat"} <= {row.label for row in lanes.canvas.rows.rows})
    for word, count in (("beat", 1), ("server", 2), ("nothing", 0)):
        queue.filter_line.setText(word)
        attached.until(partial(_has_rows, queue, count))
    other.close()


def _run_both_loops(attached: ProgramInWindow) -> None:
    """Run three frames of 16 ms of one loop, and of 4 ms of another."""
    session = attached.session
    for _ in range(3):
        for number, interval_ns in ((1, 16_000_000), (2, 4_000_000)):
            now_ns = time.monotonic_ns()
            attached.probe.events(
                (now_ns, FRAME_BEGAN, number, 0, 0), (now_ns, FRAME_ENDED, number, interval_ns, 9)
            )
    attached.until(lambda: session.frames_run == 3 and session.frames_text(LOOP) == "3")


def test_that_frames_are_compared_with_what_the_loop_asks_for_until_the_user_chooses(
    attached: ProgramInWindow,
) -> None:
    bridge, settings = attached.shell.bridge, attached.shell.window.settings
    usual = bridge.budgets_ms
    _run_both_loops(attached)
    attached.probe.events((time.monotonic_ns(), LOOP_ASKED, 1, 33_333_333, 0))
    attached.until(lambda: bridge.budgets_ms != usual)

    assert bridge.budgets_ms == (1000 / 30, 1000 / 60, 1000 / 120)
    assert attached.shell.window.settings.budgets_ms == settings.budgets_ms
    bridge.set_budgets_ms((12.5,))
    attached.probe.events((time.monotonic_ns(), FRAME_BEGAN, 1, 0, 0))
    bridge.refresh_now()
    assert bridge.budgets_ms == attached.shell.window.settings.budgets_ms == (12.5,)


def test_that_the_frames_of_the_selected_clock_are_shown_or_it_is_said_why_not(
    attached: ProgramInWindow,
) -> None:
    session, window = attached.session, attached.shell.window
    _run_both_loops(attached)
    attached.shell.bridge.select(Selection.clock(LOOP))
    window.actions_by_id["show-frames-of"].trigger()
    assert session.frames_of == LOOP
    attached.until(
        lambda: list(attached.shell.bridge.timeline.frames.interval_ns) == [4_000_000] * 3
    )
    attached.probe.clock(3, "thread", parent=1)
    attached.until(lambda: 4 in session.timeline.clocks)
    attached.shell.bridge.select(Selection.clock(4))
    window.actions_by_id["show-frames-of"].trigger()
    assert "No frames of “thread”" in window.notice.label.text()


def _choose_loop(panel: FrameTimesPanel, place: int) -> list[str]:
    """Choose a loop in the menu of the frame times; returns what the menu offers."""
    choice = panel.findChild(LoopChoice)
    assert choice is not None
    choice.list_loops()
    actions = choice.menu().actions()
    texts = [f"{'✓ ' * each.isChecked()}{each.text()}" for each in actions]
    actions[place].trigger()
    return texts


def test_that_the_loop_whose_frames_are_shown_is_chosen_above_the_plot(
    attached: ProgramInWindow,
) -> None:
    session, window = attached.session, attached.shell.window
    panel = window.findChild(FrameTimesPanel)
    assert panel is not None
    choice = panel.findChild(LoopChoice)
    assert choice is not None
    assert choice.isHidden()
    _run_both_loops(attached)
    attached.until(lambda: not choice.isHidden())
    assert choice.text() == "of server"
    assert _choose_loop(panel, 1) == ["✓ server  ·  3 frames", "server › loop  ·  3 frames"]
    assert session.frames_of == LOOP
    assert list(panel.plot.series.history.interval_ns) == [4_000_000] * 3  # type: ignore[union-attr]
    assert choice.text() == "of server › loop"


def test_that_the_loop_is_chosen_in_a_recording_that_is_opened_again(
    attached: ProgramInWindow, tmp_path: Path
) -> None:
    session, shell = attached.session, attached.shell
    _run_both_loops(attached)
    session.recorder.save_last(10**12, tmp_path / "a.tlrec")
    session.recorder.close()
    shell.bridge.open_path(tmp_path / "a.tlrec")
    panel = shell.window.findChild(FrameTimesPanel)
    assert panel is not None
    attached.until(lambda: isinstance(shell.bridge.session, RecordedSession))
    _choose_loop(panel, 1)
    assert list(shell.bridge.timeline.frames.interval_ns) == [4_000_000] * 3
    assert list(panel.plot.series.history.interval_ns) == [4_000_000] * 3  # type: ignore[union-attr]
    _choose_loop(panel, 0)
    assert list(panel.plot.series.history.interval_ns) == [16_000_000] * 3  # type: ignore[union-attr]


def test_that_choosing_a_loop_while_looking_back_stays_at_the_instant(
    attached: ProgramInWindow,
) -> None:
    bridge, panel = attached.shell.bridge, attached.shell.window.findChild(FrameTimesPanel)
    assert panel is not None
    _run_both_loops(attached)
    second_ns = bridge.timeline.frames.began_ns(1)
    bridge.set_playhead(second_ns)
    _choose_loop(panel, 1)
    assert bridge.playhead_ns == second_ns
    assert bridge.shown.frames_of == LOOP
    assert set(bridge.shown.frames.interval_ns) == {4_000_000}
    assert bridge.shown.at_ns == second_ns


def test_that_a_program_without_frames_is_not_called_held(attached: ProgramInWindow) -> None:
    window = attached.shell.window
    window.panels.enter_panel("frame_spans")
    frame = window.panels.panel("frame_spans")
    window.frame_times.plot.refresh(is_forced=True)

    assert (
        window.frame_times.plot._overlay.empty_text == "No frames have been seen in this program."
    )
    assert isinstance(frame, FrameSpansPanel)
    assert frame.notice.text() == "No frame has ended yet in this program."


def test_that_libraries_that_are_not_loaded_share_a_line(attached: ProgramInWindow) -> None:
    adapters = [{"name": name, "state": "waiting"} for name in ("trio", "clock_tree")]
    attached.probe.tell("Program.changed", adapters=adapters)
    (program,) = attached.session.programs.values()

    attached.until(lambda: len(program.adapters) == len(adapters))

    assert program.facts[-1] == ("Not loaded", "trio, clock tree")


def test_that_what_waits_by_the_system_clock_is_said_of_python_programs(
    attached: ProgramInWindow,
) -> None:
    (program,) = attached.session.programs.values()
    assert "Not followed" not in dict(program.facts)

    adapters = [{"name": "python_time", "library": "time", "state": "active"}]
    attached.probe.tell("Program.changed", adapters=adapters)
    attached.until(lambda: program.adapters[0].name == "python_time")

    said = "lock.acquire(timeout=…), which uses the system clock"
    assert dict(program.facts)["Not followed"] == said


def test_that_the_keyboard_is_with_no_button_when_the_window_comes_to_the_front(
    attached: ProgramInWindow,
) -> None:
    window = attached.shell.window
    # Without a frame, there is no plot that could have it.
    assert window.panels.in_middle.isAncestorOf(window.focusWidget())


def test_that_facts_on_a_program_stand_in_place_of_a_picture(attached: ProgramInWindow) -> None:
    panel = attached.shell.window.panels.panel("scene")
    assert isinstance(panel, ScenePanel)
    attached.until(lambda: panel.program is not None and panel.program.values["Process"].text())
    assert panel.program is not None
    assert panel.title.text() == "Program"
    assert panel.readout.text() == "attached"
    assert panel.program.values["Command"].text() == "server.py"
    assert panel.program.values["Permissions"].text() == "full control"
    assert panel.program.end_button.isVisible()

    panel.program.detach_button.click()
    button = panel.program.detach_button
    attached.until(lambda: panel.readout.text() != "attached" and not button.isEnabled())
    attached.shell.bridge.set_session(None)
    assert attached.shell.window.panels["scene"].isHidden()


def test_that_a_program_without_frames_has_a_ruler_above_its_lanes_and_no_plot(
    attached: ProgramInWindow,
) -> None:
    window = attached.shell.window
    frames = window.frame_times
    assert frames.plot.isHidden()
    assert frames.strip.isHidden()
    ruler, lanes = frames.ruler, window.panels.in_middle
    assert ruler.isVisible()
    bottom, top = (
        each.mapTo(window, place).y()
        for each, place in ((ruler, ruler.rect().bottomLeft()), (lanes, lanes.rect().topLeft()))
    )
    assert 0 < top - bottom < 3 * ruler.height()
    assert frames.view.left_edge == frames.view.left > 0
    assert ruler.height() + frames.marks.height() == frames.height()

    attached.probe.events(
        (time.monotonic_ns(), FRAME_BEGAN, 1, 0, 0), (time.monotonic_ns(), FRAME_ENDED, 1, 9, 9)
    )
    attached.until(lambda: not frames.plot.isHidden())
    attached.until(lambda: frames.plot.height() > ruler.height())
    assert frames.view.left_edge == frames.view.left

    # What the layout says is about sessions that have them.
    layout = window.panels.save()
    assert "hidden= " in layout
    attached.shell.bridge.close()


def test_that_the_view_stays_at_the_stop_of_a_held_program_while_time_passes(
    attached: ProgramInWindow,
) -> None:
    shell, session = attached.shell, attached.session
    view = shell.window.frame_times.view
    assert view.is_following
    attached.until(lambda: session.timeline.is_running)
    shell.trigger("run-or-hold")
    attached.until(lambda: not session.timeline.is_running)
    stopped_ns = session.timeline.clocks[SERVER].paused_since_ns
    seen = []
    for later_ns in (1, 60_000_000_000):
        session.timeline.set_present(stopped_ns + later_ns)
        view.read_new_frames()
        seen.append((view.range.low, view.range.high, view.present))

    assert seen[0] == seen[1]
    # The line at the present stands where everything stopped.
    assert view.present == stopped_ns / 1e9
    assert view.lane_window(0, 100).present_ns == stopped_ns
    assert seen[0][0] <= stopped_ns / 1e9 <= seen[0][1]
    shell.trigger("run-or-hold")
    attached.until(lambda: session.timeline.is_running)
    view.read_new_frames()
    assert view.range.low <= view.present_ns / 1e9 <= view.range.high
