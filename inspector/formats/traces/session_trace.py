"""The events of a session as a trace: tracks, slices, instants and counters.

Each clock is a track below that of its parent: its firings are instants, its pauses slices, its
rate a counter. Frames are slices of a track of their own, with phases and calls nested in them,
and each state machine is a track of states. Functions seen by samples in long turns are a track
too. A capture with slices is written as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from msgspec import Struct

from inspector.analysis.frame_events import FrameEventReader
from inspector.analysis.lateness.blocks import turns_of
from inspector.analysis.lateness.flame import functions_seen
from inspector.analysis.lateness.samples import Sample, Samples
from inspector.events.handlers import handlers_of, merged
from inspector.events.history import History
from inspector.events.timeline import Timeline
from inspector.formats.captures.trace_extras import CounterTrack
from inspector.formats.traces.capture_slices import write_slices
from inspector.formats.traces.frame_tracks import FrameTrack, LoopTracks, MemberCallDetails
from inspector.formats.traces.timer_tracks import Gauge, TimerTracks
from inspector.formats.traces.writer import (
    CLOCKS,
    FRAMES,
    MACHINES,
    PROCESS,
    Reach,
    SliceDetails,
    TraceWriter,
)
from inspector.vocabulary import RATE_DENOMINATOR, Field

if TYPE_CHECKING:
    from inspector.formats.captures.capture import Slices
    from inspector.pictures.pictures import Picture

#: Added to the number of a clock: the track of functions sampled in its loop.
_SAMPLED: Final = 300_000_000
#: Events that are read at a time.
_AT_ONCE: Final = 5_000
_RATE: Final = CounterTrack("", "rate")
_PAUSED: Final = CounterTrack("", "paused clocks")


class Events(Struct, frozen=True):
    history: History
    start_ns: int = 0  # Session instant of the beginning
    end_ns: int | None = None  # Session instant of the end; None for the end of the session
    pictures: HasPictures | None = None  # Pictures that a scene drew of itself; None for none


class HasPictures(Protocol):
    def at(self, frame: int) -> Picture | None:
        """Return the picture of a frame, or of the last one before it that was kept."""


@runtime_checkable
class HasSlices(Protocol):
    @property
    def slices(self) -> Slices | None:
        """The slices of a capture; ``None`` if slices have to be made from events."""


def write_trace(events: Events, writer: TraceWriter, title: str) -> None:
    """Write the events that a history has kept, in blocks."""
    history, start_ns, end_ns = events.history, events.start_ns, events.end_ns
    if isinstance(history, HasSlices) and history.slices is not None:
        write_slices(
            history.slices, start_ns, history.last_ns if end_ns is None else end_ns, writer
        )
        return
    first = max(history.first, history.cursor_at(start_ns - 1)) if start_ns else history.first
    last = history.end if end_ns is None else history.cursor_at(end_ns)
    writer.track(PROCESS, title, PROCESS, is_process=True)
    writer.track(FRAMES, "frames", PROCESS)
    state, strings = history.state_before(first), history.strings
    calls = MemberCallDetails(state, strings)
    shown = FrameTrack(writer, FRAMES, PROCESS, calls)
    reader = _TraceReader(state, strings, writer, calls)
    timers = reader.timers
    loops = LoopTracks(state, strings, writer)
    last_ns = history.last_ns if end_ns is None else min(end_ns, history.last_ns)
    seen = SampleTracks(strings, writer, (start_ns, last_ns))
    readers = (FrameEventReader(shown.add), calls, reader, timers, loops, seen.samples)
    steps = merged(*map(handlers_of, readers))
    for start in range(first, last, _AT_ONCE):
        for event in history.events(start, min(start + _AT_ONCE, last)):
            at_ns, kind, subject, a, b = event
            for step in steps.get(kind, ()):
                step(at_ns, subject, a, b)
        seen.write()
    seen.write(is_last=True)
    shown.end()
    loops.end()
    reader.end(last_ns)
    timers.end(last_ns)


class _TraceReader:
    """Turns the events of clocks, machines and the session into slices, instants and counters."""

    def __init__(
        self, state: Timeline, strings: Sequence[str], writer: TraceWriter, calls: MemberCallDetails
    ) -> None:
        self._strings = strings
        self._writer = writer
        self._calls = calls
        self._parents: dict[int, int] = {}
        self._children: dict[int, list[int]] = {}
        self._paused: dict[int, int] = {}
        self._paused_count = Gauge(writer, _PAUSED)
        self._states: dict[int, tuple[int, str]] = {}
        for clock in state.clocks.values():
            self._name_clock(clock.id, clock.parent_id, clock.name)
            if clock.paused:
                self._paused[clock.id] = state.at_ns
        self.timers = TimerTracks(state, strings, writer)  # Takes the events of timers
        if state.clocks:
            self._paused_count.set(state.at_ns, len(self._paused))
        for clock in state.clocks.values():
            self._count_rate(state.at_ns, clock.id, clock.rate_n)
        for member_id, states in state.members.histories.items():
            self._enter(state.at_ns, member_id, states.state[-1])

    def end(self, last_ns: int) -> None:
        self._paused_count.end()
        for clock_id, since_ns in self._paused.items():
            self._writer.slice(CLOCKS + clock_id, "paused", since_ns, last_ns - since_ns)
        for member_id, (since_ns, state) in self._states.items():
            self._writer.slice(MACHINES + member_id, state, since_ns, last_ns - since_ns)

    def _name_clock(self, clock_id: int, parent_id: int, name: str) -> None:
        parent = CLOCKS + parent_id if parent_id in self._parents else PROCESS
        self._parents[clock_id] = parent_id
        self._children.setdefault(parent_id, []).append(clock_id)
        self._writer.track(CLOCKS + clock_id, name, parent)

    def _on_clock_added(self, at_ns: int, clock_id: int, parent_id: int, name: int) -> None:
        self._name_clock(clock_id, parent_id, self._strings[name])
        self._paused_count.set(at_ns, len(self._paused))

    def _on_clock_moved(self, _at_ns: int, clock_id: int, parent_id: int, _b: int) -> None:
        self._leave_parent(clock_id)
        self._parents[clock_id] = parent_id
        self._children.setdefault(parent_id, []).append(clock_id)

    def _leave_parent(self, clock_id: int) -> None:
        beside = self._children.get(self._parents.pop(clock_id, 0), [])
        if clock_id in beside:
            beside.remove(clock_id)

    def _on_clock_anchored(self, at_ns: int, clock_id: int, _local_ns: int, rate_n: int) -> None:
        self._count_rate(at_ns, clock_id, rate_n)

    def _on_clock_rate(self, at_ns: int, clock_id: int, rate_n: int, _cause: int) -> None:
        self._count_rate(at_ns, clock_id, rate_n)

    def _count_rate(self, at_ns: int, clock_id: int, rate_n: int) -> None:
        self._writer.counter(CLOCKS + clock_id, _RATE, at_ns, rate_n / RATE_DENOMINATOR)

    def _on_clock_paused(self, at_ns: int, clock_id: int, _cause: int, _b: int) -> None:
        self._paused.setdefault(clock_id, at_ns)
        self._paused_count.set(at_ns, len(self._paused))

    def _on_clock_resumed(self, at_ns: int, clock_id: int, _cause: int, _b: int) -> None:
        since_ns = self._paused.pop(clock_id, None)
        if since_ns is not None:
            self._writer.slice(CLOCKS + clock_id, "paused", since_ns, at_ns - since_ns)
            self._paused_count.set(at_ns, len(self._paused))

    def _on_clock_removed(self, at_ns: int, clock_id: int, _a: int, _b: int) -> None:
        self._leave_parent(clock_id)
        gone = []
        waiting = [clock_id]
        while waiting:
            each = waiting.pop()
            gone.append(each)
            waiting.extend(self._children.pop(each, ()))
        for each in gone:
            self._parents.pop(each, None)
            self._on_clock_resumed(at_ns, each, 0, 0)
        self.timers.clocks_removed(at_ns, frozenset(gone))

    def _on_member_set(self, at_ns: int, member_id: int, field: int, value: int) -> None:
        if field == Field.STATE:
            self._enter(at_ns, member_id, value)

    def _on_state_entered(self, at_ns: int, member_id: int, state: int, _by: int) -> None:
        self._enter(at_ns, member_id, state)

    def _enter(self, at_ns: int, member_id: int, state: int) -> None:
        former = self._states.get(member_id)
        track = MACHINES + member_id
        if former is None:
            self._writer.track(track, f"{self._calls.name(member_id)} (states)", PROCESS)
        else:
            self._writer.slice(track, former[1], former[0], at_ns - former[0])
        self._states[member_id] = at_ns, self._strings[state]

    def _on_mark(self, at_ns: int, _clock_id: int, text: int, _b: int) -> None:
        self._writer.instant(FRAMES, self._strings[text], at_ns, Reach.ALL)

    def _on_command(self, at_ns: int, number: int, text: int, refusal: int) -> None:
        why = {"refused": self._strings[refusal]} if refusal else {}
        about = SliceDetails({"command": number, **why})
        self._writer.instant(FRAMES, self._strings[text], at_ns, Reach.PROCESS, about)

    def _on_callback_failed(self, at_ns: int, _timer: int, name: int, error: int) -> None:
        about = SliceDetails({"traceback": self._strings[error]})
        text = f"“{self._strings[name]}” failed"
        self._writer.instant(FRAMES, text, at_ns, Reach.PROCESS, about)

    _on_thread_failed = _on_callback_failed


class SampleTracks:
    """Writes the functions that samples have seen, below the clock of their loop."""

    def __init__(
        self, strings: Sequence[str], writer: TraceWriter, within_ns: tuple[int, int]
    ) -> None:
        self.samples = Samples(strings)  # Handles the events, before write() is called
        self._writer = writer
        self._within_ns = within_ns
        #: The end of the last slice written, by sampled clock.
        self._reached: dict[int, int] = {}

    def write(self, *, is_last: bool = False) -> None:
        """Write the turns that are over, which get no more samples."""
        for clock_id, samples in self.samples.by_clock.items():
            turns = turns_of(samples) if samples else []
            if not is_last:
                del turns[-1:]
            for begin, end in turns:
                self._write_turn(clock_id, samples[begin:end])
            if turns:
                del samples[: turns[-1][1]]

    def _write_turn(self, clock_id: int, samples: Sequence[Sample]) -> None:
        low_ns, high_ns = self._within_ns
        # Turns of a scene may overlap, because its time stands still during a wake-up.
        low_ns = max(low_ns, self._reached.get(clock_id, low_ns))
        for seen in functions_seen(samples, low_ns, high_ns):
            if seen.took_ns <= 0:
                continue
            track = _SAMPLED + clock_id
            if clock_id not in self._reached:
                self._writer.track(track, "functions, from samples", CLOCKS + clock_id)
            ended_ns = seen.began_ns + seen.took_ns
            self._reached[clock_id] = max(self._reached.get(clock_id, 0), ended_ns)
            place = seen.hottest
            name = place.call
            told = {"file": place.file, "line": place.line, "samples": seen.samples}
            self._writer.slice(track, name, seen.began_ns, seen.took_ns, SliceDetails(told))
