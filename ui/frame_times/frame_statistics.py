"""Statistics of a range of frames, computed no more often than they may cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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
from inspector.timebase import NS_PER_MS, decimals_for, format_duration
from inspector.vocabulary import Measure, Share

from ..kit.background import Background
from ..kit.guards import guarded
from ..kit.throttled_refresh import single_shot

_PERIOD_MS: Final = 250
#: Statistics take at most this share of the processor, whatever the range.
_LARGEST_SHARE: Final = 0.02
#: More frames than this are sorted in a background thread: 10 million take a second.
_MOST_AT_ONCE: Final = 500_000

SAMPLES_TEXT: Final = "samples, not every frame: no percentiles, maximum or frames over budget"


class StatisticsWanted(Struct, frozen=True):
    series: FrameSeries  # Has the frames
    frames: range  # The numbers of the frames
    measure: Measure  # Which of their times
    budgets_ns: tuple[int, ...]  # Budgets to count against
    is_chosen: bool  # The frames were chosen; else they are what is in view
    are_samples: bool = False  # They are samples, so what depends on every frame cannot be said
    # Whether frames that are over the first budget only because of the inspector are left out.
    without_inspector: bool = False

    def reader(self) -> Callable[[], FoundStatistics]:
        """Read the frames; return what computes their statistics, in any thread."""
        frames = self.frames
        times_ns = self.series.times_ns(self.measure, frames.start, frames.stop)
        shares_ns = None
        if self.measure == "interval" and self.budgets_ns:
            history = self.series.history
            shares_ns = history.numpy(Share.INSPECTOR, frames.start, frames.stop)[: len(times_ns)]
        return partial(_found, self, times_ns, shares_ns)


class FoundStatistics(Struct, frozen=True):
    """Statistics, and of what they are."""

    of: StatisticsWanted  # What was wanted
    statistics: FrameStatistics | None  # The statistics; None without frames
    left_out: int = 0  # How many frames were left out
    # How many of the others are over the first budget only by the inspector's share.
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
        rate = f" ({found.mean_rate:,.{decimals_for(found.mean_rate)}f} fps)" if has_rate else ""
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


def _found(
    wanted: StatisticsWanted, times_ns: NDArray[np.int64], shares_ns: NDArray[np.int64] | None
) -> FoundStatistics:
    left_out = kept = 0
    if shares_ns is not None:
        budget = FrameBudget(wanted.budgets_ns[0])
        by_inspector = budget.is_over_because_of(times_ns, shares_ns)
        count = int(by_inspector.sum())
        left_out, kept = (count, 0) if wanted.without_inspector else (0, count)
        if left_out:
            times_ns = times_ns[~by_inspector]
    return FoundStatistics(wanted, frame_statistics(times_ns, wanted.budgets_ns), left_out, kept)


@guarded
class PacedStatistics(QObject):
    """Computes the statistics that were asked for last, some time after they were."""

    #: Other statistics were computed; ``None`` when there is nothing to compute them of.
    found = Signal(object)  # FoundStatistics | None

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._wanted: StatisticsWanted | None = None
        self._shown: StatisticsWanted | None = None
        self._began_ns = 0
        self._background = Background(self)
        self._background.done.connect(self._report)
        self._pause = single_shot(self, self._compute)

    def request(self, wanted: StatisticsWanted) -> None:
        """Compute other statistics: at once, or as soon as they may cost something again."""
        self._wanted = wanted
        if not self._pause.isActive() and not self._background.is_running:
            self._compute()

    def forget(self) -> None:
        self._wanted = self._shown = None
        # The next request will be about another session.
        self._pause.stop()
        self._background.cancel()
        self.found.emit(None)

    @Slot()
    def _compute(self) -> None:
        wanted = self._wanted
        if wanted is None or wanted == self._shown:
            return
        self._shown = wanted
        self._began_ns = perf_counter_ns()
        work = wanted.reader()
        if len(wanted.frames) > _MOST_AT_ONCE:
            self._background.start(lambda _report: work())
        else:
            self._report(work())

    @Slot(object)
    def _report(self, found: FoundStatistics) -> None:
        self.found.emit(found)
        cost_ms = (perf_counter_ns() - self._began_ns) / NS_PER_MS
        self._pause.start(max(_PERIOD_MS, round(cost_ms / _LARGEST_SHARE)))
