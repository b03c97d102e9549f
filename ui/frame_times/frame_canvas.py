"""The parts of the frame-time plot: axes, the picture of the frames, what lies over it."""

import math
from typing import Final

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import QGraphicsGridLayout, QGraphicsWidget

from inspector.timebase import NS_PER_MS

from ..kit.theme import ColorRole, Theme
from ..plotting.frame_series import XAxis
from .frame_axis import (
    BOTTOM_HEIGHT,
    LEFT_WIDTH,
    SIGNS_HEIGHT,
    BudgetAxis,
    DurationAxis,
    FrameArea,
    SpanAxis,
)
from .frame_bars_item import FrameBarsItem
from .frame_overlay_item import FrameOverlayItem

_LEFT: Final = 4


class FrameCanvas:
    """Puts axes, bars and overlay into one widget of a scene, and keeps their range.

    Attributes:
        widget: What goes into the scene.
        bars: The picture of the frames.
        overlay: What lies over it.
    """

    def __init__(self, theme: Theme) -> None:
        self.widget = QGraphicsWidget()
        self._theme = theme
        self._range = (0.0, 0.0, 0)
        layout = QGraphicsGridLayout(self.widget)
        layout.setContentsMargins(_LEFT, 2, 0, 2)
        layout.setSpacing(0)
        layout.setRowFixedHeight(0, SIGNS_HEIGHT)
        self._area = FrameArea()
        self._left = DurationAxis(theme)
        self._bottom = SpanAxis(theme)
        self._right = BudgetAxis(theme)
        for axis, row, column in ((self._left, 1, 0), (self._bottom, 2, 1), (self._right, 1, 2)):
            layout.addItem(axis, row, column)
        layout.addItem(self._area, 1, 1)
        self.bars = FrameBarsItem(self._area, self._left, theme)
        self.overlay = FrameOverlayItem(self.widget, self._area, theme)

    def area(self) -> QRectF:
        return QRectF(self._area.geometry())

    def paint_frames(self, painter: QPainter, exposed: QRectF) -> bool:
        """Paint a part of the widget if only frames and signs are there, the axes are not.

        The scene takes as long to find out what to paint as this takes to paint it.

        Returns:
            Whether that is so.
        """
        origin, room = self.area().topLeft(), self._area.with_signs()
        part = exposed.translated(-origin)
        is_drawn = self.bars.series is not None and self.bars.picture.pixmap is not None
        if not is_drawn or not room.contains(part):
            return False
        painter.translate(origin)
        if part.top() < 0:
            painter.fillRect(part, self._theme.color(ColorRole.BG))
        frames = part.intersected(QRectF(self._area.rect()))
        if not frames.isEmpty():
            self.bars.paint_part(painter, frames)
        self.overlay.paint_part(painter, part)
        return True

    def show_range(self, low: float, high: float, top_ns: int) -> bool:
        """Show a part of the axis up to a duration; returns whether that is another one."""
        if (low, high, top_ns) == self._range:
            return False
        is_other_top = top_ns != self._range[2]
        self._range = (low, high, top_ns)
        area = self._area
        area.span, area.top_ms = (low, high), top_ns / NS_PER_MS
        self._bottom.set_range(low, high)
        if is_other_top:
            for axis in (self._left, self._right):
                axis.set_range(0, area.top_ms)
        return True

    def align(self, left: int, *, has_axis: bool) -> None:
        """Leave room at the left for the names of lanes, and the axis to their ruler.

        Args:
            left: Room in pixels, 0 for as much as is needed.
            has_axis: Whether there is a horizontal axis below the frames.
        """
        self.widget.layout().setContentsMargins(0 if left else _LEFT, 2, 0, 2 if has_axis else 0)
        self._left.set_width(left or LEFT_WIDTH)
        self._bottom.setVisible(has_axis)
        self._bottom.set_height(BOTTOM_HEIGHT if has_axis else 0)

    @property
    def right_width(self) -> int:
        return math.ceil(float(self._right.maximumWidth()))

    def name_durations(self, name: str) -> None:
        self._left.set_name(name)

    def name_budgets(self, budgets_ns: tuple[int, ...]) -> None:
        self.bars.budgets_ns = budgets_ns
        self._right.set_budgets_ns(budgets_ns)

    def name_span(self, x_axis: XAxis) -> None:
        self._bottom.set_x_axis(x_axis)

    def name_time(self, name: str) -> None:
        self._bottom.set_time_name(name)

    def apply_theme(self, font: QFont) -> None:
        self.widget.setFont(font)
        self.bars.forget_colors()
        self._right.set_budgets_ns(self.bars.budgets_ns)
        self.widget.update()
        for part in (self._left, self._bottom, self._right, self.overlay):
            part.update()
