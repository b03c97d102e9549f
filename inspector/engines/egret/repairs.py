"""The published repairs for Egret's timer on fast displays, with their faults.

They are applied to the original timer, :data:`~inspector.engines.egret.timer.BY_CALLS`. The
third uses the browser's timers instead: :mod:`inspector.engines.browser_timers`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from inspector.engines.egret.ticker import Ticker
from inspector.engines.egret.timer import Counting

#: The original's assumed time between two refreshes, in milliseconds.
_ASSUMED_FRAME_MS: Final = 1000 / 60


def longer_delay(factor: float) -> Counting:
    """Return repair 1: every delay is multiplied.

    That includes the elapsed time, which is checked besides the calls: wrong on displays
    below 60 Hz, and when frames are slow.

    Args:
        factor: The display's rate over 60, or the result of :class:`FactorMeasurement`.
    """
    return Counting("repair 1: longer delay", delay_factor=factor)


def longer_count(factor: float) -> Counting:
    """Return repair 4: the count of calls is multiplied, the elapsed time is not."""
    return Counting("repair 4: longer count", call_factor=factor)


class ElapsedGuard:
    """Repair 2: a listener that checks the time before it accepts a firing.

    The timer is unchanged, so its own count continues with every firing, accepted or not. As
    published, the time since the last accepted firing must be within a tolerance of the expected
    time, *on both sides*: once it is longer, as on a display of 144 Hz, nothing is ever accepted
    again. As described, it must be at least the expected time.
    """

    def __init__(
        self,
        now_ms: Callable[[], float],
        on_accepted: Callable[[], object],
        expected_ms: float = 1000,
        tolerance_ms: float | None = 100,
    ) -> None:
        self.expected_ms = expected_ms  # Milliseconds from one accepted firing to the next
        # As published, the allowed difference; ``None`` for the check as described
        self.tolerance_ms = tolerance_ms
        # Time of the last accepted firing or :meth:`stamp`; ``None`` until then, when nothing is
        # accepted
        self.last_ms: float | None = None
        self.accepted = 0  # Number of accepted firings
        self._now_ms = now_ms
        self._on_accepted = on_accepted

    def stamp(self) -> None:
        """Count from now; call before the timer starts."""
        self.last_ms = self._now_ms()

    def __call__(self) -> None:
        """Check a firing; to be set as a timer's ``on_timer``."""
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

    It takes the mean time between frames of a ticker, which are not the refreshes of the
    display: at the default of 30 frames a second it finds half the factor, or less.

    Attributes:
        factor: The measured rate of the display over 60; ``None`` until known, and not a
            number when no frame came.
        frames: Number of measured frames.
    """

    def __init__(
        self, ticker: Ticker, on_measured: Callable[[], object], for_ms: float = math.nan
    ) -> None:
        """Start the measurement; without a duration, as printed, it never ends."""
        self.factor: float | None = None
        self._ticker = ticker
        self._on_measured = on_measured
        self._times_ms: list[float] = []
        self._last_ms = ticker.now_ms()
        ticker.add_frame_listener(self._entered)
        ticker.set_timeout(self._end, for_ms)

    @property
    def frames(self) -> int:
        """Number of measured frames."""
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
