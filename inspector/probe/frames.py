"""The frames of one loop: how long each worked, and how long it then waited."""

from __future__ import annotations

from threading import get_ident, get_native_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .clocks import Clock


class Frames:
    """The frames of one loop.

    A frame's length is the time from the start of the frame before: what that one worked, and
    then waited. Time in which the clock stood still is neither, unless the frame began in it:
    a loop that answers while it is held does work.
    """

    __slots__ = (
        "_began_local_ns",
        "_ended_local_ns",
        "_stood_at_began_ns",
        "_stood_at_ended_ns",
        "asked_ns",
        "began_held",
        "began_ns",
        "busy_ns",
        "ended_ns",
        "index",
        "length_ns",
        "threads",
    )

    def __init__(self) -> None:
        # index: Number of frames that have ended while an inspector was attached
        # length_ns: Time since the start of the frame before, 0 if that is not known
        # busy_ns: How long that one worked
        self.index = self.length_ns = self.busy_ns = 0
        self._began_local_ns = self._ended_local_ns = 0
        self._stood_at_began_ns = self._stood_at_ended_ns = 0
        self.began_held = False  # Whether the clock stood still when the frame began
        # The numbers of the thread of the loop: Python's and the system's
        self.threads = get_ident(), get_native_id()
        self.forget()

    def forget(self) -> None:
        """Begin again, with a frame whose length is not known."""
        # began_ns: When the running frame began, 0 without one
        # ended_ns: When the latest frame ended, 0 without one
        # asked_ns: Frame length that the loop asks for, as last reported; 0 for none
        self.began_ns = self.ended_ns = self.asked_ns = 0

    def begin(self, clock: Clock, now_ns: int) -> int:
        """Begin a frame; returns the local time since the start of the frame before."""
        local_ns, stood_ns = clock.local_ns(), clock.stood_ns(now_ns)
        delta_ns = self.length_ns = 0
        if self.ended_ns:
            idle_ns = now_ns - self.ended_ns - (stood_ns - self._stood_at_ended_ns)
            self.length_ns = self.busy_ns + idle_ns
            delta_ns = local_ns - self._ended_local_ns
        self.began_ns, self.began_held = now_ns, clock.stands_still(now_ns)
        self._began_local_ns, self._stood_at_began_ns = local_ns, stood_ns
        return delta_ns

    def end(self, clock: Clock, now_ns: int) -> None:
        """End the frame that began last."""
        stood_ns = clock.stood_ns(now_ns)
        self.busy_ns = now_ns - self.began_ns
        if not self.began_held:
            self.busy_ns -= stood_ns - self._stood_at_began_ns
        self.ended_ns, self._stood_at_ended_ns = now_ns, stood_ns
        self._ended_local_ns = self._began_local_ns
        self.began_ns = 0
        self.index += 1
