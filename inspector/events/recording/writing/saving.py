"""Saving the last seconds of a session that was not recorded."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from inspector.events.history import LogHistory
from inspector.events.log import EventLog
from inspector.events.recording.layout import RecordingError
from inspector.events.recording.writing.file import About, RecordingFile
from inspector.events.recording.writing.writer import begin_behind_command, disk_problem
from inspector.timebase import NS_PER_SECOND

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.events.history import History


def save_last(
    past: EventLog | History, path: Path, seconds: float, about: About | None = None
) -> int:
    """Write the last seconds of a session to a file, and the state before them.

    Args:
        past: The log of the session, or its history.
        path: The file; must not exist.
        seconds: How much session time, above 0; as much as there is if that is less.
        about: What the recording says of itself.

    Returns:
        How many events were saved.

    Raises:
        RecordingError: The file cannot be written.
        ValueError: The time is not above 0.
    """
    if not seconds > 0:
        message = f"the time to save must be above 0 seconds: {seconds}"
        raise ValueError(message)
    history = LogHistory(past) if isinstance(past, EventLog) else past
    since_ns = history.last_ns - round(seconds * NS_PER_SECOND)
    first = history.first if since_ns <= 0 else max(history.cursor_at(since_ns), history.first)
    timeline = history.state_before(first)
    first = begin_behind_command(history.events, timeline, first)
    events = history.events(first, history.end)
    file = RecordingFile(path, about or About(), timeline, first)
    try:
        file.add_strings(list(history.strings))
        file.add(events)
        file.finish()
    except (sqlite3.Error, OSError, RecordingError) as error:
        file.abandon()
        raise RecordingError(disk_problem(path, error)) from error
    return len(events)
