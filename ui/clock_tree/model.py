"""The clock tree as a Qt item model: names and structure kept, values read when painted."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from typing_extensions import override

from inspector.clocks.rate import parse_rate
from inspector.commands.members import SetTimeScale
from inspector.events.members import PAUSABLE, MemberState
from inspector.events.timeline import Timeline
from inspector.vocabulary import RATE_DENOMINATOR, Field

from ..kit.guards import guarded
from ..kit.table import roles
from ..kit.table.cell_painting import Cell
from ..kit.table.columns import ColumnEnum
from ..kit.table.models import ColumnCells
from ..kit.texts.member_texts import member_run_state
from ..kit.texts.run_states import briefs
from ..kit.theme import ColorRole, Theme
from ..previews.selected import clock_toggle, member_toggle, rate_command
from .rows import (
    LIVE_COLUMNS,
    SPANNED,
    ClockColumn,
    Known,
    TreeRow,
    is_member,
    member_of,
    node_of,
    order_below,
)
from .shaped_model import TOP, ClockShape, ShapedModel

# Combining flags costs more than the rest of a cell, and they are asked for with every cell.
_USUAL_FLAGS: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_FLAGS: Final = {
    int(ClockColumn.NAME): _USUAL_FLAGS | Qt.ItemFlag.ItemIsUserCheckable,
    int(ClockColumn.RATE): _USUAL_FLAGS | Qt.ItemFlag.ItemIsEditable,
}


@guarded
class ClockTreeModel(ColumnCells[TreeRow], ShapedModel):
    """Clocks by branch, filtered by name; editing asks for commands, it changes nothing.

    Signals:
        command_requested: A command that an edit stands for.
        edit_refused: Why the text that was typed is not a rate.
    """

    command_requested = Signal(object)  # Command
    edit_refused = Signal(str)

    def __init__(self, theme: Theme, timeline: Timeline | None = None) -> None:
        super().__init__(len(ClockColumn))
        self.use_columns(ClockColumn, theme)
        self._timeline = timeline
        self._opened: set[int] = set()
        self._known = Known()
        self._filter_words: tuple[str, ...] = ()
        self._matches: frozenset[int] | None = None
        self._structure_version = self._mapping_version = self._members_version = -1
        self._was_running = False
        # What rows of clocks say that does not change with time alone.
        self._still_rows: dict[int, list[Cell]] = {}
        self.refresh()

    # ------------------------------------------------------------------ what is shown

    @property
    def timeline(self) -> Timeline | None:
        return self._timeline

    def set_timeline(self, timeline: Timeline | None) -> None:
        self._timeline = timeline
        self._structure_version = self._mapping_version = self._members_version = -1
        self._known.forget()
        self._opened.clear()
        self.show_anew(self._wanted_shape())
        self.refresh()

    def switch_timeline(self, timeline: Timeline) -> bool:
        """Show another state of the same log: rows that are in both stay.

        What has the same version in both is the same: they are folds of the same events.

        Returns:
            Whether rows have come or gone.
        """
        self._timeline = timeline
        return self.refresh()

    def set_filter(self, text: str) -> None:
        words = tuple(text.casefold().split())
        if words != self._filter_words:
            self._filter_words = words
            self._still_rows.clear()
            self.show_shape(self._wanted_shape())

    @override
    def forget_colors(self) -> None:
        super().forget_colors()
        self._still_rows.clear()

    @property
    def shown_count(self) -> int:
        """The number of clocks that pass the filter or have a descendant that does."""
        return len(self._shape.parent)

    @property
    def match_count(self) -> int:
        return len(self._shape.parent) if self._matches is None else len(self._matches)

    def refresh(self) -> bool:
        """Take what is new in the timeline.

        Rows come and go with the usual signals; changed texts make no signal.

        Returns:
            Whether rows have come or gone.
        """
        timeline = self._timeline
        if timeline is None:
            return False
        versions = timeline.structure_version, timeline.members.structure_version
        has_other_rows = versions != (self._structure_version, self._members_version)
        if has_other_rows:
            self._structure_version, self._members_version = versions
            self._still_rows.clear()
            self.show_shape(self._wanted_shape())
        if (
            timeline.mapping_version != self._mapping_version
            or timeline.is_running != self._was_running
        ):
            self._mapping_version = timeline.mapping_version
            self._was_running = timeline.is_running
            self._known.run_states.clear()
            self._still_rows.clear()
        self._known.take_instant(timeline)
        return has_other_rows

    # ------------------------------------------------------------------ cells

    @override
    def row_at(self, key: int) -> TreeRow | None:
        timeline, known = self._timeline, self._known
        if timeline is None:
            return None
        if is_member(key):
            member = timeline.members.by_id.get(member_of(key))
            if member is None:
                # Removed since the last refresh; the row goes with the next one.
                return None
            run_state = member_run_state(timeline, member)
            return TreeRow(key, None, member, run_state, timeline, known)
        clock = timeline.clocks.get(key)
        if clock is None:
            return None
        return TreeRow(key, clock, None, known.run_state(key, timeline), timeline, known)

    @override
    def show_order(self, order: Sequence[ColumnEnum]) -> tuple[set[ColumnEnum], set[ColumnEnum]]:
        self._still_rows.clear()
        return super().show_order(order)

    @override
    def row_cells(self, key: int) -> Sequence[Cell]:
        """Return what is painted of a row; of a clock, only what changes with time is read."""
        row = self.row_at(key)
        if row is None:
            return self._no_cells
        still = None if row.clock is None else self._still_rows.get(key)
        if still is not None:
            cells = still.copy()
            for column, cell in zip(LIVE_COLUMNS, self.cells(row, LIVE_COLUMNS), strict=True):
                cells[column] = cell
            return cells
        cells = self.cells(row, self.columns)
        name, state, run_state = ClockColumn.NAME, ClockColumn.STATE, row.run_state
        spans = 0 if row.has_numbers else SPANNED
        cells[name] = cells[name]._replace(tick=None, mark=run_state.kind, spans=spans)
        cells[state] = cells[state]._replace(shorter=briefs(run_state))
        if row.clock is not None:
            self._still_rows[key] = cells
        return cells

    @override
    def color_of(self, row: TreeRow, column: ColumnEnum) -> ColorRole | None:
        if column is ClockColumn.NAME:
            is_above = self._matches is not None and row.node not in self._matches
            return ColorRole.MUTED if is_above else None
        if row.member is not None:
            return None if row.run_state.kind.is_lively else ColorRole.MUTED
        return super().color_of(row, column)

    @override
    def is_bold(self, row: TreeRow, column: ColumnEnum) -> bool:
        is_name = column is ClockColumn.NAME
        return is_name and self._matches is not None and row.node in self._matches

    # ------------------------------------------------------------------ nodes

    def clock_id(self, index: QModelIndex | QPersistentModelIndex) -> int:
        """Return the clock of an index, 0 when it is that of something else."""
        node = self.node(index)
        return 0 if is_member(node) else node

    def member_id(self, index: QModelIndex | QPersistentModelIndex) -> int:
        """Return the member of an index, 0 when it is that of something else."""
        node = self.node(index)
        return member_of(node) if is_member(node) else 0

    def member(self, index: QModelIndex | QPersistentModelIndex) -> MemberState | None:
        number = self.member_id(index)
        timeline = self._timeline
        return None if timeline is None or not number else timeline.members.by_id.get(number)

    # ------------------------------------------------------------------ Qt

    @override
    def hasChildren(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> bool:
        if parent.column() > 0:
            return False
        node = self.node(parent)
        if is_member(node) and self._timeline is not None:
            member = self._timeline.members.by_id.get(member_of(node))
            return member is not None and bool(member.children)
        return bool(self.shown_below(node))

    @override
    def canFetchMore(self, parent: QModelIndex | QPersistentModelIndex) -> bool:
        node = self.node(parent)
        return is_member(node) and node not in self._opened and self.hasChildren(parent)

    @override
    def fetchMore(self, parent: QModelIndex | QPersistentModelIndex) -> None:
        """Show what is below a member; until it is asked for, it costs nothing."""
        # May be called where there is nothing to fetch, also in the middle of a change.
        if self.canFetchMore(parent):
            self._opened.add(self.node(parent))
            self.show_shape(self._wanted_shape())

    def reveal(self, member_id: int) -> None:
        """Show a member: open everything above it."""
        timeline = self._timeline
        if timeline is None or member_id not in timeline.members.by_id:
            return
        above = {node_of(member.id) for member in timeline.members.path(member_id)[1:]}
        if not above <= self._opened:
            self._opened |= above
            self.show_shape(self._wanted_shape())

    def close_members(self) -> None:
        self._opened.clear()
        self.show_shape(self._wanted_shape())

    def close_member(self, node: int) -> None:
        """Show what is below a member no longer, so that it costs nothing."""
        if node in self._opened:
            self._opened.discard(node)
            self.show_shape(self._wanted_shape())

    @override
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = roles.DISPLAY
    ) -> object:
        return self.title_data(section, orientation, role)

    @override
    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        flags = _FLAGS.get(index.column(), _USUAL_FLAGS)
        if flags is not _USUAL_FLAGS and (number := self.member_id(index)):
            return self._member_flags(number, index.column())
        return flags

    def _member_flags(self, number: int, column: int) -> Qt.ItemFlag:
        member = None if self._timeline is None else self._timeline.members.by_id.get(number)
        if member is None:
            return _USUAL_FLAGS
        is_name = column == ClockColumn.NAME
        can = member.kind in PAUSABLE if is_name else Field.RATE in member.fields
        return _FLAGS[column] if can else _USUAL_FLAGS

    @override
    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = roles.DISPLAY) -> object:
        if role == roles.BACKGROUND or not index.isValid():
            return None
        return self.cell_data(self.node(index), self.columns[index.column()], role)

    @override
    def setData(
        self,
        index: QModelIndex | QPersistentModelIndex,
        value: object,
        role: int = roles.EDIT,
    ) -> bool:
        """Ask for a command; the cell changes when its event comes back, not before."""
        if member_id := self.member_id(index):
            self._ask_for_member(member_id, index.column(), value, role)
            return False
        clock_id = self.clock_id(index)
        if self._timeline is None or clock_id not in self._timeline.clocks:
            return False
        if role == roles.CHECK_STATE and index.column() == ClockColumn.NAME:
            self.command_requested.emit(
                clock_toggle(self._timeline, self._timeline.clocks[clock_id])
            )
        elif role == roles.EDIT and index.column() == ClockColumn.RATE:
            self._ask_for_rate(clock_id, str(value))
        return False

    def _ask_for_member(self, number: int, column: int, value: object, role: int) -> None:
        timeline = self._timeline
        member = None if timeline is None else timeline.members.by_id.get(number)
        if member is None:
            return
        toggle = member_toggle(member)
        if role == roles.CHECK_STATE and column == ClockColumn.NAME and toggle is not None:
            self.command_requested.emit(toggle)
        elif role == roles.EDIT and column == ClockColumn.RATE and Field.RATE in member.fields:
            rate = self._read_rate(str(value))
            if rate is not None and rate != Fraction(member.fields[Field.RATE], RATE_DENOMINATOR):
                self.command_requested.emit(SetTimeScale(number, rate))

    # ------------------------------------------------------------------ asking

    def _ask_for_rate(self, clock_id: int, text: str) -> None:
        rate = self._read_rate(text)
        assert self._timeline is not None
        former = Fraction(self._timeline.clocks[clock_id].rate_n, RATE_DENOMINATOR)
        if rate is not None and rate != former:
            self.command_requested.emit(rate_command(clock_id, rate))

    def _read_rate(self, text: str) -> Fraction | None:
        try:
            return parse_rate(text)
        except ValueError as error:
            self.edit_refused.emit(str(error))
            return None

    # ------------------------------------------------------------------ structure

    def _wanted_shape(self) -> ClockShape:
        shape = ClockShape()
        timeline = self._timeline
        self._matches = None
        if timeline is None or timeline.root_id is None:
            return shape
        kept: set[int] | None = None
        if self._filter_words:
            self._matches = _matching_nodes(timeline, self._filter_words)
            kept = _with_ancestors(timeline, self._matches)
        pending = [(TOP, [timeline.root_id])]
        while pending:
            parent, below = pending.pop()
            if kept is not None:
                below = [node for node in below if node in kept]
            shape.add(parent, below)
            pending += [
                (node, following)
                for node in below
                if (following := self._below(node, timeline, is_whole=kept is not None))
            ]
        return shape

    def _below(self, node: int, timeline: Timeline, *, is_whole: bool) -> list[int]:
        """Return what hangs under a node; under a member only what was asked for."""
        members = timeline.members
        if not is_member(node):
            own = members.under_clock(node)
            clocks = timeline.clocks[node].children
            return [*clocks, *map(node_of, own)] if own else clocks
        if not is_whole and node not in self._opened:
            return []
        return [node_of(number) for number in order_below(timeline, member_of(node))]


def _matching_nodes(timeline: Timeline, words: Sequence[str]) -> frozenset[int]:
    """Return the nodes of clocks and members whose names contain every word."""

    def passes(name: str) -> bool:
        folded = name.casefold()
        return all(word in folded for word in words)

    found = {clock.id for clock in timeline.clocks.values() if passes(clock.name)}
    members = timeline.members
    shown = {number for clock_id in members.of_clock for number in members.under_clock(clock_id)}
    found.update(
        node_of(member.id)
        for member in members.by_id.values()
        if passes(member.name) and (member.parent_id or member.id in shown)
    )
    return frozenset(found)


def _with_ancestors(timeline: Timeline, nodes: frozenset[int]) -> set[int]:
    clocks, members = timeline.clocks, timeline.members.by_id
    kept: set[int] = set()
    for node in nodes:
        above = node
        while above and above not in kept:
            kept.add(above)
            if is_member(above):
                member = members[member_of(above)]
                above = node_of(member.parent_id) if member.parent_id else member.clock_id
            else:
                above = clocks[above].parent_id
    return kept
