"""Columns of a table: how they share its width, and what the user has chosen of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, MutableMapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import QHeaderView, QMenu, QStyle, QStyleOptionHeader, QWidget
from typing_extensions import override

from inspector.foreign.numbers import count_in

from ..guards import guarded
from ..layouts import open_menu
from ..throttled_refresh import single_shot
from .columns import ColumnEnum, apart_columns

if TYPE_CHECKING:
    from .cell_painting import Cell
    from .painted_views import PaintedTable, RowPlace

#: The number of a column.
ColumnT = TypeVar("ColumnT", bound=int)

#: Pixels that keep a text off the numbers to its left.
GAP: Final = 18
#: Other columns are left out only to give the columns of names this share of the room together.
_MOST_FOR_NAMES: Final = 0.6
#: Pixels for a name beyond its text and margins.
_SPARE: Final = 2
#: The record of the names that have been measured is emptied when it has more than this many.
_MOST_NAMES: Final = 1_000
#: Names in the first column get up to this many times its sample before another gets the rest.
_WIDE_NAMES: Final = 1.5
#: Pixels, wider than any screen; a width in a damaged file of settings may be larger.
_WIDEST_BY_HAND: Final = 10_000
#: Pixels for a title beyond its text and the style's margins.
_TITLE_PADDING: Final = 4
#: How the settings keys of tables end.
_COLUMNS: Final = "_columns"
#: Entries of a table's choices that are not about a single column.
_ORDER, _SORTED = "@order", "@sorted"


@guarded
class ColumnChoices(QObject):
    """Shares out the width of a table among the columns that the user has not sized.

    Where there is no room for all of them, columns are left out in the order in which they
    yield, except those that fit beside the others after all. Then the others get what their
    samples need. Columns with a sample that do not yield contain names, which are cut last: names
    that were in view get their room before any other column gets more than the least, unless the
    columns that do not yield need it. The last column without a sample gets what is left.

    Columns that the user has dragged, moved or hidden in the menu over the titles stay so, also
    at the next start.
    """

    order_changed = Signal()  # Other columns are side by side: one was moved, shown or hidden
    names_noted = Signal()  # Wider names have come into view

    def __init__(
        self,
        view: PaintedTable,
        columns: Sequence[ColumnEnum],
        choices: MutableMapping[str, str],
        sorted_by: int,
    ) -> None:
        """Take over what was kept of a table, which shows its model; its first column stays.

        Choices are kept by the name of the columns; one may decide the order at first, -1 for none.
        """
        super().__init__(view)
        self._table, self._columns = view, columns
        self._header = header = view.horizontalHeader()
        self._choices, self._sorted_by = choices, sorted_by
        self._name = type(columns[0]).__name__.removesuffix("Column").lower() + _COLUMNS
        self._by_hand: dict[int, int] = {}
        self._hidden: set[int] = set()
        self._unused: set[int] = set()
        self._left_out: set[int] = set()
        self._is_arranging = False
        self._of_names = [
            each
            for each in columns
            if each.spec.sample and not (each.spec.is_number or each.spec.yields)
        ]
        # The width of the widest name since the table was last empty, by column, and the names
        # that have been measured.
        self._widest = dict.fromkeys(self._of_names, 0)
        self._measured: set[tuple[int, int, str]] = set()
        #: Widths that are wanted instead of that of the sample, by column.
        self._wished: dict[int, int] = {}
        self._turn = single_shot(self, self._note_names_in_view)
        view.model().modelReset.connect(self._note_rows)
        view.model().rowsInserted.connect(self._note_rows)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(False)
        # Kept here, because events still arrive while the view is being destroyed and can no
        # longer be asked for it.
        self._viewport = view.viewport()
        self._viewport.installEventFilter(self)
        header.setSortIndicator(sorted_by, Qt.SortOrder.AscendingOrder)
        self._restore()
        header.sectionResized.connect(self._note_resized)
        header.sectionMoved.connect(self._keep_choices)
        header.sectionMoved.connect(self.order_changed)
        header.sortIndicatorChanged.connect(self._keep_choices)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._open_menu)

    @property
    def order(self) -> list[ColumnEnum]:
        shown = (each for each in self._columns if not self._header.isSectionHidden(each))
        return sorted(shown, key=self._header.visualIndex)

    # ------------------------------------------------------------------ by hand

    def show_column(self, column: int, is_shown: bool) -> None:  # noqa: FBT001 - of an action
        if is_shown and column in self._left_out:
            # The user wants it although there is no room: the table scrolls then.
            self._left_out.discard(column)
            self._by_hand[column] = self._sample_width(self._columns[column])
            self._resize({column: self._by_hand[column]})
        (self._hidden.discard if is_shown else self._hidden.add)(column)
        self._hide_or_show(column)
        self._keep_choices()
        self.order_changed.emit()

    def use(self, column: int, *, is_used: bool) -> None:
        """Leave out a column that says nothing at present, or show it again."""
        if is_used is (column not in self._unused):
            return
        (self._unused.discard if is_used else self._unused.add)(column)
        self._hide_or_show(column)
        self.order_changed.emit()

    def use_only(self, columns: Collection[int]) -> None:
        """Leave out all columns but these, which say something at present."""
        unused = {int(each) for each in self._columns} - set(map(int, columns))
        if unused != self._unused:
            changed, self._unused = unused ^ self._unused, unused
            for column in changed:
                self._hide_or_show(column)
            self.order_changed.emit()

    def _hide_or_show(self, column: int) -> None:
        away = self._hidden | self._unused | self._left_out
        self._header.setSectionHidden(column, column in away)

    def _resize(self, widths: Mapping[int, int]) -> None:
        was_arranging, self._is_arranging = self._is_arranging, True
        for column, width in widths.items():
            if self._header.sectionSize(column) != width:
                self._header.resizeSection(column, width)
        self._is_arranging = was_arranging

    @Slot()
    def fit_columns(self) -> None:
        """Share out the whole width again, also of columns that were dragged."""
        self._by_hand.clear()
        self._keep_choices()
        self.order_changed.emit()

    def reset(self) -> None:
        self._left_out.clear()
        for column in self._columns:
            self.show_column(column, True)
            self._header.moveSection(self._header.visualIndex(column), column)
        self._header.setSortIndicator(self._sorted_by, Qt.SortOrder.AscendingOrder)
        self.fit_columns()

    def make_menu(self, parent: QWidget) -> QMenu:
        menu = QMenu("Columns", parent)
        for column in self._columns[1:]:
            if column in self._unused:
                continue
            action = menu.addAction(column.spec.title)
            action.setToolTip(column.spec.tip)
            action.setCheckable(True)
            action.setChecked(not self._header.isSectionHidden(column))
            action.toggled.connect(partial(self.show_column, column))
        menu.setToolTipsVisible(True)
        menu.addSeparator()
        menu.addAction("Fit columns", self.fit_columns)
        return menu

    @Slot(QPoint)
    def _open_menu(self, position: QPoint) -> None:
        open_menu(self.make_menu(self._table), self._header.viewport().mapToGlobal(position))

    @Slot(int, int, int)
    def _note_resized(self, column: int, old: int, new: int) -> None:
        # From or to a width of 0, the column was shown or hidden, not dragged.
        if not self._is_arranging and old and new:
            self._by_hand[column] = new
            self._keep_choices()

    # ------------------------------------------------------------------ shared out

    @Slot()
    def _note_rows(self) -> None:
        if not self._table.model().rowCount():
            self._widest = dict.fromkeys(self._of_names, 0)
            self._measured.clear()
        # In the next turn, when the rows have been laid out.
        self._turn.start()

    @Slot()
    def _note_names_in_view(self) -> None:
        if self._table.isVisible():
            self.note_names(self._table.rows_in_view())

    def note_names(self, rows: Iterable[tuple[RowPlace, Sequence[Cell]]]) -> None:
        """Give the names in view their room, as far as it goes; rows come with their places."""
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
        if has_grown:
            if self.arrange():
                self.order_changed.emit()
            self.names_noted.emit()

    def wanted_width(self, without: Collection[int]) -> int:
        """Return the width that all columns but some need, with names uncut."""
        settled = self._hidden | self._unused | set(without)
        shown = [each for each in self._columns if each not in settled]
        shown.sort(key=self._header.visualIndex)
        by_hand = sum(self._by_hand.get(each, 0) for each in shown)
        widths = self._least_widths(shown, self._text_widths(shown), math.inf)
        return by_hand + sum(widths.values())

    def arrange(self) -> bool:
        """Share out the room; return whether other columns are left out than before."""
        room = self._viewport.width()
        settled = self._hidden | self._unused
        room -= sum(width for column, width in self._by_hand.items() if column not in settled)
        shown = [each for each in self._columns if each not in settled]
        shown.sort(key=self._header.visualIndex)
        yielding = [each for each in shown if each.spec.yields and each not in self._by_hand]
        yielding.sort(key=lambda each: each.spec.yields)
        asked, texts = list(shown), self._text_widths(shown)
        least = self._least_widths(shown, texts)
        left_out: set[int] = set()
        for column in yielding:
            if sum(least.values()) > room:
                left_out.add(int(column))
                left = [each for each in asked if each not in left_out]
                least = self._least_widths(left, texts)
        # After a wide column was left out, a narrow one left out before it may fit again.
        for column in reversed(yielding):
            if column not in left_out:
                continue
            with_it = [each for each in asked if each not in left_out - {column}]
            wider = self._least_widths(with_it, texts)
            if sum(wider.values()) <= room:
                left_out.remove(column)
                least = wider
        shown = [each for each in asked if each not in left_out]
        if sum(least.values()) > room:
            least = self._least_widths(shown, texts, 0)
        is_other = left_out != self._left_out
        changed, self._left_out = left_out ^ self._left_out, left_out
        for number in changed:
            self._hide_or_show(number)
        self._resize(share_room(room, least, self._wishes(shown), frozenset(shown)))
        return is_other

    def _text_widths(self, columns: Sequence[ColumnEnum]) -> dict[int, int]:
        """Return what titles and samples need at least."""
        table, specs = self._table, [(int(each), each.spec) for each in columns]
        return {
            column: max(
                table.width_for(spec.least or spec.sample),
                table.title_width(spec.short_title or spec.title),
            )
            for column, spec in specs
        }

    def _least_widths(
        self,
        shown: Sequence[ColumnEnum],
        texts: Mapping[int, int],
        most_for_names: float | None = None,
    ) -> dict[int, int]:
        """Return the least widths; names share ``most_for_names``, by default their usual part."""
        apart, widths = apart_columns(shown), {}
        if most_for_names is None:
            most_for_names = _MOST_FOR_NAMES * self._viewport.width()
        widest = {each: self._widest[each] for each in shown if each in self._widest}
        names = shared_alike(most_for_names, widest)
        for column in shown:
            if column not in self._by_hand:
                text = max(texts[column], names.get(column, 0))
                widths[int(column)] = text + (column in apart) * GAP
        return widths

    def _wishes(self, shown: Sequence[ColumnEnum]) -> Iterable[tuple[int, int]]:
        """Return what columns would like to have, the most important first."""
        apart, first = apart_columns(shown), self._columns[0]
        in_turn = sorted(shown, key=lambda each: (bool(each.spec.yields), -each.spec.yields, each))
        for column in in_turn:
            yield column, self._table.width_for(column.spec.sample) + (column in apart) * GAP
        for column in in_turn:
            yield column, self._sample_width(column) + (column in apart) * GAP
        yield from self._widest.items()
        if first in self._of_names and any(each.spec.yields for each in self._columns):
            yield first, round(_WIDE_NAMES * self._sample_width(first))
        # The rest goes to the last column without a sample, else to the first that is shown.
        endless = [each for each in shown if not each.spec.sample and each not in self._by_hand]
        yield (endless or [min(shown, default=first)])[-1], self._viewport.width()

    def _sample_width(self, column: ColumnEnum) -> int:
        spec, table = column.spec, self._table
        text = self._wished.get(column) or table.width_for(spec.sample)
        return max(text, table.title_width(spec.title))

    def set_wish(self, column: int, width: int) -> None:
        """Give a column the width of another text than its sample, where there is room."""
        if self._wished.get(column) != width:
            self._wished[column] = width
            if self.arrange():
                self.order_changed.emit()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            # More names may be in view now.
            self._turn.start()
            if self.arrange():
                self.order_changed.emit()
        return False

    # ------------------------------------------------------------------ kept

    @Slot()
    def _keep_choices(self) -> None:
        header, kept = self._header, []
        for column in self._columns:
            if column in self._hidden:
                kept.append(f"{column.name.lower()}=hidden")
            elif column in self._by_hand:
                kept.append(f"{column.name.lower()}={self._by_hand[column]}")
        order = [header.logicalIndex(place) for place in range(len(self._columns))]
        if order != list(self._columns):
            names = ",".join(self._columns[each].name.lower() for each in order)
            kept.append(f"{_ORDER}={names}")
        section, is_descending = header.sortIndicatorSection(), self._is_descending()
        if (section, is_descending) != (self._sorted_by, False):
            name = self._columns[section].name.lower() if 0 <= section < len(order) else ""
            kept.append(f"{_SORTED}={'-' if is_descending else ''}{name}")
        if kept:
            self._choices[self._name] = " ".join(kept)
        else:
            self._choices.pop(self._name, None)

    def _is_descending(self) -> bool:
        header = self._header
        is_descending = header.sortIndicatorOrder() is Qt.SortOrder.DescendingOrder
        return is_descending and header.sortIndicatorSection() >= 0

    def _restore(self) -> None:
        known = {column.name.lower(): column for column in self._columns}
        for entry in self._choices.get(self._name, "").split():
            name, _, choice = entry.partition("=")
            column = known.get(name)
            if name == _ORDER:
                self._restore_order([known[each] for each in choice.split(",") if each in known])
            elif name == _SORTED and choice.removeprefix("-") in {*known, ""}:
                orders = Qt.SortOrder
                order = orders.DescendingOrder if choice[:1] == "-" else orders.AscendingOrder
                self._header.setSortIndicator(known.get(choice.removeprefix("-"), -1), order)
            elif choice == "hidden" and column:
                self._hidden.add(column)
                self._header.setSectionHidden(column, True)
            elif column is not None and 0 < (width := count_in(choice) or 0) <= _WIDEST_BY_HAND:
                self._by_hand[column] = width
                self._header.resizeSection(column, width)

    def _restore_order(self, order: list[ColumnEnum]) -> None:
        for place, column in enumerate(order):
            self._header.moveSection(self._header.visualIndex(column), place)


def forget_columns(window: QWidget, choices: MutableMapping[str, str]) -> None:
    """Show the columns of all tables as at first, also of those that were not seen yet."""
    for columns in window.findChildren(ColumnChoices):
        columns.reset()
    for name in [name for name in choices if name.endswith(_COLUMNS)]:
        del choices[name]


@guarded
class ShorteningHeader(QHeaderView):
    """Titles over columns; where one has no room, a shorter one instead, or its beginning."""

    def __init__(self, short_titles: Mapping[ColumnT, str], parent: QWidget | None) -> None:
        """Make movable titles; by column, a shorter one for want of room."""
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._short_titles = {int(column): title for column, title in short_titles.items()}
        self.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setSectionsMovable(True)

    def width_for(self, title: str) -> int:
        margin = self.style().pixelMetric(QStyle.PixelMetric.PM_HeaderMargin, None, self)
        return self.fontMetrics().horizontalAdvance(title) + 2 * margin + _TITLE_PADDING

    def shown_title(self, section: int) -> str:
        title = str(self.model().headerData(section, self.orientation()))
        if self.width_for(title) <= self.sectionSize(section):
            return title
        return self._short_titles.get(section, title)

    @override
    def initStyleOptionForIndex(self, option: QStyleOptionHeader, logicalIndex: int) -> None:
        super().initStyleOptionForIndex(option, logicalIndex)
        if logicalIndex in self._short_titles:
            option.text = self.shown_title(logicalIndex)


def shared_alike(room: float, wanted: Mapping[ColumnT, int]) -> dict[ColumnT, int]:
    """Share out room: each gets what it wants, or where that is too much, the same as others."""
    shared: dict[ColumnT, int] = {}
    for column in sorted(wanted, key=wanted.__getitem__):
        equal = room / (len(wanted) - len(shared))
        shared[column] = wanted[column] if wanted[column] <= equal else int(equal)
        room -= shared[column]
    return shared


def share_room(
    room: int, least: Mapping[int, int], wishes: Iterable[tuple[int, int]], elastic: Collection[int]
) -> dict[int, int]:
    """Share out the width of a table among its columns; returns their widths.

    Each has at least as much as it needs; where the room is too little, the rest is reached by
    scrolling. Wishes come with the most important first, and a column may come again; those that
    are not in ``least`` get nothing. For elastic ones a part of a wish is better than nothing.
    """
    widths = dict(least)
    rest = room - sum(widths.values())
    for column, wish in wishes:
        more = wish - widths.get(column, wish)
        if column in elastic:
            more = min(more, rest)
        if 0 < more <= rest:
            widths[column] += more
            rest -= more
    return widths
