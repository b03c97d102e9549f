"""The clock tree as a Qt item model: names and structure kept, values read when painted."""

from __future__ import annotations

from enum import IntEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QFont
from typing_extensions import override

from inspector.clocks.rate import rate_numerator
from inspector.sessions.commands import PauseClock, ResumeClock, SetRate
from inspector.timebase import format_duration, format_instant
from inspector.vocabulary import NEVER, RATE_DENOMINATOR, rate_text

from . import roles
from .clock_shape import TOP, ClockShape, gone_runs, is_reordered
from .clock_texts import fraction_text, next_dues, path_text, rate_algebra
from .roles import Role
from .standing import Standing, StandingKind, standing_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inspector.trace.states import ClockState
    from inspector.trace.timeline import Timeline

#: More changed runs of rows than this in one turn, and a reset is cheaper.
_MAX_RUNS: Final = 48


class ClockColumn(IntEnum):
    """The columns of the clock tree."""

    NAME = 0
    LOCAL_TIME = 1
    RATE = 2
    STATE = 3
    EFFECTIVE_RATE = 4
    PENDING = 5
    NEXT_DUE = 6


_HEADERS: Final = {
    ClockColumn.NAME: ("Clock", "Click the sign in front of a clock to pause or resume it"),
    ClockColumn.LOCAL_TIME: ("Local (m:s)", "What time it is on this clock"),
    ClockColumn.RATE: (
        "Rate (×)",
        "Local seconds per second of the parent; double-click or F2 to change it",
    ),
    ClockColumn.STATE: ("State", "Running, or who stopped it and since when"),
    ClockColumn.EFFECTIVE_RATE: (
        "Effective (×)",
        "Local seconds per session second: all rates up to the root multiplied, 0 if one is paused",
    ),
    ClockColumn.PENDING: ("Timers", "Pending timers of this clock itself"),
    ClockColumn.NEXT_DUE: ("Next due in", "Session time until the next timer of this clock fires"),
}

#: Columns whose text changes while nothing but time passes.
LIVE_COLUMNS: Final = (ClockColumn.LOCAL_TIME, ClockColumn.NEXT_DUE)

_COLUMN_COUNT: Final = len(ClockColumn)
# Combining flags costs more than the rest of a cell, and they are asked for with every cell.
_USUAL_FLAGS: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_FLAGS: Final = {
    int(ClockColumn.NAME): _USUAL_FLAGS | Qt.ItemFlag.ItemIsUserCheckable,
    int(ClockColumn.RATE): _USUAL_FLAGS | Qt.ItemFlag.ItemIsEditable,
}


class ClockTreeModel(QAbstractItemModel):
    """Clocks by branch, filtered by name; editing asks for commands, it changes nothing.

    Signals:
        command_requested: A command that an edit stands for.
        edit_refused: Why the text that was typed is not a rate.
    """

    command_requested = Signal(object)  # Command
    edit_refused = Signal(str)

    def __init__(self, timeline: Timeline | None = None) -> None:
        super().__init__()
        self._timeline = timeline
        self._shape = ClockShape()
        self._filter_words: tuple[str, ...] = ()
        self._matches: frozenset[int] | None = None
        self._standings: dict[int, Standing] = {}
        self._next_due: NDArray[np.int64] | None = None
        self._at_ns = 0
        self._structure_version = self._mapping_version = self._timers_version = -1
        self._was_running = False
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
        self._structure_version = self._mapping_version = self._timers_version = -1
        self._standings.clear()
        self.beginResetModel()
        self._shape = self._wanted_shape()
        self.endResetModel()
        self.refresh()

    def set_filter(self, text: str) -> None:
        """Show only clocks whose name contains every word, and their ancestors."""
        words = tuple(text.casefold().split())
        if words != self._filter_words:
            self._filter_words = words
            self._show(self._wanted_shape())

    def set_muted_color(self, color: QColor) -> None:
        """Use ``color`` for what stands still and for ancestors of matches."""
        self._muted_color = color

    @property
    def shown_count(self) -> int:
        """The number of clocks that pass the filter or have a descendant that does."""
        return len(self._shape.parent)

    @property
    def match_count(self) -> int:
        """The number of clocks that pass the filter."""
        return len(self._shape.parent) if self._matches is None else len(self._matches)

    def refresh(self) -> tuple[ClockColumn, ...]:
        """Take what is new in the timeline.

        Rows come and go with the usual signals; changed texts make no signal.

        Returns:
            The columns whose text may have changed, to be painted again.
        """
        timeline = self._timeline
        if timeline is None:
            return ()
        columns: tuple[ClockColumn, ...] = LIVE_COLUMNS
        if timeline.structure_version != self._structure_version:
            self._structure_version = timeline.structure_version
            self._show(self._wanted_shape())
            columns = tuple(ClockColumn)
        if (
            timeline.mapping_version != self._mapping_version
            or timeline.is_running != self._was_running
        ):
            self._mapping_version = timeline.mapping_version
            self._was_running = timeline.is_running
            self._standings.clear()
            columns = tuple(ClockColumn)
        if timeline.timers_version != self._timers_version:
            self._timers_version = timeline.timers_version
            columns = (*columns, ClockColumn.PENDING)
        self._next_due = None
        self._at_ns = timeline.at_ns
        return columns

    def index_of(self, clock_id: int, column: ClockColumn = ClockColumn.NAME) -> QModelIndex:
        """Return where a clock is shown, an invalid index when it is not."""
        row = self._shape.row.get(clock_id)
        return QModelIndex() if row is None else self.createIndex(row, column, clock_id)

    def clock_id(self, index: QModelIndex | QPersistentModelIndex) -> int:
        """Return the clock of an index, 0 for an invalid one."""
        return index.internalId() if index.isValid() else 0

    def shown_below(self, clock_id: int) -> list[int]:
        """Return the clocks that are shown directly below one; 0 for the topmost."""
        return self._shape.children.get(clock_id, [])

    def shown_branch(self, clock_id: int) -> list[int]:
        """Return all clocks shown in a branch, its own first; 0 for the whole tree."""
        branch = [clock_id] if clock_id else []
        pending = list(reversed(self.shown_below(clock_id)))
        while pending:
            branch.append(pending.pop())
            pending += reversed(self._shape.children[branch[-1]])
        return branch

    def standing(self, clock_id: int) -> Standing:
        """Return what a clock does now, and why."""
        standing = self._standings.get(clock_id)
        if standing is None:
            assert self._timeline is not None
            standing = self._standings[clock_id] = standing_of(self._timeline, clock_id)
        return standing

    # ------------------------------------------------------------------ Qt

    @override
    def index(
        self,
        row: int,
        column: int,
        parent: QModelIndex | QPersistentModelIndex = QModelIndex(),
    ) -> QModelIndex:
        if parent.isValid() and parent.column() != 0:
            return QModelIndex()
        below = self._shape.children.get(self.clock_id(parent), [])
        if not (0 <= row < len(below) and 0 <= column < len(ClockColumn)):
            return QModelIndex()
        return self.createIndex(row, column, below[row])

    @override
    def parent(  # type: ignore[override]  # also names QObject.parent()
        self, index: QModelIndex | QPersistentModelIndex = QModelIndex()
    ) -> QModelIndex:
        shape = self._shape
        parent_id = shape.parent.get(self.clock_id(index), TOP)
        if parent_id == TOP:
            return QModelIndex()
        return self.createIndex(shape.row[parent_id], 0, parent_id)

    @override
    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        if parent.column() > 0:
            return 0
        return len(self._shape.children.get(self.clock_id(parent), ()))

    @override
    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        return _COLUMN_COUNT

    @override
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = roles.DISPLAY
    ) -> object:
        if orientation == Qt.Orientation.Vertical or not 0 <= section < len(ClockColumn):
            return None
        column = ClockColumn(section)
        if role == roles.DISPLAY:
            return _HEADERS[column][0]
        if role == roles.TOOL_TIP:
            return _HEADERS[column][1]
        if role == roles.ALIGNMENT:
            return _ALIGNMENTS[section]
        if role == roles.DECORATION and column == ClockColumn.STATE:
            return roles.gap()
        return None

    @override
    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return _FLAGS.get(index.column(), _USUAL_FLAGS)

    @override
    def data(  # noqa: C901, PLR0911 - one question a role
        self, index: QModelIndex | QPersistentModelIndex, role: int = roles.DISPLAY
    ) -> object:
        if role == roles.BACKGROUND:
            # Asked for with every cell that is painted.
            return None
        clock_id = self.clock_id(index)
        timeline = self._timeline
        clock = timeline.clocks.get(clock_id) if timeline is not None else None
        if clock is None or timeline is None:
            # Removed since the last refresh; its row goes with the next one.
            return None
        column = index.column()
        if role == roles.DISPLAY:
            return self._text(clock, column, timeline)
        if role == roles.ALIGNMENT:
            return _ALIGNMENTS[column]
        if role == roles.DECORATION:
            return roles.gap() if column == ClockColumn.STATE else None
        if role == roles.FOREGROUND:
            return self._color(clock_id, column)
        if role == roles.FONT:
            is_match = self._matches is not None and column == ClockColumn.NAME
            return self._bold if is_match and clock_id in (self._matches or ()) else None
        if role == roles.EDIT:
            return self._edited_text(clock, column, timeline)
        if role == roles.TOOL_TIP:
            return self._tool_tip(clock, column, timeline)
        if role == roles.CHECK_STATE and column == ClockColumn.NAME:
            return Qt.CheckState.Unchecked if clock.paused else Qt.CheckState.Checked
        if role == roles.ACCESSIBLE_TEXT:
            return f"{_HEADERS[ClockColumn(column)][0]}: {self._text(clock, column, timeline)}"
        return self._raw(clock, column, role, timeline)

    @override
    def setData(
        self,
        index: QModelIndex | QPersistentModelIndex,
        value: object,
        role: int = roles.EDIT,
    ) -> bool:
        """Ask for a command; the cell changes when its event comes back, not before."""
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

    # ------------------------------------------------------------------ cells

    def _text(self, clock: ClockState, column: int, timeline: Timeline) -> str:  # noqa: PLR0911
        match column:
            case ClockColumn.NAME:
                return clock.name
            case ClockColumn.LOCAL_TIME:
                return format_instant(self._local_ns(clock.id, timeline))
            case ClockColumn.RATE:
                return rate_text(clock.rate_n)
            case ClockColumn.EFFECTIVE_RATE:
                return fraction_text(timeline.effective_rate(clock.id))
            case ClockColumn.STATE:
                return self.standing(clock.id).text
            case ClockColumn.PENDING:
                return str(clock.pending) if clock.pending else ""
            case ClockColumn.NEXT_DUE:
                return self._next_due_text(clock, timeline)
            case _:
                return ""

    def _next_due_text(self, clock: ClockState, timeline: Timeline) -> str:
        if not clock.pending:
            return ""
        due_ns = self._next_due_ns(clock.id, timeline)
        if due_ns == NEVER:
            return "waiting"
        return format_duration(max(0, due_ns - self._at_ns))

    def _local_ns(self, clock_id: int, timeline: Timeline) -> int:
        """Return the local time at the last refresh, so that all rows show one instant."""
        if timeline.mapping_version != self._mapping_version:
            return timeline.local_ns(clock_id)
        return timeline.local_ns(clock_id, self._at_ns)

    def _next_due_ns(self, clock_id: int, timeline: Timeline) -> int:
        if self._next_due is None:
            self._next_due = next_dues(timeline)
        return int(self._next_due[clock_id]) if clock_id < self._next_due.size else NEVER

    def _edited_text(self, clock: ClockState, column: int, timeline: Timeline) -> str:
        if column == ClockColumn.RATE:
            return rate_text(clock.rate_n)
        return self._text(clock, column, timeline)

    def _color(self, clock_id: int, column: int) -> QColor | None:
        if column == ClockColumn.NAME:
            is_only_ancestor = self._matches is not None and clock_id not in self._matches
            return self._muted_color if is_only_ancestor else None
        if column in (ClockColumn.LOCAL_TIME, ClockColumn.EFFECTIVE_RATE, ClockColumn.NEXT_DUE):
            runs = self.standing(clock_id).kind in (StandingKind.RUNNING, StandingKind.HELD)
            return None if runs else self._muted_color
        return None

    def _tool_tip(self, clock: ClockState, column: int, timeline: Timeline) -> str | None:
        match column:
            case ClockColumn.NAME:
                return f"{path_text(timeline, clock.id)}\n{self.standing(clock.id).text}"
            case ClockColumn.LOCAL_TIME:
                return f"{self._local_ns(clock.id, timeline):,} ns"
            case ClockColumn.EFFECTIVE_RATE:
                return rate_algebra(timeline, clock.id)
            case ClockColumn.STATE:
                return self.standing(clock.id).text
            case _:
                return None

    def _raw(  # noqa: C901, PLR0911 - one line a column
        self, clock: ClockState, column: int, role: int, timeline: Timeline
    ) -> object:
        if role == Role.ID:
            return clock.id
        if role == Role.STANDING:
            return self.standing(clock.id)
        if role != Role.RAW:
            return None
        match column:
            case ClockColumn.NAME:
                return clock.name
            case ClockColumn.LOCAL_TIME:
                return self._local_ns(clock.id, timeline)
            case ClockColumn.RATE:
                return Fraction(clock.rate_n, RATE_DENOMINATOR)
            case ClockColumn.EFFECTIVE_RATE:
                return timeline.effective_rate(clock.id)
            case ClockColumn.STATE:
                return self.standing(clock.id).kind
            case ClockColumn.PENDING:
                return clock.pending
            case ClockColumn.NEXT_DUE:
                return self._next_due_ns(clock.id, timeline)
            case _:
                return None

    def _ask_for_rate(self, clock_id: int, text: str) -> None:
        try:
            rate = Fraction(rate_numerator(text), RATE_DENOMINATOR)
        except ValueError as error:
            self.edit_refused.emit(str(error))
            return
        assert self._timeline is not None
        if rate != Fraction(self._timeline.clocks[clock_id].rate_n, RATE_DENOMINATOR):
            self.command_requested.emit(SetRate(clock_id, rate))

    # ------------------------------------------------------------------ structure

    def _wanted_shape(self) -> ClockShape:
        shape = ClockShape()
        timeline = self._timeline
        self._matches = None
        if timeline is None or timeline.root_id is None:
            return shape
        clocks = timeline.clocks
        kept: set[int] | None = None
        if self._filter_words:
            self._matches = frozenset(
                clock.id
                for clock in clocks.values()
                if all(word in clock.name.casefold() for word in self._filter_words)
            )
            kept = set()
            for clock_id in self._matches:
                above = clock_id
                while above and above not in kept:
                    kept.add(above)
                    above = clocks[above].parent_id
        pending = [(TOP, [timeline.root_id])]
        while pending:
            parent_id, below = pending.pop()
            if kept is not None:
                below = [clock_id for clock_id in below if clock_id in kept]
            shape.add(parent_id, below)
            pending += [(each, clocks[each].children) for each in below if clocks[each].children]
        return shape

    def _show(self, wanted: ClockShape) -> None:
        """Change the rows to ``wanted``, by a few signals or by one reset."""
        changed = [
            parent
            for parent, below in self._shape.children.items()
            if parent in wanted.children and below != wanted.children[parent]
        ]
        if not changed:
            return
        removals = [(each, gone_runs(self._shape, wanted, each)) for each in changed]
        additions = sum(
            len(set(wanted.children[each]).difference(self._shape.children[each]))
            for each in changed
        )
        if sum(len(runs) for _, runs in removals) + additions > _MAX_RUNS or any(
            is_reordered(self._shape.children[each], wanted.children[each]) for each in changed
        ):
            self.beginResetModel()
            self._shape = wanted
            self.endResetModel()
            return
        for parent, runs in removals:
            self._remove_runs(parent, runs)
        for parent in self._topmost_first(changed):
            self._insert_missing(parent, wanted)

    def _remove_runs(self, parent: int, runs: list[tuple[int, int]]) -> None:
        if parent != TOP and parent not in self._shape.parent:
            return  # went with a branch above it
        for start, stop in reversed(runs):
            self.beginRemoveRows(self.index_of(parent), start, stop - 1)
            self._shape.remove_branches(parent, start, stop)
            self.endRemoveRows()

    def _insert_missing(self, parent: int, wanted: ClockShape) -> None:
        goal = wanted.children[parent]
        row = 0
        while row < len(goal):
            shown = self._shape.children[parent]
            if row < len(shown) and shown[row] == goal[row]:
                row += 1
                continue
            following = shown[row] if row < len(shown) else None
            stop = goal.index(following, row) if following is not None else len(goal)
            self.beginInsertRows(self.index_of(parent), row, stop - 1)
            self._shape.insert_branch(parent, row, goal[row:stop], wanted)
            self.endInsertRows()
            row = stop

    def _topmost_first(self, clock_ids: list[int]) -> list[int]:
        """Return those still shown, each before what is below it."""

        def depth(clock_id: int) -> int:
            steps = 0
            while clock_id != TOP:
                clock_id = self._shape.parent[clock_id]
                steps += 1
            return steps

        shown = [each for each in clock_ids if each == TOP or each in self._shape.parent]
        return sorted(shown, key=depth)


_ALIGNMENTS: Final = tuple(
    roles.LEFT if column in (ClockColumn.NAME, ClockColumn.STATE) else roles.RIGHT
    for column in ClockColumn
)
