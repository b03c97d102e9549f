"""The interventions panel: every intervention: what was changed, by whom, and how to undo it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, Qt, Slot
from PySide6.QtGui import QFocusEvent, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QMenu,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.commands.undoing import Undo

from ..kit.empty_notice import EmptyNotice
from ..kit.filter_line import FilterLine
from ..kit.guards import guarded
from ..kit.paced_refresh import PacedRefresh
from ..kit.table.painted_views import PaintedTable
from ..kit.table.tables import RowMenus, say, set_up_table, size_columns
from ..kit.theme import ColorRole
from ..session.bridge import Selection
from .intervention_model import InterventionColumn, InterventionModel, selection_of

if TYPE_CHECKING:
    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge

_SAMPLES: Final = {
    InterventionColumn.NUMBER: "9,999",
    InterventionColumn.AT: "0:00:00.000",
    InterventionColumn.LOCAL: "0:00:00.000 enemies  ",
    InterventionColumn.HOST: "00:00:00.000",
    InterventionColumn.BY: "breakpoint 99",
    InterventionColumn.RESULT: "refused: there is no such clock",
    InterventionColumn.UNDO: "Undo",
}


@guarded
class InterventionsView(PaintedTable):
    """A table that is entered at its newest row, not at its oldest."""

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        """Make the newest row current if none is: Qt would take the first, and scroll there."""
        model = self.model()
        if not self.currentIndex().isValid() and model.rowCount():
            newest = model.index(model.rowCount() - 1, InterventionColumn.WHAT)
            no_mark = QItemSelectionModel.SelectionFlag.NoUpdate
            self.selectionModel().setCurrentIndex(newest, no_mark)
        super().focusInEvent(event)


@guarded
class InterventionsPanel(QWidget):
    """Lists commands and breakpoint hits; what has an opposite can be undone.

    Stays with the newest while the newest is in view.
    """

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        """Show the interventions of the bridge's session."""
        super().__init__(parent)
        self._bridge = bridge
        self._theme = theme
        self._asked: set[int] = set()
        self.model = InterventionModel()
        self.filter_line = FilterLine("Filter interventions")
        self.undo_button = QToolButton()
        self.undo_button.setText("Undo")
        self.undo_button.setToolTip("Undo the selected intervention")
        self.count_label = QLabel()
        self.view = self._make_view()
        self.notice = EmptyNotice(self.view)
        self._lay_out()
        self._pace = PacedRefresh(self, bridge.pace)
        self._connect()
        self._apply_theme()
        self.show_session()

    # ---------------------------------------------------------------- building

    def _make_view(self) -> InterventionsView:
        view = InterventionsView()
        view.setAccessibleName("Interventions")
        view.setModel(self.model)
        set_up_table(view, selects_many=True)
        header = view.horizontalHeader()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(InterventionColumn.WHAT, QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(view.fontMetrics().horizontalAdvance("No.") + 8)
        size_columns(view, _SAMPLES)
        return view

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(4, 4, 4, 0)
        top.addWidget(self.filter_line, 1)
        top.addWidget(self.undo_button)
        top.addWidget(self.count_label)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addWidget(self.view, 1)

    def _connect(self) -> None:
        bridge, view = self._bridge, self.view
        bridge.refreshed.connect(self._pace.request)
        bridge.session_changed.connect(self.show_session)
        self._theme.changed.connect(self._apply_theme)
        self._pace.due.connect(self.refresh)
        self.filter_line.filter_changed.connect(self._apply_filter)
        self.filter_line.left_downwards.connect(view.setFocus)
        self.undo_button.clicked.connect(self.undo_marked)
        view.clicked.connect(self._take_click)
        view.doubleClicked.connect(self.select_subject)
        RowMenus(view).requested.connect(self._open_menu)
        view.selectionModel().selectionChanged.connect(self._show_undoable)
        self.model.modelReset.connect(self._show_undoable)

    # ---------------------------------------------------------------- what is shown

    @Slot()
    def show_session(self) -> None:
        """Show the interventions of another session."""
        session = self._bridge.session
        self._asked.clear()
        if session is None:
            self.model.set_session(None, None)
        else:
            self.model.set_session(self._bridge.timeline, session.undoing)
        self.view.scrollToBottom()
        self._update_counts()

    @Slot()
    def refresh(self) -> None:
        """Take over what is new, and stay with the newest if that is in view."""
        bar = self.view.verticalScrollBar()
        is_at_end = bar.value() >= bar.maximum()
        if self.model.refresh():
            self._asked.clear()
            if is_at_end:
                self.view.scrollToBottom()
        self._show_undoable()
        self._update_counts()

    @Slot(str)
    def _apply_filter(self, text: str) -> None:
        self.model.set_filter(text)
        self.view.scrollToBottom()
        self._update_counts()

    def _update_counts(self) -> None:
        rows, hidden = self.model.rowCount(), self.model.hidden_count
        text = f"{rows:,} shown, {hidden:,} hidden" if hidden else f"{rows:,}"
        say(self.count_label, text)
        self.notice.show_text("" if rows else self._why_empty())

    def _why_empty(self) -> str:
        if self._bridge.session is None:
            return "No interventions: no scene is loaded."
        if self.model.hidden_count:
            return f"{self.model.hidden_count:,} interventions are hidden by the filter."
        return (
            "No interventions. Every change you make here (pause, rate, step, fire, clear) and "
            "every breakpoint hit is listed with its times."
        )

    # ---------------------------------------------------------------- acting

    def _marked_rows(self) -> list[int]:
        return sorted({index.row() for index in self.view.selectionModel().selectedRows()})

    @Slot()
    def _show_undoable(self) -> None:
        rows = self._marked_rows()
        self.undo_button.setEnabled(len(rows) == 1 and self.model.can_undo(rows[0]))
        # What can be undone may have changed in any row.
        self.view.show_changes()

    @Slot()
    def undo_marked(self) -> None:
        """Undo the selected intervention, if there is one and something undoes it."""
        rows = self._marked_rows()
        if len(rows) == 1:
            self.undo(rows[0])

    def undo(self, row: int) -> None:
        """Undo what a row shows, if something undoes it."""
        if row < self.model.rowCount() and self.model.can_undo(row):
            number = self.model.entry(row).number
            # A running scene undoes it at the next frame; a second click must not ask again.
            if number not in self._asked:
                self._asked.add(number)
                self._bridge.submit(Undo(number))

    @Slot(QModelIndex)
    def _take_click(self, index: QModelIndex) -> None:
        if index.column() == InterventionColumn.UNDO:
            self.undo(index.row())

    @Slot(QModelIndex)
    def select_subject(self, index: QModelIndex) -> None:
        """Select the clock an intervention is about, else its frame."""
        if not index.isValid() or index.column() == InterventionColumn.UNDO:
            return
        for selection in self._subjects(index.row()):
            self._bridge.select(selection)
            return

    def _subjects(self, row: int) -> list[Selection]:
        """Return what an intervention leads to that is still there, the most telling first."""
        entry, timeline = self.model.entry(row), self._bridge.timeline
        frames = timeline.frames
        found = []
        if not entry.is_hit and entry.clock_id in timeline.clocks:
            found.append(selection_of(entry))
        if frames.first < frames.end:
            frame = min(max(entry.frame, frames.first), frames.end - 1)
            found.append(Selection.frame(frame))
        return found

    @Slot(QModelIndex, QPoint)
    def _open_menu(self, index: QModelIndex, place: QPoint) -> None:
        if not index.isValid():
            return
        menu = self.make_menu(index.row())
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def make_menu(self, row: int) -> QMenu:
        """Return what can be done with an intervention."""
        menu = QMenu(self)
        menu.addAction("Undo", partial(self.undo, row)).setEnabled(self.model.can_undo(row))
        menu.addSeparator()
        for selection in self._subjects(row):
            text = f"Select the {selection.kind.value}"
            menu.addAction(text, partial(self._bridge.select, selection))
        at_ns = self.model.entry(row).at_ns
        menu.addAction("Show the state at this instant", partial(self._show_state, at_ns))
        menu.addSeparator()
        menu.addAction("Copy", self.copy_marked)
        return menu

    def _show_state(self, at_ns: int) -> None:
        self._bridge.set_playhead(at_ns)

    @Slot()
    def copy_marked(self) -> None:
        """Put the marked rows on the clipboard."""
        lines = [self.model.row_text(row) for row in self._marked_rows()]
        QGuiApplication.clipboard().setText("\n".join(lines))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the marked rows, select the subject of the current one."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_marked()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            index = self.view.currentIndex()
            self.select_subject(index.siblingAtColumn(InterventionColumn.WHAT))
        else:
            super().keyPressEvent(event)

    # ---------------------------------------------------------------- looks

    @Slot()
    def _apply_theme(self) -> None:
        color = self._theme.color
        self.model.set_colors(
            color(ColorRole.BAD), color(ColorRole.ACCENT), color(ColorRole.MUTED_TEXT)
        )
        self.filter_line.set_icon(self._theme.icon("find"))
        self.view.repaint_rows()
