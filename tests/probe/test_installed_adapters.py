"""Adapters that packages in the program's environment add."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from inspector.probe.adapters import installed_entries
from inspector.probe.program import Program
from tests.extension_packages import install

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Add = Callable[..., Program]

_ADAPTER = """
    from inspector.probe.adapters import Adapter

    class Chimes(Adapter):
        library = "chimes"

        def installed(self, module):
            self.program.clock(module.__name__, adapter=self)
"""


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Add:
    """Install an adapter for the module ``chimes``, and return the program that has found it."""

    def add(source: str = _ADAPTER, target: str = "chimes_timeline:Chimes") -> Program:
        install(
            tmp_path,
            "chimes-timeline",
            {"chimes_timeline.py": source},
            {"adapters": {"chimes": target}},
        )
        monkeypatch.setattr(sys, "path", [str(tmp_path)])
        monkeypatch.delitem(sys.modules, "chimes_timeline", raising=False)
        program = Program("played")
        # Not watch_imports, whose hooks would stay in this process.
        (entry,) = installed_entries()
        assert entry.modules == ("chimes",)
        program._install(entry, ModuleType("chimes"))
        return program

    return add


def test_that_an_adapter_of_a_package_is_found_and_installed(add: Add) -> None:
    program = add()

    adapter = program.adapters["chimes_timeline:Chimes"]
    assert (adapter.state, adapter.library) == ("active", "chimes")
    assert "chimes" in [clock.name for clock in program.clocks.by_number.values()]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import nothing_of_this_name", "No module named 'nothing_of_this_name'"),
        ("Chimes = dict.fromkeys", "TypeError"),
        ("Chimes = repr", "chimes_timeline:Chimes does not make an adapter"),
        ("", "has no attribute 'Chimes'"),
    ],
)
def test_that_one_that_does_not_work_is_named_and_harms_nothing(
    add: Add, source: str, message: str
) -> None:
    adapter = add(source).adapters["chimes_timeline:Chimes"]

    assert adapter.state == "failed"
    assert message in adapter.message


def test_that_entry_points_of_other_groups_and_damaged_files_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "other", {}, {"panels": {"chimes": "other:PANEL"}})
    install(tmp_path, "unfinished", {}, {"adapters": {"chimes": "unfinished"}})
    broken = tmp_path / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "entry_points.txt").write_bytes(b"\xff\xfe[timeline_inspector.adapters\n=\n")
    install(tmp_path, "comments", {}, {"adapters": {"# chimes": "a:B", "; chimes": "a:B", "[": ""}})
    (early := tmp_path / "early-1.0.dist-info").mkdir()
    (early / "entry_points.txt").write_text("chimes = a:B\n[timeline_inspector.adapters]\na:B\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "gone"), str(tmp_path)])

    assert installed_entries() == []
