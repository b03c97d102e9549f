"""The fixed-rate loop and its policies for missed ticks."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.clocks import ClockTree, ManualTimeSource, MissedTicks, Transport
from inspector.clocks.failures import CallbackFailure
from inspector.frames import FixedRateLoop, LoopRules, start_loop
from inspector.frames.loop import OPEN_FLASH, OPEN_FLASH_ARTICLE, start_loop_by

MS = 1_000_000


class World:
    """A clock on a manual source, and the instants of the ticks."""

    def __init__(self) -> None:
        self.tree = ClockTree()
        self.clock = self.tree.root.child("game")
        self.source = ManualTimeSource()
        self.transport = Transport(self.tree, self.source)
        self.transport.run()
        self.ticks: list[float] = []
        self.spend_ms: dict[int, int] = {}

    def tick(self) -> None:
        self.ticks.append(self.clock.time_ns / MS)
        self.source.jump_ns(self.spend_ms.get(len(self.ticks), 0) * MS)


@pytest.fixture
def world() -> World:
    return World()


def test_that_the_first_tick_comes_one_period_after_the_start(world: World) -> None:
    start_loop(world.clock, 100, world.tick)

    world.source.advance(0.03)

    assert world.ticks == [10, 20, 30]


def test_that_a_rate_that_does_not_divide_a_second_does_not_drift(world: World) -> None:
    loop = start_loop(world.clock, 60, world.tick)

    world.source.advance(60)

    assert loop.ticks == 3_600


@pytest.mark.parametrize(
    ("missed", "ticks", "left_out"),
    [
        ("burst", [10, 45, 45, 45, 50, 60], 0),
        ("delay", [10, 45, 55], 2),
        ("skip", [10, 50, 60], 3),
    ],
)
def test_that_each_policy_deals_with_a_tick_of_35_ms_in_its_own_way(
    world: World, missed: str, ticks: list[float], left_out: int
) -> None:
    world.spend_ms = {1: 35}
    loop = start_loop(world.clock, 100, world.tick, missed=missed)

    world.source.advance(0.01)
    world.source.advance(0.0)
    world.source.advance_ns(15 * MS)

    assert world.ticks == ticks
    assert loop.missed_ticks == left_out


def test_that_a_burst_is_capped_and_the_rest_is_counted(world: World) -> None:
    world.spend_ms = {1: 1000}
    loop = start_loop(world.clock, 100, world.tick, max_burst=5)

    world.source.advance(0.01)
    world.source.advance(0.01)

    assert world.ticks == [10, *[1010] * 6, 1020]
    assert loop.missed_ticks == 94
    assert loop.ticks + loop.missed_ticks == 102


def test_that_a_loop_can_be_stopped_inside_its_own_tick(world: World) -> None:
    def tick() -> None:
        world.tick()
        if len(world.ticks) == 2:
            loop.stop()

    loop = start_loop(world.clock, 100, tick)

    world.source.advance(1)

    assert world.ticks == [10, 20]
    assert not loop.is_running
    assert world.clock.pending_count == 0


def test_that_the_original_cannot_be_stopped_inside_its_tick(world: World) -> None:
    loop: FixedRateLoop

    def tick() -> None:
        world.tick()
        loop.stop()

    loop = start_loop_by(world.clock, 100, tick, OPEN_FLASH)

    world.source.advance(0.03)

    assert world.ticks == [10, 20, 30]


def test_that_pausing_the_clock_pauses_the_loop(world: World) -> None:
    start_loop(world.clock, 100, world.tick)
    world.source.advance_ns(14 * MS)
    world.clock.pause()
    world.source.advance(1)
    world.clock.resume()

    world.source.advance_ns(6 * MS)

    assert world.ticks == [10, 20]


def test_that_a_tick_that_raises_does_not_end_the_loop(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    def tick() -> None:
        world.tick()
        message = "tick failed"
        raise RuntimeError(message)

    start_loop(world.clock, 100, tick)

    world.source.advance(0.03)

    assert world.ticks == [10, 20, 30]
    assert "tick failed" in caplog.text


@pytest.mark.parametrize("rules", [LoopRules(), OPEN_FLASH, OPEN_FLASH_ARTICLE])
def test_that_a_loop_that_is_started_again_begins_anew(world: World, rules: LoopRules) -> None:
    loop = start_loop_by(world.clock, 100, world.tick, rules)
    world.source.advance_ns(35 * MS)
    loop.stop()
    world.source.advance_ns(1_000 * MS)

    loop.start()
    world.source.advance_ns(25 * MS)

    assert world.ticks == [10, 20, 30, 1_045, 1_055]
    assert (loop.ticks, loop.missed_ticks) == (5, 0)


def test_that_a_shift_from_before_does_not_outlive_a_new_start(world: World) -> None:
    world.spend_ms = {1: 35}
    loop = start_loop(world.clock, 100, world.tick, missed="delay")
    world.source.advance_ns(10 * MS)
    loop.stop()

    loop.start()
    world.source.advance_ns(10 * MS)

    assert world.ticks == [10, 55]


def test_that_starting_a_running_loop_again_leaves_one_timer(world: World) -> None:
    loop = start_loop(world.clock, 100, world.tick)
    world.source.advance_ns(4 * MS)

    loop.start()
    world.source.advance_ns(21 * MS)

    assert world.ticks == [14, 24]
    assert world.clock.pending_count == 1


@pytest.mark.parametrize("spend_ms", [0, 35])
@pytest.mark.parametrize("rules", [LoopRules(), OPEN_FLASH, OPEN_FLASH_ARTICLE])
def test_that_stopping_and_starting_inside_the_tick_leaves_one_timer(
    world: World, rules: LoopRules, spend_ms: int
) -> None:
    def tick() -> None:
        world.tick()
        if len(world.ticks) in {2, 3}:
            loop.stop()
            loop.start()

    world.spend_ms = {2: spend_ms}
    loop = start_loop_by(world.clock, 100, tick, rules)
    world.source.advance(1)
    count = loop.ticks

    world.source.advance_ns(50 * MS)

    assert loop.ticks == count + 5
    assert world.clock.pending_count == 1


@pytest.mark.parametrize("hook", ["on_missed", "on_reduced_precision"])
def test_that_a_loop_continues_when_a_tick_handler_raises(world: World, hook: str) -> None:
    def told(*_: int) -> None:
        message = "cannot be told"
        raise RuntimeError(message)

    failures: list[CallbackFailure] = []
    world.tree.on_failure = failures.append
    world.spend_ms = {1: 35}
    loop = start_loop(world.clock, 100, world.tick)
    setattr(loop, hook, told)

    world.source.advance_ns(100 * MS)

    assert loop.ticks >= 9
    assert world.clock.pending_count == 1
    assert {failure.clock_id for failure in failures} == {world.clock.id}
    assert "told" in failures[0].label


def test_that_a_handler_of_missed_ticks_can_stop_the_loop(world: World) -> None:
    world.spend_ms = {1: 35}
    loop = start_loop(world.clock, 100, world.tick)
    loop.on_missed = lambda _late_ns: loop.stop()

    world.source.advance_ns(100 * MS)

    assert world.ticks == [10]
    assert world.clock.pending_count == 0


def test_that_a_handler_of_missed_ticks_can_restart_the_loop(world: World) -> None:
    world.spend_ms = {1: 35}
    loop = start_loop(world.clock, 100, world.tick)

    def start_anew(_late_ns: int) -> None:
        loop.on_missed = None
        loop.start()

    loop.on_missed = start_anew
    world.source.advance_ns(10 * MS)
    world.source.advance_ns(20 * MS)

    assert world.ticks == [10, 55, 65]
    assert world.clock.pending_count == 1


@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf"), "fast", 1.1e9])
def test_that_a_rate_must_be_above_zero(world: World, rate: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        start_loop(world.clock, rate, world.tick)


def test_that_nonsense_is_refused(world: World) -> None:
    with pytest.raises(ValueError, match="sometimes"):
        start_loop(world.clock, 60, world.tick, missed="sometimes")
    with pytest.raises(ValueError, match="max_burst"):
        start_loop(world.clock, 60, world.tick, max_burst=-1)
    with pytest.raises(TypeError, match="not callable"):
        start_loop(world.clock, 60, "tick")  # type: ignore[arg-type]


@given(
    st.sampled_from([24, 30, 60, 144, Fraction(60_000, 1_001)]),
    st.lists(st.tuples(st.integers(1, 50), st.integers(0, 200)), min_size=1, max_size=20),
)
def test_that_every_tick_is_run_or_counted_as_missed(
    rate: Fraction, stalls: list[tuple[int, int]]
) -> None:
    for missed in MissedTicks:
        world = World()
        loop = start_loop(world.clock, rate, world.tick, missed=missed)
        for advance_ms, jump_ms in stalls:
            world.source.advance_ns(advance_ms * MS)
            world.source.jump_ns(jump_ms * MS)
        world.source.advance(0)
        elapsed_ns = world.clock.time_ns

        due = elapsed_ns * Fraction(rate) // 10**9
        if missed is MissedTicks.BURST:
            assert loop.ticks == due
        else:
            assert due - 1 - len(stalls) <= loop.ticks + loop.missed_ticks <= due + 1
