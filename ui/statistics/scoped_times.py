"""The frame times that statistics are of: which frames, and their times as they come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from inspector.analysis.statistics.distribution import Distribution

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from inspector.events.annotations import Annotation
    from inspector.events.frame_history import FrameHistory
    from inspector.formats.frame_times import Measure

    from ..session.frame_focus import FrameFocus


@dataclass(frozen=True, slots=True)
class Scope:
    """A choice of frames.

    Attributes:
        id: What settings know it by; of a named range its number.
        title: What it is called where it is chosen.
        text: What its frames are called, before their number.
    """

    id: str
    title: str
    text: str


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
    """Return the frames of a scope, and what they are called."""
    start, stop, text = history.first, history.end, _ALL.text
    named = next((each for each in annotations if str(each.id) == scope_id), None)
    if scope_id == _SELECTED.id and focus.chosen is not None:
        (start, stop), text = focus.chosen, _SELECTED.text
    elif scope_id == _VISIBLE.id:
        (start, stop), text = focus.visible, _VISIBLE.text
    elif named is not None and named.end_ns is not None:
        start = history.index_at(named.at_ns - 1)
        stop, text = history.index_at(named.end_ns), f"“{named.title}”"
    start = max(start, history.first)
    return range(start, max(start, min(stop, history.end))), text


class ScopedTimes:
    """The times of some frames, in order and by size; only new ones are read.

    Attributes:
        distribution: All of them by size.
        frames: Which frames they are.
        marked: The numbers of the frames within the chosen times, ``None`` if none are chosen.
    """

    def __init__(self) -> None:
        """Begin without frames."""
        self.distribution = Distribution()
        self.frames = range(0)
        self.marked: NDArray[np.int64] | None = None
        self._history: FrameHistory | None = None
        self._measure: Measure = "interval"
        self._band_ns: tuple[int, int] | None = None

    def news(self, history: FrameHistory, measure: Measure, frames: range) -> range:
        """Return which of some frames have to be read: those that are new, if only more came."""
        is_more = (
            history is self._history
            and measure == self._measure
            and frames.start == self.frames.start
            and frames.stop >= self.frames.stop
        )
        return range(self.frames.stop, frames.stop) if is_more else frames

    def take(
        self,
        history: FrameHistory,
        measure: Measure,
        frames: range,
        sorted_times: Distribution | None = None,
    ) -> bool:
        """Take some frames of a history; returns whether they are others than before.

        Args:
            history: The frames.
            measure: Which of their times.
            frames: Which of them.
            sorted_times: All of them by size, if that is known.
        """
        news = self.news(history, measure, frames)
        if not news and frames == self.frames:
            return False
        is_more = news.stop == frames.stop and news.start != frames.start
        times = history.numpy(f"{measure}_ns", news.start, news.stop)
        if not is_more:
            self._history, self._measure = history, measure
            self.distribution = sorted_times or Distribution()
            self.marked = None
        if is_more or sorted_times is None:
            self.distribution.extend(times)
        self._mark(times, news.start)
        self.frames = frames
        return True

    def forget(self) -> None:
        """Begin without frames again."""
        self.distribution, self.frames, self.marked = Distribution(), range(0), None
        self._history = None

    def choose(self, band_ns: tuple[int, int] | None) -> None:
        """Mark the frames that take from the first time up to, not including, the second."""
        self._band_ns = band_ns
        self.marked = None
        self._mark(self.times_ns(), self.frames.start)

    def times_ns(self) -> NDArray[np.int64]:
        """Return a copy of the times, in the order of the frames."""
        if self._history is None:
            return np.zeros(0, dtype=np.int64)
        return self._history.numpy(f"{self._measure}_ns", self.frames.start, self.frames.stop)

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

    def _mark(self, times: NDArray[np.int64], start: int) -> None:
        if self._band_ns is None:
            return
        low_ns, high_ns = self._band_ns
        found = np.flatnonzero((times >= low_ns) & (times < high_ns)) + start
        if self.marked is None:
            self.marked = found
        elif len(found):
            self.marked = np.concatenate((self.marked, found))
