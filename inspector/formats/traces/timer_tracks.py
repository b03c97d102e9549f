"""The timers of clocks in a trace: their spans and firings, what led to each, and how many wait."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from heapq import heappop, heappush
from typing import Any, Final

from msgspec import Struct

from inspector.display_text import counted
from inspector.events.timeline import Timeline
from inspector.formats.captures.trace_extras import OVERLAPPING, CounterTrack
from inspector.formats.traces.writer import (
    CLOCKS,
    FRAMES,
    PROCESS,
    FlowStep,
    Reach,
    SliceDetails,
    TraceWriter,
)
from inspector.timebase import NS_PER_MS, NS_PER_US
from inspector.vocabulary import NEVER, TimerKind

#: The largest number of tracks, each for one timer at a time; further timers are left out.
MOST_ROWS: Final = 10_000
#: The tracks of timers are numbered from here on.
_LIVES: Final = 500_000_000
_NO_FLOW: Final = -1
_WAITING: Final = CounterTrack("", "timers waiting")


class Gauge:
    """A counter that is written once for each instant at which it changes."""

    def __init__(self, writer: TraceWriter, counted: CounterTrack, track: int = PROCESS) -> None:
        """Begin without a value; the track is that of the process or of a clock."""
        self._writer = writer
        self._counted = counted
        self._track = track
        self._at_ns = 0
        self._value: int | None = None
        self._written: int | None = None

    def set(self, at_ns: int, value: int) -> None:
        if at_ns != self._at_ns:
            self.end()
        self._at_ns, self._value = at_ns, value

    def end(self) -> None:
        if self._value is not None and self._value != self._written:
            self._writer.counter(self._track, self._counted, self._at_ns, self._value)
            self._written = self._value


class _Timer(Struct):
    clock_id: int
    name: str
    since_ns: int  # Session instant at which it was armed
    row: int  # Its track; 0 if it is left out
    kind: int = TimerKind.TIMEOUT
    site: int = 0  # Index of the text that says where it was set, 0 for none
    due_ns: int = NEVER  # Local instant at which it is due
    flow: int = _NO_FLOW  # The flow from its arming to its firings
    has_begun: bool = False
    fired: int = 0


class TimerTracks:
    """Turns the events of timers into slices, flows and counters."""

    def __init__(self, state: Timeline, strings: Sequence[str], writer: TraceWriter) -> None:
        self._strings = strings
        self._writer = writer
        self._waiting: dict[int, Gauge] = {}
        self._timers: dict[int, _Timer] = {}
        self._of_clock: dict[int, set[int]] = {}
        self._free_rows: dict[int, list[int]] = {}
        self._rows = 0
        self._left_out = 0
        self._flows = 0
        table = state.timers
        for timer_id in table.ids():
            i = table.index(timer_id)
            self._add(state.at_ns, timer_id, table.clock[i], table.label[i])
            timer = self._timers[timer_id]
            timer.kind, timer.site = table.kind[i], table.site[i]
            timer.due_ns, timer.fired = table.due[i], table.fired[i]
        for clock_id in self._of_clock:
            self._count(state.at_ns, clock_id)

    def end(self, last_ns: int) -> None:
        """Write the timers that are still pending, and how many are omitted."""
        for timer_id in list(self._timers):
            self._end_timer(last_ns, timer_id, "")
        for gauge in self._waiting.values():
            gauge.end()
        if self._left_out:
            are = counted(self._left_out, "timer is", "timers are")
            text = f"{are} omitted, as more than {MOST_ROWS:,} waited at a time."
            self._writer.instant(FRAMES, text, last_ns, Reach.ALL)

    def clocks_removed(self, at_ns: int, gone: Collection[int]) -> None:
        for clock_id in gone:
            theirs = list(self._of_clock.get(clock_id, ()))
            for timer_id in theirs:
                self._end_timer(at_ns, timer_id, "removed with its clock")
            if theirs:
                self._count(at_ns, clock_id)

    def _on_timer_added(self, at_ns: int, timer_id: int, clock_id: int, name: int) -> None:
        if timer_id not in self._timers:
            self._add(at_ns, timer_id, clock_id, name)
            self._count(at_ns, clock_id)

    def _on_timer_origin(self, _at_ns: int, timer_id: int, site: int, kind: int) -> None:
        if (timer := self._timers.get(timer_id)) is not None:
            timer.site, timer.kind = site, kind

    def _on_timer_armed(self, at_ns: int, timer_id: int, due_ns: int, interval_ns: int) -> None:
        timer = self._timers.get(timer_id)
        if timer is None:
            return
        timer.due_ns = due_ns
        timer.flow, self._flows = self._flows, self._flows + 1
        timer.has_begun = False
        told: dict[str, Any] = {"timer": timer_id}
        if due_ns != NEVER:
            told["due_ms"] = due_ns / NS_PER_MS
        if interval_ns:
            told["every_ms"] = interval_ns / NS_PER_MS
        about = SliceDetails(told, self._step(timer, is_last=False))
        self._writer.instant(
            CLOCKS + timer.clock_id, f"{timer.name} armed", at_ns, Reach.TRACK, about
        )

    def _on_timer_fired(self, at_ns: int, timer_id: int, late_ns: int, next_ns: int) -> None:
        timer = self._timers.get(timer_id) or _Timer(0, f"timer {timer_id}", at_ns, 0)
        timer.fired += 1
        told: dict[str, Any] = {"timer": timer_id, "late_us": late_ns / NS_PER_US}
        if timer.due_ns != NEVER:
            told["due_ms"] = timer.due_ns / NS_PER_MS
        about = SliceDetails(told, self._step(timer, is_last=next_ns == NEVER))
        self._writer.instant(CLOCKS + timer.clock_id, timer.name, at_ns, Reach.TRACK, about)
        timer.due_ns = next_ns
        if next_ns == NEVER and timer_id in self._timers:
            self._end_timer(at_ns, timer_id, "fired for the last time")
            self._count(at_ns, timer.clock_id)

    def _on_timer_cleared(self, at_ns: int, timer_id: int, _site: int, _cause: int) -> None:
        timer = self._timers.get(timer_id)
        if timer is not None:
            self._end_timer(at_ns, timer_id, "cleared")
            self._count(at_ns, timer.clock_id)

    def _count(self, at_ns: int, clock_id: int) -> None:
        gauge = self._waiting.get(clock_id)
        if gauge is None:
            gauge = self._waiting[clock_id] = Gauge(self._writer, _WAITING, CLOCKS + clock_id)
        gauge.set(at_ns, len(self._of_clock[clock_id]))

    def _step(self, timer: _Timer, *, is_last: bool) -> tuple[FlowStep, ...]:
        """Return the next step of a timer's flow; none if the beginning of the flow is missing."""
        if timer.flow == _NO_FLOW:
            return ()
        begins, timer.has_begun = not timer.has_begun, True
        return (FlowStep(timer.flow, timer.name, begins, is_last),)

    def _add(self, at_ns: int, timer_id: int, clock_id: int, name: int) -> None:
        row = self._row_of(clock_id)
        self._timers[timer_id] = _Timer(clock_id, self._strings[name], at_ns, row)
        self._of_clock.setdefault(clock_id, set()).add(timer_id)

    def _row_of(self, clock_id: int) -> int:
        """Return a track for a timer of a clock, 0 if there are too many."""
        free = self._free_rows.setdefault(clock_id, [])
        if free:
            return heappop(free) if self._writer.nests else free[0]
        if self._rows >= MOST_ROWS:
            self._left_out += 1
            return 0
        self._rows += 1
        row = _LIVES + self._rows
        self._writer.track(row, f"timers{OVERLAPPING}", CLOCKS + clock_id)
        if not self._writer.nests:
            free.append(row)
        return row

    def _end_timer(self, at_ns: int, timer_id: int, ending: str) -> None:
        timer = self._timers.pop(timer_id)
        self._of_clock[timer.clock_id].discard(timer_id)
        if not timer.row:
            return
        if self._writer.nests:
            heappush(self._free_rows[timer.clock_id], timer.row)
        told: dict[str, Any] = {
            "timer": timer_id,
            "kind": TimerKind(timer.kind).text,
            "fired": timer.fired,
        }
        if timer.site:
            told["set_at"] = self._strings[timer.site]
        if ending:
            told["ended"] = ending
        took_ns = at_ns - timer.since_ns
        self._writer.slice(timer.row, timer.name, timer.since_ns, took_ns, SliceDetails(told))
