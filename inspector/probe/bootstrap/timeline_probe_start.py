"""Loads the probe into this program; imported by its name alone, before there is a package."""

from __future__ import annotations

import os
import sys

# ``importlib.util`` offers these too, but imports much that is not needed.
from _frozen_importlib import module_from_spec
from _frozen_importlib_external import spec_from_file_location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_NAME = "timeline_probe"
_PROBE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

#: What multiprocessing runs beside the program, and what forks all further children.
_HELPER = "from multiprocessing.resource_tracker import"
_FORK_SERVER = "from multiprocessing.forkserver import"


def from_environment() -> None:
    """Start the probe as the inspector that has launched the program asks for."""
    command = _command()
    if any(_HELPER in each for each in command):
        return
    probe = load()
    start = __import__(f"{_NAME}.bootstrap.children", fromlist=["children"]).pop_start_arguments()
    if start is not None:
        start["only_children"] = any(_FORK_SERVER in each for each in command)
        probe.start(**start)


def _command() -> list[str]:
    """Return the command line of this process; ``sys.argv`` is not complete this early."""
    argv: list[str] | None = getattr(sys, "orig_argv", None)  # since Python 3.10
    if argv is not None:
        return argv
    try:
        with open("/proc/self/cmdline", "rb") as file:
            return [os.fsdecode(each) for each in file.read().split(b"\0")]
    except OSError:
        return []


def load(*, keeps_files: bool = False) -> ModuleType:
    """Import the folder above as ``timeline_probe``; ``keeps_files`` if it may be removed."""
    if _NAME in sys.modules:
        return sys.modules[_NAME]
    if keeps_files:
        sys.meta_path.insert(0, _KeptFiles(_PROBE))
    place = os.path.join(_PROBE, "__init__.py")
    spec = spec_from_file_location(_NAME, place, submodule_search_locations=[_PROBE])
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[_NAME] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[_NAME]
        raise
    return module


class _KeptFiles:
    """Imports modules of the probe from files that were read before."""

    def __init__(self, folder: str) -> None:
        self._files: dict[str, tuple[str, bytes]] = {}
        for place, _, names in os.walk(folder):
            package = [_NAME, *os.path.relpath(place, folder).split(os.sep)]
            for name in names:
                if name.endswith(".py"):
                    path = os.path.join(place, name)
                    with open(path, "rb") as file:
                        text = file.read()
                    parts = [*package, name[:-3]]
                    module = ".".join(each for each in parts if each not in {".", "__init__"})
                    self._files[module] = path, text

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> Any:
        if name == _NAME or name not in self._files:
            return None
        path, _ = self._files[name]
        is_package = os.path.basename(path) == "__init__.py"
        folders = [os.path.dirname(path)] if is_package else None
        loader: Any = self
        return spec_from_file_location(
            name, path, loader=loader, submodule_search_locations=folders
        )

    def create_module(self, _spec: object) -> None:
        """Return ``None``, so that the interpreter creates the module."""

    def exec_module(self, module: ModuleType) -> None:
        path, text = self._files[module.__name__]
        exec(compile(text, path, "exec", dont_inherit=True), vars(module))  # noqa: S102 - a module
