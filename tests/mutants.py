"""How much the tests notice: small faults are put into the code, one at a time.

``python -m tests.mutants --count 300 --seed 1`` draws places at random, changes each in a copy of
the project, and runs the tests that execute the changed line: a few of the nearest and quickest,
then a minute of the others. One run of all tests finds out which these are and how long they take,
also where a program that a test starts executes the line (``--lines FILE`` keeps that for the next
time, while the code stays the same). For what an import executes, those of the rest of its file
are run; where none is known, and for what runs in other Pythons, also those that import the module
or stand beside it. A fault that no test notices is printed; too many of them fail.

``--workers N`` shares the faults among N copies. Each is changed by a process that has imported
what tests need of others' packages, and forks for each run.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing, suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any, Final, NoReturn

import pytest
from coverage import CoverageData

PROJECT: Final = Path(__file__).resolve().parents[1]
#: What decides about time, numbers and what is said about them.
SUBJECTS: Final = (
    "inspector/analysis/explain",
    "inspector/analysis/statistics",
    "inspector/calls",
    "inspector/clocks",
    "inspector/commands",
    "inspector/events",
    "inspector/frames/scheduler",
    "inspector/probe",
    "inspector/sessions",
)
#: What follows the name of a test in a context, here and in programs that it starts.
_PHASE: Final = re.compile(r"(\|| \()(setup|run|call|teardown)\)?$")
#: Runs in other Pythons and from copies of itself too, where nothing tells its lines.
_RUNS_ELSEWHERE: Final = ("inspector/probe/", "inspector/sessions/attached/doors/hosts/")
_COPIED: Final = ("inspector", "ui", "tests", "resources", "pyproject.toml", "README.md", ".ci")
#: Tests that take longer than this in a mutant have noticed it, in seconds.
_TEST_LIMIT_S: Final = 60
#: However long a run takes in all, it proves nothing.
_RUN_LIMIT_S: Final = 600
_MEMORY_LIMIT_BYTES: Final = 6 << 30
_MANY: Final = 10
_SETTINGS_VARIABLE: Final = "TIMELINE_INSPECTOR_COVERAGE"
_DURATIONS_VARIABLE: Final = "TIMELINE_INSPECTOR_DURATIONS"
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
#: What the first tests take that a mutant is tried with, and all of them, in seconds when alone.
_FIRST_S: Final = 6
_MOST_S: Final = 60
#: So many are first at most: the files of more take long to import.
_FIRST_TESTS: Final = 50
#: So many of a file come before those of the next.
_SOME_TESTS: Final = 10
#: Where it is not known.
_TEST_S: Final = 0.3
#: What tests import, and is the same for all mutants.
_IMPORTED: Final = (
    "PySide6.QtNetwork",
    "PySide6.QtSvg",
    "PySide6.QtTest",
    "PySide6.QtWidgets",
    "asyncio",
    "hypothesis.strategies",
    "multiprocessing",
    "numpy",
    "unittest.mock",
    "urllib.request",
    "xml.etree.ElementTree",
)

_OPPOSITES: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One place that is changed.

    Attributes:
        path: The file, below the project.
        start: Where the replaced text begins, in the text of the file.
        end: Where it ends.
        before: The replaced text.
        after: What takes its place.
        lines: Numbers of the lines of its statement, without what is indented below.
        in_function: Whether it is executed by a call, rather than once by an import.
    """

    path: Path
    start: int
    end: int
    before: str
    after: str
    lines: range
    in_function: bool

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.path.as_posix()}:{self.lines[0]}: {before}  →  {after}"


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Go through every fault that can be put into a file."""
    text = (PROJECT / path).read_text(encoding="utf-8")
    # Columns of the syntax tree count bytes.
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.decode()))

    def place(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1][:column].decode())

    tree = ast.parse(text)
    called = [
        range(node.body[0].lineno, (node.end_lineno or 0) + 1)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    spans: dict[int, range] = {}
    for statement in ast.walk(tree):
        if isinstance(statement, ast.stmt):
            below = getattr(statement, "body", None)
            end_line = below[0].lineno if below else (statement.end_lineno or 0) + 1
            span = range(statement.lineno, max(end_line, statement.lineno + 1))
            spans |= dict.fromkeys(span, span)
    for node, changed in _changes(tree):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = place(node.lineno, node.col_offset)
        end = place(node.end_lineno, node.end_col_offset)
        in_function = any(node.lineno in lines for lines in called)
        yield Mutant(path, start, end, text[start:end], changed, spans[node.lineno], in_function)


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Go through nodes and the texts that may take their places."""
    if _is_without_effect(node):
        return
    if isinstance(node, ast.stmt):
        yield from ((node, changed) for changed in _statements(node))
        if isinstance(node, ast.If | ast.While) and not isinstance(node.test, ast.Constant):
            yield node.test, f"(not ({ast.unparse(node.test)}))"
    elif isinstance(node, ast.expr):
        yield from ((node, f"({ast.unparse(changed)})") for changed in _expressions(node))
    dead = _branch_for_other_systems(node)
    for name, value in ast.iter_fields(node):
        if name == dead or name in {
            "annotation",
            "returns",
            "decorator_list",
            "type_params",
            "bases",
        }:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _changes(child)


def _is_without_effect(node: ast.AST) -> bool:  # noqa: PLR0911 - a row of cases
    """Whether nothing can notice a change: texts, and what is for readers and type checkers."""
    match node:
        case ast.JoinedStr() | ast.Assert() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Expr(value=ast.Constant()) | ast.keyword(arg="strict"):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="logger" | "_logger")))):
            return True
        case ast.keyword(arg="copy", value=ast.Constant(value=False)):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__" | "TYPE_CHECKING")]):
            return True
        case ast.AnnAssign(value=None):
            return True
        case ast.ClassDef(bases=bases):
            return any(ast.unparse(base).startswith("Protocol") for base in bases)
        case ast.FunctionDef(decorator_list=decorators):
            return any(ast.unparse(each) in {"overload", "abstractmethod"} for each in decorators)
    return False


def _branch_for_other_systems(node: ast.AST) -> str | None:
    """Return which branch is executed on another system or Python only, if either."""
    if not isinstance(node, ast.If | ast.IfExp):
        return None
    asks = {each.id for each in ast.walk(node.test) if isinstance(each, ast.Name)} == {"sys"}
    about = {each.attr for each in ast.walk(node.test) if isinstance(each, ast.Attribute)}
    if not asks or not about <= {"platform", "startswith", "version_info"}:
        return None
    return "orelse" if eval(ast.unparse(node.test), {"sys": sys}) else "body"  # noqa: S307 - ours


def _statements(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Delete():
            yield "pass"
        case ast.Break() | ast.Continue():
            yield "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "pass"


def _expressions(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                changed = deepcopy(node)
                changed.ops[i] = _opposite(op)
                yield changed
        case ast.BoolOp(op=op):
            changed_op = deepcopy(node)
            changed_op.op = _opposite(op)
            yield changed_op
        case ast.BinOp(op=op, left=left) if type(op) in _OPPOSITES:
            if not isinstance(left, ast.JoinedStr) and not _is_text(left):
                changed_bin = deepcopy(node)
                changed_bin.op = _opposite(op)
                yield changed_bin
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.IfExp(test=test):
            changed_if = deepcopy(node)
            changed_if.test = ast.UnaryOp(ast.Not(), test)
            yield changed_if
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() as value):
            # One more of many makes no difference to anybody.
            yield ast.Constant(value + 1 if value < _MANY else 2 * value)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _opposite(op: ast.AST) -> Any:  # noqa: ANN401 - of the same kind
    return _OPPOSITES[type(op)]()


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
        command += ["-p", "tests.mutants", "--cov=inspector", "--cov-context=test", "--cov-report="]
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
    os.environ["COVERAGE_PROCESS_START"] = os.environ[_SETTINGS_VARIABLE]
    os.environ.pop("COVERAGE_FILE", None)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep how long a test takes; reports of all workers come to their controller."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        with Path(os.environ[_DURATIONS_VARIABLE]).open("a", encoding="utf-8") as file:
            file.write(f"{report.duration} {report.nodeid}\n")


class Lines:
    """Which tests execute which lines, and how long they take."""

    def __init__(self, file: Path) -> None:
        self._data = CoverageData(str(file))
        self._data.read()
        self._of_file: defaultdict[str, set[str]] = defaultdict(set)
        for context in self._data.measured_contexts():
            test = _PHASE.sub("", context)
            self._of_file[test.partition("::")[0]].add(test)
        self._duration_s: dict[str, float] = {}
        with closing(sqlite3.connect(file)) as database, suppress(sqlite3.OperationalError):
            asked = "SELECT test, sum(seconds) FROM duration GROUP BY test"
            self._duration_s = dict(database.execute(asked))

    def tests_of(self, mutant: Mutant) -> list[list[str]]:
        """Return the tests that execute a line: the nearest and quickest, and then the others."""
        nearest, beside = tests_for(mutant.path, PROJECT / "tests")
        near = {file: i for i, file in enumerate([*nearest, *beside])}
        tests: set[str] = set()
        for path in self._data.measured_files():
            if path.endswith(f"/{mutant.path.as_posix()}"):
                contexts = self._data.contexts_by_lineno(path)
                # An import is executed for whichever test is the first.
                lines = mutant.lines if mutant.in_function else contexts
                found = {context for line in lines for context in contexts.get(line, [])}
                tests |= {_PHASE.sub("", context) for context in found} - {""}
        executing = set(tests)
        if not tests or mutant.path.as_posix().startswith(_RUNS_ELSEWHERE):
            tests = tests.union(*(self._of_file[file] for file in near))
        subject = mutant.path.stem
        ranks: dict[str, tuple[bool, int, int]] = {}
        of_file: Counter[str] = Counter()
        for test in sorted(tests, key=lambda test: (self._seconds(test), test)):
            file = test.partition("::")[0]
            is_about = test in executing or subject in test or file in nearest
            # Some of each file come before all of the nearest: there may be thousands.
            ranks[test] = not is_about, of_file[file] // _SOME_TESTS, near.get(file, len(near))
            of_file[file] += is_about
        first: list[str] = []
        rest: list[str] = []
        taken_s = 0.0
        for test in sorted(ranks, key=ranks.__getitem__):
            taken_s += self._seconds(test)
            if not first or (taken_s < _FIRST_S and len(first) < _FIRST_TESTS):
                first.append(test)
            elif taken_s < _MOST_S:
                rest.append(test)
        return [tests for tests in (first, rest) if tests]

    def _seconds(self, test: str) -> float:
        return self._duration_s.get(test, _TEST_S)


class Copy:
    """A copy of the project, to be changed; its process is for nothing else."""

    def __init__(self, folder: Path, lines: Lines) -> None:
        self.folder = folder
        self._lines = lines
        self._sound: set[str] = set()
        self._unsound: set[str] = set()
        for name in _COPIED:
            source = PROJECT / name
            if source.is_dir():
                shutil.copytree(source, folder / name)
            else:
                shutil.copy(source, folder / name)
        #: Bytecode is compiled anew when the time of the source has changed, in whole seconds.
        self._mtime = int(time.time()) - 1_000_000
        os.chdir(folder)
        sys.path[:] = [str(folder), *(path for path in sys.path if path != str(PROJECT))]
        for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
            del sys.modules[name]
        os.environ |= {"PYTHONPATH": str(folder), "HYPOTHESIS_PROFILE": "first"}
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        sys.dont_write_bytecode = False
        for name in _IMPORTED:
            with suppress(ImportError):
                import_module(name)
        gc.freeze()

    def failure_of(self, mutant: Mutant) -> str:
        """Return the test that notices a mutant, or an empty text."""
        text = (self.folder / mutant.path).read_text(encoding="utf-8")
        changed = text[: mutant.start] + mutant.after + text[mutant.end :]

        def failure_of(tests: list[str]) -> str:
            self._write(mutant.path, changed)
            try:
                return self.first_failure(tests)
            finally:
                self._write(mutant.path, text)

        for is_again, tests in enumerate(self._lines.tests_of(mutant)):
            while failure := failure_of(tests):
                if failure in self._sound:
                    return failure
                # What ends the whole run has no name of a test.
                failing = [failure] if "::" in failure else tests
                # Among many, one fails now and then whatever the code is.
                fails_twice = not is_again or failure_of(failing)
                if fails_twice and not self.first_failure(failing):
                    self._sound.add(failure)
                    return failure
                if failing is tests:
                    break
                self._unsound.add(failure)
        return ""

    def _write(self, path: Path, text: str) -> None:
        self._mtime += 2
        (self.folder / path).write_text(text, encoding="utf-8")
        os.utime(self.folder / path, (self._mtime, self._mtime))

    def first_failure(self, tests: list[str]) -> str:
        """Run tests up to the first that fails; return its name, or an empty text."""
        chosen = [test for test in tests if test not in self._unsound]
        if not chosen:
            return ""
        failed = self.folder / "failed.txt"
        failed.write_text("", encoding="utf-8")
        output = self.folder / "output.txt"
        process = os.fork()
        if not process:
            _run_tests(chosen, failed, output)
        code = _exit_code(process)
        if code in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED, None}:
            return ""
        said = output.read_text(encoding="utf-8", errors="replace")
        return failed.read_text(encoding="utf-8") or said[-300:] or f"exit code {code}"


def _run_tests(tests: list[str], failed: Path, output: Path) -> NoReturn:
    """Run tests in a process that is for nothing else, and end it."""
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        _limit_memory()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.dup2(1, 2)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        command = ["-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider"]
        command += ["-o", f"timeout={_TEST_LIMIT_S}", "--basetemp=../temporary"]
        command += ["-o", f"faulthandler_timeout={2 * _TEST_LIMIT_S}"]
        # Of plugins that are imported before.
        command += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        files = dict.fromkeys(test.partition("::")[0] for test in tests)
        code = pytest.main([*command, *files], [_Chosen(tests, failed)])
    except BaseException:  # noqa: BLE001 - says so in what is read of it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


class _Chosen:
    """Runs some tests in their order, and writes down which of them fails.

    What cannot be imported is named by its file.
    """

    def __init__(self, tests: list[str], failed: Path) -> None:
        self._places = {test: i for i, test in enumerate(tests)}
        self._failed = failed

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        chosen = [item for item in items if item.nodeid in self._places]
        items[:] = sorted(chosen, key=lambda item: self._places[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.write_text(report.nodeid, encoding="utf-8")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._failed.write_text(report.nodeid, encoding="utf-8")


def _exit_code(process: int) -> int | None:
    """Wait for a process, and end all that it leaves behind; None if it takes too long."""
    ends = time.monotonic() + _RUN_LIMIT_S
    try:
        while time.monotonic() < ends:
            # Programs whose parents are gone are children of this one; they end in between.
            ended, status = os.waitpid(-1, os.WNOHANG)
            if ended == process:
                return os.waitstatus_to_exitcode(status)
            if not ended:
                time.sleep(0.01)
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        with suppress(ChildProcessError):
            while True:
                for child in _children():
                    with suppress(ProcessLookupError):
                        os.kill(child, signal.SIGKILL)
                os.waitpid(-1, 0)


def _children() -> list[int]:
    children = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = file.read_text(encoding="utf-8").rpartition(")")[2].split()[1]
            if int(parent) == os.getpid():
                children.append(int(file.parent.name))
    return children


def _adopt_orphans() -> None:
    """Become the parent of what started programs leave behind, where the system can do that."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - not on every system

        set_child_subreaper = 36
        ctypes.CDLL(None).prctl(set_child_subreaper, 1)


def _limit_memory() -> None:
    """Let a loop without an end not take the machine's memory."""
    import resource  # noqa: PLC0415 - not on every system

    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_LIMIT_BYTES, _MEMORY_LIMIT_BYTES))


def drawn(subjects: list[str], count: int, seed: int) -> list[Mutant]:
    """Draw mutants; every place has the same chance."""
    found = []
    for subject in subjects:
        paths = sorted((PROJECT / subject).rglob("*.py")) or [PROJECT / subject]
        for path in paths:
            found += list(mutants_of(path.relative_to(PROJECT)))
    return Random(seed).sample(found, min(count, len(found)))


def tried(
    mutants: list[Mutant], lines: Path, folder: Path, workers: int
) -> Iterator[tuple[int, str, float]]:
    """Try mutants in some processes; yield which is tried, what notices it, and the seconds.

    What is left to try waits in a pipe, from which all of them read.
    """
    waiting, to_wait = os.pipe()
    results, to_results = os.pipe()
    os.write(to_wait, b"".join(number.to_bytes(4, "big") for number in range(len(mutants))))
    os.close(to_wait)
    processes = []
    try:
        for worker in range(workers):
            process = os.fork()
            if not process:
                os.close(results)
                _work(mutants, waiting, to_results, folder / f"worker-{worker}", lines)
            processes.append(process)
        os.close(to_results)
        with os.fdopen(results, encoding="utf-8") as file:
            for line in file:
                number, noticed, seconds = json.loads(line)
                yield number, noticed, seconds
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
            os.waitpid(process, 0)


def _work(
    mutants: list[Mutant], waiting: int, to_results: int, folder: Path, lines: Path
) -> NoReturn:
    """Try the mutants that nobody else does, and end the process."""
    # What is running is ended before.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    code = 1
    try:
        _adopt_orphans()
        copy = Copy(folder / "project", Lines(lines))
        while number := os.read(waiting, 4):
            begun_s = time.monotonic()
            place = int.from_bytes(number, "big")
            noticed = copy.failure_of(mutants[place])
            result = json.dumps([place, noticed, time.monotonic() - begun_s])
            os.write(to_results, f"{result}\n".encode())
        code = 0
    except Exception:  # noqa: BLE001 - the others go on
        traceback.print_exc()
    finally:
        os._exit(code)


def main() -> int:
    """Try mutants, and print those that no test notices."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("subjects", nargs="*", default=SUBJECTS, help="files or folders")
    parser.add_argument("--count", type=int, default=300, help="how many are drawn")
    parser.add_argument("--seed", type=int, default=1, help="draws others")
    parser.add_argument("--skip", type=int, default=0, help="how many of these to pass over")
    parser.add_argument("--take", type=int, help="how many of the rest to try, if not all")
    parser.add_argument("--workers", type=int, default=1, help="how many are tried at a time")
    parser.add_argument("--at-least", type=float, default=92, metavar="PERCENT")
    parser.add_argument("--lines", type=Path, help="which test executes which line: kept here")
    # What is running is ended before.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    options = parser.parse_args()
    mutants = drawn(list(options.subjects), options.count, options.seed)
    mutants = mutants[options.skip :][: options.take]
    unnoticed = []
    count = 0
    share = 100.0
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:
        lines = options.lines or Path(folder) / "lines"
        if not lines.exists():
            measure_lines(lines)
        for place, noticed, seconds in tried(mutants, lines, Path(folder), options.workers):
            count += 1
            if not noticed:
                unnoticed.append(mutants[place])
            share = 100 - 100 * len(unnoticed) / count
            print(f"{options.skip + place + 1} {mutants[place]}")
            print(f"    {noticed or 'NOT NOTICED'}")
            print(f"    ({seconds:.0f} s; {share:.1f} % of {count} so far)", flush=True)
    print(f"{share:.1f} % of {count} noticed; not these:")
    print("\n".join(map(str, unnoticed)))
    return 0 if share >= options.at_least and count == len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main())
