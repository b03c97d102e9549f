"""Due times that no column could hold are shown at its edge, on either side."""

import pytest

from inspector.clocks.tree import ClockTree
from inspector.events.log import EventLog
from inspector.events.timeline import Timeline
from inspector.vocabulary import NEVER


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
