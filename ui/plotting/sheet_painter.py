"""Paints what is laid out on a sheet; for the thread of the window."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetrics,
    QImage,
    QPainter,
    QStaticText,
    QTextLayout,
    QTransform,
)
from PySide6.QtWidgets import QWidget

from inspector.formats.arrangement.fills import AnyFill, fill_color
from inspector.formats.arrangement.sheet import Kind, Line, Row, Sheet, channels
from inspector.formats.drawing.display_list import Columns
from inspector.tokens import COLORS, HIGH_CONTRAST, ThemeName

from ..kit.fonts import scale_of, small_font_of
from ..kit.theme import ColorRole, Theme
from .bulk_paint import fill_all

_FLAGS: Final = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_WIDEST: Final = 1 << 14
#: At most this many texts are kept for each of a few fonts.
_MOST_TEXTS: Final = 4_000


class KeptTexts:
    """Texts in one font, measured and laid out once: that takes most of the time of painting."""

    def __init__(self, font: QFont) -> None:
        self.font = font
        self.metrics = QFontMetrics(font)
        self._widths: dict[str, int] = {}
        self._texts: dict[str, tuple[QStaticText, float]] = {}

    def width_of(self, text: str) -> int:
        width = self._widths.get(text)
        if width is None:
            if len(self._widths) >= _MOST_TEXTS:
                self._widths.clear()
            width = self._widths[text] = self.metrics.horizontalAdvance(text)
        return width

    def draw(self, painter: QPainter, left: float, row: Row | Line, text: str) -> None:
        kept = self._texts.get(text)
        if kept is None:
            if len(self._texts) >= _MOST_TEXTS:
                self._texts.clear()
            kept = self._texts[text] = self._laid_out(text)
        drawn, height = kept
        if height > row.height:
            # A kept text would not be clipped to the row.
            painter.drawText(QRectF(left, row.top, _WIDEST, row.height), _FLAGS, text)
        else:
            painter.drawStaticText(QPointF(left, row.top + (row.height - height) / 2), drawn)

    def _laid_out(self, text: str) -> tuple[QStaticText, float]:
        """Return a text that is ready to be drawn, and its height."""
        layout = QTextLayout(text, self.font)
        layout.beginLayout()
        line = layout.createLine()
        layout.endLayout()
        drawn = QStaticText(text)
        drawn.setTextFormat(Qt.TextFormat.PlainText)
        drawn.prepare(QTransform(), self.font)
        return drawn, line.ascent() + line.descent()


#: Returns the texts kept for a font, compared by value, while it is one of the latest.
kept_texts = lru_cache(maxsize=8)(KeptTexts)


def theme_colors(theme: Theme) -> dict[str, str]:
    return _colors(theme.name, theme.is_high_contrast)


@cache
def _colors(name: ThemeName, is_high_contrast: bool) -> dict[str, str]:  # noqa: FBT001 - a key
    others = HIGH_CONTRAST if is_high_contrast else {}
    return {role.value: COLORS[name][others.get(role.value, role.value)] for role in ColorRole}


def color_of(fill: AnyFill, theme: Theme) -> QColor:
    return QColor(fill_color(fill, theme_colors(theme)))


def small_texts(of: QWidget | QPainter) -> KeptTexts:
    """Return texts in the font of explanations."""
    return _small_texts(of.font())[0]


# Kept by the surrounding font, because looking up both takes as long as drawing a text.
@lru_cache(maxsize=16)
def _small_texts(font: QFont) -> tuple[KeptTexts, float]:
    return kept_texts(small_font_of(font)), scale_of(font)


def new_sheet(painter: QPainter, theme: Theme) -> Sheet:
    texts, scale = _small_texts(painter.font())
    return Sheet(theme_colors(theme), measure=texts.width_of, scale=scale)


def paint_sheet(painter: QPainter, sheet: Sheet) -> None:
    """Paint everything, each colour of a layer in one call, and empty the sheet."""
    former: QFont | None = None
    for kind, color, entries in sheet.parts():
        match kind:
            case Kind.RECTS:
                fill_all(painter, entries, named_color(color))
            case Kind.HATCHED:
                fill_all(painter, entries, hatching(color))
            case Kind.COLUMNS:
                for columns in entries:
                    _paint_columns(painter, columns)
            case Kind.TEXTS:
                if former is None:
                    former = painter.font()
                    texts = small_texts(painter)
                    painter.setFont(texts.font)
                painter.setPen(named_color(color))
                for line in entries:
                    texts.draw(painter, line.left, line, line.text)
    if former is not None:
        painter.setFont(former)
    sheet.clear()


def hatching(color: str) -> QBrush:
    return QBrush(QColor(color), Qt.BrushStyle.BDiagPattern)


#: A color by its name; shared, so not to be changed.
named_color = lru_cache(maxsize=64)(QColor)


@lru_cache(maxsize=64)
def _pixels(colors: tuple[str, ...]) -> NDArray[np.uint32]:
    found = [(0xFF, *channels(color)) if color else (0, 0, 0, 0) for color in colors]
    return np.array([a << 24 | r << 16 | g << 8 | b for a, r, g, b in found], np.uint32)


def _paint_columns(painter: QPainter, columns: Columns) -> None:
    height, width = columns.cells.shape
    # The image does not own the pixels, so the array must outlive it.
    pixels = np.ascontiguousarray(_pixels(columns.colors)[columns.cells])
    image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_ARGB32_Premultiplied)
    painter.drawImage(QRectF(columns.left, columns.top, width, columns.height), image)
