"""The marks along the axis, and the one that is shown of several at one place."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from enum import IntEnum
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.analysis.intervention_list import held_host_ms
from inspector.display_text import without_quotes
from inspector.events.annotations import Annotation
from inspector.events.timeline import Timeline
from inspector.formats.arrangement.frame_series import FrameSeries
from inspector.timebase import NS_PER_MS, format_duration, format_instant

#: For up to this many new frames, making arrays is not worth it.
_FEW: Final = 12
_SPACING: Final = 8
_LISTED: Final = 6


class MarkKind(IntEnum):
    """What a sign in the row of marks stands for, the most important first."""

    FAILURE = 0
    DELTA_CUT = 1
    HIT = 2
    BOOKMARK = 3
    MARK = 4
    COMMAND = 5
    HELD = 6


class MarkGroup(Struct, frozen=True):
    x: int  # Where the sign is, in pixels from the left edge of the view
    kind: MarkKind  # The most important kind in it
    # For each kind in it, the number of its first entry and the one behind its last.
    entries: tuple[tuple[MarkKind, int, int], ...]

    @property
    def has_hold(self) -> bool:
        return any(kind is MarkKind.HELD for kind, _, _ in self.entries)


class TimelineMarks:
    """The instants of everything that has a sign, taken over from a timeline as it grows."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._instants = {kind: array("q") for kind in MarkKind}
        self._cut_frames = array("q")
        self._annotations: Sequence[Annotation] = ()
        self._ranges: list[Annotation] = []
        self._range_edges_ns = np.empty((0, 2), dtype=np.int64)
        self._frames_seen = timeline.frames.first
        self._records_seen: tuple[int, ...] = ()
        self.add_new()

    def add_new(self) -> int:
        """Read what is new in the timeline; returns how many signs that adds."""
        timeline = self._timeline
        # Compared first: this is called in every refresh, mostly with nothing new.
        records = (
            *(len(timeline.failures), len(timeline.marks), len(timeline.commands)),
            *(len(timeline.hits), len(timeline.holds)),
        )
        added = 0
        if records != self._records_seen:
            self._records_seen = records
            added = self._add_records()
        return added + self._add_cuts()

    def _add_records(self) -> int:
        timeline, added = self._timeline, 0
        for kind, records in (
            (MarkKind.FAILURE, timeline.failures),
            (MarkKind.MARK, timeline.marks),
            (MarkKind.COMMAND, timeline.commands),
            (MarkKind.HIT, timeline.hits),
            (MarkKind.HELD, timeline.holds),
        ):
            instants = self._instants[kind]
            known = len(instants)
            if len(records) > known:
                instants.extend(record.at_ns for record in records[known:])
                added += len(instants) - known
        return added

    def _add_cuts(self) -> int:
        frames = self._timeline.frames
        first, end = frames.first, frames.end
        if end <= self._frames_seen:
            return 0
        start, self._frames_seen = max(self._frames_seen, first), end
        if end - start <= _FEW and not any(frames.cut_ns[start - first :]):
            return 0
        places = frames.numpy("cut_ns", start, end).nonzero()[0].tolist()
        for place in places:
            self._cut_frames.append(start + place)
            self._instants[MarkKind.DELTA_CUT].append(frames.at_ns[start + place - first])
        return len(places)

    def set_annotations(self, annotations: Sequence[Annotation]) -> None:
        self._annotations = annotations
        self._instants[MarkKind.BOOKMARK] = array("q", [each.at_ns for each in annotations])
        self._ranges = [each for each in annotations if each.end_ns is not None]
        edges = [(each.at_ns, each.last_ns) for each in self._ranges]
        self._range_edges_ns = np.array(edges, dtype=np.int64).reshape(-1, 2)

    def ranges(
        self, series: FrameSeries, low: float, high: float, width: int
    ) -> list[tuple[float, float, int]]:
        """Return the named ranges in view: left and right edge in pixels, and number."""
        if not self._ranges:
            return []
        scale = width / (high - low)
        lefts, rights = (
            (series.x_of_instants(edges_ns) - low) * scale for edges_ns in self._range_edges_ns.T
        )
        shown = np.flatnonzero((rights >= 0) & (lefts <= width))
        lefts, rights = np.maximum(lefts[shown], 0.0), np.minimum(rights[shown], width)
        return list(zip(lefts.tolist(), rights.tolist(), shown.tolist(), strict=True))

    def range_text(self, number: int) -> str:
        return self._ranges[number].line

    def groups(self, series: FrameSeries, low: float, high: float, width: int) -> list[MarkGroup]:
        cells: dict[int, list[tuple[MarkKind, int, int, int]]] = {}
        for kind, instants in self._instants.items():
            if not instants:
                continue
            start = bisect_left(instants, low, key=series.x_from_first)
            stop = bisect_right(instants, high, key=series.x_from_first)
            if start == stop:
                continue
            xs = series.x_of_instants(np.frombuffer(instants, np.int64, stop - start, 8 * start))
            for first, end, place in _cells_of(xs, low, high, width):
                found = cells.setdefault(place // _SPACING, [])
                found.append((kind, start + first, start + end, place))
        return [
            MarkGroup(
                found[0][3], found[0][0], tuple((kind, first, end) for kind, first, end, _ in found)
            )
            for _, found in sorted(cells.items())
        ]

    def text_of(self, group: MarkGroup) -> str:
        """Return what a sign says when it is pointed at, a line for each entry."""
        lines: list[str] = []
        hidden = 0
        for kind, first, end in group.entries:
            for number in range(first, end):
                if len(lines) < _LISTED:
                    lines.append(self._line(kind, number))
                else:
                    hidden += 1
        if hidden:
            lines.append(f"and {hidden:,} more")
        return "\n".join(lines)

    @property
    def is_empty(self) -> bool:
        return not any(self._instants.values())

    def instant_of(self, group: MarkGroup) -> int:
        kind, first, _end = min(group.entries)
        return self._instants[kind][first]

    def name_of(self, group: MarkGroup) -> str:  # noqa: PLR0911 - one per kind
        """Return what a sign stands for in a few words, and how many more there are."""
        kind, number, _end = min(group.entries)
        timeline = self._timeline
        match kind:
            case MarkKind.FAILURE:
                return f"{timeline.failures[number].label} failed"
            case MarkKind.DELTA_CUT:
                return "stall"
            case MarkKind.BOOKMARK:
                annotation = self._annotations[number]
                return annotation.name or annotation.text or annotation.kind
            case MarkKind.MARK:
                return timeline.marks[number].text
            case MarkKind.COMMAND:
                return without_quotes(timeline.commands[number].text)
            case MarkKind.HIT:
                return f"breakpoint {timeline.hits[number].number}"
            case MarkKind.HELD:
                return "held"

    def _line(self, kind: MarkKind, number: int) -> str:  # noqa: PLR0911 - one per kind
        timeline = self._timeline
        at_ns = self._instants[kind][number]
        instant = format_instant(at_ns)
        match kind:
            case MarkKind.FAILURE:
                failure = timeline.failures[number]
                return f"{instant}  {failure.label} failed: {failure.raised}"
            case MarkKind.DELTA_CUT:
                frame = timeline.frames.frame(self._cut_frames[number])
                cut = format_duration(frame.cut_ns)
                return f"{instant}  stall: {cut} cut from the delta of frame {frame.index}"
            case MarkKind.BOOKMARK:
                return self._annotations[number].line
            case MarkKind.MARK:
                return f"{instant}  mark: {timeline.marks[number].text}"
            case MarkKind.COMMAND:
                return f"{instant}  {without_quotes(timeline.commands[number].line)}"
            case MarkKind.HIT:
                hit = timeline.hits[number]
                said = without_quotes(hit.text)
                return f"{instant}  breakpoint {hit.number}, frame {hit.frame}: {said}"
            case MarkKind.HELD:
                held_ms = held_host_ms(timeline, at_ns)
                long = f" for {format_duration(held_ms * NS_PER_MS)}" if held_ms else ""
                return f"{instant}  held{long}: no session time passed"


def _cells_of(
    xs: NDArray[np.float64], low: float, high: float, width: int
) -> list[tuple[int, int, int]]:
    """Return ranges of instants that share a sign, with the place of the first, in pixels."""
    if not len(xs):
        return []
    places = np.clip((xs - low) * (width / (high - low)), 0, width - 1).astype(np.int64)
    cells = places // _SPACING
    starts = np.flatnonzero(np.append(True, cells[1:] != cells[:-1]))
    ends = np.append(starts[1:], len(xs))
    return list(zip(starts.tolist(), ends.tolist(), places[starts].tolist(), strict=True))
