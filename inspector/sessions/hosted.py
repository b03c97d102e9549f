"""The hosted session: a scene file run in this process, on any time source."""

from __future__ import annotations

import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Final

from typing_extensions import override

from inspector.clocks.failures import FailurePolicy
from inspector.clocks.transport import DEFAULT_MAX_DELTA_NS
from inspector.sessions.breakpoints import Breakpoints
from inspector.sessions.commands import Capability, Command, Reload
from inspector.sessions.interventions import Undoing
from inspector.sessions.rewinding import RewindDesk
from inspector.sessions.session import MeasuresWakeErrors, SessionPhase, SessionStatus
from inspector.timebase import format_instant
from inspector.vocabulary import Reading

if TYPE_CHECKING:
    from inspector.clocks.time_source import TimeSource

_EVERYTHING: Final = frozenset(Capability)


class HostedSession(RewindDesk):
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
        super().__init__(
            scene_path,
            source,
            failure_policy=failure_policy,
            autorun=autorun,
            max_delta_ns=max_delta_ns,
        )
        self._annotated_generation = self.generation
        self.annotations.keep = self.recorder.take_annotations
        self._load()

    @override
    def __repr__(self) -> str:
        """Show the scene and what it is doing."""
        return f"<HostedSession {self._path.name} {self.status.phase.value}>"

    # ------------------------------------------------------------ what it is

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What :meth:`submit` accepts: everything."""
        return _EVERYTHING

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
        return self._standing_status(format_instant(hosting.tree.now_ns))

    def _standing_status(self, at: str) -> SessionStatus:
        """Return why session time stands still."""
        if (rewinding := self.rewinding) is not None:
            frames = f"frame {rewinding.frame:,}"
            message = f"Going back to {frames}: {rewinding.percent} % of it has run again."
            return SessionStatus(SessionPhase.REWINDING, message)
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
    def is_recorded(self) -> bool:
        """False: it happens here and now."""
        return False

    @property
    def notes(self) -> tuple[str, ...]:
        """Nothing: nothing of it is missing."""
        return ()

    @override
    def _scene_loaded(self) -> None:
        if self.generation != self._annotated_generation:
            # Its time begins anew, and what was said of the other one goes with its events.
            self._annotated_generation = self.generation
            self.annotations.begin_anew()
            if isinstance(self._source, MeasuresWakeErrors):
                self._source.measure_anew()
        super()._scene_loaded()

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
        self._go_on_rewinding()
        if self._commands and self._is_idle:
            self._apply_waiting()
        self.recorder.pump(at_once=not self.is_running)
        self._fold()
        count, self._unreported = self._unreported, 0
        return count

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
        self._note(Reading.HELD)
        hosting.transport.hold()

    def reload(self) -> None:
        """Build the scene anew from its file; the same as submitting ``Reload()``."""
        self.submit(Reload())

    def close(self) -> None:
        """Stop for good, let go of the scene and close the time source."""
        if self._is_closed:
            return
        self.cancel_rewind()
        self.recorder.close()
        self._let_go()
        self._is_closed = True
        self._source.close()
