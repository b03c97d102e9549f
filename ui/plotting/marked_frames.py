"""Where on a plot the frames are that another panel marks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtGui import QColor

from ..kit.theme import ColorRole
from .bulk_paint import PixelRects, fill_rects, row_rects

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PySide6.QtGui import QPainter

    from ..kit.theme import Theme
    from .frame_series import FrameSeries, Window

_HEAD: Final = 5
_SHADE: Final = 0.3


def marked_rects(series: FrameSeries, marked: NDArray[np.int64], window: Window) -> PixelRects:
    """Return the columns of a window that have a marked frame, a pixel wide at least.

    Args:
        series: The frames.
        marked: Numbers of the marked ones, ascending.
        window: The part of the plot that is in view.
    """
    columns = series.columns(window)
    if not len(columns):
        return np.zeros((0, 4), dtype=np.int32)
    has_any = np.diff(np.searchsorted(marked, columns.edges)) > 0
    lefts, rights = columns.lefts[has_any], columns.rights[has_any]
    return row_rects(lefts, 0, np.maximum(rights, lefts + 1), window.height)


def paint_marked(painter: QPainter, rects: PixelRects, theme: Theme) -> None:
    """Shade columns, with a head that stands out where they are a pixel wide."""
    color = QColor(theme.color(ColorRole.ACCENT))
    heads = rects.copy()
    heads[:, 3] = _HEAD - 1
    fill_rects(painter, heads, color)
    color.setAlphaF(_SHADE)
    fill_rects(painter, rects, color)
