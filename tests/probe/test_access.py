"""Who may attach to a program, and what they may do: each rule of the page Protocol."""

from __future__ import annotations

import ast
import hmac
import os
import re
import socket
import stat
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector.probe import connection, link, wire
from inspector.probe.connection import LinkClosed
from inspector.probe.places import ListeningPlace, own_folder
from inspector.probe.requests import Requests
from tests.probe.receiver import LOADER, PROJECT, TOKEN, Receiver, connected, dialled
from tests.probe.served import Served, served

PROBE = PROJECT / "inspector" / "probe"
SERVING = (
    LOADER
    + """
server = timeline_probe.serve()
print(server.address, server.token, flush=True)
sys.stdin.read()
"""
)


def wait_until_closed(receiver: Receiver) -> None:
    receiver.wait_for(lambda: receiver.is_closed)


def error_of(receiver: Receiver) -> int:
    wait_until_closed(receiver)
    code: int = receiver.answers(0)[0]["error"]["code"]
    return code


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_that_only_the_user_can_open_what_serve_opens(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", SERVING],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        address, token = process.stdout.readline().split()
        folder = tmp_path / "timeline-inspector" / str(process.pid)

        assert address == f"unix:{folder / 'socket'}"
        assert (mode(folder.parent), mode(folder)) == (0o700, 0o700)
        assert (mode(folder / "socket"), mode(folder / "token")) == (0o600, 0o600)
        assert (folder / "token").read_text() == token
        assert len(bytes.fromhex(token)) == 16
        receiver = dialled(address, token=token)
        assert receiver.hello["pid"] == process.pid
        receiver.close()
        process.communicate()
    assert not folder.exists()


def test_that_a_folder_that_others_may_open_is_refused(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    link_to_ours = tmp_path / "link"
    link_to_ours.symlink_to(own_folder(tmp_path / "ours"))

    for wrong in (shared, link_to_ours):
        with pytest.raises(PermissionError, match="this user only"):
            own_folder(wrong)


def test_that_a_program_goes_on_where_no_inspector_can_find_it(tmp_path: Path) -> None:
    (tmp_path / "timeline-inspector").symlink_to(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", f"{LOADER}print(repr(timeline_probe.serve().address))"],
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "''\n"
    assert done.stderr.startswith("timeline probe: no inspector can attach: ")
    assert "is not a folder for this user only" in done.stderr


def test_that_a_token_is_never_written_into_a_file_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    place = ListeningPlace.made()
    (tmp_path / "timeline-inspector" / str(os.getpid()) / "token").touch()

    with pytest.raises(FileExistsError):
        place.write_token(TOKEN)

    place.remove()


def test_that_another_users_process_is_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    with served() as opened:
        monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)

        receiver = connected(opened.address)

        wait_until_closed(receiver)
        assert receiver.messages == []
        with pytest.raises(LinkClosed, match="another user"):
            connection.dialled(opened.address)


@pytest.mark.parametrize(
    "address",
    [
        "tcp:0.0.0.0:0",
        "tcp:192.168.1.1:80",
        "tcp:example.org:80",
        "tcp:[::]:0",
        "tcp::0",
        "tcp:127.0.0.1",
        "unix:",
        "x",
    ],
)
def test_that_no_address_but_the_machines_own_is_used(address: str) -> None:
    with pytest.raises(ValueError, match="not an address"):
        connection.listening(address)
    with pytest.raises(ValueError, match="not an address"):
        connection.dialled(address)


def test_that_tcp_is_served_on_loopback() -> None:
    with served(address="tcp:localhost:0") as opened:
        assert opened.address.startswith("tcp:127.0.0.1:")
        receiver = dialled(opened.address)
        assert receiver.hello["role"] == "probe"
        receiver.close()


@pytest.mark.parametrize("token", ["", TOKEN[:-1], TOKEN + "0", "é" * 16, 5, None])
def test_that_a_wrong_token_ends_the_link(token: object) -> None:
    with served() as opened:
        assert error_of(dialled(opened.address, token=token)) == wire.WRONG_TOKEN


def test_that_tokens_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(given: bytes, own: bytes) -> bool:
        compared.append((given, own))
        return original(given, own)

    original = hmac.compare_digest
    monkeypatch.setattr("inspector.probe.link.compare_digest", compare)
    with served() as opened:
        wrong = dialled(opened.address, token=TOKEN[1:])
        wait_until_closed(wrong)
        dialled(opened.address).close()

    assert compared == [(TOKEN[1:].encode(), TOKEN.encode()), (TOKEN.encode(), TOKEN.encode())]


def test_that_the_token_is_in_no_message_to_the_inspector() -> None:
    with served() as opened:
        receiver = dialled(opened.address)
        receiver.wait_until_complete()

        assert TOKEN not in str(receiver.messages)
        receiver.close()


@pytest.mark.parametrize(
    "message",
    [
        wire.request(0, "Program.time", {}),
        wire.notification("Link.hello", {"token": TOKEN}),
        wire.answer(0, {"protocol": 1, "role": "inspector", "token": TOKEN}),
    ],
)
def test_that_nothing_but_a_hello_begins_a_link(message: dict[str, Any]) -> None:
    with served() as opened:
        receiver = connected(opened.address)
        receiver.send(message)

        assert error_of(receiver) == wire.MALFORMED


def test_that_another_version_and_another_role_are_refused() -> None:
    with served() as opened:
        assert error_of(dialled(opened.address, protocol=2)) == wire.WRONG_VERSION
        assert error_of(dialled(opened.address, role="probe")) == wire.BAD_PARAMS


def test_that_a_second_inspector_is_refused_and_the_first_stays() -> None:
    with served() as opened:
        first = dialled(opened.address)

        assert error_of(dialled(opened.address)) == wire.NOT_POSSIBLE
        assert first.ask("Program.grant") == {"grant": "full"}
        first.close()
        receiver = dialled(opened.address)
        while not receiver.hello:
            receiver.close()
            receiver = dialled(opened.address)
        receiver.close()


def test_that_a_connection_without_hello_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link._Stranger.__init__, "__defaults__", (300_000_000,))
    with served() as opened:
        silent = connected(opened.address)
        wait_until_closed(silent)

        receiver = dialled(opened.address)
        assert receiver.hello["role"] == "probe"
        receiver.close()


def test_that_silent_connections_do_not_keep_an_inspector_out() -> None:
    with served() as opened:
        silent = [connected(opened.address) for _ in range(7)]
        receiver = dialled(opened.address)

        assert receiver.hello["role"] == "probe"
        for each in (receiver, *silent):
            each.close()


def test_that_no_more_than_a_few_connections_may_be_silent() -> None:
    with served() as opened:
        connections = [connected(opened.address) for _ in range(20)]

        connections[0].wait_for(lambda: turned(connections) >= 12)
        for each in connections:
            each.close()


def turned(connections: list[Receiver]) -> int:
    for each in connections:
        each.turn(0)
    return sum(each.is_closed for each in connections)


@pytest.mark.parametrize("is_attached", [False, True])
def test_that_an_announced_length_ends_the_link(*, is_attached: bool) -> None:
    with served() as opened:
        receiver = dialled(opened.address) if is_attached else connected(opened.address)
        receiver.messages.clear()
        receiver.send_bytes(struct.pack("<IB", wire.MAX_FRAME_BYTES + 1, wire.JSON))

        assert error_of(receiver) == wire.TOO_LARGE
        assert opened.program.emit is None


def test_that_an_inspector_cannot_send_events() -> None:
    with served() as opened:
        receiver = dialled(opened.address)
        receiver.messages.clear()
        receiver.send_bytes(wire.frame(wire.EVENTS, bytes(40)))

        assert error_of(receiver) == wire.MALFORMED


REQUESTS: list[tuple[str, dict[str, Any], str]] = [
    ("Program.time", {}, "read-only"),
    ("Program.grant", {}, "read-only"),
    ("Events.keyframe", {}, "read-only"),
    ("Events.ack", {"events": 0}, "read-only"),
    ("Link.release", {}, "read-only"),
    ("Clock.pause", {"clock": 1}, "step"),
    ("Program.hold_after", {"turn_ns": 0}, "step"),
    ("Program.tasks", {"every_ns": 0}, "read-only"),
    ("Program.step", {"local_ns": 1}, "step"),
    ("Clock.resume", {"clock": 1}, "step"),
    ("Clock.rate", {"clock": 1, "rate_n": 1}, "full"),
    ("Timer.clear", {"timer": 1}, "full"),
]


@pytest.mark.parametrize("grant", ["read-only", "step", "full", "everything"])
def test_that_only_what_is_granted_is_done(grant: str) -> None:
    ranks = {"read-only": 0, "step": 1, "full": 2}
    with served(grant) as opened:
        receiver = dialled(opened.address)
        before = opened.program.own_clock.rate_n
        for method, params, needed in REQUESTS:
            answer = receiver.ask(method, **params)
            is_refused = answer.get("code") == wire.NOT_GRANTED
            assert is_refused == (ranks[needed] > ranks.get(grant, 0)), method

        assert (opened.program.own_clock.rate_n != before) == (grant == "full")
        assert receiver.said("Program.changed")[0]["grant"] == (
            grant if grant in ranks else "read-only"
        )
        receiver.close()


def test_that_every_request_is_one_of_the_help_page() -> None:
    page = (PROJECT / "resources" / "help" / "protocol.md").read_text("utf-8")
    with served() as opened:
        requests = Requests(opened.program, "full")

        for method, (needed, _) in requests._methods.items():
            rows = [line for line in page.splitlines() if line.startswith(f"| {method} |")]
            assert f"| {needed} |" in rows[-1]
        assert set(requests._methods) == {method for method, _, _ in REQUESTS}


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("Clock.pause", {}, wire.BAD_PARAMS),
        ("Clock.pause", {"clock": "1"}, wire.BAD_PARAMS),
        ("Clock.pause", {"clock": 99}, wire.NO_SUCH),
        ("Clock.pause", {"clock": 1, "cause": -1}, wire.BAD_PARAMS),
        ("Clock.rate", {"clock": 1, "rate_n": -1}, wire.BAD_PARAMS),
        ("Clock.rate", {"clock": 1, "rate_n": 10**15}, wire.BAD_PARAMS),
        ("Timer.clear", {"timer": 1}, wire.NO_SUCH),
        ("Program.step", {"local_ns": 1}, wire.NOT_POSSIBLE),
        ("Program.exec", {"code": "1/0"}, wire.UNKNOWN_METHOD),
        ("__class__", {}, wire.UNKNOWN_METHOD),
    ],
)
def test_that_a_wrong_request_is_answered_with_its_error(
    method: str, params: dict[str, Any], code: int
) -> None:
    with served() as opened:
        receiver = dialled(opened.address)

        assert receiver.ask(method, **params)["code"] == code
        assert receiver.ask("Program.grant") == {"grant": "full"}
        receiver.close()


def test_that_nothing_in_the_probe_can_run_what_it_receives() -> None:
    forbidden = {"eval", "exec", "compile", "__import__", "pickle", "marshal", "shelve", "dill"}
    forbidden |= {"runpy", "code", "codeop", "cPickle", "ctypes"}
    # What the folder of the start loads has a fixed name, and runs before there is a link.
    for path in {*PROBE.rglob("*.py")} - {*(PROBE / "bootstrap").iterdir()}:
        text = path.read_text("utf-8")
        if forbidden.isdisjoint(re.findall(r"\w+", text)):
            continue
        for node in ast.walk(ast.parse(text)):
            names: set[str] = set()
            if isinstance(node, ast.Import):
                names = {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names = {(node.module or "").partition(".")[0]} if not node.level else set()
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                names = {node.func.id}
            if path.name == "python_time.py":
                # Tells Python that methods of datetime have changed, and is handed nothing else.
                names -= {"ctypes"}
            assert not names & forbidden, f"{path.name}: {names & forbidden}"


def test_that_a_client_who_asks_and_does_not_listen_takes_no_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "_MOST_QUEUED_BYTES", 1 << 17)
    with served() as opened:
        receiver = dialled(opened.address)
        receiver.reads = False
        flood = wire.frame(wire.JSON, wire.packed_json(wire.request(1, "Program.time", {})))
        receiver.sock.setblocking(True)
        receiver.sock.settimeout(0.3)
        with pytest.raises(TimeoutError):
            receiver.sock.sendall(flood * 60_000)

        assert queued_bytes(opened) < 2 << 17
        receiver.close()


def queued_bytes(opened: Served) -> int:
    connected_to = opened.link._connection
    return 0 if connected_to is None else connected_to._message_bytes


def test_that_a_unix_socket_knows_its_user() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert connection.is_same_user(ours)
