"""What is told of turns in time that the test passes, look by look."""

from __future__ import annotations

import asyncio
from threading import get_ident
from types import SimpleNamespace

import pytest

from inspector.probe import sampler as module
from inspector.probe import thread_times
from inspector.probe.adapters import Adapter
from inspector.probe.clocks import Clock
from inspector.probe.frames import Frames
from inspector.probe.kinds import (
    OTHER_THREAD,
    RUNNING_CALL,
    RUNS_FRAME,
    SAMPLED,
    SAW_BETWEEN_TURNS,
    SAW_NO_TIMES,
    SAW_WAIT,
)
from inspector.probe.stacks import stack_of
from tests.probe.looked import MS, Looked


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Looked:
    return Looked(monkeypatch)


def test_that_samples_cover_a_long_turn_from_its_begin_to_its_end(looked: Looked) -> None:
    loop = looked.program.clock("loop", adapter=Adapter(looked.program))
    looked.look_after(0)
    looked.program.frame_began(loop)
    looked.look_after(5, used_ms=5)
    looked.look_after(20, used_ms=10, ready_ms=4)
    looked.look_after(20, used_ms=20)
    looked.pass_ms(3, used_ms=2)
    looked.program.frame_ended(loop)
    looked.look_after(4)
    looked.look_after(40)

    assert looked.told == [(25, 12, 5), (20, 20, 0), (3, 2, 0)]
    assert looked.ends == [False, False, True]
    assert {b for _, kind, _, _, b in looked.events if kind == RUNNING_CALL} == {RUNS_FRAME}
    assert not any(b & SAW_NO_TIMES for _, kind, _, _, b in looked.events if kind == SAMPLED)


def test_that_a_turn_is_not_told_that_is_short(looked: Looked) -> None:
    loop = looked.program.clock("loop")
    for _ in range(20):
        looked.program.frame_began(loop)
        looked.look_after(6, used_ms=6)
        looked.program.frame_ended(loop)
        looked.look_after(2)

    assert looked.told == []


def test_that_what_could_not_be_looked_at_is_no_part_of_a_sample(looked: Looked) -> None:
    loop = looked.program.clock("loop")
    looked.look_after(0)
    looked.program.frame_began(loop)
    looked.look_after(0)
    looked.look_late(90, used_ms=90, lacked_ms=30)

    assert [covers for covers, _, _ in looked.told] == [60]


def test_that_what_a_loop_of_asyncio_calls_is_named() -> None:
    called: list[tuple[str, bool]] = []

    def look() -> None:
        runner = stack_of(get_ident(), is_after=False)[1]
        called.append((runner.name.rpartition(".")[2], runner.is_task))

    async def task() -> None:
        asyncio.get_running_loop().call_soon(look)
        await asyncio.sleep(0)
        look()

    asyncio.run(task())

    assert called == [("look", False), ("task", True)]


def test_that_a_loop_whose_turns_are_hidden_is_busy_while_its_stack_says_so(
    looked: Looked,
) -> None:
    looked.hidden_loop()
    for _ in range(4):
        looked.look_after(20, used_ms=20)

    assert looked.told
    assert not any(looked.ends)


@pytest.mark.parametrize(
    ("used_ms", "ready_ms", "lacked_ms", "is_told"),
    [
        (40, 0, 0, True),
        (32, 0, 0, True),
        (31, 0, 0, False),
        (40, 0, 19, True),
        (40, 0, 20, False),
        # It had to wait for a processor, too.
        (4, 28, 0, True),
        (4, 27, 0, False),
        (3, 36, 0, False),
    ],
)
def test_that_one_look_tells_a_hidden_turn_that_has_kept_the_interpreter(
    looked: Looked, used_ms: int, ready_ms: int, lacked_ms: int, *, is_told: bool
) -> None:
    looked.hidden_loop()
    looked.look_after(0)
    looked.ready_ms += ready_ms
    looked.look_late(40, used_ms, lacked_ms)

    flags = [b for _, kind, _, _, b in looked.events if kind == SAMPLED][-1]
    assert bool(flags & SAW_BETWEEN_TURNS) is not is_told


@pytest.mark.parametrize(("wakes", "is_wait"), [(4, False), (3, True)])
def test_that_a_thread_that_asks_for_the_interpreter_again_and_again_waits_for_nothing_else(
    looked: Looked, monkeypatch: pytest.MonkeyPatch, wakes: int, *, is_wait: bool
) -> None:
    monkeypatch.setattr(module, "wait_of", lambda _runner: (True, ""))
    loop = looked.program.clock("loop")
    looked.look_after(0)
    looked.program.frame_began(loop)
    looked.look_after(0)
    looked.runs += wakes
    looked.look_late(40)

    (flags,) = [b for _, kind, _, _, b in looked.events if kind == SAMPLED]
    assert bool(flags & SAW_WAIT) is is_wait


@pytest.mark.parametrize(("runs", "is_told"), [(1, True), (0, False)])
def test_that_a_thread_that_does_not_run_at_all_does_not_wait_for_the_interpreter(
    looked: Looked, monkeypatch: pytest.MonkeyPatch, runs: int, *, is_told: bool
) -> None:
    busy = SimpleNamespace(used=lambda *_: (0, 10**18))
    monkeypatch.setattr(module, "OtherThreads", lambda: busy)
    loop = looked.program.clock("loop")
    looked.look_after(0)
    looked.program.frame_began(loop)
    for _ in range(5):
        looked.runs += runs
        looked.look_after(10)
    assert looked.told
    assert (OTHER_THREAD in {kind for _, kind, *_ in looked.events}) is is_told


def test_that_the_first_sample_and_each_32nd_tell_again_what_runs(looked: Looked) -> None:
    loop = looked.program.clock("loop")
    looked.look_after(0)
    looked.program.frame_began(loop)
    looked.look_after(0)
    for _ in range(66):
        looked.look_after(20, used_ms=20)

    kinds = [kind for _, kind, *_ in looked.events if kind in {RUNNING_CALL, SAMPLED}]
    places = [place for place, kind in enumerate(kinds) if kind == RUNNING_CALL]
    # The first is for the time up to the first look.
    assert kinds.count(SAMPLED) == 66
    assert [place - number for number, place in enumerate(places)] == [0, 32, 64]


def test_that_an_inspector_that_comes_again_is_told_all_of_the_first_sample(
    looked: Looked,
) -> None:
    loop = looked.program.clock("loop")
    told = []
    for _ in range(2):
        looked.sampler.begin()
        looked.look_after(0)
        looked.program.frame_began(loop)
        looked.look_after(0)
        looked.look_after(20, used_ms=20)
        looked.look_after(20, used_ms=20)
        told.append(sum(kind == RUNNING_CALL for _, kind, *_ in looked.events))
        looked.sampler.end()

    assert told == [1, 2]
    assert not looked.sampler.is_busy


def test_that_what_a_loop_of_trio_runs_is_a_task_named_after_its_function() -> None:
    seen: list[tuple[str, bool]] = []

    def look() -> None:
        runner = stack_of(get_ident(), is_after=False)[1]
        seen.append((runner.name.rpartition(".")[2], runner.is_task))

    async def crunch() -> None:
        look()

    def unrolled_run() -> None:
        look()
        with pytest.raises(StopIteration):
            crunch().send(None)

    unrolled_run()

    # What trio does for itself is no task.
    assert seen == [("", False), ("crunch", True)]


def test_that_turns_are_told_that_only_an_adapter_knows(looked: Looked) -> None:
    adapter = Adapter(looked.program)
    adapter.turns = turns = Frames()
    clock = looked.program.clock("schedule", adapter=adapter)
    looked.look_after(0)
    turns.begin(clock, looked.now_ns)
    looked.look_after(20, used_ms=5)

    assert looked.told == [(20, 5, 0)]


def threads_that_wait(looked: Looked) -> Clock:
    """Add a clock of which threads wait, one of them now, and have the times of all read once."""
    adapter = Adapter(looked.program)
    adapter.has_waits_of_threads = True
    clock = looked.program.clock("Python time", adapter=adapter)
    looked.program.timer(clock, "Event.wait", 0, 10**18)
    looked.look_late(1)
    looked.look_late(1)
    return clock


@pytest.mark.parametrize(
    ("late_ms", "lacked_ms", "wakes", "told"),
    [
        (100, 0, 10, [100]),
        (100, 0, 9, []),
        (100, 49, 6, [51]),
        (100, 50, 10, []),
        (50, 0, 5, [50]),
        (49, 0, 5, []),
    ],
)
def test_that_a_time_is_told_in_which_no_waiting_thread_got_the_interpreter(
    looked: Looked, late_ms: int, lacked_ms: int, wakes: int, told: list[int]
) -> None:
    threads_that_wait(looked)
    looked.stops.wakes = wakes
    looked.look_late(late_ms, lacked_ms=lacked_ms)

    assert [covers for covers, _, _ in looked.told] == told


def test_that_the_thread_is_told_that_ran_while_no_other_got_the_interpreter(
    looked: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = [0, 0, 30 * MS]
    monkeypatch.setattr(module, "other_times", lambda: {get_ident(): used.pop(0)})
    monkeypatch.setattr(thread_times, "process_time_ns", int)
    monkeypatch.setattr(thread_times, "thread_time_ns", int)
    clock = threads_that_wait(looked)
    looked.stops.wakes = 10
    looked.look_late(100)

    (told,) = [each for each in looked.events if each[1] == OTHER_THREAD]
    assert told[2:4] == (clock.number, 30 * MS)
    assert looked.program.texts[told[4]].startswith("MainThread: ")


@pytest.mark.parametrize("why", ["stopped", "held", "nobody waits"])
def test_that_waiting_threads_are_not_told_of_a_time_in_which_nothing_ran(
    looked: Looked, why: str
) -> None:
    clock = threads_that_wait(looked)
    looked.stops.wakes = 10
    if why == "stopped":
        looked.sampler._stuck_ns = 100 * MS
        looked.stops.stopped_ns = lambda *_: 100 * MS
        looked.look_after(100)
    elif why == "held":
        looked.program.clocks.pause(clock)
        looked.look_late(100)
    else:
        looked.program.timers.clear()
        looked.look_late(100)

    assert looked.told == []
