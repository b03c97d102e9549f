"""What a time source is: where real or virtual time comes from."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable


class TimeSource(Protocol):
    """Real or virtual time, and one wake-up call.

    Instants are nanoseconds of the source's own, on a scale that never runs
    backwards; where it begins means nothing. A source belongs to the thread that
    made it.
    """

    def now_ns(self) -> int:
        """Return the present instant."""

    def set_wake(self, at_ns: int | None) -> None:
        """Ask to be woken once at ``at_ns``, instead of what was asked before.

        An instant that has passed means as soon as possible, but never inside
        this call. ``None`` asks not to be woken: then nothing runs at all.
        """

    def attach(self, on_wake: Callable[[], None]) -> None:
        """Say what to call on a wake-up: on the owner's thread and never early."""

    def close(self) -> None:
        """Stop for good; nothing is called afterwards."""


@runtime_checkable
class CallsFromThreads(Protocol):
    """A time source that other threads can wake."""

    def call_soon_threadsafe(self, callback: Callable[[], None]) -> None:
        """Have something called on the owner's thread, soon; from any thread."""
