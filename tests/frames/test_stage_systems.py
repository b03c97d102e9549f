"""A scene needs one line for each frame system."""

from __future__ import annotations

from pathlib import Path

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
