"""The user's choice of columns: which, how wide, in which order, sorted by what."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from PySide6.QtCore import QObject, QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import QHeaderView, QMenu, QStyle, QTableView
from typing_extensions import override

from inspector.foreign.numbers import count_in

from ..guards import guarded
from ..layouts import open_menu

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, MutableMapping, Sequence

    from PySide6.QtWidgets import QStyleOptionHeader, QWidget

    from .columns import ColumnEnum

#: The number of a column.
ColumnT = TypeVar("ColumnT", bound=int)

#: No screen is wider; a damaged file of settings could say so.
_WIDEST_BY_HAND: Final = 10_000
#: Pixels of a title beside its text and the margins of the style.
_TITLE_PADDING: Final = 4
#: The ends of the names of what is kept.
_COLUMNS: Final = "_columns"
#: Entries that are not about one column.
_ORDER, _SORTED = "@order", "@sorted"


@guarded
class ColumnChoices(QObject):
    """Keeps what the user has made of the columns, and offers it in a menu over the titles.

    Columns that were dragged, moved or hidden stay so, also at the next start.

    Signals:
        order_changed: Other columns are side by side: one was moved, shown or hidden.
    """

    order_changed = Signal()

    def __init__(
        self,
        view: QTableView,
        header: QHeaderView,
        columns: Sequence[ColumnEnum],
        choices: MutableMapping[str, str],
        sorted_by: int = -1,
    ) -> None:
        """Take over what was kept.

        Args:
            view: The view; already shows its model, and its columns have their usual widths.
            header: Its titles.
            columns: Its columns; the first is always shown.
            choices: Where the choices of the user are kept, by the name of the columns.
            sorted_by: The column that decides the order at first, -1 for none.
        """
        super().__init__(view)
        self._view, self._header, self._columns = view, header, columns
        self._choices, self._sorted_by = choices, sorted_by
        self._name = type(columns[0]).__name__.removesuffix("Column").lower() + _COLUMNS
        self._by_hand: dict[int, int] = {}
        self._hidden: set[int] = set()
        self._unused: set[int] = set()
        self._left_out: set[int] = set()
        self._is_arranging = False
        self._usual = [header.sectionSize(column) for column in columns]
        header.setSortIndicator(sorted_by, Qt.SortOrder.AscendingOrder)
        self._take_choices()
        header.sectionResized.connect(self._note_resized)
        header.sectionMoved.connect(self._keep_choices)
        header.sectionMoved.connect(self.order_changed)
        header.sortIndicatorChanged.connect(self._keep_choices)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._open_menu)

    @property
    def order(self) -> list[ColumnEnum]:
        """The columns that are shown, from the left."""
        shown = (each for each in self._columns if not self._header.isSectionHidden(each))
        return sorted(shown, key=self._header.visualIndex)

    # ------------------------------------------------------------------ by hand

    def show_column(self, column: int, is_shown: bool) -> None:  # noqa: FBT001 - of an action
        if is_shown and column in self._left_out:
            # Who wants it although there is no room scrolls to it.
            self._left_out.discard(column)
            self._by_hand[column] = self.usual_width(column)
            self._resize({column: self._by_hand[column]})
        (self._hidden.discard if is_shown else self._hidden.add)(column)
        self._hide_or_show(column)
        self._keep_choices()
        self.order_changed.emit()

    def use(self, column: int, *, is_used: bool) -> None:
        """Leave out a column that says nothing at present, or have it shown again."""
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

    def usual_width(self, column: int) -> int:
        return self._usual[column]

    def set_usual_width(self, column: int, width: int) -> None:
        """Give a column another width, unless it was dragged."""
        self._usual[column] = width
        if column not in self._by_hand:
            self._resize({column: width})

    def _resize(self, widths: Mapping[int, int]) -> None:
        was_arranging, self._is_arranging = self._is_arranging, True
        for column, width in widths.items():
            if self._header.sectionSize(column) != width:
                self._header.resizeSection(column, width)
        self._is_arranging = was_arranging

    @Slot()
    def fit_columns(self) -> None:
        """Give every column its usual width, also those that were dragged."""
        self._by_hand.clear()
        self._resize({each: self._usual[each] for each in self._columns if self._is_free(each)})
        self._keep_choices()

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
        open_menu(self.make_menu(self._view), self._header.viewport().mapToGlobal(position))

    def _is_free(self, column: int) -> bool:
        """Whether the width of a column is not what others leave."""
        header = self._header
        if header.sectionResizeMode(column) is not QHeaderView.ResizeMode.Interactive:
            return False
        return not header.stretchLastSection() or column != self.order[-1]

    @Slot(int, int, int)
    def _note_resized(self, column: int, old: int, new: int) -> None:
        # To and from nothing: hidden or shown.
        if not self._is_arranging and old and new and self._is_free(column):
            self._by_hand[column] = new
            if new == self._usual[column]:
                del self._by_hand[column]
            self._keep_choices()

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

    def _take_choices(self) -> None:
        known = {column.name.lower(): column for column in self._columns}
        for entry in self._choices.get(self._name, "").split():
            name, _, choice = entry.partition("=")
            column = known.get(name)
            if name == _ORDER:
                self._take_order([known[each] for each in choice.split(",") if each in known])
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

    def _take_order(self, order: list[ColumnEnum]) -> None:
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

    def __init__(self, short_titles: Mapping[ColumnT, str], parent: QWidget | None = None) -> None:
        """Make a header of columns that can be dragged to other places.

        Args:
            short_titles: By column, what is said where there is no room for the title.
        """
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


def share_room(
    room: int,
    least: Mapping[int, int],
    wishes: Iterable[tuple[int, int]],
    elastic: Collection[int],
) -> dict[int, int]:
    """Share out the width of a table among its columns.

    Args:
        room: Pixels for all columns; with less than what they need at least, the rest is
            to be reached by scrolling.
        least: What each column has in any case.
        wishes: Columns and what each would like to have, the most important first; a
            column may come again. Those that are not in ``least`` get nothing.
        elastic: Columns for which a part of a wish is better than nothing.

    Returns:
        The widths by column.
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
