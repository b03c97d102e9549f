from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.formats.drawing.ticks import (
    Ticks,
    count_ticks,
    duration_ticks,
    instant_ticks,
)
from inspector.timebase import NS_PER_MS, NS_PER_SECOND

S = NS_PER_SECOND


def labels(ticks: Ticks) -> list[str]:
    return [tick.label for tick in ticks.ticks]


def test_that_durations_have_round_ticks_from_zero_in_a_unit_that_fits() -> None:
    axis = duration_ticks(36 * NS_PER_MS, 4)
    assert (labels(axis), axis.unit) == (["0", "10", "20", "30"], "ms")
    axis = duration_ticks(42_000, 4)
    assert (labels(axis), axis.unit) == (["0", "20", "40"], "µs")
    axis = duration_ticks(15 * S, 3)
    assert (labels(axis), axis.unit) == (["0", "5", "10", "15"], "s")


def test_that_short_ranges_of_time_have_decimals() -> None:
    axis = instant_ticks(1.0 * S, 1.5 * S, 5)
    assert (labels(axis), axis.unit) == (["1.0", "1.1", "1.2", "1.3", "1.4", "1.5"], "s")


@pytest.mark.parametrize(
    ("low_s", "high_s", "found"),
    [(3.1, 6.6, ["4", "6"]), (200.5, 205.9, ["3:22", "3:24"])],
)
def test_that_a_narrow_axis_of_time_has_two_ticks_to_read_a_length_by(
    low_s: float, high_s: float, found: list[str]
) -> None:
    assert labels(instant_ticks(low_s * S, high_s * S, 2)) == found


def test_that_long_ranges_of_time_are_in_minutes_or_hours() -> None:
    axis = instant_ticks(0, 600 * S, 6)
    assert labels(axis) == ["0:00", "2:00", "4:00", "6:00", "8:00", "10:00"]
    assert axis.unit == "min:s"
    axis = instant_ticks(0, 7_200 * S, 4)
    assert labels(axis) == ["0:00:00", "0:30:00", "1:00:00", "1:30:00", "2:00:00"]
    assert axis.unit == "h:min:s"


def test_that_a_short_range_late_in_a_session_tells_its_ticks_apart() -> None:
    axis = instant_ticks(3_600 * S, 3_600.5 * S, 5)
    assert labels(axis)[:2] == ["1:00:00.0", "1:00:00.1"]


def test_that_frame_numbers_are_whole() -> None:
    assert [tick.label for tick in count_ticks(0, 3, 8)] == ["0", "1", "2", "3"]


def test_that_thousands_are_grouped_as_everywhere() -> None:
    assert [tick.label for tick in count_ticks(0, 20_000, 2)] == ["0", "10,000", "20,000"]
    assert labels(duration_ticks(6 * S, 3)) == ["0", "2,000", "4,000", "6,000"]


@given(
    high_ns=st.floats(min_value=1, max_value=1e15),
    count=st.integers(min_value=2, max_value=20),
)
def test_that_duration_ticks_are_few_even_distinct_and_within_the_axis(
    high_ns: float, count: int
) -> None:
    ticks = duration_ticks(high_ns, count).ticks
    values = [tick.value_ns for tick in ticks]
    assert values[0] == 0
    assert values[-1] <= high_ns * (1 + 1e-5)
    assert 2 <= len(ticks) <= count + 2
    steps = [later - earlier for earlier, later in pairwise(values)]
    assert steps == pytest.approx([steps[0]] * len(steps))
    assert len({tick.label for tick in ticks}) == len(ticks)


@given(
    low_ns=st.integers(min_value=0, max_value=10**15),
    span_ns=st.integers(min_value=1_000, max_value=10**15),
    count=st.integers(min_value=2, max_value=12),
)
def test_that_instant_ticks_are_few_distinct_and_within_the_axis(
    low_ns: int, span_ns: int, count: int
) -> None:
    high_ns = low_ns + span_ns
    ticks = instant_ticks(low_ns, high_ns, count).ticks
    slack = span_ns * 1e-4 + high_ns * 1e-12
    assert all(low_ns - slack <= tick.value_ns <= high_ns + slack for tick in ticks)
    assert 2 <= len(ticks) <= count + 3
    assert len({tick.label for tick in ticks}) == len(ticks)
