"""What the files of other people's tools open as: every sample file has its line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from inspector.errors import CaptureError
from inspector.formats.captures.capture import Capture, CaptureReader
from inspector.sessions.frame_files import open_frame_file, read_frame_file
from tests.formats.read_captures import whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    SampleFile = Callable[[str], Path]

_PRESENTER = "Presenter.exe (process 10792, swap chain 0x20979A6D5F8)"
_PRESENTER_1 = "Presenter.exe (process 24560, swap chain 0x2019D7777C0)"
_PRESENTER_2 = "Presenter.exe (process 10016, swap chain 0x1BA6DC82C58)"

#: File, format, frames, column, stream, number of streams.
_TABLES: Final = (
    ("presentmon/test_case_0.csv", "PresentMon", 18, "MsBetweenPresents", _PRESENTER, 10),
    ("presentmon/test_case_0_v2.csv", "PresentMon 2.0", 18, "FrameTime", _PRESENTER, 10),
    ("presentmon/test_case_0_v1.csv", "PresentMon 1", 19, "msBetweenPresents", "", 10),
    ("presentmon/test_case_1.csv", "PresentMon", 7, "MsBetweenPresents", _PRESENTER_1, 4),
    ("presentmon/test_case_1_v2.csv", "PresentMon 2.0", 7, "FrameTime", _PRESENTER_1, 4),
    ("presentmon/test_case_1_v1.csv", "PresentMon 1", 8, "msBetweenPresents", "", 6),
    ("presentmon/test_case_2.csv", "PresentMon", 18, "MsBetweenPresents", _PRESENTER_2, 4),
    ("presentmon/test_case_2_v2.csv", "PresentMon 2.0", 18, "FrameTime", _PRESENTER_2, 4),
    ("presentmon/test_case_2_v1.csv", "PresentMon 1", 19, "msBetweenPresents", "", 4),
    ("presentmon/third_party_csgo.csv", "PresentMon 1", 4_265, "MsBetweenPresents", "csgo.exe", 1),
    (
        "capframex_csv/CapFrameXFileWithHeader.csv",
        "CapFrameX",
        7_285,
        "MsBetweenPresents",
        "re2",
        1,
    ),
    (
        *("capframex_csv/PresentMonTestOutputFilename.csv", "PresentMon 1", 1_171),
        *("MsBetweenPresents", "FarCryNewDawn.exe", 1),
    ),
    ("capframex_csv/ShortFile.csv", "PresentMon 1", 5, "MsBetweenPresents", "FarCryNewDawn", 1),
)

#: File, slices, frames by default (0: none is taken for a frame), slice.
_TRACES: Final = (
    ("chrome_trace/async_begin_end.json", 22, 0, ""),
    ("chrome_trace/big_trace.json", 933, 96, "GpuScheduler:ProcessCommands"),
    ("chrome_trace/flow_simple.json", 5, 0, ""),
    ("chrome_trace/instance_counters.json", 2, 0, ""),
    ("chrome_trace/instant_events.json", 5, 0, ""),
    ("chrome_trace/perfetto_flow_events_json_v1.json", 5, 0, ""),
    ("chrome_trace/simple_trace.json", 18, 0, ""),
    ("chrome_trace/simple_trace_gz.gz", 16, 0, ""),
    ("chrome_trace/tall_trace.json", 18, 0, ""),
    ("chrome_trace/trivial_trace.json", 2, 0, ""),
    ("chrome_trace/x_event_trace.json", 3_477, 120, "Picture::Raster"),
    ("viztracer/function_args_return.json", 25, 0, ""),
    ("viztracer/multithread.json", 582, 0, ""),
    ("viztracer/old.json", 5, 0, ""),
)


def opened(path: Path) -> Capture:
    reader = open_frame_file(path)
    assert isinstance(reader, CaptureReader)
    return whole(reader)


@pytest.mark.parametrize(("name", "written_by", "frames", "column", "stream", "streams"), _TABLES)
def test_that_a_table_opens(  # noqa: PLR0913, PLR0917 - a line of the table
    sample_file: SampleFile,
    name: str,
    written_by: str,
    frames: int,
    column: str,
    stream: str,
    streams: int,
) -> None:
    capture = opened(sample_file(name))

    shown = capture.stream()
    assert (capture.format, len(shown), shown.column) == (written_by, frames, column)
    assert shown.name.startswith(stream)
    assert len(capture.streams) == streams
    assert (shown.skipped, shown.samples, capture.notes) == (0, "", ())


@pytest.mark.parametrize(("name", "slices", "frames", "frame_name"), _TRACES)
def test_that_a_trace_opens(
    sample_file: SampleFile, name: str, slices: int, frames: int, frame_name: str
) -> None:
    capture = opened(sample_file(name))

    assert capture.slices is not None
    assert len(capture.slices) == slices
    if frames:
        assert (len(capture.stream()), capture.stream().column) == (frames, frame_name)
    else:
        with pytest.raises(CaptureError, match="none is taken for a frame"):
            capture.stream()


def test_that_a_trace_of_another_kind_is_refused_with_what_it_is(sample_file: SampleFile) -> None:
    with pytest.raises(CaptureError, match="is a trace of Google Cloud"):
        read_frame_file(sample_file("chrome_trace/google_cloud_trace.json"))


def test_that_every_sample_is_in_a_table(sample_file: SampleFile) -> None:
    folder = sample_file("presentmon").parent
    known = {row[0] for row in (*_TABLES, *_TRACES)} | {"chrome_trace/google_cloud_trace.json"}
    there = {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.name != "README.md"
    }
    assert there == known


@pytest.mark.parametrize("case", [0, 1, 2])
def test_that_the_three_column_sets_of_one_presentmon_capture_agree(
    sample_file: SampleFile, case: int
) -> None:
    current = opened(sample_file(f"presentmon/test_case_{case}.csv")).stream()
    second = opened(sample_file(f"presentmon/test_case_{case}_v2.csv")).stream()
    first = opened(sample_file(f"presentmon/test_case_{case}_v1.csv")).stream()
    # Two files hold the same frames of the same stream, the oldest set a few more presents.
    assert current.name == second.name
    assert set(current.interval_ns.tolist()) <= set(first.interval_ns.tolist())
    again = read_frame_file(
        sample_file(f"presentmon/test_case_{case}.csv"), "MsBetweenAppStart"
    ).frames
    assert again.interval_ns.tolist() == second.interval_ns.tolist()
