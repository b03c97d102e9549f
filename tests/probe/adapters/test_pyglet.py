"""The adapter of pyglet with a stand-in for the library, in a time that the test sets."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe.adapters.pyglet import PygletAdapter
from inspector.probe.kinds import (
    FRAME_BEGAN,
    FRAME_ENDED,
    INTERVAL_DELAY,
    LOOP_ASKED,
    NEVER,
    TIMEOUT,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
)
from inspector.probe.kinds import RATE_DENOMINATOR as D
from tests.probe.adapters.played import Played

MS = 1_000_000


def _clock_module(played: Played) -> Any:  # noqa: ANN401, C901 - a small module
    """Return ``pyglet.clock``."""

    def now_s() -> float:
        return played.now_ns / 1e9

    class Item:
        __slots__ = ("func", "interval", "last_ts", "next_ts")

        def __init__(
            self, func: Callable[[float], None], last_ts: float, next_ts: float, interval: float
        ) -> None:
            self.func, self.interval = func, interval
            self.last_ts, self.next_ts = last_ts, next_ts

    class Clock:
        def __init__(self, time_function: Callable[[], float] = now_s) -> None:
            self.time = time_function
            self._schedule_items: list[Callable[[float], None]] = []
            self._schedule_interval_items: list[Item] = []
            self._current_interval_item: Item | None = None
            self.last_ts = self.next_ts = time_function()

        def tick(self, _poll: bool = False) -> float:  # noqa: FBT002 - as there
            return 0.0

        def update_time(self) -> float:
            self.last_ts = self.time()
            return 0.0

        def call_scheduled_functions(self, dt: float) -> bool:
            for func in list(self._schedule_items):
                func(dt)
            items, now = self._schedule_interval_items, self.last_ts
            while items and items[0].next_ts <= now:
                item = self._current_interval_item = items.pop(0)
                item.func(now - item.last_ts)
                if item.interval:
                    # What comes far too late is spread.
                    is_late = now - item.next_ts >= 0.05
                    item.last_ts, item.next_ts = now, now + item.interval / (1 + is_late)
                    self._put(item)
            self._current_interval_item = None
            return False

        def _put(self, item: Item) -> None:
            self._schedule_interval_items.append(item)
            self._schedule_interval_items.sort(key=lambda each: each.next_ts)

        def set(
            self, func: Callable[[float], None], delay_s: float, interval_s: float = 0.0
        ) -> None:
            last_s = self.time()
            self._put(module._ScheduledIntervalItem(func, last_s, last_s + delay_s, interval_s))

        def get_sleep_time(self, _sleep_idle: object) -> float | None:
            items = self._schedule_interval_items
            return max(items[0].next_ts - self.time(), 0.0) if items else None

        def unschedule(self, func: object) -> None:
            items = self._schedule_interval_items
            items[:] = [each for each in items if each.func != func]

    default = Clock()
    module: Any = SimpleNamespace(
        Clock=Clock, _ScheduledIntervalItem=Item, get_default=lambda: default
    )
    return module


class Pyglet(Played):
    """pyglet with one window, and a probe in it.

    Attributes:
        called: What was called, by the names of what is scheduled.
        flips: How often the window has shown something.
        answered: How often it has answered events.
        drawn: When the windows were drawn again, in milliseconds.
        woken: When its loop was woken.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(400 * MS)
        # The library comes after the probe.
        self.now_ns = 500 * MS
        self.called: list[str] = []
        self.flips = self.answered = 0
        self.drawn: list[int] = []
        self.woken: list[int] = []

        def flip(_window: object) -> None:
            self.flips += 1

        def answer(_window: object) -> None:
            self.answered += 1
            if self.answered % 3 == 0:
                self.resume()

        def redraw(_dt: float) -> None:
            self.drawn.append(self.now_ns // MS)
            self.window.flip()

        window_class: Any = type("Window", (), {"flip": flip, "dispatch_events": answer})
        self.window = window_class()
        self.module = _clock_module(self)
        self.clock = self.module.get_default()
        self.loop = SimpleNamespace(
            clock=self.module.Clock(), _redraw_windows=redraw, is_running=True
        )
        self.loop._interval = 1 / 50
        platform_loop = SimpleNamespace(notify=lambda: self.woken.append(self.now_ns))
        self.app = SimpleNamespace(
            event_loop=self.loop, platform_event_loop=platform_loop, windows=[self.window]
        )
        for name, module in (
            ("pyglet", SimpleNamespace(version="2.1")),
            ("pyglet.app", self.app),
            ("pyglet.window", SimpleNamespace(Window=window_class)),
        ):
            monkeypatch.setitem(sys.modules, name, module)
        self.adapter = PygletAdapter(self.program)
        self.adapter.installed(self.module)

    def set(self, name: str, delay_ms: int, interval_ms: int = 0) -> Callable[[float], None]:
        """Schedule a function that notes its name, and return it."""

        def call(_dt: float) -> None:
            self.called.append(name)

        self.clock.set(call, delay_ms / 1e3, interval_ms / 1e3)
        return call

    def call(self, at_ms: int) -> None:
        """Have what is due then called by pyglet's loop."""
        self.now_ns = at_ms * MS
        self.clock.update_time()
        self.clock.call_scheduled_functions(0.0)

    def told(self, kind: int) -> list[tuple[int, int]]:
        """Return what was told by events of a kind, in milliseconds."""
        return [
            (a // MS, b if b == NEVER else b // MS)
            for _, each, _, a, b in self.events
            if each == kind
        ]


@pytest.fixture
def pyglet(monkeypatch: pytest.MonkeyPatch) -> Pyglet:
    return Pyglet(monkeypatch)


def test_that_a_clock_follows_unless_it_has_a_time_of_its_own(pyglet: Pyglet) -> None:
    assert pyglet.adapter.version == "2.1"
    own, later = pyglet.module.Clock(lambda: 7.0), pyglet.module.Clock()
    pyglet.set_rate(D // 2)
    began_s = later.time()
    pyglet.now_ns += 1_000 * MS

    assert own.time() == 7.0
    assert (began_s, later.time()) == pytest.approx((0.5, 1.0))
    assert pyglet.loop.clock.time() == later.time()
    # Of a clock of its own, pyglet's are not held.
    pyglet.hold()
    later.set(lambda _: pyglet.called.append("later"), -1.0)
    later.call_scheduled_functions(0.0)
    assert pyglet.drawn == [1_500]
    own.set(lambda _: pyglet.called.append("own"), 0.0)
    own.call_scheduled_functions(0.0)
    assert own.get_sleep_time(True) is None
    assert own.tick() == 0.0
    assert (pyglet.called, pyglet.answered, pyglet.drawn) == (["own"], 0, [1_500])


def test_that_timers_are_told_with_how_late_they_are_and_when_they_are_due_again(
    pyglet: Pyglet,
) -> None:
    pyglet.set("beat", 100, 100)
    pyglet.set("once", 120)
    for at_ms in (599, 600, 630, 705):
        pyglet.call(at_ms)

    assert pyglet.called == ["beat", "once", "beat"]
    assert pyglet.count(TIMER_ADDED) == 2
    kinds = [b for _, kind, _, _, b in pyglet.events if kind == TIMER_ORIGIN]
    assert kinds == [INTERVAL_DELAY, TIMEOUT]
    assert pyglet.told(TIMER_FIRED) == [(0, 300), (10, NEVER), (5, 405)]
    # As they were set; pyglet has moved none.
    assert pyglet.told(TIMER_ARMED) == [(200, 100), (220, 0)]
    pyglet.call(905)
    assert pyglet.told(TIMER_FIRED)[-1] == (100, 605)
    assert pyglet.told(TIMER_ARMED)[-1][0] == 555


def test_that_what_is_due_at_once_is_told_in_the_order_in_which_it_is_called(
    pyglet: Pyglet,
) -> None:
    for number, delay_ms in enumerate((50, 10, 40, 20, 30, 60, 90)):
        pyglet.set(str(number), delay_ms)
    first = min(pyglet.program.timers)
    pyglet.call(565)

    fired = [subject - first for _, kind, subject, _, _ in pyglet.events if kind == TIMER_FIRED]
    assert [str(each) for each in fired] == pyglet.called == ["1", "3", "4", "2", "0", "5"]


def test_that_what_a_call_schedules_for_now_is_told_to_be_called(pyglet: Pyglet) -> None:
    pyglet.set("later", 200)
    pyglet.clock.set(lambda _: pyglet.clock.set(print, 0.0), 0.1)
    pyglet.call(600)

    assert pyglet.count(TIMER_ADDED) == 3
    assert pyglet.told(TIMER_FIRED) == [(0, NEVER), (0, NEVER)]
    assert len(pyglet.program.timers) == 1


def test_that_what_is_unscheduled_is_cleared_also_by_its_own_call(pyglet: Pyglet) -> None:
    first, _ = pyglet.set("first", 100, 100), pyglet.set("other", 100, 100)

    def end(_dt: float) -> None:
        pyglet.clock.unschedule(end)

    pyglet.clock.set(end, 0.05, 1.0)
    pyglet.clock.unschedule(first)
    assert pyglet.count(TIMER_CLEARED) == 1
    pyglet.call(560)
    pyglet.call(600)

    assert pyglet.called == ["other"]
    assert pyglet.count(TIMER_CLEARED) == 2


def test_that_a_timer_that_is_cleared_from_outside_calls_nothing(pyglet: Pyglet) -> None:
    pyglet.set("beat", 100, 100)
    (number,) = pyglet.program.timers
    timer = pyglet.program.pending(number)
    assert timer is not None
    pyglet.adapter.clear_timer(timer.clock, timer, 1)
    pyglet.call(700)
    pyglet.call(900)

    assert pyglet.called == []
    assert (pyglet.count(TIMER_FIRED), pyglet.count(TIMER_CLEARED)) == (0, 1)


def test_that_what_was_set_without_an_inspector_is_there_when_one_comes(pyglet: Pyglet) -> None:
    pyglet.program.detach()
    pyglet.set("beat", 100, 100)
    for _ in range(2):
        pyglet.attach()
        list(pyglet.adapter.keyframe(pyglet.adapter._clock))
        list(pyglet.adapter.keyframe(pyglet.adapter._clock))
        assert len(pyglet.program.timers) == 1
        pyglet.program.detach()
        pyglet.adapter.released()


def test_that_a_frame_ends_when_its_window_has_shown_what_was_drawn(pyglet: Pyglet) -> None:
    pyglet.clock._schedule_items.append(lambda _dt: pyglet.window.flip())
    for at_ms in (500, 520, 540):
        pyglet.call(at_ms)
        assert pyglet.flips == pyglet.count(FRAME_BEGAN) == pyglet.count(FRAME_ENDED)
    pyglet.clock._schedule_items.clear()
    # Nothing is called in this turn.
    pyglet.call(560)

    assert pyglet.count(FRAME_BEGAN) == 3
    assert pyglet.told(LOOP_ASKED) == [(20, 0)]


@pytest.mark.parametrize(
    ("interval_s", "is_running", "asked"),
    [(0.02, True, [(20, 0)]), (None, True, [(10, 0)]), (0.02, False, [])],
)
def test_that_the_time_from_frame_to_frame_is_that_of_the_loop_or_of_its_windows(
    pyglet: Pyglet, interval_s: float | None, asked: list[tuple[int, int]], *, is_running: bool
) -> None:
    pyglet.loop._interval, pyglet.loop.is_running = interval_s, is_running
    pyglet.window._draw_rate = 0.01
    pyglet.clock._schedule_items.append(lambda _dt: None)
    pyglet.call(520)

    assert pyglet.told(LOOP_ASKED) == asked


def test_that_a_frame_goes_on_until_something_is_shown_and_holds_no_call(pyglet: Pyglet) -> None:
    def show(_dt: float) -> None:
        pyglet.hold()
        pyglet.window.flip()
        pyglet.called.append("shown")

    pyglet.set("beat", 10, 10)
    for at_ms in (510, 520, 530):
        pyglet.call(at_ms)
    assert (pyglet.count(FRAME_BEGAN), pyglet.count(FRAME_ENDED)) == (1, 0)
    pyglet.clock._schedule_items.append(show)
    pyglet.call(535)

    assert (pyglet.count(FRAME_BEGAN), pyglet.count(FRAME_ENDED)) == (1, 1)
    assert (pyglet.called[-1], pyglet.answered) == ("shown", 0)


def test_that_a_turn_without_windows_is_a_frame(pyglet: Pyglet) -> None:
    pyglet.app.windows.clear()
    pyglet.set("beat", 100, 100)
    for at_ms in (550, 601, 702):
        pyglet.call(at_ms)

    assert (pyglet.count(FRAME_BEGAN), pyglet.count(FRAME_ENDED)) == (2, 2)


def test_that_a_loop_of_the_programs_own_is_held_where_it_shows_a_frame(pyglet: Pyglet) -> None:
    began, ended = pyglet.count(FRAME_BEGAN), pyglet.count(FRAME_ENDED)
    pyglet.hold()
    pyglet.window.flip()
    assert pyglet.answered == 3
    assert pyglet.count(FRAME_BEGAN) - began == pyglet.count(FRAME_ENDED) - ended == 1
    pyglet.hold()
    pyglet.clock.tick()
    assert pyglet.answered == 6


@pytest.mark.parametrize(("off_ns", "is_due"), [(0, True), (2, True), (-2, True), (3, False)])
def test_that_a_held_loop_goes_on_for_what_is_due_at_the_instant_at_which_it_is_held(
    pyglet: Pyglet, off_ns: int, *, is_due: bool
) -> None:
    pyglet.hold()
    pyglet.clock.set(lambda _: None, (off_ns - 1) / 1e9)

    waits = [pyglet.clock.get_sleep_time(sleep_idle) for sleep_idle in (True, False)]
    assert waits == ([0.0, 0.0] if is_due else [None, 0.05])


def test_that_only_what_is_due_is_called_by_a_held_loop(pyglet: Pyglet) -> None:
    def each_turn(_dt: float) -> None:
        pyglet.called.append("each turn")

    pyglet.set("due", 0)
    pyglet.set("later", 50)
    pyglet.clock._schedule_items.append(each_turn)
    pyglet.hold()
    pyglet.call(600)

    assert pyglet.called == ["due"]
    assert pyglet.clock._schedule_items == [each_turn]


def test_that_a_held_window_is_not_drawn_all_the_time(pyglet: Pyglet) -> None:
    pyglet.clock._schedule_items.append(lambda _dt: None)
    pyglet.call(500)
    frames = pyglet.count(FRAME_ENDED)
    pyglet.hold()
    blocks = []
    for at_ms in (500, 549, 550, 551, 600):
        pyglet.call(at_ms)
        blocks.append(pyglet.clock.get_sleep_time(True) is None)

    assert pyglet.drawn == [500, 550, 600]
    # What was not drawn is to be drawn soon.
    assert blocks == [True, False, True, False, True]
    assert (pyglet.answered, pyglet.count(FRAME_ENDED)) == (0, frames)
    pyglet.resume()
    pyglet.window.flip()
    assert pyglet.count(FRAME_ENDED) == frames + 1


def test_that_a_loop_sleeps_as_long_as_local_time_says(pyglet: Pyglet) -> None:
    assert pyglet.clock.get_sleep_time(True) is None
    pyglet.set("beat", 100, 100)
    pyglet.set_rate(D // 2)
    assert pyglet.clock.get_sleep_time(True) == pytest.approx(0.2)
    pyglet.program.detach()
    assert pyglet.clock.get_sleep_time(True) == pytest.approx(0.1)


def test_that_virtual_time_goes_on_while_a_loop_sleeps(pyglet: Pyglet) -> None:
    virtual: Any = SimpleNamespace()
    pyglet.program.waits = virtual
    assert pyglet.clock.get_sleep_time(True) is None
    pyglet.set("beat", 100, 100)

    assert pyglet.clock.get_sleep_time(True) == 0.0
    assert pyglet.now_ns == 600 * MS


def test_that_a_turn_by_hand_calls_what_is_due_and_says_when_the_next_is(pyglet: Pyglet) -> None:
    pyglet.set("beat", 100, 100)
    pyglet.now_ns = 600 * MS
    next_ns = pyglet.adapter.turn()
    assert pyglet.called == ["beat"]
    assert next_ns == pyglet.program.own_clock.local_ns() + 100 * MS + 1
    pyglet.clock._schedule_items.append(lambda _dt: None)
    next_ns = pyglet.adapter.turn()
    assert next_ns is not None
    assert next_ns - pyglet.program.own_clock.local_ns() < 20 * MS


def test_that_a_loop_is_woken_by_a_change_of_its_clock(pyglet: Pyglet) -> None:
    pyglet.hold()

    assert pyglet.woken == [pyglet.now_ns]
