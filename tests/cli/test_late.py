"""The command ``late``."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from inspector.analysis.lateness.attribution import Cause, Culprit, Lateness, LatenessShare
from inspector.analysis.lateness.late_calls import LateCall
from inspector.analysis.lateness.samples import Place
from inspector.cli.late_report import late_text
from inspector.exit_codes import ExitCode
from tests.cli.answers import Run

#: A task computes while a timer of another is due, long enough after it on a busy machine too.
_SERVER = """
import asyncio, time
def crunch(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
async def rebuild():
    await asyncio.sleep(0.2)
    crunch(0.4)
async def tick():
    await asyncio.sleep(0.3)
async def main():
    await asyncio.gather(rebuild(), tick())
asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="times of threads are Linux's")
def test_that_the_function_that_made_a_call_late_is_listed(run: Run, tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(_SERVER)
    command = f"late --json --fail-over 100ms -- {shlex.quote(sys.executable)} {server}"
    code, out, err = run(command)
    assert code == ExitCode.FAILED, err
    values = json.loads(out)
    first = values["late"][0]
    assert first["timer"] == "sleep in tick"
    assert first["set_at"] == {"file": str(server), "line": 11, "function": "tick"}
    assert first["late_ns"] >= 200_000_000
    everything = [first, *first["others"]]
    culprits = [each["culprit"] for each in everything if each["cause"] == "task-step"]
    assert {(each["function"], each["task"]) for each in culprits} == {("crunch", "rebuild")}
    # Of what no look stands for, as on a busy machine, nothing is said.
    shares = sum(each["share"] for each in everything)
    assert 0.5 <= shares <= 1.01


def test_that_a_recording_without_late_calls_says_so(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "game.tlrec"
    assert run(f"run 1 --seconds 2 --record {path} --quiet")[0] == ExitCode.OK
    code, out, _ = run(f"late {path} --fail-over 1ms")
    assert (code, out) == (ExitCode.OK, "No call was later than 20.0 ms.\n")
    code, out, _ = run(f"late {path} --json")
    assert json.loads(out) == {"late": [], "causes": {}}


def test_that_what_calls_no_timer_is_not_said_to_be_on_time(run: Run, tmp_path: Path) -> None:
    (tmp_path / "idle.py").write_text("def build(stage):\n    pass\n")
    assert run(f"run {tmp_path}/idle.py --seconds 1 --record idle.tlrec --quiet")[0] == ExitCode.OK
    code, out, err = run("late idle.tlrec --fail-over 1ms")

    assert code == ExitCode.CANNOT_TELL
    assert out.startswith("No timer was called.")
    assert err.endswith("later than 1.00 ms cannot be told: no timer was called.\n")


@pytest.mark.parametrize(
    "line", ["late", "late --", "late a.tlrec b.tlrec", "late --stream x -- a"]
)
def test_that_what_to_look_at_has_to_be_named(run: Run, line: str) -> None:
    assert run(line)[0] == ExitCode.USAGE


@pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")
def test_that_a_program_on_another_host_is_watched_as_one_of_this(run: Run, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("import time\ntime.sleep(0.3)\n")

    code, out, err = run(f"late --exec env --over 60s --json -- {sys.executable} {script}")

    assert code == ExitCode.OK
    assert json.loads(out) == {"late": [], "causes": {}}
    assert "program.py on env" in err


def test_that_a_host_is_for_a_program_and_not_for_a_file(run: Run) -> None:
    code, _, err = run("late --ssh web-1 run.tlrec")

    assert code == ExitCode.USAGE
    assert "rite the program that runs on the other host after --" in err


def test_that_a_function_that_made_several_calls_late_is_summed_up_and_its_stack_said_once() -> (
    None
):
    place = Place("/srv/server.py", 4, "crunch")
    stack = ("/srv/server.py:40 in main", "/srv/server.py:4 in crunch")
    share = LatenessShare(Cause.TASK_STEP, Culprit(place), 200_000_000, 9, stack)
    call = LateCall(7, "tick", 3, "loop", "", 1, Lateness(0, 200_000_000, (share,), (), 9, 0))

    text = late_text([call, call], 20_000_000)

    assert text.count("main() (server.py:40) → crunch() (server.py:4)") == 1
    assert text.endswith("\ncrunch() (server.py:4) made 2 of them late, 400 ms altogether.\n")
    assert text.startswith("2 calls later than 20.0 ms, worst first:\n")
