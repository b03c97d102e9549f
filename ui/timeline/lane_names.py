"""The names of the lanes: a picture of their column, painted again only when it changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen

from inspector.analysis.lanes.lanes import Lane, LaneKey, LaneKind

from ..kit.fonts import small_font, text_scale
from ..kit.theme import ColorRole, Theme, mixed
from ..plotting.kept_picture import KeptPicture
from .lane_headers import (
    FOLD_FROM,
    INDENT,
    USUAL_RATE,
    HeaderState,
    header_name,
    header_places,
    name_end,
    name_font,
    name_left,
    rate_font,
)

if TYPE_CHECKING:
    from inspector.analysis.lanes.rows import LaneRow


_FLAGS: Final = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
#: Looked up once: in Python 3.11 a member of an enumeration takes as long as a small call.
_CLOCK, _LINE = LaneKind.CLOCK, ColorRole.LINE


class PlacedRow(NamedTuple):
    row: LaneRow
    y: int  # Its upper edge in the viewport
    height: int
    is_selected: bool  # Whether it is chosen or selected
    is_marked: bool  # Whether it is selected, or pointed at

    @property
    def ground(self) -> ColorRole:
        if self.is_selected:
            return ColorRole.BLUEBG
        return ColorRole.RAISED if self.is_marked else ColorRole.BG

    @property
    def bottom(self) -> int:
        return self.y + self.height


class PlacedRows(NamedTuple):
    scrolled: tuple[PlacedRow, ...]  # The rows below the pinned ones
    pinned_box: QRect  # The area of the pinned rows
    pinned: tuple[PlacedRow, ...]  # The pinned rows

    def paint(
        self,
        painter: QPainter,
        theme: Theme,
        paint_row: Callable[[QPainter, PlacedRow], None],
        finish: Callable[[QPainter], None] | None = None,
    ) -> None:
        for placed in self.scrolled:
            self.paint_row(painter, theme, placed, paint_row)
        if finish is not None:
            finish(painter)
        if not self.pinned:
            return
        box = self.pinned_box
        painter.fillRect(box, theme.color(ColorRole.BG))
        for placed in self.pinned:
            self.paint_row(painter, theme, placed, paint_row)
        if finish is not None:
            finish(painter)
        self.paint_edge(painter, theme)

    @property
    def bottom(self) -> int:
        """The pixel below the lowest row, at least 1."""
        least = max(1, self.pinned_box.height())
        if not self.scrolled:
            return least
        last = self.scrolled[-1]
        return max(least, last.y + last.height)

    def is_placed_like(self, other: PlacedRows) -> bool:
        return self.pinned_box == other.pinned_box and all(
            [(each.y, each.height) for each in ours] == [(each.y, each.height) for each in theirs]
            for ours, theirs in ((self.scrolled, other.scrolled), (self.pinned, other.pinned))
        )

    def has_lanes_of(self, other: PlacedRows) -> bool:
        """Return whether both are the same but for what names alone say."""
        return self is other or (self.is_placed_like(other) and self._lanes() == other._lanes())

    def _lanes(self) -> list[tuple[LaneKey, Lane | None, bool, bool]]:
        shown = (*self.scrolled, *self.pinned)
        return [(each.row.key, each.row.lane, each.is_selected, each.is_marked) for each in shown]

    def paint_edge(self, painter: QPainter, theme: Theme) -> None:
        box = self.pinned_box
        painter.fillRect(0, box.bottom(), box.width(), 1, theme.color(ColorRole.MUTED))

    def paint_row(
        self,
        painter: QPainter,
        theme: Theme,
        placed: PlacedRow,
        paint_row: Callable[[QPainter, PlacedRow], None],
    ) -> None:
        self.paint_ground(painter, theme, placed)
        paint_row(painter, placed)

    def paint_ground(self, painter: QPainter, theme: Theme, placed: PlacedRow) -> None:
        width = self.pinned_box.width()
        if placed.is_marked:
            painter.fillRect(0, placed.y, width, placed.height, theme.color(placed.ground))
        # No line at the very top: what is above the lanes ends with one.
        if placed.row.kind is _CLOCK and placed.y:
            painter.fillRect(0, placed.y, width, 1, theme.color(_LINE))


def shortened_name(text: str, metrics: QFontMetrics, width: int) -> str:
    """Return a name that fits; what tells it from others may be a number at its end."""
    is_numbered = text[-1:].isdecimal()
    mode = Qt.TextElideMode.ElideMiddle if is_numbered else Qt.TextElideMode.ElideRight
    return metrics.elidedText(text, mode, width)


class LaneNames:
    def __init__(self, theme: Theme) -> None:
        self.picture = KeptPicture()
        self._theme = theme

    def paint(
        self, painter: QPainter, size: QSize, rows: PlacedRows, states: tuple[HeaderState, ...]
    ) -> None:
        """Paint the headers of rows that are in some states, the pinned ones last."""
        shown = (*rows.scrolled, *rows.pinned)

        def paint_row(inner: QPainter, placed: PlacedRow) -> None:
            self._row(inner, placed, states[shown.index(placed)], size.width())

        def draw(inner: QPainter) -> None:
            inner.fillRect(QRect(QPoint(), size), self._theme.color(ColorRole.PANEL))
            rows.paint(inner, self._theme, paint_row)

        def amend(inner: QPainter, former: tuple[PlacedRows, tuple[HeaderState, ...]]) -> bool:
            old_rows, old_states = former
            if not rows.is_placed_like(old_rows):
                return False
            box = rows.pinned_box
            lowest = box.bottom() + 1 if rows.pinned else 0
            olds = zip((*old_rows.scrolled, *old_rows.pinned), old_states, strict=True)
            for (old, old_state), new, state in zip(olds, shown, states, strict=True):
                if old == new and old_state == state:
                    continue
                place = QRect(0, new.y, size.width(), new.height)
                if new.row.is_pinned:
                    place = place.intersected(box)
                else:
                    place.setTop(max(new.y, lowest))
                if not place.isEmpty():
                    self._row_again(inner, new, place, rows, paint_row)
            return True

        self.picture.paint(painter, size, (rows, states), draw, amend=amend)

    def _row_again(
        self,
        painter: QPainter,
        placed: PlacedRow,
        place: QRect,
        rows: PlacedRows,
        paint_row: Callable[[QPainter, PlacedRow], None],
    ) -> None:
        painter.setClipRect(place)
        painter.fillRect(place, self._theme.color(ColorRole.PANEL))
        rows.paint_row(painter, self._theme, placed, paint_row)
        if placed.row.is_pinned:
            rows.paint_edge(painter, self._theme)

    def _row(self, painter: QPainter, placed: PlacedRow, state: HeaderState, width: int) -> None:
        theme, row = self._theme, placed.row
        unit = text_scale(painter)
        muted = theme.color(ColorRole.MUTED)
        if not placed.is_marked:
            edge = row.kind is _CLOCK
            ground = QRect(0, placed.y + edge, width, placed.height - edge)
            painter.fillRect(ground, theme.color(ColorRole.PANEL))
        elif placed.is_selected:
            painter.fillRect(0, placed.y, 3, placed.height, theme.color(ColorRole.BLUE))
        x = name_left(row, unit)
        if row.has_parts:
            self._fold_sign(painter, placed, unit)
        font = painter.font()
        painter.setFont(name_font(row, font))
        text = header_name(row)
        metrics = painter.fontMetrics()
        name_width = metrics.horizontalAdvance(text)
        small = small_font(painter)
        header = QRect(0, placed.y, width, placed.height)
        places = header_places(header, unit, small, state.rate, x + name_width)
        right = width - round(12 * unit)
        if not places.pause.isEmpty():
            right = name_end(places, unit, is_paused=state.is_paused)
        if row.is_pinned:
            painter.setPen(muted)
            painter.drawText(QRect(right - 10, placed.y, 12, placed.height), _FLAGS, "▴")
            right -= 14
        is_muted = row.is_gone or state.is_over or state.is_stopped or row.is_of_several
        painter.setPen(muted if is_muted else theme.color(ColorRole.TEXT))
        box = QRect(x, placed.y, right - x, placed.height)
        painter.drawText(box, _FLAGS, shortened_name(text, metrics, box.width()))
        painter.setFont(small)
        if state.note:
            self._note(painter, placed, state, (x + name_width + 8, right))
        if not places.pause.isEmpty():
            self._pause_button(painter, state, places.pause, unit)
            self._rate_chip(painter, state.rate, places.rate)
        painter.setFont(font)

    def _fold_sign(self, painter: QPainter, placed: PlacedRow, unit: float) -> None:
        x = (FOLD_FROM + placed.row.indentation * INDENT) * unit
        y = placed.y + placed.height / 2
        half = 4 * unit
        corners = [(0.0, -half / 2), (2 * half, -half / 2), (half, half * 0.75)]
        if placed.row.is_folded:
            corners = [(half / 2, -half), (half * 1.75, 0.0), (half / 2, half)]
        self._triangle(painter, [(x + dx, y + dy) for dx, dy in corners], ColorRole.MUTED)

    def _triangle(
        self, painter: QPainter, corners: list[tuple[float, float]], role: ColorRole
    ) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color(role))
        painter.drawPolygon([QPointF(*corner) for corner in corners])
        painter.restore()

    def _note(
        self, painter: QPainter, placed: PlacedRow, state: HeaderState, room: tuple[int, int]
    ) -> None:
        text, (begin, end) = state.note, room
        width = painter.fontMetrics().horizontalAdvance(text)
        left = begin if state.rate else end - width
        # The note is left out before a name is cut.
        if begin <= left <= end - width:
            painter.setPen(self._theme.color(ColorRole.MUTED))
            painter.drawText(QRect(left, placed.y, width + 1, placed.height), _FLAGS, text)

    def _pause_button(self, painter: QPainter, state: HeaderState, box: QRect, unit: float) -> None:
        theme = self._theme
        middle = box.center()
        if state.is_paused:
            self._rounded(painter, box, theme.color(ColorRole.TEXT), None)
            x, y = middle.x() - 3 * unit, middle.y() + 0.5
            corners = [(x, y - 5 * unit), (x + 8 * unit, y), (x, y + 5 * unit)]
            self._triangle(painter, corners, ColorRole.BG)
            return
        color = theme.color(ColorRole.MUTED)
        if state.is_stopped or state.is_fixed:
            color = mixed(color, theme.color(ColorRole.PANEL), 0.6)
        wide, high = max(round(2 * unit), 1), round(9 * unit)
        for x in (middle.x() - round(4 * unit), middle.x() + round(2 * unit)):
            painter.fillRect(x, middle.y() - high // 2, wide, high, color)

    def _rate_chip(self, painter: QPainter, rate: str, box: QRect) -> None:
        theme = self._theme
        is_usual = rate == USUAL_RATE
        edge = ColorRole.LINE if is_usual else ColorRole.EDGE
        font = painter.font()
        painter.setFont(rate_font(font, rate))
        self._rounded(painter, box, None, theme.color(edge))
        painter.setPen(theme.color(ColorRole.MUTED if is_usual else ColorRole.TEXT))
        text = painter.fontMetrics().elidedText(rate, Qt.TextElideMode.ElideRight, box.width() - 4)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        painter.setFont(font)

    @staticmethod
    def _rounded(painter: QPainter, box: QRect, fill: QColor | None, edge: QColor | None) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen if edge is None else QPen(edge, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush if fill is None else fill)
        painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.restore()
