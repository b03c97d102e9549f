"""Launch any command line with the probe inside."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Final, Literal

from inspector.errors import AttachError, ProgramStartError
from inspector.exit_codes import ExitCode
from inspector.sessions.attached.doors.door import Inlet

#: The folder whose ``sitecustomize`` loads the probe.
BOOTSTRAP: Final = Path(__file__).resolve().parents[3] / "probe" / "bootstrap"

#: The probe for Node and for pages.
PROBE_JS: Final = BOOTSTRAP.parent / "js" / "probe.js"

Grant = Literal["read-only", "step", "full"]

_PYTHON: Final = re.compile(r"(?:python|pypy)[\d.]*(?:t|\.exe)?$")
#: Options of Python with a value that may be the next argument.
_WITH_VALUE: Final = frozenset("WXQ")
#: Options that keep Python from reading PYTHONPATH, or from running ``sitecustomize``.
_ISOLATING: Final = frozenset("IES")
#: A program that has not dialled for so long probably never will.
_SILENT_S: Final = 10.0
_END_S: Final = 3.0


def _python_path(environment: Mapping[str, str]) -> dict[str, str]:
    given = environment.get("PYTHONPATH", "").split(os.pathsep)
    others = [each for each in given if each and each != str(BOOTSTRAP)]
    return {"PYTHONPATH": os.pathsep.join([str(BOOTSTRAP), *others])}


def _node_options(environment: Mapping[str, str]) -> dict[str, str]:
    # Node takes a part in double quotes as one option, and knows no other quotes.
    path = str(PROBE_JS).replace("\\", "\\\\").replace('"', '\\"')
    ours = f'--require "{path}"'
    given = environment.get("NODE_OPTIONS", "")
    return {"NODE_OPTIONS": given if ours in given else f"{given} {ours}".strip()}


#: By which variables runtimes load the probe as they start.
TAKEN_IN_BY: Final[tuple[Callable[[Mapping[str, str]], Mapping[str, str]], ...]] = (
    _python_path,
    _node_options,
)


@dataclass(frozen=True, slots=True)
class Launch:
    """A command line to be run with the probe inside.

    Attributes:
        argv: The program and its arguments.
        folder: Its working directory; by default that of the inspector.
        hold: Whether it is held before its first frame.
        grant: What the inspector may do in it.
        output_to_errors: Whether its standard output goes to the inspector's standard error.
    """

    argv: tuple[str, ...]
    folder: Path | None = None
    hold: bool = False
    grant: Grant = "full"
    output_to_errors: bool = False

    @property
    def title(self) -> str:
        """The name of the script, the module or the program."""
        return program_title(self.argv)

    def program(self) -> str:
        """Return the path of the program.

        Raises:
            ProgramStartError: It was not found, or may not be executed.
            AttachError: It would not load the probe.
        """
        if not self.argv:
            message = "There is no program to launch. Write it after --, with its arguments."
            raise AttachError(message)
        program = _found(self.argv[0], self.folder)
        refuse_isolated(self.argv, program)
        return program

    def open(self, inlet: Inlet) -> Launched:
        """Start the program; raises what :meth:`program` does."""
        program = self.program()
        environment = dict(os.environ)
        for taken_in in TAKEN_IN_BY:
            environment |= taken_in(environment)
        environment |= {
            "TIMELINE_PROBE_CONNECT": inlet.address,
            "TIMELINE_PROBE_TOKEN": inlet.token,
            "TIMELINE_PROBE_GRANT": self.grant,
            "TIMELINE_PROBE_HOLD": "1" if self.hold else "",
        }
        try:
            process = subprocess.Popen(  # noqa: S603 - what the user has typed
                self.argv,
                executable=program,
                env=environment,
                cwd=self.folder,
                stdout=2 if self.output_to_errors else None,
            )
        except OSError as error:
            raise ProgramStartError(
                f"{self.argv[0]} could not be started: {error.strerror}. {_hint(program)}".rstrip(),
                ExitCode.NOT_EXECUTABLE,
            ) from None
        return Launched(self.title, process)


class Launched:
    """A program that was launched."""

    note = ""

    def __init__(self, title: str, process: subprocess.Popen[bytes]) -> None:
        self.title = title
        self._process = process
        self._begun_s = monotonic()

    @property
    def pid(self) -> int:
        """Its process; one that replaces itself keeps it."""
        return self._process.pid

    def poll(self) -> int | None:
        """Return its exit code: 128 and the signal that ended it, as in shells."""
        code = self._process.poll()
        return 128 - code if code is not None and code < 0 else code

    def wait(self, seconds: float | None = None) -> int | None:
        """Wait for its end; return the exit code, ``None`` if it still runs."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self.poll()

    def problem(self) -> str:
        """Return why no probe has dialled; empty while one still may."""
        code = self.poll()
        if code is not None:
            return (
                f"{self.title} ended with exit code {code} before a probe in it answered. It is "
                "no Python program, or ended before it had begun; run it without the inspector "
                "to see."
            )
        if monotonic() - self._begun_s > _SILENT_S:
            return (
                f"{self.title} runs, but no probe in it has answered for {_SILENT_S:.0f} s. It "
                "is no Python or Node program, its Python is older than 3.9, or it clears its "
                "environment; the help page “Attaching” has other ways."
            )
        return ""

    def may_bring_more(self) -> bool:
        """Return whether it still runs: it may start others."""
        return self._process.poll() is None

    def interrupt(self) -> None:
        """Send what Ctrl+C sends."""
        self._signal(signal.SIGINT)

    def end(self) -> None:
        """Ask it to end (SIGTERM); end it after some seconds."""
        self._signal(signal.SIGTERM)
        if self.wait(_END_S) is None:
            self._process.kill()
            self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        if self._process.poll() is None:
            self._process.send_signal(number)


def program_title(argv: Sequence[str]) -> str:
    """Return the name by which people know a command line."""
    rest = list(argv)
    if rest and _PYTHON.match(Path(rest[0]).name):
        operands = _after_options(rest)
        if operands and operands[0].startswith("-c"):
            return f"{Path(rest[0]).name} -c"
        rest = operands or rest
    elif rest and Path(rest[0]).name in {"node", "nodejs"}:
        codes = {"-e", "--eval", "-p", "--print"}
        rest = [word for word in rest[1:] if word in codes or not word.startswith("-")] or rest
    return Path(rest[0]).name if rest else ""


def refuse_isolated(argv: Sequence[str], program: str) -> None:
    """Refuse a Python that ignores its environment.

    Raises:
        AttachError: It does, by an option or by the first line of its script.
    """
    way = "leave the option out, or call timeline_probe.serve() in the program"
    if _PYTHON.match(Path(argv[0]).name):
        option = _isolating_option(argv)
        if option:
            message = (
                f"With {option}, Python does not load the probe: {way}. See “{shlex.join(argv)}”."
            )
            raise AttachError(message)
        return
    words = _first_line(program)
    for number, word in enumerate(words):
        if _PYTHON.match(Path(word).name):
            option = _isolating_option(words[number:])
            if option:
                better = shlex.join([word, program, *argv[1:]])
                message = (
                    f"The first line of {program} starts Python with {option}, which then does "
                    f"not load the probe. Launch it as: {better}"
                )
                raise AttachError(message)
            return


def _isolating_option(command: Sequence[str]) -> str:
    """Return the first option of a Python command that keeps the probe out; else nothing."""
    operands = len(_after_options(command))
    for word in command[1 : len(command) - operands]:
        if word.startswith("-") and not word.startswith("--"):
            for letter in word[1:]:
                if letter in _ISOLATING:
                    return f"-{letter}"
                if letter in _WITH_VALUE | {"c", "m"}:
                    break
    return ""


def _after_options(command: Sequence[str]) -> list[str]:
    """Return a script or module with its arguments, without Python and its own options."""
    rest = list(command[1:])
    while rest:
        word = rest.pop(0)
        if word == "--":
            return rest
        if word.startswith("--") or word == "-":
            continue
        if not word.startswith("-"):
            return [word, *rest]
        for position, letter in enumerate(word[1:], start=2):
            if letter in "cm":
                value = word[position:]
                return ([value] if value else []) + rest if letter == "m" else [word, *rest]
            if letter in _WITH_VALUE:
                if position == len(word) and rest:
                    rest.pop(0)
                break
    return []


def _found(name: str, folder: Path | None) -> str:
    """Return the path of a program, looked for as shells do.

    Raises:
        ProgramStartError: It is not there, or may not be executed.
    """
    if os.sep not in name:
        found = shutil.which(name)
        if found is not None:
            return found
        beside = (folder or Path()) / name
        hint = f" It is in this folder: write ./{name}" if beside.is_file() else ""
        message = f"There is no program “{name}” on the path.{hint}"
        raise ProgramStartError(message, ExitCode.NOT_FOUND)
    # Absolute, as a name alone would be looked for on the path, and from the program's folder.
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


def _first_line(program: str) -> list[str]:
    """Return the words of a script's first line, if it names an interpreter."""
    try:
        with Path(program).open("rb") as file:
            line = file.readline(512)
    except OSError:
        return []
    return line[2:].decode(errors="replace").split() if line.startswith(b"#!") else []
