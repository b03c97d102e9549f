"""The numbers behind a comparison, step by step, and the words of its verdict."""

from __future__ import annotations

from math import ceil, inf, log, sqrt
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from inspector.analysis.statistics import comparison as compared
from inspector.analysis.statistics.comparison import (
    Change,
    Comparison,
    Difference,
    Verdict,
    is_comparable,
    sample_changes,
)
from inspector.analysis.statistics.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

    from inspector.analysis.statistics.comparison import Samples

    Numbers = NDArray[Any]

BY_ID = {each.id: each for each in METRICS}


class Drawn:
    """Draws the blocks in turn instead of at random, and keeps between which it was to draw."""

    def __init__(self) -> None:
        self.low: Numbers = np.zeros(0, dtype=np.int64)
        self.high = self.low

    def integers(self, low: Numbers, high: Numbers, shape: tuple[int, int]) -> Numbers:
        self.low, self.high = low, high
        turns = np.arange(shape[0])[:, np.newaxis] * 7 + np.arange(shape[1]) ** 2
        return np.asarray(low + turns % (high - low))


def mean_and_longest(samples: Samples) -> list[float | None]:
    return [float(samples.mean()), float(samples.max())]


def within(runs: Sequence[Samples], length: float) -> tuple[compared._Estimate, Drawn, list[float]]:
    drawn = Drawn()
    done: list[float] = []
    random = cast("np.random.Generator", drawn)
    found = compared._within(runs, length, mean_and_longest, random, done.append)
    return found, drawn, done


@pytest.mark.parametrize(
    ("lengths", "length", "blocks", "drawn"),
    [
        ([100], 1.0, [16], [16]),
        ([60, 90], 1.0, [10, 15], [10, 15]),
        ([100], 5.0, [3], [3]),
        ([40, 100], 9.0, [2, 2], [2, 2]),
        ([25_000], 1.0, [37], [29]),
        ([60_000, 10_000], 1.0, [89, 14], [25, 4]),
        ([60_000], 1_000.0, [10], [8]),
    ],
)
def test_that_as_many_blocks_of_each_run_are_drawn_as_cost_allows(
    lengths: list[int], length: float, blocks: list[int], drawn: list[int]
) -> None:
    runs = [np.arange(1.0, each + 1) for each in lengths]

    found, random, done = within(runs, length)

    begins = np.cumsum([0, *blocks])[:-1]
    assert random.low.tolist() == np.repeat(begins, drawn).tolist()
    assert (random.high - random.low).tolist() == np.repeat(blocks, drawn).tolist()
    assert found.freedom == sum(blocks) - len(runs)
    assert done == [each / 600 for each in range(600)]
    every = np.concatenate(runs)
    assert found.values.tolist() == [every.mean(), every.max()]


def test_that_the_spread_of_draws_is_widened_for_what_blocks_lose() -> None:
    """The quantiles of the draws, as those of a normal distribution at two deviations."""
    samples = np.random.RandomState(1).gamma(9, 1, 96)
    length = 2.0

    found, random, _ = within([samples], length)

    blocks = np.array_split(samples, 8)
    places = random.integers(random.low, random.high, (600, 8))
    draws = np.array([np.concatenate([blocks[each] for each in row]).mean() for row in places])
    logs = np.sort(np.log(draws))
    # 2.275 % of a normal distribution is below two deviations: 599 × 0.02275 = 13.63.
    low, high = (np.interp(each, np.arange(600), logs) for each in (13.627, 585.373))
    scale = sqrt(8 / (1 - length / (2 * 12)) / 7) / 2
    mean = log(samples.mean())
    assert found.below[0] == pytest.approx((mean - low) * scale, rel=1e-3)
    assert found.above[0] == pytest.approx((high - mean) * scale, rel=1e-3)
    # No draw has a longer frame than all of them have.
    assert found.above[1] == 0
    assert found.below[1] > 0


def test_that_blocks_no_longer_than_the_dependence_lose_no_more_than_half() -> None:
    samples = np.random.RandomState(1).gamma(9, 1, 20)

    wide, narrow = (within([samples], length)[0] for length in (100.0, 10.0))

    # In two blocks of ten each.
    assert wide.freedom == narrow.freedom == 1
    assert wide.below.tolist() == narrow.below.tolist()


def test_that_a_statistic_that_is_undefined_in_a_draw_has_no_interval() -> None:
    random = cast("np.random.Generator", Drawn())
    samples = np.array([*[1.0] * 50, *[2.0] * 50])

    def values_of(each: Samples) -> list[float | None]:
        return [float(each.mean()), None if each[-1] < 2 else 1.0, 0.0]

    found = compared._within([samples], 1.0, values_of, random, lambda _done: None)

    assert found.values.tolist() == [1.5, 1.0, 0.0]
    assert np.isfinite(found.below[0])
    assert np.isnan([*found.below[1:], *found.above[1:]]).all()


def test_that_runs_of_a_version_differ_as_each_left_out_shows() -> None:
    runs = [np.full(each, value) for each, value in ((10, 1.0), (20, 2.0), (40, 4.0))]
    nothing, much = np.array([0.0]), np.array([9.0])
    certain = compared._Estimate(np.array([3.0]), nothing, much, 5.0)

    found = compared._between(runs, certain, lambda each: [each.mean()])

    rests = [log(each) for each in ((40 + 160) / 60, (10 + 160) / 50, (10 + 40) / 30)]
    mean = sum(rests) / 3
    spread = sqrt(2 / 3 * sum((each - mean) ** 2 for each in rests))
    assert found.values.tolist() == [3.0]
    assert found.below == pytest.approx([spread])
    assert found.above.tolist() == [9.0]
    assert found.freedom == pytest.approx(70**2 / (100 + 400 + 1_600) - 1)
    uneven = [np.ones(1_000), np.ones(2)]
    assert compared._between(uneven, certain, lambda each: [each.mean()]).freedom == 1


def test_that_the_errors_of_both_sides_make_the_interval_of_a_change() -> None:
    one = compared._Estimate(np.array([100.0, 5.0]), np.array([0.01, 0]), np.array([0.03, 0]), 9)
    other = compared._Estimate(np.array([110.0, 6.0]), np.array([0.02, 0]), np.array([0.05, 0]), 4)
    pair = compared._Pair(one, other, "")

    low, high = pair.intervals(np.array([1, 2]))

    squares = 0.02**2, 0.035**2
    freedom = sum(squares) ** 2 / (squares[0] ** 2 / 9 + squares[1] ** 2 / 4)
    (times,) = compared._student(np.array([0.05]), np.array([freedom]))
    change = log(1.1)
    assert low[0] == pytest.approx(np.exp(change - times * sqrt(0.02**2 + 0.03**2)) - 1)
    assert high[0] == pytest.approx(np.exp(change + times * sqrt(0.05**2 + 0.01**2)) - 1)
    assert (low[1], high[1]) == pytest.approx((0.2, 0.2))
    assert [*pair.changes(low, high)] == [
        {
            "before": 100.0,
            "after": 110.0,
            "share": pytest.approx(0.1),
            "low": low[0],
            "high": high[0],
            "why_not": "",
        },
        {
            "before": 5.0,
            "after": 6.0,
            "share": pytest.approx(0.2),
            "low": low[1],
            "high": high[1],
            "why_not": "",
        },
    ]


@pytest.mark.parametrize(
    ("before", "after", "share", "why_not"),
    [
        (2.0, 0.0, -1.0, "too few frames"),
        (2.0, 3.0, 0.5, "too few frames"),
        (0.0, 3.0, None, "undefined"),
        (2.0, -1.0, None, "undefined"),
        (-2.0, 1.0, None, "undefined"),
        (0.5, 0.25, -0.5, "too few frames"),
    ],
)
def test_that_only_numbers_above_zero_change_by_a_share(
    before: float, after: float, share: float | None, why_not: str
) -> None:
    unknown = np.array([np.nan])
    one, other = (
        compared._Estimate(np.array([each]), unknown, unknown, 1.0) for each in (before, after)
    )

    (found,) = compared._Pair(one, other, "").changes(unknown, unknown)
    (short,) = compared._Pair(one, other, "too short").changes(unknown, unknown)

    assert (found["share"], found["why_not"]) == (share, why_not)
    assert (found["low"], found["high"]) == (None, None)
    assert short["why_not"] == ("undefined" if share is None else "too short to tell")


@pytest.mark.parametrize(("count", "is_enough"), [(29, False), (30, True)])
def test_that_a_run_has_at_least_thirty_frames(count: int, *, is_enough: bool) -> None:
    samples = np.random.RandomState(1).normal(10, 1, 200)
    before, after = [samples, samples[::-1]], [samples, samples[:count]]

    (change,) = sample_changes(before, after, lambda each: [each.mean()], is_more_better=[True])

    assert (change.low is not None) == is_enough
    assert change.why_not == ("" if is_enough else "too short to tell")


def test_that_one_capture_is_long_enough_for_what_its_frames_depend_on() -> None:
    walk = np.cumsum(np.random.RandomState(2).normal(0, 1, 3_000)) + 500
    length = compared.correlation_length(walk)
    least = ceil(45 * length)
    noise = np.random.RandomState(3).normal(500, 1, 2 * least)

    def pair(*after: int) -> compared._Pair:
        runs = [noise[:each] for each in after]
        return compared._pair([walk] * len(runs), runs, lambda each: [each.mean()])

    assert pair(least - 1).why_not == (
        f"Frames depend on each other over about {length:,.0f} frames, so at least {least:,} of "
        "each are needed."
    )
    assert pair(least - 1).one.values == [walk.mean()]
    # Runs of a version are independent of each other.
    assert pair(100, 100).why_not == ""


def test_that_progress_is_that_of_both_sides() -> None:
    done: list[float] = []
    samples = np.tile([1.0, 2.0, 3.0], 40)

    compared._pair([samples], [samples], lambda each: [each.mean()], 1, done.append)

    assert done == pytest.approx([each / 1_200 for each in range(1_200)])


def test_that_a_side_without_samples_says_nothing_of_its_change() -> None:
    nothing, some = np.zeros(0), np.array([1.0, 3.0])

    found = sample_changes(
        [some], [nothing], lambda each: [each.mean(), each.max()], is_more_better=[True, None]
    )

    assert found == [
        Change(2.0, None, None, None, None, "undefined", is_more_better=True),
        Change(3.0, None, None, None, None, "undefined", is_more_better=None),
    ]


def change(share: float | None, low: float | None, high: float | None) -> Change:
    return Change(1.0, 1.0, share, low, high, "few", is_more_better=True)


@pytest.mark.parametrize(
    ("share", "low", "high", "verdict"),
    [
        (0.1, 0.05, 0.2, Verdict.FASTER),
        (-0.1, -0.2, -0.05, Verdict.SLOWER),
        (0.1, 0.0, 0.2, Verdict.NO_EVIDENCE),
        (-0.1, -0.2, 0.0, Verdict.NO_EVIDENCE),
        (0.002, 0.001, 0.003, Verdict.FASTER),
        (-0.0019, -0.003, -0.001, Verdict.NO_EVIDENCE),
        (None, 0.1, 0.2, Verdict.CANNOT_TELL),
        (0.1, None, 0.2, Verdict.CANNOT_TELL),
        (0.1, 0.1, None, Verdict.CANNOT_TELL),
    ],
)
def test_that_a_verdict_needs_an_interval_that_leaves_no_change_out(
    share: float | None, low: float | None, high: float | None, verdict: Verdict
) -> None:
    assert change(share, low, high).verdict is verdict


def test_that_a_number_that_is_neither_better_nor_worse_is_more_or_less() -> None:
    more = Change(1.0, 1.1, 0.1, 0.05, 0.2, "", is_more_better=None)
    worse = Change(1.0, 1.1, 0.1, 0.05, 0.2, "", is_more_better=False)
    less = Change(1.0, 0.9, -0.1, -0.2, -0.05, "", is_more_better=None)

    assert [each.verdict for each in (more, worse, less)] == [
        Verdict.MORE,
        Verdict.SLOWER,
        Verdict.LESS,
    ]


def test_that_nothing_is_the_inverse_of_nothing() -> None:
    found = Change(None, 4.0, -1.0, -1.0, inf, "", is_more_better=True).of_inverse(1_000)

    assert (found.before, found.after, found.share) == (None, 250.0, None)
    assert (found.low, found.high) == (-1.0, None)
    assert (found.verdict, found.interval_text) == (Verdict.CANNOT_TELL, "")


def difference(metric: str, share: float | None, width: float | None = 0.01) -> Difference:
    is_known = share is not None and width is not None
    return Difference(
        before=100.0,
        after=None if share is None else 100 * (1 + share),
        share=share,
        low=(share or 0) - (width or 0) if is_known else None,
        high=(share or 0) + (width or 0) if is_known else None,
        why_not="" if is_known else "too few frames",
        is_more_better=BY_ID[metric].unit == "fps",
        metric=BY_ID[metric],
    )


def test_that_a_verdict_is_told_with_the_numbers_it_is_about() -> None:
    faster, unknown = difference("fps", 0.1), difference("p99.9", None, None)
    slower, alike = difference("p99", 0.2), difference("p50", 0.005)

    def said(*of: Difference, asked: Sequence[str] = (), why_not: str = "") -> str:
        return Comparison(of, frozenset(asked), why_not).sentence("old", "new")

    assert said(faster, unknown) == (
        "“new” is faster than “old”: 100.00 → 110.00 fps, +10.0% (+9.0% to +11.0%)."
    )
    assert said(slower, difference("p95", 0.3), faster) == (
        "“new” is faster than “old”: 100.00 → 110.00 fps, +10.0% (+9.0% to +11.0%); it is slower "
        "than “old”: P99 100.00 → 120.00 ms, +20.0% (+19.0% to +21.0%), also by P95."
    )
    assert said(alike, unknown, why_not="Few.") == (
        "There is no evidence that “new” is faster or slower than “old”: P50 100.00 → 100.50 ms, "
        "+0.5% (-0.5% to +1.5%). Few."
    )
    assert said(unknown, alike, asked=["p99.9", "p50"]) == (
        "It cannot be told whether “new” is faster or slower than “old” by P99.9 and P50: P99.9 "
        "100.00 → - ms, - (too few frames)."
    )
    assert said(alike, unknown, asked=["p50"]).startswith("There is no evidence that “new”")
    assert said(unknown).startswith("It cannot be told whether “new” is faster or slower than")


def test_that_no_single_frame_nor_another_unit_is_compared() -> None:
    found = {each.id for each in METRICS if is_comparable(each)}

    assert {"fps", "p99", "capframex.stuttering", "mean"} <= found
    assert not {each for each in found if each.endswith((".min", ".max"))}
    assert not {each.id for each in METRICS if each.unit in {"s", "frames", "ms/s"}} & found
