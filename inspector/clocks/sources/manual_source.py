"""A time source that moves only on command: for tests and virtual runs."""

from collections.abc import Callable
from fractions import Fraction

from inspector.timebase import checked_ns, seconds_to_ns


class ManualTimeSource:
    """Virtual time that passes without waiting.

    :meth:`advance` passes through every due instant, so nothing is ever late. :meth:`jump`
    does not: it acts like a blocking call, also inside a callback.
    """

    __slots__ = ("__weakref__", "_is_waking", "_now_ns", "_on_advance", "_on_jump")

    def __init__(self, start_ns: int = 0) -> None:
        self._now_ns = checked_ns(start_ns)
        self._on_advance: Callable[[int], None] | None = None
        self._on_jump: Callable[[int], None] | None = None
        self._is_waking = False

    def __repr__(self) -> str:
        return f"ManualTimeSource(now_ns={self._now_ns})"

    def now_ns(self) -> int:
        """Return the present instant."""
        return self._now_ns

    def set_wake(self, at_ns: int | None) -> None:
        """Ignore the request: virtual time passes through every instant anyway."""

    def attach(self, on_wake: Callable[[], None]) -> None:
        """Set the callback for an advance."""
        self._on_advance = lambda _: on_wake()

    def attach_virtual(
        self, on_advance: Callable[[int], None], on_jump: Callable[[int], None]
    ) -> None:
        """Set the callback for an advance, which receives the instant that it leads to.

        ``on_jump`` receives the nanoseconds of a jump.
        """
        self._on_advance, self._on_jump = on_advance, on_jump

    def close(self) -> None:
        """Drop the callbacks."""
        self._on_advance = self._on_jump = None

    def advance(self, seconds: float | Fraction) -> None:
        """Let ``seconds`` pass, calling everything due on the way.

        At most ten million timers are set or repeated, or frames run, in one advance (see
        :attr:`ClockTree.most_in_wake`): then it ends early, and what was not called waits.

        Raises:
            ValueError: ``seconds`` is negative or not a usable number.
            EndlessInstantError: It ended early, and no session takes that as a failure.
            RuntimeError: Called from inside a callback.
        """
        self.advance_ns(seconds_to_ns(seconds))

    def advance_ns(self, delta_ns: int) -> None:
        """Let ``delta_ns`` pass, calling everything due on the way.

        Raises:
            ValueError: ``delta_ns`` is negative.
            RuntimeError: Called from inside a callback.
        """
        if self._is_waking:
            raise RuntimeError("time is already being advanced; a callback can only jump")
        if delta_ns.__class__ is not int or delta_ns < 0:
            checked_forward(delta_ns)
        self._now_ns = now_ns = self._now_ns + delta_ns
        on_advance = self._on_advance
        if on_advance is None:
            return
        self._is_waking = True
        try:
            on_advance(now_ns)
        finally:
            self._is_waking = False

    def jump(self, seconds: float | Fraction) -> None:
        """Let ``seconds`` pass without calling anything, as a blocking call does."""
        self.jump_ns(seconds_to_ns(seconds))

    def jump_ns(self, delta_ns: int) -> None:
        """Let ``delta_ns``, 0 or more, pass without calling anything, as a blocking call does."""
        checked_forward(delta_ns)
        if not self._is_waking:
            self._now_ns += delta_ns
        if self._on_jump is not None:
            self._on_jump(delta_ns)


def checked_forward(delta_ns: int) -> int:
    """Return a duration that time can pass, or raise a ``ValueError``."""
    if checked_ns(delta_ns) < 0:
        raise ValueError(f"time does not run backwards: {delta_ns} ns")
    return delta_ns
