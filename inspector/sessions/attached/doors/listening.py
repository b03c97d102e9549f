"""Programs that were started without the inspector, and either listen for it or dial it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from inspector.errors import AttachError
from inspector.probe.places import folder
from inspector.sessions.attached.doors.door import ProbeAcceptor
from inspector.sessions.attached.doors.processes import process


@dataclass(frozen=True, slots=True)
class Dial:
    """A program that has called ``timeline_probe.serve``."""

    address: str  # Where it listens: unix:/path or tcp:127.0.0.1:PORT
    token: str = field(repr=False)  # The token that it demands
    pid: int | None = None

    @property
    def title(self) -> str:
        found = None if self.pid is None else process(self.pid)
        return self.address if found is None else f"{found.title} ({found.pid})"

    def open(self, acceptor: ProbeAcceptor) -> Joined:
        acceptor.dial(self.address, self.token)
        return Joined(self.title, self.pid)


@dataclass(frozen=True, slots=True)
class Listen:
    """Programs that are started elsewhere, as in a container, and dial the inspector."""

    # Called with the address and the token that programs need to dial.
    on_listening: Callable[[str, str], None] = field(compare=False, repr=False)
    is_tcp: bool = False  # Whether they dial a port of this machine instead of a Unix socket

    @property
    def title(self) -> str:
        return "programs that dial"

    def open(self, acceptor: ProbeAcceptor) -> Joined:
        self.on_listening(acceptor.tcp_address if self.is_tcp else acceptor.address, acceptor.token)
        return Joined(self.title, None, brings_more=True)


@dataclass(frozen=True, slots=True)
class Joined:
    """A program that the inspector has not started."""

    title: str
    pid: int | None
    brings_more: bool = False
    note: str = ""

    def poll(self) -> int | None:
        return None

    def problem(self) -> str:
        """Return nothing: the program is connected, or may dial at any time."""
        return ""

    def may_bring_more(self) -> bool:
        return self.brings_more

    def end(self) -> None:
        """Leave it alone."""


def listening_door(pid: int) -> Dial | None:
    """Return the door to a process that called ``timeline_probe.serve``, else ``None``."""
    place = folder() / str(pid)
    socket = place / "socket"
    try:
        for path in (place.parent, place, socket, place / "token"):
            _check_private(path)
        token = (place / "token").read_text().strip()
    except OSError:
        return None
    return Dial(f"unix:{socket}", token, pid)


def forget_ended() -> None:
    """Remove the sockets and tokens of listening programs that were killed."""
    with suppress(OSError, AttachError):
        _check_private(folder())
        for place in folder().iterdir():
            if place.name.isdecimal() and process(int(place.name)) is None:
                _check_private(place)
                for name, is_left in (("socket", stat.S_ISSOCK), ("token", stat.S_ISREG)):
                    with suppress(FileNotFoundError):
                        if is_left((place / name).lstat().st_mode):
                            (place / name).unlink()
                with suppress(OSError):
                    place.rmdir()


def _check_private(path: Path) -> None:
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        message = f"{path} is not private to this user, so it is not used. Remove it."
        raise AttachError(message)
