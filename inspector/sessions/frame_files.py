"""Frame times read from a file: one importer for each format, which knows it by its content.

Our own exports are read in full, any capture by one of its streams.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from inspector import __version__
from inspector.errors import CaptureError
from inspector.events.recording import as_far_as_it_goes, open_recording
from inspector.extensions import ExtensionError, Registry, report
from inspector.foreign.files import open_binary
from inspector.foreign.numbers import shown
from inspector.formats.captures.capframex_json import CapFrameXReader, is_capframex
from inspector.formats.captures.capture import Capture, CaptureReader, Stream
from inspector.formats.captures.frame_table import FrameTableReader
from inspector.formats.captures.frame_times_csv import CSV_COLUMNS, PHASE_COLUMNS
from inspector.formats.captures.frame_times_json import (
    JSON_FORMAT,
    JSON_VERSION,
    interventions_from_values,
    landmarks_from_values,
)
from inspector.formats.captures.json_trace import JsonTraceReader, is_json
from inspector.formats.captures.perfetto_trace import PerfettoReader, is_perfetto
from inspector.formats.captures.source import CaptureSource
from inspector.formats.captures.tracy_csv import TracyReader, is_tracy
from inspector.formats.frame_times import CAPTURED, FrameTimes, NsColumn, Provenance
from inspector.sessions.provenance import provenance_of_recording, rate_in_file
from inspector.timebase import MAX_NS
from inspector.vocabulary import Phase

_HEAD_BYTES: Final = 4096
_SQLITE: Final = b"SQLite format 3"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_NS_COLUMNS: Final = ("frame", "at_ns", "interval_ns", "delta_ns", "busy_ns", *PHASE_COLUMNS)


@dataclass(frozen=True, slots=True)
class FrameFile:
    """Frame times from a file.

    Attributes:
        frames: The frame times.
        provenance: Where they come from, as far as the file says.
        notes: Sentences that the user should read.
        has_work: Whether the file says how long the callbacks took.
        column: What the file calls the frame times; empty if it has no name for them.
        samples: Why these are samples and not every frame; empty if they are all.
    """

    frames: FrameTimes
    provenance: Provenance
    notes: tuple[str, ...]
    has_work: bool
    column: str = "interval_ns"
    samples: str = ""


@dataclass(frozen=True, slots=True)
class Importer:
    """A format that frame times are read from.

    Attributes:
        name: Name of the format.
        recognises: Whether a file is in this format, by its first bytes, at least 4,096.
        read: Reads such a file; returns a :class:`FrameFile`, such as :func:`captured` makes, or
            a :class:`~inspector.formats.captures.capture.CaptureReader`.
    """

    name: str
    recognises: Callable[[bytes], bool]
    read: Callable[[Path], object]


def read_frame_file(
    path: Path,
    column: str | None = None,
    *,
    stream: str | None = None,
    on_progress: Callable[[float], None] = lambda _done: None,
) -> FrameFile:
    """Read the frame times in a file, by the first importer that recognises what is in it.

    Args:
        path: The file.
        column: Column of frame times, in a table that does not say which.
        stream: Name of one of several streams, or a part of it; by default the one with the most
            frames, in a trace the most likely slice.
        on_progress: Called with the share that was read.

    Raises:
        UnreadableFileError: The file cannot be read.
        CaptureError: It holds no frame times or no such stream, or is damaged.
        ExtensionError: The importer is a package's, and failed.
    """
    read = open_frame_file(path, column)
    if isinstance(read, CaptureReader):
        while read.read_on():
            on_progress(read.done)
        capture = read.capture()
        return file_of(capture, capture.stream(stream))
    if stream is not None:
        message = f"{path} has a single stream. Omit --stream."
        raise CaptureError(message)
    return read


def open_frame_file(path: Path, column: str | None = None) -> FrameFile | CaptureReader:
    """Return the frame times in a file, or a reader if that takes a while.

    Raises:
        InspectorError: See :func:`read_frame_file`.
    """
    with open_binary(path) as file:
        head = file.read(_HEAD_BYTES)
    is_recording = head.startswith(_SQLITE)
    if column is not None and not is_recording:
        return FrameTableReader(path, column)
    # Any text may be a table: it is tried last.
    table, *others = IMPORTERS
    chosen = next((each for each in others if _is_recognised(each, head)), None)
    if chosen is None and not is_recording:
        head = CaptureSource(path).head
        chosen = next((each for each in IMPORTERS.own[2:] if _is_recognised(each, head)), table)
    chosen = chosen or table
    with IMPORTERS.guarding(chosen):
        read = chosen.read(path)
        if not isinstance(read, FrameFile | CaptureReader):
            message = f"{shown(read)} is not a FrameFile"
            raise TypeError(message)
    return read


def file_of(capture: Capture, stream: Stream) -> FrameFile:
    """Return a stream of a capture as what an importer reads."""
    return FrameFile(
        stream.frames(),
        _capture_provenance(capture.path, stream.column, stream.name),
        capture.notes_on(stream),
        has_work=stream.busy_ns is not None,
        column=stream.column,
        samples=stream.samples,
    )


def captured(
    path: Path,
    frame_times_ns: Iterable[int],
    column: str = "",
    *,
    notes: Iterable[str] = (),
    stream: str = "",
) -> FrameFile:
    """Return frame times of which no more is known than how long they are.

    Args:
        path: The file they come from.
        frame_times_ns: Whole nanoseconds, one number a frame.
        column: What the file calls them.
        notes: Sentences that the user should read.
        stream: Which of several programs in the file they belong to.
    """
    times_ns = np.array(tuple(frame_times_ns), dtype=np.int64)
    provenance = _capture_provenance(path, column, stream)
    frames = Stream(stream, column, times_ns).frames()
    return FrameFile(frames, provenance, tuple(notes), has_work=False, column=column)


def _capture_provenance(path: Path, column: str, stream: str) -> Provenance:
    note = ", ".join(filter(None, (f"column {column}" if column else "", stream)))
    return Provenance(path.name, _changed(path), __version__, CAPTURED, None, note)


def _is_recognised(importer: Importer, head: bytes) -> bool:
    try:
        with IMPORTERS.guarding(importer):
            return bool(importer.recognises(head))
    except ExtensionError as error:
        report(error)
        return False


def _read_recording(path: Path) -> FrameFile:
    with closing(open_recording(path)) as recording, as_far_as_it_goes(recording):
        frames = FrameTimes.from_timeline(
            recording.state_before(recording.end), annotations=recording.annotations
        )
        provenance, notes = provenance_of_recording(recording), recording.notes
    return FrameFile(frames, provenance, notes, has_work=True)


def _read_json(path: Path) -> FrameFile:
    try:
        values = json.loads(b"".join(CaptureSource(path).pieces()))
    except (ValueError, RecursionError) as error:
        message = f"{path} is not complete JSON ({error}). Export it again."
        raise CaptureError(message) from None
    if values.get("format") != JSON_FORMAT or not isinstance(values.get("columns"), dict):
        message = f"{path} is JSON, but not frame times of the inspector. Choose another file."
        raise CaptureError(message)
    if values.get("version") != JSON_VERSION:
        message = (
            f"{path} was written by a newer inspector (version {shown(values.get('version'))} of "
            "the format). Update this inspector."
        )
        raise CaptureError(message)
    interventions = interventions_from_values(values.get("interventions"))
    landmarks = landmarks_from_values(values.get("landmarks"))
    frames = _frames(path, values["columns"])
    frames = replace(frames, interventions=interventions, landmarks=landmarks)
    there = sum(_count(values.get(name)) for name in ("interventions", "landmarks"))
    damaged = there - len(interventions) - len(landmarks)
    what = "entry" if damaged == 1 else "entries"
    note = f"{damaged:,} {what} among interventions and landmarks cannot be read and were skipped."
    provenance = _provenance(path, values.get("provenance"))
    return FrameFile(frames, provenance, (note,) if damaged else (), has_work=True)


def _count(values: object) -> int:
    """Return how many entries a list was meant to have."""
    return len(values) if isinstance(values, list) else int(values is not None)


def _provenance(path: Path, found: object) -> Provenance:
    values: dict[str, Any] = found if isinstance(found, dict) else {}
    try:
        created = datetime.fromisoformat(values["created"])
    except (KeyError, TypeError, ValueError):
        created = _changed(path)
    return Provenance(
        scene=str(values.get("scene") or path.name),
        created=created,
        version=str(values.get("inspector_version", "")),
        source=str(values.get("source", "")),
        frame_rate=rate_in_file(values.get("frame_rate")),
        note=str(values.get("note", "")),
    )


def _read_csv(path: Path) -> FrameFile:
    columns: dict[str, list[str]] = {name: [] for name in CSV_COLUMNS}
    # Other programs save it in encodings of their own; what is read here is digits.
    with io.TextIOWrapper(
        io.BytesIO(b"".join(CaptureSource(path).pieces())), "utf-8-sig", "replace", newline=""
    ) as file:
        reader = csv.DictReader(file)
        try:
            for row in reader:
                # The last line of a file that was cut short has fewer cells.
                if None not in row.values():
                    for name in _NS_COLUMNS:
                        columns[name].append(row[name])
        except csv.Error as error:
            message = f"{path}, line {reader.line_num}: {error}. Export it again."
            raise CaptureError(message) from None
    provenance = Provenance(path.stem, _changed(path), __version__)
    return FrameFile(_frames(path, columns), provenance, (), True)


def _frames(path: Path, columns: dict[str, Any]) -> FrameTimes:
    arrays = {name: _column(path, name, columns.get(name)) for name in _NS_COLUMNS}
    if len({len(array) for array in arrays.values()}) > 1:
        raise _damaged(path, "columns of different lengths")
    if np.any(np.diff(arrays["frame"]) != 1):
        raise _damaged(path, "frames that do not follow each other")
    if np.any(np.diff(arrays["at_ns"]) < 0):
        raise _damaged(path, "frames that go back in time")
    phases = np.stack([arrays[f"{phase.name.lower()}_ns"] for phase in Phase])
    return FrameTimes(
        index=arrays["frame"],
        at_ns=arrays["at_ns"],
        interval_ns=arrays["interval_ns"],
        delta_ns=arrays["delta_ns"],
        busy_ns=arrays["busy_ns"],
        phases=phases,
    )


def _column(path: Path, name: str, values: object) -> NsColumn:
    """Return a column of whole numbers, 0 or more, as an array.

    Raises:
        CaptureError: It is not there, or holds something else.
    """
    if not isinstance(values, list):
        raise _damaged(path, f"no column {name}")
    if not all(type(value) is int or type(value) is str for value in values):
        raise _damaged(path, f"not only whole numbers in {name}")
    try:
        column: NsColumn = np.array(values, dtype=np.int64)
    except (ValueError, OverflowError):
        raise _damaged(path, f"not only whole numbers in {name}") from None
    if len(column) and not 0 <= column.min() <= column.max() < MAX_NS:
        raise _damaged(path, f"{name} before 0 or beyond 146 years")
    return column


def _damaged(path: Path, what: str) -> CaptureError:
    return CaptureError(f"{path} is damaged: it has {what}. Export it again.")


def _changed(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _is_our_json(head: bytes) -> bool:
    return is_json(head) and json.dumps(JSON_FORMAT).encode() in head


def _is_our_csv(head: bytes) -> bool:
    return head.removeprefix(_BYTE_ORDER_MARK).startswith(",".join(CSV_COLUMNS).encode())


#: The first is for what no other recognises.
IMPORTERS: Final = Registry(
    "importers",
    Importer,
    (
        Importer("table", lambda _head: True, FrameTableReader),
        Importer("recording", lambda head: head.startswith(_SQLITE), _read_recording),
        Importer("JSON", _is_our_json, _read_json),
        Importer("CSV", _is_our_csv, _read_csv),
        Importer("CapFrameX", is_capframex, CapFrameXReader),
        Importer("trace", is_json, JsonTraceReader),
        Importer("Perfetto", is_perfetto, PerfettoReader),
        Importer("Tracy", is_tracy, TracyReader),
    ),
    names=lambda each: (each.name,),
)
