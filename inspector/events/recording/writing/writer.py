"""Recording a running session, whose thread hands events over to a writing thread."""

from __future__ import annotations

import errno
import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from time import monotonic_ns, sleep
from typing import Final

from inspector.errors import RecordingError, RecordingWriteError
from inspector.events.annotations import AnnotationChange
from inspector.events.blocks.packed_columns import EVENT_COLUMNS
from inspector.events.history import History, LogHistory
from inspector.events.log import EventLog
from inspector.events.recording.layout import CHUNK_EVENTS
from inspector.events.recording.writing.file import RecordingFile, RecordingInfo, reserve
from inspector.events.schema import COMMAND_DETAILS
from inspector.events.timeline import Timeline
from inspector.timebase import NS_PER_MS, NS_PER_SECOND
from inspector.vocabulary import Numbers, RawEvent

#: Events are committed to the file within this time, even if none follow.
COMMIT_NS: Final = 400 * NS_PER_MS
#: Most events handed over but not written; further ones wait in the log, which may drop them.
MOST_WAITING: Final = 1_000_000
#: With more events to be written than this, a patient caller waits for the disk.
PATIENT_WAITING: Final = 100_000
#: Most bytes of pictures that wait for a slow disk; further pictures are left out.
_PICTURES_WAITING: Final = 64 << 20
#: With this many events, writing starts at once.
ENOUGH: Final = 4 * CHUNK_EVENTS
#: Events per commit, as many as the database caches, so that each page is written once.
_COMMITTED_AT_ONCE: Final = 16 * CHUNK_EVENTS
_GATHERED_NUMBERS: Final = CHUNK_EVENTS * EVENT_COLUMNS
_PATIENCE_S: Final = 0.001
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class _Portion:
    __slots__ = ("annotations", "gap", "pieces", "texts")

    def __init__(
        self,
        pieces: list[Numbers],
        texts: list[str],
        gap: tuple[Timeline, int] | None,
        annotations: Sequence[AnnotationChange] = (),
    ) -> None:
        self.pieces = pieces  # The next events, five numbers each
        self.texts = texts
        self.gap = gap  # State and cursor after a gap that precedes the events, or None
        self.annotations = annotations  # Changes of annotations since the last portion


class RecordingWriter:
    """Writes a log to a file in a separate thread.

    :meth:`start`, :meth:`pump` and :meth:`stop` are for the thread that owns the log. A disk error
    ends the recording only: see :attr:`problem`.
    """

    def __init__(
        self,
        path: Path,
        log: EventLog,
        about: RecordingInfo | None = None,
        *,
        start: tuple[Timeline, int] | None = None,
    ) -> None:
        """Prepare a recording.

        Args:
            start: State and cursor to begin with; by default those of the oldest event kept.
        """
        self.path = path
        # lost: Number of events dropped from the log before they could be handed over
        # lost_pictures: Number of pictures that a slow disk has left out
        self.lost = self.lost_pictures = 0
        # picture_bytes: What the pictures take in the file
        # picture_frames: Number of frames that the pictures span
        self.picture_bytes = self.picture_frames = 0
        self._pictures: deque[tuple[int, bytes]] = deque()
        self._pictures_waiting = self._pictures_taken = 0
        self._lost_frame = -1
        self._log = log
        self._about = about or RecordingInfo()
        self._start = start
        self._texts = 0
        self._portions: deque[_Portion] = deque()
        self._handed = self._written = 0
        self.committed = 0  # Number of events safe in the file
        # Deadline of the next commit, on the monotonic clock.
        self._due_ns = 0
        # _has_enough: there is enough to start writing at once.
        self._has_some, self._has_enough = Event(), Event()
        self._is_hurried = False
        self.problem = ""  # Why recording has ended, as a sentence; empty while all is well
        self._is_stopped = False
        self._thread: Thread | None = None

    @property
    def is_recording(self) -> bool:
        """Whether it was started, and neither stopped nor ended by a problem."""
        return self._thread is not None and not self._is_stopped and not self.problem

    @property
    def events(self) -> int:
        return self._handed

    def start(self) -> None:
        """Create the file, and hand over the events in the log."""
        if self._start is None:
            self._start = (self._log.base.copy(), self._log.first)
        timeline, cursor = self._start
        self._cursor = begin_behind_command(self._log.slice, timeline, cursor)
        self._start = (timeline, self._cursor)
        # Created in this thread, so that the caller gets the error if that fails.
        reserve(self.path)
        self._thread = Thread(target=self._write_all, name="recording", daemon=True)
        self._thread.start()
        self.pump()

    @property
    def is_writing(self) -> bool:
        """Whether something is not on disk yet."""
        return self._thread is not None and self._thread.is_alive()

    def pump(
        self, *, at_once: bool = False, is_patient: bool = False, is_last: bool = False
    ) -> None:
        """Hand over new events; called after every wake-up.

        They are in the file within half a second, even without another call, or with ``at_once`` as
        soon as possible. With ``is_patient``, the call waits for a slow disk, so that nothing is
        lost. With ``is_last``, everything is handed over, however much is waiting.
        """
        log = self._log
        end = log.end
        if not self.is_recording or end == self._cursor:
            return
        while is_patient and self._is_behind(PATIENT_WAITING):
            sleep(_PATIENCE_S)
        while is_patient and self._are_pictures_behind(_PICTURES_WAITING // 2):
            self._has_enough.set()
            sleep(_PATIENCE_S)
        if self._is_behind(MOST_WAITING) and not is_last:
            return
        gap = self._skip_lost() if log.first > self._cursor else None
        texts = log.strings[self._texts :]
        pieces = log.pieces(self._cursor, end)
        self._texts += len(texts)
        self._handed += end - self._cursor
        self._cursor = end
        self._portions.append(_Portion(pieces, texts, gap))
        self._has_some.set()
        if at_once:
            self._is_hurried = True
        if at_once or self._handed - self._written >= ENOUGH:
            self._has_enough.set()

    def add_picture(self, frame: int, packed: bytes) -> None:
        """Hand over the picture of a frame; a picture of the same frame replaces it."""
        if not self.is_recording:
            return
        if self._are_pictures_behind(_PICTURES_WAITING):
            # A held scene draws its frame again, which counts once.
            self.lost_pictures += frame != self._lost_frame
            self._lost_frame = frame
            return
        self._pictures_waiting += len(packed)
        self._pictures.append((frame, packed))
        self._has_some.set()

    def _are_pictures_behind(self, size: int) -> bool:
        return self._pictures_waiting - self._pictures_taken > size and self.is_recording

    def _is_behind(self, events: int) -> bool:
        return self._handed - self._written > events and self.is_recording

    def _skip_lost(self) -> tuple[Timeline, int]:
        """Continue after events dropped from the log; returns the state and cursor there."""
        log = self._log
        timeline = log.base.copy()
        cursor = begin_behind_command(log.slice, timeline, log.first)
        self.lost += cursor - self._cursor
        self._cursor = cursor
        return timeline, cursor

    def annotate(self, changes: Sequence[AnnotationChange]) -> None:
        if changes and self.is_recording:
            self._portions.append(_Portion([], [], None, changes))
            self._is_hurried = True
            self._has_some.set()
            self._has_enough.set()

    def stop(self) -> None:
        """Write the rest and close the file; waits for the disk."""
        if self._thread is not None:
            self.finish()
            self._thread.join()

    def finish(self) -> None:
        """Request writing the rest and closing the file, without waiting for the disk."""
        if self._thread is None or self._is_stopped:
            return
        self.pump(at_once=True, is_last=True)
        self._is_stopped = True
        self._has_some.set()
        self._has_enough.set()

    # ---------------------------------------------------------- the other thread

    def _write_all(self) -> None:
        file: RecordingFile | None = None
        try:
            assert self._start is not None, "set before the thread is started"
            timeline, cursor = self._start
            self._start = None
            file = RecordingFile(self.path, self._about, timeline, cursor, is_reserved=True)
            self._write_portions(file)
            file.finish()
        except (sqlite3.Error, OSError, RecordingError) as error:
            self._abandon(file, error)
            self.problem = disk_problem(self.path, error)
        except Exception as error:  # noqa: BLE001 - a fault here must not stop the session
            self.problem = f"{self.path.name} could not be recorded any further: {error!r}."
            self._abandon(file, error)

    def _abandon(self, file: RecordingFile | None, error: Exception) -> None:
        """Keep what was committed; of a recording that did not begin, nothing remains."""
        if file is not None:
            file.abandon(end_reason(error))
        else:
            with suppress(OSError):
                if not self.path.stat().st_size:
                    self.path.unlink()

    def _write_portions(self, file: RecordingFile) -> None:
        # The first commit must not wait: without it the file is not a recording.
        wait_ns = 0
        while not self._is_stopped or self._portions or self._pictures:
            self._has_some.wait()
            self._due_ns = monotonic_ns() + wait_ns
            wait_ns = COMMIT_NS
            is_due = False
            while not is_due:
                self._has_enough.wait(max(0, self._due_ns - monotonic_ns()) / NS_PER_SECOND)
                self._has_enough.clear()
                is_due = self._is_hurried or self._is_stopped or monotonic_ns() >= self._due_ns
                if is_due:
                    self._is_hurried = False
                    self._has_some.clear()
                self._write_waiting(file)
            self._commit(file)

    def _write_waiting(self, file: RecordingFile) -> None:
        portions = self._portions
        # A wake-up hands over about a dozen events; adding many of them together is far cheaper.
        gathered: list[int] = []
        while portions:
            portion = portions.popleft()
            if portion.texts:
                file.add_strings(portion.texts)
            if portion.gap is not None:
                self._add(file, gathered)
                gathered = []
                file.skip_to(*portion.gap)
            if portion.annotations:
                file.annotate(portion.annotations)
            for piece in portion.pieces:
                if isinstance(piece, list):
                    gathered += piece
                    if len(gathered) < _GATHERED_NUMBERS:
                        continue
                self._add(file, gathered)
                gathered = []
                if not isinstance(piece, list):
                    self._add(file, piece)
        self._add(file, gathered)

        while self._pictures:
            frame, packed = self._pictures.popleft()
            self._pictures_taken += len(packed)
            file.pictures.add(frame, packed)

    def _add(self, file: RecordingFile, numbers: Numbers) -> None:
        file.add_numbers(numbers)
        self._written += len(numbers) // EVENT_COLUMNS
        is_much = self._written - self.committed >= _COMMITTED_AT_ONCE
        # Commit here too, as events may come without a pause, such as from a run in virtual time.
        if is_much or monotonic_ns() >= self._due_ns:
            self._commit(file)

    def _commit(self, file: RecordingFile) -> None:
        file.commit()
        self.picture_bytes, self.picture_frames = file.pictures.bytes, file.pictures.frames
        self.committed = self._written
        self._due_ns = monotonic_ns() + COMMIT_NS


def begin_behind_command(
    events: Callable[[int, int], Sequence[RawEvent]], timeline: Timeline, cursor: int
) -> int:
    """Return the cursor after any details of a command that come before ``cursor``.

    Those details are folded into ``timeline``: a recording must not begin between a command and
    its details.
    """
    while (found := events(cursor, cursor + 1)) and found[0][1] in COMMAND_DETAILS:
        timeline.apply_all(found)
        cursor += 1
    return cursor


def disk_problem(path: Path, error: Exception) -> str:
    """Return a sentence that says why recording has to end, or cannot begin."""
    text = str(error)
    if isinstance(error, RecordingError):
        return text
    is_begun = path.exists()
    if is_full(error):
        what = "ends here" if is_begun else "could not be begun"
        return f"The disk is full: {path.name} {what}. Free some space and record again."
    reason = getattr(error, "strerror", None) or text
    if not is_begun:
        return f"{path.name} cannot be written ({reason})."
    return f"{path.name} can no longer be written ({reason}); it ends here."


def is_full(error: Exception) -> bool:
    return getattr(error, "errno", None) in _FULL or "disk is full" in str(error)


def end_reason(error: Exception) -> str:
    """Return why a recording ended early, as part of a sentence in the past tense."""
    return "the disk was full" if is_full(error) else f"it could not be written ({error})"


def save_last(
    past: EventLog | History, path: Path, seconds: float, about: RecordingInfo | None = None
) -> int:
    """Write the last seconds of a session, or all of a shorter one, and the state before them."""
    if not seconds > 0:
        raise ValueError(f"the time to save must be above 0 seconds: {seconds}")
    history = LogHistory(past) if isinstance(past, EventLog) else past
    since_ns = history.last_ns - round(seconds * NS_PER_SECOND)
    first = history.first if since_ns <= 0 else max(history.cursor_at(since_ns), history.first)
    timeline = history.state_before(first)
    first = begin_behind_command(history.events, timeline, first)
    events = history.events(first, history.end)
    file = RecordingFile(path, about or RecordingInfo(), timeline, first)
    try:
        file.add_strings(list(history.strings))
        file.add(events)
        file.finish()
    except (sqlite3.Error, OSError, RecordingError) as error:
        file.abandon(end_reason(error))
        raise RecordingWriteError(disk_problem(path, error)) from error
    return len(events)
