"""Two captures, or several runs on each side: what has changed, and how sure that is.

The frames of a capture depend on each other, so it is resampled in blocks several times longer than
this dependence (Künsch 1989). The spread of few blocks is itself uncertain: quantiles of Student's
distribution allow for that (Hesterberg 2015, expanded percentile intervals). Everything is computed
on logarithms of the statistics, so a rate stays positive. The intervals of the two captures are
combined by the method of variance estimates recovery (Zou & Donner 2008), which lets one side of an
interval be wider than the other. Statements about several statistics hold for all of them together,
with the probability :data:`CONFIDENCE` (Bonferroni).

With several runs on a side, statistics are those of all frames of the side, and the independent
units are the runs. The spread is that of the statistics with each run left out in turn (Tukey 1958,
Shao & Wu 1989), which includes the differences between runs and within them, with one degree of
freedom less than there are runs (Welch 1947). It is never taken smaller than the uncertainty of the
runs themselves, by blocks within each, so runs that are close by chance prove nothing. A bootstrap
that draws runs would be too narrow for three of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import Enum
from itertools import accumulate, chain
from math import ceil, log10, pi, sqrt
from statistics import NormalDist
from typing import Any, Final, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.analysis.statistics.metrics import METRICS, Metric
from inspector.analysis.statistics.time_series import USUAL_STUTTER, StutterLimits, TimeSeries
from inspector.display_text import listed

#: The metrics that are compared unless others are asked for.
COMPARED: Final = ("fps", "p50", "p95", "p99", "p99.9", "frameview.low-1", "capframex.integral-1")
#: The metrics compared by default for samples, which do not need every frame.
COMPARED_OF_SAMPLES: Final = ("mean",)
#: The metrics that are also compared if limits of stuttering and slow frames are given.
_STUTTERING: Final = ("capframex.stuttering", "capframex.low-fps")
#: Probability that all intervals of a verdict hold the true differences.
CONFIDENCE: Final = 0.95

_RESAMPLES: Final = 600
_MOST_RESAMPLED: Final = 20_000
#: Captures with fewer frames are not compared.
LEAST_SAMPLES: Final = 30
#: A capture must have at least this many times the frames over which frames depend on each other.
_LEAST_LENGTHS: Final = 45
#: The length of a block, as a multiple of that dependence: about a twelfth of the spread is lost.
_LENGTHS_OF_BLOCK: Final = 6
_MOST_BLOCKS: Final = 30
#: Smaller differences do not matter, however certain they are.
_LEAST_DIFFERENCE: Final = 0.002
#: An interval around no change is too wide if the larger of what it holds possible is at least this
#: many times the smaller, such as from half as much to twice as much.
_WIDE: Final = 4
TOO_WIDE: Final = "too wide to tell"
#: Quantiles of resampled values are read at this many standard deviations: of 600 values, fourteen
#: are beyond.
_READ_AT: Final = 2.0
_NORMAL: Final = NormalDist()
#: The least number of blocks that are drawn from a long capture.
_FEWEST_DRAWN: Final = 8
#: Steps in which Student's distribution is integrated: quantiles are within 0.1 %.
_ANGLES: Final = 4097
#: Frames no longer depend on each other if the correlations of this many consecutive lags are
#: small.
_QUIET_LAGS: Final = 5

#: Fields of a change that are computed for several at a time.
_FIELDS: Final = ("before", "after", "share", "low", "high", "why_not")
_TOO_FEW: Final = "too few frames"
_TOO_SHORT: Final = "too short to tell"

Samples = NDArray[np.float64]
#: What is resampled: samples, or other numbers in their order of which statistics are computed.
_Resampled = NDArray[Any]


class Verdict(Enum):
    FASTER = "faster"
    SLOWER = "slower"
    MORE = "more"
    LESS = "less"
    MIXED = "faster and slower"
    NO_EVIDENCE = "no evidence of a difference"
    CANNOT_TELL = "cannot tell"


class Change(Struct, frozen=True):
    before: float | None  # The number in the first capture; None where it is undefined
    after: float | None  # In the second
    share: float | None  # (after - before) / before; None where it is undefined
    low: float | None  # Lower end of the interval of the share, None if there is no interval
    high: float | None  # Its upper end
    why_not: str  # Why there is no interval, in a few words; empty if there is one
    is_more_better: bool | None  # Whether a larger number is better; None if it is neither

    @property
    def verdict(self) -> Verdict:
        """Whether the second capture is faster by this number."""
        if self.share is None or self.low is None or self.high is None:
            return Verdict.CANNOT_TELL
        if self.low <= 0 <= self.high or abs(self.share) < _LEAST_DIFFERENCE:
            return Verdict.NO_EVIDENCE
        is_more = self.share > 0
        if self.is_more_better is None:
            return Verdict.MORE if is_more else Verdict.LESS
        return Verdict.FASTER if is_more is self.is_more_better else Verdict.SLOWER

    def of_inverse(self, unit: float) -> Change:
        """Return the change of ``unit`` over this number, such as of a time instead of a rate.

        The ends of the interval are inverted, so its confidence stays the same.
        """

        def inverted(share: float | None) -> float | None:
            return None if share is None or share <= -1 else 1 / (1 + share) - 1

        before, after = (unit / each if each else None for each in (self.before, self.after))
        is_more_better = None if self.is_more_better is None else not self.is_more_better
        return Change(
            *(before, after, inverted(self.share), inverted(self.high), inverted(self.low)),
            why_not=self.why_not,
            is_more_better=is_more_better,
        )

    @property
    def is_too_wide(self) -> bool:
        """Whether the interval goes from much less to much more, so that its ends say nothing."""
        if self.low is None or self.high is None:
            return False
        return self.low <= 0 <= self.high and 1 + self.high >= _WIDE * (1 + self.low)

    @property
    def share_text(self) -> str:
        return "-" if self.share is None else f"{self.share:+.1%}"

    @property
    def interval_text(self) -> str:
        if self.low is None or self.high is None:
            return self.why_not
        if self.is_too_wide:
            return TOO_WIDE
        return f"{self.low:+.1%} to {self.high:+.1%}"

    @property
    def text(self) -> str:
        return f"{self.share_text} ({self.interval_text})"


class Difference(Change, frozen=True):
    metric: Metric


class Comparison(Struct, frozen=True):
    differences: tuple[Difference, ...]  # Each metric that was compared
    # The ids of the metrics that the user chose, which the verdict is about; empty for all.
    asked: frozenset[str]
    why_not: str  # Why no verdict is possible, as a sentence; empty if one is

    @property
    def spoken(self) -> tuple[Difference, ...]:
        """The differences that the verdict is about."""
        return tuple(
            each for each in self.differences if not self.asked or each.metric.id in self.asked
        )

    @property
    def verdict(self) -> Verdict:
        found = {each.verdict for each in self.spoken}
        if {Verdict.FASTER, Verdict.SLOWER} <= found:
            return Verdict.MIXED
        for verdict in (Verdict.FASTER, Verdict.SLOWER):
            if verdict in found:
                return verdict
        # Each metric that was asked for has to be known; of the default ones, P99.9 often is not.
        is_open = Verdict.CANNOT_TELL in found and (self.asked or len(found) == 1)
        return Verdict.CANNOT_TELL if is_open else Verdict.NO_EVIDENCE

    def sentence(self, before: str, after: str) -> str:
        """Return the verdict in words, given what the captures are called."""
        verdict = self.verdict
        if verdict in (Verdict.NO_EVIDENCE, Verdict.CANNOT_TELL):
            is_open = verdict is Verdict.CANNOT_TELL
            said = "It cannot be told whether" if is_open else "There is no evidence that"
            by = f" by {_listed(self.spoken)}" if self.asked else ""
            numbers = f"{_change_text(self.spoken[0])}.{f' {self.why_not}' if self.why_not else ''}"
            return f"{said} “{after}” is faster or slower than “{before}”{by}: {numbers}"
        parts = []
        for of in (Verdict.FASTER, Verdict.SLOWER):
            found = [each for each in self.spoken if each.verdict is of]
            if found:
                also = f", also by {_listed(found[1:])}" if found[1:] else ""
                parts.append(f"{of.value} than “{before}”: {_change_text(found[0])}{also}")
        return f"“{after}” is {'; it is '.join(parts)}."


def _listed(differences: Iterable[Difference]) -> str:
    names = [each.metric.full_name for each in differences]
    return listed(names, len(names))


def _change_text(of: Difference) -> str:
    values = " → ".join("-" if each is None else f"{each:.2f}" for each in (of.before, of.after))
    name = "" if of.metric.id == COMPARED[0] else f"{of.metric.name} "
    return f"{name}{values} {of.metric.unit}, {of.text}"


def is_comparable(metric: Metric) -> bool:
    """Return whether intervals can be given for a metric of frame times alone.

    A single frame, the longest or shortest, has none: the next capture may have any other.
    """
    is_single = metric.id.rpartition(".")[2] in {"min", "max"}
    is_alone = not (metric.needs_refresh or metric.needs)
    return is_alone and not is_single and metric.unit in {"fps", "ms", "%"}


def comparison(  # noqa: PLR0913 - as many things make a comparison
    before: Sequence[TimeSeries],
    after: Sequence[TimeSeries],
    asked: Collection[str] = (),
    seed: int = 1,
    on_progress: Callable[[float], None] = lambda _done: None,
    *,
    pairs: int = 1,
    stutter: StutterLimits | None = None,
) -> Comparison:
    """Compare runs of at least one frame each with the runs before.

    The verdict is about the metrics asked for, by default all of :data:`COMPARED`. The same seed
    gives the same intervals. ``on_progress`` is called with the share that is done; if it raises,
    the comparison ends. ``pairs`` comparisons are interpreted together. With limits, the share of
    stuttering and of slow frames is compared, too.
    """
    by_id = {each.id: each for each in METRICS}
    are_samples = any(each.sampled_ms is not None for each in (*before, *after))
    compared = COMPARED_OF_SAMPLES if are_samples else COMPARED
    further = _STUTTERING if stutter and not are_samples else ()
    metrics = [by_id[each] for each in dict.fromkeys((*compared, *further, *asked))]

    runs = [each.times_ms for each in (*before, *after)]
    # The places of times among all times are resampled: small integers are sorted sooner.
    times_ms, found = np.unique(np.concatenate(runs), return_inverse=True)
    small = found.astype(np.min_scalar_type(len(times_ms)))
    # By radix, which numpy does with up to 16 bits.
    kind: Literal["stable"] | None = "stable" if small.dtype.itemsize <= 2 else None  # noqa: PLR2004

    def values_of(places: _Resampled) -> list[float | None]:
        # take() is twice as fast as an index with small integers.
        series = TimeSeries(times_ms.take(places), stutter=stutter or USUAL_STUTTER)
        series.ordered_ms = times_ms.take(np.sort(places, kind=kind))
        return [
            None if are_samples and metric.is_of_every_frame else metric.compute(series)
            for metric in metrics
        ]

    places = np.split(small, np.cumsum([*map(len, runs)])[:-1])
    sides = places[: len(before)], places[len(before) :]
    pair = _pair(*sides, values_of, seed, on_progress)
    tests = [len(set(asked)) if each.id in asked else len(metrics) for each in metrics]
    low, high = pair.intervals(pairs * np.array(tests))
    differences = tuple(
        Difference(**change, is_more_better=metric.unit == "fps", metric=metric)
        for metric, change in zip(metrics, pair.changes(low, high), strict=True)
    )
    return Comparison(differences, frozenset(asked), pair.why_not)


def sample_changes(
    before: Sequence[Samples],
    after: Sequence[Samples],
    values_of: Callable[[Samples], Sequence[float | None]],
    *,
    is_more_better: Sequence[bool | None],
    tests: int = 1,
) -> list[Change]:
    """Return how statistics of some samples, in the order of time, have changed.

    Samples of a run have the shape (n,), or (n, m) with further values for each. ``values_of``
    returns the statistics of at least one sample; whether more of each is better may be ``None``.
    ``tests`` is how many statistics are interpreted together.
    """
    if not all(map(len, (*before, *after))):
        joined = map(np.concatenate, (before, after))
        sides = [values_of(each) if len(each) else [None] * len(is_more_better) for each in joined]
        return [
            Change(former, now, None, None, None, "undefined", each)
            for former, now, each in zip(*sides, is_more_better, strict=True)
        ]
    pair = _pair(before, after, values_of)
    changes = pair.changes(*pair.intervals(np.full(len(is_more_better), tests)))
    return [
        Change(**change, is_more_better=each)
        for change, each in zip(changes, is_more_better, strict=True)
    ]


def correlation_length(samples: _Resampled) -> float:
    """Return the number of samples that are worth one independent one, at least 1.

    ``1 + 2 Σ λ(k / 2m) ρ(k)``, with the flat-top window λ (Politis & Romano 1995). ρ are the
    autocorrelations of ranks, because with values a few long frames would hide how the others
    depend on each other; m is the lag from which they are insignificant (Politis & White 2004).
    """
    count = len(samples)
    first = samples if samples.ndim == 1 else samples[:, 0]
    _, places, counts = np.unique(first, return_inverse=True, return_counts=True)
    # But for a constant, which does not matter here.
    ranks = (np.cumsum(counts) - counts / 2)[places]
    spectrum = np.fft.rfft(ranks - ranks.mean(), 1 << (2 * count - 1).bit_length())
    products = np.fft.irfft(np.abs(spectrum) ** 2)[: count // 2 + 1]
    if products[0] <= 0:
        return 1.0
    correlations = products[1:] / products[0]
    is_significant = np.abs(correlations) > 2 * sqrt(log10(count) / count)
    found = np.cumsum(np.append(0, is_significant))
    is_quiet = found[_QUIET_LAGS:] == found[:-_QUIET_LAGS]
    last = max(int(is_quiet.argmax()) if is_quiet.any() else len(correlations), 1)
    lags = np.arange(1, min(2 * last, len(correlations)) + 1)
    weights = np.minimum(2 - lags / last, 1.0)
    return max(1.0, 1 + 2 * float(weights @ correlations[: len(lags)]))


class _Estimate(Struct, frozen=True, eq=False):
    """Statistics of the runs of a side, with their errors on a logarithmic scale."""

    values: Samples  # The statistics; NaN where undefined
    below: Samples  # The error downwards, scaled like a standard error
    above: Samples  # The error upwards
    freedom: float  # The degrees of freedom of the errors


class _Pair(Struct, frozen=True, eq=False):
    one: _Estimate  # Those of the first
    other: _Estimate  # Those of the second
    why_not: str  # Why no differences can be given, as a sentence; empty if they can

    def intervals(self, tests: NDArray[np.int_]) -> tuple[Samples, Samples]:
        """Return the ends of intervals that hold for ``tests`` changes together (Bonferroni)."""
        one, other = self.one, self.other
        # Of the widths, as the freedom depends on their ratio only.
        squares = [(each.below + each.above) ** 2 for each in (one, other)]
        both = squares[0] ** 2 / one.freedom + squares[1] ** 2 / other.freedom
        # Welch 1947, Satterthwaite 1946.
        freedom = np.divide(
            (squares[0] + squares[1]) ** 2,
            both,
            out=np.full(len(both), float(one.freedom + other.freedom)),
            where=both > 0,
        )
        times = _student((1 - CONFIDENCE) / tests, freedom)
        with np.errstate(divide="ignore", invalid="ignore"):
            change = np.log(other.values) - np.log(one.values)
        low: Samples = np.expm1(change - times * np.hypot(other.below, one.above))
        high: Samples = np.expm1(change + times * np.hypot(other.above, one.below))
        return low, high

    def changes(self, low: Samples, high: Samples) -> Iterator[dict[str, Any]]:
        """Yield the fields of each change, given the ends of the intervals."""
        for before, after, *ends in zip(
            *(self.one.values, self.other.values, low, high), strict=True
        ):
            # A statistic that can be below 0 has no change in percent.
            share = after / before - 1 if before > 0 and after >= 0 else np.nan
            why_not = _TOO_SHORT if self.why_not else _TOO_FEW
            why_not = "" if np.isfinite(ends).all() else "undefined" if np.isnan(share) else why_not
            known = (before, after, share, *((np.nan, np.nan) if why_not else ends))
            found = [float(each) if np.isfinite(each) else None for each in known]
            yield dict(zip(_FIELDS, (*found, why_not), strict=True))


def _pair(
    before: Sequence[_Resampled],
    after: Sequence[_Resampled],
    values_of: Callable[[_Resampled], Sequence[float | None]],
    seed: int = 1,
    on_progress: Callable[[float], None] = lambda _done: None,
) -> _Pair:
    sides = (before, after)
    length, why_not = 1.0, ""
    is_of_versions = min(map(len, sides)) > 1
    if min(map(len, (*before, *after))) < LEAST_SAMPLES:
        why_not = f"At least {LEAST_SAMPLES} frames of each are needed."
    else:
        length = max(map(correlation_length, (*before, *after)))
        fewest = min(sum(map(len, side)) for side in sides)
        # Several runs are independent of each other, so the length of one does not matter.
        if not is_of_versions and fewest < _LEAST_LENGTHS * length:
            why_not = (
                f"Frames depend on each other over about {length:,.0f} frames, so at least "
                f"{ceil(_LEAST_LENGTHS * length):,} of each are needed."
            )
    found = []
    for number, runs in enumerate(sides):
        if why_not:
            values = np.array(values_of(np.concatenate(runs)), dtype=np.float64)
            unknown = np.full(len(values), np.nan)
            found.append(_Estimate(values, unknown, unknown, 1.0))
            continue

        def report_progress(done: float, number: int = number) -> None:
            on_progress((number + done) / 2)

        random = np.random.default_rng((seed, number))
        estimate = _within(runs, length, values_of, random, report_progress)
        found.append(_between(runs, estimate, values_of) if is_of_versions else estimate)
    one, other = found
    return _Pair(one, other, why_not)


def _within(
    runs: Sequence[_Resampled],
    length: float,
    values_of: Callable[[_Resampled], Sequence[float | None]],
    random: np.random.Generator,
    on_progress: Callable[[float], None],
) -> _Estimate:
    """Return how far statistics of these runs may be off, by resampling blocks of each.

    Samples are in the order of time, and depend on each other over ``length`` of them.
    """
    total = sum(map(len, runs))
    size = ceil(max(_LENGTHS_OF_BLOCK * length, min(total, _MOST_RESAMPLED) / _MOST_BLOCKS))
    blocks = [np.array_split(samples, max(len(samples) // size, 2)) for samples in runs]
    count, longest = sum(map(len, blocks)), len(blocks[0][0])
    # Of long captures only some of the blocks are drawn, to save time.
    share = min(1.0, max(_MOST_RESAMPLED // max(longest, 1), _FEWEST_DRAWN) / count)
    drawn = [max(round(share * len(each)), 1) for each in blocks]
    values = np.array(values_of(np.concatenate(runs)), dtype=np.float64)
    draws = np.empty((_RESAMPLES, len(values)))
    of_runs = list(accumulate(map(len, blocks), initial=0))
    begins, sizes = np.repeat(of_runs[:-1], drawn), np.repeat([*map(len, blocks)], drawn)
    every = [*chain.from_iterable(blocks)]
    chosen = random.integers(begins, begins + sizes, (_RESAMPLES, len(sizes))).tolist()
    for place, places in enumerate(chosen):
        on_progress(place / _RESAMPLES)
        draws[place] = values_of(np.concatenate([every[each] for each in places]))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs, draws = np.log(values), np.log(draws)
    draws[:, ~np.isfinite(draws).all(axis=0)] = np.nan
    low, high = np.quantile(draws, [_NORMAL.cdf(-_READ_AT), _NORMAL.cdf(_READ_AT)], axis=0)
    freedom = count - len(runs)
    lost = max(1 - length / (2 * longest), 0.5)
    # Corrects the spread: drawing only some blocks increases it, having few blocks reduces it.
    scale = sqrt(sum(drawn) / lost / freedom) / _READ_AT
    below, above = np.maximum(logs - low, 0) * scale, np.maximum(high - logs, 0) * scale
    return _Estimate(values, below, above, freedom)


def _between(
    runs: Sequence[_Resampled],
    within: _Estimate,
    values_of: Callable[[_Resampled], Sequence[float | None]],
) -> _Estimate:
    """Return how far statistics may be off for a version, by leaving out each run in turn."""
    count, lengths = len(runs), np.array([len(each) for each in runs])
    rests = [np.concatenate([*runs[:place], *runs[place + 1 :]]) for place in range(count)]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.array([values_of(each) for each in rests], dtype=np.float64))
        spread = np.sqrt((count - 1) * logs.var(axis=0))
    # The number of runs of equal length that would be as informative (Kish 1965).
    alike = float(lengths.sum() ** 2 / (lengths**2).sum())
    below, above = np.maximum(within.below, spread), np.maximum(within.above, spread)
    return _Estimate(within.values, below, above, max(alike - 1, 1.0))


def _student(levels: Samples, freedom: Samples) -> Samples:
    """Return quantiles of Student's distribution: half of each level is beyond them.

    With t = √ν / tan θ, the share beyond t is the integral of sin(θ) to the power of ν - 1.
    """
    angles = np.linspace(0, pi / 2, _ANGLES)
    found = []
    for level, degrees in zip(levels.tolist(), freedom.tolist(), strict=True):
        heights = np.sin(angles) ** (degrees - 1)
        beyond = np.append(0, np.cumsum(heights[1:] + heights[:-1]))
        angle = np.interp(level, beyond / beyond[-1], angles)
        found.append(sqrt(degrees) / np.tan(angle))
    return np.array(found)
