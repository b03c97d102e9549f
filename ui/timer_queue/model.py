"""The queue as a Qt table: any number of calls, of which the visible ones cost."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from typing_extensions import override

from inspector.calls.call import CallId, call_of

from ..kit.guards import guarded
from ..kit.table.models import TableModel
from ..kit.texts.member_texts import member_run_state
from ..kit.theme import ColorRole
from .columns import QueueRow
from .windowed_order import WindowedOrder

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from inspector.events.timeline import Timeline

    from ..kit.table.columns import ColumnEnum
    from ..kit.theme import Theme

#: Rows remembered between two refreshes; more are asked for by scrolling only.
_MOST_ROWS: Final = 5_000


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How many calls there are and how many of them are seen.

    Attributes:
        total: All in the session.
        in_branch: Those on the clocks of the chosen branch.
        shown: Those of them that are in the table: they pass the filter, and are of its part.
        waiting: Those that pass the filter and that something stops.
    """

    total: int = 0
    in_branch: int = 0
    shown: int = 0
    waiting: int = 0


class QueueOrder:
    """Which calls of a timeline there are, and in which order; kept as columns of numbers.

    Attributes:
        columns: What is said of them.
        usual_column: What decides the order at first, ``None`` for no column.
        is_of_members: Whether they are numbers of members, not of timers.
        timeline: Whose calls they are.
        strings: The string table of its log; may grow meanwhile.
        branch_id: The clock whose branch is wanted, ``None`` for all.
        words: What must be in the texts of a call.
    """

    def __init__(
        self,
        columns: type[ColumnEnum],
        usual_column: ColumnEnum | None = None,
        *,
        is_of_members: bool = False,
    ) -> None:
        """Begin without calls."""
        self.columns = columns
        self.usual_column = usual_column
        self.is_of_members = is_of_members
        self.timeline: Timeline | None = None
        self.strings: Sequence[str] = ("",)
        self.branch_id: int | None = None
        self.words: tuple[str, ...] = ()

    def set_source(self, timeline: Timeline | None, strings: Sequence[str]) -> None:
        """Take the calls of another timeline, of all clocks."""
        self.timeline, self.strings, self.branch_id = timeline, strings, None

    @abstractmethod
    def versions(self, timeline: Timeline) -> Hashable:
        """Return what changes with the calls or their order."""

    @abstractmethod
    def total(self, timeline: Timeline) -> int:
        """Return how many calls there are now, also while nothing else is refreshed."""

    @abstractmethod
    def take(
        self,
        timeline: Timeline,
        order: WindowedOrder,
        column: ColumnEnum | None,
        *,
        is_descending: bool,
    ) -> QueueCounts:
        """Give the present calls that are wanted, in order.

        Args:
            timeline: Whose calls they are.
            order: Takes them.
            column: What they are ordered by, ``None`` for the order in which they are made.
            is_descending: Whether the largest comes first.
        """


@guarded
class QueueModel(TableModel[QueueRow]):
    """Calls in an order that changes all the time; a row is a place, not a call.

    A refresh therefore makes no signals but for rows that come or go at the end:
    a view of the model looks at the rows in view again. Selection is kept by the
    call's number, see :meth:`row_of`.

    Attributes:
        counts: How many calls there are, as of the last refresh.
        sort_column: The column that decides the order, ``None`` for the order of the calls.
    """

    is_sortable = True

    def __init__(
        self,
        calls: QueueOrder,
        theme: Theme,
        timeline: Timeline | None = None,
        strings: Sequence[str] = ("",),
    ) -> None:
        """Show calls of a timeline; ``None`` shows nothing."""
        super().__init__(calls.columns, theme)
        self._calls = calls
        self.sorted_by = -1 if calls.usual_column is None else int(calls.usual_column)
        self.sort_column = calls.usual_column
        self.counts = QueueCounts()
        self._is_descending = False
        self._order = WindowedOrder()
        self._row_count = 0
        self._versions: Hashable = None
        self._at_ns = -1
        # As of the last refresh, so that whatever makes the view paint shows one instant.
        self._rows: dict[int, QueueRow | None] = {}
        self.set_timeline(timeline, strings)

    # ------------------------------------------------------------------ what is shown

    @property
    def timeline(self) -> Timeline | None:
        """The timeline that is shown."""
        return self._calls.timeline

    @property
    def branch_id(self) -> int | None:
        """The clock whose branch is shown, ``None`` for all."""
        return self._calls.branch_id

    def set_timeline(self, timeline: Timeline | None, strings: Sequence[str] = ("",)) -> None:
        """Show another timeline, with the string table of its log."""
        self.beginResetModel()
        self._calls.set_source(timeline, strings)
        self._take_order()
        self._row_count = len(self._order)
        self.endResetModel()

    def set_branch(self, clock_id: int | None) -> None:
        """Show the calls of one clock and of all below it, or of all clocks."""
        if clock_id != self._calls.branch_id:
            self._calls.branch_id = clock_id
            self._take_everything()

    def set_filter(self, text: str) -> None:
        """Show calls of which every word is in a name, the clock, the kind or the call site."""
        words = tuple(text.casefold().split())
        if words != self._calls.words:
            self._calls.words = words
            self._take_everything()

    def total(self) -> int:
        """Return how many calls there are now, also while nothing else is refreshed."""
        timeline = self._calls.timeline
        return 0 if timeline is None else self._calls.total(timeline)

    def refresh(self) -> None:
        """Take what is new in the timeline."""
        timeline = self._calls.timeline
        if timeline is None:
            return
        if timeline.at_ns != self._at_ns:
            self._at_ns = timeline.at_ns
            self._rows.clear()
        if self._calls.versions(timeline) != self._versions:
            self._take_everything()

    # ------------------------------------------------------------------ rows

    def row_of(self, number: int) -> int | None:
        """Return where a call is shown, ``None`` when it is not."""
        return self._order.row_of(number)

    def id_at(self, row: int) -> int | None:
        """Return the call in a row, ``None`` when there is no such row."""
        return self._order.id_at(row) if 0 <= row < len(self._order) else None

    @override
    def row_at(self, key: int) -> QueueRow | None:
        number = self.id_at(key)
        if number is None:
            return None
        if number not in self._rows:
            if len(self._rows) > _MOST_ROWS:
                self._rows.clear()
            self._rows[number] = self._read(number)
        return self._rows[number]

    def _read(self, number: int) -> QueueRow | None:
        timeline = self._calls.timeline
        call_id = CallId(number, self._calls.is_of_members)
        call = None if timeline is None else call_of(timeline, call_id)
        if timeline is None or call is None:
            # Made or cleared since the last refresh; its row goes with the next one.
            return None
        if not call_id.is_member:
            return QueueRow(call, timeline, timeline.at_ns)
        member = timeline.members.by_id[number]
        run_state = member_run_state(timeline, member)
        return QueueRow(call, timeline, timeline.at_ns, member, run_state)

    @override
    def color_of(self, row: QueueRow, column: ColumnEnum) -> ColorRole | None:
        return ColorRole.MUTED_TEXT if row.waits else None

    @override
    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else self._row_count

    # ------------------------------------------------------------------ order

    @override
    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        is_column = 0 <= column < len(self.columns)
        self.sort_column = self.columns[column] if is_column else self._calls.usual_column
        self._is_descending = is_column and order == Qt.SortOrder.DescendingOrder
        self._take_everything()

    def _take_everything(self) -> None:
        """Take the present order and tell of rows that came or went at the end."""
        before = self._row_count
        self._take_order()
        after = len(self._order)
        if after > before:
            self.beginInsertRows(QModelIndex(), before, after - 1)
            self._row_count = after
            self.endInsertRows()
        elif after < before:
            self.beginRemoveRows(QModelIndex(), after, before - 1)
            self._row_count = after
            self.endRemoveRows()

    def _take_order(self) -> None:
        self._rows.clear()
        timeline = self._calls.timeline
        if timeline is None:
            self._order, self.counts = WindowedOrder(), QueueCounts()
            return
        self._versions = self._calls.versions(timeline)
        self.counts = self._calls.take(
            timeline, self._order, self.sort_column, is_descending=self._is_descending
        )
