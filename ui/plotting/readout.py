"""The readout beside the pointer, and the playhead, over plots on the time axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from ..kit.theme import ColorRole, Theme
from .shared_view import SharedView

#: Opacity of the veil over what comes after the instant looked back at.
_VEIL: Final = 0.5
#: Label and value of a line; the first line is the heading.
Line: TypeAlias = tuple[str, str]

_PAD: Final = 6
_AWAY: Final = 14
_BETWEEN: Final = 14
#: Largest share of the plot's width.
_WIDEST: Final = 0.45
#: At least this many lines are shown, however low the plot is.
_LEAST_LINES: Final = 3
_RIGHT: Final = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT: Final = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


def paint_playhead(
    painter: QPainter, theme: Theme, area: QRectF, view: SharedView, x_of: Callable[[float], float]
) -> None:
    """Paint a line at the instant that is shown; cover what comes after it, up to now."""
    present, playhead = view.present, view.playhead
    shown = present if view.playhead_ns is None else playhead
    if shown is None:
        return
    x, begin = round(x_of(shown)), round(area.left())
    if begin - 1 <= x <= begin:
        # At the very beginning half of the line would be cut off.
        x = begin + 1
    if playhead is not None and present is not None:
        if not theme.is_high_contrast:
            veil = QColor(theme.color(ColorRole.BG))
            veil.setAlphaF(_VEIL)
            left = max(float(x), area.left())
            painter.fillRect(QRectF(left, area.top(), area.right() - left, area.height()), veil)
        now = round(x_of(present)) + 0.5
        painter.setPen(QPen(theme.color(ColorRole.EDGE), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(now, area.top()), QPointF(now, area.bottom()))
    line = QRectF(x - 1, area.top(), 2, area.height())
    painter.fillRect(line, theme.color(ColorRole.BLUE))


def paint_readout(
    painter: QPainter, lines: Sequence[Line], pointer: QPointF, room: QRectF, theme: Theme
) -> None:
    """Paint lines beside the pointer, as many as the room is high enough for."""
    metrics = painter.fontMetrics()
    line = metrics.height() + 1
    shown = lines[: max(int((room.height() - 2 * _PAD - 2) // line), _LEAST_LINES)]
    labels = max((metrics.horizontalAdvance(label) for label, _ in shown[1:]), default=0)
    values = max((metrics.horizontalAdvance(value) for _, value in shown[1:]), default=0)
    heading = metrics.horizontalAdvance("   ".join(filter(None, shown[0])))
    width = max(labels + values + (_BETWEEN if values else 0), heading) + 2 * _PAD
    width = min(width, int(room.width() * _WIDEST))
    height = line * len(shown) + 2 * _PAD - 2
    left = pointer.x() + _AWAY
    if left + width > room.right():
        left = pointer.x() - _AWAY - width
    top = min(max(pointer.y() - height / 2, room.top() + 4), room.bottom() - height - 4)
    box = QRectF(max(left, room.left()), max(top, room.top()), width, height)
    paint_box(painter, box, theme)
    inner = box.adjusted(_PAD, _PAD - 1, -_PAD, 0)
    row = QRectF(inner.left(), inner.top(), inner.width(), line)
    for number, (label, value) in enumerate(shown):
        painter.setPen(theme.color(ColorRole.MUTED if number else ColorRole.TEXT))
        beside = metrics.horizontalAdvance(value) + _BETWEEN if value else 0
        room_for_label = int(inner.width()) - beside
        shown_label = label
        # Checked first, because eliding counts fractions of pixels, which this width leaves out.
        if metrics.horizontalAdvance(label) > room_for_label:
            cut = Qt.TextElideMode.ElideRight
            shown_label = metrics.elidedText(label, cut, room_for_label)
        painter.drawText(row, _LEFT, shown_label)
        painter.setPen(theme.color(ColorRole.TEXT))
        painter.drawText(row, _RIGHT, value)
        row.translate(0, line)


def paint_box(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Paint the ground of a text that lies over a plot, and take up the pen for it."""
    painter.setBrush(theme.color(ColorRole.PANEL))
    painter.setPen(QPen(theme.color(ColorRole.MUTED), 1))
    painter.drawRect(QRectF(round(box.x()) + 0.5, round(box.y()) + 0.5, box.width(), box.height()))
    painter.setPen(theme.color(ColorRole.TEXT))
