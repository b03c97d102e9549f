"""The bridge: when it refreshes, what it says is new, and what all panels share."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer
from pytestqt.qtbot import QtBot

from inspector.clocks import ClockTree, FailurePolicy, ManualTimeSource
from inspector.clocks.time_source import TimeSource
from inspector.clocks.wake_errors import WakeErrorSummary
from inspector.errors import SceneError
from inspector.sessions.annotations import Annotations
from inspector.sessions.breakpoints import Breakpoints
from inspector.sessions.commands import (
    AddMark,
    Capability,
    Command,
    Hold,
    PauseClock,
    Reload,
    Run,
    SetFailurePolicy,
    StepFrames,
)
from inspector.sessions.hosted import HostedSession
from inspector.sessions.interventions import Undoing
from inspector.sessions.session import SessionPhase, SessionStatus
from inspector.trace import EventLog, Timeline
from inspector.trace.history import LogHistory
from inspector.vocabulary import FRAME_BEGAN, FRAME_ENDED, TRANSPORT
from ui.qt_time_source import Precision, QtTimeSource
from ui.session_bridge import (
    QUIET_REFRESH_MS,
    REFRESH_MS,
    RefreshInfo,
    Selection,
    SelectionKind,
    SessionBridge,
)

MS = 1_000_000

SCENE = """
def build(stage):
    enemies = stage.root.child("enemies")
    enemies.set_interval(0.005, lambda: None, name="blink")
"""


class PlayedSession:
    """A session whose events are made by the test, on a real clock tree."""

    def __init__(self, phase: SessionPhase = SessionPhase.HELD, *, pauses: int = 0) -> None:
        self.phase = phase
        self.message = ""
        self.commands: list[Command] = []
        self.refreshes = 0
        self.is_closed = False
        self.capabilities = frozenset(Capability)
        self.title = "played"
        self.source_label = "a test"
        self.frame_rate = Fraction(60)
        self.wake_error_ns: WakeErrorSummary | None = None
        self.breakpoints: Breakpoints | None = None
        self.undoing: Undoing | None = None
        self.annotations = Annotations()
        self.begin("enemies", pauses=pauses)

    def begin(self, name: str, *, pauses: int = 0) -> None:
        """Begin a new log, as a reload does."""
        self.log = EventLog()
        self.history = LogHistory(self.log)
        self.timeline = Timeline(self.log.strings)
        self.tree = ClockTree(self.log)
        self.clock = self.tree.root.child(name)
        for _ in range(pauses):
            self.clock.pause()
            self.clock.resume()
        self.frames = 0
        self._cursor = 0

    def replace_timeline(self) -> None:
        """Fold the same log into another timeline, as when events were lost."""
        self.timeline = Timeline(self.log.strings)
        self._cursor = 0

    def add_frames(self, count: int) -> None:
        for _ in range(count):
            self.log.append((0, FRAME_BEGAN, 1, self.frames, 0))
            self.log.append((0, FRAME_ENDED, 1, 16 * MS, 2 * MS))
            self.frames += 1

    @property
    def status(self) -> SessionStatus:
        return SessionStatus(self.phase, self.message)

    def submit(self, command: Command) -> None:
        self.commands.append(command)
        if isinstance(command, Run | Hold):
            is_running = isinstance(command, Run)
            self.phase = SessionPhase.RUNNING if is_running else SessionPhase.HELD
            self.log.append((0, TRANSPORT, int(is_running), 0, 0))

    def refresh(self) -> int:
        self.refreshes += 1
        batch = self.log.read(self._cursor)
        self._cursor = batch.cursor
        return self.timeline.apply_all(batch.events)

    def close(self) -> None:
        self.is_closed = True


@dataclass
class Noted:
    """What the bridge has said, in order."""

    infos: list[RefreshInfo] = field(default_factory=list)
    sessions: list[object] = field(default_factory=list)
    statuses: list[SessionStatus] = field(default_factory=list)

    def listen(self, bridge: SessionBridge) -> None:
        bridge.refreshed.connect(self.infos.append)
        bridge.session_changed.connect(self.sessions.append)
        bridge.status_changed.connect(self.statuses.append)


@pytest.fixture
def bridge(qapp: QCoreApplication) -> SessionBridge:
    assert qapp is not None
    return SessionBridge()


@pytest.fixture
def noted(bridge: SessionBridge) -> Noted:
    noted = Noted()
    noted.listen(bridge)
    return noted


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "scene.py"
    path.write_text(SCENE)
    return path


def is_refreshing(bridge: SessionBridge) -> bool:
    return bridge.pace.next_ms is not None


def is_quick(bridge: SessionBridge) -> bool:
    return 0 < (bridge.pace.next_ms or 0) <= REFRESH_MS


def wait_ms(milliseconds: int) -> None:
    """Run the event loop for a while that is the subject of the test."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


# ---------------------------------------------------------------- what is new


def test_that_without_a_session_the_timeline_is_empty(bridge: SessionBridge) -> None:
    assert bridge.session is None
    assert bridge.timeline.clocks == {}
    assert bridge.status == SessionStatus(SessionPhase.EMPTY, "No scene is open.")


def test_that_a_session_is_announced_before_its_first_refresh(
    bridge: SessionBridge, noted: Noted
) -> None:
    session = PlayedSession()
    clocks: list[int] = []
    bridge.session_changed.connect(lambda shown: clocks.append(len(shown.timeline.clocks)))

    bridge.set_session(session)

    assert noted.sessions == [session]
    assert clocks == [2]
    assert noted.infos == [RefreshInfo(4, True, True, True, 0, True, True)]
    assert bridge.timeline is session.timeline


def test_that_a_refresh_with_nothing_new_says_so(bridge: SessionBridge, noted: Noted) -> None:
    bridge.set_session(PlayedSession())

    bridge.refresh_now()

    assert noted.infos[-1] == RefreshInfo(0, False, False, False, 0)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda s: s.tree.root.child("ui"), (True, False, True)),
        (lambda s: s.clock.pause(), (False, True, True)),
        (lambda s: setattr(s.clock, "rate", 2), (False, True, True)),
        (lambda s: s.clock.set_timeout(1, print), (False, True, False)),
    ],
    ids=["a clock comes", "a clock is paused", "a rate changes", "a timer comes"],
)
def test_that_a_refresh_says_what_kind_of_thing_has_changed(
    bridge: SessionBridge,
    noted: Noted,
    change: Callable[[PlayedSession], object],
    expected: tuple[bool, bool, bool],
) -> None:
    session = PlayedSession()
    bridge.set_session(session)
    change(session)

    bridge.refresh_now()

    info = noted.infos[-1]
    assert info.events > 0
    assert (info.structure_changed, info.timers_changed, info.mapping_changed) == expected


def test_that_frames_are_counted(bridge: SessionBridge, noted: Noted) -> None:
    session = PlayedSession()
    session.add_frames(3)
    bridge.set_session(session)
    session.add_frames(2)

    bridge.refresh_now()

    assert [info.frames_added for info in noted.infos] == [3, 2]


def test_that_after_a_reload_everything_is_announced_anew(
    bridge: SessionBridge, noted: Noted
) -> None:
    session = PlayedSession()
    session.add_frames(9)
    bridge.set_session(session)
    session.begin("enemies")
    session.add_frames(4)

    bridge.refresh_now()

    assert noted.sessions == [session, session]
    assert noted.infos[-1] == RefreshInfo(12, True, True, True, 4, True, True)


def test_that_a_timeline_folded_anew_is_announced_but_its_frames_are_counted_on(
    bridge: SessionBridge, noted: Noted
) -> None:
    session = PlayedSession()
    session.add_frames(9)
    bridge.set_session(session)
    bridge.select(Selection.frame(3))
    session.replace_timeline()
    session.add_frames(1)

    bridge.refresh_now()

    assert noted.sessions == [session, session]
    assert noted.infos[-1].frames_added == 1
    assert noted.infos[-1].timers_changed
    assert bridge.selection == Selection.frame(3)


def test_that_the_status_is_announced_only_when_it_changes(
    bridge: SessionBridge, noted: Noted
) -> None:
    session = PlayedSession()
    bridge.set_session(session)
    bridge.refresh_now()
    session.message = "Held at 00:01.000."

    bridge.refresh_now()
    bridge.refresh_now()

    assert noted.statuses == [
        SessionStatus(SessionPhase.HELD),
        SessionStatus(SessionPhase.HELD, "Held at 00:01.000."),
    ]
    assert bridge.status is noted.statuses[-1]


def test_that_the_former_session_is_closed(bridge: SessionBridge, noted: Noted) -> None:
    first, second = PlayedSession(), PlayedSession()
    bridge.set_session(first)

    bridge.set_session(second)

    assert first.is_closed
    assert not second.is_closed
    assert noted.sessions == [first, second]


def test_that_setting_the_same_session_again_does_not_close_it(
    bridge: SessionBridge, noted: Noted
) -> None:
    session = PlayedSession()
    bridge.set_session(session)

    bridge.set_session(session)

    assert not session.is_closed
    assert noted.sessions == [session]


def test_that_closing_ends_with_no_session_and_nothing_running(
    bridge: SessionBridge, noted: Noted
) -> None:
    session = PlayedSession(SessionPhase.RUNNING)
    bridge.set_session(session)

    bridge.close()

    assert session.is_closed
    assert noted.sessions == [session, None]
    assert noted.statuses[-1].phase is SessionPhase.EMPTY
    assert bridge.timeline.clocks == {}
    assert not is_refreshing(bridge)


# -------------------------------------------------------- when it refreshes


def test_that_a_running_session_is_refreshed_at_most_60_times_a_second(
    bridge: SessionBridge,
) -> None:
    session = PlayedSession(SessionPhase.RUNNING)
    bridge.set_session(session)
    session.refreshes = 0
    session.add_frames(1)

    wait_ms(200)

    assert 0 < session.refreshes <= 200 / REFRESH_MS + 1


def test_that_a_held_session_is_not_refreshed_once_nothing_new_was_found(
    bridge: SessionBridge, qtbot: QtBot
) -> None:
    session = PlayedSession()
    bridge.set_session(session)
    assert is_refreshing(bridge)

    qtbot.waitUntil(lambda: not is_refreshing(bridge))

    assert session.refreshes == 2


def test_that_a_command_to_a_held_session_is_followed_by_a_refresh(
    bridge: SessionBridge, noted: Noted, qtbot: QtBot
) -> None:
    session = PlayedSession()
    bridge.set_session(session)
    qtbot.waitUntil(lambda: not is_refreshing(bridge))

    with qtbot.waitSignal(bridge.refreshed):
        bridge.submit(AddMark("here"))

    assert session.commands == [AddMark("here")]
    qtbot.waitUntil(lambda: not is_refreshing(bridge))
    assert noted.infos


def test_that_many_commands_in_one_turn_are_followed_by_one_refresh(
    bridge: SessionBridge, qtbot: QtBot
) -> None:
    session = PlayedSession()
    bridge.set_session(session)
    qtbot.waitUntil(lambda: not is_refreshing(bridge))
    session.refreshes = 0

    for _ in range(100):
        bridge.submit(StepFrames(1))
    qtbot.waitUntil(lambda: not is_refreshing(bridge))

    assert len(session.commands) == 100
    assert session.refreshes == 1


def test_that_running_starts_the_refreshes_and_holding_ends_them(
    bridge: SessionBridge, qtbot: QtBot
) -> None:
    session = PlayedSession()
    bridge.set_session(session)
    qtbot.waitUntil(lambda: not is_refreshing(bridge))

    bridge.submit(Run())
    qtbot.waitUntil(lambda: bridge.status.phase is SessionPhase.RUNNING)
    assert is_refreshing(bridge)
    bridge.submit(Hold())

    qtbot.waitUntil(lambda: not is_refreshing(bridge))
    assert bridge.status.phase is SessionPhase.HELD
    assert not bridge.timeline.is_running


def test_that_a_running_session_in_which_nothing_happens_is_refreshed_slowly(
    bridge: SessionBridge,
) -> None:
    session = PlayedSession(SessionPhase.RUNNING)
    bridge.set_session(session)
    assert is_quick(bridge)

    for _ in range(40):
        bridge.refresh_now()
    assert REFRESH_MS < (bridge.pace.next_ms or 0) <= QUIET_REFRESH_MS
    session.add_frames(1)
    bridge.refresh_now()

    assert is_quick(bridge)


def test_that_a_command_hastens_a_slow_refresh(bridge: SessionBridge) -> None:
    bridge.set_session(PlayedSession(SessionPhase.RUNNING))
    for _ in range(40):
        bridge.refresh_now()

    bridge.submit(AddMark("here"))

    assert is_quick(bridge)


def test_that_a_refresh_that_takes_long_is_followed_by_as_long_a_pause(
    qapp: QCoreApplication,
) -> None:
    assert qapp is not None
    now_ns = [0]
    bridge = SessionBridge(clock=lambda: now_ns[0])
    bridge.set_session(PlayedSession(SessionPhase.RUNNING))

    def draw() -> None:
        now_ns[0] += 40 * MS

    bridge.refreshed.connect(draw)
    bridge.refresh_now()

    assert bridge.pace.next_ms == 40


def test_that_a_hidden_window_is_not_refreshed(bridge: SessionBridge) -> None:
    session = PlayedSession(SessionPhase.RUNNING)
    bridge.set_session(session)

    bridge.set_visible(False)
    bridge.submit(AddMark("here"))

    assert not bridge.is_visible
    assert not is_refreshing(bridge)


def test_that_a_window_shown_again_catches_up(bridge: SessionBridge, qtbot: QtBot) -> None:
    session = PlayedSession()
    bridge.set_session(session)
    bridge.set_visible(False)
    session.add_frames(5)
    session.refreshes = 0

    with qtbot.waitSignal(bridge.refreshed) as blocker:
        bridge.set_visible(True)

    assert blocker.args is not None
    assert blocker.args[0].frames_added == 5


def test_that_a_command_from_another_thread_is_followed_by_a_refresh_on_ours(
    bridge: SessionBridge, qtbot: QtBot
) -> None:
    session = PlayedSession()
    bridge.set_session(session)
    qtbot.waitUntil(lambda: not is_refreshing(bridge))
    threads: list[int] = []
    bridge.refreshed.connect(lambda _info: threads.append(threading.get_ident()))

    thread = threading.Thread(target=bridge.submit, args=[AddMark("from elsewhere")])
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: bool(threads))

    assert session.commands == [AddMark("from elsewhere")]
    assert set(threads) == {threading.get_ident()}


def test_that_a_session_that_notifies_of_changes_is_refreshed_without_polling(
    bridge: SessionBridge, qtbot: QtBot
) -> None:
    class NotifyingSession(PlayedSession):
        on_change: Callable[[], None] | None = None

    session = NotifyingSession()
    bridge.set_session(session)
    qtbot.waitUntil(lambda: not is_refreshing(bridge))
    assert session.on_change is not None

    with qtbot.waitSignal(bridge.refreshed):
        session.on_change()
    bridge.close()

    assert session.on_change is None


def test_that_a_refresh_asked_for_inside_a_refresh_comes_after_it(
    bridge: SessionBridge, noted: Noted
) -> None:
    bridge.set_session(PlayedSession())
    depth: list[int] = []

    def again(_info: RefreshInfo) -> None:
        depth.append(len(depth))
        if len(depth) == 1:
            bridge.refresh_now()

    bridge.refreshed.connect(again)
    bridge.refresh_now()

    assert depth == [0, 1]
    assert len(noted.infos) == 3


# ---------------------------------------------------- what all panels share


def test_that_a_selection_is_announced_once(bridge: SessionBridge, qtbot: QtBot) -> None:
    with qtbot.waitSignal(bridge.selection_changed) as blocker:
        bridge.select(Selection.clock(2))

    assert blocker.args == [Selection.clock(2)]
    with qtbot.assertNotEmitted(bridge.selection_changed):
        bridge.select(Selection.clock(2))
    assert bridge.selection.kind is SelectionKind.CLOCK


def test_that_selections_are_equal_by_kind_and_number() -> None:
    assert Selection.timer(3) != Selection.frame(3)
    assert Selection.nothing() == Selection()


def test_that_a_hover_instant_is_announced_once(bridge: SessionBridge, qtbot: QtBot) -> None:
    with qtbot.waitSignal(bridge.hover_changed) as blocker:
        bridge.set_hover(5 * MS)

    assert blocker.args == [5 * MS]
    assert bridge.hover_ns == 5 * MS
    with qtbot.assertNotEmitted(bridge.hover_changed):
        bridge.set_hover(5 * MS)


def test_that_a_hover_instant_beyond_32_bits_arrives_whole(bridge: SessionBridge) -> None:
    heard: list[object] = []
    bridge.hover_changed.connect(heard.append)

    bridge.set_hover(2**40 + 1)
    bridge.set_hover(None)

    assert heard == [2**40 + 1, None]


def test_that_following_is_announced_once(bridge: SessionBridge, qtbot: QtBot) -> None:
    assert bridge.is_following

    with qtbot.waitSignal(bridge.following_changed) as blocker:
        bridge.set_following(False)

    assert blocker.args == [False]
    with qtbot.assertNotEmitted(bridge.following_changed):
        bridge.set_following(False)


def test_that_budgets_keep_their_order_and_lose_repetitions(
    bridge: SessionBridge, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(bridge.budgets_changed) as blocker:
        bridge.set_budgets_ms([16.7, 8.3, 16.7])

    assert blocker.args == [(16.7, 8.3)]
    assert bridge.budgets_ms == (16.7, 8.3)


@pytest.mark.parametrize("budget_ms", [0, -1.0, float("nan"), float("inf")])
def test_that_an_unusable_budget_is_refused(bridge: SessionBridge, budget_ms: float) -> None:
    with pytest.raises(ValueError, match=f"above 0 ms: {budget_ms}"):
        bridge.set_budgets_ms([budget_ms])


def test_that_another_session_clears_selection_and_hover(bridge: SessionBridge) -> None:
    bridge.set_session(PlayedSession())
    bridge.select(Selection.timer(1))
    bridge.set_hover(3)

    bridge.set_session(PlayedSession())

    assert bridge.selection == Selection.nothing()
    assert bridge.hover_ns is None


@pytest.mark.parametrize(("name", "is_kept"), [("enemies", True), ("audio", False)])
def test_that_after_a_reload_a_clock_stays_selected_if_it_is_back(
    bridge: SessionBridge, name: str, *, is_kept: bool
) -> None:
    session = PlayedSession()
    bridge.set_session(session)
    bridge.select(Selection.clock(session.clock.id))
    session.begin(name)

    bridge.refresh_now()

    assert (bridge.selection == Selection.clock(session.clock.id)) is is_kept


# ------------------------------------------------------------ opening scenes


def test_that_a_scene_is_opened_on_a_qt_time_source_and_runs(
    bridge: SessionBridge, noted: Noted, scene: Path, qtbot: QtBot
) -> None:
    bridge.open_scene(scene)

    assert isinstance(bridge.session, HostedSession)
    assert isinstance(bridge._source, QtTimeSource)
    assert bridge.status.phase is SessionPhase.RUNNING
    qtbot.waitUntil(lambda: len(bridge.timeline.frames) >= 3)
    assert sum(info.frames_added for info in noted.infos) == len(bridge.timeline.frames)
    assert bridge.session.wake_error_ns is not None
    bridge.close()


def test_that_a_held_scene_wakes_nobody_at_all(
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
    former = PlayedSession()
    bridge.set_session(former)
    noted = Noted()
    noted.listen(bridge)

    bridge.open_scene(tmp_path / "nowhere.py")

    assert former.is_closed
    assert noted.sessions == [None]
    assert [(s.phase, s.message) for s in noted.statuses] == [
        (SessionPhase.FAILED, "It is not there. Look again.")
    ]
    bridge.reload()
    assert noted.sessions == [None, session]
    assert len(sources) == 2


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
