"""Awaited files: whether one that a program waits for has its other end in the program.

Data between two sockets of the same program are there as soon as they are sent, so time may jump
while nothing is ready. From other programs something may come at any time.
"""

from __future__ import annotations

import os
import platform
import socket
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType
    from typing import Any, Optional

#: Numbers of Linux's system calls that wait for a lock, for the file in the first argument, for any
#: file that was added to that one (epoll), and for time to pass.
_LOCKING, _OF_FILE, _POLLING, _SLEEPING = {
    "x86_64": (
        {"202", "449"},
        {"0", "19", "43", "45", "47", "288"},
        {"232", "281", "441"},
        {"35", "230"},
    ),
    "aarch64": (
        {"98", "449"},
        {"63", "65", "202", "207", "212", "242"},
        {"22", "441"},
        {"101", "115"},
    ),
}.get(platform.machine(), (frozenset(), frozenset(), frozenset(), frozenset()))
#: Connections with both ends in this process, by the system's names of their sockets.
_inside: set[str] = set()


def awaited_in_files(files: Iterable[int], own_files: tuple[int, ...] = ()) -> str:
    """Return what a wait for files awaits outside; empty if only the program itself can end it."""
    for file in list(files):
        if file not in own_files:
            outside = awaited_in_file(file)
            if outside:
                return outside
    return ""


def awaited_in_file(file: int) -> str:
    """Return what is at the other end of a file, empty if that is the program itself."""
    link = _link(file)
    if link and link in _inside:
        return ""
    if link == "anon_inode:[eventfd]" or (link.startswith("pipe:") and _has_both_ends(link)):
        return ""
    try:
        if not stat.S_ISSOCK(os.fstat(file).st_mode):
            return f"file {file} ({link or 'not a socket'})"
        found = socket.socket(fileno=file)
    except (OSError, ValueError):
        return ""  # It has been closed.
    family = found.family
    try:
        outside = _peer(found)
    except OSError:
        outside = f"socket {file}"  # Not connected, or no longer.
    finally:
        found.detach()
    if link and not outside and family != getattr(socket, "AF_UNIX", None):
        _inside.add(link)
    return outside


def _peer(found: socket.socket) -> str:
    """Return what is at the other end of a socket, empty if that is the program itself."""
    if found.getsockopt(socket.SOL_SOCKET, getattr(socket, "SO_ACCEPTCONN", 30)):
        return ""  # It listens: no request was sent that would be answered.
    if found.family == getattr(socket, "AF_UNIX", None):
        # A child process has the sockets that its parent had opened.
        is_inside = _peer_process(found) == os.getpid() and not _has_children()
    else:
        is_inside = found.getpeername() in _names_here()
    return "" if is_inside else f"socket {found.fileno()} to {found.getpeername()}"


def _link(file: int) -> str:
    try:
        return os.readlink(f"/dev/fd/{file}")
    except OSError:
        return ""


def _has_both_ends(link: str) -> bool:
    """Return whether both ends of a pipe are open here, and nowhere else."""
    return sum(_link(int(each)) == link for each in os.listdir("/dev/fd")) > 1 and (
        not _has_children()
    )


def _peer_process(found: socket.socket) -> int:
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return os.getpid()
    return int.from_bytes(found.getsockopt(socket.SOL_SOCKET, option, 4), "little")


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    except AttributeError:  # The system does not tell.
        return True
    return True


def _names_here() -> set[Any]:
    """Return the names of all sockets of this process."""
    names: set[Any] = set()
    for name in os.listdir("/dev/fd"):
        try:
            if not stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                continue
            found = socket.socket(fileno=int(name))
        except (OSError, ValueError):
            continue
        try:
            names.add(found.getsockname())
        except OSError:
            pass
        finally:
            found.detach()
    return names


def system_call(native: Optional[int]) -> tuple[str, int, bool]:
    """Return the system call that a thread is in: its number, its file, and whether it is limited.

    The number is ``running`` if the thread runs, and empty if that is not known. A wait for a lock
    without a time limit does not end by itself.
    """
    try:
        with open(f"/proc/self/task/{native}/syscall") as file:
            words = file.read().split()
        number = words[0]
        is_limited = number not in _LOCKING or int(words[4], 16) != 0
        return number, int(words[1], 16) if len(words) > 1 else -1, is_limited
    except (OSError, ValueError, IndexError):
        return "", -1, False


def has_other_threads() -> bool:
    """Return whether there are threads that Python did not start, which may release any lock."""
    try:
        return len(os.listdir("/proc/self/task")) > len(sys._current_frames())
    except OSError:
        return True


def processor_ns(thread: int) -> int:
    """Return the processor time of a thread, 0 if that is not known."""
    try:
        from time import clock_gettime_ns, pthread_getcpuclockid  # noqa: PLC0415

        return clock_gettime_ns(pthread_getcpuclockid(thread))
    except (ImportError, OSError):
        return 0


def is_timed(call: str, *, is_limited: bool) -> bool:
    """Return whether a call in which a thread waits ends by the machine's time."""
    return call in _SLEEPING or call in _POLLING or (call in _LOCKING and is_limited)


def awaited_by_call(frame: FrameType, call: str, file: int, *, is_limited: bool) -> str:
    """Return what a thread in a function of C awaits outside, or where it waits if unknown."""
    if call in _LOCKING and not is_limited:
        return ""
    if call in _OF_FILE:
        return awaited_in_file(file)
    seen = frame.f_locals
    if frame.f_code.co_name == "select" and "self" in seen and hasattr(seen["self"], "get_map"):
        return awaited_in_files(seen["self"].get_map())
    if frame.f_code.co_name == "accept" and isinstance(seen.get("self"), socket.socket):
        return ""
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"


def awaited_by_loop(frame: FrameType, call: str, file: int) -> str:
    """Return what a loop in C awaits outside, which can be woken."""
    if call not in _POLLING:
        return awaited_by_call(frame, call, file, is_limited=False)
    try:
        with open(f"/proc/self/fdinfo/{file}") as described:
            lines = [line.split() for line in described if line.startswith("tfd:")]
    except OSError:
        return ""
    return awaited_in_files(int(words[1]) for words in lines)
