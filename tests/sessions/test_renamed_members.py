"""A node that is renamed while the scene runs goes by its new name everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.cli.names import find_timer
from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.transport import StepFrames
from inspector.errors import ArgumentError
from inspector.events.conditions.breakpoint import BreakAction, BreakKind, Breakpoint
from inspector.sessions.hosted import HostedSession
from inspector.sessions.replay.replay import RunEvents, first_difference
from inspector.testing import held_session, scene_file
from inspector.vocabulary import (
    CALL_ENDED,
    FRAME_BEGAN,
    MARK,
    MEMBER_ADDED,
    MEMBER_SET,
    Field,
    RawEvent,
)

SCENE = """
    from inspector.engines.creator.components import Component

    class Fox(Component):
        def start(self):
            self.node.name = "after"

        def update(self, delta):
            self.node.active = False
            self.node.active = True

    def build(stage):
        director = stage.component_director()
        director.node("before").add_component(Fox())
"""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return scene_file(tmp_path, SCENE)


def hits(path: Path, condition: str) -> int:
    session = held_session(path)
    wanted = Breakpoint(BreakKind.CONDITION, condition=condition, action=BreakAction.MARK)
    session.submit(AddBreakpoint(wanted))
    session.submit(StepFrames(3))
    session.refresh()
    found = len(session.timeline.hits)
    session.close()
    return found


def stepped(path: Path, frames: int = 3) -> HostedSession:
    session = held_session(path)
    session.submit(StepFrames(frames))
    session.refresh()
    return session


def test_that_a_breakpoint_looks_out_for_the_name_a_node_has_now(scene: Path) -> None:
    is_set = 'kind == "member_set" and frame > 0 and member == '

    assert hits(scene, f'{is_set}"after"') > 0
    assert hits(scene, f'{is_set}"before"') == 0


def test_that_a_node_is_found_by_the_name_it_has_now(scene: Path) -> None:
    session = stepped(scene)

    meant = find_timer(session.history, session.timeline, "after")

    assert meant.call.is_member
    assert session.timeline.members.by_id[meant.call.number].name == "after"
    session.close()


def test_that_a_node_is_found_by_a_former_name_if_it_is_free(scene: Path) -> None:
    session = stepped(scene)

    by_former_name = find_timer(session.history, session.timeline, "before")

    assert by_former_name == find_timer(session.history, session.timeline, "after")
    session.close()


def test_that_who_has_a_name_comes_before_who_had_it(tmp_path: Path) -> None:
    path = scene_file(
        tmp_path,
        """
        def build(stage):
            director = stage.component_director()
            first = director.node("den")
            director.node("den")
            first.name = "hole"
        """,
    )
    session = stepped(path)

    meant = find_timer(session.history, session.timeline, "den")

    members = session.timeline.members.by_id
    assert [number for number, each in members.items() if each.name == "den"] == [meant.call.number]
    session.close()


def test_that_a_future_name_finds_no_member(scene: Path) -> None:
    session = stepped(scene)
    early = session.history.state_at(0)

    with pytest.raises(ArgumentError, match="There is no timer “after”"):
        find_timer(session.history, early, "after")
    session.close()


def test_that_a_difference_is_in_the_callback_of_the_name_at_that_time() -> None:
    strings = ["", "before", "after", "later", "left", "right"]

    def events(mark: int) -> list[RawEvent]:
        return [
            (0, MEMBER_ADDED, 7, 0, 1),
            (1, MEMBER_SET, 7, Field.NAME, 2),
            (2, FRAME_BEGAN, 1, 0, 1),
            (2, MARK, 0, mark, 0),
            (2, CALL_ENDED, 7, 0, 1),
            (3, MEMBER_SET, 7, Field.NAME, 3),
        ]

    found = first_difference(RunEvents(events(4), strings), RunEvents(events(5), strings))

    assert found is not None
    assert found.label == "after"
