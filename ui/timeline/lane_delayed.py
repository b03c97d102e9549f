"""Marks the calls that a blocked loop delayed, while the pointer is on what blocked it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter

from inspector.analysis.lanes.lanes import Lane, LaneKind
from inspector.analysis.lateness.blocks import DelayedCall
from inspector.formats.arrangement.lane_window import LaneWindow
from inspector.timebase import format_duration

from ..kit.theme import ColorRole, Theme

if TYPE_CHECKING:
    from .lane_names import PlacedRow, PlacedRows
    from .lane_surface import LaneSurface

_PAD: Final = 4
_FLAGS: Final = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


def paint_delayed(
    painter: QPainter, theme: Theme, canvas: LaneSurface, window: LaneWindow, rows: PlacedRows
) -> None:
    """Draw a line from the due instant of each call to its firing, and by how much it waited."""
    lanes = canvas.store.lanes
    by_lane: dict[Lane, list[DelayedCall]] = {}
    for each in canvas.delayed:
        lane = lanes.get((LaneKind.TIMER, each.call.clock_id, each.call.name))
        for shown in () if lane is None else filter(None, (lane, lane.family)):
            by_lane.setdefault(shown, []).append(each)
    font = painter.font()
    painter.setFont(canvas.small_font())
    lowest = rows.pinned_box.bottom() + 1
    for placed in (*rows.scrolled, *rows.pinned):
        if placed.row.lane is None or (placed.y < lowest and not placed.row.is_pinned):
            continue
        if delayed := by_lane.get(placed.row.lane):
            _paint_row(painter, theme, window, placed, delayed)
    painter.setFont(font)


def _paint_row(
    painter: QPainter,
    theme: Theme,
    window: LaneWindow,
    placed: PlacedRow,
    delayed: list[DelayedCall],
) -> None:
    orange, middle = theme.color(ColorRole.ORANGE), placed.y + placed.height // 2
    for each in delayed:
        lateness = each.call.lateness
        left, right = int(window.x(lateness.begin_ns)), int(window.x(lateness.end_ns))
        painter.fillRect(left, middle - 2, max(right - left, 2), 4, orange)
        painter.fillRect(left, middle - 6, 2, 12, orange)
    # The most delayed comes first.
    text = f"+{format_duration(delayed[0].ns)}"
    if len(delayed) > 1:
        text += f"  ×{len(delayed):,}"
    width = painter.fontMetrics().horizontalAdvance(text)
    end_ns = max(each.call.lateness.end_ns for each in delayed)
    last = window.left + window.width - width - 2 * _PAD
    box = QRect(min(int(window.x(end_ns)) + _PAD, last), placed.y + 2, width, placed.height - 4)
    painter.fillRect(box.adjusted(-_PAD, 0, _PAD, 0), theme.color(ColorRole.BG))
    painter.setPen(theme.color(ColorRole.TEXT))
    painter.drawText(box, _FLAGS, text)
