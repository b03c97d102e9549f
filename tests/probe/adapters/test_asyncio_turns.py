"""What the adapter of asyncio does in the turns of a loop, in a time that the test sets."""

# ruff: noqa: ANN401 - as asyncio has it

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Iterator
from math import ceil
from threading import Thread, get_ident
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe.adapters import asyncio as asyncio_adapter
from inspector.probe.adapters.asyncio import AsyncioAdapter, LoopHooks
from inspector.probe.clocks import InTurn
from inspector.probe.kinds import (
    FRAME_BEGAN,
    FRAME_ENDED,
    INTERVAL_DELAY,
    NEVER,
    TIMEOUT,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
)
from inspector.probe.kinds import RATE_DENOMINATOR as D
from inspector.probe.program import Program
from tests.probe.adapters.asyncio_loops import Asyncio, tick

MS = 1_000_000


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Iterator[Asyncio]:
    found = Asyncio(monkeypatch)
    yield found
    for loop in found.loops:
        loop.close()
    assert found.adapter.state == "waiting", found.adapter.message


GONE = NEVER / MS


def test_that_a_task_that_sleeps_at_one_place_is_a_timer_that_repeats(played: Asyncio) -> None:
    async def ticking() -> None:
        for _ in range(4):
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.01)

    loop = played.Loop()
    loop.run_until_complete(ticking())

    (name,) = set(played.named(TIMER_ADDED, 4))
    assert name.startswith("sleep in ")
    assert name.endswith(".ticking")
    assert {site.split(" in ")[0] for site in played.named(TIMER_ORIGIN, 3)} == {
        f"{__file__}:{ticking.__code__.co_firstlineno + line}" for line in (2, 3)
    }
    kinds = [event[4] for event in played.events if event[1] == TIMER_ORIGIN]
    assert kinds == [TIMEOUT, INTERVAL_DELAY, TIMEOUT]
    dues = [(n, round(due_ms, 3), period_ms) for n, due_ms, period_ms in played.of(TIMER_ARMED)]
    assert dues == [(1, 120, 0), (2, 140, 20), (2, 160, 20), (2, 180, 20), (3, 190, 0)]
    assert [(n, round(next_ms, 3)) for n, _, next_ms in played.of(TIMER_FIRED)] == [
        *((1, GONE), (2, 160), (2, 180), (2, 200), (3, GONE))
    ]
    assert all(0 <= late_ms < 0.001 for _, late_ms, _ in played.of(TIMER_FIRED))
    # What repeated is cleared where its task sleeps elsewhere.
    assert [n for n, *_ in played.of(TIMER_CLEARED)] == [2]


def test_that_a_timer_that_repeats_is_cleared_when_its_task_waits_for_something_else(
    played: Asyncio,
) -> None:
    seen: list[int] = []

    async def ticking() -> None:
        for _ in range(3):
            await asyncio.sleep(0.02)
        for _ in range(4):
            seen.append(played.count(TIMER_CLEARED))
            await asyncio.sleep(0)

    played.Loop().run_until_complete(ticking())

    # It might have slept again in the turn in which it goes on.
    assert seen == [0, 1, 1, 1]


def test_that_the_timer_of_a_task_goes_with_it(played: Asyncio) -> None:
    async def ticking() -> None:
        for _ in range(2):
            await asyncio.sleep(0.02)

    loop = played.Loop()
    task = loop.create_task(ticking())
    loop.call_later(0.03, task.cancel)
    loop.run_until_complete(asyncio.wait([task]))
    assert played.count(TIMER_CLEARED) == 1
    del task
    gc.collect()

    assert played.program.timers == {}
    assert played.hooks(loop).sleepers == {}


def test_that_sleeps_of_one_task_at_two_places_are_two_timers(played: Asyncio) -> None:
    async def other() -> None:
        await asyncio.sleep(0.02)

    async def ticking() -> None:
        for _ in range(2):
            await asyncio.sleep(0.02)
            await other()
        await asyncio.sleep(2e9)

    loop = played.Loop()
    task = loop.create_task(ticking(), name="boss")
    names = played.hooks
    played.asleep = loop.stop
    for _ in range(12):
        played.turn(loop)
        if loop._scheduled and loop._scheduled[0]._when < 1e9:
            played.now_ns = ceil(loop._scheduled[0]._when * 1e9)
    assert [period for *_, period in played.of(TIMER_ARMED)] == [0] * 5
    assert all(name.endswith("ticking (boss)") for name in played.named(TIMER_ADDED, 4))
    # A wait that is too long for exact numbers is told when it is set.
    (*_, last) = [event for event in played.events if event[1] == TIMER_ARMED]
    assert last[3] - (last[0] - 400 * MS) == pytest.approx(2e18, rel=1e-6)
    assert names(loop).sleepers.keys() == {id(task)}
    known = dict(names(loop)._known)
    assert len(known) == 3
    task.cancel()
    played.turn(loop)
    played.adapter.attached()
    assert names(loop).sleepers == {}


def test_that_two_futures_of_a_task_are_two_timers(played: Asyncio) -> None:
    async def waiting() -> None:
        loop = asyncio.get_running_loop()
        futures = [loop.create_future() for _ in range(2)]
        for future in futures:
            loop.call_later(0.02, asyncio.futures._set_result_unless_cancelled, future, None)  # type: ignore[attr-defined]
        await asyncio.gather(*futures)

    played.Loop().run_until_complete(waiting())

    assert [n for n, *_ in played.of(TIMER_ARMED)] == [1, 2]
    assert [n for n, *_ in played.of(TIMER_FIRED)] == [1, 2]


def test_that_calls_are_timers_until_they_are_made_or_cancelled(played: Asyncio) -> None:
    loop = played.started()
    later = loop.call_later(0.05, tick)
    at = loop.call_at(loop.time() + 0.06, tick)
    never = loop.call_later(float("inf"), tick)
    past = loop.call_later(-1, tick)
    assert [(due, period) for _, due, period in played.of(TIMER_ARMED)[:2]] == [(150, 0), (160, 0)]
    assert all(site.startswith(f"{__file__}:") for site in played.named(TIMER_ORIGIN, 3))
    assert played.named(TIMER_ADDED, 4) == ["tick"] * 4
    # What was asked for is what is waited for, to the nanosecond.
    set_ns = [event[0] for event in played.events if event[1] == TIMER_ARMED]
    assert set_ns[0] == 500 * MS
    for handle in (at, never, past):
        handle.cancel()
    assert [n for n, *_ in played.of(TIMER_CLEARED)] == [2, 3, 4]
    assert all(site.startswith(f"{__file__}:") for site in played.named(TIMER_CLEARED, 3))
    loop.run_until_complete(asyncio.sleep(0.05))

    assert [n for n, *_ in played.of(TIMER_FIRED)] == [1, 5]
    later.cancel()
    assert played.count(TIMER_CLEARED) == 3
    assert played.hooks(loop).timers == {}


def test_that_a_call_without_a_delay_is_an_error_as_ever(played: Asyncio) -> None:
    loop = played.started()
    with pytest.raises(TypeError, match="delay must not be None"):
        loop.call_later(None, tick)
    loop.set_debug(True)
    loop.call_later(0.05, tick)
    loop.set_debug(False)

    assert played.of(TIMER_ARMED) == [(1, 150, 0)]


def test_that_each_turn_of_a_loop_is_a_frame(played: Asyncio) -> None:
    loop = played.Loop()
    seen: list[tuple[int, int]] = []

    def frames() -> None:
        seen.append((played.count(FRAME_BEGAN), played.count(FRAME_ENDED)))
        if len(seen) < 3:
            loop.call_later(0.01, frames)
        else:
            loop.stop()

    loop.call_soon(frames)
    loop.run_forever()

    assert seen == [(1, 0), (2, 1), (3, 2)]


def test_that_a_loop_waits_as_long_as_its_clock_has_it(played: Asyncio) -> None:
    loop = played.started()
    hooks = played.hooks(loop)
    played.set_rate(D // 4)
    played.turn(loop)
    played.timeouts_ms.clear()
    loop.call_later(0.02, loop.stop)
    loop.run_forever()
    assert (played.now_ns, loop.time()) == (580 * MS, 0.52)
    assert [each for each in played.timeouts_ms if each] == [80]
    played.hold()
    loop.call_later(0.02, loop.stop)
    played.asleep = played.resume
    loop.run_forever()

    assert None in played.timeouts_ms
    assert played.now_ns == 660 * MS
    # Held or not, what is in the way of a loop that polls is nothing.
    played.hold()
    played.turn(loop)
    played.timeouts_ms.clear()
    assert loop._selector.select(0) == []
    assert loop._selector.select(-1) == []
    assert played.timeouts_ms == [0, -1000]
    assert hooks.clock.is_held


def test_that_a_loop_is_its_own_without_an_inspector(played: Asyncio) -> None:
    loop = played.started()
    played.hold()
    played.program.emit = None
    played.turn(loop)
    played.events.clear()
    loop.call_at(loop.time() + 0.01, tick).cancel()
    loop.call_later(0.01, tick).cancel()
    handle = loop.call_later(0.01, tick)
    assert type(handle) is asyncio.TimerHandle
    assert loop._selector.select(0.5) == []
    handle.cancel()
    handle = loop.call_at(loop.time() + 0.01, tick)
    assert type(handle) is asyncio.TimerHandle

    assert played.timeouts_ms[-1] == 500
    assert played.hooks(loop).timers == {}


def test_that_the_frames_of_a_loop_end_when_its_inspector_goes_while_it_waits(
    played: Asyncio,
) -> None:
    loop = played.started()

    def leave() -> None:
        played.program.emit = None

    played.asleep = leave
    played.events.clear()
    loop._selector.select()

    assert played.count(FRAME_BEGAN) == 0


def test_that_loops_are_followed_from_their_beginning_to_their_end(played: Asyncio) -> None:
    first, second = played.started(), played.started()
    assert [clock.name for clock, _ in played.adapter.task_loops()] == ["asyncio loop"] * 2
    assert [loop for _, loop in played.adapter.task_loops()] == [first, second]
    hooks = played.hooks(first)
    first.call_later(0.05, tick)
    first.close()
    assert hooks.clock.is_removed
    assert hooks.timers == {}
    assert list(played.adapter._by_clock.values()) == [played.hooks(second)]
    assert not played.hooks(second).clock.is_removed
    # One that is never closed goes with what refers to it.
    clock = played.hooks(second).clock
    asyncio.SelectorEventLoop.close(second)
    played.loops.clear()
    del second
    gc.collect()

    assert clock.is_removed
    assert played.adapter._by_clock == {}


def test_that_loops_that_run_already_are_found(
    played: Asyncio, monkeypatch: pytest.MonkeyPatch
) -> None:
    loops = [played.Loop() for _ in range(2)]
    loops[0].call_later(0.05, tick)
    loops[1].close()
    played.module.__spec__ = None
    played.adapter = AsyncioAdapter(played.program)
    monkeypatch.setattr(gc, "get_objects", lambda: [*loops, None, played.Loop])
    played.adapter.installed(played.module)

    assert [loop for _, loop in played.adapter.task_loops()] == loops[:1]
    # What waits in it is told at once.
    assert played.of(TIMER_ARMED) == [(1, 150, 0)]


def test_that_loops_are_told_when_an_inspector_comes(played: Asyncio) -> None:
    played.program.emit = None
    loop = played.started()
    handles = [loop.call_later(0.05, tick) for _ in range(17)]
    assert "time" not in vars(loop)
    played.attach()
    played.adapter.attached()
    handles[1].cancel()
    for count in (16, 0):
        played.events.clear()
        clock = played.hooks(loop).clock
        # In slices of eight.
        assert len(list(played.adapter.keyframe(clock))) == 3
        assert played.count(TIMER_ADDED) == count
    assert "time" in vars(loop)
    played.adapter.released()
    assert played.hooks(loop).timers == {}
    # An adapter that failed leaves new loops alone.
    played.adapter.state = "failed"
    unseen = played.started()
    assert unseen not in played.adapter._loops
    played.adapter.state = "waiting"
    assert played.adapter.cost_version == 0


@pytest.mark.parametrize("is_cancelled", [True, False])
def test_that_a_timer_that_its_thread_has_used_while_it_was_described_is_gone(
    played: Asyncio, monkeypatch: pytest.MonkeyPatch, *, is_cancelled: bool
) -> None:
    played.program.emit = None
    loop = played.started()
    loop.call_later(0.05, tick)
    played.attach()
    played.adapter.attached()
    names = played.adapter.names
    describe = names.pending_name_and_site

    def described(handle: Any) -> tuple[str, int]:
        handle._cancelled, handle._scheduled = is_cancelled, is_cancelled
        return describe(handle)

    monkeypatch.setattr(names, "pending_name_and_site", described)
    list(played.adapter.keyframe(played.hooks(loop).clock))

    assert [n for n, *_ in played.of(TIMER_CLEARED)] == [1]
    assert played.hooks(loop).timers == {}


def test_that_what_is_asked_of_a_loop_is_done_in_its_turns(played: Asyncio) -> None:
    loop, other = played.started(), played.started()
    clock = played.hooks(loop).clock
    handles = [loop.call_later(0.05, tick) for _ in range(2)]
    other.call_later(0.05, tick)
    sleeping = loop.create_task(asyncio.sleep(0.05))
    played.turn(loop)
    for number, cause in ((2, 7), (4, 8), (9, 9)):
        timer = played.program.pending(number)
        if timer is not None:
            played.adapter.clear_timer(clock, timer, cause)
    assert played.count(TIMER_CLEARED) == 0
    played.turn(loop)
    cleared = [(n, a, round(b * MS)) for n, a, b in played.of(TIMER_CLEARED)]
    assert cleared == [(2, 0, 7), (4, 0, 8)]
    assert [handle.cancelled() for handle in handles] == [False, True]
    (left,) = played.hooks(loop).timers
    assert left == id(handles[0])
    sleeping.cancel()
    called: list[str] = []

    async def ask() -> None:
        played.adapter.call_soon(clock, lambda: called.append("in its turn"))
        called.append("running")
        assert played.adapter.running_task(clock) is not None
        await asyncio.sleep(0)

    loop.run_until_complete(ask())
    assert called == ["running", "in its turn"]
    played.adapter.call_soon(clock, lambda: called.append("at once"))
    assert called[2:] == ["at once"]
    woken: list[Any] = []
    loop._write_to_self = lambda: woken.append(loop)
    played.adapter.changed(clock)
    assert woken == [loop]
    loop.close()
    played.adapter.changed(clock)
    played.adapter._by_clock[clock.number] = SimpleNamespace(loop=lambda: loop)  # type: ignore[assignment]
    played.adapter.changed(clock)
    played.adapter._by_clock[clock.number].loop = lambda: None
    played.adapter.changed(clock)
    timer = played.program.pending(1)
    played.adapter.clear_timer(clock, timer, 1)  # type: ignore[arg-type]

    assert woken == [loop]


def test_that_a_child_process_has_the_loops_of_its_thread(played: Asyncio) -> None:
    stays, here, elsewhere = (played.started() for _ in range(3))
    here._thread_id = get_ident()
    elsewhere._thread_id = here._thread_id + 1
    played.adapter.forked()
    here._thread_id = elsewhere._thread_id = None

    assert [loop for _, loop in played.adapter.task_loops()] == [stays, here]


def test_that_loops_that_a_test_would_have_to_run_are_idle(played: Asyncio) -> None:
    scheduled, ready, empty, closed, running = (played.Loop() for _ in range(5))
    elsewhere: list[Any] = []

    def make() -> None:
        elsewhere.append(played.Loop())
        elsewhere[0].call_soon(tick)

    thread = Thread(target=make)
    thread.start()
    thread.join()
    for loop in (scheduled, closed):
        loop.call_later(0.05, tick)
    for loop in (ready, running):
        loop.call_soon(tick)
    scheduled._ready.clear()
    closed.close()
    closed._scheduled.append(None)
    running._thread_id = 1
    idle = played.adapter.idle_loops()
    running._thread_id = None
    closed._scheduled.clear()

    assert idle == [scheduled, ready]
    assert empty not in idle


class Waits:
    """Virtual time in which loops wait."""

    spares_me, rounding_ns = False, 5

    def __init__(self) -> None:
        self.waited: list[Any] = []

    def wait_for_files(self, *what: Any) -> str:
        self.waited.append(what)
        return "ready"


def test_that_loops_wait_in_virtual_time(played: Asyncio) -> None:
    waits = Waits()
    played.program.waits = waits  # type: ignore[assignment]
    loop = played.Loop()
    # What is set before it runs is due by virtual time, too.
    assert loop in played.adapter._loops
    later, at = loop.call_later(0.02, tick), loop.call_at(loop.time() + 0.03, tick)
    assert all(type(each._when) is InTurn for each in (later, at))
    select = loop._selector.select
    clock = played.hooks(loop).clock
    assert [select(0.02), select(None), select()] == ["ready"] * 3
    assert select(0) == []
    waits.spares_me = True
    assert select(0.001) == []
    waits.spares_me = False
    assert [(each[0], each[1]) for each in waits.waited] == [
        (clock, 120 * MS + 5),
        (clock, None),
        (clock, None),
    ]
    assert played.timeouts_ms == [0, 1]
    _, _, poll, files, wake, has_calls = waits.waited[0]
    assert files.number == loop._selector.fileno()
    assert len(files.own) == 1
    assert files.awaited_outside() == ""
    assert waits.waited[1][3] is files
    assert has_calls() == 0
    wake()
    assert len(poll(0)) == 1
    later._when = 0.5200000001
    select(0.02)
    # The instant that is no sooner than what the loop compares it with.
    assert waits.waited[3][1] == 120 * MS + 6
    loop._scheduled.clear()
    select(0.02)
    assert waits.waited[4][1] is None
    assert (played.count(FRAME_BEGAN), played.count(FRAME_ENDED)) == (7, 6)


@pytest.mark.parametrize(
    ("before", "share", "after"),
    [
        (1, 0.12, 1),
        (1, 0.13, 3),
        (2, 0.015, 2),
        (8, 0.0149, 4),
        (1, 0.0, 1),
        (1, 0.5, 9),
    ],
)
def test_that_fewer_tasks_are_followed_when_hooks_cost_too_much(
    played: Asyncio, before: int, share: float, after: int
) -> None:
    loop = played.started()
    played.adapter._one_of = before
    played.hooks(loop).thin_out(before)
    changes = played.program.changes
    played.adapter.thin_out(share)
    assert played.program.changes - changes == (before != after)

    assert played.hooks(loop).one_of == after
    assert played.hooks(played.started()).one_of == after
    assert played.adapter.cost_version == (before != after)
    again = played.hooks(loop)
    again.install()
    assert again._is_installed
    assert bool(played.adapter.message) is (before != after and after > 1)
    played.hooks(loop).timers[1] = 2
    played.adapter.attached()
    assert played.hooks(loop).timers == {}
    assert (played.hooks(loop).one_of, played.adapter.message) == (1, "")
    assert played.hooks(loop).share == LoopHooks(played.adapter, loop, "new").share


def test_that_waits_that_are_left_out_are_seen_while_the_program_is_held(played: Asyncio) -> None:
    loop = played.started()
    hooks = played.hooks(loop)
    hooks.thin_out(2)
    hooks.share = -1
    handle, long = loop.call_later(0.02, tick), loop.call_later(1, tick)
    assert [n for n, due_ms, _ in played.of(TIMER_ARMED)] == [1]
    task = loop.create_task(asyncio.sleep(0.02))
    played.turn(loop)
    assert played.count(TIMER_ADDED) == 1
    loop._selector.select(0)
    assert played.count(TIMER_ADDED) == 1
    played.hold()
    loop._selector.select(0)
    assert played.count(TIMER_ADDED) == 3
    task.cancel()
    played.turn(loop)
    handle.cancel()
    long.cancel()
    assert played.count(TIMER_CLEARED) == 3
    # Without any left out, none has to be looked for.
    hooks.thin_out(1)
    loop.call_soon(loop.stop)
    unseen = asyncio.SelectorEventLoop.call_at(loop, 2, tick)
    loop._selector.select(0)
    assert played.count(TIMER_ADDED) == 3
    unseen.cancel()
    loop.run_forever()
    loop.close()
    hooks.thin_out(2)
    hooks.share = -1
    with pytest.raises(RuntimeError, match="closed"):
        loop.call_later(0.02, tick)


def test_that_what_hooks_cost_is_measured_on_loops_that_are_closed(
    played: Asyncio, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert played.adapter.costs() == {}
    loop = played.started()
    played.adapter.thin_out(0.5)
    measured: list[Any] = []

    def measure(thin_out: Any, followed: Any, plain: Any, one_of: int) -> dict[int, float]:
        measured.extend([followed, plain])
        assert ("call_at" in vars(followed), "call_at" in vars(plain)) == (True, False)
        assert thin_out.__self__.loop() is followed
        return {TIMER_FIRED: float(one_of)}

    monkeypatch.setattr(asyncio_adapter, "measured_costs", measure)

    assert played.adapter.costs() == {TIMER_FIRED: 9.0}
    assert all(each.is_closed() for each in measured)
    assert [each for _, each in played.adapter.task_loops()] == [loop]


@pytest.mark.parametrize("name", ["call_soon_threadsafe", "_run_once", "run_forever", "close"])
def test_that_what_has_changed_in_asyncio_is_noticed_at_once(played: Asyncio, name: str) -> None:
    names = {"call_at", "call_later", "time", "call_soon_threadsafe", "_run_once"}
    known = dict.fromkeys({*names, "run_forever", "close"} - {name})
    played.module.BaseEventLoop = SimpleNamespace(**known)

    with pytest.raises(AttributeError, match=name):
        AsyncioAdapter(played.program).learn(played.module)


def test_that_a_loop_reads_the_machines_time_until_its_clock_changes(played: Asyncio) -> None:
    adapter = AsyncioAdapter(Program("machine"))
    adapter.learn(asyncio.base_events)
    loop = asyncio.SelectorEventLoop()
    hooks = LoopHooks(adapter, loop, "loop")
    hooks.install()
    select = vars(loop._selector)["select"]  # type: ignore[attr-defined]
    # It is followed once, and not when it is gone.
    hooks.install()
    assert vars(loop._selector)["select"] is select  # type: ignore[attr-defined]
    hooks.loop, hooks._is_installed = (lambda: None), False
    hooks.install()
    hooks._read_local_time()
    assert not hooks._is_installed
    hooks.loop = lambda: loop
    assert vars(loop)["time"] is monotonic
    adapter.program.clocks.set_rate(hooks.clock, D // 2)
    assert vars(loop)["time"] is not monotonic
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        loop.close()
    assert played.loops == []
