"""Loads libraries without what Qt for Python and pyqtgraph do besides.

Both matter once, between the first paint and the complete window. Measured together:
a third of the time that numpy and pyqtgraph take to load, and 22 of 95 MB.
"""

from __future__ import annotations

import builtins
import gc
import os
import sys
from contextlib import contextmanager, suppress
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A power of two, in cycles of the processor.
_BLAS_PATIENCE: Final = "OPENBLAS_THREAD_TIMEOUT"
_MIRRORED: Final = ("QtCore", "QtGui", "QtWidgets")


@contextmanager
def plain_imports() -> Iterator[None]:
    """Import as Python does, without Qt for Python looking on.

    It replaces ``__import__`` by one that reads the source of every module that is
    imported, whoever wrote it, to see whether the module uses Qt (for ``from
    __feature__ import snake_case``, which nothing here uses); the lines of all
    these files stay in memory. The one before is kept beside it. Nor is garbage looked
    for meanwhile, for what is loaded stays.
    """
    hooked = builtins.__import__
    builtins.__import__ = getattr(builtins, "__orig_import__", hooked)
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        builtins.__import__ = hooked
        if was_collecting:
            gc.enable()


def load_pyqtgraph() -> None:
    """Import pyqtgraph without making every class of Qt.

    pyqtgraph copies all names of three Qt modules, and a Qt class is made when its
    name is first used: 700 of them, of which a plot uses fifty. Here it finds modules
    in the place of its copies that ask Qt for a name when somebody asks them.
    """
    if "pyqtgraph" in sys.modules:
        return
    with plain_imports():
        _load_numpy()
        try:
            _import_with_mirrors()
        except (ImportError, AttributeError):
            # Another version that does this otherwise: the long way.
            _forget_pyqtgraph()
            import pyqtgraph  # noqa: F401, PLC0415 - loaded for whoever imports it next


def _load_numpy() -> None:
    """Import numpy, which by itself takes 35 ms, among the imports of pyqtgraph 100.

    The threads that it brings for linear algebra turn round and round for 50 ms, waiting
    for work, before they go to sleep, and again after each work; 0.5 ms is plenty.
    """
    is_chosen = _BLAS_PATIENCE in os.environ
    os.environ.setdefault(_BLAS_PATIENCE, "20")
    try:
        import numpy as np  # noqa: F401, PLC0415 - loaded for whoever imports it next
    finally:
        if not is_chosen:
            # Programs that a scene starts have it as it is.
            os.environ.pop(_BLAS_PATIENCE, None)


class _Mirror(ModuleType):
    """Has the names of another module, each once it is asked for."""

    def __init__(self, name: str, mirrored: ModuleType) -> None:
        super().__init__(name)
        self._mirrored = mirrored

    def __getattr__(self, name: str) -> object:
        value = getattr(self._mirrored, name)
        setattr(self, name, value)
        return value


def _import_with_mirrors() -> None:
    names_of = {}
    for name in _MIRRORED:
        module = import_module(f"PySide6.{name}")
        sys.modules[f"pyqtgraph.Qt.{name}"] = _Mirror(f"pyqtgraph.Qt.{name}", module)
        # What it copies is what dir() lists.
        names = module.__dict__
        names_of[name] = names, names.get("__dir__")
        names["__dir__"] = list
    try:
        import pyqtgraph  # noqa: PLC0415 - what this is about
    finally:
        for names, former in names_of.values():
            if former is None:
                del names["__dir__"]
            else:
                names["__dir__"] = former
    copied = [name for name in _MIRRORED if type(getattr(pyqtgraph.Qt, name)) is not _Mirror]
    if copied:
        message = f"pyqtgraph has copies of its own of {', '.join(copied)}"
        raise ImportError(message)


def _forget_pyqtgraph() -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "pyqtgraph"]:
        with suppress(KeyError):
            del sys.modules[name]
