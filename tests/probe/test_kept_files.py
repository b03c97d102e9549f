"""The probe's own files, kept where their folder may be removed."""

from __future__ import annotations

import shutil
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

import pytest

from inspector.probe.bootstrap.timeline_probe_start import _KeptFiles


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "probe"
    (found / "inner").mkdir(parents=True)
    for name in ("__init__", "wire", "inner/__init__", "inner/part"):
        (found / f"{name}.py").write_text(f"NAME = {name!r}\n")
    (found / "inner" / "data.txt").write_text("no module")
    return found


@pytest.mark.parametrize(
    ("module", "name"),
    [("wire", "wire"), ("inner", "inner/__init__"), ("inner.part", "inner/part")],
)
def test_that_modules_come_from_files_that_are_gone(folder: Path, module: str, name: str) -> None:
    finder = _KeptFiles(str(folder))
    shutil.rmtree(folder)
    spec: Any = finder.find_spec(f"timeline_probe.{module}")
    loaded = module_from_spec(spec)
    spec.loader.exec_module(loaded)

    assert vars(loaded)["NAME"] == name
    assert spec.origin == str(folder / f"{name}.py")
    # Only a package has a folder of modules.
    is_package = name.endswith("__init__")
    assert spec.submodule_search_locations == ([str(folder / "inner")] if is_package else None)


@pytest.mark.parametrize("name", ["timeline_probe", "timeline_probe.none", "wire", "os"])
def test_that_other_modules_are_looked_for_elsewhere(folder: Path, name: str) -> None:
    assert _KeptFiles(str(folder)).find_spec(name) is None
