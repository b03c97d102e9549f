"""A scene needs one line for each frame system."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.testing import pass_seconds, virtual_session

SCENE = """
from inspector.engines.cocos.dialects import COCOS2DX_3_4
from inspector.frames.state_machine import Edge


def build(stage):
    game = stage.root.child("game")
    stage.scheduler(game, name="ours")
    stage.dialect_scheduler(COCOS2DX_3_4, game)
    stage.component_director(game, name="wood")
    stage.ticker(game)
    stage.state_machine("a", {"b": Edge("a", "b")}, clock=game, name="flow")
    for make in (stage.scheduler, stage.component_director, stage.ticker):
        make(name="of the root")
    stage.state_machine("a", {})
"""

RULES = """
from inspector.frames.state_machine import Edge, MachineRules


def build(stage):
    edges = {{"b": Edge("a", "b"), "c": Edge("b", "c")}}
    machine = stage.state_machine("a", edges, rules={rules})

    def go_on(old, new):
        if new == "b":
            machine.go("c")

    machine.on_after = go_on
    stage.root.set_timeout(0.1, machine.go, "b")
    stage.root.set_timeout(0.2, lambda: stage.mark(machine.state))
"""


def test_that_each_system_is_made_and_shown_by_one_line(tmp_path: Path) -> None:
    path = tmp_path / "scene.py"
    path.write_text(SCENE)
    session = virtual_session(path)
    pass_seconds(session, 0.5)
    members = session.timeline.members
    root, game = session.timeline.clocks

    names = {
        clock: [members.by_id[number].name for number in members.of_clock[clock]]
        for clock in (root, game)
    }

    assert session.timeline.failures == []
    assert names[game] == [
        "ours",
        "ours",
        "cocos2d-x 3.4",
        "cocos2d-x 3.4",
        "wood",
        "wood",
        "ticker",
        "ticker",
        "flow",
    ]
    assert names[root] == ["of the root"] * 6 + ["machine"]
    session.close()


@pytest.mark.parametrize(
    ("rules", "ends_in"), [("MachineRules(queues_transitions=True)", "c"), ("None", "b")]
)
def test_that_a_machine_follows_the_rules_it_is_given(
    tmp_path: Path, rules: str, ends_in: str
) -> None:
    path = tmp_path / "scene.py"
    path.write_text(RULES.format(rules=rules))
    session = virtual_session(path)
    pass_seconds(session, 0.5)

    assert session.timeline.failures == []
    assert [mark.text for mark in session.timeline.marks] == [ends_in]
    session.close()
