"""What carries messages: the last words of a program, and what inspectors leave behind."""

from __future__ import annotations

import os
import socket
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from inspector.probe.wire import JSON, frame
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
    monkeypatch.setattr(os, "getuid", lambda: 1_000)
    with closing(Listener(is_tcp=True)) as listener:
        by_port = dialled(listener.address)
    near, far = socket.socketpair()
    beside = StreamConnection(near)

    assert (by_port.peer_pid, beside.peer_pid) == (0, os.getpid())
    for each in (by_port, beside, far):
        each.close()
