"""The relay on a host, in this process: its line and its probes are sockets, its time is set."""

from __future__ import annotations

import json
import os
import selectors
import socket
import stat
import sys
from contextlib import closing, suppress
from shutil import rmtree
from types import SimpleNamespace

import pytest

from inspector.sessions.attached.doors.hosts import relay as relay_module
from inspector.sessions.attached.doors.hosts.records import (
    BROKEN_S,
    CLOSED,
    DATA,
    HEARTBEAT_S,
    OPENED,
    Records,
    _record,
)
from inspector.sessions.attached.doors.hosts.relay import PING
from tests.sessions.attached.doors.hosts.played_relay import (
    PATIENCE_S,
    PlayedInspector,
    PlayedRelay,
    is_open,
    received,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sockets tell who is there")


# ------------------------------------------------------------------ the line and probes


def test_that_only_this_user_may_connect(bench: PlayedRelay) -> None:
    for name in ("socket", "line"):
        assert stat.S_IMODE((bench.folder / name).stat().st_mode) == 0o600


def test_that_data_of_probes_pass_in_channels_of_their_own(bench: PlayedRelay) -> None:
    line = bench.line()
    first, second = bench.probe(), bench.probe()
    first.sendall(b"one")
    second.sendall(b"two")
    bench.turns()
    about = json.dumps({"pid": os.getpid(), "token": ""}).encode()
    assert line.heard() == [
        (OPENED, 1, about),
        (OPENED, 2, about),
        (DATA, 1, b"one"),
        (DATA, 2, b"two"),
    ]

    for channel, data in ((2, b"to two"), (1, b"to one"), (3, b"to none")):
        line.send(DATA, channel, data)
    bench.turns()

    assert (first.recv(100), second.recv(100)) == (b"to one", b"to two")


def test_that_the_end_of_a_probe_is_told_unless_the_inspector_asked_for_it(
    bench: PlayedRelay,
) -> None:
    line = bench.line()
    first, second = bench.probe(), bench.probe()
    line.heard()

    first.close()
    line.send(CLOSED, 2)
    line.send(CLOSED, 2)
    bench.turns()

    assert line.heard() == [(CLOSED, 1, b"")]
    assert second.recv(100) == b""
    assert bench.relay._probes == {}


def test_that_the_last_words_of_a_probe_that_is_gone_are_passed(
    bench: PlayedRelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = bench.line()
    probe = bench.probe()
    line.heard()
    monkeypatch.setattr(relay_module, "_MOST_FOR_A_PROBE", 3)
    line.send(DATA, 1, b"too late")
    probe.sendall(b"last words")
    probe.close()
    bench.turns()

    assert line.heard() == [(DATA, 1, b"last words"), (CLOSED, 1, b"")]


def test_that_a_new_line_takes_the_place_of_the_old_and_has_what_that_did_not_get(
    bench: PlayedRelay,
) -> None:
    old = bench.line()
    probe = bench.probe()
    old.heard()
    probe.sendall(b"lost")
    bench.turns()
    new = PlayedInspector(bench.folder, old.records)
    with closing(new.socket):
        bench.turns()
        # What has come on the old one is not looked at.
        assert new.heard() == [(DATA, 1, b"lost")]
        bench.turns()
        probe.sendall(b"next")
        bench.turns()
        assert new.heard() == [(DATA, 1, b"next")]
        assert not is_open(old.socket)


@pytest.mark.parametrize("end", ["closed", "gone meanwhile", "broken"])
def test_that_a_relay_without_a_line_keeps_what_probes_send(bench: PlayedRelay, end: str) -> None:
    line, probe = bench.line(), socket.socket(socket.AF_UNIX)
    if end == "gone meanwhile":
        probe.connect(str(bench.folder / "socket"))
    if end == "broken":
        line.socket.sendall(b"\0" * 64)
    else:
        line.socket.close()
    if end == "closed":
        bench.relay._outgoing += b"x"
        bench.relay._flush()
        assert bench.relay._line is None
    bench.turns()
    assert bench.relay._line is None
    if end != "gone meanwhile":
        probe.connect(str(bench.folder / "socket"))
    with probe:
        probe.sendall(b"kept")
        bench.turns()

    new = PlayedInspector(bench.folder, line.records)
    with closing(new.socket):
        bench.turns()
        heard = new.heard()
    assert [(kind, payload) for kind, _, payload in heard][1:] == [(DATA, b"kept"), (CLOSED, b"")]


def test_that_other_users_are_not_let_in(
    bench: PlayedRelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    for user, is_let_in in ((os.getuid() + 1, False), (os.getuid(), True), (0, True)):
        monkeypatch.setattr(relay_module, "_peer", lambda _connected, user=user: (1, user))
        line, probe = (socket.socket(socket.AF_UNIX) for _ in range(2))
        with line, probe:
            line.connect(str(bench.folder / "line"))
            probe.connect(str(bench.folder / "socket"))
            bench.turns()
            assert (is_open(line), is_open(probe)) == (is_let_in, is_let_in)
        bench.turns()


def test_that_a_system_that_does_not_say_who_connects_is_trusted(
    bench: PlayedRelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay_module, "socket", SimpleNamespace())
    assert relay_module._peer(bench.relay._lines) == (0, os.getuid())
    assert relay_module._is_same_user(bench.relay._lines)


# ------------------------------------------------------------------------------- time


def test_that_a_line_lasts_as_long_as_something_comes(bench: PlayedRelay) -> None:
    line = bench.line()
    bench.now_s += BROKEN_S
    bench.turns()
    line.acknowledge()
    bench.turns()
    bench.now_s += BROKEN_S
    bench.turns()
    assert bench.relay._line is not None

    bench.now_s += 0.1
    bench.turns()

    assert not is_open(line.socket)


@pytest.mark.parametrize("wait_s", [0.0, 2 * BROKEN_S])
def test_that_a_new_line_is_greeted_and_has_time_to_answer(
    bench: PlayedRelay, wait_s: float
) -> None:
    bench.now_s += wait_s
    with closing(socket.socket(socket.AF_UNIX)) as line:
        line.connect(str(bench.folder / "line"))
        bench.turns()
        assert bench.relay._line is not None
        assert received(line).startswith(Records().begin_line())


def test_that_a_sign_of_life_is_sent_in_each_interval(bench: PlayedRelay) -> None:
    line = bench.line()
    line.raw()
    sizes = []
    for wait_s in (0.0, HEARTBEAT_S / 2, HEARTBEAT_S / 2, 0.0, HEARTBEAT_S / 2, HEARTBEAT_S / 2):
        bench.now_s += wait_s
        bench.turns()
        sizes.append(len(line.raw() or b""))
    beat = len(Records().heartbeat())
    assert sizes == [0, 0, beat, 0, 0, beat]


def test_that_probes_are_pinged_while_nothing_comes_on_the_line(bench: PlayedRelay) -> None:
    line = bench.line()
    probe = bench.probe()
    heard = []
    for wait_s in (relay_module._SILENT_S, 0.1, 0.1, HEARTBEAT_S - 0.1):
        bench.now_s += wait_s
        bench.turns()
        heard.append(received(probe))
    line.acknowledge()
    bench.turns()
    bench.now_s += HEARTBEAT_S
    bench.turns()
    heard.append(received(probe))

    assert heard == [b"", PING, b"", PING, b""]


def test_that_the_inspector_is_gone_after_the_patience(bench: PlayedRelay) -> None:
    bench.now_s += PATIENCE_S
    bench.turns()
    assert not bench.relay._is_over
    bench.now_s += 0.1
    for source in (bench.relay._lines, bench.relay._dialled):
        bench.relay._selector.unregister(source)
    rmtree(bench.folder)
    bench.relay.run()
    bench.folder.mkdir()


# ------------------------------------------------------------------------ backpressure


def test_that_nothing_is_read_while_too_much_waits_for_the_inspector(
    bench: PlayedRelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = bench.line()
    probe, leaving = bench.probe(), bench.probe()
    line.heard()
    line.acknowledge()
    bench.turns()
    probe.sendall(b"x" * 100)
    full = len(_record(DATA, 1, 1, b"x" * 100))
    monkeypatch.setattr(relay_module, "MOST_KEPT", full)
    bench.turns()
    assert not bench.relay._is_full
    probe.sendall(b"y")
    bench.turns()
    probe.sendall(b"z")
    late = bench.probe()
    late.sendall(b"late")
    line.send(CLOSED, 2)
    bench.turns()
    assert [payload for kind, _, payload in line.heard() if kind == DATA] == [b"x" * 100, b"y"]
    assert leaving.recv(1) == b""

    line.acknowledge()
    bench.turns()

    assert [payload for kind, _, payload in line.heard() if kind == DATA] == [b"z", b"late"]


def test_that_eight_mebibytes_may_wait_for_the_inspector_and_four_for_a_probe(
    bench: PlayedRelay,
) -> None:
    line, relay = bench.line(), bench.relay
    for kept, is_full in ((8 << 20, False), ((8 << 20) + 1, True), (0, False)):
        relay._records.kept = kept
        relay._set_full()
        assert relay._is_full is is_full
    bench.probe()
    line.heard()
    probe = relay._probes[1]
    for size, is_left in ((4 << 20, False), ((4 << 20) + 1, True)):
        # It reads nothing.
        probe.socket = SimpleNamespace(  # type: ignore[assignment]
            send=lambda _data: 0, close=probe.socket.close
        )
        probe.outgoing = _Waiting(size)
        relay._sources.clear()
        relay._send(probe, b"")
        assert (relay._probes == {}) is is_left


class _Waiting(bytearray):
    """So many bytes that a probe does not read."""

    def __init__(self, size: int) -> None:
        super().__init__(b"x")
        self._size = size

    def __len__(self) -> int:
        return self._size

    def __delitem__(self, _place: object) -> None:
        raise BlockingIOError


def test_that_an_inspector_that_does_not_read_gets_all_later(bench: PlayedRelay) -> None:
    line = bench.line()
    probe = bench.probe()
    heard, sent = b"", b""
    probe.setblocking(False)
    while len(sent) < 1 << 20:
        with suppress(BlockingIOError):
            part = bytes([len(sent) >> 14]) * (1 << 14)
            sent += part[: probe.send(part)]
        bench.turns()
    assert bench.relay._outgoing
    while len(heard) < len(sent):
        heard += b"".join(payload for kind, _, payload in line.heard() if kind == DATA)
        bench.turns()
    assert heard == sent
    # It asks to write only while there is something to write.
    (key,) = [
        key for key in bench.relay._selector.get_map().values() if key.fileobj is bench.relay._line
    ]
    assert key.events == selectors.EVENT_READ


def test_that_a_probe_that_does_not_read_gets_all_later_or_is_left(
    bench: PlayedRelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = bench.line()
    probe = bench.probe()
    line.heard()
    part = bytes(range(256)) * 256
    sent = b""
    while not bench.relay._probes[1].outgoing:
        line.send(DATA, 1, part)
        sent += part
        bench.turns()
    heard = b""
    while len(heard) < len(sent):
        heard += received(probe)
        bench.turns()
    assert heard == sent
    while not bench.relay._probes[1].outgoing:
        line.send(DATA, 1, part)
        bench.turns()
    most = len(bench.relay._probes[1].outgoing) + 10
    monkeypatch.setattr(relay_module, "_MOST_FOR_A_PROBE", most)
    line.send(DATA, 1, b"0123456789")
    bench.turns()
    assert line.heard() == []

    line.send(DATA, 1, b"!")
    bench.turns()

    assert line.heard() == [(CLOSED, 1, b"")]
