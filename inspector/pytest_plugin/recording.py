"""Results of a test: causes of late calls, a recording and a page.

The recording opens in the window like any other, the page in a browser.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from inspector import __version__
from inspector.analysis.lateness.late_calls import LateCall, worst_late_calls
from inspector.analysis.lateness.words import late_call_text, stack_text
from inspector.display_text import counted
from inspector.errors import InspectorError
from inspector.events.history import LogHistory
from inspector.events.log import EventLog
from inspector.events.recording import RecordingInfo, RecordingWriter
from inspector.events.schema import clock_at_parent_time
from inspector.events.timeline import Timeline
from inspector.formats.export import export_frames
from inspector.formats.options import ExportOptions
from inspector.formats.traces.session_trace import Events
from inspector.pytest_plugin.log import Log
from inspector.sessions.attached.event_sorter import EventSorter
from inspector.sessions.attached.session_numbers import ROOT_ID
from inspector.sessions.attached.translation import Translation
from inspector.sessions.frame_files import read_frame_file, recording_showing
from inspector.sessions.sources.time_sources import ATTACHED_LOOP, TEST

_NO_NAME: Final = re.compile(r"[^\w.\[\]-]+")
#: The most late calls in a report.
_MOST_LATE: Final = 10


def _log_of(title: str, events: array[int], texts: Sequence[str]) -> tuple[EventLog, int]:
    rows = np.frombuffer(events, np.int64).reshape(-1, 5)
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    first_ns, last_ns = rows[[0, -1], 0].tolist()
    log = EventLog()
    sorter = EventSorter(log, Timeline(log.strings))
    sorter.add(*clock_at_parent_time(0, ROOT_ID, 0, log.intern(title)))
    translation = Translation(0, -first_ns, log.intern)
    translation.add_texts(1, texts[1:])
    sorter.add_rows(0, translation.rows(rows.tobytes(), last_ns - first_ns, 0))
    sorter.release(last_ns - first_ns)
    return log, first_ns


def late_lines(log: Log, texts: Sequence[str], began_ns: int, over_ns: int) -> list[str]:
    """Return which calls were late, and what made them late."""
    events, first_ns = _log_of("test", log.events, texts)
    late = worst_late_calls(LogHistory(events), over_ns)
    lines = ["Late:"]
    for call in late[:_MOST_LATE]:
        at_s = (call.lateness.end_ns + first_ns - began_ns) / 1e9
        lines += [f"  at {at_s:g} s {late_call_text(call)}", *_places(call)]
    if len(late) > _MOST_LATE:
        lines.append(f"  and {len(late) - _MOST_LATE} more")
    if log.missed:
        lines.append(f"  Not looked at: the last {counted(log.missed, 'event')}.")
    return lines if late or log.missed else []


def _places(call: LateCall) -> list[str]:
    main = call.lateness.main
    lines = [f"    set at {call.site}"] if call.site else []
    if main is not None and main.stack:
        lines.append(f"    {stack_text(main.stack)}")
    return lines


def leave(folder: Path, test: str, log: Log, texts: Sequence[str], *, is_real: bool) -> list[str]:
    """Write the recording of a test and its page; return lines that name the files."""
    path = folder / f"{_NO_NAME.sub('-', test)[-200:]}.tlrec"
    events, _ = _log_of(test, log.events, texts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    source = (ATTACHED_LOOP if is_real else TEST).name
    about = RecordingInfo(title=test, tool_version=__version__, frame_rate="60", source=source)
    writer = RecordingWriter(path, events, about)
    writer.start()
    writer.stop()
    if writer.problem:
        return [f"no recording of {test}: {writer.problem}"]
    without = f", without the last {counted(log.missed, 'event')}" if log.missed else ""
    return [f"recorded {path}{without}", _page(path)]


def _page(path: Path) -> str:
    target = path.with_suffix(".page.html")
    try:
        read = read_frame_file(path)
        recording = recording_showing(path, None)
        try:
            export_frames(
                *(read.frames, read.provenance, ExportOptions(), target), events=Events(recording)
            )
        finally:
            recording.close()
    except InspectorError as error:
        return f"no page of it: {error}"
    return f"page {target}"
