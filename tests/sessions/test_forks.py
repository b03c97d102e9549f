"""Children that code of a scene forks."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.sessions.hosted import HostedSession
from inspector.testing import scene_file

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")

#: What forks is called ``fork``; what is called after that says so.
SCENE = """
    import os
    import sys

    children = []

    def fork(*_):
        if not children:
            print("before", end=" ")
            children.append(os.fork())
            if not children[0]:
                print("child")
                {leaves}

    def after(*_):
        if children and not children[0]:
            print("went on", flush=True)

    def build(stage):
        {build}
"""

WAYS = {
    "a timer": "stage.root.set_timeout(0.05, fork); stage.root.set_interval(0.05, after)",
    "a phase": 'on = stage.director.on; on("start", fork); on("start", after); on("draw", after)',
    "build": "fork(); stage.root.set_interval(0.05, after)",
}


def exit_of_child(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], *, build: str, leaves: str = "pass"
) -> tuple[int, str, str]:
    """Run some frames; returns how the child ended and what both have written."""
    path = scene_file(tmp_path, SCENE.format(build=build, leaves=leaves))
    parent = os.getpid()
    session = HostedSession(path, VirtualTimeSource())
    for _ in range(10):
        session.pass_to(session.session_ns + 20_000_000)
        session.refresh()
    if os.getpid() != parent:
        os._exit(99)
    module = next(m for n, m in sys.modules.items() if getattr(m, "__file__", "") == str(path))
    _, status = os.waitpid(module.children[0], 0)
    session.close()
    assert session.frames_run == 10
    return os.waitstatus_to_exitcode(status), *capfd.readouterr()


@pytest.mark.parametrize("way", WAYS)
def test_that_a_child_ends_when_it_leaves_the_code_that_forked_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], way: str
) -> None:
    code, out, err = exit_of_child(tmp_path, capfd, build=WAYS[way])

    assert (code, err) == (0, "")
    assert sorted(out.split()) == ["before", "child"]


@pytest.mark.parametrize(
    ("leaves", "expected", "said"),
    [
        ("sys.exit(7)", 7, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit('no')", 1, "no\n"),
        ("1 / 0", 1, "ZeroDivisionError: division by zero\n"),
        ("os._exit(5)", 5, ""),
    ],
)
@pytest.mark.parametrize("way", ["a timer", "build"])
def test_that_a_child_ends_with_the_code_of_what_it_raises(  # noqa: PLR0913, PLR0917
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    way: str,
    leaves: str,
    expected: int,
    said: str,
) -> None:
    code, _, err = exit_of_child(tmp_path, capfd, build=WAYS[way], leaves=leaves)

    assert code == expected
    assert err.endswith(said)
    assert bool(err) is bool(said)


def test_that_children_of_who_uses_a_session_go_on_with_it(tmp_path: Path) -> None:
    path = scene_file(tmp_path, "def build(stage): pass")
    session = HostedSession(path, VirtualTimeSource())
    if not (child := os.fork()):
        session.pass_to(20_000_000)
        os._exit(session.frames_run)

    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 1
    session.close()
