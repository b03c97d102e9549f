"""Which part of an axis is in view, and how that changes as data come."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.formats.arrangement.frame_series import FrameSeries, XAxis
from tests.ui.plotting.frames import add_frame, usual_timeline
from ui.plotting.axis_range import AxisRange, ViewMode

WIDTH = 1_000


FOLLOWED = 300.0


def following() -> AxisRange:
    return AxisRange(-0.5, FOLLOWED - 0.5, ViewMode.FOLLOW)


def series_of(count: int, axis: XAxis = XAxis.FRAME) -> FrameSeries:
    return FrameSeries(usual_timeline(count).frames, axis)


def test_that_a_following_view_keeps_the_newest_frame_within_a_pixel_of_its_right_edge() -> None:
    series = series_of(5_000)
    view = following()

    for _ in range(50):
        add_frame(series.history)
        series.read_new_frames()
        view.settle(*series.bounds(), WIDTH)
        assert series.bounds()[1] <= view.high <= series.bounds()[1] + view.span / WIDTH

    assert view.span == pytest.approx(FOLLOWED)


def test_that_a_following_view_stays_where_it_is_until_it_moves_by_a_step() -> None:
    view = AxisRange(0.0, 5.0, ViewMode.FOLLOW, newest_at=0.85)
    step = 5.0 / 900 * 6

    for number in range(300, 2_000):
        # In the middle of a step, so that no rounding leads to another one.
        last = (number + 0.5) * step + 0.85 * 5.0
        assert view.settle(0.0, last, 900, 0.999 * step)
        assert not view.settle(0.0, last, 900, 0.999 * step)


def test_that_a_following_view_of_a_young_session_begins_at_its_first_frame() -> None:
    view = AxisRange(0.0, 5.0, ViewMode.FOLLOW)

    view.settle(*series_of(10, XAxis.TIME).bounds(), WIDTH)

    assert view.low == 0
    assert view.span == pytest.approx(5.0)


@given(st.integers(1, 5_000))
def test_that_a_fitted_view_shows_all_frames_and_little_else(count: int) -> None:
    series = series_of(count)
    view = AxisRange(shortest=8)

    view.settle(*series.bounds(), WIDTH)

    assert view.low == -0.5
    assert count - 0.5 <= view.high <= max(1.06 * count, 8)


def test_that_a_fitted_view_stays_put_for_a_while_as_frames_come() -> None:
    series = series_of(10_000)
    view = AxisRange(shortest=8)
    places = set()

    for _ in range(1_000):
        add_frame(series.history)
        series.read_new_frames()
        view.settle(*series.bounds(), WIDTH)
        places.add((view.low, view.high))

    assert len(places) < 20


def test_that_zooming_keeps_the_place_under_the_pointer() -> None:
    view = AxisRange(1_000, 2_000, ViewMode.FREE, last=5_000)

    view.zoom(0.5, 1_250)

    assert (view.low, view.high) == (1_125, 1_625)


def test_that_zooming_while_following_goes_on_following() -> None:
    series = series_of(5_000)
    view = following()
    view.settle(*series.bounds(), WIDTH)

    view.zoom(0.5, 4_500)
    view.settle(*series.bounds(), WIDTH)

    assert view.mode is ViewMode.FOLLOW
    assert view.span == pytest.approx(FOLLOWED / 2)
    assert view.high >= 4_999.5


def test_that_moving_stops_following() -> None:
    series = series_of(5_000)
    view = following()
    view.settle(*series.bounds(), WIDTH)

    view.pan(-100)
    add_frame(series.history)
    series.read_new_frames()
    view.settle(*series.bounds(), WIDTH)

    assert view.mode is ViewMode.FREE
    assert view.high == pytest.approx(4_899.5, abs=1)


@given(st.lists(st.tuples(st.sampled_from("zpsf"), st.floats(-3, 3)), max_size=20))
def test_that_some_frames_stay_in_view_whatever_is_done(moves: list[tuple[str, float]]) -> None:
    series = series_of(700)
    view = AxisRange(-0.5, 299.5, ViewMode.FOLLOW, shortest=8, first=-0.5, last=699.5)

    for move, amount in moves:
        match move:
            case "z":
                view.zoom(4**amount, view.low + amount * view.span)
            case "p":
                view.pan(amount * view.span)
            case "s":
                view.set_span(amount * 300, amount * 300 + 1)
            case _:
                view.fit()
        view.settle(*series.bounds(), WIDTH)

        start, stop = series.frames_within(view.low, view.high)
        assert stop > start
        assert 7.9 <= view.span <= 1_500


def test_that_a_following_view_with_room_moves_in_steps_of_some_pixels() -> None:
    view = AxisRange(0.0, 100.0, ViewMode.FOLLOW, newest_at=0.8)
    places = set()

    for last in range(1_000, 1_010):
        view.settle(0.0, last, WIDTH, step=4)
        assert view.low + 0.8 * view.span - 4 <= last <= view.low + 0.8 * view.span + 1e-9
        places.add(round(view.low, 6))

    assert len(places) == 4
