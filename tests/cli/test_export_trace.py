"""``export --as trace``: a recording as Chrome trace-event JSON."""

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


def test_that_a_trace_has_the_name_of_a_json_file(run: Run) -> None:
    run("run 4 --seconds 1 --record a.tlrec --quiet")

    code, _, err = run("export a.tlrec --as trace -o a.svg")

    assert code == ExitCode.FAILED
    assert "a.svg is not a valid name for a trace. It must end in .json." in err
