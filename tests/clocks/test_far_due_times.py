"""Due times beyond what an event can hold: refused when set, and never the end of a log."""

from __future__ import annotations

from fractions import Fraction

import pytest

from inspector.clocks import Clock, ClockTree, ManualTimeSource, Transport
from inspector.clocks.rate import D
from inspector.events import EventLog, Timeline
from inspector.timebase import MAX_NS

MOST_NS = MAX_NS - 1
SECOND_NS = 10**9


class World:
    """A tree on a manual source, recorded or not, with clocks that are absurdly fast."""

    def __init__(self, *, is_recorded: bool = True) -> None:
        self.log = EventLog()
        self.tree = ClockTree(self.log if is_recorded else None)
        self.source = ManualTimeSource()
        Transport(self.tree, self.source).run()
        self.calls = 0

    def call(self) -> None:
        self.calls += 1

    def fast_clock(self, levels: int) -> Clock:
        clock = self.tree.root
        for _ in range(levels):
            clock = clock.child("fast", 1_000_000)
        return clock

    def folded(self) -> Timeline:
        timeline = Timeline(self.log.strings)
        timeline.apply_all(self.log.read().events)
        return timeline


@pytest.mark.parametrize("is_recorded", [False, True])
def test_that_a_timer_is_refused_that_would_be_due_beyond_64_bits(*, is_recorded: bool) -> None:
    world = World(is_recorded=is_recorded)
    clock = world.fast_clock(2)
    world.source.advance_ns(5 * SECOND_NS)

    with pytest.raises(ValueError, match=f"fast.*{MOST_NS + 5 * 10**21}"):
        clock.set_timeout_ns(MOST_NS, world.call)
    with pytest.raises(ValueError, match=f"fast.*{1 + 5 * 10**21}"):
        clock.set_interval_ns(1, world.call)

    assert clock.pending_count == 0
    assert len(world.folded().timers) == 0


def test_that_the_farthest_timers_that_can_be_set_can_be_folded() -> None:
    world = World()
    clock = world.fast_clock(1)
    world.source.advance_ns(4_611 * SECOND_NS)
    clock.set_timeout_ns(MOST_NS, world.call)
    world.tree.root.child("slow", Fraction(1, D)).set_timeout_ns(MOST_NS, world.call)

    timeline = world.folded()

    assert len(timeline.timers) == 2
    assert clock.pending()[0].due_ns > 2**62


def test_that_an_interval_is_called_for_the_last_time_when_the_next_would_be_too_far() -> None:
    world = World()
    clock = world.fast_clock(1)
    timer = clock.set_interval_ns(MOST_NS, world.call)

    world.source.advance_ns(10_000 * SECOND_NS)

    assert world.calls == 1
    assert not timer.is_pending
    assert clock.pending_count == 0
    assert len(world.folded().timers) == 0


def test_that_no_clock_begins_at_a_time_that_no_event_can_hold() -> None:
    world = World()
    clock = world.fast_clock(2)
    world.source.advance_ns(5 * SECOND_NS)

    with pytest.raises(ValueError, match="fast"):
        clock.child("below")

    assert clock.children == []
    assert len(world.folded().clocks) == 3


def test_that_a_timer_of_a_clock_that_hardly_moves_can_be_fired_out_of_turn() -> None:
    world = World()
    clock = world.tree.root.child("slow", Fraction(1, D))
    timer = clock.set_interval_ns(MOST_NS, world.call)

    clock.fire_now(timer)

    timeline = world.folded()
    assert world.calls == 1
    assert timeline.timers.row(timer.id).last_lateness_ns == -MAX_NS


def test_that_a_timer_overdue_on_a_clock_that_hardly_moves_now_can_be_folded() -> None:
    world = World()
    clock = world.tree.root.child("clock")

    def block_and_slow_down() -> None:
        world.source.jump_ns(100 * SECOND_NS)
        clock.rate = Fraction(1, D)

    clock.set_timeout_ns(SECOND_NS, block_and_slow_down)
    clock.set_timeout_ns(2 * SECOND_NS, world.call)
    clock.set_interval_ns(3 * SECOND_NS, world.call, missed="skip")

    world.source.advance_ns(SECOND_NS)
    world.source.advance_ns(SECOND_NS)

    assert world.calls == 2
    numbers = [number for event in world.log.read().events for number in event]
    assert max(map(abs, numbers)) < 2**63
