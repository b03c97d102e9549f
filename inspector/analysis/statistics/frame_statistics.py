"""Statistics of frame times, each with its definition.

Tools define percentiles and averages differently, and people compare their numbers, so every
number here names its definition and the source of it.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.timebase import NS_PER_SECOND

_ALL: Final = 100


class OverBudget(Struct, frozen=True):
    budget: FrameBudget  # The budget, with its tolerance
    count: int  # Frames longer than FrameBudget.longest_ns
    share: float  # That count over the number of frames
    # Refreshes without a new frame, on a screen with the budget as its refresh interval; see
    # missed_refreshes.
    missed: int

    @property
    def text(self) -> str:
        """Their number with the limit in words: ``20 over budget (19.2 ms)``."""
        return f"{self.count:,} {self.budget.over_text}"

    def values(self) -> dict[str, object]:
        return {
            "budget_ns": self.budget.budget_ns,
            "origin": self.budget.origin,
            "tolerance_ns": self.budget.tolerance_ns,
            "frames": self.count,
            "share": self.share,
            "missed_refreshes": self.missed,
        }


class FrameStatistics(Struct, frozen=True):
    """Statistics of a range of frames; all times are whole nanoseconds."""

    count: int  # How many frames there are
    total_ns: int  # Their sum
    mean_ns: int  # Arithmetic mean, rounded to the nearest nanosecond
    median_ns: int  # 50th percentile
    p95_ns: int  # 95th percentile
    p99_ns: int  # 99th percentile
    p999_ns: int  # 99.9th percentile
    min_ns: int  # The shortest
    max_ns: int  # The longest
    over_budgets: tuple[OverBudget, ...]  # One entry for each budget, in the order given

    @property
    def mean_rate(self) -> float:
        """Average frames per second: frames over the sum of their times.

        This is 1 / mean(time), as PresentMon, FrameView and CapFrameX define it, and
        never mean(1 / time), which is always larger.
        """
        return self.count * NS_PER_SECOND / self.total_ns if self.total_ns else 0.0


def frame_statistics(
    times_ns: NDArray[np.int64], budgets_ns: Sequence[int] = ()
) -> FrameStatistics | None:
    """Return the statistics of some frame times, ``None`` if there are none.

    Percentiles are nearest-rank, see :func:`percentile_frame_time_ns`.
    """
    if not len(times_ns):
        return None
    # One sort answers every rank and every count; numpy sorts a million in 4 ms,
    # which is less than it takes to partition them for four ranks at once.
    ordered = np.sort(times_ns)
    total_ns = int(ordered.sum())
    return FrameStatistics(
        count=len(ordered),
        total_ns=total_ns,
        mean_ns=round(Fraction(total_ns, len(ordered))),
        median_ns=_of_rank(ordered, 50),
        p95_ns=_of_rank(ordered, 95),
        p99_ns=_of_rank(ordered, 99),
        p999_ns=_of_rank(ordered, 99.9),
        min_ns=int(ordered[0]),
        max_ns=int(ordered[-1]),
        over_budgets=tuple(
            _over_budget(ordered, FrameBudget(budget_ns)) for budget_ns in budgets_ns
        ),
    )


def percentile_frame_time_ns(times_ns: NDArray[np.int64], percent: float) -> int:
    """Return the frame time that ``percent`` of frames do not exceed.

    Nearest-rank definition (Hyndman & Fan 1996, type 1), so the result is one of
    the inputs and never an interpolated time.

    Raises:
        ValueError: There are no frames, or ``percent`` is not within 0 to 100.
    """
    if not len(times_ns):
        raise ValueError("no percentile of no frames")
    rank = nearest_rank(len(times_ns), percent)
    return int(np.partition(times_ns, rank)[rank])


def nearest_rank(count: int, percent: float) -> int:
    """Return the place, from 0, of a percentile among ``count`` ascending values.

    Place ``ceil(count * percent / 100) - 1``, computed without rounding errors: the 99.9th
    percentile of 1 000 frames is the 999th, not the 1 000th.
    """
    if not 0 <= percent <= _ALL:
        raise ValueError(f"a percentile must be between 0 and 100, not {percent!r}")
    share, whole = _exact_share(percent)
    return max(0, -(-share * count // whole) - 1)


@lru_cache(maxsize=64)
def _exact_share(percent: float) -> tuple[int, int]:
    return (Fraction(str(percent)) / _ALL).as_integer_ratio()


def over_budget(times_ns: NDArray[np.int64], budget: FrameBudget) -> OverBudget:
    return _over_budget(np.sort(times_ns), budget)


def missed_refreshes(times_ns: NDArray[np.int64], budget: FrameBudget) -> int:
    """Return how many refreshes of a screen showed no new frame.

    ``max(0, ceil((time - tolerance) / budget) - 1)`` summed over the frames: the
    convention for captures without display times. The tolerance is that of the budget, so
    exactly the frames over it miss any.
    """
    refreshes = -((budget.tolerance_ns - times_ns) // budget.budget_ns)
    return int(np.maximum(refreshes - 1, 0).sum())


def _of_rank(ordered: NDArray[np.int64], percent: float) -> int:
    return int(ordered[nearest_rank(len(ordered), percent)])


def _over_budget(ordered: NDArray[np.int64], budget: FrameBudget) -> OverBudget:
    first_over = int(np.searchsorted(ordered, budget.longest_ns, side="right"))
    count = len(ordered) - first_over
    return OverBudget(
        budget=budget,
        count=count,
        share=count / len(ordered) if count else 0.0,
        missed=missed_refreshes(ordered[first_over:], budget),
    )
