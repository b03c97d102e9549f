"""The bookmarks panel: bookmarks, notes and named ranges, to go to, rename and remove."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QMenu,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from ..kit.elided_label import ElidedLabel
from ..kit.empty_notice import EmptyNotice
from ..kit.filter_line import FilterLine
from ..kit.guards import guarded
from ..kit.table.painted_views import PaintedTable
from ..kit.table.tables import RowMenus, set_up_table, size_columns
from ..kit.theme import ColorRole
from .annotation_model import AnnotationColumn, AnnotationModel

if TYPE_CHECKING:
    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge

_SAMPLES: Final = {
    AnnotationColumn.KIND: "bookmark",
    AnnotationColumn.AT: "0:00:00.000",
    AnnotationColumn.UNTIL: "0:00:00.000",
    AnnotationColumn.NAME: "the boss has appeared here",
    AnnotationColumn.CREATED: "2026-01-01 00:00",
}
_ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
#: Keys that mean something here, whatever they do in the window.
_OWN_KEYS: Final = (*_ENTER, Qt.Key.Key_Delete, Qt.Key.Key_F2)


@guarded
class BookmarksView(PaintedTable):
    """A table with keys of its own.

    Signals:
        key_pressed: One of them was pressed: Enter, Delete, F2, copy or undo.
    """

    key_pressed = Signal(object)  # QKeyEvent

    @override
    def event(self, event: QEvent) -> bool:
        """Take keys that are shortcuts elsewhere."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            is_undo = event.matches(QKeySequence.StandardKey.Undo)
            is_plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            if is_undo or (is_plain and event.key() in _OWN_KEYS):
                event.accept()
                return True
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        standard = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Copy)
        is_editing = self.state() is QAbstractItemView.State.EditingState
        if not is_editing and (event.key() in _OWN_KEYS or any(map(event.matches, standard))):
            self.key_pressed.emit(event)
        else:
            super().keyPressEvent(event)


class BookmarksPanel(QWidget):
    """Lists what people left in the session; a recording keeps all of it.

    Attributes:
        model: The rows.
        view: The table.
        filter_line: What must be in the words of a row.
        notice: Why the table is empty, and how to change that.
        message: What was done last, or why something was refused.
        bookmark_button: Leaves a bookmark at the instant that is shown.
        note_button: Asks for a note at the instant that is shown.
        range_button: Asks for the name of what is measured, chosen or in view.
        remove_button: Removes what is marked.
        undo_button: Undoes the last change.
    """

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        """Show the annotations of the bridge's session."""
        super().__init__(parent)
        self._bridge = bridge
        self._desk = bridge.annotations
        self._theme = theme
        self.model = AnnotationModel(self._desk.change)
        self.filter_line = FilterLine("Filter bookmarks")
        self.bookmark_button = _button(
            "Bookmark", ("Add a bookmark at the instant that is shown (B)")
        )
        self.note_button = _button("Note …", "Add a note at the instant that is shown (Shift+B)")
        self.range_button = _button(
            "Range …", "Name the range that is measured, selected or in view in the plots (Ctrl+B)"
        )
        self.remove_button = _button("Remove", "Remove the selected rows (Delete)")
        self.undo_button = _button("Undo", "Undo the last change made here (Ctrl+Z)")
        self.count_label = QLabel()
        self.message = ElidedLabel()
        self.view = self._make_view()
        self.notice = EmptyNotice(self.view)
        self._lay_out()
        self._connect()
        self._apply_theme()
        self.refresh()

    # ---------------------------------------------------------------- building

    def _make_view(self) -> BookmarksView:
        view = BookmarksView()
        view.setAccessibleName("Bookmarks")
        view.setModel(self.model)
        set_up_table(view, selects_many=True)
        view.setEditTriggers(QAbstractItemView.EditTrigger.SelectedClicked)
        header = view.horizontalHeader()
        header.setSectionResizeMode(AnnotationColumn.TEXT, QHeaderView.ResizeMode.Stretch)
        size_columns(view, _SAMPLES)
        return view

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(4, 4, 4, 0)
        self.filter_line.setMaximumWidth(260)
        top.addWidget(self.filter_line, 2)
        for button in (self.bookmark_button, self.note_button, self.range_button):
            top.addWidget(button)
        top.addSpacing(10)
        top.addWidget(self.remove_button)
        top.addWidget(self.undo_button)
        top.addWidget(self.message, 3)
        top.addWidget(self.count_label)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addWidget(self.view, 1)

    def _connect(self) -> None:
        bridge, desk, view = self._bridge, self._desk, self.view
        desk.changed.connect(self.refresh)
        desk.picked.connect(self.mark)
        desk.done.connect(self._say)
        desk.refused.connect(self._say_refused)
        bridge.session_changed.connect(self._take_session)
        self._theme.changed.connect(self._apply_theme)
        self.filter_line.filter_changed.connect(self._apply_filter)
        self.filter_line.left_downwards.connect(view.setFocus)
        self.bookmark_button.clicked.connect(self.add_bookmark)
        self.note_button.clicked.connect(self.ask_for_note)
        self.range_button.clicked.connect(desk.ask_for_name_of_range)
        self.remove_button.clicked.connect(self.remove_marked)
        self.undo_button.clicked.connect(desk.undo)
        view.doubleClicked.connect(self.go_to)
        view.key_pressed.connect(self._take_key)
        RowMenus(view).requested.connect(self._open_menu)
        view.selectionModel().selectionChanged.connect(self._show_possible)
        self.model.modelReset.connect(self._show_possible)

    # ---------------------------------------------------------------- what is shown

    @Slot(object)
    def _take_session(self, _session: object) -> None:
        self.message.show_text("")
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show what there is now, with the same rows marked."""
        marked = self.marked_numbers()
        self.model.show_items(self._desk.items)
        if self.marked_numbers() != marked:
            self._mark_rows(marked)
        self._show_possible()
        self._update_counts()

    @Slot(int)
    def mark(self, number: int) -> None:
        """Mark one, and have it in view."""
        row = self.model.row_of(number)
        if row is not None:
            index = self.model.index(row, AnnotationColumn.NAME)
            flags = QItemSelectionModel.SelectionFlag
            self.view.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
            self.view.scrollTo(index)

    def _mark_rows(self, numbers: list[int]) -> None:
        selection = self.view.selectionModel()
        flags = QItemSelectionModel.SelectionFlag
        for row in map(self.model.row_of, numbers):
            if row is not None:
                selection.select(self.model.index(row, 0), flags.Select | flags.Rows)

    @Slot(str)
    def _apply_filter(self, text: str) -> None:
        self.model.set_filter(text)
        self._update_counts()

    def _update_counts(self) -> None:
        rows, hidden = self.model.rowCount(), self.model.hidden_count
        self.count_label.setText(f"{rows:,} shown, {hidden:,} hidden" if hidden else f"{rows:,}")
        self.notice.show_text("" if rows else self._why_empty())

    def _why_empty(self) -> str:
        session = self._bridge.session
        if session is None:
            return "No bookmarks: no scene is loaded."
        if self.model.hidden_count:
            return f"{self.model.hidden_count:,} bookmarks are hidden by the filter."
        kept = "They are stored in this file." if session.is_recorded else "Recordings keep them."
        return (
            "No bookmarks. Press B for a bookmark at the instant that is shown, Shift+B for a "
            f"note, Ctrl+B to name a range that is measured or selected in the plots. {kept}"
        )

    @Slot()
    def _show_possible(self) -> None:
        is_open = self._bridge.session is not None
        for button in (self.bookmark_button, self.note_button, self.range_button):
            button.setEnabled(is_open)
        self.remove_button.setEnabled(bool(self.marked_numbers()))
        self.undo_button.setEnabled(self._desk.can_undo)

    @Slot(str)
    def _say(self, text: str) -> None:
        self.message.show_text(text)

    @Slot(str)
    def _say_refused(self, text: str) -> None:
        self.message.show_text(f"✖ {text}")

    # ---------------------------------------------------------------- acting

    def marked_numbers(self) -> list[int]:
        """Return the numbers of the marked rows, from the top."""
        rows = sorted({index.row() for index in self.view.selectionModel().selectedRows()})
        return [self.model.annotation(row).id for row in rows if row < self.model.rowCount()]

    @Slot()
    def add_bookmark(self) -> None:
        """Leave a bookmark at the instant that is shown."""
        self._desk.add_bookmark(self._bridge.shown_ns)

    @Slot()
    def ask_for_note(self) -> None:
        """Have a note asked for, at the instant that is shown."""
        self._desk.note_wanted.emit(self._bridge.shown_ns)

    @Slot()
    def remove_marked(self) -> None:
        """Remove what is marked; it can be undone."""
        numbers = self.marked_numbers()
        row = self.view.currentIndex().row()
        if not numbers:
            return
        self._desk.remove(numbers)
        if self.model.rowCount():
            # So that Delete can be pressed again.
            self.mark(self.model.annotation(min(row, self.model.rowCount() - 1)).id)

    @Slot(QModelIndex)
    def go_to(self, index: QModelIndex) -> None:
        """Show the state where a row says."""
        if index.isValid():
            self._look_at(self.model.annotation(index.row()).at_ns)

    def edit(self, row: int, column: AnnotationColumn) -> None:
        """Edit a name or a text in its cell."""
        index = self.model.index(row, column)
        self.view.setCurrentIndex(index)
        self.view.edit(index)

    @Slot(object)
    def _take_key(self, event: QKeyEvent) -> None:
        index = self.view.currentIndex()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_marked()
        elif event.matches(QKeySequence.StandardKey.Undo):
            self._desk.undo()
        elif event.key() == Qt.Key.Key_Delete:
            self.remove_marked()
        elif event.key() in _ENTER:
            self.go_to(index)
        elif index.isValid():
            is_text = index.column() == AnnotationColumn.TEXT
            self.edit(index.row(), AnnotationColumn.TEXT if is_text else AnnotationColumn.NAME)

    @Slot(QModelIndex, QPoint)
    def _open_menu(self, index: QModelIndex, place: QPoint) -> None:
        if not index.isValid():
            return
        menu = self.make_menu(index.row())
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def make_menu(self, row: int) -> QMenu:
        """Return what can be done with an annotation."""
        annotation = self.model.annotation(row)
        menu = QMenu(self)
        menu.addAction("Show the state here", partial(self._look_at, annotation.at_ns))
        if annotation.end_ns is not None:
            menu.addAction("Show the state at its end", partial(self._look_at, annotation.end_ns))
            span_ns = (annotation.at_ns, annotation.end_ns)
            menu.addAction("Scroll to it", partial(self._desk.span_wanted.emit, span_ns))
        menu.addSeparator()
        menu.addAction("Edit the name", partial(self.edit, row, AnnotationColumn.NAME))
        menu.addAction("Edit the text", partial(self.edit, row, AnnotationColumn.TEXT))
        menu.addAction("Copy", self.copy_marked)
        menu.addSeparator()
        menu.addAction("Remove", self.remove_marked)
        undo = menu.addAction("Undo the last change", self._desk.undo)
        undo.setEnabled(self._desk.can_undo)
        return menu

    def _look_at(self, at_ns: int) -> None:
        self._bridge.set_playhead(at_ns)

    @Slot()
    def copy_marked(self) -> None:
        """Put the marked rows on the clipboard."""
        rows = (self.model.row_of(number) for number in self.marked_numbers())
        lines = [self.model.row_text(row) for row in rows if row is not None]
        QGuiApplication.clipboard().setText("\n".join(lines))

    # ---------------------------------------------------------------- looks

    @Slot()
    def _apply_theme(self) -> None:
        self.model.set_muted_color(self._theme.color(ColorRole.MUTED_TEXT))
        self.filter_line.set_icon(self._theme.icon("find"))
        self.view.repaint_rows()


def _button(text: str, tip: str) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    return button
