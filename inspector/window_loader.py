"""Loads the window (``ui``), under a private name and with quick imports.

A user's program may have its own package ``ui``, already imported or first
on the path. So ours is never imported by that name: :func:`load_ui` loads the
folder beside this package by its location, under a private name.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from inspector.environment import check_qt, qt_import_problem, threads_at_rest
from inspector.stop_signals import signals_held_back

UI_NAME = "timeline_inspector_ui"

#: The packages that the window is made of; a user's modules are in none of them.
_KNOWN_PACKAGES = sys.stdlib_module_names | {
    UI_NAME,
    "inspector",
    "msgspec",
    "numpy",
    "platformdirs",
    "pyqtgraph",
    "typing_extensions",
}

_UI_FOLDER = Path(__file__).resolve().parent.parent / "ui"


def load_ui(submodule: str | None = None) -> ModuleType:
    """Return the package ``ui`` beside this one, or one of its modules (``"kit.picture"``).

    Raises:
        EnvironmentProblemError: Qt is not installed, is one that is known not to
            work, or lacks a system library.
    """
    try:
        with signals_held_back():
            # By name, because nothing here may depend on Qt; its own import calls nothing of Qt.
            check_qt(import_module("PySide6").__version__, sys.version_info[:2])
            with quick_imports():
                package = sys.modules.get(UI_NAME) or _load_package()
                return import_module(f"{UI_NAME}.{submodule}") if submodule else package
    except ImportError as error:
        problem = qt_import_problem(error)
        if problem is None:
            raise
        raise problem from error


def open_beside(path: Path) -> None:
    """Open a file in another window, in a process of its own."""
    import subprocess  # noqa: PLC0415 - 5 ms, and the first window does not need it

    root = str(Path(__file__).resolve().parents[1])
    known = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": f"{known}{os.pathsep}{root}" if known else root}
    # -P: a folder named like ours, where the user is, does not take our place.
    subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, "-P", "-m", "inspector", str(path.absolute())],
        env=environment,
        start_new_session=True,
    )


def _load_package() -> ModuleType:
    spec = spec_from_file_location(
        UI_NAME, _UI_FOLDER / "__init__.py", submodule_search_locations=[str(_UI_FOLDER)]
    )
    assert spec is not None, "a file ending in .py always has a loader"
    assert spec.loader is not None, "likewise"
    package = module_from_spec(spec)
    sys.modules[UI_NAME] = package
    try:
        spec.loader.exec_module(package)
    except BaseException:
        del sys.modules[UI_NAME]
        raise
    return package


@contextmanager
def quick_imports() -> Iterator[None]:
    """Avoid costs of importing the modules of the window.

    PySide6 reads the source of every module that is imported after it and looks for its own
    name there, because a module may ask for other names of Qt's methods (``from __feature__
    import snake_case``). For the 500 modules of the window this takes half as long as a bare Qt
    window takes to start, and 18 MB, because :mod:`linecache` keeps what was read. A module
    that is already in the table of PySide6 is not read. So for as long as this lasts, the first
    finder that Python asks for a module finds nothing, but enters the modules of the window
    in that table: 0, no features. The modules of users are read as usual.
    """
    sys.meta_path.insert(0, _FeatureTable)
    # Of those that are there already PySide6 would read the source when they are named again.
    for name in list(sys.modules):
        _FeatureTable.find_spec(name)
    try:
        with threads_at_rest():
            yield
    finally:
        sys.meta_path.remove(_FeatureTable)


class _FeatureTable:
    """A finder that finds nothing, but enters the modules of the window in PySide6's table."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> None:
        features = sys.modules.get("shibokensupport.feature")
        table = getattr(features, "pyside_feature_dict", None)
        if isinstance(table, dict) and name.partition(".")[0] in _KNOWN_PACKAGES:
            table.setdefault(name, 0)
