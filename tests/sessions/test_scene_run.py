"""Runs of a scene: one after another, and a second beside the first while it goes back."""

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import NoneType, SimpleNamespace
from typing import Any

import pytest

from inspector.clocks import FailurePolicy, ManualTimeSource
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.clocks import PauseClock
from inspector.commands.scene import Reload, SetFailurePolicy, StepBack
from inspector.commands.transport import Hold, Run, StepFrames
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.sessions.hosted import HostedSession
from inspector.sessions.replay.rewinding import Rewinding
from inspector.sessions.scene_run import SceneRun
from inspector.testing import scene_file

SCENE = """
    def build(stage):
        stage.root.set_interval(0.05, lambda: None, name="tick")
"""

SOURCES: list[type[ManualTimeSource] | type[VirtualTimeSource]] = [
    ManualTimeSource,
    VirtualTimeSource,
]

#: What cannot be changed, so that it does not matter whether two runs have the same.
IMMUTABLE = (int, str, Path, NoneType, Enum)


@pytest.fixture(params=SOURCES)
def session(request: pytest.FixtureRequest, tmp_path: Path) -> HostedSession:
    session = HostedSession(scene_file(tmp_path, SCENE), request.param(), autorun=False)
    session.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, subject="boss")))
    for _ in range(20):
        session.submit(StepFrames(1))
    session.submit(PauseClock(1))
    session.refresh()
    return session


def second_run(session: HostedSession) -> SceneRun:
    """Begin to go back in time, and return the run beside the present one."""
    session.slice_ns = 0
    session.submit(StepBack(5))
    for _ in range(10):
        session.refresh()
    assert session.rewinding is not None
    return session.rewinding.second


def shared(one: SceneRun, other: SceneRun) -> set[str]:
    """Return the names of what two runs have in common and either could change."""
    assert vars(one).keys() == vars(other).keys()
    return {
        name
        for name, value in vars(one).items()
        if value is vars(other)[name] and not isinstance(value, IMMUTABLE)
    }


def test_that_two_runs_beside_each_other_share_nothing(session: HostedSession) -> None:
    former = session._run

    second = second_run(session)

    assert session._run is former
    assert second.frames_run > 0
    assert shared(former, second) == set()
    session.close()


def test_that_the_second_run_takes_over_what_people_look_out_for(session: HostedSession) -> None:
    former, breakpoints = session._run, session.breakpoints
    second = second_run(session)

    while session.rewinding is not None:
        session.refresh()

    assert session._run is second
    assert session.breakpoints is breakpoints
    assert shared(former, second) == {"breakpoints", "driver", "recorder"}
    session.close()


def test_that_reloading_begins_a_run_on_the_same_source(session: HostedSession) -> None:
    session.submit(SetFailurePolicy(FailurePolicy.STOP))
    former = session._run

    session.submit(Reload())

    run = session._run
    assert shared(former, run) == {"breakpoints", "driver", "recorder", "source"}
    assert (run.generation, run.failure_policy) == (1, FailurePolicy.STOP)
    assert run.command_number == former.command_number
    assert run.log.read().events[0][::4] == (0, 0)
    assert (former.loaded, run.undoing.newest) == (None, 0)
    session.close()


@pytest.mark.parametrize("runs", [True, False])
def test_that_a_scene_runs_after_a_reload_as_it_did_before_it_failed(
    tmp_path: Path, *, runs: bool
) -> None:
    session = HostedSession(scene_file(tmp_path, SCENE), VirtualTimeSource(), autorun=not runs)
    session.submit(Run() if runs else Hold())
    session.pass_to(20_000_000)
    found = []
    for text in (SCENE, "def build(stage): raise RuntimeError", SCENE):
        scene_file(tmp_path, text)
        session.submit(Reload())
        session.pass_to(session.session_ns + 20_000_000)
        found.append(session.is_running)
    session.close()

    assert found == [runs, False, runs]


def test_that_going_back_tells_how_far_it_is_and_can_be_given_up() -> None:
    done: list[object] = []
    rewinding: Any = Rewinding.__new__(Rewinding)
    rewinding.second = SimpleNamespace(
        frames_run=1, fold_events=lambda: done.append("fold"), close=lambda: done.append("close")
    )
    for rewinding.frame, percent in ((3, 33), (1, 100), (0, 0)):
        assert rewinding.percent == percent

    def steps() -> Iterator[None]:
        for _ in range(2):
            done.append("step")
            yield

    rewinding._steps = steps()
    assert not rewinding.go_on(0)
    assert done == ["step", "fold"]

    rewinding.former = SimpleNamespace(
        loaded=SimpleNamespace(put_back=done.append),
        source=SimpleNamespace(go_live=lambda: done.append("live")),
    )
    rewinding._aside = {"game": 1}
    done.clear()
    rewinding.give_up()
    assert done == ["close", {"game": 1}, "live"]
    assert list(rewinding._steps) == []
