"""Imports what many programs need, and becomes each of them in a copy of its own.

A script with two arguments: the name of its socket, and statements that import. It lasts as long
as anything is connected to the socket; ``client.py`` says what it is sent.
"""

from __future__ import annotations

import atexit
import gc
import marshal
import os
import runpy
import signal
import sys
import threading
from contextlib import suppress
from select import select
from socket import AF_UNIX, SO_PEERCRED, SOCK_SEQPACKET, SOL_SOCKET, recv_fds, socket
from types import ModuleType

#: For the first that connects.
_PATIENCE_S = 60
_LONGEST_JOB = 1 << 20


class Server:
    """Waits for jobs."""

    def __init__(self, door: socket) -> None:
        self._door = door
        self._users: set[socket] = set()
        #: Process and user, by a file that can be read when the process has ended.
        self._copies: dict[int, tuple[int, socket]] = {}

    def serve(self) -> tuple[bytes, list[int]] | None:
        """Return a job and its open files, in a copy; nothing, once nobody is connected."""
        patience_s: int | None = _PATIENCE_S
        while self._users or patience_s:
            files = [self._door.fileno(), *self._copies, *(each.fileno() for each in self._users)]
            ready = select(files, [], [], patience_s)[0]
            patience_s = None
            for ended in self._copies.keys() & ready:
                self._tell_end(ended)
            for user in [each for each in self._users if each.fileno() in ready]:
                if job := self._answer(user):
                    return job
            if self._door.fileno() in ready:
                self._admit()
        return None

    def _admit(self) -> None:
        user = self._door.accept()[0]
        credentials = user.getsockopt(SOL_SOCKET, SO_PEERCRED, 12)
        _pid, uid, _gid = memoryview(credentials).cast("i")
        if uid == os.getuid():
            self._users.add(user)

    def _answer(self, user: socket) -> tuple[bytes, list[int]] | None:
        job, files, _, _ = recv_fds(user, _LONGEST_JOB, 3)
        if not job:
            self._users.remove(user)
            user.close()
            # What it has started ends with it.
            for pid, whose in self._copies.values():
                if whose is user:
                    os.kill(pid, signal.SIGKILL)
        elif pid := os.fork():
            self._copies[os.pidfd_open(pid)] = pid, user
            for file in files:
                os.close(file)
            _tell(user, pid)
        else:
            for each in (self._door, *self._users):
                each.close()
            for ended in self._copies:
                os.close(ended)
            return job, files
        return None

    def _tell_end(self, ended: int) -> None:
        pid, user = self._copies.pop(ended)
        os.close(ended)
        _tell(user, os.waitpid(pid, 0)[1])


def _tell(user: socket, number: int) -> None:
    with suppress(OSError):  # It has gone.
        user.send(b"%d" % number)


def main(name: str, statements: str) -> None:
    """Serve; in a copy, be a program."""
    door = socket(AF_UNIX, SOCK_SEQPACKET)
    try:
        door.bind(f"\0{name}")
    except OSError:
        return  # Another was first.
    door.listen(100)
    exec(statements, {})  # noqa: S102 - of our own tests
    # No copy looks for garbage in what it shares, nor takes it apart at its end: what holds itself
    # and is no garbage stays. Both would copy most of its memory.
    kept: list[object] = [*sys.modules.values()]
    kept.append(kept)
    atexit.register(forget, set(sys.modules))
    gc.collect()
    gc.freeze()
    if job := Server(door).serve():
        become(*job)


def forget(modules: set[str]) -> None:
    for name in modules:
        sys.modules.pop(name, None)


def become(job: bytes, files: list[int]) -> None:
    """Be what Python is with the arguments of a job: ``-m`` or ``-c``, and what follows them."""
    (option, program, *arguments), environment, folder, numbers = marshal.loads(job)  # noqa: S302 - of our own user
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if number in numbers:
            os.dup2(files[numbers.index(number)], number)
        else:
            os.close(number)
            setattr(sys, name, None)
            setattr(sys, f"__{name}__", None)
    for file in files:
        os.close(file)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    # Python 3.13.0 does not do so itself, either.
    threading.current_thread()._set_native_id()  # type: ignore[attr-defined]
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    path = [each for each in environment.get("PYTHONPATH", "").split(os.pathsep) if each]
    sys.path[:1] = [folder if option == "-m" else "", *path]
    sys.argv[:] = [option, *arguments]
    if option == "-m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(program, "<string>", "exec"), vars(sys.modules["__main__"]))  # noqa: S102


if __name__ == "__main__":
    main(*sys.argv[1:])
