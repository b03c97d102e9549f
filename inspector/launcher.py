"""The command ``timeline-inspector``, and the only door to the window.

A user's program may have a package ``ui`` of its own, imported already or first
on the path. So ours is never imported by that name: :func:`load_ui` loads the
folder beside this package by its location, under a private name.
"""

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from inspector.environment import (
    check_display,
    check_qt,
    qt_import_problem,
)
from inspector.errors import InspectorError
from inspector.exit_codes import ExitCode

UI_NAME = "timeline_inspector_ui"

_UI_FOLDER = Path(__file__).resolve().parent.parent / "ui"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with ``argv`` (default: the program's arguments); return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else ExitCode.OK
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except InspectorError as error:
        if sys.stderr is None:  # it is when started without a console on Windows
            return error.exit_code
        from inspector.cli.terminal import say_error  # noqa: PLC0415 - seldom needed

        return say_error(error, sys.stderr)


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


def _run(arguments: list[str]) -> int:
    scene = None
    if arguments:
        from inspector.cli import main as cli  # noqa: PLC0415 - without arguments, the window need not wait

        scene = cli.window_scene(arguments)
        if scene is None:
            return cli.main(arguments)
    check_display(os.environ)
    # What is loaded stays, so looking for garbage among it is in vain: a tenth of the first
    # paint. The window switches it on again when it is complete.
    gc.disable()
    try:
        return int(load_ui("window.application").main(scene))
    finally:
        gc.enable()


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
