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
_HEAVY = ["asyncio", "inspect", "msgspec", "numpy", "pyqtgraph", "PySide6", "sqlite3", "socket"]
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


def test_that_only_a_comparison_loads_pyqtgraph() -> None:
    program = (
        "import importlib, pkgutil, sys, ui\n"
        "for module in pkgutil.walk_packages(ui.__path__, 'ui.'):\n"
        "    if not module.name.startswith('ui.comparison'): importlib.import_module(module.name)\n"
        "print('pyqtgraph' in sys.modules)\n"
        "hooks = sys.excepthook\n"
        "import ui.comparison.view\n"
        "print('pyqtgraph' in sys.modules, sys.excepthook is hooks)"
    )

    assert _printed_by(program).splitlines() == ["False", "True True"]


def test_that_the_window_starts_without_what_only_some_dialogs_and_files_need() -> None:
    seldom = (
        *("asyncio", "email", "importlib.metadata", "pyqtgraph"),
        *(("sysconfig",) if sys.version_info < (3, 14) else ()),  # ctypes needs it there
        *("inspector.engines", "inspector.formats.captures", "inspector.sessions.captured"),
        *("inspector.sessions.compared", "inspector.analysis.statistics.comparison"),
    )
    program = (
        "import sys, ui.window.completion\n"
        f"print([name for name in {seldom} if name in sys.modules])"
    )

    assert _printed_by(program) == "[]\n"


def test_that_a_program_with_clocks_needs_only_the_standard_library() -> None:
    blocked = "BLOCKED = {'PySide6', 'pyqtgraph', 'numpy', 'msgspec', 'platformdirs', 'ui'}\n"
    use = "import inspector; inspector.ClockTree; inspector.Director; inspector.start_loop"

    _printed_by(blocked + _BLOCK + use)


def test_that_importing_the_package_loads_nothing_heavy() -> None:
    program = f"import sys, inspector; print([name for name in {_HEAVY} if name in sys.modules])"

    assert _printed_by(program).strip() == "[]"


def test_that_asking_for_help_loads_no_command_and_no_widgets() -> None:
    program = (
        "import sys; from inspector.launcher import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = ('PySide6', 'pyqtgraph', 'numpy', 'msgspec', 'inspector.cli.commands.')\n"
        "print([name for name in sys.modules if name.startswith(heavy)])"
    )

    assert _printed_by(program).splitlines()[-1] == "[]"


@pytest.mark.parametrize("command", ["annotate", "lab", "replay", "scenes", "schema"])
def test_that_the_help_of_a_command_does_not_load_what_it_works_with(command: str) -> None:
    program = (
        "import sys; from inspector.launcher import main\n"
        f"try: main(['{command}', '--help'])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('PySide6', 'numpy', 'sqlite3') if name in sys.modules])"
    )

    assert _printed_by(program).splitlines()[-1] == "[]"


def test_that_looking_for_a_scene_loads_no_commands() -> None:
    program = (
        "import sys; from inspector.sessions.scene import find_scene; find_scene('1')\n"
        "later = ('inspector.commands', 'inspector.events', 'inspector.frames')\n"
        "print([name for name in sys.modules if name.startswith(later)])"
    )

    assert _printed_by(program).strip() == "[]"


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
