"""The row of marks: signs with their names; in a picture, those of marks that repeat once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from inspector.formats.drawing.font_metrics import plain

if TYPE_CHECKING:
    from inspector.formats.arrangement.sheet import Row, Sheet
    from inspector.formats.drawing.pixel_rects import PixelRects
    from inspector.formats.frame_times import FrameTimes
    from inspector.formats.options import ExportOptions

#: Rectangles of a glyph relative to its position: x, y, width, height.
Glyph: TypeAlias = "tuple[tuple[int, int, int, int], ...]"
DOWN_TRIANGLE: Final[Glyph] = ((-3, 0, 7, 2), (-2, 2, 5, 1), (-1, 3, 3, 1), (0, 4, 1, 1))
DIAMOND: Final[Glyph] = (
    *((0, 0, 1, 1), (-1, 1, 3, 1), (-2, 2, 5, 1), (-3, 3, 7, 1)),
    *((-2, 4, 5, 1), (-1, 5, 3, 1), (0, 6, 1, 1)),
)
CROSS: Final[Glyph] = (
    *((-3, 0, 2, 2), (-2, 1, 2, 2), (-1, 2, 3, 3), (-2, 4, 2, 2), (-3, 5, 2, 2)),
    *((2, 0, 2, 2), (1, 1, 2, 2), (1, 4, 2, 2), (2, 5, 2, 2)),
)
BOLT: Final[Glyph] = (
    *((1, 0, 2, 1), (0, 1, 2, 1), (-1, 2, 2, 1), (-2, 3, 5, 1)),
    *((0, 4, 2, 1), (-1, 5, 2, 1), (-2, 6, 2, 1)),
)
TARGET: Final[Glyph] = (
    *((-1, 0, 3, 1), (-2, 1, 1, 1), (2, 1, 1, 1), (-3, 2, 1, 3), (3, 2, 1, 3)),
    *((-2, 5, 1, 1), (2, 5, 1, 1), (-1, 6, 3, 1), (-1, 2, 3, 3)),
)
#: A flag extends from its pole to the right.
FLAG: Final[Glyph] = ((0, 0, 1, 7), (1, 0, 5, 2), (1, 2, 4, 1), (1, 3, 5, 1))
BAR: Final[Glyph] = ((-2, 0, 2, 7), (2, 0, 2, 7))

#: Room above a sign, from its pole to its name, and after the name, in pixels at 100 % text.
_ABOVE: Final = 4
_TEXT_FROM: Final = 9
_BEHIND: Final = 6
#: Height of the bar of a named range, at the bottom of the row.
_RANGE: Final = 3
#: The least room in which a shortened name is still worth showing.
_LEAST_NAME: Final = 40


class Flag(NamedTuple):
    at_ns: int  # Its instant
    frame: int
    name: str
    end_ns: int | None = None  # The end of a range, else None


def flags_of(frames: FrameTimes, options: ExportOptions) -> list[Flag]:
    """Return the flags, the earliest first; marks that repeat say how often: "wave ×24"."""
    found: list[Flag] = []
    if options.markers:
        counts = Counter(each.name for each in frames.markers if each.kind == "mark")
        for each in frames.markers:
            count = counts[each.name] if each.kind == "mark" else 1
            name = f"{each.name} ×{count:,}" if count > 1 else each.name
            found.append(Flag(each.at_ns, each.frame, name, each.end_ns))
    if options.interventions:
        found += [
            Flag(each.at_ns, each.frame, f"{each.label} {each.text}")
            for each in frames.interventions
        ]
    return sorted(found, key=lambda each: (each.at_ns, each.frame))


class PlacedMark(NamedTuple):
    x: int  # The pixel of its pole
    name: str  # Empty for a sign without one
    glyph: Glyph = FLAG
    color: str = "tick"  # Its token


def placed_flags(
    flags: Sequence[Flag], right: int, x_of: Callable[[int, int], int]
) -> list[PlacedMark]:
    """Return flags in their places; of flags with the same name, that with most room shows it."""
    places = [x_of(flag.at_ns, flag.frame) for flag in flags]
    named: dict[str, tuple[int, int]] = {}
    for flag, x, end in zip(flags, places, [*places[1:], right], strict=True):
        named[plain(flag.name)] = max(named.get(plain(flag.name), (-1, 0)), (end - x, x))
    names = {x: name for name, (_, x) in named.items()}
    return [PlacedMark(x, names.get(x, "")) for x in dict.fromkeys(places)]


def lay_out_marks(  # noqa: PLR0913 - a row and what is in it
    sheet: Sheet,
    marks: Sequence[PlacedMark],
    row: Row,
    right: int,
    *,
    ranges: Sequence[tuple[int, int]] = (),
    lines: Sequence[int] = (),
    moving: int | None = None,
) -> int:
    """Lay out signs, the leftmost first, and names; return how many names are shown in full.

    No name crosses one of the lines, which go from top to bottom: it ends before a line, or begins
    after one where there is no room between that and the sign. After the line that is ``moving`` it
    does not begin, since it would jump back as soon as there is room.
    """
    scale = sheet.scale
    height = round(_RANGE * scale)
    for begin, end in ranges:
        bar = (begin, row.bottom - height - 1, max(end, begin + 1), row.bottom - 1)
        sheet.rect(0, sheet.colors["edge"], bar)
    whole, top = 0, row.top + round(_ABOVE * scale)
    # Signs grow by whole pixels.
    unit = max(round(scale), 1)
    beside, behind = _TEXT_FROM * unit, round(_BEHIND * scale)
    ends = chain((each.x for each in marks[1:]), [right])
    for mark, until in zip(marks, ends, strict=False):
        color = sheet.colors[mark.color]
        sheet.rect(1, color, (mark.x, top, mark.x + unit, row.bottom))
        sheet.rects(2, color, _glyph_rects(mark.glyph, mark.x, top, unit))
        if not mark.name:
            continue
        start, end = mark.x + beside, until
        width = sheet.width_of(mark.name)
        least = min(width, _LEAST_NAME * scale)
        for line in sorted(lines):
            if mark.x <= line < start + least + behind and line != moving:
                start = max(start, line + beside // 2)
            elif mark.x <= line < end:
                end = line
        room = end - start - behind
        whole += width <= room
        if room >= least:
            sheet.text(3, sheet.colors["muted"], mark.name, start, row, room)
    return whole


def _glyph_rects(glyph: Glyph, x: int, y: int, scale: int) -> PixelRects:
    rects = np.array(glyph, dtype=np.int32) * scale
    rects[:, :2] += (x, y)
    rects[:, 2:] += rects[:, :2] - 1
    return rects
