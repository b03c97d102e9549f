"""Paints annotations on a separate lane: flags, and ranges as bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from inspector.display_text import one_line

from ..kit.theme import ColorRole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.events.annotations import Annotation

    from ..kit.theme import Theme
    from ..plotting.lane_view import LaneWindow

_PAD: Final = 2
#: Width of a flag, and least room for a name.
_FLAG: Final = 6
_TEXT_FROM: Final = 24
#: Up to this many are drawn one by one; beyond it, one per pixel.
_MOST_NAMED: Final = 400


class AnnotationPainter:
    """Paints annotations in the colours of a theme."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme

    def paint(
        self,
        painter: QPainter,
        annotations: Sequence[Annotation],
        window: LaneWindow,
        row: QRect,
    ) -> None:
        """Paint the visible annotations.

        Args:
            annotations: Earliest first.
        """
        shown = [
            each for each in annotations if each.at_ns <= window.high and each.last_ns >= window.low
        ]
        if len(shown) > _MOST_NAMED:
            shown = list({int(window.x(each.at_ns)): each for each in shown}.values())
        for each in shown:
            if each.end_ns is not None:
                self._band(painter, each, window, row)
        for place, each in enumerate(shown):
            following = shown[place + 1 : place + 2]
            until = window.x(following[0].at_ns) if following else window.left + window.width
            self._sign(painter, each, window, row, until)

    def _band(
        self, painter: QPainter, annotation: Annotation, window: LaneWindow, row: QRect
    ) -> None:
        left = max(window.x(annotation.at_ns), window.left - 2.0)
        right = min(window.x(annotation.last_ns), window.left + window.width + 2.0)
        color = self._theme.color(ColorRole.TICK)
        shade = QColor(color)
        shade.setAlphaF(0.22)
        band = QRectF(left, row.top() + _PAD, max(right - left, 1.0), row.height() - 2 * _PAD)
        painter.fillRect(band, shade)
        painter.fillRect(QRectF(left, band.bottom() - 2, band.width(), 2), color)
        painter.fillRect(QRectF(right - 1, band.top(), 1, band.height()), color)

    def _sign(
        self,
        painter: QPainter,
        annotation: Annotation,
        window: LaneWindow,
        row: QRect,
        until: float,
    ) -> None:
        begins = window.x(annotation.at_ns)
        x = int(max(begins, window.left))
        color = self._theme.color(ColorRole.TICK)
        top, height = row.top() + _PAD, row.height() - 2 * _PAD
        if begins >= window.left:
            painter.fillRect(x, top, 2, height, color)
            if annotation.kind == "bookmark":
                painter.fillRect(x + 2, top, _FLAG - 2, height // 2, color)
            elif annotation.kind == "note":
                painter.setPen(QPen(color, 1))
                painter.drawRect(x + 2, top, _FLAG - 3, height // 2 - 1)
        room = int(until) - x - _FLAG - 8
        if room >= _TEXT_FROM:
            painter.setPen(self._theme.color(ColorRole.TEXT))
            text = painter.fontMetrics().elidedText(
                one_line(annotation.title), Qt.TextElideMode.ElideRight, room
            )
            flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
            painter.drawText(QRect(x + _FLAG + 3, row.top(), room, row.height()), flags, text)
