"""The lanes as a tree, for screen readers: it is not seen, the canvas paints what it says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QAccessible, QFocusEvent, QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QFrame, QTreeView
from typing_extensions import override

from ..kit.guards import guarded
from ..kit.keys import keeps_key

if TYPE_CHECKING:
    from inspector.analysis.lanes.rows import LaneRow

    from .lane_surface import LaneSurface

_TOP = -1


@guarded
class LaneRowsModel(QAbstractItemModel):
    """Rows by their depth; what one says is asked for when it is read."""

    def __init__(self, text_of: Callable[[LaneRow], str]) -> None:
        super().__init__()
        self.rows: Sequence[LaneRow] = ()
        self._text_of = text_of
        self._parents: list[int] = []
        self._places: list[int] = []
        self._children: dict[int, list[int]] = {}

    def set_rows(self, rows: Sequence[LaneRow]) -> None:
        self.beginResetModel()
        self.rows, self._children = rows, {_TOP: []}
        self._parents, self._places = [], []
        above: list[int] = []
        for number, row in enumerate(rows):
            while above and (row.is_pinned or rows[above[-1]].depth >= row.depth):
                above.pop()
            siblings = self._children.setdefault(above[-1] if above else _TOP, [])
            self._parents.append(above[-1] if above else _TOP)
            self._places.append(len(siblings))
            siblings.append(number)
            if not row.is_pinned:
                above.append(number)
        self.endResetModel()

    def index_of(self, row: LaneRow | None) -> QModelIndex:
        place = next((place for place, each in enumerate(self.rows) if each is row), None)
        return QModelIndex() if place is None else self._index(place)

    def row(self, index: QModelIndex | QPersistentModelIndex) -> LaneRow:
        return self.rows[index.internalId()]

    def _index(self, number: int) -> QModelIndex:
        return self.createIndex(self._places[number], 0, number)

    @override
    def index(
        self, row: int, column: int, parent: QModelIndex | QPersistentModelIndex = QModelIndex()
    ) -> QModelIndex:
        below = self._below(parent)
        return self._index(below[row]) if 0 <= row < len(below) and not column else QModelIndex()

    @override
    def parent(  # type: ignore[override]  # also names QObject.parent()
        self, index: QModelIndex | QPersistentModelIndex = QModelIndex()
    ) -> QModelIndex:
        above = self._parents[index.internalId()] if index.isValid() else _TOP
        return QModelIndex() if above == _TOP else self._index(above)

    @override
    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        return len(self._below(parent))

    @override
    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        return 1

    @override
    def hasChildren(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> bool:
        return self.row(parent).has_parts if parent.isValid() else bool(self.rows)

    @override
    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.row(index).label
        is_read = role == Qt.ItemDataRole.AccessibleTextRole
        return self._text_of(self.row(index)) if is_read else None

    def _below(self, parent: QModelIndex | QPersistentModelIndex) -> list[int]:
        return self._children.get(parent.internalId() if parent.isValid() else _TOP, [])


@guarded
class LaneTree(QTreeView):
    """Lies over the headers of a canvas, unseen, and has the keyboard for it."""

    def __init__(self, canvas: LaneSurface, own_keys: Collection[Qt.Key]) -> None:
        """Lie over the headers of a canvas, which takes its ``own_keys``."""
        super().__init__(canvas.viewport())
        self._canvas = canvas
        self._own_keys = own_keys
        self.is_read: Callable[[], bool] = QAccessible.isActive  # Returns whether anybody listens
        self.lanes = LaneRowsModel(canvas.reading_of)
        self.setModel(self.lanes)
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        # It is transparent, and Qt need not even ask it to paint.
        self.setAutoFillBackground(False)
        self.viewport().setAutoFillBackground(False)
        self.setUpdatesEnabled(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Lanes")
        canvas.rows_arranged.connect(self.update_rows)
        canvas.header_resized.connect(self._fit)
        self._fit()
        canvas.lane_chosen.connect(self._select_row)

    def update_rows(self) -> None:
        """Take the rows of the canvas, if a screen reader reads them."""
        if not self.is_read():
            return
        canvas = self._canvas
        self.lanes.set_rows((*canvas.pinned.rows, *canvas.rows.rows))
        for row in self.lanes.rows:
            if row.has_parts and not row.is_folded:
                self.setExpanded(self.lanes.index_of(row), True)
        # Lay out now: rows may be read before the next paint.
        self.doItemsLayout()
        self._select_row(canvas.row(canvas.chosen_key))

    def _fit(self) -> None:
        canvas = self._canvas
        self.setGeometry(0, 0, canvas.header_width, canvas.viewport().height())

    def _select_row(self, row: LaneRow | None) -> None:
        index = self.lanes.index_of(row)
        if index.isValid():
            self.setCurrentIndex(index)

    @override
    def visualRect(self, index: QModelIndex | QPersistentModelIndex) -> QRect:
        """Return where the canvas paints the header of a row."""
        canvas = self._canvas
        return canvas.header_box(self.lanes.row(index)) if index.isValid() else QRect()

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update_rows()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        """Leave what the canvas has painted below."""

    @override
    def event(self, event: QEvent) -> bool:
        return keeps_key(event, self._own_keys) or super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._canvas.keyPressEvent(event)
