"""Calls something as soon as a module has been imported."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    OnImport = Callable[[ModuleType], object]
    Context = Callable[[], AbstractContextManager[None]]


def when_imported(name: str, callback: OnImport) -> None:
    """Call ``callback`` with the module of that name: now if it is loaded, else once it is.

    It is called on the importing thread after the module's own code, and must not raise.
    """
    module = sys.modules.get(name)
    if module is not None and not _is_loading(module):
        callback(module)
        return
    _finder.waiting.setdefault(name, []).append(callback)
    if module is not None:
        _finder.begun.add(name)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def import_within(name: str, context: Context) -> None:
    """Have the module of that name imported within a context, unless it is loaded.

    The context is entered for each step of the module's loader.
    """
    if name not in sys.modules:
        _finder.contexts[name] = context
        when_imported(name, lambda _module: None)


def _is_loading(module: ModuleType) -> bool:
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


class _Finder:
    """Finds nothing itself: lets the others find, and follows what they load."""

    def __init__(self) -> None:
        self.waiting: dict[str, list[OnImport]] = {}  # What to call, by the name of the module
        # The modules among them whose import had begun before they were waited for
        self.begun: set[str] = set()
        self.contexts: dict[str, Context] = {}  # What to import within, by the name of the module

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        for each in tuple(self.begun):
            module = sys.modules.get(each)
            if module is None or not _is_loading(module):
                self.begun.discard(each)
                if module is not None:
                    self.loaded(each, module)
        if name not in self.waiting:
            return None
        for other in sys.meta_path:
            find = None if other is self else getattr(other, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find else None
            if spec is not None:
                self.follow(name, spec)
                return spec
        return None

    def follow(self, name: str, spec: ModuleSpec | None) -> None:
        """Have :meth:`loaded` called when the module's loader is done.

        The loader itself is kept, because programs ask it for sources and data.
        """
        loader = None if spec is None else spec.loader
        execute = getattr(loader, "exec_module", None)
        if loader is None or spec is None or execute is None:
            return

        context = self.contexts.get(name)
        if context is not None:
            execute = _within(context, execute)

        def exec_module(module: ModuleType) -> None:
            execute(module)
            # A loader may be shared, as that of an archive.
            if module.__name__ == name:
                if getattr(loader, "__dict__", {}).get("exec_module") is exec_module:
                    del loader.exec_module
                    vars(loader).pop("create_module", None)
                self.loaded(name, module)

        # The loaders of built-in and frozen modules are classes, which all of them share.
        if isinstance(loader, type) or not hasattr(loader, "__dict__"):
            spec.loader = _Following(loader, exec_module)  # type: ignore[assignment]
        else:
            loader.exec_module = exec_module  # type: ignore[method-assign]
            if context is not None:
                # Code in C may run there already.
                loader.create_module = _within(context, loader.create_module)  # type: ignore[method-assign]

    def loaded(self, name: str, module: ModuleType) -> None:
        self.contexts.pop(name, None)
        for callback in self.waiting.pop(name, ()):
            callback(sys.modules.get(name, module))


def _within(context: Context, call: Callable[..., Any]) -> Callable[..., Any]:
    def calling(*args: Any) -> Any:
        with context():
            return call(*args)

    return calling


class _Following:
    """A loader that cannot be written to, with another ``exec_module``."""

    def __init__(self, loader: object, exec_module: OnImport) -> None:
        self._loader = loader
        self.exec_module = exec_module

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)


_finder = _Finder()
