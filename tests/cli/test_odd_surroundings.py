"""Commands where names are odd, and where the output is closed."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from inspector.events.recording import open_recording
from inspector.exit_codes import ExitCode
from tests.cli.answers import Run
from tests.forked.python import COMMAND_LINE, PYTEST, python_with

ROOT = Path(__file__).resolve().parents[2]

SCENE = """
def build(stage):
    stage.root.set_interval(0.1, print, "tick", name="tick")
"""

#: With a name that no file can have.
LINES = (
    "run {} --frames 2",
    "run game.py --frames 2 --record {}",
    "run game.py --frames 2 --export {}.svg",
    "run game.py --frames 2 --frame-times {}",
    "run game.py --frames 2 --frame-times {}:ms",
    "export {} -o x.svg",
    "export frames.csv -o {}.svg",
    "export run.tlrec --as pytest -o {}.py",
    "replay {}",
    "replay run.tlrec --scene {}",
    "annotate {}",
    "lab --timers {}",
    "lab --scene {}",
    "explain {} boss",
    "lint {}",
    "scenes --copy 1 {}",
)


@pytest.mark.parametrize("name", ["a" * 300, "b/" * 3_000 + "c", "~nouser/x"])
def test_that_a_name_that_no_file_can_have_is_a_sentence(
    run: Run, tmp_path: Path, name: str
) -> None:
    (tmp_path / "game.py").write_text(SCENE)
    run("run game.py --frames 2 --record run.tlrec --export frames.csv")

    for line in LINES:
        code, _, err = run(line.format(name))

        assert code != ExitCode.OK, line
        assert err.startswith("timeline-inspector: "), line
        assert err.count("\n") == 1, line


def command(folder: Path, line: str) -> subprocess.CompletedProcess[bytes]:
    """Run a shell line with the command as ``$TI``."""
    return subprocess.run(
        ["/bin/sh", "-c", line],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "TI": f"{shlex.join(python_with(COMMAND_LINE))} -m inspector",
        },
        cwd=folder,
        capture_output=True,
        timeout=120,
        check=False,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize(
    "line",
    [
        "$TI run game.py --seconds 1 --quiet --record run.tlrec >&-",
        "$TI run game.py --seconds 1 --quiet --record run.tlrec >&- 2>&- <&-",
        "($TI run game.py --seconds 1 --record run.tlrec; echo $? >code) | true",
        "($TI --help; echo $? >code) | true",
        "($TI scenes --json; echo $? >code) | true",
    ],
)
def test_that_a_command_without_output_does_its_work(tmp_path: Path, line: str) -> None:
    (tmp_path / "game.py").write_text(SCENE.replace("print", "str"))

    done = command(tmp_path, line)

    assert done.stderr == b""
    assert done.returncode == 0
    if (tmp_path / "code").exists():
        assert (tmp_path / "code").read_text() == "0\n"
    if "--record" in line:
        recording = open_recording(tmp_path / "run.tlrec")
        assert recording.notes == ()
        recording.close()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize(
    "line",
    [
        "$TI run game.py --seconds 1 --record run.tlrec >&-",
        "$TI run game.py --seconds 1 --json --record run.tlrec >&- 2>&- <&-",
        "$TI --help >&-",
        "$TI --version >&-",
        "$TI scenes --json >&-",
    ],
)
def test_that_a_command_that_cannot_write_its_output_does_its_work_and_fails(
    tmp_path: Path, line: str
) -> None:
    (tmp_path / "game.py").write_text(SCENE.replace("print", "str"))

    done = command(tmp_path, line)

    assert done.returncode == ExitCode.FAILED
    if "2>&-" not in line:
        assert b"The output could not be written: Bad file descriptor." in done.stderr
    if "--record" in line:
        with closing(open_recording(tmp_path / "run.tlrec")) as recording:
            assert recording.notes == ()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_that_work_goes_on_and_is_judged_when_the_reader_has_gone(tmp_path: Path) -> None:
    (tmp_path / "frames.csv").write_text("frametime\n" + "50\n" * 40)

    line = "$TI stats frames.csv --assert 'p99 < 20ms' -o out.csv"
    command(tmp_path, f"({line} 2>&1; echo $? >code) | true")

    assert (tmp_path / "code").read_text() == f"{int(ExitCode.FAILED)}\n"
    assert (tmp_path / "out.csv").exists()


def test_that_what_is_said_on_errors_does_not_wait_for_the_end(tmp_path: Path) -> None:
    (tmp_path / "game.py").write_text("import sys\ndef build(stage):\n    sys.stdin.read()\n")
    (tmp_path / "frames.csv").write_text("frametime\nno number\n16\n")
    line = ["-m", "inspector", "run", "game.py", "--frame-times", "frames.csv"]
    with subprocess.Popen(
        [*python_with(COMMAND_LINE), *line],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        assert process.stderr is not None
        assert b"damaged" in process.stderr.readline()
        process.communicate()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no such name")
def test_that_a_scene_whose_name_is_no_utf_8_is_run_recorded_and_replayed(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.py")).write_text(SCENE)

    scene = os.fsdecode(b"caf\xe9.py")
    done = command(
        tmp_path,
        f"$TI run {scene} --seconds 1 --record run.tlrec --export a.svg --export a.csv --json >out"
        " && $TI lint run.tlrec && $TI replay run.tlrec --verify"
        f" && $TI replay run.tlrec --verify --scene {scene}"
        " && $TI export run.tlrec --as pytest -o test_run.py"
        f" && PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {shlex.join(python_with(PYTEST))}"
        " -m pytest -q test_run.py",
    )

    assert b"Traceback" not in done.stderr
    assert done.returncode == 0, (done.stdout, done.stderr)
    recording = open_recording(tmp_path / "run.tlrec")
    assert recording.notes == ()
    recording.close()
