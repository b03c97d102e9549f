"""The command line, as a user and a script meet it."""

import csv
import json
import os
import pty
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from inspector import __version__, cli
from inspector.cli import window_scene
from inspector.errors import SceneError
from inspector.exit_codes import ExitCode
from inspector.sessions.scene import built_in_scenes, find_scene
from inspector.testing import scene_file
from inspector.trace.recording import open_recording

Run = Callable[..., tuple[int, str, str]]

FAILING = """
    def build(stage):
        stage.root.set_timeout(0.5, lambda: 1 / 0, name="divides")
"""


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line in an empty folder; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run_line(line: str) -> tuple[int, str, str]:
        code = cli.main(shlex.split(line))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run_line


def test_that_help_shows_what_to_type_and_what_exit_codes_mean(run: Run) -> None:
    code, out, err = run("--help")

    assert code == ExitCode.OK
    assert "timeline-inspector run SCENE" in out
    for exit_code in ExitCode:
        assert re.search(rf"^  {exit_code.value} ", out, re.MULTILINE), exit_code
    assert err == ""


@pytest.mark.parametrize("command", ["run", "export", "scenes"])
def test_that_every_command_has_help_of_its_own(run: Run, command: str) -> None:
    code, out, _ = run(f"{command} --help")

    assert code == ExitCode.OK
    assert out.startswith(f"usage: timeline-inspector {command} ")
    assert max(map(len, out.splitlines())) <= 90


def test_that_the_version_names_what_it_runs_on(run: Run) -> None:
    code, out, _ = run("--version")

    assert code == ExitCode.OK
    assert out.startswith(f"timeline-inspector {__version__}\nPython 3.")
    assert "PySide6-Essentials 6." in out


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("run", "The following arguments are required: SCENE"),
        ("run 4", "Say how long to run: --frames N or --seconds S"),
        ("run 4 --frames 3 --seconds 3", "Argument --seconds: not allowed with argument --frames"),
        ("run 4 --frames 0", "Argument --frames: not a whole number above 0: '0'"),
        ("run 4 --frames many", "Argument --frames: not a whole number above 0: 'many'"),
        ("run 4 --seconds -1", "Argument --seconds: a duration must be above 0: '-1'"),
        ("run 4 --seconds nan", "Argument --seconds: not a duration: 'nan'"),
        ("run 4 --frames 1 --dt 0", "Argument --dt: a step must be at least a nanosecond: '0'"),
        ("run 4 --frames 1 --dt 1e40", "Argument --dt: a step must be shorter than 146 years"),
        ("run 4 --frames 3 --dt 4e9", "Argument --dt: 3 frames so far apart take longer"),
        ("run 4 --frames 1 --rate=-2", "Argument --rate: a rate cannot be negative"),
        ("run 4 --frames 1 --failure-policy x", "Argument --failure-policy: no such policy: 'x'"),
        ("run 4 --frames 1 --budget 0", "Argument --budget: not a number of milliseconds: '0'"),
        ("run 4 --seconds 1:99:00", "Argument --seconds: not a duration: '1:99:00' (minutes and"),
        ("run 4 --frames 1 --size big", "Argument --size: not a size: 'big'"),
        ("run 4 --frames 1 --real-time --dt 1", "Argument --dt: not allowed with argument --real"),
        ("export x.csv", "The following arguments are required: -o/--output"),
    ],
)
def test_that_arguments_that_make_no_sense_are_one_sentence(
    run: Run, line: str, sentence: str
) -> None:
    code, out, err = run(line)

    assert code == ExitCode.USAGE
    assert out == ""
    assert err.startswith(f"timeline-inspector: {sentence}")
    assert err.count("\n") == 1
    assert "--help" in err


def test_that_a_run_of_frames_is_exact_and_tells_what_timers_did(run: Run) -> None:
    code, out, err = run("run minimal --frames 600")

    assert (code, err) == (ExitCode.OK, "")
    assert "600 frames in 00:10.000, virtual time, dt 1/60 s" in out
    assert re.search(r"^blink +ui +every 1.00 s +10 +10 +exact$", out, re.MULTILINE)
    assert re.search(r"^  game +00:05.000 +0.5 +0.5 +2 +10 +running$", out, re.MULTILINE)
    assert "2 of 2 repeating timers have their exact count." in out
    assert "No callback failed." in out


def test_that_a_run_can_be_read_by_programs(run: Run) -> None:
    code, out, _ = run("run minimal --seconds 20 --json")

    values = json.loads(out)
    assert code == ExitCode.OK
    assert (values["frames"], values["session_ns"]) == (1_200, 20_000_000_000)
    timers = {timer["label"]: timer for timer in values["timers"]}
    assert timers["blink"]["fired"] == timers["blink"]["expected"] == 20
    game = next(clock for clock in values["clocks"] if clock["name"] == "game")
    assert game["state"] == "paused since 00:20.000"


@pytest.mark.parametrize(
    ("dt", "frames"), [("1/60", 60), ("1/7", 7), ("10ms", 100), ("0.25", 4), ("1/144", 144)]
)
def test_that_a_step_is_taken_exactly(run: Run, dt: str, frames: int) -> None:
    _, out, _ = run(f"run minimal --seconds 1 --dt {dt} --json")

    values = json.loads(out)
    assert (values["frames"], values["session_ns"]) == (frames, 10**9)


def test_that_a_rate_is_given_to_the_root(run: Run) -> None:
    _, out, _ = run("run minimal --seconds 10 --rate 1/2 --json")

    clocks = {clock["name"]: clock for clock in json.loads(out)["clocks"]}
    assert clocks["root"]["local_ns"] == 5_000_000_000
    assert clocks["game"]["effective_rate"] == "0.25"


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
        env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parent.parent)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "a.svg").exists()


def test_that_help_and_scenes_do_not_wait_for_numpy(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from inspector.launcher import main\n"
        "main(['--version']); main(['--help']); main(['scenes'])\n"
        "sys.exit('numpy' in sys.modules)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parent.parent)},
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0


def test_that_a_failing_callback_ends_in_exit_code_1_and_is_said(run: Run, tmp_path: Path) -> None:
    scene_file(tmp_path, FAILING)

    code, out, err = run("run scene.py --seconds 1")

    assert code == ExitCode.FAILED
    assert "  00:00.500  “divides”  ZeroDivisionError: division by zero" in out
    assert err == (
        "timeline-inspector: “divides” failed with ZeroDivisionError: division by zero "
        "(scene.py, line 3).\n"
    )


def test_that_the_policy_stop_ends_the_run_there(run: Run, tmp_path: Path) -> None:
    scene_file(tmp_path, FAILING)

    code, out, err = run("run scene.py --seconds 9 --failure-policy stop")

    assert code == ExitCode.FAILED
    assert "in 00:00.500" in out
    assert "The run was stopped before its end." in out
    assert err.endswith("The scene was stopped there.\n")


def test_that_a_scene_that_cannot_be_loaded_shows_the_line(run: Run, tmp_path: Path) -> None:
    scene_file(tmp_path, "def build(stage):\n    stage.nothing\n")

    code, out, err = run("run scene.py --frames 1")

    assert code == ExitCode.SCENE
    assert out == ""
    assert err.startswith(
        "timeline-inspector: scene.py failed in build(stage) (line 2): AttributeError: "
    )
    assert "> 2 │     stage.nothing" in err
    assert err.count("line 2") == 3


@pytest.mark.parametrize("name", ["nowhere.py", "smal_game", "."])
def test_that_a_scene_that_is_not_there_is_one_sentence(run: Run, name: str) -> None:
    code, _, err = run(f"run {name} --frames 1")

    assert code == ExitCode.SCENE
    assert err.count("\n") == 1


def test_that_frame_times_of_a_capture_drive_a_scene(run: Run, tmp_path: Path) -> None:
    capture = "Application,MsBetweenPresents\n" + "game.exe,20.0\ngame.exe,180.0\n" * 10
    (tmp_path / "capture.csv").write_text(capture)

    code, out, _ = run("run minimal --frame-times capture.csv:MsBetweenPresents --export a.csv")

    assert code == ExitCode.OK
    assert "20 frames in 00:02.000, frame times of capture.csv (MsBetweenPresents)" in out
    assert [row["interval_ms"] for row in rows(tmp_path / "a.csv")[:2]] == [
        "20.000000",
        "180.000000",
    ]


def test_that_a_run_in_real_time_takes_that_time(run: Run) -> None:
    code, out, _ = run("run minimal --seconds 0.3 --real-time --json")

    values = json.loads(out)
    assert code == ExitCode.OK
    assert values["session_ns"] >= 300_000_000
    assert values["took_ns"] >= 300_000_000
    assert 10 <= values["frames"] <= 18
    assert values["how"] == "in real time"


def test_that_a_run_in_real_time_has_exactly_the_frames_that_were_asked_for(run: Run) -> None:
    _, out, _ = run("run minimal --frames 12 --real-time --json")

    assert json.loads(out)["frames"] == 12


def test_that_what_was_cut_from_long_frames_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "capture.csv").write_text("ms\n16\n300\n16\n1250\n")

    _, out, _ = run("run 4 --frame-times capture.csv")
    _, as_json, _ = run("run 4 --frame-times capture.csv --json")

    assert "1.05 s cut from 2 frames longer than max_delta\n" in out
    assert json.loads(as_json)["cut_ns"] == pytest.approx(1_050_000_000, abs=10)


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
    assert "says nothing about the time spent in callbacks. Use --measure interval." in err


def test_that_the_scenes_are_listed_with_their_paths(run: Run) -> None:
    code, out, _ = run("scenes")

    assert code == ExitCode.OK
    for scene in built_in_scenes():
        assert scene.title in out
        assert str(scene.path) in out
    listed = json.loads(run("scenes --json")[1])
    assert [Path(scene["path"]) for scene in listed] == [s.path for s in built_in_scenes()]


def test_that_a_scene_is_copied_but_never_over_another(run: Run, tmp_path: Path) -> None:
    assert run("scenes --copy minimal mine.py")[:2] == (ExitCode.OK, "mine.py\n")
    assert (tmp_path / "mine.py").read_bytes() == find_scene("4").read_bytes()

    code, _, err = run("scenes --copy 1 mine.py")

    assert code == ExitCode.FAILED
    assert err == "timeline-inspector: mine.py exists. Choose another name.\n"
    assert run("run mine.py --frames 10 --quiet") == (ExitCode.OK, "", "")


def test_that_a_capture_that_is_too_short_is_said_to_be_repeated(run: Run, tmp_path: Path) -> None:
    (tmp_path / "short.csv").write_text("ms\n16\n17\n", encoding="utf-8")

    code, out, err = run("run 4 --frame-times short.csv --frames 5")

    assert code == ExitCode.OK
    assert "5 frames in 00:00.082, frame times of short.csv (ms), again and again" in out
    assert err == ("timeline-inspector: short.csv holds 2 frames, 33.0 ms; it is repeated.\n")
    assert "again" not in run("run 4 --frame-times short.csv --frames 2")[1]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_that_a_full_disk_is_said_in_a_sentence() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "inspector", "scenes"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert done.returncode == ExitCode.FAILED
    assert done.stderr.startswith("timeline-inspector: The answer could not be written: ")
    assert done.stderr.count("\n") == 1


def test_that_a_window_is_wanted_for_a_scene_and_for_nothing() -> None:
    assert window_scene([]) == find_scene("1")
    assert window_scene(["3"]) == find_scene("3")
    assert window_scene(["run", "3", "--frames", "1"]) is None
    assert window_scene(["scenes"]) is None
    assert window_scene(["--version"]) is None
    with pytest.raises(SceneError, match="There is no file"):
        window_scene(["nowhere.py"])


def test_that_an_unknown_option_opens_no_window(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        window_scene(["--colour", "red"])

    assert exit_.value.code == ExitCode.USAGE
    assert capsys.readouterr().err.startswith("timeline-inspector: Unrecognized arguments")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_that_progress_is_shown_to_a_terminal_only(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.sessions.virtual_run._PROGRESS_EVERY_NS", -1)
    assert run("run 4 --frames 6400 --quiet") == (ExitCode.OK, "", "")
    try:
        reader, writer = pty.openpty()
    except OSError as error:
        pytest.skip(f"this machine has no pseudo-terminals: {error}")
    shown = bytearray()

    def read() -> None:
        while chunk := os.read(reader, 4096):
            shown.extend(chunk)
            if shown.endswith(b"end"):
                return

    thread = threading.Thread(target=read)
    thread.start()
    with os.fdopen(writer, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        cli.main(["run", "4", "--frames", "6400", "--quiet"])
        terminal.write("end")
        terminal.flush()
        thread.join(10)
    os.close(reader)

    assert b" 50%" in shown
    assert b"left" in shown
    assert re.search(rb"\r +\rend$", shown), "the line is cleared at the end"


def test_that_a_reader_who_leaves_early_is_no_error(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "inspector", "run", "2", "--seconds", "1", "--timers", "5000"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parent.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        process.stdout.close()
        complaint = process.stderr.read()

    assert first == "Thousands of timers\n"
    assert complaint == ""
    assert process.returncode == ExitCode.OK


def test_that_a_step_of_a_fraction_is_kept_as_one() -> None:
    options = cli.build_parser().parse_args(["run", "1", "--frames", "1", "--dt", "1/60"])

    assert options.dt == Fraction(10**9, 60)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--range abc", "Argument --range"),
        ("--range 5:2", "Argument --range"),
        ("--range -3:4", "Argument --range: “-3:4” is not a range of frames."),
        ("--size -5x5", "Argument --size: the width is within 400 and 14400, not -5"),
        ("--size 1x1", "Argument --size: the width is within 400 and 14400, not 1."),
        ("--size 10x10", "Argument --size: the width"),
        ("--dpi 0", "Argument --dpi"),
    ],
)
def test_that_arguments_that_make_no_sense_are_named_as_they_were_written(
    run: Run, tmp_path: Path, arguments: str, said: str
) -> None:
    table = tmp_path / "a.csv"
    assert run(f"run 4 --frames 5 --quiet --export {table}")[0] == ExitCode.OK

    code, _out, err = run(f"export {table} -o {tmp_path / 'b.svg'} {arguments}")

    assert code == ExitCode.USAGE
    assert said in err


def test_that_a_range_without_a_frame_writes_no_graph(run: Run, tmp_path: Path) -> None:
    table, graph = tmp_path / "a.csv", tmp_path / "b.svg"
    assert run(f"run 4 --frames 5 --quiet --export {table}")[0] == ExitCode.OK

    code, _out, err = run(f"export {table} -o {graph} --range 9999:")

    assert code == ExitCode.FAILED
    assert "5 frames are numbered from 0 to 4" in err
    assert not graph.exists()


def test_that_a_failure_inside_the_library_is_placed_in_the_users_own_line(
    run: Run, tmp_path: Path
) -> None:
    scene_file(
        tmp_path,
        """
        def later(clock):
            clock.set_timeout("soon", print)

        def build(stage):
            stage.root.set_timeout(0.5, later, stage.root, name="asks")
        """,
    )

    _, _, err = run("run scene.py --seconds 1 --quiet")

    assert err == (
        "timeline-inspector: “asks” failed with ValueError: "
        "not a usable number of seconds: 'soon' (scene.py, line 3).\n"
    )


def test_that_an_empty_name_is_no_folder(run: Run) -> None:
    code, _, err = run("run '' --frames 1")

    assert code == ExitCode.SCENE
    assert err.startswith("timeline-inspector: The name of the scene is empty.")


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


def test_that_a_terminal_without_our_signs_is_written_to_all_the_same() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "inspector", "run", "4", "--frames", "10"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"?" in done.stdout


def test_that_what_a_scene_prints_is_not_part_of_the_json(run: Run, tmp_path: Path) -> None:
    scene_file(tmp_path, "def build(stage):\n    print('hello')\n")

    code, out, err = run("run scene.py --frames 3 --json")

    assert code == ExitCode.OK
    assert json.loads(out)["frames"] == 3
    assert err.startswith("hello\n")


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("OwnError('a\\nb')", "OwnError: a"),
        ("ExceptionGroup('many', [OwnError(1)])", "ExceptionGroup: many (1 sub-exception)"),
    ],
)
def test_that_an_error_is_named_as_its_author_wrote_it(
    run: Run, tmp_path: Path, raised: str, said: str
) -> None:
    scene_file(
        tmp_path,
        f"""
        class OwnError(Exception): pass

        def fail():
            raise {raised}

        def build(stage):
            stage.root.set_timeout(0.5, fail, name="fails\\ntwice")
        """,
    )

    _, out, err = run("run scene.py --seconds 1")

    assert f"  00:00.500  “fails⏎twice”  {said}\n" in out
    assert err == f"timeline-inspector: “fails⏎twice” failed with {said} (scene.py, line 5).\n"


def test_that_what_ends_other_programs_fails_here(run: Run, tmp_path: Path) -> None:
    scene_file(
        tmp_path,
        """
        from asyncio import CancelledError

        def stop():
            raise CancelledError

        def build(stage):
            stage.root.set_timeout(0.5, stop)
        """,
    )

    code, _, err = run("run scene.py --seconds 1")

    assert code == ExitCode.FAILED
    assert err == (
        "timeline-inspector: “stop” failed with asyncio.exceptions.CancelledError "
        "(scene.py, line 5).\n"
    )


def test_that_a_run_that_is_terminated_closes_its_recording(tmp_path: Path) -> None:
    scene_file(
        tmp_path,
        """
        import os, signal

        def build(stage):
            stage.root.set_timeout(2, os.kill, os.getpid(), signal.SIGTERM)
        """,
    )
    command = [sys.executable, "-m", "inspector", "run", "scene.py", "--seconds", "9"]
    done = subprocess.run(
        [*command, "--record", "a.tlrec"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == ExitCode.TERMINATED
    assert done.stderr == "timeline-inspector: Terminated.\n"
    assert not (tmp_path / "a.tlrec-wal").exists()
    past = open_recording(tmp_path / "a.tlrec")
    assert past.notes == ()
    assert past.last_ns >= 2_000_000_000
    past.close()
