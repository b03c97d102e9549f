"""The only door to the window.

A user's program may have its own package ``ui``, already imported or first
on the path. So ours is never imported by that name: :func:`load_ui` loads the
folder beside this package by its location, under a private name.
"""

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from inspector.environment import check_qt, qt_import_problem

UI_NAME = "timeline_inspector_ui"

_UI_FOLDER = Path(__file__).resolve().parent.parent / "ui"


def load_ui(submodule: str | None = None) -> ModuleType:
    """Return the package ``ui`` beside this one, or one of its modules (``"kit.picture"``).

    Raises:
        EnvironmentProblemError: Qt is not installed, is one that is known not to
            work, or lacks a system library.
    """
    try:
        # By name, because nothing here may depend on Qt; its own import calls nothing of Qt.
        check_qt(import_module("PySide6").__version__, sys.version_info[:2])
        package = sys.modules.get(UI_NAME) or _load_package()
        return import_module(f"{UI_NAME}.{submodule}") if submodule else package
    except ImportError as error:
        problem = qt_import_problem(error)
        if problem is None:
            raise
        raise problem from error


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
