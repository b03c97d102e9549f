"""A session as Chrome trace-event JSON, which Perfetto, Chrome and Speedscope open.

A track is a thread; threads do not nest, so it is named by its path. Times are microseconds of
session time.
Format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from inspector.formats.captures.trace_extras import OVERLAPPING, CounterTrack
from inspector.formats.traces.session_trace import Events, write_trace
from inspector.formats.traces.writer import NOTHING, PROCESS, Reach, SliceDetails

if TYPE_CHECKING:
    from inspector.formats.frame_times import Provenance
    from inspector.formats.options import ExportOptions

_PID: Final = 1
_NS_PER_US: Final = 1000
#: dumps() would make another encoder for each line.
_written: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def write_trace_json(
    events: Events, provenance: Provenance, _options: ExportOptions, stream: BinaryIO
) -> None:
    about = {"scene": provenance.scene, "software": provenance.software}
    head = json.dumps({"displayTimeUnit": "ms", "otherData": about}, ensure_ascii=False)
    stream.write(_encoded(f'{head[:-1]}, "traceEvents": [\n'))
    writer = _JsonWriter(stream)
    write_trace(events, writer, provenance.scene)
    stream.write(b"\n]}\n")


class _JsonWriter:
    nests = False

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._is_first = True
        self._paths: dict[int, str] = {PROCESS: ""}
        self._places: dict[int, tuple[int, int]] = {}
        # Categories of tracks whose slices may overlap, and the last identifier of such a slice.
        self._overlapping: dict[int, str] = {}
        self._ids = 0

    def _write(self, track: int, values: dict[str, Any]) -> None:
        pid, tid = self._places.get(track, (_PID, track))
        about = {"pid": pid, "tid": tid, **values}
        line = _written(about)
        self._stream.write(_encoded(line if self._is_first else f",\n{line}"))
        self._is_first = False

    def track(
        self,
        track: int,
        name: str,
        parent: int,
        *,
        is_process: bool = False,
        number: int | None = None,
    ) -> None:
        if is_process:
            self._places[track] = _PID + track if number is None else number, 0
            self._paths[track] = ""
            if name != f"process {number}":
                self._write(track, {"ph": "M", "name": "process_name", "args": {"name": name}})
            return
        self._places[track] = self._places[parent][0], track if number is None else number
        if name.endswith(OVERLAPPING):
            self._overlapping[track] = name.removesuffix(OVERLAPPING)
            return
        if name == f"thread {number}":
            return
        above = self._paths.get(parent, "")
        self._paths[track] = path = f"{above} / {name}" if above else name
        self._write(track, {"ph": "M", "name": "thread_name", "args": {"name": path}})
        index = {"sort_index": track}
        self._write(track, {"ph": "M", "name": "thread_sort_index", "args": index})

    def slice(
        self, track: int, name: str, at_ns: int, took_ns: int, about: SliceDetails = NOTHING
    ) -> None:
        more = {"args": about.arguments} if about.arguments else {}
        if track in self._overlapping:
            self._ids += 1
            values = {"cat": self._overlapping[track], "id": self._ids, "name": name}
            self._write(track, {"ph": "b", "ts": _us(at_ns), **values, **more})
            self._write(track, {"ph": "e", "ts": _us(at_ns + took_ns), **values})
            return
        values = {"ph": "X", "name": name, "ts": _us(at_ns), "dur": _us(took_ns)}
        self._write(track, {**values, **more})
        self._write_flows(track, at_ns, about)

    def instant(
        self, track: int, name: str, at_ns: int, reach: Reach, about: SliceDetails = NOTHING
    ) -> None:
        if track in self._overlapping:
            self.slice(track, name, at_ns, 0, about)
            return
        values = {"ph": "i", "name": name, "ts": _us(at_ns), "s": reach}
        more = {"args": about.arguments} if about.arguments else {}
        self._write(track, {**values, **more})
        self._write_flows(track, at_ns, about)

    def _write_flows(self, track: int, at_ns: int, about: SliceDetails) -> None:
        for step in about.flows:
            kind = "s" if step.begins else "f" if step.ends else "t"
            values = {"ph": kind, "cat": "flow", "id": step.flow, "name": step.name, "bp": "e"}
            self._write(track, {**values, "ts": _us(at_ns)})

    def counter(self, track: int, counted: CounterTrack, at_ns: int, value: float) -> None:
        path = self._paths.get(track, f"clock {track}")
        told = f"{counted.name} of {path}" if path else counted.name
        told += f" ({counted.unit})" if counted.unit else ""
        values = {counted.series: value}
        self._write(track, {"ph": "C", "name": told, "ts": _us(at_ns), "args": values})


def _us(ns: int) -> float:
    """Return nanoseconds as microseconds, which the format wants, with all digits."""
    return ns / _NS_PER_US


def _encoded(text: str) -> bytes:
    # File names may hold undecodable bytes, which JSON can escape.
    return text.encode(errors="backslashreplace")
