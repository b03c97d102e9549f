"""What a session's events mean in a trace: tracks, slices, instants and counters.

Each clock is a track below that of its parent: its firings are instants, its pauses slices, its
rate a counter. Frames are slices of a track of their own, with phases and calls nested in them,
and each state machine is a track of states. A capture with slices is written as it is. Every
format of a trace is a :class:`TraceWriter`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

import numpy as np

from inspector.analysis.frame_events import FrameEvents, FrameReader
from inspector.events.handlers import handlers_of, merged
from inspector.formats.captures.trace_extras import CounterTrack
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import NEVER, RATE_DENOMINATOR, Phase

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from inspector.events.history import History
    from inspector.formats.captures.capture import Slices
    from inspector.formats.captures.trace_extras import Counters

#: The process, above all tracks.
PROCESS: Final = 0
_FRAMES: Final = 1
_CLOCKS: Final = 10
_MACHINES: Final = 1_000_000
#: Between the numbers of rows of a track.
_ROW: Final = 1_000_000
#: Events that are read at a time.
_AT_ONCE: Final = 20_000
_NS_PER_US: Final = 1000
_RATE: Final = CounterTrack("", "rate")
_FRAME_TIME: Final = CounterTrack("", "frame time", unit="ms")
_NUMBERED: Final = re.compile(r"(.+) \((\d{1,9})\)")
_NUMBER_ALONE: Final = re.compile(r"(?:process|thread) (\d{1,9})")


class Reach(StrEnum):
    """How much of a trace an instant concerns, in the letters of trace-event JSON."""

    TRACK = "t"
    PROCESS = "p"
    ALL = "g"


@dataclass(frozen=True, slots=True)
class FlowStep:
    """That a slice is part of a flow.

    Attributes:
        flow: Number of the flow.
        name: Its name; empty where it has none.
        begins: Whether it begins there.
        ends: Whether it ends there.
    """

    flow: int
    name: str
    begins: bool
    ends: bool


@dataclass(frozen=True, slots=True)
class About:
    """What is written with a slice or an instant.

    Attributes:
        arguments: Values by name, such as JSON has.
        flows: The flows that it is part of.
    """

    arguments: Mapping[str, object]
    flows: Sequence[FlowStep] = ()


#: Nothing is written with a slice.
NOTHING: Final = About({})


class TraceWriter(Protocol):
    """Writes one format of a trace.

    Slices of a track come with those around others first, and in the order of their beginnings.

    Attributes:
        nests: Whether slices of a track must be within each other or follow each other.
    """

    nests: bool

    def track(
        self,
        track: int,
        name: str,
        parent: int,
        *,
        is_process: bool = False,
        number: int | None = None,
    ) -> None:
        """Name a track before its first event.

        Args:
            track: Its number, and its place among its siblings.
            name: Its name.
            parent: The track above it.
            is_process: Whether it is a process.
            number: The system's number of the process or thread, ``None`` without one.
        """

    def slice(
        self, track: int, name: str, at_ns: int, took_ns: int, about: About = NOTHING
    ) -> None:
        """Add a stretch of time."""

    def instant(
        self, track: int, name: str, at_ns: int, reach: Reach, about: About = NOTHING
    ) -> None:
        """Add an instant."""

    def counter(self, track: int, counted: CounterTrack, at_ns: int, value: float) -> None:
        """Set a counter of a track, or of the process."""


@dataclass(frozen=True, slots=True)
class Events:
    """The events to write.

    Attributes:
        history: Where they are.
        start_ns: Session instant from which on.
        end_ns: Session instant up to which; ``None`` for all that follow.
    """

    history: History
    start_ns: int = 0
    end_ns: int | None = None


@runtime_checkable
class HasSlices(Protocol):
    """The past of a capture."""

    @property
    def slices(self) -> Slices | None:
        """Its slices, ``None`` if they are to be made of its events."""


def write_trace(events: Events, writer: TraceWriter, title: str) -> None:
    """Write what a history has kept, in pieces.

    Args:
        events: The events.
        writer: Takes them.
        title: Name of the process, unless the events know of processes themselves.
    """
    history, start_ns, end_ns = events.history, events.start_ns, events.end_ns
    if isinstance(history, HasSlices) and history.slices is not None:
        _write_slices(
            history.slices, start_ns, history.last_ns if end_ns is None else end_ns, writer
        )
        return
    first = max(history.first, history.cursor_at(start_ns - 1)) if start_ns else history.first
    last = history.end if end_ns is None else history.cursor_at(end_ns)
    writer.track(PROCESS, title, PROCESS, is_process=True)
    writer.track(_FRAMES, "frames", PROCESS)
    reader = _TraceReader(history, writer, first)
    frames = FrameReader(reader.take_frame)
    steps = merged(handlers_of(frames), handlers_of(reader))
    for start in range(first, last, _AT_ONCE):
        for event in history.events(start, min(start + _AT_ONCE, last)):
            at_ns, kind, subject, a, b = event
            for step in steps.get(kind, ()):
                step(at_ns, subject, a, b)
    reader.end(history.last_ns if end_ns is None else min(end_ns, history.last_ns))


def _write_slices(slices: Slices, start_ns: int, end_ns: int, writer: TraceWriter) -> None:
    """Write the slices of a capture that are in progress between two instants."""
    starts, took, tracks = slices.start_ns, slices.took_ns, slices.track
    chosen = np.flatnonzero((starts + took >= start_ns) & (starts <= end_ns))
    # Those around others come later in a capture, as they end later.
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
        number = _MACHINES + track + row * _ROW
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
            about_slice = About(extras.arguments.of(place), flows)
        name = slices.names[slices.name[place]]
        if took_ns:
            writer.slice(number, name, at_ns, took_ns, about_slice)
        else:
            writer.instant(number, name, at_ns, Reach.TRACK, about_slice)
    _write_counters(extras.counters, start_ns, end_ns, processes, writer)


def _write_counters(
    counters: Counters, start_ns: int, end_ns: int, processes: _Processes, writer: TraceWriter
) -> None:
    """Write the values of counters between two instants, and those that they have at the first."""
    for place, track in enumerate(counters.tracks):
        at_ns, values = counters.of(place)
        first = max(int(np.searchsorted(at_ns, start_ns, side="right")) - 1, 0)
        last = int(np.searchsorted(at_ns, end_ns, side="right"))
        for instant, value in zip(
            at_ns[first:last].tolist(), values[first:last].tolist(), strict=True
        ):
            writer.counter(processes.track_of(track.process), track, max(instant, start_ns), value)


class _Processes:
    """The tracks of processes, which are written when something of theirs is."""

    def __init__(self, writer: TraceWriter) -> None:
        self._writer = writer
        self._tracks: dict[str, int] = {}

    def track_of(self, process: str) -> int:
        """Return the track of a process by its name."""
        track = self._tracks.get(process)
        if track is None:
            track = self._tracks[process] = _CLOCKS + len(self._tracks)
            name, number = _numbered(process)
            self._writer.track(track, name, PROCESS, is_process=True, number=number)
        return track


class _Rows:
    """Parts slices of a track that overlap without being within each other into rows."""

    def __init__(self) -> None:
        self._ends: list[list[int]] = []
        self._written = -1

    def row_of(self, at_ns: int, took_ns: int) -> int:
        """Return the first row in which a slice is within those in progress."""
        for row, ends in enumerate(self._ends):
            while ends and ends[-1] <= at_ns:
                ends.pop()
            if not ends or at_ns + took_ns <= ends[-1]:
                ends.append(at_ns + took_ns)
                return row
        self._ends.append([at_ns + took_ns])
        return len(self._ends) - 1

    def is_new(self, row: int) -> bool:
        """Return whether a row has not been asked for."""
        is_new = row > self._written
        self._written = max(self._written, row)
        return is_new


def _numbered(name: str) -> tuple[str, int | None]:
    """Return name and number of a process or thread, which importers show in one text."""
    if match := _NUMBERED.fullmatch(name):
        return match[1], int(match[2])
    match = _NUMBER_ALONE.fullmatch(name)
    return name, int(match[1]) if match else None


class _TraceReader:
    """Takes events, and writes what they mean."""

    def __init__(self, history: History, writer: TraceWriter, first: int) -> None:
        state = history.state_before(first)
        self._strings = history.strings
        self._writer = writer
        self._clocks: set[int] = set()
        self._timers: dict[int, tuple[int, str]] = {}
        self._members = {each.id: each.name for each in state.members.by_id.values()}
        self._paused: dict[int, int] = {}
        self._states: dict[int, tuple[int, str]] = {}
        self._frame: FrameEvents | None = None
        for clock in state.clocks.values():
            self._name_clock(clock.id, clock.parent_id, clock.name)
            if clock.paused:
                self._paused[clock.id] = state.at_ns
        for timer_id in state.timers.ids():
            row = state.timers.row(timer_id)
            self._timers[timer_id] = row.clock_id, row.label
        if first:
            for clock in state.clocks.values():
                self._count_rate(state.at_ns, clock.id, clock.rate_n)
            for member_id, states in state.members.histories.items():
                self._on_state_entered(state.at_ns, member_id, states.state[-1], 0)

    def end(self, last_ns: int) -> None:
        """Write what has not ended."""
        self._write_frame(None)
        for clock_id, since_ns in self._paused.items():
            self._writer.slice(_CLOCKS + clock_id, "paused", since_ns, last_ns - since_ns)
        for member_id, (since_ns, state) in self._states.items():
            self._writer.slice(_MACHINES + member_id, state, since_ns, last_ns - since_ns)

    # ---------------------------------------------------------------- clocks

    def _name_clock(self, clock_id: int, parent_id: int, name: str) -> None:
        parent = _CLOCKS + parent_id if parent_id in self._clocks else PROCESS
        self._clocks.add(clock_id)
        self._writer.track(_CLOCKS + clock_id, name, parent)

    def _on_clock_added(self, _at_ns: int, clock_id: int, parent_id: int, name: int) -> None:
        self._name_clock(clock_id, parent_id, self._strings[name])

    def _on_clock_anchored(self, at_ns: int, clock_id: int, _local_ns: int, rate_n: int) -> None:
        self._count_rate(at_ns, clock_id, rate_n)

    def _on_clock_rate(self, at_ns: int, clock_id: int, rate_n: int, _cause: int) -> None:
        self._count_rate(at_ns, clock_id, rate_n)

    def _count_rate(self, at_ns: int, clock_id: int, rate_n: int) -> None:
        self._writer.counter(_CLOCKS + clock_id, _RATE, at_ns, rate_n / RATE_DENOMINATOR)

    def _on_clock_paused(self, at_ns: int, clock_id: int, _cause: int, _b: int) -> None:
        self._paused.setdefault(clock_id, at_ns)

    def _on_clock_resumed(self, at_ns: int, clock_id: int, _cause: int, _b: int) -> None:
        since_ns = self._paused.pop(clock_id, None)
        if since_ns is not None:
            self._writer.slice(_CLOCKS + clock_id, "paused", since_ns, at_ns - since_ns)

    def _on_clock_removed(self, at_ns: int, clock_id: int, _a: int, _b: int) -> None:
        self._on_clock_resumed(at_ns, clock_id, 0, 0)

    # ---------------------------------------------------------------- timers and machines

    def _on_timer_added(self, _at_ns: int, timer_id: int, clock_id: int, name: int) -> None:
        self._timers[timer_id] = clock_id, self._strings[name]

    def _on_timer_fired(self, at_ns: int, timer_id: int, late_ns: int, next_ns: int) -> None:
        clock_id, name = self._timers.get(timer_id, (0, f"timer {timer_id}"))
        late = About({"timer": timer_id, "late_us": late_ns / _NS_PER_US})
        self._writer.instant(_CLOCKS + clock_id, name, at_ns, Reach.TRACK, late)
        if next_ns == NEVER:
            self._timers.pop(timer_id, None)

    def _on_timer_cleared(self, _at_ns: int, timer_id: int, _site: int, _cause: int) -> None:
        self._timers.pop(timer_id, None)

    def _on_member_added(self, _at_ns: int, member_id: int, _parent: int, name: int) -> None:
        self._members[member_id] = self._strings[name]

    def _on_state_entered(self, at_ns: int, member_id: int, state: int, _by: int) -> None:
        former = self._states.get(member_id)
        track = _MACHINES + member_id
        if former is None:
            name = self._members.get(member_id, f"machine {member_id}")
            self._writer.track(track, f"{name} (states)", PROCESS)
        else:
            self._writer.slice(track, former[1], former[0], at_ns - former[0])
        self._states[member_id] = at_ns, self._strings[state]

    # ---------------------------------------------------------------- what happens to the session

    def _on_mark(self, at_ns: int, _clock_id: int, text: int, _b: int) -> None:
        self._writer.instant(_FRAMES, self._strings[text], at_ns, Reach.ALL)

    def _on_command(self, at_ns: int, number: int, text: int, refusal: int) -> None:
        why = {"refused": self._strings[refusal]} if refusal else {}
        about = About({"command": number, **why})
        self._writer.instant(_FRAMES, self._strings[text], at_ns, Reach.PROCESS, about)

    def _on_callback_failed(self, at_ns: int, _timer: int, name: int, error: int) -> None:
        about = About({"traceback": self._strings[error]})
        text = f"“{self._strings[name]}” failed"
        self._writer.instant(_FRAMES, text, at_ns, Reach.PROCESS, about)

    # ---------------------------------------------------------------- frames

    def take_frame(self, frame: FrameEvents) -> None:
        """Write the frame before, which ends at the latest where this one begins."""
        if frame.cursor >= 0:
            self._write_frame(frame)

    def _write_frame(self, following: FrameEvents | None) -> None:
        frame, self._frame = self._frame, following
        if frame is None:
            return
        room_ns = frame.own_ns if following is None else following.at_ns - frame.at_ns
        own_ns = min(frame.own_ns, room_ns)
        about = {
            "index": frame.index,
            "interval_ms": frame.interval_ns / NS_PER_MS,
            "busy_ms": frame.busy_ns / NS_PER_MS,
        }
        self._writer.slice(_FRAMES, "frame", frame.at_ns, own_ns, About(about))
        took_ms = frame.interval_ns / NS_PER_MS
        self._writer.counter(PROCESS, _FRAME_TIME, frame.at_ns, took_ms)
        done_ns = 0
        for phase, took_ns in frame.phases.items():
            if phase == Phase.TIMERS:
                continue
            phase_ns = min(took_ns, own_ns - done_ns)
            self._writer.slice(_FRAMES, Phase(phase).text, frame.at_ns + done_ns, phase_ns)
            self._write_calls(frame, phase, done_ns, done_ns + phase_ns)
            done_ns += phase_ns

    def _write_calls(self, frame: FrameEvents, phase: int, low_ns: int, high_ns: int) -> None:
        """Write the calls of a phase, those around others first."""
        calls = sorted(frame.calls.get(phase, ()), key=lambda call: (call[0], -call[1]))
        for began_ns, took_ns, member_id in calls:
            start_ns = min(max(began_ns, low_ns), high_ns)
            end_ns = min(began_ns + took_ns, high_ns)
            name = self._members.get(member_id, f"call {member_id}")
            at_ns = frame.at_ns + start_ns
            self._writer.slice(_FRAMES, name, at_ns, max(end_ns - start_ns, 0))
