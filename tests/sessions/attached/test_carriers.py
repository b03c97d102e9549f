"""What carries messages: the last words of a program are heard."""

from __future__ import annotations

import socket

import pytest

from inspector.probe.wire import JSON, frame
from inspector.sessions.attached.carriers import CarrierClosedError, StreamCarrier


def test_that_what_a_program_said_before_it_closed_is_heard_though_nothing_can_be_sent() -> None:
    near, far = socket.socketpair()
    carrier = StreamCarrier(near)
    far.send(frame(JSON, b"last words"))
    far.close()

    carrier.send(JSON, b"{}")
    carrier.send(JSON, b"{}")

    assert carrier.receive(0) == [(JSON, b"last words")]
    with pytest.raises(CarrierClosedError):
        carrier.receive(0)
    carrier.close()
