"""The frame-time plot: what it shows, what can be read from it, and how it is moved."""

from __future__ import annotations

import gc

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QImage, QKeyEvent, QMouseEvent, QPaintEvent, QRegion, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.formats.arrangement.frame_series import FrameSeries, NsColumn, XAxis
from inspector.vocabulary import Measure
from tests.ui.frame_times.pixels import pixel_of_frame
from tests.ui.plotting.frames import MS, add_frame, timeline_of, usual_timeline
from ui.frame_times.frame_plot import FramePlot
from ui.frame_times.plotted_frames import EMPTY_TEXT, NO_SCENE_TEXT, NONE_IN_FILE_TEXT
from ui.kit.theme import ColorRole, Theme

NO_KEY = Qt.KeyboardModifier.NoModifier
CTRL = Qt.KeyboardModifier.ControlModifier
LEFT, RIGHT, NONE = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton, Qt.MouseButton.NoButton


def mouse(
    plot: FramePlot,
    kind: QEvent.Type,
    place: QPointF,
    buttons: tuple[Qt.MouseButton, Qt.MouseButton] = (NONE, NONE),
    keys: Qt.KeyboardModifier = NO_KEY,
) -> None:
    """Send a mouse event the way Qt does: the button, and those held."""
    event = QMouseEvent(kind, place, plot.mapToGlobal(place), *buttons, keys)
    QApplication.sendEvent(plot, event)


def click(plot: FramePlot, place: QPointF, button: Qt.MouseButton = LEFT) -> None:
    mouse(plot, QEvent.Type.MouseButtonPress, place, (button, button))
    mouse(plot, QEvent.Type.MouseButtonRelease, place, (button, NONE))


def drag(plot: FramePlot, start: QPointF, end: QPointF, keys: Qt.KeyboardModifier = NO_KEY) -> None:
    mouse(plot, QEvent.Type.MouseButtonPress, start, (LEFT, LEFT), keys)
    for step in range(1, 11):
        mouse(plot, QEvent.Type.MouseMove, start + (end - start) * step / 10, (NONE, LEFT), keys)
    mouse(plot, QEvent.Type.MouseButtonRelease, end, (LEFT, NONE), keys)


def turn_wheel(
    plot: FramePlot, place: QPointF, notches: int, keys: Qt.KeyboardModifier = NO_KEY
) -> None:
    event = QWheelEvent(
        place,
        plot.mapToGlobal(place),
        QPoint(),
        QPoint(0, 120 * notches),
        NONE,
        keys,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(plot, event)


def press(plot: FramePlot, key: Qt.Key) -> bool:
    """Press a key; returns whether the plot wanted it."""
    event = QKeyEvent(QEvent.Type.KeyPress, key, NO_KEY)
    QApplication.sendEvent(plot, event)
    return event.isAccepted()


def picture(plot: FramePlot) -> QImage:
    image: QImage = plot.grab().toImage()
    return image


def test_that_names_of_budgets_cover_no_frame_when_all_are_shown(plot: FramePlot) -> None:
    plot.set_budgets_ns((16_666_667, 33_333_333, 8_333_333))
    plot.set_timeline(timeline_of([18 * MS] * 900))
    plot.view.fit()
    plot.grab()

    last = plot.area().left() + plot.area().width() * (
        (plot.view.range.last - plot.view.range.low) / plot.view.range.span
    )
    names = plot._bars._names
    assert [each.text for each in names] == ["60 fps", "30 fps", "120 fps"]
    assert all(each.left >= last for each in names)


def test_that_the_name_of_a_budget_leaves_the_bars_below_it_to_be_seen(plot: FramePlot) -> None:
    plot.set_budgets_ns((16_666_667, 33_333_333, 8_333_333))
    plot.set_timeline(timeline_of([16 * MS] * 900))
    plot.view.set_span_ns(2_000 * MS, 4_000 * MS)

    image = picture(plot)

    name = plot._bars._names[2]
    left, top = round(name.left), round(plot.area().top() + name.top)
    first, whole = (
        {image.pixel(left + x, top + y) for x in range(round(name.width)) for y in range(high)}
        for high in (1, 10)
    )
    bar, ground, muted = (
        Theme("light").color(role).rgb() for role in (ColorRole.BAR, ColorRole.BG, ColorRole.MUTED)
    )
    assert name.text == "120 fps"
    assert bar in first
    assert {bar, ground, muted} <= whole


def test_that_no_line_of_a_budget_runs_through_what_an_empty_plot_says(plot: FramePlot) -> None:
    plot.set_timeline(timeline_of([]), NONE_IN_FILE_TEXT.format("recording"))
    middle = plot.area().toRect().center()
    plain = picture(plot).copy(middle.x() - 20, middle.y() - 4, 40, 8)

    plot.set_budgets_ns((*plot.budgets_ns, plot.top_ns // 2))

    assert picture(plot).copy(middle.x() - 20, middle.y() - 4, 40, 8) == plain
    # Beside it there is one.
    beside = {picture(plot).pixel(x, middle.y() + y) for x in range(300, 340) for y in (-1, 0, 1)}
    assert len(beside) > 1


def test_that_the_playhead_runs_through_a_plot_without_frames(
    plot: FramePlot, theme: Theme
) -> None:
    timeline = timeline_of([])
    plot.view.make_room_for_lanes(are_shown=True)
    plot.set_timeline(timeline)
    timeline.set_present(2_000 * MS)
    plot.refresh(is_forced=True)

    shown, area = plot.view.shown, plot.area().toRect()
    assert shown is not None
    x = area.left() + round((shown - plot.view.range.low) / plot.view.range.span * area.width())
    assert picture(plot).pixelColor(x, area.bottom() - 2) == theme.color(ColorRole.BLUE)


def test_that_an_empty_plot_says_what_to_do(plot: FramePlot) -> None:
    assert plot._overlay.empty_text == NO_SCENE_TEXT
    plot.set_timeline(timeline_of([]))
    assert plot._overlay.empty_text == EMPTY_TEXT
    plot.set_timeline(timeline_of([]), NONE_IN_FILE_TEXT.format("recording"))
    assert plot._overlay.empty_text == "This recording holds no frames."

    plot.set_timeline(usual_timeline(3))

    assert plot._overlay.empty_text == ""


def test_that_the_first_frames_are_seen_although_the_plot_has_another_width(
    plot: FramePlot,
) -> None:
    timeline = timeline_of([])
    plot.set_timeline(timeline)
    plot.view.set_span(0.0, 100.0)
    plot.view.set_pixels(1)
    for _ in range(60):
        add_frame(timeline.frames)

    plot.refresh()

    assert plot._overlay.empty_text == ""


def test_that_new_frames_are_in_view_after_a_refresh(plot: FramePlot) -> None:
    timeline = usual_timeline(5_000)
    plot.set_timeline(timeline)
    assert plot.view.visible_frames() == (4_700, 5_000)

    for _ in range(10):
        add_frame(timeline.frames)
    plot.refresh()

    assert plot.view.visible_frames() == (4_710, 5_010)


def test_that_a_spike_in_the_newest_frame_is_marked_with_its_value(plot: FramePlot) -> None:
    timeline = usual_timeline(100_000)
    plot.set_timeline(timeline)
    plot.view.fit()
    plot.grab()

    add_frame(timeline.frames, 777 * MS)
    plot.refresh()
    plot.grab()

    assert [label.text for label in plot._bars._spike_labels] == ["777 ms"]
    assert plot.top_ns == 50_000_001


def test_that_a_value_covers_neither_high_bars_nor_the_line_at_the_present(plot: FramePlot) -> None:
    long, high, usual = 400 * MS, 49 * MS, 16 * MS
    plot.view.make_room_for_lanes(are_shown=True)
    plot.set_timeline(timeline_of([usual] * 60 + [long] + [usual] + [high] * 2 + [usual] * 60))
    plot.grab()
    (value,) = plot._bars._spike_labels
    assert value.left + value.width < pixel_of_frame(plot, 60).x()

    plot.set_timeline(timeline_of([usual] * 120 + [long]))
    plot.grab()
    (value,) = plot._bars._spike_labels
    assert value.left + value.width < pixel_of_frame(plot, 120).x()


def test_that_a_value_appears_once_the_line_has_gone_on(plot: FramePlot) -> None:
    plot.view.make_room_for_lanes(are_shown=True)
    plot.view.set_x_axis(XAxis.TIME)
    timeline = timeline_of([100 * MS])
    plot.set_timeline(timeline)
    plot.grab()
    assert plot._bars._spike_labels == []

    for _ in range(90):
        add_frame(timeline.frames, 16 * MS)
        timeline.at_ns += 16 * MS
        plot.refresh()
        plot.grab()
    (value,) = plot._bars._spike_labels
    assert value.text == "100 ms"
    assert value.left > pixel_of_frame(plot, 0).x()


@pytest.mark.parametrize("axis", list(XAxis))
@pytest.mark.parametrize("is_stacked", [False, True])
def test_that_frames_added_one_by_one_look_like_frames_that_were_there(
    qtbot: QtBot, theme: Theme, axis: XAxis, is_stacked: bool
) -> None:
    plots = [FramePlot(theme), FramePlot(theme)]
    timeline = usual_timeline(3_000)
    for plot in plots:
        qtbot.addWidget(plot)
        plot.resize(700, 250)
        plot.view.set_x_axis(axis)
        plot.set_stacked(is_stacked)
    grown, at_once = plots
    grown.set_timeline(timeline)
    grown.view.fit()
    for number in range(150):
        add_frame(timeline.frames, (1 + number % 30) * MS)
        grown.refresh()

    at_once.set_timeline(timeline)
    at_once.view.fit()
    at_once.view.set_span(grown.view.range.low, grown.view.range.high)
    # The upper edge depends on what it was, so that it does not tremble.
    at_once.scale_durations(grown.top_ns / at_once.top_ns)
    at_once.refresh(is_forced=True)

    assert at_once.top_ns == grown.top_ns
    assert picture(at_once) == picture(grown)


def test_that_a_following_view_chooses_its_scale_for_each_sixteenth_of_new_frames(
    plot: FramePlot, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = usual_timeline(400)
    plot.set_timeline(timeline)
    plot.view.set_x_axis(XAxis.FRAME)
    plot.view.set_span(239.5, 399.5)
    plot.view.go_live()
    add_frame(timeline.frames)
    plot.refresh()
    sampled: list[tuple[int, int]] = []
    sample_ns = FrameSeries.sample_ns

    def noted(series: FrameSeries, measure: Measure, start: int, stop: int) -> NsColumn:
        sampled.append((start, stop))
        return sample_ns(series, measure, start, stop)

    monkeypatch.setattr(FrameSeries, "sample_ns", noted)
    for _ in range(160):
        add_frame(timeline.frames)
        plot.refresh()

    assert 10 <= len(sampled) <= 16, sampled


def test_that_pointing_reads_exactly_the_frame_that_is_drawn_there(
    plot: FramePlot, qtbot: QtBot
) -> None:
    timeline = usual_timeline(300)
    timeline.frames.interval_ns[123] = 21_500_000
    plot.set_timeline(timeline)

    with qtbot.waitSignal(plot.frame_hovered) as hovered:
        mouse(plot, QEvent.Type.MouseMove, pixel_of_frame(plot, 123))

    readout = plot.readout()
    assert hovered.args == [123]
    assert readout is not None
    assert readout.frame == 123
    assert readout.lines[:3] == (
        ("Frame 123", "0:02.0" + readout.lines[0][1][6:]),
        ("interval", "21.5 ms"),
        ("of 16.7 ms · 60 fps", "129 %, over"),
    )
    assert ("· update", "2.00 ms") in readout.lines


def test_that_pointing_where_frames_share_a_column_reads_the_slowest(plot: FramePlot) -> None:
    plot.set_timeline(timeline_of([*[16 * MS] * 54_321, 24 * MS, *[16 * MS] * 45_678]))
    plot.view.fit()

    # About 110 frames share a column, so that this one is a third of it away.
    mouse(plot, QEvent.Type.MouseMove, pixel_of_frame(plot, 54_290))

    readout = plot.readout()
    assert readout is not None
    assert readout.frame == 54_321
    assert readout.lines[1][0].startswith("slowest of 11")
    assert readout.lines[2] == ("interval", "24.0 ms")


@pytest.mark.parametrize("beside", [-7, 7])
def test_that_a_click_beside_a_narrow_spike_takes_the_spike(
    plot: FramePlot, qtbot: QtBot, beside: int
) -> None:
    plot.set_timeline(timeline_of([*[16 * MS] * 200, 120 * MS, *[16 * MS] * 199]))
    plot.view.fit()

    with qtbot.waitSignal(plot.frame_clicked) as clicked:
        click(plot, pixel_of_frame(plot, 200) + QPointF(beside, 0))

    assert clicked.args == [200]


def test_that_wide_frames_beside_a_spike_are_taken_as_they_are_hit(plot: FramePlot) -> None:
    plot.set_timeline(timeline_of([*[16 * MS] * 20, 120 * MS, *[16 * MS] * 19]))
    plot.view.fit()
    left = pixel_of_frame(plot, 20).x() + pixel_of_frame(plot, 21).x()

    mouse(plot, QEvent.Type.MouseMove, QPointF(left / 2 + 1, pixel_of_frame(plot, 20).y()))

    readout = plot.readout()
    assert readout is not None
    assert readout.frame == 21


def test_that_the_readout_leaves_some_of_a_small_plot_in_view(plot: FramePlot) -> None:
    timeline = usual_timeline(50)
    add_frame(timeline.frames, 38 * MS, inspector_ns=7 * MS)
    for _ in range(49):
        add_frame(timeline.frames)
    plot.set_timeline(timeline)
    plot.resize(680, 150)
    before = picture(plot)

    mouse(plot, QEvent.Type.MouseMove, pixel_of_frame(plot, 50))

    after, area = picture(plot), plot.area()
    y = round(area.center().y())
    changed = [
        x
        for x in range(round(area.left()), round(area.right()))
        if before.pixel(x, y) != after.pixel(x, y)
    ]
    assert 0 < len(changed) < 0.7 * area.width()


def test_that_leaving_the_plot_ends_the_reading(plot: FramePlot, qtbot: QtBot) -> None:
    plot.set_timeline(usual_timeline(300))
    mouse(plot, QEvent.Type.MouseMove, pixel_of_frame(plot, 10))

    with qtbot.waitSignal(plot.frame_hovered) as hovered:
        QApplication.sendEvent(plot, QEvent(QEvent.Type.Leave))

    assert hovered.args == [None]
    assert plot.readout() is None


def test_that_a_resting_pointer_reads_the_frame_that_comes_under_it(plot: FramePlot) -> None:
    timeline = usual_timeline(5_000)
    plot.set_timeline(timeline)
    mouse(plot, QEvent.Type.MouseMove, pixel_of_frame(plot, 4_850))

    for _ in range(100):
        add_frame(timeline.frames)
    plot.refresh()

    readout = plot.readout()
    assert readout is not None
    assert readout.frame == pytest.approx(4_950, abs=1)


def test_that_a_click_selects_the_frame_under_it(plot: FramePlot, qtbot: QtBot) -> None:
    plot.set_timeline(usual_timeline(300))

    with qtbot.waitSignal(plot.frame_clicked) as clicked:
        click(plot, pixel_of_frame(plot, 77))

    assert clicked.args == [77]


def test_that_dragging_moves_the_frames_with_the_pointer_and_stops_following(
    plot: FramePlot, qtbot: QtBot
) -> None:
    plot.set_timeline(usual_timeline(5_000))
    start = pixel_of_frame(plot, 4_750)
    end = pixel_of_frame(plot, 4_900)

    with (
        qtbot.waitSignal(plot.view.following_changed) as following,
        qtbot.assertNotEmitted(plot.frame_clicked),
    ):
        drag(plot, start, end)

    assert following.args == [False]
    assert pixel_of_frame(plot, 4_750).x() == pytest.approx(end.x(), abs=0.5)


def test_that_the_wheel_zooms_about_the_pointer(plot: FramePlot) -> None:
    plot.set_timeline(usual_timeline(5_000))
    plot.view.set_frame_span(1_000, 2_000)
    place = pixel_of_frame(plot, 1_250)

    turn_wheel(plot, place, 3)

    assert pixel_of_frame(plot, 1_250).x() == pytest.approx(place.x(), abs=1)
    assert plot.view.range.span == pytest.approx(1_000 / 1.25**3)


def test_that_the_wheel_over_the_left_axis_scales_durations_until_a_double_click(
    plot: FramePlot,
) -> None:
    plot.set_timeline(usual_timeline(300))
    chosen = plot.top_ns
    axis = QPointF(10, 150)

    turn_wheel(plot, axis, -2)
    plot.refresh(is_forced=True)
    assert plot.top_ns == pytest.approx(chosen * 1.25**2)

    mouse(plot, QEvent.Type.MouseButtonDblClick, axis, (LEFT, LEFT))
    assert plot.top_ns == chosen


def test_that_a_double_click_on_a_bar_zooms_in_and_above_it_shows_everything(
    plot: FramePlot,
) -> None:
    plot.set_timeline(usual_timeline(300))
    on_bar = pixel_of_frame(plot, 100)

    mouse(plot, QEvent.Type.MouseButtonDblClick, on_bar, (LEFT, LEFT))
    assert plot.view.visible_frames() == (90, 111)
    mouse(plot, QEvent.Type.MouseButtonDblClick, pixel_of_frame(plot, 95), (LEFT, LEFT))
    assert plot.view.visible_frames() == (90, 111)

    above = QPointF(on_bar.x(), plot.area().top() + 2)
    mouse(plot, QEvent.Type.MouseButtonDblClick, above, (LEFT, LEFT))
    assert plot.view.visible_frames() == (0, 300)


def test_that_nothing_is_read_while_the_frames_are_dragged(plot: FramePlot) -> None:
    plot.set_timeline(usual_timeline(300))
    start, end = pixel_of_frame(plot, 100), pixel_of_frame(plot, 150)
    mouse(plot, QEvent.Type.MouseMove, start)
    assert plot.readout() is not None

    mouse(plot, QEvent.Type.MouseButtonPress, start, (LEFT, LEFT))
    mouse(plot, QEvent.Type.MouseMove, end, (NONE, LEFT))

    assert plot.readout() is None
    assert plot.view.hover is None


def test_that_what_comes_after_the_playhead_is_covered_by_half(plot: FramePlot) -> None:
    timeline = usual_timeline(300)
    plot.set_timeline(timeline)
    plot.view.fit()
    y = plot.area().bottom() - 3
    places = [QPoint(round(pixel_of_frame(plot, each).x()), round(y)) for each in (50, 250)]
    before = [picture(plot).pixelColor(place) for place in places]

    plot.view.set_playhead_ns(timeline.frames.at_ns[150])

    after = [picture(plot).pixelColor(place) for place in places]
    assert after[0] == before[0]
    background = Theme("light").color(ColorRole.BG)
    half = (before[1].red() + background.red()) / 2
    assert after[1].red() == pytest.approx(half, abs=2)


def test_that_ctrl_and_dragging_chooses_a_range_and_escape_gives_it_up(
    plot: FramePlot, qtbot: QtBot
) -> None:
    plot.set_timeline(usual_timeline(300))

    drag(plot, pixel_of_frame(plot, 100), pixel_of_frame(plot, 199), CTRL)

    assert plot.view.chosen_frames == (100, 200)
    assert plot.view.is_following
    assert plot._overlay.chosen_text.startswith("100 frames · 1.67")
    with qtbot.waitSignal(plot.view.range_chosen) as chosen:
        assert press(plot, Qt.Key.Key_Escape)
    assert chosen.args == [None]
    # Without a range the key is for others.
    assert not press(plot, Qt.Key.Key_Escape)


def test_that_f_fits_the_chosen_range_and_then_everything(plot: FramePlot) -> None:
    plot.set_timeline(usual_timeline(5_000))
    plot.view.choose_frames((300, 400))

    press(plot, Qt.Key.Key_F)
    assert plot.view.visible_frames() == (300, 400)
    press(plot, Qt.Key.Key_F)
    assert plot.view.visible_frames() == (0, 5_000)


@pytest.mark.parametrize(
    ("key", "frames"),
    [
        (Qt.Key.Key_Home, (0, 5_000)),
        (Qt.Key.Key_End, (4_000, 5_000)),
        (Qt.Key.Key_L, (4_000, 5_000)),
        (Qt.Key.Key_A, (850, 1_850)),
        (Qt.Key.Key_D, (1_150, 2_150)),
        (Qt.Key.Key_W, (1_167, 1_833)),
        (Qt.Key.Key_S, (750, 2_250)),
    ],
)
def test_that_keys_move_the_view(plot: FramePlot, key: Qt.Key, frames: tuple[int, int]) -> None:
    plot.set_timeline(usual_timeline(5_000))
    plot.view.set_frame_span(1_000, 2_000)

    assert press(plot, key)

    assert plot.view.visible_frames() == pytest.approx(frames, abs=1)


def test_that_space_is_left_to_the_window(plot: FramePlot) -> None:
    plot.set_timeline(usual_timeline(10))

    assert not press(plot, Qt.Key.Key_Space)


def test_that_arrow_keys_select_the_next_frame_and_bring_it_into_view(
    plot: FramePlot, qtbot: QtBot
) -> None:
    plot.set_timeline(usual_timeline(5_000))
    plot.frame_clicked.connect(plot.select_frame)

    press(plot, Qt.Key.Key_Left)
    press(plot, Qt.Key.Key_Left)
    assert plot._selected_frame == 4_998
    plot.select_frame(100)
    with qtbot.waitSignal(plot.frame_clicked) as clicked:
        press(plot, Qt.Key.Key_Right)

    assert clicked.args == [101]
    start, stop = plot.view.visible_frames()
    assert start <= 101 < stop


def test_that_another_axis_keeps_the_frames_in_view(plot: FramePlot) -> None:
    plot.set_timeline(usual_timeline(5_000))
    plot.view.set_frame_span(1_000, 1_500)

    plot.view.set_x_axis(XAxis.TIME)
    assert plot.view.visible_frames() == (1_000, 1_500)
    plot.view.set_x_axis(XAxis.FRAME)
    assert plot.view.visible_frames() == (1_000, 1_500)


def test_that_following_goes_on_when_the_axis_is_another(plot: FramePlot) -> None:
    timeline = usual_timeline(5_000)
    plot.set_timeline(timeline)

    plot.view.set_x_axis(XAxis.TIME)
    add_frame(timeline.frames)
    plot.refresh()

    assert plot.view.is_following
    assert plot.view.visible_frames() == pytest.approx((4_701, 5_001), abs=1)


def test_that_an_instant_pointed_at_elsewhere_is_shown(plot: FramePlot) -> None:
    timeline = timeline_of([20 * MS] * 600)
    plot.set_timeline(timeline)

    plot.view.set_hover_ns(45 * MS)
    assert plot.view.hover == 2.0
    plot.view.set_hover_ns(None)
    assert plot.view.hover is None


def test_that_a_refresh_without_news_draws_nothing(plot: FramePlot, qtbot: QtBot) -> None:
    plot.set_timeline(usual_timeline(5_000))
    plot.grab()
    drawn = plot._bars.picture.columns_drawn

    with qtbot.assertNotEmitted(plot.view.moved):
        plot.refresh()
    plot.grab()

    assert plot._bars.picture.columns_drawn == drawn


def test_that_the_line_at_the_present_moves_on_in_a_plot_that_stays(
    plot: FramePlot, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = usual_timeline(400)
    plot.set_timeline(timeline)
    plot.view.set_x_axis(XAxis.TIME)
    plot.view.make_room_for_lanes(are_shown=True)
    plot.view.set_span(0, 20)
    plot.refresh()
    QApplication.processEvents()
    drawn: list[float | None] = []
    monkeypatch.setattr(plot._overlay, "paint", lambda *_: drawn.append(plot.view.present))

    timeline.set_present(15_000 * MS)
    plot.refresh()
    QApplication.processEvents()

    assert drawn == [15]


def test_that_a_part_painted_alone_looks_as_it_does_in_the_whole(plot: FramePlot) -> None:
    timeline = usual_timeline(400)
    plot.set_timeline(timeline)
    plot.set_budgets_ns((8 * MS, 16 * MS))
    plot.view.choose_frames((200, 240))
    plot.select_frame(260)
    plot.view.set_playhead_ns(300 * 16 * MS)
    plot.point_at(pixel_of_frame(plot, 320))
    place = plot.area().toAlignedRect()
    whole = picture(plot)

    for part in (place, place.adjusted(3, 10, -9, -5), QRect(place.left(), 0, 400, 12)):
        assert plot.grab(part).toImage() == whole.copy(part)


def test_that_new_frames_are_painted_without_the_axis_beside_them(
    plot: FramePlot, monkeypatch: pytest.MonkeyPatch
) -> None:
    painted = []
    plot.show()
    monkeypatch.setattr(plot, "_paint_scale", lambda *_: painted.append("axis"))
    timeline = usual_timeline(400)
    plot.set_timeline(timeline)
    plot.view.make_room_for_lanes(are_shown=True)
    QApplication.processEvents()
    assert painted
    painted.clear()

    for _ in range(10):
        add_frame(timeline.frames)
    plot.refresh()
    QApplication.processEvents()

    assert not painted


def paints_of(plot: FramePlot, monkeypatch: pytest.MonkeyPatch) -> list[QRegion]:
    painted: list[QRegion] = []
    paint = plot.paintEvent

    def paint_noted(event: QPaintEvent) -> None:
        painted.append(event.region())
        paint(event)

    monkeypatch.setattr(plot, "paintEvent", paint_noted)
    return painted


def test_that_no_frame_has_run_is_not_said_beside_the_first_frames(
    plot: FramePlot, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    plot.resize(1_000, 300)
    timeline = timeline_of([])
    plot.set_timeline(timeline)
    plot.view.set_span(0.0, 100.0)
    with qtbot.waitExposed(plot):
        plot.show()
    QApplication.processEvents()
    painted = paints_of(plot, monkeypatch)

    add_frame(timeline.frames, 16 * MS)
    plot.refresh()
    QApplication.processEvents()

    assert any(each.contains(plot.area().center().toPoint()) for each in painted)


@pytest.mark.parametrize(("spike_ms", "is_all_painted"), [(16, False), (400, True)])
def test_that_what_is_above_all_bars_is_not_painted_again_as_they_move(
    plot: FramePlot,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    *,
    spike_ms: int,
    is_all_painted: bool,
) -> None:
    plot.resize(1_000, 300)
    timeline = timeline_of([16 * MS] * 400)
    plot.set_timeline(timeline)
    with qtbot.waitExposed(plot):
        plot.show()
    QApplication.processEvents()
    painted = paints_of(plot, monkeypatch)
    left = round(plot.area().left())

    add_frame(timeline.frames, spike_ms * MS)
    for _ in range(9):
        add_frame(timeline.frames, 16 * MS)
    plot.refresh()
    QApplication.processEvents()

    def is_painted(x: int, y: int) -> bool:
        return any(each.contains(QPoint(x, y)) for each in painted)

    assert is_painted(left + 100, plot.height() - 5)
    assert is_painted(left + 100, 20) is is_all_painted
    # The line at the present is as high as the plot, and is where it was.
    assert is_painted(round(plot.area().right()) - 1, 20) is is_all_painted

    plot.view.make_room_for_lanes(are_shown=True)
    plot.refresh()
    QApplication.processEvents()
    painted.clear()
    timeline.set_present(timeline.at_ns + 10 * MS)
    add_frame(timeline.frames, 10 * MS)
    plot.refresh()
    QApplication.processEvents()
    assert is_painted(plot._line(), 20)


def test_that_a_timeline_that_goes_on_is_shown_at_the_same_place(plot: FramePlot) -> None:
    timeline = usual_timeline(5_000)
    plot.set_timeline(timeline)
    plot.view.set_frame_span(1_000, 1_500)
    plot.view.choose_frames((1_100, 1_200))

    plot.set_timeline(timeline.copy())
    assert plot.view.visible_frames() == (1_000, 1_500)
    assert plot.view.chosen_frames == (1_100, 1_200)
    plot.set_timeline(usual_timeline(5_000, seed=2))
    assert plot.view.visible_frames() == (4_700, 5_000)
    assert plot.view.chosen_frames is None


def test_that_both_themes_and_two_sizes_of_pixels_can_be_painted(
    plot: FramePlot, theme: Theme
) -> None:
    plot.set_timeline(usual_timeline(2_000))
    light = picture(plot)

    theme.set_choice("dark")
    plot.apply_theme()
    dark = picture(plot)

    assert light.pixelColor(light.width() - 5, 5).lightness() > 240
    assert dark.pixelColor(dark.width() - 5, 5).lightness() < 40


def test_that_a_right_click_asks_for_a_menu(plot: FramePlot, qtbot: QtBot) -> None:
    plot.set_timeline(usual_timeline(300))

    with qtbot.waitSignal(plot.menu_requested), qtbot.assertNotEmitted(plot.frame_clicked):
        click(plot, pixel_of_frame(plot, 5), RIGHT)


def test_that_a_closed_plot_can_be_shown_again(plot: FramePlot) -> None:
    plot.set_timeline(usual_timeline(300))

    plot.close()
    gc.collect()
    plot.show()

    assert picture(plot).width() == plot.width()


ALT = Qt.KeyboardModifier.AltModifier


def test_that_alt_and_a_click_put_the_playhead_on_a_frame(plot: FramePlot) -> None:
    timeline = usual_timeline(300)
    plot.set_timeline(timeline)
    moves: list[int] = []
    clicked: list[int] = []
    plot.playhead_moved.connect(moves.append)
    plot.frame_clicked.connect(clicked.append)
    place = pixel_of_frame(plot, 123)

    mouse(plot, QEvent.Type.MouseButtonPress, place, (LEFT, LEFT), ALT)
    mouse(plot, QEvent.Type.MouseButtonRelease, place, (LEFT, NONE), ALT)

    assert moves == [timeline.frames.at_ns[123]]
    assert clicked == []


@pytest.mark.parametrize("axis", list(XAxis))
def test_that_the_playhead_is_drawn_and_stays_in_view(plot: FramePlot, axis: XAxis) -> None:
    timeline = usual_timeline(3_000)
    plot.view.set_x_axis(axis)
    plot.set_timeline(timeline)
    plot.view.set_following(False)
    without = picture(plot)

    plot.view.set_playhead_ns(timeline.frames.at_ns[2_900])
    assert picture(plot) != without
    plot.view.set_playhead_ns(timeline.frames.at_ns[100])
    start, stop = plot.view.visible_frames()
    assert start < 100 < stop
    assert plot.view.playhead_ns == timeline.frames.at_ns[100]

    low = plot.view.range.low
    plot.view.set_playhead_ns(timeline.frames.at_ns[101])
    assert plot.view.range.low == low


def test_that_escape_gives_up_the_choice_and_is_then_left_to_the_window(plot: FramePlot) -> None:
    plot.set_timeline(usual_timeline(300))
    plot.view.choose_frames((10, 20))

    assert press(plot, Qt.Key.Key_Escape)
    assert plot.view.chosen_frames is None
    assert not press(plot, Qt.Key.Key_Escape)


def test_that_frames_that_were_taken_back_leave_the_rest_where_it_was(plot: FramePlot) -> None:
    plot.set_timeline(usual_timeline(3_000))
    plot.view.set_frame_span(500, 600)
    plot.view.choose_frames((550, 2_000))
    view = plot.view.range.low, plot.view.range.high

    plot.set_timeline(usual_timeline(1_000))
    assert (plot.view.range.low, plot.view.range.high) == view
    assert plot.view.chosen_frames == (550, 1_000)

    plot.set_timeline(usual_timeline(520))
    assert plot.view.chosen_span() is None
    plot.grab()
