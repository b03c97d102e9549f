"""The visible part of an axis: fitted, following the newest, or chosen."""

import math
from enum import Enum
from typing import Final

from msgspec import Struct

#: Share of a fitted range that may be empty at its right edge.
_FIT_ROOM: Final = 1 / 40
_WIDEST: Final = 1.5
#: In steps: a following range that would move by less is at the same place, apart from rounding.
_SAME_PLACE: Final = 1e-3
#: At least this share of the range stays on the data.
_LEAST: Final = 0.2


class ViewMode(Enum):
    FOLLOW = "follow"
    FIT = "fit"
    FREE = "free"


class AxisRange(Struct):
    low: float = 0.0  # Left edge
    high: float = 1.0  # Right edge
    mode: ViewMode = ViewMode.FIT  # Reaction to new data
    shortest: float = 1.0  # The shortest range
    first: float = 0.0  # Where data begin
    last: float = 1.0  # Where they end
    newest_at: float = 1.0  # Position of the end of data in a following range, as a share of it
    margin: float = 0.0  # What a fitted range leaves free on the left, as a share of the data
    free: float = 0.0  # What a fitted range leaves free on the right at least, as a share of it
    has_room: bool = True  # Whether a fitted range may leave room for what is to come on the right

    @property
    def span(self) -> float:
        return self.high - self.low

    def settle(
        self, first: float, last: float, pixels: int, step: float = 0, newest: float | None = None
    ) -> bool:
        """Move as the mode says, for data between two places; returns whether it moved.

        A fitted range makes room each time it is full, and a following one moves by whole pixels,
        at least by the step, so drawings stay valid for a while. ``newest`` is kept in view, by
        default where data end.
        """
        former = self.low, self.high
        self.first, self.last = first, last
        last = last if newest is None else newest
        match self.mode:
            case ViewMode.FIT:
                span = max(last - first, self.shortest) * (1 + self.margin)
                low = last - span if self.margin else first
                span /= 1 - self.free
                if not self.has_room:
                    self.low, self.high = low, low + span
                elif self.low != low or not span < self.span <= span * (1 + 2 * _FIT_ROOM):
                    room = 2.0 ** math.floor(math.log2(span * _FIT_ROOM))
                    self.low, self.high = low, low + (math.floor(span / room) + 1) * room
            case ViewMode.FOLLOW:
                span = self.span
                pixel = span / max(pixels, 1)
                unit = pixel * max(1, math.ceil(step / pixel))
                low = max(math.ceil((last - self.newest_at * span) / unit) * unit, first)
                if abs(low - self.low) > _SAME_PLACE * unit:
                    self.low, self.high = low, low + span
            case ViewMode.FREE:
                pass
        return (self.low, self.high) != former

    def zoom(self, factor: float, about: float | None = None) -> None:
        """Show ``factor`` times as much, around a place (by default the middle).

        A following range keeps following, at its new span.
        """
        widest = max(_WIDEST * (self.last - self.first), 4 * self.shortest, self.span)
        span = min(max(self.span * factor, self.shortest), widest)
        if self.mode is ViewMode.FOLLOW:
            self.low, self.high = self.high - span, self.high
            return
        place = (self.low + self.high) / 2 if about is None else about
        share = (place - self.low) / self.span
        self.mode = ViewMode.FREE
        self.low = place - share * span
        self.high = self.low + span
        self._stay_near()

    def pan(self, distance: float) -> None:
        """Move along the axis; stops following."""
        self.mode = ViewMode.FREE
        self.low, self.high = self.low + distance, self.high + distance
        self._stay_near()

    def set_span(self, low: float, high: float) -> None:
        """Show a range; stops following."""
        self.mode = ViewMode.FREE
        middle, half = (low + high) / 2, max(high - low, self.shortest) / 2
        self.low, self.high = middle - half, middle + half
        self._stay_near()

    def fit(self) -> None:
        """Show all data from the next :meth:`settle` on."""
        self.mode = ViewMode.FIT

    def follow(self, usual: float) -> None:
        """Keep the end of data in view, a part as long as now; instead of everything, as usual."""
        is_part = self.mode is ViewMode.FREE and self.span < 0.9 * (self.last - self.first)
        self.high = self.low + (self.span if is_part else usual)
        self.mode = ViewMode.FOLLOW

    def first_to_reach(self, high: float) -> float:
        """Return the last left edge with which a range near the data reaches up to ``high``."""
        return max((self.last - _LEAST * high) / (1 - _LEAST), self.first)

    def _stay_near(self) -> None:
        edge = min(_LEAST * self.span, self.last - self.first)
        shift = max(0.0, self.first + edge - self.high) - max(0.0, self.low - (self.last - edge))
        self.low, self.high = self.low + shift, self.high + shift
