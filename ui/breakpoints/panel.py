"""The breakpoints panel: what the session looks out for, and how often it was hit."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QModelIndex, QPoint, Qt, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QMenu,
    QTableWidgetItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.commands.breakpoints import (
    AddBreakpoint,
    BreakKind,
    Breakpoint,
    ChangeBreakpoint,
    RemoveBreakpoint,
)
from inspector.display_text import as_plain, one_line
from inspector.errors import InspectorError
from inspector.sessions.breakpoints.file import read_breakpoints, write_breakpoints
from inspector.sessions.breakpoints.names import doubt_about, names_to_choose
from inspector.timebase import format_instant

from ..kit.empty_notice import EmptyNotice
from ..kit.guards import guarded
from ..kit.save_dialog import SaveDialog
from ..kit.table.painted_views import PaintedItems
from ..kit.table.tables import RowMenus, set_up_table
from ..session.bridge import Selection
from .breakpoint_form import BreakpointForm

if TYPE_CHECKING:
    from inspector.events.states import BreakHit

    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge

_FILE_FILTER: Final = "Breakpoints (*.json);;All files (*)"


class _Column(IntEnum):
    """The columns of the table."""

    WHEN = 0
    THEN = 1
    HITS = 2
    LAST = 3


_TITLES: Final = {
    _Column.WHEN: "When",
    _Column.THEN: "Then",
    _Column.HITS: "Hits",
    _Column.LAST: "Last hit",
}


@guarded
class BreakpointsPanel(QWidget):
    """Lists the breakpoints, and lets people add, change and remove them."""

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        """Show the breakpoints of the bridge's session."""
        super().__init__(parent)
        self._bridge = bridge
        self._version = -1
        self._hits_seen = 0
        self._last: dict[int, BreakHit] = {}
        self._numbers: list[int] = []
        self._shown: list[tuple[int, Breakpoint]] = []
        self._edited = 0
        self.form = BreakpointForm(theme)
        self.table = self._make_table()
        self.notice = EmptyNotice(self.table)
        self.problem = QLabel()
        self.problem.setWordWrap(True)
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        self.problem.hide()
        self.new_button = _button("New", "Clear the form for a new breakpoint")
        self.remove_button = _button("Remove", "Remove the selected breakpoint (Delete)")
        self.import_button = _button("Import …", "Add the breakpoints from a file")
        self.export_button = _button("Export …", "Save all breakpoints to a file")
        self._lay_out()
        self.form.breakpoint_given.connect(self._take_breakpoint)
        self.form.names_wanted.connect(self._offer_names)
        self.new_button.clicked.connect(self.begin_new)
        self.remove_button.clicked.connect(self.remove_marked)
        self.import_button.clicked.connect(self._ask_for_import)
        self.export_button.clicked.connect(self._ask_for_export)
        self.table.itemChanged.connect(self._take_check)
        self.table.itemSelectionChanged.connect(self._show_marked)
        self.table.cellDoubleClicked.connect(self._show_last_hit)
        RowMenus(self.table).requested.connect(self._open_menu)
        bridge.refreshed.connect(self._take_news)
        bridge.session_changed.connect(self._take_session)
        self._take_session()

    def _make_table(self) -> PaintedItems:
        table = PaintedItems(0, len(_Column))
        table.setAccessibleName("Breakpoints")
        table.setHorizontalHeaderLabels([_TITLES[column] for column in _Column])
        set_up_table(table)
        header = table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(_Column.WHEN, QHeaderView.ResizeMode.Stretch)
        for column in (_Column.THEN, _Column.HITS, _Column.LAST):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        return table

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setContentsMargins(4, 0, 4, 0)
        for button in (self.new_button, self.remove_button, self.import_button):
            buttons.addWidget(button)
        buttons.addWidget(self.export_button)
        buttons.addWidget(self.problem, 1)
        buttons.addStretch(0)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.form)
        layout.addLayout(buttons)
        layout.addWidget(self.table, 1)

    # ---------------------------------------------------------------- what is shown

    @Slot()
    def _take_session(self) -> None:
        self._version, self._hits_seen = -1, 0
        self._last.clear()
        self.begin_new()
        self.refresh()

    @Slot(object)
    def _take_news(self, events: int) -> None:
        if events or self._version < 0:
            self.refresh()

    def refresh(self) -> None:
        """Show what there is now."""
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
            self._show_rows([] if breakpoints is None else breakpoints.items(), self._last)
        self.setEnabled(breakpoints is not None)
        self.notice.show_text("" if self._numbers else self._why_empty())
        self.export_button.setEnabled(bool(self._numbers))
        self.remove_button.setEnabled(bool(self.marked_number))

    def _show_rows(
        self, items: list[tuple[int, Breakpoint, int]], last: dict[int, BreakHit]
    ) -> None:
        shown = [(number, breakpoint_) for number, breakpoint_, _ in items]
        self.table.blockSignals(True)
        if shown != self._shown:
            self._shown = shown
            self._build_rows(shown)
        # Hits come with every frame; all else stays as it is.
        for row, (number, _, hits) in enumerate(items):
            hit = last.get(number)
            text = "" if hit is None else f"frame {hit.frame:,} at {format_instant(hit.at_ns)}"
            for column, said in ((_Column.HITS, f"{hits:,}"), (_Column.LAST, text)):
                item = self.table.item(row, column)
                if item is not None and item.text() != said:
                    item.setText(said)
                    item.setToolTip("" if hit is None else as_plain(hit.text))
        self.table.blockSignals(False)

    def _build_rows(self, shown: list[tuple[int, Breakpoint]]) -> None:
        marked = self.marked_number
        self.table.setRowCount(len(shown))
        self._numbers = [number for number, _ in shown]
        for row, (number, breakpoint_) in enumerate(shown):
            when = QTableWidgetItem(one_line(breakpoint_.text))
            when.setFlags(when.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            is_on = breakpoint_.is_enabled
            when.setCheckState(Qt.CheckState.Checked if is_on else Qt.CheckState.Unchecked)
            when.setToolTip(as_plain(breakpoint_.condition_text))
            self.table.setItem(row, _Column.WHEN, when)
            self.table.setItem(row, _Column.THEN, QTableWidgetItem(_then_text(breakpoint_)))
            count = QTableWidgetItem()
            count.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.table.setItem(row, _Column.HITS, count)
            self.table.setItem(row, _Column.LAST, QTableWidgetItem())
            if number == marked:
                self.table.selectRow(row)

    def _why_empty(self) -> str:
        session = self._bridge.session
        if session is None:
            return "No breakpoints: no scene is loaded."
        if session.is_recorded:
            return "A recording cannot be stopped."
        return (
            "No breakpoints. Choose above what to watch for: the scene stops, or does what you "
            "choose, in the frame in which it happens."
        )

    @property
    def marked_number(self) -> int:
        """Number of the marked breakpoint, 0 for none."""
        rows = self.table.selectionModel().selectedRows()
        return self._numbers[rows[0].row()] if rows and rows[0].row() < len(self._numbers) else 0

    # ---------------------------------------------------------------- what is asked for

    @Slot(object)
    def _take_breakpoint(self, breakpoint_: Breakpoint) -> None:
        number = self._edited
        session = self._bridge.session
        former = None
        if session is not None and session.breakpoints is not None:
            former = session.breakpoints.get(number)
        if former is None:
            self._bridge.submit(AddBreakpoint(breakpoint_))
            self._show_doubt(breakpoint_)
            return
        changed = replace(breakpoint_, is_enabled=former.is_enabled)
        self._bridge.submit(ChangeBreakpoint(number, changed))
        self._show_doubt(changed)

    def _show_doubt(self, breakpoint_: Breakpoint) -> None:
        self.form.show_doubt(doubt_about(breakpoint_, self._bridge.timeline))

    @Slot()
    def begin_new(self) -> None:
        """Clear the form for a new breakpoint."""
        self._edited = 0
        self.table.clearSelection()
        self.form.show_breakpoint(Breakpoint(BreakKind.TIMER_FIRES))

    @Slot()
    def _offer_names(self) -> None:
        kind = self.form.chosen_kind
        self.form.offer_names(names_to_choose(kind, self._bridge.timeline))

    @Slot()
    def _show_marked(self) -> None:
        number = self.marked_number
        self.remove_button.setEnabled(bool(number))
        session = self._bridge.session
        if not number or session is None or session.breakpoints is None:
            return
        found = session.breakpoints.get(number)
        if found is not None:
            self._edited = number
            self.form.show_breakpoint(found, is_new=False)

    @Slot()
    def remove_marked(self) -> None:
        """Remove the marked breakpoint."""
        number = self.marked_number
        if number:
            self._bridge.submit(RemoveBreakpoint(number))
            self.begin_new()

    @Slot(QTableWidgetItem)
    def _take_check(self, item: QTableWidgetItem) -> None:
        session = self._bridge.session
        if item.column() != _Column.WHEN or session is None or session.breakpoints is None:
            return
        number = self._numbers[item.row()]
        found = session.breakpoints.get(number)
        is_enabled = item.checkState() is Qt.CheckState.Checked
        if found is not None and found.is_enabled != is_enabled:
            self._bridge.submit(ChangeBreakpoint(number, replace(found, is_enabled=is_enabled)))

    @Slot(int, int)
    def _show_last_hit(self, row: int, _column: int = 0) -> None:
        """Select the frame of the last hit."""
        number = self._numbers[row]
        for hit in reversed(self._bridge.timeline.hits):
            if hit.number == number:
                self._bridge.select(Selection.frame(hit.frame))
                return

    @Slot(QModelIndex, QPoint)
    def _open_menu(self, index: QModelIndex, place: QPoint) -> None:
        if not index.isValid():
            return
        menu = self.make_menu(index.row())
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def make_menu(self, row: int) -> QMenu:
        """Return what can be done with a breakpoint."""
        menu = QMenu(self)
        menu.addAction("Select the frame of the last hit", lambda: self._show_last_hit(row))
        menu.addAction("Remove", self.remove_marked)
        return menu

    @override
    def event(self, event: QEvent) -> bool:
        """Take Delete from the table, which clears the selected timer elsewhere."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Delete
            and self.table.hasFocus()
        ):
            event.accept()
            return True
        return super().event(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Remove the marked breakpoint with Delete."""
        if event.key() == Qt.Key.Key_Delete and self.table.hasFocus():
            self.remove_marked()
        else:
            super().keyPressEvent(event)

    # ---------------------------------------------------------------- files

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
        """Add the breakpoints from a file, all of them or none."""
        try:
            found = read_breakpoints(Path(path))
        except InspectorError as error:
            self._say(str(error))
            return
        self._say("")
        for breakpoint_ in found:
            self._bridge.submit(AddBreakpoint(breakpoint_))

    @Slot(object)
    def export_file(self, path: Path) -> None:
        """Save all breakpoints to a file."""
        session = self._bridge.session
        if session is None or session.breakpoints is None:
            return
        try:
            write_breakpoints(path, [found for _, found, _ in session.breakpoints.items()])
        except InspectorError as error:
            self._say(str(error))
            return
        self._say(f"Written to {path}.")

    def _say(self, text: str) -> None:
        self.problem.setText(text)
        self.problem.setVisible(bool(text))


def _then_text(breakpoint_: Breakpoint) -> str:
    parts = [breakpoint_.action.value]
    if breakpoint_.from_hit > 1:
        parts.append(f"from hit {breakpoint_.from_hit:,}")
    if breakpoint_.is_once:
        parts.append("once")
    return ", ".join(parts)


def _button(text: str, tip: str) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    return button
