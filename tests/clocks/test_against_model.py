"""The clock tree does what a brute-force model does, whatever is done to it."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings

from tests.clocks.brute_force import PunctualModelTree
from tests.clocks.operations import SLOW_RATES, fast_operations, operation_lists, tied_operations
from tests.clocks.pair import Operation, Pair
from tests.fuzz import rounds


@settings(max_examples=max(25, settings().max_examples))
@given(operation_lists)
def test_that_the_tree_agrees_with_the_model_under_any_operations(
    operations: list[Operation],
) -> None:
    pair = Pair()

    for operation in operations:
        pair.perform(operation)

    pair.perform(("advance", 10**9))


@pytest.mark.parametrize(
    ("rates", "is_late"),
    [
        (SLOW_RATES, False),
        ([*SLOW_RATES, Fraction(60)], False),
        ([Fraction(1), Fraction(1), Fraction(1, 2)], True),
        ([Fraction(1), Fraction(1, 2), Fraction(2)], True),
    ],
)
def test_that_ties_of_branches_are_settled_as_in_the_model(
    rates: list[Fraction], *, is_late: bool
) -> None:
    for seed in rounds(60):
        pair = Pair()
        for operation in tied_operations(Random(seed), rates, is_late=is_late):
            pair.perform(operation)

        pair.perform(("advance", 10**9))


def test_that_ticks_of_fast_clocks_within_one_instant_fire_in_the_order_of_their_setting() -> None:
    for seed in rounds(60):
        pair = Pair()
        for operation in fast_operations(Random(seed)):
            pair.perform(operation)


def test_that_nothing_on_slow_branches_is_due_before_now_if_the_source_is_punctual() -> None:
    for seed in rounds(60):
        pair = Pair(model=PunctualModelTree())
        for operation in tied_operations(Random(seed)):
            pair.perform(operation)

        pair.perform(("advance", 10**9))


@given(operation_lists)
def test_that_local_time_never_runs_backwards(operations: list[Operation]) -> None:
    pair = Pair()
    seen: dict[int, tuple[object, int]] = {}

    for operation in operations:
        pair.perform(operation)
        for name, clock in pair.clocks.items():
            identity, before_ns = seen.get(name, (clock, clock.time_ns))
            if identity is clock:
                assert clock.time_ns >= before_ns
            seen[name] = (clock, clock.time_ns)
