"""``--picture`` of ``run`` and ``export``: what a scene draws of itself."""

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


def test_that_the_picture_of_any_frame_of_a_recording_is_written(run: Run, tmp_path: Path) -> None:
    run("run 1 --seconds 4 --record game.tlrec --picture run.svg")

    code, out, _ = run("export game.tlrec --picture early.svg --frame 60")
    _, last, _ = run("export game.tlrec --picture last.svg")

    assert (code, out) == (ExitCode.OK, "wrote early.svg (frame 60 at 0:01.016)\n")
    assert "wrote last.svg (frame " in last
    texts = [(tmp_path / f"{name}.svg").read_text("utf-8") for name in ("early", "last", "run")]
    assert texts[0] != texts[1]
    assert texts[1].count("<circle") == texts[2].count("<circle")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("export game.tlrec --picture x.svg --frame 900", "has no frame 900. It has frames 0 to "),
        ("export bare.tlrec --picture x.svg", "Its scene draws none, or it was recorded without."),
        ("export game.tlrec --picture x.bmp", "“.bmp” is not a format. Use .png, .svg or .pdf."),
        (
            "export frames.csv --picture x.svg",
            "frames.csv is not a recording: only recordings have",
        ),
    ],
)
def test_that_a_picture_that_is_not_there_is_refused_with_the_reason(
    run: Run, line: str, said: str
) -> None:
    run("run 4 --seconds 1 --record game.tlrec --export frames.csv")
    run("run 4 --seconds 1 --record bare.tlrec --no-pictures")

    code, out, err = run(line)

    cannot_write = "is not a format" in said
    assert (code, out) == (ExitCode.FAILED if cannot_write else ExitCode.UNREADABLE, "")
    assert said in err


def test_that_a_frame_without_a_picture_to_write_is_a_mistake(run: Run) -> None:
    code, _, err = run("export game.tlrec -o x.svg --frame 3")

    assert code == ExitCode.USAGE
    assert "Argument --frame: add --picture, the file to write" in err
