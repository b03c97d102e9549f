"""Cells as plain values, and how they are painted: texts measured once, signs drawn once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QFontMetricsF,
    QIcon,
    QPainter,
    QPalette,
    QPixmap,
)
from PySide6.QtWidgets import QApplication, QStyle, QStyleOptionViewItem, QWidget

from ..fonts import text_scale
from . import roles

#: When a cache has more texts than this, it is emptied.
_MOST_TEXTS: Final = 8_192
#: Size of the sign in front of a text, in device-independent pixels at 100 % text.
_SIGN_SIZE: Final = QSize(16, 16)
_DIGITS: Final = "0123456789"
#: Turns digits into zeros, so that numbers of the same length share one cached width.
_ZEROS: Final = str.maketrans(_DIGITS, "0" * len(_DIGITS))
_LEFT: Final = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class Cell(NamedTuple):
    text: str  # What it says, in one line
    alignment: Qt.AlignmentFlag = _LEFT  # Where in the cell the text is
    color: QColor | None = None  # The colour of the text, None for the usual one
    is_bold: bool = False  # Whether the text is bold
    # What stands in front of the text: a pixmap, an icon, or a colour for a square; None for
    # nothing.
    mark: object = None
    tick: bool | None = None  # Whether its check box is ticked, None for a cell without one


#: A cell without content.
EMPTY: Final = Cell("")


#: Returns what is painted of the row with a number: a cell for each column.
RowCells: TypeAlias = "Callable[[int], Sequence[Cell]]"


class PaintedCell(NamedTuple):
    cell: Cell
    left: int  # Pixels from the left of the viewport
    top: int  # Pixels from its top
    width: int  # Pixels
    height: int  # Pixels
    text: str  # What it says in the room it has
    is_selected: bool  # Whether it lies on the colour of the selection


class _Mark(NamedTuple):
    pixmap: QPixmap
    width: int
    height: int


class TextWidths:
    """Measures texts in one font, each once; numbers once for as many digits."""

    def __init__(self, font: QFont) -> None:
        self.metrics, self._exact = QFontMetrics(font), QFontMetricsF(font)
        self.height, self.ascent = self.metrics.height(), self.metrics.ascent()
        self._widths: dict[str, float] = {}
        self._cut: dict[tuple[str, int], str] = {}
        # In most fonts all digits are equally wide, in some a 1 is narrower.
        self._are_digits_even = len(set(map(self.metrics.horizontalAdvance, _DIGITS))) == 1

    def width(self, text: str) -> float:
        return self._width(text.translate(_ZEROS) if self._are_digits_even else text)

    def cut(self, text: str, room: int) -> str:
        """Return the beginning of a text, with dots, that is at most ``room`` pixels wide."""
        key = (text, room)
        cut = self._cut.get(key)
        if cut is None:
            if len(self._cut) >= _MOST_TEXTS:
                self._cut.clear()
            cut = self.metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            self._cut[key] = cut
        return cut

    def _width(self, text: str) -> float:
        width = self._widths.get(text)
        if width is None:
            if len(self._widths) >= _MOST_TEXTS:
                self._widths.clear()
            width = self._widths[text] = self._exact.horizontalAdvance(text)
        return width


class CellPainter:
    def __init__(self, view: QWidget) -> None:
        self._view = view
        self.forget()

    def forget(self) -> None:
        view, style = self._view, self._view.style()
        self._font = view.font()
        self._bold_font = QFont(self._font)
        self._bold_font.setBold(True)
        self.plain, self.bold = TextWidths(self._font), TextWidths(self._bold_font)
        # Pixels beside a text, and on both sides of what stands in front of it
        self.margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, None, view) + 1
        self._box = style.pixelMetric(QStyle.PixelMetric.PM_IndicatorWidth, None, view)
        palette = view.palette()
        group = QPalette.ColorGroup.Active if view.isEnabled() else QPalette.ColorGroup.Disabled
        self._text_color = palette.color(group, QPalette.ColorRole.Text)
        self._selected_text_color = palette.color(group, QPalette.ColorRole.HighlightedText)
        self.selection_color = palette.color(group, QPalette.ColorRole.Highlight)
        self._marks: dict[tuple[object, bool], _Mark] = {}
        self._scale = text_scale(view)
        self._pen: QColor | None = None
        self._is_bold = False

    def begin(self, painter: QPainter) -> None:
        painter.setFont(self._font)
        self._pen, self._is_bold = None, False

    def widths(self, cell: Cell) -> TextWidths:
        return self.bold if cell.is_bold else self.plain

    def room(self, cell: Cell, width: int) -> int:
        return width - 2 * self.margin - self.before(cell)

    def paint(self, painter: QPainter, piece: PaintedCell) -> None:
        """Paint a cell over its background, with a painter that :meth:`begin` was called with."""
        cell, left, top, width, height, text, is_selected = piece
        if cell.tick is not None:
            self._paint_box(painter, QRect(left, top, width, height), is_ticked=cell.tick)
        before = self.margin
        if cell.mark is not None or cell.tick is not None:
            before += self.before(cell)
        if cell.mark is not None:
            mark = self._mark(cell.mark, is_selected=is_selected)
            mark_left = left + before - mark.width - 2 * self.margin
            painter.drawPixmap(mark_left, top + (height - mark.height) // 2, mark.pixmap)
        if not text:
            return
        color = self._selected_text_color if is_selected else cell.color or self._text_color
        if color is not self._pen:
            self._pen = color
            painter.setPen(color)
        if cell.is_bold is not self._is_bold:
            self._is_bold = cell.is_bold
            painter.setFont(self._bold_font if cell.is_bold else self._font)
        widths, alignment = self.bold if cell.is_bold else self.plain, cell.alignment
        baseline = top + (height - widths.height) // 2 + widths.ascent
        if alignment is _LEFT or alignment == _LEFT:
            painter.drawText(left + before, baseline, text)
        elif alignment == _RIGHT:
            right = left + width - self.margin
            painter.drawText(QPointF(right - widths.width(text), baseline), text)
        else:
            room = QRect(left + before, top, width - before - self.margin, height)
            painter.drawText(room, int(alignment | Qt.TextFlag.TextWordWrap), text)

    def before(self, cell: Cell) -> int:
        """Return how many pixels belong to what stands in front of the text."""
        taken = self._box_width(cell)
        if cell.mark is not None:
            taken += self._mark(cell.mark, is_selected=False).width + 2 * self.margin
        return taken

    def _box_width(self, cell: Cell) -> int:
        return 0 if cell.tick is None else self._box + 2 * self.margin

    def _mark(self, mark: object, *, is_selected: bool) -> _Mark:
        key = (mark.rgba() if isinstance(mark, QColor) else mark), is_selected
        drawn = self._marks.get(key)
        if drawn is None:
            pixmap = self._drawn(mark, is_selected=is_selected)
            size = pixmap.deviceIndependentSize().toSize()
            drawn = self._marks[key] = _Mark(pixmap, size.width(), size.height())
        return drawn

    def _drawn(self, mark: object, *, is_selected: bool) -> QPixmap:
        if mark is roles.gap():
            # The style leaves as much room in the title, at every size of text.
            return roles.gap()
        if isinstance(mark, QPixmap):
            pixmap = QPixmap(mark)
            pixmap.setDevicePixelRatio(mark.devicePixelRatio() / self._scale)
            return pixmap
        size = _SIGN_SIZE * self._scale
        if isinstance(mark, QColor):
            pixmap = QPixmap(size)
            pixmap.fill(mark)
            return pixmap
        icon = mark if isinstance(mark, QIcon) else QIcon()
        mode = QIcon.Mode.Selected if is_selected else QIcon.Mode.Normal
        return icon.pixmap(size, self._view.devicePixelRatioF(), mode)

    def _paint_box(self, painter: QPainter, rect: QRect, *, is_ticked: bool) -> None:
        option = QStyleOptionViewItem()
        option.initFrom(self._view)
        # The palette of check boxes has an outline that can be seen.
        option.palette = QApplication.palette("QCheckBox")  # type: ignore[call-overload]
        top = rect.top() + (rect.height() - self._box) // 2
        option.rect = QRect(rect.left() + self.margin, top, self._box, self._box)
        option.state |= QStyle.StateFlag.State_On if is_ticked else QStyle.StateFlag.State_Off
        box = QStyle.PrimitiveElement.PE_IndicatorItemViewItemCheck
        self._view.style().drawPrimitive(box, option, painter, self._view)
