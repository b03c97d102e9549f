"""``stats --columns``: the columns of a capture beside its frame times."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from inspector.exit_codes import ExitCode
from inspector.formats.captures.table_columns import unit_of
from tests.cli.answers import Run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    SampleFile = Callable[[str], Path]

CAPTURE = """\
Application,TimeInSeconds,MsBetweenPresents,MsGPUBusy,GPU0Util(%),Note,Dropped
g.exe,1.010,10,4,50,a,0
g.exe,1.020,10,NA,50,b,0
g.exe,1.050,30,-1.5,90,c,1
"""


def columns_of(run: Run, line: str) -> dict[str, dict[str, object]]:
    code, out, _ = run(f"stats {line} --columns --json")
    assert code == ExitCode.OK
    (file,) = json.loads(out)["files"]
    return {each["name"]: each for each in file["columns"]}


def test_that_states_count_as_long_as_they_last_and_durations_once(
    run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(CAPTURE)

    found = columns_of(run, str(path))

    assert list(found) == ["MsGPUBusy", "GPU0Util(%)"]
    busy, load = found.values()
    assert (busy["unit"], busy["count"], busy["mean"]) == ("ms", 2, 1.25)
    assert not busy["is_weighted"]
    assert (busy["least"], busy["median"], busy["most"]) == (-1.5, 1.25, 4)
    assert (load["unit"], load["mean"], load["is_weighted"]) == ("%", 74, True)
    (rest,) = (columns_of(run, f"{path} --range 1:")[name] for name in ["GPU0Util(%)"])
    assert (rest["count"], rest["mean"]) == (2, 80)


def test_that_they_are_a_table_for_people(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(CAPTURE)

    _, out, _ = run(f"stats {path} --columns --metric fps")

    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "GPU0Util(%) % 74* 50 50 50 86 90 3" in lines
    assert "* weighted by time: each value counts as long as its frame lasts" in lines


def test_that_samples_count_as_long_as_until_the_next(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = [(60, 16.6, 40, 1), (60, 16.6, 40, 2), (60, 16.6, 80, 4)]
    lines = [f"{fps},{took},{load},{at * 10**9}" for fps, took, load, at in rows]
    path.write_text("\n".join(["fps,frametime,gpu_load,elapsed", *lines]))

    load = columns_of(run, str(path))["gpu_load"]

    assert (load["unit"], load["mean"]) == ("%", 60)
    one = columns_of(run, f"{path} --range 1:2")["gpu_load"]
    assert (one["mean"], one["is_weighted"]) == (40, False)
    _, out, _ = run(f"stats {path}")
    assert out.startswith(f"{path}: 3 samples, column frametime\n")
    assert "p99" not in out


def test_that_a_recording_says_that_it_has_none(run: Run) -> None:
    run("run 4 --frames 30 --record a.tlrec --quiet")
    _, out, _ = run("stats a.tlrec --columns --metric fps")
    assert out.endswith("no column beside the frame times holds numbers that measure something.\n")


def test_that_every_number_of_a_sample_is_that_of_its_file(
    run: Run, sample_file: SampleFile
) -> None:
    path = sample_file("presentmon/third_party_csgo.csv")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))

    found = columns_of(run, str(path))

    assert set(found) == {
        *("MsBetweenDisplayChange", "MsInPresentAPI", "MsUntilRenderComplete", "MsUntilDisplayed")
    }
    for name, summary in found.items():
        own = np.array([float(row[name]) for row in rows])
        assert summary["count"] == len(own)
        expected = [own.mean(), own.min(), *np.quantile(own, [0.05, 0.5, 0.95]), own.max()]
        read = [summary[key] for key in ("mean", "least", "p5", "median", "p95", "most")]
        assert np.allclose(np.array(read, dtype=float), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("GPU0Clk(MHz)", "MHz"),
        ("GPU0Temp(C)", "°C"),
        ("NV Pwr(W) (API)", "W"),
        ("Perf/W Total(F/J) (API)", "frames/J"),
        ("CPU Usage [%]", "%"),
        ("MsUntilDisplayed", "ms"),
        ("PCLatency(MSec)", "ms"),
        ("GPUBusy", "ms"),
        ("gpu_core_clock", "MHz"),
        ("gpu_vram_used", ""),
        ("Framerate", "fps"),
        ("Core clock", ""),
    ],
)
def test_that_the_unit_of_a_column_is_what_its_name_or_its_program_says(
    name: str, unit: str
) -> None:
    assert unit_of(name) == unit


def test_that_a_power_has_frames_per_joule(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "Application,MsBetweenPresents,GPU Power(W),CPU Power(mW),GPU Util(%)\n"
        "a.exe,10,200,50000,90\na.exe,30,100,NA,90\n"
    )

    found = columns_of(run, str(path))

    # 2 frames and 200 W * 10 ms + 100 W * 30 ms = 5 J; of the second power one frame and 0.5 J.
    assert found["GPU Power(W)"]["frames_per_joule"] == 0.4
    assert found["CPU Power(mW)"]["frames_per_joule"] == 2
    assert found["GPU Util(%)"]["frames_per_joule"] is None
    _, out, _ = run(f"stats {path} --columns")
    assert "Frames per joule (fps per watt) by GPU Power(W): 0.4" in out
