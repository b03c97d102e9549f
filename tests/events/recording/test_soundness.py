"""Numbers in the events of a file that cannot be are found, whatever the kind and the place."""

from __future__ import annotations

import numpy as np
import pytest

from inspector.clocks.rate import MAX_RATE
from inspector.events.blocks.packed_columns import events_of
from inspector.events.recording.reading.soundness import SENSELESS, Soundness
from inspector.timebase import MAX_NS
from inspector.vocabulary import (
    CALL_ENDED,
    CLOCK_ADDED,
    CLOCK_PAUSED,
    CLOCK_RATE,
    FRAME_ENDED,
    MARK,
    MEMBER_ORIGIN,
    MEMBER_SET,
    RATE_DENOMINATOR,
    TICKS_MISSED,
    TIMER_FIRED,
    TIMER_ORIGIN,
    Field,
    MemberKind,
    RawEvent,
    TimerKind,
)
from tests.events.event_blocks import block_of

TEXTS = 5


def repaired(*events: RawEvent) -> tuple[int, list[RawEvent]]:
    block = block_of(events)
    count = Soundness(TEXTS, lambda: TEXTS).repair(block)
    return count, events_of(block)


def changed(event: RawEvent, place: int, number: int) -> RawEvent:
    return (*event[:place], number, *event[place + 1 :])  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("event", "place", "least", "most"),
    [
        ((1, CLOCK_PAUSED, 1, 0, 0), 2, 0, MAX_NS),
        ((1, CLOCK_PAUSED, 1, 0, 0), 3, 0, MAX_NS),
        ((1, CLOCK_RATE, 1, 0, 0), 3, 0, MAX_RATE * RATE_DENOMINATOR),
        ((1, TIMER_FIRED, 1, 0, 0), 3, -MAX_NS, MAX_NS),
        ((1, TICKS_MISSED, 1, 0, TimerKind.TIMEOUT), 3, 0, MAX_NS),
        ((1, TIMER_ORIGIN, 1, 0, 0), 4, min(TimerKind), max(TimerKind)),
        ((1, MEMBER_ORIGIN, 1, 1, 0), 4, min(MemberKind), max(MemberKind)),
        ((1, FRAME_ENDED, 1, 0, 0), 4, -(MAX_NS // 256), MAX_NS // 256),
        ((1, CALL_ENDED, 1, 0, 0), 4, -(MAX_NS // 256), MAX_NS // 256),
        ((1, MEMBER_SET, 1, Field.RATE, 0), 4, 0, MAX_RATE * RATE_DENOMINATOR),
        ((1, MEMBER_SET, 1, Field.TIME, 0), 4, None, None),
    ],
)
def test_that_a_number_beyond_what_it_may_be_makes_its_event_senseless(
    event: RawEvent, place: int, least: int | None, most: int | None
) -> None:
    for end, step in ((least, -1), (most, 1)):
        if end is None:
            continue
        inside, outside = (changed(event, place, end + each) for each in (0, step))
        assert repaired(inside) == (0, [inside])
        beside: RawEvent = (2, MARK, 0, 1, 0)
        assert repaired(outside, beside) == (1, [changed(outside, 1, SENSELESS), beside])


@pytest.mark.parametrize(
    ("event", "place"),
    [
        ((1, CLOCK_ADDED, 1, 0, 0), 4),
        ((1, MARK, 0, 0, 0), 3),
        ((1, MEMBER_SET, 1, Field.NAME, 0), 4),
    ],
)
def test_that_a_text_that_is_not_there_is_replaced(event: RawEvent, place: int) -> None:
    for number in (0, TEXTS - 1):
        sound = changed(event, place, number)
        assert repaired(sound) == (0, [sound])
    for number in (-1, TEXTS, 2**60):
        odd = changed(event, place, number)
        assert repaired(odd, event) == (1, [changed(event, place, TEXTS), event])


def test_that_an_event_that_makes_no_sense_is_counted_once_whatever_its_text() -> None:
    event: RawEvent = (1, CLOCK_ADDED, -1, 0, TEXTS)

    assert repaired(event) == (1, [changed(event, 1, SENSELESS)])


@pytest.mark.parametrize("instants", [(-1, 0), (5, 4), (0, MAX_NS + 1)])
def test_that_instants_out_of_order_or_reach_are_refused(instants: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="its instants are not in order"):
        repaired(*((at_ns, MARK, 0, 0, 0) for at_ns in instants))


def test_that_equal_instants_and_all_that_are_in_reach_are_in_order() -> None:
    events: list[RawEvent] = [(at_ns, MARK, 0, 0, 0) for at_ns in (0, 0, 7, MAX_NS)]

    assert repaired(*events) == (0, events)
    assert Soundness(TEXTS, int).repair(np.empty((5, 0), np.int64)) == 0


@pytest.mark.parametrize("kind", [-(2**62), -1, 200, 2**62])
def test_that_an_unknown_kind_is_left_alone(kind: int) -> None:
    event: RawEvent = (1, kind, -5, -(2**62), 2**62)

    assert repaired(event) == (0, [event])


def test_that_a_value_of_a_member_is_checked_by_its_field() -> None:
    sound = Soundness(TEXTS, lambda: 99)

    assert [sound.value_of(Field.NAME, number) for number in (-1, 0, 4, 5)] == [99, 0, 4, 99]
    assert [sound.text(number) for number in (-1, 0, 4, 5)] == [99, 0, 4, 99]
    for rate in (0, MAX_RATE * RATE_DENOMINATOR):
        assert sound.value_of(Field.RATE, rate) == rate
    for number in (-1, MAX_RATE * RATE_DENOMINATOR + 1):
        with pytest.raises(ValueError, match=f"cannot be {number}"):
            sound.value_of(Field.RATE, number)
