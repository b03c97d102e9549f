"""The spans of a track in columns of all tracks: what a look at each of them would find."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.lanes import spans as spans_module
from inspector.analysis.lanes.spans import SpanColumns, Spans

rows = st.lists(
    st.tuples(st.integers(0, 300), st.integers(0, 200), st.integers(0, 2)), min_size=1, max_size=90
)


def spans_of(found: list[tuple[int, int, int]], track: int) -> tuple[Spans, list[tuple[int, int]]]:
    """Return the spans of a track, and their beginnings and ends."""
    found = sorted(found, key=lambda row: (row[0] + row[1], row[1]))
    start, took, tracks = (np.array(column, dtype=np.int64) for column in zip(*found, strict=True))
    columns = SpanColumns(
        start, took.astype(np.int16), tracks.astype(np.int16), (tracks + 7).astype(np.int8)
    )
    its = [(begin, begin + long) for begin, long, its_track in found if its_track == track]
    return Spans(5, columns, track), its


@given(rows, st.integers(0, 2), st.integers(-9, 510), st.integers(0, 300))
def test_that_spans_in_a_stretch_are_found(
    found: list[tuple[int, int, int]], track: int, low: int, wide: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spans_module, "_TOGETHER", 4)
        spans, its = spans_of(found, track)
        high = low + wide
        indices, count = spans.overlapping(low, high)
        expected = [i for i, (begin, end) in enumerate(its) if end >= low and begin < high]
        assert (indices.tolist(), count) == (expected, len(expected))
        longest, count = spans.overlapping(low, high, 3)
        assert count == len(expected)
        durations = sorted((its[i][1] - its[i][0] for i in expected), reverse=True)
        kept = [its[i][1] - its[i][0] for i in longest.tolist()]
        assert sorted(kept, reverse=True) == durations[:3]
        assert spans.within(low, high) == (
            sum(end < low for _, end in its),
            sum(end < high for _, end in its),
        )


@given(rows, st.integers(0, 2), st.lists(st.integers(-9, 510), min_size=1, max_size=9))
def test_that_spans_are_counted_up_to_each_edge(
    found: list[tuple[int, int, int]], track: int, edges: list[int]
) -> None:
    spans, its = spans_of(found, track)
    assert list(spans) == [end for _, end in its]
    assert len(spans) == len(its)
    expected = [sum(end < edge for _, end in its) for edge in edges]
    assert spans.before(np.array(edges)).tolist() == expected
    assert spans.subjects(np.arange(len(its))).tolist() == [track + 7] * len(its)
