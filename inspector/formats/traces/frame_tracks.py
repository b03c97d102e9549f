"""The frames of a loop as a track: slices with phases and calls nested in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from inspector.analysis.frame_events import FrameEvents
from inspector.events.members import FRAME_TIMERS
from inspector.events.timeline import Timeline
from inspector.formats.captures.trace_extras import CounterTrack
from inspector.formats.traces.writer import CLOCKS, NOTHING, SliceDetails, TraceWriter
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import NEVER, Field, MemberKind, Phase, frame_and_phase_in

#: Added to the number of a clock: the track of the frames of a loop that is not shown.
_LOOPS: Final = 400_000_000
_FRAME_TIME: Final = CounterTrack("", "frame time", unit="ms")
#: Fields of calls that are written as arguments of their slices.
_DETAILS: Final = frozenset({Field.PRIORITY, Field.DUE, Field.CALLS_LEFT})


class FrameTrack:
    def __init__(
        self, writer: TraceWriter, track: int, counted: int, calls: MemberCallDetails | None = None
    ) -> None:
        self._writer = writer
        self._track = track
        self._counted = counted
        self._calls = calls
        self._frame: FrameEvents | None = None
        self._details: dict[tuple[int, int], SliceDetails] = {}

    def add(self, frame: FrameEvents) -> None:
        """Write the frame before, which ends at the latest where this one begins."""
        details = {} if self._calls is None else self._calls.pop_details()
        if frame.cursor >= 0:
            self._write(frame)
            self._details = details

    def end(self) -> None:
        self._write(None)

    def _write(self, following: FrameEvents | None) -> None:
        frame, self._frame = self._frame, following
        if frame is None:
            return
        room_ns = frame.own_ns if following is None else following.at_ns - frame.at_ns
        own_ns = min(frame.own_ns, room_ns)
        took_ms = frame.interval_ns / NS_PER_MS
        about = {"index": frame.index, "interval_ms": took_ms, "busy_ms": frame.busy_ns / NS_PER_MS}
        self._writer.slice(self._track, "frame", frame.at_ns, own_ns, SliceDetails(about))
        self._writer.counter(self._counted, _FRAME_TIME, frame.at_ns, took_ms)
        done_ns = 0
        for phase, took_ns in frame.phases.items():
            if phase == Phase.TIMERS:
                continue
            phase_ns = min(took_ns, own_ns - done_ns)
            self._writer.slice(self._track, Phase(phase).text, frame.at_ns + done_ns, phase_ns)
            if self._calls is not None:
                self._write_calls(self._calls, frame, phase, (done_ns, done_ns + phase_ns))
            done_ns += phase_ns

    def _write_calls(
        self, members: MemberCallDetails, frame: FrameEvents, phase: int, within_ns: tuple[int, int]
    ) -> None:
        low_ns, high_ns = within_ns
        calls = sorted(frame.calls.get(phase, ()), key=lambda call: (call[0], -call[1]))
        for began_ns, took_ns, member_id in calls:
            start_ns = min(max(began_ns, low_ns), high_ns)
            end_ns = min(began_ns + took_ns, high_ns)
            name = members.name(member_id)
            at_ns, about = frame.at_ns + start_ns, self._details.get((member_id, began_ns), NOTHING)
            self._writer.slice(self._track, name, at_ns, max(end_ns - start_ns, 0), about)


class MemberCallDetails:
    """Collects the names and fields of members, and the details of each of their calls."""

    def __init__(self, state: Timeline, strings: Sequence[str]) -> None:
        self._strings = strings
        self._names = {each.id: each.name for each in state.members.by_id.values()}
        self._kinds = {each.id: int(each.kind) for each in state.members.by_id.values()}
        self._fields = {
            each.id: {name: value for name, value in each.fields.items() if name in _DETAILS}
            for each in state.members.by_id.values()
        }
        # The former due instant of each member that got a new one before its call has ended.
        self._were_due: dict[int, int] = {}
        self._details: dict[tuple[int, int], SliceDetails] = {}

    def name(self, member_id: int) -> str:
        return self._names.get(member_id, f"call {member_id}")

    def pop_details(self) -> dict[tuple[int, int], SliceDetails]:
        """Return the details of new calls, by member and beginning of the call in its frame."""
        details, self._details = self._details, {}
        return details

    def _on_member_added(self, _at_ns: int, member_id: int, _parent: int, name: int) -> None:
        self._names[member_id] = self._strings[name]

    def _on_member_origin(self, _at_ns: int, member_id: int, _clock_id: int, kind: int) -> None:
        self._kinds[member_id] = kind

    def _on_member_set(self, _at_ns: int, member_id: int, field: int, value: int) -> None:
        if field == Field.NAME:
            self._names[member_id] = self._strings[value]
        elif field in _DETAILS:
            fields = self._fields.setdefault(member_id, {})
            if field == Field.DUE and field in fields:
                self._were_due[member_id] = fields[field]
            fields[field] = value

    def _on_member_removed(self, _at_ns: int, member_id: int, _a: int, _b: int) -> None:
        # A member is removed before its last call has ended, so no calls are left after that one.
        fields = self._fields.get(member_id, {})
        if fields.get(Field.CALLS_LEFT, -1) > 0:
            fields[Field.CALLS_LEFT] = 0

    def _on_call_ended(self, _at_ns: int, member_id: int, began_ns: int, _took_ns: int) -> None:
        fields = self._fields.get(member_id)
        if not fields:
            return
        kind = self._kinds.get(member_id)
        details: dict[str, Any] = {}
        if kind in FRAME_TIMERS:
            details["timer"] = member_id
            due_ns = self._were_due.pop(member_id, fields.get(Field.DUE, NEVER))
            if due_ns != NEVER:
                details["due_ms"] = due_ns / NS_PER_MS
            if (left := fields.get(Field.CALLS_LEFT, -1)) >= 0:
                details["calls_left"] = left
        elif kind == MemberKind.UPDATE and Field.PRIORITY in fields:
            details["priority"] = fields[Field.PRIORITY]
        if details:
            self._details[member_id, began_ns] = SliceDetails(details)


class LoopTracks:
    """Writes the frames of the loops that are not shown, each below its clock."""

    def __init__(self, state: Timeline, strings: Sequence[str], writer: TraceWriter) -> None:
        self._strings = strings
        self._writer = writer
        self._names = {clock_id: loop.name for clock_id, loop in state.loops.items()}
        self._tracks: dict[int, FrameTrack] = {}
        self._open: dict[int, FrameEvents] = {}

    def end(self) -> None:
        for track in self._tracks.values():
            track.end()

    def _on_loop_found(self, _at_ns: int, clock_id: int, name: int, _kind: int) -> None:
        self._names[clock_id] = self._strings[name]

    def _on_loop_frame_began(self, at_ns: int, clock_id: int, index: int, _delta_ns: int) -> None:
        frame = self._open[clock_id] = FrameEvents(0)
        frame.cursor, frame.index, frame.at_ns = 0, index, at_ns

    def _on_loop_phase_ended(self, _at_ns: int, clock_id: int, a: int, took_ns: int) -> None:
        frame, phase = self._open.get(clock_id), frame_and_phase_in(a)[1]
        if frame is not None and phase < len(Phase):
            frame.phases[phase] = frame.phases.get(phase, 0) + took_ns

    def _on_loop_frame_ended(
        self, at_ns: int, clock_id: int, interval_ns: int, busy_ns: int
    ) -> None:
        frame = self._open.pop(clock_id, None)
        if frame is None:
            return
        frame.end_ns, frame.interval_ns, frame.busy_ns = at_ns, interval_ns, busy_ns
        track = self._tracks.get(clock_id)
        if track is None:
            number, above = _LOOPS + clock_id, CLOCKS + clock_id
            name = f"frames of {self._names.get(clock_id, f'loop {clock_id}')}"
            self._writer.track(number, name, above)
            track = FrameTrack(self._writer, number, above)
            self._tracks[clock_id] = track
        track.add(frame)
