"""The clock tree panel: what time it is on every clock, and what stops it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, Qt, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLabel, QLineEdit, QMenu, QWidget
from typing_extensions import override

from inspector.commands.command import Command
from inspector.display_text import counted
from inspector.events.timeline import Timeline
from inspector.sessions.session import Session, why_no_clocks

from ..kit.clipboard import copy_text
from ..kit.filter_line import FilterLine
from ..kit.guards import guarded
from ..kit.labels import EmptyNotice, WrappedLabel, color_text, say
from ..kit.layouts import bar, fill, open_menu
from ..kit.paced_refresh import PacedRefresh
from ..kit.table.fitted_columns import FittedColumns
from ..kit.table.table_view import RowMenus, RowPointing
from ..kit.texts.clock_texts import path_text
from ..kit.theme import ColorRole, Theme
from ..previews.previewing import Previewer, global_rect, typed_rate_command
from ..previews.selected import clock_toggle, member_toggle
from ..previews.tree_menus import Requests, add_clock_actions, add_member_actions
from ..session.bridge import Selection, SelectionKind, SessionBridge
from .clock_delegates import RateDelegate, SignDelegate
from .model import ClockTreeModel
from .rows import ClockColumn, is_member, member_of, node_of
from .view import ClockTreeView


@guarded
class ClockTreePanel(QWidget):
    """All clocks by branch; pause and rate can be changed in place."""

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._theme = theme
        self._session: Session | None = None
        self.model = ClockTreeModel(theme)
        self.filter_line = FilterLine("Filter clocks")
        self.count_label = QLabel()
        self.view = ClockTreeView(self.model)
        header = self.view.tree_header
        self.columns = FittedColumns(self.view, header, tuple(ClockColumn), bridge.panel_choices)
        self.notice = EmptyNotice(self.view)
        self.refusal_label = WrappedLabel()
        self.refusal_label.setContentsMargins(6, 2, 6, 4)
        self._sign_delegate = SignDelegate(self.view)
        self._rate_delegate = RateDelegate(self.view)
        self.view.setItemDelegateForColumn(ClockColumn.NAME, self._sign_delegate)
        self.view.setItemDelegateForColumn(ClockColumn.RATE, self._rate_delegate)
        self.previewer = Previewer(bridge, self)
        self._rate_delegate.rate_typed.connect(self._preview_rate)
        self._rate_delegate.closeEditor.connect(self.previewer.hide)
        top = bar((self.filter_line, 1), self.count_label)
        fill(self, top, (self.view, 1), self.refusal_label)
        self._pace = PacedRefresh(self, bridge.pace)
        self._connect()
        self._apply_theme()
        self.show_session(bridge.session)

    # ------------------------------------------------------------------ building

    def _connect(self) -> None:
        bridge, model, view = self._bridge, self.model, self.view
        bridge.refreshed.connect(self._pace.request)
        bridge.session_changed.connect(self.show_session)
        bridge.selection_changed.connect(self.show_selection)
        bridge.pointed_changed.connect(self._show_pointed)
        RowPointing(view).pointed.connect(self._point_at_row)
        bridge.selection_changed.connect(self._forget_refusal)
        bridge.command_submitted.connect(self._forget_refusal)
        bridge.playhead_changed.connect(self._pace.request)
        self._theme.changed.connect(self._apply_theme)
        self._pace.due.connect(self.refresh)
        self.filter_line.filter_changed.connect(self._apply_filter)
        self.filter_line.left_downwards.connect(view.setFocus)
        model.command_requested.connect(self._submit)
        model.edit_refused.connect(self._show_refusal)
        # Behind the view's own, which unfolds what was unfolded.
        model.modelReset.connect(self._mark_selected)
        self.columns.order_changed.connect(self._show_order)
        self._show_order()
        view.expanded.connect(self.columns.look_soon)
        RowMenus(view).requested.connect(self._open_menu)
        view.rate_edit_requested.connect(self.edit_rate_of_current)
        view.pause_toggle_requested.connect(self._toggle_current)
        view.selectionModel().currentRowChanged.connect(self._select_row)

    @Slot()
    def _show_order(self) -> None:
        self.view.show_order(self.columns.order)

    # ------------------------------------------------------------------ following

    @Slot(object)
    def show_session(self, session: Session | None) -> None:
        if session is not self._session:
            self._session = session
            self.view.forget_folds()
        self._forget_refusal()
        with self.view.arranging():
            self.model.set_timeline(None if session is None else self._bridge.shown)
        self.show_selection(self._bridge.selection)
        self._update_counts()

    @Slot()
    def refresh(self) -> None:
        """Show what is new, painting only the cells that say something else."""
        with self.view.arranging():
            has_other_rows = self._switched()
        self.view.show_changes()
        if has_other_rows:
            # Qt has marked a neighbour of a row that went.
            self._mark_selected()
        self._update_counts()

    def _switched(self) -> bool:
        """Take the state that is to be shown; what is folded stays folded.

        Returns:
            Whether rows have come or gone.
        """
        if self._bridge.session is None:
            return self.model.refresh()
        return self.model.switch_timeline(self._bridge.shown)

    @Slot(object)
    def show_selection(self, _selection: Selection) -> None:
        """Mark the selected clock and bring it into view, or mark none."""
        self._mark_selected()
        current = self.view.currentIndex()
        if current.isValid():
            self.view.scrollTo(current)

    @Slot()
    def _mark_selected(self) -> None:
        """Mark what is selected where it is now; the view neither scrolls nor unfolds clocks."""
        selection = self._bridge.selection
        node = 0
        if selection.kind is SelectionKind.CLOCK:
            node = selection.id
        elif selection.kind is SelectionKind.TIMER:
            node = self._clock_of_timer(selection.id) or self.current_clock_id()
        elif selection.kind is SelectionKind.MEMBER:
            with self.view.arranging():
                self.model.reveal(selection.id)
            node = node_of(selection.id)
        index = self.model.index_of(node)
        if self.model.node(index) == self.model.node(self.view.currentIndex()):
            return
        with self.view.arranging():
            if index.isValid():
                self.view.setCurrentIndex(index)
            else:
                self.view.selectionModel().clear()

    @Slot(object)
    def _show_pointed(self, thing: Selection) -> None:
        """Tint the clock that is under the pointer in some panel, or that a timer waits on."""
        node = 0
        if thing.kind is SelectionKind.CLOCK:
            node = thing.id
        elif thing.kind is SelectionKind.TIMER:
            node = self._clock_of_timer(thing.id)
        elif thing.kind is SelectionKind.MEMBER:
            node = node_of(thing.id)
        self.view.show_pointed(node or None)

    @Slot(QModelIndex)
    def _point_at_row(self, index: QModelIndex) -> None:
        self._bridge.point_at(self._thing_of(index) if index.isValid() else Selection())

    def _thing_of(self, index: QModelIndex) -> Selection:
        member_id = self.model.member_id(index)
        if member_id:
            return Selection.member(member_id)
        return Selection.clock(self.model.clock_id(index))

    def current_clock_id(self) -> int:
        """Return the marked clock, 0 when there is none."""
        return self.model.clock_id(self.view.currentIndex())

    def current_member_id(self) -> int:
        return self.model.member_id(self.view.currentIndex())

    def _clock_of_timer(self, timer_id: int) -> int:
        timeline = self.model.timeline
        if timeline is None or timer_id not in timeline.timers:
            return 0
        return timeline.timers.row(timer_id).clock_id

    @Slot(QModelIndex, QModelIndex)
    def _select_row(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if not self.view.is_arranging and current.isValid():
            self._bridge.select(self._thing_of(current))

    def _update_counts(self) -> None:
        timeline = self.model.timeline
        total = 0 if timeline is None else len(timeline.clocks)
        matching = self.model.match_count
        text = counted(total, "clock")
        if self.filter_line.filter_text:
            others = 0 if timeline is None else len(timeline.members)
            text = f"{matching:,} of {total + others:,}" if others else f"{matching:,} of {text}"
        say(self.count_label, text)
        if self.model.shown_count:
            self.notice.show_text("")
        elif timeline is None or not total:
            self.notice.show_text(f"No clocks: {why_no_clocks(self._bridge.session)}.")
        else:
            self.notice.show_text(f"The filter hides all {total:,} clocks and everything on them.")

    # ------------------------------------------------------------------ structure

    @Slot(str)
    def _apply_filter(self, text: str) -> None:
        self.view.apply_filter(text)
        self._mark_selected()
        self._update_counts()

    # ------------------------------------------------------------------ commands

    @Slot(object)
    def _submit(self, command: Command) -> None:
        self._bridge.submit(command)

    @Slot(str)
    def _show_refusal(self, reason: str) -> None:
        self.refusal_label.show_text(f"✖ {reason[:1].upper()}{reason[1:]}" if reason else "")

    @Slot()
    def _forget_refusal(self) -> None:
        self._show_refusal("")

    @Slot()
    def edit_rate_of_current(self) -> None:
        """Open the editor in the rate cell of the marked row, if it has a rate."""
        index = self.view.currentIndex().siblingAtColumn(ClockColumn.RATE)
        if index.isValid() and self.model.flags(index) & Qt.ItemFlag.ItemIsEditable:
            self.view.scrollTo(index)
            self.view.edit(index)

    @Slot()
    def _toggle_current(self) -> None:
        timeline, clock_id = self.model.timeline, self.current_clock_id()
        member_id = self.current_member_id()
        if timeline is None:
            return
        if clock_id in timeline.clocks:
            self._submit(clock_toggle(timeline, timeline.clocks[clock_id]))
        elif member_id in timeline.members.by_id:
            toggle = member_toggle(timeline.members.by_id[member_id])
            if toggle is not None:
                self._submit(toggle)

    @Slot(QLineEdit, QPersistentModelIndex)
    def _preview_rate(self, editor: QLineEdit, index: QPersistentModelIndex) -> None:
        clock_id = self.model.clock_id(index)
        command = typed_rate_command(clock_id, editor.text()) if clock_id else None
        self.previewer.consider(command, partial(global_rect, editor))

    # ------------------------------------------------------------------ context menu

    @Slot(QModelIndex, QPoint)
    def _open_menu(self, index: QModelIndex, place: QPoint) -> None:
        open_menu(self.make_menu(self.model.node(index)), place)

    def make_menu(self, node: int) -> QMenu:
        """Return what can be done with a row; with the tree when ``node`` is 0."""
        menu = QMenu(self)
        timeline = self.model.timeline
        requests = Requests(self._submit, self._bridge.accepts)
        if timeline is not None and self._is_there(node, timeline):
            if is_member(node):
                add_member_actions(menu, timeline, member_of(node), requests, self)
            else:
                rates = add_clock_actions(menu, timeline, node, requests)
                rates.addSeparator()
                rates.addAction("Other …", partial(self._edit_rate, node))
            menu.addSeparator()
            menu.addAction("Copy row", partial(self._copy_row, node))
            if not is_member(node):
                menu.addAction("Copy path", partial(copy_text, path_text(timeline, node)))
            menu.addSeparator()
            for text, change in (
                ("Expand branch", self.view.unfold_branch),
                ("Collapse branch", self.view.fold_branch),
            ):
                action = menu.addAction(text, partial(change, node))
                action.setEnabled(self.model.hasChildren(self.model.index_of(node)))
        menu.addAction("Expand all", self.view.unfold_all)
        menu.addAction("Collapse all", self.view.fold_all)
        menu.addSeparator()
        menu.addMenu(self.columns.make_menu(menu))
        self.previewer.watch(menu)
        return menu

    def _is_there(self, node: int, timeline: Timeline) -> bool:
        """Whether a row is shown whose clock or member has not gone since the last refresh."""
        if not self.model.index_of(node).isValid():
            return False
        if is_member(node):
            return member_of(node) in timeline.members.by_id
        return node in timeline.clocks

    def _edit_rate(self, clock_id: int) -> None:
        self.view.setCurrentIndex(self.model.index_of(clock_id))
        self.edit_rate_of_current()

    def _copy_row(self, node: int) -> None:
        copy_text(self.model.row_text(node))

    # ------------------------------------------------------------------ looks

    @Slot()
    def _apply_theme(self) -> None:
        theme = self._theme
        self.filter_line.set_icon(self._theme.icon("find"))
        color_text(self.refusal_label, theme.color(ColorRole.RED))
        self.view.set_signs(theme)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the marked row on the platform's copy key; Escape takes a refusal away."""
        node = self.model.node(self.view.currentIndex())
        if event.key() == Qt.Key.Key_Escape and not self.refusal_label.isHidden():
            self._forget_refusal()
        elif event.matches(QKeySequence.StandardKey.Copy) and node:
            self._copy_row(node)
        else:
            super().keyPressEvent(event)
