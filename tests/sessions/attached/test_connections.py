"""What carries messages: the last words of a program, and what inspectors leave behind."""

from __future__ import annotations

import errno
import os
import socket
import tempfile
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from inspector.errors import AttachError
from inspector.probe.wire import JSON, MAX_FRAME_BYTES, frame
from inspector.sessions.attached import connections
from inspector.sessions.attached.connections import (
    ConnectionClosedError,
    Listener,
    StreamConnection,
    dialled,
)
from inspector.sessions.attached.link import Batch, ProbeLink
from tests.sessions.attached.fake_probe import DryServer, Hand


def test_that_what_a_program_said_before_it_closed_is_heard_though_nothing_can_be_sent() -> None:
    near, far = socket.socketpair()
    connection = StreamConnection(near)
    far.send(frame(JSON, b"last words"))
    far.close()

    connection.send(JSON, b"{}")
    connection.send(JSON, b"{}")

    assert connection.receive(0) == [(JSON, b"last words")]
    with pytest.raises(ConnectionClosedError):
        connection.receive(0)
    connection.close()


def test_that_what_the_other_side_has_no_room_for_is_sent_once_it_has_read() -> None:
    near, far = socket.socketpair()
    connection = StreamConnection(near)
    far.setblocking(False)
    payload = b"x" * 900_000
    connection.send(JSON, payload)
    heard = bytearray()
    for _ in range(100):
        try:
            heard += far.recv(1 << 20)
        except BlockingIOError:
            # All that was sent so far.
            connection.receive(0)
        if len(heard) == len(frame(JSON, payload)):
            break
    assert bytes(heard) == frame(JSON, payload)
    far.close()
    connection.close()


def test_that_news_are_handed_over_in_portions_and_what_waits_is_counted() -> None:
    near, far = socket.socketpair()
    server = DryServer(Hand())
    connection = StreamConnection(near)
    link = ProbeLink(connection, server)
    batches = [Batch(link, bytes(10), at_ns) for at_ns in range(4)]
    for batch in batches:
        server.put(batch)

    portions = [server.pop_news(11), server.pop_news(10), server.pop_news(1)]

    assert portions == [batches[:2], batches[2:3], batches[3:]]
    assert server.waiting_bytes == 0
    connection.close()
    far.close()


def test_that_only_sockets_that_killed_inspectors_left_are_removed(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    # A socket's path is short, and the folders of workers that share the tests are long.
    short = tempfile.TemporaryDirectory(prefix="tl-")
    request.addfinalizer(short.cleanup)
    temporary, elsewhere = Path(short.name, "tmp"), Path(short.name, "elsewhere")
    left, linked, file = (temporary / f"timeline-inspector-{name}" for name in "abc")
    for folder in (left, file, elsewhere):
        folder.mkdir(parents=True)
    linked.symlink_to(elsewhere)
    for folder in (left, elsewhere):
        with socket.socket(socket.AF_UNIX) as killed:
            killed.bind(str(folder / "socket"))
    (file / "socket").write_text("precious")
    for folder in (left, file, elsewhere):
        os.utime(folder, (0, 0))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))

    Listener().close()

    assert not left.exists()
    assert (elsewhere / "socket").exists()
    assert (file / "socket").read_text() == "precious"


def test_that_probes_dial_a_port_where_one_is_asked_for() -> None:
    with closing(Listener(is_tcp=True)) as listener:
        scheme, _, place = listener.address.partition(":")
        host, _, port = place.removeprefix("//").rpartition(":")
        assert (scheme, host) == ("tcp", "127.0.0.1")
        socket.create_connection((host, int(port)), timeout=10).close()


def test_that_a_port_can_be_dialled_though_nothing_tells_whose_process_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def check(connected: socket.socket) -> None:
        waits_s.append(connected.gettimeout())
        check_peer(connected)

    waits_s: list[float | None] = []
    check_peer = connections._check_peer
    monkeypatch.setattr(os, "getuid", lambda: 1_000)
    monkeypatch.setattr(connections, "_check_peer", check)
    with closing(Listener(is_tcp=True)) as listener:
        by_port = dialled(listener.address)
    assert waits_s == [connections._DIAL_S]
    near, far = socket.socketpair()
    beside = StreamConnection(near)

    assert (by_port.peer_pid, beside.peer_pid) == (0, os.getpid())
    for each in (by_port, beside, far):
        each.close()


def test_that_a_connection_that_reads_nothing_is_given_up() -> None:
    near, far = socket.socketpair()
    with closing(StreamConnection(near)) as connection, far:
        connection._waiting += bytes(4 * MAX_FRAME_BYTES)
        connection._flush = lambda: None  # type: ignore[method-assign]
        connection.send(JSON, b"")
        with pytest.raises(ConnectionClosedError, match="it reads nothing"):
            connection.send(JSON, b"")
        connection._broken = "it is gone"
        with pytest.raises(ConnectionClosedError, match="it is gone"):
            connection.receive(0)


def test_that_a_connection_that_breaks_says_how() -> None:
    class Broken(socket.socket):
        def recv(self, *_: object) -> bytes:
            raise ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")

    near, far = socket.socketpair()
    broken = Broken(fileno=near.detach())
    with closing(StreamConnection(broken)) as connection:
        far.close()
        with pytest.raises(ConnectionClosedError, match="connection reset by peer"):
            connection.receive(0)


def test_that_another_user_neither_answers_nor_dials(monkeypatch: pytest.MonkeyPatch) -> None:
    user = os.getuid() + 1
    made: list[socket.socket] = []
    with closing(Listener()) as listener:
        target = connections._target_of(listener.address)
        made.append(target[0])
        monkeypatch.setattr(connections, "_target_of", lambda _address: target)
        monkeypatch.setattr(connections, "_peer", lambda _connected: (5, user))
        with pytest.raises(AttachError, match=f"belongs to another user \\({user}\\)"):
            dialled(listener.address)
        assert made[0].fileno() == -1
        with closing(socket.socket(socket.AF_UNIX)) as stranger:
            stranger.connect(listener.address.removeprefix("unix:"))
            # The one that was refused has closed its end.
            assert [listener.accept(), listener.accept()] == [None, None]
            assert stranger.recv(1) == b""
        user = 0
        with closing(socket.socket(socket.AF_UNIX)) as root:
            root.connect(listener.address.removeprefix("unix:"))
            accepted = listener.accept()
            assert accepted is not None
            accepted.close()


@pytest.mark.parametrize("is_long", [True, False])
def test_that_a_socket_that_cannot_be_made_is_told_and_leaves_no_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, is_long: bool
) -> None:
    class Refusing(socket.socket):
        def bind(self, _address: object) -> None:
            made.append(self)
            raise OSError(errno.ENOSPC, "No space left")

    made: list[socket.socket] = []
    place = tmp_path / ("x" * 100 if is_long else "x")
    place.mkdir()
    short = tempfile.TemporaryDirectory(prefix="tl-")
    monkeypatch.setattr(tempfile, "tempdir", str(place) if is_long else short.name)
    monkeypatch.setattr(
        connections, "socket", SimpleNamespace(**{**vars(socket), "socket": Refusing})
    )
    told = "Set TMPDIR to a shorter folder" if is_long else "no space left"
    with pytest.raises(AttachError, match=told):
        Listener()
    assert [each.fileno() for each in made] == [-1]
    assert list(Path(tempfile.gettempdir()).iterdir()) == []
    short.cleanup()


def test_that_an_address_is_a_socket_of_this_host_or_none() -> None:
    for address, family, target in (
        ("unix:/a/b", socket.AF_UNIX, "/a/b"),
        ("tcp:127.0.0.1:1", socket.AF_INET, ("127.0.0.1", 1)),
        ("tcp:localhost:65535", socket.AF_INET, ("127.0.0.1", 65_535)),
        ("tcp:[::1]:80", socket.AF_INET6, ("::1", 80)),
    ):
        found, told = connections._target_of(address)
        with found:
            assert (found.family, told) == (family, target)
    for address in (
        "unix:",
        "unix:a\0b",
        "127.0.0.1:80",
        "tcp:127.0.0.1:",
        "tcp:127.0.0.1:0",
        "tcp:127.0.0.1:65536",
        "tcp:127.0.0.1:000080",
        "tcp:127.0.0.1:٣",
        "tcp:127.0.0.1:8O",
    ):
        with pytest.raises(AttachError, match="is not an address"):
            connections._target_of(address)
    with pytest.raises(AttachError, match="“::2” is not this host"):
        connections._target_of("tcp:[::2]:80")


def test_that_a_connection_says_what_it_is_and_sends_small_messages_at_once() -> None:
    with closing(Listener(is_tcp=True)) as by_port, closing(Listener()) as by_path:
        assert (by_port.is_reachable, by_path.is_reachable) == (True, True)
        for listener, text in ((by_port, "TCP on this host"), (by_path, "Unix socket")):
            assert listener.accept() is None
            near = dialled(listener.address)
            far = listener.accept()
            assert far is not None
            with closing(near), closing(far):
                assert {near.text, far.text} == {text}
                assert (near.is_local, near.host, far.is_local) == (True, "", True)
                for each in (near._socket, far._socket):
                    assert not each.getblocking()
                    if listener is by_port:
                        assert each.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                near.wake()
                assert near.receive(60) == []
                with pytest.raises(BlockingIOError):
                    near._waker._reader.recv(1)
                far.send(JSON, b"{}")
                assert near.receive(60) == [(JSON, b"{}")]
                assert near.receive(0) == []
            assert near._socket.fileno() == near._waker.fileno() == -1
        Path(by_path.address.removeprefix("unix:")).unlink()
        assert not by_path.is_reachable


def test_that_a_socket_is_left_over_only_after_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(prefix="tl-") as short:
        monkeypatch.setattr(tempfile, "tempdir", short)
        place = Path(short, "timeline-inspector-a")
        place.mkdir()
        with socket.socket(socket.AF_UNIX) as killed:
            killed.bind(str(place / "socket"))
        made_s = place.stat().st_mtime
        for age_s, is_left in ((connections._OLD_S - 1, True), (connections._OLD_S, False)):
            monkeypatch.setattr(time, "time", lambda age_s=age_s: made_s + age_s)
            connections._remove_left_over()
            assert place.exists() is is_left
