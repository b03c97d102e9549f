"""The names of the lanes: a picture of their column, painted again only when it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter

from inspector.analysis.lanes.lanes import LaneKind
from inspector.display_text import one_line

from ..kit.theme import ColorRole
from ..plotting.bulk_paint import mixed
from ..plotting.kept_picture import KeptPicture

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..kit.theme import Theme
    from .lane_rows import LaneRow

_INDENT: Final = 12
_FOLD_WIDTH: Final = 14
_SIGN_WIDTH: Final = 15
_FLAGS: Final = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_SIGNS: Final = {
    LaneKind.BOOKMARKS: "★",
    LaneKind.MARKS: "⚑",
    LaneKind.COMMANDS: "»",
    LaneKind.FAILURES: "✖",
    LaneKind.HITS: "●",
    LaneKind.CLOCK: "◷",
    LaneKind.MACHINE: "◆",
    LaneKind.TIMER: "◔",
    LaneKind.CALL: "•",
    LaneKind.SLICES: "▬",
    LaneKind.COUNTER: "◢",
}


class PlacedRow(NamedTuple):
    """A visible row.

    Attributes:
        row: The row.
        y: Its upper edge in the viewport.
        height: Its height.
        is_marked: Whether it is chosen or selected.
        is_over: Whether it is gone, or a timer that nothing waits for.
    """

    row: LaneRow
    y: int
    height: int
    is_marked: bool
    is_over: bool

    @property
    def bottom(self) -> int:
        """Where the next row may begin."""
        return self.y + self.height


class PlacedRows(NamedTuple):
    """The visible rows.

    Attributes:
        scrolled: The rows below the pinned ones.
        pinned_box: The area of the pinned rows.
        pinned: The pinned rows.
    """

    scrolled: tuple[PlacedRow, ...]
    pinned_box: QRect
    pinned: tuple[PlacedRow, ...]

    def paint(
        self,
        painter: QPainter,
        theme: Theme,
        paint_row: Callable[[QPainter, PlacedRow], None],
        finish: Callable[[QPainter], None] | None = None,
    ) -> None:
        """Paint all rows, the pinned ones over the others.

        Args:
            paint_row: Paints what is on a row.
            finish: Paints what is left of rows that do not overlap.
        """
        for placed in self.scrolled:
            self.paint_row(painter, theme, placed, paint_row)
        if finish is not None:
            finish(painter)
        if not self.pinned:
            return
        box = self.pinned_box
        painter.fillRect(box, theme.color(ColorRole.BACKGROUND))
        for placed in self.pinned:
            self.paint_row(painter, theme, placed, paint_row)
        if finish is not None:
            finish(painter)
        self.paint_edge(painter, theme)

    def is_placed_like(self, other: PlacedRows) -> bool:
        return self.pinned_box == other.pinned_box and all(
            [(each.y, each.height) for each in ours] == [(each.y, each.height) for each in theirs]
            for ours, theirs in ((self.scrolled, other.scrolled), (self.pinned, other.pinned))
        )

    def paint_edge(self, painter: QPainter, theme: Theme) -> None:
        box = self.pinned_box
        painter.fillRect(0, box.bottom(), box.width(), 1, theme.color(ColorRole.MUTED_TEXT))

    def paint_row(
        self,
        painter: QPainter,
        theme: Theme,
        placed: PlacedRow,
        paint_row: Callable[[QPainter, PlacedRow], None],
    ) -> None:
        width = self.pinned_box.width()
        if placed.is_marked:
            tint = mixed(theme.color(ColorRole.SELECTION), theme.color(ColorRole.BACKGROUND), 0.16)
            painter.fillRect(0, placed.y, width, placed.height, tint)
        if placed.row.kind is LaneKind.CLOCK:
            painter.fillRect(0, placed.y, width, 1, theme.color(ColorRole.GRID))
        paint_row(painter, placed)


def name_width(row: LaneRow, font: QFont) -> int:
    shown = QFont(font)
    shown.setBold(row.kind is LaneKind.CLOCK)
    metrics = QFontMetrics(shown)
    sign = 0 if row.is_group else max(_SIGN_WIDTH, metrics.height())
    text = metrics.horizontalAdvance(one_line(row.label))
    return 4 + row.depth * _INDENT + _FOLD_WIDTH + sign + text + 6


class LaneNames:
    """Paints the names.

    Attributes:
        picture: The column of names.
    """

    def __init__(self, theme: Theme) -> None:
        self.picture = KeptPicture()
        self._theme = theme

    def paint(self, painter: QPainter, size: QSize, rows: PlacedRows) -> None:
        def draw(inner: QPainter) -> None:
            inner.fillRect(QRect(QPoint(), size), self._theme.color(ColorRole.BACKGROUND))
            rows.paint(
                *(inner, self._theme),
                lambda inner, placed: self._row(inner, placed, size.width()),
            )

        def amend(inner: QPainter, former: PlacedRows) -> bool:
            if not rows.is_placed_like(former):
                return False
            box = rows.pinned_box
            for old, new in zip(former.scrolled, rows.scrolled, strict=True):
                top = max(new.y, box.bottom() + 1) if rows.pinned else new.y
                if old != new and top < new.bottom:
                    self._row_again(inner, new, QRect(0, top, size.width(), new.bottom - top), rows)
            for old, new in zip(former.pinned, rows.pinned, strict=True):
                if old != new:
                    place = QRect(0, new.y, size.width(), new.height)
                    self._row_again(inner, new, place.intersected(box), rows)
            return True

        self.picture.paint(painter, size, rows, draw, amend=amend)

    def _row_again(
        self, painter: QPainter, placed: PlacedRow, place: QRect, rows: PlacedRows
    ) -> None:
        painter.setClipRect(place)
        painter.fillRect(place, self._theme.color(ColorRole.BACKGROUND))
        rows.paint_row(
            *(painter, self._theme, placed),
            lambda inner, placed: self._row(inner, placed, place.width()),
        )
        if placed.row.is_pinned:
            rows.paint_edge(painter, self._theme)

    def _row(self, painter: QPainter, placed: PlacedRow, width: int) -> None:
        theme, row = self._theme, placed.row
        box = QRect(0, placed.y, width, placed.height)
        x = 4 + row.depth * _INDENT
        muted = theme.color(ColorRole.MUTED_TEXT)
        painter.setPen(muted)
        if row.has_parts:
            sign = "▸" if row.is_folded else "▾"
            painter.drawText(QRect(x, box.top(), _FOLD_WIDTH, box.height()), _FLAGS, sign)
        x += _FOLD_WIDTH
        right = box.right() - 4
        if row.is_pinned:
            painter.setPen(theme.color(ColorRole.ACCENT))
            painter.drawText(QRect(right - 10, box.top(), 12, box.height()), _FLAGS, "▴")
            right -= 14
        font = painter.font()
        if row.kind is LaneKind.CLOCK:
            bold = QFont(font)
            bold.setBold(True)
            painter.setFont(bold)
        text = one_line(f"{row.label} (gone)" if row.is_gone else row.label)
        metrics = painter.fontMetrics()
        # Names are the last thing to be cut.
        sign_width = max(_SIGN_WIDTH, metrics.height())
        if not row.is_group and metrics.horizontalAdvance(text) <= right - x - sign_width:
            place = QRect(x, box.top(), sign_width, box.height())
            painter.setPen(muted)
            painter.drawText(place, _FLAGS, _SIGNS[row.kind])
            x += sign_width
        is_muted = placed.is_over or (row.is_group and row.lane is None)
        painter.setPen(muted if is_muted else theme.color(ColorRole.TEXT))
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, right - x)
        painter.drawText(QRect(x, box.top(), right - x, box.height()), _FLAGS, text)
        painter.setFont(font)
