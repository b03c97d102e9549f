"""A scene file that is run in this process: loaded, driven, and what it has come to.

What it is told to do is in :mod:`inspector.sessions.hosted`.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.clocks.failures import EndlessInstantError, FailurePolicy
from inspector.clocks.manual_source import ManualTimeSource
from inspector.clocks.transport import Transport
from inspector.clocks.tree import ClockTree
from inspector.frames.director import Director
from inspector.sessions.annotations import Annotations
from inspector.sessions.hosting import Hosting
from inspector.sessions.journal import (
    MOST_ENTRIES,
    Beginning,
    Entry,
    Journal,
    Script,
    file_digest,
)
from inspector.sessions.metered_source import (
    MeteredManualSource,
    MeteredSource,
    NoWork,
    TimersMeter,
)
from inspector.sessions.scene import SceneProblem, load_scene
from inspector.sessions.session import MeasuresWakeErrors
from inspector.sessions.stage import DEFAULT_FRAME_RATE, Stage
from inspector.sessions.virtual_source import VirtualTimeSource
from inspector.timebase import NS_PER_SECOND
from inspector.trace.history import LogHistory
from inspector.trace.log import DEFAULT_BUDGET_BYTES, EventLog
from inspector.trace.timeline import Timeline
from inspector.vocabulary import CALLBACK_FAILED, COMMAND_FORM, READING, SCENE, RawEvent, Reading

if TYPE_CHECKING:
    from fractions import Fraction

    from inspector.clocks.failures import CallbackFailure
    from inspector.clocks.time_source import TimeSource
    from inspector.clocks.wake_errors import WakeErrorSummary

logger = logging.getLogger(__name__)

#: More timers in one wake-up take seconds, and seldom is that what anybody wants.
MOST_IN_WAKE = 1_000_000


class SceneHost:
    """Runs a scene file on a time source, one life after another.

    Attributes:
        failure_policy: What follows when a callback raises.
        generation: How often the scene was loaded anew.
        annotations: What people have left in this life of the scene; going back in time
            keeps it.
    """

    def __init__(
        self,
        scene_path: Path,
        source: TimeSource,
        *,
        failure_policy: FailurePolicy,
        autorun: bool,
        max_delta_ns: int,
    ) -> None:
        """Load nothing yet; the arguments are those of the hosted session."""
        self.failure_policy = failure_policy
        self.generation = 0
        self.annotations = Annotations()
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
        self._manual = MeteredManualSource(source) if isinstance(source, ManualTimeSource) else None
        for gate in (self._meter, self._manual):
            if gate is not None:
                gate.on_reading = self._note
        self._most_entries = MOST_ENTRIES
        self._journal = Journal(Beginning())
        self._log_budget_bytes = DEFAULT_BUDGET_BYTES
        self._script: Script | None = None
        self._is_closed = False
        self._wants_to_run = autorun
        self._has_frame_run = False
        self._stopped_by: CallbackFailure | None = None
        self._unreported = 0
        self._problem: SceneProblem | None = None
        self._hosting: Hosting | None = None
        self._log: EventLog
        self._history: LogHistory
        self._timeline: Timeline
        self._cursor = 0

    # ------------------------------------------------------------ what it is

    @property
    def log(self) -> EventLog:
        """Everything that happened since the scene was loaded."""
        return self._log

    @property
    def history(self) -> LogHistory:
        """Its past, as far as the log still knows it."""
        return self._history

    @property
    def timeline(self) -> Timeline:
        """The log folded up to the last :meth:`refresh`."""
        return self._timeline

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

    # ---------------------------------------- what whoever is told to do fills in

    def _apply_at_frame(self) -> None:
        """Do what waits for the frame boundary; called just before a frame."""

    def _apply_at_wake_end(self) -> None:
        """Do what waits for the end of a wake-up; called last thing in it."""

    def _look_around(self, *, after_frame: bool) -> None:
        """Look at what has happened; called after a frame, and after a command while held."""

    def _scene_loaded(self) -> None:
        """Note that a scene was loaded, before any of its time passes."""

    @property
    def _wants_to_stop(self) -> bool:
        """Whether no more session time should pass."""
        return self._stopped_by is not None

    # -------------------------------------------------------------- loading

    def _load(self) -> None:
        """Load the scene into a new log; a problem with it ends in the status."""
        log = self._begin_log()
        tree = ClockTree(log)
        tree.most_in_wake = MOST_IN_WAKE
        gate = self._meter or self._manual
        assert gate is not None, "one of them watches the source"
        transport = Transport(tree, gate, max_delta_ns=self._max_delta_ns)
        director = Director(tree.root)
        stage = Stage(transport, director, self._source_of_work)
        failed_early: list[CallbackFailure] = []
        tree.on_failure = failed_early.append
        beginning = self._beginning() if self._script is None else self._script.journal.beginning
        self._journal = Journal(beginning, self._most_entries)
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
            self._problem = problem
            self._scene_loaded()
            return
        self._problem = None
        self._hosting = Hosting(scene, tree, transport, director, stage)
        log.append((0, COMMAND_FORM, 0, log.intern(beginning.as_json()), 0))
        self._scene_loaded()
        tree.on_failure = self._take_failure
        transport.on_frame = self._run_frame
        transport.on_wake_done = self._end_wake
        self._timers_meter.begin(log.end)
        for failure in failed_early:
            self._take_failure(failure)
        if self._wants_to_run and self._stopped_by is None:
            transport.run()

    def _begin_log(self) -> EventLog:
        self._log = log = EventLog(self._log_budget_bytes)
        self._history = LogHistory(log)
        self._timeline = Timeline(log.strings)
        self._cursor = 0
        log.append((0, SCENE, self.generation, log.intern(str(self._path)), 0))
        return log

    def _failed_load_event(self, problem: SceneProblem) -> RawEvent:
        text = problem.traceback_text or str(problem)
        log = self._log
        return (0, CALLBACK_FAILED, 0, log.intern(self._path.name), log.intern(text))

    def _let_go(self) -> None:
        hosting = self._hosting
        if hosting is None:
            return
        self._hosting = None
        hosting.let_go()
        hosting.scene.unload()

    def _fold(self) -> None:
        self._fold_events()
        self._timeline.set_present(self.present_ns)

    def _fold_events(self) -> None:
        """Take what is new into the timeline, and leave its present at the newest event."""
        batch = self._log.read(self._cursor)
        if batch.lost:
            # Nobody looked for so long that events fell off; the log's base has them.
            base = self._log.base.copy()
            base.apply_all(self._log.read(self._log.first).events)
            self._timeline = base
        else:
            self._timeline.apply_all(batch.events)
        # Not before: what cannot be folded must not look as if it had been.
        self._cursor = batch.cursor
        self._unreported += len(batch.events) + batch.lost

    # -------------------------------------------------- wake-ups and frames

    def _run_frame(self, interval_ns: int, cut_ns: int) -> None:
        """Apply what waits, then run a frame: this is the frame boundary."""
        self._has_frame_run = True
        self._apply_at_frame()
        hosting = self._hosting
        if hosting is None:
            return
        meter = self._timers_meter
        meter.charge(self._log.end, hosting.stage.take_worked_ns())
        hosting.director.add_timers_busy_ns(meter.take_ns())
        hosting.director.run_frame(interval_ns, cut_ns)
        meter.begin(self._log.end)
        self._look_around(after_frame=True)

    def _end_wake(self) -> None:
        """Finish what a wake-up of the source has begun."""
        hosting = self._hosting
        if hosting is None:
            return
        self._timers_meter.charge(self._log.end, hosting.stage.take_worked_ns())
        self._log.settle()
        if self._wants_to_stop:
            hosting.transport.hold()
        self._apply_at_wake_end()
        self._has_frame_run = False

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
        self._set_period(period_ns if with_frame else period_ns + NS_PER_SECOND)
        if isinstance(source, VirtualTimeSource):
            source.pass_ns(remaining_ns)
        else:
            source.advance_ns(remaining_ns)
        if not with_frame and self.session_ns + self._ahead_ns <= at_ns:
            # Nothing that is due is left before this instant.
            self._note(Reading.SYNCED)
            transport.tree.sync()

    def block_ns(self, duration_ns: int) -> None:
        """Let virtual time pass as in a host that looks at its clocks once a frame.

        One frame runs, at the end. What its callbacks work belongs to the time before
        the next one.

        Args:
            duration_ns: From the frame before, if its callbacks did not work for longer.

        Raises:
            TypeError: The time source is not a :class:`VirtualTimeSource`.
        """
        source = self._source
        if not isinstance(source, VirtualTimeSource):
            message = f"only a virtual time source can be blocked, not {source!r}"
            raise TypeError(message)
        if self._hosting is None:
            return
        # A frame is due at once, so that whatever comes is at its end.
        self._set_period(1)
        source.jump_ns(max(1, duration_ns - self._ahead_ns))
        source.wake_if_due()
        # What a callback has asked for at this very instant is part of it, but no frame.
        self._set_period(duration_ns + NS_PER_SECOND)
        source.pass_ns(0)

    def end_virtual_run(self) -> None:
        """Go back to the frames of the scene's own frame rate."""
        if self._hosting is not None:
            self._note(Reading.RATE)
            stage = self._hosting.stage
            stage.frame_rate = stage.frame_rate

    # -------------------------------------------------------------- journal

    def _beginning(self) -> Beginning:
        """Return how the life of the scene begins that is about to be loaded."""
        gate = self._meter or self._manual
        return Beginning(
            policy=self.failure_policy,
            runs=self._wants_to_run,
            max_delta_ns=self._max_delta_ns,
            is_manual=self._manual is not None,
            source_ns=0 if gate is None else gate.relative_ns,
            digest=file_digest(self._path),
        )

    @property
    def _source_of_work(self) -> TimeSource:
        """Whose time passes when a callback works."""
        if self._manual is not None:
            return self._manual
        return self._source if self._script is None else NoWork()

    def _note(self, reading: Reading, value: int = 0) -> None:
        """Note what has come from outside, in the journal and in the log."""
        hosting = self._hosting
        if hosting is None:
            return
        frame = hosting.director.frame_index
        self._journal.note(reading, frame, value)
        self._log.append((hosting.tree.now_ns, READING, reading, value, frame))
        self._timers_meter.discount()

    def _set_period(self, period_ns: int) -> None:
        """Set the period of the frames, as the host wants it."""
        if self._hosting is not None:
            self._note(Reading.PERIOD, period_ns)
            self._hosting.transport.frame_period_ns = period_ns

    def _follow(self, entry: Entry) -> None:
        """Let happen what an entry of the journal says has come from outside."""
        hosting = self._hosting
        if hosting is None:
            return
        match entry.code:
            case Reading.WOKEN if self._meter is not None:
                self._meter.wake()
            case Reading.ADVANCED if self._manual is not None:
                self._manual.advance_to(entry.value)
            case Reading.PERIOD:
                self._set_period(entry.value)
            case Reading.SYNCED:
                self._note(Reading.SYNCED)
                hosting.tree.sync()
            case Reading.HELD:
                self._note(Reading.HELD)
                hosting.transport.hold()
            case Reading.RATE:
                self.end_virtual_run()
            case _:
                pass

    def _begin_following(self, script: Script) -> None:
        """Leave the time source alone from now on."""
        self._script = script
        if self._meter is not None:
            self._meter.script = script
            self._source.set_wake(None)
        if self._manual is not None:
            self._manual.follow(script.journal.beginning.source_ns)

    def _end_following(self) -> None:
        """Take time from the source again; session time is held."""
        self._script = None
        if self._meter is not None:
            self._meter.script = None
        if self._manual is not None:
            self._manual.go_live()
        if self._hosting is not None:
            self._hosting.stage.take_time_from(self._source_of_work)
