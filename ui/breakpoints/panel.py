"""The breakpoints panel: what the session looks out for, and how often it was hit."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import structs
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget
from typing_extensions import override

from inspector.commands.breakpoints import AddBreakpoint, ChangeBreakpoint, RemoveBreakpoint
from inspector.display_text import without_quotes
from inspector.errors import InspectorError
from inspector.events.conditions.breakpoint import BreakKind, Breakpoint
from inspector.events.states import BreakHit
from inspector.sessions.breakpoints.file import read_breakpoints, write_breakpoints
from inspector.sessions.breakpoints.names import doubt_about, names_to_choose
from inspector.timebase import format_instant

from ..kit.guards import guarded
from ..kit.labels import WrappedLabel
from ..kit.layouts import fill, menu_button, tool_button
from ..kit.save_dialog import SaveDialog
from ..kit.table import roles
from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.table.table_view import TableView
from ..kit.theme import Theme
from ..session.bridge import Selection, SessionBridge
from .breakpoint_form import BreakpointForm

_FILE_FILTER: Final = "Breakpoints (*.json);;All files (*)"


class BreakpointRow(NamedTuple):
    number: int
    breakpoint_: Breakpoint
    hits: int
    last: BreakHit | None

    @property
    def then_text(self) -> str:
        parts = [self.breakpoint_.action.value]
        if self.breakpoint_.from_hit > 1:
            parts.append(f"from hit {self.breakpoint_.from_hit:,}")
        if self.breakpoint_.is_once:
            parts.append("once")
        return ", ".join(parts)

    @property
    def last_text(self) -> str:
        last = self.last
        if last is None:
            return ""
        at = f"frame {last.frame:,} at {format_instant(last.at_ns)}"
        if self.breakpoint_.kind is not BreakKind.TURN_ABOVE:
            return at
        # Append what was observed during the turn.
        return f"{at}: {last.text.removeprefix(f'{self.breakpoint_.text}: ')}"


def _hit_tip(row: BreakpointRow) -> str | None:
    return None if row.last is None else without_quotes(row.last.text)


_column = Column[BreakpointRow]


class BreakpointColumn(ColumnEnum):
    # fmt: off
    WHEN = _column(
        "When", lambda row: without_quotes(row.breakpoint_.text),
        detail=lambda row: row.breakpoint_.condition_text,
        tick=lambda row: row.breakpoint_.is_enabled)
    THEN = _column("Then", lambda row: row.then_text, sample="pause the branch, from hit 99, once")
    HITS = _column(
        "Hits", lambda row: f"{row.hits:,}", detail=_hit_tip, sample="0,000", is_number=True)
    LAST = _column(
        "Last hit", lambda row: row.last_text, detail=_hit_tip,
        sample="frame 00,000 at 00:00.000000000")
    # fmt: on


@guarded
class BreakpointModel(ListTableModel[BreakpointRow]):
    """A row for each breakpoint; its box turns it on and off."""

    toggled = Signal(object)  # BreakpointRow: a box was clicked: the row

    @override
    def setData(
        self, index: QModelIndex | QPersistentModelIndex, value: object, role: int = roles.EDIT
    ) -> bool:
        """Ask for a change; the box changes when its event comes back, not before."""
        row = self.row_at(index.row())
        if row is not None and role == roles.CHECK_STATE:
            self.toggled.emit(row)
        return False


@guarded
class BreakpointsPanel(QWidget):
    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._version = -1
        self._hits_seen = 0
        self._last: dict[int, BreakHit] = {}
        self._edited = 0
        self.model = BreakpointModel(BreakpointColumn, theme, attrgetter("number"))
        self.view = TableView(self.model, "Breakpoints", bridge.panel_choices)
        self.notice = self.view.notice
        self.problem = WrappedLabel()
        self.new_button = tool_button("New", "Clear the form for a new breakpoint")
        self.remove_button = tool_button("Remove", "Remove the selected breakpoint (Delete)")
        files = QMenu(self)
        files.addAction("Import …", self._ask_for_import)
        self.export_action = files.addAction("Export …", self._ask_for_export)
        file_button = menu_button("File", "Add the breakpoints of a file, or save all", files)
        self.form = BreakpointForm(theme, (self.new_button, self.remove_button, file_button))
        fill(self, self.form, self.problem, (self.view, 1))
        self.form.breakpoint_given.connect(self._submit_breakpoint)
        self.form.names_wanted.connect(self._offer_names)
        self.new_button.clicked.connect(self.begin_new)
        self.remove_button.clicked.connect(self.remove_marked)
        self.model.toggled.connect(self._toggle)
        self.view.selectionModel().selectionChanged.connect(self._edit_marked)
        self.view.doubleClicked.connect(self._select_last_hit)
        self.view.on(Qt.Key.Key_Delete, self.remove_marked)
        self.view.make_menu = self.make_menu
        bridge.refreshed.connect(self._on_refreshed)
        bridge.session_changed.connect(self._on_session_changed)
        self._on_session_changed()

    @Slot()
    def _on_session_changed(self) -> None:
        self._version, self._hits_seen = -1, 0
        self._last.clear()
        self.begin_new()
        self.refresh()

    @Slot(object)
    def _on_refreshed(self, events: int) -> None:
        if events or self._version < 0:
            self.refresh()

    def refresh(self) -> None:
        session = self._bridge.session
        breakpoints = None if session is None else session.breakpoints
        hits = self._bridge.timeline.hits
        version = -1 if breakpoints is None else breakpoints.version
        if version != self._version or len(hits) != self._hits_seen or version < 0:
            if len(hits) < self._hits_seen:
                self._hits_seen = 0
                self._last.clear()
            self._last.update((hit.number, hit) for hit in hits[self._hits_seen :])
            self._version, self._hits_seen = version, len(hits)
            items = [] if breakpoints is None else breakpoints.items()
            self.model.set_rows(
                BreakpointRow(number, each, hits, self._last.get(number))
                for number, each, hits in items
            )
        self.setEnabled(breakpoints is not None)
        self.notice.set_text("" if self.model.rows else self._why_empty())
        self.export_action.setEnabled(bool(self.model.rows))
        self.remove_button.setEnabled(bool(self.marked_number))

    def _why_empty(self) -> str:
        session = self._bridge.session
        if session is None:
            return "No breakpoints: no scene is loaded."
        if session.is_recorded:
            return "A recording cannot be stopped."
        return "No breakpoints. Choose above what is to stop the scene."

    @property
    def marked_number(self) -> int:
        rows = self.view.marked_rows()
        return self.model.rows[rows[0]].number if rows else 0

    @Slot(object)
    def _submit_breakpoint(self, breakpoint_: Breakpoint) -> None:
        number = self._edited
        session = self._bridge.session
        former = None
        if session is not None and session.breakpoints is not None:
            former = session.breakpoints.get(number)
        if former is None:
            self._bridge.submit(AddBreakpoint(breakpoint_))
            self._refresh_doubt(breakpoint_)
            return
        changed = structs.replace(breakpoint_, is_enabled=former.is_enabled)
        self._bridge.submit(ChangeBreakpoint(number, changed))
        self._refresh_doubt(changed)

    def _refresh_doubt(self, breakpoint_: Breakpoint) -> None:
        self.form.set_doubt(doubt_about(breakpoint_, self._bridge.timeline))

    @Slot()
    def begin_new(self) -> None:
        self._edited = 0
        self.view.clearSelection()
        self.form.fill_fields(Breakpoint(BreakKind.TIMER_FIRES))

    @Slot()
    def _offer_names(self) -> None:
        kind = self.form.chosen_kind
        self.form.offer_names(names_to_choose(kind, self._bridge.timeline))

    @Slot()
    def _edit_marked(self) -> None:
        number = self.marked_number
        self.remove_button.setEnabled(bool(number))
        session = self._bridge.session
        if not number or self.view.is_arranging:
            return
        if session is None or session.breakpoints is None:
            return
        found = session.breakpoints.get(number)
        if found is not None:
            self._edited = number
            self.form.fill_fields(found, is_new=False)

    @Slot()
    def remove_marked(self) -> None:
        number = self.marked_number
        if number:
            self._bridge.submit(RemoveBreakpoint(number))
            self.begin_new()

    @Slot(object)
    def _toggle(self, row: BreakpointRow) -> None:
        changed = structs.replace(row.breakpoint_, is_enabled=not row.breakpoint_.is_enabled)
        self._bridge.submit(ChangeBreakpoint(row.number, changed))

    @Slot(QModelIndex)
    def _select_last_hit(self, index: QModelIndex) -> None:
        row = self.model.row_at(index.row())
        if row is not None and row.last is not None:
            self._bridge.select(Selection.frame(row.last.frame))

    def make_menu(self, row: int) -> QMenu:
        menu, index = QMenu(self), self.model.index(row, 0)
        menu.addAction("Select the frame of the last hit", partial(self._select_last_hit, index))
        menu.addAction("Copy", self.view.copy_marked)
        menu.addAction("Remove", self.remove_marked)
        return menu

    @Slot()
    def _ask_for_import(self) -> None:
        dialog = QFileDialog(self, "Import breakpoints", "", _FILE_FILTER)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.import_file)
        dialog.open()

    @Slot()
    def _ask_for_export(self) -> None:
        kinds = {".json": "Breakpoints"}
        dialog = SaveDialog("Export breakpoints", Path("breakpoints.json"), kinds, self)
        dialog.file_given.connect(self.export_file)
        dialog.open()

    @Slot(str)
    def import_file(self, path: str) -> None:
        try:
            found = read_breakpoints(Path(path))
        except InspectorError as error:
            self.problem.set_text(str(error))
            return
        self.problem.set_text("")
        for breakpoint_ in found:
            self._bridge.submit(AddBreakpoint(breakpoint_))

    @Slot(object)
    def export_file(self, path: Path) -> None:
        session = self._bridge.session
        if session is None or session.breakpoints is None:
            return
        try:
            write_breakpoints(path, [found for _, found, _ in session.breakpoints.items()])
        except InspectorError as error:
            self.problem.set_text(str(error))
            return
        self.problem.set_text(f"Written to {path}.")
