"""Budgets that a program asks for, and samples of its calls and columns."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from inspector.analysis.statistics.compared_calls import CallFold, CallSamples, _rates
from inspector.analysis.statistics.frame_budget import (
    ASKED_FRAME,
    DEFAULT_BUDGETS_MS,
    USUAL_FRAME,
    FrameBudget,
    budgets_after,
    checked_budget_ms,
    loop_budget,
)
from inspector.analysis.statistics.time_series import FrameFacts, joined
from inspector.events import EventLog, Timeline
from inspector.vocabulary import (
    CALL_ENDED,
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_RATE,
    CLOCK_REMOVED,
    FRAME_BEGAN,
    FRAME_ENDED,
    LOOP_ASKED,
    LOOP_FOUND,
    MEMBER_ADDED,
    MEMBER_ORIGIN,
    RATE_DENOMINATOR,
    TIMER_ADDED,
    TIMER_FIRED,
    LoopKind,
    MemberKind,
)

MS = 1_000_000
LOOP = 2


def test_that_a_budget_is_from_a_microsecond_to_an_hour() -> None:
    assert checked_budget_ms(0.001) == 0.001
    assert checked_budget_ms(3_600_000) == 3_600_000
    for budget_ms in (0.0009, 3_600_000.1, float("nan")):
        with pytest.raises(ValueError, match=r"a budget must be between 0\.001 ms and an hour"):
            checked_budget_ms(budget_ms)


def test_that_a_budget_of_less_than_a_nanosecond_is_one() -> None:
    assert FrameBudget.of_ms(0.0000001).budget_ns == 1
    assert FrameBudget.of_rate(Fraction(10**10)).budget_ns == 1
    assert FrameBudget(10 * MS).longest_missing_one_ns == 2 * 10 * MS + 1_500_000


def test_that_usual_budgets_follow_the_first_which_is_named_once() -> None:
    assert budgets_after(16.6666667, [8.0, 1000 / 60, 33.0]) == (1000 / 60, 8.0, 33.0)
    assert budgets_after(16.5, [8.0, 1000 / 60]) == (16.5, 8.0, 1000 / 60)
    assert budgets_after(20.0, DEFAULT_BUDGETS_MS) == (20.0, *DEFAULT_BUDGETS_MS)
    assert pytest.approx((16.6666667, 8.3333333, 33.3333333)) == DEFAULT_BUDGETS_MS
    assert not FrameBudget(1).by_busy


def program(*more: tuple[int, int, int, int, int], kind: LoopKind) -> Timeline:
    """Return the state of an attached program with a loop, after further events."""
    log = EventLog()
    name = log.intern("loop")
    events = [
        (0, CLOCK_ADDED, 1, 0, name),
        (0, CLOCK_ANCHORED, 1, 0, RATE_DENOMINATOR),
        (0, CLOCK_ADDED, LOOP, 1, name),
        (0, CLOCK_ANCHORED, LOOP, 0, RATE_DENOMINATOR),
        (0, LOOP_FOUND, LOOP, kind, 0),
        *more,
    ]
    timeline = Timeline(log.strings)
    timeline.apply_all(events)
    return timeline


def frames(*deltas_ms: int) -> list[tuple[int, int, int, int, int]]:
    events = []
    for index, delta_ms in enumerate(deltas_ms):
        at_ns = 100 * index * MS
        events += [
            (at_ns, FRAME_BEGAN, LOOP, index, delta_ms * MS),
            (at_ns, FRAME_ENDED, LOOP, 2 * delta_ms * MS, MS),
        ]
    return events


def test_that_a_loop_has_the_budget_it_asks_for() -> None:
    asked = (0, LOOP_ASKED, LOOP, 33_333_333, 0)
    draws = program(asked, kind=LoopKind.DRAWS_FRAMES)
    half = (0, CLOCK_RATE, LOOP, RATE_DENOMINATOR // 2, 0)

    found = loop_budget(draws, Fraction(60), waits=True)
    assert found == FrameBudget(33_333_333, origin=ASKED_FRAME)
    assert (found.why, found.short_why) == ("asks for 30 fps", "asks for 30 fps")
    slow = program(asked, half, kind=LoopKind.DRAWS_FRAMES)
    assert loop_budget(slow, Fraction(60), waits=True).budget_ns == 33_333_333
    slowed = loop_budget(slow, Fraction(60), waits=True, of="interval_ns")
    assert slowed.budget_ns == 2 * 33_333_333
    assert (slowed.why, slowed.short_why) == ("asks for 30 fps at ×½", "30 fps at ×½")
    for stopped in (0, 1):
        still = program(asked, (0, CLOCK_RATE, LOOP, stopped, 0), kind=LoopKind.DRAWS_FRAMES)
        found = loop_budget(still, Fraction(60), waits=False, of="interval_ns")
        assert found == FrameBudget.of_rate(Fraction(60)), "more than an hour is no budget"


def test_that_a_loop_that_asks_for_nothing_has_the_budget_of_its_usual_frame() -> None:
    rate = Fraction(60)
    usual = program(*frames(0, *[9] * 15, *[5] * 14, 9), kind=LoopKind.DRAWS_FRAMES)
    found = loop_budget(usual, rate, waits=False)
    assert found == FrameBudget(9 * MS, origin=USUAL_FRAME)
    assert (found.why, found.short_why) == ("usual frame 9.00 ms", "usual 9.00 ms")
    assert FrameBudget.of_rate(rate).why == FrameBudget.of_rate(rate).short_why == ""
    assert loop_budget(usual, rate, waits=False, of="interval_ns").budget_ns == 18 * MS
    none_ns = FrameBudget.of_rate(rate).budget_ns
    for slowed, budget_ns in ((RATE_DENOMINATOR // 4, 36 * MS), (0, 18 * MS), (1, none_ns)):
        usual.apply_all([(2_900 * MS, CLOCK_RATE, LOOP, slowed, 0)])
        assert loop_budget(usual, rate, waits=False, of="interval_ns").budget_ns == budget_ns
    gone = program(
        *frames(0, *[9] * 30), (0, CLOCK_REMOVED, LOOP, 0, 0), kind=LoopKind.DRAWS_FRAMES
    )
    assert loop_budget(gone, rate, waits=False, of="interval_ns").budget_ns == 18 * MS
    for kind in (LoopKind.DRAWS_FRAMES, LoopKind.WAITS_FOR_EVENTS):
        few = program(*frames(0, *[5] * 29), kind=kind)
        assert loop_budget(few, rate, waits=True) == FrameBudget.of_rate(rate, by_busy=True)


def test_that_calls_are_kept_by_the_path_of_their_clock_and_their_name() -> None:
    log = EventLog()
    text = log.intern
    fold = CallFold(Timeline(log.strings), log.strings)

    fold.fold(
        [
            (0, CLOCK_ADDED, 1, 0, text("root")),
            (0, CLOCK_ADDED, 2, 1, text("game")),
            (0, TIMER_ADDED, 5, 2, text("wave")),
            (0, TIMER_ADDED, 6, 2, text("wave")),
            (0, MEMBER_ADDED, 7, 0, text("shoot")),
            (0, MEMBER_ORIGIN, 7, 2, MemberKind.UPDATE),
            (10, TIMER_FIRED, 5, 3, 0),
            (20, TIMER_FIRED, 6, 4, 0),
            (30, CALL_ENDED, 7, 1, 8),
            (40, TIMER_FIRED, 99, 5, 0),
            (50, CALL_ENDED, 99, 1, 9),
        ]
    )
    found = fold.calls(3_500_000_000)

    assert found.seconds == 3.5
    assert {
        key: (each.at_ns.tolist(), each.late_ns.tolist(), each.took_ns.tolist())
        for key, each in found.samples.items()
    } == {
        ("root › game", "wave"): ([10, 20], [3, 4], []),
        ("root › game", "shoot"): ([30], [], [8]),
        ("root › game", ""): ([10, 20, 30], [3, 4], [8]),
    }


@pytest.mark.parametrize(
    ("seconds", "rates"),
    [
        (1.0, [8.0, 0.0, 4.0, 4.0]),
        (0.99, [8.0, 0.0, 4.0]),
        (0.25, [8.0]),
        (0.2, [10.0]),
        (0.0, [0.0]),
    ],
)
def test_that_calls_are_counted_in_stretches_of_a_quarter_of_a_second(
    seconds: float, rates: list[float]
) -> None:
    samples = CallSamples()
    samples.at_ns.extend([-MS, 1, 199 * MS, 500 * MS, 999 * MS, 1_000 * MS])

    assert _rates(samples, seconds).tolist() == rates


def test_that_facts_are_kept_for_some_frames_and_joined_for_several_runs() -> None:
    values = np.array([1.0, 2.0, 3.0])
    facts = FrameFacts(
        displayed_ms=values,
        causes=np.array([0, 1, 2]),
        runs=np.array([4, 4, 5]),
        columns=lambda _names: [values, None],
        damage=lambda _names: "damaged",
    )

    kept = facts.kept(np.array([True, False, True]))
    both = joined([facts, FrameFacts(displayed_ms=np.array([9.0]))], [3, 1])

    assert kept.displayed_ms is not None
    assert kept.displayed_ms.tolist() == [1.0, 3.0]
    assert kept.causes is not None
    assert kept.causes.tolist() == [0, 2]
    assert kept.runs is not None
    assert kept.runs.tolist() == [4, 5]
    assert kept.animation_error_ms is None
    assert kept.columns is not None
    read, missing = kept.columns([["a"], ["b"]])
    assert read is not None
    assert read.tolist() == [1.0, 3.0]
    assert missing is None
    assert kept.damage is not None
    assert both.displayed_ms is not None
    assert both.displayed_ms.tolist() == [1.0, 2.0, 3.0, 9.0]
    assert (both.causes, both.columns, both.damage) == (None, None, None)
    assert both.runs is not None
    assert both.runs.tolist() == [0, 0, 0, 1]
