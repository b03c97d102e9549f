"""From frames to rectangles: nothing slow is ever missing or cut off without a mark."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from inspector.events.frame_history import FrameHistory
from inspector.formats.arrangement.fills import Fill, PhaseFill, Severity, SeverityFill, Tone
from inspector.formats.arrangement.frame_bars import (
    CAPTURE_BUDGETS,
    Bars,
    BarScale,
    Spikes,
    frame_bars,
    newest_frame_bars,
    scale_ticks,
    severities_of,
    stacked_bars,
    top_of_scale_ns,
)
from inspector.formats.arrangement.frame_labels import spike_labels
from inspector.formats.arrangement.frame_series import FrameSeries, Window, XAxis
from inspector.vocabulary import Phase
from tests.ui.plotting.frames import MS, USUAL_NS, add_frame, timeline_of, usual_timeline

BUDGET_NS = 16_666_667
SCALE = BarScale(height=300, top_ns=30 * MS, budget_ns=BUDGET_NS)


def highest_pixels(bars: Bars, width: int) -> np.ndarray:
    """Return the uppermost pixel that is filled in each column of pixels."""
    tops = np.full(width, SCALE.height)
    for _, rects in bars.layers:
        for left, top, right, _ in rects.tolist():
            tops[left : right + 1] = np.minimum(tops[left : right + 1], top)
    return tops


@given(st.integers(1, 6_000), st.integers(0, 10**6), st.integers(20, 400))
def test_that_each_column_reaches_as_high_as_its_slowest_frame(
    count: int, seed: int, width: int
) -> None:
    random = np.random.default_rng(seed)
    series = FrameSeries(timeline_of(random.integers(1, 60 * MS, count)).frames)
    columns = series.columns(Window(-0.5, count - 0.5, width))

    bars = frame_bars(series, "interval", columns, SCALE)

    maxima = series.stretches("interval", columns).maxima
    tops = highest_pixels(bars, width)
    for left, maximum in zip(columns.lefts.tolist(), maxima.tolist(), strict=True):
        shown = min(maximum, SCALE.top_ns)
        assert tops[left] <= SCALE.height - np.floor(shown * SCALE.height / SCALE.top_ns)
    assert sorted(bars.spikes.times_ns) == sorted(maxima[maxima > SCALE.top_ns])


@given(
    st.lists(st.tuples(st.integers(0, 60 * MS), st.integers(0, 30 * MS)), min_size=1, max_size=8),
    st.integers(5, 60),
    st.sampled_from(XAxis),
)
@example([(2 * SCALE.top_ns, 0)], 5, XAxis.TIME)
def test_that_the_newest_frames_have_the_bars_they_have_among_all(
    frames: list[tuple[int, int]], width: int, axis: XAxis
) -> None:
    history = FrameHistory()
    for interval_ns, inspector_ns in frames:
        add_frame(history, interval_ns, inspector_ns=min(inspector_ns, interval_ns))
    series = FrameSeries(history, axis)
    low, high = series.bounds()
    window = Window(low, high, max(width, len(frames)))
    newest = series.newest_bars(series.first, window) or ()
    assume(newest)

    few = newest_frame_bars(series, "interval", newest, SCALE)
    all_ = frame_bars(series, "interval", series.columns(window), SCALE)

    assert [(fill, rects.tolist()) for fill, rects in few.layers] == [
        (fill, rects.tolist()) for fill, rects in all_.layers
    ]
    assert few.spikes.is_same(all_.spikes)


def test_that_a_column_of_many_frames_shows_their_mean_in_the_colour_of_their_slowest() -> None:
    intervals = [10 * MS] * 99 + [20 * MS]
    series = FrameSeries(timeline_of(intervals).frames)
    columns = series.columns(Window(-0.5, 99.5, 1))

    bars = frame_bars(series, "interval", columns, SCALE)

    layers = dict(bars.layers)
    # Mean 10.1 ms is 101 of 300 pixels, the slowest 200.
    assert layers[SeverityFill(Severity.OVER, Tone.STRONG)].tolist() == [[0, 199, 0, 299]]
    assert layers[SeverityFill(Severity.OVER, Tone.FAINT)].tolist() == [[0, 100, 0, 198]]
    assert layers[SeverityFill(Severity.OVER, Tone.CAP)].tolist() == [[0, 100, 0, 100]]


def test_that_a_single_frame_is_one_bar_with_a_gap_where_it_is_wide() -> None:
    series = FrameSeries(timeline_of([10 * MS, 15 * MS]).frames)
    columns = series.columns(Window(-0.5, 1.5, 20))

    bars = frame_bars(series, "interval", columns, SCALE)

    assert dict(bars.layers)[SeverityFill(Severity.IN_BUDGET, Tone.STRONG)].tolist() == [
        [0, 200, 8, 299],
        [10, 150, 18, 299],
    ]


@pytest.mark.parametrize("axis", list(XAxis))
@pytest.mark.parametrize("count", [6, 60])
@pytest.mark.parametrize(("pixels", "gap"), [(3.2, 0), (3.8, 0), (4, 1), (4.2, 1), (5.5, 1)])
def test_that_all_bars_of_equal_frames_have_a_gap_or_none(
    axis: XAxis, count: int, pixels: float, gap: int
) -> None:
    # Times are rounded to nanoseconds, as those of 60 frames a second.
    series = FrameSeries(timeline_of([10 * MS - 1, 10 * MS + 1] * (count // 2)).frames, axis)
    low, high = series.bounds()
    columns = series.columns(Window(low, high, round(count * pixels)))

    bars = frame_bars(series, "interval", columns, SCALE)

    rects = dict(bars.layers)[SeverityFill(Severity.IN_BUDGET, Tone.STRONG)].tolist()
    between = {right[0] - left[2] - 1 for left, right in pairwise(rects)}
    assert len(rects) == count
    assert between == {gap}


def test_that_frames_beyond_the_plot_are_told_of() -> None:
    series = FrameSeries(timeline_of([10 * MS, 40 * MS, 29 * MS]).frames)
    columns = series.columns(Window(-0.5, 2.5, 3))

    bars = frame_bars(series, "interval", columns, SCALE)

    assert bars.spikes.places.tolist() == [1]
    assert bars.spikes.times_ns.tolist() == [40 * MS]


@pytest.mark.parametrize(
    ("edges", "left", "is_lower"),
    [
        ((40, 46), 51, False),
        ((40, 140), 70, True),
        ((260, 280), 215, False),
        ((-100, 100), 30, True),
        ((-100, 20), 25, False),
        ((200, 500), 230, True),
    ],
)
def test_that_a_value_is_in_the_plot_and_covers_no_edge_of_its_bar(
    edges: tuple[int, int], left: float, is_lower: bool
) -> None:
    lefts, rights = (np.array([edge]) for edge in edges)
    spikes = Spikes.among(lefts, rights, np.array([380 * MS]))

    (label,) = spike_labels(spikes, 0, 300, 1, lambda _text: 36, lambda _begin, _end: True)

    assert (label.left, label.width) == (left, 40)
    assert (label.top > 10) is is_lower


def test_that_a_value_covers_no_other_bar() -> None:
    lefts, rights = np.array([100, 170]), np.array([110, 180])
    spikes = Spikes.among(lefts, rights, np.array([380 * MS, 190 * MS]))

    def labels(free: tuple[float, float]) -> list[tuple[float, str]]:
        def is_free(begin: float, end: float) -> bool:
            return free[0] <= begin and end <= free[1]

        found = spike_labels(spikes, 0, 300, 1, lambda _text: 36, is_free)
        return [(label.left, label.text) for label in found]

    assert labels((0, 300)) == [(115, "380 ms"), (185, "190 ms")]
    assert labels((0, 100)) == [(55, "380 ms")]
    assert labels((180, 300)) == [(185, "190 ms")]
    assert labels((0, 0)) == []


@pytest.mark.parametrize("count", [2, 12])
def test_that_a_wide_bar_over_twice_the_budget_is_tinted_with_an_edge(count: int) -> None:
    frames = [40 * MS, *[10 * MS] * (count - 1)]
    series = FrameSeries(timeline_of(frames).frames)
    columns = series.columns(Window(-0.5, count - 0.5, 100 * count))

    layers = frame_bars(series, "interval", columns, SCALE).layers

    assert dict(layers)[SeverityFill(Severity.OVER_TWICE, Tone.TINT)].tolist() == [[0, 0, 98, 299]]
    strong = SeverityFill(Severity.OVER_TWICE, Tone.STRONG)
    (edge,), teeth = (rects.tolist() for fill, rects in layers if fill == strong)
    assert edge == [0, 0, 2, 299]
    # The zigzag where it is cut off, in its whole width.
    assert [tooth[0] for tooth in teeth] == list(range(99))
    assert {tooth[1] for tooth in teeth} == set(range(5))


def test_that_the_inspectors_share_has_an_edge_where_it_is_wide() -> None:
    series = inspected((16, 3), (16, 0))

    wide = series.columns(Window(-0.5, 1.5, 20))
    edges = dict(frame_bars(series, "interval", wide, SCALE).layers)[Fill.INSPECTOR_EDGE]
    assert sorted(edges.tolist()) == [
        *([0, 140, 0, 169], [0, 140, 8, 140], [0, 169, 8, 169], [8, 140, 8, 169]),
    ]
    narrow = series.columns(Window(-0.5, 1.5, 2))
    edges = dict(frame_bars(series, "interval", narrow, SCALE).layers)[Fill.INSPECTOR_EDGE]
    assert edges.tolist() == [[0, 140, 0, 140]]


def test_that_stacked_phases_are_those_of_the_slowest_frame_of_a_column() -> None:
    # 10 ms busy-less frames, and one of 8 ms: 2 ms update, 1 ms draw, 1 ms other, 4 ms waiting.
    timeline = timeline_of([2 * MS] * 31 + [8 * MS])
    series = FrameSeries(timeline.frames)
    columns = series.columns(Window(-0.5, 31.5, 1))

    bars = stacked_bars(series, "interval", columns, BarScale(80, 8 * MS, BUDGET_NS))

    layers = {fill: rects.tolist() for fill, rects in bars.layers}
    assert layers == {
        PhaseFill(Phase.UPDATE): [[0, 60, 0, 79]],
        PhaseFill(Phase.DRAW): [[0, 50, 0, 59]],
        PhaseFill(None): [[0, 40, 0, 49]],
        Fill.WAITING: [[0, 0, 0, 39]],
        Fill.OUTLINE: [[0, 0, 0, 0]],
    }


def test_that_busy_time_has_no_waiting() -> None:
    series = FrameSeries(usual_timeline(50).frames)
    columns = series.columns(Window(-0.5, 49.5, 100))

    bars = stacked_bars(series, "busy", columns, SCALE)

    assert {Fill.WAITING, Fill.OUTLINE}.isdisjoint(dict(bars.layers))


@pytest.mark.parametrize(
    ("time_ns", "severity"),
    [
        (0, Severity.IN_BUDGET),
        # With the tolerance of fifteen per cent.
        (23 * MS, Severity.IN_BUDGET),
        (23 * MS + 1, Severity.OVER),
        (43 * MS, Severity.OVER),
        (43 * MS + 1, Severity.OVER_TWICE),
    ],
)
def test_that_severity_is_by_multiples_of_the_budget(time_ns: int, severity: Severity) -> None:
    assert severities_of(np.array([time_ns]), 20 * MS)[0] == severity


def test_that_a_scene_that_holds_its_rate_on_a_millisecond_timer_shows_no_late_bar() -> None:
    jitter_ns = [0, MS, -MS, 2 * MS, -2 * MS]
    times = [BUDGET_NS + jitter_ns[number % len(jitter_ns)] for number in range(300)]
    series = FrameSeries(timeline_of(times).frames)

    for pixels in (300, 60):
        columns = series.columns(Window(-0.5, 299.5, pixels))
        bars = frame_bars(series, "interval", columns, BarScale(80, 40 * MS, BUDGET_NS))

        severities = {fill.severity for fill, _ in bars.layers if isinstance(fill, SeverityFill)}
        assert severities == {Severity.IN_BUDGET}


def test_that_a_few_spikes_do_not_flatten_the_scale() -> None:
    sample = np.full(1_000, USUAL_NS)
    sample[:9] = 900 * MS

    assert top_of_scale_ns(sample, BUDGET_NS, 0) == 3 * BUDGET_NS


@pytest.mark.parametrize("count", [15, 40, 100, 299])
def test_that_one_spike_in_a_short_session_does_not_flatten_the_scale(count: int) -> None:
    sample = np.full(count, USUAL_NS)
    sample[count // 2] = 900 * MS

    assert top_of_scale_ns(sample, BUDGET_NS, 0) == 3 * BUDGET_NS


def test_that_the_scale_is_a_multiple_of_the_budget_unless_frames_are_far_below_it() -> None:
    def top_ns(time_ns: int, least: int = 3) -> int:
        return top_of_scale_ns(np.full(500, time_ns), BUDGET_NS, 0, least)

    assert top_ns(4 * MS) == top_ns(MS) == top_ns(0) == 3 * BUDGET_NS
    assert top_ns(8 * MS, CAPTURE_BUDGETS) == BUDGET_NS
    assert top_ns(15 * MS, CAPTURE_BUDGETS) == 2 * BUDGET_NS
    assert (top_ns(50 * MS), top_ns(300 * MS)) == (5 * BUDGET_NS, 30 * BUDGET_NS)
    assert top_ns(MS // 2) == MS
    assert top_of_scale_ns(np.zeros(0, dtype=np.int64), BUDGET_NS, 0) == 3 * BUDGET_NS


def test_that_the_scale_does_not_tremble() -> None:
    former_ns = 5 * BUDGET_NS
    assert top_of_scale_ns(np.full(500, 60 * MS), BUDGET_NS, former_ns) == former_ns
    assert top_of_scale_ns(np.full(500, 40 * MS), BUDGET_NS, former_ns) == former_ns
    # Too small now, and far too large.
    assert top_of_scale_ns(np.full(500, 90 * MS), BUDGET_NS, former_ns) == 8 * BUDGET_NS
    assert top_of_scale_ns(np.full(500, 16 * MS), BUDGET_NS, former_ns) == 3 * BUDGET_NS


def test_that_the_scale_has_ticks_at_multiples_of_the_budget() -> None:
    def labels(budgets: float, height: int = 300) -> list[str]:
        ticks = scale_ticks(round(budgets * BUDGET_NS), BUDGET_NS, height)
        return [tick.label for tick in ticks.ticks]

    assert labels(3) == ["0", "16.7", "33.3", "50"]
    assert labels(2) == ["0", "8.33", "16.7", "25", "33.3"]
    assert labels(12) == ["0", "50", "100", "150", "200"]
    assert labels(30) == ["0", "167", "333", "500"]
    # Scaled by hand.
    assert labels(2.7, 100) == ["0", "20", "40"]


def test_that_a_bar_beyond_the_plot_is_cut_off_by_a_gap() -> None:
    series = FrameSeries(timeline_of([10 * MS, 40 * MS, *[10 * MS] * 8]).frames)
    columns = series.columns(Window(-0.5, 9.5, 100))

    bars = frame_bars(series, "interval", columns, SCALE)

    cut = dict(bars.layers)[Fill.CUT]
    assert [int(cut[:, 0].min()), int(cut[:, 0].max())] == [10, 18]
    assert cut[:, 1].min() > 0
    assert len(set(cut[:, 1].tolist())) > 3


@pytest.mark.parametrize("count", [2, 12])
def test_that_a_wide_bar_in_budget_has_no_red_where_it_is_cut_off(count: int) -> None:
    series = FrameSeries(timeline_of([10 * MS, 4 * MS, *[MS] * (count - 2)]).frames)
    columns = series.columns(Window(-0.5, count - 0.5, 100 * count))

    layers = frame_bars(series, "interval", columns, BarScale(300, 5 * MS, BUDGET_NS)).layers

    assert {fill for fill, _ in layers} == {SeverityFill(Severity.IN_BUDGET, Tone.STRONG), Fill.CUT}


def inspected(*frames_ms: tuple[int, int]) -> FrameSeries:
    """Return frames by their interval and the inspector's share of it."""
    history = FrameHistory()
    for interval_ms, inspector_ms in frames_ms:
        add_frame(history, interval_ms * MS, inspector_ns=inspector_ms * MS)
    return FrameSeries(history)


def test_that_the_inspectors_share_is_the_empty_top_of_a_bar() -> None:
    series = inspected((16, 3), (25, 12), (25, 2))
    columns = series.columns(Window(-0.5, 2.5, 3))

    layers = dict(frame_bars(series, "interval", columns, SCALE).layers)

    # The second frame would be within its budget without the inspector.
    assert layers[SeverityFill(Severity.IN_BUDGET, Tone.STRONG)].tolist() == [
        [0, 140, 0, 299],
        [1, 50, 1, 299],
    ]
    assert layers[SeverityFill(Severity.OVER, Tone.STRONG)].tolist() == [[2, 50, 2, 299]]
    shares = layers[Fill.INSPECTOR].tolist()
    assert shares == [[0, 140, 0, 169], [1, 50, 1, 169], [2, 50, 2, 69]]


def test_that_a_column_whose_slowest_frame_is_the_inspectors_is_neutral() -> None:
    series = inspected((10, 0), (25, 12))
    columns = series.columns(Window(-0.5, 1.5, 1))

    layers = dict(frame_bars(series, "interval", columns, SCALE).layers)

    assert SeverityFill(Severity.IN_BUDGET, Tone.CAP) in layers
    assert SeverityFill(Severity.OVER, Tone.CAP) not in layers
    assert Fill.INSPECTOR not in layers


def test_that_a_column_of_frames_that_only_the_inspector_made_long_is_neutral() -> None:
    series = inspected(*[(25, 12), (28, 14)] * 20)
    columns = series.columns(Window(-0.5, 39.5, 20))

    bars = frame_bars(series, "interval", columns, SCALE)

    severities = {fill.severity for fill, _ in bars.layers if isinstance(fill, SeverityFill)}
    assert severities == {Severity.IN_BUDGET}


def test_that_only_the_interval_has_a_share_of_the_inspector() -> None:
    series = inspected((25, 12))
    columns = series.columns(Window(-0.5, 0.5, 1))

    for measure in ("busy", "delta"):
        assert Fill.INSPECTOR not in dict(frame_bars(series, measure, columns, SCALE).layers)
    assert Fill.INSPECTOR in dict(stacked_bars(series, "interval", columns, SCALE).layers)
