"""How even frames are, by the definitions worked out frame by frame."""

from __future__ import annotations

from itertools import pairwise
from math import sqrt

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from inspector.analysis.statistics import pacing
from inspector.analysis.statistics.time_series import FrameFacts, StutterLimits, TimeSeries

#: Whole and half milliseconds, so that many frames are as long as a limit, and sums are exact.
_TIMES = st.lists(
    st.one_of(
        st.integers(1, 80).map(lambda half: half / 2),
        st.sampled_from([16.0, 20.0, 40.0, 100.0, 500.0, 700.0, 5_000.0, 5_000.5]),
    ),
    min_size=1,
    max_size=60,
)
_LIMITS = st.tuples(st.sampled_from([1.5, 2.0, 2.5]), st.sampled_from([10.0, 25.0, 50.0]))


@settings(max_examples=max(40, settings().max_examples))
@given(_TIMES, _LIMITS)
# The second is as long as the limit of either mean.
@example([16.0, 48.0], (1.5, 10.0))
def test_that_stutter_and_slow_frames_are_those_of_the_definitions(
    times: list[float], limits: tuple[float, float]
) -> None:
    factor, rate = limits
    series = TimeSeries(np.array(times), stutter=StutterLimits(factor, rate))
    total, mean = sum(times), sum(times) / len(times)
    calm = [
        before if now > 3 * before else now
        for before, now in zip([times[0], *times], times, strict=False)
    ]
    window = max(1, round(10 * sqrt(mean)))
    usual = [
        float(np.mean(calm[max(0, place - window + 1) : place + 1])) for place in range(len(times))
    ]

    assert pacing.trailing_mean(series) == pytest.approx(usual)
    steady = [
        now <= factor * known
        for now, known in zip(times, pacing.trailing_mean(series), strict=True)
    ]
    slow = sum(now for now, is_steady in zip(times, steady, strict=True) if not is_steady)
    low = sum(
        now for now, is_steady in zip(times, steady, strict=True) if is_steady and now > 1000 / rate
    )
    assert pacing.stuttering_time_share(series) == pytest.approx(slow / total)
    assert pacing.low_rate_time_share(series) == pytest.approx(low / total)
    over = [now for now in times if now > factor * mean]
    assert pacing.stuttering_count_share(series) == pytest.approx(len(over) / len(times))
    assert pacing.stuttering_live_share(series) == pytest.approx(sum(over) / total)


@settings(max_examples=max(40, settings().max_examples))
@given(_TIMES)
def test_that_changes_deviations_and_limits_are_those_of_the_definitions(
    times: list[float],
) -> None:
    series = TimeSeries(np.array(times))
    total = sum(times)

    changes = [abs(now - before) for before, now in pairwise(times)]
    edges = [0.0, 2.0, 4.0, 8.0, 12.0, float("inf")]
    shares = [
        sum(low <= each < high for each in changes) / max(len(changes), 1)
        for low, high in pairwise(edges)
    ]
    assert pacing.variance_shares(series) == pytest.approx(shares)
    squares = 0.0
    for place, now in enumerate(times):
        begin = place
        while begin > 0 and sum(times[begin : place + 1]) < 500:
            begin -= 1
        squares += (now - float(np.mean(times[begin : place + 1]))) ** 2
    deviation = sqrt(squares / (len(times) - 1)) if len(times) > 1 else 0.0
    assert pacing.adaptive_deviation(series) == pytest.approx(deviation)
    for rate in (25, 50, 60):
        below = [now for now in times if now > 1000 / rate]
        count, below_ms = pacing.below_rate(series, rate)
        assert count == len(below)
        assert below_ms == pytest.approx(sum(below))
    late = sum(max(0.0, now - 16.0) for now in times)
    assert pacing.hitch_time_ratio(series, 16.0) == pytest.approx(1000 * late / total)
    assert pacing.jank_count(series, 10.0) == sum(now > 20 for now in times)
    assert pacing.jank_count(series, 16.0, 1) == sum(now > 16 for now in times)
    for longest, least in ((700, 16), (5_000, 700), (float("inf"), 5_000)):
        assert pacing.slow_count(series, longest, least) == sum(
            least < now <= longest for now in times
        )


def test_that_only_frames_of_over_three_times_the_one_before_count_as_that() -> None:
    assert pacing.trailing_mean(TimeSeries(np.array([10.0, 30.0]))).tolist() == [10.0, 20.0]
    assert pacing.trailing_mean(TimeSeries(np.array([10.0, 30.1]))).tolist() == [10.0, 10.0]


def test_that_what_was_displayed_is_counted_by_refreshes() -> None:
    displayed = np.array([np.nan, 10.0, 10.0, 14.9, 15.1, 30.0, 41.0])
    errors = np.array([np.nan, 1.0, -2.0, 0.0, 3.0, -1.0, np.nan])
    times = np.full(7, 10.0)
    series = TimeSeries(times, facts=FrameFacts(displayed_ms=displayed, animation_error_ms=errors))

    assert pacing.missed_displays(series, 10.0) == 0 + 0 + 0 + 1 + 2 + 3
    assert pacing.animation_error(series) == pytest.approx(7 / 5)
    assert pacing.animation_error_rate(series) == pytest.approx(1000 * 7 / 70)
    unknown = np.full(7, np.nan)
    for facts in (FrameFacts(), FrameFacts(displayed_ms=unknown, animation_error_ms=unknown)):
        nothing = TimeSeries(times, facts=facts)
        assert pacing.missed_displays(nothing, 10.0) is None
        assert pacing.animation_error(nothing) is None
        assert pacing.animation_error_rate(nothing) is None
    assert pacing.missed_refreshes(TimeSeries(np.array([10.0, 19.0, 31.0])), 10.0) == 3
    assert pacing.missed_share(TimeSeries(np.array([10.0, 19.0, 31.0])), 10.0) == 3 / 6
