"""The example for CI in the help, run as a job runs it: step by step, with its files."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from xml.etree import ElementTree as ET

import pytest

from inspector.exit_codes import ExitCode
from inspector.resources import resource_path
from tests.forked.python import COMMAND_LINE, python_with

ROOT = Path(__file__).parents[2]
GAME = """
from time import sleep

def build(stage):
    stage.every_frame(lambda _delta: sleep({sleep_s}))
"""


def steps() -> dict[str, str]:
    """Return the scripts of the example by the names of their steps."""
    page = resource_path("help", "statistics.md").read_text(encoding="utf-8")
    (job,) = re.findall(r"^```yaml\n(name: Frame times\n.*?)^```", page, re.DOTALL | re.MULTILINE)
    step = r"^      - name: ([^\n]+)\n(?:        if: .*\n)?        run: (.*\n(?: {10}.*\n)*)"
    found = re.findall(step, job, re.MULTILINE)
    return {name: dedent(script.removeprefix("|\n")) for name, script in found}


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A folder as the checkouts leave it: the second version sleeps for most of two frames."""
    for version, sleep_s in (("before", 0.0), ("after", 0.03)):
        (tmp_path / version).mkdir()
        (tmp_path / version / "game.py").write_text(GAME.format(sleep_s=sleep_s))
    command = tmp_path / "bin" / "timeline-inspector"
    command.parent.mkdir()
    python = shlex.join(python_with(COMMAND_LINE))
    command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {python} -m inspector "$@"\n')
    command.chmod(0o755)
    return tmp_path


def run(job: Path, script: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PATH": f"{job / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(job / "step-summary"),
    }
    return subprocess.run(
        ["/bin/sh", "-e", "-c", script],
        cwd=job,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="the job runs in a shell")
def test_that_the_job_fails_for_a_slower_version_and_says_why(job: Path) -> None:
    scripts = steps()
    assert list(scripts) == ["Measure three runs of each", "Compare", "Show the summary"]
    measure, compare, show = scripts.values()
    assert measure.count("--seconds 20") == 6

    # As many as on a machine that is not busy, however long they take.
    measured = run(job, measure.replace("--seconds 20", "--frames 40"))
    compared = run(job, compare)
    shown = run(job, show)

    assert measured.returncode == ExitCode.OK, measured.stderr
    assert compared.returncode == ExitCode.FAILED, compared.stderr
    assert "“after” is slower than “before”" in compared.stdout
    assert "This is about the versions, by 3 and 3 runs" in compared.stdout
    suite = ET.parse(job / "compare.xml").getroot()  # noqa: S314 - our own
    assert {each.get("name") for each in suite.iter("testcase")} == {
        "not fps < -3%",
        "not p99 > +10%",
    }
    assert suite.get("failures") != "0"
    assert shown.returncode == ExitCode.OK, shown.stderr
    summary = (job / "step-summary").read_text()
    assert summary == (job / "summary.md").read_text()
    assert "fps &lt; -3%" in summary or "fps < -3%" in summary or "fps \\< -3%" in summary
    assert (job / "comparison.html").stat().st_size > 10_000
