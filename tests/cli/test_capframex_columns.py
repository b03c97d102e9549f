"""What CapFrameX makes of active times, input lag, stutter limits and outliers, recomputed."""

from __future__ import annotations

import json
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np
import pytest

from inspector.exit_codes import ExitCode
from tests.cli.answers import Run

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 3_000


def quantile_8(values: list[float], share: float) -> float:
    return float(np.quantile(values, share, method="median_unbiased"))


def frames(seed: int = 1) -> list[dict[str, float]]:
    random = np.random.default_rng(seed)
    times = 10 * np.exp(random.normal(0, 0.1, COUNT))
    times[random.integers(0, COUNT, 12)] *= 4
    return [
        {
            "MsBetweenPresents": round(float(time), 6),
            "MsInPresentAPI": round(float(random.uniform(0.1, 2)), 6),
            "MsUntilDisplayed": round(float(random.uniform(5, 25)), 6),
            "Dropped": float(random.random() < 0.05),
            "MsGPUBusy": round(float(time * random.uniform(0.5, 0.9)), 6),
            "MsCPUBusy": round(float(time * random.uniform(0.2, 0.6)), 6),
        }
        for time in times
    ]


def write_table(path: Path, rows: list[dict[str, float]]) -> Path:
    lines = (f"a.exe,{','.join(f'{each:.6f}' for each in row.values())}" for row in rows)
    path.write_text("\n".join([f"Application,{','.join(rows[0])}", *lines]))
    return path


def write_json(path: Path, *runs: list[dict[str, float]]) -> Path:
    names = {"MsGPUBusy": "GpuActive", "MsCPUBusy": "CpuActive"}
    data = [
        {
            names.get(name, name): [
                bool(row[name]) if name == "Dropped" else row[name] for row in rows
            ]
            for name in rows[0]
        }
        for rows in runs
    ]
    file = {"Info": {"ProcessName": "a.exe"}, "Runs": [{"CaptureData": each} for each in data]}
    path.write_text(json.dumps(file))
    return path


def metrics_of(run: Run, line: str) -> dict[str, float]:
    code, out, err = run(f"stats {line} --json")
    assert code == ExitCode.OK, err
    (file,) = json.loads(out)["files"]
    return {key: value["value"] for key, value in file["metrics"].items()}


def lag_bounds(rows: list[dict[str, float]]) -> tuple[list[float], list[float]]:
    """Go through the frames as CapFrameX does, one after the other."""
    lower, upper, former, dropped = [], [], nan, 0.0
    for number, row in enumerate(rows):
        if row["Dropped"]:
            dropped += row["MsBetweenPresents"]
            continue
        most = former + dropped + row["MsBetweenPresents"] + row["MsUntilDisplayed"]
        if not isnan(most):
            lower.append(row["MsUntilDisplayed"])
            upper.append(most)
        in_present = rows[number - 1]["MsInPresentAPI"] if number else nan
        former, dropped = row["MsBetweenPresents"] - in_present, 0.0
    return lower, upper


@pytest.mark.parametrize("write", [write_table, write_json])
def test_that_active_times_and_input_lag_are_those_of_capframex(
    run: Run, tmp_path: Path, write: object
) -> None:
    rows = frames()
    path = write(tmp_path / "a.dat", rows)  # type: ignore[operator]

    found = metrics_of(run, str(path))

    for part, name in (("gpu", "MsGPUBusy"), ("cpu", "MsCPUBusy")):
        active = [row[name] for row in rows]
        limit = quantile_8(active, 0.99)
        low = np.mean([each for each in active if each >= limit])
        expected = {
            "time": np.mean(active),
            "average": 1000 * COUNT / sum(active),
            "p1": quantile_8([1000 / each for each in active], 0.01),
            "low-1": 1000 / low,
        }
        for key, value in expected.items():
            assert found[f"capframex.{part}-{key}"] == pytest.approx(value, rel=1e-9)
    lower, upper = lag_bounds(rows)
    # Frame times are whole nanoseconds here.
    assert found["capframex.lag-lower"] == pytest.approx(np.mean(lower), rel=1e-9)
    assert found["capframex.lag-upper"] == pytest.approx(np.mean(upper), rel=1e-9)
    expected_lag = (np.mean(lower) + np.mean(upper)) / 2
    assert found["capframex.lag-expected"] == pytest.approx(expected_lag, rel=1e-9)


def test_that_the_input_lag_of_several_runs_does_not_reach_from_one_into_the_next(
    run: Run, tmp_path: Path
) -> None:
    runs = [frames(1), frames(2), frames(3)]

    found = metrics_of(run, str(write_json(tmp_path / "a.json", *runs)))

    bounds = [lag_bounds(rows) for rows in runs]
    for key, which in (("lower", 0), ("upper", 1)):
        lags = [lag for each in bounds for lag in each[which]]
        assert found[f"capframex.lag-{key}"] == pytest.approx(np.mean(lags), rel=1e-9)


def test_that_frames_that_were_never_displayed_are_dropped_where_no_column_says_so(
    run: Run, tmp_path: Path
) -> None:
    rows = frames()
    path = tmp_path / "a.csv"
    lines = (
        f"a.exe,{row['MsBetweenPresents']:.6f},{row['MsInPresentAPI']:.6f},"
        f"{'NA' if row['Dropped'] else row['MsUntilDisplayed']}"
        for row in rows
    )
    head = "Application,MsBetweenPresents,MsInPresentAPI,MsUntilDisplayed"
    path.write_text("\n".join([head, *lines]))

    _, upper = lag_bounds(rows)
    found = metrics_of(run, f"{path} --metric capframex.lag-upper")
    assert found["capframex.lag-upper"] == pytest.approx(np.mean(upper), rel=1e-9)


def test_that_a_capture_without_these_columns_says_what_is_needed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("MsBetweenPresents\n10\n11\n")

    _, out, _ = run(f"stats {path} --metric capframex.gpu-p1 --metric capframex.lag-upper")

    assert "This needs the time that the GPU was active, such as MsGPUBusy or GpuActive." in out
    assert "This needs MsUntilDisplayed and MsInPresentAPI." in out


def test_that_stutter_factor_and_low_rate_can_be_set(run: Run, tmp_path: Path) -> None:
    path = write_table(tmp_path / "a.csv", frames())
    times = [row["MsBetweenPresents"] for row in frames()]
    mean = np.mean(times)

    usual = metrics_of(run, str(path))
    strict = metrics_of(run, f"{path} --stutter-factor 1.2 --low-fps 95")

    for found, factor in ((usual, 2.5), (strict, 1.2)):
        share = 100 * np.mean([each > factor * mean for each in times])
        assert found["capframex.stutters"] == pytest.approx(share, rel=1e-9)
    assert strict["capframex.stuttering"] > usual["capframex.stuttering"]
    assert usual["capframex.low-fps"] == 0 < strict["capframex.low-fps"]
    _, out, _ = run(f"stats {path} --stutter-factor 1.2 --metric fps")
    assert "stuttering over 1.2 times, low below 25 fps" in out
    for wrong in ("--stutter-factor 1", "--stutter-factor x", "--low-fps 0"):
        code, _, err = run(f"stats {path} {wrong}")
        assert code == ExitCode.USAGE
        assert wrong.split()[0] in err


def test_that_outliers_are_left_out_by_a_stated_rule_and_named(run: Run, tmp_path: Path) -> None:
    rows = frames()
    path = write_table(tmp_path / "a.csv", rows)
    times = [row["MsBetweenPresents"] for row in rows]
    limit = quantile_8(times, 0.999)
    away = [number for number, each in enumerate(times) if each >= limit]

    code, out, err = run(f"stats {path} --without-outliers --json")

    assert code == ExitCode.OK
    (file,) = json.loads(out)["files"]
    outliers = file["outliers"]
    assert outliers["rule"] == "CapFrameX's rule: f ≥ Q₈(f, 0.999)"
    assert outliers["limit_ms"] == pytest.approx(limit, rel=1e-9)
    assert outliers["frames"] == len(away) > 0
    named = [number for low, high in outliers["ranges"] for number in range(low, high + 1)]
    assert named == away
    rest = [each for each in times if each < limit]
    assert file["metrics"]["max"]["value"] == pytest.approx(max(rest), rel=1e-9)
    assert file["metrics"]["frames"]["value"] == len(rest)
    assert f"{len(away)} outliers are left out, from" in err
    assert f"Frames {away[0]:,}, {away[1]:,}" in err


def test_that_frames_of_one_length_have_no_outliers(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("MsBetweenPresents\n" + "10\n" * 100)

    code, out, err = run(f"stats {path} --without-outliers --metric frames")

    assert code == ExitCode.OK
    assert "100 frames" in out
    assert "no outlier: no frame is longer than the others" in err


def test_that_samples_have_no_outliers_to_leave_out(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = [(60, 16.6, 40, at) for at in range(1, 9)]
    lines = [f"{fps},{took},{load},{at * 10**9}" for fps, took, load, at in rows]
    path.write_text("\n".join(["fps,frametime,gpu_load,elapsed", *lines]))

    code, _, err = run(f"stats {path} --without-outliers")

    assert code != ExitCode.OK
    assert "Omit --without-outliers." in err
