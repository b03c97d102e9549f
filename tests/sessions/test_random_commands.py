"""Any commands at any time: the timeline stays equal to the engine."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.clocks import ManualTimeSource
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.commands.command import Command
from inspector.commands.transport import Hold
from inspector.sessions.hosted import HostedSession
from inspector.sessions.session import SessionPhase
from inspector.testing import scene_file
from tests.sessions.random_commands import SOURCES, commands, let_pass

SCENE = """
    def build(stage):
        game = stage.root.child("game", "1/3")
        enemies = game.child("enemies", 2)
        ui = stage.root.child("ui")
        def spawn():
            if game.pending_count > 6:
                raise RuntimeError("too many")
            game.set_timeout(0.4, spawn)
            enemies.set_timeout(0.1, lambda: None)
        game.set_interval(0.25, spawn, name="spawn")
        enemies.set_interval(0.07, lambda: None, missed="skip", name="tick")
        ui.set_interval(0.5, lambda: (game.resume() or game.pause()), name="toggle")
        ui.set_timeout(1.7, lambda: enemies.move_to(ui), name="move")
        ui.set_timeout(3.1, lambda: stage.work(0.1), name="work")
        stage.every_frame(lambda delta: None, clock=enemies)
"""

steps = st.lists(st.one_of(commands, st.integers(1, 3 * 10**8)), max_size=40)


def check_timeline_is_the_engine(session: HostedSession) -> None:
    run = session._run
    timeline = session.timeline
    # Asking a clock for its time would bring session time up to a running source.
    present = run.tree.present
    run.tree.follow(None)
    assert timeline.at_ns == run.tree.now_ns
    engine = {clock.id: clock for clock in run.tree.root.walk()}
    assert set(timeline.clocks) == set(engine)
    for number, clock in engine.items():
        assert timeline.local_ns(number) == clock.time_ns
        assert timeline.effective_rate(number) == clock.effective_rate
        assert timeline.clocks[number].pending == clock.pending_count
        for timer in clock.pending():
            assert timeline.timers.row(timer.id).due_ns == timer.due_ns
    run.tree.follow(present)
    assert timeline.is_running == run.transport.is_running
    assert timeline.frames.end == run.director.frame_index


@pytest.fixture(scope="module")
def scene_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scene_file(tmp_path_factory.mktemp("scene"), SCENE)


@given(steps=steps, source=st.builds(lambda kind: kind(), st.sampled_from(SOURCES)))
def test_that_the_timeline_is_the_engine_after_any_commands(
    scene_path: Path, steps: list[Command | int], source: ManualTimeSource | VirtualTimeSource
) -> None:
    session = HostedSession(scene_path, source, autorun=False)
    submitted = 0
    for step in steps:
        if isinstance(step, int):
            let_pass(source, step)
        else:
            session.submit(step)
            submitted += 1
        session.refresh()
        assert session.status.phase in {SessionPhase.RUNNING, SessionPhase.HELD}
        check_timeline_is_the_engine(session)
    session.submit(Hold())
    let_pass(source, 10**9)
    session.refresh()
    check_timeline_is_the_engine(session)
    assert session._run.command_number == submitted + 1
    session.close()
