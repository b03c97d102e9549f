"""What becomes of a launched program, and of everything that it has started."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.errors import AttachError
from inspector.sessions.attached.doors import launch, supervisor
from inspector.sessions.attached.doors.launch import SUPERVISOR, Launch, Launched
from inspector.sessions.attached.doors.programs import running_programs
from tests.javascript import node
from tests.sessions.attached.doors.test_launch import StandIn

_PATIENCE_S = 30.0
_PYTHON = shlex.quote(sys.executable)
#: Notes its number, and stays.
_LEAF = "#!/bin/sh\necho $$ >> pids\nexec sleep 1000\n"
#: What people start programs by.
_WRAPPERS = {
    "script": "bash run.sh",
    "pipe": "sh -c './leaf | cat'",
    "python": f"{_PYTHON} -ISc 'import subprocess; subprocess.run([\"./leaf\"])'",
    "daemon": "sh -c '(setsid ./leaf &) & exec sleep 1000'",
    "left behind": "sh -c './leaf &'",
    "deferring": "bash -c 'trap : TERM; ./leaf; true'",
}
_NODE = "-e 'child_process.spawnSync(\"./leaf\")'"

#: Launches what it is told, and waits to be killed.
_HOLDER = """
import sys, time
from pathlib import Path
from inspector.sessions.attached.doors.launch import SUPERVISOR, Launch
from tests.sessions.attached.doors.test_launch import StandIn
kept = [Launch(tuple(eval(line)), Path("."), is_bound=sys.argv[1] == "bound", grace_s=2)
        .open(StandIn()) for line in sys.stdin.read().splitlines()]
print("up", flush=True)
time.sleep(1000)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("leaf", _LEAF), ("run.sh", "./leaf\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def _until(is_true: Callable[[], object]) -> None:
    end_s = time.monotonic() + _PATIENCE_S
    while not is_true():
        assert time.monotonic() < end_s
        time.sleep(0.005)


def _pids(folder: Path, count: int = 1) -> list[int]:
    path = folder / "pids"
    _until(lambda: path.exists() and path.read_text().count("\n") >= count)
    return [int(line) for line in path.read_text().splitlines()]


def _is_alive(pid: int) -> bool:
    with suppress(OSError):
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    return False


@pytest.mark.parametrize("wrapper", [*_WRAPPERS, "node"])
def test_that_nothing_is_left_of_a_wrapped_program_that_is_ended(
    folder: Path, wrapper: str
) -> None:
    command = _WRAPPERS[wrapper] if wrapper in _WRAPPERS else f"{shlex.quote(node())} {_NODE}"
    launched = Launch(tuple(shlex.split(command)), folder, grace_s=2).open(StandIn())
    (leaf,) = _pids(folder)
    assert _is_alive(leaf)

    launched.end()

    assert not _is_alive(leaf)
    assert not _is_alive(launched.pid)
    assert "SIGKILL" not in launched.note


@pytest.mark.parametrize("is_bound", [True, False])
def test_that_bound_programs_end_with_an_inspector_that_is_killed_and_others_go_on(
    folder: Path, *, is_bound: bool
) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, "bound" if is_bound else "free"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    with holder, holder.stdin:
        holder.stdin.write("\n".join(repr(shlex.split(each)) for each in _WRAPPERS.values()))
        holder.stdin.close()
        assert holder.stdout.readline() == "up\n"
        leaves = _pids(folder, len(_WRAPPERS))
        holder.kill()
    if is_bound:
        _until(lambda: not any(map(_is_alive, leaves)))
    else:
        assert all(map(_is_alive, leaves))
        for each in leaves:
            os.kill(each, signal.SIGKILL)


_KILLED = """
import os, signal, sys
from inspector.sessions.attached.doors.launch import Launch
from inspector.sessions.attached.link import ProbeServer
acceptor = ProbeServer()
Launch(("./leaf",), is_bound=sys.argv[1] == "bound").open(acceptor)
print(acceptor.address, flush=True)
while not os.path.exists("pids") or not os.path.getsize("pids"):
    pass
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("how", ["bound", "free"])
def test_that_no_socket_is_left_of_an_inspector_that_is_killed(folder: Path, how: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])}
    with subprocess.Popen(
        [sys.executable, "-c", _KILLED, how],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as killed:
        assert killed.stdout is not None
        place = Path(killed.stdout.readline().strip().removeprefix("unix:")).parent
    (leaf,) = _pids(folder)
    _until(lambda: not place.exists())
    _until(lambda: how == "free" or not _is_alive(leaf))
    with suppress(ProcessLookupError):
        os.kill(leaf, signal.SIGKILL)


def test_that_a_program_that_ends_in_good_order_has_its_workers_until_then(folder: Path) -> None:
    (folder / "master").write_text(
        "#!/bin/bash\n"
        # Before the worker tells that it runs, both know what to do.
        "trap 'sleep 0.3; kill -KILL $worker; echo done >> told; exit 0' TERM\n"
        'bash -c \'trap "echo worker was asked >> told" TERM; echo $$ >> pids;'
        " while :; do sleep 0.01; done' & worker=$!\n"
        "while :; do sleep 0.01; done\n"
    )
    told: list[str] = []
    launched = Launch(("bash", "master"), folder, on_note=told.append).open(StandIn())
    _pids(folder)

    launched.end()

    assert (folder / "told").read_text() == "done\n"
    assert (launched.poll(), told) == (0, [])


def test_that_a_program_that_does_not_end_is_killed_after_its_grace_and_that_is_told(
    folder: Path,
) -> None:
    told: list[str] = []
    door = Launch(("sh", "-c", "trap '' TERM; ./leaf"), folder, grace_s=0.2, on_note=told.append)
    launched = door.open(StandIn())
    _pids(folder)

    launched.end()

    assert launched.poll() == 128 + signal.SIGKILL
    slow, killed = told
    assert slow.startswith("Asked to end (SIGTERM): sh (")
    assert slow.endswith(" What still runs in 0 s is killed.")
    assert killed.startswith("Killed (SIGKILL) after 0.2 s: sh (")
    assert launched.note == killed


def test_that_a_wrapper_that_has_ended_may_leave_a_program_that_dials(folder: Path) -> None:
    launched = Launch(("sh", "-c", "./leaf & exit 3"), folder).open(StandIn())
    _pids(folder)
    assert launched.wait(_PATIENCE_S) == 3

    assert launched.may_bring_more()
    assert launched.problem() == ""

    launched.end()
    assert not launched.may_bring_more()
    assert "ended with exit code 3" in launched.problem()


def test_that_the_line_to_the_supervisor_is_closed_with_its_program() -> None:
    near, far = socket.socketpair()
    with far:
        far.sendall(b"pid 17\nexit 3 0\n")
        launched = Launched(Launch(("program",)), near, lambda: 0, tuple)

    _until(lambda: near.fileno() < 0)
    assert launched.poll() == 3


def test_that_only_the_topmost_of_programs_with_a_probe_are_asked_to_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A shell, 11, that runs 12, which has started 13 and by a shell of its own 15; 21 dialled in.
    parents = {10: 1, 11: 10, 12: 11, 13: 12, 14: 12, 15: 14, 21: 1}
    processes = {pid: supervisor._Process(parent, 0, "S") for pid, parent in parents.items()}
    monkeypatch.setattr(supervisor, "_processes", lambda: processes)
    watching = object.__new__(supervisor.Supervisor)
    watching._pid, watching._has_exited = 11, False

    asked = watching._topmost([12, 13, 15, 21, 99])
    watching._has_exited = True

    assert asked == {11, 12, 21}
    assert watching._topmost([13, 15]) == {13, 15}


def test_that_what_runs_a_program_is_not_listed_as_one(folder: Path) -> None:
    launched = Launch(("sh", "-c", "./leaf"), folder).open(StandIn())
    try:
        # Another version of the inspector may run one of its own.
        assert not [each for each in running_programs() if str(SUPERVISOR) in each.process.argv]
    finally:
        launched.end()


def test_that_a_terminal_is_restored_that_a_program_leaves_unusable() -> None:
    try:
        pid, terminal = os.forkpty()
    except OSError:
        pytest.skip("needs a pseudo terminal")
    if pid == 0:
        os.environ["PYTHONPATH"] = str(Path(__file__).parents[4])
        code = (
            "from inspector.sessions.attached.doors.launch import Launch\n"
            "from tests.sessions.attached.doors.test_launch import StandIn\n"
            "raw = ('sh', '-c', 'stty raw -echo; sleep 1000')\n"
            "opened = Launch(raw).open(StandIn())\n"
            "import sys, termios\n"
            "import time; end = time.monotonic() + 30\n"
            "while termios.tcgetattr(0)[3] & termios.ECHO and time.monotonic() < end: pass\n"
            "opened.end()\n"
            "print('echo' if termios.tcgetattr(0)[3] & termios.ECHO else 'raw')\n"
        )
        os.execv(sys.executable, [sys.executable, "-c", code])  # noqa: S606 - in the terminal
    said = b""
    with suppress(OSError):
        while read := os.read(terminal, 4_096):
            said += read
    os.waitpid(pid, 0)
    os.close(terminal)
    assert said.index(b"\x1b[?1047l") < said.index(b"echo\r\n")


# ------------------------------------------------------------------- with stand-ins


def _launched(**has: object) -> Any:  # noqa: ANN401 - a program whose supervisor is played
    """Return a launched program that was started 50 s after the system, without its reader."""
    told: list[str] = []
    restored: list[str] = []
    found: Any = Launched.__new__(Launched)
    vars(found).update(
        {
            "title": "game.py",
            "note": "",
            "told": told,
            "restored": restored,
            "_door": Launch(("/bin/game.py",), grace_s=2.5, on_note=told.append),
            "_host": "",
            "_begun_s": 50.0,
            "_exited_s": 0.0,
            "_code": None,
            "_leaves": False,
            "_slow": {},
            "_is_ending": False,
            "_changed": threading.Condition(),
            "_is_over": False,
            "_terminal": SimpleNamespace(restore=lambda: restored.append("restored")),
            **has,
        }
    )
    return found


def test_that_the_lines_of_a_supervisor_are_told_in_sentences(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(launch, "title_of", lambda pid: f"sh ({pid})")
    monkeypatch.setattr(launch, "monotonic", lambda: 60.0)
    for host, one, two in (("", "sh (5)", "sh (6)"), ("there", "process 5", "process 6")):
        launched = _launched(_host=host)
        for line in ("slow 2.6 5 6", "killed 5 7", "killed", "dreams 5"):
            launched._on_word(*line.split())
        assert launched.told == [
            f"Asked to end (SIGTERM): {one}, {two}. What still runs in 3 s is killed.",
            f"Killed (SIGKILL) after 2.5 s: {one}, process 7.",
        ]
        assert launched.note == launched.told[-1]
        assert (launched.restored, launched.poll()) == ([], None)
    launched._on_word("slow", "-0.9", "5")
    assert launched.note.endswith(" What still runs in 0 s is killed.")
    assert not launched.wait(0)
    for line, code, leaves in (
        ("exit 3 0", 3, False),
        ("exit 0 1", 0, True),
        ("exit -15 2", 143, True),
    ):
        launched._on_word(*line.split())
        assert (launched.poll(), launched._leaves, launched._exited_s) == (code, leaves, 60.0)
        assert launched.wait(0) == code
    assert launched.restored == ["restored"] * 3


def test_that_why_nothing_is_seen_is_said_after_the_end_or_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    over, silent = "game.py ended with exit code 3", "game.py runs, but no probe in it"
    for name, code, leaves, now_s, begins, ends in (
        ("game.py", None, False, 60.0, "", ""),
        ("game.py", None, False, 60.1, silent, "“Attaching” has other ways."),
        ("bun.exe", None, False, 60.1, silent, launch._BUN),
        ("game.py", 3, False, 55.0, over, "run it without the inspector to see."),
        ("bunx", 3, False, 55.0, over, launch._BUN),
        # What it has left behind may dial yet.
        ("game.py", 3, True, 55.0, "", ""),
        ("game.py", 3, True, 60.1, over, "to see."),
    ):
        monkeypatch.setattr(launch, "monotonic", lambda now_s=now_s: now_s)
        launched = _launched(_code=code, _leaves=leaves, _exited_s=54.0)
        launched._door = Launch((f"/bin/{name}",))
        told = launched.problem()
        assert told.startswith(begins), told
        assert told.endswith(ends), told
        assert bool(told) is bool(begins)
    assert "for 10 s." in _launched().problem()


def test_that_what_a_program_leaves_may_dial_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    recent_s = 50.0 + launch._LEAVES_S
    for code, leaves, is_over, now_s, may in (
        (None, False, True, 90.0, True),
        (0, True, False, recent_s - 0.1, True),
        (0, True, False, recent_s, False),
        (0, False, False, 50.0, False),
        (0, True, True, 50.0, False),
    ):
        monkeypatch.setattr(launch, "monotonic", lambda now_s=now_s: now_s)
        launched = _launched(_code=code, _leaves=leaves, _is_over=is_over, _exited_s=50.0)
        assert launched.may_bring_more() is may, (code, leaves, is_over, now_s)


def test_that_a_program_is_asked_once_to_end_with_all_that_have_joined() -> None:
    def send(data: bytes) -> None:
        sent.append(data)
        if is_gone:
            raise BrokenPipeError

    for is_gone in (False, True):  # noqa: B007 - send() reads it
        sent: list[bytes] = []
        launched = _launched(_joined=lambda: [5, 6], _is_over=True)
        launched._socket = SimpleNamespace(sendall=send)
        launched.end()
        launched.end()
        assert sent == [b"end 5 6\n"]


def test_that_a_supervisor_that_starts_nothing_or_is_killed_is_understood() -> None:
    for line, number in ((b"error 13\n", 13), (b"", 0)):
        near, far = socket.socketpair()
        far.sendall(line)
        far.close()
        with pytest.raises(OSError, match=re.escape(os.strerror(number))) as caught:
            Launched(Launch(("program",)), near, lambda: 0, tuple, "there")
        assert caught.value.errno == number
        assert near.fileno() == -1
    near, far = socket.socketpair()
    far.sendall(b"pid 17\n")
    launched = Launched(Launch(("program",)), near, lambda: 9, tuple, "there")
    readers = [each for each in threading.enumerate() if each.name == "attach: launched"]
    assert all(each.daemon for each in readers)
    assert (launched.title, launched.pid, launched.poll()) == ("program on there", 17, None)
    far.close()
    assert launched.wait(_PATIENCE_S) == 9
    assert not launched.may_bring_more()


@pytest.mark.parametrize("is_in_front", [True, False])
def test_that_only_a_terminal_in_front_that_was_changed_is_restored(
    monkeypatch: pytest.MonkeyPatch, *, is_in_front: bool
) -> None:
    done: list[tuple[object, ...]] = []
    state = ["cooked"]
    terminals = [0]
    played = {
        "isatty": lambda number: number in terminals,
        "tcgetpgrp": lambda number: 7 * (number == terminals[-1]),
        "getpgrp": lambda: 7 if is_in_front else 8,
        "write": lambda *given: done.append(given),
    }
    monkeypatch.setattr(launch, "os", SimpleNamespace(**played))
    monkeypatch.setattr(
        launch,
        "termios",
        SimpleNamespace(
            error=OSError,
            TCSADRAIN=1,
            tcgetattr=lambda number: state[:] if number == terminals[-1] else None,
            tcsetattr=lambda *given: done.append(given),
        ),
    )
    for terminals in ([0], [0, 1], [0, 1, 2]):
        last = terminals[-1]
        state[0] = "cooked"
        terminal = launch._Terminal()
        terminal.restore()
        assert (terminal.is_changed, done) == (False, [])
        state[0] = "raw"
        terminal.restore()
        assert terminal.is_changed
        assert done == ([(last, 1, ["cooked"]), (last, launch._RESTORE)] if is_in_front else [])
        done.clear()
    terminals = [-2]
    nowhere = launch._Terminal()
    nowhere.restore()
    assert (nowhere.is_changed, done) == (False, [])


def test_that_the_way_out_of_what_cannot_be_executed_names_the_interpreter() -> None:
    for program, words in (
        ("/a/game.py", "python3 /a/game.py"),
        ("/a/game.pyz", "python3 /a/game.pyz"),
        ("/a/game.mjs", "node /a/game.mjs"),
    ):
        assert launch._hint(program) == f"Name the interpreter as well: {words}"
    assert launch._hint("/a/game") == ""
    with pytest.raises(AttachError, match="There is no program to launch"):
        Launch(()).program()
