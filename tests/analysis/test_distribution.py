"""The distribution of frame times that keep coming: exact, however they come."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.statistics.distribution import Distribution
from inspector.analysis.statistics.frame_statistics import percentile_frame_time_ns
from inspector.analysis.statistics.time_series import quantile_8

TIMES = st.lists(st.integers(1, 2**45), min_size=1, max_size=60)


@given(st.lists(TIMES, min_size=1, max_size=8), st.lists(st.integers(0, 2**46), max_size=8))
def test_that_counts_are_those_of_all_values_at_once(
    parts: list[list[int]], limits: list[int]
) -> None:
    found = Distribution()
    for part in parts:
        found.extend(part)

    everything = np.array([each for part in parts for each in part])
    assert len(found) == len(everything)
    assert found.counts_below(limits).tolist() == [
        int((everything < each).sum()) for each in limits
    ]


@given(st.lists(TIMES, min_size=1, max_size=8))
def test_that_every_rank_is_the_value_at_its_place(parts: list[list[int]]) -> None:
    found = Distribution()
    for part in parts:
        found.extend(part)

    ordered = sorted(each for part in parts for each in part)
    assert found.of_ranks(range(len(ordered))).tolist() == ordered


@given(TIMES, st.sampled_from([0, 1, 50, 90, 99, 99.9, 100]))
def test_that_percentiles_are_those_of_the_statistics(times: list[int], percent: float) -> None:
    found = Distribution(times)

    expected = percentile_frame_time_ns(np.array(times), percent)
    assert found.percentiles([percent]).tolist() == [expected]


@given(TIMES, st.floats(0, 1))
def test_that_interpolated_quantiles_are_those_of_the_statistics(
    times: list[int], share: float
) -> None:
    found = Distribution(times)

    expected = quantile_8(np.sort(np.array(times, dtype=np.float64)), share)
    assert found.quantiles_8([share])[0] == pytest.approx(expected)


def test_that_bins_are_closed_at_their_lower_edge() -> None:
    found = Distribution([1, 2, 2, 3, 9])

    assert found.histogram([1, 2, 3, 4]).tolist() == [1, 2, 1]


def test_that_a_new_value_does_not_sort_the_old_ones_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = Distribution(np.arange(100_000))
    merged: list[int] = []
    concatenate = np.concatenate

    def noting(parts: object) -> object:
        whole = concatenate(parts)  # type: ignore[call-overload]
        merged.append(len(whole))
        return whole

    monkeypatch.setattr(np, "concatenate", noting)
    for number in range(1_000):
        found.extend([number])

    assert len(found) == 101_000
    assert sum(merged) < 20_000
    # Each is several times as long as the next.
    assert len(found._runs) < 8
