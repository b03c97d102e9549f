"""The tasks of event loops: which wait for which, for what, where. Only while an inspector asks.

They are read on the probe's thread, a few milliseconds at a time, so even those of a blocked loop
can be read. Tasks are read while they wait, which changes nothing about them.
"""

from __future__ import annotations

import gc
import re
import sys
from functools import partial
from weakref import WeakKeyDictionary, ref

from .kinds import (
    TASK_ADDED,
    TASK_AT,
    TASK_AWAITED,
    TASK_ENDED,
    TASK_ORIGIN,
    TASK_WAITS,
    TASKS_TOLD,
    WAITS_EVENT,
    WAITS_FUTURE,
    WAITS_LOCK,
    WAITS_PROCESS,
    WAITS_QUEUE,
    WAITS_READY,
    WAITS_RUNNING,
    WAITS_SOCKET,
    WAITS_TASK,
    WAITS_THREAD,
    WAITS_TIMER,
    WAITS_UNKNOWN,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import CodeType, FrameType
    from typing import Any, Callable, Optional

    from .clocks import Clock
    from .program import Program

    _Told = tuple[int, ...]

#: Tasks are read for little more than this in one go: other threads wait for 4 ms at most.
SLICE_NS = 1_500_000
_PER_LOOK = 4
#: The shortest pause before tasks are reported again, as a multiple of how long reporting took.
_PAUSES = 50
_MOST_FRAMES = 100
_END = object()
#: Objects that await something, but do not say what.
_WRAPPERS = {"async_generator_asend", "async_generator_athrow", "coroutine_wrapper"}
_NUMBERED_TASK = re.compile(r"Task-\d+")
_SLASHES = str.maketrans("\\", "/")

#: What the functions of a file wait for, with exceptions by name.
_ASYNCIO: dict[str, tuple[int, dict[str, int]]] = {
    "asyncio/tasks.py": (WAITS_TASK, {"sleep": WAITS_TIMER}),
    "asyncio/taskgroups.py": (WAITS_TASK, {}),
    "asyncio/locks.py": (WAITS_LOCK, {}),
    "asyncio/queues.py": (WAITS_QUEUE, {}),
    "asyncio/streams.py": (WAITS_SOCKET, {}),
    "asyncio/selector_events.py": (WAITS_SOCKET, {}),
    "asyncio/proactor_events.py": (WAITS_SOCKET, {}),
    "asyncio/subprocess.py": (WAITS_PROCESS, {}),
    "asyncio/base_subprocess.py": (WAITS_PROCESS, {}),
    "asyncio/threads.py": (WAITS_THREAD, {}),
    "asyncio/base_events.py": (
        WAITS_SOCKET,
        dict.fromkeys(("getaddrinfo", "getnameinfo", "shutdown_default_executor"), WAITS_THREAD),
    ),
}
_TRIO: dict[str, tuple[int, dict[str, int]]] = {
    "trio/_timeouts.py": (WAITS_TIMER, {}),
    "trio/_sync.py": (WAITS_LOCK, {}),
    "trio/_channel.py": (WAITS_QUEUE, {}),
    "trio/_threads.py": (WAITS_THREAD, {}),
    "trio/_subprocess.py": (WAITS_PROCESS, {}),
    "trio/_socket.py": (WAITS_SOCKET, {}),
    "trio/_core/_run.py": (WAITS_TASK, {}),
    "trio/_core/_parking_lot.py": (WAITS_LOCK, {}),
    "trio/_core/_io_epoll.py": (WAITS_SOCKET, {}),
    "trio/_core/_io_kqueue.py": (WAITS_SOCKET, {}),
    "trio/_core/_io_windows.py": (WAITS_SOCKET, {}),
}


class Facts:
    """What a task was doing when it was read."""

    def __init__(self, name: str, coroutine: Any) -> None:
        self.name = name  # What it is called
        self.coroutine = coroutine  # What it runs
        self.created = 0  # The number of the line that created it, 0 if it is not known
        self.wait = WAITS_UNKNOWN  # What it waits for
        self.what = ""  # The function of a library in which it waits
        self.token: object = None  # Tells this wait from others of the task
        self.waited_ns = 0  # For how long it has waited, 0 if that is not known
        self.tasks: list[Any] = []  # The tasks that it waits for
        self.place: Optional[tuple[CodeType, int]] = None  # Its innermost line in the program


class AsyncioTasks:
    def __init__(self, program: Program, loop: Any) -> None:
        self._program = program
        self._loop = ref(loop)
        self._sites: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._creating: Any = None

    def begin(self) -> None:
        """Note from now on where tasks are created."""
        loop = self._loop()
        if loop is None:
            return
        create: Any = loop.create_task
        sites, program = self._sites, self._program

        def noting_create_task(*args: Any, **kwargs: Any) -> Any:
            task = create(*args, **kwargs)
            try:
                sites[task] = program.call_site()
            except TypeError:
                pass  # A factory of the program's own has made something else.
            return task

        self._creating = noting_create_task
        try:
            loop.create_task = noting_create_task
        except AttributeError:
            pass

    def end(self) -> None:
        """Stop noting where tasks are created."""
        loop: Any = self._loop()
        own = getattr(loop, "__dict__", {})
        if self._creating is not None and own.get("create_task") is self._creating:
            del loop.create_task

    def tasks(self) -> Iterator[Optional[ref[Any]]]:
        """Yield references to tasks that are not done; ``None`` for others: they take time, too."""
        loop, library = self._loop(), sys.modules["asyncio.tasks"]
        if loop is None:
            return
        before = getattr(library, "_all_tasks", None)
        known: Any = getattr(getattr(library, "_scheduled_tasks", before), "data", None)
        # In a variable, as type checkers take a comparison with sys.version_info as decided.
        keeps_tasks_itself = sys.version_info[:2] >= (3, 14)
        if known is None or keeps_tasks_itself:
            yield from map(ref, library.all_tasks(loop))
            return
        for found in [*list(known), *map(ref, list(getattr(library, "_eager_tasks", ())))]:
            task = found()
            is_here = task is not None and not task.done() and task.get_loop() is loop
            yield found if is_here else None

    def facts(self, task: Any) -> Facts:
        coroutine = task.get_coro()
        name = str(getattr(coroutine, "__qualname__", type(coroutine).__qualname__))
        given = task.get_name()
        if given != name.rpartition(".")[2] and not _NUMBERED_TASK.fullmatch(given):
            name = f"{name} ({given})"
        facts = Facts(name, coroutine)
        facts.created = self._sites.get(task, 0) or self._traced(task)
        frames = frames_of(coroutine)
        facts.place = own_place(self._program, frames)
        waiter = task._fut_waiter
        facts.token = None if waiter is None else ref(waiter)
        if getattr(coroutine, "cr_running", False):
            facts.wait = WAITS_RUNNING
        elif waiter is None or waiter.done():
            facts.wait = WAITS_READY
        else:
            self._read_wait(facts, frames, waiter)
        return facts

    def _traced(self, task: Any) -> int:
        """Return where a task was created, which asyncio's debug mode notes."""
        for entry in reversed(getattr(task, "_source_traceback", None) or ()):
            if "asyncio" not in entry.filename:
                return self._program.text(f"{entry.filename}:{entry.lineno} in {entry.name}")
        return 0

    def _read_wait(self, facts: Facts, frames: list[FrameType], waiter: Any) -> None:
        frame, facts.wait = classified(frames, _ASYNCIO)
        facts.what = "" if frame is None else what_of(frame)
        facts.tasks = [each for each in _awaited(frame, waiter) if hasattr(each, "get_coro")]
        if facts.tasks:
            facts.wait = WAITS_TASK
        elif frame is None:
            facts.wait = WAITS_THREAD if _is_of_thread(waiter) else WAITS_FUTURE
        elif facts.wait == WAITS_TASK:
            # A wait for futures that are no tasks.
            facts.wait = WAITS_FUTURE
        elif facts.what == "Event.wait":
            facts.wait = WAITS_EVENT
        elif facts.wait == WAITS_TIMER:
            handle, delay = frame.f_locals.get("h"), frame.f_locals.get("delay")
            loop = self._loop()
            if handle is not None and delay is not None and loop is not None:
                passed_s = loop.time() - handle.when()
                if passed_s >= 0:
                    # It is due, and waits for the loop.
                    facts.wait = WAITS_READY
                else:
                    facts.waited_ns = max(int((passed_s + delay) * 1e9), 1)


class TrioTasks:
    def __init__(self, program: Program, runner: Any, call_soon: Callable[[Any], None]) -> None:
        self._program = program
        self._runner = runner
        self._call_soon = call_soon
        self._sites: WeakKeyDictionary[Any, int] = WeakKeyDictionary()

    def begin(self) -> None:
        """Note from now on where tasks are created."""
        self._call_soon(self._add)

    def end(self) -> None:
        """Stop noting where tasks are created."""
        self._call_soon(self._remove)

    def _add(self) -> None:
        self._runner.instruments.add_instrument(self)

    def _remove(self) -> None:
        try:
            self._runner.instruments.remove_instrument(self)
        except KeyError:
            pass  # It was not added.

    def task_spawned(self, task: Any) -> None:
        """Note where a task was created; called by trio, for which this is an instrument."""
        self._sites[task] = self._program.call_site()

    def tasks(self) -> Iterator[Optional[ref[Any]]]:
        yield from map(ref, list(self._runner.tasks))

    def facts(self, task: Any) -> Facts:
        facts = Facts(task.name, task.coro)
        facts.created = self._sites.get(task, 0)
        frames = frames_of(task.coro)
        facts.place = own_place(self._program, frames)
        facts.token = getattr(task, "_schedule_points", None)
        if getattr(task.coro, "cr_running", False):
            facts.wait = WAITS_RUNNING
        elif task._abort_func is None:
            facts.wait = WAITS_READY
        else:
            _, facts.wait = classified(frames, _TRIO)
            # trio's core says less than the function that has called it.
            shown = [each for each in frames if "_core" not in each.f_code.co_filename]
            facts.what = what_of(shown[-1]) if shown else ""
            if facts.wait == WAITS_TASK:
                facts.tasks = [
                    child for nursery in task.child_nurseries for child in nursery.child_tasks
                ]
                facts.what = "nursery"
            elif facts.what == "Event.wait":
                facts.wait = WAITS_EVENT
        return facts


def frames_of(coroutine: Any) -> list[FrameType]:
    """Return the frames of a coroutine and of what it awaits, outermost first."""
    found: list[FrameType] = []
    while coroutine is not None and len(found) < _MOST_FRAMES:
        if type(coroutine).__name__ in _WRAPPERS:
            inner = gc.get_referents(coroutine)
            coroutine = next((each for each in inner if _frame_of(each) is not None), None)
        frame = _frame_of(coroutine)
        if frame is None:
            break
        found.append(frame)
        for name in ("cr_await", "gi_yieldfrom", "ag_await"):
            if hasattr(coroutine, name):
                coroutine = getattr(coroutine, name)
                break
    return found


def _frame_of(awaited: Any) -> Optional[FrameType]:
    for name in ("cr_frame", "gi_frame", "ag_frame"):
        frame: Optional[FrameType] = getattr(awaited, name, None)
        if frame is not None:
            return frame
    return None


def own_place(program: Program, frames: Iterable[FrameType]) -> Optional[tuple[CodeType, int]]:
    """Return the innermost line of the program itself."""
    own = None
    for frame in frames:
        if not program.is_library(frame.f_code) and not program.is_hidden(frame):
            own = frame.f_code, frame.f_lineno
    return own


def classified(
    frames: list[FrameType], table: dict[str, tuple[int, dict[str, int]]]
) -> tuple[Optional[FrameType], int]:
    """Return the innermost frame that tells what is waited for, and what that is."""
    for frame in reversed(frames):
        code = frame.f_code
        parts = code.co_filename.translate(_SLASHES).split("/")
        found = table.get("/".join(parts[-2:])) or table.get("/".join(parts[-3:]))
        if found is not None:
            return frame, found[1].get(code.co_name, found[0])
    return None, WAITS_UNKNOWN


def what_of(frame: FrameType) -> str:
    """Return the function of a library, with the class of the object that it is called on."""
    owner = frame.f_locals.get("self")
    name = frame.f_code.co_name
    return name if owner is None else f"{type(owner).__name__}.{name}"


def _awaited(frame: Optional[FrameType], waiter: Any) -> list[Any]:
    """Return the futures that are waited for, tasks among them, as far as that can be seen."""
    if hasattr(waiter, "get_coro"):
        return [waiter]
    children = getattr(waiter, "_children", None)
    if children is not None:
        return [each for each in children if not each.done()]
    if frame is None:
        return _shielded(waiter)
    name, values = frame.f_code.co_name, frame.f_locals
    if name in ("__aexit__", "_aexit"):
        return list(getattr(values.get("self"), "_tasks", None) or ())
    if name in ("_wait", "wait"):
        return [each for each in values.get("fs") or () if each is not None and not each.done()]
    return [values["fut"]] if name == "wait_for" and values.get("fut") is not None else []


def _shielded(waiter: Any) -> list[Any]:
    """Return the task that a shield is around: its callback has it."""
    cells = [
        cell
        for callback, _ in getattr(waiter, "_callbacks", None) or ()
        if getattr(callback, "__name__", "") == "_outer_done_callback"
        for cell in getattr(callback, "__closure__", None) or ()
    ]
    return [cell.cell_contents for cell in cells if hasattr(cell.cell_contents, "get_coro")]


def _is_of_thread(waiter: Any) -> bool:
    callbacks = getattr(waiter, "_callbacks", None) or ()
    names = {getattr(each[0], "__name__", "") for each in callbacks}
    return "_call_check_cancel" in names


#: What was reported of a task: its number, name, origin, place, who waits for it, what it waits
#: for. Numbers only, which the garbage collector does not track: ten thousand objects that it
#: tracks would make it go through all objects of the program.

_NUMBER, _NAME, _ORIGIN, _AT, _AWAITED, _WAIT = 0, 1, slice(2, 4), slice(4, 6), slice(6, 8), 8


class TaskReporter:
    """Reports the tasks of a program at a pace: each time, what has changed since the last."""

    def __init__(self, program: Program) -> None:
        self._program = program
        # Not from ``time``, which may follow the program's clock by the time this is imported.
        self._now_ns = program.clocks.now_ns
        self._every_ns = 0
        self._readers: dict[int, tuple[Clock, Any]] = {}
        # By the identity of a task: what was reported, the task, and the identity of its wait.
        self._told: dict[int, _Told] = {}
        self._tasks: dict[int, Any] = {}
        self._tokens: dict[int, object] = {}
        self._last_number = 0

    def ask(self, every_ns: int) -> None:
        """Report the tasks at most at this pace; 0 to stop."""
        if bool(every_ns) != bool(self._every_ns):
            self.restart()
        self._every_ns = every_ns
        if not every_ns:
            for _, reader in self._readers.values():
                reader.end()
            self._readers.clear()

    def restart(self) -> None:
        self._reporting: Optional[Iterator[None]] = None
        self._next_ns = 0
        if self._every_ns:
            self._told.clear()
            self._tasks.clear()
            self._tokens.clear()
            self._emit([(TASKS_TOLD, self._program.own_clock.number, 0, 0)])

    def wait_ns(self, most_ns: int) -> int:
        """Return how long the thread may wait, at most ``most_ns``."""
        if not self._every_ns:
            return most_ns
        if self._reporting is not None:
            return min(most_ns, 1_000_000)
        return max(min(most_ns, self._next_ns - self._now_ns()), 0)

    def turn(self) -> None:
        """Read and report tasks for a slice, if it is time."""
        if not self._every_ns or self._now_ns() < self._next_ns:
            return
        began_ns = self._now_ns()
        if self._reporting is None:
            self._reporting, self._spent_ns = self._report_tasks(), 0
        is_over = True
        for count, _ in enumerate(self._reporting):
            if count % _PER_LOOK == 0 and self._now_ns() - began_ns >= SLICE_NS:
                is_over = False
                break
        now_ns = self._now_ns()
        self._spent_ns += now_ns - began_ns
        if is_over:
            self._reporting = None
            self._next_ns = now_ns + max(self._every_ns, _PAUSES * self._spent_ns)

    def _report_tasks(self) -> Iterator[None]:
        seen: set[int] = set()
        awaited: dict[int, list[int]] = {}
        changes = 0
        self._find_loops()
        for clock, reader in list(self._readers.values()):
            tasks = reader.tasks()
            while (found := self._guarded(clock, next, tasks, _END)) is not _END:
                if clock.adapter.state == "failed":
                    break
                task = None if found is None else found()
                facts = None if task is None else self._guarded(clock, reader.facts, task)
                if facts is not None:
                    identity = id(task)
                    seen.add(identity)
                    changes += self._report_task(clock, identity, found, facts)
                    for each in facts.tasks:
                        awaited.setdefault(id(each), []).append(self._told[identity][_NUMBER])
                yield
        events: list[tuple[int, int, int, int]] = []
        for identity in list(self._told):
            told = self._told[identity]
            if identity not in seen:
                self._forget(identity)
                events.append((TASK_ENDED, told[_NUMBER], 0, 0))
            else:
                by = awaited.get(identity) or [0]
                waiting = (by[0], len(by) if by[0] else 0)
                if waiting != told[_AWAITED]:
                    self._told[identity] = (*told[:6], waiting[0], waiting[1], told[_WAIT])
                    events.append((TASK_AWAITED, told[_NUMBER], *waiting))
            if len(events) >= _PER_LOOK:
                changes += self._emit(events)
                events = []
                yield
        changes += self._emit(events)
        self._emit([(TASKS_TOLD, self._program.own_clock.number, len(seen), changes)])

    def _find_loops(self) -> None:
        program = self._program
        found = {}
        for adapter in list(program.adapters.values()):
            for clock, loop in program.guarded(adapter, adapter.task_loops) or ():
                found[clock.number] = clock, loop
        for number in self._readers.keys() - found.keys():
            del self._readers[number]
        for number in found.keys() - self._readers.keys():
            clock, loop = found[number]
            if hasattr(loop, "create_task"):
                reader: Any = AsyncioTasks(program, loop)
            else:
                reader = TrioTasks(program, loop, partial(clock.adapter.call_soon, clock))
            self._readers[number] = clock, reader
            self._guarded(clock, reader.begin)

    def _guarded(self, clock: Clock, call: Callable[..., Any], *args: Any) -> Any:
        return self._program.guarded(clock.adapter, call, *args)

    def _forget(self, identity: int) -> None:
        del self._told[identity], self._tasks[identity]
        self._tokens.pop(identity, None)

    def _report_task(self, clock: Clock, identity: int, found: Any, facts: Facts) -> int:
        """Report what is new of a task; returns the number of events."""
        program = self._program
        events: list[tuple[int, int, int, int]] = []
        told = self._told.get(identity)
        if told is not None and self._tasks[identity]() is not found():
            # Another task, at the same place in memory.
            events.append((TASK_ENDED, told[_NUMBER], 0, 0))
            self._forget(identity)
            told = None
        if told is None:
            self._last_number += 1
            told = (self._last_number, 0, 0, 0, 0, 0, 0, 0, WAITS_UNKNOWN)
            self._tasks[identity] = found
        number, name = told[_NUMBER], program.text(facts.name)
        if name != told[_NAME]:
            events.append((TASK_ADDED, number, clock.number, name))
        code = getattr(facts.coroutine, "cr_code", None)
        defined = 0 if code is None else program.code_site(code, code.co_firstlineno)
        origin = facts.created, defined
        if origin != told[_ORIGIN]:
            events.append((TASK_ORIGIN, number, *origin))
        place = 0 if facts.place is None else program.code_site(*facts.place)
        at = place, program.text(facts.what) if facts.what else 0
        if at != told[_AT]:
            events.append((TASK_AT, number, *at))
        if facts.wait != told[_WAIT] or facts.token != self._tokens.get(identity):
            waited_ns = facts.waited_ns if clock.is_plain else 0
            events.append((TASK_WAITS, number, facts.wait, waited_ns))
            self._tokens[identity] = facts.token
        if events:
            self._told[identity] = (number, name, *origin, *at, *told[_AWAITED], facts.wait)
        return self._emit(events)

    def _emit(self, events: list[tuple[int, int, int, int]]) -> int:
        if events:
            now_ns = self._now_ns()
            self._program.extend(tuple((now_ns, *event) for event in events))
        return len(events)
