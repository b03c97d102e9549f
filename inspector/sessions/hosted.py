"""The hosted session: a scene file run in this process, on any time source."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Final

from typing_extensions import override

from inspector.clocks.failures import FailurePolicy, as_shown
from inspector.clocks.transport import DEFAULT_MAX_DELTA_NS
from inspector.commands.command import Capability, Command
from inspector.commands.scene import Reload
from inspector.sessions.annotations import Annotations
from inspector.sessions.recorder import Recorder
from inspector.sessions.scene_host import SceneHost
from inspector.sessions.session import MeasuresWakeErrors, SessionPhase, SessionStatus
from inspector.sessions.sources.virtual_passing import block_virtual_time, pass_virtual_time
from inspector.timebase import format_instant
from inspector.vocabulary import what_was_raised

if TYPE_CHECKING:
    from fractions import Fraction
    from types import ModuleType

    from inspector.clocks.sources.time_source import TimeSource
    from inspector.clocks.sources.wake_errors import WakeErrorSummary
    from inspector.commands.undoing import Undoing
    from inspector.events.history import LogHistory
    from inspector.events.log import EventLog
    from inspector.events.timeline import Timeline
    from inspector.sessions.breakpoints.breakpoints import Breakpoints
    from inspector.sessions.life import Life
    from inspector.sessions.replay.journal import Journal
    from inspector.sessions.replay.rewinding import Rewinding
    from inspector.sessions.scene import SceneProblem

_EVERYTHING: Final = frozenset(Capability)


class HostedSession:
    """Runs a scene file and takes commands for it.

    Nothing that a scene does gets out of here: a file that cannot be imported or
    built makes :attr:`status` say so, and a callback that raises is recorded.
    Loading it again begins a new log and a new timeline, so hold on to neither.
    Everything but :meth:`submit` is for the thread that made it.

    Attributes:
        annotations: What people have left in this life of the scene; going back in time
            keeps it.
        recorder: Writes it to files.
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
        self.annotations = Annotations()
        self.recorder = Recorder(self)
        self.annotations.keep = self.recorder.take_annotations
        self._is_closed = False
        self._modules_aside: dict[str, ModuleType] = {}
        self._host = SceneHost(
            scene_path,
            source,
            self.recorder,
            self.annotations,
            max_delta_ns=max_delta_ns,
        )
        self._host.load(policy=failure_policy, runs=autorun)

    @override
    def __repr__(self) -> str:
        """Show the scene and what it is doing."""
        return f"<HostedSession {self.scene_path.name} {self.status.phase.value}>"

    @property
    def _life(self) -> Life:
        return self._host.life

    @property
    def log(self) -> EventLog:
        """Everything that happened since the scene was loaded."""
        return self._life.log

    @property
    def history(self) -> LogHistory:
        """Its past, as far as the log still knows it."""
        return self._life.history

    @property
    def timeline(self) -> Timeline:
        """The log folded up to the last :meth:`refresh`."""
        return self._life.timeline

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What :meth:`submit` accepts: everything."""
        return _EVERYTHING

    @property
    def problem(self) -> SceneProblem | None:
        """Why the scene could not be loaded, ``None`` if it was."""
        return self._life.problem

    @property
    def source(self) -> TimeSource:
        """Where its time comes from."""
        return self._host.source

    @property
    def scene_path(self) -> Path:
        """The scene file."""
        return self._life.scene_path

    @property
    def title(self) -> str:
        """What the scene calls itself, else what its docstring does, else its file's name."""
        return self._life.title

    @property
    def source_label(self) -> str:
        """The path of the scene file."""
        return str(self.scene_path)

    @property
    def generation(self) -> int:
        """How often the scene was loaded anew; the same after going back."""
        return self._life.generation

    @property
    def failure_policy(self) -> FailurePolicy:
        """What follows when a callback raises; may be set, from the next failure on."""
        return self._life.failure_policy

    @failure_policy.setter
    def failure_policy(self, policy: FailurePolicy) -> None:
        self._life.failure_policy = policy

    @property
    def frame_rate(self) -> Fraction:
        """Frames per second of session time that are asked for."""
        return self._life.frame_rate

    @property
    def wake_errors(self) -> WakeErrorSummary | None:
        """How punctually the time source wakes it, ``None`` when that is not known."""
        source = self.source
        return source.wake_errors if isinstance(source, MeasuresWakeErrors) else None

    @property
    def is_running(self) -> bool:
        """Whether session time follows the time source."""
        return self._life.is_running

    @property
    def session_ns(self) -> int:
        """Session time that has been reached by what was run."""
        return self._life.session_ns

    @property
    def frames_run(self) -> int:
        """How many frames have begun."""
        return self._life.frames_run

    @property
    def present_ns(self) -> int:
        """Session time now, calling nobody; ahead of what was run while running.

        Virtual time is where it was run to: nobody is behind it.
        """
        return self._life.present_ns

    @property
    def breakpoints(self) -> Breakpoints:
        """What it looks out for; to be read only, commands change them."""
        return self._life.breakpoints

    @property
    def undoing(self) -> Undoing:
        """What would undo each command."""
        return self._life.undoing

    @property
    def is_recorded(self) -> bool:
        """False: it happens here and now."""
        return False

    @property
    def notes(self) -> tuple[str, ...]:
        """Nothing: nothing of it is missing."""
        return ()

    @property
    def status(self) -> SessionStatus:
        """What the session is doing."""
        life = self._life
        problem = life.problem
        if problem is not None:
            path = str(problem.path)
            return SessionStatus(
                SessionPhase.FAILED, str(problem), problem.detail, path, problem.line
            )
        hosting = life.hosting
        if hosting is None or self._is_closed:
            return SessionStatus(SessionPhase.EMPTY, "No scene is open.")
        if hosting.transport.is_running:
            return SessionStatus(SessionPhase.RUNNING, f"{self.title} is running.")
        return self._standing_status(format_instant(hosting.tree.now_ns))

    def _standing_status(self, at: str) -> SessionStatus:
        """Return why session time stands still."""
        if (rewinding := self.rewinding) is not None:
            frames = f"frame {rewinding.frame:,}"
            message = f"Going back to {frames}: {rewinding.percent} % replayed."
            return SessionStatus(SessionPhase.REWINDING, message)
        if (stepping := self._host.stepping) is not None:
            done = stepping.frames_done
            ran = "1 frame has run" if done == 1 else f"{done:,} frames have run"
            message = f"Stepping: {ran}, it is {at}."
            return SessionStatus(SessionPhase.STEPPING, message)
        if (failure := self._life.stopped_by) is not None:
            # Written by Python, which also copes with an error that cannot say what it is.
            alone = "".join(traceback.format_exception_only(failure.error))
            reason = as_shown(what_was_raised(alone))
            return SessionStatus(
                SessionPhase.HELD,
                f"Stopped at {at} because “{failure.label}” failed: {reason}",
                failure.traceback_text,
            )
        if (hit := self._life.broken_by) is not None:
            return SessionStatus(
                SessionPhase.HELD, f"Held at {at} in frame {hit.frame:,} because {hit.text}."
            )
        return SessionStatus(SessionPhase.HELD, f"Held at {at}.")

    def submit(self, command: Command) -> None:
        """Ask for something, from any thread.

        Applied at the next frame boundary while the scene runs, at once while it is
        held (from another thread: at the owner's next :meth:`refresh`). The answer is
        the :data:`~inspector.vocabulary.COMMAND` event.
        """
        self._host.queue.put(command)

    def refresh(self) -> int:
        """Fold what is new into the timeline and move its present.

        Returns:
            How many events were new.
        """
        self._host.go_on_rewinding()
        self._host.go_on_stepping()
        self._host.queue.apply_if_idle()
        self.recorder.pump(at_once=not self.is_running)
        life = self._life
        life.fold()
        count, life.unreported = life.unreported, 0
        return count

    def hold(self) -> None:
        """Let no more session time pass, at once; for a host that ends its run.

        Raises:
            RuntimeError: Called from inside a callback.
        """
        hosting = self._life.hosting
        if hosting is None:
            return
        if hosting.tree.is_draining or self._host.queue.is_applying:
            message = "a callback cannot hold its scene; submit Hold() instead"
            raise RuntimeError(message)
        if self._host.stepping is not None:
            self._host.break_off_step()
        else:
            self._life.hold()

    def reload(self) -> None:
        """Rebuild the scene from its file; the same as submitting ``Reload()``."""
        self.submit(Reload())

    def set_aside(self) -> None:
        """Let another scene be loaded as if this one were not there, until :meth:`put_back`.

        Going back in time is left off before. Nothing of this scene may be called meanwhile.
        """
        self._host.cancel_rewind()
        hosting = self._life.hosting
        self._modules_aside = {} if hosting is None else hosting.scene.set_aside()

    def put_back(self) -> None:
        """Go on after :meth:`set_aside`."""
        hosting = self._life.hosting
        if hosting is not None:
            hosting.scene.put_back(self._modules_aside)
        self._modules_aside = {}

    def close(self) -> None:
        """Stop for good, let go of the scene and close the time source."""
        if self._is_closed:
            return
        self.break_off()
        self.recorder.close()
        self._life.let_go()
        self._is_closed = True
        self.source.close()

    @property
    def rewinding(self) -> Rewinding | None:
        """Going back in time that is not done yet; to be read only."""
        return self._host.rewinding

    @property
    def slice_ns(self) -> int | None:
        """After so long a step or going back makes a pause, until the next :meth:`refresh`.

        May be set; ``None`` for doing it at one go.
        """
        return self._host.slice_ns

    @slice_ns.setter
    def slice_ns(self, slice_ns: int | None) -> None:
        self._host.slice_ns = slice_ns

    def break_off(self) -> None:
        """Leave off what is not done yet: going back stays where it was, a step ends here."""
        self._host.cancel_rewind()
        self._host.break_off_step()

    def run_again(self, journal: Journal, *, keeps_all: bool = False) -> None:
        """Build the scene anew and have it do, up to its end, what a journal says.

        Session time is held afterwards if it was then. Nobody waits for anything.

        Args:
            journal: Of a scene on a manual time source exactly if this one is.
            keeps_all: Whether no event may fall off the log.
        """
        self._host.run_again(journal, keeps_all=keeps_all)

    def pass_to(self, at_ns: int, *, with_frame: bool = True) -> None:
        """Let virtual time pass; timers are called when they are due.

        Args:
            at_ns: Session time to reach, if it has not passed.
            with_frame: Whether one frame runs then, instead of those of the grid.

        Raises:
            TypeError: The time source is a real one.
        """
        pass_virtual_time(self._host, at_ns, with_frame=with_frame)

    def block_ns(self, duration_ns: int) -> None:
        """Let virtual time pass as in a host that looks at its clocks once a frame.

        One frame runs, at the end. What its callbacks work belongs to the time before
        the next one.

        Args:
            duration_ns: From the frame before, if its callbacks did not work for longer.

        Raises:
            TypeError: The time source is not a
                :class:`~inspector.sessions.sources.virtual_source.VirtualTimeSource`.
        """
        block_virtual_time(self._host, duration_ns)

    def end_virtual_run(self) -> None:
        """Go back to the frames of the scene's own frame rate."""
        self._life.reset_period()
