"""The frames of several loops of attached programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.commands.recording import StartRecording, StopRecording
from inspector.commands.scene import AddMark
from inspector.events.blocks.packed_columns import events_of
from inspector.events.loop_frames import exchange
from inspector.events.schema import EventGroup, kinds_with
from inspector.sessions.attached.loops import Loops
from inspector.sessions.attached.session import AttachedSession
from inspector.sessions.recorded import RecordedSession
from inspector.sessions.session import ShowsLoops
from inspector.vocabulary import (
    CLOCK_PAUSED,
    DELTA_CUT,
    FRAME_BEGAN,
    FRAME_ENDED,
    PHASE_ENDED,
    Phase,
    RawEvent,
)
from tests.events.event_blocks import block_of
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
    assert session.choose_loop(SECOND) == ""
    assert list(session.timeline.frames.interval_ns) == [4 * MS] * 3
    assert session.frames_text(SECOND) == "3, shown"
    turn(attachment, probe)
    assert list(session.timeline.frames.interval_ns) == [4 * MS] * 6
    session.choose_loop(FIRST)
    assert list(session.timeline.frames.interval_ns) == [16 * MS] * 6
    began = [each for each in session.log.read().events if each[1] == FRAME_BEGAN]
    assert [each[3] for each in began] == list(range(6))
    assert {each[2] for each in began} == {FIRST}


def test_that_everything_but_the_frames_is_the_same_after_an_exchange(
    attachment: Attachment,
) -> None:
    session, _ = with_loops(attachment)
    frames = kinds_with(group=EventGroup.FRAMES)
    before = [each for each in session.log.read().events if each[1] not in frames]
    clocks, text = dict(session.timeline.clocks), session.log.intern("second loop")
    session.choose_loop(SECOND)
    assert [each for each in session.log.read().events if each[1] not in frames] == before
    assert session.timeline.clocks == clocks
    assert session.log.intern("second loop") == text
    assert session.history.state_at(session.present_ns).frames.end == 3


def test_that_what_comes_while_another_loop_is_shown_is_what_the_log_tells(
    attachment: Attachment,
) -> None:
    session, probe = with_loops(attachment)
    session.choose_loop(SECOND)
    turn(attachment, probe)
    told = session.history.state_before(session.log.end)
    timeline = session.timeline
    assert list(timeline.frames.at_ns) == list(told.frames.at_ns)
    assert list(timeline.loops[FIRST].frames.at_ns) == list(told.loops[FIRST].frames.at_ns)
    assert len(timeline.loops[FIRST].frames) == 6
    assert timeline.events_folded == told.events_folded == session.log.end


def test_that_another_loop_may_be_shown_while_a_program_describes_itself(
    attachment: Attachment,
) -> None:
    session, probe = with_loops(attachment)
    probe.tell("Events.keyframe", state="begun")
    probe.clock(1, "server")
    described_ns = attachment.hand.now_ns
    attachment.settle(lambda: attachment.hand.now_ns > described_ns + 200 * MS)
    session.choose_loop(SECOND)
    # A pause whose end was lost.
    probe.events((attachment.hand.now_ns, CLOCK_PAUSED, 2, 0, 0))
    probe.clock(2, "second loop", parent=1)
    probe.tell("Events.keyframe", state="complete")
    before = session.frames_run
    turn(attachment, probe)
    assert session.frames_run == before + 3
    assert not session.timeline.clocks[SECOND].paused


def test_that_a_clock_without_frames_is_refused_by_name(attachment: Attachment) -> None:
    session, probe = with_loops(attachment)
    probe.clock(3, "thread", parent=1)
    attachment.settle(lambda: len(session.timeline.clocks) == 4)
    log = session.log
    reason = "No frames of “thread” or of a clock below it have been seen."
    assert session.choose_loop(4) == reason
    assert session.log is log


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


@pytest.fixture
def recorded(attachment: Attachment, tmp_path: Path) -> Iterator[RecordedSession]:
    """A recording of two loops, the second of which was shown in its middle."""
    path = tmp_path / "a.tlrec"
    session, probe = with_loops(attachment)
    session.submit(StartRecording(str(path)))
    attachment.settle(lambda: session.recorder.is_recording)
    session.choose_loop(SECOND)
    turn(attachment, probe)
    session.submit(StopRecording())
    attachment.settle(lambda: not session.recorder.is_recording)
    assert [each.name for each in tmp_path.iterdir()] == ["a.tlrec"]
    found = RecordedSession(path)
    yield found
    found.close()


def test_that_one_recording_has_the_frames_of_every_loop(recorded: RecordedSession) -> None:
    assert isinstance(recorded, ShowsLoops)
    assert recorded.frames_of == FIRST
    assert [(each.clock_id, each.frames) for each in recorded.loops] == [(FIRST, 6), (SECOND, 6)]
    assert [each.name for each in recorded.loops] == ["server", "server › second loop"]
    assert list(recorded.timeline.frames.interval_ns) == [16 * MS] * 6
    assert recorded.choose_loop(SECOND) == ""
    assert list(recorded.timeline.frames.interval_ns) == [4 * MS] * 6
    events = recorded.log.read().events
    began = [cursor for cursor, each in enumerate(events) if each[1] == FRAME_BEGAN]
    assert [events[each][2:4] for each in began] == [(SECOND, frame) for frame in range(6)]
    assert [recorded.history.state_before(each).frames.end for each in began] == list(range(6))
    assert recorded.choose_loop(FIRST) == ""
    assert list(recorded.timeline.frames.interval_ns) == [16 * MS] * 6


def test_that_a_recorded_clock_without_frames_is_refused_by_name(
    recorded: RecordedSession,
) -> None:
    log = recorded.log
    assert recorded.choose_loop(1) == "No frames of “session” have been recorded."
    assert recorded.log is log


def test_that_the_last_seconds_are_saved_with_the_frames_of_every_loop(
    attachment: Attachment, tmp_path: Path
) -> None:
    session, _ = with_loops(attachment)
    session.choose_loop(SECOND)
    session.recorder.save_last(10**10, tmp_path / "a.tlrec")
    session.recorder.close()
    saved = RecordedSession(tmp_path / "a.tlrec")
    assert [each.frames for each in saved.loops] == [3, 3]
    assert saved.frames_of == FIRST
    saved.close()


def test_that_commands_tell_in_which_of_the_frames_shown_they_came(
    attachment: Attachment,
) -> None:
    session, probe = with_loops(attachment)
    for _ in range(2):
        now_ns = attachment.hand.now_ns
        probe.events((now_ns, FRAME_BEGAN, 2, 0, MS), (now_ns + MS, FRAME_ENDED, 2, MS, MS))
        attachment.hand.advance(20)
    attachment.settle(lambda: session.frames_text(SECOND) == "5")
    session.submit(AddMark("here"))
    attachment.settle(lambda: bool(session.timeline.commands))
    assert session.timeline.commands[-1].frame == 3
    session.choose_loop(SECOND)
    assert session.timeline.commands[-1].frame == 5


def frame_events(at_ns: int, clock_id: int) -> list[RawEvent]:
    """Return the events of a frame with a phase and a cut, as a program tells them."""
    return [
        (at_ns, FRAME_BEGAN, clock_id, 0, 5),
        (at_ns + 1, DELTA_CUT, clock_id, 3, 0),
        (at_ns + 2, PHASE_ENDED, Phase.DRAW, 0, 2),
        (at_ns + 4, FRAME_ENDED, clock_id, 7 * clock_id, 4),
    ]


def test_that_the_events_of_a_frame_are_the_same_as_after_an_exchange() -> None:
    loops = Loops()
    events = []
    for clock_id in (FIRST, SECOND):
        first, *others = frame_events(10 * clock_id, clock_id)
        events.append(loops.found(first)[-5:])
        for at_ns, kind, *numbers in others:
            taken = loops.takers[kind](at_ns, *numbers)
            assert taken
            events.append(taken)
    block = block_of(events)  # type: ignore[arg-type] # five each
    exchange(block, FIRST, SECOND)
    shown = [each for each in events_of(block) if each[0] > 10 * SECOND]
    assert shown == [
        (31, DELTA_CUT, SECOND, 3, 0),
        (32, PHASE_ENDED, Phase.DRAW, 0, 2),
        (34, FRAME_ENDED, SECOND, 21, 4),
    ]
