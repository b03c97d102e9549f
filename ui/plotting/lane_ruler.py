"""The ruler above the lanes: session time, or the local time of any clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter

from inspector.formats.ticks import instant_ticks

from ..kit.theme import ColorRole

if TYPE_CHECKING:
    from inspector.analysis.lanes.clocks import ClockPasts

    from ..kit.theme import Theme
    from .lane_view import LaneWindow

_EVERY: Final = 110
#: Changes of pace that are followed exactly; more are sampled.
_MOST_CHANGES: Final = 400


def ruler_ticks(
    window: LaneWindow, clocks: ClockPasts, clock_id: int
) -> tuple[list[tuple[int, str]], str]:
    """Return where the ticks are, in pixels, with their texts, and the unit of the texts.

    Args:
        window: What is in view.
        clocks: The past of clocks.
        clock_id: Whose local time is shown; 0 for session time.
    """
    count = max(2, window.width // _EVERY)
    if not clock_id:
        ticks = instant_ticks(max(window.low, 0.0), max(window.high, 1.0), count)
        return [(int(window.x(tick.value_ns)), tick.label) for tick in ticks.ticks], ticks.unit
    high = min(window.high, float(window.present_ns))
    instants, locals_ns = clocks.samples(clock_id, max(window.low, 0.0), high, _MOST_CHANGES)
    if len(instants) < 2 or locals_ns[-1] <= locals_ns[0]:  # noqa: PLR2004 - a line
        return [], ""
    share = (instants[-1] - instants[0]) / (window.high - window.low)
    ticks = instant_ticks(float(locals_ns[0]), float(locals_ns[-1]), max(2, round(count * share)))
    # Where it stood still its time is at one place: where it arrived there.
    arrived = np.append(True, np.diff(locals_ns) > 0)
    values = np.array([tick.value_ns for tick in ticks.ticks])
    places = np.interp(values, locals_ns[arrived], instants[arrived])
    return [
        (int(window.x(place)), tick.label)
        for place, tick in zip(places.tolist(), ticks.ticks, strict=True)
    ], ticks.unit


def paint_ruler(
    painter: QPainter,
    window: LaneWindow,
    ticks: tuple[list[tuple[int, str]], str],
    row: QRect,
    theme: Theme,
) -> None:
    """Paint the ruler: ticks, texts and the unit at its right edge."""
    painter.fillRect(row, theme.color(ColorRole.PANEL))
    metrics = painter.fontMetrics()
    places, unit = ticks
    unit_left = row.right() - metrics.horizontalAdvance(unit) - 6
    baseline = row.top() + (row.height() + metrics.ascent() - metrics.descent()) // 2
    last = window.left - 100
    for x, text in places:
        width = metrics.horizontalAdvance(text)
        painter.setPen(theme.color(ColorRole.MUTED_TEXT))
        painter.drawLine(x, row.bottom() - 4, x, row.bottom())
        if x + 3 + width < unit_left and x + 3 >= max(last, window.left):
            painter.setPen(theme.color(ColorRole.TEXT))
            painter.drawText(x + 3, baseline, text)
            last = x + width + 12
    painter.setPen(theme.color(ColorRole.MUTED_TEXT))
    painter.drawText(unit_left, baseline, unit)
