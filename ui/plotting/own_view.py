"""The visible range of a plot that shares it with no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .axis_range import AxisRange, ViewMode

#: Initial range of a view that follows the present, in nanoseconds.
FOLLOWED_NS: Final = 5e9


class OwnView:
    """Moves a range along session time, as :mod:`.gestures` ask.

    Attributes:
        range: The visible range, in nanoseconds.
    """

    def __init__(
        self,
        extent: Callable[[], tuple[float, float, int]],
        changed: Callable[[], None],
        shown: AxisRange,
    ) -> None:
        """Move a range; one that follows to begin with can do so again.

        Args:
            extent: Returns where data begin, where they end, and how many pixels there are.
            changed: Called after every change.
            shown: The range, in nanoseconds.
        """
        self.range = shown
        self._extent = extent
        self._changed = changed
        self._follows = shown.is_following

    @property
    def is_following(self) -> bool:
        return self.range.is_following

    def settle(self) -> None:
        self.range.settle(*self._extent())

    def zoom(self, factor: float, about: float | None = None) -> None:
        self._take_extent()
        self.range.zoom(factor, about)
        self._end()

    def pan(self, share: float) -> None:
        """Move by a share of what is visible; stops following."""
        self._take_extent()
        self.range.pan(share * self.range.span)
        self._end()

    def fit(self) -> None:
        self.range.fit()
        self._end()

    def fit_chosen(self) -> None:
        """Show everything: nothing is ever selected here."""
        self.fit()

    def go_live(self) -> None:
        """Follow the end of the data, or show everything if they do not grow."""
        self.set_following(is_following=self._follows)

    def set_following(self, *, is_following: bool) -> None:
        """Follow the end of the data, or stop; where it cannot be followed, show everything."""
        if is_following:
            self.range.follow(min(self.range.span, 12 * FOLLOWED_NS))
        elif self._follows:
            self.range.mode = ViewMode.FREE
        else:
            self.range.fit()
        self._end()

    def show_instant(self, at_ns: float) -> None:
        shown = self.range
        if not shown.low <= at_ns <= shown.high:
            self.pan((at_ns - (shown.low + shown.high) / 2) / shown.span)

    def show_span(self, low_ns: float, high_ns: float) -> None:
        self._take_extent()
        self.range.show(low_ns, high_ns)
        self._end()

    def _take_extent(self) -> None:
        self.range.first, self.range.last, _pixels = self._extent()

    def _end(self) -> None:
        self.settle()
        self._changed()
