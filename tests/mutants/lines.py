"""Which tests execute which line, and are to notice a fault in it."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Final

import pytest
from coverage import CoverageData

from tests.mutants.faults import PROJECT, Mutant

#: What follows the name of a test in a context, here and in programs that it starts.
_PHASE: Final = re.compile(r"(\|| \()(setup|run|call|teardown)\)?$")
#: Runs in other Pythons and from copies of itself too, where nothing tells its lines.
_RUNS_ELSEWHERE: Final = ("inspector/probe/", "inspector/sessions/attached/doors/hosts/")
_SETTINGS_VARIABLE: Final = "TIMELINE_INSPECTOR_COVERAGE"
_DURATIONS_VARIABLE: Final = "TIMELINE_INSPECTOR_DURATIONS"
# Read while this is imported as a plugin: a test may have replaced the environment.
_SETTINGS: Final = os.environ.get(_SETTINGS_VARIABLE, "")
_DURATIONS: Final = os.environ.get(_DURATIONS_VARIABLE, "")
_IS_WORKER: Final = "PYTEST_XDIST_WORKER" in os.environ
#: Of programs that tests start; pytest sets the variable.
_COVERAGE: Final = """
[run]
source = {source}
branch = true
data_file = {folder}/programs
parallel = true
sigterm = true
context = ${{PYTEST_CURRENT_TEST-}}
disable_warnings = no-data-collected, module-not-imported, module-not-measured
"""
#: Files that neither import a module nor are named after it have so much less of the time.
_FAR: Final = 3
#: Where it is not known.
_TEST_S: Final = 0.3


@cache
def tests_for(path: Path, tests: Path) -> tuple[list[str], list[str]]:
    """Return the test files that import a module, the nearest first, and those beside it."""
    module = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    package, _, name = module.rpartition(".")
    beside = tests.joinpath(*path.parts[1:-1])
    while not beside.is_dir():
        beside = beside.parent
    near, importing, rest = [], [], []
    for file in sorted(tests.rglob("test_*.py")):
        source = file.read_text(encoding="utf-8")
        imports = f"from {module} import" in source or f"from {package} import {name}" in source
        # A test of a module may stand with those of the package above.
        if name in file.stem and (beside in file.parents or file.parent in beside.parents):
            near.append(file)
        elif imports:
            importing.append(file)
        elif beside in file.parents:
            rest.append(file)
    near += sorted(importing, key=lambda file: beside not in file.parents)
    near_names, rest_names = (
        [str(file.relative_to(tests.parent)) for file in files] for files in (near, rest)
    )
    return near_names, rest_names


def measure_lines(file: Path) -> None:
    """Run all tests, and keep which of them executes which line, also in programs they start."""
    with tempfile.TemporaryDirectory(prefix="lines-") as folder:
        settings = Path(folder) / "coverage.ini"
        settings.write_text(_COVERAGE.format(source=PROJECT / "inspector", folder=folder))
        durations = Path(folder) / "durations.txt"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal"]
        command += [
            "-p",
            "tests.mutants.lines",
            "--cov=inspector",
            "--cov-context=test",
            "--cov-report=",
        ]
        environment = {
            **os.environ,
            "COVERAGE_FILE": str(Path(folder) / "tests"),
            _SETTINGS_VARIABLE: str(settings),
            _DURATIONS_VARIABLE: str(durations),
        }
        # Copies of the project are made with its bytecode.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        # Tests that count bytecodes fail under a tracer; the lines are kept all the same.
        subprocess.run(command, cwd=PROJECT, env=environment, check=False)
        combine = [sys.executable, "-m", "coverage", "combine", "-q", f"--data-file={file}"]
        parts = [str(part) for part in Path(folder).iterdir() if part not in {settings, durations}]
        subprocess.run([*combine, *parts], cwd=PROJECT, check=True)
        taken = [line.split(" ", 1) for line in durations.read_text(encoding="utf-8").splitlines()]
        with closing(sqlite3.connect(file)) as database, database:
            database.execute("CREATE TABLE duration (seconds REAL, test TEXT)")
            database.executemany("INSERT INTO duration VALUES (?, ?)", taken)


def pytest_runtest_setup() -> None:
    """Have programs that a test starts say which lines they execute, and for which test."""
    os.environ["COVERAGE_PROCESS_START"] = _SETTINGS
    os.environ.pop("COVERAGE_FILE", None)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep how long a test takes; reports of all workers come to their controller."""
    if not _IS_WORKER:
        with Path(_DURATIONS).open("a", encoding="utf-8") as file:
            file.write(f"{report.duration} {report.nodeid}\n")


class Lines:
    """Which tests execute which lines, and how long they take."""

    def __init__(self, file: Path, most_s: float) -> None:
        self.most_s = most_s
        self._data = CoverageData(str(file))
        self._data.read()
        with closing(sqlite3.connect(file)) as database:
            asked = "SELECT test, sum(seconds) FROM duration GROUP BY test"
            self._duration_s: dict[str, float] = dict(database.execute(asked))

    def seconds(self, test: str) -> float:
        """Return how long a test takes when all run."""
        return self._duration_s.get(test, _TEST_S)

    def tests_of(self, mutant: Mutant, collected: Iterable[str]) -> tuple[list[str], bool]:
        """Return the tests that execute a line, the nearest and quickest first.

        Also whether an import does.
        """
        nearest, beside = tests_for(mutant.path, PROJECT / "tests")
        near = {*nearest, *beside}
        contexts: set[str] = set()
        for path in self._data.measured_files():
            if path.endswith(f"/{mutant.path.as_posix()}"):
                of_line = self._data.contexts_by_lineno(path)
                # An import is executed for whichever test is the first.
                lines = mutant.lines if mutant.in_function else of_line
                contexts.update(*(of_line.get(line, ()) for line in lines))
        executing = {_PHASE.sub("", context) for context in contexts} - {""}
        is_guessed = not executing or mutant.path.as_posix().startswith(_RUNS_ELSEWHERE)
        ranks: dict[str, tuple[bool, bool, float]] = {}
        file_s: defaultdict[str, float] = defaultdict(float)
        for test in sorted(collected, key=lambda test: (self.seconds(test), test)):
            file = test.partition("::")[0]
            # Tests of constants execute no line of their module.
            executes = test in executing or (not mutant.in_function and file in nearest)
            is_new = test not in self._duration_s
            if executes or (file in near and (is_guessed or is_new)):
                is_about = executes or mutant.path.stem in test or file in nearest
                # All files have a share of the time: there may be thousands of the nearest.
                file_s[file] += self.seconds(test) * (1 if file in nearest else _FAR)
                # Only a run of all tests would tell whether a new one executes it.
                ranks[test] = not (executes or is_new), not is_about, file_s[file]
        tests = sorted(ranks, key=ranks.__getitem__)
        taken_s = accumulate(map(self.seconds, tests), initial=0)
        chosen = [
            test for test, before_s in zip(tests, taken_s, strict=False) if before_s < self.most_s
        ]
        return chosen, not mutant.in_function or "" in contexts
