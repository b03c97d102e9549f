"""Statistics of frame times follow the definitions they name."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.analysis.statistics.frame_statistics import (
    frame_statistics,
    missed_refreshes,
    nearest_rank,
    over_budget,
    percentile_frame_time_ns,
)
from inspector.analysis.statistics.time_series import StutterLimits

TIMES = st.lists(st.integers(0, 10**12), min_size=1, max_size=300)
PERCENTS = st.sampled_from([0.0, 1.0, 50.0, 95.0, 99.0, 99.9, 100.0])
MS = 1_000_000


@given(TIMES, PERCENTS)
def test_that_a_percentile_is_a_time_that_so_many_frames_do_not_exceed(
    times: list[int], percent: float
) -> None:
    value = percentile_frame_time_ns(np.array(times), percent)

    share = Fraction(str(percent)) / 100
    assert value in times
    assert Fraction(sum(time <= value for time in times), len(times)) >= share
    assert Fraction(sum(time < value for time in times), len(times)) < share or percent == 0


def test_that_ranks_are_not_moved_by_rounding() -> None:
    assert nearest_rank(1_000, 99.9) == 998
    assert nearest_rank(1_001, 99.9) == 999
    assert nearest_rank(10, 0) == 0
    assert nearest_rank(10, 100) == 9


@pytest.mark.parametrize("percent", [-0.1, 100.1, float("nan")])
def test_that_a_percentile_outside_0_to_100_is_refused_by_name(percent: float) -> None:
    with pytest.raises(ValueError, match=str(percent)):
        percentile_frame_time_ns(np.array([1]), percent)


def test_that_no_frames_have_no_percentile_and_no_statistics() -> None:
    nothing = np.zeros(0, dtype=np.int64)

    with pytest.raises(ValueError, match="no frames"):
        percentile_frame_time_ns(nothing, 50)
    assert frame_statistics(nothing) is None


@given(TIMES)
def test_that_statistics_agree_with_their_definitions(times: list[int]) -> None:
    column = np.array(times)

    found = frame_statistics(column, [10**9])

    assert found is not None
    assert found.count == len(times)
    assert found.total_ns == sum(times)
    assert found.mean_ns == round(Fraction(sum(times), len(times)))
    assert (found.min_ns, found.max_ns) == (min(times), max(times))
    assert found.median_ns == percentile_frame_time_ns(column, 50)
    assert found.p95_ns == percentile_frame_time_ns(column, 95)
    assert found.p99_ns == percentile_frame_time_ns(column, 99)
    assert found.p999_ns == percentile_frame_time_ns(column, 99.9)
    (over,) = found.over_budgets
    assert over.count == sum(time > 1_150_000_000 for time in times)
    assert over.share == over.count / len(times)
    assert over.missed == missed_refreshes(column, FrameBudget(10**9))


def test_that_the_average_rate_is_frames_over_time_and_not_the_mean_of_rates() -> None:
    found = frame_statistics(np.array([10 * MS, 30 * MS]))

    assert found is not None
    # The mean of 100 and 33.3 frames per second would be 66.7.
    assert found.mean_rate == 50.0


def test_that_frames_of_no_time_have_no_rate() -> None:
    found = frame_statistics(np.array([0, 0]))

    assert found is not None
    assert found.mean_rate == 0.0


def test_that_a_frame_is_over_budget_only_beyond_fifteen_per_cent() -> None:
    found = frame_statistics(np.array([20 * MS, 23 * MS, 23 * MS + 1]), [20 * MS])

    assert found is not None
    assert FrameBudget(20 * MS).longest_ns == 23 * MS
    assert found.over_budgets[0].count == 1


def test_that_a_short_budget_tolerates_a_millisecond() -> None:
    budget = FrameBudget(2 * MS)

    assert over_budget(np.array([3 * MS, 3 * MS + 1]), budget).count == 1
    assert budget.limit_text == "3.00 ms"


@pytest.mark.parametrize("rate", [30, 50, 60, 72, 75, 90, 120])
def test_that_frames_held_on_a_millisecond_timer_are_not_over_their_budget(rate: int) -> None:
    budget = FrameBudget.of_rate(Fraction(rate))
    # Either end of an interval may be a millisecond late.
    worst_ns = budget.budget_ns + MS

    assert over_budget(np.array([worst_ns]), budget).count == 0
    assert over_budget(np.array([budget.budget_ns * 6 // 5 + MS]), budget).count == 1


@pytest.mark.parametrize(("rate", "lower"), [(30, 25), (60, 50), (72, 60), (120, 100), (144, 120)])
def test_that_frames_at_the_next_lower_rate_are_all_over_budget(rate: int, lower: int) -> None:
    times_ns = np.full(10, 10**9 // lower)

    assert over_budget(times_ns, FrameBudget.of_rate(Fraction(rate))).share == 1.0


@given(TIMES, st.integers(1, 10**10))
def test_that_exactly_the_frames_over_budget_miss_refreshes(
    times: list[int], budget_ns: int
) -> None:
    budget = FrameBudget(budget_ns)

    missing = sum(missed_refreshes(np.array([time]), budget) > 0 for time in times)

    assert missing == over_budget(np.array(times), budget).count


@pytest.mark.parametrize(
    ("time_ms", "missed"), [(0, 0), (20, 0), (23, 0), (24, 1), (43, 1), (44, 2), (200, 9)]
)
def test_that_missed_refreshes_count_screens_without_a_new_frame(time_ms: int, missed: int) -> None:
    assert missed_refreshes(np.array([time_ms * MS]), FrameBudget(20 * MS)) == missed


def test_that_a_budget_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="0"):
        FrameBudget(0)


def test_that_no_frames_are_over_no_budget() -> None:
    assert over_budget(np.zeros(0, dtype=np.int64), FrameBudget(1)).share == 0.0


def test_that_the_times_are_left_as_they_were() -> None:
    column = np.array([3, 1, 2])

    frame_statistics(column, [1])
    percentile_frame_time_ns(column, 50)

    assert column.tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    ("interval_ms", "inspector_ms", "is_by_inspector"),
    [(30, 15, True), (30, 7, True), (30, 6, False), (16, 10, False), (23, 5, False)],
)
def test_that_a_frame_is_the_inspectors_if_it_would_be_within_budget_without_it(
    interval_ms: int, inspector_ms: int, *, is_by_inspector: bool
) -> None:
    budget = FrameBudget.of_ms(20)

    assert budget.is_over_because_of(interval_ms * MS, inspector_ms * MS) is is_by_inspector
    arrays = (np.array([each * MS], dtype=np.int64) for each in (interval_ms, inspector_ms))
    assert budget.is_over_because_of(*arrays).tolist() == [is_by_inspector]


def test_that_limits_of_stuttering_are_refused_where_they_say_nothing() -> None:
    for factor, rate in ((1.01, 0.5), (100.0, 10_000.0)):
        assert StutterLimits(factor, rate).low_rate == rate
    for factor, rate in ((1.0, 25.0), (100.1, 25.0), (2.5, 0.0), (2.5, 10_001.0)):
        with pytest.raises(ValueError, match="up to"):
            StutterLimits(factor, rate)
