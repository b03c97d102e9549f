"""The session of a capture, a file that another program has written."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from threading import Thread
from time import perf_counter_ns
from typing import Final

import numpy as np
from msgspec import Struct, structs

from inspector.clocks.rate import DEFAULT_FRAME_RATE
from inspector.display_text import counted
from inspector.errors import CaptureError
from inspector.events.annotations import KINDS, Annotation, AnnotationError
from inspector.events.log import EventLog
from inspector.events.timeline import Timeline
from inspector.formats.arrangement.frame_series import FrameSeries
from inspector.formats.captures.capture import NO_FRAMES, Capture, CaptureReader, Stream
from inspector.formats.frame_times import CAPTURED, Provenance
from inspector.sessions.annotations import Annotations
from inspector.sessions.capture_history import CaptureHistory
from inspector.sessions.frame_files import FrameFile, file_of, open_frame_file
from inspector.sessions.session import PastSession, SessionPhase, SessionStatus
from inspector.timebase import NS_PER_SECOND, format_duration

#: The size of the log, in events; the history has all events.
NEWEST: Final = 100_000
#: How long to read before the capture is first shown, and in each refresh after that.
_FIRST_NS: Final = 400_000_000
_SLICE_NS: Final = 40_000_000
#: With more events than this, arranging them in a refresh would be noticed.
_MOST_AT_ONCE: Final = 300_000
#: Rates of screens; frame times that slightly exceed the period of one are taken to keep it.
_RATES: Final = (30, 60, 75, 90, 120, 144, 165, 240, 360)


class CapturedSession(PastSession):
    """Shows one stream of a capture, all of it past.

    Of a long file, the beginning is shown as soon as it has been read, and the whole once all has;
    each refresh reads on. In the end the events are sorted in a thread of their own, and the next
    refresh shows them.
    """

    # The newest events, and the state before them; replaced when there is more to show
    log: EventLog
    history: CaptureHistory
    timeline: Timeline
    notes: tuple[str, ...]

    def __init__(
        self,
        path: Path,
        column: str | None = None,
        *,
        stream: str | None = None,
        clock: Callable[[], int] = perf_counter_ns,
    ) -> None:
        """Open a capture, and read its beginning for a limited time.

        Args:
            column: The column with frame times, for a table that does not say which it is.
            stream: The stream to show, or a part of its name.
            clock: Measures the time to read.
        """
        super().__init__(path)
        self._wanted = stream
        self._clock = clock
        self._broken_off_at: float | None = None
        self._reader: CaptureReader | None = None
        self._capture: Capture | None = None
        self._work: _Work | None = None
        self.annotations = Annotations()
        read = open_frame_file(path, column)
        if isinstance(read, FrameFile):
            # Names and numbers of frames of the streams to choose from
            self.streams: tuple[tuple[str, int], ...] = ()
            self.columns: tuple[str, ...] = ()  # Columns to choose from
            self.annotations = Annotations(_annotations_of(read))
            self._adopt(_arranged(read, None))
        else:
            self._reader = read
            self._begin(read)

    def _begin(self, reader: CaptureReader) -> None:
        is_more = self._read_for(reader, _FIRST_NS)
        while is_more:
            try:
                capture = reader.capture()
            except CaptureError:
                is_more = self._read_for(reader, _FIRST_NS)
            else:
                self._adopt(self._arranged(capture, is_complete=False))
                return
        self._reader = None
        self._adopt(self._arranged(reader.capture()))

    def _read_for(self, reader: CaptureReader, most_ns: int) -> bool:
        until_ns = self._clock() + most_ns
        while reader.read_on():
            if self._clock() >= until_ns:
                return True
        return False

    def _finish(self, reader: CaptureReader) -> None:
        """Sort what was read in a thread of its own, as that takes seconds for a large trace."""
        self._reader = None
        self._work = _Work(lambda: self._arranged(reader.capture()))

    def _arranged(self, capture: Capture, *, is_complete: bool = True) -> _Arranged:
        """Return the history to show of a capture; from any thread."""
        stream = self._stream_of(capture, is_complete=is_complete)
        return _arranged(_file_shown(capture, stream), capture, stream)

    def _stream_of(self, capture: Capture, *, is_complete: bool) -> Stream | None:
        """Return the stream to show, ``None`` if no slice of a trace is taken for a frame."""
        if self._wanted is None and capture.no_frames:
            return None
        try:
            return capture.stream(self._wanted)
        except CaptureError:
            if is_complete:
                raise
            # The stream that was asked for may come later in the file.
            return None if capture.no_frames else capture.stream()

    def _adopt(self, found: _Arranged) -> None:
        file, capture = found.file, found.capture
        if capture is not None:
            self._capture = capture
            self.streams = tuple((each.name, len(each)) for each in capture.streams)
            self.columns = capture.columns
        self.provenance: Provenance = file.provenance
        self.notes = file.notes
        # column: what the file calls the frame times
        # samples: why these are samples and not every frame; empty if they are all
        # facts: what else the file says about the frames, None for nothing
        self.samples, self.column, self.facts = file.samples, file.column, file.frames.facts
        # The other columns of the file, None for none
        self.beside = file.frames.beside
        # What the file does not have of the frames: delta, busy, both or nothing
        self.unknown = found.unknown
        self.stream = "" if found.stream is None else found.stream.name
        self.history, self.log, self.timeline = found.history, found.log, found.timeline
        self.frame_rate = found.rate
        self._unreported = len(found.log)

    def choose_stream(self, name: str) -> None:
        if self._capture is not None and name != self.stream:
            self._capture.stream(name)
            self._wanted = name
            capture = self._capture
            if self.history.end > _MOST_AT_ONCE:
                self._work = _Work(lambda: self._arranged(capture))
            else:
                self._adopt(self._arranged(capture))

    @property
    def format(self) -> str:
        return "frame times" if self._capture is None else self._capture.format

    @property
    def title(self) -> str:
        has_choice = len(self.streams) > 1 and self.stream
        return f"{self.path.name} – {self.stream}" if has_choice else self.path.name

    @property
    def status(self) -> SessionStatus:
        if self._is_closed:
            return SessionStatus(SessionPhase.EMPTY, "No capture is open.")
        if self._reader is not None:
            message = f"Reading {self.path.name}: {self._reader.done:.0%}."
            return SessionStatus(SessionPhase.READING, message, path=str(self.path))
        if self._work is not None:
            message = f"Sorting {self.path.name}: {self._work.took_ns // NS_PER_SECOND} s."
            return SessionStatus(SessionPhase.READING, message, path=str(self.path))
        count, what = len(self.timeline.frames), "sample" if self.samples else "frame"
        length = format_duration(self.history.last_ns)
        message = f"Capture ({self.format}): {length}, {counted(count, what)}."
        if self._broken_off_at is not None:
            message += f" Reading was cancelled at {self._broken_off_at:.0%}."
        return SessionStatus(SessionPhase.HELD, message, path=str(self.path))

    def refresh(self) -> int:
        """Read on; returns how many events are new in the log."""
        reader, work = self._reader, self._work
        if work is not None and work.is_over:
            self._work = None
            self._adopt(work.result())
        if reader is not None and not self._read_for(reader, _SLICE_NS):
            self._finish(reader)
        count, self._unreported = self._unreported, 0
        return count

    def break_off(self) -> None:
        reader = self._reader
        if reader is not None:
            self._broken_off_at = reader.done
            self._finish(reader)

    def close(self) -> None:
        self._is_closed = True
        self._reader = self._work = None


class _Arranged(Struct, frozen=True, eq=False):
    file: FrameFile
    capture: Capture | None
    stream: Stream | None  # The stream of the frames, if there is one
    history: CaptureHistory
    log: EventLog
    timeline: Timeline
    rate: Fraction  # The rate of a screen that most frames keep
    unknown: frozenset[str]  # What the file does not have of the frames


class _Work:
    """Arranges a capture in a thread of its own."""

    def __init__(self, arrange: Callable[[], _Arranged]) -> None:
        self._began_ns = perf_counter_ns()
        self._result: _Arranged | None = None
        self._error: BaseException | None = None

        def run() -> None:
            try:
                self._result = arrange()
            except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
                self._error = error

        self._thread = Thread(target=run, name="sorting a capture", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        return not self._thread.is_alive()

    @property
    def took_ns(self) -> int:
        return perf_counter_ns() - self._began_ns

    def result(self) -> _Arranged:
        if self._error is not None:
            raise self._error
        assert self._result is not None, "it is over"
        return self._result


def _file_shown(capture: Capture, stream: Stream | None) -> FrameFile:
    """Return the frames of a stream, without notes that the window shows in another way."""
    if stream is None:
        notes = (
            capture.no_frames.replace("Name a slice with --stream", "Choose one"),
            *capture.notes,
        )
        return structs.replace(file_of(capture, NO_FRAMES), notes=notes)
    is_said = capture.slices is None and len(capture.streams) > 1
    return structs.replace(file_of(capture, stream), notes=capture.notes_on(stream)[int(is_said) :])


def _arranged(file: FrameFile, capture: Capture | None, stream: Stream | None = None) -> _Arranged:
    history = CaptureHistory(file.frames, None if capture is None else capture.slices)
    start = max(0, history.end - NEWEST)
    events = history.events(start, history.end)
    log = EventLog.holding(history.strings, events, start, history.state_before(start))
    timeline = history.state_before(history.end)
    FrameSeries(timeline.frames).prepare()
    missing = {"delta": file.provenance.source == CAPTURED, "busy": not file.frames.busy_ns.any()}
    unknown = frozenset(name for name, is_missing in missing.items() if is_missing)
    shown = (history, log, timeline, _usual_rate(file), unknown)
    return _Arranged(file, capture, stream, *shown)


def _annotations_of(file: FrameFile) -> list[Annotation]:
    """Return the bookmarks, notes and ranges of a file that we exported; marks are bookmarks."""
    found: list[Annotation] = []
    for each in file.frames.markers:
        kind = each.kind if each.kind in KINDS else "bookmark"
        number = len(found) + 1
        with suppress(AnnotationError):
            found.append(Annotation(kind, each.at_ns, each.end_ns, each.name, each.text, id=number))
    return found


def _usual_rate(file: FrameFile) -> Fraction:
    """Return the highest rate of a screen that at least half of the frames keep."""
    times_ns = file.frames.interval_ns
    if file.provenance.frame_rate is not None:
        return file.provenance.frame_rate
    if not len(times_ns):
        return DEFAULT_FRAME_RATE
    median_ns = int(np.median(times_ns))
    kept = (rate for rate in reversed(_RATES) if median_ns <= 1.05 * NS_PER_SECOND / rate)
    return Fraction(next(kept, _RATES[0]))
