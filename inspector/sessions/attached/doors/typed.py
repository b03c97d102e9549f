"""A command line as people type it, as a door."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from inspector.errors import AttachError
from inspector.foreign.paths import expanded
from inspector.sessions.attached.doors.browser import Browser
from inspector.sessions.attached.doors.door import Door
from inspector.sessions.attached.doors.hosts.host import Host, OnHost
from inspector.sessions.attached.doors.launch import Grant, Launch
from inspector.sessions.attached.doors.programs import door_of_process

_PID_DIGITS: Final = 10
_PYTHONS: Final = frozenset({"python", "python3"})


@dataclass(frozen=True, slots=True)
class TypedProgram:
    """What people type to say which program to attach to."""

    # A command line as for a shell, but without variables and patterns; or the URL or file of a
    # page; or the number of a process.
    command: str
    folder: str = ""  # The working directory, empty for the inspector's own
    # The Python that runs a file or -m module; empty for the first on the path.
    interpreter: str = ""
    hold: bool = False  # Whether the program is held before its first frame
    grant: Grant = "full"  # What the inspector may do in it
    # Where the program is, empty for this machine: [USER@]HOST for ssh, or a command that runs
    # the words after it there, such as docker exec -i NAME.
    host: str = ""

    def door(self) -> Door:
        if self.host.strip():
            return self._door_on(self._host())
        word = self.command.strip()
        if word.isascii() and word.isdecimal():
            return door_of_process(int(word[:_PID_DIGITS]), self.grant)
        if urlsplit(word).scheme in {"http", "https", "file"}:
            return Browser(word, self.hold, self.grant)
        folder = expanded(self.folder.strip()) if self.folder.strip() else None
        if folder is not None and not folder.is_dir():
            message = f"There is no folder {folder}."
            raise AttachError(message)
        argv = self._argv(folder)
        page = (folder or Path()) / argv[0]
        if argv[0].endswith((".html", ".htm")) and page.is_file():
            return Browser(str(page), self.hold, self.grant)
        launch = Launch(argv, folder, self.hold, self.grant)
        launch.program()
        return launch

    def _host(self) -> Host:
        text = self.host.strip()
        is_command = " " in text and not text.startswith("-")
        return Host.by_command(text) if is_command else Host.by_ssh(text)

    def _door_on(self, host: Host) -> OnHost:
        word, interpreter = self.command.strip(), self.interpreter.strip()
        if word.isascii() and word.isdecimal():
            return OnHost(host, pid=int(word[:_PID_DIGITS]), grant=self.grant)
        words = self._words()
        if words[0] == "-m" or words[0].endswith((".py", ".pyw")):
            words.insert(0, "python3")
        if words[0] in _PYTHONS and interpreter:
            words[0] = interpreter
        folder = Path(self.folder.strip()) if self.folder.strip() else None
        return OnHost(host, Launch(tuple(words), folder, self.hold, self.grant))

    def _words(self) -> list[str]:
        try:
            words = shlex.split(self.command)
        except ValueError:
            message = "A quotation mark is never closed."
            raise AttachError(message) from None
        if not words:
            message = "Type the command line of the program, such as: python -m http.server"
            raise AttachError(message)
        return words

    def _argv(self, folder: Path | None) -> tuple[str, ...]:
        words = self._words()
        words[0] = os.path.expanduser(words[0])  # noqa: PTH111 - keeps a name without a folder
        interpreter = self.interpreter.strip()
        if words[0] in _PYTHONS and interpreter:
            return (str(expanded(interpreter)), *words[1:])
        if words[0].endswith((".js", ".mjs", ".cjs")) and _is_plain(words[0], folder):
            return ("node", *words)
        if words[0] == "-m" or _is_plain_script(words[0], folder):
            python = str(expanded(interpreter)) if interpreter else _first_python()
            return (python, *words)
        if interpreter:
            message = (
                f"“{words[0]}” starts by itself. Leave the interpreter empty, or begin the "
                "command with python, -m or a .py file."
            )
            raise AttachError(message)
        return tuple(words)


def _is_plain_script(word: str, folder: Path | None) -> bool:
    return word.endswith((".py", ".pyw")) and _is_plain(word, folder)


def _is_plain(word: str, folder: Path | None) -> bool:
    path = (folder or Path()) / word
    return path.is_file() and not os.access(path, os.X_OK)


def _first_python() -> str:
    return shutil.which("python3") or shutil.which("python") or sys.executable
