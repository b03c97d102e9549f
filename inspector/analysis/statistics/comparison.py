"""Two captures compared: differences with confidence intervals, and a test of the distributions.

The frames of a capture depend on each other, so resampling takes blocks of consecutive frames
(Künsch 1989, the moving block bootstrap); intervals are of its percentiles. A capture of many
frames is resampled to fewer, and the interval narrowed by the root of the share (m out of n
bootstrap).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import exp, sqrt
from typing import TYPE_CHECKING, Final

import numpy as np

from inspector.analysis.statistics.frame_series import FrameSeries
from inspector.analysis.statistics.metrics import METRICS, Metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: The metrics that are compared.
COMPARED: Final = ("fps", "p50", "p95", "p99", "p99.9", "frameview.low-1", "capframex.integral-1")
#: Share of intervals that hold the true difference.
CONFIDENCE: Final = 0.95

_RESAMPLES: Final = 400
_MOST_RESAMPLED: Final = 20_000
#: With fewer frames, nothing is said to differ.
_LEAST_FRAMES: Final = 30
#: Differences below are of no use to anybody, however certain.
_LEAST_DIFFERENCE: Final = 0.002


class Verdict(Enum):
    """What a comparison shows."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_EVIDENCE = "no evidence of a difference"


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of a metric between two captures.

    Attributes:
        metric: The metric.
        before: Its value in the first capture; ``None`` where it is undefined.
        after: Its value in the second.
        share: ``(after - before) / before``; ``None`` where it is undefined.
        low: Lower end of the 95 % interval of the share.
        high: Its upper end.
    """

    metric: Metric
    before: float | None
    after: float | None
    share: float | None
    low: float | None
    high: float | None

    @property
    def is_certain(self) -> bool:
        """Whether the interval does not hold 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high

    @property
    def verdict(self) -> Verdict:
        """Whether the second capture is faster by this metric."""
        if self.share is None or not self.is_certain or abs(self.share) < _LEAST_DIFFERENCE:
            return Verdict.NO_EVIDENCE
        is_more = self.share > 0
        return Verdict.FASTER if is_more is (self.metric.unit == "fps") else Verdict.SLOWER


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two captures compared.

    Attributes:
        differences: The metrics of :data:`COMPARED`.
        distance: The largest difference of the two cumulative distributions, 0 to 1
            (Kolmogorov-Smirnov).
        p_value: How likely such a distance is for independent frames of one distribution. Frames
            depend on each other, so it is too small rather than too large.
        verdict: By the average frame rate.
    """

    differences: tuple[Difference, ...]
    distance: float
    p_value: float
    verdict: Verdict


def comparison(before: FrameSeries, after: FrameSeries, seed: int = 1) -> Comparison:
    """Compare two series of frame times of at least one frame each.

    Args:
        before: The first, which the differences are relative to.
        after: The second.
        seed: Of the random numbers; the same seed gives the same intervals.
    """
    chosen = [each for each in METRICS if each.id in COMPARED]
    metrics = sorted(chosen, key=lambda each: COMPARED.index(each.id))
    random = np.random.default_rng(seed)
    is_enough = min(len(before), len(after)) >= _LEAST_FRAMES
    values = [(metric.compute(before), metric.compute(after)) for metric in metrics]
    spread = _resampled(metrics, before, after, random) if is_enough else None
    differences = tuple(
        _difference(metric, *values[place], None if spread is None else spread[:, place])
        for place, metric in enumerate(metrics)
    )
    distance, p_value = kolmogorov_smirnov(before.ordered_ms, after.ordered_ms)
    return Comparison(differences, distance, p_value, differences[0].verdict)


def kolmogorov_smirnov(one: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[float, float]:
    """Return the distance of two sorted samples and its two-sided p-value.

    ``D = max |F1 - F2|``; ``p = 2 Σ (-1)^(k-1) exp(-2 k² λ²)`` with ``λ = (√m + 0.12 + 0.11 / √m)
    D`` and ``m = n1 n2 / (n1 + n2)`` (Stephens 1970; Numerical Recipes, 14.3).
    """
    both = np.concatenate((one, other))
    steps = np.searchsorted(one, both, side="right") / len(one)
    steps -= np.searchsorted(other, both, side="right") / len(other)
    distance = float(np.abs(steps).max())
    root = sqrt(len(one) * len(other) / (len(one) + len(other)))
    scale = (root + 0.12 + 0.11 / root) * distance
    if scale < 0.2:  # noqa: PLR2004 - the series would not end, and its sum is 1
        return distance, 1.0
    terms = (2 * (-1) ** (k - 1) * exp(-2 * (k * scale) ** 2) for k in range(1, 101))
    return distance, min(max(sum(terms), 0.0), 1.0)


def _difference(
    metric: Metric,
    before: float | None,
    after: float | None,
    spread: NDArray[np.float64] | None,
) -> Difference:
    if before is None or after is None or not before:
        return Difference(metric, before, after, None, None, None)
    share = (after - before) / before
    if spread is None or not np.isfinite(spread).all():
        return Difference(metric, before, after, share, None, None)
    edge = (1 - CONFIDENCE) / 2
    low, high = np.quantile(spread, [edge, 1 - edge])
    return Difference(metric, before, after, share, share + float(low), share + float(high))


def _resampled(
    metrics: Sequence[Metric],
    before: FrameSeries,
    after: FrameSeries,
    random: np.random.Generator,
) -> NDArray[np.float64]:
    """Return how far the shares of resampled captures lie from their middle, a row for each."""
    rows = np.empty((_RESAMPLES, len(metrics)))
    for row in rows:
        one, other = _resample(before, random), _resample(after, random)
        for place, metric in enumerate(metrics):
            first, second = metric.compute(one), metric.compute(other)
            is_usable = first is not None and second is not None and first > 0
            row[place] = second / first - 1 if is_usable else np.nan  # type: ignore[operator]
    fewest = min(len(before), len(after))
    shrunk = sqrt(min(1.0, _MOST_RESAMPLED / fewest))
    spread: NDArray[np.float64] = (rows - np.median(rows, axis=0)) * shrunk
    return spread


def _resample(series: FrameSeries, random: np.random.Generator) -> FrameSeries:
    """Return as many frames, at most 20,000, in blocks from anywhere in the series."""
    times, count = series.times_ms, len(series)
    wanted = min(count, _MOST_RESAMPLED)
    # The optimal length for quantiles grows with the third root (Hall, Horowitz & Jing 1995).
    length = max(1, round(count ** (1 / 3)))
    starts = random.integers(0, count - length + 1, -(-wanted // length))
    places = (starts[:, None] + np.arange(length)).ravel()[:wanted]
    return FrameSeries(times[places])
