"""Notes, bookmarks and named ranges that people leave in a recording."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from inspector.timebase import format_instant
from inspector.trace.recording.layout import APPLICATION_ID, SCHEMA_VERSION, RecordingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

KINDS: Final = ("note", "bookmark", "range")


@dataclass(frozen=True, slots=True)
class Annotation:
    """What somebody has left at an instant, or over a range of time.

    Attributes:
        kind: ``"note"``, ``"bookmark"`` or ``"range"``.
        at_ns: Session time; where a range begins.
        end_ns: Where a range ends, ``None`` for the others.
        name: What it is called.
        text: What it says.
        id: Its number in the file, 0 before it is there.
        created: When it was made, ISO 8601.
    """

    kind: str
    at_ns: int
    end_ns: int | None = None
    name: str = ""
    text: str = ""
    id: int = 0
    created: str = ""

    def __post_init__(self) -> None:
        """Check it.

        Raises:
            RecordingError: It makes no sense.
        """
        if self.kind not in KINDS:
            raise RecordingError(f"There are {', '.join(KINDS)}, but no “{self.kind}”.")
        if (self.kind == "range") != (self.end_ns is not None):
            raise RecordingError("A range has an end, and nothing else has.")
        if self.end_ns is not None and self.end_ns < self.at_ns:
            ends, begins = format_instant(self.end_ns), format_instant(self.at_ns)
            raise RecordingError(f"A range ends after it begins, not at {ends} before {begins}.")


def annotate(path: Path, annotation: Annotation) -> int:
    """Write an annotation into a recording, or change the one with its number.

    Returns:
        Its number.

    Raises:
        RecordingError: The recording cannot be written, or there is no such annotation.
    """
    created = annotation.created or datetime.now(UTC).isoformat(timespec="seconds")
    values = (
        annotation.kind,
        annotation.at_ns,
        annotation.end_ns,
        annotation.name,
        annotation.text,
        created,
    )
    text = "INSERT INTO annotations (kind, at_ns, end_ns, name, text, created) VALUES (?,?,?,?,?,?)"
    if annotation.id:
        text = (
            "UPDATE annotations SET kind=?, at_ns=?, end_ns=?, name=?, text=?, created=? WHERE id=?"
        )
        values = (*values, annotation.id)  # type: ignore[assignment]

    def write(connection: sqlite3.Connection) -> int:
        cursor = connection.execute(text, values)
        if not cursor.rowcount:
            raise RecordingError(f"There is no annotation {annotation.id} any more.")
        return annotation.id or int(cursor.lastrowid or 0)

    return _changed(path, write)


def remove(path: Path, number: int) -> bool:
    """Take an annotation out of a recording; returns whether there was such a one.

    Raises:
        RecordingError: The recording cannot be written.
    """

    def write(connection: sqlite3.Connection) -> int:
        return connection.execute("DELETE FROM annotations WHERE id=?", (number,)).rowcount

    return bool(_changed(path, write))


def annotations_of(path: Path) -> list[Annotation]:
    """Return the annotations in a recording, the earliest first.

    Raises:
        RecordingError: The recording cannot be opened.
    """
    from inspector.trace.recording.opening import OpenFile  # noqa: PLC0415 - it needs this one

    file = OpenFile(path)
    try:
        return read_annotations(file.rows)
    finally:
        file.close()


def read_annotations(rows: Callable[[str], Iterable[tuple[Any, ...]]]) -> list[Annotation]:
    """Return the annotations among rows, the earliest first."""
    text = "SELECT kind, at_ns, end_ns, name, text, id, created FROM annotations"
    found = []
    for kind, at_ns, end_ns, *rest in rows(f"{text} ORDER BY at_ns, id"):
        try:
            found.append(Annotation(kind, at_ns, end_ns, *rest))
        except (RecordingError, TypeError):
            continue
    return found


def _changed(path: Path, write: Callable[[sqlite3.Connection], int]) -> int:
    """Change a recording that is whole."""
    if not path.is_file():
        raise RecordingError(f"There is no file {path}.")
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)
        try:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if application != APPLICATION_ID or version != SCHEMA_VERSION:
                raise RecordingError(f"{path} is no recording that can be annotated.")
            with connection:
                return write(connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise RecordingError(f"{path} cannot be annotated: {error}.") from error
