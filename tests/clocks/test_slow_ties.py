"""Ties of timers below slow clocks, whose "now" lasts many nanoseconds of the time above."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from inspector.clocks import Clock, ClockTree

_LATE_NS = 100


class _Ground:
    """A clock of rate 1/60, one below it that runs with it, and what was called."""

    def __init__(self) -> None:
        self.tree = ClockTree()
        self.root = self.tree.root
        self.slow = self.root.child("slow", Fraction(1, 60), 0)
        self.below = self.slow.child("below", 1, 0)
        self.called: list[str] = []

    def at_late(self, act: Callable[[], None]) -> None:
        """Do something in the middle of a nanosecond of the slow clock, and let it be called."""
        self.root.set_timeout_ns(_LATE_NS, act)
        self.tree.run_to(10 * _LATE_NS)

    def calls(self, clock: Clock, name: str) -> None:
        clock.set_timeout_ns(0, self.called.append, name)


@pytest.fixture
def ground() -> _Ground:
    return _Ground()


def test_that_no_delay_below_a_slow_clock_comes_after_what_was_set_before(
    ground: _Ground,
) -> None:
    def act() -> None:
        ground.calls(ground.root, "root")
        ground.calls(ground.below, "below")

    ground.at_late(act)

    assert ground.called == ["root", "below"]


def test_that_a_branch_resumed_below_a_slow_clock_counts_as_scheduled_then(
    ground: _Ground,
) -> None:
    ground.below.pause()
    ground.calls(ground.below, "below")

    def act() -> None:
        ground.calls(ground.root, "root")
        ground.below.resume()

    ground.at_late(act)

    assert ground.called == ["root", "below"]


def test_that_a_branch_moved_below_a_slow_clock_counts_as_scheduled_then(
    ground: _Ground,
) -> None:
    other = ground.root.child("other")

    def act() -> None:
        ground.calls(other, "moved")
        ground.calls(ground.root, "root")
        other.move_to(ground.below)

    ground.at_late(act)

    assert ground.called == ["root", "moved"]


def test_that_a_rate_given_below_a_slow_clock_makes_nothing_due_before_now(
    ground: _Ground,
) -> None:
    ground.root.set_timeout_ns(_LATE_NS, lambda: ground.below.set_rate(1))
    ground.root.set_timeout_ns(_LATE_NS, ground.called.append, "root")
    ground.below.set_rate(0)
    ground.calls(ground.below, "below")

    ground.tree.run_to(10 * _LATE_NS)

    assert ground.called == ["root", "below"]
