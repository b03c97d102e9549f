"""An open session, and what its clients hold in it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from msgspec import Struct

from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.commands.command import Command
from inspector.commands.scene import Undo
from inspector.commands.transport import Hold, Run
from inspector.sessions.session import Session

_MOST_LISTED: Final = 20


class Works(Protocol):
    """Carries out the requests to a session."""

    def call(self, job: Callable[[], object], timeout_s: float | None = None) -> Any:  # noqa: ANN401 - what the job returns
        """Return what a job returns; raises what it raises, and ``TimeoutError``."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class ConnectedClient:
    name: str  # Its name in answers to other clients
    send: Callable[[bytes], object]  # Sends an answer; called in any thread, one at a time
    is_gone: bool = False  # Whether it has left
    sending: threading.RLock = field(default_factory=threading.RLock)


class _Kept(Struct):
    """A change by a client that is undone when the client leaves."""

    client: ConnectedClient
    number: int
    text: str
    inverse: Command


@dataclass(slots=True, eq=False)
class OpenSession:
    """A session, with what the handler knows of it."""

    number: int
    session: Session  # The session itself
    kind: str  # attached, scene, recording or capture
    owner: ConnectedClient | None  # Its opener, with which it closes; None if it stays open
    worker: Works  # Carries out requests to it
    host: SystemTimeSource | None = None  # What wakes a scene in real time
    path: str = ""  # The file of a recording or capture
    # The changes to undo when their clients leave, by what they change.
    kept: dict[Hashable, _Kept] = field(default_factory=dict)
    asked_by: dict[int, ConnectedClient] = field(
        default_factory=dict
    )  # The client that gave a command, by number of the command

    def note(
        self, client: ConnectedClient, command: Command, number: int, *, was_running: bool
    ) -> None:
        """Keep the inverse of a command that was carried out."""
        session = self.session
        self.asked_by[number] = client
        if isinstance(command, Undo):
            of = {kept.number: place for place, kept in self.kept.items()}
            self.kept.pop(of.get(command.number), None)
            return
        if isinstance(command, Run):
            self.kept.pop("transport", None)
            return
        inverse = None if session.undoing is None else session.undoing.of(number)
        key: Hashable = "transport"
        if isinstance(command, Hold):
            inverse = Run() if was_running or "transport" in self.kept else None
        elif inverse is not None:
            key = _subject(command, inverse)
        if inverse is None:
            return
        former = self.kept.get(key)
        if former is not None:
            if former.inverse == command:
                del self.kept[key]
                return
            inverse = former.inverse
        self.kept[key] = _Kept(client, number, command.sentence(session.timeline), inverse)

    def note_hold(self, client: ConnectedClient) -> None:
        """Keep that a client launched the program held, to run it when the client leaves."""
        self.kept["transport"] = _Kept(client, 0, "hold", Run())

    def let_go(self, client: ConnectedClient) -> None:
        """Undo what a client holds, the newest first."""
        for key, kept in reversed(self.kept.copy().items()):
            if kept.client is client:
                del self.kept[key]
                self.session.submit(kept.inverse)
        self.session.refresh()

    def state(self, client: ConnectedClient) -> dict[str, Any]:
        """Return the state of the session, and which client holds what in it."""
        session, timeline = self.session, self.session.timeline
        status = session.status
        held = [
            {"what": kept.text, "by": "you" if kept.client is client else kept.client.name}
            for kept in self.kept.values()
        ]
        known = {kept.number for kept in self.kept.values()}
        for clock in timeline.clocks.values():
            if clock.paused and clock.pause_cause not in known:
                by = self._asker(clock.pause_cause, client)
                held.append({"what": f"pause “{clock.name}”", "by": by})
        if status.breakpoint:
            held.append({"what": "hold", "by": f"breakpoint {status.breakpoint}"})
        return {
            "session": self.number,
            "title": session.title,
            "kind": self.kind,
            "phase": status.phase.value,
            "message": status.message,
            "at_ns": timeline.at_ns,
            "held": held[:_MOST_LISTED],
            "held_count": len(held),
        }

    def _asker(self, number: int, client: ConnectedClient) -> str:
        if not number:
            return "the program"
        asker = self.asked_by.get(number)
        if asker is not None:
            return "you" if asker is client else asker.name
        record = next((r for r in self.session.timeline.commands if r.number == number), None)
        return f"command {number}" if record is None or not record.by else record.by


def _subject(command: Command, inverse: Command) -> Hashable:
    """Return what a command changes; equal for commands that override each other."""
    kinds = frozenset({type(command).__name__, type(inverse).__name__})
    numbers = {
        getattr(each, name)
        for each in (command, inverse)
        for name in each.__struct_fields__
        if name.endswith("_id") or name == "number"
    }
    return kinds, frozenset(numbers)
