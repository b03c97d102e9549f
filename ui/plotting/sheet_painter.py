"""Paints what is laid out on a sheet; for the thread of the window."""

from __future__ import annotations

from functools import cache
from typing import Final, cast

import numpy as np
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QImage, QPainter

from inspector.formats.arrangement.fills import AnyFill, fill_color
from inspector.formats.arrangement.sheet import Kind, Line, Sheet, channels
from inspector.formats.drawing.display_list import Columns
from inspector.formats.drawing.pixel_rects import PixelRects
from inspector.tokens import COLORS, HIGH_CONTRAST, ThemeName

from ..kit.fonts import small_font, text_scale
from ..kit.theme import ColorRole, Theme
from .bulk_paint import fill_all

_FLAGS: Final = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_WIDEST: Final = 1 << 14


def theme_colors(theme: Theme) -> dict[str, str]:
    return _colors(theme.name, theme.is_high_contrast)


@cache
def _colors(name: ThemeName, is_high_contrast: bool) -> dict[str, str]:  # noqa: FBT001 - a key
    others = HIGH_CONTRAST if is_high_contrast else {}
    return {role.value: COLORS[name][others.get(role.value, role.value)] for role in ColorRole}


def color_of(fill: AnyFill, theme: Theme) -> QColor:
    return QColor(fill_color(fill, theme_colors(theme)))


def new_sheet(painter: QPainter, theme: Theme) -> Sheet:
    metrics = QFontMetrics(small_font(painter))
    measure, scale = metrics.horizontalAdvance, text_scale(painter)
    return Sheet(theme_colors(theme), measure=measure, scale=scale)


def paint_sheet(painter: QPainter, sheet: Sheet) -> None:
    """Paint everything, each colour of a layer in one call, and have the sheet empty."""
    former = painter.font()
    painter.setFont(small_font(painter))
    for kind, color, entries in sheet.parts():
        match kind:
            case Kind.RECTS:
                fill_all(painter, cast("list[PixelRects]", entries), QColor(color))
            case Kind.HATCHED:
                brush = QBrush(QColor(color), Qt.BrushStyle.BDiagPattern)
                fill_all(painter, cast("list[PixelRects]", entries), brush)
            case Kind.COLUMNS:
                for columns in cast("list[Columns]", entries):
                    _paint_columns(painter, columns)
            case Kind.TEXTS:
                for line in cast("list[Line]", entries):
                    paint_line(painter, line, QColor(color))
    painter.setFont(former)
    sheet.clear()


def paint_line(painter: QPainter, line: Line, color: QColor) -> None:
    """Write a line; the painter has its font."""
    painter.setPen(color)
    painter.drawText(QRect(line.left, line.top, _WIDEST, line.height), _FLAGS, line.text)


def _paint_columns(painter: QPainter, columns: Columns) -> None:
    height, width = columns.cells.shape
    table = np.array(
        [0xFF000000 | r << 16 | g << 8 | b for r, g, b in map(channels, columns.colors)],
        dtype=np.uint32,
    )
    # The image does not own the array, which outlives it here.
    pixels = np.ascontiguousarray(table[columns.cells])
    image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGB32)
    painter.drawImage(QRectF(columns.left, columns.top, width, columns.height), image)
