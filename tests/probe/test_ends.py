"""The first and the last moments of a link: nothing is lost on a busy machine."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from inspector.probe import sink, wire
from inspector.probe.connection import Connection
from inspector.probe.kinds import MARK
from inspector.probe.link import Link
from inspector.probe.program import Program
from inspector.probe.sink import Sink
from tests.probe.receiver import PATIENCE_S, TOKEN, Inlet, Receiver, attached, inlet

_LONG = wire.notification("Link.bye", {"reason": "x" * 60_000})


@contextmanager
def _connected(family: str) -> Iterator[tuple[Connection, socket.socket]]:
    if family == "unix":
        near, far = socket.socketpair()
    else:
        with socket.create_server(("127.0.0.1", 0)) as server:
            near = socket.create_connection(server.getsockname())
            far = server.accept()[0]
    connection = Connection(near)
    with far:
        yield connection, far


def _received(far: socket.socket) -> list[dict[str, object]]:
    reader, messages = wire.FrameReader(), []
    far.settimeout(PATIENCE_S)
    # A Unix socket tells of what the probe has not read, behind all that it has sent.
    with suppress(ConnectionResetError):
        while data := far.recv(1 << 16):
            messages += [wire.unpacked_json(payload) for _, payload in reader.feed(data)]
    return messages


@pytest.mark.parametrize("family", ["unix", "tcp"])
def test_that_closing_waits_until_a_slow_inspector_has_taken_everything(family: str) -> None:
    with _connected(family) as (connection, far):
        for _ in range(200):
            connection.send(_LONG)
        connection.flush()
        assert connection.wants_to_send
        # Unread by the probe: a socket that is closed with it tells the other side of an error.
        far.send(b"acknowledged")
        patience_ns = int(PATIENCE_S * 1e9)
        closing = threading.Thread(
            target=lambda: connection.end(_LONG, patience_ns=patience_ns), daemon=True
        )
        closing.start()

        messages = _received(far)

        far.close()
        closing.join()
        assert len(messages) == 201


def test_that_an_inspector_that_takes_nothing_delays_the_end_no_longer_than_asked() -> None:
    with _connected("unix") as (connection, _):
        for _ in range(200):
            connection.send(_LONG)

        connection.end(patience_ns=1_000_000)

        assert connection.fileno() == -1


def test_that_the_last_events_are_sent_whatever_is_acknowledged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sink, "WINDOW_EVENTS", 2_000)
    waiting = Sink([""])
    for number in range(2_000):
        waiting.emit((number, MARK, 0, 0, 0))
    waiting.taken()
    assert waiting.sent == 2_000
    waiting.emit((1, MARK, 0, 0, 0))

    waiting.taken(is_last=True)

    assert waiting.sent == 2_001
    assert not waiting.is_lossy


_LOSES = """
import sys, time
sys.stdin.readline()
emit = timeline_probe.starting._program.emit
for number in range(350_000):
    emit((time.monotonic_ns(), 49, 1, 0, number))
"""


def test_that_a_loss_is_told_by_a_program_that_ends_at_once() -> None:
    with attached(_LOSES) as (receiver, process):
        receiver.wait_until_complete()
        receiver.acknowledges = False
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()

        receiver.wait_for(lambda: receiver.said("Link.bye"))

        seen = sum(event[1] == MARK for event in receiver.events)
        lost = sum(said["counts"].get(str(MARK), 0) for said in receiver.said("Events.lost"))
        assert lost > 0
        assert seen + lost == 350_000


# -------------------------------------------------------------------- beginnings


def _dialling(opened: Inlet) -> tuple[Link, Receiver]:
    """Return a link that has said hello and was stopped, as for a fork, before the answer."""
    link = Link(Program("tried"), TOKEN, "full", address=opened.address)
    link.start()
    receiver = opened.met()
    link.stop()
    return link, receiver


def test_that_a_fork_does_not_interrupt_the_beginning() -> None:
    with inlet() as opened:
        link, receiver = _dialling(opened)
        assert not link.is_over

        link.start()
        receiver.send(wire.answer(0, {"protocol": wire.PROTOCOL, "role": "inspector"}))
        link.wait_until_settled()

        assert not link.problem
        receiver.wait_until_complete()
        assert not opened.is_dialled
        link.close("")
        receiver.close()


def test_that_a_program_that_ends_before_the_answer_does_not_wait_for_it() -> None:
    with inlet() as opened:
        link, receiver = _dialling(opened)

        link.close("the program has ended")

        link.wait_until_settled()
        receiver.wait_for(lambda: receiver.is_closed)


def test_that_an_inspector_that_has_gone_is_not_dialled_again_after_a_fork(
    tmp_path: Path,
) -> None:
    link = Link(Program("tried"), TOKEN, "full", address=f"unix:{tmp_path / 'none'}")
    link.start()
    link.wait_until_settled()
    link.stop()
    link.problem = ""

    link.start()
    link.stop()

    assert not link.problem
    link.close("")
