"""The structure of the code: few files know a fact, few import each other, no folder is crowded."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from pathlib import Path
from subprocess import run
from typing import TYPE_CHECKING

import pytest

from inspector.vocabulary import EventKind

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
PACKAGES = ("inspector", "ui")
#: Files of a folder, with its ``__init__.py``.
MOST_IN_FOLDER = 16
#: Imports inside functions: what takes long and few need, such as NumPy on the command line.
MOST_LATE_IMPORTS = 30
#: Groups of files that import each other: clocks, Creator's components, the probe's adapters.
MOST_CIRCLES = 3
#: A command, what asks for it in the window and on the command line, and its name there.
MOST_FILES_OF_COMMAND = 4
#: The vocabulary, the schema, what reports it for scenes and for programs, and two readers.
MOST_FILES = 6
#: Runs inside other programs and imports nothing of ours, so it has a list of its own.
OF_ITS_OWN = ROOT / "inspector" / "probe"


def source_files() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def kinds_known_to(path: Path) -> set[str]:
    """Return the kinds of events whose numbers a file defines, imports or takes from the enum."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: set[str] = set()
    enums = {"EventKind", "vocabulary", "kinds"}
    for node in tree.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=int())):
                names.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=int())):
                names.add(name)
            case ast.Assign(targets=[ast.Tuple(elts=others)], value=ast.Tuple(elts=values)):
                pairs = zip(map(ast.unparse, others), map(ast.unparse, values), strict=True)
                enums |= {other for other, value in pairs if value in enums}
    for part in ast.walk(tree):
        if isinstance(part, ast.ImportFrom) and (part.module or "").split(".")[-1] in enums:
            names |= {alias.name for alias in part.names}
        elif isinstance(part, ast.Attribute) and ast.unparse(part.value) in enums:
            names.add(part.attr)
    return names & EventKind.__members__.keys()


def test_that_the_number_of_a_kind_is_known_to_few_files() -> None:
    files = defaultdict(list)
    for path in source_files():
        for kind in kinds_known_to(path) if OF_ITS_OWN not in path.parents else ():
            files[kind].append(str(path.relative_to(ROOT)))
    assert set(files) == set(EventKind.__members__)
    assert {kind: found for kind, found in files.items() if len(found) > MOST_FILES} == {}
    assert "inspector/events/schema.py" in files["TIMER_FIRED"]
    assert "inspector/clocks/tree.py" in files["TIMER_FIRED"]


def test_that_few_imports_stand_inside_functions() -> None:
    inside = {
        (path.relative_to(ROOT).as_posix(), part.lineno)
        for path in source_files()
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        for part in ast.walk(function)
        if isinstance(part, ast.Import | ast.ImportFrom)
    }

    assert len(inside) <= MOST_LATE_IMPORTS, sorted(inside)


def test_that_a_command_is_named_in_few_files() -> None:
    naming = [path for path in source_files() if "SetRate" in path.read_text(encoding="utf-8")]

    assert ROOT / "inspector" / "commands" / "clocks.py" in naming
    assert len(naming) <= MOST_FILES_OF_COMMAND


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


def test_that_no_folder_is_crowded() -> None:
    folders = Counter(path.parent.relative_to(ROOT).as_posix() for path in source_files())

    assert {name: count for name, count in folders.items() if count > MOST_IN_FOLDER} == {}


def imported_by(path: Path, modules: Mapping[str, Path]) -> set[Path]:
    """Return the files that a file imports, for type checkers and in functions too."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    found = set()
    for part in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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


def test_that_few_files_import_each_other() -> None:
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in source_files()
    }
    imports = {path: imported_by(path, modules) for path in modules.values()}
    # It tells type checkers alone where its names live, which are resolved when they are used.
    imports[ROOT / "inspector" / "__init__.py"] = set()
    reached = {path: {path} for path in imports}
    is_growing = True
    while is_growing:
        is_growing = False
        for path, others in imports.items():
            found = reached[path].union(*(reached[each] for each in others))
            is_growing |= found != reached[path]
            reached[path] = found

    circles = {
        frozenset(each for each in reached[path] if path in reached[each]) for path in imports
    }

    together = [
        sorted(each.relative_to(ROOT).as_posix() for each in circle)
        for circle in circles
        if len(circle) > 1
    ]
    assert len(together) <= MOST_CIRCLES, together
