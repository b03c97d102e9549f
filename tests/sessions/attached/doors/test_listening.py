"""Finding programs that listen, and the list of those that can be attached."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.errors import AttachError
from inspector.sessions.attached.doors import late_python, listening, processes, programs
from inspector.sessions.attached.doors.late_node import LateNode
from inspector.sessions.attached.doors.late_python import LatePython
from inspector.sessions.attached.doors.listening import (
    Dial,
    Listen,
    forget_ended,
    listening_door,
)
from inspector.sessions.attached.doors.processes import Process, ProcessRuntime
from inspector.sessions.attached.doors.programs import door_of_process, running_programs
from tests.sessions.attached.doors.test_late_python import Target
from tests.sessions.attached.doors.test_launch import StandIn

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")
_PID = 4_194_305


@pytest.fixture
def place(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Return the folder that a listening program has made."""
    # Its name is short: the path of a socket has at most 107 bytes.
    runtime = tmp_path_factory.mktemp("run")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    folder = runtime / "timeline-inspector" / str(_PID)
    folder.mkdir(parents=True)
    for each in (folder, folder.parent):
        each.chmod(0o700)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "socket"))
        (folder / "token").write_text("ab" * 16)
        for name in ("socket", "token"):
            (folder / name).chmod(0o600)
        yield folder


def test_that_a_program_that_listens_is_found_with_its_token(place: Path) -> None:
    door = listening_door(_PID)
    assert door == Dial(f"unix:{place / 'socket'}", "ab" * 16, _PID)
    assert "ab" * 16 not in repr(door)
    assert listening_door(_PID + 1) is None


@pytest.mark.parametrize("name", ["", "..", "socket", "token"])
def test_that_what_others_may_have_put_there_is_not_used(place: Path, name: str) -> None:
    (place / name).resolve().chmod(0o755)
    with pytest.raises(AttachError, match="not private to this user"):
        listening_door(_PID)


def test_that_a_link_is_not_followed(place: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("cd" * 16)
    elsewhere.chmod(0o600)
    (place / "token").unlink()
    (place / "token").symlink_to(elsewhere)
    with pytest.raises(AttachError, match="not private to this user"):
        listening_door(_PID)


def test_that_what_another_user_owns_is_not_used(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place.exists()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(AttachError, match="not private to this user"):
        listening_door(_PID)


def test_that_what_killed_programs_have_left_is_removed_and_nothing_else(
    place: Path, tmp_path: Path
) -> None:
    alive = place.parent / str(os.getpid())
    alive.mkdir(mode=0o700)
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o700)
    (theirs / "token").write_text("")
    (place.parent / "4194306").symlink_to(theirs)
    forget_ended()
    assert alive.exists()
    assert (theirs / "token").exists()
    (place.parent / "4194306").unlink()
    other = place.parent / "4194307"
    other.mkdir(mode=0o700)
    (other / "socket").write_text("no socket")
    forget_ended()
    assert (other / "socket").exists()
    (other / "socket").unlink()
    forget_ended()
    assert [each.name for each in place.parent.iterdir()] == [alive.name]


@pytest.mark.parametrize("name", ["", ".."])
def test_that_nothing_is_removed_where_others_may_have_put_it(place: Path, name: str) -> None:
    (place / name).resolve().chmod(0o755)
    forget_ended()

    assert (place / "token").exists()


def test_that_a_program_that_listens_is_called_by_its_address_or_its_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = SimpleNamespace(title="game.py", pid=5)
    monkeypatch.setattr(listening, "process", lambda pid: found if pid == 5 else None)
    assert "secret" not in repr(Dial("unix:/a", "secret"))
    titles = [Dial("unix:/a", "00", pid).title for pid in (None, 5, 6)]
    assert titles == ["unix:/a", "game.py (5)", "unix:/a"]
    dialled: list[tuple[object, ...]] = []
    acceptor: Any = SimpleNamespace(dial=lambda *given: dialled.append(given))
    joined = Dial("unix:/a", "00", 5).open(acceptor)
    assert dialled == [("unix:/a", "00")]
    assert (joined.title, joined.pid, joined.may_bring_more()) == ("game.py (5)", 5, False)
    assert (joined.poll(), joined.problem(), joined.note) == (None, "", "")


def test_that_programs_that_dial_are_told_an_address_and_the_token() -> None:
    told: list[tuple[str, str]] = []
    acceptor = StandIn()
    Listen(lambda *found: told.append(found)).open(acceptor)
    opened = Listen(lambda *found: told.append(found), is_tcp=True).open(acceptor)
    assert Listen(lambda *_: None) == Listen(print) != Listen(print, is_tcp=True)
    assert "on_listening" not in repr(Listen(print))
    assert (opened.title, opened.pid, opened.may_bring_more()) == ("programs that dial", None, True)
    assert told == [(acceptor.address, acceptor.token), (acceptor.tcp_address, acceptor.token)]


_RUNNING = {
    11: Target(11),
    12: Target(12, runs_on=ProcessRuntime("python", (3, 12))),
    13: Target(13, runs_on=ProcessRuntime("node", None)),
    14: Target(14, runs_on=None),
    15: Target(15, user_id=os.geteuid() + 1),
    16: Target(16, variables=(("TIMELINE_PROBE_CONNECT", "unix:/x"),)),
    _PID: Target(_PID, runs_on=ProcessRuntime("python", (3, 12))),
}


@pytest.fixture
def _running(monkeypatch: pytest.MonkeyPatch) -> None:
    find: dict[int, Process] = dict(_RUNNING)
    monkeypatch.setattr(programs, "processes", lambda: iter(find.values()))
    monkeypatch.setattr(processes, "process", find.get)
    monkeypatch.setattr(programs, "forget_ended", lambda: None)
    monkeypatch.setattr(programs, "why_not_node", lambda _each: "")
    monkeypatch.setattr(late_python, "_YAMA", Path("/no/such/file"))


@pytest.mark.usefixtures("_running", "place")
def test_that_the_list_says_of_each_program_whether_it_can_be_attached() -> None:
    listed = {each.process.pid: (each.is_listening, each.reason) for each in running_programs()}
    assert listed == {
        11: (False, ""),
        12: (
            False,
            "it runs on Python 3.12, and only 3.14 and newer can be attached late",
        ),
        13: (False, ""),
        16: (False, "it was launched by an inspector"),
        _PID: (True, ""),
    }


@pytest.mark.usefixtures("_running", "place")
def test_that_a_process_is_entered_by_the_door_that_it_has() -> None:
    assert isinstance(door_of_process(_PID), Dial)
    assert door_of_process(11, "step") == LatePython(11, "step")
    assert door_of_process(13) == LateNode(13)
    with pytest.raises(
        AttachError,
        match=r"no process 99\. “timeline-inspector attach” lists programs",
    ):
        door_of_process(99)
