"""Scenes that never return, run without a window: said, and ended by signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from inspector.events.recording import open_recording
from tests.forked.python import COMMAND_LINE, python_with
from tests.signalled import told_and_ended

ROOT = Path(__file__).resolve().parents[2]

#: The command, impatient.
COMMAND = """
import sys
from inspector.cli import main as cli
from inspector.cli import progress
from inspector.sessions.runs import running_code
progress._ENDLESS_AFTER_S, running_code._LOOK_S = 0.1, 0.01
sys.exit(cli.main(sys.argv[1:]))
"""
SPINNING = """
def build(stage):
    stage.root.set_timeout(1, spin, name="hang")

def spin():
    while True:
        pass
"""


def begin(folder: Path, text: str, *options: str, forked: bool = True) -> subprocess.Popen[str]:
    """Run a scene in a separate process."""
    (folder / "scene.py").write_text(text, encoding="utf-8")
    return begin_command(folder, "run", "scene.py", "--seconds", "9", *options, forked=forked)


def begin_command(folder: Path, *words: str, forked: bool = True) -> subprocess.Popen[str]:
    """Begin a command in a separate process."""
    python = python_with(COMMAND_LINE) if forked else [sys.executable]
    return subprocess.Popen(
        [*python, "-c", COMMAND, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("number", "text", "said"),
    [
        (signal.SIGTERM, "while True:\n    pass\n", "scene.py has been running its own code for "),
        (signal.SIGINT, SPINNING, "“hang” in scene.py has been running for "),
    ],
    ids=["module", "callback"],
)
def test_that_code_that_does_not_return_is_told_and_ended_by_a_signal(
    tmp_path: Path, text: str, said: str, number: signal.Signals
) -> None:
    process = begin(tmp_path, text)

    told = told_and_ended(process, number)

    assert told.startswith(f"timeline-inspector: {said}")
    assert told.endswith("Ctrl+C ends it.\n")
    is_module = "its own code" in said
    assert ("“timeline-inspector attach python3 scene.py”" in told) is is_module


def test_that_the_recording_is_complete_up_to_a_callback_that_is_ended(tmp_path: Path) -> None:
    told_and_ended(begin(tmp_path, SPINNING, "--record", "run.tlrec"))

    recording = open_recording(tmp_path / "run.tlrec")

    assert recording.notes == ()
    assert recording.last_ns == 1_000_000_000
    recording.close()


def test_that_a_callback_that_waits_in_a_library_is_told_and_ended_with_all_recorded(
    tmp_path: Path,
) -> None:
    waiting = """
import time

def build(stage):
    stage.root.set_timeout(1, time.sleep, 1000, name="nap")
"""

    told = told_and_ended(begin(tmp_path, waiting, "--record", "run.tlrec"))

    assert told.startswith("timeline-inspector: “nap” has been running for ")
    assert told.endswith(
        " s, in sleep, set at line 5 of scene.py. Ctrl+C ends it, if need be the second time.\n"
    )
    recording = open_recording(tmp_path / "run.tlrec")
    assert recording.notes == ()
    assert recording.last_ns == 1_000_000_000
    recording.close()


def processor_ticks(pid: int) -> int:
    """Return what a process has computed, in hundredths of a second."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_that_commands_that_run_a_scene_on_the_way_tell_of_it_too(tmp_path: Path) -> None:
    told_and_ended(begin(tmp_path, SPINNING, "--record", "run.tlrec"))

    for line in ("explain scene.py hang", "lint scene.py", "replay run.tlrec"):
        told = told_and_ended(begin_command(tmp_path, *line.split()))

        assert told.startswith("timeline-inspector: “hang” in scene.py has been running for "), line


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it needs Python to run")
def test_that_a_second_signal_ends_a_library_that_computes(tmp_path: Path) -> None:
    computing = 'print("begun", flush=True)\nsum(range(10**12))\n'
    process = begin(tmp_path, computing, forked=False)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "begun\n"
        # Between the line and the library, Python would still see the signal.
        begun = processor_ticks(process.pid)
        while processor_ticks(process.pid) < begun + 3:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.1)

        process.send_signal(signal.SIGTERM)

        assert process.wait(timeout=60) == -signal.SIGTERM
    finally:
        process.kill()
        process.communicate()
