"""The slices of a capture, written as they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from inspector.formats.captures.trace_extras import Counters
from inspector.formats.traces.writer import (
    CLOCKS,
    MACHINES,
    NOTHING,
    PROCESS,
    FlowStep,
    Reach,
    SliceDetails,
    TraceWriter,
)

if TYPE_CHECKING:
    from inspector.formats.captures.capture import Slices

#: The number of a row of a track is the row times this plus the number of the track.
_ROW: Final = 1_000_000
_NUMBERED: Final = re.compile(r"(.+) \((\d{1,9})\)")
_NUMBER_ALONE: Final = re.compile(r"(?:process|thread) (\d{1,9})")


def write_slices(slices: Slices, start_ns: int, end_ns: int, writer: TraceWriter) -> None:
    """Write the slices of a capture that are in progress between two instants."""
    starts, took, tracks = slices.start_ns, slices.took_ns, slices.track
    chosen = np.flatnonzero((starts + took >= start_ns) & (starts <= end_ns))
    # Enclosing slices first; captures have them after the nested ones, because they end later.
    order = np.lexsort((-chosen, -took[chosen].astype(np.int64), starts[chosen], tracks[chosen]))
    processes = _Processes(writer)
    extras = slices.extras
    steps = extras.flows.by_slice()
    has_more = np.zeros(len(slices), dtype=np.bool_)
    has_more[extras.arguments.place] = True
    has_more[list(steps)] = True
    track = -1
    rows = _Rows()
    for place in chosen[order].tolist():
        if tracks[place] != track:
            track = int(tracks[place])
            rows = _Rows()
        at_ns, took_ns = slices.span_ns(place)
        row = rows.row_of(at_ns, took_ns) if writer.nests else 0
        number = MACHINES + track + row * _ROW
        if rows.is_new(row):
            about = slices.tracks[track]
            above = processes.track_of(about.process)
            name, system_number = (about.name, None) if row else _numbered(about.name)
            writer.track(number, name, above, number=system_number)
        about_slice = NOTHING
        if has_more[place]:
            flows = [
                FlowStep(flow, extras.flows.names[flow], begins, ends)
                for flow, begins, ends in steps.get(place, ())
            ]
            about_slice = SliceDetails(extras.arguments.of(place), flows)
        name = slices.names[slices.name[place]]
        if took_ns:
            writer.slice(number, name, at_ns, took_ns, about_slice)
        else:
            writer.instant(number, name, at_ns, Reach.TRACK, about_slice)
    _write_counters(extras.counters, start_ns, end_ns, processes, writer)


def _write_counters(
    counters: Counters, start_ns: int, end_ns: int, processes: _Processes, writer: TraceWriter
) -> None:
    """Write the values of counters between two instants, beginning with those at the first."""
    for place, track in enumerate(counters.tracks):
        at_ns, values = counters.of(place)
        first = max(int(np.searchsorted(at_ns, start_ns, side="right")) - 1, 0)
        last = int(np.searchsorted(at_ns, end_ns, side="right"))
        for instant, value in zip(
            at_ns[first:last].tolist(), values[first:last].tolist(), strict=True
        ):
            writer.counter(processes.track_of(track.process), track, max(instant, start_ns), value)


class _Processes:
    def __init__(self, writer: TraceWriter) -> None:
        self._writer = writer
        self._tracks: dict[str, int] = {}

    def track_of(self, process: str) -> int:
        track = self._tracks.get(process)
        if track is None:
            track = self._tracks[process] = CLOCKS + len(self._tracks)
            name, number = _numbered(process)
            self._writer.track(track, name, PROCESS, is_process=True, number=number)
        return track


class _Rows:
    """Distributes slices of a track that overlap without being nested among rows."""

    def __init__(self) -> None:
        self._ends: list[list[int]] = []
        self._written = -1

    def row_of(self, at_ns: int, took_ns: int) -> int:
        """Return the first row in which a slice nests in those in progress."""
        for row, ends in enumerate(self._ends):
            while ends and ends[-1] <= at_ns:
                ends.pop()
            if not ends or at_ns + took_ns <= ends[-1]:
                ends.append(at_ns + took_ns)
                return row
        self._ends.append([at_ns + took_ns])
        return len(self._ends) - 1

    def is_new(self, row: int) -> bool:
        """Return whether this is the first call for a row."""
        is_new = row > self._written
        self._written = max(self._written, row)
        return is_new


def _numbered(name: str) -> tuple[str, int | None]:
    """Return name and number of a process or thread, which importers join into one text."""
    if match := _NUMBERED.fullmatch(name):
        return match[1], int(match[2])
    match = _NUMBER_ALONE.fullmatch(name)
    return name, int(match[1]) if match else None
