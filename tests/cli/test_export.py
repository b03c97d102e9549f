"""Graphs and tables that ``run`` and ``export`` write."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.cli import main as cli
from inspector.errors import ExportError
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


def test_that_a_run_loads_only_what_its_outputs_need(tmp_path: Path) -> None:
    lines = {
        "": ("inspector.formats.arrangement", "inspector.formats.captures", "PySide6"),
        "--export a.svg --export a.csv --export a.json": ("PySide6", "pyqtgraph"),
    }
    program = "import sys\nfrom inspector.launcher import main\n"
    for outputs, unneeded in lines.items():
        program += (
            f"code = main('run 1 --frames 60 --quiet {outputs}'.split())\n"
            f"loaded = [name for name in sys.modules if name.startswith({unneeded!r})]\n"
            "if code or loaded: sys.exit(f'{code} {loaded}')\n"
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

    assert code == ExitCode.UNREADABLE
    assert "does not contain the time spent in callbacks. Use --measure interval." in err


@pytest.mark.parametrize(
    ("option", "what"),
    [
        ("--measure delta", "the local time given to callbacks. Use --measure interval."),
        ("--stacked", "the phases of frames. Omit --stacked."),
    ],
)
def test_that_only_a_session_of_ours_has_delta_and_phases(
    run: Run, tmp_path: Path, option: str, what: str
) -> None:
    (tmp_path / "c.csv").write_text("frametime\n16\n17\n")

    code, _, err = run(f"export c.csv -o c.svg {option}")

    assert code == ExitCode.UNREADABLE
    assert f"does not contain {what}" in err


def test_that_a_range_without_a_frame_writes_no_graph(run: Run, tmp_path: Path) -> None:
    table, graph = tmp_path / "a.csv", tmp_path / "b.svg"
    assert run(f"run 4 --frames 5 --quiet --export {table}")[0] == ExitCode.OK

    code, _out, err = run(f"export {table} -o {graph} --range 9999:")

    assert code == ExitCode.FAILED
    assert "there are 5 frames numbered from 0 to 4" in err
    assert not graph.exists()


def test_that_a_place_where_nothing_can_be_written_is_refused_before_the_run(
    run: Run, tmp_path: Path
) -> None:
    scene_file(tmp_path, "raise RuntimeError('it was loaded')")

    code, _, err = run("run scene.py --frames 9 --export /proc/a.csv")

    assert code == ExitCode.FAILED
    assert "Cannot write /proc/a.csv" in err


def test_that_a_report_on_frames_of_an_unknown_refresh_rate_counts_no_refreshes(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("MsBetweenPresents\n16.7\n40\n16.7\n")

    def missed(arguments: str) -> list[str]:
        assert run(f"export a.csv -o a.html --overwrite {arguments}")[0] == ExitCode.OK
        page = (tmp_path / "a.html").read_text("utf-8")
        cells = page[page.index("Missed refreshes<") :].split("</tr>")[0]
        return re.findall(r">([^<>]+)<", cells)

    assert missed("")[:2] == [
        "-",
        "The refresh rate is unknown: give it as a budget, such as 60fps.",
    ]
    assert missed("--budget 60fps")[0] == "2"


def test_that_one_frame_is_one_frame(run: Run) -> None:
    _, out, _ = run("run 4 --frames 1 --export one.csv")

    assert "\n1 frame in 0:00.016, " in out
    assert out.endswith("wrote one.csv (1 frame)\n")


def test_that_statistics_of_a_report_are_against_the_target_of_the_scene(
    run: Run, tmp_path: Path
) -> None:
    run("run 4 --seconds 1 --record a.tlrec --quiet")

    assert run("export a.tlrec -o a.html")[0] == ExitCode.OK

    assert "Hitches and jank are against 16.67 ms." in (tmp_path / "a.html").read_text("utf-8")


def test_that_a_budget_is_a_rate_or_a_time(run: Run, tmp_path: Path) -> None:
    run("run 4 --frames 99 --quiet --export a.csv")

    assert run("export a.csv -o rate.svg --budget 60fps --measure interval")[0] == ExitCode.OK
    assert run("export a.csv -o time.svg --budget 20ms --measure interval")[0] == ExitCode.OK

    assert ">60 fps</text>" in (tmp_path / "rate.svg").read_text(encoding="utf-8")
    assert ">50 fps</text>" in (tmp_path / "time.svg").read_text(encoding="utf-8")
    code, _, err = run("export a.csv -o no.svg --budget fast")
    assert code == ExitCode.USAGE
    assert "not a budget: “fast” (write milliseconds such as 16.7, or 60fps)" in err


def test_that_a_range_of_time_is_exported(run: Run, tmp_path: Path) -> None:
    run("run 4 --frames 300 --export a.csv --range 1s:2s")

    found = [int(row["at_ns"]) for row in rows(tmp_path / "a.csv")]

    assert len(found) == 60
    assert min(found) >= 1_000_000_000
    assert max(found) < 2_000_000_000


def test_that_a_file_is_not_written_over_itself(run: Run, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("frametime\n16\n17\n")

    code, _, err = run("export c.csv --as csv")

    assert code == ExitCode.FAILED
    assert "c.csv is the file to export. Choose another name with -o." in err
    assert (tmp_path / "c.csv").read_text() == "frametime\n16\n17\n"


def test_that_several_files_are_exported_a_row_each(run: Run, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("frametime\n16\n17\n")
    (tmp_path / "bad.csv").write_text("nothing\nat all\n")

    code, out, _ = run("export a.csv bad.csv b.csv --format svg --format json --out made/here")

    assert code == ExitCode.FAILED
    first, bad, last, count = out.splitlines()
    assert first == "a.csv: wrote made/here/a.svg (2 frames), made/here/a.json (2 frames)"
    assert bad.startswith("bad.csv: not exported. bad.csv has no column of numbers")
    assert last == "b.csv: wrote made/here/b.svg (2 frames), made/here/b.json (2 frames)"
    assert count == "2 of 3 files exported"
    assert sorted(path.name for path in (tmp_path / "made" / "here").iterdir()) == [
        *("a.json", "a.svg", "b.json", "b.svg")
    ]


def test_that_files_that_exist_are_left_alone_without_leave(run: Run, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("frametime\n16\n17\n")
    (tmp_path / "a.svg").write_text("mine")

    code, out, _ = run("export a.csv b.csv --as svg")

    assert code == ExitCode.FAILED
    assert "a.csv: not exported. a.svg exists. Add --overwrite to replace it.\n" in out
    assert "b.csv: wrote b.svg (2 frames)\n" in out
    assert (tmp_path / "a.svg").read_text() == "mine"
    assert run("export a.csv b.csv --as svg --overwrite")[0] == ExitCode.OK
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")


def test_that_two_files_are_not_exported_to_one(run: Run, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_text("frametime\n16\n17\n")

    code, out, _ = run("export one/a.csv two/a.csv --as svg --out all")

    assert code == ExitCode.FAILED
    assert "two/a.csv: not exported. all/a.svg is what one/a.csv has been exported to." in out


def test_that_one_output_takes_one_file(run: Run) -> None:
    code, _, err = run("export a.csv b.csv -o c.svg")

    assert code == ExitCode.USAGE
    assert "-o/--output takes one file, or --figure for a picture of all; choose formats" in err


def test_that_the_timeline_is_a_picture_of_runs_recordings_and_captures(
    run: Run, tmp_path: Path
) -> None:
    code, _, err = run("run 1 --seconds 4 --record a.tlrec --export a.timeline.svg --quiet")
    assert (code, err) == (ExitCode.OK, "")
    code, out, err = run("export a.tlrec --as timeline -o b.timeline.svg -o b.timeline.png")
    assert (code, err) == (ExitCode.OK, "")
    assert "wrote b.timeline.svg" in out
    run("export a.tlrec --as csv")
    code, _, err = run("export a.csv --as timeline")

    assert (code, err) == (ExitCode.OK, "")
    for name in ("a", "b"):
        assert ">player shoots</text>" in (tmp_path / f"{name}.timeline.svg").read_text("utf-8")
    assert (tmp_path / "b.timeline.png").read_bytes().startswith(b"\x89PNG")
    # What --as names alone is a PNG, beside the file.
    assert (tmp_path / "a.timeline.png").read_bytes().startswith(b"\x89PNG")


def test_that_a_timeline_of_a_capture_has_frames_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("MsBetweenPresents\n" + "16.7\n" * 100)

    run("export a.csv -o a.timeline.svg")

    assert "Frames alone" in (tmp_path / "a.timeline.svg").read_text("utf-8")


def test_that_as_timeline_takes_the_kind_of_picture_from_the_name(run: Run, tmp_path: Path) -> None:
    run("run 4 --seconds 1 --record a.tlrec --quiet")

    code, out, _ = run("export a.tlrec --as timeline -o lanes.svg")

    assert (code, out) == (ExitCode.OK, "wrote lanes.svg (60 frames)\n")
    assert "Timeline, 0:00" in (tmp_path / "lanes.svg").read_text("utf-8")
    assert not (tmp_path / "a.timeline.png").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("export a.csv -o a.svg --stacked", "the phases of frames. Omit --stacked."),
        ("export a.csv -o a.svg --stream x", "a.csv has a single stream. Omit --stream."),
        ("export a.csv --as svg --out taken", "cannot be made: it is a file. Choose another --out"),
        (
            "export a.csv -o a.svg --range 9s:",
            "3 frames from 0:00.016 to 0:00.051. Choose another",
        ),
    ],
)
def test_that_what_cannot_be_is_refused_before_anything_is_written(
    run: Run, tmp_path: Path, arguments: str, said: str
) -> None:
    (tmp_path / "a.csv").write_text("frametime_ms\n16\n17\n18\n", encoding="utf-8")
    (tmp_path / "taken").touch()

    code, out, err = run(arguments)

    asks_for_more = "--stacked" in arguments or "--stream" in arguments
    assert (code, out) == (ExitCode.UNREADABLE if asks_for_more else ExitCode.FAILED, "")
    assert said in err
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.csv", "taken"]


def test_that_nothing_is_replaced_unasked(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("frametime\n16\n17\n")
    for name in ("a.svg", "run.json", "run.tlrec"):
        (tmp_path / name).write_text("mine")

    answers = [
        run(line)
        for line in (
            "export a.csv --as svg",
            "export a.csv -o a.svg",
            "run 4 --frames 1 --export run.json",
            "run 4 --frames 1 --record run.tlrec",
        )
    ]

    assert {code for code, _out, _err in answers} == {ExitCode.FAILED}
    assert all(err.endswith("exists. Add --overwrite to replace it.\n") for *_, err in answers)
    assert {path.read_text() for path in tmp_path.iterdir() if path.suffix != ".csv"} == {"mine"}


def test_that_the_same_option_replaces_exports_and_recordings(run: Run, tmp_path: Path) -> None:
    for name in ("run.json", "run.tlrec"):
        (tmp_path / name).write_text("mine")

    code, _, err = run("run 4 --frames 1 --export run.json --record run.tlrec --overwrite")

    assert (code, err) == (ExitCode.OK, "")
    assert (tmp_path / "run.json").read_text().startswith("{")
    assert (tmp_path / "run.tlrec").read_bytes().startswith(b"SQLite")


def test_that_an_export_goes_to_standard_output(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("frametime\n16\n17\n")
    assert run("export a.csv -o b.csv")[0] == ExitCode.OK

    code, out, err = run("export a.csv --as csv -o -")

    assert (code, out, err) == (ExitCode.OK, (tmp_path / "b.csv").read_bytes().decode(), "")


@pytest.mark.parametrize("more", ["", "--as csv --as svg", "--as csv -o b.csv"])
def test_that_standard_output_takes_one_format(run: Run, more: str) -> None:
    code, out, err = run(f"export a.csv -o - {more}")

    assert (code, out) == (ExitCode.USAGE, "")
    assert "-o - is the only output, in the one format that --as names" in err


def test_that_an_output_that_cannot_be_written_does_not_stop_the_others(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ExportError("Cannot write it: the disk is full.")

    monkeypatch.setattr("inspector.formats.tables.frame_times_csv.write_csv", refuse)
    (tmp_path / "a.csv").write_text("frametime\n16\n17\n")

    code, out, err = run("export a.csv -o b.csv -o b.json")
    assert (code, out) == (ExitCode.FAILED, "wrote b.json (2 frames)\n")
    assert err == "timeline-inspector: Cannot write it: the disk is full.\n"

    code, out, err = run("run 4 --frames 2 --export r.csv --export r.json --record r.tlrec")
    assert code == ExitCode.FAILED
    assert "wrote r.json (2 frames)\nrecorded r.tlrec" in out
    assert err == "timeline-inspector: Cannot write it: the disk is full.\n"


def test_that_a_target_that_is_refused_does_not_stop_the_others(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("frametime\n16\n17\n")
    (tmp_path / "b.csv").write_text("mine")

    code, out, err = run("export a.csv -o b.csv -o no/b.json -o a.csv -o b.json --overwrite")
    written = "wrote b.csv (2 frames)\nwrote b.json (2 frames)\n"
    assert (code, out) == (ExitCode.FAILED, written)
    assert "Cannot write no/b.json: no does not exist." in err
    assert "a.csv is the file to export." in err
    code, out, err = run("export a.csv -o b.csv -o c.json")
    assert (code, out) == (ExitCode.FAILED, "wrote c.json (2 frames)\n")
    assert err == "timeline-inspector: b.csv exists. Add --overwrite to replace it.\n"


def _captures(folder: Path) -> None:
    for name, times in (("before.csv", (16.0, 17.0)), ("after.csv", (12.0, 13.0))):
        lines = ["frame_time_ms", *(str(each) for each in times * 100)]
        (folder / name).write_text("\n".join(lines) + "\n")


def test_that_several_captures_are_drawn_in_one_figure(run: Run, tmp_path: Path) -> None:
    _captures(tmp_path)

    code, out, err = run(
        "export before.csv after.csv --figure distribution --preset card -o a.svg --side-by-side"
    )

    assert (code, err) == (ExitCode.OK, "")
    assert out == "wrote a.svg (2 files)\n"
    text = (tmp_path / "a.svg").read_text()
    assert "<title>before.csv and after.csv</title>" in text
    assert "before.csv: 200 frames, P50 16.0 ms, P99 17.0 ms, longest 17.0 ms." in text


def test_that_a_figure_of_one_capture_is_a_format_of_its_graph(run: Run, tmp_path: Path) -> None:
    _captures(tmp_path)

    code, _, err = run("export before.csv after.csv --figure l-shape --as svg")

    assert (code, err) == (ExitCode.OK, "")
    assert "Upper percentiles of frame times, 200 frames" in (tmp_path / "after.svg").read_text()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("export a.csv --preset slide --size 800x600 -o a.png", "--preset: it has a size"),
        ("run 1 --frames 9 --preset slide --dpi 72 --export a.png", "--preset: it has a size"),
        ("export a.csv --figure frames --side-by-side -o a.png", "several files"),
        ("export a.csv b.csv -o a.png", "--figure for a picture of all"),
    ],
)
def test_that_two_sizes_and_columns_of_one_file_are_refused(
    run: Run, line: str, reason: str
) -> None:
    code, _, err = run(line)

    assert code == ExitCode.USAGE
    assert reason in err
