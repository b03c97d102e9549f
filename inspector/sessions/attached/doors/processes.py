"""Running processes as seen from outside: owner, command line and runtime."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from inspector.display_text import foreign_line
from inspector.errors import AttachError
from inspector.sessions.attached.doors.command_lines import program_title

_PROC: Final = Path("/proc")
_HAS_PROC: Final = sys.platform == "linux"
_EXECUTABLE: Final = re.compile(r"(python|pypy|node|nodejs)(?:(\d+)(?:\.(\d+))?)?(?:t|d)?$")
_LIBRARY: Final = re.compile(rb"/libpython(\d+)\.(\d+)[td]*\.so")
#: Files that a Python maps into memory: its library, and modules in its folders.
_OWN_FILE: Final = re.compile(rb"/(?:lib)?python(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class ProcessRuntime:
    language: Literal["python", "node"]
    version: tuple[int, int] | None  # Major and minor number, None if unknown
    is_embedded: bool = False  # Whether it is a library in a program of another kind

    @property
    def text(self) -> str:
        name = "Node" if self.language == "node" else "Python"
        return name if self.version is None else f"{name} {self.version[0]}.{self.version[1]}"


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    user_id: int
    argv: tuple[str, ...]
    executable: str  # Path of its executable; empty if that is not readable

    @property
    def title(self) -> str:
        return foreign_line(program_title(self.argv)) or f"process {self.pid}"

    @property
    def barrier(self) -> str:
        """Why the process cannot be attached, whatever it runs, as part of a sentence; or empty."""
        if os.geteuid() != self.user_id:
            # Root must not run files of another user, such as its interpreter.
            return "it belongs to another user"
        try:
            own, its = (
                (_PROC / each / "ns" / "mnt").readlink() for each in ("self", str(self.pid))
            )
        except OSError:
            return ""
        if own == its:
            return ""
        return (
            "it has a file system of its own, as in a container, where the probe is not. "
            "Let it dial (“timeline-inspector attach --listen unix”)"
        )

    def environment(self) -> dict[str, str]:
        """Return the environment it was started with; empty if that is not readable."""
        try:
            entries = (_PROC / str(self.pid) / "environ").read_bytes().split(b"\0")
        except OSError:
            return {}
        pairs = (os.fsdecode(entry).partition("=") for entry in entries)
        return {name: value for name, _, value in pairs}

    def runtime(self) -> ProcessRuntime | None:
        """Return what runs its code; ``None`` if that is neither Python nor Node."""
        name = Path(self.executable or (self.argv[0] if self.argv else "")).name
        found = _EXECUTABLE.match(name.removesuffix(" (deleted)"))
        if found is None:
            return self._embedded()
        kind, major, minor = found.groups()
        if kind.startswith("node"):
            return ProcessRuntime("node", None)
        version = (int(major), int(minor)) if major and minor else None
        return ProcessRuntime("python", version or self._mapped_version(_OWN_FILE))

    def state(self) -> str:
        return _stat(self.pid)[0]

    def _embedded(self) -> ProcessRuntime | None:
        version = self._mapped_version(_LIBRARY)
        return None if version is None else ProcessRuntime("python", version, is_embedded=True)

    def _mapped_version(self, file: re.Pattern[bytes]) -> tuple[int, int] | None:
        """Return the version from the names of mapped files, without running any of its code."""
        try:
            maps = (_PROC / str(self.pid) / "maps").read_bytes()
        except OSError:
            return None
        found = file.search(maps)
        return None if found is None else (int(found[1]), int(found[2]))


def parent_of(pid: int) -> int:
    """Return the number of a process's parent, 0 if unknown."""
    return int(_stat(pid)[1])


def is_alive(pid: int) -> bool:
    """Return whether a process runs or is stopped; an ended process may still be listed."""
    found = process(pid)
    return found is not None and (not _HAS_PROC or found.state() not in {"", "Z", "X"})


def _stat(pid: int) -> tuple[str, str]:
    """Return the state and the parent of a process, as in ``/proc``."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return "", "0"
    state, parent = text.rpartition(")")[2].split()[:2]
    return state, parent


def process(pid: int) -> Process | None:
    if not _HAS_PROC:
        return next((each for each in processes() if each.pid == pid), None)
    folder = _PROC / str(pid)
    try:
        user_id = folder.stat().st_uid
        argv = (folder / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    except OSError:
        return None
    try:
        executable = str((folder / "exe").readlink())
    except OSError:
        executable = ""
    return Process(pid, user_id, tuple(os.fsdecode(word) for word in argv if word), executable)


def title_of(pid: int) -> str:
    """Return the title and number of a process, or only its number if it has ended."""
    found = process(pid)
    return f"process {pid}" if found is None else f"{found.title} ({pid})"


def process_of(pid: int) -> Process:
    found = process(pid)
    if found is None:
        message = f"There is no process {pid}. “timeline-inspector attach” lists programs."
        raise AttachError(message)
    return found


def attachable(pid: int, why_not: Callable[[Process], str], instead: str) -> Process:
    """Return a process to attach to; an :class:`AttachError` says why that is impossible now."""
    found = process_of(pid)
    if reason := why_not(found):
        message = f"{found.title} ({pid}) cannot be attached late: {reason}. {instead}"
        raise AttachError(message)
    return found


def processes() -> Iterator[Process]:
    if _HAS_PROC:
        numbers = sorted(int(path.name) for path in _PROC.iterdir() if path.name.isdigit())
        yield from (found for number in numbers if (found := process(number)) is not None)
        return
    listed = subprocess.run(
        ["ps", "-axo", "pid=,uid=,args="],  # noqa: S607 - where the system has it
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    for line in listed.splitlines():
        number, user_id, *argv = line.split()
        yield Process(int(number), int(user_id), tuple(argv), argv[0] if argv else "")
