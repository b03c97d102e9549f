"""Numbers are grouped alike, whether they lie close together or not."""

from __future__ import annotations

import random

import numpy as np
import pytest

from inspector.events.blocks.packed_columns import group_by_group, grouped, last_of_each


@pytest.mark.parametrize("spread", [1, 5, 10**3, 2**62])
@pytest.mark.parametrize("count", [1, 2, 300])
def test_that_each_number_is_found_in_its_group(spread: int, count: int) -> None:
    chance = random.Random(spread)
    for _ in range(20):
        numbers = np.array([chance.randrange(-spread, spread) for _ in range(count)], np.int64)
        different, group = grouped(numbers)
        last, counts = last_of_each(numbers)

        listed = numbers.tolist()
        assert different.tolist() == sorted(set(listed))
        assert different[group].tolist() == listed
        assert numbers[last].tolist() == different.tolist()
        assert all(each not in listed[at + 1 :] for each, at in zip(different, last, strict=True))
        assert counts.tolist() == [listed.count(each) for each in different]


def test_that_numbers_close_together_are_grouped_without_sorting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sorted_numbers: list[object] = []

    def unique(numbers: object, **_: object) -> tuple[object, object]:
        sorted_numbers.append(numbers)
        return numbers, numbers

    monkeypatch.setattr(np, "unique", unique)

    for most in (15, 16):
        # Eight times as many as there are numbers, and one more.
        grouped(np.array([0, most], np.int64))

        assert len(sorted_numbers) == most - 15


def test_that_of_no_numbers_there_are_no_groups() -> None:
    none = np.empty(0, np.int64)
    assert [len(each) for each in (*grouped(none), *last_of_each(none))] == [0, 0, 0, 0]


@pytest.mark.parametrize("groups", [3, 70_000])
def test_that_the_order_within_a_group_is_kept(groups: int) -> None:
    chance = random.Random(groups)
    group = np.array([chance.randrange(groups) for _ in range(100_000)])
    places = group_by_group(group, groups).tolist()
    assert places == sorted(range(len(group)), key=group.tolist().__getitem__)
