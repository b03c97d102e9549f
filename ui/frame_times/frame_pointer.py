"""What the pointer is on in the frame-time plot, and what is read there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .frame_overlay_item import Readout
from .frame_readout import frame_readout

if TYPE_CHECKING:
    from PySide6.QtCore import QPointF, QRectF

    from ..plotting.frame_series import FrameSeries
    from .frame_bars_item import FrameBarsItem
    from .frame_overlay_item import FrameOverlayItem


class FramePointer:
    """Reads the slowest of the frames under the pointer, and has it shown.

    Attributes:
        place: Where the pointer is in the plot, ``None`` when it is elsewhere.
    """

    def __init__(self, bars: FrameBarsItem, overlay: FrameOverlayItem) -> None:
        """Point at nothing yet.

        Args:
            bars: Knows which frames are where.
            overlay: Shows what is read.
        """
        self._bars = bars
        self._overlay = overlay
        self.place: QPointF | None = None

    @property
    def frame(self) -> int | None:
        """The frame that is read, ``None`` for none."""
        readout = self._overlay.readout
        return None if readout is None else readout.frame

    def point_at(self, place: QPointF | None, area: QRectF, series: FrameSeries | None) -> bool:
        """Read the frame at a place, until the pointer is elsewhere.

        Args:
            place: Where the pointer is in the plot.
            area: Where the frames are in the plot.
            series: The frames.

        Returns:
            Whether that is another frame than before.
        """
        self.place = place
        former, overlay = self.frame, self._overlay
        found = self._read(place, area, series)
        if found is None:
            if overlay.readout is not None:
                overlay.readout = overlay.hover = None
                overlay.update()
        elif found != (overlay.readout, overlay.hover):
            overlay.readout, overlay.hover = found
            overlay.update()
        return self.frame != former

    def _read(
        self, place: QPointF | None, area: QRectF, series: FrameSeries | None
    ) -> tuple[Readout, float] | None:
        """Return what is read at a place, and the middle of the frame on the axis."""
        if series is None or place is None or not area.left() <= place.x() <= area.right():
            return None
        bars, x = self._bars, place.x() - area.left()
        frames = bars.frames_at(x)
        if frames is None:
            return None
        frame = series.slowest_within(bars.measure, *frames)
        lines = frame_readout(
            series.history.frame(frame), bars.measure, frames[1] - frames[0], bars.budgets_ns
        )
        middle = (series.start_of(frame) + series.start_of(frame + 1)) / 2
        return Readout(frame, lines, x), middle
