"""However a recording ends, the scene that was recorded does the same again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from inspector.clocks import ManualTimeSource
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.commands.command import Command
from inspector.commands.recording import SaveLast, StartRecording, StopRecording
from inspector.commands.scene import Reload, StepBack
from inspector.commands.transport import Run
from inspector.events.recording import open_recording
from inspector.sessions.hosted import HostedSession
from inspector.sessions.replay.rerun import rerun
from inspector.sessions.scene import find_scene
from inspector.timebase import NS_PER_SECOND
from tests.light_scenes import light_scene

if TYPE_CHECKING:
    from collections.abc import Callable

SCENES = ("1", "2", "6", "7", "10")


def _pass_frames(session: HostedSession, source: ManualTimeSource, count: int) -> None:
    for _ in range(count):
        source.advance(1 / 60)
        session.refresh()


def _verify(path: Path, scene: Path) -> None:
    past = open_recording(path)
    found = rerun(past, scene)
    past.close()
    assert found.difference is None, f"{path.name}: {found.difference}"


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize(
    "ending",
    [
        lambda _: StopRecording(),
        lambda _: Reload(),
        lambda _: StepBack(5),
        lambda path: SaveLast(str(path), 3_600 * NS_PER_SECOND),
    ],
    ids=["stop", "reload", "step back", "save"],
)
def test_that_a_recording_ended_while_the_scene_runs_is_verified(
    tmp_path: Path, scene: str, ending: Callable[[Path], Command]
) -> None:
    path, source = light_scene(find_scene(scene), tmp_path), ManualTimeSource()
    session = HostedSession(path, source)
    command = ending(tmp_path / "saved.tlrec")
    if not isinstance(command, SaveLast):
        session.submit(StartRecording(str(tmp_path / "a.tlrec")))
    session.submit(Run())
    _pass_frames(session, source, 20)
    session.submit(command)
    _pass_frames(session, source, 6)
    session.submit(StopRecording())
    _pass_frames(session, source, 2)
    session.close()

    recordings = sorted(tmp_path.glob("*.tlrec"))

    assert recordings
    for recording in recordings:
        _verify(recording, path)


def test_that_a_scene_that_ends_earlier_than_recorded_does_something_else(
    tmp_path: Path,
) -> None:
    scene = tmp_path / "scene.py"
    scene.write_text("def build(stage):\n    stage.root.set_timeout(0.9999, stage.mark, 'last')\n")
    session = HostedSession(scene, VirtualTimeSource())
    session.submit(StartRecording(str(tmp_path / "a.tlrec")))
    session.submit(Run())
    session.pass_to(NS_PER_SECOND)
    session.refresh()
    session.submit(StopRecording())
    session.close()
    scene.write_text("def build(stage):\n    stage.root.set_timeout(0.9999, print, 'last')\n")

    past = open_recording(tmp_path / "a.tlrec")
    found = rerun(past, scene, anyway=True)
    past.close()

    assert found.difference is not None
