"""What becomes of a component that raises in a hosted scene, and of other callbacks."""

from pathlib import Path

import pytest

from inspector.cli.main import main
from inspector.clocks import FailurePolicy
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.commands.transport import Run
from inspector.engines.creator.components import Component
from inspector.engines.creator.director import CreatorDirector
from inspector.sessions.hosted import HostedSession
from inspector.sessions.session import SessionPhase
from inspector.testing import pass_seconds, scene_file, virtual_session

SCENE = """
    from inspector.engines.creator.components import Component

    class Fox(Component):
        def {method}(self, *_delta):
            raise RuntimeError("no")

    def build(stage):
        wood = stage.root.child("wood")
        director = stage.component_director(wood)
        den = director.node("den", active=False)
        den.add_component(Fox())
        den.active = True
        stage.root.child("good").set_interval(1, lambda: None, name="works")
"""
ONCE = ("on_load", "start")
EVERY_FRAME = ("update", "late_update")


def scene_of(tmp_path: Path, method: str) -> Path:
    return scene_file(tmp_path, SCENE.format(method=method))


@pytest.mark.parametrize("method", ONCE + EVERY_FRAME)
def test_that_a_component_that_raises_is_recorded(tmp_path: Path, method: str) -> None:
    session = virtual_session(scene_of(tmp_path, method))

    run = pass_seconds(session, 0.5)

    labels = [failure.label for failure in session.timeline.failures]
    assert labels == [f"Fox.{method} of den"] * (1 if method in ONCE else run.frames)
    assert f"in {method}" in session.timeline.failures[0].traceback
    session.close()


@pytest.mark.parametrize("method", ["start", *EVERY_FRAME])
def test_that_a_component_that_raises_stops_the_scene_if_that_is_asked_for(
    tmp_path: Path, method: str
) -> None:
    session = virtual_session(scene_of(tmp_path, method), failure_policy=FailurePolicy.STOP)

    run = pass_seconds(session, 0.5)

    assert not run.is_complete
    assert run.frames == 1
    assert session.status.phase is SessionPhase.HELD
    assert f"because “Fox.{method} of den” failed: Runtime" in session.status.message
    session.close()


@pytest.mark.parametrize("method", ["on_load", "update"])
def test_that_a_component_that_raises_pauses_its_branch_if_that_is_asked_for(
    tmp_path: Path, method: str
) -> None:
    path = scene_of(tmp_path, method)
    session = virtual_session(path, failure_policy=FailurePolicy.PAUSE_BRANCH)

    pass_seconds(session, 0.5)

    assert [clock.name for clock in session.timeline.clocks.values() if clock.paused] == ["wood"]
    assert len(session.timeline.failures) == 1
    session.close()


def test_that_a_scene_does_not_begin_to_run_after_a_failure_in_its_build(tmp_path: Path) -> None:
    source = VirtualTimeSource()
    path = scene_of(tmp_path, "on_load")

    session = HostedSession(path, source, autorun=True, failure_policy=FailurePolicy.STOP)
    source.pass_ns(500_000_000)

    assert session.session_ns == 0
    assert session.status.phase is SessionPhase.HELD
    assert "because “Fox.on_load of den” failed" in session.status.message
    session.submit(Run())
    source.pass_ns(500_000_000)
    assert session.session_ns > 0
    session.close()


def test_that_who_asks_for_the_failures_of_a_director_has_them_alone(tmp_path: Path) -> None:
    path = scene_file(
        tmp_path,
        """
        from inspector.engines.creator.components import Component

        class Fox(Component):
            def start(self):
                raise RuntimeError("no")

        def build(stage):
            director = stage.component_director()
            director.on_failure = lambda failure: stage.mark(failure.method)
            director.node("den").add_component(Fox())
        """,
    )
    session = virtual_session(path)

    pass_seconds(session, 0.5)

    assert session.timeline.failures == []
    assert [mark.text for mark in session.timeline.marks] == ["start"]
    session.close()


def test_that_without_a_clock_a_component_that_raises_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Fox(Component):
        def start(self) -> None:
            raise RuntimeError

    director = CreatorDirector(lambda: 0.0)
    director.node("den").add_component(Fox())

    director.main_loop(1.0)

    assert [record.getMessage() for record in caplog.records] == [
        "callback Fox.start of den failed"
    ]


def test_that_the_command_line_counts_a_component_that_raises(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["run", str(scene_of(tmp_path, "update")), "--frames", "3"])

    printed = capsys.readouterr()
    assert code == 1
    assert "3 failures:" in printed.out
    assert "the first was “Fox.update of den” with RuntimeError: no" in printed.err
    assert "Traceback" not in printed.err


ENGINES = {
    "timer": "stage.root.set_timeout(0.1, fail)",
    "frame callback": "stage.every_frame(fail)",
    "loop": "loops.start_loop(stage.root, 60, fail)",
    "pacer": "pacer(stage)",
    "scheduler": "stage.scheduler().schedule(fail, 0.1)",
    "posted": "stage.scheduler().post(fail)",
    "dialect": "stage.dialect_scheduler(COCOS2DX_3_4).schedule(fail, 0.1, target=stage)",
    "ticker": "timer(stage)",
    "machine": "machine(stage)",
    "listener": "stage.component_director().on(DirectorEvent.BEFORE_UPDATE, fail)",
    "draw": "stage.component_director().on_draw = fail",
    "component's timer": "stage.component_director().node().add_component(Fox())",
}
AROUND = """
    from inspector.frames import loop as loops
    from inspector.engines.creator.components import Component
    from inspector.engines.creator.director import DirectorEvent
    from inspector.engines.cocos.dialects import COCOS2DX_3_4
    from inspector.engines.creator.pacer import FramePacer
    from inspector.frames.state_machine import Edge
    from inspector.engines.egret.timer import TickerTimer

    class Fox(Component):
        def start(self):
            self.schedule(fail, 0.1)

    def fail(*_):
        raise RuntimeError("no")

    def pacer(stage):
        made = FramePacer(fail, lambda: stage.root.time_ns / 1e6)
        made.start()
        stage.every_frame(lambda _: made.refresh())

    def timer(stage):
        made = stage.timer = TickerTimer(stage.ticker(), 100)
        made.on_timer = fail
        made.start()

    def machine(stage):
        made = stage.state_machine("a", {{"b": Edge("a", "b")}})
        made.on_before = fail
        stage.every_frame(lambda _: made.go("b"))

    def build(stage):
        {engine}
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_that_whatever_calls_it_a_callback_that_raises_is_recorded(
    tmp_path: Path, engine: str
) -> None:
    session = virtual_session(scene_file(tmp_path, AROUND.format(engine=ENGINES[engine])))

    run = pass_seconds(session, 0.5)

    assert run.is_complete
    assert session.timeline.failures
    assert "in fail" in session.timeline.failures[0].traceback
    session.close()
