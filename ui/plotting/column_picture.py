"""A picture of columns that is extended and scrolled instead of being redrawn.

A session changes at its newest end only. A pixmap keeps what is drawn; new frames are drawn into
it, and a following view shifts it. So a refresh costs a few columns, whatever is visible.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from typing import Final

import numpy as np
from msgspec.structs import astuple
from PySide6.QtGui import QPainter

from inspector.formats.arrangement.frame_bars import NO_SPIKES, Spikes
from inspector.formats.arrangement.frame_series import FrameBar, FrameSeries, Window
from inspector.vocabulary import Measure

from .kept_picture import MovedPixmap

#: One in this many of a column's frames may wait to be drawn.
_UNSEEN_SHARE: Final = 64
#: Pixels; views that differ by more show the frames at other positions.
_SAME_PLACE: Final = 1e-3


#: Draws the frames of some columns of pixels of a window, without clipping. The last argument has
#: the bars if these are the newest frames alone, else None; without a bar, the columns are empty.
DrawColumns = Callable[[QPainter, FrameSeries, Window, range, Sequence[FrameBar] | None], Spikes]


class ColumnPicture:
    """Frames drawn into a pixmap, updated at minimal cost."""

    def __init__(self, draw: DrawColumns) -> None:
        self.pixmap: MovedPixmap | None = None  # The picture, None before the first drawing
        self.spikes = NO_SPIKES  # What exceeds it
        self.full_redraws = 0  # Number of complete redraws
        self.columns_drawn = 0  # Total number of columns drawn
        self._draw = draw
        self._window: Window | None = None
        self._drawn_end = 0
        self._look: Hashable = None

    def forget(self) -> None:
        self._window = None

    def bring_up_to_date(  # noqa: C901 - whatever needs no drawing
        self, series: FrameSeries, measure: Measure, window: Window, look: Hashable
    ) -> tuple[int, int]:
        """Draw what is missing; return the columns that changed, first and after the last.

        The window starts with column 0. ``look`` is everything else that affects the picture; a
        change redraws everything.
        """
        if window.width <= 0 or window.height <= 0:
            # It may be this narrow while the window is laid out; Qt cannot paint on such a picture.
            return 0, 0
        former = self._window
        if (
            former is None
            or (measure, look) != self._look
            or (former.width, former.height) != (window.width, window.height)
            or (shift := _shift(former, window)) is None
        ):
            return self._draw_all(series, window, (measure, look))
        has_new = series.end != self._drawn_end
        if not (shift or has_new):
            return 0, 0
        if series.first == series.end:
            return self._draw_all(series, window, (measure, look))
        came = window.width - shift
        # The last column in view may get frames that were beyond it.
        start, bars = max(came - 1, 0), None
        if has_new:
            # The newest frame drawn now ends where the next one starts, and its column may contain
            # new frames.
            newest = max(self._drawn_end - 1, series.first)
            bars = series.newest_bars(newest, window)
            if bars and bars[0].left <= came:
                start = bars[0].left
            else:
                bars = None
                first, stop = series.frames_sharing(newest, window)
                if not shift and stop == series.end and self._can_wait(series, measure, first):
                    return 0, 0
                place = (series.start_of(first) - window.low) / window.per_pixel
                start = min(max(int(place) - 1, 0), came)
        self._window = window
        self._drawn_end = series.end
        if shift:
            self._scroll(shift)
            self._draw_part(series, window, range(series.changed_columns(former, window)))
        end = math.ceil((series.start_of(series.end) - window.low) / window.per_pixel) + 1
        if has_new:
            end = max(end, start + 1)
        end = min(end, window.width)
        empty = range(0)
        if shift and end < came:
            # The columns in between are as empty as before.
            empty = range(came, window.width)
        elif shift:
            end = window.width
        self._draw_part(series, window, range(start, end), bars, empty)
        return (0, window.width) if shift else (start, end)

    def _can_wait(self, series: FrameSeries, measure: Measure, first: int) -> bool:
        """Return whether the new frames make no visible difference.

        They are at most a 64th of their column, which moves its mean by less than a pixel, and none
        is slower than the slowest drawn.
        """
        drawn = self._drawn_end - first
        if (series.end - self._drawn_end) * _UNSEEN_SHARE > drawn:
            return False
        slowest = series.value_ns(measure, series.slowest_within(measure, first, self._drawn_end))
        return int(series.times_ns(measure, self._drawn_end, series.end).max()) <= slowest

    def _draw_all(self, series: FrameSeries, window: Window, look: Hashable) -> tuple[int, int]:
        size = None if self.pixmap is None else (self.pixmap.width, self.pixmap.height)
        if size != (window.width, window.height):
            self.pixmap = MovedPixmap(window.width, window.height)
        self._window, self._look = window, look
        self._drawn_end = series.end
        self.spikes = NO_SPIKES
        self.full_redraws += 1
        self._draw_part(series, window, range(window.width))
        return 0, window.width

    def _draw_part(
        self,
        series: FrameSeries,
        window: Window,
        pixels: range,
        bars: Sequence[FrameBar] | None = None,
        empty: range = range(0),
    ) -> None:
        assert self.pixmap is not None, "made before anything is drawn"
        if not (pixels or empty):
            return
        painter = self.pixmap.begin()
        if empty:
            self._draw(painter, series, window, empty, ())
        self.columns_drawn += len(pixels) + len(empty)
        if not pixels:
            painter.end()
            return
        painter.setClipRect(pixels.start, 0, len(pixels), window.height)
        found = self._draw(painter, series, window, pixels, bars)
        painter.end()
        former, start, stop = self.spikes, pixels.start, pixels.stop
        # Places ascend. A search in Python takes less than comparing all places of few spikes.
        before, behind = bisect_left(former.places, start), bisect_left(former.places, stop)
        # The outermost columns may reach beyond the part; their middles decide.
        first, last = bisect_left(found.places, start), bisect_left(found.places, stop)
        if before == behind and first == last:
            return
        pairs = zip(astuple(former), astuple(found), strict=True)
        spikes = Spikes(
            *(np.concatenate((old[:before], new[first:last], old[behind:])) for old, new in pairs)
        )
        if not spikes.is_same(former):
            self.spikes = spikes

    def _scroll(self, shift: int) -> None:
        assert self.pixmap is not None, "made before anything is scrolled"
        self.pixmap.move(shift)
        if not len(self.spikes.places):
            return
        gone = bisect_left(self.spikes.places, shift)
        places, *others = (each[gone:] for each in astuple(self.spikes))
        self.spikes = Spikes(places - shift, *others)


def _shift(former: Window, window: Window) -> int | None:
    """Return the columns by which a window moved, ``None`` if anything else changed."""
    if not math.isclose(former.per_pixel, window.per_pixel, rel_tol=1e-9):
        return None
    moved = (window.low - former.low) / window.per_pixel
    shift = round(moved)
    return shift if abs(moved - shift) < _SAME_PLACE and 0 <= shift < window.width else None
