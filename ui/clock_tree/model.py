"""The clock tree as a Qt item model: names and structure kept, values read when painted."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QFont
from typing_extensions import override

from inspector.clocks.rate import rate_numerator
from inspector.commands.clocks import PauseClock, ResumeClock
from inspector.commands.members import PauseMember, ResumeMember, SetTimeScale
from inspector.display_text import one_line
from inspector.events.members import PAUSABLE
from inspector.vocabulary import RATE_DENOMINATOR, Field

from ..kit.guards import guarded
from ..kit.table import roles
from ..kit.table.cells import EMPTY, Cell
from ..kit.texts.member_cells import LIVELY, MemberCells, is_member, member_of, node_of
from ..kit.texts.member_texts import member_standing
from ..kit.texts.standing import Standing
from ..previews.selected import rate_command
from .briefs import briefs
from .clock_cells import ClockCells
from .clock_filter import matching_nodes, with_ancestors
from .clock_shape import TOP, ClockShape
from .columns import (
    ALIGNMENTS,
    HEADER,
    LIVE_COLUMNS,
    NUMBER_COLUMNS,
    SPANNED,
    ClockColumn,
    number_tip,
)
from .shaped_model import ShapedModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.events.members import MemberState
    from inspector.events.states import ClockState
    from inspector.events.timeline import Timeline


# Combining flags costs more than the rest of a cell, and they are asked for with every cell.
_USUAL_FLAGS: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_FLAGS: Final = {
    int(ClockColumn.NAME): _USUAL_FLAGS | Qt.ItemFlag.ItemIsUserCheckable,
    int(ClockColumn.RATE): _USUAL_FLAGS | Qt.ItemFlag.ItemIsEditable,
}


_NO_CELLS: Final = (EMPTY,) * len(ClockColumn)
_NAMED_COLUMNS: Final = [(column.name, ALIGNMENTS[column]) for column in ClockColumn]


@guarded
class ClockTreeModel(ShapedModel):
    """Clocks by branch, filtered by name; editing asks for commands, it changes nothing.

    Signals:
        command_requested: A command that an edit stands for.
        edit_refused: Why the text that was typed is not a rate.
    """

    command_requested = Signal(object)  # Command
    edit_refused = Signal(str)

    def __init__(self, timeline: Timeline | None = None) -> None:
        super().__init__(len(ClockColumn))
        self._timeline = timeline
        self._opened: set[int] = set()
        self._clock_cells = ClockCells()
        self._cells = MemberCells()
        self._filter_words: tuple[str, ...] = ()
        self._matches: frozenset[int] | None = None
        self._structure_version = self._mapping_version = self._members_version = -1
        self._was_running = False
        # What rows of clocks say that does not change with time alone.
        self._still_rows: dict[int, list[Cell]] = {}
        self._muted_color = QColor(Qt.GlobalColor.gray)
        self._bold = QFont()
        self._bold.setBold(True)
        self.refresh()

    # ------------------------------------------------------------------ what is shown

    @property
    def timeline(self) -> Timeline | None:
        """The timeline that is shown."""
        return self._timeline

    def set_timeline(self, timeline: Timeline | None) -> None:
        """Show another timeline."""
        self._timeline = timeline
        self._structure_version = self._mapping_version = self._members_version = -1
        self._clock_cells.forget()
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
        """Show only clocks whose name contains every word, and their ancestors."""
        words = tuple(text.casefold().split())
        if words != self._filter_words:
            self._filter_words = words
            self._still_rows.clear()
            self.show_shape(self._wanted_shape())

    def set_muted_color(self, color: QColor) -> None:
        """Use ``color`` for what stands still and for ancestors of matches."""
        self._muted_color = color
        self._still_rows.clear()

    @property
    def shown_count(self) -> int:
        """The number of clocks that pass the filter or have a descendant that does."""
        return len(self._shape.parent)

    @property
    def match_count(self) -> int:
        """The number of clocks that pass the filter."""
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
            self._clock_cells.forget_standings()
            self._still_rows.clear()
        self._clock_cells.take_instant(timeline)
        return has_other_rows

    def row_cells(self, key: int) -> Sequence[Cell]:
        """Return what is painted of a row; of a clock, only what changes with time is read."""
        timeline = self._timeline
        if timeline is not None and is_member(key):
            member = timeline.members.by_id.get(member_of(key))
            if member is not None:
                return self._member_row(member, timeline)
        elif timeline is not None and key in timeline.clocks:
            return self._clock_row(timeline.clocks[key], timeline)
        # Removed since the last refresh; the row goes with the next one.
        return _NO_CELLS

    def _clock_row(self, clock: ClockState, timeline: Timeline) -> list[Cell]:
        row = self._still_rows.get(clock.id)
        if row is None:
            row = [self._clock_cell(clock, column, timeline) for column in ClockColumn]
            self._still_rows[clock.id] = row
            return row
        row = row.copy()
        for column in LIVE_COLUMNS:
            row[column] = self._clock_cell(clock, column, timeline)
        return row

    def _clock_cell(self, clock: ClockState, column: ClockColumn, timeline: Timeline) -> Cell:
        text = one_line(self._clock_cells.text(clock, column, timeline))
        color = self._color(clock.id, column, timeline)
        if column == ClockColumn.NAME:
            kind = self._clock_cells.standing(clock.id, timeline).kind
            return Cell(text, ALIGNMENTS[column], color, self._is_match(clock.id), kind)
        if column == ClockColumn.STATE:
            standing = self._clock_cells.standing(clock.id, timeline)
            return Cell(text, ALIGNMENTS[column], color, mark=roles.gap(), shorter=briefs(standing))
        return Cell(text, ALIGNMENTS[column], color)

    def _member_row(self, member: MemberState, timeline: Timeline) -> list[Cell]:
        standing, node = member_standing(timeline, member), node_of(member.id)
        color = None if standing.kind in LIVELY else self._muted_color
        row = [
            Cell(one_line(self._cells.text(member, name, timeline)), alignment, color)
            for name, alignment in _NAMED_COLUMNS
        ]
        spans = 0 if Field.TIME in member.fields or Field.RATE in member.fields else SPANNED
        is_above = self._matches is not None and node not in self._matches
        row[ClockColumn.NAME] = row[ClockColumn.NAME]._replace(
            color=self._muted_color if is_above else None,
            is_bold=self._is_match(node),
            mark=standing.kind,
            spans=spans,
        )
        row[ClockColumn.STATE] = row[ClockColumn.STATE]._replace(
            mark=roles.gap(), shorter=briefs(standing)
        )
        return row

    def _is_match(self, node: int) -> bool:
        return self._matches is not None and node in self._matches

    def clock_id(self, index: QModelIndex | QPersistentModelIndex) -> int:
        """Return the clock of an index, 0 when it is that of something else."""
        node = self.node(index)
        return 0 if is_member(node) else node

    def member_id(self, index: QModelIndex | QPersistentModelIndex) -> int:
        """Return the member of an index, 0 when it is that of something else."""
        node = self.node(index)
        return member_of(node) if is_member(node) else 0

    def member(self, index: QModelIndex | QPersistentModelIndex) -> MemberState | None:
        """Return what is known of the member of an index, ``None`` for something else."""
        number = self.member_id(index)
        timeline = self._timeline
        return None if timeline is None or not number else timeline.members.by_id.get(number)

    def standing(self, clock_id: int) -> Standing:
        """Return what a clock does now, and why."""
        assert self._timeline is not None
        return self._clock_cells.standing(clock_id, self._timeline)

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
        """Show no longer what is below any member."""
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
        return HEADER.data(section, orientation, role)

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
    def data(  # noqa: PLR0911 - one question a role
        self, index: QModelIndex | QPersistentModelIndex, role: int = roles.DISPLAY
    ) -> object:
        if role == roles.BACKGROUND:
            # Asked for with every cell that is painted.
            return None
        clock_id = self.node(index)
        timeline = self._timeline
        if timeline is not None and is_member(clock_id):
            return self._member_data(member_of(clock_id), index.column(), role, timeline)
        clock = timeline.clocks.get(clock_id) if timeline is not None else None
        if clock is None or timeline is None:
            # Removed since the last refresh; its row goes with the next one.
            return None
        column = index.column()
        if role == roles.DISPLAY:
            return self._clock_cells.data(clock, column, role, timeline)
        if role == roles.ALIGNMENT:
            return ALIGNMENTS[column]
        if role == roles.DECORATION:
            return roles.gap() if column == ClockColumn.STATE else None
        if role == roles.FOREGROUND:
            return self._color(clock_id, column, timeline)
        if role == roles.FONT:
            return self._bold if column == ClockColumn.NAME and self._is_match(clock_id) else None
        said = self._clock_cells.data(clock, column, role, timeline)
        if said is None and role == roles.TOOL_TIP:
            text = self._clock_cells.data(clock, column, roles.DISPLAY, timeline)
            return number_tip(column, str(text))
        return said

    def _color(self, clock_id: int, column: int, timeline: Timeline) -> QColor | None:
        if column == ClockColumn.NAME:
            is_only_ancestor = self._matches is not None and clock_id not in self._matches
            return self._muted_color if is_only_ancestor else None
        if column in (ClockColumn.LOCAL_TIME, ClockColumn.EFFECTIVE_RATE, ClockColumn.NEXT_DUE):
            runs = self._clock_cells.is_lively(clock_id, timeline)
            return None if runs else self._muted_color
        return None

    def _member_data(  # noqa: PLR0911 - one question a role
        self, number: int, column: int, role: int, timeline: Timeline
    ) -> object:
        member = timeline.members.by_id.get(number)
        if member is None:
            return None
        if role == roles.ALIGNMENT:
            return ALIGNMENTS[column]
        if role == roles.DECORATION:
            return roles.gap() if column == ClockColumn.STATE else None
        if role == roles.FONT:
            is_match = column == ClockColumn.NAME and self._is_match(node_of(number))
            return self._bold if is_match else None
        if role == roles.FOREGROUND:
            if column == ClockColumn.NAME:
                is_above = self._matches is not None and node_of(number) not in self._matches
                return self._muted_color if is_above else None
            return None if self._cells.is_lively(member, timeline) else self._muted_color
        name = ClockColumn(column).name
        if role == roles.TOOL_TIP and column in NUMBER_COLUMNS:
            return number_tip(column, str(self._cells.data(member, name, roles.DISPLAY, timeline)))
        return self._cells.data(member, name, role, timeline)

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
            is_paused = self._timeline.clocks[clock_id].paused
            command = ResumeClock(clock_id) if is_paused else PauseClock(clock_id)
            self.command_requested.emit(command)
        elif role == roles.EDIT and index.column() == ClockColumn.RATE:
            self._ask_for_rate(clock_id, str(value))
        return False

    def _ask_for_member(self, number: int, column: int, value: object, role: int) -> None:
        """Ask for the command that an edit of a member's cell stands for."""
        timeline = self._timeline
        member = None if timeline is None else timeline.members.by_id.get(number)
        if member is None:
            return
        if role == roles.CHECK_STATE and column == ClockColumn.NAME and member.kind in PAUSABLE:
            is_paused = self._cells.is_paused(member)
            self.command_requested.emit(ResumeMember(number) if is_paused else PauseMember(number))
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
        """Return the rate that was typed, or say why it is none."""
        try:
            return Fraction(rate_numerator(text), RATE_DENOMINATOR)
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
            self._matches = matching_nodes(timeline, self._filter_words)
            kept = with_ancestors(timeline, self._matches)
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
        return [node_of(number) for number in self._cells.order(member_of(node), timeline)]
