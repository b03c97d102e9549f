"""The shapes of a picture.

Lengths are in units of the picture, whose size ``stage.picture`` is given; x grows to the right,
y downwards, angles are radians, clockwise. Colours are ``#rrggbb`` or ``#rgb``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import lru_cache, partial
from itertools import chain
from math import cos, isfinite, pi, sin
from operator import add
from typing import Final, NamedTuple, Protocol, TypeAlias

from inspector.foreign.numbers import shown


class ShapeKind(IntEnum):
    """What a shape is; its numbers are in brackets."""

    #: A filled or outlined circle (x and y of the centre, radius).
    CIRCLE = 0
    #: An upright rectangle (x and y of its upper left corner, width, height).
    BOX = 1
    #: An open line (x and y of every point).
    LINE = 2
    #: A closed area (x and y of every corner).
    POLYGON = 3
    #: A line of text (x and y of the anchor on the baseline, height of the font).
    TEXT = 4


#: Which part of a text is at its x.
ANCHORS: Final = ("start", "middle", "end")


class Shape(NamedTuple):
    """A shape; made by the functions of this module.

    Attributes:
        kind: What it is.
        numbers: Its place and size, see :class:`ShapeKind`.
        fill: Colour of its area or text, empty for none.
        line: Colour of its line, empty for none.
        width: Width of the line.
        text: The text.
        anchor: Index in :data:`ANCHORS` of the part of the text that is at its x.
        clock: Number of the clock it belongs to, 0 for none.
        timer: Number of the timer it belongs to, 0 for none.
    """

    kind: int
    numbers: tuple[float, ...]
    fill: str = ""
    line: str = ""
    width: float = 1.0
    text: str = ""
    anchor: int = 0
    clock: int = 0
    timer: int = 0


#: Makes a shape from all its attributes in half the time that keywords and defaults would take.
_made: Final = partial(tuple.__new__, Shape)
_ONLY_SHAPES: Final = frozenset({Shape})


class HasId(Protocol):
    """A clock."""

    @property
    def id(self) -> int:
        """Its number."""


class OnClock(Protocol):
    """A timer."""

    @property
    def clock(self) -> HasId:
        """The clock it waits on."""

    @property
    def id(self) -> int:
        """Its number."""


#: What a picture consists of: shapes, and groups of them at any depth.
Shapes: TypeAlias = "Shape | Iterable[Shapes]"

Place: TypeAlias = "tuple[float, float]"

#: Longest text of a shape, in characters.
_LONGEST_TEXT: Final = 200

#: Types that are searched for shapes without calling iter().
_NESTED: Final = (list, tuple)
#: Looked up once: in Python 3.11 a member takes longer than all else of a small shape.
_CIRCLE, _BOX, _TEXT = ShapeKind.CIRCLE, ShapeKind.BOX, ShapeKind.TEXT

_COLOR: Final = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")


def circle(  # noqa: PLR0913 - shapes have many optional attributes
    x: float,
    y: float,
    radius: float,
    fill: str = "",
    *,
    line: str = "",
    width: float = 1.0,
    clock: HasId | None = None,
    timer: OnClock | None = None,
) -> Shape:
    """Return a circle around a point, filled, outlined, or both.

    Raises:
        TypeError, ValueError: A colour is not ``#rrggbb``, or something is not a usable number.
    """
    numbers = _numbers("circle", (x, y, radius))
    return _shape(_CIRCLE, numbers, fill, line, width, clock, timer)


def box(  # noqa: PLR0913 - likewise
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str = "",
    *,
    line: str = "",
    line_width: float = 1.0,
    clock: HasId | None = None,
    timer: OnClock | None = None,
) -> Shape:
    """Return an upright rectangle by its upper left corner and its size.

    Raises:
        TypeError, ValueError: As for :func:`circle`.
    """
    numbers = _numbers("box", (x, y, width, height))
    return _shape(_BOX, numbers, fill, line, line_width, clock, timer)


def line(  # noqa: PLR0913, PLR0917 - likewise
    x1: float,
    y1: float,
    x2: float,
    y2: float,
    color: str,
    width: float = 1.0,
    *,
    clock: HasId | None = None,
    timer: OnClock | None = None,
) -> Shape:
    """Return a straight line.

    Raises:
        TypeError, ValueError: As for :func:`circle`.
    """
    numbers = _numbers("line", (x1, y1, x2, y2))
    return _shape(ShapeKind.LINE, numbers, "", color, width, clock, timer)


def polyline(
    points: Sequence[Place],
    color: str,
    width: float = 1.0,
    *,
    clock: HasId | None = None,
    timer: OnClock | None = None,
) -> Shape:
    """Return an open line through two or more points.

    Raises:
        TypeError, ValueError: As for :func:`circle`, or there are fewer points.
    """
    numbers = _corners("polyline", points, 2)
    return _shape(ShapeKind.LINE, numbers, "", color, width, clock, timer)


def polygon(  # noqa: PLR0913 - likewise
    points: Sequence[Place],
    fill: str = "",
    *,
    line: str = "",
    width: float = 1.0,
    clock: HasId | None = None,
    timer: OnClock | None = None,
) -> Shape:
    """Return a closed area with three or more corners.

    Raises:
        TypeError, ValueError: As for :func:`circle`, or there are fewer corners.
    """
    numbers = _corners("polygon", points, 3)
    return _shape(ShapeKind.POLYGON, numbers, fill, line, width, clock, timer)


def text(  # noqa: PLR0913 - likewise
    x: float,
    y: float,
    content: str,
    color: str,
    *,
    size: float = 10.0,
    anchor: str = "start",
    clock: HasId | None = None,
    timer: OnClock | None = None,
) -> Shape:
    """Return a line of text whose baseline is at ``y``.

    Args:
        x: Where its start, middle or end is.
        y: Its baseline.
        content: What it says; long texts are cut.
        color: Its colour.
        size: Height of the font.
        anchor: ``"start"``, ``"middle"`` or ``"end"``: what is at ``x``.
        clock: The clock that it belongs to.
        timer: The timer that it belongs to.

    Raises:
        TypeError, ValueError: As for :func:`circle`, or there is no such anchor.
    """
    if anchor not in ANCHORS:
        raise ValueError(f"the anchor of a text is start, middle or end, not {shown(anchor)}")
    said = " ".join(str(content).split())
    if len(said) > _LONGEST_TEXT:
        said = f"{said[: _LONGEST_TEXT - 1]}…"
    numbers = _numbers("text", (x, y, size))
    place = ANCHORS.index(anchor)
    kind, numbers, fill, line, width, *_, clock_id, timer_id = _shape(
        _TEXT, numbers, color, "", 1.0, clock, timer
    )
    # Takes a fifth of the time of ``_replace``.
    return _made((kind, numbers, fill, line, width, said, place, clock_id, timer_id))


def group(  # noqa: PLR0913 - likewise
    *shapes: Shapes,
    x: float = 0.0,
    y: float = 0.0,
    turn: float = 0.0,
    scale: float = 1.0,
    clock: HasId | None = None,
    timer: OnClock | None = None,
) -> list[Shape]:
    """Return shapes together: scaled, turned around (0, 0), then moved to ``x`` and ``y``.

    They belong to the clock and the timer of the group, unless they have their own. Boxes and
    texts stay upright when they are turned; use polygons for what has to turn.

    Raises:
        TypeError, ValueError: As for :func:`circle`.
    """
    x, y, turn, scale = _numbers("group", (x, y, turn, scale))
    along, across = scale * cos(turn), scale * sin(turn)
    is_only_moved = along == 1 and not across
    clock_id, timer_id = _owners(clock, timer)
    found = []
    # Called for every figure of every frame, so without ``_replace`` and generators.
    for kind, numbers, fill, line, width, said, anchor, own_clock, own_timer in flattened(shapes):
        ends = len(numbers) if kind in _OUTLINES else 2
        if is_only_moved:
            by = (x, y) * (ends // 2) + (0.0, 0.0)
            moved = tuple(map(add, numbers, by))
        else:
            pairs = zip(numbers[:ends:2], numbers[1:ends:2], strict=True)
            places = [
                (x + px * along - py * across, y + px * across + py * along) for px, py in pairs
            ]
            moved = *chain.from_iterable(places), *[size * scale for size in numbers[ends:]]
        owners = own_clock or clock_id, own_timer or timer_id
        found.append(_made((kind, moved, fill, line, width * scale, said, anchor, *owners)))
    return found


def regular(corners: int, radius: float) -> list[Place]:
    """Return the corners of a regular polygon around (0, 0), the first one on top."""
    return list(_regular(corners, radius))


@lru_cache(maxsize=256, typed=True)
def _regular(corners: int, radius: float) -> tuple[Place, ...]:
    step = 2 * pi / corners
    return tuple((radius * sin(n * step), -radius * cos(n * step)) for n in range(corners))


def flattened(shapes: Shapes) -> list[Shape]:
    """Return shapes and groups of them as one list, back to front.

    Raises:
        TypeError: Something in it is not a shape.
    """
    if isinstance(shapes, Shape):
        return [shapes]
    found: list[Shape] = []
    try:
        for each in shapes:
            if type(each) is Shape:
                found.append(each)
            elif isinstance(each, _NESTED):
                # Most groups hold nothing but shapes, which one call of C finds out.
                found += each if _ONLY_SHAPES.issuperset(map(type, each)) else flattened(each)
            else:
                _refuse(each)
    except TypeError:
        if hasattr(shapes, "__iter__"):
            raise
        _refuse(shapes)
    return found


def check(shape: Shape) -> None:
    """Check a shape that was not made by the functions of this module.

    Raises:
        ValueError: They do not make such shapes.
    """
    count = len(shape.numbers)
    least = {ShapeKind.BOX: 4, ShapeKind.LINE: 4, ShapeKind.POLYGON: 6}.get(
        ShapeKind(shape.kind), 3
    )
    fits = count >= least and not count % 2 if shape.kind in _OUTLINES else count == least
    is_sound = (
        fits
        and isfinite(sum(shape.numbers, shape.width))
        and shape.anchor in range(len(ANCHORS))
        and len(shape.text) <= _LONGEST_TEXT
        and shape.clock >= 0 <= shape.timer
        and (shape.fill or shape.line)
        and checked_color(shape.fill) == shape.fill
        and checked_color(shape.line) == shape.line
    )
    if not is_sound:
        raise ValueError(f"it has an impossible {ShapeKind(shape.kind).name.lower()}")


#: Kinds whose numbers are all pairs of x and y.
_OUTLINES: Final = frozenset({ShapeKind.LINE, ShapeKind.POLYGON})


def _refuse(thing: object) -> None:
    raise TypeError(
        f"a picture consists of shapes such as circle(x, y, radius, color), not of {shown(thing)}"
    )


def _shape(  # noqa: PLR0913, PLR0917 - the attributes that all kinds have
    kind: ShapeKind,
    numbers: tuple[float, ...],
    fill: str,
    line: str,
    width: float,
    clock: HasId | None,
    timer: OnClock | None,
) -> Shape:
    # Called for every shape of every frame, so with one look-up for both colours and no call for
    # owners.
    fill, line = _checked_colors(kind, fill, line)
    if width != 1.0 or type(width) is not float:
        (width,) = _numbers("line's width", (width,))
    if timer is not None:
        clock_id, timer_id = _owners(clock, timer)
    else:
        clock_id, timer_id = 0 if clock is None else clock.id, 0
    return _made((kind, numbers, fill, line, width, "", 0, clock_id, timer_id))


@lru_cache(maxsize=4096)
def _checked_colors(kind: ShapeKind, fill: str, line: str) -> tuple[str, str]:
    """Return the colours of area and line, of which a shape needs one."""
    if not (fill or line):
        raise ValueError(f"a {kind.name.lower()} needs a colour such as #ff8800")
    return checked_color(fill), checked_color(line)


def _owners(clock: HasId | None, timer: OnClock | None) -> tuple[int, int]:
    if timer is None:
        return (0 if clock is None else clock.id), 0
    return (timer.clock if clock is None else clock).id, timer.id


def _numbers(what: str, numbers: tuple[float, ...]) -> tuple[float, ...]:
    found: tuple[float, ...]
    try:
        found = tuple(map(float, numbers))
    except (TypeError, ValueError, OverflowError):
        found = ()
    # Testing the sum is faster: it is finite only if all of its parts are.
    if not found or not isfinite(sum(found)):
        raise ValueError(f"a {what} needs usable numbers, not {shown(numbers)}")
    return found


def _corners(what: str, points: Sequence[Place], least: int) -> tuple[float, ...]:
    flat = tuple(chain.from_iterable(points))
    if len(flat) < 2 * least or len(flat) % 2:
        raise ValueError(f"a {what} needs {least} points (x, y) or more, not {shown(points)}")
    return _numbers(what, flat)


@lru_cache(maxsize=4096)
def checked_color(color: str) -> str:
    """Return a colour as ``#rrggbb``, an empty text as it is.

    Raises:
        ValueError: It is not a colour.
    """
    given: object = color
    if not isinstance(given, str) or (color and not _COLOR.fullmatch(color)):
        raise ValueError(f"a colour is #rrggbb or #rgb, such as #ff8800, not {shown(color)}")
    short = 4
    if len(color) == short:
        return "#" + "".join(2 * digit for digit in color[1:].lower())
    return color.lower()
