"""What a column of a capture beside its frame times comes to: clocks, load, power, latencies."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.statistics.frame_series import quantile_7


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """A column in numbers.

    Attributes:
        name: Its name, as in the file.
        unit: Its unit; empty if unknown.
        count: How many frames have a value.
        mean: Their mean.
        is_weighted: Whether each value counts as long as its frame lasts in the mean.
        least: The lowest value.
        p5: The 5th percentile: type 7 of Hyndman & Fan, as ``median`` and ``p95`` are.
        median: The middle value.
        p95: The 95th percentile.
        most: The highest value.
    """

    name: str
    unit: str
    count: int
    mean: float
    is_weighted: bool
    least: float
    p5: float
    median: float
    p95: float
    most: float

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def summary_of(
    name: str,
    unit: str,
    values: NDArray[np.float64],
    lasts: NDArray[np.float64] | None,
) -> ColumnSummary | None:
    """Return a column in numbers, ``None`` if it has none.

    Args:
        values: Its values, not a number where there is none.
        lasts: For how long each value holds; ``None`` for values of which each counts once, such
            as durations of frames.
    """
    there = np.isfinite(values)
    known = values[there]
    if not len(known):
        return None
    weights = None if lasts is None else lasts[there]
    is_weighted = weights is not None and float(weights.sum()) > 0
    ordered = np.sort(known)
    p5, median, p95 = (quantile_7(ordered, share) for share in (0.05, 0.5, 0.95))
    return ColumnSummary(
        name=name,
        unit=unit,
        count=len(known),
        mean=float(np.average(known, weights=weights if is_weighted else None)),
        is_weighted=is_weighted,
        least=float(ordered[0]),
        p5=p5,
        median=median,
        p95=p95,
        most=float(ordered[-1]),
    )
