"""The algorithm that redistributes: what a tree of clocks costs without queues per clock.

Every task of a child clock is scheduled again at its parent, all the way up to the
system clock. Pausing withdraws every one of them there, resuming registers them
all again, in the order in which they were made. Written from the description of
open-flash's ``ChildClock`` with the correction that a paused clock shows its own
time, and in integer nanoseconds; the system clock under it is a heap of tuples with
lazy cancellation, which is faster than the timers it had.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

#: Cancelled tasks are dropped when there are more than this and they are the majority.
_FEW = 64


class SchedulableClock(Protocol):
    """What a child clock asks of its parent."""

    def time_ns(self) -> int:
        """Return the clock's time."""

    def set_timeout_ns(self, timeout_ns: int, handler: Callable[[], object]) -> Any:  # noqa: ANN401
        """Call ``handler`` once; returns a handle."""

    def clear_timeout(self, handle: Any) -> None:  # noqa: ANN401
        """Withdraw a task that has not fired; others are ignored."""


class SystemTask:
    """A native timer."""

    __slots__ = ("handler",)

    def __init__(self, handler: Callable[[], object]) -> None:
        self.handler: Callable[[], object] | None = handler


class SystemClock:
    """The root: time that is moved by :meth:`advance_ns`."""

    def __init__(self) -> None:
        self._now_ns = 0
        self._order = 0
        self._heap: list[tuple[int, int, SystemTask]] = []
        self._cancelled = 0

    def time_ns(self) -> int:
        """Return the instant reached; inside a handler, when it was due."""
        return self._now_ns

    def set_timeout_ns(self, timeout_ns: int, handler: Callable[[], object]) -> SystemTask:
        """Call ``handler`` once, at once if the timeout is negative."""
        task = SystemTask(handler)
        self._order += 1
        heappush(self._heap, (self._now_ns + max(0, timeout_ns), self._order, task))
        return task

    def clear_timeout(self, task: SystemTask) -> None:
        """Withdraw a task; harmless when it has fired."""
        if task.handler is None:
            return
        task.handler = None
        self._cancelled += 1
        if self._cancelled > _FEW and 2 * self._cancelled > len(self._heap):
            self._heap = [entry for entry in self._heap if entry[2].handler is not None]
            heapify(self._heap)
            self._cancelled = 0

    def advance_ns(self, delta_ns: int) -> None:
        """Let time pass, calling what is due on the way."""
        target_ns = self._now_ns + delta_ns
        while self._heap and self._heap[0][0] <= target_ns:
            self._now_ns, _, task = heappop(self._heap)
            handler, task.handler = task.handler, None
            if handler is None:
                self._cancelled -= 1
            else:
                handler()
        self._now_ns = target_ns


class ChildTask:
    """A task of a child clock, and the task it is at the parent."""

    __slots__ = ("clock", "handle", "handler", "target_ns")

    def __init__(self, clock: ChildClock, target_ns: int, handler: Callable[[], object]) -> None:
        self.clock = clock
        self.target_ns = target_ns
        self.handler = handler
        self.handle: Any = None

    def fire(self) -> None:
        """Forget the task, then call its handler."""
        del self.clock.tasks[self]
        self.handler()


class ChildClock:
    """A clock that can be paused, whose tasks all wait at its parent too.

    Attributes:
        parent: Whose time it follows.
        tasks: Its tasks, in the order in which they were made.
    """

    def __init__(self, parent: SchedulableClock) -> None:
        self.parent = parent
        self.tasks: dict[ChildTask, None] = {}
        self._epoch_ns = parent.time_ns()
        self._paused_at_ns: int | None = None

    def time_ns(self) -> int:
        """Return the parent's time since the epoch, without the pauses."""
        if self._paused_at_ns is not None:
            return self._paused_at_ns - self._epoch_ns
        return self.parent.time_ns() - self._epoch_ns

    def set_timeout_ns(self, timeout_ns: int, handler: Callable[[], object]) -> ChildTask:
        """Schedule a task here and, unless paused, at the parent."""
        task = ChildTask(self, self.time_ns() + timeout_ns, handler)
        self.tasks[task] = None
        if self._paused_at_ns is None:
            task.handle = self.parent.set_timeout_ns(timeout_ns, task.fire)
        return task

    def clear_timeout(self, task: ChildTask) -> None:
        """Withdraw a task here and at the parent."""
        if task in self.tasks:
            del self.tasks[task]
            if self._paused_at_ns is None:
                self.parent.clear_timeout(task.handle)

    def pause(self) -> None:
        """Stop: withdraw every task at the parent."""
        if self._paused_at_ns is not None:
            return
        self._paused_at_ns = self.parent.time_ns()
        for task in self.tasks:
            self.parent.clear_timeout(task.handle)

    def resume(self) -> None:
        """Go on: schedule every task at the parent again."""
        if self._paused_at_ns is None:
            return
        self._epoch_ns += self.parent.time_ns() - self._paused_at_ns
        self._paused_at_ns = None
        now_ns = self.time_ns()
        for task in self.tasks:
            task.handle = self.parent.set_timeout_ns(task.target_ns - now_ns, task.fire)
