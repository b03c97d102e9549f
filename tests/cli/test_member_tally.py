"""What schedulers, components, tickers and machines called is counted and told by ``run``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from inspector.cli.call_tally import CallTally
from inspector.clocks import ClockTree, ManualTimeSource, Transport
from inspector.events.log import BYTES_PER_EVENT, EventLog
from inspector.events.timeline import Timeline
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.testing import scene_file

if TYPE_CHECKING:
    from tests.cli.answers import Run

SCENE = """
    from inspector.frames.state_machine import Edge

    class Ship:
        def __init__(self, name):
            self.name = name
        def update(self, delta):
            pass
        def shoot(self, seconds):
            pass

    def build(stage):
        game = stage.root.child("game")
        scheduler = stage.scheduler(game, name="ours")
        for name, every in (("a", 0.5), ("b", 0.25)):
            ship = Ship(name)
            scheduler.schedule_update(ship, name="fly")
            scheduler.schedule(ship.shoot, every, target=ship, name="shoot")
        flow = stage.state_machine("menu", {"start": Edge("menu", "playing")}, name="flow")
        stage.root.set_timeout(0.5, flow.go, "start")
        stage.every_frame(lambda delta: None, name="paint")
        stage.root.set_timeout(1, game.pause, name="stop")
"""


@pytest.fixture
def scene(tmp_path: Path) -> str:
    return str(scene_file(tmp_path, SCENE))


def test_that_a_run_tells_of_schedulers_machines_and_their_calls(run: Run, scene: str) -> None:
    _, out, _ = run(f"run {scene} --seconds 2")

    def has(*cells: str) -> bool:
        return re.search(rf"^{' +'.join(cells)}", out, re.MULTILINE) is not None

    assert has("ours", "scheduler", "game", "1", "4", r"12\d", "stopped with “game”$")
    assert has("flow", "machine", "root", "1", "in “playing”, 1 transition$")
    assert has("fly", "update", "ours", "2 of them", "1[12]\\d", r"\d")
    assert has("shoot", "frame timer", "ours", "every 250 ms to 500 ms, 2 of them", "4", r"\d")
    assert has("paint", "frame callback", "root", "120", r"\d")
    # The scheduler is there once, and not as the callback that runs it.
    assert out.count("\nours ") == 1


def test_that_members_are_in_the_json(run: Run, scene: str) -> None:
    _, out, _ = run(f"run {scene} --seconds 2 --json")

    values = json.loads(out)
    assert [(line["name"], line["kind"], line["clock"]) for line in values["keepers"]] == [
        ("flow", "machine", "root"),
        ("ours", "scheduler", "game"),
    ]
    calls = {(call["label"], call["kind"]): call for call in values["calls"]}
    assert calls.keys() == {
        ("fly", "update"),
        ("shoot", "frame timer"),
        ("paint", "frame callback"),
    }
    shoot = calls["shoot", "frame timer"]
    assert (shoot["keeper"], shoot["members"], shoot["calls"]) == ("ours", 2, 4)
    assert (shoot["interval_ns"], shoot["longest_interval_ns"]) == (250_000_000, 500_000_000)


def test_that_calls_are_counted_where_the_beginning_has_fallen_off_the_log() -> None:
    log = EventLog(budget_bytes=60 * BYTES_PER_EVENT)
    tree, source = ClockTree(log), ManualTimeSource()
    Transport(tree, source).run()
    scheduler = Scheduler(tree.root, name="ours")
    for number in range(40):
        scheduler.schedule(lambda _seconds: None, 0.5, name="tick", target=number)
    log.settle()
    assert log.first > 40

    tally = CallTally(log)
    for _ in range(4):
        source.advance(0.25)
        scheduler.run_frame()
        log.settle()
    tally.update()

    timeline = log.base.copy()
    timeline.apply_all(log.slice(log.first, log.end))
    (tick,) = tally.calls(timeline)
    assert (tick.label, tick.owner, tick.members, tick.calls) == ("tick", "ours", 40, 80)
    assert _system(tally, timeline) == ("ours", 40, 80)
    assert tally.lost == 0


def _system(tally: CallTally, timeline: Timeline) -> tuple[str, int, int]:
    (line,) = tally.systems(timeline)
    return line.name, line.members, line.calls
