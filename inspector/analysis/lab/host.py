"""A clock tree in virtual time, in a program that reads its clocks once per frame."""

from collections.abc import Callable
from typing import Final

from inspector.clocks.clock import Clock
from inspector.clocks.transport import Transport
from inspector.clocks.tree import ClockTree

#: Stalls are not cut: the lab shows how they affect timers.
_NO_CUT_NS: Final = 10**18


class FrameSource:
    """A time source that wakes the engine only at frames, like a busy program."""

    def __init__(self) -> None:
        """Begin at 0."""
        self._now_ns = 0
        self._wake_ns: int | None = None
        self._on_wake: Callable[[], None] | None = None

    def now_ns(self) -> int:
        """Return the present instant."""
        return self._now_ns

    def set_wake(self, at_ns: int | None) -> None:
        """Request a wake-up in the first frame at or after ``at_ns``."""
        self._wake_ns = at_ns

    def attach(self, on_wake: Callable[[], None]) -> None:
        """Set the callback of wake-ups."""
        self._on_wake = on_wake

    def close(self) -> None:
        """Never wake the engine again."""
        self._on_wake = self._wake_ns = None

    def pass_to(self, frame_ns: int) -> None:
        """Advance to a frame, then wake the engine for everything due."""
        self._now_ns = frame_ns
        while self._wake_ns is not None and self._wake_ns <= frame_ns:
            self._wake_ns = None
            if self._on_wake is not None:
                self._on_wake()


class FrameHost:
    """A running clock tree that is read once per frame.

    Attributes:
        root: The root clock.
        now_ns: The instant of the frame.
    """

    def __init__(self) -> None:
        """Begin at 0, running."""
        self._source = FrameSource()
        self._tree = ClockTree()
        self._transport = Transport(self._tree, self._source, max_delta_ns=_NO_CUT_NS)
        self._transport.run()

    @property
    def root(self) -> Clock:
        """The root clock."""
        return self._tree.root

    @property
    def now_ns(self) -> int:
        """The instant of the frame."""
        return self._source.now_ns()

    def pass_to(self, frame_ns: int) -> None:
        """Advance to the next frame."""
        self._source.pass_to(frame_ns)
