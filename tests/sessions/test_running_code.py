"""Where code of the user's is, by the frames of a thread; and a watch that notices a long stay."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from queue import Queue
from time import monotonic, sleep
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any

import pytest

from inspector.cli import main as cli
from inspector.clocks import ManualTimeSource
from inspector.clocks.failures import UserInterruptError
from inspector.commands.timers import FireTimer
from inspector.commands.transport import StepBy
from inspector.sessions.runs import running_code as running_code_module
from inspector.sessions.runs.running_code import EntryWatch, RunningCode, running_code
from inspector.testing import held_session, scene_file
from inspector.timebase import NS_PER_SECOND

SCENE = """\
import functools
import hook

hook.look()

def build(stage):
    hook.look()
    stage.root.set_timeout(1, alone, name="boss")
    stage.root.set_timeout(2, through_library)
    stage.root.set_timeout(3, in_engine, stage)

def alone():
    inner()

def inner():
    hook.look()

def through_library():
    functools.reduce(lambda one, other: hook.look(), "ab")

def in_engine(stage):
    hook.set_profile()
    stage.root.set_timeout(1, alone)
    hook.clear_profile()
"""


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[RunningCode]:
    """Return what was running each time the scene has looked, in one run of it."""
    found: list[RunningCode] = []

    def look(frame: FrameType) -> None:
        code = running_code(frame)
        assert code is not None
        found.append(code)

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_name == "set_timeout_ns":
            look(frame)

    hook = ModuleType("hook")
    hook.look = lambda: look(sys._getframe(1))  # type: ignore[attr-defined]
    hook.set_profile = lambda: sys.setprofile(profile)  # type: ignore[attr-defined]
    hook.clear_profile = lambda: sys.setprofile(None)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hook", hook)
    source = ManualTimeSource()
    session = held_session(scene_file(tmp_path, SCENE), source)
    assert session.problem is None, session.problem.detail
    for _ in range(3):
        session.submit(StepBy(NS_PER_SECOND))
    assert not session.timeline.failures
    session.close()
    return found


def test_that_the_function_that_the_engine_called_and_the_line_that_runs_are_told(
    seen: list[RunningCode],
) -> None:
    module, build, alone, in_library, in_engine = seen

    assert module.text(4.2) == "scene.py has been running its own code for 4 s, at line 4."
    assert build.text(4.2) == "build(stage) in scene.py has been running for 4 s, at line 7."
    assert alone.text(4.2) == "“boss” in scene.py has been running for 4 s, at line 16."
    assert in_library.text(4.2) == (
        "“through_library” in scene.py has been running for 4 s, at line 19."
    )
    assert in_engine.text(4.2) == "“in_engine” in scene.py has been running for 4 s, at line 23."


LIBRARY_SCENE = """\
from functools import partial
from signal import SIGUSR2, raise_signal
from threading import Thread

def build(stage):
    root = stage.root
    root.set_timeout(1, raise_signal, SIGUSR2, name="nap")
    root.set_timeout(1, partial(raise_signal, SIGUSR2))
    root.set_interval(1, Thread(target=raise_signal, args=(SIGUSR2,)).run)
    root.post(raise_signal, SIGUSR2)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_that_a_callback_of_a_library_is_told_by_its_name_and_where_it_was_set(
    tmp_path: Path,
) -> None:
    texts: list[str] = []

    def look(_number: int, frame: FrameType | None) -> None:
        code = running_code(frame)
        texts.append("nothing" if code is None else code.text(4.2))

    session = held_session(scene_file(tmp_path, LIBRARY_SCENE), ManualTimeSource())
    former = signal.signal(signal.SIGUSR2, look)
    try:
        session.submit(StepBy(NS_PER_SECOND))
    finally:
        signal.signal(signal.SIGUSR2, former)
        session.close()

    assert texts == [
        "“raise_signal” has been running for 4 s, in raise_signal.",
        "“nap” has been running for 4 s, in raise_signal, set at line 7 of scene.py.",
        "“raise_signal” has been running for 4 s, in raise_signal, set at line 8 of scene.py.",
        "“Thread.run” has been running for 4 s, in Thread.run, set at line 9 of scene.py.",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_that_a_callback_of_a_library_can_be_broken_off(tmp_path: Path) -> None:
    def break_off(_number: int, frame: FrameType | None) -> None:
        assert running_code(frame) is not None
        raise UserInterruptError("interrupted")

    scene = LIBRARY_SCENE.replace("root.post(raise_signal, SIGUSR2)", "")
    session = held_session(scene_file(tmp_path, scene), ManualTimeSource())
    former = signal.signal(signal.SIGUSR2, break_off)
    try:
        session.submit(StepBy(NS_PER_SECOND))
        session.refresh()
        last = max(session.timeline.timers.ids())
        session.submit(FireTimer(last))
        session.refresh()
    finally:
        signal.signal(signal.SIGUSR2, former)

    labels = [failure.label for failure in session.timeline.failures]
    session.close()
    assert labels == ["nap", "Thread.run"]


def test_that_code_in_a_library_is_the_scenes_own_and_in_the_engine_it_is_not(
    seen: list[RunningCode],
) -> None:
    assert [code.is_innermost for code in seen] == [True, True, True, True, False]


def test_that_work_of_the_inspector_itself_is_no_code_of_a_scene(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found: list[RunningCode | None] = []

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_name in {"set_timeout_ns", "report_text"}:
            found.append(running_code(frame))

    scene = scene_file(tmp_path, SCENE.replace("hook.", "").replace("import hook", "look = int"))
    sys.setprofile(profile)
    try:
        cli.main(["run", str(scene), "--seconds", "1"])
    finally:
        sys.setprofile(None)

    capsys.readouterr()
    *in_build, in_report = found
    assert in_build
    assert all(in_build)
    assert in_report is None


def test_that_a_long_stay_is_noticed_and_so_is_its_end() -> None:
    entry: list[int | None] = [1]
    said: Queue[str] = Queue()
    watch = EntryWatch(
        lambda: entry[0],
        on_long=lambda _seconds: said.put("long"),
        on_over=lambda: said.put("over"),
        after_s=0.1,
    )
    try:
        assert said.get(timeout=20) == "long"
        assert not watch.is_resting

        entry[0] = 2

        while (last := said.get(timeout=20)) == "long":
            pass
        assert last == "over"
    finally:
        watch.stop()


def test_that_a_watch_looks_more_often_while_a_call_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[object] = []
    now_s = 100.0
    entries = [1, 1, 1, 1, 2, None, 3]
    watch: Any = EntryWatch.__new__(EntryWatch)

    def look() -> int | None:
        return entries.pop(0)

    def wait(seconds: float) -> None:
        nonlocal now_s
        now_s += seconds
        done.append(seconds)

    monkeypatch.setattr(running_code_module, "monotonic", lambda: now_s)
    watch.after_s, watch.is_resting = 0.5, False
    watch._entry, watch._on_over = look, lambda: done.append("over")
    watch._on_long = lambda seconds: done.append(f"long {seconds:.2f}")
    watch._stopped = SimpleNamespace(is_set=lambda: not entries, wait=wait)
    watch._is_entered = SimpleNamespace(
        is_set=lambda: False,
        clear=lambda: done.append("clear"),
        wait=lambda: done.append(("rests", watch.is_resting)),
    )

    watch._watch()

    assert done == [
        *("clear", 0.25, "clear", 0.25),
        *("long 0.50", "clear", 0.04, "long 0.54", "clear", 0.04),
        *("over", "clear", 0.25, ("rests", True), "clear", 0.25),
    ]
    assert not watch.is_resting


def test_that_a_watch_without_calls_rests_until_one_begins() -> None:
    entry: list[int | None] = [None]
    looks = 0
    said: Queue[float] = Queue()

    def look() -> int | None:
        nonlocal looks
        looks += 1
        return entry[0]

    watch = EntryWatch(look, on_long=said.put, on_over=lambda: None, after_s=0.1)
    try:
        deadline_s = monotonic() + 20
        while not watch.is_resting and monotonic() < deadline_s:
            sleep(0.001)
        assert (watch.is_resting, looks) == (True, 1)

        entry[0] = 1
        watch.wake()

        assert said.get(timeout=20) >= 0.1
        assert not watch.is_resting
    finally:
        watch.stop()


ENGINE, HOST, LIBRARY = (
    f"{running_code_module._ENGINE}clocks/clock.py",
    running_code_module._HOSTS[0] + "window.py",
    f"{running_code_module._STANDARD_LIBRARY}/functools.py",
)


def stack(*frames: tuple[str, str, int] | tuple[str, str, int, dict[str, object]]) -> Any:  # noqa: ANN401 - a frame
    """Return the innermost of stand-ins for frames: file, function, line and local names."""
    found = None
    for file, function, line, *names in reversed(frames):
        code = SimpleNamespace(co_filename=file, co_name=function)
        found = SimpleNamespace(
            f_code=code, f_lineno=line, f_back=found, f_locals=names[0] if names else {}
        )
    return found


def asked_of(*frames: Any) -> RunningCode | None:  # noqa: ANN401 - as above
    return running_code(stack(*frames))


@pytest.fixture
def _callbacks_in_locals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a frame of the engine call what its local name “calls” says."""
    monkeypatch.setattr(
        running_code_module, "_callback_called", lambda frame: frame.f_locals.get("calls")
    )


@pytest.mark.usefixtures("_callbacks_in_locals")
def test_that_users_code_is_looked_for_below_the_engine_and_above_the_host() -> None:
    timer = SimpleNamespace(name="boss")
    fires = (ENGINE, "fire", 9, {"timer": timer})
    spawn, helper = ("/me/game.py", "spawn", 5), ("/me/helper.py", "help", 7)

    def told(*frames: Any) -> tuple[str, bool]:  # noqa: ANN401 - as above
        code = asked_of(*frames)
        assert code is not None
        assert code.is_python
        return code.text(3), code.is_innermost

    boss = "“boss” in game.py has been running for 3 s, at line "
    assert told(spawn, fires) == (f"{boss}5.", True)
    assert told(helper, spawn, fires) == (f"{boss}7 of helper.py.", True)
    assert told((LIBRARY, "reduce", 1), spawn, fires) == (f"{boss}5.", True)
    assert told(("<string>", "x", 1), spawn, fires) == (f"{boss}5.", True)
    site = "/me/site-packages/lib.py"
    assert told((site, "x", 1), spawn, fires) == (f"{boss}5.", True)
    # Without a timer it is the function; code that has called the engine is not interrupted.
    assert told((ENGINE, "add", 1), spawn, (ENGINE, "run", 2)) == (
        "“spawn” in game.py has been running for 3 s, at line 5.",
        False,
    )
    assert told((ENGINE, "add", 1), (ENGINE, "on", 2, {"calls": print}), spawn, fires)[1] is False
    assert told(spawn, (HOST, "main", 1, {"timer": timer}))[0].startswith("“boss” in game.py")
    assert told(spawn)[0].startswith("“spawn” in game.py")
    for nothing in (
        (),
        ((LIBRARY, "reduce", 1), fires),
        ((ENGINE, "add", 1), (HOST, "x", 1), spawn),
    ):
        assert asked_of(*nothing) is None


@pytest.mark.usefixtures("_callbacks_in_locals")
def test_that_a_scene_is_told_by_its_own_code_and_by_build(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = asked_of(("/me/game.py", "<module>", 5), (ENGINE, "load", 1))
    build = asked_of(("/me/game.py", "build", 5), (ENGINE, "build", 1))
    fired = asked_of(("/me/game.py", "build", 5), (ENGINE, "fire", 1, {"timer": object()}))
    assert module is not None
    assert build is not None
    assert fired is not None
    assert (module.what, module.module) == (
        "game.py has been running its own code",
        Path("/me/game.py"),
    )
    assert (build.what, build.module) == ("build(stage) in game.py has been running", None)
    assert fired.what == "“build” in game.py has been running"
    # Installed from a wheel, the built-in scenes lie inside the package.
    monkeypatch.setattr(running_code_module, "_SCENES", f"{running_code_module._ENGINE}scenes/")
    inside = (f"{running_code_module._ENGINE}scenes/orbit.py", "spin", 5)
    assert asked_of(inside, (ENGINE, "run", 1)) is not None


@pytest.mark.usefixtures("_callbacks_in_locals")
def test_that_a_callback_that_is_no_python_code_is_told_with_its_timer() -> None:
    timer = SimpleNamespace(
        name="nap", order=4, site=SimpleNamespace(text="/me/game.py:7 in build")
    )
    bare = asked_of((ENGINE, "fire", 1, {"calls": print}))
    known = asked_of((ENGINE, "fire", 1, {"calls": print, "timer": timer}))
    unnamed = asked_of(
        (ENGINE, "fire", 1, {"calls": print, "timer": SimpleNamespace(name="", site=None)})
    )
    assert bare is not None
    assert known is not None
    assert unnamed is not None
    assert (bare.what, bare.place) == ("“print” has been running", "in print")
    assert (known.what, known.place) == (
        "“nap” has been running",
        "in print, set at line 7 of game.py",
    )
    assert (unnamed.what, unnamed.place) == ("“print” has been running", "in print")
    assert (bare.is_python, bare.is_innermost) == (False, True)
    assert isinstance(known.call, tuple)
    assert isinstance(bare.call, tuple)
    assert (known.call[1], bare.call[1]) == (4, 0)
