"""Due times that no column could hold are shown at its edge, on either side."""

import pytest

from inspector.clocks.tree import ClockTree
from inspector.events.log import EventLog
from inspector.events.timeline import Timeline
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    NEVER,
    RATE_DENOMINATOR,
    TIMER_ADDED,
    TIMER_ARMED,
)


@pytest.mark.parametrize("timers", [1, 3])
def test_that_what_is_overdue_on_a_clock_that_nearly_stands_is_long_overdue(timers: int) -> None:
    log = EventLog()
    tree = ClockTree(log)
    slow = tree.root.child("slow")
    ids = [slow.set_timeout(1, lambda: None, name="late").id for _ in range(timers)]
    tree.jump_to(101 * 10**9)
    slow.set_rate("1/720720000")
    timeline = Timeline(log.strings)
    timeline.apply_all(log.read().events)

    timeline.resolve_dues()

    for number in ids:
        due_ns = timeline.session_due_ns(number)
        assert due_ns is not None
        assert -NEVER <= due_ns < 0
        assert timeline.timers.session_due[timeline.timers.index(number)] == due_ns


@pytest.mark.parametrize("changes_a_clock", [False, True])
def test_that_due_times_of_clocks_of_many_rates_are_mapped_each_by_its_own(
    changes_a_clock: bool,
) -> None:
    timeline = Timeline([""])
    timeline.apply_all([(0, CLOCK_ADDED, 1, 0, 0), (0, CLOCK_ANCHORED, 1, 0, RATE_DENOMINATOR)])
    far_ns = 2**62
    number = 0
    exact: dict[int, int] = {}
    for clock, (local_ns, rate) in enumerate(
        [(0, 1), (-far_ns, 1), (far_ns, 1), (0, 2), (5, 3), (0, 5), (0, 0)], 2
    ):
        timeline.apply_all(
            [
                (0, CLOCK_ADDED, clock, 1, 0),
                (0, CLOCK_ANCHORED, clock, local_ns, rate * RATE_DENOMINATOR),
            ]
        )
        for due_ns in (-far_ns, -1, 7, 10**9, far_ns, NEVER):
            number += 1
            timeline.apply_all(
                [(0, TIMER_ADDED, number, clock, 0), (0, TIMER_ARMED, number, due_ns, 0)]
            )
            exact[number] = timeline._to_session_ns(clock, due_ns)

    timeline.resolve_dues()
    if changes_a_clock:
        # All timers below it are mapped at once.
        timeline._stale_clocks.add(1)
        timeline.resolve_dues()

    found = {each: timeline.timers.session_due[timeline.timers.index(each)] for each in exact}
    assert found == exact
    due = {each: timeline.session_due_ns(each) for each in found}
    assert found == {each: NEVER if at_ns is None else at_ns for each, at_ns in due.items()}
    assert len({*found.values()}) > 20
