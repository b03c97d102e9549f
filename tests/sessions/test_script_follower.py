"""A journal that drives a run: what of it happens, and where the run stops."""

from __future__ import annotations

from collections.abc import Generator
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

from inspector.commands.command import Command
from inspector.commands.scene import AddMark, StepBack
from inspector.commands.transport import Run, StepFrames
from inspector.events.conditions.breakpoint import BreakAction, BreakKind, Breakpoint
from inspector.sessions.breakpoints.breakpoints import BreakpointHit, Breakpoints
from inspector.sessions.replay import rewinding
from inspector.sessions.replay.journal import (
    COMMAND_ENTRY,
    HIT_ENTRY,
    REWIND_ENTRY,
    AppliedCommand,
    Beginning,
    CommandPlace,
    Journal,
)
from inspector.sessions.replay.rewinding import ScriptFollower
from inspector.vocabulary import Reading

MARK = AddMark("here")
BOSS = Breakpoint(BreakKind.TIMER_FIRES, "boss", action=BreakAction.MARK)


class FollowedRun:
    """Stands for a run of a scene: notes what is asked of it."""

    def __init__(self) -> None:
        self.done: list[tuple[Any, ...]] = []
        self.frames_run = 0
        self.loaded: object = "scene"
        self.is_broken_off = False
        self.broken_by = self.stopped_by = "a hit"
        self.log = SimpleNamespace(end=40)
        self.breakpoints = Breakpoints.holding({6: BOSS}, 7)
        note = self._note
        self.transport = SimpleNamespace(hold=lambda: self.done.append(("hold transport",)))
        self.tree = SimpleNamespace(halt=lambda: self.done.append(("halt",)))
        self.source = SimpleNamespace(follow=lambda _: None, replay=note("replay"))
        self.load = lambda _driver: self.done.append(("load",))
        self.set_period, self.sync, self.reset_period = map(note, ("period", "sync", "rate"))
        self.begin = note("begin")
        self.note_rewind = note("rewind")

    def _note(self, name: str) -> Any:  # noqa: ANN401 - a method of any signature
        return lambda *each: self.done.append((name, *each))

    def hold(self, *, is_in_step: bool) -> None:
        self.done.append(("hold", is_in_step))

    def apply_steps(
        self, command: Command, number: int, *, place: CommandPlace, by: str, host_ms: int
    ) -> Generator[None]:
        self.done.append((command, number, place, by, host_ms))
        for _ in range(command.count if isinstance(command, StepFrames) else 0):
            self.frames_run += 1
            yield


def follower(
    entries: list[tuple[int, int, int, Any]], stop_frame: int | None = None
) -> tuple[Any, ScriptFollower]:
    journal = Journal(Beginning())
    for code, frame, value, more in entries:
        journal.note(code, frame, value, more)
    run: Any = FollowedRun()
    return run, ScriptFollower(run, journal, stop_frame)


def command(
    number: int, frame: int, place: CommandPlace, of: Command = MARK
) -> tuple[int, int, int, AppliedCommand]:
    return COMMAND_ENTRY, frame, number, AppliedCommand(of, place, "me", 70 + number)


def hit(frame: int, of_frame: int, number: int = 6) -> tuple[int, int, int, BreakpointHit]:
    return (
        HIT_ENTRY,
        frame,
        number,
        BreakpointHit(number, BreakAction.HOLD, 5, 0, of_frame, 0, "boss fired"),
    )


def test_that_what_the_host_did_is_done_again() -> None:
    run, follows = follower(
        [
            (Reading.BEGUN, 0, 0, None),
            (Reading.PERIOD, 0, 16, None),
            (Reading.SYNCED, 0, 3, None),
            (Reading.ASKED, 0, 4, None),
            (Reading.HELD, 0, 0, None),
            (Reading.HELD, 0, 1, None),
            (Reading.RATE, 0, 5, None),
            (Reading.WOKEN, 0, 6, None),
            (Reading.ADVANCED, 0, 7, None),
        ]
    )

    turns = list(follows.steps())

    assert len(turns) == 8
    assert run.done == [
        ("load",),
        ("begin",),
        ("period", 16),
        ("sync",),
        ("hold", False),
        ("hold", True),
        ("rate",),
        ("replay", Reading.WOKEN, 6),
        ("replay", Reading.ADVANCED, 7),
    ]
    assert follows.arrived_at is None


def test_that_nothing_is_done_again_in_a_scene_that_could_not_be_built() -> None:
    run, follows = follower([(Reading.SYNCED, 0, 0, None), hit(0, 0)], stop_frame=3)
    run.loaded = None

    assert list(follows.steps()) == []
    follows.check_breakpoints(after_frame=True)

    assert (run.done, follows.arrived_at) == ([("load",)], None)


@pytest.mark.parametrize(
    "entry",
    [
        command(1, 0, CommandPlace.BEFORE_FRAME),
        command(1, 1, CommandPlace.AT_ONCE),
        hit(0, 0),
    ],
)
def test_that_it_ends_where_the_scene_does_something_else(entry: tuple[Any, ...]) -> None:
    run, follows = follower([entry, (Reading.SYNCED, 0, 0, None)])

    assert list(follows.steps()) == []
    assert run.done == [("load",)]


def test_that_commands_are_applied_where_and_as_they_were() -> None:
    at_once, before, end = CommandPlace.AT_ONCE, CommandPlace.BEFORE_FRAME, CommandPlace.WAKE_END
    run, follows = follower(
        [
            command(1, 0, at_once, StepFrames(2)),
            command(2, 2, at_once),
            command(3, 2, before),
            command(4, 2, before, Run()),
            command(5, 2, end),
            command(6, 3, end),
            command(7, 3, before),
        ]
    )

    assert len(list(follows.steps())) == 4
    follows.end_wake()
    assert run.done[1:] == [
        (StepFrames(2), 1, at_once, "me", 71),
        (MARK, 2, at_once, "me", 72),
    ]
    follows.before_frame()
    assert run.done[3:] == [(MARK, 3, before, "me", 73), (Run(), 4, before, "me", 74)]
    follows.end_wake()
    assert run.done[5:] == [(MARK, 5, end, "me", 75)]
    run.frames_run = 3
    follows.end_wake()
    assert run.done[6:] == [(MARK, 6, end, "me", 76)]
    run.frames_run = 4
    follows.before_frame()
    assert run.done[7:] == []


@pytest.mark.parametrize(
    ("held", "is_broken_off"),
    [
        ((Reading.HELD, 1, 1, None), [True, False]),
        ((Reading.HELD, 2, 1, None), [False, True]),
        ((Reading.HELD, 1, 0, None), [False, False]),
        ((Reading.SYNCED, 1, 1, None), [False, False]),
    ],
)
def test_that_a_step_is_broken_off_where_it_was(
    held: tuple[int, int, int, None], is_broken_off: list[bool]
) -> None:
    run, follows = follower([command(1, 0, CommandPlace.AT_ONCE, StepFrames(2)), held])
    steps, found = follows.steps(), []

    next(steps)
    for _ in range(2):
        next(steps)
        found.append(run.is_broken_off)

    assert found == is_broken_off


def test_that_a_step_ends_with_the_journal() -> None:
    run, follows = follower([command(1, 0, CommandPlace.AT_ONCE, StepFrames(2))])
    list(follows.steps())
    assert not run.is_broken_off


def test_that_going_back_in_time_was_done_at_that_point() -> None:
    back = AppliedCommand(
        StepBack(3), CommandPlace.AT_ONCE, breakpoints={9: BOSS}, next_breakpoint=12
    )
    run, follows = follower([(REWIND_ENTRY, 0, 8, back), (Reading.SYNCED, 0, 0, None)])

    assert follows.has_arrived
    assert len(list(follows.steps())) == 2

    assert run.done == [("load",), ("hold transport",), ("rewind", 8, back), ("sync",)]
    assert (run.broken_by, run.stopped_by) == (None, None)
    assert (run.breakpoints.items(), run.breakpoints.next_number) == ([(9, BOSS, 0)], 12)


def test_that_a_step_ends_where_the_session_went_back_in_time() -> None:
    back = AppliedCommand(StepBack(3), CommandPlace.AT_ONCE)
    run, follows = follower([(REWIND_ENTRY, 2, 8, back)])
    has_arrived = []
    for frames_run in range(4):
        run.frames_run = frames_run
        has_arrived.append(follows.has_arrived)
    assert has_arrived == [False, False, True, True]

    follows.check_breakpoints(after_frame=True)

    assert (run.done, follows.arrived_at) == ([("halt",)], None)


@pytest.fixture
def hits(monkeypatch: pytest.MonkeyPatch) -> list[BreakpointHit]:
    found: list[BreakpointHit] = []
    monkeypatch.setattr(rewinding, "note_hit", lambda _run, each: found.append(each))
    return found


def test_that_hits_are_repeated_in_their_frames_with_the_present_actions(
    hits: list[BreakpointHit],
) -> None:
    entries = [
        hit(1, 0),
        command(1, 1, CommandPlace.BREAKPOINT),
        hit(1, 0, 4),
        hit(1, 1),
        hit(2, 1),
    ]
    run, follows = follower(entries)
    noted = [each[3] for each in entries]
    follows.check_breakpoints(after_frame=True)
    assert hits == []
    run.frames_run = 1

    follows.check_breakpoints(after_frame=False)
    assert hits == []
    follows.check_breakpoints(after_frame=True)
    # Of a breakpoint that is gone, the hit holds the run as it did.
    assert hits == [structs.replace(noted[0], action=BreakAction.MARK), noted[2]]
    assert run.done == [(MARK, 1, CommandPlace.BREAKPOINT, "me", 71)]
    follows.check_breakpoints(after_frame=False)
    assert [each.frame for each in hits] == [0, 0, 1]
    run.frames_run = 2
    follows.check_breakpoints(after_frame=True)
    assert len(hits) == 4


def test_that_it_stops_after_a_frame_and_is_held_there() -> None:
    entries = [
        command(1, 0, CommandPlace.AT_ONCE, StepFrames(5)),
        command(2, 2, CommandPlace.BEFORE_FRAME),
        (Reading.SYNCED, 2, 0, None),
    ]
    run, follows = follower(entries, stop_frame=2)
    steps = follows.steps()
    next(steps)
    follows.check_breakpoints(after_frame=True)
    assert (follows.has_arrived, follows.arrived_at) == (False, None)
    next(steps)

    assert follows.has_arrived
    run.log.end = 50
    follows.check_breakpoints(after_frame=True)
    run.log.end = 60
    follows.check_breakpoints(after_frame=True)
    follows.before_frame()

    assert follows.arrived_at == 50
    assert run.done[2:] == [("halt",), ("halt",)]


@pytest.mark.parametrize("stop_frame", [0, 1])
def test_that_it_is_held_at_its_end_even_if_no_frame_was_checked(stop_frame: int) -> None:
    run, follows = follower([(Reading.SYNCED, 0, 0, None)], stop_frame)

    assert len(list(follows.steps())) == stop_frame

    assert follows.arrived_at == 40
    assert run.done[-1] == ("hold transport",)
    assert follows._script.is_over
