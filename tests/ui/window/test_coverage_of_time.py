"""How much of the window is painted with a time axis."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from tests.ui.shell import SMALL_GAME, Shell
from tests.ui.used_window import Lend
from ui.session.bridge import Selection
from ui.timeline.panel import TimelinePanel

_PIXELS = 13


def percent_with_time(shell: Shell) -> float:
    """Return the share of the window from the frames down to the last lane, without headers."""
    window, lanes = shell.window, shell.window.panels.panel("timeline")
    assert isinstance(lanes, TimelinePanel)
    area = window.frame_times.plot.area().toRect()
    top = window.frame_times.plot.mapTo(window, area.topLeft())
    viewport = lanes.canvas.viewport()
    bottom = viewport.mapTo(window, viewport.rect().bottomRight())
    width, height = bottom.x() + 1 - top.x(), bottom.y() + 1 - top.y()
    assert area.width() <= width
    return 100 * width * height / (window.width() * window.height())


@pytest.mark.parametrize(
    ("size", "percent_of_text", "least"),
    [
        ((1_280, 720), 100, 50),
        ((1_600, 1_000), 100, 57),
        ((2_560, 1_440), 100, 68),
        ((1_280, 720), 150, 50),
    ],
)
def test_that_frames_and_lanes_are_the_window(
    lend: Lend, size: tuple[int, int], percent_of_text: int, least: int
) -> None:
    font = QApplication.font()
    font.setPixelSize(round(_PIXELS * percent_of_text / 100))
    QApplication.setFont(font)
    shell = lend(SMALL_GAME)
    shell.window.resize(*size)
    # Where text is large, the line that stands for the side column is there as well.
    shell.bridge.select(Selection.clock(shell.clock_id("enemies")))
    for _ in range(10):
        shell.advance(1 / 30)
        QApplication.processEvents()

    assert shell.window.size().toTuple() == size
    assert percent_with_time(shell) >= least
    marks = shell.window.frame_times.marks
    assert marks.height() == marks.sizeHint().height()
