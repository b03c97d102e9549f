"""Bringing recordings of older versions up to date, in a private copy.

Version 0 held the events alone: ``chunks (first_cursor, count, first_ns, last_ns, data)``,
five int64 for each event, one event behind another, and ``strings`` and ``meta``. What
version 1 wrote can be read as it is.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final

import numpy as np

from inspector.events.recording.columns import EVENT_COLUMNS, events_of
from inspector.events.recording.layout import RecordingError
from inspector.events.recording.writing.file import About, RecordingFile
from inspector.events.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def upgraded(path: Path, version: int, original: Path) -> Path:
    """Return the file of a recording brought up to date, beside a private copy of it.

    Args:
        path: The private copy.
        version: The version of its tables.
        original: What it is a copy of, for messages.

    Raises:
        RecordingError: It cannot be understood.
    """
    step = _UPGRADES.get(version)
    if step is None:
        raise RecordingError(f"{original} has tables of version {version}, which does not exist.")
    try:
        return step(path)
    except (sqlite3.Error, ValueError, TypeError, KeyError, IndexError) as error:
        raise RecordingError(f"{original} is damaged: {error}.") from error


def _from_0(path: Path) -> Path:
    new = path.with_name("upgraded.tlrec")
    old = sqlite3.connect(path)
    try:
        meta = dict(old.execute("SELECT name, value FROM meta"))
        strings = [text for (text,) in old.execute("SELECT text FROM strings ORDER BY number")]
        about = About(scene_path=meta.get("scene_path", ""), title=meta.get("title", ""))
        file = RecordingFile(new, about, Timeline(strings), 0)
        file.add_strings(strings)
        for (data,) in old.execute("SELECT data FROM chunks ORDER BY first_cursor"):
            rows = np.frombuffer(data, "<i8").reshape(-1, EVENT_COLUMNS)
            file.add(events_of(rows.T))
        file.finish()
    finally:
        old.close()
    return new


_UPGRADES: Final[dict[int, Callable[[Path], Path]]] = {0: _from_0}
