"""asyncio programs that know nothing of the probe: seen, held, slowed, stepped and let go."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import closing, contextmanager
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from inspector.events.timeline import Timeline
from inspector.probe.adapters.asyncio import AsyncioAdapter
from inspector.probe.kinds import (
    CLOCK_RATE,
    FRAME_BEGAN,
    FRAME_ENDED,
    RATE_DENOMINATOR,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
)
from inspector.probe.program import Program
from inspector.probe.sink import Sink
from tests.interpreters import VERSIONS, interpreter
from tests.probe.frame_tiles import SLACK_NS, check_frames_tile
from tests.probe.receiver import TOKEN, Receiver, attached, inlet, program

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

D = RATE_DENOMINATOR

TICKS = """
import asyncio, sys

async def ticking():
    while True:
        await asyncio.sleep(0.02)

async def main():
    asyncio.get_running_loop().call_later(3600, print, "an hour")
    asyncio.get_running_loop().call_later(float("inf"), sys.exit, "never")
    await ticking()

asyncio.run(main())
"""
TICK = "sleep in main"


def ticks_in(receiver: Receiver, seconds: float) -> int:
    before = receiver.firings()[TICK]
    receiver.listen(seconds)
    return receiver.firings()[TICK] - before


def wait_until_idle(receiver: Receiver) -> None:
    """Wait until the loop of a program that is held has ended the turn in which it was."""
    turns = {FRAME_BEGAN, FRAME_ENDED}
    receiver.wait_for(
        lambda: [kind for _, kind, *_ in receiver.events if kind in turns][-1:] == [FRAME_ENDED]
    )


def own_clock(receiver: Receiver) -> int:
    return next(number for number, parent in receiver.parents().items() if parent == 0)


def wait_for_ticks(receiver: Receiver, count: int = 3) -> None:
    wanted = receiver.firings()[TICK] + count
    receiver.wait_for(lambda: receiver.firings()[TICK] >= wanted)


@pytest.fixture(scope="module")
def ticking() -> Iterator[tuple[Receiver, subprocess.Popen[str]]]:
    with attached(TICKS) as (receiver, process):
        receiver.wait_until_complete()
        yield receiver, process


@pytest.fixture
def ticks(ticking: tuple[Receiver, subprocess.Popen[str]]) -> Receiver:
    """Let the program of the tests before go on as it began."""
    receiver, _ = ticking
    receiver.ask("Link.release")
    wait_for_ticks(receiver)
    return receiver


def test_that_a_loop_and_its_timers_are_seen(
    ticking: tuple[Receiver, subprocess.Popen[str]],
) -> None:
    receiver, process = ticking
    wait_for_ticks(receiver)

    assert receiver.hello["pid"] == process.pid
    assert receiver.hello["runtime"]["language"] == "python"
    assert {"python -c", "asyncio loop"} <= set(receiver.clocks())
    assert {"print", TICK} <= set(receiver.timer_names().values())
    timeline = receiver.timeline()
    rows = [timeline.timers.row(number) for number in timeline.timers.ids()]
    hour = next(row for row in rows if row.label == "print")
    assert hour.call_site.endswith("in main")
    assert 3599.9e9 < hour.due_ns < 3630e9
    assert len(timeline.frames) > 3


@pytest.mark.parametrize("version", VERSIONS)
def test_that_other_pythons_are_seen_held_and_stepped(version: str) -> None:
    with attached(TICKS, python=interpreter(version)) as (receiver, _):
        receiver.wait_until_complete()
        wait_for_ticks(receiver)
        assert receiver.hello["runtime"]["version"].startswith(version)
        receiver.ask("Clock.pause", clock=own_clock(receiver))
        receiver.listen(0.1)

        assert ticks_in(receiver, 0.2) == 0
        receiver.ask("Program.step", to="next_timer")
        wait_for_ticks(receiver, 1)


def test_that_a_held_loop_fires_nothing_and_bursts_nothing() -> None:
    with attached(TICKS) as (receiver, _):
        wait_for_ticks(receiver)
        top = own_clock(receiver)

        assert receiver.ask("Clock.pause", clock=top, cause=5) == {}
        receiver.wait_until_held()
        wait_until_idle(receiver)
        assert ticks_in(receiver, 0.3) == 0
        assert receiver.timeline().clocks[top].pause_cause == 5
        receiver.ask("Clock.resume", clock=top, cause=6)
        began = time.monotonic()
        fired = ticks_in(receiver, 0.2)
        assert 0 < fired <= (time.monotonic() - began) / 0.02 + 1
        # What the held loop answers is work, and its time passes.
        assert check_frames_tile(Timeline(receiver.texts), receiver.events, slack_ns=SLACK_NS)


def test_that_a_rate_is_followed_by_what_the_loop_reads_and_sleeps(ticks: Receiver) -> None:
    loop = ticks.clocks()["asyncio loop"]

    ticks.ask("Clock.rate", clock=loop, rate_n=4 * D)
    ticks.wait_for(lambda: len(wakes_by_rate(ticks, loop).get(4 * D, ())) >= 4)
    ticks.ask("Clock.rate", clock=loop, rate_n=D // 4)
    ticks.wait_for(lambda: len(wakes_by_rate(ticks, loop).get(D // 4, ())) >= 3)

    wakes = wakes_by_rate(ticks, loop)
    assert all(gap >= 0.005e9 for gap in gaps(wakes[4 * D]))
    assert all(gap >= 0.08e9 for gap in gaps(wakes[D // 4]))


def gaps(instants: list[int]) -> list[int]:
    return [after - before for before, after in pairwise(instants)]


def test_that_the_longest_waits_at_the_lowest_rate_end_nothing(ticks: Receiver) -> None:
    ticks.ask("Clock.rate", clock=own_clock(ticks), rate_n=1)
    ticks.listen(0.1)
    ticks.ask("Clock.rate", clock=own_clock(ticks), rate_n=D)

    wait_for_ticks(ticks)


def wakes_by_rate(receiver: Receiver, clock: int) -> dict[int, list[int]]:
    """Return the instants of firings by the rate of the clock, without the first of each rate."""
    found: dict[int, list[int]] = {}
    rate = D
    for at_ns, kind, subject, a, _ in receiver.events:
        if kind == CLOCK_RATE and subject == clock:
            rate = a
        elif kind == TIMER_FIRED:
            found.setdefault(rate, []).append(at_ns)
    return {rate: instants[1:] for rate, instants in found.items()}


def test_that_a_step_of_time_ends_exactly(ticks: Receiver) -> None:
    top = own_clock(ticks)
    ticks.ask("Clock.pause", clock=top)
    ticks.listen(0.1)
    before = ticks.timeline().local_ns(top)
    told = len(ticks.said("Program.held"))

    ticks.ask("Program.step", local_ns=50_000_000, cause=3)
    ticks.wait_until_held(told)

    timeline = ticks.timeline()
    assert timeline.local_ns(top) - before == 50_000_000
    assert timeline.clocks[top].pause_cause == 3


def test_that_a_step_to_the_next_timer_fires_it_and_no_other(ticks: Receiver) -> None:
    ticks.ask("Clock.pause", clock=own_clock(ticks))
    ticks.listen(0.2)
    for _ in range(3):
        before, told = ticks.firings(), len(ticks.said("Program.held"))
        ticks.ask("Program.step", to="next_timer")
        ticks.wait_until_held(told)
        ticks.listen(0.1)

        assert (ticks.firings() - before) == {TICK: 1}


def test_that_a_timer_is_cleared_by_command() -> None:
    with attached(TICKS) as (receiver, _):
        receiver.wait_for(lambda: "print" in receiver.timer_names().values())
        hour = next(number for number, name in receiver.timer_names().items() if name == "print")

        receiver.ask("Timer.clear", timer=hour, cause=9)

        receiver.wait_for(lambda: [e for e in receiver.events if e[1:3] == (TIMER_CLEARED, hour)])
        assert receiver.events[-1][4] == 9 or hour not in receiver.timeline().timers
        assert receiver.ask("Timer.clear", timer=hour)["code"] == 6


def test_that_what_is_cancelled_by_the_program_is_cleared_where_it_was() -> None:
    code = """
import asyncio
async def main():
    while True:
        handle = asyncio.get_running_loop().call_later(60, print)
        await asyncio.sleep(0.01)
        handle.cancel()
asyncio.run(main())
"""
    with attached(code) as (receiver, _):
        cleared = receiver.wait_for(
            lambda: [event for event in receiver.events if event[1] == TIMER_CLEARED]
        )

        assert receiver.texts[cleared[0][3]].endswith(" in main")


def test_that_a_program_goes_on_when_the_inspector_is_killed_while_it_is_held() -> None:
    code = TICKS.replace("sleep(0.02)", "sleep(0.02); print('tick', flush=True)")
    with attached(code) as (receiver, process):
        wait_for_ticks(receiver)
        receiver.ask("Clock.pause", clock=own_clock(receiver))

        receiver.sock.close()
        receiver.is_closed = True

        assert process.stdout is not None
        for _ in range(50):
            assert process.stdout.readline() == "tick\n"


def test_that_a_program_goes_on_when_the_inspector_falls_silent() -> None:
    with attached(TICKS, silence_s=0.5) as (receiver, process):
        wait_for_ticks(receiver)
        receiver.ask("Clock.pause", clock=own_clock(receiver))
        wait_until_idle(receiver)
        before = receiver.firings()[TICK]
        receiver.pings = False

        receiver.wait_for(lambda: receiver.is_closed)

        assert receiver.said("Link.bye")[-1]["reason"].startswith("the inspector did not answer")
        assert receiver.firings()[TICK] == before
        assert process.poll() is None


def test_that_the_timers_of_a_loop_that_is_blocked_are_known() -> None:
    code = """
import asyncio, os, threading
async def main():
    loop = asyncio.get_running_loop()
    for late in (0.01, 3600):
        loop.call_later(late, print)
    threading.Thread(target=start, daemon=True).start()
    os.read(0, 1)
    await asyncio.sleep(3600)
asyncio.run(main())
"""
    with inlet() as opened:
        start = f"def start(): timeline_probe.start({opened.address!r}, {TOKEN!r})\n"
        with program(start + code) as process, closing(opened.accepted()) as receiver:
            receiver.wait_until_complete()
            assert list(receiver.timer_names().values()) == ["print", "print"]
            assert process.stdin is not None
            process.stdin.write("x")
            process.stdin.flush()
            receiver.wait_for(lambda: receiver.firings()["print"] == 1)
            receiver.wait_for(lambda: "sleep in main" in receiver.timer_names().values())
            added = [event[2] for event in receiver.events if event[1] == TIMER_ADDED]
            assert len(added) == len(set(added)) == 3


def test_that_a_task_is_named_once_where_its_name_says_no_more_than_its_code() -> None:
    code = """
import asyncio
async def rebuild():
    while True:
        await asyncio.sleep(0.01)
async def main():
    await asyncio.gather(*(asyncio.create_task(rebuild(), name=n) for n in ("rebuild", "night")))
asyncio.run(main())
"""
    with attached(code) as (receiver, _):
        named = {"sleep in rebuild", "sleep in rebuild (night)"}
        receiver.wait_for(lambda: named <= set(receiver.timer_names().values()))
        assert "sleep in rebuild (rebuild)" not in receiver.timer_names().values()


def test_that_several_loops_in_several_threads_have_clocks_of_their_own() -> None:
    code = """
import asyncio, threading
async def ticking(name):
    while True:
        await asyncio.sleep(0.01)
def run(name):
    asyncio.run(ticking(name))
threads = [threading.Thread(target=run, args=(n,), name=f"worker {n}") for n in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
"""
    with attached(code) as (receiver, _):
        names = [f"asyncio loop (worker {number})" for number in range(3)]
        receiver.wait_for(lambda: set(names) <= set(receiver.clocks()))
        held = receiver.clocks()[names[1]]
        receiver.ask("Clock.pause", clock=held)
        receiver.listen(0.1)
        before = len(receiver.events)
        receiver.listen(0.3)

        clock_of = {number: a for _, kind, number, a, _ in receiver.events if kind == TIMER_ADDED}
        fired = Counter(
            clock_of[number]
            for _, kind, number, _, _ in receiver.events[before:]
            if kind == TIMER_FIRED
        )
        assert set(fired) == {receiver.clocks()[names[0]], receiver.clocks()[names[2]]}


@contextmanager
def followed(
    make: Callable[[], asyncio.AbstractEventLoop] = asyncio.SelectorEventLoop,
) -> Iterator[tuple[asyncio.AbstractEventLoop, AsyncioAdapter, Sink]]:
    """Have a loop in this process whose timers are followed."""
    program, loop = Program("test"), make()
    adapter = AsyncioAdapter(program)
    adapter.learn(asyncio.base_events)
    program.adapters["asyncio"] = adapter
    program.hide(*adapter.hides)
    adapter.found(loop)
    sink = Sink(program.texts)
    program.attach(sink.emit, sink.extend)
    try:
        yield loop, adapter, sink
    finally:
        loop.close()


def folded(adapter: AsyncioAdapter, sink: Sink) -> Timeline:
    timeline = Timeline(list(adapter.program.texts))
    timeline.apply_all(sink._waiting)
    return timeline


async def sleeping(*delays: float) -> None:
    for delay in delays:
        await asyncio.sleep(delay)


def test_that_a_task_that_sleeps_again_and_again_is_one_timer() -> None:
    with followed() as (loop, adapter, sink):

        async def works() -> None:
            for delay in (0.001, 0.002, 0.003, 60):
                if delay == 60:
                    is_last.set()
                await asyncio.sleep(delay)

        async def watched() -> None:
            task = asyncio.create_task(works())
            await is_last.wait()
            timers = folded(adapter, sink).timers
            (row,) = map(timers.row, timers.ids())
            assert (row.fired, row.interval_ns) == (2, 60 * 10**9)
            assert row.label == f"sleep in {works.__qualname__}"
            assert row.call_site.endswith(f"in {works.__qualname__}")
            task.cancel()

        is_last = asyncio.Event()
        loop.run_until_complete(watched())


def test_that_what_a_task_sleeps_is_what_was_asked() -> None:
    with followed() as (loop, adapter, sink):
        loop.run_until_complete(sleeping(0.001, 0.001, 0.001, 0.001))

        armed = [event for event in sink._waiting if event[1] == TIMER_ARMED and event[4]]
        now_ns = time.monotonic_ns()
        ahead_ns = adapter.program.own_clock.local_at(now_ns) - now_ns
        assert len(armed) == 3
        assert {due_ns - ahead_ns - at_ns for at_ns, _, _, due_ns, _ in armed} == {1_000_000}


def test_that_timers_of_textual_are_named_after_the_functions_that_they_call() -> None:
    class Timer:
        def __init__(self, callback: Callable[..., None]) -> None:
            self._callback = callback
            self._interval = 0.002

        async def _run_timer(self) -> None:
            for delay in (0.002, 0.0017, 0.0019, 0.0018):
                await asyncio.sleep(delay)

    def blink() -> None: ...

    def save() -> None: ...

    def call_next(_callback: Callable[..., None]) -> None: ...

    Timer.__module__, Timer._run_timer.__qualname__ = "textual.timer", "Timer._run_timer"
    with followed() as (loop, adapter, sink):

        async def run() -> None:
            timers = {
                "set_interval#1": Timer(blink),
                "set_timer#1": Timer(partial(call_next, save)),
            }
            tasks = [asyncio.create_task(timers[name]._run_timer(), name=name) for name in timers]
            await asyncio.gather(*tasks)

        loop.run_until_complete(run())
        texts, events = adapter.program.texts, sink._waiting
        names = {texts[b] for _, kind, _, _, b in events if kind == TIMER_ADDED}
        sites = {texts[a] for _, kind, _, a, _ in events if kind == TIMER_ORIGIN}

    periods = {b for _, kind, _, _, b in events if kind == TIMER_ARMED} - {0}
    assert periods == {2_000_000}
    called = {blink.__qualname__, save.__qualname__}
    assert names == {f"sleep in {each}" for each in called}
    assert {site.rpartition(" in ")[2] for site in sites} == called


def test_that_a_sleep_in_a_task_of_asyncios_is_named_after_what_waits_for_it() -> None:
    with followed() as (loop, adapter, sink):

        async def polls() -> None:
            await asyncio.wait_for(asyncio.sleep(0.001), 60)
            await asyncio.gather(asyncio.sleep(0.001), asyncio.sleep(0.001))
            await asyncio.create_task(asyncio.sleep(0.001))

        loop.run_until_complete(polls())
        texts, events = adapter.program.texts, sink._waiting
        names = {texts[b] for _, kind, _, _, b in events if kind == TIMER_ADDED}
        sites = {texts[a] for _, kind, _, a, _ in events if kind == TIMER_ORIGIN}

    name = polls.__qualname__
    assert {each for each in names if each.startswith("sleep")} == {f"sleep in {name}"}
    assert all(site.endswith(f"in {name}") for site in sites)


@pytest.mark.parametrize("is_left_out", [False, True])
def test_that_the_timer_of_a_sleep_that_comes_again_is_as_asyncio_makes_it(
    *, is_left_out: bool
) -> None:
    with followed() as (loop, adapter, _):
        if is_left_out:
            (hooks,) = adapter._by_clock.values()
            hooks.thinned_below_s, hooks.share = 1.0, -1

        async def works() -> None:
            for place in range(4):
                if place == 3:
                    is_last.set()
                await asyncio.sleep(0.002)

        async def watched() -> None:
            task = asyncio.create_task(works())
            await is_last.wait()
            scheduled: list[Any] = loop._scheduled  # type: ignore[attr-defined]
            (handle,) = (each for each in scheduled if not each.cancelled())
            made = asyncio.TimerHandle(
                handle.when(), handle._callback, handle._args, loop, handle._context
            )
            for kind in asyncio.TimerHandle.__mro__[:2]:
                for name in set(vars(kind)["__slots__"]) - {"__weakref__", "_scheduled"}:
                    assert getattr(handle, name) == getattr(made, name), name
            assert repr(handle) == repr(made)
            assert len(adapter.program.timers) == (not is_left_out)
            assert not handle < made
            assert handle.__lt__("another") is NotImplemented
            await task

        is_last = asyncio.Event()
        loop.run_until_complete(watched())


def test_that_a_loop_with_a_way_of_its_own_to_set_timers_sets_every_sleep() -> None:
    whens: list[float] = []

    class Loop(asyncio.SelectorEventLoop):
        def call_at(self, when: float, *args: Any, **named: Any) -> asyncio.TimerHandle:  # type: ignore[override]  # noqa: ANN401
            whens.append(when)
            return super().call_at(when, *args, **named)

    with followed(Loop) as (loop, _, sink):
        loop.run_until_complete(sleeping(0.001, 0.001, 0.001, 0.001))

        assert len(whens) == 4
        assert sum(kind == TIMER_FIRED for _, kind, *_ in sink._waiting) == 4


def test_that_a_task_that_waits_for_something_else_has_no_timer_until_it_sleeps() -> None:
    with followed() as (loop, adapter, sink):

        async def works() -> None:
            for _ in range(3):
                await asyncio.sleep(0.001)
            has_slept.set()
            await event.wait()

        async def watched() -> None:
            task = asyncio.create_task(works())
            await has_slept.wait()
            assert len(folded(adapter, sink).timers) == 0
            event.set()
            await task

        event, has_slept = asyncio.Event(), asyncio.Event()
        loop.run_until_complete(watched())


def test_that_very_many_timers_are_thinned_out_and_said_to_be() -> None:
    with followed() as (loop, adapter, _):

        async def watched(share: float, delay: float) -> int:
            adapter.thin_out(share)
            tasks = [asyncio.create_task(sleeping(delay)) for _ in range(400)]
            await asyncio.sleep(0)
            seen = len(adapter.program.timers)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            return seen

        assert loop.run_until_complete(watched(0.1, 0.5)) == 400
        assert loop.run_until_complete(watched(0.8, 0.5)) < 100
        assert "1 in 14 is followed" in adapter.message
        assert loop.run_until_complete(watched(0.05, 5)) == 400
        for _ in range(4):
            adapter.thin_out(0.0)
        assert loop.run_until_complete(watched(0.05, 0.5)) == 400
        assert not adapter.message


def test_that_a_sleep_that_was_left_out_is_described_to_be_stepped_to() -> None:
    with followed() as (loop, adapter, _):
        (hooks,) = adapter._by_clock.values()
        hooks.thinned_below_s, hooks.share = 1.0, -1

        async def watched() -> None:
            task = asyncio.create_task(sleeping(0.5))
            await asyncio.sleep(0)
            assert not adapter.program.timers
            for _ in hooks.described():
                pass
            assert len(adapter.program.timers) == 1
            task.cancel()

        loop.run_until_complete(watched())


@pytest.mark.parametrize(("share", "one_of"), [(0.12001, 3), (0.47, 8), (0.71, 12)])
def test_that_thinned_out_it_follows_as_many_tasks_as_it_says(share: float, one_of: int) -> None:
    with followed() as (loop, adapter, _):

        async def watched() -> int:
            adapter.thin_out(share)
            tasks = [asyncio.create_task(sleeping(0.5)) for _ in range(600)]
            await asyncio.sleep(0)
            seen = len(adapter.program.timers)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            return seen

        seen = loop.run_until_complete(watched())
        assert f"1 in {one_of} is followed" in adapter.message
        assert 0.6 < seen * one_of / 600 < 1.4


SERVER = """
import asyncio
class RequestHandler:
    async def start(self, handler):
        await self._handle_request(handler)
    async def _handle_request(self, handler):
        await handler()
        await asyncio.sleep(5)
"""


def test_that_what_a_server_calls_is_named_after_the_function_of_the_program() -> None:
    server: dict[str, Any] = {}
    exec(compile(SERVER, "/lib/site-packages/server.py", "exec"), server)  # noqa: S102

    async def hello() -> None:
        await asyncio.sleep(3)

    with followed() as (loop, adapter, sink):

        async def serving() -> None:
            tasks = [
                asyncio.create_task(server["RequestHandler"]().start(handler))
                for handler in (hello, partial(asyncio.sleep, 0))
            ]
            await asyncio.sleep(0.01)
            timers = folded(adapter, sink).timers
            found = {row.label: row.call_site for row in map(timers.row, timers.ids())}
            assert any("hello" in name for name in found)
            assert "test_asyncio.py" in next(found[name] for name in found if "hello" in name)
            # Where the program has no part in it, the server is named.
            assert "server.py" in found["sleep in RequestHandler.start"]
            for task in tasks:
                task.cancel()

        loop.run_until_complete(serving())


TORNADO = """
import functools
class IOLoop:
    def __init__(self, loop):
        self.loop = loop
    def call_later(self, delay, callback):
        return self.loop.call_later(delay, self._run_callback, functools.partial(callback))
    def _run_callback(self, callback):
        callback()
class PeriodicCallback:
    def __init__(self, loop, callback, callback_time):
        self.io_loop, self.callback, self.callback_time = loop, callback, callback_time
    def start(self):
        self.io_loop.call_later(self.callback_time / 1e3, self._run)
    def _run(self):
        self.callback()
        self.start()
"""


def test_that_what_tornado_calls_is_named_and_its_periodic_callbacks_are_one_timer() -> None:
    tornado: dict[str, Any] = {"__name__": "tornado.ioloop"}
    exec(compile(TORNADO, "/lib/site-packages/tornado/ioloop.py", "exec"), tornado)  # noqa: S102
    enough, calls = asyncio.Event(), iter(range(3))

    def report() -> None:
        if next(calls, None) is None:
            enough.set()

    def later() -> None: ...

    def flush() -> None: ...

    with followed() as (loop, adapter, sink):
        io_loop = tornado["IOLoop"](loop)

        async def serving() -> None:
            io_loop.call_later(5, later)
            loop.call_soon(io_loop.call_later, 5, flush)
            tornado["PeriodicCallback"](io_loop, report, 1).start()
            await enough.wait()
            timers = folded(adapter, sink).timers
            rows = {row.label.rpartition(".")[2]: row for row in map(timers.row, timers.ids())}
            assert rows["later"].call_site.endswith("serving")
            # Nothing of the program is on the way to where it is set.
            assert rows["flush"].call_site.endswith("flush")
            assert rows["report"].call_site.endswith("report")
            assert rows["report"].interval_ns == 1_000_000
            number = next(each for each in timers.ids() if timers.row(each) == rows["report"])
            fired = [each for each in sink._waiting if each[1:3] == (TIMER_FIRED, number)]
            assert len(fired) >= 2

        loop.run_until_complete(serving())
