"""Two captures compared: differences that are there are found, and no others."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pytest

from inspector.analysis.statistics.comparison import (
    COMPARED,
    Change,
    Comparison,
    Verdict,
    _student,
    comparison,
    correlation_length,
    is_comparable,
    sample_changes,
)
from inspector.analysis.statistics.metrics import METRICS
from inspector.analysis.statistics.time_series import TimeSeries
from tests.analysis.simulated_comparisons import Case, autoregressive, capped, outcome, uncapped
from tests.fuzz import rounds

#: Pairs of versions that are compared: half in a quick run, and no more than are looked at here.
PAIRS = min(len(rounds(20)), 20)


def frames(seed: int, mean_ms: float, count: int = 2_000) -> TimeSeries:
    return TimeSeries(np.random.default_rng(seed).gamma(50, mean_ms / 50, count))


def compared(before: TimeSeries, after: TimeSeries, asked: Collection[str] = ()) -> Comparison:
    return comparison([before], [after], asked)


def test_that_a_capture_does_not_differ_from_another_of_the_same_kind() -> None:
    found = compared(frames(1, 16), frames(2, 16))

    assert found.verdict is Verdict.NO_EVIDENCE
    assert [each.metric.id for each in found.differences] == list(COMPARED)
    assert found.sentence("a", "b").startswith("There is no evidence that “b” is faster or slower")


@pytest.mark.parametrize(("mean_ms", "verdict"), [(15.2, Verdict.FASTER), (16.8, Verdict.SLOWER)])
def test_that_five_percent_are_found(mean_ms: float, verdict: Verdict) -> None:
    found = compared(frames(1, 16), frames(2, mean_ms))

    assert found.verdict is verdict
    fps = found.differences[0]
    assert fps.low is not None
    assert fps.high is not None
    assert fps.low < 16 / mean_ms - 1 < fps.high


def test_that_the_same_seed_gives_the_same_intervals() -> None:
    before, after = [frames(1, 16)], [frames(2, 17)]

    assert comparison(before, after) == comparison(before, after, seed=1, pairs=1)


def test_that_of_too_few_frames_nothing_can_be_told() -> None:
    found = compared(frames(1, 16), frames(2, 30, 1))

    assert found.verdict is Verdict.CANNOT_TELL
    assert found.why_not == "At least 30 frames of each are needed."
    assert all(each.low is None for each in found.differences)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (-0.945, 25.408, "+4.0% (too wide to tell)"),
        (-1.0, 0.1, "+4.0% (too wide to tell)"),
        (-0.5, 1.0, "+4.0% (too wide to tell)"),
        (-0.5, 0.99, "+4.0% (-50.0% to +99.0%)"),
        (0.0, 3.0, "+4.0% (too wide to tell)"),
        (-0.75, 0.0, "+4.0% (too wide to tell)"),
        (-0.74, 0.0, "+4.0% (-74.0% to +0.0%)"),
        (0.1, None, "+4.0% (nothing before)"),
        (None, 0.1, "+4.0% (nothing before)"),
        (0.5, 9.0, "+4.0% (+50.0% to +900.0%)"),
        (None, None, "+4.0% (nothing before)"),
    ],
)
def test_that_an_interval_from_much_less_to_much_more_is_said_to_be_too_wide(
    low: float | None, high: float | None, text: str
) -> None:
    assert Change(100, 104, 0.04, low, high, "nothing before", is_more_better=True).text == text


@pytest.mark.parametrize(("phi", "length"), [(0.0, 1.0), (0.5, 3.0), (0.9, 19.0)])
def test_that_it_is_known_how_long_frames_depend_on_each_other(phi: float, length: float) -> None:
    times = np.exp(autoregressive(np.random.RandomState(1), 1, 20_000, phi)[0])
    times[::200] *= 10

    # (1 + φ) / (1 - φ); the flat-top window finds somewhat less.
    assert correlation_length(times) == pytest.approx(length, rel=0.15)


def test_that_frames_that_alternate_do_not_depend_on_each_other() -> None:
    assert correlation_length(np.tile([10.0, 10.2, 9.8, 10.1], 100)) == 1
    assert correlation_length(np.full(100, 10.0)) == 1


@pytest.mark.parametrize(
    "case",
    [Case("φ = 0.9", uncapped(0.9), 1_500), Case("capped", capped, 1_500)],
    ids=lambda case: case.name,
)
def test_that_equal_captures_are_said_to_differ_no_more_often_than_stated(case: Case) -> None:
    found = outcome(case, PAIRS // 2, 3)

    assert found.claims <= 0.1
    assert min(found.coverage.values()) >= 0.9


def test_that_differences_of_five_percent_are_found_in_frames_that_depend_on_each_other() -> None:
    assert outcome(Case("slower", uncapped(0.9), 3_000, 1.05), PAIRS // 4, 3).found == 1


def test_that_captures_that_are_too_short_claim_nothing_and_say_so() -> None:
    short = Case("short", uncapped(0.99), 3_000)

    found = outcome(short, 5 * PAIRS, 99)

    assert found.undecided == 1
    (before,), (after,) = (short.make(np.random.RandomState(seed), 1, 3_000) for seed in (1, 2))
    said = compared(TimeSeries(before), TimeSeries(after))
    assert {each.interval_text for each in said.differences} == {"too short to tell"}
    sentence = said.sentence("a", "b")
    assert sentence.startswith("It cannot be told whether “b” is faster or slower than “a”: ")
    assert "Frames depend on each other over about " in sentence


def test_that_a_rate_stays_positive() -> None:
    # The one hitch of 20 s is in the second half: without it, there are 100 frames per second.
    times = np.random.default_rng(1).normal(10, 0.5, 3_000)
    times[2_000] = 20_000

    found = compared(TimeSeries(times), TimeSeries(times[::-1]))

    assert all(each.low is None or each.low > -1 for each in found.differences)


def test_that_the_verdict_is_about_what_was_asked() -> None:
    times = np.random.default_rng(1).gamma(50, 16 / 50, 2_000)
    hitching = times.copy()
    hitching[::40] *= 1.6

    by_all = compared(TimeSeries(times), TimeSeries(hitching))
    by_median = compared(TimeSeries(times), TimeSeries(hitching), {"p50"})
    by_both = compared(TimeSeries(times), TimeSeries(hitching), {"p50", "p99"})

    assert by_all.verdict is Verdict.SLOWER
    assert by_median.verdict is Verdict.NO_EVIDENCE
    assert " by P50: P50 " in by_median.sentence("a", "b")
    assert by_both.sentence("a", "b").startswith("“b” is slower than “a”: P99 ")
    widths = [
        (of.high or 0) - (of.low or 0)
        for found in (by_median, by_both, by_all)
        for of in found.differences
        if of.metric.id == "p50"
    ]
    assert widths == sorted(widths)
    assert widths[0] < widths[1] < widths[2]


def test_that_every_metric_by_which_it_is_slower_is_named() -> None:
    found = compared(frames(1, 16), frames(2, 20), {"fps", "p50", "p99"})

    first, *others = [each.metric.name for each in found.spoken]
    assert len(others) == 2
    said = found.sentence("a", "b")
    assert said.startswith("“b” is slower than “a”: ")
    assert said.endswith(f", also by {' and '.join(others)}.")
    assert first not in others


def test_that_what_is_faster_by_one_metric_and_slower_by_another_is_said_to_be_both() -> None:
    random = np.random.default_rng(1)
    before, after = random.gamma(50, 16 / 50, 3_000), random.gamma(50, 14 / 50, 3_000)
    after[::20] *= 3

    found = compared(TimeSeries(before), TimeSeries(after), {"p50", "p99"})

    assert found.verdict is Verdict.MIXED
    said = found.sentence("a", "b")
    assert said.startswith("“b” is faster than “a”: P50 ")
    assert "; it is slower than “a”: P99 " in said


def test_that_the_interval_of_a_number_is_wider_among_many() -> None:
    random = np.random.default_rng(1)
    one, other = (random.gamma(50, 1, 1_000) for _ in range(2))

    def width(tests: int) -> float:
        (change,) = sample_changes(
            [one], [other], lambda each: [each.mean()], is_more_better=[False], tests=tests
        )
        assert change.low is not None
        assert change.high is not None
        return change.high - change.low

    assert width(1) < width(10) < width(100) < 2 * width(1)


def test_that_resampling_finds_the_spread_of_a_mean() -> None:
    random = np.random.default_rng(4)
    one, other = (random.normal(100, 10, 9_000) for _ in range(2))

    (change,) = sample_changes([one], [other], lambda each: [each.mean()], is_more_better=[False])

    assert change.low is not None
    assert change.high is not None
    # Two standard errors of the difference of two means of 9,000: 2 × 0.1 × √(2 / 9,000).
    assert (change.high - change.low) / 2 == pytest.approx(0.003, rel=0.2)


@pytest.mark.parametrize(
    ("freedom", "level", "quantile"),
    [
        (1, 0.05, 12.7062),
        (2, 0.05, 4.3027),
        (3, 0.001, 12.9240),
        (5, 0.05, 2.5706),
        (10, 0.05, 2.2281),
        (10, 0.01, 3.1693),
        (30, 0.05, 2.0423),
        (120, 0.01, 2.6174),
    ],
)
def test_that_quantiles_are_those_of_tables(freedom: float, level: float, quantile: float) -> None:
    found = _student(np.array([level]), np.array([float(freedom)]))

    assert found[0] == pytest.approx(quantile, rel=1e-3)


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
def test_that_the_dependence_of_frames_is_summed_within_the_flat_top_window(memory: float) -> None:
    samples = np.round(autoregressive(np.random.RandomState(5), 1, 600, memory)[0], 1)
    ranks = np.array([np.sum(samples < each) + np.sum(samples == each) / 2 for each in samples])
    ranks -= ranks.mean()

    def correlation(lag: int) -> float:
        return float(ranks[: len(ranks) - lag] @ ranks[lag:] / (ranks @ ranks))

    limit = 2 * np.sqrt(np.log10(len(ranks)) / len(ranks))
    last = next(
        lag for lag in range(300) if all(abs(correlation(lag + k)) <= limit for k in range(1, 6))
    )
    total = sum(
        min(1.0, 2 - lag / max(last, 1)) * correlation(lag)
        for lag in range(1, 2 * max(last, 1) + 1)
    )

    assert correlation_length(samples) == pytest.approx(max(1.0, 1 + 2 * total))


def test_that_equal_versions_are_said_to_differ_no_more_often_than_stated() -> None:
    case = Case("3 runs", uncapped(0.5), 400, runs=3, variation=0.01)

    found = outcome(case, PAIRS, 3)

    assert found.claims <= 0.05
    assert min(found.coverage.values()) >= 0.95


def test_that_what_differs_from_run_to_run_is_no_difference_of_the_versions() -> None:
    before, after = (
        [frames(seed, mean) for seed, mean in each]
        for each in (
            ((1, 15.8), (2, 16.0), (3, 16.2)),
            ((4, 16.0), (5, 16.2), (6, 16.4)),
        )
    )
    joined = (TimeSeries(np.concatenate([of.times_ms for of in each])) for each in (before, after))

    assert comparison(list(joined)[:1], [after[2]]).verdict is Verdict.SLOWER
    assert comparison(before, after).verdict is Verdict.NO_EVIDENCE


def test_that_versions_that_differ_by_more_than_their_runs_are_told_apart() -> None:
    slower = Case("5 runs", uncapped(0.5), 400, 1.06, runs=5, variation=0.005)

    assert outcome(slower, PAIRS // 4, 3).found == 1


def test_that_runs_need_not_be_longer_than_their_frames_depend_on_each_other() -> None:
    long = Case("3 runs", uncapped(0.99), 1_000, runs=3, variation=0.005)

    found = outcome(long, PAIRS // 4, 3)

    assert (found.undecided, found.claims) == (0, 0)


def test_that_runs_that_are_close_by_chance_are_as_uncertain_as_their_frames() -> None:
    runs = [frames(seed, 16, 300) for seed in range(3)]
    means = [float(np.mean(each.times_ms)) for each in runs]
    alike = [TimeSeries(of.times_ms / mean) for of, mean in zip(runs, means, strict=True)]

    fps = comparison(alike, alike, {"fps"}).differences[0]

    assert fps.high is not None
    # Two standard errors of the difference of means of 900 frames of 14 % spread.
    assert fps.high > 2 * 0.141 * (2 / 900) ** 0.5


def test_that_intervals_are_wider_where_more_pairs_are_looked_at() -> None:
    sides = [frames(1, 16)], [frames(2, 16)]

    one, three = (comparison(*sides, pairs=pairs).differences[0] for pairs in (1, 3))

    assert one.low is not None
    assert three.low is not None
    assert three.low < one.low


def test_that_metrics_that_need_more_than_frame_times_are_not_compared() -> None:
    units = {"fps", "ms", "%"}
    lacking = [
        each for each in METRICS if each.unit in units and (each.needs_refresh or each.needs)
    ]

    assert {"missed-share", "presentmon.animation-error"} <= {each.id for each in lacking}
    assert not any(map(is_comparable, lacking))


def test_that_constant_frames_differ_by_exactly_as_much_as_they_do() -> None:
    before, after = (TimeSeries(np.full(2_000, ms)) for ms in (16.0, 17.0))

    fps = compared(before, after).differences[0]

    assert fps.low == fps.high == pytest.approx(16 / 17 - 1)


def test_that_the_change_of_a_time_is_that_of_its_rate_the_other_way_round() -> None:
    rate = Change(50.0, 40.0, -0.2, -0.36, 0.25, why_not="", is_more_better=True)

    time = rate.of_inverse(1_000)

    assert (time.before, time.after) == (20.0, 25.0)
    assert (time.share, time.low, time.high) == pytest.approx((0.25, -0.2, 0.5625))
    assert time.is_more_better is False


def test_that_there_is_no_time_for_a_rate_of_nothing() -> None:
    rate = Change(0.0, 40.0, None, None, None, why_not="nothing before", is_more_better=None)

    time = rate.of_inverse(1_000)

    assert (time.before, time.after, time.share) == (None, 25.0, None)
    assert time.is_more_better is None
    assert time.interval_text == "nothing before"
