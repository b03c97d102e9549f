"""Launch any command line with the probe inside, and end it with all of its processes."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Final, Literal

from inspector.display_text import in_quotes
from inspector.errors import AttachError, ProgramStartError
from inspector.exit_codes import ExitCode
from inspector.probe.bootstrap.children import node_options, path_with_probe
from inspector.sessions.attached.doors.command_lines import program_title, refuse_isolated
from inspector.sessions.attached.doors.door import ProbeAcceptor
from inspector.sessions.attached.doors.processes import title_of

if sys.platform != "win32":
    import termios

#: The folder whose ``sitecustomize`` loads the probe.
BOOTSTRAP: Final = Path(__file__).resolve().parents[3] / "probe" / "bootstrap"

PROBE_JS: Final = BOOTSTRAP.parent / "js" / "probe.js"

Grant = Literal["read-only", "step", "full"]

#: The script that runs the program.
SUPERVISOR: Final = Path(__file__).with_name("supervisor.py")
#: A program that has not dialled within this time probably never will.
_SILENT_S: Final = 10.0
_BUN: Final = "Bun does not load the probe: run the program by Node (node …) to see it."
#: Why nothing is seen of programs of these runtimes, and what to do.
_RUNTIMES: Final = {
    "bun": _BUN,
    "bunx": _BUN,
    "deno": "Deno loads the probe only into a program that may do everything: deno run -A …",
}
#: How long after its end a program's remaining processes may still dial.
_LEAVES_S: Final = 2.0
#: Switches a terminal back to the shell's screen, and off what programs switch on: mouse and focus
#: reports, bracketed paste, kitty's keys, a hidden cursor. What is off already is not affected.
_RESTORE: Final = (
    b"\x1b[?1000;1002;1003;1004;1005;1006;1015;1016l\x1b[?2004l\x1b[?2026l\x1b[<u"
    b"\x1b[?1047l\x1b[?25h\x1b[0m\r\n"
)
#: How long a program has to end by itself before it is killed.
GRACE_S: Final = 10.0


def _nothing(_sentence: str) -> None:
    """Do nothing: the sentence is in ``Launched.note``, too."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A command line to be run with the probe inside."""

    argv: tuple[str, ...]
    folder: Path | None = None  # Its working directory; by default that of the inspector
    hold: bool = False
    grant: Grant = "full"
    # Whether its standard output goes to the inspector's standard error.
    output_to_errors: bool = False
    is_bound: bool = False  # Whether it ends with the inspector, even if that is killed
    grace_s: float = GRACE_S  # How long it has to end by itself before it is killed
    # Called in any thread with sentences about its end.
    on_note: Callable[[str], object] = field(default=_nothing, compare=False, repr=False)

    @property
    def title(self) -> str:
        return program_title(self.argv)

    def program(self) -> str:
        """Return the path of the program."""
        if not self.argv:
            message = "There is no program to launch. Write it after --, with its arguments."
            raise AttachError(message)
        program = _found(self.argv[0], self.folder)
        refuse_isolated(self.argv, program)
        return program

    def open(self, acceptor: ProbeAcceptor) -> Launched:
        """Start the program; raises the same errors as :meth:`program`."""
        program = self.program()
        environment = {
            **os.environ,
            "PYTHONPATH": path_with_probe(os.environ.get("PYTHONPATH", "")),
            "NODE_OPTIONS": node_options(
                os.environ.get("NODE_OPTIONS", ""), self.argv, self.folder
            ),
            "TIMELINE_PROBE_CONNECT": acceptor.address,
            "TIMELINE_PROBE_TOKEN": acceptor.token,
            "TIMELINE_PROBE_GRANT": self.grant,
            "TIMELINE_PROBE_HOLD": "1" if self.hold else "",
        }
        if sys.platform == "win32":
            message = "Programs are launched on Linux and macOS. Let it dial: attach --listen tcp"
            raise AttachError(message)
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-I", "-S", str(SUPERVISOR), str(theirs.fileno())]
            options = [str(self.grace_s), str(int(self.is_bound)), program]
            supervisor = subprocess.Popen(  # noqa: S603 - what the user has typed
                [*command, *options, *self.argv],
                env=environment,
                cwd=self.folder,
                stdout=2 if self.output_to_errors else None,
                pass_fds=[theirs.fileno()],
            )
        try:
            return Launched(self, ours, supervisor.wait, acceptor.processes)
        except OSError as error:
            raise ProgramStartError(
                f"{self.argv[0]} could not be started: {error.strerror}. {_hint(program)}".rstrip(),
                ExitCode.NOT_EXECUTABLE,
            ) from None


class Launched:
    def __init__(
        self,
        door: Launch,
        connected: socket.socket,
        wait: Callable[[], int],
        joined: Callable[[], Collection[int]],
        host: str = "",
    ) -> None:
        """Wait until the program was started; an ``OSError`` if it cannot be executed."""
        self.title = f"{door.title} on {host}" if host else door.title
        self.note = ""  # The last sentence about its end; empty for none
        self._door = door
        self._host = host
        self._joined = joined
        self._wait = wait
        self._begun_s = monotonic()
        self._exited_s = 0.0
        self._code: int | None = None
        self._leaves = False
        self._slow: dict[int, str] = {}
        self._is_ending = False
        self._changed = threading.Condition()
        self._is_over = False
        self._terminal = _Terminal()
        self._socket = connected
        self._lines = self._socket.makefile("r")
        word, _, number = self._lines.readline().partition(" ")
        if word != "pid":
            self._close()
            raise OSError(int(number or 0), os.strerror(int(number or 0)))
        self.pid = int(number)  # Its process; one that replaces itself keeps it
        threading.Thread(target=self._read, name="attach: launched", daemon=True).start()

    def _read(self) -> None:
        with suppress(OSError):
            for line in self._lines:
                self._on_word(*line.split())
        self._terminal.restore()
        code = self._close()
        with self._changed:
            self._is_over = True
            if self._code is None:
                # The supervisor was killed, so its own exit code has to do.
                self._code = code
            self._changed.notify_all()

    def _on_word(self, word: str, *values: str) -> None:
        if word == "exit":
            self._terminal.restore()
            with self._changed:
                self._code, self._leaves = int(values[0]), values[1] != "0"
                self._exited_s = monotonic()
                self._changed.notify_all()
        elif word == "slow":
            pids = [int(each) for each in values[1:]]
            # Processes of another host cannot be named here.
            self._slow = {} if self._host else {each: title_of(each) for each in pids}
            seconds = f"{max(float(values[0]), 0):.0f} s"
            asked = f"Asked to end (SIGTERM): {self._listed(pids)}."
            self._report(f"{asked} What still runs in {seconds} is killed.")
        elif word == "killed" and values:
            seconds = f"{self._door.grace_s:g} s"
            self._report(f"Killed (SIGKILL) after {seconds}: {self._listed(map(int, values))}.")

    def _listed(self, pids: Iterable[int]) -> str:
        return ", ".join(self._slow.get(each, f"process {each}") for each in pids)

    def _report(self, sentence: str) -> None:
        self.note = sentence
        self._door.on_note(sentence)

    def _close(self) -> int:
        code = self._wait()
        self._lines.close()
        self._socket.close()
        return code

    def poll(self) -> int | None:
        """Return its exit code; as in shells, 128 plus the number of a signal that ended it."""
        code = self._code
        return 128 - code if code is not None and code < 0 else code

    @property
    def has_terminal(self) -> bool:
        """Whether the program has taken over the terminal, so that nothing else can be shown."""
        return self._terminal.is_changed

    def wait(self, seconds: float | None = None) -> int | None:
        with self._changed:
            self._changed.wait_for(lambda: self._code is not None, seconds)
        return self.poll()

    def problem(self) -> str:
        code = self.poll()
        known = _RUNTIMES.get(Path(self._door.argv[0]).name.removesuffix(".exe"))
        if code is not None and not self.may_bring_more():
            why = known or (
                "It is no Python program, or ended before it had begun; run it without the "
                "inspector to see."
            )
            return f"{self.title} ended with exit code {code} before a probe in it answered. {why}"
        if monotonic() - self._begun_s > _SILENT_S:
            why = known or (
                "It is no Python or Node program, or it clears its environment; the help page "
                "“Attaching” has other ways."
            )
            return (
                f"{self.title} runs, but no probe in it has answered for {_SILENT_S:.0f} s. {why}"
            )
        return ""

    def may_bring_more(self) -> bool:
        if self._code is None:
            return True
        is_recent = monotonic() - self._exited_s < _LEAVES_S
        return self._leaves and not self._is_over and is_recent

    def end(self) -> None:
        """Ask the program and all that it started to end (SIGTERM); kill what does not."""
        with self._changed:
            if not self._is_ending:
                self._is_ending = True
                joined = " ".join(map(str, self._joined()))
                with suppress(OSError):
                    self._socket.sendall(f"end {joined}\n".encode())
            self._changed.wait_for(lambda: self._is_over)


class _Terminal:
    """The state of the terminal before a program that shares it was started."""

    def __init__(self) -> None:
        self._descriptor = next((each for each in (2, 1, 0) if os.isatty(each)), -1)
        self._before = _attributes(self._descriptor)

    @property
    def is_changed(self) -> bool:
        """Whether a program has changed how the terminal handles input and output."""
        return self._before is not None and _attributes(self._descriptor) != self._before

    def restore(self) -> None:
        """Make the terminal usable again if the program has left it changed."""
        descriptor, before = self._descriptor, self._before
        if before is None or _attributes(descriptor) == before:
            return
        with suppress(OSError, termios.error):
            # A process in the background must not change the terminal.
            if os.tcgetpgrp(descriptor) == os.getpgrp():
                termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
                os.write(descriptor, _RESTORE)


def _attributes(descriptor: int) -> list[Any] | None:
    try:
        return termios.tcgetattr(descriptor)
    except (OSError, ValueError, termios.error):
        return None


def _found(name: str, folder: Path | None) -> str:
    if os.sep not in name:
        found = shutil.which(name)
        if found is not None:
            return found
        beside = (folder or Path()) / name
        hint = f" It is in this folder: write ./{name}" if beside.is_file() else ""
        message = f"There is no program {in_quotes(name)} on the path.{hint}"
        raise ProgramStartError(message, ExitCode.NOT_FOUND)
    # Absolute, as the supervisor would look for a relative path in the program's folder.
    path = ((folder or Path()) / name).absolute()
    if not path.exists():
        message = f"{name} does not exist."
        raise ProgramStartError(message, ExitCode.NOT_FOUND)
    if not path.is_file():
        message = f"{name} is not a file that can be run."
        raise ProgramStartError(message, ExitCode.NOT_EXECUTABLE)
    if not os.access(path, os.X_OK):
        message = f"{name} may not be executed. {_hint(str(path)) or f'Run: chmod +x {name}'}"
        raise ProgramStartError(message, ExitCode.NOT_EXECUTABLE)
    return str(path)


def _hint(program: str) -> str:
    if program.endswith((".py", ".pyz", ".pyw")):
        return f"Name the interpreter as well: python3 {program}"
    if program.endswith((".js", ".mjs", ".cjs")):
        return f"Name the interpreter as well: node {program}"
    return ""
