"""The part of the frame-time plot that holds the frames: a rectangle and the range it shows."""

import pyqtgraph as pg
from PySide6.QtWidgets import QGraphicsItem, QSizePolicy


class FrameArea(pg.GraphicsWidget):
    """Clips what it holds, and knows which frames and durations it shows.

    What it holds is drawn in pixels, so nothing is transformed. A pyqtgraph view box would
    work out a transform, and tell its axes, for every frame of a plot that follows: a third
    of what a refresh took.

    Attributes:
        span: Left and right edge, in frames or seconds.
        top_ms: The duration at the upper edge, in milliseconds.
    """

    def __init__(self) -> None:
        """Show nothing yet."""
        super().__init__()
        self.span = (0.0, 1.0)
        self.top_ms = 1.0
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemClipsChildrenToShape)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
