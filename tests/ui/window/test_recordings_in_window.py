"""Recordings in the window: opened, played and looked at like a scene that cannot run."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from sqlite3 import connect
from typing import cast

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.commands.clocks import PauseClock
from inspector.events.loop_frames import LoopFrames
from inspector.events.schema import EventGroup
from inspector.sessions.session import SessionPhase
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import LoopKind
from tests.events.recording.recorded_worlds import record, scene_log
from tests.ui.events.kinds import choose_kinds
from tests.ui.looking_back import settle
from tests.ui.shell import Shell
from tests.ui.used_window import Lend
from tests.ui.world import PlayedSession
from ui.clock_tree.panel import ClockTreePanel
from ui.events.panel import EventListPanel
from ui.frame_times.frame_plot import FramePlot
from ui.frame_times.plotted_frames import NONE_IN_FILE_TEXT
from ui.session.bridge import Selection
from ui.timeline.lane_canvas import LaneCanvas
from ui.timeline.panel import TimelinePanel
from ui.timer_queue.panel import TimerQueuePanel
from ui.why.panel import WhyPanel


class Recorded(PlayedSession):
    """A session in which nothing can run."""

    def __init__(self) -> None:
        super().__init__()
        self.capabilities = frozenset()
        self.is_recorded = True


@pytest.fixture
def recorded(lend: Lend) -> Shell:
    shell = lend(None)
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


def test_that_buttons_in_headers_of_a_recording_cannot_be_pressed(
    recorded: Shell, qtbot: QtBot
) -> None:
    canvas = recorded.window.findChild(LaneCanvas)
    assert canvas is not None
    row = next(each for each in canvas.rows.rows if canvas.header_state(each).rate)
    places = canvas.header_places(row)
    asked: list[object] = []
    for wanted in (canvas.pause_pressed, canvas.rate_pressed, canvas.other_rate_wanted):
        wanted.connect(lambda *what: asked.append(what))

    for place in (places.pause.center(), places.rate.center()):
        qtbot.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)
        qtbot.mouseDClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)

    # They show the state of that instant; a press selects, as it does beside them.
    assert asked == []
    assert recorded.bridge.selection == Selection.clock(row.clock_id)


def test_that_a_recording_cannot_be_rewound(recorded: Shell) -> None:
    recorded.bridge.set_playhead(100 * NS_PER_MS)
    settle()

    assert not recorded.window.actions_by_id["rewind"].isEnabled()


def test_that_hints_of_a_recording_say_what_is_done_there(recorded: Shell) -> None:
    actions = recorded.window.actions_by_id
    recorded.bridge.refresh_now()

    assert actions["run-or-hold"].toolTip().splitlines()[0] == "Play (Space)"
    assert "Play the recording from the instant" in actions["run-or-hold"].toolTip()
    assert actions["step-back"].toolTip().endswith("\nShow the state one frame earlier.")
    assert actions["look-live"].text() == "To the &end"
    assert "a recording cannot be changed" in actions["set-rate"].toolTip()
    assert "it is a recording already" in actions["record"].toolTip()

    recorded.bridge.set_session(PlayedSession())
    assert "follow the time source" in actions["run-or-hold"].toolTip()
    assert "replay it up to the previous frame." in actions["step-back"].toolTip()
    assert actions["look-live"].text() == "&Back to the present"


def test_that_the_transport_bar_of_a_recording_shows_the_instant_looked_at(
    recorded: Shell,
) -> None:
    transport = recorded.window.transport
    assert transport.time_button.text() == "00:00.200"

    recorded.bridge.set_playhead(100 * NS_PER_MS)
    settle()
    transport.refresh_numbers()

    assert transport.time_button.text() == "00:00.100"
    assert "the recording ends at 0:00.200" in transport.time_button.toolTip()
    assert transport.fps_button.text() == "of 00:00.200"


@pytest.mark.parametrize("action_id", ["step", "step-n", "next-timer"])
def test_that_a_step_at_the_end_of_a_recording_says_that_it_ends(
    recorded: Shell, action_id: str
) -> None:
    recorded.trigger(action_id)

    assert recorded.bridge.playhead_ns is None
    assert "The recording ends here." in recorded.window.notice.message


def test_that_a_recording_without_length_says_that_there_is_nothing_to_play(
    recorded: Shell,
) -> None:
    session = PlayedSession()
    session.is_recorded = True
    recorded.bridge.set_session(session)

    recorded.trigger("run-or-hold")

    assert "nothing to play in this recording." in recorded.window.notice.message


def test_that_an_event_of_a_recording_leads_to_its_instant(recorded: Shell) -> None:
    panel = cast("EventListPanel", recorded.window.panels.panel("event_list"))
    choose_kinds(panel, frozenset(EventGroup))
    rows = panel.model.rows
    row = next(row for row, shown in enumerate(rows) if shown.event[0] == 100 * NS_PER_MS)

    panel.activate(panel.model.index(row, 0))

    assert recorded.bridge.playhead_ns == 100 * NS_PER_MS


def test_that_an_event_of_a_scene_leaves_it_at_the_present(shell: Shell) -> None:
    panel = cast("EventListPanel", shell.window.panels.panel("event_list"))

    panel.activate(panel.model.index(0, 0))

    assert shell.bridge.playhead_ns is None


def test_that_frames_of_another_loop_of_a_recording_can_be_chosen(recorded: Shell) -> None:
    action = recorded.window.actions_by_id["show-frames-of"]
    recorded.bridge.select(Selection.clock(1))
    assert action.reason == "this recording has the frames of one loop only"

    recorded.bridge.timeline.loops[1] = LoopFrames("loop", LoopKind.DRAWS_FRAMES)
    recorded.bridge.refresh_now()

    assert action.isEnabled()


def recording(folder: Path) -> Path:
    """Return a recording of a second of a scene."""
    return record(scene_log("1", 1), folder / "a.tlrec")


def test_that_a_recording_is_opened_like_a_scene(lend: Lend, tmp_path: Path) -> None:
    path = recording(tmp_path)
    shell = lend(path)
    bridge, window = shell.bridge, shell.window

    assert bridge.status.phase is SessionPhase.HELD
    assert bridge.status.message.startswith("Recording of test: ")
    assert window.windowTitle() == "test (recording) – Timeline Inspector"
    assert str(path) in window.settings.recent_scenes
    transport = window.transport
    assert transport.rates.isHidden()
    assert not window.actions_by_id["frame-rate-exact"].isEnabled()
    assert window.actions_by_id["step-n-exact"].isEnabled()
    end_ns = bridge.timeline.at_ns
    shell.trigger("step-back")
    assert bridge.playhead_ns is not None
    assert bridge.playhead_ns < end_ns
    settle()
    assert "the recording ends at" in window.transport.time_button.toolTip()


def test_that_nothing_is_said_to_have_been_done_when_a_recording_is_opened(
    lend: Lend, tmp_path: Path
) -> None:
    path = record(scene_log("1", 6), tmp_path / "a.tlrec")
    shell = lend(None)

    shell.window.open_path(path)
    settle()

    assert len(shell.bridge.timeline.commands)
    assert not shell.window.notice.message


def test_that_what_is_no_recording_is_said_to_be_none(lend: Lend, tmp_path: Path) -> None:
    path = tmp_path / "b.tlrec"
    path.write_text("hello", encoding="utf-8")
    shell = lend(path)

    problem = shell.bridge.status
    recording(tmp_path).replace(path)
    shell.trigger("reload")
    mended = shell.bridge.status

    assert (problem.phase, mended.phase) == (SessionPhase.FAILED, SessionPhase.HELD)
    assert "is not a recording" in problem.message


def test_that_what_cannot_be_changed_in_a_recording_does_not_leave_the_past(
    recorded: Shell,
) -> None:
    recorded.bridge.set_playhead(100 * NS_PER_MS)

    recorded.bridge.submit(PauseClock(1))

    assert recorded.bridge.playhead_ns == 100 * NS_PER_MS


def test_that_recordings_can_be_dropped_on_the_window(shell: Shell, tmp_path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(recording(tmp_path)))])
    actions, button = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    modifiers = Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(5, 5), actions, data, button, modifiers)
    drop = QDropEvent(QPointF(5, 5), actions, data, button, modifiers)

    QApplication.sendEvent(shell.window, enter)
    QApplication.sendEvent(shell.window, drop)

    assert shell.bridge.status.message.startswith("Recording of test: ")


def test_that_a_recording_no_event_of_which_can_be_read_is_not_called_no_scene(
    lend: Lend, tmp_path: Path
) -> None:
    path = tmp_path / "damaged.tlrec"
    record(scene_log(seconds=1), path)
    with closing(connect(path)) as database:
        database.executescript("DELETE FROM keyframes; UPDATE chunks SET crc = crc + 1;")
    shell = lend(None)

    shell.window.open_path(path)
    settle()

    clocks = cast("ClockTreePanel", shell.window.panels.panel("clock_tree"))
    calls = cast("TimerQueuePanel", shell.window.panels.panel("timer_queue"))
    lanes = cast("TimelinePanel", shell.window.panels.panel("timeline"))
    assert clocks.notice.text() == "No clocks: this recording has none."
    assert lanes.isVisible()
    assert lanes.notice.text() == clocks.notice.text()
    assert calls.notice.text() == "No calls: this recording has none."


def test_that_the_details_count_the_missing_events_of_a_damaged_recording(
    lend: Lend, tmp_path: Path
) -> None:
    path, log = tmp_path / "damaged.tlrec", scene_log(seconds=1)
    record(log, path, portion=400)
    with closing(connect(path)) as database:
        database.executescript("UPDATE chunks SET crc = crc + 1 WHERE first_cursor = 400;")
    shell = lend(None)

    shell.window.open_path(path)
    settle()

    details = cast("WhyPanel", shell.window.panels.panel("details"))
    assert "Missing\t400 events" in details.text()
    details.grid.link_activated.emit("DO:whole")
    assert f"Events\t{log.end:,}, 400 of them missing" in details.text()
    told = shell.window.notice.log_note.toolTip()
    assert f"{log.end - 400:,} events in the file, 400 are missing." in told


def test_that_a_recording_without_frames_says_so(lend: Lend) -> None:
    shell = lend(None)
    session = Recorded()
    session.root.set_interval(0.05, lambda: None, name="tick")
    session.run_to_ms(200)
    shell.bridge.set_session(session)
    settle()

    frame_times = shell.window.findChild(FramePlot)
    assert frame_times is not None
    assert frame_times._overlay.empty_text == NONE_IN_FILE_TEXT.format("recording")
