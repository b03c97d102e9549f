"""Waits in virtual time as values: what a thread or a loop waits for, and the goals of a test."""

from __future__ import annotations

from .outside import awaited_in_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Callable, Optional

    from .clocks import Clock

#: The most by which libraries round due times up.
_ROUNDING_NS = 1_000


def never(*_: object) -> bool:
    return False


def _nowhere() -> str:
    return ""


class Wait:
    """What one thread waits for."""

    __slots__ = (
        "clock",
        "due_ns",
        "error",
        "is_due",
        "is_idle",
        "is_over",
        "order",
        "outside",
        "thread",
        "wake",
    )

    def __init__(  # noqa: PLR0913 - what a wait is
        self,
        clock: Clock,
        due_ns: Optional[int],
        wake: Callable[[], object],
        is_over: Callable[[], bool] = never,
        outside: Callable[[], str] = _nowhere,
        *,
        is_idle: bool = False,
    ) -> None:
        self.clock = clock  # The clock of ``due_ns``
        # The local instant at which it is over; ``None`` if time does not end it
        self.due_ns = due_ns
        self.wake = wake  # Ends it; called on any thread
        # Whether something else has ended it, though its thread may not have continued yet
        self.is_over = is_over
        self.outside = outside  # Names what is awaited outside of the program; empty if nothing is
        self.is_due = False  # Whether its time has come
        # Whether it is the wait of a loop that has nothing to do until its next event
        self.is_idle = is_idle
        self.error: Optional[BaseException] = None  # Raised in its thread at its end
        self.thread = self.order = 0


class Goal:
    """How far virtual time has to advance for a call by the test."""

    def __init__(
        self,
        until_ns: Optional[int],
        is_reached: Callable[[], bool],
        finish: Callable[[], object] = never,
        *,
        is_to_next: bool = False,
    ) -> None:
        # The local instant of the program's clock at which it ends, whatever happens
        self.until_ns = until_ns
        self.is_to_next = is_to_next  # Whether it ends once what is due next has been called
        self._latest_ns = 0 if until_ns is None else until_ns + _ROUNDING_NS
        self._is_reached = is_reached
        self.finish = finish  # Called once it is over
        self.has_timed_out = False  # Whether it ended at ``until_ns``
        self.is_finished = False
        self.error: Optional[BaseException] = None  # What ``is_reached`` has raised

    def look_ahead(self, due_ns: Optional[int], *, may_come: bool) -> None:
        """Adjust the end to what is due next; ``may_come`` says whether anything else may come."""
        if self.until_ns is None:
            if self.is_to_next:
                self.until_ns = due_ns
                self.has_timed_out = due_ns is None and not may_come
        elif due_ns is not None and self.until_ns < due_ns <= self._latest_ns:
            # Include what is due at the end, even if a library has rounded its time up.
            self.until_ns = due_ns

    def is_over(self, local_ns: int) -> bool:
        """Return whether it is reached, or its time has come."""
        try:
            if self._is_reached():
                return True
        except BaseException as error:  # noqa: BLE001 - is raised where the test waits
            self.error = error
            return True
        if self.until_ns is not None and local_ns >= self.until_ns:
            self.has_timed_out = True
        return self.has_timed_out


class Files:
    """The files that a loop waits for."""

    def __init__(
        self, number: int, numbers: Callable[[], Collection[int]], own: tuple[int, ...]
    ) -> None:
        # Descriptor of the file that tells whether any of them is ready; -1 for none
        self.number = number
        self.numbers = numbers  # Returns the descriptors that the loop waits for now
        self.own = own  # The descriptors by which the loop itself is woken

    def has_events(self) -> bool:
        """Return, on any thread, whether something is ready."""
        try:
            from select import POLLIN, poll  # noqa: PLC0415 - not everywhere

            looking = poll()
            looking.register(self.number, POLLIN)
            return bool(looking.poll(0))
        except (ImportError, OSError, ValueError):
            return False

    def awaited_outside(self) -> str:
        """Return what may come from outside of the program; empty for nothing."""
        numbers = self.numbers()
        return "" if len(numbers) <= len(self.own) else awaited_in_files(numbers, self.own)
