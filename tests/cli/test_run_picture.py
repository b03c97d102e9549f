"""``run --picture``: what the scene draws of its last frame."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.exit_codes import ExitCode
from inspector.testing import scene_file
from tests.cli.answers import Run


def test_that_the_picture_of_the_last_frame_is_written(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("run 4 --seconds 3 --picture last.svg")

    assert code == ExitCode.OK
    assert "wrote last.svg\n" in out
    assert "<circle" in (tmp_path / "last.svg").read_text("utf-8")


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        ("pass", "The scene has none: see stage.picture in the help on scenes."),
        ("stage.picture(lambda: 1 / 0)", "ZeroDivisionError"),
    ],
)
def test_that_a_scene_without_a_picture_says_so(
    run: Run, tmp_path: Path, draw: str, said: str
) -> None:
    scene_file(tmp_path, f"def build(stage):\n    {draw}\n")

    code, _, err = run("run scene.py --seconds 1 --picture last.svg")

    assert code == ExitCode.FAILED
    assert "There is no picture to write to last.svg." in err
    assert said in err


def test_that_a_format_is_refused_before_the_run(run: Run) -> None:
    code, out, err = run("run 4 --seconds 3 --picture last.bmp")

    assert code == ExitCode.FAILED
    assert out == ""
    assert "“.bmp” is not a format. Use .png, .svg or .pdf." in err
