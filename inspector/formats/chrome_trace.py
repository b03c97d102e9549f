"""A session as Chrome trace-event JSON, which Perfetto, Chrome and Speedscope open.

Each clock is a thread: its firings are instants, its pauses slices, its rate a counter. Frames are
slices of a thread of their own, with phases and calls nested in them, and each state machine is a
thread of states. Times are microseconds of session time. Format:
https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from inspector.analysis.frame_events import FrameEvents, FrameReader
from inspector.events.handlers import handlers_of, merged
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import NEVER, RATE_DENOMINATOR, Phase

if TYPE_CHECKING:
    from inspector.events.history import History
    from inspector.formats.frame_times import Provenance

_PROCESS: Final = 1
_FRAMES: Final = 1
_CLOCKS: Final = 10
_MACHINES: Final = 1_000_000
#: Events that are read at a time.
_AT_ONCE: Final = 20_000
_NS_PER_US: Final = 1000


def write_chrome_trace(history: History, provenance: Provenance, stream: BinaryIO) -> None:
    """Write everything that a history has kept, in pieces.

    Args:
        history: The events.
        provenance: Where they come from, for the file's metadata.
        stream: Takes the file.

    Raises:
        OSError: It cannot be written.
    """
    writer = _Writer(stream)
    about = {"scene": provenance.scene, "software": f"Timeline Inspector {provenance.version}"}
    head = json.dumps({"displayTimeUnit": "ms", "otherData": about}, ensure_ascii=False)
    stream.write(f'{head[:-1]}, "traceEvents": [\n'.encode())
    writer.name("process_name", 0, provenance.scene)
    writer.name("thread_name", _FRAMES, "frames")
    reader = _TraceReader(history, writer)
    frames = FrameReader(reader.take_frame)
    steps = merged(handlers_of(frames), handlers_of(reader))
    for start in range(history.first, history.end, _AT_ONCE):
        for event in history.events(start, min(start + _AT_ONCE, history.end)):
            at_ns, kind, subject, a, b = event
            for step in steps.get(kind, ()):
                step(at_ns, subject, a, b)
    reader.end(history.last_ns)
    stream.write(b"\n]}\n")


class _Writer:
    """Writes trace events, one a line."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._is_first = True

    def write(self, values: dict[str, Any]) -> None:
        line = json.dumps({"pid": _PROCESS, **values}, ensure_ascii=False, separators=(",", ":"))
        self._stream.write((line if self._is_first else f",\n{line}").encode())
        self._is_first = False

    def name(self, what: str, thread: int, name: str, order: int = 0) -> None:
        self.write({"ph": "M", "name": what, "tid": thread, "args": {"name": name}})
        if what == "thread_name":
            index = {"sort_index": order or thread}
            self.write({"ph": "M", "name": "thread_sort_index", "tid": thread, "args": index})

    def slice(self, thread: int, name: str, at_ns: int, took_ns: int, **args: object) -> None:
        values = {"ph": "X", "tid": thread, "name": name, "ts": _us(at_ns), "dur": _us(took_ns)}
        self.write({**values, "args": args} if args else values)

    def instant(self, thread: int, name: str, at_ns: int, scope: str, **args: object) -> None:
        values = {"ph": "i", "tid": thread, "name": name, "ts": _us(at_ns), "s": scope}
        self.write({**values, "args": args} if args else values)

    def counter(self, name: str, at_ns: int, value: float) -> None:
        self.write({"ph": "C", "name": name, "ts": _us(at_ns), "args": {"value": value}})


class _TraceReader:
    """Takes events, and writes what they mean."""

    def __init__(self, history: History, writer: _Writer) -> None:
        state = history.state_before(history.first)
        self._strings = history.strings
        self._writer = writer
        self._clocks: dict[int, str] = {}
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

    def end(self, last_ns: int) -> None:
        """Write what has not ended."""
        self._write_frame(None)
        for clock_id, since_ns in self._paused.items():
            self._writer.slice(_CLOCKS + clock_id, "paused", since_ns, last_ns - since_ns)
        for member_id, (since_ns, state) in self._states.items():
            self._writer.slice(_MACHINES + member_id, state, since_ns, last_ns - since_ns)

    # ---------------------------------------------------------------- clocks

    def _name_clock(self, clock_id: int, parent_id: int, name: str) -> None:
        above = self._clocks.get(parent_id, "")
        self._clocks[clock_id] = path = f"{above} / {name}" if above else name
        self._writer.name("thread_name", _CLOCKS + clock_id, path)

    def _on_clock_added(self, _at_ns: int, clock_id: int, parent_id: int, name: int) -> None:
        self._name_clock(clock_id, parent_id, self._strings[name])

    def _on_clock_anchored(self, at_ns: int, clock_id: int, _local_ns: int, rate_n: int) -> None:
        self._count_rate(at_ns, clock_id, rate_n)

    def _on_clock_rate(self, at_ns: int, clock_id: int, rate_n: int, _cause: int) -> None:
        self._count_rate(at_ns, clock_id, rate_n)

    def _count_rate(self, at_ns: int, clock_id: int, rate_n: int) -> None:
        name = f"rate of {self._clocks.get(clock_id, clock_id)}"
        self._writer.counter(name, at_ns, rate_n / RATE_DENOMINATOR)

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
        late = {"timer": timer_id, "late_us": _us(late_ns)}
        self._writer.instant(_CLOCKS + clock_id, name, at_ns, "t", **late)
        if next_ns == NEVER:
            self._timers.pop(timer_id, None)

    def _on_timer_cleared(self, _at_ns: int, timer_id: int, _site: int, _cause: int) -> None:
        self._timers.pop(timer_id, None)

    def _on_member_added(self, _at_ns: int, member_id: int, _parent: int, name: int) -> None:
        self._members[member_id] = self._strings[name]

    def _on_state_entered(self, at_ns: int, member_id: int, state: int, _by: int) -> None:
        former = self._states.get(member_id)
        thread = _MACHINES + member_id
        if former is None:
            name = self._members.get(member_id, f"machine {member_id}")
            self._writer.name("thread_name", thread, f"{name} (states)")
        else:
            self._writer.slice(thread, former[1], former[0], at_ns - former[0])
        self._states[member_id] = at_ns, self._strings[state]

    # ---------------------------------------------------------------- what happens to the session

    def _on_mark(self, at_ns: int, _clock_id: int, text: int, _b: int) -> None:
        self._writer.instant(_FRAMES, self._strings[text], at_ns, "g")

    def _on_command(self, at_ns: int, number: int, text: int, refusal: int) -> None:
        why = {"refused": self._strings[refusal]} if refusal else {}
        self._writer.instant(_FRAMES, self._strings[text], at_ns, "p", command=number, **why)

    def _on_callback_failed(self, at_ns: int, _timer: int, name: int, error: int) -> None:
        traceback = self._strings[error]
        text = f"“{self._strings[name]}” failed"
        self._writer.instant(_FRAMES, text, at_ns, "p", traceback=traceback)

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
        self._writer.slice(
            _FRAMES,
            "frame",
            frame.at_ns,
            own_ns,
            index=frame.index,
            interval_ms=frame.interval_ns / NS_PER_MS,
            busy_ms=frame.busy_ns / NS_PER_MS,
        )
        self._writer.counter("frame time (ms)", frame.at_ns, frame.interval_ns / NS_PER_MS)
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


def _us(ns: int) -> float:
    """Return nanoseconds as microseconds, which the format wants, with all digits."""
    return ns / _NS_PER_US
