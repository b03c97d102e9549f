"""The debugger's protocol: requests, what comes unasked, and what is no message of it."""

from __future__ import annotations

import json
import os
import random
import socket
import threading
from collections.abc import Callable, Iterator
from queue import Queue
from typing import Self

import pytest

from inspector.errors import AttachError
from inspector.probe.wire import EVENTS, JSON
from inspector.sessions.attached.connections import (
    ConnectionClosedError,
    ProbeConnection,
    QueuedConnection,
)
from inspector.sessions.attached.doors.browser_pages import BrowserPages
from inspector.sessions.attached.doors.cdp import (
    Cdp,
    CdpError,
    Params,
    PipeTransport,
    WebSocketTransport,
    reported_targets,
    socket_path,
)
from tests.fuzz import rounds


class Scripted:
    """A debugger that says what it is told to."""

    def __init__(self) -> None:
        self.sent: list[dict[str, object]] = []
        self._texts: Queue[str | None] = Queue()
        self.answers: Callable[[dict[str, object]], object] = lambda _message: {}

    def send(self, text: str) -> None:
        message = json.loads(text)
        self.sent.append(message)
        answer = self.answers(message)
        if answer is not None:
            self.say({"id": message["id"], "result": answer})

    def say(self, message: object) -> None:
        self._texts.put(message if isinstance(message, str) else json.dumps(message))

    def receive(self) -> str:
        text = self._texts.get()
        if text is None:
            reason = "closed"
            raise CdpError(reason)
        return text

    def close(self) -> None:
        self._texts.put(None)


class StandIn:
    """The session's end: it says hello to every page."""

    address = "unix:/nowhere/socket"
    tcp_address = "tcp:127.0.0.1:1"
    token = "00ff" * 8

    def __init__(self) -> None:
        self.adopted: Queue[ProbeConnection] = Queue()

    def processes(self) -> set[int]:
        return set()

    def dial(self, address: str, token: str) -> None:
        message = f"dialled {address} with {token}, where pages are adopted"
        raise AssertionError(message)

    def adopt(self, connection: ProbeConnection, *, dials: bool, token: str = "") -> None:
        assert not dials
        assert not token
        self.adopted.put(connection)


def test_that_an_answer_comes_to_the_request_it_belongs_to() -> None:
    debugger = Scripted()
    debugger.answers = lambda message: {"method": message["method"]}
    connection = Cdp(debugger, lambda *_: None)
    assert connection.call("A.b") == {"method": "A.b"}
    assert connection.call("C.d", {"x": 1}, "session") == {"method": "C.d"}
    expected = {"id": 2, "method": "C.d", "params": {"x": 1}, "sessionId": "session"}
    assert debugger.sent[1] == expected
    connection.close()


def test_that_a_refusal_and_the_end_reach_who_waits() -> None:
    debugger = Scripted()
    debugger.answers = lambda _message: None
    connection = Cdp(debugger, lambda *_: None)
    debugger.say({"id": 1, "error": {"message": "no such method"}})
    with pytest.raises(CdpError, match="no such method"):
        connection.call("A.b")
    threading.Timer(0.05, debugger.close).start()
    with pytest.raises(CdpError, match="closed"):
        connection.call("A.b")
    with pytest.raises(CdpError, match="closed"):
        connection.call("A.b")


def _words() -> Iterator[str]:
    dice = random.Random(20)
    kinds = ["Target.attachedToTarget", "Runtime.bindingCalled", "Debugger.paused", "A.b"]
    kinds += ["Runtime.executionContextCreated", "Target.detachedFromTarget"]
    values: list[object] = [None, 1, -1, 2**70, "x", "", [], {}, [[]], True, 0.5, "page", "worker"]
    values += [{"type": "page", "targetId": "x"}, {"id": 1, "auxData": {"isDefault": True}}]
    names = ["sessionId", "targetInfo", "context", "executionContextId", "name", "payload"]
    for _ in rounds(2_000):
        params = {name: dice.choice(values) for name in dice.sample(names, dice.randrange(6))}
        message = {"method": dice.choice(kinds), "params": params, "sessionId": dice.choice(values)}
        message |= {} if dice.random() < 0.8 else {"id": dice.choice(values)}
        if dice.random() < 0.2:
            place = dice.choice(["method", "params", "id", "result", "error"])
            message[place] = dice.choice(values)
        yield json.dumps(message)


def test_that_pages_survive_whatever_a_debugger_says() -> None:
    debugger, acceptor = Scripted(), StandIn()
    pages = BrowserPages(debugger, acceptor, {"hold": False, "grant": "full"}, lambda _reason: None)
    pages.begin()
    for place, text in enumerate(_words(), start=1):
        debugger.say(text)
        if place % 1_000 == 0:
            # Everything before has been taken, as it still answers.
            pages.begin()
    pages.close()


@pytest.mark.parametrize("text", ["", "{", "[]", "1", '"x"', "nul", "[" * 100_000, '{"id":1}{'])
def test_that_what_is_no_message_ends_the_connection(text: str) -> None:
    debugger = Scripted()
    debugger.answers = lambda _message: None
    ended: Queue[str] = Queue()
    connection = Cdp(debugger, lambda *_: None, ended.put)
    debugger.say(text)
    assert "not a debugger message" in ended.get(timeout=10)
    with pytest.raises(CdpError):
        connection.call("A.b")


def test_that_random_bytes_in_a_pipe_end_the_connection() -> None:
    dice = random.Random(7)
    for _ in rounds(100):
        reader, writer = os.pipe()
        ours, theirs = os.pipe()
        ended: Queue[str] = Queue()
        connection = Cdp(PipeTransport(reader, theirs), lambda *_: None, ended.put)
        os.write(writer, dice.randbytes(dice.randrange(300)) + b"\0")
        os.close(writer)
        assert ended.get(timeout=10)
        connection.close()
        os.close(reader)
        os.close(ours)


def test_that_a_pipe_carries_messages_in_pieces() -> None:
    reader, writer = os.pipe()
    ours, theirs = os.pipe()
    seen: Queue[tuple[str, Params, str]] = Queue()
    connection = Cdp(PipeTransport(reader, theirs), lambda *found: seen.put(found))
    text = b'{"method":"A.b","params":{"x":"\xc3\xa9"}}\0{"method":"C.d"}\0'
    for at in range(len(text)):
        os.write(writer, text[at : at + 1])
    assert seen.get(timeout=10) == ("A.b", {"x": "é"}, "")
    assert seen.get(timeout=10) == ("C.d", {}, "")
    connection.post("E.f")
    assert os.read(ours, 1_000).endswith(b'"E.f", "params": {}}\0')
    os.close(writer)
    connection.close()
    os.close(ours)
    os.close(reader)


def test_that_a_message_of_a_browser_that_is_too_large_is_not_taken() -> None:
    reader, writer = os.pipe()
    os.close(writer)
    transport = PipeTransport(reader, -1)
    transport._rest += b"x" * ((16 << 20) + 1)

    with pytest.raises(CdpError, match="sends too much"):
        transport.receive()
    os.close(reader)


def test_that_a_port_that_lists_no_debugger_is_refused() -> None:
    assert socket_path({"webSocketDebuggerUrl": "ws://127.0.0.1:9/devtools/browser/x"}, 9) == (
        "/devtools/browser/x"
    )
    listings: list[object] = [{}, [], None, {"webSocketDebuggerUrl": 5}]
    for listing in [*listings, {"webSocketDebuggerUrl": "ws://x"}]:
        with pytest.raises(AttachError, match="not a debugging port"):
            socket_path(listing, 9)


def test_that_a_port_that_nobody_listens_on_is_said_with_what_to_do() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(AttachError, match=rf"{port}: Connection refused\. Start the browser"):
            reported_targets(port, "/json/version")


# ------------------------------------------------------------------------ connections


def _connection() -> tuple[QueuedConnection, list[tuple[int, bytes]]]:
    sent: list[tuple[int, bytes]] = []
    return QueuedConnection("test", lambda *message: sent.append(message), lambda: None), sent


def test_that_a_connection_takes_texts_and_events_of_a_page() -> None:
    connection, sent = _connection()
    connection.put_text('J{"method":"é"}')
    connection.put_text("EAAECAw==")
    assert connection.receive(1) == [(JSON, '{"method":"é"}'.encode()), (EVENTS, b"\0\1\2\3")]
    connection.send(JSON, b"{}")
    assert sent == [(JSON, b"{}")]


@pytest.mark.parametrize("text", ["E!", "E====", "X", "", "Eé", "E\ud800"])
def test_that_what_is_no_base64_is_an_empty_batch(text: str) -> None:
    connection, _ = _connection()
    connection.put_text(text)
    assert connection.receive(1) == [(EVENTS, b"")]


def test_that_what_came_before_the_end_is_received() -> None:
    connection, sent = _connection()
    connection.put_text("J{}")
    connection.end("the page was left")
    connection.put_text("J{}")
    connection.send(JSON, b"{}")
    assert sent == []
    assert connection.receive(1) == [(JSON, b"{}")]
    with pytest.raises(ConnectionClosedError, match="the page was left"):
        connection.receive(1)


def test_that_a_page_that_floods_is_cut_off() -> None:
    connection, _ = _connection()
    for _ in range(200):
        connection.put(JSON, bytes(1 << 20))
    assert sum(len(payload) for _, payload in connection.receive(1)) <= 66 << 20
    with pytest.raises(ConnectionClosedError, match="more than is taken"):
        connection.receive(1)


def test_that_a_wait_can_be_ended() -> None:
    connection, _ = _connection()
    connection.wake()
    assert connection.receive(60) == []


def test_that_a_debugging_port_sends_texts_or_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[object] = ["text", b"bytes", OSError("gone")]
    is_closed: list[bool] = []

    class Socket:
        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            is_closed.append(True)
            reason = "closing failed"
            raise OSError(reason)

        def send(self, text: str) -> None:
            raise OSError(text)

        def recv(self) -> object:
            found = said.pop(0)
            if isinstance(found, OSError):
                raise found
            return found

    asked: list[str] = []

    def connect(url: str, **_: object) -> Socket:
        asked.append(url)
        return Socket()

    monkeypatch.setattr("websockets.sync.client.connect", connect)
    transport = WebSocketTransport(9_222, "/devtools")
    assert asked == ["ws://127.0.0.1:9222/devtools"]
    assert transport.receive() == "text"
    for reason in ("sends no text", "gone"):
        with pytest.raises(CdpError, match=reason):
            transport.receive()
    with pytest.raises(CdpError, match="too late"):
        transport.send("too late")
    # What fails while it is closed is closed too.
    transport.close()
    assert is_closed == [True]


def test_that_a_debugging_port_that_does_not_answer_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_url: str, **_: object) -> None:
        reason = "refused"
        raise OSError(reason)

    monkeypatch.setattr("websockets.sync.client.connect", refuse)
    with pytest.raises(CdpError, match="The debugging port 9222 does not answer: refused"):
        WebSocketTransport(9_222, "/devtools")
