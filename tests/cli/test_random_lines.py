"""Whatever is written on the command line ends in an answer or in a sentence."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from inspector.cli import attach, comparison
from inspector.cli import main as cli
from inspector.exit_codes import ExitCode
from tests.cli.random_lines import make_files, random_line
from tests.fuzz import rounds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.answers import Run

_LONGEST_ANSWER = 6_000
#: What no line may end with: those are for signals.
_CODES = {code for code in ExitCode if code < ExitCode.INTERRUPTED}


@pytest.fixture
def _folder() -> Iterator[None]:
    """Stand in a folder with a scene, a capture and a recording, at the end of a short path."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_files(Path(folder))
        yield
        os.chdir(before)


@pytest.fixture
def _closed_doors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``attach`` take its arguments, but start, enter and wait for nothing."""
    for module in (attach, comparison):
        monkeypatch.setattr(module, "open_window", lambda _target: ExitCode.OK)
    monkeypatch.setattr(attach._Watch, "run", lambda _watch: ExitCode.OK)
    monkeypatch.setattr("inspector.cli.attach.signal.signal", lambda *_: None)


@pytest.mark.usefixtures("_folder", "_closed_doors")
def test_that_no_command_line_is_more_than_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for seed in rounds(25):
        line = random_line(Random(seed))

        code = cli.main(line)

        err = capsys.readouterr().err
        told = f"seed {seed}: {[each[:60] for each in line]}: {err[:500]}"
        assert code in _CODES, told
        assert "Traceback" not in err, told
        assert len(err) < _LONGEST_ANSWER, told


def test_that_there_is_nothing_to_write_beside_a_root(run: Run) -> None:
    code, _, err = run("export / --as json")

    assert code == ExitCode.USAGE
    assert "--as writes beside FILE, and / is not a file" in err
