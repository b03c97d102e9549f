"""Scenes are opened, reloaded and closed through the bridge."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from inspector.clocks import FailurePolicy, ManualTimeSource
from inspector.clocks.sources.time_source import TimeSource
from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.clocks import PauseClock
from inspector.commands.recording import StartRecording
from inspector.commands.scene import Reload, SetFailurePolicy
from inspector.commands.transport import Hold, Run, StepFrames
from inspector.errors import SceneError
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.sessions.hosted import HostedSession
from inspector.sessions.session import SessionPhase, SessionStatus
from inspector.timebase import NS_PER_MS
from tests.ui.bridge_stand import Noted, PlayedSession, is_refreshing, wait_ms
from ui.kit.theme import Theme
from ui.session.bridge import (
    Selection,
    SelectionKind,
    SessionBridge,
)
from ui.session.qt_time_source import Precision, QtTimeSource
from ui.window.application import make_application
from ui.window.contents import WindowContents
from ui.window.main_window import MainWindow
from ui.window.settings import SettingsFile

SCENE = """
def build(stage):
    enemies = stage.root.child("enemies")
    enemies.set_interval(0.005, lambda: None, name="blink")
"""


#: Imports what is beside it when it is loaded, and again when it is called.
NEIGHBOURLY_SCENE = """
import helper

def tell(stage):
    import helper
    stage.mark(f"helper counts {helper.count}")

def build(stage):
    stage.root.set_interval(0.001, tell, stage, name="blink")
"""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "scene.py"
    path.write_text(SCENE)
    return path


def test_that_a_scene_is_opened_on_a_qt_time_source_and_runs(
    bridge: SessionBridge, noted: Noted, scene: Path, qtbot: QtBot
) -> None:
    bridge.open_scene(scene)

    assert isinstance(bridge.session, HostedSession)
    assert isinstance(bridge._source, QtTimeSource)
    assert bridge.status.phase is SessionPhase.RUNNING
    qtbot.waitUntil(lambda: len(bridge.timeline.frames) >= 3)
    bridge.refresh_now()
    assert sum(noted.events) == bridge.session.log.end
    assert bridge.session.wake_errors is not None
    bridge.close()


def test_that_a_held_scene_causes_no_wake_ups(
    bridge: SessionBridge, scene: Path, qtbot: QtBot
) -> None:
    bridge.open_scene(scene)
    source = bridge._source
    assert isinstance(source, QtTimeSource)
    bridge.submit(Hold())
    qtbot.waitUntil(lambda: bridge.status.phase is SessionPhase.HELD)
    qtbot.waitUntil(lambda: not is_refreshing(bridge))
    wakes = source.wakes

    wait_ms(150)

    assert source.wakes == wakes
    assert not is_refreshing(bridge)
    bridge.close()


def test_that_a_step_is_seen_in_the_next_turn(
    bridge: SessionBridge, scene: Path, qtbot: QtBot
) -> None:
    bridge.open_scene(scene)
    bridge.submit(Hold())
    qtbot.waitUntil(lambda: bridge.status.phase is SessionPhase.HELD)
    frames = len(bridge.timeline.frames)

    with qtbot.waitSignal(bridge.refreshed):
        bridge.submit(StepFrames(10))

    assert len(bridge.timeline.frames) == frames + 10
    bridge.close()


def test_that_a_branch_is_paused_by_the_event_that_comes_back(
    bridge: SessionBridge, scene: Path, qtbot: QtBot
) -> None:
    bridge.open_scene(scene)
    enemies = next(c.id for c in bridge.timeline.clocks.values() if c.name == "enemies")

    bridge.submit(PauseClock(enemies))

    assert not bridge.timeline.clocks[enemies].paused
    qtbot.waitUntil(lambda: bridge.timeline.clocks[enemies].paused)
    bridge.close()


def test_that_a_scene_that_fails_to_build_is_a_status_and_can_be_reloaded(
    bridge: SessionBridge, noted: Noted, scene: Path, qtbot: QtBot
) -> None:
    scene.write_text("def build(stage):\n    stage.rot\n")

    bridge.open_scene(scene)

    assert bridge.status.phase is SessionPhase.FAILED
    assert bridge.status.line == 2
    scene.write_text(SCENE)
    bridge.reload()
    qtbot.waitUntil(lambda: bridge.status.phase is SessionPhase.RUNNING)
    assert noted.sessions[-1] is bridge.session
    bridge.close()


def test_that_a_reload_runs_the_file_as_it_is_now(
    bridge: SessionBridge, scene: Path, qtbot: QtBot
) -> None:
    bridge.open_scene(scene)
    scene.write_text(SCENE.replace("enemies", "rivals"))

    bridge.reload()

    names = [clock.name for clock in bridge.timeline.clocks.values()]
    assert names[-1] == "enemies"
    with qtbot.waitSignal(bridge.session_changed):
        pass
    names = [clock.name for clock in bridge.timeline.clocks.values()]
    assert names[-1] == "rivals"
    bridge.close()


def test_that_what_opening_raises_becomes_a_status_and_opening_can_be_tried_again(
    qapp: QCoreApplication, tmp_path: Path
) -> None:
    assert qapp is not None
    sources: list[ManualTimeSource] = []
    session = PlayedSession()
    results: list[PlayedSession | Exception] = [SceneError("It is not there. Look again."), session]

    def make_source(_precision: Precision) -> TimeSource:
        sources.append(ManualTimeSource())
        return sources[-1]

    def make_session(_path: Path, _source: TimeSource) -> PlayedSession:
        result = results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    bridge = SessionBridge(make_source=make_source, make_session=make_session)
    noted = Noted()
    noted.listen(bridge)

    bridge.open_scene(tmp_path / "nowhere.py")

    assert noted.sessions == [None]
    assert [(s.phase, s.message) for s in noted.statuses] == [
        (SessionPhase.FAILED, "It is not there. Look again.")
    ]
    bridge.reload()
    assert noted.sessions == [None, session]
    assert len(sources) == 2


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("bad.py", "def build(stage):\n    stage.rot\n", "has no attribute 'rot'"),
        ("bad.py", "import helper\nhelper.count = 7\n1 / 0\n", "ZeroDivisionError"),
        ("bad.tlrec", "no recording", "bad.tlrec"),
        ("bad.csv", "a,b\nx,y\n", "no column of numbers"),
    ],
)
def test_that_a_file_that_cannot_be_opened_leaves_the_session_alone(
    qapp: QCoreApplication, tmp_path: Path, name: str, content: str, said: str
) -> None:
    assert qapp is not None
    bridge = SessionBridge(make_source=lambda _precision: ManualTimeSource())
    noted = Noted()
    noted.listen(bridge)
    (tmp_path / "helper.py").write_text("count = 1\n")
    scene = tmp_path / "scene.py"
    scene.write_text(NEIGHBOURLY_SCENE)
    bridge.open_scene(scene)
    session = bridge.session
    assert isinstance(session, HostedSession)
    session.hold()
    bridge.refresh_now()
    bridge.submit(StartRecording(str(tmp_path / "run.tlrec")))
    bridge.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "blink")))
    bridge.select(Selection(SelectionKind.CLOCK, 2))
    bad = tmp_path / name
    bad.write_text(content)
    problems: list[SessionStatus] = []
    bridge.opening_failed.connect(problems.append)
    noted.sessions.clear()

    bridge.open_path(bad)

    assert [status.phase for status in problems] == [SessionPhase.FAILED]
    assert said in problems[0].message + problems[0].detail
    assert id(bridge.session) == id(session)
    assert noted.sessions == []
    assert bridge.status.phase is SessionPhase.HELD
    assert bridge.selection == Selection(SelectionKind.CLOCK, 2)
    assert session.recorder.is_recording
    assert len(session.breakpoints.items()) == 1
    bridge.submit(StepFrames(2))
    bridge.refresh_now()
    marks = [text for text in session.log.strings if text.startswith("helper counts")]
    assert marks == ["helper counts 1"]
    bridge.close()


def test_that_a_scene_beside_the_one_that_runs_has_its_own_neighbours(
    qapp: QCoreApplication, tmp_path: Path
) -> None:
    assert qapp is not None
    bridge = SessionBridge(make_source=lambda _precision: ManualTimeSource())
    (tmp_path / "helper.py").write_text("count = 1\n")
    for name in ("first.py", "second.py"):
        (tmp_path / name).write_text(NEIGHBOURLY_SCENE)
    bridge.open_scene(tmp_path / "first.py")
    (tmp_path / "helper.py").write_text("count = 2\n")

    bridge.open_scene(tmp_path / "second.py")
    assert isinstance(bridge.session, HostedSession)
    bridge.session.hold()
    bridge.submit(StepFrames(2))
    bridge.refresh_now()

    assert "helper counts 2" in bridge.session.log.strings
    bridge.close()
    assert "helper" not in sys.modules


def test_that_without_a_session_commands_and_reloads_do_nothing(bridge: SessionBridge) -> None:
    bridge.submit(Run())
    bridge.reload()
    bridge.refresh_now()
    bridge.request_refresh()

    assert bridge.session is None
    assert not is_refreshing(bridge)


def test_that_the_precision_holds_for_the_present_and_for_later_scenes(
    bridge: SessionBridge, scene: Path, qtbot: QtBot
) -> None:
    bridge.open_scene(scene)
    first = bridge._source
    assert isinstance(first, QtTimeSource)

    with qtbot.waitSignal(bridge.precision_changed) as blocker:
        bridge.set_precision(Precision.FINE)
    bridge.open_scene(scene)

    second = bridge._source
    assert isinstance(second, QtTimeSource)
    assert blocker.args == [Precision.FINE]
    assert second is not first
    assert (first.precision, second.precision) == (Precision.FINE, Precision.FINE)
    bridge.close()


def test_that_the_failure_policy_that_was_chosen_holds_for_the_next_scene(
    bridge: SessionBridge, scene: Path
) -> None:
    bridge.open_scene(scene)
    bridge.submit(SetFailurePolicy(FailurePolicy.STOP))

    bridge.open_scene(scene)

    assert isinstance(bridge.session, HostedSession)
    assert bridge.session.failure_policy is FailurePolicy.STOP
    bridge.close()


def test_that_a_closed_scene_leaves_no_time_source_behind(
    bridge: SessionBridge, scene: Path, qtbot: QtBot
) -> None:
    gone: list[bool] = []
    bridge.open_scene(scene)
    source = bridge._source
    assert isinstance(source, QtTimeSource)
    source._timer.destroyed.connect(lambda: gone.append(True))
    qtbot.waitUntil(lambda: len(bridge.timeline.frames) >= 1)

    bridge.close()

    qtbot.waitUntil(lambda: gone == [True])


def test_that_reloading_is_a_command_like_any_other(bridge: SessionBridge) -> None:
    session = PlayedSession()
    bridge.set_session(session)

    bridge.reload()

    assert session.commands == [Reload()]


def test_that_showing_a_scene_for_long_is_no_long_frame_of_it(qtbot: QtBot, tmp_path: Path) -> None:
    make_application()
    settings_file = SettingsFile(tmp_path / "settings.json")
    window = MainWindow(Theme("light"), settings_file, settings_file.load())
    qtbot.addWidget(window)
    now_ns = 0

    def read() -> int:
        nonlocal now_ns
        now_ns += NS_PER_MS // 10
        return now_ns

    def stall(_session: object) -> None:
        nonlocal now_ns
        now_ns += 400 * NS_PER_MS

    bridge = SessionBridge(make_source=lambda _precision: QtTimeSource(clock=read))
    WindowContents(window, bridge)
    window.show()
    bridge.session_changed.connect(stall)
    (tmp_path / "scene.py").write_text(SCENE, "utf-8")

    window.open_path(tmp_path / "scene.py")
    qtbot.waitUntil(lambda: bridge.timeline.frames.end > 0)

    assert bridge.timeline.frames.interval_ns[0] < 300 * NS_PER_MS
    bridge.close()
