"""Runs one command line, and ends everything that it has started; a process of its own.

It is run by its path with ``-I -S`` and imports nothing of the inspector. It sends lines to the
inspector over a socket: first ``pid N`` or ``error ERRNO``; ``exit CODE LEFT`` when the program has
ended (CODE is negative for a signal) and LEFT other processes are running; ``slow SECONDS N…`` when
processes N take long to end and will be killed in SECONDS; ``killed N…``. It closes the socket when
nothing is left. The inspector sends ``end N…`` to end the program, where N are the processes with a
probe.

On Linux it inherits orphans, so that no process can leave the family. Elsewhere orphans are
recognised by their process group, if the program has no terminal.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import socket
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from time import monotonic, sleep

if sys.platform == "linux":
    import ctypes
else:
    import subprocess

# Each launch would wait for typing: a third of this program's start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_IS_LINUX: Final = sys.platform == "linux"
_SUBREAPER: Final = 36
#: Signals that a terminal, or a program that ends a process group, sends to all processes in it.
_SHARED: Final = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
#: The signal of Ctrl+C.
_FROM_TERMINAL: Final = signal.SIGINT
#: Python ignores these signals, but the program gets the default handlers.
_OF_PYTHON: Final = (signal.SIGPIPE, signal.SIGXFSZ)
_SLOW_AFTER_S: Final = 1.0
_LOOKED_EVERY_S: Final = 0.02
#: Ctrl+C reaches the program at most this long before the inspector asks for the end.
_JUST_NOW_S: Final = 2.0
#: A process that is not killed by then belongs to another user, or waits for a device.
_KILLED_WITHIN_S: Final = 2.0


class _Process:
    __slots__ = ("group", "parent", "state")

    def __init__(self, parent: int, group: int, state: str) -> None:
        self.parent = parent
        self.group = group
        self.state = state


class Supervisor:
    def __init__(self, inspector: socket.socket, grace_s: float, *, is_bound: bool) -> None:
        """Handle signals and inherit orphans from now on."""
        self._inspector = inspector
        self._grace_s = grace_s
        self._is_bound = is_bound
        self._pid = 0
        self._has_exited = False
        self._received = b""
        self._is_connected = True
        self._interrupted_s = -_JUST_NOW_S
        self._waker, writer = socket.socketpair()
        for each in (self._waker, writer):
            each.setblocking(False)
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        self._writer = writer
        signal.signal(signal.SIGCHLD, _note)
        for number in _SHARED:
            # The program inherits ignored signals, as it should behind nohup.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._note_shared)
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
        elif not any(map(os.isatty, range(3))):
            os.setpgid(0, 0)

    def _note_shared(self, number: int, _frame: object) -> None:
        if number == _FROM_TERMINAL:
            self._interrupted_s = monotonic()

    def run(self, executable: str, argv: list[str]) -> None:
        """Run a program until it and all that it started have ended, or the inspector has ended.

        With ``is_bound``, they are ended when the inspector ends.
        """
        try:
            self._pid = os.posix_spawn(executable, argv, os.environ, setsigdef=_OF_PYTHON)
        except OSError as error:
            self._send_line(f"error {error.errno}")
            return
        self._send_line(f"pid {self._pid}")
        asked: list[int] | None = None
        while asked is None and self._is_connected and self._reap():
            # Only on Linux does a signal report the end of an orphan.
            self._wait(None if _IS_LINUX or not self._has_exited else _SLOW_AFTER_S)
            asked = self._asked()
        if asked is not None or (not self._is_connected and self._is_bound):
            self._end(asked or [])
        if not self._is_connected:
            _remove_unheard(os.environ.get("TIMELINE_PROBE_CONNECT", ""))

    def _end(self, joined: list[int]) -> None:
        """Ask the program to end, then what it leaves behind; kill what does not end in time."""
        begun_s = monotonic()
        slow_s = begun_s + min(_SLOW_AFTER_S, self._grace_s / 2)
        half_s, until_s = begun_s + self._grace_s / 2, begun_s + self._grace_s
        was_connected, is_said = self._is_connected, False
        # After Ctrl+C, do not ask the program again: a second signal may mean something else.
        was_asked = begun_s - self._interrupted_s < _JUST_NOW_S
        first = set() if was_asked else self._topmost(joined)
        _signal(first, signal.SIGTERM)
        is_first = True
        while self._reap() or _alive(joined):
            now_s = monotonic()
            left = _alive(self._family() | set(joined))
            if now_s >= until_s or (was_connected and not self._is_connected):
                # If the inspector has ended, there is no reason to wait for an orderly end.
                self._kill(joined)
                return
            if is_first and (now_s >= half_s or (self._has_exited and not left & first)):
                is_first = False
                _signal(left - first, signal.SIGTERM)
            if not is_said and now_s >= slow_s:
                is_said = True
                self._send_line(f"slow {until_s - now_s:.1f} {_listed(left)}")
            self._wait(_LOOKED_EVERY_S)

    def _kill(self, joined: list[int]) -> None:
        killed: set[int] = set()
        until_s = monotonic() + _KILLED_WITHIN_S
        while (self._reap() or _alive(joined)) and monotonic() < until_s:
            left = _alive(self._family() | set(joined))
            killed |= left
            _signal(left, signal.SIGKILL)
            self._wait(_LOOKED_EVERY_S)
        self._send_line(f"killed {_listed(killed)}")

    def _reap(self) -> bool:
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                if pid == self._pid:
                    self._has_exited = True
                    code = os.waitstatus_to_exitcode(status)
                    self._send_line(f"exit {code} {len(self._family())}")
        return not self._has_exited or bool(self._family())

    def _family(self) -> set[int]:
        """Return the program and all processes that it has started.

        Ended processes are among them until their parent, or in the end this process, reaps them.
        """
        processes = _processes()
        own, group = os.getpid(), os.getpgrp()
        children: dict[int, list[int]] = {}
        for pid, each in processes.items():
            children.setdefault(each.parent, []).append(pid)
        found: set[int] = set()
        waiting = [own]
        if not _IS_LINUX and group == own:
            living = (pid for pid, each in processes.items() if each.state != "Z")
            waiting += [pid for pid in living if processes[pid].group == group]
        while waiting:
            pid = waiting.pop()
            if pid not in found:
                found.add(pid)
                waiting += children.get(pid, ())
        return found - {own}

    def _topmost(self, joined: Iterable[int]) -> set[int]:
        """Return the program, and the processes with a probe that have no ancestor with a probe."""
        processes, others = _processes(), set(joined)
        found = {self._pid} if not self._has_exited else set()
        for pid in others & processes.keys():
            parent = processes[pid].parent
            while parent in processes and parent not in others:
                parent = processes[parent].parent
            if parent not in others:
                found.add(pid)
        return found

    def _send_line(self, line: str) -> None:
        with suppress(OSError):
            self._inspector.sendall(f"{line}\n".encode())

    def _wait(self, seconds: float | None) -> None:
        readable = [self._waker, *([self._inspector] if self._is_connected else [])]
        ready = select.select(readable, [], [], seconds)[0]
        with suppress(BlockingIOError):
            while self._waker in ready:
                self._waker.recv(4_096)
        if self._inspector in ready:
            try:
                received = self._inspector.recv(4_096)
            except OSError:
                received = b""
            self._received += received
            self._is_connected = bool(received)

    def _asked(self) -> list[int] | None:
        """Return the processes with a probe if the inspector asks for the end, else ``None``."""
        line, end, rest = self._received.partition(b"\n")
        if not end:
            return None
        self._received = rest
        return [int(word) for word in line.split()[1:]]


def _remove_unheard(address: str) -> None:
    """Remove the socket of an inspector that was killed, once nothing listens on it."""
    path = address.partition("unix:")[2]
    until_s = monotonic() + _KILLED_WITHIN_S
    with suppress(OSError):
        while stat.S_ISSOCK(os.lstat(path).st_mode) and monotonic() < until_s:
            with socket.socket(socket.AF_UNIX) as trial:
                if trial.connect_ex(path) == errno.ECONNREFUSED:
                    os.unlink(path)  # noqa: PTH108 - quick to import
                    os.rmdir(os.path.dirname(path))  # noqa: PTH106, PTH120
            # The system closes the files of a killed process one by one, which takes a moment.
            sleep(_LOOKED_EVERY_S)


def _note(_number: int, _frame: object) -> None:
    """Do nothing: the signal only ends a wait."""


def _processes() -> dict[int, _Process]:
    found = {}
    if sys.platform == "linux":
        for name in os.listdir("/proc"):  # noqa: PTH208 - quick to import, and to list
            if name.isdigit():
                with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    state, parent, group = file.read().rpartition(b")")[2].split()[:3]
                    found[int(name)] = _Process(int(parent), int(group), state.decode())
    else:
        command = ["ps", "-axo", "pid=,ppid=,pgid=,stat="]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as ps:  # noqa: S603
            for line in ps.stdout or ():
                pid, parent_pid, group_id, stat, *_ = line.split()
                found[int(pid)] = _Process(int(parent_pid), int(group_id), stat[:1])
        # ps lists itself, too.
        found.pop(ps.pid, None)
    return found


def _alive(pids: Iterable[int]) -> set[int]:
    if not pids:
        return set()
    processes = _processes()
    return {pid for pid in pids if pid in processes and processes[pid].state not in {"Z", "X"}}


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _listed(pids: Iterable[int]) -> str:
    return " ".join(map(str, sorted(pids)))


def main() -> None:
    """Run a command line; arguments: socket, seconds of grace, 1 if bound, path, command line."""
    descriptor, grace, bound, executable, *argv = sys.argv[1:]
    os.set_inheritable(int(descriptor), False)
    inspector = socket.socket(fileno=int(descriptor))
    Supervisor(inspector, float(grace), is_bound=bound == "1").run(executable, argv)


if __name__ == "__main__":
    main()
