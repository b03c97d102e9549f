"""Small signs drawn from shapes, so that they need no font and no colour to be told apart."""

from __future__ import annotations

from enum import Enum

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap, QPolygonF

_GRID = 16.0


class Glyph(Enum):
    """What a sign looks like."""

    PLAY = "filled triangle"
    HOLLOW_PLAY = "outlined triangle"
    PAUSE = "two filled bars"
    HOLLOW_PAUSE = "two outlined bars"
    ZERO = "struck circle"


def glyph_icon(glyph: Glyph, color: QColor, selected_color: QColor, size: int = 16) -> QIcon:
    """Return a sign as an icon that stays readable on a selected row.

    Args:
        selected_color: Its colour on the background of a selection.
        size: Edge length in device-independent pixels.
    """
    icon = QIcon()
    for ratio in (1, 2):
        for shade, mode in (
            (color, QIcon.Mode.Normal),
            (selected_color, QIcon.Mode.Selected),
        ):
            icon.addPixmap(_drawn(glyph, shade, size, ratio), mode)
    return icon


def _drawn(glyph: Glyph, color: QColor, size: int, ratio: int) -> QPixmap:
    pixmap = QPixmap(size * ratio, size * ratio)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(size / _GRID, size / _GRID)
    is_filled = glyph in (Glyph.PLAY, Glyph.PAUSE)
    painter.setPen(Qt.PenStyle.NoPen if is_filled else QPen(color, 1.4))
    painter.setBrush(color if is_filled else Qt.BrushStyle.NoBrush)
    match glyph:
        case Glyph.PLAY | Glyph.HOLLOW_PLAY:
            painter.drawPolygon(QPolygonF([QPointF(4, 3), QPointF(13, 8), QPointF(4, 13)]))
        case Glyph.PAUSE | Glyph.HOLLOW_PAUSE:
            painter.drawRect(QRectF(3.5, 3, 3.5, 10))
            painter.drawRect(QRectF(9.5, 3, 3.5, 10))
        case Glyph.ZERO:
            painter.drawEllipse(QRectF(3, 3, 10, 10))
            painter.drawLine(QPointF(4.5, 11.5), QPointF(11.5, 4.5))
    painter.end()
    return pixmap
