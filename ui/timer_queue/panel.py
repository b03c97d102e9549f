"""The timer queue panel: what is called next, whatever schedules it."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QModelIndex, Qt, Signal, Slot
from PySide6.QtWidgets import QMenu, QToolButton, QWidget
from typing_extensions import override

from inspector.calls.call import CallId
from inspector.commands.members import UnscheduleMember
from inspector.commands.timers import ClearTimer
from inspector.display_text import as_plain, counted, one_line
from inspector.events.timeline import Timeline
from inspector.sessions.session import Session, why_no_clocks
from inspector.vocabulary import MemberKind

from ..kit.clipboard import copy_text
from ..kit.guards import guarded
from ..kit.labels import set_growing_text
from ..kit.layouts import ShorteningButton, bar, fill, in_row, tool_button
from ..kit.table.table_panel import TablePanel
from ..kit.table.table_view import ENTER, RowPointing, TableView
from ..kit.texts.member_texts import UNSCHEDULABLE
from ..kit.theme import Theme
from ..kit.throttled_refresh import ThrottledRefresh
from ..selected.commands import member_toggle, submit
from ..selected.menus import (
    MenuRequests,
    add_clock_pause,
    add_member_actions,
    add_timer_actions,
    menu_text,
)
from ..selected.preview import Previewer
from ..session.bridge import Selection, SelectionKind, SessionBridge
from .call_queue import CallGroup, CallQueue
from .columns import CallColumn
from .model import QueueModel


class QueueView(TableView):
    """Shows a :class:`QueueModel`.

    A row of the table is a place in the order; which call is marked is kept by its
    key and found again after every refresh.
    """

    chosen = Signal(object)  # int: the user has marked a row; the key of its call
    pointed = Signal(object)  # int: another call is under the pointer; its key, 0 for none

    def __init__(self, model: QueueModel, name: str, choices: MutableMapping[str, str]) -> None:
        super().__init__(model, name, choices)
        self.calls = model
        # The call that is marked, whatever its row; 0 for none
        self.marked_id = self._pointed_id = 0  # Keys of calls.
        RowPointing(self).pointed.connect(self._emit_pointed)
        # Queued, because the view sorts the model only after a direct connection would be called.
        order_changed = self.horizontalHeader().sortIndicatorChanged
        order_changed.connect(self.on_order_changed, Qt.ConnectionType.QueuedConnection)
        self.selectionModel().currentRowChanged.connect(self._choose_row)

    def refresh(self) -> None:
        """Show what is new: only cells that say something else are painted."""
        with self.arranging():
            self.calls.refresh()
        self.on_order_changed()

    def mark(self, key: int) -> None:
        if key != self.marked_id:
            self.marked_id = key
            row = self._follow_marked()
            if row is not None:
                self.scrollTo(self.calls.index(row, 0))

    def point_at(self, key: int) -> None:
        self._pointed_id = key
        self.set_pointed(self.calls.row_of(key) if key else None)

    @Slot(QModelIndex)
    def _emit_pointed(self, index: QModelIndex) -> None:
        self.pointed.emit((self.calls.id_at(index.row()) if index.isValid() else None) or 0)

    @Slot()
    def on_order_changed(self) -> None:
        """Show the rows again, after the model has taken another order."""
        self.repaint_changes()
        self._follow_marked()
        if self._pointed_id:
            self.point_at(self._pointed_id)

    def _follow_marked(self) -> int | None:
        """Mark the row in which the marked call is now; the view does not scroll."""
        row = self.calls.row_of(self.marked_id) if self.marked_id else None
        current = self.currentIndex()
        if row == (current.row() if current.isValid() else None):
            return row
        with self.arranging():
            if row is None:
                self.selectionModel().clear()
            else:
                column = current.column() if current.isValid() else 0
                self.setCurrentIndex(self.calls.index(row, column))
        return row

    @Slot(QModelIndex, QModelIndex)
    def _choose_row(self, current: QModelIndex, _previous: QModelIndex) -> None:
        number = self.calls.id_at(current.row())
        if not self.is_arranging and number is not None:
            self.marked_id = number
            self.chosen.emit(number)


_NO_BRANCH_TIP: Final = "Show only calls of the selected branch"
_TIPS: Final = {
    CallGroup.CLOCK_TIMERS: "Timers that wait on a clock",
    CallGroup.FRAME_TIMERS: "Timers of schedulers and tickers, loops and timeouts",
    CallGroup.EVERY_FRAME: "Update callbacks and callbacks of the frame",
}
_SHOWN_ABOVE: Final = {
    MemberKind.TARGET: "Show its target",
    MemberKind.SCHEDULER: "Show its scheduler",
    MemberKind.TICKER: "Show its ticker",
    MemberKind.CHILD_CLOCK: "Show its child clock",
}
#: Settings key of the groups that are hidden.
HIDDEN_GROUPS: Final = "timer_queue.hidden"


@guarded
class TimerQueuePanel(TablePanel):
    """The calls of all clocks or of the selected branch, in one list."""

    counted = Signal()  # There are more or fewer clock timers than before

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        self.timer_count = 0
        self.queue = CallQueue()
        self.model = QueueModel(self.queue, theme)
        self.table = table = QueueView(self.model, "Calls", bridge.panel_choices)
        super().__init__(table, theme, parent, filter_hint="Filter timers")
        self._bridge = bridge
        self._last_clock_id = 0
        self.previewer = Previewer(bridge, self)
        self.waiting_button = _chip("Waiting", "Show only what waits for a pause to end")
        self.group_buttons = {group: _chip(group.value, _TIPS[group]) for group in CallGroup}
        self.branch_button = ShorteningButton()
        self.branch_button.setCheckable(True)
        self._lay_out()
        self._throttle = ThrottledRefresh(self, bridge.refresh_timer, self.refresh)
        self._connect()
        self.set_session(bridge.session)

    def _lay_out(self) -> None:
        hidden = self._bridge.panel_choices.get(HIDDEN_GROUPS, "").split(",")
        for group, button in self.group_buttons.items():
            button.setChecked(group.name.lower() not in hidden)
        self._read_groups()
        buttons = (*self.group_buttons.values(), self.waiting_button, self.branch_button)
        groups = in_row(*buttons, spacing=2)
        top = bar(self.filter_line, groups, (QWidget(), 1), self.count_label)
        fill(self, top, (self.view, 1))
        self._apply_theme()

    def _connect(self) -> None:
        bridge = self._bridge
        self._throttle.follow()
        bridge.session_changed.connect(self.set_session)
        bridge.selection_changed.connect(self.on_selection_changed)
        bridge.pointed_changed.connect(self._on_pointed_changed)
        bridge.playhead_changed.connect(self._throttle.request)
        bridge.rows_limited.connect(self.filter_line.set_filter)
        self.branch_button.toggled.connect(self._apply_branch)
        for button in self.group_buttons.values():
            button.toggled.connect(self._apply_groups)
        self.waiting_button.toggled.connect(self._apply_waiting)
        table = self.table
        table.chosen.connect(self._select)
        table.pointed.connect(self._point_at)
        table.make_menu = self._make_menu_of_row
        table.on(Qt.Key.Key_Delete, self._cancel_marked)
        for key in ENTER:
            table.on(key, self._toggle_marked)

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange and self.layout() is not None:
            for button in (*self.group_buttons.values(), self.waiting_button):
                button.setFixedSize(button.sizeHint())

    @Slot(object)
    def set_session(self, session: Session | None) -> None:
        self._last_clock_id = 0
        self._set_source(session)

    def _set_source(self, session: Session | None) -> None:
        with self.view.arranging():
            shown = None if session is None else self._bridge.shown
            self.queue.set_source(shown, ("",) if session is None else self._bridge.strings)
            self.model.reload_rows()
        self.on_selection_changed(self._bridge.selection)
        self._apply_branch()

    @Slot()
    def refresh(self) -> None:
        session = self._bridge.session
        if session is not None and self.queue.timeline is not self._bridge.shown:
            self._set_source(session)
            return
        self.table.refresh()
        self.update_counts()

    @Slot(object)
    def on_selection_changed(self, selection: Selection) -> None:
        """Mark the selected call; remember the selected clock as the branch to show."""
        self.table.mark(_key_of(selection))
        if selection.kind is SelectionKind.CLOCK:
            self._last_clock_id = selection.id
            self._apply_branch()

    @Slot(object)
    def _on_pointed_changed(self, thing: Selection) -> None:
        self.table.point_at(_key_of(thing))

    @Slot(object)
    def _point_at(self, key: int) -> None:
        self._bridge.point_at(_selection(key))

    @Slot(object)
    def _select(self, key: int) -> None:
        self._bridge.select(_selection(key))

    @override
    def filter_rows(self, text: str) -> None:
        self.queue.words = tuple(text.casefold().split())
        self._refresh_calls()

    @Slot()
    def _apply_branch(self) -> None:
        timeline = self.queue.timeline
        name = ""
        if timeline is not None and self._last_clock_id in timeline.clocks:
            name = timeline.clocks[self._last_clock_id].name
        self.branch_button.setText(menu_text(f"Only {name}") if name else "Only selected branch")
        tip = f"Show only calls of the selected branch: {name}" if name else _NO_BRANCH_TIP
        self.branch_button.setToolTip(as_plain(tip))
        is_limited = self.branch_button.isChecked() and bool(self._last_clock_id)
        self.queue.branch_id = self._last_clock_id if is_limited else None
        self._refresh_calls()

    def _read_groups(self) -> None:
        shown = (group for group, button in self.group_buttons.items() if button.isChecked())
        self.queue.groups = frozenset(shown)

    @Slot()
    def _apply_groups(self) -> None:
        self._read_groups()
        hidden = [each.name.lower() for each in CallGroup if each not in self.queue.groups]
        self._bridge.panel_choices[HIDDEN_GROUPS] = ",".join(hidden)
        self._refresh_calls()

    @Slot(bool)
    def _apply_waiting(self, is_on: bool) -> None:  # noqa: FBT001 - a slot
        self.queue.only_waiting = is_on
        self._refresh_calls()

    def _refresh_calls(self) -> None:
        self.table.refresh()
        self.update_counts()

    @override
    def update_counts(self) -> None:
        counts = {group: self.queue.count(group) for group in CallGroup}
        for group, button in self.group_buttons.items():
            set_growing_text(button, f"{group.value} {counts[group]:,}")
            is_always = group is not CallGroup.FRAME_TIMERS
            button.setVisible(is_always or bool(counts[group]) or not button.isChecked())
        set_growing_text(self.waiting_button, f"Waiting {self.model.counts.waiting:,}")
        self.view.choices.use_only(self.queue.columns_used())
        super().update_counts()
        if (count := counts[CallGroup.CLOCK_TIMERS]) != self.timer_count:
            self.timer_count = count
            self.counted.emit()

    @override
    def count_text(self) -> str:
        counts = self.model.counts
        text = f"{counts.passing:,}"
        if counts.passing != counts.total:
            text += f" of {counts.total:,}"
        # If frame callbacks are among them, they are not all timers.
        noun = "timer" if counts.total == self.queue.count(CallGroup.CLOCK_TIMERS) else "call"
        return f"{text} {noun}" + ("" if text == "1" else "s")

    @override
    def why_empty(self) -> str:
        counts, timeline = self.model.counts, self.queue.timeline
        if timeline is None or not timeline.clocks:
            return f"No calls: {why_no_clocks(self._bridge.session)}."
        if not counts.total:
            return "No call is scheduled."
        if not counts.in_branch:
            return f"No calls {self._branch_text(timeline)}; {counts.total:,} elsewhere."
        if self.queue.only_waiting and not counts.waiting:
            return "Nothing waits for a pause to end."
        if not self.queue.words:
            return f"No calls of the kinds that are shown; {counts.in_branch:,} of other kinds."
        return f"The filter hides {counted(counts.in_branch, 'call')}."

    def _branch_text(self, timeline: Timeline) -> str:
        clock = timeline.clocks.get(self._last_clock_id)
        return (
            f"in branch “{one_line(clock.name)}”" if clock else "in the branch, which was removed"
        )

    def _make_menu_of_row(self, row: int) -> QMenu:
        return self.make_call_menu(self.model.id_at(row) or 0)

    def make_call_menu(self, key: int) -> QMenu:
        menu = QMenu(self)
        timeline, call_id = self.queue.timeline, CallId.of_key(key)
        if timeline is None or not self._is_there(call_id):
            return menu
        requests = MenuRequests(partial(submit, self._bridge), self._bridge.accepts)
        number, select, call_site = call_id.number, self._bridge.select, ""
        if call_id.is_member:
            _add_member_call_actions(menu, timeline, number, requests, select)
        else:
            add_timer_actions(menu, timeline, number, requests, select)
            call_site = timeline.timers.row(number).call_site
        menu.addSeparator()
        menu.addAction("Copy row", partial(self._copy_row, key))
        if call_site:
            menu.addAction("Copy source line", partial(copy_text, call_site))
        self.previewer.watch(menu)
        return menu

    def _is_there(self, call_id: CallId) -> bool:
        timeline = self.queue.timeline
        if timeline is None:
            return False
        return call_id.number in (timeline.members.by_id if call_id.is_member else timeline.timers)

    def _copy_row(self, key: int) -> None:
        row = self.model.row_of(key)
        if row is not None:
            copy_text(self.model.row_text(row))

    @override
    def activate(self, index: QModelIndex) -> None:
        row = self.model.row_at(index.row())
        if row is None or not self._is_there(row.call.id):
            return
        call, timeline = row.call, row.timeline
        match index.column():
            case CallColumn.CLOCK if call.clock_id in timeline.clocks:
                self._bridge.select(Selection.clock(call.clock_id))
            case CallColumn.SCHEDULER if call.scheduler_id in timeline.members.by_id:
                self._bridge.select(Selection.member(call.scheduler_id))
            case CallColumn.TARGET if call.owner_id in timeline.members.by_id:
                self._bridge.select(Selection.member(call.owner_id))

    def _marked_call(self) -> CallId | None:
        key = self.table.marked_id
        is_shown, call_id = self.model.row_of(key) is not None, CallId.of_key(key)
        return call_id if is_shown and self._is_there(call_id) else None

    def _cancel_marked(self) -> None:
        call_id, timeline = self._marked_call(), self.queue.timeline
        if call_id is None or timeline is None:
            return
        if not call_id.is_member:
            self._bridge.submit(ClearTimer(call_id.number))
        elif timeline.members.by_id[call_id.number].kind in UNSCHEDULABLE:
            self._bridge.submit(UnscheduleMember(call_id.number))

    def _toggle_marked(self) -> None:
        call_id, timeline = self._marked_call(), self.queue.timeline
        if call_id is None or timeline is None or not call_id.is_member:
            return
        command = member_toggle(timeline.members.by_id[call_id.number])
        if command is not None:
            self._bridge.submit(command)


def _key_of(selection: Selection) -> int:
    if selection.kind is SelectionKind.TIMER:
        return CallId(selection.id).key
    is_member = selection.kind is SelectionKind.MEMBER
    return CallId(selection.id, is_member=True).key if is_member else 0


def _selection(key: int) -> Selection:
    call_id = CallId.of_key(key)
    if not call_id.number:
        return Selection()
    kind = Selection.member if call_id.is_member else Selection.timer
    return kind(call_id.number)


def _chip(text: str, tip: str) -> QToolButton:
    button = tool_button(text, tip, is_checkable=True)
    # Flat: otherwise a chosen chip does not stand out in both themes.
    button.setAutoRaise(True)
    return button


def _add_member_call_actions(
    menu: QMenu,
    timeline: Timeline,
    number: int,
    requests: MenuRequests,
    select: Callable[[Selection], object],
) -> None:
    panel = menu.parentWidget()
    assert panel is not None, "the menu of a panel"
    add_member_actions(menu, timeline, number, requests, panel)
    menu.addSeparator()
    members = timeline.members
    clock_id = members.by_id[number].clock_id
    if clock_id in timeline.clocks:
        add_clock_pause(menu, timeline, clock_id, requests)
    for above in members.path(number)[1:]:
        title = _SHOWN_ABOVE.get(above.kind)
        if title is not None:
            menu.addAction(title, partial(select, Selection.member(above.id)))
    if clock_id in timeline.clocks:
        menu.addAction("Show its clock", partial(select, Selection.clock(clock_id)))
