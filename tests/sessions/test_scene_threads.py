"""Threads that a scene starts, and what ends them."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.commands.recording import StartRecording
from inspector.commands.scene import StepBack
from inspector.commands.transport import Run
from inspector.events.recording import open_recording
from inspector.sessions import scene_threads
from inspector.sessions.hosted import HostedSession
from inspector.sessions.replay.rerun import rerun
from inspector.sessions.runs.virtual import run_virtual
from inspector.sessions.scene_threads import SceneThreads
from inspector.testing import held_session, scene_file
from inspector.vocabulary import THREAD_FAILED

#: A timer starts a thread, and waits for its end.
WORKER = """
    import threading

    def work():
        {what}

    def start():
        thread = threading.Thread(target={target}, name="worker")
        thread.start()
        thread.join()

    def build(stage):
        stage.root.set_timeout(0.05, start)
"""


def worker(folder: Path, what: str = "raise ValueError('no oil')", target: str = "work") -> Path:
    return scene_file(folder, WORKER.format(what=what, target=target))


def run_for(path: Path, frames: int = 6) -> HostedSession:
    session = HostedSession(path, VirtualTimeSource())
    run_virtual(session, frames=frames)
    return session


def test_that_threads_are_refused_clocks_while_the_scene_is_built_too(tmp_path: Path) -> None:
    path = scene_file(
        tmp_path,
        """
        import threading

        def build(stage):
            thread = threading.Thread(target=lambda: stage.root.child("enemies"))
            thread.start()
            thread.join()
        """,
    )

    session = run_for(path)

    (failure,) = session.timeline.failures
    assert "RuntimeError: a clock belongs to the thread that drives its tree" in failure.traceback
    assert len(session.timeline.clocks) == 1
    session.close()


def test_that_an_error_that_ends_a_thread_is_a_failure(tmp_path: Path) -> None:
    session = run_for(worker(tmp_path))

    (failure,) = session.timeline.failures
    assert failure.label == "worker"
    assert failure.at_ns == 50_000_000
    assert failure.traceback.endswith("ValueError: no oil")
    assert "raise ValueError('no oil')" in failure.traceback
    session.close()


def test_that_a_thread_that_fails_while_the_scene_is_held_is_told(tmp_path: Path) -> None:
    text = """
        import threading

        def work():
            raise ValueError("no oil")

        def build(stage):
            stage.start = threading.Thread(target=work, name="worker").start
            stage.root.set_timeout(1, stage.start)
    """
    session = held_session(scene_file(tmp_path, text))
    stage = session._run.stage
    stage.start()  # type: ignore[attr-defined]
    for thread in threading.enumerate():
        if thread.name == "worker":
            thread.join()
    session.refresh()

    assert [each.label for each in session.timeline.failures] == ["worker"]
    session.close()


def test_that_a_thread_that_exits_has_not_failed(tmp_path: Path) -> None:
    session = run_for(worker(tmp_path, "raise SystemExit(3)"))

    assert not session.timeline.failures
    session.close()


def test_that_a_thread_that_is_in_no_code_of_a_scene_is_not_its_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: reported.append(str(args.exc_value)))
    session = run_for(worker(tmp_path, "pass"))

    thread = threading.Thread(target=[].pop)
    thread.start()
    thread.join()
    session.refresh()

    assert reported == ["pop from empty list"]
    assert not session.timeline.failures
    session.close()


def test_that_a_thread_of_a_module_beside_the_scene_fails_in_it(tmp_path: Path) -> None:
    (tmp_path / "helping.py").write_text("def work():\n    raise OSError('gone')\n")
    path = worker(tmp_path, "pass", target="__import__('helping').work")

    session = run_for(path)

    assert [failure.label for failure in session.timeline.failures] == ["worker"]
    session.close()


def test_that_a_failed_thread_is_no_difference_when_the_scene_is_run_again(tmp_path: Path) -> None:
    flag = tmp_path / "failed before"
    what = f"__import__('os').mkdir({str(flag)!r}); raise ValueError('no oil')"
    path, recorded = worker(tmp_path, what), tmp_path / "a.tlrec"
    session = HostedSession(path, VirtualTimeSource())
    session.submit(StartRecording(str(recorded)))
    run_virtual(session, frames=6)
    session.close()

    past = open_recording(recorded)
    flag.rmdir()
    again = rerun(past, path)
    # A thread that ends differently, as threads may.
    other = rerun(past, path)

    events = past.events(0, past.end)
    failed = [past.strings[event[3]] for event in events if event[1] == THREAD_FAILED]
    assert failed == ["worker"]
    assert again.difference is None
    assert other.difference is None
    past.close()


def test_that_a_failure_belongs_to_the_run_in_which_it_came(tmp_path: Path) -> None:
    session = run_for(worker(tmp_path))
    session.submit(StepBack(1))
    session.refresh()
    session.submit(Run())
    session.refresh()

    kinds = [event[1] for event in session.log.read(0).events]
    assert kinds.count(THREAD_FAILED) == 1
    session.close()


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return what the hook of before is given, while no scene follows."""
    given: list[object] = []
    monkeypatch.setattr(threading, "excepthook", given.append)
    monkeypatch.setattr(scene_threads, "_followed", [])
    return given


def test_that_errors_are_taken_while_scenes_follow_and_left_to_others_after_that(
    tmp_path: Path, reported: list[object]
) -> None:
    before = threading.excepthook
    one, two = (SceneThreads(tmp_path / name) for name in ("a.py", "b.py"))

    one.follow()
    hook = threading.excepthook
    two.follow()
    assert threading.excepthook is hook is not before
    one.leave()
    assert threading.excepthook is hook
    two.leave()
    two.leave()
    assert threading.excepthook is before

    # A hook that somebody has set since stays.
    one.follow()
    threading.excepthook = reported.append
    one.leave()
    assert threading.excepthook == reported.append


def test_that_an_error_belongs_to_the_run_whose_module_it_came_through(
    tmp_path: Path, reported: list[object]
) -> None:
    path = tmp_path / "game.py"
    runs = [SceneThreads(path), SceneThreads(path), SceneThreads(path)]
    for number, each in enumerate(runs):
        each.module_name = f"scene {number}"
        each.follow()

    def fail(name: str, raised: BaseException, file: Path = path) -> None:
        try:
            exec(compile("raise it", str(file), "exec"), {"__name__": name, "it": raised})  # noqa: S102
        except BaseException as error:  # noqa: BLE001 - as Python does at the end of a thread
            args: Any = SimpleNamespace(exc_value=error, thread=None)
            threading.excepthook(args)

    fail("scene 1", ValueError("first"))
    fail("beside", ValueError("last"))
    fail("scene 0", SystemExit(3))
    fail("scene 0", ValueError("elsewhere"), tmp_path.parent / "other.py")
    nothing: Any = SimpleNamespace(exc_value=None, thread=None)
    threading.excepthook(nothing)

    assert [[name for name, _ in each.failures] for each in runs] == [
        [],
        ["a thread"],
        ["a thread"],
    ]
    assert "ValueError: first" in runs[1].failures[0][1]
    assert "ValueError: last" in runs[2].failures[0][1]
    assert len(reported) == 2
    for each in runs:
        each.leave()
