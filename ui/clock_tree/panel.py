"""The table of all clocks: what time it is on each, and what stops it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, Slot
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.display_text import counted
from inspector.sessions.session import Session, why_no_clocks

from ..kit.clipboard import copy_text
from ..kit.guards import guarded
from ..kit.paced_refresh import PacedRefresh
from ..kit.table.models import ListTableModel
from ..kit.table.table_panel import TablePanel
from ..kit.table.table_view import ENTER, RowPointing, TableView
from ..kit.texts.clock_texts import path_text
from ..kit.theme import ColorRole, Theme
from ..previews.previewing import Previewer
from ..previews.selected import clock_toggle, member_toggle
from ..previews.tree_menus import MenuRequests, add_clock_actions, add_member_actions
from ..session.bridge import Selection, SelectionKind, SessionBridge
from .columns import ClockColumn, Known, TreeRow, is_member, member_of, node_of, order_below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inspector.events.timeline import Timeline


class ClockTreeModel(ListTableModel[TreeRow]):
    """The rows that are not folded away, each below its parent."""

    @override
    def key_of(self, row: TreeRow) -> int:
        return row.node

    @override
    def row_at(self, key: int) -> TreeRow | None:
        row = super().row_at(key)
        # What has gone since the last refresh says nothing; its row goes with the next one.
        return row if row is not None and (row.clock or row.member) else None


@guarded
class _ClockTable(TableView):
    """A table in which a click on the sign in front of a name folds what hangs under it."""

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        index = self.indexAt(place)
        super().mousePressEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and index.isValid():
            cell = self.cells_of(index.row())[ClockColumn.NAME]
            left = self.visualRect(index.siblingAtColumn(ClockColumn.NAME)).left()
            if place.x() < left + self.cells.before(cell):
                self.doubleClicked.emit(index.siblingAtColumn(ClockColumn.NAME))


@guarded
class ClockTreePanel(TablePanel):
    """All clocks by branch, with schedulers, components and machines below theirs."""

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        self.model = ClockTreeModel(ClockColumn, theme)
        view = _ClockTable(self.model, "Clocks", bridge.panel_choices)
        super().__init__(view, theme, parent, filter_hint="Filter clocks")
        self._bridge = bridge
        self._session: Session | None = None
        self._known: Known | None = None
        self._words: tuple[str, ...] = ()
        self._found_count = 0
        # Clocks are open and members folded, unless the user has changed that.
        self._turned: set[int] = set()
        self._pointed = 0
        self.previewer = Previewer(bridge, self)
        self.lay_out()
        self._pace = PacedRefresh(self, bridge.pace)
        self._connect()
        self.set_session(bridge.session)

    def _connect(self) -> None:
        bridge, view = self._bridge, self.view
        bridge.refreshed.connect(self._pace.request)
        bridge.playhead_changed.connect(self._pace.request)
        bridge.session_changed.connect(self.set_session)
        bridge.selection_changed.connect(self.on_selection_changed)
        bridge.pointed_changed.connect(self._show_pointed)
        self._theme.changed.connect(self._show_rows)
        self._pace.due.connect(self.refresh)
        RowPointing(view).pointed.connect(self._point_at_row)
        view.selectionModel().currentRowChanged.connect(self._select_row)
        for key in ENTER:
            view.on(key, self._toggle_pause)
        view.on(Qt.Key.Key_F2, self._ask_for_rate)
        view.on(Qt.Key.Key_Left, partial(self._fold_current, is_open=False))
        view.on(Qt.Key.Key_Right, partial(self._fold_current, is_open=True))

    # ---------------------------------------------------------------- what is shown

    @Slot(object)
    def set_session(self, session: Session | None) -> None:
        if session is not self._session:
            self._session = session
            self._turned.clear()
        self._known = None
        self.refresh()
        self.on_selection_changed(self._bridge.selection)

    @Slot()
    def refresh(self) -> None:
        timeline = None if self._bridge.session is None else self._bridge.shown
        if timeline is None:
            self._known = None
            self._show_rows()
        elif self._known is None:
            self._known = Known(timeline, self._theme.color(ColorRole.MUTED))
            self._show_rows()
        elif self._known.set_timeline(timeline):
            self._show_rows()
        self.view.show_changes()
        self.update_counts()

    @Slot()
    def _show_rows(self) -> None:
        known = self._known
        if known is not None:
            known.sign_color = self._theme.color(ColorRole.MUTED)
        with self.view.arranging():
            self.model.set_rows([] if known is None else self._rows(known))
        self._mark_selected()
        self._tint_pointed()

    def _rows(self, known: Known) -> Iterator[TreeRow]:
        timeline = known.timeline
        kept = self._kept(timeline)
        pending = [] if timeline.root_id is None else [(timeline.root_id, 0)]
        while pending:
            node, depth = pending.pop()
            if kept is not None and node not in kept:
                continue
            below = _below(node, timeline)
            is_open = kept is not None or is_member(node) is (node in self._turned)
            yield TreeRow(node, depth, is_open if below else None, known)
            if is_open:
                pending += [(each, depth + 1) for each in reversed(below)]

    def _kept(self, timeline: Timeline) -> set[int] | None:
        """Return what the filter finds with all that is above it, ``None`` without a filter."""
        if not self._words:
            return None
        clocks, members, kept = timeline.clocks, timeline.members.by_id, set[int]()
        found = [*self._found(timeline)]
        self._found_count = len(found)
        for node in found:
            above = node
            while above and above not in kept:
                kept.add(above)
                if is_member(above):
                    member = members[member_of(above)]
                    above = node_of(member.parent_id) if member.parent_id else member.clock_id
                else:
                    above = clocks[above].parent_id if above in clocks else 0
        return kept

    def _found(self, timeline: Timeline) -> Iterator[int]:
        names = [(clock.id, clock.name) for clock in timeline.clocks.values()]
        names += [(node_of(each.id), each.name) for each in timeline.members.by_id.values()]
        for node, name in names:
            folded = name.casefold()
            if all(word in folded for word in self._words):
                yield node

    @override
    def filter_rows(self, text: str) -> None:
        self._words = tuple(text.casefold().split())
        self._show_rows()

    @override
    def count_text(self) -> str:
        timeline = None if self._known is None else self._known.timeline
        total = 0 if timeline is None else len(timeline.clocks)
        if timeline is None or not self._words:
            return counted(total, "clock")
        found, others = self._found_count, len(timeline.members)
        return f"{found:,} of " + (f"{total + others:,}" if others else counted(total, "clock"))

    @override
    def why_empty(self) -> str:
        timeline = None if self._known is None else self._known.timeline
        if timeline is None or not timeline.clocks:
            return f"No clocks: {why_no_clocks(self._bridge.session)}."
        return f"The filter hides all {len(timeline.clocks):,} clocks and everything on them."

    # ---------------------------------------------------------------- folding

    @override
    def activate(self, index: QModelIndex) -> None:
        row = self.model.row_at(index.row())
        if row is not None and row.is_open is not None and not self._words:
            self._turned ^= {row.node}
            self._show_rows()

    def _fold_current(self, *, is_open: bool) -> None:
        index = self.view.currentIndex()
        row = self.model.row_at(index.row())
        if row is not None and row.is_open is not is_open:
            self.activate(index)

    # ---------------------------------------------------------------- selection

    @property
    def _current(self) -> TreeRow | None:
        return self.model.row_at(self.view.currentIndex().row())

    @Slot(object)
    def on_selection_changed(self, selection: Selection) -> None:
        known = self._known
        members = None if known is None else known.timeline.members
        if selection.kind is SelectionKind.MEMBER and members and selection.id in members.by_id:
            above = members.path(selection.id)[1:]
            closed = {node_of(each.id) for each in above} - self._turned
            if closed:
                self._turned |= closed
                self._show_rows()
        self._mark_selected()
        if self.view.currentIndex().isValid():
            self.view.scrollTo(self.view.currentIndex())

    @Slot()
    def _mark_selected(self) -> None:
        row = self.model.row_of(self._node_of(self._bridge.selection))
        current = self.view.currentIndex()
        if row == (current.row() if current.isValid() else None):
            return
        with self.view.arranging():
            if row is None:
                self.view.selectionModel().clear()
            else:
                self.view.setCurrentIndex(self.model.index(row, max(current.column(), 0)))

    def _node_of(self, thing: Selection) -> int:
        """Return the row of something, of a timer that of its clock; 0 for none."""
        timers = None if self._known is None else self._known.timeline.timers
        match thing.kind:
            case SelectionKind.CLOCK:
                return thing.id
            case SelectionKind.MEMBER:
                return node_of(thing.id)
            case SelectionKind.TIMER if timers is not None and thing.id in timers:
                return timers.row(thing.id).clock_id
        return 0

    @Slot(QModelIndex, QModelIndex)
    def _select_row(self, current: QModelIndex, _previous: QModelIndex) -> None:
        row = self.model.row_at(current.row())
        if row is not None and not self.view.is_arranging:
            self._bridge.select(_thing_of(row.node))

    @Slot(QModelIndex)
    def _point_at_row(self, index: QModelIndex) -> None:
        row = self.model.row_at(index.row())
        self._bridge.point_at(Selection() if row is None else _thing_of(row.node))

    @Slot(object)
    def _show_pointed(self, thing: Selection) -> None:
        self._pointed = self._node_of(thing)
        self._tint_pointed()

    def _tint_pointed(self) -> None:
        self.view.show_pointed(self.model.row_of(self._pointed) if self._pointed else None)

    # ---------------------------------------------------------------- commands

    @Slot()
    def _toggle_pause(self) -> None:
        row = self._current
        if row is None:
            return
        clock, member = row.clock, row.member
        command = clock_toggle(row.timeline, clock) if clock else member and member_toggle(member)
        if command:
            self._bridge.submit(command)

    @Slot()
    def _ask_for_rate(self) -> None:
        self._bridge.action_wanted.emit("set-rate")

    @override
    def make_menu(self, row: int) -> QMenu:
        menu, found = QMenu(self), self.model.row_at(row)
        requests = MenuRequests(self._bridge.submit, self._bridge.accepts)
        if found is None:
            return menu
        if found.clock is not None:
            rates = add_clock_actions(menu, found.timeline, found.node, requests)
            rates.addSeparator()
            rates.addAction("Other …", self._ask_for_rate)
        else:
            add_member_actions(menu, found.timeline, member_of(found.node), requests, self)
        menu.addSeparator()
        menu.addAction("Copy row", partial(copy_text, self.model.row_text(row)))
        menu.addActions(self.view.actions())
        if found.clock is not None:
            path = path_text(found.timeline, found.node)
            menu.addAction("Copy path", partial(copy_text, path))
        if found.is_open is not None:
            menu.addSeparator()
            text = "Collapse" if found.is_open else "Expand"
            menu.addAction(text, partial(self.activate, self.model.index(row, 0)))
        self.previewer.watch(menu)
        return menu


def _thing_of(node: int) -> Selection:
    return Selection.member(member_of(node)) if is_member(node) else Selection.clock(node)


def _below(node: int, timeline: Timeline) -> list[int]:
    if is_member(node):
        return [node_of(number) for number in order_below(timeline, member_of(node))]
    return [*timeline.clocks[node].children, *map(node_of, timeline.members.under_clock(node))]
