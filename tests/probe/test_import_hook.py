"""Being told as soon as a module has been imported."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from inspector.probe.bootstrap import import_hook
from inspector.probe.bootstrap.import_hook import import_within, when_imported


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]
    import_hook._finder.waiting.clear()
    if import_hook._finder in sys.meta_path:
        sys.meta_path.remove(import_hook._finder)


def test_that_a_loaded_module_is_told_of_at_once() -> None:
    told: list[ModuleType] = []
    when_imported("json", told.append)
    assert told == [sys.modules["json"]]


def test_that_a_module_is_told_of_once_after_its_own_code(folder: Path) -> None:
    (folder / "engine_a.py").write_text("import engine_b\nready = True")
    (folder / "engine_b.py").write_text("ready = True")
    told: list[str] = []
    for name in ("engine_a", "engine_b"):
        when_imported(name, lambda module: told.append(f"{module.__name__} {module.ready}"))
    importlib.import_module("engine_a")
    importlib.reload(sys.modules["engine_a"])
    assert told == ["engine_b True", "engine_a True"]


def test_that_a_submodule_and_its_package_are_told_of(folder: Path) -> None:
    (folder / "engine").mkdir()
    (folder / "engine" / "__init__.py").write_text("from . import clock")
    (folder / "engine" / "clock.py").write_text("")
    told: list[str] = []
    when_imported("engine.clock", lambda module: told.append(module.__name__))
    when_imported("engine", lambda module: told.append(module.__name__))
    importlib.import_module("engine")
    assert told == ["engine.clock", "engine"]


def test_that_the_loader_stays_the_one_that_gives_source_and_data(folder: Path) -> None:
    (folder / "engine_c.py").write_text("def update(): pass\n")
    when_imported("engine_c", lambda _module: None)
    module = importlib.import_module("engine_c")
    assert type(module.__loader__) is importlib.machinery.SourceFileLoader
    assert inspect.getsource(module) == "def update(): pass\n"
    assert "exec_module" not in vars(module.__loader__)


def test_that_modules_of_an_archive_are_told_of_one_by_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(folder / "engines.zip", "w") as archive:
        archive.writestr("zipped_a.py", "")
        archive.writestr("zipped_b.py", "")
    monkeypatch.syspath_prepend(folder / "engines.zip")
    told: list[str] = []
    when_imported("zipped_b", lambda module: told.append(module.__name__))
    importlib.import_module("zipped_a")
    assert told == []
    importlib.import_module("zipped_b")
    assert told == ["zipped_b"]


def test_that_built_in_modules_keep_their_shared_loader(folder: Path) -> None:
    del folder
    name = next(each for each in sys.builtin_module_names if each not in sys.modules)
    before = dict(vars(importlib.machinery.BuiltinImporter))
    told: list[str] = []
    when_imported(name, lambda module: told.append(module.__name__))
    importlib.import_module(name)
    assert told == [name]
    assert dict(vars(importlib.machinery.BuiltinImporter)) == before


def test_that_a_module_that_fails_is_told_of_when_it_succeeds(folder: Path) -> None:
    (folder / "engine_d.py").write_text("import flag_of_engine_d")
    told: list[str] = []
    when_imported("engine_d", lambda module: told.append(module.__name__))
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("engine_d")
    assert told == []
    (folder / "flag_of_engine_d.py").write_text("")
    importlib.invalidate_caches()
    importlib.import_module("engine_d")
    assert told == ["engine_d"]


def test_that_a_module_is_imported_within_its_context_though_it_was_looked_for_before(
    folder: Path,
) -> None:
    (folder / "hooks_within.py").write_text("is_inside = False")
    (folder / "engine_e.py").write_text("from hooks_within import is_inside")
    hooks: Any = importlib.import_module("hooks_within")

    @contextmanager
    def inside() -> Iterator[None]:
        hooks.is_inside = True
        try:
            yield
        finally:
            hooks.is_inside = False

    import_within("engine_e", inside)
    assert importlib.util.find_spec("engine_e") is not None
    assert not hooks.is_inside
    module = importlib.import_module("engine_e")
    assert module.is_inside
    assert not hooks.is_inside
    assert not {"exec_module", "create_module"} & vars(module.__loader__).keys()


def test_that_a_module_that_is_not_there_is_as_missing_as_ever(folder: Path) -> None:
    del folder
    when_imported("no_such_engine", lambda _module: pytest.fail("it was not imported"))
    assert importlib.util.find_spec("no_such_engine") is None
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_engine'"):
        importlib.import_module("no_such_engine")


def test_that_a_module_whose_import_has_begun_is_told_of_when_another_is_looked_for(
    folder: Path,
) -> None:
    (folder / "slow_engine.py").write_text("import hooks; hooks.begun.set(); hooks.go_on.wait(60)")
    (folder / "hooks.py").write_text(
        "import threading\nbegun, go_on = threading.Event(), threading.Event()"
    )
    (folder / "another.py").write_text("")
    hooks = importlib.import_module("hooks")
    importing = threading.Thread(target=importlib.import_module, args=("slow_engine",))
    importing.start()
    assert hooks.begun.wait(60)
    told: list[str] = []
    when_imported("slow_engine", lambda module: told.append(module.__name__))
    assert told == []
    hooks.go_on.set()
    importing.join()
    importlib.import_module("another")
    assert told == ["slow_engine"]


def test_that_the_hook_is_asked_before_all_other_finders(folder: Path) -> None:
    (folder / "engine_first.py").touch()
    for _ in range(2):
        when_imported("engine_first", lambda _module: None)

    assert sys.meta_path[0] is import_hook._finder
    assert sys.meta_path.count(import_hook._finder) == 1


def test_that_a_module_is_made_and_executed_within_its_context_and_told_of_outside() -> None:
    finder = import_hook._Finder()
    inside: list[int] = []
    seen: list[tuple[str, bool]] = []

    @contextmanager
    def context() -> Iterator[None]:
        inside.append(1)
        yield
        inside.pop()

    class Loader:
        def create_module(self, _spec: object) -> None:
            seen.append(("create", bool(inside)))

        def exec_module(self, _module: ModuleType) -> None:
            seen.append(("execute", bool(inside)))

    loader = Loader()
    spec: Any = SimpleNamespace(loader=loader)
    finder.contexts["engine"] = context
    finder.waiting["engine"] = [lambda _module: seen.append(("told", bool(inside)))]
    finder.follow("engine", spec)
    loader.create_module(spec)
    loader.exec_module(ModuleType("another"))
    loader.exec_module(ModuleType("engine"))

    assert seen == [("create", True), ("execute", True), ("execute", True), ("told", False)]
    assert [len(each) for each in (vars(loader), finder.contexts, finder.waiting)] == [0] * 3
    # What has no loader, or one of an old kind, is not followed.
    for other in (None, SimpleNamespace(loader=None), SimpleNamespace(loader=object())):
        finder.follow("engine", other)  # type: ignore[arg-type]
