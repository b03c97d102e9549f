"""The blocking time source: with a played clock, and a few times with the real one."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from inspector.clocks import ClockTree, Transport
from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.events import EventLog
from inspector.vocabulary import TIMER_CLEARED

MS = 1_000_000
SECOND = 1_000_000_000


class PlayedTime:
    """A clock and a sleep that take no time; the sleep is late or short on demand."""

    def __init__(self) -> None:
        self.now_ns = 7_000
        self.late_ns = 0
        self.sleeps_s: list[float | None] = []
        self.instead: Callable[[], None] | None = None

    def clock(self) -> int:
        return self.now_ns

    def wait(self, seconds: float | None) -> None:
        self.sleeps_s.append(seconds)
        if seconds is not None:
            self.now_ns += round(seconds * SECOND) + self.late_ns
        if self.instead is not None:
            self.instead()

    def source(self) -> SystemTimeSource:
        return SystemTimeSource(clock=self.clock, wait=self.wait)


@pytest.fixture
def time() -> PlayedTime:
    return PlayedTime()


def woken(source: SystemTimeSource) -> list[int]:
    """Return a list that takes the instant of every wake-up."""
    instants: list[int] = []
    source.attach(lambda: instants.append(source.now_ns()))
    return instants


def test_that_it_begins_at_zero(time: PlayedTime) -> None:
    source = time.source()

    time.now_ns += 5

    assert source.now_ns() == 5


def test_that_it_wakes_at_the_instant_asked_for(time: PlayedTime) -> None:
    source = time.source()
    instants = woken(source)
    source.set_wake(3 * MS)

    source.run(until_idle=True)

    assert instants == [3 * MS]
    assert time.sleeps_s == [0.003]


def test_that_a_short_sleep_is_slept_on_and_never_wakes_early(time: PlayedTime) -> None:
    source = time.source()
    instants = woken(source)
    time.late_ns = -1 * MS
    source.set_wake(3 * MS)

    def sleep_fully() -> None:
        time.late_ns = 0

    time.instead = sleep_fully
    source.run(until_idle=True)

    assert instants == [3 * MS]
    assert time.sleeps_s == [0.003, 0.001]


def test_that_an_instant_that_has_passed_is_woken_without_sleeping(time: PlayedTime) -> None:
    source = time.source()
    instants = woken(source)
    time.now_ns += 10 * MS
    source.set_wake(2 * MS)

    source.run(until_idle=True)

    assert instants == [10 * MS]
    assert time.sleeps_s == []


def test_that_the_last_asked_for_instant_holds(time: PlayedTime) -> None:
    source = time.source()
    instants = woken(source)
    source.set_wake(2 * MS)
    source.set_wake(8 * MS)

    source.run(until_ns=20 * MS)

    assert instants == [8 * MS]


def test_that_a_far_instant_is_waited_for_an_hour_at_a_time(time: PlayedTime) -> None:
    source = time.source()
    source.set_wake(9_000_000_000_000)

    source.run(until_idle=True)

    assert time.sleeps_s == [3_600, 3_600, 1_800]


def test_that_a_request_is_due_from_its_instant_on(time: PlayedTime) -> None:
    source = time.source()
    due = [source.is_due]
    source.set_wake(2 * MS)
    for _ in range(3):
        due.append(source.is_due)
        time.now_ns += MS
    source.set_wake(None)

    assert [*due, source.is_due] == [False, False, False, True, False]


def test_that_each_sleep_is_told_before_it_and_one_without_an_end_too(time: PlayedTime) -> None:
    source = time.source()
    told: list[int] = []
    source.report_waits(lambda: told.append(len(time.sleeps_s)))
    time.instead = source.stop

    source.run()
    source.set_wake(source.now_ns() + MS)
    source.run()
    source.report_waits(None)
    source.run()

    # What was due at the second stop is woken first.
    assert time.sleeps_s == [None, 0.001, None]
    assert told == [0, 1]
    assert source.wakes == 3


def test_that_what_is_to_be_called_soon_cuts_a_sleep_short() -> None:
    source = SystemTimeSource()
    source.report_waits(lambda: source.call_soon_threadsafe(source.stop))

    source.run()

    assert source.wakes == 1


def test_that_an_empty_request_causes_no_wake_up(time: PlayedTime) -> None:
    source = time.source()
    instants = woken(source)
    source.set_wake(2 * MS)
    source.set_wake(None)

    source.run(until_ns=20 * MS)

    assert instants == []
    assert time.sleeps_s == [0.02]


def test_that_a_wake_up_can_ask_for_the_next(time: PlayedTime) -> None:
    source = time.source()
    instants: list[int] = []

    def wake() -> None:
        instants.append(source.now_ns())
        source.set_wake(source.now_ns() + MS)

    source.attach(wake)
    source.set_wake(0)

    source.run(until_ns=3 * MS)

    assert instants == [0, MS, 2 * MS, 3 * MS]


def test_that_a_run_ends_though_every_wake_up_asks_for_one_at_once(time: PlayedTime) -> None:
    source = time.source()

    def wake() -> None:
        time.now_ns += 100_000
        source.set_wake(0)

    source.attach(wake)
    source.set_wake(0)

    source.run(until_ns=MS)

    assert source.now_ns() <= 2 * MS


def test_that_what_was_due_before_the_end_is_woken_though_the_sleep_was_late(
    time: PlayedTime,
) -> None:
    source = time.source()
    instants = woken(source)
    time.late_ns = 50 * MS
    source.set_wake(3 * MS)

    source.run(until_ns=4 * MS)

    assert instants == [53 * MS]


def test_that_a_wake_up_after_the_end_stays_wanted(time: PlayedTime) -> None:
    source = time.source()
    instants = woken(source)
    source.set_wake(9 * MS)

    source.run(until_ns=4 * MS)
    assert instants == []
    source.run(until_ns=10 * MS)

    assert instants == [9 * MS]


def test_that_stop_ends_the_run_from_inside_a_wake_up(time: PlayedTime) -> None:
    source = time.source()
    instants: list[int] = []

    def wake() -> None:
        instants.append(source.now_ns())
        source.set_wake(source.now_ns() + MS)
        if len(instants) == 3:
            source.stop()

    source.attach(wake)
    source.set_wake(0)

    source.run()

    assert instants == [0, MS, 2 * MS]


def test_that_a_stop_before_the_run_ends_that_run_and_not_the_one_after(time: PlayedTime) -> None:
    source = time.source()
    instants = woken(source)
    source.set_wake(0)
    source.stop()

    source.run(until_idle=True)
    assert instants == []
    source.run(until_idle=True)

    assert instants == [0]


def test_that_what_a_wake_up_raises_comes_out_and_the_next_run_goes_on(time: PlayedTime) -> None:
    source = time.source()
    fails = [True]

    def wake() -> None:
        source.set_wake(source.now_ns() + MS)
        if fails.pop():
            message = "on purpose"
            raise ValueError(message)

    source.attach(wake)
    source.set_wake(0)

    with pytest.raises(ValueError, match="on purpose"):
        source.run(until_ns=5 * MS)
    fails.append(False)
    source.run(until_ns=MS)

    assert not fails


def test_that_running_inside_a_wake_up_is_refused(time: PlayedTime) -> None:
    source = time.source()
    source.attach(source.run)
    source.set_wake(0)

    with pytest.raises(RuntimeError, match="already running"):
        source.run(until_idle=True)


def test_that_nothing_is_called_after_close(time: PlayedTime) -> None:
    source = time.source()
    instants = woken(source)
    source.set_wake(0)
    source.call_soon_threadsafe(lambda: instants.append(-1))

    source.close()
    source.run(until_ns=MS)
    source.run(until_ns=2 * MS)

    assert instants == []


def test_that_nothing_is_called_after_a_stop_between_wake_ups(time: PlayedTime) -> None:
    source = time.source()
    instants = woken(source)
    source.set_wake(0)
    source.call_soon_threadsafe(source.stop)

    source.run(until_ns=MS)

    assert instants == []
    assert time.sleeps_s == []


def test_that_the_error_is_measured_from_the_instant_asked_for(time: PlayedTime) -> None:
    source = time.source()
    woken(source)
    time.late_ns = 40_000
    source.set_wake(3 * MS)

    source.run(until_idle=True)

    assert source.wake_errors is not None
    assert source.wake_errors.last_ns == 40_000


def test_that_errors_are_measured_anew_when_a_wake_up_asks_for_it(time: PlayedTime) -> None:
    source = time.source()
    source.attach(source.restart_measurement)
    source.set_wake(3 * MS)

    source.run(until_idle=True)

    assert source.wake_errors is None


def test_that_asking_late_is_no_error_of_the_source(time: PlayedTime) -> None:
    source = time.source()
    woken(source)
    time.now_ns += 100 * MS
    source.set_wake(0)

    source.run(until_idle=True)

    assert source.wake_errors is not None
    assert source.wake_errors.max_ns == 0


def test_that_another_thread_is_told_whose_it_is(time: PlayedTime) -> None:
    source = time.source()
    messages: list[str] = []

    def ask() -> None:
        with pytest.raises(RuntimeError) as caught:
            source.set_wake(0)
        messages.append(str(caught.value))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()

    assert messages == [
        (
            "a time source belongs to the thread that made it; from another thread use "
            "call_soon_threadsafe() or stop()"
        )
    ]


def test_that_another_thread_can_have_something_called_while_the_run_sleeps() -> None:
    source = SystemTimeSource()
    owner = threading.get_ident()
    callers: list[int] = []

    def call() -> None:
        callers.append(threading.get_ident())
        source.stop()

    thread = threading.Thread(target=source.call_soon_threadsafe, args=[call])
    thread.start()
    source.run()
    thread.join()

    assert callers == [owner]


def test_that_a_signal_from_another_thread_cuts_one_sleep_short() -> None:
    source = SystemTimeSource()
    source.call_soon_threadsafe(lambda: None)

    source.run(until_ns=source.now_ns() + 5 * MS)

    # Otherwise thousands: it would go round without sleeping.
    assert source.wakes < 10


def test_that_the_real_clock_is_never_early() -> None:
    source = SystemTimeSource()
    early_ns: list[int] = []
    asked_ns = [0]

    def wake() -> None:
        early_ns.append(asked_ns[0] - source.now_ns())
        asked_ns[0] = source.now_ns() + 317_123
        source.set_wake(asked_ns[0])

    source.attach(wake)
    source.set_wake(0)

    source.run(until_ns=60 * MS)

    assert max(early_ns) <= 0


def test_that_a_clock_tree_runs_on_it(time: PlayedTime) -> None:
    source = time.source()
    tree = ClockTree()
    transport = Transport(tree, source)
    instants: list[int] = []
    tree.root.set_interval(0.25, lambda: instants.append(tree.root.time_ns))
    transport.run()

    source.run(until_ns=SECOND)

    assert instants == [250 * MS, 500 * MS, 750 * MS, SECOND]
    assert source.wakes == 4


def test_that_a_timer_is_cleared_at_the_instant_of_the_call(time: PlayedTime) -> None:
    log = EventLog()
    tree = ClockTree(log)
    Transport(tree, time.source()).run()
    timer = tree.root.set_timeout(1, print)

    time.now_ns += 500 * MS
    tree.root.clear(timer)

    cleared = [event[0] for event in log.read(0).events if event[1] == TIMER_CLEARED]
    assert cleared == [500 * MS]
