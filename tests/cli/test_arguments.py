"""The command line as a whole: help, versions, arguments, and where its answers go."""

import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from inspector import __version__
from inspector.cli import main as cli
from inspector.cli.main import files_beside, window_scene
from inspector.errors import SceneError
from inspector.exit_codes import ExitCode
from inspector.sessions.scene import find_scene
from tests.cli.answers import Run
from tests.forked.python import COMMAND_LINE, python_with


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
        ("run 4", "Give a length: --frames N or --seconds S"),
        ("run 4 --frames 3 --seconds 3", "Argument --seconds: not allowed with argument --frames"),
        ("run 4 --frames 0", "Argument --frames: not a whole number above 0: “0”"),
        ("run 4 --frames many", "Argument --frames: not a whole number above 0: “many”"),
        ("run 4 --seconds -1", "Argument --seconds: a duration must be above 0: “-1”"),
        ("run 4 --seconds nan", "Argument --seconds: not a duration: “nan”"),
        ("run 4 --frames 1 --dt 0", "Argument --dt: a step must be at least a nanosecond: “0”"),
        ("run 4 --frames 1 --dt 1e40", "Argument --dt: a step must be shorter than 146 years"),
        ("run 4 --frames 3 --dt 4e9", "Argument --dt: 3 frames at this distance take longer"),
        ("run 4 --frames 1 --rate=-2", "Argument --rate: a rate cannot be negative"),
        ("run 4 --frames 1 --failure-policy x", "Argument --failure-policy: no such policy: “x”"),
        ("run 4 --frames 1 --budget 0", "Argument --budget: not a budget: “0”"),
        ("run 4 --seconds 1:99:00", "Argument --seconds: not a duration: “1:99:00” (minutes and"),
        ("run 4 --frames 1 --size big", "Argument --size: not a size: “big”"),
        ("run 4 --frames 1 --real-time --dt 1", "Argument --dt: not allowed with argument --real"),
        (
            "run 4 --frames 1 --real-time --source virtual",
            "Argument --source: not allowed with argument --real-time",
        ),
        (
            "lint 4 --source virtual --real-time",
            "Argument --real-time: not allowed with argument --source",
        ),
        ("attach 0", "Argument PID: not a whole number above 0: “0”"),
        (f"attach {'1' * 30}", "Argument PID: not a whole number above 0"),
        ("run 4 --frames 1 --export -", "Argument --export: name a file; only "),
        ("run 4 --frames 1 --record -", "Argument --record: name a file; only "),
        ("stats x.csv -o -", "Argument -o/--output: name a file; only "),
        ("compare x.csv y.csv --junit -", "Argument --junit: name a file; only "),
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


@pytest.mark.parametrize(
    "line", ["export no.csv", "run no.py", "explain no.py", "explain no.tlrec"]
)
def test_that_a_missing_file_is_said_before_a_missing_argument(run: Run, line: str) -> None:
    code, out, err = run(line)

    assert (code, out) == (ExitCode.SCENE if line.endswith(".py") else ExitCode.UNREADABLE, "")
    assert err.startswith("timeline-inspector: There is no file ")
    assert err.count("\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_that_a_full_disk_is_said_in_a_sentence() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [*python_with(COMMAND_LINE), "-m", "inspector", "scenes"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert done.returncode == ExitCode.FAILED
    assert done.stderr.startswith("timeline-inspector: The output could not be written: ")
    assert done.stderr.count("\n") == 1


def test_that_a_window_is_wanted_for_a_scene_and_for_nothing() -> None:
    assert window_scene([]) == find_scene("1")
    assert window_scene(["3"]) == find_scene("3")
    assert window_scene(["run", "3", "--frames", "1"]) is None
    assert window_scene(["scenes"]) is None
    assert window_scene(["--version"]) is None
    with pytest.raises(SceneError, match="There is no file"):
        window_scene(["nowhere.py"])


def test_that_further_files_are_opened_beside(tmp_path: Path) -> None:
    for name in ("a.csv", "b.json"):
        (tmp_path / name).write_text("ms\n16\n")
    first, second = str(tmp_path / "a.csv"), str(tmp_path / "b.json")
    assert window_scene([first, second]) == Path(first)
    assert files_beside([first, second]) == [Path(second)]
    assert files_beside([]) == []
    with pytest.raises(SystemExit):
        window_scene([first, str(tmp_path / "missing.csv")])


def test_that_an_unknown_option_opens_no_window(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        window_scene(["--wallpaper", "red"])

    assert exit_.value.code == ExitCode.USAGE
    assert capsys.readouterr().err.startswith("timeline-inspector: Unrecognized arguments")


def test_that_a_reader_who_leaves_early_is_no_error(tmp_path: Path) -> None:
    with subprocess.Popen(
        [
            *python_with(COMMAND_LINE),
            *["-m", "inspector", "run", "2", "--frames", "1", "--timers", "5000"],
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2])},
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
        ("--range -3:4", "Argument --range: “-3:4” is not a range. Write frames"),
        ("--size -5x5", "Argument --size: the width must be between 400 and 14400, not -5"),
        ("--size 1x1", "Argument --size: the width must be between 400 and 14400, not 1."),
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


def test_that_a_terminal_without_our_signs_is_written_to_all_the_same() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "inspector", "run", "4", "--frames", "10"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"?" in done.stdout


def test_that_a_scene_that_is_not_there_is_said_also_before_files(tmp_path: Path) -> None:
    capture = tmp_path / "a.csv"
    capture.touch()

    with pytest.raises(SceneError):
        window_scene(["open", str(capture)])


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "run 1 --secods 5",
            (
                "Unrecognized arguments: --secods 5. Did you mean --seconds? "
                "See “timeline-inspector run --help”."
            ),
        ),
        (
            "attach --gnart full python3 x",
            (
                "Unrecognized arguments: --gnart. Did you mean --grant? "
                "See “timeline-inspector attach --help”."
            ),
        ),
        (
            "run 1 --frames 1 extra",
            "Unrecognized arguments: extra. See “timeline-inspector run --help”.",
        ),
    ],
)
def test_that_a_mistyped_option_is_answered_with_the_nearest_and_the_page_of_its_command(
    run: Run, line: str, sentence: str
) -> None:
    assert run(line) == (ExitCode.USAGE, "", f"timeline-inspector: {sentence}\n")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("rnu 1", "There is no command or scene rnu. Did you mean “timeline-inspector run”?"),
        ("exprot", "There is no command or scene exprot. Did you mean “timeline-inspector export”"),
        ("1 --secods 3", "--secods is not an option of the window. Did you mean “timeline-insp"),
        ("--record x.tlrec", "--record is not an option of the window. It is one of commands: “t"),
    ],
)
def test_that_a_mistyped_command_is_answered_with_the_nearest(
    capsys: pytest.CaptureFixture[str], line: str, sentence: str
) -> None:
    with pytest.raises(SystemExit) as exit_:
        window_scene(line.split())

    assert exit_.value.code == ExitCode.USAGE
    assert capsys.readouterr().err.startswith(f"timeline-inspector: {sentence}")


def test_that_a_word_that_may_have_been_meant_as_a_command_is_told_where_commands_are() -> None:
    with pytest.raises(SceneError, match="“timeline-inspector --help” lists the commands"):
        window_scene(["help"])


def test_that_a_missing_scene_is_said_before_arguments_that_follow_it() -> None:
    with pytest.raises(SceneError, match=r"no built-in scene “my_sceen\.py”"):
        window_scene(["my_sceen.py", "beside.csv"])


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("run nosuch.py --seconds 1 --export /nowhere/x.svg", "There is no file and no built-in"),
        ("run nosuch.py", "There is no file and no built-in scene “nosuch.py"),
        ("run nosuch.py --frame-times no.csv", "There is no file and no built-in scene “nosuch.py"),
        ("export nosuch.csv -o x.what", "There is no file nosuch.csv."),
        ("export nosuch.tlrec --picture x.what", "There is no file nosuch.tlrec."),
    ],
)
def test_that_a_missing_file_is_said_before_anything_else(
    run: Run, line: str, sentence: str
) -> None:
    _code, out, err = run(line)

    assert out == ""
    assert err.startswith(f"timeline-inspector: {sentence}")


def test_that_a_program_that_is_not_there_is_said_before_a_window_opens(run: Run) -> None:
    code, _, err = run("attach nosuchprogram")

    assert code == ExitCode.NOT_FOUND
    assert err.startswith("timeline-inspector: There is no program “nosuchprogram”")


def test_that_the_version_has_a_short_option_too(run: Run) -> None:
    assert run("-V") == run("--version")
