"""The bookmarks panel: bookmarks, notes and named ranges, to go to, rename and remove."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Final

from msgspec import structs
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QMenu, QWidget
from typing_extensions import override

from inspector.display_text import counted
from inspector.events.annotations import Annotation
from inspector.sessions.session import ShowsCapture
from inspector.timebase import format_duration, format_instant

from ..kit.guards import guarded
from ..kit.labels import ElidedLabel
from ..kit.layouts import tool_button
from ..kit.table import roles
from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.table.table_panel import TablePanel
from ..kit.table.table_view import TableView
from ..kit.theme import ColorRole, Theme
from ..session.bridge import SessionBridge

#: Pixels: leaves room for the buttons and the message, at any text size.
_WIDEST_FILTER: Final = 400
#: Replaces the line breaks of a text in its cell.
_NEW_LINE: Final = "⏎"


def made_text(created: str) -> str:
    """Return the time of creation on the local clock, or as stored if it is invalid."""
    try:
        when = datetime.fromisoformat(created)
    except ValueError:
        return created
    return f"{when.astimezone():%Y-%m-%d %H:%M}"


def _end_text(annotation: Annotation) -> str:
    return "" if annotation.end_ns is None else format_instant(annotation.end_ns)


def _text_in_line(annotation: Annotation) -> str:
    lines = (" ".join(line.split()) for line in annotation.text.splitlines())
    return f" {_NEW_LINE} ".join(lines)


def _length_tip(annotation: Annotation) -> str | None:
    if annotation.end_ns is None:
        return None
    return f"{format_duration(annotation.end_ns - annotation.at_ns)} long"


def _words_tip(annotation: Annotation) -> str:
    return "\n".join(filter(None, (annotation.name, annotation.text)))


_column = Column[Annotation]


class AnnotationColumn(ColumnEnum):
    # fmt: off
    KIND = _column("Kind", lambda row: row.kind, sample="bookmark", is_searched=True)
    AT = _column(
        "At (m:s)", lambda row: format_instant(row.at_ns),
        "Session time, in minutes and seconds; for a range, where it begins", _length_tip,
        sample="0:00:00.000", is_number=True)
    UNTIL = _column(
        "Until", _end_text, "Session time at which a range ends", _length_tip,
        sample="0:00:00.000", is_number=True)
    NAME = _column(
        "Name", lambda row: " ".join(row.name.split()), "F2 or a second click edits it",
        _words_tip, sample="the boss has appeared here", is_editable=True, is_searched=True)
    TEXT = _column(
        "Text", _text_in_line, "F2 or a second click edits it", _words_tip, is_editable=True,
        is_searched=True)
    CREATED = _column(
        "Added", lambda row: made_text(row.created), "Wall-clock time when it was added",
        lambda row: row.created, sample="2026-01-01 00:00",
        color=lambda _row: ColorRole.MUTED)
    # fmt: on


@guarded
class AnnotationModel(ListTableModel[Annotation]):
    """Annotations, earliest first.

    An edited cell becomes a request for a change; the table shows its result.
    """

    def __init__(self, change: Callable[[Annotation], bool], theme: Theme) -> None:
        """Begin without rows; ``change`` replaces the annotation of the same number."""
        super().__init__(AnnotationColumn, theme, attrgetter("id"))
        self._change = change

    @override
    def setData(
        self, index: QModelIndex | QPersistentModelIndex, value: object, role: int = roles.EDIT
    ) -> bool:
        annotation, typed = self.row_at(index.row()), str(value)
        column = self.columns[index.column()]
        if role != roles.EDIT or annotation is None or not column.spec.is_editable:
            return False
        if typed.strip() == column.spec.text(annotation):
            return False
        if column is AnnotationColumn.NAME:
            return self._change(structs.replace(annotation, name=typed))
        lines = (line.strip() for line in typed.split(_NEW_LINE))
        return self._change(structs.replace(annotation, text="\n".join(lines)))


class BookmarksPanel(TablePanel):
    """Lists the annotations of the session, or says why there are none."""

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        self.model = AnnotationModel(bridge.annotations.change, theme)
        view = TableView(self.model, "Bookmarks", bridge.panel_choices, selects_many=True)
        view.setEditTriggers(QAbstractItemView.EditTrigger.SelectedClicked)
        super().__init__(view, theme, parent, filter_hint="Filter bookmarks")
        self._bridge = bridge
        self._annotations = bridge.annotations
        self.bookmark_button = tool_button(
            "Bookmark", "Add a bookmark at the instant that is shown (B)"
        )
        self.note_button = tool_button(
            "Note …", "Add a note at the instant that is shown (Shift+B)"
        )
        # Prompts for a name of the measured, selected or visible range
        self.range_button = tool_button(
            "Range …", "Name the range that is measured, selected or in view in the plots (Ctrl+B)"
        )
        self.remove_button = tool_button("Remove", "Remove the selected rows (Delete)")
        self.undo_button = tool_button("Undo", "Undo the last change made here (Ctrl+Z)")
        self.message = ElidedLabel()
        self.filter_line.setMaximumWidth(_WIDEST_FILTER)
        adding = (self.bookmark_button, self.note_button, self.range_button)
        self.lay_out(*adding, 10, self.remove_button, self.undo_button, (self.message, 1))
        self._connect()
        self.refresh()

    def _connect(self) -> None:
        bridge, annotations, view = self._bridge, self._annotations, self.view
        annotations.changed.connect(self.refresh)
        annotations.picked.connect(self.mark)
        annotations.done.connect(self._show_message)
        annotations.refused.connect(self._show_refusal)
        bridge.session_changed.connect(self._on_session_changed)
        self.bookmark_button.clicked.connect(self.add_bookmark)
        self.note_button.clicked.connect(self.ask_for_note)
        self.range_button.clicked.connect(annotations.ask_for_name_of_range)
        self.remove_button.clicked.connect(self.remove_marked)
        self.undo_button.clicked.connect(annotations.undo)
        view.on(Qt.Key.Key_Delete, self.remove_marked)
        view.on(Qt.Key.Key_F2, self._edit_current)
        view.on(QKeySequence.StandardKey.Undo, annotations.undo)
        view.selectionModel().selectionChanged.connect(self._refresh_buttons)
        self.model.modelReset.connect(self._refresh_buttons)

    @Slot(object)
    def _on_session_changed(self, _session: object) -> None:
        self.message.set_text("")
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        self.model.set_rows(self._annotations.items)
        self._refresh_buttons()
        self.update_counts()

    @Slot(int)
    def mark(self, number: int) -> None:
        row = self.model.row_of(number)
        if row is not None:
            self.view.mark_rows([row])

    @override
    def why_empty(self) -> str:
        session = self._bridge.session
        if session is None:
            return "No bookmarks: no scene is loaded."
        if self.model.hidden_count:
            are = counted(self.model.hidden_count, "bookmark is", "bookmarks are")
            return f"{are} hidden by the filter."
        kept = "They are stored in this file." if session.is_recorded else "Recordings keep them."
        if isinstance(session, ShowsCapture):
            kept = "They are kept only while the capture is open."
        return (
            "No bookmarks. Press B for a bookmark at the instant that is shown, Shift+B for a "
            f"note, and Ctrl+B to name a range that is measured or selected in the plots. {kept}"
        )

    @Slot()
    def _refresh_buttons(self) -> None:
        is_open = self._bridge.session is not None
        for button in (self.bookmark_button, self.note_button, self.range_button):
            button.setEnabled(is_open)
        self.remove_button.setEnabled(bool(self.marked_numbers()))
        self.undo_button.setEnabled(self._annotations.can_undo)

    @Slot(str)
    def _show_message(self, text: str) -> None:
        self.message.set_text(text)

    @Slot(str)
    def _show_refusal(self, text: str) -> None:
        self.message.set_text(f"✖ {text}")

    def marked_numbers(self) -> list[int]:
        return [self.model.rows[row].id for row in self.view.marked_rows()]

    @Slot()
    def add_bookmark(self) -> None:
        self._annotations.add_bookmark(self._bridge.shown_ns)

    @Slot()
    def ask_for_note(self) -> None:
        self._annotations.note_wanted.emit(self._bridge.shown_ns)

    @Slot()
    def remove_marked(self) -> None:
        numbers = self.marked_numbers()
        row = self.view.currentIndex().row()
        if not numbers:
            return
        self._annotations.remove(numbers)
        if self.model.rowCount():
            # Mark a row that is left, so that Delete can be pressed again.
            self.mark(self.model.rows[min(row, self.model.rowCount() - 1)].id)

    @override
    def activate(self, index: QModelIndex) -> None:
        self._bridge.set_playhead(self.model.rows[index.row()].at_ns)

    def edit(self, row: int, column: AnnotationColumn) -> None:
        index = self.model.index(row, column)
        self.view.setCurrentIndex(index)
        self.view.edit(index)

    @Slot()
    def _edit_current(self) -> None:
        index = self.view.currentIndex()
        if index.isValid():
            is_text = index.column() == AnnotationColumn.TEXT
            self.edit(index.row(), AnnotationColumn.TEXT if is_text else AnnotationColumn.NAME)

    @override
    def make_menu(self, row: int) -> QMenu:
        annotation, look_at = self.model.rows[row], self._bridge.set_playhead
        menu = QMenu(self)
        menu.addAction("Show the state here", partial(look_at, annotation.at_ns))
        if annotation.end_ns is not None:
            menu.addAction("Show the state at its end", partial(look_at, annotation.end_ns))
            span_ns = (annotation.at_ns, annotation.end_ns)
            menu.addAction("Scroll to it", partial(self._annotations.span_wanted.emit, span_ns))
        menu.addSeparator()
        menu.addAction("Edit the name", partial(self.edit, row, AnnotationColumn.NAME))
        menu.addAction("Edit the text", partial(self.edit, row, AnnotationColumn.TEXT))
        menu.addAction("Copy", self.view.copy_marked)
        menu.addSeparator()
        menu.addAction("Remove", self.remove_marked)
        undo = menu.addAction("Undo the last change", self._annotations.undo)
        undo.setEnabled(self._annotations.can_undo)
        return menu
