"""The frames of several loops of attached programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.commands.breakpoints import AddBreakpoint
from inspector.commands.recording import StartRecording, StopRecording
from inspector.commands.scene import AddMark
from inspector.events.blocks.packed_columns import events_of
from inspector.events.conditions.breakpoint import BreakAction, BreakKind, Breakpoint
from inspector.events.loop_frames import exchange, of_other_loop
from inspector.events.schema import EventGroup, kinds_with
from inspector.sessions.attached.loops import Loops, _undescribed
from inspector.sessions.attached.session import AttachedSession
from inspector.sessions.attached.session_numbers import program_of_clock
from inspector.sessions.recorded import RecordedSession
from inspector.sessions.session import ShowsLoops
from inspector.vocabulary import (
    CLOCK_PAUSED,
    DELTA_CUT,
    FRAME_BEGAN,
    FRAME_ENDED,
    LOOP_ASKED,
    LOOP_DELTA_CUT,
    LOOP_FOUND,
    LOOP_FRAME_BEGAN,
    LOOP_FRAME_ENDED,
    PHASE_ENDED,
    LoopKind,
    Phase,
    RawEvent,
)
from tests.events.event_blocks import block_of
from tests.sessions.attached.fake_probe import MS, Attachment, FakeProbe

FIRST, SECOND = 2, 3
#: A clock of another program.
ELSEWHERE = 2 + (1 << 40)


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


def test_that_a_breakpoint_is_hit_by_what_came_just_before_an_exchange(
    attachment: Attachment,
) -> None:
    session, _ = with_loops(attachment)
    on_marks = Breakpoint(BreakKind.CONDITION, condition='kind == "mark"', action=BreakAction.MARK)
    session.submit(AddBreakpoint(on_marks))
    session.refresh()
    session.submit(AddMark("here"))
    attachment.hand.advance(5_000)
    session._sorter.loops.wanted = SECOND
    session.refresh()
    assert session._sorter.loops.shown == SECOND
    attachment.settle(lambda: [each.number for each in session.timeline.hits] == [1])


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
    for number in range(2):
        probe.close()
        attachment.settle(lambda: session.programs[number].ended)  # noqa: B023 - at once
        probe = attachment.join(pid=4_712 + number)
        probe.keyframe()
        now_ns = attachment.hand.now_ns
        probe.events((now_ns, FRAME_BEGAN, 1, 0, MS), (now_ns + 9, FRAME_ENDED, 1, 8 * MS, MS))
        attachment.settle(lambda: session.frames_run == 4 + number)  # noqa: B023 - likewise
    assert list(session.timeline.frames.interval_ns) == [*[16 * MS] * 3, *[8 * MS] * 2]


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


# ---------------------------------------------------------------- the loops by themselves


def _numbers(loops: Loops, *events: tuple[int, int, int, int, int]) -> list[tuple[int, ...]]:
    """Return what the log gets of events, as the sorter asks for it."""
    found: list[tuple[int, ...]] = []
    for event in events:
        at_ns, kind, subject, a, b = event
        taken = loops.takers[kind](at_ns, subject, a, b)
        found.append(loops.found(event) if taken is None else taken)
    return found


def test_that_the_first_loop_has_the_frames_and_others_are_told_apart() -> None:
    loops = Loops()
    loops.describe = lambda clock: (clock + 100, LoopKind.WAITS_FOR_EVENTS)
    first, other = FIRST, ELSEWHERE
    program, second = program_of_clock(first), program_of_clock(other)
    assert _numbers(
        loops,
        (1, FRAME_ENDED, first, 0, 0),
        (1, PHASE_ENDED, 2, program, 5),
        (1, DELTA_CUT, first, 5, 0),
        (1, LOOP_ASKED, first, 5, 0),
    ) == [(), (), (), ()]
    waits = int(LoopKind.WAITS_FOR_EVENTS)
    assert _numbers(loops, (2, FRAME_BEGAN, first, 77, 9), (3, FRAME_BEGAN, other, 78, 8)) == [
        (2, LOOP_FOUND, first, first + 100, waits, 2, FRAME_BEGAN, first, 0, 9),
        (3, LOOP_FOUND, other, other + 100, waits, 3, LOOP_FRAME_BEGAN, other, 0, 8),
    ]
    assert (loops.first, loops.shown, loops.wanted) == (first, first, 0)
    assert _numbers(
        loops,
        (4, PHASE_ENDED, 2, program, 5),
        (4, PHASE_ENDED, 2, second, 6),
        (4, PHASE_ENDED, 2, 99, 6),
        (5, DELTA_CUT, first, 3, 0),
        (5, DELTA_CUT, other, 4, 0),
        (6, FRAME_ENDED, first, 20, 7),
        (6, FRAME_ENDED, other, 21, 8),
        (7, FRAME_ENDED, first, 20, 7),
        (7, PHASE_ENDED, 2, program, 5),
        (7, DELTA_CUT, first, 3, 0),
        (8, LOOP_ASKED, other, 50, 0),
        (9, FRAME_BEGAN, other, 79, 1),
        (9, FRAME_BEGAN, first, 80, 2),
    ) == [
        (4, PHASE_ENDED, 2, 0, 5),
        of_other_loop((4, PHASE_ENDED, 2, 0, 6), other),
        (),
        (5, DELTA_CUT, first, 3, 0),
        (5, LOOP_DELTA_CUT, other, 4, 0),
        (6, FRAME_ENDED, first, 20, 7),
        (6, LOOP_FRAME_ENDED, other, 21, 8),
        (),
        (),
        (),
        (8, LOOP_ASKED, other, 50, 0),
        (9, LOOP_FRAME_BEGAN, other, 1, 1),
        (9, FRAME_BEGAN, first, 1, 2),
    ]
    assert [loops.ended(clock) for clock in (first, other, 99)] == [1, 1, 0]
    assert [loops.loop_of(clock) for clock in (first, other, 99)] == [first, other, 0]
    assert loops.wanted == 0


def test_that_a_new_loop_continues_one_whose_program_ended_before_its_frames_were_read() -> None:
    loops = Loops()
    loops.end_program(program_of_clock(FIRST))
    _numbers(loops, (1, FRAME_BEGAN, FIRST, 0, 0), (2, FRAME_ENDED, FIRST, 0, 0))
    _numbers(loops, (3, FRAME_BEGAN, ELSEWHERE, 0, 0))
    assert (loops.shown, loops.loop_of(ELSEWHERE), loops.wanted) == (FIRST, FIRST, 0)


def test_that_a_new_loop_continues_one_that_has_ended_and_another_is_wanted() -> None:
    loops = Loops()
    first, other, third = FIRST, ELSEWHERE, 2 * ELSEWHERE - FIRST
    _numbers(loops, (1, FRAME_BEGAN, first, 0, 0), (2, FRAME_ENDED, first, 0, 0))
    loops.end_program(program_of_clock(other))
    _numbers(loops, (3, FRAME_BEGAN, other, 0, 0))
    assert (loops.shown, loops.loop_of(other), loops.wanted) == (first, other, 0)
    loops.end_program(program_of_clock(first))
    loops.end_program(program_of_clock(other))
    _numbers(loops, (4, FRAME_BEGAN, other, 0, 0))
    assert loops.wanted == other
    assert _numbers(loops, (5, FRAME_BEGAN, third, 0, 7)) == [(5, FRAME_BEGAN, first, 1, 7)]
    assert (loops.shown, loops.loop_of(third), loops.wanted) == (first, first, 0)
    # It is not over any more.
    _numbers(loops, (6, FRAME_BEGAN, other, 0, 0))
    assert loops.wanted == 0
    loops.choose(other)
    assert loops.shown == other
    assert _undescribed(7) == (0, LoopKind.DRAWS_FRAMES)
