"""Two captures compared: differences with confidence intervals, and a test of the distributions.

The frames of a capture depend on each other, so resampling takes blocks of consecutive frames
(Künsch 1989, the moving block bootstrap); intervals are of its percentiles. A capture of many
frames is resampled to fewer, and the interval narrowed by the root of the share (m out of n
bootstrap).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from math import exp, sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.statistics.frame_series import FrameSeries
from inspector.analysis.statistics.metrics import METRICS, Metric

#: The metrics that are compared.
COMPARED: Final = ("fps", "p50", "p95", "p99", "p99.9", "frameview.low-1", "capframex.integral-1")
#: Share of intervals that hold the true difference.
CONFIDENCE: Final = 0.95

_RESAMPLES: Final = 400
_MOST_RESAMPLED: Final = 20_000
#: With fewer frames, nothing is said to differ.
_LEAST_FRAMES: Final = 30
#: Differences below are too small to matter, however certain.
_LEAST_DIFFERENCE: Final = 0.002


class Verdict(Enum):
    """What a comparison shows."""

    FASTER = "faster"
    SLOWER = "slower"
    MORE = "more"
    LESS = "less"
    NO_EVIDENCE = "no evidence of a difference"


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of a number between two captures.

    Attributes:
        before: The number in the first capture; ``None`` where it is undefined.
        after: In the second.
        share: ``(after - before) / before``; ``None`` where it is undefined.
        low: Lower end of the 95 % interval of the share.
        high: Its upper end.
        is_more_better: Whether a larger number is better; ``None`` if it is neither.
    """

    before: float | None
    after: float | None
    share: float | None
    low: float | None
    high: float | None
    is_more_better: bool | None

    @property
    def is_certain(self) -> bool:
        """Whether the interval does not hold 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high

    @property
    def verdict(self) -> Verdict:
        """Whether the second capture is faster by this number."""
        if self.share is None or not self.is_certain or abs(self.share) < _LEAST_DIFFERENCE:
            return Verdict.NO_EVIDENCE
        is_more = self.share > 0
        if self.is_more_better is None:
            return Verdict.MORE if is_more else Verdict.LESS
        return Verdict.FASTER if is_more is self.is_more_better else Verdict.SLOWER

    @property
    def share_text(self) -> str:
        """The change, for people."""
        return "-" if self.share is None else f"{self.share:+.1%}"

    @property
    def interval_text(self) -> str:
        """The interval of the change, or why there is none."""
        if self.share is None:
            return "-"
        if self.low is None or self.high is None:
            return "too few frames"
        return f"{self.low:+.1%} to {self.high:+.1%}"


@dataclass(frozen=True, slots=True)
class Difference(Change):
    """The change of a metric.

    Attributes:
        metric: The metric.
    """

    metric: Metric


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

    @property
    def distance_text(self) -> str:
        """How far the distributions differ, for people."""
        least = 0.001
        p_text = f"= {self.p_value:.3f}" if self.p_value >= least else f"< {least:g}"
        distance = f"The distributions differ by up to {self.distance:.1%}"
        return f"{distance} (Kolmogorov-Smirnov, p {p_text})."

    def sentence(self, before: str, after: str) -> str:
        """Return the verdict in words, given what the captures are called."""
        rate = self.differences[0]
        if self.verdict is Verdict.NO_EVIDENCE:
            said = f"There is no evidence that “{after}” is faster or slower than “{before}”"
        else:
            said = f"“{after}” is {self.verdict.value} than “{before}”"
        if rate.before is None or rate.after is None:
            return f"{said}."
        numbers = f"{rate.before:.2f} → {rate.after:.2f} fps, {rate.share_text}"
        return f"{said}: {numbers} ({rate.interval_text}). {self.distance_text}"


def comparison(
    before: FrameSeries,
    after: FrameSeries,
    seed: int = 1,
    on_progress: Callable[[float], None] = lambda _done: None,
) -> Comparison:
    """Compare two series of frame times of at least one frame each.

    Args:
        before: The first, which the differences are relative to.
        after: The second.
        seed: Of the random numbers; the same seed gives the same intervals.
        on_progress: Called with the share that is done; what it raises ends the comparison.
    """
    chosen = [each for each in METRICS if each.id in COMPARED]
    metrics = sorted(chosen, key=lambda each: COMPARED.index(each.id))
    random = np.random.default_rng(seed)
    is_enough = min(len(before), len(after)) >= _LEAST_FRAMES
    values = [(metric.compute(before), metric.compute(after)) for metric in metrics]
    spread = _resampled(metrics, before, after, random, on_progress) if is_enough else None
    differences = tuple(
        Difference(
            **_change(*values[place], None if spread is None else spread[:, place]),
            is_more_better=metric.unit == "fps",
            metric=metric,
        )
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


def sample_change(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    statistic: Callable[[NDArray[np.float64]], float],
    *,
    is_more_better: bool | None = False,
    seed: int = 1,
) -> Change:
    """Return how a statistic of some samples, in the order of time, has changed.

    Args:
        before: The samples of the first capture.
        after: Those of the second.
        statistic: Takes at least one sample.
        is_more_better: Whether more is better; ``None`` for neither.
        seed: Of the random numbers.
    """
    former, now = (statistic(each) if len(each) else None for each in (before, after))
    spread = None
    if min(len(before), len(after)) >= _LEAST_FRAMES and former:
        random = np.random.default_rng(seed)
        shares = np.empty(_RESAMPLES)
        for place in range(_RESAMPLES):
            one, other = (statistic(_blocks(each, random)) for each in (before, after))
            shares[place] = other / one - 1 if one > 0 else np.nan
        spread = _spread(shares, min(len(before), len(after)))
    return Change(**_change(former, now, spread), is_more_better=is_more_better)


def _change(
    before: float | None, after: float | None, spread: NDArray[np.float64] | None
) -> dict[str, Any]:
    """Return the fields of a change, given how far shares lie from their middle."""
    found: dict[str, Any] = {"before": before, "after": after}
    found |= dict.fromkeys(("share", "low", "high"))
    if before is None or after is None or not before:
        return found
    share = found["share"] = (after - before) / before
    if spread is not None and np.isfinite(spread).all():
        edge = (1 - CONFIDENCE) / 2
        low, high = np.quantile(spread, [edge, 1 - edge])
        found["low"], found["high"] = share + float(low), share + float(high)
    return found


def _resampled(
    metrics: Sequence[Metric],
    before: FrameSeries,
    after: FrameSeries,
    random: np.random.Generator,
    on_progress: Callable[[float], None],
) -> NDArray[np.float64]:
    """Return how far the shares of resampled captures lie from their middle, a row for each."""
    rows = np.empty((_RESAMPLES, len(metrics)))
    for number, row in enumerate(rows):
        on_progress(number / _RESAMPLES)
        one, other = (FrameSeries(_blocks(each.times_ms, random)) for each in (before, after))
        for place, metric in enumerate(metrics):
            first, second = metric.compute(one), metric.compute(other)
            is_usable = first is not None and second is not None and first > 0
            row[place] = second / first - 1 if is_usable else np.nan  # type: ignore[operator]
    return _spread(rows, min(len(before), len(after)))


def _spread(shares: NDArray[np.float64], fewest: int) -> NDArray[np.float64]:
    """Return how far resampled shares lie from their middle, for at least this many samples."""
    shrunk = sqrt(min(1.0, _MOST_RESAMPLED / fewest))
    spread: NDArray[np.float64] = (shares - np.median(shares, axis=0)) * shrunk
    return spread


def _blocks(samples: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.float64]:
    """Return as many samples, at most 20,000, in blocks from anywhere among them."""
    count = len(samples)
    wanted = min(count, _MOST_RESAMPLED)
    # The optimal length for quantiles grows with the third root (Hall, Horowitz & Jing 1995).
    length = max(1, round(count ** (1 / 3)))
    starts = random.integers(0, count - length + 1, -(-wanted // length))
    places = (starts[:, None] + np.arange(length)).ravel()[:wanted]
    found: NDArray[np.float64] = samples[places]
    return found
