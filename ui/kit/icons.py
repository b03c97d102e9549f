"""Draws our icons: SVG files of one stroke weight, in whatever colour text has."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontInfo, QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from inspector.resources import resource_path
from inspector.tokens import SIZES, TYPE

#: Icons are drawn on a square of this many device-independent pixels, at 100 % text.
ICON_SIZE: Final = SIZES["icon"]


def drawn_icon(name: str, color: QColor, faint_color: QColor) -> QIcon:
    """Return an icon of ``resources/icons``, as sharp as the screens that are there.

    ``currentColor`` in its file stands for one colour, and while it is disabled for the faint one.
    """
    try:
        source = resource_path("icons", f"{name}.svg").read_text(encoding="utf-8")
    except OSError:
        raise ValueError(f"there is no icon {name!r}") from None
    icon = QIcon()
    shades = (
        (QIcon.Mode.Normal, color),
        (QIcon.Mode.Disabled, faint_color),
        (QIcon.Mode.Selected, QColor("#ffffff")),
    )
    renderer = QSvgRenderer(QByteArray(source.replace("currentColor", color.name()).encode()))
    has_own_colors = "#" in source
    side = icon_size()
    for ratio in sorted({screen.devicePixelRatio() for screen in QGuiApplication.screens()}):
        drawn = _rendered(renderer, side, ratio)
        for mode, shade in shades:
            is_drawn = has_own_colors or mode is QIcon.Mode.Normal
            icon.addPixmap(drawn if is_drawn else _tinted(drawn, shade), mode)
    return icon


def icon_size() -> int:
    """Return the size of icons at the text size of the application, in logical pixels."""
    pixels = QFontInfo(QGuiApplication.font()).pixelSize()
    return max(round(ICON_SIZE * pixels / TYPE["text"].px), ICON_SIZE)


def _rendered(renderer: QSvgRenderer, size: int, ratio: float) -> QPixmap:
    side = round(size * ratio)
    pixmap = QPixmap(QSize(side, side))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, side, side))
    painter.end()
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def _tinted(drawn: QPixmap, shade: QColor) -> QPixmap:
    """Return what was drawn in one colour in another; a third of the cost of drawing it."""
    pixmap = QPixmap(drawn)
    painter = QPainter(pixmap)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
    painter.fillRect(drawn.rect(), shade)
    painter.end()
    return pixmap
