"""The repairs that were published for Egret's timer on fast displays.

They stand around the original timer, :data:`~inspector.frames.egret.timer.BY_CALLS`, with the
faults that they have. The third leaves the ticker for the browser's own timers:
:mod:`inspector.frames.browser_timers`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from inspector.frames.egret.timer import Counting

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.frames.egret.ticker import Ticker

#: What the original takes the time between two refreshes to be, in milliseconds.
_ASSUMED_FRAME_MS: Final = 1000 / 60


def longer_delay(factor: float) -> Counting:
    """Return repair 1: every delay is multiplied.

    That holds for the elapsed time as well, which is looked at besides the calls: on
    displays below 60 Hz, and when frames are slow, it is wrong.

    Args:
        factor: The display's rate over 60, or what :class:`FactorMeasurement` has found.
    """
    return Counting("repair 1: longer delay", delay_factor=factor)


def longer_count(factor: float) -> Counting:
    """Return repair 4: the count of calls is multiplied, the elapsed time is not.

    Args:
        factor: The display's rate over 60, or what :class:`FactorMeasurement` has found.
    """
    return Counting("repair 4: longer count", call_factor=factor)


class ElapsedGuard:
    """Repair 2: a listener that looks at the time before it accepts a firing.

    The timer stays as it is, so its own count goes on with every firing, accepted or not.
    As published, the time since the last accepted firing has to be within a tolerance of
    what is expected, *on both sides*: once it is more than that, as on a display of 144 Hz,
    nothing is accepted ever again. As described, it has to be at least what is expected.

    Attributes:
        expected_ms: Milliseconds from one accepted firing to the next.
        tolerance_ms: As published, by how much less they may differ; ``None`` for the
            check as described.
        last_ms: When a firing was accepted last, or :meth:`stamp` was called; ``None``
            until then, when nothing is accepted.
        accepted: How many firings were accepted.
    """

    def __init__(
        self,
        now_ms: Callable[[], float],
        on_accepted: Callable[[], object],
        expected_ms: float = 1000,
        tolerance_ms: float | None = 100,
    ) -> None:
        """Begin without a stamp.

        Args:
            now_ms: The time, as the ticker has it.
            on_accepted: Called for each firing that is accepted.
            expected_ms: Milliseconds from one accepted firing to the next.
            tolerance_ms: ``None`` for the check as described.
        """
        self.expected_ms = expected_ms
        self.tolerance_ms = tolerance_ms
        self.last_ms: float | None = None
        self.accepted = 0
        self._now_ms = now_ms
        self._on_accepted = on_accepted

    def stamp(self) -> None:
        """Count from now; to be done before the timer is started."""
        self.last_ms = self._now_ms()

    def __call__(self) -> None:
        """Look at a firing; made to be a timer's ``on_timer``."""
        if self.last_ms is None:
            return
        now_ms = self._now_ms()
        passed_ms = now_ms - self.last_ms
        if self.tolerance_ms is None:
            is_accepted = passed_ms >= self.expected_ms
        else:
            is_accepted = abs(passed_ms - self.expected_ms) < self.tolerance_ms
        if is_accepted:
            self.last_ms = now_ms
            self.accepted += 1
            self._on_accepted()


class FactorMeasurement:
    """Measures the factor for the first and the fourth repair, as published.

    It takes the mean time between frames of a ticker. Those are not the refreshes of its
    display: at the default of 30 frames a second it finds half the factor, or less.

    Attributes:
        factor: The display's rate over 60 as measured; ``None`` until it is known, and not a
            number when no frame came.
        frames: Frames that were measured.
    """

    def __init__(
        self, ticker: Ticker, on_measured: Callable[[], object], for_ms: float = math.nan
    ) -> None:
        """Begin to measure.

        Args:
            ticker: Whose frames are measured, from now on.
            on_measured: Called when the factor is known.
            for_ms: Milliseconds; without them, as it was printed, it never ends.
        """
        self.factor: float | None = None
        self._ticker = ticker
        self._on_measured = on_measured
        self._times_ms: list[float] = []
        self._last_ms = ticker.now_ms()
        ticker.add_frame_listener(self._entered)
        ticker.set_timeout(self._end, for_ms)

    @property
    def frames(self) -> int:
        """Frames that were measured."""
        return len(self._times_ms)

    def _entered(self) -> None:
        now_ms = self._ticker.now_ms()
        self._times_ms.append(now_ms - self._last_ms)
        self._last_ms = now_ms

    def _end(self) -> None:
        self._ticker.remove_frame_listener(self._entered)
        times_ms = self._times_ms
        mean_ms = sum(times_ms) / len(times_ms) if times_ms else math.nan
        self.factor = _ASSUMED_FRAME_MS / mean_ms if mean_ms else math.inf
        self._on_measured()
