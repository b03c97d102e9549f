"""Frame times read from a file: one importer for each format, which recognises its content.

Our own exports are read in full; of other captures, one stream is read.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import weakref
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from inspector import __version__
from inspector.analysis.statistics.frame_budget import budget_in_file, rate_in_file
from inspector.errors import CaptureError
from inspector.events.recording import Recording, as_far_as_it_goes, open_recording
from inspector.extensions import ExtensionError, Registry, report
from inspector.foreign.files import SQLITE_MAGIC, is_recording, open_binary
from inspector.foreign.numbers import shown
from inspector.formats.captures.capframex_json import CapFrameXReader, is_capframex
from inspector.formats.captures.capture import (
    NO_FRAMES,
    SAMPLES,
    Capture,
    CaptureReader,
    Slices,
    Stream,
    note_on_choice,
    stream_named,
)
from inspector.formats.captures.json_trace import JsonTraceReader, is_json
from inspector.formats.captures.otlp_trace import OtlpReader, is_otlp
from inspector.formats.captures.perfetto_trace import PerfettoReader, is_perfetto
from inspector.formats.captures.source import CaptureSource
from inspector.formats.captures.tool_tables import FrameTableReader
from inspector.formats.captures.tracy_csv import TracyReader, is_tracy
from inspector.formats.frame_times import CAPTURED, FrameTimes, NsColumn, Provenance
from inspector.formats.query import Queried
from inspector.formats.tables.arrow_table import is_arrow, read_arrow
from inspector.formats.tables.frame_times_csv import CSV_COLUMNS, PHASE_COLUMNS
from inspector.formats.tables.frame_times_json import (
    JSON_FORMAT,
    JSON_VERSION,
    interventions_from_values,
    markers_from_values,
)
from inspector.sessions.provenance import provenance_of_recording
from inspector.sessions.session import frames_wait, loops_of
from inspector.timebase import MAX_NS
from inspector.vocabulary import Share

_HEAD_BYTES: Final = 4096
#: Samples are further apart than frames are long, by at least this factor.
_FURTHER: Final = 1.25
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
#: Characters of a column of numbers that are decoded at once.
_PIECE: Final = 262_144
PARTIAL_RECORDING: Final = "Parts of the recording are missing."
_decode_json = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_numbers = msgspec.json.Decoder(list[int]).decode
_NS_COLUMNS: Final = ("frame", "at_ns", "interval_ns", "delta_ns", "busy_ns", *PHASE_COLUMNS)
_SHARE_COLUMNS: Final = tuple(share.column for share in Share)


class FrameFile(Struct, frozen=True):
    frames: FrameTimes
    provenance: Provenance  # Where they come from, as far as the file says
    notes: tuple[str, ...]  # Sentences for the user
    has_work: bool  # Whether the file says how long the callbacks took
    # The file's name for the frame times; empty if it has none.
    column: str = "interval_ns"
    slices: Slices | None = None  # The slices of a trace, None for a table of frames
    missing: str = ""  # A sentence on the parts that could not be read; empty for none

    @property
    def samples(self) -> str:
        """Why these are samples and not every frame; empty if they are all."""
        return self.frames.samples

    def queried(self, name: str) -> Queried:
        """Return its frames for queries, where tables have ``name`` as the name of the file."""
        stream = self.provenance.note.removeprefix(f"column {self.column}").removeprefix(", ")
        return Queried(name, stream, self.frames)


class Importer(Struct, frozen=True):
    name: str
    # Whether a file has this format, judging by its first 4,096 bytes or more.
    recognises: Callable[[bytes], bool]
    # Reads such a file; returns a FrameFile, such as captured() makes, or an
    # inspector.formats.captures.capture.CaptureReader.
    read: Callable[[Path], object]


def read_frame_file(
    path: Path,
    column: str | None = None,
    *,
    stream: str | None = None,
    needs_frames: bool = True,
    on_progress: Callable[[float], None] = lambda _done: None,
) -> FrameFile:
    """Read the frame times in a file with the first importer that recognises its content.

    Args:
        column: The column with frame times, for a table that does not say which it is.
        stream: The stream to read, or a part of its name. By default it is the one with the most
            frames, in a trace the most likely slice, and in a recording the first loop.
        needs_frames: Whether to refuse a trace of which no slice is taken for a frame.
    """
    if stream is not None and is_recording(path):
        return _read_recording(path, stream)
    read = open_frame_file(path, column)
    if isinstance(read, CaptureReader):
        while read.read_on():
            on_progress(read.done)
        capture = read.capture()
        if stream is None and capture.no_frames and not needs_frames:
            return structs.replace(file_of(capture, NO_FRAMES), notes=capture.notes)
        return file_of(capture, capture.stream(stream))
    if stream is not None:
        raise CaptureError(f"{path} has a single stream. Omit --stream.")
    return read


def open_frame_file(path: Path, column: str | None = None) -> FrameFile | CaptureReader:
    """Return the frame times in a file, or a reader for formats that take a while."""
    if is_recording(path):
        return _read_by(_RECORDING, path)
    if column is not None:
        return FrameTableReader(path, column)
    with open_binary(path) as file:
        head = file.read(_HEAD_BYTES)
    # Any text may be a table, so that format is tried last.
    others = [each for each in IMPORTERS if each is not _TABLE and each is not _RECORDING]
    chosen = next((each for each in others if _is_recognised(each, head)), None)
    if chosen is None:
        source = CaptureSource(path)
        chosen = next((each for each in others if _is_recognised(each, source.head)), _TABLE)
        if source.is_compressed and chosen not in IMPORTERS.own:
            return _read_expanded(chosen, source)
    return _read_by(chosen, path)


def _read_by(importer: Importer, path: Path) -> FrameFile | CaptureReader:
    with IMPORTERS.guarding(importer):
        read = importer.read(path)
        if not isinstance(read, FrameFile | CaptureReader):
            raise TypeError(f"{shown(read)} is not a FrameFile")
    return read


def _read_expanded(importer: Importer, source: CaptureSource) -> FrameFile | CaptureReader:
    folder = Path(tempfile.mkdtemp(prefix="timeline-inspector-"))
    try:
        expanded = folder / source.path.stem
        with expanded.open("wb") as file:
            file.writelines(source.pieces())
        read = _read_by(importer, expanded)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if isinstance(read, CaptureReader):
        weakref.finalize(read, shutil.rmtree, folder, ignore_errors=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return read


def file_of(capture: Capture, stream: Stream) -> FrameFile:
    return FrameFile(
        stream.frames(),
        _capture_provenance(capture.path, stream.column, stream.name, capture.created),
        capture.notes_on(stream),
        has_work=stream.busy_ns is not None,
        column=stream.column,
        slices=capture.slices,
        missing=capture.missing_of(stream),
    )


def captured(
    path: Path,
    frame_times_ns: Iterable[int],
    column: str = "",
    *,
    notes: Iterable[str] = (),
    stream: str = "",
) -> FrameFile:
    """Return frame times, in whole nanoseconds, of which nothing else is known."""
    times_ns = np.array(tuple(frame_times_ns), dtype=np.int64)
    provenance = _capture_provenance(path, column, stream)
    frames = Stream(stream, column, times_ns).frames()
    return FrameFile(frames, provenance, tuple(notes), has_work=False, column=column)


def _capture_provenance(
    path: Path, column: str, stream: str, created: datetime | None = None
) -> Provenance:
    note = ", ".join(filter(None, (f"column {column}" if column else "", stream)))
    return Provenance(path.name, created, __version__, CAPTURED, None, note)


def _is_recognised(importer: Importer, head: bytes) -> bool:
    try:
        with IMPORTERS.guarding(importer):
            return bool(importer.recognises(head))
    except ExtensionError as error:
        report(error)
        return False


def _read_recording(path: Path, stream: str | None = None) -> FrameFile:
    recording = recording_showing(path, stream)
    # The recording stays open for the frames, and is closed when nothing refers to it any more.
    with as_far_as_it_goes(recording):
        state = recording.state_before(recording.end)
        frames = FrameTimes.from_timeline(state, annotations=recording.annotations)
        provenance, notes = provenance_of_recording(recording, state), recording.notes
        provenance = structs.replace(provenance, waits=frames_wait(state, recording.meta))
    loops = loops_of(state)
    if len(loops) > 1:
        others = [(each.name, each.frames) for each in loops if each.clock_id != state.frames_of]
        (name,) = (each.name for each in loops if each.clock_id == state.frames_of)
        provenance = structs.replace(provenance, note=name)
        notes = (note_on_choice(name, len(frames), others), *notes)
    missing = PARTIAL_RECORDING if recording.is_partial else ""
    return FrameFile(frames, provenance, notes, has_work=True, missing=missing)


def recording_showing(path: Path, stream: str | None) -> Recording:
    """Open a recording, with the frames of one of the loops of its programs."""
    recording = open_recording(path)
    if stream is not None:
        try:
            recording.choose_frames(_loop_named(stream, recording))
        except BaseException:
            recording.close()
            raise
    return recording


def _loop_named(stream: str, recording: Recording) -> int:
    with as_far_as_it_goes(recording):
        loops = loops_of(recording.state_before(recording.end))
    if not loops:
        raise CaptureError(f"{recording.path} has a single stream. Omit --stream.")
    names = [each.name for each in loops]
    return loops[stream_named(stream, names, recording.path)].clock_id


def _read_json(path: Path) -> FrameFile:
    text = bytearray()
    for piece in CaptureSource(path).pieces():
        text += piece
    try:
        found = _decode_json(text)
        head = {name: msgspec.json.decode(raw) for name, raw in found.items() if name != "columns"}
        columns = found.get("columns", msgspec.Raw(b""))
        by_name = _decode_json(columns) if bytes(memoryview(columns)[:1]) == b"{" else None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise CaptureError(f"{path} is not complete JSON ({error}). Export it again.") from None
    if head.get("format") != JSON_FORMAT or by_name is None:
        message = f"{path} is JSON, but not frame times of the inspector. Choose another file."
        raise CaptureError(message)
    _check_version(path, head)
    decoded = {name: _column(path, name, by_name.get(name)) for name in _read_names(by_name)}
    return _own_file(path, head, decoded)


def _read_arrow(path: Path) -> FrameFile:
    head, columns = read_arrow(path)
    _check_version(path, head)
    if missing := [name for name in _NS_COLUMNS if name not in columns]:
        raise _damaged(path, f"no column {missing[0]} of whole numbers")
    return _own_file(path, head, {name: columns[name] for name in _read_names(columns)})


def _read_names(there: Container[str]) -> tuple[str, ...]:
    """Return the names of the columns to read, including the shares of intervals if present."""
    has_shares = all(name in there for name in _SHARE_COLUMNS)
    return (*_NS_COLUMNS, *_SHARE_COLUMNS) if has_shares else _NS_COLUMNS


def _check_version(path: Path, head: dict[str, Any]) -> None:
    if head.get("version") != JSON_VERSION:
        raise CaptureError(
            f"{path} was written by a newer inspector (version {shown(head.get('version'))} of "
            "the format). Update this inspector."
        )


def _own_file(path: Path, head: dict[str, Any], columns: dict[str, NsColumn]) -> FrameFile:
    interventions = interventions_from_values(head.get("interventions"))
    markers = markers_from_values(head.get("landmarks"))
    frames = _frames(path, columns)
    samples = SAMPLES if head.get("samples") else ""
    frames = structs.replace(frames, interventions=interventions, markers=markers, samples=samples)
    there = sum(_count(head.get(name)) for name in ("interventions", "landmarks"))
    damaged = there - len(interventions) - len(markers)
    what = "entry" if damaged == 1 else "entries"
    note = (
        f"{damaged:,} {what} among interventions, annotations and marks cannot be read and were "
        "skipped."
    )
    provenance = _provenance(path, head.get("provenance"))
    notes = (samples,) if samples else ()
    return FrameFile(frames, provenance, (note, *notes) if damaged else notes, has_work=True)


def _count(values: object) -> int:
    """Return the number of entries in a value that should be a list."""
    return len(values) if isinstance(values, list) else int(values is not None)


def _provenance(path: Path, found: object) -> Provenance:
    values: dict[str, Any] = found if isinstance(found, dict) else {}
    try:
        created = datetime.fromisoformat(values["created"])
    except (KeyError, TypeError, ValueError):
        created = None
    return Provenance(
        scene=str(values.get("scene") or path.name),
        created=created,
        version=str(values.get("inspector_version", "")),
        source=str(values.get("source", "")),
        frame_rate=rate_in_file(values.get("frame_rate")),
        note=str(values.get("note", "")),
        own_budget=budget_in_file(values.get("own_budget")),
    )


def _read_csv(path: Path) -> FrameFile:
    names: tuple[str, ...] = ()
    places: list[int] = []
    parts: dict[str, list[NsColumn]] = {}
    carry = b""
    is_header = True
    count = 1
    for piece in chain(CaptureSource(path).pieces(), (b"",)):
        # Only whole lines are read. If the file was cut short, its last line has too few cells.
        end = piece.rfind(b"\n") + 1 if piece else 0
        text, carry = (carry + piece[:end], piece[end:]) if end else (b"", carry + piece)
        if not piece and carry.count(b",") > max([len(CSV_COLUMNS) - 2, *places]):
            text = carry
        if text and is_header:
            header = text.partition(b"\n")[0].decode("latin-1").replace('"', "").strip().split(",")
            names = _read_names(header)
            # The first columns are known; their names may follow a byte order mark.
            places = [*range(len(_NS_COLUMNS)), *map(header.index, names[len(_NS_COLUMNS) :])]
            parts = {name: [] for name in names}
        lines = text.splitlines()[is_header:] if text else []
        is_header = is_header and not text
        if not lines:
            continue
        rows = _numbers(lines, places)
        if rows is None:
            damaged = bisect_left(
                range(len(lines)), True, key=lambda at: _numbers(lines[: at + 1], places) is None
            )
            raise _damaged(path, f"not only whole numbers in line {count + damaged + 1:,}")
        count += len(lines)
        for name, column in zip(names, rows.T, strict=True):
            parts[name].append(column.copy() if column.any() else _zeros(len(column)))
    columns = {name: _joined(parts.pop(name, [])) for name in names or _NS_COLUMNS}
    provenance = Provenance(path.stem, None, __version__)
    frames = _frames(path, columns)
    if _are_samples(frames):
        return FrameFile(
            structs.replace(frames, samples=SAMPLES), provenance, (SAMPLES,), has_work=False
        )
    return FrameFile(frames, provenance, (), True)


def _are_samples(frames: FrameTimes) -> bool:
    """Return whether these are samples, which are further apart than the frames are long.

    In a session whose time passes at another rate than its source, too, they are further apart;
    but there, deltas differ from intervals.
    """
    if len(frames) <= 1 or frames.busy_ns.any():
        return False
    if not np.array_equal(frames.delta_ns, frames.interval_ns):
        return False
    usual_ns = float(np.median(np.diff(frames.at_ns)))
    return usual_ns > _FURTHER * float(np.median(frames.interval_ns[1:]))


def _numbers(lines: list[bytes], places: list[int]) -> NDArray[np.int64] | None:
    """Return the columns at some places, shape (rows, places), ``None`` if one is damaged."""
    if not any(map(bytes.strip, lines)):
        return np.empty((0, len(places)), np.int64)
    try:
        return np.loadtxt(
            lines,
            dtype=np.int64,
            delimiter=",",
            usecols=places,
            quotechar='"',
            comments=None,
            ndmin=2,
            # Other programs may save it in another encoding, but only digits are read here.
            encoding="latin-1",
        )
    except (ValueError, OverflowError):
        return None


def _zeros(count: int) -> NsColumn:
    return np.broadcast_to(np.int64(0), count)


def _joined(parts: list[NsColumn]) -> NsColumn:
    """Return the parts of a column as one, which takes no memory if all are zeros."""
    if all(part.strides == (0,) for part in parts):
        return _zeros(sum(map(len, parts)))
    return np.concatenate(parts)


def _frames(path: Path, columns: dict[str, NsColumn]) -> FrameTimes:
    for name, column in columns.items():
        if len(column) and not 0 <= column.min() <= column.max() < MAX_NS:
            raise _damaged(path, f"{name} before 0 or beyond 146 years")
    if len({len(column) for column in columns.values()}) > 1:
        raise _damaged(path, "columns of different lengths")
    if np.any(np.diff(columns["frame"]) != 1):
        raise _damaged(path, "frames that do not follow each other")
    if np.any(np.diff(columns["at_ns"]) < 0):
        raise _damaged(path, "frames that go back in time")
    phases = [columns[name] for name in PHASE_COLUMNS]
    is_idle = all(phase.strides == (0,) for phase in phases)
    has_shares = _SHARE_COLUMNS[0] in columns
    return FrameTimes.of_columns(
        columns["frame"],
        columns["at_ns"],
        columns["interval_ns"],
        columns["delta_ns"],
        columns["busy_ns"],
        None if is_idle else np.stack(phases),
        np.stack([columns[name] for name in _SHARE_COLUMNS]) if has_shares else None,
    )


def _column(path: Path, name: str, values: msgspec.Raw | None) -> NsColumn:
    text = memoryview(values or b"")
    if bytes(text[:1]) != b"[":
        raise _damaged(path, f"no column {name}")
    parts = []
    start, last = 1, len(text) - 1
    while start < last:
        piece = bytes(text[start : min(start + _PIECE, last)])
        if start + len(piece) < last:
            piece = piece[: piece.rfind(b",")]
        try:
            part = np.array(_decode_numbers(b"[%b]" % piece), dtype=np.int64)
        except (msgspec.DecodeError, OverflowError):
            raise _damaged(path, f"not only whole numbers in {name}") from None
        parts.append(part if part.any() else _zeros(len(part)))
        start += len(piece) + 1
    return _joined(parts) if parts else _zeros(0)


def _damaged(path: Path, what: str) -> CaptureError:
    return CaptureError(f"{path} is damaged: it has {what}. Export it again.")


def _is_our_json(head: bytes) -> bool:
    return is_json(head) and json.dumps(JSON_FORMAT).encode() in head


def _is_our_csv(head: bytes) -> bool:
    return head.removeprefix(_BYTE_ORDER_MARK).startswith(",".join(CSV_COLUMNS).encode())


#: Reads any file that no other importer recognises.
_TABLE: Final = Importer("table", lambda _head: True, FrameTableReader)
#: Recordings are read in place, so they cannot be compressed.
_RECORDING: Final = Importer(
    "recording", lambda head: head.startswith(SQLITE_MAGIC), _read_recording
)
IMPORTERS: Final = Registry(
    "importers",
    Importer,
    (
        _TABLE,
        _RECORDING,
        Importer("JSON", _is_our_json, _read_json),
        Importer("CSV", _is_our_csv, _read_csv),
        Importer("Arrow", is_arrow, _read_arrow),
        Importer("CapFrameX", is_capframex, CapFrameXReader),
        Importer("OpenTelemetry", is_otlp, OtlpReader),
        Importer("trace", is_json, JsonTraceReader),
        Importer("Perfetto", is_perfetto, PerfettoReader),
        Importer("Tracy", is_tracy, TracyReader),
    ),
    names=lambda each: (each.name,),
)
