"""Which frames are in view, and how that changes as frames come."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.plotting.frames import add_frame, usual_timeline
from ui.plotting.frame_series import FrameSeries, XAxis
from ui.plotting.frame_view import FOLLOWED_FRAMES, FOLLOWED_SECONDS, FrameView, ViewMode

WIDTH = 1_000


def series_of(count: int, axis: XAxis = XAxis.FRAME) -> FrameSeries:
    return FrameSeries(usual_timeline(count).frames, axis)


def test_that_a_following_view_keeps_the_newest_frame_within_a_pixel_of_its_right_edge() -> None:
    series = series_of(5_000)
    view = FrameView()

    for _ in range(50):
        add_frame(series.history)
        series.take_new_frames()
        view.settle(series, WIDTH)
        assert series.bounds()[1] <= view.high <= series.bounds()[1] + view.span / WIDTH

    assert view.span == pytest.approx(FOLLOWED_FRAMES)


def test_that_a_following_view_of_a_young_session_begins_at_its_first_frame() -> None:
    view = FrameView()
    view.start_following(XAxis.TIME)

    view.settle(series_of(10, XAxis.TIME), WIDTH)

    assert view.low == 0
    assert view.span == pytest.approx(FOLLOWED_SECONDS)


@given(st.integers(1, 5_000))
def test_that_a_fitted_view_shows_all_frames_and_little_else(count: int) -> None:
    series = series_of(count)
    view = FrameView(mode=ViewMode.FIT)

    view.settle(series, WIDTH)

    assert view.low == -0.5
    assert count - 0.5 <= view.high <= max(1.06 * count, 8)


def test_that_a_fitted_view_stays_put_for_a_while_as_frames_come() -> None:
    series = series_of(10_000)
    view = FrameView(mode=ViewMode.FIT)
    places = set()

    for _ in range(1_000):
        add_frame(series.history)
        series.take_new_frames()
        view.settle(series, WIDTH)
        places.add((view.low, view.high))

    assert len(places) < 20


def test_that_zooming_keeps_the_place_under_the_pointer() -> None:
    series = series_of(5_000)
    view = FrameView(1_000, 2_000, ViewMode.FREE)

    view.zoom(0.5, 1_250, series)

    assert (view.low, view.high) == (1_125, 1_625)


def test_that_zooming_while_following_goes_on_following() -> None:
    series = series_of(5_000)
    view = FrameView()
    view.settle(series, WIDTH)

    view.zoom(0.5, 4_500, series)
    view.settle(series, WIDTH)

    assert view.mode is ViewMode.FOLLOW
    assert view.span == pytest.approx(FOLLOWED_FRAMES / 2)
    assert view.high >= 4_999.5


def test_that_moving_stops_following() -> None:
    series = series_of(5_000)
    view = FrameView()
    view.settle(series, WIDTH)

    view.pan(-100, series)
    add_frame(series.history)
    series.take_new_frames()
    view.settle(series, WIDTH)

    assert view.mode is ViewMode.FREE
    assert view.high == pytest.approx(4_899.5, abs=1)


@given(st.lists(st.tuples(st.sampled_from("zpsf"), st.floats(-3, 3)), max_size=20))
def test_that_some_frames_stay_in_view_whatever_is_done(moves: list[tuple[str, float]]) -> None:
    series = series_of(700)
    view = FrameView()

    for move, amount in moves:
        match move:
            case "z":
                view.zoom(4**amount, view.low + amount * view.span, series)
            case "p":
                view.pan(amount * view.span, series)
            case "s":
                view.show(amount * 300, amount * 300 + 1, series)
            case _:
                view.mode = ViewMode.FIT
        view.settle(series, WIDTH)

        start, stop = series.frames_within(view.low, view.high)
        assert stop > start
        assert 7.9 <= view.span <= 1_500
