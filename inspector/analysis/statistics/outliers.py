"""Outliers among frames, and statistics without them."""

from __future__ import annotations

from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.analysis.statistics.time_series import TimeSeries, quantile_8
from inspector.display_text import counted, listed

_SHARE: Final = 0.999
OUTLIER_RULE: Final = "CapFrameX's rule: f ≥ Q₈(f, 0.999)"
#: The most ranges that a text names.
_SHOWN: Final = 10


class Outliers(Struct, frozen=True, eq=False):
    """Frames that are left out of statistics for being long."""

    limit_ms: float  # Frames that take this or longer are outliers
    places: NDArray[np.int64]  # Places of the outliers among the frames, ascending

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The first and the last frame of each stretch of outliers."""
        breaks = np.flatnonzero(np.diff(self.places) > 1) + 1
        return [
            (int(each[0]), int(each[-1])) for each in np.split(self.places, breaks) if len(each)
        ]

    @property
    def text(self) -> str:
        if not len(self.places):
            return "no outlier: no frame is longer than the others"
        are = counted(len(self.places), "outlier is", "outliers are")
        return f"{are} left out, from {self.limit_ms:,.4g} ms on ({OUTLIER_RULE})"

    @property
    def ranges_text(self) -> str:
        """The ranges of outliers in words; only the first ones if there are many."""
        found = self.ranges
        shown = [f"{low:,}" if low == high else f"{low:,}–{high:,}" for low, high in found]
        return f"Frames {listed(shown, _SHOWN)}" if found else ""


def without_outliers(series: TimeSeries) -> tuple[TimeSeries, Outliers]:
    """Leave out ``f_i >= Q8(f, 0.999)`` (CapFrameX, "decipercentile"), unless that is all."""
    limit = quantile_8(series.ordered_ms, _SHARE)
    kept = series.times_ms < limit
    if not kept.any():
        return series, Outliers(limit, np.zeros(0, dtype=np.int64))
    facts = series.facts.kept(kept)
    fewer = TimeSeries(series.times_ms[kept], series.refresh_ms, facts, stutter=series.stutter)
    return fewer, Outliers(limit, np.flatnonzero(~kept))
