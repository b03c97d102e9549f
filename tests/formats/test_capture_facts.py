"""What captures say of frames besides their times: displays and animation errors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from inspector.formats.captures.capture import Stream
from inspector.formats.captures.tool_tables import FrameTableReader
from inspector.formats.series import series_of
from inspector.sessions.frame_files import read_frame_file

NA = float("nan")


def stream_of(path: Path, text: str, stream: str | None = None) -> Stream:
    path.write_text(text, encoding="utf-8")
    reader = FrameTableReader(path)
    while reader.read_on():
        pass
    return reader.capture().stream(stream)


def errors_of(found: Stream) -> list[float]:
    assert found.facts.animation_error_ms is not None
    return [float(each) for each in found.facts.animation_error_ms]


def test_that_the_animation_error_is_read_with_its_sign(tmp_path: Path) -> None:
    found = stream_of(
        tmp_path / "a.csv",
        "MsBetweenPresents,MsBetweenDisplayChange,MsAnimationError\n"
        "16,16.5,NA\n17,33.0,-1.25\n0.5,NA,0\n18,16.5,2.5\n",
    )

    assert errors_of(found) == pytest.approx([NA, -1.25, 0, 2.5], nan_ok=True)
    assert found.facts.displayed_ms is not None
    assert found.facts.displayed_ms.tolist() == pytest.approx([16.5, 33.0, NA, 16.5], nan_ok=True)


def test_that_it_is_computed_from_simulation_and_display(tmp_path: Path) -> None:
    found = stream_of(
        tmp_path / "a.csv",
        "MsBetweenPresents,MsBetweenSimulationStart,MsBetweenDisplayChange\n"
        "16,NA,16.5\n17,16,33\n16,18,0\n18,17,16.5\n",
    )

    assert errors_of(found) == pytest.approx([NA, -17, NA, 0.5], nan_ok=True)


def test_that_without_such_columns_nothing_is_known(tmp_path: Path) -> None:
    found = stream_of(tmp_path / "a.csv", "FrameTimeMs\n16\n17\n")

    assert found.facts.animation_error_ms is None
    assert found.facts.displayed_ms is None


def test_that_each_stream_has_its_own_and_skipped_rows_have_none(tmp_path: Path) -> None:
    rows = ["Application,ProcessID,SwapChainAddress,FrameTime,DisplayedTime,AnimationError"]
    for number in range(6):
        time = "NA" if number == 2 else f"{10 + number}"
        rows.append(f"{'ab'[number % 2]}.exe,1,0x1,{time},16,{number}")

    found = stream_of(tmp_path / "a.csv", "\n".join(rows) + "\n", "a.exe")

    assert found.interval_ns.tolist() == [10_000_000, 14_000_000]
    assert errors_of(found) == [0, 4]


def test_that_a_part_of_the_frames_has_its_part(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("FrameTime,DisplayedTime,AnimationError\n" + "16,16,1\n" * 3 + "16,16,5\n" * 3)

    frames = read_frame_file(path).frames.between(2, 5)

    errors = series_of(frames).facts.animation_error_ms
    assert errors is not None
    assert errors.tolist() == [1, 5, 5]


def test_that_capframex_files_have_them_too(tmp_path: Path) -> None:
    data = {
        "MsBetweenPresents": [10, None, 12],
        "MsBetweenDisplayChange": [10, 10, 0],
        "AnimationError": [0.5, 3, None],
    }
    run = {"CaptureData": data}
    path = tmp_path / "capture.json"
    path.write_text(json.dumps({"Info": {"GameName": "game"}, "Runs": [run, run]}))

    facts = read_frame_file(path).frames.facts

    assert facts is not None
    assert facts.animation_error_ms is not None
    assert facts.displayed_ms is not None
    np.testing.assert_array_equal(facts.animation_error_ms, [0.5, NA, 0.5, NA])
    np.testing.assert_array_equal(facts.displayed_ms, [10, NA, 10, NA])
