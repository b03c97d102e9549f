"""The pending timers as a Qt table: any number of rows, of which the visible ones cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor
from typing_extensions import override

from inspector.clocks.rate import local_ns
from inspector.display_text import one_line
from inspector.vocabulary import NEVER, TimerKind

from ..kit.guards import guarded
from ..kit.table import roles
from ..kit.table.cells import EMPTY, Cell
from ..kit.table.header_row import HeaderRow, alignments
from ..kit.table.roles import Role
from ..kit.texts.timer_cells import (
    CONSTANT_COLUMNS,
    TIMER_HEADERS,
    TimerCells,
    TimerColumn,
    short_site,
    timer_cells,
)
from .ranked_table import RankedTableModel
from .string_tables import StringMatches, StringRanks
from .timer_order import WindowedOrder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from inspector.events.timeline import Timeline


_NUMBERS: Final = frozenset(TimerColumn) - CONSTANT_COLUMNS
_ALIGNED: Final = alignments(TimerColumn, _NUMBERS)
_HEADER: Final = HeaderRow(
    TIMER_HEADERS,
    # A right-aligned title would lie under the sort indicator.
    alignments(TimerColumn, _NUMBERS, number=roles.CENTER),
    apart=[TimerColumn.CALL_SITE],
)
#: Asked for with every cell that is painted, and never answered.
_UNANSWERED: Final = frozenset({roles.BACKGROUND, roles.CHECK_STATE, roles.FONT})
_NO_CELLS: Final = (EMPTY,) * len(TimerColumn)
#: Rows remembered between two refreshes; more are asked for by scrolling only.
_MOST_CELLS: Final = 5_000
#: Numeric columns and where the timeline keeps them.
_STORED: Final = {
    TimerColumn.KIND: "kind",
    TimerColumn.DUE_LOCAL: "due",
    TimerColumn.INTERVAL: "interval",
    TimerColumn.FIRED: "fired",
    TimerColumn.LATENESS: "lateness",
}


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How many timers there are and how many of them are seen.

    Attributes:
        pending: All that wait in the session.
        in_branch: Those on the clocks of the chosen branch.
        shown: Those of them that pass the filter.
        waiting: Those shown that cannot fire at present rates.
    """

    pending: int = 0
    in_branch: int = 0
    shown: int = 0
    waiting: int = 0


class _WordMatches:
    """Which labels and which call sites, as shown, contain one word of the filter."""

    def __init__(self, word: str) -> None:
        self.in_label = StringMatches(word)
        self.in_site = StringMatches(word, short_site)


@guarded
class TimerTableModel(RankedTableModel):
    """Pending timers, what fires next first."""

    def __init__(self, timeline: Timeline | None = None, strings: Sequence[str] = ("",)) -> None:
        """Show a timeline.

        Args:
            timeline: What is shown; ``None`` shows nothing.
            strings: The string table of its log; may grow meanwhile.
        """
        super().__init__(_HEADER)
        self._timeline = timeline
        self._strings = strings
        # As of the last refresh, so that whatever makes the view paint shows one instant.
        self._cells: dict[int, TimerCells | None] = {}
        self._branch_id: int | None = None
        self._filter_words: tuple[str, ...] = ()
        self._matches: list[_WordMatches] = []
        self._ranks = StringRanks()
        self._sort_column = TimerColumn.REMAINING
        self._is_descending = False
        self._versions = (-1, -1, -1)
        self._blockers = np.zeros(1, np.int64)
        self._stopped_locals = np.zeros(1, np.int64)
        self._blockers_versions = (-1, -1)
        self._counts = QueueCounts()
        self._muted_color = QColor(Qt.GlobalColor.gray)
        self.refresh()

    # ------------------------------------------------------------------ what is shown

    @property
    def timeline(self) -> Timeline | None:
        """The timeline that is shown."""
        return self._timeline

    @property
    def counts(self) -> QueueCounts:
        """How many timers there are, as of the last refresh."""
        return self._counts

    @property
    def branch_id(self) -> int | None:
        """The clock whose branch is shown, ``None`` for all."""
        return self._branch_id

    @property
    def sort_column(self) -> TimerColumn:
        """The column that decides the order."""
        return self._sort_column

    def set_timeline(self, timeline: Timeline | None, strings: Sequence[str]) -> None:
        """Show another timeline, with the string table of its log."""
        self.beginResetModel()
        self._timeline = timeline
        self._strings = strings
        self._branch_id = None
        self._ranks = StringRanks()
        self._matches = [_WordMatches(word) for word in self._filter_words]
        self._blockers_versions = (-1, -1)
        self._take_order()
        self._row_count = len(self._order)
        self.endResetModel()

    def set_branch(self, clock_id: int | None) -> None:
        """Show the timers of one clock and of all below it, or of all clocks."""
        if clock_id != self._branch_id:
            self._branch_id = clock_id
            self._take_everything()

    def set_filter(self, text: str) -> None:
        """Show timers of which every word is in the name, clock, kind or call site."""
        words = tuple(text.casefold().split())
        if words != self._filter_words:
            self._filter_words = words
            self._matches = [_WordMatches(word) for word in words]
            self._take_everything()

    def set_muted_color(self, color: QColor) -> None:
        """Use ``color`` for timers that cannot fire at present rates."""
        self._muted_color = color

    @override
    def refresh(self) -> None:
        timeline = self._timeline
        if timeline is None:
            return
        self._cells.clear()
        if _versions(timeline) != self._versions:
            self._take_everything()

    @override
    def row_cells(self, key: int) -> Sequence[Cell]:
        cells = self._cells_of(key)
        if cells is None:
            return _NO_CELLS
        color = self._muted_color if cells.session_due_ns is None else None
        row = [
            Cell(one_line(cells.text(column)), alignment, color)
            for column, alignment in enumerate(_ALIGNED)
        ]
        row[TimerColumn.CALL_SITE] = row[TimerColumn.CALL_SITE]._replace(mark=roles.gap())
        return row

    # ------------------------------------------------------------------ Qt

    @override
    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        if not 0 <= column < len(TimerColumn):
            column, order = TimerColumn.REMAINING, Qt.SortOrder.AscendingOrder
        self._sort_column = TimerColumn(column)
        self._is_descending = order == Qt.SortOrder.DescendingOrder
        self._take_everything()

    @override
    def data(  # noqa: C901, PLR0911 - one question a role
        self, index: QModelIndex | QPersistentModelIndex, role: int = roles.DISPLAY
    ) -> object:
        if role in _UNANSWERED:
            return None
        column = index.column()
        if role == roles.ALIGNMENT:
            return _ALIGNED[column]
        if role == roles.DECORATION:
            return roles.gap() if column == TimerColumn.CALL_SITE else None
        cells = self._cells_of(index.row()) if index.isValid() else None
        if cells is None:
            # Fired or cleared since the last refresh; its row goes with the next one.
            return None
        if role == roles.DISPLAY:
            return one_line(cells.text(column))
        if role == roles.EDIT:
            return cells.text(column)
        if role == roles.FOREGROUND:
            return self._muted_color if cells.session_due_ns is None else None
        if role == roles.TOOL_TIP:
            return cells.tool_tip(column)
        if role == Role.RAW:
            return cells.raw(column)
        if role == Role.ID:
            return cells.timer.id
        return None

    def _cells_of(self, row: int) -> TimerCells | None:
        timer_id = self.id_at(row)
        timeline = self._timeline
        if timer_id is None or timeline is None:
            return None
        if timer_id not in self._cells:
            if len(self._cells) > _MOST_CELLS:
                self._cells.clear()
            self._cells[timer_id] = timer_cells(timeline, timer_id)
        return self._cells[timer_id]

    # ------------------------------------------------------------------ order

    @override
    def _take_order(self) -> None:
        self._cells.clear()
        timeline = self._timeline
        if timeline is None:
            self._order = WindowedOrder()
            self._counts = QueueCounts()
            return
        self._versions = _versions(timeline)
        timeline.resolve_dues()
        timers = timeline.timers
        places, in_branch = self._chosen_places(timeline)
        dues = _taken(timers.numpy("session_due"), places)
        keys = self._keys(timeline, places, dues)
        self._order.take(
            _taken(timers.numpy("id"), places),
            -keys if self._is_descending else keys,
            _taken(timers.numpy("order"), places),
        )
        self._counts = QueueCounts(
            pending=len(timers),
            in_branch=in_branch,
            shown=len(self._order),
            waiting=int(np.count_nonzero(dues == NEVER)),
        )

    def _chosen_places(self, timeline: Timeline) -> tuple[NDArray[np.int64] | None, int]:
        """Return which rows of the timeline's table are shown (``None``: all)."""
        timers = timeline.timers
        chosen: NDArray[np.bool_] | None = None
        in_branch = len(timers)
        if self._branch_id is not None:
            is_in_branch = np.zeros(_clock_limit(timeline), np.bool_)
            if self._branch_id in timeline.clocks:
                is_in_branch[timeline.branch(self._branch_id)] = True
            chosen = is_in_branch[timers.numpy("clock")]
            in_branch = int(np.count_nonzero(chosen))
        for matches in self._matches:
            passing = self._passing(matches, timeline)
            chosen = passing if chosen is None else chosen & passing
        return (None if chosen is None else np.flatnonzero(chosen)), in_branch

    def _passing(self, matches: _WordMatches, timeline: Timeline) -> NDArray[np.bool_]:
        timers = timeline.timers
        labels = matches.in_label.table(self._strings)
        sites = matches.in_site.table(self._strings)
        clocks = np.zeros(_clock_limit(timeline), np.bool_)
        has_word = matches.in_label.matches
        clocks[[each for each, clock in timeline.clocks.items() if has_word(clock.name)]] = True
        kinds = np.array([has_word(kind.text) for kind in TimerKind])
        passing: NDArray[np.bool_] = labels[timers.numpy("label")] | sites[timers.numpy("site")]
        passing |= clocks[timers.numpy("clock")] | kinds[timers.numpy("kind")]
        return passing

    def _keys(
        self,
        timeline: Timeline,
        places: NDArray[np.int64] | None,
        dues: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Return what the shown timers are ordered by, smallest first."""
        timers = timeline.timers
        column = self._sort_column
        if column in _STORED:
            return _taken(timers.numpy(_STORED[column]), places)
        if column == TimerColumn.NAME:
            return self._ranks.table(self._strings)[_taken(timers.numpy("label"), places)]
        if column == TimerColumn.CALL_SITE:
            return self._ranks.table(self._strings)[_taken(timers.numpy("site"), places)]
        clocks = _taken(timers.numpy("clock"), places)
        if column == TimerColumn.CLOCK:
            return _clock_ranks(timeline)[clocks]
        is_waiting = dues == NEVER
        if not is_waiting.any():
            return dues
        return self._with_waiting_last(
            timeline, dues, is_waiting, clocks, _taken(timers.numpy("due"), places)
        )

    def _with_waiting_last(
        self,
        timeline: Timeline,
        dues: NDArray[np.int64],
        is_waiting: NDArray[np.bool_],
        clocks: NDArray[np.int64],
        local_dues: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Return the dues with those that never come behind.

        They are grouped by what stops them, and ordered by what is left of the local time
        of their clocks.
        """
        coming = dues[~is_waiting]
        last = int(coming.max()) if coming.size else 0
        self._look_for_stopped(timeline)
        waiting_on = clocks[is_waiting]
        groups = self._blockers[waiting_on]
        left = local_dues[is_waiting] - self._stopped_locals[waiting_on]
        first = int(left.min())
        span = int(left.max()) - first + 1
        keys = dues.copy()
        if (last + span * (int(groups.max()) + 1)).bit_length() < np.iinfo(np.int64).bits - 1:
            keys[is_waiting] = last + 1 + groups * span + (left - first)
        else:
            keys[is_waiting] = last + 1 + groups
        return keys

    def _look_for_stopped(self, timeline: Timeline) -> None:
        """Note by clock number the nearest clock that stands still, or 0, and local times.

        The time of a clock that is stopped moves only with the mappings.
        """
        versions = (timeline.structure_version, timeline.mapping_version)
        if versions == self._blockers_versions:
            return
        self._blockers_versions = versions
        self._blockers = np.zeros(_clock_limit(timeline), np.int64)
        self._stopped_locals = np.zeros_like(self._blockers)
        blockers: dict[int, int] = {0: 0}
        locals_ns: dict[int, int] = {0: 0}
        root_id = timeline.root_id
        for clock_id in timeline.branch(root_id) if root_id is not None else ():
            clock = timeline.clocks[clock_id]
            blocker = blockers[clock.parent_id] if clock.n else clock_id
            blockers[clock_id] = blocker
            if blocker:
                above_ns = locals_ns.get(clock.parent_id, 0)
                locals_ns[clock_id] = local_ns(above_ns, clock.n, clock.off)
        self._blockers[list(blockers)] = list(blockers.values())
        self._stopped_locals[list(locals_ns)] = list(locals_ns.values())


def _versions(timeline: Timeline) -> tuple[int, int, int]:
    return timeline.structure_version, timeline.mapping_version, timeline.timers_version


def _clock_limit(timeline: Timeline) -> int:
    return max(timeline.clocks, default=0) + 1


def _clock_ranks(timeline: Timeline) -> NDArray[np.int64]:
    clocks = sorted(timeline.clocks.values(), key=lambda clock: (clock.name.casefold(), clock.id))
    ranks = np.zeros(_clock_limit(timeline), np.int64)
    ranks[[clock.id for clock in clocks]] = np.arange(len(clocks))
    return ranks


def _taken(column: NDArray[np.int64], places: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Return a copy of the chosen places of a column; views into the timeline must not stay."""
    return column.copy() if places is None else column[places]
