"""Frame times read back from a file: our own exports in full, any capture by one column."""

from __future__ import annotations

import csv
import json
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from inspector.errors import CaptureError
from inspector.formats.captures import read_frame_times
from inspector.formats.csv_frames import CSV_COLUMNS, PHASE_COLUMNS
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.json_frames import (
    JSON_FORMAT,
    JSON_VERSION,
    interventions_from_values,
    landmarks_from_values,
)
from inspector.sessions.provenance import provenance_of_recording, rate_in_file
from inspector.trace.recording import open_recording
from inspector.vocabulary import Phase

_NS_COLUMNS: Final = ("frame", "at_ns", "interval_ns", "delta_ns", "busy_ns", *PHASE_COLUMNS)


@dataclass(frozen=True, slots=True)
class FrameFile:
    """Frame times from a file.

    Attributes:
        frames: The frame times.
        provenance: Where they come from, as far as the file says.
        notes: Sentences that the user should read.
        has_work: Whether the file says how long the callbacks took.
    """

    frames: FrameTimes
    provenance: Provenance
    notes: tuple[str, ...]
    has_work: bool


def read_frame_file(path: Path, column: str | None = None, *, version: str) -> FrameFile:
    """Read an export of ours (CSV or JSON) or any other capture.

    Args:
        path: The file; recognised by what is in it.
        column: Column of frame times, for a capture that does not say which.
        version: Version of the inspector, for the provenance of what says nothing.

    Raises:
        CaptureError: The file cannot be read, or holds no frame times.
    """
    try:
        with path.open("rb") as file:
            head = file.read(4096).decode("utf-8-sig", errors="replace")
    except IsADirectoryError:
        message = f"{path} is a folder. Name the file in it."
        raise CaptureError(message) from None
    except FileNotFoundError:
        message = f"There is no file {path}."
        raise CaptureError(message) from None
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}."
        raise CaptureError(message) from None
    if head.startswith("SQLite format 3"):
        return _read_recording(path)
    if head.lstrip().startswith("{") and column is None:
        return _read_json(path)
    if column is None and head.startswith(",".join(CSV_COLUMNS)):
        return _read_csv(path, version)
    capture = read_frame_times(path, column)
    note = f"column {capture.column}" + (f", {capture.stream}" if capture.stream else "")
    provenance = Provenance(path.name, _changed(path), version, "capture", None, note)
    return FrameFile(_intervals_only(capture.frame_times_ns), provenance, capture.notes, False)


def _read_recording(path: Path) -> FrameFile:
    with closing(open_recording(path)) as recording:
        frames = FrameTimes.from_timeline(
            recording.state_before(recording.end), annotations=recording.annotations
        )
        provenance, notes = provenance_of_recording(recording), recording.notes
    return FrameFile(frames, provenance, notes, has_work=True)


def _read_json(path: Path) -> FrameFile:
    try:
        values = json.loads(path.read_bytes())
    except (ValueError, OSError) as error:
        message = f"{path} is no complete JSON ({error}). Export it again."
        raise CaptureError(message) from None
    if values.get("format") != JSON_FORMAT or not isinstance(values.get("columns"), dict):
        message = f"{path} is JSON, but no frame times of the inspector. Choose another file."
        raise CaptureError(message)
    if values.get("version") != JSON_VERSION:
        message = (
            f"{path} was written by a newer inspector (version {values.get('version')} "
            "of the format). Update this one."
        )
        raise CaptureError(message)
    interventions = interventions_from_values(values.get("interventions"))
    landmarks = landmarks_from_values(values.get("landmarks"))
    frames = _frames(path, values["columns"])
    frames = replace(frames, interventions=interventions, landmarks=landmarks)
    there = sum(_count(values.get(name)) for name in ("interventions", "landmarks"))
    damaged = there - len(interventions) - len(landmarks)
    what = "entry" if damaged == 1 else "entries"
    note = f"{damaged:,} {what} among interventions and landmarks cannot be read and were left out."
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


def _read_csv(path: Path, version: str) -> FrameFile:
    columns: dict[str, list[str]] = {name: [] for name in CSV_COLUMNS}
    with path.open(newline="", encoding="utf-8-sig") as file:
        for row in csv.DictReader(file):
            # The last line of a file that was cut short has fewer cells.
            if None not in row.values():
                for name in _NS_COLUMNS:
                    columns[name].append(row[name])
    provenance = Provenance(path.stem, _changed(path), version)
    return FrameFile(_frames(path, columns), provenance, (), True)


def _frames(path: Path, columns: dict[str, Any]) -> FrameTimes:
    try:
        arrays = {name: np.array(columns[name], dtype=np.int64) for name in _NS_COLUMNS}
        phases = np.stack([arrays[f"{phase.name.lower()}_ns"] for phase in Phase])
    except (KeyError, ValueError, TypeError, OverflowError) as error:
        message = f"{path} is damaged ({error}). Export it again."
        raise CaptureError(message) from None
    if len({len(array) for array in arrays.values()}) > 1:
        message = f"{path} is damaged (columns of different lengths). Export it again."
        raise CaptureError(message)
    return FrameTimes(
        index=arrays["frame"],
        at_ns=arrays["at_ns"],
        interval_ns=arrays["interval_ns"],
        delta_ns=arrays["delta_ns"],
        busy_ns=arrays["busy_ns"],
        phases=phases,
    )


def _intervals_only(times_ns: tuple[int, ...]) -> FrameTimes:
    interval: NDArray[np.int64] = np.array(times_ns, dtype=np.int64)
    nothing = np.zeros_like(interval)
    return FrameTimes(
        index=np.arange(len(interval), dtype=np.int64),
        at_ns=np.cumsum(interval),
        interval_ns=interval,
        delta_ns=interval.copy(),
        busy_ns=nothing,
        phases=np.zeros((len(Phase), len(interval)), dtype=np.int64),
    )


def _changed(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)
