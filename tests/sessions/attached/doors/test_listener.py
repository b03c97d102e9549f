"""Pages that dial by themselves: who may, and what they may say."""

from __future__ import annotations

import http.client
import random
import threading
from collections.abc import Iterator
from typing import cast

import pytest
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from inspector.errors import AttachError
from inspector.probe.wire import packed_json, unpacked_json
from inspector.sessions.attached.doors.listener import OpenedListener, PageListener
from inspector.sessions.attached.link import Inlet, Link
from tests.fuzz import rounds
from tests.javascript import PROBE


@pytest.fixture
def inlet() -> Iterator[Inlet]:
    found = Inlet()
    yield found
    found.close()


@pytest.fixture
def listener(inlet: Inlet) -> Iterator[OpenedListener]:
    found = PageListener(origins=("https://example.org", "null")).open(inlet)
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
    listener: OpenedListener, inlet: Inlet, origin: str | None
) -> None:
    with connect(listener.url, origin=None if origin is None else Origin(origin)) as page:
        page.send(hello(inlet.token))
        assert said(page)["result"]


@pytest.mark.parametrize(
    ("headers", "origin"),
    [
        ({}, "https://example.com"),
        ({}, "https://localhost.example.com"),
        ({}, "http://127.0.0.1.example.com"),
        ({}, "http://[::1"),
        ({"Host": "example.com"}, None),
        ({"Host": "localhost6:1234"}, None),
        ({"Host": "127.0.0.1.example.com"}, None),
        ({"Host": ""}, None),
    ],
)
def test_that_pages_of_others_are_refused(
    listener: OpenedListener, headers: dict[str, str], origin: str | None
) -> None:
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
    connection.endheaders()
    assert connection.getresponse().status == http.HTTPStatus.FORBIDDEN
    connection.close()


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


def test_that_random_messages_do_no_harm(listener: OpenedListener, inlet: Inlet) -> None:
    dice = random.Random(4)
    for trial in rounds(60):
        with connect(listener.url) as page:
            try:
                if trial % 2:
                    page.send(hello(inlet.token))
                for _ in range(dice.randrange(6)):
                    data = dice.randbytes(dice.randrange(200))
                    page.send(data if dice.random() < 0.5 else data.decode("latin-1"))
            except WebSocketException:
                pass
    with connect(listener.url) as page:
        page.send(hello(inlet.token))
        assert said(page)["result"]


def test_that_a_message_that_is_too_large_ends_the_connection(listener: OpenedListener) -> None:
    with connect(listener.url) as page:
        page.send("x" * ((1 << 20) + 1))
        with pytest.raises(WebSocketException):
            page.recv(timeout=10)


def test_that_a_port_that_is_taken_is_said(listener: OpenedListener, inlet: Inlet) -> None:
    port = int(listener.url.rpartition(":")[2])
    with pytest.raises(AttachError, match="cannot listen"):
        PageListener(port).open(inlet)


def test_that_an_inlet_that_closes_while_a_program_dials_finds_no_thread_unstarted(
    inlet: Inlet, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[BaseException] = []
    link, start = cast("Link", EndedLink()), threading.Thread.start

    def close() -> None:
        try:
            inlet.close()
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
        inlet._start(link, dials=False, token="", is_shaken=False)
    closers[0].join()

    assert failures == []
    assert not inlet._start(link, dials=False, token="", is_shaken=False)


class EndedLink:
    """Stands for a connection that has nothing to say."""

    is_known = False

    def run(self, **_how: object) -> None:
        pass

    def end(self, reason: str) -> None:
        pass
