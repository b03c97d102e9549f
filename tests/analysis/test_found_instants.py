"""Where instants are found in a column."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.analysis.lanes.lane_columns import found_in

values = st.integers(0, 30)


@given(st.lists(values, max_size=40), st.lists(values, min_size=1, max_size=40))
@example([], [1])
@example(20 * [7], [7])
@example([7], [6, 7, 8])
def test_that_instants_are_found_among_few_values_and_among_many(
    column: list[int], instants: list[int]
) -> None:
    column.sort()
    asked = np.array(sorted(instants))

    left, right = (found_in(array("q", column), asked, side) for side in ("left", "right"))

    assert left.tolist() == [bisect_left(column, each) for each in asked.tolist()]
    assert right.tolist() == [bisect_right(column, each) for each in asked.tolist()]
