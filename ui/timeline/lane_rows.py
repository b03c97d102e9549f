"""Rows of the lanes: what a row is about (its selection), and where each is from the top."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from inspector.analysis.lanes.lanes import LaneKind

from ..session.bridge import Selection, SelectionKind

if TYPE_CHECKING:
    from inspector.analysis.lanes.rows import LaneRow


def is_about(row: LaneRow, selection: Selection) -> bool:
    number = selection.id
    match selection.kind:
        case SelectionKind.CLOCK:
            return row.kind is LaneKind.CLOCK and row.clock_id == number
        case SelectionKind.TIMER:
            if row.kind is not LaneKind.TIMER or row.lane is None:
                return False
            return row.subject_id == number or number in row.lane.pending
        case SelectionKind.MEMBER:
            if row.kind not in {LaneKind.MACHINE, LaneKind.CALL} or row.lane is None:
                return False
            among = row.lane.members if row.is_folded else ()
            return row.subject_id == number or any(each.subject_id == number for each in among)
    return False


def subject_of(row: LaneRow) -> Selection:
    """Return what a row is about; of a timer that is set again and again, the one that waits."""
    match row.kind:
        case LaneKind.CLOCK | LaneKind.SLICES | LaneKind.COUNTER:
            return Selection.clock(row.clock_id)
        case LaneKind.MACHINE | LaneKind.CALL if row.subject_id:
            return Selection.member(row.subject_id)
        case LaneKind.TIMER if row.lane is not None:
            return Selection.timer(row.lane.pending.newest() or row.lane.subject_id)
    return Selection.nothing()


class RowPlaces:
    def __init__(self, rows: Sequence[LaneRow], heights: Iterable[int]) -> None:
        self.rows = rows
        self._tops = [0, *accumulate(heights)]

    @property
    def height(self) -> int:
        return self._tops[-1]

    def top(self, place: int) -> int:
        return self._tops[place]

    def bottom(self, place: int) -> int:
        return self._tops[place + 1]

    def at(self, y: float) -> int | None:
        place = bisect_right(self._tops, y) - 1
        return place if 0 <= place < len(self.rows) else None

    def between(self, low: int, high: int) -> range:
        """Return the indexes of the rows between two heights, including partial ones."""
        first = max(bisect_right(self._tops, low) - 1, 0)
        last = bisect_right(self._tops, high - 1) - 1
        return range(first, min(last + 1, len(self.rows)))
