"""Runs tests in a pytest of their own, with and without virtual time."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Final

import pytest

from tests.forked.python import PYTEST, run_python

PROJECT: Final = Path(__file__).parents[2]


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
    words = ["-v", "-s", "-p", "no:cacheprovider"]
    words += [word for name in loaded for word in ("-p", name)]
    folder = paths[0].parent
    words += ["-c", os.devnull, "--rootdir", str(folder), "--timeout=60"]
    # Else it is looked for tests from the root: through the folders of all tests that have run.
    words += ["--confcutdir", str(folder)]
    # Not among those of whole runs, of which pytest keeps three.
    words += ["--basetemp", str(folder / "temporary"), *args]
    if "asyncio" in plugins:
        words += ["-o", "asyncio_default_fixture_loop_scope=function"]
    environment = os.environ | {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "QT_QPA_PLATFORM": "offscreen",
    }
    environment |= {"KIVY_NO_ARGS": "1", "KIVY_NO_FILELOG": "1", "KIVY_NO_CONSOLELOG": "1"}
    environment |= {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
    environment.pop("PYTEST_ADDOPTS", None)
    run = run_python(PYTEST, ["-m", "pytest", *words, *map(str, paths)], environment, PROJECT)
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
