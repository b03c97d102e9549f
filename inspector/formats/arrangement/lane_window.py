"""Positions of session instants on lanes, and the ruler above them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.formats.arrangement.frame_series import XAxis
from inspector.formats.drawing.pixel_rects import pixel_rects
from inspector.formats.drawing.ticks import Tick, count_ticks, instant_ticks
from inspector.timebase import NS_PER_SECOND

if TYPE_CHECKING:
    from inspector.analysis.lanes.clocks import ClockPasts
    from inspector.formats.arrangement.sheet import Row, Sheet

_EVERY: Final = 110
#: Pixels: the height of a tick of the ruler, from a tick to its text, and between texts.
TICK: Final = 5
TEXT_FROM_TICK: Final = 4
BETWEEN_TEXTS: Final = 10
#: Pixels are limited to this distance from the left edge, because painters take 32-bit numbers.
_FARTHEST: Final = 1 << 20
#: Added to positions, in pixels, too little to be seen: round times often lie at the edge of a
#: pixel, and without it rounding errors would move them to the next pixel as the view moves.
_NUDGE: Final = 1e-4
#: Up to this many changes of rate are followed exactly; more are sampled.
_MOST_CHANGES: Final = 400


def drawable(x: float) -> float:
    """Return a pixel that a painter can take, however far it is out of view."""
    return min(max(x, -_FARTHEST), _FARTHEST)


class Bends(Struct, frozen=True, eq=False):
    """The instants and their places on an axis along which time does not pass evenly."""

    instants: NDArray[np.float64]  # Session nanoseconds, ascending
    places: NDArray[np.float64]  # The place of each, ascending; between them time passes evenly

    def place(self, at_ns: float) -> float:
        return float(np.interp(at_ns, self.instants, self.places))

    def instant(self, place: float) -> float:
        return float(np.interp(place, self.places, self.instants))


class LaneWindow(Struct, frozen=True):
    low: float  # Left edge in session nanoseconds
    high: float  # Right edge
    left: int  # The pixel of the left edge
    width: int  # How many pixels
    present_ns: int  # The end of the data
    bends: Bends | None = None  # Places in pixels from the left edge; None if time passes evenly

    @property
    def per_pixel(self) -> float:
        """Nanoseconds a pixel covers, on average."""
        return (self.high - self.low) / max(self.width, 1)

    @property
    def span(self) -> float:
        return self.high - self.low

    def x(self, at_ns: float) -> float:
        if self.bends is not None:
            return drawable(self.left + self.bends.place(at_ns))
        # This runs dozens of times in each paint, so per_pixel and drawable are inlined.
        per_pixel = (self.high - self.low) / max(self.width, 1)
        x = self.left + ((at_ns - self.low) / per_pixel + _NUDGE)
        return min(max(x, -_FARTHEST), _FARTHEST)

    def ticks(self, ticks: Iterable[Tick]) -> list[tuple[int, str]]:
        """Return the pixels of ticks in view, with their labels."""
        if self.bends is not None:
            return [(int(self.x(tick.value_ns)), tick.label) for tick in ticks]
        low, left, per_pixel = self.low, self.left, self.per_pixel
        return [
            (int(left + ((tick.value_ns - low) / per_pixel + _NUDGE)), tick.label) for tick in ticks
        ]

    def xs(self, at_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        instants = at_ns.astype(np.float64)
        if self.bends is not None:
            places = np.interp(instants, self.bends.instants, self.bends.places)
        else:
            places = (instants - self.low) / self.per_pixel + _NUDGE
        return _between(self.left + places, -_FARTHEST, _FARTHEST)

    def inner_xs(self, at_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the pixels of instants, moved to the nearest edge if they are out of view."""
        return _between(self.xs(at_ns), self.left, self.left + self.width).astype(np.int64)

    def at(self, x: float) -> float:
        if self.bends is not None:
            return self.bends.instant(x - self.left)
        return self.low + (x - self.left - _NUDGE) * self.per_pixel

    def instants(self, per_pixel: int = 1) -> NDArray[np.int64]:
        """Return the instants at the edges of pixels, or of equal parts of them; not writable."""
        return _instants(self, per_pixel)


@lru_cache(maxsize=8)
def _instants(window: LaneWindow, per_pixel: int) -> NDArray[np.int64]:
    """Return instants; kept, since many lanes of a picture want the same."""
    count = window.width * per_pixel + 1
    if window.bends is None:
        found = np.linspace(window.low, window.high, count)
    else:
        places = np.arange(count) / per_pixel
        found = np.interp(places, window.bends.places, window.bends.instants)
    instants: NDArray[np.int64] = found.astype(np.int64)
    instants.flags.writeable = False
    return instants


def _between(xs: NDArray[np.float64], low: int, high: int) -> NDArray[np.float64]:
    # For a few numbers, clip() takes twice as long.
    return np.minimum(np.maximum(xs, low), high)


def axis_ticks(
    x_axis: XAxis, low: float, high: float, count: int
) -> tuple[list[tuple[float, str]], str]:
    """Return where ticks are on an axis, with their texts, and the unit of the texts."""
    if x_axis is XAxis.FRAME:
        ticks = count_ticks(int(low), int(high) + 1, count)
        return [(tick.value_ns, tick.label) for tick in ticks], "frame"
    found = instant_ticks(max(low, 0.0) * NS_PER_SECOND, high * NS_PER_SECOND, count)
    return [(tick.value_ns / NS_PER_SECOND, tick.label) for tick in found.ticks], found.unit


def ticks_within(pixels: int) -> int:
    return max(2, pixels // _EVERY)


def ruler_ticks(
    window: LaneWindow, clocks: ClockPasts | None, clock_id: int
) -> tuple[list[tuple[int, str]], str]:
    """Return ticks in pixels with texts, and their unit; clock 0 is session time."""
    count = ticks_within(window.width)
    if not clock_id or clocks is None:
        ticks = instant_ticks(max(window.low, 0.0), max(window.high, 1.0), count, NS_PER_SECOND)
        return window.ticks(ticks.ticks), ticks.unit
    high = min(window.high, float(window.present_ns))
    instants, locals_ns = clocks.samples(clock_id, max(window.low, 0.0), high, _MOST_CHANGES)
    if len(instants) < 2 or locals_ns[-1] <= locals_ns[0]:  # noqa: PLR2004 - a line
        return [], ""
    share = (instants[-1] - instants[0]) / (window.high - window.low)
    wanted = max(2, round(count * share))
    ticks = instant_ticks(float(locals_ns[0]), float(locals_ns[-1]), wanted, NS_PER_SECOND)
    # While the clock stood still it had a single local time: its tick is where it arrived there.
    arrived = np.append(True, np.diff(locals_ns) > 0)
    values = np.array([tick.value_ns for tick in ticks.ticks])
    places = np.interp(values, locals_ns[arrived], instants[arrived])
    return [
        (int(window.x(place)), tick.label)
        for place, tick in zip(places.tolist(), ticks.ticks, strict=True)
    ], ticks.unit


def lay_out_ruler(
    sheet: Sheet,
    ticks: Sequence[tuple[int, str]],
    row: Row,
    edges: tuple[float, float],
    taken: Sequence[tuple[float, float]] = (),
) -> None:
    """Lay out ticks with the texts that have room between the edges and places already taken."""
    xs = np.array([x for x, _ in ticks], dtype=np.int64)
    sheet.rects(0, sheet.colors["edge"], pixel_rects(xs, row.bottom - TICK, xs + 1, row.bottom))
    for left, text in ruler_texts(ticks, edges, sheet.width_of, taken):
        sheet.text(1, sheet.colors["muted"], text, left, row)


def ruler_texts(
    ticks: Sequence[tuple[int, str]],
    edges: tuple[float, float],
    width_of: Callable[[str], float],
    taken: Sequence[tuple[float, float]] = (),
) -> list[tuple[int, str]]:
    """Return the texts that have room, and where each begins."""
    found, (free, right) = [], edges
    for x, text in ticks:
        left = x + TEXT_FROM_TICK
        if left < free:
            continue
        end = left + width_of(text)
        if end < right and not any(low <= end and left <= high for low, high in taken):
            found.append((left, text))
            free = end + BETWEEN_TEXTS
    return found
