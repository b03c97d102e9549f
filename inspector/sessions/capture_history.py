"""The past of a capture, whose events are made from its columns on demand.

A capture of ten million frames would have twenty million events. They are not stored: each frame
has the same few events, so any of them can be made when a reader needs it, and a state follows
from the number of frames and calls before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.analysis.lanes.lane_columns import Levels
from inspector.analysis.lanes.spans import SpanColumns, Spans
from inspector.events.history import WholeHistory
from inspector.events.log import readable
from inspector.events.schema import clock_at_parent_time
from inspector.events.timeline import Timeline
from inspector.formats.captures.capture import SliceColumn, Slices, frames_as_slices
from inspector.formats.frame_times import FrameTimes
from inspector.vocabulary import (
    CALL_ENDED,
    FRAME_BEGAN,
    FRAME_ENDED,
    MEMBER_ADDED,
    MEMBER_ORIGIN,
    PHASE_ENDED,
    MemberKind,
    Phase,
    RawEvent,
)

_ROOT: Final = 1
_ROOT_NAME: Final = "capture"
#: Most names of slices with a row of their own; the rarer ones share a row of their track.
_MOST_NAMES: Final = 5_000
_OTHERS: Final = "(others)"
#: Slices that are processed together, and the most sums that are stored of them.
_AT_ONCE: Final = 262_144
_MOST_SUMS: Final = 64


class CaptureHistory(WholeHistory):
    """All events of a capture, as a :class:`~inspector.events.history.History`."""

    first: Final = 0
    first_ns: Final = 0

    def __init__(self, frames: FrameTimes, slices: Slices | None) -> None:
        self._slices = slices
        self.levels: tuple[Levels, ...] = ()
        self.spans: tuple[Spans, ...] = ()
        self._frame_times = frames
        self.strings = ["", _ROOT_NAME]
        self._opening: list[RawEvent] = []
        self._add_clock(_ROOT, 0, 1)
        self._body: _FrameEvents | _TraceEvents
        if slices is None:
            self._body = _FrameEvents(frames)
        else:
            self._body = _TraceEvents(frames, slices, self._add_slices(slices))
        self._frames = frames.history
        self._opened = Timeline(self.strings)
        self._opened.apply_all(self._opening)
        # The cursor of the first event of a frame or slice
        self.opened = len(self._opening)
        self.end = len(self._opening) + len(self._body)
        self.last_ns = self.events(self.end - 1, self.end)[0][0]

    @property
    def slices(self) -> Slices | None:
        """Its slices; without any, its frames as slices if only their times are known."""
        frames = self._frame_times
        if self._slices is not None or frames.busy_ns.any():
            return self._slices
        return frames_as_slices(frames, _ROOT_NAME)

    def slice_ended(self, member: int, at_ns: int) -> int | None:
        if not isinstance(self._body, _TraceEvents):
            return None
        return self._body.slice_ended(member, at_ns)

    def about_slice(self, place: int) -> SliceAbout:
        assert isinstance(self._body, _TraceEvents), "it has slices"
        assert self._slices is not None, "it has slices"
        extras = self._slices.extras
        before, after = extras.flows.of(place)
        return SliceAbout(
            *self._slices.span_ns(place),
            extras.arguments.of(place),
            tuple(map(self._body.reference, before)),
            tuple(map(self._body.reference, after)),
        )

    def events(self, start: int, end: int) -> list[RawEvent]:
        start, end = max(start, 0), min(end, self.end)
        opening = len(self._opening)
        found = self._opening[start:end]
        if end > opening:
            rows = self._body.events(max(start - opening, 0), end - opening)
            found += [tuple(row) for row in rows.tolist()]
        return found

    def cursor_at(self, at_ns: int) -> int:
        return 0 if at_ns < 0 else len(self._opening) + self._body.count_until(at_ns)

    def state_before(self, cursor: int) -> Timeline:
        cursor = min(max(cursor, 0), self.end)
        opening = len(self._opening)
        if cursor <= opening:
            state = Timeline(self.strings)
            state.apply_all(self._opening[:cursor])
            return state
        state = self._opened.copy()
        place, frames, calls = self._body.folded(cursor - opening)
        state.frames = self._frames.until(self._frames.first + frames)
        members = state.members
        for number, count, took_ns in calls:
            member = members.by_id[number]
            member.calls, member.took_ns = count, took_ns
            members.values_version += count
        if place:
            (newest,) = self.events(opening + place - 1, opening + place)
            state.at_ns = state.newest_ns = newest[0]
            state.events_folded = opening + place
        state.apply_all(self.events(opening + place, cursor))
        return state

    def _text(self, text: str) -> int:
        self.strings.append(readable(text))
        return len(self.strings) - 1

    def _add_clock(self, number: int, parent: int, name: int) -> None:
        self._opening += clock_at_parent_time(0, number, parent, name)

    def _add_slices(self, slices: Slices) -> NDArray[np.signedinteger[Any]]:
        """Add clocks of tracks and members of names; returns the member of each slice."""
        clocks: dict[str, int] = {}
        clock_of_track: dict[int, int] = {}

        def clock_of(process: str) -> int:
            if process not in clocks:
                clocks[process] = _ROOT + 1 + len(clocks) + len(clock_of_track)
                self._add_clock(clocks[process], _ROOT, self._text(process))
            return clocks[process]

        for place in _known(slices.track):
            track = slices.tracks[place]
            parent = clock_of(track.process)
            number = clock_of_track[place] = _ROOT + 1 + len(clocks) + len(clock_of_track)
            self._add_clock(number, parent, self._text(track.name))
        counters = slices.extras.counters
        self.levels = tuple(
            Levels(clock_of(track.process), track.title, track.unit, *counters.of(place))
            for place, track in enumerate(counters.tracks)
        )
        members = self._add_members(slices, clock_of_track)
        columns = SpanColumns(slices.start_ns, slices.took_ns, slices.track, members)
        self.spans = tuple(
            Spans(clock_id, columns, track) for track, clock_id in clock_of_track.items()
        )
        return members

    def _add_members(
        self, slices: Slices, clock_of_track: Mapping[int, int]
    ) -> NDArray[np.signedinteger[Any]]:
        width = len(slices.names) + 1
        counts: dict[int, int] = {}
        for part in _parts(len(slices)):
            keys, found = np.unique(_keys(slices, part, width), return_counts=True)
            for key, count in zip(keys.tolist(), found.tolist(), strict=True):
                counts[key] = counts.get(key, 0) + count
        most = sorted(counts, key=lambda key: (-counts[key], key))[:_MOST_NAMES]
        kept = np.array(sorted(most), dtype=np.int64)
        # The last key of each track stands for names without a row of their own.
        others = {key - key % width + width - 1 for key in counts.keys() - set(most)}
        shown = np.array(sorted({*most, *others}), dtype=np.int64)
        texts: dict[int, int] = {}
        for number, key in enumerate(shown.tolist(), 1):
            track, name = divmod(key, width)
            if name not in texts:
                is_name = name < len(slices.names)
                texts[name] = self._text(slices.names[name] if is_name else _OTHERS)
            self._opening += [
                (0, MEMBER_ADDED, number, 0, texts[name]),
                (0, MEMBER_ORIGIN, number, clock_of_track[track], MemberKind.SLICE),
            ]
        members = np.empty(len(slices), np.min_scalar_type(-len(shown) - 1))
        for part in _parts(len(slices)):
            keys = _keys(slices, part, width)
            at = np.minimum(np.searchsorted(kept, keys), len(kept) - 1)
            keys = np.where(kept[at] == keys, keys, keys - keys % width + width - 1)
            members[part] = np.searchsorted(shown, keys) + 1
        return members


def _known(column: SliceColumn) -> list[int]:
    found = set[int]()
    for part in _parts(len(column)):
        found.update(np.unique(column[part]).tolist())
    return sorted(found)


def _parts(count: int) -> Iterator[slice]:
    return (slice(start, min(start + _AT_ONCE, count)) for start in range(0, count, _AT_ONCE))


def _keys(slices: Slices, part: slice, width: int) -> NDArray[np.int64]:
    found: NDArray[np.int64] = slices.track[part].astype(np.int64) * width + slices.name[part]
    return found


class SliceAbout(Struct, frozen=True):
    start_ns: int  # Its start, from the beginning of the capture
    took_ns: int  # How long it took
    arguments: Mapping[str, object]  # Its arguments in the trace, as in JSON
    # The slices that have led to it, each by its member and its end.
    follows: tuple[tuple[int, int], ...]
    leads: tuple[tuple[int, int], ...]  # The slices that it has led to, in the same form


class _FrameEvents:
    """The events of frames of which the durations are known, as rows of five numbers."""

    def __init__(self, frames: FrameTimes) -> None:
        self._frames = frames
        self._phases = [phase for phase in Phase if frames.phase(phase).any()]
        self._width = 2 + len(self._phases)

    def __len__(self) -> int:
        return self._width * len(self._frames)

    def events(self, start: int, end: int) -> NDArray[np.int64]:
        width, frames = self._width, self._frames
        first, last = start // width, -(-end // width)
        found = np.zeros((max(last - first, 0), width, 5), dtype=np.int64)
        part = slice(first, last)
        found[:, :, 0] = frames.at_ns[part, np.newaxis]
        found[:, 0, 1] = FRAME_BEGAN
        found[:, 0, 3], found[:, 0, 4] = frames.index[part], frames.delta_ns[part]
        for place, phase in enumerate(self._phases, 1):
            found[:, place, 1], found[:, place, 2] = PHASE_ENDED, phase
            found[:, place, 3] = frames.index[part]
            found[:, place, 4] = frames.phase(phase)[part]
        found[:, -1, 1] = FRAME_ENDED
        found[:, -1, 3], found[:, -1, 4] = frames.interval_ns[part], frames.busy_ns[part]
        return found.reshape(-1, 5)[start - first * width : end - first * width]

    def count_until(self, at_ns: int) -> int:
        return self._width * int(np.searchsorted(self._frames.at_ns, at_ns, side="right"))

    def folded(self, count: int) -> tuple[int, int, Iterable[tuple[int, int, int]]]:
        """Return the state after most of the first ``count`` events.

        Returns:
            The number of events covered; the number of complete frames; and number, calls and
            newest duration of each member called. The few events that are left have to be folded.
        """
        frames = count // self._width
        return frames * self._width, frames, ()


class _TraceEvents:
    """The events of slices, and of the frames that some of them stand for.

    Slices are already sorted by their ends, so only the places of frame starts and ends among them
    are stored. At the same instant, slices end before their frame, and that ends before the next
    frame begins, which may itself end at once.
    """

    def __init__(
        self, frames: FrameTimes, slices: Slices, members: NDArray[np.signedinteger[Any]]
    ) -> None:
        self._frames, self._slices, self._members = frames, slices, members
        count = len(frames)
        # A frame lasts until the next one begins, and the last one as long as its work.
        ends_ns = np.append(frames.at_ns[1:], frames.at_ns[-1:] + frames.busy_ns[-1:])
        instants_ns = np.concatenate((frames.at_ns, ends_ns))
        turns = np.concatenate((2 * np.arange(count), 2 * np.arange(count) + 1))
        order = np.lexsort((turns, instants_ns))
        # For each start or end of a frame: which of the two, the frame, and its place among events.
        self._is_end, self._frame = divmod(order, max(count, 1))
        self._instants_ns = instants_ns[order]
        ends_ns = slices.start_ns + slices.took_ns
        self._places = np.searchsorted(ends_ns, self._instants_ns, side="right")
        self._places += np.arange(2 * count)
        del ends_ns
        # After every ``_stride`` slices: calls and newest duration of each member.
        width = int(members.max(initial=0)) + 1
        self._stride = max(_AT_ONCE, -(-len(slices) // _MOST_SUMS))
        counts, newest = np.zeros(width, np.int64), np.zeros(width, np.int64)
        self._sums = [(counts, newest)]
        for start in range(0, len(slices), self._stride):
            self._sums.append(self._summed(start + self._stride))

    def __len__(self) -> int:
        return len(self._slices) + len(self._places)

    def events(self, start: int, end: int) -> NDArray[np.int64]:
        slices, frames = self._slices, self._frames
        low, high = np.searchsorted(self._places, (start, end)).tolist()
        part = slice(start - low, end - high)
        found = np.zeros((end - start, 5), dtype=np.int64)
        is_slice = np.ones(end - start, dtype=np.bool_)
        is_slice[self._places[low:high] - start] = False
        starts_ns, took_ns = slices.start_ns[part], slices.took_ns[part].astype(np.int64)
        ends_ns = starts_ns + took_ns
        # A slice belongs to the frame in which it ends, and its start counts from that frame's.
        owner = np.maximum(np.searchsorted(frames.at_ns, ends_ns, side="left") - 1, 0)
        began_ns = starts_ns - frames.at_ns[owner] if len(frames) else starts_ns
        kinds = np.full_like(ends_ns, CALL_ENDED)
        of_slices = (ends_ns, kinds, self._members[part], began_ns, took_ns)
        found[is_slice] = np.stack(of_slices, axis=1)
        number, is_end = self._frame[low:high], self._is_end[low:high].astype(np.bool_)
        of_frames = (
            self._instants_ns[low:high],
            np.where(is_end, FRAME_ENDED, FRAME_BEGAN),
            np.zeros_like(number),
            np.where(is_end, frames.interval_ns[number], frames.index[number]),
            np.where(is_end, frames.busy_ns[number], frames.delta_ns[number]),
        )
        found[~is_slice] = np.stack(of_frames, axis=1)
        return found

    def slice_ended(self, member: int, at_ns: int) -> int | None:
        place = self._slices.count_until(at_ns) - 1
        while place >= 0 and sum(self._slices.span_ns(place)) == at_ns:
            if self._members[place] == member:
                return place
            place -= 1
        return None

    def reference(self, place: int) -> tuple[int, int]:
        """Return the reference to a slice: its member, and when it ended."""
        return int(self._members[place]), sum(self._slices.span_ns(place))

    def count_until(self, at_ns: int) -> int:
        frames = int(np.searchsorted(self._instants_ns, at_ns, side="right"))
        return self._slices.count_until(at_ns) + frames

    def folded(self, count: int) -> tuple[int, int, Iterable[tuple[int, int, int]]]:
        events = int(np.searchsorted(self._places, count))
        frames = int(np.count_nonzero(self._is_end[:events]))
        # The events of an open frame have to be folded, from its start on.
        is_open = events - frames > frames
        begun = np.flatnonzero(self._is_end[:events] == 0)
        covered = int(self._places[begun[-1]]) if is_open else count
        before = int(np.searchsorted(self._places, covered))
        counts, newest = self._summed(covered - before)
        used = np.flatnonzero(counts)
        calls = zip(used.tolist(), counts[used].tolist(), newest[used].tolist(), strict=True)
        return covered, frames, calls

    def _summed(self, end: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the calls and newest durations of members before an index, using stored sums."""
        known = min(end // self._stride, len(self._sums) - 1)
        counts, newest = self._sums[known]
        part = slice(known * self._stride, end)
        called = self._members[part]
        newest = newest.copy()
        newest[called] = self._slices.took_ns[part]
        return counts + np.bincount(called, minlength=len(counts)), newest
