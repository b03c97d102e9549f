"""Which recordings this process is writing itself.

Whoever opens and closes a file lets go of all the locks that its own process holds on it
(POSIX says so), and other programs would take a recording that is being written for one
that was left behind. So this process reads what it writes through SQLite only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: Device and number of each file; locks belong to the process, and so does this.
_written: set[tuple[int, int]] = set()


def begin_writing(path: Path) -> tuple[int, int]:
    """Note that a file is being written; returns what to end that with."""
    status = path.stat()
    key = (status.st_dev, status.st_ino)
    _written.add(key)
    return key


def end_writing(key: tuple[int, int]) -> None:
    """Note that nobody here writes a file any more."""
    _written.discard(key)


def is_same_file(path: Path, key: tuple[int, int]) -> bool:
    """Return whether there is a file, and :func:`begin_writing` has returned this for it."""
    try:
        status = path.stat()
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == key


def is_written_here(path: Path) -> bool:
    """Return whether this process is writing the file that is there now."""
    return any(is_same_file(path, key) for key in tuple(_written))
