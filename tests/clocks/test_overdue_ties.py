"""Ties of what is overdue on a scaled clock with what is due now, as the model has them."""

from fractions import Fraction

import pytest

from tests.clocks.pair import Operation, Pair


@pytest.mark.parametrize(
    "operations",
    [
        [
            ("child", 0, 1, Fraction(2), None),
            ("set", 1, 0, 0, 0, []),
            ("set", 0, 2, 0, 0, []),
            ("jump", 1),
            ("set", 1, 1, 0, 0, []),
        ],
        [
            ("child", 0, 2, Fraction(1, 2), None),
            ("set", 2, 0, 0, 0, []),
            ("jump", 1),
            ("set", 0, 2, 0, 0, []),
            ("set", 2, 1, 0, 1_000_000, []),
        ],
        [
            ("child", 0, 2, Fraction(2), None),
            ("set", 2, 0, 0, 1_000_000, []),
            ("jump", 500_001),
            ("set", 0, 2, 0, 0, []),
            ("set", 2, 1, 0, 0, []),
        ],
    ],
)
def test_that_an_overdue_timer_of_a_scaled_clock_ties_at_the_instant_of_a_zero_delay(
    operations: list[Operation],
) -> None:
    pair = Pair()
    for operation in operations:
        pair.perform(operation)

    pair.perform(("advance", 10**9))
