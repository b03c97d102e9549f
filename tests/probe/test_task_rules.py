"""What is read of tasks, from stand-ins for those of asyncio and trio."""

# ruff: noqa: ANN401 - stand-ins have no other type

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace, coroutine
from typing import Any
from weakref import ref

import pytest

from inspector.probe import tasks as module
from inspector.probe.adapters import Adapter
from inspector.probe.kinds import (
    TASK_ADDED,
    TASK_AT,
    TASK_AWAITED,
    TASK_ENDED,
    TASK_ORIGIN,
    TASK_WAITS,
    TASKS_TOLD,
)
from inspector.probe.tasks import AsyncioTasks, Facts, TaskReporter, TrioTasks
from inspector.vocabulary import TaskWait
from tests.probe.adapters.played import Played

MS = 1_000_000


class Standing(SimpleNamespace):
    """Something that can be looked at, and by which something can be known."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other


def frame(name: str, file: str = "/game/app.py", line: int = 1, **values: object) -> Any:
    code = Standing(co_name=name, co_filename=file, co_firstlineno=1)
    return Standing(f_code=code, f_locals=values, f_lineno=line, f_globals={"__name__": "game"})


def coro(*frames: Any, is_running: bool = False) -> Any:
    """A coroutine whose innermost await is in the last frame."""
    awaits: Any = None
    for each in reversed(frames):
        awaits = Standing(
            cr_frame=each, cr_await=awaits, cr_running=is_running, __qualname__="Game.play"
        )
    return awaits


def future(*, is_done: bool = False, **more: object) -> Any:
    return Standing(done=lambda: is_done, **more)


# ------------------------------------------------------------------------------------ their frames


@coroutine
def suspended() -> Iterator[None]:
    yield


def test_that_the_frames_of_a_coroutine_are_followed_through_generators() -> None:
    @coroutine
    def old() -> Any:
        yield from suspended()

    async def wait() -> None:
        await old()

    async def generated() -> Any:
        await wait()
        yield

    async def play() -> None:
        await anext(generated())

    played = play()
    played.send(None)
    names = [each.f_code.co_name for each in module.frames_of(played)]
    played.close()

    assert names == ["play", "generated", "wait", "old", "suspended"]
    assert module.frames_of(played) == []


def test_that_no_more_frames_are_read_than_a_hundred() -> None:
    assert len(module.frames_of(coro(*[frame("deep")] * 120))) == 100


def test_that_the_place_of_a_task_is_the_innermost_line_of_the_program() -> None:
    program = Played().program
    own, inner = frame("play", line=3), frame("load", line=7)
    library = frame("get", "/x/site-packages/web.py")
    hidden = frame("probe", "/game/probe.py")
    hidden.f_globals["__name__"] = "importlib.machinery"

    assert module.own_place(program, [own, inner, library, hidden]) == (inner.f_code, 7)
    assert module.own_place(program, [library]) is None


@pytest.mark.parametrize(
    ("file", "name", "wait"),
    [
        ("/usr/lib/python3/asyncio/tasks.py", "sleep", TaskWait.TIMER),
        (r"C:\Python\asyncio\tasks.py", "wait", TaskWait.TASK),
        ("/usr/lib/python3/asyncio/base_events.py", "getaddrinfo", TaskWait.THREAD),
        ("/usr/lib/python3/asyncio/base_events.py", "sock_connect", TaskWait.SOCKET),
        ("/game/tasks.py", "sleep", None),
    ],
)
def test_that_a_function_of_asyncio_says_what_is_waited_for(
    file: str, name: str, wait: TaskWait | None
) -> None:
    known = frame(name, file)
    frames = [frame("play"), known, frame("inner")]

    expected = (None, TaskWait.UNKNOWN) if wait is None else (known, wait)
    assert module.classified(frames, module._ASYNCIO) == expected


def test_that_the_innermost_function_of_trio_says_what_is_waited_for() -> None:
    outer = frame("aclose", "/x/trio/_channel.py")
    inner = frame("park", "/x/trio/_core/_parking_lot.py")

    assert module.classified([outer, inner], module._TRIO) == (inner, TaskWait.LOCK)


def test_that_a_function_is_named_with_the_class_of_its_object() -> None:
    assert module.what_of(frame("get", self=[])) == "list.get"
    assert module.what_of(frame("sleep")) == "sleep"


# ---------------------------------------------------------------------------------- what they await

TASK, ENDED_TASK = future(get_coro=int), future(is_done=True, get_coro=int)


def shielding(name: str, *contents: object) -> Any:
    """A future with a callback that has something around it."""
    cells = [SimpleNamespace(cell_contents=each) for each in contents]
    return future(_callbacks=[(Standing(__name__=name, __closure__=cells), None)])


@pytest.mark.parametrize(
    ("seen", "waiter", "awaited"),
    [
        (None, TASK, [TASK]),
        (None, future(_children=[TASK, ENDED_TASK]), [TASK]),
        (None, future(), []),
        (None, shielding("_outer_done_callback", TASK, 5), [TASK]),
        (None, shielding("_other", TASK), []),
        (frame("__aexit__", self=Standing(_tasks={TASK})), future(), [TASK]),
        (frame("_aexit", self=Standing(_tasks={TASK})), future(), [TASK]),
        (frame("__aexit__", self=Standing()), future(), []),
        (frame("_wait", fs=[TASK, None, ENDED_TASK]), future(), [TASK]),
        (frame("wait", fs=[TASK]), future(), [TASK]),
        (frame("wait"), future(), []),
        (frame("wait_for", fut=TASK), future(), [TASK]),
        (frame("wait_for"), future(), []),
        (frame("other", fut=TASK, fs=[TASK]), future(), []),
    ],
)
def test_that_the_tasks_that_are_waited_for_are_found(
    seen: Any, waiter: Any, awaited: list[Any]
) -> None:
    assert module._awaited(seen, waiter) == awaited


# --------------------------------------------------------------------------------- facts of asyncio


class Loop:
    """A loop whose time the test says; it makes what the program wants."""

    def __init__(self, now_s: float = 0.0) -> None:
        self.now_s = now_s
        self.made: Any = Standing()

    def time(self) -> float:
        return self.now_s

    def create_task(self, *_: Any, **__: Any) -> Any:
        return self.made


def facts_of(*frames: Any, waiter: Any, loop: Any = None, name: str = "Task-1") -> Facts:
    reader = AsyncioTasks(Played().program, loop or LOOP)
    played = coro(*frames)
    return reader.facts(
        Standing(get_coro=lambda: played, get_name=lambda: name, _fut_waiter=waiter)
    )


LOOP = Loop()
ASYNCIO = "/x/site-packages/asyncio/"


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Task-12", "Game.play"),
        ("Task-", "Game.play (Task-)"),
        ("play", "Game.play"),
        ("boss", "Game.play (boss)"),
    ],
)
def test_that_a_task_has_the_name_that_it_was_given(given: str, name: str) -> None:
    assert facts_of(frame("play"), waiter=None, name=given).name == name


@pytest.mark.parametrize(
    ("frames", "waiter", "wait", "what"),
    [
        ([], None, TaskWait.READY, ""),
        ([], future(is_done=True), TaskWait.READY, ""),
        ([], future(), TaskWait.FUTURE, ""),
        ([], TASK, TaskWait.TASK, ""),
        (
            [],
            future(_callbacks=[(Standing(__name__="_call_check_cancel"), None)]),
            TaskWait.THREAD,
            "",
        ),
        ([frame("wait", ASYNCIO + "tasks.py", fs=[future()])], future(), TaskWait.FUTURE, "wait"),
        ([frame("wait", ASYNCIO + "tasks.py", fs=[TASK])], future(), TaskWait.TASK, "wait"),
        ([frame("get", ASYNCIO + "queues.py")], future(), TaskWait.QUEUE, "get"),
        ([frame("wait", ASYNCIO + "locks.py", self=LOOP)], future(), TaskWait.LOCK, "Loop.wait"),
        # A sleep of which nothing more is known.
        ([frame("sleep", ASYNCIO + "tasks.py", delay=3)], future(), TaskWait.TIMER, "sleep"),
    ],
)
def test_that_a_task_of_asyncio_waits_for_what_its_frames_and_its_future_say(
    frames: list[Any], waiter: Any, wait: TaskWait, what: str
) -> None:
    facts = facts_of(frame("play", line=4), *frames, waiter=waiter)

    assert (facts.wait, facts.what, facts.waited_ns) == (wait, what, 0)
    assert facts.token == (None if waiter is None else ref(waiter))
    assert facts.place is not None
    assert facts.place[1] == 4


def test_that_a_task_that_runs_waits_for_nothing() -> None:
    played = coro(frame("play"), is_running=True)
    task = Standing(get_coro=lambda: played, get_name=str, _fut_waiter=future())
    reader = AsyncioTasks(Played().program, LOOP)

    assert reader.facts(task).wait == TaskWait.RUNNING
    # A generator does not say so.
    del played.cr_running
    assert reader.facts(task).wait == TaskWait.FUTURE


@pytest.mark.parametrize(
    ("now_s", "wait", "waited_ns"),
    [
        (10.0, TaskWait.READY, 0),
        (9.5, TaskWait.TIMER, 1_500_000_000),
        # It has just begun.
        (8.0, TaskWait.TIMER, 1),
        (9.0, TaskWait.TIMER, 1_000_000_000),
    ],
)
def test_that_a_sleep_is_known_for_how_long_it_has_waited(
    now_s: float, wait: TaskWait, waited_ns: int
) -> None:
    handle = Standing(when=lambda: 10.0)
    sleep = frame("sleep", ASYNCIO + "tasks.py", h=handle, delay=2.0)
    loop = Loop(now_s)
    facts = facts_of(frame("play"), sleep, waiter=future(), loop=loop)

    assert (facts.wait, facts.waited_ns) == (wait, waited_ns)


def test_that_where_a_task_was_created_is_noted_or_traced() -> None:
    program, loop = Played().program, Loop()
    loop.made = noted = Standing(get_coro=coro, get_name=str, _fut_waiter=None)
    reader = AsyncioTasks(program, loop)
    reader.begin()
    assert loop.create_task(1, name="x") is noted
    # A factory of the program's own has made something else.
    loop.made = 5
    assert loop.create_task() == 5
    reader.end()
    assert "create_task" not in vars(loop)
    entries = [
        Standing(filename="/game/app.py", lineno=3, name="play"),
        Standing(filename="/game/app.py", lineno=9, name="load"),
        Standing(filename="/usr/lib/asyncio/tasks.py", lineno=1, name="create_task"),
    ]
    traced, plain = (Standing(**vars(noted)) for _ in range(2))
    traced._source_traceback = entries

    assert __file__ in program.texts[reader.facts(noted).created]
    assert program.texts[reader.facts(traced).created] == "/game/app.py:9 in load"
    assert reader.facts(plain).created == 0


def test_that_what_the_program_has_replaced_since_is_left_alone() -> None:
    loop: Any = Loop()
    reader = AsyncioTasks(Played().program, loop)
    reader.end()
    reader.begin()
    loop.create_task = own = int
    reader.end()
    assert loop.create_task is own

    class Closed(Loop):
        __slots__ = ()
        create_task = property(lambda _loop: own)

    AsyncioTasks(Played().program, closed := Closed()).begin()
    assert vars(closed).keys() == {"now_s", "made"}


def test_that_the_tasks_of_a_loop_that_is_gone_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "asyncio.tasks", Standing())
    reader = AsyncioTasks(Played().program, loop := Loop())
    del loop
    reader.begin()
    reader.end()

    assert list(reader.tasks()) == []


@pytest.mark.parametrize("keeps_tasks_itself", [False, True])
def test_that_pending_tasks_of_a_loop_are_found_with_those_that_began_at_once(
    monkeypatch: pytest.MonkeyPatch, *, keeps_tasks_itself: bool
) -> None:
    loop, other = Loop(), Loop()

    def task(of: Loop, *, is_done: bool = False) -> Any:
        return future(is_done=is_done, get_loop=lambda: of)

    scheduled, eager = task(loop), task(loop)
    kept = [scheduled, task(other), task(loop, is_done=True)]
    library = Standing(
        _scheduled_tasks=Standing(data=[*map(ref, kept), lambda: None]),
        _eager_tasks={eager},
        all_tasks=lambda of: {scheduled, eager} if of is loop else set(),
    )
    version = (3, 14, 0) if keeps_tasks_itself else (3, 13, 9)
    stand_in = Standing(version_info=version, modules={"asyncio.tasks": library})
    monkeypatch.setattr(module, "sys", stand_in)
    reader = AsyncioTasks(Played().program, loop)

    found = list(reader.tasks())
    assert {each() for each in found if each} == {scheduled, eager}
    assert found.count(None) == (0 if keeps_tasks_itself else 3)
    # Python before 3.12 knows no others.
    library._all_tasks = library.__dict__.pop("_scheduled_tasks")
    library.__dict__.pop("_eager_tasks")
    found = list(reader.tasks())
    assert {each() for each in found if each} >= {scheduled}
    assert found.count(None) == (0 if keeps_tasks_itself else 3)


# ------------------------------------------------------------------------------------ facts of trio


def trio_task(*frames: Any, **more: Any) -> Any:
    named = {"name": "game.play", "_schedule_points": 7, "_abort_func": int, "child_nurseries": []}
    return Standing(**{"coro": coro(*frames), **named, **more})


TRIO = "/x/site-packages/trio/"
PARKED = frame("park", TRIO + "_core/_parking_lot.py")


class Event:
    """As trio's."""


@pytest.mark.parametrize(
    ("task", "wait", "what"),
    [
        (trio_task(_abort_func=None), TaskWait.READY, ""),
        (trio_task(frame("play"), PARKED), TaskWait.LOCK, "play"),
        (trio_task(PARKED), TaskWait.LOCK, ""),
        (
            trio_task(frame("play"), frame("wait", TRIO + "_sync.py", self=Event()), PARKED),
            TaskWait.EVENT,
            "Event.wait",
        ),
        (trio_task(frame("sleep", TRIO + "_timeouts.py")), TaskWait.TIMER, "sleep"),
        (
            trio_task(
                frame("play"),
                frame("aexit", TRIO + "_core/_run.py"),
                child_nurseries=[Standing(child_tasks={TASK})],
            ),
            TaskWait.TASK,
            "nursery",
        ),
    ],
)
def test_that_a_task_of_trio_waits_for_what_its_frames_say(
    task: Any, wait: TaskWait, what: str
) -> None:
    facts = TrioTasks(Played().program, None, lambda _call: None).facts(task)

    assert (facts.name, facts.token) == ("game.play", 7)
    assert (facts.wait, facts.what) == (wait, what)
    assert facts.tasks == ([TASK] if wait == TaskWait.TASK else [])
    assert facts.created == 0


def test_that_a_task_of_trio_that_runs_waits_for_nothing() -> None:
    task = trio_task(coro=coro(frame("play"), is_running=True))

    reader = TrioTasks(Played().program, None, lambda _call: None)

    assert reader.facts(task).wait == TaskWait.RUNNING
    del task.coro.cr_running
    assert reader.facts(task).wait == TaskWait.UNKNOWN


def test_that_trio_tells_where_tasks_are_created_until_nobody_asks() -> None:
    instruments: list[Any] = []

    def remove(each: Any) -> None:
        if each not in instruments:
            raise KeyError
        instruments.remove(each)

    runner = Standing(
        instruments=Standing(add_instrument=instruments.append, remove_instrument=remove)
    )
    calls: list[Callable[[], None]] = []
    program = Played().program
    reader = TrioTasks(program, runner, calls.append)

    reader.begin()
    calls.pop()()
    assert instruments == [reader]
    task = trio_task()
    reader.task_spawned(task)
    assert __file__ in program.texts[reader.facts(task).created]
    reader.end()
    calls.pop()()
    assert instruments == []
    # An inspector that went before the loop came to it.
    reader.begin()
    reader.end()
    for call in calls:
        call()
    assert instruments == []


# ---------------------------------------------------------------------------------------- reporting


class Reported:
    """A program with a stand-in for a loop of trio, whose tasks are reported."""

    def __init__(self, *tasks: Any) -> None:
        self.played = Played(10**9)
        self.program = self.played.program
        self.adapter = Adapter(self.program)
        self.clock = self.program.clock("trio", adapter=self.adapter)
        self.instruments: list[Any] = []
        instruments = Standing(
            add_instrument=self.instruments.append, remove_instrument=self.instruments.remove
        )
        self.runner = Standing(tasks=list(tasks), instruments=instruments)
        self.adapter.task_loops = lambda: [(self.clock, self.runner)]  # type: ignore[method-assign]
        self.program.adapters["trio"] = self.adapter
        self.tasks = TaskReporter(self.program)
        self.tasks.ask(20 * MS)
        self.played.events.clear()

    def look(self) -> list[tuple[int, ...]]:
        self.played.now_ns += 10_000 * MS
        self.played.events.clear()
        self.tasks.turn()
        return [event[1:] for event in self.played.events]


def test_that_of_a_task_is_told_what_changes() -> None:
    inner, outer = frame("load", line=2), frame("play", line=5)
    task = trio_task(outer, frame("sleep", TRIO + "_timeouts.py"))
    task.coro.cr_code = outer.f_code
    reported = Reported(task)
    text, own = reported.program.text, reported.program.own_clock.number
    place = partial("/game/app.py:{} in {}".format)

    assert reported.look() == [
        (TASK_ADDED, 1, reported.clock.number, text("game.play")),
        (TASK_ORIGIN, 1, 0, text(place(1, "play"))),
        (TASK_AT, 1, text(place(5, "play")), text("sleep")),
        (TASK_WAITS, 1, TaskWait.TIMER, 0),
        (TASKS_TOLD, own, 1, 4),
    ]
    assert reported.look() == [(TASKS_TOLD, own, 1, 0)]
    # It waits for the same again.
    task._schedule_points += 1
    assert reported.look() == [(TASK_WAITS, 1, TaskWait.TIMER, 0), (TASKS_TOLD, own, 1, 1)]
    task.coro = coro(outer, inner)
    task._abort_func = None
    task.name = "renamed"
    assert reported.look() == [
        (TASK_ADDED, 1, reported.clock.number, text("renamed")),
        (TASK_ORIGIN, 1, 0, 0),
        (TASK_AT, 1, text(place(2, "load")), 0),
        (TASK_WAITS, 1, TaskWait.READY, 0),
        (TASKS_TOLD, own, 1, 4),
    ]
    reported.runner.tasks.clear()
    assert reported.look() == [(TASK_ENDED, 1, 0, 0), (TASKS_TOLD, own, 0, 1)]
    assert reported.look() == [(TASKS_TOLD, own, 0, 0)]


def test_that_who_waits_for_a_task_is_told_with_how_many_others() -> None:
    child = trio_task(frame("child"))
    nursery = [Standing(child_tasks=[child])]
    parents = [
        trio_task(frame("aexit", TRIO + "_core/_run.py"), child_nurseries=nursery) for _ in range(2)
    ]
    reported = Reported(child, *parents)
    awaited = [event[1:] for event in reported.look() if event[0] == TASK_AWAITED]
    assert awaited == [(1, 2, 2)]
    assert [event[0] for event in reported.look()] == [TASKS_TOLD]
    nursery.clear()
    assert [event for event in reported.look() if event[0] == TASK_AWAITED] == [
        (TASK_AWAITED, 1, 0, 0)
    ]


def test_that_another_task_at_the_same_place_in_memory_is_another() -> None:
    tasks = [trio_task(), trio_task()]
    reported = Reported()
    for task in (*tasks, tasks[1]):
        facts = TrioTasks(reported.program, None, lambda _call: None).facts(task)
        reported.tasks._report_task(reported.clock, 5, ref(task), facts)

    name = reported.program.text("game.play")
    waits = TaskWait.UNKNOWN, 0
    assert [event[1:] for event in reported.played.events] == [
        (TASK_ADDED, 1, reported.clock.number, name),
        (TASK_WAITS, 1, *waits),
        (TASK_ENDED, 1, 0, 0),
        (TASK_ADDED, 2, reported.clock.number, name),
        (TASK_WAITS, 2, *waits),
    ]


def test_that_the_end_of_each_of_many_tasks_is_told() -> None:
    reported = Reported(*(trio_task() for _ in range(9)))
    reported.look()
    reported.runner.tasks.clear()

    assert reported.look() == [
        *((TASK_ENDED, number, 0, 0) for number in range(1, 10)),
        (TASKS_TOLD, reported.program.own_clock.number, 0, 9),
    ]
    assert not reported.tasks._tokens


def test_that_many_tasks_are_told_in_slices_with_a_pause_as_long_as_that_takes() -> None:
    reported = Reported(*(trio_task(frame("play")) for _ in range(18)))
    played, tasks = reported.played, reported.tasks
    read = reported.program.is_library

    def takes_long(code: Any) -> bool:
        played.now_ns += 300_000
        return read(code)

    reported.program.is_library = takes_long  # type: ignore[method-assign]
    told = []
    while True:
        tasks.turn()
        told.append(played.count(TASK_ADDED))
        if played.count(TASKS_TOLD):
            break
        assert (tasks.wait_ns(50 * MS), tasks.wait_ns(MS // 2)) == (MS, MS // 2)

    # With each fourth, it is looked at how long that has taken.
    assert told == [5, 10, 15, 18]
    assert tasks.wait_ns(1_000 * MS) == 270 * MS
    ended_ns = played.now_ns
    for early_ns in (1, 0):
        played.now_ns = ended_ns + 270 * MS - early_ns
        tasks.turn()
        assert (tasks._reporting is None) is bool(early_ns)


def test_that_the_tasks_of_an_adapter_that_fails_are_read_no_further() -> None:
    class Failing(list[Any]):
        def __iter__(self) -> Iterator[Any]:
            raise LookupError

    reported = Reported(trio_task())
    assert reported.look()[-1][2:] == (1, 2)
    reported.runner.tasks = Failing()

    assert [event[0] for event in reported.look()] == [TASK_ENDED, TASKS_TOLD]
    assert reported.adapter.state == "failed"


def test_that_tasks_end_with_their_loop_and_are_told_again_to_who_asks_again() -> None:
    reported = Reported(trio_task())
    own = reported.program.own_clock.number
    assert len(reported.look()) == 3
    reported.tasks.restart()
    assert reported.played.events[-1][1:] == (TASKS_TOLD, own, 0, 0)
    # Tasks that have ended are not kept.
    assert not reported.tasks._tasks
    assert not reported.tasks._tokens
    assert reported.look()[0][:2] == (TASK_ADDED, 2)
    loops = reported.adapter.task_loops()
    reported.adapter.task_loops = list  # type: ignore[method-assign]
    assert [event[:2] for event in reported.look()] == [(TASK_ENDED, 2), (TASKS_TOLD, own)]
    reported.adapter.task_loops = lambda: loops  # type: ignore[method-assign]
    assert reported.look()[0][:2] == (TASK_ADDED, 3)


def test_that_loops_say_where_tasks_are_created_while_somebody_asks() -> None:
    reported = Reported()
    found = []
    for every_ns in (30 * MS, 0, 20 * MS):
        reported.tasks.ask(every_ns)
        reported.look()
        found.append(len(reported.instruments))

    assert found == [1, 0, 1]


def test_that_for_how_long_a_task_waits_is_known_only_in_the_time_of_the_machine() -> None:
    reported = Reported()
    told = []
    for rate_n in (None, 5):
        if rate_n is not None:
            reported.played.set_rate(rate_n)
        facts = Facts("play", None)
        facts.waited_ns = 9
        facts.wait = TaskWait.TIMER
        task = trio_task()
        reported.tasks._report_task(reported.clock, id(task), ref(task), facts)
        # Nothing more is known of it.
        told.append([event[1:] for event in reported.played.events[-2:]])

    assert [each[0][:2] for each in told] == [(TASK_ADDED, 1), (TASK_ADDED, 2)]
    assert [each[1] for each in told] == [
        (TASK_WAITS, 1, TaskWait.TIMER, 9),
        (TASK_WAITS, 2, TaskWait.TIMER, 0),
    ]


def test_that_nobody_is_told_of_tasks_before_it_is_asked() -> None:
    tasks = TaskReporter(Played().program)
    tasks.turn()
    tasks.ask(0)

    assert tasks.wait_ns(70) == 70
