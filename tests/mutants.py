"""How much the tests notice: small faults are put into the code, one at a time.

``python -m tests.mutants --count 300 --seed 1`` draws places at random, changes each in a copy of
the project, and runs the tests that execute the changed line, the nearest first. One run of all
tests finds out which these are, also where a program that a test starts executes it (``--lines
FILE`` keeps that for the next time, while the code stays the same). For what an import executes,
those of the rest of its file are run; where none is known, and for what runs in other Pythons,
those that import the module or stand beside it. A fault that no test notices is printed; too many
of them fail.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

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
#: However long it takes in all, it proves nothing.
_MUTANT_LIMIT_S: Final = 900
_MEMORY_LIMIT_BYTES: Final = 6 << 30
_MANY: Final = 10
_SETTINGS_VARIABLE: Final = "TIMELINE_INSPECTOR_COVERAGE"
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
#: A line that more tests than this execute is tried with the nearest of them.
_MOST_TESTS: Final = 500
_SOME_TESTS: Final = 20

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
        case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]):
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


def tests_for(path: Path, tests: Path) -> list[str]:
    """Return the test files that import a module or stand beside it; the nearest first."""
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
    in_folder = sorted(importing, key=lambda file: beside not in file.parents)
    return [str(file.relative_to(tests.parent)) for file in [*near, *in_folder, *rest]]


def measure_lines(file: Path) -> None:
    """Run all tests, and keep which of them executes which line, also in programs they start."""
    with tempfile.TemporaryDirectory(prefix="lines-") as folder:
        settings = Path(folder) / "coverage.ini"
        settings.write_text(_COVERAGE.format(source=PROJECT / "inspector", folder=folder))
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal"]
        command += ["-p", "tests.mutants", "--cov=inspector", "--cov-context=test", "--cov-report="]
        environment = {
            **os.environ,
            "COVERAGE_FILE": str(Path(folder) / "tests"),
            _SETTINGS_VARIABLE: str(settings),
        }
        # Tests that count bytecodes fail under a tracer; the lines are kept all the same.
        subprocess.run(command, cwd=PROJECT, env=environment, check=False)
        combine = [sys.executable, "-m", "coverage", "combine", "-q", f"--data-file={file}"]
        parts = [str(part) for part in Path(folder).iterdir() if part != settings]
        subprocess.run([*combine, *parts], cwd=PROJECT, check=True)


def pytest_runtest_setup() -> None:
    """Have programs that a test starts say which lines they execute, and for which test."""
    os.environ["COVERAGE_PROCESS_START"] = os.environ[_SETTINGS_VARIABLE]
    os.environ.pop("COVERAGE_FILE", None)


class Lines:
    """Which tests execute which lines."""

    def __init__(self, file: Path) -> None:
        self._data = CoverageData(str(file))
        self._data.read()

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that execute a line, the nearest first; none if it is not known."""
        tests: set[str] = set()
        for path in self._data.measured_files():
            if path.endswith(f"/{mutant.path.as_posix()}"):
                contexts = self._data.contexts_by_lineno(path)
                # An import is executed for whichever test is the first.
                lines = mutant.lines if mutant.in_function else contexts
                found = {context for line in lines for context in contexts.get(line, [])}
                tests |= {_PHASE.sub("", context) for context in found} - {""}
        near = {file: i for i, file in enumerate(tests_for(mutant.path, PROJECT / "tests"))}
        ranks: dict[str, tuple[int, int]] = {}
        of_file: Counter[str] = Counter()
        for test in sorted(tests):
            file = test.partition("::")[0]
            # Some of each file come before all of the nearest: there may be thousands.
            ranks[test] = of_file[file] // _SOME_TESTS, near.get(file, len(near))
            of_file[file] += 1
        return sorted(ranks, key=ranks.__getitem__)


class Copy:
    """A copy of the project, to be changed."""

    def __init__(self, folder: Path, lines: Lines) -> None:
        self.folder = folder
        self._lines = lines
        self._sound: set[str] = set()
        self._unsound: set[str] = set()
        for name in _COPIED:
            source = PROJECT / name
            if source.is_dir():
                leave_out = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, folder / name, ignore=leave_out)
            else:
                shutil.copy(source, folder / name)
        #: Bytecode is compiled anew when the time of the source has changed, in whole seconds.
        self._mtime = int(time.time()) - 1_000_000

    def failure_of(self, mutant: Mutant) -> str:
        """Return the test that notices a mutant, or an empty text."""
        text = (self.folder / mutant.path).read_text(encoding="utf-8")
        changed = text[: mutant.start] + mutant.after + text[mutant.end :]
        tests = self._lines.tests_of(mutant)[:_MOST_TESTS]
        if not tests or mutant.path.as_posix().startswith(_RUNS_ELSEWHERE):
            tests += tests_for(mutant.path, self.folder / "tests")
        while True:
            self._write(mutant.path, changed)
            try:
                failure = self.first_failure(tests)
            finally:
                self._write(mutant.path, text)
            if "::" not in failure or failure in self._sound:
                return failure
            if not self.first_failure([failure]):
                self._sound.add(failure)
                return failure
            # It fails here whatever the code is.
            self._unsound.add(failure)

    def _write(self, path: Path, text: str) -> None:
        self._mtime += 2
        (self.folder / path).write_text(text, encoding="utf-8")
        os.utime(self.folder / path, (self._mtime, self._mtime))

    def first_failure(self, tests: list[str]) -> str:
        """Run tests up to the first that fails; return its name, or an empty text."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no", "-rfE"]
        command += ["-p", "no:cacheprovider", "-o", f"timeout={_TEST_LIMIT_S}"]
        command += ["-o", f"faulthandler_timeout={2 * _TEST_LIMIT_S}"]
        command += [f"--basetemp={self.folder / 'temporary'}", f"@{self.folder / 'tests.txt'}"]
        chosen = [*tests, *(f"--deselect={test}" for test in self._unsound)]
        (self.folder / "tests.txt").write_text("\n".join(chosen), encoding="utf-8")
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder),
            "COLUMNS": "1000",
            "HYPOTHESIS_PROFILE": "first",
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        output = self.folder / "output.txt"
        with output.open("w") as stdout:
            running = subprocess.Popen(
                command,
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_limit_memory,  # noqa: PLW1509 - no other thread runs
            )
            try:
                code = running.wait(_MUTANT_LIMIT_S)
            except subprocess.TimeoutExpired:
                code = pytest.ExitCode.OK
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(running.pid, signal.SIGKILL)
                running.wait()
        said = output.read_text(encoding="utf-8", errors="replace")
        if code in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
            return ""
        for line in said.splitlines():
            if line.startswith(("FAILED ", "ERROR ")):
                return line.partition(" ")[2].partition(" - ")[0]
        return said[-300:] or f"exit code {code}"


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


def main() -> int:
    """Try mutants, and print those that no test notices."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("subjects", nargs="*", default=SUBJECTS, help="files or folders")
    parser.add_argument("--count", type=int, default=300, help="how many are drawn")
    parser.add_argument("--seed", type=int, default=1, help="draws others")
    parser.add_argument("--skip", type=int, default=0, help="how many of these to pass over")
    parser.add_argument("--take", type=int, help="how many of the rest to try, if not all")
    parser.add_argument("--at-least", type=float, default=92, metavar="PERCENT")
    parser.add_argument("--lines", type=Path, help="which test executes which line: kept here")
    options = parser.parse_args()
    mutants = drawn(list(options.subjects), options.count, options.seed)
    mutants = mutants[options.skip :][: options.take]
    unnoticed = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        lines = options.lines or Path(folder) / "lines"
        if not lines.exists():
            measure_lines(lines)
        copy = Copy(Path(folder) / "project", Lines(lines))
        for number, mutant in enumerate(mutants, options.skip + 1):
            noticed = copy.failure_of(mutant)
            if not noticed:
                unnoticed.append(mutant)
            print(f"{number} {mutant}\n    {noticed or 'NOT NOTICED'}", flush=True)
    share = 100 - 100 * len(unnoticed) / max(1, len(mutants))
    print(f"{share:.1f} % of {len(mutants)} noticed; not these:")
    print("\n".join(map(str, unnoticed)))
    return 0 if share >= options.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
