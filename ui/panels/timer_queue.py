"""The timer queue panel: every pending timer, what fires next first."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, QPoint, QRect, Qt, Slot
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QMenu,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.sessions.commands import (
    ClearTimer,
    Command,
    FireTimer,
    PauseClock,
    ResumeClock,
    required_capability,
)

from ..models.timer_cells import TimerColumn
from ..models.timer_table_model import QueueCounts, TimerTableModel
from ..session_bridge import Selection, SelectionKind
from ..theme import ColorRole
from ..widgets.empty_notice import EmptyNotice
from ..widgets.filter_line import FilterLine
from ..widgets.paced_refresh import PacedRefresh

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from inspector.sessions.session import Session

    from ..session_bridge import SessionBridge
    from ..theme import Theme

_SAMPLES: Final = {
    TimerColumn.NAME: "name of a long timer",
    TimerColumn.CLOCK: "name of a clock",
    TimerColumn.KIND: "interval (delay)",
    TimerColumn.DUE_LOCAL: "0:00:00.000",
    TimerColumn.DUE_SESSION: "0:00:00.000",
    TimerColumn.REMAINING: "waiting: “enemies” is paused",
    TimerColumn.INTERVAL: "000.0 ms",
    TimerColumn.FIRED: "000,000",
    TimerColumn.LATENESS: "000.0 ms",
    TimerColumn.CALL_SITE: "some_scene.py:000 in build",
}


class TimerQueuePanel(QWidget):
    """Pending timers of all clocks or of the selected branch.

    A row of the table is a place in the order; which timer is marked is kept by its
    number and found again after every refresh.
    """

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._theme = theme
        self._is_arranging = False
        self._painted_ids: list[int] = []
        self._selected_timer_id = 0
        self._last_clock_id = 0
        self.model = TimerTableModel()
        self.filter_line = FilterLine("Filter timers")
        self.branch_button = QToolButton()
        self.branch_button.setCheckable(True)
        self.branch_button.setToolTip("Show only timers on the selected clock and below it")
        self.count_label = QLabel()
        self.view = self._make_view()
        self.notice = EmptyNotice(self.view)
        self._lay_out()
        self._pace = PacedRefresh(self)
        self._connect()
        self._apply_theme()
        self.show_session(bridge.session)

    # ------------------------------------------------------------------ building

    def _make_view(self) -> QTableView:
        view = QTableView()
        view.setAccessibleName("Pending timers")
        view.setModel(self.model)
        view.setWordWrap(False)
        view.setShowGrid(False)
        view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.setTabKeyNavigation(False)
        # Rows are placed by reckoning only while all have the same, fixed height.
        rows = view.verticalHeader()
        rows.setVisible(False)
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setMinimumSectionSize(8)
        rows.setDefaultSectionSize(view.fontMetrics().height() + 6)
        header = view.horizontalHeader()
        header.setHighlightSections(False)
        header.setSortIndicator(TimerColumn.REMAINING, Qt.SortOrder.AscendingOrder)
        header.setSortIndicatorClearable(True)
        view.setSortingEnabled(True)
        metrics = view.fontMetrics()
        for column in TimerColumn:
            title = str(self.model.headerData(column, Qt.Orientation.Horizontal))
            widest = max(
                metrics.horizontalAdvance(_SAMPLES[column]),
                metrics.horizontalAdvance(title + " ▾ "),
            )
            view.setColumnWidth(column, widest + 12)
        header.setStretchLastSection(True)
        return view

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(4, 4, 4, 0)
        top.addWidget(self.filter_line, 1)
        top.addWidget(self.branch_button)
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
        bridge.selection_changed.connect(self.show_selection)
        self._theme.changed.connect(self._apply_theme)
        self._pace.due.connect(self.refresh)
        self.filter_line.filter_changed.connect(self._apply_filter)
        self.filter_line.left_downwards.connect(view.setFocus)
        self.branch_button.toggled.connect(self._apply_branch)
        view.horizontalHeader().sortIndicatorChanged.connect(self._repaint_everything)
        view.customContextMenuRequested.connect(self._open_menu)
        view.doubleClicked.connect(self._show_clock_of)
        view.selectionModel().currentRowChanged.connect(self._select_row)

    # ------------------------------------------------------------------ following

    @Slot(object)
    def show_session(self, session: Session | None) -> None:
        """Show the timers of another session."""
        self._last_clock_id = 0
        with self._arranging():
            if session is None:
                self.model.set_timeline(None, ("",))
            else:
                self.model.set_timeline(session.timeline, session.log.strings)
        self.show_selection(self._bridge.selection)
        self._apply_branch()

    @Slot()
    def refresh(self) -> None:
        """Show what is new: all visible rows if the order changed, else live columns only."""
        with self._arranging():
            columns = self.model.refresh()
        ids = self._visible_ids()
        if ids != self._painted_ids:
            self._painted_ids = ids
            self.view.viewport().update()
        else:
            self._repaint(columns)
        self._follow_selected()
        self._update_counts()

    @Slot(object)
    def show_selection(self, selection: Selection) -> None:
        """Mark the selected timer; remember the selected clock as the branch to show."""
        timer_id = selection.id if selection.kind is SelectionKind.TIMER else 0
        if timer_id != self._selected_timer_id:
            self._selected_timer_id = timer_id
            row = self._follow_selected()
            if row is not None:
                self.view.scrollTo(self.model.index(row, 0))
        if selection.kind is SelectionKind.CLOCK:
            self._last_clock_id = selection.id
            self._apply_branch()

    def _visible_ids(self) -> list[int]:
        first = max(self.view.rowAt(0), 0)
        rows = self.view.viewport().height() // self.view.verticalHeader().defaultSectionSize()
        return self.model.timer_ids_between(first, first + rows + 2)

    def _repaint(self, columns: Iterable[TimerColumn]) -> None:
        view, viewport = self.view, self.view.viewport()
        for column in columns:
            left, width = view.columnViewportPosition(column), view.columnWidth(column)
            if left < viewport.width() and left + width > 0:
                viewport.update(QRect(left, 0, width, viewport.height()))

    @Slot()
    def _repaint_everything(self) -> None:
        self._painted_ids = self._visible_ids()
        self._follow_selected()
        self.view.viewport().update()

    def _follow_selected(self) -> int | None:
        """Mark the row in which the selected timer is now; the view does not scroll."""
        row = self.model.row_of(self._selected_timer_id) if self._selected_timer_id else None
        current = self.view.currentIndex()
        if row == (current.row() if current.isValid() else None):
            return row
        with self._arranging():
            if row is None:
                self.view.selectionModel().clear()
            else:
                column = current.column() if current.isValid() else 0
                self.view.setCurrentIndex(self.model.index(row, column))
        return row

    @contextmanager
    def _arranging(self) -> Iterator[None]:
        """Let the mark move with the rows: neither a choice of the user nor a reason to scroll."""
        was_arranging, self._is_arranging = self._is_arranging, True
        self.view.setAutoScroll(False)
        try:
            yield
        finally:
            self.view.setAutoScroll(True)
            self._is_arranging = was_arranging

    @Slot(QModelIndex, QModelIndex)
    def _select_row(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if self._is_arranging or not current.isValid():
            return
        timer_id = self.model.timer_id_at(current.row())
        if timer_id is not None:
            self._selected_timer_id = timer_id
            self._bridge.select(Selection.timer(timer_id))

    # ------------------------------------------------------------------ what is shown

    @Slot(str)
    def _apply_filter(self, text: str) -> None:
        with self._arranging():
            self.model.set_filter(text)
        self._repaint_everything()
        self._update_counts()

    @Slot()
    def _apply_branch(self) -> None:
        timeline = self.model.timeline
        name = ""
        if timeline is not None and self._last_clock_id in timeline.clocks:
            name = timeline.clocks[self._last_clock_id].name
        self.branch_button.setText(f"Only branch “{name}”" if name else "Only selected branch")
        is_limited = self.branch_button.isChecked() and bool(self._last_clock_id)
        with self._arranging():
            self.model.set_branch(self._last_clock_id if is_limited else None)
        self._repaint_everything()
        self._update_counts()

    def _update_counts(self) -> None:
        counts = self.model.counts
        text = f"{counts.shown:,}"
        if counts.shown != counts.pending:
            text += f" of {counts.pending:,}"
        text += " pending"
        if counts.waiting:
            text += f", {counts.waiting:,} waiting"
        if text != self.count_label.text():
            self.count_label.setText(text)
        self.notice.show_text(self._why_empty(counts))

    def _why_empty(self, counts: QueueCounts) -> str:
        """Return why there is no row, empty when there are some."""
        if counts.shown:
            return ""
        timeline = self.model.timeline
        if timeline is None or not timeline.clocks:
            return "No timers: no scene is loaded."
        if not counts.pending:
            return "No timer is pending on any clock."
        if not counts.in_branch:
            clock = timeline.clocks.get(self._last_clock_id)
            where = f"on “{clock.name}” or below it" if clock else "there: the branch was removed"
            return f"No timer is pending {where}; {counts.pending:,} are elsewhere."
        hidden = "the one timer" if counts.in_branch == 1 else f"all {counts.in_branch:,} timers"
        return f"The filter hides {hidden}."

    # ------------------------------------------------------------------ commands

    @Slot(QPoint)
    def _open_menu(self, position: QPoint) -> None:
        index = self.view.indexAt(position)
        timer_id = self.model.timer_id_at(index.row()) if index.isValid() else None
        if timer_id is None:
            return
        menu = self.make_menu(timer_id)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.view.viewport().mapToGlobal(position))

    def make_menu(self, timer_id: int) -> QMenu:
        """Return what can be done with a timer; empty when it is not pending any more."""
        menu = QMenu(self)
        timeline = self.model.timeline
        if timeline is None or timer_id not in timeline.timers:
            return menu
        timer = timeline.timers.row(timer_id)
        clock = timeline.clocks[timer.clock_id]
        self._add_command(menu, "Fire now", FireTimer(timer_id))
        self._add_command(menu, "Clear", ClearTimer(timer_id))
        menu.addSeparator()
        if clock.paused:
            self._add_command(menu, f"Resume its clock “{clock.name}”", ResumeClock(clock.id))
        else:
            self._add_command(menu, f"Pause its clock “{clock.name}”", PauseClock(clock.id))
        for reason in timeline.pause_reasons(clock.id):
            if not reason.is_own and not reason.is_rate_zero:
                title = f"Resume “{reason.clock_name}”, which it waits for"
                self._add_command(menu, title, ResumeClock(reason.clock_id))
        menu.addAction("Show its clock", partial(self._bridge.select, Selection.clock(clock.id)))
        menu.addSeparator()
        menu.addAction("Copy row", partial(self._copy_row, timer_id))
        if timer.call_site:
            menu.addAction("Copy where it was set", partial(_copy, timer.call_site))
        return menu

    def _add_command(self, menu: QMenu, title: str, command: Command) -> None:
        action = menu.addAction(title, partial(self._bridge.submit, command))
        session = self._bridge.session
        action.setEnabled(
            session is not None and required_capability(command) in session.capabilities
        )

    def _copy_row(self, timer_id: int) -> None:
        row = self.model.row_of(timer_id)
        if row is not None:
            _copy(self.model.row_text(row))

    @Slot(QModelIndex)
    def _show_clock_of(self, index: QModelIndex) -> None:
        timer_id = self.model.timer_id_at(index.row())
        timeline = self.model.timeline
        if timer_id is None or timeline is None or index.column() != TimerColumn.CLOCK:
            return
        if timer_id in timeline.timers:
            self._bridge.select(Selection.clock(timeline.timers.row(timer_id).clock_id))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the marked row, clear the marked timer."""
        timer_id = self._selected_timer_id
        if timer_id and event.matches(QKeySequence.StandardKey.Copy):
            self._copy_row(timer_id)
        elif timer_id and event.matches(QKeySequence.StandardKey.Delete):
            self._bridge.submit(ClearTimer(timer_id))
        else:
            super().keyPressEvent(event)

    # ------------------------------------------------------------------ looks

    @Slot()
    def _apply_theme(self) -> None:
        self.model.set_muted_color(self._theme.color(ColorRole.MUTED_TEXT))
        self.filter_line.set_icon(self._theme.icon("find"))
        self.view.viewport().update()


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
