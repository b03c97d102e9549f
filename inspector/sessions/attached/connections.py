"""Connections between the inspector and probes, and the socket on which it listens for them."""

from __future__ import annotations

import base64
import binascii
import errno
import os
import socket
import stat
import struct
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from threading import Condition
from typing import Final, Protocol

from inspector.errors import AttachError
from inspector.probe.wire import EVENTS, JSON, MAX_FRAME_BYTES, FrameReader, frame

#: Most received bytes that wait for a link; a probe sends up to 8 MiB of events without asking.
_MOST_WAITING_BYTES: Final = 64 << 20
#: Most bytes to read at once.
_READ_BYTES: Final = 1 << 18
#: Most bytes to send that wait for a program that does not read.
_MOST_WAITING: Final = 4 * MAX_FRAME_BYTES
_UNIX: Final = "unix:"
_TCP: Final = "tcp:"
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_CREDENTIALS: Final = struct.Struct("3i")
_HIGHEST_PORT: Final = 65_535
_PORT_DIGITS: Final = 5
_DIAL_S: Final = 5.0
_FOLDER: Final = "timeline-inspector-"
#: Bytes that the path of a Unix socket may have on any system, with the final zero.
_LONGEST_SOCKET: Final = 104
#: In a folder older than this, no socket is about to be created.
_OLD_S: Final = 60.0


class ConnectionClosedError(Exception):
    """The connection has ended; the text says why, if that is known."""


class ProbeConnection(Protocol):
    """Carries whole messages; for one thread, except :meth:`wake`."""

    is_local: bool  # Whether both sides can share the monotonic clock of one host
    host: str  # The name of the host on which the program runs, empty for this one
    peer_pid: int  # The process at the other end as its host numbers it, 0 if unknown
    text: str

    def send(self, kind: int, payload: bytes) -> None:
        """Send a message soon; never blocks.

        After the other side has closed, nothing is sent, but what it sent before can still be
        received; then :meth:`receive` reports the end.
        """

    def receive(self, timeout_s: float) -> list[tuple[int, bytes]]:
        """Return messages as type and payload, waiting up to ``timeout_s`` for the first.

        Meanwhile, sends what waits to be sent.

        Raises:
            ConnectionClosedError: The connection has ended.
            WireError: The other side does not follow the protocol.
        """

    def wake(self) -> None:
        """End a :meth:`receive` early; from any thread."""

    def close(self) -> None:
        """Close the connection."""


class Waker:
    """Wakes a thread that waits for sockets; from any thread."""

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)

    def fileno(self) -> int:
        return self._reader.fileno()

    def wake(self) -> None:
        with suppress(OSError):
            self._writer.send(b"\0")

    def clear(self) -> None:
        with suppress(BlockingIOError):
            self._reader.recv(4_096)

    def close(self) -> None:
        self._reader.close()
        self._writer.close()


class StreamConnection:
    """Carries messages on a Unix or TCP socket."""

    def __init__(self, connected: socket.socket) -> None:
        connected.setblocking(False)
        self._socket = connected
        self._frames = FrameReader()
        self._waiting = bytearray()
        self._broken = ""
        self._waker = Waker()
        self._selector = DefaultSelector()
        self._selector.register(connected, EVENT_READ)
        self._selector.register(self._waker, EVENT_READ)
        self.is_local = True
        self.host = ""
        is_unix = connected.family not in {socket.AF_INET, socket.AF_INET6}
        self.peer_pid = _peer(connected)[0]
        self.text = "Unix socket" if is_unix else "TCP on this host"
        if not is_unix:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, kind: int, payload: bytes) -> None:
        if len(self._waiting) > _MOST_WAITING:
            message = "it reads nothing"
            raise ConnectionClosedError(message)
        self._waiting += frame(kind, payload)
        self._flush()

    def _flush(self) -> None:
        try:
            while self._waiting:
                del self._waiting[: self._socket.send(self._waiting)]
        except BlockingIOError:
            pass
        except OSError as error:
            # What the other side sent before it closed has still to be read.
            self._broken = _reason(error)
            self._waiting.clear()
        events = EVENT_READ | (EVENT_WRITE if self._waiting else 0)
        self._selector.modify(self._socket, events)

    def receive(self, timeout_s: float) -> list[tuple[int, bytes]]:
        ready = {key.fileobj: events for key, events in self._selector.select(timeout_s)}
        if self._waker in ready:
            self._waker.clear()
        events = ready.get(self._socket, 0)
        if events & EVENT_WRITE:
            self._flush()
        if not events & EVENT_READ:
            if self._broken:
                raise ConnectionClosedError(self._broken)
            return []
        try:
            data = self._socket.recv(_READ_BYTES)
        except BlockingIOError:
            return []
        except OSError as error:
            raise ConnectionClosedError(_reason(error)) from None
        if not data:
            raise ConnectionClosedError
        return self._frames.feed(data)

    def wake(self) -> None:
        self._waker.wake()

    def close(self) -> None:
        self._selector.close()
        self._socket.close()
        self._waker.close()


class QueuedConnection:
    """Carries messages that another thread receives."""

    is_local = False  # False: pages and other hosts have clocks of their own

    def __init__(
        self,
        text: str,
        send: Callable[[int, bytes], None],
        close: Callable[[], None],
        *,
        host: str = "",
        peer_pid: int = 0,
    ) -> None:
        self.text = text
        self.host = host  # The name of the host on which it runs, empty for this one
        self.peer_pid = peer_pid
        self._send = send
        self._close = close
        self._messages: deque[tuple[int, bytes]] = deque()
        self._bytes = 0
        self._end: str | None = None
        self._is_woken = False
        self._changed = Condition()

    def put(self, kind: int, payload: bytes) -> None:
        """Add a message that was received; from any thread."""
        with self._changed:
            if self._end is not None:
                return
            self._messages.append((kind, payload))
            self._bytes += len(payload)
            if self._bytes > _MOST_WAITING_BYTES:
                self._end = "it sends more than is taken"
            self._changed.notify()

    def put_text(self, text: str) -> None:
        """Add a message as a page writes it: its type and JSON, or events in base64."""
        if text.startswith("J"):
            self.put(JSON, text[1:].encode(errors="replace"))
            return
        try:
            self.put(EVENTS, base64.b64decode(text[1:], validate=True))
        except (binascii.Error, ValueError):
            # The link takes an empty batch for malformed, and ends with that reason.
            self.put(EVENTS, b"")

    def end(self, reason: str) -> None:
        """The connection has ended; from any thread."""
        with self._changed:
            if self._end is None:
                self._end = reason
            self._changed.notify()

    def send(self, kind: int, payload: bytes) -> None:
        if self._end is None:
            self._send(kind, payload)

    def receive(self, timeout_s: float) -> list[tuple[int, bytes]]:
        with self._changed:
            if not self._messages and self._end is None and not self._is_woken:
                self._changed.wait(timeout_s)
            self._is_woken = False
            found = list(self._messages)
            self._messages.clear()
            self._bytes = 0
            if not found and self._end is not None:
                raise ConnectionClosedError(self._end)
        return found

    def wake(self) -> None:
        with self._changed:
            self._is_woken = True
            self._changed.notify()

    def close(self) -> None:
        self.end("")
        self._close()


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


# -------------------------------------------------------------------- addresses


def dialled(address: str) -> StreamConnection:
    """Connect to a program that listens at ``unix:PATH`` or ``tcp:127.0.0.1:PORT``."""
    found, target = _target_of(address)
    try:
        found.settimeout(_DIAL_S)
        found.connect(target)
        _check_peer(found)
    except OSError as error:
        found.close()
        message = f"No program listens at {address}: {_reason(error)}."
        raise AttachError(message) from None
    except AttachError:
        found.close()
        raise
    return StreamConnection(found)


def _target_of(address: str) -> tuple[socket.socket, str | tuple[str, int]]:
    if address.startswith(_UNIX) and hasattr(socket, "AF_UNIX"):
        path = address.removeprefix(_UNIX)
        if path and "\0" not in path:
            return socket.socket(socket.AF_UNIX), path
    host, _, port = address.removeprefix(_TCP).rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    is_port = port.isascii() and port.isdecimal() and len(port) <= _PORT_DIGITS
    if not address.startswith(_TCP) or not is_port or not 0 < int(port) <= _HIGHEST_PORT:
        message = f"“{address}” is not an address: write unix:/path or tcp:127.0.0.1:PORT."
        raise AttachError(message)
    if host not in _LOOPBACK:
        message = (
            f"“{host}” is not this host, and the protocol is not encrypted. Forward a port, as "
            "with ssh -L, and dial that on 127.0.0.1."
        )
        raise AttachError(message)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.socket(family), ("127.0.0.1" if host == "localhost" else host, int(port))


def _peer(connected: socket.socket) -> tuple[int, int]:
    """Return process and user at the other end of a Unix socket; 0 where they are not known."""
    if not hasattr(socket, "SO_PEERCRED") or connected.family != socket.AF_UNIX:
        # Then the folder of the socket keeps out other users, and the token everyone else.
        return 0, 0
    data = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _gid = _CREDENTIALS.unpack(data)
    return pid, uid


def _check_peer(connected: socket.socket) -> None:
    _pid, uid = _peer(connected)
    if uid not in {os.getuid(), 0}:
        message = f"The process at the other end belongs to another user ({uid})."
        raise AttachError(message)


class Listener:
    """Listens for probes on a Unix socket that only this user can open, or on loopback TCP."""

    def __init__(self, *, is_tcp: bool = False) -> None:
        self._folder: Path | None = None
        try:
            if is_tcp or sys.platform == "win32":
                self._socket = socket.create_server(("127.0.0.1", 0))
                self.address = f"{_TCP}127.0.0.1:{self._socket.getsockname()[1]}"
            else:
                _remove_left_over()
                # Readable by this user only, as everything that mkdtemp makes.
                self._folder = Path(tempfile.mkdtemp(prefix=_FOLDER))
                path = self._folder / "socket"
                self._socket = socket.socket(socket.AF_UNIX)
                try:
                    self._socket.bind(str(path))
                except OSError:
                    self._socket.close()
                    self._folder.rmdir()
                    if len(os.fsencode(path)) < _LONGEST_SOCKET:
                        raise
                    message = f"{path} is too long for a socket. Set TMPDIR to a shorter folder."
                    raise AttachError(message) from None
                path.chmod(stat.S_IRUSR | stat.S_IWUSR)
                self._socket.listen()
                self.address = f"{_UNIX}{path}"
        except OSError as error:
            message = f"The inspector cannot listen for programs: {_reason(error)}."
            raise AttachError(message) from None
        self._socket.setblocking(False)

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def is_reachable(self) -> bool:
        return self._folder is None or (self._folder / "socket").exists()

    def accept(self) -> StreamConnection | None:
        """Return the next connection; ``None`` if there is none, or it is another user's."""
        try:
            connected, _ = self._socket.accept()
        except OSError:
            return None
        try:
            _check_peer(connected)
        except AttachError:
            connected.close()
            return None
        return StreamConnection(connected)

    def close(self) -> None:
        self._socket.close()
        if self._folder is not None:
            with suppress(OSError):
                (self._folder / "socket").unlink(missing_ok=True)
                self._folder.rmdir()


def _remove_left_over() -> None:
    for path in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*/socket"):
        with suppress(OSError):
            about = path.parent.lstat()
            is_ours = stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid()
            if not is_ours or time.time() - about.st_mtime < _OLD_S:
                continue
            if not stat.S_ISSOCK(path.lstat().st_mode):
                continue
            with socket.socket(socket.AF_UNIX) as trial:
                if trial.connect_ex(str(path)) == errno.ECONNREFUSED:
                    path.unlink()
                    path.parent.rmdir()
