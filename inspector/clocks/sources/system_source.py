"""A time source that blocks its thread until something is due: for headless runs."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from time import perf_counter_ns
from typing import Final

from inspector.clocks.sources.wake_errors import WakeErrors, WakeErrorSummary
from inspector.timebase import NS_PER_SECOND

#: The longest single wait: a time-out that every platform accepts (Windows: 49 days).
_LONGEST_WAIT_NS: Final = 3_600 * NS_PER_SECOND


class SystemTimeSource:
    """The system's clock, with its own loop that sleeps between wake-ups.

    :meth:`run` blocks the thread that made the source. Only :meth:`now_ns`, :meth:`stop` and
    :meth:`call_soon_threadsafe` may be called from other threads.

    Attributes:
        wakes: Number of times the loop has woken, for any reason.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], int] = perf_counter_ns,
        wait: Callable[[float | None], object] | None = None,
    ) -> None:
        """Start at 0 now.

        Args:
            clock: Returns monotonic nanoseconds.
            wait: Sleeps at most that many seconds, ``None`` for no limit; by default other
                threads can cut the sleep short.
        """
        self.wakes = 0
        self._clock = clock
        self._origin_ns = clock()
        self._news = threading.Event()
        self._wait = self._news.wait if wait is None else wait
        self._owner = threading.get_ident()
        self._on_wake: Callable[[], None] | None = None
        self._wanted_ns: int | None = None
        self._soon: deque[Callable[[], None]] = deque()
        self._is_running = False
        self._is_stopping = False
        self._errors = WakeErrors()
        self._on_wait: Callable[[], None] | None = None

    def __repr__(self) -> str:
        return f"SystemTimeSource(now_ns={self.now_ns()})"

    @property
    def wake_errors(self) -> WakeErrorSummary | None:
        """How late the wake-ups were; ``None`` before the first."""
        return self._errors.summary()

    @property
    def is_due(self) -> bool:
        """Whether a requested wake-up is due, or late."""
        return self._wanted_ns is not None and self._wanted_ns <= self.now_ns()

    def restart_measurement(self) -> None:
        """Clear the measured wake-ups, including a wake-up in progress."""
        self._errors.clear()

    def now_ns(self) -> int:
        """Return the nanoseconds since the source was made; from any thread."""
        return self._clock() - self._origin_ns

    def set_wake(self, at_ns: int | None) -> None:
        """Request one wake-up at ``at_ns``, replacing the previous request.

        Raises:
            RuntimeError: Called from another thread than the owner's.
        """
        self._check_thread()
        # A past instant counts as requested now, so that a run up to an instant ends even if
        # every wake-up immediately requests another.
        self._wanted_ns = None if at_ns is None else max(at_ns, self.now_ns())

    def attach(self, on_wake: Callable[[], None]) -> None:
        """Set the callback for wake-ups: on the owner's thread and never early."""
        self._check_thread()
        self._on_wake = on_wake

    def close(self) -> None:
        """Stop permanently; nothing is called afterwards."""
        self._check_thread()
        self._on_wake = self._wanted_ns = None
        self._soon.clear()
        self.stop()

    def report_waits(
        self, on_wait: Callable[[], None] | None, _on_poll: Callable[[], None] | None = None
    ) -> None:
        """Call something before each sleep, or nothing more; it never polls."""
        self._on_wait = on_wait

    def run(self, until_ns: int | None = None, *, until_idle: bool = False) -> None:
        """Call the callback at every requested wake-up, and sleep in between.

        An exception in a wake-up ends the run and is raised here; the source can run again.

        Args:
            until_ns: Return at this instant, after what is due at it; by default run until
                :meth:`stop`.
            until_idle: Return as soon as no wake-up is requested.

        Raises:
            RuntimeError: Already running, or called from another thread than the owner's.
        """
        self._check_thread()
        if self._is_running:
            raise RuntimeError("the time source is already running; a wake-up cannot run it again")
        self._is_running = True
        try:
            while not self._is_stopping:
                if self._soon:
                    self._soon.popleft()()
                    continue
                wanted_ns = self._wanted_ns
                if wanted_ns is None and until_idle:
                    break
                now_ns = self.now_ns()
                if until_ns is not None and until_ns <= now_ns:
                    if wanted_ns is None or wanted_ns > until_ns:
                        break
                elif wanted_ns is None or wanted_ns > now_ns:
                    self._sleep(now_ns, wanted_ns, until_ns)
                    continue
                self._wake(now_ns, wanted_ns)
        finally:
            self._is_running = False
            self._is_stopping = False

    def stop(self) -> None:
        """End the run after the current wake-up, or the next run at once.

        From any thread, also inside a wake-up.
        """
        self._is_stopping = True
        self._news.set()

    def call_soon_threadsafe(self, callback: Callable[[], None]) -> None:
        """Call something on the owner's thread between wake-ups; from any thread.

        The way to change a clock tree from another thread.
        """
        self._soon.append(callback)
        self._news.set()

    def _sleep(self, now_ns: int, wanted_ns: int | None, until_ns: int | None) -> None:
        """Wait for the next instant or a signal from another thread."""
        if self._on_wait is not None:
            self._on_wait()
        ends_ns = [at_ns for at_ns in (wanted_ns, until_ns) if at_ns is not None]
        if ends_ns:
            self._wait(min(min(ends_ns) - now_ns, _LONGEST_WAIT_NS) / NS_PER_SECOND)
        else:
            self._wait(None)
        self.wakes += 1
        # Set only after its reason is in place, which the loop checks next.
        self._news.clear()

    def _wake(self, now_ns: int, wanted_ns: int) -> None:
        self._wanted_ns = None
        self._errors.add(now_ns - wanted_ns)
        self._errors.settle()
        if self._on_wake is not None:
            self._on_wake()

    def _check_thread(self) -> None:
        if threading.get_ident() != self._owner:
            raise RuntimeError(
                "a time source belongs to the thread that made it; from another thread use "
                "call_soon_threadsafe() or stop()"
            )
