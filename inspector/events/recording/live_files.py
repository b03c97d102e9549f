"""The recordings that this process is writing.

When a process closes a file, POSIX releases all of its locks on it, and other programs would take a
recording in progress for an abandoned one. So this process reads the recordings that it is writing
through SQLite only.
"""

from __future__ import annotations

from pathlib import Path

#: Device and inode of each file. Global, as the locks belong to the process.
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
    """Return whether the file exists and is the one with this key."""
    try:
        status = path.stat()
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == key


def is_written_here(path: Path) -> bool:
    return any(is_same_file(path, key) for key in tuple(_written))
