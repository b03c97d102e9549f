"""A clock tree whose events are folded into a timeline, for models and panels to show."""

from __future__ import annotations

from fractions import Fraction

from inspector.clocks import Clock, ClockTree
from inspector.clocks.sources.wake_errors import WakeErrorSummary
from inspector.commands.command import Capability, Command, Undoing
from inspector.events import EventLog, Timeline
from inspector.events.history import LogHistory
from inspector.sessions.annotations import Annotations
from inspector.sessions.breakpoints.breakpoints import Breakpoints
from inspector.sessions.recorder import Recorder
from inspector.sessions.session import SessionPhase, SessionStatus, UniformSession
from inspector.vocabulary import (
    FRAME_BEGAN,
    FRAME_ENDED,
    PHASE_ENDED,
    TRANSPORT,
    Mode,
    Phase,
)


class Thing:
    """A target with a name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def update(self, delta: float) -> None:
        """Be called in every frame."""

    def tick(self, seconds: float) -> None:
        """Be called now and then."""


class World:
    """An engine, its log and the timeline folded from it.

    Attributes:
        log: What happened.
        tree: The engine.
        timeline: What a view sees of it, as of the last :meth:`fold`.
    """

    def __init__(self) -> None:
        self.log = EventLog()
        self.history = LogHistory(self.log)
        self.tree = ClockTree(self.log)
        self.timeline = Timeline(self.log.strings)
        self._cursor = 0
        self.log.append((0, TRANSPORT, Mode.RUNNING, 0, 0))

    @property
    def root(self) -> Clock:
        return self.tree.root

    def run_to_ms(self, milliseconds: float) -> None:
        """Let time pass and fold what happened."""
        self.tree.run_to(round(milliseconds * 1_000_000))
        self.fold()

    def fold(self) -> int:
        """Fold what is new; returns how many events that were."""
        batch = self.log.read(self._cursor)
        self._cursor = batch.cursor
        self.timeline.apply_all(batch.events)
        self.timeline.set_present(self.tree.now_ns)
        return len(batch.events)


class PlayedSession(UniformSession, World):
    """A session whose events are made by a test; it takes commands and does nothing.

    Attributes:
        submitted: The commands, in the order in which they came.
    """

    def __init__(self) -> None:
        super().__init__()
        self.submitted: list[Command] = []
        self.capabilities = frozenset(Capability)
        self.status = SessionStatus(SessionPhase.HELD, "Held.")
        self.title = "Played"
        self.source_label = "a test"
        self.frame_rate = Fraction(60)
        self.wake_errors: WakeErrorSummary | None = None
        self.frames_run = 0
        self.breakpoints: Breakpoints | None = Breakpoints()
        self.undoing: Undoing | None = None
        self.recorder: Recorder | None = None
        self.notes: tuple[str, ...] = ()
        self.is_recorded = False
        self.annotations = Annotations()

    def submit(self, command: Command) -> None:
        self.submitted.append(command)

    def refresh(self) -> int:
        return self.fold()

    def close(self) -> None:
        """Nothing runs that could be stopped."""

    def run_frame(self, busy_ns: int = 2_000_000) -> None:
        """Record a frame at the present instant, half of it in UPDATE, half in DRAW."""
        at_ns, index = self.tree.now_ns, self.frames_run
        self.log.append((at_ns, FRAME_BEGAN, 1, index, 16_666_667))
        for phase in (Phase.UPDATE, Phase.DRAW):
            self.log.append((at_ns, PHASE_ENDED, phase, index, busy_ns // 2))
        self.log.append((at_ns, FRAME_ENDED, 1, 16_666_667, busy_ns))
        self.frames_run += 1
