"""Entering a Python program that runs already: who may, and what is left behind."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.errors import AttachError
from inspector.sessions.attached.doors import late_python, processes
from inspector.sessions.attached.doors.late_node import why_not_node
from inspector.sessions.attached.doors.late_python import AttachedPython, LatePython, why_not
from inspector.sessions.attached.doors.processes import Process, ProcessRuntime, process
from tests.sessions.attached.doors.test_launch import StandIn

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")


@dataclass(frozen=True)
class Target(Process):
    """A process as it is said to be."""

    pid: int = 4_194_305
    # Windows has no such function, and collects this file too.
    user_id: int = field(default_factory=lambda: os.geteuid())  # noqa: PLW0108
    argv: tuple[str, ...] = ("python3.14", "server.py")
    executable: str = "/usr/bin/python3.14"
    runs_on: ProcessRuntime | None = ProcessRuntime("python", (3, 14))  # noqa: RUF009 - frozen
    variables: tuple[tuple[str, str], ...] = ()

    def runtime(self) -> ProcessRuntime | None:
        return self.runs_on

    def environment(self) -> dict[str, str]:
        return dict(self.variables)

    def state(self) -> str:
        return "S"


def test_that_a_python_of_the_same_user_can_be_entered() -> None:
    assert why_not(Target()) == ""


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (Target(runs_on=ProcessRuntime("python", (3, 13))), "runs on Python 3.13, and only 3.14"),
        (Target(runs_on=ProcessRuntime("python", None)), "runs on Python, and only 3.14"),
        (Target(runs_on=ProcessRuntime("node", None)), "not a Python program"),
        (Target(runs_on=None), "not a Python program"),
        (
            Target(runs_on=ProcessRuntime("python", (3, 14), is_embedded=True)),
            "part of another program",
        ),
        (Target(argv=("python3.14", "-X", "disable-remote-debug", "x.py")), "attaching turned off"),
        (
            Target(argv=("python3.14", "-X", "dev", "-X", "disable-remote-debug", "x.py")),
            "attaching turned off",
        ),
        (Target(variables=(("PYTHON_DISABLE_REMOTE_DEBUG", "1"),)), "attaching turned off"),
        (Target(pid=os.getpid()), "it is this inspector"),
    ],
)
def test_that_a_program_that_cannot_be_entered_is_refused_with_its_reason(
    target: Target, reason: str
) -> None:
    assert reason in why_not(target)


def test_that_another_user_and_a_system_that_forbids_it_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    assert why_not(Target(user_id=12_346)) == "it belongs to another user"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert why_not(Target(user_id=12_346)) == "it belongs to another user"
    assert why_not_node(Target(user_id=12_346)) == "it belongs to another user"
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    yama = tmp_path / "ptrace_scope"
    monkeypatch.setattr(late_python, "_YAMA", yama)
    assert why_not(Target(user_id=12_345)) == ""
    yama.write_text("0\n")
    assert why_not(Target(user_id=12_345)) == ""
    # A program may have such an option itself.
    argv = ("python3.14", "x.py", "-X", "disable-remote-debug")
    assert why_not(Target(user_id=12_345, argv=argv)) == ""
    yama.write_text("1\n")
    assert "sysctl kernel.yama.ptrace_scope=0" in why_not(Target(user_id=12_345))


def test_that_the_version_of_a_python_is_read_without_running_it(tmp_path: Path) -> None:
    unnamed = tmp_path / "python"
    shutil.copy(Path(sys.executable).resolve(), unnamed)
    shared = next(each for each in ("_json", "_ctypes") if each not in sys.builtin_module_names)
    code = f"import {shared}, sys; print('up', flush=True); sys.stdin.read()"
    home = str(Path(sys.base_prefix))
    with subprocess.Popen(
        [unnamed, "-c", code],
        env={"PYTHONHOME": home},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        # Whatever is at its place now is not asked.
        unnamed.unlink()
        found = processes.process(process.pid)
        assert found is not None
        assert found.runtime() == ProcessRuntime("python", sys.version_info[:2])
        process.kill()


def test_that_the_file_with_the_token_is_for_this_user_only_and_is_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(processes, "process", lambda _pid: Target())
    commands: list[list[str]] = []

    def run(command: list[str], **_options: object) -> subprocess.CompletedProcess[str]:
        script = Path(command[-1])
        assert stat.S_IMODE(script.stat().st_mode) == 0o600
        assert stat.S_IMODE(script.parent.stat().st_mode) == 0o700
        assert StandIn().token in script.read_text()
        commands.append(command)
        return subprocess.CompletedProcess(command, 1, "", "PermissionError: not permitted")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(AttachError, match="could not be attached: PermissionError: not permitted"):
        LatePython(4_194_305).open(StandIn())
    assert StandIn().token not in " ".join(commands[0])
    assert commands[0][0] == "/usr/bin/python3.14"
    assert list(tmp_path.iterdir()) == []


def test_that_a_program_that_does_not_return_to_python_is_told_of_and_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    woken: list[Process] = []
    monkeypatch.setattr(late_python, "wake", woken.append)
    monkeypatch.setattr(late_python, "_BETWEEN_WAKES_S", 0.0)
    folder = tmp_path / "entering"
    folder.mkdir()
    script = folder / "attach.py"
    script.write_text("")
    entered = AttachedPython(Target(), script)
    for _ in range(20):
        told = entered.problem()
    assert "its main thread is in a call that does not return" in told
    assert len(woken) == 6
    assert (entered.pid, entered.poll(), entered.may_bring_more()) == (Target().pid, None, False)
    assert entered.title == f"{Target().title} ({entered.pid})"
    entered.end()
    assert not folder.exists()


def test_that_a_probe_that_cannot_begin_says_why(tmp_path: Path) -> None:
    folder = tmp_path / "entering"
    folder.mkdir()
    (folder / "attach.py.failed").write_text("RuntimeError: an inspector is attached")
    entered = AttachedPython(Target(), folder / "attach.py")
    assert "RuntimeError: an inspector is attached" in entered.problem()


@pytest.mark.parametrize(
    ("states", "waits"),
    [(["T"], 0), (["S", "R", "T"], 2), ([""], 0), (["S"] * 99, 10)],
)
def test_that_a_program_is_continued_once_it_has_stopped_or_after_a_second(
    monkeypatch: pytest.MonkeyPatch, states: list[str], waits: int
) -> None:
    asked: list[object] = []
    played = SimpleNamespace(kill=lambda *given: asked.append(given))
    monkeypatch.setattr(late_python, "os", played)
    monkeypatch.setattr(late_python, "sleep", asked.append)
    monkeypatch.setattr(late_python, "monotonic", lambda: 7 + 0.1 * asked.count(0))
    left = iter(states)
    target: Any = SimpleNamespace(pid=4_711, state=lambda: next(left))
    late_python.wake(target)
    stop, *slept, go_on = asked
    assert (stop, go_on) == ((4_711, signal.SIGSTOP), (4_711, signal.SIGCONT))
    assert slept == [0] * waits


def test_that_a_program_that_has_ended_is_said_to_have(tmp_path: Path) -> None:
    folder = tmp_path / "entering"
    folder.mkdir()
    (folder / "attach.py").touch()
    gone: Any = SimpleNamespace(title="server.py", pid=5, state=lambda: "")
    entered = AttachedPython(gone, folder / "attach.py")
    assert not folder.exists()
    (tmp_path / "entering").mkdir()
    (folder / "attach.py").touch()
    assert entered.problem() == "server.py (5) has ended."
    assert (entered.may_bring_more(), entered.poll()) == (False, None)


def test_that_a_program_whose_python_is_not_there_or_refuses_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(*_: object, **_more: object) -> None:
        raise FileNotFoundError(2, "No such file")

    refusing = tmp_path / "python"
    refusing.write_text("#!/bin/sh\nprintf 'Traceback\nPermissionError: no\n' >&2\nexit 1\n")
    refusing.chmod(0o755)
    told = r"^server\.py \(4194305\) could not be attached: PermissionError: no\. Launch it by"
    with pytest.raises(AttachError, match=told):
        late_python._let_run(Target(executable=str(refusing)), tmp_path / "attach.py")
    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(AttachError, match=r"could not be asked: .*No such file"):
        late_python._let_run(Target(), tmp_path / "attach.py")


def test_that_a_stopped_program_is_not_continued(tmp_path: Path) -> None:
    sleeper = subprocess.Popen(["sleep", "1000"])  # noqa: S607 - where the system has it
    try:
        os.kill(sleeper.pid, 19)
        os.waitpid(sleeper.pid, os.WUNTRACED)
        target = process(sleeper.pid)
        assert target is not None
        (tmp_path / "attach.py").write_text("")
        assert "is stopped" in AttachedPython(target, tmp_path / "attach.py").problem()
        assert target.state() == "T"
    finally:
        sleeper.kill()
        sleeper.wait()


def _sleeps(number: str) -> bool:
    try:
        return Path(f"/proc/{number}/comm").read_text() == "sleep\n"
    except OSError:
        return False


@pytest.fixture
def apart() -> Iterator[int]:
    """A process with file system and numbers of its own, as in a container; its number here."""
    command = ["unshare", "--pid", "--mount", "--fork", "--kill-child", "sleep", "100"]
    try:
        process_ = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        pytest.skip("there is no unshare")
    with process_:
        try:
            children = Path(f"/proc/{process_.pid}/task/{process_.pid}/children")
            until_s = time.monotonic() + 10
            # Whatever unshare starts on the way is not it.
            while not (found := [each for each in children.read_text().split() if _sleeps(each)]):
                if process_.poll() is not None:
                    pytest.skip("this user cannot make a container")
                assert time.monotonic() < until_s
            yield int(found[0])
        finally:
            process_.kill()


def test_that_a_process_in_a_container_is_not_entered_and_a_way_is_named(apart: int) -> None:
    assert Process(os.getpid(), os.geteuid(), (), "").barrier == ""
    reason = why_not(Target(pid=apart))
    assert reason == (
        "it has a file system of its own, as in a container, where the probe is not. "
        "Let it dial (“timeline-inspector attach --listen unix”)"
    )
