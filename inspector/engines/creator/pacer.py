"""Cocos Creator 3.8's frame-rate limiter: which refreshes of a display become frames."""

from __future__ import annotations

import math
from collections.abc import Callable


class FramePacer:
    """Turns the refreshes of a display into frames, at most at a target rate.

    Limited by time: refresh times are sorted into slots of one frame length since the start, and
    the first refresh in a new slot is a frame. So two frames never run in one refresh, and some
    are skipped near the edge of a slot even when display and target rate are the same. Times are
    milliseconds as ``float``, as in the original, because its decisions depend on their rounding.
    """

    def __init__(
        self, on_frame: Callable[[], object], now_ms: Callable[[], float], rate: float = 60
    ) -> None:
        """Begin stopped; ``on_frame`` may stop, start or change the rate in frames per second."""
        self._on_frame = on_frame
        self._now_ms = now_ms
        self._rate = _checked(rate)
        self._start_ms = 0.0
        self._next_slot = 0
        self._is_running = False
        self.wants_refresh = False  # Whether it waits for the next refresh
        self.frames = 0  # Number of frames so far

    def __repr__(self) -> str:
        state = "" if self._is_running else ", stopped"
        return f"<FramePacer {self._rate:g} frames/s, {self.frames} frames{state}>"

    @property
    def rate(self) -> float:
        """Target frames per second; a new value starts a new time base."""
        return self._rate

    @rate.setter
    def rate(self, rate: float) -> None:
        if rate == self._rate:
            return
        self._rate = _checked(rate)
        if self._is_running:
            self.stop()
            self.start()

    def start(self) -> None:
        """Start now; does nothing while running."""
        if self._is_running:
            return
        self._is_running = True
        self._start_ms = self._now_ms()
        self._next_slot = 0
        self.wants_refresh = True

    def stop(self) -> None:
        """Stop waiting for refreshes."""
        self._is_running = False
        self.wants_refresh = False

    def refresh(self) -> bool:
        """Handle a refresh of the display; returns whether it became a frame."""
        if not self.wants_refresh:
            return False
        self.wants_refresh = False
        now_ms = self._now_ms()
        slot = math.floor((now_ms - self._start_ms) / (1000 / self._rate))
        if slot < 0:
            # The display's clock went back. The old slot is still compared below.
            self._start_ms = now_ms
            self._next_slot = 0
        if slot < self._next_slot:
            self.wants_refresh = True
            return False
        self._next_slot = slot + 1
        self.frames += 1
        self._on_frame()
        self.wants_refresh = self._is_running
        return True


def _checked(rate: float) -> float:
    if not (math.isfinite(rate) and rate > 0):
        raise ValueError(f"a frame rate must be a number above 0, not {rate!r}")
    return rate
