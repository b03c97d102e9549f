"""What commands do with their target, which stands in for a session here."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import pytest

from inspector.commands.breakpoints import AddBreakpoint, ChangeBreakpoint, RemoveBreakpoint
from inspector.commands.command import COMMANDS, Command, command_in, prepared
from inspector.commands.recording import SaveLast, StartRecording, StopRecording
from inspector.commands.scene import AddMark, Reload, RewindTo, StepBack
from inspector.commands.timers import ClearTimer, FireTimer
from inspector.commands.transport import Hold, Run, StepBy, StepFrames, StepTo, StepToNextTimer
from inspector.errors import InspectorError
from inspector.events.conditions.breakpoint import BreakAction, BreakKind, Breakpoint
from inspector.events.timeline import Timeline
from inspector.sessions.breakpoints.breakpoints import MAX_BREAKPOINTS, Breakpoints
from inspector.vocabulary import CLOCK_ADDED, TIMER_ADDED, TIMER_ARMED

#: A target, as far as commands need it.
StandIn: TypeAlias = Any

BOSS = Breakpoint(BreakKind.TIMER_FIRES, "boss")
OFF = Breakpoint(BreakKind.TIMER_FIRES, "boss", is_enabled=False)
TIMER, GONE = 7, 8


class Noted:
    """Does nothing, and notes what it is told to do."""

    def __init__(self) -> None:
        self.done: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever is called
        def do(*values: object, **named: object) -> None:
            self.done.append((name, *values, *named.items()))

        return do


class Disk(Noted):
    """A recorder whose disk is full."""

    def stop(self) -> None:
        raise InspectorError("The disk is full.")


@pytest.fixture
def target() -> StandIn:
    noted = Noted()
    timeline = Timeline(["", "game", "boss"])
    timeline.apply_all(
        [(0, CLOCK_ADDED, 1, 0, 1), (0, TIMER_ADDED, TIMER, 1, 2), (0, TIMER_ARMED, TIMER, 5, 0)]
    )
    target = SimpleNamespace(
        **dict.fromkeys(("recorder", "steps", "stage"), noted),
        timeline=timeline,
        noted=noted,
        breakpoints=Breakpoints(),
        frames_run=2,
        watch=lambda: noted.done.append(("watch",)),
        check_journal=lambda: noted.done.append(("check journal",)),
        transport=SimpleNamespace(is_running=False, run=noted.run, hold=noted.hold),
    )
    timer = SimpleNamespace(clock=noted)
    target.timer = lambda clock, number, due_ns: (
        timer if (clock, number, due_ns) == (1, 7, 5) else None
    )
    target.scene = target
    return target


def done(target: StandIn, command: Command) -> object:
    """Carry a command out as number 9; return why it is refused, or what was done."""
    found = prepared(command, target, 9)
    assert found.text == command.sentence(target.timeline)
    assert (found.action is None) == bool(found.refusal)
    if found.action is None:
        return found.refusal
    target.noted.done.clear()
    found.action()
    return target.noted.done


def test_that_breakpoints_are_added_changed_and_removed_and_watched(target: StandIn) -> None:
    breakpoints = target.breakpoints
    added, kept = AddBreakpoint(BOSS), AddBreakpoint(OFF, is_kept=True)
    number = breakpoints.next_number
    assert (added.asker, kept.asker) == ("", "the layout")
    assert (added.inverse(target), kept.inverse(target)) == (RemoveBreakpoint(number), None)
    gone = f"There is no breakpoint {number} any more."
    for early in (ChangeBreakpoint(number, OFF), RemoveBreakpoint(number)):
        assert (done(target, early), early.inverse(target)) == (gone, None)

    assert done(target, added) == [("watch",)]
    assert breakpoints.get(number) == BOSS
    change = ChangeBreakpoint(number, OFF)
    assert change.inverse(target) == ChangeBreakpoint(number, BOSS)
    assert done(target, change) == [("watch",)]
    assert breakpoints.get(number) == OFF
    assert RemoveBreakpoint(number).inverse(target) == AddBreakpoint(OFF)
    assert done(target, RemoveBreakpoint(number)) == [("watch",)]
    assert breakpoints.get(number) is None

    for _ in range(MAX_BREAKPOINTS):
        breakpoints.add(OFF)
    assert "remove some" in str(done(target, added))


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (AddBreakpoint(BOSS), "break when timer “boss” fires: hold the scene"),
        (
            AddBreakpoint(Breakpoint(BreakKind.CALLBACK_RAISED, action=BreakAction.MARK)),
            "break when a callback raises: mark the instant",
        ),
        (ChangeBreakpoint(3, BOSS), "set breakpoint 3: timer “boss” fires"),
        (ChangeBreakpoint(3, OFF), "turn off breakpoint 3: timer “boss” fires"),
        (RemoveBreakpoint(3), "remove breakpoint 3"),
        (StartRecording(""), "record to a new file"),
        (StartRecording("a.tlrec"), "record to a.tlrec"),
        (SaveLast("a.tlrec", 10**9), "save the last 1.00 s to a.tlrec"),
    ],
)
def test_that_a_command_is_said(command: Command, text: str) -> None:
    assert command.sentence(Timeline([""])) == text


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (StartRecording(""), ("start", None)),
        (StartRecording("a.tlrec"), ("start", Path("a.tlrec"))),
        (StopRecording(), ("stop",)),
        (SaveLast("", 1), ("save_last", 1, None)),
        (AddMark(" here "), ("mark", "here")),
        (AddMark(" "), ("mark", "mark")),
        (Run(), ("run",)),
        (Hold(), ("hold",)),
    ],
)
def test_that_a_command_is_carried_out(target: StandIn, command: Command, what: object) -> None:
    assert done(target, command) == [what]


def test_that_a_disk_does_not_refuse_commands_and_a_replay_records_nothing(target: StandIn) -> None:
    target.recorder = disk = Disk()
    assert done(target, StopRecording()) == []
    assert disk.done == [("note_problem", "The disk is full.")]

    target.recorder = None
    assert done(target, StopRecording()) == []
    assert done(target, SaveLast("", 0)) == "The time to save must be above 0, not 0 ns."


def test_that_a_timer_is_called_or_cleared_until_it_is_gone(target: StandIn) -> None:
    gone = "Timer 8 is gone: it has fired or was cleared."

    timer = target.timer(1, TIMER, 5)
    assert done(target, ClearTimer(TIMER)) == [("clear", timer, ("cause", 9))]
    assert done(target, FireTimer(TIMER)) == [("fire_now", timer)]
    assert prepared(ClearTimer(TIMER), target, 9).clock_id == 1
    assert [done(target, kind(GONE)) for kind in (ClearTimer, FireTimer)] == [gone, gone]
    timer.clock = None
    assert done(target, FireTimer(TIMER)) == gone.replace("8", "7")


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (StepFrames(1_000_000), ("frames", 1_000_000)),
        (StepBy(1), ("by", 1)),
        (StepTo(-5), ("to", -5)),
        (StepToNextTimer(), ("to_next_timer",)),
    ],
)
def test_that_a_step_is_one_of_a_scene_that_is_held(
    target: StandIn, command: Command, what: object
) -> None:
    command.prepare(target, 9)
    assert target.noted.done == [what]

    target.transport.is_running = True

    assert done(target, command) == "The scene is running. Hold it first."


@pytest.mark.parametrize(
    ("command", "refusal", "asked"),
    [
        (Reload(), "A hosted scene cannot reload the scene.", []),
        (StepBack(2), "A hosted scene cannot go back 2 frames.", ["check journal"]),
        (StepBack(3), "There are no 3 frames to go back: only 2 have run.", []),
        (RewindTo(0), "A hosted scene cannot go back to 0:00.000.", ["check journal"]),
        (RewindTo(1), "Cannot go back to 0:00.000: that is in the future.", []),
    ],
)
def test_that_going_back_asks_for_a_frame_and_then_for_the_journal(
    target: StandIn, command: Command, refusal: str, asked: list[str]
) -> None:
    assert done(target, command) == refusal
    assert [name for (name,) in target.noted.done] == asked


def test_that_commands_wait_pass_time_and_end_steps_as_they_must() -> None:
    def named(which: str) -> set[str]:
        return {name for name, kind in COMMANDS.items() if getattr(kind, which)}

    steps = {"StepFrames", "StepBy", "StepTo", "StepToNextTimer"}
    back = {"Reload", "StepBack", "RewindTo"}
    assert named("lets_time_pass") == {"Run", *steps}
    assert named("waits_for_wake_end") == {"Run", "Hold", *back}
    assert named("ends_step") == {"Hold", *back}


@pytest.mark.parametrize("form", ["", "{}", "7", '{"command": "Nothing"}', '{"command": "Undo"}'])
def test_that_what_is_no_command_in_a_log_is_none(form: str) -> None:
    assert command_in(form) is None
