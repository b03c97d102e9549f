"""What a program awaits outside of itself: whether a file that it waits for has its other end here.

Data between two sockets of the same program are there as soon as they are sent, so time may jump
while nothing is ready. From other programs something may come at any time.
"""

from __future__ import annotations

import os
import platform
import socket
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType
    from typing import Any, Optional

#: What Linux calls waiting for a lock, and waiting for the file that is the first argument.
_LOCKING, _OF_FILE = {
    "x86_64": ({"202", "449"}, {"0", "19", "43", "45", "47", "288"}),
    "aarch64": ({"98", "449"}, {"63", "65", "202", "207", "212", "242"}),
}.get(platform.machine(), (frozenset(), frozenset()))
#: Connections of which both ends were seen here, by what the system calls their sockets.
_inside: set[str] = set()


def awaited_in_files(files: Iterable[int], own_files: tuple[int, ...] = ()) -> str:
    """Return what files wait for outside; empty if only the program itself can end it."""
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
        return ""  # It listens: nothing has been asked that would be answered.
    if found.family == getattr(socket, "AF_UNIX", None):
        # A child has what its parent had opened.
        is_inside = _peer_process(found) == os.getpid() and not _has_children()
    else:
        is_inside = found.getpeername() in _names_here()
    return "" if is_inside else f"socket {found.fileno()} to {found.getpeername()}"


def _link(file: int) -> str:
    try:
        return os.readlink(f"/dev/fd/{file}")
    except OSError:
        return ""


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
    except AttributeError:  # Not known here.
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


def system_call(native: Optional[int]) -> tuple[str, int]:
    """Return the number of the system call that a thread is in, or that it runs, and its file."""
    try:
        with open(f"/proc/self/task/{native}/syscall") as file:
            words = file.read().split()
        return words[0], int(words[1], 16) if len(words) > 1 else -1
    except (OSError, ValueError, IndexError):
        return "", -1


def awaited_by_call(frame: FrameType, call: str, file: int) -> str:
    """Return what a thread awaits outside that waits in a function of C, or in which call."""
    if call in _LOCKING:
        return ""
    if call in _OF_FILE:
        return awaited_in_file(file)
    seen = frame.f_locals
    if frame.f_code.co_name == "select" and "self" in seen and hasattr(seen["self"], "get_map"):
        return awaited_in_files(seen["self"].get_map())
    if frame.f_code.co_name == "accept" and isinstance(seen.get("self"), socket.socket):
        return ""
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
