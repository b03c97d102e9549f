"""Graphs and tables that ``run`` and ``export`` write."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

from inspector.cli import main as cli
from inspector.exit_codes import ExitCode
from inspector.testing import scene_file
from tests.cli.answers import Run, rows


def test_that_everything_can_be_exported_at_once(run: Run, tmp_path: Path) -> None:
    names = ["a.svg", "a.csv", "a.json", "a.PNG", "a.pdf"]
    exports = " ".join(f"--export {name}" for name in names)

    code, out, err = run(f"run 1 --frames 120 --title 'My run' --theme dark --stacked {exports}")

    assert (code, err) == (ExitCode.OK, "")
    for name in names:
        assert (tmp_path / name).stat().st_size > 1_000
        assert f"wrote {name} (120 frames)" in out
    assert "My run" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert (tmp_path / "a.PNG").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert len(rows(tmp_path / "a.csv")) == 120
    assert json.loads((tmp_path / "a.json").read_text())["frame_count"] == 120


def test_that_a_range_of_frames_is_exported(run: Run, tmp_path: Path) -> None:
    run("run 4 --frames 100 --export a.csv --range 10:20")

    assert [row["frame"] for row in rows(tmp_path / "a.csv")] == [str(i) for i in range(10, 20)]


def test_that_nothing_is_run_for_an_export_that_cannot_succeed(run: Run, tmp_path: Path) -> None:
    path = scene_file(tmp_path, "raise RuntimeError('it was loaded')")

    code, _, err = run(f"run {path.name} --frames 9 --export a.gif")

    assert code == ExitCode.FAILED
    assert "“.gif” is not a format" in err


def test_that_svg_csv_and_json_need_no_qt(tmp_path: Path) -> None:
    line = shlex.split("run 1 --frames 60 --quiet --export a.svg --export a.csv --export a.json")
    program = (
        "import sys\n"
        "from inspector.launcher import main\n"
        f"code = main({line!r})\n"
        "loaded = [name for name in sys.modules if name.startswith(('PySide6', 'pyqtgraph'))]\n"
        "sys.exit(code or bool(loaded))\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "a.svg").exists()


def test_that_an_export_is_drawn_again_from_what_was_exported(run: Run, tmp_path: Path) -> None:
    run("run 1 --seconds 10 --export a.json --export a.csv --export direct.svg --title T")

    code, out, _ = run("export a.json -o again.svg --title T")

    assert (code, out) == (ExitCode.OK, "wrote again.svg (600 frames)\n")
    assert (tmp_path / "again.svg").read_text() == (tmp_path / "direct.svg").read_text()
    assert run("export a.csv -o part.csv --range :60")[1] == "wrote part.csv (60 frames)\n"


def test_that_work_cannot_be_drawn_of_a_capture_that_has_none(run: Run, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("frametime\n16\n17\n")

    code, _, err = run("export c.csv -o c.svg --measure busy")

    assert code == ExitCode.FAILED
    assert "does not contain the time spent in callbacks. Use --measure interval." in err


def test_that_a_range_without_a_frame_writes_no_graph(run: Run, tmp_path: Path) -> None:
    table, graph = tmp_path / "a.csv", tmp_path / "b.svg"
    assert run(f"run 4 --frames 5 --quiet --export {table}")[0] == ExitCode.OK

    code, _out, err = run(f"export {table} -o {graph} --range 9999:")

    assert code == ExitCode.FAILED
    assert "5 frames are numbered from 0 to 4" in err
    assert not graph.exists()


def test_that_a_place_where_nothing_can_be_written_is_refused_before_the_run(
    run: Run, tmp_path: Path
) -> None:
    scene_file(tmp_path, "raise RuntimeError('it was loaded')")

    code, _, err = run("run scene.py --frames 9 --export /proc/a.csv")

    assert code == ExitCode.FAILED
    assert "Cannot write /proc/a.csv" in err


def test_that_one_frame_is_one_frame(run: Run) -> None:
    _, out, _ = run("run 4 --frames 1 --export one.csv")

    assert "\n1 frame in 00:00.016, " in out
    assert out.endswith("wrote one.csv (1 frame)\n")
