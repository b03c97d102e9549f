"""States are copied, packed and looked at without changing one another, whatever has happened."""

from __future__ import annotations

from itertools import chain
from random import Random
from typing import Any

from inspector.events.log import packed
from inspector.events.schema import SCHEMA, Unit
from inspector.events.states import names_apart
from inspector.events.timeline import Timeline
from inspector.vocabulary import (
    NEVER,
    RATE_DENOMINATOR,
    EventKind,
    Field,
    Mode,
    RawEvent,
    TimerKind,
)
from tests.events.recording.recorded_worlds import described
from tests.fuzz import rounds

_STRINGS = ["", "a", "b", "c", "d"]
_NUMBERS = (0, 1, 2, 3, 4)
_FAR_NS = 2**62
_RATES = (0, 1, RATE_DENOMINATOR // 2, RATE_DENOMINATOR, 3 * RATE_DENOMINATOR)
_OF_UNIT = {
    Unit.RATE: _RATES,
    Unit.LOCAL_DUE: (0, 3, 10**9, _FAR_NS, -_FAR_NS, NEVER),
    Unit.LATENESS: (0, 7),
    Unit.PERIOD: (0, 5),
    Unit.MODE: tuple(Mode),
    Unit.TIMER_KIND: tuple(TimerKind),
    Unit.FIELD: (Field.PAUSED, Field.PRIORITY, Field.TIME, Field.NAME, Field.STATE),
}


def any_events(random: Random, count: int) -> list[RawEvent]:
    """Return events of every kind about few things; some do not fit what happened before."""
    events: list[RawEvent] = []
    at_ns = 0
    for kind, subject, a, b in [
        (EventKind.CLOCK_ADDED, 1, 0, 1),
        (EventKind.CLOCK_ANCHORED, 1, 0, RATE_DENOMINATOR),
        (EventKind.CLOCK_ADDED, 2, 1, 2),
        (EventKind.CLOCK_ANCHORED, 2, 0, RATE_DENOMINATOR),
        (EventKind.LOOP_FOUND, 1, 1, 0),
        (EventKind.LOOP_FOUND, 2, 2, 1),
        (EventKind.MEMBER_ADDED, 1, 0, 3),
        (EventKind.MEMBER_ORIGIN, 1, 2, 1),
        (EventKind.MEMBER_SET, 1, Field.PRIORITY, 4),
        (EventKind.TIMER_ADDED, 3, 2, 4),
        (EventKind.TIMER_ARMED, 3, 10**9, 0),
    ]:
        events.append((0, int(kind), subject, int(a), b))
    # A clock is anchored before it has timers.
    anchored = {1, 2}
    folded = [EventKind(kind) for kind in sorted(Timeline([])._fold)]
    kinds = [each for each in folded if each is not EventKind.CLOCK_ANCHORED]
    about = {each.name.partition("_")[0] for each in kinds}
    often = ["CLOCK", "MEMBER", "TIMER"]
    groups = [
        [each for each in kinds if each.name.startswith(name)]
        for name in [*sorted(about), *often * 3]
    ]
    for _ in range(count):
        at_ns += random.choice((0, 0, 5))
        kind = random.choice(random.choice(groups))
        row = SCHEMA[kind]
        a, b = (random.choice(_OF_UNIT.get(unit, _NUMBERS)) for unit in (row.a, row.b))
        subject = random.choice(_OF_UNIT.get(row.subject, _NUMBERS))
        events.append((at_ns, int(kind), subject, int(a), int(b)))
        if kind is EventKind.CLOCK_ADDED and subject not in anchored:
            anchored.add(subject)
            local_ns, rate = random.choice((3, _FAR_NS, -_FAR_NS)), random.choice(_RATES)
            events.append((at_ns, int(EventKind.CLOCK_ANCHORED), subject, local_ns, rate))
    return events


def versions(timeline: Timeline) -> tuple[int, ...]:
    members, tasks = timeline.members, timeline.tasks
    return (
        *(timeline.structure_version, timeline.mapping_version, timeline.timers_version),
        *(members.structure_version, members.values_version, tasks.version),
    )


def seen(timeline: Timeline) -> dict[str, Any]:
    members = timeline.members
    return described(timeline) | {
        # What is described is a copy.
        "members": repr(members.by_id),
        "of_clock": repr(members.of_clock),
        "histories": [[*map(list, each.columns)] for each in members.histories.values()],
        "turns": (timeline._last_order, members._last_turn),
        "versions": versions(timeline),
        "names": timeline.names_apart,
        "not fitting": timeline.misfits,
    }


def test_that_a_copy_is_the_same_and_goes_on_by_itself() -> None:
    for seed in rounds(12):
        random = Random(seed)
        timeline = Timeline(_STRINGS)
        timeline.skips_misfits = True
        events = any_events(random, 100)
        copies = []
        for place, event in enumerate(events):
            if random.random() < 0.1:
                copies.append((place, timeline.copy(), seen(timeline)))
            before = seen(timeline) if random.random() < 0.2 else None
            misfits = timeline.misfits
            timeline.apply_all([event])
            if before is not None and timeline.misfits > misfits:
                changed = {"now", "not fitting", "versions"}
                for name, value in seen(timeline).items():
                    assert value == before[name] or name in changed, event
        at_the_end = seen(timeline)
        for place, copy, then in copies:
            assert seen(copy) == then
            copy.apply_all(events[place:])
            assert seen(copy) == at_the_end
        assert seen(timeline) == at_the_end


def test_that_packed_events_are_folded_as_each_is() -> None:
    for seed in rounds(12):
        events = any_events(Random(seed), 200)
        one_by_one, at_once = Timeline(_STRINGS), Timeline(_STRINGS)
        for timeline in (one_by_one, at_once):
            timeline.skips_misfits = True
        one_by_one.apply_all(events)
        at_once.apply_blocks([packed([*chain.from_iterable(events)])])
        assert seen(at_once) == seen(one_by_one)


def test_that_an_event_changes_a_version_once() -> None:
    for seed in rounds(12):
        timeline = Timeline(_STRINGS)
        timeline.skips_misfits = True
        for event in any_events(Random(seed), 200):
            before = versions(timeline)
            timeline.apply_all([event])
            # What is below a clock goes one after another.
            if event[1] != EventKind.CLOCK_REMOVED:
                changes = [now - then for now, then in zip(versions(timeline), before, strict=True)]
                assert set(changes) <= {0, 1}, event
            assert timeline.names_apart == names_apart(timeline.clocks)


def test_that_timers_are_due_as_their_clocks_say() -> None:
    for seed in rounds(12):
        timeline = Timeline(_STRINGS)
        timeline.skips_misfits = True
        for event in any_events(Random(seed), 120):
            timeline.apply_all([event])
            if not seed % 3 or not event[0] % 3:
                for each in (timeline.copy(), timeline):
                    each.resolve_dues()
                    table = each.timers
                    for number in table.ids():
                        due_ns = timeline.session_due_ns(number)
                        assert table.session_due[table.index(number)] == (
                            NEVER if due_ns is None else due_ns
                        ), (seed, event)
