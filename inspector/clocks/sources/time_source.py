"""The protocol of time sources: where real or virtual time comes from."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable


class TimeSource(Protocol):
    """Real or virtual time, and one wake-up call.

    Instants are nanoseconds on the source's own monotonic scale with an arbitrary origin. A
    source belongs to the thread that made it.
    """

    def now_ns(self) -> int:
        """Return the present instant."""

    def set_wake(self, at_ns: int | None) -> None:
        """Request one wake-up at ``at_ns``, replacing the previous request.

        A past instant means as soon as possible, but never inside this call; ``None`` cancels
        the request.
        """

    def attach(self, on_wake: Callable[[], None]) -> None:
        """Set the callback for wake-ups: on the owner's thread and never early."""

    def close(self) -> None:
        """Stop permanently; nothing is called afterwards."""


@runtime_checkable
class CallsFromThreads(Protocol):
    """A time source that other threads can wake."""

    def call_soon_threadsafe(self, callback: Callable[[], None]) -> None:
        """Call something on the owner's thread soon; from any thread."""
