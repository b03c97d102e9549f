"""A capture: the frames, and the slices of threads, that another program has written to a file.

Every importer makes a :class:`Capture`. Its frames come as streams, one of which is shown:
a file may hold several processes and swap chains, and in a trace any slice may stand for a frame.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

import numpy as np
from msgspec import Struct, field, structs
from numpy.typing import NDArray

from inspector.analysis.statistics.time_series import NO_FACTS, FrameFacts
from inspector.display_text import counted, in_quotes, listed, one_line
from inspector.errors import CaptureError
from inspector.foreign.paths import is_there
from inspector.formats.captures.source import CUT_OFF
from inspector.formats.captures.trace_extras import NO_EXTRAS, Extras
from inspector.formats.frame_times import Beside, FrameTimes, NsColumn

#: Whole numbers in as few bytes as they need, because traces have millions of slices.
SliceColumn: TypeAlias = "NDArray[np.signedinteger[Any]]"
#: Further streams are not kept apart: a capture has a handful of them, a damaged one any number.
MOST_STREAMS: Final = 1_000
_LISTED_STREAMS: Final = 12
_OTHER_STREAMS: Final = 3
#: Programs write the year 1 for a date that they do not know.
_FIRST_YEAR: Final = 1970
SAMPLES: Final = "The log holds samples, not every frame: spikes between them are missing."
#: Longest name of a stream, a thread or a column.
LONGEST_NAME: Final = 80


class Stream(Struct, frozen=True, eq=False):
    """The frames of one program in a capture, in the order of the file."""

    name: str  # Program, process and swap chain, or thread and slice; empty if there is only one
    column: str  # What the file calls the frame times
    interval_ns: NsColumn  # The frame times
    # When each of them ended, from the beginning of the capture. None if that is unknown; then each
    # begins where the one before ended.
    at_ns: NsColumn | None = None
    # The part of each frame in which the program worked, None if unknown.
    busy_ns: NsColumn | None = None
    skipped: int = 0  # Rows without a usable value
    notes: tuple[str, ...] = ()  # Sentences on what was skipped
    samples: str = ""  # Why these are samples and not every frame; empty if they are all
    track: int = -1  # The track of its slices, -1 without slices
    facts: FrameFacts = NO_FACTS  # What else is known of the frames
    beside: Beside | None = None  # The columns beside their times, None if there are none to read

    def __len__(self) -> int:
        return len(self.interval_ns)

    def stream(self) -> Stream:
        return self

    def frames(self) -> FrameTimes:
        """Return the frames as columns; those that a capture does not have are 0."""
        index = np.arange(len(self), dtype=np.int64)
        at_ns = np.cumsum(self.interval_ns) if self.at_ns is None else self.at_ns
        times_ns = self.interval_ns
        frames = FrameTimes.of_columns(index, at_ns, times_ns, times_ns, self.busy_ns)
        return structs.replace(frames, samples=self.samples, facts=self.facts, beside=self.beside)


#: The stream of a trace in which no slice stands for a frame.
NO_FRAMES: Final = Stream("", "", np.zeros(0, dtype=np.int64))


class Track(Struct, frozen=True):
    """A thread, or another row of slices that follow or contain each other."""

    process: str  # Name of its process
    name: str  # Its own name


class Slices(Struct, frozen=True, eq=False):
    """The slices of a trace: named stretches of time on tracks. Instants last 0 ns."""

    tracks: tuple[Track, ...]
    names: tuple[str, ...]  # The names of slices
    # When each slice begins, from the beginning of the capture, int64. Slices are ordered by their
    # ends; of nested slices with the same end, the inner one is first.
    start_ns: NsColumn
    took_ns: SliceColumn  # Their durations; this and the next columns use as few bytes as needed
    track: SliceColumn  # Index of the track of each
    name: SliceColumn  # Index of the name of each
    extras: Extras = NO_EXTRAS  # Counters, flows between slices, and arguments of slices

    def __len__(self) -> int:
        return len(self.start_ns)

    def span_ns(self, place: int) -> tuple[int, int]:
        """Return when a slice began, and how long it took."""
        return int(self.start_ns[place]), int(self.took_ns[place])

    def count_until(self, at_ns: int) -> int:
        """Return how many slices have ended at or before an instant."""
        ends = range(len(self))
        return bisect_right(ends, at_ns, key=lambda place: sum(self.span_ns(place)))


class SliceStream:
    """Slices of one name on one track, each of which may stand for a frame."""

    def __init__(self, slices: Slices, places: NDArray[np.uint32]) -> None:
        self._slices = slices
        self._places = places
        self._track = int(slices.track[places[0]])
        self.column = short_name(slices.names[int(slices.name[places[0]])])
        track = slices.tracks[self._track]
        self.name = f"{self.column} ({track.process}, {track.name})"

    def __len__(self) -> int:
        return len(self._places)

    def spans(self) -> tuple[NsColumn, NsColumn]:
        """Return their starts, in order, and their durations."""
        start = self._slices.start_ns[self._places]
        took = self._slices.took_ns[self._places].astype(np.int64)
        if np.any(start[1:] < start[:-1]):
            order = np.argsort(start, kind="stable")
            start, took = start[order], took[order]
        return start, took

    def stream(self) -> Stream:
        """Return frames whose work is their slice; the first of them has no frame time."""
        start, took = self.spans()
        interval_ns = np.diff(start, prepend=start[0])
        return Stream(
            name=self.name,
            column=self.column,
            interval_ns=interval_ns,
            at_ns=start,
            busy_ns=np.minimum(took, np.append(interval_ns[1:], took[-1])),
            track=self._track,
        )


def frames_as_slices(frames: FrameTimes, process: str) -> Slices:
    """Return frames as slices from the instant of one to that of the next.

    The first slice is the first frame time, and an empty slice at the last instant follows. So read
    back, the slices give the same instants and frame times, after a first frame without a time.
    """
    at_ns = frames.at_ns
    begin_ns = np.maximum(at_ns[:1] - frames.interval_ns[:1], 0)
    start_ns = np.concatenate((begin_ns, at_ns))
    number = np.zeros(len(start_ns), np.int32)
    tracks, names = (Track(process, "frames"),), ("frame",)
    took_ns = np.diff(start_ns, append=start_ns[-1:])
    return Slices(tracks, names, start_ns, took_ns, number, number)


class Capture(Struct, frozen=True, eq=False):
    format: str  # The program or format that wrote it
    # The streams, the one to show by default first, then by their number of frames.
    streams: tuple[Stream | SliceStream, ...]
    slices: Slices | None = None  # The slices of a trace, None for a table of frames
    notes: tuple[str, ...] = ()  # Sentences about the whole file
    damaged: int = 0  # Events of a trace that could not be read
    columns: tuple[str, ...] = ()  # In a table, the columns that could be frame times
    no_frames: str = ""  # Why there is no stream to show by default; empty if there is
    path: Path = field(default_factory=Path)
    created: datetime | None = None  # When it was captured, as the file says, None if it does not

    def stream(self, wanted: str | None = None) -> Stream:
        """Return a stream by its name or a part of it, by default the one to show."""
        if wanted is None:
            if self.no_frames:
                raise CaptureError(self.no_frames)
            return self.streams[0].stream()
        if len(self.streams) == 1 and not self.streams[0].name:
            message = f"{self.path} has a single stream. Omit --stream."
            raise CaptureError(message)
        names = [each.name for each in self.streams]
        return self.streams[stream_named(wanted, names, self.path)].stream()

    def notes_on(self, stream: Stream) -> tuple[str, ...]:
        """Return what the user should know about a stream: which one it is, and what is missing."""
        samples = (stream.samples,) if stream.samples else ()
        return (*self._choice(stream), *stream.notes, *samples, *self.notes)

    def missing_of(self, stream: Stream) -> str:
        """Return what could not be read of a stream, as sentences, or nothing."""
        is_cut = self.damaged or CUT_OFF in self.notes
        notes = (*(stream.notes if stream.skipped else ()), *(self.notes if is_cut else ()))
        return " ".join(notes)

    def _choice(self, stream: Stream) -> tuple[str, ...]:
        if len(self.streams) == 1 or self.slices is not None:
            return ()
        others = [(each.name, len(each)) for each in self.streams if each is not stream]
        return (note_on_choice(stream.name, len(stream), others),)


@runtime_checkable
class CaptureReader(Protocol):
    """Reads a capture in steps of some milliseconds."""

    @property
    def done(self) -> float:
        """The share of the file that was read, from 0 to 1."""

    def read_on(self) -> bool:
        """Read a few megabytes; returns whether there is more."""

    def capture(self) -> Capture:
        """Return what was read so far; a :class:`CaptureError` if there is nothing in it."""


def date_in(text: str) -> datetime | None:
    """Return a date and time of ISO 8601; ``None`` if it is not one, or before 1970."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return found if found.year >= _FIRST_YEAR else None


def short_name(text: str) -> str:
    """Return a name from a capture in one line and shortened."""
    return one_line(text[:LONGEST_NAME])


def split_column(text: str) -> tuple[Path, str | None]:
    r"""Return file and column of ``FILE`` or ``FILE:COLUMN``.

    The name of an existing file may contain a colon, as ``C:\run.csv`` does.
    """
    file, colon, column = text.rpartition(":")
    is_drive = len(file) == 1 and column.startswith(("\\", "/"))
    if not colon or not file or is_drive or is_there(Path(text)):
        return Path(text), None
    if not column.strip():
        message = (
            f"{in_quotes(text)} names no column. Name a column after the colon, or omit the colon."
        )
        raise CaptureError(message)
    return Path(file), column.strip()


def stream_named(wanted: str, names: Sequence[str], where: object) -> int:
    """Return the place of a stream by its name, its name without the process, or a part of it."""
    text = wanted.casefold()
    matching: list[int] = []
    for is_meant in (
        lambda name: name == wanted,
        lambda name: name.casefold().startswith(f"{text} ("),
        lambda name: text in name.casefold(),
    ):
        matching = matching or [place for place, name in enumerate(names) if is_meant(name)]
    if len(matching) == 1:
        return matching[0]
    problem = "more than one stream" if matching else "no stream"
    named = [names[place] for place in matching] or names
    known = "; ".join(each or "(no name)" for each in islice(named, _LISTED_STREAMS))
    more = len(named) - _LISTED_STREAMS
    end = f" and {more:,} more" if more > 0 else ""
    which = "They" if matching else "Its streams"
    told = f"{which} are {known}{end}." if known else "None has run a frame."
    message = f"{where} has {problem} {in_quotes(wanted)}. {told}"
    raise CaptureError(message)


def note_on_choice(name: str, frames: int, others: Sequence[tuple[str, int]]) -> str:
    skipped = listed([f"{other} with {count}" for other, count in others], _OTHER_STREAMS)
    read = f"Read {name} with {counted(frames, 'frame')}, one of {1 + len(others)} streams."
    return f"{read} Skipped: {skipped}."
