"""One face for everything that is compared, and the two that need no other package.

A scheduler makes *work*: everything is converted to its own units beforehand, so
that what is timed are its own calls in a loop and nothing of ours around them.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from inspector.clocks import Clock, ClockTree, ManualTimeSource, Transport
from tests.benchmarks.redistributing import ChildClock, SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from inspector.clocks import Sink
    from tests.benchmarks.measuring import Work

#: A frame of 60 Hz, rounded up so that 60 of them are not less than a second.
FRAME_NS = 16_666_667


class Scheduler(Protocol):
    """A scheduler under a time that is advanced by hand.

    What it calls does nothing but count.
    """

    def once(self, delays_ns: Sequence[int]) -> Work:
        """Return work that schedules one call after each delay."""

    def repeat(self, intervals_ns: Sequence[int]) -> Work:
        """Return work that schedules repeated calls, the first after one interval."""

    def frames(self, deltas_ns: Iterable[int]) -> Work:
        """Return work that lets time pass, frame by frame, from the last one made."""

    def fired(self) -> int:
        """Return how many calls there were."""

    def close(self) -> None:
        """Give back what the scheduler holds."""


@runtime_checkable
class CancellingScheduler(Scheduler, Protocol):
    """A scheduler that can take back one call."""

    def churn(self, delays_ns: Sequence[int]) -> Work:
        """Return work that schedules one call after each delay and cancels it at once."""


def counter() -> tuple[Callable[[], None], Callable[[], int]]:
    """Make a callback that counts its calls, and a function that tells how many."""
    count = 0

    def fire() -> None:
        nonlocal count
        count += 1

    return fire, lambda: count


def counter_of_one_argument() -> tuple[Callable[[object], None], Callable[[], int]]:
    """Make such a callback for those who pass a delta or an event."""
    count = 0

    def fire(_: object) -> None:
        nonlocal count
        count += 1

    return fire, lambda: count


def seconds(values_ns: Iterable[int]) -> list[float]:
    """Convert to what most schedulers count in."""
    return [value / 1e9 for value in values_ns]


class Instants:
    """Turns frame deltas into instants in seconds, each rounded once."""

    def __init__(self) -> None:
        self._last_ns = 0

    def after(self, deltas_ns: Iterable[int]) -> list[float]:
        """Return the instants at which these frames are, after those given before."""
        instants = list(accumulate(deltas_ns, initial=self._last_ns))
        self._last_ns = instants[-1]
        return seconds(instants[1:])


class LateSource:
    """A time source as a busy host is one: it wakes at frames only, so timers are late."""

    def __init__(self) -> None:
        self._now_ns = 0
        self._on_wake: Callable[[], None] | None = None

    def now_ns(self) -> int:
        """Return the present instant."""
        return self._now_ns

    def set_wake(self, at_ns: int | None) -> None:
        """Wake at the next frame in any case."""

    def attach(self, on_wake: Callable[[], None]) -> None:
        """Say what to call at each frame."""
        self._on_wake = on_wake

    def close(self) -> None:
        """Forget whom to wake."""
        self._on_wake = None

    def advance_ns(self, delta_ns: int) -> None:
        """Let a frame pass, then wake."""
        self._now_ns += delta_ns
        if self._on_wake is not None:
            self._on_wake()


class ClockTreeScheduler:
    """Our clock tree.

    Attributes:
        source: The time source: manual or waking late.
        transport: Runs, so that the tree follows the source.
        tree: The tree.
        clock: The clock that is used, ``depth`` below the root.
    """

    def __init__(
        self,
        depth: int = 1,
        sink: Sink | None = None,
        *,
        is_late: bool = False,
        make_tree: Callable[[Sink | None], ClockTree] = ClockTree,
    ) -> None:
        self.source: ManualTimeSource | LateSource = LateSource() if is_late else ManualTimeSource()
        self.tree = make_tree(sink)
        # No stall is cut: nothing may be lost.
        self.transport = Transport(self.tree, self.source, max_delta_ns=10**18)
        self.transport.run()
        self.clock: Clock = self.tree.root
        for level in range(depth):
            self.clock = self.clock.child(f"level {level + 1}")
        self._fire, self.fired = counter()

    def once(self, delays_ns: Sequence[int]) -> Work:
        set_timeout_ns, fire = self.clock.set_timeout_ns, self._fire

        def work() -> None:
            for delay_ns in delays_ns:
                set_timeout_ns(delay_ns, fire)

        return work

    def repeat(self, intervals_ns: Sequence[int]) -> Work:
        set_interval_ns, fire = self.clock.set_interval_ns, self._fire

        def work() -> None:
            for interval_ns in intervals_ns:
                set_interval_ns(interval_ns, fire)

        return work

    def churn(self, delays_ns: Sequence[int]) -> Work:
        set_timeout_ns, clear, fire = self.clock.set_timeout_ns, self.clock.clear, self._fire

        def work() -> None:
            for delay_ns in delays_ns:
                clear(set_timeout_ns(delay_ns, fire))

        return work

    def frames(self, deltas_ns: Iterable[int]) -> Work:
        advance_ns, deltas_ns = self.source.advance_ns, list(deltas_ns)

        def work() -> None:
            for delta_ns in deltas_ns:
                advance_ns(delta_ns)

        return work

    def pause_and_resume(self) -> Work:
        """Return work that pauses, lets a frame pass, resumes, and lets another pass."""
        clock, advance_ns = self.clock, self.source.advance_ns

        def work() -> None:
            clock.pause()
            advance_ns(FRAME_NS)
            clock.resume()
            advance_ns(FRAME_NS)

        return work

    def close(self) -> None:
        self.source.close()


class RedistributingScheduler:
    """The redistributing algorithm.

    Attributes:
        system: The root, which is not a clock that can be paused.
        clock: The clock that is used, ``depth`` below the root.
    """

    def __init__(self, depth: int = 1) -> None:
        self.system = SystemClock()
        self.clock = ChildClock(self.system)
        for _ in range(depth - 1):
            self.clock = ChildClock(self.clock)
        self._fire, self.fired = counter()

    def once(self, delays_ns: Sequence[int]) -> Work:
        set_timeout_ns, fire = self.clock.set_timeout_ns, self._fire

        def work() -> None:
            for delay_ns in delays_ns:
                set_timeout_ns(delay_ns, fire)

        return work

    def repeat(self, intervals_ns: Sequence[int]) -> Work:
        """As its users do: every call schedules the next."""
        set_timeout_ns, fire = self.clock.set_timeout_ns, self._fire

        def chain(interval_ns: int) -> Callable[[], None]:
            def fire_again() -> None:
                fire()
                set_timeout_ns(interval_ns, fire_again)

            return fire_again

        calls = [(interval_ns, chain(interval_ns)) for interval_ns in intervals_ns]

        def work() -> None:
            for interval_ns, call in calls:
                set_timeout_ns(interval_ns, call)

        return work

    def churn(self, delays_ns: Sequence[int]) -> Work:
        clock, fire = self.clock, self._fire
        set_timeout_ns, clear_timeout = clock.set_timeout_ns, clock.clear_timeout

        def work() -> None:
            for delay_ns in delays_ns:
                clear_timeout(set_timeout_ns(delay_ns, fire))

        return work

    def frames(self, deltas_ns: Iterable[int]) -> Work:
        advance_ns, deltas_ns = self.system.advance_ns, list(deltas_ns)

        def work() -> None:
            for delta_ns in deltas_ns:
                advance_ns(delta_ns)

        return work

    def pause_and_resume(self) -> Work:
        """Return work that pauses, lets a frame pass, resumes, and lets another pass."""
        clock, advance_ns = self.clock, self.system.advance_ns

        def work() -> None:
            clock.pause()
            advance_ns(FRAME_NS)
            clock.resume()
            advance_ns(FRAME_NS)

        return work

    def close(self) -> None:
        """Hold nothing."""
