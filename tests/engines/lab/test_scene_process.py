"""A scene of the refresh-rate lab in a separate process."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import TypeVar

import pytest

from inspector.engines.lab.display import Display, steady_display
from inspector.engines.lab.scene import SceneLabRun, run_scene_lab
from inspector.engines.lab.scene_process import begin_scene_process
from inspector.errors import InspectorError
from inspector.testing import held_session

SECOND = 1_000_000_000
YieldT = TypeVar("YieldT")
ReturnT = TypeVar("ReturnT")

SCENE = """
import os
import sys

def build(stage):
    stage.name("blinker")
    print("built")
    os.write(1, b"and written")
    stage.root.set_interval(0.1, lambda: None, name="blink")
"""


@pytest.fixture
def displays() -> tuple[Display, ...]:
    return (steady_display(60, SECOND), steady_display(144, SECOND))


def written(folder: Path, text: str) -> Path:
    path = folder / "scene.py"
    path.write_text(text, encoding="utf-8")
    return path


def all_of(steps: Generator[YieldT, None, ReturnT]) -> tuple[list[YieldT], ReturnT]:
    told = []
    while True:
        try:
            told.append(next(steps))
        except StopIteration as end:
            returned: ReturnT = end.value
            return told, returned


def test_that_it_brings_what_a_run_in_here_brings(
    tmp_path: Path, displays: tuple[Display, ...]
) -> None:
    path = written(tmp_path, SCENE)

    told, run = all_of(begin_scene_process(path, displays))

    assert run == run_scene_lab(path, displays)
    assert run.title == "blinker"
    shares = [share for share in told if share is not None]
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = 1\n", "scene.py has no function build(stage)"),
        (
            "import os\n\ndef build(stage):\n    os._exit(7)\n",
            "scene.py ended the process it ran in (exit code 7).",
        ),
    ],
)
def test_that_what_goes_wrong_is_a_sentence(
    text: str, problem: str, tmp_path: Path, displays: tuple[Display, ...]
) -> None:
    with pytest.raises(InspectorError) as caught:
        all_of(begin_scene_process(written(tmp_path, text), displays))

    assert str(caught.value).startswith(problem)


def test_that_a_scene_that_never_ends_can_be_left(
    tmp_path: Path, displays: tuple[Display, ...]
) -> None:
    path = written(tmp_path, "while True:\n    pass\n")
    steps: Generator[float | None, None, SceneLabRun] = begin_scene_process(path, displays)

    assert [next(steps) for _ in range(50)] == [None] * 50
    steps.close()

    with pytest.raises(StopIteration):
        next(steps)


BESIDE = """
import hidden_counter

def build(stage):
    hidden_counter.loads.append("built")

    def later():
        import hidden_later
        hidden_later.calls.append(None)

    stage.root.set_interval(0.1, later, name="tick")
"""


def test_that_the_modules_beside_a_scene_are_not_shared_with_the_scene_that_lives(
    tmp_path: Path, displays: tuple[Display, ...]
) -> None:
    (tmp_path / "hidden_counter.py").write_text("loads = []\n", encoding="utf-8")
    (tmp_path / "hidden_later.py").write_text("calls = []\n", encoding="utf-8")
    path = written(tmp_path, BESIDE)
    living = held_session(path)

    _told, run = all_of(begin_scene_process(path, displays))

    assert run.results[0].count == 10
    assert sys.modules["hidden_counter"].loads == ["built"]
    assert "hidden_later" not in sys.modules
    living.close()


def test_that_a_scene_beside_an_inspector_of_its_own_is_run(
    tmp_path: Path, displays: tuple[Display, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("inspector.py", "pickle.py"):
        (tmp_path / name).write_text("raise SystemExit('not this one')\n", encoding="utf-8")
    path = written(tmp_path, "from inspector.clocks import Clock\n" + SCENE)
    # As while a scene of that folder is loaded here.
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)

    _, run = all_of(begin_scene_process(path, displays))

    assert run.title == "blinker"
