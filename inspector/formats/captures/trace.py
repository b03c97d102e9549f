"""Collects the slices of a trace, whatever its format, and finds frames among them.

A slice that comes again and again on one track may stand for a frame, which lasts until the next
one begins. By default that is the longest in total of those that come at even distances.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from inspector.errors import CaptureError
from inspector.formats.captures.capture import (
    MOST_STREAMS,
    Capture,
    Slices,
    Stream,
    Track,
    short_name,
)
from inspector.formats.frame_times import NsColumn
from inspector.timebase import MAX_NS

#: Fewer slices are no frames.
_FEWEST_FRAMES: Final = 2
#: Slices are periodic if there are so many of them, ...
_FEWEST_PERIODIC: Final = 5
#: ... and half of the distances differ from the median by no more than this share of it.
_LARGEST_DEVIATION: Final = 0.5
#: And at most this share of them overlap with the next.
_LARGEST_OVERLAP: Final = 0.1
_MOST_TRACKS: Final = 20_000
_MOST_NAMES: Final = 500_000
_MOST_OPEN: Final = 1_000_000


class TraceBuilder:
    """Takes the events of a trace in any order.

    Attributes:
        damaged: Events that could not be used.
        first_damage: Where the first of them is.
        unmatched: Ends without a beginning.
        ignored: Events that are not shown, by what they are.
    """

    def __init__(self) -> None:
        """Begin without slices."""
        self._start = array("q")
        self._took = array("q")
        self._track = array("i")
        self._name = array("i")
        self._tracks: dict[Hashable, int] = {}
        self._names: dict[str, int] = {}
        self._track_names: list[tuple[Hashable, str]] = []
        self._process_names: dict[Hashable, str] = {}
        self._open: dict[Hashable, list[tuple[int, int, int]]] = {}
        self._open_count = 0
        self._last_ns = 0
        self.damaged = 0
        self.first_damage = ""
        self.unmatched = 0
        self.ignored: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._start)

    # ------------------------------------------------------------------ events

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
        """Name a track."""
        self._track_names[number] = (process, name)

    def name_process(self, process: Hashable, name: str) -> None:
        """Name a process."""
        self._process_names[process] = name

    def text(self, name: str) -> int:
        """Return the number of a name."""
        number = self._names.get(name)
        if number is None:
            if len(self._names) >= _MOST_NAMES:
                return 0
            number = self._names[name] = len(self._names)
        return number

    def add(self, track: int, name: int, start_ns: int, took_ns: int) -> None:
        """Add a slice."""
        if not (-MAX_NS < start_ns < MAX_NS and 0 <= took_ns < MAX_NS):
            self.note_damage("a time out of range")
            return
        self._start.append(start_ns)
        self._took.append(took_ns)
        self._track.append(track)
        self._name.append(name)
        self._last_ns = max(self._last_ns, start_ns + took_ns)

    def begin(self, key: Hashable, track: int, name: int, start_ns: int) -> None:
        """Begin a slice, within the one that began last with this key."""
        if not -MAX_NS < start_ns < MAX_NS or self._open_count >= _MOST_OPEN:
            self.note_damage("a time out of range")
            return
        self._open.setdefault(key, []).append((track, name, start_ns))
        self._open_count += 1
        self._last_ns = max(self._last_ns, start_ns)

    def end(self, key: Hashable, end_ns: int) -> None:
        """End the slice that began last with this key."""
        waiting = self._open.get(key)
        if not waiting:
            self.unmatched += 1
            return
        track, name, start_ns = waiting.pop()
        self._open_count -= 1
        if not waiting:
            del self._open[key]
        self.add(track, name, start_ns, max(0, end_ns - start_ns))

    def ignore(self, what: str) -> None:
        """Count an event that is not shown."""
        self.ignored[what] = self.ignored.get(what, 0) + 1

    def note_damage(self, where: str) -> None:
        """Count an event that cannot be used."""
        self.damaged += 1
        self.first_damage = self.first_damage or where

    # ------------------------------------------------------------------ the capture

    def capture(self, path: Path, format_: str, notes: tuple[str, ...] = ()) -> Capture:
        """Return what was collected so far; what has begun and not ended ends with the last event.

        Raises:
            CaptureError: There is no slice.
        """
        open_ = [each for waiting in self._open.values() for each in waiting]
        count = len(self._start)
        if not count + len(open_):
            message = f"{path} is a trace without slices. Choose another file."
            raise CaptureError(message)
        slices = self._ordered(np.array(open_, dtype=np.int64).reshape(-1, 3), path)
        streams, no_frames = frames_among(slices, path)
        return Capture(
            format_,
            streams,
            slices,
            notes=(*notes, *self._notes(len(open_))),
            no_frames=no_frames,
            path=path,
        )

    def _ordered(self, still_open: NDArray[np.int64], path: Path) -> Slices:
        """Return all slices in order, each column as soon as it can be, as there are millions.

        Args:
            still_open: Track, name and start of those without an end.
            path: The file.

        Raises:
            CaptureError: They are too far apart.
        """
        starts = np.concatenate((np.frombuffer(self._start, dtype=np.int64), still_open[:, 2]))
        till_end = np.maximum(self._last_ns - still_open[:, 2], 0)
        took = np.concatenate((np.frombuffer(self._took, dtype=np.int64), till_end))
        # A few events may carry instants of another clock, such as 0.
        starts -= starts.min()
        ends = starts + took
        if int(ends.max()) >= MAX_NS:
            message = f"{path}: the instants in it are more than 146 years apart. Check the file."
            raise CaptureError(message)
        order = np.lexsort((took, ends))
        del ends
        took = took[order]
        starts = starts[order]
        track, name = (
            np.concatenate((np.frombuffer(held, dtype=np.int32), more.astype(np.int32)))[order]
            for held, more in ((self._track, still_open[:, 0]), (self._name, still_open[:, 1]))
        )
        return Slices(tuple(self._made_tracks()), tuple(self._names), starts, took, track, name)

    def _made_tracks(self) -> list[Track]:
        processes = self._process_names
        return [
            Track(
                short_name(processes.get(process, f"process {process}")),
                short_name(name),
            )
            for process, name in self._track_names
        ]

    def _notes(self, open_count: int) -> list[str]:
        notes = []
        if self.damaged:
            are = "1 event is" if self.damaged == 1 else f"{self.damaged:,} events are"
            where = f"; the first is at {self.first_damage}" if self.first_damage else ""
            notes.append(f"{are} damaged and skipped{where}.")
        if open_count:
            have = "1 slice has" if open_count == 1 else f"{open_count:,} slices have"
            notes.append(f"{have} no end: shown up to the last event.")
        if self.unmatched:
            ends = "1 slice ends" if self.unmatched == 1 else f"{self.unmatched:,} slices end"
            notes.append(f"{ends} without having begun: skipped.")
        if self.ignored:
            listed = ", ".join(f"{count:,} {what}" for what, count in self.ignored.items())
            notes.append(f"Not shown: {listed}.")
        return notes


def frames_among(slices: Slices, path: Path) -> tuple[tuple[Stream, ...], str]:
    """Return the slices that may stand for frames, the most likely first.

    Returns:
        The streams, and why none of them is shown by default; empty if the first is.
    """
    start, took = slices.start_ns, slices.took_ns
    group = slices.track.astype(np.int64) * max(len(slices.names), 1) + slices.name
    order = np.lexsort((start, group))
    edges = np.flatnonzero(np.diff(group[order])) + 1
    groups = [each for each in np.split(order, edges) if len(each) >= _FEWEST_FRAMES]
    groups.sort(key=len, reverse=True)
    groups = groups[:MOST_STREAMS]
    shown = max(groups, key=lambda each: _weight(start[each], took[each]), default=None)
    is_likely = shown is not None and _weight(start[shown], took[shown]) > 0
    if shown is not None and is_likely:
        groups = [shown, *(each for each in groups if each is not shown)]
    streams = tuple(_stream(slices, each) for each in groups)
    if is_likely:
        return streams, ""
    why = "comes at even distances" if streams else "comes more than once"
    choose = "Name a slice with --stream." if streams else "Choose another trace."
    return streams, f"{path} has no slice that {why}, so none is taken for a frame. {choose}"


def _weight(start: NsColumn, took: NsColumn) -> int:
    """Return how long slices are in total if they are periodic, otherwise 0.

    Frames follow each other: slices within each other are calls of a function by itself.
    """
    if len(start) < _FEWEST_PERIODIC:
        return 0
    distances = np.diff(start)
    if np.count_nonzero(took[:-1] > distances) > _LARGEST_OVERLAP * len(start):
        return 0
    median = int(np.median(distances))
    deviation = np.median(np.abs(distances - median))
    is_even = median > 0 and deviation <= _LARGEST_DEVIATION * median
    return int(took.sum()) if is_even else 0


def _stream(slices: Slices, places: NsColumn) -> Stream:
    """Return frames that begin with the given slices, in order of their starts."""
    start, took = slices.start_ns[places], slices.took_ns[places]
    ends = np.append(start[1:], max(int(start[-1] + took[-1]), int(start[-1])))
    track = slices.tracks[int(slices.track[places[0]])]
    name = short_name(slices.names[int(slices.name[places[0]])])
    return Stream(
        name=f"{name} ({track.process}, {track.name})",
        column=name,
        interval_ns=ends - start,
        starts_ns=start,
        busy_ns=np.minimum(took, ends - start),
        track=int(slices.track[places[0]]),
    )
