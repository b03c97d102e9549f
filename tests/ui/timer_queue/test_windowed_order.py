"""The order of rows that is sorted only where it is looked at."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.timer_queue.windowed_order import WindowedOrder

_KEYS = st.one_of(st.integers(0, 5), st.integers(-(2**62), 2**62), st.just(2**63 - 1))


@given(
    keys=st.lists(_KEYS, max_size=600),
    looks=st.lists(st.tuples(st.integers(0, 700), st.integers(0, 60)), max_size=5),
    seed=st.integers(0, 100),
)
def test_that_every_look_shows_the_rows_of_the_full_sort(
    keys: list[int], looks: list[tuple[int, int]], seed: int
) -> None:
    ids = np.random.default_rng(seed).permutation(len(keys)).astype(np.int64) + 10
    ties = np.arange(len(keys), dtype=np.int64)
    order = WindowedOrder()
    order.set_rows(ids, np.array(keys, np.int64), ties)

    expected = [int(ids[place]) for place in sorted(range(len(keys)), key=lambda i: (keys[i], i))]

    for start, length in looks:
        found = [order.id_at(row) for row in range(start, min(start + length, len(keys)))]
        assert found == expected[start : start + length]


@given(keys=st.lists(_KEYS, min_size=1, max_size=300), data=st.data())
def test_that_the_row_of_a_subject_is_where_it_is_shown(
    keys: list[int], data: st.DataObject
) -> None:
    order = WindowedOrder()
    ids = np.arange(len(keys), dtype=np.int64) * 3
    order.set_rows(ids, np.array(keys, np.int64), np.zeros(len(keys), np.int64) + ids)
    row = data.draw(st.integers(0, len(keys) - 1))

    assert order.row_of(order.id_at(row)) == row


def test_that_an_unknown_subject_has_no_row() -> None:
    order = WindowedOrder()
    order.set_rows(np.array([5]), np.array([1]), np.array([1]))

    assert order.row_of(6) is None


def test_that_a_row_beyond_the_end_is_an_error() -> None:
    order = WindowedOrder()
    order.set_rows(np.array([5]), np.array([1]), np.array([1]))

    with pytest.raises(IndexError, match="no row 1 among 1"):
        order.id_at(1)
