"""Breakpoints of a hosted scene: they act in the very frame that caused them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from inspector.commands.breakpoints import AddBreakpoint, ChangeBreakpoint, RemoveBreakpoint
from inspector.commands.scene import Reload
from inspector.commands.transport import Run, StepFrames, StepToNextTimer
from inspector.events.conditions.breakpoint import BreakAction, BreakKind, Breakpoint
from inspector.sessions.breakpoints.breakpoints import MAX_BREAKPOINTS
from inspector.sessions.hosted import HostedSession
from inspector.sessions.session import SessionPhase
from inspector.testing import held_session, pass_seconds, scene_file, virtual_session

SCENE = """
    def build(stage):
        game = stage.root.child("game")
        game.set_interval(0.5, lambda: None, name="boss")
        stage.root.set_interval(0.1, lambda: None, name="tick")
        stage.root.set_timeout(0.75, lambda: stage.work(0.05), name="heavy")
"""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return scene_file(tmp_path, SCENE)


def refusals(session: HostedSession) -> list[str]:
    session.refresh()
    return [record.refusal for record in session.timeline.commands if record.refusal]


def test_that_a_hit_holds_the_scene_after_its_frame_and_says_why(scene: Path) -> None:
    session = virtual_session(scene)
    session.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "boss")))

    run = pass_seconds(session, 3)

    assert not run.is_complete
    assert session.status.phase is SessionPhase.HELD
    assert session.status.message == (
        "Held at 0:00.500 in frame 29 because timer “boss” fired; due again at local 00:01.000."
    )
    session.refresh()
    (hit,) = session.timeline.hits
    assert (hit.frame, session.timeline.frames.end) == (29, 30)
    session.close()


def test_that_running_goes_on_to_the_next_hit(scene: Path) -> None:
    session = virtual_session(scene)
    session.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "boss")))
    pass_seconds(session, 3)

    session.submit(Run())
    pass_seconds(session, 3)

    session.refresh()
    assert [hit.at_ns for hit in session.timeline.hits] == [500_000_000, 1_000_000_000]
    session.close()


def test_that_a_step_of_many_frames_ends_at_the_hit(scene: Path) -> None:
    session = held_session(scene)
    session.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "boss")))

    session.submit(StepFrames(200))

    session.refresh()
    assert session.timeline.frames.end == 30
    session.close()


def test_that_a_step_to_a_timer_is_looked_at_as_well(scene: Path) -> None:
    session = held_session(scene)
    session.submit(
        AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "tick", action=BreakAction.MARK))
    )

    session.submit(StepToNextTimer())

    session.refresh()
    assert [mark.text for mark in session.timeline.marks] == [
        "timer “tick” fired; due again at local 00:00.200"
    ]
    session.close()


def test_that_a_hit_can_pause_the_branch_or_the_root(scene: Path) -> None:
    session = virtual_session(scene)
    branch = Breakpoint(BreakKind.TIMER_FIRES, "boss", action=BreakAction.PAUSE_BRANCH)
    root = Breakpoint(
        BreakKind.CONDITION,
        condition='timer == "tick" and fired == 12',
        action=BreakAction.PAUSE_ROOT,
    )
    session.submit(AddBreakpoint(branch))
    session.submit(AddBreakpoint(root))

    run = pass_seconds(session, 3)

    session.refresh()
    assert run.is_complete
    paused = {clock.name: clock.paused_since_ns for clock in session.timeline.clocks.values()}
    assert paused["game"] == 500_000_000
    assert round(paused["root"] / 1e9, 2) == 1.20
    session.close()


def test_that_a_long_frame_is_a_hit_in_that_frame(scene: Path) -> None:
    session = virtual_session(scene)
    session.submit(AddBreakpoint(Breakpoint(BreakKind.FRAME_ABOVE, limit_ns=30_000_000)))

    pass_seconds(session, 3)

    session.refresh()
    (hit,) = session.timeline.hits
    assert session.timeline.frames.end - 1 == hit.frame
    assert session.timeline.frames.frame(hit.frame).interval_ns > 30_000_000
    session.close()


def test_that_breakpoints_survive_a_reload_and_look_at_the_new_run(scene: Path) -> None:
    session = virtual_session(scene)
    session.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "boss")))
    pass_seconds(session, 3)

    session.submit(Reload())
    session.submit(Run())
    pass_seconds(session, 3)

    session.refresh()
    assert [hit.frame for hit in session.timeline.hits] == [29]
    assert session.breakpoints.hits(1) == 2
    session.close()


def test_that_changing_and_removing_are_commands(scene: Path) -> None:
    session = held_session(scene)
    session.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "boss")))
    session.submit(ChangeBreakpoint(1, Breakpoint(BreakKind.TIMER_FIRES, is_enabled=False)))
    session.submit(RemoveBreakpoint(1))
    session.submit(RemoveBreakpoint(1))

    assert refusals(session) == ["There is no breakpoint 1 any more."]
    assert [record.text for record in session.timeline.commands] == [
        "break when timer “boss” fires: hold the scene",
        "turn off breakpoint 1: a timer fires",
        "remove breakpoint 1",
        "remove breakpoint 1",
    ]
    assert len(session.breakpoints) == 0
    session.close()


def test_that_too_many_are_refused(scene: Path) -> None:
    session = held_session(scene)
    for _ in range(MAX_BREAKPOINTS + 1):
        session.submit(AddBreakpoint(Breakpoint(BreakKind.CALLBACK_RAISED)))

    assert refusals(session) == ["There are 200 breakpoints; remove some first."]
    session.close()


@pytest.mark.parametrize("action", [BreakAction.MARK, BreakAction.PAUSE_ROOT, BreakAction.HOLD])
@pytest.mark.parametrize("make", [virtual_session, held_session])
def test_that_a_breakpoint_does_not_go_on_hitting_what_it_does_itself(
    scene: Path, make: Callable[[Path], HostedSession], action: BreakAction
) -> None:
    session = make(scene)
    condition = Breakpoint(BreakKind.CONDITION, condition="frame >= 0", action=action)
    session.submit(AddBreakpoint(condition))
    session.submit(AddBreakpoint(structs.replace(condition, condition='kind != "mark"')))

    if make is virtual_session:
        pass_seconds(session, 0.5)
    else:
        for _ in range(30):
            session.submit(StepFrames(1))

    # Two breakpoints see a handful of events in each frame and do little about each.
    session.refresh()
    assert session.log.end < 30 * 250
    session.close()


def test_that_marks_of_a_breakpoint_on_marks_do_not_pile_up(tmp_path: Path) -> None:
    path = scene_file(
        tmp_path,
        """
        def build(stage):
            stage.root.set_interval(0.1, lambda: stage.mark("hey"))
        """,
    )
    session = virtual_session(path)
    on_marks = Breakpoint(BreakKind.CONDITION, condition='kind == "mark"', action=BreakAction.MARK)
    session.submit(AddBreakpoint(on_marks))

    pass_seconds(session, 1)

    session.refresh()
    assert [mark.text for mark in session.timeline.marks[:2]] == [
        "hey",
        'kind == "mark": mark: hey',
    ]
    assert len(session.timeline.marks) == 20
    session.close()


def test_that_a_pause_by_one_breakpoint_is_a_hit_of_another_in_the_same_frame(
    scene: Path,
) -> None:
    session = virtual_session(scene)
    session.submit(
        AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "boss", action=BreakAction.PAUSE_BRANCH))
    )
    session.submit(AddBreakpoint(Breakpoint(BreakKind.CLOCK_PAUSED, "game")))

    pass_seconds(session, 3)

    session.refresh()
    assert session.status.phase is SessionPhase.HELD
    assert session.timeline.frames.end == 30
    assert [hit.at_ns for hit in session.timeline.hits] == [500_000_000] * 2
    session.close()


def test_that_what_has_passed_before_a_breakpoint_was_set_is_no_hit(scene: Path) -> None:
    session = virtual_session(scene)
    pass_seconds(session, 2)

    session.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "heavy")))

    assert pass_seconds(session, 2).is_complete
    assert session.breakpoints.hits(1) == 0
    session.close()


def test_that_a_breakpoint_is_not_hit_by_what_has_set_it(scene: Path) -> None:
    session = virtual_session(scene)
    on_commands = Breakpoint(
        BreakKind.CONDITION, condition='kind == "command"', action=BreakAction.MARK
    )
    session.submit(AddBreakpoint(on_commands))
    pass_seconds(session, 0.1)
    session.submit(AddBreakpoint(on_commands))
    pass_seconds(session, 0.1)
    session.submit(ChangeBreakpoint(1, structs.replace(on_commands, from_hit=2)))
    pass_seconds(session, 0.1)

    assert [hits for _, _, hits in session.breakpoints.items()] == [1, 1]
    session.close()


def test_that_timers_of_schedulers_and_tickers_fire_too(tmp_path: Path) -> None:
    session = virtual_session(
        scene_file(
            tmp_path,
            """
            def build(stage):
                stage.scheduler().schedule(lambda _: None, 0.3, name="frame timer")
                def refresh(): pass
                stage.ticker().set_interval(refresh, 250)
                stage.root.set_timeout(1, lambda: None, name="plain")
            """,
        )
    )
    for subject in ("", "frame timer", "build.refresh"):
        breakpoint_ = Breakpoint(BreakKind.TIMER_FIRES, subject, action=BreakAction.MARK)
        session.submit(AddBreakpoint(breakpoint_))

    pass_seconds(session, 1.5)

    hits = [session.breakpoints.hits(number) for number in (1, 2, 3)]
    assert hits[1] >= 4
    assert hits[2] >= 4
    assert hits[0] == hits[1] + hits[2] + 1
