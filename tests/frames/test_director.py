"""Frames: phases in order, deltas, and what is recorded of them."""

from __future__ import annotations

from functools import partial

import pytest

from inspector.clocks import CallbackFailure, ClockTree, ManualTimeSource, Transport
from inspector.events import EventLog, Timeline
from inspector.frames import Director
from inspector.vocabulary import Phase


class World:
    """A director on the root clock, driven at 100 frames a second."""

    def __init__(self) -> None:
        self.log = EventLog()
        self.tree = ClockTree(self.log)
        self.source = ManualTimeSource()
        self.transport = Transport(self.tree, self.source)
        self.director = Director(self.tree.root)
        self.transport.on_frame = self.director.run_frame
        self.transport.frame_period_ns = 10_000_000
        self.transport.run()
        self.calls: list[object] = []

    def timeline(self) -> Timeline:
        timeline = Timeline(self.log.strings)
        timeline.apply_all(self.log.read().events)
        return timeline


def _note(calls: list[object], what: str, _delta: float) -> None:
    calls.append(what)


@pytest.fixture
def world() -> World:
    return World()


def test_that_phases_run_in_their_order_whatever_the_order_of_joining(world: World) -> None:
    for phase in ("draw", "before_update", "late_update", "update", "start", "after update"):
        world.director.on(phase, partial(_note, world.calls, phase))

    world.source.advance(0.01)

    assert world.calls == [
        "before_update",
        "start",
        "update",
        "late_update",
        "after update",
        "draw",
    ]


def test_that_the_delta_is_the_root_clocks_time(world: World) -> None:
    world.director.on(Phase.UPDATE, world.calls.append)
    world.source.advance(0.01)
    world.tree.root.rate = 0.5
    world.source.advance(0.01)
    world.tree.root.pause()
    world.source.advance(0.01)

    assert world.calls == [0.01, 0.005, 0.0]


def test_that_frames_are_recorded_with_delta_interval_and_phases(world: World) -> None:
    world.director.on(Phase.UPDATE, lambda _delta: None)
    world.tree.root.rate = 2
    world.source.advance(0.03)

    frames = world.timeline().frames

    assert len(frames) == 3
    frame = frames.frame(1)
    assert (frame.at_ns, frame.interval_ns, frame.delta_ns) == (20_000_000, 10_000_000, 20_000_000)
    assert frame.phases[Phase.UPDATE] == frame.busy_ns > 0
    assert frame.phases[Phase.DRAW] == 0


def test_that_time_spent_in_timers_counts_for_the_frame(world: World) -> None:
    world.director.run_frame(10_000_000, 0, 1_234)
    world.director.run_frame(10_000_000)

    frames = world.timeline().frames

    assert frames.frame(0).phases[Phase.TIMERS] == 1_234
    assert frames.frame(0).busy_ns == 1_234
    assert frames.frame(1).busy_ns == 0


def test_that_a_raising_callback_does_not_affect_other_callbacks(world: World) -> None:
    failures: list[CallbackFailure] = []
    world.tree.on_failure = failures.append
    world.director.on("update", lambda _delta: 1 / 0, name="broken")
    world.director.on("update", world.calls.append)

    world.source.advance(0.02)

    assert len(world.calls) == 2
    assert [failure.label for failure in failures] == ["broken", "broken"]
    recorded = world.timeline().failures
    assert [failure.frame for failure in recorded] == [0, 1]
    assert "ZeroDivisionError" in recorded[0].traceback
    assert "inspector/frames" not in recorded[0].traceback


def test_that_callbacks_can_join_and_leave_in_the_middle_of_a_frame(world: World) -> None:
    def first(_delta: float) -> None:
        world.calls.append("first")
        world.director.remove(second)
        world.director.on("update", lambda _delta: world.calls.append("new"))
        assert world.director.remove(registration)
        assert not world.director.remove(registration)

    registration = world.director.on("update", first)
    second = world.director.on("update", lambda _delta: world.calls.append("second"))

    world.source.advance(0.01)
    assert world.calls == ["first"]
    world.source.advance(0.01)
    assert world.calls == ["first", "new"]


def test_that_a_frame_cannot_run_another(world: World) -> None:
    failures: list[CallbackFailure] = []
    world.tree.on_failure = failures.append
    world.director.on("update", lambda _delta: world.director.run_frame(0))

    world.source.advance(0.01)

    assert "a frame is running" in str(failures[0].error)


@pytest.mark.parametrize("phase", ["timers", "lunch", Phase.TIMERS])
def test_that_only_frame_phases_can_be_joined(world: World, phase: Phase | str) -> None:
    with pytest.raises(ValueError, match="before_update"):
        world.director.on(phase, print)


def test_that_what_cannot_be_called_is_refused(world: World) -> None:
    with pytest.raises(TypeError, match="not callable"):
        world.director.on("update", 3)  # type: ignore[arg-type]
