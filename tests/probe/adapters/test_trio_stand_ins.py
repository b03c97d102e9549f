"""What the adapter of trio does with runs of which only what it touches is there."""

# ruff: noqa: ANN401 - as trio has it

from __future__ import annotations

import sys
from collections.abc import Callable
from math import inf
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe.adapters.trio import TrioAdapter
from inspector.probe.kinds import (
    NEVER,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
)
from inspector.probe.kinds import RATE_DENOMINATOR as D
from tests.probe.adapters.played import Played

MS = 1_000_000
GONE = NEVER / MS
#: The functions of trio by which tasks sleep.
SLEEPS = """
def sleep_until(deadline):
    deadlines().add(deadline, Scope())
def sleep(seconds):
    sleep_until(now_s() + seconds)
"""


class Scope:
    _registered_deadline = inf


class Task:
    def __init__(self, name: str) -> None:
        self.name = name


class Trio(Played):
    """A program of trio, and a probe in it.

    Attributes:
        runner: Its run.
        polled: What it has waited for files with.
        soon: What it is to call.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: C901 - small classes
        super().__init__(400 * MS)
        self.now_ns += 100 * MS
        self.polled: list[float] = []
        self.soon: list[Callable[[], object]] = []
        self.closed: list[object] = []
        played = self

        class SystemClock:
            def current_time(self) -> float:
                return 70 + played.now_ns / 1e9

        class Deadlines:
            def __init__(self) -> None:
                self.waiting: dict[Scope, float] = {}

            def add(self, deadline: float, scope: Scope) -> None:
                self.waiting[scope] = scope._registered_deadline = deadline

            def remove(self, _deadline: float, scope: Scope) -> None:
                del self.waiting[scope]
                scope._registered_deadline = inf

            def expire(self, now: float) -> int:
                due = [each for each in self.waiting.items() if each[1] <= now]
                for scope, deadline in due:
                    self.remove(deadline, scope)
                return len(due)

            def next_deadline(self) -> float:
                return min(self.waiting.values(), default=inf)

        class TheIOManager:
            def get_events(self, timeout: float) -> str:
                played.polled.append(timeout)
                return "events"

            def force_wakeup(self) -> None: ...

        class Runner:
            main_task, waiting_for_idle = None, ()

            def __init__(self) -> None:
                self.clock: Any = SystemClock()
                self.deadlines: Any = Deadlines()
                self.io_manager: Any = TheIOManager()
                self.entry_queue = SimpleNamespace(run_sync_soon=played.soon.append)

            def close(self) -> None:
                played.closed.append(self)

        class WorkerThread:
            _job: object = None

            def _work(self) -> Any:
                return sys._getframe()

        core: Any = SimpleNamespace(
            setup_runner=lambda: Runner(),  # noqa: PLW0108 - is replaced
            Runner=Runner,
            Deadlines=Deadlines,
            TheIOManager=TheIOManager,
            SystemClock=SystemClock,
            GLOBAL_RUN_CONTEXT=SimpleNamespace(),
        )
        self.core, self.worker = core, WorkerThread()
        threads: Any = SimpleNamespace(WorkerThread=WorkerThread)
        monkeypatch.setitem(sys.modules, "trio._core._run", core)
        monkeypatch.setitem(sys.modules, "trio._core._thread_cache", threads)
        self.functions: dict[str, Any] = {"__name__": "trio", "now_s": self.now_s, "Scope": Scope}
        self.functions["deadlines"] = lambda: self.runner.deadlines
        exec(compile(SLEEPS, "/x/trio/timeouts.py", "exec"), self.functions)  # noqa: S102 - trio
        trio: Any = SimpleNamespace(
            abc=SimpleNamespace(Clock=object),
            **{name: self.functions[name] for name in ("sleep", "sleep_until")},
        )
        self.adapter = TrioAdapter(self.program)
        self.program.hide(*self.adapter.hides)
        self.adapter.installed(trio)
        self.trio = trio
        self.runner: Any = core.setup_runner()
        self.clock = self.adapter._runs[0].clock
        self.events.clear()

    def now_s(self) -> float:
        return float(self.runner.clock.current_time())

    def step(self, task: Task | None, call: Callable[..., object], *args: object) -> None:
        """Let a task go on."""
        self.core.GLOBAL_RUN_CONTEXT.task = task
        call(*args)
        self.core.GLOBAL_RUN_CONTEXT.task = None

    def turn(self, ms: float) -> bool:
        self.now_ns += round(ms * MS)
        return bool(self.runner.deadlines.expire(self.now_s()))

    def of(self, kind: int) -> list[tuple[int, float, float]]:
        return [(n, round(a / MS, 3), b / MS) for _, found, n, a, b in self.events if found == kind]

    def named(self, kind: int, place: int) -> list[str]:
        return [self.program.texts[event[place]] for event in self.events if event[1] == kind]


@pytest.fixture
def trio(monkeypatch: pytest.MonkeyPatch) -> Trio:
    return Trio(monkeypatch)


def test_that_a_task_that_sleeps_at_one_place_is_a_timer_that_repeats(trio: Trio) -> None:
    task = Task("ticking")

    def ticking(sleep: Callable[[float], object]) -> None:
        sleep(0.02)

    for _ in range(3):
        trio.step(task, ticking, trio.trio.sleep)
        assert trio.turn(20.001)
        trio.runner.clock.deadline_to_sleep_time(inf)
    # A task may sleep until an instant, too, for which no time was asked.
    trio.step(task, ticking, lambda s: trio.trio.sleep_until(trio.now_s() + s))

    assert set(trio.named(TIMER_ADDED, 4)) == {"ticking"}
    sites = trio.named(TIMER_ORIGIN, 3)
    assert all(f"{__file__}:" in site for site in sites)
    periods = [period for *_, period in trio.of(TIMER_ARMED)]
    assert periods[:2] == [0, 20]
    assert [n for n, *_ in trio.of(TIMER_FIRED)] == [1, 2, 3]
    # It was not set again before all tasks had run.
    assert [n for n, *_ in trio.of(TIMER_CLEARED)] == [2, 3]


@pytest.mark.parametrize(("seconds", "is_exact"), [(0.02, True), (1e9 - 1, True), (1e9, False)])
def test_that_a_sleep_waits_for_what_was_asked(
    trio: Trio, seconds: float, *, is_exact: bool
) -> None:
    trio.step(Task("ticking"), trio.trio.sleep, seconds)

    ((set_ns, _, _, due_ns, _),) = [event for event in trio.events if event[1] == TIMER_ARMED]
    waits_ns = due_ns - (set_ns - 400 * MS)
    assert (waits_ns == round(seconds * 1e9)) is is_exact


def test_that_a_deadline_is_a_timer_until_it_passes_or_is_taken_back(trio: Trio) -> None:
    kept, passes = Scope(), Scope()
    deadlines = trio.runner.deadlines
    trio.step(Task("main"), deadlines.add, trio.now_s() + 0.05, kept)
    trio.step(None, deadlines.add, trio.now_s() + 0.02, passes)
    assert trio.named(TIMER_ADDED, 4) == ["main", "deadline"]
    assert [(due, period) for _, due, period in trio.of(TIMER_ARMED)] == [(150, 0), (120, 0)]
    assert not trio.turn(10)
    assert trio.turn(12)
    assert trio.of(TIMER_FIRED) == [(2, 2, GONE)]
    deadlines.remove(kept._registered_deadline, kept)
    assert [n for n, *_ in trio.of(TIMER_CLEARED)] == [1]
    assert trio.named(TIMER_CLEARED, 3)[0].startswith(f"{__file__}:")
    assert deadlines.waiting == {}
    assert trio.adapter._runs[0].shown == {}
    # What is taken back at the instant of the last that expired was taken back.
    trio.step(None, deadlines.add, trio.now_s() - 1, passes)
    deadlines.remove(passes._registered_deadline, passes)
    assert trio.count(TIMER_CLEARED) == 2
    trio.step(None, deadlines.add, trio.now_s(), passes)
    assert trio.turn(0)
    assert trio.count(TIMER_FIRED) == 2


def test_that_without_an_inspector_deadlines_are_trios_own(trio: Trio) -> None:
    trio.program.emit = None
    scope = Scope()
    trio.runner.deadlines.add(trio.now_s() + 0.02, scope)
    assert trio.adapter._runs[0].shown == {}
    trio.runner.deadlines.remove(scope._registered_deadline, scope)
    trio.trio.sleep(0.02)
    assert trio.turn(30)


def test_that_deadlines_of_other_runs_are_their_own(trio: Trio) -> None:
    other, own = trio.core.Deadlines(), trio.core.setup_runner()
    trio.adapter._runs[1].is_ours = False
    for deadlines in (other, own.deadlines):
        scope = Scope()
        deadlines.add(71.0, scope)
        deadlines.remove(71.0, scope)
        deadlines.add(71.0, scope)
        assert deadlines.expire(72.0) == 1

    assert trio.count(TIMER_ADDED) == 0


def test_that_a_run_reads_and_waits_by_its_clock(trio: Trio) -> None:
    clock = trio.runner.clock
    began_s = clock.current_time()
    assert began_s == 70.5
    clock.start_clock()
    trio.set_rate(D // 4)
    trio.now_ns += 20 * MS
    assert clock.current_time() == pytest.approx(70.505)
    assert clock.deadline_to_sleep_time(70.525) == pytest.approx(0.08)
    assert clock.deadline_to_sleep_time(inf) == inf
    trio.hold()
    assert clock.deadline_to_sleep_time(70.525) == inf
    assert clock.deadline_to_sleep_time(70.4) == 0
    # It is woken when its clock has changed.
    assert len(trio.soon) == 2
    trio.soon[0]()


def test_that_a_run_that_has_ended_is_not_woken(trio: Trio) -> None:
    def refuse(_call: object) -> None:
        raise RuntimeError

    trio.runner.entry_queue.run_sync_soon = refuse
    trio.adapter.changed(trio.clock)
    trio.runner.close()
    trio.core.Runner().close()

    assert trio.clock.is_removed
    assert trio.adapter.task_loops() == []
    assert trio.closed[0] is trio.runner
    assert len(trio.closed) == 2


def test_that_each_run_has_a_clock_named_after_its_thread(trio: Trio) -> None:
    thread = Thread(target=trio.core.setup_runner, name="worker")
    thread.start()
    thread.join()
    trio.core.GLOBAL_RUN_CONTEXT.runner = late = trio.core.Runner()
    # It was imported after its run had begun.
    adapter = TrioAdapter(trio.program)
    adapter.installed(trio.trio)

    names = [clock.name for clock, _ in trio.adapter.task_loops()]
    assert names == ["trio", "trio worker"]
    assert [runner for _, runner in adapter.task_loops()] == [late]


def test_that_an_idle_thread_of_trio_waits_for_nothing(trio: Trio) -> None:
    (is_idle,) = trio.program.idle_workers.values()
    frame = trio.worker._work()

    assert is_idle(frame)
    trio.worker._job = object()
    assert not is_idle(frame)


class Waits:
    """Virtual time in which runs wait."""

    def __init__(self) -> None:
        self.dues: list[int | None] = []

    def wait_for_files(self, _clock: object, due_ns: int | None, *_: object) -> str:
        self.dues.append(due_ns)
        return "waited"


def test_that_runs_wait_in_virtual_time_and_no_longer_than_they_have_to(trio: Trio) -> None:
    manager, waits = trio.runner.io_manager, Waits()
    assert manager.get_events(0.5) == "events"
    trio.program.waits = waits  # type: ignore[assignment]
    trio.trio.sleep(0.02)
    assert manager.get_events(0.5) == "waited"
    assert [round(due_ns / MS, 3) for due_ns in waits.dues if due_ns] == [120]
    for timeout in (0, -1):
        assert manager.get_events(timeout) == "events"
    assert manager.get_events(1e-9) == "waited"
    # What waits for all others to be idle has to be told so by trio.
    trio.runner.waiting_for_idle = ("task",)
    assert manager.get_events(0.5) == "events"
    trio.runner.waiting_for_idle = ()
    assert trio.core.TheIOManager().get_events(0.5) == "events"
    trio.adapter._runs[0].is_ours = False
    assert manager.get_events(0.5) == "events"

    assert len(waits.dues) == 2
