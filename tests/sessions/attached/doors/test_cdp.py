"""The debugger's protocol: requests, what comes unasked, and what is no message of it."""

from __future__ import annotations

import json
import os
import random
import socket
import threading
from collections.abc import Callable, Iterator
from queue import Queue
from types import SimpleNamespace
from typing import Any, Self

import pytest

from inspector.errors import AttachError
from inspector.probe.wire import EVENTS, JSON
from inspector.sessions.attached import connections
from inspector.sessions.attached.connections import (
    ConnectionClosedError,
    ProbeConnection,
    QueuedConnection,
)
from inspector.sessions.attached.doors import cdp
from inspector.sessions.attached.doors.browser_pages import _PAGE_S, BrowserPages
from inspector.sessions.attached.doors.cdp import (
    Cdp,
    CdpError,
    Params,
    PipeTransport,
    WebSocketTransport,
    reported_targets,
    socket_path,
)
from inspector.sessions.attached.messages import FIRST_PAGE_PID
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
        thread = threading.current_thread()
        assert thread.daemon or thread is threading.main_thread()
        self.adopted.put(connection)


def test_that_an_answer_comes_to_the_request_it_belongs_to() -> None:
    debugger = Scripted()
    debugger.answers = lambda message: {"method": message["method"]}
    connection = Cdp(debugger, lambda *_: None)
    assert connection._thread.daemon
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


class Followed:
    """Pages whose debugger says what a test tells it to."""

    def __init__(self) -> None:
        self.debugger, self.acceptor = Scripted(), StandIn()
        self.ended: list[str] = []
        self.pages = BrowserPages(self.debugger, self.acceptor, {"hold": False}, self.ended.append)

    def say(self, method: str, session: str = "", **params: object) -> list[str]:
        """Return which requests the event leads to."""
        before = len(self.debugger.sent)
        self.debugger.say({"method": method, "params": params, "sessionId": session})
        # It is answered when everything before has been taken, and has no session.
        self.pages.begin()
        sent = [each for each in self.debugger.sent[before:] if "sessionId" in each]
        assert {each["sessionId"] for each in sent} <= {session, params.get("sessionId")}
        return [str(each["method"]) for each in sent]

    def attach(self, kind: str, session: str, parent: str = "", *, is_new: bool) -> list[str]:
        about = {"type": kind, "targetId": f"{session}-frame"}
        more = {"sessionId": session, "targetInfo": about, "waitingForDebugger": is_new}
        return self.say("Target.attachedToTarget", parent, **more)

    def context(self, session: str, number: int, frame: str) -> list[str]:
        about = {"id": number, "auxData": {"isDefault": True, "frameId": frame}}
        return self.say("Runtime.executionContextCreated", session, context=about)

    def bind(self, session: str, number: int, payload: str = 'J{"params":{}}') -> None:
        name = self.pages._binding
        params = {"name": name, "executionContextId": number, "payload": payload}
        assert self.say("Runtime.bindingCalled", session, **params) == []

    def joined(self, session: str, number: int) -> tuple[ProbeConnection, list[int]]:
        """Return the connection of a new program, and its number and that of its page."""
        self.bind(session, number)
        connection = self.acceptor.adopted.get(timeout=10)
        ((kind, payload),) = connection.receive(10)
        assert kind == JSON
        params = json.loads(payload)["params"]
        return connection, [params[name] and params[name] - FIRST_PAGE_PID for name in _PIDS]


_PIDS = ("pid", "parent_pid")
_ENTERED = ["Runtime.enable", "Runtime.addBinding"]
_FOLLOWED = ["Page.enable", "Page.addScriptToEvaluateOnNewDocument", "Target.setAutoAttach"]
_GOES_ON = "Runtime.runIfWaitingForDebugger"


def test_that_each_kind_of_target_gets_the_probe_before_its_first_line() -> None:
    followed = Followed()
    stopped = ["Debugger.enable", "Debugger.setInstrumentationBreakpoint", _GOES_ON]
    assert followed.attach("worker", "new worker", is_new=True) == [*_ENTERED, *stopped]
    assert followed.say("Debugger.paused", "new worker") == ["Runtime.evaluate", "Debugger.disable"]
    assert followed.attach("worker", "worker", is_new=False) == [*_ENTERED, "Runtime.evaluate"]
    assert followed.attach("service_worker", "other", is_new=True) == [_GOES_ON]
    assert followed.attach("service_worker", "other", is_new=False) == []
    assert not followed.pages.first_page.is_set()
    assert followed.attach("page", "new page", is_new=True) == [*_ENTERED, *_FOLLOWED, _GOES_ON]
    assert followed.pages.first_page.is_set()
    assert followed.attach("page", "page", is_new=False) == [*_ENTERED, *_FOLLOWED]
    follows = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
    asked = [each for each in followed.debugger.sent if each["method"] == "Target.setAutoAttach"]
    assert all(each["params"] == follows for each in asked)
    # What ran before gets it in each of its contexts, which a worker has only one of.
    assert [followed.context(each, 1, "x") for each in ("new page", "worker", "page")] == [
        [],
        [],
        ["Runtime.evaluate"],
    ]
    evaluated = [each for each in followed.debugger.sent if each["method"] == "Runtime.evaluate"]
    assert evaluated[-1]["params"] == {
        "expression": followed.pages._script,
        "silent": True,
        "contextId": 1,
    }
    followed.pages.close()


def test_that_programs_of_a_page_belong_to_it_until_they_end() -> None:
    followed = Followed()
    followed.attach("page", "page", is_new=True)
    followed.attach("iframe", "frame", "page", is_new=True)
    followed.attach("worker", "worker", "frame", is_new=True)
    followed.context("page", 1, "page-frame")
    followed.context("page", 2, "another")
    followed.context("frame", 1, "frame-frame")
    followed.bind("page", 1, "E")
    followed.bind("page", 1, "")
    main, *others = (
        followed.joined(*place) for place in (("page", 1), ("page", 2), ("frame", 1), ("worker", 5))
    )
    assert main[1] == [1, 0]
    assert [each[1] for each in others] == [[4, 1], [2, 1], [3, 1]]
    assert followed.joined("unknown", 7)[1] == [5, 0]
    followed.bind("page", 1, "EAAE=")
    assert main[0].receive(0) == [(EVENTS, b"\0\1")]
    left = {"executionContextId": 1}
    for end, connection, reason in (
        (lambda: followed.bind("page", 1, "J"), main, "the page detached"),
        (
            lambda: followed.say("Runtime.executionContextDestroyed", "frame", **left),
            others[1],
            "the page was left",
        ),
        (
            lambda: followed.say("Runtime.executionContextsCleared", "page"),
            others[0],
            "the page was left",
        ),
        (
            lambda: followed.say("Target.detachedFromTarget", sessionId="worker"),
            others[2],
            "the page was closed",
        ),
    ):
        assert connection[0].receive(0) == []
        end()
        with pytest.raises(ConnectionClosedError, match=reason):
            connection[0].receive(0)
    assert followed.joined("worker", 5)[1] == [6, 0]
    crashing, _ = followed.joined("page", 3)
    followed.say("Inspector.targetCrashed", "page")
    with pytest.raises(ConnectionClosedError, match="the page has crashed"):
        crashing.receive(0)
    followed.pages.close()


def test_that_a_page_is_shown_in_the_first_tab() -> None:
    followed = Followed()
    pages: Any = followed.pages
    waited: list[float] = []
    pages.first_page = SimpleNamespace(wait=waited.append, set=lambda: None)
    followed.attach("worker", "worker", is_new=False)
    with pytest.raises(CdpError, match="the browser shows no page"):
        pages.navigate("http://game")
    assert waited == [_PAGE_S]
    followed.attach("page", "page", is_new=True)
    pages.navigate("http://game")
    assert [(each["method"], each["sessionId"]) for each in followed.debugger.sent[-2:]] == [
        ("Page.enable", "page"),
        ("Page.navigate", "page"),
    ]
    assert followed.debugger.sent[-1]["params"] == {"url": "http://game"}
    followed.debugger.answers = lambda _message: {"errorText": "net::ERR"}
    with pytest.raises(CdpError, match="http://game could not be loaded: net::ERR"):
        pages.navigate("http://game")
    pages.close()


def test_that_a_page_that_is_refused_says_why() -> None:
    followed = Followed()
    pages: Any = followed.pages
    connection: Any = object()
    assert (pages.has_adopted, pages.refusal) == (False, "")
    pages._adopt(connection)
    assert (pages.has_adopted, pages.refusal) == (True, "")

    def refuse(*_: object, **_more: object) -> None:
        raise AttachError("it is too old")

    pages._acceptor = SimpleNamespace(adopt=refuse)
    pages._adopt(connection)
    assert pages.refusal == "it is too old"
    pages.close()


def test_that_pages_are_told_when_the_inspector_detaches() -> None:
    followed = Followed()
    followed.attach("page", "page", is_new=True)
    connection, _ = followed.joined("page", 1)
    followed.pages.close()
    told = followed.debugger.sent[-1]
    assert (told["method"], told["sessionId"]) == ("Runtime.callFunctionOn", "page")
    params: Any = told["params"]
    assert (params["executionContextId"], params["silent"]) == (1, True)
    assert json.loads(params["arguments"][0]["value"])["method"] == "Link.bye"
    with pytest.raises(ConnectionClosedError, match="the inspector detached"):
        connection.receive(0)
    assert followed.ended == ["closed"]


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
    transport._rest += b"x" * (16 << 20)
    with pytest.raises(CdpError, match="has ended"):
        transport.receive()
    transport._rest += b"x"
    with pytest.raises(CdpError, match="sends too much"):
        transport.receive()
    os.close(reader)


def test_that_a_pipe_that_is_gone_ends_the_connection() -> None:
    reader, writer = os.pipe()
    transport = PipeTransport(reader, writer)
    os.close(reader)
    for ask in (lambda: transport.send("{}"), transport.receive):
        with pytest.raises(CdpError):
            ask()
    for _ in range(2):
        transport.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(writer)


def test_that_a_debugger_that_does_not_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cdp, "_CALL_S", 0.0)
    debugger = Scripted()
    debugger.answers = lambda _message: None
    connection = Cdp(debugger, lambda *_: None)
    with pytest.raises(CdpError, match=r"the debugger does not answer A\.b"):
        connection.call("A.b")
    assert connection._waiting == {}
    assert connection.post("C.d", {"x": 1}, "tab") == 2
    sent = {"id": 2, "method": "C.d", "params": {"x": 1}, "sessionId": "tab"}
    assert debugger.sent[-1] == sent
    connection.close()
    answer = cdp._Answer()
    for message, result, refusal in (
        ({"result": {"a": 1}}, {"a": 1}, ""),
        ({"result": 5}, {"a": 1}, ""),
        ({"error": {"message": "x" * 600}, "result": {}}, {"a": 1}, "x" * 500),
        ({"error": {"message": ""}}, {"a": 1}, "refused"),
        ({"error": {}}, {"a": 1}, "refused"),
    ):
        answer.complete(message)
        assert (answer.result, answer.refusal, answer.has_come.is_set()) == (result, refusal, True)


def test_that_a_port_that_lists_no_debugger_is_refused() -> None:
    assert socket_path({"webSocketDebuggerUrl": "ws://127.0.0.1:9/devtools/browser/x"}, 9) == (
        "/devtools/browser/x"
    )
    assert socket_path({"webSocketDebuggerUrl": "ws://x/a"}, 9) == "/a"
    listings: list[object] = [
        {"webSocketDebuggerUrl": "ws://x/"},
        {},
        [],
        None,
        {"webSocketDebuggerUrl": 5},
    ]
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
    assert (connection.is_local, connection.host, connection.peer_pid) == (False, "", 0)
    connection.put_text('J{"method":"é"}')
    connection.put_text("EAAECAw==")
    assert connection.receive(1) == [(JSON, '{"method":"é"}'.encode()), (EVENTS, b"\0\1\2\3")]
    connection.send(JSON, b"{}")
    assert sent == [(JSON, b"{}")]


@pytest.mark.parametrize("text", ["E!", "E!AAECAw==", "E====", "X", "", "Eé", "E\ud800"])
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


def test_that_only_what_waits_counts_as_a_flood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_MOST_WAITING_BYTES", 4)
    connection, _ = _connection()
    for _ in range(2):
        connection.put(JSON, b"1234")
        assert connection.receive(0) == [(JSON, b"1234")]
    for part in (b"12", b"345", b"6"):
        connection.put(JSON, part)
    assert connection.receive(0) == [(JSON, b"12"), (JSON, b"345")]
    with pytest.raises(ConnectionClosedError, match="more than is taken"):
        connection.receive(0)


def test_that_a_wait_can_be_ended() -> None:
    connection, _ = _connection()
    connection.wake()
    assert connection.receive(60) == []
    # The next one waits again.
    done: list[object] = []
    changed: Any = connection._changed
    changed.wait, changed.notify = done.append, lambda: done.append("notified")
    assert connection.receive(50) == []
    connection.put_text("J{}")
    connection.end("")
    connection.wake()
    assert done == [50, *["notified"] * 3]


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
