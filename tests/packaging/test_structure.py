"""The structure of the code: what stands at the top, and which files may import each other."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import reduce
from operator import or_
from os.path import commonpath
from pathlib import Path
from subprocess import run
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
PACKAGES = ("inspector", "ui")
#: Where files import each other: a clock and what hangs on it, Creator's director and components,
#: schedulers and tickers and what they call.
ROOMS_WITH_CIRCLES = {
    *("inspector/clocks", "inspector/engines/cocos", "inspector/engines/creator"),
    *("inspector/engines/egret", "inspector/frames/scheduler"),
}
#: The list of adapters, and the program that they are for.
PAIR = {"inspector/probe/adapters/__init__.py", "inspector/probe/program.py"}


#: On lines of its own, at any depth. All else need not be parsed: 1.5 s.
IMPORT = re.compile(
    r"^[ ]*(import [\w., ]+?|from [\w.]+ import (?:\([^)]*\)|[\w., ]+?)) *(?:#.*)?$", re.MULTILINE
)
#: Modules that Windows, or all others, have not.
OF_ONE_SYSTEM = {
    *("curses", "fcntl", "grp", "msvcrt", "pty", "pwd", "resource", "termios", "tty", "winreg"),
}


def source_files() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def test_that_the_top_level_has_nothing_else() -> None:
    listed = run(
        ["git", "ls-tree", "--name-only", "HEAD"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("This is not a checkout of git.")

    assert {name for name in listed.stdout.split() if not name.startswith(".")} == {
        *("inspector", "ui", "tests", "resources"),
        *("pyproject.toml", "README.md", "Makefile", "LICENSE"),
    }


def imported_by(path: Path, modules: Mapping[str, Path]) -> set[Path]:
    """Return the files that a file imports, for type checkers and in functions too."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    found = set()
    statements = IMPORT.findall(path.read_text(encoding="utf-8"))
    for part in ast.parse("\n".join(statements)).body:
        match part:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module=name, names=names, level=level):
                above = package[: len(package) - level + 1] if level else ()
                module = ".".join([*above, *([name] if name else [])])
                whole = {f"{module}.{alias.name}" for alias in names}
                # A package is not imported for itself where its modules are named.
                found |= whole if whole <= modules.keys() else {module, *whole}
    return {modules[name] for name in found & modules.keys()} - {path}


def test_that_files_import_each_other_only_where_they_always_have() -> None:
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in source_files()
    }
    imports = {path: imported_by(path, modules) for path in modules.values()}
    # It tells type checkers alone where its names live, which are resolved when they are used.
    imports[ROOT / "inspector" / "__init__.py"] = set()
    # A bit for each file.
    reached = {path: 1 << place for place, path in enumerate(imports)}
    is_growing = True
    while is_growing:
        is_growing = False
        for path, others in imports.items():
            found = reduce(or_, (reached[each] for each in others), reached[path])
            is_growing |= found != reached[path]
            reached[path] = found

    # Files that reach each other reach the same.
    alike = defaultdict(set)
    for path, found in reached.items():
        alike[found].add(path.relative_to(ROOT).as_posix())
    circles = {frozenset(each) for each in alike.values()}

    assert [
        sorted(circle)
        for circle in circles
        if len(circle) > 1 and commonpath(circle) not in ROOMS_WITH_CIRCLES and circle != PAIR
    ] == []


def test_that_every_test_can_be_collected_on_every_system() -> None:
    at_the_top = re.compile(rf"^(?:import|from) (?:{'|'.join(OF_ONE_SYSTEM)})\b", re.MULTILINE)
    found = [
        f"{path}: {each[0]}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for each in at_the_top.finditer(path.read_text(encoding="utf-8"))
    ]

    assert found == [], "import it in the test that needs it"
