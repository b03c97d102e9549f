"""Evenness of frame times: stutter, deviation, thresholds, hitches and jank.

Every formula names its source. Times are in milliseconds.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.statistics import frame_statistics
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.analysis.statistics.time_series import TimeSeries
from inspector.timebase import NS_PER_MS, NS_PER_SECOND

#: Edges in milliseconds of the classes of change from frame to frame: CapFrameX.
VARIANCE_EDGES_MS: Final = (2.0, 4.0, 8.0, 12.0)
#: Frames per second below which frames are counted: CapFrameX.
THRESHOLD_RATES: Final = (10, 15, 30, 45, 60, 75, 90, 120, 144, 240)
#: A frame is janky if it takes longer than this many times the expected time: Android's JankStats.
JANK_FACTOR: Final = 2.0
#: A frame is frozen if it takes longer, up to :data:`NOT_RESPONDING_MS`: Android vitals.
FROZEN_MS: Final = 700.0
#: A frame is slow if it takes longer and is not frozen: Android vitals.
SLOW_MS: Final = 16.0
#: An application does not respond if a frame takes longer: Android vitals.
NOT_RESPONDING_MS: Final = 5_000.0

_MS_PER_SECOND: Final = 1000.0
_WINDOW_MS: Final = 500.0
_OUTLIER: Final = 3.0
#: Frames that are processed at once.
_BLOCK: Final = 1 << 13


def trailing_mean(series: TimeSeries) -> NDArray[np.float64]:
    """Return for each frame the mean of the last ``w`` frame times up to it.

    ``w = round(10 sqrt(mean))``; a time over three times that of its predecessor counts as the
    predecessor's, so that a spike does not hide the next one. The first means are of as many
    frames as there are. CapFrameX, ``FrametimeStatisticProvider``.
    """
    times = series.times_ms
    calm = times.copy()
    jumps = np.flatnonzero(times[1:] > _OUTLIER * times[:-1]) + 1
    calm[jumps] = times[jumps - 1]
    window = max(1, round(10 * sqrt(series.mean_ms)))
    sums = np.cumsum(calm)
    means = sums / np.arange(1, len(times) + 1)
    means[window:] = (sums[window:] - sums[:-window]) / window
    return means


def _is_steady(series: TimeSeries) -> NDArray[np.bool_]:
    return series.times_ms <= series.stutter.factor * trailing_mean(series)


def stuttering_time_share(series: TimeSeries) -> float:
    """Return the share of time in frames over k times the trailing mean, 0 to 1.

    ``sum(f_i : f_i > k MA_i) / sum f`` (CapFrameX, "stuttering time").
    """
    times = series.times_ms
    slow = ~series.once(_is_steady)
    return float(times[slow].sum()) / series.total_ms


def low_rate_time_share(series: TimeSeries) -> float:
    """Return the share of time in frames below l fps that do not stutter, 0 to 1.

    ``sum(f_i : f_i <= k MA_i and 1000 / f_i < l) / sum f`` (CapFrameX, "low FPS time").
    """
    times = series.times_ms
    steady = series.once(_is_steady)
    return (
        float(times[steady & (times > _MS_PER_SECOND / series.stutter.low_rate)].sum())
        / series.total_ms
    )


def stuttering_count_share(series: TimeSeries) -> float:
    """Return the share of frames over k times the mean of all, 0 to 1 (CapFrameX)."""
    return float(np.mean(series.times_ms > series.stutter.factor * series.mean_ms))


def stuttering_live_share(series: TimeSeries) -> float:
    """Return the share of time in frames over k times the mean of all, 0 to 1.

    ``sum(f_i : f_i > k mean) / sum f`` (CapFrameX, the variant shown while capturing).
    """
    times = series.times_ms
    return float(times[times > series.stutter.factor * series.mean_ms].sum()) / series.total_ms


def adaptive_rate_deviation(series: TimeSeries) -> float:
    """Return the standard deviation of frame rates from a trailing mean, in frames per second.

    CapFrameX uses the window of :func:`adaptive_deviation` for rates too, so its 500 is then a sum
    of rates, not of milliseconds.
    """
    return _adaptive_deviation(_MS_PER_SECOND / series.times_ms, _WINDOW_MS)


def adaptive_deviation(series: TimeSeries) -> float:
    """Return the standard deviation from a trailing mean, in milliseconds.

    The mean is of the frames before and up to each, back until they last 500 ms;
    ``sqrt(sum (f_i - MA_i)^2 / (n - 1))`` (CapFrameX, "adaptive STDEV").
    """
    # In whole nanoseconds, whose sums are exact: frames often last 500 ms to the nanosecond.
    times_ns = np.rint(series.times_ms * NS_PER_MS)
    return _adaptive_deviation(times_ns, _WINDOW_MS * NS_PER_MS) / NS_PER_MS


def _adaptive_deviation(times: NDArray[np.float64], window: float) -> float:
    count = len(times)
    if count < 2:  # noqa: PLR2004 - a deviation needs two
        return 0.0
    sums = np.concatenate(([0.0], np.cumsum(times)))
    squares, low = 0.0, 0
    # In blocks that fit into the processor's cache, which takes half the time.
    for start in range(0, count, _BLOCK):
        stop = min(start + _BLOCK, count)
        ends, until = np.arange(start + 1, stop + 1), sums[start + 1 : stop + 1]
        # For each frame, the last beginning from which the frames up to it last at least 500 ms.
        # Merging the two ascending rows takes a fifth of the time of a lookup for each.
        candidates = sums[low:stop]
        merged = np.argsort(np.concatenate((candidates, until - window)), kind="stable")
        places = np.flatnonzero(merged >= len(candidates))
        begins = np.maximum(places - np.arange(stop - start) - 1 + low, 0)
        low = int(begins[-1])
        deviations = times[start:stop] - (until - sums[begins]) / (ends - begins)
        squares += float(deviations @ deviations)
    return sqrt(squares / (count - 1))


def variance_shares(series: TimeSeries) -> tuple[float, ...]:
    """Return the shares of changes from frame to frame below 2, 4, 8, 12 and from 12 ms on.

    ``|f_i - f_(i-1)|`` in half-open classes (CapFrameX, "variances"); zeros for one frame.
    """
    changes = np.abs(np.diff(series.times_ms))
    if not len(changes):
        return (0.0,) * (len(VARIANCE_EDGES_MS) + 1)
    below = [0, *(int((changes < edge).sum()) for edge in VARIANCE_EDGES_MS), len(changes)]
    return tuple((upper - lower) / len(changes) for lower, upper in pairwise(below))


def below_rate(series: TimeSeries, rate: float) -> tuple[int, float]:
    """Return how many frames are slower than ``rate`` frames per second, and their time in ms.

    Frame times are whole nanoseconds: one of 16.666667 ms is not below 60 frames per second.
    """
    ordered = series.ordered_ms
    longest_ms = ceil(NS_PER_SECOND / rate) / NS_PER_MS
    first = int(np.searchsorted(ordered, longest_ms, side="right"))
    return len(ordered) - first, float(ordered[first:].sum())


def hitch_time_ratio(series: TimeSeries, refresh_ms: float) -> float:
    """Return the time by which frames are late, in ms per second.

    ``1000 sum(max(0, f_i - T)) / sum f`` for a refresh interval T; up to 5 is good, over 10
    critical (Apple, Tech Talk 10855).
    """
    late = np.maximum(series.times_ms - refresh_ms, 0.0).sum()
    return _MS_PER_SECOND * float(late) / series.total_ms


def jank_count(series: TimeSeries, expected_ms: float, factor: float = JANK_FACTOR) -> int:
    """Return how many frames took over ``factor`` times what is expected.

    Android's JankStats by default; with a factor of 1, Flutter's "janky" frames.
    """
    return _longer(series, factor * expected_ms)


def missed_refreshes(series: TimeSeries, refresh_ms: float) -> int:
    """Return how many refreshes showed no new frame, by the frame times."""
    times_ns = np.rint(series.times_ms * NS_PER_MS).astype(np.int64)
    return frame_statistics.missed_refreshes(times_ns, FrameBudget.of_ms(refresh_ms))


def missed_displays(series: TimeSeries, refresh_ms: float) -> int | None:
    """Return how many refreshes showed no new frame, by the times of display.

    ``sum(max(0, round(d_i / T) - 1))`` for the time d between displayed frames.
    """
    displayed = _known(series.facts.displayed_ms)
    if displayed is None:
        return None
    return int(np.maximum(np.rint(displayed / refresh_ms) - 1, 0).sum())


def missed_share(series: TimeSeries, refresh_ms: float) -> float:
    """Return the share of refreshes without a new frame, 0 to 1: missed over n + missed."""
    missed = missed_refreshes(series, refresh_ms)
    return missed / (len(series) + missed)


def animation_error(series: TimeSeries) -> float | None:
    """Return the mean absolute animation error of the displayed frames, in milliseconds.

    ``mean |simulation step - display step|`` (PresentMon, "AnimationErrorPerFrame").
    """
    errors = _known(series.facts.animation_error_ms)
    return None if errors is None else float(np.abs(errors).mean())


def animation_error_rate(series: TimeSeries) -> float | None:
    """Return the animation error per second, in ms/s: the sum of |error| over the duration."""
    errors = _known(series.facts.animation_error_ms)
    return (
        None if errors is None else _MS_PER_SECOND * float(np.abs(errors).sum()) / series.total_ms
    )


def _known(values: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Return the values that are numbers, ``None`` if there is none."""
    known = None if values is None else values[~np.isnan(values)]
    return known if known is not None and len(known) else None


def caused_count(series: TimeSeries, cause: int) -> int | None:
    """Return how many long frames have a cause; ``None`` if causes were not measured."""
    causes = series.facts.causes
    return None if causes is None else int(np.count_nonzero(causes == cause))


def slow_count(series: TimeSeries, longest_ms: float, least_ms: float = 0.0) -> int:
    """Return how many frames take longer than ``least_ms`` and no longer than ``longest_ms``.

    The classes of Android vitals: slow, frozen, not responding.
    """
    return _longer(series, least_ms) - _longer(series, longest_ms)


def _longer(series: TimeSeries, limit_ms: float) -> int:
    ordered = series.ordered_ms
    return len(ordered) - int(np.searchsorted(ordered, limit_ms, side="right"))
