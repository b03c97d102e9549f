"""The interventions panel: every intervention: what was changed, by whom, and how to undo it."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache, partial
from operator import attrgetter
from typing import Final, NamedTuple

from PySide6.QtCore import QModelIndex, Slot
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.analysis.intervention_list import Intervention, InterventionList
from inspector.commands.command import Undoing
from inspector.commands.scene import Undo
from inspector.display_text import counted, without_quotes
from inspector.events.timeline import Timeline
from inspector.timebase import format_instant, format_local_time

from ..kit.layouts import tool_button
from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.table.table_panel import TablePanel
from ..kit.table.table_view import TableView
from ..kit.theme import ColorRole, Theme
from ..kit.throttled_refresh import ThrottledRefresh
from ..session.bridge import Selection, SessionBridge

_MS_PER_SECOND: Final = 1_000


class InterventionRow(NamedTuple):
    entry: Intervention  # What it says
    undoing: Undoing | None  # What can be undone, None where nothing can

    @property
    def can_undo(self) -> bool:
        entry, undoing = self
        return not entry.is_hit and undoing is not None and undoing.of(entry.number) is not None


@lru_cache(maxsize=4_096)
def host_time_text(host_ms: int, *, is_full: bool = False) -> str:
    """Return milliseconds since 1970 on the local wall clock, empty for 0 and absurd ones."""
    if not host_ms:
        return ""
    try:
        when = datetime.fromtimestamp(host_ms // _MS_PER_SECOND).astimezone()
    except (OverflowError, OSError, ValueError):
        return ""
    text = f"{when:%H:%M:%S}.{host_ms % _MS_PER_SECOND:03d}"
    return f"{when:%A, %Y-%m-%d} {text} {when:%Z}".rstrip() if is_full else text


def _local_text(row: InterventionRow) -> str:
    entry = row.entry
    if entry.local_ns is None:
        return ""
    return f"{format_local_time(entry.local_ns)} {entry.clock_name}".rstrip()


def _what(row: InterventionRow) -> str:
    return without_quotes(row.entry.text)


def _outcome_tip(row: InterventionRow) -> str:
    return f"{_what(row)}\n{row.entry.outcome}"


def _host_tip(row: InterventionRow) -> str:
    host_ms = row.entry.host_ms
    return host_time_text(host_ms, is_full=True) if host_ms else "Unknown"


_column = Column[InterventionRow]


class InterventionColumn(ColumnEnum):
    # fmt: off
    NUMBER = _column(
        "No.", lambda row: row.entry.label,
        "Number of the command, or b and the number of the breakpoint", sample="9,999",
        is_number=True, is_searched=True)
    AT = _column(
        "Session (m:s)", lambda row: format_instant(row.entry.at_ns),
        "Session time, in minutes and seconds", lambda row: f"Frame {row.entry.frame:,}",
        sample="0:00:00.000", is_number=True)
    LOCAL = _column(
        "Local time", _local_text, "Local time of the affected clock, or of the root clock",
        lambda row: None if row.entry.host_ms else "Unknown", sample="0:00:00.000 240 Hz screen  ",
        least="0:00:00.000", is_searched=True, yields=2)
    HOST = _column(
        "Host time", lambda row: host_time_text(row.entry.host_ms),
        "Wall-clock time of this computer", _host_tip, sample="00:00:00.000", is_number=True,
        yields=1)
    WHAT = _column(
        "What", _what, detail=_outcome_tip, least="Resume enemies",
        is_searched=True)
    BY = _column(
        "By", lambda row: row.entry.by, "Who requested it", sample="breakpoint 99",
        is_searched=True, yields=3)
    RESULT = _column(
        "Result", lambda row: row.entry.outcome, "Carried out, refused, or undone since",
        _outcome_tip, sample="refused: there is no such clock", least="refused: there",
        is_searched=True,
        color=lambda row: ColorRole.RED if row.entry.refusal else None)
    UNDO = _column(
        "Undo", lambda row: "Undo" if row.can_undo else "",
        detail=lambda row: f"Undo: {_what(row)}" if row.can_undo else "It cannot be undone",
        sample="Undo", is_copied=False,
        color=lambda row: ColorRole.BLUE if row.can_undo else None)
    # fmt: on


class InterventionModel(ListTableModel[InterventionRow]):
    """Commands and breakpoint hits in the order in which they happened.

    Rows that were shown stay in place, so a refresh costs no more than the new ones.
    """

    def __init__(self, theme: Theme) -> None:
        key = attrgetter("entry.is_hit", "entry.number", "entry.at_ns")
        super().__init__(InterventionColumn, theme, key)
        self._list: InterventionList | None = None
        self._undoing: Undoing | None = None

    @override
    def color_of(self, row: InterventionRow, column: ColumnEnum) -> ColorRole | None:
        undone = ColorRole.MUTED if row.entry.undone_by else None
        return super().color_of(row, column) or undone

    def set_session(self, timeline: Timeline | None, undoing: Undoing | None) -> None:
        """Show another session's interventions, and which of them can be undone."""
        self._list = None if timeline is None else InterventionList(timeline)
        self._undoing = undoing
        self.set_rows(())
        self.refresh()

    def refresh(self) -> int:
        if self._list is None:
            return 0
        entries, undoing = self._list.entries, self._undoing
        first = len(entries)
        changed = self._list.add_new()
        added = self.add_rows([InterventionRow(entry, undoing) for entry in entries[first:]])
        for place in changed:
            self.change_row(place, InterventionRow(entries[place], undoing))
        return added


def selection_of(entry: Intervention) -> Selection:
    """Return what an intervention is about: the clock it names, else the frame it came before."""
    if entry.clock_id and not entry.is_hit:
        return Selection.clock(entry.clock_id)
    return Selection.frame(entry.frame)


class InterventionsPanel(TablePanel):
    """Lists commands and breakpoint hits; what has an opposite can be undone.

    Stays with the newest while the newest is in view.
    """

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        self.model = InterventionModel(theme)
        view = TableView(
            self.model, "History", bridge.panel_choices, selects_many=True, is_entered_at_end=True
        )
        super().__init__(view, theme, parent, filter_hint="Filter interventions")
        self._bridge = bridge
        self._asked: set[int] = set()
        self.undo_button = tool_button("Undo", "Undo the selected intervention")
        self.lay_out(self.undo_button)
        self._throttle = ThrottledRefresh(self, bridge.refresh_timer, self.refresh)
        self._connect()
        self.set_session()

    def _connect(self) -> None:
        bridge, view = self._bridge, self.view
        self._throttle.follow()
        bridge.session_changed.connect(self.set_session)
        self.undo_button.clicked.connect(self.undo_marked)
        view.clicked.connect(self._on_clicked)
        view.selectionModel().selectionChanged.connect(self._refresh_undoable)
        self.model.modelReset.connect(self._refresh_undoable)

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
        """Add what is new, and scroll to the newest if the newest was in view."""
        bar = self.view.verticalScrollBar()
        is_at_end = bar.value() >= bar.maximum()
        if self.model.refresh():
            self._asked.clear()
            if is_at_end:
                self.view.scrollToBottom()
        self._refresh_undoable()
        self.update_counts()

    @override
    def filter_rows(self, text: str) -> None:
        super().filter_rows(text)
        self.view.scrollToBottom()

    @override
    def detail_of(self, row: int) -> str:
        entry = self.model.rows[row].entry
        return entry.outcome if entry.refusal else ""

    @override
    def why_empty(self) -> str:
        if self._bridge.session is None:
            return "No interventions: no scene is loaded."
        if self.model.hidden_count:
            are = counted(self.model.hidden_count, "intervention is", "interventions are")
            return f"{are} hidden by the filter."
        return (
            "No interventions. Every change you make here (pause, rate, step, fire, clear) and "
            "every breakpoint hit is listed with its times."
        )

    @Slot()
    def _refresh_undoable(self) -> None:
        rows = self.view.marked_rows()
        self.undo_button.setEnabled(len(rows) == 1 and self.model.rows[rows[0]].can_undo)
        # Whether it can be undone may have changed in any row.
        self.view.repaint_changes()

    @Slot()
    def undo_marked(self) -> None:
        rows = self.view.marked_rows()
        if len(rows) == 1:
            self.undo(rows[0])

    def undo(self, row: int) -> None:
        shown = self.model.row_at(row)
        if shown is not None and shown.can_undo:
            number = shown.entry.number
            # A running scene undoes it at the next frame; a second click must not submit it again.
            if number not in self._asked:
                self._asked.add(number)
                self._bridge.submit(Undo(number))

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
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
