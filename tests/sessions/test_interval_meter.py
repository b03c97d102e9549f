"""Where the time between two frames goes: shares that sum to it, and what each of them means."""

import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter_ns, thread_time_ns
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.commands.scene import Reload, StepBack
from inspector.commands.transport import Hold, Run, StepFrames
from inspector.events.frame_history import Frame
from inspector.sessions import interval_meter
from inspector.sessions.hosted import HostedSession
from inspector.sessions.interval_meter import (
    IntervalMeter,
    KnownShares,
    TimersMeter,
    fitted,
    shares_event,
)
from inspector.sessions.replay.replay import digest_of
from inspector.testing import pass_seconds, scene_file, virtual_session
from inspector.timebase import NS_PER_MS as MS
from inspector.timebase import NS_PER_SECOND
from inspector.vocabulary import FRAME_SHARES, Share, durations_of

SCENE = """
    def build(stage):
        stage.every_frame(lambda delta: None, name="move")
"""
#: Callbacks are measured by the real clock, also where the time of the source is told.
NEARLY_MS = 3


class Thread:
    """A thread of a host whose time is told, with its processor time, instead of measured."""

    def __init__(self) -> None:
        self.now_ns = self.used_ns = 0
        self.meter = IntervalMeter(lambda: self.now_ns, lambda: self.used_ns)

    def sleep(self, duration_ns: int) -> None:
        self.meter.wait()
        self.now_ns += duration_ns

    def poll(self, duration_ns: int) -> None:
        """Go round the event loop until it is time, a turn each 20 µs."""
        for _ in range(duration_ns // 20_000):
            self.meter.poll()
            self.work(20_000)

    def work(self, duration_ns: int) -> None:
        self.now_ns += duration_ns
        self.used_ns += duration_ns

    def collect(self, duration_ns: int) -> None:
        self.meter.note_collection("start", {})
        self.work(duration_ns)
        self.meter.note_collection("stop", {})

    def call(self, duration_ns: int, collecting_ns: int = 0) -> None:
        self.meter.is_calling = lambda: True
        self.collect(collecting_ns)
        self.work(duration_ns)
        self.meter.is_calling = lambda: False
        self.meter.calls_ns += duration_ns + collecting_ns

    def wake(self) -> None:
        self.meter.wake(self.now_ns)

    def shares(self, interval_ns: int) -> dict[Share, int]:
        event = self.meter.measured(0, interval_ns)
        assert event is not None
        numbers = (*durations_of(event[0]), *durations_of(event[1]), event[2])
        return dict(zip(Share, numbers, strict=True))


@pytest.fixture
def thread() -> Iterator[Thread]:
    thread = Thread()
    thread.wake()
    thread.meter.measured(0, 0)
    yield thread
    thread.meter.close()


def end_frame(thread: Thread, wanted_ns: int) -> None:
    thread.meter.want(wanted_ns)
    thread.meter.end_wake()


def test_that_callbacks_window_and_sleep_are_told_apart(thread: Thread) -> None:
    thread.call(3 * MS)
    thread.work(1 * MS)
    end_frame(thread, 16 * MS)
    thread.work(2 * MS)
    thread.sleep(10 * MS)
    thread.wake()

    assert thread.shares(16 * MS) == {
        Share.CALLBACKS: 3 * MS,
        Share.INSPECTOR: 3 * MS,
        Share.GARBAGE_COLLECTION: 0,
        Share.HOST_LATE: 0,
        Share.IDLE: 10 * MS,
    }


def test_that_sleep_beyond_the_wanted_wake_up_is_the_hosts_lateness(thread: Thread) -> None:
    end_frame(thread, 16 * MS)
    thread.sleep(270 * MS)
    thread.wake()

    shares = thread.shares(270 * MS)
    assert (shares[Share.IDLE], shares[Share.HOST_LATE]) == (16 * MS, 254 * MS)


def test_that_a_window_that_works_past_the_wanted_instant_is_not_the_hosts_lateness(
    thread: Thread,
) -> None:
    end_frame(thread, 16 * MS)
    thread.sleep(5 * MS)
    thread.work(30 * MS)
    thread.wake()

    shares = thread.shares(35 * MS)
    assert shares[Share.INSPECTOR] == 30 * MS
    assert (shares[Share.IDLE], shares[Share.HOST_LATE]) == (5 * MS, 0)


def test_that_going_round_the_event_loop_until_it_is_time_is_idle(thread: Thread) -> None:
    end_frame(thread, 16 * MS)
    thread.sleep(15 * MS)
    thread.poll(1 * MS)
    thread.wake()

    shares = thread.shares(16 * MS)
    assert (shares[Share.INSPECTOR], shares[Share.IDLE]) == (0, 16 * MS)


def test_that_what_the_window_does_meanwhile_is_the_inspectors(thread: Thread) -> None:
    end_frame(thread, 16 * MS)
    thread.sleep(14 * MS)
    thread.poll(1 * MS)
    thread.meter.poll()
    thread.work(3 * MS)
    thread.wake()

    shares = thread.shares(18 * MS)
    assert shares[Share.INSPECTOR] == 3 * MS
    assert shares[Share.IDLE] == 15 * MS


def test_that_work_without_the_processor_is_unknown(thread: Thread) -> None:
    end_frame(thread, 16 * MS)
    thread.now_ns += 7 * MS
    thread.sleep(9 * MS)
    thread.wake()

    assert sum(thread.shares(16 * MS).values()) == 9 * MS


def test_that_garbage_is_collected_at_nobodys_expense(thread: Thread) -> None:
    thread.call(3 * MS, collecting_ns=12 * MS)
    thread.collect(2 * MS)
    end_frame(thread, 16 * MS)
    thread.collect(1 * MS)
    thread.sleep(4 * MS)
    thread.wake()

    shares = thread.shares(22 * MS)
    assert shares[Share.GARBAGE_COLLECTION] == 15 * MS
    assert (shares[Share.CALLBACKS], shares[Share.INSPECTOR]) == (3 * MS, 0)


def test_that_time_does_not_count_while_nothing_is_wanted(thread: Thread) -> None:
    end_frame(thread, 16 * MS)
    thread.sleep(4 * MS)
    thread.meter.want(None)
    thread.work(3_000 * MS)
    thread.meter.want(thread.now_ns + 12 * MS)
    thread.sleep(12 * MS)
    thread.wake()

    assert thread.shares(16 * MS)[Share.IDLE] == 16 * MS


def test_that_a_step_has_no_shares(thread: Thread) -> None:
    end_frame(thread, 16 * MS)

    assert thread.meter.measured(1, 16 * MS) is None


def test_that_another_threads_collections_are_not_counted(thread: Thread) -> None:
    thread.meter._owner += 1
    thread.collect(5 * MS)
    end_frame(thread, 5 * MS)
    thread.wake()

    assert thread.shares(5 * MS)[Share.GARBAGE_COLLECTION] == 0


def test_that_what_happens_outside_of_a_wake_up_changes_nothing(thread: Thread) -> None:
    end_frame(thread, 16 * MS)
    thread.work(2 * MS)
    thread.meter.end_wake()
    # Python may have begun to collect before anything was measured.
    thread.meter.note_collection("stop", {})
    thread.work(1 * MS)
    thread.sleep(13 * MS)
    thread.wake()
    thread.meter.wait()
    thread.meter.poll()

    shares = thread.shares(16 * MS)
    assert (shares[Share.INSPECTOR], shares[Share.IDLE]) == (3 * MS, 13 * MS)


def test_that_time_counts_from_the_beginning() -> None:
    thread = Thread()
    thread.work(2 * MS)
    thread.wake()
    for _ in range(2):
        thread.call(1 * MS)
        thread.meter.end_wake()
        thread.wake()
    thread.meter.close()

    shares = thread.shares(5 * MS)
    assert (shares[Share.INSPECTOR], shares[Share.CALLBACKS]) == (2 * MS, 2 * MS)
    assert shares[Share.IDLE] == 0


def test_that_shares_that_are_too_long_by_a_nanosecond_are_cut() -> None:
    assert fitted([10, 0, 0, 0, 1], 10) == [10, 0, 0, 0, 0]
    assert fitted([3, 3, 3, 3, 3], 8) == [3, 2, 3, 0, 0]
    assert fitted([3, 3, 3, 3, 3], 15) == [3, 3, 3, 3, 3]


@pytest.mark.skipif(sys.platform == "win32", reason="the clock is too coarse there")
def test_that_processor_time_is_that_of_the_thread() -> None:
    meter = IntervalMeter(perf_counter_ns)
    meter.close()
    assert meter._processor_clock is thread_time_ns


def test_that_without_a_clock_of_the_processor_all_but_waiting_is_work() -> None:
    thread = Thread()
    thread.meter.close()
    thread.meter = meter = IntervalMeter(lambda: thread.now_ns, None)
    thread.wake()
    end_frame(thread, 16 * MS)
    thread.now_ns += 2 * MS
    thread.sleep(14 * MS)
    thread.wake()
    meter.close()

    shares = thread.shares(16 * MS)
    assert (shares[Share.INSPECTOR], shares[Share.IDLE]) == (2 * MS, 14 * MS)


@pytest.mark.parametrize(
    ("begin", "turn_ns", "idle_ns"),
    [("poll", 100_000, 100_000), ("poll", 100_001, 0), ("wait", 100_000, 0)],
)
def test_that_a_turn_of_the_event_loop_is_idle_up_to_a_tenth_of_a_millisecond(
    thread: Thread, begin: str, turn_ns: int, idle_ns: int
) -> None:
    end_frame(thread, 16 * MS)
    getattr(thread.meter, begin)()
    thread.work(turn_ns)
    thread.wake()

    shares = thread.shares(turn_ns)
    assert shares[Share.IDLE] + shares[Share.HOST_LATE] == pytest.approx(idle_ns, abs=1_000)


def test_that_timers_are_charged_for_the_time_since_something_was_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_ns = 100
    monkeypatch.setattr(interval_meter, "perf_counter_ns", lambda: now_ns)
    meter = TimersMeter()

    # Nothing was begun, so that only work counts.
    assert (meter.charge(1, 7), meter.busy_ns) == (7, 7)
    meter.begin(4)
    now_ns = 130
    assert (meter.charge(4, 0), meter.busy_ns) == (0, 7)
    assert (meter.charge(5, 2), meter.busy_ns) == (32, 39)
    now_ns = 150
    assert (meter.charge(5, 0), meter.charge(6, 0)) == (0, 20)
    now_ns = 200
    meter.begin()
    now_ns = 201
    assert (meter.charge(6, 0), meter.charge(7, 0), meter.busy_ns) == (0, 1, 60)


def test_that_a_run_that_is_repeated_has_the_shares_that_were_measured() -> None:
    shares = (1_000, 2_000, 0, 0, 5_000)
    frames: Any = SimpleNamespace(
        first=3,
        end=6,
        frame=lambda number: frames.all[number],
        all={
            3: SimpleNamespace(shares=shares, interval_ns=16),
            4: SimpleNamespace(shares=shares, interval_ns=17),
            5: SimpleNamespace(shares=(0, 0, 0, 0, 0), interval_ns=16),
        },
    )
    known = KnownShares(frames)

    assert known.calls_ns == 0
    assert known.measured(3, 16) == shares_event(shares)
    assert [known.measured(frame, 16) for frame in (2, 4, 5, 6)] == [None] * 4


def test_that_a_closed_meter_is_not_called_by_python() -> None:
    before = list(gc.callbacks)
    meter = IntervalMeter(lambda: 0)
    meter.close()
    meter.close()

    assert gc.callbacks == before


DURATIONS = st.integers(0, 400 * MS)
STEPS = st.tuples(st.sampled_from(["sleep", "work", "collect", "call", "wake", "stop"]), DURATIONS)


@given(st.lists(STEPS, max_size=30), DURATIONS, st.integers(-1 * MS, 1 * MS))
def test_that_shares_are_never_negative_and_never_more_than_the_interval(
    steps: list[tuple[str, int]], wanted_ns: int, off_ns: int
) -> None:
    thread = Thread()
    try:
        thread.wake()
        thread.meter.measured(0, 0)
        began_ns = thread.now_ns
        for what, duration_ns in steps:
            match what:
                case "wake":
                    end_frame(thread, thread.now_ns + wanted_ns)
                    thread.wake()
                case "stop":
                    thread.meter.want(None)
                    thread.meter.want(thread.now_ns + wanted_ns)
                case _:
                    getattr(thread, what)(duration_ns)
        end_frame(thread, thread.now_ns + wanted_ns)
        thread.wake()
        interval_ns = max(thread.now_ns - began_ns + off_ns, 0)
        shares = thread.shares(interval_ns)
    finally:
        thread.meter.close()

    assert all(share_ns >= 0 for share_ns in shares.values())
    assert sum(shares.values()) <= interval_ns


@given(st.lists(DURATIONS, min_size=5, max_size=5), DURATIONS)
def test_that_an_event_holds_the_shares_to_the_nanosecond_in_all(
    shares: list[int], interval_ns: int
) -> None:
    fit = fitted(shares, interval_ns)
    first, second, idle_ns = shares_event(fit)

    assert sum((*durations_of(first), *durations_of(second), idle_ns)) == sum(fit)
    assert sum(fit) == min(sum(shares), interval_ns)


# ------------------------------------------------------------------------ in a session


class Host:
    """A scene on the system's clock, with an operating system that wakes as late as told."""

    def __init__(self, tmp_path: Path) -> None:
        self.now_ns = self.oversleeps_ns = 0
        self.source = SystemTimeSource(clock=lambda: self.now_ns, wait=self._wait)
        self.session = HostedSession(scene_file(tmp_path, SCENE), self.source)
        self.session.measure_intervals()

    def _wait(self, seconds: float | None) -> None:
        late_ns, self.oversleeps_ns = self.oversleeps_ns, 0
        self.now_ns += round((seconds or 0) * NS_PER_SECOND) + late_ns

    def run(self, duration_ns: int) -> None:
        self.source.run(self.source.now_ns() + duration_ns)
        self.session.refresh()

    def frames(self) -> list[Frame]:
        frames = self.session.timeline.frames
        return [frames.frame(index) for index in range(frames.end)]


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    host = Host(tmp_path)
    yield host
    host.session.close()


def test_that_a_late_wake_up_is_the_hosts_in_the_frame_that_it_made_long(host: Host) -> None:
    host.run(100 * MS)
    host.oversleeps_ns = 150 * MS
    host.run(100 * MS)

    longest = max(host.frames()[1:], key=lambda frame: frame.interval_ns)
    assert longest.shares[Share.HOST_LATE] == pytest.approx(150 * MS, abs=NEARLY_MS * MS)
    assert longest.unknown_ns == 0
    assert all(sum(frame.shares) <= frame.interval_ns for frame in host.frames())


def test_that_time_in_which_a_scene_is_held_is_in_no_share(host: Host) -> None:
    host.run(100 * MS)
    host.session.submit(Hold())
    host.run(1)
    host.now_ns += 5 * NS_PER_SECOND
    host.session.submit(StepFrames(2))
    host.session.refresh()
    host.session.submit(Run())
    host.run(100 * MS)

    for frame in host.frames()[1:]:
        assert sum(frame.shares) in (0, pytest.approx(frame.interval_ns, abs=NEARLY_MS * MS))
    assert sum(sum(frame.shares) == 0 for frame in host.frames()) <= 4


@pytest.mark.parametrize("command", [Reload(), StepBack(3)])
def test_that_a_reload_or_a_rewind_does_not_end_the_measurement(
    host: Host, command: Reload | StepBack
) -> None:
    host.run(200 * MS)
    host.session.submit(Hold())
    host.run(100 * MS)
    before = host.frames()
    host.session.submit(command)
    host.session.refresh()
    if isinstance(command, StepBack):
        # What was measured then is still known.
        again = host.frames()
        assert len(again) == len(before) - 3
        assert [frame.shares for frame in again] == [frame.shares for frame in before[:-3]]
    host.session.submit(Run())
    host.run(200 * MS)

    assert any(host.frames()[-1].shares)


def test_that_a_run_is_the_same_run_with_and_without_shares(host: Host) -> None:
    host.run(100 * MS)
    events, strings = host.session.log.read(0).events, host.session.log.strings
    kept = [event for event in events if event[1] != FRAME_SHARES]

    assert len(kept) < len(events)
    assert digest_of(events, strings) == digest_of(kept, strings)


def test_that_virtual_time_has_no_shares(tmp_path: Path) -> None:
    session = virtual_session(scene_file(tmp_path, SCENE))
    session.measure_intervals()
    pass_seconds(session, 1)

    assert len(session.timeline.frames) > 0
    assert not any(any(column) for column in session.timeline.frames.shares)
    session.close()


def test_that_no_event_and_no_callback_is_there_when_nobody_asks(tmp_path: Path) -> None:
    before = list(gc.callbacks)
    host = Host.__new__(Host)
    host.now_ns = host.oversleeps_ns = 0
    source = SystemTimeSource(clock=lambda: host.now_ns, wait=host._wait)
    session = HostedSession(scene_file(tmp_path, SCENE), source)
    source.run(source.now_ns() + 100 * MS)

    assert gc.callbacks == before
    assert not [event for event in session.log.read(0).events if event[1] == FRAME_SHARES]
    session.close()
