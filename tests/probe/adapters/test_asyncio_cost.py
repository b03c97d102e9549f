"""What following loops of asyncio costs, on loops that take as long as a test says."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from types import SimpleNamespace, coroutine
from typing import Any

import pytest

from inspector.probe import cost
from inspector.probe.adapters import asyncio_cost
from inspector.probe.adapters.asyncio_cost import MOST_LEFT_OUT, measured_costs
from inspector.probe.kinds import (
    FRAME_BEGAN,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
)


class Loop:
    """A loop whose work takes so many nanoseconds of the processor, by its name."""

    def __init__(self, take: Callable[[int], None], costs_ns: dict[str, int]) -> None:
        self.take = take
        self.costs_ns = costs_ns
        self.tasks: list[Coroutine[Any, Any, None]] = []
        self._selector = SimpleNamespace(select=lambda _timeout: self.takes("select"))

    def takes(self, what: str) -> None:
        self.take(self.costs_ns[what])

    def time(self) -> None:
        self.takes("read")

    def call_later(self, _delay: float, _call: object) -> SimpleNamespace:
        self.takes("set")
        return SimpleNamespace(
            _run=partial(self.takes, "run"), cancel=partial(self.takes, "cancel")
        )

    def call_soon(self, *_: object) -> None:
        """Keep a turn from waiting."""

    def create_task(self, task: Coroutine[Any, Any, None]) -> SimpleNamespace:
        self.tasks.append(task)
        return SimpleNamespace(cancel=partial(self.tasks.remove, task))

    def _run_once(self) -> None:
        for task in self.tasks:
            task.send(None)
            self.takes("sleep")


PLAIN = {"set": 100, "run": 50, "cancel": 30, "sleep": 300, "select": 200, "read": 40}
FOLLOWED = {"set": 500, "run": 150, "cancel": 90, "sleep": 700, "select": 260, "read": 45}


@pytest.mark.parametrize(
    ("followed", "one_of", "armed_ns", "added_ns"),
    [(FOLLOWED, 1, 300, 100), (FOLLOWED, 5, 340, 60), (PLAIN, 1, 0, 0), (PLAIN, 5, 40, 0)],
)
def test_that_what_hooks_cost_is_what_a_loop_takes_more_than_one_without(
    monkeypatch: pytest.MonkeyPatch,
    followed: dict[str, int],
    one_of: int,
    armed_ns: int,
    added_ns: int,
) -> None:
    used_ns = 0

    def take(ns: int) -> None:
        nonlocal used_ns
        used_ns += ns

    @coroutine
    def sleep(_seconds: float) -> Iterator[None]:
        yield

    running: list[object] = []
    module = SimpleNamespace(sleep=sleep, events=SimpleNamespace(_set_running_loop=running.append))
    for each in (cost, asyncio_cost):
        monkeypatch.setattr(each, "thread_time_ns", lambda: used_ns)
    monkeypatch.setitem(sys.modules, "asyncio", module)
    loop, plain = Loop(take, dict(followed)), Loop(take, PLAIN)
    left_out: list[int] = []

    def thin_out(most: int) -> None:
        left_out.append(most)
        # Of a sleep that is left out, it is only looked at whether it is.
        loop.costs_ns["sleep"] = 310

    costs = measured_costs(thin_out, loop, plain, one_of)

    is_followed = followed is FOLLOWED
    assert costs == {
        TIMER_ADDED: added_ns,
        TIMER_ARMED: armed_ns,
        TIMER_FIRED: 100 * is_followed,
        TIMER_CLEARED: 60 * is_followed,
        FRAME_BEGAN: (60 + 3 * 5) * is_followed,
    }
    assert left_out == [MOST_LEFT_OUT] * (one_of > 1)
    assert (loop.tasks, plain.tasks, running[-1]) == ([], [], None)
