"""Which files are the user's, and what of them is shown."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import inspector
from inspector.clocks.failures import UserInterruptError
from inspector.errors import SceneError, UnreadableFileError
from inspector.resources import resource_path
from inspector.sessions import scene as module
from inspector.sessions.scene import (
    SceneFile,
    SceneProblem,
    _excerpt,
    _is_neighbour,
    _is_user_frame,
    _problem,
    built_in_scene,
    built_in_scenes,
    find_scene,
    load_scene,
    user_place,
    user_traceback,
)

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


def test_that_a_scene_of_more_than_64_mb_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def read_whole(*of: object) -> bytes:
        asked.append(of)
        raise UnreadableFileError("it is too large")

    monkeypatch.setattr(module, "read_whole", read_whole)
    with pytest.raises(SceneError, match="it is too large"):
        load_scene(tmp_path / "game.py")
    assert asked == [(tmp_path / "game.py", 67_108_864, "a scene")]


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


def test_that_a_problem_has_its_place_its_lines_and_its_traceback() -> None:
    path = Path("game.py")

    assert SceneProblem("no", path).detail == ""
    whole = SceneProblem("no", path, line=3, excerpt="> 3", traceback_text="Traceback")
    assert (str(whole), whole.detail) == ("no", "game.py, line 3\n\n> 3\n\nTraceback")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            UserInterruptError("interrupted"),
            (
                "it was interrupted; a scene sets things up and returns, and what is to happen "
                "again and again is a callback of stage.every_frame. If it is a program, not a "
                "scene: “timeline-inspector attach python3 game.py”."
            ),
        ),
        (
            SystemExit(3),
            (
                "it called exit (3); a scene sets things up and returns. If it is a program, not a "
                "scene: “timeline-inspector attach python3 game.py”."
            ),
        ),
        (ValueError("why?"), "ValueError: why?"),
        (ValueError("no."), "ValueError: no."),
        # Nothing of that name is beside the scene.
        (ImportError("gone", name="inspector.gone"), "ImportError: gone."),
        (AttributeError("gone", name="x", obj=inspector), "AttributeError: gone."),
    ],
)
def test_that_a_failure_of_a_scene_is_a_sentence(error: BaseException, told: str) -> None:
    path = Path("nowhere/game.py")
    problem = _problem(path, "import", error)

    assert str(problem) == f"game.py could not be imported: {told}"
    assert (problem.line, problem.excerpt, problem.path) == (None, "", path)
    in_build = str(_problem(path, "build", error))
    assert in_build.startswith("game.py failed in build(stage): ")
    assert "If it is a program" not in in_build


def test_that_causes_of_an_error_are_shown_without_the_inspectors_own_lines(
    tmp_path: Path,
) -> None:
    path = tmp_path / "game.py"
    path.write_text("# as it was before\n" * 20)
    linecache.getlines(str(path))
    path.write_text(
        "def first(): raise KeyError('first')\n"
        "def second(call):\n"
        "    try: call(first)\n"
        "    except KeyError as error: raise ValueError('second') from error\n"
        "def third(call):\n"
        "    try: second(call)\n"
        "    except ValueError: raise TypeError('third')\n"
        "def build(stage): pass\n"
    )
    scene = load_scene(path)
    code = compile("def call(it): it()", str(_PACKAGE / "clocks" / "clock.py"), "exec")
    engine: dict[str, Any] = {}
    exec(code, engine)  # noqa: S102 - a stand-in for the engine
    try:
        scene.module.third(engine["call"])
    except TypeError as error:
        text = user_traceback(error)
        place = user_place(text)
    finally:
        scene.unload()

    places = [text.index(f"\n{name}: ") for name in ("KeyError", "ValueError", "TypeError")]
    assert places == sorted(places)
    assert "clock.py" not in text
    assert text.count("game.py") == 5
    assert "    except ValueError: raise TypeError('third')\n" in text
    assert "as it was before" not in text
    assert place == "game.py, line 7"
    assert user_place("nothing") == ""


def test_that_built_in_scenes_are_told_from_files_beside_them_and_elsewhere(
    tmp_path: Path,
) -> None:
    (elsewhere := tmp_path / "game.py").write_text("")
    (first, *_) = built_in_scenes()

    assert built_in_scene(first.path) == first
    assert first.picture_path == first.path.parent / "pictures" / f"{first.path.stem}.png"
    for other in (first.picture_path, first.path.with_suffix(".txt"), elsewhere):
        assert built_in_scene(other) is None
    assert built_in_scene(first.path.with_name("none.py")) is None
    assert SceneFile(elsewhere, "Game", "").tries == ()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "The name of the scene is empty."),
        ("   ", "The name of the scene is empty."),
        (".", "is a folder. Name the scene file in it."),
        ("zzz", "no built-in scene “zzz”. “timeline-inspector scenes” lists them."),
        ("smallgame", "no built-in scene “smallgame”. Did you mean small_game?"),
    ],
)
def test_that_a_name_without_a_scene_is_answered_with_what_to_name(name: str, told: str) -> None:
    with pytest.raises(SceneError) as error:
        find_scene(name)
    assert told in str(error.value)


def test_that_a_scene_that_ends_at_ctrl_c_or_empties_the_path_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path := tmp_path / "game.py").write_text("raise KeyboardInterrupt\n")
    known = set(sys.modules)
    with pytest.raises(KeyboardInterrupt):
        load_scene(path)
    assert set(sys.modules) == known

    monkeypatch.setattr(sys, "path", before := [*sys.path])
    path.write_text(
        f"import sys\nsys.path.append({str(tmp_path / 'more')!r})\ndef build(stage): pass\n"
    )
    scene = load_scene(path)
    scene.keep_neighbours()
    added = {str(tmp_path), str(tmp_path / "more")}
    assert set(sys.path) - set(before) <= added
    sys.path[:] = [each for each in sys.path if each not in added]
    scene.unload()
    scene.unload()
    assert not added & {*sys.path}


def test_that_a_scene_that_is_set_aside_comes_back_with_what_it_has_imported(
    tmp_path: Path,
) -> None:
    (tmp_path / "game.py").write_text("import beside_game\ndef build(stage): pass\n")
    (tmp_path / "beside_game.py").write_text("")
    scene = load_scene(tmp_path / "game.py")
    scene.keep_neighbours()
    own = {scene.module.__name__: scene.module, "beside_game": sys.modules["beside_game"]}

    aside = scene.set_aside()

    assert aside == own
    assert not own.keys() & sys.modules.keys()
    assert str(tmp_path) not in sys.path
    scene.put_back(aside)
    assert {name: sys.modules[name] for name in own} == own
    assert sys.path[-1] == str(tmp_path)
    scene.unload()
    assert not own.keys() & sys.modules.keys()
    assert str(tmp_path) not in sys.path
