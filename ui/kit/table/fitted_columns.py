"""Columns of a table that share the room there is, rather than scroll sideways."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, Slot
from PySide6.QtWidgets import QHeaderView
from typing_extensions import override

from ..guards import guarded
from ..paced_refresh import single_shot
from .column_choices import ColumnChoices, share_room
from .columns import apart_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, MutableMapping, Sequence

    from .cell_painting import Cell
    from .columns import ColumnEnum
    from .painted_views import PaintedTable, RowPlace

#: Pixels that keep a text off the numbers to its left.
GAP: Final = 12
#: Columns of names have at most this share of the room, in equal parts, before others are left
#: out for them.
_MOST_FOR_NAMES: Final = 0.6
#: Pixels beside a name, more than its margins.
_SPARE: Final = 2
#: Names that are remembered as measured.
_MOST_NAMES: Final = 1_000
#: The first column has so many times its sample before another has the rest of the room.
_WIDE_NAMES: Final = 1.5


@guarded
class FittedColumns(ColumnChoices):
    """Shares out the width of a table among columns that say what they need at least.

    Where there is no room for all of them, columns are left out in the order in which they
    yield; then the others have what their samples need. Texts of columns that do not yield are
    names, which are cut last: there is room for those that were in view before any other
    column has more than the least. Columns that the user has dragged or hidden stay as they are.
    """

    def __init__(
        self,
        view: PaintedTable,
        header: QHeaderView,
        columns: Sequence[ColumnEnum],
        choices: MutableMapping[str, str],
        sorted_by: int = -1,
    ) -> None:
        super().__init__(view, header, columns, choices, sorted_by)
        self._table = view
        self._of_names = [
            each
            for each in columns
            if each.spec.sample and not (each.spec.is_number or each.spec.yields)
        ]
        # The widest names in view since there was no row, and those that are no wider.
        self._widest = dict.fromkeys(self._of_names, 0)
        self._measured: set[tuple[int, int, str]] = set()
        #: By column, a width that is wanted rather than that of the sample.
        self._wished: dict[int, int] = {}
        self._turn = single_shot(self, self._look_at_names)
        view.model().modelReset.connect(self._note_rows)
        view.model().rowsInserted.connect(self._note_rows)
        for column in columns:
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(False)
        # While widgets go, events come that must not reach for a view that is half gone.
        self._viewport = view.viewport()
        self._viewport.installEventFilter(self)

    @Slot()
    def _note_rows(self) -> None:
        if not self._table.model().rowCount():
            self._widest = dict.fromkeys(self._of_names, 0)
            self._measured.clear()
        # Its rows are laid out by then.
        self._turn.start()

    @Slot()
    def _look_at_names(self) -> None:
        if self._table.isVisible():
            self.take_names(self._table.rows_in_view())

    def take_names(self, rows: Iterable[tuple[RowPlace, Sequence[Cell]]]) -> None:
        """Have room for the names in view, as far as there is room; rows with their places."""
        paint, has_grown = self._table.cells, False
        for _place, cells in rows:
            for column in self._of_names:
                cell = cells[column]
                beside = -paint.room(cell, 0)
                if (column, beside, cell.text) in self._measured:
                    continue
                self._measured.add((column, beside, cell.text))
                width = math.ceil(paint.widths(cell).width(cell.text)) + beside + _SPARE
                if width > self._widest[column]:
                    self._widest[column] = width
                    has_grown |= width > self._header.sectionSize(column)
        if len(self._measured) > _MOST_NAMES:
            self._measured.clear()
        if has_grown and self.arrange():
            self.order_changed.emit()

    def arrange(self) -> bool:
        """Share out the room; return whether other columns are left out than before."""
        room = self._viewport.width()
        settled = self._hidden | self._unused
        room -= sum(width for column, width in self._by_hand.items() if column not in settled)
        shown = [each for each in self._columns if each not in settled]
        shown.sort(key=self._header.visualIndex)
        yielding = [each for each in shown if each.spec.yields and each not in self._by_hand]
        yielding.sort(key=lambda each: each.spec.yields)
        left_out: set[int] = set()
        least = self._least_widths(shown)
        while yielding and sum(least.values()) > room:
            shown.remove(column := yielding.pop(0))
            left_out.add(int(column))
            least = self._least_widths(shown)
        is_other = left_out != self._left_out
        changed, self._left_out = left_out ^ self._left_out, left_out
        for number in changed:
            self._hide_or_show(number)
        self._resize(share_room(room, least, self._wishes(shown), frozenset(shown)))
        return is_other

    def _least_widths(self, shown: Sequence[ColumnEnum]) -> dict[int, int]:
        apart, widths = apart_columns(shown), {}
        most_for_names = _MOST_FOR_NAMES * self._viewport.width()
        most_for_names /= max(sum(each in self._widest for each in shown), 1)
        for column in shown:
            if column not in self._by_hand:
                spec, table = column.spec, self._table
                text = table.width_for(spec.least or spec.sample)
                title = table.title_width(spec.short_title or spec.title)
                if column in self._widest:
                    text = max(text, min(self._widest[column], round(most_for_names)))
                widths[int(column)] = max(text, title) + (column in apart) * GAP
        return widths

    def _wishes(self, shown: Sequence[ColumnEnum]) -> Iterable[tuple[int, int]]:
        """Return what columns would like to have, the most important first."""
        apart, first = apart_columns(shown), self._columns[0]
        in_turn = sorted(shown, key=lambda each: (bool(each.spec.yields), -each.spec.yields, each))
        for column in in_turn:
            yield column, self._table.width_for(column.spec.sample) + (column in apart) * GAP
        for column in in_turn:
            yield column, self._sample_width(column) + (column in apart) * GAP
        yield first, round(_WIDE_NAMES * self._sample_width(first))
        # Whatever is left: to the column that has no end, else to names.
        endless = [each for each in shown if not each.spec.sample and each not in self._by_hand]
        yield (endless or [first])[-1], self._viewport.width()

    def _sample_width(self, column: ColumnEnum) -> int:
        spec, table = column.spec, self._table
        text = self._wished.get(column) or table.width_for(spec.sample)
        return max(text, table.title_width(spec.title))

    @override
    def set_usual_width(self, column: int, width: int) -> None:
        if self._wished.get(column) != width:
            self._wished[column] = width
            if self.arrange():
                self.order_changed.emit()

    @override
    @Slot()
    def fit_columns(self) -> None:
        self._by_hand.clear()
        self._keep_choices()
        self.order_changed.emit()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            # Other names may have come into view.
            self._turn.start()
            if self.arrange():
                self.order_changed.emit()
        return False
