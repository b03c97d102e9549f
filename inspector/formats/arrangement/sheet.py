"""A sheet of shapes in layers: painted on screen in few calls, or turned into a display list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from inspector.formats.drawing.display_list import Columns, Hatched, Item, Point, Rects, Text
from inspector.formats.drawing.font_metrics import text_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inspector.formats.drawing.pixel_rects import PixelRects

#: Colours of a theme by the names of their tokens, as ``#rrggbb``.
Colors = Mapping[str, str]

_ELLIPSIS: Final = "…"
#: How far the baseline is below the middle of a text, as a share of the size of the font.
_BASELINE: Final = 0.36


class Kind(IntEnum):
    """What the entries of a part are; within a layer, later kinds lie over earlier ones."""

    # An IntEnum, because members of a plain Enum take twice as long as keys of a dictionary.
    RECTS = 0
    HATCHED = 1
    COLUMNS = 2
    TEXTS = 3


class Line(NamedTuple):
    left: int  # Its left edge
    top: int  # The upper edge of the row
    height: int  # The height of the row
    text: str  # The text, already cut to the room


class Row(NamedTuple):
    top: int  # Its upper edge
    height: int

    @property
    def bottom(self) -> int:
        """The pixel behind the last one."""
        return self.top + self.height

    def inner(self, pad: int) -> Row:
        return Row(self.top + pad, self.height - 2 * pad)


class Sheet:
    """Collects shapes on whole pixels; those of a layer and a colour are drawn at once."""

    def __init__(
        self,
        colors: Colors,
        text_size: float = 11.0,
        measure: Callable[[str], float] | None = None,
        scale: float = 1.0,
    ) -> None:
        self.colors = colors  # The colours of the theme
        self.scale = scale  # The text scale, which signs grow with
        self._size = text_size
        self._measure = measure or (lambda text: text_width(text, text_size))
        self._parts: dict[tuple[int, Kind, str], list[Any]] = {}

    def rects(self, layer: int, color: str, rects: PixelRects) -> None:
        """Fill rectangles; higher layers cover lower ones."""
        if len(rects):
            self._add(layer, Kind.RECTS, color, rects)

    def rect(self, layer: int, color: str, edges: tuple[int, int, int, int]) -> None:
        """Fill one rectangle: left, top, right and bottom, the last two exclusive."""
        left, top, right, bottom = edges
        if right > left and bottom > top:
            self.rects(layer, color, np.array([(left, top, right - 1, bottom - 1)], dtype=np.int32))

    def hatched(self, layer: int, color: str, rects: PixelRects) -> None:
        if len(rects):
            self._add(layer, Kind.HATCHED, color, rects)

    def columns(
        self, layer: int, left: int, row: Row, cells: NDArray[np.int64], colors: Sequence[str]
    ) -> None:
        """Fill columns one pixel wide; each cell holds the index of its colour.

        An empty colour leaves what is below, such as the grid.
        """
        columns = Columns(left, row.top, row.height, cells, tuple(colors))
        self._add(layer, Kind.COLUMNS, "", columns)

    def text(  # noqa: PLR0913, PLR0917 - a text, its place and its look
        self, layer: int, color: str, text: str, left: int, row: Row, room: float | None = None
    ) -> None:
        """Write a text in the middle of a row, cut where there is no room for all of it."""
        shown = text if room is None else self.cut(text, room)
        if shown:
            self._add(layer, Kind.TEXTS, color, Line(left, row.top, row.height, shown))

    def lines(self, layer: int, color: str, lines: Iterable[Line]) -> None:
        self._add(layer, Kind.TEXTS, color, *lines)

    def width_of(self, text: str) -> float:
        return self._measure(text)

    def cut(self, text: str, room: float) -> str:
        if self._measure(text) <= room:
            return text
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            if self._measure(text[:middle].rstrip() + _ELLIPSIS) <= room:
                low = middle
            else:
                high = middle - 1
        return text[:low].rstrip() + _ELLIPSIS if low else ""

    def parts(self) -> Iterator[tuple[Kind, str, list[Any]]]:
        """Go through kinds, colours and their entries, back to front."""
        for layer, kind, color in sorted(self._parts, key=itemgetter(0, 1)):
            yield kind, color, self._parts[layer, kind, color]

    def clear(self) -> None:
        self._parts.clear()

    def items(self) -> list[Item]:
        found: list[Item] = []
        for kind, color, entries in self.parts():
            match kind:
                case Kind.RECTS:
                    found.append(Rects(np.concatenate(entries), color))
                case Kind.HATCHED:
                    found.append(Hatched(np.concatenate(entries), color, 0))
                case Kind.COLUMNS:
                    found += entries
                case Kind.TEXTS:
                    found += [self._text(line, color) for line in entries]
        return found

    def _text(self, line: Line, color: str) -> Text:
        y = line.top + line.height / 2 + _BASELINE * self._size
        return Text(Point(line.left, round(y, 2)), line.text, self._size, color)

    def _add(self, layer: int, kind: Kind, color: str, *entries: object) -> None:
        self._parts.setdefault((layer, kind, color), []).extend(entries)


@lru_cache(maxsize=1_024)
def mixed(color: str, background: str, share: float) -> str:
    """Return ``share`` of a colour over a background."""
    pairs = zip(channels(color), channels(background), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def channels(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)
