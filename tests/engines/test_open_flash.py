"""open-flash's clock with its fault, and its loop as the article proposes it."""

from __future__ import annotations

import pytest

from inspector.clocks import Clock, ClockTree
from inspector.engines.open_flash import OpenFlashClock
from inspector.frames.loop import (
    OPEN_FLASH,
    OPEN_FLASH_ARTICLE,
    FixedRateLoop,
    LoopRules,
    start_loop_by,
)

MS = 1_000_000


class World:
    """A tree driven by hand, and when things were called."""

    def __init__(self) -> None:
        self.tree = ClockTree()
        self.calls: list[tuple[str, int]] = []
        self.advance(100)

    @property
    def now_ms(self) -> int:
        return self.tree.now_ns // MS

    def advance(self, milliseconds: int) -> None:
        self.tree.run_to(self.tree.now_ns + milliseconds * MS)

    def spend(self, milliseconds: int) -> None:
        self.tree.jump_to(self.tree.now_ns + milliseconds * MS)

    def called(self, name: str) -> None:
        self.calls.append((name, self.now_ms))

    def original(self, *, is_corrected: bool = False) -> OpenFlashClock:
        return OpenFlashClock(self.tree.root, name="game", is_corrected=is_corrected)


@pytest.fixture
def world() -> World:
    return World()


def _paused_time_ms(world: World, clock: Clock | OpenFlashClock) -> float:
    world.advance(30)
    clock.pause()
    world.advance(50)
    return clock.time_ns / MS


def test_that_the_original_reads_its_parents_time_while_paused(world: World) -> None:
    clock = world.original()

    assert _paused_time_ms(world, clock) == 130
    clock.resume()
    assert clock.time_ns == 30 * MS


def test_that_neither_the_correction_nor_our_clock_does(world: World) -> None:
    assert _paused_time_ms(world, world.original(is_corrected=True)) == 30
    assert _paused_time_ms(world, world.tree.root.child("game")) == 30


def _fires_at_ms(world: World, clock: Clock | OpenFlashClock) -> int:
    clock.pause()
    clock.set_timeout_ns(20 * MS, world.called, "timeout")
    clock.resume()
    world.advance(500)
    return world.calls.pop()[1]


def test_that_a_timeout_set_while_paused_is_late_by_the_epoch_in_the_original(
    world: World,
) -> None:
    assert _fires_at_ms(world, world.original()) == 100 + 100 + 20


def test_that_a_timeout_set_while_paused_is_in_time_elsewhere(world: World) -> None:
    assert _fires_at_ms(world, world.original(is_corrected=True)) == 120
    assert _fires_at_ms(world, world.tree.root.child("game")) == 600 + 20


def test_that_a_clock_below_a_paused_one_jumps_with_it(world: World) -> None:
    clock = world.original()
    below = OpenFlashClock(clock, 0)
    world.advance(10)

    clock.pause()

    assert below.time_ns == 110 * MS
    assert not below.is_paused


def test_that_pausing_twice_and_resuming_twice_count_once(world: World) -> None:
    clock = world.original()
    clock.pause()
    world.advance(10)
    clock.pause()
    world.advance(10)
    clock.resume()
    clock.resume()

    assert clock.time_ns == 0
    assert clock.epoch_ns == 120 * MS


def test_that_a_timeout_waits_for_the_rest_after_a_pause(world: World) -> None:
    clock = world.original()
    timeout = clock.set_timeout_ns(20 * MS, world.called, "timeout")
    world.advance(5)
    clock.pause()
    world.advance(100)
    clock.resume()
    world.advance(15)

    assert world.calls == [("timeout", 220)]
    assert not timeout.is_pending
    assert clock.pending_count == 0


def test_that_a_timeout_is_cleared_once_and_by_its_own_clock(world: World) -> None:
    clock, other = world.original(), world.original()
    timeout = clock.set_timeout_ns(20 * MS, world.called, "timeout")
    waiting = other.set_timeout_ns(20 * MS, world.called, "waiting")
    other.pause()

    assert not other.clear(timeout)
    assert clock.clear(timeout)
    assert not clock.clear(timeout)
    assert other.clear(waiting)
    other.resume()
    world.advance(100)

    assert world.calls == []


def test_that_overdue_timeouts_come_in_the_order_in_which_they_were_set(world: World) -> None:
    clock = world.original(is_corrected=True)
    clock.set_timeout_ns(20 * MS, world.called, "first")
    clock.set_timeout_ns(10 * MS, world.called, "second")
    world.spend(50)
    clock.pause()
    clock.resume()

    world.advance(0)

    assert world.calls == [("first", 150), ("second", 150)]


def test_that_a_timeout_needs_something_to_call(world: World) -> None:
    with pytest.raises(TypeError, match="not callable"):
        world.original().set_timeout_ns(0, "callback")  # type: ignore[arg-type]


def test_that_a_clock_shows_name_time_and_pause(world: World) -> None:
    clock = world.original()
    world.advance(5)

    assert repr(clock) == "<OpenFlashClock 'game' at 0.005000 s>"
    clock.pause()
    assert repr(clock) == "<OpenFlashClock 'game' at 0.105000 s, paused>"


# ------------------------------------------------------------ the article's loop


class Looping:
    """A loop at 100 per second whose ticks take time."""

    def __init__(self, world: World, rules: LoopRules, spend_ms: dict[int, int]) -> None:
        self.world = world
        self.spend_ms = spend_ms
        self.ticks: list[int] = []
        self.clock = world.tree.root.child("game")
        self.loop: FixedRateLoop = start_loop_by(self.clock, 100, self.tick, rules)

    def tick(self) -> None:
        self.ticks.append(self.clock.time_ns // MS)
        self.world.spend(self.spend_ms.get(len(self.ticks), 0))


def test_that_the_articles_loop_makes_up_late_ticks_in_one_call(world: World) -> None:
    looping = Looping(world, OPEN_FLASH_ARTICLE, {1: 35})
    missed: list[int] = []
    looping.loop.on_missed = missed.append

    world.advance(10)
    assert looping.ticks == [10, 45, 45, 45]
    world.advance(10)

    assert looping.ticks == [10, 45, 45, 45, 50]
    assert missed == []


def test_that_time_spent_in_late_ticks_only_counts_at_the_next_reading(world: World) -> None:
    looping = Looping(world, OPEN_FLASH_ARTICLE, {1: 35, 2: 15, 3: 15})
    world.advance(10)
    assert looping.ticks == [10, 45, 60, 75]

    world.advance(10)

    # The rest of the period is counted from the end of the burst: 80 instead of 50.
    assert looping.ticks[4:] == [80, 80, 80, 80]


def test_that_a_burst_in_one_call_can_be_capped(world: World) -> None:
    rules = LoopRules(bursts_in_one_call=True, max_burst=2)
    looping = Looping(world, rules, {1: 85})
    world.advance(10)
    world.advance(20)

    assert looping.ticks == [10, 95, 95, 100, 110]
    assert looping.loop.missed_ticks == 6


def test_that_the_originals_loop_shifts_its_schedule_and_says_by_how_much(world: World) -> None:
    looping = Looping(world, OPEN_FLASH, {2: 25})
    told: list[int | str] = []
    looping.loop.on_missed = told.append
    looping.loop.on_reduced_precision = lambda: told.append("reduced")
    for _ in range(5):
        world.advance(10)

    # The tick that is missed by 15 ms is run at once, within the same instant.
    assert looping.ticks == [10, 20, 45, 55, 65, 75]
    assert told == [15 * MS, "reduced"]


@pytest.mark.parametrize("stops_inside_tick", [True, False])
def test_that_stopping_inside_a_burst_follows_the_rules(
    world: World, *, stops_inside_tick: bool
) -> None:
    rules = LoopRules(bursts_in_one_call=True, stops_inside_tick=stops_inside_tick)
    looping = Looping(world, rules, {1: 35})
    tick = looping.tick

    def stop_in_second() -> None:
        tick()
        if len(looping.ticks) == 2:
            looping.loop.stop()

    looping.loop._on_tick = stop_in_second
    world.advance(10)
    world.advance(5)

    assert looping.ticks == ([10, 45] if stops_inside_tick else [10, 45, 45, 45, 50])
    assert looping.clock.pending_count == (0 if stops_inside_tick else 1)


def test_that_removing_the_clock_inside_a_burst_ends_it(world: World) -> None:
    looping = Looping(world, OPEN_FLASH_ARTICLE, {1: 35})
    tick = looping.tick

    def remove_in_second() -> None:
        tick()
        if len(looping.ticks) == 2:
            looping.clock.remove()

    looping.loop._on_tick = remove_in_second
    world.advance(10)

    assert looping.ticks == [10, 45]


def test_that_a_late_tick_that_raises_does_not_end_the_loop(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    looping = Looping(world, OPEN_FLASH_ARTICLE, {1: 35})
    tick = looping.tick

    def raise_in_second() -> None:
        tick()
        if len(looping.ticks) == 2:
            message = "tick failed"
            raise RuntimeError(message)

    looping.loop._on_tick = raise_in_second
    world.advance(10)
    assert looping.ticks == [10, 45]
    world.advance(0)

    assert looping.ticks == [10, 45, 45, 45]
    assert "tick failed" in caplog.text


def test_that_a_loop_runs_on_the_originals_clock(world: World) -> None:
    clock = world.original()
    loop = start_loop_by(clock, 100, lambda: world.called("tick"), OPEN_FLASH_ARTICLE)
    world.advance(20)
    loop.stop()
    world.advance(20)

    assert world.calls == [("tick", 110), ("tick", 120)]
    assert repr(loop) == "<FixedRateLoop 100/s on 'game', 2 ticks, stopped>"
