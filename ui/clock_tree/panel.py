"""The table of all clocks, its filter, what time it is on each, and what stops it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from operator import attrgetter
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QModelIndex, QPointF, Qt, Slot
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPixmap, QPolygonF
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.display_text import counted
from inspector.events.members import MemberState
from inspector.events.states import ClockState
from inspector.events.timeline import Timeline
from inspector.sessions.session import Session, why_no_clocks
from inspector.timebase import format_duration, format_local_time
from inspector.vocabulary import NEVER, Field, MemberKind, rate_text, ratio_text

from ..kit.clipboard import copy_text
from ..kit.guards import guarded
from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.table.table_panel import TablePanel
from ..kit.table.table_view import ENTER, RowPointing, TableView
from ..kit.texts.clock_texts import next_dues, path_text, rate_algebra
from ..kit.texts.member_texts import CALLS, member_run_state, next_call_text
from ..kit.texts.run_states import RunState, run_state_of
from ..kit.theme import ColorRole, Theme
from ..kit.throttled_refresh import ThrottledRefresh
from ..selected.commands import clock_toggle, member_toggle
from ..selected.menus import MenuRequests, add_clock_actions, add_member_actions
from ..selected.preview import Previewer
from ..session.bridge import Selection, SelectionKind, SessionBridge

#: Nodes of the tree from this number on are members; below it they are clocks, which programs
#: number from multiples of 2 to the power of 40.
_FIRST_MEMBER: Final = 1 << 60
#: Pixels by which each level is indented, and the size of the sign for what is folded.
_INDENT: Final = 14
#: Pixels per logical pixel with which the sign is drawn, enough for any screen.
_SHARPNESS: Final = 3


def node_of(member_id: int) -> int:
    return _FIRST_MEMBER + member_id


def member_of(node: int) -> int:
    return node - _FIRST_MEMBER


def is_member(node: int) -> bool:
    return node >= _FIRST_MEMBER


class Known:
    """The state that rows show, with a cache of what is slow to find out."""

    def __init__(self, timeline: Timeline, sign_color: QColor) -> None:
        self.sign_color = sign_color  # Of the signs in front of names
        self._versions: tuple[int, int, int, bool] | None = None
        self._run_states: dict[int, RunState] = {}
        self._counts: dict[int, int] = {}
        self.set_timeline(timeline)

    def set_timeline(self, timeline: Timeline) -> bool:
        """Show another state; returns whether clocks or members may have come or gone."""
        self.timeline = timeline
        self._next_due: dict[int, int] | None = None
        self._at_ns, self._mapping_version = timeline.at_ns, timeline.mapping_version
        former, self._versions = self._versions, self._versions_of(timeline)
        if self._versions != former:
            self._run_states.clear()
            self._counts.clear()
        return former is None or self._versions[:2] != former[:2]

    @staticmethod
    def _versions_of(timeline: Timeline) -> tuple[int, int, int, bool]:
        structure = timeline.structure_version, timeline.members.structure_version
        return *structure, timeline.mapping_version, timeline.is_running

    def run_state(self, clock_id: int) -> RunState:
        run_state = self._run_states.get(clock_id)
        if run_state is None:
            run_state = self._run_states[clock_id] = run_state_of(self.timeline, clock_id)
        return run_state

    def local_ns(self, clock_id: int) -> int:
        """Return the local time at the last refresh, so that all rows show one instant."""
        timeline = self.timeline
        if timeline.mapping_version != self._mapping_version:
            return timeline.local_ns(clock_id)
        return timeline.local_ns(clock_id, self._at_ns)

    def next_due_text(self, clock_id: int) -> str:
        if self._next_due is None:
            self._next_due = next_dues(self.timeline)
        due_ns = self._next_due.get(clock_id, NEVER)
        if due_ns == NEVER:
            return "waiting"
        return format_duration(due_ns - self._at_ns) if due_ns > self._at_ns else "now"

    def calls_below(self, member: MemberState) -> int:
        if member.kind in CALLS or not member.children:
            return 0
        count = self._counts.get(member.id)
        if count is None:
            branch = self.timeline.members.branch(member.id)
            count = self._counts[member.id] = sum(below.kind in CALLS for below in branch)
        return count


def order_below(timeline: Timeline, number: int) -> list[int]:
    """Return what hangs under a member; targets in the order of their update callbacks."""
    members = timeline.members
    member = members.by_id.get(number)
    if member is None:
        return []
    if member.kind is not MemberKind.SCHEDULER:
        return member.children
    called = dict.fromkeys(update.parent_id for update in members.updates_of(number))
    own = set(member.children)
    first = [target for target in called if target in own]
    return [*first, *(target for target in member.children if target not in called)]


class TreeRow(Struct, frozen=True):
    """A clock, or a scheduler, component, machine … of which many have neither time nor rate."""

    node: int  # Its number in the tree
    depth: int  # How many rows are above it in the tree
    is_open: bool | None  # Whether what hangs under it is shown, None if there is nothing
    known: Known  # The state that is shown

    @property
    def timeline(self) -> Timeline:
        return self.known.timeline

    @property
    def clock(self) -> ClockState | None:
        return self.timeline.clocks.get(self.node)

    @property
    def member(self) -> MemberState | None:
        return self.timeline.members.by_id.get(member_of(self.node))

    @property
    def run_state(self) -> RunState:
        member = self.member
        if member is not None:
            return member_run_state(self.timeline, member)
        return self.known.run_state(self.node)


def _name(row: TreeRow) -> str:
    if row.member is not None:
        return row.member.name or row.member.kind.text
    return "" if row.clock is None else row.clock.name


def _name_tip(row: TreeRow) -> str:
    if row.member is None:
        return f"{path_text(row.timeline, row.node)}\n{row.run_state.text}"
    path = " / ".join(each.name for each in reversed(row.timeline.members.path(row.member.id)))
    return f"{row.member.kind.text} {path}\n{row.run_state.text}"


def _sign(row: TreeRow) -> QPixmap:
    return fold_sign(row.depth, row.is_open, row.known.sign_color.rgb())


def _local_time(row: TreeRow) -> str:
    if row.member is None:
        return format_local_time(row.known.local_ns(row.node))
    time_ns = row.member.fields.get(Field.TIME)
    return "" if time_ns is None else format_local_time(time_ns)


def _local_time_tip(row: TreeRow) -> str | None:
    if row.clock is None:
        return _tip(ClockColumn.LOCAL_TIME, row)
    return f"{row.known.local_ns(row.node):,} ns"


def _rate(row: TreeRow) -> str:
    if row.clock is not None:
        return rate_text(row.clock.rate_n)
    rate_n = None if row.member is None else row.member.fields.get(Field.RATE)
    return "" if rate_n is None else rate_text(rate_n)


def _effective_rate(row: TreeRow) -> str:
    return "" if row.clock is None else ratio_text(row.timeline.effective_rate(row.node))


def _pending(row: TreeRow) -> str:
    if row.member is not None:
        count = row.known.calls_below(row.member)
    else:
        count = 0 if row.clock is None else row.clock.pending
    return f"{count:,}" if count else ""


def _next_due(row: TreeRow) -> str:
    if row.member is not None:
        return next_call_text(row.timeline, row.member)
    if row.clock is None or not row.clock.pending:
        return ""
    return row.known.next_due_text(row.node)


def _muted(row: TreeRow) -> ColorRole | None:
    return None if row.run_state.kind.is_lively else ColorRole.MUTED


def _tip(column: ColumnEnum, row: TreeRow) -> str | None:
    text = column.spec.text(row)
    return f"{column.spec.title}: {text}" if text else None


_column = Column[TreeRow]


@cache
def fold_sign(depth: int, is_open: bool | None, rgb: int) -> QPixmap:  # noqa: FBT001 - of a row
    """Return what stands in front of a name: its indentation, and a triangle to fold it by."""
    left, size = depth * _INDENT, _INDENT
    pixmap = QPixmap((left + size) * _SHARPNESS, size * _SHARPNESS)
    pixmap.setDevicePixelRatio(_SHARPNESS)
    pixmap.fill(Qt.GlobalColor.transparent)
    if is_open is None:
        return pixmap
    points = ((3, 5), (11, 5), (7, 10)) if is_open else ((5, 3), (10, 7), (5, 11))
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(rgb))
        painter.drawPolygon(QPolygonF([QPointF(left + x, y) for x, y in points]))
    return pixmap


class ClockColumn(ColumnEnum):
    # fmt: off
    NAME = _column(
        "Clock", _name, "Every clock below its parent, with what hangs under it", _name_tip,
        mark=_sign, sample="    a particle system", least="    player moves")
    LOCAL_TIME = _column(
        "Local (m:s)", _local_time, "Local time of this clock", _local_time_tip,
        sample="00:00.000", short_title="Local", is_number=True, yields=4, color=_muted)
    RATE = _column(
        "Rate (×)", _rate, "Local seconds per second of the parent",
        lambda row: _tip(ClockColumn.RATE, row), sample="0.25", short_title="Rate", is_number=True)
    STATE = _column(
        "State", lambda row: row.run_state.text, "Running, or what stopped it and since when",
        lambda row: row.run_state.text, least="in late update", yields=5)
    EFFECTIVE_RATE = _column(
        "Effective (×)", _effective_rate,
        "Local seconds per session second: all rates up to the root multiplied, 0 if one is paused",
        lambda row: None if row.clock is None else rate_algebra(row.timeline, row.node),
        sample="0.25", short_title="Eff.", is_number=True, yields=1, color=_muted)
    PENDING = _column(
        "Timers", _pending, "Pending timers on this clock, without those of its branch",
        lambda row: _tip(ClockColumn.PENDING, row), sample="000", short_title="Tim.",
        is_number=True, yields=3)
    NEXT_DUE = _column(
        "Next due in", _next_due, "Session time until the next timer on this clock fires",
        lambda row: _tip(ClockColumn.NEXT_DUE, row), sample="0000 ms", short_title="Next",
        is_number=True, yields=2, color=_muted)
    # fmt: on


class ClockTreeModel(ListTableModel[TreeRow]):
    """The rows that are not folded away, each below its parent."""

    @override
    def row_at(self, key: int) -> TreeRow | None:
        row = super().row_at(key)
        # A clock or member may have gone since the last refresh; the next one removes its row.
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
        self.model = ClockTreeModel(ClockColumn, theme, attrgetter("node"))
        view = _ClockTable(self.model, "Clocks", bridge.panel_choices)
        super().__init__(view, theme, parent, filter_hint="Filter clocks")
        self._bridge = bridge
        self._session: Session | None = None
        self._known: Known | None = None
        self._words: tuple[str, ...] = ()
        self._found_count = 0
        # Nodes that the user has folded or unfolded; by default clocks are open, members folded.
        self._turned: set[int] = set()
        self._pointed = 0
        self.previewer = Previewer(bridge, self)
        self.lay_out()
        self._throttle = ThrottledRefresh(self, bridge.refresh_timer, self.refresh)
        self._connect()
        self.set_session(bridge.session)

    def _connect(self) -> None:
        bridge, view = self._bridge, self.view
        self._throttle.follow()
        bridge.playhead_changed.connect(self._throttle.request)
        bridge.session_changed.connect(self.set_session)
        bridge.selection_changed.connect(self.on_selection_changed)
        bridge.pointed_changed.connect(self._on_pointed_changed)
        self._theme.changed.connect(self._refresh_rows)
        RowPointing(view).pointed.connect(self._point_at_row)
        view.selectionModel().currentRowChanged.connect(self._select_row)
        for key in ENTER:
            view.on(key, self._toggle_pause)
        view.on(Qt.Key.Key_F2, self._ask_for_rate)
        view.on(Qt.Key.Key_Left, partial(self._fold_current, is_open=False))
        view.on(Qt.Key.Key_Right, partial(self._fold_current, is_open=True))

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
            self._refresh_rows()
        elif self._known is None:
            self._known = Known(timeline, self._theme.color(ColorRole.MUTED))
            self._refresh_rows()
        elif self._known.set_timeline(timeline):
            self._refresh_rows()
        self.view.repaint_changes()
        self.update_counts()

    @Slot()
    def _refresh_rows(self) -> None:
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
        self._refresh_rows()

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
        return f"The filter hides {counted(len(timeline.clocks), 'clock')} and everything on them."

    @override
    def activate(self, index: QModelIndex) -> None:
        row = self.model.row_at(index.row())
        if row is not None and row.is_open is not None and not self._words:
            self._turned ^= {row.node}
            self._refresh_rows()

    def _fold_current(self, *, is_open: bool) -> None:
        index = self.view.currentIndex()
        row = self.model.row_at(index.row())
        if row is not None and row.is_open is not is_open:
            self.activate(index)

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
                self._refresh_rows()
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
    def _on_pointed_changed(self, thing: Selection) -> None:
        self._pointed = self._node_of(thing)
        self._tint_pointed()

    def _tint_pointed(self) -> None:
        self.view.set_pointed(self.model.row_of(self._pointed) if self._pointed else None)

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
