"""Egret's timer: too fast on fast displays as it is, repaired, and by elapsed time."""

from __future__ import annotations

import pytest

from inspector.engines.egret import ticker, timer
from inspector.engines.egret.ticker import Ticker
from inspector.engines.egret.timer import BY_CALLS, BY_ELAPSED, Counting, TickerTimer


class Display:
    """Refreshes a ticker at a rate; frame n comes at n / rate seconds."""

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.now_ms = 0.0
        self.ticker = Ticker(lambda: self.now_ms)
        self._refreshes = 0

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds * self.rate)):
            self._refreshes += 1
            self.now_ms = self._refreshes * 1000 / self.rate
            self.ticker.update()


def _firings(rate: int, counting: Counting, delay_ms: float = 1000) -> list[float]:
    display = Display(rate)
    timer = TickerTimer(display.ticker, delay_ms, counting=counting)
    at: list[float] = []
    timer.on_timer = lambda: at.append(display.now_ms)
    timer.start()
    display.run(6)
    return at


@pytest.mark.parametrize(
    ("rate", "period"), [(30, 1000), (60, 1000), (120, 500), (144, 417), (240, 250)]
)
def test_that_counting_calls_is_too_fast_above_60_hz(rate: int, period: float) -> None:
    at = _firings(rate, BY_CALLS)

    assert at[0] == pytest.approx(period, abs=8)
    assert len(at) == pytest.approx(6000 / period, abs=1)


@pytest.mark.parametrize("rate", [24, 30, 48, 60, 72, 90, 120, 144, 165, 240])
def test_that_counting_elapsed_time_is_right_on_every_display(rate: int) -> None:
    at = _firings(rate, BY_ELAPSED)

    assert len(at) in (5, 6)
    assert all(abs(ms - 1000 * (k + 1)) < 1000 / rate for k, ms in enumerate(at))


def test_that_elapsed_time_does_not_drift_and_does_not_make_up() -> None:
    at = _firings(60, BY_ELAPSED, delay_ms=90)
    assert len(at) == 66

    display = Display(60)
    timer = TickerTimer(display.ticker, 100)
    calls: list[float] = []
    timer.on_timer = lambda: calls.append(display.now_ms)
    timer.start()
    for ms in (350, 390, 400):
        display.now_ms = ms
        display.ticker.update()
    assert calls == [350, 400]


def test_that_a_timer_tells_what_it_does() -> None:
    display = Display(60)
    timer = TickerTimer(display.ticker, 50, 3)
    completed: list[int] = []
    timer.on_complete = lambda: completed.append(timer.current_count)
    timer.start()
    assert repr(timer) == "<TickerTimer every 50 ms, 0 of 3>"

    display.run(1)

    assert completed == [3]
    assert repr(timer) == "<TickerTimer every 50 ms, 3 of 3, stopped>"
    assert repr(display.ticker) == "<Ticker at 30 frames/s, 0 ticks>"


def test_that_a_tick_can_ask_for_a_render() -> None:
    display = Display(240)
    rendered: list[float] = []
    display.ticker.on_render = lambda: rendered.append(display.now_ms)
    display.ticker.start_tick(lambda _ms: True)

    display.run(1 / 240)

    assert len(rendered) == 1


def test_that_unknown_numbers_are_ignored() -> None:
    ticker = Display(60).ticker

    assert not ticker.clear_timeout(1)
    assert not ticker.clear_interval(1)
    ticker.stop_tick(print)
    ticker.pause()
    assert repr(ticker).endswith("paused>")
    assert ticker.frame_rate == 30


def test_that_timers_are_found_where_scenes_of_earlier_versions_import_them() -> None:
    names = ("BY_CALLS", "BY_ELAPSED", "Counting", "TickerTimer")
    assert all(getattr(ticker, name) is getattr(timer, name) for name in names)
