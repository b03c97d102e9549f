"""The probe's sockets, dialled or listened on: their addresses, and frames without blocking."""

from __future__ import annotations

import os
import socket
import struct
from collections import deque

from . import wire
from .own_files import file_of
from .wire import FrameReader, WireError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional

_RECEIVE_BYTES = 64 * 1024
#: While more bytes of messages wait to be sent, nothing is received: an inspector that sends
#: requests has to read the answers.
_MOST_QUEUED_BYTES = 1 << 20
_INTERNET = (socket.AF_INET, socket.AF_INET6)
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
#: ``struct ucred``: process, user, group.
_CREDENTIALS = struct.Struct("3i")
CONNECT_S = 2.0


class LinkClosed(Exception):  # noqa: N818 - an end is not always an error
    """The link has ended; the message says why."""


class OwnSocket:
    """A socket of the probe, as :class:`~.own_files.OwnFile` is one of its files."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self.sock = sock
        self._file = file_of(sock.fileno())

    def fileno(self) -> int:
        return self.sock.fileno()

    @property
    def is_lost(self) -> bool:
        return file_of(self.sock.fileno()) != self._file

    def close(self) -> None:
        if self.is_lost:
            self.sock.detach()
        else:
            self.sock.close()


class Connection(OwnSocket):
    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock)
        if sock.family in _INTERNET:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = FrameReader()
        self._queue: deque[tuple[memoryview, bool]] = deque()
        self._message_bytes = 0

    def send(self, message: dict[str, Any]) -> None:
        data = wire.frame(wire.JSON, wire.packed_json(message))
        self._queue.append((memoryview(data), True))
        self._message_bytes += len(data)

    def send_events(self, data: bytes) -> None:
        self._queue.append((memoryview(data), False))

    @property
    def wants_to_send(self) -> bool:
        return bool(self._queue)

    @property
    def wants_to_receive(self) -> bool:
        """Whether the other side reads the answers to its requests."""
        return self._message_bytes < _MOST_QUEUED_BYTES

    def flush(self) -> None:
        """Send what the socket takes now; a :class:`LinkClosed` if the other side has closed."""
        queue = self._queue
        try:
            while queue:
                data, is_message = queue[0]
                sent = self.sock.send(data)
                if is_message:
                    self._message_bytes -= sent
                if sent == len(data):
                    queue.popleft()
                else:
                    queue[0] = data[sent:], is_message
        except (BlockingIOError, InterruptedError):
            pass
        except OSError as error:
            raise LinkClosed(error.strerror or "the connection broke") from None

    def receive(self) -> list[dict[str, Any]]:
        """Return the messages that have arrived.

        Raises:
            LinkClosed: The other side has closed.
            WireError: What has arrived is no message for a probe.
        """
        if not self.wants_to_receive:
            return []
        try:
            data = self.sock.recv(_RECEIVE_BYTES)
        except (BlockingIOError, InterruptedError):
            return []
        except OSError as error:
            raise LinkClosed(error.strerror or "the connection broke") from None
        if not data:
            raise LinkClosed("the inspector has closed the connection")
        messages = []
        for kind, payload in self._reader.feed(data):
            if kind != wire.JSON:
                raise WireError(wire.MALFORMED, "an inspector sends no events")
            messages.append(wire.unpacked_json(payload))
        return messages

    def end(self, *last: dict[str, Any], patience_ns: int = 0) -> None:
        """Send last messages, and close.

        Args:
            patience_ns: How long each attempt to send waits for the other side to take more;
                0 sends what the socket takes at once.
        """
        try:
            if self.is_lost:
                raise LinkClosed
            self.sock.settimeout(patience_ns / 1e9)
            for message in last:
                self.send(message)
            self.flush()
            if patience_ns and self.sock.family in _INTERNET:
                # If a socket is closed with unread data, TCP drops what it has not delivered yet.
                self.sock.shutdown(socket.SHUT_WR)
                while self.sock.recv(_RECEIVE_BYTES):
                    pass
        except (LinkClosed, WireError, OSError):
            pass
        self.close()


def dialled(address: str) -> Connection:
    """Connect to ``unix:/path`` or ``tcp:HOST:PORT``, where only this machine and user listen.

    Raises:
        LinkClosed: Nothing listens there, or another user does.
        ValueError: It is no such address.
    """
    family, place = _parsed(address)
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.settimeout(CONNECT_S)
    try:
        sock.connect(place)
    except OSError as error:
        sock.close()
        raise LinkClosed(f"{address}: {error.strerror or error}") from None
    if not is_same_user(sock):
        sock.close()
        raise LinkClosed(f"{address} belongs to another user")
    return Connection(sock)


def listening(address: str) -> tuple[socket.socket, str]:
    """Listen at an address; returns the socket, and the address with its port.

    Raises:
        OSError: The address is taken or cannot be made.
        ValueError: It is no address of this machine's own.
    """
    family, place = _parsed(address)
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        if isinstance(place, str):
            before = os.umask(0o177)
            try:
                sock.bind(place)
            finally:
                os.umask(before)
        else:
            sock.bind(place)
            host = "[::1]" if family == socket.AF_INET6 else "127.0.0.1"
            address = f"tcp:{host}:{sock.getsockname()[1]}"
        sock.listen(8)
        sock.setblocking(False)
    except OSError:
        sock.close()
        raise
    return sock, address


def _parsed(address: str) -> tuple[int, Any]:
    scheme, _, place = address.partition(":")
    if scheme == "unix" and place and hasattr(socket, "AF_UNIX"):
        return socket.AF_UNIX, place
    host, _, port = place.rpartition(":")
    host = host.strip("[]")
    if scheme != "tcp" or not port.isdigit():
        raise ValueError(f"not an address, unix:/path or tcp:127.0.0.1:PORT: {address!r}")
    if host not in _LOOPBACK:
        raise ValueError(f"not an address of this machine's own: {address!r}")
    is_six = host == "::1"
    return (socket.AF_INET6 if is_six else socket.AF_INET), (
        "::1" if is_six else "127.0.0.1",
        int(port),
    )


def is_same_user(sock: socket.socket) -> bool:
    """Return whether the process at the other end belongs to this process's user.

    True if the system cannot say: then a token and the mode of the folder have to suffice.
    """
    option: Optional[int] = getattr(socket, "SO_PEERCRED", None)
    if option is None or sock.family != getattr(socket, "AF_UNIX", None):
        return True
    data = sock.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size)
    uid: int = _CREDENTIALS.unpack(data)[1]
    return uid == os.getuid()
