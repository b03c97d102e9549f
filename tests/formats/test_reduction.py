import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.formats.frame_graph.frame_plot import columns_of, kept_extremes, kept_maxima

values = st.lists(st.integers(min_value=0, max_value=10**12), min_size=1, max_size=300)
counts = st.integers(min_value=1, max_value=40)


@given(values=values, count=counts)
def test_that_every_column_keeps_its_highest_and_lowest_value(
    values: list[int], count: int
) -> None:
    times = np.array(values, dtype=np.int64)
    columns = columns_of(np.arange(len(values)), 0, len(values), count)
    kept = kept_extremes(times, columns)
    for column in np.unique(columns):
        inside = times[columns == column]
        shown = times[kept[columns[kept] == column]]
        assert shown.max() == inside.max()
        assert shown.min() == inside.min()
        assert len(shown) <= 2
    assert (np.diff(kept) > 0).all()


@given(values=values, count=counts)
def test_that_of_equal_maxima_the_first_is_kept(values: list[int], count: int) -> None:
    times = np.array(values, dtype=np.int64)
    columns = columns_of(np.arange(len(values)), 0, len(values), count)
    for position in kept_maxima(times, columns):
        same = np.flatnonzero(columns == columns[position])
        assert position == same[np.argmax(times[same])]


@given(count=counts)
def test_that_the_newest_frame_is_in_the_last_column(count: int) -> None:
    at_ns = np.array([0, 5, 10], dtype=np.int64)
    assert columns_of(at_ns, 0, 10, count)[-1] == count - 1


def test_that_a_range_without_length_is_one_column() -> None:
    assert columns_of(np.array([7, 7]), 7, 7, 10).tolist() == [0, 0]


def test_that_nothing_keeps_nothing() -> None:
    assert len(kept_extremes(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))) == 0
