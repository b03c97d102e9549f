"""How long the punctuality of a time source is that of one scene."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.clocks import ManualTimeSource
from inspector.clocks.sources.wake_errors import WakeErrors, WakeErrorSummary
from inspector.commands.scene import Reload, StepBack
from inspector.sessions.hosted import HostedSession

SCENE = """
def build(stage):
    stage.root.child("game")
"""


class MeasuredSource(ManualTimeSource):
    """Moved by hand, and never punctual."""

    def __init__(self) -> None:
        super().__init__()
        self.errors = WakeErrors()
        self.errors.add(900_000)

    @property
    def wake_errors(self) -> WakeErrorSummary | None:
        return self.errors.summary()

    def restart_measurement(self) -> None:
        self.errors.clear()


@pytest.fixture
def session(tmp_path: Path) -> HostedSession:
    path = tmp_path / "scene.py"
    path.write_text(SCENE, encoding="utf-8")
    return HostedSession(path, MeasuredSource())


def test_that_wake_ups_before_a_scene_was_loaded_anew_are_not_those_of_the_scene(
    session: HostedSession,
) -> None:
    assert session.wake_errors is not None

    session.hold()
    session.submit(Reload())
    session.refresh()

    assert session.generation == 1
    assert session.wake_errors is None


def test_that_going_back_in_time_keeps_what_was_measured(session: HostedSession) -> None:
    source = session.source
    assert isinstance(source, MeasuredSource)
    source.advance(1)
    session.hold()

    session.refresh()
    frames = len(session.timeline.frames)

    session.submit(StepBack(10))
    for _ in range(100):
        session.refresh()

    assert session.rewinding is None
    assert len(session.timeline.frames) < frames
    assert session.wake_errors is not None
