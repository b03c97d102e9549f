"""One run of a scene, from its loading on, with its commands, log and journal."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from math import inf
from pathlib import Path
from time import perf_counter_ns
from time import time_ns as wall_time_ns
from typing import Final, NoReturn, Protocol
from weakref import WeakSet

from inspector.clocks.clock import Clock
from inspector.clocks.failures import (
    CallbackFailure,
    EndlessInstantError,
    FailurePolicy,
    UserInterruptError,
)
from inspector.clocks.rate import DEFAULT_FRAME_RATE
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.clocks.timer import Timer
from inspector.clocks.transport import Transport
from inspector.clocks.tree import ClockTree
from inspector.commands.command import Action, Command, Prepared, Undoing, prepared
from inspector.commands.scene import Reload
from inspector.errors import CommandError
from inspector.events.history import LogHistory
from inspector.events.log import DEFAULT_BUDGET_BYTES, EventLog
from inspector.events.timeline import Timeline
from inspector.frames.director import Director
from inspector.sessions.breakpoints.breakpoints import BreakpointHit, Breakpoints
from inspector.sessions.interval_meter import IntervalMeter, KnownShares, TimersMeter
from inspector.sessions.recorder import Recorder
from inspector.sessions.replay.journal import (
    COMMAND_ENTRY,
    MOST_ENTRIES,
    REWIND_ENTRY,
    AppliedCommand,
    Beginning,
    CommandPlace,
    Journal,
    command_events,
)
from inspector.sessions.scene import LoadedScene, SceneProblem, docstring_title, load_scene
from inspector.sessions.scene_sampler import SceneSampler
from inspector.sessions.scene_threads import SceneThreads
from inspector.sessions.sources.journalled_source import JournalledSource
from inspector.sessions.stage import Stage
from inspector.sessions.stepping import SceneSteps
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import (
    CALLBACK_FAILED,
    COMMAND,
    COMMAND_FORM,
    READING,
    SCENE,
    THREAD_FAILED,
    Phase,
    RawEvent,
    Reading,
)

logger = logging.getLogger(__name__)

#: More timers in one wake-up would take seconds, and are a bug of the scene.
MOST_IN_WAKE = 1_000_000

#: Prefixes of the modules that call all code of scenes.
_HOSTS: Final = ("inspector.sessions.", "inspector.clocks.")
#: All runs, which have to end in a child that a callback forks.
_runs: WeakSet[SceneRun] = WeakSet()

_TOO_LONG_AGO: Final = (
    f"The session has run for more than {MOST_ENTRIES:,} wake-ups and commands. Going back "
    "needs all of them from the beginning, and they are no longer kept. Reload the scene to "
    "start again; a recording can still be rerun from its beginning."
)


class Driver(Protocol):
    """Drives a run: the session with its commands, or a script.

    Called on the thread of the session only.
    """

    @property
    def has_arrived(self) -> bool:
        """Whether the run has reached its end, so that no more session time passes."""

    def before_frame(self) -> None: ...

    def check_breakpoints(self, *, after_frame: bool) -> None:
        """Check breakpoints after a frame, or after a command while held."""

    def end_wake(self) -> None: ...


class SceneRun:
    """One run of a scene, from its loading until it is reloaded or taken back in time.

    It has everything that differs from run to run; what outlives a run belongs to the session.
    For the thread that owns the session.
    """

    driver: Driver
    log: EventLog
    history: LogHistory
    timeline: Timeline  # The log folded, see :meth:`fold`

    def __init__(
        self,
        scene_path: Path,
        source: JournalledSource,
        beginning: Beginning,
        breakpoints: Breakpoints | None = None,
        *,
        log_budget_bytes: int = DEFAULT_BUDGET_BYTES,
    ) -> None:
        """Set everything up; nothing is loaded yet.

        The breakpoints may be those of another run; by default they are those of the beginning.
        """
        self.scene_path = scene_path
        # On a reload, the next run takes this over; a second run beside this one has its own.
        self.source = source
        self.generation = beginning.generation
        self.failure_policy = beginning.policy
        self.command_number = beginning.command_number
        if breakpoints is None:
            breakpoints = Breakpoints.holding(beginning.breakpoints, beginning.next_breakpoint)
        self.breakpoints = breakpoints
        self.undoing = Undoing()
        self.recorder: Recorder | None = None
        self.journal = Journal(beginning, MOST_ENTRIES)
        self.loaded: LoadedScene | None = None
        self._title_of_file = scene_path.name
        # By scheduler: functions that each undo a pause of the callbacks from some priority on
        self.pauses: dict[int, list[Callable[[], object]]] = {}
        # Why the scene could not be loaded or built, ``None`` if it was
        self.problem: SceneProblem | None = None
        # The failure that stopped it, ``None`` for none
        self.stopped_by: CallbackFailure | None = None
        self.broken_by: BreakpointHit | None = None  # The hit that holds it, ``None`` for none
        self.unreported = 0  # How many events were folded since the session last reported
        self.is_broken_off = False  # Whether the step in progress ends at its next turn
        self.step_began_at = 0  # How many frames had run before the step in progress
        # Measures, or knows, where the time before each frame went; ``None`` if unknown
        self.shares: IntervalMeter | KnownShares | None = None
        self.sampler: SceneSampler | None = None  # Samples long wake-ups; ``None`` without one
        # Whether this is a copy in a child process that code of the scene has forked; see
        # :meth:`leave_if_forked`
        self.is_forked = False
        self._step: Generator[None] | None = None
        self._is_stepping = False
        self._is_looking_around = False
        self._timers = TimersMeter()
        self._readings = 0
        self._threads = SceneThreads(scene_path)
        self._begin_log(log_budget_bytes)
        self.tree = ClockTree(self.log)
        self.tree.most_in_wake = MOST_IN_WAKE
        self.transport = Transport(self.tree, source, max_delta_ns=beginning.max_delta_ns)
        self.director = Director(self.tree.root)
        self.steps = SceneSteps(self.tree, self.transport, self.director)
        self.stage = Stage(self.transport, self.director, source.pass_work_ns)
        _runs.add(self)

    @property
    def title(self) -> str:
        """The title from the scene, its docstring, or its file name."""
        if self.loaded is None:
            return self.scene_path.name
        return self.stage.title or self._title_of_file

    @property
    def frame_rate(self) -> Fraction:
        return DEFAULT_FRAME_RATE if self.loaded is None else self.stage.frame_rate

    @property
    def is_running(self) -> bool:
        return self.transport.is_running

    @property
    def session_ns(self) -> int:
        return self.tree.now_ns

    @property
    def frames_run(self) -> int:
        return self.director.frame_index

    @property
    def present_ns(self) -> int:
        """Session time now; ahead of :attr:`session_ns` while running. Calls no callback."""
        # Virtual time does not pass by itself.
        if isinstance(self.source.source, VirtualTimeSource):
            return self.session_ns
        return self.session_ns + min(self.ahead_ns, self.journal.beginning.max_delta_ns)

    @property
    def ahead_ns(self) -> int:
        """How far the source is ahead of :attr:`session_ns`."""
        # While running, the scene has reached the last reading.
        return self.source.ahead_ns if self.is_running else 0

    # ---------------------------------------------------------------- its course

    def load(self, driver: Driver, recorder: Recorder | None = None) -> None:
        """Load the scene; an error goes to :attr:`problem`."""
        self.driver, self.recorder = driver, recorder
        self.source.on_reading = self.note
        self._threads.follow()
        failed_early: list[CallbackFailure] = []
        self.tree.on_failure = failed_early.append
        try:
            scene = load_scene(self.scene_path)
            self._threads.module_name = scene.module.__name__
            self.tree.become_driver()
            try:
                scene.build(self.stage)
            except SceneProblem:
                scene.unload()
                raise
        except SceneProblem as problem:
            self.leave_if_forked(problem.__cause__ or problem)
            self._begin_log(self.log.budget_bytes)
            text, log = problem.traceback_text or str(problem), self.log
            name = log.intern(self.scene_path.name)
            log.append((0, CALLBACK_FAILED, 0, name, log.intern(text)))
            self.problem = problem
            self._answer_reload()
            return
        self.leave_if_forked()
        self.loaded = scene
        self._title_of_file = docstring_title(scene.module) or self.scene_path.name
        beginning = self.journal.beginning
        self.log.append((0, COMMAND_FORM, 0, self.log.intern(beginning.as_json()), 0))
        if recorder is not None:
            self.watch_from_here()
        self._answer_reload()
        self.tree.on_failure = self._apply_policy
        self.transport.on_frame = self._run_frame
        self.transport.on_wake_done = self._end_wake
        self._timers.begin(self.log.end)
        for failure in failed_early:
            self._apply_policy(failure)
        if beginning.runs and self.stopped_by is None:
            self.transport.run()

    def _begin_log(self, budget_bytes: int) -> None:
        self.log = log = EventLog(budget_bytes)
        self.history = LogHistory(log)
        self.timeline = Timeline(log.strings)
        self._cursor = 0
        log.append((0, SCENE, self.generation, log.intern(str(self.scene_path)), 0))

    def _answer_reload(self) -> None:
        if number := self.journal.beginning.reload_number:
            text = self.log.intern(Reload().sentence(self.timeline))
            self.log.append((self.session_ns, COMMAND, number, text, 0))

    def watch_from_here(self) -> None:
        """Have the breakpoints check events from now on, if any is enabled.

        Otherwise :meth:`watch` does this when the first one is set.
        """
        if self.breakpoints.is_any_enabled:
            self.fold()
            self.breakpoints.watch(self.log, self.timeline)

    def close(self) -> None:
        """Stop calling callbacks, and unload the scene."""
        scene, self.loaded = self.loaded, None
        self._threads.leave()
        self.transport.on_frame = self.transport.on_wake_done = None
        self.tree.on_failure = lambda failure: logger.debug("after the end: %s", failure)
        self.transport.let_go()
        if scene is not None:
            scene.unload()

    def leave_if_forked(self, error: BaseException | None = None) -> None:
        """End a forked child process that has returned from the code of the scene.

        Further frames, the recording and the report belong to the parent only.
        """
        if self.is_forked:
            _leave(error)

    def note_fork(self) -> None:
        """In a child process that code of the scene has forked, prevent further calls."""
        if not self.tree.is_owner():
            # A child that was forked by another thread ends with that thread.
            return
        self.is_forked = True
        self.tree.halt()
        for phase in Phase:
            for registration in self.director.callbacks(phase):
                registration.is_active = False

    def fold(self) -> None:
        """Fold new events into the timeline, and move its present to now."""
        self.fold_events()
        self.timeline.set_present(self.present_ns)

    def fold_events(self) -> None:
        """Fold new events into the timeline, with its present at the newest event."""
        self._record_thread_failures()
        log = self.log
        end = log.end
        if self._cursor < log.first:
            # Events left the log since the last fold; the log's base has them.
            base = log.base.copy()
            base.apply_blocks(log.blocks(log.first, end))
            self.timeline = base
        else:
            self.timeline.apply_blocks(log.blocks(self._cursor, end))
        self.unreported += end - self._cursor
        # Last, so that events on which folding fails do not count as folded.
        self._cursor = end

    def check_breakpoints(self, *, after_frame: bool) -> None:
        """Have the driver check new events, of a frame or of a command while held."""
        if self._is_looking_around:
            # The action of a hit has caused this call; the outer call checks its events, too.
            return
        self._is_looking_around = True
        try:
            self.driver.check_breakpoints(after_frame=after_frame)
        finally:
            self._is_looking_around = False

    def _run_frame(self, interval_ns: int, cut_ns: int) -> None:
        """Apply pending commands, then run a frame: this is the frame boundary."""
        self.leave_if_forked()
        self.driver.before_frame()
        if self.loaded is None:
            return
        timers, known = self._timers, self.shares
        self._charge_timers()
        shares = None if known is None else known.measured(self.frames_run, interval_ns)
        timers_ns, timers.busy_ns = timers.busy_ns, 0
        own_ns = self.director.run_frame(interval_ns, cut_ns, timers_ns, shares)
        self.leave_if_forked()
        if known is not None:
            known.calls_ns += own_ns
        if self.sampler is not None and self.breakpoints.is_any_enabled:
            self._note_seen(self.sampler.seen_so_far(self.tree.now_ns, self.log.intern))
        self.check_breakpoints(after_frame=True)
        # The time and the events of the check are not the scene's.
        timers.begin(self.log.end - self._readings)

    def _end_wake(self) -> None:
        self.leave_if_forked()
        sampler, log = self.sampler, self.log
        seen = [] if sampler is None else sampler.end_wake(self.tree.now_ns, log.intern)
        if self.loaded is None:
            return
        self._charge_timers()
        self._note_seen(seen)
        self._record_thread_failures()
        self.log.settle()
        if self.stopped_by is not None or self.broken_by is not None or self.driver.has_arrived:
            self.transport.hold()
        self.driver.end_wake()

    def _note_seen(self, seen: Sequence[RawEvent]) -> None:
        for event in seen:
            self.log.append(event)
        # Like readings, these events do not show that the scene has worked.
        self._readings += len(seen)

    def _record_thread_failures(self) -> None:
        """Record errors that have ended threads of the scene, without any consequence.

        Their instants differ from run to run.
        """
        log, failures = self.log, self._threads.failures
        while failures:
            name, text = map(log.intern, failures.popleft())
            self._note_seen([(self.tree.now_ns, THREAD_FAILED, 0, name, text)])

    def _charge_timers(self) -> None:
        stage = self.stage
        worked_ns, stage.worked_ns = stage.worked_ns, 0
        charged_ns = self._timers.charge(self.log.end - self._readings, worked_ns)
        if self.shares is not None:
            self.shares.calls_ns += charged_ns

    def _apply_policy(self, failure: CallbackFailure) -> None:
        self.leave_if_forked(failure.error)
        logger.debug("callback %s failed", failure.label, exc_info=failure.error)
        policy = self.failure_policy
        if isinstance(failure.error, EndlessInstantError | UserInterruptError):
            # Continuing would keep the thread busy again: either time stands still forever, or
            # the user did not want to wait any longer.
            policy = FailurePolicy.STOP
        match policy:
            case FailurePolicy.CONTINUE:
                pass
            case FailurePolicy.PAUSE_BRANCH:
                clock = self.clock(failure.clock_id)
                if clock is not None:
                    clock.pause()
            case FailurePolicy.STOP:
                if self.stopped_by is None:
                    self.stopped_by = failure
                self.tree.halt()

    # ------------------------------------------------------------- from outside

    def note(self, reading: Reading, value: int = 0) -> None:
        """Write a reading or request of the host to the journal and the log."""
        if self.loaded is None:
            return
        if self._step is not None:
            # The host makes no requests during a step, so complete it first.
            self.step_on(None)
        frame = self.director.frame_index
        self.journal.note(reading, frame, value)
        self.log.append((self.tree.now_ns, READING, reading, value, frame))
        self._readings += 1
        if reading is Reading.WOKEN or reading is Reading.ADVANCED:
            self._timers.begin()
            if self.sampler is not None:
                self.sampler.begin_wake()

    def set_period(self, period_ns: int) -> None:
        if self.loaded is not None:
            self.note(Reading.PERIOD, period_ns)
            self.transport.frame_period_ns = period_ns

    def reset_period(self) -> None:
        if self.loaded is not None:
            self.note(Reading.RATE)
            self.stage.frame_rate = self.stage.frame_rate

    def begin(self) -> None:
        """Let session time begin now, for the host, if no frame has run."""
        if self.loaded is not None and not (self.frames_run or self.source.is_manual):
            self.note(Reading.BEGUN)
            self.transport.run_from_now()

    def sync(self) -> None:
        """Bring the clocks up to the present, for the host."""
        if self.loaded is not None:
            self.note(Reading.SYNCED)
            self.tree.sync()

    def hold(self, *, is_in_step: bool = False) -> None:
        """Stop session time and end a step at once, for the host."""
        if self.loaded is not None:
            self.note(Reading.HELD, int(is_in_step))
            self.transport.hold()

    # ---------------------------------------------------------------- commands

    def apply(self, command: Command, number: int, *, place: CommandPlace, by: str = "") -> None:
        """Apply or refuse a command, and record it.

        The session itself carries out reloading and going back in time, which replace this run;
        such a command comes here only to be refused.

        Args:
            number: Its number, above the numbers of all earlier commands.
            by: Its origin, empty for the user.
        """
        for _ in self.apply_steps(command, number, place=place, by=by):
            pass

    def apply_steps(
        self,
        command: Command,
        number: int,
        *,
        place: CommandPlace,
        by: str = "",
        host_ms: int | None = None,
    ) -> Generator[None]:
        """Do the same as :meth:`apply`, running a frame per turn.

        The command was submitted at ``host_ms`` of the host's own time, by default now.
        """
        self.command_number = number
        by = command.asker or by
        # The timeline provides names, so it has to be up to date.
        self.fold()
        ready = prepared(command, self, number)
        if host_ms is None:
            host_ms = wall_time_ns() // NS_PER_MS
        self._answer(number, ready, AppliedCommand(command, place, by, host_ms))
        if ready.action is None:
            return
        self.undoing.note(number, command.inverse(self))
        if command.lets_time_pass:
            self.stopped_by = self.broken_by = None
        yield from self._carry_out(ready.action)

    def note_rewind(self, number: int, applied: AppliedCommand) -> None:
        """Record that the session went back in time to the present state."""
        self.command_number = number
        self.fold()
        text = applied.command.sentence(self.timeline)
        self._answer(number, Prepared(text, 0, None, applied.refusal), applied, is_rewind=True)

    def _answer(
        self, number: int, ready: Prepared, applied: AppliedCommand, *, is_rewind: bool = False
    ) -> None:
        code = REWIND_ENTRY if is_rewind else COMMAND_ENTRY
        self.journal.note(code, self.frames_run, number, applied)
        answer = command_events(self.log, number, ready, applied, is_rewind=is_rewind)
        for event in answer:
            self.log.append((self.session_ns, *event))

    def _carry_out(self, action: Action) -> Generator[None]:
        """Carry out an action, measuring the time in callbacks that it calls."""
        timers = self._timers
        is_in_wake = self.is_running
        if not is_in_wake:
            timers.begin(self.log.end - self._readings)
        steps = action()
        if isinstance(steps, Generator):
            for _ in steps:
                self.leave_if_forked()
                yield
                # The time between two turns is not that of callbacks.
                timers.begin()
                if self.is_broken_off:
                    break
            self.is_broken_off = False
        self.leave_if_forked()
        if self.loaded is not None and not is_in_wake:
            self._charge_timers()
            self.check_breakpoints(after_frame=False)
            self._settle()

    def _settle(self) -> None:
        """Keep the log within its budget, recording events before they are dropped."""
        if self.recorder is not None:
            self.recorder.pump()
        self.log.settle()

    # -------------------------------------------------------------- long steps

    @property
    def is_in_step(self) -> bool:
        return self._step is not None

    @property
    def is_in_callback(self) -> bool:
        """Whether callbacks are being called, or a step is between two of them."""
        return self.tree.is_draining or self._is_stepping

    def is_calling(self) -> bool:
        return self.tree.is_draining or self.director.is_in_frame

    def begin_step(self, command: Command, number: int, place: CommandPlace) -> None:
        self.step_began_at = self.frames_run
        self._step = self.apply_steps(command, number, place=place)

    def step_on(self, slice_ns: int | None) -> None:
        """Continue the step in progress, if any; see :func:`goes_to_end`."""
        if self._step is None or self._is_stepping:
            return
        self._is_stepping = True
        is_done = True
        try:
            is_done = goes_to_end(self._step, slice_ns)
        finally:
            # An error that escapes from a callback has ended the step, too.
            self._is_stepping = False
            if is_done:
                self._step = None
        if not is_done:
            # Otherwise the log would keep all events of a long step.
            self._settle()

    def end_step(self) -> None:
        """End the step in progress, if any, after its present frame."""
        if self._step is None:
            return
        self.is_broken_off = True
        self.step_on(None)
        self.hold(is_in_step=True)

    # -------------------------------------- what commands ask for, as their target

    @property
    def scene(self) -> SceneRun:
        """The run itself; a :class:`CommandError` if its scene was not built."""
        if self.loaded is None:
            raise CommandError("No scene is running. Fix the file and reload it.")
        return self

    def check_journal(self) -> None:
        """Refuse to go back when the journal was given up."""
        if self.journal.is_given_up:
            raise CommandError(_TOO_LONG_AGO)

    def watch(self) -> None:
        """Have the breakpoints check events from now on, if they do not yet."""
        if self.recorder is not None and not self.breakpoints.is_watching:
            self.watch_from_here()

    def clock(self, clock_id: int) -> Clock | None:
        return next((clock for clock in self.tree.root.walk() if clock.id == clock_id), None)

    def timer(self, clock_id: int, timer_id: int, due_ns: int) -> Timer | None:
        clock = self.clock(clock_id)
        return None if clock is None else clock.find_timer(timer_id, due_ns)


def goes_to_end(steps: Iterator[None], slice_ns: int | None) -> bool:
    """Continue long work turn by turn, for ``slice_ns`` at most; returns whether it is done."""
    until_ns = inf if slice_ns is None else perf_counter_ns() + slice_ns
    # Ends with the first turn that exceeds the slice.
    return not any(perf_counter_ns() >= until_ns for _ in steps)


def _leave(error: BaseException | None) -> NoReturn:
    """End this process as Python does after that error, but leave files alone."""
    code = 0 if error is None else 1
    if isinstance(error, SystemExit):
        if isinstance(error.code, int):
            code = error.code
        elif error.code is None:
            code = 0
        else:
            print(error.code, file=sys.stderr)  # noqa: T201 - as Python does
    elif error is not None:
        # Python's own hook, as that of the window would show the error as a fault of its own.
        sys.__excepthook__(type(error), error, error.__traceback__)
    _write_outputs()
    os._exit(code & 0xFF)


def _write_outputs() -> None:
    for output in (sys.stdout, sys.stderr):
        # Code of the scene may have replaced the outputs by any object.
        with suppress(Exception):
            output.flush()


def _note_fork() -> None:
    frame = sys._getframe().f_back  # noqa: SLF001
    while frame is not None and not frame.f_globals.get("__name__", "").startswith(_HOSTS):
        frame = frame.f_back
    if frame is None:
        # The program that uses sessions has forked, not code of a scene.
        return
    for run in _runs:
        run.note_fork()


if sys.platform != "win32":
    # Flush before the fork, so that parent and child do not both write what is buffered.
    os.register_at_fork(before=_write_outputs, after_in_child=_note_fork)
