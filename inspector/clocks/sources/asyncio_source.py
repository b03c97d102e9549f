"""A time source on a running asyncio event loop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from inspector.clocks.sources.wake_errors import WakeErrors, WakeErrorSummary
from inspector.timebase import NS_PER_SECOND

if TYPE_CHECKING:
    import asyncio


class AsyncioTimeSource:
    """The time of an asyncio loop, with one ``call_at`` on it.

    The loop's own clock is read, so loops with another clock (uvloop, virtual time in tests)
    work too. Everything except :meth:`now_ns` is for the loop's thread. Exceptions in a wake-up
    go to the loop's exception handler.

    Attributes:
        wakes: Number of calls from the loop, including early and needless ones.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """Start at 0 now.

        Args:
            loop: The event loop; by default the running one.

        Raises:
            RuntimeError: There is neither a given nor a running loop.
        """
        if loop is None:
            # Only programs that use asyncio pay for its import.
            import asyncio  # noqa: PLC0415

            loop = asyncio.get_running_loop()
        self.wakes = self._asked_ns = self._armed_ns = 0
        self._loop = loop
        self._origin_s = loop.time()
        # asyncio calls whatever is due within the resolution of its clock, and so too early;
        # a request that much later is called on time.
        self._early_s = time.get_clock_info("monotonic").resolution
        self._owner = threading.get_ident()
        self._on_wake: Callable[[], None] | None = None
        self._wanted_ns: int | None = None
        self._handle: asyncio.TimerHandle | None = None
        self._is_waking = self._is_closed = False
        self._errors = WakeErrors()

    def __repr__(self) -> str:
        return f"AsyncioTimeSource(now_ns={self.now_ns()})"

    @property
    def wake_errors(self) -> WakeErrorSummary | None:
        """How late the wake-ups were; ``None`` before the first."""
        return self._errors.summary()

    def restart_measurement(self) -> None:
        """Clear the measured wake-ups, including a wake-up in progress."""
        self._errors.clear()

    def now_ns(self) -> int:
        """Return the nanoseconds of the loop's time since the source was made."""
        return int((self._loop.time() - self._origin_s) * NS_PER_SECOND)

    def set_wake(self, at_ns: int | None) -> None:
        """Request one wake-up at ``at_ns``, replacing the previous request.

        Raises:
            RuntimeError: Called from another thread than the owner's.
        """
        self._check_thread()
        self._wanted_ns = at_ns
        if at_ns is None:
            self._disarm()
            return
        self._asked_ns = self.now_ns()
        # A later wake-up needs no new handle: the early call arms again. A cancelled handle would
        # cost more, because it stays in the loop's heap.
        if not self._is_waking and (self._handle is None or at_ns < self._armed_ns):
            self._arm(at_ns)

    def attach(self, on_wake: Callable[[], None]) -> None:
        """Set the callback for wake-ups: on the owner's thread and never early."""
        self._check_thread()
        self._on_wake = on_wake

    def close(self) -> None:
        """Stop permanently; nothing is called afterwards."""
        self._check_thread()
        self._is_closed = True
        self._on_wake = self._wanted_ns = None
        self._disarm()

    def call_soon_threadsafe(self, callback: Callable[[], None]) -> None:
        """Call something on the loop's thread soon; from any thread."""
        self._loop.call_soon_threadsafe(callback)

    def _arm(self, at_ns: int) -> None:
        self._disarm()
        if self._is_closed:
            return
        self._armed_ns = at_ns
        at_s = self._origin_s + at_ns / NS_PER_SECOND + self._early_s
        self._handle = self._loop.call_at(at_s, self._wake_if_due)

    def _disarm(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _wake_if_due(self) -> None:
        """Wake the callback if it is time, and arm for the next request."""
        self.wakes += 1
        self._handle = None
        wanted_ns = self._wanted_ns
        if wanted_ns is None:
            return
        now_ns = self.now_ns()
        if now_ns < wanted_ns:
            self._arm(wanted_ns)
            return
        self._wanted_ns = None
        self._errors.add(now_ns - max(wanted_ns, self._asked_ns))
        self._errors.settle()
        self._is_waking = True
        try:
            if self._on_wake is not None:
                self._on_wake()
        finally:
            self._is_waking = False
            self._arm_if_wanted()

    def _arm_if_wanted(self) -> None:
        if self._wanted_ns is not None:
            self._arm(self._wanted_ns)

    def _check_thread(self) -> None:
        if threading.get_ident() != self._owner:
            raise RuntimeError(
                "a time source belongs to the thread that made it; from another thread use "
                "loop.call_soon_threadsafe()"
            )
