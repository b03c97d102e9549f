"""trio: the deadlines of cancel scopes, which its sleeps and timeouts are made of.

A run of trio reads and waits for its clock, which can be another one; deadlines stand still with
it, while everything that waits for input and output goes on.
"""

from __future__ import annotations

import sys
from functools import partial, wraps
from math import inf
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, Callable, Optional

from ..clocks import NothingDueError, whole_ns
from . import Adapter
from .trio_uvloop_sleeps import Sleeps

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, ModuleType

    from ..awaited import Files
    from ..clocks import Clock
    from ..program import Program, Timer
    from ..waits import Waits
    from . import Capability

#: Seconds whose nanoseconds need not be limited.
_NEAR_S = 1e9
_NS = 1_000_000_000
#: The longest that trio waits.
_LONGEST_S = 86_400.0


class TrioAdapter(Adapter):
    library = "trio"
    hides: tuple[str, ...] = ("trio", "outcome", "contextlib")
    reads_anywhere = True
    has_hidden_turns = True
    says_what_it_waits_for = True

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._runs: list[_Run] = []

    def installed(self, module: ModuleType) -> None:
        self._core: Any = sys.modules["trio._core._run"]
        self._clock_class = _clock_class(module)
        self._sleep, self._sleep_until = module.sleep.__code__, module.sleep_until.__code__
        self._hook_runs()
        self._hook_deadlines()
        self._hook_waiting()
        runner = getattr(self._core.GLOBAL_RUN_CONTEXT, "runner", None)
        if runner is not None:
            self._run_began(runner)

    def _hook_runs(self) -> None:
        core, adapter, program = self._core, self, self.program
        setup_runner, close = core.setup_runner, core.Runner.close

        @wraps(setup_runner)
        def runner_set_up(*args: Any, **kwargs: Any) -> Any:
            runner = setup_runner(*args, **kwargs)
            program.guarded(adapter, adapter._run_began, runner)
            return runner

        @wraps(close)
        def runner_close(runner: Any) -> None:
            program.guarded(adapter, adapter._run_ended, runner)
            close(runner)

        core.setup_runner, core.Runner.close = runner_set_up, runner_close

    def _hook_deadlines(self) -> None:
        deadlines, adapter, program = self._core.Deadlines, self, self.program
        add, remove, expire = deadlines.add, deadlines.remove, deadlines.expire

        @wraps(add)
        def deadlines_add(self: Any, deadline: float, scope: Any) -> None:
            add(self, deadline, scope)
            if program.emit is not None:
                program.guarded(adapter, adapter._added, self, deadline, scope)

        @wraps(remove)
        def deadlines_remove(self: Any, deadline: float, scope: Any) -> None:
            remove(self, deadline, scope)
            if program.emit is not None:
                program.guarded(adapter, adapter._removed, self, deadline, scope)

        @wraps(expire)
        def deadlines_expire(self: Any, now: float) -> bool:
            run = adapter._run_of(self)
            if run is not None:
                run.expires_at = now
            try:
                return bool(expire(self, now))
            finally:
                if run is not None:
                    run.expires_at = -inf

        deadlines.add, deadlines.remove = deadlines_add, deadlines_remove
        deadlines.expire = deadlines_expire

    def _hook_waiting(self) -> None:
        managers, adapter, program = self._core.TheIOManager, self, self.program
        get_events = managers.get_events

        @wraps(get_events)
        def manager_get_events(self: Any, timeout: float) -> Any:
            waits = program.waits
            runs = () if waits is None else list(adapter._runs)
            run = next((each for each in runs if each.runner.io_manager is self), None)
            is_plain = run is None or not run.is_ours or timeout <= 0
            if waits is None or run is None or is_plain or run.runner.waiting_for_idle:
                return get_events(self, timeout)
            return run.wait_in_turn(waits, partial(get_events, self))

        managers.get_events = manager_get_events
        work = sys.modules["trio._core._thread_cache"].WorkerThread._work
        program.idle_workers[work.__code__] = lambda frame: frame.f_locals["self"]._job is None

    def _run_began(self, runner: Any) -> None:
        run = _Run(runner)
        here = "" if current_thread() is main_thread() else f" {current_thread().name}"
        run.clock = self.program.clock(f"trio{here}", adapter=self)
        run.sleeps = Sleeps(self.program, run.clock)
        run.is_ours = isinstance(runner.clock, self._core.SystemClock)
        if run.is_ours:
            run.base_s = runner.clock.current_time() - run.clock.now_s
            runner.clock = self._clock_class(run)
            if self.program.waits is not None:
                # So that tasks run in the same order every time.
                self._core._ALLOW_DETERMINISTIC_SCHEDULING = True
                self._core._r.seed(0)
        self._runs.append(run)

    def _run_ended(self, runner: Any) -> None:
        for run in [run for run in self._runs if run.runner is runner]:
            self._runs.remove(run)
            self.program.remove_clock(run.clock)

    def _run_of(self, deadlines: Any) -> Any:
        for run in self._runs:
            if run.deadlines is deadlines:
                return run
        return None

    def _run_on(self, clock: Clock) -> Any:
        return next((run for run in list(self._runs) if run.clock is clock), None)

    def _added(self, deadlines: Any, deadline: float, scope: Any) -> None:
        run = self._run_of(deadlines)
        if run is None or not run.is_ours:
            return
        task, site = getattr(self._core.GLOBAL_RUN_CONTEXT, "task", None), self.program.call_site()
        is_sleep, asked_ns, frame = self._asked(sys._getframe(1))
        if task is None or not is_sleep:
            self._report_timer(run, deadline, scope, task, site)
            return
        due_ns = run.local_ns(deadline)
        run.shown[scope] = run.sleeps.set(task, frame, (task.name, site), due_ns, asked_ns)

    def _asked(self, frame: Optional[FrameType]) -> tuple[bool, Optional[int], Optional[FrameType]]:
        """Return whether trio's sleep has set a deadline, what it was asked, and who awaits it."""
        is_sleep, asked_ns = False, None
        while frame is not None and self.program.is_hidden(frame):
            if frame.f_code is self._sleep_until:
                is_sleep = True
            elif frame.f_code is self._sleep:
                seconds = frame.f_locals["seconds"]
                asked_ns = whole_ns(seconds) if seconds < _NEAR_S else None
            frame = frame.f_back
        return is_sleep, asked_ns, frame

    def _report_timer(self, run: _Run, deadline: float, scope: Any, task: Any, site: int) -> None:
        name = "deadline" if task is None else task.name
        run.shown[scope] = self.program.timer(run.clock, name, site, run.local_ns(deadline))

    def _removed(self, deadlines: Any, deadline: float, scope: Any) -> None:
        run = self._run_of(deadlines)
        timer = None if run is None else run.shown.pop(scope, None)
        if timer is None:
            return
        if deadline <= run.expires_at:
            run.sleeps.woke(timer)
        else:
            timer.cleared(self.program.call_site())

    def keyframe(self, clock: Clock) -> Iterator[None]:
        run = self._run_on(clock)
        if run is None or not run.is_ours:
            return
        for deadline, _, scope in list(run.deadlines._heap):
            if deadline == scope._registered_deadline and scope not in run.shown:
                tasks = list(scope._cancel_status._tasks)
                task = tasks[0] if tasks else None
                site = 0
                frame = None if task is None else getattr(task.coro, "cr_frame", None)
                if frame is not None:
                    site = self.program.code_site(frame.f_code, frame.f_lineno)
                self._report_timer(run, deadline, scope, task, site)
                shown = None
                if deadline != scope._registered_deadline:
                    # Its thread, which was busy, has changed it meanwhile.
                    shown = run.shown.pop(scope, None)
                if shown is not None:
                    shown.cleared()
            yield

    def released(self) -> None:
        for run in list(self._runs):
            run.shown.clear()
            run.sleeps.forget()

    def capabilities(self, clock: Clock) -> dict[str, Capability]:
        run = self._run_on(clock)
        reasons: dict[str, Capability] = {
            "clear_timer": "Without its deadline, a task of trio might wait for ever."
        }
        if run is not None and not run.is_ours:
            own = "The program runs trio with a clock of its own."
            reasons.update(dict.fromkeys(("pause", "rate", "step_timer", "step_time"), own))
        return reasons

    def task_loops(self) -> list[tuple[Clock, Any]]:
        return [(run.clock, run.runner) for run in list(self._runs)]

    def changed(self, clock: Clock) -> None:
        self.call_soon(clock, _nothing)

    def call_soon(self, clock: Clock, call: Callable[[], None]) -> None:
        run = self._run_on(clock)
        if run is None:
            return
        try:
            run.runner.entry_queue.run_sync_soon(call)
        except RuntimeError:
            pass  # It has ended just now.


class _Run:
    clock: Clock
    sleeps: Sleeps  # The sleeps of its tasks

    def __init__(self, runner: Any) -> None:
        self.runner = runner
        self.deadlines = runner.deadlines
        self.shown: dict[Any, Timer] = {}  # The timer in the inspector by cancel scope
        self.is_ours = True  # Whether the run follows the inspector's clock
        self.base_s = 0.0
        self.expires_at = -inf  # While deadlines expire, the time for which they do
        self.files: Optional[Files] = None  # What it waits for in virtual time

    def local_ns(self, deadline: float) -> int:
        """Return a deadline as local time, at which trio's time has reached it: rounded up."""
        return whole_ns(deadline - self.base_s) + 1

    def wait_in_turn(self, waits: Waits, get_events: Callable[[float], Any]) -> Any:
        """Wait in virtual time."""
        runner, deadline = self.runner, self.deadlines.next_deadline()
        manager = runner.io_manager
        if self.files is None:
            from ..awaited import Files  # noqa: PLC0415 - only in virtual time

            poller = getattr(manager, "_epoll", None)
            number = -1 if poller is None else poller.fileno()
            self.files = Files(number, partial(_awaited_files, runner), ())
        try:
            return waits.wait_for_files(
                self.clock,
                None if deadline == inf else self.local_ns(deadline),
                lambda timeout: get_events(_LONGEST_S if timeout is None else timeout),
                self.files,
                manager.force_wakeup,
            )
        except NothingDueError as error:
            raised = error

            def raise_error() -> None:
                raise raised

            # Raised here, it would be taken for an error of trio's own.
            if runner.main_task is not None and runner.main_task._abort_func is not None:
                runner.main_task._attempt_abort(raise_error)
            return []


def _awaited_files(runner: Any) -> list[int]:
    """Return the files that tasks of trio wait for, except the one that wakes trio itself."""
    waiters = list(getattr(runner.io_manager, "_registered", {}).items())
    own = runner.entry_queue.wakeup.wakeup_sock.fileno()
    return [
        file
        for file, waiter in waiters
        if file != own and (waiter.read_task is not None or waiter.write_task is not None)
    ]


def _clock_class(trio: Any) -> Any:
    class InspectedClock(trio.abc.Clock):  # type: ignore[misc]
        def __init__(self, run: _Run) -> None:
            self._run = run

        def start_clock(self) -> None:
            """Do nothing: the clock runs already."""

        def current_time(self) -> float:
            run = self._run
            return run.base_s + run.clock.local_ns() / _NS

        def deadline_to_sleep_time(self, deadline: float) -> float:
            run = self._run
            # All tasks that could run have run.
            run.sleeps.settle()
            if deadline == inf:
                return inf
            real_ns = run.clock.real_ns_until(run.local_ns(deadline))
            return inf if real_ns is None else real_ns / _NS

    return InspectedClock


def _nothing() -> None:
    pass
