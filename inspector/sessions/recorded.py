"""The recorded session: a file in the place of a running scene."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from typing_extensions import override

from inspector.commands.scene import DEFAULT_FRAME_RATE
from inspector.events.annotations import AnnotationChange
from inspector.events.log import EventLog
from inspector.events.recording import open_recording
from inspector.events.recording.annotations import annotate_all
from inspector.sessions.annotations import Annotations
from inspector.sessions.provenance import rate_in_file
from inspector.sessions.session import SessionPhase, SessionStatus
from inspector.timebase import format_duration

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from inspector.clocks.sources.wake_errors import WakeErrorSummary
    from inspector.commands.command import Capability, Command
    from inspector.commands.undoing import Undoing
    from inspector.events.recording import Recording
    from inspector.events.timeline import Timeline
    from inspector.sessions.breakpoints.breakpoints import Breakpoints
    from inspector.sessions.recorder import Recorder

#: So many of the newest events are in the log; the history has all of them.
NEWEST: Final = 200_000


class RecordedSession:
    """Shows a recording as it was when it ended; its history goes back to its start.

    Attributes:
        annotations: Those in the file; every change is written there before it counts, and
            nothing else ever is.
    """

    def __init__(self, path: Path) -> None:
        """Open a recording.

        Raises:
            RecordingError: It cannot be opened; the message says why.
        """
        self._path = path
        self._recording = recording = open_recording(path)
        start = recording.whole_since(max(recording.first, recording.end - NEWEST))
        events = recording.events(start, recording.end)
        base = recording.state_before(start)
        self._log = EventLog.holding(recording.strings, events, start, base)
        self._timeline = recording.state_before(recording.end)
        self._unreported = len(events)
        self._is_closed = False
        self.annotations = Annotations(recording.annotations, self._write)
        self._numbers = {each.id for each in self.annotations}

    @override
    def __repr__(self) -> str:
        """Show the file."""
        return f"<RecordedSession {self._path.name}>"

    @property
    def log(self) -> EventLog:
        """The newest events, and the state before them."""
        return self._log

    @property
    def history(self) -> Recording:
        """Everything that was recorded."""
        return self._recording

    @property
    def timeline(self) -> Timeline:
        """The state at the end of the recording."""
        return self._timeline

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Nothing: what was recorded is not changed."""
        return frozenset()

    @property
    def is_recorded(self) -> bool:
        """True: all of it has passed."""
        return True

    @property
    def recorder(self) -> Recorder | None:
        """None: it is a file."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """What is missing in the file, as sentences."""
        return self._recording.notes

    @property
    def status(self) -> SessionStatus:
        """What was recorded, and whether something is missing."""
        if self._is_closed:
            return SessionStatus(SessionPhase.EMPTY, "No recording is open.")
        recording, frames = self._recording, self._timeline.frames
        length = format_duration(recording.last_ns - recording.first_ns)
        count = f"{len(frames):,} {'frame' if len(frames) == 1 else 'frames'}"
        message = f"Recording of {recording.title}: {length}, {count}."
        if recording.notes:
            message += f" {recording.notes[0]}"
        return SessionStatus(
            SessionPhase.HELD, message, "\n".join(recording.notes[1:]), str(self._path)
        )

    @property
    def title(self) -> str:
        """What the recorded scene is called."""
        return self._recording.title

    @property
    def source_label(self) -> str:
        """The path of the file."""
        return str(self._path)

    @property
    def frame_rate(self) -> Fraction:
        """Frames per second that were asked for when the recording began."""
        return rate_in_file(self._recording.meta.get("frame_rate")) or DEFAULT_FRAME_RATE

    @property
    def wake_errors(self) -> WakeErrorSummary | None:
        """Not known of the past."""
        return None

    @property
    def breakpoints(self) -> Breakpoints | None:
        """None: nothing can be stopped that has happened."""
        return None

    @property
    def undoing(self) -> Undoing | None:
        """None: nothing can be changed that has happened."""
        return None

    def _write(self, changes: Sequence[AnnotationChange]) -> list[int]:
        """Write changes of the annotations into the file; returns the numbers they have there.

        Raises:
            RecordingError: The file cannot be written.
        """
        known = self._numbers
        # Another program may have written into the file since: it numbers what is new.
        wanted = [
            each if isinstance(each, int) or each.id in known else replace(each, id=0)
            for each in changes
        ]
        numbers = annotate_all(self._path, wanted)
        known.update(numbers)
        return numbers

    def submit(self, _command: Command) -> None:
        """Do nothing: see :attr:`capabilities`."""

    def refresh(self) -> int:
        """Return how many events are new: all of them, the first time."""
        count, self._unreported = self._unreported, 0
        return count

    def close(self) -> None:
        """Let go of the file."""
        if not self._is_closed:
            self._is_closed = True
            self._recording.close()
