"""Due times mapped together are those mapped one by one."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from inspector.clocks.rate import D, parent_ns
from inspector.events import due_times
from inspector.events.due_times import session_instants
from inspector.events.states import ClockState
from inspector.vocabulary import NEVER
from tests.fuzz import rounds

_numerators = st.one_of(st.integers(1, 100), st.integers(D // 1_000, 12 * D), st.just(D))
_offsets = st.one_of(st.integers(-(10**12), 10**12), st.integers(-(10**30), 10**30))


@settings(max_examples=max(100, settings().max_examples))
@given(
    st.lists(st.integers(-(10**9), 10**17), min_size=1, max_size=24),
    st.lists(st.tuples(_numerators, _offsets), min_size=1, max_size=4),
)
@example([0] * 16, [(D, 10**30)])
def test_that_many_are_mapped_as_exactly_as_one(
    dues: list[int], mappings: list[tuple[int, int]]
) -> None:
    path = [ClockState(i, "", 0, n, n, off, 0) for i, (n, off) in enumerate(mappings)]
    expected = []
    for due in dues:
        instant = due
        for n, off in mappings:
            instant = parent_ns(instant, n, off)
        expected.append(max(min(instant, NEVER - 1), -NEVER))

    found = session_instants(np.array(dues, np.int64), path)

    assert list(map(int, found)) == expected


@pytest.mark.parametrize("slowest_or_fastest", [D // 1_000, 12 * D])
def test_that_times_of_usual_clocks_are_mapped_together_and_as_exactly(
    slowest_or_fastest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(due_times, "_one_by_one")
    for seed in rounds(20):
        random = Random(seed)
        numerators = (slowest_or_fastest, D, random.randint(D // 1_000, 12 * D))
        path = [
            ClockState(0, "", 0, D, n, random.randrange(-(10**12) * n, 10**12 * n), 0)
            for n in random.choices(numerators, k=random.randint(1, 2))
        ]
        dues = [random.randrange(-(10**9), 10**12) for _ in range(16)]
        expected = list(dues)
        for clock in path:
            expected = [parent_ns(each, clock.n, clock.off) for each in expected]
        assert list(session_instants(np.array(dues, np.int64), path)) == expected
