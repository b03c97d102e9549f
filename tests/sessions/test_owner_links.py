"""The link from a target of a scheduler to the node or component it is."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from inspector.commands.recording import StartRecording
from inspector.commands.transport import StepFrames
from inspector.events.recording import open_recording
from inspector.events.sentences import describe
from inspector.testing import held_session, scene_file
from inspector.vocabulary import MEMBER_SET, VOCABULARY_VERSION, Field, MemberKind

SCENE = """
    from inspector.engines.creator.components import Component
    from inspector.engines.creator.director import CreatorDirector

    class Fox(Component):
        def start(self):
            self.schedule(self.look, 1)

        def look(self, _delta):
            pass

    class Stone:
        pass

    def build(stage):
        director = CreatorDirector(clock=stage.root, name="wood")
        stage.every_frame(lambda delta: director.run_frame())
        fox = director.node("fox").add_component(Fox())
        stage.stone = Stone()
        scheduler = stage.scheduler(stage.root, name="senses")
        scheduler.schedule(fox.look, 2, target=fox)
        scheduler.schedule(lambda delta: None, 2, target=stage.stone)
"""


def test_that_targets_that_are_components_say_so(tmp_path: Path) -> None:
    session = held_session(scene_file(tmp_path, SCENE))
    session.submit(StepFrames(3))
    session.refresh()

    members = session.timeline.members.by_id
    fox = next(each for each in members.values() if each.kind is MemberKind.COMPONENT)
    owners = {
        each.name: each.fields.get(Field.OWNER)
        for each in members.values()
        if each.kind is MemberKind.TARGET
    }
    assert set(owners.values()) == {fox.id, None}
    assert sum(owner == fox.id for owner in owners.values()) + (owners.get("Stone 1") is None) >= 2
    session.close()


def test_that_the_link_is_told_in_words() -> None:
    assert "member 7: belongs to member 3" in describe((0, MEMBER_SET, 7, Field.OWNER, 3), [""])
    assert Field.OWNER.text == "owner"


@pytest.mark.parametrize("version", range(1, VOCABULARY_VERSION + 1))
def test_that_recordings_of_older_vocabularies_are_read(tmp_path: Path, version: int) -> None:
    session = held_session(scene_file(tmp_path, SCENE))
    path = tmp_path / "wood.tlrec"
    session.submit(StartRecording(str(path)))
    session.submit(StepFrames(5))
    session.refresh()
    session.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "UPDATE meta SET value = ? WHERE name = 'vocabulary_version'", (version,)
        )
        connection.commit()

    with closing(open_recording(path)) as recording:
        assert recording.state_before(recording.end).frames.end == 5
