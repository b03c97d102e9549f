"""How attached programs end, fall silent or are let go."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from inspector.analysis.explain.explain import explain
from inspector.calls.call import CallId
from inspector.commands.clocks import PauseClock, ResumeClock
from inspector.commands.scene import AddMark
from inspector.events.recording import open_recording
from inspector.events.states import StoppedClock
from inspector.sessions.session import SessionPhase
from tests.events.recording.recorded_worlds import record
from tests.sessions.attached.fake_probe import (
    MS,
    SECOND,
    SERVER,
    Attachment,
    FakeProbe,
    labels,
    running,
)


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


def test_that_a_silent_program_is_told_and_may_come_back(attachment: Attachment) -> None:
    session = attachment.session
    probe = running(attachment)
    # Not at once: a long turn means that this side was suspended.
    attachment.settle(lambda: "does not answer" in session.status.message)
    probe.tell("Link.ping", n=1)
    attachment.until(lambda: "does not answer" not in session.status.message)


@pytest.mark.parametrize("is_introduced", [False, True])
def test_that_a_program_that_answered_while_its_end_was_found_out_is_not_missed(
    attachment: Attachment, monkeypatch: pytest.MonkeyPatch, *, is_introduced: bool
) -> None:
    session, opened = attachment.session, attachment.door.opened
    acceptor = session.acceptor

    def problem() -> str:
        if not attachment.probes:
            probe = FakeProbe(acceptor, attachment.hand)
            attachment.probes.append(probe)
            while acceptor.connecting_since_ns is None:
                pass
            while is_introduced and acceptor.connecting_since_ns is not None:
                probe.pump()
        return "“server” ended before a probe in it answered."

    monkeypatch.setattr(opened, "problem", problem)
    attachment.settle(lambda: attachment.probes)
    attachment.until(lambda: acceptor.connecting_since_ns is None)
    session.refresh()
    assert [each.name for each in session.programs.values()] == ["server"]
    assert session.opening_problem is None


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


def test_that_an_end_is_told_at_the_first_refresh_after_the_process_is_gone(
    attachment: Attachment, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, opened = attachment.session, attachment.door.opened
    opened.pid = os.getpid()
    probe = attachment.join(pid=os.getpid())
    attachment.settle(lambda: session.programs)
    asked: list[None] = []
    monkeypatch.setattr(opened, "poll", lambda: asked.append(None))
    probe.close()
    attachment.until(lambda: asked)
    monkeypatch.setattr(opened, "poll", lambda: 3)

    session.refresh()

    assert session.status.phase is SessionPhase.ENDED


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


def test_that_a_program_that_ends_at_once_needs_no_word_about_its_clock(
    attachment: Attachment,
) -> None:
    session = attachment.session
    probe = attachment.join(clock_ns=attachment.hand.now_ns)
    probe.close()
    attachment.settle(lambda: session.programs[0].ended)
    assert session.notes == ()
