"""The scale of durations of the frame-time plot, by the budget."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from inspector.formats.arrangement.frame_bars import SCALE_MULTIPLES, top_of_scale_ns
from inspector.formats.drawing.ticks import Tick, Ticks, duration_ticks
from inspector.timebase import NS_PER_MS

if TYPE_CHECKING:
    from inspector.formats.arrangement.frame_series import FrameSeries
    from inspector.vocabulary import Measure

#: Of 60 frames per second.
DEFAULT_BUDGET_NS: Final = 16_666_667
_SMALLEST_TOP_NS: Final = 1_000
_LARGEST_TOP_NS: Final = 10**12
_BETWEEN_LABELS: Final = 34
#: One over the share of the frames in view that must be new for another scale.
_NEWS: Final = 128
#: Ticks within a budget, or budgets from one tick to the next, by how many the scale has.
_STEPS: Final = dict(zip(SCALE_MULTIPLES, (0.5, 1, 1, 2, 3), strict=True))


def scale_ticks(top_ns: int, budget_ns: int, height: float) -> Ticks:
    """Return the ticks of a scale that is so many pixels high, at multiples of the budget.

    A scale that is not a multiple of the budget has them at round values.
    """
    found = duration_ticks(top_ns, max(2, int(height / _BETWEEN_LABELS)))
    multiple, power = Fraction(top_ns, budget_ns), 1
    while multiple > SCALE_MULTIPLES[-1]:
        multiple, power = multiple / 10, power * 10
    step = _STEPS.get(int(multiple)) if multiple.denominator == 1 else None
    if step is None or found.unit != "ms":
        return found
    instants = [each * step * power * budget_ns for each in range(round(int(multiple) / step) + 1)]
    ticks = [Tick(each, f"{each / NS_PER_MS:.3g}") for each in instants]
    return Ticks(tuple(ticks), found.unit)


class DurationScale:
    """The duration at the upper edge of a plot.

    Attributes:
        top_ns: That duration.
        least: How many budgets it has at least.
    """

    def __init__(self) -> None:
        self.least = SCALE_MULTIPLES[1]
        self.top_ns = self.least * DEFAULT_BUDGET_NS
        self._is_own = False
        self._chosen_for: tuple[int, int] | None = None

    def forget(self) -> None:
        """Choose a scale for the next frames, whatever it was."""
        self._is_own = False
        self._chosen_for = None

    def multiply(self, factor: float) -> None:
        """Show ``factor`` times as much from now on, whatever frames come."""
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
            if news <= (stop - start) // _NEWS:
                return
        self._chosen_for = frames
        sample_ns = series.sample_ns(measure, start, stop)
        former_ns = self.top_ns if former is not None else 0
        self.top_ns = top_of_scale_ns(sample_ns, budget_ns, former_ns, self.least)
