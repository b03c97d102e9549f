"""Runs tests in a pytest of their own, with and without virtual time."""

from __future__ import annotations

import atexit
import json
import os
import re
import select
import signal
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from textwrap import dedent
from typing import Final

import pytest

PROJECT: Final = Path(__file__).parents[2]
#: Nothing takes so long unless it hangs; the machine may be busy.
_PATIENCE_S: Final = 100

#: Becomes a new process with each line it reads. Pytest and its own plugins have been imported, as
#: has what virtual time and most tests import, and no run looks for garbage in them: that is over
#: four fifths of what most runs take.
_FORKING: Final = """
import gc, importlib, json, os, sys, threading
import asyncio, concurrent.futures.thread, ctypes, msgspec, pdb, pytest, queue
import inspector.probe.adapters.asyncio, inspector.probe.adapters.python_time
import inspector.probe.adapters.qt, inspector.probe.sampler, inspector.probe.waits
from _pytest.config import default_plugins

for each in default_plugins:
    importlib.import_module(f"_pytest.{each}")
gc.freeze()
begun = ""
while True:
    while not begun.endswith("\\n"):
        if not (read := os.read(0, 1 << 16).decode()):
            sys.exit()
        begun += read
    words, environment, output = json.loads(begun)
    begun = ""
    if (pid := os.fork()) == 0:
        break
    os.waitpid(pid, 0)
    os.write(1, b"ended\\n")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT), 1)
os.dup2(1, 2)
# Before Python 3.13, nobody else does.
threading.current_thread()._set_native_id()
os.environ.clear()
os.environ.update(environment)
sys.argv = ["pytest", *words]
sys.exit(pytest.main())
"""


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
    output = _output_of([*words, *map(str, paths)], environment)
    summary = output.strip().splitlines()[-1] if output.strip() else ""
    counts = {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", summary)}
    outcomes = re.findall(r"::(\w+)[^\n]*?(PASSED|FAILED|ERROR|SKIPPED)", output, re.DOTALL)
    return Outcome(output, counts, outcomes)


def run_source(tmp_path: Path, source: str, *args: str, plugins: tuple[str, ...] = ()) -> Outcome:
    """Run the tests in a text."""
    path = tmp_path / "test_it.py"
    path.write_text(dedent(source))
    return run_tests(path, args=args, plugins=plugins)


@cache
def _forking() -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", _FORKING],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    )
    atexit.register(process.communicate)
    return process


def _output_of(words: list[str], environment: dict[str, str]) -> str:
    """Return what a run of pytest with these arguments prints."""
    # What a test executes is told by the process that it starts.
    if sys.platform == "win32" or "COVERAGE_PROCESS_START" in os.environ:
        command = [sys.executable, "-m", "pytest", *words]
        run = subprocess.run(
            command,
            cwd=PROJECT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
        return run.stdout + run.stderr
    process = _forking()
    assert process.stdin is not None
    assert process.stdout is not None
    with NamedTemporaryFile(suffix=".txt") as file:
        process.stdin.write(json.dumps([words, environment, file.name]).encode() + b"\n")
        if not select.select([process.stdout], [], [], _PATIENCE_S)[0]:
            os.killpg(process.pid, signal.SIGKILL)
            _forking.cache_clear()
        process.stdout.readline()
        return Path(file.name).read_text(encoding="utf-8")
