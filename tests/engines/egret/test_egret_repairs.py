"""The published repairs of Egret's timer, with the faults that they have."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from inspector.engines.egret.repairs import (
    ElapsedGuard,
    FactorMeasurement,
    longer_count,
    longer_delay,
)
from inspector.engines.egret.ticker import Ticker
from inspector.engines.egret.timer import BY_CALLS, Counting, TickerTimer


class Display:
    """Refreshes a ticker; its clock goes in whole milliseconds, as the original's."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.now_ms = 0
        self.ticker = Ticker(lambda: self.now_ms)
        self._refreshes = 0

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds * self.rate)):
            self._refreshes += 1
            self.refresh_at(int(self._refreshes * 1000 / self.rate))

    def refresh_at(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.ticker.update()


class Game:
    """A timer of a second whose listener is guarded."""

    def __init__(self, display: Display, tolerance_ms: float | None, repeat: int = 0) -> None:
        self.accepted_ms: list[int] = []
        self.timer = TickerTimer(display.ticker, 1000, repeat, counting=BY_CALLS)
        self.guard = ElapsedGuard(
            lambda: display.now_ms,
            lambda: self.accepted_ms.append(display.now_ms),
            tolerance_ms=tolerance_ms,
        )
        self.timer.on_timer = self.guard
        self.guard.stamp()
        self.timer.start()


@pytest.mark.parametrize("rate", [72, 75, 90, 100, 144])
def test_that_the_second_repair_as_published_accepts_nothing_for_good(rate: int) -> None:
    display = Display(rate)
    game = Game(display, 100)

    display.run(60)

    assert game.accepted_ms == []
    assert game.guard.accepted == 0
    assert game.timer.current_count > 60


def test_that_the_second_repair_as_described_waits_for_the_next_firing() -> None:
    display = Display(144)
    game = Game(display, None)

    display.run(5.1)

    assert game.accepted_ms == [1250, 2500, 3750, 5000]


@pytest.mark.parametrize("tolerance_ms", [100, None])
def test_that_refused_firings_use_up_the_count_of_the_timer(tolerance_ms: float | None) -> None:
    display = Display(240)
    game = Game(display, tolerance_ms, repeat=4)
    completed_ms: list[int] = []
    game.timer.on_complete = lambda: completed_ms.append(display.now_ms)

    display.run(10)

    assert game.accepted_ms == completed_ms == [1000]
    assert game.timer.current_count == 4


def test_that_a_stall_ends_the_second_repair_as_published() -> None:
    display = Display(60)
    game = Game(display, 100)
    display.run(2)
    assert len(game.accepted_ms) == 2

    for second in range(4, 10):
        display.refresh_at(second * 1000 - 800)

    assert len(game.accepted_ms) == 2


@pytest.mark.parametrize("tolerance_ms", [100, None])
def test_that_nothing_is_accepted_without_a_stamp(tolerance_ms: float | None) -> None:
    display = Display(60)
    accepted: list[None] = []
    guard = ElapsedGuard(lambda: display.now_ms, lambda: accepted.append(None), 1000, tolerance_ms)
    timer = TickerTimer(display.ticker, 1000, counting=BY_CALLS)
    timer.on_timer = guard
    timer.start()

    display.run(3)

    assert accepted == []


def _measured(display: Display, for_ms: float = 1000) -> FactorMeasurement:
    done: list[None] = []
    measurement = FactorMeasurement(display.ticker, lambda: done.append(None), for_ms)
    display.run(2)
    assert len(done) == (measurement.factor is not None)
    return measurement


def test_that_the_measured_factor_is_a_hair_too_large() -> None:
    display = Display(60)
    display.ticker.set_frame_rate(60)

    measurement = _measured(display)

    assert measurement.frames == 59
    assert measurement.factor == pytest.approx(1.000339, abs=1e-6)


def test_that_frames_of_the_program_are_measured_and_not_the_display() -> None:
    # The display's is 2.
    assert _measured(Display(120)).factor == pytest.approx(1, abs=0.02)


def test_that_measuring_as_printed_never_ends() -> None:
    assert _measured(Display(60), math.nan).factor is None


@pytest.mark.parametrize("repair", [longer_delay, longer_count])
def test_that_a_factor_that_is_not_known_makes_a_timer_fire_on_every_refresh(
    repair: Callable[[float], Counting],
) -> None:
    display = Display(60)
    timer = TickerTimer(display.ticker, 1000, counting=repair(math.nan))
    timer.start()

    display.run(0.5)

    assert timer.current_count == 30


def test_that_the_first_repair_is_wrong_when_frames_are_slow_and_the_fourth_is_not() -> None:
    display = Display(240)
    first, fourth = (
        TickerTimer(display.ticker, 1000, counting=counting)
        for counting in (longer_delay(4), longer_count(4))
    )
    first.start()
    fourth.start()

    for ms in range(0, 4001, 500):
        display.refresh_at(ms)

    assert (first.current_count, fourth.current_count) == (1, 4)
