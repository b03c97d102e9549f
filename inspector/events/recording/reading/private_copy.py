"""Copying a recording that another program may be writing."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from time import sleep, time_ns
from typing import Final
from urllib.parse import quote

from inspector.events.recording.live_files import is_written_here
from inspector.timebase import NS_PER_MS

#: The files beside a database: the latest commits, and the undo of an interrupted change.
_BESIDE: Final = ("-wal", "-journal")
_WAL_HEAD_BYTES: Final = 32
_ATTEMPTS: Final = 5
#: Coarsest resolution of modification times.
_GRAIN_NS: Final = 20 * NS_PER_MS


def real_path(path: Path) -> Path:
    """Resolve links: SQLite looks for the files beside the database next to the real file."""
    return Path(os.path.realpath(path))


def uri_of(path: Path, options: str) -> str:
    """Return a database's URI with options such as ``mode=ro``; any bytes may be in its name."""
    return f"file:{quote(os.fsencode(path.absolute()))}?{options}"


def beside(path: Path) -> list[Path]:
    """Return the non-empty files beside a database that belong to it."""
    names = [path.with_name(path.name + suffix) for suffix in _BESIDE]
    return [each for each in names if size(each) > 0]


def size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def copy_database(path: Path, copy: Path) -> None:
    """Copy a database and the files beside it as of one instant, without touching them.

    While a program writes, pages move from the WAL to the file, and a copy may contain parts of
    both. Then it is made again; after some attempts SQLite makes it, sharing the writer's locks.

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
        # A file that was changed a moment ago may change again within the same timestamp.
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
    """Return what shows whether pages have moved: size, time of change, head of the WAL.

    Appending to the WAL is harmless: an incomplete commit does not count.
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
    with (
        closing(sqlite3.connect(uri_of(path, "mode=ro"), uri=True)) as source,
        closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)
