"""The QTimer-backed clock: with a played event loop, and a few times with the real one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEventLoop, QObject, Qt, QTimer, Signal
from pytestqt.qtbot import QtBot
from typing_extensions import override

from inspector.clocks import ClockTree, FailurePolicy, Transport
from inspector.events.frame_history import Frame
from inspector.testing import scene_file
from ui.session.opening import hosted_session
from ui.session.qt_time_source import Precision, QtTimeSource

MS = 1_000_000
SECOND = 1_000_000_000


class PlayedTimer(QTimer):
    """A QTimer that comes when a played clock gets there.

    As the real one it is a little late; once, it is off by ``off_by_ns`` more.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now_ns = 0
        self.turn_ns = 10_000
        self.late_ns = 150_000
        self.off_by_ns = 0
        self.due_ns: int | None = None
        self.starts_ms: list[int] = []
        self.types: list[Qt.TimerType] = []

    def clock(self) -> int:
        return self.now_ns

    @override
    def start(self, msec: int = 0, /) -> None:
        self.starts_ms.append(msec)
        self.due_ns = self.now_ns + (msec * MS + self.late_ns if msec else self.turn_ns)

    @override
    def stop(self) -> None:
        self.due_ns = None

    @override
    def setTimerType(self, atype: Qt.TimerType, /) -> None:
        self.types.append(atype)

    def pass_ns(self, duration_ns: int) -> None:
        end_ns = self.now_ns + duration_ns
        while self.due_ns is not None and self.due_ns + self.off_by_ns <= end_ns:
            self.now_ns = max(self.now_ns, self.due_ns + self.off_by_ns)
            self.due_ns = None
            self.off_by_ns = 0
            self.timeout.emit()
        self.now_ns = end_ns

    def source(self, precision: Precision = Precision.ECONOMICAL) -> QtTimeSource:
        return QtTimeSource(None, precision, clock=self.clock, timer=self)


@pytest.fixture
def timer(qapp: QCoreApplication) -> PlayedTimer:
    assert qapp is not None
    return PlayedTimer()


def woken(source: QtTimeSource) -> list[int]:
    """Return a list that takes the instant of every wake-up."""
    instants: list[int] = []
    source.attach(lambda: instants.append(source.now_ns()))
    return instants


# ------------------------------------------------------------------- arming


def test_that_its_time_is_that_of_the_performance_counter(timer: PlayedTimer) -> None:
    before_ns = time.perf_counter_ns()
    now_ns = QtTimeSource().now_ns()

    assert before_ns <= now_ns <= time.perf_counter_ns()
    assert timer.source().now_ns() == timer.now_ns


def test_that_economical_arms_for_the_next_whole_millisecond(timer: PlayedTimer) -> None:
    source = timer.source()
    instants = woken(source)
    source.set_wake(2_300_000)

    timer.pass_ns(SECOND)

    assert timer.starts_ms == [3]
    assert instants == [3_150_000]
    assert source.wakes == 1


def test_that_economical_makes_use_of_how_late_the_timer_comes_anyway(timer: PlayedTimer) -> None:
    source = timer.source()
    instants = woken(source)
    source.set_wake(2_100_000)

    timer.pass_ns(SECOND)

    assert timer.starts_ms == [2]
    assert instants == [2_150_000]


def test_that_who_waits_for_a_wake_up_finds_it_over_and_the_next_one_armed(
    timer: PlayedTimer,
) -> None:
    source = timer.source()
    source.attach(lambda: source.set_wake(20 * MS))
    found: list[tuple[bool, int | None]] = []
    source.on_exit = lambda: found.append((source.is_waking, source.until_wake_ns()))
    source.set_wake(2_300_000)

    timer.pass_ns(10 * MS)

    assert found == [(False, 20 * MS - 3_150_000)]


def test_that_it_learns_how_late_the_timer_comes(timer: PlayedTimer) -> None:
    source = timer.source()
    timer.late_ns = 300_000
    lateness_ns: list[int] = []
    asked_ns = [0]

    def wake() -> None:
        lateness_ns.append(source.now_ns() - asked_ns[0])
        asked_ns[0] = source.now_ns() + 4_250_000
        source.set_wake(asked_ns[0])

    source.attach(wake)
    source.set_wake(0)

    timer.pass_ns(SECOND)

    # First armed for 5 ms, in the end for 4 ms: 0.3 ms late is on time.
    assert lateness_ns[1] == 1_050_000
    assert lateness_ns[-1] == 50_000


def test_that_fine_arms_for_before_and_finishes_through_the_event_loop(
    timer: PlayedTimer,
) -> None:
    source = timer.source(Precision.FINE)
    instants = woken(source)
    source.set_wake(2_300_000)

    timer.pass_ns(SECOND)

    assert timer.starts_ms[:3] == [2, 0, 0]
    assert set(timer.starts_ms[1:]) == {0}
    assert instants == [2_300_000]


@pytest.mark.usefixtures("qtbot")
def test_that_each_turn_of_the_event_loop_until_it_is_time_is_reported(
    timer: PlayedTimer,
) -> None:
    source = timer.source(Precision.FINE)
    woken(source)
    polls = [0]
    source.report_waits(lambda: None, lambda: polls.__setitem__(0, polls[0] + 1))
    source.set_wake(2_300_000)

    timer.pass_ns(SECOND)
    source.report_waits(None)

    assert polls[0] == timer.starts_ms.count(0) > 1


def test_that_fine_never_waits_in_a_slot(timer: PlayedTimer) -> None:
    source = timer.source(Precision.FINE)
    woken(source)
    source.set_wake(900_000)
    others = [0]

    def note() -> None:
        others[0] += 1

    timer.timeout.connect(note)
    timer.pass_ns(SECOND)

    assert others[0] == source.wakes == 90


def test_that_an_instant_that_has_passed_is_woken_next_and_not_inside_the_call(
    timer: PlayedTimer,
) -> None:
    source = timer.source()
    instants = woken(source)
    timer.now_ns += 10 * MS

    source.set_wake(2 * MS)

    assert instants == []
    assert timer.starts_ms == [0]
    timer.pass_ns(MS)
    assert len(instants) == 1


@pytest.mark.parametrize("precision", Precision)
def test_that_a_timer_that_fires_early_wakes_no_client_early(
    timer: PlayedTimer, precision: Precision
) -> None:
    source = timer.source(precision)
    instants = woken(source)
    timer.off_by_ns = -27_000
    source.set_wake(4_150_000)

    timer.pass_ns(SECOND)

    assert source.wakes > 1
    assert len(instants) == 1
    assert 0 <= instants[0] - 4_150_000 < 10_000


def test_that_a_timer_that_comes_much_too_early_is_armed_for_the_rest(
    timer: PlayedTimer,
) -> None:
    source = timer.source()
    instants = woken(source)
    timer.off_by_ns = -2 * MS
    source.set_wake(5 * MS)

    timer.pass_ns(SECOND)

    assert timer.starts_ms == [5, 2]
    assert len(instants) == 1
    assert instants[0] >= 5 * MS


def test_that_nothing_is_armed_when_nothing_is_wanted(timer: PlayedTimer) -> None:
    source = timer.source()
    instants = woken(source)
    source.set_wake(5 * MS)

    source.set_wake(None)

    assert timer.due_ns is None
    timer.pass_ns(SECOND)
    assert instants == []
    assert source.wakes == 0


def test_that_nothing_is_armed_after_a_wake_up_that_asks_for_nothing(timer: PlayedTimer) -> None:
    source = timer.source()
    woken(source)
    source.set_wake(5 * MS)

    timer.pass_ns(SECOND)

    assert timer.due_ns is None
    assert timer.starts_ms == [5]


def test_that_a_later_instant_leaves_the_timer_as_it_is(timer: PlayedTimer) -> None:
    source = timer.source()
    instants = woken(source)
    source.set_wake(2 * MS)

    source.set_wake(9 * MS)

    assert timer.starts_ms == [2]
    timer.pass_ns(SECOND)
    assert timer.starts_ms == [2, 7]
    assert instants == [9_300_000]


def test_that_an_earlier_instant_is_armed_at_once(timer: PlayedTimer) -> None:
    source = timer.source()
    instants = woken(source)
    source.set_wake(9 * MS)

    source.set_wake(2 * MS)

    assert timer.starts_ms == [9, 2]
    timer.pass_ns(SECOND)
    assert instants == [2_150_000]


def test_that_instants_asked_for_inside_a_wake_up_are_armed_once_after_it(
    timer: PlayedTimer,
) -> None:
    source = timer.source()
    instants: list[int] = []
    starts_inside: list[int] = []

    def wake() -> None:
        instants.append(source.now_ns())
        if len(instants) == 1:
            source.set_wake(9 * MS)
            source.set_wake(4 * MS)
            starts_inside.extend(timer.starts_ms[1:])

    source.attach(wake)
    source.set_wake(1 * MS)

    timer.pass_ns(SECOND)

    assert starts_inside == []
    assert timer.starts_ms == [1, 3]
    assert instants == [1_150_000, 4_300_000]


def test_that_a_blocked_event_loop_costs_one_late_wake_up(timer: PlayedTimer) -> None:
    source = timer.source()
    instants: list[int] = []

    def wake() -> None:
        instants.append(source.now_ns())
        source.set_wake((source.now_ns() // (10 * MS) + 1) * 10 * MS)

    source.attach(wake)
    source.set_wake(10 * MS)

    timer.now_ns += 204 * MS
    timer.pass_ns(18 * MS)

    assert [instant // MS for instant in instants] == [204, 210, 220]


# --------------------------------------------------------------------- far


def test_that_a_far_instant_is_first_waited_for_coarsely(timer: PlayedTimer) -> None:
    source = timer.source()
    instants = woken(source)
    source.set_wake(20 * SECOND)

    timer.pass_ns(30 * SECOND)

    assert timer.types == [
        Qt.TimerType.PreciseTimer,
        Qt.TimerType.CoarseTimer,
        Qt.TimerType.PreciseTimer,
    ]
    assert source.wakes == 2
    assert [instant // MS for instant in instants] == [20_000]


def test_that_a_coarse_timer_that_is_late_by_its_tolerance_costs_no_lateness(
    timer: PlayedTimer,
) -> None:
    source = timer.source()
    instants = woken(source)
    source.set_wake(20 * SECOND)
    timer.off_by_ns = timer.starts_ms[0] * MS // 20

    timer.pass_ns(30 * SECOND)

    assert source.wakes == 2
    assert [instant // MS for instant in instants] == [20_000]


def test_that_the_clock_is_looked_at_every_minute_however_far_the_instant(
    timer: PlayedTimer,
) -> None:
    source = timer.source()
    woken(source)
    source.set_wake(100 * 365 * 86_400 * SECOND)

    timer.pass_ns(3_601 * SECOND)

    assert set(timer.starts_ms) == {60_000}
    assert source.wakes == 60


def test_that_an_instant_exactly_five_seconds_away_is_near(timer: PlayedTimer) -> None:
    source = timer.source()

    source.set_wake(5 * SECOND)

    assert timer.types == [Qt.TimerType.PreciseTimer]
    assert timer.starts_ms == [5_000]


# --------------------------------------------------------------- precision


def test_that_fine_is_economical_above_300_wake_ups_a_second(timer: PlayedTimer) -> None:
    source = timer.source(Precision.FINE)

    def wake() -> None:
        source.set_wake(source.now_ns() + 2_400_000)

    source.attach(wake)
    source.set_wake(0)

    timer.pass_ns(SECOND)
    del timer.starts_ms[:]
    timer.pass_ns(SECOND // 10)

    assert set(timer.starts_ms) == {3}


def test_that_fine_is_fine_again_when_wake_ups_have_become_few(timer: PlayedTimer) -> None:
    source = timer.source(Precision.FINE)
    period_ns = [2_400_000]

    def wake() -> None:
        source.set_wake(source.now_ns() + period_ns[0])

    source.attach(wake)
    source.set_wake(0)
    timer.pass_ns(SECOND)

    period_ns[0] = 20_300_000
    timer.pass_ns(SECOND)
    del timer.starts_ms[:]
    timer.pass_ns(SECOND // 10)

    assert set(timer.starts_ms) == {0, 20}


def test_that_a_change_of_precision_holds_for_what_is_armed_and_begins_the_measurement_again(
    timer: PlayedTimer,
) -> None:
    source = timer.source()
    instants = woken(source)
    source.set_wake(1 * MS)
    timer.pass_ns(2 * MS)
    source.set_wake(5_500_000)

    source.precision = Precision.FINE

    assert source.precision is Precision.FINE
    assert source.wake_errors is None
    timer.pass_ns(SECOND)
    assert instants[-1] == 5_500_000


def test_that_setting_the_same_precision_changes_nothing(timer: PlayedTimer) -> None:
    source = timer.source()
    woken(source)
    source.set_wake(1 * MS)
    timer.pass_ns(2 * MS)

    source.precision = Precision.ECONOMICAL

    assert source.wake_errors is not None


def test_that_the_error_of_a_wake_up_is_measured(timer: PlayedTimer) -> None:
    source = timer.source()
    woken(source)
    source.set_wake(2_300_000)

    timer.pass_ns(SECOND)

    assert source.wake_errors is not None
    assert (source.wake_errors.count, source.wake_errors.last_ns) == (1, 850_000)


def test_that_asking_late_is_no_error_of_the_source(timer: PlayedTimer) -> None:
    source = timer.source()
    woken(source)
    timer.now_ns += SECOND
    source.set_wake(0)

    timer.pass_ns(SECOND)

    assert source.wake_errors is not None
    assert source.wake_errors.max_ns == timer.turn_ns


def measured(source: QtTimeSource) -> int:
    """Return how many wake-ups were measured."""
    errors = source.wake_errors
    return 0 if errors is None else errors.count


def test_that_errors_are_measured_anew_when_asked_for(timer: PlayedTimer) -> None:
    source = timer.source()
    woken(source)
    source.set_wake(2_300_000)
    timer.pass_ns(SECOND)

    source.restart_measurement()

    assert measured(source) == 0
    source.set_wake(timer.now_ns + 2_300_000)
    timer.pass_ns(SECOND)
    assert measured(source) == 1


def test_that_a_wake_up_that_restarts_the_measurement_is_not_measured(timer: PlayedTimer) -> None:
    source = timer.source()
    source.attach(source.restart_measurement)
    source.set_wake(2_300_000)

    timer.pass_ns(SECOND)

    assert source.wake_errors is None


def test_that_the_measured_errors_take_a_bounded_amount_of_memory(timer: PlayedTimer) -> None:
    source = timer.source()

    def wake() -> None:
        source.set_wake(source.now_ns() + MS)

    source.attach(wake)
    source.set_wake(0)
    most = 0
    for _ in range(10):
        timer.pass_ns(SECOND)
        most = max(most, len(source._errors._waiting))

    assert 0 < most <= 2_048
    assert source.wake_errors is not None
    assert source.wake_errors.count == source.wakes > 4_000


# -------------------------------------------------------------- robustness


def test_that_nothing_is_called_after_close(timer: PlayedTimer) -> None:
    source = timer.source()
    instants = woken(source)
    source.set_wake(5 * MS)

    source.close()
    source.set_wake(6 * MS)

    assert timer.due_ns is None
    timer.pass_ns(SECOND)
    assert instants == []


def test_that_closing_inside_a_wake_up_arms_nothing(timer: PlayedTimer) -> None:
    source = timer.source()

    def wake() -> None:
        source.set_wake(source.now_ns() + MS)
        source.close()
        source.set_wake(source.now_ns() + MS)

    source.attach(wake)
    source.set_wake(1 * MS)

    timer.pass_ns(SECOND)

    assert source.wakes == 1
    assert timer.due_ns is None


def test_that_what_a_wake_up_raises_is_shown_and_the_source_goes_on(
    timer: PlayedTimer, qtbot: QtBot
) -> None:
    source = timer.source()
    instants: list[int] = []

    def wake() -> None:
        instants.append(source.now_ns())
        if len(instants) == 1:
            source.set_wake(4 * MS)
            message = "on purpose"
            raise ValueError(message)

    source.attach(wake)
    source.set_wake(1 * MS)

    with qtbot.captureExceptions() as raised:
        timer.pass_ns(SECOND)

    assert [str(value) for _kind, value, _trace in raised] == ["on purpose"]
    assert [instant // MS for instant in instants] == [1, 4]


def test_that_a_source_can_be_asked_again_after_a_wake_up_that_raised(
    timer: PlayedTimer, qtbot: QtBot
) -> None:
    source = timer.source()

    def wake() -> None:
        message = "on purpose"
        raise ValueError(message)

    source.attach(wake)
    source.set_wake(1 * MS)
    with qtbot.captureExceptions():
        timer.pass_ns(2 * MS)
    instants = woken(source)

    source.set_wake(9 * MS)
    timer.pass_ns(SECOND)

    assert [instant // MS for instant in instants] == [9]


def test_that_a_wake_up_that_runs_an_event_loop_is_not_entered_again(timer: PlayedTimer) -> None:
    source = timer.source()
    depth = [0, 0]

    def wake() -> None:
        depth[0] += 1
        depth[1] = max(depth)
        source.set_wake(source.now_ns())
        timer.timeout.emit()
        depth[0] -= 1

    source.attach(wake)
    source.set_wake(1 * MS)

    timer.pass_ns(1_150_000)

    assert depth == [0, 1]
    assert timer.due_ns is not None


@pytest.mark.parametrize("name", ["set_wake", "attach", "close"])
def test_that_another_thread_is_told_whose_it_is(timer: PlayedTimer, name: str) -> None:
    source = timer.source()
    calls: dict[str, Callable[[], None]] = {
        "set_wake": lambda: source.set_wake(0),
        "attach": lambda: source.attach(timer.stop),
        "close": source.close,
    }
    messages: list[str] = []

    def ask() -> None:
        with pytest.raises(RuntimeError) as caught:
            calls[name]()
        messages.append(str(caught.value))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()

    assert messages == [
        "a time source belongs to the thread that made it; from another thread use a queued signal"
    ]


def test_that_every_thread_can_read_the_time(timer: PlayedTimer) -> None:
    source = timer.source()
    readings: list[int] = []

    thread = threading.Thread(target=lambda: readings.append(source.now_ns()))
    thread.start()
    thread.join()

    assert readings == [0]


# ------------------------------------------------------ the real event loop


@pytest.mark.parametrize("precision", Precision)
def test_that_the_real_event_loop_never_wakes_early(qtbot: QtBot, precision: Precision) -> None:
    source = QtTimeSource(precision=precision)
    early_ns: list[int] = []
    asked_ns = [0]

    def wake() -> None:
        early_ns.append(asked_ns[0] - source.now_ns())
        if len(early_ns) < 60:
            asked_ns[0] = source.now_ns() + len(early_ns) * 53_017
            source.set_wake(asked_ns[0])

    source.attach(wake)
    source.set_wake(0)

    qtbot.waitUntil(lambda: len(early_ns) == 60)

    assert max(early_ns) <= 0
    source.close()


def test_that_a_real_source_with_nothing_due_never_wakes_up(qapp: QCoreApplication) -> None:
    source = QtTimeSource()
    instants = woken(source)
    source.set_wake(source.now_ns() + MS)
    source.set_wake(None)
    loop = QEventLoop()
    QTimer.singleShot(150, loop.quit)

    loop.exec()

    assert qapp is not None
    assert (instants, source.wakes) == ([], 0)


def test_that_events_are_handled_while_fine_waits(qtbot: QtBot) -> None:
    class Poster(QObject):
        posted = Signal()

    source = QtTimeSource(precision=Precision.FINE)
    instants = woken(source)
    poster = Poster()
    handled: list[bool] = []

    def handle() -> None:
        handled.append(bool(instants))
        if not instants:
            poster.posted.emit()

    poster.posted.connect(handle, Qt.ConnectionType.QueuedConnection)
    # On a busy machine a wait may be over before it was the turn of this process again.
    while handled.count(False) <= 10:
        instants.clear()
        poster.posted.emit()
        source.set_wake(source.now_ns() + 900_000)
        qtbot.waitUntil(lambda: bool(instants))

    source.close()


def test_that_a_clock_tree_runs_on_the_real_event_loop(qtbot: QtBot) -> None:
    source = QtTimeSource()
    tree = ClockTree()
    transport = Transport(tree, source)
    instants: list[int] = []
    tree.root.set_interval_ns(4 * MS, lambda: instants.append(tree.root.time_ns))
    transport.run()

    qtbot.waitUntil(lambda: len(instants) >= 10)

    assert instants == [4 * MS * count for count in range(1, len(instants) + 1)]
    source.close()


def test_that_a_blocked_event_loop_loses_no_interval(qtbot: QtBot) -> None:
    source = QtTimeSource()
    tree = ClockTree()
    transport = Transport(tree, source)
    fired: list[int] = []
    counts: list[int] = []
    tree.root.set_interval_ns(2 * MS, fired.append, 0)
    tree.root.set_timeout_ns(5 * MS, time.sleep, 0.05)
    tree.root.set_timeout_ns(80 * MS, lambda: counts.append(len(fired)))
    transport.run()

    qtbot.waitUntil(lambda: bool(counts))

    # The one due at 80 ms itself was armed later than the timeout.
    assert counts == [39]
    source.close()


def test_that_a_closed_source_is_deleted_though_somebody_still_holds_it(qtbot: QtBot) -> None:
    source = QtTimeSource()
    source.attach(lambda: None)
    source.set_wake(source.now_ns() + SECOND)
    gone: list[bool] = []
    source._timer.destroyed.connect(lambda: gone.append(True))

    source.close()
    qtbot.waitUntil(lambda: gone == [True])

    source.set_wake(0)
    source.close()
    assert source.now_ns() > 0


def test_that_waits_of_the_event_loop_are_reported_until_the_source_is_closed(
    qtbot: QtBot,
) -> None:
    source, waits, later = QtTimeSource(), [0], [0]

    def count(waits: list[int]) -> Callable[[], None]:
        return lambda: waits.__setitem__(0, waits[0] + 1)

    source.report_waits(count(waits))
    qtbot.waitUntil(lambda: waits[0] > 1)
    source.close()
    before = waits[0]
    other = QtTimeSource()
    other.report_waits(count(later))
    qtbot.waitUntil(lambda: later[0] > 1)
    other.close()

    assert waits[0] == before


def test_that_a_scene_in_the_window_knows_where_its_time_goes(qtbot: QtBot, tmp_path: Path) -> None:
    path = scene_file(tmp_path, "def build(stage):\n    stage.every_frame(lambda delta: None)\n")
    session = hosted_session(path, QtTimeSource(), FailurePolicy.CONTINUE)

    def measured() -> list[Frame]:
        session.refresh()
        frames = session.timeline.frames
        return [each for index in range(frames.end) if any((each := frames.frame(index)).shares)]

    qtbot.waitUntil(lambda: len(measured()) > 2)

    assert all(sum(frame.shares) <= frame.interval_ns for frame in measured())
    session.close()
