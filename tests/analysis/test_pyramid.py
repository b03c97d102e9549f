"""The pyramid gives what reading every value gives, for any column, chunks and stretches."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.analysis.statistics.pyramid import BUCKET, Pyramid
from tests.fuzz import rounds

LOWEST = np.iinfo(np.int64).min


def pyramid_of(column: np.ndarray, chunks: list[int]) -> Pyramid:
    """Return a pyramid that took in the column in chunks of these sizes, over and over."""
    pyramid = Pyramid()
    start, turn = 0, 0
    while start < len(column):
        stop = start + max(1, chunks[turn % len(chunks)])
        pyramid.extend(column[start:stop])
        start, turn = stop, turn + 1
    return pyramid


@st.composite
def columns(draw: st.DrawFn) -> np.ndarray:
    """Columns of any length, made from a seed: long ones would be slow to draw by value."""
    length = draw(st.one_of(st.integers(1, 70), st.integers(1, 5_000), st.just(BUCKET**3 + 5)))
    spread = draw(st.sampled_from([2, 1_000, 10**12]))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    return random.integers(-spread, spread, length)


CHUNKS = st.lists(st.one_of(st.integers(1, 40), st.integers(500, 5_000)), min_size=1, max_size=6)


@settings(max_examples=max(50, settings().max_examples))
@given(columns(), CHUNKS, st.data())
def test_that_every_stretch_has_the_maximum_sum_and_count_of_its_values(
    column: np.ndarray, chunks: list[int], data: st.DataObject
) -> None:
    pyramid = pyramid_of(column, chunks)
    first = data.draw(st.one_of(st.just(0), st.integers(0, len(column) - 1)))
    inner = data.draw(st.lists(st.integers(first, len(column)), min_size=2, max_size=60))
    edges = np.array(sorted(inner))

    found = pyramid.stretches(column[first:], edges, first=first)
    places = pyramid.indices_of_maxima(column[first:], edges, first=first)

    for number, (start, stop) in enumerate(pairwise(edges.tolist())):
        values = column[start:stop]
        assert found.counts[number] == len(values)
        assert found.sums[number] == values.sum()
        assert found.maxima[number] == (values.max() if len(values) else LOWEST)
        assert places[number] == (start + values.argmax() if len(values) else -1)


@given(columns(), CHUNKS, st.data())
def test_that_the_highest_value_of_any_range_is_found_at_its_first_place(
    column: np.ndarray, chunks: list[int], data: st.DataObject
) -> None:
    pyramid = pyramid_of(column, chunks)
    first = data.draw(st.one_of(st.just(0), st.integers(0, len(column) - 1)))
    start = data.draw(st.integers(first, len(column) - 1))
    stop = data.draw(st.integers(start + 1, len(column)))

    place = pyramid.index_of_maximum(column[first:], start, stop, first=first)

    assert place == start + column[start:stop].argmax()
    assert pyramid.index_of_maximum(column, start, stop) == place


@pytest.mark.parametrize("length", [1_000_000, 1_000_077])
def test_that_a_spike_anywhere_in_a_million_values_is_seen_in_1280_columns(length: int) -> None:
    random = np.random.default_rng(length)
    column = random.integers(16_000_000, 17_000_000, length)
    pyramid = pyramid_of(column, [length])
    edges = np.linspace(0, length, 1_281).astype(np.int64)
    few = len(rounds(12))
    newest = sorted({length - 1, *(length - 1 - random.integers(0, 100, few)).tolist()})

    for place in [0, 1, *newest, *random.integers(0, length, few).tolist()]:
        spiky = column.copy()
        spiky[place] = 99_000_000
        pyramid = pyramid_of(spiky, [length - 90, 1])
        found = pyramid.stretches(spiky, edges)
        assert found.maxima.max() == 99_000_000
        assert pyramid.indices_of_maxima(spiky, edges)[found.maxima.argmax()] == place


def test_that_it_takes_less_than_a_fifth_of_the_memory_of_its_column() -> None:
    column = np.random.default_rng(1).integers(0, 10**9, 1_000_000)
    at_once = pyramid_of(column, [len(column)])
    one_by_one = pyramid_of(column, [1_000])

    assert 0.13 * column.nbytes <= at_once.nbytes <= 0.2 * column.nbytes
    assert 0.13 * column.nbytes <= one_by_one.nbytes <= 0.2 * column.nbytes


@pytest.mark.parametrize("chunks", [[5_000], [300, 16, 7]])
@pytest.mark.parametrize(
    ("edges", "is_direct"),
    [
        ([0, 96], True),
        ([1, 98], False),
        ([1_000, 1_096], True),
        ([1_000, 1_097], False),
        ([1_000, 1_050, 1_192], True),
        ([1_000, 1_050, 1_193], False),
        ([3, 3_999], False),
        ([3, 2_000, 2_000, 4_999], False),
    ],
)
def test_that_only_the_edges_of_long_stretches_are_read_from_the_column(
    edges: list[int], chunks: list[int], *, is_direct: bool
) -> None:
    column = np.random.default_rng(3).integers(1, 1_000, 5_000)
    pyramid = pyramid_of(column, chunks)

    found = pyramid.stretches(np.zeros_like(column), np.array(edges))

    for number, (start, stop) in enumerate(pairwise(edges)):
        groups = column[-(-start // BUCKET) * BUCKET : stop // BUCKET * BUCKET]
        assert found.sums[number] == (0 if is_direct else groups.sum())
    assert found.counts.tolist() == [stop - start for start, stop in pairwise(edges)]


@pytest.mark.parametrize(
    ("start", "stop", "is_direct"),
    [(0, 16, True), (3, 34, True), (0, 31, True), (0, 32, False), (15, 48, False)],
)
def test_that_the_highest_value_of_two_groups_and_more_is_found_by_its_group(
    start: int, stop: int, *, is_direct: bool
) -> None:
    column = np.arange(100)
    pyramid = pyramid_of(column, [100])
    column[start + 1] = 1_000

    assert pyramid.index_of_maximum(column, start, stop) == (start + 1 if is_direct else stop - 1)
    assert pyramid.index_of_maximum(column[60:], 62, 70, first=60) == 69


def test_that_the_first_of_equal_values_counts_whatever_part_of_a_stretch_it_is_in() -> None:
    column = np.zeros(600, dtype=np.int64)
    pyramid = pyramid_of(column, [600])

    for start, stop in ((0, 600), (5, 590), (16, 599)):
        assert pyramid.index_of_maximum(column, start, stop) == start
        assert pyramid.indices_of_maxima(column, np.array([start, stop])).tolist() == [start]


def test_that_nothing_is_not_a_range_to_look_for_a_maximum_in() -> None:
    pyramid = pyramid_of(np.arange(100), [100])

    with pytest.raises(ValueError, match="no values from 5 to 4"):
        pyramid.index_of_maximum(np.arange(100), 5, 5)
    with pytest.raises(ValueError, match="no values from 90 to 100"):
        pyramid.index_of_maximum(np.arange(100), 90, 101)


def test_that_an_empty_pyramid_answers_for_no_stretches() -> None:
    nothing = np.zeros(0, dtype=np.int64)

    found = Pyramid().stretches(nothing, nothing)

    assert len(found.maxima) == len(found.sums) == 0
    assert len(Pyramid()) == 0
