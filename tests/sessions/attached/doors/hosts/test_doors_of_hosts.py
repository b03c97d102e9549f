"""Doors on other hosts with stand-ins for their lines."""

from __future__ import annotations

import socket
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from inspector.errors import AttachError
from inspector.probe.wire import JSON, frame
from inspector.sessions.attached.connections import ConnectionClosedError
from inspector.sessions.attached.doors.hosts import host as host_module
from inspector.sessions.attached.doors.hosts.host import Host, OnHost, Together
from inspector.sessions.attached.doors.hosts.line import ProbeThere
from inspector.sessions.attached.doors.hosts.records import CLOSED, DATA
from inspector.sessions.attached.doors.launch import Launch


class _StandInLine:
    name, problem = "there", ""

    def __init__(self) -> None:
        self.sent: list[tuple[object, ...]] = []
        self.answer: Any = None
        self.ended = 0
        self.output: object = None

    def send(self, *record: object) -> None:
        self.sent.append(record)

    def ask(self, question: dict[str, object], _kind: object) -> Any:  # noqa: ANN401 - any
        self.sent.append((question,))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def end(self) -> None:
        self.ended += 1

    def wait(self) -> int:
        return 255

    def carry_supervisor(self, connected: socket.socket, output: object) -> None:
        connected.close()
        self.output = output


@pytest.mark.parametrize(
    ("launch", "settings"),
    [
        (
            Launch(("game", "-x"), Path("/f"), hold=True, grant="step", grace_s=7),
            {"argv": ("game", "-x"), "folder": "/f", "grant": "step", "hold": True, "grace_s": 7},
        ),
        (
            Launch(("game",)),
            {"argv": ("game",), "folder": "", "grant": "full", "hold": False},
        ),
        (None, {"argv": [], "folder": "", "grant": "read-only", "hold": False, "grace_s": 0}),
    ],
)
def test_that_a_relay_is_told_what_to_launch_or_that_there_is_nothing(
    launch: Launch | None, settings: dict[str, object]
) -> None:
    acceptor: Any = SimpleNamespace(token="secret")  # noqa: S106 - none
    door = OnHost(Host.by_command("env"), launch, pid=5, grant="read-only")
    assert {**door._settings(acceptor), **settings} == door._settings(acceptor)
    assert door._settings(acceptor)["token"] == "secret"  # noqa: S105 - none
    assert door._settings(acceptor)["patience_s"] == 30
    assert door.title == ("process 5 on env" if launch is None else "game on env")
    assert OnHost(door.host, launch).pid == 0
    assert (door.host.is_named_there, Host.by_ssh("pi").is_named_there) == (True, False)


@pytest.mark.parametrize("to_errors", [True, False])
@pytest.mark.parametrize("problem", ["", "The line to there was lost."])
def test_that_a_line_that_ends_before_a_program_has_begun_says_why(
    monkeypatch: pytest.MonkeyPatch, problem: str, *, to_errors: bool
) -> None:
    line: Any = _StandInLine()
    line.problem = problem
    probes: Any = SimpleNamespace(processes=list)
    launch = Launch(("game",), output_to_errors=to_errors)

    def launched(_launch: object, ours: socket.socket, *_: object) -> NoReturn:
        ours.close()
        raise FileNotFoundError(2, "No such file")

    monkeypatch.setattr(host_module, "Launched", launched)
    door = OnHost(Host.by_command("env"), launch)
    told = problem or r"game could not be started on there: No such file\."
    with pytest.raises(AttachError, match=f"^{told}$"):
        door._launched(launch, line, probes)
    assert line.output is (sys.stderr if to_errors else sys.stdout)


def test_that_a_program_there_is_left_with_its_line() -> None:
    line: Any = _StandInLine()
    door = OnHost(Host.by_command("env"), pid=5, grant="step")
    line.answer = SimpleNamespace(title="ga\nme", pid=5, note="It is\told.")
    joined = host_module._JoinedThere(door, line)
    assert line.sent == [({"pid": 5, "grant": "step"},)]
    assert "\n" not in joined.title + joined.note
    assert joined.title.endswith(" on there")
    assert (joined.pid, joined.poll(), joined.may_bring_more()) == (5, None, False)
    line.problem = "It sleeps."
    assert joined.problem() == "It sleeps."
    joined.end()
    assert line.ended == 1
    line.answer = AttachError("It is gone.")
    with pytest.raises(AttachError):
        host_module._JoinedThere(door, line)
    assert line.ended == 2


def test_that_the_programs_of_a_host_are_asked_for_on_a_line_that_ends_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def reach(host: Host, settings: dict[str, object], probes: object, _note: object) -> object:
        assert (host.name, probes) == ("env", None)
        assert settings["grant"] == "read-only"
        return line

    line = _StandInLine()
    monkeypatch.setattr(Host, "line", reach)
    about = host_module._ProgramThere(
        5, "game", ["game", "-x"], "Python 3.13", is_listening=False, reason="it is old"
    )
    line.answer = host_module._ProgramsThere([about])
    (found,) = host_module.programs_on(Host.by_command("env"))
    assert (found["pid"], found["command"], found["reason"]) == (5, ["game", "-x"], "it is old")
    assert (line.sent, line.ended) == ([({},)], 1)
    line.answer = AttachError("It is gone.")
    with pytest.raises(AttachError):
        host_module.programs_on(Host.by_command("env"))
    assert line.ended == 2


def test_that_doors_that_are_open_are_closed_when_another_does_not_open() -> None:
    ended: list[int] = []

    def door(number: int) -> Any:  # noqa: ANN401 - a door
        def open_door(_acceptor: object) -> SimpleNamespace:
            if number == 2:
                message = "It is closed."
                raise AttachError(message)
            return SimpleNamespace(end=lambda: ended.append(number))

        return SimpleNamespace(open=open_door, title=f"door {number}")

    doors = Together((door(0), door(1), door(2), door(3)))
    acceptor: Any = None
    with pytest.raises(AttachError, match="closed"):
        doors.open(acceptor)
    assert ended == [0, 1]
    assert doors.title == "door 0, door 1, door 2, door 3"


def test_that_several_doors_speak_together() -> None:
    ended: list[str] = []

    def opened(name: str, problem: str, *, more: bool) -> Any:  # noqa: ANN401 - what is open
        return SimpleNamespace(
            title=name,
            note=f"{name} is old." if more else "",
            problem=lambda: problem,
            may_bring_more=lambda: more,
            end=lambda: ended.append(name),
        )

    found = [opened("a", "It is late.", more=True), opened("b", "", more=False)]
    both = host_module._AllOpened(found)
    assert (both.title, both.note, both.problem()) == ("a, b", "a is old.", "")
    assert both.may_bring_more()
    both.end()
    assert ended == ["a", "b"]
    both = host_module._AllOpened([opened(name, "Late.", more=False) for name in "ab"])
    assert (both.note, both.problem(), both.may_bring_more()) == ("", "Late. Late.", False)


def test_that_probes_on_a_host_have_connections_of_their_own() -> None:
    adopted: list[tuple[Any, bool, str]] = []
    begun = threading.Semaphore(0)

    def adopt(connection: object, *, dials: bool, token: str) -> None:
        adopted.append((connection, dials, token))
        begun.release()
        message = "It is no probe."
        raise AttachError(message)

    acceptor: Any = SimpleNamespace(adopt=adopt)
    probes = host_module._Probes(acceptor)
    line: Any = _StandInLine()
    for channel, token in ((1, ""), (2, "theirs")):
        probes.begin(line, channel, ProbeThere(10 + channel, token))
        assert begun.acquire(timeout=30)
    known = dict(probes._connections)
    probes._connections |= dict.fromkeys(range(10, 1_008), known[1])
    probes.begin(line, 3, ProbeThere(13, ""))
    assert line.sent == [(CLOSED, 3)]
    probes._connections = known
    assert [(dials, token) for _, dials, token in adopted] == [(False, ""), (True, "theirs")]
    assert probes.processes() == [11, 12]
    first, second = (connection for connection, *_ in adopted)
    assert (first.host, first.peer_pid, first.text) == ("there", 11, "line to there")

    first.send(JSON, b"{}")
    assert line.sent[1:] == [(DATA, 1, frame(JSON, b"{}"))]
    data = frame(JSON, b"one") + frame(JSON, b"two")
    for part in (data[:5], data[5:]):
        probes.receive(1, part)
        probes.receive(9, part)
    assert first.receive(0) == [(JSON, b"one"), (JSON, b"two")]
    probes.receive(1, b"\xff" * 40)
    with pytest.raises(ConnectionClosedError, match="does not follow the protocol"):
        first.receive(0)
    probes.end(2)
    probes.end(2)
    with pytest.raises(ConnectionClosedError):
        second.receive(0)
    second.close()
    assert line.sent[-1] == (CLOSED, 2)
    assert probes.processes() == [11]
    probes.end_all("the host was left")
    assert probes.processes() == []
    for thread in threading.enumerate():
        if thread.name == "attach: there":
            assert thread.daemon
            thread.join()
