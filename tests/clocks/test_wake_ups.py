"""Within and right after a wake-up: what a frame, a callback and a host may do."""

from __future__ import annotations

import pytest

from inspector.clocks import ClockTree, ManualTimeSource, Transport
from inspector.clocks.failures import EndlessInstantError
from tests.clocks.test_transport import MS, World


def test_that_nothing_but_its_own_callbacks_runs_within_a_frame() -> None:
    world = World()

    def frame(_interval: int, _cut: int) -> None:
        world.note("frame")
        world.source.wake_at(world.source.now + 5 * MS)
        world.transport.run_from_now()
        world.note("frame")

    world.transport.on_frame = frame
    world.transport.frame_period_ns = 10 * MS
    world.tree.root.set_timeout_ns(12 * MS, world.note, "a")
    world.transport.run()

    world.source.wake_at(world.start + 10 * MS)
    assert world.calls == [("frame", 10)] * 2
    world.source.wake_at(world.source.now)

    assert world.calls[2:] == [("a", 12)]
    assert world.transport.present_ns() == 15 * MS


def test_that_a_frame_that_holds_cannot_be_stepped_from_within() -> None:
    tree, source = ClockTree(), ManualTimeSource()
    transport = Transport(tree, source)
    refused: list[str] = []

    def frame(_interval: int, _cut: int) -> None:
        transport.hold()
        with pytest.raises(RuntimeError, match="only while it is held"):
            transport.step_ns(1)
        refused.append("step")

    transport.on_frame = frame
    transport.frame_period_ns = 10
    transport.run()
    source.advance_ns(10)
    transport.step_ns(3)

    assert refused == ["step"]
    assert tree.now_ns == 13


def test_that_holding_right_after_a_wake_up_calls_nothing_else() -> None:
    world = World()

    def hold() -> None:
        world.note("done")
        world.source.now += 5 * MS
        world.transport.hold()

    world.transport.on_wake_done = hold
    for at in (10, 12):
        world.tree.root.set_timeout_ns(at * MS, world.note, f"at {at}")
    world.transport.run()

    world.source.wake_at(world.start + 10 * MS)
    assert world.calls == [("at 10", 10), ("done", 10)]
    world.transport.on_wake_done = None
    world.transport.run()
    world.source.now += 5 * MS
    world.transport.hold()

    assert world.calls[2:] == [("at 12", 12)]


def test_that_what_follows_a_wake_up_reads_the_present() -> None:
    world = World()

    def done() -> None:
        world.source.now += 300 * MS
        world.note("done")

    world.transport.on_wake_done = done
    world.tree.root.set_timeout_ns(10 * MS, world.note, "a")
    world.transport.run()

    world.source.wake_at(world.start + 10 * MS)

    assert world.calls == [("a", 10), ("done", 310)]


def test_that_a_call_out_of_turn_that_holds_leaves_time_where_it_is() -> None:
    world = World()
    timer = world.tree.root.set_timeout(1, world.transport.hold)
    world.transport.run()

    world.tree.root.fire_now(timer)
    world.source.now += 5 * MS

    assert world.tree.root.time_ns == 0
    assert world.tree.present is None


def test_that_virtual_time_is_held_without_a_call_and_has_no_host_to_be_ready() -> None:
    tree, source = ClockTree(), ManualTimeSource()
    transport = Transport(tree, source)
    transport.run()
    tree.root.set_timeout_ns(5, transport.run_from_now)
    source.advance_ns(10)
    source.advance_ns(10)
    timer = tree.root.set_timeout_ns(0, print)

    transport.hold()

    assert tree.now_ns == 20
    assert timer.is_pending


def test_that_frames_and_what_they_set_count_together_in_a_wake_up() -> None:
    tree = ClockTree()
    tree.most_in_wake = 10
    transport = Transport(tree, ManualTimeSource())
    transport.frame_period_ns = 5
    frames: list[int] = []

    def frame(_interval: int, _cut: int) -> None:
        frames.append(tree.now_ns)
        tree.root.set_timeout_ns(0, int)

    transport.on_frame = frame
    for _ in range(2):
        with pytest.raises(EndlessInstantError):
            transport.step_ns(1_000)

    assert frames == [5 * each for each in range(1, 11)]
