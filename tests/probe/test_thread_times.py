"""Stops of a process, by the times of the thread that looks."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from threading import Thread, get_native_id
from types import SimpleNamespace

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
    assert watcher.stops.wakes == 15


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
    assert stops.read_ns == 2
    stops.close()

    assert stops.read_ns == 0
    assert (while_looking, open_files()) == (before + 1, before)


@pytest.mark.skipif(sys.platform != "linux", reason="times of threads are Linux's")
def test_that_a_file_of_the_program_with_the_same_number_stays_open(tmp_path: Path) -> None:
    times = ThreadTimes(get_native_id())
    assert times.scheduled()[1] > 0
    assert times._file is not None
    number = times._file.number
    with (tmp_path / "log").open("w") as log:
        # The program closes all descriptors, as daemons do, and opens files of its own.
        os.dup2(log.fileno(), number)
        times.close()

        assert os.path.sameopenfile(log.fileno(), number)
        os.close(number)
    with pytest.raises(OSError):  # noqa: PT011 - whatever its number is
        times.scheduled()
    with pytest.raises(OSError):  # noqa: PT011 - whatever its number is
        times.cpu_ns()


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
    process_ms: float = 0
    own_ms = listed = 0

    def listdir(_folder: str) -> list[str]:
        nonlocal listed
        listed += 1
        return [str(get_native_id()), *natives]

    monkeypatch.setattr(os, "listdir", listdir)
    natives: list[str] = []
    monkeypatch.setattr(thread_times, "process_time_ns", lambda: int(process_ms * MS))
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
    # All times cannot be read in the same instant, and no thread is looked for in between.
    process_ms += 0.9
    assert used_ms(loop=300, worker=500) == (worker, 0)
    process_ms += 69.1
    assert listed == 0
    assert used_ms(loop=310, worker=560) == (worker, 60)
    # The worker has ended after 20 ms more.
    process_ms += 25
    assert used_ms(loop=315) == (0, 20)
    # Or a thread of a library, which needs no interpreter, has run.
    natives.append("1")
    process_ms += 25
    assert used_ms(loop=320) == (0, 0)
    natives.clear()
    process_ms += 5
    assert used_ms(loop=325) == (0, 0)


# --------------------------------------------------------------------------------- rules of stops


@pytest.mark.parametrize(
    ("late_ms", "used_ms", "lacked_ms", "wakes", "stood_ms"),
    [
        (50, 0, 0, 2, 50),
        (49, 0, 0, 2, 0),
        # Something has run for more than a tenth of it.
        (70, 7, 0, 2, 70),
        (70, 8, 0, 2, 0),
        # One wake is of the sleep before.
        (300, 0, 0, 1, 0),
        (300, 0, 0, 15, 300),
        (300, 0, 0, 16, 0),
        # Half of it, and as much as a stop takes, was none for want of a processor.
        (300, 0, 150, 2, 150),
        (300, 0, 151, 2, 0),
        (60, 0, 10, 2, 50),
        (60, 0, 11, 2, 0),
    ],
)
def test_that_a_stop_is_told_from_other_late_looks(  # noqa: PLR0913, PLR0917
    watcher: Watcher, late_ms: int, used_ms: int, lacked_ms: int, wakes: int, stood_ms: int
) -> None:
    watcher.looks(5)
    watcher.gap_ms(0, wakes=1)

    assert watcher.gap_ms(late_ms, used_ms=used_ms, lacked_ms=lacked_ms, wakes=wakes) == stood_ms
    assert watcher.stops.lacked_ns == lacked_ms * MS
    assert watcher.stops.read_ns == watcher.now_ns


def test_that_a_thread_lacked_a_processor_for_no_longer_than_its_look_was_late(
    watcher: Watcher,
) -> None:
    watcher.gap_ms(20, lacked_ms=30)

    assert watcher.stops.lacked_ns == 20 * MS


def test_that_what_has_run_is_read_every_few_sleeps(watcher: Watcher) -> None:
    watcher.gap_ms(0)
    # What ran before the last four sleeps does not matter.
    watcher.looks(3, used_ms=40)
    assert watcher.gap_ms(60) == 60
    watcher.looks(2, used_ms=40)
    assert watcher.gap_ms(60) == 0


def test_that_a_thread_that_looks_for_the_first_time_is_not_late(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[bool] = []
    watcher.close = lambda: closed.append(True)  # type: ignore[attr-defined]
    assert watcher.gap_ms(60) == 60
    monkeypatch.setattr(threading, "get_native_id", lambda: -5)
    assert watcher.gap_ms(60) == 0
    assert closed == [True]
    assert watcher.gap_ms(60) == 60
    # After an inspector has come again.
    watcher.stops.close()
    assert watcher.gap_ms(60) == 0
    assert closed == [True] * 2


def test_that_nothing_is_known_where_times_cannot_be_read(watcher: Watcher) -> None:
    def unreadable() -> tuple[int, int]:
        raise OSError

    watcher.scheduled = unreadable  # type: ignore[method-assign]
    assert watcher.gap_ms(300) == 0
    assert watcher.stops.read_ns != watcher.now_ns


class Files:
    """The files of threads, by their numbers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.text = b"10 20 30 40"
        self.closed: list[int] = []
        self.opened: list[str] = []
        monkeypatch.setattr(thread_times, "_HAS_TIMES", True)
        monkeypatch.setattr(os, "open", self._open)
        monkeypatch.setattr(os, "pread", lambda _file, most, at: self.text[at:][:most])
        monkeypatch.setattr(os, "close", self._close)
        monkeypatch.setattr(thread_times, "clock_gettime_ns", self._time_ns)

    def _open(self, path: str, _flags: int) -> int:
        if "/13/" in path:
            raise FileNotFoundError
        self.opened.append(path)
        return 0

    def _close(self, file: int) -> None:
        self.closed.append(file)
        if len(self.closed) > 1:
            raise OSError

    def _time_ns(self, clock: int) -> int:
        # The number of a thread, from that of its clock.
        native = ~(clock >> 3)
        assert clock & 7 == 6
        if native == 15:
            raise OSError
        return native * 100


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Files:
    return Files(monkeypatch)


def test_that_the_times_of_a_thread_are_read_until_it_is_closed(files: Files) -> None:
    times = ThreadTimes(12)
    assert files.opened == ["/proc/self/task/12/schedstat"]
    assert times.scheduled() == (20, 30)
    assert times.cpu_ns() == 1_200
    times.close()
    times.close()
    assert files.closed == [0]
    with pytest.raises(OSError):  # noqa: PT011 - it says nothing
        times.cpu_ns()
    # The program has closed it.
    ThreadTimes(12).close()
    files.text = b"10 20"
    with pytest.raises(OSError):  # noqa: PT011 - it says nothing
        times.scheduled()


def test_that_the_times_of_a_thread_that_is_gone_are_not_known(files: Files) -> None:
    times = ThreadTimes(13)

    with pytest.raises(OSError):  # noqa: PT011 - it says nothing
        times.cpu_ns()
    times.close()
    assert files.closed == []


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("has_times", [True, False])
def test_that_the_times_of_others_are_those_of_threads_that_run(
    monkeypatch: pytest.MonkeyPatch, *, has_times: bool
) -> None:
    monkeypatch.setattr(thread_times, "_HAS_TIMES", has_times)
    threads = [SimpleNamespace(ident=0, native_id=9), SimpleNamespace(ident=1, native_id=None)]
    threads += [SimpleNamespace(ident=number, native_id=number) for number in range(14, 50)]
    stand_in = SimpleNamespace(_active=dict(enumerate(threads)), get_ident=lambda: 0)
    monkeypatch.setattr(thread_times, "threading", stand_in)

    # That of the calling thread is not among them, and no more than a few are read.
    expected = {number: number * 100 for number in range(14, 44) if number != 15}
    assert thread_times.other_times() == (expected if has_times else {})


@pytest.mark.parametrize("has_times", [True, False])
def test_that_stops_are_told_where_the_system_has_times(
    watcher: Watcher, monkeypatch: pytest.MonkeyPatch, *, has_times: bool
) -> None:
    monkeypatch.setattr(thread_times, "_HAS_TIMES", has_times)

    assert watcher.gap_ms(60) == (60 if has_times else 0)
