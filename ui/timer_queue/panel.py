"""The timer queue panel: what is due next on every clock, and what is called in frames."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, QPoint, Qt, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QMenu,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.commands.command import Command
from inspector.commands.members import UnscheduleMember
from inspector.commands.timers import ClearTimer
from inspector.display_text import one_line

from ..kit.filter_line import FilterLine
from ..kit.guards import guarded
from ..kit.labels import EmptyNotice, say
from ..kit.paced_refresh import PacedRefresh
from ..kit.texts.member_texts import UNSCHEDULABLE
from ..kit.texts.timer_cells import TimerColumn
from ..kit.theme import ColorRole
from ..previews.previewing import Previewer
from ..previews.selected import member_toggle
from ..previews.tree_menus import Requests, menu_text
from ..session.bridge import Selection, SelectionKind
from .frame_call_cells import CallColumn
from .frame_call_model import CallCounts, FrameCallModel
from .queue_menus import add_call_actions, add_timer_actions, copy_text
from .ranked_view import RankedView
from .timer_table_model import QueueCounts, TimerTableModel

if TYPE_CHECKING:
    from inspector.sessions.session import Session

    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge

_TIMER_SAMPLES: Final[dict[int, str]] = {
    TimerColumn.NAME: "the player presses a button",
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
_CALL_SAMPLES: Final[dict[int, str]] = {
    CallColumn.NAME: "Player.update_all",
    CallColumn.TARGET: "name of target",
    CallColumn.SCHEDULER: "Cocos Creator 2.4",
    CallColumn.CLOCK: "clock name",
    CallColumn.KIND: "in before update",
    CallColumn.PRIORITY: "-00",
    CallColumn.DUE: "00:00.000",
    CallColumn.REMAINING: "waiting: “enemy” is paused",
    CallColumn.INTERVAL: "000.0 ms",
    CallColumn.CALLS: "000,000",
    CallColumn.LEFT: "000",
    CallColumn.TOOK: "00.0 µs",
    # The last column takes all the room that is left, and ends in dots in a narrow panel.
    CallColumn.STATE: "stopped by",
}
#: Under what the choice of the table is remembered, and what it is for the frame calls.
SHOWN_TABLE: Final = "timer_queue.shown"
FRAME_CALLS: Final = "frame calls"


@guarded
class TimerQueuePanel(QWidget):
    """Pending timers, or frame calls, of all clocks or of the selected branch.

    Attributes:
        model: The pending timers.
        view: Their table.
        calls_model: What is called in frames.
        calls_view: Its table.
    """

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._theme = theme
        self._last_clock_id = 0
        self.previewer = Previewer(bridge, self)
        self.model = TimerTableModel()
        self.calls_model = FrameCallModel()
        self.view = RankedView(self.model, "Pending timers", _TIMER_SAMPLES)
        self.calls_view = RankedView(self.calls_model, "Frame calls", _CALL_SAMPLES)
        self.notice = EmptyNotice(self.view)
        self.calls_notice = EmptyNotice(self.calls_view)
        self.filter_line = FilterLine("Filter timers")
        self.timers_button = _switch("Clock timers", "Timers that wait on a clock")
        self.calls_button = _switch(
            "Frame calls", "Callbacks of schedulers, tickers and the frame, in call order"
        )
        self.branch_button = QToolButton()
        self.branch_button.setCheckable(True)
        self.branch_button.setToolTip("Show only timers of the selected branch")
        self.count_label = QLabel()
        self._stack = QStackedWidget()
        self._lay_out()
        self._choose_at_first()
        self._pace = PacedRefresh(self, bridge.pace)
        self._connect()
        self._apply_theme()
        self.show_session(bridge.session)

    # ------------------------------------------------------------------ building

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(4, 4, 4, 0)
        switch = QHBoxLayout()
        switch.setSpacing(0)
        group = QButtonGroup(self)
        for button in (self.timers_button, self.calls_button):
            group.addButton(button)
            switch.addWidget(button)
        top.addLayout(switch)
        top.addWidget(self.filter_line, 1)
        top.addWidget(self.branch_button)
        top.addWidget(self.count_label)
        for view in (self.view, self.calls_view):
            self._stack.addWidget(view)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addWidget(self._stack, 1)

    def _choose_at_first(self) -> None:
        timers, calls = self.view.horizontalHeader(), self.calls_view.horizontalHeader()
        timers.setSortIndicator(TimerColumn.REMAINING, Qt.SortOrder.AscendingOrder)
        # No column says in which order calls are made.
        calls.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        for view in (self.view, self.calls_view):
            view.setSortingEnabled(True)
        are_calls = self._bridge.panel_choices.get(SHOWN_TABLE) == FRAME_CALLS
        (self.calls_button if are_calls else self.timers_button).setChecked(True)
        self._apply_switch()

    def _connect(self) -> None:
        bridge = self._bridge
        bridge.refreshed.connect(self._pace.request)
        bridge.session_changed.connect(self.show_session)
        bridge.selection_changed.connect(self.show_selection)
        bridge.playhead_changed.connect(self._pace.request)
        self._theme.changed.connect(self._apply_theme)
        self._pace.due.connect(self.refresh)
        self.calls_button.toggled.connect(self._switch_table)
        self.filter_line.filter_changed.connect(self._apply_filter)
        self.filter_line.left_downwards.connect(self._enter_table)
        self.branch_button.toggled.connect(self._apply_branch)
        self.view.chosen.connect(self._select_timer)
        self.view.menu_requested.connect(self._open_timer_menu)
        self.view.doubleClicked.connect(self._show_clock_of)
        self.calls_view.chosen.connect(self._select_call)
        self.calls_view.menu_requested.connect(self._open_call_menu)
        self.calls_view.doubleClicked.connect(self._show_above)

    # ------------------------------------------------------------------ following

    @Slot(object)
    def show_session(self, session: Session | None) -> None:
        """Show the timers and calls of another session."""
        self._last_clock_id = 0
        self._take_state(session)

    def _take_state(self, session: Session | None) -> None:
        """Show the state at the playhead, or at the present."""
        with self.view.arranging(), self.calls_view.arranging():
            if session is None:
                self.model.set_timeline(None, ("",))
                self.calls_model.set_timeline(None)
            else:
                self.model.set_timeline(self._bridge.shown, self._bridge.strings)
                self.calls_model.set_timeline(self._bridge.shown)
        self.show_selection(self._bridge.selection)
        self._apply_branch()

    @Slot()
    def refresh(self) -> None:
        """Show what is new in the table that is in front."""
        session = self._bridge.session
        if session is not None and self.model.timeline is not self._bridge.shown:
            self._take_state(session)
            return
        self._table.refresh()
        self._update_counts()

    @Slot(object)
    def show_selection(self, selection: Selection) -> None:
        """Mark the selected timer or call; remember the selected clock as the branch to show."""
        kind = selection.kind
        self.view.mark(selection.id if kind is SelectionKind.TIMER else 0)
        self.calls_view.mark(selection.id if kind is SelectionKind.MEMBER else 0)
        if kind is SelectionKind.CLOCK:
            self._last_clock_id = selection.id
            self._apply_branch()

    @Slot(int)
    def _select_timer(self, timer_id: int) -> None:
        self._bridge.select(Selection.timer(timer_id))

    @Slot(int)
    def _select_call(self, member_id: int) -> None:
        self._bridge.select(Selection.member(member_id))

    # ------------------------------------------------------------------ what is shown

    @property
    def shows_calls(self) -> bool:
        """Whether frame calls are in front, and not the timers of clocks."""
        return self.calls_button.isChecked()

    @property
    def _table(self) -> RankedView:
        return self.calls_view if self.shows_calls else self.view

    @Slot()
    def _switch_table(self) -> None:
        self._bridge.panel_choices[SHOWN_TABLE] = FRAME_CALLS if self.shows_calls else "timers"
        self._apply_switch()
        self.refresh()

    def _apply_switch(self) -> None:
        self._stack.setCurrentWidget(self._table)
        self.filter_line.setPlaceholderText(
            "Filter frame calls" if self.shows_calls else "Filter timers"
        )
        self.filter_line.setAccessibleName(self.filter_line.placeholderText())

    @Slot()
    def _enter_table(self) -> None:
        self._table.setFocus()

    @Slot(str)
    def _apply_filter(self, text: str) -> None:
        with self.view.arranging(), self.calls_view.arranging():
            self.model.set_filter(text)
            self.calls_model.set_filter(text)
        self._take_order()

    @Slot()
    def _apply_branch(self) -> None:
        timeline = self.model.timeline
        name = ""
        if timeline is not None and self._last_clock_id in timeline.clocks:
            name = timeline.clocks[self._last_clock_id].name
        shown = menu_text(f"Only branch “{name}”")
        self.branch_button.setText(shown if name else "Only selected branch")
        is_limited = self.branch_button.isChecked() and bool(self._last_clock_id)
        branch_id = self._last_clock_id if is_limited else None
        with self.view.arranging(), self.calls_view.arranging():
            self.model.set_branch(branch_id)
            self.calls_model.set_branch(branch_id)
        self._take_order()

    def _take_order(self) -> None:
        self.view.take_order()
        self.calls_view.take_order()
        self._update_counts()

    def _update_counts(self) -> None:
        timeline = self.model.timeline
        timers = 0 if timeline is None else len(timeline.timers)
        say(self.timers_button, f"Clock timers ({timers:,})")
        say(self.calls_button, f"Frame calls ({self.calls_model.total():,})")
        counts: QueueCounts | CallCounts
        if self.shows_calls:
            counts = self.calls_model.counts
            whole, what = counts.total, "calls"
            self.calls_notice.show_text(self._why_no_calls(counts))
        else:
            counts = self.model.counts
            whole, what = counts.pending, "pending"
            self.notice.show_text(self._why_no_timers(counts))
        text = f"{counts.shown:,}"
        if counts.shown != whole:
            text += f" of {whole:,}"
        text += f" {what}"
        if counts.waiting:
            text += f", {counts.waiting:,} waiting"
        say(self.count_label, text)

    def _why_no_timers(self, counts: QueueCounts) -> str:
        """Return why there is no row, empty when there are some."""
        if counts.shown:
            return ""
        timeline = self.model.timeline
        if timeline is None or not timeline.clocks:
            return "No timers: no scene is loaded."
        if not counts.pending:
            return "No timer is pending."
        if not counts.in_branch:
            return (
                f"No timer is pending {self._branch_text()}; {counts.pending:,} are pending "
                "elsewhere."
            )
        hidden = "the only timer" if counts.in_branch == 1 else f"all {counts.in_branch:,} timers"
        return f"The filter hides {hidden}."

    def _why_no_calls(self, counts: CallCounts) -> str:
        if counts.shown:
            return ""
        timeline = self.calls_model.timeline
        if timeline is None or not timeline.clocks:
            return "No frame calls: no scene is loaded."
        if not counts.total:
            return "No frame calls: the scene has no scheduler, ticker or frame callback."
        if not counts.in_branch:
            return f"No frame calls {self._branch_text()}; {counts.total:,} elsewhere."
        hidden = "the only call" if counts.in_branch == 1 else f"all {counts.in_branch:,} calls"
        return f"The filter hides {hidden}."

    def _branch_text(self) -> str:
        timeline = self.model.timeline
        clock = None if timeline is None else timeline.clocks.get(self._last_clock_id)
        return (
            f"in branch “{one_line(clock.name)}”" if clock else ("in the branch, which was removed")
        )

    # ------------------------------------------------------------------ commands

    @Slot(int, QPoint)
    def _open_timer_menu(self, timer_id: int, position: QPoint) -> None:
        self._open(self.make_menu(timer_id), position)

    @Slot(int, QPoint)
    def _open_call_menu(self, member_id: int, position: QPoint) -> None:
        self._open(self.make_call_menu(member_id), position)

    def _open(self, menu: QMenu, position: QPoint) -> None:
        self.previewer.watch(menu)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(position)

    def make_menu(self, timer_id: int) -> QMenu:
        """Return what can be done with a timer; empty when it is not pending any more."""
        menu = QMenu(self)
        timeline = self.model.timeline
        if timeline is None or timer_id not in timeline.timers:
            return menu
        add_timer_actions(menu, timeline, timer_id, self._requests, self._bridge.select)
        menu.addSeparator()
        menu.addAction("Copy row", partial(self._copy_row, timer_id))
        call_site = timeline.timers.row(timer_id).call_site
        if call_site:
            menu.addAction("Copy source line", partial(copy_text, call_site))
        return menu

    def make_call_menu(self, member_id: int) -> QMenu:
        """Return what can be done with a frame call; empty when it is gone."""
        menu = QMenu(self)
        timeline = self.calls_model.timeline
        if timeline is None or member_id not in timeline.members.by_id:
            return menu
        add_call_actions(menu, timeline, member_id, self._requests, self._bridge.select)
        menu.addSeparator()
        menu.addAction("Copy row", partial(self._copy_row, member_id))
        return menu

    @property
    def _requests(self) -> Requests:
        return Requests(self._bridge.submit, self._bridge.accepts)

    def _copy_row(self, subject_id: int) -> None:
        model = self.calls_model if self.shows_calls else self.model
        row = model.row_of(subject_id)
        if row is not None:
            copy_text(model.row_text(row))

    @Slot(QModelIndex)
    def _show_clock_of(self, index: QModelIndex) -> None:
        timer_id = self.model.id_at(index.row())
        timeline = self.model.timeline
        if timer_id is None or timeline is None or index.column() != TimerColumn.CLOCK:
            return
        if timer_id in timeline.timers:
            self._bridge.select(Selection.clock(timeline.timers.row(timer_id).clock_id))

    @Slot(QModelIndex)
    def _show_above(self, index: QModelIndex) -> None:
        """Select the clock, scheduler or target whose name was double-clicked."""
        number, timeline = self.calls_model.id_at(index.row()), self.calls_model.timeline
        if number is None or timeline is None or number not in timeline.members.by_id:
            return
        members = timeline.members
        member, scheduler = members.by_id[number], members.scheduler_of(number)
        column = index.column()
        if column == CallColumn.CLOCK and member.clock_id in timeline.clocks:
            self._bridge.select(Selection.clock(member.clock_id))
        elif column == CallColumn.SCHEDULER and scheduler is not None:
            self._bridge.select(Selection.member(scheduler.id))
        elif column == CallColumn.TARGET and index.data():
            self._bridge.select(Selection.member(member.parent_id))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the marked row, clear the marked timer, pause or take back the marked call."""
        marked_id = self._table.marked_id
        if marked_id and event.matches(QKeySequence.StandardKey.Copy):
            self._copy_row(marked_id)
        elif self.shows_calls:
            if not self._act_on_call(marked_id, event):
                super().keyPressEvent(event)
        elif marked_id and event.matches(QKeySequence.StandardKey.Delete):
            self._bridge.submit(ClearTimer(marked_id))
        else:
            super().keyPressEvent(event)

    def _act_on_call(self, member_id: int, event: QKeyEvent) -> bool:
        """Do what a key stands for; returns whether it stands for anything."""
        timeline = self.calls_model.timeline
        member = None if timeline is None else timeline.members.by_id.get(member_id)
        if member is None or self.calls_model.row_of(member_id) is None:
            return False
        command: Command | None = None
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            command = member_toggle(member)
        elif event.matches(QKeySequence.StandardKey.Delete) and member.kind in UNSCHEDULABLE:
            command = UnscheduleMember(member_id)
        if command is not None:
            self._bridge.submit(command)
        return command is not None

    # ------------------------------------------------------------------ looks

    @Slot()
    def _apply_theme(self) -> None:
        muted = self._theme.color(ColorRole.MUTED_TEXT)
        self.model.set_muted_color(muted)
        self.calls_model.set_muted_color(muted)
        self.filter_line.set_icon(self._theme.icon("find"))
        self._table.repaint_rows()


def _switch(text: str, tip: str) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setCheckable(True)
    # What is chosen stands out in both themes only beside what is flat.
    button.setAutoRaise(True)
    return button
