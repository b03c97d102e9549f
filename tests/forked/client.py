"""Asks a server for a copy of it that is a program.

As a script, it is Python for the options ``-m`` and ``-c``, in a tenth of the time that the
inspector takes to start: its first argument is the name of the server's socket. Its input and its
outputs, its folder and its environment are those of the program; it hands on the signals that end
programs, and ends as the program does.
"""

from __future__ import annotations

# Not socket and signal, which take as long as the rest.
import _signal  # type: ignore[import-not-found]
import _socket
import marshal
import os
import sys
from collections.abc import Mapping, Sequence

#: What comes after ``python``, the environment, and the present folder.
Job = tuple[Sequence[str], Mapping[str, str], str]


class Copy:
    """A program that runs, or whose server is about to start it.

    Args:
        name: Of the server's socket.
        job: What it is to be.
        files: Its open ones of 0, 1 and 2, by their numbers there.
        timeout_s: After so long without an answer, a ``TimeoutError`` is raised.
    """

    def __init__(
        self, name: str, job: Job, files: Mapping[int, int], timeout_s: float | None = None
    ) -> None:
        words, environment, folder = job
        self._line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        self._line.settimeout(timeout_s)
        self._line.connect(f"\0{name}")
        told = marshal.dumps((list(words), dict(environment), folder, list(files)))
        handed = b"".join(file.to_bytes(4, sys.byteorder) for file in files.values())
        rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, handed)] if files else []
        self._line.sendmsg([told], rights)

    def pid(self) -> int:
        """Wait until it runs; return the number of its process. To be called once, and first."""
        return int(self._line.recv(20))

    def status(self) -> int:
        """Wait for its end; return what :func:`os.waitpid` would."""
        return int(self._line.recv(20))

    def close(self) -> None:
        """Kill it if it still runs."""
        self._line.close()


def main(name: str, *words: str) -> None:
    """Be a program."""
    files = {number: number for number in range(3) if _is_open(number)}
    copy = Copy(name, (words, os.environ, os.getcwd()), files)  # noqa: PTH109 - few imports
    pid = copy.pid()
    for each in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
        _signal.signal(each, lambda number, _frame: os.kill(pid, number))
    status = copy.status()
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != _signal.SIGKILL:
            _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main(*sys.argv[1:])
