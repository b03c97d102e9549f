"""Outliers, input lag, active times and columns: their numbers and words on a few frames."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from msgspec import Struct

from inspector.analysis.statistics import comparison
from inspector.analysis.statistics import runs as runs_compared
from inspector.analysis.statistics.active_times import (
    Bound,
    Part,
    active_low,
    active_rate_quantile,
    active_times,
    input_lag,
)
from inspector.analysis.statistics.column_summary import summary_of
from inspector.analysis.statistics.compared_calls import CallChange, CallSamples, SessionCalls
from inspector.analysis.statistics.compared_columns import RunColumn, column_changes
from inspector.analysis.statistics.comparison import Change, Comparison
from inspector.analysis.statistics.long_frames import LongFrameCause
from inspector.analysis.statistics.metrics import METRICS, MetricValue
from inspector.analysis.statistics.outliers import Outliers, without_outliers
from inspector.analysis.statistics.pyramid import Stretches
from inspector.analysis.statistics.runs import ComparedRun, RunDifference, differences
from inspector.analysis.statistics.time_series import FrameFacts, StutterLimits, TimeSeries
from inspector.errors import CaptureError

MS = 1_000_000
BY_ID = {each.id: each for each in METRICS}


def test_that_outliers_are_told_by_their_stretches() -> None:
    several = Outliers(12.3456, np.array([3, 4, 5, 9, 11, 12, 1_400]))
    none, one = Outliers(9.0, np.zeros(0, dtype=np.int64)), Outliers(9.0, np.array([0]))
    many = Outliers(9.0, np.arange(0, 24, 2))

    assert several.ranges == [(3, 5), (9, 9), (11, 12), (1_400, 1_400)]
    assert several.ranges_text == "Frames 3–5, 9, 11–12 and 1,400"
    assert several.text.startswith("7 outliers are left out, from 12.35 ms on (")
    assert (none.ranges, none.ranges_text) == ([], "")
    assert none.text == "no outlier: no frame is longer than the others"
    assert one.text.startswith("1 outlier is left out, from 9 ms on (")
    assert many.ranges_text == "Frames 0, 2, 4, 6, 8, 10, 12, 14, 16, 18 and 2 more"


def test_that_the_longest_thousandth_is_left_out_unless_that_is_all() -> None:
    times = np.array([10.0] * 1_500 + [20.0, 30.0])
    facts = FrameFacts(causes=np.arange(1_502))
    limits = StutterLimits(3.0, 20.0)

    fewer, left_out = without_outliers(TimeSeries(times, 16.0, facts, stutter=limits))
    same, nothing = without_outliers(TimeSeries(np.full(5, 10.0)))

    assert left_out.places.tolist() == [1_501]
    assert len(fewer) == 1_501
    assert fewer.facts.causes is not None
    assert fewer.facts.causes.max() == 1_500
    assert (fewer.refresh_ms, fewer.stutter) == (16.0, limits)
    assert (len(same), len(nothing.places), nothing.limit_ms) == (5, 0, 10.0)
    _, half = without_outliers(TimeSeries(np.array([10.0] * 4 + [20.0] * 4)))
    assert half.places.tolist() == [4, 5, 6, 7]


def test_that_input_lag_does_not_reach_from_run_to_run() -> None:
    times = np.array([10.0, 11.0, 12.0, 20.0, 21.0, 22.0])
    until, present = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), np.arange(6) / 10
    columns = [None, None, until, present, None]

    def found(runs: list[int] | None, flags: list[int] | None = None) -> TimeSeries:
        read = [*columns[:4], None if flags is None else np.array(flags)]
        given = None if runs is None else np.array(runs)
        return TimeSeries(times, None, FrameFacts(columns=lambda _names: read, runs=given))

    assert input_lag(Bound.LOWER, found([0, 0, 0, 1, 1, 1])) == (3.0 + 6.0) / 2
    assert input_lag(Bound.LOWER, found(None)) == (3.0 + 4 + 5 + 6) / 4
    upper = [11.0 - 0.0 + 12 + 3, 21.0 - 0.3 + 22 + 6]
    assert input_lag(Bound.UPPER, found([0, 0, 0, 1, 1, 1])) == pytest.approx(sum(upper) / 2)
    assert input_lag(Bound.EXPECTED, found([0, 0, 0, 1, 1, 1])) == pytest.approx(
        (sum(upper) + 9) / 4
    )
    # A frame that was dropped adds its time to the next that is displayed.
    dropped = found(None, [0, 0, 1, 0, 1, 1])
    assert input_lag(Bound.LOWER, dropped) == 4.0
    assert input_lag(Bound.UPPER, dropped) == pytest.approx(11.0 - 0.0 + 12 + 20 + 4)
    assert input_lag(Bound.UPPER, found([0, 1, 2, 3, 4, 5])) is None


def test_that_statistics_of_active_times_are_of_those_that_are_known() -> None:
    busy = np.array([5.0, np.nan, 0.0, 10.0, -3.0, 20.0, 0.5])
    found = TimeSeries(np.full(7, 30.0), facts=FrameFacts(columns=lambda _names: [None, busy, *()]))

    assert active_times(Part.GPU, found) is None
    times = active_times(Part.CPU, found)
    assert times is not None
    assert times.tolist() == [0.0, 0.5, 5.0, 10.0, 20.0]
    # Type 8: places (5 + 1/3) q + 1/3, 3 and 3.53, among 50, 100, 200, 2,000 and ∞ per second.
    assert active_rate_quantile(Part.CPU, 0.5, found) == pytest.approx(200)
    assert active_rate_quantile(Part.CPU, 0.6, found) == pytest.approx(1_160)
    assert active_rate_quantile(Part.CPU, 0.01, found) == 50
    assert active_rate_quantile(Part.CPU, 0.99, found) is None
    assert active_low(Part.CPU, 0.01, found) == 50
    assert active_low(Part.CPU, 0.5, found) == pytest.approx(1000 / (35 / 3))
    assert active_rate_quantile(Part.GPU, 0.5, found) is None
    assert active_low(Part.GPU, 0.5, found) is None


def test_that_a_column_is_told_as_a_whole_and_by_class() -> None:
    values, lasts_ns = np.array([10.0, 20.0, 1_234.5]), np.array([1, 1, 2]) * 1_000_000_000

    power = summary_of("Power(W)", "W", values, lasts_ns)
    load = summary_of("Load", "", values, lasts_ns, are_frames=False)

    assert power is not None
    assert load is not None
    assert power.mean_text() == "mean 624.8 W, by time, 0.0012 frames per joule"
    assert load.mean_text() == "mean 624.8, by time"
    assert [*power.lines()] == [
        "Power(W): mean 624.8 W, P5 11, median 20, P95 1,113",
        "    frames up to P50: mean 15 W, P5 10.5, median 15, P95 19.5",
        "    frames P50 to P95: mean 1,234 W, P5 1,234, median 1,234, P95 1,234",
    ]
    assert [*load.lines()] == ["Load: mean 624.8, P5 11, median 20, P95 1,113"]
    assert power.as_json()["classes"][0]["count"] == 2


def column(name: str, unit: str, *values: float, are_frames: bool = True) -> RunColumn:
    lasts_ms = np.arange(1.0, len(values) + 1)
    return RunColumn.of(name, unit, np.array(values), lasts_ms, are_frames=are_frames)


def test_that_columns_that_all_runs_have_are_compared_by_their_unit() -> None:
    before = [
        column("GPU", "%", 10, 20, 30, 40),
        column("Power", "mW", 1_000, 1_000, 2_000, np.nan),
        column("Wait", "ms", 1, 3, 5, 7),
        column("Gone", "%", 1, 1, 1, 1),
        column("Empty", "%", 1, 1, 1, 1),
    ]
    after = [
        column("Wait", "ms", 2, 6, 10, 14),
        column("GPU", "%", 20, 40, 60, 80),
        column("Power", "mW", 500, 500, 1_000, np.nan),
        column("Empty", "%", np.nan, np.nan, np.nan, np.nan),
    ]
    done: list[float] = []

    found = column_changes([before], [after], done.append, 1)

    assert done == pytest.approx([0, 1 / 3, 2 / 3])
    assert [
        (each.subject, each.what, each.unit, each.change.before, each.change.after)
        for each in found
        if ", frames" not in each.what
    ] == [
        ("GPU", "Mean by time", "%", 30, 60),
        ("GPU", "P95", "%", 38.5, pytest.approx(77)),
        ("Power", "Mean by time", "mW", 1_500, 750),
        ("Power", "P95", "mW", 1_900, 950),
        ("Power", "Frames per joule", "", pytest.approx(3 / 0.009), pytest.approx(3 / 0.0045)),
        ("Wait", "Mean", "ms", 4, 8),
        ("Wait", "P95", "ms", pytest.approx(6.7), pytest.approx(13.4)),
    ]
    classes = {(each.subject, each.what): each.change for each in found if ", frames" in each.what}
    of_class = classes["GPU", "Mean by time, frames up to P50"]
    assert of_class.before == pytest.approx(50 / 3)
    assert of_class.after == pytest.approx(100 / 3)
    assert of_class.share == pytest.approx(1)
    assert (of_class.low, of_class.high, of_class.why_not) == (None, None, "not tested")
    assert ("Power", "Mean by time, frames P95 to P99") not in classes
    of_power = [each.change for each in found if each.what == "Frames per joule"]
    assert of_power[0].is_more_better is True
    few = column("Power", "W", 1, 2, are_frames=False)
    titles = {each.what for each in column_changes([[few]], [[few]], done.append, 1)}
    assert titles == {"Mean by time", "P95"}
    nothing, some = column("Load", "%", 0, 0, 0, 0), column("Load", "%", 1, 1, 1, 1)
    from_nothing = column_changes([[nothing]], [[some]], done.append, 1)
    assert {(each.change.before, each.change.share) for each in from_nothing} == {(0, None)}
    to_nothing = column_changes([[some]], [[nothing]], done.append, 1)
    assert {each.change.share for each in to_nothing} == {-1}


def run(name: str, mean_ms: float, count: int = 60, seed: int = 1) -> ComparedRun:
    times = np.random.RandomState(seed).normal(mean_ms, 0.01, count)
    return ComparedRun(name, (times * MS).astype(np.int64))


def test_that_a_run_without_frames_is_refused_by_name() -> None:
    with pytest.raises(CaptureError, match=r"a\.csv has no frames\. Choose another one"):
        ComparedRun("a.csv", np.zeros(0, dtype=np.int64))


def test_that_runs_of_a_version_are_one_with_what_is_known_of_each() -> None:
    runs = [run("one", 10), run("two", 10.2, seed=2), run("three", 10.31, seed=3)]
    far = ComparedRun("far", run("far", 14, seed=4).times_ns, missing="Half is missing.")

    kept = ComparedRun.pooled("all", [*runs, far])
    fewer = ComparedRun.pooled("some", [*runs, far], without_outliers=True)

    assert [each.name for each in kept.runs] == ["one", "two", "three", "far"]
    assert (kept.missing, kept.left_out) == ("far: Half is missing.", ())
    assert [*kept.outliers] == ["far"]
    assert kept.outliers["far"] == pytest.approx(10.255 / 14 - 1, abs=0.002)
    assert [each.name for each in fewer.runs] == ["one", "two", "three"]
    assert [each.name for each in fewer.left_out] == ["far"]
    assert (fewer.missing, fewer.outliers) == ("", {})
    assert len(fewer.times_ns) == 180
    assert ComparedRun.pooled("two", [runs[0], far]).outliers == {}
    sampled = ComparedRun(
        "samples", far.times_ns, samples="Only samples.", sampled_ns=far.times_ns * 10
    )
    mixed = ComparedRun.pooled("mixed", [*runs, sampled])
    assert (mixed.samples, mixed.outliers) == ("Only samples.", {})
    assert mixed.lasts_ns.tolist() == [
        *np.concatenate([each.times_ns for each in runs]),
        *far.times_ns * 10,
    ]
    assert mixed.ends_ns[-1] == mixed.lasts_ns.sum()
    assert mixed.series.sampled_ms == mixed.lasts_ns.sum() / MS
    assert kept.series.sampled_ms is None


def difference(
    before: ComparedRun, after: ComparedRun, overlap: str = "", damage: str = ""
) -> RunDifference:
    nothing = Comparison((), frozenset(), "")
    return RunDifference(before, after, nothing, (), overlap=overlap, damage=damage)


def test_that_what_to_bear_in_mind_is_said_of_runs_and_versions() -> None:
    runs = [run("one", 10), run("two", 10.2, seed=2), run("three", 14, seed=3)]
    versions = ComparedRun.pooled("all", runs)
    fewer = ComparedRun.pooled("some", runs, without_outliers=True)
    samples = ComparedRun("samples", runs[0].times_ns, samples="Only samples.")

    of_runs = difference(runs[0], samples, overlap="They overlap.", damage="It is damaged.")
    of_versions = difference(versions, fewer)

    about, *others = of_runs.remarks
    assert about.startswith("This is about these runs, not about versions of a program: ")
    assert tuple(others) == (
        "Only samples. Only what samples allow is compared.",
        "They overlap.",
        "It is damaged.",
    )
    assert not difference(versions, runs[0]).is_of_versions
    about, outlier, left_out = of_versions.remarks
    assert about.startswith("This is about the versions, by 3 and 2 runs: ")
    assert outlier.startswith("three is an outlier: its average is -27.")
    assert outlier.endswith(" from the median of “all”, and counts all the same.")
    assert left_out.startswith("Left out as outliers: three. What is left differs less than runs")


@pytest.mark.parametrize(("variety", "is_part"), [(15, False), (16, True)])
def test_that_frames_of_enough_different_times_are_recognised_in_another_run(
    variety: int, *, is_part: bool
) -> None:
    times_ns = np.arange(1_000, 1_000 + variety)
    part = ComparedRun("part", times_ns)
    whole = ComparedRun("whole", np.concatenate(([7, 7], times_ns, [9])))
    # The same bytes, but not at the beginning of a number.
    shifted = ComparedRun(
        "shifted", np.frombuffer(b"\0" * 3 + times_ns.tobytes() + b"\0" * 5, dtype=np.int64) + 0
    )

    (found,) = differences([part, whole])

    said = f"All {variety} frames of “part” are in “whole” too, so the two are not independent, "
    assert found.overlap.startswith(said) == is_part
    assert bool(found.overlap) == is_part
    assert differences([part, shifted])[0].overlap == ""


@pytest.mark.parametrize(
    ("with_columns", "shares"),
    [(False, [0.4, 0.8, 0.9]), (True, [0.2, 0.4, 0.4 + 0.4 / 2, 0.8, 0.9])],
)
def test_that_a_comparison_says_how_much_of_it_is_done(
    monkeypatch: pytest.MonkeyPatch, *, with_columns: bool, shares: list[float]
) -> None:
    def half(*_runs: object, on_progress: Callable[[float], None], **_how: object) -> Comparison:
        on_progress(0.5)
        return Comparison((), frozenset(), "")

    monkeypatch.setattr(runs_compared, "comparison", half)
    done: list[float] = []
    calls = SessionCalls({("root", ""): CallSamples(), ("root", "wave"): CallSamples()}, 1.0)
    columns = [column("GPU", "%", 1, 2), column("CPU", "%", 3, 4)]
    runs = [ComparedRun(name, np.array([MS, MS]), calls, columns=lambda: columns) for name in "abc"]

    differences(runs, done.append, with_columns=with_columns)

    both = [*shares, *(1 + each for each in shares)]
    assert done == pytest.approx([each / 2 for each in both])


def test_that_the_longest_frames_that_add_up_to_a_share_of_the_time_are_a_low() -> None:
    series = TimeSeries(np.array([11.0, 12.0, 13.0, *[10.0] * 997]))

    # A hundredth of 10,006 ms: 13, 12, 11 and seven of 10; a thousandth is less than 13.
    assert BY_ID["capframex.integral-1"].compute(series) == 100
    assert BY_ID["capframex.integral-0.1"].compute(series) == pytest.approx(1000 / 13)


def test_that_a_call_is_called_by_its_clock_and_its_name() -> None:
    change = Change(1.0, 1.0, 0.0, None, None, "few", is_more_better=None)

    assert CallChange("root › game", "wave", "Calls", "per s", change).subject == (
        "root › game: wave"
    )
    assert CallChange("root › game", "", "Calls", "per s", change).subject == "root › game"


@pytest.mark.parametrize(
    "kind", [comparison._Estimate, comparison._Pair, Outliers, RunColumn, RunDifference, Stretches]
)
def test_that_values_with_arrays_are_compared_by_identity(kind: type[Struct]) -> None:
    one, other = (kind(*[None] * len(kind.__struct_fields__)) for _ in range(2))

    assert one != other
    assert {one, one, other} == {other, one}


def test_that_causes_of_long_frames_have_a_title() -> None:
    titles = {each.title for each in LongFrameCause}

    assert {"Long by timer callbacks", "Long, cause unknown"} <= titles


@pytest.mark.parametrize(
    ("name", "value", "text", "exact"),
    [
        ("fps", 60.123, "60.1 fps", "60.12 fps"),
        ("fps", 1_234.56, "1,235 fps", "1,234.56 fps"),
        ("p99", 9.994, "9.99 ms", "9.99 ms"),
        ("android.slow", 1_234.0, "1,234", "1,234"),
        ("p99", None, "-", "-"),
    ],
)
def test_that_a_value_has_as_many_digits_as_are_significant(
    name: str, value: float | None, text: str, exact: str
) -> None:
    found = MetricValue(BY_ID[name], value)

    assert (found.text, found.exact_text) == (text, exact)
