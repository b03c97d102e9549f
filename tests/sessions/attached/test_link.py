"""A link to a probe turn by turn, with a connection and a server that are played."""

from __future__ import annotations

import os
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.errors import AttachError
from inspector.probe.wire import (
    EVENTS,
    HELLO_NS,
    JSON,
    PING_NS,
    UNKNOWN_METHOD,
    WINDOW_BYTES,
    WireError,
    answer,
    notification,
    packed_events,
    packed_json,
    request,
    unpacked_json,
)
from inspector.sessions.attached import link as link_module
from inspector.sessions.attached.connections import ConnectionClosedError
from inspector.sessions.attached.link import (
    Answered,
    Batch,
    Notification,
    ProbeLink,
    ProbeServer,
    Unable,
)
from inspector.vocabulary import MARK
from tests.sessions.attached.fake_probe import DryServer, Hand, hello

_BEGAN_NS = 50_000_000_000
#: Of the inspector.
_RIGHT = "right"


class _Played:
    """A connection and a server in one, and the clock of both."""

    text, host, peer_pid = "played", "", 7

    def __init__(self) -> None:
        self.time_ns = _BEGAN_NS
        self.comes: list[tuple[int, list[tuple[int, bytes]]]] = []
        self.sent: list[dict[str, Any]] = []
        self.news: list[tuple[object, int]] = []
        self.waiting_bytes = 0
        self.told = self.woken = self.received = 0
        self.is_broken = False

    def now_ns(self) -> int:
        return self.time_ns

    def send(self, kind: int, payload: bytes) -> None:
        assert kind == JSON
        if self.is_broken:
            message = "it is gone"
            raise ConnectionClosedError(message)
        self.sent.append(unpacked_json(payload))

    def receive(self, _timeout_s: float) -> list[tuple[int, bytes]]:
        self.received += 1
        passed_ns, messages = self.comes.pop(0) if self.comes else (0, [])
        self.time_ns += passed_ns
        return messages

    def wake(self) -> None:
        self.woken += 1

    def put(self, news: object, size: int = 0) -> None:
        self.news.append((news, size))

    def on_news(self) -> None:
        self.told += 1


def _linked() -> tuple[Any, _Played]:
    played = _Played()
    link = ProbeLink(played, played)  # type: ignore[arg-type]
    link._early = None
    return link, played


def _message(**values: object) -> tuple[int, bytes]:
    return JSON, packed_json({"jsonrpc": "2.0", **values})


def _turn(link: Any, played: _Played, passed_ns: int, *messages: tuple[int, bytes]) -> list[Any]:  # noqa: ANN401
    played.comes.append((passed_ns, list(messages)))
    played.sent.clear()
    link._turn()
    return played.sent[:]


def test_that_what_was_received_is_acknowledged_in_intervals() -> None:
    link, played = _linked()
    link._pinged_ns += 10 * PING_NS
    batch = packed_events([(1, MARK, 0, 0, 0)] * 3)
    interval_ns = 100_000_000
    assert _turn(link, played, interval_ns) == []
    assert _turn(link, played, 0, (EVENTS, batch)) == [notification("Events.ack", {"events": 3})]
    assert played.news == [(Batch(link, batch, played.time_ns), 0)]
    assert _turn(link, played, interval_ns - 1, (EVENTS, batch)) == []
    assert _turn(link, played, 1) == [notification("Events.ack", {"events": 6})]
    assert _turn(link, played, interval_ns) == []


def test_that_the_program_is_pinged_and_its_silence_noticed() -> None:
    link, played = _linked()
    link._pinged_ns += 1
    assert _turn(link, played, PING_NS // 2) == []
    sent = _turn(link, played, 1)
    assert sent == [notification("Link.ping", {"n": played.time_ns})]
    link._pinged_ns = 1 << 62
    link._heard_ns = played.time_ns
    silent = []
    for passed_ns, messages in (
        (1_000_000_000, []),
        (1, []),
        (1, []),
        (1, [_message(method="Link.pong", params={})]),
        # So long a turn says nothing: this process itself stood still.
        (1_000_000_001, []),
        (1_000_000_000, []),
        (1, []),
    ):
        _turn(link, played, passed_ns, *messages)
        silent.append(link.is_silent)
    assert silent == [False, True, True, False, False, False, True]
    assert played.told == 3


def test_that_a_session_that_takes_too_little_lets_the_program_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept: list[float] = []
    link, played = _linked()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        played.time_ns += 2_000_000_000

    monkeypatch.setattr(link_module, "time", SimpleNamespace(sleep=sleep))
    most = 4 * WINDOW_BYTES
    played.waiting_bytes = most + 1
    link._turn()
    assert (slept, played.received, link.is_silent) == ([link_module._TURN_S], 0, False)
    played.waiting_bytes = most
    link._turn()
    assert (len(slept), played.received) == (1, 1)


def test_that_clocks_are_compared_now_and_then() -> None:
    link, played = _linked()
    asked: list[int] = []
    link._ask_for_time = lambda: asked.append(played.time_ns)
    every_ns = 500_000_000
    link._turn()
    assert asked == []
    link._error_ns, link._compared_ns = 1, played.time_ns
    for passed_ns in (every_ns - 1, 1, every_ns - 1):
        _turn(link, played, passed_ns)
    assert asked == [_BEGAN_NS + every_ns]


def test_that_requests_are_numbered_and_their_answers_told_once() -> None:
    link, played = _linked()
    told: list[tuple[object, str]] = []
    link.request("Clock.pause", {"clock": 1}, lambda *what: told.append(what))
    link.request("Events.keyframe", {})
    assert played.woken == 2
    assert _turn(link, played, 0) == [
        request(1, "Clock.pause", {"clock": 1}),
        request(2, "Events.keyframe", {}),
    ]
    good = (JSON, packed_json(answer(1, {"x": 1})))
    _turn(link, played, 0, good, good, (JSON, packed_json(answer(2, {}))))
    ((answered, _),) = played.news
    assert (answered.result, answered.refusal) == ({"x": 1}, "")  # type: ignore[attr-defined]
    answered.done({"x": 1}, "")  # type: ignore[attr-defined]
    assert told == [({"x": 1}, "")]
    link.request("Clock.pause", {"clock": 1}, lambda *what: told.append(what))
    _turn(link, played, 0)
    _turn(link, played, 0, _message(id=3, error={"code": 1, "message": "No."}))
    assert (played.news[1][0].result, played.news[1][0].refusal) == ({}, "No.")  # type: ignore[attr-defined]


def test_that_messages_are_answered_or_passed_on() -> None:
    link, played = _linked()
    sent = _turn(
        link,
        played,
        0,
        _message(id=9, method="Do.this", params={}),
        _message(method="Link.ping", params={"n": 4}),
        _message(method="Link.pong", params={}),
    )
    assert (sent[0]["id"], sent[0]["error"]["code"]) == (9, UNKNOWN_METHOD)
    assert sent[1:] == [notification("Link.pong", {"n": 4})]
    assert played.news == []
    kind, payload = _message(method="Cost.is", params={"a": "b\x1bc", "d": ["\x1b"], "e": 5})
    _turn(link, played, 0, (kind, payload))
    ((news, size),) = played.news
    assert size == len(payload)
    assert isinstance(news, Notification)
    assert (news.method, news.params) == ("Cost.is", {"a": "b�c", "d": ["�"], "e": 5})
    with pytest.raises(link_module._FinishedError):
        _turn(link, played, 0, _message(method="Link.bye", params={"reason": "it is done"}))
    assert link._bye == "it is done"


@pytest.mark.parametrize("is_broken", [False, True])
def test_that_the_inspector_says_goodbye_where_it_can(*, is_broken: bool) -> None:
    link, played = _linked()
    played.is_broken = is_broken
    link.end("enough")
    with pytest.raises(link_module._FinishedError, match="enough"):
        link._turn()
    assert played.sent == ([] if is_broken else [notification("Link.bye", {"reason": "enough"})])
    assert (played.woken, played.received) == (1, 0)


def test_that_news_before_a_program_is_introduced_are_kept_and_counted() -> None:
    link, played = _linked()
    link._early = []
    batch = packed_events([(1, MARK, 0, 0, 0)])
    payload = _message(method="Cost.is", params={})
    _turn(link, played, 0, (EVENTS, batch), payload)
    assert played.news == []
    assert link._early_bytes == len(batch) + len(payload[1])
    assert link.is_new


@pytest.mark.parametrize("ends", [True, False])
def test_that_what_sends_nothing_at_first_is_no_probe(*, ends: bool) -> None:
    link, played = _linked()
    if ends:
        link.end("enough")
    played.comes = [(HELLO_NS, []), (1, []), (0, [])]
    with pytest.raises(ConnectionClosedError, match="it sent nothing"):
        link.shake_hands("token", dials=False)
    assert played.received == (0 if ends else 2)


def test_that_a_program_that_cannot_be_followed_is_told_of() -> None:
    link, played = _linked()
    params = {"token": "right", "unable": "It is too old.", "name": "old.py", "pid": 8}
    message = {"method": "Link.hello", "params": params}
    for peer, pid in ((7, 7), (0, 8)):
        link.peer_pid = peer
        with pytest.raises(WireError, match="too old"):
            link._hello_in(message, "right")
        assert played.news.pop()[0] == Unable(pid, "old.py", "It is too old.")
    for bad in ({"method": "x", "params": {}}, {"method": "Link.hello", "params": {"token": 5}}):
        with pytest.raises(WireError):
            link._hello_in(bad, "right")
    with pytest.raises(WireError, match="not the token"):
        link._hello_in(message, "wrong")


class _Answering(_Played):
    """A program whose clock is 1 s behind, and whose answers take a while."""

    offset_ns, takes_ns, is_local = 1_000_000_000, 20, False

    def send(self, kind: int, payload: bytes) -> None:
        super().send(kind, payload)
        if (message := self.sent[-1]).get("method") == "Program.time":
            told = {"clock_ns": self.time_ns + self.takes_ns // 2 - self.offset_ns}
            self.comes.append((self.takes_ns, [_message(id=message["id"], result=told)]))


def _introduced(played: _Answering) -> Any:  # noqa: ANN401 - a link
    link: Any = ProbeLink(played, played)  # type: ignore[arg-type]
    link._hello = SimpleNamespace(clock_ns=_BEGAN_NS - 300)
    link._early = ["before"]
    link._compare()
    return link


@pytest.mark.parametrize(
    ("offset_ns", "is_local", "told"),
    [
        (1_000_000_000, False, (1_000_000_000, 10)),
        (11, True, (11, 10)),
        (10, True, (0, 0)),
        (10, False, (10, 10)),
        (-10, True, (0, 0)),
    ],
)
def test_that_a_program_is_introduced_with_how_its_clock_differs(
    offset_ns: int, told: tuple[int, int], *, is_local: bool
) -> None:
    played = _Answering()
    played.offset_ns, played.is_local = offset_ns, is_local
    link = _introduced(played)
    (attached, _), (early, _) = played.news
    assert (attached.offset_ns, attached.error_ns) == told  # type: ignore[attr-defined]
    assert (early, link.is_new) == ("before", False)
    assert len(link._comparisons) == 5
    assert [each["method"] for each in played.sent] == ["Program.time"] * 5


def test_that_a_program_that_does_not_tell_its_time_is_introduced_all_the_same() -> None:
    played = _Answering()
    played.takes_ns = 400_000_000
    link = _introduced(played)
    (attached, _) = played.news[0]
    assert len(link._comparisons) == 3
    assert attached.error_ns == 200_000_000  # type: ignore[attr-defined]
    silent = _Answering()
    silent.send = lambda *_: silent.comes.append((600_000_000, []))  # type: ignore[method-assign]
    _introduced(silent)
    (attached, _) = silent.news[0]
    assert attached.error_ns == HELLO_NS  # type: ignore[attr-defined]
    assert attached.offset_ns == silent.time_ns - (_BEGAN_NS - 300)  # type: ignore[attr-defined]


def test_that_a_program_that_floods_is_introduced_before_its_clock_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch = packed_events([(1, MARK, 0, 0, 0)])
    monkeypatch.setattr(link_module, "_MOST_WAITING_BYTES", len(batch))
    flooding = _Answering()
    flooding.send = lambda *_: None  # type: ignore[method-assign]
    flooding.comes = [(1, [(EVENTS, batch)])] * 3
    _introduced(flooding)
    assert [len(getattr(news, "payload", b"")) for news, _ in flooding.news] == [
        0,
        0,
        len(batch),
        len(batch),
    ]


def test_that_a_clock_that_drifts_is_followed_beyond_what_is_uncertain() -> None:
    played = _Answering()
    link = _introduced(played)
    link._compared_ns = 1 << 62
    played.news.clear()
    for drift_ns, is_told in ((20, False), (21, True), (41, False), (42, True)):
        played.offset_ns = 1_000_000_000 + drift_ns
        # The last of the known comparisons count, and of these the quickest.
        for _ in range(8):
            link._ask_for_time()
            link._turn()
        assert bool(played.news) is is_told, drift_ns
        played.news.clear()
        played.sent.clear()


# ------------------------------------------------------------------ from hello to the end


class _Connected(_Played):
    """A connection that brings some messages at a time, and then breaks."""

    is_local = True

    def __init__(self, *comes: list[tuple[int, bytes]]) -> None:
        super().__init__()
        self.comes = [(1, each) for each in comes]
        self.ended: list[object] = []

    def receive(self, timeout_s: float) -> list[tuple[int, bytes]]:
        if not self.comes:
            message = "it broke"
            raise ConnectionClosedError(message)
        return super().receive(timeout_s)

    def close(self) -> None:
        self.ended.append("closed")

    def forget(self, link: object) -> None:
        self.ended.append(link)


def _hello(**more: object) -> tuple[int, bytes]:
    return _message(id=4, method="Link.hello", params=hello(_RIGHT, **more))


def test_that_what_a_program_sent_is_told_between_its_coming_and_its_end() -> None:
    batch = packed_events([(1, MARK, 0, 0, 0)])
    bye = _message(method="Link.bye", params={"reason": "it is done"})
    malformed = "it does not follow the protocol: "
    for last, reason, is_orderly in (
        ([bye], "it is done", True),
        ([], "it broke", False),
        ([(JSON, b"[")], malformed, False),
    ):
        played = _Connected([_hello(), (EVENTS, batch)], last)
        link: Any = ProbeLink(played, played)  # type: ignore[arg-type]
        assert (link.is_known, link.is_new, link.is_open) == (False, True, True)
        link.run(dials=False, token=_RIGHT)
        assert (link.is_known, link.is_new, link.is_open) == (True, False, False)
        (attached, _), (came, _), (ended, _) = played.news
        # Its clock could not be compared.
        assert attached.hello.pid == 4_711  # type: ignore[attr-defined]
        assert (attached.error_ns, attached.offset_ns) == (HELLO_NS, played.time_ns)  # type: ignore[attr-defined]
        assert came == Batch(link, batch, _BEGAN_NS + 1)
        assert (ended.is_orderly, ended.at_ns) == (is_orderly, played.time_ns)  # type: ignore[attr-defined]
        assert ended.reason.startswith(reason)  # type: ignore[attr-defined]
        assert played.ended == ["closed", link]
        assert (played.sent[0]["id"], played.sent[0]["result"]["role"]) == (4, "inspector")
        said = [each["method"] for each in played.sent[1:]]
        assert said == ["Program.time", *["Link.bye"] * (reason == malformed)]


def test_that_a_stranger_is_told_why_it_is_refused_and_the_session_nothing() -> None:
    right, wrong = _hello(), _message(id=4, method="Link.hello", params=hello("wrong"))
    for first, reason in (
        (wrong, "not the token"),
        (_hello(protocol=9), "version 1, not 9"),
        (_message(method="Link.hello", params=hello("wrong")), "not the token"),
        ((EVENTS, b""), ""),
    ):
        played = _Connected([first, right])
        link: Any = ProbeLink(played, played)  # type: ignore[arg-type]
        link.run(dials=False, token=_RIGHT)
        assert (played.news, played.ended, link.is_open) == ([], ["closed", link], False)
        if reason:
            (refused,) = played.sent
            assert reason in refused["error"]["message"]
            assert refused["id"] == (0 if "id" not in unpacked_json(first[1]) else 4)


def test_that_this_side_speaks_first_where_it_dials() -> None:
    greeting = {each: told for each, told in hello("").items() if each != "token"}
    for said, error in (
        ({"result": greeting}, None),
        ({"result": greeting | {"protocol": 9}}, WireError),
        ({"error": {"code": 5, "message": "Another is attached."}}, link_module._RefusedError),
    ):
        played = _Connected([_message(id=0, **said), _message(method="Link.ping", params={"n": 3})])
        link: Any = ProbeLink(played, played)  # type: ignore[arg-type]
        if error is None:
            link.shake_hands(_RIGHT, dials=True)
            assert link.is_known
            assert played.sent[1:] == [notification("Link.pong", {"n": 3})]
        else:
            with pytest.raises(error):
                link.shake_hands(_RIGHT, dials=True)
            assert len(played.sent) == 1
        asked = played.sent[0]
        assert (asked["id"], asked["method"]) == (0, "Link.hello")
        assert (asked["params"]["token"], asked["params"]["role"]) == (_RIGHT, "inspector")


def test_that_requests_that_wait_are_refused_when_the_program_has_ended() -> None:
    # The two requests have the numbers between the first question about time and the others.
    answers = [_message(id=number, result={"clock_ns": 5}) for number in (1, 4, 5, 6, 7)]
    played = _Connected([], *([each] for each in answers))
    link: Any = ProbeLink(played, played)  # type: ignore[arg-type]
    link._hello = SimpleNamespace(clock_ns=5)
    told: list[object] = []
    link.request("Clock.pause", {"clock": 1}, lambda *given: told.append(given))
    link.request("Clock.pause", {"clock": 2})
    link.run(dials=False, token="", is_shaken=True)
    (attached, _), (ended, _), (answered, _) = played.news
    assert attached.error_ns == 1  # type: ignore[attr-defined]
    assert (ended.is_orderly, ended.reason) == (False, "it broke")  # type: ignore[attr-defined]
    assert isinstance(answered, Answered)
    assert (answered.result, answered.refusal) == ({}, "The program has ended.")
    answered.done({}, "")
    assert told == [({}, "")]


# ------------------------------------------------------------------ the server of the links


class _Link:
    """A link as the server sees it."""

    def __init__(self, *, peer_pid: int = 0, began_ns: int = 0, is_known: bool = True) -> None:
        self.peer_pid, self.began_ns = peer_pid, began_ns
        self.is_known, self.is_new = is_known, bool(began_ns)


def test_that_the_server_knows_which_programs_are_attached_and_which_are_connecting() -> None:
    server = DryServer(Hand())
    links = [_Link(peer_pid=each) for each in (7, 0, os.getpid(), 7, 9)]
    server._links = dict.fromkeys(links)  # type: ignore[arg-type, assignment]
    assert (server.processes(), server.connecting_since_ns) == ({7, 9}, None)
    for link in (_Link(began_ns=50, is_known=False, peer_pid=11), _Link(began_ns=40)):
        server._links[link] = None  # type: ignore[index, assignment]
    assert (server.processes(), server.connecting_since_ns) == ({7, 9}, 40)
    server.forget(links[0])  # type: ignore[arg-type]
    server.forget(links[0])  # type: ignore[arg-type]
    server.forget(links[4])  # type: ignore[arg-type]
    assert server.processes() == {7}


def test_that_only_so_many_programs_and_strangers_are_let_in() -> None:
    server = DryServer(Hand())
    closed: list[object] = []
    started: list[object] = []
    connection: Any = _Connected()
    connection.close = lambda: closed.append(connection)
    can_start = True

    def start(_link: object, **how: object) -> bool:
        started.append(how)
        return can_start

    server._start = start  # type: ignore[method-assign, assignment]
    for count, is_known, is_let_in in (
        (255, True, True),
        (256, True, False),
        (15, False, True),
        (16, False, False),
    ):
        server._links = {_Link(is_known=is_known): None for _ in range(count)}  # type: ignore[misc]
        closed.clear()
        started.clear()
        server._accept(connection)
        assert (bool(started), bool(closed)) == (is_let_in, not is_let_in), count
    server._links = {}
    server._accept(connection)
    assert started == [{"dials": False, "token": server.token, "is_shaken": False}]
    closed.clear()
    can_start = False
    server._accept(connection)
    assert closed == [connection]


def test_that_a_connection_is_taken_over_only_once_hands_are_shaken() -> None:
    def adopted(*comes: list[tuple[int, bytes]]) -> list[object]:
        played = _Connected(*comes)
        server.adopt(played, dials=False, token=_RIGHT)
        return played.ended

    def start(_link: object, **how: object) -> bool:
        started.append(how)
        return can_start

    server = DryServer(Hand())
    started: list[object] = []
    server._start = start  # type: ignore[method-assign, assignment]
    can_start = True
    assert adopted([_hello()]) == []
    assert started == [{"dials": False, "token": _RIGHT, "is_shaken": True}]
    with pytest.raises(AttachError, match=r"refuses: this is not the token of this inspector\.$"):
        adopted([_message(method="Link.hello", params=hello("wrong"))])
    with pytest.raises(AttachError, match=r"refuses: it broke\.$"):
        adopted()
    assert len(started) == 1
    # The server was closed meanwhile.
    can_start = False
    assert adopted([_hello()]) == ["closed"]


def test_that_the_first_batch_of_each_program_is_known_before_it_is_taken() -> None:
    server = DryServer(Hand())
    woken: list[int] = []
    server.on_news = lambda: woken.append(server.waiting_bytes)
    one, two = _linked()[0], _linked()[0]
    batches = [Batch(each, bytes(10), at_ns) for at_ns, each in enumerate((one, two, one))]
    server.put(Notification(one, "a", {}), 5)
    for batch in batches:
        server.put(batch, 1_000)
    assert woken == [5, 15, 25, 35]
    assert server.next_batches() == batches[:2]
    assert len(server.pop_news(6)) == 2
    assert server.waiting_bytes == 20
    assert server.next_batches() == [batches[1], batches[2]]


def test_that_a_server_that_is_closed_leaves_no_thread_and_no_socket() -> None:
    server = ProbeServer()
    assert server.tcp_address == server.tcp_address != server.address
    assert server.address.startswith("unix:")
    assert server.is_reachable
    assert server._thread.daemon
    watched = {key.data for key in server._selector.get_map().values()}
    assert watched == {None, *server._listeners}
    assert server.processes() == set()
    said: list[str] = []
    joined: list[float] = []
    sockets: list[Any] = [*server._listeners, server._waker]
    link: Any = _Link()
    link.end, link.run = said.append, said.append
    thread: Any = SimpleNamespace(join=lambda *, timeout: joined.append(timeout))
    server._links[link] = thread
    server.on_news = lambda: said.append("news")
    ran: list[object] = []
    served: Any = _Link()
    served.run = lambda **how: ran.append((threading.current_thread().daemon, how))
    assert server._start(served, dials=True, token="", is_shaken=False)
    server._links.pop(served).join()
    assert ran == [(True, {"dials": True, "token": "", "is_shaken": False})]
    server.close("enough")
    server.put(Notification(link, "a", {}), 5)
    server.close("again")
    assert (said, joined) == (["enough"], [1.0])
    assert not server._thread.is_alive()
    assert [each.fileno() for each in sockets] == [-1, -1, -1]
    assert not server._start(link, dials=False, token="", is_shaken=True)
    assert server._links == {link: thread}
