"""The interface of every session: a source of events that may accept commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from msgspec import Struct
from typing_extensions import override

from inspector.clocks.sources.wake_errors import WakeErrorSummary
from inspector.commands.command import Capability, Command, Undoing
from inspector.events.history import History
from inspector.events.log import EventLog
from inspector.events.timeline import Timeline
from inspector.sessions.annotations import Annotations
from inspector.sessions.breakpoints.breakpoints import Breakpoints
from inspector.sessions.sources.time_sources import is_of_waiting_loop
from inspector.vocabulary import LoopKind

if TYPE_CHECKING:
    from abc import ABCMeta
    from pathlib import Path

    from inspector.analysis.statistics.time_series import FrameFacts
    from inspector.formats.frame_times import Beside
    from inspector.pictures.pictures import Picture

    # Only for types: the sessions that can be recorded import it themselves.
    from inspector.sessions.recorder import Recorder
else:
    ABCMeta = type(Protocol)

_ANSWERS: Final[dict[tuple[type, type], bool]] = {}


class _AskedOnce(ABCMeta):
    """Caches, by class, whether instances implement a protocol.

    Python 3.11 checks all names of the protocol each time, which took a twentieth of a refresh.
    """

    @override
    def __instancecheck__(self, instance: object) -> bool:
        asked = self, type(instance)
        answer = _ANSWERS.get(asked)
        if answer is None:
            answer = _ANSWERS[asked] = super().__instancecheck__(instance)
        return answer


class SessionPhase(Enum):
    EMPTY = "empty"
    RUNNING = "running"
    HELD = "held"
    REWINDING = "rewinding"
    STEPPING = "stepping"
    READING = "reading"
    FAILED = "failed"
    WAITING = "waiting"
    ENDED = "ended"

    @property
    def goes_on(self) -> bool:
        """Whether each refresh continues a long command."""
        # Not by a set, whose members would be hashed several times in each refresh.
        return (
            self is SessionPhase.REWINDING
            or self is SessionPhase.STEPPING
            or self is SessionPhase.READING
        )


class SessionStatus(Struct, frozen=True):
    phase: SessionPhase
    message: str = ""
    # Details of an error: its place in the source, the lines around it and the traceback;
    # otherwise empty.
    detail: str = ""
    path: str | None = None
    line: int | None = None  # The line of the error, counted from 1, if known
    breakpoint: int = 0  # Number of the breakpoint that holds it, 0 for none


@runtime_checkable
class StepsAside(Protocol, metaclass=_AskedOnce):
    """A session that can make room for another scene to be loaded."""

    def set_aside(self) -> None:
        """Take this scene's modules out of the way of another scene."""

    def put_back(self) -> None:
        """Undo :meth:`set_aside`."""


@runtime_checkable
class MeasuresWakeErrors(Protocol, metaclass=_AskedOnce):
    @property
    def wake_errors(self) -> WakeErrorSummary | None:
        """The wake-up delays; ``None`` before the first wake-up."""

    def restart_measurement(self) -> None: ...


class AttachedProgram(Protocol):
    name: str

    @property
    def is_attached(self) -> bool: ...

    @property
    def is_silent(self) -> bool:
        """Whether it is attached, but has sent nothing for a second."""

    @property
    def state(self) -> str:
        """Whether it is attached, does not answer, or how it ended."""

    @property
    def brief(self) -> str:
        """Adapters, cost and loss in a few words, or that it does not answer."""

    @property
    def facts(self) -> Sequence[tuple[str, str]]:
        """All known facts about it, as titles and texts."""

    def limits(self, clock_id: int) -> Sequence[tuple[str, str]]:
        """Return what is not possible with a clock, and why."""


@runtime_checkable
class AttachesPrograms(Protocol, metaclass=_AskedOnce):
    @property
    def programs(self) -> Mapping[int, AttachedProgram]: ...

    @property
    def can_end_program(self) -> bool:
        """Whether the inspector has launched a program that is still running."""

    @property
    def about_end(self) -> str:
        """A sentence on the progress of the requested end; empty for none."""

    def program_of_clock(self, clock_id: int) -> AttachedProgram | None:
        """Return the program of a clock, ``None`` for the session's own."""

    def detach(self) -> None:
        """Detach from all programs, which continue."""

    def end_program(self) -> None:
        """End the program that was launched; takes a moment."""

    def watch_tasks(self, every_ns: int) -> None:
        """Make the programs report their tasks at this interval, 0 for no more."""

    def frames_text(self, clock_id: int) -> str:
        """Return how many frames a clock's loop has run; empty without one."""


class ShownLoop(Struct, frozen=True):
    clock_id: int
    name: str  # Its name, after the name of its program
    frames: int
    kind: LoopKind


def loops_of(timeline: Timeline) -> tuple[ShownLoop, ...]:
    found = []
    for clock_id, loop in timeline.loops.items():
        frames = timeline.frames if clock_id == timeline.frames_of else loop.frames
        found.append(ShownLoop(clock_id, loop.name, frames.end, loop.kind))
    return tuple(found)


def frames_wait(timeline: Timeline, meta: Mapping[str, object]) -> bool:
    """Return whether frames are turns of a loop that waits; old files have this in ``meta``."""
    loop = timeline.loops.get(timeline.frames_of)
    if loop is not None:
        return loop.kind is LoopKind.WAITS_FOR_EVENTS
    return is_of_waiting_loop(meta)


@runtime_checkable
class ShowsLoops(Protocol, metaclass=_AskedOnce):
    """A session that can show the frames of one of several loops, including past ones."""

    @property
    def loops(self) -> Sequence[ShownLoop]:
        """The loops to choose from, in the order in which they were found."""

    @property
    def frames_of(self) -> int:
        """The clock of the loop whose frames are shown, 0 for none."""

    def choose_loop(self, clock_id: int) -> str:
        """Show the frames of another loop; returns why that is not possible, empty if it is."""


class _HasTimeline(Protocol):
    @property
    def timeline(self) -> Timeline: ...


class UniformSession:
    """A session in which every clock has all capabilities of the session."""

    def why_not(self, _capability: Capability, _clock_id: int = 0) -> str:
        """Return nothing, as the capabilities hold for every clock."""
        return ""

    @property
    def expects_news(self) -> bool:
        """False: nothing happens in it by itself while time is held."""
        return False

    @property
    def waits(self) -> bool:
        """False: its frames are drawn."""
        return False

    def driven_clock(self: _HasTimeline, selected: int) -> int:
        return selected or self.timeline.root_id or 0


class PastSession(UniformSession):
    """A session from a file, which cannot be changed."""

    capabilities: Final[frozenset[Capability]] = frozenset()
    is_recorded: Final = True
    recorder: Final = None
    wake_errors: Final = None
    breakpoints: Final = None
    undoing: Final = None

    def __init__(self, path: Path) -> None:
        self.path = path
        self.source_label = str(path)
        self._unreported = 0  # How many events are new in the log
        self._is_closed = False

    @override
    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path.name}>"

    def submit(self, _command: Command) -> None:
        """Do nothing: see :attr:`capabilities`."""


@runtime_checkable
class ShowsCapture(Protocol, metaclass=_AskedOnce):
    @property
    def path(self) -> Path: ...

    @property
    def format(self) -> str:
        """The program or format that wrote the file."""

    @property
    def streams(self) -> tuple[tuple[str, int], ...]:
        """Names and numbers of frames of the streams to choose from."""

    @property
    def stream(self) -> str:
        """Name of the stream that is shown."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns to choose from."""

    @property
    def column(self) -> str:
        """The file's name for the frame times."""

    @property
    def samples(self) -> str:
        """Why the frames are samples; empty if they are all frames."""

    @property
    def facts(self) -> FrameFacts | None:
        """What else the file says about the frames, ``None`` for nothing."""

    @property
    def unknown(self) -> frozenset[str]:
        """What the file does not have of the frames: ``delta``, ``busy``, both or nothing."""

    @property
    def beside(self) -> Beside | None:
        """The other columns of the file, ``None`` for none."""

    def choose_stream(self, name: str) -> None: ...


def samples_of(session: object) -> str:
    """Return why the frames of a session are samples, empty if they are all frames."""
    return session.samples if isinstance(session, ShowsCapture) else ""


def unknown_of_frames(session: object) -> frozenset[str]:
    """Return what is unknown of a session's frames: ``delta``, ``busy``, both or nothing."""
    return session.unknown if isinstance(session, ShowsCapture) else frozenset()


def beside_of(session: object) -> Beside | None:
    """Return the other columns of a capture, ``None`` for none."""
    return session.beside if isinstance(session, ShowsCapture) else None


def time_name(session: object) -> str:
    return "capture time" if isinstance(session, ShowsCapture) else "session time"


def file_word(session: object) -> str:
    """Return the word for the file of a session: a recording, or a capture of another program."""
    return "capture" if isinstance(session, ShowsCapture) else "recording"


def why_no_clocks(session: Session | None) -> str:
    """Return why there is no clock, for the end of a sentence that begins with what is missing."""
    if session is None:
        return "no scene is loaded"
    return f"this {file_word(session)} has none" if session.is_recorded else "none is known yet"


class FramePictures(Protocol):
    is_watched: bool  # Whether new pictures are wanted

    @property
    def is_described(self) -> bool:
        """Whether the scene draws a picture, as far as known."""

    @property
    def failure(self) -> str:
        """Why there is no picture, as a sentence; empty for no reason."""

    @property
    def brief(self) -> str:
        """The number of pictures and the space that they take; empty without any."""

    @property
    def newest(self) -> Picture | None:
        """The picture of the last frame."""

    def at(self, frame: int) -> Picture | None:
        """Return the picture of a frame, or of the last one before it that was kept."""


@runtime_checkable
class NamesPanels(Protocol, metaclass=_AskedOnce):
    """A session whose scene may say which panels show it best."""

    @property
    def front_panels(self) -> tuple[str, ...]:
        """The titles of the panels, the one in front first."""


def pictures_of(session: object) -> FramePictures | None:
    # Called in every frame, and checking a protocol would take thirty times as long.
    pictures: FramePictures | None = getattr(session, "pictures", None)
    return pictures


class Session(Protocol):
    """A source of events that may accept commands.

    Everything but :meth:`submit` is for the thread that owns the session.
    """

    @property
    def log(self) -> EventLog: ...

    @property
    def history(self) -> History:
        """The past, as far as the log goes back; replaced together with :attr:`log`."""

    @property
    def timeline(self) -> Timeline:
        """The log folded up to the last :meth:`refresh`."""

    @property
    def capabilities(self) -> frozenset[Capability]: ...

    def why_not(self, capability: Capability, clock_id: int = 0) -> str:
        """Return why something is not possible with a clock, as part of a sentence.

        It is empty if the capability is possible, or if the session lacks it altogether. Without a
        clock, it is about the session.
        """

    def driven_clock(self, selected: int) -> int:
        """Return the clock whose rate the keys and the transport set, 0 for none."""

    @property
    def waits(self) -> bool:
        """Whether its frames are turns of a loop that waits for events, such as asyncio's.

        Then the events decide how far apart frames are, and only their durations are of interest.
        """

    @property
    def expects_news(self) -> bool:
        """Whether events come from other processes, even while time is held."""

    @property
    def status(self) -> SessionStatus: ...

    @property
    def title(self) -> str: ...

    @property
    def source_label(self) -> str:
        """The origin of its events: a file, a process."""

    @property
    def frame_rate(self) -> Fraction:
        """Target frames per second of session time."""

    @property
    def wake_errors(self) -> WakeErrorSummary | None:
        """The wake-up delays of its time source, ``None`` if unknown."""

    @property
    def breakpoints(self) -> Breakpoints | None:
        """The breakpoints; ``None`` for a session that cannot be stopped.

        Read-only: commands change them.
        """

    @property
    def undoing(self) -> Undoing | None:
        """The inverses of commands; ``None`` for a session that takes none."""

    @property
    def annotations(self) -> Annotations: ...

    @property
    def is_recorded(self) -> bool:
        """Whether it is a recording, which cannot run or change."""

    @property
    def recorder(self) -> Recorder | None:
        """Writes recordings; ``None`` for a recording.

        Read-only: commands start and stop it.
        """

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on missing parts of a recording; empty for a hosted scene."""

    def submit(self, command: Command) -> None:
        """Submit a command, from any thread.

        It is applied at the next frame boundary while running, at once while held. The answer
        is the :data:`~inspector.vocabulary.COMMAND` event.
        """

    def refresh(self) -> int:
        """Fold new events, and update the present; returns how many were new."""

    def close(self) -> None:
        """Stop permanently, and unload the scene."""
