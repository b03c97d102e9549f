"""Pages that dial by themselves: who may, and what they may say."""

from __future__ import annotations

import http.client
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from types import SimpleNamespace
from typing import Any, cast

import pytest
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from inspector.errors import AttachError
from inspector.probe.wire import EVENTS, JSON, packed_json, unpacked_json
from inspector.sessions.attached.connections import ConnectionClosedError
from inspector.sessions.attached.doors.listener import OpenedListener, PageListener
from inspector.sessions.attached.link import ProbeLink, ProbeServer
from tests.fuzz import rounds
from tests.javascript import PROBE


@pytest.fixture
def acceptor() -> Iterator[ProbeServer]:
    found = ProbeServer()
    yield found
    found.close()


@pytest.fixture
def listener(acceptor: ProbeServer) -> Iterator[OpenedListener]:
    found = PageListener(origins=("https://example.org", "null")).open(acceptor)
    yield found
    found.end()


def hello(token: str) -> str:
    params = {"protocol": 1, "role": "probe", "token": token, "pid": 1, "name": "page"}
    return packed_json({"id": 0, "method": "Link.hello", "params": params}).decode()


def said(page: ClientConnection) -> dict[str, object]:
    text = page.recv(timeout=10)
    assert isinstance(text, str)
    return unpacked_json(text.encode())


@pytest.mark.parametrize(
    "origin", ["http://localhost:8080", "http://127.0.0.1", "https://example.org", "null", None]
)
def test_that_a_page_with_the_token_may_dial(
    listener: OpenedListener, acceptor: ProbeServer, origin: str | None
) -> None:
    with connect(listener.url, origin=None if origin is None else Origin(origin)) as page:
        page.send(hello(acceptor.token))
        assert said(page)["result"]


@pytest.mark.parametrize(
    ("headers", "origin"),
    [
        ({}, "https://example.com"),
        ({}, "https://localhost.example.com"),
        ({}, "http://127.0.0.1.example.com"),
        ({}, "http://[::1"),
        ({}, "chrome-extension://localhost"),
        ({}, "http://evil.com@localhost"),
        ({"Host": "evil.com@localhost"}, None),
        ({"Host": "example.com"}, None),
        ({"Host": "localhost6:1234"}, None),
        ({"Host": "127.0.0.1.example.com"}, None),
        ({"Host": ""}, None),
    ],
)
def test_that_pages_of_others_are_refused(
    listener: OpenedListener, headers: dict[str, str], origin: str | None
) -> None:
    assert _status(listener, headers, origin) == http.HTTPStatus.FORBIDDEN


def test_that_a_host_that_is_named_twice_is_refused(listener: OpenedListener) -> None:
    assert _status(listener, {}, None, is_twice=True) == http.HTTPStatus.FORBIDDEN


def _status(
    listener: OpenedListener, headers: dict[str, str], origin: str | None, *, is_twice: bool = False
) -> int:
    address = listener.url.removeprefix("ws://")
    connection = http.client.HTTPConnection(address, timeout=10)
    upgrade = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Host": address,
    }
    more = {} if origin is None else {"Origin": origin}
    connection.putrequest("GET", "/", skip_host=True)
    for name, value in {**upgrade, **more, **headers}.items():
        connection.putheader(name, value)
    if is_twice:
        connection.putheader("Host", address)
    connection.endheaders()
    status = connection.getresponse().status
    connection.close()
    return status


def test_that_few_connections_may_be_silent_and_pages_with_the_token_are_not_among_them(
    listener: OpenedListener, acceptor: ProbeServer
) -> None:
    before = threading.active_count()
    address = listener.url.removeprefix("ws://").partition(":")
    place = (address[0], int(address[2]))
    with ExitStack() as stack:
        pages = [stack.enter_context(connect(listener.url)) for _ in range(3)]
        for page in pages:
            page.send(hello(acceptor.token))
            assert said(page)["result"]
        strangers = [stack.enter_context(socket.create_connection(place)) for _ in range(100)]
        # Those that are turned away are closed; the others are waited for.
        end_s = time.monotonic() + 30
        while sum(_is_closed(each) for each in strangers) < 80:
            assert time.monotonic() < end_s
            time.sleep(0.005)
        assert threading.active_count() < before + 60
    while True:
        with suppress(OSError, WebSocketException), connect(listener.url) as page:
            page.send(hello(acceptor.token))
            assert said(page)["result"]
            return
        assert time.monotonic() < end_s


def _is_closed(stranger: socket.socket) -> bool:
    stranger.setblocking(False)
    try:
        return stranger.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def test_that_a_wrong_token_is_refused(listener: OpenedListener) -> None:
    with connect(listener.url) as page:
        page.send(hello("00" * 16))
        error = said(page)["error"]
        assert isinstance(error, dict)
        assert error["code"] == 8


def test_that_the_probe_is_handed_out(listener: OpenedListener) -> None:
    connection = http.client.HTTPConnection(listener.url.removeprefix("ws://"), timeout=10)
    connection.request("GET", "/probe.js")
    answer = connection.getresponse()
    assert answer.headers["Content-Type"].startswith("text/javascript")
    assert answer.read() == PROBE.read_bytes()
    connection.close()
    assert "/probe.js" in listener.note


def test_that_random_messages_do_no_harm(listener: OpenedListener, acceptor: ProbeServer) -> None:
    dice = random.Random(4)
    for trial in rounds(60):
        with connect(listener.url) as page:
            try:
                if trial % 2:
                    page.send(hello(acceptor.token))
                for _ in range(dice.randrange(6)):
                    data = dice.randbytes(dice.randrange(200))
                    page.send(data if dice.random() < 0.5 else data.decode("latin-1"))
            except WebSocketException:
                pass
    with connect(listener.url) as page:
        page.send(hello(acceptor.token))
        assert said(page)["result"]


def test_that_a_message_that_is_too_large_ends_the_connection(listener: OpenedListener) -> None:
    with connect(listener.url) as page:
        page.send("x" * ((1 << 20) + 1))
        with pytest.raises(WebSocketException):
            page.recv(timeout=10)


def test_that_a_port_that_is_taken_is_said(listener: OpenedListener, acceptor: ProbeServer) -> None:
    port = int(listener.url.rpartition(":")[2])
    with pytest.raises(AttachError, match="cannot listen"):
        PageListener(port).open(acceptor)


def test_that_a_server_that_closes_while_a_program_dials_finds_no_thread_unstarted(
    acceptor: ProbeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[BaseException] = []
    link, start = cast("ProbeLink", EndedLink()), threading.Thread.start

    def close() -> None:
        try:
            acceptor.close()
        except RuntimeError as error:
            failures.append(error)

    def starting(thread: threading.Thread) -> None:
        closer = threading.Thread(target=close)
        start(closer)
        # It ends soon where it finds a thread that was not started; else it waits for this.
        closer.join(timeout=0.5)
        start(thread)
        thread.join()
        closers.append(closer)

    closers: list[threading.Thread] = []
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", starting)
        acceptor._start(link, dials=False, token="", is_shaken=False)
    closers[0].join()

    assert failures == []
    assert not acceptor._start(link, dials=False, token="", is_shaken=False)


class EndedLink:
    """Stands for a connection that has nothing to say."""

    is_known = False

    def run(self, **_how: object) -> None:
        pass

    def end(self, reason: str) -> None:
        pass


# ------------------------------------------------------------------- with stand-ins


class _Page:
    """A page that has sent some messages and may be gone."""

    def __init__(self, *messages: object) -> None:
        self.messages = list(messages)
        self.heard: list[str] = []
        self.is_gone = False

    def __iter__(self) -> Iterator[object]:
        yield from self.messages
        if self.is_gone:
            raise OSError

    def send(self, text: str) -> None:
        if self.is_gone:
            raise OSError
        self.heard.append(text)

    def close(self) -> None:
        self.heard.append("closed")


def _listening() -> Any:  # noqa: ANN401 - a listener without a server
    listening: Any = OpenedListener.__new__(OpenedListener)
    listening._errors = (OSError,)
    listening._room = threading.Semaphore(1)
    listening._strangers = threading.Semaphore(2)
    listening._leaving = threading.Lock()
    listening._place = threading.local()
    return listening


@pytest.mark.parametrize("is_gone", [False, True])
def test_that_a_page_talks_to_the_session_until_it_is_closed(*, is_gone: bool) -> None:
    def adopt(connection: Any, **how: object) -> None:  # noqa: ANN401 - a connection
        assert threading.current_thread().daemon
        connections.append((connection, how))
        has_come.set()

    connections: list[tuple[Any, dict[str, object]]] = []
    has_come = threading.Event()
    listening = _listening()
    listening._acceptor = SimpleNamespace(adopt=adopt)
    listening._place.left = left = threading.Event()
    listening._strangers.acquire()
    page = _Page("é", b"\0\1")
    page.is_gone = is_gone
    listening._talk(page)
    assert has_come.wait(10)
    ((connection, how),) = connections
    assert how == {"dials": False}
    assert left.wait(10)
    assert connection.text == "WebSocket"
    assert connection.receive(0) == [(JSON, "é".encode()), (EVENTS, b"\0\1")]
    with pytest.raises(ConnectionClosedError, match="the page was closed"):
        connection.receive(0)
    send = listening._sender(page)
    send(JSON, "ü".encode())
    send(EVENTS, b"x")
    assert page.heard == ([] if is_gone else ["ü"])
    # There is room again; a page for which there is none is left alone.
    assert listening._room.acquire(blocking=False)
    listening._talk(page)
    assert len(connections) == 1


def test_that_one_host_and_at_most_one_origin_are_checked() -> None:
    def asked(path: str, **headers: list[str]) -> object:
        headers = {"Host": ["localhost:80"], "Origin": [], **headers}
        request = SimpleNamespace(path=path, headers=SimpleNamespace(get_all=headers.get))
        return listening._refusal(connection, request)

    def respond(status: int, text: str) -> object:
        return SimpleNamespace(status=int(status), text=text, headers={"Content-Type": "text"})

    listening = _listening()
    listening._origins = frozenset({"null"})
    connection = SimpleNamespace(respond=respond)
    for headers, is_refused in (
        ({}, False),
        ({"Host": []}, True),
        ({"Host": ["localhost", "localhost"]}, True),
        ({"Host": ["[::1]:65535"]}, False),
        ({"Origin": ["null"]}, False),
        ({"Origin": ["https://localhost"]}, False),
        ({"Origin": ["https://example.org"]}, True),
        ({"Origin": ["null", "null"]}, True),
    ):
        refused: Any = asked("/", **headers)
        assert (refused is not None) is is_refused, headers
        assert refused is None or refused.status == 403
    script: Any = asked("/probe.js")
    assert (script.status, script.text) == (200, PROBE.read_text(encoding="utf-8"))
    assert script.headers == {"Content-Type": "text/javascript; charset=utf-8"}


def test_that_a_stranger_has_a_place_until_it_is_known_or_gone() -> None:
    listening = _listening()
    served: list[object] = []

    def free() -> int:
        return int(listening._strangers._value)

    meet = listening._meet(lambda *given: served.append((given, free())))
    connected = _Page()
    meet(connected, "here")
    assert (served, free()) == ([((connected, "here"), 1)], 2)
    # Known before it is gone, it leaves its place once.
    left = threading.Event()
    listening._strangers.acquire()
    listening._acceptor = SimpleNamespace(adopt=lambda *_, **__: None)
    listening._adopt(connected, left)
    listening._leave(left)
    assert free() == 2
    threads = {threading.current_thread(), None}
    listening._server = SimpleNamespace(handler_threads=threads)
    for _ in range(2):
        listening._strangers.acquire()
    meet(connected, "here")
    assert (len(served), connected.heard, threads) == (1, ["closed"], {None})

    def refuse(*_: object, **_how: object) -> None:
        raise AttachError("no")

    listening._acceptor = SimpleNamespace(adopt=refuse)
    listening._adopt(connected, threading.Event())
    assert free() == 0


def test_that_a_door_for_pages_is_called_by_its_port_and_closed_at_the_end(
    acceptor: ProbeServer,
) -> None:
    titles = [PageListener(each).title for each in (0, 80)]
    assert titles == ["pages that dial", "pages that dial port 80"]
    opened = PageListener().open(acceptor)
    serving = [each for each in threading.enumerate() if each.name == "attach: pages"]
    assert all(each.daemon for each in serving)
    # Each page takes some threads.
    room: Any = opened
    assert (room._room._value, room._strangers._value) == (64, 16)
    told = (opened.title, opened.pid, opened.poll(), opened.problem(), opened.may_bring_more())
    assert told == ("pages that dial", None, None, "", True)
    assert f'url: "{opened.url}", token: "{acceptor.token}"' in opened.note
    opened.end()
    assert opened._server.socket.fileno() == -1
