"""Going back in time: the scene is rebuilt and behaves the same, event by event."""

from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.clocks import ManualTimeSource
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.clocks import PauseClock
from inspector.commands.command import Command, command_in
from inspector.commands.members import (
    MakeTransition,
    PauseFromPriority,
    PauseMember,
    ResumeFromPriority,
    ResumeMember,
    SetTimeScale,
    UnscheduleMember,
)
from inspector.commands.scene import (
    AddMark,
    Reload,
    RewindTo,
    StepBack,
    Undo,
)
from inspector.commands.transport import Hold, Run, StepBy, StepFrames, StepTo
from inspector.events.conditions.breakpoint import BreakAction, BreakKind, Breakpoint
from inspector.sessions.hosted import HostedSession
from inspector.sessions.replay.journal import (
    AppliedCommand,
    CommandPlace,
    Journal,
    JournalError,
    command_form,
)
from inspector.sessions.replay.replay import RunEvents, digest_of, first_difference
from inspector.sessions.replay.rerun import rerun
from inspector.sessions.replay.rewinding import ScriptFollower
from inspector.sessions.scene import built_in_scenes
from inspector.sessions.session import SessionPhase
from inspector.testing import fired, held_session, pass_seconds, scene_file, virtual_session
from inspector.timebase import NS_PER_MS, NS_PER_SECOND
from inspector.vocabulary import FRAME_BEGAN, MARK, READING
from tests.sessions.random_commands import SOURCES, commands, let_pass, rates

SCENE = """
    def build(stage):
        game = stage.root.child("game", "1/3")
        enemies = game.child("enemies", 2)
        ui = stage.root.child("ui")
        def spawn():
            if game.pending_count > 6:
                raise RuntimeError("too many")
            game.set_timeout(stage.random.random(), spawn)
            enemies.set_timeout(0.1, lambda: None)
        game.set_interval(0.25, spawn, name="spawn")
        enemies.set_interval(0.07, lambda: None, missed="skip", name="tick")
        ui.set_interval(0.5, lambda: (game.resume() or game.pause()), name="toggle")
        ui.set_timeout(1.7, lambda: enemies.move_to(ui), name="move")
        ui.set_timeout(0.9, lambda: stage.work(0.1), name="work")
        stage.every_frame(lambda delta: None, clock=enemies)
        scheduler = stage.scheduler(game)
        scheduler.schedule(lambda delta: stage.mark("scheduled"), 0.3)
"""

member_ids = st.integers(1, 40)
breakpoints = st.sampled_from(
    [
        Breakpoint(BreakKind.TIMER_FIRES, subject="spawn", action=BreakAction.HOLD),
        Breakpoint(BreakKind.TIMER_FIRES, subject="tick", action=BreakAction.MARK),
        Breakpoint(BreakKind.TIMER_FIRES, subject="toggle", action=BreakAction.PAUSE_BRANCH),
    ]
)
any_commands: st.SearchStrategy[Command] = st.one_of(
    commands,
    st.builds(AddBreakpoint, breakpoints),
    st.builds(Undo, st.integers(1, 20)),
    st.builds(StepBack, st.integers(0, 10)),
    st.builds(RewindTo, st.integers(0, 10**9)),
    st.builds(PauseMember, member_ids),
    st.builds(ResumeMember, member_ids),
    st.builds(PauseFromPriority, member_ids, st.integers(-2, 2)),
    st.builds(ResumeFromPriority, member_ids),
    st.builds(UnscheduleMember, member_ids),
    st.builds(SetTimeScale, member_ids, rates),
    st.builds(MakeTransition, member_ids, st.sampled_from(["start", "open", "lose sight"])),
)
#: Of these scenes each has another kind of member; the first has clocks and timers.
scenes = st.sampled_from(
    ["", "07_schedulers", "08_components", "09_fast_screen", "10_state", "11_component"]
)
steps = st.lists(st.one_of(any_commands, st.integers(1, 3 * 10**8)), max_size=25)
#: What else happens while a session goes back in time slice by slice.
meanwhile = st.sampled_from(["refresh", "cancel"])
sliced_steps = st.lists(st.one_of(any_commands, st.integers(1, 3 * 10**8), meanwhile), max_size=25)


def named(scene: str, otherwise: Path) -> Path:
    """Return a scene that comes with the inspector by the beginning of its name."""
    found = [each.path for each in built_in_scenes() if scene and each.path.name.startswith(scene)]
    return found[0] if found else otherwise


def step_one_by_one(session: HostedSession, frames: int) -> None:
    """Run frames, with a command for each: a command is done again at one go."""
    for _ in range(frames):
        session.submit(StepFrames(1))


def phase_of(session: HostedSession) -> SessionPhase:
    return session.status.phase


def go_all_the_way(session: HostedSession) -> None:
    """Let what goes back in time, or makes a step, be done with it."""
    session.refresh()
    while session.status.phase.goes_on:
        session.refresh()


def compared(session: HostedSession) -> RunEvents:
    return RunEvents(session.log.read(0).events, session.log.strings)


def digest(session: HostedSession) -> str:
    return digest_of(session.log.read(0).events, session.log.strings)


def again(session: HostedSession, journal: Journal) -> HostedSession:
    """Run a session's scene again in a separate session."""
    source = ManualTimeSource() if journal.beginning.is_manual else VirtualTimeSource()
    other = HostedSession(session.scene_path, source, autorun=False)
    other.run_again(journal)
    other.refresh()
    return other


@pytest.fixture(scope="module")
def scene_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scene_file(tmp_path_factory.mktemp("scene"), SCENE)


def test_that_a_scene_that_began_once_its_host_was_ready_goes_back(scene_path: Path) -> None:
    source = VirtualTimeSource()
    session = HostedSession(scene_path, source)
    for _ in range(3):
        source.jump_ns(20 * NS_PER_MS)
        session.begin()
    source.pass_ns(NS_PER_SECOND)

    other = again(session, Journal.from_events(session.log.read(0).events, session.log.strings))
    assert digest(other) == digest(session)
    session.submit(StepBack(10))
    source.pass_ns(20 * NS_PER_MS)
    go_all_the_way(session)
    assert [each.refusal for each in session.timeline.commands] == [""]


@given(
    steps=steps,
    source=st.builds(lambda kind: kind(), st.sampled_from(SOURCES)),
    autorun=st.booleans(),
    scene=scenes,
)
def test_that_a_scene_does_the_same_again(
    scene_path: Path,
    steps: list[Command | int],
    source: ManualTimeSource | VirtualTimeSource,
    autorun: bool,
    scene: str,
) -> None:
    session = HostedSession(named(scene, scene_path), source, autorun=autorun)
    for step in steps:
        if isinstance(step, int):
            let_pass(source, step)
        else:
            session.submit(step)
    session.refresh()
    for record in session.timeline.commands:
        assert "did something else" not in record.refusal

    recorded = Journal.from_events(session.log.read(0).events, session.log.strings)
    for journal in (session._run.journal, recorded):
        other = again(session, journal)
        assert first_difference(compared(session), compared(other)) is None
        assert digest(other) == digest(session)
        other.close()
    session.close()


@given(
    steps=sliced_steps,
    source=st.builds(lambda kind: kind(), st.sampled_from(SOURCES)),
    autorun=st.booleans(),
    scene=scenes,
)
def test_that_going_back_slice_by_slice_or_cancelling_it_leaves_a_run_that_can_be_done_again(
    scene_path: Path,
    steps: list[Command | int | str],
    source: ManualTimeSource | VirtualTimeSource,
    autorun: bool,
    scene: str,
) -> None:
    session = HostedSession(named(scene, scene_path), source, autorun=autorun)
    session.slice_ns = 0
    for step in steps:
        if isinstance(step, int):
            let_pass(source, step)
        elif step == "refresh":
            session.refresh()
        elif step == "cancel":
            session.break_off()
        elif not isinstance(step, str):
            session.submit(step)
    go_all_the_way(session)
    for record in session.timeline.commands:
        assert "did something else" not in record.refusal

    other = again(session, session._run.journal)
    assert first_difference(compared(session), compared(other)) is None
    other.close()
    session.close()


def test_that_a_session_is_what_it_was_until_it_has_gone_back(scene_path: Path) -> None:
    session = held_session(scene_path)
    step_one_by_one(session, 60)
    session.refresh()
    log, timeline, before = session.log, session.timeline, digest(session)

    session.slice_ns = 0
    session.submit(StepBack(10))
    session.submit(StepFrames(1))
    session.refresh()

    assert phase_of(session) is SessionPhase.REWINDING
    assert session.status.message.startswith("Going back to frame 50: ")
    assert (session.log, session.timeline) == (log, timeline)
    assert (session.frames_run, digest(session)) == (60, before)

    go_all_the_way(session)

    assert session.status.phase is SessionPhase.HELD
    assert session.log is not log
    assert session.frames_run == 51
    assert [record.refusal for record in session.timeline.commands] == [""] * 52
    session.close()


def test_that_steps_back_that_wait_are_one(scene_path: Path) -> None:
    session = held_session(scene_path)
    step_one_by_one(session, 60)
    session.slice_ns = 0
    for _ in range(5):
        session.submit(StepBack())
    session.submit(StepFrames(1))
    go_all_the_way(session)

    # Events after the instant of the rewind are not part of this run.
    texts = [record.text for record in session.timeline.commands[-2:]]
    assert texts == ["go back 4 frames", "step 1 frame"]
    assert session.frames_run == 56
    assert rerun(session.history, scene_path).is_same
    session.close()


def test_that_merged_steps_back_beyond_every_number_are_refused_alike(scene_path: Path) -> None:
    session = held_session(scene_path)
    step_one_by_one(session, 5)
    session.slice_ns = 0
    for frames in (1, 2**63 - 1, 1):
        session.submit(StepBack(frames))
    go_all_the_way(session)

    assert "must be a whole number" in session.timeline.commands[-1].refusal
    assert rerun(session.history, scene_path).is_same
    session.close()


def test_that_going_back_can_be_cancelled(scene_path: Path) -> None:
    session = held_session(scene_path)
    step_one_by_one(session, 60)
    session.refresh()
    log = session.log

    session.slice_ns = 0
    session.submit(StepBack(10))
    session.refresh()
    session.break_off()
    session.refresh()

    assert session.log is log
    assert (session.status.phase, session.frames_run) == (SessionPhase.HELD, 60)
    last = session.timeline.commands[-1]
    assert (last.text, last.refusal) == (
        "go back 10 frames",
        "It was cancelled before it finished.",
    )
    session.submit(StepFrames(30))
    go_all_the_way(session)
    assert session.frames_run == 90
    assert rerun(session.history, scene_path).is_same
    session.submit(StepBack(10))
    assert session.rewinding is not None
    session.close()
    assert session.rewinding is None


@pytest.mark.parametrize(
    "step", [StepFrames(200), StepBy(200 * NS_PER_SECOND // 60), StepTo(10 * NS_PER_SECOND // 3)]
)
def test_that_one_long_step_is_gone_through_in_slices(scene_path: Path, step: Command) -> None:
    session = held_session(scene_path)
    session.submit(step)
    session.refresh()
    frames, before = session.frames_run, digest(session)
    assert frames in {199, 200}

    session.slice_ns = 0
    session.submit(StepBack(50))
    session.refresh()
    shares = []
    for _ in range(20):
        rewinding = session.rewinding
        assert rewinding is not None
        shares.append(rewinding.second.frames_run)
        session.refresh()
    assert shares == sorted(set(shares))
    assert shares[-1] <= 25
    session.break_off()
    assert (session.frames_run, phase_of(session)) == (frames, SessionPhase.HELD)
    assert session.timeline.at_ns == session.session_ns

    session.submit(StepBack(50))
    go_all_the_way(session)
    assert session.frames_run == frames - 50
    assert session.timeline.commands[-1].refusal == ""
    session.submit(StepFrames(50))
    session.refresh()
    assert rerun(session.history, scene_path).is_same
    assert before != digest(session)
    session.close()


def test_that_an_interrupted_rewind_leaves_the_session_where_it_was(
    scene_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = held_session(scene_path)
    session.submit(StepFrames(60))
    session.refresh()
    log = session.log

    def interrupt(_script: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ScriptFollower, "_follow", interrupt)
        with pytest.raises(KeyboardInterrupt):
            session.submit(StepBack(10))
    session.refresh()
    assert (session.log, session.frames_run, session.rewinding) == (log, 60, None)

    session.submit(StepBack(10))
    session.refresh()
    assert session.frames_run == 50
    assert session.timeline.commands[-1].refusal == ""
    session.close()


def test_that_a_running_scene_is_held_while_it_goes_back(scene_path: Path) -> None:
    session = virtual_session(scene_path)
    session.slice_ns = 0
    pass_seconds(session, 2)
    frames = session.frames_run + 1

    session.submit(StepBack(10))
    pass_seconds(session, 1)
    assert session.status.phase is SessionPhase.REWINDING
    assert session.rewinding is not None
    # From the end of the frame at which it was asked for, as no wake-up is left in its midst.
    assert (session.frames_run, session.rewinding.frame) == (frames, frames - 10)
    session.break_off()
    session.refresh()
    assert (session.frames_run, session.is_running) == (frames, False)

    session.submit(Run())
    pass_seconds(session, 1)

    assert session.frames_run > frames + 50
    assert rerun(session.history, scene_path).is_same
    session.close()


def test_that_modules_beside_a_scene_are_its_own_in_each_run(tmp_path: Path) -> None:
    (tmp_path / "counted.py").write_text("count = [0]\n", encoding="utf-8")
    path = scene_file(
        tmp_path,
        """
        import counted
        def build(stage):
            def tick():
                import counted as found
                assert found is counted
                counted.count[0] += 1
                stage.mark(str(counted.count[0]))
            stage.root.set_interval(0.05, tick)
        """,
    )
    session = held_session(path)
    step_one_by_one(session, 60)
    session.slice_ns = 0
    for cancels in (True, False):
        session.submit(StepBack(10))
        session.refresh()
        if cancels:
            session.break_off()
        go_all_the_way(session)
        session.submit(StepFrames(10))
        go_all_the_way(session)

    assert not session.timeline.failures
    assert [mark.text for mark in session.timeline.marks] == [str(n + 1) for n in range(23)]
    session.close()


@given(
    frames=st.integers(1, 150),
    back=st.integers(1, 150),
    source=st.builds(lambda kind: kind(), st.sampled_from(SOURCES)),
)
def test_that_going_back_and_forward_again_is_the_same(
    scene_path: Path, frames: int, back: int, source: ManualTimeSource | VirtualTimeSource
) -> None:
    session = HostedSession(scene_path, source, autorun=False)
    session.submit(StepFrames(frames))
    session.refresh()
    back = min(back, frames)
    at_ns = list(session.timeline.frames.at_ns)
    marks = [(mark.at_ns, mark.text) for mark in session.timeline.marks]
    counts = fired(session)

    session.submit(StepBack(back))
    session.refresh()

    assert session.timeline.commands[-1].refusal == ""
    assert session.frames_run == len(session.timeline.frames) == frames - back
    assert session.session_ns == ([0, *at_ns][frames - back])

    session.submit(StepFrames(back))
    session.refresh()

    assert list(session.timeline.frames.at_ns) == at_ns
    assert [(mark.at_ns, mark.text) for mark in session.timeline.marks] == marks
    assert fired(session) == counts
    session.close()


def test_that_a_run_on_virtual_time_can_be_rewound_and_goes_on(scene_path: Path) -> None:
    session = virtual_session(scene_path)
    pass_seconds(session, 2)
    before = list(session.timeline.frames.at_ns)

    session.submit(RewindTo(NS_PER_SECOND))
    let_pass_frames = session.source
    assert isinstance(let_pass_frames, VirtualTimeSource)
    let_pass_frames.pass_ns(20 * NS_PER_MS)
    session.refresh()

    assert session.status.phase is SessionPhase.HELD
    assert session.timeline.commands[-1].text == "go back to 0:01.000"
    assert session.timeline.commands[-1].refusal == ""
    assert list(session.timeline.frames.at_ns) == [at for at in before if at <= NS_PER_SECOND]

    pass_seconds(session, 1)
    assert len(session.timeline.frames) > len(before) - 20
    session.close()


def test_that_one_can_go_on_differently_and_go_back_again(scene_path: Path) -> None:
    session = held_session(scene_path)
    session.submit(StepFrames(60))
    session.submit(StepBack(30))
    session.submit(PauseClock(4))
    session.submit(StepFrames(30))
    session.refresh()
    paused = fired(session)

    session.submit(StepBack(10))
    session.submit(StepFrames(10))
    session.refresh()

    assert [record.refusal for record in session.timeline.commands] == [""] * 6
    assert session.timeline.clocks[4].paused
    assert fired(session) == paused
    numbers = [record.number for record in session.timeline.commands]
    assert numbers == sorted(set(numbers))
    session.close()


def test_that_one_can_go_back_again_after_going_on_from_where_a_manual_source_stands(
    scene_path: Path,
) -> None:
    source = ManualTimeSource()
    session = held_session(scene_path, source)
    session.submit(Run())
    source.advance_ns(NS_PER_SECOND)
    for _ in range(2):
        session.submit(Hold())
        source.advance_ns(100 * NS_PER_MS)
        session.submit(StepBack(10))
        session.submit(Run())
        source.advance_ns(100 * NS_PER_MS)
    session.refresh()

    assert not any(record.refusal for record in session.timeline.commands)
    assert rerun(session.history, scene_path).is_same
    session.close()


def test_that_a_hit_behind_the_last_frame_of_a_step_is_a_hit_there_again(scene_path: Path) -> None:
    session = held_session(scene_path)
    breakpoint_ = Breakpoint(BreakKind.TIMER_FIRES, subject="tick", action=BreakAction.MARK)
    session.submit(AddBreakpoint(breakpoint_))
    session.submit(StepTo(110 * NS_PER_MS))
    session.refresh()
    (hit,) = session.timeline.hits
    assert (hit.at_ns, hit.frame) == (110 * NS_PER_MS, session.frames_run)

    assert rerun(session.history, scene_path).is_same
    session.close()


def test_that_breakpoints_that_were_set_later_are_kept(scene_path: Path) -> None:
    session = held_session(scene_path)
    session.submit(StepFrames(60))
    session.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, subject="toggle")))

    session.submit(StepBack(50))
    session.submit(StepFrames(50))
    session.refresh()

    assert len(session.breakpoints) == 1
    assert session.frames_run < 60
    assert "because" in session.status.message
    session.close()


def test_that_there_is_nothing_before_the_first_frame(scene_path: Path) -> None:
    session = held_session(scene_path)

    for command in (StepBack(), StepBack(0), StepBack(3), RewindTo(5), RewindTo(-1)):
        session.submit(command)
    session.refresh()

    assert [record.refusal for record in session.timeline.commands] == [
        "There is no frame to go back: none has run.",
        "A step back is 1 frame or more, not 0.",
        "There are no 3 frames to go back: none has run.",
        "Cannot go back to 0:00.000: that is in the future.",
        "Cannot go back to -0:00.001: the session begins at 0.",
    ]
    session.close()


def test_that_going_back_to_the_present_is_no_error_and_keeps_all_frames(scene_path: Path) -> None:
    session = held_session(scene_path)
    step_one_by_one(session, 5)
    go_all_the_way(session)

    session.submit(RewindTo(session.timeline.at_ns))
    go_all_the_way(session)

    assert [record.refusal for record in session.timeline.commands][-1:] == [""]
    assert session.frames_run == 5
    session.close()


def test_that_a_scene_that_uses_the_time_of_day_is_told_so(tmp_path: Path) -> None:
    path = scene_file(
        tmp_path,
        """
        import time
        def build(stage):
            def roll():
                stage.mark(str(time.perf_counter_ns()))
            stage.root.set_interval(0.1, roll, name="rolls dice")
        """,
    )
    session = held_session(path)
    session.submit(StepFrames(30))

    session.submit(StepBack(10))
    session.refresh()

    refusal = session.timeline.commands[-1].refusal
    assert refusal.startswith("The scene was run again up to here, but did something else. At")
    assert "in “rolls dice”: expected “mark: " in refusal
    assert "Does “rolls dice” use the time of day" in refusal
    assert session.frames_run == 20
    session.close()


def test_that_a_frame_callback_is_named_too(tmp_path: Path) -> None:
    path = scene_file(
        tmp_path,
        """
        import random
        def build(stage):
            stage.every_frame(lambda delta: stage.mark(str(random.random())), name="shakes")
        """,
    )
    session = held_session(path)
    session.submit(StepFrames(3))

    session.submit(StepBack(1))
    session.refresh()

    assert "in “shakes”" in session.timeline.commands[-1].refusal
    session.close()


def test_that_work_is_not_done_again(scene_path: Path) -> None:
    readings = count(0, 5_000_000)

    class Jittery(VirtualTimeSource):
        def now_ns(self) -> int:
            return super().now_ns() + next(readings) % 7

    source = Jittery()
    session = HostedSession(scene_path, source)
    source.pass_ns(2 * NS_PER_SECOND)
    session.submit(Hold())
    source.pass_ns(NS_PER_SECOND)
    session.refresh()
    frames = session.frames_run

    session.submit(StepBack(20))
    session.refresh()

    assert session.timeline.commands[-1].refusal == ""
    assert session.frames_run == frames - 20
    session.close()


def test_that_readings_cost_an_event_a_wake(scene_path: Path) -> None:
    source = VirtualTimeSource()
    session = HostedSession(scene_path, source)
    source.pass_ns(NS_PER_SECOND)

    events = session.log.read(0).events
    readings = [event for event in events if event[1] == READING]
    assert 60 <= len(readings) <= len({event[0] for event in events}) + 2
    session.close()


def test_that_a_log_without_its_beginning_cannot_be_run_again(scene_path: Path) -> None:
    session = held_session(scene_path)

    with pytest.raises(JournalError, match="The start of the scene is missing"):
        Journal.from_events(session.log.read(0).events[:1], session.log.strings)
    session.close()


@given(commands)
def test_that_a_command_is_the_same_in_its_form(command: Command) -> None:
    assert command_in(command_form(AppliedCommand(command, CommandPlace.AT_ONCE))) == command


@pytest.mark.parametrize("text", ["\x7f", "\x85", "\ud800", "\x00", "é\n“"])
def test_that_a_command_with_characters_that_cannot_be_shown_is_run_again(
    scene_path: Path, text: str
) -> None:
    session = held_session(scene_path)
    session.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, subject=text)))
    session.submit(AddMark(text))
    session.submit(Reload())
    session.submit(AddMark(text))
    session.refresh()

    assert [record.refusal for record in session.timeline.commands] == ["", ""]
    assert rerun(session.history, scene_path).is_same
    session.close()


def test_that_a_recorded_run_is_run_again_and_compared(tmp_path: Path) -> None:
    path = scene_file(tmp_path, SCENE)
    session = virtual_session(path)
    pass_seconds(session, 3)

    done = rerun(session.history, path)

    assert (done.is_same, done.frames, done.notes) == (True, session.frames_run, ())
    assert done.digest == digest(session)

    scene_file(tmp_path, SCENE.replace("0.07", "0.08"))
    other = rerun(session.history, path, anyway=True)

    assert not other.is_same
    assert other.notes == ("scene.py has changed since this was recorded.",)
    assert str(other.difference).startswith(
        "At 0:00.000, after 0 frames in “build”: expected “timer 2 is due at local 00:00.070, then "
        "every 70.0 ms (“tick”)”, found “timer 2 is due at local 00:00.080, then every 80.0 ms "
        "(“tick”)”. Does “build” use the time of day"
    )
    session.close()


def test_that_runs_with_lost_beginnings_are_compared_from_the_first_frame_of_both(
    scene_path: Path,
) -> None:
    session = virtual_session(scene_path)
    pass_seconds(session, 1)
    events, strings = session.log.read(0).events, session.log.strings
    frames = [place for place, event in enumerate(events) if event[1] == FRAME_BEGAN]
    # Between two frames, where something that the other lacks comes first.
    shorter = events[frames[9] - 3 :]
    other = [(0, MARK, 0, 0, 0), *events[frames[4] :]]

    same = first_difference(
        RunEvents(other, strings, lost=frames[4]), RunEvents(shorter, strings, lost=frames[9] - 3)
    )
    marked = [*shorter[:-1], (shorter[-1][0], MARK, 0, 0, 0)]
    different = first_difference(
        RunEvents(other, strings, lost=frames[4]), RunEvents(marked, strings, lost=frames[9] - 3)
    )

    assert same is None
    assert different is not None
    assert different.at_ns == shorter[-1][0]
    session.close()
