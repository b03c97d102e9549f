"""Events of several programs: their order, and what is late, lost or does not fit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from inspector.commands.clocks import PauseClock
from inspector.commands.scene import AddMark
from inspector.probe.wire import packed_events
from inspector.sessions.attached.link import Attached, Batch, Notification
from inspector.sessions.attached.messages import HelloMessage
from inspector.sessions.attached.session import AttachedSession
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_RATE,
    COMMAND,
    FRAME_BEGAN,
    FRAME_ENDED,
    MARK,
    NEVER,
    RATE_DENOMINATOR,
    TIMER_ARMED,
    TIMER_FIRED,
)
from tests.sessions.attached.fake_probe import (
    MS,
    SECOND,
    SERVER,
    Attachment,
    DryServer,
    FakeDoor,
    Hand,
    labels,
    running,
)


class Mute:
    """As much of a connection as a session needs."""

    text = "test"
    host = ""
    peer_pid = 0
    is_silent = False


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
    instants = [each[0] for each in session.log.read().events]
    assert instants == sorted(instants)
    assert session.notes == ("1 event came late and is shown up to 200 ms too late.",)


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
        "server: 3 invalid events left out.",
        "Left out 1 event that did not fit the state.",
    )


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


def test_that_a_program_cannot_have_lost_more_than_there_can_have_been(
    attachment: Attachment,
) -> None:
    probe = attachment.join()
    probe.keyframe()
    probe.tell("Events.lost", counts={str(TIMER_FIRED): 10**18})
    attachment.until(lambda: attachment.session.programs[0].ended)
    assert "more events were lost than there can have been" in attachment.session.programs[0].ended
    assert attachment.session.programs[0].lost == {}
