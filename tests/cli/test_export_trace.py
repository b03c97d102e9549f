"""A recording, or a run, as a trace."""

from __future__ import annotations

from pathlib import Path

from inspector.exit_codes import ExitCode
from inspector.sessions.frame_files import read_frame_file
from tests.cli.answers import Run


def test_that_the_file_is_read_back_with_all_frames(run: Run, tmp_path: Path) -> None:
    run("run 1 --seconds 5 --record game.tlrec --quiet")

    code, out, _ = run("export game.tlrec --as trace")

    assert code == ExitCode.OK
    assert out == "wrote game.trace.json\n"
    read = read_frame_file(tmp_path / "game.trace.json")
    assert read.column == "frame"
    assert len(read.frames) == 300


def test_that_a_name_may_leave_it_to_the_format(run: Run, tmp_path: Path) -> None:
    run("run 4 --seconds 1 --record a.tlrec --quiet")

    code, out, _ = run("export a.tlrec --as trace --as svg -o a.json -o a.pftrace")

    assert code == ExitCode.OK
    assert out.splitlines() == ["wrote a.json", "wrote a.pftrace", "wrote a.svg (60 frames)"]
    assert "traceEvents" in (tmp_path / "a.json").read_text(encoding="utf-8")


def test_that_a_run_is_written_as_a_trace(run: Run, tmp_path: Path) -> None:
    assert run("run 1 --seconds 5 --quiet --export a.pftrace --range 1s:3s")[0] == ExitCode.OK

    read = read_frame_file(tmp_path / "a.pftrace")

    assert read.column == "frame"
    assert len(read.frames) == 120


def test_that_exported_frame_times_become_a_trace_of_frames(run: Run, tmp_path: Path) -> None:
    run("run 1 --frames 60 --quiet --export a.csv")

    code, _, _ = run("export a.csv --as pftrace")

    assert code == ExitCode.OK
    assert len(read_frame_file(tmp_path / "a.pftrace").frames) == 60


def test_that_a_trace_without_frames_can_be_written_in_another_format(
    run: Run, tmp_path: Path
) -> None:
    event = '{"ph": "X", "pid": 1, "tid": 1, "name": "load", "ts": 5, "dur": 7}'
    (tmp_path / "a.json").write_text(f"[{event}]")

    code, out, _ = run("export a.json --as pftrace")
    refused, _, err = run("export a.json --as svg")

    assert (code, out) == (ExitCode.OK, "wrote a.pftrace\n")
    slices = read_frame_file(tmp_path / "a.pftrace", needs_frames=False).slices
    assert slices is not None
    assert (slices.names, slices.took_ns.tolist()) == (("load",), [7000])
    assert refused == ExitCode.UNREADABLE
    assert "none is taken for a frame" in err
