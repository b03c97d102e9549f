"""A relay in this process, and the inspector at the other end of its line."""

from __future__ import annotations

import selectors
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from inspector.sessions.attached.doors.hosts.records import (
    Records,
)
from inspector.sessions.attached.doors.hosts.relay import Relay

SETTINGS = {"argv": [], "folder": "", "token": "secret", "grant": "full", "hold": False}
PATIENCE_S = 30.0
Found = tuple[int, int, bytes]


class PlayedInspector:
    """The inspector's end of a line to the relay."""

    def __init__(self, folder: Path, records: Records | None = None) -> None:
        self.records = Records() if records is None else records
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(folder / "line"))
        self.socket.sendall(self.records.begin_line())

    def send(self, kind: int, channel: int = 0, payload: bytes = b"") -> None:
        self.socket.sendall(self.records.packed(kind, channel, payload))

    def acknowledge(self) -> None:
        self.socket.sendall(self.records.heartbeat())

    def raw(self) -> bytes | None:
        """Return what has come; no bytes at the end, ``None`` if nothing has come."""
        with suppress(BlockingIOError):
            return self.socket.recv(1 << 20, socket.MSG_DONTWAIT)
        return None

    def heard(self) -> list[Found]:
        found: list[Found] = []
        while data := self.raw():
            more, again = self.records.feed(data)
            found += more
            self.socket.sendall(again)
        return found


class PlayedRelay:
    """A relay, of which each turn is asked for."""

    def __init__(self, folder: Path, settings: dict[str, object]) -> None:
        self.folder = folder
        self.now_s = 1_000.0
        self.relay = Relay(str(folder), {**SETTINGS, "patience_s": PATIENCE_S, **settings})
        self._open: list[socket.socket] = []
        selector = self.relay._selector
        selector.register(self.relay._lines, selectors.EVENT_READ, self.relay._accept_line)
        selector.register(self.relay._dialled, selectors.EVENT_READ, self.relay._accept_probe)

    def turns(self) -> None:
        """Take turns until nothing is left to do at this instant."""
        while found := self.relay._selector.select(0):
            for key, events in found:
                key.data(events)
            if all(events == selectors.EVENT_WRITE for _, events in found):
                break
        self.relay._check_time()

    def line(self, records: Records | None = None) -> PlayedInspector:
        inspector = PlayedInspector(self.folder, records)
        self._open.append(inspector.socket)
        self.turns()
        assert inspector.heard() == []
        self.turns()
        return inspector

    def probe(self) -> socket.socket:
        connected = socket.socket(socket.AF_UNIX)
        connected.connect(str(self.folder / "socket"))
        self._open.append(connected)
        self.turns()
        return connected

    def close(self) -> None:
        relay = self.relay
        relay._selector.close()
        probes = [probe.socket for probe in relay._probes.values()]
        for each in (*self._open, *probes, relay._lines, relay._dialled):
            each.close()
        for left in (relay._line, relay._supervisor):
            if left is not None:
                left.close()


Begin = Callable[..., PlayedRelay]


def is_open(connected: socket.socket) -> bool:
    with suppress(BlockingIOError):
        while connected.recv(1 << 20, socket.MSG_DONTWAIT):
            pass
        return False
    return True


def received(connected: socket.socket) -> bytes:
    with suppress(BlockingIOError):
        return connected.recv(1 << 20, socket.MSG_DONTWAIT)
    return b""
