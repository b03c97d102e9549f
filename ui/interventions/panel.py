"""The interventions panel: every intervention: what was changed, by whom, and how to undo it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QModelIndex, Slot
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.commands.scene import Undo

from ..kit.layouts import tool_button
from ..kit.paced_refresh import PacedRefresh
from ..kit.table.table_panel import TablePanel
from ..kit.table.table_view import TableView
from ..kit.theme import Theme
from ..session.bridge import Selection, SessionBridge
from .intervention_model import InterventionColumn, InterventionModel, selection_of


class InterventionsPanel(TablePanel):
    """Lists commands and breakpoint hits; what has an opposite can be undone.

    Stays with the newest while the newest is in view.
    """

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        self.model = InterventionModel(theme)
        view = TableView(
            self.model,
            "History",
            bridge.panel_choices,
            selects_many=True,
            is_entered_at_end=True,
        )
        super().__init__(view, theme, parent, filter_hint="Filter interventions")
        self._bridge = bridge
        self._asked: set[int] = set()
        self.undo_button = tool_button("Undo", "Undo the selected intervention")
        self.lay_out(self.undo_button)
        self._pace = PacedRefresh(self, bridge.pace)
        self._connect()
        self.set_session()

    def _connect(self) -> None:
        bridge, view = self._bridge, self.view
        bridge.refreshed.connect(self._pace.request)
        bridge.session_changed.connect(self.set_session)
        self._pace.due.connect(self.refresh)
        self.undo_button.clicked.connect(self.undo_marked)
        view.clicked.connect(self._take_click)
        view.selectionModel().selectionChanged.connect(self._show_undoable)
        self.model.modelReset.connect(self._show_undoable)

    # ---------------------------------------------------------------- what is shown

    @Slot()
    def set_session(self) -> None:
        session = self._bridge.session
        self._asked.clear()
        if session is None:
            self.model.set_session(None, None)
        else:
            self.model.set_session(self._bridge.timeline, session.undoing)
        self.view.scrollToBottom()
        self.update_counts()

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
        self.update_counts()

    @override
    def filter_rows(self, text: str) -> None:
        super().filter_rows(text)
        self.view.scrollToBottom()

    @override
    def why_empty(self) -> str:
        if self._bridge.session is None:
            return "No interventions: no scene is loaded."
        if self.model.hidden_count:
            return f"{self.model.hidden_count:,} interventions are hidden by the filter."
        return (
            "No interventions. Every change you make here (pause, rate, step, fire, clear) and "
            "every breakpoint hit is listed with its times."
        )

    # ---------------------------------------------------------------- acting

    @Slot()
    def _show_undoable(self) -> None:
        rows = self.view.marked_rows()
        self.undo_button.setEnabled(len(rows) == 1 and self.model.rows[rows[0]].can_undo)
        # What can be undone may have changed in any row.
        self.view.show_changes()

    @Slot()
    def undo_marked(self) -> None:
        rows = self.view.marked_rows()
        if len(rows) == 1:
            self.undo(rows[0])

    def undo(self, row: int) -> None:
        shown = self.model.row_at(row)
        if shown is not None and shown.can_undo:
            number = shown.entry.number
            # A running scene undoes it at the next frame; a second click must not ask again.
            if number not in self._asked:
                self._asked.add(number)
                self._bridge.submit(Undo(number))

    @Slot(QModelIndex)
    def _take_click(self, index: QModelIndex) -> None:
        if index.column() == InterventionColumn.UNDO:
            self.undo(index.row())

    @override
    def activate(self, index: QModelIndex) -> None:
        if index.column() != InterventionColumn.UNDO:
            for selection in self._subjects(index.row())[:1]:
                self._bridge.select(selection)

    def _subjects(self, row: int) -> list[Selection]:
        """Return what an intervention leads to that is still there, the most telling first."""
        entry, timeline = self.model.rows[row].entry, self._bridge.timeline
        frames = timeline.frames
        found = []
        if not entry.is_hit and entry.clock_id in timeline.clocks:
            found.append(selection_of(entry))
        if frames.first < frames.end:
            frame = min(max(entry.frame, frames.first), frames.end - 1)
            found.append(Selection.frame(frame))
        return found

    @override
    def make_menu(self, row: int) -> QMenu:
        menu, shown = QMenu(self), self.model.rows[row]
        menu.addAction("Undo", partial(self.undo, row)).setEnabled(shown.can_undo)
        menu.addSeparator()
        for selection in self._subjects(row):
            text = f"Select the {selection.kind.value}"
            menu.addAction(text, partial(self._bridge.select, selection))
        show = partial(self._bridge.set_playhead, shown.entry.at_ns)
        menu.addAction("Show the state at this instant", show)
        menu.addSeparator()
        menu.addAction("Copy", self.view.copy_marked)
        return menu
