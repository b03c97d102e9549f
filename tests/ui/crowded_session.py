"""A session with many frames, timers and clocks, in which a little happens all the time."""

from __future__ import annotations

import random
from array import array
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from inspector.clocks.sources.wake_errors import WakeErrorSummary
from inspector.commands.command import Capability, Command, Undoing
from inspector.events import EventLog, Timeline
from inspector.events.history import LogHistory
from inspector.sessions.annotations import Annotations
from inspector.sessions.breakpoints.breakpoints import Breakpoints
from inspector.sessions.recorder import Recorder
from inspector.sessions.session import SessionPhase, SessionStatus, UniformSession
from inspector.timebase import NS_PER_SECOND
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    FRAME_BEGAN,
    FRAME_ENDED,
    NEVER,
    PHASE_ENDED,
    RATE_DENOMINATOR,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_FIRED,
    TIMER_ORIGIN,
    TRANSPORT,
    Mode,
    Phase,
    TimerKind,
)

if TYPE_CHECKING:
    from inspector.vocabulary import RawEvent

FRAME_NS: Final = 16_666_667
_ROOT: Final = 1
#: Timers that fire all the time, each with every third frame, whatever the number of others.
_BUSY: Final = 51
_TURNS: Final = 3
#: Timers that fire for the last time with every frame; as many new ones are set.
_LEAVING: Final = 2
_USUAL_BUSY_NS: Final = 3_500_000


class CrowdedSession(UniformSession):
    """A timeline filled without an engine, and a frame with some timers for every refresh.

    What happens between two refreshes is the same whatever the number of frames,
    timers and clocks: one frame, 17 intervals that fire, two one-shots that fire
    and two that are set.

    Attributes:
        log: The events by which clocks and timers came; frames are only in the timeline.
        timeline: The folded events.
        is_going_on: Whether a refresh finds a new frame.
        refreshes: How many refreshes there were while it was going on.
    """

    capabilities = frozenset(Capability)
    title = "Crowded"
    source_label = "a test"
    frame_rate = Fraction(60)
    wake_errors: WakeErrorSummary | None = None
    breakpoints: Breakpoints | None = None
    undoing: Undoing | None = None
    recorder: Recorder | None = None
    notes: tuple[str, ...] = ()
    is_recorded = False

    def __init__(self, frames: int, timers: int, clocks: int) -> None:
        """Fill the timeline.

        Args:
            frames: How many frames have ended.
            timers: How many timers are pending, 60 at least.
            clocks: How many clocks there are, the root included.
        """
        self.log = EventLog()
        self.history = LogHistory(self.log)
        self.timeline = Timeline(self.log.strings)
        self.is_going_on = False
        self.refreshes = 0
        self._chance = random.Random(1)
        self._clocks = clocks
        self._now_ns = frames * FRAME_NS
        self._frames = frames
        self._cursor = 0
        self._next_timer = 1
        self.annotations = Annotations()
        self._add_clocks()
        for number in range(_BUSY):
            self._add_timer(f"busy {number}", _ROOT, self._now_ns + FRAME_NS, _TURNS * FRAME_NS)
        # A third of them with each frame.
        self._busy = [list(range(1 + turn, _BUSY + 1, _TURNS)) for turn in range(_TURNS)]
        self._leaving = [self._add_leaving() for _ in range(_LEAVING)]
        for number in range(timers - _BUSY - _LEAVING):
            self._add_waiting(number)
        self.log.append((self._now_ns, TRANSPORT, Mode.RUNNING, 0, 0))
        self._add_frames(frames)
        self._fold()
        self.timeline.resolve_dues()

    @property
    def status(self) -> SessionStatus:
        if self.is_going_on:
            return SessionStatus(SessionPhase.RUNNING, "Running.")
        return SessionStatus(SessionPhase.HELD, "Held.")

    def submit(self, command: Command) -> None:
        """Take commands, do nothing."""

    def refresh(self) -> int:
        """Let a frame pass, if anything is going on, and fold it."""
        if self.is_going_on:
            self.refreshes += 1
            for event in self._next_frame():
                self.log.append(event)
        return self._fold()

    def close(self) -> None:
        """Nothing runs that could be stopped."""

    # ---------------------------------------------------------------- what is there

    def _add_clocks(self) -> None:
        append, intern, chance = self.log.append, self.log.intern, self._chance
        append((0, CLOCK_ADDED, _ROOT, 0, intern("root")))
        append((0, CLOCK_ANCHORED, _ROOT, 0, RATE_DENOMINATOR))
        for number in range(2, self._clocks + 1):
            # Wide rather than deep, as scenes are.
            above = chance.randrange(1, 2 + number // 20)
            append((0, CLOCK_ADDED, number, above, intern(f"clock {number}")))
            append((0, CLOCK_ANCHORED, number, 0, RATE_DENOMINATOR * chance.choice((1, 1, 2))))

    def _add_timer(self, name: str, clock: int, due_ns: int, interval_ns: int) -> int:
        append, intern = self.log.append, self.log.intern
        number = self._next_timer
        self._next_timer += 1
        kind = TimerKind.INTERVAL_SKIP if interval_ns else TimerKind.TIMEOUT
        append((self._now_ns, TIMER_ADDED, number, clock, intern(name)))
        append((self._now_ns, TIMER_ORIGIN, number, intern("scene.py:10 in build"), kind))
        append((self._now_ns, TIMER_ARMED, number, due_ns, interval_ns))
        return number

    def _add_leaving(self) -> int:
        """Add a one-shot that fires with the next frame."""
        return self._add_timer("leaving", _ROOT, self._now_ns + FRAME_NS, 0)

    def _add_waiting(self, number: int) -> None:
        """Add a one-shot that is due in hours, on any clock."""
        chance = self._chance
        # No clock here is 64 times as fast as the session.
        due_ns = 64 * (self._now_ns + chance.randrange(3_600, 36_000) * NS_PER_SECOND)
        clock = chance.randrange(1, self._clocks + 1)
        self._add_timer(f"waiting {number % 500}", clock, due_ns, 0)

    def _add_frames(self, count: int) -> None:
        """Fill the columns of frames: most are usual, some are slow."""
        history = self.timeline.frames
        pattern = array("q", (self._some_busy_ns() for _ in range(1_000)))
        busy_ns = (pattern * (count // len(pattern) + 1))[:count]
        began = range(FRAME_NS, (count + 1) * FRAME_NS, FRAME_NS)
        interval = array("q", (FRAME_NS + value for value in busy_ns))
        nothing = array("q", bytes(8 * count))
        phases = [busy_ns if phase is Phase.UPDATE else nothing for phase in Phase]
        history.extend([began, interval, interval, busy_ns, nothing, *phases])

    def _some_busy_ns(self) -> int:
        chance = self._chance
        is_slow = chance.random() < 0.01
        return round(abs(chance.gauss(_USUAL_BUSY_NS, 500_000)) * (8 if is_slow else 1))

    # ---------------------------------------------------------------- what happens

    def _next_frame(self) -> list[RawEvent]:
        """Let a frame pass; return its events, those of the timers set in it excepted."""
        self._now_ns += FRAME_NS
        now_ns, number = self._now_ns, self._frames
        self._frames += 1
        next_due_ns = now_ns + _TURNS * FRAME_NS
        events: list[RawEvent] = [
            (now_ns, TIMER_FIRED, timer, 150_000, next_due_ns)
            for timer in self._busy[number % _TURNS]
        ]
        events += [(now_ns, TIMER_FIRED, timer, 90_000, NEVER) for timer in self._leaving]
        self._leaving = [self._add_leaving() for _ in self._leaving]
        busy_ns = self._some_busy_ns()
        events += [
            (now_ns, FRAME_BEGAN, 1, number, FRAME_NS),
            (now_ns, PHASE_ENDED, Phase.UPDATE, number, busy_ns),
            (now_ns, FRAME_ENDED, 1, FRAME_NS + busy_ns, busy_ns),
        ]
        return events

    def _fold(self) -> int:
        batch = self.log.read(self._cursor)
        self._cursor = batch.cursor
        self.timeline.apply_all(batch.events)
        self.timeline.set_present(self._now_ns)
        return len(batch.events)
