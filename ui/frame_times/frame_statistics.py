"""Statistics of a range of frames, computed no more often than they may cost."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal, Slot

from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.analysis.statistics.frame_statistics import FrameStatistics, frame_statistics
from inspector.display_text import counted
from inspector.formats.arrangement.frame_series import FrameSeries
from inspector.timebase import NS_PER_MS, format_duration
from inspector.vocabulary import Measure, Share

from ..kit.guards import guarded
from ..kit.paced_refresh import single_shot

_PERIOD_MS: Final = 250
#: Statistics take at most this share of the processor, whatever the range.
_LARGEST_SHARE: Final = 0.02

SAMPLES_TEXT: Final = "samples, not every frame: no percentiles, maximum or frames over budget"


class StatisticsWanted(Struct, frozen=True):
    """What statistics are to be of."""

    series: FrameSeries  # Has the frames
    frames: range  # The numbers of the frames
    measure: Measure  # Which of their times
    budgets_ns: tuple[int, ...]  # Budgets to count against
    is_chosen: bool  # The frames were chosen; else they are what is in view
    are_samples: bool = False  # They are samples, so what depends on every frame cannot be said
    # Frames over the first budget because of the inspector alone are left out.
    without_inspector: bool = False

    def by_inspector(self, times_ns: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """Return which frames the inspector alone made long, ``None`` for none."""
        if self.measure != "interval" or not self.budgets_ns:
            return None
        frames, budget = self.frames, FrameBudget(self.budgets_ns[0])
        shares_ns = self.series.history.numpy(Share.INSPECTOR, frames.start, frames.stop)
        found = budget.is_over_because_of(times_ns, shares_ns[: len(times_ns)])
        return found if found.any() else None


class FoundStatistics(Struct, frozen=True):
    """Statistics, and of what they are."""

    of: StatisticsWanted  # What was wanted
    statistics: FrameStatistics | None  # The statistics; None without frames
    left_out: int = 0  # How many frames were left out
    # How many that were not are over the first budget by the inspector's share alone.
    by_inspector: int = 0

    @property
    def over(self) -> int:
        """How many frames are over the first budget, as their bars say: by themselves."""
        found = self.statistics
        if found is None or not found.over_budgets:
            return 0
        return found.over_budgets[0].count - self.by_inspector

    @property
    def text(self) -> str:
        """All of them in words; only the time between frames makes a rate, and misses refreshes."""
        found, wanted = self.statistics, self.of
        if found is None:
            return ""
        what = "Selected" if wanted.is_chosen else "In view"
        frames, is_interval = wanted.frames, wanted.measure == "interval"
        noun = "sample" if wanted.are_samples else "frame"
        has_rate = is_interval and not wanted.are_samples
        rate = f" ({found.mean_rate:.1f} fps)" if has_rate else ""
        parts = [
            f"{what}: {counted(found.count, noun)}",
            f"({frames[0]:,}–{frames[-1]:,})",
            f"mean {format_duration(found.mean_ns)}{rate}",
            f"median {format_duration(found.median_ns)}",
        ]
        if self.left_out:
            parts.append(f"{self.left_out:,} left out (inspector)")
        if self.by_inspector:
            parts.append(f"{self.by_inspector:,} over by the inspector's share alone")
        if wanted.are_samples:
            return "  ·  ".join((*parts, SAMPLES_TEXT))
        parts += [
            f"P95 {format_duration(found.p95_ns)}",
            f"P99 {format_duration(found.p99_ns)}",
            f"P99.9 {format_duration(found.p999_ns)}",
            f"max {format_duration(found.max_ns)}",
        ]
        for over in found.over_budgets:
            parts.append(over.text)
            if over.count:
                missed = f", {over.missed:,} missed" if is_interval else ""
                parts.append(f"{100 * over.share:.3g} %{missed}")
        return "  ·  ".join(parts)


@guarded
class PacedStatistics(QObject):
    """Computes the statistics that were asked for last, some time after they were."""

    #: Other statistics were computed; ``None`` when there is nothing to compute them of.
    found = Signal(object)  # FoundStatistics | None

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._wanted: StatisticsWanted | None = None
        self._shown: StatisticsWanted | None = None
        self._pause = single_shot(self, self._compute)

    def request(self, wanted: StatisticsWanted) -> None:
        """Compute other statistics: at once, or as soon as they may cost something again."""
        self._wanted = wanted
        if not self._pause.isActive():
            self._compute()

    def forget(self) -> None:
        self._wanted = self._shown = None
        # What is asked for next is of another session.
        self._pause.stop()
        self.found.emit(None)

    @Slot()
    def _compute(self) -> None:
        wanted = self._wanted
        if wanted is None or wanted == self._shown:
            return
        self._shown = wanted
        began_ns = perf_counter_ns()
        frames = wanted.frames
        times_ns = wanted.series.times_ns(wanted.measure, frames.start, frames.stop)
        by_inspector = wanted.by_inspector(times_ns)
        count = 0 if by_inspector is None else int(by_inspector.sum())
        is_left_out = wanted.without_inspector
        if by_inspector is not None and is_left_out:
            times_ns = times_ns[~by_inspector]
        statistics = frame_statistics(times_ns, wanted.budgets_ns)
        left_out, kept = (count, 0) if is_left_out else (0, count)
        self.found.emit(FoundStatistics(wanted, statistics, left_out, kept))
        cost_ms = (perf_counter_ns() - began_ns) / NS_PER_MS
        self._pause.start(max(_PERIOD_MS, round(cost_ms / _LARGEST_SHARE)))
