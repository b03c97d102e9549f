"""Exports: how fast frames are drawn and written, held against numpy, pandas and json."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tracemalloc
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time_ns
from typing import TYPE_CHECKING, Final

import numpy as np

from inspector.events.recording import RecordingInfo
from inspector.events.recording.writing.file import RecordingFile
from inspector.events.timeline import Timeline
from inspector.formats.arrangement.picture import frame_graph
from inspector.formats.captures.capture import Stream
from inspector.formats.drawing.svg import svg_text
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.tables.frame_times_csv import write_csv
from inspector.formats.tables.frame_times_json import column_readers, write_json
from inspector.sessions.frame_files import read_frame_file
from inspector.vocabulary import (
    FRAME_BEGAN,
    FRAME_ENDED,
    FRAME_SHARES,
    PHASE_ENDED,
    Phase,
    RawEvent,
    two_durations,
)
from tests.benchmarks.measuring import Case, Effort, measure, powers_of_ten
from tests.benchmarks.report import Row, absent_row, ratio_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PROVENANCE: Final = Provenance("benchmark", datetime(2026, 1, 2, tzinfo=UTC), "0.1.0")
_OPTIONS: Final = ExportOptions()
#: How many sorts of the frame times their graph may take.
_MOST_SORTS: Final = 25
#: How many times slower others write the same columns.
_TO_SAVETXT, _TO_DUMPS = 3.0, 0.5
#: How much of the time pandas may take to read all columns, of which we check each.
_TO_PANDAS: Final = 0.5
#: How many times the memory of a short recording the export of a long one may take.
_MOST_OF_SHORT: Final = 3.0
#: Frames that are recorded at once.
_AT_ONCE: Final = 10_000
#: Memory that an export may take beside the frames, of what those take.
_MOST_MEMORY: Final = 1.0


def _frames(count: int) -> FrameTimes:
    random = np.random.default_rng(1)
    times = random.normal(16_666_667, 1_200_000, count).clip(1).astype(np.int64)
    times[:: max(count // 500, 1)] *= 5
    return Stream("", "ms", times).frames()


def write_exports(effort: Effort) -> Iterator[Row]:
    """Draw and write frames, against a sort, ``numpy.savetxt`` and ``json.dumps`` of them."""
    count = 10_000 if effort.is_quick else 1_000_000
    frames = _frames(count)
    table = np.column_stack([read(frames) for read in column_readers(frames).values()])

    def to_csv() -> None:
        write_csv(frames, _PROVENANCE, _OPTIONS, io.BytesIO())

    def to_json() -> None:
        write_json(frames, _PROVENANCE, _OPTIONS, io.BytesIO())

    cases = [
        Case("svg", _does(lambda: svg_text(frame_graph(frames, _PROVENANCE, _OPTIONS)))),
        Case("sort", _does(lambda: np.sort(frames.interval_ns))),
        Case("csv", _does(to_csv)),
        Case("json", _does(to_json)),
        Case("dumps", _does(lambda: json.dumps([each.tolist() for each in table.T]))),
        Case("savetxt", _does(lambda: np.savetxt(io.BytesIO(), table, "%d", ","))),
    ]
    measured = measure(cases, effort.repeats(3), stopwatch=process_time_ns)
    name = f"write_exports/{powers_of_ten(count)} frames"
    sorts = 1 / measured.ratio("sort", "svg")
    goal = None if effort.is_quick else _MOST_SORTS
    yield Row(f"{name} to SVG, in sorts", sorts, goal, detail="CPU time", unit="x")
    detail = "16 columns of ours against its 12, in CPU time"
    yield ratio_row(
        f"{name} to CSV, to savetxt", measured.ratio("savetxt", "csv"), _TO_SAVETXT, detail
    )
    yield ratio_row(
        f"{name} to JSON, to dumps", measured.ratio("dumps", "json"), _TO_DUMPS, "CPU time"
    )
    tracemalloc.start()
    to_csv()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The table that is written is in that memory.
    written = io.BytesIO()
    write_csv(frames, _PROVENANCE, _OPTIONS, written)
    share = (peak - len(written.getvalue())) / table.nbytes
    most = None if effort.is_quick else _MOST_MEMORY
    yield Row(f"{name} to CSV, memory to frames", share, most, unit="x")


def export_recordings(effort: Effort) -> Iterator[Row]:
    """Export a recording on the command line, and see how much memory that takes."""
    count = 10_000 if effort.is_quick else 1_000_000
    with TemporaryDirectory() as folder:
        path, short = Path(folder) / "run.tlrec", Path(folder) / "short.tlrec"
        _record(path, count)
        _record(short, 10)
        for suffix in ("svg", "png", "csv", "json", "html", "trace.json"):
            took_s, most_mb = _exported(path, suffix)
            _, least_mb = _exported(short, suffix)
            yield Row(
                f"export_recordings/{powers_of_ten(count)} frames to {suffix.upper()}, memory",
                most_mb / least_mb,
                _MOST_OF_SHORT,
                detail=f"{most_mb:.0f} MB against those of 10 frames, {took_s:.1f} s of CPU time",
                unit="x",
            )


def _record(path: Path, count: int) -> None:
    """Record frames with their phases and shares, as those of a scene are."""
    timeline = Timeline([""])
    file = RecordingFile(path, RecordingInfo(title="benchmark"), timeline, 0)
    times_ns = _frames(count).interval_ns.tolist()
    at_ns = 0
    for start in range(0, count, _AT_ONCE):
        events: list[RawEvent] = []
        for index, took_ns in enumerate(times_ns[start : start + _AT_ONCE], start):
            at_ns += took_ns
            shares = (
                two_durations(took_ns // 8, took_ns // 90),
                two_durations(0, took_ns // 70),
                took_ns // 2,
            )
            events += [
                (at_ns, FRAME_BEGAN, 0, index, took_ns),
                (at_ns, PHASE_ENDED, Phase.UPDATE, index, took_ns // 9),
                (at_ns, FRAME_SHARES, *shares),
                (at_ns, FRAME_ENDED, 0, took_ns, took_ns // 8),
            ]
        file.add(events)
    file.finish()


#: Runs a command, and prints how much memory it took at most.
_MEASURED: Final = """
import sys
from pathlib import Path
from inspector.cli.main import main
code = main(sys.argv[1:])
status = Path("/proc/self/status").read_text().split()
print(status[status.index("VmHWM:") + 1])
sys.exit(code)
"""


def _exported(path: Path, suffix: str) -> tuple[float, float]:
    """Export in a process of its own; return its CPU time and its memory in megabytes."""
    command = [sys.executable, "-c", _MEASURED, "export", str(path), "-o", f"{path}.{suffix}"]
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    before = os.times()
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    after = os.times()
    took_s = sum(after[2:4]) - sum(before[2:4])
    return took_s, int(done.stdout.split()[-1]) / 1024


def read_exports(effort: Effort) -> Iterator[Row]:
    """Read an exported CSV, against ``pandas.read_csv`` of the same file."""
    count = 10_000 if effort.is_quick else 1_000_000
    frames = _frames(count)
    name = f"read_exports/{powers_of_ten(count)} frames of CSV, to pandas"
    with TemporaryDirectory() as folder:
        path = Path(folder) / "frames.csv"
        with path.open("wb") as stream:
            write_csv(frames, _PROVENANCE, _OPTIONS, stream)
        cases = [Case("ours", _does(lambda: read_frame_file(path)))]
        with suppress(ImportError):
            pandas = import_module("pandas")
            cases.append(Case("pandas", _does(lambda: pandas.read_csv(path))))
        measured = measure(cases, effort.repeats(3), stopwatch=process_time_ns)
        if len(cases) == 1:
            yield absent_row(name, "pandas")
        else:
            yield ratio_row(name, measured.ratio("pandas", "ours"), _TO_PANDAS, "CPU time")


def _does(work: Callable[[], object]) -> Callable[[], nullcontext[Callable[[], object]]]:
    return lambda: nullcontext(work)


BENCHMARKS = (write_exports, export_recordings, read_exports)
