"""Runs the benchmarks: ``python -m tests.benchmarks [NAME ...]``.

Every ``bench_*.py`` in this folder has a tuple ``BENCHMARKS`` of functions that yield
:class:`~tests.benchmarks.report.Row`; a function may take an
:class:`~tests.benchmarks.measuring.Effort`. Each file runs in a separate process, so
that what one has imported or allocated does not disturb the next.
"""

from __future__ import annotations

import argparse
import ast
import platform
import subprocess
import sys
import tarfile
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tests.benchmarks.core_paths import PATHS, count_instructions, instruction_counter
from tests.benchmarks.measuring import Effort
from tests.benchmarks.report import (
    Row,
    Verdict,
    rows_from_json,
    summary,
    text_table,
    to_json,
    write_reports,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

FOLDER = Path(__file__).parent
PROJECT = FOLDER.parent.parent

_PACKAGES = (
    "pyglet",
    "Kivy",
    "Panda3D",
    "pandas",
    "simpy",
    "Twisted",
    "PySide6-Essentials",
    "pyqtgraph",
    "numpy",
)


def module_names() -> list[str]:
    """Return the names of the files that hold benchmarks."""
    return sorted(path.stem for path in FOLDER.glob("bench_*.py"))


def benchmark_names(module_name: str) -> list[str]:
    """Read the names of the benchmarks in one file, without importing what it imports."""
    source = (FOLDER / f"{module_name}.py").read_text(encoding="utf-8")
    for statement in ast.parse(source).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="BENCHMARKS")], value=ast.Tuple(elts=functions)):
                return [element.id for element in functions if isinstance(element, ast.Name)]
            case ast.AnnAssign(target=ast.Name(id="BENCHMARKS"), value=ast.Tuple(elts=functions)):
                return [element.id for element in functions if isinstance(element, ast.Name)]
    return []


def benchmarks_of(module_name: str) -> dict[str, Callable[..., Iterable[Row]]]:
    """Import one file and return its benchmarks by name."""
    module = import_module(f"tests.benchmarks.{module_name}")
    return {function.__name__: function for function in module.BENCHMARKS}


def run_benchmark(function: Callable[..., Iterable[Row]], effort: Effort) -> list[Row]:
    """Run one benchmark, with the effort if it asks for one."""
    arguments: tuple[Any, ...] = (effort,) if signature(function).parameters else ()
    return list(function(*arguments))


def about_this_run(effort: Effort) -> dict[str, str]:
    """Return what the numbers depend on."""
    versions = [f"{name} {_version(name)}" for name in _PACKAGES]
    return {
        "Python": f"{platform.python_version()} {platform.machine()} {platform.system()}",
        "Packages": ", ".join(versions),
        "Method": "thread CPU time, cases interleaved, medians of paired ratios"
        + (", quick: small workloads" if effort.is_quick else ""),
    }


def _version(package: str) -> str:
    with suppress(PackageNotFoundError):
        return version(package)
    return "not installed"


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmark or file; all if none")
    parser.add_argument("--quick", action="store_true", help="small workloads, few repeats")
    parser.add_argument("--list", action="store_true", help="only show the names")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a goal is missed")
    parser.add_argument(
        "--output",
        type=Path,
        default=PROJECT / "build" / "benchmarks",
        metavar="FOLDER",
        help="where results.txt, .md and .json go (%(default)s)",
    )
    parser.add_argument(
        "--against",
        metavar="COMMIT",
        help="count the machine instructions of the core paths here and at a commit instead",
    )
    parser.add_argument("--rows-of", metavar="FILE", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the requested benchmarks; returns the exit code."""
    options = _arguments(arguments)
    effort = Effort(is_quick=options.quick)
    if options.rows_of:
        return _run_file(options.rows_of, options.names, effort, options.output)
    if options.against:
        return _compare_instructions(options.against)
    chosen = _choose(options.names)
    if not chosen:
        print(
            f"no benchmark is called {' or '.join(options.names)}; --list shows them",
            file=sys.stderr,
        )
        return 2
    if options.list:
        for module_name, names in chosen.items():
            print(f"{module_name}: {', '.join(names)}")
        return 0
    rows: list[Row] = []
    for module_name, names in chosen.items():
        rows += _rows_in_own_process(module_name, names, effort)
    print(text_table(rows), summary(rows), sep="\n\n")
    for path in write_reports(rows, about_this_run(effort), options.output):
        print(f"written: {path}", file=sys.stderr)
    missed = any(row.verdict is Verdict.FALLS_SHORT for row in rows)
    return 1 if options.strict and missed else 0


def _compare_instructions(commit: str) -> int:
    """Print what the core paths execute at a commit and here; returns the exit code."""
    if instruction_counter() is None:
        print("counting instructions needs valgrind or perf (Linux)", file=sys.stderr)
        return 2
    with TemporaryDirectory() as folder:
        archive = Path(folder) / "then.tar"
        git = ["git", "-C", str(PROJECT), "archive", "--output", str(archive), commit, "inspector"]
        if subprocess.run(git, check=False).returncode:
            return 2
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")
        print(f"{'instructions of one operation':30}{commit[:12]:>12}{'here':>12}{'change':>10}")
        for name in PATHS:
            then, now = (count_instructions(name, root) for root in (Path(folder), PROJECT))
            change = f"{now / then - 1:+.1%}" if now and then else "–"
            print(f"{name:30}{then or '–':>12}{now or '–':>12}{change:>10}", flush=True)
    return 0


def _choose(wanted: Sequence[str]) -> dict[str, list[str]]:
    """Return the names of the benchmarks to run, by file."""
    chosen = {}
    for module_name in module_names():
        names = benchmark_names(module_name)
        if wanted and module_name not in wanted:
            names = [name for name in names if name in wanted]
        if names:
            chosen[module_name] = names
    return chosen


def _rows_in_own_process(module_name: str, names: Sequence[str], effort: Effort) -> list[Row]:
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.benchmarks", *names, "--rows-of", module_name]
        command += ["--output", folder, *(["--quick"] if effort.is_quick else [])]
        status = subprocess.run(command, cwd=PROJECT, check=False).returncode
        file = Path(folder) / "rows.json"
        rows = rows_from_json(file.read_text(encoding="utf-8")) if file.exists() else []
    if status != 0:
        rows.append(Row(module_name, None, detail=f"ended with status {status}, see above"))
    return rows


def _run_file(module_name: str, names: Sequence[str], effort: Effort, folder: Path) -> int:
    """Run the chosen benchmarks of one file; rows are kept as they come."""
    rows: list[Row] = []
    for name, function in benchmarks_of(module_name).items():
        if name not in names:
            continue
        began = perf_counter()
        rows += run_benchmark(function, effort)
        print(f"\r\033[K{name}: {perf_counter() - began:.0f} s", file=sys.stderr)
        (folder / "rows.json").write_text(to_json(rows, {}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
