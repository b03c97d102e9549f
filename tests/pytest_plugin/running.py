"""Runs tests in a pytest of their own, with and without virtual time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Final

import pytest

PROJECT: Final = Path(__file__).parents[2]
#: Nothing takes so long unless it hangs; the machine may be busy.
_PATIENCE_S: Final = 100


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run of pytest has printed.

    Attributes:
        output: All of it.
        counts: How many tests passed, failed and so on.
        outcomes: What became of each test, in the order of the run.
    """

    output: str
    counts: dict[str, int]
    outcomes: list[tuple[str, str]]


def run_tests(
    *paths: Path, args: tuple[str, ...] = (), plugins: tuple[str, ...] = ("asyncio",)
) -> Outcome:
    """Run the tests in files; ``args`` are those of pytest."""
    names = {"asyncio": "pytest_asyncio.plugin", "trio": "pytest_trio.plugin"}
    names |= {"anyio": "anyio.pytest_plugin"}
    names |= {"twisted": "pytest_twisted", "qt": "pytestqt.plugin", "xdist": "xdist.plugin"}
    for each in plugins:
        pytest.importorskip(names[each].partition(".")[0])
    loaded = ["inspector.pytest_plugin", "pytest_timeout", *(names[each] for each in plugins)]
    command = [sys.executable, "-m", "pytest", "-v", "-s", "-p", "no:cacheprovider"]
    command += [word for name in loaded for word in ("-p", name)]
    command += ["-c", os.devnull, "--rootdir", str(paths[0].parent), "--timeout=60", *args]
    if "asyncio" in plugins:
        command += ["-o", "asyncio_default_fixture_loop_scope=function"]
    environment = os.environ | {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "QT_QPA_PLATFORM": "offscreen",
    }
    environment |= {"KIVY_NO_ARGS": "1", "KIVY_NO_FILELOG": "1", "KIVY_NO_CONSOLELOG": "1"}
    environment |= {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
    environment.pop("PYTEST_ADDOPTS", None)
    run = subprocess.run(
        [*command, *map(str, paths)],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=False,
    )
    output = run.stdout + run.stderr
    summary = output.strip().splitlines()[-1] if output.strip() else ""
    counts = {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", summary)}
    outcomes = re.findall(r"::(\w+)[^\n]*?(PASSED|FAILED|ERROR|SKIPPED)", output, re.DOTALL)
    return Outcome(output, counts, outcomes)


def run_source(tmp_path: Path, source: str, *args: str, plugins: tuple[str, ...] = ()) -> Outcome:
    """Run the tests in a text."""
    path = tmp_path / "test_it.py"
    path.write_text(dedent(source))
    return run_tests(path, args=args, plugins=plugins)
