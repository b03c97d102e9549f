"""The recording that a test leaves, to be opened in the window like any other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from inspector import __version__
from inspector.events.log import EventLog
from inspector.events.recording import About, RecordingWriter
from inspector.events.schema import clock_at_parent_time
from inspector.events.timeline import Timeline
from inspector.probe.wire import packed_events
from inspector.sessions.attached.intake import Intake
from inspector.sessions.attached.session_numbers import ROOT_ID
from inspector.sessions.attached.translation import Translation
from inspector.sessions.sources.time_sources import ATTACHED_LOOP

_NO_NAME: Final = re.compile(r"[^\w.\[\]-]+")


def recording_path(folder: Path, test: str) -> Path:
    """Return the file for a test, by its node id."""
    return folder / f"{_NO_NAME.sub('-', test)[-200:]}.tlrec"


def write_recording(
    path: Path,
    title: str,
    events: Sequence[tuple[int, int, int, int, int]],
    texts: Sequence[str],
) -> str:
    """Write the events of a program; returns why they could not be written, empty if they were."""
    events = sorted(events, key=lambda event: event[0])
    first_ns, last_ns = events[0][0], events[-1][0]
    log = EventLog()
    intake = Intake(log, Timeline(log.strings))
    intake.add(*clock_at_parent_time(0, ROOT_ID, 0, log.intern(title)))
    translation = Translation(0, -first_ns, log.intern)
    translation.take_texts(1, texts[1:])
    span_ns = last_ns - first_ns
    intake.add_rows(0, translation.rows(packed_events(list(events)), span_ns, 0))
    intake.release(span_ns)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    about = About(title=title, tool_version=__version__, frame_rate="60", source=ATTACHED_LOOP.name)
    writer = RecordingWriter(path, log, about)
    writer.start()
    writer.stop()
    return writer.problem
