"""The visible part of the frames: fitted, following the newest, or chosen."""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Final

from .frame_series import FrameSeries, XAxis

#: Initial range of a following plot.
FOLLOWED_FRAMES: Final = 300
FOLLOWED_SECONDS: Final = 5.0
#: Room that a fitted view may leave at its right edge.
_FIT_ROOM: Final = 1 / 40
_SHORTEST: Final = {XAxis.FRAME: 8.0, XAxis.TIME: 0.02}


class ViewMode(Enum):
    """The reaction of a view to new frames."""

    FOLLOW = "follow"
    FIT = "fit"
    FREE = "free"


@dataclass(slots=True)
class FrameView:
    """A range of the axis, and its reaction to new frames.

    Attributes:
        low: Left edge.
        high: Right edge.
        mode: Reaction to new frames.
    """

    low: float = -0.5
    high: float = FOLLOWED_FRAMES - 0.5
    mode: ViewMode = ViewMode.FOLLOW

    @property
    def span(self) -> float:
        """Length of the range."""
        return self.high - self.low

    def start_following(self, x_axis: XAxis, span: float | None = None) -> None:
        """Keep the newest frame at the right edge, by default with the usual span."""
        usual = float(FOLLOWED_FRAMES) if x_axis is XAxis.FRAME else FOLLOWED_SECONDS
        self.high = self.low + (span or usual)
        self.mode = ViewMode.FOLLOW

    def settle(self, series: FrameSeries, pixels: int) -> None:
        """Move as the mode says.

        A fitted view makes room each time it is full, and a following one moves by whole pixels, so
        drawings stay valid for a while.

        Args:
            series: The frames.
            pixels: Width of the view.
        """
        first, last = series.bounds()
        match self.mode:
            case ViewMode.FIT:
                span = max(last - first, _SHORTEST[series.x_axis])
                if self.low != first or not span <= self.span <= span * (1 + 2 * _FIT_ROOM):
                    step = 2.0 ** math.floor(math.log2(span * _FIT_ROOM))
                    self.low, self.high = first, first + math.ceil(span / step) * step
            case ViewMode.FOLLOW:
                span = self.span
                pixel = span / pixels
                self.low = max(math.ceil((last - span) / pixel) * pixel, first)
                self.high = self.low + span
            case ViewMode.FREE:
                pass

    def zoom(self, factor: float, about: float, series: FrameSeries) -> None:
        """Show ``factor`` times as much, around a position.

        A following view keeps following, at its new span.
        """
        first, last = series.bounds()
        shortest = _SHORTEST[series.x_axis]
        widest = max(1.25 * (last - first), 4 * shortest, self.span)
        span = min(max(self.span * factor, shortest), widest)
        if self.mode is ViewMode.FOLLOW:
            self.low, self.high = self.high - span, self.high
            return
        share = (about - self.low) / self.span
        self.mode = ViewMode.FREE
        self.low = about - share * span
        self.high = self.low + span
        self._stay_near(first, last)

    def pan(self, distance: float, series: FrameSeries) -> None:
        """Move along the axis; stops following."""
        self.mode = ViewMode.FREE
        self.low, self.high = self.low + distance, self.high + distance
        self._stay_near(*series.bounds())

    def show(self, low: float, high: float, series: FrameSeries) -> None:
        """Show a range; stops following."""
        self.mode = ViewMode.FREE
        middle = (low + high) / 2
        half = max(high - low, _SHORTEST[series.x_axis]) / 2
        self.low, self.high = middle - half, middle + half
        self._stay_near(*series.bounds())

    def _stay_near(self, first: float, last: float) -> None:
        """Keep some frames visible."""
        edge = min(0.2 * self.span, last - first)
        shift = max(0.0, first + edge - self.high) - max(0.0, self.low - (last - edge))
        self.low, self.high = self.low + shift, self.high + shift
