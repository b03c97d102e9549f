"""Children that code of a scene forks."""

from __future__ import annotations

import os
import sys
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.sessions import scene_run
from inspector.sessions.hosted import HostedSession
from inspector.testing import scene_file
from inspector.vocabulary import Phase

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


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (None, 0, ""),
        (SystemExit(7), 7, ""),
        (SystemExit(), 0, ""),
        (SystemExit(300), 44, ""),
        (SystemExit(-1), 255, ""),
        (SystemExit("it is full"), 1, "it is full\n"),
        (ValueError("no"), 1, "hook: no\n"),
    ],
)
def test_that_a_child_leaves_as_python_does(
    monkeypatch: pytest.MonkeyPatch, error: BaseException | None, code: int, said: str
) -> None:
    class Left(Exception):  # noqa: N818 - it is no error
        """The process has ended."""

    def leave(code: int) -> None:
        raise Left(code)

    class Closed(StringIO):
        def flush(self) -> None:
            raise ValueError

    class Errors(StringIO):
        flushed = ""

        def flush(self) -> None:
            self.flushed = self.getvalue()

    errors = Errors()
    monkeypatch.setattr(sys, "stdout", Closed())
    monkeypatch.setattr(sys, "stderr", errors)
    hook = lambda kind, value, trace: errors.write(f"hook: {value}\n") if kind else trace  # noqa: E731
    monkeypatch.setattr(sys, "__excepthook__", hook)
    monkeypatch.setattr(scene_run, "os", SimpleNamespace(_exit=leave))
    with pytest.raises(Left) as left:
        scene_run._leave(error)
    assert left.value.args == (code,)
    assert errors.flushed == said


@pytest.mark.parametrize(
    ("name", "is_noted"), [("inspector.sessions.hosted", True), ("inspectors", False)]
)
def test_that_only_code_of_a_scene_forks_children_of_it(
    monkeypatch: pytest.MonkeyPatch, name: str, *, is_noted: bool
) -> None:
    noted: list[bool] = []
    monkeypatch.setattr(scene_run, "_runs", [SimpleNamespace(note_fork=lambda: noted.append(True))])
    # As for a child, nobody of the inspector is below.
    frame = SimpleNamespace(f_globals={"__name__": name}, f_back=None)
    frame = SimpleNamespace(f_globals={}, f_back=frame)
    played = SimpleNamespace(_getframe=lambda: SimpleNamespace(f_back=frame))
    monkeypatch.setattr(scene_run, "sys", played)
    scene_run._note_fork()
    assert noted == [True] * is_noted


@pytest.mark.parametrize("is_owner", [True, False])
def test_that_a_child_calls_nothing_more(*, is_owner: bool) -> None:
    halted: list[bool] = []
    callbacks = {phase: [SimpleNamespace(is_active=True) for _ in range(2)] for phase in Phase}
    run: Any = SimpleNamespace(
        tree=SimpleNamespace(is_owner=lambda: is_owner, halt=lambda: halted.append(True)),
        director=SimpleNamespace(callbacks=callbacks.__getitem__),
        is_forked=False,
    )
    scene_run.SceneRun.note_fork(run)
    assert halted == [True] * is_owner
    assert run.is_forked is is_owner
    assert {each.is_active for found in callbacks.values() for each in found} == {not is_owner}


def test_that_only_a_child_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[object] = []
    monkeypatch.setattr(scene_run, "_leave", left.append)
    for is_forked in (False, True):
        run: Any = SimpleNamespace(is_forked=is_forked)
        scene_run.SceneRun.leave_if_forked(run, None)
    assert left == [None]
