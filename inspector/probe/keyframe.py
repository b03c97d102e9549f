"""Describes what is pending when an inspector comes, a few milliseconds at a time."""

from __future__ import annotations

from collections import deque
from time import monotonic_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Optional

    from .clocks import Clock
    from .program import Program

#: A slice takes at most 4 ms of the program's thread: it ends with the first few timers after this.
#: The rest is for a table of 100 000 entries that has to grow.
SLICE_NS = 2_000_000
#: A slice begins so late only on a thread that is busy or waits for something else.
_STUCK_NS = 50_000_000


class Keyframe:
    """The slices of one keyframe; each begins when the one before is done.

    Attributes:
        slices: Number of slices that have ended.
        longest_ns: Duration of the longest.
    """

    def __init__(self, program: Program, *, is_first: bool) -> None:
        self._program = program
        self._waiting: deque[tuple[Optional[Clock], Iterator[None]]] = deque()
        self._is_running = False
        self._asked_ns = 0
        self.slices = 0
        self.longest_ns = 0
        if is_first:
            for clock in list(program.clocks.by_number.values()):
                self.add(clock)
        else:
            self._waiting.append((None, program.described_again()))

    def add(self, clock: Clock) -> None:
        """Have the pending timers of a clock described as well."""
        adapter = clock.adapter
        timers = adapter and self._program.guarded(adapter, adapter.keyframe, clock)
        if timers is not None:
            self._waiting.append((clock, timers))

    @property
    def is_complete(self) -> bool:
        """Whether everything has been described."""
        return not self._waiting and not self._is_running

    @property
    def is_stuck(self) -> bool:
        """Whether the thread of a slice does something else, for who knows how long."""
        return self._is_running and monotonic_ns() - self._asked_ns > _STUCK_NS

    def go_on(self) -> None:
        """Have the next slice run, on the thread that it needs."""
        if self._is_running or not self._waiting:
            return
        clock, _ = self._waiting[0]
        self._is_running = True
        self._asked_ns = monotonic_ns()
        if clock is None or clock.is_removed:
            self._run()
            return
        adapter = clock.adapter
        self._program.guarded(adapter, adapter.call_soon, clock, self._run)
        if adapter.state == "failed":
            self._waiting.popleft()
            self._is_running = False

    def _run(self) -> None:
        clock, timers = self._waiting[0]
        began_ns = now_ns = monotonic_ns()
        is_over = True
        try:
            if clock is None or not clock.is_removed:
                for _ in timers:
                    now_ns = monotonic_ns()
                    if now_ns - began_ns >= SLICE_NS:
                        is_over = False
                        break
        except Exception as error:  # noqa: BLE001 - what adapters read may be gone
            if clock is not None:
                self._program.adapter_failed(clock.adapter, error)
        finally:
            if is_over:
                self._waiting.popleft()
            self.slices += 1
            self.longest_ns = max(self.longest_ns, monotonic_ns() - began_ns)
            self._is_running = False
