"""A session played by a test for the bridge, and what the bridge says of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from PySide6.QtCore import QEventLoop, QTimer

from inspector.clocks import ClockTree
from inspector.clocks.sources.wake_errors import WakeErrorSummary
from inspector.commands.command import Capability, Command, Undoing
from inspector.commands.transport import Hold, Run
from inspector.events import EventLog, Timeline
from inspector.events.history import LogHistory
from inspector.sessions.annotations import Annotations
from inspector.sessions.breakpoints.breakpoints import Breakpoints
from inspector.sessions.recorder import Recorder
from inspector.sessions.session import SessionPhase, SessionStatus, UniformSession
from inspector.vocabulary import FRAME_BEGAN, FRAME_ENDED, TRANSPORT
from ui.session.bridge import (
    REFRESH_MS,
    SessionBridge,
)

MS = 1_000_000


class PlayedSession(UniformSession):
    """A session whose events are made by the test, on a real clock tree."""

    def __init__(self, phase: SessionPhase = SessionPhase.HELD, *, pauses: int = 0) -> None:
        self.phase = phase
        self.message = ""
        self.commands: list[Command] = []
        self.refreshes = 0
        self.is_closed = False
        self.capabilities = frozenset(Capability)
        self.title = "played"
        self.source_label = "a test"
        self.frame_rate = Fraction(60)
        self.wake_errors: WakeErrorSummary | None = None
        self.breakpoints: Breakpoints | None = None
        self.undoing: Undoing | None = None
        self.recorder: Recorder | None = None
        self.notes: tuple[str, ...] = ()
        self.is_recorded = False
        self.annotations = Annotations()
        self.begin("enemies", pauses=pauses)

    def begin(self, name: str, *, pauses: int = 0) -> None:
        """Begin a new log, as a reload does."""
        self.log = EventLog()
        self.history = LogHistory(self.log)
        self.timeline = Timeline(self.log.strings)
        self.tree = ClockTree(self.log)
        self.clock = self.tree.root.child(name)
        for _ in range(pauses):
            self.clock.pause()
            self.clock.resume()
        self.frames = 0
        self._cursor = 0

    def replace_timeline(self) -> None:
        """Fold the same log into another timeline, as when events were lost."""
        self.timeline = Timeline(self.log.strings)
        self._cursor = 0

    def add_frames(self, count: int) -> None:
        for _ in range(count):
            self.log.append((0, FRAME_BEGAN, 1, self.frames, 0))
            self.log.append((0, FRAME_ENDED, 1, 16 * MS, 2 * MS))
            self.frames += 1

    @property
    def status(self) -> SessionStatus:
        return SessionStatus(self.phase, self.message)

    def submit(self, command: Command) -> None:
        self.commands.append(command)
        if isinstance(command, Run | Hold):
            is_running = isinstance(command, Run)
            self.phase = SessionPhase.RUNNING if is_running else SessionPhase.HELD
            self.log.append((0, TRANSPORT, int(is_running), 0, 0))

    def refresh(self) -> int:
        self.refreshes += 1
        batch = self.log.read(self._cursor)
        self._cursor = batch.cursor
        return self.timeline.apply_all(batch.events)

    def close(self) -> None:
        self.is_closed = True


@dataclass
class Noted:
    """What the bridge has said, in order."""

    events: list[int] = field(default_factory=list)
    sessions: list[object] = field(default_factory=list)
    statuses: list[SessionStatus] = field(default_factory=list)

    def listen(self, bridge: SessionBridge) -> None:
        bridge.refreshed.connect(self.events.append)
        bridge.session_changed.connect(self.sessions.append)
        bridge.status_changed.connect(self.statuses.append)


def is_refreshing(bridge: SessionBridge) -> bool:
    return bridge.refresh_timer.next_ms is not None


def is_quick(bridge: SessionBridge) -> bool:
    return 0 < (bridge.refresh_timer.next_ms or 0) <= REFRESH_MS


def wait_ms(milliseconds: int) -> None:
    """Run the event loop for a while that is the subject of the test."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()
