"""The columns of a capture beside its frame times are there again in the tables of its tools."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from inspector.errors import CaptureError
from inspector.formats.captures.tool_tables import FrameTableReader
from inspector.formats.export import export_frames, exporters
from inspector.formats.options import ExportOptions
from inspector.sessions.frame_files import read_frame_file
from tests.formats.read_captures import whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inspector.formats.captures.capture import Stream
    from inspector.sessions.frame_files import FrameFile

    SampleFile = Callable[[str], Path]

CAPTURE = """\
Application,Dropped,TimeInSeconds,MsBetweenPresents,MsBetweenDisplayChange,MsUntilDisplayed,Power(W),Note
game.exe,0,1.010,10,16.7,23.525,250.5,=1+1
other.exe,0,1.011,11,0,0,1,
game.exe,1,1.020,10,0.000,NA,251,"a, b"
game.exe,0,1.030,bad,16.7,20,252,
game.exe,0,1.040,20,16.65,-2.5,253,x
"""


def written(read: FrameFile, path: Path, key: str = "presentmon") -> list[dict[str, str]]:
    (chosen,) = (each for each in exporters() if each.key == key)
    export_frames(read.frames, read.provenance, ExportOptions(), path, exporter=chosen)
    lines = path.read_text().splitlines()
    return list(csv.DictReader(lines[2:] if key == "mangohud" else lines))


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    path = tmp_path / "capture.csv"
    path.write_text(CAPTURE)
    return path


def test_that_columns_of_presentmon_are_kept_as_they_are(capture: Path, tmp_path: Path) -> None:
    rows = written(read_frame_file(capture, stream="game"), tmp_path / "again.csv")

    names = ("Application", "Dropped", "MsBetweenDisplayChange", "MsUntilDisplayed", "Power(W)")
    assert [[row[name] for name in names] for row in rows] == [
        ["game.exe", "0", "16.7", "23.525", "250.5"],
        ["game.exe", "1", "0.000", "NA", "251"],
        ["game.exe", "0", "16.65", "-2.5", "253"],
    ]
    assert [row["MsBetweenPresents"] for row in rows] == ["10.000000", "10.000000", "20.000000"]
    assert [row["Note"] for row in rows] == ["'=1+1", "a, b", "x"]
    assert [row["SyncInterval"] for row in rows] == ["0", "0", "0"]


def test_that_what_is_not_known_of_a_present_is_no_zero(tmp_path: Path) -> None:
    (tmp_path / "capture.csv").write_text("MsBetweenPresents,MsInPresentAPI\n16.5,0.25\n17.5,0.5\n")
    read = read_frame_file(tmp_path / "capture.csv")

    rows = written(read, tmp_path / "again.csv")

    assert [row["MsInPresentAPI"] for row in rows] == ["0.25", "0.5"]
    for name in ("MsBetweenDisplayChange", "MsUntilRenderComplete", "MsUntilDisplayed"):
        assert [row[name] for row in rows] == ["NA", "NA"]


def test_that_a_part_of_the_frames_has_its_part(capture: Path) -> None:
    read = read_frame_file(capture, stream="game")
    beside = read.frames.between(1, 3).beside

    assert beside is not None
    power = beside.names.index("Power(W)")
    assert beside.numbers([power])[0].tolist() == [251, 253]
    assert beside.between(1, 2).numbers([power])[0].tolist() == [253]
    assert beside.between(1, 1).numbers([power])[0].tolist() == []


def test_that_negative_and_missing_numbers_are_read(capture: Path) -> None:
    beside = read_frame_file(capture, stream="game").frames.beside

    assert beside is not None
    (found,) = beside.numbers([beside.names.index("MsUntilDisplayed")])
    assert np.array_equal(found, [23.525, np.nan, -2.5], equal_nan=True)


def test_that_decimal_commas_become_points(tmp_path: Path) -> None:
    path = tmp_path / "capture.csv"
    path.write_text("MsBetweenPresents;MsInPresentAPI\n16,5;0,25\n17,5;0,5\n")
    rows = written(read_frame_file(path), tmp_path / "again.csv")
    assert [row["MsInPresentAPI"] for row in rows] == ["0.25", "0.5"]


def test_that_a_file_that_has_changed_is_not_mixed_with_what_was_read(
    capture: Path, tmp_path: Path
) -> None:
    read = read_frame_file(capture, stream="game")
    capture.write_text("\n".join(CAPTURE.splitlines()[:3]))
    with pytest.raises(CaptureError, match="has changed since it was opened"):
        written(read, tmp_path / "again.csv")


def test_that_a_log_of_mangohud_keeps_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("fps,frametime,cpu_load,gpu_temp\n60,16.6,21.5,51\n50,20,22,52\n")
    rows = written(read_frame_file(path), tmp_path / "again.csv", "mangohud")
    assert [(row["cpu_load"], row["gpu_temp"], row["gpu_load"]) for row in rows] == [
        ("21.5", "51", "0"),
        ("22", "52", "0"),
    ]


def sensor(name: str, kind: str, *values: object) -> dict[str, object]:
    return {"Name": name, "Type": kind, "Values": list(values)}


def capframex(path: Path, *runs: dict[str, object]) -> Path:
    info = {"GameName": "game", "ProcessName": "game.exe"}
    path.write_text(json.dumps({"Hash": "x", "Info": info, "Runs": runs}))
    return path


RUN = {
    "CaptureData": {
        "TimeInSeconds": [0, 0.25, 0.5, 0.75, 1.0],
        "MsBetweenPresents": [250, 250, "bad", 250, 250],
        "GpuActive": [100, 150, 200, None, 240],
        "PcLatency": [0, 0, 0, 0, 0],
    },
    "SensorData2": {
        "MeasureTime": sensor("MeasureTime", "Time", 0.5, 1.0),
        "BetweenMeasureTime": sensor("BetweenMeasureTime", "Time", 0.5, 0.5),
        "a": sensor("GPU Core", "Load", 50, 90),
        "b": sensor("GPU Core", "Clock", 2000, "bad"),
        "c": sensor("GPU Power", "Power", 100, 300),
        "d": sensor("half", "Load", 1),
        "e": "damaged",
    },
}


def test_that_sensors_of_capframex_are_columns(tmp_path: Path) -> None:
    read = read_frame_file(capframex(tmp_path / "run.json", RUN))
    beside = read.frames.beside
    assert beside is not None

    assert [(each.name, each.unit) for each in beside.quantities] == [
        ("GpuActive", "ms"),
        ("GPU Core Load", "%"),
        ("GPU Core Clock", "MHz"),
        ("GPU Power", "W"),
    ]
    # Frames end at 0.25, 0.5, 1 and 1.25 s; a reading is about the time since the one before.
    active, load, clock, power = beside.numbers([0, 1, 2, 3])
    np.testing.assert_array_equal(active, [100, 150, np.nan, 240])
    np.testing.assert_array_equal(load, [50, 50, 90, np.nan])
    np.testing.assert_array_equal(clock, [2000, 2000, np.nan, np.nan])
    np.testing.assert_array_equal(power, [100, 100, 300, np.nan])
    (part,) = beside.between(1, 3).numbers([1])
    assert part.tolist() == [50, 90]
    rows = written(read, tmp_path / "again.csv")
    assert [row["GPU Core Load"] for row in rows] == ["50", "50", "90", "NA"]


def test_that_runs_of_capframex_have_their_columns_together(tmp_path: Path) -> None:
    old = {
        "CaptureData": {"MsBetweenPresents": [10, 20]},
        "SensorData": {"MeasureTime": [0.01, 0.03], "GpuUsage": [70, 80], "CpuTemp": [50, 51]},
    }
    read = read_frame_file(capframex(tmp_path / "runs.json", RUN, old), stream="all 2 runs")
    beside = read.frames.beside
    assert beside is not None

    found = dict(zip(beside.names, beside.numbers(range(len(beside.names))), strict=True))

    np.testing.assert_array_equal(found["GPU Core Load"], [50, 50, 90, np.nan, 70, 80])
    np.testing.assert_array_equal(found["CPU Package Temperature"], [*[np.nan] * 4, 50, 51])


@pytest.mark.parametrize(
    "times", [[1.0, 0.5], [], ["x", 1], None, "time"], ids=["back", "none", "text", "null", "word"]
)
def test_that_sensors_without_a_clock_are_left_out(tmp_path: Path, times: object) -> None:
    sensors = {
        "MeasureTime": {"Name": "MeasureTime", "Type": "Time", "Values": times},
        "a": sensor("GPU Core", "Load", 50, 90),
    }
    run = {"CaptureData": {"MsBetweenPresents": [10, 20]}, "SensorData2": sensors}

    beside = read_frame_file(capframex(tmp_path / "run.json", run)).frames.beside

    assert beside is not None
    assert beside.names == ()


@pytest.mark.parametrize(
    "name",
    [
        "presentmon/test_case_0_v1.csv",
        "presentmon/test_case_1.csv",
        "presentmon/third_party_csgo.csv",
    ],
)
def test_that_columns_of_samples_are_the_same_when_exported(
    sample_file: SampleFile, tmp_path: Path, name: str
) -> None:
    path = sample_file(name)
    stream: Stream = whole(FrameTableReader(path)).stream()
    rows = written(read_frame_file(path), tmp_path / "again.csv")

    with path.open(newline="", encoding="utf-8-sig") as file:
        own = [
            row
            for row in csv.DictReader(file)
            if row["SwapChainAddress"] in stream.name or not stream.name
        ]
    assert len(rows) == len(own)
    computed = ("timeinseconds", "msbetweenpresents")
    for row, expected in zip(rows, own, strict=True):
        known = {key.lower(): value for key, value in row.items()}
        for key, value in expected.items():
            if key.lower() not in computed:
                assert known[key.lower()] == value
