"""Attached programs in a session: clocks, timers, tasks, texts and recordings."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.analysis.lint.rules import findings
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.cli.main import main
from inspector.commands.recording import StartRecording, StopRecording
from inspector.commands.scene import AddMark
from inspector.commands.transport import Hold
from inspector.sessions.recorded import RecordedSession
from inspector.sessions.session import SessionPhase
from inspector.timebase import format_instant
from inspector.vocabulary import (
    CALLBACK_FAILED,
    FRAME_BEGAN,
    FRAME_ENDED,
    MARK,
    TASK_ADDED,
    TASK_WAITS,
    TASKS_TOLD,
    TaskWait,
)
from tests.sessions.attached.fake_probe import (
    MS,
    SERVER,
    Attachment,
    labels,
    running,
)


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
