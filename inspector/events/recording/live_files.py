"""The recordings that this process is writing.

Closing a file releases all locks that the same process holds on it (POSIX), and other programs
would then take a recording in progress for an abandoned one. So this process reads its own
recordings through SQLite only.
"""

from __future__ import annotations

from pathlib import Path

#: Device and inode of each file; locks belong to the process, and so does this.
_written: set[tuple[int, int]] = set()


def begin_writing(path: Path) -> tuple[int, int]:
    """Register a file as being written; returns its key."""
    status = path.stat()
    key = (status.st_dev, status.st_ino)
    _written.add(key)
    return key


def end_writing(key: tuple[int, int]) -> None:
    _written.discard(key)


def is_same_file(path: Path, key: tuple[int, int]) -> bool:
    """Return whether there is a file, and it is the one with this key."""
    try:
        status = path.stat()
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == key


def is_written_here(path: Path) -> bool:
    return any(is_same_file(path, key) for key in tuple(_written))
