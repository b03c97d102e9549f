"""Which frames are where on the axis, and which share a column of pixels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.events.frame_history import FrameHistory
from inspector.formats.arrangement.frame_series import FrameColumns, FrameSeries, Window, XAxis
from inspector.vocabulary import Measure, Phase
from tests.ui.plotting.frames import MS, add_frame, timeline_of, usual_timeline

AXES = st.sampled_from(list(XAxis))


@st.composite
def some_series(draw: st.DrawFn) -> FrameSeries:
    count = draw(st.one_of(st.integers(1, 40), st.integers(41, 3_000)))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    intervals = random.choice([1, 1_000, 4 * MS, 16 * MS, 300 * MS], count)
    return FrameSeries(timeline_of(intervals).frames, draw(AXES))


@given(some_series(), st.data())
def test_that_every_frame_in_view_is_in_exactly_one_column(
    series: FrameSeries, data: st.DataObject
) -> None:
    first, last = series.bounds()
    low = first + data.draw(st.floats(-0.2, 0.9)) * (last - first)
    high = low + data.draw(st.floats(0.01, 1.4)) * (last - first)
    width = data.draw(st.integers(1, 1_500))

    columns = series.columns(Window(low, high, width))

    start, stop = series.frames_within(low, high)
    if start >= stop:
        assert len(columns) == 0
        return
    assert columns.edges[0] == start
    assert columns.edges[-1] == stop
    assert (np.diff(columns.edges) > 0).all()
    assert len(columns) <= width + 2
    assert (columns.lefts >= 0).all()
    assert (columns.rights <= width).all()
    assert (columns.rights > columns.lefts).all()
    assert (np.diff(columns.lefts) >= 0).all()


@given(st.lists(st.integers(1, 5), min_size=1, max_size=80), st.integers(1, 30), st.data())
def test_that_the_longest_time_in_a_view_that_follows_is_that_of_all_its_frames(
    intervals: list[int], shown: int, data: st.DataObject
) -> None:
    history = FrameHistory()
    series = FrameSeries(history)
    times = [each * MS for each in intervals]

    for each in times:
        add_frame(history, each)
        if data.draw(st.booleans()):
            continue
        series.read_new_frames()
        start = max(series.end - shown, 0)
        found = series.longest_ns("interval", start, series.end)
        assert found == max(times[start : series.end])


@given(some_series(), st.data())
def test_that_the_maximum_of_the_columns_is_that_of_the_frames_in_view(
    series: FrameSeries, data: st.DataObject
) -> None:
    first, last = series.bounds()
    low = first + data.draw(st.floats(0, 0.9)) * (last - first)
    high = low + data.draw(st.floats(0.01, 1.4)) * (last - first)
    columns = series.columns(Window(low, high, data.draw(st.integers(1, 200))))
    start, stop = series.frames_within(low, high)

    if start < stop:
        values = series.times_ns("interval", start, stop)
        found = series.stretches("interval", columns)
        assert found.maxima.max() == values.max()
        assert found.sums.sum() == values.sum()
        slowest = series.slowest("interval", columns)
        assert (series.values_of("interval_ns", slowest) == found.maxima).all()


@given(some_series(), st.data())
def test_that_what_is_read_at_a_frame_is_the_column_that_is_drawn_there(
    series: FrameSeries, data: st.DataObject
) -> None:
    first, last = series.bounds()
    low, high = first, last
    width = data.draw(st.integers(1, 1_000))
    columns = series.columns(Window(low, high, width))
    frame = data.draw(st.integers(series.first, series.end - 1))

    found = series.frames_sharing(frame, Window(low, high, width))

    edges = columns.edges.tolist()
    assert found in list(pairwise(edges))


@given(some_series(), st.data())
def test_that_the_columns_of_a_part_are_those_of_the_whole(
    series: FrameSeries, data: st.DataObject
) -> None:
    first, last = series.bounds()
    low = first + data.draw(st.floats(-0.2, 0.9)) * (last - first)
    window = Window(low, low + (last - first), data.draw(st.integers(1, 900)))
    start = data.draw(st.integers(0, window.width - 1))
    stop = data.draw(st.integers(start + 1, window.width))

    part, whole = series.columns(window, start, stop), series.columns(window)

    def all_of(columns: FrameColumns) -> list[tuple[int, int, int, int]]:
        edges = columns.edges.tolist()
        places = columns.lefts.tolist(), columns.rights.tolist()
        return list(zip(edges, edges[1:], *places, strict=False))

    inside = [column for column in all_of(whole) if column[3] > start + 1 and column[2] < stop - 1]
    assert set(inside) <= set(all_of(part)) <= set(all_of(whole))


def test_that_a_frame_reaches_half_a_number_to_both_sides_or_over_its_interval() -> None:
    history = timeline_of([10 * MS, 20 * MS, 40 * MS]).frames
    by_number, by_time = FrameSeries(history), FrameSeries(history, XAxis.TIME)

    assert by_number.bounds() == (-0.5, 2.5)
    assert [by_number.frame_at(x) for x in (-0.6, -0.4, 0.4, 0.6, 2.4, 2.6)] == [
        *(None, 0, 0, 1, 2, None)
    ]
    # They are at 10, 30 and 70 ms, and each took the time up to there.
    assert by_time.bounds() == pytest.approx((0, 0.07))
    assert [by_time.frame_at(x) for x in (-0.001, 0.0, 0.009, 0.01, 0.029, 0.031, 0.071)] == [
        *(None, 0, 0, 1, 1, 2, None)
    ]


def test_that_a_stall_is_drawn_where_it_was_and_its_work_too() -> None:
    history = timeline_of([10 * MS, 10 * MS, 300 * MS, 10 * MS]).frames
    series = FrameSeries(history, XAxis.TIME)

    def edges() -> list[int]:
        return [series.start_ns(frame) // MS for frame in range(5)]

    # Frame 2 waited for the callbacks of frame 1, from 20 ms up to its own instant.
    assert edges() == [0, 10, 20, 320, 330]
    series.measure = "busy"
    assert edges() == [10, 20, 320, 330, 340]


def test_that_the_first_frame_kept_has_its_interval_too() -> None:
    history = timeline_of([10 * MS, 10 * MS, 300 * MS, 10 * MS]).frames.since(2)

    series = FrameSeries(history, XAxis.TIME)

    assert series.bounds() == pytest.approx((0.02, 0.33))
    assert series.frame_at(0.2) == 2
    assert series.columns(Window(0.0, 0.4, 4)).edges.tolist() == [2, 3, 4]


def test_that_the_first_frame_does_not_begin_before_the_session() -> None:
    history = FrameHistory()
    # It came late, and most of its time was cut from the delta.
    history.append(250 * MS, 720 * MS, 250 * MS, 0, 470 * MS, [0] * len(Phase))

    assert FrameSeries(history, XAxis.TIME).bounds() == pytest.approx((0, 0.25))


@given(some_series(), st.sampled_from(["interval", "busy"]), st.data())
def test_that_frames_begin_on_the_axis_where_they_are_found(
    series: FrameSeries, measure: Measure, data: st.DataObject
) -> None:
    series.measure = measure
    starts = [series.start_ns(frame) for frame in range(series.first, series.end + 1)]
    assert starts == sorted(starts)
    at_ns = data.draw(st.integers(starts[0] - 5, starts[-1] + 5))

    found = series.first_from_ns(at_ns)

    assert found == series.first + sum(start < at_ns for start in starts[:-1])


def test_that_an_instant_belongs_to_the_frame_in_whose_time_it_is() -> None:
    series = FrameSeries(timeline_of([10 * MS, 20 * MS, 40 * MS]).frames)

    assert series.frame_at_ns(-1) is None
    assert [series.frame_at_ns(at * MS) for at in (0, 10, 11, 30, 31, 999)] == [0, 0, 1, 1, 2, 2]
    # Whatever is shown of them.
    series.measure = "busy"
    assert [series.frame_at_ns(at * MS) for at in (10, 11, 30, 31, 999)] == [0, 1, 1, 2, 2]
    series.measure = "interval"
    assert series.x_of_ns(25 * MS) == 1.0
    series.x_axis = XAxis.TIME
    assert series.x_of_ns(25 * MS) == 0.025


def test_that_new_frames_are_in_the_pyramids_at_once() -> None:
    history = usual_timeline(100).frames
    series = FrameSeries(history)
    series.slowest_within("busy", 0, 100)

    add_frame(history, busy_ns=90 * MS)
    added = series.read_new_frames()

    assert added == 1
    assert series.slowest_within("busy", 0, 101) == 100
    assert series.value_ns("busy", 100) == 90 * MS


def test_that_frames_may_be_added_after_any_question() -> None:
    # numpy views of the columns would keep them from growing.
    history = usual_timeline(5_000).frames
    for axis in XAxis:
        series = FrameSeries(history, axis)
        columns = series.columns(Window(*series.bounds(), 300))
        series.stretches("interval", columns)
        series.slowest("interval", columns)
        series.sample_ns("interval", 0, 5_000)
        series.x_of_instants(np.array([1, 2]))
        add_frame(history)


def test_that_the_sample_for_the_scale_stays_put_as_the_range_moves() -> None:
    history = timeline_of(list(range(100_000))).frames
    series = FrameSeries(history)

    before = set(series.sample_ns("interval", 10, 90_000).tolist())
    after = set(series.sample_ns("interval", 500, 90_500).tolist())

    assert 4_000 <= len(before) <= 8_192
    assert before - after == {value for value in before if value < 500}


def test_that_frames_that_are_not_kept_any_more_are_nowhere() -> None:
    history = usual_timeline(1_000).frames
    twin = FrameHistory()
    twin.first = 300
    times = (history.at_ns, history.interval_ns, history.delta_ns, history.busy_ns)
    twin.extend([column[300:] for column in (*times, history.cut_ns, *history.phases)])
    whole, rest = FrameSeries(history), FrameSeries(twin)

    assert rest.bounds() == (299.5, 999.5)
    assert rest.frame_at(299.0) is None
    columns = rest.columns(Window(0, 1_000, 200))
    assert columns.edges[0] == 300
    expected = whole.stretches("interval", columns)
    assert (rest.stretches("interval", columns).maxima == expected.maxima).all()
    assert rest.slowest_within("interval", 300, 1_000) == whole.slowest_within(
        "interval", 300, 1_000
    )


def test_that_no_frames_have_no_place() -> None:
    for axis in XAxis:
        series = FrameSeries(timeline_of([]).frames, axis)

        assert series.frame_at(0.0) is None
        assert series.frames_within(-5, 5) == (0, 0)
        assert len(series.columns(Window(-5, 5, 100))) == 0
        assert series.frame_at_ns(5) is None
