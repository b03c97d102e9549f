"""Folding many events at once: the same state, though superseded events are left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import chain, pairwise
from random import Random

import pytest

from inspector.events.blocks.quick_fold import fold_block, fold_numbers
from inspector.events.log import packed
from inspector.events.schema import FIELDS, SCHEMA, Fold
from inspector.events.timeline import Timeline
from inspector.vocabulary import (
    CALL_ENDED,
    CALLBACK_FAILED,
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_RATE,
    CLOCK_REMOVED,
    COMMAND,
    DELTA_CUT,
    FRAME_BEGAN,
    FRAME_ENDED,
    FRAME_SHARES,
    LOOP_DELTA_CUT,
    LOOP_FOUND,
    LOOP_FRAME_BEGAN,
    LOOP_FRAME_ENDED,
    LOOP_PHASE_ENDED,
    MARK,
    MEMBER_ADDED,
    MEMBER_ORIGIN,
    MEMBER_SET,
    NEVER,
    PHASE_ENDED,
    RATE_DENOMINATOR,
    TICKS_MISSED,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
    Field,
    LoopKind,
    MemberKind,
    Numbers,
    Phase,
    RawEvent,
    TimerKind,
    frame_and_phase,
    two_durations,
)
from tests.events.event_blocks import block_of
from tests.events.recording.recorded_worlds import described
from tests.fuzz import rounds

TEXTS = ["", "one", "two", "three"]
CLOCKS = (1, 2, 3)
MEMBERS = (1, 2)
#: Of the first two each value counts, of the others the last.
FIELDS_SET = (Field.PAUSED, Field.NAME, Field.TIME, Field.DUE)
#: Its last clock is removed at this instant, in nanoseconds.
REMOVED_NS = 150

BEGINNING: list[RawEvent] = [
    *[(0, CLOCK_ADDED, clock, clock // 2, 1) for clock in CLOCKS],
    *[(0, CLOCK_ANCHORED, clock, 0, RATE_DENOMINATOR) for clock in CLOCKS],
    (0, FRAME_BEGAN, 1, 0, 0),
    *[(0, MEMBER_ADDED, member, 0, 1) for member in MEMBERS],
    *[(0, MEMBER_ORIGIN, member, 1, MemberKind.SCHEDULER) for member in MEMBERS],
]


def events_of_a_session(chance: Random, *, has_loops: bool = False) -> list[RawEvent]:
    """Return what happens at random to timers, frames, members and loops."""
    events = list(BEGINNING)
    if has_loops:
        events += [(0, LOOP_FOUND, clock, 1, LoopKind.DRAWS_FRAMES) for clock in CLOCKS]
    timers: dict[int, int] = {}
    for at_ns in range(1, 300):
        # Small numbers, so that timers are due at the same instant and values do not change.
        number, due, clock = chance.randrange(4), at_ns // 50, chance.choice(CLOCKS)
        clock = clock if at_ns < REMOVED_NS else 1
        if timers and chance.random() < 0.5:
            timer = chance.choice(list(timers))
            event: RawEvent = chance.choice(
                [
                    *[(at_ns, TIMER_ARMED, timer, due, number)] * 3,
                    *[(at_ns, TIMER_FIRED, timer, number, due + number)] * 4,
                    (at_ns, TIMER_FIRED, timer, number, NEVER),
                    (at_ns, TIMER_CLEARED, timer, 0, 0),
                ]
            )
            if event[1] == TIMER_CLEARED or event[1::3] == (TIMER_FIRED, NEVER):
                del timers[timer]
        elif at_ns == REMOVED_NS:
            event = (at_ns, CLOCK_REMOVED, CLOCKS[-1], 0, 0)
            timers = {timer: on for timer, on in timers.items() if on != CLOCKS[-1]}
        else:
            loop = chance.choice(CLOCKS[1:]) if has_loops else 0
            phase = chance.choice(list(Phase))
            event = chance.choice(
                [
                    *[(at_ns, TIMER_ADDED, at_ns, clock, number)] * 4,
                    (at_ns, FRAME_BEGAN, 1, 0, number),
                    (at_ns, PHASE_ENDED, phase, 0, number),
                    (at_ns, DELTA_CUT, 1, number, 0),
                    (at_ns, FRAME_SHARES, two_durations(number, 1), two_durations(1, 2), number),
                    (at_ns, FRAME_ENDED, 1, number, number),
                    *[
                        (
                            at_ns,
                            MEMBER_SET,
                            chance.choice(MEMBERS),
                            chance.choice(FIELDS_SET),
                            number,
                        )
                    ]
                    * 3,
                    (at_ns, CALL_ENDED, number, 0, number),
                    (at_ns, CLOCK_RATE, clock, number * RATE_DENOMINATOR, 0),
                    (at_ns, CALLBACK_FAILED, 0, number, number),
                    (at_ns, COMMAND, number, number, 0),
                    (at_ns, MARK, 0, number, 0),
                    (at_ns, TICKS_MISSED, 1, number, TimerKind.TIMEOUT),
                    (at_ns, LOOP_FRAME_BEGAN, loop, 0, number) if loop else (at_ns, MARK, 0, 1, 0),
                    (at_ns, LOOP_PHASE_ENDED, loop, frame_and_phase(0, phase), number)
                    if loop
                    else (at_ns, MARK, 0, 2, 0),
                    (at_ns, LOOP_DELTA_CUT, loop, number, 0) if loop else (at_ns, MARK, 0, 3, 0),
                    (at_ns, LOOP_FRAME_ENDED, loop, 1, 1) if loop else (at_ns, MARK, 0, 0, 0),
                ]
            )
        events.append(event)
        if event[1] == FRAME_ENDED:
            events.append((at_ns, FRAME_BEGAN, 1, 0, number))
        if event[1] == TIMER_ADDED:
            timers[at_ns] = clock
            if chance.random() < 0.7:
                events.append((at_ns, TIMER_ORIGIN, at_ns, 2, chance.choice(list(TimerKind))))
    return events


def in_pieces(chance: Random, events: list[RawEvent]) -> list[list[RawEvent]]:
    """Divide events at random: many short pieces, some long ones."""
    places = [0]
    while places[-1] < len(events):
        places.append(places[-1] + chance.choice([1, 2, 4, 9, 30, 100]))
    return [events[start:end] for start, end in pairwise(places)]


def not_superseded(events: list[RawEvent], known: AbstractSet[int]) -> list[RawEvent]:
    """Return the events on which the state depends, however many others follow."""
    kept: dict[object, list[int]] = {}
    for place, (_, kind, subject, a, _) in enumerate(events):
        match SCHEMA[kind].fold:  # type: ignore[index]
            case Fold.EACH:
                kept[place] = [place]
            case Fold.FRAME_START:
                kept["frame"] = [place]
            case Fold.FRAME_PART:
                kept.setdefault("frame", []).append(place)
            case Fold.LOOP_START:
                kept["loop", subject] = [place]
            case Fold.LOOP_PART:
                kept.setdefault(("loop", subject), []).append(place)
            case Fold.FIELD:
                kept[place if FIELDS[Field(a)].each_counts else ("field", subject, a)] = [place]
            case Fold.CALL:
                kept["call", subject] = [place]
    places = [*chain.from_iterable(kept.values()), *timers_not_superseded(events, known)]
    return [events[place] for place in sorted(places)]


def timers_not_superseded(events: list[RawEvent], known: AbstractSet[int]) -> Iterator[int]:
    told: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for place, (_, kind, timer, _, b) in enumerate(events):
        if SCHEMA[kind].fold is Fold.TIMER:  # type: ignore[index]
            is_last = (kind, b) == (TIMER_FIRED, NEVER)
            told[timer][TIMER_CLEARED if is_last else kind] = place
    for timer, places in told.items():
        if TIMER_CLEARED in places:
            # What is told of one that came and went is superseded by its end.
            yield from [] if TIMER_ADDED in places else [places[TIMER_CLEARED]]
        elif timer not in known or TIMER_ORIGIN in places:
            yield from places.values()


def due_timers(timeline: Timeline) -> dict[int, tuple[int, int]]:
    rows = map(timeline.timers.row, timeline.timers.ids())
    return {row.id: (row.due_ns, row.fired) for row in rows if row.due_ns != NEVER}


@pytest.mark.parametrize("seed", rounds(4))
@pytest.mark.parametrize("has_loops", [False, True])
def test_that_only_what_is_not_superseded_is_folded_and_the_state_is_the_same(
    monkeypatch: pytest.MonkeyPatch, seed: int, *, has_loops: bool
) -> None:
    chance = Random(seed)
    one_by_one, at_once, with_frames = (Timeline(TEXTS) for _ in range(3))
    folded: list[list[int]] = []
    apply_blocks = Timeline.apply_blocks

    def seen(timeline: Timeline, blocks: list[Numbers]) -> None:
        folded.append([*chain.from_iterable(blocks)])
        apply_blocks(timeline, blocks)

    monkeypatch.setattr(Timeline, "apply_blocks", seen)
    for events in in_pieces(chance, events_of_a_session(chance, has_loops=has_loops)):
        version, known, due = at_once.timers_version, set(at_once.timers.ids()), due_timers(at_once)
        numbers = packed(list(chain.from_iterable(events)))
        at_once.resolve_dues()
        folded.clear()

        fold_block(at_once, block_of(events), at_once.frames.end)
        fold_numbers(with_frames, numbers)
        one_by_one.apply_all(events)

        at_once.frames = one_by_one.frames
        for clock, loop in one_by_one.loops.items():
            at_once.loops[clock].frames = loop.frames
        assert described(one_by_one) == described(with_frames) == described(at_once)
        assert at_once.newest_ns == one_by_one.newest_ns
        wanted = [*chain.from_iterable(not_superseded(events, known))]
        assert folded == [wanted, list(numbers) if has_loops else wanted]
        assert at_once.timers_version > version or due_timers(at_once) == due


def test_that_numbers_beyond_64_bits_are_folded_as_they_are() -> None:
    timeline = Timeline(TEXTS)
    timeline.apply_all(BEGINNING)

    fold_numbers(timeline, [1, MEMBER_SET, MEMBERS[0], Field.TIME, 2**70])

    assert timeline.members.by_id[MEMBERS[0]].fields == {Field.TIME: 2**70}
