"""Which files are the user's, and what of them is shown."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

import inspector
from inspector.resources import resource_path
from inspector.sessions import scene as module
from inspector.sessions.scene import _excerpt, _is_neighbour, _is_user_frame, load_scene

_PACKAGE = Path(inspector.__file__).parent


@pytest.mark.parametrize(
    ("file", "is_users"),
    [
        ("/home/me/game.py", True),
        (str(resource_path("scenes") / "orbit.py"), True),
        (str(_PACKAGE / "clocks" / "clock.py"), False),
        (str(_PACKAGE.parent / "ui" / "window.py"), False),
        ("<frozen importlib._bootstrap>", False),
        ("<string>", True),
    ],
)
def test_that_frames_of_the_inspector_and_of_imports_are_not_the_users(
    file: str, *, is_users: bool
) -> None:
    assert _is_user_frame(file) is is_users


@pytest.mark.parametrize(
    ("file", "paths", "is_beside"),
    [
        ("game/helper.py", None, True),
        ("game/parts/__init__.py", ["game/parts"], True),
        ("game/parts/helper.py", None, False),
        ("helper.py", None, False),
        ("__init__.py", ["game"], False),
        # A folder without a file of its own is a package too.
        (None, ["game/parts"], True),
        (None, ["elsewhere/parts", "game/parts"], True),
        (None, ["game"], False),
        (None, None, False),
    ],
)
def test_that_a_module_beside_a_scene_is_its_neighbour(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str | None,
    paths: list[str] | None,
    *,
    is_beside: bool,
) -> None:
    beside = ModuleType("beside")
    if file is not None:
        beside.__file__ = str(tmp_path / file)
    if paths is not None:
        beside.__path__ = [str(tmp_path / path) for path in paths]
    monkeypatch.setitem(sys.modules, "beside", beside)

    assert _is_neighbour("beside", tmp_path / "game") is is_beside
    assert _is_neighbour("beside.within", tmp_path / "game") is is_beside
    assert not _is_neighbour("not_imported", tmp_path / "game")
    # Whatever it is called, the inspector is none.
    assert not _is_neighbour("inspector.sessions.scene", _PACKAGE.parent)


@pytest.mark.parametrize(
    ("line", "numbers", "shown_line"),
    [
        (1, range(1, 5), "> 1 │ line_1 = 1"),
        (3, range(1, 7), "> 3 │ line_3 = 3"),
        (8, range(5, 12), ">  8 │ line_8 = 8"),
        (12, range(9, 13), "> 12 │ line_12 = 12"),
    ],
)
def test_that_a_line_is_shown_among_its_neighbours(
    tmp_path: Path, line: int, numbers: range, shown_line: str
) -> None:
    path = tmp_path / "game.py"
    path.write_text("".join(f"line_{number} = {number}\n" for number in range(1, 13)))
    shown = _excerpt(path, line).splitlines()

    assert [int(each[1:].partition("│")[0]) for each in shown] == [*numbers]
    (at,) = (each for each in shown if each.startswith(">"))
    assert at == shown_line
    assert all(each.startswith("  ") for each in shown if each != at)
    assert _excerpt(path, None) == ""


def test_that_a_long_line_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "game.py"
    most = module._MOST_SHOWN
    path.write_text(f"{'x' * most}\n{'y' * (most + 1)}\n")
    whole, cut = _excerpt(path, 1).splitlines()

    assert whole.endswith("x")
    assert cut.endswith("y…")
    assert cut.count("y") == most


def test_that_no_bytecode_is_written_while_a_scene_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    told = "import sys, beside\nis_kept = sys.dont_write_bytecode\ndef build(stage): pass\n"
    (tmp_path / "game.py").write_text(told)
    (tmp_path / "beside.py").write_text("")
    loaded = load_scene(tmp_path / "game.py")
    assert loaded.module.is_kept
    assert not sys.dont_write_bytecode
    assert not (tmp_path / "__pycache__").exists()
    loaded.unload()
