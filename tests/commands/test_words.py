"""What commands are called, why they are refused, and what undoes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.clocks.failures import FailurePolicy
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.command import (
    MAX_UNDONE,
    ClockEffect,
    Command,
    MemberEffect,
    Undoing,
    command_in,
)
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
    SetFailurePolicy,
    SetFrameRate,
    StepBack,
    Undo,
)
from inspector.commands.timers import ClearTimer, FireTimer
from inspector.commands.transport import Hold, Run, StepBy, StepFrames, StepTo, StepToNextTimer
from inspector.errors import CommandError
from inspector.events.frame_history import NO_PHASES
from inspector.events.timeline import Timeline
from inspector.sessions.hosted import HostedSession
from inspector.testing import held_session, scene_file
from inspector.vocabulary import CLOCK_PAUSED, CLOCK_RATE, CLOCK_RESUMED, RATE_DENOMINATOR

SCENE = """
    from inspector.frames.state_machine import Edge

    def build(stage):
        game = stage.root.child("game", rate="1/2")
        game.set_timeout(100, lambda: None, name="wave")
        still = stage.root.child("still")
        still.pause()
        scheduler = stage.scheduler(game, name="combat")
        scheduler.schedule(lambda delta: None, 0.5, name="shoot")
        edges = {"x": Edge("calm", "angry"), "y": Edge("angry", "calm")}
        stage.state_machine("calm", edges, clock=game, name="boss")
"""
ROOT, GAME, STILL, NOTHING = 1, 2, 3, 99


@pytest.fixture
def session(tmp_path: Path) -> Iterator[HostedSession]:
    session = held_session(scene_file(tmp_path, SCENE))
    session.submit(StepFrames(1))
    session.refresh()
    yield session
    session.close()


def member(session: HostedSession, name: str) -> int:
    members = session.timeline.members.by_id
    return next(number for number, each in members.items() if each.name == name)


def timer(session: HostedSession) -> int:
    return session.timeline.timers.id[0]


def answer(session: HostedSession, command: Command) -> tuple[str, str, int]:
    """Return what a command is called, why it is refused, and its clock."""
    session.submit(command)
    session.refresh()
    record = session.timeline.commands[-1]
    return record.text, record.refusal, record.clock_id


@pytest.mark.parametrize(
    ("command", "text", "refusal"),
    [
        (StepFrames(), "step 1 frame", ""),
        (StepFrames(1_200), "step 1,200 frames", ""),
        (StepFrames(0), "step 0 frames", "A step is 1 to 1,000,000 frames, not 0."),
        (
            StepFrames(1_000_001),
            "step 1,000,001 frames",
            "A step is 1 to 1,000,000 frames, not 1,000,001.",
        ),
        (StepBy(1), "step by 1 ns", ""),
        (StepBy(0), "step by 0 ns", "A step goes forward, not by 0 ns."),
        (StepTo(1_000_000_000), "step to 0:01.000", ""),
        (StepToNextTimer(), "step to the next timer", ""),
        (Run(), "run", ""),
        (Hold(), "hold", ""),
        (Reload(), "reload the scene", ""),
        (StepBack(1), "go back 1 frame", ""),
        (StepBack(0), "go back 0 frames", "A step back is 1 frame or more, not 0."),
        (
            StepBack(2),
            "go back 2 frames",
            "There are no 2 frames to go back: only 1 has run.",
        ),
        (RewindTo(0), "go back to 0:00.000", ""),
        (
            RewindTo(-1_000_000_000),
            "go back to -0:01.000",
            "Cannot go back to -0:01.000: the session begins at 0.",
        ),
        (
            RewindTo(1_000_000_000),
            "go back to 0:01.000",
            "Cannot go back to 0:01.000: that is in the future.",
        ),
        (SetFrameRate(Fraction(30)), "run 30 frames per second", ""),
        (SetFrameRate(Fraction(60_000, 1_001)), "run 59.94005994 frames per second", ""),
        (AddMark("here"), "mark “here”", ""),
        (SetFailurePolicy(FailurePolicy.STOP), "after a failure: stop", ""),
        (
            Undo(7),
            "undo command 7",
            "Command 7 cannot be undone: it was already, or it changed nothing.",
        ),
        (ClearTimer(NOTHING), "clear timer 99", "Timer 99 is gone: it has fired or was cleared."),
        (FireTimer(NOTHING), "fire timer 99 now", "Timer 99 is gone: it has fired or was cleared."),
        (PauseClock(NOTHING), "pause clock 99", "There is no clock 99 any more."),
        (PauseMember(NOTHING), "pause member 99", "There is no member 99 any more."),
    ],
)
def test_that_a_command_without_a_subject_is_said_and_refused_in_words(
    session: HostedSession, command: Command, text: str, refusal: str
) -> None:
    assert answer(session, command) == (text, refusal, 0)


def test_that_there_is_nothing_to_go_back_to_before_the_first_frame(tmp_path: Path) -> None:
    session = held_session(scene_file(tmp_path, SCENE))

    refusals = [answer(session, StepBack(frames))[1] for frames in (1, 2)]

    assert refusals == [
        "There is no frame to go back: none has run.",
        "There are no 2 frames to go back: none has run.",
    ]
    session.submit(StepFrames(3))
    assert answer(session, StepBack(4))[1] == ("There are no 4 frames to go back: only 3 have run.")
    assert answer(session, RewindTo(session.timeline.at_ns))[1] == ""
    session.close()


def test_that_commands_name_their_subject_and_its_clock(session: HostedSession) -> None:
    scheduler, call, machine = (member(session, name) for name in ("combat", "shoot", "boss"))

    said: list[tuple[Command, str, str]] = [
        (PauseClock(GAME), "pause “game”", ""),
        (ResumeClock(GAME), "resume “game”", ""),
        (SetRate(GAME, Fraction(1, 3)), "set the rate of “game” to 1/3", ""),
        (
            SetRate(GAME, Fraction(-1)),
            "set the rate of “game” to -1",
            "A rate cannot be negative, time does not run backwards: −1×.",
        ),
        (PauseMember(call), "pause “shoot”", ""),
        (ResumeMember(call), "resume “shoot”", ""),
        (
            PauseMember(machine),
            "pause “boss”",
            "“boss” is a machine; it cannot be paused by itself.",
        ),
        (
            ResumeMember(machine),
            "resume “boss”",
            "“boss” is a machine; it cannot be resumed by itself.",
        ),
        (
            PauseFromPriority(scheduler, 1_000),
            "pause everything in “combat” from priority 1,000 on",
            "",
        ),
        (ResumeFromPriority(scheduler), "resume what was paused by priority in “combat”", ""),
        (
            ResumeFromPriority(scheduler),
            "resume what was paused by priority in “combat”",
            "No command has paused “combat” from a priority on.",
        ),
        (SetTimeScale(scheduler, Fraction(2)), "set the time scale of “combat” to 2", ""),
        (
            SetTimeScale(call, Fraction(2)),
            "set the time scale of “shoot” to 2",
            "“shoot” is a frame timer; it cannot be given a time scale.",
        ),
        (
            PauseFromPriority(machine, 1),
            "pause everything in “boss” from priority 1 on",
            "“boss” is a machine; it cannot be paused from a priority on.",
        ),
        (MakeTransition(machine, "x"), "make “x” of “boss”", ""),
        (
            MakeTransition(machine, "x"),
            "make “x” of “boss”",
            "“x” does not lead away from “angry”; “y” does.",
        ),
        (
            MakeTransition(machine, "z"),
            "make “z” of “boss”",
            "“boss” has no transition “z”. It has “x”, “y”.",
        ),
        (
            MakeTransition(call, "x"),
            "make “x” of “shoot”",
            "“shoot” is a frame timer; it cannot be told to make a transition.",
        ),
        (UnscheduleMember(call), "unschedule “shoot”", ""),
        (
            UnscheduleMember(machine),
            "unschedule “boss”",
            "“boss” is a machine; it cannot be unscheduled.",
        ),
        (FireTimer(timer(session)), "fire “wave” now", ""),
    ]
    for command, text, refusal in said:
        assert answer(session, command) == (text, refusal, GAME)


def test_that_going_back_ends_after_the_frame_that_had_begun() -> None:
    timeline = Timeline([""])
    for at_ns in (10, 20, 30):
        timeline.frames.append(at_ns, 10, 10, 0, 0, NO_PHASES)
    timeline.set_present(35)

    instants = (0, 9, 10, 19, 20, 35)
    assert [RewindTo(each).frame_to_go_back_to(timeline, 3) for each in instants] == [
        *(0, 0, 1, 1, 2, 3)
    ]
    assert [StepBack(each).frame_to_go_back_to(timeline, 5) for each in (1, 4, 5)] == [4, 1, 0]


@pytest.mark.parametrize(
    ("names", "refusal"),
    [
        ([], "member 9 has no transition “x”. It has none at all."),
        (["x", "y"], "“x” does not lead away from “”; nothing does."),
    ],
)
def test_that_a_machine_that_leads_nowhere_says_so(names: list[str], refusal: str) -> None:
    class Machine:
        def __init__(self) -> None:
            self.names = names

        def can(self, _name: str) -> bool:
            return False

        def go(self, _name: str) -> None:
            raise AssertionError

    target: Any = SimpleNamespace(timeline=Timeline([""]))
    with pytest.raises(CommandError, match=re.escape(refusal)):
        MakeTransition(9, "x").action(Machine(), target)


def test_that_the_newest_changes_can_be_undone() -> None:
    undoing = Undoing()
    assert undoing.newest == 0
    for number in range(1, MAX_UNDONE + 2):
        undoing.note(number, Hold())
    undoing.note(MAX_UNDONE + 2, None)

    assert undoing.newest == MAX_UNDONE + 1 == 1_001
    assert [undoing.of(number) for number in (1, 2, MAX_UNDONE + 2)] == [None, Hold(), None]
    for number in (MAX_UNDONE + 1, 1):
        undoing.done(number)
    assert undoing.newest == MAX_UNDONE


def test_that_effects_are_said_and_nothing_is_changed_twice(session: HostedSession) -> None:
    timeline, at_ns = session.timeline, session.timeline.at_ns
    scheduler, call, machine = (member(session, name) for name in ("combat", "shoot", "boss"))
    half = RATE_DENOMINATOR // 2

    assert {
        command: command.effect(timeline)
        for command in (
            PauseClock(GAME),
            ResumeClock(GAME),
            PauseClock(STILL),
            ResumeClock(STILL),
            SetRate(GAME, Fraction(1, 2)),
            PauseClock(NOTHING),
            SetRate(NOTHING, Fraction(1)),
            PauseMember(call),
            ResumeMember(call),
            PauseMember(machine),
            PauseMember(NOTHING),
            PauseFromPriority(scheduler, 1_000),
            PauseFromPriority(call, 1_000),
            ResumeFromPriority(scheduler),
            SetTimeScale(scheduler, Fraction(1, 2)),
        )
    } == {
        PauseClock(GAME): ClockEffect("Pausing “game”", GAME, (at_ns, CLOCK_PAUSED, GAME, 0, 0)),
        ResumeClock(GAME): ClockEffect("Resuming “game”", GAME, None),
        PauseClock(STILL): ClockEffect("Pausing “still”", STILL, None),
        ResumeClock(STILL): ClockEffect(
            "Resuming “still”", STILL, (at_ns, CLOCK_RESUMED, STILL, 0, 0)
        ),
        SetRate(GAME, Fraction(1, 2)): ClockEffect(
            "Setting the rate of “game” to 0.5", GAME, (at_ns, CLOCK_RATE, GAME, half, 0)
        ),
        PauseClock(NOTHING): None,
        SetRate(NOTHING, Fraction(1)): None,
        PauseMember(call): MemberEffect("Pausing “shoot”", call, pauses=True),
        ResumeMember(call): MemberEffect("Resuming “shoot”", call, resumes=True),
        PauseMember(machine): None,
        PauseMember(NOTHING): None,
        PauseFromPriority(scheduler, 1_000): MemberEffect(
            "Pausing “combat” from priority 1,000 on", scheduler, min_priority=1_000
        ),
        PauseFromPriority(call, 1_000): None,
        ResumeFromPriority(scheduler): None,
        SetTimeScale(scheduler, Fraction(1, 2)): MemberEffect(
            "Setting the time scale of “combat” to 0.5", scheduler, time_scale=Fraction(1, 2)
        ),
    }


def test_that_what_undoes_a_command_is_the_state_before_it(session: HostedSession) -> None:
    scheduler, call = member(session, "combat"), member(session, "shoot")
    done: list[tuple[Command, Command | None]] = [
        (PauseClock(GAME), ResumeClock(GAME)),
        (PauseClock(GAME), None),
        (ResumeClock(GAME), PauseClock(GAME)),
        (ResumeClock(GAME), None),
        (SetRate(GAME, Fraction(2)), SetRate(GAME, Fraction(1, 2))),
        (SetRate(GAME, Fraction(2)), None),
        (PauseMember(call), ResumeMember(call)),
        (PauseMember(call), None),
        (ResumeMember(call), PauseMember(call)),
        (ResumeMember(call), None),
        (SetTimeScale(scheduler, Fraction(2)), SetTimeScale(scheduler, Fraction(1))),
        (SetTimeScale(scheduler, Fraction(2)), None),
        (PauseFromPriority(scheduler, 1), ResumeFromPriority(scheduler)),
        (SetFrameRate(Fraction(30)), SetFrameRate(Fraction(60))),
        (SetFrameRate(Fraction(30)), None),
        (SetFailurePolicy(FailurePolicy.STOP), SetFailurePolicy(FailurePolicy.CONTINUE)),
        (SetFailurePolicy(FailurePolicy.STOP), None),
        (AddMark("here"), None),
        (ClearTimer(timer(session)), None),
    ]
    assert session.undoing is not None
    for command, inverse in done:
        assert answer(session, command)[1] == ""
        assert session.undoing.of(session.timeline.commands[-1].number) == inverse, command


def test_that_undoing_says_what_is_undone_or_done_again(session: HostedSession) -> None:
    answer(session, PauseClock(GAME))
    first = session.timeline.commands[-1].number
    said = [answer(session, Undo(number))[0] for number in range(first, first + 3)]

    assert said == [
        f"undo command {first}: pause “game”",
        f"redo command {first}: pause “game”",
        f"undo command {first}: pause “game”",
    ]
    assert not session.timeline.clocks[GAME].paused
    assert command_in(session.timeline.commands[-1].form) == Undo(first + 2)
