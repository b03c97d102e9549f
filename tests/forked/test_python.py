"""Copies of a process that has imported before, beside Python that is started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forked.python import COMMAND_LINE, is_forked, python_with

pytestmark = pytest.mark.skipif(not is_forked(), reason="each program is started")

#: Says all that it is given, and ends as it is told.
PROGRAM = """
import os, sys
given = sys.stdin and sys.stdin.read(), sys.argv, os.environ["GIVEN"], os.getcwd(), __name__
for stream in (sys.stdout, sys.stderr):
    if stream:
        print(*given, sys.path[:1], file=stream)
class Last:
    def __del__(self):
        os.write(2, b"taken apart")
last = Last()
if "killed" in sys.argv:
    os.kill(os.getpid(), 9)
sys.exit(5 if "fails" in sys.argv else None)
"""


@pytest.mark.parametrize(
    "line",
    [
        '$PYTHON -c "$PROGRAM" has no output >&-',
        '$PYTHON -c "$PROGRAM" has no input and no errors <&- 2>&-',
        '$PYTHON -c "$PROGRAM" fails',
        '$PYTHON -c "$PROGRAM" is killed; echo $?',
        "$PYTHON -m inspector scenes --json",
    ],
)
def test_that_a_copy_is_given_and_says_what_python_is_and_does(tmp_path: Path, line: str) -> None:
    def said(words: list[str]) -> tuple[int, bytes, bytes]:
        given = {"PYTHON": " ".join(words), "PROGRAM": PROGRAM, "GIVEN": "ünïcode"}
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            env={**os.environ, **given, "PYTHONPATH": str(Path(__file__).parents[2])},
            cwd=tmp_path,
            input=b"typed",
            capture_output=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    assert said(python_with(COMMAND_LINE)) == said([sys.executable])
