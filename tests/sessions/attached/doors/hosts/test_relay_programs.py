"""The programs that a relay on a host starts or finds, which are played."""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.sessions.attached.doors import programs
from inspector.sessions.attached.doors.hosts import relay as relay_module
from inspector.sessions.attached.doors.hosts.records import (
    ACKNOWLEDGE,
    CLOSED,
    DATA,
    END,
    OPENED,
    OUTPUT,
    QUESTION,
    SUPERVISOR,
)
from tests.sessions.attached.doors.hosts.played_relay import (
    SETTINGS,
    Begin,
    Found,
    PlayedInspector,
    PlayedRelay,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sockets tell who is there")


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
    begin: Begin, starts: list[_Started], tmp_path: Path
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
    begin: Begin, starts: list[_Started], order: tuple[str, ...]
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
    begin: Begin, starts: list[_Started], tmp_path: Path, argv: list[str]
) -> None:
    folder = tmp_path / "nowhere" if argv == ["env"] else tmp_path
    bench = begin(argv=argv, folder=str(folder), grace_s=1)
    bench.relay._launch()
    line = PlayedInspector(bench.folder)
    with closing(line.socket):
        bench.turns()
        heard = line.heard()
    assert heard == [(SUPERVISOR, 0, b"error %d\n" % errno.ENOENT), (END, 0, b"")]
    assert starts == []


def test_that_a_program_of_the_folder_is_found_there(
    begin: Begin, starts: list[_Started], tmp_path: Path
) -> None:
    program = tmp_path / "program"
    program.touch()
    program.chmod(0o700)
    bench = begin(argv=["./program"], folder=str(tmp_path), grace_s=1)
    bench.relay._launch()
    assert starts[0].command[-2:] == [str(tmp_path / "program"), "./program"]


def test_that_a_relay_ends_its_program_and_leaves_nothing(
    begin: Begin, starts: list[_Started]
) -> None:
    bench = begin(argv=["env"], grace_s=1)
    ended: list[bool] = []
    bench.relay._opened = SimpleNamespace(end=lambda: ended.append(True), problem=lambda: "")
    for source in (bench.relay._lines, bench.relay._dialled):
        bench.relay._selector.unregister(source)
    line = PlayedInspector(bench.folder)
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

    variables = relay_module._variables(folder, {**SETTINGS, "argv": ["node"], "hold": hold})

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


def _answers(bench: PlayedRelay, *questions: dict[str, object]) -> list[Any]:
    line = bench.line()
    for each in questions:
        line.send(QUESTION, 0, json.dumps(each).encode())
    bench.turns()
    return [json.loads(payload) for found in line.heard() for payload in _of_questions(found)]


def _of_questions(found: Found) -> list[bytes]:
    kind, channel, payload = found
    assert channel == 0
    return [payload] if kind == QUESTION else []


@pytest.mark.parametrize("version", [(3, 10, 1), (3, 9)])
def test_that_an_old_python_says_what_it_cannot(
    bench: PlayedRelay, monkeypatch: pytest.MonkeyPatch, version: tuple[int, ...]
) -> None:
    monkeypatch.setattr(relay_module, "sys", SimpleNamespace(version_info=version))
    (answer,) = _answers(bench, {})
    assert answer["error"].endswith(
        f"and it has {version[0]}.{version[1]}. Launch the program instead."
    )


def test_that_python_3_11_finds_programs_but_not_the_line_itself(
    bench: PlayedRelay, monkeypatch: pytest.MonkeyPatch
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
    bench: PlayedRelay, monkeypatch: pytest.MonkeyPatch
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
    bench: PlayedRelay, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    def running_programs() -> None:
        raise error

    monkeypatch.setattr(programs, "running_programs", running_programs)
    assert _answers(bench, {}) == [{"error": told}]


def test_that_acknowledgements_are_no_records(bench: PlayedRelay) -> None:
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
