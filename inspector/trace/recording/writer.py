"""Recording a session while it runs: its thread hands events over, another one writes."""

from __future__ import annotations

import sqlite3
from queue import SimpleQueue
from threading import Thread
from time import monotonic_ns, sleep
from typing import TYPE_CHECKING, Final

from inspector.timebase import NS_PER_MS
from inspector.trace.recording.file import About, RecordingFile, reserve
from inspector.trace.recording.layout import CHUNK_EVENTS, RecordingError
from inspector.trace.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from inspector.trace.annotations import AnnotationChange
    from inspector.trace.log import EventLog
    from inspector.vocabulary import RawEvent


#: Events are handed over, and committed, at least this often.
HAND_OVER_NS: Final = 400 * NS_PER_MS
_COMMIT_NS: Final = 500 * NS_PER_MS
#: More than these wait for a slow disk in the log itself, which may lose them.
MOST_WAITING: Final = 1_000_000
#: Whoever has the time waits for the disk when so many have to be written.
PATIENT_WAITING: Final = 100_000
_PATIENCE_S: Final = 0.001


class _Portion:
    """What is handed over at once.

    Attributes:
        events: The next events.
        texts: What has come to the string table.
        gap: The state and cursor behind a gap before the events, ``None`` without one.
        annotations: What people have left meanwhile.
    """

    __slots__ = ("annotations", "events", "gap", "texts")

    def __init__(
        self,
        events: list[RawEvent],
        texts: list[str],
        gap: tuple[Timeline, int] | None,
        annotations: Sequence[AnnotationChange] = (),
    ) -> None:
        self.events = events
        self.texts = texts
        self.gap = gap
        self.annotations = annotations


class RecordingWriter:
    """Writes a log to a file from a thread of its own.

    :meth:`start`, :meth:`pump` and :meth:`stop` are for the thread that owns the log. An
    error of the disk ends the recording, and nothing else: see :attr:`problem`.

    Attributes:
        path: The file.
        lost: Events that fell off the log before they could be handed over.
    """

    def __init__(
        self,
        path: Path,
        log: EventLog,
        about: About | None = None,
        *,
        start: tuple[Timeline, int] | None = None,
    ) -> None:
        """Prepare; nothing is written yet.

        Args:
            path: The file; must not exist.
            log: What to record.
            about: What the recording says of itself.
            start: State and cursor to begin with, as a timeline of its own; else from the
                oldest event that is kept.
        """
        self.path = path
        self.lost = 0
        self._log = log
        self._about = about or About()
        self._start = start
        self._cursor = log.first if start is None else start[1]
        self._texts = 0
        self._portions: SimpleQueue[_Portion | None] = SimpleQueue()
        self._handed = self._written = 0
        self._hand_over_at_ns = 0
        self._problem = ""
        self._is_stopped = False
        self._thread: Thread | None = None

    @property
    def problem(self) -> str:
        """Why nothing is recorded any more, as a sentence; empty while all is well."""
        return self._problem

    @property
    def is_recording(self) -> bool:
        """Whether it was started, and neither stopped nor ended by a problem."""
        return self._thread is not None and not self._is_stopped and not self._problem

    @property
    def events(self) -> int:
        """How many events were handed over."""
        return self._handed

    def start(self) -> None:
        """Create the file, and hand over what the log has kept.

        Raises:
            RecordingError: There is such a file, or it cannot be created.
        """
        if self._start is None:
            self._start = (self._log.base.copy(), self._log.first)
        # Here, so that whoever asked for it is told at once why it cannot be.
        reserve(self.path)
        self._thread = Thread(target=self._write_all, name="recording", daemon=True)
        self._thread.start()
        self.pump(at_once=True)

    @property
    def is_writing(self) -> bool:
        """Whether something is still on its way to the disk."""
        return self._thread is not None and self._thread.is_alive()

    def pump(
        self, *, at_once: bool = False, is_patient: bool = False, is_last: bool = False
    ) -> None:
        """Hand over what is new, if it is time to; called after every wake-up.

        Args:
            at_once: Whether to do so whatever the time.
            is_patient: Whether to wait for a slow disk, so that nothing is lost.
            is_last: Whether there will be no other chance, so that nothing may wait.
        """
        log = self._log
        count = log.end - self._cursor
        if not at_once and count < CHUNK_EVENTS and monotonic_ns() < self._hand_over_at_ns:
            return
        if not count or not self.is_recording:
            return
        while is_patient and self._handed - self._written > PATIENT_WAITING and self.is_recording:
            sleep(_PATIENCE_S)
        if self._handed - self._written > MOST_WAITING and not is_last:
            return
        self._hand_over_at_ns = monotonic_ns() + HAND_OVER_NS
        gap = None
        if log.first > self._cursor:
            self.lost += log.first - self._cursor
            self._cursor = log.first
            gap = (log.base.copy(), log.first)
        events = log.slice(self._cursor, log.end)
        texts = log.strings[self._texts :]
        self._texts += len(texts)
        self._cursor += len(events)
        self._handed += len(events)
        self._portions.put(_Portion(events, texts, gap))

    def annotate(self, changes: Sequence[AnnotationChange]) -> None:
        """Have annotations written into the file, or taken out of it, in this order."""
        if changes and self.is_recording:
            self._portions.put(_Portion([], [], None, changes))

    def stop(self) -> None:
        """Write what is left and close the file; waits for the disk."""
        if self._thread is not None:
            self.finish()
            self._thread.join()

    def finish(self) -> None:
        """Have what is left written and the file closed, without waiting for the disk."""
        if self._thread is None or self._is_stopped:
            return
        self.pump(at_once=True, is_last=True)
        self._is_stopped = True
        self._portions.put(None)

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
            self._problem = disk_problem(self.path, error)
            if file is not None:
                file.abandon()
        except Exception as error:  # noqa: BLE001 - a fault here must not stop the session
            self._problem = f"{self.path.name} could not be recorded any further: {error!r}."
            if file is not None:
                file.abandon()

    def _write_portions(self, file: RecordingFile) -> None:
        committed_ns = 0
        while (portion := self._portions.get()) is not None:
            file.add_strings(portion.texts)
            if portion.gap is not None:
                file.skip_to(*portion.gap)
            file.annotate(portion.annotations)
            events = portion.events
            for start in range(0, len(events), CHUNK_EVENTS):
                file.add(events[start : start + CHUNK_EVENTS])
                # The thread that runs the scene goes first.
                sleep(0)
            if monotonic_ns() - committed_ns > _COMMIT_NS or self._portions.empty():
                file.commit()
                committed_ns = monotonic_ns()
            self._written += len(events)


def disk_problem(path: Path, error: Exception) -> str:
    """Return why nothing more can be recorded, as a sentence."""
    text = str(error)
    if "full" in text:
        return f"The disk is full: {path.name} ends here. Free some space and record again."
    reason = getattr(error, "strerror", None) or text
    return f"{path.name} cannot be written any more ({reason}); it ends here."
