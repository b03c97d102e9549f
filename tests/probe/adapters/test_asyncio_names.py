"""What timers and loops of asyncio are called, and where they were set."""

# ruff: noqa: ANN401 - as asyncio has it

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from threading import Thread, main_thread
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe.adapters.asyncio_names import loop_name, name_of_shot, periodic_of_tornado
from inspector.probe.kinds import TIMER_ADDED, TIMER_ORIGIN
from tests.probe.adapters.asyncio_loops import Asyncio, tick


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Iterator[Asyncio]:
    found = Asyncio(monkeypatch)
    yield found
    for loop in found.loops:
        loop.close()
    assert found.adapter.state == "waiting", found.adapter.message


def test_that_sleeps_from_before_an_inspector_are_named_after_their_tasks(played: Asyncio) -> None:
    async def inner() -> None:
        await asyncio.sleep(0.05)

    async def outer() -> None:
        await inner()

    loop = played.Loop()
    played.program.hide("asyncio")
    played.program.emit = None
    tasks = [loop.create_task(outer(), name=name) for name in ("outer", "boss")]
    loop.call_later(0.06, tick, "x")
    future = loop.create_future()
    loop.call_later(0.07, asyncio.futures._set_result_unless_cancelled, future, None)  # type: ignore[attr-defined]
    played.turn(loop)
    played.attach()
    played.adapter.attached()
    list(played.adapter.keyframe(played.hooks(loop).clock))
    for task in tasks:
        task.cancel()
    played.turn(loop)

    names = [name.rpartition(".")[2] for name in played.named(TIMER_ADDED, 4)]
    assert sorted(names) == ["outer", "outer (boss)", "sleep", "tick"]
    places = dict(zip(names, played.named(TIMER_ORIGIN, 3), strict=True))
    # Where the program awaits asyncio's sleep.
    line = inner.__code__.co_firstlineno + 1
    assert places["outer"] == places["outer (boss)"]
    assert places["outer"].startswith(f"{__file__}:{line} in ")
    assert places["tick"].endswith(f"asyncio_loops.py:{tick.__code__.co_firstlineno} in tick")
    assert places["sleep"] == ""


@pytest.mark.parametrize("is_seen_later", [False, True])
def test_that_what_a_task_gathers_is_named_after_it(
    played: Asyncio, *, is_seen_later: bool
) -> None:
    async def outer() -> None:
        await asyncio.gather(asyncio.sleep(0.05), asyncio.sleep(0.06))

    loop = played.Loop()
    played.program.hide("asyncio")
    if is_seen_later:
        played.program.emit = None
    task = loop.create_task(outer(), name="boss")
    for _ in range(2):
        played.turn(loop)
    if is_seen_later:
        played.attach()
        played.adapter.attached()
        list(played.adapter.keyframe(played.hooks(loop).clock))
    task.cancel()
    for _ in range(3):
        played.turn(loop)

    names = [name.rpartition(".")[2] for name in played.named(TIMER_ADDED, 4)]
    assert names == ["outer (boss)"] * 2
    line = outer.__code__.co_firstlineno + 1
    for site in played.named(TIMER_ORIGIN, 3):
        assert site.startswith(f"{__file__}:{line} in ")


def test_that_a_loop_is_named_after_its_thread() -> None:
    names: list[str] = []

    def work() -> None:
        names.append(loop_name(SimpleNamespace(_thread_id=None)))
        names.append(loop_name(SimpleNamespace(_thread_id=main_thread().ident)))
        names.append(loop_name(SimpleNamespace(_thread_id=-1)))

    thread = Thread(target=work, name="worker")
    thread.start()
    thread.join()

    assert names == ["asyncio loop (worker)", "asyncio loop", "asyncio loop"]
    assert loop_name(SimpleNamespace()) == "asyncio loop"


class QAsyncioHandle:
    """A handle of PySide6.QtAsyncio, which a single shot of Qt calls."""

    _args = ()

    def __init__(self) -> None:
        self._callback, self._loop = tick, None

    def shot(self) -> Any:
        def run() -> None:
            self._callback()

        return run


def test_that_a_shot_of_qts_loop_is_named_after_what_its_handle_calls(
    played: Asyncio, monkeypatch: pytest.MonkeyPatch
) -> None:
    shot = QAsyncioHandle().shot()
    assert name_of_shot(played.program, shot).startswith("QAsyncioHandle.")
    played.program.adapters["asyncio"] = played.adapter
    monkeypatch.setattr(played.adapter.names, "current_task", lambda _: None)

    assert name_of_shot(played.program, shot) == "tick"
    assert name_of_shot(played.program, tick) == "tick"


@pytest.mark.parametrize("module", ["tornado.ioloop", "tornado.web"])
@pytest.mark.parametrize("attributes", [{"callback_time": 20.0}, {}])
def test_that_a_periodic_callback_of_tornado_is_known(
    module: str, attributes: dict[str, float]
) -> None:
    periodic = type("Periodic", (), {"__module__": module, "_run": tick, **attributes})()
    called = SimpleNamespace(func=periodic._run)
    found = periodic_of_tornado(SimpleNamespace(_args=(called,)))

    assert found is (periodic if attributes and module == "tornado.ioloop" else None)
    assert periodic_of_tornado(SimpleNamespace(_args=())) is None
