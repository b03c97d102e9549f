"""The shapes of a scene's picture as display-list items: the same in the window and in files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import cos, pi, sin
from typing import Final

from msgspec import Struct

from inspector.formats.drawing.display_list import (
    Anchor,
    Box,
    Circle,
    Item,
    Point,
    Polygon,
    Polyline,
    Rect,
    Stroke,
    Text,
)
from inspector.pictures.appearance import ClockAppearance, faded, hatching
from inspector.pictures.pictures import Picture
from inspector.pictures.shapes import ANCHORS, Shape, ShapeKind

#: Distance of the hatching of shapes that stand still, as a share of the width of the picture.
_GAP: Final = 1 / 120
_HATCH: Final = "#5b626b"
_CORNERS: Final = 40

#: Compared with the kind of every moving shape; looking up the members would take most of the time.
_CIRCLE, _BOX, _LINE, _TEXT = ShapeKind.CIRCLE, ShapeKind.BOX, ShapeKind.LINE, ShapeKind.TEXT

_ANCHORS: Final = tuple(Anchor(name) for name in ANCHORS)
_RING: Final = tuple(
    (cos(2 * pi * n / _CORNERS), sin(2 * pi * n / _CORNERS)) for n in range(_CORNERS)
)


class SceneMoment(Struct, frozen=True):
    """A picture with what is known about its clocks."""

    picture: Picture
    looks: Mapping[int, ClockAppearance]  # How the shapes of its clocks look
    at_ns: int  # Its instant, in session nanoseconds


class Halo(Struct, frozen=True):
    """A line around everything that is marked, seen where it stands out from the rest."""

    color_of: Callable[[Shape], str]  # Returns the colour around a shape, empty for none
    width: float  # Its width, in units of the picture


def picture_items(
    picture: Picture,
    looks: Mapping[int, ClockAppearance],
    scale: float = 1.0,
    halo: Halo | None = None,
) -> list[Item]:
    stopped = {number for number, look in looks.items() if look.is_stopped}
    around = {} if halo is None else _halo_items(picture.shapes, halo, scale)
    if not (stopped or around):
        # The usual case, thirty times a second.
        return [item for shape in picture.shapes for item in shape_items(shape, scale, False)]
    found: list[Item] = []
    gap, reach = picture.width * _GAP, picture.width + picture.height
    for place, shape in enumerate(picture.shapes):
        if place in around:
            found += around[place]
        is_stopped = shape.clock in stopped
        found += shape_items(shape, scale, is_stopped)
        if is_stopped and _is_large(shape, gap) and (path := hatching(shape, gap, reach)):
            points = tuple([Point(x * scale, y * scale) for x, y in path])
            found.append(Polyline(points, Stroke(_HATCH, gap * scale / 6)))
    return found


def _halo_items(shapes: Sequence[Shape], halo: Halo, scale: float) -> dict[int, list[Item]]:
    """Return what is drawn below each run of marked shapes, so that bodies have one outline."""
    found: dict[int, list[Item]] = {}
    former, items = "", list[Item]()
    for place, shape in enumerate(shapes):
        color = halo.color_of(shape)
        if color and color != former:
            items = found[place] = []
        if color:
            items += _around(shape, halo.width, color, scale)
        former = color
    return found


def _around(shape: Shape, width: float, color: str, scale: float) -> list[Item]:
    if shape.kind == _TEXT:
        return []
    if shape.kind == _CIRCLE:
        x, y, radius = (number * scale for number in shape.numbers)
        reach = width + (shape.width / 2 if shape.line else 0.0)
        return [Circle(Point(x, y), abs(radius) + reach * scale, color)]
    # The stroke is wide enough for the outline of the shape and the halo on both sides.
    stroke = Stroke(color, ((shape.width if shape.line else 0.0) + 2 * width) * scale)
    outline = outline_of(shape.kind, [number * scale for number in shape.numbers])
    return [Polyline(tuple([Point(*each) for each in outline]), stroke)]


def _is_large(shape: Shape, gap: float) -> bool:
    """Return whether a shape is large enough for hatching; the lines would fill a smaller one."""
    if not shape.fill:
        return False
    if shape.kind == _BOX:
        return min(map(abs, shape.numbers[2:])) > gap
    return True


@lru_cache(maxsize=4096)
def shape_items(shape: Shape, scale: float, is_stopped: bool) -> tuple[Item, ...]:  # noqa: FBT001 - keywords make the key of a cache slow
    """Return a shape in its own colours, or in those of what stands still."""
    fill, line = shape.fill, shape.line
    if is_stopped:
        fill, line = faded(fill), faded(line)
    numbers = shape.numbers if scale == 1 else [number * scale for number in shape.numbers]
    if shape.kind == _TEXT:
        x, y, size = numbers
        return (Text(Point(x, y), shape.text, abs(size), fill, _ANCHORS[shape.anchor]),)
    area = (_area(shape.kind, numbers, fill),) if fill else ()
    if not line:
        return area
    points = tuple([Point(*each) for each in outline_of(shape.kind, numbers)])
    return (*area, Polyline(points, Stroke(line, max(shape.width * scale, 0.01))))


def _area(kind: int, numbers: Sequence[float], fill: str) -> Item:
    if kind == _CIRCLE:
        x, y, radius = numbers
        return Circle(Point(x, y), abs(radius), fill)
    if kind == _BOX:
        x, y, width, height = numbers
        left, top = min(x, x + width), min(y, y + height)
        return Rect(Box(left, top, abs(width), abs(height)), fill)
    corners = zip(numbers[::2], numbers[1::2], strict=True)
    return Polygon(tuple([Point(*each) for each in corners]), fill)


def outline_of(kind: int, numbers: Sequence[float]) -> list[tuple[float, float]]:
    """Return the points along the edge of a shape that is not a text, closed unless it is open."""
    if kind == _CIRCLE:
        x, y, radius = numbers
        found = [(x + radius * px, y + radius * py) for px, py in _RING]
    elif kind == _BOX:
        x, y, width, height = numbers
        found = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    else:
        found = list(zip(numbers[::2], numbers[1::2], strict=True))
    return found if kind == _LINE else [*found, found[0]]
