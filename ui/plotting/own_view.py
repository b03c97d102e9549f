"""The visible range of a plot that shares it with no other."""

from __future__ import annotations

from collections.abc import Callable

from .axis_range import AxisRange


class OwnView:
    """Moves a range along session time, as :mod:`.gestures` ask."""

    def __init__(
        self,
        extent: Callable[[], tuple[float, float, int]],
        changed: Callable[[], None],
        shown: AxisRange,
    ) -> None:
        """Move a range of nanoseconds, and tell it after every change.

        The extent is where data begin, where they end, and how many pixels there are.
        """
        self.range = shown  # The visible range, in nanoseconds
        self._extent = extent
        self._changed = changed

    def settle(self) -> None:
        self.range.settle(*self._extent())

    def zoom(self, factor: float, about: float | None = None) -> None:
        self._read_extent()
        self.range.zoom(factor, about)
        self._end()

    def pan(self, share: float) -> None:
        self._read_extent()
        self.range.pan(share * self.range.span)
        self._end()

    def fit(self) -> None:
        self.range.fit()
        self._end()

    def fit_chosen(self) -> None:
        """Show everything: nothing is ever selected here."""
        self.fit()

    def go_live(self) -> None:
        """Show everything: these data do not grow."""
        self.fit()

    def set_span(self, low_ns: float, high_ns: float) -> None:
        self._read_extent()
        self.range.set_span(low_ns, high_ns)
        self._end()

    def _read_extent(self) -> None:
        self.range.first, self.range.last, _pixels = self._extent()

    def _end(self) -> None:
        self.settle()
        self._changed()
