"""A picture that is extended and scrolled is the picture that is drawn at once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from inspector.formats.arrangement.frame_bars import (
    NO_SPIKES,
    BarScale,
    Spikes,
    frame_bars,
    newest_frame_bars,
)
from inspector.formats.arrangement.frame_series import FrameBar, FrameSeries, Window, XAxis
from tests.ui.plotting.frames import MS, add_frame, usual_timeline
from ui.kit.theme import Theme
from ui.plotting.bulk_paint import fill_rects
from ui.plotting.column_picture import ColumnPicture
from ui.plotting.sheet_painter import color_of

WIDTH, HEIGHT = 300, 60


class Painted:
    """A picture of one series, by the plot's own way of drawing."""

    def __init__(self, series: FrameSeries, theme: Theme) -> None:
        self.series = series
        self.picture = ColumnPicture(self.draw)
        self._theme = theme

    def draw(
        self,
        painter: QPainter,
        series: FrameSeries,
        window: Window,
        pixels: range,
        newest: Sequence[FrameBar] | None,
    ) -> Spikes:
        painter.fillRect(pixels.start, 0, len(pixels), window.height, QColor("white"))
        scale = BarScale(window.height, 30 * MS, 16 * MS)
        if newest is not None:
            bars = newest_frame_bars(series, "interval", newest, scale)
        else:
            columns = series.columns(window, pixels.start, pixels.stop)
            if not len(columns):
                return NO_SPIKES
            bars = frame_bars(series, "interval", columns, scale)
        for fill, rects in bars.layers:
            fill_rects(painter, rects, color_of(fill, self._theme))
        return bars.spikes

    def show(self, low: float, high: float) -> tuple[int, int]:
        window = Window(low, high, WIDTH, HEIGHT)
        return self.picture.bring_up_to_date(self.series, "interval", window, None)

    def image(self) -> QImage:
        assert self.picture.pixmap is not None
        image, box = QImage(WIDTH, HEIGHT, QImage.Format.Format_RGB32), QRectF(0, 0, WIDTH, HEIGHT)
        with QPainter(image) as painter:
            self.picture.pixmap.draw(painter, box, box)
        return image


@pytest.mark.parametrize("axis", list(XAxis))
@pytest.mark.parametrize("count", [5, 200, 290, 2_000])
def test_that_frames_drawn_one_by_one_give_the_picture_of_all(
    theme: Theme, axis: XAxis, count: int
) -> None:
    random = np.random.default_rng(count)
    history = usual_timeline(count).frames
    grown = Painted(FrameSeries(history, axis), theme)
    low, high = grown.series.bounds()
    high = low + 1.1 * (high - low)
    grown.show(low, high)

    for _ in range(count // 20):
        add_frame(history, int(random.integers(MS, 45 * MS)))
        grown.series.read_new_frames()
        grown.show(low, high)

    at_once = Painted(FrameSeries(history, axis), theme)
    at_once.show(low, high)
    assert grown.picture.full_redraws == 1
    assert grown.image() == at_once.image()
    assert grown.picture.spikes.is_same(at_once.picture.spikes)


@pytest.mark.parametrize(("frames_in_view", "added"), [(150, 1), (300, 1), (600, 7), (3_000, 10)])
def test_that_a_scrolled_picture_is_the_one_that_is_drawn_anew(
    theme: Theme, frames_in_view: int, added: int
) -> None:
    random = np.random.default_rng(frames_in_view)
    history = usual_timeline(frames_in_view).frames
    scrolled = Painted(FrameSeries(history), theme)
    pixel = frames_in_view / WIDTH

    for _ in range(60):
        for _ in range(added):
            add_frame(history, int(random.integers(MS, 45 * MS)))
        scrolled.series.read_new_frames()
        low = np.ceil((scrolled.series.end - frames_in_view) / pixel) * pixel
        scrolled.show(low, low + frames_in_view)

    at_once = Painted(FrameSeries(history), theme)
    at_once.show(low, low + frames_in_view)
    assert scrolled.picture.full_redraws == 1
    assert scrolled.image() == at_once.image()
    assert scrolled.picture.spikes.is_same(at_once.picture.spikes)


def test_that_what_is_empty_beside_the_newest_frames_is_moved_not_drawn(theme: Theme) -> None:
    random = np.random.default_rng(7)
    history = usual_timeline(120).frames
    scrolled = Painted(FrameSeries(history), theme)
    low = 30.0
    scrolled.show(low, low + 120)
    drawn = scrolled.picture.columns_drawn

    for _ in range(100):
        add_frame(history, int(random.integers(MS, 45 * MS)))
        scrolled.series.read_new_frames()
        low += 1.2
        scrolled.show(low, low + 120)

    at_once = Painted(FrameSeries(history), theme)
    at_once.show(low, low + 120)
    assert scrolled.picture.full_redraws == 1
    assert scrolled.picture.columns_drawn - drawn < 100 * 20
    assert scrolled.image() == at_once.image()


@pytest.mark.parametrize("axis", list(XAxis))
@pytest.mark.parametrize("per_pixel", [0.2, 0.9, 3.0])
def test_that_a_view_that_moves_without_new_frames_draws_what_comes_into_view(
    theme: Theme, axis: XAxis, per_pixel: float
) -> None:
    random = np.random.default_rng(3)
    history = usual_timeline(10).frames
    for _ in range(round(1.5 * WIDTH * per_pixel)):
        add_frame(history, int(random.choice([MS // 10, 20 * MS])))
    moved = Painted(FrameSeries(history, axis), theme)
    low, high = moved.series.bounds()
    pixel = (high - low) / WIDTH * 2 / 3
    low = math.ceil(low / pixel) * pixel
    moved.show(low, low + WIDTH * pixel)
    drawn = moved.picture.columns_drawn

    for _ in range(30):
        low += 9 * pixel
        moved.show(low, low + WIDTH * pixel)
        at_once = Painted(FrameSeries(history, axis), theme)
        at_once.show(low, low + WIDTH * pixel)
        # At the edge it depends on rounding whether a frame that ends there can be seen.
        inner = 1, 0, WIDTH - 1, HEIGHT
        assert moved.image().copy(*inner) == at_once.image().copy(*inner)

    assert moved.picture.full_redraws == 1
    assert moved.picture.columns_drawn - drawn < 30 * 20


@pytest.mark.parametrize("axis", list(XAxis))
def test_that_a_picture_without_frames_can_be_moved(theme: Theme, axis: XAxis) -> None:
    empty = Painted(FrameSeries(usual_timeline(0).frames, axis), theme)
    empty.show(0.0, 3.0)

    assert empty.show(1.0, 4.0) == (0, WIDTH)
    assert empty.show(1.0, 4.0) == (0, 0)


def test_that_one_more_of_many_frames_draws_next_to_nothing(theme: Theme) -> None:
    history = usual_timeline(100_000).frames
    painted = Painted(FrameSeries(history), theme)
    painted.show(-0.5, 102_000)
    drawn = painted.picture.columns_drawn

    for _ in range(100):
        add_frame(history)
        painted.series.read_new_frames()
        painted.show(-0.5, 102_000)

    assert painted.picture.full_redraws == 1
    assert painted.picture.columns_drawn - drawn <= 400


def test_that_a_spike_is_drawn_at_once_among_frames_that_can_wait(theme: Theme) -> None:
    history = usual_timeline(300_000).frames
    painted = Painted(FrameSeries(history), theme)
    painted.show(-0.5, 306_000)

    add_frame(history)
    painted.series.read_new_frames()
    assert painted.show(-0.5, 306_000) == (0, 0)
    add_frame(history, 99 * MS)
    painted.series.read_new_frames()
    start, stop = painted.show(-0.5, 306_000)

    assert start < stop
    assert painted.picture.spikes.times_ns.tolist() == [99 * MS]


def test_that_everything_is_drawn_when_the_look_or_the_size_is_another(theme: Theme) -> None:
    painted = Painted(FrameSeries(usual_timeline(100).frames), theme)
    window = Window(-0.5, 99.5, WIDTH, HEIGHT)
    smaller = Window(-0.5, 99.5, WIDTH - 1, HEIGHT)
    back = Window(-10.5, 89.5, WIDTH - 1, HEIGHT)
    up_to_date = painted.picture.bring_up_to_date

    assert up_to_date(painted.series, "interval", window, "a") == (0, WIDTH)
    assert up_to_date(painted.series, "interval", window, "a") == (0, 0)
    assert up_to_date(painted.series, "interval", window, "b") == (0, WIDTH)
    assert up_to_date(painted.series, "busy", window, "b") == (0, WIDTH)
    assert up_to_date(painted.series, "busy", smaller, "b") == (0, WIDTH - 1)
    assert up_to_date(painted.series, "busy", back, "b") == (0, WIDTH - 1)
    assert painted.picture.full_redraws == 5


def test_that_nothing_is_drawn_into_no_pixels(theme: Theme) -> None:
    painted = Painted(FrameSeries(usual_timeline(200).frames), theme)
    painted.show(0, 200)
    before = painted.image()

    for width, height in ((0, HEIGHT), (WIDTH, 0)):
        window = Window(0, 200, width, height)
        found = painted.picture.bring_up_to_date(painted.series, "interval", window, None)
        assert found == (0, 0)

    assert painted.image() == before
