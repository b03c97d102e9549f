"""When the window is refreshed: not too often, not in vain, and not too late."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QObject, QTimer
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from inspector.commands.scene import AddMark
from inspector.commands.transport import Hold, Run, StepFrames
from inspector.sessions.session import SessionPhase
from tests.ui.bridge_stand import MS, Noted, PlayedSession, is_quick, is_refreshing, wait_ms
from ui.kit.throttled_refresh import TEXT_MS
from ui.plotting.shared_view import SharedView
from ui.session.bridge import (
    QUIET_REFRESH_MS,
    REFRESH_MS,
    SessionBridge,
)
from ui.session.refresh_timer import RefreshTimer


@pytest.fixture
def bridge(qapp: QCoreApplication) -> Iterator[SessionBridge]:
    """The bridge alone, whose refreshes take no time on the busiest machine."""
    assert qapp is not None
    bridge = SessionBridge(clock=lambda: 0)
    yield bridge
    bridge.close()


def test_that_a_running_session_is_refreshed_at_most_30_times_a_second(
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

    for _ in range(20):
        bridge.refresh_now()
    assert REFRESH_MS < (bridge.refresh_timer.next_ms or 0) <= QUIET_REFRESH_MS
    for _ in range(4):
        session.add_frames(1)
        bridge.refresh_now()

    assert is_quick(bridge)


@pytest.mark.parametrize(("apart_ms", "is_quick"), [(90, True), (400, False)])
def test_that_a_running_session_is_refreshed_often_while_much_happens(
    apart_ms: int, is_quick: bool
) -> None:
    now_ns = [0]
    bridge = SessionBridge(clock=lambda: now_ns[0])
    session = PlayedSession(SessionPhase.RUNNING)
    bridge.set_session(session)

    for _ in range(10):
        now_ns[0] += apart_ms * MS
        session.add_frames(1)
        bridge.refresh_now()

    next_ms = bridge.refresh_timer.next_ms
    assert next_ms == (REFRESH_MS if is_quick else QUIET_REFRESH_MS)
    bridge.close()


def test_that_what_a_program_reports_brings_a_refresh_when_it_is_settled(
    bridge: SessionBridge,
) -> None:
    bridge.set_session(PlayedSession(SessionPhase.RUNNING))
    for _ in range(20):
        bridge.refresh_now()

    bridge.refresh_timer.expect_news()

    assert REFRESH_MS < (bridge.refresh_timer.next_ms or 0) < QUIET_REFRESH_MS


def test_that_a_command_hastens_a_slow_refresh(bridge: SessionBridge) -> None:
    bridge.set_session(PlayedSession(SessionPhase.RUNNING))
    for _ in range(20):
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

    assert bridge.refresh_timer.next_ms == 40


def test_that_a_hidden_window_is_not_refreshed(bridge: SessionBridge) -> None:
    session = PlayedSession(SessionPhase.RUNNING)
    bridge.set_session(session)

    bridge.refresh_timer.set_visible(is_visible=False)
    bridge.submit(AddMark("here"))

    assert not bridge.refresh_timer.is_visible
    assert not is_refreshing(bridge)


def test_that_a_window_shown_again_catches_up(bridge: SessionBridge, qtbot: QtBot) -> None:
    session = PlayedSession()
    bridge.set_session(session)
    bridge.refresh_timer.set_visible(is_visible=False)
    session.add_frames(5)
    session.refreshes = 0

    with qtbot.waitSignal(bridge.refreshed) as blocker:
        bridge.refresh_timer.set_visible(is_visible=True)

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
    timer = RefreshTimer(clock=lambda: 0)
    timer.phase, timer.is_writing = SessionPhase.HELD, True
    timer.begin_turn()

    timer.end_turn(has_news=False)
    assert timer.next_ms == QUIET_REFRESH_MS
    timer.end_turn(has_news=True)
    assert timer.next_ms == REFRESH_MS
    timer.is_writing = False
    timer.end_turn(has_news=False)

    assert timer.next_ms is None


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


class Hands:
    """A timer whose clocks are set by hand, and what was done in which order."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.computed_ns = 0
        self.wake_ns: int | None = None
        self.done: list[str] = []
        self.timer = RefreshTimer(
            clock=lambda: self.now_ns, processor_clock=lambda: self.computed_ns
        )
        self.timer.phase = SessionPhase.RUNNING
        self.timer.until_wake_ns = self.until_wake_ns
        self.timer.due.connect(self.take_news)

    def until_wake_ns(self) -> int | None:
        return None if self.wake_ns is None else self.wake_ns - self.now_ns

    def take_news(self) -> None:
        self.timer.begin_turn()
        self.done.append("news")
        self.timer.end_turn(has_news=True)

    def ask(self, name: str, takes_ms: int = 0, *, can_wait: bool = False) -> None:
        """Ask for a turn that takes some time."""

        def refresh() -> None:
            self.done.append(name)
            self.now_ns += takes_ms * MS

        self.timer.queue_turn(self.timer, refresh, can_wait=can_wait)

    def run_frames(self, seconds: float, *, late: float, own: float) -> None:
        """Let frames pass, a share of them late, while the window takes a share of the time."""
        for number in range(round(60 * seconds)):
            is_late = number % 10 < late * 10
            self.now_ns += FRAME_NS
            self.computed_ns += round(own * FRAME_NS)
            self.timer.note_frames([2 * FRAME_NS if is_late else FRAME_NS], FRAME_NS, busy_ns=0)


FRAME_NS = 16_666_667


@pytest.fixture
def hands(qapp: QCoreApplication) -> Hands:
    assert qapp is not None
    return Hands()


def turns_until(hands: Hands, count: int) -> None:
    for _ in range(20):
        if len(hands.done) >= count:
            return
        QCoreApplication.processEvents()


def seen_between_turns(hands: Hands) -> list[list[str]]:
    """Return what was done by each time that the event loop served others, until all was."""
    between: list[list[str]] = []
    beat = QTimer()
    beat.timeout.connect(lambda: between.append(list(hands.done)))
    beat.start(0)
    turns_until(hands, 3)
    beat.stop()
    return between


def test_that_what_takes_long_has_a_turn_of_its_own_in_the_order_they_asked(hands: Hands) -> None:
    for name in ("plot", "tree", "table"):
        hands.ask(name, takes_ms=4)

    between = seen_between_turns(hands)

    assert hands.done == ["plot", "tree", "table"]
    assert ["plot"] in between
    assert ["plot", "tree"] in between


def test_that_what_takes_little_is_refreshed_in_one_turn_and_painted_at_once(hands: Hands) -> None:
    for name in ("plot", "tree", "table"):
        hands.ask(name, takes_ms=1)

    between = seen_between_turns(hands)

    assert hands.done == ["plot", "tree", "table"]
    assert ["plot"] not in between
    assert ["plot", "tree"] not in between


def test_that_a_turn_ends_early_enough_to_be_painted_before_the_scene_is_due(hands: Hands) -> None:
    hands.wake_ns = 9 * MS
    for name in ("plot", "tree", "table"):
        hands.ask(name, takes_ms=1)

    hands.timer._do_piece()

    # Of 9 ms, 6 are left after two and as long again for their painting.
    assert hands.done == ["plot", "tree"]


def test_that_a_refresh_that_is_due_comes_with_a_frame(hands: Hands) -> None:
    hands.take_news()
    hands.done.clear()

    hands.now_ns += FRAME_NS
    hands.timer.come_with_frame()
    too_soon = list(hands.done)
    hands.now_ns += FRAME_NS
    hands.timer.come_with_frame()

    assert too_soon == []
    assert hands.done == ["news"]


@pytest.mark.parametrize(("passed_ms", "left_ms", "comes"), [(25, 16, 1), (24, 16, 0), (25, 2, 0)])
def test_that_a_refresh_comes_a_little_earlier_with_a_frame_if_there_is_room_before_the_next(
    hands: Hands, passed_ms: int, left_ms: int, comes: int
) -> None:
    hands.take_news()

    hands.now_ns += passed_ms * MS
    hands.wake_ns = hands.now_ns + left_ms * MS
    hands.timer.come_with_frame()

    assert len(hands.done) == 1 + comes


def test_that_what_was_put_off_because_a_frame_was_due_comes_with_it(hands: Hands) -> None:
    hands.wake_ns = 2 * MS
    hands.ask("plot")
    hands.timer._do_piece()
    before = list(hands.done)

    hands.now_ns, hands.wake_ns = 2 * MS, 2 * MS + FRAME_NS
    hands.timer.come_with_frame()

    assert before == []
    assert hands.done == ["plot"]


def test_that_nothing_new_is_taken_in_until_all_had_their_turn(hands: Hands, qtbot: QtBot) -> None:
    for name in ("plot", "tree", "table"):
        hands.ask(name)

    hands.timer._become_due()
    qtbot.waitUntil(lambda: "news" in hands.done)

    assert hands.done == ["plot", "tree", "table", "news"]


def test_that_no_work_begins_just_before_the_scene_is_due(hands: Hands) -> None:
    hands.wake_ns = 2 * MS
    hands.ask("plot")

    QCoreApplication.processEvents()
    assert hands.done == []
    hands.now_ns, hands.wake_ns = 3 * MS, 3 * MS + FRAME_NS
    wait_ms(5)

    assert hands.done == ["plot"]


def test_that_a_refresh_is_put_off_that_would_come_just_before_a_frame(hands: Hands) -> None:
    frame_ns = 40 * MS
    hands.timer.note_frames([frame_ns], frame_ns, busy_ns=0)
    for left_ms, next_ms in ((35, 36), (25, REFRESH_MS), (75, REFRESH_MS)):
        hands.wake_ns = hands.now_ns + left_ms * MS

        hands.take_news()

        assert hands.timer.next_ms == next_ms


@pytest.mark.parametrize("left_ms", [15, 12, 1])
def test_that_a_refresh_waits_for_one_of_many_frames_to_come_with(
    hands: Hands, left_ms: int
) -> None:
    hands.timer.note_frames([FRAME_NS], FRAME_NS, busy_ns=0)
    hands.wake_ns = left_ms * MS

    hands.take_news()

    # For half a frame, and a millisecond more, as timers may come that much too early.
    assert hands.timer.next_ms == REFRESH_MS + 9 + 1


def test_that_a_scene_that_is_due_all_the_time_is_shown_all_the_same(
    hands: Hands, qtbot: QtBot
) -> None:
    hands.wake_ns = MS
    hands.ask("plot")

    qtbot.waitUntil(lambda: hands.done == ["plot"])


def test_that_turns_that_take_long_are_followed_by_as_long_a_pause(hands: Hands) -> None:
    hands.take_news()
    hands.ask("tree", takes_ms=40)
    hands.ask("table", takes_ms=50)

    turns_until(hands, 3)

    assert hands.timer.next_ms == 90


def test_that_what_passes_between_turns_counts_as_a_pause(hands: Hands) -> None:
    hands.take_news()
    hands.ask("tree", takes_ms=20)
    turns_until(hands, 2)
    hands.now_ns += 15 * MS

    hands.ask("table", takes_ms=1)
    turns_until(hands, 3)

    assert hands.timer.next_ms == 2 * 21 - 36


def test_that_a_turn_of_what_is_gone_is_left_out(hands: Hands) -> None:
    owner = QObject()
    hands.timer.queue_turn(owner, lambda: hands.done.append("gone"))
    hands.ask("there")
    delete(owner)

    turns_until(hands, 1)

    assert hands.done == ["there"]


def test_that_the_window_gives_way_when_frames_slip(hands: Hands) -> None:
    assert hands.timer.period_ms(REFRESH_MS) == REFRESH_MS

    hands.run_frames(1, late=0.2, own=0.5)

    assert hands.timer.period_ms(REFRESH_MS) > REFRESH_MS
    assert hands.timer.period_ms(TEXT_MS) > TEXT_MS


def test_that_the_window_is_never_refreshed_less_than_four_times_a_second(hands: Hands) -> None:
    hands.run_frames(60, late=1, own=0.9)
    hands.take_news()

    assert hands.timer.next_ms == 250
    assert hands.timer.period_ms(16) <= 250
    assert hands.timer.period_ms(TEXT_MS) == 250


def test_that_the_window_goes_back_to_its_pace_when_no_frame_slips(hands: Hands) -> None:
    hands.run_frames(60, late=1, own=0.9)

    hands.run_frames(60, late=0, own=0.9)

    assert hands.timer.period_ms(REFRESH_MS) == REFRESH_MS


def test_that_a_pace_that_made_frames_late_is_tried_again_less_and_less_often(
    hands: Hands,
) -> None:
    def seconds_until_faster() -> float:
        hands.run_frames(1, late=1, own=0.9)
        factor, seconds = hands.timer.slowing.factor, 0.0
        while hands.timer.slowing.factor >= factor:
            hands.run_frames(0.5, late=0, own=0.9)
            seconds += 0.5
        return seconds

    # The first is where watching begins.
    hands.run_frames(1 / 60, late=0, own=0.9)
    hands.run_frames(1, late=1, own=0.9)

    tries = [seconds_until_faster() for _ in range(8)]

    assert tries == sorted(tries)
    assert tries[0] < 4
    assert 20 < tries[-1] < 40


def test_that_a_scene_that_is_slow_by_itself_does_not_slow_the_window(hands: Hands) -> None:
    hands.run_frames(60, late=1, own=0.1)

    assert hands.timer.period_ms(REFRESH_MS) == REFRESH_MS


def test_that_what_passes_while_the_scene_is_held_tells_nothing(hands: Hands) -> None:
    hands.run_frames(0.4, late=1, own=0.9)
    hands.timer.note_standstill()
    hands.now_ns += 100 * FRAME_NS
    hands.computed_ns += 100 * FRAME_NS

    hands.timer.note_frames([], FRAME_NS, busy_ns=0)

    assert hands.timer.period_ms(REFRESH_MS) == REFRESH_MS


def test_that_what_can_wait_has_its_turn_when_nothing_is_moved_any_more(
    hands: Hands, qtbot: QtBot
) -> None:
    changes: list[bool] = []
    hands.timer.moving_changed.connect(changes.append)

    # Also what was queued before the first move, whose picture is not to be late.
    hands.ask("lanes", can_wait=True)
    hands.timer.note_move()
    hands.ask("findings", can_wait=True)
    hands.ask("plot")
    for _ in range(5):
        hands.timer.note_move()
        QCoreApplication.processEvents()

    assert hands.done == ["plot"]
    assert changes == [True]
    qtbot.waitUntil(lambda: hands.done == ["plot", "lanes", "findings"])
    assert changes == [True, False]
    hands.ask("table", can_wait=True)
    hands.timer._do_piece()
    assert hands.done[-1] == "table"


def test_that_a_view_is_moved_by_hand_unless_it_follows(bridge: SessionBridge) -> None:
    session = PlayedSession()
    session.add_frames(10)
    bridge.set_session(session)
    view = SharedView.of(bridge)
    view.set_timeline(bridge.timeline)
    told: list[bool] = []
    bridge.refresh_timer.moving_changed.connect(told.append)

    session.add_frames(10)
    bridge.refresh_now()
    view.read_new_frames()
    assert told == []

    view.pan(-0.1)
    assert told == [True]
