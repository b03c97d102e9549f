"""The hosted session: a scene file run in this process, on any time source."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections import deque
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final

from typing_extensions import override

from inspector.clocks.failures import EndlessInstantError, FailurePolicy
from inspector.clocks.manual_source import ManualTimeSource
from inspector.clocks.transport import DEFAULT_MAX_DELTA_NS, Transport
from inspector.clocks.tree import ClockTree
from inspector.errors import CommandError
from inspector.frames.director import Director
from inspector.sessions.breakpoints import BreakAction, BreakpointHit, Breakpoints
from inspector.sessions.command_actions import Action, prepared_action
from inspector.sessions.commands import (
    AddBreakpoint,
    Capability,
    ChangeBreakpoint,
    Command,
    Hold,
    PauseClock,
    Reload,
    RemoveBreakpoint,
    Run,
    SetFailurePolicy,
    StepBy,
    StepFrames,
    StepTo,
    StepToNextTimer,
    Undo,
    command_clock_id,
    command_text,
)
from inspector.sessions.hosting import Hosting
from inspector.sessions.interventions import Before, Undoing
from inspector.sessions.metered_source import MeteredSource, TimersMeter
from inspector.sessions.scene import SceneProblem, load_scene
from inspector.sessions.session import MeasuresWakeErrors, SessionPhase, SessionStatus
from inspector.sessions.stage import DEFAULT_FRAME_RATE, Stage
from inspector.sessions.virtual_source import VirtualTimeSource
from inspector.timebase import NS_PER_MS, NS_PER_SECOND, format_instant
from inspector.trace.log import EventLog
from inspector.trace.timeline import Timeline
from inspector.vocabulary import (
    BREAKPOINT_HIT,
    CALLBACK_FAILED,
    COMMAND,
    COMMAND_CONTEXT,
    SCENE,
    RawEvent,
)

if TYPE_CHECKING:
    from inspector.clocks.failures import CallbackFailure
    from inspector.clocks.time_source import TimeSource
    from inspector.clocks.wake_errors import WakeErrorSummary

logger = logging.getLogger(__name__)

#: After these a stopped scene counts as going on.
_GOES_ON: Final = (Run, StepFrames, StepBy, StepTo, StepToNextTimer)


class HostedSession:
    """Runs a scene file and takes commands for it.

    Nothing that a scene does gets out of here: a file that cannot be imported or
    built makes :attr:`status` say so, and a callback that raises is recorded.
    Loading it again begins a new log and a new timeline, so hold on to neither.
    """

    def __init__(
        self,
        scene_path: Path,
        source: TimeSource,
        *,
        failure_policy: FailurePolicy = FailurePolicy.CONTINUE,
        autorun: bool = True,
        max_delta_ns: int = DEFAULT_MAX_DELTA_NS,
    ) -> None:
        """Load and build the scene.

        Args:
            scene_path: The scene file.
            source: Where time comes from; closed with the session.
            failure_policy: What follows when a callback raises.
            autorun: Whether session time begins to pass at once.
            max_delta_ns: What a wake-up may be late before the rest is cut off.
        """
        self.failure_policy = failure_policy
        self.generation = 0
        self._path = Path(scene_path).absolute()
        self._source = source
        self._max_delta_ns = max_delta_ns
        # The manual source and its transport have an agreement of their own.
        self._timers_meter = TimersMeter()
        self._meter = (
            None
            if isinstance(source, ManualTimeSource)
            else MeteredSource(source, self._timers_meter.begin)
        )
        self._commands: deque[Command] = deque()
        self._command_number = 0
        self._owner = threading.get_ident()
        self._is_applying = False
        self._is_closed = False
        self._wants_to_run = autorun
        self._has_frame_run = False
        self._stopped_by: CallbackFailure | None = None
        self._broken_by: BreakpointHit | None = None
        self._breakpoints = Breakpoints()
        self._undoing = Undoing()
        self._unreported = 0
        self._problem: SceneProblem | None = None
        self._hosting: Hosting | None = None
        self._log: EventLog
        self._timeline: Timeline
        self._cursor = 0
        self._load()

    @override
    def __repr__(self) -> str:
        """Show the scene and what it is doing."""
        return f"<HostedSession {self._path.name} {self.status.phase.value}>"

    # ------------------------------------------------------------ what it is

    @property
    def log(self) -> EventLog:
        """Everything that happened since the scene was loaded."""
        return self._log

    @property
    def timeline(self) -> Timeline:
        """The log folded up to the last :meth:`refresh`."""
        return self._timeline

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What :meth:`submit` accepts: everything."""
        return frozenset(Capability)

    @property
    def problem(self) -> SceneProblem | None:
        """Why the scene could not be loaded, ``None`` if it was."""
        return self._problem

    @property
    def source(self) -> TimeSource:
        """Where its time comes from."""
        return self._source

    @property
    def scene_path(self) -> Path:
        """The scene file."""
        return self._path

    @property
    def title(self) -> str:
        """What the scene calls itself, else what its docstring does, else its file's name."""
        hosting = self._hosting
        if hosting is None:
            return self._path.name
        return hosting.stage.title or hosting.scene.docstring_title or self._path.name

    @property
    def source_label(self) -> str:
        """The path of the scene file."""
        return str(self._path)

    @property
    def frame_rate(self) -> Fraction:
        """Frames per second of session time that are asked for."""
        hosting = self._hosting
        return DEFAULT_FRAME_RATE if hosting is None else hosting.stage.frame_rate

    @property
    def wake_error_ns(self) -> WakeErrorSummary | None:
        """How punctually the time source wakes it, ``None`` when that is not known."""
        source = self._source
        return source.wake_errors if isinstance(source, MeasuresWakeErrors) else None

    @property
    def status(self) -> SessionStatus:
        """What the session is doing."""
        problem = self._problem
        if problem is not None:
            path = str(problem.path)
            return SessionStatus(
                SessionPhase.FAILED, str(problem), problem.detail, path, problem.line
            )
        hosting = self._hosting
        if hosting is None or self._is_closed:
            return SessionStatus(SessionPhase.EMPTY, "No scene is open.")
        if hosting.transport.is_running:
            return SessionStatus(SessionPhase.RUNNING, f"{self.title} is running.")
        at = format_instant(hosting.tree.now_ns)
        if (failure := self._stopped_by) is not None:
            # Written by Python, which also copes with an error that cannot say what it is.
            reason = traceback.format_exception_only(failure.error)[-1].strip()
            return SessionStatus(
                SessionPhase.HELD,
                f"Stopped at {at} because “{failure.label}” failed: {reason}",
                failure.traceback_text,
            )
        if (hit := self._broken_by) is not None:
            return SessionStatus(
                SessionPhase.HELD, f"Held at {at} in frame {hit.frame:,} because {hit.text}."
            )
        return SessionStatus(SessionPhase.HELD, f"Held at {at}.")

    @property
    def breakpoints(self) -> Breakpoints:
        """What it looks out for; to be read only, commands change them."""
        return self._breakpoints

    @property
    def undoing(self) -> Undoing:
        """What would undo each command."""
        return self._undoing

    @property
    def is_running(self) -> bool:
        """Whether session time follows the time source."""
        return self._hosting is not None and self._hosting.transport.is_running

    @property
    def session_ns(self) -> int:
        """Session time that has been reached by what was run."""
        return 0 if self._hosting is None else self._hosting.tree.now_ns

    @property
    def frames_run(self) -> int:
        """How many frames have begun."""
        return 0 if self._hosting is None else self._hosting.director.frame_index

    # ------------------------------------------------------- what it is told

    def submit(self, command: Command) -> None:
        """Ask for something, from any thread.

        Applied at the next frame boundary while the scene runs, at once while it is
        held (from another thread: at the owner's next :meth:`refresh`). The answer is
        the :data:`~inspector.vocabulary.COMMAND` event.
        """
        self._commands.append(command)
        if threading.get_ident() == self._owner and self._is_idle:
            self._apply_waiting()

    def refresh(self) -> int:
        """Fold what is new into the timeline and move its present.

        Returns:
            How many events were new.
        """
        if self._commands and self._is_idle:
            self._apply_waiting()
        self._fold()
        count, self._unreported = self._unreported, 0
        return count

    def _fold(self) -> None:
        batch = self._log.read(self._cursor)
        self._cursor = batch.cursor
        if batch.lost:
            # Nobody looked for so long that events fell off; the log's base has them.
            base = self._log.base.copy()
            base.apply_all(self._log.read(self._log.first).events)
            self._timeline = base
        else:
            self._timeline.apply_all(batch.events)
        self._timeline.set_present(self.present_ns)
        self._unreported += len(batch.events) + batch.lost

    def hold(self) -> None:
        """Let no more session time pass, at once; for a host that ends its run.

        Raises:
            RuntimeError: Called from inside a callback.
        """
        hosting = self._hosting
        if hosting is None:
            return
        if hosting.tree.is_draining or self._is_applying:
            message = "a callback cannot hold its scene; submit Hold() instead"
            raise RuntimeError(message)
        hosting.transport.hold()

    def reload(self) -> None:
        """Build the scene anew from its file; the same as submitting ``Reload()``."""
        self.submit(Reload())

    def close(self) -> None:
        """Stop for good, let go of the scene and close the time source."""
        if self._is_closed:
            return
        self._let_go()
        self._is_closed = True
        self._source.close()

    # -------------------------------------------------------------- loading

    def _load(self, *, reload_number: int = 0) -> None:
        """Load the scene into a new log; a problem with it ends in the status."""
        log = self._begin_log()
        tree = ClockTree(log)
        transport = Transport(tree, self._meter or self._source, max_delta_ns=self._max_delta_ns)
        director = Director(tree.root)
        stage = Stage(transport, director, self._source)
        try:
            scene = load_scene(self._path)
            try:
                scene.build(stage)
            except SceneProblem:
                scene.unload()
                raise
        except SceneProblem as problem:
            log = self._begin_log()
            log.append(self._failed_load_event(problem))
            self._record_reload(reload_number)
            self._problem = problem
            return
        self._problem = None
        self._watch()
        self._hosting = Hosting(scene, tree, transport, director, stage)
        self._record_reload(reload_number)
        tree.on_failure = self._take_failure
        transport.on_frame = self._run_frame
        transport.on_wake_done = self._end_wake
        self._timers_meter.begin(log.end)
        if self._wants_to_run:
            transport.run()

    def _begin_log(self) -> EventLog:
        self._log = log = EventLog()
        self._timeline = Timeline(log.strings)
        self._cursor = 0
        log.append((0, SCENE, self.generation, log.intern(str(self._path)), 0))
        return log

    def _failed_load_event(self, problem: SceneProblem) -> RawEvent:
        text = problem.traceback_text or str(problem)
        log = self._log
        return (0, CALLBACK_FAILED, 0, log.intern(self._path.name), log.intern(text))

    def _record_reload(self, number: int) -> None:
        if number:
            text = self._log.intern(command_text(Reload(), self._timeline))
            self._log.append((self.session_ns, COMMAND, number, text, 0))

    def _let_go(self) -> None:
        hosting = self._hosting
        if hosting is None:
            return
        self._hosting = None
        hosting.transport.on_frame = hosting.transport.on_wake_done = None
        hosting.tree.on_failure = lambda failure: logger.debug("after the end: %s", failure)
        hosting.transport.hold()
        hosting.scene.unload()

    def _reload(self, number: int) -> None:
        hosting = self._hosting
        if hosting is not None:
            self._wants_to_run = hosting.transport.is_running
        self._let_go()
        self.generation += 1
        self._stopped_by = self._broken_by = None
        self._undoing.clear()
        self._load(reload_number=number)

    # -------------------------------------------------- wake-ups and frames

    def _run_frame(self, interval_ns: int, cut_ns: int) -> None:
        """Apply what waits, then run a frame: this is the frame boundary."""
        self._has_frame_run = True
        if self._commands and not self._is_applying:
            self._apply_waiting(before_frame=True)
        hosting = self._hosting
        if hosting is None:
            return
        meter = self._timers_meter
        meter.charge(self._log.end, hosting.stage.take_worked_ns())
        hosting.director.add_timers_busy_ns(meter.take_ns())
        hosting.director.run_frame(interval_ns, cut_ns)
        meter.begin(self._log.end)
        if self._breakpoints.is_looking:
            self._look_for_hits()

    def _end_wake(self) -> None:
        """Finish what a wake-up of the source has begun."""
        hosting = self._hosting
        if hosting is None:
            return
        self._timers_meter.charge(self._log.end, hosting.stage.take_worked_ns())
        self._log.settle()
        if self._stopped_by is not None or self._broken_by is not None:
            hosting.transport.hold()
        if self._commands and (self._has_frame_run or self._is_idle):
            self._apply_waiting()
        self._has_frame_run = False

    def _watch(self) -> None:
        """Have the breakpoints look at what comes from now on."""
        self._fold()
        self._breakpoints.watch(self._log, self._timeline)

    def _look_for_hits(self) -> None:
        """Do what the breakpoints want that were hit in this frame."""
        hosting = self._hosting
        if hosting is None:
            return
        for hit in self._breakpoints.look():
            log, tree = self._log, hosting.tree
            log.append((tree.now_ns, BREAKPOINT_HIT, hit.number, log.intern(hit.text), hit.frame))
            match hit.action:
                case BreakAction.HOLD:
                    self._broken_by = self._broken_by or hit
                    tree.halt()
                case BreakAction.PAUSE_ROOT:
                    self._pause_for(hit, tree.root.id)
                case BreakAction.PAUSE_BRANCH:
                    self._pause_for(hit, hit.clock_id or tree.root.id)
                case BreakAction.MARK:
                    hosting.stage.mark(hit.text)
                case _:
                    pass

    def _pause_for(self, hit: BreakpointHit, clock_id: int) -> None:
        # A command like any other, so that it can be seen who did it, and undone.
        self._apply(PauseClock(clock_id), by=f"breakpoint {hit.number}")

    def _prepared_breakpoint(
        self, command: AddBreakpoint | ChangeBreakpoint | RemoveBreakpoint
    ) -> Action:
        """Return what carries out a command about breakpoints.

        Raises:
            CommandError: There is no such breakpoint, or there are too many.
        """
        breakpoints = self._breakpoints
        if isinstance(command, AddBreakpoint):
            breakpoints.check_room()
        elif breakpoints.get(command.number) is None:
            message = f"There is no breakpoint {command.number} any more."
            raise CommandError(message)

        def change() -> None:
            match command:
                case AddBreakpoint(breakpoint_):
                    breakpoints.add(breakpoint_)
                case ChangeBreakpoint(number, breakpoint_):
                    breakpoints.replace(number, breakpoint_)
                case RemoveBreakpoint(number):
                    breakpoints.remove(number)
            if breakpoints.is_looking and not breakpoints.is_watching:
                self._watch()

        return change

    def _take_failure(self, failure: CallbackFailure) -> None:
        """Do what the failure policy says; the failure itself is recorded already."""
        hosting = self._hosting
        logger.debug("callback %s failed", failure.label, exc_info=failure.error)
        if hosting is None:
            return
        policy = self.failure_policy
        if isinstance(failure.error, EndlessInstantError):
            # Time stands still for good, so going on would only keep the thread busy.
            policy = FailurePolicy.STOP
        match policy:
            case FailurePolicy.CONTINUE:
                pass
            case FailurePolicy.PAUSE_BRANCH:
                clock = hosting.clock(failure.clock_id)
                if clock is not None:
                    clock.pause()
            case FailurePolicy.STOP:
                if self._stopped_by is None:
                    self._stopped_by = failure
                hosting.tree.halt()

    @property
    def present_ns(self) -> int:
        """Session time now, calling nobody; ahead of what was run while running.

        Virtual time is where it was run to: nobody is behind it.
        """
        if isinstance(self._source, VirtualTimeSource):
            return self.session_ns
        return self.session_ns + min(self._ahead_ns, self._max_delta_ns)

    @property
    def _ahead_ns(self) -> int:
        """How far the source is ahead of what was run."""
        if self._meter is None or not self.is_running:
            return 0
        # What was run last was run for the meter's last reading.
        return self._source.now_ns() - self._meter.reading_ns

    # ------------------------------------------------------------- commands

    @property
    def _is_idle(self) -> bool:
        """Whether a command can be applied at once: held, and in no callback."""
        if self._is_applying:
            return False
        hosting = self._hosting
        return hosting is None or not (hosting.transport.is_running or hosting.tree.is_draining)

    def _apply_waiting(self, *, before_frame: bool = False) -> None:
        """Apply the commands that wait, in the order in which they came.

        Args:
            before_frame: Called from inside a wake-up, where the transport cannot be
                held or replaced: stop at such a command; the rest follows after it.
        """
        self._is_applying = True
        try:
            while self._commands:
                if before_frame and isinstance(self._commands[0], Run | Hold | Reload):
                    break
                self._apply(self._commands.popleft())
        finally:
            self._is_applying = False

    def _apply(self, command: Command, *, by: str = "") -> None:
        self._command_number = number = self._command_number + 1
        if isinstance(command, Reload):
            self._reload(number)
            return
        # Names come from the timeline, so let it know what there is.
        self._fold()
        log = self._log
        text = log.intern(command_text(command, self._timeline))
        at_ns = self.session_ns
        refusal = 0
        try:
            action = self._prepared(command, number)
        except CommandError as error:
            refusal = log.intern(str(error))
        log.append((at_ns, COMMAND, number, text, refusal))
        clock_id = command_clock_id(command, self._timeline)
        host_ms = time.time_ns() // NS_PER_MS
        log.append((at_ns, COMMAND_CONTEXT, clock_id, host_ms, log.intern(by)))
        if refusal:
            return
        undone = self._undoing.of(command.number) if isinstance(command, Undo) else None
        self._undoing.note(number, undone or command, self._before)
        if isinstance(command, _GOES_ON):
            self._stopped_by = self._broken_by = None
        self._carry_out(action)

    def _carry_out(self, action: Action) -> None:
        """Do it, measuring what callbacks cost that are called for it."""
        is_in_wake = self.is_running
        if not is_in_wake:
            self._timers_meter.begin(self._log.end)
        action()
        hosting = self._hosting
        if hosting is not None and not is_in_wake:
            self._timers_meter.charge(self._log.end, hosting.stage.take_worked_ns())
            if self._breakpoints.is_looking:
                self._look_for_hits()
            self._log.settle()

    def _prepared(self, command: Command, number: int) -> Action:
        """Return what carries out the command.

        Raises:
            CommandError: It cannot be carried out; the message says why.
        """
        if isinstance(command, SetFailurePolicy):
            return lambda: setattr(self, "failure_policy", command.policy)
        if isinstance(command, AddBreakpoint | ChangeBreakpoint | RemoveBreakpoint):
            return self._prepared_breakpoint(command)
        if isinstance(command, Undo):
            return self._prepared_undo(command.number)
        hosting = self._hosting
        if hosting is None:
            message = "No scene is running. Mend the file and reload it."
            raise CommandError(message)
        return prepared_action(command, number, hosting, self._timeline)

    def _prepared_undo(self, undone: int) -> Action:
        """Return what undoes a command.

        Raises:
            CommandError: Nothing undoes it, or what would do so is refused.
        """
        inverse = self._undoing.of(undone)
        if inverse is None:
            message = f"Command {undone} cannot be undone: it was already, or it changed nothing."
            raise CommandError(message)
        action = self._prepared(inverse, self._command_number)

        def undo() -> None:
            self._undoing.done(undone)
            action()

        return undo

    @property
    def _before(self) -> Before:
        """How things are now."""
        return Before(self._timeline, self.frame_rate, self.failure_policy, self._breakpoints)

    # --------------------------------------------------------- virtual runs

    def pass_to(self, at_ns: int, *, with_frame: bool = True) -> None:
        """Let virtual time pass; timers are called when they are due.

        Args:
            at_ns: Session time to reach, if it has not passed.
            with_frame: Whether one frame runs then, instead of those of the grid.

        Raises:
            TypeError: The time source is a real one.
        """
        source = self._source
        if not isinstance(source, VirtualTimeSource | ManualTimeSource):
            message = f"only virtual time can be told to pass, not {source!r}"
            raise TypeError(message)
        if self._hosting is None:
            return
        # The frame counts from what was run, the source from where work has left it.
        period_ns = max(1, at_ns - self.session_ns)
        remaining_ns = max(0, period_ns - self._ahead_ns)
        transport = self._hosting.transport
        transport.frame_period_ns = period_ns if with_frame else period_ns + NS_PER_SECOND
        if isinstance(source, VirtualTimeSource):
            source.pass_ns(remaining_ns)
        else:
            source.advance_ns(remaining_ns)
        if not with_frame and self.session_ns + self._ahead_ns <= at_ns:
            # Nothing that is due is left before this instant.
            transport.tree.sync()

    def block_ns(self, duration_ns: int) -> None:
        """Let virtual time pass as in a host that looks at its clocks once a frame.

        Raises:
            TypeError: The time source is not a :class:`VirtualTimeSource`.
        """
        source = self._source
        if not isinstance(source, VirtualTimeSource):
            message = f"only a virtual time source can be blocked, not {source!r}"
            raise TypeError(message)
        if self._hosting is not None:
            # A frame is due at once, so that whatever comes is at its end.
            self._hosting.transport.frame_period_ns = 1
            source.block_ns(duration_ns)

    def end_virtual_run(self) -> None:
        """Go back to the frames of the scene's own frame rate."""
        if self._hosting is not None:
            stage = self._hosting.stage
            stage.frame_rate = stage.frame_rate
