"""The playhead: the window shows the state at an instant while the session goes on."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.sessions.commands import Hold, PauseClock, Run, SetRate, StepBack, StepFrames
from inspector.sessions.hosted import HostedSession
from inspector.sessions.session import SessionPhase
from inspector.timebase import NS_PER_MS
from inspector.trace.history import LogHistory
from inspector.trace.log import BYTES_PER_EVENT, EventLog
from tests.trace.recording.recorded_worlds import record, scene_log
from tests.trace.test_history import busy_log, described
from tests.ui.shell import Shell, open_shell
from tests.ui.world import PlayedSession
from ui import playhead as playhead_module
from ui.dialogs.prompts import LookAtPrompt
from ui.panels.clock_tree import ClockTreePanel
from ui.panels.timer_queue import TimerQueuePanel
from ui.playhead import Playhead
from ui.session_bridge import Selection, SessionBridge


@pytest.fixture
def bridge(qapp: QCoreApplication) -> Iterator[SessionBridge]:
    assert qapp is not None
    bridge = SessionBridge()
    yield bridge
    bridge.close()


@pytest.fixture
def shell(qtbot: QtBot, tmp_path: Path) -> Shell:
    """Return a window on a scene of which a second has passed in frames."""
    shell = open_shell(qtbot, tmp_path)
    for _ in range(60):
        shell.advance(1 / 60)
    QApplication.processEvents()
    return shell


def played(bridge: SessionBridge, milliseconds: float = 1_000) -> PlayedSession:
    """Return a session in which a timer has fired every 100 ms."""
    session = PlayedSession()
    session.root.set_interval(0.1, lambda: None, name="tick")
    session.run_to_ms(milliseconds)
    bridge.set_session(session)
    return session


def hold(shell: Shell) -> None:
    """Hold the scene; a running one is held at its next frame."""
    shell.bridge.submit(Hold())
    shell.advance(1 / 60)
    assert shell.bridge.status.phase is SessionPhase.HELD


def settle() -> None:
    QApplication.processEvents()


# ---------------------------------------------------------------- the bridge


def test_that_the_state_at_the_playhead_is_shown_while_the_session_goes_on(
    bridge: SessionBridge,
) -> None:
    session = played(bridge)
    assert bridge.shown is bridge.timeline

    bridge.set_playhead(500 * NS_PER_MS)
    session.run_to_ms(2_000)
    bridge.refresh_now()

    assert bridge.playhead_ns == bridge.shown.at_ns == 500 * NS_PER_MS
    assert bridge.timeline.at_ns == 2_000 * NS_PER_MS
    assert bridge.shown.timers.row(1).fired == 5

    bridge.set_playhead(None)
    assert bridge.shown is bridge.timeline


def test_that_the_playhead_stays_within_what_is_known(bridge: SessionBridge) -> None:
    played(bridge)

    places = []
    for wanted_ns in (-5, 10**12):
        bridge.set_playhead(wanted_ns)
        places.append(bridge.playhead_ns)

    assert places == [0, 1_000 * NS_PER_MS]


def test_that_without_a_session_there_is_no_playhead(bridge: SessionBridge) -> None:
    bridge.set_playhead(5)
    bridge.playhead.play()

    assert bridge.playhead_ns is None
    assert not bridge.playhead.is_playing


def test_that_everybody_is_told_once_a_turn_however_often_it_moves(
    bridge: SessionBridge,
) -> None:
    played(bridge)
    told: list[int | None] = []
    bridge.playhead_changed.connect(told.append)

    for milliseconds in range(100, 900):
        bridge.set_playhead(milliseconds * NS_PER_MS)
    assert told == []
    settle()
    assert told == [899 * NS_PER_MS]

    bridge.set_playhead(899 * NS_PER_MS)
    settle()
    bridge.go_live()
    bridge.go_live()
    assert told == [899 * NS_PER_MS, None]


def test_that_a_move_that_is_taken_back_at_once_is_not_told(bridge: SessionBridge) -> None:
    played(bridge)
    told: list[int | None] = []
    bridge.playhead_changed.connect(told.append)

    bridge.set_playhead(5)
    bridge.go_live()
    settle()

    assert told == []


def test_that_another_session_is_shown_at_its_present(bridge: SessionBridge) -> None:
    played(bridge)
    bridge.set_playhead(5)
    settle()

    session = played(bridge)

    assert bridge.playhead_ns is None
    assert bridge.shown is session.timeline


def test_that_plots_stay_while_somebody_looks_back_and_follow_again(
    bridge: SessionBridge,
) -> None:
    played(bridge)

    seen = []
    for was_following in (True, False):
        bridge.set_following(was_following)
        bridge.set_playhead(5)
        seen.append(bridge.is_following)
        bridge.go_live()
        seen.append(bridge.is_following)

    assert seen == [False, True, False, False]


def test_that_a_command_about_what_panels_show_leads_back_to_the_present(
    bridge: SessionBridge,
) -> None:
    played(bridge)

    places = []
    for command in (PauseClock(1), SetRate(1, Fraction(2)), Run(), Hold(), StepFrames(1)):
        bridge.set_playhead(5)
        bridge.submit(command)
        places.append(bridge.playhead_ns)

    assert places == [None, None, 5, 5, 5]


def test_that_what_is_shown_stays_of_one_log_until_everybody_is_told(shell: Shell) -> None:
    hold(shell)
    bridge = shell.bridge
    session = bridge.session
    assert session is not None
    bridge.set_playhead(500 * NS_PER_MS)
    shown, strings = bridge.shown, bridge.strings

    # As when time passes and the window has not looked yet.
    session.submit(StepBack(40))
    session.refresh()

    assert session.log.strings is not strings
    assert bridge.strings is strings
    assert bridge.shown is shown
    bridge.set_playhead(900 * NS_PER_MS)
    assert bridge.shown.at_ns == 900 * NS_PER_MS
    bridge.refresh_now()
    assert bridge.playhead_ns is None
    assert bridge.strings is session.log.strings


# ---------------------------------------------------------------- states


@given(
    moves=st.lists(st.integers(0, 1_200 * NS_PER_MS), min_size=1, max_size=30),
    budget=st.sampled_from([64 * 1024 * 1024, 200 * BYTES_PER_EVENT]),
    most=st.sampled_from([0, 20, 100_000]),
    per_part=st.sampled_from([0, 0.5, 100]),
)
def test_that_the_state_is_that_of_the_history_wherever_it_moves(
    moves: list[int], budget: int, most: int, per_part: float
) -> None:
    log, _ = busy_log(budget)
    history = LogHistory(log)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(playhead_module, "_RUNG", 13)
        patch.setattr(playhead_module, "_LADDER", 100)
        patch.setattr(playhead_module, "_MOST_PARTS", most)
        patch.setattr(playhead_module, "_RUNG_PER_PART", per_part)
        states = playhead_module._NearStates(history)
        for at_ns in moves:
            assert described(states.state_at(at_ns)) == described(history.state_at(at_ns))


def test_that_states_that_fell_off_the_log_are_given_up() -> None:
    log = EventLog(100 * BYTES_PER_EVENT)
    history = LogHistory(log)
    states = playhead_module._NearStates(history)
    for step in range(40):
        for number in range(10):
            log.append((step * 10 + number, 0, 0, 0, 0))
        states.state_at(step * 10)
        log.settle()

    assert states.state_at(398).events_folded == 399
    assert states.state_at(395).events_folded == 396
    assert all(cursor >= history.first for cursor in states._rungs)


# ---------------------------------------------------------------- by itself


def test_that_it_plays_on_at_the_pace_of_time_and_stops_at_the_end(
    bridge: SessionBridge,
) -> None:
    session = played(bridge)
    now = [0]
    playhead = Playhead(clock=lambda: now[0])
    playhead.use(session)
    changes: list[bool] = []
    playhead.playing_changed.connect(changes.append)
    places: list[int | None] = []

    playhead.play()
    for milliseconds in (0, 16, 250, 999, 1_001):
        now[0] = milliseconds * NS_PER_MS
        playhead._play_on()
        places.append(playhead.at_ns)

    assert places == [0, 16 * NS_PER_MS, 250 * NS_PER_MS, 999 * NS_PER_MS, 1_000 * NS_PER_MS]
    assert changes == [True, False]


def test_that_moving_it_by_hand_while_it_plays_goes_on_from_there(bridge: SessionBridge) -> None:
    session = played(bridge)
    now = [0]
    playhead = Playhead(clock=lambda: now[0])
    playhead.use(session)
    playhead.play()

    playhead.move_to(600 * NS_PER_MS)
    now[0] = 100 * NS_PER_MS
    playhead._play_on()

    assert playhead.at_ns == 700 * NS_PER_MS


# ---------------------------------------------------------------- the window


def tree_panel(shell: Shell) -> ClockTreePanel:
    panel = shell.window.docks.panel("clock_tree")
    assert isinstance(panel, ClockTreePanel)
    return panel


def test_that_the_clock_tree_shows_the_past_as_it_was_arranged(shell: Shell) -> None:
    panel, bridge = tree_panel(shell), shell.bridge
    game, enemies = shell.clock_id("game"), shell.clock_id("enemies")
    panel.view.collapse(panel.model.index_of(game))
    bridge.select(Selection.clock(game))
    shell.bridge.submit(PauseClock(enemies))
    shell.advance(1 / 60)
    resets: list[None] = []
    panel.model.modelReset.connect(lambda: resets.append(None))

    bridge.set_playhead(500 * NS_PER_MS)
    settle()

    model = panel.model
    assert model.timeline is bridge.shown
    assert str(model.index_of(enemies, 1).data()) == "00:00.500"
    assert not bridge.shown.clocks[enemies].paused
    assert not panel.view.isExpanded(model.index_of(game))
    assert panel.current_clock_id() == game
    bridge.go_live()
    assert model.timeline is bridge.timeline
    assert bridge.timeline.clocks[enemies].paused
    assert resets == []


def test_that_a_bar_says_that_this_is_not_the_present(shell: Shell) -> None:
    bar, bridge = shell.window.playhead_bar, shell.bridge
    assert not bar.isVisible()

    bridge.set_playhead(500 * NS_PER_MS)
    settle()

    assert bar.isVisible()
    frame = bridge.timeline.frames.index_at(500 * NS_PER_MS) - 1
    assert bar.label.text() == (
        f"Looking back at 00:00.500, frame {frame} – the scene goes on at 00:01.000"
    )
    bar.live_button.click()
    assert bridge.playhead_ns is None
    assert not bar.isVisible()


def test_that_a_held_scene_is_not_said_to_go_on(shell: Shell) -> None:
    hold(shell)
    shell.bridge.set_playhead(5)
    settle()

    assert shell.window.playhead_bar.label.text().endswith("the scene is held at 00:01.016")


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


def test_that_the_bar_tells_how_far_a_rewind_is(shell: Shell) -> None:
    session, bar = rewinding(shell), shell.window.playhead_bar

    assert phase_of(shell) is SessionPhase.REWINDING
    assert bar.label.text().startswith("Going back to frame ")
    assert bar.cancel_button.isVisible()
    assert not bar.live_button.isVisible()
    shell.bridge.go_live()
    settle()
    assert bar.isVisible()

    while session.rewinding is not None:
        shell.bridge.refresh_now()
    settle()
    assert shell.bridge.status.phase is SessionPhase.HELD
    assert not bar.isVisible()
    assert not bar.cancel_button.isVisible()


@pytest.mark.parametrize("by_key", [True, False])
def test_that_a_rewind_is_cancelled_in_the_bar(shell: Shell, by_key: bool) -> None:
    session, bar = rewinding(shell), shell.window.playhead_bar
    log, playhead_ns = session.log, shell.bridge.playhead_ns

    if by_key:
        QTest.keyClick(bar, Qt.Key.Key_Escape)
    else:
        bar.cancel_button.click()
    shell.bridge.refresh_now()
    settle()

    assert shell.bridge.status.phase is SessionPhase.HELD
    assert session.log is log
    assert shell.bridge.playhead_ns == playhead_ns
    assert bar.label.text().startswith("Looking back at 00:00.500")
    assert bar.live_button.isVisible()


def test_that_an_instant_is_typed_into_the_bar(shell: Shell) -> None:
    bar, bridge = shell.window.playhead_bar, shell.bridge
    bridge.set_playhead(500 * NS_PER_MS)
    settle()

    bar.entry.setText("+2 frames")
    QTest.keyClick(bar.entry, Qt.Key.Key_Return)
    at_ns = bridge.playhead_ns
    assert at_ns is not None
    frames = bridge.timeline.frames
    assert frames.index_at(at_ns) - frames.index_at(500 * NS_PER_MS) == 2
    assert bar.problem.isHidden()

    bar.entry.setText("soon")
    QTest.keyClick(bar.entry, Qt.Key.Key_Return)
    assert bar.problem.text().startswith("✖ “soon” is no place in time")
    assert bridge.playhead_ns == at_ns

    QTest.keyClick(bar.entry, Qt.Key.Key_Escape)
    assert bridge.playhead_ns is None


@pytest.mark.parametrize("action_id", ["follow", "look-live"])
def test_that_one_key_leads_back_to_the_present(shell: Shell, action_id: str) -> None:
    shell.bridge.set_playhead(5)
    settle()

    shell.trigger(action_id)

    assert shell.bridge.playhead_ns is None
    assert shell.bridge.is_following


def test_that_end_in_the_plot_leads_back_to_the_present(shell: Shell) -> None:
    shell.bridge.set_playhead(5)
    settle()

    QTest.keyClick(shell.window.frame_times.plot, Qt.Key.Key_End)

    assert shell.bridge.playhead_ns is None
    assert shell.bridge.is_following


def test_that_keys_move_by_frames_and_behind_the_newest_lies_the_present(shell: Shell) -> None:
    bridge = shell.bridge
    starts = list(bridge.timeline.frames.at_ns)
    places = []

    for action_id in ("look-frame-back", "look-frame-back", "look-frame-on", "look-frame-on"):
        shell.trigger(action_id)
        places.append(bridge.playhead_ns)

    newest_is_now = starts[-1] == bridge.timeline.at_ns
    earlier = starts[-3:-1] if newest_is_now else starts[-2:]
    assert places[:3] == [earlier[1], earlier[0], earlier[1]]
    assert places[3] == (starts[-1] if newest_is_now else None)


def test_that_keys_move_by_timers(shell: Shell) -> None:
    bridge = shell.bridge
    bridge.set_playhead(450 * NS_PER_MS)
    settle()

    shell.trigger("look-timer-on")
    assert bridge.playhead_ns == 500 * NS_PER_MS
    shell.trigger("look-timer-back")
    assert bridge.playhead_ns == 400 * NS_PER_MS


def test_that_there_is_nothing_before_the_beginning(shell: Shell) -> None:
    shell.bridge.set_playhead(0)
    settle()

    shell.trigger("look-frame-back")

    assert shell.window.playhead_bar.problem.text() == "✖ No frame began before this instant."


def test_that_a_place_can_be_asked_for(shell: Shell) -> None:
    shell.window.actions_by_id["look-at"].trigger()
    (dialog,) = shell.window.findChildren(LookAtPrompt)
    line = dialog.line

    line.setText("frame 999")
    dialog.take_answer()
    assert dialog.problem.text() == "✖ There is no frame 999: frames 0 to 59 are there."
    line.setText("0.25")
    dialog.take_answer()

    assert shell.bridge.playhead_ns == 250 * NS_PER_MS


# ---------------------------------------------------------------- going back in time


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
    assert shell.window.frame_times.plot.visible_frames()[1] == frames - 1


@pytest.mark.parametrize("axis", ["frame", "time"])
def test_that_a_scene_goes_on_differently_from_the_playhead(shell: Shell, axis: str) -> None:
    from ui.plots.frame_series import XAxis  # noqa: PLC0415

    bridge, plot = shell.bridge, shell.window.frame_times.plot
    hold(shell)
    plot.set_x_axis(XAxis(axis))
    plot.show_frames(0, 60)
    plot.choose_frames((10, 50))
    bridge.set_playhead(500 * NS_PER_MS)
    settle()

    shell.trigger("rewind")
    settle()

    assert bridge.playhead_ns is None
    assert bridge.timeline.at_ns <= 500 * NS_PER_MS
    end = bridge.timeline.frames.end
    assert plot.chosen_frames() == (10, end)
    assert plot.visible_frames()[0] == 0
    assert plot.playhead_ns is None
    plot.grab()

    bridge.submit(PauseClock(shell.clock_id("game")))
    bridge.submit(Run())
    for _ in range(30):
        shell.advance(1 / 60)
    assert bridge.timeline.frames.end == end + 30
    assert bridge.timeline.clocks[shell.clock_id("game")].paused
    plot.point_at(plot.pixel_of_frame(end - 1))
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
    for _ in range(30):
        shell.advance(1 / 60)
    hold(shell)

    shell.trigger("step-back")

    notice = shell.window.notice
    assert notice.isVisible()
    assert "in “dice”: it was “mark: " in notice.label.text()
    assert "now it is" in notice.label.text()


def test_that_refusals_from_before_are_not_told_again_after_a_rewind(shell: Shell) -> None:
    told: list[str] = []
    shell.window.session_actions.command_refused.connect(lambda record: told.append(record.text))
    hold(shell)
    shell.bridge.submit(PauseClock(99))
    shell.bridge.refresh_now()
    assert len(told) == 1

    shell.trigger("step-back")

    assert len(told) == 1


def test_that_why_rewinding_is_not_possible_is_said(shell: Shell) -> None:
    assert shell.window.actions_by_id["rewind"].reason == "what is shown is the present"
    shell.bridge.set_playhead(5)
    settle()
    assert shell.window.actions_by_id["rewind"].reason == ""


# ---------------------------------------------------------------- what cannot run


class Recorded(PlayedSession):
    """A session in which nothing can run."""

    def __init__(self) -> None:
        super().__init__()
        self.capabilities = frozenset()
        self.is_recorded = True


@pytest.fixture
def recorded(qtbot: QtBot, tmp_path: Path) -> Shell:
    shell = open_shell(qtbot, tmp_path, None)
    session = Recorded()
    session.root.set_interval(0.05, lambda: None, name="tick")
    for step in range(1, 11):
        session.run_to_ms(step * 20)
        session.run_frame()
    shell.bridge.set_session(session)
    settle()
    return shell


@pytest.mark.parametrize(
    ("action_id", "at_ms"),
    [("step", 120), ("step-back", 80), ("next-timer", 150), ("step-n", None)],
)
def test_that_in_a_recording_steps_move_the_playhead(
    recorded: Shell, action_id: str, at_ms: int | None
) -> None:
    recorded.bridge.set_playhead(100 * NS_PER_MS)
    settle()

    recorded.trigger(action_id)

    assert recorded.bridge.playhead_ns == (None if at_ms is None else at_ms * NS_PER_MS)


def test_that_a_recording_is_played_and_stopped(recorded: Shell) -> None:
    playhead = recorded.bridge.playhead
    recorded.trigger("run-or-hold")
    assert playhead.is_playing
    assert recorded.bridge.playhead_ns == 0
    assert recorded.window.actions_by_id["run-or-hold"].text() == "&Hold"

    recorded.trigger("run-or-hold")
    assert not playhead.is_playing


def test_that_the_bar_of_a_recording_speaks_of_its_end(recorded: Shell) -> None:
    recorded.bridge.set_playhead(100 * NS_PER_MS)
    settle()

    bar = recorded.window.playhead_bar
    assert bar.label.text() == (
        "Looking back at 00:00.100, frame 4 – the recording ends at 00:00.200"
    )
    assert bar.live_button.text() == "To the end"
    assert not recorded.window.actions_by_id["rewind"].isEnabled()


def recording(folder: Path) -> Path:
    """Return a recording of a second of a scene."""
    return record(scene_log("1", 1), folder / "a.tlrec")


def test_that_a_recording_is_opened_like_a_scene(qtbot: QtBot, tmp_path: Path) -> None:
    path = recording(tmp_path)
    shell = open_shell(qtbot, tmp_path, path)
    bridge, window = shell.bridge, shell.window

    assert bridge.status.phase is SessionPhase.HELD
    assert bridge.status.message.startswith("Recording of test: ")
    assert window.windowTitle() == "test (recording) – Timeline Inspector"
    assert str(path) in window.settings.recent_scenes
    transport = window.transport
    assert not transport.rate_slider.isEnabled()
    assert not transport.frame_rate_entry.isEnabled()
    assert transport.step_box.isEnabled()
    end_ns = bridge.timeline.at_ns
    shell.trigger("step-back")
    assert bridge.playhead_ns is not None
    assert bridge.playhead_ns < end_ns
    settle()
    assert "the recording ends at" in window.playhead_bar.label.text()


def test_that_what_is_no_recording_is_said_to_be_none(qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "b.tlrec"
    path.write_text("hello", encoding="utf-8")
    shell = open_shell(qtbot, tmp_path, path)

    problem = shell.bridge.status
    recording(tmp_path).replace(path)
    shell.trigger("reload")
    mended = shell.bridge.status

    assert (problem.phase, mended.phase) == (SessionPhase.FAILED, SessionPhase.HELD)
    assert "is no recording" in problem.message


def test_that_what_cannot_be_changed_in_a_recording_does_not_leave_the_past(
    recorded: Shell,
) -> None:
    recorded.bridge.set_playhead(100 * NS_PER_MS)

    recorded.bridge.submit(PauseClock(1))

    assert recorded.bridge.playhead_ns == 100 * NS_PER_MS


def test_that_recordings_can_be_dropped_on_the_window(shell: Shell, tmp_path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(recording(tmp_path)))])
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )

    shell.window.dropEvent(event)

    assert shell.bridge.status.message.startswith("Recording of test: ")


def test_that_the_queue_shows_the_timers_of_the_past(shell: Shell) -> None:
    queue = shell.window.docks.panel("timer_queue")
    assert isinstance(queue, TimerQueuePanel)
    shell.window.docks.show_panel("timer_queue")
    end = next(
        each
        for each in shell.bridge.timeline.timers.ids()
        if shell.bridge.timeline.timers.row(each).label == "end"
    )
    shell.bridge.select(Selection.timer(end))

    shell.bridge.set_playhead(500 * NS_PER_MS)
    settle()
    queue.refresh()

    assert queue.model.timeline is shell.bridge.shown
    row = queue.model.row_of(end)
    assert row is not None
    assert "59.5 s" in queue.model.row_text(row)
    assert queue.view.marked_id == end
    shell.bridge.go_live()
    queue.refresh()
    assert queue.model.timeline is shell.bridge.timeline
