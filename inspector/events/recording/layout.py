"""The file format of a recording: its tables, versions and magic number."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from inspector.errors import RecordingError
from inspector.events.timer_table import COLUMNS
from inspector.vocabulary import VOCABULARY_VERSION, Phase, Share

#: Raised when the meaning of a table changes; readers refuse newer versions.
SCHEMA_VERSION: Final = 4
#: Versions read and annotated without an upgrade. Version 1 has columns without odd entries and
#: steps; frames have shares from version 3 on, and there are frames of several loops from 4 on.
VERSIONS_ALIKE: Final = (1, 2, 3, SCHEMA_VERSION)
_WITH_SHARES: Final = 3
WITH_LOOPS: Final = 4
#: "TLIR" in the head of the file tells a recording from any other SQLite file.
APPLICATION_ID: Final = 0x544C_4952

CHUNK_EVENTS: Final = 8_192

#: Longest definition of a table, in characters; ours take a quarter of that.
_LONGEST_DEFINITION: Final = 4_000
#: Number of tables and indexes that are checked in a file.
_MOST_TABLES: Final = 1_000

#: Columns of timers that are stored; session due times follow from them.
TIMER_COLUMNS: Final = tuple(name for name in COLUMNS if name != "session_due")
PHASE_NAMES: Final = tuple(f"{phase.name.lower()}_ns" for phase in Phase)
FRAME_COLUMNS: Final = (
    "frame",
    "cursor",
    "at_ns",
    "interval_ns",
    "delta_ns",
    "busy_ns",
    "cut_ns",
    *PHASE_NAMES,
    *(share.column for share in Share),
)


def frame_columns_in(version: int) -> int:
    return len(FRAME_COLUMNS) - (0 if version >= _WITH_SHARES else len(Share))


_INTEGERS: Final = ", ".join(f"{name} INTEGER" for name in FRAME_COLUMNS[1:])
SCHEMA: Final = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE strings (number INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE chunks (
    first_cursor INTEGER PRIMARY KEY, count INTEGER NOT NULL,
    first_ns INTEGER NOT NULL, last_ns INTEGER NOT NULL,
    crc INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE frame_chunks (
    first_frame INTEGER PRIMARY KEY, count INTEGER NOT NULL,
    crc INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE keyframes (
    cursor INTEGER PRIMARY KEY, at_ns INTEGER NOT NULL, crc INTEGER NOT NULL,
    state TEXT NOT NULL, news TEXT NOT NULL, timer_count INTEGER NOT NULL, timers BLOB NOT NULL);
CREATE TABLE pictures (
    first_frame INTEGER PRIMARY KEY, count INTEGER NOT NULL, crc INTEGER NOT NULL,
    places BLOB NOT NULL, data BLOB NOT NULL);
CREATE TABLE frames (
    frame INTEGER PRIMARY KEY, {_INTEGERS});
CREATE TABLE loops (clock INTEGER PRIMARY KEY, name TEXT, kind TEXT, in_frames INTEGER);
CREATE TABLE loop_frames (
    clock INTEGER, frame INTEGER, {_INTEGERS}, PRIMARY KEY (clock, frame)) WITHOUT ROWID;
CREATE TABLE loop_frame_chunks (
    clock INTEGER, first_frame INTEGER, count INTEGER NOT NULL,
    crc INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (clock, first_frame));
CREATE TABLE clocks (
    clock INTEGER PRIMARY KEY, name TEXT, parent INTEGER, rate REAL,
    added_ns INTEGER, removed_ns INTEGER);
CREATE TABLE timers (
    timer INTEGER PRIMARY KEY, label TEXT, clock INTEGER, kind TEXT, call_site TEXT,
    added_ns INTEGER, due_ns INTEGER, interval_ns INTEGER, fired INTEGER,
    lateness_ns INTEGER, gone_ns INTEGER, gone_by TEXT);
CREATE TABLE pauses (
    clock INTEGER, from_ns INTEGER, to_ns INTEGER, command INTEGER);
CREATE TABLE commands (
    cursor INTEGER, at_ns INTEGER, number INTEGER, text TEXT, refusal TEXT,
    clock INTEGER, host_ms INTEGER, "by" TEXT);
CREATE TABLE errors (
    cursor INTEGER, at_ns INTEGER, timer INTEGER, label TEXT, traceback TEXT);
CREATE TABLE marks (cursor INTEGER, at_ns INTEGER, clock INTEGER, text TEXT);
CREATE TABLE states (
    cursor INTEGER, at_ns INTEGER, machine INTEGER, state TEXT, transition TEXT);
CREATE TABLE hits (
    cursor INTEGER, at_ns INTEGER, breakpoint INTEGER, frame INTEGER, text TEXT);
CREATE TABLE annotations (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, at_ns INTEGER NOT NULL,
    end_ns INTEGER, name TEXT NOT NULL DEFAULT '', text TEXT NOT NULL DEFAULT '',
    created TEXT NOT NULL);
"""


def text_of(raw: bytes) -> str:
    """Return a text from a file, with invalid bytes replaced."""
    return raw.decode("utf-8", errors="replace")


def check_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Check that a file has plain tables only: views and triggers can run forever.

    Raises:
        RecordingError: It has other objects, such as a view.
        sqlite3.Error: It cannot be read.
    """
    rows = connection.execute(
        "SELECT type, name, rootpage, length(sql) > ? OR sql LIKE '%CHECK%' FROM sqlite_master",
        (_LONGEST_DEFINITION,),
    )
    for kind, name, page, computes in rows.fetchmany(_MOST_TABLES):
        is_plain = kind in {"table", "index"} and type(page) is int and page > 0 and not computes
        if is_plain and kind == "table":
            text = "SELECT max(hidden) FROM pragma_table_xinfo(?)"
            (hidden,) = connection.execute(text, (name,)).fetchone()
            is_plain = not hidden
        if not is_plain:
            what = kind if kind in {"view", "trigger"} else "computed table"
            raise RecordingError(
                f"{path} is not a recording of the inspector: it has a {what}, and recordings "
                "have plain tables only. Choose another file."
            )


def version_values(tool_version: str) -> dict[str, str | int]:
    return {
        "format": "timeline-inspector recording",
        "schema_version": SCHEMA_VERSION,
        "vocabulary_version": VOCABULARY_VERSION,
        "tool_version": tool_version,
    }
