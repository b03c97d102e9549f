"""When the window is refreshed: not too often, not in vain, and not too late."""

from __future__ import annotations

import threading

from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from inspector.sessions.commands import (
    AddMark,
    Hold,
    Run,
    StepFrames,
)
from inspector.sessions.session import SessionPhase
from tests.ui.bridge_stand import MS, Noted, PlayedSession, is_quick, is_refreshing, wait_ms
from ui.refresh_pace import WRITING_REFRESH_MS, RefreshPace
from ui.session_bridge import (
    QUIET_REFRESH_MS,
    REFRESH_MS,
    SessionBridge,
)


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
    assert noted.events


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

    assert blocker.args == [5 * 2]


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


def test_that_a_held_session_is_refreshed_slowly_while_it_is_written_to_a_file(
    qapp: QCoreApplication,
) -> None:
    assert qapp is not None
    pace = RefreshPace(clock=lambda: 0)
    pace.phase, pace.is_writing = SessionPhase.HELD, True
    pace.begin_turn()

    pace.end_turn(has_news=False)
    assert pace.next_ms == WRITING_REFRESH_MS
    pace.end_turn(has_news=True)
    assert pace.next_ms == REFRESH_MS
    pace.is_writing = False
    pace.end_turn(has_news=False)

    assert pace.next_ms is None


def test_that_a_refresh_asked_for_inside_a_refresh_comes_after_it(
    bridge: SessionBridge, noted: Noted
) -> None:
    bridge.set_session(PlayedSession())
    depth: list[int] = []

    def again(_events: int) -> None:
        depth.append(len(depth))
        if len(depth) == 1:
            bridge.refresh_now()

    bridge.refreshed.connect(again)
    bridge.refresh_now()

    assert depth == [0, 1]
    assert len(noted.events) == 3
