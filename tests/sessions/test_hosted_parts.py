"""What a hosted session does in which order, with stand-ins for its run and what it draws."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.commands.command import Command
from inspector.commands.scene import AddMark, GoBack, Reload, StepBack
from inspector.commands.transport import Hold, Run, StepFrames
from inspector.events.conditions.breakpoint import BreakAction
from inspector.sessions import hosted
from inspector.sessions.breakpoints.breakpoints import BreakpointHit
from inspector.sessions.hosted import HostedSession
from inspector.sessions.replay.journal import CommandPlace
from inspector.sessions.session import SessionPhase

AT_ONCE, BEFORE, END = CommandPlace.AT_ONCE, CommandPlace.BEFORE_FRAME, CommandPlace.WAKE_END


class Stand:
    """A session of which only the session itself is real; what it asks for is noted."""

    def __init__(self, **run: object) -> None:
        self.done: list[Any] = []
        note = self.done.append
        state: dict[str, Any] = {
            "loaded": "scene",
            "is_running": False,
            "is_in_callback": False,
            "is_in_step": False,
            "frames_run": 5,
            "command_number": 3,
            "unreported": 4,
            "stopped_by": None,
            "broken_by": None,
            "problem": None,
        }
        self.run = SimpleNamespace(
            **(state | run),
            log="the log",
            stage=SimpleNamespace(drawing="a drawing"),
            breakpoints=SimpleNamespace(is_any_enabled=True),
            fold=lambda: note("fold"),
            step_on=lambda slice_ns: note(("step on", slice_ns)),
            begin_step=lambda command, number: note(("step", command, number)),
            end_step=lambda: note("end step"),
            leave_if_forked=lambda: note("leave if forked"),
            close=lambda: note("close run"),
            apply=lambda command, number, place: note((command, number, place)),
        )
        self.pictures = SimpleNamespace(
            is_wanted=False, newest_frame=4, draw=lambda *each: note(("draw", *each))
        )
        session: Any = HostedSession.__new__(HostedSession)
        session._run = self.run
        session._commands = deque()
        session._owner = 0
        session.rewinding = session._meter = session._sampler = None
        session._is_applying = session._wants_step_to_end = False
        session._is_closed = session._has_frame_run = False
        session.slice_ns = 9
        session.pictures = self.pictures
        session.recorder = SimpleNamespace(
            pump=lambda at_once=False: note(("pump", at_once)), close=lambda: note("close recorder")
        )
        session.source = SimpleNamespace(close=lambda: note("close source"))
        self.session = session

    def wait(self, *commands: Command) -> None:
        self.session._commands.extend(commands)


@pytest.mark.parametrize("is_running", [False, True])
def test_that_a_refresh_goes_on_with_a_step_then_applies_records_and_folds(
    *, is_running: bool
) -> None:
    stand = Stand(is_running=is_running)
    stand.wait(Run())

    assert stand.session.refresh() == 4

    applied = [] if is_running else [(Run(), 4, AT_ONCE)]
    assert stand.done == [("step on", 9), *applied, ("pump", not is_running), "fold"]
    assert stand.run.unreported == 0
    assert stand.session.refresh() == 0


def test_that_a_step_that_is_to_end_ends_with_the_next_refresh() -> None:
    stand = Stand()
    stand.session._wants_step_to_end = True

    stand.session.refresh()
    stand.session.refresh()

    assert stand.done == [
        "end step",
        ("pump", True),
        "fold",
        ("step on", 9),
        ("pump", True),
        "fold",
    ]


@pytest.mark.parametrize(
    ("state", "unreported", "newest_frame", "is_drawn"),
    [
        ({}, 4, 4, True),
        ({}, 0, 3, True),
        ({}, 0, 4, False),
        ({"is_running": True}, 4, 3, False),
        ({"is_in_callback": True}, 4, 3, False),
        ({"is_in_step": True}, 4, 3, False),
    ],
)
def test_that_a_held_scene_that_is_watched_is_drawn_when_there_is_something_new(
    state: dict[str, object], unreported: int, newest_frame: int, *, is_drawn: bool
) -> None:
    stand = Stand(**state, unreported=unreported)
    stand.session.refresh()
    assert all(each[0] != "draw" for each in stand.done)
    stand.run.unreported = unreported
    stand.pictures.is_wanted, stand.pictures.newest_frame = True, newest_frame
    stand.done.clear()

    stand.session.refresh()

    drawn = [("draw", "a drawing", 4, "the log"), "leave if forked"]
    assert stand.done[3:] == (drawn if is_drawn else [])


def test_that_a_frame_is_drawn_and_checked_after_it_but_a_command_only_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand = Stand()
    monkeypatch.setattr(
        hosted, "act_on_hits", lambda _run, *, after_frame: stand.done.append(after_frame)
    )

    for stand.pictures.is_wanted in (False, True):
        for after_frame in (False, True):
            stand.session.check_breakpoints(after_frame=after_frame)
    stand.run.breakpoints.is_any_enabled = False
    stand.session.check_breakpoints(after_frame=False)

    drawn = [("draw", "a drawing", 4, "the log"), "leave if forked"]
    assert stand.done == [False, True, False, *drawn, True]


def test_that_commands_wait_for_a_frame_or_for_the_end_of_a_wake_up_with_one() -> None:
    stand, mark = Stand(is_running=True), AddMark("here")
    session, done = stand.session, stand.done
    stand.wait(mark)
    session.end_wake()
    assert done == [("pump", False)]

    session._is_applying = True
    session.before_frame()
    assert done[1:] == []
    session._is_applying = False
    session.before_frame()
    assert done[1:] == [(mark, 4, BEFORE)]
    stand.wait(mark, Hold(), mark)
    session.before_frame()
    assert done[2:] == [(mark, 5, BEFORE)]
    session.end_wake()
    assert done[3:] == [("pump", False), (Hold(), 6, END), (mark, 7, END)]
    stand.wait(mark)
    session.end_wake()
    # Of a wake-up without a frame only that of a scene that has been held.
    assert done[6:] == [("pump", False)]
    stand.run.is_running = False
    session.end_wake()
    assert done[7:] == [("pump", False), (mark, 8, END)]


@pytest.mark.parametrize("busy", ["rewinding", "step", "applying", "callback", "running"])
def test_that_commands_wait_while_something_else_goes_on(busy: str) -> None:
    stand = Stand(
        is_in_step=busy == "step", is_in_callback=busy == "callback", is_running=busy == "running"
    )
    stand.session.rewinding = "a run" if busy == "rewinding" else None
    stand.session._is_applying = busy == "applying"
    stand.wait(Run())

    stand.session._apply_if_idle()

    assert (stand.done, len(stand.session._commands)) == ([], 1)


def test_that_a_step_is_made_in_slices_only_while_nothing_runs() -> None:
    stand = Stand()
    stand.session._wants_step_to_end = True

    stand.session._apply(StepFrames(3), AT_ONCE)
    stand.session._apply(StepFrames(3), END)

    assert stand.done == [
        ("step", StepFrames(3), 4),
        ("step on", 9),
        (StepFrames(3), 5, END),
    ]
    assert not stand.session._wants_step_to_end


def test_that_what_replaces_the_run_is_not_applied_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stand, other = Stand(), Stand(command_number=30)
    monkeypatch.setattr(HostedSession, "_reload", lambda _self, number: reload(number))
    monkeypatch.setattr(
        HostedSession, "_goes_back", lambda _self, command, *_: command == StepBack(1)
    )

    def reload(number: int) -> None:
        stand.done.append(("reload", number))
        stand.session._run = other.run

    stand.wait(StepBack(1), Hold(), StepBack(2), Reload(), Run())
    stand.session._apply_waiting(END)

    # Reloading has left the wake-up.
    back: GoBack = StepBack(2)
    assert stand.done == [(Hold(), 5, END), (back, 6, END), ("reload", 7)]
    assert other.done == [(Run(), 31, AT_ONCE)]


def test_that_where_a_scene_stands_is_told_by_what_holds_it() -> None:
    stand = Stand()
    told = stand.session._stopped_status
    assert (told("5 s").phase, told("5 s").message) == (SessionPhase.HELD, "Held at 5 s.")

    stand.run.broken_by = BreakpointHit(6, BreakAction.HOLD, 5, 0, 1_234, 0, "boss fired")
    hit = told("5 s")
    assert (hit.phase, hit.breakpoint) == (SessionPhase.HELD, 6)
    assert hit.message == "Held at 5 s in frame 1,234 because boss fired."
    stand.run.stopped_by = SimpleNamespace(
        error=ValueError("no"), label="boss", traceback_text="Traceback"
    )
    failed = told("5 s")
    assert (failed.phase, failed.detail) == (SessionPhase.HELD, "Traceback")
    assert failed.message == "Stopped at 5 s because “boss” failed: ValueError: no"
    stand.run.is_in_step, stand.run.step_began_at = True, 4
    assert told("5 s").phase is SessionPhase.STEPPING
    stand.session.rewinding = SimpleNamespace(frame=1_234, percent=12)
    assert told("5 s").phase is SessionPhase.REWINDING
    assert told("5 s").message == "Going back to frame 1,234: 12 % replayed."


def test_that_intervals_are_measured_once_and_only_where_waits_are_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stand = Stand()
    session, run = stand.session, stand.run
    session.source = VirtualTimeSource()
    session.measure_intervals()
    assert session._meter is None

    reported: list[Any] = []
    session.source = SimpleNamespace(
        now_ns=lambda: 5,
        report_waits=lambda *each: reported.append(each),
        close=lambda: stand.done.append("close source"),
    )
    run.source = SimpleNamespace()
    run.is_calling = lambda: False
    run.tree = SimpleNamespace(root=SimpleNamespace(id=7))
    made: list[Any] = []

    def sampler(clock_id: int, until_wake_ns: object) -> object:
        made.append((clock_id, until_wake_ns))
        return SimpleNamespace(close=lambda: stand.done.append("close sampler"))

    monkeypatch.setattr(hosted, "SceneSampler", sampler)
    session.measure_intervals()
    session.measure_intervals()
    meter: Any = vars(session)["_meter"]
    session._meter_run(run)

    assert reported == [(meter.wait, meter.poll)]
    assert made == [(7, meter.until_wake_ns)]
    assert (run.shares, run.source.meter, run.is_calling) == (meter, meter, meter.is_calling)
    assert run.sampler is session._sampler
    meter.close()
    session._meter = SimpleNamespace(close=lambda: stand.done.append("close meter"))
    session.close()
    assert session.status.phase is SessionPhase.EMPTY
    session.close()
    assert stand.done == [
        *("end step", "close recorder", "close run", "close meter", "close sampler"),
        "close source",
    ]
