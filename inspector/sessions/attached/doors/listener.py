"""Listen on a WebSocket for pages that dial by themselves, wherever they run."""

from __future__ import annotations

import http
import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from inspector.errors import AttachError
from inspector.probe.wire import EVENTS, HELLO_NS, JSON, MAX_FRAME_BYTES
from inspector.sessions.attached.connections import QueuedConnection
from inspector.sessions.attached.doors.door import ProbeAcceptor
from inspector.sessions.attached.doors.launch import PROBE_JS
from inspector.timebase import NS_PER_SECOND

if TYPE_CHECKING:
    from websockets.http11 import Request, Response
    from websockets.sync.server import ServerConnection

_HOST: Final = "127.0.0.1"
#: How a ``Host`` header, or an ``Origin`` after its scheme, writes this machine.
_THIS_MACHINE: Final = r"(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?"
_OUR_HOST: Final = re.compile(_THIS_MACHINE)
_OUR_ORIGIN: Final = re.compile(f"https?://{_THIS_MACHINE}")
_MOST_PAGES: Final = 64
#: Most connections that have not said hello yet, as each takes some threads.
_MOST_STRANGERS: Final = 16
_Serve: TypeAlias = "Callable[[socket.socket, object], None]"
_PROBE_PATH: Final = "/probe.js"


@dataclass(frozen=True, slots=True)
class PageListener:
    port: int = 0  # The port to listen on; 0 for any
    # Origins of pages that may dial besides those of this machine, such as https://example.org;
    # null for files.
    origins: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"pages that dial port {self.port}" if self.port else "pages that dial"

    def open(self, acceptor: ProbeAcceptor) -> OpenedListener:
        return OpenedListener(self, acceptor)


class OpenedListener:
    """A port that pages dial."""

    pid = None  # None: pages are no processes

    def __init__(self, door: PageListener, acceptor: ProbeAcceptor) -> None:
        self.title = door.title
        self._acceptor = acceptor
        self._origins = frozenset(door.origins)
        self._room = threading.Semaphore(_MOST_PAGES)
        self._strangers = threading.Semaphore(_MOST_STRANGERS)
        self._leaving = threading.Lock()
        # left: set once the connection that a thread serves is no longer a stranger's
        self._place = threading.local()
        # Imported here, as only pages that dial need the server and importing it takes 100 ms.
        import websockets.sync.server  # noqa: PLC0415

        self._errors = (OSError, websockets.WebSocketException)
        try:
            self._server = websockets.sync.server.serve(
                self._talk,
                _HOST,
                door.port,
                process_request=self._refusal,
                open_timeout=HELLO_NS / NS_PER_SECOND,
                max_size=MAX_FRAME_BYTES,
                compression=None,
            )
        except OSError as error:
            message = f"The inspector cannot listen on port {door.port}: {error.strerror}."
            raise AttachError(message) from None
        self._server.handler = self._meet(self._server.handler)
        port = self._server.socket.getsockname()[1]
        self.url = f"ws://{_HOST}:{port}"
        # What people have to write into their page
        self.note = (
            f'Write this into a page: <script src="http://{_HOST}:{port}{_PROBE_PATH}"></script>'
            f'<script>timelineProbe.connect({{url: "{self.url}", '
            f'token: "{acceptor.token}"}})</script>'
        )
        threading.Thread(
            target=self._server.serve_forever, name="attach: pages", daemon=True
        ).start()

    def poll(self) -> int | None:
        return None

    def problem(self) -> str:
        return ""

    def may_bring_more(self) -> bool:
        return True

    def end(self) -> None:
        self._server.shutdown()

    def _refusal(self, connection: ServerConnection, request: Request) -> Response | None:
        """Refuse foreign pages, which a browser lets reach this machine; ``None`` accepts."""
        # A repeated header is refused: a proxy may have checked another one than this.
        hosts, origins = (request.headers.get_all(name) for name in ("Host", "Origin"))
        if len(hosts) != 1 or _OUR_HOST.fullmatch(hosts[0]) is None:
            return connection.respond(http.HTTPStatus.FORBIDDEN, "Host is not this machine.\n")
        if len(origins) > 1 or not all(map(self._may_dial, origins)):
            return connection.respond(http.HTTPStatus.FORBIDDEN, "This origin may not dial.\n")
        if request.path == _PROBE_PATH:
            script = connection.respond(http.HTTPStatus.OK, PROBE_JS.read_text(encoding="utf-8"))
            del script.headers["Content-Type"]
            script.headers["Content-Type"] = "text/javascript; charset=utf-8"
            return script
        return None

    def _may_dial(self, origin: str) -> bool:
        return origin in self._origins or _OUR_ORIGIN.fullmatch(origin) is not None

    def _talk(self, connection: ServerConnection) -> None:
        if not self._room.acquire(blocking=False):
            return
        messages = QueuedConnection("WebSocket", self._sender(connection), connection.close)
        threading.Thread(
            target=self._adopt, args=(messages, self._place.left), name="attach: page", daemon=True
        ).start()
        try:
            for message in connection:
                if isinstance(message, str):
                    messages.put(JSON, message.encode())
                else:
                    messages.put(EVENTS, message)
        except self._errors:
            pass
        finally:
            self._room.release()
            messages.end("the page was closed")

    def _sender(self, connection: ServerConnection) -> Callable[[int, bytes], None]:
        def send(kind: int, payload: bytes) -> None:
            if kind == JSON:
                with suppress(*self._errors):
                    connection.send(payload.decode(errors="replace"))

        return send

    def _adopt(self, messages: QueuedConnection, left: threading.Event) -> None:
        # Whatever is refused gets no answer, and other pages are not affected.
        with suppress(AttachError):
            self._acceptor.adopt(messages, dials=False)
            self._leave(left)

    def _meet(self, serve: _Serve) -> _Serve:
        """Return a handler that closes connections while too many others have not said hello."""

        def meet(connected: socket.socket, address: object) -> None:
            if not self._strangers.acquire(blocking=False):
                connected.close()
                self._server.handler_threads.discard(threading.current_thread())
                return
            self._place.left = left = threading.Event()
            try:
                serve(connected, address)
            finally:
                self._leave(left)

        return meet

    def _leave(self, left: threading.Event) -> None:
        with self._leaving:
            if not left.is_set():
                left.set()
                self._strangers.release()
