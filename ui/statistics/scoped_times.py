"""The frame times that statistics are of: which frames, and their times as they come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.analysis.statistics.distribution import Distribution
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.events.annotations import Annotation
from inspector.events.frame_history import FrameHistory
from inspector.formats.arrangement.frame_series import FrameSeries
from inspector.vocabulary import Measure, Share

from ..session.frame_focus import FrameFocus


class Scope(Struct, frozen=True):
    id: str  # What settings know it by; of a named range its number
    title: str  # What it is called where it is chosen
    text: str  # What its frames are called, before their number


_SELECTED: Final = Scope("selected", "Selected, else all", "Selected")
_ALL: Final = Scope("all", "All frames", "All")
_VISIBLE: Final = Scope("visible", "In view", "In view")


def scopes(annotations: Iterable[Annotation]) -> tuple[Scope, ...]:
    """Return what can be chosen: the frames of the plot, then the named ranges."""
    ranges = (each for each in annotations if each.kind == "range")
    named = (Scope(str(each.id), f"Range “{each.title}”", f"“{each.title}”") for each in ranges)
    return (_SELECTED, _ALL, _VISIBLE, *named)


def frames_of(
    scope_id: str, history: FrameHistory, focus: FrameFocus, annotations: Iterable[Annotation]
) -> tuple[range, str]:
    start, stop, text = history.first, history.end, _ALL.text
    named = next((each for each in annotations if str(each.id) == scope_id), None)
    if scope_id == _SELECTED.id and focus.chosen is not None:
        (start, stop), text = focus.chosen, _SELECTED.text
    elif scope_id == _VISIBLE.id:
        (start, stop), text = focus.visible, _VISIBLE.text
    elif named is not None and named.end_ns is not None:
        # The frames that the plot would choose between these instants: it may be the source of
        # the range.
        series = FrameSeries(history, measure=focus.measure)
        start, stop = map(series.first_from_ns, (named.at_ns, named.end_ns))
        text = f"“{named.title}”"
    start = max(start, history.first)
    return range(start, max(start, min(stop, history.end))), text


class Wanted(Struct, frozen=True):
    history: FrameHistory  # Has the frames
    measure: Measure  # Which of their times
    frames: range  # Which frames
    # Frames that are over this budget only because of the inspector are left out; None for none.
    budget: FrameBudget | None = None

    def goes_on_from(self, other: Wanted | None) -> bool:
        """Return whether only more frames are wanted than before."""
        return (
            other is not None
            and self.history is other.history
            and (self.measure, self.budget) == (other.measure, other.budget)
            and self.frames.start == other.frames.start
            and self.frames.stop >= other.frames.stop
        )

    def read(self, frames: range) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
        """Return the times of some of the frames, and which of them count; ``None`` for all."""
        start, stop = frames.start, frames.stop
        times = self.history.numpy(f"{self.measure}_ns", start, stop)
        if self.budget is None or self.measure != "interval":
            return times, None
        found = self.budget.is_over_because_of(
            times, self.history.numpy(Share.INSPECTOR, start, stop)
        )
        return times, ~found if found.any() else None


class ScopedTimes:
    """The times of some frames, in order and by size; only new ones are read."""

    def __init__(self) -> None:
        self.distribution = Distribution()  # All the times by size
        self.wanted: Wanted | None = None  # What they are, None for none
        # The numbers of the frames within the chosen times, None if none are chosen
        self.marked: NDArray[np.int64] | None = None
        self._band_ns: tuple[int, int] | None = None

    @property
    def frames(self) -> range:
        return range(0) if self.wanted is None else self.wanted.frames

    @property
    def left_out(self) -> int:
        return len(self.frames) - len(self.distribution)

    def news(self, wanted: Wanted) -> range:
        """Return which of some frames have to be read: those that are new, if only more came."""
        if wanted.goes_on_from(self.wanted):
            return range(self.frames.stop, wanted.frames.stop)
        return wanted.frames

    def set_wanted(self, wanted: Wanted, sorted_times: Distribution | None = None) -> bool:
        """Take frames, sorted if known; returns whether they are others than before."""
        if wanted == self.wanted:
            return False
        is_more = wanted.goes_on_from(self.wanted)
        news = self.news(wanted)
        if not is_more:
            self.distribution = sorted_times or Distribution()
            self.marked = None
        times, counted = wanted.read(news)
        if is_more or sorted_times is None:
            self.distribution.extend(times if counted is None else times[counted])
        self.wanted = wanted
        self._mark(times, counted, news.start)
        return True

    def forget(self) -> None:
        self.distribution, self.wanted, self.marked = Distribution(), None, None

    def choose(self, band_ns: tuple[int, int] | None) -> None:
        """Mark the frames that take from the first time up to, not including, the second."""
        self._band_ns = band_ns
        self.marked = None
        if self.wanted is not None:
            self._mark(*self.wanted.read(self.frames), self.frames.start)

    def marked_beside(self, frame: int | None, step: int) -> int | None:
        """Return the next marked frame after another, or the last before it; ``None`` for none."""
        marked = self.marked
        if marked is None or not len(marked):
            return None
        if frame is None:
            return int(marked[0 if step > 0 else -1])
        beyond = frame + 1 if step > 0 else frame
        place = int(np.searchsorted(marked, beyond)) - (step < 0)
        return int(marked[place]) if 0 <= place < len(marked) else None

    def _mark(
        self, times: NDArray[np.int64], counted: NDArray[np.bool_] | None, start: int
    ) -> None:
        if self._band_ns is None:
            return
        low_ns, high_ns = self._band_ns
        is_within = (times >= low_ns) & (times < high_ns)
        found = np.flatnonzero(is_within if counted is None else is_within & counted) + start
        if self.marked is None:
            self.marked = found
        elif len(found):
            self.marked = np.concatenate((self.marked, found))
