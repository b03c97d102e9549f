"""One life of a scene: loaded, driven, and what it has come to."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

from inspector.clocks.failures import BrokenOffError, EndlessInstantError, FailurePolicy
from inspector.clocks.transport import Transport
from inspector.clocks.tree import ClockTree
from inspector.commands.scene import DEFAULT_FRAME_RATE, Reload
from inspector.commands.undoing import Undoing
from inspector.events.history import LogHistory
from inspector.events.log import DEFAULT_BUDGET_BYTES, EventLog
from inspector.events.timeline import Timeline
from inspector.frames.director import Director
from inspector.sessions.hosting import Hosting
from inspector.sessions.replay.journal import MOST_ENTRIES, Beginning, Journal
from inspector.sessions.scene import SceneProblem, load_scene
from inspector.sessions.sources.virtual_source import VirtualTimeSource
from inspector.sessions.stage import Stage
from inspector.vocabulary import CALLBACK_FAILED, COMMAND, COMMAND_FORM, READING, SCENE, Reading

if TYPE_CHECKING:
    from fractions import Fraction
    from pathlib import Path

    from inspector.clocks.failures import CallbackFailure
    from inspector.sessions.breakpoints.breakpoints import BreakpointHit, Breakpoints
    from inspector.sessions.sources.gate import Gate
    from inspector.vocabulary import RawEvent

logger = logging.getLogger(__name__)

#: More timers in one wake-up take seconds, and seldom is that what anybody wants.
MOST_IN_WAKE = 1_000_000


class Driver(Protocol):
    """Whoever says what is done in a life, and when: people with their commands, or a script.

    It is called on the thread of the session only.
    """

    @property
    def is_live(self) -> bool:
        """Whether what happens is new, not what has happened in another life before."""

    @property
    def has_arrived(self) -> bool:
        """Whether no more session time is to pass, as it has got to where it should."""

    def at_frame(self) -> None:
        """Do what waits for the frame boundary; called just before a frame."""

    def at_wake_end(self) -> None:
        """Do what waits for the end of a wake-up; called last thing in it."""

    def look_around(self, *, after_frame: bool) -> None:
        """Look at what has happened; called after a frame, and after a command while held."""

    def pump_recorder(self) -> None:
        """Hand over to the recorder what is new; called after a command while held."""

    def before_reading(self) -> None:
        """Be done with what goes on; called before something from outside is noted."""


class Life:
    """One life of a scene, from its loading until it is loaded anew or taken back in time.

    Everything that is another one in another life is here, and what outlives it is in
    :class:`~inspector.sessions.scene_host.SceneHost`. For the thread that owns the session.

    Attributes:
        scene_path: The scene file.
        gate: Between the time source and this life. The next life takes it over when the
            scene is loaded anew; a second life beside this one has its own.
        generation: How often the scene had been loaded before.
        failure_policy: What follows when a callback raises.
        command_number: The number of the last command.
        breakpoints: What is looked out for.
        undoing: What would undo each command.
        driver: Who says what is done in it.
        journal: Everything from outside that it has acted upon.
        hosting: The scene, ``None`` when it could not be built or was let go.
        problem: Why the scene could not be loaded, ``None`` if it was.
        stopped_by: The failure that stopped it, ``None`` for none.
        broken_by: The hit that holds it, ``None`` for none.
        log: Everything that happened since the scene was loaded.
        history: Its past, as far as the log still knows it.
        timeline: The log folded, see :meth:`fold`.
        unreported: How many events were folded that nobody was told of.
        log_budget_bytes: What the events may take together that are kept.
    """

    driver: Driver
    log: EventLog
    history: LogHistory
    timeline: Timeline

    def __init__(
        self,
        scene_path: Path,
        gate: Gate,
        beginning: Beginning,
        breakpoints: Breakpoints,
        *,
        log_budget_bytes: int = DEFAULT_BUDGET_BYTES,
    ) -> None:
        """Begin a log; nothing is loaded yet.

        Args:
            scene_path: The scene file, absolute.
            gate: Where time comes from.
            beginning: How this life begins.
            breakpoints: What is looked out for, which may be what other lives look out for.
            log_budget_bytes: What the events may take together that are kept.
        """
        self.scene_path = scene_path
        self.gate = gate
        self.generation = beginning.generation
        self.failure_policy = beginning.policy
        self.command_number = beginning.command_number
        self.breakpoints = breakpoints
        self.undoing = Undoing()
        self.journal = Journal(beginning, MOST_ENTRIES)
        self.hosting: Hosting | None = None
        self.problem: SceneProblem | None = None
        self.stopped_by: CallbackFailure | None = None
        self.broken_by: BreakpointHit | None = None
        self.unreported = 0
        self.log_budget_bytes = log_budget_bytes
        self._cursor = 0
        self._is_looking_around = False
        self._begin_log()

    @property
    def title(self) -> str:
        """What the scene calls itself, else what its docstring does, else its file's name."""
        hosting = self.hosting
        if hosting is None:
            return self.scene_path.name
        return hosting.stage.title or hosting.scene.docstring_title or self.scene_path.name

    @property
    def frame_rate(self) -> Fraction:
        """Frames per second of session time that are asked for."""
        return DEFAULT_FRAME_RATE if self.hosting is None else self.hosting.stage.frame_rate

    @property
    def is_running(self) -> bool:
        """Whether session time follows the time source."""
        return self.hosting is not None and self.hosting.transport.is_running

    @property
    def session_ns(self) -> int:
        """Session time that has been reached by what was run."""
        return 0 if self.hosting is None else self.hosting.tree.now_ns

    @property
    def frames_run(self) -> int:
        """How many frames have begun."""
        return 0 if self.hosting is None else self.hosting.director.frame_index

    @property
    def present_ns(self) -> int:
        """Session time now, calling nobody; ahead of what was run while running.

        Virtual time is where it was run to: nobody is behind it.
        """
        if isinstance(self.gate.source, VirtualTimeSource):
            return self.session_ns
        return self.session_ns + min(self.ahead_ns, self.journal.beginning.max_delta_ns)

    @property
    def ahead_ns(self) -> int:
        """How far the source is ahead of what was run."""
        # What was run last was run for the gate's last reading.
        return self.gate.ahead_ns if self.is_running else 0

    def load(self, driver: Driver) -> None:
        """Load the scene; a problem with it is noted in :attr:`problem`.

        Args:
            driver: Who says what is done, from the first instant on.
        """
        self.driver = driver
        self.gate.on_reading = self.note
        beginning = self.journal.beginning
        tree = ClockTree(self.log)
        tree.most_in_wake = MOST_IN_WAKE
        transport = Transport(tree, self.gate, max_delta_ns=beginning.max_delta_ns)
        director = Director(tree.root)
        stage = Stage(transport, director, self.gate.source_of_work)
        failed_early: list[CallbackFailure] = []
        tree.on_failure = failed_early.append
        try:
            scene = load_scene(self.scene_path)
            try:
                scene.build(stage)
            except SceneProblem:
                scene.unload()
                raise
        except SceneProblem as problem:
            self._begin_log()
            self.log.append(self._failed_load_event(problem))
            self.problem = problem
            self._note_reload()
            return
        self.hosting = Hosting(scene, tree, transport, director, stage)
        self.log.append((0, COMMAND_FORM, 0, self.log.intern(beginning.as_json()), 0))
        if driver.is_live:
            self.watch()
        self._note_reload()
        tree.on_failure = self._take_failure
        transport.on_frame = self._run_frame
        transport.on_wake_done = self._end_wake
        self.gate.timers.begin(self.log.end)
        for failure in failed_early:
            self._take_failure(failure)
        if beginning.runs and self.stopped_by is None:
            transport.run()

    def _begin_log(self) -> None:
        self.log = log = EventLog(self.log_budget_bytes)
        self.history = LogHistory(log)
        self.timeline = Timeline(log.strings)
        self._cursor = 0
        log.append((0, SCENE, self.generation, log.intern(str(self.scene_path)), 0))

    def _failed_load_event(self, problem: SceneProblem) -> RawEvent:
        text = problem.traceback_text or str(problem)
        log = self.log
        return (0, CALLBACK_FAILED, 0, log.intern(self.scene_path.name), log.intern(text))

    def _note_reload(self) -> None:
        """Answer the command that loaded the scene, if one did."""
        if number := self.journal.beginning.reload_number:
            text = self.log.intern(Reload().sentence(self.timeline))
            self.log.append((self.session_ns, COMMAND, number, text, 0))

    def watch(self) -> None:
        """Have the breakpoints look at what comes from now on, if there are any.

        The first that is set begins to look then, not here.
        """
        if not self.breakpoints.is_looking:
            return
        self.fold()
        self.breakpoints.watch(self.log, self.timeline)

    def let_go(self) -> None:
        """End it: the scene calls nobody any more and is unloaded."""
        hosting = self.hosting
        if hosting is None:
            return
        self.hosting = None
        hosting.let_go()
        hosting.scene.unload()

    def fold(self) -> None:
        """Take what is new into the timeline, and move its present to now."""
        self.fold_events()
        self.timeline.set_present(self.present_ns)

    def fold_events(self) -> None:
        """Take what is new into the timeline, and leave its present at the newest event."""
        batch = self.log.read(self._cursor)
        if batch.lost:
            # Nobody looked for so long that events fell off; the log's base has them.
            base = self.log.base.copy()
            base.apply_all(self.log.read(self.log.first).events)
            self.timeline = base
        else:
            self.timeline.apply_all(batch.events)
        # Not before: what cannot be folded must not look as if it had been.
        self._cursor = batch.cursor
        self.unreported += len(batch.events) + batch.lost

    def look_around(self, *, after_frame: bool) -> None:
        """Have the driver look at what has happened.

        Args:
            after_frame: Whether a frame has just run; else it was a command while held.
        """
        if self._is_looking_around:
            # This is a hit that pauses something; whoever has found it goes on looking.
            return
        self._is_looking_around = True
        try:
            self.driver.look_around(after_frame=after_frame)
        finally:
            self._is_looking_around = False

    def _run_frame(self, interval_ns: int, cut_ns: int) -> None:
        """Apply what waits, then run a frame: this is the frame boundary."""
        self.driver.at_frame()
        hosting = self.hosting
        if hosting is None:
            return
        timers = self.gate.timers
        timers.charge(self.log.end, hosting.stage.take_worked_ns())
        hosting.director.add_timers_busy_ns(timers.take_ns())
        hosting.director.run_frame(interval_ns, cut_ns)
        timers.begin(self.log.end)
        self.look_around(after_frame=True)

    def _end_wake(self) -> None:
        """Finish what a wake-up of the source has begun."""
        hosting = self.hosting
        if hosting is None:
            return
        self.gate.timers.charge(self.log.end, hosting.stage.take_worked_ns())
        self.log.settle()
        if self.stopped_by is not None or self.broken_by is not None or self.driver.has_arrived:
            hosting.transport.hold()
        self.driver.at_wake_end()

    def _take_failure(self, failure: CallbackFailure) -> None:
        """Do what the failure policy says; the failure itself is recorded already."""
        hosting = self.hosting
        logger.debug("callback %s failed", failure.label, exc_info=failure.error)
        if hosting is None:
            return
        policy = self.failure_policy
        if isinstance(failure.error, EndlessInstantError | BrokenOffError):
            # Going on would only keep the thread busy again: time stands still for good, or
            # there was no end to it in sight.
            policy = FailurePolicy.STOP
        match policy:
            case FailurePolicy.CONTINUE:
                pass
            case FailurePolicy.PAUSE_BRANCH:
                clock = hosting.clock(failure.clock_id)
                if clock is not None:
                    clock.pause()
            case FailurePolicy.STOP:
                if self.stopped_by is None:
                    self.stopped_by = failure
                hosting.tree.halt()

    def note(self, reading: Reading, value: int = 0) -> None:
        """Note what has come from outside, in the journal and in the log.

        Args:
            reading: What has come.
            value: An instant or a period; 0 where there is none.
        """
        hosting = self.hosting
        if hosting is None:
            return
        self.driver.before_reading()
        frame = hosting.director.frame_index
        self.journal.note(reading, frame, value)
        self.log.append((hosting.tree.now_ns, READING, reading, value, frame))
        self.gate.timers.discount()

    def set_period(self, period_ns: int) -> None:
        """Set the period of the frames, as the host wants it."""
        if self.hosting is not None:
            self.note(Reading.PERIOD, period_ns)
            self.hosting.transport.frame_period_ns = period_ns

    def reset_period(self) -> None:
        """Go back to the frames of the scene's own frame rate."""
        if self.hosting is not None:
            self.note(Reading.RATE)
            stage = self.hosting.stage
            stage.frame_rate = stage.frame_rate

    def hold(self, *, is_in_step: bool = False) -> None:
        """Let no more session time pass, at once, as the host wants it.

        Args:
            is_in_step: Whether a step goes on that ends here.
        """
        if self.hosting is not None:
            self.note(Reading.HELD, int(is_in_step))
            self.hosting.transport.hold()
