"""Where frames are drawn in a plot, for a mouse to point at."""

from __future__ import annotations

from PySide6.QtCore import QPointF

from ui.frame_times.plotted_frames import PlottedFrames


def pixel_of_frame(plot: PlottedFrames, frame: int) -> QPointF:
    """Return a place in the middle of a frame, just above the axis."""
    assert plot.series is not None, "without frames no frame has a place"
    start, end = plot.series.start_of(frame), plot.series.start_of(frame + 1)
    shown, area = plot.view.range, plot.area()
    share = ((start + end) / 2 - shown.low) / shown.span
    return QPointF(area.x() + share * area.width(), area.bottom() - 2)
