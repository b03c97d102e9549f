"""Appearance of shapes: in their own colours, or as their clock lets them.

What belongs to a clock that stands still is grey and hatched; a clock that runs at another rate
than the scene is named with its rate. The window and exported pictures show the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from math import sqrt
from typing import Final, NamedTuple, TypeAlias

from inspector.events.timeline import Timeline
from inspector.pictures.shapes import Shape, ShapeKind
from inspector.vocabulary import RATE_DENOMINATOR, rate_chip

#: How much of its colour a shape that stands still loses, and how far it moves to a middle grey.
_FADED: Final = 0.88
_TOWARDS_GREY: Final = 0.3
_GREY: Final = 0x8A

_PAUSED: Final = " paused"
#: More clocks than these are counted instead of named.
_MOST_NOTED: Final = 3

#: Kinds without an area to hatch.
_THIN: Final = frozenset({ShapeKind.LINE, ShapeKind.TEXT})

Segment: TypeAlias = "tuple[float, float, float, float]"


class ClockAppearance(NamedTuple):
    clock_id: int
    is_stopped: bool  # Whether it stands still: by its own pause or that of an ancestor
    note: str  # What to say of it, such as enemies paused or enemies ×¼; empty for nothing


def clock_appearances(timeline: Timeline, shapes: Iterable[Shape]) -> dict[int, ClockAppearance]:
    """Return how the shapes of each clock look that has some.

    Only a clock whose own pause or rate is unusual has a note; those below it look the same
    for the same reason.
    """
    found = {}
    for clock_id in {shape.clock for shape in shapes}:
        if clock_id not in timeline.clocks:
            continue
        is_stopped = bool(timeline.pause_reasons(clock_id))
        found[clock_id] = ClockAppearance(clock_id, is_stopped, "")
    for clock_id in {each.id for shown in found for each in timeline.path(shown)}:
        clock = timeline.clocks[clock_id]
        if clock.n == 0:
            note = f"{clock.name}{_PAUSED}"
        elif clock.n != RATE_DENOMINATOR:
            note = f"{clock.name} {rate_chip(clock.n)}"
        else:
            continue
        is_stopped = bool(timeline.pause_reasons(clock_id))
        found[clock_id] = ClockAppearance(clock_id, is_stopped, note)
    return found


def notes_of(looks: Mapping[int, ClockAppearance]) -> list[str]:
    """Return the legend of the clocks, in the order in which they were made.

    Of many clocks that stand still, or run at other rates, only the number is said.
    """
    noted = [looks[number].note for number in sorted(looks) if looks[number].note]
    stopped = [note for note in noted if note.endswith(_PAUSED)]
    others = [note for note in noted if not note.endswith(_PAUSED)]
    if len(stopped) > _MOST_NOTED:
        stopped = [f"{len(stopped):,} clocks{_PAUSED}"]
    if len(others) > _MOST_NOTED:
        others = [f"{len(others):,} clocks at other rates"]
    return stopped + others


@lru_cache(maxsize=4096)
def faded(color: str) -> str:
    """Return the colour of what stands still: grey, about as light; an empty text as it is."""
    if not color:
        return color
    red, green, blue = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    # Luminance of Rec. 709 without gamma, which is close enough for a grey.
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    grey = light + (_GREY - light) * _TOWARDS_GREY
    mixed = (round(part + (grey - part) * _FADED) for part in (red, green, blue))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def hatching(shape: Shape, gap: float, reach: float) -> list[tuple[float, float]]:
    """Return a line to and fro across the area of a shape, diagonally, ``gap`` apart.

    Empty for what has no area, or is too small for a line, or is outside of the picture.
    """
    if shape.kind in _THIN:
        return []
    numbers = shape.numbers
    if shape.kind == ShapeKind.CIRCLE:
        x, y, radius = numbers
        segments = _across_circle(x, y, radius, gap, reach)
    elif shape.kind == ShapeKind.BOX:
        x, y, width, height = numbers
        corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
        segments = _across_polygon(corners, gap, reach)
    else:
        corners = list(zip(numbers[::2], numbers[1::2], strict=True))
        segments = _across_polygon(corners, gap, reach)
    found = []
    for number, (x1, y1, x2, y2) in enumerate(segments):
        found += [(x1, y1), (x2, y2)] if number % 2 else [(x2, y2), (x1, y1)]
    return found


def _across_circle(x: float, y: float, radius: float, gap: float, reach: float) -> list[Segment]:
    """Return the chords of a circle where x + y is a multiple of the gap."""
    found = []
    step, radius = gap * sqrt(2), abs(radius)
    least, most = x + y - radius * sqrt(2), min(x + y + radius * sqrt(2), reach)
    count = int(max(least, 0.0) // step) + 1
    while count * step < most:
        off = (count * step - x - y) / 2
        half = sqrt(max(radius * radius - 2 * off * off, 0.0)) / sqrt(2)
        found.append((x + off - half, y + off + half, x + off + half, y + off - half))
        count += 1
    return found


def _across_polygon(corners: list[tuple[float, float]], gap: float, reach: float) -> list[Segment]:
    """Return the parts inside of a polygon of the lines where x + y is a multiple of the gap."""
    found: list[Segment] = []
    step = gap * sqrt(2)
    sums = [x + y for x, y in corners]
    count, most = int(max(min(sums), 0.0) // step) + 1, min(max(sums), reach)
    edges = list(zip(corners, [*corners[1:], corners[0]], strict=True))
    while count * step < most:
        at = count * step
        hits = sorted(
            x1 + (x2 - x1) * (at - x1 - y1) / (x2 + y2 - x1 - y1)
            for (x1, y1), (x2, y2) in edges
            if (x1 + y1 <= at) != (x2 + y2 <= at)
        )
        found += [
            (left, at - left, right, at - right)
            for left, right in zip(hits[::2], hits[1::2], strict=False)
        ]
        count += 1
    return found


def shape_at(shapes: list[Shape], x: float, y: float, reach: float) -> Shape | None:
    """Return the front-most shape of a clock within ``reach``, of shapes from back to front."""
    for shape in reversed(shapes):
        if shape.clock and _is_at(shape, x, y, reach):
            return shape
    return None


def _is_at(shape: Shape, x: float, y: float, reach: float) -> bool:
    numbers = shape.numbers
    match shape.kind:
        case ShapeKind.CIRCLE:
            cx, cy, radius = numbers
            return (x - cx) ** 2 + (y - cy) ** 2 <= (abs(radius) + reach) ** 2
        case ShapeKind.BOX:
            bx, by, width, height = numbers
            is_beside = bx - reach <= x <= bx + width + reach
            return is_beside and by - reach <= y <= by + height + reach
        case ShapeKind.TEXT:
            tx, ty, size = numbers
            # An estimate, because the widths of fonts are not known here.
            long = 0.6 * size * len(shape.text)
            left = tx - (0.0, long / 2, long)[shape.anchor]
            return left <= x <= left + long and ty - size <= y <= ty
        case _:
            points = list(zip(numbers[::2], numbers[1::2], strict=True))
            if shape.kind == ShapeKind.POLYGON and _is_inside(points, x, y):
                return True
            return any(
                _distance_2(x, y, *start, *end) <= (reach + shape.width / 2) ** 2
                for start, end in pairwise(points)
            )


def _is_inside(points: list[tuple[float, float]], x: float, y: float) -> bool:
    is_in = False
    for (x1, y1), (x2, y2) in zip(points, [*points[1:], points[0]], strict=True):
        if (y1 > y) != (y2 > y) and x < x1 + (x2 - x1) * (y - y1) / (y2 - y1):
            is_in = not is_in
    return is_in


def _distance_2(x: float, y: float, x1: float, y1: float, x2: float, y2: float) -> float:  # noqa: PLR0913, PLR0917
    """Return the square of the distance of a point from a line segment."""
    dx, dy = x2 - x1, y2 - y1
    length_2 = dx * dx + dy * dy
    along = 0.0 if not length_2 else max(0, min(1, ((x - x1) * dx + (y - y1) * dy) / length_2))
    return (x - x1 - along * dx) ** 2 + (y - y1 - along * dy) ** 2
