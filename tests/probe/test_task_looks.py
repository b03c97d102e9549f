"""What is told of the tasks of a loop that runs in the test, look by look."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Awaitable, Coroutine
from typing import Any

import pytest

from inspector.probe.adapters import Adapter
from inspector.probe.kinds import (
    TASK_ADDED,
    TASK_AWAITED,
    TASK_ENDED,
    TASK_ORIGIN,
    TASK_WAITS,
    TASKS_TOLD,
)
from inspector.probe.tasks import TaskReporter
from inspector.vocabulary import TaskWait
from tests.probe.adapters.played import Played

MS = 1_000_000


class Looks:
    """A program with the running loop, whose tasks are looked at when the test says so."""

    def __init__(self) -> None:
        self.played = Played(10**9)
        program = self.played.program
        adapter = Adapter(program)
        self.clock = program.clock("asyncio", adapter=adapter)
        loop = asyncio.get_running_loop()
        adapter.task_loops = lambda: [(self.clock, loop)]  # type: ignore[method-assign]
        program.adapters["asyncio"] = adapter
        self.tasks = TaskReporter(program)
        self.tasks.ask(20 * MS)

    async def look(self) -> list[tuple[int, int, int, int]]:
        """Let the loop come to rest, and return what is told of its tasks."""
        for _ in range(4):
            await asyncio.sleep(0)
        self.played.now_ns += 1_000 * MS
        self.played.events.clear()
        self.tasks.turn()
        return [event[1:] for event in self.played.events]

    def text(self, number: int) -> str:
        return self.played.program.texts[number]


def waits(told: list[tuple[int, int, int, int]]) -> list[TaskWait]:
    return [TaskWait(a) for kind, _, a, _ in told if kind == TASK_WAITS]


def named(looks: Looks, told: list[tuple[int, int, int, int]]) -> dict[str, int]:
    """The numbers of tasks that have come, by the names that the program has given."""
    return {
        looks.text(name).rpartition("(")[2].rstrip(")").rpartition(".")[2]: number
        for kind, number, _, name in told
        if kind == TASK_ADDED
    }


async def _awaiting(awaited: Awaitable[object]) -> None:
    await awaited


def run(main: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(main, 10))


def test_that_a_task_is_told_once_until_something_changes() -> None:
    async def child(*gates: asyncio.Event) -> None:
        for gate in gates:
            await gate.wait()

    async def main() -> None:
        looks, gates = Looks(), (asyncio.Event(), asyncio.Event())
        awaited = asyncio.create_task(child(*gates), name="child")
        others = [asyncio.create_task(asyncio.wait([awaited]), name=name) for name in "ab"]
        first = await looks.look()
        again = await looks.look()
        gates[0].set()
        changed = await looks.look()
        gates[1].set()
        ended = await looks.look()
        await asyncio.gather(*others)

        numbers = named(looks, first)
        assert set(numbers) >= {"child", "a", "b"}
        by = min(numbers["a"], numbers["b"])
        found = [event[2:] for event in first if event[:2] == (TASK_AWAITED, numbers["child"])]
        assert found == [(by, 2)]
        known = {numbers["child"], numbers["a"], numbers["b"]}
        assert [event for event in again[:-1] if event[1] in known] == []
        assert again[-1][0] == TASKS_TOLD
        # It waits for the same kind of thing again, which is another wait.
        new = [event[:3] for event in changed[:-1] if event[1] in known]
        assert new == [(TASK_WAITS, numbers["child"], TaskWait.EVENT)]
        assert {number for kind, number, *_ in ended if kind == TASK_ENDED} == known

    run(main())


@pytest.mark.parametrize(
    ("name", "wait"),
    [
        ("sleep", TaskWait.TIMER),
        ("event", TaskWait.EVENT),
        ("lock", TaskWait.LOCK),
        ("queue", TaskWait.QUEUE),
        ("future", TaskWait.FUTURE),
        ("thread", TaskWait.THREAD),
        ("gather", TaskWait.FUTURE),
        ("task", TaskWait.TASK),
    ],
)
def test_that_it_is_told_what_a_task_waits_for(name: str, wait: TaskWait) -> None:
    async def main() -> None:
        looks, loop = Looks(), asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        ended, lock = asyncio.Event(), asyncio.Lock()
        await lock.acquire()
        pending: dict[str, Coroutine[Any, Any, object]] = {
            "sleep": asyncio.sleep(3_600),
            "event": ended.wait(),
            "lock": lock.acquire(),
            "queue": asyncio.Queue[None]().get(),
            "future": _awaiting(future),
            "thread": _awaiting(asyncio.wrap_future(concurrent.futures.Future())),
            "gather": _awaiting(asyncio.gather(future)),
            "task": _awaiting(asyncio.ensure_future(ended.wait())),
        }
        task = asyncio.create_task(pending.pop(name), name="waits")
        for each in pending.values():
            each.close()
        told = await looks.look()
        task.cancel()

        number = named(looks, told)["waits"]
        assert waits([event for event in told if event[1] == number]) == [wait]
        assert {kind for kind, each, *_ in told if each == number} >= {TASK_ORIGIN, TASK_WAITS}

    run(main())


def test_that_tasks_are_told_at_the_pace_that_is_asked_for() -> None:
    async def main() -> None:
        looks = Looks()
        tasks, played = looks.tasks, looks.played
        assert (tasks.wait_ns(5 * MS), tasks.wait_ns(0)) == (0, 0)
        tasks.turn()
        assert (tasks.wait_ns(50 * MS), tasks.wait_ns(5 * MS)) == (20 * MS, 5 * MS)
        told = []
        for _ in range(2):
            played.now_ns += 19 * MS
            tasks.turn()
            told.append(played.count(TASKS_TOLD))
            played.now_ns += MS
            tasks.turn()
            told.append(played.count(TASKS_TOLD))
        assert told == [1, 2, 2, 3]
        tasks.ask(0)
        # None is known any more.
        assert played.events[-1][1::2] == (TASKS_TOLD, 0)
        played.now_ns += 1_000 * MS
        tasks.turn()
        assert played.count(TASKS_TOLD) == 4
        assert tasks.wait_ns(50 * MS) == 50 * MS

    run(main())


def test_that_who_asks_again_is_told_of_all_tasks_again() -> None:
    async def main() -> None:
        looks = Looks()
        first = await looks.look()
        looks.tasks.ask(0)
        looks.tasks.ask(20 * MS)
        again = await looks.look()

        added = [named(looks, told) for told in (first, again)]
        assert added[0].keys() == added[1].keys()
        assert not set(added[0].values()) & set(added[1].values())
        assert [event[0] for event in (first[-1], again[-1])] == [TASKS_TOLD] * 2
        assert again[-1][2:] == (len(added[1]), len(again) - 1)

    run(main())


def test_that_the_place_where_a_task_is_created_is_noted_until_nobody_asks() -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        looks = Looks()
        await looks.look()
        pending = [asyncio.create_task(wait(), name="seen")]
        told = await looks.look()
        (site,) = [a for kind, n, a, _ in told if kind == TASK_ORIGIN]
        assert looks.text(site).partition(":")[0].endswith("test_task_looks.py")
        looks.tasks.ask(0)
        assert "create_task" not in vars(asyncio.get_running_loop())
        for each in pending:
            each.cancel()

    run(main())
