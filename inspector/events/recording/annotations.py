"""Notes, bookmarks and named ranges in the file of a recording."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec import structs

from inspector.errors import RecordingError, RecordingWriteError
from inspector.events.annotations import (
    LONGEST_NAME,
    LONGEST_TEXT,
    Annotation,
    AnnotationChange,
    AnnotationError,
)
from inspector.events.recording.layout import APPLICATION_ID, VERSIONS_ALIKE, check_tables
from inspector.events.recording.live_files import is_written_here
from inspector.events.recording.reading.private_copy import real_path
from inspector.timebase import MAX_NS

_T = TypeVar("_T")

__all__ = [
    "Annotation",
    "annotate",
    "annotate_all",
    "read_annotations",
    "remove",
    "write_annotations",
]

_PUT: Final = (
    "INSERT OR REPLACE INTO annotations (id, kind, at_ns, end_ns, name, text, created) "
    "VALUES (?,?,?,?,?,?,?)"
)
#: Most annotations that are read; more are not made by hand.
_MOST_READ: Final = 10_000
_ANYBODY_WRITES: Final = 0o222
_PAGE_AT: Final = 16
_PAGES_AT: Final = 28
_LARGEST_PAGE: Final = 65_536
#: How long to wait for another program that is writing, in seconds.
_PATIENCE_S: Final = 2.0


def annotate(path: Path, annotation: Annotation) -> int:
    def write(connection: sqlite3.Connection) -> int:
        if annotation.id and not _count(connection, annotation.id):
            raise RecordingWriteError(f"Annotation {annotation.id} no longer exists.")
        return _put(connection, annotation)

    return _changed(path, write)


def remove(path: Path, number: int) -> bool:
    """Delete an annotation from a recording; return whether it existed."""
    return bool(_changed(path, lambda connection: _delete(connection, number)))


def annotate_all(path: Path, changes: Iterable[AnnotationChange]) -> list[int]:
    """Add (number 0), change and delete annotations, all or none; returns their numbers."""
    return _changed(path, lambda connection: write_annotations(connection, changes))


def write_annotations(
    connection: sqlite3.Connection, changes: Iterable[AnnotationChange]
) -> list[int]:
    """Add (number 0), change and delete annotations; returns their numbers."""
    numbers = []
    for change in changes:
        if isinstance(change, Annotation):
            numbers.append(_put(connection, change))
        else:
            _delete(connection, change)
            numbers.append(change)
    return numbers


def _put(connection: sqlite3.Connection, annotation: Annotation) -> int:
    created = annotation.created or datetime.now(UTC).isoformat(timespec="seconds")
    each = structs.replace(annotation, created=created)
    values = (each.id or None, each.kind, each.at_ns, each.end_ns, each.name, each.text, created)
    cursor = connection.execute(_PUT, values)
    return annotation.id or int(cursor.lastrowid or 0)


def _delete(connection: sqlite3.Connection, number: int) -> int:
    return connection.execute("DELETE FROM annotations WHERE id=?", (number,)).rowcount


def _count(connection: sqlite3.Connection, number: int) -> int:
    found = connection.execute("SELECT count(*) FROM annotations WHERE id=?", (number,))
    return int(found.fetchone()[0])


def read_annotations(rows: Callable[[str], Iterable[tuple[Any, ...]]]) -> list[Annotation]:
    # SQLite cuts the texts, as a damaged one may not fit into memory.
    cut = "CASE typeof({0}) WHEN 'text' THEN substr({0}, 1, {1}) END"
    name = cut.format("name", LONGEST_NAME)
    text = cut.format("text", LONGEST_TEXT)
    columns = f"kind, at_ns, end_ns, {name}, {text}, id, created"
    query = f"SELECT {columns} FROM annotations ORDER BY at_ns, id"  # noqa: S608 - our own names
    found: list[Annotation] = []
    for kind, at_ns, end_ns, *rest in rows(query):
        numbers = (at_ns, at_ns if end_ns is None else end_ns, rest[2])
        words = (rest[0], rest[1], rest[3])
        if not all(type(each) is int and abs(each) < MAX_NS for each in numbers):
            continue
        if not all(type(each) is str for each in words):
            continue
        if len(found) == _MOST_READ:
            break
        with suppress(AnnotationError):
            found.append(Annotation(kind, at_ns, end_ns, *rest))
    return found


def _changed(path: Path, write: Callable[[sqlite3.Connection], _T]) -> _T:
    asked, path = path, real_path(path)
    _check_writable(asked, path)
    try:
        uri = f"{path.as_uri()}?mode=rw"
        connection = sqlite3.connect(uri, uri=True, timeout=_PATIENCE_S)
        with closing(connection):
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if application != APPLICATION_ID:
                raise RecordingError(f"{asked} is not a recording that can be annotated.")
            if version not in VERSIONS_ALIKE:
                raise RecordingError(
                    f"{asked} is not a recording that can be annotated: it was written by another "
                    "version of the inspector."
                )
            check_tables(connection, asked)
            # This fails while another program records to the file, which numbers its own additions.
            # It also merges what a crash left beside the file.
            connection.execute("PRAGMA journal_mode = DELETE")
            with connection:
                return write(connection)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise RecordingWriteError(f"{asked} cannot be annotated: {_reason(error)}.") from error


def _check_writable(asked: Path, path: Path) -> None:
    """Check that a file exists, is writable and complete."""
    if not path.is_file():
        raise RecordingError(f"There is no file {asked}.")
    if is_written_here(path):
        raise RecordingWriteError(
            f"{asked} is being recorded: add annotations in that session instead."
        )
    if not path.stat().st_mode & _ANYBODY_WRITES:
        raise RecordingWriteError(
            f"{asked} cannot be annotated: it is read-only. Make it writable, or annotate a copy."
        )
    try:
        with path.open("rb") as file:
            head = file.read(_PAGES_AT + 4)
    except OSError as error:
        raise RecordingError(f"{asked} cannot be read: {error.strerror or error}.") from None
    page = int.from_bytes(head[_PAGE_AT : _PAGE_AT + 2], "big")
    pages = int.from_bytes(head[_PAGES_AT : _PAGES_AT + 4], "big")
    wal = path.with_name(f"{path.name}-wal")
    if wal.is_file() and wal.stat().st_size:
        # With a WAL beside it, the file itself does not tell its expected size.
        return
    is_sqlite = head.startswith(b"SQLite format 3")
    if is_sqlite and path.stat().st_size < pages * (_LARGEST_PAGE if page == 1 else page):
        raise RecordingWriteError(
            f"{asked} cannot be annotated: it is truncated, and writing could damage the rest."
        )


def _reason(error: Exception) -> str:
    text = str(error)
    if "locked" in text:
        return (
            "another program is writing it. Annotate it there, or wait until that program "
            "has finished"
        )
    if "readonly" in text or "unable to open" in text:
        return "it is read-only here. Make it and its folder writable, or annotate a copy"
    if "full" in text:
        return "the disk is full"
    return text
