"""The range of session time that the lanes show: fitted, following the present, or chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter

from inspector.formats.ticks import instant_ticks

from ..kit.theme import ColorRole
from .frame_view import ViewMode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inspector.analysis.lanes.clocks import ClockPasts

    from ..kit.theme import Theme

#: Initial range of a following view, in nanoseconds.
FOLLOWED_NS: Final = 5e9
#: Position of the present in a following view; predictions have the rest.
PRESENT_AT: Final = 0.85
_SHORTEST_NS: Final = 1_000.0
_FIT_ROOM: Final = 0.04
_WIDEST: Final = 1.5
_EVERY: Final = 110
#: Changes of rate that are followed exactly; more are sampled.
_MOST_CHANGES: Final = 400


@dataclass(slots=True)
class LaneView:
    """A range of session time, and its reaction to the passage of time.

    Attributes:
        low: Left edge, in nanoseconds.
        high: Right edge.
        mode: Reaction to the passage of time.
    """

    low: float = 0.0
    high: float = FOLLOWED_NS
    mode: ViewMode = ViewMode.FOLLOW

    @property
    def span(self) -> float:
        """Length of the range."""
        return self.high - self.low

    def settle(self, present_ns: int, pixels: int) -> None:
        """Move as the mode says; a following view moves by whole pixels."""
        match self.mode:
            case ViewMode.FIT:
                self.low, self.high = 0.0, max(present_ns * (1 + _FIT_ROOM), 1e6)
            case ViewMode.FOLLOW:
                span = self.span
                pixel = span / max(pixels, 1)
                low = max(present_ns - PRESENT_AT * span, 0.0)
                self.low = low // pixel * pixel
                self.high = self.low + span
            case ViewMode.FREE:
                pass

    def zoom(self, factor: float, about: float, present_ns: int) -> None:
        """Show ``factor`` times as much, around an instant.

        A following view keeps following, at its new span.
        """
        widest = max(_WIDEST * present_ns, self.span, 1e9)
        span = min(max(self.span * factor, _SHORTEST_NS), widest)
        if self.mode is ViewMode.FOLLOW:
            self.high = self.low + span
            return
        share = (about - self.low) / self.span
        self.mode = ViewMode.FREE
        self.low = about - share * span
        self.high = self.low + span
        self._stay_near(present_ns)

    def pan(self, distance: float, present_ns: int) -> None:
        """Move along the axis; stops following."""
        self.mode = ViewMode.FREE
        self.low, self.high = self.low + distance, self.high + distance
        self._stay_near(present_ns)

    def show(self, low: float, high: float, present_ns: int) -> None:
        """Show a range; stops following."""
        self.mode = ViewMode.FREE
        middle, half = (low + high) / 2, max(high - low, _SHORTEST_NS) / 2
        self.low, self.high = middle - half, middle + half
        self._stay_near(present_ns)

    def follow(self, span: float = FOLLOWED_NS) -> None:
        """Keep the present in view from now on."""
        self.mode = ViewMode.FOLLOW
        self.high = self.low + span

    def _stay_near(self, present_ns: int) -> None:
        """Keep some of the session visible."""
        edge = 0.1 * self.span
        shift = max(0.0, edge - self.high) - max(0.0, self.low - (present_ns - edge))
        self.low, self.high = self.low + shift, self.high + shift


@dataclass(frozen=True, slots=True)
class LaneWindow:
    """What is in view, and the pixels it is shown in.

    Attributes:
        low: Left edge in session nanoseconds.
        high: Right edge.
        left: The pixel of the left edge.
        width: How many pixels.
        present_ns: Until when there is anything.
    """

    low: float
    high: float
    left: int
    width: int
    present_ns: int

    @property
    def per_pixel(self) -> float:
        """Nanoseconds a pixel covers."""
        return (self.high - self.low) / max(self.width, 1)

    def x(self, at_ns: float) -> float:
        """Return the pixel of an instant."""
        return self.left + (at_ns - self.low) / self.per_pixel

    def xs(self, at_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the pixels of instants."""
        return self.left + (at_ns.astype(np.float64) - self.low) / self.per_pixel

    def at(self, x: float) -> float:
        """Return the instant of a pixel."""
        return self.low + (x - self.left) * self.per_pixel


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
