"""The row of marks below the frames: flags with their names, and named ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget
from typing_extensions import override

from inspector.display_text import as_plain, one_line
from inspector.tokens import size_by_height

from ..kit.fonts import small_font, text_scale
from ..kit.guards import guarded
from ..kit.theme import ColorRole, Theme
from ..plotting.bulk_paint import (
    BAR,
    BOLT,
    CROSS,
    DIAMOND,
    DOWN_TRIANGLE,
    FLAG,
    TARGET,
    Glyph,
    fill_rects,
    glyph_rects,
)
from .timeline_marks import MarkGroup, MarkKind, TimelineMarks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.events.annotations import Annotation

    from ..plotting.shared_view import SharedView

_GLYPHS: Final[dict[MarkKind, tuple[Glyph, ColorRole]]] = {
    MarkKind.FAILURE: (CROSS, ColorRole.RED),
    MarkKind.DELTA_CUT: (BOLT, ColorRole.ORANGE),
    MarkKind.HIT: (TARGET, ColorRole.TICK),
    MarkKind.BOOKMARK: (DIAMOND, ColorRole.TICK),
    MarkKind.MARK: (FLAG, ColorRole.TICK),
    MarkKind.COMMAND: (DOWN_TRIANGLE, ColorRole.TICK),
    MarkKind.HELD: (BAR, ColorRole.HATCH),
}
_GLYPH_TOP: Final = 4
_TEXT_FROM: Final = 9
_BETWEEN: Final = 6
#: Pixels around a flag in which it is hit.
_REACH: Final = 6
#: Height of the bar of a named range, at the foot of the row.
_RANGE_BAR: Final = 3
_MOST_LISTED: Final = 8
_PAD: Final = 12
_LEFT: Final = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


@guarded
class MarksRow(QWidget):
    """Marks, bookmarks, hits, failures and what people did, on the axis of the frames."""

    # Session time stood still at other pixels, from the left edge of the axis
    holds_moved = Signal(object)  # list[int]
    playhead_moved = Signal(object)  # int: a mark was double-clicked; its instant of session time

    def __init__(self, theme: Theme, view: SharedView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.groups: list[MarkGroup] = []
        # Named ranges: left and right edge in pixels, and number
        self.ranges: list[tuple[float, float, int]] = []
        self._theme = theme
        self._view = view
        self._marks: TimelineMarks | None = None
        self._present_ns = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Marks")
        view.timeline_changed.connect(self._take_timeline)
        for changed in (view.moved, view.margins_changed, view.playhead_shown):
            changed.connect(self.place)
        theme.changed.connect(self._repaint)

    @property
    def has_any(self) -> bool:
        return self._marks is not None and not self._marks.is_empty

    @Slot()
    def _repaint(self) -> None:
        self.update()

    @Slot()
    def _take_timeline(self) -> None:
        timeline = self._view.timeline
        self._marks = None if timeline is None else TimelineMarks(timeline)
        self.place()

    def take_news(self) -> None:
        if self._marks is not None and self._marks.add_new():
            self.place()
        elif self._view.present_ns != self._present_ns:
            # In a view that stays the line at the present moves on.
            self.update()
        self._present_ns = self._view.present_ns

    def show_annotations(self, annotations: Sequence[Annotation]) -> None:
        if self._marks is not None:
            self._marks.show_annotations(annotations)
            self.place()

    @Slot()
    def place(self) -> None:
        series, shown, width = self._view.series, self._view.range, self._width
        groups: list[MarkGroup] = []
        ranges: list[tuple[float, float, int]] = []
        if self._marks is not None and series is not None and width >= 1:
            groups = self._marks.groups(series, shown.low, shown.high, width)
            ranges = self._marks.ranges(series, shown.low, shown.high, width)
        if (groups, ranges) != (self.groups, self.ranges):
            self.groups, self.ranges = groups, ranges
            self.holds_moved.emit([group.x for group in groups if group.has_hold])
        self.update()

    @property
    def _left(self) -> int:
        return self._view.left_edge

    @property
    def _width(self) -> int:
        return self.width() - self._left

    def text_at(self, x: float) -> str:
        if self._marks is None:
            return ""
        group = self._group_at(x)
        if group is not None:
            return self._marks.text_of(group)
        x -= self._left
        numbers = [number for left, right, number in self.ranges if left <= x <= right]
        return "\n".join(map(self._marks.range_text, numbers[:_MOST_LISTED]))

    def _group_at(self, x: float) -> MarkGroup | None:
        x -= self._left
        nearest = min(self.groups, key=lambda group: abs(group.x - x), default=None)
        return nearest if nearest is not None and abs(nearest.x - x) <= _REACH else None

    @override
    def sizeHint(self) -> QSize:
        unit = text_scale(self)
        height = size_by_height("timer_lane", self.window().height() / unit)
        return QSize(400, round(height * unit))

    minimumSizeHint = sizeHint  # noqa: N815 - Qt's name

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            said = self.text_at(event.pos().x())
            QToolTip.showText(event.globalPos(), as_plain(said), self)
            return True
        return super().event(event)

    @override
    def resizeEvent(self, _event: object) -> None:
        self.place()

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        group = self._group_at(event.position().x())
        if group is not None and self._marks is not None:
            self.playhead_moved.emit(self._marks.instant_of(group))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, left, height = self._theme, self._left, self.height()
        with QPainter(self) as painter:
            painter.setFont(small_font(self))
            painter.fillRect(0, 0, self.width(), height, theme.color(ColorRole.BG))
            painter.save()
            painter.setClipRect(left, 0, self._width, height)
            for begin, end, _ in self.ranges:
                bar = QRectF(left + begin, height - _RANGE_BAR - 1, max(end - begin, 1), _RANGE_BAR)
                painter.fillRect(bar, theme.color(ColorRole.EDGE))
            self._paint_flags(painter)
            self._paint_playhead(painter)
            painter.restore()
            painter.fillRect(0, 0, left - 1, height, theme.color(ColorRole.PANEL))
            painter.fillRect(left - 1, 0, 1, height, theme.color(ColorRole.LINE))
            painter.fillRect(0, 0, self.width(), 1, theme.color(ColorRole.LINE))
            painter.setPen(theme.color(ColorRole.MUTED))
            painter.drawText(QRectF(_PAD, 0, left - _PAD, height), _LEFT, "Marks")

    def _paint_flags(self, painter: QPainter) -> None:
        if self._marks is None or not self.groups:
            return
        theme, left, height = self._theme, self._left, self.height()
        metrics = QFontMetricsF(painter.font())
        ends = [group.x for group in self.groups[1:]]
        for group, end in zip(self.groups, [*ends, self._width], strict=True):
            glyph, role = _GLYPHS[group.kind]
            x = left + group.x
            painter.fillRect(x, _GLYPH_TOP, 1, height - _GLYPH_TOP, theme.color(role))
            middles = np.array([x + (2 if glyph is FLAG else 0)], dtype=np.int64)
            fill_rects(painter, glyph_rects(middles, _GLYPH_TOP, glyph, 1), theme.color(role))
            room = end - group.x - _TEXT_FROM - _BETWEEN
            name = one_line(self._marks.name_of(group))
            text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, room)
            # A single letter with dots says nothing.
            if text == name or len(text) > 3:  # noqa: PLR2004
                painter.setPen(theme.color(ColorRole.MUTED))
                painter.drawText(QRectF(x + _TEXT_FROM, 0, room, height), _LEFT, text)

    def _paint_playhead(self, painter: QPainter) -> None:
        view, left, height = self._view, self._left, self.height()
        place = view.present if view.playhead is None else view.playhead
        if place is None or view.series is None:
            return
        scale = self._width / view.range.span
        x, right = round((place - view.range.low) * scale) + left, self.width()
        if view.playhead is not None:
            veil = self._theme.color(ColorRole.BG)
            veil.setAlphaF(0.5)
            painter.fillRect(QRectF(max(x, left), 0, right - max(x, left), height), veil)
            if view.present is not None:
                now = round((view.present - view.range.low) * scale) + left
                painter.setPen(Qt.PenStyle.DashLine)
                painter.setPen(self._theme.color(ColorRole.EDGE))
                painter.drawLine(QPointF(now + 0.5, 0), QPointF(now + 0.5, height))
        painter.fillRect(x - 1, 0, 2, height, self._theme.color(ColorRole.BLUE))
