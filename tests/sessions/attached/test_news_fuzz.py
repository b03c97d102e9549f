"""Random, cut, oversized, reordered and replayed bytes against the inspector's end."""

from __future__ import annotations

import os
import random
import socket
import stat
import tempfile
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any, Final

import pytest

from inspector.errors import AttachError
from inspector.events.schema import SCHEMA
from inspector.events.sentences import describe
from inspector.events.timeline import Timeline
from inspector.probe.wire import (
    EVENTS,
    JSON,
    MAX_FRAME_BYTES,
    FrameReader,
    frame,
    notification,
    packed_events,
    packed_json,
    request,
)
from inspector.sessions.attached.connections import ConnectionClosedError, Listener
from inspector.sessions.attached.link import ProbeLink, ProbeServer
from inspector.sessions.attached.session import AttachedSession
from inspector.sessions.session import SessionPhase
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    NEVER,
    RATE_DENOMINATOR,
    TIMER_ADDED,
)
from tests.fuzz import rounds
from tests.sessions.attached.fake_probe import DryServer, FakeDoor, FakeProbe, Hand, hello

#: Of random byte sequences; ``TIMELINE_INSPECTOR_FUZZ=500`` tries 200,000.
_FEW: Final = 400
#: Sequences that one session takes.
_TOGETHER: Final = 20
_NUMBERS: Final = (0, 1, 2, 3, 5, 2**40, -1, 2**62, -(2**63), 2**63 - 1, NEVER, RATE_DENOMINATOR)
#: A program with two clocks and three timers, in which most events fit.
_STATE: Final = (
    (CLOCK_ADDED, 1, 0, 1), (CLOCK_ANCHORED, 1, 10**9, RATE_DENOMINATOR), (CLOCK_ADDED, 2, 1, 2),
    *((TIMER_ADDED, number, 2, 1) for number in (1, 2, 3)),
)  # fmt: skip
_METHODS: Final = (
    "Events.texts", "Events.keyframe", "Events.lost", "Program.changed", "Program.cost",
    "Program.held", "Program.child", "Link.ping", "Link.hello", "Clock.pause", "Other.thing", "",
)  # fmt: skip


_PLAIN: Final = (
    *_NUMBERS, "", "full", "begun", "complete", "active", "x" * 2_000, "\x00é🎈", True, False, None,
    0.5, 1e17,
)  # fmt: skip
_NAMES: Final = ("first", "texts", "state", "counts", "clocks", "clock", "capabilities", "held")


def _value(chance: random.Random, depth: int = 0) -> object:
    kind = chance.randrange(8) if depth < 4 else 0
    if kind < 6:
        return chance.choice(_PLAIN)
    values = [_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return values if kind == 6 else {chance.choice(_NAMES): each for each in values}


def _event(chance: random.Random) -> tuple[int, int, int, int, int]:
    kind = chance.choice((*map(int, SCHEMA), 0, -1, 999))
    numbers = [
        chance.choice(_NUMBERS) if chance.random() < 0.2 else chance.randrange(6) for _ in range(3)
    ]
    at_ns = chance.choice(_NUMBERS) if chance.random() < 0.1 else 10**9 + chance.randrange(10**9)
    return (at_ns, kind, *numbers)  # type: ignore[return-value] # three numbers


def _message(chance: random.Random) -> bytes:
    """Return what a program may say, sound or not."""
    if chance.random() < 0.5:
        return frame(EVENTS, packed_events([_event(chance) for _ in range(chance.randrange(1, 9))]))
    method = chance.choice(_METHODS)
    params: Any = _value(chance)
    if method == "Events.texts" and chance.random() < 0.7:
        params = {"first": chance.randrange(3), "texts": ["a", "b"]}
    if method == "Events.keyframe" and chance.random() < 0.7:
        params = {"state": chance.choice(("begun", "partial", "complete"))}
    said = notification(method, params if isinstance(params, dict) else {})
    if chance.random() < 0.1:
        said = request(chance.randrange(9), method, said["params"])
    return frame(JSON, packed_json(said))


def _damaged(chance: random.Random, data: bytes) -> bytes:
    match chance.randrange(6):
        case 0:
            return data[: chance.randrange(len(data) + 1)]
        case 1:
            place = chance.randrange(len(data))
            return data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]
        case 2:
            return data * 2
        case 3:
            return (MAX_FRAME_BYTES + chance.randrange(2**31)).to_bytes(4, "little") + data
        case 4:
            return chance.randbytes(chance.randrange(60))
        case _:
            return data


def _sound(chance: random.Random) -> bytes:
    texts = packed_json(notification("Events.texts", {"first": 1, "texts": ["a", "b", "c"]}))
    state = [(10**9, *event) for event in _STATE]
    described = frame(EVENTS, packed_events(state)) if chance.random() < 0.8 else b""
    return (
        frame(JSON, texts)
        + described
        + b"".join(_message(chance) for _ in range(chance.randrange(6)))
    )


class DryConnection:
    """Carries what a test has prepared, cut into pieces, and then closes."""

    is_local = True
    host = ""
    peer_pid = 0
    text = "test"

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = iter(pieces)
        self._frames = FrameReader()
        self.is_closed = False

    def send(self, kind: int, payload: bytes) -> None:
        """Send nothing."""

    def receive(self, timeout_s: float) -> list[tuple[int, bytes]]:
        assert timeout_s >= 0
        piece = next(self._pieces, None)
        if piece is None:
            raise ConnectionClosedError
        return self._frames.feed(piece)

    def wake(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        self.is_closed = True


def _pieces(chance: random.Random, data: bytes) -> list[bytes]:
    places = sorted(chance.randrange(len(data) + 1) for _ in range(chance.randrange(4)))
    return [data[a:b] for a, b in pairwise((0, *places, len(data)))]


def _sequence(chance: random.Random, token: str) -> bytes:
    greeting = hello(token if chance.random() < 0.9 else "00", pid=chance.randrange(9))
    if chance.random() < 0.1:
        greeting[chance.choice(list(greeting))] = _value(chance)
    parts = [frame(JSON, packed_json(request(1, "Link.hello", greeting))), _sound(chance)]
    parts += [_damaged(chance, _sound(chance)) for _ in range(chance.randrange(3))]
    if chance.random() < 0.1:
        chance.shuffle(parts)
    return b"".join(parts)


def _check(session: AttachedSession, seed: int) -> None:
    """Check that whatever came, the session is whole, and can say what it is."""
    assert session.status.message, f"seed {seed}"
    assert session.status.phase in set(SessionPhase)
    _ = session.notes, session.source_label, session.file_stem
    for program in session.programs.values():
        _ = program.brief, program.facts, program.limits(2)
    events = session.log.read().events
    instants = [each[0] for each in events]
    assert instants == sorted(instants), f"seed {seed}"
    again = Timeline(session.log.strings)
    again.apply_all(events)
    assert again.clocks == session.timeline.clocks, f"seed {seed}"
    assert sorted(again.timers.ids()) == sorted(session.timeline.timers.ids()), f"seed {seed}"
    session.timeline.resolve_dues()
    for event in events[-50:]:
        assert describe(event, session.log.strings)


def test_that_no_bytes_of_a_program_harm_the_session() -> None:
    hand = Hand()
    session = AttachedSession(FakeDoor(), hand, DryServer(hand))
    for seed in rounds(_FEW):
        chance = random.Random(seed)
        data = _sequence(chance, session.acceptor.token)
        connection = DryConnection(_pieces(chance, data))

        link = ProbeLink(connection, session.acceptor)
        link.run(dials=False, token=session.acceptor.token)
        hand.advance(chance.randrange(120))
        session.refresh()

        assert connection.is_closed
        assert not link.is_open
        if seed % _TOGETHER == _TOGETHER - 1 or session.expects_news is False:
            hand.advance(2_000)
            session.refresh()
            _check(session, seed)
            session.close()
            session = AttachedSession(FakeDoor(), hand, DryServer(hand))
    session.close()


def test_that_strangers_are_let_go_without_a_word_to_the_session() -> None:
    acceptor = ProbeServer()
    session = AttachedSession(FakeDoor(), acceptor=acceptor)
    try:
        for greeting in (hello("00"), hello(acceptor.token, protocol=9), {"protocol": "x"}):
            probe = FakeProbe(acceptor, acceptor.now_ns, greeting)
            probe.socket.settimeout(5)
            said = b""
            while data := probe.socket.recv(4_096):
                said += data
            assert b'"error"' in said
            probe.close()
        session.refresh()
        assert not session.programs
    finally:
        session.close()


def test_that_the_socket_is_for_this_user_only() -> None:
    acceptor = ProbeServer()
    path = Path(acceptor.address.removeprefix("unix:"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    acceptor.close()
    assert not path.parent.exists()


def test_that_nothing_but_this_host_is_dialled() -> None:
    acceptor = ProbeServer()
    for address, said in (
        ("tcp:192.0.2.7:80", "is not this host"),
        ("tcp:127.0.0.1:0", "is not an address"),
        ("tcp:127.0.0.1:99999", "is not an address"),
        ("unix:", "is not an address"),
        ("http://localhost", "is not an address"),
        ("unix:/no/such/socket", "No program listens"),
    ):
        with pytest.raises(AttachError, match=said):
            acceptor.dial(address, "00")
    acceptor.close()


def test_that_a_program_that_listens_can_refuse_a_second_window() -> None:
    server = socket.create_server(("127.0.0.1", 0))
    why = "Another inspector is attached."

    def refuse() -> None:
        connected, _ = server.accept()
        connected.recv(4_096)
        refused = {"id": 0, "error": {"code": 5, "message": why}}
        connected.sendall(frame(JSON, packed_json(refused)))
        connected.close()

    thread = Thread(target=refuse)
    thread.start()
    acceptor = ProbeServer()
    with pytest.raises(AttachError, match=f"The program refuses: {why}"):
        acceptor.dial(f"tcp:127.0.0.1:{server.getsockname()[1]}", "00")
    thread.join()
    acceptor.close()
    server.close()


def test_that_a_path_too_long_for_a_socket_is_said_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))

    with pytest.raises(AttachError, match="Set TMPDIR to a shorter folder"):
        Listener()

    assert not list(folder.iterdir())


def test_that_what_killed_inspectors_leave_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    # The paths of sockets are short.
    with tempfile.TemporaryDirectory() as folder:
        _leave_and_look(Path(folder), monkeypatch)


def _leave_and_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first = Listener()
    living = Path(first.address.removeprefix("unix:")).parent
    dead = tmp_path / "timeline-inspector-dead"
    dead.mkdir()
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(dead / "socket"))
    left.close()
    for each in (living, dead):
        os.utime(each, (0, 0))
    second = Listener()
    assert living.exists()
    assert not dead.exists()
    first.close()
    second.close()
    assert list(tmp_path.iterdir()) == []
