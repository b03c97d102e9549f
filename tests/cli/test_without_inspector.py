"""Numbers without the frames that the inspector alone made late: exports and statistics."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from inspector.exit_codes import ExitCode
from inspector.formats.export import export_frames
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import Phase, Share
from tests.cli.answers import Run

#: Two frames are over the budget of 60 fps, the first of them by the inspector alone.
INTERVALS_MS = [16] * 5 + [30] + [16] * 5 + [40] + [16] * 8


@pytest.fixture
def game(tmp_path: Path) -> Path:
    interval_ns = np.array(INTERVALS_MS, np.int64) * NS_PER_MS
    shares = np.zeros((len(Share), len(interval_ns)), np.int64)
    shares[Share.INSPECTOR, 5] = 20 * NS_PER_MS
    shares[Share.INSPECTOR, 11] = NS_PER_MS
    phases = np.zeros((len(Phase), len(interval_ns)), np.int64)
    frames = FrameTimes.of_columns(
        np.arange(len(interval_ns)),
        np.cumsum(interval_ns),
        interval_ns,
        interval_ns,
        interval_ns // 4,
        phases,
        shares,
    )
    about = Provenance("game", datetime(2026, 1, 2, tzinfo=UTC), "1.0", frame_rate=Fraction(60))
    path = tmp_path / "game.json"
    export_frames(frames, about, ExportOptions(), path)
    return path


def test_that_statistics_leave_them_out_and_say_so(run: Run, game: Path) -> None:
    code, out, _ = run(f"stats {game} --without-inspector --metric max --metric frames")

    assert code == ExitCode.OK
    assert out.startswith(f"{game}: 19 frames, without 1 late by the inspector, column")
    assert "40.0 ms" in out

    _, out, _ = run(f"stats {game} --without-inspector --refresh 30 --json")
    (values,) = json.loads(out)["files"]
    assert (values["frames"], values["left_out"]) == (20, 0)


def test_that_exports_count_without_them_and_draw_all(run: Run, game: Path, tmp_path: Path) -> None:
    options = "--without-inspector --budget 60fps"
    code, _, _ = run(f"export {game} -o a.svg -o a.json -o a.html -o a.timeline.svg {options}")

    assert code == ExitCode.OK
    values = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert (values["frame_count"], values["left_out"]) == (20, 1)
    assert values["over_budget"]["budgets"][0]["frames"] == 1
    for name in ("a.svg", "a.html", "a.timeline.svg"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "1 over 19.2 ms (5.3 %)" in text
        assert "without 1 late by the inspector" in text


def test_that_all_count_without_the_option(run: Run, game: Path, tmp_path: Path) -> None:
    run(f"export {game} -o a.svg -o b.json --budget 60fps")

    assert "2 over 19.2 ms (10.0 %)" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "left_out" not in json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("command", ["stats {}", "export {} -o a.svg"])
def test_that_a_file_that_does_not_know_is_refused(run: Run, tmp_path: Path, command: str) -> None:
    capture = tmp_path / "mine.csv"
    capture.write_text("frametime_ms\n16\n17\n", encoding="utf-8")

    code, out, err = run(f"{command.format(capture)} --without-inspector")

    assert (code, out) == (ExitCode.UNREADABLE, "")
    assert "does not say how much of a frame the inspector took" in err
    assert not (tmp_path / "a.svg").exists()


def test_that_the_time_in_callbacks_has_no_share_of_it(run: Run, game: Path) -> None:
    code, _, err = run(f"export {game} -o a.svg --measure busy --without-inspector")

    assert code == ExitCode.UNREADABLE
    assert "Add --measure interval." in err
