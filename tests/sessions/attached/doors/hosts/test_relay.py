"""The relay on a host, in this process: its line and its probes are sockets, its time is set."""

from __future__ import annotations

import errno
import json
import os
import selectors
import socket
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from io import BytesIO
from pathlib import Path
from shutil import rmtree
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.sessions.attached.doors import programs
from inspector.sessions.attached.doors.hosts import relay as relay_module
from inspector.sessions.attached.doors.hosts.records import (
    ACKNOWLEDGE,
    BROKEN_S,
    CLOSED,
    DATA,
    END,
    HEARTBEAT_S,
    OPENED,
    OUTPUT,
    QUESTION,
    SUPERVISOR,
    Records,
    _record,
)
from inspector.sessions.attached.doors.hosts.relay import PING, Relay

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sockets tell who is there")

_SETTINGS = {"argv": [], "folder": "", "token": "secret", "grant": "full", "hold": False}
_PATIENCE_S = 30.0
_Found = tuple[int, int, bytes]


class _Inspector:
    """The inspector's end of a line to the relay."""

    def __init__(self, folder: Path, records: Records | None = None) -> None:
        self.records = Records() if records is None else records
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(folder / "line"))
        self.socket.sendall(self.records.begin_line())

    def send(self, kind: int, channel: int = 0, payload: bytes = b"") -> None:
        self.socket.sendall(self.records.packed(kind, channel, payload))

    def acknowledge(self) -> None:
        self.socket.sendall(self.records.heartbeat())

    def raw(self) -> bytes | None:
        """Return what has come; no bytes at the end, ``None`` if nothing has come."""
        with suppress(BlockingIOError):
            return self.socket.recv(1 << 20, socket.MSG_DONTWAIT)
        return None

    def heard(self) -> list[_Found]:
        found: list[_Found] = []
        while data := self.raw():
            more, again = self.records.feed(data)
            found += more
            self.socket.sendall(again)
        return found


class _Bench:
    """A relay, of which each turn is asked for."""

    def __init__(self, folder: Path, settings: dict[str, object]) -> None:
        self.folder = folder
        self.now_s = 1_000.0
        self.relay = Relay(str(folder), {**_SETTINGS, "patience_s": _PATIENCE_S, **settings})
        self._open: list[socket.socket] = []
        selector = self.relay._selector
        selector.register(self.relay._lines, selectors.EVENT_READ, self.relay._accept_line)
        selector.register(self.relay._dialled, selectors.EVENT_READ, self.relay._accept_probe)

    def turns(self) -> None:
        """Take turns until nothing is left to do at this instant."""
        while found := self.relay._selector.select(0):
            for key, events in found:
                key.data(events)
            if all(events == selectors.EVENT_WRITE for _, events in found):
                break
        self.relay._check_time()

    def line(self, records: Records | None = None) -> _Inspector:
        inspector = _Inspector(self.folder, records)
        self._open.append(inspector.socket)
        self.turns()
        assert inspector.heard() == []
        self.turns()
        return inspector

    def probe(self) -> socket.socket:
        connected = socket.socket(socket.AF_UNIX)
        connected.connect(str(self.folder / "socket"))
        self._open.append(connected)
        self.turns()
        return connected

    def close(self) -> None:
        relay = self.relay
        relay._selector.close()
        probes = [probe.socket for probe in relay._probes.values()]
        for each in (*self._open, *probes, relay._lines, relay._dialled):
            each.close()
        for left in (relay._line, relay._supervisor):
            if left is not None:
                left.close()


_Begin = Callable[..., _Bench]


@pytest.fixture
def begin(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Begin]:
    benches: list[_Bench] = []
    with tempfile.TemporaryDirectory() as temporary:

        def made(**settings: object) -> _Bench:
            benches.append(_Bench(Path(temporary), settings))
            return benches[-1]

        monkeypatch.setattr(
            relay_module, "monotonic", lambda: benches[-1].now_s if benches else 1_000.0
        )
        yield made
        for each in benches:
            each.close()


@pytest.fixture
def bench(begin: _Begin) -> _Bench:
    return begin()


def _is_open(connected: socket.socket) -> bool:
    with suppress(BlockingIOError):
        while connected.recv(1 << 20, socket.MSG_DONTWAIT):
            pass
        return False
    return True


# ------------------------------------------------------------------ the line and probes


def test_that_only_this_user_may_connect(bench: _Bench) -> None:
    for name in ("socket", "line"):
        assert stat.S_IMODE((bench.folder / name).stat().st_mode) == 0o600


def test_that_data_of_probes_pass_in_channels_of_their_own(bench: _Bench) -> None:
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


def test_that_the_end_of_a_probe_is_told_unless_the_inspector_asked_for_it(bench: _Bench) -> None:
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
    bench: _Bench, monkeypatch: pytest.MonkeyPatch
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
    bench: _Bench,
) -> None:
    old = bench.line()
    probe = bench.probe()
    old.heard()
    probe.sendall(b"lost")
    bench.turns()
    new = _Inspector(bench.folder, old.records)
    with closing(new.socket):
        bench.turns()
        # What has come on the old one is not looked at.
        assert new.heard() == [(DATA, 1, b"lost")]
        bench.turns()
        probe.sendall(b"next")
        bench.turns()
        assert new.heard() == [(DATA, 1, b"next")]
        assert not _is_open(old.socket)


@pytest.mark.parametrize("end", ["closed", "gone meanwhile", "broken"])
def test_that_a_relay_without_a_line_keeps_what_probes_send(bench: _Bench, end: str) -> None:
    line, probe = bench.line(), socket.socket(socket.AF_UNIX)
    if end == "gone meanwhile":
        probe.connect(str(bench.folder / "socket"))
    if end == "broken":
        line.socket.sendall(b"\0" * 64)
    else:
        line.socket.close()
    bench.turns()
    assert bench.relay._line is None
    if end != "gone meanwhile":
        probe.connect(str(bench.folder / "socket"))
    with probe:
        probe.sendall(b"kept")
        bench.turns()

    new = _Inspector(bench.folder, line.records)
    with closing(new.socket):
        bench.turns()
        heard = new.heard()
    assert [(kind, payload) for kind, _, payload in heard][1:] == [(DATA, b"kept"), (CLOSED, b"")]


def test_that_other_users_are_not_let_in(bench: _Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for user, is_let_in in ((os.getuid() + 1, False), (os.getuid(), True), (0, True)):
        monkeypatch.setattr(relay_module, "_peer", lambda _connected, user=user: (1, user))
        line, probe = (socket.socket(socket.AF_UNIX) for _ in range(2))
        with line, probe:
            line.connect(str(bench.folder / "line"))
            probe.connect(str(bench.folder / "socket"))
            bench.turns()
            assert (_is_open(line), _is_open(probe)) == (is_let_in, is_let_in)
        bench.turns()


def test_that_a_system_that_does_not_say_who_connects_is_trusted(
    bench: _Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay_module, "socket", SimpleNamespace())
    assert relay_module._peer(bench.relay._lines) == (0, os.getuid())
    assert relay_module._is_same_user(bench.relay._lines)


# ------------------------------------------------------------------------------- time


def test_that_a_line_lasts_as_long_as_something_comes(bench: _Bench) -> None:
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

    assert not _is_open(line.socket)


@pytest.mark.parametrize("wait_s", [0.0, 2 * BROKEN_S])
def test_that_a_new_line_is_greeted_and_has_time_to_answer(bench: _Bench, wait_s: float) -> None:
    bench.now_s += wait_s
    with closing(socket.socket(socket.AF_UNIX)) as line:
        line.connect(str(bench.folder / "line"))
        bench.turns()
        assert bench.relay._line is not None
        assert _read(line).startswith(Records().begin_line())


def test_that_a_sign_of_life_is_sent_in_each_interval(bench: _Bench) -> None:
    line = bench.line()
    line.raw()
    sizes = []
    for wait_s in (0.0, HEARTBEAT_S / 2, HEARTBEAT_S / 2, 0.0, HEARTBEAT_S / 2, HEARTBEAT_S / 2):
        bench.now_s += wait_s
        bench.turns()
        sizes.append(len(line.raw() or b""))
    beat = len(Records().heartbeat())
    assert sizes == [0, 0, beat, 0, 0, beat]


def test_that_probes_are_pinged_while_nothing_comes_on_the_line(bench: _Bench) -> None:
    line = bench.line()
    probe = bench.probe()
    heard = []
    for wait_s in (relay_module._SILENT_S, 0.1, 0.1, HEARTBEAT_S - 0.1):
        bench.now_s += wait_s
        bench.turns()
        heard.append(_read(probe))
    line.acknowledge()
    bench.turns()
    bench.now_s += HEARTBEAT_S
    bench.turns()
    heard.append(_read(probe))

    assert heard == [b"", PING, b"", PING, b""]


def _read(connected: socket.socket) -> bytes:
    with suppress(BlockingIOError):
        return connected.recv(1 << 20, socket.MSG_DONTWAIT)
    return b""


def test_that_the_inspector_is_gone_after_the_patience(bench: _Bench) -> None:
    bench.now_s += _PATIENCE_S
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
    bench: _Bench, monkeypatch: pytest.MonkeyPatch
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


def test_that_an_inspector_that_does_not_read_gets_all_later(bench: _Bench) -> None:
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
    bench: _Bench, monkeypatch: pytest.MonkeyPatch
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
        heard += _read(probe)
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


# ----------------------------------------------------------------------------- programs


class _Started:
    """A supervisor that is started, and what it was started with."""

    def __init__(self, command: list[str], **options: Any) -> None:  # noqa: ANN401 - of Popen
        self.command = command
        self.options = options
        self.code: int | None = None
        self.pid = 4_711
        self.is_waited_for = False
        (theirs,) = options["pass_fds"]
        self.end = socket.socket(fileno=os.dup(theirs))
        pipes = [os.pipe() for _ in range(2)]
        self.stdout, self.stderr = (os.fdopen(read, "rb") for read, _ in pipes)
        self.outputs = [write for _, write in pipes]

    def poll(self) -> int | None:
        return self.code

    def wait(self) -> None:
        self.is_waited_for = True
        self.close_outputs()

    def close_outputs(self) -> None:
        while self.outputs:
            os.close(self.outputs.pop())


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[_Started]]:
    found: list[_Started] = []

    def start(command: list[str], **options: object) -> _Started:
        found.append(_Started(command, **options))
        return found[-1]

    monkeypatch.setattr(
        relay_module, "subprocess", SimpleNamespace(Popen=start, DEVNULL=-3, PIPE=-1)
    )
    monkeypatch.setattr(relay_module, "_variables", lambda *_: {"PROBED": "1"})
    yield found
    for each in found:
        each.end.close()
        each.close_outputs()
        each.stdout.close()
        each.stderr.close()


def test_that_a_program_is_started_by_the_supervisor_and_its_words_are_passed(
    begin: _Begin, starts: list[_Started], tmp_path: Path
) -> None:
    bench = begin(argv=["env", "-0"], folder=str(tmp_path), grace_s=7)
    bench.relay._launch()
    (started,) = starts
    options = started.options
    python, *flags, supervisor = started.command[:4]
    assert (python, flags) == (sys.executable, ["-I", "-S"])
    assert Path(supervisor).is_file()
    number, grace, is_bound, found, *argv = started.command[4:]
    assert options["pass_fds"] == [int(number)]
    assert (grace, is_bound, Path(found).name, argv) == ("7", "1", "env", ["env", "-0"])
    assert (options["cwd"], options["env"]) == (tmp_path, {**os.environ, "PROBED": "1"})
    line = bench.line()

    os.write(started.outputs[0], b"out")
    os.write(started.outputs[1], b"errors")
    started.end.sendall(b"pid 5\n")
    line.send(SUPERVISOR, 0, b"end\n")
    bench.turns()

    assert sorted(line.heard()) == [
        (SUPERVISOR, 0, b"pid 5\n"),
        (OUTPUT, 1, b"out"),
        (OUTPUT, 2, b"errors"),
    ]
    assert started.end.recv(100) == b"end\n"


@pytest.mark.parametrize(
    "order",
    [
        ("supervisor", "process", "probes", "outputs"),
        ("probes", "outputs", "process", "supervisor"),
        ("outputs", "probes", "supervisor", "process"),
    ],
)
def test_that_the_end_is_told_once_all_of_a_program_has_ended(
    begin: _Begin, starts: list[_Started], order: tuple[str, ...]
) -> None:
    bench = begin(argv=["env"], grace_s=1)
    bench.relay._launch()
    line, probe = bench.line(), bench.probe()
    (started,) = starts
    late: list[socket.socket] = []
    ends: dict[str, Callable[[], object]] = {
        "supervisor": started.end.close,
        "process": lambda: setattr(started, "code", 0),
        "probes": lambda: list(map(socket.socket.close, (probe, *late))),
        "outputs": started.close_outputs,
    }
    heard = []
    for each in order:
        ends[each]()
        bench.turns()
        if each == "supervisor":
            late.append(bench.probe())
            if "probes" in order[: order.index(each)]:
                late[0].close()
                bench.turns()
        heard.append([kind for kind, _, _ in line.heard() if kind not in {OPENED, CLOSED}])
    bench.turns()

    assert heard == [[], [], [], [END]]
    assert line.heard() == []
    relay = bench.relay
    sources = {key.fileobj for key in relay._selector.get_map().values()}
    assert sources == {relay._lines, relay._dialled, relay._line}
    # The supervisor that is gone is sent nothing.
    line.send(SUPERVISOR, 0, b"end\n")
    bench.turns()
    assert bench.relay._line is not None


@pytest.mark.parametrize("argv", [["nosuchprogram"], ["./nosuchprogram"], ["env"]])
def test_that_a_program_that_is_not_there_is_told_as_the_supervisor_does(
    begin: _Begin, starts: list[_Started], tmp_path: Path, argv: list[str]
) -> None:
    folder = tmp_path / "nowhere" if argv == ["env"] else tmp_path
    bench = begin(argv=argv, folder=str(folder), grace_s=1)
    bench.relay._launch()
    line = _Inspector(bench.folder)
    with closing(line.socket):
        bench.turns()
        heard = line.heard()
    assert heard == [(SUPERVISOR, 0, b"error %d\n" % errno.ENOENT), (END, 0, b"")]
    assert starts == []


def test_that_a_program_of_the_folder_is_found_there(
    begin: _Begin, starts: list[_Started], tmp_path: Path
) -> None:
    program = tmp_path / "program"
    program.touch()
    program.chmod(0o700)
    bench = begin(argv=["./program"], folder=str(tmp_path), grace_s=1)
    bench.relay._launch()
    assert starts[0].command[-2:] == [str(tmp_path / "program"), "./program"]


def test_that_a_relay_ends_its_program_and_leaves_nothing(
    begin: _Begin, starts: list[_Started]
) -> None:
    bench = begin(argv=["env"], grace_s=1)
    ended: list[bool] = []
    bench.relay._opened = SimpleNamespace(end=lambda: ended.append(True), problem=lambda: "")
    for source in (bench.relay._lines, bench.relay._dialled):
        bench.relay._selector.unregister(source)
    line = _Inspector(bench.folder)
    with closing(line.socket), closing(socket.socket(socket.AF_UNIX)) as probe:
        probe.connect(str(bench.folder / "socket"))
        line.records.packed(END, 0, b"")
        line.socket.sendall(line.records._sent[0][1])
        bench.relay.run()

        assert probe.recv(10) == b""
    (started,) = starts
    assert started.end.recv(10) == b"end\n"
    assert (started.is_waited_for, ended) == (True, [True])
    assert not bench.folder.exists()
    bench.folder.mkdir()


@pytest.mark.parametrize("hold", [True, False])
def test_that_a_program_gets_the_variables_that_load_the_probe(
    monkeypatch: pytest.MonkeyPatch, *, hold: bool
) -> None:
    monkeypatch.setattr(sys, "path", sys.path[:])
    children = SimpleNamespace(
        node_options=lambda text, argv: f"{text} for {argv[0]}",
        path_with_probe=lambda text: f"probe:{text}",
    )
    loaded: list[bool] = []
    modules = {
        "timeline_probe_start": SimpleNamespace(load=lambda: loaded.append(True)),
        "timeline_probe.bootstrap.children": children,
    }
    monkeypatch.setattr(relay_module, "import_module", modules.__getitem__)
    monkeypatch.setenv("NODE_OPTIONS", "--old")
    monkeypatch.setenv("PYTHONPATH", "here")
    folder = Path("/f")

    variables = relay_module._variables(folder, {**_SETTINGS, "argv": ["node"], "hold": hold})

    assert variables == {
        "PYTHONPATH": "probe:here",
        "NODE_OPTIONS": "--old for node",
        "TIMELINE_PROBE_CONNECT": "unix:/f/socket",
        "TIMELINE_PROBE_TOKEN": "secret",
        "TIMELINE_PROBE_GRANT": "full",
        "TIMELINE_PROBE_HOLD": "1" if hold else "",
    }
    assert (loaded, sys.path[0]) == ([True], "/f/inspector/probe/bootstrap")


# ------------------------------------------------------------- programs that run already


def _answers(bench: _Bench, *questions: dict[str, object]) -> list[Any]:
    line = bench.line()
    for each in questions:
        line.send(QUESTION, 0, json.dumps(each).encode())
    bench.turns()
    return [json.loads(payload) for found in line.heard() for payload in _of_questions(found)]


def _of_questions(found: _Found) -> list[bytes]:
    kind, channel, payload = found
    assert channel == 0
    return [payload] if kind == QUESTION else []


@pytest.mark.parametrize("version", [(3, 10, 1), (3, 9)])
def test_that_an_old_python_says_what_it_cannot(
    bench: _Bench, monkeypatch: pytest.MonkeyPatch, version: tuple[int, ...]
) -> None:
    monkeypatch.setattr(relay_module, "sys", SimpleNamespace(version_info=version))
    (answer,) = _answers(bench, {})
    assert answer["error"].endswith(
        f"and it has {version[0]}.{version[1]}. Launch the program instead."
    )


def test_that_python_3_11_finds_programs_but_not_the_line_itself(
    bench: _Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = [os.getpid(), os.getppid(), 0, 4_711, 4_712]
    found = [SimpleNamespace(process=SimpleNamespace(pid=pid)) for pid in pids]
    monkeypatch.setattr(programs, "running_programs", lambda: found)
    monkeypatch.setattr(programs, "described", lambda each: each.process.pid)
    monkeypatch.setattr(relay_module, "sys", SimpleNamespace(version_info=(3, 11)))
    assert _answers(bench, {}) == [{"programs": [4_711, 4_712]}]
    bench.relay._process = SimpleNamespace(pid=4_711)  # type: ignore[assignment]
    assert bench.relay._own() == {os.getpid(), os.getppid(), 4_711}
    bench.relay._process = None


class _Opened:
    title, pid, note = "game.py", 4_711, "It is 3.12."

    def problem(self) -> str:
        return "It sleeps."


def test_that_a_running_program_is_opened_and_left_once_its_probes_have_gone(
    bench: _Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def open_program(acceptor: object) -> _Opened:
        asked.append(acceptor)
        return _Opened()

    def door(pid: int, grant: str) -> SimpleNamespace:
        asked.extend((pid, grant))
        return SimpleNamespace(open=open_program)

    monkeypatch.setattr(programs, "door_of_process", door)
    line = bench.line()
    line.send(QUESTION, 0, json.dumps({"pid": 4_711, "grant": "control"}).encode())
    bench.turns()
    told = [json.loads(payload) for found in line.heard() for payload in _of_questions(found)]
    assert told == [
        {"title": "game.py", "pid": 4_711, "note": "It is 3.12."},
        {"problem": "It sleeps."},
    ]
    assert asked[:2] == [4_711, "control"]
    acceptor: Any = asked[2]
    assert (acceptor.address, acceptor.token) == (f"unix:{bench.folder / 'socket'}", "secret")

    listening = socket.socket(socket.AF_UNIX)
    with listening:
        listening.bind(str(bench.folder / "program"))
        listening.listen()
        acceptor.dial(f"unix:{bench.folder / 'program'}", "theirs")
        connected, _ = listening.accept()
        with connected:
            connected.sendall(b"hello")
            bench.turns()
            about = json.dumps({"pid": os.getpid(), "token": "theirs"}).encode()
            assert line.heard() == [(OPENED, 1, about), (DATA, 1, b"hello")]
    bench.turns()
    bench.turns()

    assert line.heard() == [(CLOSED, 1, b""), (END, 0, b"")]


@pytest.mark.parametrize(
    ("error", "told"), [(OSError("It is gone"), "It is gone"), (KeyError(), "KeyError")]
)
def test_that_a_question_that_fails_is_answered_by_the_reason(
    bench: _Bench, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    def running_programs() -> None:
        raise error

    monkeypatch.setattr(programs, "running_programs", running_programs)
    assert _answers(bench, {}) == [{"error": told}]


def test_that_acknowledgements_are_no_records(bench: _Bench) -> None:
    line = bench.line()
    line.acknowledge()
    bench.turns()
    assert line.records.heartbeat()[4] == ACKNOWLEDGE
    assert line.heard() == []


def test_that_the_relay_runs_in_its_folder_with_the_settings_of_the_inspector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[object] = []
    monkeypatch.setattr(
        relay_module,
        "Relay",
        lambda *given: SimpleNamespace(run=lambda: begun.append(given)),
    )
    given = SimpleNamespace(buffer=BytesIO(b'{"argv": []}'))
    monkeypatch.setattr(
        relay_module, "sys", SimpleNamespace(argv=["relay", "/folder", "more"], stdin=given)
    )
    relay_module.main()
    assert begun == [("/folder", {"argv": []})]
