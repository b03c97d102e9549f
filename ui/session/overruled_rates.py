"""Rates that were set from outside and that the scene has changed since."""

from __future__ import annotations

from msgspec import Struct
from PySide6.QtCore import QObject, Signal, Slot

from inspector.analysis.evidence import last_event
from inspector.commands.command import ClockEffect, Command, command_in
from inspector.commands.scene import Undo, undone
from inspector.events.history import History
from inspector.sessions.session import AttachesPrograms
from inspector.timebase import format_instant
from inspector.vocabulary import CLOCK_RATE, rate_chip

from .bridge import SessionBridge


class OverruledRate(Struct, frozen=True):
    who: str  # What set another rate: "scene" or "program"
    name: str
    rate_n: int  # The rate in force, over the fixed denominator
    wanted_n: int  # The rate that was set from outside
    is_back: bool  # Whether the rate in force is that of before
    at: str  # When that was, as text

    @property
    def sentence(self) -> str:
        back = " back" if self.is_back else ""
        return (
            f"The {self.who} set {self.name}{back} to {rate_chip(self.rate_n)} at {self.at}; "
            f"you had set {rate_chip(self.wanted_n)}"
        )

    @property
    def note(self) -> str:
        """The same, where the clock and its rate are named already."""
        return f"the {self.who} at {self.at}; you had set {rate_chip(self.wanted_n)}"


class OverruledRates(QObject):
    """Watches the rates that were set from outside, until the scene sets others."""

    found = Signal(object)  # OverruledRate: another rate did not last

    def __init__(self, bridge: SessionBridge) -> None:
        super().__init__(bridge)
        self.by_clock: dict[int, OverruledRate] = {}  # The rates that did not last, by clock
        self._bridge = bridge
        # By clock: the number of the command, the rate that it set, and the rate before it.
        self._wanted: dict[int, tuple[int, int, int]] = {}
        self._seen = 0
        bridge.facts_due.connect(self._on_refreshed)
        bridge.session_changed.connect(self._begin)
        self._begin()

    @classmethod
    def of(cls, bridge: SessionBridge) -> OverruledRates:
        return bridge.findChild(cls) or cls(bridge)

    @Slot()
    def _begin(self) -> None:
        self.by_clock.clear()
        self._wanted.clear()
        self._seen = len(self._bridge.timeline.commands)

    @Slot()
    def _on_refreshed(self) -> None:
        commands = self._bridge.timeline.commands
        if len(commands) < self._seen:
            # The session was rewound.
            self._begin()
        for record in commands[self._seen :]:
            command = None if record.refusal else command_in(record.form)
            if isinstance(command, Undo):
                change, _ = undone(self._bridge.timeline, command)
                self._forget(0 if change is None else change.clock_id)
            elif wanted_n := self._rate_n_of(command):
                self._forget(record.clock_id)
                number = record.number
                self._wanted[record.clock_id] = number, wanted_n, self._former_n(number)
        self._seen = len(commands)
        if self._wanted:
            self._check()

    def _former_n(self, number: int) -> int:
        """Return the rate before a command, 0 if that is unknown."""
        session = self._bridge.session
        undoing = None if session is None else session.undoing
        return self._rate_n_of(None if undoing is None else undoing.of(number))

    def _rate_n_of(self, command: Command | None) -> int:
        effect = None if command is None else command.effect(self._bridge.timeline)
        event = effect.event if isinstance(effect, ClockEffect) else None
        return event[3] if event is not None and event[1] == CLOCK_RATE else 0

    def _forget(self, clock_id: int) -> None:
        self._wanted.pop(clock_id, None)
        self.by_clock.pop(clock_id, None)

    def _check(self) -> None:
        session, clocks = self._bridge.session, self._bridge.timeline.clocks
        for clock_id, (number, wanted_n, former_n) in list(self._wanted.items()):
            clock = clocks.get(clock_id)
            if session is None or clock is None:
                del self._wanted[clock_id]
                continue
            changed_ns = None
            if clock.rate_n != wanted_n:
                changed_ns = _changed_since(session.history, clock_id, number, wanted_n)
            if changed_ns is None:
                continue
            del self._wanted[clock_id]
            is_attached = isinstance(session, AttachesPrograms)
            self.by_clock[clock_id] = found = OverruledRate(
                who="program" if is_attached else "scene",
                name=clock.name,
                rate_n=clock.rate_n,
                wanted_n=wanted_n,
                is_back=clock.rate_n == former_n,
                at=format_instant(changed_ns),
            )
            self.found.emit(found)


def _changed_since(history: History, clock_id: int, number: int, wanted_n: int) -> int | None:
    """Return when a clock was given another rate after that of a command, by no command.

    ``None`` if it was not: an attached program reports a rate some time after the command.
    """
    last = last_event(history, history.end, {CLOCK_RATE}, clock_id)
    if last is None or last[1][4]:
        return None
    wanted = last_event(history, last[0], {CLOCK_RATE}, clock_id, wanted_n)
    return None if wanted is None or wanted[1][4] != number else last[1][0]
