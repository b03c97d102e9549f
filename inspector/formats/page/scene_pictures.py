"""Pictures of the scene in the interactive page, as styles and columns of whole numbers."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from inspector.formats.page.columns import PageData
from inspector.pictures.appearance import faded
from inspector.pictures.shapes import Shape

if TYPE_CHECKING:
    from inspector.formats.frame_times import FrameTimes
    from inspector.formats.traces.session_trace import HasPictures
    from inspector.pictures.pictures import Picture

#: More pictures than these are thinned out, evenly over all frames.
MOST_PICTURES: Final = 3_600
#: Positions and sizes are rounded to this many steps in the width of a picture.
_STEPS: Final = 4_000


class ScenePictures:
    """Packs pictures, so that shapes that do not move take almost no space.

    Each picture has its instant, size and number of shapes, and each shape its style. The numbers
    of all shapes follow as differences to the same shape in the picture before, summed up, because
    columns are encoded as differences.
    """

    def __init__(self, clock_places: Mapping[int, int]) -> None:
        self._clocks = clock_places
        self._sizes: dict[tuple[float, float, str], int] = {}
        self._styles: dict[tuple[object, ...], int] = {}
        self._last: dict[tuple[int, int], list[int]] = {}
        self._at, self._size, self._count = array("q"), array("q"), array("q")
        self._shapes, self._numbers = array("q"), array("q")

    def read(self, pictures: HasPictures, frames: FrameTimes) -> None:
        step = max(1, -(-len(frames) // MOST_PICTURES))
        former: Picture | None = None
        for frame, at_ns in zip(
            frames.index[::step].tolist(), frames.at_ns[::step].tolist(), strict=True
        ):
            picture = pictures.at(frame)
            if picture is not None and picture is not former and picture != former:
                self._add(picture, at_ns)
                former = picture

    def data(self) -> PageData:
        data = PageData({"sizes": list(self._sizes), "styles": list(self._styles)})
        numbers = np.cumsum(self._numbers, dtype=np.int64)
        for name, values in (
            *(("at", self._at), ("size", self._size), ("count", self._count)),
            *(("shape", self._shapes), ("number", numbers)),
        ):
            data.about[name] = data.column(values)
        return data

    def __len__(self) -> int:
        return len(self._at)

    def _add(self, picture: Picture, at_ns: int) -> None:
        size = (picture.width, picture.height, picture.background)
        self._at.append(at_ns)
        self._size.append(self._sizes.setdefault(size, len(self._sizes)))
        self._count.append(len(picture.shapes))
        scale = _STEPS / picture.width
        seen: Counter[int] = Counter()
        for shape in picture.shapes:
            style = self._style(shape, scale)
            self._shapes.append(style)
            key = style, seen[style]
            seen[style] += 1
            numbers = [round(each * scale) for each in shape.numbers]
            before = self._last.get(key)
            if before is None:
                self._numbers.extend(numbers)
            else:
                pairs = zip(numbers, before, strict=True)
                self._numbers.extend([now - then for now, then in pairs])
            self._last[key] = numbers

    def _style(self, shape: Shape, scale: float) -> int:
        stopped = (faded(shape.fill), faded(shape.line)) if shape.clock else ()
        style = (
            *(shape.kind, len(shape.numbers), shape.fill, shape.line),
            *(round(shape.width * scale), shape.text, shape.anchor),
            *(self._clocks.get(shape.clock, -1), *stopped),
        )
        return self._styles.setdefault(style, len(self._styles))
