"""The systems of other engines can be imported by the names that they had among ours."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

MOVED = [
    "browser_timers",
    "cocos.dialects",
    "cocos.scheduler",
    "creator.components",
    "creator.director",
    "creator.nodes",
    "creator.versions",
    "egret.repairs",
    "egret.ticker",
    "egret.timer",
    "open_flash",
]


@pytest.fixture
def _first_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*sys.modules]:
        if name.startswith(tuple(f"inspector.frames.{each.split('.')[0]}" for each in MOVED)):
            monkeypatch.delitem(sys.modules, name)


@pytest.mark.usefixtures("_first_time")
@pytest.mark.parametrize("name", MOVED)
def test_that_a_moved_module_is_the_same_by_its_former_name(name: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"has moved to inspector.engines.{name[:5]}"):
        module = import_module(f"inspector.frames.{name}")

    assert module is import_module(f"inspector.engines.{name}")
    spec = module.__spec__
    assert spec is not None
    assert spec.name == module.__name__ == f"inspector.engines.{name}"


@pytest.mark.usefixtures("_first_time")
def test_that_the_move_is_told_once_for_a_package_and_where_it_is_imported() -> None:
    with pytest.warns(DeprecationWarning, match="has moved") as told:
        exec(  # noqa: S102
            "from inspector.frames.cocos.dialects import CREATOR_2_4\n"
            "from inspector.frames.cocos.scheduler import DialectScheduler\n",
            {"__name__": "scene"},
        )

    assert [(each.filename, each.lineno) for each in told] == [("<string>", 1)]


@pytest.mark.usefixtures("_first_time")
@pytest.mark.filterwarnings("ignore:.*has moved")
def test_that_a_module_that_never_was_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"inspector\.engines\.cocos\.none"):
        import_module("inspector.frames.cocos.none")
