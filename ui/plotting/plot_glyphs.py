"""Small signs made of whole pixels, painted by the hundred in one call."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .bulk_paint import PixelRects

#: Rectangles of one sign around its place: x, y, width, height.
Glyph = tuple[tuple[int, int, int, int], ...]

UP_TRIANGLE: Final[Glyph] = ((0, 0, 1, 1), (-1, 1, 3, 1), (-2, 2, 5, 1), (-3, 3, 7, 2))
DOWN_TRIANGLE: Final[Glyph] = ((-3, 0, 7, 2), (-2, 2, 5, 1), (-1, 3, 3, 1), (0, 4, 1, 1))
DIAMOND: Final[Glyph] = (
    *((0, 0, 1, 1), (-1, 1, 3, 1), (-2, 2, 5, 1), (-3, 3, 7, 1)),
    *((-2, 4, 5, 1), (-1, 5, 3, 1), (0, 6, 1, 1)),
)
CROSS: Final[Glyph] = (
    *((-3, 0, 2, 2), (-2, 1, 2, 2), (-1, 2, 3, 3), (-2, 4, 2, 2), (-3, 5, 2, 2)),
    *((2, 0, 2, 2), (1, 1, 2, 2), (1, 4, 2, 2), (2, 5, 2, 2)),
)
SCISSORED: Final[Glyph] = ((-3, 0, 3, 7), (1, 0, 3, 7))
TARGET: Final[Glyph] = (
    *((-1, 0, 3, 1), (-2, 1, 1, 1), (2, 1, 1, 1), (-3, 2, 1, 3), (3, 2, 1, 3)),
    *((-2, 5, 1, 1), (2, 5, 1, 1), (-1, 6, 3, 1), (-1, 2, 3, 3)),
)
FLAG: Final[Glyph] = ((-2, 0, 1, 7), (-1, 0, 5, 2), (-1, 2, 4, 1), (-1, 3, 5, 1))
BAR: Final[Glyph] = ((-2, 0, 2, 7), (2, 0, 2, 7))


def glyph_rects(places: NDArray[np.int64], y: int, glyph: Glyph, scale: int) -> PixelRects:
    """Return the rectangles of the same sign at several places.

    Args:
        places: Horizontal middle of each sign, in device pixels.
        y: Upper edge of all of them, in device pixels.
        glyph: The sign.
        scale: Device pixels per pixel of the sign.
    """
    shape = np.array(glyph, dtype=np.int32) * scale
    rects = np.repeat(shape[np.newaxis], len(places), axis=0)
    rects[:, :, 0] += places.astype(np.int32)[:, np.newaxis]
    rects[:, :, 1] += y
    rects[:, :, 2] += rects[:, :, 0] - 1
    rects[:, :, 3] += rects[:, :, 1] - 1
    return np.ascontiguousarray(rects.reshape(-1, 4))


def thinned(places: NDArray[np.int64], spacing: int) -> NDArray[np.int64]:
    """Return ascending places without those closer than about ``spacing`` to one before."""
    if not len(places):
        return places
    cells = places // spacing
    kept: NDArray[np.int64] = places[np.append(True, cells[1:] > cells[:-1])]
    return kept
