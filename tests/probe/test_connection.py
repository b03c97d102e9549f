"""A connection whose socket the test plays, and the addresses that are the machine's own."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe import connection as module
from inspector.probe import wire
from inspector.probe.connection import Connection, LinkClosed, OwnSocket
from inspector.probe.own_files import file_of
from inspector.probe.wire import WireError


class Played:
    """A connection, and what its socket does."""

    def __init__(self, family: int = socket.AF_INET) -> None:
        self.sent = bytearray()
        #: How many bytes it takes with each call, or what it raises.
        self.takes: list[int | OSError] = []
        self.received: list[bytes | OSError] = []
        self.options: list[tuple[int, int, int]] = []
        self.timeouts: list[float] = []
        self.asked: list[object] = []
        sock: Any = SimpleNamespace(
            family=family,
            setblocking=self.asked.append,
            setsockopt=lambda *option: self.options.append(option),
            settimeout=self.timeouts.append,
            fileno=lambda: -1,
            send=self._send,
            recv=self._recv,
            shutdown=self.asked.append,
            close=lambda: self.asked.append("close"),
            detach=lambda: self.asked.append("detach"),
        )
        self.socket = sock
        self.connection: Any = Connection(sock)

    def _send(self, data: memoryview) -> int:
        taken = self.takes.pop(0) if self.takes else len(data)
        if isinstance(taken, OSError):
            raise taken
        taken = min(taken, len(data))
        self.sent += data[:taken]
        return taken

    def _recv(self, _bytes: int) -> bytes:
        found = self.received.pop(0)
        if isinstance(found, OSError):
            raise found
        return found


@pytest.fixture
def played() -> Played:
    return Played()


MESSAGE = wire.notification("Link.ping", {"n": 1})
FRAME = wire.frame(wire.JSON, wire.packed_json(MESSAGE))


def test_that_what_a_socket_does_not_take_waits(played: Played) -> None:
    connection = played.connection
    assert played.asked == [False]
    assert played.options == [(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)]
    assert not connection.wants_to_send
    connection.send(MESSAGE)
    connection.send_events(b"events")
    played.takes = [3, BlockingIOError()]
    connection.flush()
    assert played.sent == FRAME[:3]
    assert connection.wants_to_send
    played.takes = [InterruptedError()]
    connection.flush()
    connection.flush()

    assert played.sent == FRAME + b"events"
    assert not connection.wants_to_send
    assert connection._message_bytes == 0
    connection.send(MESSAGE)
    for error, reason in (
        (OSError(32, "broken"), "broken"),
        (OSError("odd"), "the connection broke"),
    ):
        played.takes = [error]
        with pytest.raises(LinkClosed, match=reason):
            connection.flush()


def test_that_who_does_not_read_the_answers_is_not_heard(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_QUEUED_BYTES", len(FRAME))
    connection = played.connection
    assert connection.wants_to_receive
    connection.send_events(b"x" * 100)
    assert connection.wants_to_receive
    connection.send(MESSAGE)
    assert not connection.wants_to_receive
    assert connection.receive() == []
    connection.flush()
    assert connection.wants_to_receive
    assert Played(socket.AF_UNIX).options == []


def test_that_messages_are_received_as_they_come(played: Played) -> None:
    played.received = [
        FRAME[:5],
        FRAME[5:] + FRAME + FRAME[:1],
        BlockingIOError(),
        InterruptedError(),
        b"",
        OSError(5, "no"),
        OSError("odd"),
    ]
    connection = played.connection

    assert [connection.receive() for _ in range(4)] == [[], [MESSAGE] * 2, [], []]
    for reason in ("the inspector has closed the connection", "^no$", "the connection broke"):
        with pytest.raises(LinkClosed, match=reason):
            connection.receive()
    played.received = [wire.frame(wire.EVENTS, bytes(40))]
    fresh = Connection(played.socket)
    with pytest.raises(WireError, match="sends no events"):
        fresh.receive()


@pytest.mark.parametrize(
    ("family", "patience_ns", "asked"),
    [
        (socket.AF_INET, 5_000_000, [socket.SHUT_WR, "close"]),
        (socket.AF_INET6, 5_000_000, [socket.SHUT_WR, "close"]),
        (socket.AF_INET, 0, ["close"]),
        (socket.AF_UNIX, 5_000_000, ["close"]),
    ],
)
def test_that_the_last_messages_are_sent_before_the_end(
    family: int, patience_ns: int, asked: list[object]
) -> None:
    played = Played(family)
    played.received = [b"unread", b"", b"never"]
    played.connection.end(MESSAGE, MESSAGE, patience_ns=patience_ns)

    assert played.sent == FRAME * 2
    assert played.timeouts == [patience_ns / 1e9]
    assert played.asked == [False, *asked]
    # All that TCP would drop was read.
    assert played.received == ([b"never"] if len(asked) > 1 else [b"unread", b"", b"never"])


def test_that_an_end_goes_wrong_in_silence(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    played.takes = [OSError("gone")]
    played.connection.end(MESSAGE)
    assert played.asked == [False, "close"]
    # The program has closed it, and opened another file with its number.
    played.asked.clear()
    monkeypatch.setattr(module, "file_of", lambda _number: (1, 2, 3))
    assert played.connection.is_lost
    played.connection.end(MESSAGE)
    assert played.asked == ["detach"]
    assert played.sent == b""


def test_that_a_socket_is_known_by_its_file() -> None:
    near, far = socket.socketpair()
    with near, far:
        own: Any = OwnSocket(near)
        assert not own.is_lost
        os.dup2(far.fileno(), near.fileno())
        assert own.is_lost
        number = near.fileno()
        own.close()
        # It is another's by now.
        os.close(number)
    assert file_of(-1) is None


# --------------------------------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("unix:/x:y", (socket.AF_UNIX, "/x:y")),
        ("tcp:127.0.0.1:5", (socket.AF_INET, ("127.0.0.1", 5))),
        ("tcp:localhost:80", (socket.AF_INET, ("127.0.0.1", 80))),
        ("tcp:[::1]:7", (socket.AF_INET6, ("::1", 7))),
        ("unix:", None),
        ("tcp:127.0.0.1", None),
        ("tcp:127.0.0.1:", None),
        ("tcp:127.0.0.1:x", None),
        ("udp:127.0.0.1:5", None),
        ("tcp:10.0.0.1:5", None),
        ("", None),
    ],
)
def test_that_only_addresses_of_this_machine_are_taken(
    address: str, place: tuple[int, Any] | None
) -> None:
    if place is None:
        with pytest.raises(ValueError, match="not an address"):
            module._parsed(address)
    else:
        assert module._parsed(address) == place


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[tuple[socket.socket, str]]:
    sock, address = module.listening(f"unix:{tmp_path / 's'}")
    with sock:
        yield sock, address


def test_that_a_socket_is_for_its_user_only(
    listener: tuple[socket.socket, str], tmp_path: Path
) -> None:
    before = os.umask(0o022)
    os.umask(before)

    assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o600
    assert before != 0o177
    assert not listener[0].getblocking()
    with pytest.raises(OSError, match="in use"):
        module.listening(listener[1])
    dialled = module.dialled(listener[1])
    assert not dialled.sock.getblocking()
    dialled.close()


def test_that_a_port_is_told_with_its_host() -> None:
    for host, told in (("127.0.0.1", "127.0.0.1"), ("localhost", "127.0.0.1"), ("[::1]", "[::1]")):
        try:
            sock, address = module.listening(f"tcp:{host}:0")
        except OSError:
            continue  # a machine without this kind of addresses
        with sock:
            assert address == f"tcp:{told}:{sock.getsockname()[1]}"


def test_that_who_dials_says_why_it_could_not(
    listener: tuple[socket.socket, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(LinkClosed, match="No such file"):
        module.dialled(f"unix:{tmp_path / 'none'}")
    monkeypatch.setattr(module, "is_same_user", lambda _sock: False)
    with pytest.raises(LinkClosed, match="belongs to another user"):
        module.dialled(listener[1])


def test_that_the_user_at_the_other_end_is_known_where_the_system_tells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    near, far = socket.socketpair()
    with near, far, socket.socket() as internet:
        assert module.is_same_user(near)
        monkeypatch.setattr(os, "getuid", lambda: -1)
        assert not module.is_same_user(near)
        assert module.is_same_user(internet)
        monkeypatch.delattr(socket, "SO_PEERCRED")
        assert module.is_same_user(near)


def test_that_who_dials_waits_no_longer_than_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played()
    made: list[object] = []
    sock = played.socket
    sock.connect = lambda place: made.append((place, played.timeouts[-1]))

    def opened(*kind: int) -> object:
        made.append(kind)
        return sock

    stand_in = SimpleNamespace(**{**vars(socket), "socket": opened})
    monkeypatch.setattr(module, "socket", stand_in)

    assert module.dialled("tcp:127.0.0.1:7").sock is sock
    assert made == [(socket.AF_INET, socket.SOCK_STREAM), (("127.0.0.1", 7), 2.0)]
