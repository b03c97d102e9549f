"""Copying a recording that another program may be writing meanwhile."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path
from time import sleep, time_ns
from typing import Final
from urllib.parse import quote

from inspector.events.recording.live_files import is_written_here
from inspector.timebase import NS_PER_MS

#: What was committed last, and what takes back a change that was killed half done.
_BESIDE: Final = ("-wal", "-journal")
_WAL_HEAD_BYTES: Final = 32
_ATTEMPTS: Final = 5
#: File systems tell when a file was changed no finer than this.
_GRAIN_NS: Final = 20 * NS_PER_MS


def real_path(path: Path) -> Path:
    """Return where a file is: SQLite looks there for what lies beside it, not at a link."""
    return Path(os.path.realpath(path))


def beside(path: Path) -> list[Path]:
    """Return what lies beside a database and belongs to it, empty files left out."""
    names = [path.with_name(path.name + suffix) for suffix in _BESIDE]
    return [each for each in names if size(each) > 0]


def size(path: Path) -> int:
    """Return how many bytes a file has, 0 if there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def copy_database(path: Path, copy: Path) -> None:
    """Copy a database and what lies beside it, as of one instant, touching neither.

    While somebody writes it, pages move from what lies beside it to the file. A copy that
    was made meanwhile may be half of either, so it is made again; where that never ends,
    SQLite makes it, which shares the locks of whoever writes.

    Raises:
        OSError: It cannot be read or written.
        sqlite3.Error: It is being written, and SQLite cannot copy it either.
    """
    if is_written_here(path):
        _copy_by_sqlite(path, copy)
        return
    for _ in range(_ATTEMPTS):
        before, began_ns = _marks(path), time_ns()
        try:
            _copy_once(path, copy)
        except FileNotFoundError:
            if not path.exists():
                raise
            continue
        # What was changed a moment ago may be changed again, and look the same.
        if abs(began_ns - before[1]) < _GRAIN_NS:
            sleep(_GRAIN_NS / 1e9)
        elif _marks(path) == before:
            return
    _copy_by_sqlite(path, copy)


def _copy_file(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)


def _copy_once(path: Path, copy: Path) -> None:
    for suffix in _BESIDE:
        copy.with_name(copy.name + suffix).unlink(missing_ok=True)
    _copy_file(path, copy)
    for each in beside(path):
        _copy_file(each, copy.with_name(copy.name + each.name.removeprefix(path.name)))


def _marks(path: Path) -> tuple[int, int, bytes]:
    """Return what tells whether pages have moved: size, instant of change, head beside it.

    What is appended beside it does no harm: a commit that is there in part does not count.
    """
    status = path.stat()
    head = b""
    for each in beside(path):
        try:
            with each.open("rb") as file:
                head += file.read(_WAL_HEAD_BYTES)
        except FileNotFoundError:
            continue
    return status.st_size, status.st_mtime_ns, head


def _copy_by_sqlite(path: Path, copy: Path) -> None:
    for each in (copy, *beside(copy)):
        each.unlink(missing_ok=True)
    source = sqlite3.connect(f"file:{quote(os.fspath(path.absolute()))}?mode=ro", uri=True)
    target = sqlite3.connect(copy)
    try:
        source.backup(target)
    finally:
        target.close()
        source.close()
