"""What adapters do with libraries of which only what they touch is there."""

# ruff: noqa: ANN401 - as the libraries have it

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe.adapters import ADAPTERS, FRAME_NS, Adapter, AdapterEntry, version_of
from inspector.probe.adapters.jobs import CeleryBeatAdapter
from inspector.probe.adapters.kivy import KivyAdapter
from inspector.probe.adapters.loop import frame
from inspector.probe.adapters.trio import TrioAdapter, _Run
from inspector.probe.clocks import NothingDueError
from inspector.probe.kinds import (
    FRAME_BEGAN,
    FRAME_ENDED,
    TIMER_ADDED,
    TIMER_CLEARED,
    TIMER_FIRED,
)
from tests.probe.adapters.played import Played

MS = 1_000_000


@pytest.fixture
def played() -> Played:
    found = Played(400 * MS)
    # The library comes after the probe.
    found.now_ns = 500 * MS
    return found


#: What adapters say of the loops of their libraries, as far as it is not what all say.
SAID = {
    "python_time": "has_waits_of_threads says_what_it_waits_for",
    "asyncio": "reads_anywhere says_what_it_waits_for waits_for_events",
    "uvloop": "has_hidden_turns is_loop_in_c reads_anywhere",
    "trio": "has_hidden_turns reads_anywhere says_what_it_waits_for",
    "twisted": "has_hidden_turns reads_anywhere says_what_it_waits_for",
    "pygame": "calls_in_frames",
    "qt": "has_hidden_turns is_loop_in_c says_what_it_waits_for",
    "tkinter": "has_hidden_turns",
    "kivy": "calls_in_frames",
    "clock_tree": "has_own_rates reads_anywhere",
    "panda3d": "calls_in_frames",
    "schedule": "reads_anywhere waits_for_events",
    **dict.fromkeys(("apscheduler", "celery_beat"), "reads_anywhere"),
}


@pytest.mark.parametrize("entry", ADAPTERS, ids=lambda entry: entry.name)
def test_that_adapters_say_what_is_so_of_their_loops(played: Played, entry: AdapterEntry) -> None:
    adapter = entry.load(played.program)
    flags = sorted(name for name, value in vars(Adapter).items() if value is False)

    assert [each for each in flags if getattr(adapter, each)] == SAID.get(entry.name, "").split()
    assert adapter.cost_version == 0


def test_that_each_call_of_frame_ends_one_and_begins_another(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, held = played.program, list[str]()
    monkeypatch.setattr(program, "wait_while_held", lambda clock: held.append(clock.name))
    seen = [program.changes]
    for delta_s in (None, 0.02):
        frame(program, delta_s)
        seen.append(program.changes)
    thread = Thread(target=frame, args=(program, 0.5))
    thread.start()
    thread.join()

    # The adapter and a clock for each thread are told once.
    first, second, third = (after - before for before, after in pairwise([*seen, program.changes]))
    assert (first - third, second) == (1, 0)
    assert program.adapters["loop"].state == "active"
    assert [clock.name for clock in program.clocks.by_number.values()][1:] == ["loop", "loop"]
    kinds = [event[1] for event in played.events if event[1] in {FRAME_BEGAN, FRAME_ENDED}]
    assert kinds == [FRAME_BEGAN, FRAME_ENDED, FRAME_BEGAN, FRAME_BEGAN]
    deltas = [event[4] for event in played.events if event[1] == FRAME_BEGAN]
    assert deltas[1:] == [20 * MS, 500 * MS]
    assert held == ["loop"] * 3


def test_that_an_adapter_does_no_more_than_it_has_to(played: Played) -> None:
    adapter, program = Adapter(played.program), played.program
    called: list[int] = []
    adapter.call_soon(program.own_clock, lambda: called.append(1))
    assert called == [1]
    assert not adapter.end_loop(program.own_clock)
    timer = program.timer(program.own_clock, "timer", 0, 0)
    with pytest.raises(TypeError, match="neither clears timers nor says why"):
        adapter.clear_timer(program.own_clock, timer, 0)
    changes = program.changes
    adapter.fail("something is gone")

    assert (adapter.state, program.changes) == ("failed", changes + 1)


@pytest.mark.parametrize("has_frames", [True, False])
@pytest.mark.parametrize("due_ns", [None, -MS, 0, MS, 20 * MS])
def test_that_a_turn_by_hand_comes_with_the_next_frame_or_timer(
    played: Played, due_ns: int | None, *, has_frames: bool
) -> None:
    adapter, program = Adapter(played.program), played.program
    now_ns = program.own_clock.local_ns()
    if due_ns is not None:
        program.timer(program.own_clock, "timer", 0, now_ns + due_ns)
    # A timer that is due waits for a turn, which comes no sooner than a frame.
    is_in_frame = due_ns is not None and due_ns <= 0
    next_ns = 16_666_666 if is_in_frame or has_frames else None
    if due_ns is not None and due_ns > 0:
        next_ns = due_ns if next_ns is None else min(due_ns, next_ns)

    found_ns = adapter.next_turn_ns(program.own_clock, has_frames=has_frames)
    assert found_ns == (None if next_ns is None else now_ns + next_ns)


@pytest.mark.parametrize(
    ("names", "version"),
    [
        ({"__version__": "1", "version": "2"}, "1"),
        ({"version": "2"}, "2"),
        ({"__version__": "", "version": "2"}, "2"),
        ({"version": (2, 0)}, ""),
        ({}, ""),
    ],
)
def test_that_a_library_has_the_version_that_it_tells(
    names: dict[str, object], version: str
) -> None:
    module: Any = SimpleNamespace(**names)

    assert version_of(module) == version


# -------------------------------------------------------------------------------- trio and Kivy


def test_that_a_deadline_of_trio_is_no_sleep_of_a_task(played: Played) -> None:
    adapter = TrioAdapter(played.program)
    run: Any = SimpleNamespace(
        clock=played.program.clock("trio", adapter=adapter),
        deadlines=object(),
        is_ours=True,
        local_ns=lambda deadline: round(deadline * 1e9),
        shown={},
        sleeps=None,
    )
    adapter._runs.append(run)
    adapter._sleep = adapter._sleep_until = None
    task = SimpleNamespace(name="main")
    adapter._core = SimpleNamespace(GLOBAL_RUN_CONTEXT=SimpleNamespace(task=task))
    adapter._added(run.deadlines, 2.0, "scope")

    assert run.shown["scope"].due_ns == 2_000 * MS


def _trio_run(played: Played, runner: Any) -> tuple[TrioAdapter, Any]:
    adapter = TrioAdapter(played.program)
    run: Any = _Run(runner)
    run.clock = played.program.clock("trio", adapter=adapter)
    adapter._runs.append(run)
    return adapter, run


def test_that_deadlines_of_trio_from_before_the_inspector_came_are_told(played: Played) -> None:
    def scope(*registered: float) -> Any:
        left = list(registered)

        class Scope:
            _cancel_status = SimpleNamespace(_tasks=[])

            @property
            def _registered_deadline(self) -> float:
                return left.pop(0) if len(left) > 1 else left[0]

        return Scope()

    stays, moved_before, moves_on, known = scope(2.0), scope(9.0), scope(3.0, 9.0), scope(4.0)
    heap = [(2.0, 0, stays), (2.5, 1, moved_before), (3.0, 2, moves_on), (4.0, 3, known)]
    adapter, run = _trio_run(played, SimpleNamespace(deadlines=SimpleNamespace(_heap=heap)))
    run.shown[known] = timer = object()
    list(adapter.keyframe(run.clock))

    assert set(run.shown) == {stays, known}
    assert run.shown[known] is timer
    assert run.shown[stays].due_ns == 2_000 * MS + 1
    # Its thread has gone on while it was looked at.
    assert (played.count(TIMER_ADDED), played.count(TIMER_CLEARED)) == (2, 1)
    run.is_ours = False
    run.shown.clear()
    assert list(adapter.keyframe(run.clock)) == []


def test_that_a_run_of_trio_with_a_clock_of_its_own_is_said_to_keep_it(played: Played) -> None:
    adapter, run = _trio_run(played, SimpleNamespace(deadlines=object()))
    stopped = {"pause", "rate", "step_timer", "step_time"}
    assert set(adapter.capabilities(run.clock)) == {"clear_timer"}
    assert set(adapter.capabilities(played.program.own_clock)) == {"clear_timer"}
    run.is_ours = False
    assert set(adapter.capabilities(run.clock)) == {"clear_timer", *stopped}


def test_that_a_run_of_trio_has_a_clock_until_it_ends(played: Played) -> None:
    class SystemClock:
        def current_time(self) -> float:
            return 70.0

    shuffled: list[int] = []
    adapter = TrioAdapter(played.program)
    adapter._core = SimpleNamespace(
        SystemClock=SystemClock, _r=SimpleNamespace(seed=shuffled.append)
    )
    adapter._clock_class = lambda run: ("follows", run)
    runners: list[Any] = [
        SimpleNamespace(clock=clock, deadlines=object()) for clock in (SystemClock(), "mock")
    ]
    for runner in runners:
        adapter._run_began(runner)
    ours, own = adapter._runs
    assert (ours.is_ours, own.is_ours) == (True, False)
    # Its time goes on from where trio's was.
    assert ours.base_s + ours.clock.now_s == 70.0
    assert [each.clock for each in runners] == [("follows", ours), "mock"]
    assert [clock.name for clock, _ in adapter.task_loops()] == ["trio", "trio"]
    assert shuffled == []
    virtual: Any = SimpleNamespace()
    played.program.waits = virtual
    adapter._run_began(SimpleNamespace(clock=SystemClock(), deadlines=object()))
    # Its tasks run in the same order every time.
    assert (shuffled, adapter._core._ALLOW_DETERMINISTIC_SCHEDULING) == ([0], True)
    shown: Any = ours.shown
    shown["scope"] = object()
    adapter.released()
    assert ours.shown == {}
    adapter._run_ended(runners[0])

    assert ours not in adapter._runs
    assert ours.clock.is_removed
    assert not own.clock.is_removed
    # What is asked of it now comes too late.
    adapter.call_soon(ours.clock, lambda: pytest.fail("it has ended"))


@pytest.mark.parametrize(("deadline_s", "due_ns"), [(2.0, 2_000 * MS + 1), (float("inf"), None)])
def test_that_trio_waits_for_its_next_deadline_and_its_files(
    played: Played, deadline_s: float, due_ns: int | None
) -> None:
    def waiter(read: object = None, write: object = None) -> Any:
        return SimpleNamespace(read_task=read, write_task=write)

    files = {3: waiter("reader"), 4: waiter(), 5: waiter(write="writer"), 6: waiter("wakeup")}
    wakeup = SimpleNamespace(wakeup_sock=SimpleNamespace(fileno=lambda: 6))
    runner: Any = SimpleNamespace(
        deadlines=SimpleNamespace(next_deadline=lambda: deadline_s),
        io_manager=SimpleNamespace(_registered=files, force_wakeup=None),
        entry_queue=SimpleNamespace(wakeup=wakeup),
        main_task=None,
    )
    _, run = _trio_run(played, runner)
    waited: list[Any] = []

    def wait_for_files(_clock: object, due_ns: int | None, poll: Any, files: Any, _: object) -> Any:
        waited.append((due_ns, poll(None), poll(0), files.number, files.numbers()))
        if len(waited) > 1:
            raise NothingDueError("nothing is due")
        return "events"

    waits: Any = SimpleNamespace(wait_for_files=wait_for_files)
    assert run.wait_in_turn(waits, lambda timeout_s: timeout_s) == "events"
    assert run.wait_in_turn(waits, lambda timeout_s: timeout_s) == []
    # Trio would take no longer wait, and nothing is longer.
    assert waited == [(due_ns, 86_400, 0, -1, [3, 5])] * 2

    ended: list[Callable[[], None]] = []
    runner.main_task = SimpleNamespace(_abort_func=None, _attempt_abort=ended.append)
    run.wait_in_turn(waits, lambda timeout_s: timeout_s)
    assert ended == []
    runner.main_task._abort_func = object()
    run.wait_in_turn(waits, lambda timeout_s: timeout_s)
    with pytest.raises(NothingDueError, match="nothing is due"):
        ended[0]()


@pytest.mark.parametrize(("timeout_s", "next_ns"), [(0, FRAME_NS), (-1, FRAME_NS), (0.5, None)])
def test_that_a_turn_of_kivy_is_followed_by_another_where_something_is_called_in_each(
    played: Played, monkeypatch: pytest.MonkeyPatch, timeout_s: float, next_ns: int | None
) -> None:
    events = [SimpleNamespace(timeout=timeout_s)]
    kivy_clock = SimpleNamespace(tick=lambda: None, get_events=lambda: events)
    module: Any = SimpleNamespace(Clock=kivy_clock)
    monkeypatch.setitem(sys.modules, "kivy.clock", module)
    adapter = KivyAdapter(played.program)
    adapter._clock = played.program.clock("Kivy", adapter=adapter)
    now_ns = played.program.own_clock.local_ns()

    assert adapter.turn() == (None if next_ns is None else now_ns + next_ns)


# --------------------------------------------------------------------------------------- Celery


@pytest.fixture
def scheduler_type(played: Played) -> Any:
    """Celery's class of schedulers, which is followed."""

    class Scheduler:
        def __init__(self, *names: str) -> None:
            schedule = SimpleNamespace(run_every=timedelta(seconds=60))
            self.schedule = {
                name: SimpleNamespace(
                    name=name, task="tasks", schedule=schedule, is_due=lambda: (False, 30.0)
                )
                for name in names
            }

        def tick(self) -> float:
            return 1.0

        def apply_entry(self, entry: Any) -> str:
            return f"applied {entry.name}"

    module: Any = SimpleNamespace(Scheduler=Scheduler)
    adapter = CeleryBeatAdapter(played.program)
    adapter.installed(module)
    Scheduler.adapter = adapter  # type: ignore[attr-defined]
    return Scheduler


def test_that_the_schedule_of_celery_beat_is_there_when_an_inspector_comes(
    played: Played, scheduler_type: Any
) -> None:
    played.program.detach()
    assert scheduler_type("clean").tick() == 1.0
    played.attach()
    adapter = scheduler_type.adapter
    list(adapter.keyframe(adapter.clock))

    (timer,) = map(played.program.pending, played.program.timers)
    assert timer is not None
    assert timer.period_ns == 60_000 * MS
    assert (timer.due_ns - adapter.clock.local_ns()) / 1e9 == pytest.approx(30, abs=1)
    assert [record[2] for record in played.program.timers.values()] == [0]


def test_that_entries_of_celery_beat_are_told_when_they_are_applied_and_gone(
    played: Played, scheduler_type: Any
) -> None:
    scheduler = scheduler_type("clean", "count")
    scheduler.tick()
    assert scheduler.apply_entry(scheduler.schedule["clean"]) == "applied clean"
    assert played.count(TIMER_FIRED) == 1
    del scheduler.schedule["clean"]
    scheduler.tick()

    assert (played.count(TIMER_ADDED), played.count(TIMER_CLEARED)) == (2, 1)


@pytest.mark.parametrize(("entries", "listed"), [(1_000, 1_000), (1_001, 0)])
def test_that_a_schedule_of_celery_beat_that_is_too_long_is_not_listed(
    played: Played, scheduler_type: Any, entries: int, listed: int
) -> None:
    scheduler_type(*map(str, range(entries))).tick()

    assert played.count(TIMER_ADDED) == listed
    assert bool(scheduler_type.adapter.message) is not bool(listed)
