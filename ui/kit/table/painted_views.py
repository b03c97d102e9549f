"""Tables that paint whole rows from plain values, and again only what has changed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, Qt, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QAbstractItemView, QFrame, QStyle, QStyleOptionFocusRect, QTableView
from typing_extensions import override

from ..guards import UNKNOWN, guarded, note_fault
from ..throttled_refresh import single_shot
from .cell_painting import Cell, CellPainter, PaintedCell, RowCells

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from PySide6.QtCore import QAbstractItemModel
    from PySide6.QtWidgets import QWidget

    _View = QAbstractItemView
else:
    _View = object

#: Pixels by which a cell is wider than its text.
CELL_PADDING: Final = 14
#: Shown for a cell that cannot be read.
_UNREADABLE: Final = Cell(UNKNOWN)
#: Share of the selection's colour behind the row under the pointer.
_POINTED: Final = 0.25
#: Events after which every cell looks different.
_OTHER_LOOKS: Final = frozenset(
    {
        QEvent.Type.FontChange,
        QEvent.Type.StyleChange,
        QEvent.Type.PaletteChange,
        QEvent.Type.EnabledChange,
        QEvent.Type.DevicePixelRatioChange,
    }
)


class RowPlace(NamedTuple):
    key: int
    top: int  # Pixels from the top of the viewport
    height: int  # Pixels


@guarded
class PaintedTable(QTableView):
    """A table that paints its rows in one pass.

    Its model has a method ``row_cells``, see :data:`.RowCells`. Left to itself, Qt asks for six
    roles of every cell, twice, and a delegate and the style for each of them. Here a row is a few
    plain values, taken from the model when the view is told to look, and painting is little more
    than its texts. All else is left to Qt: what is selected, what is edited, the keyboard, the
    mouse and screen readers.
    """

    sorts = False  # Whether a click on a title sorts, so that titles need room for a mark
    _is_painting = False

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._kept: dict[int, Sequence[Cell]] = {}
        self._shown: list[tuple[RowPlace, Sequence[Cell]]] | None = None
        # Whether rows have changed since they were compared with what is on the screen.
        self._is_behind = False
        self._row_cells: RowCells | None = None
        self._painted_selected: set[int] = set()
        self._pointed: int | None = None
        self.cells = CellPainter(self)
        self._soon = single_shot(self, self.repaint_changes)
        self._is_painting = True

    def width_for(self, text: str) -> int:
        return self.fontMetrics().horizontalAdvance(text) + CELL_PADDING

    def title_width(self, title: str) -> int:
        """Return how wide a column has to be for a title, with its mark when it sorts."""
        return self.width_for(f"{title} ▾ " if self.sorts else title)

    def row_places(self, top: int, bottom: int) -> Iterator[RowPlace]:
        rows, count = self.verticalHeader(), self.model().rowCount()
        row = rows.visualIndexAt(max(top, 0))
        while 0 <= row < count:
            place = RowPlace(row, rows.sectionViewportPosition(row), rows.sectionSize(row))
            if place.top >= bottom:
                return
            yield place
            row += 1

    def paint_over(self, painter: QPainter) -> None:
        """Paint what lies over the rows."""

    def focus_rect(self) -> QRect:
        """Return what has a frame while the keyboard works on it."""
        current = self.currentIndex()
        if not current.isValid():
            return QRect()
        before = self.cells.before(self.cells_of(current.row())[current.column()])
        return self.visualRect(current).adjusted(before, 0, 0, 0)

    # ---------------------------------------------------------------- what has changed

    @Slot()
    def repaint_changes(self) -> None:
        """Look at what rows in view say now, and paint the cells again that say something else.

        A view that is out of sight looks when it is painted.
        """
        self._kept.clear()
        self.repaint_differing()

    def repaint_differing(self) -> None:
        """Paint the cells again that differ from the screen, as of the last look."""
        if not self.isVisible():
            self._shown = None
            return
        now = self.rows_in_view()
        before, self._shown = self._shown, now
        self._is_behind = False
        if before is None:
            self.viewport().update()
            return
        changed: dict[int, list[RowPlace]] = {}
        for (old, old_cells), (new, new_cells) in zip(before, now, strict=False):
            if old != new:
                self._repaint(old)
                self._repaint(new)
            elif old_cells != new_cells:
                self._note_changes(new, old_cells, new_cells, changed)
        for place, _ in (*before[len(now) :], *now[len(before) :]):
            self._repaint(place)
        self._repaint_cells(changed)
        self._repaint_moved_selection(now)

    def _repaint_moved_selection(self, now: list[tuple[RowPlace, Sequence[Cell]]]) -> None:
        """Paint rows again that are selected since others came or went, or no longer are."""
        painted, selection = self._painted_selected, self.selectionModel()
        if not now or not (painted or selection.hasSelection()):
            return
        for place, _ in now:
            if selection.isSelected(self.model().index(place.key, 0)) != (place.key in painted):
                self._repaint(place)

    def _note_changes(
        self,
        place: RowPlace,
        old_cells: Sequence[Cell],
        new_cells: Sequence[Cell],
        changed: dict[int, list[RowPlace]],
    ) -> None:
        for column, (old, new) in enumerate(zip(old_cells, new_cells, strict=True)):
            if old is not new and old != new:
                changed.setdefault(column, []).append(place)

    def set_pointed(self, key: int | None) -> None:
        """Tint the row that is under the pointer, here or in another panel; ``None`` for none."""
        former, self._pointed = self._pointed, key
        if key != former:
            for place in self.row_places(0, self.viewport().height()):
                if place.key in {former, key}:
                    self._repaint(place)

    def rows_in_view(self) -> list[tuple[RowPlace, Sequence[Cell]]]:
        """Return the rows in view, from the uppermost, and what they say as of the last look."""
        height = self.viewport().height()
        try:
            return [(place, self.cells_of(place.key)) for place in self.row_places(0, height)]
        except Exception as error:  # noqa: BLE001 - Qt asks for it, too
            note_fault(type(self).__name__, "rows_in_view", error)
            return []

    def _repaint(self, place: RowPlace) -> None:
        viewport = self.viewport()
        viewport.update(0, place.top, viewport.width(), place.height)

    def _repaint_cells(self, changed: dict[int, list[RowPlace]]) -> None:
        """Paint cells again; those of a column that touch are one rectangle."""
        if not changed:
            return
        viewport = self.viewport()
        for column, left, width in self._column_places():
            rows = changed.get(column)
            if rows is None:
                continue
            top = bottom = rows[0].top
            for row in rows:
                if row.top != bottom:
                    viewport.update(left, top, width, bottom - top)
                    top = row.top
                bottom = row.top + row.height
            viewport.update(left, top, width, bottom - top)

    def repaint_rows(self) -> None:
        """Read all rows again and paint all of them: they look different, whatever they say."""
        self._kept.clear()
        self._shown = None
        self.viewport().update()

    # ---------------------------------------------------------------- what rows say

    def cells_of(self, key: int) -> Sequence[Cell]:
        cells = self._kept.get(key)
        if cells is None:
            cells = self._kept[key] = self._read(key)
        return cells

    def _read(self, key: int) -> Sequence[Cell]:
        try:
            assert self._row_cells is not None, "there is a model"
            return self._row_cells(key)
        except Exception as error:  # noqa: BLE001 - the other rows are shown
            note_fault(type(self).__name__, "cells_of", error)
            return [_UNREADABLE] * self.horizontalHeader().count()

    def shown_text(self, key: int, column: int) -> str:
        """Return what a cell says in the room it has, empty for one that is hidden."""
        return self._fitting(
            self.cells_of(key)[column], self.horizontalHeader().sectionSize(column)
        )

    def _fitting(self, cell: Cell, width: int) -> str:
        paint, text = self.cells, cell.text
        if not text or self.wordWrap():
            return text
        room, widths = paint.room(cell, width), paint.widths(cell)
        return text if widths.width(text) <= room else widths.cut(text, room)

    # ---------------------------------------------------------------- painting

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        # By a context manager: a painter that outlives its event crashes Qt.
        with QPainter(self.viewport()) as painter:
            if self.model() is not None:
                self._paint_rows(painter, event)
            self.paint_over(painter)

    def _paint_rows(self, painter: QPainter, event: QPaintEvent) -> None:
        bounds, columns = event.rect(), self._column_places()
        # As plain numbers, because they are compared with every cell.
        areas = [
            (area.top(), area.bottom() + 1, area.left(), area.right() + 1)
            for area in event.region()  # type: ignore[attr-defined]  # not known to the stubs
        ]
        selection = self.selectionModel()
        has_selection = selection.hasSelection()
        self.cells.begin(painter)
        rows = []
        for place in self.row_places(bounds.top(), bounds.bottom() + 1):
            rows.append((place, self.cells_of(place.key)))
            start, stop = place.top, place.top + place.height
            dirty = [
                (left, right) for top, bottom, left, right in areas if top < stop and bottom > start
            ]
            if dirty:
                is_selected = has_selection and selection.isSelected(
                    self.model().index(place.key, 0)
                )
                note = self._painted_selected
                (note.add if is_selected else note.discard)(place.key)
                self._paint_row(painter, place, columns, dirty, is_selected=is_selected)
        if len(areas) == 1 and bounds.contains(self.viewport().rect()):
            self._shown, self._is_behind = rows, False
        elif self._is_behind:
            # Now part of the screen shows what rows say now, and part what they said before.
            self._shown = None
        self._paint_focus(painter)

    def _paint_row(
        self,
        painter: QPainter,
        place: RowPlace,
        columns: list[tuple[int, int, int]],
        dirty: list[tuple[int, int]],
        *,
        is_selected: bool,
    ) -> None:
        cells, paint = self.cells_of(place.key), self.cells.paint
        top, height = place.top, place.height
        if (is_selected or place.key == self._pointed) and columns:
            right = max(left + width for _, left, width in columns)
            left = min(left for _, left, _ in columns)
            color = self.cells.selection_color
            if not is_selected:
                color = QColor(color)
                color.setAlphaF(_POINTED)
            painter.fillRect(left, top, right - left, height, color)
        for column, left, width in columns:
            for start, stop in dirty:
                if start < left + width and stop > left:
                    cell = cells[column]
                    text = self._fitting(cell, width)
                    if text or cell.mark is not None or cell.tick is not None:
                        painted = PaintedCell(cell, left, top, width, height, text, is_selected)
                        paint(painter, painted)
                    break

    def _column_places(self) -> list[tuple[int, int, int]]:
        """Return the columns that are shown, each with its left edge and its width in pixels."""
        titles = self.horizontalHeader()
        return [
            (column, titles.sectionViewportPosition(column), width)
            for column in range(titles.count())
            if (width := titles.sectionSize(column))
        ]

    def _paint_focus(self, painter: QPainter) -> None:
        current, rect = self.currentIndex(), self.focus_rect()
        if not current.isValid() or rect.isEmpty() or not self.hasFocus():
            return
        option = QStyleOptionFocusRect()
        option.initFrom(self)
        option.rect = rect
        option.state |= QStyle.StateFlag.State_KeyboardFocusChange | QStyle.StateFlag.State_Item
        is_selected = self.selectionModel().isSelected(current)
        role = QPalette.ColorRole.Highlight if is_selected else QPalette.ColorRole.Window
        option.backgroundColor = self.palette().color(role)
        frame = QStyle.PrimitiveElement.PE_FrameFocusRect
        self.style().drawPrimitive(frame, option, painter, self)

    # ---------------------------------------------------------------- what Qt says

    @override
    def setModel(self, model: QAbstractItemModel | None) -> None:
        super().setModel(model)
        self._follow(model)

    def _follow(self, model: QAbstractItemModel | None) -> None:
        self._row_cells = getattr(model, "row_cells", None)
        if model is not None:
            for signal in (
                model.modelReset,
                model.layoutChanged,
                model.rowsInserted,
                model.rowsRemoved,
                model.rowsMoved,
            ):
                signal.connect(self._forget_keys)

    @contextmanager
    def _without_paints(self) -> Iterator[None]:
        # Not by setUpdatesEnabled, which requests a paint itself.
        viewport, disabled = self.viewport(), Qt.WidgetAttribute.WA_UpdatesDisabled
        was_disabled = viewport.testAttribute(disabled)
        viewport.setAttribute(disabled, True)
        try:
            yield
        finally:
            viewport.setAttribute(disabled, was_disabled)

    @Slot()
    def _forget_keys(self) -> None:
        # The rows are compared with the screen when Qt has laid them out.
        self._kept.clear()
        self._is_behind = True

    @override
    def dataChanged(
        self,
        topLeft: QModelIndex | QPersistentModelIndex,
        bottomRight: QModelIndex | QPersistentModelIndex,
        roles: Sequence[int] = (),
    ) -> None:
        """Look in the next turn at what has changed; Qt would paint the whole range again."""
        with self._without_paints():
            super().dataChanged(topLeft, bottomRight, roles)
        self._forget_keys()
        self._soon.start()

    @override
    def doItemsLayout(self) -> None:
        """Lay out the rows, and paint those again that look different."""
        viewport = self.viewport()
        size = viewport.size()
        # Qt may scroll during the layout, which moves nothing on the screen.
        self._is_behind = True
        # Qt would paint everything, even for a row that was added far out of view.
        with self._without_paints():
            super().doItemsLayout()
        if self._is_painting and self._shown is not None and viewport.size() == size:
            # Rows have only moved; what they say need not be read again.
            self.repaint_differing()
        elif self._is_painting:
            self.repaint_rows()

    @override
    def scrollContentsBy(self, dx: int, dy: int) -> None:
        super().scrollContentsBy(dx, dy)
        if not self._is_painting or self._shown is None:
            return
        if self._is_behind:
            # Qt has moved pixels that show what rows said before.
            self._shown = None
            self.viewport().update()
        else:
            self._shown = self.rows_in_view()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if self._is_painting and event.type() in _OTHER_LOOKS:
            self.cells.forget()
            self.repaint_rows()
