"""Stops of a process, by the times of the thread that looks."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from threading import Thread, get_native_id

import pytest

from inspector.probe import thread_times
from inspector.probe.thread_times import OtherThreads, Stops, ThreadTimes

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


@pytest.mark.skipif(sys.platform != "linux", reason="times of threads are Linux's")
def test_that_a_file_of_one_thread_is_open_whichever_looks() -> None:
    def open_files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    stops, before = Stops(), open_files()
    for number in range(3):
        thread = Thread(target=stops.stopped_ns, args=(number, 0))
        thread.start()
        thread.join()
    while_looking = open_files()
    stops.close()

    assert (while_looking, open_files()) == (before + 1, before)


@pytest.mark.skipif(sys.platform != "linux", reason="times of threads are Linux's")
def test_that_times_are_known_where_the_program_has_closed_its_standard_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The first file that is opened then.
    monkeypatch.setattr(os, "open", lambda *_: 0)

    assert ThreadTimes(get_native_id()).cpu_ns() > 0


def test_that_what_others_have_run_is_neither_the_looks_nor_the_past(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    process_ms = own_ms = 0
    monkeypatch.setattr(thread_times, "process_time_ns", lambda: process_ms * MS)
    monkeypatch.setattr(thread_times, "thread_time_ns", lambda: own_ms * MS)
    loop, worker = 1, 2
    others = OtherThreads()

    def used_ms(**threads_ms: int) -> tuple[int, int]:
        times = {{"loop": loop, "worker": worker}[name]: ms * MS for name, ms in threads_ms.items()}
        thread, ns = others.used(times, loop)
        return thread, ns // MS

    process_ms, own_ms = 900, 100
    used_ms(loop=300, worker=500)
    # Only the thread that looks has run.
    process_ms, own_ms = 960, 160
    assert used_ms(loop=300, worker=500) == (worker, 0)
    process_ms += 70
    assert used_ms(loop=310, worker=560) == (worker, 60)
    # The worker has ended after 20 ms more.
    process_ms += 25
    assert used_ms(loop=315) == (0, 20)
    process_ms += 5
    assert used_ms(loop=320) == (0, 0)
