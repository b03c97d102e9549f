"""A command line, run in this process."""

import shlex
from pathlib import Path

import pytest

from inspector.cli import main as cli
from tests.cli.answers import Run


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line in an empty folder; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run_line(line: str) -> tuple[int, str, str]:
        code = cli.main(shlex.split(line))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run_line
