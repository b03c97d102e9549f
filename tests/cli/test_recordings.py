"""Recordings on the command line: made, exported, run again, made a test of."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from inspector.cli.main import window_scene
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.commands.scene import AddMark
from inspector.events import EventLog
from inspector.events.recording import RecordingWriter, open_recording
from inspector.exit_codes import ExitCode
from inspector.sessions.hosted import HostedSession
from inspector.sessions.recorded import RecordedSession
from inspector.sessions.replay.journal import JournalError
from inspector.sessions.replay.replayed import outside_text, replayed, what_happened
from inspector.sessions.runs.virtual import run_virtual
from tests.analysis.test_lateness import Program
from tests.cli.answers import Run
from tests.forked.python import PYTEST, run_python

_ROOT = Path(__file__).parents[2]

SCENE = """
def build(stage):
    stage.title = 'A "quoted" scene'
    stage.root.set_interval(0.05, lambda: None, name="tick")
    stage.root.set_timeout(0.52, lambda: stage.mark("boss is \\\\ here"), name="boss")
"""


@pytest.fixture(autouse=True)
def _scene(tmp_path: Path) -> None:
    """Have a scene in the folder."""
    (tmp_path / "game.py").write_text(SCENE)


@pytest.fixture
def recording(run: Run, tmp_path: Path) -> Path:
    code, out, err = run("run game.py --seconds 3 --record game.tlrec")
    assert (code, err) == (ExitCode.OK, "")
    assert out.endswith("recorded game.tlrec\n")
    return tmp_path / "game.tlrec"


def test_that_a_run_is_recorded_in_full(recording: Path) -> None:
    past = open_recording(recording)
    assert past.first == 0
    assert past.state_before(past.end).frames.end == 180
    assert past.state_before(past.end).marks[0].text == "boss is \\ here"
    assert past.title == 'A "quoted" scene'
    assert past.notes == ()


def test_that_a_run_over_a_file_is_refused_before_it_begins(run: Run, recording: Path) -> None:
    code, out, err = run("run game.py --seconds 3 --record game.tlrec")
    assert (code, out) == (ExitCode.FAILED, "")
    assert err == "timeline-inspector: game.tlrec exists. Add --overwrite to replace it.\n"
    assert open_recording(recording).end > 0


def test_that_its_frames_are_exported(run: Run, recording: Path, tmp_path: Path) -> None:
    code, out, err = run(f"export {recording} --as csv --as svg -o frames.json")
    assert (code, err) == (ExitCode.OK, "")
    assert out.count("(180 frames)") == 3
    with (tmp_path / "game.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 180
    assert "<svg" in (tmp_path / "game.svg").read_text()
    values = json.loads((tmp_path / "frames.json").read_text())
    assert values["provenance"]["scene"] == 'A "quoted" scene'
    assert values["provenance"]["frame_rate"] == "60"


def test_that_a_format_and_a_name_of_it_are_one_file(run: Run, recording: Path) -> None:
    _code, out, _err = run(f"export {recording} --as svg --as csv -o mine.svg")
    assert out.count("wrote") == 2
    assert "wrote mine.svg" in out
    assert recording.with_suffix(".csv").exists()


def test_that_a_scene_that_does_the_same_is_verified(run: Run, recording: Path) -> None:
    code, out, err = run(f"replay {recording} --verify")
    assert (code, err) == (ExitCode.OK, "")
    assert out.startswith("game.py behaved as recorded: ")
    assert "180 frames" in out


def test_that_a_scene_that_does_something_else_is_told_where(
    run: Run, recording: Path, tmp_path: Path
) -> None:
    (tmp_path / "game.py").write_text(SCENE.replace("0.52", "0.53"))
    code, out, err = run(f"replay {recording} --verify --anyway")
    assert code == ExitCode.DIFFERENT
    assert "game.py has changed since" in err
    assert out.startswith("game.py behaved differently: ")
    assert "expected “" in out
    assert run(f"replay {recording} --anyway")[0] == ExitCode.OK


@pytest.mark.parametrize("option", ["", "--verify"])
def test_that_a_scene_that_has_changed_is_not_run_unasked(
    run: Run, recording: Path, tmp_path: Path, option: str
) -> None:
    scene = tmp_path / "game.py"
    scene.write_text("raise SystemExit('it was run')\n")

    code, out, err = run(f"replay {recording} {option}")

    assert (code, out) == (ExitCode.CANNOT_TELL, "")
    assert err == (
        "timeline-inspector: game.py has changed since this was recorded, so it was not run: "
        f"{scene}. Look at it, and say --anyway.\n"
    )


def test_that_chance_in_build_is_told_as_such(run: Run, tmp_path: Path) -> None:
    (tmp_path / "chance.py").write_text(
        "import time\n"
        "def build(stage):\n"
        "    stage.root.set_timeout(0.1 + time.time_ns() % 10**6 / 1e7, print, name='jitter')\n"
    )
    run("run chance.py --seconds 1 --record chance.tlrec")

    code, out, _ = run("replay chance.tlrec --verify")

    assert code == ExitCode.DIFFERENT
    assert "after 0 frames in “build”: expected “timer 1 is due at" in out
    assert "(“jitter”)”, found “timer 1 is due at" in out
    assert "Does “build” use the time of day" in out


def test_that_a_recording_without_frames_is_written_as_a_trace(run: Run, tmp_path: Path) -> None:
    recorder = RecordingWriter(tmp_path / "timers.tlrec", Program().log)
    recorder.start()
    recorder.stop()

    code, out, _ = run("export timers.tlrec -o timers.trace.json")

    assert (code, out) == (ExitCode.OK, "wrote timers.trace.json\n")
    assert b"asyncio loop" in (tmp_path / "timers.trace.json").read_bytes()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("lint {}", "holds no events."),
        ("explain {} tick", "holds no events."),
        ("export {} -o x.svg", "has no frames to draw. Choose another file."),
    ],
)
def test_that_a_recording_of_nothing_is_said_to_be_one(
    run: Run, tmp_path: Path, line: str, said: str
) -> None:
    path = tmp_path / "nothing.tlrec"
    recorder = RecordingWriter(path, EventLog())
    recorder.start()
    recorder.stop()

    code, out, err = run(line.format(path.name))

    assert code != ExitCode.OK
    assert out == ""
    assert err.splitlines()[-1] == f"timeline-inspector: nothing.tlrec {said}"


@pytest.mark.parametrize("line", ["replay {} --verify", "export {} --as pytest -o test_it.py"])
def test_that_a_damaged_recording_is_not_held_against_the_scene(
    run: Run, recording: Path, tmp_path: Path, line: str
) -> None:
    with closing(sqlite3.connect(recording)) as connection, connection:
        connection.execute(
            "UPDATE chunks SET crc = 0 WHERE rowid = (SELECT max(rowid) FROM chunks)"
        )

    code, out, err = run(line.format(recording))

    assert (code, out) == (ExitCode.CANNOT_TELL, "")
    assert "The file is damaged from " in err
    assert "it cannot be replayed or verified." in err
    assert not (tmp_path / "test_it.py").exists()


def test_that_how_deep_a_callback_has_called_itself_is_no_difference(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "deep.py").write_text(
        "def build(stage):\n"
        "    def dive(): return dive()\n"
        "    stage.root.set_timeout(0.1, dive, name='dives')\n"
    )
    limit = sys.getrecursionlimit()
    run("run deep.py --seconds 1 --record deep.tlrec")
    try:
        sys.setrecursionlimit(limit + 50)
        code, out, _ = run("replay deep.tlrec --verify")
    finally:
        sys.setrecursionlimit(limit)

    assert (code, out.splitlines()[0][:28]) == (ExitCode.OK, "deep.py behaved as recorded:")


def test_that_names_that_end_lines_elsewhere_are_in_a_test_of_a_recording(tmp_path: Path) -> None:
    scene = tmp_path / "odd.py"
    scene.write_text("def build(stage):\n    stage.root.set_timeout(0.5, print, name='tick')\n")
    session = HostedSession(scene, VirtualTimeSource(), autorun=False)
    try:
        run_virtual(session, duration_ns=10**9)
        session.submit(AddMark("a\u2028b\u0085c\x1cd\u2029e"))
        run_virtual(session, duration_ns=10**9)
        session.refresh()
        events, strings = session.log.slice(0, session.log.end), session.log.strings

        found = replayed(scene, outside_text(events, strings))

        assert found == what_happened(events, strings)
        assert "a\u2028b" in found.marks[0][1]
    finally:
        session.close()


def test_that_a_scene_that_has_moved_is_named(run: Run, recording: Path, tmp_path: Path) -> None:
    shutil.move(tmp_path / "game.py", tmp_path / "moved.py")
    code, _, err = run(f"replay {recording} --verify")
    assert code == ExitCode.CANNOT_TELL
    assert "Name its file: --scene FILE." in err
    code, out, err = run(f"replay {recording} --scene moved.py --verify")
    assert (code, err) == (ExitCode.OK, "")
    assert out.startswith("moved.py behaved as recorded")


@pytest.mark.parametrize("line", ["replay {}", "export {} --as pytest", "export {} --as csv"])
def test_that_what_is_no_recording_is_one_sentence(run: Run, tmp_path: Path, line: str) -> None:
    for name, content in (("a.tlrec", b""), ("b.tlrec", b"SQLite format 3\0" + bytes(200))):
        (tmp_path / name).write_bytes(content)
        code, out, err = run(line.format(name))
        assert (code, out) == (ExitCode.UNREADABLE, "")
        assert err.startswith("timeline-inspector: ")
        assert err.count("\n") == 1


def test_that_the_middle_of_a_session_cannot_be_run_again(
    run: Run, recording: Path, tmp_path: Path
) -> None:
    from inspector.events.recording import save_last  # noqa: PLC0415

    part = tmp_path / "part.tlrec"
    save_last(open_recording(recording), part, 1)
    code, _, err = run(f"replay {part} --scene game.py")
    assert code == ExitCode.CANNOT_TELL
    assert "events are lost" in err
    assert run(f"export {part} --as pytest --scene game.py")[0] == ExitCode.CANNOT_TELL


#: Lines that decide about a recording.
_DECIDING = (
    "lint {}",
    "late {} --fail-over 1h",
    "replay {} --verify",
    "stats {} --assert 'p99 < 1s'",
    "compare {} whole.tlrec --fail-if 'p99 > +900%'",
    "compare whole.tlrec {} --fail-if 'p99 > +900%'",
)


def test_that_nothing_is_decided_by_a_recording_of_which_parts_are_missing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.events.recording.writing.file.CHUNK_EVENTS", 500)
    whole, part = tmp_path / "whole.tlrec", tmp_path / "part.tlrec"
    # A chunk has fewer events where writing takes its time.
    assert run(f"run game.py --seconds 4 --record {whole} --quiet")[0] == ExitCode.OK
    with closing(sqlite3.connect(whole)) as connection:
        assert connection.execute("SELECT count(*) >= 3 FROM chunks").fetchone() == (1,)
    for line in {each.format("whole.tlrec") for each in _DECIDING}:
        assert run(line)[0] == ExitCode.OK, line
    for order in ("rowid LIMIT 1 OFFSET 1", "rowid DESC LIMIT 1"):
        shutil.copy(whole, part)
        with closing(sqlite3.connect(part)) as connection, connection:
            chunk = f"SELECT rowid FROM chunks ORDER BY {order}"  # noqa: S608 - written above
            connection.execute(f"DELETE FROM chunks WHERE rowid = ({chunk})")  # noqa: S608

        for line in _DECIDING:
            code, _, err = run(line.format("part.tlrec"))

            assert code == ExitCode.CANNOT_TELL, (line, order)
            assert "events are missing" in err


def test_that_a_recording_becomes_a_test_that_passes(
    run: Run, recording: Path, tmp_path: Path
) -> None:
    code, out, _ = run(f"export {recording} --as pytest")
    test = tmp_path / "test_game.py"
    assert (code, out) == (ExitCode.OK, f"wrote {test}\n")
    assert "'boss': [520000000]" in test.read_text()
    assert run_test(test) == 0
    (tmp_path / "game.py").write_text(SCENE.replace("0.52", "0.53"))
    assert run_test(test) == 1
    assert run(f"export {recording} --as pytest")[2].endswith("Add --overwrite to replace it.\n")
    assert run(f"export {recording} --as pytest -o a.txt")[2].endswith("It must end in .py.\n")


def run_test(path: Path) -> int:
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return run_python(PYTEST, command, environment, _ROOT).returncode


def test_that_what_came_from_outside_is_understood_again(recording: Path) -> None:
    past = open_recording(recording)
    events = past.events(0, past.end)
    text = outside_text(events, past.strings)
    assert replayed(Path("game.py"), text) == what_happened(events, past.strings)
    for damaged in ("1:2", '["x"]', "hello", '[0, "no_such_kind", 0, 0, 0]'):
        with pytest.raises(JournalError, match="cannot be read"):
            replayed(Path("game.py"), damaged)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("export game.py", "The following arguments are required: -o/--output, --as, or --picture"),
        (
            "export a.tlrec --as pytest --as csv",
            "--as pytest takes one recording, and no other formats",
        ),
        ("export a.tlrec --as gif", "invalid choice"),
        ("replay", "FILE"),
    ],
)
def test_that_arguments_that_make_no_sense_are_one_sentence(
    run: Run, line: str, sentence: str
) -> None:
    code, out, err = run(line)
    assert (code, out) == (ExitCode.USAGE, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_that_a_recording_is_opened_in_the_window(recording: Path) -> None:
    assert window_scene([str(recording)]) == recording
    assert window_scene(["replay", str(recording)]) is None


def test_that_pictures_are_recorded_unless_they_are_left_out(run: Run, tmp_path: Path) -> None:
    _, out, _ = run("run 1 --seconds 2 --record with.tlrec")
    code, plain, _ = run("run 1 --seconds 2 --record without.tlrec --no-pictures")

    assert re.search(r"^recorded with\.tlrec, pictures [0-9.]+ [kM]B a minute$", out, re.MULTILINE)
    assert (code, plain.endswith("recorded without.tlrec\n")) == (ExitCode.OK, True)
    assert RecordedSession(tmp_path / "with.tlrec").pictures.at(60) is not None
    assert not RecordedSession(tmp_path / "without.tlrec").pictures.is_described


def test_that_leaving_out_pictures_of_no_recording_is_a_mistake(run: Run) -> None:
    code, _, err = run("run 1 --seconds 2 --no-pictures")

    assert code == ExitCode.USAGE
    assert "nothing is recorded without --record" in err
