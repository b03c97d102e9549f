"""The one face of every session: where events come from, and where commands go."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from inspector.clocks.sources.wake_errors import WakeErrorSummary
from inspector.commands.command import Capability, Command, Undoing
from inspector.events.history import History
from inspector.events.log import EventLog
from inspector.events.timeline import Timeline
from inspector.sessions.annotations import Annotations
from inspector.sessions.breakpoints.breakpoints import Breakpoints

if TYPE_CHECKING:
    # What records is loaded with a scene, which is the only thing that needs it.
    from inspector.sessions.recorder import Recorder


class SessionPhase(Enum):
    """What a session is doing."""

    EMPTY = "empty"
    RUNNING = "running"
    HELD = "held"
    REWINDING = "rewinding"
    STEPPING = "stepping"
    FAILED = "failed"

    @property
    def goes_on(self) -> bool:
        """Whether each refresh does some more of a command that takes long."""
        return self in {SessionPhase.REWINDING, SessionPhase.STEPPING}


@dataclass(frozen=True, slots=True)
class SessionStatus:
    """What a session is doing, in words.

    Attributes:
        phase: What it is doing.
        message: One sentence for the status bar.
        detail: More lines when something went wrong: the place in the source, the
            lines around it and the traceback; else empty.
        path: The file in which something went wrong, if it is known.
        line: The line in that file, counted from 1, if it is known.
    """

    phase: SessionPhase
    message: str = ""
    detail: str = ""
    path: str | None = None
    line: int | None = None


@runtime_checkable
class StepsAside(Protocol):
    """A session of whose scene nothing is in the way when another is loaded."""

    def set_aside(self) -> None:
        """Let another scene be loaded as if this one were not there."""

    def put_back(self) -> None:
        """Go on after :meth:`set_aside`."""


@runtime_checkable
class MeasuresWakeErrors(Protocol):
    """A time source that knows how punctually it is woken."""

    @property
    def wake_errors(self) -> WakeErrorSummary | None:
        """How late the wake-ups were; ``None`` before the first."""

    def restart_measurement(self) -> None:
        """Forget how late the wake-ups were."""


class Session(Protocol):
    """A source of events that may accept commands.

    Everything but :meth:`submit` is for the thread that owns the session.
    """

    @property
    def log(self) -> EventLog:
        """Everything that happened."""

    @property
    def history(self) -> History:
        """Its past, back to what is kept. Another one whenever :attr:`log` is."""

    @property
    def timeline(self) -> Timeline:
        """The log folded up to the last :meth:`refresh`."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What :meth:`submit` accepts."""

    @property
    def status(self) -> SessionStatus:
        """What the session is doing."""

    @property
    def title(self) -> str:
        """What it is called."""

    @property
    def source_label(self) -> str:
        """Where its events come from: a file, a process."""

    @property
    def frame_rate(self) -> Fraction:
        """Frames per second of session time that are asked for."""

    @property
    def wake_errors(self) -> WakeErrorSummary | None:
        """How punctually its time source wakes it, ``None`` when that is not known."""

    @property
    def breakpoints(self) -> Breakpoints | None:
        """What it looks out for; ``None`` where nothing can be stopped.

        To be read only: commands change them.
        """

    @property
    def undoing(self) -> Undoing | None:
        """What would undo each command; ``None`` where nothing can be changed."""

    @property
    def annotations(self) -> Annotations:
        """Bookmarks, notes and named ranges in it."""

    @property
    def is_recorded(self) -> bool:
        """Whether all of it has passed: then nothing runs, stops or is changed any more."""

    @property
    def recorder(self) -> Recorder | None:
        """What writes it to files; ``None`` where it is a file.

        To be read only: commands start and stop it.
        """

    @property
    def notes(self) -> tuple[str, ...]:
        """What is missing of it, as sentences; nothing of what happens here and now."""

    def submit(self, command: Command) -> None:
        """Ask for something, from any thread.

        Applied at the next frame boundary while running, at once while held. The
        answer is the :data:`~inspector.vocabulary.COMMAND` event.
        """

    def refresh(self) -> int:
        """Fold what is new into the timeline and move its present.

        Returns:
            How many events were new.
        """

    def close(self) -> None:
        """Stop for good, and let go of the scene."""
