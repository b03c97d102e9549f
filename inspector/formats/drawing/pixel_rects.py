"""Rectangles on whole pixels, thousands at once, as painters and writers of files take them."""

import numpy as np
from numpy.typing import NDArray

#: Shape (n, 4), C-contiguous: left, top, right, bottom, the last two inclusive.
PixelRects = NDArray[np.int32]


def pixel_rects(
    lefts: NDArray[np.int64],
    tops: NDArray[np.int64],
    rights: NDArray[np.int64],
    bottoms: NDArray[np.int64],
) -> PixelRects:
    """Return rectangles from edges, right and bottom exclusive, without the empty ones."""
    is_there = (rights > lefts) & (bottoms > tops)
    rects = np.empty((int(np.count_nonzero(is_there)), 4), dtype=np.int32)
    rects[:, 0] = lefts[is_there]
    rects[:, 1] = tops[is_there]
    rects[:, 2] = rights[is_there] - 1
    rects[:, 3] = bottoms[is_there] - 1
    return rects


def row_rects(
    lefts: NDArray[np.int64], top: int, rights: NDArray[np.int64], bottom: int
) -> PixelRects:
    """Return rectangles between two heights, right and bottom exclusive, without empty ones."""
    is_there = rights > lefts
    if not is_there.all():
        lefts, rights = lefts[is_there], rights[is_there]
    rects = np.empty((len(lefts), 4), dtype=np.int32)
    rects[:, 0] = lefts
    rects[:, 1] = top
    rects[:, 2] = rights
    rects[:, 2] -= 1
    rects[:, 3] = bottom - 1
    return rects


def nearest_pixels(edges: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return where Qt fills from, or to, for edges between pixels."""
    return np.ceil(edges - 0.5).astype(np.int64)


def edge_rects(rects: PixelRects) -> PixelRects:
    """Return the edges of rectangles, a pixel wide and inside of them."""
    left, top, right, bottom = rects.T
    sides = ((left, top, right, top), (left, bottom, right, bottom))
    ends = ((left, top, left, bottom), (right, top, right, bottom))
    return np.concatenate([np.stack(each, axis=1) for each in (*sides, *ends)])
