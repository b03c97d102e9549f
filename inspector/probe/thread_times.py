"""Times of threads from the system: processor time, time without a processor, switches."""

from __future__ import annotations

import os
import sys
import threading
from time import process_time_ns, thread_time_ns

try:
    from time import clock_gettime_ns
except ImportError:  # Windows
    clock_gettime_ns = None  # type: ignore[assignment]

from .own_files import OwnFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional

_HAS_TIMES = sys.platform == "linux"
_MOST_THREADS = 32
#: Shorter gaps do not count as a stop of the process.
STOP_NS = 50_000_000
#: A thread that waits for the interpreter's lock wakes once in this time; the link also wakes a few
#: times by itself.
SWITCH_NS = 20_000_000
_FEW_WAKES = 7
#: What has been used between the readings of all times, which the process has used and no thread.
_APART_NS = 1_000_000
#: The processor time of the process is read before every this many sleeps, as that takes 1.5 µs.
_READ_EVERY = 4


class ThreadTimes:
    """The times of a thread, which another may read.

    Args:
        native: The system's number of the thread.
    """

    __slots__ = ("_cpu_clock", "_file")

    def __init__(self, native: int) -> None:
        # The clock of the processor time of a thread, as Linux numbers it: for a thread that has
        # ended it is an error, where ``pthread_getcpuclockid`` may crash.
        self._cpu_clock = _cpu_clock(native)
        self._file: Optional[OwnFile] = None
        if _HAS_TIMES:
            try:
                number = os.open(f"/proc/self/task/{native}/schedstat", os.O_RDONLY)
            except OSError:
                return
            self._file = OwnFile(number)

    def cpu_ns(self) -> int:
        """Return its processor time; an ``OSError`` if it is not known."""
        if self._file is None:
            raise OSError
        return clock_gettime_ns(self._cpu_clock)

    def scheduled(self) -> tuple[int, int]:
        """Return how long it was ready, and how often it ran; ``OSError`` if unknown."""
        if self._file is None:
            raise OSError
        try:
            _, waited, runs = os.pread(self._file.number, 100, 0).split()[:3]
            return int(waited), int(runs)
        except ValueError as error:
            raise OSError from error

    def close(self) -> None:
        """Close the system's file."""
        file, self._file = self._file, None
        if file is not None:
            file.close()


class Stops:
    """Tells whether the process was stopped while the thread that asks wanted to look."""

    def __init__(self) -> None:
        # lacked_ns: For how much of the gap before the last look it had no processor
        # read_ns: When its times were last read, 0 for never
        # wakes: How often it ran since the reading before, without ends of its own sleeps
        self.lacked_ns = self.read_ns = self.wakes = 0
        #: Processor time of the process a few sleeps ago, and how often the thread has slept since
        #: its times were read.
        self._process_ns = self._slept = 0
        self._native = -1
        self._own: Optional[ThreadTimes] = None
        self._times = (0, 0)

    def close(self) -> None:
        """Close the system's file."""
        if self._own is not None:
            self._own.close()
        self._own, self._native, self.read_ns = None, -1, 0

    def sleeps(self) -> None:
        """Count a sleep that the thread is about to begin."""
        self._slept += 1
        if self._slept % _READ_EVERY == 0:
            self._process_ns = process_time_ns()

    def stopped_ns(self, now_ns: int, late_ns: int) -> int:
        """Return for how long the process was stopped before this look, which is ``late_ns`` late.

        If it was stopped, nothing has run meanwhile, and the thread was woken once when the process
        was stopped and once when it was continued.
        """
        if not _HAS_TIMES:
            return 0
        native = threading.get_native_id()
        if native != self._native or self._own is None:
            self.close()
            self._native, self._own = native, ThreadTimes(native)
            late_ns = 0
        try:
            times = self._own.scheduled()
        except OSError:
            return 0
        before, self._times, self.read_ns = self._times, times, now_ns
        slept, self._slept = self._slept, 0
        # It may have lacked a processor before the gap, but also during all of it.
        waited_ns = times[0] - before[0]
        self.wakes = wakes = times[1] - before[1] - slept
        self.lacked_ns = min(waited_ns, late_ns)
        process_ns, self._process_ns = self._process_ns, process_time_ns()
        if late_ns < STOP_NS or self._process_ns - process_ns > late_ns // 10:
            return 0
        # A thread that waits for the interpreter's lock wakes again and again.
        most_wakes = _FEW_WAKES + late_ns // SWITCH_NS // 2
        # After a stop, it may have to wait for a processor.
        stood_ns = late_ns - waited_ns
        is_stop = stood_ns >= max(STOP_NS, late_ns // 2) and 0 < wakes <= most_wakes
        return stood_ns if is_stop else 0


def other_times() -> dict[int, int]:
    """Return the processor time of the other threads of the program, by their identity."""
    found: dict[int, int] = {}
    if not _HAS_TIMES:
        return found
    own = threading.get_ident()
    for thread in list(threading._active.values())[:_MOST_THREADS]:  # type: ignore[attr-defined]
        if thread.ident != own and thread.native_id:
            try:
                found[thread.ident] = clock_gettime_ns(_cpu_clock(thread.native_id))
            except OSError:
                pass
    return found


class OtherThreads:
    """Tells which threads have run instead of that of a loop."""

    def __init__(self) -> None:
        self._times: dict[int, int] = {}
        self._all_ns = 0

    def used(self, times: dict[int, int], without: int) -> tuple[int, int]:
        """Return the thread that has run most since the call before, and how long all have run.

        The thread is 0 if it has ended. Threads that Python has not started need no interpreter:
        while there are any, they may have run instead of one that has ended.
        """
        before, self._times = self._times, times
        # The calling thread is the probe's, not the program's.
        all_ns = process_time_ns() - thread_time_ns()
        passed_ns, self._all_ns = all_ns - self._all_ns, all_ns
        # A thread that was not there before has used all of it since.
        since = {thread: ns - before.get(thread, 0) for thread, ns in times.items()}
        gone_ns = passed_ns - sum(since.values()) if before else 0
        since.pop(without, None)
        busiest = max(since, key=since.__getitem__, default=0)
        others_ns = sum(since.values())
        if gone_ns > max(since.get(busiest, 0), _APART_NS) and not _has_native_threads():
            return 0, max(others_ns, gone_ns)
        return busiest, others_ns


def _has_native_threads() -> bool:
    """Return whether there are threads that Python has not started, such as those of a library."""
    known = {thread.native_id for thread in list(threading._active.values())}  # type: ignore[attr-defined]
    known.add(threading.get_native_id())
    try:
        return any(int(name) not in known for name in os.listdir("/proc/self/task"))
    except OSError:
        return True


def _cpu_clock(native: int) -> int:
    return (~native << 3) | 6
