"""A time source for virtual runs: behaves like a real one, without waiting."""

from __future__ import annotations

from collections.abc import Callable

from inspector.clocks.sources.manual_source import checked_forward


class VirtualTimeSource:
    """Virtual time that is woken like real time.

    :meth:`pass_ns` goes from one wake-up to the next, each exactly when it was asked
    for. A callback that works (:meth:`jump_ns`) makes the wake-ups after it late, just
    as it does with a real source. That is what tells this from
    :class:`~inspector.clocks.ManualTimeSource`, where a jump is an instant that has
    been reached and nothing more.
    """

    def __init__(self) -> None:
        self._now_ns = 0
        self._wake_ns: int | None = None
        self._on_wake: Callable[[], None] | None = None

    def __repr__(self) -> str:
        return f"VirtualTimeSource(now_ns={self._now_ns})"

    def now_ns(self) -> int:
        """Return the present instant."""
        return self._now_ns

    def set_wake(self, at_ns: int | None) -> None:
        """Request one wake-up at ``at_ns``, replacing an earlier request."""
        self._wake_ns = at_ns

    def attach(self, on_wake: Callable[[], None]) -> None:
        """Set the callback of wake-ups."""
        self._on_wake = on_wake

    def close(self) -> None:
        """Stop waking."""
        self._on_wake = self._wake_ns = None

    def pass_ns(self, duration_ns: int) -> None:
        """Let time pass, 0 or more, waking at every instant requested meanwhile."""
        target_ns = self._now_ns + checked_forward(duration_ns)
        while self._wake_ns is not None and self._wake_ns <= target_ns:
            self._now_ns = max(self._now_ns, self._wake_ns)
            self._wake()
        self._now_ns = max(self._now_ns, target_ns)

    def wake_if_due(self) -> None:
        """Wake once if a request is due, as a busy host does late."""
        if self._wake_ns is not None and self._wake_ns <= self._now_ns:
            self._wake()

    def jump_ns(self, duration_ns: int) -> None:
        """Let time pass, 0 or more, without a wake-up, also from inside a callback."""
        self._now_ns += checked_forward(duration_ns)

    def _wake(self) -> None:
        self._wake_ns = None
        if self._on_wake is not None:
            self._on_wake()
