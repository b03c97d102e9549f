"""The row of marks below the frames: flags with their names, and named ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QEnterEvent, QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget
from typing_extensions import override

from inspector.display_text import as_plain, one_line
from inspector.events.annotations import Annotation
from inspector.formats.arrangement.flags import (
    BAR,
    BOLT,
    CROSS,
    DIAMOND,
    DOWN_TRIANGLE,
    FLAG,
    TARGET,
    Glyph,
    PlacedMark,
    lay_out_marks,
)
from inspector.formats.arrangement.sheet import Row
from inspector.tokens import size_by_height

from ..kit.fonts import text_scale
from ..kit.guards import guarded
from ..kit.theme import ColorRole, Theme
from ..plotting.readout import paint_playhead
from ..plotting.shared_view import SharedView
from ..plotting.sheet_painter import new_sheet, paint_sheet
from .timeline_marks import MarkGroup, MarkKind, TimelineMarks

_GLYPHS: Final[dict[MarkKind, tuple[Glyph, str]]] = {
    MarkKind.FAILURE: (CROSS, "red"),
    MarkKind.DELTA_CUT: (BOLT, "orange"),
    MarkKind.HIT: (TARGET, "tick"),
    MarkKind.BOOKMARK: (DIAMOND, "tick"),
    MarkKind.MARK: (FLAG, "tick"),
    MarkKind.COMMAND: (DOWN_TRIANGLE, "tick"),
    MarkKind.HELD: (BAR, "hatch"),
}
#: Pixels around a flag that still count as on it.
_REACH: Final = 6
_MOST_LISTED: Final = 8
_PAD: Final = 12


@guarded
class MarksRow(QWidget):
    """Marks, bookmarks, hits, failures and what people did, on the axis of the frames."""

    # The pixels at which session time stood still have changed, from the left edge of the axis
    holds_moved = Signal(object)  # list[int]
    playhead_moved = Signal(object)  # int: a mark was double-clicked; its instant of session time

    def __init__(self, theme: Theme, view: SharedView, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.groups: list[MarkGroup] = []
        # Named ranges: left and right edge in pixels, and number
        self.ranges: list[tuple[float, float, int]] = []
        self._theme = theme
        self._view = view
        self._marks: TimelineMarks | None = None
        self._left = 0
        self._shown: object = None
        self._shown_left = -1
        self._was_past = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Marks")
        view.timeline_changed.connect(self._on_timeline_changed)
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
    def _on_timeline_changed(self) -> None:
        timeline = self._view.timeline
        self._marks = None if timeline is None else TimelineMarks(timeline)
        self.place()

    def refresh(self) -> None:
        if self._marks is not None and self._marks.add_new():
            self.place()
        else:
            self._update_changed()

    def set_annotations(self, annotations: Sequence[Annotation]) -> None:
        if self._marks is not None:
            self._marks.set_annotations(annotations)
            self.place()
            # Their names may have changed, even if their places have not.
            self.update()

    @Slot()
    def place(self) -> None:
        series, shown, marks = self._view.series, self._view.range, self._marks
        self._left = self._view.left_edge
        groups: list[MarkGroup] = []
        ranges: list[tuple[float, float, int]] = []
        if marks is not None and series is not None and not marks.is_empty:
            width = self._width
            if width >= 1:
                groups = marks.groups(series, shown.low, shown.high, width)
                ranges = marks.ranges(series, shown.low, shown.high, width)
        if (groups, ranges) != (self.groups, self.ranges):
            self.groups, self.ranges = groups, ranges
            self.holds_moved.emit([group.x for group in groups if group.has_hold])
        self._update_changed()

    def _update_changed(self) -> None:
        """Paint the row again if anything in it has another place."""
        left, width, is_past = self._left, self._width, self._view.playhead_ns is not None
        shown = self.groups, self.ranges, width, self.line, self._moving_line()
        # When looking back, a veil reaches from the instant shown to the present, which moves.
        if left != self._shown_left:
            self.update()
        elif shown != self._shown or is_past or self._was_past:
            self.update(left - 1, 0, width + 1, self.height())
        self._shown_left, self._shown, self._was_past = left, shown, is_past

    @property
    def line(self) -> int | None:
        """The pixel of the instant shown, ``None`` for none."""
        shown = self._view.shown
        return None if shown is None else self._x_of(shown)

    def _lines(self) -> list[int]:
        """Return the pixels of the instant shown and of the present."""
        places = {self._view.shown, self._view.present}
        return [self._x_of(place) for place in places if place is not None]

    def _moving_line(self) -> int | None:
        timeline, present = self._view.timeline, self._view.present
        is_moving = present is not None and timeline is not None and timeline.is_running
        return self._x_of(present) if is_moving and present is not None else None

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
    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        # Filter events only then: an override of event() would be called for each paint.
        self.installEventFilter(self)

    @override
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.removeEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            said = self.text_at(event.pos().x())
            QToolTip.showText(event.globalPos(), as_plain(said), self)
            return True
        return False

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
        theme, left, width, height = self._theme, self._left, self.width(), self.height()
        edge = theme.color(ColorRole.LINE)
        with QPainter(self) as painter:
            painter.fillRect(0, 0, width, height, theme.color(ColorRole.BG))
            if event.rect().left() < left - 1:
                painter.fillRect(0, 0, left - 1, height, theme.color(ColorRole.PANEL))
                title = new_sheet(painter, theme)
                title.text(0, title.colors["muted"], "Marks", _PAD, Row(0, height))
                paint_sheet(painter, title)
            for y in (0, height - 1):
                painter.fillRect(0, y, width, 1, edge)
            painter.fillRect(left - 1, 0, 1, height, edge)
            painter.setClipRect(left, 0, self._width, height)
            if self.groups or self.ranges:
                sheet = new_sheet(painter, theme)
                lay_out_marks(
                    *(sheet, self._placed(), Row(0, height - 1), width),
                    ranges=[(int(left + begin), int(left + end)) for begin, end, _ in self.ranges],
                    lines=self._lines(),
                    moving=self._moving_line(),
                )
                paint_sheet(painter, sheet)
            if self._view.series is not None:
                area = QRectF(left, 0, width - left, height)
                paint_playhead(painter, theme, area, self._view, self._x_of)

    def _placed(self) -> list[PlacedMark]:
        marks, left = self._marks, self._left
        return (
            []
            if marks is None
            else [
                PlacedMark(left + each.x, one_line(marks.name_of(each)), *_GLYPHS[each.kind])
                for each in self.groups
            ]
        )

    def _x_of(self, place: float) -> int:
        shown = self._view.range
        return round((place - shown.low) * self._width / (shown.high - shown.low)) + self._left
