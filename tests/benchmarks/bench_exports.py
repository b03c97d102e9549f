"""Exports: how fast frames are drawn and written, held against numpy, pandas and json."""

from __future__ import annotations

import io
import json
import tracemalloc
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time_ns
from typing import TYPE_CHECKING, Final

import numpy as np

from inspector.formats.captures.capture import Stream
from inspector.formats.captures.frame_times_csv import write_csv
from inspector.formats.captures.frame_times_json import columns_of, write_json
from inspector.formats.frame_graph.frame_graph import frame_graph
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.svg import svg_text
from inspector.sessions.frame_files import read_frame_file
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
    table = np.column_stack(list(columns_of(frames).values()))

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


BENCHMARKS = (write_exports, read_exports)
