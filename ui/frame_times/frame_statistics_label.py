"""Statistics of a range of frames in a line, computed no more often than they may cost."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter_ns
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from inspector.analysis.statistics.frame_budget import BY_INSPECTOR_RULE, OVER_RULE, FrameBudget
from inspector.analysis.statistics.frame_statistics import FrameStatistics, frame_statistics
from inspector.display_text import counted
from inspector.timebase import NS_PER_MS, format_duration
from inspector.vocabulary import Measure, Share

from ..kit.guards import guarded
from ..kit.labels import SelectableLabel
from ..kit.paced_refresh import single_shot
from ..plotting.frame_series import FrameSeries

_PERIOD_MS: Final = 250
#: Statistics take at most this share of the processor, whatever the range.
_LARGEST_SHARE: Final = 0.02
_MARGIN: Final = 4

STATISTICS_HELP: Final = (
    "Statistics of the frames in view, or of the selected range.\n"
    "Mean: sum of the times over the number of frames; fps is its inverse.\n"
    "Median, P95, P99, P99.9: the time that this percentage of the frames does not\n"
    "exceed (nearest rank, always one of the measured times).\n"
    f"Over: {OVER_RULE}.\n"
    f"Left out, if chosen under Budget: {BY_INSPECTOR_RULE}.\n"
    "Missed: refreshes of a screen at the budget's rate that had no new frame."
)


SAMPLES_TEXT: Final = "samples, not every frame: no percentiles, maximum or frames over budget"


class StatisticsWanted(Struct, frozen=True):
    """What statistics are to be of.

    Attributes:
        series: Has the frames.
        frames: The numbers of the frames.
        measure: Which of their times.
        budgets_ns: Budgets to count against.
        is_chosen: The frames were chosen; else they are what is in view.
        are_samples: They are samples, so what depends on every frame cannot be said.
        without_inspector: Frames over the first budget because of the inspector alone are left
            out.
    """

    series: FrameSeries
    frames: range
    measure: Measure
    budgets_ns: tuple[int, ...]
    is_chosen: bool
    are_samples: bool = False
    without_inspector: bool = False

    def left_out(self, times_ns: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """Return which frames are left out of the statistics, ``None`` for none."""
        if not self.without_inspector or self.measure != "interval" or not self.budgets_ns:
            return None
        frames, budget = self.frames, FrameBudget(self.budgets_ns[0])
        shares_ns = self.series.history.numpy(Share.INSPECTOR, frames.start, frames.stop)
        found = budget.is_over_because_of(times_ns, shares_ns[: len(times_ns)])
        return found if found.any() else None


@guarded
class FrameStatisticsLabel(SelectableLabel):
    """Shows the statistics that were asked for last, some time after they were."""

    #: Other statistics are shown; all of them in words, also where there is no room.
    text_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._wanted: StatisticsWanted | None = None
        self._shown: StatisticsWanted | None = None
        self._parts: tuple[StatisticsPart, ...] = ()
        self._pause = single_shot(self, self._compute)
        self.setObjectName("frame_statistics")
        self.setAccessibleName("Statistics of the frames in view")
        self.setToolTip(STATISTICS_HELP)
        # Cut off rather than making the window wider.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def request(self, wanted: StatisticsWanted) -> None:
        """Show other statistics: at once, or as soon as they may cost something again."""
        self._wanted = wanted
        if not self._pause.isActive():
            self._compute()

    def show_nothing(self) -> None:
        self._wanted = self._shown = None
        self._show(())

    @Slot()
    def _compute(self) -> None:
        wanted = self._wanted
        if wanted is None or wanted == self._shown:
            return
        self._shown = wanted
        began_ns = perf_counter_ns()
        frames = wanted.frames
        times_ns = wanted.series.times_ns(wanted.measure, frames.start, frames.stop)
        left_out = wanted.left_out(times_ns)
        if left_out is not None:
            times_ns = times_ns[~left_out]
        found = frame_statistics(times_ns, wanted.budgets_ns)
        self._show(statistics_parts(found, wanted, 0 if left_out is None else int(left_out.sum())))
        cost_ms = (perf_counter_ns() - began_ns) / NS_PER_MS
        self._pause.start(max(_PERIOD_MS, round(cost_ms / _LARGEST_SHARE)))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_text()

    def _show(self, parts: tuple[StatisticsPart, ...]) -> None:
        if parts != self._parts:
            self._parts = parts
            self._fit_text()
            full = statistics_text(parts)
            self.setToolTip(f"{full}\n\n{STATISTICS_HELP}" if full else STATISTICS_HELP)
            self.text_changed.emit(full)

    def _fit_text(self) -> None:
        """Leave out what matters least until the rest has room."""
        parts = list(self._parts)
        room, metrics = self.width() - _MARGIN, self.fontMetrics()
        while len(parts) > 1 and metrics.horizontalAdvance(statistics_text(parts)) > room:
            parts.remove(max(parts, key=lambda part: part.rank))
        self.setText(statistics_text(parts))


class StatisticsPart(Struct, frozen=True):
    """One statistic in words.

    Attributes:
        rank: How important it is; the highest is left out first where room is short.
        text: What it says.
    """

    rank: int
    text: str


def statistics_text(parts: Iterable[StatisticsPart]) -> str:
    return "  ·  ".join(part.text for part in parts)


def statistics_parts(
    found: FrameStatistics | None, wanted: StatisticsWanted, left_out: int = 0
) -> tuple[StatisticsPart, ...]:
    """Return statistics in words, none without frames.

    Only the time between frames makes a frame rate, and misses refreshes.
    """
    if found is None:
        return ()
    what = "Selected" if wanted.is_chosen else "In view"
    frames, is_interval = wanted.frames, wanted.measure == "interval"
    noun = "sample" if wanted.are_samples else "frame"
    has_rate = is_interval and not wanted.are_samples
    rate = f" ({found.mean_rate:.1f} fps)" if has_rate else ""
    span = f"({frames[0]:,}–{frames[-1]:,})"
    parts = [
        StatisticsPart(0, f"{what}: {counted(found.count, noun)}"),
        StatisticsPart(9, span),
        StatisticsPart(2, f"mean {format_duration(found.mean_ns)}{rate}"),
        StatisticsPart(5, f"median {format_duration(found.median_ns)}"),
    ]
    if left_out:
        parts.append(StatisticsPart(2, f"{left_out:,} left out (inspector)"))
    if wanted.are_samples:
        return (*parts, StatisticsPart(1, SAMPLES_TEXT))
    parts += [
        StatisticsPart(6, f"P95 {format_duration(found.p95_ns)}"),
        StatisticsPart(4, f"P99 {format_duration(found.p99_ns)}"),
        StatisticsPart(7, f"P99.9 {format_duration(found.p999_ns)}"),
        StatisticsPart(1, f"max {format_duration(found.max_ns)}"),
    ]
    for over in found.over_budgets:
        parts.append(StatisticsPart(3, over.text))
        if over.count:
            missed = f", {over.missed:,} missed" if is_interval else ""
            parts.append(StatisticsPart(8, f"{100 * over.share:.3g} %{missed}"))
    return tuple(parts)
