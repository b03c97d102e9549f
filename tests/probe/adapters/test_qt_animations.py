"""What the adapter of Qt's animations does, of which only what it touches is there."""

# ruff: noqa: ANN401, N802 - as the library has it

from __future__ import annotations

from typing import Any

import pytest

from inspector.probe.adapters.qt import QtLoop
from inspector.probe.adapters.qt_animations import QtAnimationsAdapter
from inspector.probe.kinds import (
    NEVER,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
)
from inspector.probe.kinds import RATE_DENOMINATOR as D
from tests.probe.adapters.qt_core import Qt

MS = 1_000_000
GONE = NEVER / MS


class Animated(Qt):
    """A program with animations, which another adapter follows."""

    def __init__(self) -> None:
        super().__init__()
        self.animations = QtAnimationsAdapter(self.program)
        self.animations.installed(self.core)


@pytest.fixture
def qt() -> Animated:
    return Animated()


def started(qt: Animated, duration_ms: int = 60, way: str = "forward") -> Any:
    animation = qt.core.QAbstractAnimation(duration_ms)
    animation.way = way
    animation.start()
    return animation


def test_that_an_animation_is_a_timer_until_it_ends(qt: Animated) -> None:
    class QPropertyAnimation(qt.core.QAbstractAnimation):  # type: ignore[misc, name-defined]
        def propertyName(self) -> bytes:
            return b"x"

    animation: Any = QPropertyAnimation(60)
    animation.start()
    started(qt)
    assert qt.named(TIMER_ADDED, 4) == ["QPropertyAnimation x", "QAbstractAnimation"]
    assert all("test_qt_animations.py" in site for site in qt.named(TIMER_ORIGIN, 3))
    assert qt.of(TIMER_ARMED) == [(1, 160, 0), (2, 160, 0)]
    qt.turn(562)
    animation.setCurrentTime(60)
    # Qt says so twice where several loops end at once.
    animation.finished.emit()
    animation.start()
    animation.setCurrentTime(60)

    assert qt.of(TIMER_FIRED) == [(1, 2, GONE), (3, 0, GONE)]
    # It is connected to once.
    assert len(animation.finished._calls) == 1
    assert qt.adapter.own_timers == []


@pytest.mark.parametrize("end", ["stop", "pause"])
def test_that_an_animation_that_is_stopped_is_cleared(qt: Animated, end: str) -> None:
    animation = started(qt)
    qt.turn(520)
    getattr(animation, end)()
    assert [n for n, *_ in qt.of(TIMER_CLEARED)] == [1]
    assert "test_qt_animations.py" in qt.named(TIMER_CLEARED, 3)[0]
    qt.turn(600)
    animation.stop()
    animation.resume()

    assert qt.of(TIMER_ARMED)[1:] == [(2, 240, 0)]
    assert animation.states[-1] == "running"
    animation.resume()
    assert qt.count(TIMER_ADDED) == 2


def test_that_an_animation_of_a_group_or_without_a_duration_is_no_timer(qt: Animated) -> None:
    endless = started(qt, 0)
    member = qt.core.QAbstractAnimation(60)
    member.group = lambda: "group"
    member.start()
    endless.present = "stopped"
    endless.finished.emit()
    for each in (endless, member):
        each.stop()

    assert qt.count(TIMER_ADDED) == 0
    very_short = started(qt, 1)
    assert qt.of(TIMER_ARMED) == [(1, 101, 0)]
    del very_short


def test_that_an_animation_that_starts_again_at_its_end_is_another_timer(qt: Animated) -> None:
    animation = qt.core.QAbstractAnimation(60)
    animation.finished.connect(animation.start)
    animation.start()
    qt.turn(560)
    animation.setCurrentTime(60)
    assert qt.of(TIMER_FIRED) == [(1, 0, GONE)]
    assert qt.of(TIMER_ARMED) == [(1, 160, 0), (2, 220, 0)]


@pytest.mark.parametrize("begins_slowly", [True, False])
def test_that_an_animation_follows_a_clock_that_is_slow(
    qt: Animated, *, begins_slowly: bool
) -> None:
    if begins_slowly:
        qt.set_rate(D // 2)
        qt.handle()
    animation = started(qt)
    if not begins_slowly:
        qt.set_rate(D // 2)
        qt.handle()
    # Qt has paused it, and says otherwise.
    assert (animation.present, animation.state()) == ("paused", "running")
    assert animation.states == ["running"]
    (ticker,) = qt.adapter.own_timers
    assert ticker.interval() == 16
    for at_ms, passed_ms in ((516, 8), (533, 16), (549, 24)):
        qt.turn(at_ms)
        assert animation.currentTime() == passed_ms
    # What starts and goes on already does neither.
    animation.start()
    animation.resume()
    assert (animation.present, animation.states) == ("paused", ["running"])
    qt.set_rate(D)
    qt.turn(549)
    assert (animation.present, animation.state()) == ("running", "running")
    assert animation.states == ["running"]
    assert not ticker.isActive()
    qt.turn(569)
    assert animation.currentTime() == 44
    # It follows again from there.
    qt.set_rate(D // 2)
    qt.turn(569)
    assert (animation.present, animation.currentTime()) == ("paused", 44)
    # The ticker is no timer of the program.
    assert qt.count(TIMER_ADDED) == 1
    assert not animation.is_blocked


def test_that_an_animation_that_is_driven_ends(qt: Animated) -> None:
    qt.set_rate(4 * D)
    animation = started(qt, 120)
    qt.turn(516)
    assert animation.currentTime() == 64
    qt.turn(532)

    assert animation.state() == "stopped"
    assert qt.of(TIMER_FIRED) == [(1, 8, GONE)]
    assert animation.states == ["running", "stopped"]


def test_that_an_animation_stands_still_while_its_program_is_held(qt: Animated) -> None:
    animation = started(qt)
    qt.turn(520)
    qt.hold()
    qt.turn(530)
    assert (animation.currentTime(), animation.state()) == (30, "running")
    assert qt.adapter.own_timers == []
    qt.turn(600)
    assert animation.currentTime() == 30
    qt.set_rate(2 * D)
    qt.resume()
    qt.turn(600)
    qt.hold()
    qt.turn(616)
    assert not qt.adapter.own_timers[0].isActive()
    # A program may pause it all the same.
    animation.pause()
    assert animation.state() == "paused"
    assert animation.states == ["running", "paused"]


def test_that_an_animation_that_runs_backward_goes_down_to_its_beginning(qt: Animated) -> None:
    qt.set_rate(D // 2)
    animation = started(qt, 20, "backward")
    qt.turn(516)
    assert animation.currentTime() == 12
    qt.turn(600)

    assert animation.currentTime() == 0


def test_that_animations_of_another_loop_are_left_to_it(qt: Animated) -> None:
    animation = started(qt)
    clock = qt.program.clock("other", adapter=qt.adapter)
    qt.program.clocks.set_rate(clock, D // 2)
    other = QtLoop(qt.adapter, clock, None)
    qt.animations._follow(other)
    assert animation.present == "running"
    assert qt.adapter.own_timers == []
    qt.set_rate(D // 2)
    qt.handle()
    qt.now_ns += 20 * MS
    qt.animations._tick(other)

    assert animation.currentTime() == 0


def test_that_an_animation_that_has_ended_unnoticed_is_over(qt: Animated) -> None:
    animation = started(qt)
    animation.present = "stopped"
    qt.turn(570)
    qt.set_rate(D // 2)
    qt.handle()

    assert qt.of(TIMER_FIRED) == [(1, 10, GONE)]
    assert animation.state() == "stopped"
    assert qt.adapter.own_timers == []


def test_that_without_an_inspector_animations_are_qts_own(qt: Animated) -> None:
    qt.program.emit = None
    animation = started(qt)
    assert animation.states == ["running"]
    animation.pause()
    assert animation.state() == "paused"
    qt.attach()

    assert qt.animations._running == {}
    assert (qt.animations.library, qt.animations.version) == (
        "PySide6 animations",
        "6.8.0",
    )
