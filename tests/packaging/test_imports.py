"""Who may import what, seen from outside: in a fresh interpreter, or in the source."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import inspector

_PROJECT = Path(__file__).resolve().parents[2]
_BLOCK = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocker())
"""
_IMPORT_ALL = """
import importlib, pkgutil, inspector

names = [module.name for module in pkgutil.walk_packages(inspector.__path__, "inspector.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(len(names))
"""


def _printed_by(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=_PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_that_all_of_inspector_imports_without_qt() -> None:
    blocked = "BLOCKED = {'PySide6', 'shiboken6', 'pyqtgraph', 'ui'}\n"

    printed = _printed_by(blocked + _BLOCK + _IMPORT_ALL)

    assert int(printed) > 20


#: What is done in one process after another, and what must not have been imported by then.
_WITHOUT_WINDOW = {
    "import inspector": (
        *("asyncio", "inspect", "msgspec", "numpy", "pyqtgraph", "PySide6", "sqlite3", "socket"),
    ),
    "from inspector.launcher import main; main(['--help'])": (
        *("PySide6", "pyqtgraph", "numpy", "msgspec", r"inspector.cli.commands\.\w+"),
    ),
    "from inspector.sessions.scene import find_scene; find_scene('1')": (
        *("inspector.commands", "inspector.events", "inspector.frames"),
    ),
    "main(['--version']); main(['scenes'])\n"
    "from inspector.cli.commands import COMMANDS\n"
    "for each in COMMANDS: main([each.name, '--help'])": ("PySide6", "numpy", "sqlite3"),
}
_WITH_WINDOW = {
    "import ui.window.completion": (
        *("asyncio", "email", "importlib.metadata", "pyqtgraph"),
        *(("sysconfig",) if sys.version_info < (3, 14) else ()),  # ctypes needs it there
        *("inspector.engines", "inspector.formats.captures", "inspector.sessions.captured"),
        *("inspector.sessions.compared", "inspector.analysis.statistics.comparison"),
    ),
    "import importlib, pkgutil, ui\n"
    "for module in pkgutil.walk_packages(ui.__path__, 'ui.'):\n"
    "    if not module.name.startswith('ui.comparison'): importlib.import_module(module.name)": (
        "pyqtgraph",
    ),
    "hook = sys.excepthook; import ui.comparison.view\n"
    "assert 'pyqtgraph' in sys.modules; assert sys.excepthook is hook": (),
}


@pytest.mark.parametrize("steps", [_WITHOUT_WINDOW, _WITH_WINDOW], ids=["alone", "window"])
def test_that_nothing_is_imported_before_it_is_needed(steps: dict[str, tuple[str, ...]]) -> None:
    looking = "found.append([name for name in sys.modules if re.match({!r}, name)])"
    program = ["import re, sys; found = []"]
    for step, unneeded in steps.items():
        program += [step, looking.format(rf"({'|'.join(unneeded)})(\.|$)")]

    loaded = _printed_by("\n".join([*program, "print(found)"])).splitlines()[-1]

    assert loaded == str([[] for _ in steps])


def test_that_a_program_with_clocks_needs_only_the_standard_library() -> None:
    blocked = "BLOCKED = {'PySide6', 'pyqtgraph', 'numpy', 'msgspec', 'platformdirs', 'ui'}\n"
    use = "import inspector; inspector.ClockTree; inspector.Director; inspector.start_loop"

    _printed_by(blocked + _BLOCK + use)


@pytest.mark.parametrize("name", inspector.__all__)
def test_that_every_public_name_is_there(name: str) -> None:
    assert getattr(inspector, name) is not None
    assert name in dir(inspector)


def test_that_a_name_that_is_not_public_is_refused_by_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Clok'"):
        inspector.Clok  # noqa: B018 - looking it up is what fails


def test_that_ui_imports_itself_only_relatively() -> None:
    absolute = [
        f"{path}:{node.lineno}"
        for path in sorted((_PROJECT / "ui").rglob("*.py"))
        # Few files have a line that might be one: only those are parsed.
        if re.search(r"^\s*(from|import)\b.*\bui\b", text := path.read_text("utf-8"), re.MULTILINE)
        for node in ast.walk(ast.parse(text))
        if (isinstance(node, ast.ImportFrom) and not node.level and _is_ui(node.module or ""))
        or (isinstance(node, ast.Import) and any(_is_ui(alias.name) for alias in node.names))
    ]

    assert absolute == []


def _is_ui(module: str) -> bool:
    return module.partition(".")[0] == "ui"
