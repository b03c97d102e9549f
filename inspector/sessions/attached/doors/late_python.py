"""Attach to a running Python program; from 3.14 on, the same user can run a file in it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from time import monotonic, sleep
from typing import Final

from inspector.errors import AttachError
from inspector.sessions.attached.doors.command_lines import python_options
from inspector.sessions.attached.doors.door import ProbeAcceptor
from inspector.sessions.attached.doors.launch import BOOTSTRAP, Grant
from inspector.sessions.attached.doors.processes import Process, attachable, title_of

_FIRST: Final = (3, 14)
_YAMA: Final = Path("/proc/sys/kernel/yama/ptrace_scope")
_CALL: Final = "import sys; sys.remote_exec(int(sys.argv[1]), sys.argv[2])"
_CALL_S: Final = 10.0
#: A busy program runs the file within milliseconds; a program that waits has to be woken.
_BUSY_S: Final = 0.1
_BETWEEN_WAKES_S: Final = 0.5
_WAKES: Final = 6
#: Advice that always works.
INSTEAD: Final = (
    "Launch it by “timeline-inspector attach -- PROGRAM ARGS…”, "
    "or call timeline_probe.serve() in it."
)

#: The file that the program's main thread runs. It removes itself to show that it was run; after a
#: failure it leaves the reason in another file.
_SCRIPT: Final = """\
def _timeline_inspector_attach():
    import os, sys
    try:
        sys.path.insert(0, {folder!r})
        try:
            import timeline_probe_start
        finally:
            sys.path.remove({folder!r})
        probe = timeline_probe_start.load(keeps_files=True)
        probe.start({connect!r}, {token!r}, grant={grant!r})
    except Exception as error:
        with open({path!r} + ".failed", "w") as file:
            file.write("%s: %s" % (type(error).__name__, error))
    os.unlink({path!r})
try:
    _timeline_inspector_attach()
finally:
    del _timeline_inspector_attach
"""


@dataclass(frozen=True, slots=True)
class LatePython:
    """A Python program that is already running."""

    pid: int
    grant: Grant = "full"

    @property
    def title(self) -> str:
        return title_of(self.pid)

    def open(self, acceptor: ProbeAcceptor) -> AttachedPython:
        target = attachable(self.pid, why_not, INSTEAD)
        folder = Path(tempfile.mkdtemp(prefix="timeline-inspector-"))
        script = folder / "attach.py"
        text = _SCRIPT.format(
            path=str(script),
            folder=str(BOOTSTRAP),
            connect=acceptor.address,
            token=acceptor.token,
            grant=self.grant,
        )
        # Nothing would report that the program cannot read this file.
        with os.fdopen(os.open(script, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        try:
            _let_run(target, script)
        except BaseException:
            rmtree(folder)
            raise
        return AttachedPython(target, script)


class AttachedPython:
    note = ""

    def __init__(self, target: Process, script: Path) -> None:
        self.title = f"{target.title} ({target.pid})"
        self.pid = target.pid
        self._target = target
        self._script = script
        self._begun_s = monotonic()
        self._failure = ""
        self._wakes = 0
        self._wake_at_s = self._begun_s + _BUSY_S
        while not self._was_run() and monotonic() - self._begun_s < _BUSY_S:
            sleep(0.002)
        self.problem()

    def poll(self) -> int | None:
        return None

    def problem(self) -> str:
        """Return why no probe has dialled; wakes a program that waits."""
        if self._was_run():
            return self._failure
        if not self._target.state():
            self._tidy()
            return f"{self.title} has ended."
        if self._target.state() == "T":
            return f"{self.title} is stopped. It is attached when it continues (kill -CONT)."
        if self._wakes < _WAKES:
            if monotonic() >= self._wake_at_s:
                self._wakes += 1
                self._wake_at_s = monotonic() + _BETWEEN_WAKES_S
                wake(self._target)
            return ""
        return (
            f"{self.title} has not run the probe yet: its main thread is in a call that does "
            "not return, such as time.sleep. It is attached as soon as that returns."
        )

    def may_bring_more(self) -> bool:
        return False

    def end(self) -> None:
        """Leave the program alone, and remove the file if it was not run."""
        self._tidy()

    def _was_run(self) -> bool:
        if self._script.exists():
            return False
        with suppress(OSError):
            told = self._script.with_suffix(".py.failed").read_text(errors="replace")
            self._failure = f"The probe could not begin in {self.title}: {told[:1_000]}."
        self._tidy()
        return True

    def _tidy(self) -> None:
        rmtree(self._script.parent, ignore_errors=True)


def why_not(target: Process) -> str:
    """Return why a process cannot be attached now, as part of a sentence; empty if it can."""
    runtime = target.runtime()
    if target.pid == os.getpid():
        return "it is this inspector"
    if target.barrier:
        return target.barrier
    if runtime is None or runtime.language != "python":
        return "it is not a Python program"
    if runtime.version is None or runtime.version < _FIRST:
        return f"it runs on {runtime.text}, and only 3.14 and newer can be attached late"
    if runtime.is_embedded:
        return "Python is a part of another program there"
    return _forbidden(target)


def _forbidden(target: Process) -> str:
    if "PYTHON_DISABLE_REMOTE_DEBUG" in target.environment() or any(
        "disable-remote-debug" in word for word in python_options(target.argv)
    ):
        return "it was started with attaching turned off"
    if sys.platform == "darwin" and os.geteuid() != 0:
        return "on macOS only root can attach to a program"
    with suppress(OSError, ValueError):
        if os.geteuid() != 0 and int(_YAMA.read_text()) > 0:
            return (
                "this system does not let programs attach to each other, "
                "unless “sudo sysctl kernel.yama.ptrace_scope=0” allows it"
            )
    return ""


def wake(target: Process) -> None:
    """Make a program that waits for something return to Python for a moment.

    Stopping and continuing it interrupts the waiting call. It must not be continued before it has
    stopped, since SIGCONT cancels a SIGSTOP that is still pending.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.kill(target.pid, signal.SIGSTOP)
        try:
            until_s = monotonic() + 1
            while target.state() not in {"T", ""} and monotonic() < until_s:
                sleep(0)
        finally:
            os.kill(target.pid, signal.SIGCONT)


def _let_run(target: Process, script: Path) -> None:
    """Ask the program to run a file, using its own executable, as both versions must be equal."""
    try:
        done = subprocess.run(  # noqa: S603 - the interpreter that runs the program
            [target.executable, "-ISc", _CALL, str(target.pid), str(script)],
            capture_output=True,
            text=True,
            timeout=_CALL_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        message = f"{target.executable}, which runs {target.title}, could not be asked: {error}"
        raise AttachError(message) from None
    if done.returncode == 0:
        return
    reason = done.stderr.strip().rpartition("\n")[2]
    message = f"{target.title} ({target.pid}) could not be attached: {reason}. {INSTEAD}"
    raise AttachError(message)
