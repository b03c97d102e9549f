"""What frame times and lanes have in common: the axis, what is in view, what is marked."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QAbstractAnimation
from pytestqt.qtbot import QtBot

from inspector.events import Timeline
from inspector.formats.arrangement.frame_series import Window, XAxis
from inspector.timebase import NS_PER_SECOND
from tests.ui.plotting.frames import MS, USUAL_NS, add_frame, timeline_of, usual_timeline
from ui.plotting.shared_view import PRESENT_AT, SharedView
from ui.session.bridge import SessionBridge

WIDTH = 1_000
#: Frame 2 is long, in frame 4 no time passes.
UNEVEN: tuple[int, ...] = (20, 20, 20, 200, 20, 0, 20, 20)


def view_of(
    timeline: Timeline, x_axis: XAxis = XAxis.TIME, *, with_lanes: bool = True
) -> SharedView:
    view = SharedView(x_axis=x_axis)
    view.set_pixels(WIDTH)
    view.make_room_for_lanes(are_shown=with_lanes)
    view.set_timeline(timeline)
    return view


def uneven() -> Timeline:
    return timeline_of([each * MS for each in UNEVEN])


def test_that_panels_of_a_window_have_one_view(bridge: SessionBridge) -> None:
    assert SharedView.of(bridge) is SharedView.of(bridge)


def test_that_a_following_view_with_lanes_leaves_room_for_what_is_to_come() -> None:
    view = view_of(usual_timeline(3_000))

    shown = view.range
    assert (view.present_ns / 1e9 - shown.low) / shown.span == pytest.approx(PRESENT_AT, abs=2e-2)
    view.make_room_for_lanes(are_shown=False)
    assert view.range.high == pytest.approx(view.range.last, abs=view.range.span / WIDTH)


@pytest.mark.parametrize("seconds", [2, 12, 3_600])
def test_that_a_firing_to_come_is_brought_into_view_however_far_away(seconds: int) -> None:
    view = view_of(usual_timeline(600))
    due_ns = view.present_ns + seconds * NS_PER_SECOND
    view.bring_into_view((view.present_ns, due_ns))
    assert view.range.low < view.present_ns / NS_PER_SECOND
    assert due_ns / NS_PER_SECOND < view.range.high


@pytest.mark.parametrize("x_axis", list(XAxis))
def test_that_an_instant_of_a_lane_lies_below_its_frame(x_axis: XAxis) -> None:
    timeline = uneven()
    view = view_of(timeline, x_axis)
    view.fit()
    series, at_ns = view.series, timeline.frames.at_ns
    assert series is not None
    window = view.lane_window(0, WIDTH)

    for frame in (0, 1, 2, 3, 6):
        left, right = (
            (series.start_of(each) - view.range.low) / view.range.span * WIDTH
            for each in (frame, frame + 1)
        )
        assert window.x(at_ns[frame]) == pytest.approx(right, abs=1e-3)
        assert left < window.x(at_ns[frame] - 5 * MS) < right
        assert window.at(window.x(at_ns[frame] - 5 * MS)) == pytest.approx(at_ns[frame] - 5 * MS)
        assert view.ns_of_frame(frame)[1] == at_ns[frame]


def test_that_a_long_frame_is_as_wide_as_others_by_frame() -> None:
    timeline = uneven()
    at_ns = timeline.frames.at_ns
    view = view_of(timeline, XAxis.FRAME)
    frame = WIDTH / view.range.span

    xs = view.lane_window(0, WIDTH).xs(np.array([at_ns[1], *at_ns[2:4], at_ns[3] + 10 * MS]))

    assert np.diff(xs).tolist() == pytest.approx([frame, frame, frame / 2])


def test_that_what_is_to_come_is_placed_at_the_usual_rate_by_frame() -> None:
    timeline = timeline_of([20 * MS] * 100)
    view = view_of(timeline, XAxis.FRAME)
    newest_ns = timeline.frames.at_ns[-1]

    window = view.lane_window(0, WIDTH)

    frame = WIDTH / view.range.span
    assert window.x(newest_ns + 200 * MS) - window.x(newest_ns) == pytest.approx(10 * frame)
    assert window.high > newest_ns


def test_that_lanes_without_frames_are_shown_by_time() -> None:
    timeline = timeline_of([])
    timeline.set_present(2_000 * MS)
    view = view_of(timeline, XAxis.FRAME)

    before = view.x_axis.value
    assert view.lane_window(0, WIDTH).x(2_000 * MS) > 0
    add_frame(timeline.frames)
    view.read_new_frames()
    assert [before, view.x_axis.value] == ["time", "frame"]


def test_that_lanes_that_are_not_shown_yet_can_ask_before_there_is_a_frame() -> None:
    view = view_of(timeline_of([]), XAxis.FRAME, with_lanes=False)

    window = view.lane_window(0, WIDTH)

    assert window.x(0) == pytest.approx(0)
    assert window.high == pytest.approx(5e9)


def test_that_frames_can_be_added_while_a_window_of_lanes_is_held() -> None:
    timeline = usual_timeline(10)
    view = view_of(timeline, XAxis.FRAME)

    def fail(*_arguments: object) -> None:
        raise ZeroDivisionError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np, "hstack", fail)
        with pytest.raises(ZeroDivisionError) as held:
            view.lane_window(0, WIDTH)

    # What was raised still has hold of everything that was at hand.
    assert held.tb is not None
    add_frame(timeline.frames)


def test_that_selected_frames_are_selected_time_and_the_other_way_round() -> None:
    timeline = uneven()
    view = view_of(timeline)
    at_ns = timeline.frames.at_ns
    chosen: list[object] = []
    view.range_chosen.connect(chosen.append)

    view.choose_frames((1, 3))
    assert view.chosen_span() == (at_ns[0], at_ns[2])
    view.set_measure("busy")
    assert view.chosen_span() == (at_ns[1], at_ns[3])
    view.set_measure("interval")
    view.choose_ns(at_ns[3] - MS, at_ns[0] - MS)
    assert view.chosen_frames == (1, 4)
    assert view.chosen_span() == (at_ns[0] - MS, at_ns[3] - MS)
    view.choose_ns(at_ns[2] + MS, at_ns[2] + 2 * MS)
    assert view.chosen_span() == (at_ns[2] + MS, at_ns[2] + 2 * MS)
    assert chosen == [(1, 3), (1, 3), (1, 3), (1, 4), None]


def test_that_f_shows_the_selected_time_then_everything() -> None:
    view = view_of(usual_timeline(1_000))
    view.choose_ns(2_000 * MS, 3_000 * MS)

    view.fit_chosen()
    assert (view.range.low, view.range.high) == (2.0, 3.0)
    view.fit_chosen()
    assert view.range.low == 0
    assert view.range.high > view.present_ns / 1e9


def test_that_pointing_here_is_not_overruled_by_the_instant_it_shares() -> None:
    view = view_of(usual_timeline(100))

    view.point_at(0.5)
    view.set_hover_ns(300 * MS)
    assert view.hover == 0.5
    view.point_at(None)
    view.set_hover_ns(300 * MS)
    assert view.hover == 0.3


def test_that_zooming_into_a_frame_costs_no_more_than_its_pixels() -> None:
    view = view_of(timeline_of([USUAL_NS] * 3_000))
    view.set_span_ns(10 * USUAL_NS - 2_000, 10 * USUAL_NS + 2_000)
    assert view.series is not None

    columns = view.series.columns(Window(view.range.low, view.range.high, WIDTH))

    assert columns.edges.tolist() == [9, 10, 11]
    assert columns.lefts.tolist() == pytest.approx([0, WIDTH // 2], abs=1)


def test_that_another_axis_keeps_what_is_in_view_also_in_lanes() -> None:
    timeline = usual_timeline(1_000)
    view = view_of(timeline)
    view.set_frame_span(100, 200)
    before = view.lane_window(0, WIDTH)

    view.set_x_axis(XAxis.FRAME)

    after = view.lane_window(0, WIDTH)
    assert view.visible_frames() == (100, 200)
    assert (after.low, after.high) == pytest.approx((before.low, before.high))


def test_that_a_jump_slides_there_and_whatever_is_done_interrupts_it(qtbot: QtBot) -> None:
    view = SharedView()
    view.set_timeline(usual_timeline(3_000))
    view.set_frame_span(100, 200)
    view.slide_ms = 20
    lows: list[float] = []
    view.moved.connect(lambda: lows.append(view.range.low))

    view.slide_to(1_000.0)
    qtbot.waitUntil(lambda: view.range.low == pytest.approx(950.0))
    assert lows == sorted(lows)

    view.slide_to(2_000.0)
    view.pan(-0.5)
    there = view.range.low
    assert view._animation.state() is QAbstractAnimation.State.Stopped
    assert view.range.low == there < 950.0
