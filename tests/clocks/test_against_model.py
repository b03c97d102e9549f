"""The clock tree does what a brute-force model does, whatever is done to it."""

from __future__ import annotations

from hypothesis import given

from tests.clocks.operations import operation_lists
from tests.clocks.pair import Operation, Pair


@given(operation_lists)
def test_that_the_tree_agrees_with_the_model_under_any_operations(
    operations: list[Operation],
) -> None:
    pair = Pair()

    for operation in operations:
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
