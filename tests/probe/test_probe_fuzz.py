"""Random, cut, oversized, reordered and replayed bytes: the probe neither fails nor fills up."""

from __future__ import annotations

import random
import socket
import struct
from typing import TYPE_CHECKING, Any

import pytest

from inspector.probe import wire
from inspector.probe.connection import Connection, LinkClosed
from inspector.probe.link import Attachment
from inspector.probe.program import Program
from inspector.probe.wire import WireError
from tests.fuzz import rounds
from tests.probe.receiver import TOKEN, connected, dialled
from tests.probe.served import served

if TYPE_CHECKING:
    from collections.abc import Callable

METHODS = (
    *("Program.time", "Program.grant", "Program.step", "Clock.pause", "Clock.resume"),
    *("Clock.rate", "Timer.clear", "Events.keyframe", "Events.ack", "Link.release", "Link.ping"),
    *("Link.pong", "Link.hello", "Link.bye", "Program.held", "", "x"),
)
NAMES = ("clock", "cause", "rate_n", "frames", "local_ns", "to", "timer", "events", "n", "token")
PIECES = (
    *(b"\xff" * 4, b"\x00" * 4, b"JE", b'{"id":1', b'"method"', b"[" * 50, b"9" * 30, b"\\u"),
)


def value(dice: random.Random, depth: int = 0) -> object:
    """Return any value that JSON can hold, the likely ones more often."""
    kind = dice.randrange(12)
    if kind < 4:
        return dice.choice((0, 1, 2, 3, 720_720_000, 2**62, -1, 2**63 - 1))
    if kind == 4:
        return dice.choice((2**64, -(2**64), 10**30, 1e308, 0.5))
    if kind < 7:
        return dice.choice(("next_timer", "", "é" * 5, TOKEN, "x" * 70_000, "\x00"))
    if kind < 9 and depth < 12:
        return [value(dice, depth + 1) for _ in range(dice.randrange(3))]
    if kind < 11 and depth < 12:
        return {dice.choice(NAMES): value(dice, depth + 1) for _ in range(dice.randrange(3))}
    return dice.choice((None, True, False))


def message(dice: random.Random) -> bytes:
    """Return a frame that is nearly always a message."""
    params = {dice.choice(NAMES): value(dice) for _ in range(dice.randrange(4))}
    sent: dict[str, Any] = {"method": dice.choice(METHODS), "params": params}
    if dice.randrange(3):
        sent["id"] = dice.randrange(5)
    if not dice.randrange(20):
        sent = {dice.choice(("id", "result", "error", "method")): value(dice)}
    return wire.frame(wire.JSON, wire.packed_json(sent))


def random_bytes(dice: random.Random) -> bytes:
    return dice.randbytes(dice.randrange(200))


def cut(dice: random.Random) -> bytes:
    data = b"".join(message(dice) for _ in range(dice.randrange(1, 4)))
    return data[: dice.randrange(len(data))]


def oversized(dice: random.Random) -> bytes:
    length = dice.choice((0, wire.MAX_FRAME_BYTES, wire.MAX_FRAME_BYTES + 1, 2**31, 2**32 - 1))
    return message(dice) + struct.pack("<IB", length, dice.choice((74, 69, 0))) + dice.randbytes(50)


def reordered(dice: random.Random) -> bytes:
    data = b"".join(message(dice) for _ in range(3))
    places = sorted(dice.randrange(len(data)) for _ in range(4))
    parts = [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]
    dice.shuffle(parts)
    return b"".join(parts)


def replayed(dice: random.Random) -> bytes:
    return b"".join(dice.choices([message(dice) for _ in range(3)], k=dice.randrange(1, 8)))


def damaged(dice: random.Random) -> bytes:
    data = bytearray(message(dice))
    for _ in range(dice.randrange(1, 6)):
        at = dice.randrange(len(data))
        data[at : at + dice.randrange(3)] = dice.choice((*PIECES, dice.randbytes(1)))
    return bytes(data)


KINDS: tuple[Callable[[random.Random], bytes], ...] = (
    *(random_bytes, cut, oversized, reordered, replayed, damaged),
)


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_that_an_attached_inspector_can_send_anything(
    make: Callable[[random.Random], bytes],
) -> None:
    program = Program("fuzzed")
    clock = program.clock("loop")
    for seed in rounds(100):
        dice = random.Random(seed)
        ours, theirs = socket.socketpair()
        connection = Connection(ours)
        attachment = Attachment(program, connection, dice.choice(("full", "step")), [])
        program.timer(clock, "timer", 0, clock.local_ns() + dice.choice((1, 10**9)))
        with theirs:
            theirs.sendall(make(dice)[: 128 * 1024])
            try:
                for _ in range(4):
                    attachment.turn(has_news=True)
                    program.frame_began(clock, 1)
                    program.frame_ended(clock)
            except (LinkClosed, WireError):
                pass
            assert connection._message_bytes < 3 << 20
            assert len(connection._reader._bytes) <= wire.MAX_FRAME_BYTES + 70_000
        attachment.end()

        assert program.emit is None
        assert all(each.is_plain for each in program.clocks.by_number.values())
        assert not program.timers


@pytest.mark.parametrize("is_attached", [False, True])
def test_that_a_listening_probe_survives_anything(*, is_attached: bool) -> None:
    with served() as opened:
        for seed in rounds(20):
            dice = random.Random(seed)
            receiver = connected(opened.address)
            if is_attached:
                receiver.close()
                receiver = dialled(opened.address)
                while not receiver.hello:
                    receiver.close()
                    receiver = dialled(opened.address)
            receiver.send_bytes(dice.choice(KINDS)(dice)[: 128 * 1024])
            receiver.turn(0)
            receiver.close()

        receiver = dialled(opened.address)
        while not receiver.hello:
            receiver.close()
            receiver = dialled(opened.address)
        assert receiver.ask("Program.grant") == {"grant": "full"}
        receiver.close()
