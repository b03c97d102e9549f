"""What is told of turns in time that the test passes, look by look."""

from __future__ import annotations

import asyncio
from threading import get_ident
from types import SimpleNamespace

import pytest

from inspector.probe import program as program_module
from inspector.probe import sampler as module
from inspector.probe.adapters import Adapter
from inspector.probe.kinds import (
    OTHER_THREAD,
    RUNNING_CALL,
    RUNS_FRAME,
    SAMPLE_TIMES,
    SAMPLED,
    SAW_BETWEEN_TURNS,
    SAW_END,
    SAW_NO_TIMES,
    SAW_WAIT,
)
from inspector.probe.program import Program
from inspector.probe.sampler import Sampler
from inspector.probe.stacks import stack_of
from inspector.vocabulary import RawEvent

MS = 1_000_000


class Looked:
    """A program in time that the test passes, with a sampler that looks when it is told to.

    Attributes:
        used_ms: What the thread of its loops has used of a processor.
        ready_ms: How long that has waited for one.
        runs: How often that has had one.
        stops: What is known of times in which nothing could be looked at.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 10**15
        self.used_ms = self.ready_ms = 0
        self.runs = 1
        monkeypatch.setattr(program_module, "monotonic_ns", lambda: self.now_ns)
        monkeypatch.setattr(module, "other_times", dict)
        times = SimpleNamespace(
            cpu_ns=lambda: self.used_ms * MS,
            scheduled=lambda: (self.ready_ms * MS, self.runs),
            close=lambda: None,
        )
        monkeypatch.setattr(module, "ThreadTimes", lambda _native: times)
        self.program = Program("played", lambda: self.now_ns)
        self.events: list[RawEvent] = []
        self.program.attach(self.events.append, self.events.extend)
        self.sampler = Sampler(self.program, lambda: self.now_ns)
        self.stops = SimpleNamespace(
            lacked_ns=0, read_ns=self.now_ns * 2, sleeps=int, stopped_ns=int
        )
        self.sampler._stops = self.stops  # type: ignore[assignment]

    def pass_ms(self, ms: int, used_ms: int = 0, ready_ms: int = 0) -> None:
        self.now_ns += ms * MS
        self.used_ms += used_ms
        self.ready_ms += ready_ms

    def look_after(self, ms: int, used_ms: int = 0, ready_ms: int = 0) -> None:
        self.pass_ms(ms, used_ms, ready_ms)
        self.sampler.look()

    def look_late(self, ms: int, used_ms: int = 0, lacked_ms: int = 0) -> None:
        """Look after so long without the interpreter, for some of it without a processor."""

        def stopped_ns(_now_ns: int, _late_ns: int) -> int:
            self.stops.lacked_ns = lacked_ms * MS
            return 0

        self.stops.stopped_ns, self.stops.read_ns = stopped_ns, 0
        self.sampler._stuck_ns = ms * MS
        self.look_after(ms, used_ms)

    @property
    def told(self) -> list[tuple[int, int, int]]:
        """What each sample is for, and what its thread used and waited for, in milliseconds."""
        times = [(a, b) for _, kind, _, a, b in self.events if kind == SAMPLE_TIMES]
        covers = [a for _, kind, _, a, _ in self.events if kind == SAMPLED]
        return [
            (each // MS, used // MS, ready // MS)
            for each, (used, ready) in zip(covers, times, strict=True)
        ]

    @property
    def ends(self) -> list[bool]:
        """Whether each sample is for what followed the last of its turn."""
        return [bool(b & SAW_END) for _, kind, _, _, b in self.events if kind == SAMPLED]


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
    adapter = Adapter(looked.program)
    adapter.has_hidden_turns = True
    looked.program.clock("loop", adapter=adapter)
    for _ in range(4):
        looked.look_after(20, used_ms=20)

    assert looked.told
    assert not any(looked.ends)


@pytest.mark.parametrize(
    ("used_ms", "lacked_ms", "is_told"),
    [(40, 0, True), (32, 0, True), (31, 0, False), (40, 19, True), (40, 20, False)],
)
def test_that_one_look_tells_a_hidden_turn_that_has_kept_the_interpreter(
    looked: Looked, used_ms: int, lacked_ms: int, *, is_told: bool
) -> None:
    adapter = Adapter(looked.program)
    adapter.has_hidden_turns = True
    looked.program.clock("loop", adapter=adapter)
    looked.look_after(0)
    looked.look_late(40, used_ms, lacked_ms)

    (flags,) = [b for _, kind, _, _, b in looked.events if kind == SAMPLED]
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
    looked.stops.close = lambda: None
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
