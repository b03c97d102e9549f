"""What looks wrong with the timers of schedulers and tickers, and what does not."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from inspector.analysis.lint.findings import (
    BEAT,
    DRIFT,
    HERD,
    LEAK,
    NEVER_FIRED,
    ORPHAN,
    PACE,
    SUB_FRAME,
    Finding,
    FindingKind,
)
from inspector.analysis.lint.rules import findings
from inspector.testing import pass_seconds, scene_file, virtual_session
from inspector.vocabulary import MemberKind

HEAD = """
from inspector.engines.cocos.scheduler import DialectScheduler
from inspector.engines.cocos.dialects import CREATOR_2_4, COCOS2DX_3_15
from inspector.engines.egret.timer import BY_CALLS, TickerTimer
from inspector.engines.egret.ticker import Ticker

def nothing(*_):
    pass

class Actor:
    def shoot(self, _delta):
        pass

"""


def lint(folder: Path, body: str, seconds: float | Fraction = 20) -> list[Finding]:
    """Run the body of a scene and return what looks wrong with it."""
    lines = "\n".join(f"    {line}" for line in body.strip().split("\n"))
    session = virtual_session(scene_file(folder, f"{HEAD}def build(stage):\n{lines}"))
    assert session.problem is None
    pass_seconds(session, seconds)
    found = findings(session.history)
    for finding in found:
        assert finding.cursor is not None
        (event,) = session.history.events(finding.cursor, finding.cursor + 1)
        assert event[0] == finding.at_ns
        if finding.member_id and finding.member_id in session.timeline.members.by_id:
            kind = session.timeline.members.by_id[finding.member_id].kind
            assert kind in {MemberKind.FRAME_TIMER, MemberKind.TICKER_TIMER, MemberKind.UPDATE}
    session.close()
    return found


def only(found: list[Finding], kind: FindingKind) -> Finding:
    assert [finding.kind for finding in found] == [kind], found
    return found[0]


def test_that_sound_schedulers_and_tickers_have_no_findings(tmp_path: Path) -> None:
    assert not lint(
        tmp_path,
        """
game = stage.root.child("game")
scheduler = stage.scheduler(game, name="calls")
actor = Actor()
scheduler.schedule(actor.shoot, 0.7, target=actor)
scheduler.schedule(nothing, 0.25)
ticker = stage.ticker(game, name="ticker")
timer = TickerTimer(ticker, 1000, name="second")
timer.on_timer = nothing
timer.start()
stage.root.set_timeout(3, game.pause, name="menu")
stage.root.set_timeout(5, game.resume, name="close")
pauses = []
stage.root.set_timeout(7, lambda: pauses.append(scheduler.pause_all(None)), name="stop")
stage.root.set_timeout(9, lambda: scheduler.resume(pauses[0]), name="go on")
""",
    )


def test_that_a_ticker_that_counts_refreshes_is_found_on_a_fast_screen(tmp_path: Path) -> None:
    found = lint(
        tmp_path,
        """
ticker = Ticker(clock=stage.root, name="ticker")
stage.root.set_interval(0.008333, ticker.run_frame, name="refresh")
ticker.set_frame_rate(60)
timer = TickerTimer(ticker, 1000, counting=BY_CALLS, name="second")
timer.on_timer = nothing
timer.start()
""",
        20,
    )

    pace = next(finding for finding in found if finding.kind is PACE)
    assert pace.text == (
        "“second” of “ticker” should be called every 1.00 s, but is called every 500 ms, 2 times "
        "as often as it should: it seems to count calls, not time."
    )
    assert pace.member_id


@pytest.mark.parametrize(("dialect", "drifts"), [("CREATOR_2_4", True), ("COCOS2DX_3_15", False)])
def test_that_only_dialects_that_forget_the_rest_of_a_frame_drift(
    tmp_path: Path, dialect: str, drifts: bool
) -> None:
    found = lint(
        tmp_path,
        f"""
scheduler = DialectScheduler({dialect}, clock=stage.root, name="engine")
actor = Actor()
scheduler.schedule(actor.shoot, 0.21, target=actor)
stage.every_frame(scheduler.run_frame)
""",
        30,
    )

    if not drifts:
        assert not found
        return
    drift = only(found, DRIFT)
    assert drift.text == (
        "“Actor.shoot” of scheduler “engine” should be called every 210 ms, but is called every "
        "217 ms: each time it counts from the frame in which it was called, so it loses 6.67 ms "
        "with every call."
    )


def test_that_frame_timers_that_become_more_and_more_are_a_leak(tmp_path: Path) -> None:
    found = lint(
        tmp_path,
        """
scheduler = stage.scheduler(name="calls")
actors = []
def spawn():
    actors.append(Actor())
    scheduler.schedule(actors[-1].shoot, 5, target=actors[-1])
stage.root.set_interval(0.25, spawn, name="spawn")
""",
    )

    leak = only(found, LEAK)
    assert leak.text == (
        "80 timers “Actor.shoot” belong to scheduler “calls”, and their number grows: 20, 40, 60, "
        "80 after each quarter of the time; few of them are ever unscheduled."
    )


def test_that_frame_timers_that_are_unscheduled_again_are_no_leak(tmp_path: Path) -> None:
    assert not lint(
        tmp_path,
        """
scheduler = stage.scheduler(name="calls")
actors = []
def spawn():
    actors.append(Actor())
    scheduler.schedule(actors[-1].shoot, 5, target=actors[-1])
    if len(actors) > 40:
        scheduler.unschedule_target(actors.pop(0))
stage.root.set_interval(0.25, spawn, name="spawn")
""",
    )


def test_that_timers_that_go_with_their_clock_are_no_leak(tmp_path: Path) -> None:
    assert not lint(
        tmp_path,
        """
levels = []
def enter():
    level = stage.root.child("level")
    levels.append(level)
    scheduler = stage.scheduler(level, name="calls")
    for actor in [Actor() for _ in range(8)]:
        scheduler.schedule(actor.shoot, 0.5, target=actor)
    if len(levels) > 1:
        levels.pop(0).remove()
stage.root.set_interval(2, enter, name="enter")
""",
    )


def test_that_a_herd_of_frame_timers_comes_with_a_stagger(tmp_path: Path) -> None:
    found = lint(
        tmp_path,
        """
scheduler = stage.scheduler(name="calls")
actors = [Actor() for _ in range(40)]
for actor in actors:
    scheduler.schedule(actor.shoot, 2, target=actor)
""",
        10,
    )

    herd = only(found, HERD)
    assert herd.text.startswith("40 timers of scheduler “calls” were called together in frame ")
    assert herd.text.endswith(
        "40 of them repeat every 2.00 s: first delays 50.0 ms apart would spread them evenly."
    )


def test_that_a_frame_timer_shorter_than_a_frame_says_how_often_it_is_called(
    tmp_path: Path,
) -> None:
    found = lint(
        tmp_path,
        """
scheduler = stage.scheduler(name="calls")
scheduler.schedule(nothing, 0.005)
""",
        5,
    )

    finding = only(found, SUB_FRAME)
    assert "should be called every 5.00 ms, which is shorter than a frame (16.7 ms)" in finding.text


def test_that_a_frame_timer_that_beats_against_the_frames_shows_its_pattern(
    tmp_path: Path,
) -> None:
    found = lint(
        tmp_path,
        """
scheduler = stage.scheduler(name="calls")
scheduler.schedule(nothing, 0.025)
""",
        5,
    )

    finding = only(found, BEAT)
    assert "which is 1.5 frames: its calls are " in finding.text
    assert "An interval of 16.7 ms or 33.3 ms would be even." in finding.text


def test_that_a_frame_timer_that_waits_for_a_paused_target_is_found(tmp_path: Path) -> None:
    found = lint(
        tmp_path,
        """
scheduler = stage.scheduler(name="calls")
actor = Actor()
scheduler.schedule(actor.shoot, 1, target=actor)
scheduler.pause_target(actor)
""",
        40,
    )

    finding = only(found, NEVER_FIRED)
    assert finding.text.startswith(
        "“Actor.shoot” of scheduler “calls” has waited for 40.0 s without ever being called: "
    )


def test_that_a_frame_timer_that_waits_for_a_paused_clock_is_found(tmp_path: Path) -> None:
    found = lint(
        tmp_path,
        """
game = stage.root.child("game")
game.pause()
scheduler = stage.scheduler(game, name="calls")
scheduler.schedule(nothing, 1)
""",
        40,
    )

    finding = only(found, NEVER_FIRED)
    assert finding.text == (
        "“nothing” of scheduler “calls” has waited for 40.0 s without ever being called: “game” "
        "has been paused since 0:00.000, before it was set."
    )


WOOD = """
from inspector.engines.creator.components import Component
from inspector.engines.creator.director import CreatorDirector

class Fox(Component):
    def on_destroy(self):
        self.on_gone()

    def look(self, _delta):
        pass

director = CreatorDirector(clock=stage.root, name="wood")
stage.every_frame(lambda delta: director.run_frame())
node = director.node("fox")
fox = node.add_component(Fox())
scheduler = stage.scheduler(stage.root, name="senses")
"""


def test_that_a_timer_whose_component_is_destroyed_is_found(tmp_path: Path) -> None:
    finding = only(
        lint(
            tmp_path,
            WOOD
            + """
fox.on_gone = nothing
scheduler.schedule(fox.look, 0.5, target=fox, name="sniff")
stage.root.set_timeout(4, node.destroy)
""",
        ),
        ORPHAN,
    )

    assert finding.text.startswith(
        "“sniff” of scheduler “senses” is still scheduled for the component “Fox”, which was "
        "destroyed 16.0 s ago, at 0:04."
    )
    assert "; “sniff” was last called at 0:2" in finding.text
    assert finding.at_ns // 10**9 == 4


def test_that_a_node_whose_updates_go_on_is_found(tmp_path: Path) -> None:
    finding = only(
        lint(
            tmp_path,
            WOOD
            + """
fox.on_gone = nothing
scheduler.schedule_update(node, callback=nothing, name="glow")
stage.root.set_timeout(4, node.destroy)
""",
        ),
        ORPHAN,
    )

    assert finding.text.startswith(
        "“glow” of scheduler “senses” is still scheduled for the node “fox”, which was destroyed"
    )


def test_that_a_node_is_called_by_its_last_name(tmp_path: Path) -> None:
    finding = only(
        lint(
            tmp_path,
            WOOD
            + """
fox.on_gone = nothing
scheduler.schedule_update(node, callback=nothing, name="glow")
def rename():
    node.name = "old fox"
stage.root.set_timeout(3, rename)
stage.root.set_timeout(4, node.destroy)
""",
        ),
        ORPHAN,
    )

    assert "still scheduled for the node “old fox”, which was destroyed" in finding.text


def test_that_what_is_unscheduled_with_its_component_is_no_finding(tmp_path: Path) -> None:
    assert not lint(
        tmp_path,
        WOOD
        + """
fox.on_gone = lambda: scheduler.unschedule_target(fox)
fox.schedule(fox.look, 0.7)
scheduler.schedule(fox.look, 0.7, target=fox)
stage.root.set_timeout(4, node.destroy)
""",
    )


def test_that_timers_of_what_lives_are_no_finding(tmp_path: Path) -> None:
    assert not lint(
        tmp_path,
        WOOD
        + """
fox.on_gone = nothing
scheduler.schedule(fox.look, 0.7, target=fox)
""",
    )
