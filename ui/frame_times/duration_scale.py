"""The scale of durations of the frame-time plot, by the budget."""

from __future__ import annotations

from typing import Final

from inspector.formats.arrangement.frame_bars import USUAL_BUDGETS, top_of_scale_ns
from inspector.formats.arrangement.frame_series import FrameSeries
from inspector.vocabulary import Measure

#: The budget at 60 frames per second.
DEFAULT_BUDGET_NS: Final = 16_666_667
_SMALLEST_TOP_NS: Final = 1_000
_LARGEST_TOP_NS: Final = 10**12
#: The scale is chosen again once this share of the frames in view has come or gone.
_NEWS: Final = 1 / 8


class DurationScale:
    def __init__(self) -> None:
        self.least = USUAL_BUDGETS  # How many budgets it has at least
        self.top_ns = self.least * DEFAULT_BUDGET_NS  # That duration
        self._is_own = False
        self._chosen_for: tuple[int, int] | None = None

    def forget(self) -> None:
        self._is_own = False
        self._chosen_for = None

    def multiply(self, factor: float) -> None:
        self._is_own = True
        self.top_ns = min(max(round(self.top_ns * factor), _SMALLEST_TOP_NS), _LARGEST_TOP_NS)

    def settle(
        self, series: FrameSeries, measure: Measure, frames: tuple[int, int], budget_ns: int
    ) -> None:
        """Choose a scale again when a notable part of the frames in view is new."""
        start, stop = frames
        former = self._chosen_for
        if self._is_own:
            return
        if former is not None:
            news = abs(start - former[0]) + abs(stop - former[1])
            if news <= _NEWS * (stop - start):
                return
        self._chosen_for = frames
        sample_ns = series.sample_ns(measure, start, stop)
        former_ns = self.top_ns if former is not None else 0
        self.top_ns = top_of_scale_ns(sample_ns, budget_ns, former_ns, self.least)
