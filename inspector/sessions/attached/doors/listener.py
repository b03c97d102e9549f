"""Listen on a WebSocket for pages that dial by themselves: on phones, in mini-games, anywhere."""

from __future__ import annotations

import http
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from inspector.errors import AttachError
from inspector.probe.wire import EVENTS, JSON, MAX_FRAME_BYTES
from inspector.sessions.attached.doors.browser_pages import QueuedCarrier
from inspector.sessions.attached.doors.door import Inlet
from inspector.sessions.attached.doors.launch import PROBE_JS

if TYPE_CHECKING:
    from websockets.http11 import Request, Response
    from websockets.sync.server import ServerConnection

_HOST: Final = "127.0.0.1"
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_MOST_PAGES: Final = 64
_PROBE_PATH: Final = "/probe.js"


@dataclass(frozen=True, slots=True)
class PageListener:
    """Pages that dial by themselves.

    Attributes:
        port: The port to listen on; 0 for any.
        origins: Origins of pages that may dial besides those of this machine, such as
            ``https://example.org``; ``null`` for files.
    """

    port: int = 0
    origins: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What is waited for."""
        return f"pages that dial port {self.port}" if self.port else "pages that dial"

    def open(self, inlet: Inlet) -> OpenedListener:
        """Begin to listen.

        Raises:
            AttachError: The port is taken.
        """
        return OpenedListener(self, inlet)


class OpenedListener:
    """A port on which pages dial.

    Attributes:
        title: What is waited for.
        pid: None: pages are no processes.
        url: What pages dial.
        note: What to write into a page.
    """

    pid = None

    def __init__(self, door: PageListener, inlet: Inlet) -> None:
        self.title = door.title
        self._inlet = inlet
        self._origins = frozenset(door.origins)
        self._room = threading.Semaphore(_MOST_PAGES)
        # Only pages that dial need the server, which takes 100 ms.
        import websockets.sync.server  # noqa: PLC0415

        self._errors = (OSError, websockets.WebSocketException)
        try:
            self._server = websockets.sync.server.serve(
                self._talk,
                _HOST,
                door.port,
                process_request=self._refusal,
                max_size=MAX_FRAME_BYTES,
                compression=None,
            )
        except OSError as error:
            message = f"The inspector cannot listen on port {door.port}: {error.strerror}."
            raise AttachError(message) from None
        port = self._server.socket.getsockname()[1]
        self.url = f"ws://{_HOST}:{port}"
        self.note = (
            f'Write this into a page: <script src="http://{_HOST}:{port}{_PROBE_PATH}"></script>'
            f'<script>timelineProbe.connect({{url: "{self.url}", token: "{inlet.token}"}})</script>'
        )
        threading.Thread(
            target=self._server.serve_forever, name="attach: pages", daemon=True
        ).start()

    def poll(self) -> int | None:
        """Return nothing: there is no process."""
        return None

    def problem(self) -> str:
        """Return nothing: a page may always dial."""
        return ""

    def may_bring_more(self) -> bool:
        """Return true: a page may be loaded again."""
        return True

    def end(self) -> None:
        """Stop listening."""
        self._server.shutdown()

    def _refusal(self, connection: ServerConnection, request: Request) -> Response | None:
        """Refuse pages of others, which a browser lets reach this machine; else nothing."""
        host = _host_of(f"//{request.headers.get('Host', '')}")
        origin = request.headers.get("Origin")
        if host not in _LOOPBACK:
            return connection.respond(http.HTTPStatus.FORBIDDEN, "Host is not this machine.\n")
        if origin is not None and origin not in self._origins and _host_of(origin) not in _LOOPBACK:
            return connection.respond(http.HTTPStatus.FORBIDDEN, f"{origin} may not dial.\n")
        if request.path == _PROBE_PATH:
            script = connection.respond(http.HTTPStatus.OK, PROBE_JS.read_text(encoding="utf-8"))
            del script.headers["Content-Type"]
            script.headers["Content-Type"] = "text/javascript; charset=utf-8"
            return script
        return None

    def _talk(self, connection: ServerConnection) -> None:
        if not self._room.acquire(blocking=False):
            return
        carrier = QueuedCarrier("WebSocket", self._sender(connection), connection.close)
        threading.Thread(
            target=self._adopt, args=(carrier,), name="attach: page", daemon=True
        ).start()
        try:
            for message in connection:
                if isinstance(message, str):
                    carrier.put(JSON, message.encode())
                else:
                    carrier.put(EVENTS, message)
        except self._errors:
            pass
        finally:
            self._room.release()
            carrier.end("the page was closed")

    def _sender(self, connection: ServerConnection) -> Callable[[int, bytes], None]:
        def send(kind: int, payload: bytes) -> None:
            if kind == JSON:
                with suppress(*self._errors):
                    connection.send(payload.decode(errors="replace"))

        return send

    def _adopt(self, carrier: QueuedCarrier) -> None:
        # A stranger is told nothing, and no other page suffers.
        with suppress(AttachError):
            self._inlet.adopt(carrier, dials=False)


def _host_of(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
