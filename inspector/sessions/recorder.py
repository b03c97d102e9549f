"""The recorder of a session: the files it writes, and their outcomes."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from datetime import datetime
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import platformdirs
from msgspec import Struct

from inspector.errors import InspectorError, RecordingWriteError
from inspector.events.annotations import AnnotationChange
from inspector.events.conditions.breakpoint import DEFAULT_SAVED_NS, BreakAction, Breakpoint
from inspector.events.history import LogHistory
from inspector.events.log import EventLog
from inspector.foreign.paths import RECORDING_SUFFIX, is_there

if TYPE_CHECKING:
    from inspector.events.recording import RecordingInfo, RecordingWriter
    from inspector.events.timeline import Timeline
    from inspector.pictures.pictures import Pictures
    from inspector.sessions.annotations import Annotations
    from inspector.sessions.breakpoints.breakpoints import BreakpointHit


_MOST_NAMES: Final = 10_000
#: Outcomes are limited because a breakpoint may fail to record in every frame.
_MOST_OUTCOMES: Final = 10_000


class RecordingOutcome(Struct, frozen=True):
    path: Path | None
    problem: str = ""
    picture_cost: str = ""


class Recordable(Protocol):
    annotations: Annotations

    @property
    def frame_rate(self) -> Fraction:
        """Target frames per second."""

    @property
    def log(self) -> EventLog: ...

    @property
    def history(self) -> LogHistory: ...

    @property
    def generation(self) -> int:
        """How often it was reloaded; going back in time does not count."""

    @property
    def frames_run(self) -> int: ...

    @property
    def present_ns(self) -> int: ...

    @property
    def about(self) -> RecordingInfo: ...

    @property
    def file_stem(self) -> str:
        """Its name as a part of file names."""

    @property
    def can_wait(self) -> bool:
        """Whether its time can wait for the disk."""


class Recorder:
    """Writes a session to files, one for each run of its scene.

    A recording contains one run: when the scene is reloaded or taken back in time, another file
    begins, named after the first. After going back it begins with the first new frame, so that
    going back step by step does not leave a file per step. A disk error ends the recording and
    is reported by :meth:`outcomes_since`; the session continues.
    """

    def __init__(self, session: Recordable, pictures: Pictures | None = None) -> None:
        # Whether files that begin from now on contain the pictures of the scene
        self.keeps_pictures = True
        self._pictures = pictures
        self._session = session
        self._writer: RecordingWriter | None = None
        self._log: EventLog | None = None
        self._path: Path | None = None
        self._generation = 0
        self._waits_behind: int | None = None
        self._ending: list[RecordingWriter] = []
        self.folder: Path | None = None  # The folder of recordings without a given name
        self._outcomes: deque[RecordingOutcome] = deque(maxlen=_MOST_OUTCOMES)
        self.outcome_count = 0

    @property
    def path(self) -> Path | None:
        """The present or last file; ``None`` when nothing is recorded."""
        if not self.is_recording:
            return None
        return self._path if self._writer is None else self._writer.path

    @property
    def is_recording(self) -> bool:
        """Whether a file is being written, or will be with the next frame."""
        if self._waits_behind is not None:
            return True
        return self._writer is not None and self._writer.is_recording

    @property
    def is_writing(self) -> bool:
        """Whether a file is open, whose outcome may change without an event."""
        return self._writer is not None or bool(self._ending)

    def outcomes_since(self, count: int) -> list[RecordingOutcome]:
        """Return the outcomes of recordings since an :attr:`outcome_count`, the newest last.

        Only the newest ``_MOST_OUTCOMES`` are kept.
        """
        forgotten = self.outcome_count - len(self._outcomes)
        return list(islice(self._outcomes, max(0, count - forgotten), None))

    @property
    def saved(self) -> list[Path]:
        """The complete files, the newest last."""
        return [each.path for each in self._outcomes if each.path and not each.problem]

    @property
    def problem(self) -> str:
        """The last error as a sentence; empty for none."""
        return next((each.problem for each in reversed(self._outcomes) if each.problem), "")

    def note_problem(self, problem: str) -> None:
        self._note(RecordingOutcome(None, problem))

    def _note(self, outcome: RecordingOutcome) -> None:
        self._outcomes.append(outcome)
        self.outcome_count += 1

    @property
    def lost(self) -> int:
        """How many events were lost because they came faster than they could be written."""
        return 0 if self._writer is None else self._writer.lost

    def start(self, path: Path | None = None) -> None:
        """Record from now on, including the events in the log.

        Without a path, it goes to a new file in :attr:`folder`.
        """
        if self.is_recording:
            raise RecordingWriteError(f"{self.path} is being recorded already. Stop that first.")
        self._start(path or self._new_path())

    def _start(self, path: Path) -> None:
        self._drop_writer()
        writer = self._writer_of(path)
        writer.start()
        writer.annotate(self._session.annotations.within(self._session.history.first_ns))
        self._add_pictures(writer, -1)
        if self._pictures is not None and self.keeps_pictures:
            self._pictures.is_recorded, self._pictures.keep = True, writer.add_picture
        self._writer, self._log, self._path = writer, self._session.log, path
        self._generation = self._session.generation

    def _writer_of(self, path: Path, start: tuple[Timeline, int] | None = None) -> RecordingWriter:
        # Imported here, as it takes 2 MB with SQLite, which sessions without a recording save.
        from inspector.events.recording import RecordingWriter  # noqa: PLC0415

        return RecordingWriter(path, self._session.log, self._session.about, start=start)

    def _add_pictures(self, writer: RecordingWriter, frame: int) -> None:
        if self._pictures is not None and self.keeps_pictures:
            for number, packed in self._pictures.since(frame):
                writer.add_picture(number, packed)

    @property
    def picture_cost(self) -> str:
        """The space that the pictures of the recording take or will take; empty without any."""
        pictures, writer = self._pictures, self._writer
        if pictures is None or pictures.keep is None or writer is None:
            return ""
        if writer.picture_bytes:
            return self._cost_of(writer)
        from inspector.events.recording.pictures import bytes_a_frame  # noqa: PLC0415 - as above

        kept = [packed for _, packed in pictures.since(-1)]
        return self._picture_cost(bytes_a_frame(kept), 1) if kept else ""

    def _cost_of(self, writer: RecordingWriter) -> str:
        """Return the space that the pictures in a file take, and how many a slow disk lost."""
        lost = writer.lost_pictures
        texts = [
            self._picture_cost(writer.picture_bytes, writer.picture_frames)
            if writer.picture_bytes
            else "",
            f"{lost:,} left out because the disk is slow" if lost else "",
        ]
        return ", ".join(filter(None, texts))

    def _picture_cost(self, size: float, frames: int) -> str:
        from inspector.events.recording.pictures import cost_text  # noqa: PLC0415 - as above

        return cost_text(size, frames, float(self._session.frame_rate))

    def stop(self) -> None:
        """End the recording; waits for the disk."""
        self._drop_writer()
        self._path = self._waits_behind = None
        if self._pictures is not None:
            self._pictures.is_recorded = False

    def _drop_writer(self) -> None:
        writer, self._writer = self._writer, None
        if self._pictures is not None:
            self._pictures.keep = None
        if writer is not None:
            writer.stop()
            self._note_end(writer)

    def _note_end(self, writer: RecordingWriter) -> None:
        self._note(RecordingOutcome(writer.path, writer.problem, self._cost_of(writer)))

    def save_last(self, duration_ns: int, path: Path | None = None) -> Path:
        """Save the last stretch of session time to a file, in another thread; returns the file.

        Without a path, it is a new file in :attr:`folder`.
        """
        path = path or self._new_path()
        history = self._session.history
        since_ns = history.last_ns - duration_ns
        first = history.first
        if since_ns > 0:
            first = max(history.cursor_at(since_ns), first)
        start = (history.state_before(first), first)
        writer = self._writer_of(path, start)
        writer.start()
        since_ns = max(since_ns, history.first_ns)
        writer.annotate(self._session.annotations.within(since_ns, self._session.present_ns))
        self._add_pictures(writer, start[0].frames.end - 1)
        writer.finish()
        self._ending.append(writer)
        return path

    def record_annotations(self, changes: Sequence[AnnotationChange]) -> list[int]:
        writer = self._writer
        if writer is not None and self._session.log is self._log:
            # Otherwise another file is about to begin, and will begin with all annotations.
            writer.annotate(changes)
        return [each if isinstance(each, int) else each.id for each in changes]

    def record_hit(self, hit: BreakpointHit, breakpoint_: Breakpoint | None) -> None:
        try:
            match hit.action:
                case BreakAction.SAVE:
                    saved_ns = DEFAULT_SAVED_NS if breakpoint_ is None else breakpoint_.saved_ns
                    self.save_last(saved_ns)
                case BreakAction.START_RECORDING if not self.is_recording:
                    self.start()
                case BreakAction.STOP_RECORDING:
                    self.stop()
                case _:
                    pass
        except InspectorError as error:
            self.note_problem(str(error))

    def pump(self, *, at_once: bool = False) -> None:
        """Hand over new events; called after each wake-up and each refresh.

        With ``at_once`` they are written at once, because no later call may follow.
        """
        if self._ending and not self._ending[0].is_writing:
            self._note_end(self._ending.pop(0))
        writer = self._writer
        if writer is None and self._waits_behind is None:
            return
        if writer is not None and writer.problem:
            self.stop()
        elif self._session.log is not self._log:
            self._begin_other_run()
        elif writer is None:
            if self._waits_behind is not None and self._session.frames_run > self._waits_behind:
                self._go_on()
        else:
            writer.pump(at_once=at_once, is_patient=self._session.can_wait)

    def _begin_other_run(self) -> None:
        """End the file and continue in another; after going back, not before the next frame."""
        if self._session.generation != self._generation:
            self._go_on()
            return
        self._drop_writer()
        self._log, self._waits_behind = self._session.log, self._session.frames_run

    def _go_on(self) -> None:
        self._waits_behind = None
        path = self._path
        assert path is not None, "something is being recorded"
        try:
            self._start(_free_name(path))
            self._path = path
        except InspectorError as error:
            self.stop()
            self.note_problem(str(error))

    def close(self) -> None:
        self.pump()
        self.stop()
        for writer in self._ending:
            writer.stop()
            self._note_end(writer)
        self._ending.clear()

    def _new_path(self) -> Path:
        folder = self.folder or _default_folder()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RecordingWriteError(
                f"{folder} cannot be made: {error.strerror or error}."
            ) from None
        now = datetime.now().astimezone()
        stem = f"{self._session.file_stem} {now:%Y-%m-%d %H%M%S}"
        return _free_name(folder / f"{stem}{RECORDING_SUFFIX}")


def _free_name(path: Path) -> Path:
    names = (path.with_stem(f"{path.stem} {n}") for n in range(2, _MOST_NAMES))
    return path if not is_there(path) else next((n for n in names if not is_there(n)), path)


def _default_folder() -> Path:
    return Path(platformdirs.user_data_dir("timeline-inspector", appauthor=False)) / "recordings"
