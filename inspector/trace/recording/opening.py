"""Opening the file of a recording without changing it, whatever has happened to it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from inspector.trace.recording.layout import (
    APPLICATION_ID,
    SCHEMA_VERSION,
    VERSIONS_ALIKE,
    RecordingError,
)
from inspector.trace.recording.live_files import is_written_here
from inspector.trace.recording.private_copy import beside, copy_database, size
from inspector.trace.recording.upgrades import upgraded
from inspector.vocabulary import VOCABULARY_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAGIC: Final = b"SQLite format 3\0"
_HEAD_BYTES: Final = 100
_ID_AT: Final = 68
_VERSION_AT: Final = 60

#: What reading a damaged file may raise.
DAMAGE: Final = (
    sqlite3.Error,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    OverflowError,
    AttributeError,
)


class OpenFile:
    """The tables of a recording, read only; a private copy where that is needed.

    Attributes:
        path: The file that was asked for.
        notes: What is missing, as sentences.
        meta: What it says of itself.
    """

    def __init__(self, path: Path) -> None:
        """Open it.

        Raises:
            RecordingError: It is not there, cannot be read, is no recording, was written
                by a newer version, or is damaged beyond reading.
        """
        self.path = path
        self.notes: list[str] = []
        self._folder: Path | None = None
        self._connection: sqlite3.Connection
        version = _checked_version(path)
        try:
            self._connection = self._connected(version)
            self.meta = self._checked_meta()
        except BaseException:
            self.close()
            raise

    def _connected(self, version: int) -> sqlite3.Connection:
        path = self.path
        has_wal = size(path.with_name(f"{path.name}-wal")) > 0
        is_copy = version not in VERSIONS_ALIKE or bool(beside(path)) or is_written_here(path)
        if is_copy:
            path = self._private_copy()
            version = self._version_in_copy(path, version)
        if version not in VERSIONS_ALIKE:
            path = upgraded(path, version, self.path)
        connection = _connect(path, is_copy=is_copy)
        weakref.finalize(self, connection.close)
        if not has_wal and not is_written_here(self.path):
            self._note_how_it_ended()
        return connection

    def _private_copy(self) -> Path:
        """Copy the file and what lies beside it, so that neither is touched."""
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="timeline-inspector-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
            copy = self._folder / "copy.tlrec"
            copy_database(self.path, copy)
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            message = f"{self.path} cannot be opened: its copy could not be made ({reason})."
            raise RecordingError(message) from None
        return copy

    def _version_in_copy(self, copy: Path, version: int) -> int:
        """Return the version of the tables, which only what lay beside the file may know.

        Raises:
            RecordingError: It is no recording, or one of a newer version.
        """
        connection = _connect(copy, is_copy=True)
        try:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (found,) = connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.Error:
            # Its tables will show what can be read.
            return version
        finally:
            connection.close()
        if application != APPLICATION_ID:
            raise RecordingError(_why_none(self.path))
        return _supported(self.path, int(found))

    def _note_how_it_ended(self) -> None:
        there = size(self.path)
        with self.path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
        page = int.from_bytes(head[16:18], "big")
        pages = int.from_bytes(head[28:32], "big")
        wanted = pages * (65_536 if page == 1 else page)
        if there < wanted:
            self.notes.append(
                f"The file was cut off: {there:,} of {wanted:,} bytes are there. "
                "What follows is what could be read."
            )

    def _checked_meta(self) -> dict[str, Any]:
        meta = dict(self.rows("SELECT name, value FROM meta"))
        schema, vocabulary = meta.get("schema_version"), meta.get("vocabulary_version")
        if not isinstance(schema, int) or not isinstance(vocabulary, int):
            if is_written_here(self.path):
                raise RecordingError(
                    f"{self.path} has only just begun: nothing is in it yet. Open it in a moment."
                )
            if not meta and list(self.rows("SELECT 1 FROM sqlite_master WHERE name = 'meta'")):
                raise RecordingError(
                    f"{self.path} holds nothing: its program ended before anything was committed, "
                    f"or it was copied without {self.path.name}-wal beside it."
                )
            raise RecordingError(
                f"{self.path} is damaged: nothing in it can be read. Copy it again, in full."
            )
        if schema > SCHEMA_VERSION or vocabulary > VOCABULARY_VERSION:
            raise RecordingError(_newer(self.path, f"{schema}.{vocabulary}"))
        if "ended_at" not in meta:
            self.notes.append(
                "The recording was not ended: its program crashed or is still running. "
                "What was committed is there; up to a second is missing."
            )
        if lost := meta.get("lost_events"):
            self.notes.append(
                f"{lost:,} events are missing: they came faster than they could be written."
            )
        return meta

    def rows(self, text: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Go through the rows that can be read; where no more can, that is noted."""
        try:
            yield from self._connection.execute(text, values)
        except DAMAGE as error:
            self.note_damage(text.rsplit(" FROM ", maxsplit=1)[-1].split(maxsplit=1)[0], error)

    def value(self, text: str, *values: object) -> Any:  # noqa: ANN401 - whatever is there
        """Return the one value of the one row.

        Raises:
            ValueError: There is none, or it cannot be read.
        """
        try:
            row = self._connection.execute(text, values).fetchone()
        except DAMAGE as error:
            raise ValueError(str(error)) from error
        if row is None:
            message = "it is not there"
            raise ValueError(message)
        return row[0] if len(row) == 1 else row

    def note_damage(self, what: str, error: object) -> None:
        """Note that a part could not be read, once for each part."""
        start = f"Not all of “{what}” can be read"
        if not any(note.startswith(start) for note in self.notes):
            self.notes.append(f"{start}: {error}.")

    def close(self) -> None:
        """Let go of the file and of its copy."""
        connection = getattr(self, "_connection", None)
        if connection is not None:
            connection.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _checked_version(path: Path) -> int:
    """Return the version of the tables in a file.

    Raises:
        RecordingError: It cannot be read, or is no recording.
    """
    if is_written_here(path):
        return SCHEMA_VERSION
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except IsADirectoryError:
        raise RecordingError(f"{path} is a folder. Name the recording in it.") from None
    except FileNotFoundError:
        raise RecordingError(f"There is no file {path}.") from None
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {error.strerror or error}.") from None
    if not head.startswith(_MAGIC[: len(head)]):
        raise RecordingError(f"{path} is no recording of the inspector. Choose another file.")
    if int.from_bytes(head[_ID_AT : _ID_AT + 4], "big") == APPLICATION_ID:
        return _supported(path, int.from_bytes(head[_VERSION_AT : _VERSION_AT + 4], "big"))
    if size(path.with_name(f"{path.name}-wal")) > 0:
        # All of it may still be in there.
        return SCHEMA_VERSION
    if not head:
        raise RecordingError(f"{path} is empty: nothing was recorded before it ended.")
    if len(head) < _HEAD_BYTES:
        cut = f"{path} was cut off after {len(head)} bytes: nothing is left of it."
        raise RecordingError(cut)
    raise RecordingError(_why_none(path))


def _supported(path: Path, version: int) -> int:
    """Return a version that can be read.

    Raises:
        RecordingError: It is a newer one.
    """
    if version > SCHEMA_VERSION:
        raise RecordingError(_newer(path, str(version)))
    return version


def _why_none(path: Path) -> str:
    return f"{path} is an SQLite file, but no recording of the inspector. Choose another file."


def _newer(path: Path, version: str) -> str:
    return (
        f"{path} was written by a newer inspector (version {version} of the file). Update this one."
    )


def _connect(path: Path, *, is_copy: bool) -> sqlite3.Connection:
    # A file that says of itself that nobody writes it is never written to either.
    options = "mode=rw" if is_copy else "mode=ro&immutable=1"
    uri = f"file:{quote(os.fspath(path.absolute()))}?{options}"
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
    connection.text_factory = lambda raw: raw.decode("utf-8", errors="replace")
    # So that a file that was cut off is read as far as it goes.
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection
