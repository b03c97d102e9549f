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
    assert ("duration" in out, "--all" in out) == (True, False)


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


def varied(path: Path, seed: int, factor: float) -> Path:
    """Write a capture of 4,000 frames, whose busy times and power follow their lengths."""
    random = np.random.default_rng(seed)
    times = 10 * factor * np.exp(random.normal(0, 0.08, 4_000))
    busy, error = times * 0.8, random.normal(-1, 0.5, 4_000)
    power = 150 + 5 * times
    rows = zip(times, busy, error, power, strict=True)
    lines = (f"a.exe,{','.join(f'{each:.6f}' for each in row)}" for row in rows)
    head = "Application,MsBetweenPresents,MsGPUBusy,MsAnimationError,GPU Power(W)"
    path.write_text("\n".join([head, *lines]))
    return path


def read(path: Path) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.genfromtxt(path, delimiter=",", skip_header=1, usecols=(1, 2, 3, 4))


def test_that_columns_are_summarised_by_class_of_frame_time(run: Run, tmp_path: Path) -> None:
    path = varied(tmp_path / "a.csv", 1, 1.0)
    times, busy, _, power = read(path).T
    order = np.sort(times)
    edges = [0.0, *(order[int(np.ceil(share * 4_000)) - 1] for share in (0.5, 0.95, 0.99, 1))]

    found = columns_of(run, str(path))

    for name, values, weights in (("MsGPUBusy", busy, None), ("GPU Power(W)", power, times)):
        classes = found[name]["classes"]
        assert isinstance(classes, list)
        assert [each["count"] for each in classes] == [2_000, 1_800, 160, 40]
        for each, low, high in zip(classes, edges, edges[1:], strict=False):
            within = (times > low) & (times <= high)
            shares = None if weights is None else weights[within]
            expected = [
                np.average(values[within], weights=shares),
                *np.quantile(values[within], [0.05, 0.5, 0.95]),
            ]
            assert np.allclose([each[key] for key in ("mean", "p5", "median", "p95")], expected)
    _, out, _ = run(f"stats {path} --columns --metric fps")
    assert "mean (P5 to P95) by class of frame time" in out


def test_that_statistics_are_written_to_files(run: Run, tmp_path: Path) -> None:
    path = varied(tmp_path / "a.csv", 1, 1.0)
    names = ("s.csv", "s.json", "s.md", "s.html", "s.pdf")
    written = " ".join(f"-o {each}" for each in names)

    code, _, err = run(f"stats {path} --columns --metric fps {written}")

    assert code == ExitCode.OK
    assert all(f"Written: {each}" in err for each in names)
    with (tmp_path / "s.csv").open(newline="") as file:
        rows = {(row["of"], row["statistic"], row["frames"]): row for row in csv.DictReader(file)}
    own = read(path)
    fps = 1000 * len(own) / own[:, 0].sum()
    assert float(rows["Frames", "fps", "all"]["value"]) == pytest.approx(fps, rel=1e-9)
    weighted = np.average(own[:, 3], weights=own[:, 0])
    assert float(rows["GPU Power(W)", "mean by time", "all"]["value"]) == pytest.approx(weighted)
    assert ("MsGPUBusy", "p95", "above P99") in rows
    (file_values,) = json.loads((tmp_path / "s.json").read_text())["files"]
    assert {each["name"] for each in file_values["columns"]} >= {"MsGPUBusy", "GPU Power(W)"}
    for name in ("s.md", "s.html"):
        text = (tmp_path / name).read_text()
        assert "above P99" in text
        assert "weighted by time" in text
    assert (tmp_path / "s.pdf").read_bytes().startswith(b"%PDF")
    code, _, err = run(f"stats {path} -o s.txt")
    assert code != ExitCode.OK
    assert "Give it the suffix .csv, .json, .md, .html or .pdf." in err


def test_that_columns_are_compared_with_intervals_and_by_class(run: Run, tmp_path: Path) -> None:
    before, after = varied(tmp_path / "a.csv", 1, 1.0), varied(tmp_path / "b.csv", 2, 0.9)

    code, out, _ = run(f"compare {before} {after} --columns --json -o c.csv")

    assert code == ExitCode.OK
    found = {(each["column"], each["what"]): each for each in json.loads(out)["columns"]}
    busy = found["MsGPUBusy", "Mean"]
    one, other = read(before), read(after)
    assert busy["before"] == pytest.approx(one[:, 1].mean())
    assert busy["change"] == pytest.approx(other[:, 1].mean() / one[:, 1].mean() - 1)
    assert busy["low"] < busy["change"] < busy["high"] < 0
    assert busy["verdict"] == "less"
    power = found["GPU Power(W)", "Mean by time"]
    assert power["after"] == pytest.approx(np.average(other[:, 3], weights=other[:, 0]))
    per_joule = found["GPU Power(W)", "Frames per joule"]
    assert per_joule["before"] == pytest.approx(4_000 / (one[:, 3] @ one[:, 0] / 1000))
    assert per_joule["verdict"] == "faster"
    signed = found["MsAnimationError", "Mean"]
    assert signed["before"] == pytest.approx(one[:, 2].mean())
    assert (signed["change"], signed["why_not"]) == (None, "undefined")
    rest = found["MsGPUBusy", "Mean, frames above P99"]
    slowest = np.sort(one[:, 0])[3_959]
    assert rest["before"] == pytest.approx(one[one[:, 0] > slowest, 1].mean())
    assert (rest["low"], rest["why_not"]) == (None, "not tested")
    with (tmp_path / "c.csv").open(newline="") as file:
        rows = {(row["of"], row["statistic"]): row for row in csv.DictReader(file)}
    assert float(rows["MsGPUBusy", "Mean"]["high"]) == busy["high"]
    assert "columns" not in json.loads(run(f"compare {before} {after} --json")[1])


def test_that_only_columns_of_all_runs_are_compared(run: Run, tmp_path: Path) -> None:
    runs = [varied(tmp_path / f"{seed}.csv", seed, 1.0) for seed in range(3)]
    plain = tmp_path / "plain.csv"
    plain.write_text("MsBetweenPresents,MsGPUBusy\n" + "10,8\n11,8\n" * 500)
    first, second, third = runs

    _, out, _ = run(f"compare --before {first} {second} --after {third} {plain} --columns --json")

    assert {each["column"] for each in json.loads(out)["columns"]} == {"MsGPUBusy"}


def sampled(path: Path, seed: int, watts: float) -> Path:
    """Write a log of 400 samples, ten a second, of a game at 250 frames per second."""
    random = np.random.default_rng(seed)
    rows = (
        f"250,{random.normal(4, 0.2):.4f},{random.normal(watts, 2):.2f},{at * 100_000_000}"
        for at in range(1, 401)
    )
    path.write_text("\n".join(["fps,frametime,gpu_power,elapsed", *rows]))
    return path


def test_that_logs_of_samples_are_compared_by_what_they_allow(run: Run, tmp_path: Path) -> None:
    before, after = sampled(tmp_path / "a.csv", 1, 200), sampled(tmp_path / "b.csv", 2, 150)

    code, out, _ = run(f"compare {before} {after} --columns -o c.md")

    assert code == ExitCode.OK
    assert "Only what samples allow is compared." in out
    assert "P99" not in out
    assert "Only what samples allow" in (tmp_path / "c.md").read_text()
    values = json.loads(run(f"compare {before} {after} --columns --json")[1])
    assert list(values["differences"]) == ["mean"]
    own = np.genfromtxt(before, delimiter=",", skip_header=1)
    assert values["differences"]["mean"]["before"] == pytest.approx(own[:, 1].mean())
    power = {each["what"]: each for each in values["columns"] if each["column"] == "gpu_power"}
    assert power["Mean by time"]["before"] == pytest.approx(own[:, 2].mean())
    assert power["Mean by time"]["high"] < -0.2
    # Neither classes of frame time nor frames per joule.
    assert set(power) == {"Mean by time", "P95"}
    assert "400 samples" in out


def test_that_a_log_of_samples_decides_nothing_that_needs_every_frame(
    run: Run, tmp_path: Path
) -> None:
    before, after = sampled(tmp_path / "a.csv", 1, 200), sampled(tmp_path / "b.csv", 2, 150)

    code, _, err = run(f'compare {before} {after} --fail-if "p99 > +1%"')

    assert code == ExitCode.CANNOT_TELL
    assert "whether p99 > +1% cannot be told" in err
    assert run(f"compare {before} {after} -o c.html")[0] == ExitCode.OK
    assert run(f'compare {before} {after} --fail-if "mean > +5%"')[0] == ExitCode.OK
