"""Attached programs: what they report, what they are asked for, and how they end."""

from __future__ import annotations

import os
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from inspector.analysis.explain.explain import explain
from inspector.analysis.lanes.lanes import LaneStore
from inspector.analysis.lint.rules import findings
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.calls.call import CallId
from inspector.cli.main import main
from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.command import Capability
from inspector.commands.recording import StartRecording, StopRecording
from inspector.commands.scene import AddMark, StepBack, Undo
from inspector.commands.timers import ClearTimer
from inspector.commands.transport import Hold, Run, StepFrames, StepToNextTimer
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.events.recording import open_recording
from inspector.events.states import StoppedClock
from inspector.probe.adapters import KEEPS_TIME
from inspector.probe.wire import packed_events
from inspector.sessions.attached.link import Attached, Batch, Notification
from inspector.sessions.attached.messages import HelloMessage
from inspector.sessions.attached.session import AttachedSession
from inspector.sessions.recorded import RecordedSession
from inspector.sessions.session import SessionPhase
from inspector.timebase import format_instant
from inspector.vocabulary import (
    CALLBACK_FAILED,
    CLOCK_ADDED,
    CLOCK_PAUSED,
    CLOCK_RATE,
    COMMAND,
    FRAME_BEGAN,
    FRAME_ENDED,
    MARK,
    NEVER,
    RATE_DENOMINATOR,
    TASK_ADDED,
    TASK_WAITS,
    TASKS_TOLD,
    TIMER_ARMED,
    TIMER_FIRED,
    TaskWait,
)
from tests.events.recording.recorded_worlds import record
from tests.sessions.attached.fake_probe import (
    MS,
    Attachment,
    DryServer,
    FakeDoor,
    FakeProbe,
    Hand,
)

SERVER = 2


class Mute:
    """As much of a connection as a session needs."""

    text = "test"
    host = ""
    peer_pid = 0
    is_silent = False


SECOND = 2 + (1 << 40)


def running(attachment: Attachment, **more: object) -> FakeProbe:
    """Return a program with two timers that is attached and runs."""
    session = attachment.session
    known = len(session.timeline.clocks)
    probe = attachment.join(**more)
    probe.keyframe((1, "beat", 500 * MS), (2, "end", 900 * MS))
    attachment.settle(lambda: session.is_running and len(session.timeline.clocks) > known)
    return probe


def labels(session: AttachedSession) -> dict[int, str]:
    return {each: session.timeline.timers.row(each).label for each in session.timeline.timers.ids()}


def test_that_a_program_is_a_branch_under_the_root_with_its_timers(attachment: Attachment) -> None:
    session = attachment.session
    assert session.status.phase is SessionPhase.WAITING

    running(attachment)

    clocks = session.timeline.clocks
    assert [(each.name, each.parent_id) for each in clocks.values()] == [
        ("session", 0),
        ("server", 1),
    ]
    assert labels(session) == {1: "beat", 2: "end"}
    assert session.timeline.timers.row(1).call_site == "server.py:7"
    assert session.timeline.session_due_ns(1) == 500 * MS
    assert session.status.message == "“server” is running."


def test_that_holding_pauses_the_program_and_is_shown_when_it_is_paused(
    attachment: Attachment,
) -> None:
    session = attachment.session
    probe = running(attachment)
    session.submit(Hold())
    assert session.is_running

    attachment.settle(lambda: not session.is_running and session.timeline.commands)

    assert probe.asked == [("Clock.pause", {"clock": 1, "cause": 1})]
    record = session.timeline.commands[0]
    assert (record.number, record.text, record.refusal) == (1, "hold", "")
    clock = session.timeline.clocks[SERVER]
    assert clock.paused
    assert clock.pause_cause == 1
    assert session.status.phase is SessionPhase.HELD
    held_ns = session.timeline.local_ns(SERVER)
    attachment.hand.advance(1_000)
    session.refresh()
    assert session.timeline.at_ns > held_ns + 900 * MS
    assert session.timeline.local_ns(SERVER) == held_ns

    session.submit(Run())
    attachment.settle(lambda: session.is_running)
    assert probe.asked[-1] == ("Clock.resume", {"clock": 1, "cause": 2})


def test_that_a_program_holds_itself_at_the_end_of_a_turn_that_a_breakpoint_waits_for(
    attachment: Attachment,
) -> None:
    session = attachment.session
    probe = running(attachment)
    session.submit(AddBreakpoint(Breakpoint(BreakKind.TURN_ABOVE, limit_ns=100 * MS)))
    attachment.settle(lambda: bool(probe.asked))
    assert probe.asked == [("Program.hold_after", {"turn_ns": 100 * MS, "cause": 1})]

    now_ns = attachment.hand()
    probe.events(
        (now_ns - 200 * MS, FRAME_BEGAN, 1, 0, 0),
        (now_ns, FRAME_ENDED, 1, 0, 200 * MS),
        (now_ns, CLOCK_PAUSED, 1, 1, now_ns),
    )
    attachment.settle(lambda: session.status.breakpoint == 1)

    assert not session.is_running
    assert session.wants_hold
    assert "it took 200 ms" in session.status.message
    session.submit(Run())
    attachment.settle(lambda: bool(session.timeline.commands[2:]))
    assert probe.asked[1:] == [("Clock.resume", {"clock": 1, "cause": 3})]


def test_that_programs_are_asked_for_their_tasks_and_those_of_one_that_ended_are_not_known(
    attachment: Attachment,
) -> None:
    session = attachment.session
    session.watch_tasks(500 * MS)
    probe = running(attachment)
    attachment.settle(lambda: bool(probe.asked))
    assert probe.asked == [("Program.tasks", {"every_ns": 500 * MS})]
    now_ns = attachment.hand()
    probe.events(
        (now_ns, TASK_ADDED, 1, 1, probe.text("main")),
        (now_ns, TASK_WAITS, 1, int(TaskWait.TIMER), 0),
        (now_ns, TASKS_TOLD, 1, 1, 2),
    )
    attachment.settle(lambda: bool(session.timeline.tasks.told_ns))
    (task,) = session.timeline.tasks.by_id.values()
    assert (session.timeline.strings[task.name], task.clock_id) == ("main", SERVER)

    probe.socket.close()
    attachment.settle(lambda: not session.timeline.tasks.by_id)

    assert session.timeline.tasks.told_ns == {}


def test_that_a_rate_is_exact_and_can_be_undone(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    session.submit(SetRate(SERVER, Fraction(1, 4)))
    attachment.settle(lambda: session.timeline.clocks[SERVER].rate_n != RATE_DENOMINATOR)
    cause = {"clock": 1, "rate_n": RATE_DENOMINATOR // 4, "cause": 1}
    assert probe.asked == [("Clock.rate", cause)]
    (changed_ns,) = (each[0] for each in session.log.read().events if each[1] == CLOCK_RATE)
    at_ns = changed_ns + 4_000
    assert session.timeline.local_ns(SERVER, at_ns) == changed_ns + 1_000
    assert session.undoing.newest == 1


def test_that_a_session_goes_on_while_its_door_may_bring_another_program(
    attachment: Attachment,
) -> None:
    session = attachment.session
    first = running(attachment)
    attachment.door.opened.brings_more = True
    attachment.door.opened.note = "The debugger was open."
    first.close()
    attachment.settle(lambda: session.status.phase is SessionPhase.WAITING)
    assert "is no longer attached" in session.status.message
    assert session.status.message.endswith("Waiting for “server” to connect.")
    assert session.expects_news

    running(attachment)
    assert session.status.phase is SessionPhase.RUNNING
    assert session.notes[0] == "The debugger was open."


def test_that_what_a_program_refuses_is_a_refused_command(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    probe.refusals["Timer.clear"] = "uvloop cannot clear timers that were set before."
    session.submit(ClearTimer(1))
    attachment.settle(lambda: session.timeline.commands)
    assert session.timeline.commands[0].text == "clear “beat”"
    assert session.timeline.commands[0].refusal == probe.refusals["Timer.clear"]
    assert session.undoing.newest == 0


def test_that_capabilities_have_a_reason_for_each_clock(attachment: Attachment) -> None:
    session = attachment.session
    assert session.why_not(Capability.PAUSE, SERVER) == "no program is attached yet"
    probe = running(attachment)
    probe.clock(2, "loop", parent=1)
    why = "The loop has no clock that could be replaced."
    probe.tell(
        "Program.changed",
        clocks=[
            {"clock": 1, "title": "server", "capabilities": {"pause": True, "rate": True}},
            {"clock": 2, "title": "loop", "capabilities": {"pause": True, "rate": why}},
        ],
    )
    attachment.settle(lambda: SERVER + 1 in session.timeline.clocks)
    attachment.settle(lambda: session.why_not(Capability.RATE, SERVER + 1))
    assert session.why_not(Capability.RATE, SERVER + 1) == why.removesuffix(".")
    assert not session.why_not(Capability.PAUSE, SERVER + 1)
    assert not session.why_not(Capability.RATE, SERVER)
    assert session.why_not(Capability.RATE, 1).startswith("the session's own time is real time")
    assert session.why_not(Capability.REWIND) == "an attached program cannot be rewound"
    assert not session.why_not(Capability.RECORD)
    session.submit(SetRate(SERVER + 1, Fraction(2)))
    attachment.settle(lambda: session.timeline.commands)
    assert session.timeline.commands[0].refusal == why
    assert session.driven_clock(0) == SERVER
    assert session.driven_clock(SERVER + 1) == SERVER + 1

    probe.tell("Program.changed", grant="read-only")
    attachment.settle(lambda: session.why_not(Capability.PAUSE, SERVER))
    assert session.why_not(Capability.PAUSE, SERVER) == "“server” allows reading only"


def test_that_rewinding_is_refused_with_a_sentence(attachment: Attachment) -> None:
    session = attachment.session
    running(attachment)
    session.submit(StepBack())
    attachment.settle(lambda: session.timeline.commands)
    assert session.timeline.commands[0].refusal == "An attached program cannot be rewound."


def test_that_a_step_is_over_when_the_program_is_held_again(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    session.submit(StepFrames(2))
    attachment.settle(lambda: session.timeline.commands)
    assert session.timeline.commands[0].refusal == "The scene is running. Hold it first."
    session.submit(Hold())
    attachment.settle(lambda: not session.is_running)
    session.submit(StepFrames(2))
    attachment.settle(lambda: len(session.timeline.commands) == 3)
    assert probe.asked[-1] == ("Program.step", {"clock": 1, "frames": 2, "cause": 3})
    assert session.status.phase is SessionPhase.STEPPING
    for step in (StepFrames(1), StepToNextTimer()):
        session.submit(step)
    attachment.settle(lambda: len(session.timeline.commands) == 5)
    assert [each.refusal for each in session.timeline.commands[3:]] == [
        "“server” is still taking the step before, which passes in real time."
    ] * 2
    assert session.status.phase is SessionPhase.STEPPING
    probe.tell("Program.held", held=True, frame=2)
    attachment.settle(lambda: session.status.phase is SessionPhase.HELD)


def test_that_all_programs_step_to_the_next_timer_of_any(attachment: Attachment) -> None:
    session = attachment.session
    first = running(attachment)
    second = attachment.join(pid=5, name="worker")
    second.keyframe((1, "soon", 300 * MS))
    attachment.settle(lambda: len(session.own_clocks()) == 2)
    session.submit(Hold())
    attachment.settle(lambda: not session.is_running)
    waits = [
        due - session.timeline.local_ns(c) for c, due in ((SERVER, 500 * MS), (SECOND, 300 * MS))
    ]
    assert waits[1] < waits[0]
    session.submit(StepToNextTimer())
    attachment.settle(lambda: len(session.timeline.commands) == 2)
    assert second.asked[-1][1] == {"clock": 1, "to": "next_timer", "cause": 2}
    assert first.asked[-1][1] == {"clock": 1, "local_ns": waits[1], "cause": 2}


def test_that_a_timer_that_is_overdue_does_not_keep_other_programs_from_a_step(
    attachment: Attachment,
) -> None:
    session = attachment.session
    first = running(attachment)
    second = attachment.join(pid=5, name="worker")
    second.keyframe((1, "soon", 300 * MS), (2, "late", 1))
    attachment.settle(lambda: len(session.own_clocks()) == 2)
    attachment.hand.advance(20)
    session.submit(Hold())
    attachment.settle(lambda: not session.is_running)
    wait_ns = 300 * MS - session.timeline.local_ns(SECOND)
    session.submit(StepToNextTimer())
    attachment.settle(lambda: len(session.timeline.commands) == 2)
    assert second.asked[-1][1] == {"clock": 1, "to": "next_timer", "cause": 2}
    assert first.asked[-1][1] == {"clock": 1, "local_ns": wait_ns, "cause": 2}


def test_that_several_programs_are_one_log_in_the_order_of_their_instants(
    attachment: Attachment,
) -> None:
    session = attachment.session
    first = running(attachment)
    second = attachment.join(pid=5, name="worker")
    second.keyframe((1, "beat", 5_000 * MS))
    attachment.settle(lambda: SECOND in session.timeline.clocks)
    cursor, now_ns = session.log.end, attachment.hand.now_ns
    attachment.hand.advance(20)
    second.events(*((now_ns + n * MS, TIMER_ARMED, 1, n, 0) for n in (1, 3, 5)))
    first.events(*((now_ns + n * MS, TIMER_ARMED, 1, n, 0) for n in (2, 4, 6)))
    attachment.settle(lambda: session.log.end >= cursor + 6)
    armed = [each for each in session.log.read(cursor).events if each[1] == TIMER_ARMED]
    assert [each[3] for each in armed] == [1, 2, 3, 4, 5, 6]
    assert [each[2] >> 40 for each in armed] == [1, 0, 1, 0, 1, 0]
    assert [b[0] - a[0] for a, b in pairwise(armed)] == [MS] * 5


def test_that_a_program_joins_held_programs_held(attachment: Attachment) -> None:
    session = attachment.session
    running(attachment)
    session.submit(Hold())
    attachment.settle(lambda: not session.is_running)
    child = attachment.join(pid=5, parent_pid=4_711, name="child")
    child.keyframe()
    attachment.settle(lambda: child.asked)
    assert child.asked == [("Clock.pause", {"clock": 1, "cause": 1})]
    attachment.settle(lambda: session.timeline.clocks[SECOND].paused)

    child.close()
    attachment.settle(lambda: SECOND not in session.timeline.clocks)
    assert "“child” is no longer attached" in session.timeline.marks[-1].text
    assert session.status.phase is SessionPhase.HELD


def test_that_children_are_below_one_clock_with_their_parent(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    attachment.settle(session.own_clocks)
    worker = attachment.join(pid=4_711, parent_pid=4_711, name="thread")
    grandchild = attachment.join(pid=5, parent_pid=4_711, name="child")
    other = attachment.join(pid=9, parent_pid=1, name="other")
    for each in (worker, grandchild, other):
        each.keyframe()
    attachment.settle(lambda: len(session.own_clocks()) == 4)
    clocks = session.timeline.clocks
    family = clocks[SERVER].parent_id
    assert clocks[family].name == "server with children"
    assert clocks[family].children == [SERVER, SECOND, 2 + (2 << 40)]
    assert clocks[1].children == [family, 2 + (3 << 40)]
    assert session.timeline.local_ns(family) == session.timeline.at_ns
    assert session.why_not(Capability.RATE, family) == (
        "the time of “server with children” is real time: select a program or a clock below it"
    )
    assert session.program_of_clock(family) is None
    lanes = LaneStore()
    lanes.read(session.history, session.timeline)
    assert lanes.clocks.path_at(SERVER, session.present_ns) == [SERVER, family, 1]
    assert all(lanes.clocks.local_ns(each, session.present_ns) is not None for each in clocks)

    # A keyframe describes what is below it; the session's own clock stays.
    probe.keyframe()
    attachment.settle(lambda: session.programs[0].is_described)
    session.submit(PauseClock(SERVER))
    attachment.settle(lambda: session.timeline.clocks[SERVER].paused)
    assert not session.timeline.clocks[SECOND].paused
    assert family in session.timeline.clocks
    worker.close()
    attachment.settle(lambda: SECOND not in session.timeline.clocks)
    assert len(session.own_clocks()) == 3


@pytest.mark.parametrize("is_described", [False, True])
def test_that_a_child_may_dial_before_its_parent(
    attachment: Attachment, is_described: bool
) -> None:
    session, clocks = attachment.session, attachment.session.timeline.clocks
    child = attachment.join(pid=5, parent_pid=4_711, name="child")
    if is_described:
        child.keyframe()
        attachment.settle(session.own_clocks)
    parent = attachment.join(pid=4_711, name="server")
    if not is_described:
        child.keyframe()
    parent.keyframe()
    attachment.settle(lambda: len(session.own_clocks()) == 2 and len(clocks[1].children) == 1)
    (family,) = clocks[1].children
    assert clocks[family].name == "server with children"
    assert sorted(clocks[family].children) == [SERVER, SECOND]
    assert [program.name for program, _ in session.own_clocks()].count("child") == 1

    session.submit(PauseClock(family))
    attachment.settle(lambda: all(clocks[each].paused for each in clocks[family].children))


def test_that_pages_that_dial_are_no_children_of_one_another(attachment: Attachment) -> None:
    session = attachment.session
    running(attachment)
    for name in ("left", "right"):
        attachment.join(pid=0, parent_pid=0, name=name).keyframe()
    attachment.settle(lambda: len(session.own_clocks()) == 3)
    assert [session.timeline.clocks[1].children] == [[each for _, each in session.own_clocks()]]
    assert [each.process_text for each in session.programs.values()][1:] == ["page", "page"]


def test_that_a_program_and_its_children_are_paused_together_and_undone_alone(
    attachment: Attachment,
) -> None:
    session, clocks = attachment.session, attachment.session.timeline.clocks
    running(attachment)
    attachment.settle(session.own_clocks)
    for pid, parent_pid in ((5, 4_711), (6, 4_711), (9, 1)):
        attachment.join(pid=pid, parent_pid=parent_pid, name=f"process {pid}").keyframe()
    attachment.settle(lambda: len(session.own_clocks()) == 4)
    family = clocks[SERVER].parent_id
    children = clocks[family].children

    def become(*paused: int) -> None:
        attachment.settle(
            lambda: tuple(each for _, each in session.own_clocks() if clocks[each].paused) == paused
        )

    session.submit(PauseClock(children[1]))
    become(children[1])

    session.submit(PauseClock(family))
    become(*children)
    assert [clocks[each].pause_cause for each in children] == [2, 1, 2]
    # What was paused on its own before stays so.
    session.submit(Undo(2))
    become(children[1])

    session.submit(PauseClock(family))
    become(*children)
    session.submit(ResumeClock(family))
    become(children[1])
    session.submit(Undo(5))
    become(*children)
    for each in children:
        session.submit(ResumeClock(each))
    become()
    # Paused one by one, they are resumed together.
    for each in children:
        session.submit(PauseClock(each))
    become(*children)
    session.submit(ResumeClock(family))
    become()


def test_that_a_busy_thread_that_cannot_tell_its_timers_is_named(attachment: Attachment) -> None:
    session, began_ns = attachment.session, attachment.hand.now_ns
    probe = attachment.join()
    probe.tell("Events.keyframe", state="begun")
    probe.clock(1, "server")
    probe.tell("Program.changed", clocks=[{"clock": 1, "title": "loop", "capabilities": {}}])
    probe.tell("Events.keyframe", state="partial", waits_for=[1])
    attachment.settle(lambda: "busy" in session.status.message)
    assert (
        "Timers of “loop” in “server” are not known yet: its thread is busy."
        in session.status.message
    )
    assert session.own_clocks()

    attachment.hand.advance(1_234)
    since_ns = attachment.hand.now_ns
    waiting = {"clock": 1, "thread": "MainThread", "since_ns": since_ns}
    probe.tell("Events.keyframe", state="partial", waits_for=[1], threads=[waiting])
    since = format_instant(since_ns - began_ns)
    told = (
        "Timers of “loop” in “server” are not known yet: "
        f"its thread “MainThread” has been busy since {since}."
    )
    attachment.settle(lambda: told in session.status.message)
    assert told in session.notes

    probe.tell("Events.keyframe", state="complete")
    attachment.settle(lambda: "busy" not in session.status.message)
    assert session.notes == ()


def test_that_events_that_come_late_are_counted_and_a_clock_is_described_again(
    attachment: Attachment,
) -> None:
    session = attachment.session
    probe = running(attachment)
    early_ns = attachment.hand.now_ns
    attachment.hand.advance(200)
    session.submit(AddMark("now"))
    attachment.settle(lambda: session.timeline.marks)
    probe.events((early_ns, CLOCK_RATE, 1, RATE_DENOMINATOR // 2, 0))
    attachment.settle(lambda: ("Events.keyframe", {}) in probe.asked)
    assert session.log.read().events[-1][0] >= 0
    instants = [each[0] for each in session.log.read().events]
    assert instants == sorted(instants)
    assert any("1 events came late" in each for each in session.notes)


def test_that_a_keyframe_after_a_loss_tells_what_has_gone_and_come(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    cursor = session.log.end
    probe.tell("Events.lost", counts={str(TIMER_FIRED): 7, str(FRAME_BEGAN): 2})
    probe.keyframe((2, "end", 900 * MS), (3, "later", 2_000 * MS))
    attachment.settle(lambda: 3 in session.timeline.timers)
    attachment.settle(lambda: session.timeline.marks)
    assert labels(session) == {2: "end", 3: "later"}
    kinds = [each[1] for each in session.log.read(cursor).events]
    assert CLOCK_ADDED not in kinds
    assert session.programs[0].lost == {"timer_fired": 7, "frame_began": 2}
    assert session.timeline.marks[-1].text == "9 events were lost"
    assert session.notes == ("server: 9 events were lost: 7 timer_fired, 2 frame_began.",)


def test_that_a_paused_clock_is_as_it_was_after_a_loss(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    session.submit(PauseClock(SERVER))
    attachment.settle(lambda: session.timeline.clocks[SERVER].paused)
    probe.keyframe()
    attachment.settle(lambda: not session.timeline.clocks[SERVER].paused)
    assert session.timeline.local_ns(SERVER) < 200 * MS


def test_that_only_one_loop_makes_the_frames_of_the_log(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    probe.clock(2, "second loop", parent=1)
    now_ns = attachment.hand.now_ns
    for index in range(3):
        probe.events(
            (now_ns, FRAME_BEGAN, 1, 70 + index, MS),
            (now_ns, FRAME_BEGAN, 2, index, MS),
            (now_ns, FRAME_ENDED, 2, MS, MS),
            (now_ns, FRAME_ENDED, 1, 16 * MS, 2 * MS),
        )
    attachment.settle(lambda: session.frames_run == 3)
    began = [each for each in session.log.read().events if each[1] == FRAME_BEGAN]
    assert [(each[2], each[3]) for each in began] == [(SERVER, 0), (SERVER, 1), (SERVER, 2)]
    assert session.frames_of == SERVER


def test_that_what_does_not_fit_is_left_out_and_told(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    attachment.settle(lambda: session.timeline.is_running)
    cursor, now_ns = session.log.end, attachment.hand.now_ns
    probe.events(
        (now_ns, TIMER_FIRED, 77, 0, NEVER),
        (now_ns, TIMER_FIRED, -5, 0, NEVER),
        (now_ns, COMMAND, 1, 0, 0),
        (now_ns, 999, 1, 0, 0),
        (now_ns, TIMER_FIRED, 1, 0, NEVER),
    )
    attachment.settle(lambda: session.log.end > cursor)
    assert [each[1:] for each in session.log.read(cursor).events] == [(TIMER_FIRED, 1, 0, NEVER)]
    assert session.notes == (
        "server: 3 events were not valid and were left out.",
        "1 events did not fit the state and were left out.",
    )


def test_that_what_is_not_held_of_a_held_program_is_named(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    gevent = {"name": "gevent", "library": "gevent", "state": "failed", "message": KEEPS_TIME}
    probe.tell("Program.changed", adapters=[gevent])
    session.submit(Hold())
    attachment.settle(lambda: not session.is_running)

    assert session.status.message.startswith("“server” is held, but what gevent calls runs on.")


def test_that_a_breakpoint_holds_the_program(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    session.submit(AddBreakpoint(Breakpoint(BreakKind.TIMER_FIRES, "beat")))
    attachment.hand.advance(500)
    probe.events((attachment.hand.now_ns, TIMER_FIRED, 1, 0, NEVER))
    attachment.settle(lambda: not session.is_running)
    assert probe.asked[-1][0] == "Clock.pause"
    assert "because" in session.status.message
    assert [each.number for each in session.timeline.hits] == [1]


def test_that_a_silent_program_is_told_and_may_come_back(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    # Not at once: a long turn means that this side was suspended.
    attachment.settle(lambda: "does not answer" in session.status.message)
    probe.tell("Link.ping", n=1)
    attachment.until(lambda: "does not answer" not in session.status.message)


@pytest.mark.parametrize(
    ("is_orderly", "exit_code", "said"),
    [
        (False, None, "it has ended, or was killed"),
        (True, None, "the main loop has ended"),
        (False, 1, "it has ended with exit code 1"),
        (False, 137, "it was ended by SIGKILL"),
    ],
)
def test_that_the_timeline_stays_readable_after_the_end(
    attachment: Attachment, exit_code: int | None, said: str, *, is_orderly: bool
) -> None:
    session = attachment.session
    probe = running(attachment)
    attachment.door.opened.exit_code = exit_code
    if is_orderly:
        probe.tell("Link.bye", reason="the main loop has ended")
    probe.close()
    attachment.settle(lambda: session.status.phase is SessionPhase.ENDED)
    assert session.status.message == f"“server” is no longer attached: {said}."
    assert labels(session) == {1: "beat", 2: "end"}
    assert session.timeline.clocks[SERVER].paused
    assert session.timeline.marks[-1].text == session.status.message
    at_ns = session.timeline.at_ns
    attachment.hand.advance(5_000)
    session.refresh()
    assert session.timeline.at_ns == at_ns
    assert session.history.state_at(at_ns - MS).timers
    session.submit(ResumeClock(SERVER))
    session.refresh()
    assert session.timeline.commands[-1].refusal == session.status.message


def test_that_the_clock_of_a_program_that_has_ended_is_not_called_paused(
    attachment: Attachment, tmp_path: Path
) -> None:
    session = attachment.session
    probe = running(attachment)
    (reason,) = paused_by_hand(attachment)
    assert reason.what == "paused"

    probe.close()
    attachment.settle(lambda: session.status.phase is SessionPhase.ENDED)

    recording = open_recording(record(session.log, tmp_path / "a.tlrec"))
    ended_ns = session.timeline.marks[-1].at_ns
    for history in (session.history, recording):
        (reason,) = history.state_at(history.last_ns).pause_reasons(SERVER)
        assert (reason.what, reason.since_ns) == ("no longer attached", ended_ns)
        (before,) = history.state_at(ended_ns - 1).pause_reasons(SERVER)
        assert before.what == "paused"
        found = explain(history, CallId(1), history.last_ns)
        assert found.headline == "Nothing more is known of it: “server” is no longer attached."
        assert found.reasons[0].text == session.timeline.marks[-1].text
    recording.close()


def paused_by_hand(attachment: Attachment) -> tuple[StoppedClock, ...]:
    """Pause the program, and return what makes its clock stand still."""
    session = attachment.session
    session.submit(PauseClock(SERVER))
    attachment.settle(lambda: session.timeline.clocks[SERVER].paused)
    attachment.hand.advance(10)
    session.refresh()
    return session.timeline.pause_reasons(SERVER)


@pytest.mark.parametrize("is_own", [True, False])
def test_that_a_program_that_was_let_go_unsaid_is_not_called_ended(
    attachment: Attachment, *, is_own: bool
) -> None:
    attachment.door.opened.pid = os.getpid() if is_own else 4_711
    probe = attachment.join(pid=os.getpid())
    attachment.settle(lambda: attachment.session.programs)
    probe.close()
    attachment.settle(lambda: attachment.session.status.phase is SessionPhase.ENDED)
    assert attachment.session.status.message == (
        "“server” is no longer attached: the connection was lost, and it goes on by itself."
    )


def test_that_an_end_that_is_told_after_a_while_does_not_delay_other_programs(
    attachment: Attachment,
) -> None:
    session = attachment.session
    running(attachment)
    child = attachment.join(pid=os.getpid(), parent_pid=4_711, name="child")
    child.keyframe()
    attachment.settle(lambda: SECOND in session.timeline.clocks)

    child.close()

    def is_gone() -> bool:
        session.submit(AddMark("meanwhile"))
        return SECOND not in session.timeline.clocks

    attachment.settle(is_gone)

    assert not any("came late" in each for each in session.notes)


def test_that_detaching_says_goodbye_and_keeps_the_timeline(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    session.detach()
    assert session.status.message == "Detached from “server”; what was held goes on."
    attachment.until(lambda: any(method == "Link.bye" for method, _ in probe.notices))
    assert labels(session) == {1: "beat", 2: "end"}
    assert not attachment.door.opened.is_ended


def test_that_a_program_without_a_probe_is_told(attachment: Attachment) -> None:
    session = attachment.session
    attachment.door.opened.why = "“ls” has ended before the probe could connect."
    attachment.settle(lambda: session.status.phase is SessionPhase.FAILED)
    assert session.status.message == attachment.door.opened.why


def test_that_a_recording_opens_with_the_same_state_and_commands(
    attachment: Attachment, tmp_path: Path
) -> None:
    session = attachment.session
    path = tmp_path / "server.tlrec"
    running(attachment)
    session.submit(StartRecording(str(path)))
    session.submit(AddMark("here"))
    session.submit(Hold())
    attachment.settle(lambda: not session.is_running and session.timeline.marks)
    session.refresh()
    session.submit(StopRecording())
    assert session.recorder.problem == ""
    recorded = RecordedSession(path)
    timeline = recorded.timeline
    assert [each.name for each in timeline.clocks.values()] == ["session", "server"]
    assert timeline.clocks[SERVER].paused
    assert {timeline.timers.row(each).label for each in timeline.timers.ids()} == {"beat", "end"}
    assert [each.text for each in timeline.marks] == ["here"]
    assert timeline.local_ns(SERVER) == session.timeline.local_ns(SERVER)
    assert recorded.title == "server"
    recorded.close()


def test_that_a_program_that_ends_at_once_needs_no_word_about_its_clock(
    attachment: Attachment,
) -> None:
    session = attachment.session
    probe = attachment.join(clock_ns=attachment.hand.now_ns)
    probe.close()
    attachment.settle(lambda: session.programs[0].ended)
    assert session.notes == ()


@pytest.mark.parametrize(("adapter", "waits"), [("asyncio", True), ("pygame", False)])
def test_that_turns_of_a_loop_that_waits_are_held_against_the_budget_by_their_work(
    attachment: Attachment,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    adapter: str,
    *,
    waits: bool,
) -> None:
    session = attachment.session
    probe = running(attachment)
    probe.tell("Program.changed", clocks=[{"clock": 1, "adapter": adapter}])
    now_ns = attachment.hand.now_ns
    for place in range(30):
        at_ns = now_ns + place
        probe.events((at_ns, FRAME_BEGAN, 1, place, 0), (at_ns, FRAME_ENDED, 1, 100 * MS, 2 * MS))
    attachment.settle(lambda: session.frames_run == 30)
    assert session.waits is waits
    budget = FrameBudget.of_rate(session.frame_rate, by_busy=session.waits)
    kinds = {each.kind.name for each in findings(session.history, budget=budget)}
    assert ("over budget" in kinds) is not waits
    session.submit(StartRecording(str(tmp_path / "loop.tlrec")))
    session.submit(StopRecording())
    recorded = RecordedSession(tmp_path / "loop.tlrec")
    assert recorded.waits is waits
    recorded.close()
    main(["lint", str(tmp_path / "loop.tlrec")])
    assert ("over budget" in capsys.readouterr().out) is not waits


def test_that_a_flood_is_taken_in_pieces_in_which_the_window_lives() -> None:
    hand = Hand()
    session = AttachedSession(FakeDoor(), hand, DryServer(hand))
    link: Any = Mute()
    session.acceptor.put(Attached(link, HelloMessage(protocol=1, pid=1, name="flood"), 0, 0))
    session.acceptor.put(Notification(link, "Events.texts", {"first": 1, "texts": ["clock"]}))
    now_ns = hand.now_ns
    session.acceptor.put(Batch(link, packed_events([(now_ns, CLOCK_ADDED, 1, 0, 1)]), now_ns))
    for batch in range(200):
        marks = [(now_ns + 1_000 * batch + each, MARK, 1, 1, 0) for each in range(1_000)]
        session.acceptor.put(Batch(link, packed_events(marks), now_ns + MS))
    hand.advance(1_000)
    counts = []
    while len(session.timeline.marks) < 200_000:
        hand.advance(33)
        counts.append(session.refresh())
    assert max(counts) < 100_000
    instants = [each[0] for each in session.log.read().events]
    assert instants == sorted(instants)
    assert session.notes == ()
    session.close()


def test_that_what_a_program_calls_things_can_be_printed_and_tracebacks_keep_their_lines(
    attachment: Attachment,
) -> None:
    session = attachment.session
    evil = "\x1b[2J\u202egame\n"
    probe = attachment.join(name=evil, adapters=[{"name": "x" * 60_000, "message": evil}])
    probe.keyframe((5, "tick" + "!" * 60_000, 10**12))
    attachment.settle(lambda: 5 in session.timeline.timers)
    now_ns = attachment.hand.now_ns
    text, traceback = probe.text(evil), probe.text("Traceback\nError: \x07")
    probe.events((now_ns, CALLBACK_FAILED, 5, text, traceback), (now_ns, MARK, 0, text, 0))
    attachment.settle(lambda: session.timeline.marks)

    program = session.programs[0]
    assert program.name == session.timeline.marks[-1].text == "\ufffd[2J\ufffdgame⏎"
    assert len(program.adapters[0].name) < 1_000
    assert len(session.timeline.timers.row(5).label) < 1_000
    assert session.timeline.failures[0].label == program.name
    assert session.timeline.failures[0].traceback == "Traceback\nError: \ufffd"


def test_that_a_program_cannot_have_lost_more_than_there_can_have_been(
    attachment: Attachment,
) -> None:
    probe = attachment.join()
    probe.keyframe()
    probe.tell("Events.lost", counts={str(TIMER_FIRED): 10**18})
    attachment.until(lambda: attachment.session.programs[0].ended)
    assert "more events were lost than there can have been" in attachment.session.programs[0].ended
    assert attachment.session.programs[0].lost == {}


def test_that_a_thread_that_was_busy_before_it_was_attached_is_said_to_have_been(
    attachment: Attachment,
) -> None:
    probe = attachment.join()
    probe.keyframe()
    thread = {"clock": 1, "since_ns": attachment.hand.now_ns - 5 * MS, "thread": "worker"}
    probe.tell("Program.changed", clocks=[{"clock": 1, "adapter": "qt", "title": "loop"}])
    probe.tell("Events.keyframe", state="partial", waits_for=[1], threads=[thread])
    attachment.until(lambda: attachment.session.programs[0].waits_for)
    assert "busy since before it was attached" in " ".join(attachment.session.notes)


def test_that_workers_that_call_themselves_as_their_parent_have_names_of_their_own(
    attachment: Attachment,
) -> None:
    said = ["gunicorn", "gunicorn", "child of multiprocessing", "tool.py"]
    for pid, name in enumerate(said, 100):
        probe = attachment.join(name=name, pid=pid, parent_pid=100 if pid > 100 else 1)
        probe.keyframe()
    session = attachment.session
    attachment.settle(lambda: len(session.own_clocks()) == len(said))

    names = ["gunicorn", "gunicorn, child 1", "gunicorn, child 2"]
    assert [each.name for each in session.programs.values()] == [*names, "tool.py"]
    clocks = [session.timeline.clocks[clock_id].name for _, clock_id in session.own_clocks()]
    # The probe of this test calls the clock of every program “server”.
    assert sorted(clocks) == [*names[1:], "server", "server"]
