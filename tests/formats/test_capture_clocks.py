"""When the frames of a capture are: their times end where the file's own clock says."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from inspector.errors import CaptureError
from inspector.formats.captures.capframex_json import CapFrameXReader
from inspector.formats.captures.tool_tables import FrameTableReader
from inspector.formats.export import export_frames, exporters
from inspector.formats.options import ExportOptions
from inspector.sessions.frame_files import read_frame_file
from tests.formats.read_captures import whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from inspector.formats.captures.capture import Stream

    SampleFile = Callable[[str], Path]

MS, S = 1_000_000, 1_000_000_000


def opened(folder: Path, text: str, column: str | None = None, name: str = "a.csv") -> Stream:
    path = folder / name
    path.write_text(text)
    return whole(FrameTableReader(path, column)).stream()


def lines(names: str, rows: Sequence[Sequence[object]]) -> str:
    return "\n".join([names, *(",".join(map(str, row)) for row in rows), ""])


PRESENTS = [(4.0, 9.681), (4.012166, 12.166), (4.019, 6.834), (4.0625, 43.5)]


def test_that_a_present_is_where_its_time_ends_and_the_next_begins(tmp_path: Path) -> None:
    frames = opened(tmp_path, lines("TimeInSeconds,MsBetweenPresents", PRESENTS)).frames()

    assert frames.interval_ns[0] == frames.at_ns[0] == 9_681_000
    assert np.diff(frames.at_ns).tolist() == [12_166_000, 6_834_000, 43_500_000]


def test_that_times_that_count_from_their_instant_end_later(tmp_path: Path) -> None:
    rows = [(100, 9.5, 2), (109.5, 12, 3), (121.5, 6, 1)]
    text = lines("CPUStartTime,FrameTime,CPUBusy", rows)

    frames = opened(tmp_path, text).frames()

    assert frames.at_ns.tolist() == [9_500_000, 21_500_000, 27_500_000]
    busy = opened(tmp_path, text, "CPUBusy").frames()
    assert busy.at_ns.tolist() == [2 * MS, 14 * MS, 20 * MS]
    assert busy.interval_ns.tolist() == [2 * MS, 3 * MS, 1 * MS]


def test_that_what_is_missing_leaves_a_gap(tmp_path: Path) -> None:
    rows = [(1.0, 10), (1.01, 10), (1.02, 10), (1.03, "NA"), (1.04, 10), (1.05, 10), (1.06, 10)]
    stream = opened(tmp_path, lines("TimeInSeconds,MsBetweenPresents", rows))

    assert stream.skipped == 1
    assert np.diff(stream.frames().at_ns).tolist() == [10 * MS, 10 * MS, 20 * MS, 10 * MS, 10 * MS]


@pytest.mark.parametrize("exporter", ["presentmon", "mangohud", "csv", "json"])
def test_that_exports_of_a_capture_have_its_instants(tmp_path: Path, exporter: str) -> None:
    path = tmp_path / "a.csv"
    rows = [(1 + each / 100 + each // 9, 10) for each in range(20)]
    path.write_text(lines("TimeInSeconds,MsBetweenPresents", rows))
    read = read_frame_file(path)
    (chosen,) = (each for each in exporters() if each.key == exporter)
    again = tmp_path / f"again{chosen.suffix}"

    export_frames(read.frames, read.provenance, ExportOptions(), again, exporter=chosen)

    frames = read_frame_file(again).frames
    assert frames.at_ns.tolist() == read.frames.at_ns.tolist()
    assert frames.interval_ns.tolist() == read.frames.interval_ns.tolist()


def test_that_streams_have_one_clock(tmp_path: Path) -> None:
    rows = [("a", 1.01, 10), ("b", 2.005, 5), ("a", 1.02, 10), ("b", 2.01, 5), ("a", 1.03, 10)]
    path = tmp_path / "two.csv"
    path.write_text(lines("Application,TimeInSeconds,MsBetweenPresents", rows))

    capture = whole(FrameTableReader(path))

    assert capture.stream("a").frames().at_ns.tolist() == [10 * MS, 20 * MS, 30 * MS]
    assert capture.stream("b").frames().at_ns.tolist() == [1_005 * MS, 1_010 * MS]


@pytest.mark.parametrize("clock", ["1.5,1.4,1.6,1.7", "1.5,x,1.52,1.53", "1,NA,NA,NA", "0,0,0,0"])
def test_that_without_a_clock_that_runs_frames_follow_each_other(
    tmp_path: Path, clock: str
) -> None:
    rows = [(at, 10) for at in clock.split(",")]
    stream = opened(tmp_path, lines("TimeInSeconds,MsBetweenPresents", rows))

    assert stream.frames().at_ns.tolist() == [10 * MS, 20 * MS, 30 * MS, 40 * MS]
    assert not stream.samples


@pytest.mark.parametrize("scale", [1, 1_000, 1_000_000, 1_000_000_000, 10_000_000])
def test_that_the_unit_of_a_clock_is_known_by_the_frame_times(tmp_path: Path, scale: int) -> None:
    rows = [(7 * scale + at * scale / 1_000, took) for at, took in ((9, 9), (21, 12), (27, 6))]
    frames = opened(tmp_path, lines("Timestamp,frametime", rows)).frames()
    assert frames.at_ns.tolist() == [9 * MS, 21 * MS, 27 * MS]


@pytest.mark.parametrize(
    ("name", "column", "clock", "seconds"),
    [
        ("presentmon/test_case_0_v1.csv", "msBetweenPresents", "TimeInSeconds", 1.0),
        ("presentmon/test_case_1.csv", "MsBetweenPresents", "TimeInQPC", 1e-7),
        ("presentmon/third_party_csgo.csv", "MsBetweenPresents", "TimeInSeconds", 1.0),
        ("capframex_csv/CapFrameXFileWithHeader.csv", "MsBetweenPresents", "TimeInSeconds", 1.0),
    ],
)
def test_that_presents_of_samples_are_at_their_own_instants(
    sample_file: SampleFile, name: str, column: str, clock: str, seconds: float
) -> None:
    path = sample_file(name)
    stream = whole(FrameTableReader(path)).stream()
    text = path.read_text("utf-8-sig").splitlines()
    own = [
        float(row[clock]) * seconds
        for row in csv.DictReader(line for line in text if not line.startswith("//"))
        if not stream.name or row["SwapChainAddress"] in stream.name
        if float(row[column]) >= 0
    ]

    at_ns = stream.frames().at_ns

    assert stream.column == column
    assert np.allclose((at_ns - at_ns[0]) / S, np.array(own) - own[0], rtol=0, atol=1e-9)
    assert float(np.median(np.abs(np.diff(at_ns) - stream.interval_ns[1:]))) <= 1_000


def test_that_both_columns_of_a_capture_show_a_frame_at_the_same_place(
    sample_file: SampleFile,
) -> None:
    current, second = (
        read_frame_file(sample_file(f"presentmon/test_case_1{name}.csv"), column).frames
        for name, column in (("", "MsBetweenAppStart"), ("_v2", None))
    )
    assert np.diff(current.at_ns).tolist() == np.diff(second.at_ns).tolist()


def test_that_capframex_has_its_own_instants(tmp_path: Path) -> None:
    runs = [
        {"TimeInSeconds": [0.5, 0.512, 0.52, 0.54], "MsBetweenPresents": [10, 12, None, 18]},
        {"TimeInSeconds": [5.0, 5.02], "MsBetweenPresents": [16, 20]},
    ]
    path = tmp_path / "capture.json"
    content = {"Info": {"GameName": "g"}, "Runs": [{"CaptureData": run} for run in runs]}
    path.write_text(json.dumps(content))

    capture = whole(CapFrameXReader(path))

    assert capture.stream("run 1").frames().at_ns.tolist() == [10 * MS, 22 * MS, 50 * MS]
    assert capture.stream("run 2").frames().at_ns.tolist() == [16 * MS, 36 * MS]
    joined = capture.stream().frames().at_ns
    assert joined.tolist() == [10 * MS, 22 * MS, 50 * MS, 66 * MS, 86 * MS]


AFTERBURNER = """\
0, 24-10-2025 15:41:23, Hardware monitoring log v1.6 ,,,
1, 24-10-2025 15:41:23, Some GPU,,,
2, 24-10-2025 15:41:23, Power               ,Framerate           ,Frametime           ,
3, 24-10-2025 15:41:23,0,,,300
80, 24-10-2025 15:41:24,143.1,60,16
80, 24-10-2025 15:41:25,143.8,50,20
80, 24-10-2025 15:41:27,144.8,50,20
80, 24-10-2025 15:41:27,144.8,50,21
80, 24-10-2025 15:41:28,144.8,50,20
"""


@pytest.mark.parametrize("zero", ["", "0"])
def test_that_samples_of_afterburner_are_at_their_times_of_day(tmp_path: Path, zero: str) -> None:
    text = "\n".join(
        line if line.startswith("80") else zero + line for line in AFTERBURNER.splitlines()
    )
    stream = opened(tmp_path, text)

    assert "samples, not every frame" in stream.samples
    assert stream.interval_ns.tolist() == [16 * MS, 20 * MS, 20 * MS, 21 * MS, 20 * MS]
    at_ns = stream.frames().at_ns
    assert (at_ns - at_ns[0]).tolist() == [0, S, 3 * S, 3_500 * MS, 4 * S]


def test_that_a_damaged_time_of_day_is_between_those_around_it(tmp_path: Path) -> None:
    text = AFTERBURNER.replace("24-10-2025 15:41:25", "24-10-9999 15:41:25")
    at_ns = opened(tmp_path, text).frames().at_ns
    assert (at_ns - at_ns[0]).tolist() == [0, 1_500 * MS, 3 * S, 3_500 * MS, 4 * S]


@pytest.mark.parametrize("name", ["elapsed", "elapsed_ns", "time (ns)"])
def test_that_a_log_at_an_interval_has_samples_at_its_own_time(tmp_path: Path, name: str) -> None:
    rows = [(60, 16 + each % 3, 333_000_000 + each * 100_000_000) for each in range(300)]
    stream = opened(tmp_path, lines(f"fps,frametime,{name}", rows))

    assert "samples, not every frame" in stream.samples
    assert stream.frames().length_ns == 29_900 * MS


@pytest.mark.parametrize("exporter", ["csv", "json", "parquet"])
def test_that_samples_are_samples_after_an_export(tmp_path: Path, exporter: str) -> None:
    rows = [(60, 16 + each % 3, each * 100_000_000) for each in range(1, 50)]
    path = tmp_path / "a.csv"
    path.write_text(lines("fps,frametime,elapsed", rows))
    read = read_frame_file(path)
    (chosen,) = (each for each in exporters() if each.key == exporter)
    if chosen.missing:
        pytest.skip(chosen.missing)
    again = tmp_path / f"again{chosen.suffix}"

    export_frames(read.frames, read.provenance, ExportOptions(), again, exporter=chosen)

    found = read_frame_file(again)
    assert found.samples == read.samples
    assert found.notes == read.notes
    assert found.frames.length_ns == read.frames.length_ns == 4_800 * MS


def test_that_samples_at_unknown_instants_are_refused(tmp_path: Path) -> None:
    rows = [(60, 16 + each % 3, 333_000_000 + each * 100_000_000) for each in range(300)]
    with pytest.raises(CaptureError, match=r"samples and not every frame, .* as in “time \(s\)”"):
        opened(tmp_path, lines("fps,frametime,Timestamp", rows))


def test_that_other_durations_than_frame_times_are_no_samples(tmp_path: Path) -> None:
    rows = [(*row, 0.25) for row in PRESENTS]
    text = lines("TimeInSeconds,MsBetweenPresents,MsInPresentAPI", rows)
    stream = opened(tmp_path, text, "MsInPresentAPI")

    assert not stream.samples
    assert np.diff(stream.frames().at_ns).tolist() == [12_166_000, 6_834_000, 43_500_000]


def test_that_frame_times_in_seconds_are_known_by_what_is_beside_them(tmp_path: Path) -> None:
    rates = lines("fps,frametime", [(60, 0.0166), (50, 0.02)])
    assert opened(tmp_path, rates).interval_ns.tolist() == [16_600_000, 20 * MS]
    clock = lines("TimeInSeconds,frametime", [(1, 0.0166), (1.02, 0.02), (1.036, 0.016)])
    assert opened(tmp_path, clock).interval_ns.tolist() == [16_600_000, 20 * MS, 16 * MS]


def test_that_frame_times_that_no_program_reaches_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match=r"60,241 frames per second.*“frametime \(s\)”"):
        opened(tmp_path, "frametime\n0.0166\n0.0166\n0.02\n")
    text = "frametime (s)\n0.0166\n0.02\n"
    assert opened(tmp_path, text).interval_ns.tolist() == [16_600_000, 20 * MS]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("GPU0Util(%)", r"is in %, not milliseconds"),
        ("GPU0Clk(MHz)", "is in MHz"),
        ("NV Pwr(W) (API)", "is in W"),
        ("GPU0Temp(C)", "is in C"),
        ("gpu_vram_used", "does not hold times"),
        ("cpu_load", "does not hold times"),
        ("Dropped", "does not hold times"),
        ("AnimationError", "may be negative"),
        ("MsAnimationError", "may be negative"),
    ],
)
def test_that_columns_in_other_units_are_no_frame_times(
    tmp_path: Path, name: str, why: str
) -> None:
    text = lines(f"MsBetweenPresents,{name}", [(16, 25.5), (17, 26)])
    with pytest.raises(CaptureError, match=why):
        opened(tmp_path, text, name)


def test_that_a_column_with_signs_is_no_frame_times(tmp_path: Path) -> None:
    text = lines("MsBetweenPresents,MsDrift", [(16, each % 5 - 1.5) for each in range(100)])
    with pytest.raises(CaptureError, match="MsDrift holds 40 values below 0, so not frame times"):
        opened(tmp_path, text, "MsDrift")


TYPED = "Application,FrameType,TimeInMs,MsBetweenPresents,MsBetweenDisplayChange,MsBetweenAppStart"


def typed(path: Path, *rows: str) -> Path:
    path.write_text("\n".join((TYPED, *rows)))
    return path


def of_a_driver(path: Path) -> Path:
    """Write frames of 20 ms, each displayed a second time in between, with the same present."""
    rows = (
        f"a.exe,{kind},{20 * number},20,10,{length}"
        for number in range(60)
        for kind, length in (("AMD AFMF", "NA"), ("Application", "20"))
    )
    return typed(path, *rows)


def of_a_library(path: Path) -> Path:
    """Write frames of 20 ms, and between them generated ones, which are presents of their own."""
    rows = (
        f"a.exe,{kind},{20 * number + after},10,10,{length}"
        for number in range(60)
        for kind, after, length in (("Application", 0, "20"), ("Intel XeSS-FG", 10, "NA"))
    )
    return typed(path, *rows)


@pytest.mark.parametrize("write", [of_a_driver, of_a_library])
@pytest.mark.parametrize("column", [None, "MsBetweenAppStart"])
def test_that_generated_frames_are_no_frames_of_the_program(
    tmp_path: Path, write: Callable[[Path], Path], column: str | None
) -> None:
    read = read_frame_file(write(tmp_path / "run.csv"), column)

    # The first is of the frame before the capture.
    assert set(read.frames.interval_ns[1:].tolist()) == {20 * MS}
    assert np.diff(read.frames.at_ns).tolist() == [20 * MS] * 59
    # Of a column that generated frames have no value in, that is all there is to say.
    said = "that the program has rendered" if column is None else "60 rows have no value"
    assert said in " ".join(read.notes)
    assert read.samples == ""
    beside = read.frames.beside
    assert beside is not None
    (displayed,) = beside.numbers([beside.names.index("MsBetweenDisplayChange")])
    assert displayed.tolist() == [10] * 60


@pytest.mark.parametrize("write", [of_a_driver, of_a_library])
def test_that_times_of_display_are_of_generated_frames_too(
    tmp_path: Path, write: Callable[[Path], Path]
) -> None:
    read = read_frame_file(write(tmp_path / "run.csv"), "MsBetweenDisplayChange")

    assert read.frames.interval_ns.tolist() == [10 * MS] * 120
    assert read.notes == ()


def test_that_generated_frames_without_a_clock_are_said_to_be_mixed(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    rows = ("a.exe,Application,20", "a.exe,AMD AFMF,20") * 40
    path.write_text("\n".join(("Application,FrameType,MsBetweenPresents", *rows)))

    read = read_frame_file(path)

    assert len(read.frames) == 80
    assert any("are not told apart" in note for note in read.notes)


def test_that_frames_of_known_programs_only_have_no_note(tmp_path: Path) -> None:
    rows = (f"a.exe,Application,{20 * number},20,20,20" for number in range(40))

    read = read_frame_file(typed(tmp_path / "run.csv", *rows))

    assert (len(read.frames), read.notes) == (40, ())
