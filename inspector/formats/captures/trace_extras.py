"""Counters, flows between slices and arguments of slices of a trace.

Each is kept within a budget, so that a trace of any size takes a bounded amount of memory; what
is left out is counted.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

if TYPE_CHECKING:
    from inspector.formats.frame_times import NsColumn

#: Limits: slices with arguments, distinct texts of arguments, and bytes of these texts in all.
MOST_ARGUMENTS: Final = 2_000_000
MOST_TEXTS: Final = 200_000
MOST_TEXT_BYTES: Final = 1 << 24
#: Longer arguments of one slice are left out.
LONGEST_ARGUMENTS: Final = 1 << 14
MOST_FLOW_STEPS: Final = 1_000_000
MOST_COUNTERS: Final = 5_000
MOST_COUNTER_VALUES: Final = 2_000_000
#: The end of the name of a track whose slices may overlap without being nested.
OVERLAPPING: Final = " (async)"
ONLY_SERIES: Final = "value"

#: Stands for a slice of which only track and instant are known.
_UNPLACED: Final = -(2**62)
#: Starts, durations and tracks of slices.
Spans: TypeAlias = "tuple[NsColumn, NDArray[np.signedinteger[Any]], NDArray[np.signedinteger[Any]]]"

_decode: Final = msgspec.json.Decoder(dict[str, Any]).decode
_decode_raw: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class CounterTrack(Struct, frozen=True):
    process: str  # Name of its process
    name: str  # Its own name
    series: str = ONLY_SERIES  # Which of several values that are counted together
    unit: str = ""  # Unit of its values; empty if unknown

    @property
    def title(self) -> str:
        """Its name without that of its process."""
        return self.name if self.series == ONLY_SERIES else f"{self.name} {self.series}"


class Counters(Struct, frozen=True, eq=False):
    tracks: tuple[CounterTrack, ...]  # What is counted
    # Index of the first value of each counter, then the number of all values: one more than tracks.
    first: NsColumn
    at_ns: NsColumn  # Instants, from the beginning of the capture, in order for each counter
    value: NDArray[np.float64]  # The value from then on

    def of(self, place: int) -> tuple[NsColumn, NDArray[np.float64]]:
        part = slice(int(self.first[place]), int(self.first[place + 1]))
        return self.at_ns[part], self.value[part]


class Flows(Struct, frozen=True, eq=False):
    """Chains of slices, each of which has led to the next."""

    names: tuple[str, ...]  # Name of each flow; empty where the format has none
    flow: NDArray[np.int32]  # The flow of each step, in order
    place: NDArray[np.int64]  # The slice of each step, by its index; in the order of the chain

    def of(self, place: int) -> tuple[list[int], list[int]]:
        """Return the slices that a slice follows from, and those that it leads to."""
        before, after = [], []
        for step in np.flatnonzero(self.place == place).tolist():
            if step and self.flow[step - 1] == self.flow[step]:
                before.append(int(self.place[step - 1]))
            if step + 1 < len(self.flow) and self.flow[step + 1] == self.flow[step]:
                after.append(int(self.place[step + 1]))
        return before, after

    def by_slice(self) -> dict[int, list[tuple[int, bool, bool]]]:
        """Return the steps of each slice: the flow, and whether it begins and ends there."""
        found: dict[int, list[tuple[int, bool, bool]]] = {}
        last = len(self.flow) - 1
        for step, (flow, place) in enumerate(
            zip(self.flow.tolist(), self.place.tolist(), strict=True)
        ):
            begins = not step or self.flow[step - 1] != flow
            ends = step == last or self.flow[step + 1] != flow
            found.setdefault(place, []).append((flow, begins, ends))
        return found


class Arguments(Struct, frozen=True, eq=False):
    """The arguments of slices, as JSON objects."""

    place: NDArray[np.int64]  # The slices that have any, by their index, in order
    text: NDArray[np.int32]  # Index of the text of each
    texts: tuple[bytes, ...]

    def of(self, place: int) -> dict[str, Any]:
        """Return the arguments of a slice; nothing if it has none or they are damaged."""
        at = int(np.searchsorted(self.place, place))
        if at == len(self.place) or self.place[at] != place:
            return {}
        try:
            return _decode(self.texts[self.text[at]])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return {}


_NOWHERE: Final = np.zeros(0, dtype=np.int64)
_NONE: Final = np.zeros(0, dtype=np.int32)
NO_COUNTERS: Final = Counters((), np.zeros(1, dtype=np.int64), _NOWHERE, np.zeros(0))
NO_FLOWS: Final = Flows((), _NONE, _NOWHERE)
NO_ARGUMENTS: Final = Arguments(_NOWHERE, _NONE, ())


class Extras(Struct, frozen=True):
    counters: Counters = NO_COUNTERS
    flows: Flows = NO_FLOWS
    arguments: Arguments = NO_ARGUMENTS


NO_EXTRAS: Final = Extras()


def merged(former: bytes, further: bytes) -> bytes:
    """Return the arguments of the beginning and the end of a slice as one object."""
    if not former or not further:
        return former or further
    try:
        return msgspec.json.encode(_decode_raw(former) | _decode_raw(further))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return former


class _OpenFlow(Struct):
    number: int
    has_begun: bool = False
    has_ended: bool = False


class ExtrasBuilder:
    """Collects what a trace has besides its slices, in the order of the file.

    Slices are numbered in the order in which they were added.
    """

    def __init__(self) -> None:
        # How many items were left out because a limit is reached, by a noun for one
        self.left_out = Counter[str]()
        self._texts: dict[bytes, int] = {}
        self._text_bytes = 0
        self._argument_slice = array("q")
        self._argument_text = array("i")
        self._flow_names: list[str] = []
        self._open_flows: dict[Hashable, _OpenFlow] = {}
        self._step_flow = array("i")
        self._step_slice = array("q")
        self._step_rank = array("b")
        # Whether the last call of flow() was for a beginning (-1), a step (0) or an end (1).
        self._rank = 0
        # Steps whose slice is not yet known: step, track, instant, and whether the slice is the
        # next that begins, instead of the one in progress.
        self._unplaced: list[tuple[int, int, int, bool]] = []
        self._counters: dict[tuple[Hashable, str, str], int] = {}
        self._units: list[str] = []
        self._counter_of = array("i")
        self._counter_at = array("q")
        self._counter_value = array("d")

    def add_arguments(self, number: int, text: bytes) -> None:
        known = self._texts.get(text)
        if known is None:
            size = self._text_bytes + len(text)
            is_much = len(self._texts) >= MOST_TEXTS or size > MOST_TEXT_BYTES
            if is_much or len(text) > LONGEST_ARGUMENTS:
                self.left_out["slice argument"] += 1
                return
            self._text_bytes = size
            known = self._texts[text] = len(self._texts)
        if len(self._argument_slice) >= MOST_ARGUMENTS:
            self.left_out["slice argument"] += 1
            return
        self._argument_slice.append(number)
        self._argument_text.append(known)

    def add_counter(  # noqa: PLR0913, PLR0917 - one event
        self, process: Hashable, name: str, series: str, at_ns: int, value: float, unit: str = ""
    ) -> None:
        key = (process, name, series)
        number = self._counters.get(key)
        if number is None:
            if len(self._counters) >= MOST_COUNTERS:
                self.left_out["counter value"] += 1
                return
            number = self._counters[key] = len(self._counters)
            self._units.append(unit)
        if len(self._counter_of) >= MOST_COUNTER_VALUES:
            self.left_out["counter value"] += 1
            return
        self._counter_of.append(number)
        self._counter_at.append(at_ns)
        self._counter_value.append(value)

    def flow(self, key: Hashable, name: str, *, begins: bool = False, ends: bool = False) -> int:
        """Return the number of a flow that begins, continues or ends; -1 if there are too many.

        A file may have the end of a flow before its beginning.
        """
        if len(self._step_flow) >= MOST_FLOW_STEPS:
            self.left_out["flow event"] += 1
            return -1
        found = self._open_flows.get(key)
        if found is None or (begins and found.has_begun) or (ends and found.has_ended):
            found = self._open_flows[key] = _OpenFlow(len(self._flow_names))
            self._flow_names.append(name)
        found.has_begun |= begins
        found.has_ended |= ends
        self._rank = ends - begins
        return found.number

    def add_step(self, flow: int, number: int) -> None:
        """Add a slice to a flow, the one of the last call of :meth:`flow`."""
        self._step_flow.append(flow)
        self._step_slice.append(number)
        self._step_rank.append(self._rank)

    def add_unplaced(self, flow: int, track: int, at_ns: int, *, is_next: bool) -> None:
        """Add to a flow the slice in progress at an instant, or the next that begins."""
        self._unplaced.append((len(self._step_flow), track, at_ns, is_next))
        self.add_step(flow, _UNPLACED)

    def first_ns(self, earliest_ns: int | None) -> int:
        """Return the earlier of the first slice, if there is one, and the first counter value."""
        values = np.frombuffer(self._counter_at, dtype=np.int64) if self._counter_at else ()
        found = [int(values.min())] if len(values) else []  # type: ignore[union-attr]
        return min(found if earliest_ns is None else [*found, earliest_ns], default=0)

    def extras(
        self,
        processes: dict[Hashable, str],
        base_ns: int,
        numbers: tuple[NDArray[np.int64] | None, NsColumn],
        spans: Spans,
    ) -> Extras:
        """Return all that was added; ``base_ns`` counts as 0.

        ``numbers`` has the numbers of slices in their final order, ``None`` if they were added in
        that order, and the numbers that tickets stand for. ``spans`` has the starts, durations and
        tracks of slices in the final order, with starts from 0 on.
        """
        order, tickets = numbers
        place_of: NDArray[np.int32] | None = None
        if order is not None and (self._argument_slice or self._step_slice):
            place_of = np.empty(len(order), dtype=np.int32)
            place_of[order] = np.arange(len(order), dtype=np.int32)

        def placed(column: array[int]) -> NsColumn:
            found = np.array(column, dtype=np.int64)
            waiting = found < 0
            is_ticket = waiting & (found != _UNPLACED)
            found[is_ticket] = tickets[-found[is_ticket] - 1]
            is_there = found >= 0
            if place_of is not None:
                found[is_there] = place_of[found[is_there]]
            return found

        return Extras(
            self._made_counters(processes, base_ns),
            self._made_flows(base_ns, placed(self._step_slice), spans),
            self._made_arguments(placed(self._argument_slice)),
        )

    def _made_counters(self, processes: dict[Hashable, str], base_ns: int) -> Counters:
        if not self._counters:
            return NO_COUNTERS
        of, at_ns, value = (
            np.array(column) for column in (self._counter_of, self._counter_at, self._counter_value)
        )
        order = np.lexsort((at_ns, of))
        count = len(self._counters)
        first = np.searchsorted(of[order], np.arange(count + 1))
        tracks = tuple(
            CounterTrack(processes.get(process, f"process {process}"), name, series, unit)
            for (process, name, series), unit in zip(self._counters, self._units, strict=True)
        )
        return Counters(tracks, first, at_ns[order] - base_ns, value[order])

    def _made_arguments(self, place: NsColumn) -> Arguments:
        if not len(place):
            return NO_ARGUMENTS
        order = np.argsort(place, kind="stable")
        place, text = place[order], np.array(self._argument_text, dtype=np.int32)[order]
        # The entry from the end of a slice comes last, and has the arguments of its beginning too.
        kept = np.append(place[1:] != place[:-1], True) & (place >= 0)
        return Arguments(place[kept], text[kept], tuple(self._texts))

    def _made_flows(self, base_ns: int, place: NsColumn, spans: Spans) -> Flows:
        if not len(place):
            return NO_FLOWS
        flow = np.array(self._step_flow, dtype=np.int32)
        for step, found in self._found(base_ns, spans):
            place[step] = found
        kept = place >= 0
        flow, place = flow[kept], place[kept]
        starts = spans[0][place]
        # At one instant, a flow begins before it goes on, and ends last.
        rank = np.array(self._step_rank, dtype=np.int8)[kept]
        order = np.lexsort((place, rank, starts, flow))
        flow, place = flow[order], place[order]
        # Drop a slice that follows itself, then flows with a single slice.
        is_other = np.ones(len(flow), dtype=np.bool_)
        is_other[1:] = (np.diff(flow) != 0) | (np.diff(place) != 0)
        flow, place = flow[is_other], place[is_other]
        is_chain = np.bincount(flow, minlength=len(self._flow_names)) > 1
        kept = is_chain[flow]
        numbers = np.cumsum(is_chain) - 1
        names = tuple(
            name for name, is_kept in zip(self._flow_names, is_chain, strict=True) if is_kept
        )
        return Flows(names, numbers[flow[kept]].astype(np.int32), place[kept])

    def _found(self, base_ns: int, spans: Spans) -> Iterator[tuple[int, int]]:
        """Yield the slices of steps for which only track and instant are known."""
        by_track: dict[int, list[tuple[int, int, bool]]] = {}
        for step, track, at_ns, is_next in self._unplaced:
            by_track.setdefault(track, []).append((step, at_ns - base_ns, is_next))
        starts, took, tracks = spans
        for track, wanted in by_track.items():
            there = np.flatnonzero(tracks == track)
            if not len(there):
                continue
            # In order of their starts, enclosing slices before nested ones.
            there = there[np.lexsort((-there, -took[there].astype(np.int64), starts[there]))]
            begun = starts[there]
            ends = begun + took[there]
            around = _around(ends)
            for step, at_ns, is_next in wanted:
                if is_next:
                    at = int(np.searchsorted(begun, at_ns))
                    if at < len(there):
                        yield step, int(there[at])
                    continue
                at = int(np.searchsorted(begun, at_ns, side="right")) - 1
                while at >= 0 and ends[at] < at_ns:
                    at = int(around[at])
                if at >= 0:
                    yield step, int(there[at])


def _around(ends: NsColumn) -> NsColumn:
    """Return for each slice of a track the one before it that ends no earlier, -1 for none."""
    found = np.arange(len(ends)) - 1
    waiting = np.flatnonzero(found >= 0)
    while len(waiting):
        waiting = waiting[ends[found[waiting]] < ends[waiting]]
        # The slices between that one and the one found for it end even earlier.
        found[waiting] = found[found[waiting]]
        waiting = waiting[found[waiting] >= 0]
    return found
