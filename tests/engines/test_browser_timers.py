"""Timers of a browser: by the standard, and as Chromium has them."""

from __future__ import annotations

from inspector.clocks import ClockTree
from inspector.engines.browser_timers import BrowserRules, BrowserTimers

MS = 1_000_000


class Page:
    """Timers on a clock, and the instants at which they were called."""

    def __init__(self, rules: BrowserRules = BrowserRules.STANDARD) -> None:
        self.tree = ClockTree()
        self.timers = BrowserTimers(self.tree.root, rules)
        self.called_ms: list[int] = []

    def note(self) -> None:
        self.called_ms.append(self.tree.now_ns // MS)

    def advance(self, ms: int) -> None:
        self.tree.run_to(self.tree.now_ns + ms * MS)


def test_that_the_standard_counts_from_the_end_of_a_call_and_chromium_keeps_the_phase() -> None:
    calls = {}
    for rules in BrowserRules:
        page = Page(rules)
        page.timers.set_interval(page.note, 1000)
        page.advance(1000)
        # A blocked page: one late call.
        page.tree.jump_to(3300 * MS)
        page.advance(2000)
        calls[rules] = page.called_ms

    assert calls[BrowserRules.STANDARD] == [1000, 3300, 4300, 5300]
    assert calls[BrowserRules.CHROMIUM] == [1000, 3300, 4000, 5000]


def test_that_an_interval_without_delay_is_held_back_after_six_calls() -> None:
    page = Page()
    page.timers.set_interval(page.note)

    page.advance(10)

    assert page.called_ms == [0, 0, 0, 0, 0, 0, 4, 8]


def test_that_delays_are_whole_milliseconds_of_32_bits() -> None:
    page = Page()
    for delay_ms in (2.9, -5, 2**31, 2**32 + 5, float("nan")):
        page.timers.set_timeout(page.note, delay_ms)

    page.advance(10)

    assert page.called_ms == [0, 0, 0, 2, 5]


def test_that_an_interval_that_raises_goes_on() -> None:
    page = Page()
    page.tree.on_failure = lambda _failure: None

    def fail() -> None:
        page.note()
        raise ValueError

    page.timers.set_interval(fail, 100)
    page.advance(350)

    assert page.called_ms == [100, 200, 300]


def test_that_a_cleared_timer_is_called_no_more() -> None:
    page = Page(BrowserRules.CHROMIUM)
    numbers: list[int] = []

    def once() -> None:
        page.note()
        assert page.timers.clear(numbers[0])

    numbers.append(page.timers.set_interval(once, 10))
    page.advance(100)

    assert page.called_ms == [10]
    assert not page.timers.clear(numbers[0])
    assert repr(page.timers) == "<BrowserTimers by the rules of Chromium, 0 pending>"
