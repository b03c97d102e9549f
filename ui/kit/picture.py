"""Draws a display list with QPainter on any paint device; needs QtGui only."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QPainter, QPainterPath, QPen

from inspector.formats.drawing.display_list import (
    HALO_SHARE,
    Anchor,
    Box,
    Circle,
    Columns,
    DisplayList,
    Group,
    Hatched,
    Item,
    Point,
    Polygon,
    Polyline,
    Rect,
    Rects,
    Text,
    boxes_by_color,
    boxes_of,
    lines_of,
)
from inspector.formats.drawing.font_metrics import font, has_every_character, text_width

from .fonts import FONT_FAMILIES, load_fonts

#: A zigzag of thousands of points is drawn in pieces: the cost of a stroke grows
#: with the square of its crossings (2.0 s in pieces of 16 points instead of 3.7 s in those of
#: 64, for the PNG of a million frames; longer pieces look the same).
_POINTS_PER_STROKE: Final = 16
_NO_PEN: Final = QPen(Qt.PenStyle.NoPen)
_NO_BRUSH: Final = QBrush(Qt.BrushStyle.NoBrush)
_ORIGIN: Final = QPointF(0, 0)
_SCREEN_PIXELS: Final = 60
#: Share of a text's width that lies before its anchor.
_BEFORE: Final = {Anchor.START: 0.0, Anchor.MIDDLE: 0.5, Anchor.END: 1.0}


def paint(picture: DisplayList, painter: QPainter) -> None:
    """Draw the items of ``picture`` with a painter whose unit is the point."""
    load_fonts()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
    paint_items(picture.items, painter)


def paint_items(  # noqa: C901, PLR0912 - one branch for each shape
    items: Iterable[Item],
    painter: QPainter,
    paint_text: Callable[[Text, QPainter], None] | None = None,
) -> None:
    """Draw shapes, back to front; the fonts are loaded."""
    pen: QPen | None = None
    brush: QBrush | None = None

    def use(wanted_pen: QPen, wanted_brush: QBrush) -> None:
        # Setting the same pen or brush again would cost as much as a small shape.
        nonlocal pen, brush
        if wanted_pen is not pen:
            pen = wanted_pen
            painter.setPen(pen)
        if wanted_brush is not brush:
            brush = wanted_brush
            painter.setBrush(brush)

    for item in items:
        match item:
            case Group(items=inner, clip=clip):
                painter.save()
                if clip is not None:
                    painter.setClipRect(_rect(clip), Qt.ClipOperation.IntersectClip)
                paint_items(inner, painter, paint_text)
                painter.restore()
            case Rect(box=box, fill=fill):
                painter.fillRect(_rect(box), _brush(fill))
            case Polygon(points=points, fill=fill):
                use(_NO_PEN, _brush(fill))
                painter.drawPolygon(_places(points))
            case Circle(center=center, radius=radius, fill=fill):
                use(_NO_PEN, _brush(fill))
                painter.drawEllipse(QPointF(*center), radius, radius)
            case Polyline(points=points, stroke=stroke):
                use(_pen(stroke.color, stroke.width, stroke.dash), _NO_BRUSH)
                step = len(points) if stroke.dash else _POINTS_PER_STROKE
                for start in range(0, max(1, len(points) - 1), step):
                    painter.drawPolyline(_places(points[start : start + step + 1]))
            case Rects(fill=fill):
                use(_NO_PEN, _brush(fill))
                painter.drawRects([QRectF(*box) for box in boxes_of(item)])
            case Columns():
                for fill, boxes in boxes_by_color(item).items():
                    use(_NO_PEN, _brush(fill))
                    painter.drawRects([QRectF(*box) for box in boxes])
            case Hatched(color=color):
                use(_pen(color, 1.0, ()), _NO_BRUSH)
                painter.drawLines([QLineF(*line) for line in lines_of(item)])
            case Text():
                pen = None
                (paint_text or _paint_text)(item, painter)


def paint_screen_text(text: Text, painter: QPainter) -> None:
    """Draw one text several times as fast as for files, and as wide to half a hundredth.

    The font is small enough for Qt to keep its glyphs, and large enough that whole pixels, to
    which it rounds their widths, do not matter.
    """
    width = _unit_width(text.text, is_bold=text.is_bold) * text.size
    former = painter.worldTransform()
    painter.translate(text.at.x - _BEFORE[text.anchor] * width, text.at.y)
    painter.scale(text.size / _SCREEN_PIXELS, text.size / _SCREEN_PIXELS)
    painter.setFont(_screen_font(is_bold=text.is_bold))
    painter.setPen(_text_pen(text.color))
    painter.drawText(_ORIGIN, text.text)
    painter.setWorldTransform(former)


@lru_cache(maxsize=2)
def _screen_font(*, is_bold: bool) -> QFont:
    result = QFont(FONT_FAMILIES)
    result.setPixelSize(_SCREEN_PIXELS)
    result.setBold(is_bold)
    result.setKerning(False)
    result.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return result


@lru_cache(maxsize=4096)
def _unit_width(text: str, *, is_bold: bool) -> float:
    return text_width(text, 1.0, is_bold=is_bold)


@lru_cache(maxsize=4096)
def _text_pen(color: str) -> QPen:
    return QPen(QColor(color))


def _paint_text(text: Text, painter: QPainter) -> None:
    """Draw one text at the place that the bundled font's widths give.

    The font is set at its design size and scaled, so that advances are exact and
    not rounded to sixty-fourths of a pixel of the size shown.
    """
    width = text_width(text.text, text.size, is_bold=text.is_bold)
    shift = {Anchor.START: 0.0, Anchor.MIDDLE: width / 2, Anchor.END: width}[text.anchor]
    face = font(is_bold=text.is_bold)
    painter.save()
    painter.translate(text.at.x, text.at.y)
    painter.translate(-shift, 0)
    painter.scale(text.size / face.units_per_em, text.size / face.units_per_em)
    design = _design_font(text)
    if text.halo:
        outline = QPainterPath()
        outline.addText(QPointF(0, 0), design, text.text)
        rim = QPen(QColor(text.halo), HALO_SHARE * face.units_per_em)
        rim.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.strokePath(outline, rim)
    painter.setFont(design)
    painter.setPen(QColor(text.color))
    painter.drawText(QPointF(0, 0), text.text)
    painter.restore()


def _design_font(text: Text) -> QFont:
    result = QFont(FONT_FAMILIES)
    result.setPixelSize(font(is_bold=text.is_bold).units_per_em)
    result.setBold(text.is_bold)
    result.setKerning(False)
    result.setFeature(QFont.Tag("liga"), 0)
    result.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    if has_every_character(text.text, is_bold=text.is_bold):
        # Other fonts are only let in for characters that the bundled one lacks.
        result.setStyleStrategy(QFont.StyleStrategy.NoFontMerging)
    return result


@lru_cache(maxsize=4096)
def _brush(color: str) -> QBrush:
    # Cached: parsing a colour takes twice as long as filling a small shape.
    return QBrush(QColor(color))


def _rect(box: Box) -> QRectF:
    return QRectF(box.x, box.y, box.width, box.height)


def _places(points: Iterable[Point]) -> list[QPointF]:
    return [QPointF(x, y) for x, y in points]


@lru_cache(maxsize=4096)
def _pen(color: str, width: float, dash: tuple[float, ...]) -> QPen:
    pen = QPen(QColor(color), width)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap if dash else Qt.PenCapStyle.RoundCap)
    if dash:
        # Qt counts dashes in widths of the pen.
        pen.setDashPattern([length / width for length in dash])
    return pen
