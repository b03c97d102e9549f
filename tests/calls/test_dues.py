"""When calls are due at present rates, and after a change."""

from __future__ import annotations

from fractions import Fraction

import pytest

from inspector.calls.dues import UNCHANGED, DueTimes, SchedulerChange, session_instant
from inspector.events.states import ClockState
from inspector.events.timeline import Timeline
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_PAUSED,
    CLOCK_RATE,
    MEMBER_ADDED,
    MEMBER_ORIGIN,
    MEMBER_SET,
    NEVER,
    RATE_DENOMINATOR,
    Field,
    MemberKind,
    RawEvent,
)

MS = 1_000_000
ROOT, GAME, UNKNOWN_CLOCK = 1, 2, 9
SCHEDULER, TARGET, TIMER, LOOP, SLOW_LOOP, UPDATE = range(1, 7)

#: A clock of half the rate has a scheduler of twice its rate, with a timer of a target.
SESSION: list[RawEvent] = [
    (0, CLOCK_ADDED, ROOT, 0, 0),
    (0, CLOCK_ANCHORED, ROOT, 0, RATE_DENOMINATOR),
    (0, CLOCK_ADDED, GAME, ROOT, 0),
    (0, CLOCK_ANCHORED, GAME, 0, RATE_DENOMINATOR // 2),
    *[
        event
        for number, parent, clock, kind in (
            (SCHEDULER, 0, GAME, MemberKind.SCHEDULER),
            (TARGET, SCHEDULER, GAME, MemberKind.TARGET),
            (TIMER, TARGET, GAME, MemberKind.FRAME_TIMER),
            (LOOP, 0, ROOT, MemberKind.LOOP),
            (SLOW_LOOP, 0, GAME, MemberKind.LOOP),
            (UPDATE, TARGET, GAME, MemberKind.UPDATE),
        )
        for event in (
            (0, MEMBER_ADDED, number, parent, 0),
            (0, MEMBER_ORIGIN, number, clock, kind),
        )
    ],
    (0, MEMBER_SET, SCHEDULER, Field.RATE, 2 * RATE_DENOMINATOR),
    (0, MEMBER_SET, TIMER, Field.DUE, 110 * MS),
    (0, MEMBER_SET, LOOP, Field.DUE, 30 * MS),
    (0, MEMBER_SET, SLOW_LOOP, Field.DUE, 30 * MS),
    (0, MEMBER_SET, UPDATE, Field.DUE, 30 * MS),
    # The time of the last frame, which began when the clock was at 10 ms.
    (20 * MS, MEMBER_SET, SCHEDULER, Field.TIME, 10 * MS),
]


def timeline_after(*events: RawEvent) -> Timeline:
    """Return the session at 24 ms, 4 ms after its frame."""
    timeline = Timeline([""])
    timeline.apply_all([*SESSION, *events])
    timeline.set_present(24 * MS)
    return timeline


def set_at(at_ms: int, number: int, field: Field, value: int) -> RawEvent:
    return (at_ms * MS, MEMBER_SET, number, field, value)


PAUSED = set_at(20, TIMER, Field.PAUSED, 1)
TARGET_PAUSED = set_at(20, TARGET, Field.PAUSED, 1)
REMAINING = set_at(20, TIMER, Field.REMAINING, 40 * MS)


@pytest.mark.parametrize(
    ("events", "change", "due_ns", "left_ns"),
    [
        # 100 ms of the scheduler are 50 of its clock and 100 of the session.
        ([], UNCHANGED, 120 * MS, 100 * MS),
        ([], SchedulerChange(scale=Fraction(4)), 70 * MS, 100 * MS),
        ([], SchedulerChange(scale=Fraction(0)), NEVER, 100 * MS),
        ([set_at(20, TIMER, Field.DUE, 10 * MS + 3)], UNCHANGED, 20 * MS + 4, 3),
        ([set_at(20, TIMER, Field.DUE, 8 * MS)], UNCHANGED, 18 * MS, 0),
        ([set_at(20, TIMER, Field.DUE, NEVER)], UNCHANGED, None, None),
        # What remained counts from now, once the pause has ended.
        ([PAUSED, REMAINING], UNCHANGED, NEVER, 40 * MS),
        ([PAUSED, REMAINING], SchedulerChange(resumed={TIMER}), 64 * MS, 40 * MS),
        ([PAUSED], SchedulerChange(resumed={TIMER}), 124 * MS, 100 * MS),
        ([REMAINING], UNCHANGED, 120 * MS, 100 * MS),
        ([TARGET_PAUSED, REMAINING], UNCHANGED, NEVER, 40 * MS),
        ([TARGET_PAUSED, REMAINING], SchedulerChange(resumed={TARGET}), 64 * MS, 40 * MS),
        ([TARGET_PAUSED, PAUSED], SchedulerChange(resumed={TARGET}), NEVER, 100 * MS),
        ([TARGET_PAUSED, PAUSED], SchedulerChange(resumed={TIMER}), NEVER, 100 * MS),
        (
            *([TARGET_PAUSED, PAUSED, REMAINING], SchedulerChange(resumed={TARGET, TIMER})),
            *(64 * MS, 40 * MS),
        ),
        ([], SchedulerChange(paused={TIMER}), NEVER, 100 * MS),
        ([], SchedulerChange(paused={TARGET}), NEVER, 100 * MS),
        ([], SchedulerChange(paused={UPDATE}), 120 * MS, 100 * MS),
        # A scheduler that is paused keeps due instants.
        (
            *([set_at(20, SCHEDULER, Field.PAUSED, 1)], SchedulerChange(resumed={SCHEDULER})),
            *(120 * MS, 100 * MS),
        ),
        ([(20 * MS, CLOCK_PAUSED, GAME, 0, 0)], UNCHANGED, NEVER, 100 * MS),
        ([(20 * MS, CLOCK_RATE, GAME, RATE_DENOMINATOR, 0)], UNCHANGED, 70 * MS, 100 * MS),
        (
            [(20 * MS, MEMBER_ORIGIN, SCHEDULER, UNKNOWN_CLOCK, MemberKind.SCHEDULER)],
            UNCHANGED,
            None,
            None,
        ),
    ],
)
def test_that_a_timer_waits_in_the_time_of_its_scheduler(
    events: list[RawEvent], change: SchedulerChange, due_ns: int | None, left_ns: int | None
) -> None:
    timeline = timeline_after(*events)
    timer = timeline.members.by_id[TIMER]
    dues = DueTimes(timeline, change)

    for _ in range(2):
        assert (dues.session_due_ns(timer), dues.left_ns(timer)) == (due_ns, left_ns)


def test_that_what_never_had_a_time_has_no_due_instant() -> None:
    timeline = timeline_after()
    members = timeline.members.by_id
    del members[SCHEDULER].fields[Field.TIME]
    dues = DueTimes(timeline)

    assert (dues.session_due_ns(members[TIMER]), dues.left_ns(members[TIMER])) == (None, None)
    # An update is called in every frame.
    assert DueTimes(timeline_after()).left_ns(members[UPDATE]) is None


def test_that_loops_wait_in_the_time_of_their_clocks_also_if_these_are_others() -> None:
    timeline, after = timeline_after(), timeline_after((20 * MS, CLOCK_RATE, GAME, 0, 0))
    both = [timeline.members.by_id[number] for number in (LOOP, SLOW_LOOP)]
    dues, changed = DueTimes(timeline), DueTimes(timeline, clocks=after)

    assert [dues.session_due_ns(each) for each in both] == [30 * MS, 60 * MS]
    assert [dues.left_ns(each) for each in both] == [6 * MS, 18 * MS]
    assert [changed.session_due_ns(each) for each in both] == [30 * MS, NEVER]


def test_that_an_instant_of_a_session_is_never_beyond_never() -> None:
    clock = ClockState(1, "", 0, 1, 1, 0, 0)

    assert session_instant(NEVER - 1, [clock]) == NEVER
    assert session_instant(5, []) == 5
