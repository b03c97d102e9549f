"""A clock tree in virtual time, in a program that reads its clocks once per frame."""

from typing import Final

from inspector.clocks.clock import Clock
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.clocks.transport import Transport
from inspector.clocks.tree import ClockTree

#: Stalls are not cut: the lab shows how they affect timers.
_NO_CUT_NS: Final = 10**18


class FrameHost:
    """A running clock tree that is read once per frame.

    Attributes:
        root: The root clock.
        now_ns: The instant of the frame.
    """

    def __init__(self) -> None:
        self._source = VirtualTimeSource()
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
        """Advance to the next frame; only there is the engine woken, as by a busy program."""
        self._source.jump_ns(frame_ns - self._source.now_ns())
        self._source.pass_ns(0)
