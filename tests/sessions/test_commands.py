"""Commands are applied at once while held, at the frame boundary while running, and recorded."""

import threading
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from inspector.clocks import FailurePolicy, ManualTimeSource
from inspector.commands.breakpoints import AddBreakpoint, ChangeBreakpoint, RemoveBreakpoint
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.command import Command
from inspector.commands.recording import SaveLast, StartRecording, StopRecording
from inspector.commands.scene import AddMark, Reload, SetFailurePolicy, SetFrameRate, Undo
from inspector.commands.timers import ClearTimer, FireTimer
from inspector.commands.transport import Hold, Run, StepBy, StepFrames, StepTo, StepToNextTimer
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.sessions.hosted import HostedSession
from inspector.sessions.session import SessionPhase
from inspector.testing import fired, held_session, scene_file
from inspector.timebase import NS_PER_MS, NS_PER_SECOND

SCENE = """
    def build(stage):
        game = stage.root.child("game")
        enemies = game.child("enemies")
        enemies.set_interval(0.5, lambda: None, name="spawn")
        game.set_timeout(2, lambda: None, name="boss")
        stage.root.child("empty")
"""
GAME, ENEMIES = 2, 3


@pytest.fixture
def source() -> ManualTimeSource:
    return ManualTimeSource()


@pytest.fixture
def session(tmp_path: Path, source: ManualTimeSource) -> Iterator[HostedSession]:
    session = held_session(scene_file(tmp_path, SCENE), source)
    yield session
    session.close()


def submit(session: HostedSession, command: Command) -> str:
    """Submit a command; returns its refusal, empty if it was carried out."""
    before = len(session.timeline.commands)
    session.submit(command)
    session.refresh()
    records = session.timeline.commands[before:]
    assert len(records) == 1
    return records[0].refusal


def timer_named(session: HostedSession, label: str) -> int:
    timers = session.timeline.timers
    return next(number for number in timers.ids() if timers.row(number).label == label)


_BREAK = Breakpoint(BreakKind.TIMER_FIRES, "boss")
_OTHER = Breakpoint(BreakKind.TIMER_FIRES, "spawn")


@pytest.mark.parametrize(
    ("before", "command", "inverse"),
    [
        (None, PauseClock(GAME), ResumeClock(GAME)),
        (PauseClock(GAME), PauseClock(GAME), None),
        (PauseClock(GAME), ResumeClock(GAME), PauseClock(GAME)),
        (None, ResumeClock(GAME), None),
        (None, SetRate(GAME, Fraction(2)), SetRate(GAME, Fraction(1))),
        (SetRate(GAME, Fraction(2)), SetRate(GAME, Fraction(1, 3)), SetRate(GAME, Fraction(2))),
        (SetRate(GAME, Fraction(2)), SetRate(GAME, Fraction(2)), None),
        (None, SetFrameRate(Fraction(30)), SetFrameRate(Fraction(60))),
        (None, SetFrameRate(Fraction(60)), None),
        (
            None,
            SetFailurePolicy(FailurePolicy.PAUSE_BRANCH),
            SetFailurePolicy(FailurePolicy.CONTINUE),
        ),
        (None, SetFailurePolicy(FailurePolicy.CONTINUE), None),
        (None, AddBreakpoint(_BREAK), RemoveBreakpoint(1)),
        (None, AddBreakpoint(_BREAK, is_kept=True), None),
        (AddBreakpoint(_BREAK), AddBreakpoint(_OTHER), RemoveBreakpoint(2)),
        (AddBreakpoint(_BREAK), RemoveBreakpoint(1), AddBreakpoint(_BREAK)),
        (AddBreakpoint(_BREAK), ChangeBreakpoint(1, _OTHER), ChangeBreakpoint(1, _BREAK)),
        (SetRate(GAME, Fraction(2)), Undo(1), SetRate(GAME, Fraction(2))),
        (None, AddMark("here"), None),
    ],
    ids=str,
)
def test_that_what_a_command_changes_can_be_undone(
    session: HostedSession, before: Command | None, command: Command, inverse: Command | None
) -> None:
    if before is not None:
        assert submit(session, before) == ""
    former = session.undoing.newest
    submit(session, command)

    number = session.timeline.commands[-1].number
    assert session.undoing.of(number) == inverse
    # What was undone is no longer to be undone.
    kept = 0 if isinstance(command, Undo) else former
    assert session.undoing.newest == (kept if inverse is None else number)


def test_that_a_command_on_a_timer_is_about_its_clock(session: HostedSession) -> None:
    spawn = timer_named(session, "spawn")
    about = [FireTimer(each).clock_about(session.timeline) for each in (spawn, 999)]

    assert about == [ENEMIES, 0]


def test_that_a_command_is_applied_at_once_while_held(session: HostedSession) -> None:
    session.submit(PauseClock(GAME))
    session.refresh()

    assert session.timeline.clocks[GAME].paused
    assert session.timeline.clocks[GAME].pause_cause == 1
    assert [record.text for record in session.timeline.commands] == ["pause “game”"]


def test_that_a_command_waits_for_the_frame_while_running(
    session: HostedSession, source: ManualTimeSource
) -> None:
    session.submit(Run())
    source.advance_ns(10 * NS_PER_MS)
    session.submit(PauseClock(GAME))
    session.refresh()
    assert not session.timeline.clocks[GAME].paused

    source.advance_ns(10 * NS_PER_MS)
    session.refresh()

    game = session.timeline.clocks[GAME]
    assert game.paused
    assert game.paused_since_ns == 16_666_667
    assert session.timeline.frames.at_ns[0] == 16_666_667


def test_that_hold_stops_at_the_frame_boundary(
    session: HostedSession, source: ManualTimeSource
) -> None:
    session.submit(Run())
    session.submit(Hold())
    source.advance(1)
    session.refresh()

    assert session.status.phase is SessionPhase.HELD
    assert len(session.timeline.frames) >= 1
    held_at_ns = session.session_ns
    source.advance(1)
    assert session.session_ns == held_at_ns


def test_that_commands_from_other_threads_are_applied_by_the_owner(
    session: HostedSession,
) -> None:
    threads = [
        threading.Thread(target=session.submit, args=(AddMark(f"mark {i}"),)) for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.timeline.marks == []

    session.refresh()

    assert sorted(mark.text for mark in session.timeline.marks) == [f"mark {i}" for i in range(8)]


def test_that_steps_of_frames_are_a_period_apart(session: HostedSession) -> None:
    assert submit(session, StepFrames(3)) == ""

    assert list(session.timeline.frames.at_ns) == [16_666_667, 33_333_334, 50_000_001]
    assert session.status.phase is SessionPhase.HELD


def test_that_a_step_by_a_duration_runs_what_is_due_in_it(session: HostedSession) -> None:
    assert submit(session, StepBy(NS_PER_SECOND)) == ""

    assert session.timeline.at_ns == NS_PER_SECOND
    assert fired(session) == {"spawn": 2, "boss": 0}
    assert len(session.timeline.frames) == 59


def test_that_a_step_to_the_next_timer_stops_there(session: HostedSession) -> None:
    submit(session, SetRate(GAME, Fraction(1, 4)))

    assert submit(session, StepToNextTimer()) == ""

    assert session.timeline.at_ns == 2 * NS_PER_SECOND
    assert fired(session)["spawn"] == 1


def test_that_a_step_to_an_instant_gets_there_exactly(session: HostedSession) -> None:
    assert submit(session, StepTo(123_456_789)) == ""

    assert session.timeline.at_ns == 123_456_789


@pytest.mark.parametrize("step", [StepFrames(1), StepBy(1), StepTo(10**12), StepToNextTimer()])
def test_that_stepping_while_running_asks_to_hold_first(
    session: HostedSession, source: ManualTimeSource, step: Command
) -> None:
    session.submit(Run())
    session.submit(step)
    source.advance_ns(20 * NS_PER_MS)
    session.refresh()

    assert session.timeline.commands[-1].refusal == "The scene is running. Hold it first."


def test_that_there_is_no_next_timer_when_none_is_pending(session: HostedSession) -> None:
    submit(session, ClearTimer(timer_named(session, "spawn")))
    submit(session, ClearTimer(timer_named(session, "boss")))

    assert submit(session, StepToNextTimer()) == "No timer is pending, so there is none to step to."


def test_that_there_is_no_next_timer_when_all_are_paused(session: HostedSession) -> None:
    submit(session, PauseClock(GAME))

    refusal = submit(session, StepToNextTimer())

    assert refusal == (
        "2 timers wait, but none can fire because “game” is paused or at rate 0. "
        "Resume a branch first."
    )


def test_that_time_cannot_be_stepped_back(session: HostedSession) -> None:
    submit(session, StepBy(NS_PER_SECOND))

    assert "0:00.500 has passed (it is 0:01.000)" in submit(session, StepTo(NS_PER_SECOND // 2))
    assert "goes forward" in submit(session, StepBy(0))
    assert "1 to 1,000,000 frames, not 0" in submit(session, StepFrames(0))


def test_that_what_is_gone_is_refused_with_a_sentence(session: HostedSession) -> None:
    assert submit(session, PauseClock(99)) == "There is no clock 99 any more."
    assert submit(session, SetRate(99, Fraction(1))) == "There is no clock 99 any more."
    boss = timer_named(session, "boss")
    assert submit(session, FireTimer(boss)) == ""
    assert submit(session, FireTimer(boss)) == f"Timer {boss} is gone: it has fired or was cleared."
    assert submit(session, ClearTimer(boss)).startswith(f"Timer {boss} is gone")


@pytest.mark.parametrize("rate", [Fraction(-1), Fraction(10**9), Fraction(1, 10**12)])
def test_that_a_rate_out_of_range_is_refused(session: HostedSession, rate: Fraction) -> None:
    assert submit(session, SetRate(GAME, rate)) != ""
    assert session.timeline.clocks[GAME].rate == 1


def test_that_firing_now_uses_up_a_timeout_and_keeps_an_interval(session: HostedSession) -> None:
    spawn = timer_named(session, "spawn")
    due_ns = session.timeline.timers.row(spawn).due_ns

    submit(session, FireTimer(spawn))
    submit(session, FireTimer(timer_named(session, "boss")))

    assert fired(session) == {"spawn": 1, "boss": 1}
    assert session.timeline.timers.row(spawn).due_ns == due_ns
    assert len(session.timeline.timers) == 1


def test_that_a_timer_on_a_paused_clock_can_be_fired(session: HostedSession) -> None:
    submit(session, PauseClock(GAME))

    assert submit(session, FireTimer(timer_named(session, "spawn"))) == ""

    assert fired(session)["spawn"] == 1


def test_that_pause_and_resume_twice_change_nothing_and_are_not_refused(
    session: HostedSession,
) -> None:
    for command in (PauseClock(GAME), PauseClock(GAME), ResumeClock(GAME), ResumeClock(GAME)):
        assert submit(session, command) == ""

    assert not session.timeline.clocks[GAME].paused


def test_that_the_frame_rate_can_be_changed(session: HostedSession) -> None:
    assert submit(session, SetFrameRate(Fraction(10))) == ""
    submit(session, StepFrames(2))

    assert session.frame_rate == 10
    assert list(session.timeline.frames.interval_ns) == [10**8, 10**8]
    assert "between 1/60 and 10,000" in submit(session, SetFrameRate(Fraction(0)))


def test_that_the_failure_policy_can_be_changed(session: HostedSession) -> None:
    submit(session, SetFailurePolicy(FailurePolicy.STOP))

    assert session.failure_policy is FailurePolicy.STOP


def test_that_letting_go_keeps_a_users_pause(
    session: HostedSession, source: ManualTimeSource
) -> None:
    submit(session, PauseClock(ENEMIES))
    submit(session, Run())
    source.advance(1)
    session.submit(Hold())
    source.advance(1)
    session.submit(Run())
    source.advance(2)
    session.refresh()

    assert session.timeline.clocks[ENEMIES].paused
    assert fired(session) == {"spawn": 0, "boss": 1}


def test_that_nothing_but_a_reload_is_accepted_by_a_failed_scene(tmp_path: Path) -> None:
    failed = held_session(scene_file(tmp_path, "x = 1\n", "failed.py"))

    for command in (Run(), StepFrames(1), PauseClock(1), AddMark("x")):
        assert submit(failed, command) == "No scene is running. Fix the file and reload it."
    failed.close()


def test_that_a_callback_may_submit_commands(tmp_path: Path) -> None:
    source = ManualTimeSource()
    session = held_session(scene_file(tmp_path, SCENE), source)
    run = session._run

    def ask() -> None:
        for command in (Hold(), StepFrames(2), Reload()):
            session.submit(command)

    run.tree.root.set_timeout(1, ask)
    session.submit(Run())

    source.advance(2)
    session.refresh()

    assert session.generation == 1
    assert session.session_ns == 0
    session.close()


def test_that_every_command_has_a_sentence_and_a_capability(session: HostedSession) -> None:
    commands: dict[Command, str] = {
        Run(): "run",
        Hold(): "hold",
        StepFrames(): "step 1 frame",
        StepFrames(10): "step 10 frames",
        StepBy(250 * NS_PER_MS): "step by 250 ms",
        StepToNextTimer(): "step to the next timer",
        StepTo(1_500 * NS_PER_MS): "step to 0:01.500",
        PauseClock(GAME): "pause “game”",
        ResumeClock(77): "resume clock 77",
        SetRate(GAME, Fraction(1, 3)): "set the rate of “game” to 1/3",
        ClearTimer(timer_named(session, "boss")): "clear “boss”",
        FireTimer(77): "fire timer 77 now",
        SetFrameRate(Fraction(120)): "run 120 frames per second",
        AddMark("here"): "mark “here”",
        Reload(): "reload the scene",
        SetFailurePolicy(FailurePolicy.PAUSE_BRANCH): "after a failure: pause branch",
        StartRecording("a.tlrec"): "record to a.tlrec",
        StartRecording(""): "record to a new file",
        SaveLast("", 250 * NS_PER_MS): "save the last 250 ms to a new file",
        StopRecording(): "stop recording",
    }

    for command, text in commands.items():
        assert command.sentence(session.timeline) == text
        assert command.capability in session.capabilities
