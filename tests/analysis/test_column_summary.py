"""Columns in numbers: as a whole, and by class of frame time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.statistics.column_summary import classes_of, lasting_ns, mean_of, summary_of

TIMES = st.lists(st.integers(0, 40), min_size=1, max_size=200)


@given(TIMES)
def test_that_each_frame_is_in_one_class_and_longer_frames_are_in_later_classes(
    times: list[int],
) -> None:
    classes = dict(classes_of(np.array(times)))

    assert list(classes) == ["up to P50", "P50 to P95", "P95 to P99", "above P99"]
    assert np.sum([*classes.values()], axis=0).tolist() == [1] * len(times)
    longest = -1
    for within in classes.values():
        found = np.array(times)[within]
        if len(found):
            assert found.min() > longest
            longest = found.max()
    # As many as the percentile says, and those that are as long as the last of them.
    limit = sorted(times)[-(-len(times) * 50 // 100) - 1]
    assert classes["up to P50"].sum() == sum(each <= limit for each in times)


def test_that_values_of_frames_last_as_long_as_the_frames_and_samples_since_the_last() -> None:
    at_ns, interval_ns = np.array([100, 130, 190]), np.array([7, 8, 9])

    assert lasting_ns(at_ns, interval_ns, are_samples=False).tolist() == [7, 8, 9]
    assert lasting_ns(at_ns, interval_ns, are_samples=True).tolist() == [30, 30, 60]
    assert lasting_ns(at_ns[:1], interval_ns[:1], are_samples=True).tolist() == [0]
    assert lasting_ns(at_ns[:0], interval_ns[:0], are_samples=True).tolist() == []


@pytest.mark.parametrize(
    ("unit", "are_frames", "mean", "frames_per_joule"),
    [
        ("%", True, 25.0, None),
        ("W", True, 25.0, 4 / (25.0 * 8)),
        ("mW", True, 25.0, 4 / (0.025 * 8)),
        ("W", False, 25.0, None),
        ("ms", True, 20.0, None),
    ],
)
def test_that_a_mean_is_weighted_by_how_long_values_last_unless_they_are_durations(
    unit: str, *, are_frames: bool, mean: float, frames_per_joule: float | None
) -> None:
    values = np.array([10.0, np.nan, 20.0, 20.0, 30.0])
    lasts_ns = np.array([1, 7, 1, 1, 5]) * 1_000_000_000

    found = summary_of("x", unit, values, lasts_ns, are_frames=are_frames)

    assert found is not None
    assert (found.count, found.mean, found.is_weighted) == (4, mean, unit != "ms")
    assert (found.least, found.median, found.most) == (10.0, 20.0, 30.0)
    assert found.frames_per_joule == frames_per_joule
    assert sum(each.count for each in found.classes) == (4 if are_frames else 0)
    assert [each.name for each in found.classes] == ["up to P50", "P50 to P95"] * are_frames


def test_that_weights_are_shares_however_small_they_are() -> None:
    assert mean_of(np.array([1.0, 3.0]), np.array([0.1, 0.3])) == pytest.approx(2.5)
    assert mean_of(np.array([1.0, 3.0]), np.zeros(2)) == 2


def test_that_nothing_is_no_summary_and_no_time_no_weight() -> None:
    nothing, no_time = np.array([np.nan]), np.array([0])

    assert summary_of("x", "W", nothing, no_time) is None
    found = summary_of("x", "W", np.array([5.0]), no_time)
    assert found is not None
    assert (found.mean, found.is_weighted, found.frames_per_joule) == (5.0, False, None)
