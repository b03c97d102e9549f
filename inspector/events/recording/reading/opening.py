"""Opening the file of a recording without changing it, whatever its condition."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import numpy as np

from inspector.display_text import counted, one_line
from inspector.errors import RecordingError, UnreadableFileError
from inspector.events.annotations import Annotation
from inspector.events.blocks.packed_columns import EVENT_COLUMNS, events_of
from inspector.events.recording.annotations import read_annotations
from inspector.events.recording.layout import (
    APPLICATION_ID,
    SCHEMA_VERSION,
    VERSIONS_ALIKE,
    check_tables,
    text_of,
)
from inspector.events.recording.live_files import is_written_here
from inspector.events.recording.reading.private_copy import (
    beside,
    copy_database,
    real_path,
    size,
    uri_of,
)
from inspector.events.recording.writing.file import RecordingFile, RecordingInfo
from inspector.events.timeline import Timeline
from inspector.foreign.files import SQLITE_MAGIC, open_binary
from inspector.timebase import format_instant
from inspector.vocabulary import VOCABULARY_VERSION

_HEAD_BYTES: Final = 100
_ID_AT: Final = 68
_VERSION_AT: Final = 60

#: The byte of the head that says whether changes go to a WAL first.
_MODE_AT: Final = 18
_WAL_MODE: Final = 2

#: Limit of a query in steps of SQLite's virtual machine, higher for large files.
_INSTRUCTIONS_A_STEP: Final = 100_000
_LEAST_STEPS: Final = 200
_BYTES_A_STEP: Final = 2_000
_LONGEST_BYTES: Final = 128 << 20
_LONGEST_REASON: Final = 200

#: Names of the contents of tables.
_WHAT_IS_IN: Final = {
    "chunks": "events",
    "frame_chunks": "frames",
    "loop_frame_chunks": "frames of other loops",
    "keyframes": "states",
    "strings": "texts",
    "annotations": "bookmarks and notes",
    "pictures": "pictures",
    "meta": "description",
}

#: Exceptions while reading a damaged file.
DAMAGE: Final = (
    sqlite3.Error,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    OverflowError,
    AttributeError,
    RecursionError,
    MemoryError,
)


class OpenFile:
    """The tables of a recording, read-only; from a private copy where needed."""

    def __init__(self, path: Path) -> None:
        self.path = path  # The requested file
        self._real = real_path(path)
        self._damage: dict[str, str] = {}
        self._notes: list[str] = []
        self._folder: Path | None = None
        self._has_wal = self._is_wal_missing = False
        # Its size in bytes, with the files beside it
        self.size = size(self._real) + sum(map(size, beside(self._real)))
        self._patience = _Patience(self.size)
        self._connection: sqlite3.Connection
        version = _checked_version(path, self._real)
        try:
            self._connection = self._connected(version)
            self.meta = self._checked_meta()
        except BaseException:
            self.close()
            raise

    @property
    def notes(self) -> tuple[str, ...]:
        """What is damaged or missing, as sentences; damage comes first."""
        return (*self._damage.values(), *self._notes)

    def _connected(self, version: int) -> sqlite3.Connection:
        path = self._real
        self._has_wal = size(path.with_name(f"{path.name}-wal")) > 0
        is_copy = version not in VERSIONS_ALIKE or bool(beside(path)) or is_written_here(path)
        if is_copy:
            path = self._private_copy()
            version = self._version_in_copy(path, version)
        if version not in VERSIONS_ALIKE:
            path = upgraded(path, version, self.path)
        connection = _connect(path, is_copy=is_copy)
        weakref.finalize(self, connection.close)
        connection.set_progress_handler(self._patience.is_over, _INSTRUCTIONS_A_STEP)
        with suppress(sqlite3.Error):
            # Damage is reported table by table.
            check_tables(connection, self.path)
        if not self._has_wal and not is_written_here(self._real):
            self._note_how_it_ended()
        return connection

    def _private_copy(self) -> Path:
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="timeline-inspector-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
            copy = self._folder / "copy.tlrec"
            copy_database(self._real, copy)
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            message = f"{self.path} cannot be opened: its copy could not be made ({reason})."
            raise RecordingError(message) from None
        return copy

    def _version_in_copy(self, copy: Path, version: int) -> int:
        """Return the version of the tables, which may be only in a file beside the recording."""
        connection = _connect(copy, is_copy=True)
        try:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (found,) = connection.execute("PRAGMA user_version").fetchone()
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error:
            # Reading the tables will show how much of the file is readable.
            return version
        finally:
            connection.close()
        if application != APPLICATION_ID:
            # SQLite has rolled back what the writer had begun.
            raise RecordingError(_why_none(self.path) if tables else _why_empty(self.path))
        return _supported(self.path, int(found))

    def _note_how_it_ended(self) -> None:
        there = size(self._real)
        with self._real.open("rb") as file:
            head = file.read(_HEAD_BYTES)
        self._is_wal_missing = head[_MODE_AT] == _WAL_MODE
        page = int.from_bytes(head[16:18], "big")
        pages = int.from_bytes(head[28:32], "big")
        wanted = pages * (65_536 if page == 1 else page)
        if there < wanted:
            self._notes.append(
                f"The file is truncated: {there:,} of {wanted:,} bytes remain. What could be read "
                "is shown."
            )

    def _checked_meta(self) -> dict[str, Any]:
        rows = self.rows("SELECT name, value FROM meta")
        meta = {name: value for name, value in rows if isinstance(name, str)}
        schema, vocabulary = meta.get("schema_version"), meta.get("vocabulary_version")
        if not isinstance(schema, int) or not isinstance(vocabulary, int):
            if is_written_here(self._real):
                raise RecordingError(
                    f"{self.path} has only just started and is still empty. Open it in a moment."
                )
            tables = {name for (name,) in self.rows("SELECT name FROM sqlite_master")}
            if not meta and (not tables or "meta" in tables):
                raise RecordingError(
                    f"{self.path} is empty: its program ended before anything was committed, or it "
                    f"was copied without {self.path.name}-wal beside it."
                )
            raise RecordingError(
                f"{self.path} is damaged: nothing in it can be read. Copy it again, in full."
            )
        if schema > SCHEMA_VERSION or vocabulary > VOCABULARY_VERSION:
            raise RecordingError(_newer(self.path, f"{schema}.{vocabulary}"))
        if reason := meta.get("ended_because"):
            self._notes.append(
                f"The recording ended early: {one_line(str(reason))[:_LONGEST_REASON]}. All that "
                "was committed before is there."
            )
        elif "ended_at" not in meta:
            missing = "Up to a second is missing at the end."
            if self._is_wal_missing:
                missing = (
                    f"{self._real.name}-wal is not beside it, and more may be in it. "
                    "Copy both into one folder."
                )
            self._notes.append(
                f"The recording was not closed: its program crashed or is still running. {missing}"
            )
        lost = meta.get("lost_events")
        if isinstance(lost, int) and lost > 0:
            self._notes.append(
                f"{counted(lost, 'event is missing: it', 'events are missing: they')} came faster "
                "than could be written."
            )
        return meta

    def rows(self, text: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows that can be read; the end of a damaged table is noted."""
        table = text.rpartition(" FROM ")[2].partition(" ")[0]
        try:
            yield from self._execute(text, values)
        except DAMAGE as error:
            self.note_damage(table, error)

    def value(self, text: str, *values: object) -> Any:  # noqa: ANN401 - whatever is there
        """Return the only value of a row, or its values; a ``ValueError`` if there is none."""
        try:
            row = self._execute(text, values).fetchone()
        except DAMAGE as error:
            raise ValueError(str(error)) from error
        if row is None:
            raise ValueError("it does not exist")
        return row[0] if len(row) == 1 else row

    def _execute(self, text: str, values: Sequence[object]) -> sqlite3.Cursor:
        self._patience.begin()
        return self._connection.execute(text, values)

    def note(self, sentence: str) -> None:
        self._notes.append(sentence)

    def note_damage(self, table: str, error: object, at_ns: int | None = None) -> None:
        """Note that a table could not be read in full, once per table; events come first."""
        if table in self._damage:
            return
        where = "" if at_ns is None else f" from {format_instant(at_ns)} on"
        what = _WHAT_IS_IN.get(table, f"“{table}”")
        note = f"The file is damaged{where}: not all of its {what} can be read ({_short(error)})."
        if table == "chunks":
            self._damage = {table: note, **self._damage}
        else:
            self._damage[table] = note

    def is_damaged(self, *tables: str) -> bool:
        """Return whether something in these tables, or anywhere, could not be read."""
        return not self._damage.keys().isdisjoint(tables) if tables else bool(self._damage)

    def close(self) -> None:
        connection = getattr(self, "_connection", None)
        if connection is not None:
            connection.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def annotations_of(path: Path) -> list[Annotation]:
    """Return the annotations in a recording, earliest first."""
    with closing(OpenFile(path)) as file:
        return read_annotations(file.rows)


class _Patience:
    """Limits the steps of a query by the size of the file, as damage may cause endless loops."""

    def __init__(self, file_bytes: int) -> None:
        self._most = self._left = _LEAST_STEPS + file_bytes // _BYTES_A_STEP

    def begin(self) -> None:
        self._left = self._most

    def is_over(self) -> bool:
        """Count a step; return whether to abort the query."""
        self._left -= 1
        return self._left < 0


def _short(error: object) -> str:
    text = one_line(str(error))
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]} …"


def _checked_version(path: Path, real: Path) -> int:
    if is_written_here(real):
        return SCHEMA_VERSION
    try:
        with open_binary(path) as file:
            head = file.read(_HEAD_BYTES)
    except UnreadableFileError as error:
        raise RecordingError(str(error)) from None
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {error.strerror or error}.") from None
    if not head.startswith(SQLITE_MAGIC[: len(head)]):
        raise RecordingError(f"{path} is not a recording of the inspector. Choose another file.")
    if int.from_bytes(head[_ID_AT : _ID_AT + 4], "big") == APPLICATION_ID:
        return _supported(path, int.from_bytes(head[_VERSION_AT : _VERSION_AT + 4], "big"))
    if beside(real):
        # All content may still be in the WAL, or be rolled back from the journal.
        return SCHEMA_VERSION
    if not head:
        raise RecordingError(_why_empty(path))
    if len(head) < _HEAD_BYTES:
        cut = f"{path} is truncated to {counted(len(head), 'byte')}: nothing in it can be read."
        raise RecordingError(cut)
    raise RecordingError(_why_none(path))


def _supported(path: Path, version: int) -> int:
    if version > SCHEMA_VERSION:
        raise RecordingError(_newer(path, str(version)))
    return version


def _why_none(path: Path) -> str:
    return f"{path} is an SQLite file, but not a recording of the inspector. Choose another file."


def _why_empty(path: Path) -> str:
    return f"{path} is empty: nothing was recorded before it ended."


def _newer(path: Path, version: str) -> str:
    return (
        f"{path} was written by a newer inspector (version {version} of the file). Update this "
        "inspector."
    )


def _connect(path: Path, *, is_copy: bool) -> sqlite3.Connection:
    # SQLite never writes to a file in immutable mode.
    options = "mode=rw" if is_copy else "mode=ro&immutable=1"
    connection = sqlite3.connect(uri_of(path, options), uri=True, check_same_thread=False)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_BYTES)
    connection.text_factory = text_of
    # With this, SQLite reads a truncated file as far as possible.
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def upgraded(path: Path, version: int, original: Path) -> Path:
    """Return the file of an upgraded recording, beside a private copy of the original.

    Version 0 held only events: ``chunks (first_cursor, count, first_ns, last_ns, data)``, five
    int64 per event, one event after another, and ``strings`` and ``meta``. Version 1 can be read
    as it is.
    """
    step = _UPGRADES.get(version)
    if step is None:
        raise RecordingError(f"{original} has an unknown version of tables: {version}.")
    try:
        return step(path)
    except (sqlite3.Error, ValueError, TypeError, KeyError, IndexError) as error:
        raise RecordingError(f"{original} is damaged: {error}.") from error


def _from_0(path: Path) -> Path:
    new = path.with_name("upgraded.tlrec")
    with closing(sqlite3.connect(path)) as old:
        meta = dict(old.execute("SELECT name, value FROM meta"))
        strings = [text for (text,) in old.execute("SELECT text FROM strings ORDER BY number")]
        about = RecordingInfo(scene_path=meta.get("scene_path", ""), title=meta.get("title", ""))
        file = RecordingFile(new, about, Timeline(strings), 0)
        file.add_strings(strings)
        for (data,) in old.execute("SELECT data FROM chunks ORDER BY first_cursor"):
            numbers = np.frombuffer(data, "<i8")
            rows = numbers.reshape(len(numbers) // EVENT_COLUMNS, EVENT_COLUMNS)
            file.add(events_of(rows.T))
        file.finish()
    return new


_UPGRADES: Final[dict[int, Callable[[Path], Path]]] = {0: _from_0}
