"""open-flash's child clock as it is, with its fault or corrected, for comparing with ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspector.clocks.clock import Clock
from inspector.clocks.timer import checked_callable, label_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.clocks.timer import Timer
    from inspector.clocks.tree import ClockTree


class OpenFlashTimeout:
    """A call that waits on an :class:`OpenFlashClock`; the handle for ``clear``.

    Attributes:
        clock: The clock it waits on.
        target_ns: The clock's time at which it is due.
        name: What people call it.
        is_pending: Whether it will be called.
    """

    __slots__ = ("_args", "_callback", "_registered", "clock", "is_pending", "name", "target_ns")

    def __init__(
        self,
        clock: OpenFlashClock,
        target_ns: int,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        name: str,
    ) -> None:
        """Hold what ``set_timeout_ns`` was given."""
        self.clock = clock
        self.target_ns = target_ns
        self.name = name
        self.is_pending = True
        self._callback = callback
        self._args = args
        self._registered: Timer | OpenFlashTimeout | None = None

    def register(self, delay_ns: int) -> None:
        """Have the clock above call it."""
        self._registered = self.clock.parent.set_timeout_ns(delay_ns, self._fire, name=self.name)

    def withdraw(self) -> None:
        """Have the clock above forget it."""
        if self._registered is not None:
            # Each kind of clock takes back what it gave out.
            self.clock.parent.clear(self._registered)  # type: ignore[arg-type]
            self._registered = None

    def _fire(self) -> None:
        self.is_pending = False
        self.clock.forget(self)
        self._callback(*self._args)


class OpenFlashClock:
    """A clock under another that can be paused; times are nanoseconds.

    Fault of the original, kept here: while paused, :attr:`time_ns` is not the clock's own
    time but that of its parent at the moment of the pause. It jumps by the epoch at the
    pause and back at the resume; a timeout set meanwhile is due too late by as much; and
    a clock below counts from the wrong time. The article about it corrects this, and
    :class:`~inspector.clocks.Clock` does not have it.

    Quirk, corrected or not: timeouts that are overdue at the resume are called in the
    order in which they were set, not in that of their due times.

    Attributes:
        parent: The clock it hangs under.
        name: What people call it.
        epoch_ns: The parent's time at which this clock reads 0.
        is_corrected: Whether it has the article's correction.
        is_removed: Never; it cannot be removed.
    """

    is_removed = False

    def __init__(
        self,
        parent: Clock | OpenFlashClock,
        epoch_ns: int | None = None,
        *,
        name: str = "",
        is_corrected: bool = False,
    ) -> None:
        """Hang a clock under another.

        Args:
            parent: Where it hangs.
            epoch_ns: The parent's time at which it reads 0; now if left out.
            name: What people call it.
            is_corrected: Without the fault.
        """
        self.parent = parent
        self.name = name
        self.is_corrected = is_corrected
        self.epoch_ns = parent.time_ns if epoch_ns is None else epoch_ns
        self._paused_at_ns: int | None = None
        self._timeouts: dict[int, OpenFlashTimeout] = {}

    def __repr__(self) -> str:
        """Show name, time and whether it is paused."""
        state = ", paused" if self.is_paused else ""
        return f"<OpenFlashClock {self.name!r} at {self.time_ns / 1e9:.6f} s{state}>"

    @property
    def tree(self) -> ClockTree:
        """The tree of the clock at the top."""
        return self.parent.tree

    @property
    def is_paused(self) -> bool:
        """Whether it was paused itself."""
        return self._paused_at_ns is not None

    @property
    def time_ns(self) -> int:
        """Its time; while paused the parent's, unless it is corrected."""
        return self._from_parent(self.parent.time_ns)

    def local_at(self, session_ns: int) -> int:
        """Return its time at an instant of the tree, if nothing changes until then."""
        return self._from_parent(self.parent.local_at(session_ns))

    def _from_parent(self, parent_ns: int) -> int:
        if self._paused_at_ns is None:
            return parent_ns - self.epoch_ns
        # The fault: the epoch is not taken off.
        return self._paused_at_ns - (self.epoch_ns if self.is_corrected else 0)

    def pause(self) -> None:
        """Stand still; does nothing if it does."""
        if self._paused_at_ns is not None:
            return
        self._paused_at_ns = self.parent.time_ns
        for timeout in self._timeouts.values():
            timeout.withdraw()

    def resume(self) -> None:
        """Go on; timeouts are registered anew, in the order in which they were set."""
        if self._paused_at_ns is None:
            return
        self.epoch_ns += self.parent.time_ns - self._paused_at_ns
        self._paused_at_ns = None
        now_ns = self.time_ns
        for timeout in self._timeouts.values():
            timeout.register(timeout.target_ns - now_ns)

    def set_timeout_ns(
        self,
        delay_ns: int,
        callback: Callable[..., object],
        *args: Any,  # noqa: ANN401
        name: str = "",
    ) -> OpenFlashTimeout:
        """Call ``callback(*args)`` once; the returned timeout is the handle for :meth:`clear`.

        Raises:
            TypeError: ``callback`` cannot be called.
        """
        checked_callable(callback)
        target_ns = self.time_ns + delay_ns
        timeout = OpenFlashTimeout(self, target_ns, callback, args, name or label_of(callback))
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
        return True

    @property
    def pending_count(self) -> int:
        """How many of its own timeouts wait."""
        return len(self._timeouts)

    def forget(self, timeout: OpenFlashTimeout) -> None:
        """Drop a timeout that fires or was cleared; for the timeout itself."""
        del self._timeouts[id(timeout)]
