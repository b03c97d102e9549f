"""Statistics by the definitions of different tools, on frame times worked out by hand."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.statistics import pacing
from inspector.analysis.statistics.active_times import (
    LAG_COLUMNS,
    Bound,
    Part,
    active_rate,
    damage_text,
    input_lag,
    mean_active_time,
)
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.analysis.statistics.long_frames import LongFrameCause, long_frame_causes
from inspector.analysis.statistics.metrics import METRICS, metric_values
from inspector.analysis.statistics.time_series import (
    FrameFacts,
    TimeSeries,
    quantile_7,
    quantile_8,
)
from inspector.vocabulary import Share

times = st.lists(st.floats(0.1, 500), min_size=1, max_size=300).map(np.array)


def series(*times_ms: float, refresh_ms: float | None = None) -> TimeSeries:
    return TimeSeries(np.array(times_ms, dtype=np.float64), refresh_ms)


def value(name: str, of: TimeSeries) -> float | None:
    (found,) = metric_values(of, wanted=frozenset({name}))
    return found.value


#: 98 frames of 10 ms, one of 20, one of 40.
UNEVEN = series(*[10.0] * 98, 20.0, 40.0)


def test_that_slow_frozen_and_not_responding_are_three_classes() -> None:
    found = series(16.0, 16.1, 700.0, 700.1, 5_000.0, 5_000.1)
    names = ("android.slow", "android.frozen", "android.not-responding")
    assert [value(name, found) for name in names] == [2, 2, 1]
    formulas = {metric.id: metric.formula for metric in METRICS}
    assert [formulas[name] for name in names] == [
        "frames with f > 16 ms and ≤ 700 ms",
        "frames with f > 700 ms and ≤ 5000 ms",
        "frames with f > 5000 ms",
    ]


def test_that_the_statistics_of_a_tool_follow_each_other() -> None:
    tools = [tool for tool, _its in groupby(METRICS, key=lambda each: each.tool)]
    assert len(tools) == len(set(tools))


def test_that_every_metric_of_a_tool_says_its_formula_and_source() -> None:
    for metric in (each for each in METRICS if each.tool):
        assert metric.formula, metric.id
        assert metric.source, metric.id


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("frames", 100),
        ("duration", 1.04),
        ("fps", 100_000 / 1040),
        ("capframex.average", 100_000 / 1040),
        ("mean", 10.4),
        ("p50", 10),
        ("p99", 20),
        ("p99.9", 40),
        ("min", 10),
        ("max", 40),
        # The 2 longest: floor(0.01 * 100) + 1.
        ("frameview.low-1", 1000 / 30),
        ("mangohud.mean-of-rates", (98 * 100 + 50 + 25) / 100),
        ("capframex.stuttering-live", 100 * 40 / 1040),
        ("capframex.count-30", 1),
        ("capframex.count-60", 2),
        ("android.slow", 2),
        ("android.not-responding", 0),
        ("frameview.low-0.1", 25),
        ("frameview.fps-1", 50),
        ("frameview.fps-0.1", 25),
        ("frameview.time", 1.03),
        # Place 0.99 * 99 = 98.01: 20 + 0.01 * 20.
        ("presentmon.1st", 1000 / 20.2),
        ("capframex-linux.low-1", 1000 / 20.2),
        # Place from 1: (100 + 1/3) * 0.01 + 1/3 = 1.33667 of rates 25, 50, 100 …
        ("capframex.p1", 25 + 25 * 0.3366666666666667),
        # Q8 of times at 0.99 is above 20, so one frame is left.
        ("capframex.low-1", 25),
        # 0.01 * 1040 = 10.4 ms is in the longest frame; so is 0.1 %.
        ("capframex.integral-1", 25),
        ("mangohud.1", 25),
        ("mangohud.97", 100),
        ("capframex.stutters", 1.0),
        ("capframex.variance-1", 100 * 97 / 99),
        ("capframex.variance-4", 100 * 1 / 99),
        ("capframex.variance-5", 100 * 1 / 99),
        ("capframex.below-60", 100 * 60 / 1040),
        ("android.frozen", 0),
    ],
)
def test_that_a_metric_is_as_its_tool_defines_it(name: str, expected: float) -> None:
    assert value(name, UNEVEN) == pytest.approx(expected)


def test_that_frames_at_a_rate_are_not_below_it_for_being_whole_nanoseconds() -> None:
    at_sixty = series(16.666666, 16.666667, 16.666667)

    assert value("capframex.count-60", at_sixty) == 0
    assert value("capframex.count-60", series(16.666668)) == 1


def test_that_the_one_percent_lows_of_tools_differ() -> None:
    random = np.random.default_rng(3)
    uneven = TimeSeries(random.gamma(3, 5, 400) + 1)
    names = (
        "frameview.low-1",
        "capframex.low-1",
        "capframex.integral-1",
        "mangohud.1",
        "capframex-linux.low-1",
    )

    assert len({round(value(name, uneven) or 0, 6) for name in names}) == len(names)


def test_that_mangohud_has_no_low_of_too_few_frames() -> None:
    (found,) = metric_values(series(*[10.0] * 99), wanted=frozenset({"mangohud.1"}))

    assert found.value is None
    assert found.why_not == "There are too few frames."


@pytest.mark.parametrize("name", ["apple.hitches", "android.jank", "flutter.jank"])
def test_that_a_metric_of_the_refresh_needs_its_rate(name: str) -> None:
    (found,) = metric_values(UNEVEN, wanted=frozenset({name}))

    assert found.value is None
    assert "--refresh" in found.why_not


def test_that_hitches_and_jank_are_counted_against_the_refresh() -> None:
    uneven = TimeSeries(UNEVEN.times_ms, refresh_ms=10.0)

    assert value("apple.hitches", uneven) == pytest.approx(1000 * 40 / 1040)
    assert value("android.jank", uneven) == 1
    assert value("flutter.jank", uneven) == 2


def test_that_of_samples_only_what_needs_no_frame_is_said() -> None:
    values = metric_values(TimeSeries(UNEVEN.times_ms, sampled_ms=29_700.0))

    assert {each.metric.id for each in values if each.value is not None} == {"duration", "mean"}
    assert all("samples" in each.why_not for each in values if each.value is None)


def test_that_of_no_frames_nothing_is_said() -> None:
    assert {each.value for each in metric_values(series())} == {None}


def test_that_what_a_metric_needs_is_known_of_each() -> None:
    assert {each.id for each in METRICS if not each.is_of_every_frame} == {"duration", "mean"}
    assert {each.id for each in METRICS if each.needs_refresh} == {
        *("missed", "missed-share", "missed-displayed"),
        *("apple.hitches", "flutter.jank", "android.jank"),
    }
    of_sessions = [each.id for each in METRICS if each.is_of_sessions]
    assert of_sessions == [each.id for each in METRICS if each.id.startswith("long.")]
    assert len(of_sessions) == 6
    assert [each.id for each in METRICS if each.unit == "ms" and not each.tool] == [
        *("mean", "p50", "p90", "p95", "p99", "p99.9", "min", "max"),
    ]
    assert [value(name, UNEVEN) for name in ("min", "p50", "p99", "max")] == [10, 10, 20, 40]


def test_that_frames_are_counted_below_the_rates_of_screens() -> None:
    rates = (10, 15, 30, 45, 60, 75, 90, 120, 144, 240)

    for what in ("below", "count"):
        found = [each.id for each in METRICS if each.id.startswith(f"capframex.{what}-")]
        assert found == [f"capframex.{what}-{rate}" for rate in rates]


def test_that_every_metric_has_an_id_of_its_own_and_a_formula() -> None:
    assert len({each.id for each in METRICS}) == len(METRICS)
    assert all(each.formula and each.name for each in METRICS)


@given(times)
def test_that_every_metric_is_finite_for_any_frames(times_ms: np.ndarray) -> None:
    for each in metric_values(TimeSeries(times_ms, refresh_ms=16.7)):
        assert each.value is None or np.isfinite(each.value), each.metric.id


@given(times, st.floats(0, 1))
def test_that_type_7_is_numpys_default_and_type_8_numpys_median_unbiased(
    times_ms: np.ndarray, share: float
) -> None:
    ordered = np.sort(times_ms)

    assert quantile_7(ordered, share) == pytest.approx(np.quantile(ordered, share))
    unbiased = np.quantile(ordered, share, method="median_unbiased")
    assert quantile_8(ordered, share) == pytest.approx(unbiased)


@given(times)
def test_that_the_trailing_mean_is_as_the_plain_way_has_it(times_ms: np.ndarray) -> None:
    of = TimeSeries(times_ms)
    calm = list(times_ms)
    for place in range(1, len(calm)):
        if times_ms[place] > 3 * times_ms[place - 1]:
            calm[place] = times_ms[place - 1]
    window = max(1, round(10 * of.mean_ms**0.5))
    plain = [np.mean(calm[max(0, end - window) : end]) for end in range(1, len(calm) + 1)]

    assert pacing.trailing_mean(of) == pytest.approx(np.array(plain))


@given(times)
def test_that_the_adaptive_deviation_is_as_the_plain_way_has_it(times_ms: np.ndarray) -> None:
    if len(times_ms) < 2:
        assert pacing.adaptive_deviation(TimeSeries(times_ms)) == 0
        return
    squares = 0.0
    times_ns = [round(time * 1e6) for time in times_ms.tolist()]
    for end in range(1, len(times_ns) + 1):
        begin = end - 1
        # Exact: 500 ms to the nanosecond are 500 ms.
        while begin > 0 and sum(times_ns[begin:end]) < 500_000_000:
            begin -= 1
        mean = sum(times_ns[begin:end]) / 1e6 / (end - begin)
        squares += (times_ms[end - 1] - mean) ** 2
    plain = (squares / (len(times_ms) - 1)) ** 0.5

    assert pacing.adaptive_deviation(TimeSeries(times_ms)) == pytest.approx(plain, abs=1e-6)


@given(times)
def test_that_the_shares_of_changes_add_up(times_ms: np.ndarray) -> None:
    shares = pacing.variance_shares(TimeSeries(times_ms))

    assert sum(shares) == pytest.approx(1 if len(times_ms) > 1 else 0)


def test_that_missed_refreshes_are_counted_by_times_and_by_displays() -> None:
    displayed = np.array([16.7, 33.3, np.nan, 50.1, 16.6])
    facts = FrameFacts(displayed_ms=displayed)
    found = TimeSeries(np.array([16.7, 19.0, 19.2, 33.4, 60.0]), 1000 / 60, facts)

    # The tolerance is 15 % of 16.667 ms: up to 19.17 ms nothing is missed.
    assert value("missed", found) == 0 + 0 + 1 + 1 + 3
    assert value("missed-share", found) == pytest.approx(100 * 5 / 10)
    assert value("missed-displayed", found) == 0 + 1 + 2 + 0
    assert value("missed", series(100.0)) is None


def test_that_the_animation_error_is_of_displayed_frames_by_its_size() -> None:
    facts = FrameFacts(animation_error_ms=np.array([np.nan, -2.0, 1.0, 0.0]))
    found = TimeSeries(np.full(4, 10.0), None, facts)

    assert value("presentmon.animation-error", found) == 1.0
    assert value("presentmon.animation-error-rate", found) == pytest.approx(3 / 0.04)


def test_that_what_is_not_known_is_said() -> None:
    (found,) = metric_values(UNEVEN, wanted=frozenset({"presentmon.animation-error"}))

    assert (found.value, found.text) == (None, "-")
    assert found.why_not.startswith("This needs an animation error, or the times of simulation")


def test_that_input_lag_begins_with_the_first_frame_of_which_two_before_are_known() -> None:
    until, present = np.array([5.0, 6.0, 7.0]), np.array([1.0, 2.0, 100.0])
    facts = FrameFacts(columns=lambda _names: [None, None, until, present, None])
    found = TimeSeries(np.array([10.0, 20.0, 30.0]), None, facts)

    assert input_lag(Bound.LOWER, found) == 7.0
    assert input_lag(Bound.UPPER, found) == 20.0 - 1.0 + 30.0 + 7.0


def test_that_damage_to_the_columns_that_a_metric_reads_is_said() -> None:
    found = TimeSeries(np.full(40, 10.0), None, FrameFacts(damage=" and ".join))

    assert damage_text(found, LAG_COLUMNS) == "MsUntilDisplayed and MsInPresentAPI"
    assert "MsGPUBusy" in damage_text(found, Part.GPU.value)
    assert not damage_text(found, ("SyncInterval",))


def test_that_frames_that_are_left_out_take_what_is_known_of_them_along() -> None:
    facts = FrameFacts(animation_error_ms=np.array([1.0, 100.0, 3.0]))

    found = TimeSeries(np.array([10.0, 0.0, 10.0]), None, facts)

    assert value("presentmon.animation-error", found) == 2.0


def test_that_rates_deviate_from_a_mean_whose_window_is_a_sum_of_rates() -> None:
    found = series(*[10.0, 5.0] * 20)

    # The last 4 rates add up to 500 or more: 100, 200, 100, 200.
    deviations = [100.0 - 150, 200 - 150]
    late = value("capframex.fps-deviation", found)
    assert late == pytest.approx(abs(deviations[0]), rel=0.25)


def test_that_long_frames_are_put_down_to_their_largest_share() -> None:
    ms = 1_000_000
    interval = np.full(7, 40 * ms)
    interval[6] = 16 * ms
    shares = np.zeros((len(Share), 7), dtype=np.int64)
    for frame, share in enumerate(
        (Share.CALLBACKS, Share.CALLBACKS, Share.INSPECTOR, Share.GARBAGE_COLLECTION)
    ):
        shares[share, frame] = 25 * ms
    shares[Share.HOST_LATE, 4] = 25 * ms
    shares[Share.IDLE] = 10 * ms
    shares[Share.IDLE, 5] = 15 * ms
    timers = np.zeros(7, dtype=np.int64)
    # Half of the time in callbacks makes them timers.
    timers[:2] = 12_500_000, 12_499_999

    causes = long_frame_causes(interval, shares, timers, FrameBudget.of_ms(1000 / 60))

    assert causes.tolist() == [*LongFrameCause, -1]
    found = TimeSeries(interval / ms, 1000 / 60, FrameFacts(causes=causes))
    assert value("long.timers", found) == 1
    names = {each.metric.id: each.metric.name for each in metric_values(found)}
    assert names["long.host-late"] == "Long by a late wake-up of the host"
    assert names["long.unknown"] == "Long, cause unknown"
    assert "long.host-late" not in {each.metric.id for each in metric_values(UNEVEN)}


def test_that_every_metric_names_its_source() -> None:
    assert all(each.source and each.formula for each in METRICS)
    assert len({each.id for each in METRICS}) == len(METRICS)


def test_that_the_adaptive_deviation_does_not_depend_on_its_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times_ms = np.random.default_rng(3).gamma(2, 40, 500)
    whole = pacing.adaptive_deviation(TimeSeries(times_ms))

    for size in (1, 2, 3, 7, 64, 499):
        monkeypatch.setattr(pacing, "_BLOCK", size)
        assert pacing.adaptive_deviation(TimeSeries(times_ms)) == pytest.approx(whole, rel=1e-9)


@pytest.mark.parametrize(
    ("busy_ms", "mean_ms"),
    [
        ([5.0], 5),
        ([0.5], 0.5),
        ([0.0, 0.0, 6.0], 2),
        ([np.nan, 4.0, -1.0], 4),
        ([0.0, 0.0], None),
        ([np.nan, -1.0], None),
        (None, None),
    ],
)
def test_that_active_times_are_known_where_a_frame_has_one(
    busy_ms: list[float] | None, mean_ms: float | None
) -> None:
    column = None if busy_ms is None else np.array(busy_ms)
    facts = FrameFacts(columns=lambda names: [column, *[None] * (len(names) - 1)])
    found = TimeSeries(np.full(len(busy_ms or [1]), 10.0), facts=facts)

    assert mean_active_time(Part.GPU, found) == mean_ms
    assert active_rate(Part.GPU, found) == (None if mean_ms is None else 1000 / mean_ms)
    assert mean_active_time(Part.CPU, found) is None
    assert active_rate(Part.CPU, found) is None
