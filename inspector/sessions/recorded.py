"""The recorded session: a file instead of a running scene."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final

from msgspec import structs
from typing_extensions import override

from inspector.analysis.statistics.frame_budget import rate_in_file
from inspector.clocks.rate import DEFAULT_FRAME_RATE
from inspector.display_text import counted
from inspector.events.annotations import AnnotationChange
from inspector.events.log import EventLog
from inspector.events.recording import Recording, open_recording
from inspector.events.recording.annotations import annotate_all
from inspector.events.recording.pictures import cost_text
from inspector.events.timeline import Timeline
from inspector.pictures.pictures import Picture, unpacked
from inspector.sessions.annotations import Annotations
from inspector.sessions.session import (
    PastSession,
    SessionPhase,
    SessionStatus,
    ShownLoop,
    frames_wait,
    loops_of,
)
from inspector.timebase import format_duration

#: The size of the log, in events; the history has all events.
NEWEST: Final = 200_000


class RecordedPictures:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._last: tuple[int, Picture] | None = None
        self.is_watched = False  # Has no effect, as no new pictures come
        self.failure = ""  # Why the picture last asked for cannot be shown; empty if it can

    @property
    def is_described(self) -> bool:
        return self._recording.pictures.count > 0

    @property
    def newest(self) -> Picture | None:
        return self.at(self._recording.pictures.frames[1])

    @property
    def brief(self) -> str:
        blocks = self._recording.pictures
        if not blocks.count:
            return ""
        first, last = blocks.frames
        rate = float(rate_in_file(self._recording.meta.get("frame_rate")) or DEFAULT_FRAME_RATE)
        return f"{blocks.count:,}, {cost_text(blocks.bytes, last - first + 1, rate)}"

    def at(self, frame: int) -> Picture | None:
        self.failure = ""
        try:
            found = self._recording.pictures.at(frame)
            if found is None:
                return None
            if self._last is None or self._last[0] != found[0]:
                self._last = found[0], unpacked(found[1])
        except ValueError as error:
            self._last = None
            self.failure = f"The file is damaged: this picture cannot be read ({error})."
            return None
        return self._last[1]


class RecordedSession(PastSession):
    """Shows a recording as it was when it ended; its history goes back to its start."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.history = recording = open_recording(path)  # Everything that was recorded
        self.log, self.timeline = self._read()
        self.pictures = RecordedPictures(recording)
        self.title = recording.title
        self._unreported = len(self.log)
        # The annotations in the file. Each change is first written there; nothing else in the
        # file is ever changed
        self.annotations = Annotations(recording.annotations, self._write)
        self._numbers = {each.id for each in self.annotations}

    def _read(self) -> tuple[EventLog, Timeline]:
        recording = self.history
        start = recording.whole_since(max(recording.first, recording.end - NEWEST))
        events = recording.events(start, recording.end)
        log = EventLog.holding(recording.strings, events, start, recording.state_before(start))
        return log, recording.state_before(recording.end)

    @property
    def loops(self) -> tuple[ShownLoop, ...]:
        """The loops of the recorded programs; none for a scene."""
        return loops_of(self.timeline)

    @property
    def frames_of(self) -> int:
        return self.history.frames_of

    def choose_loop(self, clock_id: int) -> str:
        if self._is_closed or clock_id == self.frames_of:
            return ""
        if clock_id not in self.timeline.loops:
            clock = self.timeline.clocks.get(clock_id)
            name = "this clock" if clock is None else f"“{clock.name}”"
            return f"No frames of {name} have been recorded."
        self.history.choose_frames(clock_id)
        self.log, self.timeline = self._read()
        self._unreported = len(self.log)
        return ""

    @property
    def notes(self) -> tuple[str, ...]:
        return self.history.notes

    @property
    def status(self) -> SessionStatus:
        if self._is_closed:
            return SessionStatus(SessionPhase.EMPTY, "No recording is open.")
        recording, frames = self.history, self.timeline.frames
        length = format_duration(recording.last_ns - recording.first_ns)
        message = f"Recording of {recording.title}: {length}, {counted(len(frames), 'frame')}."
        if recording.notes:
            message += f" {recording.notes[0]}"
        return SessionStatus(
            SessionPhase.HELD, message, "\n".join(recording.notes[1:]), str(self.path)
        )

    @property
    def frame_rate(self) -> Fraction:
        return rate_in_file(self.history.meta.get("frame_rate")) or DEFAULT_FRAME_RATE

    @property
    @override
    def waits(self) -> bool:
        return frames_wait(self.timeline, self.history.meta)

    def _write(self, changes: Sequence[AnnotationChange]) -> list[int]:
        """Write changes of annotations to the file; returns their numbers there."""
        known = self._numbers
        # The file numbers new annotations, as another program may have added some, too.
        wanted = [
            each if isinstance(each, int) or each.id in known else structs.replace(each, id=0)
            for each in changes
        ]
        numbers = annotate_all(self.path, wanted)
        known.update(numbers)
        return numbers

    def refresh(self) -> int:
        """Return how many events are new: at first, all in the log."""
        count, self._unreported = self._unreported, 0
        return count

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self.history.close()
