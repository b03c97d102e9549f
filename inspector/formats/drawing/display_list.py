"""A picture as a list of shapes in points, independent of what draws it.

The list is built from plain data without Qt. A QPainter draws it for PNG, PDF and the screen,
a text writer for SVG. A point is 1/72 inch; x grows to the right and y downwards; text is
positioned by its baseline. Colours are ``#rrggbb``.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from msgspec import Struct, structs

if TYPE_CHECKING:
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    #: Shape (n, 4): left, top, right, bottom, the last two inclusive.
    PixelRects: TypeAlias = NDArray[np.int32]


class Point(NamedTuple):
    """A place in the picture, in points."""

    x: float
    y: float


class Anchor(Enum):
    START = "start"
    MIDDLE = "middle"
    END = "end"


class Box(Struct, frozen=True):
    """An upright rectangle, in points."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height


class Stroke(Struct, frozen=True):
    color: str
    width: float  # Width in points, which grows with the picture
    dash: tuple[float, ...] = ()  # Lengths of dashes and gaps in points; empty for a solid line


class Rect(Struct, frozen=True):
    box: Box
    fill: str


class Rects(Struct, frozen=True, eq=False):
    """Rectangles on whole pixels, filled alike."""

    # Whole pixels, or any numbers after the picture was moved to its place on a page.
    rects: PixelRects | NDArray[np.float64]
    fill: str


class Hatched(Struct, frozen=True, eq=False):
    """Rectangles on whole pixels, hatched by lines that rise to the right."""

    rects: PixelRects | NDArray[np.float64]  # The rectangles, see Rects
    color: str
    phase: int  # Offset of the lines, from 0 to HATCH_GAP - 1


class Columns(Struct, frozen=True, eq=False):
    """Columns a pixel wide, of cells of equal height."""

    left: float  # The pixel of the first column
    top: float
    height: int  # Height of a column in pixels
    cells: NDArray[np.int64]  # The number of each cell's colour, shape (rows, columns)
    colors: tuple[str, ...]  # The colours; empty for a cell that covers nothing


class Polyline(Struct, frozen=True):
    """An open line through ``points``."""

    points: tuple[Point, ...]
    stroke: Stroke


class Polygon(Struct, frozen=True):
    """A filled area within ``points``, closed from the last to the first."""

    points: tuple[Point, ...]
    fill: str


class Circle(Struct, frozen=True):
    center: Point
    radius: float
    fill: str


class Text(Struct, frozen=True):
    at: Point  # Position of the anchor, on the baseline
    text: str
    size: float  # Size of the font in points
    color: str
    anchor: Anchor = Anchor.START  # Which point of the text is at ``at``
    is_bold: bool = False  # Whether the bold font is used
    # Colour of a rim around the letters, which keeps them readable on lines; empty for none.
    halo: str = ""


class Group(Struct, frozen=True):
    """Items that belong together, drawn within ``clip`` when there is one."""

    name: str
    items: tuple[Item, ...]
    clip: Box | None = None


#: Width of the rim around letters, as a share of the size of the font.
HALO_SHARE: Final = 0.3
#: Pixels from one line of a hatching to the next.
HATCH_GAP: Final = 7

#: Shapes on whole pixels, many at once.
Batch: TypeAlias = "Rects | Hatched | Columns"
Item: TypeAlias = "Rect | Polyline | Polygon | Circle | Text | Group | Batch"


class DisplayList(Struct, frozen=True):
    width: float  # Width in points
    height: float  # Height in points
    background: str
    items: tuple[Item, ...]  # The shapes, back to front
    title: str
    description: str  # The picture in words, for people who cannot see it
    created: datetime | None  # Time of the data, for the file's metadata; None if unknown
    software: str  # Name and version of the program, for the file's metadata

    def texts(self) -> list[Text]:
        return _texts(self.items)


def moved(item: Item, dx: float, dy: float) -> Item:  # noqa: PLR0911 - one for each shape
    def shifted(points: tuple[Point, ...]) -> tuple[Point, ...]:
        return tuple([Point(round(x + dx, 2), round(y + dy, 2)) for x, y in points])

    def shifted_box(box: Box) -> Box:
        return structs.replace(box, x=box.x + dx, y=box.y + dy)

    match item:
        case Rect(box=box):
            return structs.replace(item, box=shifted_box(box))
        case Polyline(points=points) | Polygon(points=points):
            return structs.replace(item, points=shifted(points))
        case Circle(center=center):
            return structs.replace(item, center=shifted((center,))[0])
        case Text(at=at):
            return structs.replace(item, at=shifted((at,))[0])
        case Rects(rects=rects) | Hatched(rects=rects):
            return structs.replace(item, rects=rects + (dx, dy, dx, dy))  # noqa: RUF005 - an array
        case Columns(left=left, top=top):
            return structs.replace(item, left=left + dx, top=top + dy)
        case Group(items=items, clip=clip):
            inner = tuple(moved(each, dx, dy) for each in items)
            return structs.replace(item, items=inner, clip=shifted_box(clip) if clip else None)


def scaled(item: Item, scale: float) -> Item:
    def grown(points: tuple[Point, ...]) -> tuple[Point, ...]:
        return tuple([Point(round(x * scale, 2), round(y * scale, 2)) for x, y in points])

    def box_of(box: Box) -> Box:
        return Box(*(round(each * scale, 2) for each in (box.x, box.y, box.width, box.height)))

    match item:
        case Rect(box=box):
            return structs.replace(item, box=box_of(box))
        case Polyline(points=points, stroke=Stroke(color, width, dash)):
            stroke = Stroke(color, width * scale, tuple(each * scale for each in dash))
            return Polyline(grown(points), stroke)
        case Polygon(points=points):
            return structs.replace(item, points=grown(points))
        case Circle(center=center, radius=radius):
            return structs.replace(item, center=grown((center,))[0], radius=radius * scale)
        case Text(at=at, size=size):
            return structs.replace(item, at=grown((at,))[0], size=size * scale)
        case Group(items=items, clip=clip):
            inner = tuple(scaled(each, scale) for each in items)
            return structs.replace(item, items=inner, clip=box_of(clip) if clip else None)
        case _:
            raise TypeError(f"{type(item).__name__} is on whole pixels")


def _texts(items: tuple[Item, ...]) -> list[Text]:
    found: list[Text] = []
    for item in items:
        match item:
            case Text():
                found.append(item)
            case Group(items=inner):
                found += _texts(inner)
            case _:
                pass
    return found


def boxes_of(batch: Rects | Hatched) -> Iterator[tuple[float, float, float, float]]:
    """Yield the left and upper edge, the width and the height of rectangles."""
    for left, top, right, bottom in batch.rects.tolist():
        yield left, top, right + 1 - left, bottom + 1 - top


def lines_of(hatched: Hatched) -> Iterator[tuple[float, float, float, float]]:
    """Yield the lines of a hatching, clipped to each rectangle."""
    for left, top, width, height in boxes_of(hatched):
        right, bottom = left + width, top + height
        # Along a line the sum of both coordinates stays the same.
        first = left + top - (left + top - hatched.phase) % HATCH_GAP + HATCH_GAP
        total = first
        while total < right + bottom:
            x0, x1 = max(left, total - bottom), min(right, total - top)
            yield x0, total - x0, x1, total - x1
            total += HATCH_GAP


def boxes_by_color(columns: Columns) -> dict[str, list[tuple[float, float, float, float]]]:
    """Return boxes of the same colour in as few pieces as there are runs of equal cells."""
    found: dict[str, list[tuple[float, float, float, float]]] = {}
    high = columns.height / len(columns.cells)
    for number, row in enumerate(columns.cells.tolist()):
        left = columns.left
        for cell, run in groupby(row):
            wide, color = len(list(run)), columns.colors[cell]
            if color:
                box = (left, round(columns.top + number * high, 2), wide, round(high, 2))
                found.setdefault(color, []).append(box)
            left += wide
    return found
