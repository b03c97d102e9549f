"""Stops of a process, by the times of the thread that looks."""

from __future__ import annotations

import pytest

from inspector.probe import thread_times
from inspector.probe.thread_times import Stops

MS = 1_000_000


class Watcher:
    """A thread that looks every 10 ms, whose times the test makes up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 10**15
        self.used_ns = self.ready_ns = self.runs = 0
        monkeypatch.setattr(thread_times, "ThreadTimes", lambda _native: self)
        monkeypatch.setattr(thread_times, "process_time_ns", lambda: self.used_ns)
        self.stops = Stops()
        self.gap_ms(0)

    def scheduled(self) -> tuple[int, int]:
        return self.ready_ns, self.runs

    def looks(self, count: int, *, used_ms: int = 0, lacked_ms: int = 0) -> None:
        """Look so often in time, each time with so much used and lacked before."""
        for _ in range(count):
            self._sleep(10, used_ms, lacked_ms, 1)

    def gap_ms(
        self, late_ms: int, *, used_ms: int = 0, lacked_ms: int = 0, wakes: int = 2
    ) -> float:
        """Look so late; returns for how long the process is said to have been stopped."""
        self._sleep(10 + late_ms, used_ms, lacked_ms, wakes)
        return self.stops.stopped_ns(self.now_ns, late_ms * MS) / MS

    def _sleep(self, ms: int, used_ms: int, lacked_ms: int, runs: int) -> None:
        self.stops.sleeps()
        self.now_ns += ms * MS
        self.used_ns += used_ms * MS
        self.ready_ns += lacked_ms * MS
        self.runs += runs


@pytest.fixture
def watcher(monkeypatch: pytest.MonkeyPatch) -> Watcher:
    if not thread_times._HAS_TIMES:
        pytest.skip("the times of threads are Linux's")
    return Watcher(monkeypatch)


def test_that_a_process_in_which_nothing_has_run_was_stopped(watcher: Watcher) -> None:
    watcher.looks(8, used_ms=6)
    assert watcher.gap_ms(300) == 300
    # It may have to wait for a processor once it goes on.
    assert watcher.gap_ms(300, lacked_ms=100) == 200


def test_that_a_thread_that_lacked_a_processor_was_not_stopped(watcher: Watcher) -> None:
    watcher.looks(11)
    assert watcher.gap_ms(70, lacked_ms=70, wakes=1) == 0
    assert watcher.stops.lacked_ns == 70 * MS


def test_that_a_process_that_has_run_was_not_stopped(watcher: Watcher) -> None:
    watcher.looks(11)
    assert watcher.gap_ms(70, used_ms=40) == 0


def test_that_a_thread_that_waited_for_the_interpreter_was_not_stopped(watcher: Watcher) -> None:
    watcher.looks(5)
    assert watcher.gap_ms(80, wakes=16) == 0


def test_that_a_thread_that_was_woken_too_late_was_not_stopped(watcher: Watcher) -> None:
    watcher.looks(5)
    assert watcher.gap_ms(80, wakes=1) == 0
