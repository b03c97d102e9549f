"""The hosted session: a scene file run in this process, on any time source."""

from __future__ import annotations

import logging
import sys
import threading
import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from typing_extensions import override

from inspector.clocks.failures import FailurePolicy
from inspector.clocks.transport import DEFAULT_MAX_DELTA_NS
from inspector.errors import CommandError
from inspector.sessions.breakpoints import Breakpoints
from inspector.sessions.command_actions import frame_to_go_back_to
from inspector.sessions.command_desk import CommandDesk
from inspector.sessions.command_values import value_problem
from inspector.sessions.commands import (
    Capability,
    Command,
    Hold,
    Reload,
    RewindTo,
    Run,
    StepBack,
    StepBy,
    StepFrames,
    StepTo,
    StepToNextTimer,
    command_text,
)
from inspector.sessions.interventions import Undoing
from inspector.sessions.journal import (
    REWIND_ENTRY,
    Journal,
    Place,
    Script,
    Told,
)
from inspector.sessions.replay import Run as Compared
from inspector.sessions.replay import first_difference
from inspector.sessions.session import SessionPhase, SessionStatus
from inspector.timebase import NS_PER_MS, format_instant
from inspector.trace.log import DEFAULT_BUDGET_BYTES
from inspector.vocabulary import (
    COMMAND,
    COMMAND_CONTEXT,
    Reading,
)

if TYPE_CHECKING:
    from inspector.clocks.time_source import TimeSource

logger = logging.getLogger(__name__)

#: These hold or replace the transport, so they wait for the end of the wake-up.
_AFTER_WAKE: Final = (Run, Hold, Reload, StepBack, RewindTo)

#: After these a stopped scene counts as going on.
_GOES_ON: Final = (Run, StepFrames, StepBy, StepTo, StepToNextTimer)


class HostedSession(CommandDesk):
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
        self._stop_frame: int | None = None
        self._arrived_at: int | None = None
        self._annotated_generation = self.generation
        self.annotations.keep = self.recorder.take_annotation
        self._load()

    @override
    def __repr__(self) -> str:
        """Show the scene and what it is doing."""
        return f"<HostedSession {self._path.name} {self.status.phase.value}>"

    # ------------------------------------------------------------ what it is

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What :meth:`submit` accepts: everything."""
        return frozenset(Capability)

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

    @override
    def _scene_loaded(self) -> None:
        if self.generation != self._annotated_generation:
            # Its time begins anew, and what was said of the other one goes with its events.
            self._annotated_generation = self.generation
            self.annotations.begin_anew()
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
        self.recorder.close()
        self._let_go()
        self._is_closed = True
        self._source.close()

    # -------------------------------------------------------- going back in time

    def run_again(self, journal: Journal, *, keeps_all: bool = False) -> None:
        """Build the scene anew and have it do, up to its end, what a journal says.

        Session time is held afterwards if it was then. Nobody waits for anything.

        Args:
            journal: Of a scene on a manual time source exactly if this one is.
            keeps_all: Whether no event may fall off the log.
        """
        self._log_budget_bytes = sys.maxsize if keeps_all else DEFAULT_BUDGET_BYTES
        breakpoints = self._breakpoints
        self._rebuild(Script(journal), None)
        self._breakpoints = breakpoints

    @override
    def _rewinds(self, command: StepBack | RewindTo, number: int) -> bool:
        """Go back in time if that is possible; returns whether it was."""
        self._fold()
        if self._hosting is None or value_problem(command):
            return False
        try:
            frame = frame_to_go_back_to(command, self._timeline, self.frames_run)
        except CommandError:
            return False
        batch = self._log.read(0)
        before = Compared(batch.events, self._log.strings, batch.lost)
        breakpoints = self._breakpoints
        self._rebuild(Script(self._journal), frame)
        self._breakpoints = breakpoints
        after = self._log.read(0)
        end = (self._log.end if self._arrived_at is None else self._arrived_at) - self._log.first
        found = Compared(after.events[:end], self._log.strings, after.lost)
        difference = first_difference(before, found, is_whole=False)
        refusal = ""
        if self._problem is not None:
            refusal = "The scene could not be built again."
        elif difference is not None:
            refusal = f"The scene was run again up to here, but did something else. {difference}"
        found_breakpoints = {key: each for key, each, _ in breakpoints.items()}
        told = Told(
            command,
            Place.AT_ONCE,
            host_ms=time.time_ns() // NS_PER_MS,
            refusal=refusal,
            breakpoints=found_breakpoints,
            next_breakpoint=breakpoints.next_number,
        )
        self._note_rewind(number, told)
        if self._manual is not None:
            # It stands elsewhere than where the scene was left, which counts when it runs.
            self._note(Reading.ADVANCED, self._manual.relative_ns)
        if self._hosting is not None:
            self._watch()
        self.recorder.pump()
        return True

    def _note_rewind(self, number: int, told: Told) -> None:
        """Note that somebody went back to where the scene stands now."""
        self._command_number = number
        self._fold()
        log, at_ns = self._log, self.session_ns
        text = log.intern(command_text(told.command, self._timeline))
        log.append((at_ns, COMMAND, number, text, log.intern(told.refusal)))
        log.append((at_ns, COMMAND_CONTEXT, 0, told.host_ms, log.intern(told.by)))
        self._note_told(REWIND_ENTRY, number, told)

    def _rebuild(self, script: Script, stop_frame: int | None) -> None:
        """Build the scene anew and have it do again what a journal says.

        Args:
            script: The journal.
            stop_frame: After how many frames to stop, held; ``None`` for the end.
        """
        beginning = script.journal.beginning
        self._let_go()
        self.generation = beginning.generation
        self._stopped_by = self._broken_by = None
        self._undoing.clear()
        self.failure_policy = beginning.policy
        self._wants_to_run = beginning.runs
        self._command_number = beginning.command_number
        self._reload_number = beginning.reload_number
        self._breakpoints = Breakpoints.holding(beginning.breakpoints, beginning.next_breakpoint)
        self._stop_frame, self._arrived_at = stop_frame, None
        self._begin_following(script)
        try:
            self._load()
            self._follow_script(script)
            if stop_frame is not None and self._hosting is not None:
                if self._arrived_at is None:
                    self._arrived_at = self._log.end
                script.is_over = True
                self._hosting.transport.hold()
        finally:
            self._end_following()
            self._stop_frame = None

    def _follow_script(self, script: Script) -> None:
        while self._hosting is not None and not self._is_at_stop:
            entry = script.head()
            if entry is None:
                break
            if entry.code == REWIND_ENTRY and entry.told is not None:
                script.take()
                self._hosting.transport.hold()
                told = entry.told
                self._breakpoints = Breakpoints.holding(told.breakpoints, told.next_breakpoint)
                self._broken_by = self._stopped_by = None
                self._note_rewind(entry.value, told)
            elif entry.told is not None:
                if entry.told.place is not Place.AT_ONCE or entry.frame != self.frames_run:
                    # It did something else than before; the comparison says what.
                    break
                self._apply_scripted(Place.AT_ONCE)
            elif entry.hit is not None:
                break
            else:
                script.take()
                self._follow(entry)

    @property
    def _is_at_stop(self) -> bool:
        return self._stop_frame is not None and self.frames_run >= self._stop_frame

    @property
    @override
    def _has_arrived(self) -> bool:
        """Whether the script goes no further than the present frame."""
        if self._script is None:
            return False
        if self._is_at_stop:
            return True
        head = self._script.head()
        return head is not None and head.code == REWIND_ENTRY and head.frame <= self.frames_run

    @override
    def _apply_scripted(self, place: Place) -> None:
        """Apply what the script says was applied here."""
        script = self._script
        while script is not None and not self._has_arrived:
            entry = script.head()
            if entry is None or (told := entry.told) is None or told.place is not place:
                return
            if entry.frame != self.frames_run:
                return
            script.take()
            self._command_number = entry.value - 1
            was_applying, self._is_applying = self._is_applying, True
            try:
                self._apply(told.command, place=place, by=told.by, host_ms=told.host_ms)
            finally:
                self._is_applying = was_applying
            if place is Place.AT_ONCE:
                return

    @override
    def _apply_scripted_hits(self, *, after_frame: bool) -> None:
        """Have the breakpoints hit that the script says were hit here; stop where it ends."""
        script, hosting = self._script, self._hosting
        if script is None or hosting is None:
            return
        while (entry := script.head()) is not None and (hit := entry.hit) is not None:
            # A step may go on after its last frame; what is hit then belongs to the next.
            if entry.frame != self.frames_run or after_frame != (hit.frame < entry.frame):
                break
            script.take()
            known = self._breakpoints.get(hit.number)
            self._note_hit(hit if known is None else replace(hit, action=known.action), hosting)
            self._apply_scripted(Place.BREAKPOINT)
        if self._has_arrived:
            if self._arrived_at is None and self._is_at_stop:
                self._arrived_at = self._log.end
            hosting.tree.halt()
