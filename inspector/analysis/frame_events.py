"""Frames as values, assembled from their events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from inspector.events.handlers import handlers_of
from inspector.events.history import without_gaps
from inspector.vocabulary import Phase, RawEvent, durations_of

#: A call within a frame: its beginning, its duration, and the member.
MeasuredCall: TypeAlias = tuple[int, int, int]

#: Replaces the phase for calls that no phase followed.
NO_PHASE: Final = -1


class FrameEvents:
    # Defaults are in the class, because there are many frames, and setting all of them takes time.
    cursor = end = -1  # Cursor of its beginning, -1 if that was not read
    # index: Its number
    # interval_ns: The source's time since the frame before
    # busy_ns: Measured time in callbacks
    index = at_ns = end_ns = interval_ns = busy_ns = cut_ns = 0
    # Shares of the interval by code; empty if they were not measured
    shares: tuple[int, ...] = ()

    def __init__(self, start: int) -> None:
        self.start = start  # Cursor of the first event after the frame before
        # The timers that fired before it, each with its lateness, in order
        self.fired: list[tuple[int, int]] = []
        # The timers that fired in it, as in attached programs
        self.fired_within: list[tuple[int, int]] = []
        self.phases: dict[int, int] = {}  # Measured time of each phase
        # The calls of each phase in the order of their ends; calls of timers are before the frame
        self.calls: dict[int, list[MeasuredCall]] = {}

    @property
    def timers_ns(self) -> int:
        return self.phases.get(Phase.TIMERS, 0)

    @property
    def own_ns(self) -> int:
        """Measured time in callbacks within it."""
        return self.busy_ns - self.timers_ns

    @property
    def own_calls(self) -> list[MeasuredCall]:
        by_phase = self.calls.items()
        return [call for phase, calls in by_phase if phase != Phase.TIMERS for call in calls]

    @property
    def longest_phase(self) -> Phase:
        own = [(took_ns, phase) for phase, took_ns in self.phases.items() if phase]
        return Phase(max(own, default=(0, Phase.UPDATE))[1])


class FrameEventReader:
    """Handles events one by one, and passes on each frame when it ends."""

    def __init__(self, on_end: Callable[[FrameEvents], None]) -> None:
        self._on_end = on_end
        self.begin(0)

    def begin(self, cursor: int) -> None:
        self.cursor = cursor
        self._frame = FrameEvents(cursor)
        # Calls whose phase has not ended.
        self._open: list[MeasuredCall] = []

    def _on_timer_fired(self, _at_ns: int, timer_id: int, late_ns: int, _next_ns: int) -> None:
        frame = self._frame
        (frame.fired if frame.cursor < 0 else frame.fired_within).append((timer_id, late_ns))

    def _on_call_ended(self, _at_ns: int, member_id: int, began_ns: int, took_ns: int) -> None:
        self._open.append((began_ns, took_ns, member_id))

    def _on_frame_began(self, at_ns: int, _director: int, index: int, _delta_ns: int) -> None:
        frame = self._frame
        frame.cursor, frame.index, frame.at_ns = self.cursor, index, at_ns
        if self._open:
            self._end_calls(Phase.TIMERS)

    def _on_delta_cut(self, _at_ns: int, _director: int, cut_ns: int, _b: int) -> None:
        self._frame.cut_ns = cut_ns

    def _on_frame_shares(self, _at_ns: int, subject: int, a: int, b: int) -> None:
        self._frame.shares = (*durations_of(subject), *durations_of(a), b)

    def _on_phase_ended(self, _at_ns: int, phase: int, _index: int, took_ns: int) -> None:
        phases = self._frame.phases
        phases[phase] = phases.get(phase, 0) + took_ns
        if phase and self._open:
            self._end_calls(phase)

    def _on_frame_ended(self, at_ns: int, _director: int, interval_ns: int, busy_ns: int) -> None:
        if self._open:
            self._end_calls(NO_PHASE)
        frame, self._frame = self._frame, FrameEvents(self.cursor + 1)
        frame.end, frame.end_ns = self.cursor, at_ns
        frame.interval_ns, frame.busy_ns = interval_ns, busy_ns
        self._on_end(frame)

    def _end_calls(self, phase: int) -> None:
        calls = self._frame.calls
        calls[phase] = calls[phase] + self._open if phase in calls else self._open
        self._open = []


def frames_in(cursors: Sequence[int], events: Sequence[RawEvent]) -> Iterator[FrameEvents]:
    """Yield the frames that end among events.

    The first frame lacks its beginning if that is not among the events, and so does the first one
    after missing events.
    """
    ended: list[FrameEvents] = []
    reader = FrameEventReader(ended.append)
    steps = handlers_of(reader)
    for places, found in without_gaps(cursors, events):
        reader.begin(places[0])
        for reader.cursor, (at_ns, kind, subject, a, b) in zip(places, found, strict=True):
            step = steps.get(kind)
            if step is not None:
                step(at_ns, subject, a, b)
                if ended:
                    yield ended.pop()
