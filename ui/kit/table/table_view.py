"""A table of the window: its columns, its keys and menus, and what is marked in it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, cast

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QTableView
from typing_extensions import override

from ..clipboard import COPY_TABLE, copy_action, copy_rows, copy_text
from ..guards import guarded
from ..keys import is_plain
from ..labels import EmptyNotice
from ..layouts import open_menu
from .column_choices import ColumnChoices, ShorteningHeader
from .models import ListTableModel, TableModel
from .painted_views import CELL_PADDING, PaintedTable

if TYPE_CHECKING:
    Key = Qt.Key | QKeySequence.StandardKey

#: Pixels of a row above and below its text, together.
_ROW_PADDING: Final = 6
ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


@guarded
class RowPointing(QObject):
    """Tells which row of an item view is under the pointer."""

    pointed = Signal(QModelIndex)  # A cell of the row, invalid for none

    def __init__(self, view: QAbstractItemView) -> None:
        super().__init__(view)
        view.setMouseTracking(True)
        view.entered.connect(self.pointed)
        view.viewportEntered.connect(self._leave)
        view.viewport().installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self._leave()
        return False

    @Slot()
    def _leave(self) -> None:
        self.pointed.emit(QModelIndex())


@guarded
class RowMenus(QObject):
    """Asks the owner of an item view for context menus, from the mouse and from the keyboard.

    Qt gives the place of a menu from the keyboard within the view, and that of one from the
    mouse within the viewport, which lies below the titles; a slot that treated both alike would
    take the row below the current one.
    """

    # A context menu is wanted: its cell, invalid for none, and where on the screen
    requested = Signal(QModelIndex, QPoint)

    def __init__(self, view: QAbstractItemView) -> None:
        super().__init__(view)
        self._view = view
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._ask_at)
        view.installEventFilter(self)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            event.type() != QEvent.Type.ContextMenu
            or not isinstance(event, QContextMenuEvent)
            or event.reason() != QContextMenuEvent.Reason.Keyboard
        ):
            return False
        event.accept()
        view, index = self._view, self._view.currentIndex()
        place = QPoint(0, 0)
        if index.isValid():
            view.scrollTo(index)
            place = view.visualRect(index).bottomLeft()
            place.setX(max(place.x(), 0))
        self.requested.emit(index, view.viewport().mapToGlobal(place))
        return True

    @Slot(QPoint)
    def _ask_at(self, position: QPoint) -> None:
        view = self._view
        self.requested.emit(view.indexAt(position), view.viewport().mapToGlobal(position))


class Arranging:
    """Mixed into an item view whose rows and marks also change without the user."""

    is_arranging = False  # Whether they do so now

    @contextmanager
    def arranging(self) -> Iterator[None]:
        """Let rows and marks change: neither a choice of the user nor a reason to scroll."""
        view = cast("QAbstractItemView", self)  # a base of Qt for both would be one too many
        was_arranging, self.is_arranging = self.is_arranging, True
        view.setAutoScroll(False)
        try:
            yield
        finally:
            view.setAutoScroll(True)
            self.is_arranging = was_arranging


@contextmanager
def without_choosing(view: QAbstractItemView) -> Iterator[None]:
    """Leave a view without a current row if it had none before.

    A view that gets the keyboard by a key makes its first row current, which where the
    current row is the selection would select something unasked. The first
    arrow key goes to the first row as it should.
    """
    selection = view.selectionModel()
    had_none = not view.currentIndex().isValid()
    was_blocked = selection.blockSignals(had_none)
    try:
        yield
        if had_none:
            selection.clear()
    finally:
        selection.blockSignals(was_blocked)


def _row_height(view: QTableView) -> int:
    return view.fontMetrics().height() + _ROW_PADDING


def set_up_table(view: QTableView, *, selects_many: bool = False) -> None:
    """Make whole rows selectable, all of one height, without a grid; Tab leaves the table."""
    modes = QAbstractItemView.SelectionMode
    view.setWordWrap(False)
    view.setShowGrid(False)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(modes.ExtendedSelection if selects_many else modes.SingleSelection)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setTabKeyNavigation(False)
    # With one fixed height, the places of rows are computed rather than stored.
    rows = view.verticalHeader()
    rows.setVisible(False)
    rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    rows.setMinimumSectionSize(8)
    rows.setDefaultSectionSize(_row_height(view))
    view.horizontalHeader().setHighlightSections(False)


@guarded
class TableView(Arranging, PaintedTable):
    """A table whose rows are selected whole, without a grid; Tab leaves it.

    What is marked stays marked while the rows of the model come, go and change places.
    """

    def __init__(
        self,
        model: TableModel[Any],
        name: str,
        choices: MutableMapping[str, str],
        *,
        selects_many: bool = False,
        is_entered_at_end: bool = False,
    ) -> None:
        """Show a model under the name that a screen reader says.

        The keyboard may begin at the last row, the newest.
        """
        super().__init__()
        self._model = model
        self.sorts = model.is_sortable
        self._is_entered_at_end = is_entered_at_end
        self._keys: dict[Key, Callable[[], object]] = {}
        self._marked_keys: tuple[list[Hashable], Hashable] = ([], None)
        # Returns the context menu of the row with a number
        self.make_menu: Callable[[int], QMenu] = self.copy_menu
        self.setAccessibleName(name)
        self.setModel(model)
        short_titles = {
            each: each.spec.short_title for each in model.columns if each.spec.short_title
        }
        if short_titles:
            titles = ShorteningHeader(short_titles, self)
            titles.setSectionsClickable(True)
            self.setHorizontalHeader(titles)
        set_up_table(self, selects_many=selects_many)
        self._set_up_titles()
        self.choices = ColumnChoices(self, model.columns, choices, model.sorted_by)
        self.choices.order_changed.connect(self._on_order_changed)
        self._on_order_changed()
        if model.is_sortable:
            self.setSortingEnabled(True)
        self.notice = EmptyNotice(self)  # Why the table is empty, and how to change that
        self.on(QKeySequence.StandardKey.Copy, self.copy_marked)
        if isinstance(model, ListTableModel):
            # Models of other kinds may have a million rows.
            self.addAction(copy_action(self, "Copy table", COPY_TABLE, self.copy_table))
        RowMenus(self).requested.connect(self._open_menu)
        model.modelAboutToBeReset.connect(self._note_marked)
        model.modelReset.connect(self._mark_again)
        # Connected after the model, which looks up the colours again first.
        model.theme.changed.connect(self.repaint_rows)

    def _set_up_titles(self) -> None:
        titles = self.horizontalHeader()
        titles.setSectionsMovable(True)
        titles.setMinimumSectionSize(self.width_for("No.") - CELL_PADDING // 2)
        if any(column.spec.is_wrapped for column in self._model.columns):
            self.setWordWrap(True)
            contents = QHeaderView.ResizeMode.ResizeToContents
            self.verticalHeader().setSectionResizeMode(contents)
        if self._model.is_sortable:
            # A third click brings back the model's own order.
            titles.setSortIndicatorClearable(True)

    @Slot()
    def _on_order_changed(self) -> None:
        self.choices.arrange()
        self._model.set_order(self.choices.order)
        self.horizontalHeader().viewport().update()
        self.repaint_rows()

    @override
    def repaint_differing(self) -> None:
        super().repaint_differing()
        if self._shown is not None:
            self.choices.note_names(self._shown)

    def marked_rows(self) -> list[int]:
        return sorted({index.row() for index in self.selectionModel().selectedRows()})

    def mark_rows(self, rows: Sequence[int]) -> None:
        """Mark these rows and no others; the first of them is current, and in view."""
        flags = QItemSelectionModel.SelectionFlag
        self.clearSelection()
        for row in rows:
            self.selectionModel().select(self._model.index(row, 0), flags.Select | flags.Rows)
        if rows:
            index = self._model.index(rows[0], max(self.currentIndex().column(), 0))
            self.selectionModel().setCurrentIndex(index, flags.NoUpdate)
            self.scrollTo(index)

    @Slot()
    def _note_marked(self) -> None:
        """Remember which rows are marked before all of them are taken away."""
        model = self._model
        if isinstance(model, ListTableModel):
            current = model.row_at(self.currentIndex().row())
            keys = [model.key_of(model.rows[row]) for row in self.marked_rows()]
            self._marked_keys = (keys, None if current is None else model.key_of(current))

    @Slot()
    def _mark_again(self) -> None:
        (keys, current_key), self._marked_keys = self._marked_keys, ([], None)
        model = self._model
        if not isinstance(model, ListTableModel) or (not keys and current_key is None):
            return
        flags = QItemSelectionModel.SelectionFlag
        selection = self.selectionModel()
        with self.arranging():
            for row in map(model.row_of, keys):
                if row is not None:
                    selection.select(model.index(row, 0), flags.Select | flags.Rows)
            current = None if current_key is None else model.row_of(current_key)
            if current is not None:
                selection.setCurrentIndex(model.index(current, 0), flags.NoUpdate)

    @override
    def currentChanged(
        self,
        current: QModelIndex | QPersistentModelIndex,
        previous: QModelIndex | QPersistentModelIndex,
    ) -> None:
        if self.is_arranging:
            # Qt would tell screen readers of a move, and they would read the same row again.
            for index in (current, previous):
                self.update(index)
        else:
            super().currentChanged(current, previous)

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        model = self._model
        if self._is_entered_at_end and not self.currentIndex().isValid() and model.rowCount():
            newest = model.index(model.rowCount() - 1, 0)
            self.selectionModel().setCurrentIndex(
                newest, QItemSelectionModel.SelectionFlag.NoUpdate
            )
        with without_choosing(self):
            super().focusInEvent(event)

    def copy_marked(self) -> None:
        if rows := self.marked_rows():
            copy_text("\n".join(map(self._model.row_text, rows)))

    def copy_table(self) -> None:
        specs = [each.spec for each in self._model.columns if each.spec.is_copied]
        rows = filter(None, map(self._model.row_at, range(self._model.rowCount())))
        cells = ([spec.text(row) for spec in specs] for row in rows)
        copy_rows(([spec.title for spec in specs], *cells))

    def copy_menu(self, _row: int = -1) -> QMenu:
        menu = QMenu(self)
        menu.addAction("Copy", self.copy_marked)
        menu.addActions(self.actions())
        return menu

    @Slot(QModelIndex, QPoint)
    def _open_menu(self, index: QModelIndex, place: QPoint) -> None:
        if index.isValid():
            open_menu(self.make_menu(index.row()), place)

    def on(self, key: Key, act: Callable[[], object]) -> None:
        """Do something when a key is pressed in the table, whatever it does in the window."""
        self._keys[key] = act

    def _act_of(self, event: QKeyEvent) -> Callable[[], object] | None:
        """Return what a key does here; while a cell is edited, nothing."""
        if self.state() is QAbstractItemView.State.EditingState:
            return None
        for key, act in self._keys.items():
            if isinstance(key, QKeySequence.StandardKey):
                if event.matches(key):
                    return act
            elif event.key() == key and is_plain(event):
                return act
        return None

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self.verticalHeader().setDefaultSectionSize(_row_height(self))

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        current = self.currentIndex()
        row = self.visualRect(current)
        was_seen = row.height() > 0 and row.top() < event.oldSize().height() and row.bottom() >= 0
        super().resizeEvent(event)
        if was_seen:
            self.scrollTo(current)

    @override
    def event(self, event: QEvent) -> bool:
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and self._act_of(event) is not None
        ):
            event.accept()
            return True
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        act = self._act_of(event)
        if act is None:
            super().keyPressEvent(event)
        else:
            act()
