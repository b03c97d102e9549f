"""Totals of the calls in several frames, added up in slices of work.

A frame may have a million calls, and a range of frames many more. So events are read once, a
few thousand at a time, and the window's thread can do other work between slices.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nlargest
from itertools import islice
from typing import Final

from msgspec import Struct

from inspector.analysis.frame_spans import PHASE_KIND, TIMER_KIND, extent_of, member_in, timer_in
from inspector.events.history import KEYFRAME_EVERY, History
from inspector.events.schema import CALLS, FIRINGS, FRAME_ENDS, FRAME_STARTS, PHASE_ENDS
from inspector.events.timeline import Timeline
from inspector.vocabulary import Phase

#: Events, or rows, in a slice: about 10 ms on a slow machine.
SLICE: Final = 4_096
#: Names looked up in a slice.
_NAMES: Final = 256
#: To reach a later state of the past, up to this many events are folded; further ones are skipped.
_FOLDED: Final = 10 * SLICE
#: The most states of the past to fold on the way to an older state.
_MOST_STATES: Final = 50
#: Events that bound frames and phases; most events are none of these.
_BOUNDS: Final = FRAME_STARTS | PHASE_ENDS | FRAME_ENDS
#: A damaged recording may name other phases.
_AFTER_TIMERS: Final = frozenset(Phase) - {Phase.TIMERS}


class SpanTotal(Struct, frozen=True):
    member_id: int
    timer_id: int
    label: str
    kind: str  # As in inspector.analysis.frame_spans.FrameSpan
    phase: Phase  # The phase of its first call
    calls: int
    took_ns: int  # Duration of all calls; 0 for timers, which are not measured
    longest_ns: int

    @property
    def is_phase(self) -> bool:
        return not self.member_id and not self.timer_id


class _Sum:
    __slots__ = ("calls", "cursor", "longest_ns", "place", "took_ns")

    def __init__(self, cursor: int, place: int) -> None:
        self.calls = self.took_ns = self.longest_ns = 0
        # Cursor of the first call, and how many phases had ended before it.
        self.cursor = cursor
        self.place = place


class FrameSums:
    """Adds up the calls in a range of frames, as far as they are still in the log."""

    def __init__(
        self,
        history: History,
        timeline: Timeline,
        start: int,
        stop: int,
        *,
        most: int | None = None,
    ) -> None:
        self.is_done = False
        self.totals: tuple[SpanTotal, ...] = ()  # The result, the longest first; empty until then
        # unlisted: How many of the shortest members and timers are not in the result
        # touched: Events and rows read in the last slice
        self.unlisted = self.touched = 0
        self._history = history
        self._timeline = timeline
        self._most = most
        frames = timeline.frames
        self._start = max(start, frames.first)
        self._stop = min(stop, frames.end)
        self._sums: dict[tuple[bool, int], _Sum] = {}
        # The phases in the order in which they ended.
        self._ended: list[Phase] = []
        self._is_begun = False
        # A former state with its cursor, for the names of members and timers removed since.
        self._past: tuple[Timeline, int] | None = None
        self._steps = self._add_up()

    def read_on(self) -> None:
        self.touched = next(self._steps, 0)
        self.is_done = not self.touched

    def _add_up(self) -> Iterator[int]:
        phases: tuple[SpanTotal, ...] = ()
        if self._start < self._stop:
            yield from self._read()
            phases = self._phases()
        chosen: list[tuple[bool, int]] = []
        left = iter(self._sums)
        most = len(self._sums) if self._most is None else self._most
        while some := list(islice(left, SLICE)):
            chosen = nlargest(most, chosen + some, key=self._weight)
            yield len(some)
        self.unlisted = len(self._sums) - len(chosen)
        totals: list[SpanTotal] = []
        # In the order of their calls, so that the former state only moves forward.
        chosen.sort(key=lambda key: self._sums[key].cursor)
        for count, key in enumerate(chosen, 1):
            if self._named(self._timeline, *key) is None:
                yield from self._go_back_to(key)
            totals.append(self._total(*key))
            if not count % _NAMES:
                yield _NAMES
        self.totals = tuple(sorted([*phases, *totals], key=lambda total: -total.took_ns))

    def _weight(self, key: tuple[bool, int]) -> tuple[int, int]:
        found = self._sums[key]
        return found.took_ns, found.calls

    def _read(self) -> Iterator[int]:
        """Add up the events of all frames, from the timers before the first one."""
        history = self._history
        cursor, _ = extent_of(history, self._timeline, self._start)
        _, end = extent_of(history, self._timeline, self._stop - 1)
        begin = cursor
        is_found = False
        while cursor < end and not is_found:
            stop = min(cursor + SLICE, end)
            for place, event in zip(*history.numbered(cursor, stop), strict=True):
                if event[1] in FRAME_ENDS:
                    begin = place + 1
                elif event[1] in FRAME_STARTS and self._is_first(event[0], event[3]):
                    is_found = True
                    break
            yield max(1, stop - cursor)
            cursor = stop
        count = self._stop - self._start
        cursor = begin
        while is_found and cursor < end and count:
            stop = min(cursor + SLICE, end)
            count = self._fold(cursor, stop, count)
            yield stop - cursor
            cursor = stop

    def _is_first(self, at_ns: int, number: int) -> bool:
        first_ns = self._timeline.frames.began_ns(self._start)
        # Numbers decide only at the same instant: they differ if a frame began and never ended.
        return at_ns > first_ns or (at_ns == first_ns and number >= self._start)

    def _fold(self, cursor: int, stop: int, count: int) -> int:
        """Add up a slice; returns how many frames have yet to end."""
        sums, ended, call_kinds, firings = self._sums, self._ended, CALLS, FIRINGS
        is_begun = self._is_begun
        for place, (_, kind, subject, _, b) in zip(
            *self._history.numbered(cursor, stop), strict=True
        ):
            is_call = kind in call_kinds
            if is_call or (kind in firings and not is_begun):
                key = (not is_call, subject)
                found = sums.get(key)
                if found is None:
                    found = sums[key] = _Sum(place, len(ended))
                found.calls += 1
                if is_call:
                    found.took_ns += b
                    found.longest_ns = max(found.longest_ns, b)
            elif kind not in _BOUNDS:
                continue
            elif kind in FRAME_STARTS:
                is_begun = True
                ended.append(Phase.TIMERS)
            elif kind in PHASE_ENDS and subject in _AFTER_TIMERS:
                ended.append(Phase(subject))
            elif kind in FRAME_ENDS:
                is_begun = False
                count -= 1
                if not count:
                    break
        self._is_begun = is_begun
        return count

    def _phases(self) -> tuple[SpanTotal, ...]:
        frames = self._timeline.frames
        seen = set(self._ended) if self._sums else set()
        totals = []
        for phase in Phase:
            took_ns = frames.numpy(phase, self._start, self._stop)
            total_ns = int(took_ns.sum())
            if total_ns or (phase in seen and self._has_calls_in(phase)):
                calls, longest_ns = int((took_ns > 0).sum()), int(took_ns.max())
                totals.append(
                    SpanTotal(0, 0, phase.text, PHASE_KIND, phase, calls, total_ns, longest_ns)
                )
        return tuple(totals)

    def _has_calls_in(self, phase: Phase) -> bool:
        return any(self._phase_of(each) is phase for each in islice(self._sums.values(), SLICE))

    def _phase_of(self, found: _Sum) -> Phase:
        """Return the phase of the first call: the next phase to end after it."""
        return self._ended[found.place] if found.place < len(self._ended) else Phase.TIMERS

    def _total(self, is_timer: bool, number: int) -> SpanTotal:  # noqa: FBT001 - a key
        found = self._sums[is_timer, number]
        named = self._named(self._timeline, is_timer, number)
        if named is None and self._past is not None:
            named = self._named(self._past[0], is_timer, number)
        fallback = (f"timer {number}", TIMER_KIND) if is_timer else (f"member {number}", "call")
        label, kind = named or fallback
        return SpanTotal(
            *((0, number) if is_timer else (number, 0)),
            label=label,
            kind=kind,
            phase=self._phase_of(found),
            calls=found.calls,
            took_ns=found.took_ns,
            longest_ns=found.longest_ns,
        )

    @staticmethod
    def _named(timeline: Timeline, is_timer: bool, number: int) -> tuple[str, str] | None:  # noqa: FBT001
        if not is_timer:
            return member_in(timeline, number)
        label = timer_in(timeline, number)
        return (label, TIMER_KIND) if label else None

    def _go_back_to(self, key: tuple[bool, int]) -> Iterator[int]:
        """Fold a former state in which a member or timer still exists."""
        history, cursor = self._history, self._sums[key].cursor
        if self._past is None or cursor - self._past[1] > _FOLDED:
            at = history.first if self._past is None else self._past[1]
            # Going back far folds many events, so it is split into steps.
            step = max(KEYFRAME_EVERY, (cursor - at) // _MOST_STATES)
            while at < cursor:
                at = min(at + step, cursor)
                self._past = (history.state_before(at), at)
                yield SLICE
            if self._past is None:
                return
        past, at = self._past
        if self._named(past, *key) is None:
            while at < cursor:
                stop = min(at + SLICE, cursor)
                yield past.apply_all(history.events(at, stop)) or 1
                at = stop
            self._past = (past, cursor)
