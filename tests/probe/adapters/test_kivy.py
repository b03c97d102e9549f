"""What the adapter of Kivy does with its clocks, of which only what it touches is there."""

# ruff: noqa: ANN401 - as the library has it

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe.adapters.kivy import KivyAdapter
from inspector.probe.clocks import Clock
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
#: Kivy calls what is due up to this much later.
RESOLUTION_S = 0.001


class Event:
    def __init__(
        self, clock: Any, callback: Callable[[], object], timeout: float, *, loop: bool
    ) -> None:
        self.clock, self.callback, self.timeout, self.loop = clock, callback, timeout, loop
        self._last_dt = clock._last_tick

    def get_callback(self) -> Callable[[], object]:
        return self.callback

    def cancel(self) -> None:
        self.clock.events.remove(self)

    def __call__(self) -> None:
        self._last_dt = self.clock._last_tick
        self.clock.events.append(self)

    def tick(self, now_s: float) -> None:
        if now_s - self._last_dt >= self.timeout - RESOLUTION_S:
            self._last_dt = now_s
            if not self.loop:
                self.cancel()
            self.callback()


class Kivy(Played):
    """Kivy, which was imported after 100 ms of local time, and a probe in it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: C901 - small classes
        super().__init__(400 * MS)
        self.now_ns = 500 * MS
        self.slept_ms: list[float] = []
        kivy = self

        class CyClockBase:
            def __init__(self) -> None:
                self.events: list[Event] = []
                self._last_tick = self.time()  # type: ignore[attr-defined]

            def schedule_once(self, callback: Any, timeout: float = 0) -> Event:
                self.events.append(Event(self, callback, timeout, loop=False))
                return self.events[-1]

            def schedule_interval(self, callback: Any, timeout: float) -> Event:
                self.events.append(Event(self, callback, timeout, loop=True))
                return self.events[-1]

            def get_events(self) -> list[Event]:
                return self.events

            def get_resolution(self) -> float:
                return RESOLUTION_S

            def _process_events(self) -> None:
                for each in list(self.events):
                    each.tick(self._last_tick)

        class ClockBaseBehavior:
            _max_fps = 0
            _last_tick = _dt = 0.0
            time = staticmethod(lambda: kivy.now_ns / 1e9)

            def _check_ready(self, left_s: float) -> tuple[bool, float]:
                return left_s <= 0, left_s

            def left_s(self) -> float:
                return self._last_tick + 1 / self._max_fps - self.time() if self._max_fps else 0.0

            def idle(self) -> float:
                done, left_s = self._check_ready(round(self.left_s(), 6))
                while not done:
                    kivy.sleep(left_s)
                    done, left_s = self._check_ready(round(self.left_s(), 6))
                self._dt, self._last_tick = self.time() - self._last_tick, self.time()
                return self._last_tick

            def pre_idle(self) -> None:
                kivy.steps.append("before")

            def post_idle(self, _current_s: float) -> None:
                kivy.steps.append("after")
                self._process_events()  # type: ignore[attr-defined]

            def tick(self) -> None:
                self.pre_idle()
                self.post_idle(self.idle())

        class ClockBaseInterruptBehavior(ClockBaseBehavior):
            def __init__(self) -> None:
                super().__init__()
                self._event = SimpleNamespace(set=lambda: kivy.steps.append("woken"))

            def _check_ready(self, left_s: float) -> tuple[bool, float]:
                return left_s <= 0, left_s

            def idle(self) -> float:
                done, left_s = self._check_ready(self.left_s())
                if not done:
                    kivy.sleep(left_s)
                self._dt, self._last_tick = self.time() - self._last_tick, self.time()
                return self._last_tick

        class KivyClock(ClockBaseBehavior, CyClockBase): ...

        class InterruptClock(ClockBaseInterruptBehavior, CyClockBase): ...

        self.steps: list[str] = []
        module: Any = SimpleNamespace(
            CyClockBase=CyClockBase,
            ClockBaseBehavior=ClockBaseBehavior,
            ClockBaseInterruptBehavior=ClockBaseInterruptBehavior,
        )
        package: Any = SimpleNamespace(__version__="2.3")
        monkeypatch.setitem(sys.modules, "kivy", package)
        self.adapter = KivyAdapter(self.program)
        self.adapter.installed(module)
        self.program.wait_while_held = self._wait_while_held  # type: ignore[method-assign]
        self.clock: Any = KivyClock()
        self.interrupted: Any = InterruptClock()
        module.Clock = self.clock
        monkeypatch.setitem(sys.modules, "kivy.clock", module)
        self.began = len(self.events)

    def sleep(self, seconds: float) -> None:
        self.slept_ms.append(round(seconds * 1e3, 3))
        self.now_ns += round(seconds * 1e9)

    def _wait_while_held(self, clock: Clock, pump: Callable[[], object] | None = None) -> None:
        assert pump is not None
        while clock.is_held:
            pump()
            self.now_ns += 10 * MS

    def frame(self, at_ms: float) -> None:
        """Have a frame at a time of the machine."""
        self.now_ns = round(at_ms * MS)
        self.clock.tick()

    def told(self, *kinds: int) -> list[tuple[Any, ...]]:
        """Return what was told of timers, the first number 1, times in milliseconds."""
        return [
            (kind, number, a / MS, b if b == NEVER else b / MS)
            for _, kind, number, a, b in self.events
            if kind in kinds
        ]


@pytest.fixture
def kivy(monkeypatch: pytest.MonkeyPatch) -> Kivy:
    return Kivy(monkeypatch)


def beat() -> None: ...


def once() -> None: ...


def test_that_what_is_scheduled_is_told_with_its_name_line_kind_and_times(kivy: Kivy) -> None:
    assert kivy.adapter.version == "2.3"
    kivy.frame(510)
    kivy.clock.schedule_once(once, 0.1)
    kivy.clock.schedule_interval(beat, 0.04)
    # What is called in each frame is no timer.
    kivy.clock.schedule_once(once)
    kivy.clock.schedule_interval(beat, 0)

    timers = kivy.program.timers
    texts = kivy.program.texts
    assert [texts[name] for _, name, *_ in timers.values()] == ["once", "beat"]
    assert all("test_kivy.py" in texts[site] for _, _, site, *_ in timers.values())
    times: list[tuple[Any, ...]] = [
        (kind, due / MS, period / MS) for *_, kind, due, period in timers.values()
    ]
    assert times == [
        (TIMEOUT, pytest.approx(210), 0),
        (INTERVAL_DELAY, pytest.approx(150), 40),
    ]
    assert kivy.count(TIMER_ORIGIN) == 2


def test_that_a_call_is_as_late_as_it_was_due_and_an_interval_counts_from_its_call(
    kivy: Kivy,
) -> None:
    kivy.frame(500)
    kivy.clock.schedule_once(once, 0.1)
    kivy.clock.schedule_interval(beat, 0.04)
    # Kivy calls early by its resolution, which is not late.
    for at_ms in (538.5, 539.5, 550, 590, 598.5, 615):
        kivy.frame(at_ms)

    assert kivy.told(TIMER_FIRED) == [
        (TIMER_FIRED, 2, 0, pytest.approx(179.5)),
        (TIMER_FIRED, 2, pytest.approx(10.5), pytest.approx(230)),
        (TIMER_FIRED, 1, pytest.approx(15), NEVER),
    ]
    assert kivy.told(TIMER_CLEARED, TIMER_ARMED) == [
        (TIMER_ARMED, 1, pytest.approx(200), 0),
        (TIMER_ARMED, 2, pytest.approx(140), 40),
    ]


def test_that_what_is_moved_or_cancelled_is_told_after_the_frame(kivy: Kivy) -> None:
    other = kivy.interrupted
    moved = kivy.clock.schedule_once(once, 0.1)
    gone = kivy.clock.schedule_once(once, 0.1)
    elsewhere = other.schedule_once(once, 0.1)
    kivy.frame(510)
    moved.timeout = 0.3
    gone.cancel()
    # Another clock tells of its own events in its own frames.
    elsewhere.timeout = 0.2
    kivy.frame(520)

    assert kivy.told(TIMER_CLEARED) == [(TIMER_CLEARED, 2, 0, 0)]
    assert kivy.told(TIMER_ARMED)[3:] == [(TIMER_ARMED, 1, pytest.approx(400), 0)]
    assert list(kivy.program.timers) == [1, 3]


@pytest.mark.parametrize("way", ["called", "cancelled", "cleared"])
def test_that_an_event_that_is_triggered_again_is_another_timer(kivy: Kivy, way: str) -> None:
    event: Any = kivy.clock.schedule_once(lambda: event() if way == "called" else None, 0.1)
    kivy.frame(510)
    match way:
        case "called":
            for at_ms in (610, 620):
                kivy.frame(at_ms)
        case "cancelled":
            event.cancel()
            kivy.frame(520)
            event()
            kivy.frame(530)
        case "cleared":
            timer = kivy.program.pending(1)
            assert timer is not None
            kivy.adapter.clear_timer(kivy.adapter._clock, timer, 1)
            event()
            kivy.frame(530)

    assert list(kivy.program.timers) == [2]


def test_that_what_was_scheduled_unseen_is_told_when_an_inspector_comes(kivy: Kivy) -> None:
    kivy.program.detach()
    event = kivy.clock.schedule_interval(beat, 0.04)
    kivy.clock.schedule_interval(beat, 0)
    kivy.frame(550)
    assert len(kivy.events) == kivy.began
    # A clock that runs is known from its frames on.
    assert kivy.steps == ["before", "after"]
    kivy.attach()
    clock = kivy.adapter._clock
    for _ in range(2):
        assert list(kivy.adapter.keyframe(clock)) == [None, None]
    assert kivy.count(TIMER_ADDED) == 1

    kivy.program.detach()
    kivy.adapter.released()
    kivy.attach()
    # The first frame finds it too.
    kivy.frame(560)
    (timer,) = map(kivy.program.pending, kivy.program.timers)
    assert timer is not None
    assert timer.handle is event
    kivy.adapter.clear_timer(clock, timer, 7)
    kivy.frame(700)
    assert kivy.told(TIMER_CLEARED) == [(TIMER_CLEARED, timer.number, 0, 7 / MS)]
    assert kivy.count(TIMER_FIRED) == 0


def test_that_a_turn_is_a_frame_with_the_rate_that_is_asked_for(kivy: Kivy) -> None:
    for at_ms in (520, 540, 560):
        kivy.frame(at_ms)
    kivy.clock._max_fps = 50
    kivy.clock.tick()
    frames = [kind for _, kind, *_ in kivy.events if kind in {FRAME_BEGAN, FRAME_ENDED}]

    assert frames == [FRAME_BEGAN, FRAME_ENDED] * 3 + [FRAME_BEGAN]
    assert [a for _, kind, _, a, _ in kivy.events if kind == LOOP_ASKED] == [20 * MS]
    assert kivy.slept_ms == [20]
    # A frame of which the inspector saw no end has none.
    kivy.program.detach()
    kivy.attach()
    kivy.clock.tick()
    assert kivy.count(FRAME_ENDED) == 3


def test_that_a_held_loop_turns_at_one_instant_and_keeps_only_repeated_events_from_it(
    kivy: Kivy,
) -> None:
    called: list[str] = []
    kivy.clock.schedule_interval(lambda: called.append("each frame"), 0)
    kivy.clock.schedule_interval(lambda: called.append("interval"), 0.02)
    kivy.frame(510)
    kivy.hold()
    began_s = kivy.clock.time()
    kivy.clock.schedule_once(lambda: called.append("once"))
    kivy.now_ns += 70 * MS
    for _ in range(2):
        kivy.clock.tick()
    assert (kivy.clock._last_tick, kivy.clock._dt) == (began_s, 0)

    assert called == ["each frame", "once"]
    assert [each.timeout for each in kivy.clock.events] == [0, 0.02]
    assert (kivy.count(FRAME_BEGAN), kivy.count(FRAME_ENDED)) == (1, 1)
    # A turn of a held loop lasts 50 ms.
    assert kivy.now_ns == pytest.approx((510 + 70 + 2 * 50) * MS)
    kivy.resume()
    kivy.frame(700)
    assert called == ["each frame", "once", "each frame", "interval"]


def test_that_an_interval_is_called_where_the_program_is_held_as_it_is_due(kivy: Kivy) -> None:
    called: list[str] = []
    kivy.clock.schedule_interval(lambda: called.append("interval"), 0.02)
    kivy.clock.schedule_interval(lambda: called.append("each frame"), 0)
    kivy.now_ns = 520 * MS
    kivy.hold()
    kivy.clock.tick()

    assert called == ["interval"]


def test_that_what_is_due_waits_for_a_frame(kivy: Kivy) -> None:
    kivy.clock.schedule_once(once, 0.1)
    kivy.now_ns += 100 * MS
    assert kivy.program.is_call_due
    kivy.clock.tick()
    assert not kivy.program.is_call_due


@pytest.mark.parametrize(
    ("rate_n", "slept_ms", "woken_ms"),
    [(D, [20], [20]), (D // 2, [40], [40]), (D // 8, [50, 50, 50, 10], [160]), (2 * D, [10], [10])],
)
def test_that_a_loop_waits_as_long_as_local_time_says_and_looks_at_changes(
    kivy: Kivy, rate_n: int, slept_ms: list[float], woken_ms: list[float]
) -> None:
    kivy.clock._max_fps = kivy.interrupted._max_fps = 50
    kivy.set_rate(rate_n)
    kivy.clock.tick()
    assert kivy.slept_ms == slept_ms

    # This one is woken by changes, so that it need not look.
    kivy.interrupted.tick()
    kivy.interrupted.tick()
    assert kivy.slept_ms[len(slept_ms) :] == woken_ms
    assert "woken" not in kivy.steps
    kivy.hold()
    assert kivy.steps[-1] == "woken"


def test_that_what_waits_in_an_event_loop_follows_its_time(kivy: Kivy) -> None:
    kivy.set_rate(D // 2)

    for _ in range(2):
        assert kivy.clock._check_ready(0.02) == (False, 0.02)
        assert kivy.clock._check_ready(0) == (True, 0)
        kivy.clock.tick()


def test_that_a_pause_that_comes_in_a_wait_ends_it(kivy: Kivy) -> None:
    kivy.clock._max_fps = 50
    kivy.set_rate(D // 2)
    sleep = kivy.sleep

    def sleep_and_hold(seconds: float) -> None:
        sleep(seconds / 2)
        kivy.hold()

    kivy.sleep = sleep_and_hold  # type: ignore[method-assign]
    kivy.clock.tick()

    assert kivy.slept_ms == [20]
    assert kivy.clock.time() == pytest.approx(0.51)


@pytest.mark.parametrize(("fps", "frame_ms"), [(50, 20), (0, 1e3 / 60)])
def test_that_virtual_time_goes_from_frame_to_frame_except_in_a_turn_by_hand(
    kivy: Kivy, fps: float, frame_ms: float
) -> None:
    virtual: Any = SimpleNamespace()
    kivy.program.waits = virtual
    kivy.clock._max_fps = fps
    kivy.clock.schedule_interval(beat, 0.02)

    def sleep_until(clock: Clock, local_ns: int, _pump: object = None) -> None:
        kivy.steps.append(f"{(local_ns - 100 * MS) / MS:.3f}")
        kivy.resume()
        kivy.now_ns += local_ns - clock.local_ns()

    kivy.program.sleep_until = sleep_until  # type: ignore[assignment, method-assign]
    for each in (kivy.clock.tick, kivy.adapter.turn, kivy.clock.tick):
        kivy.hold()
        each()

    assert kivy.steps == [
        *("before", f"{frame_ms:.3f}", "after"),
        *("before", "after"),
        *("before", f"{2 * frame_ms:.3f}", "after"),
    ]
    # In virtual time, a held clock is not at rest.
    assert kivy.count(FRAME_BEGAN) == 3
    assert kivy.clock._dt == pytest.approx(frame_ms / 1e3)
    kivy.hold()
    kivy.adapter.turn()
    assert (kivy.clock._dt, kivy.clock._last_tick) == (0, kivy.clock.time())


def test_that_only_the_main_thread_turns_it_by_hand(kivy: Kivy) -> None:
    found: list[object] = []
    kivy.clock.schedule_interval(beat, 0)
    thread = Thread(target=lambda: found.append(kivy.adapter.turn()))
    thread.start()
    thread.join()

    assert found == [None]
    assert kivy.steps == []
