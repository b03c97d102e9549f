"""open-flash's child clock, with its fault or corrected, for comparison with ours."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from inspector.clocks.callbacks import checked_callable, label_of, refuse_unfinished
from inspector.clocks.clock import Clock
from inspector.clocks.timer import Timer
from inspector.clocks.tree import ClockTree
from inspector.frames.reporting import Reporter
from inspector.vocabulary import Field, MemberKind


class OpenFlashTimeout:
    """A call that waits on an :class:`OpenFlashClock`; the handle for ``clear``."""

    __slots__ = (
        "__weakref__",
        "_args",
        "_callback",
        "_is_own",
        "clock",
        "is_pending",
        "name",
        "number",
        "registered",
        "target_ns",
    )

    def __init__(
        self,
        clock: OpenFlashClock,
        target_ns: int,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        name: str,
    ) -> None:
        self.clock = clock  # The clock it waits on
        self.target_ns = target_ns  # The clock's time at which it is due
        self.name = name
        self.is_pending = True  # Whether it will be called
        # Its number in events while pending, or that of its loop; 0 while nothing records
        self.number = 0
        # Whether the member with its number is this timeout and is removed with it.
        self._is_own = False
        self._callback = callback
        self._args = args
        # Its timer on the clock above; ``None`` while its own clock is paused
        self.registered: Timer | OpenFlashTimeout | None = None

    def register(self, delay_ns: int) -> None:
        """Register it with the clock above."""
        above = self.clock.parent
        self.registered = above.set_unlisted_timeout_ns(delay_ns, self._fire, name=self.name)

    def unschedule(self) -> bool:
        """Clear it; returns whether it was pending."""
        return self.clock.clear(self)

    def report_new(self) -> None:
        """Report it as a member of its clock."""
        clock = self.clock
        self.number = clock.reporter.add(self, MemberKind.TIMEOUT, self.name, clock.number)
        self._is_own = True
        clock.reporter.set(self.number, Field.CALLS_LEFT, 1)
        self.report_wait()

    def report_as(self, number: int) -> None:
        """Make it the next call of a member that reports its calls itself."""
        self.number = number
        self.report_wait()

    def report_wait(self) -> None:
        """Report when it is due, or the remaining time while a clock above is paused."""
        if not self.number:
            return
        reporter = self.clock.reporter
        waiting: OpenFlashTimeout = self
        while isinstance(waiting.registered, OpenFlashTimeout):
            waiting = waiting.registered
        if waiting.registered is None:
            left_ns = waiting.target_ns - waiting.clock.own_time_ns
            reporter.set(self.number, Field.REMAINING, max(0, left_ns))
        else:
            reporter.set(self.number, Field.DUE, waiting.registered.due_ns)

    def report_gone(self) -> None:
        """Report that it is not pending any more."""
        if self._is_own:
            self.clock.reporter.remove(self.number)

    def withdraw(self) -> None:
        """Clear its timer on the clock above."""
        if self.registered is not None:
            # Each kind of clock clears its own timers.
            self.clock.parent.clear(self.registered)  # type: ignore[arg-type]
            self.registered = None

    def _fire(self) -> None:
        self.is_pending = False
        self.clock.forget(self)
        if not self._is_own or not self.number:
            refuse_unfinished(self._callback(*self._args))
            return
        self.report_gone()
        began_ns = perf_counter_ns()
        try:
            refuse_unfinished(self._callback(*self._args))
        finally:
            self.clock.reporter.call_ended(self.number, began_ns)


class OpenFlashClock:
    """A pausable clock under another; times are nanoseconds.

    Fault of the original, kept here: while paused, :attr:`time_ns` is not the clock's own time
    but that of its parent at the pause. It jumps by the epoch at the pause and back at the
    resume; a timeout set meanwhile is due too late by as much; and a clock below counts from
    the wrong time. The article about it corrects this, and :class:`~inspector.clocks.Clock` does
    not have it.

    Quirk, corrected or not: timeouts that are overdue at the resume are called in the order in
    which they were set, not in due order.
    """

    is_removed = False  # Always false: it cannot be removed

    def __init__(
        self,
        parent: Clock | OpenFlashClock,
        epoch_ns: int | None = None,
        *,
        name: str = "",
        is_corrected: bool = False,
    ) -> None:
        self.parent = parent  # The clock above
        # The nearest clock of the tree above
        self.tree_clock: Clock = parent.tree_clock if isinstance(parent, OpenFlashClock) else parent
        above: int = parent.number if isinstance(parent, OpenFlashClock) else 0
        self.name = name
        self.is_corrected = is_corrected  # Whether it has the article's correction
        # The parent's time at which this clock reads 0
        self.epoch_ns = parent.time_ns if epoch_ns is None else epoch_ns
        self._paused_at_ns: int | None = None
        self._timeouts: dict[int, OpenFlashTimeout] = {}
        # Clocks below, whose timeouts wait while this one is paused; kept while something records.
        self._below: list[OpenFlashClock] = []
        self.number: int = 0  # Its number in events; 0 while nothing records
        self.reporter = Reporter(self.tree_clock)  # Reports what happens here
        shown = name or "child clock"
        self.number = self.reporter.add(self, MemberKind.CHILD_CLOCK, shown, above)
        rules = "open-flash, corrected" if is_corrected else "open-flash"
        self.reporter.set_text(self.number, Field.RULES, rules)
        if self.number and isinstance(parent, OpenFlashClock):
            parent.hang(self)

    def __repr__(self) -> str:
        state = ", paused" if self.is_paused else ""
        return f"<OpenFlashClock {self.name!r} at {self.time_ns / 1e9:.6f} s{state}>"

    @property
    def tree(self) -> ClockTree:
        """The tree of the clock at the top."""
        return self.parent.tree

    @property
    def is_paused(self) -> bool:
        """Whether the clock itself is paused."""
        return self._paused_at_ns is not None

    @property
    def time_ns(self) -> int:
        """Its time; while paused the parent's, unless corrected."""
        return self._from_parent(self.parent.time_ns)

    def local_at(self, session_ns: int) -> int:
        """Return its time at an instant of the tree, at present rates and pauses."""
        return self._from_parent(self.parent.local_at(session_ns))

    @property
    def own_time_ns(self) -> int:
        """Its time without the fault, from which timeouts are registered at the resume."""
        above_ns = self.parent.time_ns if self._paused_at_ns is None else self._paused_at_ns
        return above_ns - self.epoch_ns

    def _from_parent(self, parent_ns: int) -> int:
        if self._paused_at_ns is None:
            return parent_ns - self.epoch_ns
        # The fault: the epoch is not subtracted.
        return self._paused_at_ns - (self.epoch_ns if self.is_corrected else 0)

    def pause(self) -> bool:
        """Pause; returns whether anything changed."""
        if self._paused_at_ns is not None:
            return False
        self._paused_at_ns = self.parent.time_ns
        self.reporter.set_paused(self.number, paused=True)
        for timeout in self._timeouts.values():
            timeout.withdraw()
        self.report_waits()
        return True

    def resume(self) -> bool:
        """Resume, and register the timeouts as they were set; returns whether it was paused."""
        if self._paused_at_ns is None:
            return False
        self.epoch_ns += self.parent.time_ns - self._paused_at_ns
        self._paused_at_ns = None
        now_ns = self.time_ns
        self.reporter.set_paused(self.number, paused=False)
        for timeout in self._timeouts.values():
            timeout.register(timeout.target_ns - now_ns)
        self.report_waits()
        return True

    def report_waits(self) -> None:
        """Report what the timeouts here and below wait for, after a pause or resume."""
        if not self.number:
            return
        for timeout in self._timeouts.values():
            timeout.report_wait()
        for clock in self._below:
            clock.report_waits()

    def hang(self, clock: OpenFlashClock) -> None:
        """Add a clock below this one; called by that clock."""
        self._below.append(clock)

    def set_timeout_ns(
        self,
        delay_ns: int,
        callback: Callable[..., object],
        *args: Any,  # noqa: ANN401
        name: str = "",
    ) -> OpenFlashTimeout:
        """Call ``callback(*args)`` once; the returned timeout is the handle for :meth:`clear`."""
        checked_callable(callback)
        timeout = self._set(delay_ns, callback, args, name or label_of(callback))
        if self.number:
            timeout.report_new()
        return timeout

    def set_unlisted_timeout_ns(
        self, delay_ns: int, callback: Callable[[], object], *, name: str = ""
    ) -> OpenFlashTimeout:
        """Do what :meth:`set_timeout_ns` does, for a subject that reports its calls itself."""
        return self._set(delay_ns, callback, (), name)

    def _set(
        self, delay_ns: int, callback: Callable[..., object], args: tuple[Any, ...], name: str
    ) -> OpenFlashTimeout:
        timeout = OpenFlashTimeout(self, self.time_ns + delay_ns, callback, args, name)
        self._timeouts[id(timeout)] = timeout
        if self._paused_at_ns is None:
            timeout.register(delay_ns)
        return timeout

    def clear(self, timeout: OpenFlashTimeout) -> bool:
        """Cancel a timeout; returns whether it was pending here."""
        if timeout.clock is not self or not timeout.is_pending:
            return False
        timeout.is_pending = False
        timeout.withdraw()
        self.forget(timeout)
        timeout.report_gone()
        return True

    @property
    def pending_count(self) -> int:
        """Number of pending timeouts of this clock."""
        return len(self._timeouts)

    def forget(self, timeout: OpenFlashTimeout) -> None:
        """Drop a timeout that fires or was cleared; called by the timeout."""
        del self._timeouts[id(timeout)]
