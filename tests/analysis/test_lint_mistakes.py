"""Findings about timers that never fire, wrong units, names alike and lambdas that bind late."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.analysis.lint.findings import DEADLOCK, LATE_BOUND, MILLISECONDS, SAME_NAME, Finding
from inspector.analysis.lint.rules import findings
from inspector.testing import pass_seconds, scene_file, virtual_session


def lint(folder: Path, body: str, seconds: float = 10) -> list[Finding]:
    """Run the body of a scene and return what looks wrong with it."""
    source = "def build(stage):\n" + "\n".join(f"    {line}" for line in body.strip().split("\n"))
    session = virtual_session(scene_file(folder, source))
    pass_seconds(session, seconds)
    found = findings(session.history)
    session.close()
    return found


MENU = """
game = stage.root.child("game")
def menu():
    game.set_timeout(2, {resume}, name="{name}")
    game.pause()
game.set_timeout(3, menu)
"""


def test_that_a_clock_that_only_its_own_timer_would_resume_is_a_deadlock(tmp_path: Path) -> None:
    (found,) = lint(tmp_path, MENU.format(resume="game.resume", name=""))

    assert found.kind is DEADLOCK
    assert found.text == (
        "“Clock.resume”, set at scene.py:4 in build.<locals>.menu, waits for the time of “game”, "
        "which the scene paused at 0:03.000, so it cannot resume it. Set it on a clock that runs, "
        "such as “root”."
    )


def test_that_it_is_one_beside_other_timers_once_it_has_lasted(tmp_path: Path) -> None:
    body = MENU.format(resume="game.resume", name="")
    body += "stage.root.set_interval(1, lambda: None)\n"
    assert not lint(tmp_path, body)
    assert [each.kind for each in lint(tmp_path, body, 40)] == [DEADLOCK]


def test_that_it_is_one_whatever_the_timer_is_called(tmp_path: Path) -> None:
    (found,) = lint(tmp_path, MENU.format(resume="lambda: game.resume()", name="go"))

    assert found.text == (
        "“go” waits for the time of “game”, which the scene paused at 0:03.000, and nothing else "
        "is called that could resume it. Set what resumes it on a clock that runs, such as “root”."
    )


@pytest.mark.parametrize(
    "more", ["stage.root.set_timeout(60, game.resume)", "stage.every_frame(lambda delta: None)"]
)
def test_that_what_something_else_may_resume_is_no_deadlock(tmp_path: Path, more: str) -> None:
    body = MENU.format(resume="lambda: None", name="go") + more
    assert not lint(tmp_path, body)


def test_that_siblings_of_one_name_are_found(tmp_path: Path) -> None:
    (found,) = lint(
        tmp_path,
        """
for _ in range(2):
    enemies = stage.root.child("enemies")
    enemies.child("boss")
""",
        1,
    )

    assert found.kind is SAME_NAME
    assert found.text.startswith("2 clocks below “root” are named “enemies”: commands,")


def test_that_milliseconds_given_as_seconds_are_found(tmp_path: Path) -> None:
    found = lint(
        tmp_path,
        """
stage.root.set_interval(500, lambda: None, name="blink")
stage.root.set_timeout(1550, lambda: None, name="later")
stage.root.set_timeout(600, lambda: None, name="ten minutes")
stage.root.set_interval(99, lambda: None, name="short")
stage.root.set_interval(123, lambda: None, name="odd")
""",
    )

    assert [each.kind for each in found] == [MILLISECONDS] * 2
    assert found[0].text == (
        "“blink”, set at scene.py:2 in build, repeats every 8:20.000 and has not been called yet: "
        "times are in seconds. If 500 milliseconds are meant, write set_interval(0.5, …)."
    )
    assert "write set_timeout(1.55, …)" in found[1].text


def test_that_lambdas_that_share_the_variable_of_a_loop_are_found(tmp_path: Path) -> None:
    (found,) = lint(
        tmp_path,
        """
for enemy in ["orc", "elf", "imp"]:
    shout = enemy.upper()
    stage.root.set_timeout(
        1, lambda: (shout, enemy))
""",
    )

    assert found.kind is LATE_BOUND
    assert found.text.startswith(
        "3 timers set in a loop at scene.py:4 in build share the variables “shout” and “enemy”: "
    )


@pytest.mark.parametrize(
    "body",
    [
        "for n in range(3): stage.root.set_timeout(1, lambda n=n: n)",
        "for n in range(3): stage.root.set_timeout(1, lambda n: n, n)",
        "for n in range(3): stage.root.set_timeout(1 + n, lambda: stage)",
        "def spawn(n): stage.root.set_timeout(1, lambda: n)\nfor n in range(3): spawn(n)",
        "for n in [1]: stage.root.set_timeout(1, lambda: n)",
    ],
)
def test_that_lambdas_that_have_their_own_value_are_sound(tmp_path: Path, body: str) -> None:
    assert not lint(tmp_path, body)
