"""Reports about the punctuality of a time source."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from inspector.clocks.sources.wake_errors import KEPT_WAKES, WakeErrors, WakeErrorSummary


def measured(errors_ns: Sequence[int]) -> WakeErrorSummary | None:
    errors = WakeErrors()
    for error_ns in errors_ns:
        errors.add(error_ns)
    return errors.summary()


def test_that_nothing_is_said_before_the_first_wake_up() -> None:
    assert WakeErrors().summary() is None


def test_that_a_single_wake_up_is_all_of_them() -> None:
    assert measured([700]) == WakeErrorSummary(1, 700, 700, 700, 700)


def test_that_percentiles_are_nearest_rank() -> None:
    assert measured(range(1, 101)) == WakeErrorSummary(
        count=100, last_ns=100, median_ns=50, p99_ns=99, max_ns=100
    )


def test_that_the_median_forgets_old_wake_ups_and_the_maximum_does_not() -> None:
    summary = measured([9_000_000, *[5] * KEPT_WAKES])

    assert KEPT_WAKES == 1_024
    assert summary == WakeErrorSummary(
        count=KEPT_WAKES + 1, last_ns=5, median_ns=5, p99_ns=5, max_ns=9_000_000
    )


def test_that_clearing_begins_again() -> None:
    errors = WakeErrors()
    errors.add(9_000_000)
    assert errors.summary() == WakeErrorSummary(1, *[9_000_000] * 4)

    errors.clear()

    assert errors.summary() is None
    errors.add(3)
    assert errors.summary() == WakeErrorSummary(1, 3, 3, 3, 3)


def test_that_a_summary_is_made_once_for_each_state() -> None:
    errors = WakeErrors()
    errors.add(1)

    first = errors.summary()

    assert errors.summary() is first
    errors.add(2)
    assert errors.summary() != first


def test_that_memory_is_bounded_by_settling() -> None:
    errors = WakeErrors()
    most = 0
    for error_ns in range(10 * KEPT_WAKES):
        errors.add(error_ns)
        errors.settle()
        most = max(most, len(errors._waiting) + len(errors._newest))

    assert most == 2 * KEPT_WAKES - 1
    summary = errors.summary()
    assert summary is not None
    assert summary.count == 10 * KEPT_WAKES


@given(st.lists(st.integers(0, 10**10), min_size=1, max_size=3 * KEPT_WAKES))
def test_that_the_summary_is_that_of_the_sorted_newest(errors_ns: list[int]) -> None:
    newest = sorted(errors_ns[-KEPT_WAKES:])

    summary = measured(errors_ns)

    assert summary == WakeErrorSummary(
        count=len(errors_ns),
        last_ns=errors_ns[-1],
        median_ns=newest[math.ceil(len(newest) * 50 / 100) - 1],
        p99_ns=newest[math.ceil(len(newest) * 99 / 100) - 1],
        max_ns=max(errors_ns),
    )
