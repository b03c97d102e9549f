"""Folding many new timers at once gives the state that folding each event gives."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from itertools import chain

import pytest

from inspector.clocks import ClockTree
from inspector.events import EventLog, Timeline
from inspector.events.log import packed
from inspector.events.new_timers import NewTimers, new_timers_apart
from inspector.events.timer_table import TimerTable
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    NEVER,
    RATE_DENOMINATOR,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_ORIGIN,
    Numbers,
    RawEvent,
)
from tests.events.recording.recorded_worlds import described


def _set_timers(seed: int) -> EventLog:
    """Return the log of a tree in which many timers are set, cleared and called."""
    chance, log = random.Random(seed), EventLog()
    tree = ClockTree(log)
    clocks = [tree.root, tree.root.child("a"), tree.root.child("b")]
    clocks[1].rate = 0.5
    for _ in range(3):
        timers = []
        for _ in range(chance.choice((70, 900, 3_000))):
            clock = chance.choice(clocks) if seed % 2 else clocks[2]
            timers.append(clock.set_timeout(chance.uniform(0, 3), lambda: None))
            if chance.random() < 0.001:
                clock.clear(chance.choice(timers))
            if chance.random() < 0.003:
                clock.set_interval(0.7, lambda: None)
        if chance.random() < 0.5:
            clocks[2].pause()
        tree.run_to(tree.now_ns + 200_000_000)
    return log


@pytest.mark.parametrize("seed", range(6))
def test_that_many_timers_are_folded_as_each_is(seed: int) -> None:
    log = _set_timers(seed)
    one_by_one, together = Timeline(log.strings), Timeline(log.strings)

    one_by_one.apply_all(log.read().events)
    together.apply_blocks(log.blocks(0, log.end))

    assert any(
        isinstance(part, NewTimers)
        for block in log.blocks(0, log.end)
        for part in new_timers_apart(block)
    )
    assert described(together) == described(one_by_one)
    assert list(together.timers.id) == list(one_by_one.timers.id)
    assert together.timers_version == one_by_one.timers_version


def test_that_many_timers_are_found_in_each_place_where_they_are_set() -> None:
    """Setting them is interrupted by another clock; a kind that no byte holds is no other kind."""
    log = EventLog()
    tree = ClockTree(log)
    for name in ("a", "b", "c"):
        clock = tree.root.child(name)
        for _ in range(40):
            clock.set_timeout(1, lambda: None)
    numbers = packed(log.numbers(0, log.end))

    def together(numbers: Numbers) -> list[int]:
        return [len(part) for part in new_timers_apart(numbers) if isinstance(part, NewTimers)]

    assert together(numbers) == [40, 40, 40]
    assert together([*numbers]) == together(numbers[: 15 * 30]) == []
    assert together(packed([*numbers, 0, 256, 0, 0, 0])) == [40, 40, 40]
    few = packed(list(chain.from_iterable(_triples(range(5, 37)))))
    assert (together(few), together(few[: 15 * 31])) == ([32], [])
    for place in (0, 60, 119):
        damaged = numbers[:]
        damaged[len(numbers) - 15 * 40 + 5 * place + 1] += 256
        assert together(damaged) == [40, 40]


def test_that_many_timers_of_all_clocks_are_folded_without_each_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = EventLog()
    tree = ClockTree(log)
    game = tree.root.child("game")
    ids: list[int] = []
    for number in range(40):
        ids += [clock.set_timeout(1, lambda: None).id for clock in (tree.root, game)]
        tree.run_to(number)
    monkeypatch.delattr(TimerTable, "add")
    timeline = Timeline(log.strings)
    timeline.apply_blocks(log.blocks(0, log.end))

    assert (timeline.at_ns, timeline.newest_ns) == (38, 38)
    assert [timeline.timers.row(number).order for number in ids] == [*range(1, 81)]
    assert [clock.pending for clock in timeline.clocks.values()] == [40, 40]


def _triples(ids: Iterable[int], clock: int = 1) -> list[RawEvent]:
    return list(
        chain.from_iterable(
            (
                (5, TIMER_ADDED, number, clock, 0),
                (5, TIMER_ORIGIN, number, 0, 0),
                (5, TIMER_ARMED, number, 7 + abs(number) % 9, 0),
            )
            for number in ids
        )
    )


def _with_another_subject(events: list[RawEvent]) -> list[RawEvent]:
    at_ns, kind, _, a, b = events[100]
    return [*events[:100], (at_ns, kind, 1, a, b), *events[101:]]


@pytest.mark.parametrize(
    "events",
    [
        _triples([*range(1, 100), 50]),
        _triples([*range(1, 100), *range(60, 160)]),
        _triples(range(1, 100), clock=9),
        _with_another_subject(_triples(range(2, 100))),
        _triples(range(-100, 100)),
        _triples(range(NEVER - 90, NEVER + 1)),
        _triples(range(1, 30_000, 301)),
    ],
    ids=["twice", "twice in pages", "no clock", "mixed", "negative", "greatest", "far apart"],
)
def test_that_what_does_not_fit_is_left_out_as_one_by_one(events: list[RawEvent]) -> None:
    clock: list[RawEvent] = [(0, CLOCK_ADDED, 1, 0, 0), (0, CLOCK_ANCHORED, 1, 0, RATE_DENOMINATOR)]
    found = []
    folds: tuple[Callable[[Timeline], object], ...] = (
        lambda timeline: timeline.apply_all(events),
        lambda timeline: timeline.apply_blocks([packed(list(chain.from_iterable(events)))]),
    )
    for fold in folds:
        timeline = Timeline([""])
        timeline.skips_misfits = True
        timeline.apply_all(clock)
        fold(timeline)
        found.append((described(timeline), timeline.misfits))

    assert found[0] == found[1]


def test_that_the_numbers_of_timers_that_are_gone_take_no_memory() -> None:
    timeline = Timeline([""])
    timeline.apply_all([(0, CLOCK_ADDED, 1, 0, 0)])
    for first in range(1, 20_000, 100):
        timeline.apply_all(_triples(range(first, first + 100)))
        for number in range(first, first + 100):
            timeline.timers.remove(number)

    assert len(timeline.timers) == len(timeline.timers._rows._pages) == 0
