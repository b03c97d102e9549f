"""What the adapter of uvloop does with loops, of which only what it touches is there."""

# ruff: noqa: ANN401 - as the library has it

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe.adapters.uvloop import UvloopAdapter
from inspector.probe.kinds import NEVER, TIMER_ADDED, TIMER_ARMED, TIMER_CLEARED, TIMER_FIRED
from inspector.probe.kinds import RATE_DENOMINATOR as D
from tests.probe.adapters.played import Played

MS = 1_000_000


class Native:
    """A timer of libuv's."""

    def __init__(self, due_ns: int, call: Callable[[], object]) -> None:
        self.due_ns, self.call = due_ns, call
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class Uvloop(Played):
    """uvloop, and a probe in it; its loops are of type `Loop`.

    Attributes:
        early_ms: How much too early libuv calls, whose milliseconds are coarse.
    """

    def __init__(self) -> None:
        super().__init__(400 * MS)
        self.early_ms = 0
        self.natives: list[Native] = []
        self.delays_ms: list[float] = []
        self.soon: list[Callable[[], object]] = []
        uvloop = self

        class Loop:
            is_alive = True
            runs = 0

            def time(self) -> float:
                # libuv counts from another instant.
                return 70 + uvloop.now_ns / 1e9

            def call_later(
                self, delay: float, callback: Any, *args: Any, context: Any = None
            ) -> Native:
                assert context is None or args == ()
                uvloop.delays_ms.append(round(delay * 1e3, 3))
                due_ns = uvloop.now_ns + round(delay * 1e9)
                uvloop.natives.append(Native(due_ns, lambda: callback(*args)))
                return uvloop.natives[-1]

            call_at = call_later

            def run_forever(self) -> str:
                self.runs += 1
                return "run"

            def is_running(self) -> bool:
                return bool(self.runs)

            def call_soon(self, call: Any, *args: Any) -> None:
                uvloop.soon.append(lambda: call(*args))

            call_soon_threadsafe = call_soon

            def stop(self) -> None:
                self.runs = 0

            def close(self) -> str:
                self.is_alive = False
                return "closed"

            def get_debug(self) -> bool:
                return False

        module: Any = SimpleNamespace(Loop=Loop)
        self.module = module
        self.adapter = UvloopAdapter(self.program)
        self.adapter.installed(module)
        self.now_ns += 100 * MS
        self.loop: Any = Loop()
        self.loop.run_forever()
        self.clock = self.adapter._loops[self.loop].clock

    def turn(self, at_ms: float) -> None:
        """Have libuv call what is due at a time of the machine."""
        self.now_ns = round(at_ms * MS)
        for native in list(self.natives):
            if not native.is_cancelled and native.due_ns - self.early_ms * MS <= self.now_ns:
                self.natives.remove(native)
                native.call()
        for call in list(self.soon):
            self.soon.remove(call)
            call()

    def fired(self) -> list[tuple[int, float, int]]:
        return [(n, a / MS, b) for _, kind, n, a, b in self.events if kind == TIMER_FIRED]

    def cleared(self) -> list[tuple[int, int]]:
        return [(n, b) for _, kind, n, _, b in self.events if kind == TIMER_CLEARED]


@pytest.fixture
def uvloop() -> Uvloop:
    return Uvloop()


def wake() -> None: ...


def test_that_a_call_is_told_until_it_is_made(uvloop: Uvloop) -> None:
    called: list[object] = []
    uvloop.loop.call_later(0.1, called.append, "later")
    uvloop.loop.call_at(uvloop.loop.time() + 0.2, called.append, "at")
    timers = list(uvloop.program.timers.values())
    assert [round(due_ns / MS, 3) for *_, due_ns, _ in timers] == [200, 300]
    assert all("test_uvloop.py" in uvloop.program.texts[site] for _, _, site, *_ in timers)
    assert uvloop.delays_ms == [100, 200]
    for at_ms in (590, 615, 730):
        uvloop.turn(at_ms)

    assert called == ["later", "at"]
    assert uvloop.fired() == [(1, 15, NEVER), (2, pytest.approx(30), NEVER)]
    assert uvloop.program.timers == {}
    assert uvloop.adapter._loops[uvloop.loop].pending == {}


def test_that_what_is_due_or_unseen_is_left_to_libuv(uvloop: Uvloop) -> None:
    for delay in (0, -1):
        uvloop.loop.call_later(delay, wake)
    uvloop.program.emit = None
    uvloop.loop.call_later(0.1, wake)

    assert uvloop.delays_ms == [0, -1000, 100]
    assert uvloop.count(TIMER_ADDED) == 0


def test_that_a_loop_reads_local_time_and_its_timers_are_set_for_it(uvloop: Uvloop) -> None:
    began_s = uvloop.loop.time()
    assert began_s == pytest.approx(70.5)
    uvloop.loop.call_later(0.1, wake)
    uvloop.set_rate(D // 2)
    uvloop.turn(540)
    assert uvloop.loop.time() == pytest.approx(70.52)
    uvloop.loop.call_later(0.1, wake)
    uvloop.hold()
    uvloop.turn(600)
    assert all(each.is_cancelled for each in uvloop.natives)
    uvloop.loop.call_later(0.3, wake)
    uvloop.resume()
    uvloop.turn(600)

    # In real time: set, what is left at half the rate, another, and what is left of all.
    assert uvloop.delays_ms == [100, 160, 200, 160, 200, 600]
    uvloop.turn(780)
    assert [number for number, *_ in uvloop.fired()] == [1]


def test_that_a_timer_that_libuv_calls_early_waits_for_the_rest(uvloop: Uvloop) -> None:
    uvloop.loop.call_later(0.1, wake)
    uvloop.early_ms = 5
    uvloop.turn(598)
    assert uvloop.fired() == []
    uvloop.turn(599.9)
    # libuv counts in milliseconds, and would call less at once.
    assert uvloop.delays_ms == [100, 2, 1]
    uvloop.turn(600)

    assert uvloop.fired() == [(1, 0, NEVER)]


@pytest.mark.parametrize("is_held", [False, True])
def test_that_a_cancelled_timer_is_told_and_not_called(uvloop: Uvloop, *, is_held: bool) -> None:
    called: list[object] = []
    handle = uvloop.loop.call_later(0.1, called.append, 1)
    if is_held:
        uvloop.hold()
        uvloop.turn(500)
    for _ in range(2):
        handle.cancel()
    uvloop.turn(700)

    assert called == []
    assert handle.cancelled()
    assert uvloop.cleared() == [(1, 0)]
    (site,) = [a for _, kind, _, a, _ in uvloop.events if kind == TIMER_CLEARED]
    assert "test_uvloop.py" in uvloop.program.texts[site]
    # One that was told to nobody is cancelled too.
    uvloop.program.emit = None
    uvloop.adapter.released()
    uvloop.loop.call_later(0.1, wake).cancel()


class Task:
    """A task that sleeps."""


#: What awaits in asyncio.
SLEEP = "def sleep(later, *args): return later(*args)"


class Sleeping(Uvloop):
    """A task on a loop of uvloop's, which sleeps by asyncio's sleep."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.program.hide(*self.adapter.hides)
        names = self.adapter.names
        self.task: Task | None = Task()
        self.woken: list[object] = []
        monkeypatch.setattr(names, "current_task", lambda _: self.task)
        monkeypatch.setattr(names, "name_and_site", lambda *_: ("sleep in main", 0))
        monkeypatch.setattr(names, "pending_name_and_site", lambda _: ("pending", 0))

    def __getattr__(self, name: str) -> Any:
        """Return asyncio's ``sleep``, whose frames are hidden."""
        functions: dict[str, Any] = {"__name__": "asyncio.tasks"}
        exec(compile(SLEEP, "/x/asyncio/tasks.py", "exec"), functions)  # noqa: S102 - asyncio
        future = SimpleNamespace(cancelled=lambda: False, set_result=self.woken.append)
        callback, woken = self.adapter.names.sleep_callback, len(self.woken)
        return partial(functions[name], self.loop.call_later, 0.1, callback, future, woken)

    def armed(self) -> list[tuple[int, float, float]]:
        return [(n, a / MS, b / MS) for _, kind, n, a, b in self.events if kind == TIMER_ARMED]


@pytest.fixture
def sleeping(monkeypatch: pytest.MonkeyPatch) -> Sleeping:
    return Sleeping(monkeypatch)


def test_that_a_task_that_sleeps_at_one_place_is_a_timer_that_repeats(sleeping: Sleeping) -> None:
    for at_ms in (600, 700, 800, 0):
        handle = sleeping.sleep()
        if at_ms:
            sleeping.now_ns = at_ms * MS
            handle.reached()
        if at_ms == 800:
            # Its task has not slept again when it had its turn, the first time least of all.
            sleeping.natives.clear()
            sleeping.turn(800)
    assert sleeping.armed() == [(1, 200, 0), (2, 300, 100), (2, 400, 100), (3, 500, 100)]
    assert sleeping.fired() == [(1, 0, NEVER), (2, 0, 400 * MS), (2, 0, 500 * MS)]
    assert sleeping.woken == [0, 1, 2]
    assert [n for n, _ in sleeping.cleared()] == [2]
    # A call that is no sleep, and a sleep of no task, are timers of their own.
    sleeping.loop.call_later(0.1, wake)
    task, sleeping.task = sleeping.task, None
    assert sleeping.sleep().when() == pytest.approx(sleeping.loop.time() + 0.1)
    assert [period for *_, period in sleeping.armed()[4:]] == [0, 0]
    assert list(sleeping.adapter._loops[sleeping.loop].sleeps._latest) == [task]
    sleeping.adapter.released()
    assert list(sleeping.adapter._loops[sleeping.loop].sleeps._latest) == []
    assert len(list(sleeping.adapter.keyframe(sleeping.clock))) == 3


def test_that_a_sleep_is_of_the_place_in_the_program_that_awaits_it(sleeping: Sleeping) -> None:
    def sleep_elsewhere() -> Any:
        return sleeping.sleep()

    def sleep_here() -> Any:
        return sleeping.sleep()

    for sleep in (sleep_elsewhere, sleep_here, sleep_here):
        handle = sleep()
        sleeping.now_ns += 100 * MS
        handle.reached()

    assert [period for *_, period in sleeping.armed()] == [0, 0, 100]


def test_that_a_sleep_can_be_cleared_between_two_of_its_calls(sleeping: Sleeping) -> None:
    for round_ in range(3):
        handle = sleeping.sleep()
        if round_ < 2:
            sleeping.now_ns += 100 * MS
            timer = sleeping.program.pending(2)
            if timer is not None:
                # Its loop comes to that after the call.
                sleeping.adapter.clear_timer(sleeping.clock, timer, 7)
            handle.reached()
        if round_ == 1:
            clear, settle = sleeping.soon
            sleeping.soon.clear()
            clear()
            assert sleeping.cleared() == []
    settle()
    for call in sleeping.soon:
        call()

    assert sleeping.cleared() == [(2, 7)]
    assert handle.cancelled()


def test_that_an_inspector_that_comes_is_told_what_waits(uvloop: Uvloop) -> None:
    handles = [uvloop.loop.call_later(0.1, wake) for _ in range(3)]
    uvloop.program.detach()
    uvloop.adapter.released()
    handles[0].cancel()
    uvloop.attach()
    for _ in range(2):
        assert list(uvloop.adapter.keyframe(uvloop.clock)) == [None, None]
    assert uvloop.count(TIMER_ADDED) == 5

    timer = uvloop.program.pending(4)
    assert timer is not None
    uvloop.adapter.clear_timer(uvloop.clock, timer, 7)
    assert uvloop.cleared() == []
    # It is cleared on the thread of the loop.
    uvloop.turn(510)
    assert uvloop.cleared() == [(4, 7)]
    assert handles[1].cancelled()
    # What has fired meanwhile cannot be cleared.
    fired = uvloop.program.pending(5)
    assert fired is not None
    uvloop.adapter.clear_timer(uvloop.clock, fired, 7)
    handles[2].reached()
    handles[2].shown = None
    uvloop.turn(610)
    assert uvloop.cleared() == [(4, 7)]


def test_that_a_timer_that_has_fired_while_it_was_described_is_gone(uvloop: Uvloop) -> None:
    uvloop.program.detach()
    uvloop.attach()
    handle = uvloop.loop.call_later(0.1, wake)
    handle.shown = None
    frames = uvloop.adapter.keyframe(uvloop.clock)
    uvloop.adapter._loops[uvloop.loop].pending.clear()
    uvloop.adapter._loops[uvloop.loop].pending[0] = handle
    list(frames)

    assert [number for number, _ in uvloop.cleared()] == [2]


def test_that_each_loop_has_a_clock_until_it_is_closed(uvloop: Uvloop) -> None:
    other = uvloop.module.Loop()
    assert other.run_forever() == "run"
    clock = uvloop.adapter._loops[other].clock
    unseen = uvloop.module.Loop()
    assert [each.name for each, _ in uvloop.adapter.task_loops()] == ["uvloop", "uvloop loop 2"]
    assert [loop for _, loop in uvloop.adapter.task_loops()] == [uvloop.loop, other]
    for loop in (other, unseen):
        assert loop.close() == "closed"
        assert not loop.is_alive

    assert clock.is_removed
    assert not uvloop.clock.is_removed
    # What is asked of a clock whose loop is gone is nothing.
    assert uvloop.adapter.running_task(clock) is None
    assert not uvloop.adapter.end_loop(clock)
    assert list(uvloop.adapter.keyframe(clock)) == []


def test_that_a_loop_is_ended_and_called_on_its_own_thread_while_it_runs(uvloop: Uvloop) -> None:
    called: list[str] = []
    uvloop.adapter.call_soon(uvloop.clock, lambda: called.append("in its turn"))
    assert called == []
    assert uvloop.adapter.end_loop(uvloop.clock)
    assert uvloop.loop.is_running()
    uvloop.turn(510)
    assert not uvloop.loop.is_running()
    uvloop.adapter.call_soon(uvloop.clock, lambda: called.append("at once"))

    assert called == ["in its turn", "at once"]
    assert not uvloop.adapter.end_loop(uvloop.clock)
    assert uvloop.adapter.idle_loops() == []
    uvloop.loop.call_later(0.1, wake)
    assert uvloop.adapter.idle_loops() == [uvloop.loop]
    uvloop.loop.run_forever()
    assert uvloop.adapter.idle_loops() == []


def test_that_the_loops_of_an_adapter_that_failed_are_uvloops_own(uvloop: Uvloop) -> None:
    uvloop.adapter.fail("something is gone")
    loop = uvloop.module.Loop()
    loop.call_later(0.1, wake)

    assert loop.time() == 70 + uvloop.now_ns / 1e9
    assert uvloop.delays_ms == [100]
    assert uvloop.count(TIMER_ADDED) == 0


def test_that_a_program_whose_loop_runs_already_is_told_what_is_missing(uvloop: Uvloop) -> None:
    assert uvloop.adapter.message == ""

    async def late() -> str:
        adapter = UvloopAdapter(uvloop.program)
        module: Any = uvloop.module
        adapter.installed(module)
        return adapter.message

    assert asyncio.run(late()).startswith("Timers that were set before the probe came")
