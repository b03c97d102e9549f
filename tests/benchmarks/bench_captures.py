"""Captures: how fast tables and traces are read, held against pandas and the json module."""

from __future__ import annotations

import json
import tracemalloc
from contextlib import nullcontext, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time_ns
from typing import TYPE_CHECKING

import numpy as np

from inspector.analysis.statistics.frame_statistics import frame_statistics
from inspector.analysis.statistics.metrics import metric_values
from inspector.analysis.statistics.time_series import TimeSeries
from inspector.formats.captures.json_trace import JsonTraceReader
from inspector.formats.captures.tool_tables import FrameTableReader
from inspector.sessions.captured import CapturedSession
from tests.benchmarks.measuring import Case, Effort, measure, powers_of_ten
from tests.benchmarks.report import Row, ratio_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from inspector.formats.captures.capture import Capture, CaptureReader

#: How much of the time of :func:`json.loads`, which makes objects only, slices may take.
_TO_JSON = 0.5
#: How many times the sorts that they need statistics may take.
_MOST_SORTS = 3.0
_HEADER = (
    "Application,ProcessID,SwapChainAddress,PresentRuntime,SyncInterval,PresentFlags,"
    "AllowsTearing,PresentMode,FrameType,TimeInQPC,MsBetweenSimulationStart,MsBetweenPresents,"
    "MsBetweenDisplayChange,MsInPresentAPI,MsRenderPresentLatency,MsUntilDisplayed,MsPCLatency,"
    "CPUStartQPC,MsBetweenAppStart,MsCPUBusy,MsCPUWait,MsGPULatency,MsGPUTime,MsGPUBusy,MsGPUWait,"
    "MsAnimationError,AnimationTime,MsFlipDelay,MsAllInputToPhotonLatency\n"
)


def _presentmon(path: Path, rows: int) -> None:
    """Write a capture of two programs in the present columns."""
    with path.open("w", encoding="utf-8") as file:
        file.write(_HEADER)
        for row in range(rows):
            name, chain = ("dwm.exe", "0x2240A1C0") if row % 5 == 0 else ("game.exe", "0x15EFD842")
            ms = 6 + row * 7_919 % 1_000_003 / 100_000
            file.write(
                f"{name},1268,{chain},DXGI,1,0,0,Hardware: Legacy Flip,Application,"
                f"{2_076_674_276 + row},NA,{ms:.14f},{ms:.14f},0.08930000000000,0.0673,16.4296,NA,"
                f"{2_076_511_276 + row},{ms:.4f},16.3000,0.0893,0.8529,15.5144,1.0752,14.4392,"
                f"NA,{row / 60:.4f},NA,NA\n"
            )


def _trace(path: Path, events: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write('{"traceEvents": [\n')
        lines = (
            json.dumps(
                {
                    "cat": "cc",
                    "pid": 14_689,
                    "tid": 14_751 + number % 4,
                    "ts": 172_187_584_349 + number * 40,
                    "ph": "X",
                    "name": f"Scheduler::Step{number % 30}",
                    "args": {"frame": number, "name": "a text that takes some room"},
                    "dur": 35.5,
                }
            )
            for number in range(events)
        )
        file.write(",\n".join(lines))
        file.write("\n]}\n")


def _whole(reader: CaptureReader) -> Capture:
    while reader.read_on():
        pass
    return reader.capture()


def _read_table(path: Path) -> Capture:
    return _whole(FrameTableReader(path))


def _peak(work: Callable[[], object]) -> int:
    """Return the most memory that something takes, in bytes."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _speed_row(name: str, path: Path, took_ns: float) -> Row:
    size = path.stat().st_size / 1e6
    detail = f"{size:.0f} MB in {took_ns / 1e9:.2f} s"
    return Row(name, size / (took_ns / 1e9), detail=detail, unit="MB/s")


def read_tables(effort: Effort) -> Iterator[Row]:
    """Read a PresentMon capture, against ``pandas.read_csv`` of the same file."""
    rows = 10_000 if effort.is_quick else 1_000_000
    with TemporaryDirectory() as folder:
        path = Path(folder) / "capture.csv"
        _presentmon(path, rows)
        read_whole = partial(_read_table, path)
        cases = [Case("ours", _reads(read_whole))]
        with suppress(ImportError):
            pandas = import_module("pandas")
            cases.append(Case("pandas", _reads(lambda: pandas.read_csv(path))))
        # Of all threads: pandas parses in another.
        measured = measure(cases, effort.repeats(5), stopwatch=process_time_ns)
        size = powers_of_ten(rows)
        name = f"read_tables/{size} rows"
        yield _speed_row(name, path, measured.median_ns("ours"))
        if len(cases) == 1:
            yield Row(f"{name} to pandas", None, 1.0, at_most=False, detail="no pandas", unit="x")
        else:
            yield ratio_row(f"{name} to pandas", measured.ratio("pandas", "ours"), 1.0, "CPU time")
            peak, made = _peak(read_whole), int(pandas.read_csv(path).memory_usage(deep=True).sum())
            detail = f"at most {peak / 1e6:.0f} MB, where pandas keeps {made / 1e6:.0f} MB"
            yield Row(f"{name}, memory to pandas", peak / made, 1.0, detail=detail, unit="x")
        opened = measure([Case("first", _reads(lambda: CapturedSession(path)))], effort.repeats(3))
        yield Row(
            f"read_tables/{size} rows, first picture",
            opened.median_ns("first") / 1e6,
            detail="the session with what was read of the file so far",
            unit="ms",
        )


def read_traces(effort: Effort) -> Iterator[Row]:
    """Read a trace in JSON, and what memory it takes at most."""
    events = 10_000 if effort.is_quick else 500_000
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        _trace(path, events)
        cases = [
            Case("ours", _reads(lambda: _whole(JsonTraceReader(path)))),
            Case("json", _reads(lambda: json.loads(path.read_bytes()))),
        ]
        measured = measure(cases, effort.repeats(5))
        name = f"read_traces/{powers_of_ten(events)} slices"
        yield _speed_row(name, path, measured.median_ns("ours"))
        detail = "json.loads alone, in CPU time"
        yield ratio_row(f"{name} to json", measured.ratio("json", "ours"), _TO_JSON, detail)
        peak = _peak(lambda: _whole(JsonTraceReader(path)))
        size = path.stat().st_size
        yield Row(
            f"{name}, memory to file",
            peak / size,
            None if effort.is_quick else 1.0,
            detail=f"at most {peak / 1e6:.0f} MB for {size / 1e6:.0f} MB",
            unit="x",
        )


def compute_statistics(effort: Effort) -> Iterator[Row]:
    """Compute all statistics of frame times, against the sorts that they need."""
    count = 10_000 if effort.is_quick else 1_000_000
    times_ms = np.random.default_rng(1).normal(16.7, 1.2, count).clip(0.1)
    times_ns = (times_ms * 1e6).astype(np.int64)
    until = np.cumsum(times_ms)

    def sort_all() -> None:
        """Sort by size, and merge two rows of instants for each of two trailing windows."""
        np.sort(times_ms)
        for _ in range(2):
            np.argsort(np.concatenate((until, until - 500)), kind="stable")

    cases = [
        Case("sort", _reads(lambda: np.sort(times_ns))),
        Case("ranks", _reads(lambda: frame_statistics(times_ns, (16_700_000,)))),
        Case("sorts", _reads(sort_all)),
        Case("all", _reads(lambda: metric_values(TimeSeries(times_ms, 16.7)))),
    ]
    measured = measure(cases, effort.repeats(7))
    name = f"compute_statistics/{powers_of_ten(count)} frames"
    most = None if effort.is_quick else _MOST_SORTS
    yield Row(f"{name}, percentiles, in sorts", measured.ratio("ranks", "sort"), most, unit="x")
    detail = f"of every tool, in {measured.median_ns('all') / 1e6:.0f} ms of CPU time"
    yield Row(
        f"{name}, all, in sorts", measured.ratio("all", "sorts"), most, detail=detail, unit="x"
    )


def _reads(work: Callable[[], object]) -> Callable[[], nullcontext[Callable[[], object]]]:
    return lambda: nullcontext(work)


BENCHMARKS = (read_tables, read_traces, compute_statistics)
