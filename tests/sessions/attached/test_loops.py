"""The frames of several loops of attached programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.commands.recording import StartRecording, StopRecording
from inspector.events.frame_history import FrameHistory
from inspector.events.log import EventLog
from inspector.events.timeline import Timeline
from inspector.sessions.attached import loops as module
from inspector.sessions.attached.loops import Loops
from inspector.sessions.attached.session import AttachedSession
from inspector.sessions.recorded import RecordedSession
from inspector.vocabulary import (
    DELTA_CUT,
    FRAME_BEGAN,
    FRAME_ENDED,
    MARK,
    PHASE_ENDED,
    Phase,
    RawEvent,
)
from tests.sessions.attached.fake_probe import MS, Attachment, FakeProbe

FIRST, SECOND = 2, 3


def with_loops(attachment: Attachment) -> tuple[AttachedSession, FakeProbe]:
    """Join a program of two loops, one frame of each overlapping the other."""
    session = attachment.session
    probe = attachment.join()
    probe.keyframe()
    probe.clock(2, "second loop", parent=1)
    turn(attachment, probe)
    return session, probe


def turn(attachment: Attachment, probe: FakeProbe, frames: int = 3) -> None:
    """Run frames of both loops: 16 ms for one, 4 ms for the other."""
    session = attachment.session
    before = session.frames_run
    for _ in range(frames):
        now_ns = attachment.hand.now_ns
        probe.events(
            (now_ns, FRAME_BEGAN, 1, 0, MS),
            (now_ns + 1_000, FRAME_BEGAN, 2, 0, MS),
            (now_ns + 2_000, FRAME_ENDED, 2, 4 * MS, MS),
            (now_ns + 3_000, FRAME_ENDED, 1, 16 * MS, 2 * MS),
        )
        attachment.hand.advance(20)
    attachment.settle(lambda: session.frames_run == before + frames)


def test_that_the_frames_of_another_loop_are_shown_with_their_past(attachment: Attachment) -> None:
    session, probe = with_loops(attachment)
    assert list(session.timeline.frames.interval_ns) == [16 * MS] * 3
    assert session.frames_text(FIRST) == "3, shown"
    assert session.frames_text(SECOND) == "3"
    assert session.show_frames_of(SECOND) == ""
    assert list(session.timeline.frames.interval_ns) == [4 * MS] * 3
    assert session.frames_text(SECOND) == "3, shown"
    turn(attachment, probe)
    assert list(session.timeline.frames.interval_ns) == [4 * MS] * 6
    session.show_frames_of(FIRST)
    assert list(session.timeline.frames.interval_ns) == [16 * MS] * 6
    began = [each for each in session.log.read().events if each[1] == FRAME_BEGAN]
    assert [each[3] for each in began] == list(range(6))
    assert {each[2] for each in began} == {FIRST}


def test_that_everything_but_the_frames_is_the_same_after_an_exchange(
    attachment: Attachment,
) -> None:
    session, _ = with_loops(attachment)
    frames = {FRAME_BEGAN, FRAME_ENDED}
    before = [each for each in session.log.read().events if each[1] not in frames]
    clocks, text = dict(session.timeline.clocks), session.log.intern("second loop")
    session.show_frames_of(SECOND)
    assert [each for each in session.log.read().events if each[1] not in frames] == before
    assert session.timeline.clocks == clocks
    assert session.log.intern("second loop") == text
    assert session.history.state_at(session.present_ns).frames.end == 3


def test_that_a_clock_without_frames_is_refused_by_name(attachment: Attachment) -> None:
    session, probe = with_loops(attachment)
    probe.clock(3, "thread", parent=1)
    attachment.settle(lambda: len(session.timeline.clocks) == 4)
    log = session.log
    reason = "No frames of “thread” or of a clock below it have been seen."
    assert session.show_frames_of(4) == reason
    assert session.log is log


def test_that_a_recording_goes_on_in_another_file_with_the_frames_chosen(
    attachment: Attachment, tmp_path: Path
) -> None:
    session, probe = with_loops(attachment)
    session.submit(StartRecording(str(tmp_path / "a.tlrec")))
    attachment.settle(lambda: session.recorder.is_recording)
    session.show_frames_of(SECOND)
    turn(attachment, probe)
    session.submit(StopRecording())
    attachment.settle(lambda: not session.recorder.is_recording)
    found = {}
    for name in ("a", "a 2"):
        recorded = RecordedSession(tmp_path / f"{name}.tlrec")
        found[name] = list(recorded.timeline.frames.interval_ns)
        recorded.close()
    assert found == {"a": [16 * MS] * 3, "a 2": [4 * MS] * 6}


def test_that_a_page_that_is_loaded_again_continues_the_frames(attachment: Attachment) -> None:
    attachment.door.opened.brings_more = True
    session, probe = with_loops(attachment)
    probe.close()
    attachment.settle(lambda: session.programs[0].ended)
    again = attachment.join(pid=4_712)
    again.keyframe()
    now_ns = attachment.hand.now_ns
    again.events((now_ns, FRAME_BEGAN, 1, 0, MS), (now_ns + 9, FRAME_ENDED, 1, 8 * MS, MS))
    attachment.settle(lambda: session.frames_run == 4)
    assert list(session.timeline.frames.interval_ns) == [*[16 * MS] * 3, 8 * MS]


def test_that_a_loop_with_a_past_is_shown_when_the_other_program_ends(
    attachment: Attachment,
) -> None:
    session, probe = with_loops(attachment)
    other = attachment.join(pid=4_712)
    other.keyframe()

    def frame() -> None:
        now_ns = attachment.hand.now_ns
        other.events((now_ns, FRAME_BEGAN, 1, 0, MS), (now_ns + 9, FRAME_ENDED, 1, 8 * MS, MS))

    frame()
    probe.close()
    attachment.settle(lambda: session.programs[0].ended)
    frame()
    attachment.settle(lambda: list(session.timeline.frames.interval_ns) == [8 * MS] * 2)


def folded(log: EventLog) -> Timeline:
    timeline = log.base.copy()
    timeline.apply_all(log.read(log.first).events)
    return timeline


def frame_rows(at_ns: int, clock_id: int, interval_ns: int) -> list[RawEvent]:
    """Return the events of a frame with a phase and a cut."""
    return [
        (at_ns, FRAME_BEGAN, clock_id, 0, 5),
        (at_ns + 1, DELTA_CUT, clock_id, 3, 0),
        (at_ns + 2, PHASE_ENDED, Phase.DRAW, 0, 2),
        (at_ns + 4, FRAME_ENDED, clock_id, interval_ns, 4),
    ]


def columns(frames: FrameHistory) -> list[list[int]]:
    rows = [frames.at_ns, frames.interval_ns, frames.delta_ns, frames.busy_ns, frames.cut_ns]
    return [list(each) for each in (*rows, *frames.phases)]


@pytest.mark.parametrize("dropped", range(1, 40, 5))
def test_that_frames_that_have_left_the_log_are_kept_to_the_nanosecond(dropped: int) -> None:
    log, loops = EventLog(40 * 40), Loops()
    expected = {clock: Timeline([""]) for clock in (FIRST, SECOND)}
    for at_ns in range(0, 20 * dropped, 20):
        # They overlap, and phases belong to the program's latest loop.
        for clock_id, shift_ns in ((FIRST, 0), (SECOND, 5)):
            for event in frame_rows(at_ns + shift_ns, clock_id, 7 * clock_id):
                expected[clock_id].apply_all([event])
                for row in loops.takers[event[1]](list(event)):
                    log.append(tuple(row))  # type: ignore[arg-type] # five
        log.append((at_ns + 15, MARK, 0, 0, 0))
        log.settle()
    for clock_id in (SECOND, FIRST, SECOND):
        log = loops.exchanged(clock_id, log)
        assert columns(folded(log).frames) == columns(expected[clock_id].frames)


def test_that_the_oldest_frames_of_hidden_loops_go_when_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_MOST_WAITING", 400)
    log, loops = EventLog(), Loops()
    for at_ns in range(0, 2_000, 20):
        for clock_id in (FIRST, SECOND):
            for event in frame_rows(at_ns + clock_id, clock_id, 7):
                for row in loops.takers[event[1]](list(event)):
                    log.append(tuple(row))  # type: ignore[arg-type] # five
    frames = folded(loops.exchanged(SECOND, log)).frames
    assert 0 < len(frames) < 100
    assert frames.end == 100
    assert frames.at_ns[-1] == 1_980 + SECOND
