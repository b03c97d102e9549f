"""Statistics of frame times follow the definitions they name."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.frame_statistics import (
    frame_statistics,
    longest_in_budget_ns,
    missed_refreshes,
    nearest_rank,
    percentile_frame_time_ns,
)

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
    assert over.count == sum(time > 1_050_000_000 for time in times)
    assert over.share == over.count / len(times)
    assert over.missed == missed_refreshes(column, 10**9)


def test_that_the_average_rate_is_frames_over_time_and_not_the_mean_of_rates() -> None:
    found = frame_statistics(np.array([10 * MS, 30 * MS]))

    assert found is not None
    # The mean of 100 and 33.3 frames per second would be 66.7.
    assert found.mean_rate == 50.0


def test_that_frames_of_no_time_have_no_rate() -> None:
    found = frame_statistics(np.array([0, 0]))

    assert found is not None
    assert found.mean_rate == 0.0


def test_that_a_frame_is_over_budget_only_beyond_five_per_cent() -> None:
    found = frame_statistics(np.array([20 * MS, 21 * MS, 21 * MS + 1]), [20 * MS])

    assert found is not None
    assert longest_in_budget_ns(20 * MS) == 21 * MS
    assert found.over_budgets[0].count == 1


@pytest.mark.parametrize(
    ("time_ms", "missed"), [(0, 0), (20, 0), (21, 0), (22, 1), (41, 1), (42, 2), (200, 9)]
)
def test_that_missed_refreshes_count_screens_without_a_new_frame(time_ms: int, missed: int) -> None:
    assert missed_refreshes(np.array([time_ms * MS]), 20 * MS) == missed


def test_that_a_budget_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="0"):
        missed_refreshes(np.array([1]), 0)


def test_that_the_times_are_left_as_they_were() -> None:
    column = np.array([3, 1, 2])

    frame_statistics(column, [1])
    percentile_frame_time_ns(column, 50)

    assert column.tolist() == [3, 1, 2]
