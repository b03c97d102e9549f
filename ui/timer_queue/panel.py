"""The timer queue panel: what is due next on every clock, and what is called in frames."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, Qt, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QMenu,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from inspector.commands.members import UnscheduleMember
from inspector.commands.timers import ClearTimer
from inspector.display_text import one_line

from ..kit.clipboard import copy_text
from ..kit.filter_line import FilterLine
from ..kit.labels import say
from ..kit.layouts import bar, fill, tool_button
from ..kit.paced_refresh import PacedRefresh
from ..kit.table.table_view import ENTER
from ..kit.texts.member_texts import UNSCHEDULABLE
from ..previews.previewing import Previewer
from ..previews.selected import member_toggle
from ..previews.tree_menus import Requests, menu_text
from ..session.bridge import Selection, SelectionKind
from .columns import CallColumn, TimerColumn
from .frame_call_order import FrameCallOrder
from .model import QueueCounts, QueueModel
from .queue_menus import add_call_actions, add_timer_actions
from .timer_order import TimerOrder
from .view import QueueView
from .waiting import WaitingSection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inspector.events.members import MemberState
    from inspector.sessions.session import Session

    from ..kit.theme import Theme
    from ..session.bridge import SessionBridge


@dataclass(frozen=True, slots=True)
class _Words:
    """What the panel says of one of its tables.

    Attributes:
        noun: What it lists, as the filter says it.
        one: A row of it.
        counted: What its rows are, behind their number.
        without_scene: Why it is empty without a scene.
        without_any: Why it is empty in a scene.
        elsewhere: Why it is empty for a branch, to be followed by how many are elsewhere.
    """

    noun: str
    one: str
    counted: str
    without_scene: str
    without_any: str
    elsewhere: str


_TIMERS: Final = _Words(
    "timers",
    "timer",
    "pending",
    "No timers: no scene is loaded.",
    "No timer is pending.",
    "No timer is pending {branch}; {total:,} are pending elsewhere.",
)
_CALLS: Final = _Words(
    "frame calls",
    "call",
    "calls",
    "No frame calls: no scene is loaded.",
    "No frame calls: the scene has no scheduler, ticker or frame callback.",
    "No frame calls {branch}; {total:,} elsewhere.",
)
#: Under what the choice of the table is remembered, and what it is for the frame calls.
SHOWN_TABLE: Final = "timer_queue.shown"
FRAME_CALLS: Final = "frame calls"


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
        self.model = QueueModel(TimerOrder(), theme)
        self.calls_model = QueueModel(FrameCallOrder(), theme)
        self.view = QueueView(self.model, "Pending timers", bridge.panel_choices)
        self.calls_view = QueueView(self.calls_model, "Frame calls", bridge.panel_choices)
        self.waiting = WaitingSection(self.view, theme, bridge.panel_choices)
        self.notice, self.calls_notice = self.view.notice, self.calls_view.notice
        self.filter_line = FilterLine("Filter timers")
        self.timers_button = _switch("Clock timers", "Timers that wait on a clock")
        self.calls_button = _switch(
            "Frame calls", "Callbacks of schedulers, tickers and the frame, in call order"
        )
        self.branch_button = tool_button(
            tip="Show only timers of the selected branch", is_checkable=True
        )
        self.count_label = QLabel()
        self._stack = QStackedWidget()
        self._lay_out()
        self._pace = PacedRefresh(self, bridge.pace)
        self._connect()
        self._apply_theme()
        self.show_session(bridge.session)

    # ------------------------------------------------------------------ building

    def _lay_out(self) -> None:
        switch = QHBoxLayout()
        switch.setSpacing(0)
        group = QButtonGroup(self)
        for button in (self.timers_button, self.calls_button):
            group.addButton(button)
            switch.addWidget(button)
        top = bar(switch, (self.filter_line, 1), self.branch_button, self.count_label)
        timers = QWidget()
        fill(timers, self.waiting, (self.view, 1), spacing=0)
        for table in (timers, self.calls_view):
            self._stack.addWidget(table)
        fill(self, top, (self._stack, 1))
        are_calls = self._bridge.panel_choices.get(SHOWN_TABLE) == FRAME_CALLS
        (self.calls_button if are_calls else self.timers_button).setChecked(True)
        self._apply_switch()

    def _connect(self) -> None:
        bridge = self._bridge
        bridge.refreshed.connect(self._pace.request)
        bridge.session_changed.connect(self.show_session)
        bridge.selection_changed.connect(self.show_selection)
        bridge.pointed_changed.connect(self._show_pointed)
        bridge.playhead_changed.connect(self._pace.request)
        self._theme.changed.connect(self._apply_theme)
        self._pace.due.connect(self.refresh)
        self.calls_button.toggled.connect(self._switch_table)
        self.filter_line.filter_changed.connect(self._apply_filter)
        self.filter_line.left_downwards.connect(self._enter_table)
        self.branch_button.toggled.connect(self._apply_branch)
        for view, model in self._timer_tables:
            view.chosen.connect(self._select_timer)
            view.pointed.connect(self._point_at_timer)
            view.make_menu = partial(self._make_timer_menu, model)
            view.doubleClicked.connect(partial(self._show_clock_of, model))
            view.on(Qt.Key.Key_Delete, partial(self._clear_marked, view))
        self.calls_view.chosen.connect(self._select_call)
        self.calls_view.make_menu = self._make_call_menu_of_row
        self.calls_view.doubleClicked.connect(self._show_above)
        self.calls_view.on(Qt.Key.Key_Delete, self._unschedule_marked)
        for key in ENTER:
            self.calls_view.on(key, self._toggle_marked)

    # ------------------------------------------------------------------ following

    @Slot(object)
    def show_session(self, session: Session | None) -> None:
        """Show the timers and calls of another session."""
        self._last_clock_id = 0
        self._take_state(session)

    def _take_state(self, session: Session | None) -> None:
        """Show the state at the playhead, or at the present."""
        with self._arranging():
            for model in self._models:
                if session is None:
                    model.set_timeline(None)
                else:
                    model.set_timeline(self._bridge.shown, self._bridge.strings)
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
        if not self.shows_calls:
            self.waiting.refresh(are_any=bool(self.model.counts.waiting))
        self._update_counts()

    @Slot(object)
    def show_selection(self, selection: Selection) -> None:
        """Mark the selected timer or call; remember the selected clock as the branch to show."""
        kind = selection.kind
        for view, _model in self._timer_tables:
            view.mark(selection.id if kind is SelectionKind.TIMER else 0)
        self.calls_view.mark(selection.id if kind is SelectionKind.MEMBER else 0)
        if kind is SelectionKind.CLOCK:
            self._last_clock_id = selection.id
            self._apply_branch()

    @Slot(object)
    def _show_pointed(self, thing: Selection) -> None:
        for view, _model in self._timer_tables:
            view.point_at(thing.id if thing.kind is SelectionKind.TIMER else 0)

    @Slot(int)
    def _point_at_timer(self, timer_id: int) -> None:
        self._bridge.point_at(Selection.timer(timer_id) if timer_id else Selection())

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
    def _words(self) -> _Words:
        return _CALLS if self.shows_calls else _TIMERS

    @property
    def _table(self) -> QueueView:
        return self.calls_view if self.shows_calls else self.view

    @property
    def _timer_tables(self) -> tuple[tuple[QueueView, QueueModel], ...]:
        return (self.view, self.model), (self.waiting.view, self.waiting.model)

    @property
    def _models(self) -> tuple[QueueModel, ...]:
        return self.model, self.waiting.model, self.calls_model

    @contextmanager
    def _arranging(self) -> Iterator[None]:
        with self.view.arranging(), self.waiting.view.arranging(), self.calls_view.arranging():
            yield

    @Slot()
    def _switch_table(self) -> None:
        self._bridge.panel_choices[SHOWN_TABLE] = FRAME_CALLS if self.shows_calls else "timers"
        self._apply_switch()
        self.refresh()

    def _apply_switch(self) -> None:
        self._stack.setCurrentIndex(self.shows_calls)
        self.filter_line.setPlaceholderText(f"Filter {self._words.noun}")
        self.filter_line.setAccessibleName(self.filter_line.placeholderText())

    @Slot()
    def _enter_table(self) -> None:
        self._table.setFocus()

    @Slot(str)
    def _apply_filter(self, text: str) -> None:
        with self._arranging():
            for model in self._models:
                model.set_filter(text)
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
        with self._arranging():
            for model in self._models:
                model.set_branch(branch_id)
        self._take_order()

    def _take_order(self) -> None:
        for view in (self.view, self.waiting.view, self.calls_view):
            view.take_order()
        self.waiting.fit()
        self._update_counts()

    def _update_counts(self) -> None:
        say(self.timers_button, f"Clock timers ({self.model.total():,})")
        say(self.calls_button, f"Frame calls ({self.calls_model.total():,})")
        counts = (self.calls_model if self.shows_calls else self.model).counts
        passing = counts.shown if self.shows_calls else counts.shown + counts.waiting
        text = f"{passing:,}"
        if passing != counts.total:
            text += f" of {counts.total:,}"
        text += f" {self._words.counted}"
        if counts.waiting:
            text += f", {counts.waiting:,} waiting"
        say(self.count_label, text)
        self._table.notice.show_text("" if counts.shown else self._why_empty(counts))

    def _why_empty(self, counts: QueueCounts) -> str:
        """Return why there is no row."""
        words, timeline = self._words, self.model.timeline
        if timeline is None or not timeline.clocks:
            return words.without_scene
        if not counts.total:
            return words.without_any
        if counts.waiting:
            return "No timer will fire: all wait for a stopped clock."
        if not counts.in_branch:
            return words.elsewhere.format(branch=self._branch_text(), total=counts.total)
        one = counts.in_branch == 1
        hidden = f"the only {words.one}" if one else f"all {counts.in_branch:,} {words.one}s"
        return f"The filter hides {hidden}."

    def _branch_text(self) -> str:
        timeline = self.model.timeline
        clock = None if timeline is None else timeline.clocks.get(self._last_clock_id)
        return (
            f"in branch “{one_line(clock.name)}”" if clock else ("in the branch, which was removed")
        )

    # ------------------------------------------------------------------ commands

    def _make_timer_menu(self, model: QueueModel, row: int) -> QMenu:
        return self.make_menu(model.id_at(row) or 0)

    def _make_call_menu_of_row(self, row: int) -> QMenu:
        return self.make_call_menu(self.calls_model.id_at(row) or 0)

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
        self.previewer.watch(menu)
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
        self.previewer.watch(menu)
        return menu

    @property
    def _requests(self) -> Requests:
        return Requests(self._bridge.submit, self._bridge.accepts)

    def _copy_row(self, subject_id: int) -> None:
        for model in (self.calls_model,) if self.shows_calls else self._models[:2]:
            row = model.row_of(subject_id)
            if row is not None:
                copy_text(model.row_text(row))

    def _show_clock_of(self, model: QueueModel, index: QModelIndex) -> None:
        timer_id = model.id_at(index.row())
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

    def _clear_marked(self, view: QueueView) -> None:
        if view.marked_id:
            self._bridge.submit(ClearTimer(view.marked_id))

    def _unschedule_marked(self) -> None:
        member = self._marked_call
        if member is not None and member.kind in UNSCHEDULABLE:
            self._bridge.submit(UnscheduleMember(member.id))

    def _toggle_marked(self) -> None:
        """Pause or resume the marked call."""
        member = self._marked_call
        command = None if member is None else member_toggle(member)
        if command is not None:
            self._bridge.submit(command)

    @property
    def _marked_call(self) -> MemberState | None:
        """The marked call, if it is in the table."""
        timeline, number = self.calls_model.timeline, self.calls_view.marked_id
        if timeline is None or self.calls_model.row_of(number) is None:
            return None
        return timeline.members.by_id.get(number)

    # ------------------------------------------------------------------ looks

    @Slot()
    def _apply_theme(self) -> None:
        self.filter_line.set_icon(self._theme.icon("find"))
        self._table.repaint_rows()


def _switch(text: str, tip: str) -> QToolButton:
    button = tool_button(text, tip, is_checkable=True)
    # What is chosen stands out in both themes only beside what is flat.
    button.setAutoRaise(True)
    return button
