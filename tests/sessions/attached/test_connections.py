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
)


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
