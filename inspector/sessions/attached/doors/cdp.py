"""A client of the Chrome DevTools Protocol (CDP), which browsers and Node speak to debuggers.

Messages are JSON over a WebSocket, or over two pipes with a zero byte after each message. All input
is checked: anything that is no message of the protocol ends the connection.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from typing import Any, Final, Protocol, TypeAlias
from urllib.parse import urlsplit

from inspector.errors import AttachError

logger = logging.getLogger(__name__)

Params: TypeAlias = Mapping[str, Any]

#: The largest message accepted; what a probe sends has at most 1 MiB.
_MOST_BYTES: Final = 16 << 20
_MOST_LISTED_BYTES: Final = 4 << 20
_CONNECT_S: Final = 5.0
_CALL_S: Final = 10.0
_CHUNK: Final = 1 << 16
_LOOPBACK: Final = "127.0.0.1"


class CdpError(AttachError):
    """The debugger's protocol was refused, or its connection has ended."""


class CdpTransport(Protocol):
    """Carries the texts of a connection."""

    def send(self, text: str) -> None:
        """Send a text, from any thread; a :class:`CdpError` if the connection has ended."""

    def receive(self) -> str:
        """Wait for the next text; a :class:`CdpError` if the connection has ended."""

    def close(self) -> None:
        """End the connection, and a :meth:`receive` that waits."""


class WebSocketTransport:
    """A debugging port, which listens for WebSockets."""

    def __init__(self, port: int, path: str) -> None:
        # Imported here: only debugging ports need it, and importing takes 60 ms.
        import websockets.sync.client  # noqa: PLC0415

        self._errors = (OSError, websockets.WebSocketException)
        self._closing = ExitStack()
        try:
            self._socket = self._closing.enter_context(
                websockets.sync.client.connect(
                    f"ws://{_LOOPBACK}:{port}{path}",
                    open_timeout=_CONNECT_S,
                    close_timeout=0.5,
                    max_size=_MOST_BYTES,
                    compression=None,
                    proxy=None,
                )
            )
        except self._errors as error:
            message = f"The debugging port {port} does not answer: {error}."
            raise CdpError(message) from None

    def send(self, text: str) -> None:
        try:
            self._socket.send(text)
        except self._errors as error:
            raise CdpError(str(error)) from None

    def receive(self) -> str:
        try:
            received = self._socket.recv()
        except self._errors as error:
            raise CdpError(str(error)) from None
        if not isinstance(received, str):
            message = "the debugging port sends no text"
            raise CdpError(message)
        return received

    def close(self) -> None:
        with suppress(*self._errors):
            self._closing.close()


class PipeTransport:
    """The two pipes of a browser that was started with ``--remote-debugging-pipe``."""

    def __init__(self, reader: int, writer: int) -> None:
        self._reader = reader
        self._writer = writer
        self._lock = threading.Lock()
        self._rest = bytearray()
        self._is_closed = False

    def send(self, text: str) -> None:
        data = memoryview(text.encode() + b"\0")
        with self._lock:
            try:
                while data:
                    data = data[os.write(self._writer, data) :]
            except OSError as error:
                raise CdpError(str(error)) from None

    def receive(self) -> str:
        searched = 0
        while True:
            end = self._rest.find(0, searched)
            if end >= 0:
                text = self._rest[:end].decode(errors="replace")
                del self._rest[: end + 1]
                return text
            searched = len(self._rest)
            if searched > _MOST_BYTES:
                message = "the browser sends too much"
                raise CdpError(message)
            try:
                data = os.read(self._reader, _CHUNK)
            except OSError as error:
                raise CdpError(str(error)) from None
            if not data:
                message = "the browser has ended"
                raise CdpError(message)
            self._rest += data

    def close(self) -> None:
        """Close both pipes, upon which the browser ends."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                os.close(self._writer)


def reported_targets(port: int, path: str) -> object:
    """Return what a debugging port reports about its targets (JSON over HTTP)."""
    import http.client  # noqa: PLC0415 - 20 ms, needed for what runs already

    connection = http.client.HTTPConnection(_LOOPBACK, port, timeout=_CONNECT_S)
    try:
        connection.request("GET", path)
        found: object = json.loads(connection.getresponse().read(_MOST_LISTED_BYTES))
    except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        message = (
            f"No debugging port answers on {_LOOPBACK}:{port}: {reason}. Start the browser with "
            f"--remote-debugging-port={port} and its own --user-data-dir."
        )
        raise CdpError(message) from None
    finally:
        connection.close()
    return found


def socket_path(listing: object, port: int) -> str:
    address = listing.get("webSocketDebuggerUrl") if isinstance(listing, dict) else None
    path = urlsplit(address).path if isinstance(address, str) else ""
    if len(path) < len("/a"):
        message = f"Port {port} is not a debugging port."
        raise CdpError(message)
    return path


class Cdp:
    """A connection: requests with their answers, and events.

    Events are handed to ``on_event(method, params, session)`` in the thread that reads; it must
    not wait for an answer there, but may :meth:`post`.
    """

    def __init__(
        self,
        transport: CdpTransport,
        on_event: Callable[[str, Params, str], None],
        on_end: Callable[[str], None] = lambda _reason: None,
    ) -> None:
        self._transport = transport
        self._on_event = on_event
        self._on_end = on_end
        self._numbers = itertools.count(1)
        self._waiting: dict[int, _Answer] = {}
        self._lock = threading.Lock()
        self._end = ""
        self._thread = threading.Thread(target=self._read, name="attach: debugger", daemon=True)
        self._thread.start()

    def post(self, method: str, params: Params | None = None, session: str = "") -> int:
        """Send a request without waiting for the answer; returns its number."""
        number = next(self._numbers)
        self._send(number, method, params, session)
        return number

    def call(self, method: str, params: Params | None = None, session: str = "") -> Params:
        """Send a request and return the answer; a :class:`CdpError` if none or a refusal comes."""
        number = next(self._numbers)
        answer = _Answer()
        with self._lock:
            if self._end:
                raise CdpError(self._end)
            self._waiting[number] = answer
        try:
            self._send(number, method, params, session)
            if not answer.has_come.wait(_CALL_S):
                message = f"the debugger does not answer {method}"
                raise CdpError(message)
        finally:
            with self._lock:
                self._waiting.pop(number, None)
        if answer.refusal:
            raise CdpError(answer.refusal)
        return answer.result

    def close(self) -> None:
        self._transport.close()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=2)

    def _send(self, number: int, method: str, params: Params | None, session: str) -> None:
        message: dict[str, Any] = {"id": number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        self._transport.send(json.dumps(message))

    def _read(self) -> None:
        try:
            while True:
                self._on_message(self._transport.receive())
        except CdpError as error:
            self._finish(str(error))
        except (ValueError, RecursionError) as error:
            logger.info("no message of a debugger: %s", error)
            self._transport.close()
            self._finish("it sent something that is not a debugger message")

    def _finish(self, reason: str) -> None:
        with self._lock:
            self._end = reason or "the connection with the debugger has ended"
            waiting = list(self._waiting.values())
        for answer in waiting:
            answer.refusal = self._end
            answer.has_come.set()
        self._on_end(self._end)

    def _on_message(self, text: str) -> None:
        message = json.loads(text)
        if not isinstance(message, dict):
            raise ValueError("not an object")  # noqa: TRY004 - what came, not what was passed
        method, number = message.get("method"), message.get("id")
        if isinstance(number, int):
            with self._lock:
                answer = self._waiting.get(number)
            if answer is not None:
                answer.complete(message)
        elif isinstance(method, str):
            params, session = message.get("params"), message.get("sessionId")
            self._on_event(
                method,
                params if isinstance(params, dict) else {},
                session if isinstance(session, str) else "",
            )


class _Answer:
    def __init__(self) -> None:
        self.has_come = threading.Event()
        self.result: Params = {}
        self.refusal = ""

    def complete(self, message: Params) -> None:
        error, result = message.get("error"), message.get("result")
        if isinstance(error, dict):
            self.refusal = str(error.get("message", "refused"))[:500] or "refused"
        elif isinstance(result, dict):
            self.result = result
        self.has_come.set()
