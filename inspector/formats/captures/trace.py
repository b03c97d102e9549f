"""Collects the slices of a trace, whatever its format, and finds frames among them.

A slice that is repeated on one track may stand for a frame, which lasts until the next one begins.
By default frames are the slices called "frame" among those that come at even distances, else those
that are longest in total.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import ClassVar, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.display_text import counted
from inspector.errors import CaptureError
from inspector.formats.captures.capture import (
    MOST_STREAMS,
    Capture,
    SliceColumn,
    Slices,
    SliceStream,
    Track,
    short_name,
)
from inspector.formats.captures.source import CaptureSource
from inspector.formats.captures.trace_extras import ExtrasBuilder, merged
from inspector.formats.frame_times import NsColumn
from inspector.timebase import MAX_NS

#: The least number of slices of one name on a track that may stand for frames.
_FEWEST_FRAMES: Final = 2
#: Slices are periodic if all of this holds: there are at least this many, ...
_FEWEST_PERIODIC: Final = 5
#: ... half of the distances differ from the median by no more than this share of it, ...
_LARGEST_DEVIATION: Final = 0.5
#: ... at most this share of them overlap with the next, ...
_LARGEST_OVERLAP: Final = 0.1
#: ... and, unless called "frame", they cover at least this share of the time that they span.
_LEAST_COVERED: Final = 0.01
#: Names of slices that are frames.
_FRAME_NAMES: Final = frozenset({"frame", "frames"})
#: Calls that only wait. They may come evenly, but the work of a program lies between them.
_WAITS: Final = frozenset(
    {"clock_nanosleep", "epoll_wait", "nanosleep", "poll", "select", "sleep", "usleep", "wait"}
)
_MOST_TRACKS: Final = 20_000
_MOST_NAMES: Final = 500_000
_MOST_OPEN: Final = 1_000_000
#: Further slices are left out; a file with this many has a gigabyte or two.
_MOST_SLICES: Final = 10_000_000
#: After this many new slices, they are moved into columns as narrow as their values allow.
_AT_ONCE: Final = 1 << 18


class _OpenSlice(Struct):
    track: int  # Number of its track
    name: int  # Number of its name
    start_ns: int  # When it began
    arguments: bytes = b""  # The arguments given at its beginning
    ticket: int = 0  # Its number among slices referred to before their end; 0 for none


class TraceBuilder:
    def __init__(self) -> None:
        self._start = array("q")
        self._took = array("q")
        self._track = array("i")
        self._name = array("i")
        self._packed: tuple[list[SliceColumn], ...] = ([], [], [], [])
        self._packed_count = 0
        self._tracks: dict[Hashable, int] = {}
        self._names: dict[str, int] = {}
        self._track_names: list[tuple[Hashable, str]] = []
        self._process_names: dict[Hashable, str] = {}
        self._open: dict[Hashable, list[_OpenSlice]] = {}
        self._open_count = 0
        # The slice of each ticket, -1 if it has not ended.
        self._tickets = array("q")
        self._last_ns = 0
        self._last: Capture | None = None
        self.damaged = 0  # Events that could not be used
        self.first_damage = ""  # Where the first of them is
        self.unmatched = 0  # Ends without a beginning
        self.ignored = Counter[str]()  # Events that are not shown, by a noun for one
        self.extras = ExtrasBuilder()  # Counters, flows and arguments

    def track(self, key: Hashable, process: Hashable, name: str) -> int:
        """Return the number of a track, adding it if it is new."""
        number = self._tracks.get(key)
        if number is None:
            if len(self._tracks) >= _MOST_TRACKS:
                return 0
            number = self._tracks[key] = len(self._tracks)
            self._track_names.append((process, name))
        return number

    def rename_track(self, number: int, process: Hashable, name: str) -> None:
        self._track_names[number] = (process, name)

    def name_process(self, process: Hashable, name: str) -> None:
        self._process_names[process] = name

    def text(self, name: str) -> int:
        number = self._names.get(name)
        if number is None:
            if len(self._names) >= _MOST_NAMES:
                return 0
            number = self._names[name] = len(self._names)
        return number

    def add(
        self, track: int, name: int, start_ns: int, took_ns: int, arguments: bytes = b""
    ) -> int | None:
        """Add a slice; returns its number, ``None`` if it is left out."""
        if not (-MAX_NS < start_ns < MAX_NS and 0 <= took_ns < MAX_NS):
            self.note_damage("a time out of range")
            return None
        number = self._packed_count + len(self._start)
        if number >= _MOST_SLICES:
            self.extras.left_out["slice"] += 1
            return None
        self._start.append(start_ns)
        self._took.append(took_ns)
        self._track.append(track)
        self._name.append(name)
        end_ns = start_ns + took_ns
        if end_ns > self._last_ns:  # noqa: PLR1730 - a call of max would take twice as long
            self._last_ns = end_ns
        if arguments:
            self.extras.add_arguments(number, arguments)
        return number

    def begin(
        self, key: Hashable, track: int, name: int, start_ns: int, arguments: bytes = b""
    ) -> None:
        """Begin a slice, nested in the last slice with this key that has not ended."""
        if not -MAX_NS < start_ns < MAX_NS:
            self.note_damage("a time out of range")
            return
        if self._open_count >= _MOST_OPEN:
            self.extras.left_out["slice"] += 1
            return
        begun = _OpenSlice(track, name, start_ns, arguments)
        self._open.setdefault(key, []).append(begun)
        self._open_count += 1
        self._last_ns = max(self._last_ns, start_ns)
        if arguments:
            self.extras.add_arguments(self._ticket(begun), arguments)

    def end(self, key: Hashable, end_ns: int, arguments: bytes = b"") -> None:
        """End the innermost slice with this key."""
        waiting = self._open.get(key)
        if not waiting:
            self.unmatched += 1
            return
        begun = waiting.pop()
        self._open_count -= 1
        if not waiting:
            del self._open[key]
        took_ns = max(0, end_ns - begun.start_ns)
        number = self.add(begun.track, begun.name, begun.start_ns, took_ns)
        if number is None:
            return
        if begun.ticket:
            self._tickets[begun.ticket - 1] = number
        if arguments:
            self.extras.add_arguments(number, merged(begun.arguments, arguments))

    def add_flow(self, flow: int, track: int, at_ns: int, *, is_next: bool) -> None:
        """Add to a flow the slice in progress on a track, or the next that begins there.

        Of several slices in progress that began at that instant, it is the one added last.
        """
        if flow < 0:
            return
        if is_next:
            self.extras.add_unplaced(flow, track, at_ns, is_next=True)
        elif self._start and self._track[-1] == track and self._start[-1] == at_ns:
            self.extras.add_step(flow, self._packed_count + len(self._start) - 1)
        elif (begun := self._innermost(track)) is not None and begun.start_ns == at_ns:
            self.extras.add_step(flow, self._ticket(begun))
        else:
            self.extras.add_unplaced(flow, track, at_ns, is_next=False)

    def add_flow_of_begun(self, flow: int, key: Hashable) -> None:
        """Add to a flow the innermost slice with a key."""
        begun = self._innermost(key)
        if flow >= 0 and begun is not None:
            self.extras.add_step(flow, self._ticket(begun))

    def _innermost(self, key: Hashable) -> _OpenSlice | None:
        waiting = self._open.get(key)
        return waiting[-1] if waiting else None

    def _ticket(self, begun: _OpenSlice) -> int:
        """Return a negative number that refers to a slice that has not ended."""
        if not begun.ticket:
            self._tickets.append(-1)
            begun.ticket = len(self._tickets)
        return -begun.ticket

    def note_damage(self, where: str) -> None:
        """Count an event that cannot be used."""
        self.damaged += 1
        self.first_damage = self.first_damage or where

    def pack(self, least: int = _AT_ONCE) -> None:
        """Move slices into compact columns if ``least`` or more were added; called regularly."""
        if len(self._start) >= least:
            start, *others = self._start, self._took, self._track, self._name
            columns = (np.array(start, dtype=np.int64), *map(_narrow, others))
            for held, column in zip(self._packed, columns, strict=True):
                held.append(column)
            self._packed_count += len(start)
            for each in (start, *others):
                del each[:]

    def capture(
        self, path: Path, format_: str, notes: tuple[str, ...] = (), *, is_last: bool = False
    ) -> Capture:
        """Return what was collected so far; slices that have not ended end with the last event.

        Args:
            is_last: Whether nothing is added afterwards, so that the columns need not be copied.
        """
        if self._last is not None:
            return self._last
        open_ = [each for waiting in self._open.values() for each in waiting]
        count = self._packed_count + len(self._start)
        if not count + len(open_):
            message = f"{path} is a trace without slices. Choose another file."
            raise CaptureError(message)
        slices = self._ordered(open_, path, is_last=is_last)
        streams, no_frames = frames_among(slices, path)
        capture = Capture(
            format_,
            streams,
            slices,
            notes=(*notes, *self._notes(len(open_))),
            damaged=self.damaged,
            no_frames=no_frames,
            path=path,
        )
        if is_last:
            self._last = capture
        return capture

    def _ordered(self, still_open: list[_OpenSlice], path: Path, *, is_last: bool) -> Slices:
        """Return all slices in order; memory is freed column by column, as there are millions."""
        begun = np.array([each.start_ns for each in still_open], dtype=np.int64)
        further = (
            begun,
            _narrow(max(self._last_ns - each.start_ns, 0) for each in still_open),
            _narrow(each.track for each in still_open),
            _narrow(each.name for each in still_open),
        )
        self.pack(1)
        columns = []
        for held, more in zip(self._packed, further, strict=True):
            columns.append(np.concatenate((*held, more)))
            if is_last:
                held.clear()
        starts, took, track, name = columns
        del columns
        # A few events may have instants of another clock, such as 0.
        base_ns = self.extras.first_ns(int(starts.min()) if len(starts) else None)
        starts -= base_ns
        ends = starts + took
        if len(ends) and int(ends.max()) >= MAX_NS:
            message = f"{path}: the instants in it are more than 146 years apart. Check the file."
            raise CaptureError(message)
        order = _order(ends, took)
        del ends
        if order is not None:
            starts = starts[order]
            took = took[order]
            track = track[order]
            name = name[order]
        tickets = np.array(self._tickets, dtype=np.int64)
        for number, each in enumerate(still_open, len(starts) - len(still_open)):
            if each.ticket:
                tickets[each.ticket - 1] = number
        extras = self.extras.extras(
            self._process_names, base_ns, (order, tickets), (starts, took, track)
        )
        return Slices(
            *(tuple(self._made_tracks()), tuple(self._names), starts, took, track, name), extras
        )

    def _made_tracks(self) -> list[Track]:
        processes = self._process_names
        return [
            Track(short_name(processes.get(process, f"process {process}")), short_name(name))
            for process, name in self._track_names
        ]

    def _notes(self, open_count: int) -> list[str]:
        notes = []
        if self.damaged:
            are = counted(self.damaged, "event is", "events are")
            where = f"; the first is at {self.first_damage}" if self.first_damage else ""
            notes.append(f"{are} damaged and skipped{where}.")
        if open_count:
            have = counted(open_count, "slice has", "slices have")
            notes.append(f"{have} no end: shown up to the last event.")
        if self.unmatched:
            ends = counted(self.unmatched, "slice ends", "slices end")
            notes.append(f"{ends} without having begun: skipped.")
        if self.ignored:
            notes.append(f"Not shown: {_listed(self.ignored)}.")
        if self.extras.left_out:
            listed = _listed(self.extras.left_out)
            notes.append(f"Left out, as there are too many to keep: {listed}.")
        return notes


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(counted(count, noun) for noun, count in counts.items())


class TraceReader(ABC):
    """Reads a trace in pieces; an incomplete event at the end of one is read with the next."""

    kind: ClassVar[str]  # What captures call it

    def __init__(self, path: Path, piece_bytes: int = 0) -> None:
        self._path = path
        self._source = CaptureSource(path)
        self._pieces = self._source.pieces(piece_bytes)
        self._rest = b""
        self._builder = TraceBuilder()
        self._is_over = False

    @property
    def done(self) -> float:
        return self._source.done

    def read_on(self) -> bool:
        if self._is_over:
            return False
        piece = next(self._pieces, None)
        if piece is None:
            self._is_over = True
            self._read_end(self._rest)
            self._rest = b""
            return False
        self._rest = self._read_piece(self._rest + piece)
        self._builder.pack()
        return True

    def capture(self) -> Capture:
        notes = (*self._source.notes, *self._notes())
        return self._builder.capture(self._path, self.kind, notes, is_last=self._is_over)

    @abstractmethod
    def _read_piece(self, text: bytes) -> bytes:
        """Read the complete events; return the rest."""

    @abstractmethod
    def _read_end(self, rest: bytes) -> None:
        """Read what is left at the end of the file."""

    def _notes(self) -> Iterable[str]:
        return ()


def frames_among(slices: Slices, path: Path) -> tuple[tuple[SliceStream, ...], str]:
    """Return the slices that may stand for frames, the most likely first.

    Returns:
        The streams, and why none of them is shown by default; empty if the first is.
    """
    streams = list(_candidates(slices))
    weights = [0] * len(streams)
    for place, each in enumerate(streams):
        if each.column.casefold() in _FRAME_NAMES:
            weight = _weight(*each.spans(), least_covered=0)
            weights[place] = weight + MAX_NS if weight else 0
        elif not _is_wait(each.column):
            weights[place] = _weight(*each.spans())
    is_likely = max(weights, default=0) > 0
    if is_likely:
        streams.insert(0, streams.pop(weights.index(max(weights))))
        return tuple(streams), ""
    why = "comes at even distances" if streams else "comes more than once"
    choose = "Name a slice with --stream." if streams else "Choose another trace."
    return tuple(streams), f"{path} has no slice that {why}, so none is taken for a frame. {choose}"


def _is_wait(name: str) -> bool:
    """Return whether a slice is a call that waits: ``time.sleep``, ``sleep (time.py:3)``."""
    function = name.partition(" ")[0].partition("(")[0]
    return function.rpartition(".")[2].casefold() in _WAITS


def _candidates(slices: Slices) -> Iterable[SliceStream]:
    """Yield slices that share name and track, the most numerous first; single ones are left out."""
    width = max(len(slices.names), 1)
    key = slices.track.astype(np.int64)
    key *= width
    key += slices.name
    order = np.argsort(key, kind="stable").astype(np.uint32)
    key = key[order]
    edges = np.flatnonzero(key[1:] != key[:-1]) + 1
    del key
    edges = np.concatenate(([0], edges, [len(order)]))
    counts = np.diff(edges)
    most = np.argsort(-counts, kind="stable")[:MOST_STREAMS]
    for place in most[counts[most] >= _FEWEST_FRAMES].tolist():
        yield SliceStream(slices, order[edges[place] : edges[place + 1]])


def _weight(start: NsColumn, took: NsColumn, least_covered: float = _LEAST_COVERED) -> int:
    """Return how long slices are in total if they are periodic, otherwise 0.

    Nested slices do not count as periodic: frames follow each other, recursive calls nest.
    """
    if len(start) < _FEWEST_PERIODIC:
        return 0
    distances = np.diff(start)
    if np.count_nonzero(took[:-1] > distances) > _LARGEST_OVERLAP * len(start):
        return 0
    median = int(np.median(distances))
    deviation = np.median(np.abs(distances - median))
    is_even = median > 0 and deviation <= _LARGEST_DEVIATION * median
    total = int(took.sum())
    return total if is_even and total >= least_covered * int(distances.sum()) else 0


def _order(ends: NsColumn, took: SliceColumn) -> NDArray[np.int64] | None:
    """Return the order by ends, of the same end the shorter first; ``None`` if already in order."""
    is_later, is_same = ends[1:] > ends[:-1], ends[1:] == ends[:-1]
    is_same &= took[1:] >= took[:-1]
    is_later |= is_same
    return None if is_later.all() else np.lexsort((took, ends))


def _narrow(values: Iterable[int]) -> SliceColumn:
    """Return whole numbers in as few bytes as they need, at least two each."""
    column = np.array(values if isinstance(values, array) else tuple(values), dtype=np.int64)
    most = int(column.max(initial=0))
    for kind in (np.int16, np.int32):
        if most <= np.iinfo(kind).max:
            return column.astype(kind)
    return column
