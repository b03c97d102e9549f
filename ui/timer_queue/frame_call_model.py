"""What is called in frames as a Qt table: updates in call order, timers by what is due."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor
from typing_extensions import override

from inspector.display_text import one_line

from ..kit.guards import guarded
from ..kit.table import roles
from ..kit.table.cells import EMPTY, Cell
from ..kit.table.header_row import HeaderRow, alignments
from ..kit.table.roles import Role
from .frame_call_cells import (
    CALL_HEADERS,
    CONSTANT_COLUMNS,
    LISTED_KINDS,
    CallCells,
    CallColumn,
    call_cells,
)
from .frame_call_table import CallTable
from .ranked_table import RankedTableModel
from .timer_order import WindowedOrder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from inspector.events.timeline import Timeline

_NUMBERS: Final = frozenset(CallColumn) - CONSTANT_COLUMNS - {CallColumn.STATE}
_ALIGNED: Final = alignments(CallColumn, _NUMBERS)
_HEADER: Final = HeaderRow(
    CALL_HEADERS,
    # A right-aligned title would lie under the sort indicator.
    alignments(CallColumn, _NUMBERS, number=roles.CENTER),
    apart=[CallColumn.STATE],
)
#: Asked for with every cell that is painted, and never answered.
_UNANSWERED: Final = frozenset({roles.BACKGROUND, roles.CHECK_STATE, roles.FONT})
_NO_CELLS: Final = (EMPTY,) * len(CallColumn)
#: Rows remembered between two refreshes; more are asked for by scrolling only.
_MOST_CELLS: Final = 5_000


@dataclass(frozen=True, slots=True)
class CallCounts:
    """How many calls there are and how many of them are seen.

    Attributes:
        total: All in the session.
        in_branch: Those that live by a clock of the chosen branch.
        shown: Those of them that pass the filter.
        waiting: Those shown that something stops.
    """

    total: int = 0
    in_branch: int = 0
    shown: int = 0
    waiting: int = 0


@guarded
class FrameCallModel(RankedTableModel):
    """What is called in frames, in the order in which it is called."""

    def __init__(self, timeline: Timeline | None = None) -> None:
        """Show a timeline; ``None`` shows nothing."""
        super().__init__(_HEADER)
        self._timeline = timeline
        self._table: CallTable | None = None
        # As of the last refresh, so that whatever makes the view paint shows one instant.
        self._cells: dict[int, CallCells | None] = {}
        self._branch_id: int | None = None
        self._filter_words: tuple[str, ...] = ()
        self._chosen: NDArray[np.bool_] | None = None
        self._sort_column: CallColumn | None = None
        self._is_descending = False
        self._structure = (-1, -1)
        self._values = (-1, -1)
        self._counts = CallCounts()
        self._total = (-1, 0)
        self._muted_color = QColor(Qt.GlobalColor.gray)
        self.refresh()

    # ------------------------------------------------------------------ what is shown

    @property
    def timeline(self) -> Timeline | None:
        """The timeline that is shown."""
        return self._timeline

    @property
    def counts(self) -> CallCounts:
        """How many calls there are, as of the last refresh."""
        return self._counts

    @property
    def sort_column(self) -> CallColumn | None:
        """The column that decides the order, ``None`` for the order of the calls."""
        return self._sort_column

    def set_timeline(self, timeline: Timeline | None) -> None:
        """Show another timeline."""
        self.beginResetModel()
        self._timeline = timeline
        self._branch_id = None
        self._structure = self._values = (-1, -1)
        self._total = (-1, 0)
        self._take_order()
        self._row_count = len(self._order)
        self.endResetModel()

    def set_branch(self, clock_id: int | None) -> None:
        """Show the calls of one clock and of all below it, or of all clocks."""
        if clock_id != self._branch_id:
            self._branch_id = clock_id
            self._choose_again()

    def set_filter(self, text: str) -> None:
        """Show calls of which every word is in name, target, scheduler, clock or kind."""
        words = tuple(text.casefold().split())
        if words != self._filter_words:
            self._filter_words = words
            self._choose_again()

    def set_muted_color(self, color: QColor) -> None:
        """Use ``color`` for calls that something stops."""
        self._muted_color = color

    def total(self) -> int:
        """Return how many calls there are now, also while nothing else is refreshed."""
        timeline = self._timeline
        if timeline is None:
            return 0
        members = timeline.members
        if self._total[0] != members.structure_version:
            listed = LISTED_KINDS
            count = sum(member.kind in listed for member in members.by_id.values())
            self._total = (members.structure_version, count)
        return self._total[1]

    @override
    def refresh(self) -> None:
        timeline = self._timeline
        if timeline is None:
            return
        if (_structure(timeline), _values(timeline)) != (self._structure, self._values):
            self._take_everything()

    @override
    def row_cells(self, key: int) -> Sequence[Cell]:
        cells = self._cells_of(key)
        if cells is None:
            return _NO_CELLS
        color = None if cells.standing.kind.is_lively else self._muted_color
        row = [
            Cell(one_line(text), alignment, color)
            for text, alignment in zip(cells.texts, _ALIGNED, strict=True)
        ]
        row[CallColumn.STATE] = row[CallColumn.STATE]._replace(mark=roles.gap())
        return row

    # ------------------------------------------------------------------ Qt

    @override
    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        is_column = 0 <= column < len(CallColumn)
        self._sort_column = CallColumn(column) if is_column else None
        self._is_descending = is_column and order == Qt.SortOrder.DescendingOrder
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
            return roles.gap() if column == CallColumn.STATE else None
        cells = self._cells_of(index.row()) if index.isValid() else None
        if cells is None:
            # Gone since the last refresh; its row goes with the next one.
            return None
        if role == roles.DISPLAY:
            return one_line(cells.texts[column])
        if role == roles.EDIT:
            return cells.texts[column]
        if role == roles.FOREGROUND:
            return None if cells.standing.kind.is_lively else self._muted_color
        if role == roles.TOOL_TIP:
            return cells.tool_tips[column]
        if role == Role.RAW:
            return cells.raws[column]
        if role == Role.ID:
            return cells.member_id
        return None

    def _cells_of(self, row: int) -> CallCells | None:
        number = self.id_at(row)
        timeline = self._timeline
        if number is None or timeline is None:
            return None
        if number not in self._cells:
            if len(self._cells) > _MOST_CELLS:
                self._cells.clear()
            self._cells[number] = call_cells(timeline, number)
        return self._cells[number]

    # ------------------------------------------------------------------ order

    def _choose_again(self) -> None:
        self._chosen = None
        self._take_everything()

    @override
    def _take_order(self) -> None:
        self._cells.clear()
        timeline = self._timeline
        if timeline is None:
            self._table, self._order, self._counts = None, WindowedOrder(), CallCounts()
            return
        if self._table is None or _structure(timeline) != self._structure:
            self._table = CallTable(timeline)
            self._chosen = None
        self._structure, self._values = _structure(timeline), _values(timeline)
        table = self._table
        if self._chosen is None:
            self._choose(timeline, table)
        chosen = self._chosen
        assert chosen is not None
        waiting = table.waiting()
        places = self._sorted_places(table, waiting)
        shown = table.ids[places[chosen[places]]]
        ranks = np.arange(shown.size)
        self._order.take(shown, ranks, ranks)
        self._counts = CallCounts(
            total=len(table),
            in_branch=self._counts.in_branch,
            shown=int(shown.size),
            waiting=int(np.count_nonzero(waiting & chosen)),
        )

    def _sorted_places(self, table: CallTable, waiting: NDArray[np.bool_]) -> NDArray[np.int64]:
        places = table.call_order(waiting)
        if self._sort_column is None:
            return places
        keys = table.keys(self._sort_column, waiting)[places]
        return places[np.argsort(-keys if self._is_descending else keys, kind="stable")]

    def _choose(self, timeline: Timeline, table: CallTable) -> None:
        """Find out which calls the branch and the filter let through."""
        chosen = np.ones(len(table), np.bool_)
        if self._branch_id is not None:
            is_there = self._branch_id in timeline.clocks
            chosen &= table.in_branch(timeline.branch(self._branch_id) if is_there else ())
        self._counts = CallCounts(in_branch=int(np.count_nonzero(chosen)))
        for word in self._filter_words:
            chosen &= table.having(word)
        self._chosen = chosen


def _structure(timeline: Timeline) -> tuple[int, int]:
    return timeline.structure_version, timeline.members.structure_version


def _values(timeline: Timeline) -> tuple[int, int]:
    return timeline.members.values_version, timeline.mapping_version
