"""Ties of what is overdue or due again now with what is due anyway, as the model has them."""

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


def test_that_what_is_overdue_around_a_callback_is_settled_when_it_resumes_its_branch() -> None:
    pair = Pair()
    operations: list[Operation] = [
        ("child", 0, 1, Fraction(60), None),
        ("child", 1, 2, Fraction(1), None),
        ("set", 2, 0, 1, 0, [("bounce", 1)]),
        ("set", 1, 1, 2, 0, []),
        ("set", 2, 2, 1, 0, []),
    ]
    for operation in operations:
        pair.perform(operation)

    pair.perform(("advance", 10**9))

    assert [number for number, *_ in pair.calls] == [0, 1, 2]


@pytest.mark.parametrize("change", [("bounce", 1), ("move", 1, 2)])
def test_that_what_is_overdue_after_a_callback_is_due_when_that_reorders_its_clock(
    change: Operation,
) -> None:
    pair = Pair()
    operations: list[Operation] = [
        ("child", 0, 1, Fraction(1), None),
        ("child", 0, 2, Fraction(1), None),
        ("set", 1, 0, 1, 0, [change]),
        ("set", 1, 1, 3, 0, []),
        ("set", 1, 2, 2, 0, []),
        ("set", 2, 3, 4, 0, []),
        ("jump", 10),
    ]
    for operation in operations:
        pair.perform(operation)

    pair.perform(("advance", 10**9))

    # What else is overdue comes before, and then what was set first.
    assert [number for number, *_ in pair.calls] == [0, 3, 1, 2]


def test_that_a_clock_that_starts_again_comes_before_what_was_set_later() -> None:
    pair = Pair()
    operations: list[Operation] = [
        ("child", 0, 1, Fraction(1), None),
        ("child", 1, 2, Fraction(0), None),
        ("child", 0, 3, Fraction(1), None),
        ("set", 2, 0, 0, 0, []),
        ("set", 3, 1, 5, 0, [("set", 1, 3, 0, 0, []), ("rate", 2, Fraction(1))]),
        ("set", 3, 2, 5, 0, []),
    ]
    for operation in operations:
        pair.perform(operation)

    pair.perform(("advance", 10**9))

    assert [number for number, *_ in pair.calls] == [1, 0, 2, 3]


def test_that_what_a_zero_delay_makes_due_later_waits_for_what_is_due_before_in_mid_branch() -> (
    None
):
    pair = Pair()
    operations: list[Operation] = [
        ("child", 0, 1, Fraction(1, 2), 0),
        ("child", 1, 2, Fraction(1, 2), 0),
        ("set", 1, 1, 5, 0, [("jump", 1_000)]),
        ("set", 1, 2, 6, 0, [("set", 2, 9, 0, 0, [])]),
        ("set", 1, 3, 7, 0, []),
        ("set", 2, 4, 5, 0, []),
        ("set", 0, 5, 16, 0, []),
    ]
    for operation in operations:
        pair.perform(operation)

    pair.perform(("advance", 2_000))

    assert [number for number, *_ in pair.calls] == [1, 2, 5, 3, 4, 9]


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        # A zero delay makes the slow clock due now, and what else is overdue in it is older.
        (
            [
                ("child", 0, 1, Fraction(1), 0),
                ("child", 1, 2, Fraction(1, 2), 0),
                ("set", 2, 0, 0, 0, [("jump", 26)]),
                ("set", 1, 1, 0, 0, [("set", 2, 2, 0, 0, []), ("bounce", 1)]),
                ("set", 2, 3, 1, 0, []),
                ("set", 2, 4, 0, 0, []),
            ],
            [0, 1, 3, 4, 2],
        ),
        # Another rate below makes the slow clock due now, with what was set first.
        (
            [
                ("child", 0, 1, Fraction(1), 0),
                ("child", 1, 2, Fraction(7, 60), 0),
                ("child", 2, 3, Fraction(1), 0),
                ("set", 2, 0, 5, 0, []),
                ("advance", 39),
                ("set", 1, 1, 4, 0, []),
                ("set", 0, 2, 1, 0, [("rate", 3, Fraction(7, 60))]),
                ("set", 3, 3, 0, 0, []),
                ("jump", 4),
                ("set", 2, 4, 0, 0, []),
            ],
            [2, 0, 1, 3, 4],
        ),
        # A clock that stays at rate 0 makes nothing due.
        (
            [
                ("child", 0, 1, Fraction(1, 2), 0),
                ("child", 1, 2, Fraction(0), 0),
                ("set", 0, 0, 0, 0, [("bounce", 2)]),
                ("set", 0, 1, 1, 0, []),
                ("set", 1, 2, 0, 0, []),
                ("jump", 1),
            ],
            [0, 2, 1],
        ),
    ],
)
def test_that_what_is_overdue_in_a_branch_is_due_when_that_is_resumed_or_due_now(
    operations: list[Operation], expected: list[int]
) -> None:
    pair = Pair()
    for operation in operations:
        pair.perform(operation)

    pair.perform(("advance", 10**9))

    assert [number for number, *_ in pair.calls] == expected
