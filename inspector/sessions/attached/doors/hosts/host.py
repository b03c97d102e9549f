"""Programs on other hosts and in containers, as doors."""

from __future__ import annotations

import shlex
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec import Struct

from inspector.display_text import foreign_line, in_quotes
from inspector.errors import AttachError, ProgramStartError
from inspector.exit_codes import ExitCode
from inspector.probe.wire import FrameReader, WireError, frame
from inspector.sessions.attached.connections import QueuedConnection
from inspector.sessions.attached.doors.door import Door, Opened, ProbeAcceptor
from inspector.sessions.attached.doors.hosts.line import (
    LOADER,
    PATIENCE_S,
    HostLine,
    ProbeThere,
    ProcessNumber,
)
from inspector.sessions.attached.doors.hosts.records import BROKEN_S, CLOSED, DATA
from inspector.sessions.attached.doors.launch import Grant, Launch, Launched

#: Most simultaneous connections on a host.
_MOST_PROBES: Final = 1_000


class Host(Struct, frozen=True):
    """Another host or a container, and the command that runs a Python there."""

    name: str  # What people call it
    command: tuple[str, ...]  # The command to run, with a pipe to it
    again: tuple[str, ...]  # The same for reconnecting, without asking for passwords
    is_named_there: bool = False  # Whether the host's own name says more than ``name``

    @classmethod
    def by_ssh(cls, text: str) -> Host:
        """Return a host that the system's ``ssh`` reaches: ``[OPTIONS] [USER@]HOST``."""
        words = _words(text, "--ssh")
        if words[-1].startswith("-"):
            message = (
                f"{in_quotes(text)} names no host: write --ssh HOST, or --ssh '-p 2222 USER@HOST'."
            )
            raise AttachError(message)
        # A shell on the host parses this.
        last = (*words, f"exec python3 -c {shlex.quote(LOADER)}")
        begin = ("ssh", "-T", "-o", "ServerAliveInterval=2", "-o", "ServerAliveCountMax=2")
        return cls(words[-1], (*begin, *last), (*begin, "-o", "BatchMode=yes", *last))

    @classmethod
    def by_command(cls, text: str) -> Host:
        """Return the host of a command that runs the words after it there, like ``docker exec``."""
        words = _words(text, "--exec")
        command = (*words, "python3", "-c", LOADER)
        name = next((each for each in reversed(words) if not each.startswith("-")), words[0])
        return cls(name, command, command, is_named_there=True)

    def line(
        self, settings: dict[str, Any], probes: _Probes | None, on_note: Callable[[str], object]
    ) -> HostLine:
        commands, is_named_there = (self.command, self.again), self.is_named_there
        line = HostLine(
            self.name, commands, settings, probes, on_note, is_named_there=is_named_there
        )
        line.open()
        return line


def _words(text: str, option: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        message = f"{option} {text}: {str(error).lower()}."
        raise AttachError(message) from None
    if not words:
        message = f"{option} is empty: it says how to reach the other host."
        raise AttachError(message)
    return words


class OnHost(Struct, frozen=True):
    """A program on another host: one to launch, or one that runs there."""

    host: Host
    launch: Launch | None = None  # What to launch; ``None`` for a running process
    pid: int = 0
    grant: Grant = "full"  # What the inspector may do in it
    on_note: Callable[[str], object] = len  # Called in any thread with sentences about the line

    @property
    def title(self) -> str:
        what = f"process {self.pid}" if self.launch is None else self.launch.title
        return f"{what} on {self.host.name}"

    def open(self, acceptor: ProbeAcceptor) -> Opened:
        probes = _Probes(acceptor)
        line = self.host.line(self._settings(acceptor), probes, self.on_note)
        if self.launch is not None:
            return self._launched(self.launch, line, probes)
        return _JoinedThere(self, line)

    def _settings(self, acceptor: ProbeAcceptor) -> dict[str, Any]:
        launch = self.launch
        return {
            "argv": [] if launch is None else launch.argv,
            "folder": "" if launch is None else str(launch.folder or ""),
            "token": acceptor.token,
            "grant": self.grant if launch is None else launch.grant,
            "hold": launch is not None and launch.hold,
            "grace_s": 0 if launch is None else launch.grace_s,
            "patience_s": PATIENCE_S,
        }

    def _launched(self, launch: Launch, line: HostLine, probes: _Probes) -> Launched:
        ours, theirs = socket.socketpair()
        line.carry_supervisor(theirs, sys.stderr if launch.output_to_errors else sys.stdout)
        try:
            return Launched(launch, ours, line.wait, probes.processes, line.name)
        except OSError as error:
            if line.problem:
                raise AttachError(line.problem) from None
            message = f"{launch.argv[0]} could not be started on {line.name}: {error.strerror}."
            raise ProgramStartError(message, ExitCode.NOT_EXECUTABLE) from None


def hosts_named(by_ssh: Sequence[str], by_command: Sequence[str]) -> list[Host]:
    """Return the hosts that the options ``--ssh`` and ``--exec`` name."""
    found = [Host.by_ssh(each) for each in by_ssh]
    return found + [Host.by_command(each) for each in by_command]


def on_hosts(
    by_ssh: Sequence[str],
    by_command: Sequence[str],
    launch: Launch,
    on_note: Callable[[str], object],
) -> Door | None:
    """Return the door to a program on the hosts that options name; ``None`` if they name none."""
    hosts = hosts_named(by_ssh, by_command)
    doors = tuple(OnHost(host, launch, on_note=on_note) for host in hosts)
    return Together(doors) if len(doors) > 1 else next(iter(doors), None)


class _ProgramThere(msgspec.Struct):
    pid: ProcessNumber
    program: str
    command: list[str]
    runtime: str
    is_listening: bool
    reason: str


class _ProgramsThere(msgspec.Struct):
    programs: list[_ProgramThere]


class _ProcessThere(msgspec.Struct):
    title: str
    pid: ProcessNumber | None
    note: str


def programs_on(host: Host) -> list[dict[str, Any]]:
    """Return the programs that run on a host, as :func:`described` says."""
    settings = {"argv": [], "folder": "", "token": "", "grant": "read-only", "patience_s": BROKEN_S}
    line = host.line(settings, None, len)
    try:
        found: list[dict[str, Any]] = msgspec.to_builtins(line.ask({}, _ProgramsThere).programs)
        return found
    finally:
        line.end()


class Together(Struct, frozen=True):
    """Several doors into one session."""

    doors: tuple[Door, ...]

    @property
    def title(self) -> str:
        return ", ".join(each.title for each in self.doors)

    def open(self, acceptor: ProbeAcceptor) -> Opened:
        opened: list[Opened] = []
        try:
            for each in self.doors:
                opened.append(each.open(acceptor))  # noqa: PERF401 - what is open has to be known
        except AttachError:
            for each_open in opened:
                each_open.end()
            raise
        return _AllOpened(opened)


class _AllOpened:
    pid = None

    def __init__(self, opened: Sequence[Opened]) -> None:
        self.title = ", ".join(each.title for each in opened)
        self._opened = opened

    @property
    def note(self) -> str:
        return " ".join(each.note for each in self._opened if each.note)

    def poll(self) -> int | None:
        """Return one exit code for all: that of the first that failed, otherwise 0."""
        codes = [each.poll() for each in self._opened]
        known = [code for code in codes if code is not None]
        return next(filter(None, known), 0) if len(known) == len(codes) else None

    def problem(self) -> str:
        problems = [each.problem() for each in self._opened]
        return " ".join(problems) if all(problems) else ""

    def may_bring_more(self) -> bool:
        return any(each.may_bring_more() for each in self._opened)

    def end(self) -> None:
        for each in self._opened:
            each.end()


class _JoinedThere:
    """A program that was running on the host already."""

    def __init__(self, door: OnHost, line: HostLine) -> None:
        """Attach to the program; an :class:`AttachError` if that is not possible."""
        try:
            told = line.ask({"pid": door.pid, "grant": door.grant}, _ProcessThere)
        except AttachError:
            line.end()
            raise
        self.title = f"{foreign_line(told.title)} on {line.name}"
        self.pid = told.pid
        self.note = foreign_line(told.note)
        self._line = line

    def poll(self) -> int | None:
        """Return ``None``: only the process that started the program gets its exit code."""
        return None

    def problem(self) -> str:
        return self._line.problem

    def may_bring_more(self) -> bool:
        return False

    def end(self) -> None:
        """Leave the program alone, and close the line to the host."""
        self._line.end()


class _Probes:
    """The connections of the probes on a host, passed to the session one by one."""

    def __init__(self, acceptor: ProbeAcceptor) -> None:
        self._acceptor = acceptor
        self._connections: dict[int, tuple[QueuedConnection, FrameReader]] = {}

    def processes(self) -> list[int]:
        return [connection.peer_pid for connection, _ in list(self._connections.values())]

    def begin(self, line: HostLine, channel: int, about: ProbeThere) -> None:
        if len(self._connections) >= _MOST_PROBES:
            line.send(CLOSED, channel)
            return
        connection = QueuedConnection(
            f"line to {line.name}",
            lambda kind, payload: line.send(DATA, channel, frame(kind, payload)),
            lambda: line.send(CLOSED, channel),
            host=line.name,
            peer_pid=about.pid,
        )
        self._connections[channel] = connection, FrameReader()
        name = f"attach: {line.name}"
        threading.Thread(
            target=self._adopt, args=(connection, about), name=name, daemon=True
        ).start()

    def _adopt(self, connection: QueuedConnection, about: ProbeThere) -> None:
        # If it is no probe that dials there, it gets no answer.
        with suppress(AttachError):
            self._acceptor.adopt(connection, dials=bool(about.token), token=about.token)

    def receive(self, channel: int, data: bytes) -> None:
        found = self._connections.get(channel)
        if found is None:
            return
        connection, frames = found
        try:
            for kind, payload in frames.feed(data):
                connection.put(kind, payload)
        except WireError as error:
            connection.end(f"it does not follow the protocol: {error.message}")

    def end(self, channel: int) -> None:
        found = self._connections.pop(channel, None)
        if found is not None:
            found[0].end("")

    def end_all(self, reason: str) -> None:
        for connection, _ in list(self._connections.values()):
            connection.end(reason)
        self._connections.clear()
