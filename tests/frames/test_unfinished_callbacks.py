"""Async and generator callbacks are refused wherever they are set, and say what to write."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any

import pytest

from inspector.clocks import ClockTree
from inspector.engines.browser_timers import BrowserTimers
from inspector.engines.cocos.dialects import COCOS2DX_3_15, CREATOR_2_4
from inspector.engines.cocos.scheduler import DialectScheduler
from inspector.engines.creator.components import Component
from inspector.engines.creator.director import CreatorDirector, DirectorEvent
from inspector.engines.egret.ticker import Ticker
from inspector.engines.egret.timer import TickerTimer
from inspector.engines.open_flash import OpenFlashClock
from inspector.events.log import EventLog
from inspector.frames.director import Director
from inspector.frames.loop import start_loop
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.frames.state_machine import Edge, StateMachine

SECOND = 1_000_000_000


async def coroutine(*_arguments: object) -> None:
    raise AssertionError


def generator(*_arguments: object) -> Iterator[None]:
    yield


async def async_generator(*_arguments: object) -> AsyncIterator[None]:
    yield


class Awaited:
    async def __call__(self, *_arguments: object) -> None:
        raise AssertionError


#: What would do nothing when called, and the words with which it is refused.
UNFINISHED: dict[str, tuple[Callable[..., Any], str]] = {
    "async function": (coroutine, "nothing here awaits the async function 'coroutine'"),
    "generator": (generator, "nothing here advances the generator function 'generator'"),
    "async generator": (async_generator, "nothing here awaits the async generator"),
    "object": (Awaited(), "nothing here awaits the async function 'Awaited'"),
    "partial": (partial(coroutine, 1), "nothing here awaits the async function"),
}
#: The same behind a function that cannot be seen through, and the words.
HIDDEN: dict[str, tuple[Callable[..., Any], str]] = {
    "async function": (lambda *_: coroutine(), "nothing here awaits the coroutine 'coroutine'"),
    "generator": (lambda *_: generator(), "nothing here advances the generator 'generator'"),
    "async generator": (lambda *_: async_generator(), "nothing here awaits the async generator"),
}


class World:
    """A tree driven by hand, recorded or not, and its reported failures."""

    def __init__(self, *, is_recorded: bool) -> None:
        self.tree = ClockTree(EventLog() if is_recorded else None)
        self.clock = self.tree.root.child("game")
        self.failures: list[str] = []
        self.tree.on_failure = lambda failure: self.failures.append(str(failure.error))
        self.director = Director(self.clock)

    def run(self, frame: Callable[[], object] = lambda: None) -> None:
        """Let two seconds pass with two frames; what gets out is a failure too."""
        for _ in range(2):
            self.tree.run_to(self.tree.now_ns + SECOND)
            try:
                frame()
                self.director.run_frame(SECOND)
            except TypeError as error:
                self.failures.append(str(error))


Setting = Callable[[World, Callable[..., Any]], object]


def _component(method: str, world: World, callback: Callable[..., Any]) -> object:
    director = CreatorDirector(clock=world.clock)
    world.director.on("update", director.run_frame)
    director.on_failure = lambda failure: world.failures.append(str(failure.error))
    kind = type("Fox", (Component,), {method: lambda _self, *arguments: callback(*arguments)})
    if _is_unfinished(callback):
        kind = type("Fox", (Component,), {method: staticmethod(callback)})
    return director.node("den").add_component(kind())


def _is_unfinished(callback: Callable[..., Any]) -> bool:
    return callback in [each for each, _ in UNFINISHED.values()]


def _machine(hook: str, world: World, callback: Callable[..., Any]) -> object:
    edge = Edge("a", "b")
    if hook in {"on_transition", "guard"}:
        edge = Edge("a", "b", **{hook: callback})
    elif hook == "target":
        edge = Edge("a", callback)
    machine: StateMachine[str, str] = StateMachine("a", {"go": edge}, clock=world.clock)
    if hook in {"on_before", "on_after"}:
        setattr(machine, hook, callback)
    return world.director.on("start", lambda _: machine.go("go"))


def _ticker(world: World, setting: Callable[[Ticker], object]) -> Ticker:
    ticker = Ticker(clock=world.clock)
    setting(ticker)
    world.director.on("update", ticker.run_frame)
    return ticker


def _ticker_timer(attribute: str, world: World, callback: Callable[..., Any]) -> object:
    timer = TickerTimer(_ticker(world, lambda _: None), 500, 1)
    setattr(timer, attribute, callback)
    timer.start()
    return timer


def _dialect(world: World, setting: Callable[[DialectScheduler], object]) -> object:
    scheduler = DialectScheduler(CREATOR_2_4, clock=world.clock)
    setting(scheduler)
    return world.director.on("update", scheduler.run_frame)


def _scheduler(world: World, setting: Callable[[Scheduler], object]) -> object:
    scheduler = Scheduler(world.clock)
    setting(scheduler)
    return world.director.on("update", scheduler.run_frame)


def _creator_event(world: World, callback: Callable[..., Any]) -> object:
    director = CreatorDirector(clock=world.clock)
    director.on(DirectorEvent.BEFORE_UPDATE, callback)
    return world.director.on("update", director.run_frame)


def _loop_told(world: World, callback: Callable[..., Any]) -> object:
    loop = start_loop(world.clock, 1, lambda: world.tree.jump_to(world.tree.now_ns + 3 * SECOND))
    loop.on_missed = callback
    return loop


SETTINGS: dict[str, Setting] = {
    "timeout": lambda world, call: world.clock.set_timeout(1, call, name="named"),
    "interval": lambda world, call: world.clock.set_interval(1, call),
    "posted": lambda world, call: world.clock.post(call),
    "loop": lambda world, call: start_loop(world.clock, 2, call),
    "missed tick": _loop_told,
    "child clock": lambda world, call: OpenFlashClock(world.clock).set_timeout_ns(SECOND, call),
    "browser": lambda world, call: BrowserTimers(world.clock).set_interval(call, 900),
    "director": lambda world, call: world.director.on("update", call),
    "scheduler timer": lambda world, call: _scheduler(world, lambda made: made.schedule(call, 0.5)),
    "scheduler once": lambda world, call: _scheduler(
        world, lambda made: made.schedule(call, 0.5, repeat=0)
    ),
    "scheduler update": lambda world, call: _scheduler(
        world, lambda made: made.schedule_update("hero", callback=call)
    ),
    "scheduler posted": lambda world, call: _scheduler(world, lambda made: _wait(made.post(call))),
    "dialect timer": lambda world, call: _dialect(world, lambda made: made.schedule(call, 0.5)),
    "dialect update": lambda world, call: _dialect(
        world, lambda made: made.schedule_update("hero", callback=call)
    ),
    "creator event": _creator_event,
    "tick": lambda world, call: _ticker(world, lambda made: made.start_tick(call)),
    "ticker async": lambda world, call: _ticker(world, lambda made: made.call_async(call)),
    "ticker later": lambda world, call: _ticker(world, lambda made: made.call_later(call)),
    "ticker timeout": lambda world, call: _ticker(world, lambda made: made.set_timeout(call, 500)),
    "ticker interval": lambda world, call: _ticker(
        world, lambda made: made.set_interval(call, 500)
    ),
    "ticker render": lambda world, call: _ticker(
        world, lambda made: setattr(made, "on_render", call)
    ),
    "ticker frame": lambda world, call: _ticker(
        world, lambda made: setattr(made, "on_enter_frame", call)
    ),
}
SETTINGS |= {f"ticker {name}": partial(_ticker_timer, name) for name in ("on_timer", "on_complete")}
SETTINGS |= {
    f"component {name}": partial(_component, name)
    for name in ("on_load", "on_enable", "start", "update", "late_update")
}
SETTINGS |= {
    f"machine {name}": partial(_machine, name)
    for name in ("on_before", "on_after", "on_transition", "guard", "target")
}


def _wait(_future: object) -> None:
    """Leave a future alone."""


@pytest.mark.parametrize("unfinished", UNFINISHED)
@pytest.mark.parametrize("setting", SETTINGS)
def test_that_what_would_do_nothing_is_refused_where_it_is_set(
    setting: str, unfinished: str
) -> None:
    callback, words = UNFINISHED[unfinished]
    world = World(is_recorded=True)

    with pytest.raises(TypeError, match=words):
        SETTINGS[setting](world, callback)


@pytest.mark.parametrize("is_recorded", [True, False])
@pytest.mark.parametrize("unfinished", HIDDEN)
@pytest.mark.parametrize("setting", SETTINGS)
def test_that_it_is_refused_through_a_function_as_soon_as_it_is_returned(
    setting: str, unfinished: str, is_recorded: bool
) -> None:
    callback, words = HIDDEN[unfinished]
    world = World(is_recorded=is_recorded)

    try:
        SETTINGS[setting](world, callback)
    except TypeError as error:
        # What is called within this, as an on_load is, lets it through.
        world.failures.append(str(error))
    world.run()
    # A coroutine that was not closed warns here, which fails the test. Older objects need not be
    # looked through, two hundred times.
    gc.collect(1)

    assert world.failures, "was taken"
    assert all(words in text for text in world.failures), world.failures


def test_that_hooks_per_state_are_refused_when_they_return() -> None:
    machine: StateMachine[str, str] = StateMachine("a", {"go": Edge("a", "b")})
    machine.on_enter["b"] = coroutine

    with pytest.raises(TypeError, match="nothing here awaits the coroutine 'coroutine'"):
        machine.go("go")
    gc.collect()


def test_that_posted_functions_of_a_dialect_are_refused_when_they_return() -> None:
    scheduler = DialectScheduler(COCOS2DX_3_15)
    scheduler.post(coroutine)

    with pytest.raises(TypeError, match="nothing here awaits"):
        scheduler.update(1)
    gc.collect()
