"""Rectangles on whole pixels, thousands at once, as painters and writers of files take them."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

#: Shape (n, 4), C-contiguous: left, top, right, bottom, the last two inclusive.
PixelRects = NDArray[np.int32]
#: The columns of a rectangle that make its upper, lower, left and right edge.
_SIDES: Final = np.array([(0, 1, 2, 1), (0, 3, 2, 3), (0, 1, 0, 3), (2, 1, 2, 3)])


def pixel_rects(
    lefts: NDArray[np.int64],
    tops: NDArray[np.int64] | int,
    rights: NDArray[np.int64],
    bottoms: NDArray[np.int64] | int,
) -> PixelRects:
    """Return rectangles from edges, right and bottom exclusive, without the empty ones."""
    is_there = (rights > lefts) & (bottoms > tops)
    if not is_there.all():
        lefts, rights = lefts[is_there], rights[is_there]
        tops = tops[is_there] if isinstance(tops, np.ndarray) else tops
        bottoms = bottoms[is_there] if isinstance(bottoms, np.ndarray) else bottoms
    rects = np.empty((len(lefts), 4), dtype=np.int32)
    rects[:, 0] = lefts
    rects[:, 1] = tops
    rects[:, 2] = rights - 1
    rects[:, 3] = bottoms - 1
    return rects


def nearest_pixels(edges: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the whole pixels from or to which Qt would fill, for edges at fractions of pixels."""
    return np.ceil(edges - 0.5).astype(np.int64)


def edge_rects(rects: PixelRects) -> PixelRects:
    """Return the edges of rectangles, a pixel wide and inside of them."""
    return rects[:, _SIDES].reshape(-1, 4)
