"""Versions tell that clocks, timers, members and tasks have changed, event by event."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from inspector.events.log import EventLog
from inspector.events.timeline import Timeline
from inspector.vocabulary import (
    CALL_ENDED,
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    MEMBER_ADDED,
    MEMBER_MOVED,
    MEMBER_ORIGIN,
    MEMBER_REMOVED,
    MEMBER_SET,
    RATE_DENOMINATOR,
    STATE_ENTERED,
    TASK_ADDED,
    TASK_AT,
    TASK_AWAITED,
    TASK_ENDED,
    TASK_ORIGIN,
    TASK_WAITS,
    TASKS_TOLD,
    TIMER_ADDED,
    Field,
    MemberKind,
    RawEvent,
)
from tests.clocks.operations import tied_operations
from tests.clocks.pair import Pair
from tests.fuzz import rounds

ROOT = 1


def session_of_clocks(random: Random) -> tuple[Timeline, list[RawEvent]]:
    log = EventLog()
    pair = Pair(log)
    for operation in tied_operations(random):
        pair.perform(operation)
    for operation in (("set", 0, 100, 9, 0, []), ("clear", 0, 100), ("remove", 1)):
        pair.perform(operation)
    return Timeline(log.strings), log.slice(0, log.end)


def session_of_members(random: Random) -> tuple[Timeline, list[RawEvent]]:
    log = EventLog()
    names = [log.intern(name) for name in "abc"]
    kinds = (MemberKind.SCHEDULER, MemberKind.MACHINE, MemberKind.TARGET)
    fields = (Field.PAUSED, Field.PRIORITY, Field.NAME, Field.STATE, Field.TIME, Field.DUE)
    events: list[RawEvent] = [
        (0, CLOCK_ADDED, ROOT, 0, names[0]),
        (0, CLOCK_ANCHORED, ROOT, 0, RATE_DENOMINATOR),
    ]
    added = 0
    for at_ns in range(80):
        some = random.randint(1, added + 1)
        event = random.choice(
            [
                (at_ns, MEMBER_SET, some, random.choice(fields), random.choice(names)),
                (at_ns, CALL_ENDED, some, 0, at_ns),
                (at_ns, STATE_ENTERED, some, random.choice(names), 0),
                (at_ns, MEMBER_MOVED, some, random.randint(1, added + 1), 0),
                (at_ns, MEMBER_REMOVED, some, 0, 0),
                None,
                None,
            ]
        )
        if event is None:
            added += 1
            events.append((at_ns, MEMBER_ADDED, added, random.randint(0, added - 1), names[1]))
            event = (at_ns, MEMBER_ORIGIN, added, ROOT, random.choice(kinds))
        events.append(event)
    return Timeline(log.strings), events


def session_of_tasks(random: Random) -> tuple[Timeline, list[RawEvent]]:
    log = EventLog()
    names = [log.intern(name) for name in "abc"]
    events: list[RawEvent] = [
        (0, CLOCK_ADDED, ROOT, 0, names[0]),
        (0, CLOCK_ANCHORED, ROOT, 0, RATE_DENOMINATOR),
    ]
    for at_ns in range(80):
        task = random.randint(1, 4)
        kind = random.choice([TASK_ORIGIN, TASK_WAITS, TASK_AT, TASK_AWAITED])
        events.append(
            random.choice(
                [
                    (at_ns, TASK_ADDED, task, ROOT, names[0]),
                    (at_ns, TASK_ENDED, task, 0, 0),
                    (at_ns, TASKS_TOLD, ROOT, random.randint(0, 3), 0),
                    *[(at_ns, kind, task, random.randint(0, 2), random.choice(names))] * 4,
                ]
            )
        )
    return Timeline(log.strings), events


def clocks_of(timeline: Timeline) -> object:
    return {each.id: each.parent_id for each in timeline.clocks.values()}


def mapping_of(timeline: Timeline) -> object:
    return {each.id: (each.n, each.off, each.rate_n) for each in timeline.clocks.values()}


def timers_of(timeline: Timeline) -> object:
    table = timeline.timers
    return {number: table.row(number).due_ns for number in table.ids()}


def members_of(timeline: Timeline) -> object:
    return {
        each.id: (each.name, each.parent_id, each.clock_id, each.turn)
        for each in timeline.members.by_id.values()
    }


def values_of(timeline: Timeline) -> object:
    return {
        each.id: (dict(each.fields), each.calls, each.took_ns)
        for each in timeline.members.by_id.values()
    }


def tasks_of(timeline: Timeline) -> object:
    return dict(timeline.tasks.by_id), dict(timeline.tasks.told_ns)


@pytest.mark.parametrize(
    ("session", "state", "version"),
    [
        (session_of_clocks, clocks_of, lambda timeline: timeline.structure_version),
        (
            session_of_clocks,
            mapping_of,
            lambda timeline: timeline.mapping_version + timeline.structure_version,
        ),
        (session_of_clocks, timers_of, lambda timeline: timeline.timers_version),
        (session_of_tasks, tasks_of, lambda timeline: timeline.tasks.version),
        (session_of_members, members_of, lambda timeline: timeline.members.structure_version),
        (
            session_of_members,
            values_of,
            lambda timeline: timeline.members.values_version + timeline.members.structure_version,
        ),
    ],
)
def test_that_a_version_is_another_once_what_it_is_of_has_changed(
    session: Callable[[Random], tuple[Timeline, list[RawEvent]]],
    state: Callable[[Timeline], object],
    version: Callable[[Timeline], int],
) -> None:
    for seed in rounds(20):
        timeline, events = session(Random(seed))
        timeline.skips_misfits = True
        for event in events:
            before, known = state(timeline), version(timeline)
            timeline.apply_all([event])
            # The event that follows completes it, and counts for both.
            if event[1] not in {TIMER_ADDED, MEMBER_ADDED}:
                assert state(timeline) == before or version(timeline) > known, event
