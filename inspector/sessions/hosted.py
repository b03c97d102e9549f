"""The hosted session: a scene file run in this process, on any time source."""

from __future__ import annotations

import sys
import threading
import traceback
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from msgspec import structs
from typing_extensions import override

from inspector import __version__
from inspector.clocks.failures import FailurePolicy, as_shown
from inspector.clocks.sources.manual_source import ManualTimeSource
from inspector.clocks.sources.time_source import TimeSource
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.clocks.sources.wake_errors import WakeErrorSummary
from inspector.clocks.transport import DEFAULT_MAX_DELTA_NS
from inspector.commands.command import BadCommand, Capability, Command, Undoing, usable
from inspector.commands.scene import GoBack, Reload, StepBack
from inspector.commands.transport import Hold, Step
from inspector.display_text import counted
from inspector.errors import CommandError
from inspector.events.history import LogHistory
from inspector.events.log import DEFAULT_BUDGET_BYTES, EventLog
from inspector.events.timeline import Timeline
from inspector.pictures.pictures import Pictures
from inspector.sessions.annotations import Annotations
from inspector.sessions.breakpoints.breakpoints import Breakpoints
from inspector.sessions.breakpoints.stopping import act_on_hits
from inspector.sessions.interval_meter import IntervalMeter, KnownShares, ReportsWaits
from inspector.sessions.recorder import Recorder
from inspector.sessions.replay.journal import Beginning, CommandPlace, Journal, file_digest
from inspector.sessions.replay.rewinding import Rewinding, ScriptFollower
from inspector.sessions.scene import SceneProblem
from inspector.sessions.scene_run import SceneRun
from inspector.sessions.scene_sampler import SceneSampler
from inspector.sessions.session import (
    MeasuresWakeErrors,
    SessionPhase,
    SessionStatus,
    UniformSession,
)
from inspector.sessions.sources.journalled_source import JournalledSource, journalled
from inspector.sessions.sources.time_sources import source_name
from inspector.timebase import NS_PER_SECOND, format_instant
from inspector.vocabulary import Reading, what_was_raised

if TYPE_CHECKING:
    from inspector.events.recording import RecordingInfo


class HostedSession(UniformSession):
    """Runs a scene file and takes commands for it.

    A scene's errors do not leave the session: :attr:`status` reports a file that cannot be
    imported or built, and a callback that raises is recorded. Reloading begins a new log and a
    new timeline, so do not keep references to them. Everything but :meth:`submit` is for the
    thread that made it.

    Reloading, going back in time and running a journal each begin a new
    :class:`~inspector.sessions.scene_run.SceneRun`. The session applies pending commands to
    the present run, and keeps everything that outlives a run.
    """

    capabilities: Final = frozenset(Capability) - {Capability.PROGRAM}
    is_recorded: Final = False
    notes: Final[tuple[str, ...]] = ()
    has_arrived: Final = False  # False: a live run may always continue

    def __init__(
        self,
        scene_path: Path,
        source: TimeSource,
        *,
        failure_policy: FailurePolicy = FailurePolicy.CONTINUE,
        autorun: bool = True,
        max_delta_ns: int = DEFAULT_MAX_DELTA_NS,
    ) -> None:
        """Load and build the scene; the source is closed with the session.

        With ``autorun``, session time begins to pass at once. If a wake-up is late by more than
        ``max_delta_ns``, the rest is cut off.
        """
        # Bookmarks, notes and named ranges since the scene was loaded; going back in time keeps
        # them
        self.annotations = Annotations()
        # The pictures that the scene draws, while they are watched or recorded
        self.pictures = Pictures()
        self.recorder = Recorder(self, self.pictures)
        self.annotations.keep = self.recorder.record_annotations
        self.source = source
        # Going back in time, while it is in progress; read-only
        self.rewinding: Rewinding | None = None
        # How long a step or going back may take before it waits for the next refresh; None for
        # no limit
        self.slice_ns: int | None = None
        self._max_delta_ns = max_delta_ns
        self._is_closed = False
        self._meter: IntervalMeter | None = None
        self._sampler: SceneSampler | None = None
        self._modules_aside: dict[str, ModuleType] = {}
        self._commands: deque[Command] = deque()
        self._owner = threading.get_ident()
        self._is_applying = False
        self._wants_step_to_end = False
        self._has_frame_run = False
        self.scene_path = path = Path(scene_path).absolute()
        self.source_label = str(path)
        reader = journalled(source)
        beginning = Beginning(
            policy=failure_policy,
            runs=autorun,
            max_delta_ns=max_delta_ns,
            is_manual=reader.is_manual,
            source_ns=reader.relative_ns,
            digest=file_digest(path),
        )
        self._run = SceneRun(path, reader, beginning)
        self._run.load(self, self.recorder)

    @override
    def __repr__(self) -> str:
        return f"<HostedSession {self.scene_path.name} {self.status.phase.value}>"

    @property
    def log(self) -> EventLog:
        return self._run.log

    @property
    def history(self) -> LogHistory:
        return self._run.history

    @property
    def timeline(self) -> Timeline:
        return self._run.timeline

    @property
    def problem(self) -> SceneProblem | None:
        return self._run.problem

    @property
    def title(self) -> str:
        return self._run.title

    @property
    def front_panels(self) -> tuple[str, ...]:
        return self._run.stage.front_panels

    @property
    def generation(self) -> int:
        """How often the scene was reloaded; going back does not count."""
        return self._run.generation

    @property
    def failure_policy(self) -> FailurePolicy:
        return self._run.failure_policy

    @property
    def frame_rate(self) -> Fraction:
        return self._run.frame_rate

    @property
    def about(self) -> RecordingInfo:
        from inspector.events.recording import RecordingInfo  # noqa: PLC0415 - see Recorder

        return RecordingInfo(
            scene_path=str(self.scene_path),
            scene_digest=file_digest(self.scene_path),
            title=self.title,
            tool_version=__version__,
            frame_rate=str(self.frame_rate),
            source=source_name(self.source),
        )

    @property
    def file_stem(self) -> str:
        return self.scene_path.stem

    @property
    def can_wait(self) -> bool:
        return isinstance(self.source, VirtualTimeSource | ManualTimeSource)

    @property
    def wake_errors(self) -> WakeErrorSummary | None:
        source = self.source
        return source.wake_errors if isinstance(source, MeasuresWakeErrors) else None

    @property
    def is_running(self) -> bool:
        return self._run.is_running

    @property
    def session_ns(self) -> int:
        return self._run.session_ns

    @property
    def frames_run(self) -> int:
        return self._run.frames_run

    @property
    def present_ns(self) -> int:
        return self._run.present_ns

    @property
    def breakpoints(self) -> Breakpoints:
        return self._run.breakpoints

    @property
    def undoing(self) -> Undoing:
        return self._run.undoing

    @property
    def status(self) -> SessionStatus:
        run = self._run
        problem = run.problem
        if problem is not None:
            path = str(problem.path)
            return SessionStatus(
                SessionPhase.FAILED, str(problem), problem.detail, path, problem.line
            )
        if run.loaded is None or self._is_closed:
            return SessionStatus(SessionPhase.EMPTY, "No scene is open.")
        if run.is_running:
            return _running_status(self.title)
        return self._stopped_status(format_instant(run.session_ns))

    def _stopped_status(self, at: str) -> SessionStatus:
        if (rewinding := self.rewinding) is not None:
            message = f"Going back to frame {rewinding.frame:,}: {rewinding.percent} % replayed."
            return SessionStatus(SessionPhase.REWINDING, message)
        if self._run.is_in_step:
            done = self._run.frames_run - self._run.step_began_at
            ran = counted(done, "frame has run", "frames have run")
            return SessionStatus(SessionPhase.STEPPING, f"Stepping: {ran}, it is {at}.")
        if (failure := self._run.stopped_by) is not None:
            # Python's own formatting copes with errors whose ``str`` raises.
            alone = "".join(traceback.format_exception_only(failure.error))
            reason = as_shown(what_was_raised(alone))
            message = f"Stopped at {at} because “{failure.label}” failed: {reason}"
            return SessionStatus(SessionPhase.HELD, message, failure.traceback_text)
        if (hit := self._run.broken_by) is not None:
            message = f"Held at {at} in frame {hit.frame:,} because {hit.text}."
            return SessionStatus(SessionPhase.HELD, message, breakpoint=hit.number)
        return SessionStatus(SessionPhase.HELD, f"Held at {at}.")

    # ---------------------------------------------------------------- commands

    def submit(self, command: Command) -> None:
        """Submit a command, from any thread.

        It is applied at the next frame boundary while the scene runs, at once while it is held
        (from another thread: at the owner's next :meth:`refresh`). The answer is the
        :data:`~inspector.vocabulary.COMMAND` event.
        """
        command = usable(command)
        self._commands.append(command)
        if command.ends_step and self._run.is_in_step:
            self._wants_step_to_end = True
        if threading.get_ident() == self._owner:
            self._apply_if_idle()

    def refresh(self) -> int:
        self._go_on_rewinding()
        if self._wants_step_to_end:
            self._end_step()
        else:
            self._run.step_on(self.slice_ns)
        self._apply_if_idle()
        self.recorder.pump(at_once=not self.is_running)
        run = self._run
        run.fold()
        count, run.unreported = run.unreported, 0
        if self.pictures.is_wanted and self._is_idle:
            self._draw_if_new(has_news=bool(count))
        return count

    def _draw_if_new(self, *, has_news: bool) -> None:
        if has_news or self.pictures.newest_frame != self.frames_run - 1:
            self._draw()

    def draw_picture(self) -> None:
        """Draw the picture of the last frame now, watched or not.

        Raises:
            RuntimeError: The scene runs, so that reading its clocks would let time pass.
        """
        if not self._is_idle:
            raise RuntimeError("only a held scene can be drawn at any time")
        self._draw()

    def _draw(self) -> None:
        run = self._run
        self.pictures.draw(run.stage.drawing, run.frames_run - 1, run.log)
        run.leave_if_forked()

    def before_frame(self) -> None:
        """Apply pending commands at the frame boundary; called by the run."""
        self._has_frame_run = True
        if self._commands and not self._is_applying:
            self._apply_waiting(CommandPlace.BEFORE_FRAME)

    def check_breakpoints(self, *, after_frame: bool) -> None:
        """Draw the picture, and carry out the actions of breakpoint hits; called by the run."""
        if after_frame and self.pictures.is_wanted:
            self._draw()
        if self._run.breakpoints.is_any_enabled:
            act_on_hits(self._run, after_frame=after_frame)

    def end_wake(self) -> None:
        """Apply pending commands at the end of a wake-up with a frame."""
        self.recorder.pump()
        if self._commands and (self._has_frame_run or self._is_idle):
            self._apply_waiting(CommandPlace.WAKE_END)
        self._has_frame_run = False

    def _apply_if_idle(self) -> None:
        if self._commands and self._is_idle:
            self._apply_waiting(CommandPlace.AT_ONCE)

    @property
    def _is_idle(self) -> bool:
        run = self._run
        return not (self._is_applying or self._is_busy or run.is_running or run.is_in_callback)

    @property
    def _is_busy(self) -> bool:
        return self.rewinding is not None or self._run.is_in_step

    @contextmanager
    def _commands_wait(self) -> Iterator[None]:
        was_applying, self._is_applying = self._is_applying, True
        try:
            yield
        finally:
            self._is_applying = was_applying

    def _apply_waiting(self, place: CommandPlace) -> None:
        """Apply pending commands in order.

        Before a frame, inside a wake-up, the transport cannot be held or replaced: such a
        command, and all after it, wait for the end of the wake-up.
        """
        run = self._run
        with self._commands_wait():
            while self._commands and not self._is_busy:
                if place is CommandPlace.BEFORE_FRAME and self._commands[0].waits_for_wake_end:
                    break
                # A command that began a new run of the scene has also left the wake-up.
                self._apply(
                    self._next_command(), place if self._run is run else CommandPlace.AT_ONCE
                )

    def _next_command(self) -> Command:
        """Take the next command; consecutive steps back are merged."""
        command = self._commands.popleft()
        while isinstance(command, StepBack) and self._commands:
            other = self._commands[0]
            if not isinstance(other, StepBack):
                break
            self._commands.popleft()
            command = usable(StepBack(command.frames + other.frames))
        return command

    def _apply(self, command: Command, place: CommandPlace) -> None:
        run = self._run
        number = run.command_number = run.command_number + 1
        if isinstance(command, Reload):
            self._reload(number)
        elif isinstance(command, GoBack) and self._goes_back(command, number, place):
            pass
        elif isinstance(command, Step) and not run.is_running:
            # At the end of a wake-up, too: a running scene is held there for the step.
            self._wants_step_to_end = False
            run.begin_step(command, number, place)
            run.step_on(self.slice_ns)
        else:
            run.apply(command, number, place=place)

    # ------------------------------------------------------------------- the host

    def hold(self) -> None:
        """Stop session time at once; a ``RuntimeError`` inside a callback."""
        run = self._run
        if run.loaded is None:
            return
        if run.is_in_callback or self._is_applying:
            raise RuntimeError("a callback cannot hold its scene; submit Hold() instead")
        if run.is_in_step:
            self._end_step()
        else:
            run.hold()

    def begin(self) -> None:
        """Let session time begin now that the host is ready, if no frame has run."""
        self._run.begin()

    def measure_intervals(self) -> None:
        """Measure from now on where the time between frames goes, if the time source can."""
        source = self.source
        if self._meter is None and isinstance(source, ReportsWaits):
            self._meter = meter = IntervalMeter(source.now_ns)
            source.report_waits(meter.wait, meter.poll)
            self._meter_run(self._run)

    def _meter_run(self, run: SceneRun) -> None:
        if (meter := self._meter) is not None:
            meter.is_calling = run.is_calling
            run.shares = run.source.meter = meter
            if self._sampler is None:
                self._sampler = SceneSampler(run.tree.root.id, meter.until_wake_ns)
            run.sampler = self._sampler

    def set_aside(self) -> None:
        """Take this scene's modules out of the way of another scene, until :meth:`put_back`.

        Cancels going back in time. No code of this scene may be called meanwhile.
        """
        self._cancel_rewind()
        scene = self._run.loaded
        self._modules_aside = {} if scene is None else scene.set_aside()

    def put_back(self) -> None:
        scene = self._run.loaded
        if scene is not None:
            scene.put_back(self._modules_aside)
        self._modules_aside = {}

    def break_off(self) -> None:
        self._cancel_rewind()
        self._end_step()

    def _end_step(self) -> None:
        self._wants_step_to_end = False
        with self._commands_wait():
            self._run.end_step()

    def close(self) -> None:
        if self._is_closed:
            return
        self.break_off()
        self.recorder.close()
        self._run.close()
        self._is_closed = True
        if self._meter is not None:
            self._meter.close()
        if self._sampler is not None:
            self._sampler.close()
        self.source.close()

    # --------------------------------------------------------------- virtual time

    def pass_to(self, at_ns: int, *, with_frame: bool = True) -> None:
        """Let virtual time pass up to an instant; timers are called when they are due.

        With ``with_frame``, a frame runs at that instant instead of the regular frames.

        Raises:
            TypeError: The time source is a real one.
        """
        source, run = self.source, self._run
        if not isinstance(source, VirtualTimeSource | ManualTimeSource):
            raise TypeError(f"only virtual time can be advanced, not {source!r}")
        if run.loaded is None:
            return
        # The frame period starts at the instant that the scene has reached; after work, the
        # source is ahead of that.
        period_ns = max(1, at_ns - run.session_ns)
        remaining_ns = max(0, period_ns - run.ahead_ns)
        run.set_period(period_ns if with_frame else period_ns + NS_PER_SECOND)
        if isinstance(source, VirtualTimeSource):
            source.pass_ns(remaining_ns)
        else:
            source.advance_ns(remaining_ns)
        # The scene may have been reloaded meanwhile.
        run = self._run
        if not with_frame and run.session_ns + run.ahead_ns <= at_ns:
            # Nothing is due before this instant.
            run.sync()

    def block_ns(self, duration_ns: int) -> None:
        """Let virtual time pass as if the host read its clocks once per frame.

        One frame runs, ``duration_ns`` after the previous frame or when the callbacks of that
        frame have returned. Time in its own callbacks counts towards the next frame.

        Raises:
            TypeError: The time source is not a virtual one.
        """
        source = self.source
        if not isinstance(source, VirtualTimeSource):
            raise TypeError(f"only a virtual time source can be blocked, not {source!r}")
        if self._run.loaded is None:
            return
        # With a period of 1 ns, a frame is due at once and so runs at the end of the jump.
        self._run.set_period(1)
        source.jump_ns(max(1, duration_ns - self._run.ahead_ns))
        source.wake_if_due()
        # Wake-ups for this instant belong to the frame, but no other frame may run.
        self._run.set_period(duration_ns + NS_PER_SECOND)
        source.pass_ns(0)

    def end_virtual_run(self) -> None:
        self._run.reset_period()

    # ----------------------------------------------------------------- other runs

    def _next_run(
        self,
        source: JournalledSource,
        beginning: Beginning,
        breakpoints: Breakpoints | None = None,
        budget_bytes: int | None = None,
    ) -> SceneRun:
        budget_bytes = budget_bytes or self._run.log.budget_bytes
        return SceneRun(
            self.scene_path, source, beginning, breakpoints, log_budget_bytes=budget_bytes
        )

    def _reload(self, number: int) -> None:
        former, breakpoints = self._run, self._run.breakpoints
        begun = former.journal.beginning
        # A scene that could not be built will run as was intended before.
        runs = begun.runs if former.loaded is None else former.is_running
        former.close()
        beginning = structs.replace(
            begun,
            generation=former.generation + 1,
            command_number=number,
            reload_number=number,
            policy=former.failure_policy,
            runs=runs,
            max_delta_ns=self._max_delta_ns,
            source_ns=former.source.relative_ns,
            digest=file_digest(self.scene_path),
            breakpoints={each: found for each, found, _ in breakpoints.items()},
            next_breakpoint=breakpoints.next_number,
        )
        self._run = self._next_run(former.source, beginning, breakpoints)
        self._meter_run(self._run)
        self.pictures.clear()
        self._run.load(self, self.recorder)
        self._forget_former_time()

    def run_again(self, journal: Journal, *, keeps_all: bool = False) -> None:
        """Rebuild the scene and replay a journal to its end, without waiting for real time.

        Session time is held afterwards if it was held at the end of the journal. The journal must
        be that of a scene on the same sort of time source, manual or not. With ``keeps_all``, the
        log drops no events.
        """
        former = self._run
        former.close()
        budget_bytes = sys.maxsize if keeps_all else DEFAULT_BUDGET_BYTES
        run = self._next_run(former.source, journal.beginning, budget_bytes=budget_bytes)
        self._run = run
        with self._commands_wait():
            try:
                for _ in ScriptFollower(run, journal).steps():
                    pass
            finally:
                run.source.go_live()
                run.driver, run.recorder = self, self.recorder
                run.breakpoints = former.breakpoints
        if run.generation != former.generation:
            self._forget_former_time()

    def _forget_former_time(self) -> None:
        self.annotations.clear()
        if isinstance(self.source, MeasuresWakeErrors):
            self.source.restart_measurement()

    def _goes_back(self, command: GoBack, number: int, place: CommandPlace) -> bool:
        former = self._run
        former.fold()
        if former.loaded is None or former.journal.is_given_up:
            return False
        try:
            frame = command.frame_to_go_back_to(former.timeline, former.frames_run)
        except CommandError:
            return False
        second = self._next_run(former.source.beside(), former.journal.beginning)
        second.shares = KnownShares(former.timeline.frames)
        self.rewinding = rewinding = Rewinding(command, number, frame, former, second)
        self._go_on_rewinding()
        if rewinding.applied is None and former.is_running:
            # Meanwhile the session shows the former run, which is held, and can be resumed there.
            former.apply(Hold(), number, place=place)
            rewinding.number = former.command_number = number + 1
        return True

    def _go_on_rewinding(self) -> None:
        """Replay for a limited time, and hand over to the second run at the end."""
        rewinding = self.rewinding
        if rewinding is None:
            return
        try:
            with self._commands_wait():
                is_done = rewinding.go_on(self.slice_ns)
        except BaseException:
            # For example, the user has pressed Ctrl+C.
            self.rewinding = None
            rewinding.give_up()
            raise
        if is_done:
            self._hand_over(rewinding)

    def _cancel_rewind(self) -> None:
        """Cancel going back in time; the session stays held where it was."""
        rewinding, self.rewinding = self.rewinding, None
        if rewinding is None:
            return
        rewinding.give_up()
        text = rewinding.command.sentence(self._run.timeline)
        problem = BadCommand(text, "It was cancelled before it finished.")
        with self._commands_wait():
            self._run.apply(problem, rewinding.number, place=CommandPlace.AT_ONCE)

    def _hand_over(self, rewinding: Rewinding) -> None:
        former, applied = rewinding.former, rewinding.applied
        assert applied is not None, "all is done"
        self.rewinding = None
        self._run = run = rewinding.second
        run.driver, run.recorder = self, self.recorder
        former.source.on_reading = former.source.meter = None
        former.close()
        self._meter_run(run)
        run.source.go_live()
        run.note_rewind(rewinding.number, applied)
        self.pictures.forget_from(run.frames_run)
        if run.source.is_manual:
            # The source's reading differs from the scene's, which matters when the scene runs.
            run.note(Reading.ADVANCED, run.source.relative_ns)
        if run.loaded is not None:
            run.watch_from_here()
        self.recorder.pump()


@lru_cache(maxsize=4)
def _running_status(title: str) -> SessionStatus:
    # Called several times in each refresh.
    return SessionStatus(SessionPhase.RUNNING, f"“{title}” is running.")
