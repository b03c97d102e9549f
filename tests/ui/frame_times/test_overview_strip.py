"""The overview strip: all frames, a brush, and next to no work per refresh."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.formats.arrangement.frame_series import FrameSeries, XAxis
from tests.ui.plotting.frames import MS, add_frame, timeline_of, usual_timeline
from ui.frame_times.overview_strip import OverviewStrip
from ui.kit.theme import ColorRole, Theme
from ui.plotting.shared_view import SharedView

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton


@pytest.fixture
def strip(qtbot: QtBot, theme: Theme) -> OverviewStrip:
    strip = OverviewStrip(theme)
    qtbot.addWidget(strip)
    strip.resize(1_000, 40)
    strip.show()
    return strip


def mouse(strip: OverviewStrip, kind: QEvent.Type, x: float, held: Qt.MouseButton = LEFT) -> None:
    place = QPointF(x, 20)
    button = NONE if kind is QEvent.Type.MouseMove else LEFT
    keys = Qt.KeyboardModifier.NoModifier
    event = QMouseEvent(kind, place, strip.mapToGlobal(place), button, held, keys)
    QApplication.sendEvent(strip, event)


def drag(strip: OverviewStrip, start: float, end: float) -> None:
    mouse(strip, QEvent.Type.MouseButtonPress, start)
    mouse(strip, QEvent.Type.MouseMove, end)
    mouse(strip, QEvent.Type.MouseButtonRelease, end, NONE)


def x_of(strip: OverviewStrip, frame: float) -> float:
    """Return where a frame is: 1 000 frames and a seventh more take all of the strip."""
    return (frame + 0.5 - strip._low - 0.5) / (strip._high - strip._low) * strip.width()


def test_that_new_frames_are_added_without_drawing_the_rest(strip: OverviewStrip) -> None:
    timeline = usual_timeline(100_000)
    series = FrameSeries(timeline.frames)
    strip.set_series(series)
    strip.set_visible(0, 1)
    drawn = strip.picture.columns_drawn

    for _ in range(200):
        add_frame(timeline.frames)
        series.read_new_frames()
        strip.set_visible(0, 1)

    assert strip.picture.full_redraws == 1
    assert strip.picture.columns_drawn - drawn <= 4 * 200


def test_that_everything_is_drawn_again_only_now_and_then(strip: OverviewStrip) -> None:
    timeline = usual_timeline(300)
    series = FrameSeries(timeline.frames)
    strip.set_series(series)

    for _ in range(600):
        add_frame(timeline.frames)
        series.read_new_frames()
        strip.set_visible(0, 1)

    # 1.15 ** 8 is 3.06.
    assert strip.picture.full_redraws <= 10


@pytest.mark.parametrize("axis", list(XAxis))
def test_that_a_spike_in_the_newest_frame_is_seen_at_once(
    strip: OverviewStrip, axis: XAxis, theme: Theme
) -> None:
    timeline = usual_timeline(300_000)
    series = FrameSeries(timeline.frames, axis)
    strip.set_series(series)
    strip.set_visible(0, 0)
    strip.grab()

    add_frame(timeline.frames, 16 * MS)
    add_frame(timeline.frames, 800 * MS)
    series.read_new_frames()
    strip.set_visible(0, 0)

    (place,) = strip.picture.spikes.places.tolist()
    assert strip.picture.pixmap is not None
    image, box = QImage(strip.size(), QImage.Format.Format_RGB32), QRectF(strip.rect())
    with QPainter(image) as painter:
        strip.picture.pixmap.draw(painter, box, box)
    # One colour down to the ground, although its column has a low mean.
    rows = range(1, image.height() - 1)
    assert {image.pixelColor(place, y).name() for y in rows} == {theme.color(ColorRole.RED).name()}


def test_that_dragging_the_brush_moves_what_is_in_view(strip: OverviewStrip, qtbot: QtBot) -> None:
    strip.set_series(FrameSeries(usual_timeline(10_000).frames))
    strip.set_visible(2_000, 4_000)
    start = x_of(strip, 3_000)

    with qtbot.waitSignal(strip.range_brushed) as brushed:
        drag(strip, start, start + 100)

    per_pixel = (strip._high - strip._low) / strip.width()
    assert brushed.args == pytest.approx([2_000 + 100 * per_pixel, 4_000 + 100 * per_pixel])


def test_that_an_edge_of_the_brush_can_be_dragged(strip: OverviewStrip, qtbot: QtBot) -> None:
    strip.set_series(FrameSeries(usual_timeline(10_000).frames))
    strip.set_visible(2_000, 4_000)

    with qtbot.waitSignal(strip.range_brushed) as brushed:
        drag(strip, x_of(strip, 4_000), x_of(strip, 6_000))
    assert brushed.args == pytest.approx([2_000, 6_000], abs=12)
    with qtbot.waitSignal(strip.range_brushed) as brushed:
        drag(strip, x_of(strip, 2_000), x_of(strip, 1_000))
    assert brushed.args == pytest.approx([1_000, 4_000], abs=12)


def test_that_a_click_beside_the_brush_brings_it_there(strip: OverviewStrip, qtbot: QtBot) -> None:
    strip.set_series(FrameSeries(usual_timeline(10_000).frames))
    strip.set_visible(2_000, 4_000)

    with qtbot.waitSignal(strip.range_brushed) as brushed:
        mouse(strip, QEvent.Type.MouseButtonPress, x_of(strip, 8_000))

    assert brushed.args == pytest.approx([7_000, 9_000], abs=12)


def test_that_the_wheel_moves_and_a_double_click_fits(strip: OverviewStrip, qtbot: QtBot) -> None:
    strip.set_series(FrameSeries(usual_timeline(10_000).frames))
    strip.set_visible(2_000, 4_000)
    place = QPointF(500, 20)
    wheel = QWheelEvent(
        place,
        strip.mapToGlobal(place),
        QPoint(),
        QPoint(0, -120),
        NONE,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )

    with qtbot.waitSignal(strip.range_brushed) as brushed:
        QApplication.sendEvent(strip, wheel)
    assert brushed.args == [2_500, 4_500]
    with qtbot.waitSignal(strip.fit_requested):
        mouse(strip, QEvent.Type.MouseButtonDblClick, 500)


def test_that_keys_move_what_is_in_view(strip: OverviewStrip, theme: Theme, qtbot: QtBot) -> None:
    view = SharedView(theme)
    view.set_pixels(1_000)
    view.set_timeline(usual_timeline(10_000))
    strip.moved = view
    low, high = view.range.low, view.range.high

    qtbot.keyClick(strip, Qt.Key.Key_Left)
    assert view.range.high == pytest.approx(high - (high - low) / 2)
    qtbot.keyClick(strip, Qt.Key.Key_Up)
    assert view.range.span == pytest.approx((high - low) / 1.5)
    qtbot.keyClick(strip, Qt.Key.Key_Home)
    assert view.visible_frames() == (0, 10_000)


def test_that_an_empty_strip_can_be_painted_and_clicked(strip: OverviewStrip) -> None:
    strip.grab()
    drag(strip, 10, 500)
    strip.set_series(FrameSeries(timeline_of([]).frames))
    strip.grab()
    drag(strip, 10, 500)

    assert strip.picture.pixmap is None
